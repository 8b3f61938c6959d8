"""What kernels print, on `sys.stdout`. A cell of a notebook shows a bounded part: Jupyter drops all output of a cell that prints too much too
fast, and a page with it is slow."""

from __future__ import annotations

import sys

from ._shell import running_shell

#: The lines and the characters of a cell's output that the page shows.
LINES = 1000
CHARACTERS = 100_000

#: The characters of a cell's output that are kept, at most.
KEPT = 1 << 26


class _Cell:
    """The output of the kernels of a cell, or of a process without cells."""

    def __init__(self, number: int | None) -> None:
        self.number = number
        self.texts: list[str] = []
        self.kept = 0
        self.lines = 0
        self.characters = 0
        self.is_cut = False

    def add(self, text: str) -> str:
        """Keeps a text, and gives the part of it that the page shows."""
        if self.kept < KEPT:
            self.texts.append(text)
            self.kept += len(text)
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


def write(text: str) -> None:
    """Writes what a kernel printed."""
    global _last
    out = sys.stdout
    # `sys.stdout` is None in a process without a console.
    if out is None:
        return
    number = _cell()
    if number is None or number != _last.number:
        _last = _Cell(number)
    shown = _last.add(text)
    out.write(text if number is None else shown)


def printed() -> str:
    """All that kernels printed in the last cell in which any did, as one text; outside of a notebook, what the last launch printed.

    A cell shows the first thousand lines, and says how many more the launch printed that reached them. 64 Mi characters are kept at most.

    >>> import workbench as wb
    >>> wb.compile('__global__ void hello() { printf("hello from %d\\\\n", threadIdx.x); }').hello[1, 2]()
    hello from 0
    hello from 1
    >>> wb.printed()
    'hello from 0\\nhello from 1\\n'
    """
    return "".join(_last.texts)


def _cell() -> int | None:
    """The number of the cell that runs, if the output goes to a page."""
    if not type(sys.stdout).__module__.startswith("ipykernel"):
        return None
    shell = running_shell()
    return None if shell is None else shell.execution_count
