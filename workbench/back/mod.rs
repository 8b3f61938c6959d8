//! Back ends: IR (or the user's text) to something that runs. Both have the same parts under the same file names: `lower`/`emit` make code,
//! `intrinsics` names functions, `launch` runs it. Both return one [`Outcome`].
//!
//! The types here are the boundary between a back end and `runtime`: plain bits, already checked against the kernel's
//! parameters.

pub mod cpu;
pub mod cuda;
mod fault_kind;
pub mod interrupt;
pub mod lane;
pub mod notebook;
pub mod printf;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use self::fault_kind::{Exception, FaultKind};
pub use self::interrupt::Interrupt;
use crate::ir::{FuncId, Scalar};
use crate::source::Span;

/// Grid or block extents (x, y, z).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Fastest running.
    pub x: u32,
    /// Second.
    pub y: u32,
    /// Slowest.
    pub z: u32,
}

impl Dim3 {
    /// Extents, 1 where a dimension is not used.
    pub fn new(x: u32, y: u32, z: u32) -> Self {
        Dim3 { x, y, z }
    }

    /// The product of the extents (at most 2^31 * 65535 * 65535 for a legal grid, which fits).
    pub fn count(self) -> u64 {
        u64::from(self.x).saturating_mul(u64::from(self.y)).saturating_mul(u64::from(self.z))
    }

    /// (x, y, z) of a linear index, x running fastest.
    pub fn unflatten(self, linear: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.x.max(1)), u64::from(self.y.max(1)));
        [(linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32]
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Dim3 { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Dim3 { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Dim3 { x, y, z }
    }
}

/// One argument as bits.
#[derive(Debug, Clone, Copy)]
pub enum RawArg {
    /// A scalar, zero-extended (signed ones sign-extended) to 64 bits; floats by their bits.
    Scalar(u64),
    /// Host memory. The lender keeps it alive and unmoved until the launch returns. In a launch with a [`Queue`] it is memory of that GPU,
    /// which the lender keeps until the kernel has run; memory inside a struct by value is host memory in any case.
    Buffer {
        /// First byte; aligned to the parameter's element type.
        ptr: *mut u8,
        /// Size in bytes.
        bytes: usize,
        /// True if the kernel may write it; otherwise a write is a fault.
        writable: bool,
    },
    /// Memory of host code's that the kernel may not touch, as a GPU could not; the address is for messages.
    Away {
        /// First byte.
        ptr: *mut u8,
        /// Size in bytes.
        bytes: usize,
    },
    /// A null pointer.
    Null,
}

/// Memory that a pointer inside a struct argument points at.
#[derive(Debug, Clone)]
pub struct Reach {
    /// The name in messages: `p.weights`.
    pub name: String,
    /// The element type, where there is one.
    pub elem: Option<Scalar>,
    /// First byte. The lender keeps the memory alive and unmoved until the launch returns.
    pub ptr: *mut u8,
    /// Size in bytes.
    pub bytes: usize,
    /// True if the kernel may write it.
    pub writable: bool,
    /// The parameter that holds the pointer, counted from 0.
    pub param: usize,
    /// The offset of the pointer in that parameter's bytes.
    pub offset: u32,
}

// SAFETY: an address and numbers; any code that follows the address is bound by the lender's promise, as for arguments.
unsafe impl Send for Reach {}
// SAFETY: as above.
unsafe impl Sync for Reach {}

/// A stream of a GPU, on which a launch is queued: its arrays lie on that GPU, and unless `waits` nobody waits for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queue<'a> {
    /// The GPU's index, in the driver's order.
    pub device: u32,
    /// The driver's handle of the stream; 0 is the legacy default stream.
    pub stream: u64,
    /// Streams that the kernel waits for: for their work so far.
    pub after: &'a [u64],
    /// Streams that wait for the kernel with their later work.
    pub before: &'a [u64],
    /// True if the kernel is waited for: nobody else knows that its arrays are in use.
    pub waits: bool,
}

/// The settings of a launch.
#[derive(Clone, Copy)]
pub struct LaunchConfig<'a> {
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory.
    pub shared_mem: u64,
    /// The time after which the launch faults.
    pub timeout: Option<Duration>,
    /// Polled while running.
    pub interrupt: Option<&'a dyn Interrupt>,
    /// Runs the blocks in order on the calling thread.
    pub serial: bool,
    /// The memory that the kernel may reach besides its arguments.
    pub reach: &'a [Reach],
    /// The run time of the host code that launches it; such a kernel may reach the host code's memory.
    pub host: Option<&'a dyn cpu::Host>,
    /// The queue, on a GPU where the arrays lie: the pointers among arguments and in structs are then the device's addresses. `None`:
    /// arrays are in host memory.
    pub queue: Option<Queue<'a>>,
}

impl LaunchConfig<'_> {
    /// The settings for a grid of blocks, with nothing else set.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        LaunchConfig {
            grid: grid.into(),
            block: block.into(),
            shared_mem: 0,
            timeout: None,
            interrupt: notebook::interrupt(),
            serial: false,
            reach: &[],
            host: None,
            queue: None,
        }
    }
}

/// The fault that ended a launch: that of the lowest faulting block, and in it of the lowest faulting thread (on a GPU, where threads run
/// at once, the lowest of those that had faulted when it stopped).
#[derive(Debug, Clone, PartialEq)]
pub struct RawFault {
    /// The kind.
    pub kind: FaultKind,
    /// The place in the user's text.
    pub span: Span,
    /// Block index (x, y, z).
    pub block: [u32; 3],
    /// Thread index (x, y, z).
    pub thread: [u32; 3],
    /// One sentence: the buffer by its parameter's name, index, size, operands.
    pub detail: String,
    /// The other place, where two places conflict; the sentence ends in the name of its line.
    pub related: Option<Span>,
    /// The kernel that faulted, if host code launched it.
    pub kernel: Option<FuncId>,
    /// The place where the text calls the library, if the library made the launch.
    pub called: Option<Span>,
}

/// One line (or part of one) that a thread printed.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintfRecord {
    /// Block index (x, y, z).
    pub block: [u32; 3],
    /// Thread index (x, y, z).
    pub thread: [u32; 3],
    /// The formatted text.
    pub text: String,
    /// The kernel that the thread belongs to; `None` for host code, whose block and thread are zeros.
    pub kernel: Option<Arc<str>>,
}

/// Notes the kernel whose launch gave these records, in those that do not know theirs yet.
pub(crate) fn name_kernel(records: &mut [PrintfRecord], kernel: &str) {
    if records.is_empty() {
        return;
    }
    let name: Arc<str> = kernel.into();
    for record in records {
        record.kernel.get_or_insert_with(|| name.clone());
    }
}

/// The outcome of a launch.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// printf records in (block, thread, time) order, those before a fault included.
    pub output: Vec<PrintfRecord>,
    /// The number of records that were dropped because the log was full.
    pub dropped: u64,
    /// The error, if any.
    pub fault: Option<RawFault>,
}
