"""Calls that do not fit a signature: an ArgumentError names the argument and what there is, where Python's own TypeError knows neither.

`clear_calls` is for functions and for classes, whose methods it treats; `install` treats the native classes and their launches, and the end of this
file what is imported by name from modules that know nothing of it."""

from __future__ import annotations

import functools
import inspect
import numbers
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar, cast

from . import _annotations, _workbench, errors
from ._annotations import a_type, is_index, is_native
from .errors import ArgumentError, ExtensionError, make_argument_error, nearest, plural

__all__ = ["clear_calls", "hold_keywords", "install", "made_by"]

_Known = TypeVar("_Known", bound=Callable[..., Any])
#: The native classes that people meet, with what makes their objects.
_NATIVE = {
    "Module": "wb.compile(source) makes modules",
    "Kernel": 'wb.compile(source)["name"] is a kernel',
    "KernelTemplate": 'wb.compile(source)["name"] is a template of kernels, where the text has one of that name',
    "Launcher": "kernel[grid, block] makes launchers",
    "TemplateLauncher": "kernel[grid, block] makes launchers",
    "HostFunction": 'wb.compile(source)["name"] is a host function, where the text has one of that name',
    "ExtensionFunction": "wb.load_inline(name, source, functions=...) makes modules that have them",
    "Symbol": 'module.symbol("name") makes symbols',
    "BenchReport": "wb.bench(...) and op.bench(...) make such reports",
    "CheckReport": "wb.check(...) and op.check(...) make such reports",
    "GradReport": "op.gradcheck(...) makes such reports",
    "TierReport": "kernel.tier_report(block) makes such reports",
    "NativeHistory": "op.history is the history of an operator",
    "Svg": "report.plot() makes pictures",
}
#: The native halves of classes of Python's.
_BASES = ("NativeOp", "NativeLibraryOp")
#: The native functions of the package.
FUNCTIONS = ("interrupt", "set_tier", "synchronize")
#: The errors of Python's own in which a value that does not fit may end.
_RAW = (TypeError, AttributeError, OverflowError)
#: What the names of this package's files begin with.
_PACKAGE = os.path.dirname(__file__) + os.sep


def clear_calls(known: _Known) -> _Known:
    """The function, or the class with its public methods, so that a call which does not fit its signature says what does."""
    if inspect.isclass(known):
        for name, member in list(vars(known).items()):
            is_public = not name.startswith("_") or name == "__init__"
            if is_public and inspect.isroutine(member) and not isinstance(member, (staticmethod, classmethod)):
                setattr(known, name, _clear(member, is_method=True))
        return known
    return cast(_Known, _clear(known, is_method=False))


def _clear(function: Any, is_method: bool) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except _RAW as error:
            is_told = isinstance(error, (ArgumentError, ExtensionError)) or not _is_ours(error.__traceback__)
            mistake = None if is_told else _mistake(function, is_method, args, kwargs, error)
            if mistake is None:
                raise
        raise mistake

    return call


def _is_ours(traceback: TracebackType | None) -> bool:
    """True if an error was raised by this package, below the frame that caught it; `pathlib` opens paths for us."""
    while traceback is not None:
        frame = traceback.tb_frame
        if not frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_globals.get("__name__", "").partition(".")[0] != "pathlib":
            return False
        traceback = traceback.tb_next
    return True


