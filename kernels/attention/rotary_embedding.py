"""NumPy reference for rotary_embedding.cu."""

import numpy as np


def rotary_embedding(x, cos, sin, interleaved=False):
    """Each pair of features as a complex number, times cos + i sin."""
    x = x.astype(np.float64)
    half = x.shape[-1] // 2
    first, second = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    turned = (first + 1j * second) * (cos.astype(np.float64) + 1j * sin.astype(np.float64))
    out = np.empty_like(x)
    if interleaved:
        out[..., ::2], out[..., 1::2] = turned.real, turned.imag
    else:
        out[..., :half], out[..., half:] = turned.real, turned.imag
    return out
