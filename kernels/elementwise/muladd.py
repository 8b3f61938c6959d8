"""NumPy reference for muladd.cu."""

import numpy as np


def muladd(a, b, c):
    """a * b + c."""
    return a.astype(np.float64) * b.astype(np.float64) + c
