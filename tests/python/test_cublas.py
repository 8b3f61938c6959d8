"""cuBLAS's matrices from host code, against NumPy in a wider type; bounds of errors as `blas.py` has them."""

import itertools

import numpy as np
import pytest
from blas import C, INVALID_VALUE, LETTERS, N, NOT_INITIALIZED, SUCCESS, T, bounded, gamma, matrix, module, of

import workbench as wb

GENERIC = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>

static cublasHandle_t handle_of() {
    static cublasHandle_t handle = nullptr;
    if (!handle) cublasCreate(&handle);
    return handle;
}
#define OP(x) static_cast<cublasOperation_t>(x)

int sgemm(int ta, int tb, int m, int n, int k, double alpha, torch::Tensor a, int lda, torch::Tensor b, int ldb, double beta, torch::Tensor c, int ldc) {
    float one = alpha, other = beta;
    return cublasSgemm(handle_of(), OP(ta), OP(tb), m, n, k, &one, a.data_ptr<float>(), lda, b.data_ptr<float>(), ldb, &other, c.data_ptr<float>(), ldc);
}
int dgemm(int ta, int tb, int m, int n, int k, double alpha, torch::Tensor a, int lda, torch::Tensor b, int ldb, double beta, torch::Tensor c, int ldc) {
    return cublasDgemm(handle_of(), OP(ta), OP(tb), m, n, k, &alpha, a.data_ptr<double>(), lda, b.data_ptr<double>(), ldb, &beta, c.data_ptr<double>(), ldc);
}
int hgemm(int ta, int tb, int m, int n, int k, double alpha, torch::Tensor a, int lda, torch::Tensor b, int ldb, double beta, torch::Tensor c, int ldc) {
    __half one = __float2half((float)alpha), other = __float2half((float)beta);
    return cublasHgemm(handle_of(), OP(ta), OP(tb), m, n, k, &one, reinterpret_cast<const __half*>(a.data_ptr<at::Half>()), lda,
                       reinterpret_cast<const __half*>(b.data_ptr<at::Half>()), ldb, &other, reinterpret_cast<__half*>(c.data_ptr<at::Half>()), ldc);
}
"""

BATCHED = GENERIC + """
#define BATCHED(name, T, S, load)                                                                                                       \\
    int name##_strided(int ta, int tb, int m, int n, int k, double alpha, torch::Tensor a, int lda, int64_t sa, torch::Tensor b, int ldb, \\
                       int64_t sb, double beta, torch::Tensor c, int ldc, int64_t sc, int batch) {                                      \\
        T one = load(alpha), other = load(beta);                                                                                        \\
        return cublas##S##gemmStridedBatched(handle_of(), OP(ta), OP(tb), m, n, k, &one, (const T*)a.data_ptr(), lda, sa,               \\
                                             (const T*)b.data_ptr(), ldb, sb, &other, (T*)c.data_ptr(), ldc, sc, batch);                \\
    }                                                                                                                                   \\
    int name##_batched(int ta, int tb, int m, int n, int k, double alpha, torch::Tensor a, int lda, int64_t sa, torch::Tensor b, int ldb, \\
                       int64_t sb, double beta, torch::Tensor c, int ldc, int64_t sc, int batch) {                                      \\
        T one = load(alpha), other = load(beta);                                                                                        \\
        std::vector<T*> ah(batch), bh(batch), ch(batch);                                                                                \\
        for (int i = 0; i < batch; ++i) {                                                                                               \\
            ah[i] = (T*)a.data_ptr() + i * sa;                                                                                          \\
            bh[i] = (T*)b.data_ptr() + i * sb;                                                                                          \\
            ch[i] = (T*)c.data_ptr() + i * sc;                                                                                          \\
        }                                                                                                                               \\
        T **ad, **bd, **cd;                                                                                                             \\
        size_t bytes = batch * sizeof(T*);                                                                                              \\
        cudaMalloc((void**)&ad, bytes);                                                                                                 \\
        cudaMalloc((void**)&bd, bytes);                                                                                                 \\
        cudaMalloc((void**)&cd, bytes);                                                                                                 \\
        cudaMemcpy(ad, ah.data(), bytes, cudaMemcpyHostToDevice);                                                                       \\
        cudaMemcpy(bd, bh.data(), bytes, cudaMemcpyHostToDevice);                                                                       \\
        cudaMemcpy(cd, ch.data(), bytes, cudaMemcpyHostToDevice);                                                                       \\
        cublasStatus_t status = cublas##S##gemmBatched(handle_of(), OP(ta), OP(tb), m, n, k, &one, (const T**)ad, lda, (const T**)bd,   \\
                                                       ldb, &other, cd, ldc, batch);                                                    \\
        cudaFree(ad);                                                                                                                   \\
        cudaFree(bd);                                                                                                                   \\
        cudaFree(cd);                                                                                                                   \\
        return status;                                                                                                                  \\
    }
