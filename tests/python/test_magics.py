"""`%%kernel` and its companions, in a real IPython shell."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import workbench as wb

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
UsageError = pytest.importorskip("IPython.core.error").UsageError

SCALE = "__global__ void scale(float* x, float f, int n) {\n    int i = threadIdx.x;\n    if (i < n) x[i] = f * x[i];\n}\n"
RELU = "__global__ void relu(const float* x, float* y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = fmaxf(x[i], 0.0f);\n}\n"
RELU_OP = '--op "lab::relu(Tensor x) -> Tensor" --shape "x[*] -> y[*]"'


@pytest.fixture
def shell():
    shell = interactiveshell.InteractiveShell()
    shell.run_line_magic("load_ext", "workbench")
    shell.user_ns["np"] = np
    return shell


def kernel(shell, line, cell):
    return shell.run_cell_magic("kernel", line, cell)


def test_kernels_land_in_the_namespace(shell):
    kernel(shell, "", SCALE)
    x = np.ones(3, np.float32)
    shell.user_ns["scale"][1, 32](x, 2.0, 3)
    assert (x == 2).all()


def test_device_helpers_do_not_land_and_uncalled_host_functions_do(shell):
    kernel(
        shell,
        "",
        "__device__ int dev(int x) { return x; }\nint inner(int x) { return x + 1; }\n"
        "int outer(int x) { return inner(x); }\n__global__ void k(int* x) { x[0] = dev(1); }",
    )
    assert {"k", "outer"} <= set(shell.user_ns) and not {"dev", "inner"} & set(shell.user_ns)


def test_options_are_honoured(shell):
    kernel(shell, "-D N=4 -D M", "__global__ void k(int* x) { x[0] = N + M; }")
    x = np.zeros(1, np.int32)
    shell.user_ns["k"][1, 1](x)
    assert x[0] == 5
    kernel(shell, "--timeout 0.05", "__global__ void spin(volatile int* x) { while (x[0] == 0) { } }")
    with pytest.raises(wb.KernelTimeout):
        shell.user_ns["spin"][1, 1](np.zeros(1, np.int32))
    kernel(shell, "--name m", SCALE)
    assert shell.user_ns["m"].scale.name == "scale" and shell.user_ns["m"].text.strip() == SCALE.strip()


@pytest.mark.parametrize(
    "line",
    [
        "--reference nosuch",
        "--check nosuch",
        "--check y",
        "--check 'lambda x: x' --rtol 1",
        "--check np.abs --args 'y, y'",
        "--check np.abs --args nosuch=y",
        "--check np.abs --args 'np.ones(3, np.int8)'",
        "--gradcheck",
        "--autograd y --gradcheck",
        "--autograd 'lambda ctx: 1'",
        "--autograd 'lambda ctx, g: g' --setup-context 'lambda: 1'",
        "--autograd 'lambda ctx, g: g' --gradcheck 'y, y'",
        "--bench q=nosuch",
        "--bench q=np.abs q=np.sqrt",
        "--bench --make nosuch",
        "--bench --sizes 8:4",
        "--bench --bytes nosuch --sizes 64",
        "--bench --flops n/3 --sizes 64",
        "--bench --args y --bytes nosuch",
        "--kernel nothing",
        "--threads q",
        "--tune FOO",
        "--tune FOO=1,2",
        "--tune threads=q,n",
        "--option=-fshort-enums",
        "--timeout -1",
    ],
)
def test_a_mistake_in_the_line_changes_nothing(shell, line):
    kernel(shell, f"{RELU_OP} --reference np.abs --autograd 'lambda ctx, g: g'", RELU + SCALE)
    shell.user_ns["y"] = np.ones(3, np.float32)
    relu, scale = shell.user_ns["relu"], shell.user_ns["scale"]
    before = dict(shell.user_ns)
    with pytest.raises(UsageError):
        kernel(shell, f"{RELU_OP} {line}", RELU.replace("0.0f", "5.0f") + SCALE + "__global__ void other() { }")
    changed = [name for name, value in shell.user_ns.items() if before.get(name) is not value]
    assert changed == [] and len(before) == len(shell.user_ns)
    assert wb.ops.lab.relu is relu and relu.reference is np.abs and relu._backward is not None and "5.0f" not in relu.history[-1].text
    with pytest.warns(UserWarning, match="`relu` is the version before the last edit, which has a mistake in its line"):
        assert relu(np.zeros(2, np.float32)).tolist() == [0, 0]
    with pytest.warns(UserWarning, match="`scale` is the version"):
        scale[1, 32](shell.user_ns["y"], 2.0, 3)


def test_a_mistake_in_the_line_of_a_host_function_registers_nothing(shell):
    text = "at::Tensor twice(const at::Tensor& x) { return x * 2; }"
    for line in ["--check nosuch", "--check np.abs --args '1, 2'", "--check np.abs --args z=1", "--block 64", "--autograd 'lambda ctx: 1'", "--bench --make 3", "--check np.abs"]:
        with pytest.raises(UsageError):
            kernel(shell, f"--op 'fresh::twice(Tensor x) -> Tensor' {line}", text)
        assert not hasattr(wb.ops.fresh, "twice") and "twice" not in shell.user_ns


def test_expressions_of_the_line_know_the_cell_and_the_operator_itself(shell, capsys):
    shell.user_ns["y"] = np.ones(3, np.float32)
    line = "--op 'lab::again(Tensor x) -> Tensor' --kernel relu --shape 'x[*] -> y[*]' --check 'np.abs if scale.name and relu.name else 1' --bench own=again --args y"
    kernel(shell, line, RELU + SCALE)
    shown = capsys.readouterr().out
    assert "agrees" in shown and "own" in shown and isinstance(shell.user_ns["scale"], wb.Kernel)


@pytest.mark.parametrize("option", ["--shape 'x[n] -> y[n]'", "--kernel k", "--reference np.abs", "--threads n", "--block 64"])
def test_options_of_an_operator_need_one(shell, option):
    with pytest.raises(UsageError, match=f"{option.split()[0]} is about the operator that --op makes"):
        kernel(shell, option, SCALE)


def test_what_is_hidden_is_said_in_one_line(shell, capsys):
    shell.user_ns["mine"] = 3
    kernel(shell, "", "__global__ void sum(int* x) { x[0] = 1; }\n__global__ void mine(int* x) { x[0] = 1; }")
    out = capsys.readouterr().out
    assert out.count("\n") == 1 and "builtin `sum`" in out and "variable `mine`" in out
    kernel(shell, "", "__global__ void sum(int* x) { x[0] = 2; }\n__global__ void mine(int* x) { x[0] = 2; }")
    assert capsys.readouterr().out == ""


A1 = "__global__ void a1(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }"
A1_OP = "--op 'hides::a1(Tensor x) -> Tensor' --shape 'x[n] -> y[n]'"


@pytest.mark.parametrize(
    "before, line, said",
    [
        # Operators that exist get their next version.
        (A1_OP, A1_OP, ""),
        ("", "", ""),
        ("", A1_OP, ""),
        ("--name a1", "--name a1", ""),
        ("a1 = wb.op('hides::a1(Tensor x) -> Tensor', A1, shape='x[n] -> y[n]')", A1_OP, ""),
        # A kernel or another operator takes the operator's name.
        (A1_OP, A1_OP.replace("::a1", "::b1"), "the operator `hides::a1`, which is wb.ops.hides.a1"),
        (A1_OP, "", "the operator `hides::a1`"),
        (A1_OP, "--name a1", "the operator `hides::a1`"),
        (A1_OP, A1_OP.replace("hides", "hides2"), "the operator `hides::a1`"),
        ("a1 = wb.op('hides::a1(Tensor x) -> Tensor', A1, shape='x[n] -> y[n]')", "", "the operator `hides::a1`"),
        ("--name a1", "", "the module `a1`"),
        ("a1 = 3", "", "the variable `a1`"),
        ("a1 = wb.compile(A1)", "", "the module `a1`"),
    ],
)
def test_a_cell_says_what_it_hides(shell, capsys, before, line, said):
    shell.user_ns.update(wb=wb, A1=A1)
    shell.run_cell(before if before.startswith("a1 =") else f"%%kernel {before}\n{A1}").raise_error()
    shown = out(shell, capsys, f"%%kernel {line}\n// again\n{A1}")
    assert (f"%%kernel: this cell now hides {said}" in shown) if said else "hides" not in shown


def test_a_cell_that_does_not_compile_leaves_the_old_version_and_warns_once(shell):
    kernel(shell, "", SCALE)
    old = shell.user_ns["scale"]
    with pytest.raises(wb.CompileError) as caught:
        kernel(shell, "", SCALE.replace("f * x[i]", "g * x[i]"))
    # Line 1 is the magic's own.
    assert caught.value.lineno == 4
    assert shell.user_ns["scale"] is old
    x = np.ones(3, np.float32)
    with pytest.warns(UserWarning, match="`scale`.*did not compile"):
        old[1, 32](x, 2.0, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        old[1, 32](x, 2.0, 3)
    assert (x == 4).all()


def test_an_operator_lands_and_is_checked_and_timed(shell):
    kernel(shell, f'{RELU_OP} --reference "lambda x: np.maximum(x, 0)"', RELU)
    relu = shell.user_ns["relu"]
    x = shell.user_ns["x"] = np.linspace(-1, 1, 100, dtype=np.float32)
    assert (relu(x) == np.maximum(x, 0)).all() and wb.ops.lab.relu is not None
    assert shell.run_line_magic("kernel_check", "relu x").passed
    assert not shell.run_line_magic("kernel_check", "relu x --reference np.abs").passed
    shell.user_ns["f"] = lambda x: np.maximum(x, 0)
    report = shell.run_line_magic("kernel_bench", "relu numpy=f --sizes 1k:4k")
    assert {row["name"] for row in report.rows} == {"relu", "numpy"}
    assert sorted({row["size"] for row in report.rows}) == [1024, 2048, 4096]


def test_an_edited_operator_runs_the_new_text_through_old_handles(shell):
    kernel(shell, RELU_OP, RELU)
    old = shell.user_ns["relu"]
    kernel(shell, RELU_OP, RELU.replace("0.0f", "0.5f"))
    assert old(np.zeros(3, np.float32)).tolist() == [0.5] * 3


def test_history_shows_every_version(shell, capsys):
    kernel(shell, "", SCALE)
    kernel(shell, "", SCALE.replace("f * x[i]", "f + x[i]"))
    capsys.readouterr()
    out = repr(shell.run_line_magic("kernel_history", "scale"))
    assert "scale: 2 versions" in out and "-     if (i < n) x[i] = f * x[i];" in out and "+     if (i < n) x[i] = f + x[i];" in out


@pytest.mark.parametrize(
    ("magic", "line"),
    [
        ("kernel_history", "nothing"),
        ("kernel_check", ""),
        ("kernel_check", "np"),
        ("kernel_bench", "nothing_at_all"),
    ],
)
def test_mistakes_in_a_line_are_usage_errors(shell, magic, line):
    from IPython.core.error import UsageError

    with pytest.raises(UsageError):
        shell.run_line_magic(magic, line)
    with pytest.raises(UsageError):
        kernel(shell, "--nonsense", SCALE)
    with pytest.raises(UsageError):
        kernel(shell, '--op "unclosed', SCALE)


def test_errors_are_drawn_without_pythons_frames(shell, capsys):
    result = shell.run_cell('wb = __import__("workbench"); wb.compile("__global__ void k(int* x) {\\n  x[0] = y;\\n}")')
    assert isinstance(result.error_in_exec, wb.CompileError)
    out = capsys.readouterr().out
    assert "x[0] = y;" in out and "^" in out and "site-packages" not in out and "_compile.py" not in out
    result = shell.run_cell('wb.compile("__global__ void k(int* x) { x[9] = 1; }").k[1, 1](np.zeros(3, np.int32))')
    assert isinstance(result.error_in_exec, wb.KernelFault)
    out = capsys.readouterr().out
    assert "out-of-bounds write" in out and len(out.splitlines()) < 15


BAD = "%%kernel\n__global__ void bad(int* x) { x[0] = nope; }"


def test_messages_name_the_cell_by_its_number(shell):
    shell.run_cell("1 + 1", store_history=True)
    for number in (2, 3):
        result = shell.run_cell(BAD, store_history=True)
        assert result.execution_count == number
        assert f"In[{number}]:2:" in str(result.error_in_exec)
    # A cell that is not stored is called what the next one will be.
    assert "In[4]:2:" in str(shell.run_cell(BAD, store_history=False).error_in_exec)
    assert "In[4]:2:" in str(shell.run_cell(BAD, store_history=True).error_in_exec)


def test_the_extension_is_loaded_and_unloaded_again(shell):
    before = len(shell.events.callbacks["pre_run_cell"])
    for _ in range(3):
        shell.run_line_magic("reload_ext", "workbench")
    assert len(shell.events.callbacks["pre_run_cell"]) == before
    assert "In[1]:2:" in str(shell.run_cell(BAD, store_history=True).error_in_exec)


def test_messages_name_the_cell_of_a_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(text) for text in ["%load_ext workbench", "1 + 1", BAD, "2 + 2", BAD]]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute(cwd=str(tmp_path))
    for cell in (notebook.cells[2], notebook.cells[4]):
        assert f"In[{cell.execution_count}]:2:" in cell.outputs[-1].evalue


def test_sizes_are_read_as_people_write_them():
    from IPython.core.error import UsageError

    from workbench.magics import parse_sizes

    assert parse_sizes("1k:1M:4") == [1024 * 4**k for k in range(6)]
    assert parse_sizes("10,2k") == [10, 2048]
    for bad in ["", "x", "4:2", "1:8:1", "0:4", "1:2:3:4"]:
        with pytest.raises(UsageError):
            parse_sizes(bad)


def test_help_is_printed(shell, capsys):
    for cell in ["%%kernel --help", "%%kernel -h\n", "%%kernel --help\n__global__ void k() { }"]:
        result = shell.run_cell(cell)
        assert result.success, cell
        out = capsys.readouterr().out
        assert out.startswith("usage: %%kernel") and "--shape" in out, cell
    assert "k" not in shell.user_ns
    for magic in ["kernel_check", "kernel_bench", "kernel_history", "kernel_printf", "kernel_ir", "kernel_gpu", "timekernel"]:
        shell.run_line_magic(magic, "--help")
        assert capsys.readouterr().out.startswith(f"usage: %{magic}")


@pytest.mark.parametrize(
    "line",
    [
        '--op "lab::relu(Tensor x -> Tensor"',
        '--op "lab::relu(Tensor x) -> Tensor" --shape "x[* -> y[*]"',
        '--op "lab::relu(Tensor x) -> Tensor" --shape "z[n] -> y[n]"',
        '--op "lab::relu(Tensor x) -> Tensor" --kernel nothing',
        "--timeout -1",
    ],
)
def test_wrong_arguments_of_a_cell_are_usage_errors(shell, capsys, line):
    from IPython.core.error import UsageError

    result = shell.run_cell(f"%%kernel {line}\n{RELU}")
    assert isinstance(result.error_in_exec, UsageError)
    shown = "".join(capsys.readouterr())
    assert "UsageError: %%kernel: " in shown and "Traceback" not in shown and "operators.py" not in shown


def test_a_check_without_a_reference_is_a_usage_error(shell, capsys):
    from IPython.core.error import UsageError

    kernel(shell, RELU_OP, RELU)
    result = shell.run_cell("%kernel_check relu np.ones(3,np.float32)")
    assert isinstance(result.error_in_exec, UsageError)
    shown = "".join(capsys.readouterr())
    assert "has no reference" in shown and "Traceback" not in shown


RELU_REFERENCE = '--reference "lambda x: np.maximum(x, 0)"'


def out(shell, capsys, cell):
    """What a cell shows; no error of it is expected."""
    capsys.readouterr()
    shell.run_cell(cell).raise_error()
    return capsys.readouterr().out


def mistake(shell, cell):
    error = shell.run_cell(cell).error_in_exec
    assert isinstance(error, UsageError), error
    return str(error)


def test_a_cell_checks_and_times_its_operator(shell, capsys):
    shell.user_ns["f"] = lambda x: np.maximum(x, 0)
    shown = out(shell, capsys, f"%%kernel {RELU_OP} --check f --bench numpy=f --sizes 1k:2k\n{RELU}")
    assert "agrees with its reference" in shown and "of 4099 elements" in shown
    assert "numpy" in shown and "2 Ki" in shown
    # The reference of the operator, arguments of the line, and no sizes: timed on these.
    shown = out(shell, capsys, f"%%kernel {RELU_OP} {RELU_REFERENCE} --check --bench --args 'np.ones(7, np.float32)'\n{RELU}")
    assert "of 7 elements" in shown and "reference" in shown


def test_results_that_are_wrong_are_not_timed(shell, capsys):
    shown = out(shell, capsys, f"%%kernel {RELU_OP} --check 'lambda x: x' --bench --sizes 1k\n{RELU}")
    assert "DIFFERS" in shown and "not timed" in shown and "median" not in shown
    # A tolerance of the line is the check's.
    assert "agrees" in out(shell, capsys, f"%%kernel {RELU_OP} --check 'lambda x: x' --rtol 0 --atol 100\n{RELU}")


ROOT_OP = '--op "t::root(Tensor x) -> Tensor" --shape "x[*] -> y[*]"'
ROOT = "__global__ void root(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = sqrtf(x[i]); }"


def test_two_nans_are_equal_where_the_line_says_so(shell, capsys):
    shell.user_ns["z"] = np.array([-1.0, 4.0, 9.0], np.float32)
    with np.errstate(invalid="ignore"):
        assert "DIFFERS" in out(shell, capsys, f"%%kernel {ROOT_OP} --reference np.sqrt --check --args z\n{ROOT}")
        assert "agrees" in out(shell, capsys, f"%%kernel {ROOT_OP} --reference np.sqrt --check --args z --equal-nan\n{ROOT}")
        assert "DIFFERS" in repr(shell.run_line_magic("kernel_check", "root z"))
        assert "agrees" in repr(shell.run_line_magic("kernel_check", "root z --equal-nan"))


COPY = (
    "__global__ void copy(const float* x, float* y, int m, int n) { extern __shared__ float s[];\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, t = threadIdx.y * blockDim.x + threadIdx.x;\n"
    "    if (i < n && j < m) { s[t] = x[j * n + i]; y[j * n + i] = s[t] + 100 * blockDim.x + blockDim.y; } }"
)


@pytest.mark.parametrize("launch", ['--threads "n, m"', '--grid "(n + 7) / 8, (m + 3) / 4"'])
def test_a_cell_has_the_options_of_a_launch(shell, launch):
    kernel(shell, f'--op "lab::copy(Tensor x) -> Tensor" --shape "x[m, n] -> y[m, n]" {launch} --block 8,4 --shared-mem "4 * 8 * 4"', COPY)
    x = np.arange(5 * 19, dtype=np.float32).reshape(5, 19)
    assert (shell.user_ns["copy"](x) == x + 804).all()


def test_a_cell_has_the_options_of_the_compiler(shell, tmp_path):
    (tmp_path / "three.h").write_text("#define THREE 3\n")
    kernel(shell, f"-I {tmp_path} --option=-DFOUR=4", '#include "three.h"\n__global__ void k(int* x) { x[0] = THREE + FOUR; }')
    x = np.zeros(1, np.int32)
    shell.user_ns["k"][1, 1](x)
    assert x[0] == 7
    with pytest.raises(UsageError, match="option `-fshort-enums`"):
        kernel(shell, "--option=-fshort-enums", SCALE)


def test_listings_of_a_kernel(shell, capsys):
    text = "__device__ __noinline__ int twice(int a) { return 2 * a; }\n__global__ void other(int* z) { z[0] = 7; }\n" + "__global__ void k(int* x) { x[0] = twice(x[1]); }"
    kernel(shell, "", text)
    kernel(shell, "--name m", text)
    shown = out(shell, capsys, "%kernel_ir k")
    # A kernel with what it calls, and nothing else; a module as a whole.
    assert " k(x: ptr i32)" in shown and " twice(" in shown and "other" not in shown
    assert shown == shell.user_ns["k"].ir() and "other" in out(shell, capsys, "%kernel_ir m")
    shown = out(shell, capsys, "%kernel_ir k --asm")
    assert shown.startswith("; k\n") and "movl" in shown and "; other" not in shown
    assert "; other" in out(shell, capsys, "%kernel_ir m --asm")
    shown = out(shell, capsys, "%kernel_ir other --tiers --block 64")
    assert "other in blocks of 64 x 1 x 1" in shown
    kernel(shell, RELU_OP + " --block 96", RELU)
    assert "relu in blocks of 96 x 1 x 1" in out(shell, capsys, "%kernel_ir relu --tiers")


@pytest.mark.parametrize(
    "line, said",
    [
        ("%kernel_ir np", "a kernel, an operator"),
        ("%kernel_ir nothing", "NameError"),
        ("%kernel_ir scale --block 32", "--block is about"),
        ("%kernel_ir scale --asm --c", "not allowed with"),
        ("%kernel_ir m --tiers", "is of one kernel: scale"),
        ("%kernel_ir scale --tiers --block n", "a block has numbers"),
        ("%kernel_ir t", "is a template"),
        ("%timekernel", "a statement is wanted"),
        ("%timekernel f(", "was never closed"),
        ("%timekernel return 3", "outside function"),
        ("%timekernel --secs 3 f()", "unrecognized arguments: --secs; did you mean `--seconds`?"),
        ("%kernel_gpu np", "a kernel, an operator"),
    ],
)
def test_mistakes_of_the_listings_and_times_are_usage_errors(shell, line, said):
    kernel(shell, "", SCALE + "template <typename T> __global__ void t(T* x) { x[0] = 1; }")
    kernel(shell, "--name m", SCALE)
    assert said in mistake(shell, line)


@pytest.mark.parametrize("option, said", [("--sizes 1k", "is about --bench"), ("--args x", "is about --check, and --bench"), ("--bench --args x --sizes 1k", "is about --check, and --bench"), ("--rtol 1", "is about --check"), ("--equal-nan --bench", "is about --check"), ("--block 8,x", "a block has numbers"), ("--threads n,", "one to three extents"), ("--check", "has no reference")])
def test_mistakes_of_a_cell_that_proves_itself_are_usage_errors(shell, option, said):
    assert said in mistake(shell, f"%%kernel {RELU_OP} {option}\n{RELU}")


def test_a_statement_is_timed_in_the_notebooks_namespace(shell, capsys):
    shell.user_ns.update(calls=[], n=3)
    shown = out(shell, capsys, "%timekernel --seconds 0.01 calls.append(n); calls.append('-o')")
    assert " a call, 95 % interval " in shown and shown.count("\n") == 1
    assert len(shell.user_ns["calls"]) > 2 and shell.user_ns["calls"][:2] == [3, "-o"]
    # Names that it assigns are its own.
    out(shell, capsys, "%timekernel --seconds 0.01 n = 4")
    assert shell.user_ns["n"] == 3
    report = shell.run_cell("%timekernel --seconds 0.01 -o --flush-cache len(calls)").result
    assert report.rows[0]["name"] == "len(calls)"
    assert isinstance(shell.run_cell("%timekernel 1 / 0").error_in_exec, ZeroDivisionError)


def test_an_operator_tells_what_it_is(shell, capsys):
    made = RELU_OP.replace("lab::", "told::")
    kernel(shell, made + " --block 64", RELU)
    shown = out(shell, capsys, "relu")
    for line in ["told::relu(Tensor x) -> Tensor", "void relu(const float* x, float* y, int n)", "in blocks of 64", "x[*] -> y[*]", "none: register_autograd", "1 of 1", "fmaxf"]:
        assert line in shown
    assert shell.user_ns["relu"].__doc__ in out(shell, capsys, "relu?")
    assert out(shell, capsys, "[relu]").count("\n") == 1
    kernel(shell, f"{made} {RELU_REFERENCE}", RELU.replace("0.0f", "0.f"))
    shown = out(shell, capsys, "relu")
    assert "<lambda>" in shown and "2 of 2" in shown
    # The class keeps its own.
    assert "An operator: call it" in type(shell.user_ns["relu"]).__doc__


def test_the_code_of_a_gpu_is_shown(shell, capsys):
    kernel(shell, "-D TWICE", "#ifdef TWICE\n" + RELU.replace("x[i]", "2 * x[i]") + "#endif\n")
    try:
        wb.compile(SCALE, device="cuda", arch="sm_90")
    except wb.DeviceUnavailable as error:
        pytest.skip(str(error))
    shown = out(shell, capsys, "%kernel_gpu relu --arch sm_90")
    # The macros of the cell's line hold there, too.
    assert ".target sm_90" in shown and ".entry" in shown and "relu" in shown


SEVERAL = """
__constant__ float table[4];
__constant__ float unused[4];
__device__ __noinline__ float inner(float v) { return v * table[1]; }
__device__ __noinline__ float outer(float v) { return inner(v) + inner(v + 1); }
__device__ __noinline__ float alone(float v) { return v / 3; }
namespace there { __global__ void first(float* x) { x[0] = outer(x[1]); } }
__global__ void second(float* x) { x[0] = alone(x[1]); printf("%f\\n", x[0]); }
extern "C" __global__ void sec(float* x) { x[0] = 1; }
template <class T> __global__ void third(T* x) { x[0] = 3; }
template __global__ void third<float>(float*);
template __global__ void third<double>(double*);
"""


@pytest.mark.parametrize(
    ("name", "entry", "functions", "variables"),
    [
        ("first", "_ZN5there5firstEPf", ["_Z5innerf", "_Z5outerf"], ["table"]),
        ("second", "_Z6secondPf", ["_Z5alonef"], []),
        ("sec", "sec", [], []),
        ("\"m['third<double>']\"", "_Z5thirdIdEvPT_", [], []),
    ],
)
def test_the_code_of_one_kernel_for_a_gpu_is_shown_alone(shell, capsys, name, entry, functions, variables):
    try:
        wb.compile(SCALE, device="cuda", arch="sm_90")
    except wb.DeviceUnavailable as error:
        pytest.skip(str(error))
    kernel(shell, "", SEVERAL)
    kernel(shell, "--name m", SEVERAL)
    shown = out(shell, capsys, f"%kernel_gpu {name} --arch sm_90")
    assert shown.count(".target sm_90") == 1
    assert re.findall(r"\.entry (\w+)\(", shown) == [entry]
    assert re.findall(r"^\.func .*?(\w+)\($", shown, re.MULTILINE) == functions
    assert re.findall(r"^\.(?:const|global).* ([$\w]+)[\[;]", shown, re.MULTILINE) == variables
    # The code of a module is shown whole.
    assert out(shell, capsys, "%kernel_gpu m --arch sm_90").count(".entry ") == 5


def test_an_instance_that_the_text_does_not_name_has_no_code_for_a_gpu(shell, capsys):
    try:
        wb.compile(SCALE, device="cuda", arch="sm_90")
    except wb.DeviceUnavailable as error:
        pytest.skip(str(error))
    kernel(shell, "--name m", SEVERAL)
    shell.user_ns["x"] = np.ones(3, np.int32)
    with pytest.raises(UsageError, match=r"has no kernel `third<int>`; .* `template __global__ void scale<float>\(float\*\);`"):
        shell.run_line_magic("kernel_gpu", "\"m.third.instance(x)\" --arch sm_90")
