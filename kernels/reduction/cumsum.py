"""NumPy reference for cumsum.cu."""

import numpy as np


def cumsum(x, dim):
    """out[i] = x[0] + ... + x[i] along dim; integers as int64."""
    out = x.astype(np.int64 if x.dtype.kind in "iub" else np.float64)
    if out.ndim == 0:
        return out
    rows = np.moveaxis(out, dim, 0)
    for i in range(1, len(rows)):
        rows[i] += rows[i - 1]
    return out
