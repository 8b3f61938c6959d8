"""`nvcuda::wmma` and fp8 types, against NumPy in float64 and ml_dtypes."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import workbench as wb


NUMPY = {
    "half": np.float16,
    "__nv_bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
    "wmma::precision::tf32": np.float32,
    "double": np.float64,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "int": np.int32,
}
WIDE = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
PRODUCTS = (
    [("half", r, s) for r in ("float", "half") for s in WIDE]
    + [("__nv_bfloat16", "float", s) for s in WIDE]
    + [(c, "int", s) for c in ("signed char", "unsigned char") for s in WIDE]
    + [("wmma::precision::tf32", "float", (16, 16, 8)), ("double", "double", (8, 8, 4))]
)


def wmma(text):
    return wb.compile("#include <mma.h>\nusing namespace nvcuda;\n" + text)


def fp8(text):
    return wb.compile("#include <cuda_fp8.h>\n" + text)


def numbers(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        low, high = (-100000, 100000) if dtype.itemsize == 4 else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
        return rng.integers(low, high, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def truncated(x):
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def bound(a, b, c, result):
    """The largest distance of a sum, in order, from the exact one.

    Factors of half, bf16 and tf32 have at most 11 bits: their products are exact in float32. What rounds are the K additions to `c`, each
    by at most u = 2**-24 of a partial sum, which no partial sum of absolute values exceeds but for the roundings before it: the error is at
    most K u / (1 - K u) times sum |a||b| + |c|. A result in half is rounded once more, by at most 2**-11 of it, or half of its smallest
    subnormal. In double the products round as well, and so do NumPy's: twice K + 1.
    """
    size = np.abs(a) @ np.abs(b) + np.abs(c)
    k = a.shape[1]
    if result == "double":
        return 2 * (k + 1) * 2.0**-53 * 1.01 * size
    error = k * 2.0**-24 / (1 - k * 2.0**-24) * size
    return error if result != "half" else error + 2.0**-11 * (np.abs(a @ b + c) + error) + 2.0**-25


def check(got, a, b, c, result):
    if result == "int":
        exact = a.astype(np.int64) @ b.astype(np.int64) + c.astype(np.int64)
        np.testing.assert_array_equal(got, exact.astype(np.int32))
        return
    a, b, c = (x.astype(np.float64) for x in (a, b, c))
    assert (np.abs(got.astype(np.float64) - (a @ b + c)) <= bound(a, b, c, result)).all()


def laid(x, ldm, by_rows, pad):
    """A matrix in memory with so many elements from row to row, or column to column, and what lies between."""
    x = x if by_rows else x.T
    out = np.full((x.shape[0], ldm), pad, x.dtype)
    out[:, : x.shape[1]] = x
    return out


ONE = """
__global__ void k(const %(S)s* a, const %(S)s* b, const %(C)s* c, %(D)s* d, int lda, int ldb, int ldc, int ldd) {
    wmma::fragment<wmma::matrix_a, %(shape)s, %(T)s, wmma::%(la)s> fa;
    wmma::fragment<wmma::matrix_b, %(shape)s, %(T)s, wmma::%(lb)s> fb;
    wmma::fragment<wmma::accumulator, %(shape)s, %(C)s> fc;
    wmma::fragment<wmma::accumulator, %(shape)s, %(D)s> fd;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, ldc, wmma::mem_%(lc)s);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d, fd, ldd, wmma::mem_%(ld)s);
}
"""


@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_one_product_in_every_layout(product):
    factor, result, (m, n, k) = product
    rng = np.random.default_rng(m * n + k)
    rows = ("row_major", "col_major")
    for layouts in itertools.product(rows, repeat=4):
        la, lb, lc, ld = layouts
        storage = "float" if "tf32" in factor else factor
        names = {"S": storage, "T": factor, "C": result, "D": result, "shape": f"{m}, {n}, {k}"}
        module = wmma(ONE % {**names, "la": la, "lb": lb, "lc": lc, "ld": ld})
        a, b = numbers(rng, (m, k), NUMPY[factor]), numbers(rng, (k, n), NUMPY[factor])
        c = numbers(rng, (m, n), NUMPY[result])
        for more in (0, 8):
            lda, ldb, ldc, ldd = (
                (x.shape[1] if layout == "row_major" else x.shape[0]) + more
                for x, layout in zip((a, b, c, c), layouts, strict=True)
            )
            d = laid(np.zeros((m, n), NUMPY[result]), ldd, ld == "row_major", 7)
            at = (laid(x, ldm, y == "row_major", 3) for x, ldm, y in zip((a, b, c), (lda, ldb, ldc), layouts, strict=False))
            module.k[1, 32](*at, d, lda, ldb, ldc, ldd)
            assert (d[:, ldd - more :] == 7).all()
            got = d[:, : ldd - more]
            fa, fb = (truncated(a), truncated(b)) if "tf32" in factor else (a, b)
            check(got if ld == "row_major" else got.T, fa, fb, c, result)


@pytest.mark.parametrize(("c", "d"), [("half", "float"), ("float", "half")])
def test_results_of_half_may_change_their_type(c, d):
    rng = np.random.default_rng(1)
    names = {"S": "half", "T": "half", "C": c, "D": d, "shape": "16, 16, 16"}
    module = wmma(ONE % {**names, "la": "row_major", "lb": "col_major", "lc": "row_major", "ld": "row_major"})
    x, y, z = numbers(rng, (16, 16), np.float16), numbers(rng, (16, 16), np.float16), numbers(rng, (16, 16), NUMPY[c])
    out = np.zeros((16, 16), NUMPY[d])
    module.k[1, 32](x, y.T.copy(), z, out, 16, 16, 16, 16)
    check(out, x, y, z, d)


def test_half_results_round_once():
    # 1 + 2**-11 + 2**-22: in float the sum is above the tie and rounds up; rounded after each product it would end at 1.
    module = wmma(ONE % {
        "S": "half", "T": "half", "C": "half", "D": "half", "shape": "16, 16, 16",
        "la": "row_major", "lb": "row_major", "lc": "row_major", "ld": "row_major",
    })
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    a[0, :2] = 2.0**-11, 2.0**-11
    b[0, 0], b[1, 0] = 1, 2.0**-11
    c, d = np.ones((16, 16), np.float16), np.zeros((16, 16), np.float16)
    module.k[1, 32](a, b, c, d, 16, 16, 16, 16)
    assert d[0, 0] == np.float16(1 + 2.0**-10) and d[0, 1] == 1


def test_half_special_values():
    module = wmma(ONE % {
        "S": "half", "T": "half", "C": "float", "D": "float", "shape": "16, 16, 16",
        "la": "row_major", "lb": "row_major", "lc": "row_major", "ld": "row_major",
    })
    a, b = np.zeros((16, 16), np.float16), np.eye(16, dtype=np.float16)
    a[0, 0], a[1, 1], a[2, 2], a[3, 3], a[4, 4] = np.inf, np.nan, 2.0**-24, 65504, -np.inf
    c, d = np.zeros((16, 16), np.float32), np.zeros((16, 16), np.float32)
    with np.errstate(invalid="ignore"):
        want = a.astype(np.float64) @ b.astype(np.float64)
    module.k[1, 32](a, b, c, d, 16, 16, 16, 16)
    np.testing.assert_array_equal(d, want)


GEMM = """
template <typename T, typename R, int M, int N, int K>
__device__ void gemm(const T* a, const T* b, R* c, int m, int n, int k, R alpha) {
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    int tile = blockIdx.x * warps + thread / 32;
    int row = tile / (n / N) * M, col = tile %% (n / N) * N;
    if (row >= m) return;
    wmma::fragment<wmma::accumulator, M, N, K, R> sum;
    wmma::fill_fragment(sum, R(0));
    for (int i = 0; i < k; i += K) {
        wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        wmma::load_matrix_sync(fb, b + i * n + col, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::fragment<wmma::accumulator, M, N, K, R> old;
    wmma::load_matrix_sync(old, c + row * n + col, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++) old.x[i] = alpha * sum.x[i] + old.x[i];
    wmma::store_matrix_sync(c + row * n + col, old, n, wmma::mem_row_major);
}
__global__ void k(const %(T)s* a, const %(T)s* b, %(R)s* c, int m, int n, int k) { gemm<%(T)s, %(R)s, %(shape)s>(a, b, c, m, n, k, 2); }
"""


@pytest.mark.parametrize("product", [p for p in PRODUCTS if "tf32" not in p[0]], ids=str)
@pytest.mark.parametrize("block", [(32,), (128,), (16, 4), (4, 2, 12)], ids=str)
def test_products_of_many_warps(product, block):
    factor, result, shape = product
    rng = np.random.default_rng(5)
    m, n, k = 64, 96, 48
    module = wmma(GEMM % {"T": factor, "R": result, "shape": ", ".join(map(str, shape))})
    a, b = numbers(rng, (m, k), NUMPY[factor]), numbers(rng, (k, n), NUMPY[factor])
    start = numbers(rng, (m, n), NUMPY[result])
    c = start.copy()
    warps = int(np.prod(block)) // 32
    tiles = (m // shape[0]) * (n // shape[1])
    module.k[-(-tiles // warps), block](a, b, c, m, n, k)
    if result == "int":
        np.testing.assert_array_equal(c, 2 * (a.astype(np.int32) @ b.astype(np.int32)) + start)
        return
    a, b, start = (x.astype(np.float64) for x in (a, b, start))
    zero = np.zeros_like(start)
    # Each step of K rounds a result in half, and what follows by elements rounds twice more.
    unit = {"half": 2.0**-11, "float": 2.0**-24, "double": 2.0**-53}[result]
    steps = k // shape[2] if result == "half" else 0
    size = 2 * (np.abs(a) @ np.abs(b)) + np.abs(start)
    room = 2 * bound(a, b, zero, result) + (steps + 3) * unit * 1.01 * size
    assert (np.abs(c.astype(np.float64) - (2 * (a @ b) + start)) <= room).all()


SHARED = """
// Four warps make 64 x 64 results, each a quarter of 2 x 2 tiles, from tiles of A and B in shared memory.
__global__ void k(const half* a, const half* b, float* c, int m, int n, int k) {
    __shared__ half sa[64][32 + 8], sb[32][64 + 8];
    int warp = threadIdx.x / 32, row = blockIdx.y * 64, col = blockIdx.x * 64, down = warp / 2 * 32, right = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) wmma::fill_fragment(sum[i][j], 0.0f);
    for (int at = 0; at < k; at += 32) {
        for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) {
            sa[i / 32][i % 32] = a[(row + i / 32) * k + at + i % 32];
            sb[i / 64][i % 64] = b[(at + i / 64) * n + col + i % 64];
        }
        __syncthreads();
        for (int inner = 0; inner < 32; inner += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) wmma::load_matrix_sync(fa[i], &sa[down + i * 16][inner], 40);
            for (int j = 0; j < 2; j++) wmma::load_matrix_sync(fb[j], &sb[inner][right + j * 16], 72);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(c + (row + down + i * 16) * n + col + right + j * 16, sum[i][j], n, wmma::mem_row_major);
}
"""


def test_tiles_in_shared_memory():
    rng = np.random.default_rng(7)
    m, n, k = 128, 192, 96
    a, b, c = numbers(rng, (m, k), np.float16), numbers(rng, (k, n), np.float16), np.zeros((m, n), np.float32)
    wmma(SHARED).k[(n // 64, m // 64), 128](a, b, c, m, n, k)
    check(c, a, b, np.zeros((m, n)), "float")


def test_results_may_lie_where_factors_lay():
    module = wmma("""
    __global__ void k(half* a, const half* b) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
        wmma::load_matrix_sync(fb, b, 16);
        for (int i = 0; i < 3; i++) {
            wmma::load_matrix_sync(fa, a, 16);
            wmma::fill_fragment(sum, 0.0f);
            wmma::mma_sync(sum, fa, fb, sum);
            wmma::store_matrix_sync(a, sum, 16, wmma::mem_row_major);
        }
    }""")
    rng = np.random.default_rng(8)
    a, b = rng.integers(-2, 3, (16, 16)).astype(np.float16), np.eye(16, k=3, dtype=np.float16)
    b[5, 2] = -1
    want = a.astype(np.float64) @ np.linalg.matrix_power(b.astype(np.float64), 3)
    module.k[1, 32](a, b.T.copy())
    np.testing.assert_array_equal(a, want)


def test_each_element_of_a_result_is_held_once():
    module = wmma("""
    template <int M, int N> __device__ void count(float* y, int* held) {
        wmma::fragment<wmma::accumulator, M, N, 16, float> f;
        wmma::fragment<wmma::accumulator, M, N, 16, half> h;
        for (int i = 0; i < f.num_elements; i++) f.x[i] = threadIdx.x * 8 + i;
        for (int i = 0; i < h.num_elements; i++) h.x[i] = f.x[i];
        for (int i = 0; i < h.num_elements; i++) f.x[i] += (float)h.x[i] * 1000;
        wmma::store_matrix_sync(y, f, N, wmma::mem_row_major);
        if (threadIdx.x == 0) held[0] = f.num_elements;
    }
    __global__ void k(float* y, int* held) {
        count<16, 16>(y, held);
        count<32, 8>(y + 256, held + 1);
        count<8, 32>(y + 512, held + 2);
    }""")
    y, held = np.zeros((3, 256), np.float32), np.zeros(3, np.int32)
    module.k[1, 32](y, held)
    assert (held == 8).all()
    for one in y:
        np.testing.assert_array_equal(np.sort(one), np.arange(256) * 1001.0)


def test_factors_may_be_changed_by_elements():
    module = wmma("""
    __global__ void k(const half* a, const half* b, float* c) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 16);
        for (int i = 0; i < fa.num_elements; i++) fa.x[i] = __hmul(fa.x[i], __float2half(2.0f));
        for (auto& x : fb.x) x = -x;
        wmma::fill_fragment(sum, 1.0f);
        wmma::mma_sync(sum, fa, fb, sum);
        wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
    }""")
    rng = np.random.default_rng(9)
    a, b = numbers(rng, (16, 16), np.float16), numbers(rng, (16, 16), np.float16)
    c = np.zeros((16, 16), np.float32)
    module.k[1, 32](a.T.copy(), b, c)
    check(c, 2 * a, -b, np.ones((16, 16)), "float")


def test_tf32_rounds_and_truncates():
    module = wmma("""
    __global__ void rounded(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = wmma::__float_to_tf32(x[i]);
    }
    __global__ void k(const float* a, const float* b, float* c, bool round) {
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
        wmma::fill_fragment(sum, 0.0f);
        for (int i = 0; i < 64; i += 8) {
            wmma::load_matrix_sync(fa, a + i, 64);
            wmma::load_matrix_sync(fb, b + i * 16, 16);
            if (round) {
                for (int t = 0; t < fa.num_elements; t++) fa.x[t] = wmma::__float_to_tf32(fa.x[t]);
                for (int t = 0; t < fb.num_elements; t++) fb.x[t] = wmma::__float_to_tf32(fb.x[t]);
            }
            wmma::mma_sync(sum, fa, fb, sum);
        }
        wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
    }""")
    rng = np.random.default_rng(10)
    bits = rng.integers(0, 2**32, 4096, dtype=np.uint32)
    bits[:8] = 0x3F801000, 0xBF801000, 0x3F800FFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0x00001000
    x = bits.view(np.float32)
    y = np.zeros_like(x)
    module.rounded[16, 256](x, y, x.size)
    # Ties go away from zero: half of the last bit is added to the magnitude.
    finite = np.isfinite(x)
    want = ((bits.astype(np.uint64) + 0x1000) & 0xFFFFE000).astype(np.uint32).view(np.float32)
    np.testing.assert_array_equal(y[finite], want[finite])
    np.testing.assert_array_equal(y[~finite], x[~finite])
    assert y[0] == np.float32(1 + 2.0**-10) and y[1] == -y[0] and y[2] == 1

    a, b = numbers(rng, (16, 64), np.float32), numbers(rng, (64, 16), np.float32)
    c = np.zeros((16, 16), np.float32)
    for round_them in (False, True):
        fa, fb = a.copy(), b.copy()
        if round_them:
            for f in (fa, fb):
                u = f.view(np.uint32)
                u += 0x1000
        module.k[1, 32](a, b, c, round_them)
        check(c, truncated(fa), truncated(fb), np.zeros((16, 16)), "float")


def test_saturation():
    module = wmma("""
    template <typename T, typename R> __device__ void one(const T* a, const R* c, R* d) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, R> fc, fd;
        wmma::load_matrix_sync(fa, a, 16);
        wmma::fill_fragment(fb, T(1));
        wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
        wmma::mma_sync(fd, fa, fb, fc, false);
        wmma::store_matrix_sync(d, fd, 16, wmma::mem_row_major);
        wmma::mma_sync(fd, fa, fb, fc, true);
        wmma::store_matrix_sync(d + 256, fd, 16, wmma::mem_row_major);
    }
    __global__ void bytes(const signed char* a, const int* c, int* d) { one(a, c, d); }
    __global__ void halves(const half* a, const half* c, half* d) { one(a, c, d); }
    __global__ void floats(const half* a, const float* c, float* d) { one(a, c, d); }
    """)
    a, c, d = np.zeros((16, 16), np.int8), np.zeros((16, 16), np.int32), np.zeros((2, 16, 16), np.int32)
    a[0], a[1], c[0], c[1] = 127, -128, 2**31 - 5, -(2**31)
    module.bytes[1, 32](a, c, d)
    exact = a.astype(np.int64).sum(1)[:, None] + c
    np.testing.assert_array_equal(d[0], exact.astype(np.int32))
    np.testing.assert_array_equal(d[1], np.clip(exact, -(2**31), 2**31 - 1))
    for kernel, dtype in ((module.halves, np.float16), (module.floats, np.float32)):
        most = np.finfo(dtype).max
        a, c, d = np.zeros((16, 16), np.float16), np.zeros((16, 16), dtype), np.zeros((2, 16, 16), dtype)
        a[0, 0], a[1, 0], a[2, 0], a[3, 0] = np.inf, -np.inf, np.nan, 3
        kernel[1, 32](a, c, d)
        np.testing.assert_array_equal(d[0, :4, 0], [np.inf, -np.inf, np.nan, 3])
        np.testing.assert_array_equal(d[1, :4, 0], [most, -most, 0, 3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("matrix_a, 16, 16, 8, half, wmma::row_major> f; wmma::load_matrix_sync(f, h, 16)", "have that shape"),
        ("matrix_b, 16, 16, 16, half> f; wmma::load_matrix_sync(f, h, 16)", "row_major"),
        ("matrix_a, 16, 16, 16, half, wmma::row_major> f; wmma::load_matrix_sync(f, s, 16)", "load_matrix_sync"),
        ("accumulator, 16, 16, 16, float> f; wmma::load_matrix_sync(f, s, 16)", "load_matrix_sync"),
    ],
)
def test_what_is_no_fragment_is_refused(text, message):
    with pytest.raises(wb.CompileError, match=message):
        wmma(f"__global__ void k(const half* h, const float* s, float* y) {{ wmma::fragment<wmma::{text}; y[0] = f.x[0]; }}")


KINDS = {"e4m3": (ml_dtypes.float8_e4m3fn, 448.0), "e5m2": (ml_dtypes.float8_e5m2, 57344.0)}
CODES = np.arange(256, dtype=np.uint8)


def same(got, want):
    """Codes that are equal, or all of NaNs; `want` is an array of an fp8 type."""
    nan = np.isnan(want.astype(np.float32))
    np.testing.assert_array_equal(got[~nan], want.view(np.uint8)[~nan])
    assert np.isnan(got.view(want.dtype).astype(np.float32))[nan].all()


def rounded(x, dtype, most):
    """As SATFINITE has it: to nearest, ties to even, infinities and what is larger to the largest number."""
    return np.where(np.isnan(x), x, np.clip(x, -most, most)).astype(dtype)


def samples(dtype):
    """Floats of every magnitude, all codes' numbers, those halfway between neighbours, and what is next to them."""
    rng = np.random.default_rng(11)
    codes = np.sort(CODES.view(dtype).astype(np.float64))
    codes = codes[np.isfinite(codes)]
    half = np.concatenate([codes, (codes[1:] + codes[:-1]) / 2, [464, -464, 465, 61440, -61440, 61439, 1e9, -1e30]]).astype(np.float32)
    near = [half, np.nextafter(half, np.float32(np.inf)), np.nextafter(half, np.float32(-np.inf))]
    any_bits = rng.integers(0, 2**32, 100_000, dtype=np.uint32).view(np.float32)
    usual = (rng.standard_normal(100_000) * 2.0 ** rng.integers(-20, 18, 100_000)).astype(np.float32)
    return np.concatenate([*near, any_bits, usual, np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], np.float32)])


