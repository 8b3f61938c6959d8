"""Numba: a loop over threads in parallel (`prange`), each written as the kernel has it; fast mathematics, as the baselines have."""

from __future__ import annotations

import numpy as np

from ..measure import Runner

NAME = "Numba"


def load() -> str:
    import numba

    return numba.__version__


def prepare(case) -> Runner | None:
    import numba

    functions = define(numba, numba.prange, numba.njit(parallel=True, fastmath=True))
    function = functions.get(case.row.name)
    if function is None:
        return None
    values = {**case.inputs, **case.scalars, "out": case.out}
    values = {name: np.float32(value) if isinstance(value, float) else value for name, value in values.items()}
    args = [values[name] for name in case.row.arguments]
    return Runner(lambda: function(*args), lambda: case.out)


def define(numba, prange, jit) -> dict:
    @jit
    def muladd(a, b, c, out, n):
        for i in prange(n):
            out[i] = a[i] * b[i] + c[i]

    @jit
    def stencil(x, out, n, centre, side):
        for i in prange(n):
            for j in range(n):
                if i == 0 or i == n - 1 or j == 0 or j == n - 1:
                    for k in range(n):
                        out[i, j, k] = x[i, j, k]
                    continue
                out[i, j, 0], out[i, j, n - 1] = x[i, j, 0], x[i, j, n - 1]
                for k in range(1, n - 1):
                    around = x[i, j, k - 1] + x[i, j, k + 1] + x[i, j - 1, k] + x[i, j + 1, k] + x[i - 1, j, k] + x[i + 1, j, k]
                    out[i, j, k] = centre * x[i, j, k] + side * around

    half, one, root, cubic = np.float32(0.5), np.float32(1), np.float32(0.7978845608), np.float32(0.044715)

    @jit
    def gelu(x, out, n):
        for i in prange(n):
            v = x[i]
            out[i] = half * v * (one + np.tanh(root * (v + cubic * v * v * v)))

    @jit
    def softmax(x, out, cols):
        for r in prange(x.shape[0]):
            largest = x[r, 0]
            for i in range(cols):
                largest = max(largest, x[r, i])
            s = np.float32(0)
            for i in range(cols):
                e = np.exp(x[r, i] - largest)
                out[r, i] = e
                s += e
            scale = one / s
            for i in range(cols):
                out[r, i] *= scale

    @jit
    def layernorm(x, weight, bias, out, cols, eps):
        for r in prange(x.shape[0]):
            s = np.float32(0)
            for i in range(cols):
                s += x[r, i]
            mean = s / np.float32(cols)
            s = np.float32(0)
            for i in range(cols):
                d = x[r, i] - mean
                s += d * d
            scale = one / np.sqrt(s / np.float32(cols) + eps)
            for i in range(cols):
                out[r, i] = (x[r, i] - mean) * scale * weight[i] + bias[i]

    @jit
    def total(x, out, n):
        parts = np.zeros(1024, np.float32)
        step = n // 1024
        for p in prange(1024):
            s = np.float32(0)
            for i in range(p * step, (p + 1) * step):
                s += x[i]
            parts[p] = s
        out[0] = parts.sum()

    @jit
    def transpose(x, out, n):
        for t in prange(n // 32):
            for s in range(n // 32):
                for i in range(t * 32, t * 32 + 32):
                    for j in range(s * 32, s * 32 + 32):
                        out[i, j] = x[j, i]

    @jit
    def matmul(a, b, out, n):
        for i in prange(n):
            for j in range(n):
                out[i, j] = 0
            for k in range(n):
                v = a[i, k]
                for j in range(n):
                    out[i, j] += v * b[k, j]

    @jit
    def histogram(x, out, n):
        parts = np.zeros((64, 256), np.uint32)
        step = n // 64
        for p in prange(64):
            for i in range(p * step, (p + 1) * step):
                parts[p, x[i]] += 1
        for b in range(256):
            out[b] = parts[:, b].sum()

    @jit
    def nbody(bodies, out, n, softening):
        for i in prange(n):
            x, y, z = bodies[i, 0], bodies[i, 1], bodies[i, 2]
            ax, ay, az = np.float32(0), np.float32(0), np.float32(0)
            for j in range(n):
                dx, dy, dz = bodies[j, 0] - x, bodies[j, 1] - y, bodies[j, 2] - z
                inverse = one / np.sqrt(dx * dx + dy * dy + dz * dz + softening)
                scale = bodies[j, 3] * inverse * inverse * inverse
                ax += dx * scale
                ay += dy * scale
                az += dz * scale
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = ax, ay, az, np.float32(0)

    return {
        "muladd": muladd, "stencil": stencil, "gelu": gelu, "softmax": softmax, "layernorm": layernorm, "sum": total,
        "transpose": transpose, "matmul_naive": matmul, "matmul_tiled": None, "histogram": histogram, "nbody": nbody,
    }
