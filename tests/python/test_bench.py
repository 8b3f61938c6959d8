"""Timing: rows, pictures, files; and Triton's do_bench."""

from __future__ import annotations

import csv
import inspect
import json
import signal
import sys
import threading
import time

import numpy as np
import pytest

import workbench as wb
from workbench._workbench import HeldMaker

SIZES = [256, 1024]


def make(n):
    return np.ones(n, np.float32), np.ones(n, np.float32)


def quick(**options):
    return wb.bench({"numpy": np.add, "twice": lambda a, b: (a + b, a + b)}, sizes=SIZES, make_args=make, **options)


def test_every_contestant_has_a_row_for_every_size():
    report = quick()
    assert {(row["name"], row["size"]) for row in report.rows} == {(n, s) for n in ("numpy", "twice") for s in SIZES}
    for row in report.rows:
        assert 0 < row["low"] <= row["median"] <= row["high"] and row["samples"] > 1


def test_the_report_draws_itself_and_saves(tmp_path):
    report = quick()
    bundle = report._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"} and "<svg" in bundle["text/html"]
    assert "numpy" in bundle["text/plain"]
    assert "<svg" in str(report.plot()) or "<svg" in report.plot()._repr_html_()
    report.save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())
    report.save(tmp_path / "r.svg")
    assert "<svg" in (tmp_path / "r.svg").read_text()
    with pytest.raises(wb.ArgumentError):
        report.save(tmp_path / "r.xyz")


def test_an_operator_times_itself(muladd):
    report = muladd.bench(sizes=SIZES, make_args=lambda n: (*make(n), 1.0))
    assert {row["name"] for row in report.rows} == {"muladd", "reference"}
    report = muladd.bench(sizes=SIZES, others={"numpy": lambda a, b, c: a * b + c})
    assert "numpy" in {row["name"] for row in report.rows}


def test_an_error_of_a_contestant_is_raised_as_it_is():
    def fails(a, b):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        wb.bench({"fails": fails}, sizes=[4], make_args=make)
    with pytest.raises(wb.ArgumentError):
        wb.bench({}, sizes=[4], make_args=make)
    with pytest.raises(wb.ArgumentError):
        wb.bench({"numpy": np.add}, sizes=[], make_args=make)


def test_do_bench_has_tritons_signature_and_results():
    parameters = inspect.signature(wb.do_bench).parameters
    assert [(p.name, p.default) for p in parameters.values()][1:] == [
        ("warmup", 25),
        ("rep", 100),
        ("grad_to_none", None),
        ("quantiles", None),
        ("return_mode", "mean"),
    ]
    ms = wb.do_bench(lambda: time.sleep(0.002), warmup=2, rep=20)
    assert 1.9 < ms < 20
    low, mid = wb.do_bench(lambda: time.sleep(0.001), warmup=1, rep=10, quantiles=[0.2, 0.5])
    assert 0.9 < low <= mid
    assert isinstance(wb.do_bench(lambda: None, warmup=1, rep=2, return_mode="all"), list)
    for mode in ("min", "max", "median"):
        assert wb.do_bench(lambda: None, warmup=1, rep=2, return_mode=mode) >= 0
    with pytest.raises(wb.ArgumentError):
        wb.do_bench(lambda: None, return_mode="best")


@pytest.mark.parametrize("size", [-1, 1.5, "many", None, 1 << 64, float("nan"), float("inf")])
def test_a_size_that_counts_nothing_is_an_argument_error(muladd, size):
    with pytest.raises(wb.ArgumentError, match="sizes are whole numbers"):
        wb.bench({"sum": sum}, sizes=[size], make_args=lambda n: (range(n),))
    with pytest.raises(wb.ArgumentError, match="sizes are whole numbers"):
        muladd.bench(sizes=[size])


def test_a_path_that_cannot_be_written_is_an_os_error(tmp_path):
    report = wb.bench({"sum": sum}, sizes=[10], make_args=lambda n: (range(n),), seconds_per_size=0.01)
    missing = tmp_path / "missing" / "report.svg"
    with pytest.raises(FileNotFoundError) as info:
        report.save(missing)
    assert info.value.filename == str(missing)
    with pytest.raises(wb.ArgumentError, match="ends in none"):
        report.save(tmp_path / "report.pdf")
    report.save(str(tmp_path / "report.json"))
    assert (tmp_path / "report.json").read_text(encoding="utf-8").endswith("}\n")


def large(parts):
    """A kernel whose best code takes long to make."""
    return "__global__ void k(float* x, int n) { " + "".join(f"if (n > {i}) x[n + {i}] += {i};" for i in range(parts)) + " }"


