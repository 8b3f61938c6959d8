"""Every line of the table of bad inputs: the named error, the place, and a process that goes on."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import SPIN, works

import workbench as wb

BODY = "__global__ void k(int* x, int n) {{\n    {}\n}}"

TEXTS = {
    "lexical garbage": (BODY.format("x[0] = @ 1 ` 2;"), 2),
    "an unclosed string": (BODY.format('printf("hello);'), 2),
    "an unclosed comment": (BODY.format("x[0] = 1; /* never"), 2),
    "braces open at the end": ("__global__ void k(int* x) {\n    if (x[0]) {\n        x[1] = 2;\n", None),
    "a brace too many": ("__global__ void k(int* x) { x[0] = 1; }\n}\n", 2),
    "an unknown name": (BODY.format("x[0] = lenght;"), 2),
    "too few arguments": (BODY.format("x[0] = max(1);"), 2),
    "too many arguments": (BODY.format("x[0] = abs(1, 2);"), 2),
    "an unsupported construct": (BODY.format("asm volatile(\"nop;\");"), 2),
    "virtual functions": ("struct S { virtual int f(); };\n__global__ void k(int* x) { x[0] = sizeof(S); }", 1),
    "printf with too few arguments": (BODY.format('printf("%d %d\\n", n);'), 2),
    "printf with a wrong argument": (BODY.format('printf("%s\\n", 1.5);'), 2),
    "an unknown include": ('#include "nowhere.h"\n__global__ void k(int* x) { x[0] = 1; }', 1),
    "#error": ("#error no\n", 1),
    "a kernel with a result": ("__global__ int k(int* x) { return 1; }", 1),
    "assignment to const": ("__global__ void k(const int* x) { x[0] = 1; }", 1),
    "division by a constant zero is a fault, not this": (BODY.format("int y = n +;"), 2),
    "a macro without end": ("#define A B B\n#define B C C\n#define C D D\n#define D E E\n#define E F F\n#define F G G\n#define G H H\n#define H I I\n#define I J J\n#define J K K\n#define K L L\n#define L M M\n#define M N N\n#define N O O\n#define O P P\n#define P Q Q\n#define Q R R\n#define R S S\n#define S T T\n#define T U U\n#define U V V\n#define V W W\n#define W X X\n#define X Y Y\n#define Y 1 +\n__global__ void k(int* x) { x[0] = A 0; }", 26),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_wrong_text_is_a_compile_error_at_its_line(saxpy, what):
    source, line = TEXTS[what]
    with pytest.raises(wb.CompileError) as caught:
        wb.compile(source, name="cell")
    errors = [d for d in caught.value.diagnostics if d.severity == "error"]
    assert errors and all(d.code.startswith("WB") and d.message for d in errors)
    if line is not None:
        assert line in [d.line for d in errors]
    assert works(saxpy)


def test_an_unknown_name_comes_with_the_nearest_known_one():
    with pytest.raises(wb.CompileError) as caught:
        wb.compile("__global__ void k(float* x, int length) { x[0] = lenght + sqrft(2.0f); }")
    text = str(caught.value)
    assert "`length`" in text and "`sqrt`" in text


def test_an_unsupported_construct_says_what_to_write():
    with pytest.raises(wb.CompileError) as caught:
        wb.compile("__global__ void k(int* x) { goto end; end: x[0] = 1; }")
    first = caught.value.diagnostics[0]
    assert first.code == "WB0401" and first.help


@pytest.mark.parametrize("text", ["", " \n\t", "// nothing\n", "int x", "\x00\x01\x02", "é ü 漢字 🎉", "\\", '"', "#", "a" * 100_000])
def test_odd_texts_never_end_the_process(saxpy, text):
    try:
        wb.compile(text)
    except wb.CompileError as error:
        assert error.diagnostics
    assert works(saxpy)


def test_a_source_of_a_megabyte_ends_quickly(saxpy):
    for source in ["// " + "x" * (1 << 20), "int x;\n" * (1 << 17), "__global__ void k(int* x) { x[0] = 1; }" + " " * (1 << 20)]:
        start = time.monotonic()
        try:
            wb.compile(source)
        except wb.CompileError as error:
            assert error.diagnostics
        assert time.monotonic() - start < 60
    assert works(saxpy)


def test_a_long_compilation_is_interrupted(saxpy):
    # One kernel of that many statements is refused at once; hundreds of ordinary ones take seconds.
    source = "".join(f"__global__ void k{i}(int* x) {{ {'x[0] += 1; ' * 100} }}\n" for i in range(1000))
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    start = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        wb.compile(source)
    # Processor time, which other processes do not affect: without polls it is that of the whole text.
    assert time.process_time() - start < 1.5
    timer.join()
    assert works(saxpy)


DEEP = {
    "parentheses": "__global__ void k(int* x) { x[0] = " + "(" * 10_000 + "1" + ")" * 10_000 + "; }",
    "unary operators": "__global__ void k(int* x) { x[0] = " + "-" * 1 + "~ " * 20_000 + "1; }",
    "blocks": "__global__ void k(int* x) { " + "{" * 10_000 + "}" * 10_000 + " }",
    "conditions": "__global__ void k(int* x) { " + "if (x[0]) " * 10_000 + "x[1] = 1; }",
    "ternaries": "__global__ void k(int* x) { x[0] = " + "1 ? " * 10_000 + "1" + " : 0" * 10_000 + "; }",
    "subscripts": "__global__ void k(int* x) { x[0] = " + "x[" * 10_000 + "0" + "]" * 10_000 + "; }",
    "includes of itself": '#include "a.h"\n__global__ void k(int* x) { }',
    "pointers": "__global__ void k(int" + "*" * 20_000 + " x) { }",
}


@pytest.mark.parametrize("what", DEEP)
def test_deep_nesting_is_an_error_and_not_a_crash(saxpy, what):
    with pytest.raises(wb.CompileError):
        wb.compile(DEEP[what], headers={"a.h": '#include "a.h"\n'})
    assert works(saxpy)


def test_a_long_sum_is_no_nesting(saxpy):
    try:
        wb.compile("__global__ void k(int* x) { x[0] = 1" + " + x[1]" * 5_000 + "; }")
    except wb.CompileError as error:
        assert error.diagnostics[0].code == "WB0203"
    assert works(saxpy)


@pytest.mark.parametrize("source", [None, 3, b"bytes", ["list"]])
def test_a_source_that_is_no_text_is_an_argument_error(source):
    with pytest.raises(wb.ArgumentError, match="source"):
        wb.compile(source)


def test_an_unknown_device_is_an_argument_error():
    with pytest.raises(wb.ArgumentError, match="device"):
        wb.compile("", device="tpu")


def test_only_arrays_written_in_place_change_in_a_fault(saxpy):
    m = wb.compile("__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; y[i] = x[i]; if (i == n) y[99] = 1; }")
    x, y, other = np.arange(8, dtype=np.float32), np.zeros(8, np.float32), np.ones(8, np.float32)
    with pytest.raises(wb.KernelFault):
        m.k[1, 8](x, y, 3)
    assert (x == np.arange(8)).all() and (other == 1).all()
    assert works(saxpy)


def test_zero_size_arrays_come_back_empty_without_a_launch(muladd):
    empty = np.zeros(0, np.float32)
    out = muladd(empty, empty, 1.0)
    assert out.shape == (0,) and out.dtype == np.float32


def test_operators_copy_what_is_not_contiguous(muladd):
    base = np.arange(16, dtype=np.float32)
    assert (muladd(base[::2], base[1::2], 1.0) == base[::2] * base[1::2] + 1).all()


def test_operators_check_dtype_rank_and_dims(muladd):
    a = np.ones(4, np.float32)
    with pytest.raises(wb.ArgumentError, match=r"float64.*try .*astype\(np.float32\)"):
        muladd(a.astype(np.float64), a, 1.0)
    with pytest.raises(wb.ArgumentError, match="rank|dimension|shape"):
        muladd(a.reshape(2, 2), a, 1.0)
    with pytest.raises(wb.ArgumentError, match="`n`|n is"):
        muladd(a, np.ones(5, np.float32), 1.0)
    with pytest.raises(wb.ArgumentError):
        muladd(a, a)
    assert (muladd(a, a, 1.0) == 2).all()


def test_a_kernel_without_an_output_is_an_error():
    with pytest.raises(wb.ArgumentError, match="output"):
        wb.op("test::none(Tensor x) -> Tensor", "__global__ void k(const float* x, int n) { }")


def test_a_timeout_and_an_interrupt_from_another_thread_end_an_endless_loop(saxpy):
    spin = wb.compile(SPIN).spin
    with pytest.raises(wb.KernelTimeout):
        spin.launch(1, 1, (np.zeros(1, np.int32),), timeout=0.1)
    timer = threading.Timer(0.2, wb.interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        spin[1, 1](np.zeros(1, np.int32))
    timer.join()
    assert works(saxpy)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_after_the_first_launch(saxpy):
    assert works(saxpy)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if works(saxpy) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


NO_ROOM = """
import os, resource, sys, threading, time
import workbench as wb

