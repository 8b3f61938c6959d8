//! Functions ([dcl.fct]): their declarations, their bodies, and functions as values.
//!
//! A body is lowered when something needs it, and its [`Progress`](super::Progress) says how far it is: bodies of instances and methods wait
//! in a queue until the function being lowered is done, and nothing is lowered a second time while it is running.
//!
//! - `declarations`: what a function's declaration says, and the queue of bodies.
//! - `body`: parameters, statements and the end of a body. `usage`: what a body does to its names, found before it is lowered.
//! - `lambdas`: closures and what they capture.
//! - `pointers`: pointers to functions. `builtin_values`: functions that are built in, as values.
//! - `identity`: functions of the library that mean the same in every text, and need not be lowered again.

mod body;
mod builtin_values;
pub(super) mod declarations;
pub(super) mod identity;
mod lambdas;
pub(super) mod pointers;
pub(super) mod usage;
