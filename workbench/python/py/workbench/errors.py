"""Errors, as exceptions that draw themselves.

`CompileError` is for errors in a text, `KernelFault` and `KernelTimeout` for launches, `ArgumentError` for an argument that does
not fit, `DeviceUnavailable` for a missing GPU, driver or library. The native half raises them through the `make_*` functions.
"""

from __future__ import annotations

import html as _html
import re
from dataclasses import dataclass, field
from typing import Any, Iterable

__all__ = [
    "ArgumentError",
    "CompileError",
    "DeviceUnavailable",
    "Diagnostic",
    "ExtensionError",
    "KernelFault",
    "KernelTimeout",
    "last_error",
]

_last: BaseException | None = None


@dataclass(frozen=True)
class Diagnostic:
    """One message about a place in a text.

    `line` and `column` count from 1, `end` is the (line, column) behind the last character; all three are None for a
    message about no place. `code` is stable, `help` says what to write instead, `text` is the line itself.

    >>> import workbench as wb
    >>> try:
    ...     wb.compile("__global__ void k(int* x) { x[0] = y; }")
    ... except wb.CompileError as e:
    ...     d = e.diagnostics[0]
    >>> d.code, d.severity, d.line
    ('WB0301', 'error', 1)
    """

    code: str
    severity: str
    message: str
    line: int | None = None
    column: int | None = None
    end: tuple[int, int] | None = None
    help: str | None = None
    label: str = ""
    file: str | None = None
    text: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line is not None else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}"


class _Drawn:
    """The display of our exceptions: the rendered text, without Python's frames, which say nothing about it."""

    rendered: str
    html: str = ""

    def _render_traceback_(self) -> list[str]:
        # The class says what the text begins with: `CompileError[WB0303]: ...`, `KernelFault: out-of-bounds ...`.
        name, text = _public_name(self), self.rendered
        if text.startswith("error["):
            return [name + text.removeprefix("error")]
        return [f"{name}: {text.removeprefix('kernel fault: ')}"]

    def _repr_html_(self) -> str:
        if self.html:
            return self.html
        name, text = _html.escape(_public_name(self)), _html.escape(self.rendered)
        return f'<pre class="workbench-error"><b>{name}</b>\n{text}</pre>'


def _public_name(error: BaseException) -> str:
    """The name of an exception as people know it: `IndexError` for one that is an ExtensionError, too."""
    return type(error).__name__.removeprefix("_Extension")


