//! The operations on 16 lanes in AVX-512 registers: 32-bit lanes are one register, 64-bit lanes two, as in the wide tier's C.

use std::arch::x86_64::*;

use super::{Lanes, Rare};

/// Sixteen lanes. The maker of one runs on a processor with AVX-512F, and in a function compiled for it; otherwise every operation
/// would be a call.
#[derive(Debug, Clone, Copy)]
pub struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The processor has AVX-512F.
    #[inline(always)]
    pub unsafe fn new() -> Avx512 {
        Avx512(())
    }
}

/// Lanes as they lie in memory, in vectors of 128 bits.
pub type Floats = [__m128; 4];
/// The same of `double`s.
pub type Doubles = [__m128d; 8];

/// Four vectors of 128 bits that were stored a moment ago, as one. They are read one by one: a single wide load, which the
/// compiler would choose if it saw that no other thread may look, would have to wait until the stores have reached the
/// cache.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn joined(x: &[__m128i; 4]) -> __m512i {
    // SAFETY: the references are to live vectors.
    let [a, b, c, d] = x.each_ref().map(|part| unsafe { std::ptr::read_volatile(part) });
    let low = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
    _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(low, c), d)
}

/// Lanes that were stored a moment ago.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn floats(x: &Floats) -> __m512 {
    // SAFETY: vectors of floats and of integers are the same bits.
    _mm512_castsi512_ps(joined(unsafe { &*x.as_ptr().cast() }))
}

/// The same of `double`s.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn doubles(x: &Doubles) -> [__m512d; 2] {
    // SAFETY: as above, of both halves.
    let [low, high] = unsafe { [&*x.as_ptr().cast(), &*x.as_ptr().add(4).cast()] };
    [joined(low), joined(high)].map(|half| _mm512_castsi512_pd(half))
}

/// Keeps lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn keep_floats(x: __m512, to: &mut Floats) {
    // SAFETY: there is room for as many bytes.
    unsafe { _mm512_storeu_ps(to.as_mut_ptr().cast(), x) };
}

/// The same of `double`s.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn keep_doubles([a, b]: [__m512d; 2], to: &mut Doubles) {
    let to = to.as_mut_ptr().cast::<f64>();
    // SAFETY: there is room for as many bytes.
    unsafe {
        _mm512_storeu_pd(to, a);
        _mm512_storeu_pd(to.add(8), b);
    }
}

/// Methods whose vectors are one register, and those of two that do the same with each; `a`, `b` and `c` are arguments.
macro_rules! operations {
    ($($name:ident($($arg:ident: $from:ident),*) -> $to:ident = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(&mut self, $($arg: Self::$from),*) -> Self::$to {
            // SAFETY: the processor has AVX-512F, by `Avx512::new`.
            unsafe { $value }
        })*
    };
}

macro_rules! halves {
    ($($name:ident($($arg:ident: $from:ident),*) -> $to:ident = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(&mut self, $($arg: Self::$from),*) -> Self::$to {
            // SAFETY: as above.
            [0, 1].map(|i| unsafe { $(let $arg = $arg[i];)* $value })
        })*
    };
}

macro_rules! compared {
    ($($name:ident($a:ident, $b:ident: $from:ident) = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(&mut self, $a: Self::$from, $b: Self::$from) -> __mmask16 {
            // SAFETY: as above.
            let [low, high] = [0, 1].map(|i| unsafe { let ($a, $b) = ($a[i], $b[i]); $value });
            __mmask16::from(low) | __mmask16::from(high) << 8
        })*
    };
}

macro_rules! shifts {
    ($($name:ident($ty:ident) $op:ident;)*) => {
        $(#[inline(always)]
        fn $name(&mut self, a: Self::$ty, n: u32) -> Self::$ty {
            // SAFETY: as above.
            shifts!(@ $ty a unsafe { $op(a, _mm_cvtsi32_si128(n as i32)) })
        })*
    };
    (@ I $a:ident $value:expr) => { $value };
    (@ L $a:ident $value:expr) => { $a.map(|$a| $value) };
}

