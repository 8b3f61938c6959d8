"""cuBLAS's vectors and triangles from host code, against NumPy in a wider type; bounds of errors as `blas.py` has them."""

import itertools

import numpy as np
import pytest
from blas import C, INVALID_VALUE, LETTERS, N, PRECISION, SUCCESS, T, bounded, gamma, matrix, module, of

import workbench as wb

VECTORS = """
#include <torch/extension.h>
#include <cublas_v2.h>
static cublasHandle_t handle_of() {
    static cublasHandle_t handle = nullptr;
    if (!handle) cublasCreate(&handle);
    return handle;
}
#define ALL(T, S, s)                                                                                                                     \\
    int s##axpy(int n, T alpha, torch::Tensor x, int incx, torch::Tensor y, int incy) {                                                  \\
        return cublas##S##axpy(handle_of(), n, &alpha, x.data_ptr<T>(), incx, y.data_ptr<T>(), incy);                                    \\
    }                                                                                                                                    \\
    double s##dot(int n, torch::Tensor x, int incx, torch::Tensor y, int incy) {                                                         \\
        T result = -1;                                                                                                                   \\
        int status = cublas##S##dot(handle_of(), n, x.data_ptr<T>(), incx, y.data_ptr<T>(), incy, &result);                              \\
        return status == 0 ? result : -1000 - status;                                                                                    \\
    }                                                                                                                                    \\
    std::vector<double> s##norms(int n, torch::Tensor x, int incx) {                                                                     \\
        T norm = -1, sum = -1;                                                                                                           \\
        int most = -1, least = -1;                                                                                                       \\
        cublas##S##nrm2(handle_of(), n, x.data_ptr<T>(), incx, &norm);                                                                   \\
        cublas##S##asum(handle_of(), n, x.data_ptr<T>(), incx, &sum);                                                                    \\
        cublasI##s##amax(handle_of(), n, x.data_ptr<T>(), incx, &most);                                                                  \\
        cublasI##s##amin(handle_of(), n, x.data_ptr<T>(), incx, &least);                                                                 \\
        return {norm, sum, (double)most, (double)least};                                                                                 \\
    }                                                                                                                                    \\
    int s##scal(int n, T alpha, torch::Tensor x, int incx) { return cublas##S##scal(handle_of(), n, &alpha, x.data_ptr<T>(), incx); }    \\
    int s##copy(int n, torch::Tensor x, int incx, torch::Tensor y, int incy) {                                                           \\
        return cublas##S##copy(handle_of(), n, x.data_ptr<T>(), incx, y.data_ptr<T>(), incy);                                            \\
    }                                                                                                                                    \\
    int s##swap(int n, torch::Tensor x, int incx, torch::Tensor y, int incy) {                                                           \\
        return cublas##S##swap(handle_of(), n, x.data_ptr<T>(), incx, y.data_ptr<T>(), incy);                                            \\
    }                                                                                                                                    \\
    int s##gemv(int op, int m, int n, T alpha, torch::Tensor a, int lda, torch::Tensor x, int incx, T beta, torch::Tensor y, int incy) { \\
        return cublas##S##gemv(handle_of(), (cublasOperation_t)op, m, n, &alpha, a.data_ptr<T>(), lda, x.data_ptr<T>(), incx, &beta,     \\
                               y.data_ptr<T>(), incy);                                                                                   \\
    }                                                                                                                                    \\
    int s##ger(int m, int n, T alpha, torch::Tensor x, int incx, torch::Tensor y, int incy, torch::Tensor a, int lda) {                  \\
        return cublas##S##ger(handle_of(), m, n, &alpha, x.data_ptr<T>(), incx, y.data_ptr<T>(), incy, a.data_ptr<T>(), lda);            \\
    }                                                                                                                                    \\
    int s##geam(int ta, int tb, int m, int n, T alpha, torch::Tensor a, int lda, T beta, torch::Tensor b, int ldb, torch::Tensor c, int ldc) { \\
        return cublas##S##geam(handle_of(), (cublasOperation_t)ta, (cublasOperation_t)tb, m, n, &alpha, a.data_ptr<T>(), lda, &beta,     \\
                               b.data_ptr<T>(), ldb, c.data_ptr<T>(), ldc);                                                              \\
    }                                                                                                                                    \\
    int s##dgmm(int side, int m, int n, torch::Tensor a, int lda, torch::Tensor x, int incx, torch::Tensor c, int ldc) {                 \\
        return cublas##S##dgmm(handle_of(), (cublasSideMode_t)side, m, n, a.data_ptr<T>(), lda, x.data_ptr<T>(), incx, c.data_ptr<T>(), ldc); \\
    }                                                                                                                                    \\
    int s##syrk(int uplo, int op, int n, int k, T alpha, torch::Tensor a, int lda, T beta, torch::Tensor c, int ldc) {                   \\
        return cublas##S##syrk(handle_of(), (cublasFillMode_t)uplo, (cublasOperation_t)op, n, k, &alpha, a.data_ptr<T>(), lda, &beta,    \\
                               c.data_ptr<T>(), ldc);                                                                                    \\
    }                                                                                                                                    \\
    int s##symm(int side, int uplo, int m, int n, T alpha, torch::Tensor a, int lda, torch::Tensor b, int ldb, T beta, torch::Tensor c, int ldc) { \\
        return cublas##S##symm(handle_of(), (cublasSideMode_t)side, (cublasFillMode_t)uplo, m, n, &alpha, a.data_ptr<T>(), lda,          \\
                               b.data_ptr<T>(), ldb, &beta, c.data_ptr<T>(), ldc);                                                       \\
    }                                                                                                                                    \\
    int s##trmm(int side, int uplo, int op, int diag, int m, int n, T alpha, torch::Tensor a, int lda, torch::Tensor b, int ldb, torch::Tensor c, int ldc) { \\
        return cublas##S##trmm(handle_of(), (cublasSideMode_t)side, (cublasFillMode_t)uplo, (cublasOperation_t)op, (cublasDiagType_t)diag, \\
                               m, n, &alpha, a.data_ptr<T>(), lda, b.data_ptr<T>(), ldb, c.data_ptr<T>(), ldc);                          \\
    }                                                                                                                                    \\
    int s##trsm(int side, int uplo, int op, int diag, int m, int n, T alpha, torch::Tensor a, int lda, torch::Tensor b, int ldb) {       \\
        return cublas##S##trsm(handle_of(), (cublasSideMode_t)side, (cublasFillMode_t)uplo, (cublasOperation_t)op, (cublasDiagType_t)diag, \\
                               m, n, &alpha, a.data_ptr<T>(), lda, b.data_ptr<T>(), ldb);                                                \\
    }
ALL(float, S, s)
ALL(double, D, d)
"""
VECTOR_NAMES = "axpy dot norms scal copy swap gemv ger geam dgmm syrk symm trmm trsm".split()
REAL = ["float32", "float64"]


