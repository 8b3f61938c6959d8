"""The line that tells how far a long measurement is: in a notebook a display that is updated, in a terminal a line that is written again."""

from __future__ import annotations

import html
import sys
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ._shell import running_shell
from ._workbench import BenchReport, format_count, format_seconds

#: The facts that a sweep tells: sizes done, sizes, the size being measured, seconds since the beginning, its medians by contestant, the report so far.
Tell = Callable[[int, int, int, float, "list[tuple[str, float]]", BenchReport], None]


def line_of(done: int, sizes: int, size: int, elapsed: float, medians: list[tuple[str, float]]) -> str:
    """The line: `4 Ki  7/13 sizes  mine 4.30 us  numpy 7.80 us  about 6 s left`."""
    parts = [format_count(size), f"{done}/{sizes} sizes"]
    parts += [f"{name} {format_seconds(median)}" for name, median in medians if median > 0]
    if done:
        parts.append(f"about {max(elapsed / done * (sizes - done), 1):.0f} s left")
    else:
        parts.append(f"{elapsed:.0f} s so far")
    return "  ".join(parts)


class _Notebook:
    """A display of the running cell."""

    def __init__(self) -> None:
        self.handle: Any = None

    def show(self, line: str, report: BenchReport | None) -> None:
        from IPython.display import HTML, DisplayHandle

        grows = report is not None and len({row["size"] for row in report.rows}) > 1
        picture = report.plot()._repr_html_() or "" if report is not None and grows else ""
        shown = HTML(f'<div class="wb-progress" style="white-space:pre-wrap">{html.escape(line)}</div>{picture}')
        if self.handle is None:
            self.handle = DisplayHandle()
            self.handle.display(shown)
        else:
            self.handle.update(shown)

    def close(self) -> None:
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))


class _Terminal:
    """The last line of a terminal."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.is_shown = False

    def show(self, line: str, report: BenchReport | None) -> None:
        self.stream.write(f"\r{line}\x1b[K")
        self.stream.flush()
        self.is_shown = True

    def close(self) -> None:
        if self.is_shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def _place() -> _Notebook | _Terminal | None:
    shell = running_shell()
    if getattr(shell, "kernel", None) is not None:
        return _Notebook()
    stream = sys.stderr
    return _Terminal(stream) if stream is not None and stream.isatty() else None


@contextmanager
def progress_text() -> Iterator[Callable[[str], None]]:
    """The function by which other work shows a line of progress, while the block runs, from its second second on; it does nothing where nobody looks."""
    place, begun = _place(), time.monotonic()

    def tell(line: str) -> None:
        if place is not None and time.monotonic() - begun > 1:
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

    def tell(done: int, sizes: int, size: int, elapsed: float, medians: list[tuple[str, float]], report: BenchReport) -> None:
        place.show(line_of(done, sizes, size, elapsed, medians), report)

    try:
        yield tell
    finally:
        place.close()