BATCHED(s, float, S, (float))
BATCHED(d, double, D, (double))
BATCHED(h, __half, H, __float2half)
"""


@pytest.fixture(scope="module")
def blas():
    names = [f"{t}gemm" for t in "sdh"] + [f"{t}_{kind}" for t in "sdh" for kind in ("strided", "batched")]
    return module(BATCHED, *names)


@pytest.mark.parametrize("dtype", LETTERS)
def test_gemm_of_all_operations_sizes_and_leading_dimensions(blas, dtype):
    f = getattr(blas, LETTERS[dtype] + "gemm")
    rng = np.random.default_rng(1)
    for ta, tb in itertools.product((N, T, C), repeat=2):
        for (m, n, k), more in (((7, 5, 3), 0), ((1, 9, 4), 2), ((13, 1, 17), 5), ((33, 31, 65), 1)):
            for alpha, beta in ((1, 0), (1, 1), (-0.5, 0.25), (2, 0), (0, 3), (0, 0), (0, 1)):
                lda, ldb, ldc = (m if ta == N else k) + more, (k if tb == N else n) + more, m + more
                ab, a = matrix(rng, *((m, k) if ta == N else (k, m)), lda, dtype)
                bb, b = matrix(rng, *((k, n) if tb == N else (n, k)), ldb, dtype)
                cb, c = matrix(rng, m, n, ldc, dtype)
                kept, before = cb.copy(), c.astype(np.longdouble)
                assert f(ta, tb, m, n, k, alpha, ab, lda, bb, ldb, beta, cb, ldc) == SUCCESS
                exact = alpha * (of(ta, a) @ of(tb, b)) + beta * before
                weight = abs(alpha) * (np.abs(of(ta, a)) @ np.abs(of(tb, b))) + abs(beta) * np.abs(before)
                bounded(c, exact, weight, k, dtype)
                # Elements between the columns are unchanged.
                between = np.isnan(kept)
                assert np.isnan(cb[between]).all() and not np.isnan(cb[~between]).any()


@pytest.mark.parametrize("dtype", LETTERS)
def test_what_counts_nothing_is_not_looked_at(blas, dtype):
    f = getattr(blas, LETTERS[dtype] + "gemm")
    a, b, c = np.ones((3, 3, 3), dtype)
    c[:] = np.nan
    assert f(N, N, 3, 3, 3, 1.0, a, 3, b, 3, 0.0, c, 3) == SUCCESS
    assert (c == 3).all()
    assert f(N, N, 3, 3, 3, 2.0, a, 3, b, 3, 0.0, c, 3) == SUCCESS
    assert (c == 6).all()
    # Not even where `a` and `b` are is asked for, if alpha is 0 or there is nothing to add up.
    a[:], none = np.nan, np.empty(0, dtype)
    assert f(N, N, 3, 3, 3, 0.0, a, 3, b, 3, 2.0, c, 3) == SUCCESS
    assert (c == 12).all()
    assert f(N, N, 3, 3, 0, 1.0, none, 3, none, 1, 0.5, c, 3) == SUCCESS
    assert (c == 6).all()
    assert f(N, N, 3, 3, 0, 1.0, none, 3, none, 1, 0.0, c, 3) == SUCCESS
    assert (c == 0).all()
    # NaN that counts does pass.
    c[0, 0] = np.nan
    b[1, 1] = np.nan
    assert f(N, N, 3, 3, 3, 1.0, b, 3, np.ones((3, 3), dtype), 3, 1.0, c, 3) == SUCCESS
    assert np.isnan(c).tolist() == [[True, True, False], [False, True, False], [False, True, False]]


def test_nothing_to_do(blas):
    none, c = np.empty(0, np.float32), np.full((2, 2), np.nan, np.float32)
    for m, n, k in ((0, 2, 2), (2, 0, 2), (0, 0, 0)):
        assert blas.sgemm(N, N, m, n, k, 1.0, none, max(m, 1), none, max(k, 1), 0.0, c, max(m, 1)) == SUCCESS
    assert blas.s_strided(N, N, 2, 2, 2, 1.0, none, 2, 4, none, 2, 4, 0.0, c, 2, 4, 0) == SUCCESS
    assert blas.s_batched(N, N, 2, 2, 2, 1.0, none, 2, 4, none, 2, 4, 0.0, c, 2, 4, 0) == SUCCESS
    assert np.isnan(c).all()


@pytest.mark.parametrize("kind", ["strided", "batched"])
@pytest.mark.parametrize("dtype", LETTERS)
def test_batches(blas, dtype, kind):
    f = getattr(blas, f"{LETTERS[dtype]}_{kind}")
    rng = np.random.default_rng(2)
    m, n, k = 5, 4, 7
    for ta, tb, batch, (alpha, beta), shared in itertools.product((N, T), (N, T), (1, 3), ((1, 0), (-1.5, 0.5)), (False, True)):
        lda, ldb, ldc = (m if ta == N else k) + 1, (k if tb == N else n), m + 2
        sizes = [lda * (k if ta == N else m), ldb * (n if tb == N else k) + 3, ldc * n]
        a, b, c = (rng.normal(size=(batch, size)).astype(dtype) for size in sizes)
        # A stride of 0: all of the batch have the one `b`.
        before, sb = c.copy(), 0 if shared else sizes[1]
        assert f(ta, tb, m, n, k, alpha, a, lda, sizes[0], b, ldb, sb, beta, c, ldc, sizes[2], batch) == SUCCESS

        def column(x, rows, columns, ld):
            return np.lib.stride_tricks.as_strided(x, (rows, columns), (x.itemsize, ld * x.itemsize))

        for i in range(batch):
            ai = of(ta, column(a[i], *((m, k) if ta == N else (k, m)), lda))
            bi = of(tb, column(b[0 if shared else i], *((k, n) if tb == N else (n, k)), ldb))
            ci = column(before[i], m, n, ldc).astype(np.longdouble)
            weight = abs(alpha) * (np.abs(ai) @ np.abs(bi)) + abs(beta) * np.abs(ci)
            bounded(column(c[i], m, n, ldc), alpha * (ai @ bi) + beta * ci, weight, k, dtype)


def test_misuse_has_a_status(blas):
    x = np.ones((4, 4), np.float32)
    for ta, tb, m, n, k, lda, ldb, ldc in (
        (N, N, -1, 4, 4, 4, 4, 4),
        (N, N, 4, -1, 4, 4, 4, 4),
        (N, N, 4, 4, -1, 4, 4, 4),
        (N, N, 4, 2, 2, 3, 2, 4),
        (T, N, 2, 2, 4, 3, 4, 2),
        (N, N, 2, 2, 4, 2, 3, 2),
        (N, T, 2, 4, 2, 2, 3, 2),
        (N, N, 4, 2, 2, 4, 2, 3),
        (N, N, 0, 2, 2, 0, 2, 1),
        (7, N, 2, 2, 2, 4, 4, 4),
        (N, 9, 2, 2, 2, 4, 4, 4),
    ):
        assert blas.sgemm(ta, tb, m, n, k, 1.0, x, lda, x, ldb, 0.0, x, ldc) == INVALID_VALUE
    assert blas.s_strided(N, N, 2, 2, 2, 1.0, x, 2, 4, x, 2, 4, 0.0, x, 2, 4, -1) == INVALID_VALUE
    assert blas.s_batched(N, N, 2, 2, 2, 1.0, x, 1, 4, x, 2, 4, 0.0, x, 2, 4, 1) == INVALID_VALUE
    assert (x == 1).all()


def test_a_wrong_leading_dimension_is_a_fault_at_the_argument(blas):
    a, c = np.ones(12, np.float32), np.ones(12, np.float32)
    for ta, lda, ldb, ldc in ((N, 5, 4, 3), (T, 5, 4, 3), (N, 3, 5, 3), (N, 3, 4, 5)):
        with pytest.raises(wb.KernelFault, match="of the buffer, which has 12 elements"):
            blas.sgemm(ta, N, 3, 3, 4, 1.0, a, lda, a, ldb, 0.0, c, ldc)
    # None of them has written anything, and what fits just so is right.
    assert (c == 1).all()
    assert blas.sgemm(N, N, 3, 3, 4, 1.0, a, 3, a, 4, 0.0, c, 3) == SUCCESS
    assert (c[:9] == 4).all() and (c[9:] == 1).all()
    with pytest.raises(wb.KernelFault, match="of the buffer"):
        blas.s_strided(N, N, 2, 2, 2, 1.0, a, 2, 5, a, 2, 4, 0.0, c, 2, 4, 3)
    with pytest.raises(wb.KernelFault, match="of the buffer"):
        blas.s_batched(N, N, 2, 2, 2, 1.0, a, 2, 5, a, 2, 4, 0.0, c, 2, 4, 3)


def test_read_only_memory_is_not_written(blas):
    a, c = np.ones(4, np.float32), np.ones(4, np.float32)
    c.flags.writeable = False
    with pytest.raises(RuntimeError, match="read"):
        blas.sgemm(N, N, 2, 2, 2, 1.0, a, 2, a, 2, 0.0, c, 2)
    assert (c == 1).all()


TYPED = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cublas_v2.h>

static cudaDataType_t type_of(const torch::Tensor& x) {
    switch (x.scalar_type()) {
        case torch::kHalf: return CUDA_R_16F;
        case torch::kBFloat16: return CUDA_R_16BF;
        case torch::kFloat: return CUDA_R_32F;
        case torch::kDouble: return CUDA_R_64F;
        case torch::kChar: return CUDA_R_8I;
        default: return CUDA_R_32I;
    }
}
// C = alpha A B + beta C, of rows; bfloat16 comes and goes as float.
torch::Tensor gemm(torch::Tensor a, torch::Tensor b, torch::Tensor c, double alpha, double beta, int compute, bool narrow, bool narrow_result, bool old, int batch) {
    if (narrow) { a = a.to(torch::kBFloat16); b = b.to(torch::kBFloat16); }
    if (narrow_result) c = c.to(torch::kBFloat16);
    else c = c.clone();
    int m = a.size(-2), k = a.size(-1), n = b.size(-1);
    float alpha_f = alpha, beta_f = beta;
    int alpha_i = alpha, beta_i = beta;
    __half alpha_h = __float2half(alpha_f), beta_h = __float2half(beta_f);
    const void *one = &alpha_f, *other = &beta_f;
    if (compute == CUBLAS_COMPUTE_64F || old && compute == CUDA_R_64F) { one = &alpha; other = &beta; }
    if (compute == CUBLAS_COMPUTE_32I || old && compute == CUDA_R_32I) { one = &alpha_i; other = &beta_i; }
    if (compute == CUBLAS_COMPUTE_16F || old && compute == CUDA_R_16F) { one = &alpha_h; other = &beta_h; }
    cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
    cublasStatus_t status;
    if (batch > 0) {
        status = cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, one, b.data_ptr(), type_of(b), n, (long long)k * n, a.data_ptr(),
                                            type_of(a), k, (long long)m * k, other, c.data_ptr(), type_of(c), n, (long long)m * n, batch,
                                            (cublasComputeType_t)compute, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
    } else if (old) {
        status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, one, b.data_ptr(), type_of(b), n, a.data_ptr(), type_of(a), k, other,
                              c.data_ptr(), type_of(c), n, (cudaDataType)compute, CUBLAS_GEMM_DFALT);
    } else {
        status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, one, b.data_ptr(), type_of(b), n, a.data_ptr(), type_of(a), k, other,
                              c.data_ptr(), type_of(c), n, (cublasComputeType_t)compute, CUBLAS_GEMM_DEFAULT);
    }
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) throw std::invalid_argument(cublasGetStatusName(status));
    TORCH_CUDABLAS_CHECK(status);
    return c.scalar_type() == torch::kBFloat16 ? c.to(torch::kFloat) : c;
}
torch::Tensor sgemm_ex(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty({a.size(0), b.size(1)}, a.options().dtype(torch::kFloat));
    int m = a.size(0), k = a.size(1), n = b.size(1);
    float alpha = 1.0f, beta = 0.0f;
    TORCH_CUDABLAS_CHECK(cublasSgemmEx(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b.data_ptr(), type_of(b), n,
                                       a.data_ptr(), type_of(a), k, &beta, c.data_ptr(), type_of(c), n));
    return c;
}
// All of the batch through pointers.
torch::Tensor batched_ex(torch::Tensor a, torch::Tensor b) {
    int batch = a.size(0), m = a.size(1), k = a.size(2), n = b.size(2);
    auto c = torch::empty({batch, m, n}, a.options().dtype(torch::kFloat));
    std::vector<const void*> as, bs;
    std::vector<void*> cs;
    for (int i = 0; i < batch; ++i) {
        as.push_back(a[i].data_ptr());
        bs.push_back(b[i].data_ptr());
        cs.push_back(c[i].data_ptr());
    }
    float alpha = 1.0f, beta = 0.0f;
    TORCH_CUDABLAS_CHECK(cublasGemmBatchedEx(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, bs.data(), type_of(b), n,
                                             as.data(), type_of(a), k, &beta, cs.data(), CUDA_R_32F, n, batch, CUBLAS_COMPUTE_32F,
                                             CUBLAS_GEMM_DEFAULT));
    return c;
}
"""