@pytest.fixture(scope="module")
def vectors():
    return module(VECTORS, *[letter + name for letter in "sd" for name in VECTOR_NAMES])


def spaced(rng, n, step, dtype):
    """A buffer and the vector in it, first element first."""
    buffer = np.full((n - 1) * max(abs(step), 1) + 1, np.nan, dtype)
    view = buffer[:: abs(step)] if step > 0 else buffer[:: abs(step)][::-1]
    view[...] = rng.normal(size=n)
    return buffer, view


@pytest.mark.parametrize("dtype", REAL)
def test_vectors(vectors, dtype):
    f = lambda name: getattr(vectors, LETTERS[dtype] + name)
    rng = np.random.default_rng(6)
    for n, sx, sy in ((1, 1, 1), (7, 1, 1), (10, 2, 3), (10, -1, 2), (9, 3, -2), (9, -2, -2)):
        xb, x = spaced(rng, n, sx, dtype)
        yb, y = spaced(rng, n, sy, dtype)
        wide = lambda v: v.astype(np.longdouble)
        exact, weight = wide(y) - 1.5 * wide(x), np.abs(wide(y)) + 1.5 * np.abs(wide(x))
        gaps = np.isnan(yb)
        assert f("axpy")(n, -1.5, xb, sx, yb, sy) == SUCCESS
        bounded(y, exact, weight, 1, dtype)
        assert (np.isnan(yb) == gaps).all()
        bounded(np.array(f("dot")(n, xb, sx, yb, sy), dtype), wide(x) @ wide(y), np.abs(wide(x)) @ np.abs(wide(y)), n, dtype)
        norm, total, most, least = f("norms")(n, xb, abs(sx))
        forwards = xb[:: abs(sx)]
        # Relative: the squares are all positive, and a square root halves the error.
        bounded(np.array(norm, dtype), np.sqrt((wide(x) ** 2).sum()), np.sqrt((wide(x) ** 2).sum()), n, dtype)
        bounded(np.array(total, dtype), np.abs(wide(x)).sum(), np.abs(wide(x)).sum(), n, dtype)
        assert (most, least) == (np.abs(forwards).argmax() + 1, np.abs(forwards).argmin() + 1)
        before_x, before_y = x.copy(), y.copy()
        assert f("swap")(n, xb, sx, yb, sy) == SUCCESS
        np.testing.assert_array_equal((x, y), (before_y, before_x))
        assert f("copy")(n, xb, sx, yb, sy) == SUCCESS
        np.testing.assert_array_equal(y, x)
        assert f("scal")(n, 2.5, xb, abs(sx)) == SUCCESS
        np.testing.assert_array_equal(x, y * np.dtype(dtype).type(2.5))
    # Nothing to do; steps that are not positive count as that where order does not matter.
    x = np.ones(3, dtype)
    assert f("axpy")(0, 1.0, x, 1, x, 1) == f("scal")(3, 2.0, x, 0) == f("swap")(-1, x, 1, x, 1) == SUCCESS
    assert f("norms")(0, x, 1) == f("norms")(3, x, -1) == [0, 0, 0, 0] and f("dot")(0, x, 1, x, 1) == 0
    assert (x == 1).all()
    with pytest.raises(wb.KernelFault, match="of the buffer, which has 3 elements"):
        f("axpy")(3, 1.0, x, 2, np.ones(9, dtype), 1)


