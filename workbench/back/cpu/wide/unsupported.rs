//! Reasons why a kernel has no wide code.

/// The part of a kernel that this tier has no words for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsupported(pub &'static str);

/// Something of wide code, or the reason that there is none.
pub type Result<T> = std::result::Result<T, Unsupported>;

/// A kernel that would keep a compiler busy for longer than it is worth.
pub const TOO_LONG: Unsupported = Unsupported("a text too long for a compiler");
