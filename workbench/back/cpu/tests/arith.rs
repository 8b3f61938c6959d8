//! Arithmetic against Rust's own semantics: every operator on every type, on random and on extreme values.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::build::*;
use crate::back::{FaultKind, RawArg};
use crate::ir::*;

const SCALARS: [Scalar; 11] = [
    Scalar::Bool,
    Scalar::I8,
    Scalar::U8,
    Scalar::I16,
    Scalar::U16,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::F32,
    Scalar::F64,
];

/// A number of any type, wide enough for all.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Num {
    Int(i128),
    Float(f64),
}

fn decode(s: Scalar, bits: u64) -> Num {
    match s {
        Scalar::F32 => Num::Float(f32::from_bits(bits as u32).into()),
        Scalar::F64 => Num::Float(f64::from_bits(bits)),
        Scalar::Bool => Num::Int((bits & 1).into()),
        _ => Num::Int(wrap(s, i128::from(bits))),
    }
}

/// An integer wrapped to the width of its type.
fn wrap(s: Scalar, n: i128) -> i128 {
    let low = n & ((1i128 << s.bits()) - 1);
    if s.is_signed() && low >> (s.bits() - 1) == 1 { low - (1i128 << s.bits()) } else { low }
}

fn encode(s: Scalar, n: Num) -> u64 {
    match (s, n) {
        (Scalar::F32, Num::Float(x)) => (x as f32).to_bits().into(),
        (Scalar::F64, Num::Float(x)) => x.to_bits(),
        (_, Num::Int(n)) => n as u64 & (u64::MAX >> (64 - s.bits())),
        _ => panic!("{n:?} is no {s:?}"),
    }
}

/// Bits of interest: random ones, or near the ends and the middle of some type.
fn bits() -> impl Strategy<Value = u64> {
    let edges =
        [0u64, 1, 2, 7, 8, 31, 32, 63, 64, 127, 128, 255, 0x7FFF, 0x8000, 0xFFFF, i32::MAX as u64, i32::MIN as u64];
    let more = [u32::MAX as u64, i64::MAX as u64, i64::MIN as u64, u64::MAX, u64::MAX - 1, 1 << 32];
    let floats = [
        1.0f64,
        -1.0,
        0.5,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        2147483648.0,
        -2147483649.0,
        1e300,
        5e-324,
    ];
    let mut all: Vec<u64> = edges.into_iter().chain(more).collect();
    all.extend(floats.iter().map(|x| x.to_bits()));
    all.extend(floats.iter().map(|x| u64::from((*x as f32).to_bits())));
    all.extend([-128.0f32, 127.5, 255.5, -1.5, 4294967296.0, 1.8e19, 9.3e18].iter().map(|x| u64::from(x.to_bits())));
    all.extend([-128.5f64, 127.5, 255.5, -1.5, 4294967295.5, 1.8446744073709552e19].iter().map(|x| x.to_bits()));
    prop_oneof![any::<u64>(), proptest::sample::select(all)]
}

/// Elements of `s` as memory holds them.
fn pack(s: Scalar, values: &[u64]) -> Vec<u64> {
    // Words, so that the buffer is aligned for any type.
    let mut words = vec![0u64; values.len()];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    for (place, v) in bytes.chunks_exact_mut(s.size() as usize).zip(values) {
        place.copy_from_slice(&v.to_le_bytes()[..s.size() as usize]);
    }
    words
}

fn unpack(s: Scalar, words: &[u64]) -> Vec<u64> {
    let bytes: &[u8] = bytemuck::cast_slice(words);
    let chunks = bytes.chunks_exact(s.size() as usize).take(words.len());
    chunks.map(|c| c.iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b))).collect()
}

fn pointer(words: &mut [u64], s: Scalar) -> RawArg {
    RawArg::Buffer { ptr: words.as_mut_ptr().cast(), bytes: words.len() * s.size() as usize, writable: true }
}

