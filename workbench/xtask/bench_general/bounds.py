"""Error bounds that rows share. EPS is the unit roundoff of float32; sums are allowed the probabilistic bound of `bench_cpu.references`."""

from __future__ import annotations

import numpy as np

from bench_cpu.references import EPS, wide

__all__ = ["EPS", "chain", "heads_of", "runs", "unbounded", "wide"]


def chain(n) -> np.ndarray:
    """The bound of a sum of n terms, relative to the sum of magnitudes: 6 sqrt(n) EPS, and n EPS where that is less."""
    n = np.asarray(n, np.float64)
    return np.minimum(n, 6 * np.sqrt(n)) * EPS


def runs(lengths: np.ndarray) -> np.ndarray:
    """Where runs of these lengths begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


def heads_of(starts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The sums of the runs that begin at `starts`, none of which is empty."""
    return np.add.reduceat(values, starts, axis=0)


def unbounded(shape, inner, tolerance) -> np.ndarray:
    """A tolerance on an inner part, and infinity where the kernel leaves elements as they are."""
    out = np.full(shape, np.inf)
    out[inner] = tolerance
    return out
