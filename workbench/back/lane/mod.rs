//! The lane IR: a kernel for one shape of blocks, in which 16 threads run side by side as lanes of vectors.
//!
//! - [`table`]: every operation there is: its name, the types of its operands, what it gives, what it does with NaN. One record each.
//! - [`tree`]: what a kernel is: types, typed variables, expressions, statements, functions.
//! - [`valid`]: the rules a kernel keeps, and what checks them.
//! - [`text`]: a kernel as text for somebody to read.
//! - [`left`]: why a piece of a kernel has no code for the widest registers.
//! - [`read`]: from the C that `back::cpu::wide` prints to a kernel.
//!
//! The JIT of `back::cpu::wide::own` compiles it. Whatever makes a kernel validates it: what is not valid is a mistake of ours, which
//! builds with debug assertions stop at ([`valid::require`]).

pub mod atomic;
pub mod left;
pub mod memory;
pub mod number;
pub mod read;
pub mod table;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tree;
pub mod types;
pub mod valid;
