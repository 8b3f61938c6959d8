//! Accesses of memory by 16 lanes. What kind of access it is has a record; what the elements are, where they lie and whether a store goes
//! past the cache are fields.

use super::table::Nan;
use super::types::short::*;
use super::types::{Kind, Operand};

/// The type of elements in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
    /// 32-bit integers.
    I32,
    /// 64-bit integers.
    I64,
    /// Bytes with a sign.
    I8,
    /// Bytes.
    U8,
    /// 16-bit integers.
    I16,
    /// 16-bit integers without a sign.
    U16,
    /// Truth values, a byte each; lanes of them are a mask.
    B1,
}

impl Element {
    /// All of them.
    pub const ALL: [Element; 9] = [
        Element::F32,
        Element::F64,
        Element::I32,
        Element::I64,
        Element::I8,
        Element::U8,
        Element::I16,
        Element::U16,
        Element::B1,
    ];
    /// The elements that stores know: the sign of a narrow number makes no difference.
    const STORED: [Element; 7] =
        [Element::F32, Element::F64, Element::I32, Element::I64, Element::I8, Element::I16, Element::B1];
    /// The elements that are as large as a lane.
    const WHOLE: [Element; 4] = [Element::F32, Element::F64, Element::I32, Element::I64];

    /// The name in C.
    pub const fn name(self) -> &'static str {
        match self {
            Element::F32 => "f32",
            Element::F64 => "f64",
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::I8 => "i8",
            Element::U8 => "u8",
            Element::I16 => "i16",
            Element::U16 => "u16",
            Element::B1 => "b1",
        }
    }

    /// Bytes in memory.
    pub const fn size(self) -> u32 {
        match self {
            Element::I8 | Element::U8 | Element::B1 => 1,
            Element::I16 | Element::U16 => 2,
            Element::F32 | Element::I32 => 4,
            Element::F64 | Element::I64 => 8,
        }
    }

    /// True if it is extended by its sign.
    pub const fn is_signed(self) -> bool {
        !matches!(self, Element::U8 | Element::U16 | Element::B1)
    }

    /// The lanes that hold it; of truth values as 0 and 1.
    pub const fn kind(self) -> Kind {
        match self {
            Element::F32 => Kind::F32,
            Element::F64 => Kind::F64,
            Element::I64 => Kind::I64,
            Element::I32 | Element::I8 | Element::U8 | Element::I16 | Element::U16 | Element::B1 => Kind::I32,
        }
    }

    /// The lanes that hold it in operations.
    pub const fn lanes(self) -> Operand {
        match self {
            Element::B1 => Operand::Mask,
            other => Operand::Lanes(other.kind()),
        }
    }
}

/// The space of memory, as far as an address tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Space {
    /// An array of the caller's.
    Global,
    /// Memory that a block's threads share.
    Shared,
    /// The scratch that a block keeps for its threads.
    Scratch,
    /// Anywhere.
    #[default]
    Unknown,
}

impl Space {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Scratch => "scratch",
            Space::Unknown => "unknown",
        }
    }

    /// True if memory of both is never the same.
    pub fn is_elsewhere(self, other: Space) -> bool {
        self != other && self != Space::Unknown && other != Space::Unknown
    }
}

/// Makes the kinds of access of one record each: a line, the beginning of its name, its elements, what it takes and gives; `of` is lanes of
/// the element.
macro_rules! accesses {
    ($of:ident: $($(#[doc = $doc:literal])+ $Name:ident $name:literal $elements:ident ($($operand:expr),*) -> $gives:expr;)*) => {
        /// A kind of access. An offset is in bytes; lanes that are not in the mask are neither read nor written, and read as zero.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Access {
            $($(#[doc = $doc])+ $Name,)*
        }

        impl Access {
            /// All of them.
            pub const ALL: &'static [Access] = &[$(Access::$Name),*];

            /// The beginning of its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Access::$Name => $name,)*
                }
            }

            /// The elements that have it.
            pub const fn elements(self) -> &'static [Element] {
                match self {
                    $(Access::$Name => &Element::$elements,)*
                }
            }

            /// The types of its operands and its result.
            fn signature(self, $of: Operand) -> (Vec<Operand>, Operand) {
                match self {
                    $(Access::$Name => (vec![$($operand),*], $gives),)*
                }
            }

            /// The meaning, in a line.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Access::$Name => concat!($($doc),+),)*
                }
            }
        }
    };
}

