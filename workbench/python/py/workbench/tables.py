"""Tables of reports: their columns, the DataFrames of pandas and polars, streams of Arrow, and comma-separated values.

A column has a kind, which fixes its type in every library, with zero rows as with many. What is missing is null in polars and Arrow, an empty cell
in CSV, and in pandas None among lists, NaN among floats, NA elsewhere.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import math
import warnings
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

__all__ = ["Column", "Table", "columns_of", "described", "place", "place_columns", "scalar"]


@dataclass(frozen=True)
class Kind:
    """A kind of column: in words, its dtype in pandas, its types in polars and in Arrow, and a value as all of them take it."""

    words: str
    pandas: Any
    polars: Callable[[Any], Any]
    arrow: Callable[[Any], Any]
    value: Callable[[Any], Any]


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def _ints(values: Any) -> list[int]:
    return [int(value) for value in (values if isinstance(values, (tuple, list)) else (values,))]


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values]


#: The kinds of columns. A question mark: values may be missing. Texts, floats and lists have one type for both.
KINDS = {
    "text": Kind("text", "string", lambda pl: pl.String, lambda pa: pa.string(), str),
    "number": Kind("float", "float64", lambda pl: pl.Float64, lambda pa: pa.float64(), float),
    "integer": Kind("int", "int64", lambda pl: pl.Int64, lambda pa: pa.int64(), int),
    "integer?": Kind("int", "Int64", lambda pl: pl.Int64, lambda pa: pa.int64(), int),
    "natural": Kind("int", "uint64", lambda pl: pl.UInt64, lambda pa: pa.uint64(), int),
    "natural?": Kind("int", "UInt64", lambda pl: pl.UInt64, lambda pa: pa.uint64(), int),
    "truth": Kind("bool", "bool", lambda pl: pl.Boolean, lambda pa: pa.bool_(), bool),
    "truth?": Kind("bool", "boolean", lambda pl: pl.Boolean, lambda pa: pa.bool_(), bool),
    "integers": Kind("list of ints", object, lambda pl: pl.List(pl.Int64), lambda pa: pa.list_(pa.int64()), _ints),
    "texts": Kind("list of texts", object, lambda pl: pl.List(pl.String), lambda pa: pa.list_(pa.string()), _texts),
    # Older versions of pandas know no other unit than nanoseconds.
    "time": Kind("time, UTC", "datetime64[ns, UTC]", lambda pl: pl.Datetime("us", "UTC"), lambda pa: pa.timestamp("us", "UTC"), _moment),
}

_LISTS = ("integers", "texts")


@dataclass(frozen=True)
class Column:
    """A column: its name, its kind, and what it holds, with the unit."""

    name: str
    kind: str
    what: str


@dataclass(frozen=True)
class Table:
    """Rows under columns. A row is a dict by the names of the columns; what it lacks is missing."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]

    def values(self, column: Column) -> list[Any]:
        """The values of a column as its kind has them.

        >>> Table((Column("x", "number", ""),), [{"x": 1}, {}]).values(Column("x", "number", ""))
        [1.0, None]
        """
        value = KINDS[column.kind].value
        given = (row.get(column.name) for row in self.rows)
        return [None if one is None else value(one) for one in given]

    def pandas(self) -> Any:
        """The DataFrame of pandas. Raises ImportError where pandas is not installed."""
        pandas = _library("pandas")
        series = {c.name: pandas.Series(self.values(c), dtype=KINDS[c.kind].pandas) for c in self.columns}
        return pandas.DataFrame(series, index=pandas.RangeIndex(len(self.rows)))

    def polars(self) -> Any:
        """The DataFrame of polars. Raises ImportError where polars is not installed."""
        polars = _library("polars")
        return polars.DataFrame([polars.Series(c.name, self.values(c), dtype=KINDS[c.kind].polars(polars)) for c in self.columns])

    def arrow(self) -> Any:
        """The table of pyarrow. Raises ImportError where pyarrow is not installed."""
        pyarrow = _library("pyarrow")
        arrays = [pyarrow.array(self.values(c), type=KINDS[c.kind].arrow(pyarrow)) for c in self.columns]
        return pyarrow.Table.from_arrays(arrays, names=[c.name for c in self.columns])

    def stream(self, requested_schema: Any = None) -> Any:
        """A stream of Arrow, by pyarrow or polars. Raises ImportError where neither is installed."""
        # The order: pyarrow's types are those that every reader of streams knows, and it casts to a schema that is asked for; polars has views of
        # texts, which newer readers alone know. pandas makes its streams by pyarrow, so that it adds nothing.
        for library, make in (("pyarrow", self.arrow), ("polars", self.polars)):
            frame = _made(library, make)
            if hasattr(frame, "__arrow_c_stream__"):
                return frame.__arrow_c_stream__(requested_schema)
        raise ImportError("a stream of Arrow is made by pyarrow or polars, and none is installed; `pip install pyarrow` installs one")

    def interchange(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        """The DataFrame of the interchange protocol, by pyarrow, pandas or polars. Raises ImportError where none has it."""
        flat = self.flat()
        # The order: pyarrow keeps NaN and null apart, which pandas does not among floats, and pandas means to leave the protocol; polars has left it.
        for library, make in (("pyarrow", flat.arrow), ("pandas", flat.pandas), ("polars", flat.polars)):
            frame = _made(library, make)
            if hasattr(type(frame), "__dataframe__"):
                with warnings.catch_warnings():
                    # The one who asks for the protocol is told by its own library that it is old.
                    warnings.filterwarnings("ignore", "The Dataframe Interchange Protocol is deprecated")
                    return frame.__dataframe__(nan_as_null=nan_as_null, allow_copy=allow_copy)
        raise ImportError("the interchange protocol is that of pyarrow or pandas, and none is installed; `pip install pyarrow` installs one")

    def flat(self) -> Table:
        """The table for forms that know no lists: they become their JSON.

        >>> Table((Column("at", "integers", ""),), [{"at": (0, 1)}]).flat().rows
        [{'at': '[0, 1]'}]
        """
        columns = [Column(c.name, "text", c.what) if c.kind in _LISTS else c for c in self.columns]
        rows = [dict(row) for row in self.rows]
        for column in (c for c in self.columns if c.kind in _LISTS):
            for row, value in zip(rows, self.values(column)):
                row[column.name] = None if value is None else json.dumps(value, ensure_ascii=False)
        return Table(columns, rows)

    def csv(self) -> str:
        """The table as comma-separated values (RFC 4180, with a line feed as the end of a line). Floats have all their digits and are `NaN`, `inf` and
        `-inf` where they are not finite, as pandas and polars read them; truth is `true` or `false`, lists are JSON, times ISO 8601.

        >>> print(Table((Column("x", "number", ""), Column("ok", "truth?", "")), [{"x": 0.1, "ok": True}, {"x": float("inf")}]).csv(), end="")
        x,ok
        0.1,true
        inf,
        """
        flat = self.flat()
        text = io.StringIO()
        written = csv.writer(text, lineterminator="\n")
        written.writerow([c.name for c in flat.columns])
        written.writerows(zip(*([_cell(value) for value in flat.values(c)] for c in flat.columns)))
        return text.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value)
    return str(value.isoformat() if isinstance(value, datetime) else value)


