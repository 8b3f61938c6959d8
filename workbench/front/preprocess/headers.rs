//! What is built in: names of headers, and macros that those headers and the compiler define.
//!
//! The constants are there without any include, because NVRTC's and torch's users rely on what their headers drag in.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::ir::constants::CONSTANTS;

/// Headers whose vocabulary is built in.
const HEADERS: &[&str] = &[
    "algorithm",
    "array",
    "assert.h",
    "atomic",
    "bit",
    "cassert",
    "cctype",
    "cfloat",
    "chrono",
    "climits",
    "cmath",
    "complex",
    "complex.h",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "ctime",
    "ctype.h",
    "cublas_v2.h",
    "cuComplex.h",
    "cuda.h",
    "cudaProfiler.h",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp8.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cooperative_groups.h",
    "curand.h",
    "curand_kernel.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "errno.h",
    "exception",
    "float.h",
    "functional",
    "helper_cuda.h",
    "helper_math.h",
    "initializer_list",
    "inttypes.h",
    "cinttypes",
    "iomanip",
    "iostream",
    "iterator",
    "limits",
    "limits.h",
    "list",
    "map",
    "math.h",
    "math_constants.h",
    "memory",
    "mma.h",
    "mutex",
    "new",
    "numeric",
    "nvrtc.h",
    "optional",
    "ostream",
    "queue",
    "random",
    "ratio",
    "set",
    "sm_60_atomic_functions.h",
    "sstream",
    "stdbool.h",
    "stddef.h",
    "stdexcept",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string",
    "string.h",
    "string_view",
    "sys/time.h",
    "texture_fetch_functions.h",
    "thread",
    "time.h",
    "tuple",
    "type_traits",
    "unistd.h",
    "unordered_map",
    "unordered_set",
    "utility",
    "variant",
    "vector",
    "vector_functions.h",
    "vector_types.h",
];

/// Folders of headers whose vocabulary is built in, or is refused name by name where it is used.
const FOLDERS: &[&str] =
    &["torch/", "ATen/", "c10/", "cuda/", "cub/", "thrust/", "cooperative_groups/", "crt/", "nv/", "pybind11/", "THC/"];

/// Whether a header is built in.
pub(super) fn is_known(name: &str) -> bool {
    HEADERS.contains(&name) || FOLDERS.iter().any(|folder| name.starts_with(folder))
}

/// Predefined macros besides [`CONSTANTS`]: the name, and what a `#define` would say after it.
const MACROS: &[(&str, &str)] = &[
    // The compiler. `__CUDA_ARCH__` is that of the newest architecture whose features are modelled.
    ("__CUDACC__", "1"),
    ("__NVCC__", "1"),
    ("__CUDA_ARCH__", "900"),
    ("__CUDACC_VER_MAJOR__", "13"),
    ("__CUDACC_VER_MINOR__", "0"),
    ("CUDART_VERSION", "13000"),
    ("CUDA_VERSION", "13000"),
    ("__cplusplus", "201703L"),
    ("WORKBENCH", "1"),
    ("__WORKBENCH__", "1"),
    ("__x86_64__", "1"),
    ("__linux__", "1"),
    ("__LP64__", "1"),
    ("TORCH_EXTENSION_NAME", "extension"),
    ("__builtin_expect", "(value, expected) (value)"),
    ("__builtin_assume", "(condition) ((void)0)"),
    ("__builtin_assume_aligned", "(pointer, ...) (pointer)"),
    ("__builtin_clz", "(x) __clz((int)(x))"),
    ("__builtin_clzll", "(x) __clzll((long long)(x))"),
    ("__builtin_ctz", "(x) (__ffs((int)(x)) - 1)"),
    ("__builtin_ctzll", "(x) (__ffsll((long long)(x)) - 1)"),
    ("__builtin_ffs", "(x) __ffs((int)(x))"),
    ("__builtin_popcount", "(x) __popc((unsigned)(x))"),
    ("__builtin_popcountll", "(x) __popcll((unsigned long long)(x))"),
    ("__builtin_trap", "() __trap()"),
    ("__builtin_unreachable", "() __trap()"),
    ("NULL", "nullptr"),
    // <math.h>
    ("INFINITY", "(__builtin_inff())"),
    ("NAN", "(__builtin_nanf(\"\"))"),
    ("HUGE_VALF", "(__builtin_inff())"),
    ("HUGE_VAL", "(__builtin_inf())"),
    // <math_constants.h>
    ("CUDART_INF_F", "(__builtin_inff())"),
    ("CUDART_NAN_F", "(__builtin_nanf(\"\"))"),
    ("CUDART_INF", "(__builtin_inf())"),
    ("CUDART_NAN", "(__builtin_nan(\"\"))"),
    ("CUDART_MAX_NORMAL_F", "3.402823466e+38F"),
    ("CUDART_PI_F", "3.141592654f"),
    ("CUDART_PIO2_F", "1.570796327f"),
    ("CUDART_SQRT_TWO_F", "1.414213562f"),
    ("CUDART_LN2_F", "0.693147181f"),
    ("CUDART_PI", "3.1415926535897931e+0"),
    ("CUDART_PIO2", "1.5707963267948966e+0"),
    // <stdint.h>
    ("INT8_C", "(c) c"),
    ("INT16_C", "(c) c"),
    ("INT32_C", "(c) c"),
    ("INT64_C", "(c) c ## L"),
    ("UINT8_C", "(c) c"),
    ("UINT16_C", "(c) c"),
    ("UINT32_C", "(c) c ## U"),
    ("UINT64_C", "(c) c ## UL"),
];

/// The definition of a predefined macro.
pub(super) fn predefined(name: &str) -> Option<&'static str> {
    static TABLE: LazyLock<HashMap<&str, &str>> =
        LazyLock::new(|| MACROS.iter().chain(CONSTANTS).chain(crate::library::MACROS).copied().collect());
    TABLE.get(name).copied()
}

/// Edits between two words.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let cost = if ca == cb { diagonal } else { 1 + diagonal.min(row[j]).min(row[j + 1]) };
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}
