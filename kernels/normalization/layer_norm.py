"""NumPy reference for layer_norm.cu."""

import numpy as np


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(input - mean) / sqrt(variance + eps) * weight + bias, mean and variance over the trailing dimensions."""
    x = input.astype(np.float64)
    if x.size == 0:
        return x
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    if weight is not None:
        y = y * weight.astype(np.float64)
    return y if bias is None else y + bias.astype(np.float64)