TEXT = "__global__ void k(int* y) {{ y[threadIdx.x] = {}; }}"
# Not here: a thread keeps what it has once compiled in.
first = threading.Thread(target=wb.compile, args=[TEXT.format(1)])
first.start()
first.join()
# The thread gives its memory back after `join`, until the system has no such thread any more.
while os.path.exists(f"/proc/self/task/{first.native_id}"):
    time.sleep(0.001)
with open("/proc/self/statm") as f:
    size = int(f.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
soft, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), hard))
try:
    wb.compile(TEXT.format(2))
except wb.CompileError as e:
    print(e)
resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
wb.compile(TEXT.format(3))
print("goes on")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_a_process_without_address_space_is_told_and_goes_on():
    done = subprocess.run([sys.executable, "-c", NO_ROOM], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "WB0502" in done.stdout
    assert "address space" in done.stdout
    assert done.stdout.endswith("goes on\n")


def test_a_name_that_is_declared_twice_is_told_once():
    for source in ("__global__ void g(int x, int x) {}", "__device__ int f(int x, int x) { return x; }\n__global__ void g(int* y) { *y = f(1, 2); }"):
        with pytest.raises(wb.CompileError) as caught:
            wb.compile(source)
        assert [d.code for d in caught.value.diagnostics] == ["WB0302"]
