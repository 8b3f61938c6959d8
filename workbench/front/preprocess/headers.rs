//! What is built in: names of headers, and macros that those headers and the compiler define.
//!
//! The constants are there without any include, because NVRTC's and torch's users rely on what their headers drag in.

use std::collections::HashMap;
use std::sync::LazyLock;

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
    &["torch/", "ATen/", "c10/", "cuda/", "cub/", "thrust/", "cooperative_groups/", "crt/", "nv/", "pybind11/"];

/// Whether a header is built in.
pub(super) fn is_known(name: &str) -> bool {
    HEADERS.contains(&name) || FOLDERS.iter().any(|folder| name.starts_with(folder))
}

/// Predefined macros: the name, and what a `#define` would say after it.
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
    ("NULL", "nullptr"),
    // <math.h>
    ("INFINITY", "(__builtin_inff())"),
    ("NAN", "(__builtin_nanf(\"\"))"),
    ("HUGE_VALF", "(__builtin_inff())"),
    ("HUGE_VAL", "(__builtin_inf())"),
    ("M_E", "2.7182818284590452354"),
    ("M_LOG2E", "1.4426950408889634074"),
    ("M_LOG10E", "0.43429448190325182765"),
    ("M_LN2", "0.69314718055994530942"),
    ("M_LN10", "2.30258509299404568402"),
    ("M_PI", "3.14159265358979323846"),
    ("M_PI_2", "1.57079632679489661923"),
    ("M_PI_4", "0.78539816339744830962"),
    ("M_1_PI", "0.31830988618379067154"),
    ("M_2_PI", "0.63661977236758134308"),
    ("M_2_SQRTPI", "1.12837916709551257390"),
    ("M_SQRT2", "1.41421356237309504880"),
    ("M_SQRT1_2", "0.70710678118654752440"),
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
    // <float.h>
    ("FLT_RADIX", "2"),
    ("FLT_MANT_DIG", "24"),
    ("FLT_DIG", "6"),
    ("FLT_MAX", "3.40282346638528859812e+38F"),
    ("FLT_MIN", "1.17549435082228750797e-38F"),
    ("FLT_TRUE_MIN", "1.40129846432481707092e-45F"),
    ("FLT_EPSILON", "1.19209289550781250000e-7F"),
    ("FLT_MAX_EXP", "128"),
    ("FLT_MIN_EXP", "(-125)"),
    ("DBL_MANT_DIG", "53"),
    ("DBL_DIG", "15"),
    ("DBL_MAX", "1.79769313486231570815e+308"),
    ("DBL_MIN", "2.22507385850720138309e-308"),
    ("DBL_TRUE_MIN", "4.94065645841246544177e-324"),
    ("DBL_EPSILON", "2.22044604925031308085e-16"),
    ("DBL_MAX_EXP", "1024"),
    ("DBL_MIN_EXP", "(-1021)"),
    // <limits.h>
    ("CHAR_BIT", "8"),
    ("SCHAR_MIN", "(-128)"),
    ("SCHAR_MAX", "127"),
    ("UCHAR_MAX", "255"),
    ("CHAR_MIN", "(-128)"),
    ("CHAR_MAX", "127"),
    ("SHRT_MIN", "(-32768)"),
    ("SHRT_MAX", "32767"),
    ("USHRT_MAX", "65535"),
    ("INT_MIN", "(-2147483647-1)"),
    ("INT_MAX", "2147483647"),
    ("UINT_MAX", "4294967295U"),
    ("LONG_MIN", "(-9223372036854775807L-1L)"),
    ("LONG_MAX", "9223372036854775807L"),
    ("ULONG_MAX", "18446744073709551615UL"),
    ("LLONG_MIN", "(-9223372036854775807LL-1LL)"),
    ("LLONG_MAX", "9223372036854775807LL"),
    ("ULLONG_MAX", "18446744073709551615ULL"),
    // <stdint.h>
    ("INT8_MIN", "(-128)"),
    ("INT8_MAX", "127"),
    ("UINT8_MAX", "255"),
    ("INT16_MIN", "(-32768)"),
    ("INT16_MAX", "32767"),
    ("UINT16_MAX", "65535"),
    ("INT32_MIN", "(-2147483647-1)"),
    ("INT32_MAX", "2147483647"),
    ("UINT32_MAX", "4294967295U"),
    ("INT64_MIN", "(-9223372036854775807L-1L)"),
    ("INT64_MAX", "9223372036854775807L"),
    ("UINT64_MAX", "18446744073709551615UL"),
    ("INTPTR_MIN", "(-9223372036854775807L-1L)"),
    ("INTPTR_MAX", "9223372036854775807L"),
    ("UINTPTR_MAX", "18446744073709551615UL"),
    ("PTRDIFF_MIN", "(-9223372036854775807L-1L)"),
    ("PTRDIFF_MAX", "9223372036854775807L"),
    ("SIZE_MAX", "18446744073709551615UL"),
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
    static TABLE: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| MACROS.iter().copied().collect());
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
