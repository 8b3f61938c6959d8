//! Why a piece of a kernel has no code for the widest registers.

use std::fmt;

use super::table::Op;

/// A part of a kernel that might have such code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// A loop.
    Loop,
    /// Statements that are done once.
    Stretch,
}

/// Why it has none. It is told as a sentence, which begins with what the piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The loop does not consist of a round, a step and a look at the budget.
    Shape,
    /// No variable counts its rounds.
    Uncounted,
    /// Something is computed before its rounds end.
    LateTest,
    /// There is control flow in it that differs from round to round.
    Branches,
    /// A variable is changed by an operator.
    Changes,
    /// Something else is set than variables of 32-bit lanes.
    SetsOther,
    /// There are other lanes in it than those of 32 bits.
    OtherLanes,
    /// An operation is not one of 32-bit lanes, or does something besides.
    Operation(Op),
    /// An operation of numbers differs from round to round, or is none of lanes.
    Numbers,
    /// Something that a constant is made of does something besides.
    Effect,
    /// An address does not move evenly with the counter.
    Address,
    /// Memory is read that may have been written before.
    ReadsWritten,
    /// A stretch begins with the old value of a variable.
    Carries,
    /// A variable that is set is used afterwards.
    UsedLater,
    /// The piece is not worth a call.
    Short,
    /// The piece needs more registers than there are.
    Registers,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Shape => "has another shape than a round, a step and a look at the budget",
            Reason::Uncounted => "has rounds that nothing counts",
            Reason::LateTest => "computes something before its rounds end",
            Reason::Branches => "has control flow inside",
            Reason::Changes => "changes a variable by an operator",
            Reason::SetsOther => "sets something else than 32-bit lanes",
            Reason::OtherLanes => "has other lanes than those of 32 bits",
            Reason::Operation(op) => return write!(f, "has `{}`, which is no operation of 32-bit lanes", op.name()),
            Reason::Numbers => "has numbers that differ from round to round",
            Reason::Effect => "does something besides computing",
            Reason::Address => "has an address that does not move evenly with the counter",
            Reason::ReadsWritten => "reads memory that it may have written before",
            Reason::Carries => "begins with what a variable is",
            Reason::UsedLater => "sets something that is used afterwards",
            Reason::Short => "is not worth a call",
            Reason::Registers => "needs more registers than there are",
        })
    }
}

/// A piece that has no such code, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// The piece.
    pub piece: Piece,
    /// The reason why it has none.
    pub reason: Reason,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let piece = match self.piece {
            Piece::Loop => "a loop",
            Piece::Stretch => "a stretch",
        };
        write!(f, "{piece} {}", self.reason)
    }
}
