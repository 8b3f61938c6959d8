"""CUB for the whole device, from host code, against NumPy: equal for integers, and for floats within bounds that are said where they are used."""

import functools

import numpy as np
import pytest

import workbench as wb


SIZES = [0, 1, 2, 15, 16, 17, 33, 255, 257, 513, 1000, 5003]
TYPES = {"int": np.int32, "float": np.float32, "double": np.float64, "int64_t": np.int64, "uint8_t": np.uint8, "int16_t": np.int16,
         "int8_t": np.int8}
# CALL(f, arguments): asks for the size, gets the storage, runs; the error of the second call.
HEAD = r"""
#include <torch/extension.h>
#include <cub/cub.cuh>
using T = torch::Tensor;
#define CALL(F, ...)                                        \
    {                                                       \
        void* temp = nullptr;                               \
        size_t bytes = 0;                                   \
        cudaError_t error = F(temp, bytes, __VA_ARGS__);    \
        TORCH_CHECK(error == cudaSuccess && bytes > 0);     \
        cudaMalloc(&temp, bytes);                           \
        error = F(temp, bytes, __VA_ARGS__);                \
        TORCH_CHECK(error == cudaSuccess);                  \
        cudaFree(temp);                                     \
    }
#define IN(X) X.data_ptr<N>()
struct Even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };
struct ByDigit { __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; } };
// Maps x -> a * x + b, first the left one: order matters, and unsigned numbers are exact.
struct Affine { unsigned a, b; };
struct Compose {
    __host__ __device__ Affine operator()(const Affine& l, const Affine& r) const { return Affine{l.a * r.a, l.b * r.a + r.b}; }
};
"""


@functools.lru_cache(maxsize=None)
def built(text, names, ctype="int"):
    return wb.load_inline("t", cpp_sources="", cuda_sources=HEAD + f"using N = {ctype};\n" + text, functions=names.split())


def data(n, ctype="int", low=-50, high=50, seed=0):
    rng, dtype = np.random.default_rng(seed + n), TYPES[ctype]
    if np.issubdtype(dtype, np.integer):
        return rng.integers(max(low, 0) if ctype == "uint8_t" else low, high, n).astype(dtype)
    return rng.uniform(low, high, n).astype(dtype)


REDUCE = r"""
void sum(T x, T y) { CALL(cub::DeviceReduce::Sum, IN(x), IN(y), (int)x.numel()) }
void min(T x, T y) { CALL(cub::DeviceReduce::Min, IN(x), IN(y), x.numel(), 0) }
void max(T x, T y) { CALL(cub::DeviceReduce::Max, IN(x), IN(y), x.numel(), at::cuda::getCurrentCUDAStream()) }
void reduce(T x, T y, int start) {
    CALL(cub::DeviceReduce::Reduce, IN(x), IN(y), (int)x.numel(), [] __device__(N a, N b) { return a < b ? b : a; }, (N)start, 0, false)
}
std::vector<double> arg(T x) {
    using P = cub::KeyValuePair<int, N>;
    P* out;
    cudaMallocManaged(&out, 2 * sizeof(P));
    CALL(cub::DeviceReduce::ArgMin, IN(x), out, (int)x.numel())
    CALL(cub::DeviceReduce::ArgMax, IN(x), out + 1, (int)x.numel())
    N* value;
    int* place;
    cudaMallocManaged(&value, sizeof(N));
    cudaMallocManaged(&place, sizeof(int));
    CALL(cub::DeviceReduce::ArgMax, IN(x), value, place, (int)x.numel())
    return {(double)out[0].key, (double)out[0].value, (double)out[1].key, (double)out[1].value, (double)*place, (double)*value};
}
"""


@pytest.mark.parametrize("ctype", TYPES)
def test_reduce(ctype):
    m = built(REDUCE, "sum min max reduce arg", ctype)
    for n in SIZES:
        x = data(n, ctype, -3 if ctype != "uint8_t" else 0, 4)
        y = np.zeros(1, x.dtype)
        m.sum(x, y)
        if np.issubdtype(x.dtype, np.integer):
            assert y[0] == x.sum(dtype=x.dtype)
        else:
            # Each number is added to at most 256 others and 1024 parts.
            assert abs(y[0] - x.astype(np.float64).sum()) <= 1280 * np.finfo(x.dtype).eps / 2 * np.abs(x).sum()
        info = np.iinfo(x.dtype) if np.issubdtype(x.dtype, np.integer) else np.finfo(x.dtype)
        m.min(x, y)
        assert y[0] == x.min(initial=info.max)
        m.max(x, y)
        assert y[0] == x.max(initial=info.min)
        m.reduce(x, y, 2)
        assert y[0] == x.max(initial=2)
        if n:
            low, high = x.argmin(), x.argmax()
            assert m.arg(x) == [low, x[low], high, x[high], high, x[high]]


