"""CUDA C++ in cells of a notebook: the body of a `%%kernel` cell, and strings that hold CUDA C++."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Container, Iterator

__all__ = ["CudaText", "MagicLine", "cuda_texts", "magic_line_at", "whole_line"]

#: Magics whose cells are CUDA C++, and those whose cells are Python.
MAGICS = ("%%kernel", "%%cuda")
PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")

#: A magic with its line, which goes on after a backslash at its end.
_MAGIC = re.compile(r"\s*(%%\w+)((?:[^\n]*\\[ \t]*\n)*[^\n]*)(?:\n|$)")
#: A line magic with its line, whose result may be given a name.
_LINE_MAGIC = re.compile(r"[ \t]*(?:[A-Za-z_]\w*[ \t]*=[ \t]*)?(%\w+)((?:[^\n]*\\[ \t]*\n)*[^\n]*)")
_CONTINUATION = re.compile(r"\\[ \t]*(?:\n|$)")
_STRING = re.compile(r"#[^\n]*|(?P<prefix>(?<!\w)[A-Za-z]{0,2})(?P<quotes>\"\"\"|'''|\"|')")
_ENDS = {quotes: re.compile(rf"(?:\\.|[^\\])*?(?:{quotes}|(?=\n))" if len(quotes) == 1 else rf"(?:\\.|[^\\])*?{quotes}", re.DOTALL) for quotes in ('"""', "'''", '"', "'")}
_CUDA = re.compile(
    r"__global__|__device__|__shared__|\bTORCH_LIBRARY|\bPYBIND11_MODULE|\btorch::Tensor|^[ \t]*#[ \t]*include[ \t]*[<\"][\w/.]+[>\"]", re.MULTILINE
)
_COMPILE = re.compile(r"\b(?:wb|workbench)\.compile\s*\(\s*$")
_ARGUMENT = re.compile(r"\b(?:(?:wb|workbench)\.(?:compile|op|load_inline)|load_inline)\s*\(\s*$|\b(?:cuda_sources?|cpp_sources?)\s*=\s*\[?\s*$")
#: The number of characters in front of a string that tell what it is an argument of.
_LOOK_BACK = 200


@dataclass(frozen=True)
class CudaText:
    """CUDA C++ at `cell[start:end]`. With `is_whole` it is compiled as it stands there, so what is wrong with it can be told."""

    start: int
    end: int
    is_whole: bool
    defines: dict[str, str] = field(default_factory=dict)


def cuda_texts(cell: str) -> list[CudaText]:
    """The CUDA C++ of a cell, in order."""
    magic = _MAGIC.match(cell)
    if magic is not None:
        if magic[1] in MAGICS:
            defines = _defines(" ".join(_CONTINUATION.split(magic[2])))
            # Values of the notebook are filled in when the cell runs.
            is_known = not any(mark in value for value in defines.values() for mark in "{$")
            return [CudaText(magic.end(), len(cell), is_known, defines)]
        if magic[1] not in PYTHON_MAGICS:
            return []
    return list(_strings(cell))


@dataclass(frozen=True)
class MagicLine:
    """The line of a magic, `%%kernel` or `%kernel_check`: what stands behind its name is `cell[start:end]`."""

    magic: str
    start: int
    end: int


def magic_line_at(cell: str, offset: int, magics: Container[str]) -> MagicLine | None:
    """The line of one of these magics that a place is in, from its name to its last character; None elsewhere.

    >>> magic_line_at("x = 1\\n%kernel_ir relu", 18, ["%kernel_ir"])
    MagicLine(magic='%kernel_ir', start=16, end=21)
    """
    first = _MAGIC.match(cell)
    if first is not None and first[1] not in PYTHON_MAGICS:
        found = first
    else:
        start = cell.rfind("\n", 0, offset) + 1
        # A line goes on after a backslash.
        while start and cell[:start - 1].rstrip(" \t").endswith("\\"):
            start = cell.rfind("\n", 0, start - 1) + 1
        line = _LINE_MAGIC.match(cell, start)
        if line is None:
            return None
        found = line
    is_there = found[1] in magics and found.start(1) <= offset <= found.end(2)
    return MagicLine(found[1], found.end(1), found.end(2)) if is_there else None


def whole_line(line: str, cell: str) -> tuple[str, str]:
    """The line of a magic with those that it goes on in, each after a backslash, and the cell with empty lines in their place."""
    taken = 0
    while line.rstrip(" \t").endswith("\\") and cell:
        more, _, cell = cell.partition("\n")
        line, taken = f"{line.rstrip()[:-1]} {more}", taken + 1
    return line, "\n" * taken + cell


def _defines(line: str) -> dict[str, str]:
    """The macros that the options of a magic's line define."""
    from IPython.core.error import UsageError

    from .magic_options import macro_of, split_line
    from .magic_tuning import parameter
    from .tuning_worker import macros_of

    defines: dict[str, str] = {}
    try:
        words = iter(split_line(line, ""))
        for word in words:
            if word.startswith("-D"):
                name, value = macro_of(word[2:] or next(words, ""))
                defines[name] = value
            elif word == "--tune" or word.startswith("--tune="):
                # The cell is compiled with the first values.
                name, values = parameter(word[len("--tune=") :] or next(words, ""))
                defines |= macros_of(None, {name: values[0]})
            elif word.startswith("--") and "=" not in word:
                # Options take a value, which may look like anything.
                next(words, None)
    except UsageError:
        # A line that is being written.
        pass
    return defines


def _strings(cell: str) -> Iterator[CudaText]:
    at = 0
    while (found := _STRING.search(cell, at)) is not None:
        at = found.end()
        quotes = found["quotes"]
        if quotes is None:
            continue
        start = at
        # The end of the string; one line's string may lack it, as may the last of a cell that is being written.
        ended = _ENDS[quotes].match(cell, start)
        at = ended.end() if ended else len(cell)
        is_closed = ended is not None and cell.endswith(quotes, start, at)
        end = at - len(quotes) if is_closed else at
        if "f" in found["prefix"].lower() or "b" in found["prefix"].lower():
            continue
        before = cell[max(0, found.start() - _LOOK_BACK) : found.start()]
        if _CUDA.search(cell[start:end]) or len(quotes) == 3 and _ARGUMENT.search(before):
            # Options that follow, other pieces of the text, and escapes change what is compiled.
            is_raw = "r" in found["prefix"].lower() or "\\" not in cell[start:end]
            is_alone = is_closed and re.compile(r"\s*\)").match(cell, at) is not None
            yield CudaText(start, end, bool(_COMPILE.search(before)) and is_alone and is_raw)
