"""Completion, inspection and problems of CUDA C++ in cells, as IPython and a kernel ask for them."""

from __future__ import annotations

import time

import pytest

from workbench import notebook_language_service
from workbench.cells import cuda_texts

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
completer = pytest.importorskip("IPython.core.completer")

KERNEL = "%%kernel -D N=4\n__global__ void run(float4* rows, int count) {\n    int i = threadIdx.x;\n    BODY\n}\n"


@pytest.fixture
def shell():
    shell = interactiveshell.InteractiveShell()
    shell.run_line_magic("load_ext", "workbench")
    yield shell
    shell.run_line_magic("unload_ext", "workbench")


def completed(shell, cell):
    """The cells that completion makes of one with a `|`."""
    at = cell.index("|")
    cell = cell.replace("|", "", 1)
    with completer.provisionalcompleter():
        found = list(shell.Completer.completions(cell, at))
    return [cell[: item.start] + item.text + cell[item.end :] for item in found]


def test_members_complete_in_a_kernel_cell(shell):
    found = completed(shell, KERNEL.replace("BODY", "rows[i].|"))
    assert found == [KERNEL.replace("BODY", f"rows[i].{name}") for name in "wxyz"]


def test_a_beginning_is_replaced_by_the_name(shell):
    assert completed(shell, KERNEL.replace("BODY", "cou|"))[0] == KERNEL.replace("BODY", "count")
    assert KERNEL.replace("BODY", "__syncthreads") in completed(shell, KERNEL.replace("BODY", "__sync|"))


def test_macros_of_the_magics_line_are_known(shell):
    assert KERNEL.replace("BODY", "i = threadIdx") in completed(shell, KERNEL.replace("BODY", "i = threadI|"))
    problems = notebook_language_service.answer({"id": 1, "request": "problems", "cell": KERNEL.replace("BODY", "i = N + M;")})
    assert [problem["message"].split(";")[0] for problem in problems["problems"]] == ["unknown name `M`"]


def test_defines_are_read_as_the_magic_reads_them():
    for line, defines in [
        ("-D N=4 -DM", {"N": "4", "M": "1"}),
        ('-D "TYPE=unsigned int"', {"TYPE": "unsigned int"}),
        ('--reference "lambda x: x -D N=3" -D M=2', {"M": "2"}),
        ('--op "unclosed', {}),
        ("--op x \\\n  -D N=4 \\ \n -D M=2", {"N": "4", "M": "2"}),
    ]:
        (text,) = cuda_texts(f"%%kernel {line}\nint a;")
        assert dict(text.defines) == defines, line


def test_values_that_are_filled_in_later_are_no_problems():
    wrong = "__global__ void k(int* out) { int a[N]; out[0] = a[0]; }"
    for line, count in (("-D N={n}", 0), ("-D N=$n", 0), ("-D N=nothing", 1)):
        answer = notebook_language_service.answer({"id": 1, "request": "problems", "cell": f"%%kernel {line}\n{wrong}"})
        assert len(answer["problems"]) == count, line


def test_a_long_cell_is_read_in_time_that_grows_with_it():
    cell = "data = {\n" + "".join(f'  "key{i}": "value {i} something",\n' for i in range(20_000)) + "}\nda"
    start = time.process_time()
    assert cuda_texts(cell) == []
    # A quadratic walk takes minutes here.
    assert time.process_time() - start < 10


def test_python_has_no_say_in_cuda(shell):
    shell.user_ns["printer"] = 1
    assert completed(shell, KERNEL.replace("BODY", "// prin|")) in ([], [KERNEL.replace("BODY", "// prin")])


def test_strings_of_cuda_complete_and_other_text_is_pythons(shell):
    cell = 'import workbench as wb\nm = wb.compile(r"""\n__global__ void k(int* out) { out[threadI| }""")'
    assert completed(shell, cell)[0] == cell.replace("threadI|", "threadIdx")
    shell.user_ns["value"] = 3
    assert "value" in completed(shell, "val|")
    assert not any("threadIdx" in made for made in completed(shell, "threadI|"))


