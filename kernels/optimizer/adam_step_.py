"""NumPy reference for adam_step_.cu."""

import numpy as np


def adam_step_(param, grad, exp_avg, exp_avg_sq, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0, decoupled=False):
    """The parameter and both moments after the step."""
    p, g, m, v = (x.astype(np.float64) for x in (param, grad, exp_avg, exp_avg_sq))
    if decoupled:
        p = p * (1 - lr * weight_decay)
    else:
        g = g + weight_decay * p
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    m_hat, v_hat = m / (1 - beta1**step), v / (1 - beta2**step)
    return p - lr * m_hat / (np.sqrt(v_hat) + eps), m, v
