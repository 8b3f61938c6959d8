"""The operators that ship, exported as torch extensions and built by nvcc: their own tests, on CUDA tensors too."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch.utils.cpp_extension import CUDA_HOME

import workbench as wb

ROOT = Path(__file__).parents[2]
MANIFESTS = sorted((ROOT / "kernels").rglob("*.toml"))


def build(folder: Path) -> tuple[int, str]:
    """Builds an extension where it is and runs its tests; the exit code, and what was said."""
    major, minor = torch.cuda.get_device_capability()
    environment = {**os.environ, "TORCH_CUDA_ARCH_LIST": f"{major}.{minor}", "MAX_JOBS": "2", "CUDA_HOME": str(CUDA_HOME)}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    said = ""
    for command in (["setup.py", "build_ext", "--inplace"], ["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "."]):
        done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
        said = done.stdout[-3000:] + done.stderr[-3000:]
        if done.returncode != 0:
            return done.returncode, said
    return 0, said


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    if CUDA_HOME is None:
        pytest.skip("there is no nvcc")
    folder = tmp_path_factory.mktemp("exports")
    folders = [wb.load_library(path, trust=True).export(folder / path.stem) for path in MANIFESTS]
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 2)) as pool:
        return dict(zip((path.stem for path in MANIFESTS), pool.map(build, folders)))


@pytest.mark.parametrize("name", [path.stem for path in MANIFESTS])
def test_it_is_built_by_nvcc_and_agrees(name: str, built: dict[str, tuple[int, str]]):
    code, said = built[name]
    assert code == 0, said
    assert "no GPU" not in said, said
