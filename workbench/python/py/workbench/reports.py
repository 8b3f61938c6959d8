"""Forms of a report that all kinds share: tables for other libraries, JSON, and files."""

from __future__ import annotations

import html
import inspect
import itertools
import json
import math
import os
import pathlib
import textwrap
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping

from . import _workbench
from ._calls import clear_calls
from .errors import make_argument_error
from .tables import Column, Table, described, scalar

if TYPE_CHECKING:
    from ._workbench import CheckReport, Svg

__all__ = ["Report", "first_fact", "folded", "json_text", "plain", "tell_columns"]

#: The grounds of a picture in a file.
PAGES = ("light", "dark", None)
#: The endings of files that a report is written to.
ENDINGS = (".json", ".csv", ".svg", ".png", ".html", ".txt")


@clear_calls
class Report:
    """The half of a report that makes tables and files of it. The other half has `_table`, `_json` and `_repr_mimebundle_`; `_title` and
    `_picture`, if they are to be others than those here."""

    #: The rows under their columns.
    _table: Callable[[], Table]
    #: All of it as JSON.
    _json: Callable[[], str]
    _repr_mimebundle_: Callable[..., dict[str, str]]

    def _name(self) -> str:
        """The name of its page: the first line of its text."""
        return next(iter(str(self).strip().splitlines()), type(self).__name__)

    def _picture(self) -> Svg:
        """The picture of its file: its text, where it has no plot."""
        return _workbench.text_picture(self._name(), str(self))

    def _file_html(self) -> str:
        """Its card in a file."""
        return self._repr_mimebundle_()["text/html"]

    def _file_text(self) -> str:
        """Its text in a file."""
        return str(self)

    def to_pandas(self) -> Any:
        """The rows as a DataFrame of pandas. The docstring of the report's class has the columns; they have the same types with zero rows as with many.
        Indices and other tuples are lists, as in polars. What is missing is NA, among floats NaN. Raises ImportError where pandas is not installed.

        >>> import numpy as np, workbench as wb
        >>> wb.check(np.sqrt, lambda x: x + 1, np.ones(3)).to_pandas()["index"].tolist()  # doctest: +SKIP
        [[0], [1], [2]]
        """
        return self._table().pandas()

    def to_polars(self) -> Any:
        """The rows as a DataFrame of polars, with the columns of `to_pandas`. What is missing is null. Raises ImportError where polars is not installed.

        >>> import numpy as np, workbench as wb
        >>> wb.check(np.sqrt, lambda x: x + 1, np.ones(3)).to_polars()["want"].to_list()  # doctest: +SKIP
        [2.0, 2.0, 2.0]
        """
        return self._table().polars()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows as a stream of Arrow (its PyCapsule interface), so that `polars.DataFrame(report)`, `pyarrow.table(report)` and DuckDB take a
        report. Made by pyarrow or polars, which one is installed; ImportError where neither is."""
        return self._table().stream(requested_schema)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        """The rows by the DataFrame interchange protocol, for `pandas.api.interchange.from_dataframe(report)` and others. The protocol knows no lists:
        they are texts, as in CSV. pandas reads a missing truth as False there. Made by pyarrow or pandas, which one is installed; ImportError
        where neither is."""
        return self._table().interchange(nan_as_null, allow_copy)

    def to_json(self) -> str:
        """All of the report as JSON (RFC 8259). Numbers that are not finite, for which JSON has no form, are the texts "NaN", "Infinity" and "-Infinity",
        which Python's `float` reads; integers have all their digits; what is missing is null.

        >>> import json, numpy as np, workbench as wb
        >>> report = wb.check(lambda x: x, lambda x: x + np.inf, np.ones(1))
        >>> json.loads(report.to_json())["outputs"][0]["comparison"]["max_abs"]
        'Infinity'
        """
        return self._json()

    def save(self, path: str | os.PathLike[str], *, page: str | None = "light") -> None:
        """Writes the report to one file, by the ending of its path, capital or small: all of it to `.json` (as `to_json`), the rows for other programs to
        `.csv`, the picture to `.svg` or `.png`, its card as a page by itself to `.html`, its text to `.txt`.

        In CSV what is missing is an empty cell, floats are NaN, inf or -inf where they are not finite, lists are JSON, times are ISO 8601. A
        report that has nothing to draw has a picture of its text. PNG needs the package `resvg-py`. `page` is the ground of a picture: "light" (white)
        or "dark"; None leaves it transparent, in middle tones for either.

        Raises ArgumentError for any other ending or page, ImportError where the package is missing, and OSError if the file cannot be written.

        >>> import pathlib, tempfile, numpy as np, workbench as wb
        >>> report = wb.check(np.sqrt, lambda x: x + 1, np.ones(2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "report.csv"
        ...     report.save(path)
        ...     path.read_text(encoding="utf-8").splitlines()[1]
        'output 0,[0],1.0,2.0,1.0,0.5,4503599627370496.0,,,,,,,false,false'
        """
        path = pathlib.Path(path)
        ending = path.suffix.lower()
        if page not in PAGES:
            raise make_argument_error(f'page is {page!r}; it is one of "light", "dark", or None')
        if ending == ".json":
            text = self._json() + "\n"
        elif ending == ".csv":
            text = self._table().csv()
        elif ending in (".svg", ".png"):
            self._picture().save(path, page=page)
            return
        elif ending == ".html":
            text = _page(self._name(), self._file_html())
        elif ending == ".txt":
            text = self._file_text().rstrip("\n") + "\n"
        else:
            raise make_argument_error(f"`{path}` ends in none of {', '.join(f'`{one}`' for one in ENDINGS)}")
        # Bytes keep the ends of lines on every system. What is no character of UTF-8, half a pair of UTF-16, is escaped, in JSON by its own rule.
        path.write_bytes(text.encode("utf-8", "backslashreplace"))


def folded(line: str) -> str:
    """A line of a report as lines of at most 80 columns, broken between words; those after the first are indented by four more.

    >>> print(folded("  " + "word " * 17))
      word word word word word word word word word word word word word word word
          word word
    """
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    options: dict[str, bool] = {"break_long_words": False, "break_on_hyphens": False, "replace_whitespace": False, "expand_tabs": False}
    return "\n".join(textwrap.wrap(line, 80, subsequent_indent=indent, **options)) if len(line) > 80 else line


def first_fact(report: CheckReport) -> str:
    """The first fact of a check that failed, without the tolerance: a sentence, which the text of the report breaks into lines."""
    first, *others = [*str(report).splitlines()[1:], ""]
    more = itertools.takewhile(lambda line: line.startswith("      "), others)
    return " ".join(line.strip() for line in (first, *more)).partition(" (rtol")[0]


def _page(title: str, card: str) -> str:
    head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="color-scheme" content="light dark">\n'
    return f"{head}<title>{html.escape(title)}</title>\n{card}\n</html>\n"


def plain(value: Any) -> Any:
    """A value as JSON has it, by the rule of `Report.to_json`.

    >>> plain({"a": (1, float("-inf"))})
    {'a': [1, '-Infinity']}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    value = scalar(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def json_text(value: Any) -> str:
    """The JSON of a value, by the rule of `Report.to_json`."""
    return json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False)


def tell_columns(report: type, columns: Iterable[Column], lead: str = "Columns of its tables and of CSV:") -> None:
    """Adds the columns to the docstring of a report's class."""
    report.__doc__ = f"{inspect.cleandoc(report.__doc__ or '')}\n\n{lead}\n\n{described(columns)}\n"
