"""Stencils in double."""

from __future__ import annotations

import numpy as np

from bench_cpu.rows import aligned

from ..bounds import unbounded
from ..case import Launch, Row

# The unit roundoff of double; the reference rounds as often, so the bound is for both.
EPS64 = 2 * 2.0**-53


def make_plane(rng):
    n = 3072
    return {"u": rng.standard_normal((n, n))}, {"next": aligned((n, n), np.float64)}, {"nx": n, "ny": n, "alpha": np.float64(0.2)}


def plane(u, nx, ny, alpha):
    """Seven operations: below 8 EPS of the magnitudes. The rim is left as it is."""
    inner = (slice(1, -1), slice(1, -1))

    def step(v, centre):
        around = v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1]
        return v[inner] + alpha * (around + centre * v[inner])

    out = np.zeros(u.shape)
    out[inner] = step(u, -4)
    return {"next": (out, unbounded(u.shape, inner, 8 * EPS64 * step(np.abs(u), 4)))}


def make_cube(rng):
    n = 192
    scalars = {"nx": n, "ny": n, "nz": n, "c0": np.float64(0.4), "c1": np.float64(0.1)}
    return {"u": rng.standard_normal((n, n, n))}, {"out": aligned((n, n, n), np.float64)}, scalars


def cube(u, nx, ny, nz, c0, c1):
    """Eight operations: below 9 EPS of the magnitudes. The rim is left as it is."""
    inner = (slice(1, -1),) * 3

    def step(v):
        around = v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1] + v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1] + v[1:-1, 1:-1, :-2] + v[1:-1, 1:-1, 2:]
        return c0 * v[inner] + c1 * around

    out = np.zeros(u.shape)
    out[inner] = step(u)
    return {"out": (out, unbounded(u.shape, inner, 9 * EPS64 * step(np.abs(u))))}


ROWS = (
    Row("stencil2d_double", "5-point stencil, double", make_plane, plane,
        (Launch("stencil2d_double", (3072 // 32, 3072 // 8), (32, 8), "u next nx ny alpha"),), "u next nx ny alpha"),
    Row("stencil3d_double", "7-point stencil, double", make_cube, cube,
        (Launch("stencil3d_double", (192 // 32, 192 // 8), (32, 8), "u out nx ny nz c0 c1"),), "u out nx ny nz c0 c1"),
)
