//! Powers.

use super::super::{Lanes, dclamp, dflip, dpoly};
use super::exp::exp2_sum;

/// Two over the logarithm of 2, and the low part of that.
const FIRST: (f64, f64) = (2.885_390_081_777_926_8, 4.071_054_748_186_206_6e-17);
/// A third of it.
const SECOND: (f64, f64) = (0.961_796_693_925_975_6, 5.057_761_664_812_590_7e-17);
/// log2((1 + s) / (1 - s)) / s less two such terms, by s^2 from its square on, to one fifth.
const LOG2: [f64; 8] = [
    0.5770780163555813,
    0.412198583113316,
    0.3205988975217618,
    0.26230823810269305,
    0.22195004149811104,
    0.192472889978324,
    0.16722948517369862,
    0.1814467581411715,
];

/// The logarithm to base 2 of a number that is not negative, as a sum whose second part is small.
#[inline(always)]
fn log2_sum<B: Lanes>(b: &mut B, x: B::D) -> (B::D, B::D) {
    let (e, m) = b.dsplit(x);
    let (one, two) = (b.d(1.0), b.d(2.0));
    // s = (m - 1) / (m + 1) and its square, each with a correction.
    let (f, d) = (b.dsub(m, one), b.dadd(m, one));
    let d_low = b.dsub(d, one);
    let d_low = b.dsub(m, d_low);
    let inverse = b.ddiv(one, d);
    let s = b.dmul(f, inverse);
    let minus = b.dneg(s);
    let rest = b.dfma(minus, d, f);
    let rest = b.dfma(minus, d_low, rest);
    let s_low = b.dmul(rest, inverse);
    let z = b.dmul(s, s);
    let minus = b.dneg(z);
    let z_low = b.dfma(s, s, minus);
    let twice = b.dmul(s, two);
    let z_low = b.dfma(twice, s_low, z_low);
    // The second term of the series, with those after it in the correction.
    let p = dpoly(b, z, &LOG2);
    let (second, second_low) = (b.d(SECOND.0), b.d(SECOND.1));
    let more = b.dfma(z, p, second_low);
    let u = b.dmul(z, second);
    let minus = b.dneg(u);
    let u_low = b.dfma(z, second, minus);
    // The correction of the square, times the derivative.
    let slope = b.dfma(more, two, second);
    let u_low = b.dfma(z_low, slope, u_low);
    let u_low = b.dfma(z, more, u_low);
    // The first.
    let (first, first_low) = (b.d(FIRST.0), b.d(FIRST.1));
    let k = b.dadd(first, u);
    let back = b.dsub(k, first);
    let k_low = b.dsub(u, back);
    let u_low = b.dadd(u_low, first_low);
    let k_low = b.dadd(k_low, u_low);
    let part = b.dadd(k, k_low);
    let back = b.dsub(part, k);
    let (k, k_low) = (part, b.dsub(k_low, back));
    let high = b.dmul(s, k);
    let minus = b.dneg(high);
    let low = b.dfma(s, k, minus);
    let low = b.dfma(s, k_low, low);
    let low = b.dfma(s_low, k, low);
    let log = b.dadd(e, high);
    let back = b.dsub(log, e);
    let back = b.dsub(high, back);
    (log, b.dadd(back, low))
}

/// `x` to the power of `y`: two to the power of `y * log2(x)`, where logarithm and product are sums of two numbers.
/// Error: 1.1 ULP, sampled.
#[inline(always)]
pub fn pow<B: Lanes>(b: &mut B, x: B::D, y: B::D) -> B::D {
    let (zero, one, half) = (b.d(0.0), b.d(1.0), b.d(0.5));
    let a = b.dabs(x);
    let (log, log_low) = log2_sum(b, a);
    // A `y` past the bound saturates anyway, and infinity times zero does not arise.
    let factor = dclamp(b, y, -1e20, 1e20);
    let w = b.dmul(factor, log);
    let minus = b.dneg(w);
    let w_low = b.dfma(factor, log, minus);
    let w_low = b.dfma(factor, log_low, w_low);
    let (size, most) = (b.dabs(w), b.d(1200.0));
    let within = b.dlt(size, most);
    let w_low = b.dselect(within, w_low, zero);
    let w = dclamp(b, w, -1200.0, 1200.0);
    let power = exp2_sum(b, w, w_low);
    // One, whatever the other number.
    let (is_one, is_zero) = (b.deq(x, one), b.deq(y, zero));
    let trivial = b.or(is_one, is_zero);
    let power = b.dselect(trivial, one, power);
    // A negative number: odd integers keep its sign, and a number that is no integer gives NaN.
    let whole = b.drint(y);
    let integer = b.deq(whole, y);
    let halved = b.dmul(y, half);
    let half_whole = b.drint(halved);
    let even = b.deq(half_whole, halved);
    let none = b.l(0);
    let bits = b.dbits(x);
    let negative = b.llt(bits, none);
    let uneven = b.not(even);
    let odd = b.and(integer, uneven);
    let odd = b.and(odd, negative);
    let top = b.l(i64::MIN);
    let sign = b.lselect(odd, top, none);
    let power = dflip(b, power, sign);
    let (infinity, nan) = (b.d(f64::NEG_INFINITY), b.d(f64::NAN));
    let (below, finite) = (b.dlt(x, zero), b.dlt(infinity, x));
    let broken = b.not(integer);
    let wrong = b.and(below, finite);
    let wrong = b.and(wrong, broken);
    b.dselect(wrong, nan, power)
}
