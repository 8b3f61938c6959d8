"""Output of kernels in a cell: a bounded part is shown, and all of it can be had."""

from __future__ import annotations

import sys

import pytest

import workbench as wb
from workbench import _printf_output

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")

PRINTS = '__global__ void prints(int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) printf("line %d\\n", i); }'


class Page:
    """A stream that is taken for a page's, as its class is of the package that has those."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


Page.__module__ = "ipykernel.iostream"


@pytest.fixture
def cell(monkeypatch):
    """Runs a text as a cell; gives what its page shows."""
    # A new shell counts its cells from one again.
    monkeypatch.setattr(_printf_output, "_last", _printf_output._Cell(None))
    shell = interactiveshell.InteractiveShell.instance(colors="nocolor")
    shell.user_ns.update(wb=wb, prints=wb.compile(PRINTS).prints)

    def run(text):
        page = Page()
        with monkeypatch.context() as context:
            context.setattr(sys, "stdout", page)
            assert shell.run_cell(text, store_history=True).success
        return page.text

    yield run
    interactiveshell.InteractiveShell.clear_instance()


def lines(count):
    return "".join(f"line {i}\n" for i in range(count))


def test_a_cell_shows_a_thousand_lines_and_says_how_many_there_are_more(cell):
    assert cell("prints[1, 1000](1000)") == lines(1000)
    assert cell("prints[98, 1024](100000)") == lines(1000) + "[99,000 more lines of this launch are not shown, nor those of later ones; wb.printed() has them]\n"
    assert wb.printed() == lines(100000)


def test_launches_of_a_cell_share_its_lines(cell):
    assert cell("for i in range(3): prints[1, 600](600)") == lines(600) + lines(400) + "[200 more lines of this launch are not shown, nor those of later ones; wb.printed() has them]\n"
    assert wb.printed() == lines(600) * 3
    # Another cell begins anew.
    assert cell("prints[1, 2](2)") == lines(2) and wb.printed() == lines(2)


def test_long_lines_count_by_their_characters(cell):
    long = f'wb.compile(r\'__global__ void k() {{ printf("{"x" * 999}\\n"); }}\').k[1, 300]()'
    assert cell(long) == ("x" * 999 + "\n") * 100 + "[200 more lines of this launch are not shown, nor those of later ones; wb.printed() has them]\n"


def test_a_fault_and_a_host_function_print_as_a_launch_does(cell):
    text = 'm = wb.compile(r\'__global__ void k(int* x) { printf("%d\\n", threadIdx.x); } void host() { for (int i = 0; i < 2000; i++) printf("%d\\n", i); }\'); m.host()'
    assert cell(text).endswith("\n999\n[1,000 more lines of this launch are not shown, nor those of later ones; wb.printed() has them]\n")


def test_outside_of_a_page_nothing_is_hidden(capsys):
    kernel = wb.compile(PRINTS).prints
    kernel[2, 1024](2000)
    assert capsys.readouterr().out == lines(2000) == wb.printed()
    kernel[1, 1](1)
    assert wb.printed() == "line 0\n"


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(_printf_output, "KEPT", 10)
    kept = _printf_output._Cell(1)
    for _ in range(5):
        kept.add(_printf_output.Output("12345\n", bytes(_printf_output.PLACE), (), 0))
    assert [output.text for output in kept.outputs] == ["12345\n"] * 2 and kept.lost == 3


def test_a_process_without_a_console_prints_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    wb.compile(PRINTS).prints[1, 1](1)
