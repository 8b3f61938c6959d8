//! The reciprocal square root of floats. A division and a root keep a processor's divider busy for twice as long as everything else
//! that a step of n bodies does; those with AVX-512 have an estimate, as GPUs have theirs, and one step of Newton's method
//! makes it a float. Every tier does the same operations, so they agree bit for bit on one machine; other machines divide.

/// True if this processor has an estimate of reciprocal square roots, good to 2^-14, for vectors of every width.
pub fn has_estimate() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        has!("avx512f") && has!("avx512vl") && has!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The reciprocal square root. Error: 1.04 ULP by the estimate, of all mantissas and subnormals (CUDA allows 2); a root and a division are
/// about as good.
///
/// With the estimate y = (1 + d) / sqrt(x), |d| < 2^-14, and e = 1 - x y y, which is near -2 d, the result y + e y / 2 is off by
/// 3 e^2 / 8 < 2^-27.4 of itself, by half of the rounding of x y, 2^-25, and by its own rounding.
pub fn rsqrt(x: f32) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if has_estimate() {
        // SAFETY: the processor has the instructions that the function is compiled for.
        return unsafe { stepped(x) };
    }
    1.0 / x.sqrt()
}

/// [`rsqrt`] of sixteen numbers.
pub fn rsqrt_lanes(x: &[f32; 16], out: &mut [f32; 16]) {
    #[cfg(target_arch = "x86_64")]
    if has_estimate() {
        // SAFETY: the processor has the instructions that the function is compiled for.
        unsafe { stepped_lanes(x, out) };
        return;
    }
    *out = x.map(|x| 1.0 / x.sqrt());
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,fma")]
fn stepped_lanes(x: &[f32; 16], out: &mut [f32; 16]) {
    use std::arch::x86_64::{
        _CMP_ORD_Q, _mm_cmp_ps_mask, _mm_fnmadd_ps, _mm_loadu_ps, _mm_mask3_fmadd_ps, _mm_mul_ps, _mm_rsqrt14_ps,
        _mm_set1_ps, _mm_storeu_ps,
    };
    for (x, out) in x.chunks_exact(4).zip(out.chunks_exact_mut(4)) {
        // SAFETY: the slice has four numbers.
        let x = unsafe { _mm_loadu_ps(x.as_ptr()) };
        let y = _mm_rsqrt14_ps(x);
        let t = _mm_mul_ps(x, y);
        let e = _mm_fnmadd_ps(t, y, _mm_set1_ps(1.0));
        let half = _mm_mul_ps(y, _mm_set1_ps(0.5));
        let y = _mm_mask3_fmadd_ps(half, e, y, _mm_cmp_ps_mask::<_CMP_ORD_Q>(t, t));
        // SAFETY: as above.
        unsafe { _mm_storeu_ps(out.as_mut_ptr(), y) };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn stepped(x: f32) -> f32 {
    use std::arch::x86_64::{_mm_cvtss_f32, _mm_rsqrt14_ss, _mm_set_ss};
    let all = _mm_set_ss(x);
    let y = _mm_cvtss_f32(_mm_rsqrt14_ss(all, all));
    let t = x * y;
    let e = (-t).mul_add(y, 1.0);
    // The estimate of 0, infinity, NaN and numbers without a root is the result.
    if e.is_nan() { y } else { (0.5 * y).mul_add(e, y) }
}

#[cfg(test)]
mod tests {
    use super::{rsqrt, rsqrt_lanes};

    #[test]
    fn sixteen_have_the_bits_of_one() {
        let odd = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, -1.0, f32::from_bits(1), f32::MAX, f32::NAN];
        for start in (0x0000_0001..0x7f80_0000u32).step_by(104_729) {
            let x: [f32; 16] = std::array::from_fn(|l| match odd.get(l) {
                Some(odd) => *odd,
                None => f32::from_bits(start + 9_973 * l as u32),
            });
            let mut out = [77.0; 16];
            rsqrt_lanes(&x, &mut out);
            for (x, out) in x.into_iter().zip(out) {
                // A NaN's sign and payload are left open.
                assert!(out.to_bits() == rsqrt(x).to_bits() || (out.is_nan() && rsqrt(x).is_nan()), "{x:e}: {out:e}");
            }
        }
    }

    #[test]
    fn it_is_within_cudas_bound_and_keeps_what_is_no_number() {
        for bits in (0x0000_0001..0x7f80_0000u32).step_by(9_973) {
            let x = f32::from_bits(bits);
            let wanted = 1.0 / f64::from(x).sqrt();
            // The result is a normal number, so its unit in the last place is 2^-23 of its power of two.
            let unit = f64::from(f32::from_bits((wanted as f32).to_bits() & 0x7f80_0000)) / f64::from(1u32 << 23);
            let error = (f64::from(rsqrt(x)) - wanted).abs() / unit;
            assert!(error <= 1.25, "{x:e}: {error} units in the last place");
        }
        assert_eq!(rsqrt(0.0), f32::INFINITY);
        assert_eq!(rsqrt(-0.0), f32::NEG_INFINITY);
        assert_eq!(rsqrt(f32::INFINITY), 0.0);
        for x in [-1.0, f32::NEG_INFINITY, f32::NAN, -f32::from_bits(1)] {
            assert!(rsqrt(x).is_nan());
        }
        // Powers of four are exact, as 1 / sqrt is.
        assert_eq!((rsqrt(0.25), rsqrt(1.0), rsqrt(4.0)), (2.0, 1.0, 0.5));
    }
}
