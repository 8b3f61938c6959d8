"""`op.save`: an operator as a manifest, with its text, and a Python file beside it with the functions that belong to it.

A function goes there as its own text, with what it uses before it (`functions.py`, shared with export): modules imported,
constants repeated, functions written out, operators taken into the manifest and looked up by name when called. A function that a text cannot express (a
closure, method or lambda) is refused before anything is written. `wb.load_library` runs that Python file with `trust=True`
alone, and takes no file from outside of the manifest's folder. A text's own registrations run in any case: they are host
code, checked, which reaches neither files nor the process. To unpickle an operator is to run Python that its pickle holds.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import numpy as np

from . import _workbench
from ._workbench import Kernel, Module
from .differentiable import Differentiable
from .library_operators import LibraryOp, PythonOp
from .errors import make_argument_error
from .functions import Unwritable, imported, is_installed, written
from .gradient_rules import OperatorGradient
from .operators import Op, handles

__all__ = ["save"]

#: The beginning of a file of functions.
_MARK = '"""Functions of '
#: The keys that a manifest has for itself.
_TAKEN = ("source", "text", "reference", "defines", "headers", "options")


def save(handle: Any, path: str | Path) -> None:
    """Writes an operator, and the one that computes its gradient, as a manifest."""
    path = Path(path)
    if path.suffix != ".toml":
        raise make_argument_error(f"{path}: a manifest is a .toml file")
    saved = _Saved(handle.name)
    saved.add(handle)
    functions = saved.file()
    table: dict[str, Any] = dict(saved.text or {})
    beside = path.with_suffix(".py")
    if functions is not None:
        table["reference"] = beside.name
        if beside.exists() and not beside.read_text(encoding="utf-8", errors="replace").startswith(_MARK):
            raise make_argument_error(f"{beside} is there and was not written by op.save; its functions would go there, give another path")
    text = _workbench.write_manifest(path.name, table | saved.entries)
    # Files are written only after everything else has succeeded.
    if functions is not None:
        beside.write_text(functions, encoding="utf-8")
    path.write_text(text, encoding="utf-8")


