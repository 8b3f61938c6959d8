"""Tuning: configurations are checked, timed in turns, shared out among workers, and the best is an operator."""

import concurrent.futures
import contextlib
import itertools
import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import workbench as wb
from workbench import tuning, tuning_worker

SCALE = """
__global__ void scale(const float* x, float* y, int n) {
    for (int k = 0; k < PER; ++k) {
        int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER + k;
        if (i < n) y[i] = FACTOR * x[i];
    }
}"""
SHAPE = {"shape": "x[n] -> y[n]", "threads": "(n + {PER} - 1) / {PER}"}


@pytest.fixture(autouse=True)
def _no_c_compiler(request):
    """Code of the C compiler takes a second for each configuration, and most tests are not about times."""
    before = wb.set_tier("auto" if request.node.name == "test_times_are_of_the_best_code" else "good")
    yield
    wb.set_tier(before)


def ones(n):
    return np.ones(n, np.float32)


def doubled(x):
    return 2 * x


def tune(params, **options):
    options = {**SHAPE, "schema": "tunes::scale(Tensor x) -> Tensor", "reference": doubled, "size": 1000, "seconds": 0.002, "make_args": ones, **options}
    return wb.tune(SCALE, params, **options)


def test_every_combination_is_tried_once():
    report = tune({"PER": [1, 2, 4], "FACTOR": [2], "block": [32, 64]})
    tried = [(row["config"]["PER"], row["config"]["block"]) for row in report.rows]
    assert tried == list(itertools.product([1, 2, 4], [32, 64]))
    assert {row["status"] for row in report.rows} == {"ok"}
    assert all(row["low"] <= row["median"] <= row["high"] and row["samples"] > 1 for row in report.rows)
    first = report.rows[0]
    assert first["ratio"] == 1.0, "its time by its own"


def test_wrong_and_broken_configurations_are_not_timed():
    report = tune({"PER": [1], "FACTOR": ["3", "2", "(", "x[n + 100000]"]})
    status = {row["config"]["FACTOR"]: row for row in report.rows}
    assert [status[f]["status"] for f in ("3", "2", "(", "x[n + 100000]")] == ["wrong", "ok", "failed", "failed"]
    assert "1000 of 1000 elements differ" in status["3"]["message"]
    assert "median" not in status["3"] and report.best_config["FACTOR"] == "2"
    assert "out-of-bounds" in status["x[n + 100000]"]["message"]
    # The first that is right is what others are compared with.
    assert status["2"]["ratio"] == 1.0


def test_the_fastest_wins():
    source = """
    __global__ void scale(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float v = 2 * x[i];
        for (int j = 0; j < WORK; ++j) v = v / x[i];
        y[i] = v;
    }"""
    # 400 divisions, each of which waits for the one before, beside none and one.
    schema = "tunes::work(Tensor x) -> Tensor"
    report = wb.tune(source, {"WORK": [400, 0, 1]}, schema=schema, reference=doubled, make_args=ones, size=20_000, seconds=0.01)
    rows = {row["config"]["WORK"]: row for row in report.rows}
    assert report.best_config["WORK"] != 400
    assert rows[0]["ratio"] < 0.5 and rows[1]["ratio"] < 0.5 and rows[400]["ratio"] == 1.0


def test_the_best_is_an_operator_that_is_pickled_and_saved(tmp_path):
    report = tune({"PER": [2, 4], "FACTOR": [2], "block": [64]})
    best = report.best
    assert isinstance(best, wb.Op) and best.name == "tunes::scale"
    assert np.array_equal(best(ones(7)), 2 * ones(7)) and best.check(ones(9)).passed
    again = pickle.loads(pickle.dumps(best))
    assert np.array_equal(again(ones(7)), 2 * ones(7))
    best.save(tmp_path / "scale.toml")
    assert f'PER = "{report.best_config["PER"]}"' in (tmp_path / "scale.toml").read_text(encoding="utf-8")
    loaded = wb.load_library(tmp_path / "scale.toml", trust=True)
    assert loaded is not None and np.array_equal(wb.ops.tunes.scale(ones(5)), 2 * ones(5))


