//! Parameters of functions: those that a launch binds, and those that it works out from them.

use std::sync::Arc;

use super::layout::{MemberType, StructLayout};
use super::{Const, Elem, Scalar, Type};
use crate::source::Span;

/// A parameter: its name, its type and what a launch may bind to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// The user's name; `arg0` and so on where there is none.
    pub name: String,
    /// Scalar, pointer or bytes.
    pub ty: ParamType,
    /// The place where it is declared.
    pub span: Span,
    /// For [`ParamType::Bytes`] the layout of the bytes, where that is known.
    pub layout: Option<Arc<StructLayout>>,
    /// For a kernel's pointer to structs or to pointers the type of one of them.
    pub pointee: Option<Arc<MemberType>>,
    /// The value that a launch passes if it leaves the parameter out.
    pub default: Option<Const>,
    /// The origin of a parameter that no launch passes; such parameters stand after all others.
    pub derived: Option<Derived>,
}

/// The origin of a parameter that no launch passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Derived {
    /// A member of a struct.
    Member(MemberAt),
    /// The distance from the start of its allocation to another parameter's pointer, which then is the start itself; see
    /// [`crate::pass::anchors`].
    Anchor(Anchor),
}

/// The parameter and the unit that a [`Derived::Anchor`] counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The pointer's parameter.
    pub param: u32,
    /// The number of bytes that it counts as one.
    pub unit: u32,
}

/// A member of a struct that a kernel takes by value, as a parameter of its own; see [`crate::pass::members`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberAt {
    /// The struct's parameter.
    pub param: u32,
    /// The offset of the member in the struct's bytes, aligned to its size; the member lies inside the struct.
    pub offset: u32,
}

impl Param {
    /// A scalar or pointer.
    pub fn new(name: impl Into<String>, ty: ParamType, span: Span) -> Self {
        Param { name: name.into(), ty, span, layout: None, pointee: None, default: None, derived: None }
    }
}

/// The declared type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParamType {
    /// A scalar by value.
    Scalar(Scalar),
    /// A pointer.
    Ptr {
        /// The element type; `None` for `void*` and pointers to pointers.
        elem: Option<Elem>,
        /// True if the pointee is const: the kernel only reads it.
        is_const: bool,
    },
    /// A struct by value, of kernels only: the parameter is a pointer to so many bytes, which are only read.
    Bytes {
        /// The size in bytes.
        size: u32,
        /// Their alignment, a power of two.
        align: u32,
    },
}

impl ParamType {
    /// The type of the parameter's value.
    pub fn ty(self) -> Type {
        match self {
            ParamType::Scalar(s) => Type::Scalar(s),
            ParamType::Ptr { .. } | ParamType::Bytes { .. } => Type::Ptr,
        }
    }
}
