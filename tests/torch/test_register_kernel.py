"""Several implementations of one operator in torch's dispatcher: callables are given tensors, and everything else stays as it was."""

import numpy as np
import pytest
import torch
import workbench as wb

SCALE = """
__global__ void scale(const float* x, float by, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * by;
}
"""
HOST = "at::Tensor scaled(const at::Tensor& x, double by) { return x * by; }"
SCHEMA = "others::scale(Tensor x, float by) -> Tensor"


def made(way):
    if way == "kernel":
        return wb.op(SCHEMA, SCALE, shape="x[*] -> y[*]")
    if way == "host function":
        return wb.op(SCHEMA, HOST, kernel="scaled")
    return wb.op(SCHEMA, lambda x, by: x * by, shape=lambda x, by: wb.empty_like(x))


@pytest.mark.parametrize("way", ["kernel", "host function", "callable"])
def test_callables_are_given_tensors(way):
    op, seen = made(way), []
    x = torch.randn(4, 3)
    torch.testing.assert_close(torch.ops.others.scale(x, 2.0), 2 * x)

    @op.register_kernel("cpu", dtypes=["float64"])
    def scale(x, by):
        seen.append(type(x))
        return x * by

    torch.testing.assert_close(torch.ops.others.scale(x, 2.0), 2 * x)
    assert seen == []
    torch.testing.assert_close(torch.ops.others.scale(x.double(), 2.0), 2 * x.double())
    torch.testing.assert_close(op(x.double(), 2.0), 2 * x.double())
    assert seen == [torch.Tensor] * 2
    assert isinstance(op(np.ones(2), 2.0), np.ndarray) and seen[2:] == [np.ndarray]
    checked = torch.library.opcheck(torch.ops.others.scale.default, (x.double(), 2.0))
    assert set(checked.values()) == {"SUCCESS"}
    compiled = torch.compile(lambda x: torch.ops.others.scale(x, 3.0) + 1, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x.double()), 3 * x.double() + 1)
    torch.testing.assert_close(compiled(x), 3 * x + 1)


@pytest.mark.parametrize("way", ["kernel", "host function", "callable"])
def test_gradients_and_batches_stay(way):
    op = made(way)
    op.register_autograd(lambda ctx, grad: (op(grad, ctx.by), None), setup_context=lambda ctx, inputs, output: setattr(ctx, "by", inputs[1]))
    op.register_vmap(lambda info, dims, x, by: (op(x, by), dims[0]))
    op.register_kernel("cpu", lambda x, by: x * by, dtypes=["float64"])
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: torch.ops.others.scale(x, -1.5), (x,))
    batched = torch.func.vmap(lambda x: torch.ops.others.scale(x, 2.0))(x.detach())
    torch.testing.assert_close(batched, 2 * x.detach())
    single = torch.randn(5, requires_grad=True)
    torch.ops.others.scale(single, 3.0).sum().backward()
    assert (single.grad == 3).all()


def test_what_they_write_and_give_is_checked():
    op = made("kernel")
    x = torch.randn(4, dtype=torch.float64)
    before = x.clone()
    op.register_kernel("cpu", lambda x, by: x.mul_(by), dtypes=["float64"])
    with pytest.raises(Exception, match="writes `x`, which its schema does not mark"):
        torch.ops.others.scale(x, 2.0)
    x.copy_(before)
    op.register_kernel("cpu", lambda x, by: x[:2], dtypes=["float64"])
    with pytest.raises(Exception, match=r"gave float64 \[2\], and its shape function said float64 \[4\]"):
        torch.ops.others.scale(x, 2.0)
    op.register_kernel("cpu", lambda x, by: x, dtypes=["float64"])
    assert torch.ops.others.scale(x, 2.0).data_ptr() != x.data_ptr()
    with pytest.raises(Exception, match="float16"):
        torch.ops.others.scale(x.half(), 2.0)


def test_a_callable_for_cuda_is_torchs():
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    # A kernel's text is compiled for a GPU, and host code says that it is not; a callable is for the CPU.
    for way in ("kernel", "host function"):
        made(way)
        assert has("others::scale", "CUDA")
    op = made("callable")
    assert not has("others::scale", "CUDA")
    op.register_kernel("cuda", lambda x, by: x * by)
    assert has("others::scale", "CUDA")
    x = torch.randn(3)
    torch.testing.assert_close(torch.ops.others.scale(x, 2.0), 2 * x)
    # Tensors without data go the shapes' way.
    assert torch.ops.others.scale(x.to("meta"), 2.0).shape == (3,)
    made("callable")
    assert not has("others::scale", "CUDA")


def test_the_kernel_comes_back():
    op, calls = made("kernel"), []
    op.register_kernel("cpu", lambda x, by: calls.append(1) or x)
    held = torch.ops.others.scale
    held(torch.ones(2), 2.0)
    assert calls == [1]
    made("kernel")
    assert held(torch.ones(2), 2.0).tolist() == [2, 2] and calls == [1]
    torch.testing.assert_close(op(torch.ones(2), 3.0), torch.full((2,), 3.0))


@pytest.mark.parametrize("way", ["kernel", "host function", "callable"])
def test_without_a_gradient_there_is_none_by_accident(way):
    op = made(way)
    op.register_kernel("cpu", lambda x, by: x * by, dtypes=["float64"])
    for dtype in (torch.float32, torch.float64):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        y = torch.ops.others.scale(x, 2.0)
        if way != "host function":
            # torch's own, which warns where somebody goes through it.
            assert y.grad_fn.name().endswith("WarnNotImplemented")
        elif dtype == torch.float32:
            # The gradient of operations in host code is recorded.
            y.sum().backward()
            assert x.grad.tolist() == [2, 2]
        else:
            with pytest.raises(wb.ArgumentError, match="`others::scale` has no gradient"):
                y.sum().backward()


@pytest.mark.parametrize("way", ["kernel", "host function", "callable"])
def test_a_gradient_that_comes_after_compilation_is_found(way):
    op = made(way)

    def compiled_gradient():
        torch._dynamo.reset()
        x = torch.ones(2, requires_grad=True)
        result = torch.compile(lambda x: torch.ops.others.scale(x, 2.0) * 1, backend="aot_eager", fullgraph=True)(x)
        if result.requires_grad:
            result.sum().backward()
        return x.grad

    before = compiled_gradient()
    assert before.tolist() == [2, 2] if way == "host function" else before is None
    op.register_autograd(lambda ctx, grad: (7 * grad, None))
    assert compiled_gradient().tolist() == [7, 7]


def test_what_is_to_be_written_is_written():
    op = wb.op(
        "others::add_(Tensor(a!) x, float by) -> Tensor(a!)",
        "__global__ void add_(float* x, float by, int n) { int i = threadIdx.x; if (i < n) x[i] += by; }",
    )
    op.register_kernel("cpu", lambda x, by: x + by, dtypes=["float64"])
    with pytest.raises(Exception, match="gave something else than `x`, which it is to write"):
        torch.ops.others.add_(torch.zeros(2, dtype=torch.float64), 2.0)
    op.register_kernel("cpu", lambda x, by: x.add_(by), dtypes=["float64"])
    x = torch.zeros(2, dtype=torch.float64)
    assert torch.ops.others.add_(x, 2.0).data_ptr() == x.data_ptr() and x.tolist() == [2, 2]


def test_complex_tensors_go_to_callables():
    op = wb.op("others::conjugate(Tensor x) -> Tensor", lambda x: x.conj().resolve_conj(), shape=lambda x: wb.empty_like(x))
    x = torch.tensor([1 + 2j])
    assert op(x).tolist() == [1 - 2j]
