//! Expressions ([expr]): from syntax to typed expressions, with every name resolved and every conversion written out.
//!
//! An expression that is wrong is of error type once that is reported, and everything made of it stays silent.
//!
//! - [`typed_tree`]: the typed expression. `check`: from syntax to it.
//! - `operators`: the types of operators that are built in. `conversions`, `casts`: implicit and explicit conversions.
//! - `members`: fields, methods, `this`.
//! - `calls`: calls of what the text declares. `builtin_calls`: calls of what is built in, `printf` and `memory_functions` (`memcpy` and its
//!   like) among them.
//! - `unsupported`: what the parser reads and nothing here supports, each with its message.

mod builtin_calls;
pub(super) mod calls;
mod casts;
pub(super) mod check;
pub(super) mod conversions;
mod members;
mod memory_functions;
mod operators;
mod printf;
pub(super) mod typed_tree;
mod unsupported;
