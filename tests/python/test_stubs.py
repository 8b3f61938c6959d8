"""The stubs of the native half, held against the module: names and parameters, both ways."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import workbench
from workbench import _workbench

STUB = ast.parse((Path(workbench.__file__).parent / "_workbench.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def public(names) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def members(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}


def parameters(node: ast.FunctionDef) -> list[str]:
    spec = node.args
    names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    names += [f"*{spec.vararg.arg}"] if spec.vararg else []
    names += [a.arg for a in spec.kwonlyargs] + ([f"**{spec.kwarg.arg}"] if spec.kwarg else [])
    return [name for name in names if name != "self"]


def real_parameters(function) -> list[str]:
    names = []
    for parameter in inspect.signature(function).parameters.values():
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        names.append(f"{mark}{parameter.name}")
    return [name for name in names if name != "self"]


def test_the_module_and_its_stub_have_the_same_names():
    declared = set(CLASSES) | set(FUNCTIONS) | {n.target.id for n in STUB.body if isinstance(n, ast.AnnAssign)}
    assert public(declared) == public(vars(_workbench))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_parameters_declared(name):
    assert parameters(FUNCTIONS[name]) == real_parameters(getattr(_workbench, name))


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_the_members_declared(name):
    real = vars(getattr(_workbench, name))
    stub = members(CLASSES[name])
    assert public(stub) == public(real)
    for special in set(stub) - public(stub):
        # A native `__getattr__` is one slot with `__getattribute__`.
        slot = "__getattribute__" if special == "__getattr__" else special
        assert slot in real or slot == "__init__", f"{name}.{special} is only in the stub"
    for member in public(stub):
        if callable(real[member]):
            assert parameters(stub[member]) == real_parameters(real[member]), f"{name}.{member}"


def test_the_package_is_marked_as_typed():
    assert (Path(workbench.__file__).parent / "py.typed").exists()
