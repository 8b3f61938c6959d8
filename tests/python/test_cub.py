"""CUB's collectives of blocks and warps, against NumPy."""

import functools

import numpy as np
import pytest
import workbench as wb

BLOCKS = [(1, 1, 1), (31, 1, 1), (32, 1, 1), (33, 1, 1), (96, 1, 1), (100, 1, 1), (128, 1, 1), (257, 1, 1), (1024, 1, 1),
          (16, 16, 1), (8, 4, 4), (5, 3, 3)]
TYPES = {"int": np.int32, "float": np.float32, "double": np.float64, "long long": np.int64, "unsigned": np.uint32}

COMMON = r"""
// Maps x -> a * x + b, first the left one: order matters, and unsigned numbers are exact.
struct Affine { unsigned a, b; };
struct Compose {
    __device__ Affine operator()(const Affine& l, const Affine& r) const { return Affine{l.a * r.a, l.b * r.a + r.b}; }
};
struct Built {  // with constructors
    float m; int n;
    __device__ Built() : m(0), n(0) {}
    __device__ Built(float m, int n) : m(m), n(n) {}
};
struct BuiltMax { __device__ Built operator()(Built l, Built r) const { return Built(fmaxf(l.m, r.m), l.n + r.n); } };
__device__ int tid() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
"""


@functools.lru_cache(maxsize=None)
def build(text):
    return wb.compile("#include <cub/cub.cuh>\n" + COMMON + text)


def data(ctype, n, seed=0, low=-50, high=50):
    rng = np.random.default_rng(seed)
    dtype = TYPES[ctype]
    if dtype is np.uint32:
        return rng.integers(0, high, n).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(low, high, n).astype(dtype)
    return rng.uniform(low, high, n).astype(dtype)


def close(got, want, dtype, scale=1):
    if np.issubdtype(dtype, np.integer):
        np.testing.assert_array_equal(got, want)
    else:
        rtol, atol = (1e-4, 1e-2) if dtype == np.float32 else (1e-11, 1e-9)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=scale * atol)


def affine(pairs):
    a, b = np.uint32(1), np.uint32(0)
    out = []
    with np.errstate(over="ignore"):
        for c, d in pairs:
            a, b = np.uint32(a * c), np.uint32(b * c + d)
            out.append((a, b))
    return np.array(out, np.uint32).reshape(-1, 2)


