//! The math functions: one row each, which the front end, the back ends, the printer and the tests read alike.

/// The table, given to the macro `$read`. A row is
///
/// ```text
/// Variant(arguments) whose "name" ulp(double, float) how(code) lanes[floats][doubles] "What it computes.";
/// ```
///
/// - `cuda`: the front end finds it by its name, with the signature "floats of one type". `own`: the tables of `front/builtins` name it, or
///   the IR alone has it.
/// - `ulp`: the largest distances from the correctly rounded results that the CUDA C++ Programming Guide allows ("Mathematical Functions").
/// - How it is computed, for one number: `both`, the code of either type; `each`, the code of `float`s and that of `double`s; `rounded`, code
///   of `double`s, which the `float` form rounds; `directed`, a rounding and the functions of `math::directed`; `at`, functions that have C's
///   calling convention. Names are those of `back/cpu/make/addresses.rs`.
/// - `lanes`, if there is straight-line code for it, of `float`s, of `double`s: every tier computes the function by that code, with the same
///   bits. Names are those of `back/cpu/math/lanes/functions.rs`.
macro_rules! math_fns {
    ($read:ident) => {
        $read! {
            Acos(x) cuda "acos" ulp(2, 2) both(x.acos()) lanes[inverse::acos][] "Arc cosine in radians.";
            Acosh(x) cuda "acosh" ulp(3, 4) rounded(special::acosh(x)) lanes[hyperbolic::acosh][] "Inverse hyperbolic cosine.";
            AddRd(x, y) own "add.rd" ulp(0, 0) directed(Down, add_f32, add) "Sum, rounded down.";
            AddRn(x, y) own "add.rn" ulp(0, 0) both(x + y) "Sum, rounded to nearest, never contracted.";
            AddRu(x, y) own "add.ru" ulp(0, 0) directed(Up, add_f32, add) "Sum, rounded up.";
            AddRz(x, y) own "add.rz" ulp(0, 0) directed(Zero, add_f32, add) "Sum, rounded towards zero.";
            Asin(x) cuda "asin" ulp(2, 2) both(x.asin()) lanes[inverse::asin][] "Arc sine in radians.";
            Asinh(x) cuda "asinh" ulp(3, 3) rounded(libm::asinh(x)) lanes[hyperbolic::asinh][] "Inverse hyperbolic sine.";
            Atan(x) cuda "atan" ulp(2, 2) both(x.atan()) lanes[inverse::atan][] "Arc tangent in radians.";
            Atan2(y, x) cuda "atan2" ulp(2, 3) both(y.atan2(x)) lanes[inverse::atan2][] "Arc tangent of y/x by quadrant.";
            Atanh(x) cuda "atanh" ulp(2, 3) rounded(libm::atanh(x)) lanes[hyperbolic::atanh][] "Inverse hyperbolic tangent.";
            Cbrt(x) cuda "cbrt" ulp(1, 1) each(libm::cbrtf(x), libm::cbrt(x)) lanes[root::cbrt][] "Cube root.";
            Ceil(x) cuda "ceil" ulp(0, 0) at(ceil_f32, ceil_f64) "Smallest integer not below.";
            Copysign(x, s) cuda "copysign" ulp(0, 0) both(x.copysign(s)) "First's magnitude with second's sign.";
            Cos(x) cuda "cos" ulp(2, 2) both(x.cos()) lanes[trig::cos][double::trig::cos] "Cosine of radians.";
            Cosh(x) cuda "cosh" ulp(1, 2) both(x.cosh()) lanes[hyperbolic::cosh][] "Hyperbolic cosine.";
            Cospi(x) cuda "cospi" ulp(2, 1) rounded(special::cospi(x)) "Cosine of pi times the argument.";
            CylBesselI0(x) cuda "cyl_bessel_i0" ulp(6, 6) rounded(bessel::i0(x)) "Modified Bessel function of the first kind, order 0.";
            CylBesselI1(x) cuda "cyl_bessel_i1" ulp(6, 6) rounded(bessel::i1(x)) "Modified Bessel function of the first kind, order 1.";
            DivRd(x, y) own "div.rd" ulp(0, 0) directed(Down, div_f32, div) "Quotient, rounded down.";
            DivRu(x, y) own "div.ru" ulp(0, 0) directed(Up, div_f32, div) "Quotient, rounded up.";
            DivRz(x, y) own "div.rz" ulp(0, 0) directed(Zero, div_f32, div) "Quotient, rounded towards zero.";
            Erf(x) cuda "erf" ulp(2, 2) rounded(libm::erf(x)) lanes[erf::erf][double::erf::erf] "Error function.";
            Erfc(x) cuda "erfc" ulp(5, 4) rounded(libm::erfc(x)) lanes[erf::erfc][] "Complementary error function.";
            Erfcinv(x) cuda "erfcinv" ulp(6, 4) rounded(special::erfcinv(x)) "Inverse complementary error function.";
            Erfcx(x) cuda "erfcx" ulp(4, 4) rounded(special::erfcx(x)) "Scaled complementary error function.";
            Erfinv(x) cuda "erfinv" ulp(5, 2) rounded(special::erfinv(x)) "Inverse error function.";
            Exp(x) cuda "exp" ulp(1, 1) both(x.exp()) lanes[exp::exp][double::exp::exp] "e to the power.";
            Exp10(x) cuda "exp10" ulp(1, 1) rounded(10f64.powf(x)) lanes[exp::exp10][] "10 to the power.";
            Exp2(x) cuda "exp2" ulp(1, 2) both(x.exp2()) lanes[exp::exp2][double::exp::exp2] "2 to the power.";
            Expm1(x) cuda "expm1" ulp(1, 1) both(x.exp_m1()) lanes[exp::expm1][] "e to the power, minus 1.";
            Fabs(x) cuda "fabs" ulp(0, 0) both(x.abs()) "Absolute value.";
            Fdim(x, y) cuda "fdim" ulp(0, 0) each(libm::fdimf(x, y), libm::fdim(x, y)) "Positive difference.";
            Floor(x) cuda "floor" ulp(0, 0) at(floor_f32, floor_f64) "Largest integer not above.";
            Fma(x, y, z) cuda "fma" ulp(0, 0) at(fma_f32, fma_f64) "a*b+c with one rounding.";
            FmaRd(x, y, z) own "fma.rd" ulp(0, 0) directed(Down, fma_f32, fma) "a*b+c, rounded down.";
            FmaRu(x, y, z) own "fma.ru" ulp(0, 0) directed(Up, fma_f32, fma) "a*b+c, rounded up.";
            FmaRz(x, y, z) own "fma.rz" ulp(0, 0) directed(Zero, fma_f32, fma) "a*b+c, rounded towards zero.";
            Fmax(x, y) cuda "fmax" ulp(0, 0) both(x.max(y)) "The larger; a NaN loses to a number.";
            Fmin(x, y) cuda "fmin" ulp(0, 0) both(x.min(y)) "The smaller; a NaN loses to a number.";
            Fmod(x, y) cuda "fmod" ulp(0, 0) both(x % y) "Remainder of truncated division.";
            FrexpExp(x) own "frexp_exp" ulp(0, 0) rounded(special::frexp(x).1) "frexp's exponent, as a float; 0 for zero, infinity and NaN.";
            FrexpMant(x) own "frexp_mant" ulp(0, 0) rounded(special::frexp(x).0) "frexp's mantissa, in [0.5, 1).";
            Hypot(x, y) cuda "hypot" ulp(2, 3) both(x.hypot(y)) lanes[root::hypot][] "Length of the hypotenuse without overflow.";
            J0(x) cuda "j0" ulp(7, 9) rounded(bessel::j0(x)) "Bessel function of the first kind, order 0.";
            J1(x) cuda "j1" ulp(7, 9) rounded(bessel::j1(x)) "Bessel function of the first kind, order 1.";
            Jn(n, x) own "jn" ulp(7, 9) rounded(bessel::jn(n as i32, x)) "Bessel function of the first kind; the first argument is the order as a float.";
            Ldexp(x, n) own "ldexp" ulp(0, 0) rounded(libm::ldexp(x, n as i32)) "First times 2 to the second; the second is an integer as a float, saturated.";
            Lgamma(x) cuda "lgamma" ulp(4, 6) rounded(libm::lgamma(x)) "Logarithm of the absolute value of gamma.";
            Log(x) cuda "log" ulp(1, 1) both(x.ln()) lanes[log::log][double::log::log] "Natural logarithm.";
            Log10(x) cuda "log10" ulp(1, 2) each(x.log10(), logarithm::base_10(x)) lanes[log::log10][] "Logarithm to base 10.";
            Log1p(x) cuda "log1p" ulp(1, 1) both(x.ln_1p()) lanes[log::log1p][] "Natural logarithm of 1 plus the argument.";
            Log2(x) cuda "log2" ulp(1, 1) both(x.log2()) lanes[log::log2][double::log::log2] "Logarithm to base 2.";
            Logb(x) cuda "logb" ulp(0, 0) rounded(special::logb(x)) "Exponent as a float.";
            MulRd(x, y) own "mul.rd" ulp(0, 0) directed(Down, mul_f32, mul) "Product, rounded down.";
            MulRn(x, y) own "mul.rn" ulp(0, 0) both(x * y) "Product, rounded to nearest, never contracted.";
            MulRu(x, y) own "mul.ru" ulp(0, 0) directed(Up, mul_f32, mul) "Product, rounded up.";
            MulRz(x, y) own "mul.rz" ulp(0, 0) directed(Zero, mul_f32, mul) "Product, rounded towards zero.";
            Nextafter(x, y) cuda "nextafter" ulp(0, 0) each(libm::nextafterf(x, y), libm::nextafter(x, y)) "Next number towards the second.";
            Norm3d(x, y, z) own "norm3d" ulp(2, 3) rounded(norm::norm(&[x, y, z])) "Length of a vector.";
            Norm4d(x, y, z, w) own "norm4d" ulp(2, 3) rounded(norm::norm(&[x, y, z, w])) "Length of a vector.";
            Normcdf(x) cuda "normcdf" ulp(5, 5) rounded(special::normcdf(x)) lanes[erf::normcdf][] "Standard normal distribution function.";
            Normcdfinv(x) cuda "normcdfinv" ulp(8, 5) rounded(special::normcdfinv(x)) "Inverse of the standard normal distribution function.";
            Pow(x, y) cuda "pow" ulp(2, 4) both(x.powf(y)) lanes[power::pow][double::power::pow] "First to the power of the second.";
            Rcbrt(x) cuda "rcbrt" ulp(1, 1) rounded(special::rcbrt(x)) "Reciprocal cube root.";
            Remainder(x, y) cuda "remainder" ulp(0, 0) each(libm::remainderf(x, y), libm::remainder(x, y)) "IEEE remainder.";
            RemquoQuotient(x, y) own "remquo.quotient" ulp(0, 0) rounded(special::remquo_quotient(x, y)) "Low bits of remainder's quotient, with its sign; 0 where that is infinite or NaN.";
            Rhypot(x, y) own "rhypot" ulp(1, 2) rounded(special::rhypot(x, y)) lanes[root::rhypot][] "Reciprocal of hypot.";
            Rint(x) cuda "rint" ulp(0, 0) at(rint_f32, rint_f64) "Nearest integer, halves to even.";
            Rnorm3d(x, y, z) own "rnorm3d" ulp(1, 2) rounded(norm::reciprocal(&[x, y, z])) "Reciprocal length of a vector.";
            Rnorm4d(x, y, z, w) own "rnorm4d" ulp(1, 2) rounded(norm::reciprocal(&[x, y, z, w])) "Reciprocal length of a vector.";
            Round(x) cuda "round" ulp(0, 0) both(x.round()) "Nearest integer, halves away from zero.";
            Rsqrt(x) cuda "rsqrt" ulp(1, 2) each(reciprocal::rsqrt(x), special::rsqrt(x)) lanes[][double::root::rsqrt] "Reciprocal square root.";
            Sin(x) cuda "sin" ulp(2, 2) both(x.sin()) lanes[trig::sin][double::trig::sin] "Sine of radians.";
            Sinh(x) cuda "sinh" ulp(2, 3) both(x.sinh()) lanes[hyperbolic::sinh][] "Hyperbolic sine.";
            Sinpi(x) cuda "sinpi" ulp(2, 1) rounded(special::sinpi(x)) lanes[trig::sinpi][] "Sine of pi times the argument.";
            Sqrt(x) cuda "sqrt" ulp(0, 0) both(x.sqrt()) "Square root, correctly rounded.";
            SqrtRd(x) own "sqrt.rd" ulp(0, 0) directed(Down, sqrt_f32, sqrt) "Square root, rounded down.";
            SqrtRu(x) own "sqrt.ru" ulp(0, 0) directed(Up, sqrt_f32, sqrt) "Square root, rounded up.";
            SqrtRz(x) own "sqrt.rz" ulp(0, 0) directed(Zero, sqrt_f32, sqrt) "Square root, rounded towards zero.";
            Tan(x) cuda "tan" ulp(2, 4) both(x.tan()) lanes[trig::tan][] "Tangent of radians.";
            Tanh(x) cuda "tanh" ulp(1, 2) each(x.tanh(), special::tanh(x)) lanes[hyperbolic::tanh][double::exp::tanh] "Hyperbolic tangent.";
            Tgamma(x) cuda "tgamma" ulp(10, 5) rounded(libm::tgamma(x)) "Gamma function.";
            Trunc(x) cuda "trunc" ulp(0, 0) at(trunc_f32, trunc_f64) "Integer part.";
            Y0(x) cuda "y0" ulp(7, 9) rounded(bessel::y0(x)) "Bessel function of the second kind, order 0.";
            Y1(x) cuda "y1" ulp(7, 9) rounded(bessel::y1(x)) "Bessel function of the second kind, order 1.";
            Yn(n, x) own "yn" ulp(7, 9) rounded(bessel::yn(n as i32, x)) "Bessel function of the second kind; the first argument is the order as a float.";
        }
    };
}
pub(crate) use math_fns;

