"""One report of each kind, with known contents, and the columns that its tables are promised to have."""

from __future__ import annotations

import contextlib
import functools
import io
import pathlib
import tempfile

import numpy as np

import workbench as wb
from workbench import _workbench
from workbench.history import Comparison, History
from workbench.library_report import LibraryReport
from workbench.sweeping import SweepReport
from workbench.tuning import TuneReport

TIMES = "median:float low:float high:float"
SAMPLED = f"{TIMES} mean:float min:float max:float samples:int batch:int bytes:int flops:int tier:str"

#: The columns of each kind, by the types that they have everywhere.
COLUMNS = {
    "BenchReport": f"name:str size:int {SAMPLED}",
    "CheckReport": "output:str index:ints got:float want:float abs:float rel:float ulp:float "
    "block_x:int block_y:int block_z:int thread_x:int thread_y:int thread_z:int unwritten:bool want_unwritten:bool",
    "GradReport": "output:int output_index:ints argument:int argument_index:ints backward:float differences:float "
    "kernel:str block_x:int block_y:int block_z:int thread_x:int thread_y:int thread_z:int",
    "PrintedTable": "kernel:str block_x:int block_y:int block_z:int thread_x:int thread_y:int thread_z:int text:str",
    "TierReport": "tier:str code:str why:str notes:strs",
    "History": f"version:int made:time changes:strs restores:int passed:bool mismatches:int max_share:float size:int {TIMES}",
    "NativeHistory": f"version:int made:time changes:strs restores:int passed:bool mismatches:int max_share:float size:int {TIMES}",
    "Comparison": f"version:int size:int {SAMPLED} mismatches:int max_share:float",
    "TuneReport": f"FACTOR:float block:int status:str message:str time:float {TIMES} ratio:float ratio_low:float ratio_high:float samples:int round:int machine:str",
    "LibraryReport": "operator:str passed:bool dtypes:strs forward:int worst:float gradients:int gradient_error:float shapes:int seconds:float failures:strs",
    "SweepReport": "n:int dtype:str status:str message:str max_share:float",
    "WriterMap": "index:ints block_x:int block_y:int block_z:int thread_x:int thread_y:int thread_z:int",
}

ADD = """
__global__ void add(const float* a, const float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + (i == 5 ? 1 + b[i] : b[i]);
}"""


def quick(names, sizes, make=np.ones, **options):
    return wb.bench({name: lambda x: x for name in names}, sizes, make, seconds_per_size=0.002, **options)


def add_op(name, source=ADD, **options):
    options = {"shape": "a[n], b[n] -> y[n]", "block": 4, "reference": lambda a, b: a + b, **options}
    return wb.op(f"reports::{name}(Tensor a, Tensor b) -> Tensor", source, **options)


def bench() -> wb.BenchReport:
    """Two contestants at two sizes; the bytes of one are known."""
    return quick(['a "quoted", name', "über\nzwei"], [3, 4], bytes={'a "quoted", name': lambda n: 8 * n})


def check() -> wb.CheckReport:
    """Element 5 of 7 is 3 instead of 2, written by thread 1 of block 1."""
    one = np.ones(7, np.float32)
    return add_op("check").check(one, one)


def grad() -> wb.GradReport:
    """A gradient of 3 for a factor of 2."""
    source = "__global__ void twice(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    twice = wb.op("reports::twice(Tensor x) -> Tensor", source, shape="x[n] -> y[n]")
    twice.register_autograd(lambda ctx, grad: 3 * grad)
    return twice.gradcheck(np.ones(2, np.float32), raise_exception=False)


def tiers() -> wb.TierReport:
    """The tiers of a kernel that was never launched."""
    return wb.compile("__global__ void half(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 0.5f; }").half.tier_report(64)


@functools.cache
def history() -> History:
    """Two versions: the first is wrong and timed at two sizes, the second was never checked. It is made once in a process, as a name has one history."""
    op = add_op("history")
    one = np.ones(7, np.float32)
    op.check(one, one)
    op.bench(sizes=[3, 4], seconds_per_size=0.002)
    return add_op("history", block=8).history


