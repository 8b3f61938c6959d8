"""What an `fma` of `float` gives."""

import numpy as np


def fma(a, b, c):
    """`a * b + c` of `float` with one rounding.

    The product of two `float`s is exact in `double`. The sum is rounded to `double` towards odd (Boldo and Melquiond, "Emulation of a FMA and
    correctly rounded sums: proved algorithms using rounding to odd", 2008), so that the second rounding is that of the exact sum.
    """
    product = np.multiply(a, b, dtype=np.float64)
    c = np.asarray(c, np.float64)
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    is_even = np.ascontiguousarray(total).view(np.int64).reshape(total.shape) & 1 == 0
    odd = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    return np.where((error != 0) & is_even, odd, total).astype(np.float32)
