//! Operations that are made of others.

use ndarray::{ArrayD, IxDyn};

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::Value;
use super::args::{Args, not_implemented};
use super::elementwise::zip;
use super::operand;
use super::promote::result_type;
use super::sweep;
use super::wide::Wide;
use crate::back::Exception;
use crate::runtime::DType;

pub fn run(args: &mut Args<'_>) -> Option<Answer<Value>> {
    Some(match args.name {
        "linear" => linear(args),
        "outer" => outer(args),
        "baddbmm" | "addmv" => added(args),
        "lerp" => lerp(args),
        "addcmul" | "addcdiv" => scaled(args),
        "logsumexp" => logsumexp(args),
        "layer_norm" => layer_norm(args),
        "embedding" => embedding(args),
        "mse_loss" => mse_loss(args),
        "count_nonzero" => count_nonzero(args),
        "meshgrid" => meshgrid(args),
        _ => return None,
    })
}

fn call(name: &str, args: Vec<Value>, outer: &Args<'_>) -> Answer<Value> {
    super::run(name, args, outer.device)
}

/// `x W^T + b`
fn linear(args: &mut Args<'_>) -> Answer<Value> {
    let (x, weight, bias) = (args.tensor()?, args.tensor()?, args.next());
    let weight = call("t", vec![Value::Tensor(weight)], args)?;
    let product = call("matmul", vec![Value::Tensor(x), weight], args)?;
    match bias {
        Value::None => Ok(product),
        bias => call("add", vec![product, bias], args),
    }
}

fn outer(args: &mut Args<'_>) -> Answer<Value> {
    let (a, b) = (args.tensor()?, args.tensor()?);
    if a.dim() != 1 || b.dim() != 1 {
        let message = format!("outer: Expected 1-D arguments, but got {}-D and {}-D", a.dim(), b.dim());
        return Err((Exception::Runtime, message));
    }
    let a = call("unsqueeze", vec![Value::Tensor(a), Value::Int(1)], args)?;
    call("mul", vec![a, Value::Tensor(b)], args)
}

/// `beta * input + alpha * (a b)`
fn added(args: &mut Args<'_>) -> Answer<Value> {
    let (input, a, b) = (args.tensor()?, args.next(), args.next());
    let (beta, alpha) = (args.next(), args.next());
    let product = call(if args.name == "baddbmm" { "bmm" } else { "mv" }, vec![a, b], args)?;
    let product = call("mul", vec![product, alpha], args)?;
    if matches!(beta, Value::Int(0) | Value::Bool(false)) || matches!(beta, Value::Float(b) if b == 0.0) {
        return Ok(product);
    }
    let input = call("mul", vec![Value::Tensor(input), beta], args)?;
    call("add", vec![product, input], args)
}

/// `self + weight * (end - self)`
fn lerp(args: &mut Args<'_>) -> Answer<Value> {
    let (x, end, weight) = (args.tensor()?, args.next(), args.next());
    let dtype = x.dtype();
    if let Value::Tensor(end) = &end
        && end.dtype() != dtype
    {
        let name = operand::type_name;
        let message = format!("expected dtype {} for `end` but got dtype {}", name(dtype), name(end.dtype()));
        return Err((Exception::Runtime, message));
    }
    if !dtype.is_float() {
        return not_implemented("lerp", dtype);
    }
    let wide = |value: &Value| match value {
        Value::Tensor(t) => Wide::of(t).brought(dtype).floats(),
        _ => ArrayD::zeros(IxDyn(&[])),
    };
    // A number has the precision of the computation.
    let weight = match &weight {
        Value::Tensor(_) => wide(&weight),
        number => operand::checked(number, operand::opmath(dtype))?.floats(),
    };
    let step = operand::step(dtype);
    let pairs = zip(&Wide::of(&x).floats(), &wide(&end), |x, end| (x, end))?;
    let weights = sweep::map(weight.view(), |w| (w, 0.0));
    // The sum starts from the nearer end, so that a weight of 1 gives the other end itself.
    let fused = operand::fused(dtype);
    let made = zip(&pairs, &weights, |(x, end), (w, _)| {
        let way = step(end - x);
        if w.abs() < 0.5 { fused(x, w, way) } else { fused(end, step(w - 1.0), way) }
    })?;
    Wide::Float(made).tensor(dtype, x.device()).map(Value::Tensor)
}

