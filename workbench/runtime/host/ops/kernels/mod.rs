//! Operations on large tensors as kernels of our own: CUDA C++ that is compiled like any other text when it is first needed, once for
//! each process. So they are vectorised, run on all threads, and can be stopped.
//!
//! An operation is tried here first. What no kernel is for, small tensors among it, is left to the operation's own code in the folder above, which
//! alone decides about types, shapes and errors. Both give the same elements, but for the rounding of functions such as `exp`, which are
//! CUDA's here, and for the order of additions.

/// Unwraps an answer within a function that gives `Option<Answer<_>>`.
macro_rules! answered {
    ($answer:expr) => {
        match $answer {
            Ok(value) => value,
            Err(error) => return Some(Err(error)),
        }
    };
}

mod compiled;
mod elements;
mod layout;
mod moves;
mod order;
mod pointwise;
mod rows;
mod scatter;
mod spread;

pub use moves::copy;

use self::elements::LEAST;
use super::super::answer::Answer;
use super::super::value::Value;

/// Runs an operation as a kernel; `None` where no kernel is for it.
///
/// # Errors
/// `MemoryError`.
pub fn run(name: &str, args: &[Value]) -> Option<Answer<Value>> {
    let is_large = |value: &Value| matches!(value, Value::Tensor(t) if t.numel() >= LEAST);
    if !args.iter().any(is_large) {
        return None;
    }
    [pointwise::run, rows::run, moves::run, order::run, scatter::run, spread::run]
        .iter()
        .find_map(|run| run(name, args))
}