@pytest.mark.parametrize("n", [1, 255, 257, 5000, 300007])
def test_reduce_in_order(n):
    m = built(
        r"""
        std::vector<int64_t> compose(T x) {
            Affine *out, *in = (Affine*)x.data_ptr<int>();
            cudaMallocManaged(&out, sizeof(Affine));
            CALL(cub::DeviceReduce::Reduce, in, out, x.numel() / 2, Compose(), Affine{1, 0})
            return {out->a, out->b};
        }
        """,
        "compose",
    )
    x = np.random.default_rng(n).integers(-(2**31), 2**31, (n, 2)).astype(np.int32) | np.int32(1)
    a, b = 1, 0
    for c, d in x.astype(np.uint32).tolist():
        a, b = a * c % 2**32, (b * c + d) % 2**32
    assert m.compose(x) == [a, b]


SCAN = r"""
void exclusive_sum(T x, T y) { CALL(cub::DeviceScan::ExclusiveSum, IN(x), IN(y), (int)x.numel()) }
void inclusive_sum(T x, T y) { CALL(cub::DeviceScan::InclusiveSum, IN(x), IN(y), (int)x.numel(), at::cuda::getCurrentCUDAStream()) }
void exclusive_here(T y) { CALL(cub::DeviceScan::ExclusiveSum, IN(y), (int)y.numel()) }
void inclusive_here(T y) { CALL(cub::DeviceScan::InclusiveSum, IN(y), (int)y.numel(), 0) }
void exclusive_max(T x, T y) { CALL(cub::DeviceScan::ExclusiveScan, IN(x), IN(y), cub::Max(), (N)-7, (int)x.numel()) }
void inclusive_max(T x, T y) { CALL(cub::DeviceScan::InclusiveScan, IN(x), IN(y), cub::Max(), (int)x.numel(), 0, false) }
void inclusive_init(T x, T y) { CALL(cub::DeviceScan::InclusiveScanInit, IN(x), IN(y), cub::Sum(), (N)9, (int)x.numel()) }
void max_here(T y) { CALL(cub::DeviceScan::ExclusiveScan, IN(y), cub::Max(), (N)-7, (int)y.numel(), (cudaStream_t)0) }
void by_key(T k, T x, T y, T z) {
    CALL(cub::DeviceScan::ExclusiveSumByKey, IN(k), IN(x), IN(y), (int)x.numel())
    CALL(cub::DeviceScan::InclusiveSumByKey, IN(k), IN(x), IN(z), (int)x.numel())
}
int reduce_by_key(T k, T x, T l, T y) {
    int* runs;
    cudaMallocManaged(&runs, sizeof(int));
    CALL(cub::DeviceReduce::ReduceByKey, IN(k), IN(l), IN(x), IN(y), runs, cub::Sum(), (int)k.numel())
    return *runs;
}
int encode(T k, T l, T y) {
    int* runs;
    cudaMallocManaged(&runs, sizeof(int));
    CALL(cub::DeviceRunLengthEncode::Encode, IN(k), IN(l), IN(y), runs, (int)k.numel())
    return *runs;
}
int long_runs(T k, T l, T y) {
    int* runs;
    cudaMallocManaged(&runs, sizeof(int));
    CALL(cub::DeviceRunLengthEncode::NonTrivialRuns, IN(k), IN(l), IN(y), runs, (int)k.numel())
    return *runs;
}
void left(T x, T y) { CALL(cub::DeviceAdjacentDifference::SubtractLeftCopy, IN(x), IN(y), (int)x.numel()) }
void right(T x, T y) { CALL(cub::DeviceAdjacentDifference::SubtractRightCopy, IN(x), IN(y), (int)x.numel(), cub::Sum()) }
void left_here(T y) { CALL(cub::DeviceAdjacentDifference::SubtractLeft, IN(y), (int)y.numel()) }
"""