def test_unloading_takes_completion_away():
    shell = interactiveshell.InteractiveShell()
    shell.run_line_magic("load_ext", "workbench")
    shell.run_line_magic("load_ext", "workbench")
    assert len(shell.Completer.custom_matchers) == 1
    shell.run_line_magic("unload_ext", "workbench")
    assert shell.Completer.custom_matchers == []


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("%%kernel\n__global__ void k() {}", ["__global__ void k() {}"]),
        ("%%kernel", [""]),
        ("\n%%kernel --op x\nint a;", ["int a;"]),
        ("%%kernel --op x \\\n  --shape y\nint a;", ["int a;"]),
        ("%%time\n__global__ void k() {}", []),
        ("x = '''__global__'''; y = 'no'", ["__global__"]),
        ('m = wb.compile(r"""\nint f(""")', ["\nint f("]),
        ('m = wb.compile(r"""\nint f(', ["\nint f("]),
        ('load_inline(name="x", cuda_sources=["""int f();"""])', ["int f();"]),
        ("# wb.compile('''x''')\ny = 1", []),
        ('re.compile(r"""(?P<year>)""")', []),
        ('re.compile(r"#include <(.*)>")', []),
        ('%%time\nm = wb.compile("""int f();""")', ["int f();"]),
        ('f"""{x} __global__"""', []),
        ('a = "\\"" + """#include <x>"""', ["#include <x>"]),
        ('a = "open\nb = """__device__"""', ["__device__"]),
        ("it's\n", []),
        ("", []),
    ],
)
def test_cuda_texts_of_cells(cell, found):
    assert [cell[text.start : text.end] for text in cuda_texts(cell)] == found


def test_only_texts_that_are_compiled_as_they_stand_have_problems():
    wrong = "__global__ void k(int* out) { out[0] = nothing; }"
    asked = [f'wb.compile("""{wrong}""")', f'wb.load_inline("x", cpp_sources=a, cuda_sources="""{wrong}""")', f"%%kernel\n{wrong}"]
    asked += [f'wb.compile("""{wrong}""", defines={{"nothing": 4}})', f'wb.compile("""{wrong}""" + TAIL)', f'wb.compile("""{wrong}\\n""")']
    asked += [f'wb.compile(r"""{wrong}\\\n""")', f'compile("""{wrong}""", "<s>", "exec")', f'text = """{wrong}"""']
    counts = [len(notebook_language_service.answer({"request": "problems", "cell": cell})["problems"]) for cell in asked]
    assert counts == [1, 0, 1, 0, 0, 0, 1, 0, 0]


def test_problems_are_placed_in_utf16_units():
    cell = "%%kernel\n// 🙂🙂\n__global__ void k(int* out) { out[0] = threadidx.x; }"
    (problem,) = notebook_language_service.answer({"id": 7, "request": "problems", "cell": cell})["problems"]
    units = cell.encode("utf-16-le")
    assert units[2 * problem["from"] : 2 * problem["to"]].decode("utf-16-le") == "threadidx"
    assert problem["replacement"] == {"from": problem["from"], "to": problem["to"], "text": "threadIdx"}
    offset = problem["from"] - len("out[0] = ") + 1
    shown = notebook_language_service.answer({"id": 8, "request": "hover", "cell": cell, "offset": offset})
    assert shown == {"id": 8, "hover": "```cpp\nint* out\n```\n\n"}


def test_an_unknown_request_is_answered():
    assert "no request 'dance'" in notebook_language_service.answer({"id": 1, "request": "dance"})["error"]


class Comm:
    def __init__(self):
        self.sent, self.handler = [], None

    def on_msg(self, handler):
        self.handler = handler

    def send(self, data):
        self.sent.append(data)


class Manager:
    def __init__(self):
        self.targets = {}

    def register_target(self, name, opened):
        self.targets[name] = opened

    def unregister_target(self, name, opened):
        del self.targets[name]


class Kernel:
    """The parts of an ipykernel that are asked."""

    def __init__(self):
        self.comm_manager = Manager()

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        return {"status": "ok", "found": False, "data": {}, "metadata": {}}


def test_a_kernel_inspects_cuda_and_leaves_python_alone():
    shell = interactiveshell.InteractiveShell()
    shell.kernel = Kernel()
    shell.run_line_magic("load_ext", "workbench")
    shell.run_line_magic("load_ext", "workbench")
    cell = KERNEL.replace("BODY", "rows[i].x = fmaf(1, 2, 3);")
    reply = shell.kernel.do_inspect(cell, cell.index("fmaf") + 2, detail_level=0)
    assert reply["found"] and reply["data"]["text/plain"].startswith("float fmaf(float, float, float)\n")
    reply = shell.kernel.do_inspect(cell, cell.index("2, 3"))
    assert "Argument 2: `float`" in reply["data"]["text/markdown"]
    assert not shell.kernel.do_inspect("x = 1", 1)["found"]
    cut = cell[: cell.index("fmaf") + 4]
    assert shell.kernel.do_inspect(cut, len(cut) + 2)["found"]
    comm = Comm()
    shell.kernel.comm_manager.targets[notebook_language_service.TARGET](comm, {})
    comm.handler({"content": {"data": {"id": 1, "request": "problems", "cell": "%%kernel\n"}}})
    assert comm.sent == [{"id": 1, "problems": []}]
    shell.run_line_magic("unload_ext", "workbench")
    assert not shell.kernel.do_inspect(cell, cell.index("fmaf") + 2)["found"] and shell.kernel.comm_manager.targets == {}


