"""Operators of texts in `torch.ops`, where torch is loaded: its dispatcher calls them with CPU tensors."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from ._workbench import LibraryOp
from .operators import Spec

__all__ = ["register"]

# torch forgets what a `Library` registered when it goes.
_libraries: dict[str, Any] = {}


def _fake(op: LibraryOp) -> Any:
    """The shapes of the results, as torch wants them of tensors without data."""

    def tensors(value: Any) -> Any:
        if isinstance(value, Spec):
            return torch.empty(value.shape, dtype=getattr(torch, value.dtype), device="meta")
        if isinstance(value, (list, tuple)):
            return type(value)(tensors(item) for item in value)
        return value

    def fake(*args: Any, **kwargs: Any) -> Any:
        return tensors(op.fake(*args, **kwargs))

    return fake


def _cpu(op: LibraryOp) -> Any:
    """The call of torch's dispatcher: below autograd, which hands on tensors that still ask for gradients."""

    def bare(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach()
        if isinstance(value, (list, tuple)):
            return type(value)(bare(item) for item in value)
        return value

    def call(*args: Any, **kwargs: Any) -> Any:
        return op(*map(bare, args), **{name: bare(value) for name, value in kwargs.items()})

    return call


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
            target = short if overload == "default" else f"{short}.{overload}"
            library.impl(target, _cpu(one), "CPU")
            library.impl(target, _fake(one), "Meta")
        _libraries[name] = library
