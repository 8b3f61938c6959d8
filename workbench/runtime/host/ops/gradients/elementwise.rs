//! Derivatives of operations on elements.

use super::saved_variables::{Operation, Reads, Results};
use super::{
    Answer, HostTensor, Made, Step, Value, add, binary, dropped, masked, mul, one_minus, op, plus, scaled, unary,
};

/// The values that the derivative of one of these reads.
pub(super) fn reads(of: &Operation<'_>) -> Option<Reads> {
    Some(match of.name {
        "exp" | "exp2" | "expm1" | "sqrt" | "rsqrt" | "tan" | "tanh" | "sigmoid" | "reciprocal" | "relu" | "erfinv" => {
            Reads::results(of, Results::All)
        }
        "add" | "sub" | "neg" | "copy" | "fill" | "zero" | "frac" | "deg2rad" | "rad2deg" | "floor" | "ceil"
        | "round" | "trunc" | "sign" => Reads::none(of),
        "mul" => Reads::factors(of, 0),
        "addcmul" => Reads::factors(of, 1),
        "div" if !matches!(of.args.get(2), None | Some(Value::None)) => Reads::none(of),
        // Both derivatives read the divisor; the divisor's own reads the other operand.
        "div" if of.is_tensor(1) => Reads::tensors(of, |i| i + 1 == of.count() || of.needs(of.count() - 1)),
        "div" => Reads::none(of),
        "fmod" | "remainder" if !of.is_tensor(1) => Reads::none(of),
        "pow" if !of.is_tensor(1) || !of.needs(of.count() - 1) => Reads::all(of, Results::None),
        "pow" | "hypot" => Reads::all(of, Results::All),
        "addcdiv" => Reads::tensors(of, |i| i == 1 && of.needs(2) || i == 2 && (of.needs(1) || of.needs(2))),
        "lerp" if !of.is_tensor(2) => Reads::none(of),
        "lerp" => Reads::tensors(of, |i| if i == 2 { of.needs(0) || of.needs(1) } else { of.needs(2) }),
        "where" | "masked_fill" => Reads::chosen(of),
        _ => return None,
    })
}