/// `out[i] = op(a[i], b[i])`.
fn kernel(a: Scalar, b: Scalar, out: Scalar, op: impl FnOnce(&mut Build, Value, Value) -> Value) -> Function {
    let mut build = Build::kernel("map");
    let (pa, pb, po) = (build.ptr("a", a), build.ptr("b", b), build.ptr("out", out));
    let i = build.global_index();
    let (pa, pb, po) = (build.at(pa, i, a), build.at(pb, i, b), build.at(po, i, out));
    let (x, y) = (build.load(pa, a), build.load(pb, b));
    let v = op(&mut build, x, y);
    build.store(po, v);
    build.done()
}

/// Compares a kernel with `expected` on random pairs. Pairs that `skip` names are not run.
fn holds(
    what: &str,
    [a, b, out]: [Scalar; 3],
    func: Function,
    skip: impl Fn(Num, Num) -> bool,
    expected: impl Fn(Num, Num) -> Num,
) {
    let code = compile(vec![func]);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(12) });
    let strategy = proptest::collection::vec((bits(), bits()), 24);
    let outcome = runner.run(&strategy, |pairs| {
        let norm = |s, bits| encode(s, decode(s, bits));
        let pairs: Vec<(u64, u64)> = pairs
            .into_iter()
            .map(|(x, y)| (norm(a, x), norm(b, y)))
            .filter(|(x, y)| !skip(decode(a, *x), decode(b, *y)))
            .collect();
        let (xs, ys): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
        let (mut wx, mut wy, mut wo) = (pack(a, &xs), pack(b, &ys), vec![0; pairs.len()]);
        let args = [pointer(&mut wx, a), pointer(&mut wy, b), pointer(&mut wo, out)];
        let result = launch(&code, 1, pairs.len() as u32, &args);
        prop_assert_eq!(result.fault, None);
        for ((x, y), got) in pairs.into_iter().zip(unpack(out, &wo)) {
            let (x, y) = (decode(a, x), decode(b, y));
            let (got, want) = (decode(out, got), expected(x, y));
            let both_nan = matches!((got, want), (Num::Float(g), Num::Float(w)) if g.is_nan() && w.is_nan());
            let same_bits = both_nan || encode(out, got) == encode(out, want);
            prop_assert!(same_bits, "{} of {:?}, {:?}: {:?}, not {:?}", what, x, y, got, want);
        }
        Ok(())
    });
    if let Err(e) = outcome {
        panic!("{what}: {e}");
    }
}

fn binary(op: BinaryOp, s: Scalar, x: Num, y: Num) -> Num {
    match (x, y) {
        (Num::Float(x), Num::Float(y)) => {
            let both = |f: fn(f64, f64) -> f64, g: fn(f32, f32) -> f32| {
                Num::Float(if s == Scalar::F64 { f(x, y) } else { g(x as f32, y as f32).into() })
            };
            match op {
                BinaryOp::Add => both(|x, y| x + y, |x, y| x + y),
                BinaryOp::Sub => both(|x, y| x - y, |x, y| x - y),
                BinaryOp::Mul => both(|x, y| x * y, |x, y| x * y),
                BinaryOp::Div => both(|x, y| x / y, |x, y| x / y),
                _ => panic!("{op:?} of floats"),
            }
        }
        (Num::Int(x), Num::Int(y)) => {
            let width = i128::from(s.bits());
            Num::Int(wrap(
                s,
                match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x.wrapping_mul(y),
                    BinaryOp::Div => x / y,
                    BinaryOp::Rem => x % y,
                    BinaryOp::And => x & y,
                    BinaryOp::Or => x | y,
                    BinaryOp::Xor => x ^ y,
                    BinaryOp::Shl if y < width => x << y,
                    BinaryOp::Shl => 0,
                    // An arithmetic shift of the extended value shifts in the type's own sign, or zeros.
                    BinaryOp::Shr => x >> y.min(width),
                    BinaryOp::Min => x.min(y),
                    BinaryOp::Max => x.max(y),
                    // Products of 64-bit unsigned numbers need the whole of u128.
                    BinaryOp::MulHi if s.is_signed() => (x * y) >> width,
                    BinaryOp::MulHi => ((x as u128 * y as u128) >> width) as i128,
                },
            ))
        }
        _ => panic!("operands of two kinds"),
    }
}

