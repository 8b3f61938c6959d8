//! Atomics of 16 lanes, one after the other. What is computed has a record; on what numbers, and where, are fields.

use super::memory::Space;
use super::table::Nan;
use super::types::short::*;
use super::types::{Kind, Operand};

/// A number that is read and written in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cell {
    /// 32 bits with a sign.
    I32,
    /// 32 bits.
    U32,
    /// 64 bits with a sign.
    I64,
    /// 64 bits.
    U64,
    /// A float.
    F32,
    /// A double.
    F64,
}

impl Cell {
    const INTEGERS: [Cell; 4] = [Cell::I32, Cell::U32, Cell::I64, Cell::U64];
    const ALL: [Cell; 6] = [Cell::I32, Cell::U32, Cell::I64, Cell::U64, Cell::F32, Cell::F64];

    /// The name in C.
    pub const fn name(self) -> &'static str {
        match self {
            Cell::I32 => "i32",
            Cell::U32 => "u32",
            Cell::I64 => "i64",
            Cell::U64 => "u64",
            Cell::F32 => "f32",
            Cell::F64 => "f64",
        }
    }

    /// The lanes that hold it.
    pub const fn kind(self) -> Kind {
        match self {
            Cell::I32 | Cell::U32 => Kind::I32,
            Cell::I64 | Cell::U64 => Kind::I64,
            Cell::F32 => Kind::F32,
            Cell::F64 => Kind::F64,
        }
    }

    /// One of them.
    const fn one(self) -> Operand {
        match self {
            Cell::I32 => ONE_I32,
            Cell::U32 => ONE_U32,
            Cell::I64 => ONE_I64,
            Cell::U64 => ONE_U64,
            Cell::F32 => ONE_F32,
            Cell::F64 => ONE_F64,
        }
    }
}

/// Makes the updates of one record each: a line, its name, its numbers.
macro_rules! updates {
    ($($(#[doc = $doc:literal])+ $Name:ident $name:literal $cells:ident;)*) => {
        /// The number that is written in the place of an old one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Update {
            $($(#[doc = $doc])+ $Name,)*
        }

        impl Update {
            /// All of them.
            pub const ALL: &'static [Update] = &[$(Update::$Name),*];

            /// The name in C.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Update::$Name => $name,)*
                }
            }

            /// On what numbers it is done.
            pub const fn cells(self) -> &'static [Cell] {
                match self {
                    $(Update::$Name => &Cell::$cells,)*
                }
            }

            /// The meaning, in a line.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Update::$Name => concat!($($doc),+),)*
                }
            }
        }
    };
}

updates! {
    /// The sum.
    Add "add" ALL;
    /// The difference.
    Sub "sub" ALL;
    /// The new number.
    Exch "exch" ALL;
    /// Bits of both.
    And "and" INTEGERS;
    /// Bits of either.
    Or "or" INTEGERS;
    /// Bits of one alone.
    Xor "xor" INTEGERS;
    /// The smaller one.
    Min "min" INTEGERS;
    /// The larger one.
    Max "max" INTEGERS;
    /// One more, and after the given number zero.
    Inc "inc" INTEGERS;
    /// One less, and after zero the given number.
    Dec "dec" INTEGERS;
    /// The given number where the old one is the one that comes last, else the old one.
    Cas "cas" INTEGERS;
}

/// The form in which an atomic is given its places and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// At offsets in bytes, each lane with a number of its own; gives what was there before. In what a block's threads share no lock is
    /// needed, because a block runs on one core.
    At(Space),
    /// At 32-bit indices of elements that nobody else works on, each lane with a number of its own. The last operand says whether indices
    /// are bytes.
    Up,
    /// As [`Form::Up`], with one number for all.
    UpOne,
    /// As [`Form::UpOne`], of all lanes, at indices that are neighbouring bytes in memory.
    UpBytes,
}

/// An atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Atomic {
    /// The value that is written.
    pub update: Update,
    /// The type of the number in memory.
    pub cell: Cell,
    /// The form of its places.
    pub form: Form,
}

impl Atomic {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Atomic> {
        let forms = [Form::At(Space::Shared), Form::At(Space::Global), Form::Up, Form::UpOne, Form::UpBytes];
        (Update::ALL.iter())
            .flat_map(|update| update.cells().iter().map(move |cell| (*update, *cell)))
            .flat_map(move |(update, cell)| forms.into_iter().map(move |form| Atomic { update, cell, form }))
            .filter(|atomic| atomic.is_one())
    }

    /// True if there is such an atomic.
    pub fn is_one(self) -> bool {
        let at = matches!(self.form, Form::At(Space::Shared | Space::Global));
        let up = matches!(self.form, Form::Up | Form::UpOne | Form::UpBytes) && self.update != Update::Cas;
        (at || up) && self.update.cells().contains(&self.cell)
    }

    /// The name in C.
    pub fn name(self) -> String {
        let (update, cell) = (self.update.name(), self.cell.name());
        match self.form {
            Form::At(space) => format!("at_{update}_{cell}_{}", space.name()),
            Form::Up => format!("up_{update}_{cell}"),
            Form::UpOne => format!("up1_{update}_{cell}"),
            Form::UpBytes => format!("up1_bytes_{update}_{cell}"),
        }
    }

    /// The types of the operands.
    pub fn operands(self) -> Vec<Operand> {
        let of = Operand::Lanes(self.cell.kind());
        match (self.form, self.update) {
            (Form::At(_), Update::Cas) => vec![MASK, PLACE, I64, of, of],
            (Form::At(_), _) => vec![MASK, PLACE, I64, of],
            (Form::Up, _) => vec![MASK, PLACE, I32, of, ONE_I32],
            (Form::UpOne, _) => vec![MASK, PLACE, I32, self.cell.one(), ONE_I32],
            (Form::UpBytes, _) => vec![PLACE, PLACE, self.cell.one()],
        }
    }

    /// The type of the result.
    pub fn gives(self) -> Operand {
        match self.form {
            Form::At(_) => Operand::Lanes(self.cell.kind()),
            Form::Up | Form::UpOne | Form::UpBytes => NOTHING,
        }
    }

    /// The rule for NaN among the operands.
    pub fn nan(self) -> Nan {
        match (self.cell.kind().is_float(), self.update) {
            (false, _) => Nan::Never,
            (true, Update::Exch) => Nan::Moves,
            (true, _) => Nan::Spreads,
        }
    }
}