def test_candidates_are_registered_nowhere():
    op = wb.op("tunes::kept(Tensor x) -> Tensor", SCALE.replace("PER", "1").replace("FACTOR", "2"), shape="x[n] -> y[n]", reference=doubled)
    versions = len(op.history)
    report = wb.tune(op, {"block": [32, 64, 128]}, make_args=ones, size=1000, seconds=0.002)
    assert len(op.history) == versions and op.history[-1].times == []
    assert wb.ops.tunes.kept is op and len(report.ranked) == 3
    assert report.best.name == op.name and len(op.history) == versions + 1


def test_template_arguments_and_blocks_are_written_with_their_names():
    source = """
    template <int PER, typename T> __global__ void scale(const T* x, T* y, int n) {
        for (int k = 0; k < PER; ++k) { int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER + k; if (i < n) y[i] = 2 * x[i]; }
    }
    template __global__ void scale<1, float>(const float*, float*, int);
    template __global__ void scale<4, float>(const float*, float*, int);
    """
    report = wb.tune(
        source, {"PER": [1, 4], "SIZE": [32, 64]}, schema="tunes::templates(Tensor x) -> Tensor", kernel="scale<{PER}, float>", block="{SIZE}",
        threads="(n + {PER} - 1) / {PER}", shape="x[n] -> y[n]", reference=doubled, make_args=ones, size=1000, seconds=0.002,
    )  # fmt: skip
    assert [row["status"] for row in report.rows] == ["ok"] * 4, report


def test_dtypes_are_handed_to_make_args():
    source = "template <typename T> __global__ void twice(const T* x, T* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    report = wb.tune(
        source, {"dtype": [np.float32, np.float64]}, schema="tunes::types(Tensor x) -> Tensor", shape="x[n] -> y[n]", reference=doubled,
        make_args=lambda n, dtype: np.ones(n, dtype), size=1000, seconds=0.002,
    )  # fmt: skip
    assert [row["status"] for row in report.rows] == ["ok", "ok"] and "float64" in str(report)


def test_where_leaves_combinations_out():
    report = tune({"PER": [1, 2, 4], "FACTOR": [2], "block": [32, 64]}, where=lambda c: c["PER"] * c["block"] <= 64)
    assert [(r["config"]["PER"], r["config"]["block"]) for r in report.rows] == [(1, 32), (1, 64), (2, 32)]


def test_a_tuning_without_a_reference_says_so():
    report = tune({"PER": [1, 2], "FACTOR": [2]}, reference=None)
    assert "results were not checked" in str(report) and len(report.ranked) == 2


@pytest.mark.parametrize(
    ("params", "options", "message"),
    [
        ({}, {}, "params maps names to values, and is empty"),
        ({"PER": []}, {}, "PER has no values"),
        ({"PER": 4}, {}, "PER is 4; a list of values is wanted"),
        ({"PER": "48"}, {}, "PER is '48'; a list of values is wanted"),
        ({"PER": [1, 1]}, {}, "PER has a value twice: 1, 1"),
        ({"no name": [1]}, {}, "'no name' is no name"),
        ({"PER": [1]}, {"where": lambda c: False}, "where leaves no combination"),
        ({"PER": [1]}, {"make_args": 3}, "make_args is a callable"),
        ({"PER": [1]}, {"reference": 3}, "reference is a callable, got int"),
        ({"PER": [1]}, {"rtol": 1e-3}, "give both rtol and atol"),
        ({"PER": [1]}, {"PER": 3}, "`wb.tune` has no option `PER`; those of operators are kernel"),
        ({"PER": [1]}, {"schema": None}, "give its schema"),
        ({"PER": [1]}, {"executor": 4}, "executor is an int without `submit`; give"),
        ({"PER": [1]}, {"executor": SimpleNamespace(executor=SimpleNamespace(submit=print))}, "without `submit` (its `.executor` has one)"),
    ],
)
def test_mistakes_are_named(params, options, message):
    with pytest.raises(wb.ArgumentError) as raised:
        tune({"FACTOR": [2], **params} if params and "executor" in options else params, **options)
    assert message in str(raised.value)