class CompileError(_Drawn, SyntaxError, RuntimeError):
    """A text does not compile; `.diagnostics` lists every message, `str()` renders them with the line and a caret. A RuntimeError too,
    which torch's `load_inline` raises.

    >>> import workbench as wb
    >>> try:
    ...     wb.compile("__global__ void k(int* x) { x[0] = ; }")
    ... except wb.CompileError as e:
    ...     print(e.lineno, len(e.diagnostics))
    1 1
    """

    def __init__(self, rendered: str, diagnostics: Iterable[Diagnostic] = (), html: str = "") -> None:
        self.rendered, self.html = rendered, html
        self.diagnostics = tuple(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        super().__init__(rendered)
        if errors:
            first = errors[0]
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            help = f"; {first.help}" if first.help else ""
            self.msg = f"{first.message}{help}{more}"
            self.filename = first.file
            self.lineno = first.line
            self.offset = first.column
            self.text = first.text
            if first.end is not None and first.end[0] == first.line:
                self.end_lineno, self.end_offset = first.end
            # A traceback draws one place of a SyntaxError; the other errors are notes below it.
            drawn = re.split(r"\n\n(?=error\[|warning)", rendered)
            others = [text for text in drawn if text.startswith("error[")][1:]
            self.__notes__ = ["\n\n".join(others)] if others else []

    def __str__(self) -> str:
        return self.rendered

    def __reduce__(self) -> Any:
        return type(self), (self.rendered, self.diagnostics, self.html)


class _Fault(_Drawn):
    """The attributes of `KernelFault` and `KernelTimeout`."""

    def _set(self, rendered: str, fields: dict[str, Any], html: str) -> None:
        self.rendered, self.html = rendered, html
        self.kind: str = fields.get("kind", "")
        self.kernel: str = fields.get("kernel", "")
        self.line: int | None = fields.get("line")
        self.column: int | None = fields.get("column")
        self.block: tuple[int, int, int] = fields.get("block", (0, 0, 0))
        self.thread: tuple[int, int, int] = fields.get("thread", (0, 0, 0))
        self.detail: str = fields.get("detail", "")

    def __str__(self) -> str:
        return self.rendered

    def __reduce__(self) -> Any:
        names = ("kind", "kernel", "line", "column", "block", "thread", "detail")
        return type(self), (self.rendered, {name: getattr(self, name) for name in names}, self.html)


class KernelFault(_Fault, RuntimeError):
    """A launch did something wrong: `.kind .kernel .line .column .block .thread .detail` describe the fault and its place.

    Arrays written in place may be partly written; all others are as before, and outputs are not handed out.

    >>> import numpy as np, workbench as wb
    >>> m = wb.compile("__global__ void k(int* x) { x[threadIdx.x] = 1; }")
    >>> try:
    ...     m.k[1, 4](np.zeros(3, np.int32))
    ... except wb.KernelFault as e:
    ...     print(e.kind, e.kernel, e.line, e.thread)
    out-of-bounds write k 1 (3, 0, 0)
    """

    def __init__(self, rendered: str, fields: dict[str, Any] | None = None, html: str = "") -> None:
        super().__init__(rendered)
        self._set(rendered, fields or {}, html)


class KernelTimeout(_Fault, TimeoutError):
    """A launch took longer than its `timeout=`; has the attributes of `KernelFault`.

    >>> import workbench as wb
    >>> m = wb.compile("__global__ void spin(volatile int* x) { while (x[0] == 0) {} }")
    >>> import numpy as np
    >>> try:
    ...     m.spin.launch(1, 1, (np.zeros(1, np.int32),), timeout=0.05)
    ... except wb.KernelTimeout as e:
    ...     print(e.kind, e.kernel)
    timeout spin
    """

    def __init__(self, rendered: str, fields: dict[str, Any] | None = None, html: str = "") -> None:
        super().__init__(rendered)
        self._set(rendered, fields or {}, html)


class ExtensionError(_Fault, RuntimeError):
    r"""Host code raised an exception: `TORCH_CHECK`, `throw`, an operation on tensors that cannot be done.

    `str()` begins with the message; `.line` and `.column` say where. An exception that torch raises as a ValueError, TypeError, IndexError,
    NotImplementedError, MemoryError or OverflowError is one of those as well, and so is one that a function sets by Python's C interface.

    >>> import workbench as wb
    >>> m = wb.load_inline("e", "torch::Tensor f(torch::Tensor x) { TORCH_CHECK(x.dim() == 1, \"a vector, please\"); return x; }",
    ...                    functions="f")
    >>> import numpy as np
    >>> try:
    ...     m.f(np.zeros((2, 2)))
    ... except RuntimeError as e:
    ...     print(str(e).splitlines()[0], e.line)
    a vector, please 1
    """

    def __init__(self, rendered: str, fields: dict[str, Any] | None = None, html: str = "") -> None:
        super().__init__(rendered)
        self._set(rendered, fields or {}, html)


class _ExtensionValueError(ExtensionError, ValueError):
    pass


class _ExtensionTypeError(ExtensionError, TypeError):
    pass


class _ExtensionIndexError(ExtensionError, IndexError):
    pass


class _ExtensionNotImplementedError(ExtensionError, NotImplementedError):
    pass


class _ExtensionMemoryError(ExtensionError, MemoryError):
    pass


class _ExtensionOverflowError(ExtensionError, OverflowError):
    pass


class _ExtensionKeyError(ExtensionError, KeyError):
    pass


class _ExtensionZeroDivisionError(ExtensionError, ZeroDivisionError):
    pass


class _ExtensionArithmeticError(ExtensionError, ArithmeticError):
    pass


class _ExtensionSystemError(ExtensionError, SystemError):
    pass


class _ExtensionAttributeError(ExtensionError, AttributeError):
    pass


class _ExtensionStopIteration(ExtensionError, StopIteration):
    pass


class _ExtensionLookupError(ExtensionError, LookupError):
    pass


class _ExtensionAssertionError(ExtensionError, AssertionError):
    pass


class _ExtensionImportError(ExtensionError, ImportError):
    pass


class _ExtensionOSError(ExtensionError, OSError):
    pass


class _ExtensionEOFError(ExtensionError, EOFError):
    pass


class _ExtensionBufferError(ExtensionError, BufferError):
    pass


class _ExtensionFloatingPointError(ExtensionError, FloatingPointError):
    pass


class _ExtensionNameError(ExtensionError, NameError):
    pass


_RAISED: dict[str, type[ExtensionError]] = {
    "ValueError": _ExtensionValueError,
    "TypeError": _ExtensionTypeError,
    "IndexError": _ExtensionIndexError,
    "NotImplementedError": _ExtensionNotImplementedError,
    "MemoryError": _ExtensionMemoryError,
    "OverflowError": _ExtensionOverflowError,
    "KeyError": _ExtensionKeyError,
    "ZeroDivisionError": _ExtensionZeroDivisionError,
    "ArithmeticError": _ExtensionArithmeticError,
    "SystemError": _ExtensionSystemError,
    "AttributeError": _ExtensionAttributeError,
    "StopIteration": _ExtensionStopIteration,
    "LookupError": _ExtensionLookupError,
    "AssertionError": _ExtensionAssertionError,
    "ImportError": _ExtensionImportError,
    "OSError": _ExtensionOSError,
    "EOFError": _ExtensionEOFError,
    "BufferError": _ExtensionBufferError,
    "FloatingPointError": _ExtensionFloatingPointError,
    "NameError": _ExtensionNameError,
}


class ArgumentError(TypeError, ValueError):
    """An argument does not fit: the message names the parameter, the value and the type that is wanted.

    >>> import numpy as np, workbench as wb
    >>> m = wb.compile("__global__ void k(float* x) { x[0] = 1; }")
    >>> try:
    ...     m.k[1, 1](np.zeros(1))
    ... except wb.ArgumentError as e:
    ...     print(str(e).endswith("try x.astype(np.float32)"))
    True
    """


class DeviceUnavailable(RuntimeError):
    """No driver, no GPU or no NVRTC: the message names the missing part and says how to get it.

    >>> import workbench as wb
    >>> issubclass(wb.DeviceUnavailable, RuntimeError)
    True
    """


def last_error() -> BaseException | None:
    """The exception that Workbench raised last in this process; None if there was none.

    >>> import workbench as wb
    >>> try:
    ...     wb.compile("oops")
    ... except wb.CompileError as e:
    ...     wb.last_error() is e
    True
    """
    return _last


def _remember(error: BaseException) -> BaseException:
    global _last
    _last = error
    return error


def make_diagnostics(items: Iterable[dict[str, Any]]) -> list[Diagnostic]:
    """Diagnostics of the native half's dicts."""
    return [Diagnostic(**item) for item in items]


def make_compile_error(rendered: str, items: Iterable[dict[str, Any]], html: str) -> BaseException:
    """A `CompileError` of the native half's parts."""
    return _remember(CompileError(rendered, make_diagnostics(items), html))


def make_fault(rendered: str, fields: dict[str, Any], html: str) -> BaseException:
    """A `KernelFault` of the native half's parts."""
    return _remember(KernelFault(rendered, fields, html))


def make_raised(rendered: str, fields: dict[str, Any], html: str) -> ExtensionError:
    """An `ExtensionError` of the native half's parts."""
    return _remember(_RAISED.get(fields.get("kind", ""), ExtensionError)(rendered, fields, html))


def make_timeout(rendered: str, fields: dict[str, Any], html: str) -> BaseException:
    """A `KernelTimeout` of the native half's parts."""
    return _remember(KernelTimeout(rendered, fields, html))


def make_argument_error(message: str) -> BaseException:
    """An `ArgumentError` of a message."""
    return _remember(ArgumentError(message))


def nearest(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """The end of a message about an unknown word: the known one that is most like it, in whatever case, or nothing."""
    # The import of a module that only mistakes need would take a tenth of the package's.
    from difflib import get_close_matches

    by_case = {one.lower(): one for one in known}
    near = get_close_matches(word.lower(), by_case, 1, alike)
    return f"; did you mean `{by_case[near[0]]}`?" if near else ""


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "case"), plural(18, "case"), plural(0, "argument")
    ('1 case', '18 cases', '0 arguments')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def name_culprit(error: Exception, who: str) -> None:
    """Says in an exception of a call whose it is, such as `version 2`: in our own errors first, else in a note (from Python 3.11 on)."""
    if not isinstance(error, _Fault):
        add_place(error, who)
        return
    kind, colon, rest = error.rendered.partition(": ")
    error.rendered = f"{kind}: {who}: {rest}" if colon and kind == "kernel fault" else f"{who}: {error.rendered}"
    error.args = (error.rendered, *error.args[1:])
    if error.html:
        error.html = f"<div>{_html.escape(who)}</div>{error.html}"


def add_place(error: Exception, where: str) -> None:
    """Adds the place of the call to an exception of a user's function; from Python 3.11 on."""
    if hasattr(error, "add_note"):
        error.add_note(where)


def make_device_unavailable(message: str) -> BaseException:
    """A `DeviceUnavailable` of a message."""
    return _remember(DeviceUnavailable(message))
