//! Addresses of the functions that generated code calls: helpers of the run time, and one table of math functions.
//!
//! What an instruction does (rounding, square root, `fma`, minimum) is lowered in place and only listed here for completeness.
//! The rest is the C library's, `libm`'s, or of [`math`](crate::back::cpu::math); `float` forms that have no `float` original round the
//! `double` one.

use std::sync::OnceLock;

use super::thunk;
use crate::back::cpu::math::directed::{self, Toward};
use crate::back::cpu::math::rounded::{
    ceil_f32, ceil_f64, floor_f32, floor_f64, fma_f32, fma_f64, rint_f32, rint_f64, trunc_f32, trunc_f64,
};
use crate::back::cpu::math::{bessel, lanes, logarithm, norm, reciprocal, special};
use crate::back::cpu::run::{block_sync, faults, fibers, lookup, memory, output, services, tick};
use crate::ir::MathFn;

/// The address of every function, by its number.
///
/// # Errors
/// A sentence, on a machine Cranelift makes no code for, or where there is no executable memory; the next call tries again.
pub fn addresses() -> Result<&'static [usize], String> {
    static ADDRESSES: OnceLock<Vec<usize>> = OnceLock::new();
    if let Some(known) = ADDRESSES.get() {
        return Ok(known);
    }
    let made = || -> Result<Vec<usize>, String> {
        let mut all = vec![
            faults::fault as *const () as usize,
            thunk::tick()?,
            lookup::lookup as *const () as usize,
            output::printf as *const () as usize,
            memory::fill as *const () as usize,
            block_sync::mask as *const () as usize,
            block_sync::barrier as *const () as usize,
            block_sync::collect as *const () as usize,
            services::service as *const () as usize,
            services::launch as *const () as usize,
            services::relocate as *const () as usize,
            services::function as *const () as usize,
            memory::slots as *const () as usize,
            services::catch as *const () as usize,
            fibers::meet as *const () as usize,
            fibers::give_way as *const () as usize,
            tick::tick as *const () as usize,
        ];
        for math in MathFn::ALL {
            let (float, double) = math_addresses(*math);
            // What has straight-line code computes the same bits in every tier.
            let float = lanes::float_address(*math).unwrap_or(float);
            let double = lanes::double_address(*math).unwrap_or(double);
            all.extend([float, double]);
        }
        Ok(all)
    };
    // Made outside the lock: a process may fork meanwhile.
    let made = made()?;
    Ok(ADDRESSES.get_or_init(|| made))
}

/// Functions with C's calling convention: name of the `float` form, name of the `double` form, parameters, bodies.
macro_rules! forms {
    ($($float:ident $double:ident ($($arg:ident),*) $f32:expr, $f64:expr;)*) => {$(
        extern "C" fn $float($($arg: f32),*) -> f32 { $f32 }
        extern "C" fn $double($($arg: f64),*) -> f64 { $f64 }
    )*};
}

/// As [`forms`], where the `float` form rounds the `double` one.
macro_rules! rounded {
    ($($float:ident $double:ident ($($arg:ident),*) $f64:expr;)*) => {$(
        extern "C" fn $float($($arg: f32),*) -> f32 { $double($(f64::from($arg)),*) as f32 }
        extern "C" fn $double($($arg: f64),*) -> f64 { $f64 }
    )*};
}

forms! {
    acos_f32 acos_f64 (x) x.acos(), x.acos();
    asin_f32 asin_f64 (x) x.asin(), x.asin();
    atan_f32 atan_f64 (x) x.atan(), x.atan();
    atan2_f32 atan2_f64 (y, x) y.atan2(x), y.atan2(x);
    cbrt_f32 cbrt_f64 (x) libm::cbrtf(x), libm::cbrt(x);
    copysign_f32 copysign_f64 (x, s) x.copysign(s), x.copysign(s);
    cos_f32 cos_f64 (x) x.cos(), x.cos();
    cosh_f32 cosh_f64 (x) x.cosh(), x.cosh();
    exp_f32 exp_f64 (x) x.exp(), x.exp();
    exp2_f32 exp2_f64 (x) x.exp2(), x.exp2();
    expm1_f32 expm1_f64 (x) x.exp_m1(), x.exp_m1();
    fabs_f32 fabs_f64 (x) x.abs(), x.abs();
    fdim_f32 fdim_f64 (x, y) libm::fdimf(x, y), libm::fdim(x, y);
    fmax_f32 fmax_f64 (x, y) x.max(y), x.max(y);
    fmin_f32 fmin_f64 (x, y) x.min(y), x.min(y);
    fmod_f32 fmod_f64 (x, y) x % y, x % y;
    hypot_f32 hypot_f64 (x, y) x.hypot(y), x.hypot(y);
    log_f32 log_f64 (x) x.ln(), x.ln();
    log10_f32 log10_f64 (x) x.log10(), logarithm::base_10(x);
    log1p_f32 log1p_f64 (x) x.ln_1p(), x.ln_1p();
    log2_f32 log2_f64 (x) x.log2(), x.log2();
    nextafter_f32 nextafter_f64 (x, y) libm::nextafterf(x, y), libm::nextafter(x, y);
    pow_f32 pow_f64 (x, y) x.powf(y), x.powf(y);
    remainder_f32 remainder_f64 (x, y) libm::remainderf(x, y), libm::remainder(x, y);
    round_f32 round_f64 (x) x.round(), x.round();
    rsqrt_f32 rsqrt_f64 (x) reciprocal::rsqrt(x), special::rsqrt(x);
    sin_f32 sin_f64 (x) x.sin(), x.sin();
    sinh_f32 sinh_f64 (x) x.sinh(), x.sinh();
    sqrt_f32 sqrt_f64 (x) x.sqrt(), x.sqrt();
    tan_f32 tan_f64 (x) x.tan(), x.tan();
    tanh_f32 tanh_f64 (x) x.tanh(), special::tanh(x);
}