def test_scans_and_runs():
    m = built(SCAN, "exclusive_sum inclusive_sum exclusive_here inclusive_here exclusive_max inclusive_max inclusive_init max_here by_key"
                    " reduce_by_key encode long_runs left right left_here")
    for n in SIZES:
        x = data(n)

        def check(f, want, *args, out=None):
            y = np.zeros(n, np.int32) if out is None else out.copy()
            f(*args, y)
            np.testing.assert_array_equal(y, np.asarray(want)[:n])

        before = np.concatenate([[0], np.cumsum(x)])
        check(m.exclusive_sum, before, x)
        check(m.inclusive_sum, np.cumsum(x), x)
        check(m.exclusive_here, before, out=x)
        check(m.inclusive_here, np.cumsum(x), out=x)
        largest = np.maximum.accumulate(np.concatenate([[-7], x]))
        check(m.exclusive_max, largest, x)
        check(m.max_here, largest, out=x)
        check(m.inclusive_max, np.maximum.accumulate(x), x)
        check(m.inclusive_init, 9 + np.cumsum(x), x)
        check(m.left, np.concatenate([x[:1], x[1:] - x[:-1]]), x)
        check(m.right, np.concatenate([x[:-1] + x[1:], x[-1:]]), x)
        check(m.left_here, np.concatenate([x[:1], x[1:] - x[:-1]]), out=x)
        k = np.repeat(data(n, seed=2), np.random.default_rng(n).integers(1, 9, n))[:n]
        bounds = [0, *(np.flatnonzero(k[1:] != k[:-1]) + 1), n] if n else []
        spans = list(zip(bounds[:-1], bounds[1:]))
        y, z = np.zeros(n, np.int32), np.zeros(n, np.int32)
        m.by_key(k, x, y, z)
        joined = np.concatenate([np.cumsum(x[a:b]) for a, b in spans] + [np.zeros(0, int)])
        np.testing.assert_array_equal(z, joined)
        np.testing.assert_array_equal(y, joined - x)
        for f, keys, values in (
            (lambda l, y: m.reduce_by_key(k, x, l, y), [k[a] for a, _ in spans], [x[a:b].sum() for a, b in spans]),
            (lambda l, y: m.encode(k, l, y), [k[a] for a, _ in spans], [b - a for a, b in spans]),
            (lambda l, y: m.long_runs(k, l, y), [a for a, b in spans if b - a > 1], [b - a for a, b in spans if b - a > 1]),
        ):
            l, y = np.zeros(n, np.int32), np.zeros(n, np.int32)
            assert f(l, y) == len(keys)
            np.testing.assert_array_equal(l[: len(keys)], keys)
            np.testing.assert_array_equal(y[: len(keys)], values)


SORT = r"""
void keys(T x, T y, int begin, int end) { CALL(cub::DeviceRadixSort::SortKeys, IN(x), IN(y), (int)x.numel(), begin, end) }
void keys_down(T x, T y) { CALL(cub::DeviceRadixSort::SortKeysDescending, (const N*)IN(x), IN(y), (int)x.numel()) }
void pairs(T x, T y, T v, T w) {
    CALL(cub::DeviceRadixSort::SortPairs, IN(x), IN(y), v.data_ptr<int>(), w.data_ptr<int>(), x.numel(), 0, sizeof(N) * 8, at::cuda::getCurrentCUDAStream())
}
void pairs_down(T x, T y, T v, T w) {
    CALL(cub::DeviceRadixSort::SortPairsDescending, IN(x), IN(y), v.data_ptr<int>(), w.data_ptr<int>(), (int)x.numel(), 0, sizeof(N) * 8)
}
void buffers(T x, T y, T v, T w, T out, T values) {
    cub::DoubleBuffer<N> keys(IN(x), IN(y));
    cub::DoubleBuffer<int> items(v.data_ptr<int>(), w.data_ptr<int>());
    CALL(cub::DeviceRadixSort::SortPairs, keys, items, (int)x.numel())
    cudaMemcpy(IN(out), keys.Current(), x.numel() * sizeof(N), cudaMemcpyDeviceToDevice);
    cudaMemcpy(values.data_ptr<int>(), items.Current(), x.numel() * sizeof(int), cudaMemcpyDeviceToDevice);
}
void buffer(T x, T y, T out) {
    cub::DoubleBuffer<N> keys(IN(x), IN(y));
    CALL(cub::DeviceRadixSort::SortKeysDescending, keys, (int)x.numel())
    cudaMemcpy(IN(out), keys.Current(), x.numel() * sizeof(N), cudaMemcpyDeviceToDevice);
}
void segments(T x, T y, T v, T w, T at) {
    int* o = at.data_ptr<int>();
    int count = at.numel() - 1;
    CALL(cub::DeviceSegmentedRadixSort::SortPairs, IN(x), IN(y), v.data_ptr<int>(), w.data_ptr<int>(), (int)x.numel(), count, o, o + 1)
}
void segments_down(T x, T y, T at) {
    int* o = at.data_ptr<int>();
    CALL(cub::DeviceSegmentedRadixSort::SortKeysDescending, IN(x), IN(y), (int)x.numel(), (int)at.numel() - 1, o, o + 1, 0, sizeof(N) * 8)
}
void segments_sort(T x, T y, T at) {
    int* o = at.data_ptr<int>();
    CALL(cub::DeviceSegmentedSort::SortKeys, IN(x), IN(y), (int)x.numel(), (int)at.numel() - 1, o, o + 1)
}
"""


