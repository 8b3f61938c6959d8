//! What of the libraries is written in CUDA C++ itself: parts of the standard library, 16-bit floats, cooperative groups,
//! asynchronous copies, vector arithmetic of the CUDA samples, what kernels use of torch's headers. The front end reads such a text
//! before the user's that mentions something of it; NVRTC, which comes with CUDA's own headers and no others, is given [`STD`],
//! [`C10_HALF`] and [`ATEN`] the same way, and [`HELPER_MATH`] as the header that a text includes.

/// A text that is read before the user's.
#[derive(Debug)]
pub struct Part {
    /// What messages call it.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
    /// A macro that the text defines, for others to ask whether it is there; empty: none.
    pub mark: &'static str,
}

/// The part of the library written in CUDA C++.
pub static STD: Part = Part { name: "<std>", text: include_str!("std.cuh"), mark: "__WB_STD" };

/// `<cuda_fp16.h>` and `<cuda_bf16.h>`: 16-bit floats kept as bits, computed in `float` (one rounding suffices: 24 bits are
/// more than twice 11 and two more), and `fma` in `double` rounded to odd first.
static HALF: Part = Part { name: "<half>", text: include_str!("half.cuh"), mark: "" };

/// What CUDA's headers for half precision declare.
pub fn half_text() -> &'static str {
    HALF.text
}

/// `<cooperative_groups.h>` with its reductions, scans and copies: groups within a block, on barriers and warp functions.
static GROUPS: Part = Part { name: "<cooperative_groups>", text: include_str!("cooperative_groups.cuh"), mark: "" };

/// What kernels use of `<ATen/...>`, `<c10/...>` and `<torch/...>`: accessors, types to compute in, atomics, shuffles.
pub static ATEN: Part = Part { name: "<ATen>", text: include_str!("aten.cuh"), mark: "" };

/// Containers of the standard library, for host code.
static HOST: Part = Part { name: "<host>", text: include_str!("host.cuh"), mark: "" };

/// Tensors, for host code: what extensions use of torch's and pybind11's headers.
pub static TORCH: Part = Part { name: "<torch>", text: include_str!("torch.cuh"), mark: "" };

/// [`TORCH`] with 16-bit floats.
static TORCH_HALF: Part = Part { name: "<torch_half>", text: include_str!("torch_half.cuh"), mark: "" };

/// [`TORCH`]'s accessors.
static TORCH_ACCESSOR: Part = Part { name: "<torch_accessor>", text: include_str!("torch_accessor.cuh"), mark: "" };

/// [`TORCH`]'s dispatcher.
static TORCH_LIBRARY: Part = Part { name: "<torch_library>", text: include_str!("torch_library.cuh"), mark: "" };

/// Python's C interface, on [`TORCH`].
pub static PYTHON: Part = Part { name: "<python>", text: include_str!("python.cuh"), mark: "" };

/// Names that ask for [`PYTHON`].
const PYTHON_NAMES: [&str; 4] = ["PyObject", "PyModuleDef", "PyMethodDef", "PyCFunction"];

/// Functions of C's library that [`HOST`] has.
const C_NAMES: [&str; 18] = [
    "snprintf", "sprintf", "strcmp", "strcpy", "strlen", "strncmp", "malloc", "calloc", "realloc", "free", "exit",
    "abort", "rand", "srand", "atoi", "atof", "puts", "putchar",
];

/// Names that ask for [`TORCH_LIBRARY`]: what its macros write, and what stands without them.
const TORCH_LIBRARY_NAMES: [&str; 6] =
    ["__wb_library", "Library", "Dispatcher", "RegisterOperators", "stable", "headeronly"];

/// AWS Neuron's dialect.
static NEURON: Part = Part { name: "<neuron>", text: include_str!("neuron.cuh"), mark: "" };

/// Names that ask for [`NEURON`].
const NEURON_NAMES: [&str; 9] = [
    "__wb_neuron",
    "neuron",
    "tcm_accessor",
    "read_stream_accessor",
    "write_stream_accessor",
    "get_cpu_id",
    "get_cpu_count",
    "get_dst_tensor",
    "CoherencyEnforcer",
];

/// Gaudi's dialect: descriptors of PyTorch's custom operators.
pub static GAUDI: Part = Part { name: "<gaudi>", text: include_str!("gaudi.cuh"), mark: "" };

/// Its part for TensorFlow.
pub static GAUDI_TENSORFLOW: Part =
    Part { name: "<gaudi_tensorflow>", text: include_str!("gaudi_tensorflow.cuh"), mark: "" };

/// Methods of tensors that give one.
const ACCESSORS: [&str; 4] = ["accessor", "packed_accessor", "packed_accessor32", "packed_accessor64"];