def test_norms_neither_overflow_nor_vanish(vectors):
    for f, dtype, large in ((vectors.snorms, np.float32, 1e38), (vectors.dnorms, np.float64, 1e308)):
        for x in (large, 1 / large, np.finfo(dtype).smallest_subnormal):
            given = np.full(2, x, dtype) * np.array([0.75, 1], dtype) if x != np.finfo(dtype).smallest_subnormal else np.array([x, 0], dtype)
            exact = np.sqrt((given.astype(np.longdouble) ** 2).sum())
            bounded(np.array(f(2, given, 1)[0], dtype), exact, exact, 2, dtype)
        assert f(3, np.array([1, np.inf, 2], dtype), 1)[0] == np.inf and np.isnan(f(2, np.array([1, np.nan], dtype), 1)[0])


@pytest.mark.parametrize("dtype", REAL)
def test_matrices_and_vectors(vectors, dtype):
    f = lambda name: getattr(vectors, LETTERS[dtype] + name)
    rng = np.random.default_rng(7)
    for op, (m, n), more, (sx, sy), (alpha, beta) in itertools.product(
        (N, T, C), ((5, 8), (1, 6), (13, 1)), (0, 3), ((1, 1), (2, 3), (-1, 1), (1, -2)), ((1, 0), (2, -0.5), (0, 2), (0, 0))
    ):
        lda, (rows, columns) = m + more, (m, n) if op == N else (n, m)
        ab, a = matrix(rng, m, n, lda, dtype)
        xb, x = spaced(rng, columns, sx, dtype)
        yb, y = spaced(rng, rows, sy, dtype)
        if beta == 0:
            y[:] = np.nan
        kept = np.nan_to_num(y.astype(np.longdouble)) if beta == 0 else y.astype(np.longdouble)
        assert f("gemv")(op, m, n, alpha, ab, lda, xb, sx, beta, yb, sy) == SUCCESS
        wide = x.astype(np.longdouble)
        bounded(y, alpha * (of(op, a) @ wide) + beta * kept, abs(alpha) * (np.abs(of(op, a)) @ np.abs(wide)) + abs(beta) * np.abs(kept), columns, dtype)
        if op == N:
            xb, x = spaced(rng, m, sx, dtype)
            yb, y = spaced(rng, n, sy, dtype)
            before, product = a.astype(np.longdouble), np.outer(x.astype(np.longdouble), y.astype(np.longdouble))
            gaps = np.isnan(ab)
            assert f("ger")(m, n, 0.75, xb, sx, yb, sy, ab, lda) == SUCCESS
            bounded(a, before + 0.75 * product, np.abs(before) + 0.75 * np.abs(product), 1, dtype)
            assert (np.isnan(ab) == gaps).all()
    x = np.ones(9, dtype)
    assert f("gemv")(N, 3, 3, 1.0, x, 2, x, 1, 0.0, x, 1) == INVALID_VALUE
    assert f("gemv")(N, 3, 3, 1.0, x, 3, x, 0, 0.0, x, 1) == INVALID_VALUE
    assert f("gemv")(N, 0, 3, 1.0, x, 1, x, 1, 0.0, x, 1) == SUCCESS
    assert f("ger")(3, 3, 1.0, x, 1, x, 0, x, 3) == f("ger")(3, -3, 1.0, x, 1, x, 1, x, 3) == INVALID_VALUE
    with pytest.raises(wb.KernelFault, match="of the buffer, which has 9 elements"):
        f("gemv")(N, 3, 3, 1.0, x, 4, x, 1, 0.0, x, 1)


