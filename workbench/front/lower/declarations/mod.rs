//! Declarations other than functions, classes and templates ([dcl]): variables wherever they live, their initialisers, types as written.
//!
//! A variable whose declaration is refused is declared all the same, as [`Storage::Nowhere`](super::Storage): the error is said once, and
//! what uses the variable stays silent.
//!
//! - `local_variables`: variables of functions. `shared_memory`: those of a block. `variable_length_arrays`: arrays of host code whose length
//!   is known as they run.
//! - `namespace_variables`: variables at namespace scope; those that live on the host are in [`super::host`].
//! - `initialisers`, `aggregates`: the value that an initialiser gives; which part of an array or struct an entry of a braced list goes to.
//! - `structured_bindings`: arrays and structs taken apart.
//! - `type_names`: types as written to types.
//! - `qualified`: declarations with qualified names, such as members defined outside of their class.
//! - `linkage`: functions and variables that other units know, and their symbols.

mod aggregates;
pub(super) mod initialisers;
mod linkage;
mod local_variables;
pub(super) mod namespace_variables;
mod qualified;
mod shared_memory;
mod structured_bindings;
mod type_names;
mod variable_length_arrays;

/// Most bytes of one `__device__` variable, and of one of the host's.
pub(super) const MAX_DEVICE: u32 = 256 << 20;