/// `self + value * a * b`, or `/ b`
fn scaled(args: &mut Args<'_>) -> Answer<Value> {
    let (x, a, b, value) = (args.next(), args.next(), args.next(), args.next());
    let multiplies = args.name == "addcmul";
    let dtype = result_type(&[&x, &a, &b]);
    if let (false, Value::Tensor(a), Value::Tensor(b)) = (multiplies, &a, &b)
        && !a.dtype().is_float()
        && !b.dtype().is_float()
    {
        let message = "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will \
                       perform a true division of tensor1 and tensor2.";
        return Err((Exception::Runtime, message.to_owned()));
    }
    if dtype == DType::Bool {
        return not_implemented(args.name, dtype);
    }
    let wide = |value: &Value, args: &Args<'_>| match value {
        Value::Tensor(t) => Ok(Wide::of(t).brought(dtype)),
        other => args.misfit(other, "Tensor"),
    };
    let value = if let Value::None = value { Value::Int(1) } else { value };
    let device = if let Value::Tensor(t) = &x { t.device() } else { args.device };
    let value = operand::checked(&value, operand::opmath(dtype))?;
    let made = match (wide(&x, args)?, wide(&a, args)?, wide(&b, args)?, value) {
        (Wide::Int(x), Wide::Int(a), Wide::Int(b), Wide::Int(value)) => {
            let part = zip(&zip(&value, &a, i64::wrapping_mul)?, &b, i64::wrapping_mul)?;
            Wide::Int(zip(&x, &part, i64::wrapping_add)?)
        }
        (x, a, b, value) => {
            let step = operand::step(dtype);
            let part = zip(&value.floats(), &a.floats(), |v, a| step(v * a))?;
            let pairs = zip(&part, &b.floats(), |p, b| (p, b))?;
            let (bases, fused) = (sweep::map(x.floats().view(), |x| (x, 0.0)), operand::fused(dtype));
            let made =
                |(x, _): (f64, f64), (p, b): (f64, f64)| if multiplies { fused(x, p, b) } else { x + step(p / b) };
            Wide::Float(zip(&bases, &pairs, made)?)
        }
    };
    made.tensor(dtype, device).map(Value::Tensor)
}

fn logsumexp(args: &mut Args<'_>) -> Answer<Value> {
    let (x, dims, keep) = (args.tensor()?, args.next(), args.next());
    let (dtype, device) = (x.dtype(), x.device());
    let dtype = if dtype.is_float() { dtype } else { DType::Float32 };
    let x = Value::Tensor(Wide::of(&x).tensor(DType::Float64, device)?);
    let empty = match &dims {
        Value::List(all) => all.iter().any(|d| matches!(d, Value::Int(d) if x_axis(&x, *d).is_ok_and(|n| n == 0))),
        _ => false,
    };
    if empty {
        // An empty sum has no maximum to shift by.
        let sum = call("sum", vec![x, dims, keep], args)?;
        let made = call("log", vec![sum], args)?;
        return call("to", vec![made, Value::DType(dtype)], args);
    }
    let most = call("amax", vec![x.clone(), dims.clone(), Value::Bool(true)], args)?;
    // Rows of infinities keep their value.
    let Value::Tensor(shift) = &most else { return Ok(Value::None) };
    let shift = Wide::Float(sweep::replaced(Wide::of(shift).floats(), |m| if m.is_finite() { m } else { 0.0 }));
    let shift = Value::Tensor(shift.tensor(DType::Float64, device)?);
    let parts = call("exp", vec![call("sub", vec![x.clone(), shift.clone()], args)?], args)?;
    let sum = call("log", vec![call("sum", vec![parts, dims.clone(), Value::Bool(true)], args)?], args)?;
    let whole = call("add", vec![sum, shift], args)?;
    let made = match keep {
        Value::Bool(true) => whole,
        // A sum over one element each drops the dimensions.
        _ => call("sum", vec![whole, dims], args)?,
    };
    call("to", vec![made, Value::DType(dtype)], args)
}

/// The extent of a dimension.
fn x_axis(x: &Value, at: i64) -> Answer<i64> {
    match x {
        Value::Tensor(t) => Ok(t.shape().get(t.axis(at)?).copied().unwrap_or(1)),
        _ => Ok(1),
    }
}

