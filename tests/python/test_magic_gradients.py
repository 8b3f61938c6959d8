"""`%%kernel --autograd` and `--gradcheck`: the gradient of a cell's operator, and its check against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from test_magics import kernel, mistake, out, shell

import workbench as wb

__all__ = ["shell"]

SQUARE = "__global__ void square(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }\n"
SQUARE_OP = "--op 'grads::square(Tensor x) -> Tensor' --shape 'x[*] -> y[*]'"
BACKWARD = (
    "__global__ void square_backward(const float* g, const float* x, float* gx, int n) "
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) gx[i] = 2 * x[i] * g[i]; }\n"
)
BACKWARD_OP = "--op 'grads::square_backward(Tensor g, Tensor x) -> Tensor' --shape 'g[*], x[*] -> gx[*]'"


@pytest.fixture(autouse=True)
def gradient(shell):
    """The gradient of the square in the notebook: `backward`, which counts its calls, and `setup`."""
    calls = []

    def backward(ctx, grad):
        calls.append(1)
        return 2 * ctx.saved_tensors[0] * grad

    shell.user_ns.update(backward=backward, setup=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]), calls=calls)
    return calls


def pulled(shell, name="square"):
    """The gradient of the sum of squares at 1, 2 and 3, by the operator in the notebook."""
    x = np.array([1, 2, 3], np.float32)
    return shell.user_ns[name].vjp(x)[1](np.ones(3, np.float32))[0].tolist()


def test_a_callable_is_the_gradient(shell, capsys):
    shown = out(shell, capsys, f"%%kernel {SQUARE_OP} --autograd backward --setup-context setup\n{SQUARE}")
    assert pulled(shell) == [2, 4, 6] and shown == ""
    # Another definition without one takes it away, as `wb.op` does.
    kernel(shell, SQUARE_OP, SQUARE)
    with pytest.raises(wb.ArgumentError, match="has no gradient"):
        pulled(shell)


def test_an_operator_is_the_gradient(shell, capsys):
    kernel(shell, BACKWARD_OP, BACKWARD)
    for backward in ("wb.ops.grads.square_backward", "square_backward", "'\"grads::square_backward\"'"):
        shell.user_ns["wb"] = wb
        shown = out(shell, capsys, f"%%kernel {SQUARE_OP} --autograd {backward} --saves x --gradcheck\n{SQUARE}")
        assert pulled(shell) == [2, 4, 6] and "agrees with finite differences" in shown


def test_saved_results_and_the_arguments_that_have_a_gradient_are_named(shell):
    text = "__global__ void scale(const float* x, const float* f, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] * f[i]; }"
    back = text.replace("scale", "scale_backward").replace("const float* f", "const float* f, const float* y_")
    back = back.replace("float* y,", "float* gx,").replace("y[i] = x[i] * f[i]", "gx[i] = x[i] * f[i] + 0 * y_[i]")
    kernel(shell, "--op 'grads::scale_backward(Tensor x, Tensor f, Tensor y_) -> Tensor' --shape 'x[n], f[n], y_[n] -> gx[n]'", back)
    made = "--op 'grads::scale(Tensor x, Tensor f) -> Tensor' --shape 'x[n], f[n] -> y[n]'"
    kernel(shell, f"{made} --autograd scale_backward --saves f,output --differentiable x", text)
    scale, x = shell.user_ns["scale"], np.array([3, 4], np.float32)
    gx, gf = scale.vjp(x, 2 * x)[1](np.ones(2, np.float32))
    assert gx.tolist() == [6, 8] and gf is None


def test_a_host_function_is_the_gradient_also_of_a_host_function(shell):
    back = "at::Tensor twice_back(const at::Tensor& g, const at::Tensor& x) { return g * 2 + 0 * x; }"
    shell.user_ns["ext"] = wb.load_inline(name="twice_back", cpp_sources=back, functions=["twice_back"])
    text = "at::Tensor twice(const at::Tensor& x) { return x * 2; }"
    kernel(shell, "--op 'grads::twice(Tensor x) -> Tensor' --autograd ext.twice_back --saves x", text)
    assert pulled(shell, "twice") == [2, 2, 2]


def test_a_gradient_is_checked_on_its_arguments_on_those_of_the_line_or_on_random_ones(shell, capsys):
    shell.user_ns["x"] = np.arange(1, 6, dtype=np.float32)
    line = f"%%kernel {SQUARE_OP} --autograd backward --setup-context setup"
    for option, elements in [("--gradcheck 'x[:3]'", 3 * 3), ("--gradcheck --args x", 5 * 5), ("--gradcheck 'x[:2]' --check np.square --args x", 2 * 2), ("--gradcheck", 33 * 33)]:
        shown = out(shell, capsys, f"{line} {option}\n{SQUARE}")
        assert f"agrees with finite differences\n  float64" in shown and f"; {elements} elements of Jacobians" in shown, option


def test_an_argument_may_be_called_as_an_option_of_the_check(shell, capsys):
    text = "__global__ void shift(const float* x, float eps, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] + eps; }"
    made = "--op 'grads::shift(Tensor x, float eps) -> Tensor' --shape 'x[n] -> y[n]' --autograd 'lambda ctx, g: (g, None)'"
    shown = out(shell, capsys, f"%%kernel {made} --gradcheck 'np.ones(3, np.float32), eps=5.0'\n{text}")
    # The step of the differences is the check's own.
    assert "eps 1e-6" in shown and "agrees" in shown


def test_a_recorded_gradient_is_checked_too(shell, capsys):
    shown = out(shell, capsys, "%%kernel --op 'grads::cube(Tensor x) -> Tensor' --gradcheck 'np.arange(3.0)'\nat::Tensor cube(const at::Tensor& x) { return x * x * x; }")
    assert "agrees with finite differences" in shown


def test_a_wrong_gradient_is_neither_tuned_nor_timed(shell, capsys):
    line = f"{SQUARE_OP} --reference np.square --autograd 'lambda ctx, g: g' --check --gradcheck --tune block=32,64 --bench --sizes 64"
    shown = out(shell, capsys, f"%%kernel {line}\n{SQUARE}")
    assert "agrees with its reference" in shown and "DIFFERS from finite differences" in shown and "median" not in shown and "tuning of" not in shown
    assert shown.endswith("%%kernel: not tuned and timed, because its gradient does not agree with differences\n")


def test_a_wrong_result_comes_before_the_gradient(shell, capsys, gradient):
    line = f"{SQUARE_OP} --check np.abs --autograd backward --setup-context setup --gradcheck --bench --sizes 64"
    shown = out(shell, capsys, f"%%kernel {line}\n{SQUARE}")
    assert "not timed, because it does not agree with its reference" in shown and gradient == []


@pytest.mark.parametrize(
    "options, said",
    [
        ("--setup-context setup", "--setup-context is about --autograd, which is not there"),
        ("--saves x", "--saves is about --autograd, which is not there"),
        ("--autograd backward --differentiable x", "--differentiable is about --saves, which is not there"),
        ("--autograd backward --setup-context setup --saves x", "give one of them"),
        ("--autograd backward --saves x,", "--saves x,: a name is missing"),
        ("--autograd backward --saves x,x", "--saves x,x: x is there twice"),
        ("--autograd ''", "argument --autograd: an expression is wanted"),
        ("--autograd lambda ctx, g: g", "put an expression with spaces in quotes"),
        ("--autograd backward --autograd backward", "--autograd is there twice"),
    ],
)
def test_options_that_do_nothing_land_nothing(shell, options, said):
    shown = mistake(shell, f"%%kernel {SQUARE_OP} {options}\n{SQUARE}")
    assert said in shown and shown.startswith("%%kernel: ") and "square" not in shell.user_ns


@pytest.mark.parametrize("option", ["--autograd backward", "--gradcheck"])
def test_a_gradient_needs_an_operator(shell, option):
    assert f"{option.split()[0]} is about the operator that --op makes" in mistake(shell, f"%%kernel {option}\n{SQUARE}")


@pytest.mark.parametrize(
    "options, said",
    [
        ("--autograd nosuch", "--autograd nosuch: NameError"),
        ("--autograd 3", "--autograd 3: an int is no backward"),
        ("--autograd square", "--autograd square: an operator is called with the gradients and saved values; name these, as in --saves x,output"),
        ("--autograd '\"grads::square\"'", "the name of an operator is called with the gradients"),
        ("--autograd square_backward --saves x", "a kernel does not say what it allocates"),
        ("--autograd backward --setup-context 3", "--setup-context 3: an int is no setup_context"),
        ("--autograd np.abs --saves z", "--autograd np.abs --saves z: `grads::square` has no argument `z`"),
        ("--autograd np.abs --saves x --differentiable z", "--differentiable z: `grads::square` has no argument `z`"),
        ("--autograd np.abs --saves output.1", "it has 1 output"),
        ("--autograd 'lambda ctx: 1'", "--autograd lambda ctx: 1: the backward of `grads::square` is called as backward(ctx, grad)"),
        ("--autograd backward --setup-context 'lambda ctx: 1'", "the setup_context of `grads::square` is called as setup_context(ctx, inputs, output)"),
    ],
)
def test_a_gradient_that_is_wrong_lands_nothing(shell, options, said):
    shown = mistake(shell, f"%%kernel {SQUARE_OP} --kernel square {options} --gradcheck\n{SQUARE}{BACKWARD}")
    assert said in shown and shown.startswith("%%kernel: ") and not {"square", "square_backward"} & set(shell.user_ns)
    kernel(shell, f"{SQUARE_OP} --autograd backward --setup-context setup", SQUARE)
    assert pulled(shell) == [2, 4, 6]


@pytest.mark.parametrize(
    "options, said",
    [
        ("--gradcheck", "`grads::square` has no gradient; write --autograd f"),
        ("--autograd backward --gradcheck 'x,, y'", "--gradcheck x,, y: SyntaxError"),
        ("--autograd backward --gradcheck nosuch", "--gradcheck nosuch: NameError"),
        ("--autograd backward --gradcheck '1, 2, 3'", "%%kernel: --gradcheck 1, 2, 3: `grads::square` takes 1 argument"),
        ("--autograd backward --gradcheck z=np.ones(3)", "%%kernel: --gradcheck z=np.ones(3): `grads::square` has no argument `z`"),
        ("--autograd backward --gradcheck np.arange(3)", "%%kernel: --gradcheck np.arange(3): `grads::square`: argument `x` is an array of int64"),
        ("--autograd backward --args np.arange(3) --gradcheck", "%%kernel: --args np.arange(3): `grads::square`: argument `x` is an array of int64"),
        ("--autograd backward --gradcheck None", "%%kernel: --gradcheck None: parameter `x`"),
        ("--autograd backward --gradcheck *5", "%%kernel: --gradcheck *5: TypeError: argument after * must be an iterable, not int"),
        ("--autograd backward --gradcheck x[:3", "%%kernel: --gradcheck x[:3: SyntaxError: '[' was never closed"),
    ],
)
def test_mistakes_of_a_gradient_check_are_usage_errors(shell, options, said):
    shown = mistake(shell, f"%%kernel {SQUARE_OP} {options}\n{SQUARE}")
    assert said in shown and shown.startswith("%%kernel: ") and "square" not in shell.user_ns


def test_a_mistake_of_the_gradient_check_comes_before_the_check(shell):
    shell.user_ns["seen"] = []
    shown = mistake(shell, f"%%kernel {SQUARE_OP} --check 'lambda x: seen.append(1)' --gradcheck\n{SQUARE}")
    assert "has no gradient" in shown and shell.user_ns["seen"] == []


def test_arguments_that_nothing_describes_are_asked_for(shell):
    shown = mistake(shell, "%%kernel --op 'grads::cube(Tensor x) -> Tensor' --gradcheck\nat::Tensor cube(const at::Tensor& x) { return x * x * x; }")
    assert "write --args, or --gradcheck with arguments" in shown


def test_what_a_check_is_given_does_not_become_the_reference(shell, capsys):
    out(shell, capsys, f"%%kernel {SQUARE_OP} --check np.square\n{SQUARE}")
    assert shell.user_ns["square"].reference is None
    out(shell, capsys, f"%%kernel {SQUARE_OP} --reference np.abs --check np.square\n{SQUARE}")
    assert shell.user_ns["square"].reference is np.abs
    assert "it does not become the operator's reference" in " ".join(out(shell, capsys, "%%kernel --help").split())


def test_a_mistake_of_the_reference_is_none_of_the_arguments(shell):
    def refuse(x):
        raise wb.ArgumentError("the reference has no such thing")

    shell.user_ns["refuse"] = refuse
    shown = mistake(shell, f"%%kernel {SQUARE_OP} --check refuse --args 'np.ones(3, np.float32)'\n{SQUARE}")
    assert "the reference has no such thing" in shown and "--args" not in shown
