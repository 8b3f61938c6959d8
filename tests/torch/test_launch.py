"""Launches on torch's tensors, and what of torch's surface is here: what only an environment with torch can show."""

import inspect

import pytest
import torch
import torch.utils.cpp_extension
import workbench as wb

COPY = "__global__ void copy(const float* x, float* out, int n) { int i = threadIdx.x; if (i < n) out[i] = x[i]; }"
SCALE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <typename T> __device__ void scaled(const T* x, T* y, T a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * a;
}
__global__ void half_scale(const __half* x, __half* y, __half a, int n) { scaled(x, y, a, n); }
__global__ void brain_scale(const __nv_bfloat16* x, __nv_bfloat16* y, __nv_bfloat16 a, int n) { scaled(x, y, a, n); }
"""


def test_tensors_share_their_memory():
    copy = wb.compile(COPY).copy
    x, out = torch.arange(8, dtype=torch.float32), torch.zeros(8)
    copy[1, 8](x, out, 8)
    assert torch.equal(out, x)
    leaf = torch.zeros(8, requires_grad=True)
    with pytest.warns(UserWarning, match="records no gradient"):
        copy[1, 8](x, leaf, 8)
    assert torch.equal(leaf.detach(), x)


@pytest.mark.parametrize(("kernel", "dtype"), [("half_scale", torch.float16), ("brain_scale", torch.bfloat16)])
def test_tensors_of_16_bits(kernel, dtype):
    x, y = torch.arange(4).to(dtype), torch.zeros(4, dtype=dtype)
    wb.compile(SCALE)[kernel][1, 4](x, y, 2.0, 4)
    assert torch.equal(y, x * 2)


def test_the_signature_of_load_inline_is_torchs():
    theirs = inspect.signature(torch.utils.cpp_extension.load_inline).parameters
    assert set(theirs) <= set(inspect.signature(wb.load_inline).parameters)
