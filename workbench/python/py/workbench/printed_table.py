"""`wb.printed_table`: the calls of printf of the last cell, by kernel, block and thread."""

from __future__ import annotations

import operator
from typing import Any, Callable, Sequence

import numpy as np

from . import _workbench
from ._calls import clear_calls
from ._printf_output import Output, last
from ._workbench import Kernel, KernelTemplate, Launcher, TemplateLauncher
from .errors import make_argument_error
from .reports import Report, json_text, tell_columns
from .tables import Column, Table, place, place_columns

__all__ = ["PrintedTable", "printed_table"]

#: The rows that a page or a terminal shows, and the rows up to which a page shows them unasked.
_SHOWN, _UNFOLDED = 1000, 100
#: The characters of one text, and of all texts, that a page or a terminal shows.
_TEXT, _TEXTS = 500, 100_000
#: The number of a kernel where host code printed.
_NO_KERNEL = 0xFFFFFFFF
#: A number above all indices, which have 32 bits.
_NO_INDEX = 1 << 32
#: Characters that would break a line or a terminal, as Python writes them in a string.
_ESCAPED = {code: repr(chr(code))[1:-1] for code in (*range(32), 127)}
#: Names of the columns.
_COLUMNS = ("kernel", "block", "thread", "text")
#: The columns of its tables.
PRINTED = (
    Column("kernel", "text", "the kernel that printed; missing for host code"),
    *place_columns("block", "`blockIdx.{axis}`; missing for host code"),
    *place_columns("thread", "`threadIdx.{axis}`; missing for host code"),
    Column("text", "text", "what was printed"),
)

#: The indices that a filter of blocks or threads takes: those of x, or of x, y and z.
Place = Any


@clear_calls
def printed_table(block: Place = None, thread: Place = None, kernel: Any = None, contains: str | None = None) -> PrintedTable:
    """Who printed what in the last cell in which kernels did: one row for each call of printf, in the order of the output. Outside of IPython those of
    the last launch that printed.

    `block` and `thread` take an index of x, or a tuple of up to three for x, y and z, each an int, a `range`, a `slice` or None for all; the
    indices that a tuple leaves out are all, too. Or a callable, which is given the tuple (x, y, z) of ints. `kernel` is a name (that of a template
    stands for all its instances), a kernel, an operator of one, or a callable, which is given the name, and None for host code. `contains` is a
    part of the text. Rows of host code have no block and no thread: filters of these leave them out. Kernels of the algorithms of Thrust and CUB have
    names of the library, which begin with `__wb`.

    Raises ArgumentError for a filter that could take no row, such as a negative index or an empty range. A filter that no row happens to pass
    gives an empty table.

    >>> import workbench as wb
    >>> text = '__global__ void hello() { printf("thread %d of block %d\\\\n", threadIdx.x, blockIdx.x); }'
    >>> wb.compile(text).hello[2, 2]()
    thread 0 of block 0
    thread 1 of block 0
    thread 0 of block 1
    thread 1 of block 1
    >>> wb.printed_table(block=1, thread=range(1, 32)).rows
    [{'kernel': 'hello', 'block': (1, 0, 0), 'thread': (1, 0, 0), 'text': 'thread 1 of block 1\\n'}]
    >>> wb.printed_table(contains="thread 0")
    2 of 4 calls of printf, contains 'thread 0'
    kernel  block  thread  text
    hello   0      0       thread 0 of block 0
    hello   1      0       thread 0 of block 1
    """
    filters: list[tuple[str, Callable[[_Calls], Any]]] = []
    for name, given, first in (("block", block, 2), ("thread", thread, 5)):
        if given is not None:
            filters.append((f"{name} {_said(given)}", _places(name, given, first)))
    if kernel is not None:
        filters.append((f"kernel {_kernel_said(kernel)}", _kernels(kernel)))
    if contains is not None:
        if not isinstance(contains, str):
            raise make_argument_error(f"contains is a part of the text, a str; got {contains!r}")
        filters.append((f"contains {contains!r}", _texts(contains)))
    calls = _Calls(*last())
    chosen = np.ones(len(calls.words), bool)
    for _, passes in filters:
        chosen &= passes(calls)
    return PrintedTable(calls, np.flatnonzero(chosen), [said for said, _ in filters])