pub(super) fn backward(step: &Step<'_>) -> Made {
    if let Some(made) = slope(step) {
        return Some(made.and_then(|value| step.each(|i| Ok((i == 0).then(|| value.clone())))));
    }
    Some(match step.name {
        "add" | "sub" => scaled_sum(step),
        "mul" => step.each(|i| mul(&step.grad()?, &step.arg(1 - place(step, i))).map(Some)),
        "div" => quotient(step),
        "pow" => power(step),
        "maximum" | "minimum" => larger(step),
        "clamp" | "clamp_min" | "clamp_max" => clamped(step),
        // A number wins over a NaN, and equal elements share the gradient.
        "fmax" | "fmin" => step.each(|i| {
            let sign = if step.name == "fmax" { "ge" } else { "le" };
            let (g, a, b) = (step.grad()?, step.arg(0), step.arg(1));
            let g = op("where", vec![binary("eq", &a, &b)?, scaled(&g, 0.5)?, g])?;
            let is_first = binary("logical_or", &binary(sign, &a, &b)?, &unary("isnan", &b)?)?;
            if i == 0 {
                return masked(&g, &is_first).map(Some);
            }
            let is_second = binary("logical_or", &unary("logical_not", &is_first)?, &binary("eq", &a, &b)?)?;
            masked(&g, &is_second).map(Some)
        }),
        "atan2" => {
            let square = |i| unary("square", &step.arg(i));
            step.each(|i| {
                let size = add(&square(0)?, &square(1)?)?;
                let g = mul(&step.grad()?, &binary("div", &step.arg(1 - i), &size)?)?;
                let g = dropped(&g, &binary("eq", &size, &Value::Int(0))?)?;
                if i == 0 { Ok(Some(g)) } else { unary("neg", &g).map(Some) }
            })
        }
        "hypot" => step.each(|i| mul(&step.grad()?, &binary("div", &step.arg(i), &step.result()?)?).map(Some)),
        "special_xlog1py" => times_log1p(step),
        // A step moves the result as it moves the first operand, but for one that is the second already.
        "nextafter" => step.each(|i| {
            if place(step, i) == 0 {
                return masked(&step.grad()?, &binary("ne", &step.arg(0), &step.arg(1))?).map(Some);
            }
            unary("zeros_like", &step.grad()?).map(Some)
        }),
        "fmod" | "remainder" => step.each(|i| {
            if place(step, i) == 0 {
                return step.grad().map(Some);
            }
            let round = if step.name == "fmod" { "trunc" } else { "floor" };
            let times = unary(round, &binary("div", &step.arg(0), &step.arg(1))?)?;
            unary("neg", &mul(&step.grad()?, &times)?).map(Some)
        }),
        "lerp" => step.each(|i| {
            let (g, weight) = (step.grad()?, step.arg(2));
            match i {
                0 if step.is_tensor(2) => mul(&g, &one_minus(&weight)?).map(Some),
                0 => scaled(&g, 1.0 - step.number(2, 0.0)?).map(Some),
                1 => mul(&g, &weight).map(Some),
                _ => mul(&g, &binary("sub", &step.arg(1), &step.arg(0))?).map(Some),
            }
        }),
        "addcmul" => step.each(|i| {
            let (g, value) = (step.grad()?, step.number(3, 1.0)?);
            if i == 0 { Ok(Some(g)) } else { scaled(&mul(&g, &step.arg(3 - i))?, value).map(Some) }
        }),
        "addcdiv" => step.each(|i| {
            let (g, value) = (step.grad()?, step.number(3, 1.0)?);
            let share = binary("div", &scaled(&g, value)?, &step.arg(2))?;
            match i {
                0 => Ok(Some(g)),
                1 => Ok(Some(share)),
                _ => unary("neg", &mul(&share, &binary("div", &step.arg(1), &step.arg(2))?)?).map(Some),
            }
        }),
        "where" => step.each(|i| match place(step, i) {
            1 => masked(&step.grad()?, &step.arg(0)).map(Some),
            2 => masked(&step.grad()?, &unary("logical_not", &step.arg(0))?).map(Some),
            _ => Ok(None),
        }),
        "masked_fill" => step.each(|i| {
            let (g, mask) = (step.grad()?, step.arg(1));
            match i {
                0 => masked(&g, &unary("logical_not", &mask)?).map(Some),
                2 => masked(&g, &mask).map(Some),
                _ => Ok(None),
            }
        }),
        // The old contents are gone, so nothing goes back to them.
        "copy" | "fill" => step.each(|i| if i == 1 { step.grad().map(Some) } else { Ok(None) }),
        "zero" | "uniform" | "normal" => step.each(|_| Ok(None)),
        "mse_loss" => step.each(|i| {
            let difference = binary("sub", &step.arg(i), &step.arg(1 - i))?;
            let count = if step.number(2, 1.0)? == 1.0 { step.tensor(0)?.numel() as f64 } else { 1.0 };
            scaled(&mul(&difference, &step.grad()?)?, 2.0 / count).map(Some)
        }),
        _ => return None,
    })
}

/// The place among the arguments of a tensor, by its place among the tensors.
fn place(step: &Step<'_>, i: usize) -> usize {
    (0..step.args.len()).filter(|&k| step.is_tensor(k)).nth(i).unwrap_or(i)
}

fn scaled_sum(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    let alpha = step.number(2, 1.0)?;
    let factor = if step.name == "sub" { -alpha } else { alpha };
    step.each(|i| {
        let g = step.grad()?;
        if place(step, i) == 0 || factor == 1.0 { Ok(Some(g)) } else { scaled(&g, factor).map(Some) }
    })
}

fn quotient(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    if !matches!(step.arg(2), Value::None) {
        // A rounded quotient is flat: its derivative is zero.
        return step.each(|_| unary("zeros_like", &step.grad()?).map(Some));
    }
    step.each(|i| {
        let (g, a, b) = (step.grad()?, step.arg(0), step.arg(1));
        let share = binary("div", &g, &b)?;
        if place(step, i) == 0 {
            return Ok(Some(share));
        }
        unary("neg", &mul(&share, &binary("div", &a, &b)?)?).map(Some)
    })
}

