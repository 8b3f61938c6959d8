//! Derivatives of operations, by torch's names: the gradient that goes back through each (the formulas are those of calculus; where a
//! function has a kink or a tie, torch's choice, `tools/autograd/derivatives.yaml` of PyTorch).
//!
//! One formula serves all operations that only move elements: the operation runs on the numbers of the elements. An operation without a
//! formula is an error by its name when a gradient comes to it. The values that a derivative reads, which may not be written before it runs,
//! are stated beside it (`saved_variables.rs`).

mod contractions;
mod elementwise;
mod indexing;
mod products;
mod reductions;
mod saved_variables;
mod scans;
mod view_places;

use super::{Answer, DeviceTag, HostTensor, Value, run};
use crate::back::Exception;
use crate::runtime::DType;
pub use saved_variables::Reads;
use saved_variables::{Operation, Results};
pub use view_places::{ElementPlaces, of_whole};

/// True if the results of an operation have no gradient: they are no numbers of the argument's, or do not depend on its values.
pub fn is_constant(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "bitwise_not",
        "isnan",
        "isinf",
        "isfinite",
        "argmax",
        "argmin",
        "argsort",
        "nonzero",
        "unique",
        "bincount",
        "any",
        "all",
        "equal",
        "allclose",
        "item",
        "is_nonzero",
        "is_contiguous",
        "is_signed",
        "same_memory",
        "storage_offset",
        "count_nonzero",
        "searchsorted",
        "empty",
        "zeros",
        "ones",
        "full",
        "rand",
        "randn",
        "arange",
        "linspace",
        "eye",
        "tensor",
    ];
    NAMES.contains(&name) || name.ends_with("_like")
}

/// True if an operation draws random numbers.
pub fn is_random(name: &str) -> bool {
    matches!(name.trim_end_matches('_'), "rand" | "randn" | "rand_like" | "randn_like" | "uniform" | "normal")
}

/// Gradients of an operation's tensors, in order, for those of its results; they may still have the shape that the tensor was broadcast to.
///
/// # Errors
/// By its name, of an operation whose derivative is not known.
pub fn backward(
    name: &str,
    args: &[Value],
    results: &[HostTensor],
    grads: &[Option<HostTensor>],
    needs: &[bool],
) -> Answer<Vec<Option<HostTensor>>> {
    let step = Step { name, args, results, grads, needs };
    let groups = [
        elementwise::backward,
        indexing::backward,
        products::backward,
        reductions::backward,
        scans::backward,
        contractions::backward,
    ];
    match groups.into_iter().find_map(|group| group(&step)) {
        Some(made) => made,
        None => Err((Exception::NotImplemented, format!("derivative for `{name}` is not implemented"))),
    }
}

/// The values that the derivative of an operation reads where the gradients of some of its tensors are wanted: those stated beside the
/// derivative, else every tensor and no result. `tensors` are all among the arguments, in order.
pub fn reads(name: &str, args: &[Value], tensors: &[&HostTensor], needs: &[bool]) -> Reads {
    let of = Operation { name, args, tensors, needs };
    let groups =
        [elementwise::reads, indexing::reads, products::reads, reductions::reads, scans::reads, contractions::reads];
    groups.into_iter().find_map(|group| group(&of)).unwrap_or_else(|| Reads::all(&of, Results::None))
}

/// A step of the backward pass: an operation, and the gradients of its results.
#[derive(Clone, Copy)]
struct Step<'a> {
    name: &'a str,
    args: &'a [Value],
    results: &'a [HostTensor],
    grads: &'a [Option<HostTensor>],
    needs: &'a [bool],
}

/// Gradients of the tensors, in order.
type Made = Option<Answer<Vec<Option<HostTensor>>>>;

