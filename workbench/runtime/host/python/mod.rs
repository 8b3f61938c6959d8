//! The objects of Python's C interface, for `library/python.cuh`.
//!
//! A `PyObject*` is a number: 0 is NULL, 1 to 3 are None, True and False, negative ones are classes of exceptions, and the rest stand for
//! objects of this call: the number of the call above, the object's place in the low [`PLACE_BITS`]. Objects stay until the call ends; lists,
//! tuples and dictionaries hold numbers of others, so that two holders of a list see the same one.
//!
//! Changes of lists that the caller gave are refused, as the caller would not see them. `PyInit_` functions run once, like the other
//! registrations.

mod build;
mod compare;
mod container;
mod method;
mod number;
mod operations;
mod parse;
mod show;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};

use super::answer::Answer;
use super::export::Export;
use super::snprintf;
use super::value::Value;
use crate::back::Exception;

/// Most objects of a call.
const MAX_OBJECTS: usize = 1 << 22;

/// Most containers in one another that are handed back, compared or shown.
const MAX_DEPTH: u32 = 100;

/// Most bytes of a text that an object is shown as.
const MAX_SHOWN: usize = 1 << 20;

/// The number of a handle's bits that are the object's place.
const PLACE_BITS: u32 = 24;

/// The types' names by their numbers, which `python.cuh` knows.
const TYPES: [&str; 17] = [
    "NoneType", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "module", "Tensor", "dtype", "device",
    "type", "iterator", "object", "set",
];

/// The surroundings of an operation: what it may touch besides the objects.
pub(super) struct Surroundings<'a> {
    /// The function that is called.
    pub function: &'a str,
    /// True if the function is a registration.
    pub registers: bool,
    /// True if only the shapes of the results are wanted.
    pub shapes_only: bool,
    /// The functions registered so far.
    pub exports: &'a mut Vec<Export>,
}

/// The object that a handle stands for.
#[derive(Debug)]
enum Object {
    /// A value that holds no other objects.
    Leaf(Value),
    List(Vec<i64>),
    Tuple(Vec<i64>),
    Dict(Dict),
    Module,
    /// A method of another object.
    Method {
        of: i64,
        name: String,
    },
    Exception(Exception),
    /// The next element of a list or tuple.
    Iterator {
        of: i64,
        at: usize,
    },
}

/// Keys and values in the order in which they came; deleted ones leave a gap.
#[derive(Debug, Default)]
struct Dict {
    pairs: Vec<Option<(i64, i64)>>,
    places: HashMap<Key, usize>,
}

impl Dict {
    fn live(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.pairs.iter().flatten().copied()
    }
}

/// The identity of a key: keys with the same one are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Int(i64),
    Big(String),
    Float(u64),
    Text(String),
    Bytes(Vec<u8>),
    Tuple(Vec<Key>),
    /// An object of the notebook's, by its identity.
    Foreign(usize),
    /// An object that equals no other.
    Same(i64),
}

struct ObjectEntry {
    object: Object,
    /// True for a copy of an object of the caller's, who would not see a change.
    foreign: bool,
}

/// The objects of a call, and the error that is set.
pub(super) struct Python {
    entries: Vec<ObjectEntry>,
    exceptions: Vec<Object>,
    /// Addresses of the types that the text has asked for.
    types: [i64; TYPES.len()],
    pending: Option<(Exception, String)>,
    /// The number of elements that the comparison or hash under way has looked at.
    looked_at: Cell<usize>,
    call: i64,
    module: i64,
    /// True if only shapes are known: tensors have no values.
    knows_shapes_only: bool,
    /// True if the error that came out ends the call, whichever handler would catch it.
    pub ends_call: bool,
}

impl Default for Python {
    fn default() -> Self {
        static CALLS: AtomicI64 = AtomicI64::new(0);
        let constants = [Value::None, Value::None, Value::Bool(true), Value::Bool(false)];
        let entries = constants.map(|value| ObjectEntry { object: Object::Leaf(value), foreign: false });
        Python {
            entries: entries.into(),
            exceptions: Exception::ALL.into_iter().map(Object::Exception).collect(),
            types: [0; TYPES.len()],
            pending: None,
            looked_at: Cell::new(0),
            call: CALLS.fetch_add(1, Ordering::Relaxed) % (1 << 30) + 1,
            module: 0,
            knows_shapes_only: false,
            ends_call: false,
        }
    }
}