def bench_of(kernel, *args, **options):
    x = np.zeros(1000, np.float32)
    return wb.bench({"k": lambda n: kernel[1, 1](x, *args)}, sizes=[1], make_args=lambda n: n, seconds_per_size=0.01, **options)


def test_the_code_of_others_is_not_waited_for():
    # The thread that makes good code comes to none of them before the end.
    with HeldMaker():
        others = [wb.compile(f"// {time.perf_counter_ns()}\n" + large(50)) for _ in range(20)]
        kernel = wb.compile(f"// {time.perf_counter_ns()}\n__global__ void k(float* x) {{ x[0] += 1; }}").k
        bench_of(kernel)
        assert kernel.tier == "good"
        wb.do_bench(lambda: kernel[1, 1](np.zeros(1, np.float32)), warmup=1, rep=1)
        others[-1].k[1, 1](np.zeros(1000, np.float32), 0)
        assert others[-1].k.tier == "soon"


def test_waiting_for_code_is_interrupted_and_has_a_limit():
    # With the thread that makes good code held up, it is begun when it is waited for: some tenths of a second of work.
    with HeldMaker():
        kernel = wb.compile(f"// {time.perf_counter_ns()}\n" + large(4000)).k
        stopped = threading.Event()

        def ask():
            # Before the measurement has begun there is nothing to interrupt.
            while not stopped.wait(0.01):
                wb.interrupt()

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                bench_of(kernel, 0)
        finally:
            stopped.set()
            thread.join()
        # Code that is not made in time: the measurement is of what there is, and the report says so.
        other = wb.compile(f"// {time.perf_counter_ns()}\n" + large(4000)).k
        assert "not made yet" in str(bench_of(other, 0, max_seconds=0.02))
        # Lanes are made by a thread of their own.
        assert other.tier in ("soon", "lanes")


def stopped_at(size, exception=KeyboardInterrupt):
    """A benchmark whose arguments for a size raise an exception, as Python does where the stop button is pressed."""

    def make_or_stop(n):
        if n == size:
            raise exception("now")
        return make(n)

    return wb.bench({"numpy": np.add, "twice": lambda a, b: (a + b, a + b)}, sizes=[256, 1024, 4096], make_args=make_or_stop, seconds_per_size=0.01)


def test_a_stop_keeps_the_sizes_that_were_measured():
    report = stopped_at(4096)
    assert {(row["name"], row["size"]) for row in report.rows} == {(n, s) for n in ("numpy", "twice") for s in SIZES}
    assert "stopped by you: 1 of 3 sizes not measured" in str(report) and "stopped by you" in report._repr_mimebundle_()["text/html"]
    # The exception goes on where there is nothing to keep, and where it is a mistake.
    with pytest.raises(KeyboardInterrupt, match="now"):
        stopped_at(256)
    with pytest.raises(ValueError, match="now"):
        stopped_at(4096, ValueError)
    # The exception is forgotten: the next one is its own.
    assert len(quick(seconds_per_size=0.01).rows) == 4


def test_a_stop_in_a_long_benchmark_keeps_its_samples():
    calls = []

    def slow(x):
        time.sleep(0.001)
        calls.append(x)
        if len(calls) == 60:
            # The stop button: by then there are a warm-up of ten milliseconds and many samples of one call.
            signal.raise_signal(signal.SIGINT)

    try:
        report = wb.bench({"slow": slow}, sizes=[1], make_args=lambda n: n, seconds_per_size=60, max_seconds=60)
    except KeyboardInterrupt:
        pytest.fail("the samples are lost")
    (row,) = report.rows
    assert 5 <= row["samples"] < 60 and "0 of 1 sizes not measured, and the last one with fewer samples" in " ".join(str(report).split())


