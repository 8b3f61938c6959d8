"""Operators of `wb.op` as torch's own: dispatcher, checks, autograd, transforms, compiler, export, cells that are run again."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
import torch

import workbench as wb

MULADD = """
__global__ void muladd(const T* a, const T* b, T c, T* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] SIGN c;
}
__global__ void mul(const T* a, const T* b, T* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i];
}
"""


def compiled(dtype: str, sign: str = "+") -> Any:
    return wb.compile(MULADD, defines={"T": dtype, "SIGN": sign})


def make_mul(namespace: str) -> Any:
    mul = wb.op(f"{namespace}::mul(Tensor a, Tensor b) -> Tensor", compiled("float"), kernel="mul", shape="a[*], b[*] -> out[*]")
    mul.register_kernel("cpu", compiled("double").mul)

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return mul(grad, b), mul(grad, a)

    mul.register_autograd(backward, setup_context=setup)
    return mul


def make(namespace: str, sign: str = "+") -> Any:
    """muladd for float and double, its gradient by another operator that has one itself."""
    mul = make_mul(namespace)
    op = wb.op(
        f"{namespace}::muladd(Tensor a, Tensor b, float c) -> Tensor",
        compiled("float", sign),
        kernel="muladd",
        shape="a[*], b[*] -> out[*]",
        reference=lambda a, b, c: a * b + c,
    )
    op.register_kernel("cpu", compiled("double", sign).muladd)

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], inputs[1])

    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        first = mul(grad, b) if ctx.needs_input_grad[0] else None
        return first, mul(grad, a) if ctx.needs_input_grad[1] else None, None

    op.register_autograd(backward, setup_context=setup)
    return op


@pytest.fixture(scope="module")
def muladd() -> Any:
    make("wb_native")
    return torch.ops.wb_native.muladd


def close(got: torch.Tensor, want: torch.Tensor) -> None:
    # One product and one sum, each rounded once.
    eps = 2 * torch.finfo(want.dtype).eps
    torch.testing.assert_close(got, want, rtol=eps, atol=eps)


def inputs(dtype: torch.dtype = torch.float32, shape: tuple[int, ...] = (3, 5)) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(shape, generator=generator, dtype=dtype), torch.randn(shape, generator=generator, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(3, 5), (0, 4), (), (1,), (257,)])
def test_the_dispatcher_calls_it(muladd, dtype, shape):
    a, b = inputs(dtype, shape)
    close(muladd(a, b, 0.5), a * b + 0.5)


def test_strides_and_storage_offsets(muladd):
    whole = torch.randn(6, 8)
    a, b = whole[1:4, ::2], torch.randn(4, 3).t()
    close(muladd(a, b, -1.0), a * b - 1)
    row = torch.randn(4).expand(3, 4)
    close(muladd(row, row, 0.0), row * row)


def test_a_handle_is_the_same_operator(muladd):
    a, b = inputs()
    close(wb.ops.wb_native.muladd(a, b, c=2.0), a * b + 2)
    # NumPy's arrays go past torch.
    assert isinstance(wb.ops.wb_native.muladd(a.numpy(), b.numpy(), 2.0), np.ndarray)


def test_what_is_wrong_is_said(muladd):
    a, b = inputs()
    with pytest.raises(RuntimeError, match="`wb_native::muladd`: argument `b` is an array of float64"):
        muladd(a, b.double(), 1.0)
    with pytest.raises(wb.ArgumentError, match="argument `b` is an array of float64"):
        wb.ops.wb_native.muladd(a, b.double(), 1.0)
    assert isinstance(wb.last_error(), wb.ArgumentError)
    with pytest.raises(RuntimeError, match="expected at most 3|missing value|Expected a value of type"):
        muladd(a, b)
    close(muladd(a, b, 1.0), a * b + 1)


def test_faults_have_their_text_and_their_class():
    op = wb.op(
        "wb_native::beyond(Tensor x) -> Tensor",
        "__global__ void beyond(const float* x, float* y, int n) { y[threadIdx.x] = x[n + threadIdx.x]; }",
    )
    x = torch.randn(4)
    with pytest.raises(RuntimeError, match="out-of-bounds read in `beyond`") as caught:
        torch.ops.wb_native.beyond(x)
    assert "x[n + threadIdx.x]" in str(caught.value)
    with pytest.raises(wb.KernelFault) as caught:
        op(x)
    assert caught.value.kernel == "beyond" and isinstance(wb.last_error(), wb.KernelFault)


def test_opcheck_passes(muladd):
    a, b = inputs()
    for grad in (False, True):
        result = torch.library.opcheck(muladd.default, (a.clone().requires_grad_(grad), b, 1.5))
        assert set(result.values()) == {"SUCCESS"} and len(result) == 4


def test_gradients(muladd):
    a, b = (x.requires_grad_() for x in inputs(torch.float64))
    assert torch.autograd.gradcheck(lambda x, y: muladd(x, y, 0.5), (a, b))
    assert torch.autograd.gradgradcheck(lambda x, y: muladd(x, y, 0.5), (a, b))
    muladd(a, b.detach(), 2.0).sum().backward()
    close(a.grad, b.detach())
    with torch.no_grad():
        assert not muladd(a, b, 1.0).requires_grad


def test_transforms(muladd):
    a, b = inputs()
    close(torch.func.grad(lambda x: muladd(x, b, 1.0).sum())(a), b)
    # The gradient of the sum of b * b by b.
    close(torch.func.grad(lambda y: torch.func.grad(lambda x: (muladd(x, y, 1.0) * y).sum())(a).sum())(b), 2 * b)
    # The second derivative of x^2 by x, where both levels go through the operator; and beside autograd's own level.
    square = lambda x: muladd(x, x, 0.0).sum()
    close(torch.func.grad(lambda v: torch.func.grad(square)(v).sum())(a), torch.full_like(a, 2))
    close(torch.func.jacrev(torch.func.jacrev(square))(a[0]), 2 * torch.eye(5))
    for forward_mode in (torch.func.hessian(square), torch.func.jacfwd(square)):
        with pytest.raises(RuntimeError, match="jvp"):
            forward_mode(a[0])
    leaf = a.clone().requires_grad_()
    torch.func.grad(square)(leaf).sum().backward()
    close(leaf.grad, torch.full_like(a, 2))
    with pytest.warns(UserWarning, match="batching rule"):
        close(torch.func.vmap(lambda x, y: muladd(x, y, 1.0))(a, b), a * b + 1)
        close(torch.func.vmap(torch.func.grad(lambda x, y: muladd(x, y, 1.0).sum()))(a, b), b)
    close(torch.func.jacrev(lambda x: muladd(x, b[0], 1.0))(a[0]), torch.diag(b[0]))


def test_a_rule_for_batches():
    op = make("wb_batched")
    calls = []

    @op.register_vmap
    def rule(info, in_dims, a, b, c):
        calls.append(in_dims)
        return op(a.movedim(in_dims[0], 0), b.movedim(in_dims[1], 0), c), 0

    a, b = inputs()
    close(torch.func.vmap(lambda x, y: torch.ops.wb_batched.muladd(x, y, 1.0), in_dims=(1, 1), out_dims=1)(a, b), a * b + 1)
    assert calls == [(1, 1, None)]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(muladd, backend):
    a, b = inputs()
    function = torch.compile(lambda x, y: (muladd(x.sin(), y, 3.0) * 2).sum(), fullgraph=True, backend=backend)
    x = a.clone().requires_grad_()
    value = function(x, b)
    torch.testing.assert_close(value, ((a.sin() * b + 3) * 2).sum())
    value.backward()
    torch.testing.assert_close(x.grad, 2 * b * a.cos())
    # Another size, and then any size.
    for n in (4, 9):
        p, q = torch.randn(n), torch.randn(n)
        torch.testing.assert_close(function(p, q), ((p.sin() * q + 3) * 2).sum())


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_handle_in_a_compiled_function(backend):
    """Handles of kernels, of host functions and of callables, without a graph break; a re-run cell shows in it."""
    space = f"handles_{backend}"
    op = make(space)
    host = wb.op(f"{space}::plus(Tensor x) -> Tensor", "at::Tensor plus(at::Tensor x) { return x + 1; }")
    python = wb.op(f"{space}::thrice(Tensor x) -> Tensor", lambda x: x * 3, shape=lambda x: x)
    written = wb.op(
        f"{space}::add_(Tensor(a!) x, float by) -> ()",
        "__global__ void add_(float* x, float by, int n) { int i = threadIdx.x; if (i < n) x[i] += by; }",
    )

    @torch.compile(fullgraph=True, backend=backend)
    def function(a, b):
        return op(a, b, 2.0) * python(host(b))

    @torch.compile(fullgraph=True, backend=backend)
    def in_place(x):
        written(x, 2.0)
        return x * 2

    def run():
        a, b = torch.arange(5.0, requires_grad=True), torch.arange(5.0) + 1
        made = function(a, b)
        made.sum().backward()
        return made, a.grad

    a, b = torch.arange(5.0), torch.arange(5.0) + 1
    made, grad = run()
    torch.testing.assert_close(made, (a * b + 2) * (b + 1) * 3)
    torch.testing.assert_close(grad, b * (b + 1) * 3)
    x = torch.ones(3)
    assert in_place(x).tolist() == [6, 6, 6] and x.tolist() == [3, 3, 3]
    make(space, sign="-")
    made, grad = run()
    torch.testing.assert_close(made, (a * b - 2) * (b + 1) * 3)
    torch.testing.assert_close(grad, b * (b + 1) * 3)


def test_export_with_a_size_that_varies(muladd):
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return muladd(x, y, 3.0)

    n = torch.export.Dim("n")
    program = torch.export.export(Model(), inputs(), dynamic_shapes=({1: n}, {1: n}))
    a, b = torch.randn(3, 11), torch.randn(3, 11)
    close(program.module()(a, b), a * b + 3)


def test_autocast(muladd):
    a, b = inputs()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        product = a @ b.t()
        assert product.dtype == torch.bfloat16
        close(muladd(product.float(), product.float(), 1.0), product.float() ** 2 + 1)
    torch.library.register_autocast("wb_native::muladd", "cpu", torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        close(muladd(a.bfloat16(), b.bfloat16(), 1.0), a.bfloat16().float() * b.bfloat16().float() + 1)


def test_inference_mode_and_tensors_that_torch_shares(muladd):
    a, b = inputs()
    with torch.inference_mode():
        close(muladd(a, b, 1.0), a * b + 1)
    lazy = torch._lazy_clone(a)
    close(muladd(lazy, b, 1.0), a * b + 1)


def test_in_place():
    op = wb.op(
        "wb_native::scale_(Tensor(a!) x, float by) -> Tensor(a!)",
        "__global__ void scale_(float* x, float by, int n) "
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= by; }",
        shape="x[*] ->",
    )
    x = torch.randn(4, 6)
    before = x.clone()
    result = torch.ops.wb_native.scale_(x, 2.0)
    assert result.data_ptr() == x.data_ptr()
    close(x, before * 2)
    # Through strides, and nothing else.
    op(x[:, ::2], 0.5)
    close(x[:, ::2], before[:, ::2])
    close(x[:, 1::2], before[:, 1::2] * 2)
    with pytest.raises(wb.ArgumentError, match="writes x"):
        op.register_autograd(lambda ctx, g: (g, None))

    wb.op(
        "wb_native::twice_out(Tensor x, Tensor(a!) out) -> ()",
        "__global__ void twice_out(const float* x, float* out, int n) "
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 2 * x[i]; }",
        shape="x[n], out[n] ->",
    )
    out = torch.full((7,), float("nan"))
    assert torch.ops.wb_native.twice_out(torch.arange(7.0), out) is None
    assert torch.equal(out, 2 * torch.arange(7.0))
    torch.library.opcheck(torch.ops.wb_native.twice_out.default, (torch.randn(7), torch.zeros(7)))
    function = torch.compile(
        lambda v, w: torch.ops.wb_native.twice_out(v, w) or w + 1, fullgraph=True, backend="aot_eager"
    )
    w = torch.zeros(3)
    assert torch.equal(function(torch.ones(3), w), torch.full((3,), 3.0)) and torch.equal(w, torch.full((3,), 2.0))


SHAPES = """
__global__ void outer(const float* a, const float* b, float* out, long long* count, int m, int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) out[i * n + j] = a[i] * b[j];
    if (i == 0 && j == 0) *count = (long long)m * n;
}
"""


def test_several_outputs_and_shapes_that_are_worked_out():
    wb.op(
        "wb_native::outer(Tensor a, Tensor b) -> (Tensor out, Tensor count)",
        SHAPES,
        shape="a[m], b[n] -> out[m, n], count[1]",
        threads="n, m",
    )
    a, b = torch.randn(3), torch.randn(5)
    out, count = torch.ops.wb_native.outer(a, b)
    close(out, torch.outer(a, b))
    assert count.dtype == torch.int64 and count.tolist() == [15]
    torch.library.opcheck(torch.ops.wb_native.outer.default, (a, b))
    with pytest.raises(wb.ArgumentError, match="`wb_native::outer`: `a` has 2 dimensions; 1 are wanted"):
        torch.ops.wb_native.outer(torch.empty(2, 2, device="meta"), torch.empty(3, device="meta"))


def test_shapes_by_a_callable_and_by_a_fake():
    text = """__global__ void every(const float* x, float* y, int n, int step) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i * step]; }"""
    wb.op(
        "wb_native::every(Tensor x, int step) -> Tensor",
        text,
        shape=lambda x, step: wb.Spec(((x.shape[0] + step - 1) // step,), x.dtype),
    )
    x = torch.randn(10)
    assert torch.equal(torch.ops.wb_native.every(x, 3), x[::3])
    torch.library.opcheck(torch.ops.wb_native.every.default, (x, 3))
    function = torch.compile(torch.ops.wb_native.every, fullgraph=True, backend="aot_eager", dynamic=True)
    for n in (10, 11, 12):
        assert function(torch.ones(n), 4).shape == ((n + 3) // 4,)

    other = wb.op("wb_native::same(Tensor x) -> Tensor", text.replace("every", "same").replace(", int step", "").replace("* step", ""))
    seen = []

    @other.register_fake
    def fake(x):
        seen.append(type(x).__name__)
        return wb.empty_like(x)

    assert torch.equal(torch.ops.wb_native.same(x), x)
    torch.library.opcheck(torch.ops.wb_native.same.default, (x,))
    assert {"Spec", "FakeTensor"} <= set(seen)


def test_a_cell_that_is_run_again():
    """New code, new gradient, new shape: eagerly, and by what was compiled before."""
    op = make("wb_again")
    a, b = inputs()
    held = torch.ops.wb_again.muladd
    close(held(a, b, 1.0), a * b + 1)

    def backward(ctx, grad):
        return grad * 10, None, None

    for backend in ("aot_eager", "inductor"):
        make("wb_again")
        function = torch.compile(lambda x: torch.ops.wb_again.muladd(x, b, 1.0).sum(), fullgraph=True, backend=backend)
        x = a.clone().requires_grad_()
        function(x).backward()
        close(x.grad, b)
        again = make("wb_again", "-")
        again.register_autograd(backward)
        x = a.clone().requires_grad_()
        value = function(x)
        torch.testing.assert_close(value, (a * b - 1).sum())
        value.backward()
        close(x.grad, torch.full_like(a, 10))
    # The same schema: what somebody holds runs the new code, too.
    assert torch.ops.wb_again.muladd is held and again is op
    close(held(a, b, 1.0), a * b - 1)


def test_a_schema_that_changes():
    text = "__global__ void f(const float* x, float* y, int n NAME) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] VALUE; }"
    wb.op("wb_again::f(Tensor x) -> Tensor", text.replace("NAME", "").replace("VALUE", "* 2"))
    x = torch.arange(4.0)
    function = torch.compile(lambda v: torch.ops.wb_again.f(v), backend="aot_eager")
    assert torch.equal(function(x), 2 * x)
    wb.op("wb_again::f(Tensor x, float by=3.0) -> Tensor", text.replace("NAME", ", float by").replace("VALUE", "* by"))
    assert torch.equal(torch.ops.wb_again.f(x), 3 * x) and torch.equal(torch.ops.wb_again.f(x, 5.0), 5 * x)
    assert torch.equal(function(x), 3 * x)
    # An object that was kept is the operator that has the name now; torch's own objects would point at memory that is gone.
    packet, overload = torch.ops.wb_again.f, torch.ops.wb_again.f.default
    for turn in range(20):
        wb.op(f"wb_again::f(Tensor x, float by={turn}.0) -> Tensor", text.replace("NAME", ", float by").replace("VALUE", "* by"))
        assert torch.equal(packet(x), turn * x) and torch.equal(overload(x), turn * x)
        assert torch.ops.wb_again.f is packet and packet.default is overload
        assert repr(turn) in str(overload._schema)
    wb.op("wb_again::f(Tensor x, float by=3.0) -> Tensor", text.replace("NAME", ", float by").replace("VALUE", "* by"))
    with pytest.raises(wb.ArgumentError, match="reserved namespace"):
        wb.op("prim::f(Tensor x) -> Tensor", text.replace("NAME", "").replace("VALUE", "* 2"))
    with pytest.raises(wb.ArgumentError):
        wb.op("wb_again::f(Tensor x -> Tensor", text)
    assert torch.equal(torch.ops.wb_again.f(x), 3 * x)


def test_an_output_shape_that_changes_under_a_compiled_function():
    text = "__global__ void g(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[0] + threadIdx.x; }"
    wb.op("wb_again::g(Tensor x) -> Tensor", text, shape="x[k] -> y[k]", threads="k")
    function = torch.compile(lambda v: torch.ops.wb_again.g(v) * 2, fullgraph=True, backend="inductor")
    assert function(torch.ones(3)).shape == (3,)
    wb.op("wb_again::g(Tensor x) -> Tensor", text, shape="x[k] -> y[2*k]", threads="2*k")
    assert torch.equal(function(torch.ones(3)), 2 + 2 * torch.arange(6.0))


def test_wrong_gradients_are_said():
    op = make("wb_wrong")
    a, b = (x.requires_grad_() for x in inputs())

    def run(backward):
        op.register_autograd(backward)
        torch.ops.wb_wrong.muladd(a, b, 1.0).sum().backward()

    with pytest.raises(wb.ArgumentError, match=r"backward of `wb_wrong::muladd` gave 2 gradients for 3 inputs \(a, b, c\)"):
        run(lambda ctx, g: (g, g))
    with pytest.raises(wb.ArgumentError, match=r"gave a gradient of shape \(2,\) for `b`, whose shape is \(3, 5\)"):
        run(lambda ctx, g: (g, g.new_zeros(2), None))
    with pytest.raises(wb.ArgumentError, match="gave a gradient for `c`, which is no array"):
        run(lambda ctx, g: (g, g, g))
    with pytest.raises(ZeroDivisionError):
        run(lambda ctx, g: 1 / 0)
    a.grad = None
    run(lambda ctx, g: (g, None, None))
    assert torch.equal(a.grad, torch.ones(3, 5))


def test_printf_and_shapes_that_disagree(capsys):
    wb.op(
        "wb_native::say(Tensor x) -> Tensor",
        'extern "C" __global__ void say(const float* x, float* y, int n) '
        '{ if (threadIdx.x < n) { y[threadIdx.x] = 0; printf("%d says %.1f\\n", threadIdx.x, x[threadIdx.x]); } }',
    )
    torch.ops.wb_native.say(torch.tensor([1.5, 2.5]))
    assert capsys.readouterr().out == "0 says 1.5\n1 says 2.5\n"
    op = wb.op(
        "wb_native::misfit(Tensor x) -> Tensor",
        "__global__ void misfit(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }",
        shape=lambda x: wb.Spec(x.shape, "float64"),
    )
    with pytest.raises(wb.ArgumentError, match="shape function says output 0 is float64, and the kernel writes float32"):
        op(torch.ones(3))


def test_an_interrupt_comes_back():
    wb.op(
        "wb_native::forever(Tensor x) -> Tensor",
        "__global__ void forever(const float* x, float* y, int n) { unsigned odd = 1; while (odd != 0) odd *= 3; y[0] = x[0]; }",
    )
    threading.Timer(0.3, wb.interrupt).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        try:
            torch.ops.wb_native.forever(torch.ones(1))
        except RuntimeError:
            for _ in range(1000):
                time.sleep(0.001)
    assert time.monotonic() - began < 5
    threading.Timer(0.3, wb.interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        wb.ops.wb_native.forever(torch.ones(1))
    # Nothing is left over that would come later.
    for _ in range(100):
        time.sleep(0.001)


def test_sixteen_threads_and_a_cell_run_meanwhile(muladd):
    make("wb_threads")
    wrong: list[Any] = []
    stop = threading.Event()

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        try:
            while not stop.is_set():
                a = torch.randn(257, generator=generator)
                got = torch.ops.wb_threads.muladd(a, a, 1.0)
                # The kernel rounds once: what that is less is at most 2^-24 of a product below 30.
                if not any(torch.allclose(got, a * a + c, atol=2e-6) for c in (1, -1)):
                    wrong.append((seed, "values"))
        except Exception as error:
            wrong.append((seed, error))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for turn in range(20):
        op = wb.ops.wb_threads.muladd
        op._define(op.schema, compiled("float", "+-"[turn % 2]), op._parts)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_many_definitions_leave_nothing_behind():
    import resource

    def use() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    text = "__global__ void h(const float* x, float* y, int n, float k) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + k; }"
    module = wb.compile(text)

    def again(turn: int) -> None:
        wb.op(f"wb_again::h(Tensor x, float k={turn}.0) -> Tensor", module)
        assert torch.ops.wb_again.h(torch.zeros(1)).item() == turn

    for turn in range(100):
        again(turn)
    before = use()
    for turn in range(400):
        again(turn)
    # Each definition makes objects of torch's that it frees; the peak may move by what the allocator keeps.
    assert use() - before < 20_000


LATER = """
import sys
import workbench as wb
op = wb.op("later::twice(Tensor x) -> Tensor",
           "__global__ void twice(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x]; }")
