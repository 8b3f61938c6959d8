"""NumPy reference for max_pool2d.cu."""

import numpy as np


def windows(size, kernel, stride, padding, dilation, ceil_mode):
    """For each output along one axis, the pixels its window meets."""
    out, start = [], -padding
    while True:
        places = [start + k * dilation for k in range(kernel)]
        fits = places[-1] < size + padding
        # With ceil_mode a window may hang over the end, if it begins in the input or in the padding before it.
        if not fits and (not ceil_mode or start >= size or (start + padding) - (stride - 1) + dilation * (kernel - 1) >= size + 2 * padding):
            return out
        out.append([p for p in places if 0 <= p < size])
        start += stride


def max_pool2d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """The greatest pixel of each window, and where it is in its plane."""
    kernel, pad, dil = (np.broadcast_to(pair, 2) for pair in (kernel_size, padding, dilation))
    step = kernel if np.size(stride) == 0 else np.broadcast_to(stride, 2)
    height, width = input.shape[-2:]
    rows = windows(height, kernel[0], step[0], pad[0], dil[0], ceil_mode)
    columns = windows(width, kernel[1], step[1], pad[1], dil[1], ceil_mode)
    values = np.empty((*input.shape[:-2], len(rows), len(columns)))
    indices = np.empty(values.shape, np.int64)
    for plane in np.ndindex(input.shape[:-2]):
        for y, met_rows in enumerate(rows):
            for x, met_columns in enumerate(columns):
                window = input[plane].astype(np.float64)[np.ix_(met_rows, met_columns)]
                a, b = np.unravel_index(window.argmax(), window.shape)
                values[plane][y, x] = window[a, b]
                indices[plane][y, x] = met_rows[a] * width + met_columns[b]
    return values, indices
