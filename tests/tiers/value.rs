//! Results of ops, by the IR's page and nothing else: integers as the numbers they are, floats by Rust's IEEE arithmetic.

use workbench::back::FaultKind;
use workbench::ir::{BinaryOp, BitFn, CompareOp, MathFn, Scalar, UnaryOp};

/// A value: its bits (integers extended to 64 by their signedness), and for a pointer the buffer that it points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Val {
    pub bits: u64,
    pub buffer: u32,
}

impl Val {
    pub fn new(bits: u64) -> Self {
        Val { bits, buffer: 0 }
    }

    pub fn holds(self) -> bool {
        self.bits != 0
    }
}

/// The number of an integer's bits.
pub fn number(s: Scalar, bits: u64) -> i128 {
    if s.is_signed() { i128::from(bits as i64) } else { i128::from(bits) }
}

/// The bits of a number modulo two to the width.
pub fn wrap(s: Scalar, number: i128) -> u64 {
    match s {
        Scalar::Bool => (number & 1) as u64,
        Scalar::I8 => i64::from(number as i8) as u64,
        Scalar::U8 => u64::from(number as u8),
        Scalar::I16 => i64::from(number as i16) as u64,
        Scalar::U16 => u64::from(number as u16),
        Scalar::I32 => i64::from(number as i32) as u64,
        Scalar::U32 => u64::from(number as u32),
        Scalar::I64 | Scalar::U64 => number as u64,
        Scalar::F32 | Scalar::F64 => unreachable!("a float is no number here"),
    }
}

pub fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

pub fn f64_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

pub fn of_f32(x: f32) -> u64 {
    u64::from(x.to_bits())
}

pub fn of_f64(x: f64) -> u64 {
    x.to_bits()
}

pub fn unary(op: UnaryOp, s: Scalar, a: u64) -> u64 {
    match (op, s) {
        (UnaryOp::Neg, Scalar::F32) => of_f32(-f32_of(a)),
        (UnaryOp::Neg, Scalar::F64) => of_f64(-f64_of(a)),
        (UnaryOp::Neg, _) => wrap(s, -number(s, a)),
        (UnaryOp::Not, Scalar::Bool) => a ^ 1,
        (UnaryOp::Not, _) => wrap(s, !number(s, a)),
    }
}

/// The result of a binary op; `t` is the type of the right operand, which differs for shifts only.
pub fn binary(op: BinaryOp, s: Scalar, a: u64, t: Scalar, b: u64) -> Result<u64, FaultKind> {
    match s {
        Scalar::F32 => {
            let (x, y) = (f32_of(a), f32_of(b));
            return Ok(of_f32(match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                BinaryOp::Div => x / y,
                _ => unreachable!("{op:?} of floats"),
            }));
        }
        Scalar::F64 => {
            let (x, y) = (f64_of(a), f64_of(b));
            return Ok(of_f64(match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                BinaryOp::Div => x / y,
                _ => unreachable!("{op:?} of floats"),
            }));
        }
        _ => {}
    }
    let (x, y) = (number(s, a), number(s, b));
    let width = s.bits();
    let exact = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div | BinaryOp::Rem => {
            if y == 0 {
                return Err(FaultKind::DivisionByZero);
            }
            let quotient = x / y;
            if number(s, wrap(s, quotient)) != quotient {
                return Err(FaultKind::DivisionOverflow);
            }
            if op == BinaryOp::Div { quotient } else { x % y }
        }
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl | BinaryOp::Shr => {
            let amount = number(t, b) & ((1i128 << t.bits()) - 1);
            match op {
                BinaryOp::Shl if amount >= i128::from(width) => 0,
                BinaryOp::Shl => x << amount,
                _ => x >> amount.min(100),
            }
        }
        BinaryOp::Min => x.min(y),
        BinaryOp::Max => x.max(y),
        BinaryOp::MulHi if s == Scalar::U64 => ((u128::from(a) * u128::from(b)) >> 64) as i128,
        BinaryOp::MulHi => (x * y) >> width,
    };
    Ok(wrap(s, exact))
}