@pytest.mark.parametrize("kind", KINDS)
def test_every_code_decodes(kind):
    dtype, _ = KINDS[kind]
    module = fp8("""
    __global__ void k(const F* x, float* f, double* d, __half* h, bool* b, unsigned short* pair) {
        int i = threadIdx.x;
        f[i] = (float)x[i];
        d[i] = static_cast<double>(x[i]);
        h[i] = __half(__nv_cvt_fp8_to_halfraw(x[i].__x, KIND));
        b[i] = (bool)x[i];
        __half2_raw two = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(x[i].__x | x[255 - i].__x << 8), KIND);
        pair[2 * i] = two.x;
        pair[2 * i + 1] = two.y;
    }""".replace("F*", f"__nv_fp8_{kind}*").replace("KIND", f"__NV_{kind.upper()}"))
    f, d, h = np.zeros(256, np.float32), np.zeros(256), np.zeros(256, np.float16)
    b, pair = np.zeros(256, bool), np.zeros((256, 2), np.uint16)
    module.k[1, 256](CODES, f, d, h, b, pair)
    want = CODES.view(dtype).astype(np.float32)
    for got in (f, d, h, pair[:, 0].copy().view(np.float16), pair[::-1, 1].copy().view(np.float16)):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got)[want == 0], np.signbit(want)[want == 0])
    np.testing.assert_array_equal(b, want != 0)


