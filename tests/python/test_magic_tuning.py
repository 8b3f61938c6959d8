"""`%%kernel --tune`: the cell makes the first configuration, tunes it, and leaves the fastest that is right."""

from __future__ import annotations

import numpy as np
import pytest
from test_magics import kernel, mistake, out, shell

import workbench as wb
from workbench import magic_tuning, tuning
from workbench.magic_options import kernel_parser

__all__ = ["shell"]

SCALE = """__global__ void scale(const float* x, float* y, int n) {
    for (int k = 0; k < PER; ++k) { int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER + k; if (i < n) y[i] = 2 * x[i]; }
}
__global__ void told(int* p) { p[0] = PER; }
"""
SCALE_OP = "--op 'tunes::scaled(Tensor x) -> Tensor' --kernel scale --shape 'x[n] -> y[n]' --threads '(n + {PER} - 1) / {PER}'"
DOUBLED = "--reference 'lambda x: 2 * x'"
TWO = """__global__ void mul(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
__global__ void add(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }
"""
TWO_OP = "--op 'tunes::two(Tensor x) -> Tensor' --shape 'x[n] -> y[n]'"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Short measurements, and no C compiler: these tests are not about times."""
    before = wb.set_tier("good")
    given = []
    tune = tuning.tune

    def quick(operator, params, **options):
        given.append((params, options))
        return tune(operator, params, seconds=0.002, **options)

    monkeypatch.setattr(magic_tuning.tuning, "tune", quick)
    yield given
    wb.set_tier(before)


@pytest.fixture
def fastest(monkeypatch):
    """Makes a configuration the fastest, whatever the clock says: a function of its values. Others are not told apart from it where they are `tied`."""

    def make(tied=False, **config):
        is_best = lambda row: row["config"].items() >= config.items() and row["status"] == "ok"
        best = property(lambda report: dict(next(row["config"] for row in report.rows if is_best(row))))
        others = property(lambda report: [row for row in report.rows if tied and row["status"] == "ok" and not is_best(row)])
        monkeypatch.setattr(tuning.TuneReport, "best_config", best)
        monkeypatch.setattr(tuning.TuneReport, "tied", others)

    return make


def told(shell):
    """The macro PER in the kernels that landed."""
    p = np.zeros(1, np.int32)
    shell.user_ns["told"][1, 1](p)
    return int(p[0])


def ones(n):
    return np.ones(n, np.float32)


def test_the_operator_and_the_kernels_become_the_fastest_configuration(shell, capsys, fastest):
    fastest(PER=4, block=64)
    shown = out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2,4 --tune block=32,64 --sizes 1000\n{SCALE}")
    assert "tuning of tunes::scaled: configurations 6, right 6" in shown
    assert shown.endswith("\n%%kernel: `scaled` is PER=4 block=64 from now on, the fastest of 6 configurations\n")
    scaled = shell.user_ns["scaled"]
    assert scaled is wb.ops.tunes.scaled and scaled(ones(9)).tolist() == [2] * 9
    assert (scaled._parts["threads"], scaled._parts["block"], told(shell)) == ("(n + 4 - 1) / 4", 64, 4)
    assert scaled.check(ones(5)).passed and scaled.version(-2)._parts["threads"] == "(n + 1 - 1) / 1"


def test_the_fastest_wins_by_its_time(shell, capsys):
    # 400 divisions, each of which waits for the one before, beside none.
    text = """__global__ void work(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = 2 * x[i];
    for (int j = 0; j < WORK; ++j) v = v / x[i];
    y[i] = v;
}"""
    line = f"--op 'tunes::work(Tensor x) -> Tensor' --shape 'x[n] -> y[n]' {DOUBLED} --make make --tune WORK=400,0 --sizes 20000"
    shell.user_ns["make"] = ones
    assert "`work` is WORK=0 from now on" in out(shell, capsys, f"%%kernel {line}\n{text}")


def test_a_first_configuration_that_is_the_fastest_stays_the_operator(shell, capsys, fastest):
    fastest(PER=1)
    shown = out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2 --sizes 1000\n{SCALE}")
    assert shown.endswith("%%kernel: `scaled` stays PER=1, the fastest of 2 configurations\n")
    number = shell.user_ns["scaled"]._number
    out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2 --sizes 1000\n{SCALE}")
    assert shell.user_ns["scaled"]._number == number and told(shell) == 1


def test_a_tie_is_no_victory(shell, capsys, fastest):
    fastest(tied=True, PER=1)
    shown = out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2,4 --sizes 1000\n{SCALE}")
    assert shown.endswith("%%kernel: `scaled` stays PER=1: of 3 configurations none is shown to be faster\n")
    fastest(tied=True, PER=2)
    shown = out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2,4 --sizes 1000\n{SCALE}")
    assert shown.endswith("`scaled` is PER=2 from now on, the best of 3 configurations; no difference is shown to PER=1 and 1 more\n")


def test_what_failed_is_not_counted_among_those_that_were_beaten(shell, capsys, fastest):
    fastest(PER=2)
    shown = out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2,x --sizes 1000\n{SCALE}")
    assert shown.endswith("`scaled` is PER=2 from now on, the fastest of 2 configurations that are right and timed, of 3\n")


def test_a_stop_before_the_first_time_leaves_the_first_configuration(shell, capsys, monkeypatch):
    monkeypatch.setattr(tuning.tuning_worker, "_time", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
    shown = out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2 --sizes 1000\n{SCALE}")
    assert shown.endswith("%%kernel: `scaled` stays PER=1: a stop came before any configuration was timed\n")
    assert "right, not timed" in shown and told(shell) == 1


def test_the_check_comes_first_and_what_is_wrong_is_not_tuned(shell, capsys):
    shown = out(shell, capsys, f"%%kernel {SCALE_OP} --check 'lambda x: 3 * x' --tune PER=1,2 --bench --sizes 1000\n{SCALE}")
    assert "DIFFERS" in shown and "tuning of" not in shown and "median" not in shown
    assert shown.endswith("%%kernel: not tuned and timed, because it does not agree with its reference\n") and told(shell) == 1


def test_what_was_checked_against_is_what_configurations_are_checked_against_and_no_reference(shell, capsys, fastest, _quick):
    fastest(FACTOR=2)
    text, line = SCALE.replace("2 * x[i]", "FACTOR * x[i]"), SCALE_OP.replace("{PER}", "1")
    shown = out(shell, capsys, f"%%kernel {line} -D PER=1 --check 'lambda x: 2 * x' --tune FACTOR='2,3,(1 + 1)' --args 'np.ones(7, np.float32)'\n{text}")
    assert "configurations 3, right 2" in shown and "wrong: y: 7 of 7 elements differ" in shown
    assert shell.user_ns["scaled"].reference is None
    fastest(FACTOR="(1 + 1)")
    out(shell, capsys, f"%%kernel {line} -D PER=1 --reference np.abs --check 'lambda x: 2 * x' --tune FACTOR='2,(1 + 1)' --sizes 100\n{text}")
    # Another configuration than the first, and its own reference still.
    assert shell.user_ns["scaled"].reference is np.abs and shell.user_ns["scaled"].version(-1).reference is np.abs


def test_a_tuning_keeps_the_gradient(shell, capsys, fastest):
    fastest(block=64)
    line = f"%%kernel {TWO_OP} --kernel mul {DOUBLED} --autograd 'lambda ctx, g: 2 * g' --gradcheck --tune block=32,64 --sizes 100"
    shown = out(shell, capsys, f"{line}\n{TWO}")
    assert "agrees with finite differences" in shown and "is block=64 from now on" in shown
    assert shell.user_ns["two"].gradcheck(ones(3)).passed


def test_the_best_is_what_is_timed(shell, capsys, fastest):
    fastest(block=64)
    shown = out(shell, capsys, f"%%kernel {TWO_OP} --kernel mul {DOUBLED} --tune block=32,64 --bench --sizes 100,200\n{TWO}")
    assert shown.index("from now on") < shown.index("median")
    # The tuning has timed both at its size, the last.
    assert [[time["size"] for time in shell.user_ns["two"].history[at].times] for at in (-2, -1)] == [[200], [100, 200]]


def test_no_right_configuration_leaves_the_first(shell, capsys):
    # A name that no cell has used, for which there is nothing to go back to.
    line = SCALE_OP.replace("scaled", "first_alone")
    shown = out(shell, capsys, f"%%kernel {line} --reference np.abs --tune PER=1,2 --args 'np.ones(5, np.float32)'\n{SCALE}")
    assert "right 0" in shown and shown.endswith("%%kernel: no configuration is right; `first_alone` stays PER=1\n") and told(shell) == 1
    # Random arrays with which every configuration fails are said to be random.
    text = "__global__ void id(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i + 9000]; }"
    shown = out(shell, capsys, f"%%kernel --op 'tunes::id(Tensor x) -> Tensor' --shape 'x[n] -> y[n]' --tune block=32,64 --sizes 64\n{text}")
    assert "right 0" in shown and "the arguments are random arrays, as none are given" in shown


@pytest.mark.parametrize("option", ["--tune threads=q,n", "--shared-mem q --tune block=32,64"])
def test_an_operator_that_cannot_be_made_is_said_by_its_option_and_its_values(shell, option):
    shown = mistake(shell, f"%%kernel {TWO_OP} --kernel mul {option}\n{TWO}")
    where, values = ("--threads", "threads=q") if "threads" in option else ("--shared-mem", "block=32")
    assert shown.startswith(f"%%kernel: {where}: `q` is no dim") and f"(with {values}, the first of --tune)\n" in shown


def test_a_tuning_that_fails_leaves_the_former_operator(shell, capsys):
    line, wrong = SCALE_OP.replace("{PER}", "1"), SCALE.replace("2 * x[i]", "3 * x[i]")
    kernel(shell, f"{line} -D PER=1 {DOUBLED} --autograd 'lambda ctx, g: 2 * g'", SCALE)
    scaled = shell.user_ns["scaled"]
    for mistake_ in ("", "--make 'lambda n: nosuch'"):
        shown = out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2 --sizes 100 --bench {mistake_}\n{wrong}")
        assert "right 0" in shown and "%%kernel: no configuration is right; `scaled` is again what it was before this cell" in shown
        assert shown.endswith("%%kernel: not timed, because no configuration is right\n") and "median" not in shown
        with pytest.warns(UserWarning, match="`scaled` is the version before the last edit, which has no right configuration"):
            assert shell.user_ns["scaled"](ones(3)).tolist() == [2] * 3
        assert shell.user_ns["scaled"] is scaled is wb.ops.tunes.scaled
        assert scaled.gradcheck(ones(3)).passed and scaled.check(ones(3)).passed and scaled.history[-1].restores is not None
    # The next cell makes it new.
    out(shell, capsys, f"%%kernel {SCALE_OP} {DOUBLED} --tune PER=1,2 --sizes 100\n{SCALE}")
    assert scaled(ones(3)).tolist() == [2] * 3 and scaled._why_stale is None


def test_a_kernel_does_not_take_the_name_of_an_operator_that_could_not_be_made(shell):
    line = "--op 'tunes::mul(Tensor x) -> Tensor' --shape 'x[n] -> y[n]' --kernel mul"
    kernel(shell, line, TWO)
    before = shell.user_ns["mul"]
    mistake(shell, f"%%kernel {line} --threads q --tune block=32,64\n{TWO}")
    assert shell.user_ns["mul"] is before and isinstance(before, wb.Op) and isinstance(shell.user_ns["add"], wb.Kernel)
    with pytest.warns(UserWarning, match="has a mistake in its line"):
        assert before(ones(2)).tolist() == [2, 2]


def test_template_arguments_and_blocks_are_filled_in(shell, capsys, fastest, _quick):
    fastest(PER=4, B=64)
    text = """template <int P, typename T> __global__ void sc(const T* x, T* y, int n) {
    for (int k = 0; k < P; ++k) { int i = (blockIdx.x * blockDim.x + threadIdx.x) * P + k; if (i < n) y[i] = 2 * x[i]; }
}"""
    line = "--op 'tunes::sc(Tensor x) -> Tensor' --shape 'x[n] -> y[n]' --kernel 'sc<{PER}, float>' --threads '(n + {PER} - 1) / {PER}' --block '{B}'"
    # A variable of the notebook does not take the place of a parameter.
    shell.user_ns.update(PER=99, sizes=[32, 64])
    shown = out(shell, capsys, f"%%kernel {line} {DOUBLED} --tune PER=1,4 --tune B={{sizes}} --sizes 1000\n{text}")
    assert "right 4" in shown and "is PER=4 B=64 from now on" in shown
    assert (shell.user_ns["sc"].kernel, shell.user_ns["sc"]._parts["block"]) == ("sc<4, float>", (64,))
    assert _quick[0][0] == {"PER": [1, 4], "B": [32, 64]}


def test_options_of_an_operator_are_tuned_by_their_names(shell, capsys, fastest):
    fastest(kernel="add", block=(8, 4))
    shown = out(shell, capsys, f"%%kernel {TWO_OP} {DOUBLED} --tune kernel=mul,add --tune 'block=64,(8, 4)' --tune threads=n,n+0 --sizes 1000\n{TWO}")
    assert "configurations 8" in shown and "is kernel=add block=(8, 4) threads=n from now on" in shown
    assert (shell.user_ns["two"].kernel, shell.user_ns["two"]._parts["block"]) == ("add", (8, 4))


def test_options_of_the_compiler_are_honoured_and_refused(shell, capsys, fastest):
    fastest(options="-DTHREE=3")
    text = TWO.replace("2 * x[i]", "(THREE - 1) * x[i]")
    line = f"%%kernel {TWO_OP} --kernel mul {DOUBLED} -D THREE=9 --tune options=-DTHREE=3,-DTHREE=4,--nonsense --sizes 100"
    shown = out(shell, capsys, f"{line}\n{text}")
    assert "right 1" in shown and "option `--nonsense` is not known" in shown
    assert shell.user_ns["two"](ones(3)).tolist() == [2, 2, 2]


def test_arrays_of_each_type_are_made(shell, capsys):
    text = "template <typename T> __global__ void twice(const T* x, T* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    made = f"%%kernel --op 'tunes::twice(Tensor x) -> Tensor' --shape 'x[n] -> y[n]' {DOUBLED} --tune dtype=float32,float64 --sizes 100"
    assert "right 2" in out(shell, capsys, f"{made} --make np.ones\n{text}")
    assert "arrays of each type are made by --make f, as f(n, dtype=...)" in mistake(shell, f"{made}\n{text}")


@pytest.mark.parametrize(
    "options, size, elements",
    [
        ("--sizes 64,128", 128, 128),
        ("--make 'lambda n: np.ones(n // 2, np.float32)' --sizes 64", 64, 32),
        ("--args x", 7, 7),
        # The arguments are the check's where there are sizes.
        ("--check --args x --sizes 64", 64, 64),
    ],
)
def test_arguments_are_those_of_the_line(shell, capsys, _quick, options, size, elements):
    shell.user_ns["x"] = ones(7)
    out(shell, capsys, f"%%kernel {TWO_OP} --kernel mul {DOUBLED} --tune block=32,64 {options}\n{TWO}")
    given = _quick[0][1]
    values = given["make_args"](given["size"])
    assert given["size"] == size and np.size(values[0] if isinstance(values, tuple) else values) == elements


def test_keyword_only_arguments_are_given(shell, capsys):
    text = "__global__ void kw(const float* x, float c, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = c * x[i]; }"
    line = "%%kernel --op 'tunes::kw(Tensor x, *, float c=2.0) -> Tensor' --shape 'x[n] -> y[n]' --reference 'lambda x, c: np.float32(c) * x' --tune block=32,64"
    assert "right 2" in out(shell, capsys, f"{line} --args 'np.ones(7, np.float32), c=3.0'\n{text}")


def test_tolerances_are_those_of_the_line(shell, capsys):
    line = f"%%kernel {TWO_OP} --kernel mul --reference 'lambda x: 2 * x + 0.1' --tune block=32,64 --sizes 100"
    assert "right 0" in out(shell, capsys, f"{line}\n{TWO}")
    assert "right 2" in out(shell, capsys, f"{line} --rtol 0 --atol 0.2\n{TWO}")


def test_a_module_of_the_cell_is_that_of_the_best(shell, capsys, fastest):
    fastest(PER=2)
    out(shell, capsys, f"%%kernel --name m --timeout 5 {SCALE_OP} {DOUBLED} --tune PER=1,2 --sizes 100\n{SCALE}")
    p = np.zeros(1, np.int32)
    shell.user_ns["m"].told[1, 1](p)
    assert p[0] == 2 and "told" not in shell.user_ns


def test_an_operator_that_has_its_kernels_name_stays_the_operator(shell, capsys, fastest):
    fastest(block=64)
    line = f"%%kernel --op 'tunes::mul(Tensor x) -> Tensor' --kernel mul --shape 'x[n] -> y[n]' {DOUBLED} --tune block=32,64 --sizes 100"
    assert "hides" not in out(shell, capsys, f"{line}\n{TWO}")
    assert isinstance(shell.user_ns["mul"], wb.Op) and isinstance(shell.user_ns["add"], wb.Kernel)
    # The text is the same, so it is one version.
    assert "add: 1 version\n" in out(shell, capsys, "%kernel_history add")


def test_a_first_configuration_that_does_not_compile_is_an_error_of_the_text(shell):
    error = shell.run_cell(f"%%kernel {SCALE_OP} --tune PER=nosuch,1 --sizes 100\n{SCALE}").error_in_exec
    assert isinstance(error, wb.CompileError) and "nosuch" in str(error) and "scaled" not in shell.user_ns


LINE = f"%%kernel {SCALE_OP} "


@pytest.mark.parametrize(
    "options, said",
    [
        ("--tune", "expected one argument"),
        ("--tune ''", "argument --tune: its value is empty"),
        ("--tune PER", "--tune PER: a name and its values are wanted, as in --tune PER=1,2,4"),
        ("--tune PER=", "a name and its values are wanted"),
        ("--tune =1,2", "a name and its values are wanted"),
        ("--tune PER=1,,2", "--tune PER=1,,2: a value is missing"),
        ("--tune PER=[]", "--tune PER=[]: a value is missing"),
        ("--tune PER=[a]", "--tune PER=[a]: [a] is no list of numbers and texts"),
        ("--tune PER=1,2 --tune block=n,64", "--tune block=n,64: a block has numbers of threads: 256, or (16, 16)"),
        ("--tune PER=1,2 --tune 'block=(1, 2, 3, 4)'", "a block has numbers of threads"),
        ("--tune PER=1,2,1", "--tune PER=1,2,1: 1 is there twice; give each value once"),
        ("--tune a-b=1,2", "`a-b` is no name of a macro or an option"),
        ("--tune shape=1,2", "is not tuned; write --shape"),
        ("--tune PER=1,2 --tune PER=4,8", "--tune PER=...: `PER` is there twice; give all its values in one"),
        ("--tune PER=1,2 -D PER=1", "--tune PER=... and -D PER both define the macro; leave out -D PER"),
        ("--tune PER=1,2 --tune block=32,64 --block 32", "--tune block=... and --block both say it; leave out --block"),
        ("--tune PER=1,2 --tune shared_mem=0,4 --shared-mem 4", "leave out --shared-mem"),
        ("--tune PER=1,2 --tune BLOK=32,64", "--tune BLOK=...: neither the text nor the launch has `BLOK`; did you mean `block`? options are block, threads"),
        ("--tune per=1,2", "--tune per=...: neither the text nor the launch has `per`; did you mean `PER`? options are"),
        ("--tune PER=1,2 --tune Block=32,64", "--tune Block=...: neither the text nor the launch has `Block`; did you mean `block`?"),
        ("--tune PER=0,-1", "--tune PER=0,-1: {PER} stands in --threads (n + {PER} - 1) / {PER}, which has whole numbers from 0 on, and -1 is none"),
        ("--tune PER=1,1.5", "which has whole numbers from 0 on, and 1.5 is none"),
        ("--tune PER=1,2 --tune B=0,64 --block {B}", "--tune B=0,64: {B} stands in --block {B}, which has whole numbers from 1 on, and 0 is none"),
        ("--tune PER=1,2 --tune block=64,0", "--tune block=64,0: block is 0; numbers are 1 or more"),
        ("--tune PER=1,2 --tune block=2048", "--tune block=2048: a block has at most 1024 threads"),
        ("--tune PER=1,2 --tune shared_mem=0,-4", "--tune shared_mem=0,-4: shared_mem is -4; numbers are 0 or more"),
        ("--tune PER=1,2 --grid '{PER * 2}'", "write the name alone in its braces"),
        ("--tune PER=1,2 --block '{OTHER}'", "--block: {OTHER}: NameError"),
        ("--tune PER=1,2 --block '{PER}x'", "a block has numbers of threads"),
        ("--tune PER=1,2 -D N={PER}", "-D: N={PER}: NameError"),
        ("--sizes 1k", "--sizes is about --bench or --tune"),
        ("--rtol 1 --atol 1", "--rtol is about --check or --tune"),
    ],
)
def test_a_line_that_is_wrong_lands_nothing(shell, options, said):
    # Without --tune the parameter in the line is the notebook's.
    shell.user_ns.update({} if "--tune PER" in options else {"PER": 1})
    shown = mistake(shell, f"{LINE}{options}\n{SCALE}")
    assert said in shown and shown.startswith("%%kernel: ") and not {"scaled", "told"} & set(shell.user_ns)


def test_a_tuning_needs_an_operator_of_a_kernel(shell):
    assert "--tune is about the operator that --op makes" in mistake(shell, f"%%kernel --tune PER=1,2\n{SCALE}")
    shown = mistake(shell, "%%kernel --op 'tunes::host(Tensor x) -> Tensor' --tune A=1,2 --args 3\nat::Tensor host(const at::Tensor& x) { return x * A; }")
    assert "`tunes::host` is an operator of a host function; operators of kernels are tuned" in shown


def test_values_are_numbers_truths_tuples_or_texts():
    assert magic_tuning.parameter("P=1, -2,1.5,2e3,0x10,1.0f,(1, 2),(1 + 1),True,f(a, b),'c'") == (
        "P", [1, -2, "1.5", "2e3", "0x10", "1.0f", (1, 2), "(1 + 1)", True, "f(a, b)", "'c'"]
    )  # fmt: skip
    assert magic_tuning.parameter("P=[1, 'pair<int, 2>', (2, 3)]") == ("P", [1, "pair<int, 2>", (2, 3)])


def test_parameters_in_a_launch_stay_as_they_are():
    tuned = {"PER": magic_tuning.TunedName("PER")}
    parser = kernel_parser(str, lambda text: text.format(**tuned), tuned)
    args = parser.parse(["--op", "f", "--block", "{PER},4", "--grid", "n / {PER}", "--tune", "PER=1,2"])
    assert (args.block, args.grid, args.tune) == (("{PER}", 4), "n / {PER}", [("PER", [1, 2])])


def test_an_editor_knows_the_macros_of_the_first_configuration():
    from workbench.cells import cuda_texts

    (text,) = cuda_texts(f"%%kernel {SCALE_OP} --tune PER=4,8 --tune=T=float,double --tune block=32,64 -D N=3\n{SCALE}")
    assert text.is_whole and text.defines == {"PER": "4", "T": "float", "N": "3"}


@pytest.mark.parametrize(
    "values, factor, passed",
    [("1,2", "(PER == 1 ? 3 : 2)", [False, True]), ("2,1", "(PER == 1 ? 3 : 2)", [True]), ("1,2", "2", [True, True]), ("1,2", "3", [False, None])],
)
def test_the_versions_of_a_tuning_are_noted_with_their_checks_and_times(shell, capsys, fastest, values, factor, passed):
    if len(passed) == 2 and passed[1]:
        fastest(PER=2)
    name = f"noted_{values[0]}_{len(factor)}_{factor[-1:].strip(chr(41))}"
    line = SCALE_OP.replace("tunes::scaled", f"tunes::{name}")
    out(shell, capsys, f"%%kernel {line} {DOUBLED} --tune PER={values} --sizes 1000\n{SCALE.replace('= 2 *', f'= {factor} *')}")
    versions = shell.user_ns[name].history.versions
    # A tuning without a right configuration leaves a first definition as it is.
    assert [version.passed for version in versions] == [one for one in passed if one is not None]
    assert [[time["size"] for time in version.times] for version in versions] == [[1000] if version.passed else [] for version in versions]


def test_the_best_of_a_tuning_by_hand_is_noted_too():
    text = "__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = BY * x[i]; }"
    report = wb.tune(text, {"BY": [3, 2]}, schema="tunes::by_hand(Tensor x) -> Tensor", shape="x[n] -> y[n]", reference=lambda x: 2 * x, make_args=ones, size=64, seconds=0.002)
    best = report.best
    assert [version.passed for version in best.history] == [True] and [time["size"] for time in best.history[1].times] == [64]
    assert report.best is best and len(best.history) == 1