fn ordered<T: PartialOrd>(op: CompareOp, x: T, y: T) -> bool {
    match op {
        CompareOp::Eq => x == y,
        CompareOp::Ne => x != y,
        CompareOp::Lt => x < y,
        CompareOp::Le => x <= y,
        CompareOp::Gt => x > y,
        CompareOp::Ge => x >= y,
    }
}

/// The result of a comparison; `s` is `None` for pointers.
pub fn compare(op: CompareOp, s: Option<Scalar>, a: u64, b: u64) -> bool {
    match s {
        Some(Scalar::F32) => ordered(op, f32_of(a), f32_of(b)),
        Some(Scalar::F64) => ordered(op, f64_of(a), f64_of(b)),
        Some(s) => ordered(op, number(s, a), number(s, b)),
        None => ordered(op, a, b),
    }
}

pub fn convert(from: Scalar, to: Scalar, a: u64) -> u64 {
    let float = match from {
        Scalar::F32 => Some(f64::from(f32_of(a))),
        Scalar::F64 => Some(f64_of(a)),
        _ => None,
    };
    let Some(x) = float else {
        let x = number(from, a);
        return match to {
            Scalar::Bool => u64::from(x != 0),
            Scalar::F32 => of_f32(x as f32),
            Scalar::F64 => of_f64(x as f64),
            _ => wrap(to, x),
        };
    };
    // Rust's casts truncate, saturate and turn NaN into 0, which here only holds for a float in at most 32 bits.
    let is_double = from == Scalar::F64;
    match to {
        Scalar::Bool => u64::from(x != 0.0),
        Scalar::I64 | Scalar::U64 if x.is_nan() => 1 << 63,
        Scalar::I32 if x.is_nan() && is_double => i64::from(i32::MIN) as u64,
        Scalar::U32 if x.is_nan() && is_double => 1 << 31,
        Scalar::I8 if x.is_nan() && is_double => i64::from(i8::MIN) as u64,
        Scalar::I16 if x.is_nan() && is_double => i64::from(i16::MIN) as u64,
        Scalar::I8 => i64::from(x as i8) as u64,
        Scalar::U8 => u64::from(x as u8),
        Scalar::I16 => i64::from(x as i16) as u64,
        Scalar::U16 => u64::from(x as u16),
        Scalar::I32 => i64::from(x as i32) as u64,
        Scalar::U32 => u64::from(x as u32),
        Scalar::I64 => (x as i64) as u64,
        Scalar::U64 => x as u64,
        Scalar::F32 if from == Scalar::F32 => a,
        Scalar::F32 => of_f32(x as f32),
        Scalar::F64 => of_f64(x),
    }
}

pub fn bitcast(from: Scalar, to: Scalar, a: u64) -> u64 {
    assert_eq!(from.size(), to.size(), "a bitcast between sizes");
    match to {
        Scalar::F32 => a & 0xffff_ffff,
        Scalar::F64 => a,
        _ => wrap(to, i128::from(a)),
    }
}

pub fn bit(func: BitFn, s: Scalar, a: u64) -> u64 {
    let width = s.bits();
    let bits = if width == 64 { a } else { a & ((1 << width) - 1) };
    let set = |i: u32| bits >> i & 1 != 0;
    match func {
        BitFn::Clz => u64::from((0..width).rev().take_while(|i| !set(*i)).count() as u32),
        BitFn::Popc => u64::from((0..width).filter(|i| set(*i)).count() as u32),
        BitFn::Ffs => (0..width).find(|i| set(*i)).map_or(0, |i| u64::from(i + 1)),
        BitFn::HalfToFloat => wrap(s, half_to_float(bits as u16).into()),
        BitFn::FloatToHalf => wrap(s, float_to_half(f32::from_bits(bits as u32)).into()),
        BitFn::Brev => wrap(s, i128::from((0..width).filter(|i| set(*i)).fold(0u64, |r, i| r | 1 << (width - 1 - i)))),
    }
}

/// The sum of the products of four bytes, plus a number.
pub fn dot4(s: Scalar, [x, y, sum]: [u32; 3]) -> u64 {
    let bytes =
        |n: u32| n.to_le_bytes().map(|byte| if s.is_signed() { i64::from(byte as i8) } else { i64::from(byte) });
    let product: i64 = bytes(x).into_iter().zip(bytes(y)).map(|(x, y)| x * y).sum();
    wrap(s, i128::from(product + i64::from(sum)))
}

