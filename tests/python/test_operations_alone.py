"""Each operation of the exact sweep in a text of its own: what the library's parts need of one another is there."""

import sys
from pathlib import Path

import workbench as wb

sys.path.insert(0, str(Path(__file__).parents[1] / "torch"))
import exact  # noqa: E402


def test_each_compiles_alone():
    wrong = {}
    for number, (body, kind) in enumerate(exact.functions()):
        more = {"": "", "tensor": ", torch::Tensor b"}.get(kind, f", {kind} s")
        text = f"#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor a{more}) {{ return {body}; }}"
        try:
            wb.load_inline(f"alone_{number}", text, functions=["f"])
        except wb.CompileError as error:
            wrong[body] = str(error).splitlines()[0]
    assert not wrong
