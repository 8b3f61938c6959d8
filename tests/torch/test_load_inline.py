"""`wb.load_inline` beside torch: what torch's users pass, and what they get back."""

import warnings

import pytest
import torch

import workbench as wb

TEXT = """
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
torch::Tensor f(torch::Tensor x) {
    auto y = torch::empty_like(x);
    twice<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
torch::Tensor made(int64_t n) { return torch::ones({n}); }
torch::Tensor same(torch::Tensor x) { return x + 1; }
int64_t count(torch::Tensor x) { return x.numel(); }
"""


@pytest.fixture(scope="module")
def m():
    return wb.load_inline("beside_torch", "", TEXT)


def test_parameters_are_taken_and_no_gradient_is_claimed(m):
    p = torch.nn.Parameter(torch.randn(300))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(m.f(p), 2 * p)
    with pytest.warns(UserWarning, match="requires grad") as told:
        y = m.f(p)
    assert not y.requires_grad and torch.equal(y, 2 * p.detach())
    assert told[0].filename == __file__


def test_inside_of_an_autograd_function(m):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return m.f(x)

        @staticmethod
        def backward(ctx, g):
            return m.f(g.contiguous())

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = torch.nn.Parameter(torch.randn(30))
        Twice.apply(p).sum().backward()
    assert torch.equal(p.grad, torch.full_like(p, 2))


def test_what_comes_of_numbers_is_a_tensor(m):
    y = m.made(3)
    assert isinstance(y, torch.Tensor) and torch.equal(y, torch.ones(3))


def test_bfloat16_goes_in_and_comes_out(m):
    x = torch.randn(9).bfloat16()
    assert torch.equal(m.same(x), x + 1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool, torch.float32])
def test_a_tensor_of_one_number_is_a_tensor(m, dtype):
    for shape in ((), (1,), (1, 1)):
        assert m.count(torch.ones(shape, dtype=dtype)) == 1


def test_an_operator_without_a_schema_may_write_what_it_is_given():
    wb.load_inline(
        "writes", "", """
        __global__ void put(float* y) { y[threadIdx.x] = 7.f; }
        void fill(int64_t n, torch::Tensor& y) { put<<<1, n>>>(y.data_ptr<float>()); }
        TORCH_LIBRARY(wb_writes, m) { m.def("fill", fill); m.def("sealed(int n, Tensor y) -> ()", &fill); }
        """)
    y = torch.zeros(4)
    torch.ops.wb_writes.fill(3, y)
    assert y.tolist() == [7, 7, 7, 0]
    with pytest.raises(RuntimeError, match="read-only"):
        torch.ops.wb_writes.sealed(3, y)
