"""Completion and help in the lines of the magics: options, and the operators, kernels and modules that a line may name."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import Any, Mapping

from ._workbench import Kernel, KernelTemplate, Module
from .cells import MagicLine, magic_line_at
from .differentiable import Differentiable
from .magic_parsers import PARSERS

__all__ = ["Words", "complete_line", "help_at"]

#: The word that the cursor is behind, if it is behind one.
_FRAGMENT = re.compile(r"\S*\Z")
#: The kinds of things that the first word of a line may name, by its place in the parser.
_NAMED = {"OP": (Differentiable,), "NAME": (Differentiable, Kernel, KernelTemplate, Module)}


@dataclass(frozen=True)
class Words:
    """Words that may stand in the place of `fragment`, which ends at the cursor; nobody else's may if `is_all`."""

    fragment: str
    words: list[str]
    is_all: bool


def complete_line(cell: str, offset: int, space: Mapping[str, Any]) -> Words | None:
    """The words that may stand at a place of a magic's line; None outside of such lines.

    >>> complete_line("%%kernel --thr", 14, {}).words
    ['--threads']
    """
    line = magic_line_at(cell, offset, PARSERS)
    if line is None:
        return None
    before = cell[line.start : offset]
    # In quotes a word is Python's, or text of the user's.
    if not before or before.count('"') % 2 or before.count("'") % 2:
        return Words("", [], False)
    fragment = _FRAGMENT.findall(before)[0]
    given = [word for word in before[: len(before) - len(fragment)].split() if word != "\\"]
    parser = PARSERS[line.magic]()
    options = {name: action for action in parser._actions for name in action.option_strings}
    last = options.get(given[-1]) if given else None
    if last is not None and last.choices is not None:
        return Words(fragment, [choice for choice in last.choices if choice.startswith(fragment)], True)
    is_value = last is not None and last.nargs is None
    if not is_value and "=" not in fragment and (fragment.startswith("-") or not fragment and line.magic.startswith("%%")):
        taken = {options[word].dest for word in given if word in options and not isinstance(options[word], argparse._AppendAction)}
        return Words(fragment, [name for name, action in options.items() if name.startswith(fragment) and action.dest not in taken], True)
    first = next((str(action.metavar) for action in parser._actions if not action.option_strings), "")
    is_first = not is_value and first in _NAMED and all(word.startswith("-") for word in given)
    kinds = _NAMED[first if is_first else "NAME"]
    names = [name for name, value in list(space.items()) if name.startswith(fragment) and name[0] != "_" and isinstance(value, kinds)]
    # An expression may begin with any name of Python's, which IPython knows.
    return Words(fragment, sorted(names) if fragment or is_first else [], is_first and bool(names))


def help_at(cell: str, offset: int) -> str | None:
    """The help of the magic whose name is at a place, or of the option that is; None elsewhere.

    >>> print(help_at("%%kernel --name m", 12))
    --name M: land one module of this name instead of every kernel
    """
    line = magic_line_at(cell, offset, PARSERS)
    if line is None:
        return None
    parser = PARSERS[line.magic]()
    if offset <= line.start:
        return parser.format_help()
    word = _word_at(cell, offset, line)
    action = next((action for action in parser._actions if word in action.option_strings), None)
    if action is None:
        return None
    shown = " ".join([", ".join(action.option_strings), *([str(action.metavar)] if action.metavar else [])])
    return f"{shown}: {action.help}"


def _word_at(cell: str, offset: int, line: MagicLine) -> str:
    start = max(cell.rfind(space, line.start, offset) for space in " \t\n") + 1
    return cell[max(start, line.start) : line.end].split(maxsplit=1)[0] if cell[start : line.end].strip() else ""
