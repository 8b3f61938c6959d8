"""The report of a check of all operators of a manifest: a row for each."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from . import _workbench
from .reports import Report, folded, json_text, tell_columns
from .tables import Column, Table

if TYPE_CHECKING:
    from ._workbench import Svg

__all__ = ["LibraryReport", "LibraryRow"]


@dataclass
class LibraryRow:
    """The result of a check of one operator; false if something failed.

    >>> from workbench.manifest import LibraryRow
    >>> bool(LibraryRow("relu")), bool(LibraryRow("relu", failures=["sample 0, float32: differs"]))
    (True, False)
    """

    operator: str
    #: The element types that it was called in.
    dtypes: list[str] = field(default_factory=list)
    #: The number of calls that were compared with the reference.
    forward: int = 0
    #: The largest error of them, as a part of the tolerance.
    worst: float = 0.0
    #: The number of gradients that were compared with differences of the reference.
    gradients: int = 0
    #: The largest error of them, absolute.
    gradient_error: float = 0.0
    #: The number of calls that gave the shapes and dtypes that were worked out without data; None if those depend on the data.
    shapes: int | None = 0
    #: Seconds, everything included.
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.failures


#: The columns of a check of a manifest.
LIBRARY = (
    Column("operator", "text", "name of the operator"),
    Column("passed", "truth", "true if nothing failed"),
    Column("dtypes", "texts", "element types that it was called in"),
    Column("forward", "integer", "calls that were compared with the reference"),
    Column("worst", "number", "largest error of them by the tolerance"),
    Column("gradients", "integer", "gradients that were compared with differences of the reference"),
    Column("gradient_error", "number", "largest absolute error of them"),
    Column("shapes", "integer?", "calls whose shapes were as worked out without data; missing where those depend on the data"),
    Column("seconds", "number", "time of its check, in seconds"),
    Column("failures", "texts", "what failed, a sentence each"),
)


class LibraryReport(Report):
    """The result of `Library.check()`: `rows`, one for each operator, over which it goes; false if one of them is. It shows itself as a card.

    >>> from workbench.manifest import LibraryReport, LibraryRow
    >>> bool(LibraryReport([LibraryRow("relu")])), bool(LibraryReport([LibraryRow("relu", failures=["differs"])]))
    (True, False)
    >>> LibraryReport([LibraryRow("relu", ["float32"], 3, 0.25, shapes=3), LibraryRow("gelu", failures=["sample 0, float32: differs"])])
    1 of 2 operators fails
      relu: 3 calls in float32, the worst element at 25 % of its tolerance
      gelu: FAILS: sample 0, float32: differs
    """

    def __init__(self, rows: Iterable[LibraryRow] = ()) -> None:
        # A list of its own: of a report that is a list itself, polars would make a table without asking it.
        self.rows = list(rows)

    def __bool__(self) -> bool:
        return all(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[LibraryRow]:
        return iter(self.rows)

    def __getitem__(self, number: int) -> LibraryRow:
        return self.rows[number]

    def plot(self) -> Svg:
        """A cell for each operator, coloured by its outcome."""
        cases = [("", row.operator, "ok" if row else "wrong", f"{row.operator}: {_said(row)}") for row in self]
        return _workbench.case_picture(self._name(), "operators beside their references", cases)

    _picture = plot

    def _name(self) -> str:
        failing = sum(not row for row in self)
        if not failing:
            return f"{len(self)} operators agree with their references"
        return f"{failing} of {len(self)} operators {'fails' if failing == 1 else 'fail'}"

    def _table(self) -> Table:
        return Table(LIBRARY, [{"passed": bool(row), **asdict(row)} for row in self])

    def _json(self) -> str:
        return json_text({"passed": bool(self), "rows": [{"passed": bool(row), **asdict(row)} for row in self]})

    def __str__(self) -> str:
        return "\n".join([self._name(), *(folded(f"  {row.operator}: {_said(row)}") for row in self)])

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        rows = [[row.operator, ", ".join(row.dtypes), _said(row)] for row in sorted(self, key=bool)]
        page = _workbench.report_card(self._name(), [], [("operator", False), ("dtypes", False), ("", False)], rows, None, bool(self))
        return {"text/plain": str(self), "text/html": page}


def _said(row: LibraryRow) -> str:
    if row.failures:
        return f"FAILS: {'; '.join(row.failures)}"
    calls = f"{row.forward} calls in {', '.join(row.dtypes) or 'no dtype'}, the worst element at {100 * row.worst:.0f} % of its tolerance"
    return calls + (f"; {row.gradients} gradients, off by {row.gradient_error:.1e} at most" if row.gradients else "")


tell_columns(LibraryReport, LIBRARY)
