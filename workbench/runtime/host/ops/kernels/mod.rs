//! Operations on large tensors as kernels of our own: CUDA C++ that is compiled like any other text when it is first needed, once for
//! each process. So they are vectorised, run on all threads, and can be stopped.
//!
//! An operation is tried here first. What no kernel is for, small tensors among it, is left to the operation's own code in the folder above, which
//! alone decides about types, shapes and errors. Both give the same elements, but for the rounding of functions such as `exp`, which are
//! CUDA's here, and for the order of additions.

mod compiled;
mod layout;
mod moves;
mod pointwise;
mod rows;

pub use moves::copy;

use super::super::answer::Answer;
use super::super::array::HostTensor;
use super::super::value::Value;
use crate::runtime::DType;

/// Elements from which on a kernel runs: below, a launch takes as long as the operation's own loop.
const LEAST: i64 = 1 << 12;

/// Runs an operation as a kernel; `None` where no kernel is for it.
///
/// # Errors
/// `MemoryError`.
pub fn run(name: &str, args: &[Value]) -> Option<Answer<Value>> {
    let is_large = |value: &Value| matches!(value, Value::Tensor(t) if t.numel() >= LEAST);
    if !args.iter().any(is_large) {
        return None;
    }
    pointwise::run(name, args).or_else(|| rows::run(name, args)).or_else(|| moves::run(name, args))
}

/// True if a kernel may take the tensor's memory: its elements lie at multiples of their size.
fn is_aligned(t: &HostTensor) -> bool {
    (t.ptr() as usize).is_multiple_of(t.dtype().size())
}

/// A floating-point type's name in the texts.
fn float_name(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::Float16 => Some("__half"),
        DType::BFloat16 => Some("__nv_bfloat16"),
        DType::Float32 => Some("float"),
        DType::Float64 => Some("double"),
        _ => None,
    }
}

/// The type that elements of a floating-point type are computed in (torch's `opmath_type`).
fn computed_in(dtype: DType) -> &'static str {
    if dtype == DType::Float64 { "double" } else { "float" }
}

/// The unsigned type of so many bytes, in which elements are moved.
fn bits_name(size: usize) -> &'static str {
    match size {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned int",
        _ => "unsigned long long",
    }
}

/// The headers that a text with such elements begins with.
fn headers(dtypes: impl IntoIterator<Item = DType>) -> String {
    let mut text = String::new();
    for dtype in dtypes {
        let line = match dtype {
            DType::Float16 => "#include <cuda_fp16.h>\n",
            DType::BFloat16 => "#include <cuda_bf16.h>\n",
            _ => continue,
        };
        if !text.contains(line) {
            text.push_str(line);
        }
    }
    text
}
