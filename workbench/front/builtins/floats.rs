//! Functions on floats beyond [`MathFn`]: decomposition, classification, rounding to integers, and CUDA's intrinsics.
//!
//! The fast intrinsics (`__expf`) are computed as accurately as their plain forms: the hardware's error bounds
//! (CUDA C++ Programming Guide, "Mathematical Functions Appendix") are bounds, which a better result keeps.

use super::directed_rounding::subtract;
use super::short::*;
use super::{Lower, Outs, P, Sig, sigs};
use crate::front::types::Num;
use crate::ir::{BinaryOp, Block, Builder, CompareOp, MathFn, Op, Scalar, Stmt, Stride, Type, Value};

const OUT_F: P = P::Out(Num::Float);
const OUT_D: P = P::Out(Num::Double);
const OUT_I: P = P::Out(Num::Int);
const IN_F: P = P::In(Num::Float);
const IN_D: P = P::In(Num::Double);

fn sincos(b: &mut Builder, a: &[Value]) -> Outs {
    let stores = vec![b.math(MathFn::Sin, a), b.math(MathFn::Cos, a)];
    Outs { result: None, stores }
}

fn sincospi(b: &mut Builder, a: &[Value]) -> Outs {
    let stores = vec![b.math(MathFn::Sinpi, a), b.math(MathFn::Cospi, a)];
    Outs { result: None, stores }
}

/// Exact, or infinite where the sine of it is of no use.
fn twice(b: &mut Builder, x: Value) -> Value {
    b.binary(BinaryOp::Add, x, x)
}

fn frexp(b: &mut Builder, a: &[Value]) -> Outs {
    let exponent = b.math(MathFn::FrexpExp, a);
    let exponent = b.convert(Scalar::I32, exponent);
    Outs { result: Some(b.math(MathFn::FrexpMant, a)), stores: vec![exponent] }
}

/// The fraction keeps the sign, and is zero for infinities.
fn modf(b: &mut Builder, a: &[Value]) -> Outs {
    let whole = b.math(MathFn::Trunc, a);
    let infinite = is_inf(b, a);
    let zero = b.float(b.scalar(a[0]), 0.0);
    let rest = b.binary(BinaryOp::Sub, a[0], whole);
    let rest = b.select(infinite, zero, rest);
    Outs { result: Some(b.math(MathFn::Copysign, &[rest, a[0]])), stores: vec![whole] }
}

fn ldexp(b: &mut Builder, a: &[Value]) -> Value {
    let ty = b.scalar(a[0]);
    let exponent = b.convert(ty, a[1]);
    b.math(MathFn::Ldexp, &[a[0], exponent])
}

fn ldexp_of_int(b: &mut Builder, a: &[Value]) -> Value {
    let x = b.convert(Scalar::F64, a[0]);
    ldexp(b, &[x, a[1]])
}

/// `INT_MIN` for zero and NaN, `INT_MAX` for infinities, as CUDA has it.
fn ilogb(b: &mut Builder, a: &[Value]) -> Value {
    let exponent = b.math(MathFn::Logb, a);
    let exponent = b.convert(Scalar::I32, exponent);
    let nan = is_nan(b, a);
    let min = b.int(Scalar::I32, i64::from(i32::MIN));
    b.select(nan, min, exponent)
}

fn order_first(b: &mut Builder, f: MathFn, a: &[Value]) -> Value {
    let ty = b.scalar(a[1]);
    let order = b.convert(ty, a[0]);
    b.bind(ty, Op::Math(f, vec![order, a[1]]))
}

fn rint_i64(b: &mut Builder, a: &[Value]) -> Value {
    let r = b.math(MathFn::Rint, a);
    b.convert(Scalar::I64, r)
}

fn round_i64(b: &mut Builder, a: &[Value]) -> Value {
    let r = b.math(MathFn::Round, a);
    b.convert(Scalar::I64, r)
}

fn is_nan(b: &mut Builder, a: &[Value]) -> Value {
    b.compare(CompareOp::Ne, a[0], a[0])
}