/// The CUDA runtime's interface, for host code.
static CUDART: Part = Part { name: "<cudart>", text: include_str!("cudart.cuh"), mark: "" };

/// Namespaces and macros of [`TORCH`].
const TORCH_NAMES: [&str; 6] = ["torch", "at", "c10", "pybind11", "py", "__wb"];

/// CUB's collectives of a block and of a warp.
static CUB: Part = Part { name: "<cub>", text: include_str!("cub.cuh"), mark: "" };

/// Warp matrix functions.
static WMMA: Part = Part { name: "<mma>", text: include_str!("wmma.cuh"), mark: "" };

/// Names that ask for [`WMMA`].
const WMMA_NAMES: [&str; 2] = ["nvcuda", "wmma"];

/// 8-bit floats.
static FP8: Part = Part { name: "<cuda_fp8>", text: include_str!("fp8.cuh"), mark: "" };

/// Names that ask for [`FP8`].
const FP8_NAMES: [&str; 20] = [
    "__nv_fp8_e4m3",
    "__nv_fp8_e5m2",
    "__nv_fp8x2_e4m3",
    "__nv_fp8x2_e5m2",
    "__nv_fp8x4_e4m3",
    "__nv_fp8x4_e5m2",
    "__nv_fp8_storage_t",
    "__nv_fp8x2_storage_t",
    "__nv_fp8x4_storage_t",
    "__nv_fp8_interpretation_t",
    "__nv_cvt_float_to_fp8",
    "__nv_cvt_double_to_fp8",
    "__nv_cvt_halfraw_to_fp8",
    "__nv_cvt_bfloat16raw_to_fp8",
    "__nv_cvt_float2_to_fp8x2",
    "__nv_cvt_double2_to_fp8x2",
    "__nv_cvt_halfraw2_to_fp8x2",
    "__nv_cvt_bfloat16raw2_to_fp8x2",
    "__nv_cvt_fp8_to_halfraw",
    "__nv_cvt_fp8x2_to_halfraw2",
];

/// Checks of tensors as arguments.
static TORCH_CHECKS: Part = Part { name: "<torch_checks>", text: include_str!("torch_checks.cuh"), mark: "" };

/// Names that ask for [`TORCH_CHECKS`].
const TORCH_CHECKS_NAMES: [&str; 3] = ["TensorArg", "TensorGeometryArg", "CheckedFrom"];

/// Layers and losses.
static TORCH_NN: Part = Part { name: "<torch_nn>", text: include_str!("torch_nn.cuh"), mark: "" };

/// Names that ask for [`TORCH_NN`].
const TORCH_NN_NAMES: &str = "\
    max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d \
    conv_transpose1d conv_transpose2d conv3d convolution batch_norm group_norm instance_norm native_layer_norm \
    dropout celu prelu glu _softmax _log_softmax pixel_shuffle im2col scaled_dot_product_attention \
    upsample_nearest2d upsample_bilinear2d nll_loss cross_entropy_loss kl_div smooth_l1_loss huber_loss \
    binary_cross_entropy cosine_similarity pairwise_distance triplet_margin_loss margin_ranking_loss";

/// Names that ask for [`CUDART`].
const CUDART_NAMES: [&str; 73] = [
    "CUDAGuard",
    "CUDAStream",
    "OptionalCUDAGuard",
    "cudaDeviceGetAttribute",
    "cudaDeviceGetStreamPriorityRange",
    "cudaDeviceProp",
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaDriverGetVersion",
    "cudaError",
    "cudaError_t",
    "cudaEventCreate",
    "cudaEventDisableTiming",
    "cudaEventQuery",
    "cudaEvent_t",
    "cudaFree",
    "cudaFreeAsync",
    "cudaFreeHost",
    "cudaFuncSetAttribute",
    "cudaFuncSetCacheConfig",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaGetSymbolAddress",
    "cudaHostAlloc",
    "cudaHostAllocMapped",
    "cudaHostGetDevicePointer",
    "cudaLaunchKernel",
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocHost",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cudaMemGetInfo",
    "cudaMemPrefetchAsync",
    "cudaMemcpy",
    "cudaMemcpy2D",
    "cudaMemcpyAsync",
    "cudaMemcpyFromSymbol",
    "cudaMemcpyToSymbol",
    "cudaMemcpyToSymbolAsync",
    "cudaMemset",
    "cudaMemset2D",
    "cudaMemsetAsync",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxPotentialBlockSize",
    "cudaPeekAtLastError",
    "cudaRuntimeGetVersion",
    "cudaSetDevice",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamDestroy",
    "cudaStreamNonBlocking",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStream_t",
    "cudaSuccess",
    "getCurrentCUDAStream",
    "getCurrentDeviceProperties",
    "getDefaultCUDAStream",
    "getDeviceProperties",
    "nvtxMark",
    "nvtxMarkA",
    "nvtxRangeEnd",
    "nvtxRangePop",
    "nvtxRangePush",
    "nvtxRangePushA",
    "nvtxRangeStartA",
    "warp_size",
];

