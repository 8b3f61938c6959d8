"""Schemas of callables without one: from the types in Python's annotations.

A name alone takes its schema from the C++ type, as torch's `m.def` does, or from annotations.
"""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any, Callable

import numpy as np

from .errors import make_argument_error

_NUMBERS = {int: "int", float: "float", bool: "bool", str: "str"}
_EXAMPLE = '"lab::scale(Tensor x, float by) -> Tensor"'


def inferred(name: str, function: Callable[..., Any]) -> str:
    """The schema of a callable under a name: arrays (NumPy's, torch's) are `Tensor`, `int`,
    `float`, `bool`, `str` stay, `Optional`, lists and tuples of results are written as in torch.

    ArgumentError for a parameter or result without an annotation, or with one that no schema has.
    """

    def refuse(what: str, why: str) -> Any:
        return make_argument_error(f"`{name}`: {what} {why}; annotate it, or write the schema, as in {_EXAMPLE}")

    try:
        hints = typing.get_type_hints(function)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError) as error:
        raise refuse("its types", f"cannot be read ({error})") from None
    arguments, star = [], False
    for parameter in parameters:
        what = f"parameter `{parameter.name}`"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise refuse(what, "stands for any number of arguments, which no schema has")
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            arguments.append("*")
            star = True
        if parameter.name not in hints:
            raise refuse(what, "has no annotation")
        kind = _kind(hints[parameter.name])
        if kind is None:
            raise refuse(what, f"is annotated `{_shown(hints[parameter.name])}`, which no schema has")
        default = "" if parameter.default is parameter.empty else f"={_default(parameter.default, refuse, what)}"
        arguments.append(f"{kind} {parameter.name}{default}")
    if "return" not in hints:
        raise refuse("its result", "has no annotation")
    given = hints["return"]
    if given is type(None):
        results = "()"
    elif typing.get_origin(given) is tuple:
        kinds = [_kind(one) for one in typing.get_args(given)]
        if not kinds or None in kinds:
            raise refuse("its result", f"is annotated `{_shown(given)}`, which no schema has")
        results = f"({', '.join(str(kind) for kind in kinds)})"
    else:
        kind = _kind(given)
        if kind is None:
            raise refuse("its result", f"is annotated `{_shown(given)}`, which no schema has")
        results = kind
    return f"{name}({', '.join(arguments)}) -> {results}"


def _kind(hint: Any) -> str | None:
    """The schema's type of an annotation."""
    if hint in _NUMBERS:
        return _NUMBERS[hint]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        rest = [arg for arg in args if arg is not type(None)]
        inner = _kind(rest[0]) if len(rest) == 1 and len(rest) < len(args) else None
        return None if inner is None else f"{inner}?"
    if origin is not None and isinstance(origin, type) and issubclass(origin, (list, tuple)) or _is_sequence(origin):
        if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
            return None
        inner = _kind(args[0]) if args else None
        return None if inner is None else f"{inner}[]"
    bare = origin or hint
    if isinstance(bare, type) and (issubclass(bare, np.ndarray) or f"{bare.__module__}.{bare.__qualname__}" in ("torch.Tensor", "jax.Array")):
        return "Tensor"
    return None


def _is_sequence(origin: Any) -> bool:
    return getattr(origin, "__module__", "") == "collections.abc" and getattr(origin, "__name__", "") in ("Sequence", "Iterable")


def _default(value: Any, refuse: Callable[[str, str], Any], what: str) -> str:
    if value is None or type(value) in (bool, int, float):
        return repr(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, (list, tuple)) and all(type(one) in (bool, int, float) for one in value):
        return repr(list(value))
    raise refuse(what, f"has the default {value!r}, which no schema has")


def _shown(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
