"""NumPy reference for conv2d.cu."""

import numpy as np


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """For each tap of the kernel, the pixels it meets times its weights, summed over the channels of the group."""
    (sy, sx), (py, px), (dy, dx) = (np.broadcast_to(pair, 2) for pair in (stride, padding, dilation))
    x = np.pad(input.astype(np.float64), ((0, 0), (0, 0), (py, py), (px, px)))
    w = weight.astype(np.float64)
    batch, channels, height, width = x.shape
    outs, per_group, kh, kw = w.shape
    oh, ow = (height - dy * (kh - 1) - 1) // sy + 1, (width - dx * (kw - 1) - 1) // sx + 1
    out = np.zeros((batch, outs, oh, ow))
    for o in range(outs):
        first = o // (outs // groups) * per_group
        for ky in range(kh):
            for kx in range(kw):
                met = x[:, first : first + per_group, ky * dy :: sy, kx * dx :: sx][:, :, :oh, :ow]
                out[:, o] += np.tensordot(w[o, :, ky, kx], met, (0, 1))
    return out if bias is None else out + bias.astype(np.float64)[:, None, None]
