"""Every report as tables of other libraries, as JSON and as files: one set of tests for all kinds."""

from __future__ import annotations

import csv
import dataclasses
import importlib
import io
import json
import re
import math
import pkgutil
import struct
import sys
import warnings
import xml.etree.ElementTree as xml
from datetime import datetime, timedelta, timezone
from fractions import Fraction

import numpy as np
import pytest
from report_kinds import COLUMNS, MAKERS, add_op, quick, wanted

import workbench as wb
from workbench import _workbench
from workbench.reports import Report
from workbench.tables import Column, Table

METHODS = ("to_pandas", "to_polars", "to_json", "save", "__arrow_c_stream__", "__dataframe__")
#: Half of `TuneReport`, and the class that all have their methods from.
PARTS = {"NativeTuneReport", "Report"}

made = {}


@pytest.fixture(params=MAKERS)
def kind(request):
    return request.param


@pytest.fixture
def report(kind):
    """The report of a kind, made once."""
    before = wb.set_tier("good")
    try:
        return made[kind] if kind in made else made.setdefault(kind, MAKERS[kind]())
    finally:
        wb.set_tier(before)


def strict(text):
    """JSON by its standard alone: NaN and infinities are no part of it."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def moment(seconds):
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=round(Fraction(seconds) * 10**6))


def same(got, want):
    """True for equal values; NaN is NaN."""
    if isinstance(want, float) and isinstance(got, float):
        return got == want or math.isnan(got) and math.isnan(want)
    return type(got) is type(want) and got == want


def agree(got, kind, report):
    """Rows are those that are wanted, value by value."""
    want = wanted(kind, report)
    times = {name for name, _, type in (column.partition(":") for column in COLUMNS[kind].split()) if type == "time"}
    assert len(got) == len(want)
    for one, other in zip(got, want):
        assert list(one) == [column.split(":")[0] for column in COLUMNS[kind].split()]
        for name, value in other.items():
            value = moment(value) if name in times else value
            if name == "max_share" and kind == "Comparison" and value is not None:
                # The quotient of the tolerance, whose terms are rounded.
                assert one[name] == pytest.approx(value, rel=1e-14)
            else:
                assert same(one[name], value), (name, one[name], value)


def test_every_report_is_of_a_kind_that_is_tested_here():
    classes = set()
    for info in pkgutil.iter_modules(wb.__path__):
        # They need torch, JAX or IPython.
        if info.name not in ("magics", "_torch_ops", "_torch_autograd", "_torch_recorded", "_symbolic", "_jax"):
            module = importlib.import_module(f"workbench.{info.name}")
            classes |= {value for value in vars(module).values() if isinstance(value, type) and (value.__module__ or "").startswith("workbench")}
    shown = {cls.__name__ for cls in classes if hasattr(cls, "_repr_mimebundle_") and not cls.__name__.startswith("_")}
    named = {cls.__name__ for cls in classes if cls.__name__.endswith(("Report", "History", "Comparison")) and not cls.__name__.startswith("_")}
    assert (shown | named) - PARTS == set(MAKERS) == set(COLUMNS)
    for cls in classes:
        if cls.__name__ in MAKERS:
            assert [name for name in METHODS if not callable(getattr(cls, name, None))] == [], cls


def test_the_docstring_has_the_columns(kind, report):
    words = {"str": "text", "ints": "list of ints", "strs": "list of texts", "time": "time, UTC"}
    lines = type(report).__doc__.split("Columns of its tables")[1].splitlines()
    told = {line.split("`")[1]: line.split("(")[1].split(")")[0] for line in lines if line.startswith("- `")}
    # Parameters and dims are those of a report.
    named = dict(column.split(":") for column in COLUMNS[kind].split() if column.split(":")[0] not in ("FACTOR", "block", "n"))
    assert told == {name: words.get(type, type) for name, type in named.items()}


def test_polars(kind, report):
    polars = pytest.importorskip("polars")
    frame = report.to_polars()
    agree(frame.to_dicts(), kind, report)
    types = {
        "str": polars.String,
        "int": polars.Int64,
        "float": polars.Float64,
        "bool": polars.Boolean,
        "ints": polars.List(polars.Int64),
        "strs": polars.List(polars.String),
        "time": polars.Datetime("us", "UTC"),
    }
    assert dict(frame.schema) == {name: types[type] for name, type in (column.split(":") for column in COLUMNS[kind].split())}


def plain(value):
    """A value of a DataFrame of pandas as Python has it."""
    pandas = sys.modules["pandas"]
    if isinstance(value, list):
        return value
    if isinstance(value, pandas.Timestamp):
        return value.to_pydatetime()
    return None if value is pandas.NA or value is None else value.item() if isinstance(value, np.generic) else value


def test_pandas(kind, report):
    pandas = pytest.importorskip("pandas")
    frame = report.to_pandas()
    rows = [{name: plain(value) for name, value in row.items()} for row in frame.to_dict("records")]
    # Among floats pandas has NaN for what is missing.
    floats = [column.split(":")[0] for column in COLUMNS[kind].split() if column.endswith(":float")]
    rows = [{name: None if name in floats and math.isnan(value) else value for name, value in row.items()} for row in rows]
    agree(rows, kind, report)
    for name, type in (column.split(":") for column in COLUMNS[kind].split()):
        dtype = frame[name].dtype
        has = {
            "str": pandas.api.types.is_string_dtype,
            "int": pandas.api.types.is_integer_dtype,
            "float": pandas.api.types.is_float_dtype,
            "bool": pandas.api.types.is_bool_dtype,
            "ints": pandas.api.types.is_object_dtype,
            "strs": pandas.api.types.is_object_dtype,
            "time": lambda dtype: isinstance(dtype, pandas.DatetimeTZDtype),
        }
        assert has[type](dtype), (name, dtype)


def empty(kind, report):
    """The table of a report of the kind without rows: a report of its own where there is one."""
    if kind == "CheckReport":
        return wb.check(np.sqrt, np.sqrt, np.ones(3))._table()
    if kind == "GradReport":
        right = wb.op("reports::right(Tensor x) -> Tensor", "__global__ void f(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }")
        right.register_autograd(lambda ctx, grad: grad)
        return right.gradcheck(np.ones(2, np.float32))._table()
    if kind == "NativeHistory":
        return _workbench.history_of_texts("cell", [])._table()
    if kind == "LibraryReport":
        return type(report)()._table()
    if kind in ("TuneReport", "SweepReport"):
        return dataclasses.replace(report, rows=[])._table()
    # The others have rows always.
    return Table(report._table().columns, [])


def test_types_are_the_same_with_zero_rows(kind, report):
    table = empty(kind, report)
    assert len(table.rows) == 0
    # Dims are those of the cases, so a sweep without cases has none.
    skipped = ["n"] if kind == "SweepReport" else []
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    assert table.polars().schema == report.to_polars().drop(skipped).schema and table.polars().height == 0
    assert table.pandas().dtypes.to_dict() == report.to_pandas().drop(columns=skipped).dtypes.to_dict() and len(table.pandas()) == 0
    assert table.csv() == ",".join(name for name in report.to_polars().columns if name not in skipped) + "\n"
    taken = Holder(table)
    assert polars.DataFrame(taken).columns == table.polars().columns
    if hasattr(pandas.api, "interchange"):
        assert len(interchanged(taken)) == 0


class Holder(Report):
    """A report of a table alone."""

    def __init__(self, table):
        self.table = table

    def _table(self):
        return self.table


def interchanged(report):
    """The DataFrame that pandas makes of a report by the interchange protocol alone."""
    import pandas

    with warnings.catch_warnings():
        # Newer versions of pandas mean to leave the protocol.
        warnings.simplefilter("ignore")
        return pandas.api.interchange.from_dataframe(report.__dataframe__())


def test_libraries_take_a_report_as_it_is(kind, report):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    assert polars.DataFrame(report).to_dicts() == report.to_polars().to_dicts()
    if not hasattr(pandas.api, "interchange"):
        return
    frame, want = interchanged(report), report.to_polars()
    assert list(frame.columns) == want.columns and len(frame) == want.height
    for name, type in (column.split(":") for column in COLUMNS[kind].split()):
        for got, value in zip(frame[name], want[name].to_list()):
            if type in ("ints", "strs"):
                assert json.loads(got) == value
            elif value is not None and type != "time":
                assert got == value
            elif type in ("int", "float") and value is None:
                assert math.isnan(got)


def test_pyarrow_and_duckdb(kind, report):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(report)
    assert table.to_pylist() == report.to_polars().to_dicts()
    assert str(table.schema.field(0).type) in ("string", "int64", "double")
    wide = pyarrow.schema([pyarrow.field(one.name, pyarrow.large_string() if one.type == pyarrow.string() else one.type) for one in table.schema])
    assert pyarrow.table(report, schema=wide).schema == wide
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select count(*) from report").fetchall() == [(table.num_rows,)]


def test_a_missing_library_is_named(monkeypatch):
    report = wb.check(np.sqrt, np.cbrt, np.ones(3))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        report.to_polars()
    with pytest.raises(ImportError, match="pip install pyarrow"):
        report.__arrow_c_stream__()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        report.to_pandas()
    with pytest.raises(ImportError, match="pip install pyarrow"):
        report.__dataframe__()


def cell(text, type):
    """A cell of CSV as the value of its column."""
    if text == "":
        return None
    if type in ("ints", "strs"):
        return json.loads(text)
    if type == "bool":
        return {"true": True, "false": False}[text]
    return {"str": str, "int": int, "float": float, "time": datetime.fromisoformat}[type](text)


def test_files_are_read_back(kind, report, tmp_path):
    for ending in ("json", "csv", "svg", "png", "html", "txt"):
        report.save(tmp_path / f"r.{ending}")
    read = lambda ending: (tmp_path / f"r.{ending}").read_bytes().decode("utf-8")
    assert strict(read("json")) == strict(report.to_json()) and read("json").endswith("}\n")
    types = dict(column.split(":") for column in COLUMNS[kind].split())
    rows = [{name: cell(text, types[name]) for name, text in row.items()} for row in csv.DictReader(io.StringIO(read("csv"), newline=""))]
    # An empty text is a missing one in CSV.
    texts = [name for name, type in types.items() if type == "str"]
    rows = [{name: "" if name in texts and value is None and want[name] is not None else value for name, value in row.items()} for row, want in zip(rows, wanted(kind, report))]
    agree(rows, kind, report)
    picture = xml.fromstring(read("svg"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    content = (tmp_path / "r.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n" and content[12:16] == b"IHDR"
    # A file has twice the pixels of its picture.
    assert struct.unpack(">II", content[16:24]) == (2 * int(picture.get("width")), 2 * int(picture.get("height")))
    assert read("html").startswith("<!doctype html>") and report._repr_mimebundle_()["text/html"][:200] in read("html")
    # A saved history has the times when its versions were made, and not how long ago that was.
    timeless = lambda text: re.sub(r"(?m)^( +\d+: )[^;]*;", r"\1;", text.strip()) if "istory" in kind else text.strip()
    assert timeless(read("txt")) == timeless(str(report)) and read("txt").endswith("\n") and not read("txt").endswith("\n\n")


def test_endings_are_capital_or_small_and_known(report, tmp_path):
    report.save(str(tmp_path / "r.JSON"))
    report.save(tmp_path / "r.Svg")
    assert strict((tmp_path / "r.JSON").read_text(encoding="utf-8")) and (tmp_path / "r.Svg").read_text(encoding="utf-8").startswith("<svg")
    for name in ("r.pdf", "r", "r.json.gz"):
        with pytest.raises(wb.ArgumentError) as raised:
            report.save(tmp_path / name)
        assert "ends in none of `.json`, `.csv`, `.svg`, `.png`, `.html`, `.txt`" in str(raised.value) and name in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.JSON", "r.Svg"]


def test_a_folder_that_does_not_exist_is_an_os_error(report, tmp_path):
    for ending in ("json", "csv", "svg", "png", "html", "txt"):
        path = tmp_path / "missing" / f"r.{ending}"
        with pytest.raises(FileNotFoundError) as raised:
            report.save(path)
        assert raised.value.filename == str(path)


def odd_check():
    want = np.array([1.0, np.inf, 2.0, np.nan])
    got = np.array([np.nan, 1.0, -np.inf, 1.0])
    return wb.check(lambda: got, lambda: want)


def test_numbers_that_are_not_finite_are_read_back(tmp_path):
    report = odd_check()
    pairs = [("NaN", 1.0), (1.0, "Infinity"), ("-Infinity", 2.0), (1.0, "NaN")]
    data = strict(report.to_json())
    (output,) = data["outputs"]
    assert [(one["actual"], one["expected"]) for one in output["comparison"]["first"]] == pairs
    assert output["comparison"]["max_abs"] == output["comparison"]["max_rel"] == "NaN" and output["comparison"]["max_ulp"] == "Infinity"
    assert math.isnan(float("NaN")) and float("Infinity") == math.inf and float("-Infinity") == -math.inf
    report.save(tmp_path / "r.csv")
    got, want = [math.nan, 1.0, -math.inf, 1.0], [1.0, math.inf, 2.0, math.nan]
    for frame in (report.to_pandas(), report.to_polars(), pytest.importorskip("pandas").read_csv(tmp_path / "r.csv"), pytest.importorskip("polars").read_csv(tmp_path / "r.csv")):
        assert str(frame["got"].dtype).lower() == "float64"
        assert all(same(float(a), b) for a, b in zip(frame["got"], got)) and all(same(float(a), b) for a, b in zip(frame["want"], want))


def test_histories_and_what_python_keeps_are_strict_json():
    op = add_op("odd", reference=lambda a, b: np.full(7, np.nan, np.float32))
    op.check(np.ones(7, np.float32), np.ones(7, np.float32))
    assert strict(op.history.to_json())["versions"][-1]["check"] == {"passed": False, "mismatches": 7, "max_share": "NaN"}
    assert math.isnan(op.history.to_polars()["max_share"][-1])
    swept = wb.sweep(op, [7])
    data = strict(swept.to_json())
    assert data["rows"][0]["max_share"] == "NaN" and data["smallest"]["report"]["passed"] is False


def test_what_is_no_number_of_json_is_text():
    report = made.get("TuneReport") or MAKERS["TuneReport"]()
    config = {"FACTOR": float("-inf"), "block": np.uint64(2**64 - 1)}
    report = dataclasses.replace(report, rows=[{**report.rows[0], "config": config, "median": math.nan}], params={"FACTOR": [float("-inf")], "block": [np.float32, 2**64 - 1]})
    (row,) = strict(report.to_json())["rows"]
    assert row["config"] == {"FACTOR": "-Infinity", "block": 2**64 - 1} and row["median"] == "NaN"
    assert strict(report.to_json())["params"] == {"FACTOR": ["-Infinity"], "block": ["float32", 2**64 - 1]}


#: Neither is a float: 2**53 is the last integer of which every smaller one is.
LARGE = 2**53 + 1


def test_integers_have_all_their_digits(tmp_path):
    report = wb.check(lambda: np.array([LARGE, -LARGE]), lambda: np.array([LARGE - 1, -LARGE - 1]))
    assert [(one.got, one.want) for one in report.mismatches] == [(LARGE, LARGE - 1), (-LARGE, -LARGE - 1)]
    first = strict(report.to_json())["outputs"][0]["comparison"]["first"]
    assert [(one["actual"], one["expected"]) for one in first] == [(LARGE, LARGE - 1), (-LARGE, -LARGE - 1)]
    unsigned = wb.check(lambda: np.array([2**64 - 1], np.uint64), lambda: np.array([0], np.uint64))
    assert unsigned.mismatches[0].got == 2**64 - 1 and str(2**64 - 1) in unsigned.to_json() and str(2**64 - 1) in str(unsigned)
    assert unsigned.to_polars()["got"].to_list() == [2.0**64]


def test_counts_have_all_their_digits(tmp_path):
    timed = quick(["f"], [LARGE], lambda n: (0,), bytes=lambda n: n + 2, flops=lambda n: 2**63 - 1)
    assert strict(timed.to_json())["rows"][0]["size"] == LARGE
    for frame in (timed.to_pandas(), timed.to_polars()):
        assert (frame["size"][0], frame["bytes"][0], frame["flops"][0]) == (LARGE, LARGE + 2, 2**63 - 1)
    timed.save(tmp_path / "r.csv")
    assert f",{LARGE}," in (tmp_path / "r.csv").read_text(encoding="utf-8")
    swept = wb.sweep(add_op("large"), [LARGE], make_args=lambda n, dtype: (np.ones(3, np.float32),) * 2)
    assert strict(swept.to_json())["rows"][0]["dims"] == {"n": LARGE} and swept.to_polars()["n"].to_list() == [LARGE]


@pytest.mark.parametrize(
    ("values", "kind", "read"),
    [
        ([1, 2], "Int64", [1, 2]),
        ([2**64 - 1, 0], "UInt64", [2**64 - 1, 0]),
        ([2**64, -1], "String", [str(2**64), "-1"]),
        ([0.5, 1], "Float64", [0.5, 1.0]),
        ([0.5, LARGE], "String", ["0.5", str(LARGE)]),
        ([True, False], "Boolean", [True, False]),
        ([None, 128], "Int64", [None, 128]),
        ([(2, 3), ()], "List(Int64)", [[2, 3], []]),
        ([np.float32, "double"], "String", ["float32", "double"]),
        ([np.int16(3), np.int64(4)], "Int64", [3, 4]),
    ],
)
def test_parameters_have_the_type_of_their_values(values, kind, read):
    pytest.importorskip("polars")
    report = made.get("TuneReport") or MAKERS["TuneReport"]()
    rows = [{"config": {"status": value}, "status": "lost", "message": ""} for value in values]
    report = dataclasses.replace(report, params={"status": values}, rows=rows)
    frame = report.to_polars()
    # A parameter by the name of another column has an underscore.
    assert frame.columns[:2] == ["status_", "status"] and str(frame.schema["status_"]) == kind and frame["status_"].to_list() == read
    pandas = pytest.importorskip("pandas")
    assert [None if one is pandas.NA else one for one in report.to_pandas()["status_"].tolist()] == read


def test_what_is_no_character_is_written(tmp_path):
    table = Table((Column("name", "text", ""),), [{"name": "half \ud800 of a pair"}])
    holder = Holder(table)
    holder.save(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == b"name\nhalf \\ud800 of a pair\n"


def test_reports_of_nan_alone_and_of_one_row_have_pictures(tmp_path):
    nan = np.full((2, 3), np.nan)
    report = wb.check(lambda: nan, lambda: nan)
    assert not report and report.count == 6
    pictures = [report.plot(kind=kind) for kind in ("signed", "absolute", "relative", "tolerance")]
    pictures += [report.histogram(kind=kind) for kind in ("ulp", "absolute", "relative")] + [report.scatter()]
    one = quick(["f"], [1])
    pictures += [one.plot(kind) for kind in ("time", "throughput", "arithmetic", "speedup", "samples")]
    double = wb.op("reports::nan(Tensor x) -> Tensor", "__global__ void f(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }")
    double.register_autograd(lambda ctx, grad: grad * np.float32("nan"))
    pictures.append(double.gradcheck(np.ones(2, np.float32), raise_exception=False).plot())
    tuned = made.get("TuneReport") or MAKERS["TuneReport"]()
    row = {**next(row for row in tuned.rows if row["status"] == "ok"), "median": math.nan, "low": math.nan, "high": math.nan, "ratio": math.nan}
    for report in (dataclasses.replace(tuned, rows=[row, row]), dataclasses.replace(tuned, rows=[row]), dataclasses.replace(tuned, rows=[])):
        pictures.append(report.plot())
        assert str(report) and report._repr_mimebundle_()["text/html"]
    swept = made.get("SweepReport") or MAKERS["SweepReport"]()
    pictures += [dataclasses.replace(swept, rows=rows).plot() for rows in (swept.rows[:1], [])]
    pictures += [_workbench.history_of_texts("cell", texts).plot() for texts in ([], [(0.0, "int a;")])]
    for picture in pictures:
        assert xml.fromstring(str(picture)).tag.endswith("svg")


def test_a_report_without_a_plot_has_a_picture_of_its_text(tmp_path):
    report = wb.check(lambda: np.zeros(3), lambda: np.zeros(4))
    with pytest.raises(wb.ArgumentError, match="could not be compared"):
        report.plot()
    report.save(tmp_path / "r.svg")
    shown = (tmp_path / "r.svg").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "the result has shape [3], and the reference [4]" in shown
    # The output that is drawn is the first that could be compared.
    report = wb.check(lambda: (np.zeros(3), np.zeros(2)), lambda: (np.zeros(4), np.ones(2)))
    report.save(tmp_path / "r.svg")
    assert "2 of 2 elements beyond" in (tmp_path / "r.svg").read_text(encoding="utf-8")
    tiers = MAKERS["TierReport"]()
    tiers.save(tmp_path / "t.svg")
    assert "half in blocks of 64 x 1 x 1" in (tmp_path / "t.svg").read_text(encoding="utf-8").replace("\u00a0", " ")


def test_a_sweep_draws_every_case():
    report = made.get("SweepReport") or MAKERS["SweepReport"]()
    texts = [element.text for element in xml.fromstring(str(report.plot())).iter("{http://www.w3.org/2000/svg}text")]
    assert {"3", "✗ 6", "✗ 9", "1 right", "✗ 2 wrong", "3 cases, 2 fail; in a cell n"} <= set(texts)
    assert "n = 6: wrong" in str(report.plot()) and str(report.plot()) in report._repr_mimebundle_()["text/html"]


def test_a_history_draws_the_times_of_its_versions():
    report = made.get("History") or MAKERS["History"]()
    picture = str(report.plot())
    assert "version 1 ✗" in picture and "1 of 2 versions not" in picture
    assert "no version was timed" in str(MAKERS["NativeHistory"]().plot())
