"""NumPy reference for rms_norm.cu."""

import numpy as np


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """input / sqrt(mean(input**2) + eps) * weight, the mean over the trailing dimensions."""
    x = input.astype(np.float64)
    if x.size == 0:
        return x
    if eps is None:
        eps = np.finfo(np.float64 if input.dtype == np.float64 else np.float32).eps
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    y = x / np.sqrt((x * x).mean(axes, keepdims=True) + eps)
    return y if weight is None else y * weight.astype(np.float64)