COMPUTE = {"16F": 64, "32F": 68, "64F": 70, "32I": 72, "TF32": 77}


@pytest.fixture(scope="module")
def typed():
    return module(TYPED, "gemm", "sgemm_ex", "batched_ex")


def bfloat16(x):
    """The nearest, ties to even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def test_products_with_types(typed):
    rng = np.random.default_rng(3)
    m, k, n = 9, 33, 6
    a, b, c = (rng.normal(size=s) for s in ((m, k), (k, n), (m, n)))
    for given, result, compute, narrow, narrow_result in (
        ("float16", "float16", "32F", False, False),
        ("float16", "float32", "32F", False, False),
        ("float16", "float16", "16F", False, False),
        ("float32", "float32", "32F", False, False),
        ("float32", "float32", "TF32", False, False),
        ("float64", "float64", "64F", False, False),
        ("float32", "float32", "32F", True, False),
        ("float32", "float32", "32F", True, True),
    ):
        for (alpha, beta), old, batch in itertools.product(((1, 0), (0.5, -2)), (False, True), (0, 1)):
            if old and compute == "TF32":
                continue
            number = {"16F": 2, "32F": 0, "64F": 1}[compute] if old and not batch else COMPUTE[compute]
            x, y, z = a.astype(given), b.astype(given), c.astype(result)
            got = typed.gemm(x, y, z, alpha, beta, number, narrow, narrow_result, old and not batch, batch)
            x, y = (bfloat16(x), bfloat16(y)) if narrow else (x, y)
            x, y, z = (v.astype(np.longdouble) for v in (x, y, bfloat16(z) if narrow_result else z))
            exact = alpha * (x @ y) + beta * z
            weight = abs(alpha) * (np.abs(x) @ np.abs(y)) + abs(beta) * np.abs(z)
            if narrow_result:
                # Eight bits, rounded from `float`.
                sums = gamma(k + 3, 2.0**-24) * weight
                assert (np.abs(got - exact) <= sums + 2.0**-8 * (np.abs(exact) + sums)).all()
            else:
                bounded(got, exact, weight, k, result)


def test_a_batch_of_16_bit_floats(typed):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(4, 5, 70)).astype(np.float16), rng.normal(size=(4, 70, 3)).astype(np.float16)
    c = rng.normal(size=(4, 5, 3)).astype(np.float16)
    got = typed.gemm(a, b, c, 0.5, 2, COMPUTE["32F"], False, False, False, 4)
    x, y, z = (v.astype(np.longdouble) for v in (a, b, c))
    bounded(got, 0.5 * (x @ y) + 2 * z, 0.5 * (np.abs(x) @ np.abs(y)) + 2 * np.abs(z), 70, "float16")
    got = typed.batched_ex(a, b)
    bounded(got, x @ y, np.abs(x) @ np.abs(y), 70, "float32")


def test_sums_of_halves_are_floats(typed):
    # In halves 2048 + 1 is 2048, and 300 * 300 is infinite.
    one = np.ones((1, 4096), np.float16)
    assert typed.gemm(one, one.T.copy(), np.zeros((1, 1), np.float16), 1, 0, COMPUTE["32F"], False, False, False, 0) == 4096
    large = np.full((1, 2), 300, np.float16)
    assert typed.gemm(large, np.float16([[300], [-300]]), np.zeros((1, 1), np.float16), 1, 0, COMPUTE["32F"], False, False, False, 0) == 0
    assert typed.gemm(large, np.float16([[300], [300]]), np.zeros((1, 1), np.float16), 1, 0, COMPUTE["32F"], False, False, False, 0) == np.inf


def test_products_of_bytes_are_exact(typed):
    rng = np.random.default_rng(5)
    a, b = rng.integers(-128, 128, (5, 300)).astype(np.int8), rng.integers(-128, 128, (300, 8)).astype(np.int8)
    c = rng.integers(-1000, 1000, (5, 8)).astype(np.int32)
    exact = a.astype(np.int64) @ b
    np.testing.assert_array_equal(typed.gemm(a, b, c, 1, 0, COMPUTE["32I"], False, False, False, 0), exact)
    np.testing.assert_array_equal(typed.gemm(a, b, c, 2, -3, COMPUTE["32I"], False, False, False, 0), 2 * exact - 3 * c)
    # Below 2^24 floats are exact as well.
    np.testing.assert_array_equal(typed.sgemm_ex(a, b), exact)


def test_types_that_cublas_does_not_have(typed):
    half, single, double = (np.ones((4, 4), t) for t in (np.float16, np.float32, np.float64))
    for a, b, c, compute in (
        (half, single, single, "32F"),
        (single, single, half, "32F"),
        (double, double, double, "32F"),
        (single, single, single, "64F"),
        (single, single, single, "16F"),
        (half, half, half, "64F"),
        (half, half, single, "TF32"),
    ):
        with pytest.raises(ValueError, match="CUBLAS_STATUS_NOT_SUPPORTED"):
            typed.gemm(a, b, c, 1, 0, COMPUTE[compute], False, False, False, 0)
    with pytest.raises(ValueError, match="CUBLAS_STATUS_NOT_SUPPORTED"):
        typed.gemm(half, half, half, 1, 0, 1234, False, False, False, 0)


def test_handles():
    m = module(
        """
        #include <torch/extension.h>
        #include <cublas_v2.h>
        static cublasHandle_t kept = nullptr;
        void open() { if (cublasCreate(&kept) != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("no handle"); }
        int close() { return cublasDestroy(kept); }
        int product(torch::Tensor a, bool null) {
            float alpha = 2, beta = 0;
            float* x = a.data_ptr<float>();
            return cublasSgemm(null ? nullptr : kept, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, x, 1, x, 1, &beta, x, 1);
        }
        std::vector<int> without() {
            cublasHandle_t none = nullptr;
            int value;
            float x = 1;
            cudaStream_t stream;
            return {cublasDestroy(none), cublasSetStream(none, 0), cublasGetStream(none, &stream), cublasSetMathMode(none, CUBLAS_DEFAULT_MATH),
                    cublasSscal(none, 1, &x, &x, 1), cublasSdot(none, 1, &x, 1, &x, 1, &x), cublasSgemv(none, CUBLAS_OP_N, 1, 1, &x, &x, 1, &x, 1, &x, &x, 1),
                    cublasSgeam(none, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, &x, &x, 1, &x, &x, 1, &x, 1), cublasSetWorkspace(none, nullptr, 0),
                    cublasStrsm(none, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 1, 1, &x, &x, 1, &x, 1)};
        }
        int scalars_missing(torch::Tensor a) {
            float* x = a.data_ptr<float>();
            return cublasSgemm(kept, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, nullptr, x, 1, x, 1, nullptr, x, 1);
        }
        std::vector<int> settings() {
            cublasHandle_t handle;
            cublasMath_t math;
            cublasPointerMode_t mode;
            int version;
            cudaStream_t stream;
            cudaStreamCreate(&stream);
            std::vector<int> seen;
            cublasCreate_v2(&handle);
            seen.push_back(cublasSetStream(handle, stream));
            seen.push_back(cublasSetWorkspace(handle, nullptr, 0));
            cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
            cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
            cublasGetMathMode(handle, &math);
            cublasGetPointerMode(handle, &mode);
            cublasGetVersion(handle, &version);
            seen.push_back(math == CUBLAS_TF32_TENSOR_OP_MATH);
            seen.push_back(mode == CUBLAS_POINTER_MODE_DEVICE);
            seen.push_back(version >= 110000);
            cublasDestroy_v2(handle);
            return seen;
        }
        // Scalars and results in memory of the device.
        float on_device(torch::Tensor x) {
            cublasHandle_t handle;
            cublasCreate(&handle);
            cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
            float *numbers, host[2] = {3, 0};
            cudaMalloc(&numbers, 2 * sizeof(float));
            cudaMemcpy(numbers, host, sizeof(host), cudaMemcpyHostToDevice);
            cublasSscal(handle, x.numel(), numbers, x.data_ptr<float>(), 1);
            cublasSasum(handle, x.numel(), x.data_ptr<float>(), 1, numbers + 1);
            cudaMemcpy(host, numbers, sizeof(host), cudaMemcpyDeviceToHost);
            cudaFree(numbers);
            cublasDestroy(handle);
            return host[1];
        }
        // Handles that nobody destroys.
        int many(int n) {
            cublasHandle_t handle = nullptr, before = nullptr;
            int same = 0;
            for (int i = 0; i < n; ++i) {
                before = handle;
                if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return -1;
                same += handle == before;
            }
            return same;
        }
        std::string name(int status) { return std::string(cublasGetStatusName((cublasStatus_t)status)) + ": " + cublasGetStatusString((cublasStatus_t)status); }
        """,
        "open", "close", "product", "without", "scalars_missing", "settings", "on_device", "many", "name",
    )
    x = np.full(1, 3, np.float32)
    assert m.product(x, False) == NOT_INITIALIZED
    m.open()
    # A handle is there in the next call, too.
    assert m.product(x, False) == SUCCESS and x[0] == 18
    assert m.product(x, True) == NOT_INITIALIZED and m.scalars_missing(x) == INVALID_VALUE
    assert m.close() == SUCCESS and m.close() == NOT_INITIALIZED
    assert m.product(x, False) == NOT_INITIALIZED and x[0] == 18
    assert m.without() == [NOT_INITIALIZED] * 10
    assert m.settings() == [0, 0, 1, 1, 1]
    assert m.on_device(np.float32([1, -2, 4])) == 21
    assert m.many(1000) == 0
    assert m.name(0) == "CUBLAS_STATUS_SUCCESS: success"
    assert m.name(7).startswith("CUBLAS_STATUS_INVALID_VALUE: ") and m.name(99).startswith("unrec")


def test_a_status_in_a_message_is_a_number(capsys):
    m = module(
        """
        #include <torch/extension.h>
        #include <cublas_v2.h>
        #include <iostream>
        #include <sstream>
        #define CHECK(call) do { cublasStatus_t s_ = (call); if (s_ != CUBLAS_STATUS_SUCCESS) { std::cerr << "cuBLAS error: " << s_ << std::endl; } } while (0)
        cublasStatus_t status(float x) { return cublasSscal(nullptr, 1, &x, &x, 1); }
        std::string text(int version) {
            std::ostringstream out;
            CHECK(status(1));
            out << status(2) << ' ' << std::to_string(CUBLAS_STATUS_NOT_SUPPORTED);
            return out.str();
        }
        void thrown() {
            float x = 1;
            auto status = cublasSscal(nullptr, 1, &x, &x, 1);
            TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, "cublasSscal failed with ", status, ", of ", CUBLAS_VER_MAJOR);
        }
        """,
        "status", "text", "thrown",
    )
    assert m.status(1.0) == NOT_INITIALIZED and m.text(0) == "1 15"
    assert "cuBLAS error: 1\n" in "".join(capsys.readouterr())
    with pytest.raises(RuntimeError, match="failed with 1, of 1[0-9]"):
        m.thrown()


def test_copies_to_and_from_the_device():
    m = module(
        """
        #include <torch/extension.h>
        #include <cublas_v2.h>
        torch::Tensor there_and_back(torch::Tensor a, int ld, int step) {
            int rows = a.size(1), columns = a.size(0);
            float* device;
            cudaMalloc((void**)&device, ld * columns * sizeof(float));
            cudaMemset(device, 0, ld * columns * sizeof(float));
            cublasSetMatrix(rows, columns, sizeof(float), a.data_ptr<float>(), rows, device, ld);
            auto row = torch::zeros({columns}), back = torch::zeros({columns, rows + 1});
            cublasGetVector(columns, sizeof(float), device + 1, ld, row.data_ptr<float>(), 1);
            cublasSetVector(columns, sizeof(float), row.data_ptr<float>(), 1, device, step);
            cublasGetMatrix(rows, columns, sizeof(float), device, ld, back.data_ptr<float>(), rows + 1);
            cudaFree(device);
            return back;
        }
        int wrong() { char x[4]; return cublasSetMatrix(4, 1, 1, x, 3, x, 4) * 100 + cublasSetVector(4, 1, x, 0, x, 1); }
        """,
        "there_and_back", "wrong",
    )
    a = np.arange(12, dtype=np.float32).reshape(4, 3)
    expected = np.zeros((4, 4), np.float32)
    expected[:, :3] = a
    expected[:, 0] = a[:, 1]
    np.testing.assert_array_equal(m.there_and_back(a, 5, 5), expected)
    assert m.wrong() == 707


def test_torchs_interface():
    m = module(
        """
        #include <torch/extension.h>
        #include <ATen/cuda/CUDAContext.h>
        #include <ATen/cuda/CUDABlas.h>
        template <typename T> static torch::Tensor product(const torch::Tensor& a, const torch::Tensor& b) {
            auto c = torch::empty({a.size(0), b.size(1)}, a.options());
            int64_t m = a.size(0), k = a.size(1), n = b.size(1);
            at::cuda::blas::gemm<T>('n', 'N', n, m, k, 1.0f, b.data_ptr<T>(), n, a.data_ptr<T>(), k, 0.0f, c.data_ptr<T>(), n);
            return c;
        }
        torch::Tensor gemm(torch::Tensor a, torch::Tensor b) {
            auto c = torch::Tensor();
            AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "gemm", [&] { c = product<scalar_t>(a, b); });
            return c;
        }
        torch::Tensor gemm_bf16(torch::Tensor a, torch::Tensor b) {
            return product<at::BFloat16>(a.to(torch::kBFloat16), b.to(torch::kBFloat16)).to(torch::kFloat);
        }
        torch::Tensor gemv(torch::Tensor a, torch::Tensor x) {
            auto y = torch::empty({a.size(0)}, a.options());
            at::cuda::blas::gemv<float>('t', a.size(1), a.size(0), 2.0f, a.data_ptr<float>(), a.size(1), x.data_ptr<float>(), 1, 0.0f, y.data_ptr<float>(), 1);
            return y;
        }
        torch::Tensor bgemm(torch::Tensor a, torch::Tensor b) {
            auto c = torch::empty({a.size(0), a.size(1), b.size(2)}, a.options());
            int64_t m = a.size(1), k = a.size(2), n = b.size(2);
            at::cuda::blas::bgemm<float>('n', 'n', n, m, k, 1.0f, b.data_ptr<float>(), n, k * n, a.data_ptr<float>(), k, m * k, 0.0f, c.data_ptr<float>(), n, m * n, a.size(0));
            return c;
        }
        void fails() {
            cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
            TORCH_CUDABLAS_CHECK(cublasSetStream(handle, at::cuda::getCurrentCUDAStream()));
            float one = 1;
            TORCH_CUDABLAS_CHECK(cublasSscal(nullptr, 1, &one, &one, 1));
        }
        void wrong_letter() { float x = 1; at::cuda::blas::gemm<float>('x', 'n', 1, 1, 1, 1.f, &x, 1, &x, 1, 0.f, &x, 1); }
        """,
        "gemm", "gemm_bf16", "gemv", "bgemm", "fails", "wrong_letter",
    )
    rng = np.random.default_rng(11)
    a, b = rng.normal(size=(5, 40)), rng.normal(size=(40, 7))
    for dtype in LETTERS:
        x, y = a.astype(dtype), b.astype(dtype)
        wide = x.astype(np.longdouble), y.astype(np.longdouble)
        bounded(m.gemm(x, y), wide[0] @ wide[1], np.abs(wide[0]) @ np.abs(wide[1]), 40, dtype)
    x, y = bfloat16(a).astype(np.float64), bfloat16(b).astype(np.float64)
    sums = gamma(43, 2.0**-24) * (np.abs(x) @ np.abs(y))
    assert (np.abs(m.gemm_bf16(a.astype(np.float32), b.astype(np.float32)) - x @ y) <= sums + 2.0**-8 * (np.abs(x @ y) + sums)).all()
    x, v = a.astype(np.float32), b[:, 0].astype(np.float32)
    bounded(m.gemv(x, v), 2 * x.astype(np.longdouble) @ v, 2 * np.abs(x.astype(np.longdouble)) @ np.abs(v), 40, "float32")
    x, y = rng.normal(size=(3, 4, 5)).astype(np.float32), rng.normal(size=(3, 5, 2)).astype(np.float32)
    bounded(m.bgemm(x, y), x.astype(np.longdouble) @ y, np.abs(x.astype(np.longdouble)) @ np.abs(y), 5, "float32")
    with pytest.raises(RuntimeError, match=r"CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasSscal\("):
        m.fails()
    with pytest.raises(RuntimeError, match="trans"):
        m.wrong_letter()


ROW_MAJOR = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <stdexcept>
#include <string>

#define CUBLAS_CHECK(call)                                                                              \\
    do {                                                                                                \\
        cublasStatus_t status_ = (call);                                                                \\
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                         \\
            throw std::runtime_error(std::string("cuBLAS error ") + std::to_string(static_cast<int>(status_)) + " at line " + std::to_string(__LINE__)); \\
        }                                                                                               \\
    } while (0)

torch::Tensor matmul_cuda(torch::Tensor A, torch::Tensor B) {
    TORCH_CHECK(A.is_cuda() && B.is_cuda(), "tensors must be on the GPU");
    TORCH_CHECK(A.dim() == 2 && B.dim() == 2 && A.size(1) == B.size(0), "shapes do not fit");
    A = A.contiguous();
    B = B.contiguous();
    const int M = A.size(0), K = A.size(1), N = B.size(1);
    auto C = torch::empty({M, N}, A.options());

    cublasHandle_t handle;
    CUBLAS_CHECK(cublasCreate(&handle));
    CUBLAS_CHECK(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    const float alpha = 1.0f, beta = 0.0f;
    // Row-major C = A B is column-major C^T = B^T A^T.
    CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &alpha, B.data_ptr<float>(), N, A.data_ptr<float>(), K, &beta,
                             C.data_ptr<float>(), N));
    CUBLAS_CHECK(cublasDestroy(handle));
    return C;
}
"""

