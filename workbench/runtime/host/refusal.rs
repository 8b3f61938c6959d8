//! Launches of host code that could not begin. As on a GPU the call goes on and the error waits to be asked for (`cudaGetLastError`); an
//! error that was never asked for ends the call when it is over, so that no result rests on a kernel that never ran.
//!
//! A grid without blocks is no such error: there is nothing to do.

use super::answer::Answer;
use super::misfits::unfit;
use super::value::Value;
use crate::back::RawFault;
use crate::back::cpu::Refusal;
use crate::ir::HostOp;

/// The refusals of one call.
#[derive(Default)]
pub(super) struct Refusals {
    /// The code of the last error, until it is read.
    last: i32,
    /// The first that was not asked for, of a launch that should have done something.
    untold: Option<RawFault>,
}

impl Refusals {
    /// Notes one.
    pub fn note(&mut self, refusal: &Refusal, fault: RawFault) {
        self.last = refusal.code;
        if !refusal.is_empty {
            self.untold.get_or_insert(fault);
        }
    }

    /// The fault that ends the call, if there is one.
    pub fn take(&mut self) -> Option<RawFault> {
        self.untold.take()
    }

    /// Runs an operation.
    pub fn run(&mut self, op: HostOp, args: &[Value]) -> Answer<Value> {
        match (op, args) {
            (HostOp::LastError, [Value::Bool(resets)]) => {
                self.untold = None;
                let code = self.last;
                if *resets {
                    self.last = 0;
                }
                Ok(Value::Int(code.into()))
            }
            // A call of the runtime's that gives its error as well.
            (HostOp::Failed, [Value::Int(code)]) => {
                self.last = i32::try_from(*code).unwrap_or(i32::MAX);
                Ok(Value::None)
            }
            _ => unfit(op, args),
        }
    }
}