def test_a_report_is_a_table_for_other_programs(tmp_path):
    name = 'sum, "twice"'
    options = {"bytes": lambda n: 8 * n, "flops": lambda n: n, "seconds_per_size": 0.01}
    report = wb.bench({name: sum, "other": max}, sizes=[10, 20], make_args=lambda n: (range(n),), **options)
    report.save(tmp_path / "report.csv")
    with open(tmp_path / "report.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["name"], int(row["size"])) for row in rows] == [(name, 10), ("other", 10), (name, 20), ("other", 20)]
    wanted = [{key: value for key, value in row.items() if key not in ("times", "tier")} for row in report.rows]
    # Times are written to the last bit.
    assert [{key: type(want[key])(row[key]) for key in want} for row, want in zip(rows, wanted)] == wanted
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert report.to_pandas().drop(columns="tier").to_dict("records") == wanted and report.to_polars().drop("tier").to_dicts() == wanted
    # Contestants that launch nothing have no tier.
    assert [row["tier"] for row in rows] == [""] * 4 and report.to_pandas()["tier"].isna().all() and report.to_polars()["tier"].is_null().all()
    assert pandas.api.types.is_integer_dtype(report.to_pandas()["batch"]) and report.to_polars().schema["median"] == polars.Float64


def test_mismatches_are_a_table():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pandas")
    report = wb.check(lambda x: x, lambda x: x + np.float32([[0, 1], [np.nan, 0]]), np.zeros((2, 2), np.float32))
    frame = report.to_pandas()
    assert list(frame["index"]) == [[0, 1], [1, 0]] and list(frame["want"])[0] == 1.0 and np.isnan(list(frame["want"])[1])
    rows = report.to_polars().to_dicts()
    assert [row["index"] for row in rows] == [[0, 1], [1, 0]] and rows[0]["abs"] == 1.0 and rows[0]["block_x"] is None
    # A check that agrees has the same columns and no rows.
    agreed = wb.check(np.sqrt, np.sqrt, np.ones(3))
    assert agreed.to_polars().schema == report.to_polars().schema and len(agreed.to_pandas()) == 0
    assert list(agreed.to_pandas().columns) == list(frame.columns) and polars.__name__ == "polars"


def test_a_table_without_its_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    report = wb.bench({"sum": sum}, sizes=[10], make_args=lambda n: (range(n),), seconds_per_size=0.01)
    with pytest.raises(ImportError, match="pip install pandas"):
        report.to_pandas()


DEFAULTS = """
__global__ void affine(const float* x, float a, float b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + b;
}"""


def affine(name="affine"):
    seen = []

    def reference(x, a, b):
        seen.append((len(x), a, b))
        return a * x + b

    schema = f"bench_arguments::{name}(Tensor x, float a=2.0, *, float b=1.0) -> Tensor"
    return wb.op(schema, DEFAULTS, shape="x[n] -> y[n]", reference=reference), seen


def test_a_benchmark_takes_arguments_as_a_check_does():
    op, seen = affine()
    x = np.ones(4, np.float32)
    for args, kwargs, wanted in [
        ((x,), {}, (2.0, 1.0)),
        ((x,), {"b": 5.0}, (2.0, 5.0)),
        ((), {"x": x, "a": 3.0}, (3.0, 1.0)),
        ((x, 3.0, 4.0), {}, (3.0, 4.0)),
    ]:
        seen.clear()
        report = op.bench(*args, **kwargs, seconds_per_size=0.001)
        assert [row["name"] for row in report.rows] == ["affine", "reference"] and set(seen) == {(4, *wanted)}
        if len(args) < 3:
            assert op.check(*args, **kwargs)
    for kwargs, wanted in [({"make_args": lambda n: np.ones(n, np.float32)}, (2.0, 1.0)), ({"b": 7.0}, (1, 7.0))]:
        seen.clear()
        op.bench(sizes=[3], **kwargs, seconds_per_size=0.001)
        assert set(seen) == {(3, *wanted)}


def test_a_benchmark_names_the_function_that_was_called():
    op, _ = affine("affine_names")
    x = np.ones(4, np.float32)
    with pytest.raises(wb.ArgumentError, match=r"`Op.bench` has no option `seconds`"):
        op.bench(x, seconds=1)
    with pytest.raises(wb.ArgumentError, match=r"`bench_arguments::affine_names`: argument `b` is given twice"):
        op.bench(x, 1.0, 2.0, b=3.0)
    with pytest.raises(wb.ArgumentError, match=r"`Op.bench`: arguments by position are timed alone"):
        op.bench(x, sizes=[4])


def test_contestants_and_sizes_of_other_kinds():
    with pytest.raises(wb.ArgumentError, match=r"contestants are a dict from names to callables, .*; got list"):
        wb.bench([np.sin], sizes=[4], make_args=make)
    report = wb.bench({"add": np.add}, sizes=4, make_args=make, seconds_per_size=0.001)
    assert [row["size"] for row in report.rows] == [4]


def test_a_flush_takes_as_few_samples_as_an_interval_needs():
    report = wb.bench({"add": np.add}, sizes=[4], make_args=make, seconds_per_size=0, flush_cache=True)
    assert report.rows[0]["samples"] == 6