@pytest.mark.parametrize("dtype", REAL)
def test_sums_of_matrices_and_diagonals(vectors, dtype):
    f = lambda name: getattr(vectors, LETTERS[dtype] + name)
    rng = np.random.default_rng(8)
    m, n = 6, 4
    for ta, tb, more, (alpha, beta) in itertools.product((N, T), (N, T), (0, 2), ((1, 1), (0.5, -2), (1, 0), (0, 3), (0, 0))):
        ab, a = matrix(rng, *((m, n) if ta == N else (n, m)), (m if ta == N else n) + more, dtype)
        bb, b = matrix(rng, *((m, n) if tb == N else (n, m)), (m if tb == N else n) + more, dtype)
        cb, c = matrix(rng, m, n, m + more, dtype)
        # An operand with the factor 0 may be NaN.
        if alpha == 0:
            ab[:] = np.nan
        if beta == 0:
            bb[:] = np.nan
        c[:] = np.nan
        assert f("geam")(ta, tb, m, n, alpha, ab, (m if ta == N else n) + more, beta, bb, (m if tb == N else n) + more, cb, m + more) == SUCCESS
        x, y = (np.zeros((m, n)) if s == 0 else s * of(op, v) for s, op, v in ((alpha, ta, a), (beta, tb, b)))
        bounded(c, x + y, np.abs(x) + np.abs(y), 0, dtype)
    # A transpose in no place of its own is none of cuBLAS's; out of place it is what `geam` is mostly for.
    ab, a = matrix(rng, m, n, m, dtype)
    turned = np.empty((m, n), dtype)
    assert f("geam")(T, N, n, m, 1.0, ab, m, 0.0, turned, n, turned, n) == SUCCESS
    np.testing.assert_array_equal(turned, a)
    for side, step in itertools.product((0, 1), (1, 2, -1)):
        xb, x = spaced(rng, n if side else m, step, dtype)
        cb, c = matrix(rng, m, n, m + 1, dtype)
        assert f("dgmm")(side, m, n, ab, m, xb, step, cb, m + 1) == SUCCESS
        np.testing.assert_array_equal(c, a * (x if side else x[:, None]))
    assert f("geam")(N, N, m, n, 1.0, ab, m - 1, 1.0, ab, m, ab, m) == f("dgmm")(0, m, n, ab, m, ab, 1, ab, m - 1) == INVALID_VALUE


