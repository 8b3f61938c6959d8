"""Scans and reductions by warps."""

from __future__ import annotations

import numpy as np

from bench_cpu import references
from bench_cpu.rows import MI, aligned, normal

from ..bounds import EPS, chain, wide
from ..case import Launch, Row


def make_scan(rng):
    n = 6 * MI
    return {"x": normal(rng, n)}, {"out": aligned(n)}, {"n": n}


def scan(x, n):
    """The bound of sums of 1024 terms at most, for every prefix."""
    blocks = wide(x).reshape(-1, 1024)
    return {"out": (np.cumsum(blocks, 1), chain(1024) * np.cumsum(np.abs(blocks), 1))}


def make_segments(rng):
    rows, cols = 1536, 4096
    heads = (rng.random((rows, cols)) < 1 / 50).astype(np.uint8)
    return {"x": normal(rng, rows, cols), "heads": heads}, {"out": aligned((rows, cols))}, {"rows": rows, "cols": cols}


def segments(x, heads, rows, cols):
    """The bound of sums of as many terms as a segment has so far; in float64 a row's prefixes are near enough to be subtracted."""
    x = wide(x)
    at = np.arange(cols)
    first = np.maximum.accumulate(np.where(heads != 0, at, 0), 1)

    def prefix(v):
        sums = np.cumsum(v, 1)
        return sums - np.take_along_axis(sums - v, first, 1)

    return {"out": (prefix(x), chain(at - first + 2) * prefix(np.abs(x)) + 1e-12)}


def make_sum(rng):
    n = 32 * MI
    return {"x": rng.random(n, np.float32)}, {"out": aligned(1)}, {"n": n}


def total(x, n):
    """The bound for chains of a million additions: plain C++ has one for each of two threads' 16 lanes."""
    exact = np.sum(x, dtype=np.float64)
    return {"out": (np.array([exact]), chain(MI) * exact)}


def make_softmax(rng):
    rows, cols = 4096, 1024
    return {"x": 4 * normal(rng, rows, cols)}, {"out": aligned((rows, cols))}, {"rows": rows, "cols": cols}


def softmax(x, rows, cols):
    return {"out": references.softmax(x, rows, cols)}


def make_argmax(rng):
    rows, cols = 2048, 4096
    return {"x": normal(rng, rows, cols)}, {"out": aligned(rows, np.int32)}, {"rows": rows, "cols": cols}


def argmax(x, rows, cols):
    return {"out": (np.argmax(x, 1).astype(np.float64), 0)}


def make_entropy(rng):
    rows, classes = 1024, 4096
    inputs = {"logits": 3 * normal(rng, rows, classes), "targets": rng.integers(0, classes, rows, np.int32)}
    return inputs, {"losses": aligned(rows), "log_sums": aligned(rows)}, {"rows": rows, "classes": classes}


def entropy(logits, targets, rows, classes):
    """A term is rescaled by 26 exponentials at most, of 4 EPS each, whose arguments add up to less than 64; the logarithm makes a relative
    error of its argument an absolute one."""
    x = wide(logits)
    largest = x.max(1)
    log_sums = largest + np.log(np.exp(x - largest[:, None]).sum(1))
    picked = np.take_along_axis(x, targets[:, None].astype(np.int64), 1)[:, 0]
    bound = chain(classes) + (26 * 4 + 64 + 4) * EPS + 4 * EPS * (np.abs(log_sums) + np.abs(largest))
    return {"log_sums": (log_sums, bound), "losses": (log_sums - picked, bound + 2 * EPS * np.abs(picked))}


ROWS = (
    Row("block_scan", "scan of blocks by shuffles", make_scan, scan, (Launch("block_scan", 6 * MI // 1024, 1024, "x out n"),), "x out n"),
    Row("segmented_scan", "segmented scan of rows", make_segments, segments,
        (Launch("segmented_scan", 1536, 256, "x heads out cols"),), "x heads out rows cols"),
    Row("grid_sum", "grid-stride sum, shuffles", make_sum, total, (Launch("grid_sum", 1024, 256, "x out n"),), "x out n", clears=("out",)),
    Row("softmax_warp", "softmax, a warp a row", make_softmax, softmax,
        (Launch("softmax_warp<1024>", 4096 // 4, 128, "x out rows"),), "x out rows cols"),
    Row("argmax_rows", "argmax of rows", make_argmax, argmax, (Launch("argmax_rows", 2048, 256, "x out cols"),), "x out rows cols"),
    Row("cross_entropy", "cross-entropy forward", make_entropy, entropy,
        (Launch("cross_entropy", 1024, 256, "logits targets losses log_sums classes"),), "logits targets losses log_sums rows classes"),
)
