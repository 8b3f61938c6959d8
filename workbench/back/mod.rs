//! Back ends: IR (or the user's text) to something that runs. Both have the same parts under the same file names: `lower`/`emit` make code,
//! `intrinsics` names functions, `launch` runs it. Both return one [`Outcome`].
//!
//! The types here are the boundary between a back end and `runtime`: plain bits, already checked against the kernel's
//! parameters.

pub mod cpu;
pub mod cuda;
pub mod interrupt;
pub mod lane;
pub mod notebook;
pub mod printf;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

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

/// The kind of error that ended a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A read outside its buffer.
    OutOfBoundsRead,
    /// A write outside its buffer.
    OutOfBoundsWrite,
    /// An access through a null pointer.
    NullPointer,
    /// An access at an address that is not a multiple of its size.
    Misaligned,
    /// A write to memory that is read-only (a const argument, a literal).
    ReadOnlyWrite,
    /// Host code that touches the device's memory, or a kernel that touches the host's.
    WrongMemory,
    /// An access through a pointer that does not point into a live allocation.
    DanglingPointer,
    /// Integer division or remainder by zero.
    DivisionByZero,
    /// `MIN / -1` or `MIN % -1`.
    DivisionOverflow,
    /// The thread's stack is used up: recursion that is endless or too deep.
    StackOverflow,
    /// `assert` failed.
    Assert,
    /// `__trap()`.
    Trap,
    /// A block barrier that some threads of the block do not reach.
    BarrierDivergence,
    /// A warp function whose mask names a lane that does not take part.
    CollectiveMismatch,
    /// Every running thread waits for something that only a thread which does not run yet could do.
    NoProgress,
    /// `timeout=` passed.
    Timeout,
    /// The user interrupted.
    Interrupted,
    /// A fault that the GPU's driver reported.
    Device,
    /// An exception of host code: `TORCH_CHECK`, `throw`, an operation on tensors that cannot be done.
    Raised(Exception),
}

/// The exceptions that host code raises, by their names in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exception {
    /// `RuntimeError`: `TORCH_CHECK`, `std::runtime_error` and everything without a class of its own.
    Runtime,
    /// `ValueError`: `TORCH_CHECK_VALUE`, `std::invalid_argument`, `std::domain_error`.
    Value,
    /// `TypeError`: `TORCH_CHECK_TYPE`, arguments of another type.
    Type,
    /// `IndexError`: `TORCH_CHECK_INDEX`, `std::out_of_range`.
    Index,
    /// `NotImplementedError`: `TORCH_CHECK_NOT_IMPLEMENTED`.
    NotImplemented,
    /// `MemoryError`: no memory of that size.
    Memory,
    /// `OverflowError`: `std::overflow_error`.
    Overflow,
    // Exceptions that only Python's C interface sets.
    /// `KeyError`: a key that is not there.
    Key,
    /// `ZeroDivisionError`: a division by zero.
    ZeroDivision,
    /// `ArithmeticError`: a result that cannot be computed.
    Arithmetic,
    /// `SystemError`: Python's C interface used wrongly.
    System,
    /// `AttributeError`: an attribute that is not there.
    Attribute,
    /// `StopIteration`: the end of an iterator.
    StopIteration,
    /// `LookupError`: an index or a key.
    Lookup,
    /// `AssertionError`: a condition that does not hold.
    Assertion,
    /// `ImportError`: a module that is not there.
    Import,
    /// `OSError`: an error of the operating system.
    Os,
    /// `EOFError`: the end of a file.
    Eof,
    /// `BufferError`: a buffer that cannot be had.
    Buffer,
    /// `FloatingPointError`: an error in float arithmetic.
    FloatingPoint,
    /// `NameError`: a name that does not exist.
    Name,
    /// `Exception`: no class in particular.
    Any,
}

