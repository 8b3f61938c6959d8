"""Tables of reports, as the DataFrames of pandas and polars."""

from __future__ import annotations

import importlib
from dataclasses import asdict, fields
from typing import Any, Mapping, Sequence

__all__ = ["mismatches_to_pandas", "mismatches_to_polars", "printed_to_pandas", "printed_to_polars", "to_pandas", "to_polars"]

#: The columns of a benchmark: numbers in seconds, and counts.
_TIMES = ("name", "size", "median", "low", "high", "mean", "min", "max", "samples", "batch", "bytes", "flops")

#: The columns of what kernels printed.
_PRINTED = ["kernel", "block", "thread", "text"]


def to_pandas(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A DataFrame of the rows of a benchmark. Raises ImportError where pandas is not installed."""
    return _library("pandas").DataFrame({name: [row[name] for row in rows] for name in _TIMES})


def to_polars(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A DataFrame of the rows of a benchmark. Raises ImportError where polars is not installed."""
    return _library("polars").DataFrame({name: [row[name] for row in rows] for name in _TIMES})


def mismatches_to_pandas(mismatches: Sequence[Any]) -> Any:
    """A DataFrame of the mismatches of a check, with its columns where there are none. Raises ImportError where pandas is not installed."""
    return _library("pandas").DataFrame([asdict(one) for one in mismatches], columns=_names_of_mismatches())


def mismatches_to_polars(mismatches: Sequence[Any]) -> Any:
    """A DataFrame of the mismatches of a check: places, blocks and threads as lists. Raises ImportError where polars is not installed."""
    polars = _library("polars")
    places = polars.List(polars.Int64)
    kinds = {"output": polars.String, "index": places, "block": places, "thread": places, "unwritten": polars.Boolean}
    columns = {name: [_list(getattr(one, name)) for one in mismatches] for name in _names_of_mismatches()}
    return polars.DataFrame(columns, schema={name: kinds.get(name, polars.Float64) for name in columns})


def printed_to_pandas(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A DataFrame of the rows of a `PrintedTable`, with its columns where there are none. Raises ImportError where pandas is not installed."""
    return _library("pandas").DataFrame({name: [row[name] for row in rows] for name in _PRINTED}, columns=_PRINTED)


def printed_to_polars(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A DataFrame of the rows of a `PrintedTable`: blocks and threads as lists. Raises ImportError where polars is not installed."""
    polars = _library("polars")
    places = polars.List(polars.Int64)
    kinds = {"kernel": polars.String, "block": places, "thread": places, "text": polars.String}
    return polars.DataFrame({name: [_list(row[name]) for row in rows] for name in _PRINTED}, schema=kinds)


def _list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _names_of_mismatches() -> list[str]:
    from .operators import Mismatch

    return [field.name for field in fields(Mismatch)]


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(f"{name} is not installed; `pip install {name}` installs it, and .rows and .mismatches need no library") from None
