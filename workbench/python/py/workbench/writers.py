"""The threads that write an array: `op.writer_map`."""

from __future__ import annotations

import operator
from typing import Any, Sequence

import numpy as np

from ._workbench import NativeWriters, Svg
from .errors import make_argument_error
from .pickles import refuse
from .reports import Report, json_text, tell_columns
from .tables import Column, Table, place, place_columns

__all__ = ["WriterMap"]

#: The columns: a row for each element, in row-major order.
WRITERS = (
    Column("index", "integers", "place of the element"),
    *place_columns("block", "`blockIdx.{axis}` of the thread that wrote it; missing where nobody did"),
    *place_columns("thread", "`threadIdx.{axis}` of the thread that wrote it; missing where nobody did"),
)


class WriterMap(Report):
    """Which block and which thread wrote each element of an array; where several did, the last one. `name` is the array's, `shape` its extents, `block`
    the threads of a block (x, y, z). `others` are the maps of the other arrays that the call wrote, by their names.

    It shows itself as a picture of up to 24 x 64 elements: the first, or those around the first that nobody wrote. `.plot(at)` shows others.

    >>> import numpy as np, workbench as wb
    >>> twice = wb.op("doc::twice_writers(Tensor x) -> Tensor",
    ...               "__global__ void twice(const float* x, float* y, int n) "
    ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n - 1) y[i] = 2 * x[i]; }")
    >>> written = twice.writer_map(np.ones(300, np.float32))
    >>> written
    writers of the result, (300,): written by 2 blocks of (256, 1, 1) threads; 1 element unwritten, the first at [299]
    >>> written.blocks[[0, 298, 299], 0], written.threads[298]
    (array([ 0,  1, -1], dtype=int32), array([42,  0,  0], dtype=int32))
    """

    def __init__(self, native: NativeWriters, others: Sequence[NativeWriters] = ()) -> None:
        self._native = native
        self.name: str = native.name
        self.shape: tuple[int, ...] = tuple(native.shape)
        self.block: tuple[int, int, int] = tuple(native.block)
        self.others: dict[str, WriterMap] = {other.name: WriterMap(other) for other in others}
        records = np.frombuffer(native.records(), np.int32).reshape(*self.shape, 6)
        self._records = records

    __reduce__ = refuse

    @property
    def blocks(self) -> np.ndarray[Any, Any]:
        """`blockIdx` of the writer of each element, int32 of the array's shape and (x, y, z); -1 where nobody wrote."""
        return self._records[..., :3]

    @property
    def threads(self) -> np.ndarray[Any, Any]:
        """`threadIdx` of the writer of each element, as `blocks`."""
        return self._records[..., 3:]

    @property
    def unwritten(self) -> np.ndarray[Any, Any]:
        """True for each element that nobody wrote, of the array's shape."""
        return np.asarray(self._records[..., 0] < 0)

    def plot(self, at: int | Sequence[int] | None = None) -> Svg:
        """The picture of up to 24 x 64 elements from an index on: rows of 64 of one dimension, else rows and columns of a slice along the last two. By
        default these are the first, or, if nobody wrote some and all of these are further on, those around the first of them.

        Raises ArgumentError for an index that the array does not have.

        >>> import numpy as np, workbench as wb
        >>> twice = wb.op("doc::twice_window(Tensor x) -> Tensor",
        ...               "__global__ void twice(const float* x, float* y, int n) "
        ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }")
        >>> twice.writer_map(np.ones((500, 100), np.float32)).plot(at=(200, 0))
        <picture of ... bytes of SVG>
        """
        if at is None:
            return self._native.plot(None)
        index = tuple(at) if isinstance(at, (tuple, list)) else (at,)
        try:
            places = [operator.index(one) for one in index]
            wrapped = [one + extent if one < 0 else one for one, extent in zip(places, self.shape)]
            if len(places) != len(self.shape):
                raise ValueError
            return self._native.plot(int(np.ravel_multi_index(wrapped, self.shape)) if wrapped else 0)
        except (TypeError, ValueError):
            raise make_argument_error(f"at is {at!r}; an index of an array of shape {self.shape} is wanted") from None

    _picture = plot

    def _table(self) -> Table:
        rows = []
        for index in np.ndindex(self.shape):
            block, thread = self._records[index][:3].tolist(), self._records[index][3:].tolist()
            found = {} if block[0] < 0 else {**place("block", block), **place("thread", thread)}
            rows.append({"index": index, **found})
        return Table(WRITERS, rows)

    def _json(self) -> str:
        writers = [None if one[0] < 0 else {"block": one[:3], "thread": one[3:]} for one in self._records.reshape(-1, 6).tolist()]
        return json_text({"name": self.name, "shape": self.shape, "block": self.block, "writers": writers})

    def __repr__(self) -> str:
        flat = self._records.reshape(-1, 6)
        written = flat[flat[:, 0] >= 0]
        blocks = len(np.unique(written[:, :3], axis=0))
        text = f"writers of {self.name}, {self.shape}: written by {blocks} block{'' if blocks == 1 else 's'} of {self.block} threads"
        missing = len(flat) - len(written)
        if not missing:
            return text
        first = list(np.unravel_index(int(np.argmax(flat[:, 0] < 0)), self.shape)) if self.shape else []
        where = "[" + ", ".join(str(int(one)) for one in first) + "]"
        return f"{text}; {missing} element{'' if missing == 1 else 's'} unwritten, the first at {where}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.plot()._repr_html_() or ""}


tell_columns(WriterMap, WRITERS)
