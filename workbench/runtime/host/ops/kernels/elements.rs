//! Elements as kernels see them: how many there have to be, where they may lie, and how texts name their types.

use super::super::super::array::HostTensor;
use crate::runtime::DType;

/// Elements from which on a kernel runs: below, a launch takes as long as the operation's own loop.
pub const LEAST: i64 = 1 << 12;

/// True if a kernel may take the tensor's memory: its elements lie at multiples of their size.
pub fn is_aligned(t: &HostTensor) -> bool {
    (t.ptr() as usize).is_multiple_of(t.dtype().size())
}

/// A floating-point type's name in the texts.
pub fn float_name(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::Float16 => Some("__half"),
        DType::BFloat16 => Some("__nv_bfloat16"),
        DType::Float32 => Some("float"),
        DType::Float64 => Some("double"),
        _ => None,
    }
}

/// The type that elements of a floating-point type are computed in (torch's `opmath_type`).
pub fn computed_in(dtype: DType) -> &'static str {
    if dtype == DType::Float64 { "double" } else { "float" }
}

/// The unsigned type of so many bytes, in which elements are moved.
pub fn bits_name(size: usize) -> &'static str {
    match size {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned int",
        _ => "unsigned long long",
    }
}

/// The headers that a text with such elements begins with.
pub fn headers(dtypes: impl IntoIterator<Item = DType>) -> String {
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
