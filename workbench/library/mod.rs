//! Libraries written in CUDA C++ itself: parts of the standard library, 16-bit floats, cooperative groups, asynchronous copies, vector
//! arithmetic of the CUDA samples, and those parts of torch's headers that kernels use. The front end reads such a text before a user's
//! text that mentions a name of it. NVRTC, which comes with CUDA's own headers and no others, is given [`STD`], [`C10_HALF`] and [`ATEN`]
//! the same way, and [`HELPER_MATH`] as the header that a text includes.
//!
//! # Which texts a program opens
//! Texts are read in one order ([`all`]), the most requested ones first. The words that a text mentions tell which parts it opens (here and
//! in `parts.rs`), one bit each. Large parts are folders of files that are one text: Thrust (`thrust/`), CUB for the whole device
//! (`cub_device/`), `torch::nn::functional` (`torch_functional/`).
//!
//! # How the library is made
//! Algorithms of Thrust and CUB are kernels that the library launches: one thread per element, or one thread for all where each element
//! depends on the one before. The body of a functor keeps its place in the user's text where it is inlined (`pass/inline.rs`), so its
//! faults are reported there; a fault in such a kernel names the algorithm and the line that calls it. Tables in `torch.cuh`
//! (`__WB_NATIVES` and its like) declare an operation once, as a member and as a function. Layers and losses (`torch_nn.cuh`) are made of
//! other operations, in C++ as torch documents them, so shapes without data need no code, except for losses over classes, which look at
//! their targets. cuBLAS (`cublas.cuh`) is host code that runs torch's operations on views of the memory that it is given; a handle is a
//! place in a table of the program.
//!
//! Library functions are called, not inlined, unless tiny: host code only connects operations, and the code compiled each time must be
//! small.

mod macros;
mod parts;
mod words;

pub use macros::{HOST_MACROS, MACROS, SAMPLES_MACROS};
use parts::{Asked, Base, TORCH_FUNCTIONAL};
pub use parts::{LIBCU_WORD, headers, is_header, removed_of_cub};
use words::Words;

/// A text that is read before the user's.
#[derive(Debug)]
pub struct Part {
    /// The name in messages.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
    /// A macro that the text defines, by which others can test that it is there; empty: none.
    pub mark: &'static str,
}

/// The part of the library written in CUDA C++.
pub static STD: Part = Part { name: "<std>", text: include_str!("std.cuh"), mark: "__WB_STD" };

/// `<cuda_fp16.h>` and `<cuda_bf16.h>`: 16-bit floats kept as bits, computed in `float` (one rounding suffices: 24 bits are
/// more than twice 11 and two more), and `fma` in `double` rounded to odd first.
static HALF: Part = Part { name: "<half>", text: include_str!("half.cuh"), mark: "" };

/// The declarations of CUDA's headers for half precision.
pub fn half_text() -> &'static str {
    HALF.text
}

/// `<cooperative_groups.h>` with its reductions, scans and copies: groups within a block, on barriers and warp functions.
static GROUPS: Part = Part { name: "<cooperative_groups>", text: include_str!("cooperative_groups.cuh"), mark: "" };

/// The parts of `<ATen/...>`, `<c10/...>` and `<torch/...>` that kernels use: accessors, types to compute in, atomics, shuffles.
pub static ATEN: Part = Part { name: "<ATen>", text: include_str!("aten.cuh"), mark: "" };

/// Containers of the standard library, for host code.
static STD_CONTAINERS: Part = Part { name: "<std_containers>", text: include_str!("std_containers.cuh"), mark: "" };

/// Tensors, for host code: the parts of torch's and pybind11's headers that extensions use.
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

/// pybind11's objects, on [`PYTHON`].
pub static PYBIND: Part = Part { name: "<pybind11>", text: include_str!("pybind.cuh"), mark: "" };

/// The word that stands for a mention of [`PYBIND`].
pub const PYBIND_WORD: &str = "__wb_pybind";

/// Members of pybind11's namespace that ask for [`PYBIND`].
const PYBIND_NAMES: [&str; 23] = [
    "object",
    "handle",
    "dict",
    "list",
    "tuple",
    "args",
    "kwargs",
    "str",
    "bytes",
    "int_",
    "float_",
    "bool_",
    "function",
    "sequence",
    "iterable",
    "cast",
    "isinstance",
    "make_tuple",
    "len",
    "getattr",
    "hasattr",
    "print",
    "gil_scoped_acquire",
];