GELU = '%%kernel --op "editor::gelu(Tensor x) -> Tensor" --shape "x[*] -> y[*]"\n__global__ void gelu(const float* x, float* y, int n) {}\n__global__ void geo(int* x) {}'


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%kernel --gr|", ["--grid", "--gradcheck"]),
        ("%%kernel --gr|\n__global__ void k() {}", ["--grid", "--gradcheck"]),
        ('%%kernel --op "x" --uni|\nint a;', ["--unified-memory"]),
        ("%%kernel \\\n  --gr|\nint a;", ["--grid", "--gradcheck"]),
        # An option that is given once is offered once.
        ("%%kernel --grid n --gr|\nint a;", ["--gradcheck"]),
        ("%%kernel -D N=4 -D|\nint a;", ["-D"]),
        ("%%kernel --device |\nint a;", ["cpu", "cuda", "cuda:0"]),
        ("%%kernel --device cu|", ["cuda", "cuda:0"]),
        ("%kernel_bench gelu --s|", ["--sizes"]),
        ("x = 1\nr = %kernel_bench gelu --s|\ny = 2", ["--sizes"]),
        ("%kernel_ir gelu --|", ["--help", "--asm", "--c", "--tiers", "--block"]),
        ("%kernel_ir gelu \\\n --ti|", ["--tiers"]),
        ("%kernel_printf --th|", ["--thread"]),
        ("%kernel_check gelu --r|", ["--reference", "--rtol"]),
        ("%kernel_gpu gelu --a|", ["--arch"]),
        ("%timekernel --f|", ["--flush-cache"]),
        ("%kernel_ir ge|", ["gelu", "geo"]),
        ("%kernel_gpu ge|", ["gelu", "geo"]),
        ("%kernel_history |", ["gelu", "geo"]),
        ("%%time\n%kernel_history ge|", ["gelu", "geo"]),
        ("%kernel_check ge|", ["gelu"]),
        ("%kernel_bench |", ["gelu"]),
        ("%timekernel gel|", ["gelu"]),
        ("%kernel_check gelu np.absol|", ["np.absolute"]),
        ("%%kernel --reference np.absol|\nint a;", ["np.absolute"]),
        ("%%kernel --op \"x --gr|\nint a;", []),
    ],
)
def test_words_of_a_magics_line_complete(shell, cell, words):
    shell.run_cell("import numpy as np")
    shell.run_cell(GELU)
    before, after = cell.split("|")
    start = len(before) - len(before.split(" ")[-1].split("\n")[-1])
    assert completed(shell, cell) == [before[:start] + word + after for word in words]


def test_every_magic_has_its_options_in_the_table(shell):
    from workbench.magic_parsers import PARSERS

    mine = [(f"{'%' * (1 + (kind == 'cell'))}{name}", method) for kind, known in shell.magics_manager.magics.items() for name, method in known.items()]
    assert {name for name, method in mine if type(getattr(method, "__self__", None)).__name__ == "WorkbenchMagics"} == set(PARSERS)
    assert all(parser().prog == name for name, parser in PARSERS.items())


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%ker|nel --grid n\nint a;", "usage: %%kernel"),
        ("%%kernel|", "usage: %%kernel"),
        ("%%kernel --gr|id n\nint a;", "--grid E: blocks of a launch, instead of --threads"),
        ("x = 1\n%kernel_ir| x", "usage: %kernel_ir"),
        ("%kernel_ir x --as|m", "--asm: machine code of this CPU, for one thread"),
        ("%kernel_ir x|", None),
        ("%%kernel --grid| n\nint a;", "--grid E"),
        ("%%kernel\nint a|;", "int a"),
    ],
)
def test_a_magic_and_its_options_explain_themselves(cell, said):
    shell = interactiveshell.InteractiveShell()
    shell.kernel = Kernel()
    shell.run_line_magic("load_ext", "workbench")
    reply = shell.kernel.do_inspect(cell.replace("|", ""), cell.index("|"))
    assert reply["found"] == (said is not None) and (said is None or reply["data"]["text/plain"].startswith(said))
    shell.run_line_magic("unload_ext", "workbench")
