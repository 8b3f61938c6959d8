"""Random arguments in the shapes of an operator's signature, wherever checks, gradient checks and benchmarks are given none; and those that `--make` makes."""

from __future__ import annotations

import numpy as np
import pytest
from test_magics import kernel, mistake, out, shell

import workbench as wb

__all__ = ["shell"]

#: Each element of the first output is that of the first input; dims that are not there have extent 1.
SIGNATURES = [
    ("x[n] -> y[n]", {"x": (1024,)}, {"x": (4099,)}),
    ("x[*] -> y[*]", {"x": (1024,)}, {"x": (4099,)}),
    ("x[h, w] -> y[h, w]", {"x": (32, 32)}, {"x": (65, 67)}),
    ("x[n, n] -> y[n, n]", {"x": (32, 32)}, {"x": (65, 65)}),
    ("x[b, h, w] -> y[b, h, w]", {"x": (10, 10, 10)}, {"x": (17, 19, 21)}),
    ("x[n, 4] -> y[n, 4]", {"x": (1024, 4)}, {"x": (4099, 4)}),
    ("x[h, w], b[w] -> y[h, w]", {"x": (32, 32), "b": (32,)}, {"x": (65, 67), "b": (67,)}),
    ("x[m, k], b[k, n] -> y[m, n]", {"x": (32, 32), "b": (32, 32)}, {"x": (65, 67), "b": (67, 69)}),
    # The result has both.
    ("x[m], b[n] -> y[m, n]", {"x": (32,), "b": (32,)}, {"x": (65,), "b": (67,)}),
    ("x[n] -> y[min(n, 7) + 0]", {"x": (1024,)}, {"x": (4099,)}),
]


def operator(signature):
    arguments = "Tensor x, Tensor b" if "b[" in signature.replace("x[b", "") else "Tensor x"
    pointers = "const float* x, const float* b" if "b" in arguments else "const float* x"
    text = f"__global__ void k({pointers}, float* y) {{ }}"
    return wb.op(f"shapes::k({arguments}) -> Tensor", text, shape=signature)


@pytest.mark.parametrize("signature, timed, checked", SIGNATURES)
def test_random_arrays_have_the_shapes_of_the_signature(signature, timed, checked):
    op = operator(signature)
    for made, shapes in ((op._random_args(1024), timed), (op._check_args(4099), checked)):
        assert dict(zip(op.params, (value.shape for value in made))) == shapes
        op._hold_arguments(made)


ADD = """__global__ void add(const float* u, float* y, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < w && j < h) y[j * w + i] = u[j * w + i] + 1;
}"""
ADD_OP = "--op 'shapes::add(Tensor u) -> Tensor' --shape 'u[h, w] -> y[h, w]' --threads 'w, h' --block 16,16 --reference 'lambda u: u + 1'"


@pytest.mark.parametrize(
    "cell",
    [
        f"%%kernel {ADD_OP} --check\n{ADD}",
        f"%%kernel {ADD_OP} --bench --sizes 100\n{ADD}",
        f"%%kernel {ADD_OP} --autograd 'lambda ctx, g: g' --gradcheck\n{ADD}",
        f"%%kernel {ADD_OP} --tune block=32,64 --sizes 100\n{ADD}".replace("--block 16,16", ""),
        "%kernel_check add",
        "%kernel_bench add --sizes 100,1k",
        "add.bench(sizes=[64])",
        "add.history.compare(1, 2)",
    ],
)
def test_who_gives_no_arguments_gets_arrays_of_the_right_rank(shell, capsys, cell):
    # Two versions, for the comparison.
    kernel(shell, ADD_OP.replace("16,16", "8,8"), ADD)
    kernel(shell, ADD_OP, ADD)
    shown = out(shell, capsys, cell)
    assert "DIFFERS" not in shown and "wants rank" not in shown and "right 0" not in shown


def test_integers_are_below_every_extent():
    text = "__global__ void k(const int* at, const float* x, float* y, int m, int n) { }"
    op = wb.op("shapes::k2(Tensor at, Tensor x) -> Tensor", text, shape="at[m], x[n, m] -> y[m, n]")
    at, x = op._random_args(4096)
    assert x.shape == (64, 64) and at.shape == (64,) and at.max() < 64


def test_a_check_takes_the_arguments_of_make(shell, capsys):
    shell.user_ns.update(seen=(seen := []), make=lambda n: seen.append(n) or np.ones((n, 2), np.float32))
    assert "of 16 elements" in out(shell, capsys, f"%%kernel {ADD_OP} --check --make make --sizes 8,16\n{ADD}") and seen == [8]
    assert "of 2048 elements" in out(shell, capsys, f"%%kernel {ADD_OP} --check --make make\n{ADD}")
    out(shell, capsys, f"%%kernel {ADD_OP} --autograd 'lambda ctx, g: g' --gradcheck --make make\n{ADD}")
    assert seen == [8, 1024, 33]
    # Arguments of the line come before it.
    assert "of 3 elements" in out(shell, capsys, f"%%kernel {ADD_OP} --check --bench --make make --sizes 4 --args 'np.ones((1, 3), np.float32)'\n{ADD}")


@pytest.mark.parametrize(
    "options, said",
    [
        ("--check --make np.ones --sizes 8", "%%kernel: --make np.ones: "),
        ("--make np.ones", "--make is about --bench or --tune, and --check or --gradcheck without arguments of their own"),
        ("--check --args 'np.ones((1, 1), np.float32)' --make np.ones", "--make is about"),
        ("--check --sizes 8", "--sizes is about --bench or --tune"),
    ],
)
def test_a_maker_that_does_not_fit_or_is_not_asked_changes_nothing(shell, options, said):
    assert said in mistake(shell, f"%%kernel {ADD_OP} {options}\n{ADD}") and "add" not in shell.user_ns


def test_the_example_of_the_help_works(shell, capsys):
    text = """template <int TILE> __global__ void tiled(const float* a, float* y, int n) {
    int i = blockIdx.x * TILE + threadIdx.x, j = blockIdx.y * TILE + threadIdx.y;
    if (i < n && j < n) y[j * n + i] = 2 * a[j * n + i];
}"""
    shell.user_ns["f_of_size"] = lambda n: np.ones((32, 32), np.float32)
    line = "--op 'shapes::tiled(Tensor a) -> Tensor' --shape 'a[n, n] -> y[n, n]' --grid '(n + {TILE} - 1) / {TILE}, (n + {TILE} - 1) / {TILE}' --block '{TILE},{TILE}'"
    example = "--reference 'lambda a: 2 * a' --kernel 'tiled<{TILE}>' --tune TILE=8,16 --check --make f_of_size"
    shown = out(shell, capsys, f"%%kernel {line} {example}\n{text}")
    assert "agrees with its reference" in shown and "right 2" in shown
