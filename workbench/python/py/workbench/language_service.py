"""Questions of editors about CUDA C++ that is being written. The names are those of the Language Server Protocol.

The compiler's front end answers, in a millisecond or a few, whatever the text is: a text that is being written need not be right, or whole.
Offsets count characters, from 0. `defines` and `headers` are those of `workbench.compile`.

>>> from workbench import language_service
>>> source = "__global__ void fill(float4* rows) { rows[threadIdx.x]. }"
>>> [item.name for item in language_service.complete(source, source.index(". }") + 1).items]
['w', 'x', 'y', 'z']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from . import _workbench
from ._compile import macro

__all__ = [
    "Completion",
    "Completions",
    "Hover",
    "Problem",
    "Replacement",
    "Signature",
    "SignatureHelp",
    "complete",
    "hover",
    "problems",
    "signature_help",
]

_Options = tuple[list[tuple[str, str]], dict[str, str]]


@dataclass(frozen=True)
class Completion:
    """A name that may stand at the cursor: its kind in a word (`function`, `field`), its declaration, what is known of it."""

    name: str
    kind: str
    declaration: str
    documentation: str


@dataclass(frozen=True)
class Completions:
    """Names that may replace `source[start:end]`, the beginning of a name; those of the innermost scope first."""

    start: int
    end: int
    items: list[Completion]


@dataclass(frozen=True)
class Hover:
    """The meaning of the name at `source[start:end]`: a declaration for each overload, what is known of it, and where the text declares it."""

    start: int
    end: int
    kind: str
    declarations: list[str]
    documentation: str
    declared: tuple[int, int] | None


@dataclass(frozen=True)
class Signature:
    """One overload of a function, and the ranges of its parameters in the declaration."""

    declaration: str
    parameters: list[tuple[int, int]]


@dataclass(frozen=True)
class SignatureHelp:
    """The function that is called round the cursor, and the argument that the cursor is in, from 0."""

    signatures: list[Signature]
    documentation: str
    active_signature: int
    active_parameter: int


@dataclass(frozen=True)
class Replacement:
    """A change that mends a problem: `text` in the place of `source[start:end]`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Problem:
    """Something wrong with `source[start:end]`: `error` or `warning`, the code of the message, the remedy in words and as a change."""

    start: int
    end: int
    severity: str
    code: str
    message: str
    help: str
    replacement: Replacement | None


def _options(defines: Mapping[str, object] | None, headers: Mapping[str, str] | None) -> _Options:
    return [(str(key), macro(value)) for key, value in (defines or {}).items()], dict(headers or {})


def complete(
    source: str, offset: int, *, defines: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
) -> Completions:
    """Names that may stand at `offset`: members behind `.` and `->`, names in scope, CUDA's functions, types and words, macros, headers."""
    start, end, items = _workbench.complete(source, max(offset, 0), *_options(defines, headers))
    return Completions(start, end, [Completion(*item) for item in items])


def hover(
    source: str, offset: int, *, defines: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
) -> Hover | None:
    """The meaning of the name at `offset`; None where no name stands, or nothing is known of it."""
    found = _workbench.hover(source, max(offset, 0), *_options(defines, headers))
    if found is None:
        return None
    (start, end), kind, declarations, documentation, declared = found
    return Hover(start, end, kind, declarations, documentation, declared)


def signature_help(
    source: str, offset: int, *, defines: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
) -> SignatureHelp | None:
    """The function that is called round `offset`; None outside of a call."""
    found: Any = _workbench.signature_help(source, max(offset, 0), *_options(defines, headers))
    if found is None:
        return None
    signatures, *rest = found
    return SignatureHelp([Signature(*signature) for signature in signatures], *rest)


def problems(
    source: str, *, defines: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
) -> list[Problem]:
    """Everything that is wrong with a text, in the order of its places, as `workbench.compile` would report it."""
    found = []
    for (start, end), severity, code, message, remedy, replacement in _workbench.problems(source, *_options(defines, headers)):
        change = Replacement(*replacement[0], replacement[1]) if replacement is not None else None
        found.append(Problem(start, end, severity, code, message, remedy, change))
    return found
