//! Operations on tensors, by torch's names, which [`Service::Op`](crate::ir::Service::Op) runs. A name that ends in `_` writes its result
//! to its first argument.

mod activation;
mod args;
mod broadcast;
mod compose;
mod convolution;
mod copies;
mod einsum;
mod elementwise;
pub mod gradients;
mod index;
mod kernels;
mod make;
mod operand;
mod order;
mod products;
mod promote;
mod reduce;
mod scatter;
mod shape;
mod subscript;
mod sweep;
mod wide;
mod windows;

use smallvec::SmallVec;

use self::args::Args;
use super::answer::Answer;
use super::array::{DeviceTag, HostTensor};
use super::value::Value;
use super::{memory_limit as memory, work};
use crate::back::Exception;
use crate::runtime::DType;
pub use copies::copied;

/// Runs an operation; factories make tensors on `device` unless their options name one.
///
/// # Errors
/// The exception torch raises, with its words where people look for them.
pub fn run(name: &str, args: Vec<Value>, device: DeviceTag) -> Answer<Value> {
    if let Some(plain) = name.strip_suffix('_').filter(|_| name != "index_put_")
        && let Some(Value::Tensor(target)) = args.first().cloned()
    {
        return in_place(plain, &target, args, device);
    }
    if let ("manual_seed", [Value::Int(seed)]) = (name, args.as_slice()) {
        make::random::seed(*seed as u64);
        return Ok(Value::None);
    }
    match work::contained(|| kernels::run(name, &args).transpose())? {
        Some(value) => Ok(value),
        None => run_own(name, args, device),
    }
}

/// Runs an operation by its own code.
///
/// # Errors
/// As [`run`].
fn run_own(name: &str, args: Vec<Value>, device: DeviceTag) -> Answer<Value> {
    let tensors: SmallVec<[&HostTensor; 4]> = args.iter().flat_map(tensors_in).collect();
    room_for(name, &tensors)?;
    drop(tensors);
    let mut args = Args::new(name, args, device);
    let groups = [
        make::run,
        shape::run,
        elementwise::run,
        reduce::run,
        products::run,
        index::run,
        order::run,
        scatter::run,
        subscript::run,
        activation::run,
        compose::run,
        einsum::run,
        convolution::run,
    ];
    match work::contained(|| groups.into_iter().find_map(|group| group(&mut args)).transpose())? {
        Some(value) => Ok(value),
        None => Err((Exception::NotImplemented, format!("the operation `{name}` on tensors is not supported"))),
    }
}

fn tensors_in(value: &Value) -> Vec<&HostTensor> {
    match value {
        Value::Tensor(t) => vec![t],
        Value::List(all) => all.iter().flat_map(tensors_in).collect(),
        _ => Vec::new(),
    }
}

/// Checks that there is memory to compute with all of these at once: a view may have far more elements than memory, and the values that an
/// operation makes on its way take a word for each element, of the operands and of the shape they broadcast to.
///
/// # Errors
/// `MemoryError`.
fn room_for(name: &str, tensors: &[&HostTensor]) -> Answer<()> {
    /// Elements below which memory is not asked for.
    const FEW: i64 = 1 << 20;
    let mut all = 0i64;
    for tensor in tensors {
        all = all.saturating_add(super::array::count(tensor.shape())?);
    }
    let is_product = ["mm", "matmul", "linear", "mv", "dot"].iter().any(|end| name.ends_with(end));
    if !is_product && tensors.windows(2).any(|two| two[0].shape() != two[1].shape()) {
        let first = Ok(Vec::new());
        let shape = tensors.iter().fold(first, |shape: Answer<Vec<i64>>, t| broadcast::broadcast(&shape?, t.shape()));
        all = all.max(shape.map_or(0, |shape| super::array::count(&shape).unwrap_or(i64::MAX)));
    }
    if all < FEW {
        return Ok(());
    }
    // The room is for the operands, the result, and the tensor that it becomes; sorting needs as many places, and pairs
    // to merge, besides.
    let words = if matches!(name, "sort" | "argsort" | "topk" | "unique" | "median" | "kthvalue") { 7 } else { 3 };
    match usize::try_from(all).is_ok_and(|n| memory::has_elements::<u64>(n.saturating_mul(words))) {
        true => Ok(()),
        false => {
            let shapes: Vec<String> = tensors.iter().map(|t| format!("{:?}", t.shape())).collect();
            let of = if let [one] = shapes.as_slice() {
                format!("a tensor of shape {one}")
            } else {
                "its tensors".to_owned()
            };
            Err((Exception::Memory, format!("no memory to compute with {of}")))
        }
    }
}

fn in_place(name: &str, target: &HostTensor, args: Vec<Value>, device: DeviceTag) -> Answer<Value> {
    if name == "zero" {
        run("fill_", vec![Value::Tensor(target.clone()), Value::Int(0)], device)?;
        return Ok(Value::Tensor(target.clone()));
    }
    // A number beside the target is the first factor to torch, which is brought to the target's type; the target, as the second one, may
    // keep its precision.
    let mut args = args;
    if name == "mul" && matches!(args.get(1), Some(Value::Int(_) | Value::Float(_))) {
        args.swap(0, 1);
    }
    match run(name, args, device)? {
        Value::Tensor(made) => {
            // Floats do not go into integers, nor numbers into truth values; operations that only move elements convert
            // them.
            let rank = |d: DType| if d.is_float() { 2 } else { i32::from(d != DType::Bool) };
            if rank(made.dtype()) > rank(target.dtype()) && !matches!(name, "copy" | "fill" | "masked_fill") {
                let name = super::value::cpp_name;
                let message = format!(
                    "result type {} can't be cast to the desired output type {}",
                    name(made.dtype()),
                    name(target.dtype())
                );
                return Err((Exception::Runtime, message));
            }
            let full = broadcast::broadcast(made.shape(), target.shape())?;
            if full != target.shape() {
                let message =
                    format!("output with shape {:?} doesn't match the broadcast shape {full:?}", target.shape());
                return Err((Exception::Runtime, message));
            }
            copies::written(&made, target)?;
            Ok(Value::Tensor(target.clone()))
        }
        _ => Err((Exception::NotImplemented, format!("`{name}_` is not supported"))),
    }
}
