//! Layouts of structs and unions: sizes, offsets, bit-fields, as GCC has them for x86-64.

use super::types::{Field, Layout, Ty};

/// Packing of the members of a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// `__attribute__((packed))`: their types align nothing.
    pub packed: bool,
    /// `#pragma pack(n)`: no member is aligned to more, whatever it asks for.
    pub most: u32,
}

/// No packing.
pub const UNPACKED: Packing = Packing { packed: false, most: u32::MAX };

/// Bytes that a field of a type takes: a reference is held as a pointer.
fn stored(ty: &Ty) -> Option<(u32, u32)> {
    if ty.is_reference() { Some((8, 8)) } else { Some((ty.size()?, ty.align())) }
}

impl Layout {
    /// Lays fields out as the Itanium C++ ABI does for types without virtual functions: bases first, each field at the
    /// next multiple of its alignment, an empty struct one byte. `align` is the least alignment asked for. A bit-field
    /// follows the bits before it; where nothing is packed it does not lie in more units of its type than a number of that
    /// type. `None` when a field has no size, or all together exceed 32 bits.
    pub fn new(bases: Vec<Ty>, fields: Vec<Field>, is_union: bool, align: u32, packing: Packing) -> Option<Layout> {
        let mut layout = Layout { align: align.max(1), parts: 1, ..Layout::default() };
        let mut end = 0u32;
        // Bits of the last byte that no bit-field has taken.
        let mut free = 0u32;
        for base in bases {
            layout.parts = layout.parts.saturating_add(base.parts());
            // An empty base takes no room of its own.
            let (size, align) = if base.is_empty_struct() { (0, 1) } else { stored(&base)? };
            let kept = |align: u32| if packing.packed { 1 } else { align.min(packing.most) };
            let offset = end.checked_next_multiple_of(kept(align))?;
            end = offset.checked_add(size)?;
            layout.align = layout.align.max(kept(base.align()));
            layout.by_bytes |= base.align() > kept(base.align()) || base.layout().is_some_and(|l| l.by_bytes);
            layout.bases.push((base, offset));
        }
        for mut field in fields {
            let (size, natural) = stored(&field.ty)?;
            let packed = field.packed || packing.packed;
            let align = if packed { 1 } else { natural }.max(field.align).min(packing.most);
            layout.by_bytes |= align < natural || field.bits.is_some();
            layout.by_bytes |= field.ty.innermost().layout().is_some_and(|l| l.by_bytes);
            if let Some(bits) = &mut field.bits {
                let (unit, whole) = (u64::from(align) * 8, u64::from(size) * 8);
                let (mut at, width) =
                    (if is_union { 0 } else { u64::from(end) * 8 - u64::from(free) }, u64::from(bits.width));
                let spans = (at % unit + width).div_ceil(unit);
                if bits.width == 0 {
                    // Packed or not: what GCC does.
                    at = at.checked_next_multiple_of(u64::from(natural) * 8)?;
                } else if field.align > 1 || !packed && packing.most == u32::MAX && spans > whole / unit {
                    at = at.checked_next_multiple_of(unit)?;
                }
                (field.offset, bits.first) = (u32::try_from(at / 8).ok()?, (at % 8) as u32);
                let bytes = u32::try_from((at + width).div_ceil(8)).ok()?;
                free = if bytes >= end { ((8 - (at + width) % 8) % 8) as u32 } else { free };
                end = end.max(bytes);
                // A field without a name aligns nothing.
                if field.name.is_none() {
                    continue;
                }
                // GCC's way: under `#pragma pack`, `packed` does not keep a bit-field from aligning the struct.
                if packing.most != u32::MAX {
                    layout.align = layout.align.max(natural.min(packing.most));
                }
            } else {
                free = 0;
                field.offset = if is_union { 0 } else { end.checked_next_multiple_of(align)? };
                end = end.max(field.offset.checked_add(size)?);
            }
            layout.align = layout.align.max(align);
            layout.parts = layout.parts.saturating_add(field.ty.parts());
            layout.fields.push(field);
        }
        layout.size = end.max(1).checked_next_multiple_of(layout.align)?;
        Some(layout)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::OnceCell;
    use std::rc::Rc;

    use super::*;
    use crate::front::types::{Kind, Num, StructTy};

    fn structure(id: u32, bases: Vec<Ty>, fields: &[Ty], is_union: bool, align: u32) -> Ty {
        let field = |ty: &Ty| Field::new(None, ty.clone());
        let layout =
            Layout::new(bases, fields.iter().map(field).collect(), is_union, align, UNPACKED).expect("it has a size");
        let s = StructTy {
            id,
            name: format!("S{id}"),
            is_union,
            vector: None,
            layout: OnceCell::new(),
            alias: OnceCell::new(),
        };
        s.layout.set(layout).expect("it is new");
        Ty::new(Kind::Struct(Rc::new(s)))
    }

    #[test]
    fn structs_are_laid_out_as_the_c_compiler_does() {
        // Sizes, alignments and offsets as gcc has them on x86-64.
        let (c, s, i, d) = (Ty::from(Num::Char), Ty::from(Num::Short), Ty::int(), Ty::from(Num::Double));
        let offsets = |ty: &Ty| ty.layout().expect("laid out").fields.iter().map(|f| f.offset).collect::<Vec<_>>();
        let mixed = structure(1, vec![], &[c.clone(), d.clone(), s.clone()], false, 1);
        assert_eq!((mixed.size(), mixed.align(), offsets(&mixed)), (Some(24), 8, vec![0, 8, 16]));
        let nested = structure(2, vec![], &[c.clone(), mixed.clone(), i.clone().array(Some(3))], false, 1);
        assert_eq!((nested.size(), offsets(&nested)), (Some(48), vec![0, 8, 32]));
        let either = structure(3, vec![], &[c.clone(), d, i.clone()], true, 1);
        assert_eq!((either.size(), offsets(&either)), (Some(8), vec![0, 0, 0]));
        let empty = structure(4, vec![], &[], false, 1);
        assert_eq!((empty.size(), empty.align()), (Some(1), 1));
        // An empty base takes no room; another's bytes come first.
        let derived = structure(5, vec![empty], std::slice::from_ref(&i), false, 1);
        assert_eq!(derived.size(), Some(4));
        let further = structure(6, vec![derived.clone()], &[c], false, 1);
        assert_eq!((further.size(), offsets(&further)), (Some(8), vec![4]));
        assert_eq!(further.base_offset(derived.as_struct().expect("a struct")), Some(0));
        let wide = structure(7, vec![], &[i.clone(), s], false, 16);
        assert_eq!((wide.size(), wide.align()), (Some(16), 16));
        // A reference is held as a pointer.
        let held = structure(8, vec![], &[i.reference()], false, 1);
        assert_eq!(held.size(), Some(8));
    }
}
