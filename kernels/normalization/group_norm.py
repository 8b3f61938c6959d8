"""NumPy reference for group_norm.cu."""

import numpy as np


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Each group of channels of each sample to mean 0 and variance 1, then weight and bias of the channel."""
    x = input.astype(np.float64)
    if x.size == 0:
        return x
    out = np.empty_like(x)
    width = x.shape[1] // num_groups
    for sample in range(x.shape[0]):
        for first in range(0, x.shape[1], width):
            group = x[sample, first : first + width]
            out[sample, first : first + width] = (group - group.mean()) / np.sqrt(group.var() + eps)
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    if weight is not None:
        out = out * weight.astype(np.float64).reshape(per_channel)
    return out if bias is None else out + bias.astype(np.float64).reshape(per_channel)