accesses! { of:
    /// Neighbours, from the place on.
    Load "ld" ALL (PLACE) -> of;
    /// Neighbours of a mask.
    LoadSome "ldm" ALL (MASK, PLACE) -> of;
    /// A line of elements, of a mask: the place of the first lane's, the step in bytes.
    LoadLine "gl" WHOLE (MASK, PLACE, ONE_I32) -> of;
    /// Elements anywhere, of a mask, at offsets from the place.
    LoadAt "ga" ALL (MASK, PLACE, I64) -> of;
    /// Elements anywhere, of a mask, at indices of elements, which are unsigned.
    LoadIndexed "gx" WHOLE (MASK, PLACE, I32) -> of;
    /// Elements anywhere of which some are out of bounds: these are noted, the others read. State, site, first thread, mask, place, limit, offsets, words.
    LoadChecked "bad_ld" ALL (STATE, ONE_U64, ONE_U32, MASK, PLACE, ONE_U64, I64, I64) -> of;
    /// Neighbours, from the place on.
    Store "st" STORED (PLACE, of) -> NOTHING;
    /// Neighbours of a mask.
    StoreSome "stm" STORED (MASK, PLACE, of) -> NOTHING;
    /// A line of elements, of a mask: the place of the first lane's, the step in bytes. If elements overlap, the last one stays.
    StoreLine "sl" WHOLE (MASK, PLACE, ONE_I32, of) -> NOTHING;
    /// Elements anywhere, of a mask, at offsets from the place.
    StoreAt "sc" STORED (MASK, PLACE, I64, of) -> NOTHING;
    /// Elements anywhere of which some are out of bounds: these are noted, the others written. As [`Access::LoadChecked`], then what is written.
    StoreChecked "bad_st" STORED (STATE, ONE_U64, ONE_U32, MASK, PLACE, ONE_U64, I64, I64, of) -> NOTHING;
}

impl Access {
    /// True if it writes.
    pub const fn writes(self) -> bool {
        match self {
            Access::Load
            | Access::LoadSome
            | Access::LoadLine
            | Access::LoadAt
            | Access::LoadIndexed
            | Access::LoadChecked => false,
            Access::Store | Access::StoreSome | Access::StoreLine | Access::StoreAt | Access::StoreChecked => true,
        }
    }

    /// The number of the operand that is the place.
    pub const fn place(self) -> usize {
        match self {
            Access::Load | Access::Store => 0,
            Access::LoadSome
            | Access::LoadLine
            | Access::LoadAt
            | Access::LoadIndexed
            | Access::StoreSome
            | Access::StoreLine
            | Access::StoreAt => 1,
            Access::LoadChecked | Access::StoreChecked => 4,
        }
    }
}

/// An access of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryOp {
    /// The kind of access.
    pub access: Access,
    /// The type of the elements.
    pub of: Element,
    /// The space that they are in.
    pub space: Space,
    /// True if it goes past the cache: a plain store of elements as large as a lane, to the address of a line of the cache.
    pub past_cache: bool,
}

impl MemoryOp {
    /// All of them, in no known space.
    pub fn all() -> impl Iterator<Item = MemoryOp> {
        let made = |access, of, past_cache| MemoryOp { access, of, space: Space::Unknown, past_cache };
        let plain = (Access::ALL.iter()).flat_map(move |access| access.elements().iter().map(move |of| (*access, *of)));
        let past = Element::WHOLE.map(move |of| made(Access::Store, of, true));
        plain.map(move |(access, of)| made(access, of, false)).chain(past)
    }

    /// True if there is such an access.
    pub fn is_one(self) -> bool {
        let past = !self.past_cache || self.access == Access::Store && Element::WHOLE.contains(&self.of);
        past && self.access.elements().contains(&self.of)
    }

    /// The name in C.
    pub fn name(self) -> String {
        format!("{}_{}", if self.past_cache { "nt" } else { self.access.name() }, self.of.name())
    }

    /// The types of the operands.
    pub fn operands(self) -> Vec<Operand> {
        self.access.signature(self.of.lanes()).0
    }

    /// The type of the result.
    pub fn gives(self) -> Operand {
        self.access.signature(self.of.lanes()).1
    }

    /// The rule for NaN among the operands.
    pub fn nan(self) -> Nan {
        if self.of.kind().is_float() { Nan::Moves } else { Nan::Never }
    }
}