op.register_autograd(lambda ctx, g: 2 * g)
wb.load_inline("e", '''#include <torch/extension.h>
at::Tensor half(const at::Tensor& x) { return x / 2; }
TORCH_LIBRARY(later_text, m) { m.def("half(Tensor x) -> Tensor", &half); }''', is_python_module=False)
assert "torch" not in sys.modules
sys.path[:0] = sys.argv[1:]
import torch
x = torch.ones(3, requires_grad=True)
torch.ops.later.twice(x).sum().backward()
assert x.grad.tolist() == [2, 2, 2]
assert torch.ops.later_text.half(x.detach()).tolist() == [0.5] * 3
# The finder that is left waits for torch's compiler.
assert all(f.name == "torch._dynamo" for f in sys.meta_path if "torch_side" in type(f).__module__)
"""


def test_torch_may_come_later():
    light = [path for path in sys.path if "site-packages" in path]
    code = f"import sys; sys.path += {light!r}\n" + LATER
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


HOST = """
#include <torch/extension.h>
at::Tensor positive(const at::Tensor& x) { return x.masked_select(x > 0); }
std::vector<at::Tensor> scale_each(const std::vector<at::Tensor>& xs, double by, const std::optional<at::Tensor>& add) {
    std::vector<at::Tensor> out;
    for (const auto& x : xs) out.push_back(add.has_value() ? x * by + *add : x * by);
    return out;
}
at::Tensor powered(const at::Tensor& x, int64_t n) {
    at::Tensor y = at::ones_like(x);
    for (int64_t i = 0; i < n; ++i) y = y * x;
    return y;
}
"""


def test_an_output_whose_size_is_in_the_data():
    op = wb.op("wb_host::positive(Tensor x) -> Tensor", HOST)
    x = torch.tensor([-1.0, 2.0, 0.0, 3.0])
    assert torch.ops.wb_host.positive(x).tolist() == [2.0, 3.0]

    @op.register_fake
    def fake(x):
        return x.new_empty(torch.library.get_ctx().new_dynamic_size())

    function = torch.compile(lambda v: torch.ops.wb_host.positive(v) * 2, fullgraph=True, backend="aot_eager")
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    for values in ([1.0, -1.0, 2.0], [-1.0, -1.0, 5.0]):
        assert function(torch.tensor(values)).tolist() == [2 * v for v in values if v > 0]


def test_lists_have_gradients():
    op = wb.op("wb_host::scale_each(Tensor[] xs, float by, Tensor? add=None) -> Tensor[]", HOST)

    def setup(ctx, inputs, output):
        ctx.by, ctx.has = inputs[1], inputs[2] is not None

    def backward(ctx, grads):
        return [g * ctx.by for g in grads], None, sum(grads) if ctx.has else None

    op.register_autograd(backward, setup_context=setup)
    xs = [torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)]
    add = torch.randn(3, requires_grad=True)
    first, second = torch.ops.wb_host.scale_each(xs, 2.0, add)
    close(first, xs[0] * 2 + add)
    (first.sum() + 3 * second.sum()).backward()
    assert xs[0].grad.tolist() == [2.0] * 3 and xs[1].grad.tolist() == [6.0] * 3 and add.grad.tolist() == [4.0] * 3
    # Without the optional, which the dispatcher leaves out.
    (only,) = torch.ops.wb_host.scale_each([xs[0]], 0.5)
    xs[0].grad = None
    only.sum().backward()
    assert xs[0].grad.tolist() == [0.5] * 3
    torch.library.opcheck(torch.ops.wb_host.scale_each.default, ([x.detach() for x in xs], 2.0, None))


def test_a_gradient_by_an_operator_and_defaults_that_are_left_out():
    text = HOST.replace("powered", "power_of")
    power = wb.op("wb_host::power_of(Tensor x, int n=2) -> Tensor", text)
    slope = """
    #include <torch/extension.h>
    at::Tensor slope(const at::Tensor& g, const at::Tensor& x, int64_t n) { return g * n * at::pow(x, (double)(n - 1)); }
    """
    wb.op("wb_host::slope(Tensor g, Tensor x, int n) -> Tensor", slope)
    power.register_autograd("wb_host::slope", saves=["x", "n"])
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: torch.ops.wb_host.power_of(v, 3), (x,))
    assert torch.autograd.gradcheck(torch.ops.wb_host.power_of, (x,))
    power.opcheck(x.detach().numpy(), 3)
    assert power.gradcheck(np.array([0.5, -1.5]), 3).passed
    function = torch.compile(lambda v: torch.ops.wb_host.power_of(v, 3).sum(), fullgraph=True, backend="aot_eager")
    function(x).backward()
    torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)


def test_a_callable_in_torch():
    kinds = []

    def scaled(x, by):
        kinds.append(type(x).__name__)
        return x * by

    op = wb.op("wb_python::scaled(Tensor x, float by=2.0) -> Tensor", scaled, shape=lambda x, by=2.0: wb.empty_like(x))
    op.register_autograd(lambda ctx, g: (g * ctx.by, None), setup_context=lambda ctx, inputs, output: setattr(ctx, "by", inputs[1]))
    x = torch.randn(3, requires_grad=True)
    close(torch.ops.wb_python.scaled(x), 2 * x)
    close(op(x, 3.0), 3 * x)
    assert op(np.ones(2)).tolist() == [2, 2] and kinds == ["Tensor", "Tensor", "ndarray"]
    torch.ops.wb_python.scaled(x, 3.0).sum().backward()
    assert x.grad.tolist() == [3.0] * 3
    torch.library.opcheck(torch.ops.wb_python.scaled.default, (x, 3.0))
    wb.op("wb_python::scaled(Tensor x, float by=2.0) -> Tensor", lambda x, by: x - by)
    close(torch.ops.wb_python.scaled(x, 1.0), x - 1)


SPIN = """__global__ void spin(const float* x, float* y, int n MORE) {
    unsigned odd = 1; for (int i = 0; i < 60000000; ++i) odd = odd * 3 + (unsigned)x[0]; y[0] = odd ? 1.0f : 0.0f; }"""


def test_a_schema_that_changes_while_a_call_is_inside():
    wb.op("wb_during::spin(Tensor x) -> Tensor", SPIN.replace("MORE", ""), threads="1", block=1)
    done: list[Any] = []
    thread = threading.Thread(target=lambda: done.append(torch.ops.wb_during.spin(torch.zeros(2))))
    thread.start()
    time.sleep(0.05)
    wb.op("wb_during::spin(Tensor x, int k) -> Tensor", SPIN.replace("MORE", ", int k"), threads="1", block=1)
    thread.join()
    assert done[0][0] == 1
    assert torch.ops.wb_during.spin(torch.zeros(2), 1)[0] == 1


def test_an_operator_that_changes_its_own_schema():
    text = "__global__ void own(const float* x, float* y, int n MORE) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }"

    def shape(x):
        wb.op("wb_during::own(Tensor x, int k) -> Tensor", text.replace("MORE", ", int k"))
        return wb.empty_like(x)

    wb.op("wb_during::own(Tensor x) -> Tensor", text.replace("MORE", ""), shape=shape)
    with pytest.raises(RuntimeError, match="a call of `wb_during::own` is running, and its schema cannot change meanwhile"):
        torch.ops.wb_during.own(torch.ones(3))
    wb.op("wb_during::own(Tensor x, int k) -> Tensor", text.replace("MORE", ", int k"))
    assert torch.ops.wb_during.own(torch.ones(3), 1).tolist() == [1.0] * 3


def test_schemas_of_other_types_while_threads_call():
    text = "__global__ void z(const float* x, WHAT n, float* y) { y[0] = x[0]; }"
    kinds = [("wb_during::z(Tensor x, int n) -> Tensor", "int"), ("wb_during::z(Tensor x, Tensor n) -> Tensor", "const float*")]

    def define(turn: int) -> None:
        schema, kind = kinds[turn % 2]
        wb.op(schema, text.replace("WHAT", kind), threads="1", block=1)

    define(0)
    x, stop, results = torch.ones(3), threading.Event(), []

    def work() -> None:
        while not stop.is_set():
            try:
                results.append(torch.ops.wb_during.z(x, 3)[0].item())
            except (RuntimeError, TypeError):
                pass

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(1, 61):
        define(turn)
    stop.set()
    for thread in threads:
        thread.join()
    assert results and set(results) == {1.0}


def test_a_name_that_is_a_kernel_and_then_a_registration():
    kernel = "__global__ void f(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + 1; }"
    library = 'at::Tensor f(const at::Tensor& x) { return x + 2; } TORCH_LIBRARY(wb_turns, m) { m.def("f(Tensor x) -> Tensor", &f); }'
    for _ in range(2):
        wb.op("wb_turns::f(Tensor x) -> Tensor", kernel)
        assert torch.ops.wb_turns.f(torch.zeros(1)).item() == 1
        wb.load_inline("turns", library, is_python_module=False)
        assert torch.ops.wb_turns.f(torch.zeros(1)).item() == 2
        wb.op("wb_turns::f(Tensor x) -> Tensor", lambda x: x + 3)
        assert torch.ops.wb_turns.f(torch.zeros(1)).item() == 3


def test_what_is_written_counts_as_changed():
    op = wb.op("wb_written::add_(Tensor(a!) x) -> ()", "void add_(at::Tensor x) { x.add_(1); }", kernel="add_")
    kernel = "__global__ void add(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }"
    other = wb.op("wb_written::kernel_(Tensor(a!) x) -> ()", kernel, shape="x[n] ->")
    for call in (torch.ops.wb_written.add_, torch.ops.wb_written.kernel_, op, other):
        w = torch.ones(3, requires_grad=True)
        a = w * 1
        b = a.sin()
        call(a)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            b.sum().backward()
        with pytest.raises(RuntimeError, match="writes a leaf of the graph that requires grad"):
            call(w)
        with torch.no_grad():
            call(w)
        assert w.tolist() == [2.0] * 3
        with torch.inference_mode():
            inference = torch.ones(3)
            call(inference)
        with pytest.raises(RuntimeError, match="inference tensor"):
            call(inference)


def test_gradients_that_would_be_lost_are_refused():
    text = "__global__ void h(const float* x, const float* k, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * k[threadIdx.x]; }"
    op = wb.op("wb_lost::h(Tensor x, *, Tensor k) -> Tensor", text)
    with pytest.raises(wb.ArgumentError, match="`wb_lost::h` takes k by name alone"):
        op.register_autograd(lambda ctx, g: (g,))
    # The backward has no gradient itself: torch would take zeros.
    square = """
    __global__ void sq(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }
    __global__ void sq_backward(const float* g, const float* x, float* y, int n) {
        if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x] * g[threadIdx.x];
    }
    at::Tensor composite(const at::Tensor& x) { return x * x; }
    at::Tensor composite_backward(const at::Tensor& g, const at::Tensor& x) { return 2 * x * g; }
    """
    wb.op("wb_lost::sq_backward(Tensor g, Tensor x) -> Tensor", square, kernel="sq_backward")
    wb.op("wb_lost::sq(Tensor x) -> Tensor", square, kernel="sq").register_autograd("wb_lost::sq_backward", saves=["x"])
    f = torch.ops.wb_lost.sq
    x = torch.ones(3)
    assert torch.func.grad(lambda v: f(v).sum())(x).tolist() == [2.0] * 3
    # One of operations on tensors has one.
    wb.op("wb_lost::composite_backward(Tensor g, Tensor x) -> Tensor", square, kernel="composite_backward")
    other = wb.op("wb_lost::composite(Tensor x) -> Tensor", square, kernel="composite")
    other.register_autograd("wb_lost::composite_backward", saves=["x"])
    assert torch.func.grad(lambda v: torch.func.grad(lambda u: other(u).sum())(v).sum())(x).tolist() == [2.0] * 3
    with pytest.raises(wb.ArgumentError, match="`wb_lost::sq_backward` has no gradient"):
        torch.func.grad(lambda v: torch.func.grad(lambda u: f(u).sum())(v).sum())(x)


def test_devices_that_differ_are_refused():
    text = "__global__ void f(const float* p, const float* q, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = p[threadIdx.x]; }"
    wb.op("wb_devices::a(Tensor p, Tensor q) -> Tensor", text)
    with pytest.raises(wb.ArgumentError, match="`wb_devices::a`: one argument is on cpu, and another on meta"):
        torch.ops.wb_devices.a(torch.ones(3), torch.ones(3, device="meta"))


def test_keyword_only_arguments_and_empty_lists_of_texts():
    text = """
    #include <torch/extension.h>
    at::Tensor by(const at::Tensor& x, double a) { return x * a; }
    at::Tensor sum(at::TensorList xs, const at::Tensor& y) { at::Tensor r = y; for (const at::Tensor& x : xs) r = r + x; return r; }
    TORCH_LIBRARY(wb_named, m) {
        m.def("by(Tensor x, *, float a=2.0) -> Tensor", &by);
        m.def("sum(Tensor[] xs, Tensor y) -> Tensor", &sum);
    }
    """
    wb.load_inline("named", text, is_python_module=False)
    x = torch.ones(3)
    assert torch.ops.wb_named.by(x, a=3.0).tolist() == [3.0] * 3 and torch.ops.wb_named.by(x).tolist() == [2.0] * 3
    total = wb.ops.wb_named.sum

    def setup(ctx, inputs, output):
        ctx.n = len(inputs[0])

    total.register_autograd(lambda ctx, g: ([g] * ctx.n, g), setup_context=setup)
    for count in (0, 2):
        y = torch.ones(3, requires_grad=True)
        torch.ops.wb_named.sum([torch.ones(3)] * count, y).sum().backward()
        assert y.grad.tolist() == [1.0] * 3


def test_operators_of_others_are_left_alone():
    text = "__global__ void f(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x]; }"
    library = torch.library.Library("wb_others", "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CPU")
    theirs = torch.ops.wb_others.f
    with pytest.raises(wb.ArgumentError, match="torch takes no operator `wb_others::f"):
        wb.op("wb_others::f(Tensor x) -> Tensor", text)
    assert theirs(torch.ones(1)).item() == 2 and torch.ops.wb_others.f(torch.ones(1)).item() == 2
    # Two overloads are two operators of ours under one name of torch's.
    one = wb.op("wb_others::g.one(Tensor x) -> Tensor", text)
    two = wb.op("wb_others::g.two(Tensor x, int k) -> Tensor", text.replace("int n)", "int n, int k)"))
    held = torch.ops.wb_others.g.two
    wb.op("wb_others::g.one(Tensor x, float k=0.0) -> Tensor", text.replace("int n)", "int n, float k)"))
    x = torch.ones(2)
    assert held(x, 1).tolist() == [2, 2] and torch.ops.wb_others.g.one(x).tolist() == [2, 2]
    assert one(x).tolist() == two(x, 1).tolist() == [2, 2]
    library._destroy()


def test_names_that_are_something_else_too():
    text = "__global__ void f(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }"
    for name in ("name", "__init__"):
        for _ in range(2):
            with pytest.raises(wb.ArgumentError, match=f"torch.ops.wb_named.{name} is torch's own"):
                wb.op(f"wb_named::{name}(Tensor x) -> Tensor", text)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_strides_of_results_are_known_without_data(backend):
    text = "at::Tensor turned(const at::Tensor& x) { return (x + 1).t(); } at::Tensor kept(const at::Tensor& x) { return x.relu(); }"
    wb.op("wb_strides::turned(Tensor x) -> Tensor", text, kernel="turned")
    wb.op("wb_strides::kept(Tensor x) -> Tensor", text, kernel="kept")
    for op in (torch.ops.wb_strides.turned, torch.ops.wb_strides.kept):
        for x in (torch.randn(3, 5), torch.randn(5, 3).t()):
            real, fake = op(x), op(x.to("meta"))
            assert real.stride() == fake.stride() and real.shape == fake.shape
            function = torch.compile(lambda v: op(v) * 2, fullgraph=True, backend=backend)
            close(function(x), op(x) * 2)


def test_the_gradient_of_a_tensor_that_was_left_out_is_dropped():
    text = """
    __global__ void shifted(const float* x, const float* by, float* out, int n) { int i = threadIdx.x; if (i < n) out[i] = x[i] + (by ? by[i] : 1.0f); }
    __global__ void back(const float* g, float* gx, float* gby, int n) { int i = threadIdx.x; if (i < n) { gx[i] = g[i]; gby[i] = 2 * g[i]; } }
    """
    op = wb.op("left_out::shifted(Tensor x, Tensor? by=None) -> Tensor", text, "shifted", shape="x[n], by[n] -> out[n]")
    wb.op("left_out::back(Tensor g) -> (Tensor, Tensor)", text, "back", shape="g[n] -> gx[n], gby[n]")
    op.register_autograd("left_out::back", saves=[])
    for call in (op, torch.ops.left_out.shifted):
        for by in ((), (None,), (torch.randn(4, requires_grad=True),)):
            x = torch.randn(4, requires_grad=True)
            call(x, *by).sum().backward()
            assert torch.equal(x.grad, torch.ones(4)) and all(t is None or torch.equal(t.grad, torch.full((4,), 2.0)) for t in by)
