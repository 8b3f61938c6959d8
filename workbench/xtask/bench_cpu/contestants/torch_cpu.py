"""PyTorch, eager on the CPU, its own operators where it has them."""

from __future__ import annotations

from ..measure import Runner

NAME = "torch"


def load() -> str:
    import torch

    return torch.__version__


def prepare(case) -> Runner:
    import torch

    # Tensors on the same memory.
    inputs = {name: torch.from_numpy(value) for name, value in case.inputs.items()}
    unsigned = case.out.dtype.kind == "u"
    out = torch.empty(case.out.shape, dtype=torch.int64) if unsigned else torch.from_numpy(case.out)
    held = [out]
    step = ROWS[case.row.name](torch, out, **inputs, **case.scalars)

    def run():
        with torch.inference_mode():
            held[0] = step()

    return Runner(run, lambda: held[0].numpy())


def muladd(torch, out, a, b, c, n):
    return lambda: torch.addcmul(c, a, b, out=out)


def stencil(torch, out, x, n, centre, side):
    into = out[1:-1, 1:-1, 1:-1]
    near = [x[:-2, 1:-1, 1:-1], x[2:, 1:-1, 1:-1], x[1:-1, :-2, 1:-1], x[1:-1, 2:, 1:-1], x[1:-1, 1:-1, :-2], x[1:-1, 1:-1, 2:]]

    def run():
        out.copy_(x)
        into.mul_(centre)
        for part in near:
            into.add_(part, alpha=side)
        return out

    return run


def gelu(torch, out, x, n):
    return lambda: torch._C._nn.gelu(x, approximate="tanh", out=out)


def softmax(torch, out, x, rows, cols):
    return lambda: torch.softmax(x, 1, out=out)


def layernorm(torch, out, x, weight, bias, rows, cols, eps):
    return lambda: torch.nn.functional.layer_norm(x, (cols,), weight, bias, eps)


def total(torch, out, x, n):
    return lambda: torch.sum(x)


def transpose(torch, out, x, n):
    return lambda: out.copy_(x.t())


def matmul(torch, out, a, b, n):
    return lambda: torch.mm(a, b, out=out)


def histogram(torch, out, x, n):
    return lambda: torch.bincount(x, minlength=256)


def nbody(torch, out, bodies, n, softening):
    p, m = bodies[:, :3], bodies[:, 3]
    axes = [p[:, k].contiguous() for k in range(3)]

    def run():
        for i in range(0, n, 256):
            dx, dy, dz = (axis[None] - axis[i : i + 256, None] for axis in axes)
            scale = torch.rsqrt(dx * dx + dy * dy + dz * dz + softening).pow_(3).mul_(m)
            for k, d in enumerate((dx, dy, dz)):
                out[i : i + 256, k] = (d * scale).sum(1)
        out[:, 3] = 0
        return out

    return run


ROWS = {
    "muladd": muladd, "stencil": stencil, "gelu": gelu, "softmax": softmax, "layernorm": layernorm, "sum": total,
    "transpose": transpose, "matmul_naive": matmul, "matmul_tiled": matmul, "histogram": histogram, "nbody": nbody,
}