@pytest.mark.parametrize("dtype", REAL)
def test_triangles(vectors, dtype):
    f = lambda name: getattr(vectors, LETTERS[dtype] + name)
    rng = np.random.default_rng(9)
    n, k, more = 7, 5, 2
    # Only one triangle of a symmetric result is written; NaN beyond it stays.
    for uplo, op, (alpha, beta) in itertools.product((0, 1), (N, T), ((1, 0), (0.5, 2), (0, 2))):
        ab, a = matrix(rng, *((n, k) if op == N else (k, n)), (n if op == N else k) + more, dtype)
        cb, c = matrix(rng, n, n, n + more, dtype)
        inside = np.tril(np.ones((n, n), bool)) if uplo == 0 else np.triu(np.ones((n, n), bool))
        c[~inside] = np.nan
        if beta == 0:
            c[:] = np.nan
        before = np.where(inside & (beta != 0), c, 0).astype(np.longdouble)
        assert f("syrk")(uplo, op, n, k, alpha, ab, (n if op == N else k) + more, beta, cb, n + more) == SUCCESS
        x = of(op, a)
        exact, weight = alpha * (x @ x.T) + beta * before, abs(alpha) * (np.abs(x) @ np.abs(x).T) + abs(beta) * np.abs(before)
        bounded(c[inside], exact[inside], weight[inside], k, dtype)
        assert np.isnan(c[~inside]).all()
    m = 6
    for side, uplo, op, diag in itertools.product((0, 1), (0, 1), (N, T), (0, 1)):
        order = n if side else m
        ab, a = matrix(rng, order, order, order + more, dtype)
        inside = np.tril(np.ones((order, order), bool), -diag) if uplo == 0 else np.triu(np.ones((order, order), bool), diag)
        a[~inside] = np.nan
        whole = np.where(inside, a, 0).astype(np.longdouble)
        bb, b = matrix(rng, m, n, m + more, dtype)
        wide = b.astype(np.longdouble)
        triangle = of(op, whole + (np.eye(order) if diag else 0))
        product = (lambda x, y: y @ x) if side else (lambda x, y: x @ y)
        cb, c = matrix(rng, m, n, m + 1, dtype)
        c[:] = np.nan
        assert f("trmm")(side, uplo, op, diag, m, n, 0.5, ab, order + more, bb, m + more, cb, m + 1) == SUCCESS
        bounded(c, 0.5 * product(triangle, wide), 0.5 * product(np.abs(triangle), np.abs(wide)), order, dtype)
        if not diag and op == N:
            symmetric = whole + whole.T - np.diag(np.diag(whole))
            c[:] = 1
            assert f("symm")(side, uplo, m, n, 2.0, ab, order + more, bb, m + more, 0.5, cb, m + 1) == SUCCESS
            bounded(c, 2 * product(symmetric, wide) + 0.5, 2 * product(np.abs(symmetric), np.abs(wide)) + 0.5, order, dtype)
    assert f("syrk")(2, N, 2, 2, 1.0, ab, 2, 0.0, bb, 2) == f("trsm")(0, 0, N, 0, 4, 4, 1.0, ab, 3, bb, 4) == INVALID_VALUE


@pytest.mark.parametrize("dtype", REAL)
def test_triangular_systems(vectors, dtype):
    f = getattr(vectors, LETTERS[dtype] + "trsm")
    rng = np.random.default_rng(10)
    u = PRECISION[dtype][0]
    for side, uplo, op, diag, (m, n) in itertools.product((0, 1), (0, 1), (N, T), (0, 1), ((1, 4), (9, 6), (70, 3), (3, 131))):
        order = n if side else m
        ab, a = matrix(rng, order, order, order + 1, dtype)
        inside = np.tril(np.ones((order, order), bool), -diag) if uplo == 0 else np.triu(np.ones((order, order), bool), diag)
        a *= np.dtype(dtype).type(1 / order)
        a[np.diag_indices(order)] = 1 + rng.random(order)
        a[~inside] = np.nan
        triangle = of(op, np.where(inside, a, 0).astype(np.longdouble) + (np.eye(order) if diag else 0))
        bb, b = matrix(rng, m, n, m + 2, dtype)
        right, gaps = 1.5 * b.astype(np.longdouble), np.isnan(bb)
        assert f(side, uplo, op, diag, m, n, 1.5, ab, order + 1, bb, m + 2) == SUCCESS
        x = b.astype(np.longdouble)
        # Backward error (Higham, 8.1): the residual is at most `gamma(order) |A| |X|`, of alpha and of storing two roundings more.
        got, weight = (x @ triangle, np.abs(x) @ np.abs(triangle)) if side else (triangle @ x, np.abs(triangle) @ np.abs(x))
        assert (np.abs(got - right) <= gamma(order + 2, u) * (weight + np.abs(right))).all()
        assert (np.isnan(bb) == gaps).all()
    b = np.full(4, np.nan, dtype)
    assert f(0, 0, N, 0, 2, 2, 0.0, b, 2, b, 2) == SUCCESS and (b == 0).all()
