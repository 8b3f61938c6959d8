"""The notebook about GPUs, executed on one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb

NOTEBOOK = Path(__file__).parents[2] / "notebooks/python/12-the-same-on-a-gpu.ipynb"
#: Runs the cells of a notebook in IPython, which needs no Jupyter, and says whether the check on the GPU agreed.
EXECUTE = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for number, cell in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))["cells"]):
    if cell["cell_type"] == "code" and not shell.run_cell("".join(cell["source"]), store_history=True).success:
        sys.exit(f"cell {number} failed")
print("the check on the GPU:", bool(shell.user_ns["report"]))
"""


def execute() -> str:
    """What the notebook prints."""
    command = [sys.executable, "-c", EXECUTE, NOTEBOOK.name]
    done = subprocess.run(command, cwd=NOTEBOOK.parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


def test_the_notebook_about_gpus_runs_on_one():
    pytest.importorskip("IPython")
    if not any(device.startswith("cuda") for device in wb.devices()):
        pytest.skip("there is no GPU")
    said = execute()
    assert "There is a GPU, and section 6 uses it." in said and "This ran on " in said, said
    assert "the check on the GPU: True" in said and "did NOT run" not in said and "Nothing is compiled" not in said, said
    assert "There is no GPU here" not in said, said
