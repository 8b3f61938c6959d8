"""The lines of the magics: their words, options and expressions, and what is said about mistakes in them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_magics import COPY, RELU, RELU_OP, RELU_REFERENCE, SCALE, kernel, mistake, out, shell

import workbench as wb

__all__ = ["shell"]

UsageError = pytest.importorskip("IPython.core.error").UsageError


def test_braces_of_a_statement_are_pythons(shell, capsys):
    shell.user_ns.update(a=np.arange(3.0), seen=[], d=3)
    out(shell, capsys, "%timekernel --seconds 0.01 seen.append((f'{a.sum()}', '$d')); a[0] += 1")
    assert shell.user_ns["seen"][:2] == [("3.0", "$d"), ("4.0", "$d")]


def test_braces_are_filled_in_except_in_expressions(shell, capsys):
    shell.user_ns.update(n=4, m=5, size="2k")
    kernel(shell, "-D N={n} -D M=$m -D 'BOTH={n + m}'", "__global__ void k(int* x) { x[0] = N; x[1] = M; x[2] = BOTH; }")
    x = np.zeros(3, np.int32)
    shell.user_ns["k"][1, 1](x)
    assert x.tolist() == [4, 5, 9]
    shown = out(shell, capsys, f"%%kernel {RELU_OP} --check 'lambda x: np.maximum(x, {{0: 0}}[n - 4])' --bench --sizes 1k:{{size}}\n{RELU}")
    assert "agrees" in shown and "2 Ki" in shown
    shell.user_ns["d"] = {"four": {4}, "x": np.ones(4, np.float32)}
    assert "of 4 elements" in out(shell, capsys, "%kernel_check relu d['x'][:max({n})] --reference 'lambda x: x if {n} else {}'")


def test_a_value_that_cannot_be_filled_in_is_said(shell):
    said = mistake(shell, f"%%kernel -D N={{nosuch}}\n{SCALE}")
    assert said.startswith("%%kernel: argument -D: N={nosuch}: NameError") and "doubled" in said
    kernel(shell, "-D 'N={{1, 2}}'", "__global__ void k(int* x) { int y[] = N; x[0] = y[1]; }")


@pytest.mark.parametrize(
    "line, words",
    [
        ("relu d['a'] d[\"b c\"]", ["relu", "d['a']", 'd["b c"]']),
        ("'lambda x: x' \"x y\"", ["lambda x: x", "x y"]),
        ("f='lambda x: x' --args='x, 2' -DN=\"a b\" -I'a b'", ["f=lambda x: x", "--args=x, 2", "-DN=a b", "-Ia b"]),
        ("-D MSG='\"hi\"' \"a \\\"b\\\"\"", ["-D", 'MSG="hi"', 'a "b"']),
        ("'a'+'b' f'{x}' f(a='b')", ["'a'+'b'", "f'{x}'", "f(a='b')"]),
        (r"-I C:\include", ["-I", r"C:\include"]),
    ],
)
def test_quotes_around_a_whole_word_are_taken_off_and_others_kept(line, words):
    from workbench.magic_options import split_line

    assert split_line(line, "%kernel_check") == words


def test_a_check_takes_the_data_that_is_named_in_quotes(shell):
    kernel(shell, f"{RELU_OP} {RELU_REFERENCE}", RELU)
    shell.user_ns.update(a="b", d={"a": np.ones(5, np.float32), "b": np.ones(9, np.float32)})
    assert "of 5 elements" in repr(shell.run_line_magic("kernel_check", "relu d['a']"))


def test_options_stand_before_and_after_other_words(shell):
    kernel(shell, RELU_OP, RELU)
    report = shell.run_line_magic("kernel_bench", "relu --sizes 64 np=np.abs")
    assert [row["name"] for row in report.rows] == ["relu", "np"]
    shell.user_ns["x"] = np.ones(3, np.float32)
    assert "of 3 elements" in repr(shell.run_line_magic("kernel_check", "--reference np.abs relu --rtol 0 --atol 1 x"))


def test_one_reference_is_checked_and_timed(shell, capsys):
    shell.user_ns["calls"] = []
    line = f"{RELU_OP} --reference 'lambda x: calls.append(1)' --check 'lambda x: np.maximum(x, 0)' --bench --sizes 64"
    shown = out(shell, capsys, f"%%kernel {line}\n{RELU}")
    assert "agrees" in shown and "reference" in shown and shell.user_ns["calls"] == []


def test_arguments_are_those_of_a_call(shell, capsys):
    text = "__global__ void kw(const float* x, float c, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = c * x[i]; }"
    made = "--op 'lab::kw(Tensor x, *, float c=2.0) -> Tensor' --shape 'x[n] -> y[n]' --reference 'lambda x, c: np.float32(c) * x'"
    shell.user_ns["x"] = np.ones(7, np.float32)
    shown = out(shell, capsys, f"%%kernel {made} --check --bench --args 'x, c=3.0'\n{text}")
    assert "agrees" in shown and "of 7 elements" in shown and "faster by" in shown
    # Without arguments the keyword-only ones are random, too.
    assert "agrees" in out(shell, capsys, f"%%kernel {made} --check --bench --sizes 64\n{text.replace('threadIdx.x', 'blockIdx.x * blockDim.x + threadIdx.x')}")
    assert shell.run_cell("%kernel_check kw x c=5").result.passed
    assert "`c` is there twice" in mistake(shell, "%kernel_check kw x c=5 c=6")


def test_a_line_goes_on_after_a_backslash(shell, capsys):
    line = RELU_OP.replace(" --", " \\\n    --", 1)
    assert "agrees" in out(shell, capsys, f"%%kernel {line} \\  \n    --check np.abs --args \"np.float32([1, 2])\"\n{RELU}")
    # Lines count as the cell has them.
    wrong = f"%%kernel {line}\n{RELU}".replace("x[i]", "missing", 1)
    at = next(number for number, text in enumerate(wrong.split("\n"), 1) if "missing" in text)
    assert f":{at}:" in str(shell.run_cell(wrong).error_in_exec)
    assert "there is no next one" in mistake(shell, "%kernel_check relu \\")


RELU_LINE = f"%%kernel {RELU_OP} "


@pytest.mark.parametrize(
    "options, said",
    [
        # Words and quotes.
        ("-I my\\ folder", "a backslash before a space"),
        ('-D M=\\"a\\"', "a backslash before a quotation mark"),
        ("--reference 'f", "no closing quotation mark (')"),
        ("--check lambda x: x", 'put an expression with spaces in quotes: --check "lambda x: x"'),
        ("--bench f=lambda x: x", "in quotes if there are spaces"),
        ("stray", "`stray` belongs to no option"),
        ("--nonsense", "unrecognized arguments: --nonsense"),
        ("--chekc np.abs", "unrecognized arguments: --chekc np.abs; did you mean `--check`?"),
        ("--sharedmem=4", "did you mean `--shared-mem`?"),
        ("--args", "written with =, as in --args=-x"),
        # Options that would be ignored.
        ("--bench a=np.abs a=np.sqrt", "two contestants are called `a`"),
        ("--bench =np.abs", "`=np.abs` names no contestant"),
        ("--bench a=", "`a=` names no contestant"),
        ("--bench --sizes ''", "argument --sizes: its value is empty"),
        ("--bench --sizes 1000,1000", "1000 is there twice"),
        ("--bench --sizes 1k,", "--sizes 1k,: a size is missing"),
        ("--reference ''", "argument --reference: an expression is wanted"),
        ("--bench --make ''", "argument --make: an expression is wanted"),
        ("--check ''", "argument --check: an expression is wanted"),
        ("--check --args ''", "argument --args: an expression is wanted"),
        ("--arch sm_90", "--arch is about --device cuda"),
        ("--threads 0", "--threads 0: an extent is 1 or more"),
        ("--op x", "--op is there twice"),
        ("-D =3", "the macro has no name"),
        ("--check np.abs --rtol 1", "--rtol comes with --atol"),
        ("--check np.abs --atol 1", "--atol comes with --rtol"),
        ("--rtol x", "argument --rtol: a number is wanted, got x"),
        ("--name relu", "would hide the module"),
        # Blocks that CUDA does not have.
        ("--block 16,16,16", "at most 1024 threads, and this one has 4096"),
        ("--block 2048", "at most 1024 threads"),
        ("--block 0", "an extent is 1 or more"),
        ("--block 1,1,128", "at most 64 threads in its third extent"),
        # Names.
        ("--name class", "--name class is a word of Python's"),
        ("--name a-b", "--name a-b is no name"),
    ],
)
def test_a_line_that_is_wrong_lands_nothing(shell, options, said):
    shown = mistake(shell, f"{RELU_LINE}{options}\n{RELU}")
    assert said in shown and shown.startswith("%%kernel: ")
    assert "relu" not in shell.user_ns


@pytest.mark.parametrize(
    "options, said",
    [
        ("--check 3", "--check 3: an int is no reference"),
        ("--check np.ones(3)", "an ndarray is no reference; a callable is wanted that takes the operator's arguments and gives its results: a function, a lambda, "),
        ("--check nosuch", "--check nosuch: NameError: name 'nosuch' is not defined"),
        ("--check", "has no reference; write --check f or --reference f"),
        ("--bench np=nosuch", "--bench np=nosuch: NameError"),
        ("--bench np=3", "--bench np=3: an int is no contestant"),
        ("--bench --make 3", "--make 3: an int is no maker of arguments"),
        ("--reference 3", "--reference 3: an int is no reference; a callable is wanted"),
        ("--check np.abs --args 'x,, y'", "--args x,, y: SyntaxError"),
        ("--check np.abs --args 'np.ones(3), nosuch'", "--args np.ones(3), nosuch: NameError"),
        ("--check np.abs --args 'x)(3'", "no arguments of one call"),
    ],
)
def test_a_mistake_in_an_expression_names_the_magic_and_the_text(shell, options, said):
    shown = mistake(shell, f"{RELU_LINE}{options}\n{RELU}")
    assert said in shown and shown.startswith("%%kernel: ") and "relu" not in shell.user_ns


@pytest.mark.parametrize(
    "line, said",
    [
        ("%kernel_check", "the following arguments are required: OP"),
        ("%kernel_check relu --rtol 1 --reference np.abs", "--rtol comes with --atol"),
        ("%kernel_check relu", "has no reference; write --reference f"),
        ("%kernel_check relu lambda x: x --reference np.abs", "an expression with spaces stands in quotes"),
        ("%kernel_check relu --reference [3]", "--reference [3]: a list is no reference"),
        ("%kernel_check np", "`np` is no operator"),
        ("%kernel_bench relu np=nosuch", "%kernel_bench: np=nosuch: NameError"),
        ("%kernel_bench relu a=np.abs a=np.sqrt", "two contestants are called `a`"),
        ("%kernel_bench relu --sizes 1,1", "--sizes 1,1: 1 is there twice"),
        ("%kernel_ir relu --c --block 0", "an extent is 1 or more"),
        ("%kernel_ir relu --tiers --block 2048", "at most 1024 threads"),
        ("%timekernel # nothing", "a statement is wanted"),
        ("%timekernel --seconds", "written with =, as in --seconds=-x"),
    ],
)
def test_a_mistake_in_a_line_magic_is_said_with_its_name(shell, line, said):
    kernel(shell, RELU_OP, RELU)
    shown = mistake(shell, line)
    assert said in shown and shown.startswith(line.split()[0] + ":")


def test_a_statement_may_begin_with_a_minus(shell, capsys):
    shell.user_ns["n"] = 3
    for line in ["--seconds 0.001 -5 + 3", "--seconds=0.001 -n + 3", "--seconds 0.001 -- -n"]:
        assert " a call, 95 % interval " in out(shell, capsys, f"%timekernel {line}")


def test_an_overload_lands_under_a_name_that_python_has(shell):
    kernel(shell, '--op "lab::relu.out(Tensor x, Tensor(a!) y) -> Tensor(a!)"', RELU)
    y = np.zeros(2, np.float32)
    shell.user_ns["relu_out"](np.array([-1, 2], np.float32), y)
    assert y.tolist() == [0, 2] and "relu.out" not in shell.user_ns


def test_names_of_pythons_are_refused_with_advice(shell):
    text = "__global__ void lambda(int* x) { x[0] = 1; }"
    assert '`--name m` lands one module `m`, and m["lambda"] is it' in mistake(shell, f"%%kernel\n{text}")
    kernel(shell, "--name m", text)
    assert shell.user_ns["m"]["lambda"].name == "lambda"
    assert "call the operator `class_`" in mistake(shell, f"%%kernel --op 'lab::class(Tensor x) -> Tensor'\n{RELU}")


@pytest.mark.parametrize(
    "magic, parts",
    [
        ("%%kernel", ["{...} and $name are filled in", "except in Python: EXPR", "--atol belongs to it", "neither\n", "with --device cuda"]),
        ("%%kernel", ["it does not become the operator's reference", "against finite differences", "examples: %%kernel --op", "--tune block=64,128,256"]),
        ("%kernel_printf", ["blocks with these indices", "a range such as 0:4 (its end is not in it)", "examples: %kernel_printf"]),
        ("%kernel_check", ["OP                the operator", "name=argument", "--rtol belongs to it", "instead of the operator's own"]),
        ("%kernel_bench", ["OP           the operator", "a callable to time beside it", "1k:1M (doubling)", "makes the arguments for a size"]),
        ("%kernel_bench", ["except in Python: OP, EXPR and E", "bytes that a call moves, for throughput and a roofline", "the operator's arguments and n, the size"]),
        ("%kernel_history", ["a kernel, an operator or a module that a cell has made"]),
        ("%kernel_gpu", ["a kernel, an operator or a module: a name", "architecture: sm_90"]),
        ("%kernel_ir", ["those of the operator's launches"]),
        ("%timekernel", ["[-o] STATEMENT", "how long to measure at most"]),
    ],
)
def test_help_says_what_each_word_is(shell, capsys, magic, parts):
    shown = out(shell, capsys, f"{magic} --help")
    assert shown.startswith(f"usage: {magic} [-h]")
    for part in parts:
        assert " ".join(part.split()) in " ".join(shown.split()), part


def test_a_launch_of_a_shape_is_listed_as_it_is_launched(shell, capsys):
    kernel(shell, '--op "lab::copy(Tensor x) -> Tensor" --shape "x[m, n] -> y[m, n]" --threads "n, m" --shared-mem 1024', COPY)
    assert "copy in blocks of 16 x 16 x 1" in out(shell, capsys, "%kernel_ir copy --tiers")
    assert "copy in blocks of 8 x 4 x 1" in out(shell, capsys, "%kernel_ir copy --tiers --block 8,4")
    kernel(shell, RELU_OP, RELU.replace("void relu", "void __launch_bounds__(64) relu"))
    assert "relu in blocks of 64 x 1 x 1" in out(shell, capsys, "%kernel_ir relu --tiers")


@pytest.mark.parametrize(
    "options, moved, done",
    [
        ("--bytes 8", 8, None),
        ("--bytes 2*x.nbytes --flops n", 800, 100),
        ("--bytes counted --flops=counted", 800, 0),
        ("--bytes arguments --flops 'per * x.size'", 800, 300),
        ("--flops 'lambda n: 2 * n'", None, 200),
    ],
)
def test_a_benchmark_is_told_what_a_call_does(shell, options, moved, done):
    kernel(shell, RELU_OP, RELU)
    shell.user_ns["per"] = 3
    for line in (f"relu f=relu {options} --sizes 100", f"relu f=relu {options} --sizes 100 --make 'lambda n: np.ones(n, np.float32)'"):
        rows = shell.run_line_magic("kernel_bench", line).rows
        assert [(row["name"], row["bytes"], row["flops"]) for row in rows] == [("relu", moved, done), ("f", moved, done)]


def test_a_cell_that_is_timed_is_told_what_a_call_does(shell, capsys):
    assert "MB/s" in out(shell, capsys, f"%%kernel {RELU_OP} --bench --sizes 100 --bytes 8\n{RELU}")
    assert "GFLOP/s" in out(shell, capsys, f"%%kernel {RELU_OP} --bench --args 'np.ones(1000, np.float32)' --flops 'x.size * 10**5'\n{RELU}").replace("TFLOP/s", "GFLOP/s")


@pytest.mark.parametrize(
    "options, said",
    [
        ("--bytes nosuch", "%kernel_bench: --bytes nosuch: NameError: name 'nosuch' is not defined"),
        ("--bytes x[", "%kernel_bench: --bytes x[: SyntaxError"),
        ("--bytes=-1", "--bytes -1: it is -1 at size 100; write counted, arguments, or an expression of x, n that gives a whole number from 0 on"),
        ("--flops n/3", "--flops n/3: it is 33.333333333333336 at size 100; write counted, or an expression of x, n"),
        ("--flops x", "--flops x: it is array("),
        ("--flops '\"counted\"'", "--flops \"counted\": it is 'counted' at size 100"),
        ("--bytes", "expected one argument"),
        ("--flops 1 --flops 2", "--flops is there twice"),
    ],
)
def test_a_count_that_is_none_is_refused(shell, options, said):
    kernel(shell, RELU_OP, RELU)
    assert said in mistake(shell, f"%kernel_bench relu {options} --sizes 100")


def test_counts_are_about_a_benchmark(shell):
    assert "%%kernel: --bytes is about --bench, which is not there" in mistake(shell, f"%%kernel {RELU_OP} --check np.abs --bytes 8\n{RELU}")
    assert "--flops is about the operator that --op makes" in mistake(shell, f"%%kernel --flops 8\n{RELU}")


def test_sizes_of_an_operator_that_nothing_describes_need_somebody_who_makes_arguments(shell):
    line = "--op 'lab::host_times(Tensor x) -> Tensor' --check 'lambda x: 2 * x' --bench --args 'np.ones(3)' --sizes 100 --bytes 8"
    text = "at::Tensor host_times(at::Tensor x) { return x * 2; }"
    assert "so nothing says what its arrays are; write --make, or leave out --sizes" in mistake(shell, f"%%kernel {line}\n{text}")


TWO_KERNELS = RELU + RELU.replace("relu", "other")


@pytest.mark.parametrize(
    "line, text, said",
    [
        ("--op 'words::two(Tensor x) -> Tensor'", TWO_KERNELS, "say which with --kernel"),
        (f"{RELU_OP} --threads n --grid n", RELU, "give --threads or --grid, not both"),
        (f"{RELU_OP} --shared-mem '4, 4'", RELU, "--shared-mem is one number of bytes"),
        (f"{RELU_OP} --threads q", RELU, "%%kernel: --threads: `q`"),
        ("--op 'words::none(int n) -> Tensor'", "__global__ void none(float* out, int n) { out[0] = n; }", 'write --shape "-> out[n]" with'),
        ("--arch sm_90 --device cpu", RELU, "--arch is about --device cuda"),
        ("--op 'words::h(Tensor x) -> Tensor' --shape 'x[n] -> y[n]'", "at::Tensor h(const at::Tensor& x) { return x; }", "or --shape is a callable"),
        ("--op 'words::h(Tensor x) -> Tensor' --block 64", "at::Tensor h(const at::Tensor& x) { return x; }", "leave out --block"),
        ("-I /no/such/folder", RELU, "-I /no/such/folder: there is no such folder; name a folder with headers"),
        (f"{RELU_OP} --tune block=32,64 -I /no/such/folder --reference np.abs", RELU, "-I /no/such/folder: there is no such folder"),
        (f"-I {__file__}", RELU, "this is a file"),
    ],
)
def test_messages_from_a_line_have_its_options(shell, line, text, said):
    shown = mistake(shell, f"%%kernel {line}\n{text}")
    assert said in shown and not re.search(r"\b(kernel|threads|grid|block|shared_mem|shape|device)=", shown.splitlines()[0].replace("block=32", ""))


def test_a_folder_that_is_not_there_is_named():
    for options in (["-I/no/such/folder"], ["-I", "/no/such/folder"], ["-isystem/no/such/folder"]):
        with pytest.raises(wb.ArgumentError, match="-I /no/such/folder: there is no such folder"):
            wb.compile(RELU, options=options)
    # Sources of torch extensions name folders of other machines.
    assert wb.load_inline("folders", "torch::Tensor same(torch::Tensor x) { return x; }", functions="same", extra_cflags=["-I/no/such/folder"])


def test_a_timed_statement_says_which_code_it_ran(shell, capsys):
    shell.run_cell("%%kernel\n__global__ void timed(float* y, int n) { for (int k = 0; k < 40; ++k) y[threadIdx.x] = y[threadIdx.x] * 0.5f + n; }")
    shell.run_cell("import numpy as np; y = np.ones(256, np.float32)")
    shown = out(shell, capsys, "%timekernel --seconds 0.001 timed[8, 256](y, 1)")
    assert f", caches warm, {shell.user_ns['timed'].tier} code)" in shown and "note" not in shown
    assert "code" not in out(shell, capsys, "%timekernel --seconds 0.001 y.sum()")
