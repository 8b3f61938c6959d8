//! CUDA's SIMD-in-a-word intrinsics: each word holds two halves or four bytes, and each lane is computed alone.
//!
//! Every lane is widened to `i32`, where no operation of the family overflows, and truncated back: one line below says what
//! happens in a lane, for both widths. Meanings are those of the CUDA math API reference, "SIMD Intrinsics"; the rounding of
//! the signed average is the PTX ISA's (`vavrg`).

use super::short::*;
use super::{Lower, P, Sig};
use crate::ir::{BinaryOp, Builder, CompareOp, Scalar, UnaryOp, Value};

/// Operation of one lane: takes the lane's type and its operands as `i32`, gives the result as `i32`.
type Lane = fn(&mut Builder, Scalar, &[Value]) -> Value;

/// Lane `i` of a word, as `i32`.
fn lane_of(b: &mut Builder, word: Value, lane: Scalar, i: u32) -> Value {
    let moved = if i == 0 {
        word
    } else {
        let at = b.int(Scalar::I32, i64::from(i * lane.bits()));
        b.binary(BinaryOp::Shr, word, at)
    };
    let low = b.convert(lane, moved);
    b.convert(Scalar::I32, low)
}

/// Computes each lane alone.
pub fn lanes(b: &mut Builder, words: &[Value], lane: Scalar, op: Lane) -> Value {
    let unsigned = if lane.bits() == 8 { Scalar::U8 } else { Scalar::U16 };
    let mut result = None;
    for i in 0..32 / lane.bits() {
        let parts: Vec<Value> = words.iter().map(|&w| lane_of(b, w, lane, i)).collect();
        let value = op(b, lane, &parts);
        let value = b.convert(unsigned, value);
        let value = b.convert(Scalar::U32, value);
        let at = b.int(Scalar::I32, i64::from(i * lane.bits()));
        result = Some(match result {
            None => value,
            Some(before) => {
                let moved = b.binary(BinaryOp::Shl, value, at);
                b.binary(BinaryOp::Or, before, moved)
            }
        });
    }
    // A word has lanes.
    result.unwrap_or(words[0])
}

/// The sum over the lanes of what one gives.
fn sum_of_lanes(b: &mut Builder, words: &[Value], lane: Scalar, op: Lane) -> Value {
    let mut sum = b.int(Scalar::I32, 0);
    for i in 0..32 / lane.bits() {
        let parts: Vec<Value> = words.iter().map(|&w| lane_of(b, w, lane, i)).collect();
        let value = op(b, lane, &parts);
        sum = b.binary(BinaryOp::Add, sum, value);
    }
    b.convert(Scalar::U32, sum)
}