@pytest.mark.parametrize("kind", KINDS)
def test_integers_from_codes(kind):
    dtype, _ = KINDS[kind]
    types = {
        "char": np.int8, "signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16,
        "int": np.int32, "unsigned": np.uint32, "long": np.int64, "unsigned long": np.uint64, "long long": np.int64,
        "unsigned long long": np.uint64,
    }
    lines = "".join(f"y[threadIdx.x * 11 + {i}] = (long long)(({t})x[threadIdx.x]);\n" for i, t in enumerate(types))
    module = fp8(f"__global__ void k(const __nv_fp8_{kind}* x, long long* y) {{\n{lines}}}")
    y = np.zeros((256, 11), np.int64)
    module.k[1, 256](CODES, y)
    for got, integer in zip(y.T, types.values(), strict=True):
        info = np.iinfo(integer)
        for code, number in zip(got, CODES.view(dtype).astype(float), strict=True):
            if np.isnan(number):
                want = 0 if info.bits < 64 else 2**63
            elif np.isinf(number):
                want = info.max if number > 0 else info.min
            else:
                want = min(max(int(number), info.min), info.max)
            assert int(code) % 2**64 == want % 2**64


@pytest.mark.parametrize("kind", KINDS)
def test_floats_round(kind):
    dtype, most = KINDS[kind]
    module = fp8("""
    __global__ void k(const float* x, F* y, unsigned char* loose, unsigned char* fine, unsigned char* d, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        y[i] = F(x[i]);
        loose[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, KIND);
        fine[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, KIND);
        d[i] = __nv_cvt_double_to_fp8((double)x[i], __NV_NOSAT, KIND);
    }""".replace("F*", f"__nv_fp8_{kind}*").replace("F(", f"__nv_fp8_{kind}(").replace("KIND", f"__NV_{kind.upper()}"))
    x = samples(dtype)
    y, loose, fine, d = (np.zeros(x.size, np.uint8) for _ in range(4))
    module.k[-(-x.size // 256), 256](x, y, loose, fine, d, x.size)
    with np.errstate(over="ignore", invalid="ignore"):
        same(y, rounded(x, dtype, most))
        same(fine, rounded(x, dtype, most))
        same(loose, x.astype(dtype))
        same(d, x.astype(dtype))
    assert (y[np.isnan(x)] == 0x7F).all()


@pytest.mark.parametrize("kind", KINDS)
def test_doubles_round_once(kind):
    dtype, most = KINDS[kind]
    module = fp8(f"""
    __global__ void k(const double* x, __nv_fp8_{kind}* y, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = __nv_fp8_{kind}(x[i]);
    }}""")
    middle = samples(dtype)[:600].astype(np.float64)
    middle = middle[np.isfinite(middle)]
    # So near a tie that a float would be on it, and ml_dtypes, which goes by way of float, as well.
    x = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), [1e300, -1e-300, 5e-324]])
    y = np.zeros(x.size, np.uint8)
    module.k[-(-x.size // 256), 256](x, y, x.size)
    codes = CODES[:128].view(dtype).astype(np.float64)
    count = int(np.isfinite(codes).sum())
    codes, size = codes[:count], np.minimum(np.abs(x), most)
    # The nearest number, and the even code where two are.
    low = np.searchsorted(codes, size, side="right") - 1
    high = np.minimum(low + 1, count - 1)
    down, up = size - codes[low], codes[high] - size
    want = np.where(down < up, low, np.where(up < down, high, np.where(low % 2 == 0, low, high)))
    want = np.where(codes[low] == size, low, want)
    np.testing.assert_array_equal(y, want | np.where(np.signbit(x), 0x80, 0))


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_bits_round(kind):
    dtype, most = KINDS[kind]
    module = fp8("""
    __global__ void k(const __half* h, const __nv_bfloat16* b, F* y, F* z, unsigned char* r, unsigned char* s) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        y[i] = F(h[i]);
        z[i] = F(b[i]);
        r[i] = __nv_cvt_halfraw_to_fp8(h[i], __NV_NOSAT, KIND);
        s[i] = __nv_cvt_bfloat16raw_to_fp8(b[i], __NV_NOSAT, KIND);
    }""".replace("F*", f"__nv_fp8_{kind}*").replace("F(", f"__nv_fp8_{kind}(").replace("KIND", f"__NV_{kind.upper()}"))
    bits = np.arange(65536, dtype=np.uint16)
    h, b = bits.view(np.float16), bits.view(ml_dtypes.bfloat16)
    y, z, r, s = (np.zeros(65536, np.uint8) for _ in range(4))
    module.k[256, 256](h, b, y, z, r, s)
    with np.errstate(over="ignore", invalid="ignore"):
        same(y, rounded(h.astype(np.float32), dtype, most))
        same(z, rounded(b.astype(np.float32), dtype, most))
        same(r, h.astype(np.float32).astype(dtype))
        same(s, b.astype(np.float32).astype(dtype))


@pytest.mark.parametrize("kind", KINDS)
def test_integers_round(kind):
    dtype, most = KINDS[kind]
    values = [0, 1, -1, 17, -17, 19, 240, 448, 464, 465, -1000, 57344, 61440, -(2**31), 2**31 - 1]
    f = f"__nv_fp8_{kind}"
    types = {
        "short": np.int16, "unsigned short": np.uint16, "int": np.int32, "unsigned": np.uint32, "long": np.int64,
        "unsigned long": np.uint64, "long long": np.int64, "unsigned long long": np.uint64,
    }
    lines = "".join(f"y[i * 8 + {n}] = {f}(({t})x[i]);\n" for n, t in enumerate(types))
    module = fp8(f"__global__ void k(const long long* x, {f}* y) {{ int i = threadIdx.x;\n{lines}}}")
    x, y = np.array(values, np.int64), np.zeros((len(values), 8), np.uint8)
    module.k[1, len(values)](x, y)
    for got, integer in zip(y.T, types.values(), strict=True):
        same(got.copy(), rounded(x.astype(integer).astype(np.float64), dtype, most))


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_and_fours(kind):
    dtype, most = KINDS[kind]
    module = fp8("""
    __global__ void k(const float4* x, unsigned* y, unsigned short* z, float4* back, float2* two, __half2* halves) {
        int i = threadIdx.x;
        float4 v = x[i];
        __nv_fp8x4_KIND f(v);
        y[4 * i] = f.__x;
        y[4 * i + 1] = __nv_fp8x4_KIND(make_double4(v.x, v.y, v.z, v.w)).__x;
        __half2 a = __floats2half2_rn(v.x, v.y), b = __floats2half2_rn(v.z, v.w);
        __nv_bfloat162 c = __floats2bfloat162_rn(v.x, v.y), d = __floats2bfloat162_rn(v.z, v.w);
        y[4 * i + 2] = __nv_fp8x4_KIND(a, b).__x;
        y[4 * i + 3] = __nv_fp8x4_KIND(c, d).__x;
        __half2_raw r;
        r.x = a.x.__x;
        r.y = a.y.__x;
        __nv_bfloat162_raw s;
        s.x = c.x.__x;
        s.y = c.y.__x;
        __nv_fp8x2_KIND p(make_float2(v.x, v.y));
        z[7 * i] = p.__x;
        z[7 * i + 1] = __nv_fp8x2_KIND(make_double2(v.x, v.y)).__x;
        z[7 * i + 2] = __nv_fp8x2_KIND(a).__x;
        z[7 * i + 3] = __nv_fp8x2_KIND(c).__x;
        z[7 * i + 4] = __nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __NV_SATFINITE, UPPER);
        z[7 * i + 5] = __nv_cvt_halfraw2_to_fp8x2(r, __NV_SATFINITE, UPPER);
        z[7 * i + 6] = __nv_cvt_bfloat16raw2_to_fp8x2(s, __NV_SATFINITE, UPPER);
        back[i] = (float4)f;
        two[i] = float2(p);
        halves[i] = static_cast<__half2>(p);
    }""".replace("UPPER", f"__NV_{kind.upper()}").replace("KIND", kind))
    x = numbers(np.random.default_rng(12), (64, 4), np.float32) * 300
    y, z = np.zeros((64, 4), np.uint32), np.zeros((64, 7), np.uint16)
    back, two, halves = np.zeros((64, 4), np.float32), np.zeros((64, 2), np.float32), np.zeros((64, 2), np.float16)
    module.k[1, 64](x, y, z, back, two, halves)
    want = rounded(x, dtype, most)
    by_half = rounded(x.astype(np.float16).astype(np.float32), dtype, most)
    by_bfloat = rounded(x.astype(ml_dtypes.bfloat16).astype(np.float32), dtype, most)
    for i, each in enumerate([want, want, by_half, by_bfloat]):
        same(y[:, i].copy().view(np.uint8).reshape(64, 4), each)
    for i, each in enumerate([want, want, by_half, by_bfloat, want, by_half, by_bfloat]):
        same(z[:, i].copy().view(np.uint8).reshape(64, 2), np.ascontiguousarray(each[:, :2]))
    np.testing.assert_array_equal(back, want.astype(np.float32))
    np.testing.assert_array_equal(two, want.astype(np.float32)[:, :2])
    np.testing.assert_array_equal(halves, want.astype(np.float32)[:, :2])


@pytest.mark.parametrize(
    ("cast", "of", "dtype", "count"),
    [
        ("(float2)", "x2", np.float32, 2),
        ("static_cast<float4>", "x4", np.float32, 4),
        ("(__half2)", "x2", np.float16, 2),
        ("(__half)", "", np.float16, 1),
        ("static_cast<__nv_bfloat16>", "", ml_dtypes.bfloat16, 1),
    ],
)
def test_casts_to_classes(cast, of, dtype, count):
    to = cast.removeprefix("static_cast<").strip("()>")
    module = fp8(f"__global__ void k(const __nv_fp8{of}_e4m3* x, {to}* y) {{ y[threadIdx.x] = {cast}(x[threadIdx.x]); }}")
    y = np.zeros(256, dtype)
    module.k[1, 256 // count](CODES.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[count]), y)
    np.testing.assert_array_equal(y.astype(np.float32), CODES.view(ml_dtypes.float8_e4m3fn).astype(np.float32))


def test_a_product_of_fp8():
    module = fp8("""
    __global__ void k(const __nv_fp8_e4m3* a, const __nv_fp8_e5m2* b, float* c, int n) {
        int row = threadIdx.y, col = threadIdx.x;
        float sum = 0;
        for (int i = 0; i < n; i++) sum += static_cast<float>(a[row * n + i]) * float(b[i * n + col]);
        c[row * n + col] = sum;
    }""")
    rng = np.random.default_rng(13)
    a, b = rng.standard_normal((16, 16)).astype(ml_dtypes.float8_e4m3fn), rng.standard_normal((16, 16)).astype(ml_dtypes.float8_e5m2)
    c = np.zeros((16, 16), np.float32)
    module.k[1, (16, 16)](a.view(np.uint8), b.view(np.uint8), c, 16)
    check(c, a.astype(np.float64), b.astype(np.float64), np.zeros((16, 16)), "float")