@pytest.mark.parametrize("ctype", TYPES)
def test_radix_sort(ctype):
    m = built(SORT, "keys keys_down pairs pairs_down buffers buffer segments segments_down segments_sort", ctype)
    for n in SIZES:
        x = data(n, ctype)
        if n > 15 and ctype in ("float", "double"):
            x[:4] = [0.0, -0.0, np.inf, -np.inf]
        kept, bits, v = x.copy(), 8 * x.itemsize, np.arange(n, dtype=np.int32)
        up = np.argsort(x, kind="stable")
        down = n - 1 - np.argsort(x[::-1], kind="stable")[::-1] if n else up  # stable, the largest first
        y, w = np.zeros_like(x), np.zeros_like(v)
        m.keys(x, y, 0, bits)
        np.testing.assert_array_equal(y, x[up])
        np.testing.assert_array_equal(x, kept)
        m.keys_down(x, y)
        np.testing.assert_array_equal(y, x[down])
        m.pairs(x, y, v, w)
        np.testing.assert_array_equal(w, up)
        np.testing.assert_array_equal(y, x[up])
        m.pairs_down(x, y, v, w)
        np.testing.assert_array_equal(w, down)
        out, values = np.zeros_like(x), np.zeros_like(v)
        m.buffers(x.copy(), np.zeros_like(x), v.copy(), np.zeros_like(v), out, values)
        np.testing.assert_array_equal(out, x[up])
        np.testing.assert_array_equal(values, up)
        m.buffer(x.copy(), np.zeros_like(x), out)
        np.testing.assert_array_equal(out, x[down])
        at = np.sort(np.random.default_rng(n).integers(0, n + 1, 9)).astype(np.int32)
        want, places, falling = np.zeros_like(x), np.zeros_like(v), np.zeros_like(x)
        for a, b in zip(at[:-1], at[1:]):
            order = a + np.argsort(x[a:b], kind="stable")
            want[a:b], places[a:b], falling[a:b] = x[order], order, x[order][::-1]
        y, w = np.zeros_like(x), np.zeros_like(v)
        m.segments(x, y, v, w, at)
        np.testing.assert_array_equal(y, want)
        np.testing.assert_array_equal(w, places)
        y[:] = 0
        m.segments_sort(x, y, at)
        np.testing.assert_array_equal(y, want)
        y[:] = 0
        m.segments_down(x, y, at)
        np.testing.assert_array_equal(y, falling)
        if ctype == "int":
            x = data(n, low=0, high=2**30)
            for begin, end in ((0, 5), (3, 19), (8, 16), (4, 4)):
                y = np.zeros_like(x)
                m.keys(x, y, begin, end)
                np.testing.assert_array_equal(y, x[np.argsort(x >> begin & ((1 << (end - begin)) - 1), kind="stable")])


def test_sort_of_halves():
    m = built(
        r"""
        #include <cuda_fp16.h>
        void sort(T x, T y) { CALL(cub::DeviceRadixSort::SortKeys, (const __half*)x.data_ptr<int16_t>(), (__half*)y.data_ptr<int16_t>(), (int)x.numel()) }
        """,
        "sort",
    )
    x = np.random.default_rng(0).normal(size=1003).astype(np.float16)
    y = np.zeros_like(x)
    m.sort(x.view(np.int16), y.view(np.int16))
    np.testing.assert_array_equal(y, np.sort(x))


