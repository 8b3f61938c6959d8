//! Parts that extensions and samples ask for besides, by the words that ask for them: more of the standard library, Thrust, CUB for the whole
//! device, libcu++, torch's functional interface, its autograd and its streams.

use super::Part;
use super::words::Words;

/// Owners of objects: `unique_ptr`, `shared_ptr` and kin.
pub static STD_MEMORY: Part = Part { name: "<memory>", text: include_str!("std_memory.cuh"), mark: "" };
/// `<random>`.
pub static STD_RANDOM: Part = Part { name: "<random>", text: include_str!("std_random.cuh"), mark: "" };
/// `<chrono>`.
pub static STD_CHRONO: Part = Part { name: "<chrono>", text: include_str!("std_chrono.cuh"), mark: "" };
/// `<iostream>`, `<sstream>`, `<iomanip>`.
pub static STD_STREAMS: Part = Part { name: "<iostream>", text: include_str!("std_streams.cuh"), mark: "" };
/// `<atomic>`, `<mutex>`.
pub static STD_ATOMIC: Part = Part { name: "<atomic>", text: include_str!("std_atomic.cuh"), mark: "" };
/// `<cuda/atomic>`, `<cuda/barrier>`, `<cuda/pipeline>`.
pub static LIBCU: Part = Part { name: "<libcu++>", text: include_str!("libcu.cuh"), mark: "" };
/// What else of namespaces `cuda` and `cuda::std` kernels use.
pub static LIBCU_STD: Part = Part { name: "<libcu++ std>", text: include_str!("libcu_std.cuh"), mark: "" };
/// Thrust.
pub static THRUST: Part = Part {
    name: "<thrust>",
    text: concat!(
        include_str!("thrust/functions.cuh"),
        include_str!("thrust/iterators.cuh"),
        include_str!("thrust/vectors.cuh"),
        include_str!("thrust/elementwise.cuh"),
        include_str!("thrust/reductions.cuh"),
        include_str!("thrust/selections.cuh"),
        include_str!("thrust/sorting.cuh"),
    ),
    mark: "",
};
/// `cub::DeviceReduce` and its like.
pub static CUB_DEVICE: Part = Part {
    name: "<cub_device>",
    text: concat!(include_str!("cub_device/reductions.cuh"), include_str!("cub_device/sorting.cuh")),
    mark: "",
};
/// `torch::nn::functional`, and the operations behind it.
pub static TORCH_FUNCTIONAL: Part = Part {
    name: "<torch_functional>",
    text: concat!(
        include_str!("torch_functional/operations.cuh"),
        include_str!("torch_functional/options.cuh"),
        include_str!("torch_functional/layers.cuh"),
        include_str!("torch_functional/losses.cuh"),
    ),
    mark: "",
};
/// `c10::IValue`.
pub static TORCH_IVALUE: Part = Part { name: "<torch_ivalue>", text: include_str!("torch_ivalue.cuh"), mark: "" };
/// `torch::autograd::Function`.
pub static TORCH_AUTOGRAD: Part = Part { name: "<torch_autograd>", text: include_str!("torch_autograd.cuh"), mark: "" };
/// Streams, events and guards by torch's names.
pub static TORCH_STREAMS: Part = Part { name: "<torch_streams>", text: include_str!("torch_streams.cuh"), mark: "" };

static MEMORY_NAMES: Words =
    Words::new("unique_ptr make_unique shared_ptr make_shared weak_ptr default_delete enable_shared_from_this");
