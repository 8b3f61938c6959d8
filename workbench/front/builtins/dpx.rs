//! CUDA's dynamic programming intrinsics (DPX): three-way and fused minima and maxima, on words and on both halves of one.
//!
//! A row of [`rows`] is one operation; the names differ by what they run on: `_s32`, `_u32`, `_s16x2`, `_u16x2`, and `_relu`
//! for the signed ones, which are clamped to 0 from below (CUDA math API reference, "SIMD Intrinsics").

use super::short::*;
use super::simd::lanes;
use super::{Lower, Outs, P, Sig};
use crate::front::types::Num;
use crate::ir::{BinaryOp, Builder, CompareOp, Scalar, Value};

const TRUTH: P = P::Out(Num::Bool);

/// The larger or smaller of all values.
fn pick(b: &mut Builder, op: BinaryOp, v: &[Value]) -> Value {
    v[1..].iter().fold(v[0], |best, &x| b.binary(op, best, x))
}

/// The larger or smaller of the wrapped sum of the first two and the third; a lane's sum wraps in the lane.
fn add_pick(b: &mut Builder, lane: Scalar, op: BinaryOp, v: &[Value]) -> Value {
    let sum = b.binary(BinaryOp::Add, v[0], v[1]);
    let wide = b.scalar(sum);
    let sum = b.convert(lane, sum);
    let sum = b.convert(wide, sum);
    b.binary(op, sum, v[2])
}

fn relu(b: &mut Builder, x: Value) -> Value {
    let zero = b.int(Scalar::I32, 0);
    b.binary(BinaryOp::Max, x, zero)
}

macro_rules! rows {
    ($($name:literal $kind:ident $params:literal $op:ident $doc:literal;)*) => {
        &[$(
            rows!(@word $name, "_s32", $params I, I32, $kind $op, $doc),
            rows!(@word $name, "_u32", $params U, U32, $kind $op, $doc),
            rows!(@halves $name, "_s16x2", $params I16, $kind $op, $doc),
            rows!(@halves $name, "_u16x2", $params U16, $kind $op, $doc),
            rows!(@word_relu $name, $params $kind $op, $doc),
            rows!(@halves_relu $name, $params $kind $op, $doc),
        )*]
    };
    (@word $name:literal, $suffix:literal, $params:literal $p:ident, $ty:ident, $kind:ident $op:ident, $doc:literal) => {
        Sig {
            name: concat!("__vi", $name, $suffix),
            params: &[$p; $params],
            ret: $p,
            lower: Lower::Value(|b, a| rows!(@op $kind, b, Scalar::$ty, $op, a)),
            doc: concat!($doc, "."),
        }
    };
    (@word_relu $name:literal, $params:literal $kind:ident $op:ident, $doc:literal) => {
        Sig {
            name: concat!("__vi", $name, "_s32_relu"),
            params: &[I; $params],
            ret: I,
            lower: Lower::Value(|b, a| {
                let x = rows!(@op $kind, b, Scalar::I32, $op, a);
                relu(b, x)
            }),
            doc: concat!($doc, ", and 0 if that is negative."),
        }
    };
    (@halves $name:literal, $suffix:literal, $params:literal $lane:ident, $kind:ident $op:ident, $doc:literal) => {
        Sig {
            name: concat!("__vi", $name, $suffix),
            params: &[U; $params],
            ret: U,
            lower: Lower::Value(|b, a| lanes(b, a, Scalar::$lane, |b, lane, v| rows!(@op $kind, b, lane, $op, v))),
            doc: concat!($doc, ", for both halves."),
        }
    };
    (@halves_relu $name:literal, $params:literal $kind:ident $op:ident, $doc:literal) => {
        Sig {
            name: concat!("__vi", $name, "_s16x2_relu"),
            params: &[U; $params],
            ret: U,
            lower: Lower::Value(|b, a| lanes(b, a, Scalar::I16, |b, lane, v| {
                let x = rows!(@op $kind, b, lane, $op, v);
                relu(b, x)
            })),
            doc: concat!($doc, ", and 0 if that is negative, for both halves."),
        }
    };
    (@op pick, $b:expr, $lane:expr, $op:ident, $v:expr) => {{
        let _ = $lane;
        pick($b, BinaryOp::$op, $v)
    }};
    (@op add_pick, $b:expr, $lane:expr, $op:ident, $v:expr) => { add_pick($b, $lane, BinaryOp::$op, $v) };
}