def _mistake(function: Any, is_method: bool, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: BaseException) -> BaseException | None:
    """The error of a call that does not fit; None where its names, its numbers and its values do, as far as that can be known."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    name = _name_of(function, args[0] if is_method and args else None)
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        every = list(signature.parameters.values())[1 if is_method else 0 :]
        return _misfit_of_names(function, name, every, args[1:] if is_method else args, kwargs)
    return _misfit_of_values(function, name, bound, error)


def _misfit_of_names(
    function: Any, name: str, every: list[inspect.Parameter], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> BaseException | None:
    takes_any = any(one.kind is one.VAR_KEYWORD for one in every)
    by_place = [one.name for one in every if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    by_name = [one.name for one in every if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    shown = _shown(function, name)
    has = shown or (f" ({', '.join(by_name)})" if by_name else " (it takes none by name)")
    for key in kwargs:
        if key not in by_name and not takes_any:
            return make_argument_error(f"`{name}` has no argument `{key}`{nearest(key, by_name)}{has}")
    if len(args) > len(by_place) and not any(one.kind is one.VAR_POSITIONAL for one in every):
        rest = [one for one in by_name if one not in by_place]
        advice = f"; the others go by name: {', '.join(rest)}" if rest else ""
        most = f"at most {plural(len(by_place), 'argument')} by position ({', '.join(by_place)})"
        most = most if by_place else "no arguments by position" if rest else "no arguments"
        return make_argument_error(f"`{name}` takes {most}, {len(args)} given{advice}{shown}")
    twice = next((one for one in by_place[: len(args)] if one in kwargs), None)
    if twice is not None:
        return make_argument_error(f"`{name}`: argument `{twice}` is given twice")
    given = {*by_place[: len(args)], *kwargs}
    missing = [one.name for one in every if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) and one.name not in given]
    if not missing:
        return None
    return make_argument_error(f"`{name}`: argument `{missing[0]}` is missing{shown if by_name == missing[:1] else has}")


def _misfit_of_values(function: Any, name: str, bound: Mapping[str, Any], error: BaseException) -> BaseException | None:
    """The error of the first value that is not what its annotation wants; of an int that is out of range, after an OverflowError."""
    wishes = {key: wish for key, wish in _annotations.annotations_of(function).items() if key in bound}
    end = _shown(function, name)
    for key, wish in wishes.items():
        if not _annotations.fits(wish, bound[key]):
            return make_argument_error(f"`{name}`: argument `{key}` got {_came(bound[key])}, but wants {_annotations.wanted(wish)}{end}")
    for key, value in bound.items() if isinstance(error, OverflowError) else ():
        ints = [int(one) for one in (value if isinstance(value, (list, tuple)) else (value,)) if is_index(one)]
        if key in wishes and any(one < 0 or one >= 1 << 31 for one in ints):
            range = " of at most 64 bits" if "too" in str(error) else " from 0 on" if min(ints) < 0 else " of at most 32 bits"
            return make_argument_error(f"`{name}`: argument `{key}` got {_came(value)}, but wants {_annotations.wanted(wishes[key], range)}{end}")
    return None


def _shown(function: Any, name: str) -> str:
    """The signature of a native function, which has few arguments; of others their names are enough."""
    signature = _annotations.native_signature(function) if is_native(function) else None
    return "" if signature is None else f" (signature: {name}{signature})"


def _came(value: Any) -> str:
    """A value as errors tell it: with its type, whole if it is short."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, (str, bytes, int, float, complex, list, tuple, dict)):
        return f"the {type(value).__name__} {reprlib.repr(value)}"
    return _kind(value)


def _name_of(function: Any, owner: Any) -> str:
    """A function as people call it: `wb.compile`, `Op.bench`, `wb.Spec`."""
    name: str = function.__name__
    if name == "__init__":
        return f"wb.{type(owner).__name__}"
    return f"wb.{name}" if owner is None else f"{type(owner).__name__}.{name}"


def hold_keywords(what: str, keywords: Iterable[str], params: Sequence[str], options: Iterable[str]) -> None:
    """Raises ArgumentError for a keyword that is neither an argument of an operator nor an option of what is called with these."""
    known = [*options, *params]
    arguments = f"; arguments of the operator: {', '.join(params)}" if params else ""
    for key in keywords:
        if key not in known:
            raise make_argument_error(f"`{what}` has no option `{key}`{nearest(key, known)} (options: {', '.join(options)}{arguments})")


def _launch(native: Any) -> Any:
    """The `launch` of a kernel or of a template, whose arguments are one sequence."""

    @functools.wraps(native)
    def launch(self: Any, *given: Any, **named: Any) -> None:
        # The usual call is looked at no further.
        if named or len(given) != 3 or type(given[2]) is not tuple:
            _hold_launch(native, self, given, named)
        native(self, *given, **named)

    return launch