def test_merge_sort():
    m = built(
        r"""
        void keys(T x) { CALL(cub::DeviceMergeSort::SortKeys, IN(x), (int)x.numel(), [] __device__(int a, int b) { return a > b; }) }
        void pairs(T k, T v) { CALL(cub::DeviceMergeSort::StableSortPairs, IN(k), IN(v), k.numel(), ByDigit()) }
        void copy(T x, T y) { CALL(cub::DeviceMergeSort::SortKeysCopy, IN(x), IN(y), (int)x.numel(), ByDigit(), 0) }
        void pairs_copy(T k, T v, T l, T w) { CALL(cub::DeviceMergeSort::SortPairsCopy, IN(k), IN(v), IN(l), IN(w), (int)k.numel(), ByDigit()) }
        """,
        "keys pairs copy pairs_copy",
    )
    for n in [*SIZES, 100003]:
        x = data(n, low=0, high=1000)
        y = x.copy()
        m.keys(y)
        np.testing.assert_array_equal(y, np.sort(x)[::-1])
        order = np.argsort(x % 10, kind="stable")
        k, v = x.copy(), np.arange(n, dtype=np.int32)
        m.pairs(k, v)
        np.testing.assert_array_equal(k, x[order])
        np.testing.assert_array_equal(v, order)
        m.copy(x, y)
        np.testing.assert_array_equal(y, x[order])
        l, w = np.zeros_like(x), np.zeros_like(x)
        m.pairs_copy(x, np.arange(n, dtype=np.int32), l, w)
        np.testing.assert_array_equal(l, x[order])
        np.testing.assert_array_equal(w, order)


SELECT = r"""
int* number() {
    int* count;
    cudaMallocManaged(&count, 2 * sizeof(int));
    return count;
}
int flagged(T x, T t, T y) { int* c = number(); CALL(cub::DeviceSelect::Flagged, IN(x), IN(t), IN(y), c, (int)x.numel()) return *c; }
int flagged_here(T t, T y) { int* c = number(); CALL(cub::DeviceSelect::Flagged, IN(y), (const char*)t.data_ptr<int8_t>(), c, (int)y.numel(), 0) return *c; }
int select(T x, T y, int below) {
    int* c = number();
    CALL(cub::DeviceSelect::If, IN(x), IN(y), c, (int)x.numel(), [=] __device__(int v) { return v < below; })
    return *c;
}
int select_here(T y) { int* c = number(); CALL(cub::DeviceSelect::If, IN(y), c, (int)y.numel(), Even(), 0) return *c; }
int unique(T x, T y) { int* c = number(); CALL(cub::DeviceSelect::Unique, IN(x), IN(y), c, (int)x.numel(), 0, false) return *c; }
int unique_by_key(T k, T v, T l, T y) {
    int* c = number();
    CALL(cub::DeviceSelect::UniqueByKey, IN(k), IN(v), IN(l), IN(y), c, (int)k.numel())
    return *c;
}
int partition(T x, T y) { int* c = number(); CALL(cub::DevicePartition::If, IN(x), IN(y), c, (int)x.numel(), Even()) return *c; }
int partition_flagged(T x, T t, T y) { int* c = number(); CALL(cub::DevicePartition::Flagged, IN(x), IN(t), IN(y), c, (int)x.numel()) return *c; }
int partition_three(T x, T a, T b, T y) {
    int* c = number();
    CALL(cub::DevicePartition::If, IN(x), IN(a), IN(b), IN(y), c, (int)x.numel(), [] __device__(int v) { return v < -10; }, [] __device__(int v) { return v > 10; })
    return c[0] * 10000 + c[1];
}
"""


def test_select_and_partition():
    m = built(SELECT, "flagged flagged_here select select_here unique unique_by_key partition partition_flagged partition_three")
    for n in SIZES:
        x, t = data(n), data(n, low=0, high=2, seed=1)

        def check(f, want, *args, out=None):
            y = np.zeros(n, np.int32) if out is None else out.copy()
            assert f(*args, y) == len(want)
            np.testing.assert_array_equal(y[: len(want)], want)
            return y

        even = x % 2 == 0
        check(m.flagged, x[t != 0], x, t)
        check(m.flagged_here, x[t != 0], t.astype(np.int8), out=x)
        check(lambda y: m.select(x, y, 7), x[x < 7])
        check(m.select_here, x[even], out=x)
        r = np.repeat(x, 3)[:n]
        heads = np.concatenate([[True], r[1:] != r[:-1]])[:n]
        check(m.unique, r[heads], r)
        keys = np.zeros(n, np.int32)
        check(lambda y: m.unique_by_key(r, x, keys, y), x[heads])
        np.testing.assert_array_equal(keys[: heads.sum()], r[heads])
        y = check(m.partition, x[even], x)
        np.testing.assert_array_equal(y[even.sum() :], x[~even][::-1])
        y = check(m.partition_flagged, x[t != 0], x, t)
        np.testing.assert_array_equal(y[t.sum() :], x[t == 0][::-1])
        a, b, y = (np.zeros(n, np.int32) for _ in range(3))
        low, high = x < -10, x > 10
        assert m.partition_three(x, a, b, y) == low.sum() * 10000 + high.sum()
        np.testing.assert_array_equal(a[: low.sum()], x[low])
        np.testing.assert_array_equal(b[: high.sum()], x[high])
        np.testing.assert_array_equal(y[: n - low.sum() - high.sum()], x[~low & ~high])


