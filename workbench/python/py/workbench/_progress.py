"""The line that tells how far a long measurement is: in a notebook a display that is updated, in marimo a spinner, in a terminal a line that is
written again."""

from __future__ import annotations

import html
import os
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import Any, Callable, Iterator

from ._shell import running_shell
from ._workbench import BenchReport

#: A sweep's progress: the line, and the report so far.
Tell = Callable[[str, BenchReport], None]


class _Notebook:
    """A display of the running cell."""

    def __init__(self) -> None:
        self.handle: Any = None

    def show(self, line: str, report: BenchReport | None) -> None:
        from IPython.display import DisplayHandle

        grows = report is not None and len({row["size"] for row in report.rows}) > 1
        picture = report.plot()._repr_html_() or "" if report is not None and grows else ""
        page = f'<div class="wb-progress" style="white-space:pre-wrap">{html.escape(line)}</div>{picture}'
        shown = {"text/plain": line, "text/html": page}
        if self.handle is None:
            self.handle = DisplayHandle()
            self.handle.display(shown, raw=True)
        else:
            self.handle.update(shown, raw=True)

    def close(self) -> None:
        if self.handle is not None:
            # The text form goes as well: a terminal shows that one.
            self.handle.update({"text/plain": "", "text/html": ""}, raw=True)


class _Marimo:
    """A spinner of marimo's, above the output of the cell that runs."""

    def __init__(self, marimo: Any) -> None:
        self.marimo = marimo
        self.spinner: Any = None
        self.stack = ExitStack()

    def show(self, line: str, report: BenchReport | None) -> None:
        if self.spinner is None:
            self.spinner = self.stack.enter_context(self.marimo.status.spinner(title=line, remove_on_exit=True))
        else:
            self.spinner.update(title=line)

    def close(self) -> None:
        self.stack.close()


class _Terminal:
    """The last line of a terminal."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.is_shown = False

    def show(self, line: str, report: BenchReport | None) -> None:
        try:
            # A line that is wider leaves its first row behind.
            line = line[: os.get_terminal_size(self.stream.fileno()).columns - 1]
        except (OSError, ValueError, AttributeError):
            pass
        self.stream.write(f"\r{line}\x1b[K")
        self.stream.flush()
        self.is_shown = True

    def close(self) -> None:
        if self.is_shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def _place() -> _Notebook | _Marimo | _Terminal | None:
    shell = running_shell()
    if getattr(shell, "kernel", None) is not None:
        return _Notebook()
    marimo = sys.modules.get("marimo")
    if marimo is not None and getattr(marimo, "running_in_notebook", lambda: False)():
        return _Marimo(marimo)
    stream = sys.stderr
    return _Terminal(stream) if stream is not None and stream.isatty() else None


@contextmanager
def progress_text(expected: float = 0) -> Iterator[Callable[[str], None]]:
    """The function by which other work shows a line of progress, while the block runs; it does nothing where nobody looks. The line is there from
    the start where more than a second is `expected`, else from the second second on."""
    place, begun = _place(), time.monotonic()

    def tell(line: str) -> None:
        if place is not None and (expected > 1 or time.monotonic() - begun > 1):
            place.show(line, None)

    try:
        yield tell
    finally:
        if place is not None:
            place.close()


@contextmanager
def progress_line() -> Iterator[Tell | None]:
    """The function by which a sweep tells its progress, while the block runs; None where nobody looks."""
    place = _place()
    if place is None:
        yield None
        return

    try:
        yield place.show
    finally:
        place.close()
