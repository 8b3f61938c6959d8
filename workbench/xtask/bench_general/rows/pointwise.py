"""Element by element: formulas, optimisers, embeddings of places, a transpose."""

from __future__ import annotations

import numpy as np

from bench_cpu.rows import MI, aligned, normal

from ..bounds import EPS, wide
from ..case import Launch, Row

# The unit roundoff of bfloat16.
BRAIN = 2.0**-8


def brain(x: np.ndarray) -> np.ndarray:
    import ml_dtypes

    return x.astype(ml_dtypes.bfloat16)


def make_transpose(rng):
    width, height = 2304, 1792
    return {"x": normal(rng, height, width)}, {"out": aligned((width, height))}, {"width": width, "height": height}


def transpose(x, width, height):
    return {"out": (wide(x.T), 0)}


def make_options(rng):
    n = MI

    def between(low, high):
        return low + (high - low) * rng.random(n, np.float32)

    inputs = {"price": between(5, 30), "strike": between(1, 100), "years": between(0.25, 10)}
    return inputs, {"call": aligned(n), "put": aligned(n)}, {"rate": 0.02, "volatility": 0.3, "n": n, "options": n}


def options(price, strike, years, rate, volatility, n, options):
    """The polynomial's terms are below 5.6 in all, times 0.4: 32 EPS absolutely with the exponential; d is off by the logarithm's error
    over its divisor, and the normal distribution rises by 0.4 of that at most."""
    s, x, t = wide(price), wide(strike), wide(years)
    r, v = float(np.float32(rate)), float(np.float32(volatility))

    def distribution(d):
        k = 1 / (1 + 0.2316419 * np.abs(d))
        terms = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = np.exp(-0.5 * d * d) / np.sqrt(2 * np.pi) * terms
        return np.where(d > 0, 1 - tail, tail)

    log, spread = np.log(s / x), v * np.sqrt(t)
    d1 = (log + (r + 0.5 * v * v) * t) / spread
    d2 = d1 - spread
    n1, n2, discount = distribution(d1), distribution(d2), np.exp(-r * t)
    d1_bound = EPS * ((1 + 5 * np.abs(log) + 5 * (r + 0.5 * v * v) * t) / spread + 4 * np.abs(d1))
    d2_bound = d1_bound + EPS * (3 * spread + np.abs(d2))
    bound = s * (0.4 * d1_bound + 34 * EPS) + x * discount * (0.4 * d2_bound + 38 * EPS)
    return {"call": (s * n1 - x * discount * n2, bound), "put": (x * discount * (1 - n2) - s * (1 - n1), bound)}


def make_rope(rng):
    tokens, heads, pairs = 4096, 32, 64
    angles = np.arange(tokens)[:, None] * 10000.0 ** (-np.arange(pairs) / pairs)
    inputs = {"x": normal(rng, tokens, heads, pairs, 2), "cos_sin": np.stack([np.cos(angles), np.sin(angles)], 2).astype(np.float32)}
    return inputs, {"out": aligned((tokens, heads, pairs, 2))}, {"tokens": tokens, "heads": heads, "pairs": pairs}


def rope(x, cos_sin, tokens, heads, pairs):
    """Two products and a sum: below 3 EPS of the magnitudes."""
    a, b = wide(x[..., 0]), wide(x[..., 1])
    c, s = (wide(cos_sin[:, None, :, k]) for k in range(2))
    out = np.stack([a * c - b * s, a * s + b * c], 3)
    return {"out": (out, 3 * EPS * np.stack([np.abs(a * c) + np.abs(b * s), np.abs(a * s) + np.abs(b * c)], 3))}


def make_adam(rng):
    n = 4 * MI
    inputs = {"params": normal(rng, n), "grads": normal(rng, n), "ms": 0.1 * normal(rng, n), "vs": rng.random(n, np.float32) * 0.1}
    scalars = {
        "n": n, "rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "correction1": 1 - 0.9**10, "correction2": 1 - 0.999**10, "eps": 1e-8, "decay": 0.01,
    }
    return inputs, {}, scalars


def adam(params, grads, ms, vs, n, **scalars):
    """The first moment may cancel: 4 EPS of its magnitudes. The second is a sum of positive terms: 6 EPS of itself, half of that in its root.
    The step has a dozen roundings, and the parameter one more."""
    rate, b1, b2, c1, c2, eps, decay = (float(np.float32(scalars[name])) for name in ("rate", "beta1", "beta2", "correction1", "correction2", "eps", "decay"))
    p, g, m, v = wide(params), wide(grads), wide(ms), wide(vs)
    m_bound = 4 * EPS * (np.abs(b1 * m) + np.abs((1 - b1) * g))
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    root = np.sqrt(v / c2) + eps
    step = rate * (m / c1 / root + decay * p)
    bound = rate * (m_bound / c1 / root + 12 * EPS * (np.abs(m / c1 / root) + decay * np.abs(p))) + EPS * np.abs(p - step)
    return {"ms": (m, m_bound), "vs": (v, 6 * EPS * v), "params": (p - step, bound)}


def make_swiglu(rng):
    n = 4 * MI
    inputs = {"gate": brain(2 * normal(rng, n)), "up": brain(normal(rng, n))}
    return inputs, {"out": aligned(n, inputs["gate"].dtype)}, {"n": n}


def swiglu(gate, up, n):
    """One rounding to bfloat16, and some of float."""
    g = wide(gate)
    out = g / (1 + np.exp(-g)) * wide(up)
    return {"out": (out, (BRAIN + 64 * EPS) * np.abs(out) + 1e-38)}


def make_gelu(rng):
    m, n = 512, 2048
    inputs = {"x": brain(2 * normal(rng, m, n)), "bias": brain(normal(rng, n))}
    return inputs, {"out": aligned((m, n), inputs["x"].dtype)}, {"m": m, "n": n}


def gelu(x, bias, m, n):
    """One rounding to bfloat16, and the bound of GELU's formula in float: 16 EPS |x|, two more for x."""
    v = wide(x) + wide(bias)
    out = 0.5 * v * (1 + np.tanh(0.7978845608028654 * (v + 0.044715 * v**3)))
    return {"out": (out, BRAIN * np.abs(out) + 18 * EPS * np.abs(v))}


ROWS = (
    Row("transpose_naive", "transpose, no tile", make_transpose, transpose,
        (Launch("transpose_naive", (2304 // 32, 1792 // 8), (32, 8), "x out width height"),), "x out width height"),
    Row("black_scholes", "Black-Scholes, float2", make_options, options,
        (Launch("black_scholes", MI // 2 // 128, 128, "call put price strike years rate volatility options"),),
        "call put price strike years rate volatility n"),
    Row("rope", "rotary embedding, float2", make_rope, rope,
        (Launch("rope", 4096 * 32 * 64 // 256, 256, "x cos_sin out tokens heads pairs"),), "x cos_sin out tokens heads pairs"),
    Row("adam", "Adam step", make_adam, adam,
        (Launch("adam", 4 * MI // 512, 512, "params grads ms vs n rate beta1 beta2 correction1 correction2 eps decay"),),
        "params grads ms vs n rate beta1 beta2 correction1 correction2 eps decay", state=("params", "ms", "vs")),
    Row("swiglu_bf16", "SwiGLU, bfloat16", make_swiglu, swiglu, (Launch("swiglu_bf16", 4 * MI // 512, 256, "gate up out n"),), "gate up out n"),
    Row("gelu_bf16", "GELU with bias, bfloat16", make_gelu, gelu, (Launch("gelu_bf16", 512, 256, "x bias out m n"),), "x bias out m n"),
)
