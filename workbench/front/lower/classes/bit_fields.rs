//! Bits of memory that are no number at a multiple of its alignment: bit-fields, and members of packed structs.
//!
//! Both are read and written byte by byte, as compilers for GPUs do it where the alignment is not known. What a write leaves alone of
//! its first and last byte is read before, so that other bit-fields there stay as they are.
//!
//! Alignment of an address follows from the place that it is computed from; a cast states it anew.

use crate::front::lower::Lowerer;
use crate::front::lower::expressions::typed_tree::{Node, Typed};
use crate::front::types::{Bits, Kind, Layout, Num, Ty};
use crate::ir::{BinaryOp, Const, Op, Scalar, Stride, Type, Value};
use crate::source::Span;

/// The most bits of one bit-field and what stands before it in its first byte: they are read as one number.
pub(super) const MAX_BITS: u32 = 64;

impl<'a> Lowerer<'a> {
    /// The part of an object at an offset, a bit-field or not.
    pub(in crate::front::lower) fn part(
        &self,
        object: Typed,
        ty: &Ty,
        offset: u32,
        bits: Option<Bits>,
        span: Span,
    ) -> Typed {
        let Some(bits) = bits else { return Typed::place(ty.clone(), span, Node::Member(Box::new(object), offset)) };
        let byte = Typed::place(Num::UChar.into(), span, Node::Member(Box::new(object), offset));
        Typed::place(ty.clone(), span, Node::BitField(Box::new(byte), bits))
    }

    /// A value as a part of a struct's that goes into the bits of a bit-field.
    pub(in crate::front::lower) fn into_bits(value: Typed, bits: Option<Bits>) -> Typed {
        match bits {
            Some(bits) if !value.is_error() => {
                Typed::value(value.ty.clone(), value.span, Node::Bits(Box::new(value), bits))
            }
            _ => value,
        }
    }

    /// The value of a bit-field in arithmetic: an `int` where that holds all its values ([conv.prom]).
    pub(in crate::front::lower) fn promoted_bits(&mut self, e: Typed) -> Typed {
        let Node::Load(place) = &e.node else { return e };
        match narrow(place) {
            Some(num) => self.number(e, num),
            None => e,
        }
    }

    /// Runs a part of the lowering whose writes and copies go to memory that may not be aligned.
    pub(in crate::front::lower) fn by_bytes<R>(&mut self, by_bytes: bool, what: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.f.by_bytes;
        self.f.by_bytes |= by_bytes;
        let result = what(self);
        self.f.by_bytes = outer;
        result
    }

    /// The bits of a place that is a bit-field, or a number at an address that is not known to be aligned.
    pub(in crate::front::lower) fn bits_of(&self, place: &Typed) -> Option<Bits> {
        match &place.node {
            Node::BitField(_, bits) => Some(*bits),
            Node::Member(..) | Node::Deref(_) => {
                let size = place.ty.ir()?.size();
                (self.alignment_of(place) < size).then_some(Bits { first: 0, width: size * 8, unsigned: false })
            }
            _ => None,
        }
    }

    /// The number that the address of a place is known to be a multiple of.
    pub(in crate::front::lower) fn alignment_of(&self, place: &Typed) -> u32 {
        match &place.node {
            Node::Member(object, offset) => {
                let object = match &object.node {
                    Node::Load(inner) if !object.lvalue => inner,
                    _ => object,
                };
                self.alignment_of(object).min(lowest_bit(*offset))
            }
            Node::BitField(..) => 1,
            Node::Deref(pointer) => self.alignment_behind(pointer),
            _ => place.ty.align(),
        }
    }

    /// The number that the address in a pointer is known to be a multiple of.
    fn alignment_behind(&self, pointer: &Typed) -> u32 {
        let Some(pointee) = pointer.ty.pointee() else { return u32::MAX };
        // A cast of a pointer promises the alignment of its type.
        match &pointer.node {
            Node::Decay(place) if is_element(pointee, &place.ty) => self.alignment_of(place).min(pointee.align()),
            Node::PtrAdd(base, ..) if base.ty.pointee().is_some_and(|b| b.kind == pointee.kind) => {
                self.alignment_behind(base).min(lowest_bit(pointee.size().unwrap_or(0)))
            }
            _ => pointee.align(),
        }
    }

    /// The address of the first byte of such a place.
    pub(in crate::front::lower) fn emit_byte_address(&mut self, place: &Typed) -> Value {
        match &place.node {
            Node::BitField(byte, _) => self.emit_address(byte),
            _ => self.emit_address(place),
        }
    }

    /// The number in some bits, as a value of a type.
    pub(in crate::front::lower) fn read_bits(&mut self, ptr: Value, bits: Bits, ty: &Ty, span: Span) -> Value {
        let word = if bits.first + bits.width > 32 { Scalar::U64 } else { Scalar::U32 };
        let volatile = ty.is_volatile;
        let b = self.at(span);
        let mut all = None;
        for i in 0..bits.bytes() {
            let at = b.offset(ptr, i64::from(i), Stride::Bytes(1));
            let byte = b.load(at, Type::Scalar(Scalar::U8), volatile);
            let byte = b.convert(word, byte);
            let amount = b.int(word, i64::from(i * 8));
            let part = if i == 0 { byte } else { b.binary(BinaryOp::Shl, byte, amount) };
            all = Some(match all {
                Some(all) => b.binary(BinaryOp::Or, all, part),
                None => part,
            });
        }
        let all = all.unwrap_or_else(|| b.int(word, 0));
        let scalar = match ty.ir() {
            Some(Type::Scalar(scalar)) => scalar,
            _ => {
                let address = b.convert(Scalar::U64, all);
                return b.bind(Type::Ptr, Op::IntToPtr(address));
            }
        };
        if scalar.is_float() {
            let exact = if scalar.size() == 8 { Scalar::U64 } else { Scalar::U32 };
            let all = b.convert(exact, all);
            return b.bitcast(scalar, all);
        }
        let signed = if word == Scalar::U64 { Scalar::I64 } else { Scalar::I32 };
        let word = if scalar.is_signed() && !bits.unsigned { signed } else { word };
        let all = b.convert(word, all);
        let (up, down) = (word.bits() - bits.first - bits.width, word.bits() - bits.width);
        let (up, down) = (b.int(word, i64::from(up)), b.int(word, i64::from(down)));
        let all = b.binary(BinaryOp::Shl, all, up);
        let number = b.binary(BinaryOp::Shr, all, down);
        b.convert(scalar, number)
    }

