//! Host functions with tensors: their run time, and how the notebook calls them.
//!
//! A text's registrations (`PYBIND11_MODULE`, `TORCH_LIBRARY`) are functions that run once, and leave [`Export`]s. A call puts its
//! arguments on the stack of values, runs the export's code as one thread, and takes the result from there. All tensors, strings and
//! allocations of a call are the call's ([`Call`]) and end with it, however it ends.
//!
//! # Services
//! Host functions are compiled as device functions are: front end, IR, machine code. All that they use of torch and of the standard
//! library is CUDA C++ in `library/`. That text asks the run time for services (`ir/service.rs`). Tensors are handles, counted by
//! constructors and destructors. Values pass between notebook, host code and operations on one stack of values; an operation is a service
//! with torch's name for it (`ops/`), so a new one is a line in the library and a function in Rust.
//!
//! # What belongs to a call
//! A fault runs no destructors, and leaves nothing behind. Host code's pointers are checked like a kernel's, against what is lent to the
//! call (`back/cpu/run/host.rs`): arrays of the caller, tensors, allocations. A tensor that ends is no longer lent. `from_blob` makes a
//! tensor in memory of the call: from then on allocations stay until the call ends, and tensors that are handed back are copied. Values
//! that host code keeps between calls are left with the program as numbers and texts (`kept_between_calls.rs`).
//!
//! # Launches
//! A launch runs the kernel as any other and waits for it; its faults end the call and keep the kernel's name and line. One that
//! cannot begin (`runtime/extents.rs`) is CUDA's error, which the call asks for or not (`refusal.rs`). A kernel has more than 48 KiB
//! of shared memory only where the text has asked for it (`cudaFuncSetAttribute`); the amount stays with the program
//! (`extents::Allowed`). Launches from Python and by operators ask automatically.
//!
//! # Memory and its sides
//! Services such as `cudaMemcpy` see memory of both sides and compare the direction with the pointers (`call/memory.rs`): a wrong one is
//! CUDA's error 1, and where the text leaves a call's error unread (`Service::Unasked`) the call ends in it when it is over. Elements of a
//! `device_vector`, and the memory of a `device_ptr`, belong to both sides, as host code reaches them by references. `cudaMalloc` and C's
//! heap give null where `new` and containers raise.
//!
//! # Registrations
//! Registrations become functions that run once; `front/registrations.rs` writes one for texts without any. An export is a pair of function
//! pointers: one takes arguments off the stack and puts the result there, made by a template from the function's type; the other is the
//! function. A `TORCH_LIBRARY` leaves lines ([`LibraryEntry`]): a schema, a name, a function with the schema that its type has;
//! `ops/library.rs` keeps them. Registrations are called without an entry point of their own (`context::direct`), and the function that
//! calls exports is kept code. Host code reaches operators through a function that `ops` hands down ([`set_dispatcher`]).
//!
//! # Stopping
//! Operations count their work (`work.rs`): every few thousand elements they look at the clock, and every few milliseconds they ask the
//! user. An operation whose call is to end unwinds to the service that began it, which knows the user's line. Memory whose size the user
//! decides is asked for before it is taken (`memory_limit.rs`).
//!
//! # Calls from Python
//! A host function runs without the GIL, and takes it for what it asks of Python (`python/src/gil.rs`). A function whose parameters
//! are objects says so where it is registered (`Objects::of_word`): then tuples stay tuples, and any object may be an argument.

mod answer;
mod array;
mod call;
mod exceptions;
mod export;
pub mod foreign;
mod kept_between_calls;
mod memory_limit;
mod misfits;
mod neuron;
pub mod one_at_a_time;
pub mod ops;
mod python;
mod refusal;
mod snprintf;
mod tensor_values;
mod value;
mod work;

pub use answer::Answer;
pub use array::{DeviceTag, Fill, HostTensor, Lender, Storage, contiguous_strides, hollowly};
pub use call::backward::Recording;
pub use call::tape::tensors_of;
pub use call::{Call, Dispatched, Dispatcher, HostProgram, Limits, ProgramState, set_dispatcher};
pub(in crate::runtime) use export::Names;
pub use export::{Export, Inferred, LibraryEntry, LibraryLine, Objects, Registration};
pub use foreign::{Foreign, ForeignObject};
pub use kept_between_calls::Notes;
pub use neuron::Core;
pub use value::{Value, torch_number};

/// The time in seconds since it was first asked for.
fn seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64()
}
