"""`gradcheck`: float64 by a twin made from the IR; right gradients pass, wrong ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from test_op import GRAD, square_op

import workbench as wb


def test_a_right_gradient_passes_in_float64(rng):
    report = square_op().gradcheck(rng.standard_normal(20).astype(np.float32))
    assert report and report.precision == "float64"


def test_a_wrong_gradient_fails_and_raises(rng):
    x = rng.standard_normal(20).astype(np.float32)
    op = square_op()
    op.register_autograd(lambda ctx, grad: grad * np.asarray(ctx.x) * 2.01, setup_context=lambda ctx, i, o: setattr(ctx, "x", i[0]))
    with pytest.raises((RuntimeError, AssertionError), match="grad|Jacobian"):
        op.gradcheck(x)
    assert not op.gradcheck(x, raise_exception=False)


def test_a_gradient_in_numpy_works_too(rng):
    op = wb.op("test::cube(Tensor x) -> Tensor", GRAD.replace("x[i] * x[i];", "x[i] * x[i] * x[i];", 1), kernel="square", shape="x[n] -> y[n]")

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad

    op.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
    assert op.gradcheck(rng.standard_normal(10).astype(np.float32))


def test_without_a_gradient_it_says_how_to_register_one(muladd):
    a = np.ones(3, np.float32)
    with pytest.raises((RuntimeError, wb.ArgumentError), match="register_autograd"):
        muladd.gradcheck(a, a, 1.0)


def test_scalars_have_no_gradient(muladd, rng):
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a, None

    muladd.register_autograd(backward, setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0], i[1]))
    a, b = (rng.standard_normal(5).astype(np.float32) for _ in range(2))
    assert muladd.gradcheck(a, b, 2.0)


def test_the_report_says_where_it_is_wrong(rng):
    op = square_op()
    op.register_autograd(lambda ctx, grad: grad * 0)
    report = op.gradcheck(rng.standard_normal(4).astype(np.float32), raise_exception=False)
    assert not report and "d `y`[" in str(report) and "/ d `x`[" in str(report)


BACKWARD = """__global__ void backward_of_square(const float* x, const float* g, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = (i == 5 ? 3 : 2) * x[i] * g[i];
}"""


def test_a_wrong_element_names_the_thread_that_wrote_it():
    op = square_op()
    backward = wb.op("test::backward_of_square(Tensor x, Tensor g) -> Tensor", BACKWARD, shape="x[n], g[n] -> dx[n]", block=4)
    op.register_autograd(lambda ctx, grad: backward(ctx.saved_tensors[0], grad), setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0]))
    x = np.arange(1, 8, dtype=np.float32)
    report = op.gradcheck(x, raise_exception=False)
    # Element 5 is of the second block of four, and its second thread.
    (wrong,) = report.mismatches
    assert (wrong["argument_index"], wrong["kernel"], wrong["block"], wrong["thread"]) == ((5,), "backward_of_square", (1, 0, 0), (1, 0, 0))
    assert "written by block (1, 0, 0) thread (1, 0, 0) of `backward_of_square`" in " ".join(str(report).split())
    assert "gradient written by" in report._repr_mimebundle_()["text/html"]
    # Calls afterwards record nothing, and arguments are as they were.
    assert x.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert backward(x, x).tolist() == [2, 8, 18, 32, 50, 108, 98]

    # A gradient that NumPy makes is written by no thread.
    op.register_autograd(lambda ctx, grad: 1 + backward(ctx.saved_tensors[0], grad), setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0]))
    report = op.gradcheck(x, raise_exception=False)
    assert all(wrong["kernel"] is None and wrong["block"] is None for wrong in report.mismatches)
    assert "written by" not in report._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("text", ["if (i < n && x[i] > 0) dx[i] = 2 * x[i] * g[i];", "if (i < n / 2) dx[i] = 2 * x[i] * g[i];", ""])
def test_elements_of_a_gradient_that_nobody_writes_are_no_agreement(text):
    op = square_op()
    source = f"__global__ void some(const float* x, const float* g, float* dx, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {text} }}"
    backward = wb.op("test::some(Tensor x, Tensor g) -> Tensor", source, shape="x[n], g[n] -> dx[n]", block=4)

    def wrong(ctx, grad):
        # Memory of the right gradient, which is free when the result is allocated.
        right = 2 * ctx.saved_tensors[0] * grad
        del right
        return backward(ctx.saved_tensors[0], grad)

    op.register_autograd(wrong, setup_context=lambda ctx, i, o: ctx.save_for_backward(i[0]))
    x = np.array([1, 2, -3, 4, 5, -6, -7], np.float32)
    for size in (7, 3):
        report = op.gradcheck(-abs(x[:size]), raise_exception=False) if "> 0" in text else op.gradcheck(x[:size], raise_exception=False)
        assert not report and all(wrong["unwritten"] and wrong["block"] is None for wrong in report.mismatches)
        assert "written by nobody: it still holds the poison" in " ".join(str(report).split())
        assert "nobody: it still holds the poison" in report._repr_mimebundle_()["text/html"]


ADD_ONE = "__global__ void add_one(const int* x, int* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1; }"
ROUND = "__global__ void rounded(const float* x, int* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
TWICE_HERE = "__global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }"
PICK = "__global__ void pick(const float* x, const int* at, float* y, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < m) y[i] = x[at[i]]; }"


def test_integers_have_no_gradient_to_check():
    op = wb.op("test::add_one(Tensor x) -> Tensor", ADD_ONE, shape="x[n] -> y[n]")
    op.register_autograd(lambda ctx, grad: grad)
    with pytest.raises(wb.ArgumentError, match="`x` is an array of int32, and only arrays of floats have a gradient to check; the operator takes none"):
        op.gradcheck(np.arange(3, dtype=np.int32))
    for source in (lambda x: x + 1, "at::Tensor plus_one(at::Tensor x) { return x + 1; }"):
        op = wb.op("test::plus_one(Tensor x) -> Tensor", source)
        op.register_autograd(lambda ctx, grad: grad)
        with pytest.raises(wb.ArgumentError, match=r"`x` is an array of int64, and only arrays of floats .*; try x.astype\(np.float64\)"):
            op.gradcheck(np.arange(3))
        assert op.gradcheck(np.arange(3.0))


def test_results_without_floats_are_named():
    op = wb.op("test::rounded(Tensor x) -> Tensor", ROUND, shape="x[n] -> y[n]")
    same = wb.op("test::truncated(Tensor x) -> Tensor", lambda x: x.astype(np.int32))
    for one in (op, same):
        one.register_autograd(lambda ctx, grad: grad)
        with pytest.raises(wb.ArgumentError, match="`output` is an array of int32, and only results of floats have a gradient to check"):
            one.gradcheck(np.ones(3, np.float32))


def _halve(x):
    x /= 2


@pytest.mark.parametrize("source", [TWICE_HERE, _halve, "void halve(at::Tensor x) { x.div_(2); }"])
def test_what_is_written_in_place_alone_has_no_gradient_to_check(source):
    parts = {"shape": "x[n] -> ", "threads": "n"} if source is TWICE_HERE else {}
    op = wb.op("test::in_place(Tensor(a!) x) -> ()", source, **parts)
    op.register_autograd(lambda ctx: None)
    with pytest.raises(wb.ArgumentError, match="writes `x` in place and has no other result; gradcheck takes differences of fresh results"):
        op.gradcheck(np.ones(3, np.float32))


def test_an_argument_that_is_returned_has_a_gradient_of_zeros():
    text = "__global__ void add_to(float* acc, const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) { acc[i] += x[i]; y[i] = 2 * x[i]; } }"
    op = wb.op("test::add_to(Tensor(a!) acc, Tensor x) -> (Tensor(a!), Tensor)", text, shape="acc[n], x[n] -> y[n]")
    op.register_autograd(lambda ctx, of_acc, of_y: (None, 2 * of_y + of_acc))
    assert op.gradcheck(np.ones(4, np.float32), np.ones(4, np.float32))


def test_the_argument_that_does_not_fit_is_named_not_the_one_that_was_widened():
    op = wb.op("test::pick(Tensor x, Tensor at) -> Tensor", PICK, shape="x[n], at[m] -> y[m]")

    def backward(ctx, grad):
        x, at = ctx.saved_tensors
        made = np.zeros(x.shape, grad.dtype)
        np.add.at(made, at, grad)
        return made, None

    op.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    with pytest.raises(wb.ArgumentError, match="argument `at` is an array of int64, and kernel parameter `at` is `const int"):
        op.gradcheck(np.ones(3, np.float32), np.array([0, 2]))
    assert op.gradcheck(np.ones(3, np.float32), np.array([0, 2], np.int32))


@pytest.mark.parametrize("options", [{"eps": 0}, {"eps": "a"}, {"atol": -1}, {"rtol": None}, {"eps": True}])
def test_steps_and_tolerances_are_numbers(options):
    op = square_op()
    (name,) = options
    with pytest.raises(wb.ArgumentError, match=f"^{name} is .*; a number is wanted, "):
        op.gradcheck(np.ones(3, np.float32), **options)


def test_a_gradient_of_another_type_is_named_with_its_input():
    op = square_op()
    save = lambda ctx, inputs, output: ctx.save_for_backward(*inputs)
    for dtype in (np.float32, np.int32):
        op.register_autograd(lambda ctx, grad: (2 * ctx.saved_tensors[0] * grad).astype(dtype), setup_context=save)
        with pytest.raises(wb.ArgumentError, match=rf"gave a gradient of {np.dtype(dtype)} for `x`, and float64 is expected: .* as grad.astype\(x.dtype\) has"):
            op.gradcheck(np.ones(3, np.float32))

    def narrow(x):
        if x.dtype != np.float32:
            raise ValueError("float32 alone")
        return x * x

    other = wb.op("test::narrow(Tensor x) -> Tensor", narrow)
    other.register_autograd(lambda ctx, grad: (2 * ctx.saved_tensors[0] * grad).astype(np.float64), setup_context=save)
    with pytest.raises(wb.ArgumentError, match="gave a gradient of float64 for `x`, and float32 is expected: gradcheck calls it in float32"):
        other.gradcheck(np.ones(3, np.float32))


def test_a_backward_that_launches_a_kernel_of_one_type_is_told_the_precision():
    module = wb.compile("__global__ void twice(const float* g, float* gx, int n) { if (threadIdx.x < n) gx[threadIdx.x] = 2 * g[threadIdx.x]; }")

    def backward(ctx, grad):
        made = np.zeros(3, np.float32)
        module.twice[1, 3](grad, made, 3)
        return made

    op = square_op()
    op.register_autograd(backward)
    with pytest.raises(wb.ArgumentError, match=r"got an array of float64.* \(in the backward of `test::square`, which gradcheck calls in float64\)"):
        op.gradcheck(np.ones(3, np.float32))


def test_gradients_that_come_are_those_of_the_results():
    op, x = square_op(), np.ones(3, np.float32)
    _, pullback = op.vjp(x)
    with pytest.raises(wb.ArgumentError, match="the pullback of `test::square` takes 1 gradient, that of its result, and 2 came"):
        pullback(x, x)
    with pytest.raises(wb.ArgumentError, match=r"got a gradient of shape \(4,\) for the result, whose shape is \(3,\)"):
        pullback(np.ones(4, np.float32))
    back = wb.op("test::square_back(Tensor g, Tensor x) -> Tensor", BACKWARD.replace("(i == 5 ? 3 : 2)", "2"), shape="g[n], x[n] -> dx[n]")
    op.register_autograd(back, saves=["x"])
    with pytest.raises(wb.ArgumentError, match="the gradient of the result of `test::square` came as float64, and float32 is expected, as the result is: "):
        op.vjp(x)[1](np.ones(3))
    assert op.vjp(x)[1](x)[0].tolist() == [2, 2, 2]


MUL = "__global__ void mul(const float* a, const float* b, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = a[i] * b[i]; }"


@pytest.mark.parametrize(
    "backward, options, said",
    [
        (lambda: 1, {}, "the backward of `test::mul` is called as backward(ctx, grad), with a context and one gradient for each result"),
        (lambda ctx: 1, {}, "`lambda ctx` does not fit (too many positional arguments)"),
        (lambda ctx, g, h: 1, {}, "`lambda ctx, g, h` does not fit (missing a required argument: 'h')"),
        (lambda ctx, g, *, by: 1, {}, "does not fit (missing a required argument: 'by')"),
        (3, {}, "the backward of `test::mul` is a callable, got int"),
        (np.square, {"setup_context": lambda ctx, inputs: 1}, "the setup_context of `test::mul` is called as setup_context(ctx, inputs, output)"),
        (np.square, {"setup_context": lambda ctx, inputs, output, more: 1}, "`lambda ctx, inputs, output, more` does not fit"),
        (np.square, {"setup_context": 3}, "the setup_context of `test::mul` is a callable, got int"),
        (np.square, {"differentiable": ["a"]}, "differentiable= is about the operator that saves= calls"),
        ("test::nobody", {"saves": ["a"]}, "there is no operator `test::nobody`, the backward of `test::mul`"),
        ("test::mull", {"saves": ["a"]}, "did you mean `test::mul`?"),
        ("test::mul", {"saves": ["a", "b"]}, "called with the gradient of its result and a, b, which saves= names; `test::mul(Tensor a, Tensor b) -> Tensor` takes"),
        ("test::mul", {"saves": []}, "takes another number of arguments"),
        (lambda g: g, {"saves": ["a"]}, "`<lambda>(g)` takes another number of arguments"),
        ("test::mul", {"saves": ["a"], "differentiable": ["a", "b"]}, "gives a gradient for each of a, b, as differentiable= has it; "),
        ("test::mul", {"saves": ["a"], "differentiable": ["a", "a"]}, "differentiable names `a` twice"),
        ("test::mul", {"saves": ["a"], "differentiable": "a"}, "differentiable is a list of names, got the str 'a'; try differentiable=['a']"),
        ("test::mul", {"saves": ["A"]}, "`test::mul` has no argument `A`; did you mean `a`? it has a, b, and \"output\""),
    ],
)
def test_a_rule_that_cannot_be_called_is_refused_when_it_is_registered(backward, options, said):
    op = wb.op("test::mul(Tensor a, Tensor b) -> Tensor", MUL, shape="a[n], b[n] -> y[n]")
    with pytest.raises(wb.ArgumentError) as info:
        op.register_autograd(backward, **options)
    assert said in str(info.value)
    # The failed registration left nothing.
    with pytest.raises(wb.ArgumentError, match="has no gradient"):
        op.vjp(np.ones(3, np.float32), np.ones(3, np.float32))


def test_an_operator_or_a_kernel_is_no_backward_by_itself():
    op, kernel = square_op(), wb.compile(MUL).mul
    with pytest.raises(wb.ArgumentError, match="`test::square` takes no ctx; say what it is called with: saves="):
        op.register_autograd(op)
    for options in ({}, {"saves": ["x"]}):
        with pytest.raises(wb.ArgumentError, match="make it an operator with wb.op"):
            op.register_autograd(kernel, **options)


def test_arguments_by_name_alone_are_given_to_the_setup_by_name():
    text = "__global__ void scaled(const float* x, float by, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = by * x[i]; }"
    op = wb.op("test::scaled(Tensor x, *, float by) -> Tensor", text, shape="x[n] -> y[n]")
    with pytest.raises(wb.ArgumentError, match=r"setup_context\(ctx, inputs, keyword_only_inputs, output\), by these names, as by of the operator is given by name"):
        op.register_autograd(lambda ctx, grad: ctx.by * grad, setup_context=lambda ctx, inputs, output: None)
    op.register_autograd(lambda ctx, grad: ctx.by * grad, setup_context=lambda ctx, inputs, keyword_only_inputs, output: setattr(ctx, "by", keyword_only_inputs["by"]))
    assert op.gradcheck(np.ones(3, np.float32), by=2.0)


def test_the_gradient_of_an_elementwise_operator_is_looked_at_too():
    twice = wb.elementwise("T x", "T y", "y = 2 * x", name="twice_gradcheck")
    with pytest.raises(wb.ArgumentError, match=r"the backward of `twice_gradcheck` is called as backward\(ctx, grad\)"):
        twice.register_autograd(lambda grad: 2 * grad)
    twice.register_autograd(lambda ctx, grad: 2 * grad)
    assert twice.gradcheck(np.ones(3))


def test_lists_of_arrays_are_not_compared():
    op = wb.op("test::first_of(Tensor[] xs) -> Tensor", lambda xs: xs[0] * 2)
    op.register_autograd(lambda ctx, grad: [2 * grad])
    with pytest.raises(wb.ArgumentError, match="`test::first_of`: its arrays of floats are in lists"):
        op.gradcheck([np.ones(3)])
