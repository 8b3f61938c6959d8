"""The part of a module's PTX that belongs to one kernel: the header, the kernel's entry, and what it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["listing_of"]

_COMMENT = re.compile(r"//[^\n]*")
_FUNCTION = re.compile(r"\.(?:entry|func)\s*(?:\([^)]*\)\s*)?([\w$]+)")
#: Names, without registers (`%f1`), types (`.f32`) and instructions (`add.f32`).
_WORD = re.compile(r"(?<![%.\w$])[A-Za-z_$][\w$]*(?![\w$.])")
#: The part of mangled names that Workbench's own functions have: its namespace, or the beginning of a name.
_OURS = "__wb"
#: Mangled names of the element types (Itanium C++ ABI, section 5.1.5.2).
_TYPES = {
    "bool": "b", "char": "c", "signed char": "a", "unsigned char": "h", "short": "s", "unsigned short": "t", "int": "i", "unsigned int": "j",
    "long": "l", "unsigned long": "m", "long long": "x", "unsigned long long": "y", "float": "f", "double": "d", "__half": "6__half",
    "__nv_bfloat16": "13__nv_bfloat16",
}  # fmt: skip


@dataclass
class _Item:
    """A directive at the top level: a function, or a variable."""

    name: str
    text: str
    is_function: bool
    is_entry: bool
    has_body: bool


def listing_of(ptx: str, kernel: str) -> str | None:
    """The header of a module's PTX, the entry of a kernel, and the functions and variables that it names; None if it has no such kernel.

    Functions of Workbench's own, such as those of printf, are declared, and their code is left out. Overloads of one name come together.

    >>> ptx = ".version 8.0\\n.target sm_90\\n.address_size 64\\n\\n.visible .entry a()\\n{\\n ret;\\n}\\n.visible .entry b()\\n{\\n ret;\\n}\\n"
    >>> print(listing_of(ptx, "b"), end="")
    .version 8.0
    .target sm_90
    .address_size 64
    <BLANKLINE>
    .visible .entry b()
    {
     ret;
    }
    """
    header, items = _taken_apart(ptx)
    entries = _entries(items, kernel)
    if not entries:
        return None
    defined: dict[str, list[_Item]] = {}
    for item in items:
        defined.setdefault(item.name, []).append(item)
    wanted: set[str] = set()
    waiting = [item.name for item in entries]
    while waiting:
        name = waiting.pop()
        if name in wanted or name not in defined:
            continue
        wanted.add(name)
        for item in defined[name]:
            if not _is_left_out(item):
                waiting += _WORD.findall(_COMMENT.sub("", item.text))
    shown = []
    for item in items:
        # What is declared in advance is shown only where its code is not.
        again = item.is_function and not item.has_body and any(one.has_body and not _is_left_out(one) for one in defined[item.name])
        if item.name in wanted and not again and not _is_left_out(item):
            shown.append(item.text)
    return "\n".join([*header, "", *shown]) + "\n"


def _is_left_out(item: _Item) -> bool:
    return item.is_function and item.has_body and not item.is_entry and _OURS in item.name


def _entries(items: list[_Item], kernel: str) -> list[_Item]:
    """The entries of a kernel's name: `scale`, `scale<float>`, `scale(double*)`."""
    short = re.split(r"[<(]", kernel, maxsplit=1)[0].rpartition("::")[2]
    found = [item for item in items if item.is_entry and short in (item.name, _last_name(item.name))]
    types = re.search(r"<(.*)>", kernel)
    codes = [] if types is None else [_TYPES.get(one.strip()) for one in types[1].split(",")]
    if codes and None not in codes:
        mangled = f"I{''.join(str(code) for code in codes)}E"
        found = [item for item in found if f"{len(short)}{short}{mangled}" in item.name]
    elif types is not None:
        found = [item for item in found if f"{len(short)}{short}I" in item.name]
    return found


def _last_name(symbol: str) -> str:
    """The last part of a mangled name: `n` of `_ZN1a1b1nE`; a name of C is its own."""
    rest, last = symbol.removeprefix("_Z"), symbol
    while rest != symbol:
        part = re.match(r"[NLKV]*(\d+)", rest)
        if part is None:
            break
        end = part.end() + int(part[1])
        last, rest = rest[part.end() : end], rest[end:]
    return last


def _taken_apart(ptx: str) -> tuple[list[str], list[_Item]]:
    """The lines up to the size of addresses, and the directives after them."""
    lines = ptx.rstrip("\0\n").split("\n")
    end = next((i + 1 for i, line in enumerate(lines) if line.startswith(".address_size")), 0)
    items: list[_Item] = []
    kept: list[str] = []
    depth = 0
    for line in lines[end:]:
        bare = _COMMENT.sub("", line).strip()
        if depth == 0 and not bare:
            # The linkage of what follows; other comments are about variables that have moved.
            kept += [line] if not kept and re.match(r"\s*// \.(globl|weak)\b", line) else []
            continue
        kept.append(line)
        depth += bare.count("{") - bare.count("}")
        is_alone = bare.startswith((".file", ".loc"))
        if depth == 0 and (bare.endswith((";", "}")) or is_alone):
            if not is_alone:
                items.append(_item("\n".join(kept)))
            kept = []
    return lines[:end], items


def _item(text: str) -> _Item:
    bare = _COMMENT.sub("", text)
    head = bare.partition("{")[0]
    function = _FUNCTION.search(head)
    if function is None:
        # `.align 4 .b8 name[8] = {..};`
        words = _WORD.findall(re.split(r"[=\[;]", head.partition("=")[0], maxsplit=1)[0])
        return _Item(words[-1] if words else "", text, False, False, False)
    return _Item(function[1], text, True, ".entry" in head, "{" in bare)
