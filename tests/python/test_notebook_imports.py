"""What the notebooks import is in the environment in which `cargo xtask lab` opens them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The notebook of a torch extension is executed where torch is.
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks/python").glob("*.ipynb") if "torch" not in path.stem)


def packages() -> set[str]:
    """The names in the list of packages, and what they bring."""
    text = (ROOT / "workbench/xtask/src/python.rs").read_text()
    listed = re.search(r"^const PACKAGES: &\[&str\] =\s*&\[(.*?)\];", text, re.DOTALL | re.MULTILINE)
    assert listed is not None
    names = {re.split(r"[<>=;]", one)[0] for one in re.findall(r'"([^"]+)"', listed[1])}
    return names | {"workbench"} | ({"IPython"} if "ipykernel" in names else set())


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_environment_of_the_notebooks_has_what_they_import(notebook: Path) -> None:
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    imported = {name for cell in cells for name in re.findall(r"^(?:import|from) (\w+)", "".join(cell["source"]), re.MULTILINE)}
    assert imported - set(sys.stdlib_module_names) <= packages()
