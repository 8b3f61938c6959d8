"""The work of a call: operations on floats, and bytes that move."""

from __future__ import annotations

from dataclasses import dataclass

from ._calls import clear_calls

__all__ = ["Work"]


@clear_calls
@dataclass(frozen=True)
class Work:
    """The work of one call of an operator, counted while its kernel ran; `op.work` gives it.

    >>> import workbench as wb
    >>> work = wb.Work(flops=2000, math_functions=0, bytes_read=4000, bytes_written=4000, bytes_accessed=8000, all_bytes_counted=True)
    >>> work.bytes, work.intensity
    (8000, 0.25)
    """

    #: Operations on floats: sums, differences, products, quotients and math functions one each, a multiply-add two. Comparisons, conversions,
    #: signs and rounding to whole numbers are none. Functions that are computed by others, and those of 16-bit floats, which are computed in
    #: `float`, count what they are computed by.
    flops: int
    #: Math functions among them, as `sqrtf` and `expf`.
    math_functions: int
    #: Bytes of the elements of arrays that were read, each element once; an array that is two arguments counts twice.
    bytes_read: int
    #: Bytes of the elements of arrays that were written, each element once.
    bytes_written: int
    #: Bytes that loads and stores asked arrays for, as often as they did.
    bytes_accessed: int
    #: False if some accesses went through pointers that come from no parameter of the kernel alone, so that the bytes are too few.
    all_bytes_counted: bool

    @property
    def bytes(self) -> int:
        """Bytes that have to move between memory and processor at least: those read and those written."""
        return self.bytes_read + self.bytes_written

    @property
    def intensity(self) -> float:
        """Operations on floats for each byte that has to move; infinite where none does."""
        return self.flops / self.bytes if self.bytes else float("inf")