fn power(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    step.each(|i| {
        let (g, a, b, y) = (step.grad()?, step.arg(0), step.arg(1), step.result()?);
        if !step.is_tensor(1) {
            let exponent = step.number(1, 0.0)?;
            if exponent == 0.0 {
                return unary("zeros_like", &g).map(Some);
            }
            let lower = binary("pow", &a, &Value::Float(exponent - 1.0))?;
            return mul(&g, &scaled(&lower, exponent)?).map(Some);
        }
        if place(step, i) == 0 {
            let lower = binary("pow", &a, &plus(&b, -1.0)?)?;
            let slope = mul(&g, &mul(&lower, &b)?)?;
            return masked(&slope, &binary("ne", &b, &Value::Int(0))?).map(Some);
        }
        let slope = mul(&g, &mul(&y, &unary("log", &a)?)?)?;
        let is_flat = binary("logical_and", &binary("eq", &a, &Value::Int(0))?, &binary("ge", &b, &Value::Int(0))?)?;
        masked(&slope, &unary("logical_not", &is_flat)?).map(Some)
    })
}

/// The slope of the first is the logarithm, but at zero where there is no finite one; of a number that is NaN neither.
fn times_log1p(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    step.each(|i| {
        let (g, x, y) = (step.grad()?, step.arg(0), step.arg(1));
        if place(step, i) == 1 {
            return binary("div", &mul(&g, &x)?, &plus(&y, 1.0)?).map(Some);
        }
        let made = binary("special_xlog1py", &g, &y)?;
        let is_zero = binary("eq", &x, &Value::Int(0))?;
        if step.is_tensor(1) {
            let is_none = binary("le", &y, &Value::Int(-1))?;
            return dropped(&made, &binary("logical_and", &is_zero, &is_none)?).map(Some);
        }
        if step.number(1, 0.0)? > -1.0 { Ok(Some(made)) } else { dropped(&made, &is_zero).map(Some) }
    })
}

/// Ties share the gradient; where one is a NaN, both get it.
fn larger(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    let sign = if matches!(step.name, "maximum" | "clamp_min") { "lt" } else { "gt" };
    step.each(|i| {
        let (g, own, other) = (step.grad()?, step.arg(i), step.arg(1 - i));
        let shared = op("where", vec![binary("eq", &own, &other)?, scaled(&g, 0.5)?, g])?;
        dropped(&shared, &binary(sign, &own, &other)?).map(Some)
    })
}

/// Nothing goes back at a limit that is a number; a limit that is a tensor shares the gradient.
fn clamped(step: &Step<'_>) -> Answer<Vec<Option<HostTensor>>> {
    let (low, high) = match step.name {
        "clamp_max" => (Value::None, step.arg(1)),
        _ => (step.arg(1), step.arg(2)),
    };
    let is_tensor = |value: &Value| matches!(value, Value::Tensor(_));
    match (is_tensor(&low), is_tensor(&high)) {
        (true, true) => clamped_between(step, &low, &high),
        (true, false) | (false, true) => {
            // As `maximum` or `minimum`.
            let (name, limit) = if is_tensor(&low) { ("clamp_min", low) } else { ("clamp_max", high) };
            larger(&Step { name, args: &[step.arg(0), limit], ..*step })
        }
        (false, false) => step.each(|i| {
            let mut made = step.grad()?;
            for (sign, limit) in [("gt", &low), ("lt", &high)] {
                if i == 0 && !matches!(limit, Value::None) {
                    made = masked(&made, &binary(sign, &step.arg(0), limit)?)?;
                }
            }
            Ok(Some(made))
        }),
    }
}

fn clamped_between(step: &Step<'_>, low: &Value, high: &Value) -> Answer<Vec<Option<HostTensor>>> {
    let x = step.arg(0);
    let test = |sign: &str, a: &Value, b: &Value| binary(sign, a, b);
    let both = |a: &Value, b: &Value| binary("logical_and", a, b);
    let either = |a: &Value, b: &Value| binary("logical_or", a, b);
    let (at_low, at_high, has_room) = (test("eq", &x, low)?, test("eq", &x, high)?, test("lt", low, high)?);
    step.each(|i| {
        let g = step.grad()?;
        let (whole, half) = match i {
            0 => {
                let outside = either(&test("lt", &x, low)?, &test("gt", &x, high)?)?;
                (unary("logical_not", &outside)?, binary("logical_xor", &at_low, &at_high)?)
            }
            1 => (both(&test("lt", &x, low)?, &test("le", low, high)?)?, both(&at_low, &has_room)?),
            _ => (either(&test("gt", &x, high)?, &test("gt", low, high)?)?, both(&at_high, &has_room)?),
        };
        let shared = op("where", vec![half.clone(), scaled(&g, 0.5)?, g])?;
        masked(&shared, &either(&whole, &half)?).map(Some)
    })
}