rounded! {
    acosh_f32 acosh_f64 (x) special::acosh(x);
    asinh_f32 asinh_f64 (x) libm::asinh(x);
    atanh_f32 atanh_f64 (x) libm::atanh(x);
    cyl_bessel_i0_f32 cyl_bessel_i0_f64 (x) bessel::i0(x);
    cyl_bessel_i1_f32 cyl_bessel_i1_f64 (x) bessel::i1(x);
    cospi_f32 cospi_f64 (x) special::cospi(x);
    erf_f32 erf_f64 (x) libm::erf(x);
    erfc_f32 erfc_f64 (x) libm::erfc(x);
    erfcinv_f32 erfcinv_f64 (x) special::erfcinv(x);
    erfcx_f32 erfcx_f64 (x) special::erfcx(x);
    erfinv_f32 erfinv_f64 (x) special::erfinv(x);
    exp10_f32 exp10_f64 (x) 10f64.powf(x);
    frexp_exp_f32 frexp_exp_f64 (x) special::frexp(x).1;
    frexp_mant_f32 frexp_mant_f64 (x) special::frexp(x).0;
    j0_f32 j0_f64 (x) bessel::j0(x);
    j1_f32 j1_f64 (x) bessel::j1(x);
    jn_f32 jn_f64 (n, x) bessel::jn(n as i32, x);
    ldexp_f32 ldexp_f64 (x, n) libm::ldexp(x, n as i32);
    lgamma_f32 lgamma_f64 (x) libm::lgamma(x);
    logb_f32 logb_f64 (x) special::logb(x);
    normcdf_f32 normcdf_f64 (x) special::normcdf(x);
    normcdfinv_f32 normcdfinv_f64 (x) special::normcdfinv(x);
    norm3d_f32 norm3d_f64 (x, y, z) norm::norm(&[x, y, z]);
    norm4d_f32 norm4d_f64 (x, y, z, w) norm::norm(&[x, y, z, w]);
    rnorm3d_f32 rnorm3d_f64 (x, y, z) norm::reciprocal(&[x, y, z]);
    rnorm4d_f32 rnorm4d_f64 (x, y, z, w) norm::reciprocal(&[x, y, z, w]);
    remquo_quotient_f32 remquo_quotient_f64 (x, y) special::remquo_quotient(x, y);
    rcbrt_f32 rcbrt_f64 (x) special::rcbrt(x);
    rhypot_f32 rhypot_f64 (x, y) special::rhypot(x, y);
    sinpi_f32 sinpi_f64 (x) special::sinpi(x);
    tgamma_f32 tgamma_f64 (x) libm::tgamma(x);
    y0_f32 y0_f64 (x) bessel::y0(x);
    y1_f32 y1_f64 (x) bessel::y1(x);
    yn_f32 yn_f64 (n, x) bessel::yn(n as i32, x);
}

/// The three directed roundings of an operation: names of the `float` and `double` forms.
macro_rules! directed {
    ($($float:ident $double:ident $rounding:ident ($($arg:ident),*) $f32:ident $f64:ident;)*) => {$(
        extern "C" fn $float($($arg: f32),*) -> f32 { directed::$f32($($arg,)* Toward::$rounding) }
        extern "C" fn $double($($arg: f64),*) -> f64 { directed::$f64($($arg,)* Toward::$rounding) }
    )*};
}

directed! {
    add_rd_f32 add_rd_f64 Down (x, y) add_f32 add;
    add_ru_f32 add_ru_f64 Up (x, y) add_f32 add;
    add_rz_f32 add_rz_f64 Zero (x, y) add_f32 add;
    div_rd_f32 div_rd_f64 Down (x, y) div_f32 div;
    div_ru_f32 div_ru_f64 Up (x, y) div_f32 div;
    div_rz_f32 div_rz_f64 Zero (x, y) div_f32 div;
    fma_rd_f32 fma_rd_f64 Down (x, y, z) fma_f32 fma;
    fma_ru_f32 fma_ru_f64 Up (x, y, z) fma_f32 fma;
    fma_rz_f32 fma_rz_f64 Zero (x, y, z) fma_f32 fma;
    mul_rd_f32 mul_rd_f64 Down (x, y) mul_f32 mul;
    mul_ru_f32 mul_ru_f64 Up (x, y) mul_f32 mul;
    mul_rz_f32 mul_rz_f64 Zero (x, y) mul_f32 mul;
    sqrt_rd_f32 sqrt_rd_f64 Down (x) sqrt_f32 sqrt;
    sqrt_ru_f32 sqrt_ru_f64 Up (x) sqrt_f32 sqrt;
    sqrt_rz_f32 sqrt_rz_f64 Zero (x) sqrt_f32 sqrt;
}