static RANDOM_NAMES: Words = Words::new(
    "\
    mt19937 mt19937_64 minstd_rand minstd_rand0 default_random_engine random_device uniform_int_distribution \
    uniform_real_distribution normal_distribution bernoulli_distribution discrete_distribution exponential_distribution \
    lognormal_distribution linear_congruential_engine mersenne_twister_engine seed_seq shuffle generate generate_n",
);
static CHRONO_NAMES: Words = Words::new("chrono this_thread");
static STREAM_NAMES: Words = Words::new(
    "\
    cout cerr clog endl stringstream ostringstream istringstream ostream istream ios ios_base iostream setprecision setw setfill \
    setbase boolalpha ostream_iterator",
);
static ATOMIC_NAMES: Words = Words::new(
    "\
    atomic atomic_flag atomic_int memory_order memory_order_relaxed memory_order_acquire memory_order_release memory_order_seq_cst \
    mutex recursive_mutex lock_guard unique_lock scoped_lock once_flag call_once",
);
static LIBCU_NAMES: Words = Words::new(
    "\
    thread_scope_system thread_scope_device thread_scope_block thread_scope_thread make_pipeline pipeline_shared_state \
    aligned_size_t atomic_ref barrier latch counting_semaphore pipeline memory_order_relaxed memory_order_acquire \
    memory_order_release memory_order_seq_cst numeric_limits",
);
/// What stands for an `#include <cuda/...>`.
pub const LIBCU_WORD: &str = "__wb_libcu";

static LIBCU_STD_NAMES: Words = Words::new(
    "\
    maximum minimum multiplies span bit_cast popcount countl_zero countr_zero bit_ceil bit_floor bit_width has_single_bit \
    is_power_of_two next_power_of_two fast_mod_div proclaim_return_type",
);

/// What CUDA 13's CUB has no more, and what to write.
const REMOVED_OF_CUB: &[(&str, &str)] = &[
    ("Sum", "cuda::std::plus<>{}"),
    ("Max", "cuda::maximum<>{}"),
    ("Min", "cuda::minimum<>{}"),
    ("Equality", "cuda::std::equal_to<>{}"),
    ("Inequality", "cuda::std::not_equal_to<>{}"),
    ("Difference", "cuda::std::minus<>{}"),
    ("Division", "cuda::std::divides<>{}"),
    ("LaneId", "cuda::ptx::get_sreg_laneid(), or threadIdx.x % 32"),
    ("WarpId", "threadIdx.x / 32"),
    ("CountingInputIterator", "thrust::counting_iterator"),
    ("ConstantInputIterator", "thrust::constant_iterator"),
    ("TransformInputIterator", "thrust::transform_iterator"),
    ("DiscardOutputIterator", "thrust::discard_iterator"),
];

/// What to write for a name of CUB's that CUDA 13 has no more.
pub fn removed_of_cub(name: &str) -> Option<&'static str> {
    REMOVED_OF_CUB.iter().find(|(known, _)| *known == name).map(|(_, instead)| *instead)
}

