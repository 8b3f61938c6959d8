"""Names that the cells of a notebook have made: their texts, and the ones that an edit has left behind."""

from __future__ import annotations

import builtins
import contextlib
import re
import time
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping
from weakref import WeakKeyDictionary

from ._workbench import Module
from .differentiable import Differentiable, warn_of_old

__all__ = ["Session", "Text", "session_of"]


@dataclass
class Text:
    """One text a name stood for."""

    when: float
    text: str


@dataclass
class Session:
    """The names of one notebook; it outlives a reload of the extension.

    >>> space = {}
    >>> session = Session()
    >>> session.land({"scale": 1}, "__global__ void scale() { }", space)
    []
    >>> space, session.texts["scale"][0].text
    ({'scale': 1}, '__global__ void scale() { }')
    """

    made: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, list[Text]] = field(default_factory=dict)
    #: Things that are not what the last edit says, with the reason, by name.
    old: dict[str, tuple[Any, str]] = field(default_factory=dict)

    def land(self, landed: dict[str, Any], cell: str, space: dict[str, Any]) -> list[str]:
        """Puts the things of a cell into the namespace; gives the names of others that they hide."""
        hidden = []
        for name, value in landed.items():
            if name in space and _hides(value, space[name], self.made.get(name)):
                hidden.append(_said(name, space[name]))
            elif name not in self.made and name not in space and hasattr(builtins, name):
                hidden.append(f"the builtin `{name}`")
        for name, value in landed.items():
            space[name] = self.made[name] = value
            self.old.pop(name, None)
            texts = self.texts.setdefault(name, [])
            if not texts or _bare(texts[-1].text) != _bare(cell):
                texts.append(Text(time.time(), cell))
        return hidden

    @contextlib.contextmanager
    def lent(self, landed: Mapping[str, Any], space: dict[str, Any]) -> Iterator[None]:
        """Puts the things of a cell into the namespace for as long as its line is read.

        >>> space = {"x": 1}
        >>> with Session().lent({"x": 2, "y": 3}, space):
        ...     shown = dict(space)
        >>> shown, space
        ({'x': 2, 'y': 3}, {'x': 1})
        """
        before = {name: space[name] for name in landed if name in space}
        space.update(landed)
        try:
            yield
        finally:
            for name in landed:
                space.pop(name, None)
            space.update(before)

    def leave_old(self, names: set[str | None], why: str, space: dict[str, Any]) -> None:
        """Notes that names still stand for their version before an edit."""
        for name in names - {None}:
            assert name is not None
            thing = self.made.get(name)
            if thing is not None and space.get(name) is thing:
                reason = f"`{name}` is the version before the last edit, which {why}"
                self.old[name] = (thing, reason)
                if hasattr(thing, "_mark_stale"):
                    thing._mark_stale(reason)

    def why_old(self, thing: Any) -> str | None:
        """The reason why a thing is not what the last edit says; None if it is."""
        if isinstance(thing, Differentiable):
            # A definition by `wb.op` makes it new again.
            return thing._why_stale
        return next((why for old, why in self.old.values() if old is thing), None)

    def warn(self, thing: Any, place: str | None = None) -> None:
        """Warns if a thing is not what the last edit says."""
        why = self.why_old(thing)
        if why is not None:
            warn_of_old(why, place)


def _bare(text: str) -> str:
    """A text without blank lines before and after it."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def _hides(value: Any, old: Any, made: Any) -> bool:
    """True if a thing of a cell takes the name from one that is no earlier version of it; `made` is what a cell has made of that name."""
    if old is value:
        return False
    if isinstance(old, Differentiable):
        return not isinstance(value, Differentiable) or value.name != old.name
    return old is not made or isinstance(old, Module) and not isinstance(value, Module)


def _said(name: str, old: Any) -> str:
    if isinstance(old, Differentiable):
        return f"the operator `{old.name}`, which is wb.ops.{old.name.replace('::', '.')}"
    return f"the {'module' if isinstance(old, Module) else 'variable'} `{name}`"


_sessions: WeakKeyDictionary[Any, Session] = WeakKeyDictionary()


def session_of(shell: Any) -> Session:
    """The names of a shell."""
    return _sessions.setdefault(shell, Session())
