"""Host code of plain C++: what the texts of `cpp/` log here is what they log when the system's compiler has built them."""

import functools
import pathlib
import re
import subprocess

import pytest

import workbench as wb

TEXTS = {path.stem: path.read_text() for path in sorted((pathlib.Path(__file__).parent / "cpp").glob("*.cpp"))}
CASES = [(stem, name) for stem, text in TEXTS.items() for name in re.findall(r"^//: (\w+)$", text, re.MULTILINE)]

WRAPPER = "Log run_{0}() {{\n    Log log;\n    {0}(log);\n    return log;\n}}\n"
#: A line for each case, then what it logs.
MAIN = """
#include <cstdio>
int main() {{
{}
}}
"""
SHOW = '    puts(": {0}");\n    {{ Log log; {0}(log); for (auto& line : log) puts(("." + line).c_str()); }}'


@functools.cache
def theirs(stem, folder):
    """The log of each case, built by the system's compiler."""
    source = pathlib.Path(folder) / f"{stem}.cpp"
    shows = [SHOW.format(name) for of, name in CASES if of == stem]
    source.write_text(TEXTS[stem] + MAIN.format("\n".join(shows)))
    program = source.with_suffix("")
    subprocess.run(["g++", "-std=c++17", "-O1", "-w", "-o", program, source], check=True)
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    logs = {}
    for line in output.splitlines():
        if line.startswith(": "):
            current = logs[line[2:]] = []
        else:
            current.append(line[1:])
    return logs


@functools.cache
def ours(stem):
    names = [name for of, name in CASES if of == stem]
    text = "#include <torch/extension.h>\n" + TEXTS[stem] + "".join(WRAPPER.format(name) for name in names)
    return wb.load_inline("cases", text, functions=[f"run_{name}" for name in names])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cpp"))


@pytest.mark.parametrize(("stem", "name"), CASES)
def test_as_the_systems_compiler_has_it(stem, name, folder):
    expected = theirs(stem, folder)[name]
    run = getattr(ours(stem), f"run_{name}")
    assert run() == expected
    # And once more, with what the first call has left.
    assert run() == expected