/// What `throw x` calls.
pub const THROW: &str = "__wb_throw";

/// What `throw x` calls in a text that has handlers.
pub const THROW_OBJECT: &str = "__wb_throw_object";

/// What is called before the handlers of a `try`.
pub const LAND: &str = "__wb_land";

/// What is called when a handler is left.
pub const HANDLED: &str = "__wb_handled";

/// What `new` and `delete` call.
pub const HEAP: [&str; 6] =
    ["__wb_new", "__wb_new_plain", "__wb_new_array", "__wb_new_zeroed", "__wb_delete", "__wb_delete_array"];

/// Names of [`HOST`].
const HOST_NAMES: [&str; 67] = [
    "map",
    "multimap",
    "unordered_multimap",
    "unordered_map",
    "set",
    "unordered_set",
    "atomic",
    "stringstream",
    "ostringstream",
    "istringstream",
    "tolower",
    "toupper",
    "isdigit",
    "isspace",
    "isalpha",
    "isalnum",
    "distance",
    "next",
    "prev",
    "lower_bound",
    "upper_bound",
    "binary_search",
    "unique",
    "copy_if",
    "remove",
    "remove_if",
    "nth_element",
    "partial_sort",
    "exception",
    "cout",
    "cerr",
    "endl",
    "vector",
    "string",
    "string_view",
    "to_string",
    "optional",
    "nullopt",
    "tuple",
    "make_tuple",
    "forward_as_tuple",
    "tie",
    "ignore",
    "pair",
    "initializer_list",
    "sort",
    "stable_sort",
    "accumulate",
    "fill",
    "fill_n",
    "copy",
    "copy_n",
    "iota",
    "transform",
    "for_each",
    "reverse",
    "find",
    "find_if",
    "count",
    "count_if",
    "any_of",
    "all_of",
    "none_of",
    "max_element",
    "min_element",
    "inner_product",
    "partial_sum",
];

/// More containers of the standard library, for host code.
static CONTAINERS: Part = Part { name: "<containers>", text: include_str!("containers.cuh"), mark: "" };

/// Names of [`CONTAINERS`].
const CONTAINER_NAMES: [&str; 10] = [
    "back_inserter",
    "deque",
    "queue",
    "stack",
    "priority_queue",
    "list",
    "unique_ptr",
    "make_unique",
    "function",
    "bitset",
];

/// torch's own 16-bit floats, `c10::Half` and `c10::BFloat16`.
static C10_HALF: Part = Part { name: "<c10_half>", text: include_str!("c10_half.cuh"), mark: "__WB_C10_HALVES" };

/// Names of [`C10_HALF`].
const C10_HALF_NAMES: [&str; 5] = ["Half", "BFloat16", "kHalf", "kBFloat16", "kFloat16"];

/// Names of [`ATEN`].
const ATEN_NAMES: [&str; 24] = [
    "AccumulateType",
    "DefaultPtrTraits",
    "GenericPackedTensorAccessor",
    "OpMathType",
    "PackedTensorAccessor",
    "PackedTensorAccessor32",
    "PackedTensorAccessor64",
    "RestrictPtrTraits",
    "TensorAccessor",
    "WARP_BALLOT",
    "WARP_SHFL",
    "WARP_SHFL_DOWN",
    "WARP_SHFL_UP",
    "WARP_SHFL_XOR",
    "acc_type",
    "ceil_div",
    "compat",
    "fastAtomicAdd",
    "gpuAtomicAdd",
    "gpuAtomicAddNoReturn",
    "gpuAtomicMax",
    "gpuAtomicMin",
    "opmath_type",
    "round_up",
];

/// Macros of torch's headers for device code: the name, and what a `#define` would say after it.
pub const MACROS: &[(&str, &str)] = &[
    ("C10_ALWAYS_INLINE", "inline"),
    ("C10_DEVICE", "__device__"),
    ("C10_HOST", "__host__"),
    ("C10_HOST_DEVICE", "__host__ __device__"),
    ("C10_LAUNCH_BOUNDS_0", "__launch_bounds__(256, 4)"),
    ("C10_LAUNCH_BOUNDS_1", "(threads) __launch_bounds__(threads)"),
    ("C10_LAUNCH_BOUNDS_2", "(threads, blocks) __launch_bounds__(threads, blocks)"),
    ("C10_RESTRICT", "__restrict__"),
    ("C10_UNUSED", "[[maybe_unused]]"),
    ("C10_WARP_SIZE", "32"),
    ("CUDA_KERNEL_ASSERT", "(condition) assert(condition)"),
    ("CUDA_KERNEL_LOOP", "(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)"),
    (
        "CUDA_KERNEL_LOOP_TYPE",
        "(i, n, index_t) int64_t _i_n_d_e_x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; \
         for (index_t i = _i_n_d_e_x; _i_n_d_e_x < (n); _i_n_d_e_x += blockDim.x * gridDim.x, i = _i_n_d_e_x)",
    ),
];