class _Calls:
    """The calls of printf of some outputs: a line of eight numbers each, as `Output.places` has them, numbered kernels, and the texts."""

    def __init__(self, outputs: Sequence[Output], lost: int) -> None:
        self.missing = lost + sum(output.dropped for output in outputs)
        self.kernels: list[str] = []
        self._texts = [output.text for output in outputs]
        words, starts = [np.empty((0, 8), np.uint32)], [np.empty(0, np.int64)]
        for output in outputs:
            own = np.frombuffer(output.places, "<u4").reshape(-1, 8).astype(np.uint32)
            numbers = [self._number(name) for name in output.kernels]
            is_kernel = own[:, 1] != _NO_KERNEL
            own[is_kernel, 1] = np.array(numbers, np.uint32)[own[is_kernel, 1]]
            words.append(own)
            starts.append(np.cumsum(own[:, 0], dtype=np.int64) - own[:, 0])
        self.words, self._starts = np.concatenate(words), np.concatenate(starts)
        self._output = np.repeat(np.arange(len(outputs)), [output.calls for output in outputs])

    def _number(self, name: str) -> int:
        if name not in self.kernels:
            self.kernels.append(name)
        return self.kernels.index(name)

    def kernel(self, call: int) -> str | None:
        """The kernel of a call; None for host code."""
        number = int(self.words[call, 1])
        return None if number == _NO_KERNEL else self.kernels[number]

    def place(self, call: int, first: int) -> tuple[int, int, int] | None:
        """The three numbers from `first` on; None for host code."""
        if self.words[call, 1] == _NO_KERNEL:
            return None
        x, y, z = self.words[call, first : first + 3].tolist()
        return x, y, z

    def text(self, call: int) -> str:
        """The text of a call."""
        start = self._starts[call]
        return self._texts[self._output[call]][start : start + int(self.words[call, 0])]


