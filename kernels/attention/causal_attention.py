"""NumPy reference for causal_attention.cu."""

import numpy as np


def causal_attention(query, key, value, scale=None):
    """softmax(scale * query key^T) value, the scores of later keys minus infinity."""
    q, k, v = (x.astype(np.float64) for x in (query, key, value))
    if q.size == 0:
        return q
    scores = q @ k.swapaxes(-1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    scores = np.where(np.tri(q.shape[2], k.shape[2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v
