"""Products of matrices and attention."""

from __future__ import annotations

import numpy as np

from bench_cpu import references
from bench_cpu.rows import aligned, normal

from ..bounds import EPS, chain, wide
from ..case import Launch, Row

Q4 = np.dtype([("d", np.float16), ("qs", np.uint8, 16)])


def make_matmul(rng):
    n = 512
    return {"a": normal(rng, n, n), "b": normal(rng, n, n)}, {"c": aligned((n, n))}, {"n": n}


def matmul(a, b, n):
    return {"c": references.matmul(a, b, n)}


def make_dp4a(rng):
    rows, cols = 16384, 4096
    inputs = {"matrix": rng.integers(-127, 128, (rows, cols), np.int8), "vector": rng.integers(-127, 128, cols, np.int8)}
    return inputs, {"out": aligned(rows, np.int32)}, {"rows": rows, "cols": cols}


def dp4a(matrix, vector, rows, cols):
    v = wide(vector)
    return {"out": (np.concatenate([wide(part) @ v for part in np.split(matrix, 16)]), 0)}


def make_q4(rng):
    rows, cols = 4096, 4096
    blocks = np.empty((rows, cols // 32), Q4)
    blocks["d"] = rng.random(blocks.shape, np.float32) * 0.1
    blocks["qs"] = rng.integers(0, 256, (*blocks.shape, 16), np.uint8)
    return {"x": blocks.view(np.uint8), "y": normal(rng, cols)}, {"out": aligned(rows)}, {"cols": cols, "rows": rows}


def q4(x, y, cols, rows):
    """The bound for as many products as there are columns, and three roundings of each."""
    blocks = x.view(Q4).reshape(rows, cols // 32)
    out, bound = np.empty(rows), np.empty(rows)
    for part in np.split(np.arange(rows), 8):
        qs = blocks["qs"][part].astype(np.float64)
        numbers = np.concatenate([qs % 16 - 8, qs // 16 - 8], 2) * wide(blocks["d"][part])[:, :, None]
        numbers = numbers.reshape(len(part), cols)
        out[part], bound[part] = numbers @ wide(y), (chain(cols) + 3 * EPS) * (np.abs(numbers) @ np.abs(wide(y)))
    return {"out": (out, bound)}


def make_attention(rng):
    heads, n, d = 8, 384, 64
    inputs = {name: normal(rng, heads, n, d) for name in "qkv"}
    return inputs, {"o": aligned((heads, n, d)), "l": aligned((heads, n))}, {"heads": heads, "n": n, "scale": d**-0.5}


def attention(q, k, v, heads, n, scale):
    """A score is off by the bound of its products, and by EPS of numbers below 32 as it is compared with others; its exponential makes that
    relative. The rescalings are 12, of 4 EPS each."""
    q, k, v = wide(q), wide(k), wide(v)
    scores = np.einsum("hid,hjd->hij", q, k) * scale
    size = np.einsum("hid,hjd->hij", np.abs(q), np.abs(k)) * scale
    largest = scores.max(2, keepdims=True)
    p = np.exp(scores - largest)
    total = p.sum(2, keepdims=True)
    relative = (chain(64) + 4 * EPS) * size.max(2, keepdims=True) + (2 * 32 + 12 * 4) * EPS + chain(n)
    log_sum = (largest + np.log(total))[:, :, 0]
    bound = 2 * relative * ((p / total) @ np.abs(v))
    return {"o": ((p / total) @ v, bound), "l": (log_sum, relative[:, :, 0] + 2 * EPS * np.abs(log_sum))}


def make_backward(rng):
    heads, n, d = 8, 384, 32
    inputs = {name: normal(rng, heads, n, d) for name in ("q", "k", "v", "go")}
    scale = d**-0.5
    scores = np.einsum("hid,hjd->hij", wide(inputs["q"]), wide(inputs["k"])) * scale
    largest = scores.max(2, keepdims=True)
    log_sum = largest + np.log(np.exp(scores - largest).sum(2, keepdims=True))
    o = np.exp(scores - log_sum) @ wide(inputs["v"])
    inputs["l"] = log_sum[:, :, 0].astype(np.float32)
    inputs["delta"] = (o * wide(inputs["go"])).sum(2).astype(np.float32)
    return inputs, {"gk": aligned((heads, n, d)), "gv": aligned((heads, n, d))}, {"heads": heads, "n": n, "scale": scale}


def backward(q, k, v, go, l, delta, heads, n, scale):
    """A probability is off by the bound of its score's products, and by CUDA's bound of `__expf`: 2 ulp and 1.16 for each unit of its argument."""
    q, k, v, go, l, delta = (wide(x) for x in (q, k, v, go, l, delta))
    scores = np.einsum("hid,hjd->hij", q, k) * scale
    argument = scores - l[:, :, None]
    p = np.exp(argument)
    size = np.einsum("hid,hjd->hij", np.abs(q), np.abs(k)) * scale
    relative = (chain(32) + 4 * EPS) * size + (4 + 2 * 1.16 * np.abs(argument) + np.abs(scores) + np.abs(l)[:, :, None]) * EPS
    dp = np.einsum("hid,hjd->hij", go, v)
    dp_bound = (chain(32) + 2 * EPS) * np.einsum("hid,hjd->hij", np.abs(go), np.abs(v)) + 2 * EPS * np.abs(delta)[:, :, None]
    ds = p * (dp - delta[:, :, None]) * scale
    ds_bound = (relative + 4 * EPS) * np.abs(ds) + scale * p * dp_bound

    def over_queries(a, b):
        return np.einsum("hij,hid->hjd", a, b)

    gv_bound = over_queries(p * (relative + chain(n)), np.abs(go))
    gk_bound = over_queries(ds_bound + chain(n) * np.abs(ds), np.abs(q))
    return {"gv": (over_queries(p, go), gv_bound), "gk": (over_queries(ds, q), gk_bound)}


ROWS = (
    Row("register_matmul", "matmul 512, 8 x 8 each", make_matmul, matmul,
        (Launch("register_matmul<128, 128, 8, 8, 8>", (4, 4), 256, "n n n a b c"),), "n n n a b c"),
    Row("dp4a_matvec", "int8 products, __dp4a", make_dp4a, dp4a,
        (Launch("dp4a_matvec", 16384 // 8, 256, "matrix vector out rows cols"),), "matrix vector out rows cols"),
    Row("q4_matvec", "4-bit matrix x vector", make_q4, q4, (Launch("q4_matvec", 4096 // 4, (32, 4), "x y out cols rows"),), "x y out cols rows"),
    Row("flash_attention", "attention forward, tiles", make_attention, attention,
        (Launch("flash_attention<64, 32>", (384 // 64, 8), 64, "q k v o l n scale"),), "q k v o l heads n scale"),
    Row("attention_backward", "attention backward, dK dV", make_backward, backward,
        (Launch("attention_backward", (384 // 64, 8), 64, "q k v go l delta gk gv n scale", (2 * 32 * 32 + 64) * 4),),
        "q k v go l delta gk gv heads n scale"),
)
