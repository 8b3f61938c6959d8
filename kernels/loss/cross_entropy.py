"""NumPy reference for cross_entropy.cu."""

import numpy as np


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """-weight[target] * log(softmax(input))[target]; the mean is over the weights of the targets that are not ignored."""
    x = input.astype(np.float64)
    shape = target.shape
    # Rows of classes, whatever else there is.
    x = x[None] if x.ndim == 1 else np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])
    w = np.ones(x.shape[1]) if weight is None else weight.astype(np.float64)
    losses, weights = [], []
    for row, t in zip(x, target.reshape(-1)):
        kept = t != ignore_index
        weights.append(w[t] if kept else 0.0)
        losses.append(w[t] * (np.logaddexp.reduce(row) - row[t]) if kept else 0.0)
    losses = np.array(losses).reshape(shape)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    with np.errstate(invalid="ignore"):
        return losses.sum() / np.sum(weights)