/// Into the range of the lane.
fn clamp(b: &mut Builder, lane: Scalar, x: Value) -> Value {
    let bits = lane.bits();
    let (low, high) =
        if lane.is_signed() { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
    let (low, high) = (b.int(Scalar::I32, low), b.int(Scalar::I32, high));
    let x = b.binary(BinaryOp::Max, x, low);
    b.binary(BinaryOp::Min, x, high)
}

fn abs(b: &mut Builder, _: Scalar, v: &[Value]) -> Value {
    let minus = b.unary(UnaryOp::Neg, v[0]);
    b.binary(BinaryOp::Max, v[0], minus)
}

fn abs_saturated(b: &mut Builder, lane: Scalar, v: &[Value]) -> Value {
    let size = abs(b, lane, v);
    clamp(b, lane, size)
}

fn negate(b: &mut Builder, _: Scalar, v: &[Value]) -> Value {
    b.unary(UnaryOp::Neg, v[0])
}

fn negate_saturated(b: &mut Builder, lane: Scalar, v: &[Value]) -> Value {
    let minus = b.unary(UnaryOp::Neg, v[0]);
    clamp(b, lane, minus)
}

fn difference(b: &mut Builder, _: Scalar, v: &[Value]) -> Value {
    let (x, y) = (b.binary(BinaryOp::Sub, v[0], v[1]), b.binary(BinaryOp::Sub, v[1], v[0]));
    b.binary(BinaryOp::Max, x, y)
}

pub(super) fn add(b: &mut Builder, _: Scalar, v: &[Value]) -> Value {
    b.binary(BinaryOp::Add, v[0], v[1])
}

fn add_saturated(b: &mut Builder, lane: Scalar, v: &[Value]) -> Value {
    let sum = add(b, lane, v);
    clamp(b, lane, sum)
}

fn subtract(b: &mut Builder, _: Scalar, v: &[Value]) -> Value {
    b.binary(BinaryOp::Sub, v[0], v[1])
}

fn subtract_saturated(b: &mut Builder, lane: Scalar, v: &[Value]) -> Value {
    let difference = subtract(b, lane, v);
    clamp(b, lane, difference)
}

pub(super) fn max(b: &mut Builder, _: Scalar, v: &[Value]) -> Value {
    b.binary(BinaryOp::Max, v[0], v[1])
}

pub(super) fn min(b: &mut Builder, _: Scalar, v: &[Value]) -> Value {
    b.binary(BinaryOp::Min, v[0], v[1])
}

fn half_sum(b: &mut Builder, sum: Value) -> Value {
    let one = b.int(Scalar::I32, 1);
    b.binary(BinaryOp::Shr, sum, one)
}

fn mean_down(b: &mut Builder, lane: Scalar, v: &[Value]) -> Value {
    let sum = add(b, lane, v);
    half_sum(b, sum)
}

/// Halves away from zero.
fn mean_rounded(b: &mut Builder, lane: Scalar, v: &[Value]) -> Value {
    let sum = add(b, lane, v);
    let zero = b.int(Scalar::I32, 0);
    let up = b.compare(CompareOp::Ge, sum, zero);
    let up = b.convert(Scalar::I32, up);
    let sum = b.binary(BinaryOp::Add, sum, up);
    half_sum(b, sum)
}

fn truth(b: &mut Builder, op: CompareOp, v: &[Value]) -> Value {
    let truth = b.compare(op, v[0], v[1]);
    b.convert(Scalar::I32, truth)
}

fn mask(b: &mut Builder, op: CompareOp, v: &[Value]) -> Value {
    let truth = truth(b, op, v);
    b.unary(UnaryOp::Neg, truth)
}

const ONE: &[P] = &[U];
const TWO: &[P] = &[U, U];

/// Rows: the middle of the name, the signedness of lanes, the operands, how lanes combine, the meaning.
macro_rules! packed {
    ($($name:literal $sign:ident $params:ident $combine:ident $op:expr, $doc:literal;)*) => {
        &[$(
            Sig {
                name: concat!("__v", $name, "2"),
                params: $params,
                ret: U,
                lower: Lower::Value(|b, a| $combine(b, a, packed!(@halves $sign), $op)),
                doc: concat!($doc, ", for both halves."),
            },
            Sig {
                name: concat!("__v", $name, "4"),
                params: $params,
                ret: U,
                lower: Lower::Value(|b, a| $combine(b, a, packed!(@bytes $sign), $op)),
                doc: concat!($doc, ", for the four bytes."),
            },
        )*]
    };
    (@halves signed) => { Scalar::I16 };
    (@halves unsigned) => { Scalar::U16 };
    (@bytes signed) => { Scalar::I8 };
    (@bytes unsigned) => { Scalar::U8 };
}

macro_rules! compare {
    ($with:ident $op:ident) => {
        |b, _, v| $with(b, CompareOp::$op, v)
    };
}

/// The table.
pub const TABLE: &[Sig] = packed! {
    "abs" signed ONE lanes abs, "Absolute value, wrapping";
    "absss" signed ONE lanes abs_saturated, "Absolute value, saturated";
    "absdiffs" signed TWO lanes difference, "Size of the signed difference";
    "absdiffu" unsigned TWO lanes difference, "Size of the unsigned difference";
    "add" unsigned TWO lanes add, "Sum, wrapping";
    "addss" signed TWO lanes add_saturated, "Signed sum, saturated";
    "addus" unsigned TWO lanes add_saturated, "Unsigned sum, saturated";
    "avgs" signed TWO lanes mean_rounded, "Signed mean, halves away from zero";
    "avgu" unsigned TWO lanes mean_rounded, "Unsigned mean, halves up";
    "haddu" unsigned TWO lanes mean_down, "Unsigned mean, rounded down";
    "cmpeq" unsigned TWO lanes compare!(mask Eq), "All bits where equal";
    "cmpne" unsigned TWO lanes compare!(mask Ne), "All bits where not equal";
    "cmpges" signed TWO lanes compare!(mask Ge), "All bits where signed >=";
    "cmpgeu" unsigned TWO lanes compare!(mask Ge), "All bits where unsigned >=";
    "cmpgts" signed TWO lanes compare!(mask Gt), "All bits where signed >";
    "cmpgtu" unsigned TWO lanes compare!(mask Gt), "All bits where unsigned >";
    "cmples" signed TWO lanes compare!(mask Le), "All bits where signed <=";
    "cmpleu" unsigned TWO lanes compare!(mask Le), "All bits where unsigned <=";
    "cmplts" signed TWO lanes compare!(mask Lt), "All bits where signed <";
    "cmpltu" unsigned TWO lanes compare!(mask Lt), "All bits where unsigned <";
    "seteq" unsigned TWO lanes compare!(truth Eq), "1 where equal";
    "setne" unsigned TWO lanes compare!(truth Ne), "1 where not equal";
    "setges" signed TWO lanes compare!(truth Ge), "1 where signed >=";
    "setgeu" unsigned TWO lanes compare!(truth Ge), "1 where unsigned >=";
    "setgts" signed TWO lanes compare!(truth Gt), "1 where signed >";
    "setgtu" unsigned TWO lanes compare!(truth Gt), "1 where unsigned >";
    "setles" signed TWO lanes compare!(truth Le), "1 where signed <=";
    "setleu" unsigned TWO lanes compare!(truth Le), "1 where unsigned <=";
    "setlts" signed TWO lanes compare!(truth Lt), "1 where signed <";
    "setltu" unsigned TWO lanes compare!(truth Lt), "1 where unsigned <";
    "maxs" signed TWO lanes max, "The larger, signed";
    "maxu" unsigned TWO lanes max, "The larger, unsigned";
    "mins" signed TWO lanes min, "The smaller, signed";
    "minu" unsigned TWO lanes min, "The smaller, unsigned";
    "neg" signed ONE lanes negate, "Negation, wrapping";
    "negss" signed ONE lanes negate_saturated, "Negation, saturated";
    "sads" signed TWO sum_of_lanes difference, "Sum of the sizes of the signed differences";
    "sadu" unsigned TWO sum_of_lanes difference, "Sum of the sizes of the unsigned differences";
    "sub" unsigned TWO lanes subtract, "Difference, wrapping";
    "subss" signed TWO lanes subtract_saturated, "Signed difference, saturated";
    "subus" unsigned TWO lanes subtract_saturated, "Unsigned difference, saturated";
};