fn is_inf(b: &mut Builder, a: &[Value]) -> Value {
    let size = b.math(MathFn::Fabs, a);
    let inf = b.float(b.scalar(a[0]), f64::INFINITY);
    b.compare(CompareOp::Eq, size, inf)
}

fn is_finite(b: &mut Builder, a: &[Value]) -> Value {
    let size = b.math(MathFn::Fabs, a);
    let inf = b.float(b.scalar(a[0]), f64::INFINITY);
    b.compare(CompareOp::Lt, size, inf)
}

fn is_normal(b: &mut Builder, a: &[Value]) -> Value {
    let size = b.math(MathFn::Fabs, a);
    let ty = b.scalar(a[0]);
    let least = if ty == Scalar::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let least = b.float(ty, least);
    let inf = b.float(ty, f64::INFINITY);
    let big = b.compare(CompareOp::Ge, size, least);
    let finite = b.compare(CompareOp::Lt, size, inf);
    b.binary(BinaryOp::And, big, finite)
}

fn sign_bit(b: &mut Builder, a: &[Value]) -> Value {
    let int = if b.scalar(a[0]) == Scalar::F32 { Scalar::I32 } else { Scalar::I64 };
    let bits = b.bitcast(int, a[0]);
    let zero = b.int(int, 0);
    b.compare(CompareOp::Lt, bits, zero)
}

fn as_int(b: &mut Builder, truth: Value) -> Value {
    b.convert(Scalar::I32, truth)
}

fn reciprocal(b: &mut Builder, x: Value) -> Value {
    let one = b.float(b.scalar(x), 1.0);
    b.binary(BinaryOp::Div, one, x)
}

fn remquo(b: &mut Builder, a: &[Value]) -> Outs {
    let quotient = b.math(MathFn::RemquoQuotient, a);
    let quotient = b.convert(Scalar::I32, quotient);
    Outs { result: Some(b.math(MathFn::Remainder, a)), stores: vec![quotient] }
}

/// Length of the `a[0]` numbers at `a[1]`: `hypot` of the length so far and the next, whose special cases are the length's. Of none it is
/// the first number's, as on a GPU.
fn norm(b: &mut Builder, a: &[Value], ty: Scalar) -> Value {
    let new_local = |b: &mut Builder, ty: Scalar| b.func.new_local("", ty.into());
    let (sum, index) = (new_local(b, ty), new_local(b, Scalar::I32));
    let (zero, first) = (b.float(ty, 0.0), b.int(Scalar::I32, 0));
    let one = b.int(Scalar::I32, 1);
    let count = b.binary(BinaryOp::Max, a[0], one);
    b.push(Stmt::Set(sum, zero));
    b.push(Stmt::Set(index, first));
    let label = b.func.new_label();
    b.open();
    let i = b.bind(Scalar::I32, Op::Get(index));
    let done = b.compare(CompareOp::Ge, i, count);
    b.open();
    b.push(Stmt::Break(label));
    let leave = b.close();
    b.push(Stmt::If { cond: done, then: leave, els: Block::default() });
    let at = b.convert(Scalar::I64, i);
    let ptr = b.bind(Type::Ptr, Op::PtrAdd { ptr: a[1], index: at, stride: Stride::Elem(ty) });
    let x = b.load(ptr, ty.into(), false);
    let before = b.bind(ty, Op::Get(sum));
    let length = b.math(MathFn::Hypot, &[before, x]);
    b.push(Stmt::Set(sum, length));
    let body = b.close();
    b.open();
    let i = b.bind(Scalar::I32, Op::Get(index));
    let one = b.int(Scalar::I32, 1);
    let next = b.binary(BinaryOp::Add, i, one);
    b.push(Stmt::Set(index, next));
    let step = b.close();
    b.push(Stmt::Loop { label, body, step });
    b.bind(ty, Op::Get(sum))
}

fn rnorm(b: &mut Builder, a: &[Value], ty: Scalar) -> Value {
    let length = norm(b, a, ty);
    reciprocal(b, length)
}

