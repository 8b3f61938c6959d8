//! Headers that are built in, by name, and macros that those headers and the compiler define.
//!
//! The constants are there without any include, because NVRTC's and torch's users rely on what their headers drag in.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::constants::CONSTANTS;
use crate::once::Once;

/// Headers whose vocabulary is built in, besides those that a part of the library stands for.
const HEADERS: &[&str] = &[
    "Python.h",
    "algorithm",
    "alloca.h",
    "any",
    "array",
    "assert.h",
    "barrier",
    "bit",
    "bitset",
    "builtin_types.h",
    "cassert",
    "cblas.h",
    "cctype",
    "cfenv",
    "cfloat",
    "channel_descriptor.h",
    "charconv",
    "cinttypes",
    "climits",
    "clocale",
    "cmath",
    "codecvt",
    "common_functions.h",
    "compare",
    "complex",
    "complex.h",
    "concepts",
    "condition_variable",
    "cooperative_groups.h",
    "coroutine",
    "csetjmp",
    "csignal",
    "cstdarg",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "ctime",
    "ctype.h",
    "cuComplex.h",
    "cublas.h",
    "cublasLt.h",
    "cublas_v2.h",
    "cuchar",
    "cuda.h",
    "cudaProfiler.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_device_runtime_api.h",
    "cuda_fp16.h",
    "cuda_fp4.h",
    "cuda_fp6.h",
    "cuda_fp8.h",
    "cuda_gl_interop.h",
    "cuda_occupancy.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_profiler_api.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_surface_types.h",
    "cuda_texture_types.h",
    "cudnn.h",
    "cufft.h",
    "curand.h",
    "curand_globals.h",
    "curand_kernel.h",
    "curand_mtgp32.h",
    "curand_normal.h",
    "curand_philox4x32_x.h",
    "curand_uniform.h",
    "cusolverDn.h",
    "cusparse.h",
    "cusparse_v2.h",
    "cutensor.h",
    "cutil_math.h",
    "cwchar",
    "cwctype",
    "deque",
    "device_atomic_functions.h",
    "device_double_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "device_types.h",
    "dirent.h",
    "dlfcn.h",
    "driver_functions.h",
    "driver_types.h",
    "emmintrin.h",
    "errno.h",
    "exception",
    "execution",
    "fcntl.h",
    "fenv.h",
    "filesystem",
    "float.h",
    "forward_list",
    "fstream",
    "functional",
    "future",
    "getopt.h",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_math.h",
    "helper_string.h",
    "helper_timer.h",
    "host_config.h",
    "host_defines.h",
    "hpu_custom_op.h",
    "hpu_custom_op_pt2.h",
    "hpu_kernel.h",
    "hpu_kernel_context.h",
    "immintrin.h",
    "initializer_list",
    "intrin.h",
    "inttypes.h",
    "ios",
    "iosfwd",
    "iso646.h",
    "istream",
    "iterator",
    "latch",
    "libgen.h",
    "library_types.h",
    "limits",
    "limits.h",
    "list",
    "locale",
    "locale.h",
    "malloc.h",
    "map",
    "math.h",
    "math_constants.h",
    "math_functions.h",
    "math_functions.hpp",
    "memory.h",
    "memory_resource",
    "mma.h",
    "mpi.h",
    "nccl.h",
    "new",
    "numbers",
    "numeric",
    "nvToolsExt.h",
    "nvrtc.h",
    "omp.h",
    "optional",
    "perf_lib_layer_params.h",
    "pthread.h",
    "queue",
    "ranges",
    "ratio",
    "regex",
    "sched.h",
    "scoped_allocator",
    "semaphore",
    "set",
    "setjmp.h",
    "shared_mutex",
    "signal.h",
    "sm_20_atomic_functions.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_32_intrinsics.h",
    "sm_35_atomic_functions.h",
    "sm_60_atomic_functions.h",
    "sm_61_intrinsics.h",
    "source_location",
    "span",
    "stack",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdexcept",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "stdnoreturn.h",
    "stop_token",
    "streambuf",
    "string",
    "string.h",
    "string_view",
    "strings.h",
    "strstream",
    "surface_functions.h",
    "surface_types.h",
    "synapse_api_types.h",
    "synapse_common_types.h",
    "synapse_common_types.hpp",
    "sys/mman.h",
    "sys/resource.h",
    "sys/stat.h",
    "sys/time.h",
    "sys/types.h",
    "sys/wait.h",
    "system_error",
    "texture_fetch_functions.h",
    "texture_indirect_functions.h",
    "texture_types.h",
    "tgmath.h",
    "thread",
    "time.h",
    "tuple",
    "type_traits",
    "typeindex",
    "typeinfo",
    "uchar.h",
    "unistd.h",
    "unordered_map",
    "unordered_set",
    "utility",
    "valarray",
    "values.h",
    "variant",
    "vector",
    "vector_functions.h",
    "vector_types.h",
    "version",
    "wchar.h",
    "wctype.h",
    "windows.h",
    "x86intrin.h",
    "xmmintrin.h",
];