/// Macros of torch's and pybind11's headers for host code. A registration becomes a function that the run time calls.
pub const HOST_MACROS: &[(&str, &str)] = &[
    ("EXIT_FAILURE", "1"),
    ("EXIT_SUCCESS", "0"),
    ("RAND_MAX", "32767"),
    ("TORCH_CHECK", "(condition, ...) if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); }"),
    (
        "TORCH_INTERNAL_ASSERT",
        "(condition, ...) do { if (!(condition)) { __wb::fail_internal(#condition, __FILE__, __LINE__, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_INTERNAL_ASSERT_DEBUG_ONLY",
        "(condition, ...) do { if (!(condition)) { __wb::fail_internal(#condition, __FILE__, __LINE__, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_VALUE",
        "(condition, ...) do { if (!(condition)) { __wb::fail(1, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_TYPE",
        "(condition, ...) do { if (!(condition)) { __wb::fail(2, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_INDEX",
        "(condition, ...) do { if (!(condition)) { __wb::fail(3, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_NOT_IMPLEMENTED",
        "(condition, ...) do { if (!(condition)) { __wb::fail(4, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    ("AT_CHECK", "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)"),
    ("AT_ASSERT", "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)"),
    ("AT_ASSERTM", "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)"),
    (
        "STD_TORCH_CHECK",
        "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_ARG",
        "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_EQ",
        "(a, b, ...) do { if (!((a) == (b))) { __wb::fail_compare(#a, #b, \"==\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_NE",
        "(a, b, ...) do { if (!((a) != (b))) { __wb::fail_compare(#a, #b, \"!=\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_LT",
        "(a, b, ...) do { if (!((a) < (b))) { __wb::fail_compare(#a, #b, \"<\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_LE",
        "(a, b, ...) do { if (!((a) <= (b))) { __wb::fail_compare(#a, #b, \"<=\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_GT",
        "(a, b, ...) do { if (!((a) > (b))) { __wb::fail_compare(#a, #b, \">\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_GE",
        "(a, b, ...) do { if (!((a) >= (b))) { __wb::fail_compare(#a, #b, \">=\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    ("TORCH_CHECK_NOTNULL", "(pointer, ...) (pointer)"),
    ("TORCH_CHECK_LINALG", "(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)"),
    ("TORCH_WARN_ONCE", "(...) __wb::warn(__VA_ARGS__)"),
    ("AT_ERROR", "(...) __wb::fail(0, \"\", ##__VA_ARGS__)"),
    ("TORCH_WARN", "(...) __wb::warn(__VA_ARGS__)"),
    (
        "C10_CUDA_CHECK",
        "(expression) do { const cudaError_t __wb_error = (expression); if (__wb_error != cudaSuccess) { __wb::fail(0, \"\", \"CUDA error: \", cudaGetErrorString(__wb_error)); } } while (0)",
    ),
    (
        "AT_CUDA_CHECK",
        "(expression) do { const cudaError_t __wb_error = (expression); if (__wb_error != cudaSuccess) { __wb::fail(0, \"\", \"CUDA error: \", cudaGetErrorString(__wb_error)); } } while (0)",
    ),
    ("C10_CUDA_KERNEL_LAUNCH_CHECK", "() C10_CUDA_CHECK(cudaGetLastError())"),
    (
        "AT_DISPATCH_CASE",
        "(enum_type, ...) case enum_type: { using scalar_t = c10::impl::ScalarTypeToCPPTypeT<enum_type>; return __VA_ARGS__(); }",
    ),
    (
        "AT_DISPATCH_SWITCH",
        "(type, name, ...) [&] { const c10::ScalarType __wb_type = (type); switch (__wb_type) { __VA_ARGS__ default: __wb::fail(4, \"\", \"\\\"\", name, \"\\\" not implemented for '\", c10::toString(__wb_type), \"'\"); } }()",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES",
        "(...) AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES",
        "(...) AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES",
        "(...) AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF",
        "(...) AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND_HALF",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND",
        "(t1, ...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND",
        "(t1, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND(t1, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND2",
        "(t1, t2, ...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND2",
        "(t1, t2, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND2(t1, t2, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND3",
        "(t1, t2, t3, ...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND3",
        "(t1, t2, t3, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND3(t1, t2, t3, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND4",
        "(t1, t2, t3, t4, ...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__) AT_DISPATCH_CASE(t4, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND4",
        "(t1, t2, t3, t4, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND4(t1, t2, t3, t4, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES_AND",
        "(t1, ...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES_AND",
        "(t1, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(t1, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES_AND2",
        "(t1, t2, ...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES_AND2",
        "(t1, t2, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND2(t1, t2, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES_AND3",
        "(t1, t2, t3, ...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES_AND3",
        "(t1, t2, t3, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND3(t1, t2, t3, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES_AND4",
        "(t1, t2, t3, t4, ...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__) AT_DISPATCH_CASE(t4, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES_AND4",
        "(t1, t2, t3, t4, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND4(t1, t2, t3, t4, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES_AND",
        "(t1, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES_AND",
        "(t1, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND(t1, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES_AND2",
        "(t1, t2, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES_AND2",
        "(t1, t2, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND2(t1, t2, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES_AND3",
        "(t1, t2, t3, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES_AND3",
        "(t1, t2, t3, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND3(t1, t2, t3, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES_AND4",
        "(t1, t2, t3, t4, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__) AT_DISPATCH_CASE(t4, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES_AND4",
        "(t1, t2, t3, t4, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND4(t1, t2, t3, t4, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES",
        "(...) AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_REDUCED_FLOATING_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))",
    ),
    ("AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES", "(type, name, ...) AT_DISPATCH_FLOATING_TYPES(type, name, __VA_ARGS__)"),
    (
        "AT_DISPATCH_INDEX_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, __WB_DISPATCH_INDEX(at::ScalarType::Int, __VA_ARGS__) __WB_DISPATCH_INDEX(at::ScalarType::Long, __VA_ARGS__))",
    ),
    (
        "__WB_DISPATCH_INDEX",
        "(enum_type, ...) case enum_type: { using index_t = c10::impl::ScalarTypeToCPPTypeT<enum_type>; return __VA_ARGS__(); }",
    ),
    (
        "PYBIND11_MODULE",
        "(name, m) static void __wb_module(pybind11::module_&); void __wb_entry_register_module() { (void)&__wb_entry_call; pybind11::module_ __wb_m; __wb_module(__wb_m); } static void __wb_module(pybind11::module_& m)",
    ),
    ("TORCH_LIBRARY", "(ns, m) __WB_LIBRARY(\"library\", #ns, \"\", m, __COUNTER__)"),
    ("TORCH_LIBRARY_FRAGMENT", "(ns, m) __WB_LIBRARY(\"fragment\", #ns, \"\", m, __COUNTER__)"),
    ("TORCH_LIBRARY_IMPL", "(ns, key, m) __WB_LIBRARY(\"impl\", #ns, #key, m, __COUNTER__)"),
    ("STABLE_TORCH_LIBRARY", "(ns, m) __WB_LIBRARY(\"library\", #ns, \"\", m, __COUNTER__)"),
    ("STABLE_TORCH_LIBRARY_FRAGMENT", "(ns, m) __WB_LIBRARY(\"fragment\", #ns, \"\", m, __COUNTER__)"),
    ("STABLE_TORCH_LIBRARY_IMPL", "(ns, key, m) __WB_LIBRARY(\"impl\", #ns, #key, m, __COUNTER__)"),
    ("__WB_LIBRARY", "(kind, ns, key, m, n) __WB_LIBRARY_AT(kind, ns, key, m, n)"),
    (
        "__WB_LIBRARY_AT",
        "(kind, ns, key, m, n) static void __wb_library_##n(torch::Library&); void __wb_entry_register_library_##n() { (void)&__wb_entry_call; torch::Library __wb_library(kind, ns, key); __wb_library_##n(__wb_library); } static void __wb_library_##n(torch::Library& m)",
    ),
    (
        "TORCH_ERROR_CODE_CHECK",
        "(call) do { if ((call) != 0) { __wb::fail(0, \"\", \"call to \" #call \" failed\"); } } while (0)",
    ),
    ("NEURON_LIBRARY", "(name, m) __WB_NEURON(#name, m, __COUNTER__)"),
    ("__WB_NEURON", "(name, m, n) __WB_NEURON_AT(name, m, n)"),
    (
        "__WB_NEURON_AT",
        "(name, m, n) static void __wb_neuron_##n(torch::neuron::Library&); void __wb_entry_register_neuron_##n() { (void)&__wb_entry_call; torch::neuron::Library __wb_neuron(name); __wb_neuron_##n(__wb_neuron); } static void __wb_neuron_##n(torch::neuron::Library& m)",
    ),
    // Of Gaudi's headers.
    (
        "REGISTER_CUSTOM_OP_ATTRIBUTES",
        "(schema_name, guid, input_desc, output_desc, param_func) habana::custom_op::__wb_register(schema_name, guid, input_desc, output_desc, param_func)",
    ),
    ("HPU_PARAMS_STUB", "(structname) size = sizeof(structname); auto params = std::make_shared<structname>()"),
    ("REGISTER_OP", "(name) __WB_REGISTER_OP(name, __COUNTER__)"),
    ("__WB_REGISTER_OP", "(name, n) __WB_REGISTER_OP_AT(name, n)"),
    ("__WB_REGISTER_OP_AT", "(name, n) static bool __wb_tf_op_##n = tensorflow::OpDefBuilder(name)"),
    ("REGISTER_KERNEL_BUILDER", "(builder, ...) __WB_REGISTER_KERNEL(__COUNTER__, builder, __VA_ARGS__)"),
    ("__WB_REGISTER_KERNEL", "(n, builder, ...) __WB_REGISTER_KERNEL_AT(n, builder, __VA_ARGS__)"),
    (
        "__WB_REGISTER_KERNEL_AT",
        "(n, builder, ...) void __wb_entry_register_tf_##n() { (void)&__wb_entry_call; __wb::tf_kernel<__VA_ARGS__>(builder); } static_assert(true, \"\")",
    ),
    (
        "OP_REQUIRES",
        "(context, condition, ...) do { if (!(condition)) { (context)->CtxFailure(__VA_ARGS__); return; } } while (0)",
    ),
    (
        "OP_REQUIRES_OK",
        "(context, ...) do { tensorflow::Status __wb_status = (__VA_ARGS__); if (!__wb_status.ok()) { (context)->CtxFailure(__wb_status); return; } } while (0)",
    ),
    ("VLOG", "(level) if ((level) > 0) {} else std::cerr"),
    ("TORCH_FN", "(f) (f)"),
    ("TORCH_BOX", "(f) (f)"),
    ("TORCH_SELECTIVE_NAME", "(name) (name)"),
    ("TORCH_SELECTIVE_SCHEMA", "(schema) (schema)"),
    // Of <Python.h>.
    ("PY_MAJOR_VERSION", "3"),
    ("PY_MINOR_VERSION", "12"),
    ("PY_MICRO_VERSION", "0"),
    ("PY_VERSION", "\"3.12.0\""),
    ("PY_VERSION_HEX", "0x030c00f0"),
    ("PY_SSIZE_T_MAX", "9223372036854775807l"),
    ("PYTHON_API_VERSION", "1013"),
    ("PyMODINIT_FUNC", "extern \"C\" PyObject*"),
    ("PyModuleDef_HEAD_INIT", "{0}"),
    ("PyDoc_STR", "(text) text"),
    ("PyDoc_VAR", "(name) static const char name[]"),
    ("PyDoc_STRVAR", "(name, text) static const char name[] = text"),
    ("Py_UNUSED", "(name) __wb_unused_##name"),
    ("Py_ARRAY_LENGTH", "(array) (sizeof(array) / sizeof((array)[0]))"),
    ("Py_UNREACHABLE", "() __trap()"),
    ("Py_CLEAR", "(object) do { (object) = nullptr; } while (0)"),
    ("Py_SETREF", "(object, other) do { (object) = (other); } while (0)"),
    ("Py_XSETREF", "(object, other) do { (object) = (other); } while (0)"),
    ("Py_None", "reinterpret_cast<PyObject*>(1l)"),
    ("Py_True", "reinterpret_cast<PyObject*>(2l)"),
    ("Py_False", "reinterpret_cast<PyObject*>(3l)"),
    ("Py_RETURN_NONE", "return Py_None"),
    ("Py_RETURN_TRUE", "return Py_True"),
    ("Py_RETURN_FALSE", "return Py_False"),
    ("Py_BEGIN_ALLOW_THREADS", "{"),
    ("Py_END_ALLOW_THREADS", "}"),
    ("Py_BLOCK_THREADS", ""),
    ("Py_UNBLOCK_THREADS", ""),
    ("PyMem_New", "(type, n) ((type*)PyMem_Malloc((n) * sizeof(type)))"),
    ("PyMem_Del", "(memory) PyMem_Free(memory)"),
    ("PyBool_Type", "__wb::py_type(1)[0]"),
    ("PyLong_Type", "__wb::py_type(2)[0]"),
    ("PyFloat_Type", "__wb::py_type(3)[0]"),
    ("PyUnicode_Type", "__wb::py_type(4)[0]"),
    ("PyBytes_Type", "__wb::py_type(5)[0]"),
    ("PyList_Type", "__wb::py_type(6)[0]"),
    ("PyTuple_Type", "__wb::py_type(7)[0]"),
    ("PyDict_Type", "__wb::py_type(8)[0]"),
    ("PyModule_Type", "__wb::py_type(9)[0]"),
    ("PyType_Type", "__wb::py_type(13)[0]"),
    ("PyBaseObject_Type", "__wb::py_type(15)[0]"),
    // Their numbers: `runtime::host::python`.
    ("PyExc_RuntimeError", "reinterpret_cast<PyObject*>(-1l)"),
    ("PyExc_ValueError", "reinterpret_cast<PyObject*>(-2l)"),
    ("PyExc_TypeError", "reinterpret_cast<PyObject*>(-3l)"),
    ("PyExc_IndexError", "reinterpret_cast<PyObject*>(-4l)"),
    ("PyExc_NotImplementedError", "reinterpret_cast<PyObject*>(-5l)"),
    ("PyExc_MemoryError", "reinterpret_cast<PyObject*>(-6l)"),
    ("PyExc_OverflowError", "reinterpret_cast<PyObject*>(-7l)"),
    ("PyExc_KeyError", "reinterpret_cast<PyObject*>(-8l)"),
    ("PyExc_ZeroDivisionError", "reinterpret_cast<PyObject*>(-9l)"),
    ("PyExc_ArithmeticError", "reinterpret_cast<PyObject*>(-10l)"),
    ("PyExc_SystemError", "reinterpret_cast<PyObject*>(-11l)"),
    ("PyExc_AttributeError", "reinterpret_cast<PyObject*>(-12l)"),
    ("PyExc_StopIteration", "reinterpret_cast<PyObject*>(-13l)"),
    ("PyExc_LookupError", "reinterpret_cast<PyObject*>(-14l)"),
    ("PyExc_AssertionError", "reinterpret_cast<PyObject*>(-15l)"),
    ("PyExc_ImportError", "reinterpret_cast<PyObject*>(-16l)"),
    ("PyExc_OSError", "reinterpret_cast<PyObject*>(-17l)"),
    ("PyExc_EOFError", "reinterpret_cast<PyObject*>(-18l)"),
    ("PyExc_BufferError", "reinterpret_cast<PyObject*>(-19l)"),
    ("PyExc_FloatingPointError", "reinterpret_cast<PyObject*>(-20l)"),
    ("PyExc_NameError", "reinterpret_cast<PyObject*>(-21l)"),
    ("PyExc_Exception", "reinterpret_cast<PyObject*>(-22l)"),
    ("PyExc_IOError", "PyExc_OSError"),
];

/// `<cuda_pipeline.h>`: asynchronous copies to shared memory.
static PIPELINE: Part = Part { name: "<cuda_pipeline>", text: include_str!("pipeline.cuh"), mark: "" };

/// The dot products of bytes, for vectors of them.
static PACKED: Part = Part { name: "<packed>", text: include_str!("packed.cuh"), mark: "" };

/// Names of [`PACKED`].
const PACKED_NAMES: [&str; 3] = ["__dp4a", "__dp2a_lo", "__dp2a_hi"];

/// `helper_math.h` of the CUDA samples: arithmetic on vectors.
pub static HELPER_MATH: Part = Part { name: "<helper_math>", text: include_str!("helper_math.cuh"), mark: "" };

/// A text that includes [`HELPER_MATH`] counts as one that mentions this.
pub const HELPER_MATH_WORD: &str = "helper_math";

/// Whether a header is [`HELPER_MATH`], wherever it is said to lie.
pub fn is_helper_math(header: &str) -> bool {
    matches!(header.rsplit('/').next(), Some("helper_math.h" | "cutil_math.h"))
}

/// Names of 16-bit floats.
const HALF_NAMES: [&str; 12] = [
    "half",
    "half2",
    "__half",
    "__half2",
    "nv_bfloat16",
    "nv_bfloat162",
    "__nv_bfloat16",
    "__nv_bfloat162",
    "__float2half",
    "__half_raw",
    "__nv_bfloat16_raw",
    "__ushort_as_half",
];

/// Every text.
pub fn all() -> [&'static Part; 24] {
    [
        &PIPELINE,
        &HALF,
        &STD,
        &GROUPS,
        &PACKED,
        &HELPER_MATH,
        &C10_HALF,
        &ATEN,
        &HOST,
        &CONTAINERS,
        &TORCH,
        &CUDART,
        &TORCH_HALF,
        &TORCH_ACCESSOR,
        &TORCH_CHECKS,
        &TORCH_NN,
        &TORCH_LIBRARY,
        &CUB,
        &WMMA,
        &FP8,
        &NEURON,
        &GAUDI,
        &GAUDI_TENSORFLOW,
        &PYTHON,
    ]
}

/// Whether a name of torch's namespaces is one that device code may use.
pub fn is_aten(name: &str) -> bool {
    ATEN_NAMES.contains(&name) || C10_HALF_NAMES.contains(&name)
}

/// The texts of ours that NVRTC is given before a text that mentions something of them: it has CUDA's headers, and no others.
pub fn mentioned_on_gpu(mentions: impl Fn(&str) -> bool) -> Vec<&'static Part> {
    let std = mentions("std").then_some(&STD);
    let c10 = mentions_c10_half(&mentions).then_some(&C10_HALF);
    let aten = ATEN_NAMES.iter().any(|n| mentions(n)).then_some(&ATEN);
    [std, c10, aten].into_iter().flatten().collect()
}

