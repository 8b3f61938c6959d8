"""NumPy reference for topk.cu."""

import numpy as np


def topk(x, k, dim=-1, largest=True, sorted=True):
    """The k greatest or least along dim, in order, the first of equals first; unsorted, those above the last in the order of the row."""
    if x.ndim == 0:
        return (x.copy(), np.zeros((), np.int64)) if k else (x, np.zeros((), np.int64))
    rows = np.moveaxis(x, dim, -1)
    number = rows.astype(np.float64) if x.dtype.kind not in "iu" else rows.astype(np.int64)
    order = np.argsort(-number if largest else number, axis=-1, kind="stable")[..., :k]
    if not sorted and k:
        # The elements equal to the last come behind the others.
        last = np.take_along_axis(number, order[..., -1:], -1)
        ties = np.take_along_axis(number, order, -1) == last
        order = np.take_along_axis(order, np.lexsort((order, ties), axis=-1), -1)
    values = np.take_along_axis(rows, order, -1)
    return np.moveaxis(values, -1, dim), np.moveaxis(order, -1, dim)
