"""CUB's collectives of blocks that move, compare, count and sort items, against NumPy."""

import numpy as np
import pytest

from test_cub import BLOCKS, build, data


LOAD = r"""
template <typename T, int BX, int BY, int BZ, int N, cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S>
__global__ void copy(const T* x, T* y, T* part, T* filled, T* seen, int valid) {
    using Load = cub::BlockLoad<T, BX, N, L, BY, BZ>;
    using Store = cub::BlockStore<T, BX, N, S, BY, BZ>;
    __shared__ union { typename Load::TempStorage l; typename Store::TempStorage s; } temp;
    T v[N];
    Load(temp.l).Load(x, v);
    for (int i = 0; i < N; ++i) seen[tid() * N + i] = v[i];
    __syncthreads();
    Store(temp.s).Store(y, v);
    __syncthreads();
    for (int i = 0; i < N; ++i) v[i] = 1;
    Load(temp.l).Load(x, v, valid);
    __syncthreads();
    Store(temp.s).Store(part, v, valid);
    __syncthreads();
    Load(temp.l).Load(const_cast<T*>(x), v, valid, 99);
    __syncthreads();
    Store(temp.s).Store(filled, v);
}
template <int BX, int N> __global__ void direct(const float* x, float* y) {
    float v[N];
    int n = BX * N;
    cub::LoadDirectBlocked(threadIdx.x, x, v);
    cub::StoreDirectStriped<BX>(threadIdx.x, y, v);
    cub::LoadDirectStriped<BX>(threadIdx.x, x, v);
    cub::StoreDirectBlocked(threadIdx.x, y + n, v);
    cub::LoadDirectStriped<BX>(threadIdx.x, x, v, n - 5, -1.0f);
    cub::StoreDirectStriped<BX>(threadIdx.x, y + 2 * n, v);
    cub::LoadDirectWarpStriped(threadIdx.x, x, v);
    cub::StoreDirectWarpStriped(threadIdx.x, y + 3 * n, v, n - 5);
    cub::LoadDirectBlocked(threadIdx.x, x, v, n - 5, -1);
    cub::StoreDirectBlocked(threadIdx.x, y + 4 * n, v);
}
"""


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("algorithm", ["DIRECT", "STRIPED", "VECTORIZE", "TRANSPOSE", "WARP_TRANSPOSE", "WARP_TRANSPOSE_TIMESLICED"])
@pytest.mark.parametrize("ctype, items", [("float", 4), ("double", 3)])
def test_load_and_store(block, algorithm, ctype, items):
    n = int(np.prod(block)) * items
    x = data(ctype, n, n)
    name = f"copy<{ctype}, {block[0]}, {block[1]}, {block[2]}, {items}, cub::BLOCK_LOAD_{algorithm}, cub::BLOCK_STORE_{algorithm}>"
    for valid in {0, 1, n // 2, n}:
        y, part, filled, seen = (np.full(n, -5, x.dtype) for _ in range(4))
        build(LOAD)[name][1, block](x, y, part, filled, seen, valid)
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(part, np.where(np.arange(n) < valid, x, -5))
        np.testing.assert_array_equal(filled, np.where(np.arange(n) < valid, x, 99))
        np.testing.assert_array_equal(seen, x.reshape(items, -1).T.ravel() if algorithm == "STRIPED" else x)


def test_direct_loads_and_stores():
    bx, items = 64, 3
    n = bx * items
    x, y = data("float", n), np.full((5, n), -9, np.float32)
    build(LOAD)[f"direct<{bx}, {items}>"][1, bx](x, y)
    np.testing.assert_array_equal(y[0], x.reshape(bx, items).T.ravel())
    np.testing.assert_array_equal(y[1], x.reshape(items, bx).T.ravel())
    np.testing.assert_array_equal(y[2], np.where(np.arange(n) < n - 5, x, -1))
    np.testing.assert_array_equal(y[3], np.where(np.arange(n) < n - 5, x, -9))
    np.testing.assert_array_equal(y[4], np.where(np.arange(n) < n - 5, x, -1))


EXCHANGE = r"""
template <typename T, int BX, int BY, int BZ, int N> __global__ void exchange(const T* x, const int* ranks, T* y) {
    using E = cub::BlockExchange<T, BX, N, false, BY, BZ>;
    __shared__ typename E::TempStorage temp;
    constexpr int n = BX * BY * BZ * N;
    int t = tid(), row = 0, rank[N];
    T v[N], r[N];
    for (int i = 0; i < N; ++i) { v[i] = x[t * N + i]; rank[i] = ranks[t * N + i]; }
    auto put = [&]() { for (int i = 0; i < N; ++i) y[row * n + t * N + i] = r[i]; ++row; __syncthreads(); };
    E(temp).StripedToBlocked(v, r); put();
    E(temp).BlockedToStriped(v, r); put();
    E(temp).StripedToBlocked(r, r); put();
    E(temp).ScatterToBlocked(v, r, rank); put();
    E(temp).ScatterToStriped(v, r, rank); put();
    E(temp).BlockedToWarpStriped(v, r); put();
    E(temp).WarpStripedToBlocked(r); put();
    for (int i = 0; i < N; ++i) r[i] = v[i];
    E(temp).ScatterToBlocked(r, rank); put();
}
"""


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("ctype, items", [("int", 4), ("double", 3), ("float", 1)])
def test_exchange(block, ctype, items):
    threads = int(np.prod(block))
    n = threads * items
    x = data(ctype, n, n)
    ranks = np.random.default_rng(n).permutation(n).astype(np.int32)
    y = np.zeros((8, n), x.dtype)
    build(EXCHANGE)[f"exchange<{ctype}, {block[0]}, {block[1]}, {block[2]}, {items}>"][1, block](x, ranks, y)
    np.testing.assert_array_equal(y[0], x.reshape(threads, items).T.ravel())
    np.testing.assert_array_equal(y[1].reshape(threads, items).T.ravel(), x)
    np.testing.assert_array_equal(y[2], x)
    scattered = np.zeros_like(x)
    scattered[ranks] = x
    np.testing.assert_array_equal(y[3], scattered)
    np.testing.assert_array_equal(y[4].reshape(threads, items).T.ravel(), scattered)
    if threads % 32 == 0:
        want = x.reshape(-1, items, 32).transpose(0, 2, 1).ravel()
        np.testing.assert_array_equal(y[5], want)
        np.testing.assert_array_equal(y[6], x)
    np.testing.assert_array_equal(y[7], scattered)


NEIGHBOURS = r"""
struct Far { __device__ bool operator()(int a, int b, unsigned at) const { return a != b && at % 2 == 0; } };
struct Minus { __device__ int operator()(int a, int b) const { return a - 2 * b; } };
template <int BX, int BY, int BZ, int N> __global__ void flags(const int* x, int* y, int before, int after) {
    using D = cub::BlockDiscontinuity<int, BX, BY, BZ>;
    __shared__ typename D::TempStorage temp;
    constexpr int n = BX * BY * BZ * N;
    int t = tid(), row = 0, v[N], h[N], e[N];
    for (int i = 0; i < N; ++i) v[i] = x[t * N + i];
    auto put = [&](int (&r)[N]) { for (int i = 0; i < N; ++i) y[row * n + t * N + i] = r[i]; ++row; __syncthreads(); };
    D(temp).FlagHeads(h, v, cub::Inequality()); put(h);
    D(temp).FlagHeads(h, v, cub::Inequality(), before); put(h);
    D(temp).FlagTails(h, v, cub::Inequality()); put(h);
    D(temp).FlagTails(h, v, cub::Inequality(), after); put(h);
    D(temp).FlagHeadsAndTails(h, e, v, cub::Inequality()); put(h); put(e);
    D(temp).FlagHeadsAndTails(h, before, e, after, v, cub::Inequality()); put(h); put(e);
    D(temp).FlagHeads(h, v, Far()); put(h);
    D(temp).FlagTails(h, v, Far()); put(h);
    D(temp).FlagHeadsAndTails(h, e, after, v, cub::Inequality()); put(h); put(e);
    D(temp).FlagHeadsAndTails(h, before, e, v, cub::Inequality()); put(h); put(e);
}
template <int BX, int BY, int BZ, int N> __global__ void pairs(const int* x, int* y, int before, int after, int valid) {
    using D = cub::BlockAdjacentDifference<int, BX, BY, BZ>;
    __shared__ typename D::TempStorage temp;
    constexpr int n = BX * BY * BZ * N;
    int t = tid(), row = 0, v[N], r[N];
    for (int i = 0; i < N; ++i) v[i] = x[t * N + i];
    auto put = [&]() { for (int i = 0; i < N; ++i) y[row * n + t * N + i] = r[i]; ++row; __syncthreads(); };
    D(temp).SubtractLeft(v, r, Minus()); put();
    D(temp).SubtractLeft(v, r, Minus(), before); put();
    D(temp).SubtractLeftPartialTile(v, r, Minus(), valid); put();
    D(temp).SubtractLeftPartialTile(v, r, Minus(), valid, before); put();
    D(temp).SubtractRight(v, r, Minus()); put();
    D(temp).SubtractRight(v, r, Minus(), after); put();
    D(temp).SubtractRightPartialTile(v, r, Minus(), valid); put();
    for (int i = 0; i < N; ++i) r[i] = v[i];
    D(temp).SubtractLeft(r, r, Minus()); put();
    for (int i = 0; i < N; ++i) r[i] = v[i];
    D(temp).SubtractRight(r, r, Minus()); put();
}
"""


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("items", [1, 3])
def test_discontinuity(block, items):
    n = int(np.prod(block)) * items
    x = data("int", n, n, 0, 3)
    y = np.zeros((14, n), np.int32)
    build(NEIGHBOURS)[f"flags<{block[0]}, {block[1]}, {block[2]}, {items}>"][1, block](x, y, 1, 2)
    change = (x[1:] != x[:-1]).astype(np.int32)
    heads = lambda first: np.concatenate([[first], change])
    tails = lambda last: np.concatenate([change, [last]])
    a, b = int(x[0] != 1), int(x[-1] != 2)
    even = (np.arange(1, n) % 2 == 0).astype(np.int32)
    want = [heads(1), heads(a), tails(1), tails(b), heads(1), tails(1), heads(a), tails(b),
            np.concatenate([[1], change * even]), np.concatenate([change * even, [1]]), heads(1), tails(b), heads(a), tails(1)]
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("items", [1, 3])
def test_adjacent_difference(block, items):
    n = int(np.prod(block)) * items
    x = data("int", n, n)
    for valid in {1, n // 2, n - 1, n}:
        y = np.zeros((9, n), np.int32)
        build(NEIGHBOURS)[f"pairs<{block[0]}, {block[1]}, {block[2]}, {items}>"][1, block](x, y, 4, 5, valid)
        left, right = x.copy(), x.copy()
        left[1:] -= 2 * x[:-1]
        right[:-1] -= 2 * x[1:]
        left4, right5 = left.copy(), right.copy()
        left4[0] -= 8
        right5[-1] -= 10
        at = np.arange(n)
        want = [left, left4, np.where(at < valid, left, x), np.where(at < valid, left4, x), right, right5,
                np.where(at < valid - 1, right, x), left, right]
        np.testing.assert_array_equal(y, want)


HISTOGRAM = r"""
template <typename T, typename C, int BX, int BY, int BZ, int N, int BINS> __global__ void histogram(const T* x, C* y) {
    using H = cub::BlockHistogram<T, BX, N, BINS, cub::BLOCK_HISTO_ATOMIC, BY, BZ>;
    __shared__ typename H::TempStorage temp;
    __shared__ C h[BINS];
    T v[N];
    for (int i = 0; i < N; ++i) v[i] = x[tid() * N + i];
    H(temp).Histogram(v, h);
    __syncthreads();
    for (int i = tid(); i < BINS; i += BX * BY * BZ) y[i] = h[i];
    __syncthreads();
    H(temp).InitHistogram(h);
    __syncthreads();
    for (int k = 0; k < 3; ++k) { H(temp).Composite(v, h); __syncthreads(); }
    for (int i = tid(); i < BINS; i += BX * BY * BZ) y[BINS + i] = h[i];
}
"""


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize(
    "ctype, dtype, counter, bins", [("unsigned char", np.uint8, "unsigned", 256), ("int", np.int32, "unsigned short", 10)]
)
def test_histogram(block, ctype, dtype, counter, bins):
    n = int(np.prod(block)) * 4
    x = np.random.default_rng(n).integers(0, bins, n).astype(dtype)
    y = np.zeros((2, bins), np.uint32 if counter == "unsigned" else np.uint16)
    build(HISTOGRAM)[f"histogram<{ctype}, {counter}, {block[0]}, {block[1]}, {block[2]}, 4, {bins}>"][1, block](x, y)
    want = np.bincount(x, minlength=bins)
    np.testing.assert_array_equal(y, [want, 3 * want])


SORT = r"""
template <typename K, int BX, int N, bool DOWN, bool STRIPED>
__global__ void sort(const K* x, K* keys, K* y, int* at, int begin, int end) {
    using A = cub::BlockRadixSort<K, BX, N>;
    using B = cub::BlockRadixSort<K, BX, N, int>;
    __shared__ union { typename A::TempStorage a; typename B::TempStorage b; } temp;
    K k[N], q[N];
    int v[N], t = threadIdx.x;
    for (int i = 0; i < N; ++i) { k[i] = q[i] = x[t * N + i]; v[i] = t * N + i; }
    if constexpr (STRIPED) {
        if constexpr (DOWN) A(temp.a).SortDescendingBlockedToStriped(k, begin, end);
        else A(temp.a).SortBlockedToStriped(k, begin, end);
    } else {
        if constexpr (DOWN) A(temp.a).SortDescending(k, begin, end);
        else A(temp.a).Sort(k, begin, end);
    }
    __syncthreads();
    if constexpr (STRIPED) {
        if constexpr (DOWN) B(temp.b).SortDescendingBlockedToStriped(q, v, begin, end);
        else B(temp.b).SortBlockedToStriped(q, v, begin, end);
    } else {
        if constexpr (DOWN) B(temp.b).SortDescending(q, v, begin, end);
        else B(temp.b).Sort(q, v, begin, end);
    }
    for (int i = 0; i < N; ++i) {
        int to = STRIPED ? i * BX + t : t * N + i;
        keys[to] = k[i]; y[to] = q[i]; at[to] = v[i];
    }
}
template <int BX, int BY, int BZ, int N> __global__ void plain(const float* x, float* y, double* v) {
    using A = cub::BlockRadixSort<float, BX, N, double, 4, true, cub::BLOCK_SCAN_WARP_SCANS, 0, BY, BZ>;
    float k[N];
    double w[N];
    for (int i = 0; i < N; ++i) { k[i] = x[tid() * N + i]; w[i] = 2 * k[i]; }
    A().Sort(k, w);
    for (int i = 0; i < N; ++i) { y[tid() * N + i] = k[i]; v[tid() * N + i] = w[i]; }
}
struct Last { __device__ bool operator()(int a, int b) const { return a % 100 < b % 100; } };
template <int BX, int N> __global__ void merge(const int* x, int* y, int* at, int valid) {
    using A = cub::BlockMergeSort<int, BX, N>;
    using B = cub::BlockMergeSort<int, BX, N, short>;
    __shared__ typename A::TempStorage a;
    __shared__ typename B::TempStorage b;
    int k[N], n = BX * N, t = threadIdx.x;
    short v[N];
    auto put = [&](int row) { for (int i = 0; i < N; ++i) y[row * n + t * N + i] = k[i]; };
    auto put_at = [&](int row) { for (int i = 0; i < N; ++i) at[row * n + t * N + i] = v[i]; };
    auto get = [&]() { for (int i = 0; i < N; ++i) { k[i] = x[t * N + i]; v[i] = t * N + i; } __syncthreads(); };
    get(); A(a).Sort(k, Last()); put(0);
    get(); B(b).StableSort(k, v, Last()); put(1); put_at(0);
    get(); A(a).Sort(k, Last(), valid, 12345); put(2);
    get(); B(b).Sort(k, v, [](int a, int b) { return a > b; }, valid, -1); put(3); put_at(1);
}
"""

KEYS = {"int": np.int32, "unsigned": np.uint32, "long long": np.int64, "unsigned long long": np.uint64, "float": np.float32,
        "double": np.float64, "unsigned char": np.uint8, "short": np.int16}


def ordered(x):
    """The keys' bits, in their order; both zeros are one."""
    bits = x.dtype.itemsize * 8
    u = (x + x.dtype.type(0) if x.dtype.kind == "f" else x).view(f"u{x.dtype.itemsize}")
    top = u.dtype.type(1 << (bits - 1))
    if x.dtype.kind == "f":
        return np.where(u & top, ~u, u | top)
    return u ^ top if x.dtype.kind == "i" else u


@pytest.mark.parametrize("ctype", KEYS)
@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("striped", [False, True])
@pytest.mark.parametrize("bx, items", [(1, 1), (33, 3), (128, 4), (100, 1)])
def test_radix_sort(ctype, down, striped, bx, items):
    dtype = np.dtype(KEYS[ctype])
    n, bits = bx * items, dtype.itemsize * 8
    rng = np.random.default_rng(n)
    x = np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).copy()
    if dtype.kind == "f":
        x[~np.isfinite(x)] = 1
        x[: n // 3] = rng.integers(-2, 3, n // 3)
        x[: n // 9] = -0.0
    else:
        x[: n // 3] = rng.integers(0, 5, n // 3)
    for begin, end in [(0, bits), (3, bits - 2), (bits - 8, bits), (0, 5), (4, 4)]:
        keys, y, at = np.zeros_like(x), np.zeros_like(x), np.zeros(n, np.int32)
        build(SORT)[f"sort<{ctype}, {bx}, {items}, {str(down).lower()}, {str(striped).lower()}>"][1, bx](x, keys, y, at, begin, end)
        digits = (ordered(x).astype(np.uint64) >> np.uint64(begin)) & np.uint64((1 << (end - begin)) - 1)
        order = np.argsort(~digits if down else digits, kind="stable")
        np.testing.assert_array_equal(at, order)
        assert y.tobytes() == keys.tobytes() == x[order].tobytes()


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_radix_sort_plain(block):
    items = 1 if int(np.prod(block)) > 512 else 2
    n = int(np.prod(block)) * items
    x = data("float", n, n)
    y, v = np.zeros_like(x), np.zeros(n)
    build(SORT)[f"plain<{block[0]}, {block[1]}, {block[2]}, {items}>"][1, block](x, y, v)
    np.testing.assert_array_equal(y, np.sort(x))
    np.testing.assert_array_equal(v, 2 * np.sort(x).astype(np.float64))


@pytest.mark.parametrize("bx, items", [(1, 1), (1, 5), (32, 2), (100, 3), (256, 4)])
def test_merge_sort(bx, items):
    n = bx * items
    x = np.random.default_rng(n).integers(0, 100000, n).astype(np.int32)
    for valid in {1, n // 2, n}:
        y, at = np.zeros((4, n), np.int32), np.zeros((2, n), np.int32)
        build(SORT)[f"merge<{bx}, {items}>"][1, bx](x, y, at, valid)
        order = np.argsort(x % 100, kind="stable")
        np.testing.assert_array_equal(y[0], x[order])
        np.testing.assert_array_equal(y[1], x[order])
        np.testing.assert_array_equal(at[0], order)
        order = np.argsort(x[:valid] % 100, kind="stable")
        np.testing.assert_array_equal(y[2], np.concatenate([x[order], np.full(n - valid, 12345)]))
        order = np.argsort(-x[:valid], kind="stable")
        np.testing.assert_array_equal(y[3], np.concatenate([x[order], np.full(n - valid, -1)]))
        np.testing.assert_array_equal(at[1, :valid], order)
