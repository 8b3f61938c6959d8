//! Layouts of structs that a launch takes by value: their members and offsets. The IR itself sees bytes; a layout tells the host how to
//! fill them.

use super::{Elem, Scalar};

/// The members of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructLayout {
    /// The user's name, with its template arguments.
    pub name: String,
    /// In bytes.
    pub size: u32,
    /// In order; members of bases and of unnamed members stand among them.
    pub members: Vec<Member>,
}

/// A member of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The user's name.
    pub name: String,
    /// In bytes from the start of the struct.
    pub offset: u32,
    /// The member's type.
    pub ty: MemberType,
}

/// The bits of memory that a bit-field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// The lowest one, counted from the byte where the field stands: 0 to 7.
    pub first: u32,
    /// The number of bits.
    pub width: u32,
    /// True if the number in them has no sign although its type has one: that of an enum whose underlying type is not fixed and that has no
    /// negative constant.
    pub unsigned: bool,
}

impl Bits {
    /// The number of bytes that hold them.
    pub fn bytes(self) -> u32 {
        (self.first + self.width).div_ceil(8)
    }
}

/// The type of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberType {
    /// A number: a scalar, or a 16-bit float.
    Scalar(Elem),
    /// A pointer.
    Pointer {
        /// The type it points at; `None` for `void*`, pointers to pointers and to structs of several types.
        elem: Option<Elem>,
        /// True if it points at const.
        is_const: bool,
    },
    /// An array: the type of its elements, and their number.
    Array(Box<MemberType>, u32),
    /// A struct inside it.
    Struct(Box<StructLayout>),
    /// A bit-field of an integer type.
    Bits(Scalar, Bits),
    /// Bytes, by their number, that the host can only give as bytes: a union.
    Opaque(u32),
}

impl MemberType {
    /// The size in bytes.
    pub fn size(&self) -> u32 {
        match self {
            MemberType::Scalar(s) => s.size(),
            MemberType::Pointer { .. } => 8,
            MemberType::Array(of, count) => of.size() * count,
            MemberType::Struct(layout) => layout.size,
            MemberType::Bits(_, bits) => bits.bytes(),
            MemberType::Opaque(size) => *size,
        }
    }

    fn pointer_at(&self, path: &str, offset: u32) -> Option<String> {
        match self {
            MemberType::Pointer { .. } => (offset == 0).then(|| path.to_owned()),
            MemberType::Array(of, _) => {
                let at = offset.checked_div(of.size())?;
                of.pointer_at(&format!("{path}[{at}]"), offset - at * of.size())
            }
            MemberType::Struct(layout) => layout.pointer_at(path, offset),
            MemberType::Scalar(_) | MemberType::Bits(..) | MemberType::Opaque(_) => None,
        }
    }
}

/// A tensor by its pointer, extents and strides: `PackedTensorAccessor32` and its kin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accessor {
    /// The element type; `None` where the IR has no such type.
    pub elem: Option<Elem>,
    /// True if the elements are only read.
    pub is_const: bool,
    /// The number of extents.
    pub rank: u32,
    /// The type of extents and strides.
    pub index: Scalar,
    /// The offsets of the pointer, the extents and the strides.
    pub offsets: [u32; 3],
}

impl StructLayout {
    /// The struct as a tensor accessor, if it is one.
    pub fn accessor(&self) -> Option<Accessor> {
        if !self.name.contains("GenericPackedTensorAccessor") {
            return None;
        }
        let [data, sizes, strides] = self.members.as_slice() else { return None };
        let (MemberType::Pointer { elem, is_const }, MemberType::Array(index, rank)) = (&data.ty, &sizes.ty) else {
            return None;
        };
        let MemberType::Scalar(Elem::Scalar(index)) = **index else { return None };
        let offsets = [data.offset, sizes.offset, strides.offset];
        Some(Accessor { elem: *elem, is_const: *is_const, rank: *rank, index, offsets })
    }

    /// The user's expression for the pointer at `offset` bytes from the start of a struct that they call `path`: `p.rows[1]`; an accessor
    /// is its data. `None` where there is no pointer.
    pub fn pointer_at(&self, path: &str, offset: u32) -> Option<String> {
        if self.accessor().is_some_and(|accessor| accessor.offsets[0] == offset) {
            return Some(path.to_owned());
        }
        let holds = |m: &&Member| (m.offset..m.offset + m.ty.size()).contains(&offset);
        let member = self.members.iter().find(holds)?;
        member.ty.pointer_at(&format!("{path}.{}", member.name), offset - member.offset)
    }

    /// The struct as a 16-bit float, if it is nothing else.
    pub fn half(&self) -> Option<Elem> {
        match self.members.as_slice() {
            [Member { name, ty: MemberType::Scalar(elem), .. }] if name.is_empty() => Some(*elem),
            _ => None,
        }
    }

    /// The message about a member that does not exist.
    pub fn no_member(&self, path: &str, name: &str) -> String {
        let known: Vec<String> = self.members.iter().map(|m| format!("`{}`", m.name)).collect();
        format!("`{path}` has no member `{name}`; it has {}", known.join(", "))
    }

    /// The member of a name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|m| m.name == name)
    }
}
