//! Activation functions, with torch's parameters and defaults. They compute in doubles, rounded once to the element type.

use ndarray::ArrayD;

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::{Value, cpp_name};
use super::args::{Args, not_implemented};
use super::wide::Wide;
use super::{operand, sweep};
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    let known = matches!(
        args.name,
        "relu6"
            | "silu"
            | "mish"
            | "selu"
            | "hardswish"
            | "hardsigmoid"
            | "log_sigmoid"
            | "leaky_relu"
            | "elu"
            | "gelu"
            | "softplus"
            | "hardtanh"
            | "threshold"
    );
    known.then(|| activation(args).map(Value::Tensor))
}

/// `log(1 + exp(x))`, which does not overflow.
fn log1p_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// `1 / (1 + exp(-x))`
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Operations that only choose among their operands, in the tensor's own type: integers stay integers.
fn clipped(x: HostTensor, args: &mut Args<'_>) -> Answer<HostTensor> {
    let dtype = x.dtype();
    if args.name == "threshold" {
        let (threshold, value) = (args.next(), args.next());
        // The bound has the precision of the computation; the value is an element.
        let (threshold, value) =
            (operand::checked(&threshold, operand::opmath(dtype))?, operand::checked(&value, dtype)?);
        let made = match (Wide::of(&x), threshold, value) {
            (Wide::Int(a), Wide::Int(t), Wide::Int(v)) => {
                let (t, v) = (operand::only(&t), operand::only(&v));
                Wide::Int(sweep::replaced(a, |x| if x <= t { v } else { x }))
            }
            (a, t, v) => {
                let (t, v) = (operand::only(&t.floats()), operand::only(&v.floats()));
                Wide::Float(sweep::replaced(a.floats(), |x| if x <= t { v } else { x }))
            }
        };
        return made.tensor(dtype, x.device());
    }
    let ends = if args.name == "relu6" { [0, 6] } else { [-1, 1] };
    let mut bounds = Vec::new();
    for end in ends {
        let value = match args.next() {
            Value::None => Value::Int(end),
            // Parameters are truncated to integers where the elements are integers.
            Value::Float(v) if !dtype.is_float() => {
                operand::checked(&Value::Float(v), DType::Int64)?;
                Value::Int(v as i64)
            }
            value => value,
        };
        bounds.push(value);
    }
    bounds.insert(0, Value::Tensor(x));
    match super::run("clamp", bounds, args.device)? {
        Value::Tensor(made) => Ok(made),
        other => args.misfit(&other, "Tensor"),
    }
}

/// `x`, NaN among it, between two bounds.
fn between(x: f64, low: f64, high: f64) -> f64 {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// A parameter in the type in which torch computes with an element type.
fn in_opmath(value: &Value, dtype: DType) -> Answer<f64> {
    Ok(operand::only(&operand::checked(value, operand::opmath(dtype))?.floats()))
}

/// The next parameter, as [`in_opmath`]; an integer where none is given.
fn number(args: &mut Args<'_>, otherwise: i64, dtype: DType) -> Answer<f64> {
    match args.next() {
        Value::None => Ok(otherwise as f64),
        value => in_opmath(&value, dtype),
    }
}

fn activation(args: &mut Args<'_>) -> Answer<HostTensor> {
    let x = args.tensor()?;
    let name = args.name;
    if x.dtype() == DType::Bool {
        return not_implemented(name, x.dtype());
    }
    let clips = matches!(name, "relu6" | "hardtanh" | "threshold");
    if clips {
        return clipped(x, args);
    }
    if !x.dtype().is_float() {
        let message = format!("\"{name}\" not implemented for '{}'", cpp_name(x.dtype()));
        return Err((Exception::NotImplemented, message));
    }
    let a = Wide::of(&x).floats();
    let made: ArrayD<f64> = match name {
        "silu" => sweep::replaced(a, |x| x * sigmoid(x)),
        "mish" => sweep::replaced(a, |x| x * log1p_exp(x).tanh()),
        // Klambauer et al. 2017, eq. 14.
        "selu" => sweep::replaced(a, |x| {
            let (alpha, scale) = (1.673_263_242_354_377_3, 1.050_700_987_355_480_5);
            scale * if x > 0.0 { x } else { alpha * x.exp_m1() }
        }),
        "hardswish" => sweep::replaced(a, |x| x * between(x + 3.0, 0.0, 6.0) / 6.0),
        "hardsigmoid" => sweep::replaced(a, |x| between(x + 3.0, 0.0, 6.0) / 6.0),
        "log_sigmoid" => sweep::replaced(a, |x| -log1p_exp(-x)),
        "leaky_relu" => {
            let slope = match args.next() {
                Value::None => 0.01,
                slope => in_opmath(&slope, x.dtype())?,
            };
            sweep::replaced(a, |x| if x > 0.0 { x } else { x * slope })
        }
        "elu" => {
            let mut factor = || number(args, 1, x.dtype());
            let (alpha, scale, input_scale) = (factor()?, factor()?, factor()?);
            sweep::replaced(a, |x| if x >= 0.0 { x * scale } else { (x * input_scale).exp_m1() * (alpha * scale) })
        }
        "gelu" => match args.text()?.as_str() {
            "none" | "" => sweep::replaced(a, |x| 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2))),
            "tanh" => sweep::replaced(a, |x| {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
                0.5 * x * (1.0 + inner.tanh())
            }),
            other => {
                let message = format!("approximate argument must be either none or tanh, not {other}");
                return Err((Exception::Runtime, message));
            }
        },
        _ => {
            let (beta, threshold) = (number(args, 1, x.dtype())?, number(args, 20, x.dtype())?);
            sweep::replaced(a, |x| if x * beta > threshold { x } else { log1p_exp(x * beta) / beta })
        }
    };
    Wide::Float(made).tensor(x.dtype(), x.device())
}
