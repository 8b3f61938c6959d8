"""Taichi on the CPU: the outermost loop of each kernel runs in parallel, on arrays made before."""

# No `from __future__ import annotations`: Taichi reads the annotations of its kernels.

import os

from ..measure import Runner

NAME = "Taichi"
STARTED = []


def load() -> str:
    os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
    import taichi

    if not STARTED:
        taichi.init(arch=taichi.cpu, fast_math=True, log_level=taichi.ERROR)
        STARTED.append(define(taichi))
    return ".".join(map(str, taichi.__version__))


def prepare(case) -> Runner | None:
    kernel = STARTED[0].get(case.row.name)
    if kernel is None:
        return None
    values = {**case.inputs, **case.scalars, "out": case.out}
    args = [values[name] for name in case.row.arguments]

    def run():
        if case.row.clears:
            case.out.fill(0)
        kernel(*args)

    return Runner(run, lambda: case.out)


def define(ti) -> dict:
    f1, f2, f3 = (ti.types.ndarray(dtype=ti.f32, ndim=d) for d in (1, 2, 3))
    bytes1, counts1 = ti.types.ndarray(dtype=ti.u8, ndim=1), ti.types.ndarray(dtype=ti.u32, ndim=1)

    @ti.kernel
    def muladd(a: f1, b: f1, c: f1, out: f1, n: int):
        for i in range(n):
            out[i] = a[i] * b[i] + c[i]

    @ti.kernel
    def stencil(x: f3, out: f3, n: int, centre: float, side: float):
        for i, j, k in ti.ndrange(n, n, n):
            if 0 < i < n - 1 and 0 < j < n - 1 and 0 < k < n - 1:
                around = x[i, j, k - 1] + x[i, j, k + 1] + x[i, j - 1, k] + x[i, j + 1, k] + x[i - 1, j, k] + x[i + 1, j, k]
                out[i, j, k] = centre * x[i, j, k] + side * around
            else:
                out[i, j, k] = x[i, j, k]

    @ti.kernel
    def gelu(x: f1, out: f1, n: int):
        for i in range(n):
            v = x[i]
            out[i] = 0.5 * v * (1.0 + ti.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))

    @ti.kernel
    def softmax(x: f2, out: f2, cols: int):
        for r in range(x.shape[0]):
            largest = x[r, 0]
            for i in range(cols):
                largest = ti.max(largest, x[r, i])
            s = 0.0
            for i in range(cols):
                e = ti.exp(x[r, i] - largest)
                out[r, i] = e
                s += e
            scale = 1.0 / s
            for i in range(cols):
                out[r, i] *= scale

    @ti.kernel
    def layernorm(x: f2, weight: f1, bias: f1, out: f2, cols: int, eps: float):
        for r in range(x.shape[0]):
            s = 0.0
            for i in range(cols):
                s += x[r, i]
            mean = s / cols
            q = 0.0
            for i in range(cols):
                q += (x[r, i] - mean) * (x[r, i] - mean)
            scale = ti.rsqrt(q / cols + eps)
            for i in range(cols):
                out[r, i] = (x[r, i] - mean) * scale * weight[i] + bias[i]

    @ti.kernel
    def total(x: f1, out: f1, n: int):
        for p in range(1024):
            s = 0.0
            for i in range(p * (n // 1024), (p + 1) * (n // 1024)):
                s += x[i]
            out[0] += s

    @ti.kernel
    def transpose(x: f2, out: f2, n: int):
        for t, s in ti.ndrange(n // 32, n // 32):
            for i in range(t * 32, t * 32 + 32):
                for j in range(s * 32, s * 32 + 32):
                    out[i, j] = x[j, i]

    @ti.kernel
    def matmul(a: f2, b: f2, out: f2, n: int):
        for i, j in ti.ndrange(n, n):
            s = 0.0
            for k in range(n):
                s += a[i, k] * b[k, j]
            out[i, j] = s

    @ti.kernel
    def histogram(x: bytes1, out: counts1, n: int):
        for i in range(n):
            out[ti.cast(x[i], ti.i32)] += ti.u32(1)

    @ti.kernel
    def nbody(bodies: f2, out: f2, n: int, softening: float):
        for i in range(n):
            x, y, z = bodies[i, 0], bodies[i, 1], bodies[i, 2]
            ax, ay, az = 0.0, 0.0, 0.0
            for j in range(n):
                dx, dy, dz = bodies[j, 0] - x, bodies[j, 1] - y, bodies[j, 2] - z
                inverse = ti.rsqrt(dx * dx + dy * dy + dz * dz + softening)
                scale = bodies[j, 3] * inverse * inverse * inverse
                ax += dx * scale
                ay += dy * scale
                az += dz * scale
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = ax, ay, az, 0.0

    return {
        "muladd": muladd, "stencil": stencil, "gelu": gelu, "softmax": softmax, "layernorm": layernorm, "sum": total,
        "transpose": transpose, "matmul_naive": matmul, "matmul_tiled": None, "histogram": histogram, "nbody": nbody,
    }
