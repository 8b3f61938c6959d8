//! Data of a module: shared variables, constants and variables of the device and the host, formats of `printf`.

use super::Scalar;
use crate::source::Span;

/// Owner of data of a module: who may change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Space {
    /// Nobody: string literals and constant tables.
    #[default]
    ReadOnly,
    /// The host, between launches: `__constant__` variables.
    Constant,
    /// Kernels, and the host between launches: `__device__` variables.
    Device,
    /// Kernels and host code: `__managed__` variables.
    Managed,
    /// Host code: its variables at namespace scope.
    Host,
}

impl Space {
    /// Code may write it.
    pub fn is_writable(self) -> bool {
        matches!(self, Space::Device | Space::Managed | Space::Host)
    }
}

/// Alignment at which the shared memory of a block begins, as on GPUs: kernels that swizzle depend on it.
pub const MAX_SHARED_ALIGN: u32 = 4096;

/// A shared variable: one for each block that runs a kernel which names it.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedData {
    /// The user's name.
    pub name: String,
    /// Size in bytes; 0 for a dynamic one, which is as large as the launch says.
    pub size: u32,
    /// Alignment in bytes, a power of two up to [`MAX_SHARED_ALIGN`].
    pub align: u32,
    /// The scalar its elements are, when all are the same.
    pub elem: Option<Scalar>,
    /// `extern __shared__`.
    pub dynamic: bool,
    /// Place of its declaration.
    pub span: Span,
}

/// Data of a module: string literals, constant tables, `__constant__` and `__device__` variables.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct GlobalData {
    /// The user's name, or empty for a literal.
    pub name: String,
    /// The bytes at the start; a string literal includes its closing NUL.
    pub bytes: Vec<u8>,
    /// Alignment in bytes, a power of two up to 16.
    pub align: u32,
    /// The scalar its elements are, when all are the same.
    pub elem: Option<Scalar>,
    /// The owner, which says who may change it.
    pub space: Space,
}

impl GlobalData {
    /// True if the data is the literal of an expression.
    pub fn is_literal(&self) -> bool {
        self.space == Space::ReadOnly && self.name.is_empty()
    }
}

/// A printf format: the literal's bytes after escapes, without the closing NUL.
#[derive(Debug, Clone, PartialEq)]
pub struct FormatData {
    /// The bytes.
    pub text: String,
    /// The literal.
    pub span: Span,
}