static CUB_DEVICE_NAMES: Words = Words::new(
    "\
    DeviceReduce DeviceScan DeviceRadixSort DeviceSelect DevicePartition DeviceHistogram DeviceRunLengthEncode \
    DeviceSegmentedReduce DeviceSegmentedRadixSort DeviceSegmentedSort DeviceMergeSort DeviceAdjacentDifference DeviceFor \
    KeyValuePair DoubleBuffer CountingInputIterator TransformInputIterator ArgIndexInputIterator ConstantInputIterator \
    DiscardOutputIterator CachingDeviceAllocator CubDebugExit",
);
static FUNCTIONAL_NAMES: Words = Words::new(
    "\
    functional enumtype ExpandingArray Dtype kNone kMean kSum kReLU kGELU kReflect kReplicate kCircular kConstant kZeros kNearest \
    kLinear kBilinear kBicubic kTrilinear kArea pad reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d \
    replication_pad2d replication_pad3d rrelu bilinear conv_transpose3d pixel_unshuffle hinge_embedding_loss \
    cosine_embedding_loss multi_margin_loss multilabel_margin_loss soft_margin_loss poisson_nll_loss pdist \
    max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool1d adaptive_max_pool2d \
    adaptive_max_pool3d max_unpool2d adaptive_avg_pool3d alpha_dropout feature_alpha_dropout embedding_renorm_ embedding_bag col2im",
);
static AUTOGRAD_NAMES: Words = Words::new("autograd IValue GradMode AutoGradMode");
static TORCH_STREAM_NAMES: Words = Words::new(
    "\
    getStreamFromPool setCurrentCUDAStream CUDAStreamGuard OptionalCUDAStreamGuard CUDAMultiStreamGuard CUDAEvent DeviceGuard \
    OptionalDeviceGuard device_count current_device set_device device_synchronize is_available CUDACachingAllocator globalContext \
    StreamId DataPtr getCUDADeviceAllocator GetDevice SetDevice MaybeSetDevice ExchangeDevice MaybeExchangeDevice",
);
/// Names of the operating system's time and of GCC's atomic functions.
pub static POSIX_NAMES: Words = Words::new(
    "\
    timeval timespec gettimeofday clock_gettime usleep sleep nanosleep __sync_synchronize __sync_fetch_and_add __sync_fetch_and_sub \
    __sync_fetch_and_and __sync_fetch_and_or __sync_fetch_and_xor __sync_fetch_and_nand __sync_add_and_fetch __sync_sub_and_fetch \
    __sync_and_and_fetch __sync_or_and_fetch __sync_xor_and_fetch __sync_nand_and_fetch __sync_val_compare_and_swap \
    __sync_bool_compare_and_swap __sync_lock_test_and_set __sync_lock_release __atomic_fetch_add __atomic_fetch_sub __atomic_fetch_and \
    __atomic_fetch_or __atomic_fetch_xor __atomic_add_fetch __atomic_sub_fetch __atomic_and_fetch __atomic_or_fetch __atomic_xor_fetch \
    __atomic_load_n __atomic_store_n __atomic_exchange_n __atomic_compare_exchange_n __atomic_thread_fence",
);
/// Names of the CUDA driver's types.
pub static DRIVER_NAMES: Words = Words::new(
    "\
    CUresult CUdevice CUdeviceptr CUcontext CUmodule CUfunction CUlibrary CUkernel CUstream CUevent CUarray CUgraph CUgraphExec CUtensorMap \
    CUmemGenericAllocationHandle CUtensorMapDataType CUtensorMapInterleave CUtensorMapSwizzle CUtensorMapL2promotion \
    CUtensorMapFloatOOBfill CUDA_SUCCESS",
);

/// What of these a text asks for.
pub struct Asked {
    pub memory: bool,
    pub random: bool,
    pub chrono: bool,
    pub streams: bool,
    pub atomic: bool,
    pub libcu: bool,
    pub libcu_std: bool,
    pub thrust: bool,
    pub cub_device: bool,
    pub functional: bool,
    pub autograd: bool,
    pub torch_streams: bool,
}

impl Asked {
    /// By the words that a text mentions.
    pub fn of(mentions: &impl Fn(&str) -> bool) -> Self {
        let (in_std, thrust) = (mentions("std"), mentions("thrust"));
        let libcu_std = mentions(LIBCU_WORD) || mentions("cuda") && (mentions("cub") || LIBCU_STD_NAMES.any(mentions));
        Asked {
            memory: mentions("habana") || in_std && MEMORY_NAMES.any(mentions),
            random: thrust || in_std && RANDOM_NAMES.any(mentions),
            chrono: in_std && CHRONO_NAMES.any(mentions),
            streams: in_std && STREAM_NAMES.any(mentions),
            atomic: in_std && ATOMIC_NAMES.any(mentions),
            libcu: libcu_std || mentions("cuda") && LIBCU_NAMES.any(mentions),
            libcu_std,
            thrust,
            cub_device: mentions("cub") && CUB_DEVICE_NAMES.any(mentions),
            functional: FUNCTIONAL_NAMES.any(mentions),
            autograd: AUTOGRAD_NAMES.any(mentions),
            torch_streams: TORCH_STREAM_NAMES.any(mentions),
        }
    }

    /// Whether any of them is host code of the standard library.
    pub fn is_host(&self) -> bool {
        self.memory || self.random || self.chrono || self.streams || self.atomic || self.thrust || self.cub_device
    }
}
