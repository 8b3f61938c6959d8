//! The straight-line code of each math function, and its entry points for one number and for sixteen.

#[cfg(target_arch = "x86_64")]
use super::avx512::{self, Avx512, Doubles, Floats};
use super::{Lanes, Rare, Scalar, double, erf, exp, hyperbolic, inverse, log, power, root, trig};
use crate::ir::{MathFn, math_fns};

/// A call of a row's code on the values of a slice, if there is code.
macro_rules! call {
    ($b:ident $values:ident ($($arg:ident),+) [[$code:path]]) => {
        match $values {
            &[$($arg),+] => Some($code($b, $($arg),+)),
            _ => None,
        }
    };
    ($b:ident $values:ident $args:tt $none:tt) => {
        None
    };
}

/// The address of a row's code for a number, if there is code, with C's calling convention.
macro_rules! entry {
    ($ty:ident ($($arg:ident),+) [[$code:path]]) => {{
        extern "C" fn plain($($arg: $ty),+) -> $ty {
            $code(&mut Scalar, $($arg),+)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "fma")]
        extern "C" fn fused($($arg: $ty),+) -> $ty {
            $code(&mut Scalar, $($arg),+)
        }

        // Both compute the same: the exact product and sum, rounded once.
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("fma") {
            return Some(fused as *const () as usize);
        }
        Some(plain as *const () as usize)
    }};
    ($ty:ident $args:tt $none:tt) => {
        None
    };
}

/// The address of a row's code for sixteen numbers, if there is code.
#[cfg(target_arch = "x86_64")]
macro_rules! wide_entry {
    ($all:ident $read:ident $keep:ident ($($arg:ident),+) [[$code:path]]) => {{
        #[target_feature(enable = "avx512f")]
        extern "C" fn sixteen($($arg: &$all,)+ out: &mut $all) {
            $(let $arg = avx512::$read($arg);)+
            // SAFETY: this function is compiled for the same instructions.
            let lanes = &mut unsafe { Avx512::new() };
            avx512::$keep($code(lanes, $($arg),+), out);
        }
        Some(sixteen as *const () as usize)
    }};
    ($all:ident $read:ident $keep:ident $args:tt $none:tt) => {
        None
    };
}

/// The functions of a type, by rows of a name, arguments and, where there is code, `[[code]]`.
macro_rules! functions {
    ($table:ident $address:ident $ty:ident $lanes:ident, $sixteen:ident $all:ident $read:ident $keep:ident; $($variant:ident $args:tt $code:tt;)*) => {
        /// A function of numbers of this type; `None` where there is no code of this kind for it.
        pub fn $table<B: Lanes>(b: &mut B, math: MathFn, values: &[B::$lanes]) -> Option<B::$lanes> {
            match math {
                $(MathFn::$variant => call!(b values $args $code),)*
            }
        }

        /// The address of the scalar form of a function, with C's calling convention.
        pub fn $address(math: MathFn) -> Option<usize> {
            match math {
                $(MathFn::$variant => entry!($ty $args $code),)*
            }
        }

        /// The address of the form for sixteen numbers, which come and go by address; `None` where this processor has no such
        /// vectors.
        #[cfg(target_arch = "x86_64")]
        pub fn $sixteen(math: MathFn) -> Option<usize> {
            if !std::arch::is_x86_feature_detected!("avx512f") {
                return None;
            }
            match math {
                $(MathFn::$variant => wide_entry!($all $read $keep $args $code),)*
            }
        }

        /// Vectors of 512 bits alone are wide enough for a call to be worth it.
        #[cfg(not(target_arch = "x86_64"))]
        pub fn $sixteen(_math: MathFn) -> Option<usize> {
            None
        }
    };
}

macro_rules! both_types {
    ($($variant:ident $args:tt $whose:ident $name:literal ulp $ulp:tt $how:ident $scalar:tt
        $(lanes $floats:tt $doubles:tt)? $doc:literal;)*) => {
        functions! {
            float float_address f32 F, sixteen_floats Floats floats keep_floats;
            $($variant $args [$($floats)?];)*
        }
        functions! {
            double double_address f64 D, sixteen_doubles Doubles doubles keep_doubles;
            $($variant $args [$($doubles)?];)*
        }
    };
}

math_fns!(both_types);

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

        /// The address of the scalar function for the rare arguments.
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