/// Minima and maxima of three, and of a sum and a third.
pub const TABLE: &[Sig] = rows! {
    "max3" pick 3 Max "The largest of three";
    "min3" pick 3 Min "The smallest of three";
    "addmax" add_pick 3 Max "The larger of a + b and c";
    "addmin" add_pick 3 Min "The smaller of a + b and c";
};

macro_rules! two {
    ($($name:literal $op:ident $doc:literal;)*) => {
        &[$(
            rows!(@word_relu $name, 2 pick $op, $doc),
            rows!(@halves_relu $name, 2 pick $op, $doc),
        )*]
    };
}

/// Minima and maxima of two, clamped: the plain ones are `max` and `__vmaxs2`.
pub const TWO: &[Sig] = two! {
    "max" Max "The larger of two";
    "min" Min "The smaller of two";
};

/// The larger or smaller, and whether it is the first.
fn chosen(b: &mut Builder, op: BinaryOp, first: CompareOp, v: &[Value]) -> (Value, Value) {
    (b.binary(op, v[0], v[1]), b.compare(first, v[0], v[1]))
}

fn word(b: &mut Builder, op: BinaryOp, first: CompareOp, v: &[Value]) -> Outs {
    let (result, first) = chosen(b, op, first, v);
    Outs { result: Some(result), stores: vec![first] }
}

/// The high half's answer is written first.
fn halves(b: &mut Builder, lane: Scalar, op: BinaryOp, first: CompareOp, v: &[Value]) -> Outs {
    let mut part = |at: i64| {
        let at = b.int(Scalar::I32, at);
        let parts: Vec<Value> = v
            .iter()
            .map(|&x| {
                let moved = b.binary(BinaryOp::Shr, x, at);
                let low = b.convert(lane, moved);
                b.convert(Scalar::I32, low)
            })
            .collect();
        let (result, first) = chosen(b, op, first, &parts);
        let result = b.convert(Scalar::U16, result);
        (b.convert(Scalar::U32, result), first)
    };
    let ((high, high_first), (low, low_first)) = (part(16), part(0));
    let at = b.int(Scalar::I32, 16);
    let high = b.binary(BinaryOp::Shl, high, at);
    Outs { result: Some(b.binary(BinaryOp::Or, high, low)), stores: vec![high_first, low_first] }
}

macro_rules! with_choice {
    ($($name:literal $op:ident $first:ident $doc:literal;)*) => {
        &[$(
            with_choice!(@word concat!($name, "_s32"), I, $op $first $doc),
            with_choice!(@word concat!($name, "_u32"), U, $op $first $doc),
            with_choice!(@halves concat!($name, "_s16x2"), I16, $op $first $doc),
            with_choice!(@halves concat!($name, "_u16x2"), U16, $op $first $doc),
        )*]
    };
    (@word $name:expr, $p:ident, $op:ident $first:ident $doc:literal) => {
        Sig {
            name: $name,
            params: &[$p, $p, TRUTH],
            ret: $p,
            lower: Lower::Outs(|b, a| word(b, BinaryOp::$op, CompareOp::$first, a)),
            doc: $doc,
        }
    };
    (@halves $name:expr, $lane:ident, $op:ident $first:ident $doc:literal) => {
        Sig {
            name: $name,
            params: &[U, U, TRUTH, TRUTH],
            ret: U,
            lower: Lower::Outs(|b, a| halves(b, Scalar::$lane, BinaryOp::$op, CompareOp::$first, a)),
            doc: $doc,
        }
    };
}

/// Minima and maxima of two that also say which it was.
pub const CHOICE: &[Sig] = with_choice! {
    "__vibmax" Max Ge "The larger; whether it is the first is written, for each half (high first).";
    "__vibmin" Min Le "The smaller; whether it is the first is written, for each half (high first).";
};
