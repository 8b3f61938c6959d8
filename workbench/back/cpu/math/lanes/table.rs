//! Which math function is which straight-line code, and entry points of each, for a number and for sixteen.

#[cfg(target_arch = "x86_64")]
use super::avx512::{self, Avx512, Doubles, Floats};
use super::{Lanes, Rare, Scalar, double, erf, exp, hyperbolic, inverse, log, power, root, trig};
use crate::ir::MathFn;

/// The functions of a type: name, name of the entry point that has fused multiply-add as an instruction, code, arguments.
macro_rules! functions {
    ($table:ident $address:ident $ty:ident $lanes:ident, $sixteen:ident $all:ident $read:ident $keep:ident; $($variant:ident $name:ident $fused:ident $code:path, $($arg:ident)+;)*) => {
        /// A function of numbers of this type; `None` where there is no code of this kind for it.
        pub fn $table<B: Lanes>(b: &mut B, math: MathFn, args: &[B::$lanes]) -> Option<B::$lanes> {
            match (math, args) {
                $((MathFn::$variant, &[$($arg),+]) => Some($code(b, $($arg),+)),)*
                _ => None,
            }
        }

        $(
            extern "C" fn $name($($arg: $ty),+) -> $ty {
                $code(&mut Scalar, $($arg),+)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "fma")]
            extern "C" fn $fused($($arg: $ty),+) -> $ty {
                $code(&mut Scalar, $($arg),+)
            }
        )*

        /// The address of the scalar form of a function, with C's calling convention.
        pub fn $address(math: MathFn) -> Option<usize> {
            // Both compute the same: the exact product and sum, rounded once.
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("fma") {
                return match math {
                    $(MathFn::$variant => Some($fused as *const () as usize),)*
                    _ => None,
                };
            }
            match math {
                $(MathFn::$variant => Some($name as *const () as usize),)*
                _ => None,
            }
        }

        /// The address of the form for sixteen numbers, which come and go by address; none where this processor has no such vectors.
        #[cfg(target_arch = "x86_64")]
        pub fn $sixteen(math: MathFn) -> Option<usize> {
            if !std::arch::is_x86_feature_detected!("avx512f") {
                return None;
            }
            match math {
                $(MathFn::$variant => {
                    #[target_feature(enable = "avx512f")]
                    extern "C" fn sixteen($($arg: &$all,)+ out: &mut $all) {
                        $(let $arg = avx512::$read($arg);)+
                        // SAFETY: so this function is compiled.
                        let lanes = &mut unsafe { Avx512::new() };
                        avx512::$keep($code(lanes, $($arg),+), out);
                    }
                    Some(sixteen as *const () as usize)
                })*
                _ => None,
            }
        }

        /// Only of 512 bits are vectors wide enough for a call to be worth it.
        #[cfg(not(target_arch = "x86_64"))]
        pub fn $sixteen(_math: MathFn) -> Option<usize> {
            None
        }
    };
}

functions! {
    float float_address f32 F, sixteen_floats Floats floats keep_floats;
    Acos acos acos_fused inverse::acos, x;
    Acosh acosh acosh_fused hyperbolic::acosh, x;
    Asin asin asin_fused inverse::asin, x;
    Asinh asinh asinh_fused hyperbolic::asinh, x;
    Atan atan atan_fused inverse::atan, x;
    Atan2 atan2 atan2_fused inverse::atan2, y x;
    Atanh atanh atanh_fused hyperbolic::atanh, x;
    Cbrt cbrt cbrt_fused root::cbrt, x;
    Cos cos cos_fused trig::cos, x;
    Cosh cosh cosh_fused hyperbolic::cosh, x;
    Erf erf erf_fused erf::erf, x;
    Erfc erfc erfc_fused erf::erfc, x;
    Exp exp exp_fused exp::exp, x;
    Exp10 exp10 exp10_fused exp::exp10, x;
    Exp2 exp2 exp2_fused exp::exp2, x;
    Expm1 expm1 expm1_fused exp::expm1, x;
    Hypot hypot hypot_fused root::hypot, x y;
    Log log log_fused log::log, x;
    Log10 log10 log10_fused log::log10, x;
    Log1p log1p log1p_fused log::log1p, x;
    Log2 log2 log2_fused log::log2, x;
    Normcdf normcdf normcdf_fused erf::normcdf, x;
    Pow pow pow_fused power::pow, x y;
    Rhypot rhypot rhypot_fused root::rhypot, x y;
    Sin sin sin_fused trig::sin, x;
    Sinh sinh sinh_fused hyperbolic::sinh, x;
    Sinpi sinpi sinpi_fused trig::sinpi, x;
    Tan tan tan_fused trig::tan, x;
    Tanh tanh tanh_fused hyperbolic::tanh, x;
}

functions! {
    double double_address f64 D, sixteen_doubles Doubles doubles keep_doubles;
    Cos dcos dcos_fused double::trig::cos, x;
    Erf derf derf_fused double::erf::erf, x;
    Exp dexp dexp_fused double::exp::exp, x;
    Exp2 dexp2 dexp2_fused double::exp::exp2, x;
    Log dlog dlog_fused double::log::log, x;
    Log2 dlog2 dlog2_fused double::log::log2, x;
    Pow dpow dpow_fused double::power::pow, x y;
    Rsqrt drsqrt drsqrt_fused double::root::rsqrt, x;
    Sin dsin dsin_fused double::trig::sin, x;
    Tanh dtanh dtanh_fused double::exp::tanh, x;
}

macro_rules! rares {
    ($($variant:ident $float:ident $double:ident;)*) => {
        $(
            extern "C" fn $float(x: f32) -> f32 {
                Rare::$variant.float(&[x])
            }

            extern "C" fn $double(x: f64) -> f64 {
                Rare::$variant.double(&[x])
            }
        )*

        /// The address of what stands in for few arguments.
        pub fn rare_float(rare: Rare) -> usize {
            match rare {
                $(Rare::$variant => $float as *const () as usize,)*
            }
        }

        /// The same of `double`s.
        pub fn rare_double(rare: Rare) -> usize {
            match rare {
                $(Rare::$variant => $double as *const () as usize,)*
            }
        }
    };
}

rares! {
    Sin rare_sin_f32 rare_sin_f64;
    Cos rare_cos_f32 rare_cos_f64;
    Tan rare_tan_f32 rare_tan_f64;
}