REDUCE = r"""
template <typename T, int BX, int BY, int BZ, cub::BlockReduceAlgorithm A>
__global__ void reduce(const T* x, T* y, T* each) {
    using R = cub::BlockReduce<T, BX, A, BY, BZ>;
    __shared__ typename R::TempStorage temp;
    T v = x[tid()];
    T r = R(temp).Sum(v);
    if (tid() == 0) y[0] = r;
    __syncthreads();
    r = R(temp).Reduce(v, cub::Max());
    if (tid() == 0) y[1] = r;
    __syncthreads();
    r = R(temp).Reduce(v, cub::Min());
    if (tid() == 0) y[2] = r;
    __syncthreads();
    T items[3] = {v, x[BX * BY * BZ - 1 - tid()], T(1)};
    r = R(temp).Sum(items);
    if (tid() == 0) y[3] = r;
    __syncthreads();
    r = R(temp).Reduce(items, [](const T& a, const T& b) { return a < b ? b : a; });
    if (tid() == 0) y[4] = r;
    r = R().Reduce(v, cub::Max(), (BX * BY * BZ + 1) / 2);
    if (tid() == 0) y[5] = r;
    for (int n = 1; n <= BX * BY * BZ; ++n) {
        __syncthreads();
        r = R(temp).Sum(v, n);
        if (tid() == 0) each[n - 1] = r;
    }
}
"""


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize(
    "ctype, algorithm",
    [(c, "BLOCK_REDUCE_WARP_REDUCTIONS") for c in TYPES]
    + [("int", "BLOCK_REDUCE_RAKING"), ("float", "BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY")],
)
def test_block_reduce(block, ctype, algorithm):
    n = int(np.prod(block))
    x = data(ctype, n, n)
    y, each = np.zeros(6, x.dtype), np.zeros(n, x.dtype)
    build(REDUCE)[f"reduce<{ctype}, {block[0]}, {block[1]}, {block[2]}, cub::{algorithm}>"][1, block](x, y, each)
    close(y[0], x.sum(dtype=x.dtype), x.dtype)
    assert y[1] == x.max() and y[2] == x.min()
    close(y[3], (2 * x.astype(np.float64).sum() + n).astype(x.dtype), x.dtype)
    assert y[4] == max(x.max(), 1) and y[5] == x[: (n + 1) // 2].max()
    close(each, np.cumsum(x, dtype=x.dtype), x.dtype, 10)


def test_block_reduce_rounds_like_shuffles():
    x = data("float", 256, 3)
    y, each = np.zeros(6, np.float32), np.zeros(256, np.float32)
    build(REDUCE)[f"reduce<float, 256, 1, 1, cub::BLOCK_REDUCE_WARP_REDUCTIONS>"][1, 256](x, y, each)
    w = x.reshape(8, 32)
    while w.shape[1] > 1:
        w = w[:, ::2] + w[:, 1::2]
    assert y[0] == functools.reduce(lambda a, b: np.float32(a + b), w[:, 0])


STRUCTS = r"""
template <int BX, int BY, int BZ> __global__ void compose(const unsigned* x, unsigned* y) {
    using R = cub::BlockReduce<Affine, BX, cub::BLOCK_REDUCE_RAKING, BY, BZ>;
    __shared__ typename R::TempStorage temp;
    Affine v{x[2 * tid()], x[2 * tid() + 1]};
    for (int n = 1; n <= BX * BY * BZ; ++n) {
        Affine r = R(temp).Reduce(v, Compose(), n);
        if (tid() == 0) { y[2 * n - 2] = r.a; y[2 * n - 1] = r.b; }
        __syncthreads();
    }
}
template <int BX> __global__ void compose_items(const unsigned* x, unsigned* y) {
    using R = cub::BlockReduce<Affine, BX>;
    __shared__ typename R::TempStorage temp;
    Affine v[2] = {{x[4 * tid()], x[4 * tid() + 1]}, {x[4 * tid() + 2], x[4 * tid() + 3]}};
    Affine r = R(temp).Reduce(v, Compose());
    if (tid() == 0) { y[0] = r.a; y[1] = r.b; }
}
template <int BX> __global__ void arg(const float* x, int* at, float* value) {
    using KV = cub::KeyValuePair<int, float>;
    using R = cub::BlockReduce<KV, BX>;
    __shared__ typename R::TempStorage temp;
    KV v(threadIdx.x, x[threadIdx.x]);
    KV r = R(temp).Reduce(v, cub::ArgMax());
    if (threadIdx.x == 0) { at[0] = r.key; value[0] = r.value; }
    __syncthreads();
    r = R(temp).Reduce(v, cub::ArgMin(), BX / 2 + 1);
    if (threadIdx.x == 0) { at[1] = r.key; value[1] = r.value; }
}
template <int BX> __global__ void odd_types(const float* x, float* y) {
    using R = cub::BlockReduce<Built, BX>;
    using F = cub::BlockReduce<float2, BX>;
    using C = cub::BlockReduce<char, BX>;
    __shared__ union { typename R::TempStorage r; typename F::TempStorage f; typename C::TempStorage c; } temp;
    Built b = R(temp.r).Reduce(Built(x[threadIdx.x], 1), BuiltMax());
    if (threadIdx.x == 0) { y[0] = b.m; y[1] = b.n; }
    __syncthreads();
    float2 f = F(temp.f).Reduce(make_float2(x[threadIdx.x], 1), [](float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); });
    if (threadIdx.x == 0) { y[2] = f.x; y[3] = f.y; }
    __syncthreads();
    char c = C(temp.c).Sum(threadIdx.x < 90 ? 1 : 0);
    if (threadIdx.x == 0) y[4] = c;
}
"""


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_reduce_in_order(block):
    n = int(np.prod(block))
    x = np.random.default_rng(n).integers(0, 2**32, (n, 2), np.uint32) | np.uint32(1)
    y = np.zeros((n, 2), np.uint32)
    build(STRUCTS)[f"compose<{block[0]}, {block[1]}, {block[2]}>"][1, block](x, y)
    np.testing.assert_array_equal(y, affine(x))


@pytest.mark.parametrize("n", [1, 31, 33, 100, 257])
def test_reduce_structs(n):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 2**32, (2 * n, 2), np.uint32)
    y = np.zeros(2, np.uint32)
    build(STRUCTS)[f"compose_items<{n}>"][1, n](x, y)
    np.testing.assert_array_equal(y, affine(x)[-1])
    x = rng.integers(0, 20, n).astype(np.float32)
    at, value = np.zeros(2, np.int32), np.zeros(2, np.float32)
    build(STRUCTS)[f"arg<{n}>"][1, n](x, at, value)
    h = x[: n // 2 + 1]
    assert at.tolist() == [x.argmax(), h.argmin()] and value.tolist() == [x.max(), h.min()]
    y = np.zeros(5, np.float32)
    build(STRUCTS)[f"odd_types<{n}>"][1, n](x, y)
    np.testing.assert_array_equal(y, [x.max(), n, x.sum(), n, min(n, 90)])


WARP = r"""
template <typename T, int N> __global__ void warp_reduce(const T* x, const int* flags, T* y, T* each) {
    using W = cub::WarpReduce<T, N>;
    __shared__ typename W::TempStorage temp[1024 / N];
    int t = tid(), lane = t % 32 % N;
    W w(temp[t / N]);
    T v = x[t], r;
    int threads = blockDim.x * blockDim.y * blockDim.z, f = flags[t];
    r = w.Sum(v);
    if (lane == 0) y[t] = r;
    r = w.Reduce(v, cub::Max());
    if (lane == 0) y[threads + t] = r;
    r = w.Sum(v, N / 2 + 1);
    if (lane == 0) y[2 * threads + t] = r;
    r = w.Reduce(v, cub::Min(), 1 + N / 3);
    if (lane == 0) y[3 * threads + t] = r;
    r = w.HeadSegmentedSum(v, f);
    if (lane == 0 || f) y[4 * threads + t] = r;
    r = w.TailSegmentedSum(v, f);
    y[5 * threads + t] = r;
    r = w.HeadSegmentedReduce(v, f, cub::Max());
    if (lane == 0 || f) y[6 * threads + t] = r;
    r = w.TailSegmentedReduce(v, f, cub::Max());
    y[7 * threads + t] = r;
    if (N < 32)  // logical warps on their own
        if (t / N % 2 == 1) {
            T s = W(temp[t / N]).Sum(v);
            if (lane == 0) each[t / N] = s;
        }
}
template <typename T, int N> __global__ void warp_scan(const T* x, T* y) {
    using W = cub::WarpScan<T, N>;
    __shared__ typename W::TempStorage temp[1024 / N];
    int t = tid(), threads = blockDim.x * blockDim.y * blockDim.z;
    W w(temp[t / N]);
    T v = x[t], r, q, all;
    int row = 0;
    auto put = [&](T a) { y[row++ * threads + t] = a; };
    w.InclusiveSum(v, r); put(r);
    w.InclusiveSum(v, r, all); put(r); put(all);
    w.ExclusiveSum(v, r); put(r);
    w.ExclusiveSum(v, r, all); put(r); put(all);
    w.InclusiveScan(v, r, cub::Max()); put(r);
    w.InclusiveScan(v, r, cub::Max(), all); put(r); put(all);
    w.ExclusiveScan(v, r, 7, cub::Max()); put(r);
    w.ExclusiveScan(v, r, T(7), cub::Max(), all); put(r); put(all);
    w.ExclusiveScan(v, r, cub::Max()); put(t % 32 % N ? r : T(0));
    w.ExclusiveScan(v, r, cub::Max(), all); put(t % 32 % N ? r : T(0)); put(all);
    w.Scan(v, r, q, T(3), cub::Sum()); put(r); put(q);
    put(w.Broadcast(v, N - 1));
}
__global__ void warp_compose(const unsigned* x, unsigned* y, unsigned* z) {
    using W = cub::WarpReduce<Affine>;
    using S = cub::WarpScan<Affine>;
    __shared__ typename W::TempStorage a[4];
    __shared__ typename S::TempStorage b[4];
    int t = threadIdx.x, w = t / 32;
    Affine v{x[2 * t], x[2 * t + 1]}, r = W(a[w]).Reduce(v, Compose());
    if (t % 32 == 0) { y[2 * w] = r.a; y[2 * w + 1] = r.b; }
    S(b[w]).InclusiveScan(v, r, Compose());
    z[2 * t] = r.a; z[2 * t + 1] = r.b;
}
"""


def segments(x, flags, tail):
    """Ranges of one logical warp."""
    out, start = [], 0
    for i in range(len(x)):
        if tail and flags[i]:
            out.append((start, i + 1))
            start = i + 1
        elif not tail and flags[i] and i:
            out.append((start, i))
            start = i
    if start < len(x):
        out.append((start, len(x)))
    return out


@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("block", [(32, 1, 1), (96, 1, 1), (8, 4, 4), (1024, 1, 1)], ids=str)
def test_warp_reduce(ctype, width, block):
    n = int(np.prod(block))
    x = data(ctype, n, width)
    flags = (np.random.default_rng(5).random(n) < 0.3).astype(np.int32)
    y, each = np.zeros((8, n), x.dtype), np.zeros(1024, x.dtype)
    build(WARP)[f"warp_reduce<{ctype}, {width}>"][1, block](x, flags, y, each)
    for w in range(0, n, width):
        v = x[w : w + width]
        close(y[0, w], v.sum(dtype=x.dtype), x.dtype)
        assert y[1, w] == v.max()
        close(y[2, w], v[: width // 2 + 1].sum(dtype=x.dtype), x.dtype)
        assert y[3, w] == v[: 1 + width // 3].min()
        for row, tail in ((4, False), (5, True)):
            for a, b in segments(v, flags[w : w + width], tail):
                close(y[row, w + a], v[a:b].sum(dtype=x.dtype), x.dtype)
                assert y[row + 2, w + a] == v[a:b].max()
        if width < 32 and w // width % 2:
            close(each[w // width], v.sum(dtype=x.dtype), x.dtype)


@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize("width", [1, 8, 32])
@pytest.mark.parametrize("n", [32, 100, 256])
def test_warp_scan(ctype, width, n):
    if n % width:
        n = 96
    x = data(ctype, n, n)
    y = np.zeros((19, n), x.dtype)
    build(WARP)[f"warp_scan<{ctype}, {width}>"][1, n](x, y)
    v = x.reshape(-1, width)
    inc = np.cumsum(v, axis=1, dtype=x.dtype)
    exc = np.concatenate([np.zeros_like(v[:, :1]), inc[:, :-1]], axis=1)
    imax = np.maximum.accumulate(v, axis=1)
    emax = np.concatenate([np.zeros_like(v[:, :1]), imax[:, :-1]], axis=1)
    seven = np.maximum(7, np.concatenate([np.full_like(v[:, :1], 7), imax[:, :-1]], axis=1))
    last = lambda a: np.broadcast_to(a[:, -1:], v.shape)
    want = [inc, inc, last(inc), exc, exc, last(inc), imax, imax, last(imax), seven, seven, last(imax), emax, emax, last(imax),
            inc + x.dtype.type(3), exc + x.dtype.type(3), last(v)]
    for row, w in enumerate(want):
        close(y[row], w.ravel(), x.dtype)


def test_warp_structs_and_partial_warps():
    x = np.random.default_rng(0).integers(0, 2**32, (100, 2), np.uint32)
    y, z = np.zeros((4, 2), np.uint32), np.zeros((100, 2), np.uint32)
    build(WARP)["warp_compose"][1, 100](x, y, z)
    for w in range(4):
        want = affine(x[32 * w : 32 * w + 32])
        np.testing.assert_array_equal(y[w], want[-1])
        np.testing.assert_array_equal(z[32 * w : 32 * w + 32], want)


def test_warp_storage_may_be_one_and_local():
    """On a GPU it holds nothing for these types, and texts count on it."""
    m = build(r"""__global__ void k(const float* x, float* y) {
        using W = cub::WarpReduce<float>;
        typename W::TempStorage temp;
        float r = W(temp).Sum(x[threadIdx.x]);
        if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = r;
    }""")
    x, y = np.arange(128, dtype=np.float32), np.zeros(4, np.float32)
    m.k[1, 128](x, y)
    np.testing.assert_array_equal(y, x.reshape(4, 32).sum(1))


SCAN = r"""
template <typename T> struct Running {
    T total;
    __device__ Running(T total) : total(total) {}
    __device__ T operator()(T all) { T old = total; total += all; return old; }
};
template <typename T, int BX, int BY, int BZ, cub::BlockScanAlgorithm A> __global__ void scan(const T* x, T* y) {
    using S = cub::BlockScan<T, BX, A, BY, BZ>;
    __shared__ typename S::TempStorage temp;
    constexpr int threads = BX * BY * BZ;
    int t = tid(), row = 0;
    T v = x[t], r, all;
    auto put = [&](T a) { y[row++ * threads + t] = a; __syncthreads(); };
    S(temp).InclusiveSum(v, r); put(r);
    S(temp).InclusiveSum(v, r, all); put(r); put(all);
    S(temp).ExclusiveSum(v, r); put(r);
    S(temp).ExclusiveSum(v, r, all); put(r); put(all);
    S(temp).InclusiveScan(v, r, cub::Max()); put(r);
    S(temp).InclusiveScan(v, r, cub::Max(), all); put(r); put(all);
    S(temp).InclusiveScan(v, r, 7, cub::Max()); put(r);
    S(temp).InclusiveScan(v, r, T(7), cub::Max(), all); put(r); put(all);
    S(temp).ExclusiveScan(v, r, cub::Max()); put(t ? r : T(0));
    S(temp).ExclusiveScan(v, r, cub::Max(), all); put(t ? r : T(0)); put(all);
    S(temp).ExclusiveScan(v, r, 7, cub::Max()); put(r);
    cub::Max max;
    const T start = 7;
    S(temp).ExclusiveScan(v, r, start, max); put(r);
    S(temp).ExclusiveScan(v, r, start, max, all); put(r); put(all);
    S().ExclusiveSum(v, v); put(v);
}
template <typename T, int BX, int BY, int BZ, int N> __global__ void scan_items(const T* x, T* y) {
    using S = cub::BlockScan<T, BX, cub::BLOCK_SCAN_WARP_SCANS, BY, BZ>;
    __shared__ typename S::TempStorage temp;
    constexpr int threads = BX * BY * BZ;
    int t = tid(), row = 0;
    T v[N], r[N], all;
    for (int i = 0; i < N; ++i) v[i] = x[t * N + i];
    auto put = [&]() { for (int i = 0; i < N; ++i) y[row * threads * N + t * N + i] = r[i]; ++row; __syncthreads(); };
    auto put_all = [&]() { for (int i = 0; i < N; ++i) r[i] = all; put(); };
    S(temp).InclusiveSum(v, r); put();
    S(temp).InclusiveSum(v, r, all); put(); put_all();
    S(temp).ExclusiveSum(v, r); put();
    S(temp).ExclusiveSum(v, r, all); put(); put_all();
    S(temp).InclusiveScan(v, r, cub::Max()); put();
    S(temp).InclusiveScan(v, r, cub::Max(), all); put(); put_all();
    S(temp).InclusiveScan(v, r, 7, cub::Max()); put();
    S(temp).InclusiveScan(v, r, T(7), cub::Max(), all); put(); put_all();
    S(temp).ExclusiveScan(v, r, cub::Max()); if (t == 0) r[0] = 0; put();
    S(temp).ExclusiveScan(v, r, cub::Max(), all); if (t == 0) r[0] = 0; put(); put_all();
    S(temp).ExclusiveScan(v, r, 7, cub::Max()); put();
    cub::Max max;
    T start = 7;
    S(temp).ExclusiveScan(v, r, start, max); put();
    S(temp).ExclusiveScan(v, r, start, max, all); put(); put_all();
    S(temp).ExclusiveSum(v, v); for (int i = 0; i < N; ++i) r[i] = v[i]; put();
}
// A long row, tile by tile.
template <typename T, int BX, int N> __global__ void rows(const T* x, T* inc, T* exc, T* inc2, T* exc2, int tiles) {
    using S = cub::BlockScan<T, BX>;
    __shared__ typename S::TempStorage temp;
    Running<T> a(0), b(0), c(0);
    Running<T> d(0);
    for (int tile = 0; tile < tiles; ++tile) {
        T v[N], r[N], q;
        int at = (tile * BX + threadIdx.x) * N;
        for (int i = 0; i < N; ++i) v[i] = x[at + i];
        S(temp).InclusiveSum(v, r, a);
        __syncthreads();
        for (int i = 0; i < N; ++i) inc[at + i] = r[i];
        S(temp).ExclusiveScan(v, r, cub::Sum(), b);
        __syncthreads();
        for (int i = 0; i < N; ++i) exc[at + i] = r[i];
        at = tile * BX + threadIdx.x;
        S(temp).InclusiveScan(x[at], q, cub::Sum(), c);
        __syncthreads();
        inc2[at] = q;
        S(temp).ExclusiveSum(x[at], q, d);
        __syncthreads();
        exc2[at] = q;
    }
}
template <int BX, int BY, int BZ> __global__ void compose_scan(const unsigned* x, unsigned* y, unsigned* z) {
    using S = cub::BlockScan<Affine, BX, cub::BLOCK_SCAN_RAKING_MEMOIZE, BY, BZ>;
    __shared__ typename S::TempStorage temp;
    int t = tid();
    Affine v[2] = {{x[4 * t], x[4 * t + 1]}, {x[4 * t + 2], x[4 * t + 3]}}, all;
    S(temp).ExclusiveScan(v, v, Affine{3, 5}, Compose(), all);
    for (int i = 0; i < 2; ++i) { y[4 * t + 2 * i] = v[i].a; y[4 * t + 2 * i + 1] = v[i].b; }
    z[2 * t] = all.a; z[2 * t + 1] = all.b;
}
"""


def scan_references(v):
    d = v.dtype
    inc = np.cumsum(v, dtype=d)
    exc = np.concatenate([np.zeros(1, d), inc[:-1]])
    imax = np.maximum.accumulate(v)
    emax = np.concatenate([np.zeros(1, d), imax[:-1]])
    seven = np.maximum(np.concatenate([np.full(1, 7, d), imax[:-1]]), d.type(7))
    full = lambda a: np.full_like(v, a)
    return [inc, inc, full(inc[-1]), exc, exc, full(inc[-1]), imax, imax, full(imax[-1]), np.maximum(imax, d.type(7)),
            np.maximum(imax, d.type(7)), full(imax[-1]), emax, emax, full(imax[-1]), seven, seven, seven, full(imax[-1]), exc]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize(
    "ctype, algorithm",
    [(c, "BLOCK_SCAN_RAKING") for c in TYPES] + [("int", "BLOCK_SCAN_RAKING_MEMOIZE"), ("float", "BLOCK_SCAN_WARP_SCANS")],
)
def test_block_scan(block, ctype, algorithm):
    n = int(np.prod(block))
    x = data(ctype, n, n)
    y = np.zeros((20, n), x.dtype)
    build(SCAN)[f"scan<{ctype}, {block[0]}, {block[1]}, {block[2]}, cub::{algorithm}>"][1, block](x, y)
    for row, want in enumerate(scan_references(x)):
        close(y[row], want, x.dtype, 10)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("ctype", ["int", "float", "double"])
@pytest.mark.parametrize("items", [1, 3, 4])
def test_block_scan_items(block, ctype, items):
    n = int(np.prod(block)) * items
    x = data(ctype, n, n)
    y = np.zeros((20, n), x.dtype)
    build(SCAN)[f"scan_items<{ctype}, {block[0]}, {block[1]}, {block[2]}, {items}>"][1, block](x, y)
    for row, want in enumerate(scan_references(x)):
        close(y[row], want, x.dtype, 20)


@pytest.mark.parametrize("bx", [1, 31, 64, 100, 257])
@pytest.mark.parametrize("ctype", ["int", "double"])
def test_block_scan_prefix_callbacks(bx, ctype):
    tiles, items = 5, 3
    x = data(ctype, tiles * bx * items, bx)
    inc, exc = np.zeros_like(x), np.zeros_like(x)
    inc2, exc2 = np.zeros_like(x[: tiles * bx]), np.zeros_like(x[: tiles * bx])
    build(SCAN)[f"rows<{ctype}, {bx}, {items}>"][1, bx](x, inc, exc, inc2, exc2, tiles)
    want = np.cumsum(x, dtype=x.dtype)
    close(inc, want, x.dtype)
    close(exc[1:], want[:-1], x.dtype)
    assert exc[0] == 0 and exc2[0] == 0
    close(inc2, want[: tiles * bx], x.dtype)
    close(exc2[1:], want[: tiles * bx - 1], x.dtype)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_scan_in_order(block):
    n = int(np.prod(block))
    x = np.random.default_rng(n).integers(0, 2**32, (2 * n, 2), np.uint32)
    y, z = np.zeros_like(x), np.zeros((n, 2), np.uint32)
    build(SCAN)[f"compose_scan<{block[0]}, {block[1]}, {block[2]}>"][1, block](x, y, z)
    np.testing.assert_array_equal(y, affine(np.concatenate([np.array([[3, 5]], np.uint32), x[:-1]])))
    np.testing.assert_array_equal(z, np.broadcast_to(affine(x)[-1], z.shape))


def test_functions():
    m = build(r"""
    __global__ void k(int* y) {
        int t = tid();
        y[t] = cub::LaneId();
        y[96 + t] = cub::WarpId();
        y[192 + t] = cub::RowMajorTid(blockDim.x, blockDim.y, blockDim.z);
        y[288 + t] = cub::ShuffleUp<32>(t, 3, 0, 0xffffffffu);
        y[384 + t] = cub::ShuffleDown<8>(t, 3, 7, 0xffffffffu);
        y[480 + t] = cub::ShuffleIndex<32>(make_double2(t, -t), 5, 0xffffffffu).x;
        y[576 + t] = cub::Max()(t, 7.5f) + cub::Min()(1, 2) + cub::CastOp<int>()(3.7f) + cub::Equality()(1, 1);
    }""")
    y = np.zeros((7, 96), np.int32)
    m.k[1, (4, 8, 3)](y)
    t = np.arange(96)
    np.testing.assert_array_equal(y[0], t % 32)
    np.testing.assert_array_equal(y[1], t // 32)
    np.testing.assert_array_equal(y[2], t)
    np.testing.assert_array_equal(y[3], np.where(t % 32 < 3, t, t - 3))
    np.testing.assert_array_equal(y[4], np.where(t % 8 > 4, t, t + 3))
    np.testing.assert_array_equal(y[5], t // 32 * 32 + 5)
    np.testing.assert_array_equal(y[6], np.floor(np.maximum(t, 7.5) + 5))


def test_a_row_norm_as_extensions_write_it():
    """Mean of squares by BlockReduce, handed on through shared memory."""
    m = build(r"""
    template <typename scalar_t> __global__ void rms(scalar_t* out, const scalar_t* in, const float eps, int hidden) {
        __shared__ float scale;
        float variance = 0.0f;
        for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
            const float v = (float)in[blockIdx.x * hidden + i];
            variance += v * v;
        }
        using BlockReduce = cub::BlockReduce<float, 1024>;
        __shared__ typename BlockReduce::TempStorage reduceStore;
        variance = BlockReduce(reduceStore).Reduce(variance, cub::Sum{}, blockDim.x);
        if (threadIdx.x == 0) scale = rsqrtf(variance / hidden + eps);
        __syncthreads();
        for (int i = threadIdx.x; i < hidden; i += blockDim.x)
            out[blockIdx.x * hidden + i] = (scalar_t)((float)in[blockIdx.x * hidden + i] * scale);
    }""")
    x = data("float", 7 * 300).reshape(7, 300)
    y = np.zeros_like(x)
    m["rms<float>"][7, 128](y, x, 1e-5, 300)
    np.testing.assert_allclose(y, x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-5), rtol=1e-5)


def test_other_ways_to_write_it():
    """Storage handed to helpers, in arrays, in dynamic shared memory; typedefs; function objects of the standard library."""
    m = build(r"""
    #include <cuda_fp16.h>
    #include <functional>
    using namespace cub;
    template <typename T, int THREADS> __device__ T total(T v, typename cub::BlockReduce<T, THREADS>::TempStorage& temp) {
        typedef cub::BlockReduce<T, THREADS> BlockReduceT;
        __shared__ T all;
        T r = BlockReduceT(temp).Sum(v);
        if (threadIdx.x == 0) all = r;
        __syncthreads();
        return all;
    }
    struct Stats { double n, sum, low, high; };
    extern __shared__ __align__(16) char raw[];
    template <typename T> __global__ void k(const T* x, T* y) {
        constexpr int THREADS = 96;
        __shared__ typename cub::BlockReduce<T, THREADS>::TempStorage temp[2];
        T v = x[threadIdx.x];
        T a = total<T, THREADS>(v, temp[0]), b = total<T, THREADS>(v * v, temp[1]);
        auto& third = *reinterpret_cast<typename BlockReduce<T, THREADS>::TempStorage*>(raw);
        T c = BlockReduce<T, THREADS>(third).Reduce(v, std::plus<T>());
        __syncthreads();
        using Raking = BlockReduce<T, THREADS, BLOCK_REDUCE_RAKING>;
        const T d = Raking().Reduce(v, [] __device__(const T& p, const T& q) { return p > q ? p : q; });
        if (threadIdx.x == 0) { y[0] = a; y[1] = b; y[2] = c; y[3] = d; }
        using WarpReduceT = cub::WarpReduce<Stats>;  // too large for memory of its own
        __shared__ typename WarpReduceT::TempStorage warps[THREADS / 32];
        Stats s = WarpReduceT(warps[threadIdx.x / 32]).Reduce(Stats{1, double(v), double(v), double(v)}, [](Stats p, Stats q) {
            return Stats{p.n + q.n, p.sum + q.sum, fmin(p.low, q.low), fmax(p.high, q.high)};
        });
        if (threadIdx.x == 32) { y[4] = s.n; y[5] = s.sum; y[6] = s.low; y[7] = s.high; }
    }
    __global__ void halves(const __half* x, __half* y) {
        using R = cub::BlockReduce<__half, 96>;
        using S = cub::BlockRadixSort<__half, 96, 1>;
        using W = cub::WarpScan<__half>;
        __shared__ union { R::TempStorage r; S::TempStorage s; } temp;
        __shared__ W::TempStorage w[3];
        __half v = x[threadIdx.x], keys[1] = {v};
        __half a = R(temp.r).Sum(v);
        __syncthreads();
        __half b = R(temp.r).Reduce(v, cub::Max());
        __syncthreads();
        S(temp.s).Sort(keys);
        y[2 + threadIdx.x] = keys[0];
        if (threadIdx.x == 0) { y[0] = a; y[1] = b; }
        W(w[threadIdx.x / 32]).InclusiveSum(v, v);
        y[98 + threadIdx.x] = v;
    }""")
    x = np.arange(96, dtype=np.float64) - 3
    y = np.zeros(8)
    m["k<double>"][1, 96, 96 * 8](x, y)
    w = x[32:64]
    np.testing.assert_array_equal(y, [x.sum(), (x * x).sum(), x.sum(), x.max(), 32, w.sum(), w.min(), w.max()])
    h = np.random.default_rng(0).integers(-8, 9, 96).astype(np.float16)
    y = np.zeros(194, np.float16)
    m.halves[1, 96](h, y)
    assert y[0] == h.sum() and y[1] == h.max()
    np.testing.assert_array_equal(y[2:98], np.sort(h))
    np.testing.assert_array_equal(y[98:], np.cumsum(h.reshape(3, 32), axis=1).ravel())


def test_it_costs_nothing_unused():
    import time
    start = time.process_time()
    build("__global__ void k(float* y) { y[0] = 1; }")
    assert time.process_time() - start < 1