/// Folders of headers whose vocabulary is built in, or is refused name by name where it is used.
const FOLDERS: &[&str] = &[
    "torch/",
    "ATen/",
    "c10/",
    "cuda/",
    "cub/",
    "thrust/",
    "cooperative_groups/",
    "crt/",
    "nv/",
    "pybind11/",
    "torchneuron/",
    "habanalabs/",
    "tensorflow/",
    "neuron/",
    "THC/",
    "nvtx3/",
];

/// The names of the headers that are built in, in order, and of folders of such.
pub fn names() -> impl Iterator<Item = &'static str> {
    let mut headers: Vec<&str> = HEADERS.iter().copied().chain(crate::library::headers()).collect();
    headers.sort_unstable();
    headers.into_iter().chain(FOLDERS.iter().copied())
}

/// The header is built in.
pub(super) fn is_known(name: &str) -> bool {
    HEADERS.contains(&name) || crate::library::is_header(name) || FOLDERS.iter().any(|folder| name.starts_with(folder))
}

/// Predefined macros besides [`CONSTANTS`]: the name, and what a `#define` would say after it.
const MACROS: &[(&str, &str)] = &[
    // The compiler. What texts do above 8.0 they do in PTX (TMA, fp8, clusters); below they compute 16-bit floats by hand.
    ("__CUDACC__", "1"),
    ("__NVCC__", "1"),
    ("__CUDA_ARCH__", "800"),
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
    ("__extension__", ""),
    // Calling conventions of CUDA's interfaces: none on Linux.
    ("CUDART_CB", ""),
    ("CUDARTAPI", ""),
    ("CUDAAPI", ""),
    ("CUDA_CB", ""),
    ("CUBLASWINAPI", ""),
    ("__brkpt", "() __trap()"),
    ("__builtin_expect", "(value, expected) (value)"),
    ("__builtin_assume", "(condition) ((void)0)"),
    ("__builtin_assume_aligned", "(pointer, ...) (pointer)"),
    ("__builtin_ctz", "(x) (__builtin_ffs((int)(x)) - 1)"),
    ("__builtin_ctzl", "(x) (__builtin_ffsl((long)(x)) - 1)"),
    ("__builtin_ctzll", "(x) (__builtin_ffsll((long long)(x)) - 1)"),
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
    ("CUDART_ZERO_FP16", "(__ushort_as_half((unsigned short)0x0000U))"),
    ("CUDART_ONE_FP16", "(__ushort_as_half((unsigned short)0x3C00U))"),
    ("CUDART_INF_FP16", "(__ushort_as_half((unsigned short)0x7C00U))"),
    ("CUDART_NAN_FP16", "(__ushort_as_half((unsigned short)0x7FFFU))"),
    ("CUDART_MAX_NORMAL_FP16", "(__ushort_as_half((unsigned short)0x7BFFU))"),
    ("CUDART_MIN_DENORM_FP16", "(__ushort_as_half((unsigned short)0x0001U))"),
    ("CUDART_NEG_ZERO_FP16", "(__ushort_as_half((unsigned short)0x8000U))"),
    ("CUDART_ZERO_BF16", "(__ushort_as_bfloat16((unsigned short)0x0000U))"),
    ("CUDART_ONE_BF16", "(__ushort_as_bfloat16((unsigned short)0x3F80U))"),
    ("CUDART_INF_BF16", "(__ushort_as_bfloat16((unsigned short)0x7F80U))"),
    ("CUDART_NAN_BF16", "(__ushort_as_bfloat16((unsigned short)0x7FFFU))"),
    ("CUDART_MAX_NORMAL_BF16", "(__ushort_as_bfloat16((unsigned short)0x7F7FU))"),
    ("CUDART_MIN_DENORM_BF16", "(__ushort_as_bfloat16((unsigned short)0x0001U))"),
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

/// The names of predefined macros besides [`CONSTANTS`] and those of the library.
pub fn macros() -> impl Iterator<Item = &'static str> {
    MACROS.iter().map(|(name, _)| *name)
}

/// The names of all predefined macros.
pub fn all_macros() -> impl Iterator<Item = &'static str> {
    let library = crate::library::MACROS.iter().chain(crate::library::HOST_MACROS);
    MACROS.iter().chain(CONSTANTS).chain(library).map(|(name, _)| *name)
}

/// The definition of a predefined macro.
pub(super) fn predefined(name: &str) -> Option<&'static str> {
    static TABLE: Once<HashMap<&str, &str>> = Once::new(|| {
        MACROS
            .iter()
            .chain(CONSTANTS)
            .chain(crate::library::MACROS)
            .chain(crate::library::HOST_MACROS)
            .copied()
            .collect()
    });
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