/// True if a member of pybind11's namespace is one of [`PYBIND`]'s.
pub fn is_pybind(name: &str) -> bool {
    PYBIND_NAMES.contains(&name) || name.starts_with("reinterpret_") || name == "setattr"
}

/// The namespace of [`PTX`], which asks for it.
pub const PTX_NAMESPACE: &str = "__wb_ptx";

/// The functions that inline PTX becomes calls of.
static PTX: Part = Part { name: "<ptx>", text: include_str!("ptx.cuh"), mark: "" };

/// Further names that ask for [`PTX`]: conversions of addresses.
const ADDRESS_NAMES: [&str; 8] = [
    "__cvta_generic_to_global",
    "__cvta_generic_to_local",
    "__cvta_generic_to_constant",
    "__cvta_generic_to_shared",
    "__cvta_global_to_generic",
    "__cvta_local_to_generic",
    "__cvta_constant_to_generic",
    "__cvta_shared_to_generic",
];

/// The functions that inline PTX of matrices becomes calls of.
static PTX_MATRIX: Part = Part { name: "<ptx_matrix>", text: include_str!("ptx_matrix.cuh"), mark: "" };

/// cuRAND's generators, for device code.
static CURAND: Part = Part { name: "<curand_kernel>", text: include_str!("curand.cuh"), mark: "" };

/// Names that ask for [`CURAND`].
const CURAND_NAMES: [&str; 8] = [
    "curandState",
    "curandState_t",
    "curandStateXORWOW",
    "curandStateXORWOW_t",
    "curandStateMRG32k3a",
    "curandStateMRG32k3a_t",
    "curandStatePhilox4_32_10",
    "curandStatePhilox4_32_10_t",
];

/// cuBLAS, on [`TORCH`] and [`CUDART`].
pub static CUBLAS: Part = Part { name: "<cublas>", text: include_str!("cublas.cuh"), mark: "" };

/// Names that ask for [`CUBLAS`]; names of namespaces ask for it together with torch.
const CUBLAS_NAMES: [&str; 11] = [
    "cublasHandle_t",
    "cublasStatus_t",
    "cublasOperation_t",
    "cublasCreate",
    "cublasGetStatusString",
    "cublasGetStatusName",
    "getCurrentCUDABlasHandle",
    "cudaDataType",
    "cudaDataType_t",
    "CUBLAS_OP_N",
    "CUBLAS_STATUS_SUCCESS",
];

/// Functions of C's library that [`STD_CONTAINERS`] contains.
const C_NAMES: [&str; 20] = [
    "snprintf", "sprintf", "strcmp", "strcpy", "strlen", "strncmp", "malloc", "calloc", "realloc", "free", "exit",
    "abort", "rand", "srand", "time", "time_t", "atoi", "atof", "puts", "putchar",
];

/// Names that ask for [`TORCH_LIBRARY`]: those that its macros write, and those used without the macros.
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

/// Methods of tensors that give an accessor.
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

/// `<cuComplex.h>`, `<thrust/complex.h>`, `<cuda/std/complex>`.
static COMPLEX: Part = Part { name: "<complex>", text: include_str!("complex.cuh"), mark: "" };

/// Names that ask for [`COMPLEX`].
const CU_COMPLEX_NAMES: [&str; 6] =
    ["cuComplex", "cuFloatComplex", "cuDoubleComplex", "make_cuComplex", "make_cuFloatComplex", "make_cuDoubleComplex"];

/// Names that ask for [`FP8`].
const FP8_NAMES: [&str; 21] = [
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
    "__nv_cvt_e8m0_to_bf16raw",
];

/// Checks of tensors as arguments.
static TORCH_CHECKS: Part = Part { name: "<torch_checks>", text: include_str!("torch_checks.cuh"), mark: "" };

/// Names that ask for [`TORCH_CHECKS`].
const TORCH_CHECKS_NAMES: [&str; 3] = ["TensorArg", "TensorGeometryArg", "CheckedFrom"];

/// Layers and losses.
static TORCH_NN: Part = Part { name: "<torch_nn>", text: include_str!("torch_nn.cuh"), mark: "" };

/// Names that ask for [`TORCH_NN`].
static TORCH_NN_NAMES: Words = Words::new(
    "\
    max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d \
    conv_transpose1d conv_transpose2d conv3d convolution batch_norm group_norm instance_norm native_layer_norm \
    dropout celu prelu glu _softmax _log_softmax pixel_shuffle im2col scaled_dot_product_attention \
    upsample_nearest2d upsample_bilinear2d nll_loss cross_entropy_loss kl_div smooth_l1_loss huber_loss \
    binary_cross_entropy cosine_similarity pairwise_distance triplet_margin_loss margin_ranking_loss",
);