HISTOGRAM = r"""
void even(T x, T h, int low, int high) {
    CALL(cub::DeviceHistogram::HistogramEven, IN(x), h.data_ptr<int>(), (int)h.numel() + 1, (N)low, (N)high, (int)x.numel())
}
void rows(T x, T h, int low, int high) {
    CALL(cub::DeviceHistogram::HistogramEven, IN(x), h.data_ptr<int>(), (int)h.numel() + 1, (N)low, (N)high, (int)x.size(1) - 2, (int)x.size(0), x.size(1) * sizeof(N))
}
void range(T x, T h, T at) {
    CALL(cub::DeviceHistogram::HistogramRange, IN(x), h.data_ptr<int>(), (int)at.numel(), IN(at), (int)x.numel())
}
void channels(T x, T a, T b) {
    int* h[2] = {a.data_ptr<int>(), b.data_ptr<int>()};
    int levels[2] = {(int)a.numel() + 1, (int)b.numel() + 1};
    N low[2] = {0, 10}, high[2] = {40, 20};
    using H = cub::DeviceHistogram;
    void* temp = nullptr;
    size_t bytes = 0;
    H::MultiHistogramEven<3, 2>(temp, bytes, IN(x), h, levels, low, high, (int)x.numel() / 3);
    cudaMalloc(&temp, bytes);
    H::MultiHistogramEven<3, 2>(temp, bytes, IN(x), h, levels, low, high, (int)x.numel() / 3);
}
"""


