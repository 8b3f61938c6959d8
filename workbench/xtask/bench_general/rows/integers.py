"""Integer code and loops whose trips differ: a hash, a generator, the Mandelbrot set."""

from __future__ import annotations

import hashlib
import struct

import numpy as np

from bench_cpu.rows import aligned

from ..bounds import EPS
from ..case import Launch, Row


def make_sha(rng):
    n = 32768
    return {}, {"out": aligned((n, 8), np.uint32)}, {"first": 0x01234567, "second": 0x09ABCDEF, "n": n}


def sha(first, second, n):
    digests = b"".join(hashlib.sha256(struct.pack(">III", first, second, i)).digest() for i in range(n))
    return {"out": (np.frombuffer(digests, ">u4").reshape(n, 8).astype(np.float64), 0)}


def make_monte_carlo(rng):
    n = 16384
    return {}, {"hits": aligned(n, np.int32)}, {"seed": np.uint64(0x853C49E6748FEA9B), "samples": 256, "n": n}


def monte_carlo(seed, samples, n):
    """The generator is exact. x² + y² has three roundings, or two if fused: points within 4 EPS of the circle may count or not."""
    increment = (np.arange(n, dtype=np.uint64) << np.uint64(1)) | np.uint64(1)
    state = np.zeros(n, np.uint64)

    def draw():
        nonlocal state
        old = state
        state = old * np.uint64(6364136223846793005) + increment
        shifted = (((old >> np.uint64(18)) ^ old) >> np.uint64(27)).astype(np.uint32)
        turn = (old >> np.uint64(59)).astype(np.uint32)
        return (shifted >> turn) | (shifted << ((np.uint32(32) - turn) & np.uint32(31)))

    draw()
    state = state + seed
    draw()
    hits, unsure = np.zeros(n), np.zeros(n)
    for _ in range(samples):
        x, y = ((draw() >> np.uint32(8)) / 16777216.0 for _ in range(2))
        square = x * x + y * y
        hits += square <= 1
        unsure += np.abs(square - 1) <= 4 * EPS
    return {"hits": (hits, unsure)}


def make_mandelbrot(rng):
    width, height = 384, 256
    return {}, {"out": aligned((height, width), np.int32)}, {"width": width, "height": height, "x0": -2.1, "y0": -1.2, "step": 2.4 / 256, "limit": 256}


def mandelbrot(width, height, x0, y0, step, limit):
    """An orbit z in float64 with a bound e of float32's distance from it: e grows to (2 |z| + e) e, and by the roundings of a step, six of
    |z|² + |c| at most, and by the error of c. A point escapes when |z|² may first exceed 4 at the earliest, when it must at the latest."""
    x0, y0, step = (float(np.float32(v)) for v in (x0, y0, step))
    c = (x0 + np.arange(width) * step)[None, :] + 1j * (y0 + np.arange(height) * step)[:, None]
    c_error = 2 * EPS * (np.abs(c) + abs(x0) + abs(y0))
    z, e = np.zeros_like(c), np.zeros(c.shape)
    earliest, latest = np.full(c.shape, limit), np.full(c.shape, limit)
    for n in range(limit):
        size = np.abs(z)
        slack = (2 * size + e) * e + 4 * EPS * size**2
        earliest = np.where((size**2 + slack > 4) & (earliest == limit), n, earliest)
        latest = np.where((size**2 - slack > 4) & (latest == limit), n, latest)
        e = (2 * size + e) * e + 6 * EPS * ((size + e) ** 2 + np.abs(c)) + c_error
        z = z * z + c
        # Escaped for certain, or nothing known any more: kept where it is, lest it overflow.
        known = (latest == limit) & (e < 4)
        z, e = np.where(known, z, 3), np.where(known, e, np.where(latest < limit, 0, np.inf))
    return {"out": ((earliest + latest) / 2, (latest - earliest) / 2)}


ROWS = (
    Row("sha256", "SHA-256, one a thread", make_sha, sha, (Launch("sha256", 32768 // 256, 256, "first second out n"),), "first second out n"),
    Row("monte_carlo", "Monte Carlo, 64-bit PCG", make_monte_carlo, monte_carlo,
        (Launch("monte_carlo", 16384 // 256, 256, "hits seed samples n"),), "hits seed samples n"),
    Row("mandelbrot", "Mandelbrot set", make_mandelbrot, mandelbrot,
        (Launch("mandelbrot", (384 // 16, 256 // 16), (16, 16), "out width height x0 y0 step limit"),), "out width height x0 y0 step limit"),
)