/// The bits of the `float` that a half is: a mantissa of 10 bits times a power of two.
fn half_to_float(bits: u16) -> u32 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let sign = u32::from(bits >> 15) << 31;
    let size = match exponent {
        31 if bits & 1023 != 0 => return sign | 0x7fc0_0000 | u32::from(bits & 1023) << 13,
        31 => f64::INFINITY,
        0 => mantissa * 2f64.powi(-24),
        _ => (mantissa + 1024.0) * 2f64.powi(exponent - 25),
    };
    (size as f32).to_bits() | sign
}

/// The half that is nearest to a `float`: the number of last places of its binade, rounded to even.
fn float_to_half(x: f32) -> u16 {
    let sign = u16::from(x.is_sign_negative()) << 15;
    let size = f64::from(x.abs());
    if size.is_nan() {
        return 0x7fff;
    }
    // Halves as large as 2^e have last places of 2^(e-10), subnormal ones of 2^-24; from 65520 on they round to infinity.
    let exponent = (-14..=15).rev().find(|e| size >= 2f64.powi(*e)).unwrap_or(-14);
    let places = (size / 2f64.powi(exponent - 10)).round_ties_even();
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // A full binade carries into the exponent.
    sign | (places as u16 + ((exponent + 14) as u16) * 1024)
}

/// The smaller (or larger) of two; a NaN loses to a number, and of two zeros the negative one is the smaller.
macro_rules! least {
    ($x:expr, $y:expr, $smaller:expr) => {{
        let (x, y) = ($x, $y);
        if x.is_nan() {
            y
        } else if y.is_nan() {
            x
        } else if x == y {
            if x.is_sign_negative() == $smaller { x } else { y }
        } else if (x < y) == $smaller {
            x
        } else {
            y
        }
    }};
}

macro_rules! exact {
    ($func:expr, $args:expr) => {{
        let x = $args[0];
        match $func {
            MathFn::Sqrt => x.sqrt(),
            MathFn::Fabs => x.abs(),
            MathFn::Floor => x.floor(),
            MathFn::Ceil => x.ceil(),
            MathFn::Trunc => x.trunc(),
            MathFn::Rint => x.round_ties_even(),
            MathFn::Round => x.round(),
            MathFn::AddRn => x + $args[1],
            MathFn::MulRn => x * $args[1],
            MathFn::Copysign => x.copysign($args[1]),
            MathFn::Fmod => x % $args[1],
            // No comparison holds with a NaN, and the difference of a NaN is one.
            MathFn::Fdim => {
                if x <= $args[1] {
                    0.0
                } else {
                    x - $args[1]
                }
            }
            MathFn::Nextafter => {
                if x < $args[1] {
                    x.next_up()
                } else if x > $args[1] {
                    x.next_down()
                } else if x == $args[1] {
                    $args[1]
                } else {
                    x + $args[1]
                }
            }
            MathFn::Logb => {
                if x == 0.0 {
                    -1.0 / x.abs()
                } else if !x.is_finite() {
                    x * x
                } else {
                    let (mut size, mut exponent) = (x.abs(), 0.0);
                    while size >= 2.0 {
                        size /= 2.0;
                        exponent += 1.0;
                    }
                    while size < 1.0 {
                        size *= 2.0;
                        exponent -= 1.0;
                    }
                    exponent
                }
            }
            MathFn::Fmin => least!(x, $args[1], true),
            MathFn::Fmax => least!(x, $args[1], false),
            MathFn::Fma => x.mul_add($args[1], $args[2]),
            _ => return None,
        }
    }};
}

/// The functions that are defined to the last bit.
pub fn math(func: MathFn, s: Scalar, args: &[u64]) -> Option<u64> {
    Some(if s == Scalar::F32 {
        let args: Vec<f32> = args.iter().map(|a| f32_of(*a)).collect();
        of_f32(exact!(func, args))
    } else {
        let args: Vec<f64> = args.iter().map(|a| f64_of(*a)).collect();
        of_f64(exact!(func, args))
    })
}
