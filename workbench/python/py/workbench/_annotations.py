"""Annotations as people read them: what an argument wants, and whether a value is that. Those of native functions are in the stub, `_workbench.pyi`.

Errors alone read them, so calls that fit pay nothing."""

from __future__ import annotations

import ast
import functools
import inspect
import operator
import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _workbench

__all__ = ["a_type", "annotations_of", "fits", "is_index", "is_native", "native_signature", "wanted", "with_article"]

#: The aliases of the stub.
_ALIASES = {"Extents": "int | Sequence[int]"}
#: The names of annotations whose values are walked, with their words.
_MANY = {
    "Sequence": "a sequence", "Iterable": "a sequence", "Iterator": "an iterator", "Collection": "a collection",
    "list": "a list", "tuple": "a tuple", "set": "a set",
}  # fmt: skip
#: The names of annotations for tables of names.
_TABLES = ("Mapping", "dict")
#: The words for many values of a kind.
_PLURALS = {"int": "ints", "float": "numbers", "str": "strs"}


def with_article(name: str) -> str:
    """A name with the article that it is spoken with.

    >>> [with_article(name) for name in ("int", "ndarray", "list", "uint8", "UserDict", "Op", "ArrayImpl")]
    ['an int', 'an ndarray', 'a list', 'a uint8', 'a UserDict', 'an Op', 'an ArrayImpl']
    """
    spoken = name.lower()
    is_vowel = spoken.startswith(("a", "e", "i", "o", "u", "nd", "np")) and not spoken.startswith(("uint", "uni", "use", "one", "eu"))
    return f"{'an' if is_vowel else 'a'} {name}"


def a_type(value: Any) -> str:
    """The type of a value with its article.

    >>> a_type(3)
    'an int'
    """
    return with_article(type(value).__name__)


def is_index(value: Any) -> bool:
    """True for what Python takes as a whole number."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def is_native(function: Any) -> bool:
    """True for a function or a method of the native half."""
    return inspect.isbuiltin(function) or inspect.ismethoddescriptor(function)


@functools.cache
def _stub() -> dict[str, ast.FunctionDef]:
    """The functions of the stub, and its methods as `Class.method`; none where the package lies here without it."""
    try:
        tree = ast.parse(pathlib.Path(__file__).with_name("_workbench.pyi").read_text(encoding="utf-8"))
    except OSError:
        return {}
    found: dict[str, ast.FunctionDef] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        if isinstance(node, ast.ClassDef):
            found.update({f"{node.name}.{item.name}": item for item in node.body if isinstance(item, ast.FunctionDef)})
    return found


def _declared(function: Any) -> ast.arguments | None:
    """The parameters of a native function in the stub, without `self`."""
    node = _stub().get(function.__qualname__)
    if node is None:
        return None
    taken = node.args
    rest = taken.args[1:] if "." in function.__qualname__ else taken.args
    return ast.arguments(taken.posonlyargs, rest, taken.vararg, taken.kwonlyargs, taken.kw_defaults, taken.kwarg, taken.defaults)


def native_signature(function: Any) -> str | None:
    """The parameters of a native function with their types; None where the stub does not have it.

    >>> native_signature(_workbench.CheckReport.scatter)
    '(output: int = 0)'
    """
    declared = _declared(function)
    if declared is None:
        return None
    text = ast.unparse(declared)
    for alias, meaning in _ALIASES.items():
        text = text.replace(alias, meaning)
    # The default of an annotated parameter stands alone.
    parts = [f"{arg.arg}: {ast.unparse(arg.annotation)}=" for arg in (*declared.args, *declared.kwonlyargs) if arg.annotation is not None]
    for part in parts:
        text = text.replace(part, f"{part[:-1]} = ")
    return f"({text})"


def annotations_of(function: Any) -> dict[str, ast.expr]:
    """What each parameter wants; those that say nothing are left out."""
    if is_native(function):
        declared = _declared(function)
        named = [] if declared is None else [*declared.posonlyargs, *declared.args, *declared.kwonlyargs]
        return {arg.arg: arg.annotation for arg in named if arg.annotation is not None}
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        is_one = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if is_one and isinstance(parameter.annotation, str):
            found[name] = ast.parse(parameter.annotation, mode="eval").body
    return found


def _parts(wish: ast.expr) -> list[ast.expr]:
    """The kinds of which one is wanted."""
    if isinstance(wish, ast.BinOp) and isinstance(wish.op, ast.BitOr):
        return [*_parts(wish.left), *_parts(wish.right)]
    if isinstance(wish, ast.Name) and wish.id in _ALIASES:
        return _parts(ast.parse(_ALIASES[wish.id], mode="eval").body)
    return [wish]


def _name(wish: ast.expr) -> str:
    """The name of a kind, without its module and what is in its brackets."""
    if isinstance(wish, ast.Subscript):
        return _name(wish.value)
    if isinstance(wish, ast.Attribute):
        return wish.attr
    if isinstance(wish, ast.Constant):
        return repr(wish.value)
    return wish.id if isinstance(wish, ast.Name) else ""


def wanted(wish: ast.expr, range: str = "") -> str:
    """An annotation in words, with the range of its ints.

    >>> wanted(ast.parse("Sequence[int] | str | None", mode="eval").body, " from 0 on")
    'a sequence of ints from 0 on, a str or None'
    """
    words = list(dict.fromkeys(_words(part) for part in _parts(wish)))
    words = [word + range if word.endswith((" int", " ints")) else word for word in words]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _words(wish: ast.expr) -> str:
    name = _name(wish)
    if name in _MANY:
        plural = _PLURALS.get(_name(_element(wish)), "") if _element(wish) is not None else ""
        return f"{_MANY[name]} of {plural}" if plural else _MANY[name]
    if name in _TABLES:
        return "a dict"
    known = {"float": "a number", "bool": "True or False", "Callable": "a callable", "PathLike": "a path", "Path": "a path", "None": "None"}
    return known.get(name) or with_article(name)


def _element(wish: ast.expr) -> Any:
    """The kind of the values in a sequence; None where they differ, or where the annotation does not say."""
    if not isinstance(wish, ast.Subscript):
        return None
    inner = wish.slice
    if not isinstance(inner, ast.Tuple):
        return inner
    kinds = [one for one in inner.elts if _name(one) != "Ellipsis"]
    return kinds[0] if len({ast.dump(one) for one in kinds}) == 1 else None


def fits(wish: ast.expr, value: Any) -> bool:
    """True if a value is what an annotation wants, as far as that can be known."""
    return any(_fits(part, value) for part in _parts(wish))


def _fits(wish: ast.expr, value: Any) -> bool:
    name = _name(wish)
    if name in _MANY:
        # A text has letters, and nobody means them.
        if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
            return False
        element = _element(wish)
        return element is None or not isinstance(value, (list, tuple)) or all(fits(element, one) for one in value)
    if name in _TABLES:
        return isinstance(value, Mapping)
    if name in _CHECKS:
        return _CHECKS[name](value)
    native = getattr(_workbench, name, None)
    # Names that are of no native class say nothing.
    return not inspect.isclass(native) or isinstance(value, native)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, (str, bytes))


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "bytes": lambda value: isinstance(value, bytes),
    "bool": lambda value: isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"),
    "int": is_index,
    "float": _is_number,
    "Callable": callable,
    "PathLike": lambda value: hasattr(type(value), "__fspath__"),
    "Path": lambda value: hasattr(type(value), "__fspath__"),
    "None": lambda value: value is None,
}