impl Lanes for Avx512 {
    type F = __m512;
    type I = __m512i;
    type D = [__m512d; 2];
    type L = [__m512i; 2];
    type M = __mmask16;

    #[inline(always)]
    fn f(&mut self, x: f32) -> __m512 {
        // SAFETY: the processor has AVX-512F, by `Avx512::new`.
        unsafe { _mm512_set1_ps(x) }
    }
    #[inline(always)]
    fn i(&mut self, n: i32) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_set1_epi32(n) }
    }
    #[inline(always)]
    fn d(&mut self, x: f64) -> [__m512d; 2] {
        // SAFETY: as above.
        [unsafe { _mm512_set1_pd(x) }; 2]
    }
    #[inline(always)]
    fn l(&mut self, n: i64) -> [__m512i; 2] {
        // SAFETY: as above.
        [unsafe { _mm512_set1_epi64(n) }; 2]
    }

    operations! {
        add(a: F, b: F) -> F = _mm512_add_ps(a, b);
        sub(a: F, b: F) -> F = _mm512_sub_ps(a, b);
        mul(a: F, b: F) -> F = _mm512_mul_ps(a, b);
        div(a: F, b: F) -> F = _mm512_div_ps(a, b);
        fma(a: F, b: F, c: F) -> F = _mm512_fmadd_ps(a, b, c);
        neg(a: F) -> F = _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32(i32::MIN)));
        abs(a: F) -> F = _mm512_abs_ps(a);
        sqrt(a: F) -> F = _mm512_sqrt_ps(a);
        rint(a: F) -> F = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        to_i(a: F) -> I = _mm512_cvttps_epi32(a);
        to_f(a: I) -> F = _mm512_cvtepi32_ps(a);
        bits(a: F) -> I = _mm512_castps_si512(a);
        of_bits(a: I) -> F = _mm512_castsi512_ps(a);
        iadd(a: I, b: I) -> I = _mm512_add_epi32(a, b);
        isub(a: I, b: I) -> I = _mm512_sub_epi32(a, b);
        iand(a: I, b: I) -> I = _mm512_and_si512(a, b);
        ixor(a: I, b: I) -> I = _mm512_xor_si512(a, b);
        lt(a: F, b: F) -> M = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        le(a: F, b: F) -> M = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        eq(a: F, b: F) -> M = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
        ilt(a: I, b: I) -> M = _mm512_cmplt_epi32_mask(a, b);
        select(m: M, a: F, b: F) -> F = _mm512_mask_blend_ps(m, b, a);
        iselect(m: M, a: I, b: I) -> I = _mm512_mask_blend_epi32(m, b, a);
        widen(a: F) -> D = {
            let high = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(a));
            [_mm512_cvtps_pd(_mm512_castps512_ps256(a)), _mm512_cvtps_pd(_mm256_castpd_ps(high))]
        };
        narrow(a: D) -> F = {
            let [low, high] = [_mm512_cvtpd_ps(a[0]), _mm512_cvtpd_ps(a[1])].map(|half| _mm256_castps_pd(half));
            _mm512_castpd_ps(_mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high))
        };
        min(a: F, b: F) -> F = _mm512_min_ps(a, b);
        max(a: F, b: F) -> F = _mm512_max_ps(a, b);
        scale(p: F, n: F) -> F = _mm512_scalef_ps(p, n);
    }
    halves! {
        dadd(a: D, b: D) -> D = _mm512_add_pd(a, b);
        dsub(a: D, b: D) -> D = _mm512_sub_pd(a, b);
        dmul(a: D, b: D) -> D = _mm512_mul_pd(a, b);
        ddiv(a: D, b: D) -> D = _mm512_div_pd(a, b);
        dfma(a: D, b: D, c: D) -> D = _mm512_fmadd_pd(a, b, c);
        dneg(a: D) -> D = _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(a), _mm512_set1_epi64(i64::MIN)));
        dabs(a: D) -> D = _mm512_abs_pd(a);
        dsqrt(a: D) -> D = _mm512_sqrt_pd(a);
        drint(a: D) -> D = _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        dbits(a: D) -> L = _mm512_castpd_si512(a);
        dof_bits(a: L) -> D = _mm512_castsi512_pd(a);
        ladd(a: L, b: L) -> L = _mm512_add_epi64(a, b);
        lsub(a: L, b: L) -> L = _mm512_sub_epi64(a, b);
        land(a: L, b: L) -> L = _mm512_and_si512(a, b);
        lxor(a: L, b: L) -> L = _mm512_xor_si512(a, b);
        dmin(a: D, b: D) -> D = _mm512_min_pd(a, b);
        dmax(a: D, b: D) -> D = _mm512_max_pd(a, b);
        dscale(p: D, n: D) -> D = _mm512_scalef_pd(p, n);
    }
    compared! {
        dlt(a, b: D) = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
        dle(a, b: D) = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
        deq(a, b: D) = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b);
        llt(a, b: L) = _mm512_cmplt_epi64_mask(a, b);
    }
    shifts! {
        ishl(I) _mm512_sll_epi32;
        ishr(I) _mm512_sra_epi32;
        lshl(L) _mm512_sll_epi64;
        lshr(L) _mm512_sra_epi64;
    }

    #[inline(always)]
    fn and(&mut self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }
    #[inline(always)]
    fn or(&mut self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a | b
    }
    #[inline(always)]
    fn not(&mut self, a: __mmask16) -> __mmask16 {
        !a
    }
    #[inline(always)]
    fn dselect(&mut self, m: __mmask16, a: [__m512d; 2], b: [__m512d; 2]) -> [__m512d; 2] {
        // SAFETY: as above.
        [0, 1].map(|i| unsafe { _mm512_mask_blend_pd((m >> (8 * i)) as u8, b[i], a[i]) })
    }
    #[inline(always)]
    fn lselect(&mut self, m: __mmask16, a: [__m512i; 2], b: [__m512i; 2]) -> [__m512i; 2] {
        // SAFETY: as above.
        [0, 1].map(|i| unsafe { _mm512_mask_blend_epi64((m >> (8 * i)) as u8, b[i], a[i]) })
    }

    #[inline(always)]
    fn rare(&mut self, mask: __mmask16, rare: Rare, args: &[__m512], fast: __m512) -> __m512 {
        if mask == 0 {
            return fast;
        }
        // SAFETY: both are sixteen floats.
        let [x, mut all] = [args[0], fast].map(|x| unsafe { std::mem::transmute::<__m512, [f32; 16]>(x) });
        seldom(mask, |x| rare.float(&[x]), &x, &mut all);
        // SAFETY: as above.
        unsafe { std::mem::transmute::<[f32; 16], __m512>(all) }
    }
    #[inline(always)]
    fn drare(&mut self, mask: __mmask16, rare: Rare, args: &[[__m512d; 2]], fast: [__m512d; 2]) -> [__m512d; 2] {
        if mask == 0 {
            return fast;
        }
        // SAFETY: both are sixteen doubles.
        let [x, mut all] = [args[0], fast].map(|x| unsafe { std::mem::transmute::<[__m512d; 2], [f64; 16]>(x) });
        seldom(mask, |x| rare.double(&[x]), &x, &mut all);
        // SAFETY: as above.
        unsafe { std::mem::transmute::<[f64; 16], [__m512d; 2]>(all) }
    }

    /// The exponent and the mantissa, by the instructions for them.
    #[inline(always)]
    fn split(&mut self, x: __m512) -> (__m512, __m512) {
        // SAFETY: as above.
        unsafe {
            let m = _mm512_getmant_ps::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(x);
            (_mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(m)), m)
        }
    }
}

/// Calls a function for the lanes of a mask.
#[cold]
#[inline(never)]
fn seldom<T: Copy>(mask: u16, f: impl Fn(T) -> T, x: &[T; 16], all: &mut [T; 16]) {
    for l in (0..16).filter(|l| mask >> l & 1 != 0) {
        all[l] = f(x[l]);
    }
}
