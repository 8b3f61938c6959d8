"""Who printed what: rows by kernel, block and thread, filters, the table in a page, `%kernel_printf`."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pytest

import workbench as wb
from workbench import _printf_output
from workbench.printed_table import PrintedTable

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
UsageError = pytest.importorskip("IPython.core.error").UsageError

HOST = 0xFFFFFFFF


@pytest.fixture(autouse=True)
def _nothing_printed(monkeypatch):
    monkeypatch.setattr(_printf_output, "_last", _printf_output._Cell(None))


def write(*calls, dropped=0):
    """Writes calls of printf as the native half does: (kernel, block, thread, text) each, the kernel None for host code."""
    kernels = list(dict.fromkeys(kernel for kernel, *_ in calls if kernel is not None))
    number = lambda kernel: HOST if kernel is None else kernels.index(kernel)
    places = b"".join(struct.pack("<8I", len(text), number(kernel), *block, *thread) for kernel, block, thread, text in calls)
    text = "".join(text for *_, text in calls) + (f"[{dropped} more printf calls were dropped]\n" if dropped else "")
    _printf_output.write(text, places, kernels, dropped)


def grid(kernel="k", blocks=(2, 2, 1), threads=(4, 2, 1)):
    """A launch in which every thread prints its place."""
    places = [((bx, by, bz), (x, y, z)) for bz in range(blocks[2]) for by in range(blocks[1]) for bx in range(blocks[0])
              for z in range(threads[2]) for y in range(threads[1]) for x in range(threads[0])]  # fmt: skip
    write(*((kernel, block, thread, f"{block} {thread}\n") for block, thread in places))


def places(table):
    return [(row["block"], row["thread"]) for row in table.rows]


# Kernels that print.

PRINTS = """
__global__ void hello(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) printf("hello %d", i);
    if (i < n) printf(" and é\\n");
}
template <typename T> __global__ void show(const T* x) { printf("%d,%d: %g\\n", threadIdx.x, threadIdx.y, (double)x[threadIdx.y * blockDim.x + threadIdx.x]); }
__global__ void late(int* x) { if (threadIdx.x == 0) printf("before\\n"); x[threadIdx.x] = 1; }
void both() { printf("from the host\\n"); hello<<<1, 2>>>(1); }
"""


def test_each_call_is_a_row_with_its_kernel_block_and_thread(capsys):
    wb.compile(PRINTS).hello[2, 2](3)
    assert wb.printed_table().rows == [
        {"kernel": "hello", "block": (0, 0, 0), "thread": (0, 0, 0), "text": "hello 0"},
        {"kernel": "hello", "block": (0, 0, 0), "thread": (0, 0, 0), "text": " and é\n"},
        {"kernel": "hello", "block": (0, 0, 0), "thread": (1, 0, 0), "text": "hello 1"},
        {"kernel": "hello", "block": (0, 0, 0), "thread": (1, 0, 0), "text": " and é\n"},
        {"kernel": "hello", "block": (1, 0, 0), "thread": (0, 0, 0), "text": "hello 2"},
        {"kernel": "hello", "block": (1, 0, 0), "thread": (0, 0, 0), "text": " and é\n"},
    ]
    assert "".join(row["text"] for row in wb.printed_table().rows) == wb.printed() == capsys.readouterr().out


def test_threads_of_two_dimensions_and_instances_of_templates(capsys):
    kernel = wb.compile(PRINTS).show
    kernel[1, (2, 2)](np.arange(4.0))
    table = wb.printed_table(thread=(1, 1), kernel="show")
    assert [(row["thread"], row["text"]) for row in table.rows] == [((1, 1, 0), "1,1: 3\n")]
    assert len(wb.printed_table(kernel=kernel)) == 4 == len(wb.printed_table(kernel="show<double>"))


def test_host_code_has_no_block_and_no_thread(capsys):
    wb.compile(PRINTS).both()
    rows = wb.printed_table().rows
    assert rows[0] == {"kernel": None, "block": None, "thread": None, "text": "from the host\n"}
    assert [(row["kernel"], row["block"], row["text"]) for row in rows[1:]] == [("hello", (0, 0, 0), "hello 0"), ("hello", (0, 0, 0), " and é\n")]


def test_what_a_kernel_printed_before_its_fault_is_there(capsys):
    with pytest.raises(wb.KernelFault):
        wb.compile(PRINTS).late[1, 4](np.zeros(2, np.int32))
    assert [(row["kernel"], row["text"]) for row in wb.printed_table().rows] == [("late", "before\n")]


def test_an_operator_is_a_filter_of_kernels(capsys):
    text = '__global__ void half(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) { y[i] = x[i] / 2; printf("%g\\n", y[i]); } }'
    halved = wb.op("prints::halved(Tensor x) -> Tensor", text, shape="x[n] -> y[n]")
    halved(np.ones(2, np.float32))
    assert [row["text"] for row in wb.printed_table(kernel=halved).rows] == ["0.5\n", "0.5\n"]
    assert {row["kernel"] for row in wb.printed_table().rows} == {"half"}


def test_calls_that_a_launch_does_not_keep_are_counted(capsys):
    wb.compile('__global__ void k(int n) { for (int i = 0; i < n; i++) printf("%d\\n", i); }').k[1, 1](100_005)
    table = wb.printed_table()
    assert (len(table), table.missing) == (100_000, 5) and table.rows[-1]["text"] == "99999\n"
    assert "note: 5 more calls of printf were not kept" in str(table)


# The store and the filters, on calls as the native half writes them.


def test_a_script_has_the_last_launch_and_a_cell_all_of_its_launches(monkeypatch, capsys):
    write(("a", (0, 0, 0), (0, 0, 0), "1\n"))
    write(("b", (0, 0, 0), (0, 0, 0), "2\n"))
    assert [row["text"] for row in wb.printed_table().rows] == ["2\n"]
    shell = type("Shell", (), {"execution_count": 7})()
    monkeypatch.setattr(_printf_output, "running_shell", lambda: shell)
    for kernel in ("a", "b", "a"):
        write((kernel, (0, 0, 0), (0, 0, 0), "x\n"))
    assert [row["kernel"] for row in wb.printed_table().rows] == ["a", "b", "a"]
    assert [row["kernel"] for row in wb.printed_table(kernel="b").rows] == ["b"]
    table = wb.printed_table()
    shell.execution_count = 8
    write(("c", (0, 0, 0), (0, 0, 0), "y\n"))
    # A table keeps its rows.
    assert len(table) == 3 and len(wb.printed_table()) == 1


def test_what_is_kept_is_bounded_by_characters_and_by_calls(monkeypatch, capsys):
    monkeypatch.setattr(_printf_output, "running_shell", lambda: type("Shell", (), {"execution_count": 7})())
    monkeypatch.setattr(_printf_output, "CALLS", 3)
    for _ in range(4):
        write(("k", (0, 0, 0), (0, 0, 0), ""), ("k", (0, 0, 0), (1, 0, 0), ""), dropped=1)
    # Two launches fit, the second because there was room for one more call; of each one call was dropped. Two are lost with three calls each.
    assert (len(wb.printed_table()), wb.printed_table().missing) == (4, 2 + 6)
    monkeypatch.setattr(_printf_output, "_last", _printf_output._Cell(None))
    monkeypatch.setattr(_printf_output, "KEPT", 4)
    for _ in range(3):
        write(("k", (0, 0, 0), (0, 0, 0), "123\n"))
    assert (len(wb.printed_table()), wb.printed_table().missing, wb.printed()) == (1, 2, "123\n")


def test_a_process_without_a_console_has_the_table(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    write(("k", (0, 0, 0), (0, 0, 0), "x\n"))
    assert len(wb.printed_table()) == 1


@pytest.mark.parametrize(
    "given, wanted",
    [
        (0, [0]),
        (np.int32(2), [2]),
        (range(1, 3), [1, 2]),
        (range(3, 0, -2), [1, 3]),
        (slice(2), [0, 1]),
        (slice(1, None, 2), [1, 3]),
        ((None,), [0, 1, 2, 3]),
        ((slice(None), 0), [0, 1, 2, 3]),
        (lambda at: at[0] in (0, 3), [0, 3]),
        (1 << 70, []),
        (range(1, 1 << 70, 1 << 69), [1]),
        ((1, 1), []),
    ],
)
def test_a_filter_takes_indices_ranges_slices_and_callables(capsys, given, wanted):
    grid(blocks=(4, 1, 1), threads=(1, 1, 1))
    assert [row["block"][0] for row in wb.printed_table(block=given).rows] == wanted
    grid(blocks=(1, 1, 1), threads=(4, 1, 1))
    assert [row["thread"][0] for row in wb.printed_table(thread=given).rows] == wanted


def test_filters_hold_together_and_left_out_extents_are_all(capsys):
    grid()
    assert len(wb.printed_table()) == 2 * 2 * 4 * 2
    assert {block for block, _ in places(wb.printed_table(block=1))} == {(1, 0, 0), (1, 1, 0)}
    assert places(wb.printed_table(block=(1, 0), thread=(3, None, 0))) == [((1, 0, 0), (3, 0, 0)), ((1, 0, 0), (3, 1, 0))]
    assert places(wb.printed_table(block=(0, 1), thread=(slice(1, 3), 1), contains="(2, ")) == [((0, 1, 0), (2, 1, 0))]
    write(("k", (0, 0, 2), (0, 0, 5), "deep\n"))
    assert len(wb.printed_table(block=(None, None, 2), thread=(0, 0, 5))) == 1 and len(wb.printed_table(block=(None, None, 1))) == 0


def test_kernels_are_named_with_or_without_template_arguments(monkeypatch, capsys):
    monkeypatch.setattr(_printf_output, "running_shell", lambda: type("Shell", (), {"execution_count": 7})())
    at = ((0, 0, 0), (0, 0, 0))
    # Each output numbers its own kernels.
    write(("scale<float>", *at, "1\n"), ("scale", *at, "2\n"))
    write(("scaled", *at, "3\n"), ("scale<float>", *at, "4\n"), (None, *at, "5\n"))
    texts = lambda kernel: "".join(row["text"][0] for row in wb.printed_table(kernel=kernel).rows)
    assert (texts("scale"), texts("scale<float>"), texts("scaled"), texts("sca")) == ("124", "14", "3", "")
    assert texts(lambda name: name is None) == "5" and texts(lambda name: name is not None and "<" in name) == "14"
    # Filters of places leave host code out, and its rows give callables no place.
    assert len(wb.printed_table(block=0)) == 4 == len(wb.printed_table(thread=lambda at: True))


@pytest.mark.parametrize(
    "filters, said",
    [
        ({"block": -1}, "block is -1; indices are from 0 on"),
        ({"block": True}, "block is True, and True is no index"),
        ({"block": 1.5}, "block is 1.5, and 1.5 is no index"),
        ({"thread": "3"}, "thread is '3', and '3' is no index"),
        ({"thread": (0, "x")}, "and 'x' is no index; write an int, a range, a slice, None for all, or a callable"),
        ({"block": ()}, "one to three indices"),
        ({"block": (0, 0, 0, 0)}, "one to three indices"),
        ({"block": [0, 5]}, "block=lambda at: at[0] in [0, 5]"),
        ({"block": {0, 5}}, "several of one in a range"),
        ({"block": slice(4, 2)}, "no index is in 4:2"),
        ({"block": slice(0, 4, 0)}, "no index is in 0:4:0"),
        ({"block": slice(-4, None)}, "indices are from 0 on"),
        ({"block": slice("a", None)}, "'a' is no index"),
        ({"thread": (0, range(0))}, "range(0, 0) is empty"),
        ({"thread": range(-2, 3)}, "has a negative index"),
        ({"kernel": 3}, "kernel is 3; the name of a kernel is wanted"),
        ({"contains": 3}, "contains is a part of the text, a str; got 3"),
    ],
)
def test_a_filter_that_could_take_no_row_is_an_error(filters, said):
    with pytest.raises(wb.ArgumentError) as raised:
        wb.printed_table(**filters)
    assert said in str(raised.value)


def test_a_kernel_with_its_grid_is_no_filter():
    kernel = wb.compile("__global__ void k(int* x) { }").k
    with pytest.raises(wb.ArgumentError, match="the name of a kernel is wanted, the kernel itself"):
        wb.printed_table(kernel=kernel[1, 2])
    with pytest.raises(wb.ArgumentError, match="the name of a kernel is wanted"):
        wb.printed_table(kernel=wb.op("prints::twice(Tensor x) -> Tensor", "at::Tensor twice(const at::Tensor& x) { return x * 2; }"))


def test_an_error_of_a_callable_is_the_callers(capsys):
    grid()
    with pytest.raises(ZeroDivisionError):
        wb.printed_table(block=lambda at: 1 // 0)


# The table on a page.


def test_a_table_shows_itself_as_text(capsys):
    write(("hello", (0, 0, 0), (1, 0, 0), "a\tb\n"), ("hi", (10, 0, 0), (0, 2, 0), "two\nlines\n"), (None, (0, 0, 0), (0, 0, 0), "x"), dropped=2)
    assert str(wb.printed_table()) == (
        "3 calls of printf\n"
        "kernel     block  thread  text\n"
        "hello      0      1, 0    a\\tb\n"
        "hi         10     0, 2    two\\nlines\n"
        "host code                 x\n"
        "note: 2 more calls of printf were not kept"
    )
    assert repr(wb.printed_table(block=10, thread=(slice(0, 4), None), contains="two")) == (
        "1 of 3 calls of printf, block 10, thread 0:4, :, contains 'two'\n"
        "kernel  block  thread  text\n"
        "hi      10     0, 2    two\\nlines\n"
        "note: 2 more calls of printf were not kept"
    )


def test_an_empty_table_says_why(capsys):
    assert str(wb.printed_table()) == "no kernel has printed anything"
    assert str(wb.printed_table(block=3)) == "no kernel has printed anything"
    write(("hello", (0, 0, 0), (0, 0, 0), "a\n"), (None, (0, 0, 0), (0, 0, 0), "b\n"))
    assert str(wb.printed_table(kernel="helo")) == "0 of 2 calls of printf, kernel helo\nnote: no call passes these filters; who printed is hello, host code"
    page = wb.printed_table(kernel="helo")._repr_mimebundle_()["text/html"]
    assert "<table" not in page and "who printed is hello, host code" in page


def test_a_page_has_a_thousand_rows_and_counts_the_others(capsys):
    write(*(("k", (i, 0, 0), (0, 0, 0), f"<{i}>  &\n") for i in range(1500)))
    table = wb.printed_table()
    shown = table._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/html"} and len(table.rows) == 1500
    page = shown["text/html"]
    # A card: its style, which takes the page's colours, and one row for each of the first thousand calls.
    assert page.startswith('<div class="wb-card"><style>') and page.count("<tr>") == 1000 + 1
    # Text is escaped, and its spaces do not join.
    assert "<td>&lt;999&gt; \xa0&amp;</td>" in page and "&lt;1000&gt;" not in page
    assert "500 more rows are not shown; .rows has them all" in page and "500 more rows" in shown["text/plain"]
    # A long table is folded, a shorter one is open.
    assert "<details>" in page and "<details open>" in wb.printed_table(block=slice(0, 100))._repr_mimebundle_()["text/html"]


def test_long_texts_are_cut_on_the_page_and_whole_in_the_rows(capsys):
    write(("k", (0, 0, 0), (0, 0, 0), "x" * 1501 + "\n"))
    table = wb.printed_table()
    assert str(table).endswith("x" * 500 + "... and 1,001 more characters") and len(table.rows[0]["text"]) == 1502
    # 191 texts of 523 characters, the cut included, are less than 100,000 characters.
    write(*(("k", (i, 0, 0), (0, 0, 0), "x" * 600) for i in range(300)))
    cut = "x" * 500 + "... and 100 more characters"
    assert str(wb.printed_table()).count(cut) == 100_000 // len(cut)
    assert f"{300 - 100_000 // len(cut)} more rows are not shown" in str(wb.printed_table())


def test_rows_become_dataframes(capsys):
    write(("k", (1, 2, 3), (4, 5, 6), "a\n"), (None, (0, 0, 0), (0, 0, 0), "b\n"))
    table = wb.printed_table()
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    names = ["kernel", "block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z", "text"]
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == names
    assert [frame[f"block_{axis}"][0] for axis in "xyz"] == [1, 2, 3] and pandas.isna(frame.kernel[1]) and list(frame.text) == ["a\n", "b\n"]
    pytest.importorskip("polars")
    frame = table.to_polars()
    assert frame["thread_z"].to_list() == [6, None]
    assert list(wb.printed_table(block=7).to_pandas().columns) == wb.printed_table(block=7).to_polars().columns == names


def test_a_library_of_tables_that_is_not_there_is_said(monkeypatch, capsys):
    write(("k", (0, 0, 0), (0, 0, 0), "a\n"))
    for name, frame in (("pandas", wb.printed_table().to_pandas), ("polars", wb.printed_table().to_polars)):
        with monkeypatch.context() as context:
            context.delitem(sys.modules, name, raising=False)
            context.setattr(sys, "meta_path", [type("Blocks", (), {"find_spec": staticmethod(lambda one, *_, name=name: _gone(one, name))})(), *sys.meta_path])
            with pytest.raises(ImportError, match=f"`pip install {name}` installs it"):
                frame()


def _gone(wanted, name):
    if wanted == name:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


# The magic.


@pytest.fixture
def shell():
    shell = interactiveshell.InteractiveShell(colors="nocolor")
    shell.run_line_magic("load_ext", "workbench")
    return shell


@pytest.mark.parametrize(
    "line, wanted",
    [
        ("", 32),
        ("--block 1", 16),
        ("--block 1,0 --thread 3,1", 1),
        ("--thread 0:2", 16),
        ("--thread :,1", 16),
        ("--thread 1::2", 16),
        ("--block=0,0 --thread=:2,0", 2),
        ("--kernel k --contains '(1, 1, 0) (3, 0'", 1),
        ("--block {b} --thread $t", 2),
    ],
)
def test_the_magic_filters_by_its_options(shell, capsys, line, wanted):
    grid()
    shell.user_ns.update(b="0,1", t=2)
    table = shell.run_line_magic("kernel_printf", line)
    assert isinstance(table, PrintedTable) and len(table) == wanted


def test_the_magic_shows_the_table(shell, capsys):
    write(("hello", (0, 0, 0), (3, 0, 0), "hi\n"))
    capsys.readouterr()
    shell.run_cell("%kernel_printf --thread 3").raise_error()
    assert "hello   0      3       hi" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line, said",
    [
        ("--block x", "--block x: `x` is no index; write 3, or 3,1 for x and y, or 0:4 for a range"),
        ("--block 1,", "--block 1,: an index is missing"),
        ("--block 0,0,0,0", "--block 0,0,0,0: one to three indices"),
        ("--block=-1", "`-1` is no index"),
        ("--thread 1.5", "`1.5` is no index"),
        ("--thread 4:2", "--thread 4:2: no index is in 4:2"),
        ("--thread 0:4:0", "no index is in 0:4:0"),
        ("--thread 0:1:2:3", "`0:1:2:3` is no index"),
        ("--block ''", "argument --block: its value is empty"),
        ("--block 1 --block 2", "--block is there twice"),
        ("--contains", "expected one argument"),
        ("--kernel {nosuch}", "NameError"),
        ("--thread 0 1", "`1` belongs to no option"),
        ("--nonsense", "unrecognized arguments: --nonsense"),
    ],
)
def test_mistakes_in_its_line_are_usage_errors(shell, capsys, line, said):
    grid()
    with pytest.raises(UsageError) as raised:
        shell.run_line_magic("kernel_printf", line)
    assert said in str(raised.value) and str(raised.value).startswith("%kernel_printf: ")
    assert len(shell.run_line_magic("kernel_printf", "--block 0")) == 16


def test_its_help_has_examples(shell, capsys):
    shell.run_line_magic("kernel_printf", "--help")
    shown = capsys.readouterr().out
    assert shown.startswith("usage: %kernel_printf [-h]") and "\n  %kernel_printf --thread 3,1 " in shown and "blocks with these indices" in shown
