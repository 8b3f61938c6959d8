"""Convolutions in several styles, pooling, upsampling: indices by division, by blocks, and by tiles."""

from __future__ import annotations

import numpy as np

from bench_cpu.rows import aligned, normal

from ..bounds import EPS, chain, wide
from ..case import Launch, Row


def up(n: int, size: int) -> int:
    return -(-n // size)


def make_direct(rng):
    n, c, h, w, k, r = 4, 32, 64, 64, 32, 3
    inputs = {"x": normal(rng, n, c, h, w), "weight": normal(rng, k, c, r, r), "bias": normal(rng, k)}
    scalars = {"N": n, "C": c, "H": h, "W": w, "K": k, "R": r, "S": r, "pad": 1, "stride": 1, "OH": h, "OW": w}
    return inputs, {"out": aligned((n, k, h, w))}, scalars


def direct(x, weight, bias, N, C, H, W, K, R, S, pad, stride, OH, OW):
    """The bound for a sum of the products and the bias."""
    padded = np.pad(wide(x), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    patches = np.lib.stride_tricks.sliding_window_view(padded, (R, S), (2, 3)).transpose(0, 1, 4, 5, 2, 3).reshape(N, C * R * S, OH * OW)
    w, b = wide(weight).reshape(K, C * R * S), wide(bias)[None, :, None]
    bound = (chain(C * R * S + 1) + EPS) * (np.abs(w) @ np.abs(patches) + np.abs(b))
    return {"out": ((w @ patches + b).reshape(N, K, OH, OW), bound.reshape(N, K, OH, OW))}


def make_conv3d(rng):
    k, c, d = 16, 8, 40
    inputs = {"x": normal(rng, c, d, d, d), "weight": normal(rng, k, c, 3, 3, 3)}
    scalars = {"filters": k, "channels": c, "depth": d, "height": d, "width": d}
    return inputs, {"out": aligned((k, d - 2, d - 2, d - 2))}, scalars


def conv3d(x, weight, filters, channels, depth, height, width):
    """The bound for a sum of the products."""
    windows = np.lib.stride_tricks.sliding_window_view(wide(x), (3, 3, 3), (1, 2, 3))
    patches = windows.transpose(0, 4, 5, 6, 1, 2, 3).reshape(channels * 27, -1)
    w = wide(weight).reshape(filters, channels * 27)
    shape = (filters, depth - 2, height - 2, width - 2)
    bound = (chain(channels * 27) + EPS) * (np.abs(w) @ np.abs(patches))
    return {"out": ((w @ patches).reshape(shape), bound.reshape(shape))}


def make_tiled(rng):
    n = 2048
    return {"x": normal(rng, n, n), "weight": normal(rng, 7, 7)}, {"out": aligned((n, n))}, {"width": n, "height": n}


def shifted(x, weight, pad):
    """The sum of an image's shifted copies, each times its weight, which is a number or one for each channel."""
    size = weight.shape[-1]
    padded = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(pad, pad)] * 2)
    out = np.zeros(x.shape)
    for r in range(size):
        for s in range(size):
            out += weight[..., r, s, None, None] * padded[..., r : r + x.shape[-2], s : s + x.shape[-1]]
    return out


def tiled(x, weight, width, height):
    """The bound for 49 products."""
    x, weight = wide(x), wide(weight)
    return {"out": (shifted(x, weight, 3), (chain(49) + EPS) * shifted(np.abs(x), np.abs(weight), 3))}


def make_depthwise(rng):
    batch, channels, size = 16, 128, 56
    inputs = {"x": normal(rng, batch, channels, size, size), "weight": normal(rng, channels, 3, 3), "bias": normal(rng, channels)}
    scalars = {"batch": batch, "channels": channels, "height": size, "width": size, "pad": 1, "total": batch * channels * size * size}
    return inputs, {"out": aligned((batch, channels, size, size))}, scalars


def depthwise(x, weight, bias, batch, channels, height, width, pad, total):
    """The sure bound for nine products and a bias: 11 EPS."""
    x, weight, b = wide(x), wide(weight), wide(bias)[:, None, None]
    return {"out": (shifted(x, weight, pad) + b, 11 * EPS * (shifted(np.abs(x), np.abs(weight), pad) + np.abs(b)))}