def place_columns(name: str, what: str) -> list[Column]:
    """The three columns of a place in CUDA's grid: `name_x`, `name_y` and `name_z`."""
    return [Column(f"{name}_{axis}", "integer?", what.format(axis=axis)) for axis in "xyz"]


def place(name: str, at: Sequence[int] | None) -> dict[str, int]:
    """The values of `place_columns`; none for a place that is not known."""
    return {f"{name}_{axis}": value for axis, value in zip("xyz", at or ())}


def _made(library: str, make: Callable[[], Any]) -> Any:
    """A frame; None where its library is not installed."""
    try:
        return make()
    except ImportError as error:
        if error.name != library:
            raise
        return None


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"{name} is not installed; `pip install {name}` installs it, and `.save` writes .csv and .json without it"
        raise ImportError(message, name=name) from None


def scalar(value: Any) -> Any:
    """A value as Python has it: NumPy's numbers become numbers, tuples become lists, types their names, and what is no value its text.

    >>> import numpy as np
    >>> scalar(np.uint64(2**64 - 1)), scalar((np.int8(1), 2)), scalar(np.float32)
    (18446744073709551615, [1, 2], 'float32')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, (tuple, list)):
        return [scalar(one) for one in value]
    return value.__name__ if isinstance(value, type) else str(value)


def columns_of(values: Mapping[str, Iterable[Any]], own: Sequence[Column], what: str, optional: bool = False) -> dict[str, Column]:
    """Columns for what has a name and values of any kind, such as the parameters of a tuning: of ints, floats, truth, lists of ints or texts, by
    the values. A name that one of the report's `own` columns has gets an underscore. `optional`: rows may lack them.

    >>> [column] = columns_of({"status": [1, 2]}, (Column("status", "text", ""),), "a value").values()
    >>> column.name, column.kind
    ('status_', 'integer')
    """
    taken = {column.name for column in own}
    columns = {}
    for name, several in values.items():
        column = name
        while column in taken:
            column += "_"
        taken.add(column)
        columns[name] = Column(column, _kind([scalar(value) for value in several], optional), what)
    return columns


def _kind(values: list[Any], optional: bool) -> str:
    known = [value for value in values if value is not None]
    mark = "?" if optional or len(known) < len(values) else ""
    kinds = {type(value) for value in known}
    ints = [value for value in known if type(value) is int]
    if kinds == {bool}:
        return f"truth{mark}"
    if kinds == {int} and all(-(1 << 63) <= value < 1 << 63 for value in ints):
        return f"integer{mark}"
    if kinds == {int} and all(0 <= value < 1 << 64 for value in ints):
        return f"natural{mark}"
    # A double holds no larger ones to the last digit.
    if float in kinds and kinds <= {int, float} and all(abs(value) <= 1 << 53 for value in ints):
        return "number"
    flat = [one for value in known for one in (value if type(value) is list else [value])]
    if list in kinds and all(type(one) is int and -(1 << 63) <= one < 1 << 63 for one in flat):
        return "integers"
    return "text"


def described(columns: Iterable[Column]) -> str:
    """The columns in words, a line for each.

    >>> described([Column("median", "number", "of a call, in seconds")])
    '- `median` (float): of a call, in seconds'
    """
    return "\n".join(f"- `{column.name}` ({KINDS[column.kind].words}): {column.what}" for column in columns)
