"""CUDA C++ in cells of a notebook: the body of a `%%kernel` cell, and strings that hold CUDA C++."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Iterator

__all__ = ["CudaText", "cuda_texts"]

#: Magics whose cells are CUDA C++.
MAGICS = ("%%kernel", "%%cuda")

_MAGIC = re.compile(r"\s*(%%\w+)([^\n]*)(?:\n|$)")
_DEFINE = re.compile(r"(?<!\S)-D\s*([A-Za-z_]\w*)(?:=(\"[^\"]*\"|'[^']*'|\S*))?")
_STRING = re.compile(r"#[^\n]*|(?P<prefix>(?<!\w)[A-Za-z]{0,2})(?P<quotes>\"\"\"|'''|\"|')")
_CUDA = re.compile(r"__global__|__device__|__shared__|\bTORCH_LIBRARY|\bPYBIND11_MODULE|\btorch::Tensor|#\s*include\b")
_COMPILE = re.compile(r"(?:\bcompile\s*\(|\bsource\s*=)\s*$")
_ARGUMENT = re.compile(r"\b(?:compile|load_inline|op)\s*\(\s*$|\b(?:cuda_sources?|cpp_sources?|source)\s*=\s*\[?\s*$")


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
        if magic[1] not in MAGICS:
            return []
        defines = {name: value.strip("\"'") or "1" for name, value in _DEFINE.findall(magic[2])}
        return [CudaText(magic.end(), len(cell), True, defines)]
    return list(_strings(cell))


def _strings(cell: str) -> Iterator[CudaText]:
    at = 0
    while (found := _STRING.search(cell, at)) is not None:
        at = found.end()
        quotes = found["quotes"]
        if quotes is None:
            continue
        start = at
        # What ends the string; one line's string may lack its end, as may the last of a cell that is being written.
        close = re.compile(r"(?:\\.|[^\\])*?" + (quotes if len(quotes) == 3 else f"(?:{quotes}|(?=\\n))"), re.DOTALL)
        ended = close.match(cell, start)
        at = ended.end() if ended else len(cell)
        end = at - len(quotes) if ended and cell.endswith(quotes, start, at) else at
        if "f" in found["prefix"].lower() or "b" in found["prefix"].lower():
            continue
        before = cell[: found.start()]
        if _CUDA.search(cell, start, end) or _ARGUMENT.search(before) and len(quotes) == 3:
            yield CudaText(start, end, bool(_COMPILE.search(before)))