def test_nothing_right_is_an_error_when_the_best_is_asked_for():
    report = tune({"PER": [1], "FACTOR": [3, 4]})
    assert "wrong" in str(report) and report.ranked == []
    with pytest.raises(wb.ArgumentError, match="no configuration is right: PER=1 FACTOR=3: "):
        report.best


def test_the_landscape_shows_each_value_and_the_best():
    report = tune({"PER": [1, 2], "FACTOR": [2, 3], "block": [32, 64]})
    picture = str(report.plot())
    assert "wrong" in picture and "FACTOR" in picture
    one = str(report.plot("block", "PER"))
    assert "the best over FACTOR" in one and one.index("block") < one.index("PER")
    with pytest.raises(wb.ArgumentError, match="there is no parameter `TILE`; these are PER, FACTOR, block"):
        report.plot("TILE")


def test_a_report_is_saved(tmp_path):
    report = tune({"PER": [1, 2], "FACTOR": [2, 3]})
    report.save(tmp_path / "r.json")
    data = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [row["config"] for row in data["rows"]] == [row["config"] for row in report.rows]
    report.save(tmp_path / "r.svg")
    report.save(tmp_path / "r.txt")
    with pytest.raises(wb.ArgumentError, match="ends in none of"):
        report.save(tmp_path / "r.pdf")
    page = report._repr_mimebundle_()["text/html"]
    assert "<svg" in page and "wrong: " in page


class Losing(concurrent.futures.Executor):
    """An executor whose workers are lost at some submissions, and which counts what it ran."""

    def __init__(self, lost):
        self.lost, self.submitted, self.configs = set(lost), 0, []

    def submit(self, function, *args, **kwargs):
        future = concurrent.futures.Future()
        self.submitted += 1
        if self.submitted in self.lost:
            future.set_exception(RuntimeError("the worker was killed"))
        else:
            task = pickle.loads(args[0])
            self.configs += [tuning_worker.name_of(config) for config in task.configs[1:]]
            future.set_result(function(*args))
        return future


def many(count):
    return {"PER": [1], "FACTOR": [2], "N": list(range(count))}


def test_a_share_whose_worker_is_lost_is_measured_again():
    executor = Losing({1, 3})
    report = tune(many(20), executor=executor)
    assert len(report.rows) == 20 and {row["status"] for row in report.rows} == {"ok"}
    # Each configuration but the common first one is measured exactly once.
    assert sorted(executor.configs) == sorted({tuning_worker.name_of(row["config"]) for row in report.rows[1:]})
    assert executor.submitted == 4


def test_rows_of_another_tuning_are_refused():
    report = tune({"PER": [1, 2], "FACTOR": [2]})
    for options, what in (({"size": 2000}, "size"), ({"reference": lambda x: x * 3}, "reference"), ({"threads": "n"}, "options"), ({"rtol": 1e-3, "atol": 1e-3}, "tolerance")):
        with pytest.raises(wb.ArgumentError, match=f"another {what}"):
            tune({"PER": [1, 2, 4], "FACTOR": [2]}, resume=report, **options)
    with pytest.raises(wb.ArgumentError, match="resume is a str"):
        tune({"PER": [1], "FACTOR": [2]}, resume="report.json")
    # A lambda of the same text, as a cell that runs again makes it.
    first, second = (lambda x: x * 2), (lambda x: x * 2)
    again = tune({"PER": [4, 1], "FACTOR": [2]}, reference=first)
    more = tune({"PER": [1, 2, 4], "FACTOR": [2]}, reference=second, resume=again)
    # All are compared with the first of the first report.
    assert {row["config"]["PER"]: row["ratio"] for row in more.rows}[4] == 1.0