    /// Writes a number into some bits; the value that they have then.
    pub(in crate::front::lower) fn write_bits(
        &mut self,
        ptr: Value,
        bits: Bits,
        value: Value,
        volatile: bool,
        span: Span,
    ) -> Value {
        let b = self.at(span);
        let ty = b.ty(value);
        let raw = match ty {
            Type::Scalar(Scalar::F32) => b.bitcast(Scalar::U32, value),
            Type::Scalar(scalar) if scalar.is_float() => b.bitcast(Scalar::U64, value),
            Type::Scalar(_) => value,
            Type::Ptr => b.bind(Scalar::U64, Op::PtrToInt(value)),
        };
        let raw = b.convert(Scalar::U64, raw);
        let mask = u64::MAX >> (64 - bits.width) << bits.first;
        let first = b.int(Scalar::U64, i64::from(bits.first));
        let raw = if bits.first == 0 { raw } else { b.binary(BinaryOp::Shl, raw, first) };
        for i in 0..bits.bytes() {
            let own = (mask >> (i * 8)) as u8;
            let at = b.offset(ptr, i64::from(i), Stride::Bytes(1));
            let amount = b.int(Scalar::U64, i64::from(i * 8));
            let part = if i == 0 { raw } else { b.binary(BinaryOp::Shr, raw, amount) };
            let mut part = b.convert(Scalar::U8, part);
            if own != u8::MAX {
                let old = b.load(at, Type::Scalar(Scalar::U8), volatile);
                let (theirs, ours) = (b.int(Scalar::U8, i64::from(!own)), b.int(Scalar::U8, i64::from(own)));
                let old = b.binary(BinaryOp::And, old, theirs);
                part = b.binary(BinaryOp::And, part, ours);
                part = b.binary(BinaryOp::Or, old, part);
            }
            b.store(at, part, volatile);
        }
        match ty {
            // Bits that do not fit are cut off.
            Type::Scalar(scalar) if !scalar.is_float() && scalar != Scalar::Bool && bits.width < scalar.bits() => {
                let is_signed = scalar.is_signed() && !bits.unsigned;
                let (wide, left) = (if is_signed { Scalar::I64 } else { Scalar::U64 }, 64 - bits.width);
                let left = b.int(wide, i64::from(left));
                let word = b.convert(wide, value);
                let word = b.binary(BinaryOp::Shl, word, left);
                let word = b.binary(BinaryOp::Shr, word, left);
                b.convert(scalar, word)
            }
            _ => value,
        }
    }

    /// Writes a number at an offset, which may not be aligned where the lowering says so.
    pub(in crate::front::lower) fn write_number(
        &mut self,
        to: Value,
        at: u32,
        value: Value,
        volatile: bool,
        span: Span,
    ) {
        let by_bytes = self.f.by_bytes;
        let b = self.at(span);
        let size = b.ty(value).size();
        let ptr = b.offset(to, i64::from(at), Stride::Bytes(1));
        if by_bytes && size > 1 {
            self.write_bits(ptr, Bits { first: 0, width: size * 8, unsigned: false }, value, volatile, span);
        } else {
            b.store(ptr, value, volatile);
        }
    }

    /// Zeros the bytes of a struct's bit-fields: what is between them is zero as well.
    pub(in crate::front::lower) fn zero_bits(&mut self, to: Value, at: u32, layout: &Layout, span: Span) {
        let mut done = 0;
        for (offset, bits) in layout.fields.iter().filter_map(|f| Some((f.offset, f.bits?))) {
            let end = offset + bits.bytes();
            for i in offset.max(done)..end {
                let b = self.at(span);
                let zero = b.constant(Const::Int(Scalar::U8, 0));
                let ptr = b.offset(to, i64::from(at + i), Stride::Bytes(1));
                b.store(ptr, zero, false);
            }
            done = end;
        }
    }
}

/// The type that arithmetic takes a bit-field as, where that is not its own: of an unsigned integer with fewer bits than an `int`.
pub(in crate::front::lower) fn narrow(place: &Typed) -> Option<Num> {
    let Node::BitField(_, bits) = &place.node else { return None };
    let num = place.ty.num().filter(|n| n.is_integral())?;
    let fits = bits.width < 32 || bits.width == 32 && num.scalar().is_signed();
    (fits && num.promoted() != Num::Int).then_some(Num::Int)
}

fn is_element(elem: &Ty, array: &Ty) -> bool {
    matches!(&array.kind, Kind::Array(own, _) if own.kind == elem.kind)
}

/// The greatest power of two that divides a number of bytes.
fn lowest_bit(bytes: u32) -> u32 {
    if bytes == 0 { u32::MAX } else { 1 << bytes.trailing_zeros() }
}