/// The gradient of one tensor's elements.
fn slope(step: &Step<'_>) -> Option<Answer<Value>> {
    use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, PI};
    let (g, x, y) = (|| step.grad(), || step.arg(0), || step.result());
    let square = |a: &Value| unary("square", a);
    let over = |a: &Value, b: &Value| binary("div", a, b);
    let above = |limit: f64| binary("gt", &x(), &Value::Float(limit));
    let both = |a: &Value, b: &Value| binary("logical_and", a, b);
    let made = || -> Answer<Option<Value>> {
        Ok(Some(match step.name {
            "floor" | "ceil" | "round" | "trunc" | "sign" => unary("zeros_like", &g()?)?,
            "exp" => mul(&g()?, &y()?)?,
            "exp2" => scaled(&mul(&g()?, &y()?)?, LN_2)?,
            "expm1" => mul(&g()?, &plus(&y()?, 1.0)?)?,
            "log" => over(&g()?, &x())?,
            "log2" => over(&g()?, &scaled(&x(), LN_2)?)?,
            "log10" => over(&g()?, &scaled(&x(), LN_10)?)?,
            "log1p" => over(&g()?, &plus(&x(), 1.0)?)?,
            "sqrt" => over(&g()?, &scaled(&y()?, 2.0)?)?,
            "rsqrt" => scaled(&mul(&g()?, &binary("pow", &y()?, &Value::Int(3))?)?, -0.5)?,
            "sin" => mul(&g()?, &unary("cos", &x())?)?,
            "cos" => unary("neg", &mul(&g()?, &unary("sin", &x())?)?)?,
            "tan" => mul(&g()?, &plus(&square(&y()?)?, 1.0)?)?,
            "asin" => mul(&g()?, &unary("rsqrt", &one_minus(&square(&x())?)?)?)?,
            "acos" => unary("neg", &mul(&g()?, &unary("rsqrt", &one_minus(&square(&x())?)?)?)?)?,
            "atan" => over(&g()?, &plus(&square(&x())?, 1.0)?)?,
            "sinh" => mul(&g()?, &unary("cosh", &x())?)?,
            "cosh" => mul(&g()?, &unary("sinh", &x())?)?,
            "tanh" => mul(&g()?, &one_minus(&square(&y()?)?)?)?,
            "asinh" => mul(&g()?, &unary("rsqrt", &plus(&square(&x())?, 1.0)?)?)?,
            "acosh" => mul(&g()?, &unary("rsqrt", &plus(&square(&x())?, -1.0)?)?)?,
            "atanh" => over(&g()?, &one_minus(&square(&x())?)?)?,
            "sigmoid" => mul(&g()?, &mul(&y()?, &one_minus(&y()?)?)?)?,
            "erf" => scaled(&mul(&g()?, &unary("exp", &unary("neg", &square(&x())?)?)?)?, FRAC_2_SQRT_PI)?,
            "erfc" => scaled(&mul(&g()?, &unary("exp", &unary("neg", &square(&x())?)?)?)?, -FRAC_2_SQRT_PI)?,
            "erfinv" => scaled(&mul(&g()?, &unary("exp", &square(&y()?)?)?)?, 1.0 / FRAC_2_SQRT_PI)?,
            "special_entr" => unary("neg", &mul(&g()?, &plus(&unary("log", &x())?, 1.0)?)?)?,
            "reciprocal" => unary("neg", &mul(&g()?, &square(&y()?)?)?)?,
            "abs" => mul(&g()?, &unary("sign", &x())?)?,
            "neg" => unary("neg", &g()?)?,
            "frac" => g()?,
            "square" => scaled(&mul(&g()?, &x())?, 2.0)?,
            "deg2rad" => scaled(&g()?, PI / 180.0)?,
            "rad2deg" => scaled(&g()?, 180.0 / PI)?,
            // A NaN lets the gradient through.
            "relu" => dropped(&g()?, &binary("le", &y()?, &Value::Int(0))?)?,
            "relu6" => outside(step, 0.0, 6.0)?,
            "hardtanh" => outside(step, step.number(1, -1.0)?, step.number(2, 1.0)?)?,
            "leaky_relu" => {
                let below = scaled(&g()?, step.number(1, 0.01)?)?;
                op("where", vec![above(0.0)?, g()?, below])?
            }
            "threshold" => dropped(&g()?, &binary("le", &x(), &Value::Float(step.number(1, 0.0)?))?)?,
            "lgamma" => mul(&g()?, &unary("digamma", &x())?)?,
            "silu" => {
                let s = unary("sigmoid", &x())?;
                mul(&g()?, &mul(&s, &plus(&mul(&x(), &one_minus(&s)?)?, 1.0)?)?)?
            }
            "mish" => {
                let (s, t) = (unary("sigmoid", &x())?, unary("tanh", &unary("softplus", &x())?)?);
                mul(&g()?, &add(&t, &mul(&mul(&x(), &s)?, &one_minus(&square(&t)?)?)?)?)?
            }
            "log_sigmoid" => mul(&g()?, &unary("sigmoid", &unary("neg", &x())?)?)?,
            "softplus" => {
                let (beta, limit) = (step.number(1, 1.0)?, step.number(2, 20.0)?);
                let z = scaled(&x(), beta)?;
                let curved = mul(&g()?, &unary("sigmoid", &z)?)?;
                op("where", vec![binary("gt", &z, &Value::Float(limit))?, g()?, curved])?
            }
            // The constants of Klambauer et al. 2017, as torch has them.
            "selu" => exponential(step, 1.673_263_242_354_377_2, 1.050_700_987_355_480_5, 1.0)?,
            "elu" => exponential(step, step.number(1, 1.0)?, step.number(2, 1.0)?, step.number(3, 1.0)?)?,
            "hardsigmoid" => {
                let inside = both(&above(-3.0)?, &binary("lt", &x(), &Value::Int(3))?)?;
                scaled(&masked(&g()?, &inside)?, 1.0 / 6.0)?
            }
            "hardswish" => {
                let curved = mul(&g()?, &plus(&scaled(&x(), 1.0 / 3.0)?, 0.5)?)?;
                let upper = op("where", vec![binary("lt", &x(), &Value::Int(3))?, curved, g()?])?;
                dropped(&upper, &binary("le", &x(), &Value::Int(-3))?)?
            }
            "gelu" => gelu(step)?,
            _ => return Ok(None),
        }))
    };
    made().transpose()
}