/// NULL.
const NULL: Value = Value::Int(0);
/// The result of functions that give a number where they fail.
const FAILED: Value = Value::Int(-1);
const NONE: i64 = 1;

fn truth(b: bool) -> i64 {
    if b { 2 } else { 3 }
}

impl Python {
    /// Sets the error.
    fn set(&mut self, exception: Exception, message: impl Into<String>) {
        self.pending = Some((exception, message.into()));
    }

    /// Sets the error of a function that gives an object.
    fn null(&mut self, exception: Exception, message: impl Into<String>) -> Answer<Value> {
        self.set(exception, message);
        Ok(NULL)
    }

    /// Sets the error of a function that gives a number.
    fn failed(&mut self, exception: Exception, message: impl Into<String>) -> Answer<Value> {
        self.set(exception, message);
        Ok(FAILED)
    }

    fn bad_call(&mut self) {
        self.set(Exception::System, "bad argument to internal function");
    }

    fn bad_call_number(&mut self) -> Answer<Value> {
        self.bad_call();
        Ok(FAILED)
    }

    /// Adds an object.
    fn add(&mut self, object: Object) -> Answer<i64> {
        self.add_entry(object, false)
    }

    fn add_entry(&mut self, object: Object, foreign: bool) -> Answer<i64> {
        if self.entries.len() >= MAX_OBJECTS {
            return Err((Exception::Runtime, "too many Python objects: they stay until the call ends".to_owned()));
        }
        self.entries.push(ObjectEntry { object, foreign });
        Ok(self.call << PLACE_BITS | (self.entries.len() as i64 - 1))
    }

    /// An empty dictionary.
    fn dict_new(&mut self) -> Answer<Value> {
        self.add(Object::Dict(Dict::default())).map(Value::Int)
    }

    /// Adds an object that holds no others.
    fn leaf(&mut self, value: Value) -> Answer<Value> {
        self.import(&value, false).map(Value::Int)
    }

    /// The object of a value, with those in it.
    fn import(&mut self, value: &Value, foreign: bool) -> Answer<i64> {
        let object = match value {
            Value::None => return Ok(NONE),
            Value::Bool(b) => return Ok(truth(*b)),
            Value::List(all) => Object::List(all.iter().map(|v| self.import(v, foreign)).collect::<Answer<_>>()?),
            Value::Tuple(all) => Object::Tuple(all.iter().map(|v| self.import(v, foreign)).collect::<Answer<_>>()?),
            Value::Dict(all) => {
                let dict = self.add(Object::Dict(Dict::default()))?;
                for (key, value) in all {
                    let (key, value) = (self.import(key, foreign)?, self.import(value, foreign)?);
                    self.dict_set(dict, key, value)?;
                }
                let place = self.place(dict)?;
                self.entries[place].foreign = foreign;
                return Ok(dict);
            }
            other => Object::Leaf(other.clone()),
        };
        self.add_entry(object, foreign)
    }

    /// The place of an object among `entries`.
    fn place(&self, handle: i64) -> Answer<usize> {
        let place = (handle & ((1 << PLACE_BITS) - 1)) as usize;
        match handle {
            0 => Err((Exception::System, "NULL is used as a Python object".to_owned())),
            1..=3 => Ok(handle as usize),
            _ if handle >> PLACE_BITS == self.call && place < self.entries.len() => Ok(place),
            _ => Err((
                Exception::System,
                "a Python object is used that this call knows nothing of: objects end with the call that makes them"
                    .to_owned(),
            )),
        }
    }

    /// The object that a handle stands for.
    fn get(&self, handle: i64) -> Answer<&Object> {
        if let Some(exception) = usize::try_from(-1 - handle).ok().and_then(|i| self.exceptions.get(i)) {
            return Ok(exception);
        }
        self.place(handle).map(|place| &self.entries[place].object)
    }

    fn exception(&self, handle: i64) -> Answer<Exception> {
        match self.get(handle)? {
            Object::Exception(exception) => Ok(*exception),
            _ => Err((Exception::System, "an exception is set whose class is none".to_owned())),
        }
    }

    fn matches(&self, exception: Exception, class: i64) -> Answer<bool> {
        Ok(match self.get(class)? {
            Object::Exception(class) => exception.is(*class),
            Object::Tuple(classes) => {
                for class in classes {
                    if self.exception(*class).is_ok_and(|class| exception.is(class)) {
                        return Ok(true);
                    }
                }
                false
            }
            _ => false,
        })
    }

