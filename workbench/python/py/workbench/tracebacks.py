"""Tracebacks in notebooks: an exception is shown with the frames of the user's code, down to the call of ours; our own say nothing about it,
nor do those of `pathlib`, with which we write files.

IPython draws every SyntaxError as Python's own, with one line of text; a `CompileError` is drawn with all of its messages."""

from __future__ import annotations

import os
import pathlib
from types import TracebackType
from typing import Any

from ._shell import running_shell
from .errors import CompileError

#: The exceptions that are drawn here.
SHOWN = (Exception, KeyboardInterrupt)

#: What the names of our files begin with.
_PACKAGE = str(pathlib.Path(__file__).parent) + os.sep


def without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without frames of this package, and without frames of `pathlib` at its end; as it is where there are no others."""
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    kept = [entry for entry in entries if not entry.tb_frame.f_code.co_filename.startswith(_PACKAGE)]
    # The native half calls it without a frame of ours before it.
    while len(kept) > 1 and kept[-1].tb_frame.f_globals.get("__name__", "").partition(".")[0] == "pathlib":
        kept.pop()
    made = None
    for entry in reversed(kept or entries):
        made = TracebackType(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made


def show(shell: Any, etype: type[BaseException], value: BaseException, traceback: TracebackType | None, tb_offset: int | None = None) -> None:
    """Draws an exception in the cell; a handler for `InteractiveShell.set_custom_exc`."""
    if isinstance(value, CompileError):
        shell._showtraceback(etype, value, value._render_traceback_())
    else:
        # A cell that is no Python fails before IPython's `run_code` runs it, and is drawn without frames.
        runs = traceback is not None and traceback.tb_frame.f_code.co_name == "run_code"
        shell.showtraceback((etype, value, without_ours(traceback)), tb_offset=tb_offset, running_compiled_code=runs)


def install(shell: Any) -> None:
    """Draws the exceptions of a shell's cells, if nobody else does."""
    if not shell.custom_exceptions:
        shell.set_custom_exc(SHOWN, show)


def install_here() -> None:
    """Draws the exceptions of the notebook or terminal that imports the package, if it is one."""
    shell = running_shell()
    if shell is not None:
        install(shell)


def uninstall(shell: Any) -> None:
    """Takes it back."""
    if shell.custom_exceptions == SHOWN:
        shell.set_custom_exc((), None)
