"""Versions of an operator of a kernel: Python's part of them, by which an old one is made again."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Callable, Mapping

from . import _workbench
from ._workbench import CheckReport, Kernel, Module, NativeHistory
from .copying import copies
from .errors import make_argument_error
from .history import History
from .python_implementations import Outside

#: The most versions of an operator that Python keeps its part of, as the native half keeps its own.
MOST = 1000


@dataclass(frozen=True)
class Kept:
    """Python's part of a version: its schema, the state of its module, the other parts, its registrations."""

    schema: str
    module: tuple[Any, ...]
    parts: dict[str, Any]
    reference: Callable[..., Any] | None
    fake: Callable[..., Any] | None
    gradient: tuple[Callable[..., Any] | None, Callable[..., Any] | None]
    vmap: Callable[..., Any] | None
    others: Mapping[int, Outside | Kernel]


#: Python's part of the versions of each name, by their numbers.
_kept: dict[str, dict[int, Kept]] = {}


def kept_of(name: str) -> dict[int, Kept]:
    """Python's part of the versions of a name, whatever class the operator has had meanwhile."""
    return _kept.setdefault(name, {})


class Versioned:
    """The half of an operator that knows its versions."""

    name: str
    schema: str
    module: Module
    reference: Callable[..., Any] | None
    _parts: dict[str, Any]
    _fake: Callable[..., Any] | None
    _gradient_rule: tuple[Callable[..., Any] | None, Callable[..., Any] | None]
    _vmap_rule: Callable[..., Any] | None
    _others: Mapping[int, Outside | Kernel]
    _successor: Any
    _number: int
    _history: Callable[[], NativeHistory]
    _arguments: Callable[..., Any]
    _serving: Callable[..., Any]
    _outcome: Callable[..., Any]
    #: Python's part of earlier versions, by their numbers.
    _kept: dict[int, Kept]
    #: The operator that it is a version of.
    _of: Any = None

    @property
    def history(self) -> History:
        """Its versions: each definition that differed from the one before, with its checks and its times; see `History`."""
        return History(self, self._history())

    def _version_number(self, number: Any) -> int:
        """The number of a version that there is; negative ones count from the newest."""
        versions = self._history().versions
        first, last = versions[0]["number"], versions[-1]["number"]
        if isinstance(number, bool) or not hasattr(type(number), "__index__"):
            raise make_argument_error(f"a version of `{self.name}` is a number from {first} to {last}, got {number!r}")
        wanted = operator.index(number)
        at = wanted + len(versions) if wanted < 0 else wanted - first
        if not 0 <= at < len(versions):
            raise make_argument_error(f"`{self.name}` has no version {wanted}; its versions are {first} to {last}")
        return int(versions[at]["number"])

    def _kept_of(self, number: int) -> Kept:
        if number == self._number and self._successor is None:
            return self._as_kept()
        kept = self._kept.get(number)
        if kept is None:
            raise make_argument_error(f"version {number} of `{self.name}` cannot be made again")
        return kept

    def _as_kept(self) -> Kept:
        _, state = self.module.__reduce__()
        rules = (self.reference, self._fake, self._gradient_rule, self._vmap_rule)
        return Kept(self.schema, state, self._parts, *rules, dict(self._others))

    def _keep(self) -> None:
        """Keeps what Python has of this version, for when another one has taken its place."""
        self._kept[self._number] = self._as_kept()
        while len(self._kept) > MOST:
            self._kept.pop(next(iter(self._kept)))

    def _check_beside(
        self, other: Any, args: tuple[Any, ...], rtol: float | None, atol: float | None, equal_nan: bool, title: str, against: str
    ) -> CheckReport:
        """Compares its results with another version's, without a note."""
        inputs = [self._arguments(args, {}), other._arguments(args, {})]
        if any(one._serving("cpu", given) is not None for one, given in zip((self, other), inputs)):
            expected, actual = other._outcome(copies(inputs[1])), self._outcome(copies(inputs[0]))
            return _workbench.check_results(actual, expected, rtol, atol, equal_nan, title, against)
        return _workbench.check_versions(other, self, inputs[0], rtol, atol, equal_nan, title, against)

    def _against(self, against: int | str) -> int:
        if isinstance(against, str) and against != "previous":
            raise make_argument_error(f'against is the number of a version or "previous", got {against!r}')
        if against != "previous":
            return self._version_number(against)
        before = [version["number"] for version in self._history().versions if version["number"] < self._number]
        if not before:
            raise make_argument_error(f"`{self.name}` has no version before this one")
        return int(before[-1])
