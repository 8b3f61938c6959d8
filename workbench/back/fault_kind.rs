//! The kinds of fault that end a launch, with their names, and the exceptions that host code raises.

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