impl Step<'_> {
    /// An argument; nothing where none is given.
    fn arg(&self, i: usize) -> Value {
        self.args.get(i).cloned().unwrap_or(Value::None)
    }

    fn tensor(&self, i: usize) -> Answer<&HostTensor> {
        match self.args.get(i) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            _ => self.unknown("argument"),
        }
    }

    fn is_tensor(&self, i: usize) -> bool {
        matches!(self.args.get(i), Some(Value::Tensor(_)))
    }

    /// A number; `default` where none is given.
    fn number(&self, i: usize, default: f64) -> Answer<f64> {
        match self.args.get(i) {
            None | Some(Value::None) => Ok(default),
            Some(Value::Int(v)) => Ok(*v as f64),
            Some(Value::Float(v)) => Ok(*v),
            Some(Value::Bool(v)) => Ok(f64::from(u8::from(*v))),
            Some(_) => self.unknown("argument"),
        }
    }

    /// The gradient of the first result.
    fn grad(&self) -> Answer<Value> {
        match self.grads.first() {
            Some(Some(grad)) => Ok(Value::Tensor(grad.clone())),
            _ => self.unknown("result"),
        }
    }

    fn result(&self) -> Answer<Value> {
        match self.results.first() {
            Some(result) => Ok(Value::Tensor(result.clone())),
            None => self.unknown("result"),
        }
    }

    /// True if the gradient of a tensor is wanted, by its place among the tensors.
    fn needs(&self, i: usize) -> bool {
        self.needs.get(i).copied().unwrap_or(false)
    }

    fn unknown<T>(&self, what: &str) -> Answer<T> {
        let message = format!("derivative for `{}` with this {what} is not implemented", self.name);
        Err((Exception::NotImplemented, message))
    }

    /// A gradient for each tensor: the one that `of` makes, by the tensor's place, where it is wanted.
    fn each(&self, mut of: impl FnMut(usize) -> Answer<Option<Value>>) -> Answer<Vec<Option<HostTensor>>> {
        let one = |i: usize| match if self.needs(i) { of(i)? } else { None } {
            Some(value) => tensor(value).map(Some),
            None => Ok(None),
        };
        (0..self.needs.len()).map(one).collect()
    }
}

/// Runs an operation.
fn op(name: &str, args: Vec<Value>) -> Answer<Value> {
    let device = args.iter().find_map(|v| if let Value::Tensor(t) = v { Some(t.device()) } else { None });
    run(name, args, device.unwrap_or(DeviceTag::CPU))
}

fn unary(name: &str, a: &Value) -> Answer<Value> {
    op(name, vec![a.clone()])
}

fn binary(name: &str, a: &Value, b: &Value) -> Answer<Value> {
    op(name, vec![a.clone(), b.clone()])
}

fn mul(a: &Value, b: &Value) -> Answer<Value> {
    match (a, b) {
        // Numbers stand on the right.
        (Value::Tensor(_), _) => binary("mul", a, b),
        _ => binary("mul", b, a),
    }
}

fn add(a: &Value, b: &Value) -> Answer<Value> {
    match (a, b) {
        (Value::Tensor(_), _) => binary("add", a, b),
        _ => binary("add", b, a),
    }
}

fn scaled(a: &Value, by: f64) -> Answer<Value> {
    binary("mul", a, &Value::Float(by))
}

fn plus(a: &Value, number: f64) -> Answer<Value> {
    binary("add", a, &Value::Float(number))
}

/// `1 - a`
fn one_minus(a: &Value) -> Answer<Value> {
    plus(&unary("neg", a)?, 1.0)
}

/// `g` where `mask` holds, 0 elsewhere.
fn masked(g: &Value, mask: &Value) -> Answer<Value> {
    dropped(g, &unary("logical_not", mask)?)
}

/// 0 where `mask` holds, `g` elsewhere.
fn dropped(g: &Value, mask: &Value) -> Answer<Value> {
    op("masked_fill", vec![g.clone(), mask.clone(), Value::Int(0)])
}

fn ints(all: impl IntoIterator<Item = i64>) -> Value {
    Value::List(all.into_iter().map(Value::Int).collect())
}

fn reshaped(a: &Value, shape: &[i64]) -> Answer<Value> {
    op("reshape", vec![a.clone(), ints(shape.iter().copied())])
}

/// A gradient summed to a shape that was broadcast to its own.
///
/// # Errors
/// A lack of memory.
pub fn reduced(grad: HostTensor, shape: &[i64]) -> Answer<HostTensor> {
    if grad.shape() == shape {
        return Ok(grad);
    }
    let more = grad.dim() - shape.len();
    let dims = (0..grad.dim()).filter(|&d| d < more || shape[d - more] == 1 && grad.shape()[d] != 1);
    let dims: Vec<i64> = dims.map(|d| d as i64).collect();
    let mut sum = Value::Tensor(grad);
    if !dims.is_empty() {
        sum = op("sum", vec![sum, ints(dims), Value::Bool(true)])?;
    }
    tensor(reshaped(&sum, shape)?)
}

/// A gradient of an element type, on a device.
///
/// # Errors
/// A lack of memory.
pub fn cast(grad: HostTensor, dtype: DType, device: DeviceTag) -> Answer<HostTensor> {
    let grad = grad.on(device);
    if grad.dtype() == dtype {
        return Ok(grad);
    }
    tensor(op("to", vec![Value::Tensor(grad), Value::DType(dtype)])?)
}

fn tensor(value: Value) -> Answer<HostTensor> {
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        other => Err((Exception::Runtime, format!("a gradient is {}", other.type_name()))),
    }
}
