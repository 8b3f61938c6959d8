//! Templates ([temp]): their declarations, their arguments, and their instances.
//!
//! Nothing of a template is looked at before it is used. An instance is the template's syntax lowered again, in a scope where its parameters
//! are bound.
//!
//! - [`declarations`]: templates as declared, and the scope of an instance.
//! - `arguments`: arguments as written, completed by defaults, and as messages show them.
//! - `deduction`: arguments that follow from those of a call. `deduced_instances`: the same for calls from outside of the text.
//! - `instantiation`: instances of function templates, explicit specialisations and instantiations.
//! - `partial_specialisation`: which partial specialisation fits, and which of several is narrower.

pub(super) mod arguments;
pub(super) mod declarations;
mod deduced_instances;
mod deduction;
mod instantiation;
mod partial_specialisation;