macro_rules! table {
    ($math:expr; $($variant:ident $float:ident $double:ident)*) => {
        match $math { $(MathFn::$variant => ($float as *const () as usize, $double as *const () as usize),)* }
    };
}

fn math_addresses(math: MathFn) -> (usize, usize) {
    table! { math;
        Acos acos_f32 acos_f64
        Acosh acosh_f32 acosh_f64
        AddRd add_rd_f32 add_rd_f64
        AddRu add_ru_f32 add_ru_f64
        AddRz add_rz_f32 add_rz_f64
        Asin asin_f32 asin_f64
        Asinh asinh_f32 asinh_f64
        Atan atan_f32 atan_f64
        Atan2 atan2_f32 atan2_f64
        Atanh atanh_f32 atanh_f64
        Cbrt cbrt_f32 cbrt_f64
        Ceil ceil_f32 ceil_f64
        Copysign copysign_f32 copysign_f64
        Cos cos_f32 cos_f64
        Cosh cosh_f32 cosh_f64
        Cospi cospi_f32 cospi_f64
        CylBesselI0 cyl_bessel_i0_f32 cyl_bessel_i0_f64
        CylBesselI1 cyl_bessel_i1_f32 cyl_bessel_i1_f64
        DivRd div_rd_f32 div_rd_f64
        DivRu div_ru_f32 div_ru_f64
        DivRz div_rz_f32 div_rz_f64
        Erf erf_f32 erf_f64
        Erfc erfc_f32 erfc_f64
        Erfcinv erfcinv_f32 erfcinv_f64
        Erfcx erfcx_f32 erfcx_f64
        Erfinv erfinv_f32 erfinv_f64
        Exp exp_f32 exp_f64
        Exp10 exp10_f32 exp10_f64
        Exp2 exp2_f32 exp2_f64
        Expm1 expm1_f32 expm1_f64
        Fabs fabs_f32 fabs_f64
        Fdim fdim_f32 fdim_f64
        Floor floor_f32 floor_f64
        Fma fma_f32 fma_f64
        FmaRd fma_rd_f32 fma_rd_f64
        FmaRu fma_ru_f32 fma_ru_f64
        FmaRz fma_rz_f32 fma_rz_f64
        Fmax fmax_f32 fmax_f64
        Fmin fmin_f32 fmin_f64
        Fmod fmod_f32 fmod_f64
        FrexpExp frexp_exp_f32 frexp_exp_f64
        FrexpMant frexp_mant_f32 frexp_mant_f64
        Hypot hypot_f32 hypot_f64
        J0 j0_f32 j0_f64
        J1 j1_f32 j1_f64
        Jn jn_f32 jn_f64
        Ldexp ldexp_f32 ldexp_f64
        Lgamma lgamma_f32 lgamma_f64
        Log log_f32 log_f64
        Log10 log10_f32 log10_f64
        Log1p log1p_f32 log1p_f64
        Log2 log2_f32 log2_f64
        Logb logb_f32 logb_f64
        MulRd mul_rd_f32 mul_rd_f64
        MulRu mul_ru_f32 mul_ru_f64
        MulRz mul_rz_f32 mul_rz_f64
        Nextafter nextafter_f32 nextafter_f64
        Norm3d norm3d_f32 norm3d_f64
        Norm4d norm4d_f32 norm4d_f64
        Normcdf normcdf_f32 normcdf_f64
        Normcdfinv normcdfinv_f32 normcdfinv_f64
        Pow pow_f32 pow_f64
        Rcbrt rcbrt_f32 rcbrt_f64
        Remainder remainder_f32 remainder_f64
        RemquoQuotient remquo_quotient_f32 remquo_quotient_f64
        Rhypot rhypot_f32 rhypot_f64
        Rint rint_f32 rint_f64
        Rnorm3d rnorm3d_f32 rnorm3d_f64
        Rnorm4d rnorm4d_f32 rnorm4d_f64
        Round round_f32 round_f64
        Rsqrt rsqrt_f32 rsqrt_f64
        Sin sin_f32 sin_f64
        Sinh sinh_f32 sinh_f64
        Sinpi sinpi_f32 sinpi_f64
        Sqrt sqrt_f32 sqrt_f64
        SqrtRd sqrt_rd_f32 sqrt_rd_f64
        SqrtRu sqrt_ru_f32 sqrt_ru_f64
        SqrtRz sqrt_rz_f32 sqrt_rz_f64
        Tan tan_f32 tan_f64
        Tanh tanh_f32 tanh_f64
        Tgamma tgamma_f32 tgamma_f64
        Trunc trunc_f32 trunc_f64
        Y0 y0_f32 y0_f64
        Y1 y1_f32 y1_f64
        Yn yn_f32 yn_f64
    }
}