impl Exception {
    /// Every exception, in the order of their numbers in `raise`.
    pub const ALL: [Exception; 22] = [
        Exception::Runtime,
        Exception::Value,
        Exception::Type,
        Exception::Index,
        Exception::NotImplemented,
        Exception::Memory,
        Exception::Overflow,
        Exception::Key,
        Exception::ZeroDivision,
        Exception::Arithmetic,
        Exception::System,
        Exception::Attribute,
        Exception::StopIteration,
        Exception::Lookup,
        Exception::Assertion,
        Exception::Import,
        Exception::Os,
        Exception::Eof,
        Exception::Buffer,
        Exception::FloatingPoint,
        Exception::Name,
        Exception::Any,
    ];

    /// The name in Python.
    pub fn name(self) -> &'static str {
        match self {
            Exception::Runtime => "RuntimeError",
            Exception::Value => "ValueError",
            Exception::Type => "TypeError",
            Exception::Index => "IndexError",
            Exception::NotImplemented => "NotImplementedError",
            Exception::Memory => "MemoryError",
            Exception::Overflow => "OverflowError",
            Exception::Key => "KeyError",
            Exception::ZeroDivision => "ZeroDivisionError",
            Exception::Arithmetic => "ArithmeticError",
            Exception::System => "SystemError",
            Exception::Attribute => "AttributeError",
            Exception::StopIteration => "StopIteration",
            Exception::Lookup => "LookupError",
            Exception::Assertion => "AssertionError",
            Exception::Import => "ImportError",
            Exception::Os => "OSError",
            Exception::Eof => "EOFError",
            Exception::Buffer => "BufferError",
            Exception::FloatingPoint => "FloatingPointError",
            Exception::Name => "NameError",
            Exception::Any => "Exception",
        }
    }

    /// True if `except` with a class catches it.
    pub fn is(self, class: Exception) -> bool {
        match class {
            Exception::Any => true,
            Exception::Lookup => matches!(self, Exception::Lookup | Exception::Index | Exception::Key),
            Exception::Arithmetic => matches!(
                self,
                Exception::Arithmetic | Exception::Overflow | Exception::ZeroDivision | Exception::FloatingPoint
            ),
            Exception::Runtime => matches!(self, Exception::Runtime | Exception::NotImplemented),
            class => self == class,
        }
    }
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 18] = [
        FaultKind::OutOfBoundsRead,
        FaultKind::OutOfBoundsWrite,
        FaultKind::NullPointer,
        FaultKind::Misaligned,
        FaultKind::ReadOnlyWrite,
        FaultKind::WrongMemory,
        FaultKind::DanglingPointer,
        FaultKind::DivisionByZero,
        FaultKind::DivisionOverflow,
        FaultKind::StackOverflow,
        FaultKind::Assert,
        FaultKind::Trap,
        FaultKind::BarrierDivergence,
        FaultKind::CollectiveMismatch,
        FaultKind::NoProgress,
        FaultKind::Timeout,
        FaultKind::Interrupted,
        FaultKind::Device,
    ];

    /// The kind in words, as `KernelFault.kind` gives it: `out-of-bounds write`.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::OutOfBoundsRead => "out-of-bounds read",
            FaultKind::OutOfBoundsWrite => "out-of-bounds write",
            FaultKind::NullPointer => "null pointer",
            FaultKind::Misaligned => "misaligned access",
            FaultKind::ReadOnlyWrite => "write to read-only memory",
            FaultKind::WrongMemory => "memory of the other side",
            FaultKind::DanglingPointer => "dangling pointer",
            FaultKind::DivisionByZero => "division by zero",
            FaultKind::DivisionOverflow => "division overflow",
            FaultKind::StackOverflow => "stack overflow",
            FaultKind::Assert => "assertion failed",
            FaultKind::Trap => "trap",
            FaultKind::BarrierDivergence => "divergent barrier",
            FaultKind::CollectiveMismatch => "mismatched warp function",
            FaultKind::NoProgress => "no progress",
            FaultKind::Timeout => "timeout",
            FaultKind::Interrupted => "interrupted",
            FaultKind::Device => "device error",
            FaultKind::Raised(exception) => exception.name(),
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