fn applies(op: BinaryOp, s: Scalar) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => s != Scalar::Bool,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !s.is_float(),
        BinaryOp::MulHi => s.is_int() && s.bits() >= 32,
        _ => s.is_int(),
    }
}

fn faults(op: BinaryOp, s: Scalar, x: Num, y: Num) -> bool {
    let (Num::Int(x), Num::Int(y)) = (x, y) else { return false };
    matches!(op, BinaryOp::Div | BinaryOp::Rem) && (y == 0 || (y == -1 && x == -(1i128 << (s.bits() - 1))))
}

#[test]
fn every_binary_operator_on_every_type() {
    for op in BinaryOp::ALL.iter().copied() {
        for s in SCALARS.into_iter().filter(|s| applies(op, *s)) {
            let amounts: &[Scalar] = match op {
                BinaryOp::Shl | BinaryOp::Shr => &[Scalar::U8, Scalar::U32, Scalar::U64],
                _ => &[s],
            };
            for t in amounts {
                let func = kernel(s, *t, s, |b, x, y| b.bin(op, x, y));
                holds(
                    &format!("{op:?} {s:?} {t:?}"),
                    [s, *t, s],
                    func,
                    |x, y| faults(op, s, x, y),
                    |x, y| binary(op, s, x, y),
                );
            }
        }
    }
}

#[test]
fn shift_amounts_of_signed_types_count_as_unsigned() {
    for (op, s) in [(BinaryOp::Shl, Scalar::I32), (BinaryOp::Shr, Scalar::I64), (BinaryOp::Shr, Scalar::U16)] {
        let func = kernel(s, Scalar::I32, s, |b, x, y| b.bin(op, x, y));
        let amount = |y: Num| match y {
            Num::Int(y) => Num::Int(wrap(Scalar::U32, y)),
            other => other,
        };
        holds("shift by int", [s, Scalar::I32, s], func, |_, _| false, |x, y| binary(op, s, x, amount(y)));
    }
}

#[test]
fn constant_operands_take_the_same_answers() {
    for s in SCALARS.into_iter().filter(|s| s.is_int()) {
        for op in BinaryOp::ALL.iter().copied().filter(|op| applies(*op, s)) {
            for n in [-1i64, 1, 3, 8, 31, 32, 64, 100] {
                let Num::Int(c) = decode(s, n as u64) else { continue };
                let func = kernel(s, s, s, |b, x, _| {
                    let c = b.int(s, c as i64);
                    b.bin(op, x, c)
                });
                // Shift amounts are unsigned of their own type.
                let unsigned = if c < 0 { c + (1i128 << s.bits()) } else { c };
                let y = Num::Int(if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { unsigned } else { c });
                let name = format!("{op:?} {s:?} by {c}");
                holds(&name, [s, s, s], func, |x, _| faults(op, s, x, y), |x, _| binary(op, s, x, y));
            }
        }
    }
}

#[test]
fn division_faults_exactly_where_it_has_no_answer() {
    for s in SCALARS.into_iter().filter(|s| s.is_int()) {
        for op in [BinaryOp::Div, BinaryOp::Rem] {
            let code = compile(vec![kernel(s, s, s, |b, x, y| b.bin(op, x, y))]);
            let min = 1u64 << (s.bits() - 1);
            for (x, y) in [(5, 0), (min, u64::MAX), (min, 1), (min + 1, u64::MAX), (0, u64::MAX)] {
                let (mut a, mut b, mut out) = (pack(s, &[x]), pack(s, &[y]), vec![0]);
                let args = [pointer(&mut a, s), pointer(&mut b, s), pointer(&mut out, s)];
                let fault = launch(&code, 1, 1, &args).fault.map(|f| f.kind);
                let (x, y) = (decode(s, x), decode(s, y));
                let kind = if y == Num::Int(0) { FaultKind::DivisionByZero } else { FaultKind::DivisionOverflow };
                assert_eq!(fault, faults(op, s, x, y).then_some(kind), "{op:?} {s:?} {x:?} {y:?}");
            }
        }
    }
}

