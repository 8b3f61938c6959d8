"""Registrations of operators with torch, now or once torch is imported: nothing here imports it."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Sequence

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

__all__ = ["define", "note_change", "set_gradient", "set_vmap"]

# The registrations that wait, in order; the last one for a name and a kind stays.
_waiting: dict[tuple[str, str], Callable[[Any], None]] = {}


def define(name: str) -> None:
    """Registers the new meaning of an operator, which has no gradient yet."""
    for kind in ("gradient", "vmap"):
        _waiting.pop((kind, name), None)
    _tell(("define", name), lambda ops: ops.define(name))


def set_gradient(name: str) -> None:
    """Registers that an operator has a gradient."""
    _tell(("gradient", name), lambda ops: ops.set_gradient(name))


def set_vmap(name: str, rule: Callable[..., Any]) -> None:
    """Registers an operator's rule for batches."""
    _tell(("vmap", name), lambda ops: ops.set_vmap(name, rule))


def note_change(name: str) -> None:
    """Notes that the shapes of an operator are computed in another way."""
    _tell(("change", name), lambda ops: ops.note_change(name))


def _tell(key: tuple[str, str], say: Callable[[Any], None]) -> None:
    if _is_there():
        _say_all()
        from . import _torch_ops

        say(_torch_ops)
        return
    if not _waiting:
        watch("torch", _say_all_there)
    _waiting.pop(key, None)
    _waiting[key] = say


def _is_there() -> bool:
    # The operators of torch are missing while it is being imported.
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "library") and hasattr(torch, "compile")


def _say_all() -> None:
    if not _waiting:
        return
    from . import _torch_ops

    first: Exception | None = None
    while _waiting:
        key = next(iter(_waiting))
        try:
            _waiting.pop(key)(_torch_ops)
        except Exception as error:  # the others are to be heard
            first = first or error
    if first is not None:
        raise first


def _say_all_there() -> None:
    try:
        _say_all()
    except Exception as error:  # torch itself is there
        warnings.warn(f"operators of Workbench are not in torch.ops: {error}", stacklevel=2)


class _Watcher:
    """Waits for the import of a module, and acts when that is done."""

    def __init__(self, name: str, act: Callable[[], None]) -> None:
        self.name, self.act = name, act

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        # The search is that of `importlib.util.find_spec`, a module that takes too long to import.
        found = (finder.find_spec(fullname, path, target) for finder in list(sys.meta_path))
        spec = next((one for one in found if one is not None), None)
        if spec is None or spec.loader is None:
            watch(self.name, self.act)
            return spec
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            self.act()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def watch(name: str, act: Callable[[], None]) -> None:
    """Calls a function once a module is imported by any code."""
    if not any(isinstance(finder, _Watcher) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher(name, act))  # type: ignore[arg-type]
