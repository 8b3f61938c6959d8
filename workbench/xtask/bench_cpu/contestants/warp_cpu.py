"""NVIDIA's Warp on the CPU, a thread per element or row, without its tiles; it runs threads one after another there."""

# No `from __future__ import annotations`: Warp reads the annotations of its kernels.

from ..measure import Runner
from ..native import CACHE

NAME = "Warp"
MADE = []


def load() -> str:
    import warp

    if not MADE:
        warp.config.quiet = True
        warp.config.kernel_cache_dir = str(CACHE / "warp")
        warp.init()
        MADE.append(define(warp))
    return warp.__version__


def prepare(case) -> Runner | None:
    import warp

    kernel, dim = MADE[0].get(case.row.name, (None, None))
    if kernel is None:
        return None
    # Arrays on the same memory.
    wrap = {name: warp.array(value, dtype=dtype(warp, value), device="cpu", copy=False) for name, value in case.inputs.items()}
    out = warp.array(case.out, dtype=dtype(warp, case.out), device="cpu", copy=False)
    values = {**wrap, **case.scalars, "out": out}
    args = [values[name] for name in case.row.arguments]
    size = dim(case.scalars)

    def run():
        if case.row.clears:
            case.out.fill(0)
        warp.launch(kernel, dim=size, inputs=args, device="cpu")

    return Runner(run, out.numpy)


def dtype(warp, value):
    return {"float32": warp.float32, "uint8": warp.uint8, "uint32": warp.uint32}[value.dtype.name]


def define(wp) -> dict:
    f1, f2, f3 = wp.array(dtype=wp.float32), wp.array2d(dtype=wp.float32), wp.array3d(dtype=wp.float32)
    bytes1, counts1 = wp.array(dtype=wp.uint8), wp.array(dtype=wp.uint32)

    @wp.kernel(enable_backward=False)
    def muladd(a: f1, b: f1, c: f1, out: f1, n: int):
        i = wp.tid()
        out[i] = a[i] * b[i] + c[i]

    @wp.kernel(enable_backward=False)
    def stencil(x: f3, out: f3, n: int, centre: float, side: float):
        i, j, k = wp.tid()
        if i > 0 and i < n - 1 and j > 0 and j < n - 1 and k > 0 and k < n - 1:
            around = x[i, j, k - 1] + x[i, j, k + 1] + x[i, j - 1, k] + x[i, j + 1, k] + x[i - 1, j, k] + x[i + 1, j, k]
            out[i, j, k] = centre * x[i, j, k] + side * around
        else:
            out[i, j, k] = x[i, j, k]

    @wp.kernel(enable_backward=False)
    def gelu(x: f1, out: f1, n: int):
        i = wp.tid()
        v = x[i]
        out[i] = 0.5 * v * (1.0 + wp.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))

    @wp.kernel(enable_backward=False)
    def softmax(x: f2, out: f2, cols: int):
        r = wp.tid()
        largest = x[r, 0]
        for i in range(cols):
            largest = wp.max(largest, x[r, i])
        s = float(0.0)
        for i in range(cols):
            e = wp.exp(x[r, i] - largest)
            out[r, i] = e
            s += e
        for i in range(cols):
            out[r, i] = out[r, i] / s

    @wp.kernel(enable_backward=False)
    def layernorm(x: f2, weight: f1, bias: f1, out: f2, cols: int, eps: float):
        r = wp.tid()
        s = float(0.0)
        for i in range(cols):
            s += x[r, i]
        mean = s / float(cols)
        q = float(0.0)
        for i in range(cols):
            q += (x[r, i] - mean) * (x[r, i] - mean)
        scale = 1.0 / wp.sqrt(q / float(cols) + eps)
        for i in range(cols):
            out[r, i] = (x[r, i] - mean) * scale * weight[i] + bias[i]

    @wp.kernel(enable_backward=False)
    def total(x: f1, out: f1, n: int):
        p = wp.tid()
        s = float(0.0)
        for i in range(p * (n // 1024), (p + 1) * (n // 1024)):
            s += x[i]
        wp.atomic_add(out, 0, s)

    @wp.kernel(enable_backward=False)
    def transpose(x: f2, out: f2, n: int):
        i, j = wp.tid()
        out[i, j] = x[j, i]

    @wp.kernel(enable_backward=False)
    def matmul(a: f2, b: f2, out: f2, n: int):
        i, j = wp.tid()
        s = float(0.0)
        for k in range(n):
            s += a[i, k] * b[k, j]
        out[i, j] = s

    @wp.kernel(enable_backward=False)
    def histogram(x: bytes1, out: counts1, n: int):
        wp.atomic_add(out, int(x[wp.tid()]), wp.uint32(1))

    @wp.kernel(enable_backward=False)
    def nbody(bodies: f2, out: f2, n: int, softening: float):
        i = wp.tid()
        a = wp.vec3(0.0, 0.0, 0.0)
        me = wp.vec3(bodies[i, 0], bodies[i, 1], bodies[i, 2])
        for j in range(n):
            d = wp.vec3(bodies[j, 0], bodies[j, 1], bodies[j, 2]) - me
            inverse = 1.0 / wp.sqrt(wp.dot(d, d) + softening)
            a += d * (bodies[j, 3] * inverse * inverse * inverse)
        out[i, 0] = a[0]
        out[i, 1] = a[1]
        out[i, 2] = a[2]
        out[i, 3] = 0.0

    def n1(s):
        return s["n"]

    def n2(s):
        return (s["n"], s["n"])

    return {
        "muladd": (muladd, n1), "stencil": (stencil, lambda s: (s["n"],) * 3), "gelu": (gelu, n1),
        "softmax": (softmax, lambda s: s["rows"]), "layernorm": (layernorm, lambda s: s["rows"]), "sum": (total, lambda s: 1024),
        "transpose": (transpose, n2), "matmul_naive": (matmul, n2), "histogram": (histogram, n1), "nbody": (nbody, n1),
    }
