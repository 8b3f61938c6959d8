//! Host functions with tensors: what runs them, and how the notebook calls them.
//!
//! A text's registrations (`PYBIND11_MODULE`, `TORCH_LIBRARY`) are functions that run once, and leave [`Export`]s. A call puts
//! its arguments on the stack of values, runs the export's code as one thread, and takes the result from there. All tensors, strings and
//! allocations of a call are the call's ([`Call`]) and end with it, however it ends.

mod array;
mod call;
mod exceptions;
mod export;
pub mod foreign;
mod format;
mod neuron;
mod notes;
pub mod ops;
mod python;
mod refusal;
mod room;
pub mod turns;
mod value;
mod work;

pub use array::{Answer, DeviceTag, Fill, HostTensor, Lender, Storage, contiguous_strides, hollowly};
pub use call::recording::Recording;
pub use call::tape::tensors_of;
pub use call::{Call, Dispatched, Dispatcher, HostProgram, Limits, ProgramState, set_dispatcher};
pub(in crate::runtime) use export::Names;
pub use export::{Export, Inferred, LibraryEntry, LibraryLine, Objects, Registration};
pub use foreign::{Foreign, ForeignObject};
pub use neuron::Core;
pub use notes::Notes;
pub use value::{Value, torch_number};

/// The time in seconds since the first time somebody asked.
fn seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64()
}
