"""Normalisations: sums over blocks by shuffles, then a pass over the elements."""

from __future__ import annotations

import numpy as np

from bench_cpu import references
from bench_cpu.rows import aligned, normal

from ..bounds import EPS, chain, wide
from ..case import Launch, Row


def make_layernorm(rng):
    rows, cols = 8192, 1024
    inputs = {"x": normal(rng, rows, cols) + 1, "weight": normal(rng, cols), "bias": normal(rng, cols)}
    return inputs, {"out": aligned((rows, cols))}, {"rows": rows, "cols": cols, "eps": 1e-5}


def layernorm(x, weight, bias, rows, cols, eps):
    return {"out": references.layernorm(x, weight, bias, rows, cols, eps)}


def make_batchnorm(rng):
    batch, channels, plane = 32, 256, 28 * 28
    shape = (batch, channels, plane)
    x = 2 * normal(rng, *shape) + 0.5
    inputs = {
        "x": x,
        "dy": normal(rng, *shape),
        "weight": normal(rng, channels),
        "mean": x.mean((0, 2), dtype=np.float64).astype(np.float32),
        "invstd": (1 / np.sqrt(x.var((0, 2), dtype=np.float64) + 1e-5)).astype(np.float32),
    }
    outputs = {"dx": aligned(shape), "dweight": aligned(channels), "dbias": aligned(channels)}
    return inputs, outputs, {"batch": batch, "channels": channels, "plane": plane}


def batchnorm(x, dy, weight, mean, invstd, batch, channels, plane):
    """The sums by their bound, with four roundings more a term; an element of dx has some eight, and the errors of the sums."""
    x, dy = wide(x), wide(dy)
    m, s, scale = (wide(v)[None, :, None] for v in (mean, invstd, weight * invstd))
    normed, count = (x - m) * s, batch * plane
    dbias, dweight = dy.sum((0, 2)), (dy * normed).sum((0, 2))
    dbias_bound = chain(count) * np.abs(dy).sum((0, 2))
    dweight_bound = (chain(count) + 4 * EPS) * np.abs(dy * normed).sum((0, 2))
    a, b, a_bound, b_bound = (v[None, :, None] / count for v in (dbias, dweight, dbias_bound, dweight_bound))
    rounding = 8 * EPS * (np.abs(dy) + np.abs(a) + np.abs(normed * b))
    dx_bound = np.abs(scale) * (a_bound + np.abs(normed) * b_bound + rounding)
    return {"dx": ((dy - a - normed * b) * scale, dx_bound), "dweight": (dweight, dweight_bound), "dbias": (dbias, dbias_bound)}


def make_groupnorm(rng):
    batch, channels, groups, plane = 16, 128, 32, 56 * 56
    inputs = {"x": normal(rng, batch, channels, plane) + 0.5, "gamma": normal(rng, channels), "beta": normal(rng, channels)}
    scalars = {"batch": batch, "channels": channels, "groups": groups, "plane": plane, "eps": 1e-5}
    return inputs, {"out": aligned((batch, channels, plane))}, scalars


def groupnorm(x, gamma, beta, batch, channels, groups, plane, eps):
    """Mean and mean square by the bound of sums; the variance is their difference, so it has the errors of both."""
    x = wide(x).reshape(batch, groups, -1)
    size = x.shape[2]
    mean, square = x.mean(2, keepdims=True), np.square(x).mean(2, keepdims=True)
    scale = 1 / np.sqrt(square - mean**2 + eps)
    mean_bound = chain(size) * np.abs(x).mean(2, keepdims=True)
    variance_bound = (chain(size) + 2 * EPS) * square + 2 * np.abs(mean) * mean_bound + 2 * EPS * mean**2
    scale_bound = 0.5 * variance_bound * scale**2 + 4 * EPS
    g, b = (np.broadcast_to(wide(v)[None, :, None], (batch, channels, plane)).reshape(x.shape) for v in (gamma, beta))
    out = (x - mean) * scale * g + b
    bound = np.abs(g) * scale * (mean_bound + np.abs(x - mean) * scale_bound)
    bound = bound + 8 * EPS * (np.abs(g) * scale * (np.abs(x) + np.abs(mean)) + np.abs(b))
    return {"out": (out, bound)}


def make_rmsnorm(rng):
    rows, cols = 2048, 2048
    inputs = {"x": normal(rng, rows, cols).astype(np.float16), "weight": normal(rng, cols).astype(np.float16)}
    return inputs, {"out": aligned((rows, cols), np.float16)}, {"rows": rows, "cols": cols, "eps": 1e-5}


def rmsnorm(x, weight, rows, cols, eps):
    """Two roundings to half, of 2^-11 each, where float's do not count beside them, and half's smallest numbers."""
    x, w = wide(x), wide(weight)
    out = x / np.sqrt(np.square(x).mean(1, keepdims=True) + eps) * w
    return {"out": (out, 2.1 * 2.0**-11 * np.abs(out) + 2.0**-24 * (np.abs(w) + 1))}


ROWS = (
    Row("layernorm_float4", "layer norm, float4", make_layernorm, layernorm,
        (Launch("layernorm_float4", 8192, 256, "x weight bias out cols eps"),), "x weight bias out rows cols eps"),
    Row("batchnorm_backward", "batch norm backward", make_batchnorm, batchnorm,
        (Launch("batchnorm_backward", 256, 512, "x dy weight mean invstd dx dweight dbias batch channels plane"),),
        "x dy weight mean invstd dx dweight dbias batch channels plane"),
    Row("groupnorm", "group norm", make_groupnorm, groupnorm,
        (Launch("groupnorm<256>", 16 * 32, 256, "x gamma beta out channels groups plane eps"),),
        "x gamma beta out batch channels groups plane eps"),
    Row("rmsnorm_half2", "RMS norm, half2", make_rmsnorm, rmsnorm,
        (Launch("rmsnorm_half2", 2048, 256, "x weight out cols eps"),), "x weight out rows cols eps"),
)
