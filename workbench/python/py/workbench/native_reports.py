"""Tables and pictures of the reports that the native half makes, which get the methods of `Report` from here."""

from __future__ import annotations

from typing import Any

from . import _workbench
from .errors import ArgumentError
from .pickles import refuse
from .reports import Report, json_text, tell_columns
from .tables import Column, Table, place, place_columns

__all__ = ["BENCH", "HISTORY", "install"]

#: The columns of a benchmark.
BENCH = (
    Column("name", "text", "the contestant"),
    Column("size", "integer", "the size that the arguments were made for"),
    Column("median", "number", "median of a call, in seconds"),
    Column("low", "number", "lower end of the median's interval, in seconds"),
    Column("high", "number", "upper end of the median's interval, in seconds"),
    Column("mean", "number", "mean of a call, in seconds"),
    Column("min", "number", "least sample, in seconds per call"),
    Column("max", "number", "largest sample, in seconds per call"),
    Column("samples", "integer", "number of samples"),
    Column("batch", "integer", "calls in a sample"),
    Column("bytes", "integer?", "bytes that a call moves, if known"),
    Column("flops", "integer?", "operations on floats that a call does, if known"),
    Column("tier", "text", "tier of the machine code that the samples ran, if they launched anything on the CPU"),
)

#: The columns of a check: its listed mismatches.
CHECK = (
    Column("output", "text", "name of the output"),
    Column("index", "integers", "place of the element"),
    Column("got", "number", "the result; of an integer the nearest float, `mismatches` and JSON have all digits"),
    Column("want", "number", "the reference, as `got`"),
    Column("abs", "number", "absolute error"),
    Column("rel", "number", "error by the size of the reference"),
    Column("ulp", "number", "error in units in the last place of the result's type"),
    *place_columns("block", "`blockIdx.{axis}` of the thread that wrote it, if known"),
    *place_columns("thread", "`threadIdx.{axis}` of the thread that wrote it, if known"),
    Column("unwritten", "truth", "true if nobody wrote it: then `got` and the errors are missing"),
    Column("want_unwritten", "truth", "true if nobody wrote what it is compared with, as another version may leave it out: then `want` and the errors are missing"),
)

#: The columns of a gradient check: its listed mismatches.
GRAD = (
    Column("output", "integer", "number of the output, from 0"),
    Column("output_index", "integers", "place of the output's element"),
    Column("argument", "integer", "number of the argument, from 0"),
    Column("argument_index", "integers", "place of the argument's element"),
    Column("backward", "number", "derivative by the registered gradient"),
    Column("differences", "number", "derivative by finite differences"),
    Column("kernel", "text", "the kernel that wrote the gradient's element, if one did"),
    *place_columns("block", "`blockIdx.{axis}` of the thread that wrote it"),
    *place_columns("thread", "`threadIdx.{axis}` of the thread that wrote it"),
)

#: The columns of a tier report.
TIERS = (
    Column("tier", "text", "the tier, from `soon` to `wide`"),
    Column("code", "text", "`made`, `not yet` or `none`"),
    Column("why", "text", "what makes the code, or the reason why there is none"),
    Column("notes", "texts", "other facts, a sentence each"),
)

#: The columns of a history: a row for each version and each size that it was timed at, one for a version without times.
HISTORY = (
    Column("version", "integer", "number of the version, from 1"),
    Column("made", "time", "when it was defined"),
    Column("changes", "texts", "options and schema that differ from the version before"),
    Column("restores", "integer?", "number of the version that it restores"),
    Column("passed", "truth?", "outcome of its last check"),
    Column("mismatches", "integer?", "elements that differed in that check"),
    Column("max_share", "number", "largest share of its tolerance that an error took in that check"),
    Column("size", "integer?", "size that it was timed at; 0 where the arguments were given"),
    Column("median", "number", "median of a call, in seconds"),
    Column("low", "number", "lower end of the median's interval, in seconds"),
    Column("high", "number", "upper end of the median's interval, in seconds"),
)


class _Bench(Report):
    rows: list[dict[str, Any]]
    _title: str
    plot: Any

    def _table(self) -> Table:
        return Table(BENCH, self.rows)

    def _name(self) -> str:
        return self._title or "benchmark"

    def _picture(self) -> Any:
        return self.plot()


class _Check(Report):
    mismatches: list[Any]
    plot: Any
    _pictured: Any

    def _table(self) -> Table:
        return Table(CHECK, [_mismatch(one) for one in self.mismatches])

    def _picture(self) -> Any:
        output = self._pictured()
        return Report._picture(self) if output is None else self.plot(output)


def _mismatch(one: Any) -> dict[str, Any]:
    row = {column.name: getattr(one, column.name, None) for column in CHECK}
    # What nobody wrote is no number, and has no distance.
    nothing = ("got",) * one.unwritten + ("want",) * one.want_unwritten
    row |= dict.fromkeys((*nothing, "abs", "rel", "ulp") if nothing else ())
    return {**row, **place("block", one.block), **place("thread", one.thread)}


class _Grad(Report):
    mismatches: list[dict[str, Any]]
    plot: Any

    def _table(self) -> Table:
        return Table(GRAD, [{**row, **place("block", row["block"]), **place("thread", row["thread"])} for row in self.mismatches])

    def _picture(self) -> Any:
        try:
            return self.plot()
        except ArgumentError:
            # No argument has a Jacobian.
            return Report._picture(self)


class _Tiers(Report):
    kernel: str
    block: tuple[int, int, int]
    last: str | None
    rows: list[dict[str, Any]]

    def _table(self) -> Table:
        return Table(TIERS, self.rows)

    def _json(self) -> str:
        return json_text({"kernel": self.kernel, "block": self.block, "last": self.last, "rows": self.rows})


class _History(Report):
    versions: list[dict[str, Any]]
    _plot: Any

    def _table(self) -> Table:
        return Table(HISTORY, [row for version in self.versions for row in _rows_of(version)])

    def plot(self) -> Any:
        """The times of its versions, the newest fifty, at the size that most were measured at: a bar for each, broken ones in another colour.

        >>> import numpy as np, workbench as wb
        >>> source = "__global__ void scale(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
        >>> wb.op("doc::scale_plot(Tensor x) -> Tensor", source, shape="x[n] -> y[n]").history.plot()
        <picture of ... bytes of SVG>
        """
        return self._plot()

    def _picture(self) -> Any:
        return self._plot()


def _rows_of(version: dict[str, Any]) -> list[dict[str, Any]]:
    own = {**version, "version": version["number"], **(version["check"] or {})}
    return [{**own, **times} for times in version["times"] or [{}]]


#: The native classes, each with its half from here and its columns.
KINDS = (
    (_workbench.BenchReport, _Bench, BENCH),
    (_workbench.CheckReport, _Check, CHECK),
    (_workbench.GradReport, _Grad, GRAD),
    (_workbench.TierReport, _Tiers, TIERS),
    (_workbench.NativeHistory, _History, HISTORY),
)


def install() -> None:
    """Gives the native classes the methods of a report, and their docstrings the columns."""
    for native, half, columns in KINDS:
        for name, method in {**vars(Report), **vars(half)}.items():
            if callable(method) and (name in _SPECIAL or not name.startswith("__")) and not (name.startswith("_file_") and hasattr(native, name)):
                setattr(native, name, method)
        native.__reduce__ = refuse
        tell_columns(native, columns)


#: The methods of `Report` that Python's protocols ask for.
_SPECIAL = ("__arrow_c_stream__", "__dataframe__")
