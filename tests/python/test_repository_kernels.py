"""Every kernel of the repository compiles for a GPU as it stands, and the suite that holds CPU and GPU together runs from the package."""

import pathlib
import re

import pytest

import workbench as wb
from workbench import conformance

ROOT = pathlib.Path(__file__).resolve().parents[2]


def texts():
    """Kernels that ship, and file tests that run (those that must not compile are not for NVRTC either)."""
    shipped = sorted((ROOT / "kernels").rglob("*.cu"))
    tests = sorted((ROOT / "tests" / "filetests").rglob("*.cu"))
    whole = sorted((ROOT / "tests" / "filetests" / "kernels").glob("*.cu"))
    return shipped + whole + [path for path in tests if path.read_text().startswith("// test run")]


# Kernels that the GPU's compiler does not accept unchanged yet; each entry fails once it compiles.
REFUSED = {
    "host_builtins.cu": "NVRTC has no builtins of the host's compilers",
    "legacy.cu": "compute capability 7.0 and later have no warp functions without masks",
    "spare.cu": "host classes are not blanked for a GPU, and NVRTC has none of their headers",
    "structs.cu": "designated initialisers are C++20 to NVRTC",
}


def cases():
    for path in texts():
        why = REFUSED.get(path.name) if path.parent.name in ("language", "warp") else None
        marks = [pytest.mark.xfail(raises=wb.CompileError, reason=why, strict=True)] if why else []
        yield pytest.param(path, id=str(path.relative_to(ROOT)), marks=marks)


@pytest.mark.parametrize("path", list(cases()))
def test_compiles_for_a_gpu(path):
    text = path.read_text()
    defines = dict(pair.split("=", 1) for pair in re.findall(r"define=(\S+)", text.splitlines()[0]))
    headers = {name: body.replace("\\n", "\n") for name, body in re.findall(r"^// header (\S+): (.*)$", text, re.M)}
    module = wb.compile(text, device="cuda", arch="sm_90", defines=defines, headers=headers)
    # A CUBIN is an ELF file.
    assert module.cubin()[:4] == b"\x7fELF"
    # A template is compiled where the text makes an instance of it; among whole kernels many are templates without one.
    if path.parent.name == "kernels" and path.parent.parent.name == "filetests":
        return
    for kernel in re.findall(r"(?<!>)(?<!> )(?<!>\n)__global__\s+void\s+(?:__launch_bounds__\(\d+\)\s*)?(\w+)\s*\(", text):
        assert re.search(rf"\.entry\s+\w*{kernel}", module.ptx()), kernel


def test_the_conformance_suite_passes():
    report = conformance.run(report=lambda line: None)
    states = {row["case"]: row["status"] for row in report["cases"]}
    # NVRTC is installed with the tests, so every case compiles; where there is a GPU every case also runs.
    wanted = "compiled" if report["gpu"] is None else "passed"
    assert {case: state for case, state in states.items() if state != wanted} == {}
