"""References in float64, each with a tolerance for float32: EPS is the unit roundoff, a sum of n terms in any order is allowed what
its error bound says.

For sums the bound is the probabilistic one (Higham and Mary, 2019): with rounding errors of mean zero the error of a sum of n products is
below 6 sqrt(n) EPS sum |a b| all but never, where the sure bound is n EPS sum |a b|.
"""

from __future__ import annotations

import numpy as np

EPS = 2.0**-24


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


def muladd(a, b, c, n):
    """Two roundings, or one if fused."""
    a, b, c = wide(a), wide(b), wide(c)
    return a * b + c, 2 * EPS * (np.abs(a * b) + np.abs(c))


def stencil(x, n, centre, side):
    """Eight operations in any order: below 8 EPS of the sum of magnitudes."""
    def apply(v):
        inner = v[1:-1, 1:-1, 1:-1]
        around = v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1] + v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1] + v[1:-1, 1:-1, :-2] + v[1:-1, 1:-1, 2:]
        return centre * inner + side * around

    out, bound = wide(x), np.zeros(x.shape)
    bound[1:-1, 1:-1, 1:-1] = 8 * EPS * apply(np.abs(out))
    out[1:-1, 1:-1, 1:-1] = apply(wide(x))
    return out, bound


def gelu(x, n):
    """Below 4 ulp in tanh and 4 roundings in its argument u, which count |u| sech²(u) <= 0.45 each; three more: 16 EPS |x| covers both."""
    x = wide(x)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), 16 * EPS * np.abs(x)


def softmax(x, rows, cols):
    """The difference of two numbers below 32 is off by 32 EPS at most, absolutely, which e^d makes relative; 2 ulp for the exponential;
    the sum by the probabilistic bound, relative since all terms are positive."""
    x = wide(x)
    e = np.exp(x - x.max(1, keepdims=True))
    out = e / e.sum(1, keepdims=True)
    return out, (2 * 32 + 8 + 6 * np.sqrt(cols)) * EPS * out + 1e-37


def layernorm(x, weight, bias, rows, cols, eps):
    """The mean within 6 sqrt(n) EPS mean |x|, the variance within twice that relatively, some roundings."""
    x, w, b = wide(x), wide(weight), wide(bias)
    mean = x.mean(1, keepdims=True)
    scale = 1 / np.sqrt(x.var(1, keepdims=True) + eps)
    d = (x - mean) * scale
    mean_error = 6 * np.sqrt(cols) * EPS * np.abs(x).mean(1, keepdims=True)
    bound = np.abs(w) * (mean_error * scale + (6 * np.sqrt(cols) + 8) * EPS * np.abs(d)) + 4 * EPS * np.abs(b)
    return d * w + b, bound


def total(x, n):
    """The probabilistic bound for chains of 4096 additions at most: threads, trees and vectors have far shorter ones."""
    exact = np.sum(x, dtype=np.float64)
    return np.array([exact]), 6 * np.sqrt(4096) * EPS * exact


def transpose(x, n):
    return x.T.astype(np.float64), 0.0


def matmul(a, b, n):
    """The probabilistic bound for n products."""
    a, b = wide(a), wide(b)
    return a @ b, 6 * np.sqrt(n) * EPS * (np.abs(a) @ np.abs(b))


def histogram(x, n):
    return np.bincount(x, minlength=256).astype(np.float64), 0.0


def nbody(bodies, n, softening):
    """A term is off by some 16 EPS (the inverse root within 2 ulp counts three times), the sum by the probabilistic bound."""
    p, m = wide(bodies[:, :3]), wide(bodies[:, 3])
    out, bound = np.zeros((n, 4)), np.zeros((n, 4))
    for i in range(0, n, 256):
        d = p[None] - p[i : i + 256, None]
        s = m * (np.square(d).sum(2) + softening) ** -1.5
        out[i : i + 256, :3] = np.einsum("ijk,ij->ik", d, s)
        bound[i : i + 256, :3] = (16 + 6 * np.sqrt(n)) * EPS * np.einsum("ijk,ij->ik", np.abs(d), s)
    return out, bound