BMM = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cublas_v2.h>

// Scores of attention: scale * Q K^T, for each head.
torch::Tensor scores(torch::Tensor q, torch::Tensor k, double scale) {
    auto batch = q.size(0) * q.size(1);
    int rows = q.size(2), columns = k.size(2), depth = q.size(3);
    auto out = torch::zeros({q.size(0), q.size(1), rows, columns}, q.options());
    static cublasHandle_t handle = [] {
        cublasHandle_t made;
        TORCH_CUDABLAS_CHECK(cublasCreate(&made));
        return made;
    }();
    TORCH_CUDABLAS_CHECK(cublasSetStream(handle, at::cuda::getCurrentCUDAStream()));
    float alpha = static_cast<float>(scale), beta = 0.f;
    TORCH_CUDABLAS_CHECK(cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, columns, rows, depth, &alpha, k.data_ptr<float>(), depth,
                                                   static_cast<long long>(columns) * depth, q.data_ptr<float>(), depth,
                                                   static_cast<long long>(rows) * depth, &beta, out.data_ptr<float>(), columns,
                                                   static_cast<long long>(rows) * columns, static_cast<int>(batch)));
    return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scores", &scores, "attention scores"); }
"""

LINEAR = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>
#include <cublas_v2.h>

__global__ void bias_relu(__half* out, const __half* bias, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) return;
    float x = __half2float(out[i]) + __half2float(bias[i % columns]);
    out[i] = __float2half(x > 0.f ? x : 0.f);
}

torch::Tensor linear_relu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    TORCH_CHECK(x.scalar_type() == torch::kHalf, "half is expected");
    const int tokens = x.size(0), in = x.size(1), out = weight.size(0);
    auto y = torch::empty({tokens, out}, x.options());
    cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
    auto stream = at::cuda::getCurrentCUDAStream();
    cublasSetStream(handle, stream);
    const float alpha = 1.f, beta = 0.f;
    // The weight lies as (out, in) in rows, which is its transpose in columns.
    cublasStatus_t status = cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, out, tokens, in, &alpha, weight.data_ptr<at::Half>(), CUDA_R_16F, in,
                                         x.data_ptr<at::Half>(), CUDA_R_16F, in, &beta, y.data_ptr<at::Half>(), CUDA_R_16F, out, CUBLAS_COMPUTE_32F,
                                         CUBLAS_GEMM_DEFAULT_TENSOR_OP);
    TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, "cublasGemmEx failed: ", cublasGetStatusString(status));
    const int threads = 256, count = tokens * out;
    bias_relu<<<(count + threads - 1) / threads, threads, 0, stream>>>(reinterpret_cast<__half*>(y.data_ptr<at::Half>()),
                                                                       reinterpret_cast<const __half*>(bias.data_ptr<at::Half>()), tokens, out);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""


def test_a_product_of_rows_by_swapped_arguments():
    m = module(ROW_MAJOR, "matmul_cuda")
    rng = np.random.default_rng(12)
    for shape in ((1, 1, 1), (17, 33, 9), (64, 128, 32)):
        a, b = rng.normal(size=shape[:2]).astype(np.float32), rng.normal(size=shape[1:]).astype(np.float32)
        wide = a.astype(np.longdouble), b.astype(np.longdouble)
        bounded(m.matmul_cuda(a, b), wide[0] @ wide[1], np.abs(wide[0]) @ np.abs(wide[1]), shape[1], "float32")
    with pytest.raises(RuntimeError, match="do not fit"):
        m.matmul_cuda(a, a)
    # The leading dimension of a matrix without columns is 0, which cuBLAS refuses.
    with pytest.raises(RuntimeError, match="cuBLAS error 7"):
        m.matmul_cuda(np.ones((2, 3), np.float32), np.ones((3, 0), np.float32))


def test_attention_scores_in_batches():
    m = module(BMM)
    rng = np.random.default_rng(13)
    q, k = rng.normal(size=(2, 3, 5, 8)).astype(np.float32), rng.normal(size=(2, 3, 7, 8)).astype(np.float32)
    # A scale that `float` holds.
    for _ in range(2):
        x, y = q.astype(np.longdouble), k.astype(np.longdouble).swapaxes(-1, -2)
        bounded(m.scores(q, k, 0.375), 0.375 * (x @ y), 0.375 * (np.abs(x) @ np.abs(y)), 8, "float32")


def test_a_linear_layer_of_halves():
    m = module(LINEAR, "linear_relu")
    rng = np.random.default_rng(14)
    x, w, b = (rng.normal(size=s).astype(np.float16) for s in ((9, 65), (12, 65), (12,)))
    exact = x.astype(np.longdouble) @ w.astype(np.longdouble).T
    weight = np.abs(x.astype(np.longdouble)) @ np.abs(w.astype(np.longdouble)).T
    # The product is stored as half, then the sum is: two roundings to 11 bits.
    u = 2.0**-11
    sums = gamma(65, 2.0**-24) * weight
    limit = (sums + u * (np.abs(exact) + sums)) * (1 + u) + u * np.abs(exact + b) + 2.0**-24
    assert (np.abs(m.linear_relu(x, w, b) - np.maximum(exact + b, 0)) <= limit).all()
