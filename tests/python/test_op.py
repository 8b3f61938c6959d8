"""Operators: schemas, shapes, binding, calls, gradients, the registry."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Optional

import numpy as np
import pytest
from conftest import MULADD

import workbench as wb

from fused import fma

GRAD = """
__global__ void square(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
__global__ void square_backward(const float* x, const float* grad, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * x[i] * grad[i];
}
"""

MATMUL = """
__global__ void matmul(const float* a, const float* b, float* out, int m, int k, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
    out[row * n + col] = sum;
}
"""

SPLIT = """
__global__ void split(const float* x, float* low, int* sign, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { low[i] = fabsf(x[i]); sign[i] = x[i] < 0 ? -1 : 1; }
}
"""

TWICE = """
template <typename T> __global__ void twice(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i];
}
"""


def square_op() -> wb.Op:
    """x * x with its gradient, another operator."""
    square = wb.op("test::square(Tensor x) -> Tensor", GRAD, kernel="square", shape="x[n] -> y[n]", reference=np.square)
    slope = wb.op(
        "test::square_backward(Tensor x, Tensor grad) -> Tensor", GRAD, kernel="square_backward", shape="x[n], grad[n] -> out[n]"
    )

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    def backward(ctx, grad):
        return slope(ctx.saved_tensors[0], grad)

    square.register_autograd(backward, setup_context=setup)
    return square


def test_a_call_gives_a_fresh_array(muladd, rng):
    a, b = (rng.standard_normal(1000).astype(np.float32) for _ in range(2))
    out = muladd(a, b, 2.0)
    assert out.dtype == np.float32 and (out == fma(a, b, np.float32(2))).all()
    assert out is not muladd(a, b, 2.0) and out.flags.writeable and out.flags.owndata


def test_arguments_go_by_name_too(muladd):
    a, b = np.ones(3, np.float32), np.full(3, 2, np.float32)
    assert (muladd(a, c=1.0, b=b) == 3).all()
    for bad in [{"a": a}, {"d": 1}, {"c": 1.0}]:
        with pytest.raises(wb.ArgumentError):
            muladd(a, **bad)


def test_defaults_of_the_schema_are_used():
    op = wb.op("test::scaled(Tensor a, Tensor b, float c=3.0) -> Tensor", MULADD, shape="a[n], b[n] -> out[n]")
    a = np.ones(3, np.float32)
    assert (op(a, a) == 4).all() and (op(a, a, 0.0) == 1).all()


def test_the_registry_hands_out_what_was_defined(muladd):
    a = np.ones(3, np.float32)
    assert (wb.ops.test.muladd(a, a, 1.0) == 2).all()
    assert "muladd" in dir(wb.ops.test) and "test" in dir(wb.ops)
    with pytest.raises(AttributeError, match="nothing"):
        _ = wb.ops.test.nothing
    assert muladd.name == "test::muladd" and muladd.schema == "test::muladd(Tensor a, Tensor b, float c) -> Tensor"
    assert "test::muladd(Tensor a" in repr(muladd)


def test_registering_again_replaces_everywhere(muladd):
    again = wb.op("test::muladd(Tensor a, Tensor b, float c) -> Tensor", MULADD.replace("+ c", "- c"), shape="a[n], b[n] -> out[n]")
    a = np.ones(3, np.float32)
    assert muladd(a, a, 1.0).tolist() == again(a, a, 1.0).tolist() == wb.ops.test.muladd(a, a, 1.0).tolist() == [0, 0, 0]


def test_dims_bind_across_arrays_and_to_the_grid(rng):
    op = wb.op("test::matmul(Tensor a, Tensor b) -> Tensor", MATMUL, shape="a[m,k], b[k,n] -> out[m,n]", threads="n, m")
    a, b = rng.standard_normal((33, 20)).astype(np.float32), rng.standard_normal((20, 47)).astype(np.float32)
    assert np.allclose(op(a, b), a @ b, atol=1e-5)
    assert np.allclose(op(a, np.asfortranarray(b)), a @ b, atol=1e-5)
    with pytest.raises(wb.ArgumentError, match="k"):
        op(a, b.T)


def test_several_outputs_come_as_a_tuple_or_by_name():
    op = wb.op("test::split(Tensor x) -> (Tensor, Tensor)", SPLIT, shape="x[n] -> low[n], sign[n]")
    low, sign = op(np.array([-2.0, 3.0], np.float32))
    assert low.tolist() == [2, 3] and sign.tolist() == [-1, 1] and sign.dtype == np.int32
    named = wb.op("test::split(Tensor x) -> (Tensor low, Tensor sign)", SPLIT, shape="x[n] -> low[n], sign[n]")
    result = named(np.array([-2.0], np.float32))
    assert result.sign.tolist() == [-1] and pickle.loads(pickle.dumps(result)).low.tolist() == [2]


def test_any_rank_is_a_star(rng):
    op = wb.op("test::square_any(Tensor x) -> Tensor", GRAD, kernel="square", shape="x[*] -> y[*]")
    for shape in [(), (5,), (3, 4), (2, 3, 4), (0, 3)]:
        x = np.asarray(rng.standard_normal(shape), np.float32)
        assert op(x).shape == shape and (op(x) == x * x).all()


def test_a_callable_gives_the_shape():
    seen = []

    def shape(a, b, c):
        seen.append((a.shape, a.dtype, a.device))
        return wb.Spec(a.shape, "float32")

    op = wb.op("test::by_callable(Tensor a, Tensor b, float c) -> Tensor", MULADD, shape=shape)
    a = np.ones(4, np.float32)
    assert (op(a, a, 1.0) == 2).all()
    assert seen[0] == ((4,), "float32", "cpu")

    @op.register_fake
    def fake(a, b, c):
        return wb.empty_like(a)

    assert (op(a, a, 1.0) == 2).all() and len(seen) == 1


def test_an_error_of_a_callable_is_raised_as_it_is():
    def shape(a, b, c):
        raise ZeroDivisionError("mine")

    op = wb.op("test::bad_shape(Tensor a, Tensor b, float c) -> Tensor", MULADD, shape=shape)
    a = np.ones(4, np.float32)
    with pytest.raises(ZeroDivisionError, match="mine"):
        op(a, a, 1.0)


def test_binding_says_what_went_where(muladd):
    text = str(muladd.binding)
    assert all(name in text for name in ("a", "b", "c", "out", "n"))
    with pytest.raises(wb.ArgumentError, match="`float c`"):
        wb.op("test::unbound(Tensor a, Tensor b) -> Tensor", MULADD, shape="a[n], b[n] -> out[n]")


@pytest.mark.parametrize("schema", ["", "f", "f(", "lab::f(Tensor) -> Tensor", "lab::f(Tensr x) -> Tensor", "lab::f(Tensor x)"])
def test_a_schema_that_is_none_is_an_argument_error(schema):
    with pytest.raises(wb.ArgumentError):
        wb.op(schema, GRAD, kernel="square")


def test_a_source_that_does_not_compile_is_a_compile_error():
    with pytest.raises(wb.CompileError):
        wb.op("test::bad(Tensor x) -> Tensor", "__global__ void k(const float* x, float* y) { y[0] = q; }")


def test_operators_take_modules_and_other_grids():
    m = wb.compile(MULADD)
    op = wb.op("test::from_module(Tensor a, Tensor b, float c) -> Tensor", m, kernel="muladd", shape="a[n], b[n] -> out[n]", block=64)
    a = np.ones(1000, np.float32)
    assert (op(a, a, 1.0) == 2).all()
    with pytest.raises(wb.ArgumentError, match="nothing"):
        wb.op("test::x(Tensor a) -> Tensor", m, kernel="nothing")


def test_operators_take_kernels():
    m = wb.compile(MULADD + "__global__ void other(const float* a, float* out) {}" + TWICE)
    op = wb.op("test::from_kernel(Tensor a, Tensor b, float c) -> Tensor", m.muladd, shape="a[n], b[n] -> out[n]")
    a = np.arange(5, dtype=np.float32)
    assert (op(a, a, 1.0) == a * a + 1).all()
    op = wb.op("test::from_template(Tensor x) -> Tensor", m.twice)
    assert (op(a) == 2 * a).all() and (op(a.astype(np.int32)) == 2 * a).all()
    op = wb.op("test::from_instance(Tensor x) -> Tensor", m.twice.instance(a, a, 5))
    assert (op(a) == 2 * a).all()
    with pytest.raises(wb.ArgumentError, match="pass the kernel itself, and its block as block="):
        wb.op("test::x(Tensor a, Tensor b, float c) -> Tensor", m.muladd[1, 32])
    with pytest.raises(wb.ArgumentError, match="the source is the kernel `muladd` itself"):
        wb.op("test::x(Tensor a, Tensor b, float c) -> Tensor", m.muladd, kernel="other")


def test_an_undeclared_write_to_an_input_is_a_fault():
    op = wb.op(
        "test::writes(Tensor x) -> Tensor",
        "__global__ void k(float* x, float* y, int n) { x[0] = 1; y[0] = 2; }",
        shape="x[n] -> y[n]",
    )
    x = np.zeros(3, np.float32)
    with pytest.raises((wb.KernelFault, wb.ArgumentError)):
        op(x)
    assert x[0] == 0


def test_a_declared_write_changes_the_input():
    op = wb.op(
        "test::add_one_(Tensor(a!) x) -> Tensor(a!)",
        "__global__ void k(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] += 1; }",
    )
    x = np.zeros(3, np.float32)
    assert op(x) is x and x.tolist() == [1, 1, 1]


def test_vjp_is_the_registered_gradient(rng):
    square, x = square_op(), rng.standard_normal(10).astype(np.float32)
    out, pullback = square.vjp(x)
    assert (out == x * x).all()
    g = np.full(10, 3, np.float32)
    (grad,) = pullback(g)
    assert np.allclose(grad, 6 * x)


def test_vjp_without_a_gradient_says_so(muladd):
    a = np.ones(3, np.float32)
    with pytest.raises((RuntimeError, wb.ArgumentError), match="register_autograd"):
        muladd.vjp(a, a, 1.0)


def test_the_context_saves_and_says_what_is_needed(muladd):
    seen = {}

    @muladd.register_autograd
    def backward(ctx, grad):
        seen["needs"] = ctx.needs_input_grad
        a, b = ctx.saved_tensors
        return grad * b, grad * a, None

    def setup(ctx, inputs, output):
        seen["output"] = output
        ctx.save_for_backward(inputs[0], inputs[1])

    muladd.register_autograd(backward, setup_context=setup)
    a, b = np.arange(3, dtype=np.float32), np.full(3, 2, np.float32)
    out, pullback = muladd.vjp(a, b, 1.0)
    ga, gb, gc = pullback(np.ones(3, np.float32))
    assert ga.tolist() == [2, 2, 2] and gb.tolist() == [0, 1, 2] and gc is None
    assert seen["needs"] == (True, True, False) and seen["output"] is out


def test_a_gradient_of_the_wrong_length_is_an_error(muladd):
    muladd.register_autograd(lambda ctx, grad: (grad,))
    a = np.ones(3, np.float32)
    _, pullback = muladd.vjp(a, a, 1.0)
    with pytest.raises(wb.ArgumentError, match="3"):
        pullback(a)


def scale(c, a, b):
    """For a pickled operator: importable."""
    return a * b + c


def test_operators_pickle_by_source(muladd):
    muladd.reference = None
    data = pickle.dumps(muladd)
    code = (
        "import pickle, sys, numpy as np\n"
        "op = pickle.loads(sys.stdin.buffer.read())\n"
        "a = np.ones(3, np.float32)\n"
        "print(op(a, a, 2.0).tolist(), op.name)"
    )
    out = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True).stdout
    assert out.decode().strip() == "[3.0, 3.0, 3.0] test::muladd"


def test_register_kernel_replaces_the_kernel_of_a_device(muladd):
    muladd.register_kernel("cpu", wb.compile(MULADD.replace("+ c", "- c")).muladd)
    a = np.ones(3, np.float32)
    assert muladd(a, a, 1.0).tolist() == [0, 0, 0]


def test_a_small_call_takes_microseconds(muladd):
    a = np.ones(8, np.float32)
    best = 1.0
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(1000):
            muladd(a, a, 1.0)
        best = min(best, (time.perf_counter() - start) / 1000)
    # The bench holds the promise of 2 us in a release build; this bound catches a slow path in any build.
    assert best < 20e-6


def test_specs_are_data():
    spec = wb.Spec((2, 3), "float32")
    assert spec == wb.Spec([2, 3], np.float32, device="cpu") and spec != wb.Spec((2, 3), "float64")
    assert (spec.shape, spec.dtype, spec.device, spec.ndim, spec.numel()) == ((2, 3), "float32", "cpu", 2, 6)
    assert wb.empty_like(spec) == spec
    assert wb.empty_like(np.zeros((4,), np.int32)).dtype == np.int32
    for bad in [((-1,), "float32"), ((2,), "complex64"), ("x", "float32")]:
        with pytest.raises(wb.ArgumentError):
            wb.Spec(*bad)


def test_results_of_a_fake_are_on_the_device_of_the_first_array(muladd):
    on_gpu = wb.Spec(3, device="cuda:1")
    assert muladd.fake(on_gpu, wb.Spec(3), 2.0).device == "cuda:1" and muladd.fake(wb.Spec(3), on_gpu, 2.0).device == "cpu"
    assert muladd.fake(np.ones(3, np.float32), np.ones(3, np.float32), 2.0) == wb.Spec(3)
    both = wb.op("wb_op::both_devices(Tensor x) -> (Tensor low, Tensor sign)", SPLIT, shape="x[n] -> low[n], sign[n]")
    assert [spec.device for spec in both.fake(on_gpu)] == ["cuda:1", "cuda:1"]
    half = wb.op("wb_op::half_device(Tensor x) -> Tensor", lambda x: x[::2], shape=lambda x: wb.Spec(x.shape[0] // 2, x.dtype))
    assert half.fake(wb.Spec(4, device="cuda")) == wb.Spec(2, device="cuda")
    written = wb.op("wb_op::written_device(Tensor(a!) x) -> Tensor(a!)", "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }")
    assert written.fake(on_gpu) is on_gpu
    each = host("wb_host::each_device(Tensor[] xs, Tensor? add, int[] shape) -> Tensor[]", kernel="each")
    assert [spec.device for spec in each.fake([on_gpu, wb.Spec(3)], None, [3, 1])] == ["cuda:1", "cuda:1"]

    class Elsewhere:
        """An array as CuPy has them, whose device has a name of its own."""

        shape, dtype, device = (3,), "float32", object()

        def __dlpack_device__(self):
            return 2, 1

    assert half.fake(Elsewhere()).device == "cuda:1"


def test_a_misspelt_keyword_is_named_first(muladd):
    a = np.ones(3, np.float32)
    with pytest.raises(wb.ArgumentError, match="no argument `d`"):
        muladd(a, a, d=1.0)
    schema = "test::keyword(Tensor x, float scale) -> Tensor"
    text = "__global__ void k(const float* x, float scale, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = scale * x[threadIdx.x]; }"
    op = wb.op(schema, text, shape="x[n] -> y[n]")
    with pytest.raises(wb.ArgumentError, match="no argument `scael`; did you mean `scale`"):
        op(a, scael=2.0)
    with pytest.raises(wb.ArgumentError, match="no argument `axis`"):
        op(a, 2.0, axis=2.0)
    with pytest.raises(wb.ArgumentError, match="`scale` is missing"):
        op(a)
    with pytest.raises(wb.ArgumentError, match="given twice"):
        op(a, 2.0, scale=2.0)


def test_a_division_by_zero_in_the_launch_is_explained():
    text = "__global__ void k(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }"
    op = wb.op("test::zero(Tensor x) -> Tensor", text, shape="x[n] -> y[n]", threads="n/0")
    with pytest.raises(wb.ArgumentError, match="division by zero: 3 / 0 in `threads=\"n/0\"`"):
        op(np.ones(3, np.float32))


HOST = """
#include <torch/extension.h>
#include <algorithm>
// Greedy non-maximum suppression: boxes in the order of their scores, without those that overlap a chosen one by more than the threshold.
at::Tensor nms(const at::Tensor& boxes, const at::Tensor& scores, double threshold) {
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4, "boxes are of shape ", boxes.sizes());
    auto order = scores.argsort(0, true).contiguous();
    auto b = boxes.contiguous().accessor<float, 2>();
    auto o = order.accessor<int64_t, 1>();
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < o.size(0); ++i) {
        bool keep = true;
        for (int64_t k : kept) {
            float w = std::min(b[o[i]][2], b[k][2]) - std::max(b[o[i]][0], b[k][0]);
            float h = std::min(b[o[i]][3], b[k][3]) - std::max(b[o[i]][1], b[k][1]);
            float inter = std::max(w, 0.f) * std::max(h, 0.f);
            float one = (b[o[i]][2] - b[o[i]][0]) * (b[o[i]][3] - b[o[i]][1]), two = (b[k][2] - b[k][0]) * (b[k][3] - b[k][1]);
            if (inter / (one + two - inter) > threshold) keep = false;
        }
        if (keep) kept.push_back(o[i]);
    }
    return torch::tensor(kept, torch::kLong);
}
std::vector<at::Tensor> each(const std::vector<at::Tensor>& xs, const c10::optional<at::Tensor>& add, at::IntArrayRef shape) {
    std::vector<at::Tensor> out;
    for (const auto& x : xs) out.push_back(add.has_value() ? (x + *add).reshape(shape) : x.reshape(shape));
    return out;
}
void grow_(at::Tensor& x, double by) { x.add_(by); }
at::Tensor sneaky(const at::Tensor& x) { x.add_(1); return x * 2; }
"""


def host(schema, **options):
    return wb.op(schema, HOST, **options)


def nms_reference(boxes, scores, threshold):
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        low = np.maximum(boxes[i, :2], boxes[kept, :2]) if kept else np.zeros((0, 2))
        high = np.minimum(boxes[i, 2:], boxes[kept, 2:]) if kept else np.zeros((0, 2))
        inter = np.prod(np.maximum(high - low, 0), axis=1)
        area = lambda b: (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
        if not (inter / (area(boxes[i]) + area(boxes[kept]) - inter) > threshold).any():
            kept.append(i)
    return np.array(kept, np.int64)


def test_an_operator_whose_output_depends_on_the_data():
    op = host("wb_host::nms(Tensor boxes, Tensor scores, float threshold) -> Tensor", reference=nms_reference)
    rng = np.random.default_rng(5)
    for n in (0, 1, 40):
        corner = rng.uniform(0, 10, (n, 2))
        boxes = np.concatenate([corner, corner + rng.uniform(1, 6, (n, 2))], axis=1).astype(np.float32)
        scores = rng.permutation(n).astype(np.float32)
        op.check(boxes, scores, 0.3).raise_if_failed()
    assert wb.ops.wb_host.nms is op and "Tensor boxes" in op.schema
    with pytest.raises(RuntimeError, match=r"boxes are of shape \[3\]"):
        op(np.ones(3, np.float32), np.ones(3, np.float32), 0.5)
    with pytest.raises(RuntimeError, match="nms"):
        op.fake(wb.Spec((40, 4)), wb.Spec((40,)), 0.3)
    op.register_fake(lambda boxes, scores, threshold: wb.Spec((boxes.shape[0],), "int64"))
    assert op.fake(wb.Spec((40, 4)), wb.Spec((40,)), 0.3).shape == (40,)


def test_lists_optionals_and_writes_of_host_functions():
    each = host("wb_host::each(Tensor[] xs, Tensor? add, int[] shape) -> Tensor[]")
    x = np.arange(6, dtype=np.float32)
    one, two = each([x, x.reshape(2, 3)], None, [3, 2])
    assert one.shape == two.shape == (3, 2) and np.array_equal(one, x.reshape(3, 2))
    assert np.array_equal(each([x], np.float32([1]), shape=[6])[0], x + 1)
    assert each([], None, [1]) == []
    with pytest.raises(wb.ArgumentError, match=r"Expected a value of type 'int\[\]' for argument 'shape' but instead found type 'str'"):
        each([x], None, "3")
    grow = host("wb_host::grow_(Tensor(a!) x, float by) -> ()")
    assert grow(x, 2.0) is None and x[0] == 2
    sneaky = host("wb_host::sneaky(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="sneaky|written"):
        sneaky(x)
    assert x[0] == 2


def test_host_operators_that_are_wrong():
    with pytest.raises(wb.ArgumentError, match=r"(?s)Inferred operator schema .* Type mismatch in argument 1: Tensor vs Tensor\[\]"):
        host("wb_host::each(Tensor xs, Tensor? add, int[] shape) -> Tensor[]")
    with pytest.raises(wb.ArgumentError, match="is a host function, which launches itself; leave out threads="):
        host("wb_host::nms(Tensor boxes, Tensor scores, float threshold) -> Tensor", threads="n")
    with pytest.raises(wb.ArgumentError, match="a signature says nothing here"):
        host("wb_host::nms(Tensor boxes, Tensor scores, float threshold) -> Tensor", shape="boxes[n,4] -> out[n]")
    with pytest.raises(wb.ArgumentError, match="no_such|__global__"):
        host("wb_host::f(Tensor x) -> Tensor", kernel="no_such")
    named = host("wb_host::other(Tensor boxes, Tensor scores, float threshold) -> Tensor", kernel="nms")
    assert named(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), 0.5).shape == (0,)


def test_a_name_may_be_a_kernel_and_then_a_host_function():
    kernel = "__global__ void f(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x]; }"
    x = np.ones(2, np.float32)
    for _ in range(2):
        assert wb.op("wb_host::turn(Tensor x) -> Tensor", kernel)(x)[0] == 2
        assert wb.op("wb_host::turn(Tensor x) -> Tensor", "at::Tensor turn(at::Tensor x) { return x * 3; }")(x)[0] == 3
        assert wb.ops.wb_host.turn(x)[0] == 3


def test_a_callable_as_an_operator():
    calls = []

    def scaled(x, by, *, shift):
        calls.append(type(x).__name__)
        return x * by + shift

    op = wb.op("wb_python::scaled(Tensor x, float by=2.0, *, int shift=0) -> Tensor", scaled, shape=lambda x, by=2.0, shift=0: x)
    x = np.arange(3.0)
    assert op(x).tolist() == [0, 2, 4] and op(x, 3.0, shift=1).tolist() == [1, 4, 7] and calls == ["ndarray"] * 2
    assert wb.ops.wb_python.scaled is op and op.fake(wb.Spec((2,), "float64")).shape == (2,)
    assert op.check(x, reference=lambda x, by, shift: 2 * x)
    op.register_autograd(lambda ctx, g: (g * ctx.by, None), setup_context=lambda ctx, inputs, keyword_only_inputs, output: setattr(ctx, "by", inputs[1]))
    assert op.gradcheck(x, 3.0).passed
    # Another meaning for every handle there is.
    wb.op("wb_python::scaled(Tensor x) -> Tensor", lambda x: -x)
    assert op(x).tolist() == [0, -1, -2]
    with pytest.raises(wb.ArgumentError, match="do not follow from it; give them with register_fake"):
        op.fake(wb.Spec(3))


def test_callables_that_are_wrong():
    x = np.arange(3.0)
    two = wb.op("wb_python::two(Tensor x) -> (Tensor, Tensor)", lambda x: x)
    with pytest.raises(wb.ArgumentError, match=r"`wb_python::two` gave 1 result; its schema says 2"):
        two(x)

    def writes(x):
        x += 1
        return x

    sneaky = wb.op("wb_python::sneaky(Tensor x) -> Tensor", writes)
    with pytest.raises(wb.ArgumentError, match=r"`wb_python::sneaky` writes an argument that its schema does not mark"):
        sneaky(x)
    assert x.tolist() == [0, 1, 2]
    honest = wb.op("wb_python::honest_(Tensor(a!) x) -> Tensor(a!)", writes)
    assert honest(x) is x and x.tolist() == [1, 2, 3]
    with pytest.raises(wb.ArgumentError, match=r"Expected a value of type 'Tensor' for argument 'x'"):
        sneaky("text")
    with pytest.raises(wb.ArgumentError, match="missing value for argument 'x'"):
        sneaky()
    with pytest.raises(wb.ArgumentError, match="leave out kernel="):
        wb.op("wb_python::f(Tensor x) -> Tensor", lambda x: x, kernel="k")
    with pytest.raises(ZeroDivisionError):
        wb.op("wb_python::zero(Tensor x) -> Tensor", lambda x: 1 / 0)(x)


def test_schemas_that_are_inferred():
    def scaled(x: np.ndarray, by: float = 2.0, *, shift: Optional[float] = None, axes: Sequence[int] = (0,)) -> np.ndarray:
        return x * by + (shift or 0)

    op = wb.op("inferred::scaled", scaled)
    assert op.schema == "inferred::scaled(Tensor x, float by=2.0, *, float? shift=None, int[] axes=[0]) -> Tensor"
    assert op(np.ones(2), shift=1.0).tolist() == [3, 3]

    def parts(x: "np.ndarray | None", names: list[str], flag: bool) -> tuple[np.ndarray, list[np.ndarray]]:
        raise NotImplementedError

    assert wb.op("inferred::parts", parts).schema == "inferred::parts(Tensor? x, str[] names, bool flag) -> (Tensor, Tensor[])"
    host = wb.op("inferred::plus", "at::Tensor plus(const at::Tensor& x, int64_t k) { return x + k; }")
    assert host.schema == "inferred::plus(Tensor _0, int _1) -> Tensor"
    assert host(np.ones(2), 3).tolist() == [4, 4]

    def refused(source, match):
        with pytest.raises(wb.ArgumentError, match=match):
            wb.op("inferred::wrong", source)

    refused(lambda x: x, "`inferred::wrong`: parameter `x` has no annotation; annotate it, or write the schema, as in")

    def no_result(x: np.ndarray):
        return x

    refused(no_result, "its result has no annotation")

    def any_number(*xs: np.ndarray) -> np.ndarray:
        return xs[0]

    refused(any_number, "parameter `xs` stands for any number of arguments")

    def odd(x: dict) -> np.ndarray:
        return x

    refused(odd, "parameter `x` is annotated `dict`, which no schema has")

    def unknown(x: "Nowhere") -> np.ndarray:  # noqa: F821
        return x

    refused(unknown, "its types cannot be read .*Nowhere")

    def default(x: np.ndarray, by: float = np.float64(2)) -> np.ndarray:
        return x

    refused(default, "parameter `by` has the default .*2.0.*, which no schema has")
    refused("__global__ void wrong(const float* x, float* y) {}", "a kernel does not say which of its pointers are results")


def test_results_share_no_memory_with_arguments():
    same = wb.op("fresh::same(Tensor x) -> Tensor", "at::Tensor same(at::Tensor x) { return x.contiguous(); }")
    part = wb.op("fresh::part(Tensor x) -> (Tensor, Tensor)",
                 "std::tuple<at::Tensor, at::Tensor> part(at::Tensor x) { return {x.slice(0, 1), x + 1}; }")
    listed = wb.op("fresh::listed(Tensor x) -> Tensor[]", "std::vector<at::Tensor> listed(at::Tensor x) { return x.chunk(2); }")
    mine = wb.op("fresh::mine(Tensor x) -> Tensor", lambda x: x[1:])
    # A result that shares memory by its schema does share it.
    view = wb.op("fresh::view(Tensor(a) x) -> Tensor(a)", "at::Tensor view(at::Tensor x) { return x.slice(0, 1); }")
    x = np.arange(4.0)
    for made in (same(x), part(x)[0], listed(x)[0], listed(x)[1], mine(x)):
        made[:] = -1
    np.testing.assert_array_equal(x, np.arange(4.0))
    assert mine(x).flags.writeable
    view(x)[:] = -1
    np.testing.assert_array_equal(x, [0, -1, -1, -1])


def test_an_inferred_schema_marks_nothing_as_written():
    op = wb.op("inferred::add_one", "void add_one(at::Tensor& x) { x.add_(1); }")
    x = np.ones(3)
    with pytest.raises(RuntimeError, match="written|writes|read-only|read only"):
        op(x)
    np.testing.assert_array_equal(x, np.ones(3))
    written = wb.op("inferred::add_two(Tensor(a!) x) -> ()", "void add_two(at::Tensor& x) { x.add_(2); }")
    written(x)
    np.testing.assert_array_equal(x, np.full(3, 3.0))


def test_callables_get_lists_that_they_cannot_write():
    op = wb.op("lists::spoil(Tensor[] xs) -> Tensor", lambda xs: xs[0].__iadd__(1) * 2)
    x = np.ones(3)
    with pytest.raises(wb.ArgumentError, match="writes an argument that its schema does not mark"):
        op([x, x])
    np.testing.assert_array_equal(x, np.ones(3))


@pytest.mark.parametrize("shape, said", [(lambda x: wb.empty_like(x), r"float64 \[3\]"), (lambda x: wb.Spec((6,), "float32"), r"float32 \[6\]")])
def test_a_shape_function_that_disagrees_is_an_error(shape, said):
    op = wb.op("disagrees::twice(Tensor x) -> Tensor", "at::Tensor twice(at::Tensor x) { return x.repeat(2); }", shape=shape)
    for _ in range(2):
        with pytest.raises(wb.ArgumentError, match=rf"`disagrees::twice` gave float64 \[6\], and its shape function said {said}"):
            op(np.ones(3))
    # Another one that is right.
    op.register_fake(lambda x: wb.Spec((2 * x.shape[0],), x.dtype))
    assert op(np.ones(3)).shape == (6,)
    # One that cannot say without data says nothing.
    op.register_fake(lambda x: 1 / 0)
    assert op(np.ones(3)).shape == (6,)


def test_gradients_of_lists_are_lists_like_them():
    op = wb.op("lists::total(Tensor[] xs) -> Tensor", "at::Tensor total(std::vector<at::Tensor> xs) { return xs[0].sum() + xs[1].sum(); }")
    xs = [np.ones(3), np.ones((2, 2))]
    for made, said in [
        ([np.ones(3)], "gave 1 gradient for `xs`, which is a list of 2 arrays"),
        ([np.ones(3), np.ones((3, 2))], r"gave a gradient of shape \(3, 2\) for `xs\[1\]`, whose shape is \(2, 2\)"),
        (np.ones(3), "gave no list of gradients for `xs`"),
        ([np.ones(3), "no"], r"gave a str for `xs\[1\]`"),
    ]:
        op.register_autograd(lambda ctx, g, made=made: (made,))
        with pytest.raises(wb.ArgumentError, match=said):
            op.vjp(xs)[1](np.ones(()))
    op.register_autograd(lambda ctx, g: ([g * np.ones(3), g * np.ones((2, 2))],))
    first, second = op.vjp(xs)[1](np.float64(2))[0]
    np.testing.assert_array_equal(first, np.full(3, 2.0))
    np.testing.assert_array_equal(second, np.full((2, 2), 2.0))


def test_host_functions_take_arrays_as_they_lie():
    op = wb.op("lies::doubled(Tensor x) -> Tensor", "at::Tensor doubled(at::Tensor x) { return x * 2; }")
    aligned = np.arange(6, dtype=np.float32)
    bytes_ = np.zeros(6 * 4 + 1, np.uint8)
    odd = bytes_[1:].view(np.float32)
    odd[:] = aligned
    assert not odd.flags.aligned
    np.testing.assert_array_equal(op(odd), aligned * 2)
    np.testing.assert_array_equal(op(aligned[::-1]), aligned[::-1] * 2)
    packed = np.zeros(6, np.dtype([("a", np.int8), ("x", np.float32)]))
    packed["x"] = aligned
    np.testing.assert_array_equal(op(packed["x"]), aligned * 2)
    written = wb.op("lies::add_one(Tensor(a!) x) -> ()", "void add_one(at::Tensor x) { x.add_(1); }")
    with pytest.raises(wb.ArgumentError, match="not aligned; try np.array"):
        written(odd)
    with pytest.raises(wb.ArgumentError, match="negative or odd strides"):
        written(aligned[::-1])


def test_strings_in_schemas_have_escapes():
    text = """at::Tensor said(std::string s) {
    at::Tensor made = at::empty({(int64_t)s.size()}, at::kByte);
    for (size_t i = 0; i < s.size(); ++i) made.data_ptr<uint8_t>()[i] = s[i];
    return made;
}"""
    op = wb.op(r'''escapes::said(str s="a\nb\t\"c\"\\") -> Tensor''', text)
    assert bytes(op()) == b'a\nb\t"c"\\'
    assert op.schema == r'''escapes::said(str s="a\nb\t\"c\"\\") -> Tensor'''


def test_callables_are_held_to_their_shape_functions():
    op = wb.op("disagrees::called(Tensor x) -> Tensor", lambda x: np.concatenate([x, x]), shape=wb.empty_like)
    with pytest.raises(wb.ArgumentError, match=r"`disagrees::called` gave float64 \[6\], and its shape function said float64 \[3\]"):
        op(np.ones(3))
    op.register_fake(lambda x: wb.Spec((2 * x.shape[0],), x.dtype))
    assert op(np.ones(3)).shape == (6,)


def test_a_shape_function_that_is_interrupted_interrupts_the_call():
    def shape(x):
        raise KeyboardInterrupt

    op = wb.op("disagrees::stopped(Tensor x) -> Tensor", "at::Tensor stopped(at::Tensor x) { return x * 2; }", shape=shape)
    with pytest.raises(KeyboardInterrupt):
        op(np.ones(3))
    # And the next call is no worse for it.
    op.register_fake(wb.empty_like)
    np.testing.assert_array_equal(op(np.ones(3)), np.full(3, 2.0))


OPTIONAL = """
__global__ void shifted(const float* x, const float* by, float* out, int n) { int i = threadIdx.x; if (i < n) out[i] = x[i] + (by ? by[i] : 1.0f); }
__global__ void back(const float* g, float* gx, float* gby, int n) { int i = threadIdx.x; if (i < n) { gx[i] = g[i]; gby[i] = 2 * g[i]; } }
"""


@pytest.mark.parametrize("differentiable", [None, ["x", "by"]])
def test_the_gradient_of_an_argument_that_was_left_out_is_dropped(differentiable):
    op = wb.op("optional::shifted(Tensor x, Tensor? by=None) -> Tensor", OPTIONAL, "shifted", shape="x[n], by[n] -> out[n]")
    wb.op("optional::back(Tensor g) -> (Tensor, Tensor)", OPTIONAL, "back", shape="g[n] -> gx[n], gby[n]")
    op.register_autograd("optional::back", saves=[], differentiable=differentiable)
    x = np.arange(3, dtype=np.float32)
    for args in ((x,), (x, None)):
        np.testing.assert_array_equal(op.vjp(*args)[1](x)[0], x)
    grads = op.vjp(x, x)[1](x)
    np.testing.assert_array_equal(grads[0], x)
    np.testing.assert_array_equal(grads[1], 2 * x)
