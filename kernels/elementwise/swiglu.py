"""NumPy reference for swiglu.cu."""

import numpy as np


def swiglu(gate, up):
    """silu(gate) * up, the logistic function by way of tanh."""
    gate, up = gate.astype(np.float64), up.astype(np.float64)
    return gate * (0.5 + 0.5 * np.tanh(0.5 * gate)) * up