def test_a_stop_within_a_share_keeps_what_was_checked_and_timed(monkeypatch):
    def stopped(calls, size, seconds, others, tell):
        # Two have been through the first round when the stop comes.
        times = [(1e-6, 1e-6, 1e-6, 1.0, 1.0, 1.0, 11, 1), (2e-6, 2e-6, 2e-6, 2.0, 1.9, 2.1, 11, 1), None, None]
        return times[: len(calls)], True

    native = {name: getattr(tuning_worker._workbench, name) for name in ("check_op", "schema_arguments")}
    monkeypatch.setattr(tuning_worker, "_workbench", type("W", (), {**native, "eliminate": staticmethod(stopped)}))
    params = {"PER": [1, 2, 4, 8], "FACTOR": [2]}
    report = tune(params, where=lambda config: True)
    assert [(row["config"]["PER"], row["status"], row.get("ratio")) for row in report.rows] == [(1, "ok", 1.0), (2, "ok", 2.0), (4, "ok", None), (8, "ok", None)]
    assert "stopped: 4 of 4 configurations were checked, and 2 timed" in str(report) and "right, not timed" in str(report)
    assert report.best_config == {"PER": 1, "FACTOR": 2}
    monkeypatch.undo()
    # The rounds of a share into which a stop came begin anew.
    assert all(row["stopped"] for row in report.rows)
    resumed = tune(params, resume=report)
    assert all("median" in row and "stopped" not in row for row in resumed.rows) and resumed.rows[1]["ratio"] != 2.0 and "median" not in report.rows[2]


def test_a_stop_before_any_time_keeps_what_was_checked():
    calls = []

    original = tuning_worker._call

    def counted(op, args):
        call = original(op, args)

        def run():
            calls.append(op)
            if len(calls) > 1:
                raise KeyboardInterrupt
            call()

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning_worker, "_call", counted)
        report = tune({"PER": [1, 2], "FACTOR": [2, 3]})
    assert len(calls) == 2
    assert [row["status"] for row in report.rows] == ["ok", "wrong", "ok", "wrong"] and "configurations 4, right 2, timed 0" in str(report)
    with pytest.raises(wb.ArgumentError, match="no configuration was timed"):
        report.best


def test_a_stop_during_checks_keeps_those_before():
    seen = []

    def stopping(x):
        seen.append(x)
        # The first is looked for once, and checked again as one of the share.
        if len(seen) > 3:
            raise KeyboardInterrupt
        return 2 * x

    report = tune({"PER": [1, 2, 4], "FACTOR": [2]}, reference=stopping)
    assert [row["config"]["PER"] for row in report.rows] == [1, 2] and "stopped: 2 of 3 configurations were checked, and 0 timed" in str(report)

    def at_once(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune({"PER": [1, 2], "FACTOR": [2]}, reference=at_once)


def test_functions_are_the_same_where_the_data_that_they_use_is():
    def by(factor):
        return lambda x: factor * x

    options = {"make_args": lambda n: np.ones(n, np.float32)}
    report = tune({"PER": [1, 2], "FACTOR": [2]}, reference=by(2), **options)
    tune({"PER": [1, 2], "FACTOR": [2]}, reference=by(2), resume=report, **options)
    for other in (by(3), lambda x, factor=2: factor * x):
        with pytest.raises(wb.ArgumentError, match="another reference"):
            tune({"PER": [1, 2], "FACTOR": [2]}, reference=other, resume=report, **options)
    for same, changed in (({"a": 1, "b": np.ones(3)}, {"a": 1, "b": np.ones(4)}), ((by(1),), (by(2),)), (1.5, 2.5)):
        # A global variable, and what it holds.
        functions = [eval("lambda x: DATA and 2 * x", {"DATA": data}) for data in (same, same, changed)]
        assert tuning._is_same(*functions[:2]) and not tuning._is_same(*functions[1:])


def test_a_report_goes_on_with_what_all_are_compared_with():
    report = tune({"PER": [1, 2], "FACTOR": [2]})
    for params, where in (({"PER": [2, 4], "FACTOR": [2]}, None), ({"PER": [1, 2], "FACTOR": [2], "block": [32]}, None), ({"PER": [1, 2], "FACTOR": [2]}, lambda c: c["PER"] > 1)):
        with pytest.raises(wb.ArgumentError, match="are compared with PER=1 FACTOR=2, which is none of these"):
            tune(params, where=where, resume=report)


def test_all_configurations_have_the_same_arguments(monkeypatch):
    made = []

    def make(n, dtype=np.float32):
        made.append(dtype)
        return np.ones(n, dtype)

    tune({"PER": [1, 2, 4], "FACTOR": [2]}, make_args=make)
    # Once for the search of the first that is right, once for the share.
    assert len(made) == 2
    del made[:]
    text = SCALE.replace("float", "T")
    wb.tune(text, {"PER": [1, 2], "FACTOR": [2], "T": ["float"], "dtype": [np.float32]}, schema="tunes::typed_args(Tensor x) -> Tensor", reference=doubled, make_args=make, size=100, seconds=0.002, **SHAPE)
    assert len(made) == 2
    add = "__global__ void add(float* a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += 1; }"
    del made[:]
    wb.tune(wb.op("tunes::add_own(Tensor(a!) a) -> ()", add), {"block": [32, 64]}, make_args=make, size=100, seconds=0.002)
    assert len(made) == 3


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), "1"])
def test_times_that_are_none_are_refused(seconds):
    with pytest.raises(wb.ArgumentError, match="a number above 0 is wanted"):
        tune({"PER": [1], "FACTOR": [2]}, seconds=seconds)