    fn type_of(&self, handle: i64) -> Answer<usize> {
        Ok(match self.get(handle)? {
            Object::Leaf(value) => match value {
                Value::None => 0,
                Value::Bool(_) => 1,
                Value::Int(_) | Value::BigInt(_) => 2,
                Value::Float(_) => 3,
                Value::Text(_) => 4,
                Value::Bytes(_) => 5,
                Value::List(_) => 6,
                Value::Tuple(_) => 7,
                Value::Dict(_) => 8,
                Value::Tensor(_) => 10,
                Value::DType(_) => 11,
                Value::Device(_) => 12,
                Value::Set(_) => 16,
                Value::Foreign(_) => 15,
            },
            Object::List(_) => 6,
            Object::Tuple(_) => 7,
            Object::Dict(_) => 8,
            Object::Module => 9,
            Object::Method { .. } => 15,
            Object::Exception(_) => 13,
            Object::Iterator { .. } => 14,
        })
    }

    /// The name of an object's type.
    fn type_name(&self, handle: i64) -> Answer<String> {
        Ok(match self.foreign(handle)? {
            Some(foreign) => foreign.type_name(),
            None => TYPES[self.type_of(handle)?].to_owned(),
        })
    }

    /// True if an object is of the type at an address; `None` where no type is there.
    fn is_at(&self, handle: i64, address: i64) -> Answer<Option<(bool, &'static str)>> {
        let Some(kind) = self.types.iter().position(|t| *t != 0 && *t == address) else { return Ok(None) };
        Ok(Some((is_of(self.type_of(handle)?, kind as i64), TYPES[kind])))
    }

    /// A list that may be changed; `None` where the object is no list.
    fn list(&mut self, handle: i64) -> Answer<Option<&mut Vec<i64>>> {
        if !matches!(self.get(handle)?, Object::List(_)) {
            return Ok(None);
        }
        let place = self.place(handle)?;
        refuse_foreign(&self.entries[place])?;
        match &mut self.entries[place].object {
            Object::List(list) => Ok(Some(list)),
            _ => Ok(None),
        }
    }

    /// Bounds the walk over an object and those in it.
    fn look(&self, depth: u32) -> Answer<()> {
        self.looked_at.set(if depth == 0 { 0 } else { self.looked_at.get() + 1 });
        if depth > MAX_DEPTH || self.looked_at.get() > MAX_OBJECTS {
            return Err((
                Exception::Runtime,
                "Python objects lie too deep in one another, or within themselves".to_owned(),
            ));
        }
        Ok(())
    }

    /// The value of an object, with those in it.
    fn export(&self, handle: i64) -> Answer<Value> {
        self.export_within(handle, 0, &mut 0)
    }

    fn export_within(&self, handle: i64, depth: u32, count: &mut usize) -> Answer<Value> {
        let refuse = |message: &str| Err((Exception::Runtime, message.to_owned()));
        *count += 1;
        if depth > MAX_DEPTH {
            return refuse("Python objects lie too deep in one another, or within themselves");
        }
        if *count > MAX_OBJECTS {
            return refuse("too many Python objects are handed back");
        }
        if handle == 0 {
            return Err((
                Exception::System,
                "a list or tuple is handed back with elements that were not set".to_owned(),
            ));
        }
        let mut all = |items: &[i64]| -> Answer<Vec<Value>> {
            items.iter().map(|item| self.export_within(*item, depth + 1, count)).collect()
        };
        Ok(match self.get(handle)? {
            Object::Leaf(value) => value.clone(),
            Object::List(items) => Value::List(all(items)?),
            Object::Tuple(items) => Value::Tuple(all(items)?),
            Object::Dict(dict) => {
                let mut pairs = Vec::new();
                for (key, value) in dict.live() {
                    let mut pair = all(&[key, value])?.into_iter();
                    if let (Some(key), Some(value)) = (pair.next(), pair.next()) {
                        pairs.push((key, value));
                    }
                }
                Value::Dict(pairs)
            }
            Object::Method { .. } => return refuse("a method of a value is handed back, which is not supported"),
            Object::Module => return refuse("a module is handed back, which is supported for PyInit_ functions only"),
            Object::Exception(_) => return refuse("an exception's class is handed back, which is not supported"),
            Object::Iterator { .. } => return refuse("an iterator is handed back, which is not supported"),
        })
    }