def make_maxpool(rng):
    batch, channels, size = 8, 64, 112
    out = (batch, channels, size // 2, size // 2)
    scalars = {
        "total": int(np.prod(out)), "planes": batch * channels, "channels": channels, "height": size, "width": size,
        "out_height": size // 2, "out_width": size // 2, "kernel": 3, "stride": 2, "pad": 1,
    }
    return {"x": normal(rng, batch, channels, size, size)}, {"out": aligned(out), "places": aligned(out, np.int32)}, scalars


def maxpool(x, total, planes, channels, height, width, out_height, out_width, kernel, stride, pad):
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=-np.inf)
    parts = [padded[:, :, r : r + height : stride, s : s + width : stride] for r in range(kernel) for s in range(kernel)]
    stacked = np.stack(parts)
    first = stacked.argmax(0)
    rows = np.arange(out_height)[:, None] * stride - pad + first // kernel
    cols = np.arange(out_width) * stride - pad + first % kernel
    return {"out": (wide(stacked.max(0)), 0), "places": (wide(rows * width + cols), 0)}


def make_bilinear(rng):
    planes, size = 16, 256
    scalars = {
        "total": planes * 4 * size * size, "planes": planes, "h1": size, "w1": size, "h2": 2 * size, "w2": 2 * size, "rh": 0.5, "rw": 0.5,
    }
    return {"x": normal(rng, planes, size, size)}, {"out": aligned((planes, 2 * size, 2 * size))}, scalars


def bilinear(x, total, planes, h1, w1, h2, w2, rh, rw):
    """Places and weights are exact at this scale; seven operations then, below 8 EPS of the magnitudes."""
    def axis(size, new, ratio):
        source = np.maximum(ratio * (np.arange(new) + 0.5) - 0.5, 0)
        low = source.astype(np.int64)
        return low, np.minimum(low + 1, size - 1), source - low

    (y0, y1, fy), (x0, x1, fx) = axis(h1, h2, rh), axis(w1, w2, rw)
    fy = fy[:, None]

    def apply(v):
        top, bottom = v[:, y0], v[:, y1]
        return (1 - fy) * ((1 - fx) * top[:, :, x0] + fx * top[:, :, x1]) + fy * ((1 - fx) * bottom[:, :, x0] + fx * bottom[:, :, x1])

    return {"out": (apply(wide(x)), 8 * EPS * apply(np.abs(wide(x))))}


def make_nearest(rng):
    planes, size, factor = 16, 512, 2
    new = size * factor
    scalars = {"total": planes * new * new, "planes": planes, "factor": factor, "height": new, "width": new}
    return {"x": normal(rng, planes, size, size)}, {"out": aligned((planes, new, new))}, scalars


def nearest(x, total, planes, factor, height, width):
    return {"out": (wide(x.repeat(factor, 1).repeat(factor, 2)), 0)}


ROWS = (
    Row("conv2d_direct", "convolution, direct", make_direct, direct,
        (Launch("conv2d_direct", 4 * 32 * 64 * 64 // 256, 256, "x weight bias out N C H W K R S pad stride OH OW"),),
        "x weight bias out N C H W K R S pad stride OH OW"),
    Row("conv2d_tiled", "convolution, shared tile", make_tiled, tiled,
        (Launch("conv2d_tiled", (up(2048, 26), up(2048, 26)), (32, 32), "x out width height"),), "x weight out width height",
        constants={"F_c": "weight"}),
    Row("conv3d", "convolution in 3-D", make_conv3d, conv3d,
        (Launch("conv3d<3>", (up(38, 32), up(38, 8), 38 * 16), (32, 8), "x weight out channels depth height width"),),
        "x weight out filters channels depth height width"),
    Row("depthwise_conv", "depthwise convolution", make_depthwise, depthwise,
        (Launch("depthwise_conv<float, 3>", 4096, 256, "x weight bias out total channels height width pad"),),
        "x weight bias out batch channels height width pad"),
    Row("maxpool2d", "max-pool with places", make_maxpool, maxpool,
        (Launch("maxpool2d", 8 * 64 * 56 * 56 // 512, 512,
                "total x channels height width out_height out_width kernel stride pad out places"),),
        "x planes height width out_height out_width kernel stride pad out places"),
    Row("upsample_bilinear", "upsampling, bilinear", make_bilinear, bilinear,
        (Launch("upsample_bilinear", 16 * 512 * 512 // 512, 512, "total rh rw x out h1 w1 h2 w2"),), "x out planes h1 w1 h2 w2 rh rw"),
    Row("upsample_nearest", "upsampling, nearest", make_nearest, nearest,
        (Launch("upsample_nearest", 16 * 1024 * 1024 // 256, 256, "x out total factor planes height width"),),
        "x out planes factor height width"),
)
