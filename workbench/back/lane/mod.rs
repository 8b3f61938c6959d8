//! The lane IR: a kernel for one shape of blocks, in which 16 threads run side by side as lanes of vectors.
//!
//! - [`table`]: every operation there is: its name, the types of its operands, what it gives, what it does with NaN. One record each.
//! - [`tree`]: what a kernel is: types, typed variables, expressions, statements, functions.
//! - [`valid`]: the rules a kernel keeps, and what checks them.
//! - [`build`]: a kernel made in steps, with typed operations and variables by names; [`families`] has the operations that come in
//!   families by what lanes hold.
//! - [`write_c`]: a kernel as C, for a C compiler. Tests read it back, so that it says what the kernel is.
//! - [`text`]: a kernel as text for somebody to read, with the types of its variables and the memory of its accesses.
//! - [`not_vectorised`]: why a piece of a kernel has no code for the widest registers.
//!
//! `back::cpu::wide::build` makes kernels of the IR, a C compiler or the JIT of `back::cpu::wide::jit` machine code of them. Whatever makes a
//! kernel validates it: what is not valid is a mistake of ours, which builds with debug assertions stop at ([`valid::require`]).

pub mod atomic;
pub mod build;
pub mod families;
pub mod memory;
pub mod not_vectorised;
pub mod number;
pub mod table;
#[cfg(test)]
pub mod tests;
pub mod text;
pub mod tree;
pub mod types;
pub mod valid;
pub mod write_c;