def with_times(report, *intervals):
    """The report with other ratios: for each row the ratio and its interval."""
    for row, (ratio, low, high) in zip(report.rows, intervals):
        row.update(median=1e-6 * ratio, low=1e-6, high=1e-6, ratio=ratio, ratio_low=low, ratio_high=high, samples=11, round=3)
    return report


def test_a_tie_leaves_the_first_and_is_told():
    report = with_times(tune({"PER": [1, 2, 4], "FACTOR": [2]}), (1.0, 1.0, 1.0), (0.98, 0.95, 1.02), (1.5, 1.4, 1.6))
    assert report.best_config["PER"] == 1 and [row["config"]["PER"] for row in report.tied] == [2]
    assert [row["config"]["PER"] for row in report.ranked] == [1, 2, 4] and "no difference shown to 1 other" in str(report)
    with_times(report, (1.0, 1.0, 1.0), (0.8, 0.75, 0.85), (0.9, 0.84, 0.95))
    assert report.best_config["PER"] == 2 and [row["config"]["PER"] for row in report.tied] == [4]
    with_times(report, (1.0, 1.0, 1.0), (0.8, 0.75, 0.83), (0.9, 0.84, 0.95))
    assert report.tied == [] and "fastest PER=2 FACTOR=2" in str(report)


def test_a_time_of_the_table_is_in_the_rows():
    report = tune({"PER": [1, 2], "FACTOR": [2, 3]})
    first, wrong, second, _ = report.rows
    assert second["time"] == first["median"] * second["ratio"] and first["time"] == first["median"] and "time" not in wrong
    frame = report.to_pandas()
    assert frame["time"].tolist()[2] == second["time"] and frame["time"].isna().tolist() == [False, True, False, True]


def test_a_report_is_pickled_and_resumed():
    local = lambda n: np.ones(n, np.float32)
    report = tune({"PER": [1, 2], "FACTOR": [2]}, make_args=local, reference=lambda x: 2 * x)
    again = pickle.loads(pickle.dumps(report))
    assert again.rows == report.rows and str(again) == str(report) and again.best_config == report.best_config
    assert again.best(ones(2)).tolist() == [2, 2] and again.best.reference is None
    calls = []

    def elsewhere(*args, **kwargs):
        calls.append(args)

    # The same functions, written once more, go on; nothing is left to measure.
    more = tune({"PER": [1, 2], "FACTOR": [2]}, make_args=lambda n: np.ones(n, np.float32), reference=lambda x: 2 * x, resume=again)
    assert [row["ratio"] for row in more.rows] == [row["ratio"] for row in report.rows] and not calls
    with pytest.raises(wb.ArgumentError, match="another reference"):
        tune({"PER": [1, 2], "FACTOR": [2]}, make_args=lambda n: np.ones(n, np.float32), reference=lambda x: 3 * x, resume=again)
    # Functions of a module go with it.
    kept = pickle.loads(pickle.dumps(tune({"PER": [1], "FACTOR": [2]})))
    assert kept.best.reference is doubled


