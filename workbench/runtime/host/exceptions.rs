//! Exceptions that host code throws and catches. An exception is *in flight* from the place where it was caught until a handler takes it
//! or it is passed on, and *handled* from then to the end of the handler. Both nest: destructors that run meanwhile, and handlers, may
//! have their own.
//!
//! The keys of an object's type and bases go with a throw, and tell what may catch the object. An exception that the run time raises
//! has a number (`library/std_containers.cuh`).

use super::answer::Answer;
use crate::back::{Exception, FaultKind, RawFault};

/// The number of an exception is a class of Python's plus a multiple of this for its owner: torch (0), the standard library (1), none, since the
/// call ends (2), classes of the standard library's that Python has no other for (3 to 5), Python's own (6), and casts of pybind11's (7).
pub const WHOSE: i64 = 16;

/// The numbers of exceptions that Python raised, which pybind11 knows as one class.
pub const PYTHON: i64 = 6 * WHOSE;

/// The number of an exception that ends the call, whichever handler would catch it.
pub const ENDS: i64 = 2 * WHOSE;

/// The object of an exception.
#[derive(Debug, Clone)]
pub struct Object {
    /// Its address.
    pub at: u64,
    /// The address of the function that destroys it.
    pub destroyer: u64,
    /// The types it may be caught as: a line each, the offset of that base and its key.
    pub types: String,
}

#[derive(Debug)]
struct Thrown {
    fault: RawFault,
    object: Option<Object>,
    /// The number that it was raised with.
    number: Option<i64>,
}

/// The exceptions of a call.
#[derive(Debug, Default)]
pub struct Exceptions {
    /// The object of the next exception raised.
    next: Option<Object>,
    number: Option<i64>,
    flying: Vec<Thrown>,
    handled: Vec<Thrown>,
    /// The destroyer of the last object whose handler was done.
    destroyer: u64,
}

fn nothing(what: &str) -> (Exception, String) {
    (Exception::Runtime, format!("std::terminate: {what}"))
}

impl Exceptions {
    /// Gives the next exception raised its object.
    pub fn throw(&mut self, object: Object) {
        self.next = Some(object);
    }

    /// Notes the number of the exception that is raised now.
    pub fn raise(&mut self, number: i64) {
        self.number = Some(number);
    }

    /// Puts an exception in flight; gives it back where no handler may take it.
    pub fn catch(&mut self, fault: RawFault) -> Option<RawFault> {
        let (object, number) = (self.next.take(), self.number.take());
        if number.is_some_and(|n| n / WHOSE == ENDS / WHOSE) {
            return Some(fault);
        }
        self.flying.push(Thrown { fault, object, number });
        None
    }

    /// Gives the one in flight its object.
    pub fn embody(&mut self, object: Object) {
        if let Some(last) = self.flying.last_mut() {
            last.object = Some(object);
        }
    }

    /// The number that the one in flight was raised with; -1 where it has an object.
    pub fn kind(&self) -> i64 {
        match self.flying.last() {
            Some(Thrown { object: None, number: Some(number), .. }) => *number,
            Some(Thrown { object: None, number: None, fault: RawFault { kind: FaultKind::Raised(exception), .. } }) => {
                Exception::ALL.iter().position(|e| e == exception).unwrap_or(0) as i64
            }
            _ => -1,
        }
    }

    /// The message of the one in flight.
    pub fn text(&self) -> String {
        self.flying.last().map(|thrown| thrown.fault.detail.clone()).unwrap_or_default()
    }

    /// The address of its object as the type that a key names.
    pub fn caught_as(&self, key: &str) -> Option<u64> {
        let object = self.flying.last()?.object.as_ref()?;
        object.types.lines().find_map(|line| {
            let (offset, other) = line.split_once(' ')?;
            if other == key { Some(object.at + offset.parse::<u64>().ok()?) } else { None }
        })
    }

    /// A handler takes the exception in flight.
    pub fn begin(&mut self) {
        self.handled.extend(self.flying.pop());
    }

    /// Ends a handler. Gives the object, where no other exception holds it any more.
    pub fn end(&mut self) -> u64 {
        let Some(Thrown { object: Some(object), .. }) = self.handled.pop() else { return 0 };
        let all = self.flying.iter().chain(&self.handled).filter_map(|thrown| thrown.object.as_ref());
        if all.chain(&self.next).any(|other| other.at == object.at) {
            return 0;
        }
        self.destroyer = object.destroyer;
        object.at
    }

    /// The destroyer of that object.
    pub fn destroyer(&self) -> u64 {
        self.destroyer
    }

    /// Raises the one being handled again.
    ///
    /// # Errors
    /// There is none.
    pub fn rethrow(&mut self) -> Answer<RawFault> {
        let Some(last) = self.handled.last() else {
            self.number = Some(ENDS);
            return Err(nothing("`throw` without anything to throw"));
        };
        (self.next, self.number) = (last.object.clone(), last.number);
        Ok(last.fault.clone())
    }

    /// Ends the call with the one in flight: it would leave a `noexcept` function.
    ///
    /// # Errors
    /// There is none.
    pub fn terminate(&mut self, function: &str) -> Answer<RawFault> {
        let last = self.flying.pop().ok_or_else(|| nothing("no exception is in flight"))?;
        self.number = Some(ENDS);
        let what = &last.fault.detail;
        let detail = format!("std::terminate: an exception left a `noexcept` function, `{function}`: {what}");
        Ok(RawFault { kind: FaultKind::Raised(Exception::Runtime), detail, ..last.fault })
    }

    /// Passes on the one in flight.
    ///
    /// # Errors
    /// There is none.
    pub fn resume(&mut self) -> Answer<RawFault> {
        let last = self.flying.pop().ok_or_else(|| nothing("no exception is in flight"))?;
        (self.next, self.number) = (last.object, last.number);
        Ok(last.fault)
    }
}
