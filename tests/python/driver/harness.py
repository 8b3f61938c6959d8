"""Runs cases on the driver that stands in for NVIDIA's (`standin.c`), each in a process of its own."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb

FOLDER = Path(__file__).parent


def cases(*files: str) -> list[str]:
    """The cases in files, as `file:function`."""
    found = []
    for file in files:
        tree = ast.parse((FOLDER / f"{file}.py").read_text())
        found += [f"{file}:{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")]
    return found


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a process that finds the stand-in where it looks for NVIDIA's driver; it is built in `folder`."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("the stand-in driver needs Linux and a C compiler")
    try:
        wb.compile("__global__ void k() {}", device="cuda", arch="sm_90")
    except wb.DeviceUnavailable as error:
        pytest.skip(str(error))
    for source, made in (("standin.c", "libcuda.so.1"), ("kernels.c", "kernels.so")):
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", folder / made, FOLDER / source, "-ldl"], check=True)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    return {**os.environ, "LD_LIBRARY_PATH": path, "STANDIN_KERNELS": str(folder / "kernels.so"), "STANDIN_DEVICES": "2"}


def run(case: str, environment: dict[str, str]) -> None:
    """Runs a case; what it says goes into the failure."""
    file, function = case.split(":")
    code = f"import sys; sys.path[:] = {[str(FOLDER), *sys.path]!r}; import {file}; {file}.{function}()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        pytest.fail(f"exit code {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False)
