"""Helpers of the cuBLAS tests: matrices by columns, and bounds of errors.

Tolerances: a sum of `k` products in floating point of precision `u`, in any order, is within `gamma(k) |A| |B|` of the exact one, where `gamma(n) =
n u / (1 - n u)` (Higham, Accuracy and Stability of Numerical Algorithms, 3.1); scaling by alpha and beta and adding are three roundings more. What is
stored in a narrower type is rounded once again. Nothing here has a tolerance without such a reason.
"""

import numpy as np

import workbench as wb

# `u` of what is stored, the smallest distance of what is stored, and `u` of what sums are made in.
PRECISION = {"float32": (2.0**-24, 2.0**-150, 2.0**-24), "float64": (2.0**-53, 2.0**-1075, 2.0**-53), "float16": (2.0**-11, 2.0**-25, 2.0**-24)}
N, T, C = 0, 1, 2
LETTERS = {"float32": "s", "float64": "d", "float16": "h"}
SUCCESS, NOT_INITIALIZED, INVALID_VALUE, NOT_SUPPORTED = 0, 1, 7, 15


def module(source, *functions):
    return wb.load_inline("blas", source, functions=list(functions) or None)


def gamma(n, u):
    return n * u / (1 - n * u)


def bounded(got, exact, weight, k, dtype):
    """`got` is `exact` but for a sum of `k` products and the roundings of alpha, beta and their sum; `weight` is the same sum of absolute values."""
    stored, tiny, u = PRECISION[np.dtype(dtype).name]
    error = np.abs(got.astype(np.longdouble) - exact)
    limit = gamma(k + 3, u) * weight
    limit = limit + stored * (np.abs(exact) + limit) + tiny
    assert (error <= limit).all(), f"{error.max()} over {limit[error == error.max()]}"


def matrix(rng, rows, columns, ld, dtype):
    """A buffer, just large enough, of columns `ld` apart, with NaN between them, and the matrix in it."""
    buffer = np.full(max((columns - 1) * ld + rows, 0), np.nan, dtype)
    view = np.lib.stride_tricks.as_strided(buffer, (rows, columns), (buffer.itemsize, ld * buffer.itemsize)) if rows * columns else np.empty((rows, columns), dtype)
    view[...] = rng.normal(size=(rows, columns))
    return buffer, view


def of(op, x):
    return (x if op == N else x.T).astype(np.longdouble)