/// The gradient of `gelu`, by the hyperbolic tangent or by the error function.
fn gelu(step: &Step<'_>) -> Answer<Value> {
    use std::f64::consts::{FRAC_1_SQRT_2, PI};
    let (g, x) = (step.grad()?, step.arg(0));
    let square = unary("square", &x)?;
    if matches!(step.arg(1), Value::Text(how) if how == "tanh") {
        let (k, c) = ((2.0 / PI).sqrt(), 0.044_715);
        let inner = scaled(&mul(&x, &plus(&scaled(&square, c)?, 1.0)?)?, k)?;
        let t = unary("tanh", &inner)?;
        let left = scaled(&plus(&t, 1.0)?, 0.5)?;
        let rise = scaled(&plus(&scaled(&square, 3.0 * c)?, 1.0)?, 0.5 * k)?;
        let right = mul(&mul(&x, &one_minus(&unary("square", &t)?)?)?, &rise)?;
        return mul(&g, &add(&left, &right)?);
    }
    let share = scaled(&plus(&unary("erf", &scaled(&x, FRAC_1_SQRT_2)?)?, 1.0)?, 0.5)?;
    let density = scaled(&unary("exp", &scaled(&square, -0.5)?)?, 1.0 / (2.0 * PI).sqrt())?;
    mul(&g, &add(&share, &mul(&x, &density)?)?)
}

/// `scale * x` above zero, `scale * alpha * (exp(input_scale * x) - 1)` below.
fn exponential(step: &Step<'_>, alpha: f64, scale: f64, input_scale: f64) -> Answer<Value> {
    let (g, x) = (step.grad()?, step.arg(0));
    let below = mul(&scaled(&g, scale * alpha * input_scale)?, &unary("exp", &scaled(&x, input_scale)?)?)?;
    op("where", vec![binary("le", &x, &Value::Int(0))?, below, scaled(&g, scale)?])
}

/// Nothing goes back at a limit or beyond; a NaN lets the gradient through.
fn outside(step: &Step<'_>, low: f64, high: f64) -> Answer<Value> {
    let x = step.arg(0);
    let (below, above) = (binary("le", &x, &Value::Float(low))?, binary("ge", &x, &Value::Float(high))?);
    dropped(&step.grad()?, &binary("logical_or", &below, &above)?)
}