/// Names that ask for [`TORCH_COMPOSITES`].
static TORCH_COMPOSITE_NAMES: Words = Words::new(
    "\
    _log_softmax_backward_data _softmax_backward_data addbmm addr aminmax argwhere bernoulli block_diag \
    broadcast_tensors bucketize column_stack copysign cross cummax cummin diag_embed diagonal diagonal_scatter \
    diff dist dsplit dstack elu_backward fliplr flipud gelu_backward ger hardshrink hardtanh_backward heaviside \
    histc hsplit isclose isin kron kthvalue leaky_relu_backward logaddexp logit logspace masked_scatter median mode rms_norm \
    msort multinomial nan_to_num nanmedian nansum normal quantile randint_like randperm rot90 scatter_reduce \
    searchsorted select_scatter sgn sigmoid_backward signbit silu_backward sinc slice_scatter softplus_backward \
    softshrink take_along_dim tanh_backward tensor_split tensordot threshold_backward tril_indices triu_indices \
    vdot vsplit xlogy nan_to_num_ masked_scatter_ scatter_reduce_ fill_diagonal_ bernoulli_",
);

/// Operations of torch's made of others.
static TORCH_COMPOSITES: Part =
    Part { name: "<torch_composites>", text: include_str!("torch_composites.cuh"), mark: "" };

/// Names that ask for [`CUDART`].
const CUDART_NAMES: [&str; 80] = [
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
    "cudaHostRegister",
    "cudaHostUnregister",
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
    "cudaMemcpyFromSymbolAsync",
    "cudaMemcpyToSymbol",
    "cudaMemcpyToSymbolAsync",
    "cudaMemset",
    "cudaMemset2D",
    "cudaMemsetAsync",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxPotentialBlockSize",
    "cudaPeekAtLastError",
    "cudaPointerAttributes",
    "cudaPointerGetAttributes",
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
    "cudaThreadExit",
    "cudaThreadSynchronize",
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

/// The function that `throw x` calls.
pub const THROW: &str = "__wb_throw";

/// The function that `throw x` calls in a text that has handlers.
pub const THROW_OBJECT: &str = "__wb_throw_object";

/// The function that is called before the handlers of a `try`.
pub const LAND: &str = "__wb_land";

/// The function that is called when a handler is left.
pub const HANDLED: &str = "__wb_handled";

/// The functions that `new` and `delete` call.
pub const HEAP: [&str; 10] = [
    "__wb_new",
    "__wb_new_plain",
    "__wb_new_array",
    "__wb_new_zeroed",
    "__wb_new_nothrow",
    "__wb_new_plain_nothrow",
    "__wb_new_array_nothrow",
    "__wb_new_zeroed_nothrow",
    "__wb_delete",
    "__wb_delete_array",
];

/// Names of [`STD_CONTAINERS`].
const STD_CONTAINER_NAMES: [&str; 63] = [
    "map",
    "multimap",
    "unordered_multimap",
    "unordered_map",
    "set",
    "unordered_set",
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
static STD_ADAPTORS: Part = Part { name: "<std_adaptors>", text: include_str!("std_adaptors.cuh"), mark: "" };

/// Names of [`STD_ADAPTORS`].
const STD_ADAPTOR_NAMES: [&str; 8] =
    ["back_inserter", "deque", "queue", "stack", "priority_queue", "list", "function", "bitset"];

/// The 16-bit floats of torch, `c10::Half` and `c10::BFloat16`.
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

/// `<cuda_pipeline.h>`: asynchronous copies to shared memory.
static PIPELINE: Part = Part { name: "<cuda_pipeline>", text: include_str!("pipeline.cuh"), mark: "" };

/// The dot products of bytes, on vectors of bytes.
static PACKED: Part = Part { name: "<packed>", text: include_str!("packed.cuh"), mark: "" };

/// Names of [`PACKED`].
const PACKED_NAMES: [&str; 3] = ["__dp4a", "__dp2a_lo", "__dp2a_hi"];

/// `helper_math.h` of the CUDA samples: arithmetic on vectors.
pub static HELPER_MATH: Part = Part { name: "<helper_math>", text: include_str!("helper_math.cuh"), mark: "" };

/// A text that includes [`HELPER_MATH`] counts as one that mentions this.
pub const HELPER_MATH_WORD: &str = "helper_math";

/// True if a header is [`HELPER_MATH`], whatever its folder.
pub fn is_helper_math(header: &str) -> bool {
    matches!(header.rsplit('/').next(), Some("helper_math.h" | "cutil_math.h"))
}

/// `helper_cuda.h` and its kin of the CUDA samples, on [`TORCH`] and [`CUDART`].
static SAMPLES: Part = Part { name: "<helper_cuda>", text: include_str!("samples.cuh"), mark: "" };

/// A text that includes [`SAMPLES`] counts as one that mentions this.
pub const SAMPLES_WORD: &str = "helper_cuda";

/// True if a header is one of [`SAMPLES`], whatever its folder.
pub fn is_of_samples(header: &str) -> bool {
    let name = header.rsplit('/').next();
    matches!(name, Some("helper_cuda.h" | "helper_functions.h" | "helper_timer.h" | "helper_string.h"))
}

/// Types of the CUDA driver's interface.
static DRIVER: Part = Part { name: "<cuda.h>", text: include_str!("driver.cuh"), mark: "" };

/// The functions of the operating system and of GCC that host code uses, on [`STD_CHRONO`].
static POSIX: Part = Part { name: "<posix>", text: include_str!("posix.cuh"), mark: "" };

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

/// Every text, the most requested ones first: a text is read after all those before it.
pub fn all() -> Vec<&'static Part> {
    let first = [
        &PIPELINE,
        &HALF,
        &STD,
        &GROUPS,
        &PACKED,
        &HELPER_MATH,
        &CURAND,
        &PTX,
        &PTX_MATRIX,
        &C10_HALF,
        &ATEN,
        &STD_CONTAINERS,
        &STD_ADAPTORS,
        &TORCH,
        &CUDART,
        &TORCH_HALF,
        &CUBLAS,
        &TORCH_ACCESSOR,
        &TORCH_CHECKS,
        &TORCH_COMPOSITES,
        &TORCH_NN,
        &TORCH_LIBRARY,
        &PYTHON,
        &PYBIND,
        &NEURON,
        &CUB,
        &WMMA,
        &FP8,
        &COMPLEX,
    ];
    let last = [&GAUDI, &GAUDI_TENSORFLOW, &SAMPLES, &DRIVER, &POSIX];
    first.into_iter().chain(parts::parts()).chain(last).collect()
}

/// True if a name of torch's namespaces is one that device code may use.
pub fn is_aten(name: &str) -> bool {
    ATEN_NAMES.contains(&name) || C10_HALF_NAMES.contains(&name)
}

/// The texts of ours that NVRTC is given before a text that mentions a name of them: it has CUDA's headers, and no others.
pub fn mentioned_on_gpu(mentions: impl Fn(&str) -> bool) -> Vec<&'static Part> {
    let std = mentions("std").then_some(&STD);
    let c10 = mentions_c10_half(&mentions).then_some(&C10_HALF);
    let aten = ATEN_NAMES.iter().any(|n| mentions(n)).then_some(&ATEN);
    [std, c10, aten].into_iter().flatten().collect()
}