#[test]
fn every_comparison_on_every_type() {
    let ops = [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];
    for s in SCALARS {
        for op in ops {
            let func = kernel(s, s, Scalar::Bool, |b, x, y| b.cmp(op, x, y));
            let compare = |x: Num, y: Num| {
                let order = match (x, y) {
                    (Num::Int(x), Num::Int(y)) => Some(x.cmp(&y)),
                    (Num::Float(x), Num::Float(y)) => x.partial_cmp(&y),
                    _ => None,
                };
                let holds = match op {
                    CompareOp::Eq => order.is_some_and(|o| o.is_eq()),
                    CompareOp::Ne => order.is_none_or(|o| o.is_ne()),
                    CompareOp::Lt => order.is_some_and(|o| o.is_lt()),
                    CompareOp::Le => order.is_some_and(|o| o.is_le()),
                    CompareOp::Gt => order.is_some_and(|o| o.is_gt()),
                    CompareOp::Ge => order.is_some_and(|o| o.is_ge()),
                };
                Num::Int(holds.into())
            };
            holds(&format!("{op:?} {s:?}"), [s, s, Scalar::Bool], func, |_, _| false, compare);
        }
    }
}

#[test]
fn every_conversion_between_every_two_types() {
    for from in SCALARS {
        for to in SCALARS {
            let func = kernel(from, Scalar::U8, to, |b, x, _| b.convert(to, x));
            let convert = |x: Num, _: Num| match (x, to) {
                (Num::Int(n), Scalar::Bool) => Num::Int((n != 0).into()),
                (Num::Float(x), Scalar::Bool) => Num::Int((x != 0.0).into()),
                (Num::Int(n), Scalar::F32) => Num::Float((n as f32).into()),
                (Num::Int(n), Scalar::F64) => Num::Float(n as f64),
                (Num::Float(x), Scalar::F32) => Num::Float((x as f32).into()),
                (Num::Float(x), Scalar::F64) => Num::Float(x),
                (Num::Int(n), _) => Num::Int(wrap(to, n)),
                (Num::Float(x), _) => {
                    // Rust's casts truncate, saturate and map NaN to 0; PTX ISA 9.0, `cvt`: zero unless the source is .f64 or the
                    // destination 64 bits wide, else 1 << (bits - 1). Narrow types by way of 32 bits, saturated.
                    let wide = to.bits().max(32);
                    let x = match x.is_nan() && (from == Scalar::F64 || wide == 64) {
                        true if to.is_signed() || to.bits() < 32 => -(1i128 << (wide - 1)),
                        true => 1i128 << (wide - 1),
                        false => x as i128,
                    };
                    let (low, high) = if to.is_signed() {
                        (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1)
                    } else {
                        (0, (1i128 << to.bits()) - 1)
                    };
                    Num::Int(x.clamp(low, high))
                }
            };
            holds(&format!("{from:?} to {to:?}"), [from, Scalar::U8, to], func, |_, _| false, convert);
        }
    }
}

