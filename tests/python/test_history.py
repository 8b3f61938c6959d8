"""Versions of operators: what makes one, calls and restoration of old ones, notes of checks and times, comparisons, cards and files."""

from __future__ import annotations

import json
import pickle

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
    for wrong in (0, 3, -3, "first", 1.0):
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
    assert html.count("wb-card") >= 3 and "version 2 beside version 1" in html and "<mark>" in html
    assert op.history[2].check is None and op.history[2].times == []
    assert op.history.compare(1, 1, seconds_per_size=0.01).check.passed
    with pytest.raises(wb.ArgumentError):
        op.history.compare(1, 5, X)


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
    with pytest.raises(wb.ArgumentError, match="html or .json"):
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


def test_a_pickled_operator_begins_its_own_history_where_the_name_is_new(define):
    op = define()
    define(3)
    again = pickle.loads(pickle.dumps(op))
    assert again is op and len(op.history) == 2
    version = pickle.loads(pickle.dumps(op.version(1)))
    assert version(X).tolist() == [2, 4, 6, 8]
