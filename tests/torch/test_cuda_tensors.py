"""torch's tensors on a GPU, on a driver that stands in for NVIDIA's; those on a real one are in `tests/gpu/`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "python/driver"))

import harness  # noqa: E402


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return harness.surroundings(tmp_path_factory.mktemp("driver"))


@pytest.mark.parametrize("case", harness.cases("torch_arrays"))
def test_on_the_stand_in(case: str, surroundings: dict[str, str]):
    harness.run(case, surroundings)
