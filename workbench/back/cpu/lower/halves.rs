//! Conversions between the bits of halves and of `float`s, of one number (`i32`) or of vectors (`i32x4`), without branches.
//!
//! A half's exponent and mantissa, moved to where a `float` has them, are the number times 2^-112, also of subnormal halves. In the other
//! direction the sum with 0.5, whose last place is the least half, rounds to a subnormal one.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;

/// The bits of the `float`s with the values of the halves in the low 16 bits; NaN keeps its payload and is quiet.
pub fn to_float(b: &mut FunctionBuilder<'_>, ty: Type, x: Value) -> Value {
    let (low, sign) = (masked(b, ty, x, 0x7fff), masked(b, ty, x, 0x8000));
    let (moved, sign) = (b.ins().ishl_imm_s(low, 13), b.ins().ishl_imm_s(sign, 16));
    // 2^112.
    let factor = number(b, ty, 0x7780_0000);
    let (number_of, factor) = (as_float(b, ty, moved), as_float(b, ty, factor));
    let product = b.ins().fmul(number_of, factor);
    let finite = as_bits(b, ty, product);
    let largest = number(b, ty, 0x7c00);
    let not_finite = number(b, ty, 0x7f80_0000);
    let not_finite = b.ins().bor(moved, not_finite);
    let quiet = number(b, ty, 0x7fc0_0000);
    let quiet = b.ins().bor(moved, quiet);
    let special = chosen(b, ty, IntCC::SignedGreaterThan, (low, largest), (quiet, not_finite));
    let value = chosen(b, ty, IntCC::SignedGreaterThanOrEqual, (low, largest), (special, finite));
    b.ins().bor(value, sign)
}

/// The halves that are nearest to the `float`s of these bits, ties to even; NaN is 0x7fff.
pub fn of_float(b: &mut FunctionBuilder<'_>, ty: Type, x: Value) -> Value {
    let size = masked(b, ty, x, 0x7fff_ffff);
    let sign = b.ins().ushr_imm_u(x, 16);
    let sign = masked(b, ty, sign, 0x8000);
    // Normal: the exponent's bias is 15 and not 127; half a last place less one, and one if the last place is odd, round.
    let odd = b.ins().ushr_imm_u(size, 13);
    let odd = masked(b, ty, odd, 1);
    let by = number(b, ty, 0xfff_u32.wrapping_sub(112 << 23));
    let sum = b.ins().iadd(size, by);
    let sum = b.ins().iadd(sum, odd);
    let normal = b.ins().ushr_imm_u(sum, 13);
    let half = number(b, ty, 0.5_f32.to_bits());
    let (size_of, half_of) = (as_float(b, ty, size), as_float(b, ty, half));
    let sum = b.ins().fadd(size_of, half_of);
    let sum = as_bits(b, ty, sum);
    let subnormal = b.ins().isub(sum, half);
    // 2^-14, the least normal half, and 65520, from which on numbers round to infinity.
    let (least, past, infinity) = (number(b, ty, 113 << 23), number(b, ty, 0x477f_f000), number(b, ty, 0x7c00));
    let finite = chosen(b, ty, IntCC::SignedLessThan, (size, least), (subnormal, normal));
    let value = chosen(b, ty, IntCC::SignedGreaterThanOrEqual, (size, past), (infinity, finite));
    let signed = b.ins().bor(value, sign);
    let (last, nan) = (number(b, ty, 0x7f80_0000), number(b, ty, 0x7fff));
    chosen(b, ty, IntCC::SignedGreaterThan, (size, last), (nan, signed))
}

/// The same bits in all lanes.
fn number(b: &mut FunctionBuilder<'_>, ty: Type, bits: u32) -> Value {
    if ty.is_vector() {
        let bytes = bits.to_le_bytes().repeat(ty.lane_count() as usize);
        let constant = b.func.dfg.constants.insert(bytes.into());
        b.ins().vconst(ty, constant)
    } else {
        b.ins().iconst(ty, i64::from(bits))
    }
}

fn masked(b: &mut FunctionBuilder<'_>, ty: Type, x: Value, bits: u32) -> Value {
    let bits = number(b, ty, bits);
    b.ins().band(x, bits)
}

fn as_float(b: &mut FunctionBuilder<'_>, ty: Type, x: Value) -> Value {
    let to = if ty.is_vector() { types::F32X4 } else { types::F32 };
    recast(b, ty, to, x)
}

fn as_bits(b: &mut FunctionBuilder<'_>, ty: Type, x: Value) -> Value {
    recast(b, ty, ty, x)
}

fn recast(b: &mut FunctionBuilder<'_>, ty: Type, to: Type, x: Value) -> Value {
    let flags =
        if ty.is_vector() { MemFlagsData::new().with_endianness(Endianness::Little) } else { MemFlagsData::new() };
    b.ins().bitcast(to, flags, x)
}

/// The first of two values where a comparison holds, else the second.
fn chosen(
    b: &mut FunctionBuilder<'_>,
    ty: Type,
    how: IntCC,
    (x, y): (Value, Value),
    (then, els): (Value, Value),
) -> Value {
    let holds = b.ins().icmp(how, x, y);
    if ty.is_vector() { b.ins().bitselect(holds, then, els) } else { b.ins().select(holds, then, els) }
}