    /// The result of a method.
    fn returned(&mut self, handle: i64, function: &str) -> Answer<Value> {
        match (handle, self.pending.take()) {
            (0, Some(error)) => Err(error),
            (0, None) => {
                let message = format!("<built-in function {function}> returned NULL without setting an exception");
                Err((Exception::System, message))
            }
            (_, Some((exception, message))) => {
                let message = format!(
                    "<built-in function {function}> returned a result with an exception set ({}: {message})",
                    exception.name()
                );
                Err((Exception::System, message))
            }
            (handle, None) => self.export(handle),
        }
    }

    fn formatted(&self, format: &str, args: &[Value]) -> Answer<String> {
        snprintf::python(format, args, |letter, handle| match letter {
            'R' | 'A' => self.repr(handle),
            'T' => self.type_name(handle),
            _ => self.str(handle),
        })
    }
}

/// The handle of an exception's class.
fn class_of(exception: Exception) -> i64 {
    Exception::ALL.iter().position(|e| *e == exception).map_or(0, |i| -1 - i as i64)
}

/// True if a type is another or derived from it.
fn is_of(of: usize, kind: i64) -> bool {
    of as i64 == kind || (of == 1 && kind == 2) || kind == 15
}

/// Refuses a change of an argument of the caller's, which is a copy here: the change would be lost.
fn refuse_foreign(entry: &ObjectEntry) -> Answer<()> {
    if !entry.foreign {
        return Ok(());
    }
    let message = "a list or dict that the caller gave is changed, which is not supported: the caller would not see it; make a new one";
    Err((Exception::NotImplemented, message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::HostOp;

    fn run(python: &mut Python, op: HostOp, args: &[Value]) -> Value {
        let around = Surroundings { function: "f", registers: false, shapes_only: false, exports: &mut Vec::new() };
        python.run(op, args, around).unwrap()
    }

    #[test]
    fn macros_number_the_classes_of_exceptions() {
        for (i, exception) in Exception::ALL.into_iter().enumerate() {
            let name = format!("PyExc_{}", exception.name());
            let text = crate::library::HOST_MACROS.iter().find(|(n, _)| *n == name).expect(&name).1;
            assert_eq!(text, format!("reinterpret_cast<PyObject*>(-{}l)", i + 1));
        }
    }

    #[test]
    fn macros_number_the_types() {
        for (name, text) in
            crate::library::HOST_MACROS.iter().filter(|(n, _)| n.starts_with("Py") && n.ends_with("_Type"))
        {
            let number: usize = text.trim_start_matches("__wb::py_type(").trim_end_matches(")[0]").parse().unwrap();
            let short = name[2..name.len() - 5].to_lowercase();
            let short = match short.as_str() {
                "long" => "int",
                "unicode" => "str",
                "baseobject" => "object",
                other => other,
            };
            assert_eq!(TYPES[number], short);
        }
    }

    #[test]
    fn two_who_hold_a_list_see_the_same_one() {
        let mut python = Python::default();
        let inner = run(&mut python, HostOp::PyNew, &[Value::Int(6), Value::Int(0)]);
        let outer = run(&mut python, HostOp::PyNew, &[Value::Int(7), Value::Int(2)]);
        for i in 0..2 {
            run(&mut python, HostOp::PySet, &[outer.clone(), Value::Int(7), Value::Int(i), inner.clone()]);
        }
        let got = run(&mut python, HostOp::PyGet, &[outer.clone(), Value::Int(7), Value::Int(1)]);
        run(&mut python, HostOp::PyAppend, &[got, Value::Int(NONE)]);
        assert_eq!(run(&mut python, HostOp::PySize, &[inner, Value::Int(6)]).to_string(), "1");
        let value = run(&mut python, HostOp::PyReturn, &[outer]);
        assert!(matches!(&value, Value::Tuple(all) if all.iter().all(|v| matches!(v, Value::List(l) if l.len() == 1))));
    }

    #[test]
    fn a_list_within_itself_is_not_handed_back() {
        let mut python = Python::default();
        let list = run(&mut python, HostOp::PyNew, &[Value::Int(6), Value::Int(0)]);
        run(&mut python, HostOp::PyAppend, &[list.clone(), list.clone()]);
        let Value::Int(handle) = list else { panic!("a handle") };
        assert!(python.export(handle).is_err() && python.repr(handle).is_err());
    }
}
