"""Versions of operators: what makes one, calls and restoration of old ones, notes of checks and times, comparisons, cards and files."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import time

import numpy as np
import pytest

import workbench as wb

SCALE = "__global__ void scale(const float* x, float* y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];\n}\n"
X = np.arange(1, 5, dtype=np.float32)


def doubled(x):
    return 2 * x


@pytest.fixture
def define(request):
    """Defines the operator of the test; the factor of its text and options may change."""
    name = request.node.name.split("[")[0]

    def define(factor=2, **options):
        options.setdefault("reference", doubled)
        return wb.op(f"history::{name}(Tensor x) -> Tensor", SCALE.replace("2 *", f"{factor} *"), shape="x[n] -> y[n]", **options)

    return define


def test_a_change_of_text_or_options_is_a_version_and_a_rerun_is_none(define):
    op = define()
    define()
    assert len(op.history) == 1
    define(3)
    define(3, block=64)
    define(3, block=64, reference=None)
    versions = op.history.versions
    assert [version.number for version in versions] == [1, 2, 3]
    assert [version.changes for version in versions] == [[], [], ["block=64"]]
    assert "3 * x" in versions[1].text and versions[0].made <= versions[2].made
    assert op.history[-1].number == 3 and op.history[2].text == versions[1].text
    with pytest.raises(IndexError, match="its versions are 1 to 3"):
        op.history[9]


def test_old_versions_run_while_the_name_means_the_newest(define):
    op = define()
    define(3)
    assert op(X).tolist() == [3, 6, 9, 12]
    assert op.version(1)(X).tolist() == [2, 4, 6, 8] and op.version(-1)(X).tolist() == [3, 6, 9, 12]
    assert op.version(1).version(2)(X).tolist() == [3, 6, 9, 12]
    assert wb.ops.history.__getattr__(op.__name__) is op
    assert op.version(np.int64(1))(X).tolist() == [2, 4, 6, 8]
    for wrong in (0, 3, -3, "first", 1.0, True):
        with pytest.raises(wb.ArgumentError):
            op.version(wrong)
    assert op(X).tolist() == [3, 6, 9, 12]


def test_a_version_is_restored_with_its_gradient_and_reference(define):
    op = define()
    op.register_autograd(lambda ctx, grad: 2 * grad)
    define(3, reference=None)
    with pytest.raises(wb.ArgumentError):
        op.vjp(X)
    op.restore(1)
    assert op(X).tolist() == [2, 4, 6, 8] and op.reference is not None
    assert op.vjp(X)[1](X)[0].tolist() == [2, 4, 6, 8]
    assert op.history[-1].restores == 1 and len(op.history) == 3
    op.restore(3)
    assert len(op.history) == 3, "it is the newest"


def test_a_text_that_does_not_compile_is_no_version(define):
    op = define()
    with pytest.raises(wb.CompileError):
        define("nothing")
    assert len(op.history) == 1 and op(X).tolist() == [2, 4, 6, 8]


def test_checks_and_times_are_noted_in_the_version_that_ran(define):
    op = define()
    assert op.check(X) and op.history[1].passed is True
    op.bench(sizes=[64, 256], seconds_per_size=0.01)
    define(3)
    assert not op.check(X)
    assert op.history[2].check == {"passed": False, "mismatches": 4, "max_share": pytest.approx(op.check(X).max_share)}
    assert op.history[1].passed is True and [time["size"] for time in op.history[1].times] == [64, 256]
    assert op.history[2].times == []
    op.version(1).bench(sizes=[1024], seconds_per_size=0.01)
    assert [time["size"] for time in op.history[1].times] == [64, 256, 1024]
    assert all(time["low"] <= time["median"] <= time["high"] for time in op.history[1].times)


def test_a_benchmark_against_another_version(define):
    op = define()
    with pytest.raises(wb.ArgumentError, match="no version before"):
        op.bench(X, against="previous")
    define(3)
    define(4)
    report = op.bench(X, against="previous", seconds_per_size=0.01)
    assert [row["name"] for row in report.rows] == [op.__name__, "version 2"]
    report = op.bench(sizes=[64], against=1, seconds_per_size=0.01)
    assert [row["name"] for row in report.rows] == [op.__name__, "version 1"]


def test_two_versions_are_compared_in_text_results_and_time(define):
    op = define()
    define("(i == 2 ? 3 : 2)")
    found = op.history.compare(1, 2, X, seconds_per_size=0.01)
    assert not found.check.passed and [tuple(m.index) for m in found.check.mismatches] == [(2,)]
    assert found.difference.splitlines()[-2:] == ["+     if (i < n) y[i] = (i == 2 ? 3 : 2) * x[i];", "  }"]
    assert {row["name"] for row in found.bench.rows} == {"version 1", "version 2"}
    html = found._repr_mimebundle_()["text/html"]
    assert html.count("wb-card") >= 3 and "Version 2 beside version 1" in html and "<mark>" in html
    assert op.history[2].check is None and op.history[2].times == []
    with pytest.raises(wb.ArgumentError):
        op.history.compare(1, 5, X)


def test_comparisons_and_benchmarks_name_the_versions(define):
    op = define()
    define(3)
    define(4)
    found = op.history.compare(1, 3, X, seconds_per_size=0.001)
    for shown in (str(found.check), str(found.check.plot()), str(found.check.scatter()), found.check._repr_mimebundle_()["text/html"]):
        assert "version 1" in shown and "reference" not in shown, shown
    report = op.version(2).bench(X, against="previous", seconds_per_size=0.001)
    assert [row["name"] for row in report.rows] == ["version 2", "version 1"]
    assert [time["size"] for time in op.history[2].times] == [4]
    assert "(version 2) DIFFERS" in str(op.version(2).check(X))


def test_the_card_shows_times_verdicts_and_the_last_change(define):
    op = define()
    op.check(X)
    op.bench(sizes=[64], seconds_per_size=0.01)
    define("3 + 0 * i")
    op.check(X)
    op.bench(sizes=[64], seconds_per_size=0.01)
    bundle = op.history._repr_mimebundle_()
    html, plain = bundle["text/html"], bundle["text/plain"]
    assert "<svg" in html and "✗ 4 elements differ" in html and "✓ exact" in html and "<details open>" in html
    assert plain.splitlines()[0] == f"{op.__name__}: 2 versions" and "+     if (i < n) y[i] = 3 + 0 * i * x[i];" in plain


def test_a_history_is_one_file(define, tmp_path):
    op = define()
    define("3 /* <b> & \u00e9 */")
    op.history.save(tmp_path / "history.json")
    data = json.loads((tmp_path / "history.json").read_text(encoding="utf-8"))
    assert data["name"] == op.name and [version["number"] for version in data["versions"]] == [1, 2]
    assert "<b> & \u00e9" in data["versions"][1]["text"]
    op.history.save(tmp_path / "history.html")
    page = (tmp_path / "history.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "&lt;b&gt; &amp; \u00e9" in page and "<b>" not in page
    with pytest.raises(wb.ArgumentError, match="ends in none of"):
        op.history.save(tmp_path / "history.pdf")


def test_a_thousand_versions_are_kept_and_old_ones_still_run(define):
    op = define()
    for factor in range(3, 1013):
        define(factor)
    history = op.history
    assert len(history) == 1000 and history.versions[0].number == 12
    assert op.version(12)(X[:1]).tolist() == [13] and op(X[:1]).tolist() == [1012]
    with pytest.raises(wb.ArgumentError):
        op.version(11)


def test_an_operator_is_pickled_by_its_name_and_a_version_is_not(define):
    op = define()
    define(3)
    again = pickle.loads(pickle.dumps(op))
    assert again is op and len(op.history) == 2
    with pytest.raises(wb.ArgumentError, match="registered nowhere"):
        pickle.dumps(op.version(1))
    assert copy.deepcopy(op.version(1))(X).tolist() == [2, 4, 6, 8] and op(X).tolist() == [3, 6, 9, 12]


def test_nothing_is_registered_for_a_version(define):
    op = define()
    define(3)
    for register in ("register_fake", "register_autograd", "register_vmap"):
        with pytest.raises(wb.ArgumentError, match="op.restore"):
            getattr(op.version(1), register)(lambda *args: None)
    with pytest.raises(wb.ArgumentError, match="op.restore"):
        op.version(1).register_kernel("cpu", lambda x: -x)
    assert op(X).tolist() == [3, 6, 9, 12] and len(op.history) == 2


def test_a_cells_number_is_no_change(define):
    op = define(name="In[1]")
    define(name="In[2]")
    assert len(op.history) == 1


def test_macros_and_headers_are_named_as_changes(define):
    source = "__global__ void f(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = K * x[i]; }"
    for k in (2, 3):
        module = wb.compile(source, defines={"K": k})
        op = wb.op("history::macros(Tensor x) -> Tensor", module, shape="x[n] -> y[n]")
    assert op.history[-1].changes == ["-DK=3"] and "-DK=3" in repr(op.history)
    assert op.version(1)(X).tolist() == [2, 4, 6, 8]


def test_versions_survive_a_name_that_means_something_else_meanwhile(define):
    op = define()
    op.register_autograd(lambda ctx, grad: 2 * grad)
    wb.op(f"{op.name}(Tensor x) -> Tensor", lambda x: 10 * x)
    again = define(3)
    assert len(again.history) == 2 and again.version(1)(X).tolist() == [2, 4, 6, 8]
    again.restore(1)
    assert again(X).tolist() == [2, 4, 6, 8] and again.vjp(X)[1](X)[0].tolist() == [2, 4, 6, 8]


def test_other_registrations_belong_to_the_version(define):
    op = define()
    op.register_kernel("cpu", lambda x: -x, dtypes=["float64"])
    for factor in range(3, 13):
        define(factor)
    wide = X.astype(np.float64)
    assert op.version(1)(wide).tolist() == [-1, -2, -3, -4] and op.version(1)(X).tolist() == [2, 4, 6, 8]
    op.restore(1)
    assert op(wide).tolist() == [-1, -2, -3, -4]


def test_definitions_by_several_threads_leave_no_hole(define):
    op = define()
    errors = []

    def work(offset):
        try:
            for factor in range(3, 40):
                define(factor + offset)
                op.version(-1)(X)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    newest = op.history[-1]
    assert float(newest.text.split("y[i] = ")[1].split(" *")[0]) == op(X)[0]
    assert all(op.version(version.number)(X[:1])[0] > 0 for version in op.history)


def test_a_comparison_finds_elements_that_nobody_writes(define):
    op = define()
    half = SCALE.replace("i < n", "i < n / 2")
    wb.op(f"{op.name}(Tensor x) -> Tensor", half, shape="x[n] -> y[n]")
    wb.op(f"{op.name}(Tensor x) -> Tensor", half + "// again\n", shape="x[n] -> y[n]")
    for _ in range(3):
        assert [tuple(m.index) for m in op.history.compare(1, 2, X, seconds_per_size=0.001).check.mismatches] == [(2,), (3,)]
        assert not op.history.compare(2, 3, X, seconds_per_size=0.001).check.passed


def test_what_a_version_leaves_out_is_blamed_on_that_version(define):
    op = define()
    half = SCALE.replace("i < n", "i < n / 2")
    for text in (half, SCALE):
        wb.op(f"{op.name}(Tensor x) -> Tensor", text, shape="x[n] -> y[n]")
    # Version 2 leaves out the second half, which version 3 writes.
    check = op.history.compare(2, 3, X, seconds_per_size=0.001).check
    text = " ".join(str(check).split())
    assert "2 of 4 elements differ, all of which version 2 leaves out; worst of the others: exact" in text, text
    assert "instead of - written by block" in text and "nobody" not in text, text
    assert [(tuple(m.index), m.unwritten, m.want_unwritten) for m in check.mismatches] == [((2,), False, True), ((3,), False, True)]
    assert (check.max_abs, check.unwritten, check.worst) == (0.0, 0, None)
    html = check._repr_mimebundle_()["text/html"]
    assert "left out by version 2" in html and "nobody" not in html and "[2]: 6, which version 2 leaves out" in html
    # The other way round it is the new one that leaves out.
    wb.op(f"{op.name}(Tensor x) -> Tensor", half, shape="x[n] -> y[n]")
    check = op.history.compare(3, 4, X, seconds_per_size=0.001).check
    text = " ".join(str(check).split())
    assert check.unwritten == 2 and "differ, all of which nobody wrote; worst" in text and "leaves out" not in text and "written by nobody" in text, text
    assert [(m.unwritten, m.want_unwritten) for m in check.mismatches] == [(True, False)] * 2


def test_a_version_that_faults_is_named(define):
    op = define()
    wb.op(f"{op.name}(Tensor x) -> Tensor", SCALE.replace("y[i] =", "y[i + 1000] ="), shape="x[n] -> y[n]")
    for pair, faulty in (((1, 2), 2), ((2, 1), 2), ((-1, 1), 2)):
        with pytest.raises(wb.KernelFault) as raised:
            op.history.compare(*pair, X)
        who = f"version {faulty} of `{op.name}`"
        assert str(raised.value).startswith(f"kernel fault: {who}: out-of-bounds write"), raised.value
        assert who in "".join(raised.value._render_traceback_()) and who in raised.value._repr_html_() and raised.value.kind == "out-of-bounds write"


def test_mismatches_are_told_of_the_size_that_was_checked(define):
    op = define()
    define(3)
    rows = op.history.compare(1, 2, sizes=[16, 64], seconds_per_size=0.001)._table().rows
    assert [(row["version"], row["size"], row.get("mismatches")) for row in rows] == [(2, 16, 16), (1, 16, None), (2, 64, None), (1, 64, None)]


def test_a_comparison_is_saved_with_both_pictures(define, tmp_path):
    op = define()
    define(3)
    found = op.history.compare(1, 2, X, seconds_per_size=0.001)
    found.save(tmp_path / "both.svg")
    svg = (tmp_path / "both.svg").read_text()
    assert "difference from version 1" in svg and "time per call" in svg and svg.count("<svg") == 3
    define("3.0f")
    same = op.history.compare(2, 3, X, seconds_per_size=0.001)
    same.save(tmp_path / "times.svg")
    assert "difference from" not in (tmp_path / "times.svg").read_text()


def test_operators_that_write_their_arguments_are_compared_and_the_arguments_stay():
    for step in (1, 2):
        source = f"__global__ void add(float* x, int n) {{ int i = threadIdx.x; if (i < n) x[i] += {step}; }}"
        op = wb.op("history::in_place(Tensor(a!) x) -> ()", source, shape="x[n] ->")
    x = X.copy()
    found = op.history.compare(1, 2, x, seconds_per_size=0.001)
    assert (x == X).all() and [m.got - m.want for m in found.check.mismatches] == [1, 1, 1, 1]


def test_comparisons_take_negative_numbers_and_say_what_they_cannot_take(define):
    op = define()
    define("0 / (x[i] - x[i])")
    define("0 / (x[i] - x[i]) * 1")
    assert op.history.difference(-3, -1) == op.history.difference(1, 3)
    assert not op.history.compare(-2, -1, X, seconds_per_size=0.001).check.passed
    assert op.history.compare(-2, -1, X, seconds_per_size=0.001, equal_nan=True).check.passed
    for args, options in [((1, 1), {}), ((1, 2**40), {}), ((1, 2), {"others": {}}), ((1, 2), {"x": X}), ((1, 2), {"make_args": np.ones})]:
        with pytest.raises(wb.ArgumentError):
            op.history.compare(*args, **options)


def test_a_redefinition_during_a_check_leaves_the_note_where_it_belongs(define):
    op = define()

    def reference(x):
        define(3)
        return 2 * x

    op.check(X, reference=reference)
    assert op.history[1].check is not None and op.history[2].check is None


def test_contestants_have_names_of_their_own(define):
    op = define()
    define(3)
    with pytest.raises(wb.ArgumentError, match="two contestants"):
        op.bench(X, others={op.__name__: np.sqrt})
    with pytest.raises(wb.ArgumentError, match="two contestants"):
        op.bench(X, others={"version 1": np.sqrt}, against=1)
    for wrong in (True, "prev", 1.5, 9):
        with pytest.raises(wb.ArgumentError):
            op.bench(X, against=wrong)


def test_cards_of_long_texts_are_bounded(define):
    lines = "".join(f"// line {i} FACTOR\n" for i in range(5000))
    for factor in range(2, 10):
        op = wb.op("history::long(Tensor x) -> Tensor", lines.replace("FACTOR", str(factor)) + SCALE, shape="x[n] -> y[n]")
    start = time.process_time()
    bundle = op.history._repr_mimebundle_()
    # Unbounded it took half a minute and five megabytes.
    assert len(bundle["text/html"]) < 1_500_000 and time.process_time() - start < 15


@pytest.mark.parametrize(
    "text, error",
    [
        (SCALE.replace("y[i] =", "y[i + 100000] ="), wb.KernelFault),
        (SCALE.replace("2 * x[i]", "1 / (n / 100)").replace("float* y", "int* y"), wb.KernelFault),
        ("__global__ void scale(const float* x, float* y, int n) { while (x[0] > -1) y[0] += 1; }", wb.KernelTimeout),
    ],
)
def test_a_check_that_ends_in_a_fault_or_a_timeout_marks_the_version_broken(define, text, error):
    op = define()
    assert op.check(X)
    wb.op(f"{op.name}(Tensor x) -> Tensor", wb.compile(text).with_timeout(0.2), shape="x[n] -> y[n]", reference=doubled)
    broken = op.history[-1].number
    with pytest.raises(error):
        op.check(X)
    assert op.history[broken - 1].passed is True and op.history[broken].passed is False
    assert op.history[broken].check["mismatches"] == 0 and np.isnan(op.history[broken].check["max_share"])
    assert "✗" in repr(op.history).split(f"\n  {broken}: ")[1].splitlines()[0] and op.history._table().rows[-1]["passed"] is False
    define(4)
    with pytest.raises(error):
        op.version(broken).check(X)
    assert op.history[broken].passed is False and op.history[-1].passed is None


@pytest.mark.parametrize("wrong", ["fault", "argument", "reference", "stop"])
def test_a_check_that_says_nothing_about_the_operator_is_not_noted(define, wrong):
    op = define()
    fault = wb.compile("__global__ void k(int* x) { x[9] = 1; }").k

    def reference(x):
        if wrong == "fault":
            fault[1, 1](np.zeros(1, np.int32))
        raise KeyboardInterrupt if wrong == "stop" else ValueError

    with pytest.raises((wb.KernelFault, wb.ArgumentError, ValueError, KeyboardInterrupt)):
        op.check(X.astype(np.int8) if wrong == "argument" else X, reference=reference)
    assert op.history[1].passed is None


@pytest.mark.parametrize("text", [SCALE, "\n" + SCALE, SCALE.rstrip("\n"), "\n \t\n" + SCALE + "\n\n"])
def test_blank_lines_round_a_text_are_no_change(define, text):
    op = define()
    known = len(op.history)
    assert wb.op(f"{op.name}(Tensor x) -> Tensor", text, shape="x[n] -> y[n]") is op and len(op.history) == known
    wb.op(f"{op.name}(Tensor x) -> Tensor", "\n" + text.replace("2 *", "5 *") + "\n", shape="x[n] -> y[n]")
    newest = op.history[-1].number
    changed = [line for line in op.history.difference(newest - 1, newest).splitlines() if line[:1] in "+-"]
    assert changed == ["-     if (i < n) y[i] = 2 * x[i];", "+     if (i < n) y[i] = 5 * x[i];"]
    assert f"\n  {newest}: just now; +1 −1" in repr(op.history)


def test_a_saved_history_has_every_version_and_the_time_when_it_was_made(define, tmp_path):
    op = define()
    for factor in range(3, 63):
        define(factor)
    op.history.save(tmp_path / "history.html")
    op.history.save(tmp_path / "history.txt")
    page, text = ((tmp_path / f"history.{ending}").read_text(encoding="utf-8") for ending in ("html", "txt"))
    made = time.strftime("%Y-%m-%d %H:", time.gmtime(op.history[-1].made))
    for shown in (page, text):
        assert "left out" not in shown and "just now" not in shown and " ago" not in shown and shown.count(" UTC") == 61 and made in shown
    # A notebook shows the newest, and how old they are.
    assert "11 older versions are left out" in op.history._repr_mimebundle_()["text/html"] and "just now" in repr(op.history)
    assert all(f"version {number}:" in page for number in range(1, 62))
