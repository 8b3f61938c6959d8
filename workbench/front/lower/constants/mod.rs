//! Constant expressions ([expr.const]): values known while compiling.
//!
//! Constants come to what the IR says of the same operation as it runs; an operation that has no value there (a division by zero) is
//! no constant.
//!
//! - `folding`: arithmetic on constants, as typed expressions are built.
//! - `expressions`: what folding leaves over, lowered into a function of its own.
//! - `evaluator`: runs such functions, bounded in steps, calls and memory.

mod evaluator;
mod expressions;
pub(super) mod folding;