#[test]
fn unary_operators_bit_casts_and_choices() {
    for s in SCALARS {
        if s != Scalar::Bool {
            let func = kernel(s, s, s, |b, x, _| b.op(s, Op::Unary(UnaryOp::Neg, x)));
            holds(
                &format!("Neg {s:?}"),
                [s, s, s],
                func,
                |_, _| false,
                |x, _| match x {
                    Num::Int(n) => Num::Int(wrap(s, -n)),
                    Num::Float(x) => Num::Float(-x),
                },
            );
        }
        if !s.is_float() {
            let func = kernel(s, s, s, |b, x, _| b.op(s, Op::Unary(UnaryOp::Not, x)));
            holds(
                &format!("Not {s:?}"),
                [s, s, s],
                func,
                |_, _| false,
                |x, _| match x {
                    Num::Int(n) if s == Scalar::Bool => Num::Int(1 - n),
                    Num::Int(n) => Num::Int(wrap(s, !n)),
                    other => other,
                },
            );
        }
        let func = kernel(s, s, s, |b, x, y| {
            let equal = b.cmp(CompareOp::Eq, x, y);
            b.op(s, Op::Select(equal, y, x))
        });
        // A zero takes the sign of the second operand where the two are equal.
        holds(&format!("Select {s:?}"), [s, s, s], func, |_, _| false, |x, y| if x == y { y } else { x });
        for t in SCALARS.into_iter().filter(|t| t.size() == s.size() && *t != Scalar::Bool && s != Scalar::Bool) {
            let func = kernel(s, s, t, |b, x, _| b.op(t, Op::Bitcast(t, x)));
            let cast = |x: Num, _: Num| decode(t, encode(s, x));
            let is_nan = |x: Num| matches!(x, Num::Float(x) if x.is_nan());
            holds(&format!("{s:?} as {t:?}"), [s, s, t], func, |x, y| is_nan(x) || is_nan(cast(x, y)), cast);
        }
    }
}

#[test]
fn bit_functions_count_as_rust_does() {
    for s in [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64] {
        for &bit in BitFn::ALL.iter().filter(|bit| bit.takes().has(s)) {
            let out = bit.result(s.into()).scalar().expect("bits are a number");
            let func = kernel(s, s, out, |b, x, _| b.op(out, Op::Bit(bit, x)));
            holds(
                &format!("{bit:?} {s:?}"),
                [s, s, out],
                func,
                |_, _| false,
                |x, _| {
                    let (n, width) = (encode(s, x), s.bits());
                    Num::Int(match bit {
                        BitFn::Clz => i128::from(n.leading_zeros() - (64 - width)),
                        BitFn::Popc => n.count_ones().into(),
                        BitFn::Ffs => {
                            if n == 0 {
                                0
                            } else {
                                i128::from(n.trailing_zeros()) + 1
                            }
                        }
                        BitFn::Brev => wrap(s, (n.reverse_bits() >> (64 - width)).into()),
                        // All halves, and all floats at which rounding changes, are in `math/half_conversions.cu`.
                        BitFn::HalfToFloat => wrap(s, half::f16::from_bits(n as u16).to_f32().to_bits().into()),
                        BitFn::FloatToHalf if f32::from_bits(n as u32).is_nan() => 0x7fff,
                        BitFn::FloatToHalf => half::f16::from_f32(f32::from_bits(n as u32)).to_bits().into(),
                    })
                },
            );
        }
    }
}

/// Volatile accesses read and write the same as plain ones, and a `bool` in memory is any byte but 0.
#[test]
fn volatile_accesses_and_truth_in_memory() {
    for s in SCALARS {
        let mut b = Build::kernel("volatile");
        let (from, to) = (b.ptr("from", s), b.ptr("to", s));
        let v = b.op(s, Op::Load { ptr: from, ty: s.into(), volatile: true });
        b.stmt(Stmt::Store { ptr: to, value: v, volatile: true });
        let code = compile(vec![b.done()]);
        let (mut a, mut out) = (pack(s, &[0x4142_4344_4546_4748]), vec![0]);
        assert_eq!(launch(&code, 1, 1, &[pointer(&mut a, s), pointer(&mut out, s)]).fault, None);
        let expected = if s == Scalar::Bool { vec![1] } else { unpack(s, &a) };
        assert_eq!(unpack(s, &out), expected, "{s:?}");
    }
}
