"""`wb.sweep`: an operator beside its reference over shapes and dtypes, and the smallest case in which they differ."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping

import numpy as np

from . import _workbench
from ._calls import clear_calls
from ._progress import progress_text
from ._workbench import CheckReport, Svg
from .errors import make_argument_error, plural
from .reports import Report, first_fact, folded, json_text, tell_columns
from .shape_dims import ANY, arrays_of, elements_of, names_of, shape_of
from .tables import Column, Table, columns_of, scalar
from .tuning_worker import MISTAKES

if TYPE_CHECKING:
    from .operators import Op

__all__ = ["SweepReport", "sweep"]

#: Extents on the borders of warps, blocks and powers of two: what kernels get wrong.
BORDERS = (0, 1, 2, 3, 7, 31, 32, 33, 63, 65, 127, 128, 129, 255, 256, 257, 1000, 1025)
#: The extent of a dim while another one is on a border.
_REST = 5
#: Shapes for `*`.
_SHAPES = ((), (0,), (1,), (2,), (31,), (32,), (33,), (255,), (256,), (257,), (1025,), (0, 3), (3, 0), (3, 5), (33, 65), (2, 3, 4), (1, 1, 1))
#: Random combinations of borders, of several dims.
_COMBINATIONS = 24
#: The most elements of a case that is chosen here.
_MOST = 1 << 20
#: The most checks by which a failing case is made smaller.
_TRIES = 200

#: What the rows of failing cases say.
_FAILURES = ("wrong", "failed")

Dims = dict[str, Any]


@clear_calls
def sweep(
    op: Op,
    shapes: Iterable[Any] | None = None,
    dtypes: Iterable[Any] | None = None,
    *,
    args: Mapping[str, Any] | None = None,
    make_args: Callable[..., Any] | None = None,
    reference: Callable[..., Any] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> SweepReport:
    """Checks an operator against its reference over shapes and dtypes, and makes the first case that fails as small as it can.

    `shapes` are dicts from the dims of the operator's signature to extents (`{"m": 33, "n": 7}`; `{"*": (2, 3)}` for `x[*]`), or plain ints where
    there is one dim; without them extents on the borders of warps, blocks and powers of two, none and one included. `dtypes` are the element types
    of all arrays; without them each array has that of the first kernel. Elements are random by `seed`, with zeros of both signs among
    floats; integers are from 0 to the smallest extent, so that they are indices, too. `args` has values for other arguments, which are 1 otherwise.
    `make_args(dims, dtype)` makes all arguments instead, where the signature does not say enough.

    Raises ArgumentError for an operator without a reference, and for dims that it does not have. A case that an operator refuses is a failure,
    like a result that differs; one in which the reference or `make_args` raises is "unknown", and told. A stop (Ctrl-C, the stop button) gives the
    cases that were checked until then, with a note: such a report has not passed, as the others may fail. `KeyboardInterrupt` where there were none.

    >>> import numpy as np, workbench as wb
    >>> source = "__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * 32 + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    >>> twice = wb.op("doc::twice_sweep(Tensor x) -> Tensor", source, shape="x[n] -> y[n]", reference=lambda x: 2 * x, block=64)
    >>> report = wb.sweep(twice)
    >>> bool(report), report.smallest.dims
    (False, {'n': 97})
    >>> wb.sweep(twice, [{"n": 1}, {"n": 32}]).passed
    True
    """
    if not hasattr(op, "_parts"):
        raise make_argument_error(f"an operator of a kernel is swept, got {type(op).__name__}")
    reference = reference or op.reference
    if reference is None:
        raise op._lacks("reference", "give one, as in wb.sweep(op, reference=f)")
    if (rtol is None) != (atol is None):
        raise make_argument_error("give both rtol and atol, or neither")
    case = _Case(op, reference, make_args, dict(args or {}), rtol, atol, seed)
    chosen = list(case.defaults()) if shapes is None else [case.dims_of(shape) for shape in shapes]
    types = [None] if dtypes is None else _types(dtypes)
    for what, given in (("shapes", chosen), ("dtypes", types)):
        if not given:
            raise make_argument_error(f"{what} is empty, so there is nothing to check")
    rows: list[dict[str, Any]] = []
    smallest = None
    notes = []
    wanted = len(types) * len(chosen)
    with progress_text() as tell:
        try:
            for dtype, dims in itertools.product(types, chosen):
                row = case.row(dims, dtype)
                rows.append(row)
                tell(f"{len(rows)}/{plural(wanted, 'case')}  {sum(r['status'] in _FAILURES for r in rows)} fail")
            cases = zip(rows, itertools.product(types, chosen))
            failing = next(((row["status"], dims, dtype) for row, (dtype, dims) in cases if row["status"] in _FAILURES), None)
            if failing is not None:
                tell("a failing case is made smaller")
                smallest = case.smallest(*failing)
        except KeyboardInterrupt:
            if not rows:
                raise
            least = "before a failing case was as small as it can be" if len(rows) == wanted else f"after {len(rows)} of {plural(wanted, 'case')}"
            notes.append(f"stopped {least}")
    unknown = [row for row in rows if row["status"] == "unknown"]
    if unknown:
        notes.append(f"{plural(len(unknown), 'case')} could not be checked, the first: {_case_name(unknown[0]['dims'], unknown[0]['dtype'])}: {unknown[0]['message']}")
    return SweepReport(op.name, rows, smallest, notes, wanted)


def _types(dtypes: Iterable[Any]) -> list[Any]:
    """Dtypes as NumPy has them; "bfloat16" stays a name. ArgumentError for what is none."""
    if isinstance(dtypes, (str, bytes)):
        raise make_argument_error(f"dtypes is {dtypes!r}; a list of dtypes is wanted")
    types: list[Any] = []
    for dtype in dtypes:
        try:
            types.append(dtype if isinstance(dtype, str) and dtype == "bfloat16" else np.dtype(dtype))
        except TypeError:
            raise make_argument_error(f"dtypes: {dtype!r} is no dtype") from None
    return types


@dataclass(frozen=True)
class Failure:
    """The smallest case that was found to fail: its `dims`, its `dtype` (None for the kernel's own), the `args` of the call, and the `report` of
    the check, or the `error` that was raised."""

    dims: Dims
    dtype: str | None
    args: tuple[Any, ...]
    report: CheckReport | None
    error: BaseException | None

    def __str__(self) -> str:
        what = str(self.report).rstrip() if self.report is not None else str(self.error)
        return f"{_case_name(self.dims, self.dtype)}\n{what}"

    __repr__ = __str__


@dataclass(frozen=True)
class _Case:
    """Checks of one operator."""

    op: Any
    reference: Callable[..., Any]
    make_args: Callable[..., Any] | None
    given: dict[str, Any]
    rtol: float | None
    atol: float | None
    seed: int

    def __post_init__(self) -> None:
        for name in self.given:
            if name not in self.op.params:
                raise make_argument_error(f"`{self.op.name}` has no argument `{name}`; its arguments are {', '.join(self.op.params)}")

    @property
    def arrays(self) -> dict[str, tuple[str, ...]]:
        return {name: dims for name, dims in arrays_of(self.op).items() if name not in self.given}

    def dims_of(self, shape: Any) -> Dims:
        """Extents by the names of dims; ArgumentError for names and extents that make no sense."""
        if self.make_args is not None and not isinstance(shape, Mapping):
            return {"n": shape}
        names = None if self.make_args is not None else names_of(self.arrays)
        if not isinstance(shape, Mapping):
            if names is None or len(names) != 1:
                raise make_argument_error(f"shapes: {shape!r} is no dict from dims to extents; the dims of `{self.op.name}` are {', '.join(names or ())}")
            shape = {names[0]: shape if names[0] != ANY or isinstance(shape, (tuple, list)) else (shape,)}
        dims = dict(shape)
        if names is not None and set(dims) != set(names):
            raise make_argument_error(f"shapes: {dims} has not the dims of `{self.op.name}`, which are {', '.join(names)}")
        for name, extent in dims.items():
            extents = extent if isinstance(extent, (tuple, list)) else (extent,)
            if (names is not None and isinstance(extent, (tuple, list)) != (name == ANY)) or not all(
                isinstance(e, (int, np.integer)) and not isinstance(e, bool) and e >= 0 for e in extents
            ):
                wanted = "a tuple of ints" if name == ANY else "an int"
                raise make_argument_error(f"shapes: {name} is {extent!r}; {wanted} from 0 on is wanted")
            dims[name] = tuple(int(e) for e in extents) if isinstance(extent, (tuple, list)) else int(extent)
        return dims

    def defaults(self) -> Iterator[Dims]:
        """Borders of each dim with the others small, then random combinations of borders."""
        if self.make_args is not None:
            raise make_argument_error("make_args comes with shapes, which say what it is asked for")
        arrays = self.arrays
        names = names_of(arrays)
        if not names:
            # Every extent is a number.
            yield {}
        if ANY in names:
            plain = [name for name in names if name != ANY]
            for shape in _SHAPES:
                yield {ANY: shape, **dict.fromkeys(plain, _REST)}
            names, small = plain, {ANY: (2, 3)}
        else:
            small = {}
        for name in names:
            for extent in BORDERS:
                dims = {**small, **dict.fromkeys(names, _REST), name: extent}
                if elements_of(arrays, dims) <= _MOST:
                    yield dims
        if len(names) > 1:
            rng = np.random.default_rng(self.seed)
            for _ in range(_COMBINATIONS):
                dims = {**small, **{name: int(rng.choice(BORDERS)) for name in names}}
                if elements_of(arrays, dims) <= _MOST:
                    yield dims

    def arguments(self, dims: Dims, dtype: Any) -> tuple[Any, ...]:
        """The arguments of a case, in the schema's order."""
        if self.make_args is not None:
            made = self.make_args(dims["n"] if list(dims) == ["n"] else dims, dtype)
            return made if isinstance(made, tuple) else (made,)
        rng = np.random.default_rng(self.seed)
        arrays = self.arrays
        least = min((extent for name in names_of(arrays) for extent in np.atleast_1d(dims[name])), default=100)
        made = {}
        for (name, kind, default, _, _), (_, own) in zip(_workbench.schema_arguments(self.op.schema), self.op._kinds):
            if name in self.given:
                made[name] = self.given[name]
            elif name in arrays:
                made[name] = elements(rng, shape_of(arrays[name], dims), dtype or own or "float32", int(max(1, min(least, 100))))
            elif default is None:
                made[name] = True if kind == "bool" else 1
        return tuple(self.op._arguments((), made))

    def outcome(self, dims: Dims, dtype: Any) -> tuple[str, str, Any, tuple[Any, ...]]:
        """Status, message, report or error, and arguments of a case."""
        args: tuple[Any, ...] = ()
        try:
            args = self.arguments(dims, dtype)
            complete = args if self.make_args is None else self.op._arguments(args, {})
            report = _workbench.check_op(self.op, complete, self.reference, self.rtol, self.atol, False, self.op.name)
        except MISTAKES as error:
            return "failed", next(iter(str(error).strip().splitlines()), type(error).__name__), error, args
        except Exception as error:
            return "unknown", f"{type(error).__name__}: {error}", error, args
        if report:
            return "ok", "", report, args
        return "wrong", first_fact(report), report, args

    def row(self, dims: Dims, dtype: Any) -> dict[str, Any]:
        status, message, found, _ = self.outcome(dims, dtype)
        share = found.max_share if isinstance(found, CheckReport) else None
        return {"dims": dims, "dtype": _dtype_name(dtype), "status": status, "message": message, "max_share": share}

    def smallest(self, status: str, dims: Dims, dtype: Any) -> Failure:
        """The case of a row, made smaller in one dim after the other as long as it fails in the same way."""
        tries = 0

        def fails(other: Dims) -> bool:
            nonlocal tries
            tries += 1
            return tries <= _TRIES and self.outcome(other, dtype)[0] == status

        before = None
        while before != dims:
            before = dims
            for name in dims:
                if isinstance(dims[name], tuple):
                    dims = _with_fewer(dims, name, fails)
                    for i in range(len(dims[name])):
                        dims = _set(dims, name, i, _least(lambda e: fails(_set(dims, name, i, e)), dims[name][i]))
                else:
                    dims = {**dims, name: _least(lambda e: fails({**dims, name: e}), dims[name])}
        _, _, found, args = self.outcome(dims, dtype)
        is_report = isinstance(found, CheckReport)
        return Failure(dims, _dtype_name(dtype), args, found if is_report else None, None if is_report else found)


def _set(dims: Dims, name: str, place: int, extent: int) -> Dims:
    """The dims with one extent of a tuple replaced."""
    extents = dims[name]
    return {**dims, name: (*extents[:place], extent, *extents[place + 1 :])}


def _with_fewer(dims: Dims, name: str, fails: Callable[[Dims], bool]) -> Dims:
    """The dims with as few extents in a tuple as fail: each is left out in turn."""
    for place in reversed(range(len(dims[name]))):
        fewer = {**dims, name: dims[name][:place] + dims[name][place + 1 :]}
        if fails(fewer):
            dims = fewer
    return dims


def _least(fails: Callable[[int], bool], extent: int) -> int:
    """A small extent that fails, given one that does: the first among none, one, powers of two and their neighbours, then by halves."""
    powers = (2**k + d for k in range(1, extent.bit_length() + 1) for d in (-1, 0, 1))
    passing = -1
    for tried in sorted({0, 1, *powers}):
        if tried >= extent:
            break
        if fails(tried):
            extent = tried
            break
        passing = tried
    while extent - passing > 1:
        middle = (extent + passing) // 2
        if fails(middle):
            extent = middle
        else:
            passing = middle
    return extent


def elements(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, below: int) -> np.ndarray:
    """Random elements: floats around 0 with both zeros among them, integers from 0 to `below`, truth values."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        import ml_dtypes

        dtype = ml_dtypes.bfloat16
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(kind)
    if kind.kind in "iu":
        return rng.integers(0, below, shape).astype(kind)
    values = rng.standard_normal(shape)
    if kind.kind == "c":
        return (values + 1j * rng.standard_normal(shape)).astype(kind)
    flat = values.reshape(-1)
    for place, value in zip((1, 2), (0.0, -0.0)):
        if flat.size > place:
            flat[place] = value
    return values.astype(kind)


def _dtype_name(dtype: Any) -> str | None:
    return None if dtype is None else dtype if isinstance(dtype, str) else np.dtype(dtype).name


def _case_name(dims: Dims, dtype: str | None) -> str:
    extents = ", ".join(f"{name} = {extent}" for name, extent in dims.items())
    return extents + (f", {dtype}" if dtype else "")


#: The columns of a sweep besides its dims.
SWEEP = (
    Column("dtype", "text", "dtype of the arrays; missing where each has the kernel's own"),
    Column("status", "text", '"ok", "wrong", "failed" or "unknown"'),
    Column("message", "text", "what is wrong; else empty"),
    Column("max_share", "number", "largest share of its tolerance that an element's error takes; missing where nothing was compared"),
)


@clear_calls
@dataclass(frozen=True)
class SweepReport(Report):
    """The result of `wb.sweep`: `rows`, one dict for each case with `dims`, `dtype`, `status` ("ok", "wrong", "failed" or "unknown"), `message` and `max_share` of the tolerance;
    `smallest`, the smallest failing case or None; `notes`; `wanted`, the number of cases that were to be checked. It is true if no case fails and
    all were looked at: a stopped sweep is not. `.plot()` draws a cell for each case.

    >>> import numpy as np, workbench as wb
    >>> source = "__global__ void copy(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
    >>> copy = wb.op("doc::copy_sweep(Tensor x) -> Tensor", source, shape="x[n] -> y[n]", reference=lambda x: x)
    >>> wb.sweep(copy, [0, 1, 100])
    doc::copy_sweep agrees with its reference in all 3 cases
    """

    name: str
    rows: list[dict[str, Any]]
    smallest: Failure | None
    notes: list[str]
    wanted: int

    @property
    def passed(self) -> bool:
        """True if no case fails, none was left out by a stop, and one at least was checked."""
        return not self._failing() and len(self.rows) == self.wanted and any(row["status"] == "ok" for row in self.rows)

    def __bool__(self) -> bool:
        return self.passed

    def raise_if_failed(self) -> None:
        """Raises an AssertionError with the smallest failing case, unless all agree.

        >>> import numpy as np, workbench as wb
        >>> source = "__global__ void copy(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
        >>> copy = wb.op("doc::copy_raise(Tensor x) -> Tensor", source, shape="x[n] -> y[n]", reference=lambda x: x)
        >>> wb.sweep(copy, [0, 1]).raise_if_failed()
        """
        if not self.passed:
            raise AssertionError(str(self))

    def _failing(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["status"] in _FAILURES]

    def __str__(self) -> str:
        failing = self._failing()
        if not failing:
            right = sum(row["status"] == "ok" for row in self.rows)
            cases = plural(self.wanted, "case")
            of = f"{right} of {cases}" if right < self.wanted else cases if right == 1 else f"all {cases}"
            lines = [f"{self.name} agrees with its reference in {of}"]
        else:
            lines = [f"{self.name} fails in {len(failing)} of {plural(len(self.rows), 'case')}"]
            if self.smallest is not None:
                lines += ["the smallest that was found: " + str(self.smallest).rstrip()]
            lines += [folded(f"  {_case_name(row['dims'], row['dtype'])}: {row['status']}: {row['message']}") for row in failing[:8]]
            if len(failing) > 8:
                lines.append(f"  and {len(failing) - 8} more; .rows has them all")
        return "\n".join([*lines, *(folded(f"note: {note}") for note in self.notes)])

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        checked = len(self.rows)
        facts = [("cases", str(checked) if checked == self.wanted else f"{checked} of {self.wanted}"), ("fail", str(len(self._failing())))]
        if self.smallest is not None:
            facts.append(("smallest failing case", _case_name(self.smallest.dims, self.smallest.dtype)))
        facts += [("note", note) for note in self.notes]
        shown = [*self._failing(), *(row for row in self.rows if row["status"] not in _FAILURES)]
        table = [[_case_name(row["dims"], row["dtype"]), row["status"], row["message"]] for row in shown]
        page = _workbench.report_card(self._name(), facts, [("case", False), ("", False), ("", False)], table, self.plot(), self.passed)
        if self.smallest is not None and self.smallest.report is not None:
            page += self.smallest.report._repr_mimebundle_()["text/html"]
        return {"text/plain": str(self), "text/html": page}

    def plot(self) -> Svg:
        """A cell for each case, coloured by its outcome, in the order checked and by dtype; failing ones first where there are very many.

        >>> import numpy as np, workbench as wb
        >>> source = "__global__ void copy(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
        >>> copy = wb.op("doc::copy_plot_sweep(Tensor x) -> Tensor", source, shape="x[n] -> y[n]", reference=lambda x: x)
        >>> wb.sweep(copy, [0, 1]).plot()
        <picture of ... bytes of SVG>
        """
        names = list(dict.fromkeys(name for row in self.rows for name in row["dims"]))
        failing = len(self._failing())
        caption = f"{plural(len(self.rows), 'case')}, {failing} {'fails' if failing == 1 else 'fail'}" + (f"; in a cell {' × '.join(names)}" if names else "")
        cases = []
        for row in self.rows:
            label = " × ".join(str(extent) for extent in row["dims"].values())
            tip = ": ".join(part for part in (_case_name(row["dims"], row["dtype"]), row["status"], row["message"]) if part)
            cases.append((row["dtype"] or "", label, row["status"], tip))
        return _workbench.case_picture(f"{self.name} over shapes and dtypes", caption, cases)

    _picture = plot

    def _name(self) -> str:
        return f"{self.name} over shapes and dtypes"

    def _table(self) -> Table:
        names = dict.fromkeys(name for row in self.rows for name in row["dims"])
        columns = columns_of({name: [row["dims"].get(name) for row in self.rows] for name in names}, SWEEP, "a dim")
        rows = [{**row, **{columns[name].name: scalar(extent) for name, extent in row["dims"].items()}} for row in self.rows]
        return Table([*columns.values(), *SWEEP], rows)

    def _json(self) -> str:
        smallest = self.smallest
        least = smallest and {
            "dims": smallest.dims,
            "dtype": smallest.dtype,
            "error": None if smallest.error is None else str(smallest.error),
            "report": None if smallest.report is None else json.loads(smallest.report.to_json()),
        }
        return json_text({"name": self.name, "passed": self.passed, "smallest": least, "wanted": self.wanted, "notes": self.notes, "rows": self.rows})


tell_columns(SweepReport, SWEEP, "Columns of its tables and of CSV: one for each dim (extents, lists of them for `*`), and")
