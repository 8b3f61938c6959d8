//! Sites: the numbered places of generated code that can fault or call a helper, and the facts about each.
//!
//! Generated code keeps only a site's number and two words of operands; [`fault_messages`](crate::back::cpu::run::fault_messages) makes messages of them.

use crate::back::Reach;
use crate::ir::{Collective, FuncId, Scalar, Service, Type};
use crate::source::Span;

/// The offset by which an index too large for any memory moves a pointer: a multiple of every alignment and out of bounds of
/// every buffer. It is far from any simple fraction of 2^64, so that a sum of a few of them is out of bounds as well.
pub const FAR: i64 = 0x2d35_8dcc_aa6c_78a0;

/// A numbered place in generated code.
#[derive(Debug)]
pub struct Site {
    /// The place in the user's text.
    pub span: Span,
    /// The event that can happen there.
    pub kind: SiteKind,
    /// True if the site is in a function of the library.
    pub library: bool,
}

/// The bit of a slot's index that marks slots of the kernel that wide code was made of.
pub const WIDE_SLOT: u32 = 1 << 30;

/// The meaning of the two operand words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteRoot {
    /// Word 0 is an offset into the buffer of the launched kernel's parameter.
    KernelParam(u32),
    /// Word 0 is an offset into a slot, by its index in the slot table, or with [`WIDE_SLOT`] in that of the wide code.
    Slot(u32),
    /// Word 0 is an offset into module data.
    Global(u32),
    /// Word 0 is an offset into a shared variable.
    Shared(u32),
    /// Word 0 is an address; the pointer is the null constant or made from it.
    Null,
    /// Word 0 is an offset into the buffer whose descriptor word 1 points at.
    Offset,
    /// Word 0 is an address, word 1 the descriptor of its buffer.
    Address,
}

impl SiteRoot {
    /// True if word 1 is free.
    pub fn is_plain(self) -> bool {
        matches!(self, SiteRoot::KernelParam(_) | SiteRoot::Slot(_) | SiteRoot::Global(_) | SiteRoot::Null)
    }
}

/// The event that can happen at a site.
#[derive(Debug)]
pub enum SiteKind {
    /// A load or store.
    Access {
        /// True for a store.
        write: bool,
        /// The type that is read or written.
        ty: Type,
        /// The meaning of the operands.
        root: SiteRoot,
        /// True if word 1 is the index that moved the pointer, where it moved it by [`FAR`].
        indexed: bool,
    },
    /// Integer division; the operands are dividend and divisor, extended to 64 bits.
    Divide {
        /// The type.
        ty: Scalar,
        /// True for a remainder.
        rem: bool,
    },
    /// `assert`, with the condition's text.
    Assert(String),
    /// A vector access whose address (word 0) must be a multiple of this.
    Align(u32),
    /// `__trap()`.
    Trap,
    /// A call through a pointer (word 0) to a function.
    Dispatch,
    /// The end of the function of that name, which has a result.
    MissingReturn(String),
    /// Entry of a function of that name.
    Stack(String),
    /// A loop, or the threads of a block: where a poll may stop the launch.
    Poll {
        /// True if the loop may wait for other threads.
        waits: bool,
    },
    /// A jump of single threads that others may wait for.
    Jump,
    /// A barrier or warp function.
    Join(Box<Join>),
    /// A service that host code asks for.
    Service(Service),
    /// A launch of host code.
    Launch(FuncId),
    /// Host code's call of a function of the library.
    Call,
    /// `printf`.
    Printf {
        /// The format, by its index.
        format: usize,
        /// The promoted arguments.
        args: Vec<Type>,
        /// True if the call is in a host function, where `printf` gives the number of characters.
        host: bool,
    },
}

/// The facts that a barrier or warp function needs to say which threads do not come.
#[derive(Debug)]
pub struct Join {
    /// The operation.
    pub op: Joined,
    /// The constructs around it that threads may take differently, innermost first: a mask of the threads that took another way, by its
    /// number, and the place where they did; `None` when each noted the site of its jump. For `__activemask()` in a fiber: the loops around
    /// it whose rounds are counted, by their labels, outermost first.
    pub around: Vec<(u32, Option<Span>)>,
    /// The place of those notes in scratch.
    pub parted: u32,
    /// The branches around a collective of a warp whose threads run in step, the outermost first.
    pub branches: Vec<Span>,
}

/// An operation that joins threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// `__syncthreads()`.
    Barrier,
    /// An operation with a result or a mask; the size of its operand in bytes.
    Collective(Collective, u32, bool),
}

/// The name of a slot or of module data in messages.
#[derive(Debug, Clone)]
pub struct Named {
    /// The user's name, or empty.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// The element type, when there is one.
    pub elem: Option<Scalar>,
}

impl Named {
    /// The name of the memory that a pointer in a struct argument points at.
    pub fn reached(reach: &Reach) -> Self {
        Named { name: reach.name.clone(), size: reach.bytes as u64, elem: reach.elem }
    }
}

/// The bit that marks sites of this tier among those of the others.
pub const SITE_BIT: u64 = 1 << 62;
