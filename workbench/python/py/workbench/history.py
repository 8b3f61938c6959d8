"""Versions of operators: `op.history`, and what two versions differ in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

from . import _workbench
from ._calls import clear_calls
from ._workbench import BenchReport, CheckReport, NativeHistory, Svg
from .benchmark import bench_callable, sizes_of
from .copying import copies
from .errors import ArgumentError, ExtensionError, KernelFault, KernelTimeout, make_argument_error, name_culprit
from .native_reports import BENCH, HISTORY
from .pickles import refuse
from .reports import Report, json_text, tell_columns
from .tables import Column, Table

if TYPE_CHECKING:
    from .operators import Op

__all__ = ["Comparison", "History", "Version"]


@dataclass(frozen=True)
class Version:
    """One version of an operator. `made` is in seconds since 1970, `check` the outcome of its last check, `times` those of its benchmarks."""

    number: int
    made: float
    schema: str
    text: str
    options: list[str]
    changes: list[str]
    restores: int | None
    check: dict[str, Any] | None
    times: list[dict[str, Any]]

    @property
    def passed(self) -> bool | None:
        """The outcome of its last check; None if there was none."""
        return None if self.check is None else bool(self.check["passed"])


#: The columns of a comparison: a row for each version and size.
COMPARISON = (
    Column("version", "integer", "number of the version"),
    *BENCH[1:],
    Column("mismatches", "integer?", "elements of its results that differ from the older version's; missing for that one, and for sizes after the first"),
    Column("max_share", "number", "largest share of its tolerance that such a difference takes; missing as `mismatches`"),
)


@clear_calls
@dataclass(frozen=True)
class Comparison(Report):
    """The differences of two versions: their texts, their results on the same arguments (the older one is the reference), their times, measured in turns.
    `.check` has the elements that differ, one by one."""

    old: int
    new: int
    difference: str
    check: CheckReport
    bench: BenchReport
    _card: str

    def plot(self) -> Svg:
        """The times of both versions, as `wb.bench` draws them; `.check.plot()` is the map of the elements that differ. A file has both pictures."""
        return self.bench.plot()

    def _picture(self) -> Svg:
        number = None if self.check.passed else self.check._pictured()
        if number is None:
            return self.plot()
        return _workbench.stacked_pictures(self._name(), [self.check.plot(number), self.plot()])

    def _table(self) -> Table:
        outcome = {"mismatches": self.check.count, "max_share": self.check.max_share}
        numbers = {f"version {number}": number for number in (self.old, self.new)}
        # The first size is the one that was checked.
        is_checked = lambda row: numbers[row["name"]] == self.new and row["size"] == self.bench.rows[0]["size"]
        return Table(COMPARISON, [{**row, "version": numbers[row["name"]], **(outcome if is_checked(row) else {})} for row in self.bench.rows])

    def _json(self) -> str:
        check, bench = json.loads(self.check.to_json()), json.loads(self.bench.to_json())
        return json_text({"old": self.old, "new": self.new, "difference": self.difference, "check": check, "bench": bench})

    def __str__(self) -> str:
        return f"version {self.new} beside version {self.old}\n{self.difference}{self.check}\n{self.bench}"

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        parts = [self._card, *(report._repr_mimebundle_()["text/html"] for report in (self.check, self.bench))]
        return {"text/plain": str(self), "text/html": "".join(parts)}


@clear_calls
class History(Report):
    """The versions of an operator: each definition that differed from the one before, with its checks and its times. `op.history` makes it.

    It shows itself as a card: the times over the versions with broken ones marked, a table, and the difference of each text from the one before.
    `.plot()` is the picture of the times; `.save("history.html")` keeps it all, with the times at which versions were made, `.to_json()` with the
    texts, which the tables leave out.
    A thousand versions are kept, by their texts; the last eight are kept compiled.

    >>> import numpy as np, workbench as wb
    >>> source = "__global__ void scale(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    >>> scale = wb.op("doc::scale_history(Tensor x) -> Tensor", source, shape="x[n] -> y[n]")
    >>> scale = wb.op("doc::scale_history(Tensor x) -> Tensor", source.replace("2 *", "3 *"), shape="x[n] -> y[n]")
    >>> len(scale.history), scale.history[2].number
    (2, 2)
    >>> scale.version(1)(np.ones(2, np.float32)), scale(np.ones(2, np.float32))
    (array([2., 2.], dtype=float32), array([3., 3.], dtype=float32))
    >>> scale.history.compare(1, 2, np.ones(2, np.float32)).check.passed
    False
    """

    def __init__(self, op: Op, native: NativeHistory) -> None:
        self._op, self._native = op, native

    def __call__(self, *_args: Any, **_kwargs: Any) -> None:
        name = self._op.__name__
        raise make_argument_error(f"`{name}.history` is no function: it is the history itself, {name}.history[number] one of its versions")

    @property
    def name(self) -> str:
        """The operator's qualified name."""
        return self._native.name

    @property
    def versions(self) -> list[Version]:
        """The versions, the oldest first."""
        return [Version(**version) for version in self._native.versions]

    __reduce__ = refuse

    def __len__(self) -> int:
        return len(self._native.versions)

    def __iter__(self) -> Iterator[Version]:
        return iter(self.versions)

    def __getitem__(self, number: int) -> Version:
        """A version by its number, from 1; negative ones count from the newest, which is -1. IndexError for others."""
        versions = self.versions
        try:
            number = self._op._version_number(number)
        except ArgumentError as error:
            raise IndexError(str(error)) from None
        return next(version for version in versions if version.number == number)

    def difference(self, old: int, new: int) -> str:
        """The difference between the texts of two versions, line by line. ArgumentError for a version that does not exist."""
        op = self._op
        return self._native.difference(op._version_number(old), op._version_number(new))

    def compare(
        self,
        old: int,
        new: int,
        *args: Any,
        sizes: Iterable[int] | None = None,
        make_args: Callable[[int], Any] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        **options: Any,
    ) -> Comparison:
        """Runs two versions on the same arguments: which elements of the results differ, and by how much; and times them in turns.

        Without arguments arrays of random numbers have the shapes of its signature, the largest about 1,024 elements, and each scalar is 1. `sizes` and `make_args`, the one with the other, time over sizes
        instead of on these arguments; other options are those of `wb.bench`. Tolerances are those of `op.check`, both versions run on poisoned
        outputs, and the arguments stay as they are. Nothing of it is noted in the versions. An error of one of them, KernelFault and others, says which.
        """
        op = self._op
        old, new = op._version_number(old), op._version_number(new)
        if old == new:
            raise make_argument_error(f"version {new} beside itself says nothing; give two numbers")
        if make_args is not None and sizes is None:
            raise make_argument_error("make_args comes with sizes")
        for name in options:
            if name not in _OPTIONS:
                raise make_argument_error(f"compare has no option `{name}`; it has {', '.join(_OPTIONS)}, and takes arguments by position")
        before, after = op.version(old), op.version(new)
        if sizes is not None:
            sizes = sizes_of(sizes)
            make_args = make_args or op._random_args
        given = args or (_tuple(make_args(sizes[0])) if make_args is not None and sizes else op._random_args(1024))
        try:
            check = after._check_beside(before, given, rtol, atol, equal_nan, f"version {new}", f"version {old}")
        except (ExtensionError, KernelFault, KernelTimeout) as error:
            name_culprit(error, f"version {old if _fails(before, given) else new} of `{op.name}`")
            raise
        others = {f"version {old}": before}
        timed = () if sizes is not None else tuple(_own(value) for value in copies(given))
        bench = bench_callable(f"version {new}", after, timed, None, sizes=sizes, make_args=make_args, others=others, title=op.__name__, **options)
        card = self._native.difference_card(old, new)
        return Comparison(old, new, self.difference(old, new), check, bench, card)

    def plot(self) -> Svg:
        """The times of the versions at the size that most were measured at: a bar for each of the newest fifty, broken ones in another colour."""
        return self._native._plot()

    _picture = plot

    def _table(self) -> Table:
        return self._native._table()

    def _json(self) -> str:
        return self._native._json()

    def _file_html(self) -> str:
        return self._native._file_html()

    def _file_text(self) -> str:
        return self._native._file_text()

    def _name(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return repr(self._native)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self._native._repr_mimebundle_()


#: The options of `compare` that are those of a benchmark.
_OPTIONS = ("flush_cache", "seconds_per_size", "max_seconds")


def _fails(op: Op, args: tuple[Any, ...]) -> bool:
    """True if a call on these arguments, which stay as they are, is an error."""
    try:
        op._outcome(copies(op._arguments(args, {})))
    except Exception:
        return True
    return False


def _own(value: Any) -> Any:
    """A copy of a tensor of another library."""
    return value.clone() if callable(getattr(value, "clone", None)) else value


def _tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


tell_columns(Comparison, COMPARISON)
tell_columns(History, HISTORY, "Columns of its tables and of CSV, a row for each version and each size that it was timed at:")