@pytest.mark.parametrize("ctype", ["int", "float", "double", "uint8_t"])
def test_histograms(ctype):
    m = built(HISTOGRAM, "even rows range channels", ctype)
    for n in SIZES:
        # Whole numbers, and bins whose bounds are: floats are exact.
        x = data(n, ctype, -5 if ctype != "uint8_t" else 0, 50).round()
        h = np.full(8, 99, np.int32)
        m.even(x, h, 0, 40)
        np.testing.assert_array_equal(h, np.histogram(x[(x >= 0) & (x < 40)], 8, (0, 40))[0])
        at = np.array([0, 1, 7, 30, 49], x.dtype)
        h = np.full(4, 99, np.int32)
        m.range(x, h, at)
        np.testing.assert_array_equal(h, np.histogram(x[x < 49], at)[0])
        if n >= 30:
            grid = x[: n // 10 * 10].reshape(-1, 10).copy()
            h = np.full(4, 99, np.int32)
            m.rows(grid, h, 0, 40)
            some = grid[:, :8]
            np.testing.assert_array_equal(h, np.histogram(some[(some >= 0) & (some < 40)], 4, (0, 40))[0])
            a, b = np.zeros(4, np.int32), np.zeros(10, np.int32)
            pixels = x[: n // 3 * 3].copy()
            m.channels(pixels, a, b)
            one, two = pixels[::3], pixels[1::3]
            np.testing.assert_array_equal(a, np.histogram(one[(one >= 0) & (one < 40)], 4, (0, 40))[0])
            np.testing.assert_array_equal(b, np.histogram(two[(two >= 10) & (two < 20)], 10, (10, 20))[0])


SEGMENTS = r"""
#define SEGMENTS(NAME, ...)                                                                                              \
    void NAME(T x, T y, T at) {                                                                                          \
        int* o = at.data_ptr<int>();                                                                                     \
        CALL(cub::DeviceSegmentedReduce::__VA_ARGS__)                                                                    \
    }
SEGMENTS(sum, Sum, IN(x), IN(y), (int)at.numel() - 1, o, o + 1)
SEGMENTS(min, Min, IN(x), IN(y), (int)at.numel() - 1, o, o + 1, 0)
SEGMENTS(max, Max, IN(x), IN(y), (int)at.numel() - 1, o, o + 1, at::cuda::getCurrentCUDAStream())
SEGMENTS(reduce, Reduce, IN(x), IN(y), (int)at.numel() - 1, o, o + 1, [] __device__(N a, N b) { return a * 3 + b; }, (N)1)
void arg_max(T x, T y, T at) {
    using P = cub::KeyValuePair<int, N>;
    int *o = at.data_ptr<int>(), count = at.numel() - 1;
    P* out;
    cudaMallocManaged(&out, count * sizeof(P));
    CALL(cub::DeviceSegmentedReduce::ArgMax, IN(x), out, count, o, o + 1)
    for (int i = 0; i < count; ++i) IN(y)[i] = out[i].key;
}
"""


def test_segmented_reduce():
    m = built(SEGMENTS, "sum min max reduce arg_max")
    for n in SIZES:
        x = data(n)
        at = np.sort(np.random.default_rng(n).integers(0, n + 1, 9)).astype(np.int32)
        spans = [x[a:b] for a, b in zip(at[:-1], at[1:])]
        y = np.zeros(8, np.int32)
        info = np.iinfo(np.int32)
        for f, of in (
            (m.sum, np.sum),
            (m.min, lambda s: s.min(initial=info.max)),
            (m.max, lambda s: s.max(initial=info.min)),
            (m.reduce, lambda s: np.int32(functools.reduce(lambda a, b: (a * 3 + int(b) + 2**31) % 2**32 - 2**31, s, 1))),
            (m.arg_max, lambda s: s.argmax() if len(s) else 1),
        ):
            f(x, y, at)
            np.testing.assert_array_equal(y, [of(s) for s in spans])


def test_iterators():
    m = built(
        r"""
        struct Square { __host__ __device__ int operator()(int x) const { return x * x; } };
        void squares(int n, T y) {
            cub::CountingInputIterator<int> counting(1);
            cub::TransformInputIterator<int, Square, cub::CountingInputIterator<int>> squares(counting, Square());
            CALL(cub::DeviceReduce::Sum, squares, IN(y), n)
        }
        void pointers(T x, T y) {
            cub::TransformInputIterator<int, Square, int*> squares(IN(x), Square());
            CALL(cub::DeviceScan::InclusiveSum, squares + 1, IN(y), (int)x.numel() - 1)
        }
        int largest(T x) {
            using P = cub::KeyValuePair<int, int>;
            cub::ArgIndexInputIterator<int*, int> pairs(IN(x));
            P* out;
            cudaMallocManaged(&out, sizeof(P));
            CALL(cub::DeviceReduce::Reduce, pairs, out, (int)x.numel(), cub::ArgMax(), P(-1, -1000))
            return out->key;
        }
        int count(T x) {
            int* runs;
            cudaMallocManaged(&runs, sizeof(int));
            CALL(cub::DeviceReduce::ReduceByKey, IN(x), cub::DiscardOutputIterator<>(), cub::ConstantInputIterator<int>(1), cub::DiscardOutputIterator<>(), runs, cub::Sum(), (int)x.numel())
            return *runs;
        }
        void bulk(T x, float a) {
            int* p = IN(x);
            cub::DeviceFor::Bulk((int)x.numel(), [=] __device__(int i) { p[i] += i; });
            cub::DeviceFor::ForEachN(p, x.numel(), [] __device__(int& v) { v *= 2; });
            cub::DeviceFor::ForEach(p, p + x.numel(), [] __device__(int& v) { v += 1; });
        }
        int allocator(T x) {
            cub::CachingDeviceAllocator allocator(true);
            int* out = nullptr;
            CubDebugExit(allocator.DeviceAllocate((void**)&out, sizeof(int)));
            void* temp = NULL;
            size_t bytes = 0;
            CubDebugExit(cub::DeviceReduce::Sum(temp, bytes, IN(x), out, (int)x.numel()));
            CubDebugExit(allocator.DeviceAllocate(&temp, bytes));
            CubDebugExit(cub::DeviceReduce::Sum(temp, bytes, IN(x), out, (int)x.numel()));
            int sum = 0;
            cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
            CubDebugExit(allocator.DeviceFree(out));
            return sum;
        }
        """,
        "squares pointers largest count bulk allocator",
    )
    for n in (1, 2, 17, 1000):
        x, y = data(n), np.zeros(n, np.int32)
        m.squares(n, y)
        assert y[0] == sum(i * i for i in range(1, n + 1))
        m.pointers(x, y)
        np.testing.assert_array_equal(y[: n - 1], np.cumsum(x[1:] ** 2))
        assert m.largest(x) == x.argmax()
        assert m.count(np.sort(x)) == len(np.unique(x))
        assert m.allocator(x) == x.sum()
        y = x.copy()
        m.bulk(y, 1.0)
        np.testing.assert_array_equal(y, (x + np.arange(n)) * 2 + 1)


def test_the_two_calls():
    m = built(
        r"""
        // What both calls say with as much storage as there is, and with a byte less; the first call runs nothing.
        std::vector<int64_t> run(T x, T y) {
            size_t bytes = 0;
            int first = cub::DeviceRadixSort::SortKeys(nullptr, bytes, IN(x), IN(y), (int)x.numel());
            int64_t untouched = y.data_ptr<int>()[0];
            char* temp;
            cudaMalloc(&temp, bytes);
            size_t less = bytes - 1;
            int second = cub::DeviceRadixSort::SortKeys(temp, less, IN(x), IN(y), (int)x.numel());
            int third = cub::DeviceRadixSort::SortKeys(temp, bytes, IN(x), IN(y), (int)x.numel());
            return {first, untouched, second, third, y.data_ptr<int>()[0]};
        }
        """,
        "run",
    )
    x = data(100)
    assert m.run(x, np.full(100, 77, np.int32)) == [0, 77, 1, 0, x.min()]


def test_storage_for_less():
    m = built(
        r"""
        void run(T x, T y) {
            size_t bytes = 0;
            cub::DeviceRadixSort::SortKeys(nullptr, bytes, IN(x), IN(y), (int)x.numel());
            char* temp;
            cudaMalloc(&temp, bytes / 2);
            cub::DeviceRadixSort::SortKeys(temp, bytes, IN(x), IN(y), (int)x.numel());
        }
        """,
        "run",
    )
    with pytest.raises(wb.KernelFault, match="out-of-bounds"):
        m.run(data(1000), data(1000))


def test_a_fault_in_a_functor():
    text = HEAD + """using N = int;
void run(T x, T y) {
    int* p = IN(x);
    CALL(cub::DeviceReduce::Reduce, IN(x), IN(y), 10, [=] __device__(int a, int b) {
        return a + p[b + 100];  // here
    }, 0)
}
"""
    m = wb.load_inline("t", cpp_sources="", cuda_sources=text, functions=["run"])
    line = next(i for i, s in enumerate((text).splitlines(), 1) if "// here" in s)
    with pytest.raises(wb.KernelFault, match="out-of-bounds read") as e:
        m.run(np.zeros(10, np.int32), np.zeros(1, np.int32))
    assert f":{line}:" in str(e.value)


@pytest.mark.parametrize("n", [11, 1000])
def test_a_range_past_its_end(n):
    m = built("void run(T x, T y, int n) { CALL(cub::DeviceScan::InclusiveSum, IN(x), IN(y), n) }", "run")
    with pytest.raises(wb.KernelFault, match="out-of-bounds|dangling"):
        m.run(np.zeros(10, np.int32), np.zeros(n, np.int32), n)


@pytest.mark.parametrize(
    "call",
    [
        "cub::DeviceReduce::Sum(temp, IN(x), IN(x), 1);",
        "cub::DeviceReduce::Product(temp, bytes, IN(x), IN(x), 1);",
        "cub::DeviceReduce::Reduce(temp, bytes, IN(x), IN(x), 1, 5, 0);",
        "cub::DeviceRadixSort::SortKeys(temp, bytes, IN(x), (float*)nullptr, 1);",
        "cub::DeviceSelect::If(temp, bytes, IN(x), IN(x), IN(x), 1, [] __device__(int a, int b) { return true; });",
        "cub::DeviceScan::InclusiveSum(temp, 5, IN(x), IN(x), 1);",
    ],
)
def test_wrong_uses(call):
    text = HEAD + "using N = int;\nvoid run(T x) {\n    void* temp = nullptr;\n    size_t bytes = 0;\n    " + call + "\n}\n"
    with pytest.raises(wb.CompileError):
        wb.load_inline("t", cpp_sources="", cuda_sources=text, functions=["run"])
