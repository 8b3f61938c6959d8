"""Operators in the magics: of several kernels, of host functions, of callables, of templates; random arguments; versions that an edit left behind."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from test_magics import RELU, RELU_OP, RELU_REFERENCE, SCALE, kernel, mistake, out, shell

import workbench as wb

__all__ = ["shell"]

DOUBLE = "at::Tensor twice(const at::Tensor& x) { return x * 2; }"
DOUBLE_OP = "--op 'lab::twice(Tensor x) -> Tensor' --reference 'lambda x: x + x'"
TEMPLATE = (
    "template <typename T> __global__ void sc(const T* x, T* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
)


def test_an_operator_of_a_host_function_is_checked_and_timed(shell, capsys):
    shell.user_ns["x"] = np.ones(7, np.float32)
    shown = out(shell, capsys, f"%%kernel {DOUBLE_OP} --check --bench --args x\n{DOUBLE}")
    assert "of 7 elements" in shown and "reference" in shown
    report = shell.run_cell("%kernel_bench twice --sizes 64 --make np.ones").result
    assert [row["name"] for row in report.rows] == ["twice", "reference"]


def test_arguments_that_nothing_describes_are_asked_for_before_the_check(shell, capsys):
    shell.user_ns["calls"] = []
    line = f"{DOUBLE_OP} --check 'lambda x: calls.append(1)' --bench"
    assert "no operator of kernels, so nothing says what its arrays are; write --args or --make" in mistake(shell, f"%%kernel {line}\n{DOUBLE}")
    assert shell.user_ns["calls"] == []
    kernel(shell, DOUBLE_OP, DOUBLE)
    assert "write --make f" in mistake(shell, "%kernel_bench twice")


def test_an_operator_of_a_callable_is_timed(shell):
    shell.user_ns["clip"] = wb.op("lab::clip(Tensor x, *, float high=1.0) -> Tensor", lambda x, high: x.clip(0, high))
    report = shell.run_cell("%kernel_bench clip --sizes 64 --make 'lambda n: (np.ones(n), 0.5)' 'np=lambda x, high: x.clip(0, high)'").result
    assert [row["name"] for row in report.rows] == ["clip", "np"]
    with pytest.raises(wb.ArgumentError, match="give make_args="):
        shell.user_ns["clip"].bench(sizes=[64])


@pytest.mark.parametrize("magic", ["kernel_ir", "kernel_gpu"])
def test_an_operator_of_a_template_has_no_code_of_its_own(shell, magic):
    kernel(shell, "--op 'lab::sc(Tensor x) -> Tensor' --shape 'x[*] -> y[*]'", TEMPLATE)
    said = mistake(shell, f"%{magic} sc")
    assert "is an operator of the template `sc`" in said and f"%{magic} \"sc.module['sc'].instance(...)\"" in said
    kernel(shell, "--name m", TEMPLATE)
    assert "`m` has templates alone (sc)" in mistake(shell, f"%{magic} m")
    shell.user_ns["x"] = np.ones(3, np.float32)
    assert shell.run_cell("%kernel_ir \"sc.module['sc'].instance(x, x, 3)\" --tiers").success


def test_random_arguments_are_of_the_kernels_types():
    pytest.importorskip("ml_dtypes")
    text = "#include <cuda_bf16.h>\n" + RELU.replace("float*", "__nv_bfloat16*").replace("fmaxf(x[i], 0.0f)", "x[i]")
    # A process of its own, in which nobody has imported ml_dtypes.
    made = f"import workbench as wb; op = wb.op('lab::relu(Tensor x) -> Tensor', {text!r}, shape='x[*] -> y[*]', reference=lambda x: x)"
    run = subprocess.run([sys.executable, "-c", f"{made}; assert op.check(*op._random_args(64))"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_random_arguments_that_there_are_none_of_are_said(shell, monkeypatch):
    text = "#include <cuda_bf16.h>\n" + RELU.replace("float*", "__nv_bfloat16*").replace("fmaxf(x[i], 0.0f)", "x[i]")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    assert "from ml_dtypes" in mistake(shell, f"%%kernel {RELU_OP} --check 'lambda x: x'\n{text}")
    text = "#include <thrust/complex.h>\n" + RELU.replace("const float*", "const thrust::complex<float>*").replace("x[i]", "x[i].real()")
    said = mistake(shell, f"%%kernel {RELU_OP} --bench\n{text}")
    assert "is of `complex<float>`" in said and "write --args or --make" in said


def test_random_indices_are_below_the_size(shell):
    text = "__global__ void pick(const int* at, const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[at[i]]; }"
    kernel(shell, "--op 'lab::pick(Tensor at, Tensor x) -> Tensor' --shape 'at[n], x[n] -> y[n]'", text)
    assert shell.run_cell("%kernel_bench pick --sizes 16").success


@pytest.mark.parametrize("option, advice", [("--check np.abs", "--args or --make gives others"), ("--bench --sizes 64", "--make makes others")])
def test_a_fault_on_random_arguments_says_that_they_are_random(shell, capsys, option, advice):
    result = shell.run_cell(f"%%kernel {RELU_OP} {option}\n{RELU.replace('x[i]', 'x[i + 5000]')}")
    assert isinstance(result.error_in_exec, wb.KernelFault)
    shown = capsys.readouterr().out
    assert "the arguments are random arrays" in shown and advice in shown


def stale(shell):
    """A notebook whose last edit of `relu` and `scale` does not compile."""
    kernel(shell, f"{RELU_OP} {RELU_REFERENCE}", RELU)
    kernel(shell, "", SCALE)
    kernel(shell, "--name m", SCALE)
    for line, text in [(RELU_OP, RELU), ("", SCALE), ("--name m", SCALE)]:
        with pytest.raises(wb.CompileError):
            kernel(shell, line, text.replace("x[i]", "nosuch"))


@pytest.mark.parametrize(
    "cell",
    [
        "%kernel_check relu",
        "_ = relu.check(np.ones(3, np.float32))",
        "relu",
        "%kernel_ir relu",
        "%kernel_ir relu --tiers",
        "%kernel_history relu",
        "scale",
        "%kernel_ir scale",
        "m",
        "%kernel_ir m",
    ],
)
def test_whoever_uses_the_version_before_a_failed_edit_is_told_so(shell, cell):
    stale(shell)
    for _ in range(2):
        with pytest.warns(UserWarning, match="is the version before the last edit, which did not compile"):
            shell.run_cell(cell).raise_error()


def test_a_version_that_compiles_again_is_not_old(shell):
    stale(shell)
    assert "note " in shell.user_ns["relu"].__doc__
    kernel(shell, f"{RELU_OP} {RELU_REFERENCE}", RELU)
    kernel(shell, "", SCALE)
    assert "note " not in shell.user_ns["relu"].__doc__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cell in ["relu", "%kernel_check relu", "scale", "%kernel_ir scale"]:
            shell.run_cell(cell).raise_error()


def test_an_operator_of_a_host_function_is_old_too(shell):
    x = np.ones(2, np.float32)
    kernel(shell, DOUBLE_OP, DOUBLE)
    twice = shell.user_ns["twice"]
    with pytest.raises(wb.CompileError):
        kernel(shell, DOUBLE_OP, DOUBLE.replace("x * 2", "y * 2"))
    with pytest.warns(UserWarning, match="before the last edit"):
        twice(x)
    with warnings.catch_warnings():
        # A call says it once, a check each time.
        warnings.simplefilter("error")
        twice(x)
    for _ in range(2):
        with pytest.warns(UserWarning, match="before the last edit"):
            twice.check(x)
    kernel(shell, DOUBLE_OP, DOUBLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert twice(x).tolist() == [2, 2] and twice.check(x)


@pytest.mark.parametrize("again", [["%reload_ext workbench"], ["%unload_ext workbench", "%load_ext workbench"]])
def test_what_cells_have_made_is_known_after_a_reload(shell, capsys, again):
    kernel(shell, "", SCALE)
    for line in again:
        shell.run_cell(line)
    capsys.readouterr()
    kernel(shell, "", SCALE.replace("f * x[i]", "f + x[i]"))
    assert "hides" not in capsys.readouterr().out
    assert "2 versions" in repr(shell.run_line_magic("kernel_history", "scale"))
    for line in again:
        shell.run_cell(line)
    with pytest.raises(wb.CompileError):
        kernel(shell, "", SCALE.replace("f * x[i]", "nosuch"))
    with pytest.warns(UserWarning, match="before the last edit"):
        shell.user_ns["scale"][1, 32](np.ones(3, np.float32), 2.0, 3)


def test_an_unloaded_extension_has_no_magics(shell):
    shell.run_line_magic("unload_ext", "workbench")
    for magic in ["kernel_check", "kernel_ir", "timekernel"]:
        assert shell.find_line_magic(magic) is None
    assert shell.find_cell_magic("kernel") is None
    # A magic of somebody else stays.
    assert shell.find_line_magic("time") is not None


def test_tracebacks_show_the_text_of_an_expression(shell, capsys):
    shell.run_cell(f"%%kernel {RELU_OP} --check 'lambda x: x.nosuch'\n{RELU}")
    shown = re.sub(r"\x1b\[[\d;]*m", "", "".join(capsys.readouterr()))
    assert "lambda x: x.nosuch" in shown.split("in <lambda>")[1] and "Could not get source" not in shown


def test_tracebacks_end_at_a_call_that_writes_a_file(shell, capsys):
    kernel(shell, RELU_OP, RELU)
    for cell in ["relu.history.save('/nosuch/x.html')", "__import__('workbench').bench({'a': lambda: 1}, [1], lambda n: (), seconds_per_size=0.001).save('/nosuch/x.json')"]:
        shell.run_cell(cell)
        shown = re.sub(r"\x1b\[[\d;]*m", "", "".join(capsys.readouterr()))
        assert "FileNotFoundError" in shown and "pathlib" not in shown


def test_an_architecture_that_there_is_none_of_is_a_usage_error(shell):
    kernel(shell, RELU_OP, RELU)
    said = mistake(shell, "%kernel_gpu relu --arch foo")
    assert said.startswith("%kernel_gpu: ") and ("does not compile for `foo`; it knows sm_" in said or "nvidia-cuda-nvrtc" in said)


def test_a_block_of_an_operator_has_at_most_1024_threads():
    with pytest.raises(wb.ArgumentError, match="at most 1024 threads.*has 4096"):
        wb.op("lab::relu(Tensor x) -> Tensor", RELU, shape="x[*] -> y[*]", block=(16, 16, 16))


def test_the_same_text_of_a_cell_and_of_a_call_is_one_version(shell):
    relu = wb.op("same::relu(Tensor x) -> Tensor", RELU, shape="x[*] -> y[*]")
    line = RELU_OP.replace("lab::", "same::")
    for text in (RELU, RELU.rstrip("\n"), "\n\n" + RELU):
        kernel(shell, line, text)
        assert shell.user_ns["relu"] is relu and len(relu.history) == 1


def test_blank_lines_round_a_cell_are_no_change_of_a_kernel(shell):
    for text in (SCALE, "\n" + SCALE, SCALE.rstrip("\n"), "  \n" + SCALE + "\n\n"):
        kernel(shell, "", text)
    assert "scale: 1 version\n" in repr(shell.run_line_magic("kernel_history", "scale")) + "\n"
    kernel(shell, "", "   " + SCALE)
    assert "scale: 2 versions" in repr(shell.run_line_magic("kernel_history", "scale"))