macro_rules! is_cudas {
    (cuda) => {
        true
    };
    (own) => {
        false
    };
}

macro_rules! functions {
    ($($variant:ident($($arg:ident),+) $whose:ident $name:literal ulp($double:literal, $float:literal) $how:ident $code:tt
        $(lanes $floats:tt $doubles:tt)? $doc:literal;)*) => {
        /// A function on floats of one type (`f32` or `f64`), with that type as its result unless its row says otherwise.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum MathFn { $(#[doc = $doc] $variant,)* }

        impl MathFn {
            /// Every function.
            pub const ALL: &'static [MathFn] = &[$(MathFn::$variant,)*];

            /// The number of arguments it takes.
            pub fn arity(self) -> usize {
                match self { $(MathFn::$variant => [$(stringify!($arg)),+].len(),)* }
            }

            /// The C name of the `double` form; the `float` form appends `f`. A function that C does not have gives its word in the IR.
            pub fn name(self) -> &'static str {
                match self { $(MathFn::$variant => $name,)* }
            }

            /// True if CUDA has it by this name, on floats of one type.
            pub fn is_cudas(self) -> bool {
                match self { $(MathFn::$variant => is_cudas!($whose),)* }
            }

            /// True if it is one instruction, as a sum or a product is.
            pub fn is_arithmetic(self) -> bool {
                matches!(self, MathFn::Fma | MathFn::AddRn | MathFn::MulRn)
            }

            /// CUDA's bounds on the distance from the correctly rounded result, in ULP: of the `double` and of the `float` form.
            pub fn bounds(self) -> [u64; 2] {
                match self { $(MathFn::$variant => [$double, $float],)* }
            }

            /// The description of its result.
            pub fn doc(self) -> &'static str {
                match self { $(MathFn::$variant => $doc,)* }
            }
        }
    };
}

math_fns!(functions);