/// `layer_norm(input, normalized_shape, weight, bias, eps)`
fn layer_norm(args: &mut Args<'_>) -> Answer<Value> {
    let (x, shape, weight, bias, eps) = (args.tensor()?, args.ints()?, args.next(), args.next(), args.float(1e-5)?);
    let dims = shape.len();
    if dims == 0 || dims > x.dim() || x.shape()[x.dim() - dims..] != shape[..] {
        let message = format!(
            "Given normalized_shape={shape:?}, expected input with shape [*, {}], but got input of size{:?}",
            shape.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
            x.shape()
        );
        return Err((Exception::Runtime, message));
    }
    let (dtype, device) = (x.dtype(), x.device());
    if !dtype.is_float() {
        return not_implemented("LayerNormKernelImpl", dtype);
    }
    let over = Value::List((1..=dims as i64).map(|i| Value::Int(-i)).collect());
    let x = Value::Tensor(Wide::of(&x).tensor(DType::Float64, device)?);
    let mean = call("mean", vec![x.clone(), over.clone(), Value::Bool(true)], args)?;
    let centred = call("sub", vec![x, mean], args)?;
    let square = call("mul", vec![centred.clone(), centred.clone()], args)?;
    let variance = call("mean", vec![square, over, Value::Bool(true)], args)?;
    let scale = call("rsqrt", vec![call("add", vec![variance, Value::Float(eps)], args)?], args)?;
    let mut made = call("mul", vec![centred, scale], args)?;
    if !matches!(weight, Value::None) {
        made = call("mul", vec![made, weight], args)?;
    }
    if !matches!(bias, Value::None) {
        made = call("add", vec![made, bias], args)?;
    }
    call("to", vec![made, Value::DType(dtype)], args)
}

/// `embedding(weight, indices)`
fn embedding(args: &mut Args<'_>) -> Answer<Value> {
    let (weight, indices) = (args.tensor()?, args.tensor()?);
    if weight.dim() != 2 {
        return Err((Exception::Runtime, "'weight' must be 2-D".to_owned()));
    }
    let shape: Vec<Value> =
        indices.shape().iter().chain(weight.shape().iter().skip(1)).map(|n| Value::Int(*n)).collect();
    let flat = call("flatten", vec![Value::Tensor(indices)], args)?;
    let rows = call("index_select", vec![Value::Tensor(weight), Value::Int(0), flat], args)?;
    call("reshape", vec![rows, Value::List(shape)], args)
}

/// `mse_loss(input, target, reduction)`: 0 none, 1 mean, 2 sum.
fn mse_loss(args: &mut Args<'_>) -> Answer<Value> {
    let (x, target, reduction) = (args.next(), args.next(), args.int(1)?);
    let dtype = result_type(&[&x, &target]);
    if !dtype.is_float() {
        return not_implemented("mse_cpu", dtype);
    }
    let x = call("to", vec![x, Value::DType(dtype)], args)?;
    let target = call("to", vec![target, Value::DType(dtype)], args)?;
    let difference = call("sub", vec![x, target], args)?;
    let square = call("mul", vec![difference.clone(), difference], args)?;
    match reduction {
        0 => Ok(square),
        1 => call("mean", vec![square], args),
        _ => call("sum", vec![square], args),
    }
}

fn count_nonzero(args: &mut Args<'_>) -> Answer<Value> {
    let (x, dim) = (args.next(), args.next());
    let set = call("ne", vec![x, Value::Int(0)], args)?;
    call("sum", vec![set, dim], args)
}

/// `meshgrid(tensors, indexing)`
fn meshgrid(args: &mut Args<'_>) -> Answer<Value> {
    let (tensors, indexing) = (args.tensors()?, args.text()?);
    let swapped = indexing == "xy" && tensors.len() >= 2;
    let mut shape: Vec<i64> = tensors.iter().map(HostTensor::numel).collect();
    if swapped {
        shape.swap(0, 1);
    }
    let shape = Value::List(shape.into_iter().map(Value::Int).collect());
    let mut out = Vec::with_capacity(tensors.len());
    for (i, tensor) in tensors.iter().enumerate() {
        if tensor.dim() > 1 {
            let message =
                format!("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {}D", tensor.dim());
            return Err((Exception::Runtime, message));
        }
        let at = if swapped && i < 2 { 1 - i } else { i };
        let own = (0..tensors.len()).map(|d| Value::Int(if d == at { tensor.numel() } else { 1 })).collect();
        let view = call("reshape", vec![Value::Tensor(tensor.clone()), Value::List(own)], args)?;
        out.push(call("expand", vec![view, shape.clone()], args)?);
    }
    Ok(Value::List(out))
}
