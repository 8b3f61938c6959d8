"""Arrays that lie on a GPU, on a driver that stands in for NVIDIA's (`driver/standin.c`): each case in a process of its own."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb

FOLDER = Path(__file__).parent / "driver"


def cases() -> list[str]:
    """The cases, as `file:function`."""
    found = []
    for file in ("raw",):
        tree = ast.parse((FOLDER / f"{file}.py").read_text())
        found += [f"{file}:{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")]
    return found


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that finds the stand-in where it looks for NVIDIA's driver."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("the stand-in driver needs Linux and a C compiler")
    try:
        wb.compile("__global__ void k() {}", device="cuda", arch="sm_90")
    except wb.DeviceUnavailable as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("driver")
    for source, made in (("standin.c", "libcuda.so.1"), ("kernels.c", "kernels.so")):
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", folder / made, FOLDER / source, "-ldl"], check=True)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    return {**os.environ, "LD_LIBRARY_PATH": path, "STANDIN_KERNELS": str(folder / "kernels.so"), "STANDIN_DEVICES": "2"}


def run(case: str, environment: dict[str, str]) -> None:
    """Runs a case; what it says goes into the failure."""
    file, function = case.split(":")
    code = f"import {file}; {file}.{function}()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=FOLDER, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("case", cases())
def test_on_the_stand_in(case: str, surroundings: dict[str, str]):
    run(case, surroundings)