/// NaN becomes 0.
fn saturate(b: &mut Builder, a: &[Value]) -> Value {
    let (zero, one) = (b.float(Scalar::F32, 0.0), b.float(Scalar::F32, 1.0));
    let low = b.math(MathFn::Fmax, &[a[0], zero]);
    b.math(MathFn::Fmin, &[low, one])
}

/// The definition is the GPU's, so that a negative base gives NaN: `exp2f(y * log2f(x))`.
fn fast_pow(b: &mut Builder, a: &[Value]) -> Value {
    let log = b.math(MathFn::Log2, &a[..1]);
    let product = b.binary(BinaryOp::Mul, a[1], log);
    b.math(MathFn::Exp2, &[product])
}

/// Through `double`, which holds twice the digits: one rounding in all but ties of double rounding.
fn rsqrt_rounded(b: &mut Builder, a: &[Value]) -> Value {
    let wide = b.convert(Scalar::F64, a[0]);
    let root = b.math(MathFn::Sqrt, &[wide]);
    let result = reciprocal(b, root);
    b.convert(Scalar::F32, result)
}

const ADD: Lower = Lower::Value(|b, a| b.math(MathFn::AddRn, a));
const SUB: Lower = Lower::Value(|b, a| subtract(b, MathFn::AddRn, a));
const MUL: Lower = Lower::Value(|b, a| b.math(MathFn::MulRn, a));
const DIV: Lower = Lower::Value(|b, a| b.binary(BinaryOp::Div, a[0], a[1]));
const FMA: Lower = Lower::Value(|b, a| b.math(MathFn::Fma, a));
const SQRT: Lower = Lower::Value(|b, a| b.math(MathFn::Sqrt, a));
const RCP: Lower = Lower::Value(|b, a| reciprocal(b, a[0]));

const NAN_OF: Lower = Lower::Value(|b, _| b.float(Scalar::F64, f64::NAN));
const NAN_F: Lower = Lower::Value(|b, _| b.float(Scalar::F32, f64::NAN));