def test_values_may_be_an_iterator_and_where_may_change_its_dict():
    report = tune({"PER": (per for per in (1, 2)), "FACTOR": [2]}, where=lambda c: c.pop("FACTOR"))
    assert [row["config"] for row in report.rows] == [{"PER": 1, "FACTOR": 2}, {"PER": 2, "FACTOR": 2}]


def test_truth_values_are_words_of_templates_and_numbers_of_macros():
    source = """
    template <bool TWICE> __global__ void t(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = TWICE ? 2 * x[i] : x[i] + x[i]; }
    template __global__ void t<true>(const float*, float*, int);
    template __global__ void t<false>(const float*, float*, int);
    """
    report = wb.tune(
        source, {"P": [False, True]}, schema="tunes::truth(Tensor x) -> Tensor", kernel="t<{P}>", shape="x[n] -> y[n]", reference=doubled, make_args=ones, size=100, seconds=0.002
    )  # fmt: skip
    assert [row["status"] for row in report.rows] == ["ok", "ok"], report
    macro = SCALE.replace("FACTOR", "(1 + (ON == 1))")
    plain = wb.tune(macro, {"PER": [1], "ON": np.array([True])}, schema="tunes::on(Tensor x) -> Tensor", reference=doubled, make_args=ones, size=100, seconds=0.002, **SHAPE)
    assert plain.rows[0]["status"] == "ok", plain


def test_mistakes_of_single_configurations_are_rows():
    report = tune({"PER": [1], "FACTOR": [2], "options": [[], 5, "--nonsense"], "block": [("{PER}", "x"), 64]})
    status = {(str(row["config"]["options"]), str(row["config"]["block"])): row for row in report.rows}
    assert status["[]", "64"]["status"] == "ok"
    assert "options is 5" in status["5", "64"]["message"] and "ints are wanted" in status["[]", "('{PER}', 'x')"]["message"]
    raising = tune({"PER": [1], "FACTOR": [2]}, reference=lambda x: 1 / 0)
    assert raising.rows[0]["status"] == "failed" and "ZeroDivisionError" in raising.rows[0]["message"]


def test_the_best_of_an_operator_keeps_its_gradient():
    source = SCALE.replace("PER", "1").replace("FACTOR", "2")
    op = wb.op("tunes::graded(Tensor x) -> Tensor", source, shape="x[n] -> y[n]", reference=doubled)
    op.register_autograd(lambda ctx, grad: 2 * grad)
    report = wb.tune(op, {"block": [32, 64]}, make_args=ones, size=1000, seconds=0.002)
    assert op.gradcheck(ones(4)).passed, "tuning changes nothing"
    assert report.best.gradcheck(ones(4)).passed and report.best.reference is doubled


def test_what_is_written_in_place_is_said():
    source = "__global__ void add(float* a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += 1; }"
    op = wb.op("tunes::add_(Tensor(a!) a) -> ()", source)
    report = wb.tune(op, {"block": [32, 64]}, make_args=ones, size=100, seconds=0.002)
    assert "a is written in place" in str(report)


def test_what_is_lost_for_good_is_told_and_resumed():
    executor = Losing(set(range(1, 100)))
    report = tune(many(20), executor=executor)
    lost = [row for row in report.rows if row["status"] == "lost"]
    assert len(lost) == 20 and "20 configurations were lost" in str(report) and "the worker was killed" in lost[0]["message"]
    again = tune(many(20), resume=report)
    assert {row["status"] for row in again.rows} == {"ok"} and all("median" in row for row in again.rows)
    later = Losing(set())
    tune(many(24), resume=again, executor=later)
    assert len(later.configs) == 4, "only what is new"


def test_a_stop_keeps_what_was_measured(monkeypatch):
    calls = []
    measure = tuning_worker.measure

    def interrupted(task, tell, others):
        calls.append((len(task.configs), others))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure(task, tell, others)

    monkeypatch.setattr(tuning.tuning_worker, "measure", interrupted)
    report = tune(many(20))
    assert 0 < len(report.rows) < 20 and "stopped: " in str(report) and report.best_config["PER"] == 1
    # The rest of the second share is told as what is left, and a stop is the end: the best are not timed once more.
    assert [others for _, others in calls] == [1, 0]


