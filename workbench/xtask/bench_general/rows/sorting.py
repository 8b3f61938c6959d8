"""Sorting and what belongs to it: exact, all of it."""

from __future__ import annotations

import numpy as np

from bench_cpu.rows import MI, aligned

from ..bounds import wide
from ..case import Launch, Row


def make_bitonic(rng):
    n = 512 * 1024
    keys = rng.integers(0, 1 << 32, n, np.uint32)
    return {"keys": keys}, {"out": aligned(n, np.uint32)}, {"n": n, "length": 1024, "ascending": 1}


def bitonic(keys, n, length, ascending):
    return {"out": (wide(np.sort(keys.reshape(-1, length), 1)).ravel(), 0)}


def make_radix(rng):
    n = 4 * MI
    tiles = n // 1024
    outputs = {"out": aligned(n, np.uint32), "counts": aligned(16 * tiles, np.uint32), "offsets": aligned(16 * tiles, np.uint32)}
    return {"keys": rng.integers(0, 1 << 32, n, np.uint32)}, outputs, {"n": n, "shift": 8, "entries": 16 * tiles}


def radix(keys, n, shift, entries):
    order = np.argsort((keys >> shift & 15).astype(np.uint8), kind="stable")
    return {"out": (wide(keys[order]), 0)}


def make_compact(rng):
    n = 4 * MI
    outputs = {"out": aligned(n), "total": aligned(1, np.int32), "counts": aligned(n // 512, np.int32), "offsets": aligned(n // 512, np.int32)}
    return {"x": rng.random(n, np.float32)}, outputs, {"n": n, "blocks": n // 512}


def compact(x, n, blocks):
    """What lies behind the kept elements is nobody's."""
    kept = x[x > 0.5]
    expected, tolerance = np.zeros(n), np.full(n, np.inf)
    expected[: kept.size], tolerance[: kept.size] = kept, 0
    return {"out": (expected, tolerance), "total": (np.array([kept.size], np.float64), 0)}


def make_histogram(rng):
    n = 16 * MI
    x = rng.standard_normal(n, np.float32)
    return {"x": x}, {"bins": aligned(512, np.uint32)}, {"n": n, "low": -4.0, "scale": 64.0}


def histogram(x, n, low, scale):
    """A bin is a difference and a product, each rounded once, so float32 has the same everywhere."""
    bins = np.clip(((x - np.float32(low)) * np.float32(scale)).astype(np.int32), 0, 511)
    return {"bins": (np.bincount(bins, minlength=512).astype(np.float64), 0)}


ROWS = (
    Row("bitonic_sort", "bitonic sort, 1024 a block", make_bitonic, bitonic,
        (Launch("bitonic_sort", 512, 512, "out keys length ascending"),), "out keys n"),
    Row("radix_pass", "pass of a radix sort", make_radix, radix,
        (Launch("radix_count", 4 * MI // 1024, 256, "keys counts n shift"), Launch("radix_scan", 1, 1024, "counts offsets entries"),
         Launch("radix_scatter", 4 * MI // 1024, 256, "keys offsets out n shift")),
        "keys out n shift"),
    Row("compact", "stream compaction", make_compact, compact,
        (Launch("compact_count", 4 * MI // 512, 512, "x counts n"), Launch("compact_scan", 1, 1024, "counts offsets total blocks"),
         Launch("compact_scatter", 4 * MI // 512, 512, "x offsets out n")),
        "x out total n"),
    Row("histogram_shared", "histogram of floats", make_histogram, histogram,
        (Launch("histogram_shared", 512, 256, "x bins n low scale"),), "x bins n low scale", clears=("bins",)),
)
