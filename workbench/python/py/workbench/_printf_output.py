"""What kernels print, on `sys.stdout`. A cell of a notebook shows a bounded part: Jupyter drops all output of a cell that prints too much too
fast, and a page with it is slow."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Sequence

from ._calls import clear_calls
from ._shell import running_shell

#: The lines and the characters of a cell's output that the page shows.
LINES = 1000
CHARACTERS = 100_000

#: The characters and the calls of printf of a cell that are kept: a launch is kept whole while there are fewer.
KEPT = 1 << 26
CALLS = 1 << 20

#: The bytes of a call's place: characters of its text, number of its kernel, block and thread, 32 bits each.
PLACE = 32


@dataclass(frozen=True)
class Output:
    """The output of one launch, or of one call of host code. `places` has `PLACE` bytes for each call of printf, in the order of their texts in
    `text`; `kernels` are the names that they number; `dropped` is the number of calls that the launch did not keep."""

    text: str
    places: bytes
    kernels: tuple[str, ...]
    dropped: int

    @property
    def calls(self) -> int:
        """The calls of printf that have a place."""
        return len(self.places) // PLACE


class _Cell:
    """The output of the kernels of a cell, or of a process without cells."""

    def __init__(self, number: int | None) -> None:
        self.number = number
        self.outputs: list[Output] = []
        self.kept = 0
        self.calls = 0
        #: The calls of printf of the launches that are not kept.
        self.lost = 0
        self.lines = 0
        self.characters = 0
        self.is_cut = False

    def add(self, output: Output) -> None:
        """Keeps an output, if there is room."""
        if self.kept < KEPT and self.calls < CALLS:
            self.outputs.append(output)
            self.kept += len(output.text)
            self.calls += output.calls
        else:
            self.lost += output.calls + output.dropped

    def shown(self, text: str) -> str:
        """The part of a text that the page shows."""
        shown: list[str] = []
        lines = text.splitlines(keepends=True)
        for line in lines:
            if self.lines >= LINES or self.characters + len(line) > CHARACTERS:
                break
            self.lines += 1
            self.characters += len(line)
            shown.append(line)
        if len(shown) < len(lines):
            # Lines after a hidden one are hidden, too. How many later launches print is not known yet.
            self.lines = LINES
            if not self.is_cut:
                hidden = len(lines) - len(shown)
                shown.append(f"[{hidden:,} more lines of this launch are not shown, nor those of later ones; wb.printed() has them]\n")
            self.is_cut = True
        return "".join(shown)


_last = _Cell(None)


def write(text: str, places: bytes, kernels: Sequence[str], dropped: int) -> None:
    """Writes what a launch printed, and keeps it; the native half calls it. The parts are those of `Output`."""
    global _last
    out = sys.stdout
    shell = running_shell()
    number = None if shell is None else shell.execution_count
    if number is None or number != _last.number:
        _last = _Cell(number)
    _last.add(Output(text, places, tuple(kernels), dropped))
    # `sys.stdout` is None in a process without a console.
    if out is not None:
        is_page = number is not None and type(out).__module__.startswith("ipykernel")
        out.write(_last.shown(text) if is_page else text)


def last() -> tuple[list[Output], int]:
    """The outputs of the last cell in which kernels printed, and the number of calls of printf that are in none of them because there was no
    room; outside of IPython those of the last launch that printed."""
    return list(_last.outputs), _last.lost


@clear_calls
def printed() -> str:
    """All that kernels printed in the last cell in which any did, as one text; outside of IPython, what the last launch printed.

    A cell of a notebook shows the first thousand lines, and says how many more the launch printed that reached them. A launch keeps its first 100,000
    calls of printf or 16 MiB, and says how many more there were; a cell's launches are kept until they have printed 64 Mi characters, or called
    printf 1 Mi times. `wb.printed_table()` has the same by kernel, block and thread.

    >>> import workbench as wb
    >>> wb.compile('__global__ void hello() { printf("hello from %d\\\\n", threadIdx.x); }').hello[1, 2]()
    hello from 0
    hello from 1
    >>> wb.printed()
    'hello from 0\\nhello from 1\\n'
    """
    return "".join(output.text for output in _last.outputs)