def _hold_launch(native: Any, kernel: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raises ArgumentError for a launch whose arguments are no sequence behind grid and block, and for options that are none."""
    name, params = kernel.name, getattr(kernel, "params", None)
    unknown = next((key for key in named if key not in inspect.signature(native).parameters), None)
    if unknown is not None and unknown in (params or ()):
        raise make_argument_error(f"`{name}.launch`: values go by position, also that of `{unknown}`; write {_right(kernel, given)}")
    mistake = _mistake(native, True, (kernel, *given), named, TypeError()) if unknown is not None else None
    if mistake is not None:
        raise mistake
    try:
        bound = inspect.signature(native).bind(kernel, *given, **named).arguments
    except TypeError:
        raise make_argument_error(f"`{name}.launch` takes grid, block and the kernel's arguments as one tuple; write {_right(kernel, given)}") from None
    if not _is_sequence(bound["args"]):
        raise make_argument_error(
            f"`{name}.launch` takes the kernel's arguments as one tuple behind grid and block, got {_kind(bound['args'])}; write {_right(kernel, given)}"
        )
    shared, timeout = bound.get("shared_mem", 0), bound.get("timeout")
    if not is_index(shared):
        raise make_argument_error(f"`{name}.launch`: shared_mem is a number of bytes, got {shared!r}")
    if timeout is not None and (not isinstance(timeout, numbers.Real) or isinstance(timeout, bool)):
        raise make_argument_error(f"`{name}.launch`: timeout is a number of seconds or None, got {timeout!r}")


def _right(kernel: Any, given: tuple[Any, ...]) -> str:
    """The call that was meant, with the extents that came, where some did."""
    came = [one for one in given[:2] if all(is_index(part) for part in (one if isinstance(one, tuple) else (one,)))]
    extents = [str(one) for one in came] if len(came) == 2 else ["grid", "block"]
    params = getattr(kernel, "params", None)
    values = "..." if params is None else ", ".join(params)
    listed = f"{values}," if params is not None and len(params) == 1 else values
    return f"{kernel.name}.launch({', '.join(extents)}, ({listed})) or {kernel.name}[{', '.join(extents)}]({values})"


def _is_sequence(value: Any) -> bool:
    is_array = hasattr(value, "dtype") or hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    return isinstance(value, Iterable) and not is_array and not isinstance(value, (str, bytes, bytearray, memoryview, Mapping))


def _kind(value: Any) -> str:
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"an array of {value.dtype}"
    return a_type(value)


def made_by(native: type, name: str, how: str) -> Any:
    """The `__new__` of a class whose objects the package makes of a native one: ArgumentError for what people write."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        try:
            return native.__new__(cls, *args, **kwargs)
        except TypeError as error:
            if isinstance(error, ArgumentError) or sys._getframe(1).f_code.co_filename.startswith(_PACKAGE):
                raise
        raise make_argument_error(f"`{name}` is not made by a call of the class: {how}")

    return __new__


def _refuse_making(name: str, how: str) -> Any:
    """The `__new__` of a native class that has none."""

    def __new__(cls: type, *_args: Any, **_kwargs: Any) -> Any:
        raise make_argument_error(f"`wb.{name}` is not made by a call of the class: {how}")

    return __new__


def install() -> None:
    """Treats the native classes."""
    for name, how in (*_NATIVE.items(), *((base, None) for base in _BASES)):
        native = getattr(_workbench, name)
        for member, method in list(vars(native).items()):
            if not member.startswith("_") and inspect.isroutine(method) and not hasattr(method, "__wrapped__"):
                made = _launch(method) if member == "launch" else _clear(method, is_method=True)
                setattr(native, member, made)
        if how is not None:
            native.__new__ = _refuse_making(name, how)


# Functions are treated before others import them by name.
for _owner, _names in ((_workbench, FUNCTIONS), (errors, ("last_error",))):
    for _one in _names:
        setattr(_owner, _one, clear_calls(getattr(_owner, _one)))
