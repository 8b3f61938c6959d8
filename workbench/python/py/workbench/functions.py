"""Python functions as texts that stand alone: everything that they use comes before them."""

from __future__ import annotations

import ast
import dis
import inspect
import math
import sys
import textwrap
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable

import numpy as np

__all__ = ["Unwritable", "Written", "written"]


# Longer tables are data, for which a text is the wrong place.
_MOST_ITEMS = 1000


class Unwritable(Exception):
    """The reason why a function is no text that stands alone."""


@dataclass(frozen=True)
class Written:
    """A function's own text and name, and the lines and definitions that it needs before it."""

    before: tuple[str, ...]
    text: str
    name: str
    #: True if it calls itself by its name.
    is_recursive: bool = False


#: The line for a global name, given its value and the attributes of it that are used; None if there is no special one.
Line = Callable[[str, Any, "set[str]"], "str | None"]


def written(function: Callable[..., Any], line: Line) -> Written:
    """A function written with `def`, as a text: modules it uses are imported, numbers and texts
    repeated, functions of the same kind written before it, and `line` gives the text for other names.

    Raises Unwritable for methods, lambdas, closures, and for values that a text cannot express.
    """
    return _written(function, line, ())


def _written(function: Callable[..., Any], line: Line, within: tuple[Any, ...]) -> Written:
    if inspect.ismethod(function):
        raise Unwritable("it is a method of an object, which would not be there")
    if hasattr(function, "__wrapped__"):
        raise Unwritable("it wraps another function")
    if vars(function) if isinstance(function, FunctionType) else None:
        raise Unwritable(f"it has attributes of its own (`{next(iter(vars(function)))}`)")
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError):
        raise Unwritable("its text is not there") from None
    if not isinstance(tree, ast.FunctionDef) or not isinstance(function, FunctionType):
        raise Unwritable("only a function written with `def` can")
    for decorator in tree.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(called, ast.Attribute) or not called.attr.startswith("register_"):
            raise Unwritable(f"it has the decorator `{ast.unparse(decorator)}`")
    if function.__closure__:
        raise Unwritable("it uses variables of the function that it was written in")
    before: list[str] = []
    tree.decorator_list = []
    used = _globals_of(function.__code__)
    # Defaults and annotations are looked up where the function is defined.
    outer = [*tree.args.defaults, *filter(None, tree.args.kw_defaults), *filter(None, [tree.returns])]
    outer += [a.annotation for a in ast.walk(tree.args) if isinstance(a, ast.arg) and a.annotation is not None]
    used |= dict.fromkeys(n.id for part in outer for n in ast.walk(part) if isinstance(n, ast.Name))
    _hold_defaults(function, tree)
    for name in used:
        if name == tree.name or name not in function.__globals__:
            continue
        before += _before(name, function.__globals__[name], _used_of(tree, name), line, (*within, function))
    lines = text.splitlines()[tree.lineno - 1 :]
    return Written(tuple(dict.fromkeys(before)), "\n".join(lines) + "\n", tree.name, tree.name in used)


def _globals_of(code: CodeType) -> dict[str, None]:
    """The global names that a function and its inner functions look up."""
    found: dict[str, None] = {}
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            raise Unwritable(f"it changes the global `{instruction.argval}`")
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found[instruction.argval] = None
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _globals_of(constant)
    return found


def _hold_defaults(function: FunctionType, tree: ast.FunctionDef) -> None:
    """Refuses a function whose defaults differ from its text by now, as far as can be told."""
    texts = [*tree.args.defaults, *(d for d in tree.args.kw_defaults if d is not None)]
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    is_same = len(texts) == len(values)
    for text, value in zip(texts, values):
        if isinstance(text, ast.Name) and text.id in function.__globals__:
            is_same = is_same and function.__globals__[text.id] is value
        else:
            try:
                is_same = is_same and repr(ast.literal_eval(text)) == repr(value)
            except ValueError:
                continue
    if not is_same:
        raise Unwritable("its defaults are others than its text says")


def _before(name: str, value: Any, used: set[str], line: Line, within: tuple[Any, ...]) -> list[str]:
    """The lines before a function that uses a global name."""
    found = line(name, value, used)
    if found is not None:
        return [found]
    if isinstance(value, ModuleType) and value.__name__ != "__main__":
        return [f"import {name}" if value.__name__ == name else f"import {value.__name__} as {name}"]
    said = _said(value)
    if said is not None:
        return [f"{name} = {said}"]
    if isinstance(value, np.ndarray) and value.size <= _MOST_ITEMS and value.dtype.kind in "biufc" and (items := _said(value.tolist())) is not None:
        return ["import numpy as np", f"{name} = np.array({items}, {value.dtype.name!r})"]
    if is_installed(value):
        return [imported(value, name)]
    if isinstance(value, FunctionType) and value.__name__ == name:
        if value in within:
            raise Unwritable(f"it and `{name}` call one another")
        made = _written(value, line, within)
        return [*made.before, made.text]
    raise Unwritable(f"it uses `{name}`, which would not be there")


def _said(value: Any) -> str | None:
    """A number, a text, or a container of such as Python writes it."""
    if type(value) in (bool, int, str, bytes, complex, type(None)):
        return repr(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else f'float("{value!r}")'
    if type(value) in (tuple, list) and len(value) <= _MOST_ITEMS:
        items = [_said(item) for item in value]
        if None in items:
            return None
        inner = ", ".join(str(item) for item in items)
        return f"[{inner}]" if type(value) is list else f"({inner},)" if len(items) == 1 else f"({inner})"
    if type(value) is dict and len(value) <= _MOST_ITEMS:
        pairs = [(_said(key), _said(item)) for key, item in value.items()]
        return None if any(None in pair for pair in pairs) else "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    return None


def is_installed(value: Any) -> bool:
    """True if a function or class is a package's, found there by its name."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    where = getattr(module, "__file__", None) or ""
    is_packages = module is not None and ("site-packages" in where or "dist-packages" in where or module.__name__ in sys.stdlib_module_names)
    return is_packages and getattr(module, getattr(value, "__name__", ""), None) is value


def imported(value: Any, name: str) -> str:
    """The import of a function or class that `is_installed`."""
    lead = f"from {value.__module__} import {value.__name__}"
    return lead if value.__name__ == name else f"{lead} as {name}"


def _used_of(tree: ast.AST, name: str) -> set[str]:
    """The attributes that are used of a name."""
    return {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == name}