class PrintedTable(Report):
    """Rows of what kernels printed, one for each call of printf, in the order of the output. `wb.printed_table` makes it; it keeps its rows when later
    cells print.

    It shows itself as a table of the first thousand rows.

    >>> import workbench as wb
    >>> wb.compile('__global__ void hi() { printf("hi\\\\n"); }').hi[1, 1]()
    hi
    >>> table = wb.printed_table()
    >>> len(table), table.missing, table.rows[0]["text"]
    (1, 0, 'hi\\n')
    """

    def __init__(self, calls: _Calls, chosen: Any, filters: list[str]) -> None:
        self._calls, self._chosen, self._filters = calls, chosen, filters

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict for each row: `kernel` (a name, None for host code), `block` and `thread` (tuples (x, y, z) of ints, None for host code) and
        `text`, as it was printed."""
        return [self._row(call) for call in self._chosen]

    @property
    def missing(self) -> int:
        """The calls of printf that no table has: a launch keeps its first 100,000 or 16 MiB, a cell its first launches until these have printed
        64 Mi characters or called printf 1 Mi times."""
        return self._calls.missing

    def __len__(self) -> int:
        return len(self._chosen)

    def _table(self) -> Table:
        return Table(PRINTED, [{**row, **place("block", row["block"]), **place("thread", row["thread"])} for row in self.rows])

    def _json(self) -> str:
        return json_text({"missing": self.missing, "rows": self.rows})

    def _name(self) -> str:
        return self._headline()

    def _row(self, call: int) -> dict[str, Any]:
        calls = self._calls
        return dict(zip(_COLUMNS, (calls.kernel(call), calls.place(call, 2), calls.place(call, 5), calls.text(call))))

    def _headline(self) -> str:
        count, every = len(self), len(self._calls.words)
        if not every:
            return "no kernel has printed anything" if not self.missing else "what kernels printed was not kept"
        of = f"{count:,} of {every:,} calls" if self._filters else f"{count:,} {'call' if count == 1 else 'calls'}"
        return ", ".join([f"{of} of printf", *self._filters])

    def _notes(self, shown: int) -> list[str]:
        """The things to know besides the rows that are shown."""
        notes = []
        if shown < len(self):
            notes.append(f"{len(self) - shown:,} more rows are not shown; .rows has them all")
        if not len(self) and len(self._calls.words):
            who = [*self._calls.kernels, *(["host code"] if (self._calls.words[:, 1] == _NO_KERNEL).any() else [])]
            notes.append(f"no call passes these filters; who printed is {', '.join(who)}")
        if self.missing:
            notes.append(f"{self.missing:,} more calls of printf were not kept")
        return notes

    def _shown(self) -> list[list[str]]:
        """The cells of the rows that are shown."""
        rows: list[dict[str, Any]] = []
        characters = 0
        for call in self._chosen[:_SHOWN]:
            row = self._row(call)
            row["text"] = _one_line(row["text"])
            characters += len(row["text"])
            if characters > _TEXTS:
                break
            rows.append(row)
        extents = {name: max((_extents(row[name]) for row in rows), default=1) for name in ("block", "thread")}
        return [
            ["host code" if row["kernel"] is None else row["kernel"], *(_cell(row[name], extents[name]) for name in ("block", "thread")), row["text"]]
            for row in rows
        ]

    def __str__(self) -> str:
        shown = self._shown()
        lines = [self._headline()]
        if shown:
            cells = [list(_COLUMNS), *shown]
            widths = [max(len(row[at]) for row in cells) for at in range(3)]
            lines += ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]).rstrip() for row in cells]
        return "\n".join([*lines, *(f"note: {note}" for note in self._notes(len(shown)))])

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        shown = self._shown()
        facts = [("note", note) for note in self._notes(len(shown))]
        columns = [("kernel", False), ("block", True), ("thread", True), ("text", False)]
        cells = [[*row[:3], _kept_spaces(row[3])] for row in shown]
        page = _workbench.report_card(self._headline(), facts, columns, cells, None)
        if len(shown) <= _UNFOLDED:
            # A card folds all but its shortest tables.
            page = page.replace("<details>", "<details open>", 1)
        return {"text/plain": str(self), "text/html": page}


def _one_line(text: str) -> str:
    """A text on one line, without the end of the line that it prints; what is longer than a page shows is cut."""
    text = text.removesuffix("\n")
    rest = len(text) - _TEXT
    return text[:_TEXT].translate(_ESCAPED) + (f"... and {rest:,} more characters" if rest > 0 else "")


def _kept_spaces(text: str) -> str:
    """A text whose spaces a page does not join: those at its start and after another one do not break."""
    return "".join("\xa0" if char == " " and (at == 0 or text[at - 1] == " ") else char for at, char in enumerate(text))


def _extents(place: tuple[int, int, int] | None) -> int:
    """The number of extents that a place needs: zeros at its end are left out."""
    return 1 if place is None else max((at for at in (1, 2, 3) if place[at - 1]), default=1)


def _cell(place: tuple[int, int, int] | None, extents: int) -> str:
    return "" if place is None else ", ".join(map(str, place[:extents]))


def _said(given: Any) -> str:
    """A filter of places in words: `3`, `3, 1`, `0:4, :`."""
    if isinstance(given, tuple):
        return ", ".join(map(_said, given))
    if given is None:
        return ":"
    if isinstance(given, (slice, range)):
        start, stop, step = given.start, given.stop, given.step
        return f"{'' if start is None else start}:{'' if stop is None else stop}" + (f":{step}" if step not in (None, 1) else "")
    return _name(given) if callable(given) else str(given)


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _places(name: str, given: Any, first: int) -> Callable[[_Calls], Any]:
    """The calls whose three numbers from `first` on pass a filter."""
    if callable(given):
        return lambda calls: np.array(
            [place is not None and bool(given(place)) for place in (calls.place(call, first) for call in range(len(calls.words)))], bool
        )
    if isinstance(given, (list, set, frozenset)):
        raise make_argument_error(
            f"{name} is {given!r}: indices of x, y and z stand in a tuple, and several of one in a range; for others write a callable, "
            f"{name}=lambda at: at[0] in {given!r}"
        )
    parts = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(parts) <= 3:
        raise make_argument_error(f"{name} is {given!r}; one to three indices are wanted: of x, y and z")
    tests = [(at, _index(name, given, part)) for at, part in enumerate(parts, first) if part is not None]

    def passes(calls: _Calls) -> Any:
        chosen = calls.words[:, 1] != _NO_KERNEL
        for at, test in tests:
            chosen &= test(calls.words[:, at].astype(np.int64))
        return chosen

    return passes


def _index(name: str, given: Any, part: Any) -> Callable[[Any], Any]:
    """The test of one column of indices; ArgumentError for a part that is none, or that no index can pass."""
    if isinstance(part, slice):
        start, stop, step = (None if one is None else _number(name, given, one) for one in (part.start, part.stop, part.step))
        start, step = start or 0, 1 if step is None else step
        if step == 0 or stop is not None and stop <= start:
            raise make_argument_error(f"{name} is {_said(given)}, and no index is in {_said(part)}; the smaller one comes first, and the last is not in it")
        return lambda column: (column >= start) & (column < (_NO_INDEX if stop is None else stop)) & ((column - start) % step == 0)
    if isinstance(part, range):
        if not part or min(part[0], part[-1]) < 0:
            raise make_argument_error(f"{name} is {_said(given)}: {part!r} {'has a negative index' if part else 'is empty'}; indices are from 0 on")
        low, high, step = (min(one, _NO_INDEX) for one in (min(part[0], part[-1]), max(part[0], part[-1]), abs(part.step)))
        return lambda column: (column >= low) & (column <= high) & ((column - low) % step == 0)
    number = _number(name, given, part)
    return lambda column: column == number


def _number(name: str, given: Any, part: Any) -> int:
    if isinstance(part, (bool, np.bool_)) or not hasattr(type(part), "__index__"):
        raise make_argument_error(f"{name} is {given!r}, and {part!r} is no index; write an int, a range, a slice, None for all, or a callable")
    number = operator.index(part)
    if number < 0:
        raise make_argument_error(f"{name} is {given!r}; indices are from 0 on")
    return min(number, _NO_INDEX)


def _kernel_name(kernel: Any) -> str:
    """The name of a kernel that is given as itself, by its name or as an operator's."""
    from .operators import Op

    if isinstance(kernel, Op):
        return str(kernel._kernel_name())
    return str(kernel.name) if isinstance(kernel, (Kernel, KernelTemplate)) else str(kernel)