/// C and C++ functions.
pub const BASIC: &[Sig] = sigs! {
    "sincos" (D, OUT_D, OUT_D) -> P::Void, Lower::Outs(sincos), "Sine and cosine.";
    "sincos" (F, OUT_F, OUT_F) -> P::Void, Lower::Outs(sincos), "Sine and cosine.";
    "sincosf" (F, OUT_F, OUT_F) -> P::Void, Lower::Outs(sincos), "Sine and cosine.";
    "sincospi" (D, OUT_D, OUT_D) -> P::Void, Lower::Outs(sincospi), "Sine and cosine of pi times the argument.";
    "sincospi" (F, OUT_F, OUT_F) -> P::Void, Lower::Outs(sincospi), "Sine and cosine of pi times the argument.";
    "sincospif" (F, OUT_F, OUT_F) -> P::Void, Lower::Outs(sincospi), "Sine and cosine of pi times the argument.";
    "frexp" (D, OUT_I) -> D, Lower::Outs(frexp), "Mantissa in [0.5, 1); the exponent is written.";
    "frexp" (F, OUT_I) -> F, Lower::Outs(frexp), "Mantissa in [0.5, 1); the exponent is written.";
    "frexpf" (F, OUT_I) -> F, Lower::Outs(frexp), "Mantissa in [0.5, 1); the exponent is written.";
    "modf" (D, OUT_D) -> D, Lower::Outs(modf), "Fraction; the integer part is written.";
    "modf" (F, OUT_F) -> F, Lower::Outs(modf), "Fraction; the integer part is written.";
    "modff" (F, OUT_F) -> F, Lower::Outs(modf), "Fraction; the integer part is written.";
    "ldexp" (D, I) -> D, Lower::Value(ldexp), "First times 2 to the second.";
    "ldexp" (F, I) -> F, Lower::Value(ldexp), "First times 2 to the second.";
    "ldexp" (I, I) -> D, Lower::Value(ldexp_of_int), "First times 2 to the second.";
    "ldexpf" (F, I) -> F, Lower::Value(ldexp), "First times 2 to the second.";
    "scalbn" (D, I) -> D, Lower::Value(ldexp), "First times 2 to the second.";
    "scalbn" (F, I) -> F, Lower::Value(ldexp), "First times 2 to the second.";
    "scalbnf" (F, I) -> F, Lower::Value(ldexp), "First times 2 to the second.";
    "scalbln" (D, L) -> D, Lower::Value(ldexp), "First times 2 to the second.";
    "scalbln" (F, L) -> F, Lower::Value(ldexp), "First times 2 to the second.";
    "scalblnf" (F, L) -> F, Lower::Value(ldexp), "First times 2 to the second.";
    "ilogb" (D) -> I, Lower::Value(ilogb), "Exponent as an integer.";
    "ilogb" (F) -> I, Lower::Value(ilogb), "Exponent as an integer.";
    "ilogbf" (F) -> I, Lower::Value(ilogb), "Exponent as an integer.";
    "jn" (I, D) -> D, Lower::Value(|b, a| order_first(b, MathFn::Jn, a)), "Bessel function of the first kind.";
    "jn" (I, F) -> F, Lower::Value(|b, a| order_first(b, MathFn::Jn, a)), "Bessel function of the first kind.";
    "jnf" (I, F) -> F, Lower::Value(|b, a| order_first(b, MathFn::Jn, a)), "Bessel function of the first kind.";
    "yn" (I, D) -> D, Lower::Value(|b, a| order_first(b, MathFn::Yn, a)), "Bessel function of the second kind.";
    "yn" (I, F) -> F, Lower::Value(|b, a| order_first(b, MathFn::Yn, a)), "Bessel function of the second kind.";
    "ynf" (I, F) -> F, Lower::Value(|b, a| order_first(b, MathFn::Yn, a)), "Bessel function of the second kind.";
    "lrint" (D) -> L, Lower::Value(rint_i64), "Nearest integer, halves to even.";
    "lrint" (F) -> L, Lower::Value(rint_i64), "Nearest integer, halves to even.";
    "lrintf" (F) -> L, Lower::Value(rint_i64), "Nearest integer, halves to even.";
    "llrint" (D) -> LL, Lower::Value(rint_i64), "Nearest integer, halves to even.";
    "llrint" (F) -> LL, Lower::Value(rint_i64), "Nearest integer, halves to even.";
    "llrintf" (F) -> LL, Lower::Value(rint_i64), "Nearest integer, halves to even.";
    "lround" (D) -> L, Lower::Value(round_i64), "Nearest integer, halves away from zero.";
    "lround" (F) -> L, Lower::Value(round_i64), "Nearest integer, halves away from zero.";
    "lroundf" (F) -> L, Lower::Value(round_i64), "Nearest integer, halves away from zero.";
    "llround" (D) -> LL, Lower::Value(round_i64), "Nearest integer, halves away from zero.";
    "llround" (F) -> LL, Lower::Value(round_i64), "Nearest integer, halves away from zero.";
    "llroundf" (F) -> LL, Lower::Value(round_i64), "Nearest integer, halves away from zero.";
    "isnan" (D) -> B, Lower::Value(is_nan), "Whether it is no number.";
    "isnan" (F) -> B, Lower::Value(is_nan), "Whether it is no number.";
    "isinf" (D) -> B, Lower::Value(is_inf), "Whether it is infinite.";
    "isinf" (F) -> B, Lower::Value(is_inf), "Whether it is infinite.";
    "isfinite" (D) -> B, Lower::Value(is_finite), "Whether it is neither infinite nor NaN.";
    "isfinite" (F) -> B, Lower::Value(is_finite), "Whether it is neither infinite nor NaN.";
    "isnormal" (D) -> B, Lower::Value(is_normal), "Whether it is normal: not zero, subnormal, infinite or NaN.";
    "isnormal" (F) -> B, Lower::Value(is_normal), "Whether it is normal: not zero, subnormal, infinite or NaN.";
    "signbit" (D) -> B, Lower::Value(sign_bit), "Whether the sign bit is set.";
    "signbit" (F) -> B, Lower::Value(sign_bit), "Whether the sign bit is set.";
    "__builtin_copysign" (D, D) -> D, Lower::Value(|b, a| b.math(MathFn::Copysign, a)), "First's magnitude with second's sign, in host code too.";
    "__builtin_copysignf" (F, F) -> F, Lower::Value(|b, a| b.math(MathFn::Copysign, a)), "First's magnitude with second's sign, in host code too.";
    "__builtin_fma" (D, D, D) -> D, FMA, "a*b+c with one rounding, in host code too.";
    "__builtin_fmaf" (F, F, F) -> F, FMA, "a*b+c with one rounding, in host code too.";
    "nan" (STR) -> D, NAN_OF, "A quiet NaN.";
    "nanf" (STR) -> F, NAN_F, "A quiet NaN.";
    "norm3d" (D, D, D) -> D, Lower::Value(|b, a| b.math(MathFn::Norm3d, a)), "Length of a vector.";
    "norm3df" (F, F, F) -> F, Lower::Value(|b, a| b.math(MathFn::Norm3d, a)), "Length of a vector.";
    "norm4d" (D, D, D, D) -> D, Lower::Value(|b, a| b.math(MathFn::Norm4d, a)), "Length of a vector.";
    "norm4df" (F, F, F, F) -> F, Lower::Value(|b, a| b.math(MathFn::Norm4d, a)), "Length of a vector.";
    "rnorm3d" (D, D, D) -> D, Lower::Value(|b, a| b.math(MathFn::Rnorm3d, a)), "Reciprocal length of a vector.";
    "rnorm3df" (F, F, F) -> F, Lower::Value(|b, a| b.math(MathFn::Rnorm3d, a)), "Reciprocal length of a vector.";
    "rnorm4d" (D, D, D, D) -> D, Lower::Value(|b, a| b.math(MathFn::Rnorm4d, a)), "Reciprocal length of a vector.";
    "rnorm4df" (F, F, F, F) -> F, Lower::Value(|b, a| b.math(MathFn::Rnorm4d, a)), "Reciprocal length of a vector.";
    "norm" (I, IN_D) -> D, Lower::Value(|b, a| norm(b, a, Scalar::F64)), "Length of a vector of any size.";
    "normf" (I, IN_F) -> F, Lower::Value(|b, a| norm(b, a, Scalar::F32)), "Length of a vector of any size.";
    "rnorm" (I, IN_D) -> D, Lower::Value(|b, a| rnorm(b, a, Scalar::F64)), "Reciprocal length of a vector of any size.";
    "rnormf" (I, IN_F) -> F, Lower::Value(|b, a| rnorm(b, a, Scalar::F32)), "Reciprocal length of a vector of any size.";
    "rhypot" (D, D) -> D, Lower::Value(|b, a| b.math(MathFn::Rhypot, a)), "Reciprocal of hypot.";
    "rhypotf" (F, F) -> F, Lower::Value(|b, a| b.math(MathFn::Rhypot, a)), "Reciprocal of hypot.";
    "remquo" (D, D, OUT_I) -> D, Lower::Outs(remquo), "IEEE remainder; low bits of the quotient are written.";
    "remquo" (F, F, OUT_I) -> F, Lower::Outs(remquo), "IEEE remainder; low bits of the quotient are written.";
    "remquof" (F, F, OUT_I) -> F, Lower::Outs(remquo), "IEEE remainder; low bits of the quotient are written.";
    "fdividef" (F, F) -> F, DIV, "Quotient.";
    "fdivide" (D, D) -> D, DIV, "Quotient.";
};

