"""Operators of texts in `torch.ops`, where torch is loaded: its dispatcher calls them with CPU tensors."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from ._workbench import LibraryOp

__all__ = ["register"]

# torch forgets what a `Library` registered when it goes.
_libraries: dict[str, Any] = {}


def register(names: Sequence[str]) -> None:
    """Defines operators, or defines them anew, by their qualified names."""
    for name in names:
        namespace, short = name.split("::")
        old = _libraries.pop(name, None)
        if old is not None:
            old._destroy()
            getattr(torch.ops, namespace).__dict__.pop(short, None)
        handle = LibraryOp(name)
        library = torch.library.Library(namespace, "FRAGMENT")
        for overload in handle.overloads():
            one = getattr(handle, overload)
            if not one.schema or not one.keys:
                continue
            library.define(one.schema.split("::", 1)[1])
            library.impl(short if overload == "default" else f"{short}.{overload}", one, "CPU")
        _libraries[name] = library
