//! The sum of the products of four bytes, plus a number (`__dp4a`), of one word (`i32`) or of vectors of words (`i32x4`).

use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;

/// The sum of the products of the bytes of `x` and `y`, plus `sum`; wraps around.
pub fn dot4(b: &mut FunctionBuilder<'_>, ty: Type, signed: bool, [x, y, sum]: [Value; 3]) -> Value {
    if ty.is_vector() { vectors(b, ty, signed, [x, y, sum]) } else { word(b, ty, signed, [x, y, sum]) }
}

fn word(b: &mut FunctionBuilder<'_>, ty: Type, signed: bool, [x, y, sum]: [Value; 3]) -> Value {
    (0..4).fold(sum, |sum, i| {
        let [p, q] = [x, y].map(|v| {
            let moved = if i == 0 { v } else { b.ins().ushr_imm_u(v, 8 * i) };
            let byte = b.ins().ireduce(types::I8, moved);
            if signed { b.ins().sextend(ty, byte) } else { b.ins().uextend(ty, byte) }
        });
        let product = b.ins().imul(p, q);
        b.ins().iadd(sum, product)
    })
}

/// Bytes become numbers of 16 bits, those at even places apart from those at odd ones. Two neighbours' products are added in 32 bits, which
/// is one instruction in this form.
fn vectors(b: &mut FunctionBuilder<'_>, ty: Type, signed: bool, [x, y, sum]: [Value; 3]) -> Value {
    let flags = MemFlagsData::new().with_endianness(Endianness::Little);
    let [x, y] = [x, y].map(|v| b.ins().bitcast(types::I16X8, flags, v));
    let mut total = sum;
    for odd in [false, true] {
        let [p, q] = [x, y].map(|v| {
            let high = if odd { v } else { b.ins().ishl_imm_s(v, 8) };
            if signed { b.ins().sshr_imm_u(high, 8) } else { b.ins().ushr_imm_u(high, 8) }
        });
        let [low, high] = [false, true].map(|high| {
            let [p, q] = [p, q].map(|v| if high { b.ins().swiden_high(v) } else { b.ins().swiden_low(v) });
            b.ins().imul(p, q)
        });
        let pairs = b.ins().iadd_pairwise(low, high);
        total = b.ins().iadd(total, pairs);
    }
    debug_assert_eq!(ty, types::I32X4);
    total
}
