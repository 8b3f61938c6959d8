"""Calls that do not fit a signature: an ArgumentError names the argument and what there is, where Python's own TypeError knows neither.

`clear_calls` is for functions and for classes, whose methods it treats; `install` treats the native classes and their launches."""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, TypeVar, cast

from . import _workbench
from .errors import ArgumentError, make_argument_error, nearest, plural

__all__ = ["clear_calls", "hold_keywords", "install"]

_Known = TypeVar("_Known", bound=Callable[..., Any])
#: The native classes whose methods take options.
_NATIVE = (
    "Module", "Kernel", "KernelTemplate", "BenchReport", "CheckReport", "GradReport", "TierReport", "NativeHistory", "Svg", "Symbol",
)  # fmt: skip


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
        except TypeError as error:
            # An error of the call itself has no frame below this one.
            is_own = error.__traceback__ is None or error.__traceback__.tb_next is None
            mistake = _mistake(function, is_method, args, kwargs) if is_own and not isinstance(error, ArgumentError) else None
            if mistake is None:
                raise
        raise mistake

    return call


def _mistake(function: Any, is_method: bool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> BaseException | None:
    """The error of a call that does not fit; None where it fits as far as names and numbers go."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*args, **kwargs)
        return None
    except TypeError:
        pass
    name = _name_of(function, args[0] if is_method and args else None)
    every = list(signature.parameters.values())[1 if is_method else 0 :]
    args = args[1:] if is_method else args
    takes_any = any(one.kind is one.VAR_KEYWORD for one in every)
    by_place = [one.name for one in every if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    by_name = [one.name for one in every if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    has = f"({', '.join(by_name)})" if by_name else "(it takes none by name)"
    for key in kwargs:
        if key not in by_name and not takes_any:
            return make_argument_error(f"`{name}` has no argument `{key}`{nearest(key, by_name)} {has}")
    if len(args) > len(by_place) and not any(one.kind is one.VAR_POSITIONAL for one in every):
        rest = [one for one in by_name if one not in by_place]
        advice = f"; the others go by name: {', '.join(rest)}" if rest else ""
        return make_argument_error(f"`{name}` takes at most {plural(len(by_place), 'argument')} by position ({', '.join(by_place)}), {len(args)} given{advice}")
    twice = next((one for one in by_place[: len(args)] if one in kwargs), None)
    if twice is not None:
        return make_argument_error(f"`{name}`: argument `{twice}` is given twice")
    given = {*by_place[: len(args)], *kwargs}
    missing = [one.name for one in every if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) and one.name not in given]
    if not missing:
        return None
    return make_argument_error(f"`{name}`: argument `{missing[0]}` is missing{'' if by_name == missing[:1] else ' ' + has}")


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
    mistake = _mistake(native, True, (kernel, *given), named) if unknown is not None else None
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
    if not _is_index(shared):
        raise make_argument_error(f"`{name}.launch`: shared_mem is a number of bytes, got {shared!r}")
    if timeout is not None and (not isinstance(timeout, numbers.Real) or isinstance(timeout, bool)):
        raise make_argument_error(f"`{name}.launch`: timeout is a number of seconds or None, got {timeout!r}")


def _right(kernel: Any, given: tuple[Any, ...]) -> str:
    """The call that was meant, with the extents that came, where some did."""
    came = [one for one in given[:2] if all(_is_index(part) for part in (one if isinstance(one, tuple) else (one,)))]
    extents = [str(one) for one in came] if len(came) == 2 else ["grid", "block"]
    params = getattr(kernel, "params", None)
    values = "..." if params is None else ", ".join(params)
    listed = f"{values}," if params is not None and len(params) == 1 else values
    return f"{kernel.name}.launch({', '.join(extents)}, ({listed})) or {kernel.name}[{', '.join(extents)}]({values})"


def _is_sequence(value: Any) -> bool:
    is_array = hasattr(value, "dtype") or hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    return isinstance(value, Iterable) and not is_array and not isinstance(value, (str, bytes, bytearray, memoryview, Mapping))


def _is_index(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _kind(value: Any) -> str:
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"an array of {value.dtype}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def install() -> None:
    """Treats the native classes."""
    for name in _NATIVE:
        native = getattr(_workbench, name)
        for member, method in list(vars(native).items()):
            if not member.startswith("_") and inspect.isroutine(method) and not hasattr(method, "__wrapped__"):
                made = _launch(method) if member == "launch" else _clear(method, is_method=True)
                setattr(native, member, made)
