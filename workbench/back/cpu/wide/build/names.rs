//! Names of variables: of values, locals and masks, of what the kernel is given, of what a group has one of.

use std::fmt;

use crate::back::cpu::facts::roots::Root;
use crate::back::lane::build::variable;
use crate::back::lane::memory::Space;
use crate::back::lane::tree::{Role, VarData};
use crate::back::lane::types::Ty;
use crate::ir::{Local, Slot, Value};

/// A variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// A value: of the group, or of a chunk of that number.
    Value(Value, Option<u32>),
    /// The number of a chunk that is all lanes of a value.
    One(Value, u32),
    /// True if a value is the line that its form says.
    Rest(Value, Option<u32>),
    /// A local.
    Local(Local, Option<u32>),
    /// A local as lanes on their own know it, where others know it otherwise.
    Apart(Local, Option<u32>),
    /// A mask of a chunk.
    Mask(u32, u32),
    /// The lanes of a chunk that have not left the kernel.
    Alive(u32),
    /// Operands and results of a warp, where the run time joins its lanes.
    Warp,
    /// The lanes of a chunk for which the condition of a mask of that number holds.
    Holds(u32, u32),
    /// The lanes that both sides of an `if` of that number store in a chunk.
    Stored(u32, u32),
    /// A scalar argument.
    Argument(u32),
    /// The descriptor of an allocation.
    Desc(Root),
    /// The start of an allocation.
    Base(Root),
    /// A worker's own copy of a parameter's array.
    Own(u32),
    /// A local array of a chunk.
    Slot(Slot, u32),
    /// `blockIdx`.
    Block(u8),
    /// `gridDim`.
    Grid(u8),
    /// The counter of a loop in the first round, of a chunk.
    First(u32),
    /// The counter in the last round.
    Last(u32),
    /// The first thread of a group.
    Thread,
    /// The row of threads.
    Row,
    /// `blockIdx.x` of the first block of a call, and of the running one.
    FirstBlock,
    /// The same of the running block.
    ThisBlock,
    /// The number of a call's blocks.
    Blocks,
    /// The number of threads in a row of all of a call's blocks.
    Length,
    /// The scratch that a block keeps for its threads.
    Scratch,
    /// Local arrays that a block keeps.
    Slots,
    /// The masks of a block.
    Masks,
    /// Words that describe the operands of a warp function.
    Operands,
    /// True if a walk over memory has been done by several blocks together.
    Walk,
    /// The budget: operations left until the poll.
    Budget,
    /// True if stores to a parameter's array go past the cache.
    PastCache(u32),
}

/// A number behind a name, where there is one.
struct Part(Option<u32>);

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |chunk| write!(f, "_{chunk}"))
    }
}

/// An allocation.
struct Of(Root);

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Root::Param(i) => write!(f, "p{i}"),
            Root::Shared(m) => write!(f, "s{}", m.index()),
            Root::Global(g) => write!(f, "g{}", g.index()),
            Root::Slot(s) => write!(f, "t{}", s.index()),
            Root::Null => f.write_str("null"),
            Root::Unset | Root::Dynamic => f.write_str("unknown"),
        }
    }
}

/// The name of an allocation.
pub(super) fn of_root(root: Root) -> impl fmt::Display {
    Of(root)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Name::Value(v, part) => write!(f, "v{}{}", v.index(), Part(part)),
            Name::One(v, chunk) => write!(f, "x{}_{chunk}", v.index()),
            Name::Rest(v, part) => write!(f, "ok{}{}", v.index(), Part(part)),
            Name::Local(l, part) => write!(f, "l{}{}", l.index(), Part(part)),
            Name::Apart(l, part) => write!(f, "w{}{}", l.index(), Part(part)),
            Name::Mask(n, chunk) => write!(f, "m{n}_{chunk}"),
            Name::Alive(chunk) => write!(f, "alive_{chunk}"),
            Name::Warp => f.write_str("warp"),
            Name::Holds(n, chunk) => write!(f, "c{n}_{chunk}"),
            Name::Stored(n, chunk) => write!(f, "y{n}_{chunk}"),
            Name::Argument(i) => write!(f, "A{i}"),
            Name::Desc(root) => write!(f, "D_{}", Of(root)),
            Name::Base(root) => write!(f, "B_{}", Of(root)),
            Name::Own(i) => write!(f, "Q_p{i}"),
            Name::Slot(s, chunk) => write!(f, "S{}_{chunk}", s.index()),
            Name::Block(d) => write!(f, "block{d}"),
            Name::Grid(d) => write!(f, "grid{d}"),
            Name::First(chunk) => write!(f, "first{chunk}"),
            Name::Last(chunk) => write!(f, "last{chunk}"),
            Name::PastCache(i) => write!(f, "nt_p{i}"),
            Name::Thread => f.write_str("t0"),
            Name::Row => f.write_str("row"),
            Name::FirstBlock => f.write_str("bx0"),
            Name::ThisBlock => f.write_str("bx"),
            Name::Blocks => f.write_str("blocks"),
            Name::Length => f.write_str("length"),
            Name::Scratch => f.write_str("scratch"),
            Name::Slots => f.write_str("slots"),
            Name::Masks => f.write_str("masks"),
            Name::Operands => f.write_str("operands"),
            Name::Walk => f.write_str("walk"),
            Name::Budget => f.write_str("budget"),
        }
    }
}

impl Name {
    pub(super) fn data(self, ty: Ty, constant: bool) -> VarData {
        let space = match self {
            Name::Base(Root::Param(_)) => Space::Global,
            Name::Base(Root::Shared(_)) => Space::Shared,
            Name::Scratch => Space::Scratch,
            _ => Space::Unknown,
        };
        let role = match self {
            Name::Budget => Role::Budget,
            Name::PastCache(_) => Role::PastCache,
            _ => Role::Plain,
        };
        VarData { space, role, ..variable(self.to_string(), ty, constant) }
    }
}