def test_processes_share_the_work():
    context = __import__("multiprocessing").get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, context, wb.set_tier, ("good",)) as pool:
        report = tune(many(20), executor=pool)
    assert len(report.rows) == 20 and {row["status"] for row in report.rows} == {"ok"}
    assert {row["machine"] for row in report.rows} - {tuning_worker.machine()}, "some were measured elsewhere"
    assert report.best(ones(3)).tolist() == [2, 2, 2]


def test_a_killed_worker_of_dask_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    import os
    import signal

    killed, here = tmp_path / "killed", os.getpid()

    def killing(x):
        """The reference, which kills the first worker that comes to it."""
        if os.getpid() != here and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * x

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            client.run(wb.set_tier, "good")
            report = tune(many(80), executor=client, reference=killing)
    assert killed.exists()
    assert [row["config"]["N"] for row in report.rows] == list(range(80))
    assert {row["status"] for row in report.rows} == {"ok"}, report.notes
    assert len({row["machine"] for row in report.rows}) >= 2


@pytest.mark.parametrize("make", [lambda text, schema: wb.op(schema, text, shape="x[n] -> y[n]"), lambda text, schema: wb.compile(text)])
def test_options_of_the_compiler_hold_for_an_operator_and_a_module(make, tmp_path):
    (tmp_path / "one.h").write_text("#define ONE 1\n")
    text = """
    #ifdef HEADER
    #include "one.h"
    #else
    #define ONE 5
    #endif
    #ifndef FACTOR
    #define FACTOR 5
    #endif
    __global__ void scale(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = FACTOR * ONE * x[i]; }"""
    schema = "tunes::optional(Tensor x) -> Tensor"
    made = make(text, schema)
    options = {} if isinstance(made, wb.Op) else {"schema": schema, "shape": "x[n] -> y[n]"}
    report = wb.tune(made, {"options": [["-DFACTOR=2", "-DHEADER", f"-I{tmp_path}"], "-DFACTOR=2", "--fmad=false", "--nonsense"]}, reference=doubled, make_args=ones, size=9, seconds=0.002, **options)
    assert [row["status"] for row in report.rows] == ["ok", "wrong", "wrong", "failed"], report
    assert "option `--nonsense` is not known to the CPU" in report.rows[-1]["message"]


def test_keyword_only_arguments_go_by_position():
    source = "__global__ void kw(const float* x, float c, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = c * x[i]; }"
    options = {"schema": "tunes::kw(Tensor x, *, float c) -> Tensor", "shape": "x[n] -> y[n]", "make_args": lambda n: (ones(n), 2.0), "size": 9, "seconds": 0.002}
    for reference in (lambda x, c: c * x, None):
        report = wb.tune(source, {"block": [32, 64]}, reference=reference, **options)
        assert [row["status"] for row in report.rows] == ["ok", "ok"], report
    assert report.best(ones(2), c=3.0).tolist() == [3, 3]


def test_a_tuning_tells_what_it_does(monkeypatch):
    lines = []

    @contextlib.contextmanager
    def text(expected=0):
        # Two configurations of a second each.
        assert expected == 2
        yield lines.append

    monkeypatch.setattr(tuning, "progress_text", text)
    tune({"PER": [1, 2], "FACTOR": [2]}, seconds=1)
    assert lines[:2] == ["0 of 2 configurations checked", "1 of 2 configurations checked"]
    assert lines[2] == "0 of 2 configurations have their best code"
    rounds = [line for line in lines if line.startswith("round ")]
    assert rounds[0].startswith("round 1 of 3: 2 configurations; ") and all(" s left" in line for line in rounds)


def test_several_shares_tell_how_many_are_measured(monkeypatch):
    lines = []
    monkeypatch.setattr(tuning, "progress_text", lambda expected=0: contextlib.nullcontext(lines.append))
    tune(many(20))
    assert lines[0].startswith("0 of 20 configurations measured; 0 of ") and any(line.startswith("16 of 20 configurations measured, of which the best is ") for line in lines)
    assert lines[-1].startswith("the best 12 once more, side by side; ")