def texts() -> _workbench.NativeHistory:
    """The history of a kernel of a cell: two texts, a second and a half and two seconds after 1970 began."""
    return _workbench.history_of_texts("cell", [(1.5, "int a;"), (2.0, "int b;")])


def comparison() -> Comparison:
    """A version that adds 1 to element 5 beside one that adds rightly."""
    op = add_op("comparison", ADD.replace("1 + b", "b"))
    if len(op.history) == 1:
        op = add_op("comparison")
    one = np.ones(7, np.float32)
    return op.history.compare(1, 2, one, one, seconds_per_size=0.002)


def tune() -> TuneReport:
    """Two factors, of which one is right, by two blocks."""
    source = "__global__ void scale(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = FACTOR * x[i]; }"
    options = {"schema": "reports::scale(Tensor x) -> Tensor", "shape": "x[n] -> y[n]", "reference": lambda x: 2.5 * x, "size": 100, "seconds": 0.002}
    return wb.tune(source, {"FACTOR": [2.5, 3.5], "block": [32, 64]}, make_args=lambda n: np.ones(n, np.float32), **options)


def library() -> LibraryReport:
    """Two operators of a manifest: one agrees, with one sample in two dtypes; the other has no reference."""
    text = """
    at::Tensor half(const at::Tensor& x) { return x / 2; }
    at::Tensor same(const at::Tensor& x) { return x; }
    TORCH_LIBRARY_FRAGMENT(reports_library, m) { m.def("half(Tensor x) -> Tensor", &half); m.def("same(Tensor x) -> Tensor", &same); }"""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "all.cu").write_text(text)
        (folder / "all.py").write_text("def half(x): return x / 2")
        samples = 'dtypes = ["float32", "float64"]\n[[{0}.samples]]\nx = {{ normal = [3] }}\n'
        entries = [f"[{name}]\n{samples.format(name)}" for name in ("half", "same")]
        (folder / "all.toml").write_text('source = "all.cu"\nreference = "all.py"\n' + "".join(entries))
        return wb.load_library(folder / "all.toml", trust=True).check()


def sweep() -> SweepReport:
    """Extents of which those above 5 are wrong."""
    return wb.sweep(add_op("sweep"), [3, 6, 9])


def printed() -> wb.PrintedTable:
    """Two calls of printf: thread 1 of block 0, and thread 1 of block 1."""
    source = '__global__ void says(int of) { if (threadIdx.x == 1) printf("%d, \\"%d\\"\\n", blockIdx.x, of); }'
    with contextlib.redirect_stdout(io.StringIO()):
        wb.compile(source).says[2, 3](7)
    return wb.printed_table()


def writers() -> wb.WriterMap:
    """Three elements in blocks of two threads, of which nobody writes the second."""
    return add_op("writers", ADD.replace("if (i < n)", "if (i < n && i != 1)"), block=2).writer_map(np.ones(3, np.float32), np.ones(3, np.float32))


MAKERS = {
    "BenchReport": bench,
    "CheckReport": check,
    "GradReport": grad,
    "TierReport": tiers,
    "History": history,
    "NativeHistory": texts,
    "Comparison": comparison,
    "TuneReport": tune,
    "LibraryReport": library,
    "SweepReport": sweep,
    "PrintedTable": printed,
    "WriterMap": writers,
}


