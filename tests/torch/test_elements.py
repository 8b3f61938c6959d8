"""torch's tensors of complex numbers and of 8-bit floats as kernels' arrays; what it says itself of writing an expanded tensor."""

import pytest
import torch

import workbench as wb

OVERLAP = "unsupported operation: more than one element of the written-to tensor refers to a single memory location"


def test_complex_tensors_and_8_bit_floats_are_taken_as_they_lie():
    m = wb.compile(
        "#include <cuda_fp8.h>\n__global__ void z(float2* z) { z[threadIdx.x].y = 1; }\n"
        "__global__ void f(__nv_fp8_e4m3* x) { x[threadIdx.x] = __nv_fp8_e4m3((float)x[threadIdx.x] + 1.5f); }\n"
        "__global__ void bytes(unsigned char* x) { x[0] = 0; }"
    )
    z = torch.zeros(2, dtype=torch.complex64)
    m.z[1, 2](z)
    assert z.tolist() == [1j, 1j]
    x = torch.tensor([0.0, 0.5, -1.5]).to(torch.float8_e4m3fn)
    m.f[1, 3](x)
    assert x.float().tolist() == [1.5, 2, 0]
    m.f[1, 3](x.view(torch.uint8))
    with pytest.raises(wb.ArgumentError, match=r"got an array of float8_e4m3fn; try x\.view\(torch\.uint8\)"):
        m.bytes[1, 1](x)
    with pytest.raises(wb.ArgumentError, match="got an array of float8_e5m2"):
        m.f[1, 3](x.to(torch.float8_e5m2))


def test_writing_an_expanded_tensor_is_told_in_torch_s_words():
    text = "__global__ void put(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] = 1; }"
    op = wb.op("elements::put(Tensor(a!) x) -> ()", text, threads="n")
    host = wb.op("elements::add(Tensor(a!) x) -> ()", "#include <torch/extension.h>\nvoid add(torch::Tensor x) { x.add_(1); }")
    x = torch.zeros(1, 4).expand(3, 4)
    for call in (op, torch.ops.elements.put, host, torch.ops.elements.add, lambda x: x.add_(1)):
        with pytest.raises((RuntimeError, wb.ArgumentError), match=OVERLAP):
            call(x)
    y = torch.zeros(3, 4)
    op(y)
    assert y.sum() == 12
