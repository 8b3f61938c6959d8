"""Fingerprints of callables, equal only for callables that do the same, as keys of kept results: of the code, and of all that it visibly uses.

An opaque object (of an extension, an open file) counts as new each time, so that no old result is used for it.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import sysconfig
import types
import uuid
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["print_of"]

_INSTALLED = tuple(sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))
_OURS = str(Path(__file__).parent)
#: Larger arrays and containers count as new each time.
_MOST_BYTES, _MOST_ITEMS = 1 << 20, 1000
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)


def print_of(value: Any) -> str:
    """The print of a value: equal only for values that surely do the same."""
    try:
        return _print(value, {})
    except RecursionError:
        return _new(value)


def _new(what: Any) -> str:
    return f"{type(what).__qualname__} {uuid.uuid4()}"


def _is_installed(module: str | None) -> bool:
    """True if a module does not change while a notebook runs."""
    found = sys.modules.get(module or "")
    path = getattr(found, "__file__", None)
    return found is not None and module != "__main__" and (path is None or path.startswith((*_INSTALLED, _OURS)))


def _is_of_installed(value: Any) -> bool:
    """True if its name in such a module means this object."""
    if not _is_installed(value.__module__):
        return False
    found: Any = sys.modules[value.__module__]
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


# Values that have been met, by identity: the number, and the value itself, so that no other value gets the identity meanwhile.
_Seen = dict[int, tuple[int, Any]]


def _print(value: Any, seen: _Seen) -> str:
    if isinstance(value, _PLAIN) or isinstance(value, (np.generic, np.dtype)):
        return f"{type(value).__name__} {value!r}"
    if id(value) in seen:
        return f"again {seen[id(value)][0]}"
    seen[id(value)] = (len(seen), value)
    if isinstance(value, types.CodeType):
        constants = [_print(constant, seen) for constant in value.co_consts]
        return repr((value.co_code, constants, value.co_names, value.co_varnames, value.co_freevars, value.co_flags))
    if isinstance(value, types.FunctionType):
        return _function(value, seen)
    if isinstance(value, types.MethodType):
        return f"method {_print(value.__func__, seen)} of {_print(value.__self__, seen)}"
    if isinstance(value, functools.partial):
        return f"partial {_print(value.func, seen)} {_print(value.args, seen)} {_print(value.keywords, seen)}"
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}" if _is_installed(value.__name__) else _new(value)
    if isinstance(value, (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)):
        owner = getattr(value, "__self__", None)
        bound = "" if owner is None or isinstance(owner, types.ModuleType) else _print(owner, seen)
        return f"builtin {getattr(value, '__module__', '')} {value.__qualname__} {bound}"
    if isinstance(value, type):
        return _class(value, seen)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject and value.nbytes <= _MOST_BYTES:
        return f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, (list, tuple, set, frozenset)) and len(value) <= _MOST_ITEMS:
        items = [_print(item, seen) for item in value]
        return f"{type(value).__name__} {sorted(items) if isinstance(value, (set, frozenset)) else items}"
    if isinstance(value, dict) and len(value) <= _MOST_ITEMS:
        return f"dict {[(_print(key, seen), _print(item, seen)) for key, item in value.items()]}"
    if type(value).__module__ == "torch" and type(value).__name__ in ("dtype", "device", "layout", "memory_format", "Size"):
        return repr(value)
    from .operators import handles

    name = getattr(value, "name", None)
    if isinstance(name, str) and value is handles.get(name):
        # The handle is a name; the operator it stands for has a print of its own.
        return f"operator {name}"
    if _is_plain(type(value)) and hasattr(value, "__dict__"):
        return f"object {_print(type(value), seen)} {_print(vars(value), seen)}"
    return _new(value)


def _is_plain(kind: type) -> bool:
    """True if objects of a class consist of their class and their attributes: no memory of an extension, no slots."""
    usual = ("__setattr__", "__getattribute__", "__reduce__", "__reduce_ex__")
    # An object has room for attributes and weak references, and nothing else.
    return (
        kind.__basicsize__ <= object.__basicsize__ + 2 * tuple.__itemsize__
        and all(getattr(kind, name) is getattr(object, name) for name in usual)
        and not any("__slots__" in vars(base) for base in kind.__mro__)
    )


def _function(value: types.FunctionType, seen: _Seen) -> str:
    if _is_of_installed(value) and not value.__closure__:
        return f"function {value.__module__} {value.__qualname__}"
    named = {name: value.__globals__[name] for name in sorted(_names(value.__code__)) if name in value.__globals__}
    cells = []
    for cell in value.__closure__ or ():
        try:
            cells.append(_print(cell.cell_contents, seen))
        except ValueError:
            cells.append("empty")
    parts = (_print(value.__code__, seen), [(name, _print(one, seen)) for name, one in named.items()], cells)
    return repr((*parts, _print(value.__defaults__, seen), _print(value.__kwdefaults__, seen)))


def _names(code: types.CodeType) -> set[str]:
    """The names that a function and those within it look up."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _class(value: type, seen: _Seen) -> str:
    if _is_of_installed(value):
        return f"class {value.__module__} {value.__qualname__}"
    own = {name: one for name, one in vars(value).items() if name not in ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__")}
    members = [(name, _print(getattr(one, "__func__", getattr(one, "fget", one)), seen)) for name, one in own.items()]
    return f"class {value.__qualname__} {[_print(base, seen) for base in value.__bases__]} {members}"