/// Whether a text means torch's 16-bit floats, and not types of its own of those names.
fn mentions_c10_half(mentions: &impl Fn(&str) -> bool) -> bool {
    C10_HALF_NAMES.iter().any(|n| mentions(n)) && ["at", "c10", "torch"].iter().any(|n| mentions(n))
}

/// The texts to read first, in this order: those that the user's mentions something of; `mentions` tells of an identifier.
pub fn mentioned(mentions: impl Fn(&str) -> bool) -> Vec<&'static Part> {
    let python = PYTHON_NAMES.iter().any(|n| mentions(n)).then_some(&PYTHON);
    let gaudi = mentions("habana").then_some(&GAUDI);
    let gaudi_tensorflow = gaudi.filter(|_| mentions("tensorflow")).map(|_| &GAUDI_TENSORFLOW);
    let torch = (python.is_some() || gaudi.is_some() || TORCH_NAMES.iter().any(|n| mentions(n))).then_some(&TORCH);
    let accessors = torch.is_some() && ACCESSORS.iter().any(|n| mentions(n));
    let torch_accessor = accessors.then_some(&TORCH_ACCESSOR);
    let neuron = torch.filter(|_| NEURON_NAMES.iter().any(|n| mentions(n))).map(|_| &NEURON);
    let registers = torch.is_some() && (TORCH_LIBRARY_NAMES.iter().any(|n| mentions(n)) || mentions("__wb_neuron"));
    let torch_library = registers.then_some(&TORCH_LIBRARY);
    let torch_checks = torch.filter(|_| TORCH_CHECKS_NAMES.iter().any(|n| mentions(n))).map(|_| &TORCH_CHECKS);
    let torch_nn = torch.filter(|_| TORCH_NN_NAMES.split_whitespace().any(&mentions)).map(|_| &TORCH_NN);
    let cudart = CUDART_NAMES.iter().any(|n| mentions(n)).then_some(&CUDART);
    let aten = (accessors || ATEN_NAMES.iter().any(|n| mentions(n))).then_some(&ATEN);
    // The parts know of one another: ATen's types to compute in of torch's 16-bit floats, those of their limits in `std`.
    let halves = HALF_NAMES.iter().any(|n| mentions(n));
    let c10 = (aten.is_some() || mentions_c10_half(&mentions) || torch.is_some() && halves).then_some(&C10_HALF);
    let cub = mentions("cub").then_some(&CUB);
    let wmma = WMMA_NAMES.iter().any(|n| mentions(n)).then_some(&WMMA);
    let fp8 = FP8_NAMES.iter().any(|n| mentions(n)).then_some(&FP8);
    let half = (c10.is_some() || halves || wmma.is_some() || fp8.is_some()).then_some(&HALF);
    let torch_half = torch.and(c10).map(|_| &TORCH_HALF);
    let c = C_NAMES.iter().any(|n| mentions(n));
    let containers = (mentions("std") && CONTAINER_NAMES.iter().any(|n| mentions(n))).then_some(&CONTAINERS);
    let host = (torch.is_some()
        || containers.is_some()
        || c
        || mentions(THROW)
        || mentions(LAND)
        || mentions(HEAP[0])
        || mentions("std") && HOST_NAMES.iter().any(|n| mentions(n)))
    .then_some(&HOST);
    let std = (c10.is_some() || host.is_some() || cub.is_some() || mentions("std")).then_some(&STD);
    // Of ATen every tensor names a few lines.
    let aten = aten.or(torch.map(|_| &ATEN));
    let packed = PACKED_NAMES.iter().any(|n| mentions(n)).then_some(&PACKED);
    let groups = mentions("cooperative_groups").then_some(&GROUPS);
    let pipeline = mentions("__pipeline_memcpy_async").then_some(&PIPELINE);
    let helper_math = mentions(HELPER_MATH_WORD).then_some(&HELPER_MATH);
    [
        pipeline,
        half,
        std,
        groups,
        packed,
        helper_math,
        c10,
        aten,
        host,
        containers,
        torch,
        cudart,
        torch_half,
        torch_accessor,
        torch_checks,
        torch_nn,
        torch_library,
        cub,
        wmma,
        fp8,
        neuron,
        gaudi,
        gaudi_tensorflow,
        python,
    ]
    .into_iter()
    .flatten()
    .collect()
}
