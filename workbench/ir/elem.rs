//! Elements of memory: scalars, or the 16-bit floats that code computes with as structs of their bits.

use std::fmt;

use super::Scalar;

/// An element type of arrays and variables. No value has a 16-bit float's type: an access reads its bits as `u16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// Any scalar: a type that values have.
    Scalar(Scalar),
    /// IEEE binary16: `__half`, alone or in vectors.
    F16,
    /// The upper half of a binary32: `__nv_bfloat16`.
    BF16,
}

impl Elem {
    /// Size in bytes, which is also the alignment.
    pub fn size(self) -> u32 {
        match self {
            Elem::Scalar(s) => s.size(),
            Elem::F16 | Elem::BF16 => 2,
        }
    }

    /// The name in the textual IR: `i32`, `f16`, `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            Elem::Scalar(s) => s.name(),
            Elem::F16 => "f16",
            Elem::BF16 => "bf16",
        }
    }

    /// The CUDA C++ spelling: `int`, `__half`, `__nv_bfloat16`.
    pub fn c_name(self) -> &'static str {
        match self {
            Elem::Scalar(s) => s.c_name(),
            Elem::F16 => "__half",
            Elem::BF16 => "__nv_bfloat16",
        }
    }

    /// The scalar, if it is one.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Elem::Scalar(s) => Some(s),
            Elem::F16 | Elem::BF16 => None,
        }
    }

    /// The scalar that its bits are read as: itself, or `u16`.
    pub fn bits(self) -> Scalar {
        match self {
            Elem::Scalar(s) => s,
            Elem::F16 | Elem::BF16 => Scalar::U16,
        }
    }

    /// The 16-bit float nearest to a number, ties to even, as its bits; `None` for scalars.
    pub fn half_bits(self, value: f64) -> Option<u16> {
        match self {
            Elem::Scalar(_) => None,
            Elem::F16 => Some(half::f16::from_f32(to_odd(value)).to_bits()),
            Elem::BF16 => Some(half::bf16::from_f32(to_odd(value)).to_bits()),
        }
    }

    /// The number that the bits of a 16-bit float stand for; `None` for scalars.
    pub fn half_value(self, bits: u16) -> Option<f64> {
        match self {
            Elem::Scalar(_) => None,
            Elem::F16 => Some(f64::from(half::f16::from_bits(bits).to_f32())),
            Elem::BF16 => Some(f64::from(half::bf16::from_bits(bits).to_f32())),
        }
    }
}

/// Rounds to odd, so that a second rounding, to fewer bits, gives the same as one rounding alone (S. Boldo, G. Melquiond, "Emulation of FMA
/// and correctly rounded sums", 2008). That needs two more bits than the final format, and `float` has them for either 16-bit float.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || !near.is_finite() || value.is_nan() {
        return near;
    }
    let bits = near.to_bits();
    let toward_zero = if back.abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(toward_zero | 1)
}

impl From<Scalar> for Elem {
    fn from(s: Scalar) -> Self {
        Elem::Scalar(s)
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_rounded_once() {
        // 1 + 2^-11 is half way between two f16, and rounds to even; a hair above it rounds up. In `float` both are the same.
        let tie = 1.0 + 2f64.powi(-11);
        assert_eq!(Elem::F16.half_bits(tie), Some(0x3c00));
        assert_eq!(Elem::F16.half_bits(tie + 2f64.powi(-40)), Some(0x3c01));
        assert_eq!(Elem::F16.half_bits(-(tie + 2f64.powi(-40))), Some(0xbc01));
        let tie = 1.0 + 2f64.powi(-8);
        assert_eq!(Elem::BF16.half_bits(tie), Some(0x3f80));
        assert_eq!(Elem::BF16.half_bits(tie + 2f64.powi(-40)), Some(0x3f81));
        assert_eq!(Elem::F16.half_bits(65519.999), Some(0x7bff));
        assert_eq!(Elem::F16.half_bits(65520.0), Some(0x7c00));
        assert_eq!(Elem::F16.half_bits(1e300), Some(0x7c00));
        assert_eq!(Elem::F16.half_bits(-0.0), Some(0x8000));
        // Half of the smallest f16, and a hair more.
        assert_eq!(Elem::F16.half_bits(2f64.powi(-25)), Some(0));
        assert_eq!(Elem::F16.half_bits(2f64.powi(-25) * 1.000_001), Some(1));
        assert!(Elem::BF16.half_value(Elem::BF16.half_bits(f64::NAN).unwrap_or(0)).is_some_and(f64::is_nan));
    }
}
