//! The operations on plain numbers.

use super::{Lanes, Rare};

/// One lane: plain numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scalar;

/// Methods that are one expression each.
macro_rules! operations {
    ($($name:ident($($arg:ident: $from:ty),*) -> $to:ty = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(&mut self, $($arg: $from),*) -> $to {
            $value
        })*
    };
}

impl Lanes for Scalar {
    type F = f32;
    type I = i32;
    type D = f64;
    type L = i64;
    type M = bool;

    operations! {
        f(x: f32) -> f32 = x;
        i(n: i32) -> i32 = n;
        d(x: f64) -> f64 = x;
        l(n: i64) -> i64 = n;
        add(a: f32, b: f32) -> f32 = a + b;
        sub(a: f32, b: f32) -> f32 = a - b;
        mul(a: f32, b: f32) -> f32 = a * b;
        div(a: f32, b: f32) -> f32 = a / b;
        fma(a: f32, b: f32, c: f32) -> f32 = a.mul_add(b, c);
        neg(a: f32) -> f32 = -a;
        abs(a: f32) -> f32 = a.abs();
        sqrt(a: f32) -> f32 = a.sqrt();
        rint(a: f32) -> f32 = a.round_ties_even();
        to_i(a: f32) -> i32 = a as i32;
        to_f(a: i32) -> f32 = a as f32;
        bits(a: f32) -> i32 = a.to_bits() as i32;
        of_bits(a: i32) -> f32 = f32::from_bits(a as u32);
        iadd(a: i32, b: i32) -> i32 = a.wrapping_add(b);
        isub(a: i32, b: i32) -> i32 = a.wrapping_sub(b);
        iand(a: i32, b: i32) -> i32 = a & b;
        ixor(a: i32, b: i32) -> i32 = a ^ b;
        ishl(a: i32, n: u32) -> i32 = a << n;
        ishr(a: i32, n: u32) -> i32 = a >> n;
        lt(a: f32, b: f32) -> bool = a < b;
        le(a: f32, b: f32) -> bool = a <= b;
        eq(a: f32, b: f32) -> bool = a == b;
        ilt(a: i32, b: i32) -> bool = a < b;
        and(a: bool, b: bool) -> bool = a & b;
        or(a: bool, b: bool) -> bool = a | b;
        not(a: bool) -> bool = !a;
        select(m: bool, a: f32, b: f32) -> f32 = if m { a } else { b };
        iselect(m: bool, a: i32, b: i32) -> i32 = if m { a } else { b };
        dadd(a: f64, b: f64) -> f64 = a + b;
        dsub(a: f64, b: f64) -> f64 = a - b;
        dmul(a: f64, b: f64) -> f64 = a * b;
        ddiv(a: f64, b: f64) -> f64 = a / b;
        dfma(a: f64, b: f64, c: f64) -> f64 = a.mul_add(b, c);
        dneg(a: f64) -> f64 = -a;
        dabs(a: f64) -> f64 = a.abs();
        dsqrt(a: f64) -> f64 = a.sqrt();
        drint(a: f64) -> f64 = a.round_ties_even();
        dbits(a: f64) -> i64 = a.to_bits() as i64;
        dof_bits(a: i64) -> f64 = f64::from_bits(a as u64);
        ladd(a: i64, b: i64) -> i64 = a.wrapping_add(b);
        lsub(a: i64, b: i64) -> i64 = a.wrapping_sub(b);
        land(a: i64, b: i64) -> i64 = a & b;
        lxor(a: i64, b: i64) -> i64 = a ^ b;
        lshl(a: i64, n: u32) -> i64 = a << n;
        lshr(a: i64, n: u32) -> i64 = a >> n;
        dlt(a: f64, b: f64) -> bool = a < b;
        dle(a: f64, b: f64) -> bool = a <= b;
        deq(a: f64, b: f64) -> bool = a == b;
        llt(a: i64, b: i64) -> bool = a < b;
        dselect(m: bool, a: f64, b: f64) -> f64 = if m { a } else { b };
        lselect(m: bool, a: i64, b: i64) -> i64 = if m { a } else { b };
        widen(a: f32) -> f64 = f64::from(a);
        narrow(a: f64) -> f32 = a as f32;
        rare(mask: bool, rare: Rare, args: &[f32], fast: f32) -> f32 = if mask { rare.float(args) } else { fast };
        drare(mask: bool, rare: Rare, args: &[f64], fast: f64) -> f64 = if mask { rare.double(args) } else { fast };
    }
}
