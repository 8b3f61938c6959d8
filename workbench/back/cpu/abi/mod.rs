//! The contract between generated code and the Rust around it: the layout of the structures that both touch, declared once, and the
//! functions that generated code calls. Nothing here runs or compiles anything.
//!
//! [`context`] is the state of a worker and the descriptors of buffers, [`site`] the meaning of a numbered place of the code, [`masks`]
//! the masks of a block's threads and the operands of collectives, [`host_fn`] the functions of this process, [`flags`] the flags of
//! accesses to all of these.

pub mod context;
pub mod flags;
pub mod host_fn;
pub mod masks;
pub mod site;