class _Saved:
    """The contents of a manifest."""

    def __init__(self, title: str) -> None:
        self.title = title
        #: The text and its options, once an operator has one.
        self.text: dict[str, Any] | None = None
        self.entries: dict[str, dict[str, Any]] = {}
        self.names: dict[str, str] = {}
        self.before: list[str] = []
        self.definitions: dict[str, str] = {}

    def add(self, handle: Any) -> str:
        """Takes an operator in, and gives the name that its entry has."""
        short = handle.name.partition("::")[2].partition(".")[0]
        if short in _TAKEN:
            raise make_argument_error(f"`{handle.name}`: an operator called `{short}` cannot be in a manifest, where that is another thing")
        if short in self.names:
            if self.names[short] != handle.name:
                raise make_argument_error(f"`{handle.name}` and `{self.names[short]}` have one name in a manifest")
            return short
        self.names[short] = handle.name
        entry = self.entries[short] = self._known(handle, short)
        if isinstance(handle, PythonOp):
            entry |= {"schema": handle.schema, "function": self.function(handle, handle.function, short, "function")}
            entry |= {"fake": self.function(handle, handle._fake, short, "fake")}
        elif isinstance(handle, LibraryOp):
            entry |= self._of_host_function(handle)
            entry |= {"fake": self.function(handle, handle._fake, short, "fake")}
        elif isinstance(handle, Op):
            entry |= self._of_kernel(handle, short)
        else:
            raise make_argument_error(f"`{handle.name}` is no operator that a manifest can hold")
        entry["kernels"] = self._others(handle, short)
        self._gradient(handle, entry, short)
        if handle.reference is not None:
            name = self.function(handle, handle.reference, short, "reference")
            entry["reference"] = name
        entry["vmap"] = self.function(handle, handle._vmap_rule, short, "vmap")
        for key in [key for key, value in entry.items() if value is None or key == "kernels" and not value]:
            del entry[key]
        return short

    def _known(self, handle: Any, short: str) -> dict[str, Any]:
        """Samples, tolerances and element types of the manifest that the operator was loaded from."""
        library = getattr(getattr(handle._samples, "func", None), "__self__", None)
        entry = {} if library is None else library._entries.get(short, {})
        return {key: entry[key] for key in ("dtypes", "tolerance", "samples") if key in entry}

    def _text(self, handle: Any, module: Module, text: str) -> None:
        """Takes in the text of an operator; all have the same one."""
        made = {"text": text, **_state(handle, module)}
        if self.text is not None and self.text != made:
            raise make_argument_error(f"`{handle.name}` is of another text than `{self.title}`, and a manifest holds one; compile both from one text")
        self.text = made

    def _of_kernel(self, handle: Op, short: str) -> dict[str, Any]:
        self._text(handle, handle.module, handle.module.text)
        parts = handle._parts
        entry: dict[str, Any] = {"schema": handle.schema, "kernel": parts["kernel"]}
        if callable(parts["shape"]):
            role = "shape_function" if handle._fake is None else "fake"
            entry[role] = self.function(handle, parts["shape"], short, role)
        else:
            entry["shape"] = parts["shape"]
        for key in ("threads", "grid", "shared_mem"):
            value = parts[key]
            several = value if isinstance(value, (tuple, list)) else [value]
            entry[key] = None if value is None else ", ".join(str(one) for one in several)
        block = parts["block"]
        entry["block"] = None if block is None else [block] if isinstance(block, int) else list(block)
        return entry

    def _of_host_function(self, handle: LibraryOp) -> dict[str, Any]:
        modules = handle._modules
        if len(modules) != 1:
            raise make_argument_error(f"`{handle.name}` is of {len(modules)} texts, and a manifest holds one")
        if handle._origin is None:
            # The text registers the operator itself.
            self._text(handle, modules[0], modules[0].text)
            return {"operator": handle.name}
        text, function = handle._origin
        self._text(handle, modules[0], text)
        return {"schema": handle.schema, "kernel": function}

    def _others(self, handle: Any, short: str) -> list[dict[str, Any]]:
        """The additions of `register_kernel`."""
        others: list[dict[str, Any]] = []
        for number, one in sorted(handle._others.items()):
            if isinstance(one, Kernel):
                others.append({"kernel": one.name, "text": one.module.text, **_state(handle, one.module)})
                continue
            name = self.function(handle, one.function, f"{short}_{number}", "kernel")
            others.append({"device": one.device, "function": name} | ({} if one.dtypes is None else {"dtypes": list(one.dtypes)}))
        return others

    def _gradient(self, handle: Any, entry: dict[str, Any], short: str) -> None:
        gradient = getattr(handle._backward, "__self__", None)
        if not isinstance(gradient, OperatorGradient):
            entry["gradient"] = self.function(handle, handle._backward, short, "gradient")
            entry["setup"] = self.function(handle, handle._setup, short, "setup")
            return
        other = gradient.called()
        if not isinstance(other, Differentiable):
            raise make_argument_error(
                f"the gradient of `{handle.name}` is by {other!r}, which is no operator; wb.op makes one of it"
            )
        entry |= {"backward": self.add(other), "saves": gradient.saves, "differentiable": gradient.differentiable}

    def function(self, handle: Any, function: Callable[..., Any] | None, short: str, role: str) -> str | None:
        """Takes a function in, and gives the name that it has in the file."""
        if function is None:
            return None
        if isinstance(function, Differentiable):
            self.add(function)
            name = f"{short}_{role}"
            self._define(name, _wrapper(name, function), handle, role)
            return name
        if isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is function:
            self.before.append("import numpy as np")
            name = f"{short}_{role}"
            self._define(name, f"{name} = np.{function.__name__}\n", handle, role)
            return name
        if is_installed(function):
            name = f"{short}_{role}"
            self.before.append(imported(function, name))
            return name
        try:
            made = written(function, self._line)
        except Unwritable as error:
            raise make_argument_error(f"the {role} of `{handle.name}` cannot be saved: {error}") from None
        for one in made.before:
            self._needed(one, handle, role)
        if self.definitions.get(made.name, made.text) == made.text:
            self.definitions[made.name] = made.text
            return made.name
        # The name belongs to another function.
        if made.is_recursive:
            raise make_argument_error(f"the {role} of `{handle.name}` cannot be saved: another function is called `{made.name}`, too")
        name = f"{short}_{role}"
        self._define(name, made.text.replace(f"def {made.name}(", f"def {name}(", 1), handle, role)
        return name

    def _define(self, name: str, text: str, handle: Any, role: str) -> None:
        if self.definitions.setdefault(name, text) != text:
            raise make_argument_error(f"the {role} of `{handle.name}` cannot be saved: something else is called `{name}` already")

    def _needed(self, text: str, handle: Any, role: str) -> None:
        """Takes in the lines before a function."""
        if text.startswith(("import ", "from ")):
            self.before.append(text)
        elif text.startswith("def "):
            self._define(text[4 : text.index("(")], text, handle, role)
        else:
            self._define(text.partition(" = ")[0], text + "\n", handle, role)

    def _line(self, name: str, value: Any, used: set[str]) -> str | None:
        """The line for a global name in the file beside the manifest. An operator is taken into the manifest, and called by its name."""
        if isinstance(value, Differentiable) and value is handles.get(value.name):
            if used:
                full = value.name.replace("::", ".")
                raise Unwritable(f"it uses `{name}.{min(used)}` of an operator; wb.ops.{full}.{min(used)} says where that is")
            self.add(value)
            return _wrapper(name, value)
        if isinstance(value, ModuleType) and value.__name__ == "workbench":
            return "import workbench" + ("" if name == "workbench" else f" as {name}")
        return None

    def file(self) -> str | None:
        """The Python file, if there is anything in it."""
        if not self.definitions and not self.before:
            return None
        lines = sorted(dict.fromkeys(self.before))
        head = [f'{_MARK}{self.title}."""'] + (["\n".join(lines)] if lines else [])
        constants = [text.rstrip("\n") for text in self.definitions.values() if not text.startswith("def ")]
        functions = [text.rstrip("\n") for text in self.definitions.values() if text.startswith("def ")]
        blocks = ["\n\n".join([*head, *(["\n".join(constants)] if constants else [])]), *functions]
        return "\n\n\n".join(blocks) + "\n"


def _state(handle: Any, module: Module) -> dict[str, Any]:
    """The options that a text is compiled with."""
    if module.device != "cpu":
        raise make_argument_error(f"`{handle.name}` has kernels for a GPU, which a manifest cannot hold")
    _, (_, state, _) = module.__reduce__()
    made = {"defines": dict(state["defines"]), "headers": dict(state["headers"]), "options": list(state["options"])}
    return {key: value for key, value in made.items() if value}


def _wrapper(name: str, operator: Any) -> str:
    namespace, _, rest = operator.name.partition("::")
    return (
        f"def {name}(*args, **kwargs):\n    import workbench\n\n"
        f"    return workbench.ops.{namespace}.{rest}(*args, **kwargs)\n"
    )
