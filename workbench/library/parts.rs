//! Further parts that extensions and samples ask for, one row each with the words that ask for it: more of the standard library, Thrust, CUB for the
//! whole device, libcu++, torch's functional interface, its autograd and its streams.

use super::Part;
use super::words::Words;

/// A part that others build on: a row says which it opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// [`STD`](super::STD).
    Std,
    /// [`STD_CONTAINERS`](super::STD_CONTAINERS).
    Host,
    /// [`TORCH`](super::TORCH).
    Torch,
    /// [`CUDART`](super::CUDART).
    Cudart,
}

/// A function that is true if a text mentions an identifier.
type Mentions<'a> = dyn Fn(&str) -> bool + 'a;

/// A part, the parts it opens, and the words that ask for it.
struct Row {
    part: &'static Part,
    headers: &'static [&'static str],
    /// True if it is only read in texts that mention torch.
    is_of_torch: bool,
    opens: &'static [Base],
    asks: fn(&Mentions<'_>) -> bool,
}

macro_rules! is_of_torch {
    (of_torch) => {
        true
    };
    (alone) => {
        false
    };
}

/// Makes the parts, in the order in which they are read, of one row each:
///
/// ```text
/// PART "its name" [its files] headers [those of the host that it stands for] alone opens [bases] |m| what asks for it;
/// ```
///
/// `of_torch` instead of `alone`: only texts that mention torch read it.
macro_rules! parts {
    ($($(#[$doc:meta])* $part:ident $name:literal [$($file:literal)+] headers [$($header:literal)*] $whose:ident
        opens [$($base:ident)*] $asks:expr;)*) => {
        $(
            $(#[$doc])*
            pub static $part: Part = Part { name: $name, text: concat!($(include_str!($file)),+), mark: "" };
        )*

        static ROWS: &[Row] = &[$(Row {
            part: &$part,
            headers: &[$($header),*],
            is_of_torch: is_of_torch!($whose),
            opens: &[$(Base::$base),*],
            asks: $asks,
        }),*];
    };
}

parts! {
    /// `<iostream>`, `<sstream>`, `<iomanip>`.
    STD_STREAMS "<iostream>" ["std_streams.cuh"] headers ["iomanip" "iostream" "ostream" "sstream"] alone opens [Host]
        |m| m("std") && STREAM_NAMES.any(&m);
    /// `<atomic>`, `<mutex>`.
    STD_ATOMIC "<atomic>" ["std_atomic.cuh"] headers ["atomic" "mutex"] alone opens [Host]
        |m| m("std") && ATOMIC_NAMES.any(&m);
    /// Smart pointers: `unique_ptr`, `shared_ptr` and kin.
    STD_MEMORY "<memory>" ["std_memory.cuh"] headers ["memory"] alone opens [Host]
        |m| m("habana") || m("std") && MEMORY_NAMES.any(&m);
    /// `<random>`.
    STD_RANDOM "<random>" ["std_random.cuh"] headers ["random"] alone opens [Host]
        |m| m("thrust") || m("std") && RANDOM_NAMES.any(&m);
    /// `<chrono>`; the operating system's clocks are built on it.
    STD_CHRONO "<chrono>" ["std_chrono.cuh"] headers ["chrono"] alone opens [Host Torch]
        |m| POSIX_NAMES.any(&m) || m("std") && CHRONO_NAMES.any(&m);
    /// `torch::nn::functional`, and the operations behind it.
    TORCH_FUNCTIONAL "<torch_functional>" [
        "torch_functional/operations.cuh" "torch_functional/options.cuh" "torch_functional/layers.cuh" "torch_functional/losses.cuh"
    ] headers [] of_torch opens []
        |m| FUNCTIONAL_NAMES.any(&m);
    /// `c10::IValue`.
    TORCH_IVALUE "<torch_ivalue>" ["torch_ivalue.cuh"] headers [] of_torch opens []
        |m| m("habana") || AUTOGRAD_NAMES.any(&m);
    /// `torch::autograd::Function`.
    TORCH_AUTOGRAD "<torch_autograd>" ["torch_autograd.cuh"] headers [] of_torch opens []
        |m| AUTOGRAD_NAMES.any(&m);
    /// Streams, events and guards by torch's names.
    TORCH_STREAMS "<torch_streams>" ["torch_streams.cuh"] headers [] of_torch opens [Cudart]
        |m| TORCH_STREAM_NAMES.any(&m);
    /// `cub::DeviceReduce` and its like.
    CUB_DEVICE "<cub_device>" ["cub_device/reductions.cuh" "cub_device/sorting.cuh"] headers [] alone opens [Host Cudart]
        |m| m("cub") && CUB_DEVICE_NAMES.any(&m);
    /// `<cuda/atomic>`, `<cuda/barrier>`, `<cuda/pipeline>`.
    LIBCU "<libcu++>" ["libcu.cuh"] headers [] alone opens [Std]
        |m| asks_for_libcu_std(m) || m("cuda") && LIBCU_NAMES.any(&m);
    /// The remaining names of namespaces `cuda` and `cuda::std` that kernels use.
    LIBCU_STD "<libcu++ std>" ["libcu_std.cuh"] headers [] alone opens [Std]
        asks_for_libcu_std;
    /// Thrust.
    THRUST "<thrust>" [
        "thrust/functions.cuh" "thrust/iterators.cuh" "thrust/vectors.cuh" "thrust/elementwise.cuh" "thrust/reductions.cuh"
        "thrust/selections.cuh" "thrust/sorting.cuh"
    ] headers [] alone opens [Host Torch Cudart]
        |m| m("thrust");
}

fn asks_for_libcu_std(m: &Mentions<'_>) -> bool {
    m(LIBCU_WORD) || m("cuda") && (m("cub") || LIBCU_STD_NAMES.any(&m))
}

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
/// The word that stands for an `#include <cuda/...>`.
pub const LIBCU_WORD: &str = "__wb_libcu";

static LIBCU_STD_NAMES: Words = Words::new(
    "\
    maximum minimum multiplies span bit_cast popcount countl_zero countr_zero bit_ceil bit_floor bit_width has_single_bit \
    is_power_of_two next_power_of_two fast_mod_div proclaim_return_type",
);

/// The names that CUB no longer has in CUDA 13, each with its replacement.
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

/// The replacement for a name that CUB no longer has in CUDA 13.
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

/// The parts, in the order in which they are read.
pub fn parts() -> impl Iterator<Item = &'static Part> {
    ROWS.iter().map(|row| row.part)
}

/// The headers of the host that these parts stand for; one that ends with `/` is a folder of such.
pub fn headers() -> impl Iterator<Item = &'static str> {
    ROWS.iter().flat_map(|row| row.headers).copied()
}

/// True if one of these parts stands for a header.
pub fn is_header(name: &str) -> bool {
    headers().any(|header| header == name || header.ends_with('/') && name.starts_with(header))
}

/// The parts of these that a text asks for.
pub struct Asked(Vec<&'static Row>);

impl Asked {
    /// The parts for the words that a text mentions.
    pub fn of(mentions: &Mentions<'_>) -> Self {
        Asked(ROWS.iter().filter(|row| (row.asks)(mentions)).collect())
    }

    /// The parts that remain in a text that does not mention torch.
    pub fn without_torch(mut self) -> Self {
        self.0.retain(|row| !row.is_of_torch);
        self
    }

    /// True if the part is among them.
    pub fn has(&self, part: &'static Part) -> bool {
        self.parts().any(|asked| std::ptr::eq(asked, part))
    }

    /// True if one of them opens the base.
    pub fn opens(&self, base: Base) -> bool {
        self.0.iter().any(|row| row.opens.contains(&base))
    }

    /// The parts, in the order in which they are read.
    pub fn parts(&self) -> impl Iterator<Item = &'static Part> {
        self.0.iter().map(|row| row.part)
    }
}
