"""JAX, jitted for its CPU backend; its results are arrays of its own."""

from __future__ import annotations

import numpy as np

from ..measure import Runner

NAME = "JAX"


def load() -> str:
    import jax

    return jax.__version__


def prepare(case) -> Runner:
    import jax

    cpu = jax.devices("cpu")[0]
    inputs = [jax.device_put(value, cpu) for value in case.inputs.values()]
    scalars = case.scalars
    function = jax.jit(lambda *args: ROWS[case.row.name](jax, *args, **scalars))
    held = [None]

    def run():
        held[0] = function(*inputs).block_until_ready()

    return Runner(run, lambda: np.asarray(held[0]))


def muladd(jax, a, b, c, n):
    return a * b + c


def stencil(jax, x, n, centre, side):
    around = x[:-2, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1] + x[1:-1, 2:, 1:-1] + x[1:-1, 1:-1, :-2] + x[1:-1, 1:-1, 2:]
    return x.at[1:-1, 1:-1, 1:-1].set(centre * x[1:-1, 1:-1, 1:-1] + side * around)


def gelu(jax, x, n):
    return jax.nn.gelu(x, approximate=True)


def softmax(jax, x, rows, cols):
    return jax.nn.softmax(x, axis=1)


def layernorm(jax, x, weight, bias, rows, cols, eps):
    d = x - x.mean(1, keepdims=True)
    return d * jax.lax.rsqrt((d * d).mean(1, keepdims=True) + eps) * weight + bias


def total(jax, x, n):
    return x.sum()


def transpose(jax, x, n):
    return x.T


def matmul(jax, a, b, n):
    return a @ b


def histogram(jax, x, n):
    return jax.numpy.bincount(x, length=256)


def nbody(jax, bodies, n, softening):
    numpy = jax.numpy
    p, m = bodies[:, :3], bodies[:, 3]

    def part(me):
        d = p - me
        scale = m * jax.lax.rsqrt((d * d).sum(1) + softening) ** 3
        return (d * scale[:, None]).sum(0)

    return numpy.pad(jax.vmap(part)(p), ((0, 0), (0, 1)))


ROWS = {
    "muladd": muladd, "stencil": stencil, "gelu": gelu, "softmax": softmax, "layernorm": layernorm, "sum": total,
    "transpose": transpose, "matmul_naive": matmul, "matmul_tiled": matmul, "histogram": histogram, "nbody": nbody,
}