def _kernel_said(kernel: Any) -> str:
    return _name(kernel) if _is_test(kernel) else _kernel_name(kernel)


def _is_test(kernel: Any) -> bool:
    """True if a filter of kernels is a callable of names: kernels and operators are callables, too, and not meant so."""
    from .differentiable import Differentiable

    return callable(kernel) and not isinstance(kernel, (Kernel, KernelTemplate, Launcher, TemplateLauncher, Differentiable))


def _kernels(kernel: Any) -> Callable[[_Calls], Any]:
    """The calls whose kernel passes a filter."""
    from .operators import Op

    if _is_test(kernel):
        return lambda calls: _with_kernel(calls, kernel)
    if not isinstance(kernel, (str, Kernel, KernelTemplate, Op)):
        raise make_argument_error(f"kernel is {kernel!r}; the name of a kernel is wanted, the kernel itself, an operator of one, or a callable")
    wanted = _kernel_name(kernel)
    return lambda calls: _with_kernel(calls, lambda name: name is not None and wanted in (name, name.partition("<")[0]))


def _with_kernel(calls: _Calls, test: Callable[[str | None], Any]) -> Any:
    """The calls of the kernels that pass a test, which each name is given to once."""
    numbers = [number for number, name in enumerate(calls.kernels) if test(name)]
    if (calls.words[:, 1] == _NO_KERNEL).any() and test(None):
        numbers.append(_NO_KERNEL)
    return np.isin(calls.words[:, 1], np.array(numbers, np.uint32))


def _texts(part: str) -> Callable[[_Calls], Any]:
    """The calls whose text has a part."""
    return lambda calls: np.array([part in calls.text(call) for call in range(len(calls.words))], bool)


tell_columns(PrintedTable, PRINTED)