/// True if a text means torch's 16-bit floats, and not its own types of those names.
fn mentions_c10_half(mentions: &impl Fn(&str) -> bool) -> bool {
    C10_HALF_NAMES.iter().any(|n| mentions(n)) && ["at", "c10", "torch"].iter().any(|n| mentions(n))
}

/// The texts to read first, in this order: those of which the user's text mentions a name; `mentions` is true for an identifier in it.
pub fn mentioned(mentions: impl Fn(&str) -> bool) -> Vec<&'static Part> {
    let any = |names: &[&str]| names.iter().any(|name| mentions(name));
    let pybind = mentions(PYBIND_WORD).then_some(&PYBIND);
    let python = (pybind.is_some() || any(&PYTHON_NAMES)).then_some(&PYTHON);
    let blas = mentions("blas") && any(&["at", "torch"]);
    let cublas = (blas || any(&CUBLAS_NAMES)).then_some(&CUBLAS);
    let gaudi = mentions("habana").then_some(&GAUDI);
    let gaudi_tensorflow = gaudi.filter(|_| mentions("tensorflow")).map(|_| &GAUDI_TENSORFLOW);
    let more = Asked::of(&mentions);
    let posix = parts::POSIX_NAMES.any(&mentions).then_some(&POSIX);
    let samples = mentions(SAMPLES_WORD).then_some(&SAMPLES);
    let driver = parts::DRIVER_NAMES.any(&mentions).then_some(&DRIVER);
    let torch = (more.opens(Base::Torch)
        || mentions("std") && (mentions("to_string") || mentions("random_device"))
        || samples.is_some()
        || python.is_some()
        || gaudi.is_some()
        || cublas.is_some()
        || any(&TORCH_NAMES))
    .then_some(&TORCH);
    let more = if torch.is_some() { more } else { more.without_torch() };
    let accessors = torch.is_some() && any(&ACCESSORS);
    let torch_accessor = accessors.then_some(&TORCH_ACCESSOR);
    let neuron = torch.filter(|_| any(&NEURON_NAMES)).map(|_| &NEURON);
    let registers = torch.is_some() && (any(&TORCH_LIBRARY_NAMES) || mentions("__wb_neuron"));
    let torch_library = registers.then_some(&TORCH_LIBRARY);
    let torch_checks = torch.filter(|_| any(&TORCH_CHECKS_NAMES)).map(|_| &TORCH_CHECKS);
    let functional = more.has(&TORCH_FUNCTIONAL);
    let torch_nn = torch.filter(|_| functional || TORCH_NN_NAMES.any(&mentions)).map(|_| &TORCH_NN);
    let torch_composites =
        torch.filter(|_| torch_nn.is_some() || TORCH_COMPOSITE_NAMES.any(&mentions)).map(|_| &TORCH_COMPOSITES);
    let cudart =
        (cublas.is_some() || samples.is_some() || more.opens(Base::Cudart) || any(&CUDART_NAMES)).then_some(&CUDART);
    let aten = (accessors || any(&ATEN_NAMES)).then_some(&ATEN);
    // Parts depend on one another: ATen's compute types on torch's 16-bit floats, and these on their limits in `std`.
    let halves = any(&HALF_NAMES);
    let c10 = (aten.is_some() || cublas.is_some() || mentions_c10_half(&mentions) || torch.is_some() && halves)
        .then_some(&C10_HALF);
    let in_ptx = mentions(PTX_NAMESPACE);
    let ptx = (in_ptx || any(&ADDRESS_NAMES)).then_some(&PTX);
    let ptx_matrix = in_ptx.then_some(&PTX_MATRIX);
    let curand = any(&CURAND_NAMES).then_some(&CURAND);
    let cub = mentions("cub").then_some(&CUB);
    let wmma = any(&WMMA_NAMES).then_some(&WMMA);
    let fp8 = any(&FP8_NAMES).then_some(&FP8);
    let in_class = || mentions("complex") && any(&["thrust", "cuda"]);
    let complex = (any(&CU_COMPLEX_NAMES) || in_class()).then_some(&COMPLEX);
    let half = (c10.is_some() || halves || wmma.is_some() || fp8.is_some()).then_some(&HALF);
    let torch_half = torch.and(c10).map(|_| &TORCH_HALF);
    let c = any(&C_NAMES);
    let containers = (mentions("std") && any(&STD_ADAPTOR_NAMES)).then_some(&STD_ADAPTORS);
    let host = (torch.is_some()
        || containers.is_some()
        || more.opens(Base::Host)
        || c
        || samples.is_some()
        || mentions(THROW)
        || mentions(LAND)
        || mentions(HEAP[0])
        || mentions("std") && any(&STD_CONTAINER_NAMES))
    .then_some(&STD_CONTAINERS);
    let std =
        (c10.is_some() || host.is_some() || cub.is_some() || ptx.is_some() || more.opens(Base::Std) || mentions("std"))
            .then_some(&STD);
    // ATen is opened with every tensor, because tensors name a few lines of it.
    let aten = aten.or(torch.map(|_| &ATEN));
    let packed = any(&PACKED_NAMES).then_some(&PACKED);
    let groups = mentions("cooperative_groups").then_some(&GROUPS);
    let pipeline = mentions("__pipeline_memcpy_async").then_some(&PIPELINE);
    let helper_math = mentions(HELPER_MATH_WORD).then_some(&HELPER_MATH);
    let device = [pipeline, half, std, groups, packed, helper_math, curand, ptx, ptx_matrix, c10, aten];
    let base = [host, containers, torch, cudart, torch_half, cublas];
    let of_torch = [torch_accessor, torch_checks, torch_composites, torch_nn, torch_library, python, pybind, neuron];
    let others = [cub, wmma, fp8, complex];
    let first = device.into_iter().chain(base).chain(of_torch).chain(others);
    let last = [gaudi, gaudi_tensorflow, samples, driver, posix];
    first.flatten().chain(more.parts()).chain(last.into_iter().flatten()).collect()
}