/// CUDA's intrinsics on floats.
pub const INTRINSICS: &[Sig] = sigs! {
    "__expf" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Exp, a)), "e to the power.";
    "__exp10f" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Exp10, a)), "10 to the power.";
    "__logf" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Log, a)), "Natural logarithm.";
    "__log2f" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Log2, a)), "Logarithm to base 2.";
    "__log10f" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Log10, a)), "Logarithm to base 10.";
    "__sinf" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Sin, a)), "Sine.";
    "__cosf" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Cos, a)), "Cosine.";
    "__tanf" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Tan, a)), "Tangent.";
    "__sin2pif" (F) -> F, Lower::Value(|b, a| { let x = twice(b, a[0]); b.math(MathFn::Sinpi, &[x]) }), "Sine of 2 pi times the argument.";
    "__cos2pif" (F) -> F, Lower::Value(|b, a| { let x = twice(b, a[0]); b.math(MathFn::Cospi, &[x]) }), "Cosine of 2 pi times the argument.";
    "__sincos2pif" (F, OUT_F, OUT_F) -> P::Void, Lower::Outs(|b, a| { let x = twice(b, a[0]); sincospi(b, &[x]) }), "Sine and cosine of 2 pi times the argument.";
    "__tanhf" (F) -> F, Lower::Value(|b, a| b.math(MathFn::Tanh, a)), "Hyperbolic tangent.";
    "__sincosf" (F, OUT_F, OUT_F) -> P::Void, Lower::Outs(sincos), "Sine and cosine.";
    "__powf" (F, F) -> F, Lower::Value(fast_pow), "exp2f(y * log2f(x)).";
    "__fdividef" (F, F) -> F, DIV, "Quotient.";
    "__saturatef" (F) -> F, Lower::Value(saturate), "Clamped to [0, 1], NaN to 0.";
    "__fadd_rn" (F, F) -> F, ADD, "Sum, rounded to nearest, never contracted.";
    "__fsub_rn" (F, F) -> F, SUB, "Difference, rounded to nearest, never contracted.";
    "__fmul_rn" (F, F) -> F, MUL, "Product, rounded to nearest, never contracted.";
    "__fdiv_rn" (F, F) -> F, DIV, "Quotient, rounded to nearest.";
    "__fmaf_rn" (F, F, F) -> F, FMA, "a*b+c with one rounding, to nearest.";
    "__fmaf_ieee_rn" (F, F, F) -> F, FMA, "a*b+c with one rounding, to nearest.";
    "__fsqrt_rn" (F) -> F, SQRT, "Square root, rounded to nearest.";
    "__frcp_rn" (F) -> F, RCP, "Reciprocal, rounded to nearest.";
    "__frsqrt_rn" (F) -> F, Lower::Value(rsqrt_rounded), "Reciprocal square root, rounded to nearest.";
    "__dadd_rn" (D, D) -> D, ADD, "Sum, rounded to nearest, never contracted.";
    "__dsub_rn" (D, D) -> D, SUB, "Difference, rounded to nearest, never contracted.";
    "__dmul_rn" (D, D) -> D, MUL, "Product, rounded to nearest, never contracted.";
    "__ddiv_rn" (D, D) -> D, DIV, "Quotient, rounded to nearest.";
    "__fma_rn" (D, D, D) -> D, FMA, "a*b+c with one rounding, to nearest.";
    "__dsqrt_rn" (D) -> D, SQRT, "Square root, rounded to nearest.";
    "__drcp_rn" (D) -> D, RCP, "Reciprocal, rounded to nearest.";
    "__isnan" (D) -> I, Lower::Value(|b, a| { let t = is_nan(b, a); as_int(b, t) }), "Whether it is no number.";
    "__isinf" (D) -> I, Lower::Value(|b, a| { let t = is_inf(b, a); as_int(b, t) }), "Whether it is infinite.";
    "__finite" (D) -> I, Lower::Value(|b, a| { let t = is_finite(b, a); as_int(b, t) }), "Whether it is finite.";
    "__signbit" (D) -> I, Lower::Value(|b, a| { let t = sign_bit(b, a); as_int(b, t) }), "Whether the sign bit is set.";
    "__isnanf" (F) -> I, Lower::Value(|b, a| { let t = is_nan(b, a); as_int(b, t) }), "Whether it is no number.";
    "__isinff" (F) -> I, Lower::Value(|b, a| { let t = is_inf(b, a); as_int(b, t) }), "Whether it is infinite.";
    "__finitef" (F) -> I, Lower::Value(|b, a| { let t = is_finite(b, a); as_int(b, t) }), "Whether it is finite.";
    "__signbitf" (F) -> I, Lower::Value(|b, a| { let t = sign_bit(b, a); as_int(b, t) }), "Whether the sign bit is set.";
};
