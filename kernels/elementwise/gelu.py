"""NumPy reference for gelu.cu."""

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(96)


def normal_cdf(x):
    """The normal distribution function: its density integrated from 0 to x by Gauss and Legendre's rule."""
    x = np.clip(x, -9, 9)[..., None]
    density = np.exp(-0.5 * (x * (NODES + 1) / 2) ** 2) / np.sqrt(2 * np.pi)
    return 0.5 + (x[..., 0] / 2) * (density @ WEIGHTS)


def gelu(x, approximate="none"):
    """x times the normal distribution function, or its tanh approximation."""
    x = x.astype(np.float64)
    if approximate == "none":
        return x * normal_cdf(x)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
