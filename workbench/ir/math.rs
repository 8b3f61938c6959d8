//! The math functions: one record each, read by the front end, the back ends and the printer alike.

macro_rules! math_fns {
    ($($variant:ident $arity:literal $name:literal $doc:literal;)*) => {
        /// A function on floats of one type (`f32` or `f64`), with that type as its result unless its line says otherwise.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum MathFn { $(#[doc = $doc] $variant,)* }

        impl MathFn {
            /// Every function.
            pub const ALL: &'static [MathFn] = &[$(MathFn::$variant,)*];

            /// How many arguments it takes.
            pub fn arity(self) -> usize {
                match self { $(MathFn::$variant => $arity,)* }
            }

            /// The C name of the `double` form; the `float` form appends `f`. One with a dot is no name of C's.
            pub fn name(self) -> &'static str {
                match self { $(MathFn::$variant => $name,)* }
            }

            /// What it computes.
            pub fn doc(self) -> &'static str {
                match self { $(MathFn::$variant => $doc,)* }
            }
        }
    };
}

math_fns! {
    Acos 1 "acos" "Arc cosine in radians.";
    Acosh 1 "acosh" "Inverse hyperbolic cosine.";
    AddRd 2 "add.rd" "Sum, rounded down.";
    AddRu 2 "add.ru" "Sum, rounded up.";
    AddRz 2 "add.rz" "Sum, rounded towards zero.";
    Asin 1 "asin" "Arc sine in radians.";
    Asinh 1 "asinh" "Inverse hyperbolic sine.";
    Atan 1 "atan" "Arc tangent in radians.";
    Atan2 2 "atan2" "Arc tangent of y/x by quadrant.";
    Atanh 1 "atanh" "Inverse hyperbolic tangent.";
    Cbrt 1 "cbrt" "Cube root.";
    Ceil 1 "ceil" "Smallest integer not below.";
    Copysign 2 "copysign" "First's magnitude with second's sign.";
    Cos 1 "cos" "Cosine of radians.";
    Cosh 1 "cosh" "Hyperbolic cosine.";
    Cospi 1 "cospi" "Cosine of pi times the argument.";
    CylBesselI0 1 "cyl_bessel_i0" "Modified Bessel function of the first kind, order 0.";
    CylBesselI1 1 "cyl_bessel_i1" "Modified Bessel function of the first kind, order 1.";
    DivRd 2 "div.rd" "Quotient, rounded down.";
    DivRu 2 "div.ru" "Quotient, rounded up.";
    DivRz 2 "div.rz" "Quotient, rounded towards zero.";
    Erf 1 "erf" "Error function.";
    Erfc 1 "erfc" "Complementary error function.";
    Erfcinv 1 "erfcinv" "Inverse complementary error function.";
    Erfcx 1 "erfcx" "Scaled complementary error function.";
    Erfinv 1 "erfinv" "Inverse error function.";
    Exp 1 "exp" "e to the power.";
    Exp10 1 "exp10" "10 to the power.";
    Exp2 1 "exp2" "2 to the power.";
    Expm1 1 "expm1" "e to the power, minus 1.";
    Fabs 1 "fabs" "Absolute value.";
    Fdim 2 "fdim" "Positive difference.";
    Floor 1 "floor" "Largest integer not above.";
    Fma 3 "fma" "a*b+c with one rounding.";
    FmaRd 3 "fma.rd" "a*b+c, rounded down.";
    FmaRu 3 "fma.ru" "a*b+c, rounded up.";
    FmaRz 3 "fma.rz" "a*b+c, rounded towards zero.";
    Fmax 2 "fmax" "The larger; a NaN loses to a number.";
    Fmin 2 "fmin" "The smaller; a NaN loses to a number.";
    Fmod 2 "fmod" "Remainder of truncated division.";
    FrexpExp 1 "frexp" "frexp's exponent, as a float; 0 for zero, infinity and NaN.";
    FrexpMant 1 "frexp" "frexp's mantissa, in [0.5, 1).";
    Hypot 2 "hypot" "Length of the hypotenuse without overflow.";
    J0 1 "j0" "Bessel function of the first kind, order 0.";
    J1 1 "j1" "Bessel function of the first kind, order 1.";
    Jn 2 "jn" "Bessel function of the first kind; the first argument is the order as a float.";
    Ldexp 2 "ldexp" "First times 2 to the second; the second is an integer as a float, saturated.";
    Lgamma 1 "lgamma" "Logarithm of the absolute value of gamma.";
    Log 1 "log" "Natural logarithm.";
    Log10 1 "log10" "Logarithm to base 10.";
    Log1p 1 "log1p" "Natural logarithm of 1 plus the argument.";
    Log2 1 "log2" "Logarithm to base 2.";
    Logb 1 "logb" "Exponent as a float.";
    MulRd 2 "mul.rd" "Product, rounded down.";
    MulRu 2 "mul.ru" "Product, rounded up.";
    MulRz 2 "mul.rz" "Product, rounded towards zero.";
    Nextafter 2 "nextafter" "Next number towards the second.";
    Norm3d 3 "norm3d" "Length of a vector.";
    Norm4d 4 "norm4d" "Length of a vector.";
    Normcdf 1 "normcdf" "Standard normal distribution function.";
    Normcdfinv 1 "normcdfinv" "Inverse of the standard normal distribution function.";
    Pow 2 "pow" "First to the power of the second.";
    Rcbrt 1 "rcbrt" "Reciprocal cube root.";
    Remainder 2 "remainder" "IEEE remainder.";
    RemquoQuotient 2 "remquo.quotient" "Low bits of remainder's quotient, with its sign; 0 where that is infinite or NaN.";
    Rhypot 2 "rhypot" "Reciprocal of hypot.";
    Rint 1 "rint" "Nearest integer, halves to even.";
    Rnorm3d 3 "rnorm3d" "Reciprocal length of a vector.";
    Rnorm4d 4 "rnorm4d" "Reciprocal length of a vector.";
    Round 1 "round" "Nearest integer, halves away from zero.";
    Rsqrt 1 "rsqrt" "Reciprocal square root.";
    Sin 1 "sin" "Sine of radians.";
    Sinh 1 "sinh" "Hyperbolic sine.";
    Sinpi 1 "sinpi" "Sine of pi times the argument.";
    Sqrt 1 "sqrt" "Square root, correctly rounded.";
    SqrtRd 1 "sqrt.rd" "Square root, rounded down.";
    SqrtRu 1 "sqrt.ru" "Square root, rounded up.";
    SqrtRz 1 "sqrt.rz" "Square root, rounded towards zero.";
    Tan 1 "tan" "Tangent of radians.";
    Tanh 1 "tanh" "Hyperbolic tangent.";
    Tgamma 1 "tgamma" "Gamma function.";
    Trunc 1 "trunc" "Integer part.";
    Y0 1 "y0" "Bessel function of the second kind, order 0.";
    Y1 1 "y1" "Bessel function of the second kind, order 1.";
    Yn 2 "yn" "Bessel function of the second kind; the first argument is the order as a float.";
}