def wanted(kind, report) -> list[dict]:
    """The rows of a report's tables, worked out from its attributes or by hand."""
    names = [column.split(":")[0] for column in COLUMNS[kind].split()]
    if kind == "BenchReport":
        return [{name: row[name] for name in names} for row in report.rows]
    if kind == "CheckReport":
        # One step between 2 and 4 is 2**-22, so 3 is 2**22 steps from 2.
        numbers = {"got": 3.0, "want": 2.0, "abs": 1.0, "rel": 0.5, "ulp": float(1 << 22)}
        places = {"block_x": 1, "block_y": 0, "block_z": 0, "thread_x": 1, "thread_y": 0, "thread_z": 0}
        return [{"output": "y", "index": [5], **numbers, **places, "unwritten": False, "want_unwritten": False}]
    if kind == "GradReport":
        # Differences of 2 x over 2 eps are near 2; the report has them to the last bit.
        (first, second) = (row["differences"] for row in report.mismatches)
        assert abs(first - 2) < 1e-6 and abs(second - 2) < 1e-6
        place = lambda i: {"output": 0, "output_index": [i], "argument": 0, "argument_index": [i]}
        nobody = dict.fromkeys(names[6:])
        return [{**place(i), "backward": 3.0, "differences": value, **nobody} for i, value in enumerate((first, second))]
    if kind == "TierReport":
        assert [row["tier"] for row in report.rows] == ["soon", "good", "lanes", "wide"]
        return [{name: row[name] for name in names} for row in report.rows]
    if kind == "History":
        (first, second) = report.versions
        assert not first.check["passed"] and [time["size"] for time in first.times] == [3, 4] and second.check is None
        none = dict.fromkeys(names)
        head = {"version": 1, "made": first.made, "changes": [], "restores": None, "passed": False, "mismatches": 1, "max_share": first.check["max_share"]}
        rows = [{**head, **{name: time[name] for name in ("size", "median", "low", "high")}} for time in first.times]
        return [*rows, {**none, "version": 2, "made": second.made, "changes": ["block=8"]}]
    if kind == "NativeHistory":
        none = dict.fromkeys(names)
        return [{**none, "version": number, "made": made, "changes": []} for number, made in ((1, 1.5), (2, 2.0))]
    if kind == "Comparison":
        timed = {row["name"]: {name: row[name] for name in names[1:-2]} for row in report.bench.rows}
        # The tolerance of float32 is 1.3e-6 * 2 + 1e-5.
        outcome = {1: (None, None), 2: (1, 1 / (1e-5 + 1.3e-6 * 2))}
        return [{"version": v, **timed[f"version {v}"], **dict(zip(names[-2:], outcome[v]))} for v in (2, 1)]
    if kind == "TuneReport":
        none = dict.fromkeys(names)
        return [{**none, **row["config"], **{name: row[name] for name in names if name in row}} for row in report.rows]
    if kind == "LibraryReport":
        (half, same) = report
        numbers = {"gradients": 0, "gradient_error": 0.0}
        right = {"passed": True, "dtypes": ["float32", "float64"], "forward": 2, "worst": 0.0, "shapes": 2, "seconds": half.seconds, "failures": []}
        wrong = {"passed": False, "dtypes": [], "forward": 0, "worst": 0.0, "shapes": 0, "seconds": 0.0, "failures": ["same has samples and no reference"]}
        return [{"operator": "half", **numbers, **right}, {"operator": "same", **numbers, **wrong}]
    if kind == "PrintedTable":
        row = lambda block: {"kernel": "says", "block_x": block, "block_y": 0, "block_z": 0, "thread_x": 1, "thread_y": 0, "thread_z": 0}
        return [{**row(block), "text": f'{block}, "7"\n'} for block in (0, 1)]
    if kind == "WriterMap":
        zero = {"block_y": 0, "block_z": 0, "thread_y": 0, "thread_z": 0}
        row = lambda i, block, thread: {**dict.fromkeys(names), "index": [i], **zero, "block_x": block, "thread_x": thread}
        return [row(0, 0, 0), {**dict.fromkeys(names), "index": [1]}, row(2, 1, 0)]
    assert kind == "SweepReport"
    assert [row["status"] for row in report.rows] == ["ok", "wrong", "wrong"]
    return [{"n": n, "dtype": None, **{name: row[name] for name in names[2:]}} for n, row in zip((3, 6, 9), report.rows)]
