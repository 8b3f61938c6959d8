"""The options of `%kernel_printf`, which shows what kernels printed by kernel, block and thread."""

from __future__ import annotations

import re
from typing import Any, Callable

from IPython.core.error import UsageError

from .magic_options import Fill, Parser

__all__ = ["indices", "printf_parser"]

_EXAMPLES = """
examples:
  %kernel_printf                        all that the last cell with output printed
  %kernel_printf --block 0              of the blocks whose x is 0
  %kernel_printf --thread 3,1           of the threads whose x is 3 and y is 1, in every block
  %kernel_printf --thread 0:32          of the first warp; --thread :,0 of the first row
  %kernel_printf --kernel relu --contains nan
"""
_INDEX = re.compile(r"\d+")
_RANGE = re.compile(r"(\d*):(\d*)(?::(\d+))?")


def printf_parser(fill: Fill | None = None) -> Parser:
    """The options of `%kernel_printf`."""
    does = "Shows who printed what in the last cell in which kernels did: one row for each call of printf. wb.printed_table() gives it as an object."
    parser = Parser("%kernel_printf", does, "", fill, examples=_EXAMPLES)

    def places(option: str) -> Callable[[str], Any]:
        return lambda word: indices(parser.text(word), option)

    what = "of x, or of x,y or x,y,z: each a number, a range such as 0:4 (its end is not in it) or : for all"
    parser.add_argument("--block", type=places("--block"), metavar="B", help=f"blocks with these indices, {what}")
    parser.add_argument("--thread", type=places("--thread"), metavar="T", help=f"threads with these indices in their block, {what}")
    parser.add_argument("--kernel", type=parser.text, metavar="NAME", help="calls in this kernel; the name of a template stands for all its instances")
    parser.add_argument("--contains", type=parser.text, metavar="TEXT", help="calls that printed this text, or text with it inside")
    return parser


def indices(text: str, option: str) -> tuple[int | slice | None, ...]:
    """A filter of places, as `wb.printed_table` takes it.

    >>> indices("3,0:4", "--thread")
    (3, slice(0, 4, None))
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise UsageError(f"{option} {text}: one to three indices are wanted, of x, y and z")
    return tuple(_index(part, f"{option} {text}") for part in parts)


def _index(part: str, label: str) -> int | slice | None:
    if part == ":":
        return None
    if _INDEX.fullmatch(part):
        return int(part)
    found = _RANGE.fullmatch(part)
    if found is None:
        what = f"`{part}` is no index" if part else "an index is missing"
        raise UsageError(f"{label}: {what}; write 3, or 3,1 for x and y, or 0:4 for a range")
    start, stop, step = (int(number) if number else None for number in found.groups())
    if step == 0 or stop is not None and stop <= (start or 0):
        raise UsageError(f"{label}: no index is in {part}; the smaller one comes first, and the last is not in it")
    return slice(start, stop, step)
