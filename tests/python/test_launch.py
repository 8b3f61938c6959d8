"""Compiling and launching: grids, blocks, the cache, threads, forks."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import SAXPY, works

import workbench as wb

WHERE = """
__global__ void where(int* out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] += block * 1000 + thread;
}
"""


@pytest.mark.parametrize(
    ("grid", "block"),
    [(3, 4), ((3,), (4,)), ((2, 3), (4, 5)), ((2, 3, 2), (2, 2, 3)), ([2, 3], [4, 1, 2]), (np.int64(3), np.int32(4))],
)
def test_each_thread_runs_once_whatever_the_rank(grid, block):
    def count(extents):
        return int(np.prod(np.atleast_1d(extents)))

    out = np.zeros(count(grid) * count(block), np.int32)
    wb.compile(WHERE)["where"][grid, block](out)
    expected = [b * 1000 + t for b in range(count(grid)) for t in range(count(block))]
    assert out.tolist() == expected


def test_launch_takes_what_the_subscript_takes(saxpy):
    x, y = np.arange(5, dtype=np.float32), np.ones(5, np.float32)
    saxpy.launch(1, 32, [2.0, x, y, 5], shared_mem=0, stream=None, timeout=10)
    saxpy[1, 32, 0, None](2.0, x, y, 5)
    assert (y == 4 * x + 1).all()


def test_a_stream_is_refused_for_host_arrays(saxpy):
    x = np.ones(5, np.float32)
    with pytest.raises(wb.ArgumentError, match="stream must be None"):
        saxpy[1, 32, 0, object()](2.0, x, x.copy(), 5)
    with pytest.raises(wb.ArgumentError, match="stream must be None"):
        saxpy.launch(1, 32, (2.0, x, x.copy(), 5), stream=7)


@pytest.mark.parametrize("grid", [0, (1, 0), -1, 2**40, 1.5, "3", (), (1, 1, 1, 1), (1, 70_000)])
def test_a_grid_that_is_none_is_an_argument_error(saxpy, grid):
    x = np.ones(5, np.float32)
    with pytest.raises(wb.ArgumentError, match="grid"):
        saxpy[grid, 32](2.0, x, x.copy(), 5)


@pytest.mark.parametrize("block", [0, 1025, (32, 33), (1, 1, 65)])
def test_a_block_beyond_cudas_limits_is_an_argument_error(saxpy, block):
    x = np.ones(5, np.float32)
    with pytest.raises(wb.ArgumentError, match="block|thread"):
        saxpy[1, block](2.0, x, x.copy(), 5)


def test_a_kernel_without_a_grid_says_how_to_choose_one(saxpy):
    with pytest.raises(wb.ArgumentError, match=r"saxpy\[grid, block\]"):
        saxpy(1, 2, 3, 4)
    with pytest.raises(wb.ArgumentError, match=r"saxpy\[grid, block\]"):
        saxpy[4]


def test_names_are_attributes_and_keys():
    m = wb.compile(SAXPY + "int add_one(int x) { return x + 1; }")
    assert m["saxpy"].name == m.saxpy.name == "saxpy"
    assert {"saxpy", "add_one", "ir", "asm"} <= set(dir(m))
    assert m.kernels == ["saxpy"] and m.host_functions == ["add_one"]
    assert "saxpy" in repr(m)
    with pytest.raises(AttributeError, match="`saxpy`"):
        _ = m.saxpi
    with pytest.raises(KeyError, match="saxpi"):
        m["saxpi"]
    assert not hasattr(m, "nothing")


def test_kernels_show_their_signature(saxpy):
    assert saxpy.signature == "void saxpy(float a, const float* x, float* y, int n)"
    assert saxpy.signature in repr(saxpy) and saxpy.signature in inspect.getdoc(saxpy)
    assert list(saxpy.params) == ["a", "x", "y", "n"]
    assert str(inspect.signature(saxpy)) == "(a, x, y, n, /)"
    assert saxpy.__name__ == "saxpy" and saxpy.text == SAXPY


def test_host_functions_take_and_give_scalars():
    m = wb.compile(
        """
        int add_one(int x) { return x + 1; }
        double half(double x) { return x / 2; }
        bool odd(unsigned long long x) { return x % 2 == 1; }
        void nothing() { }
        """
    )
    assert m.add_one(3) == 4 and m.add_one(x=3) == 4
    assert m.half(3) == 1.5 and m.odd(2**64 - 1) is True and m.nothing() is None
    assert "int add_one(int x)" in repr(m.add_one)
    for bad in [(), (1, 2), (1.5,), (2**31,), ("1",)]:
        with pytest.raises(wb.ArgumentError):
            m.add_one(*bad)


def test_defines_options_and_headers_reach_the_text():
    source = '#include "scale.h"\n__global__ void k(int* x) { x[0] = SCALE(N) + M; }'
    m = wb.compile(source, defines={"N": 4}, options=["-DM=1", "-O3"], headers={"scale.h": "#define SCALE(v) (10 * (v))"})
    x = np.zeros(1, np.int32)
    m.k[1, 1](x)
    assert x[0] == 41


def test_an_include_folder_is_searched(tmp_path):
    (tmp_path / "a.h").write_text('#include "b.h"\n#define A (B + 1)\n')
    (tmp_path / "b.h").write_text("#define B 1\n")
    x = np.zeros(1, np.int32)
    wb.compile('#include "a.h"\n__global__ void k(int* x) { x[0] = A; }', options=[f"-I{tmp_path}"]).k[1, 1](x)
    assert x[0] == 2


def test_an_option_that_cannot_be_honoured_is_an_error():
    with pytest.raises(wb.ArgumentError, match="-funsigned-char"):
        wb.compile(SAXPY, options=["-funsigned-char"])
    with pytest.raises(wb.ArgumentError, match="list of str"):
        wb.compile(SAXPY, options="-DN=4")


def test_the_same_text_compiles_once():
    source = "\n".join(f"__global__ void k{i}(float* x) {{ x[0] = {i}.0f * sinf(x[0]); }}" for i in range(200))
    start = time.process_time()
    wb.compile(source)
    first = time.process_time() - start
    start = time.process_time()
    wb.compile(source)
    assert time.process_time() - start < first / 4


def test_the_ir_and_the_machine_code_are_text():
    m = wb.compile(SAXPY)
    assert "saxpy" in m.ir() and len(m.asm()) > 100
    with pytest.raises(wb.ArgumentError, match="cuda"):
        m.ptx()
    with pytest.raises(wb.ArgumentError, match="cuda"):
        m.cubin()


def test_modules_kernels_and_host_functions_pickle(saxpy):
    assert works(pickle.loads(pickle.dumps(saxpy)))
    m = wb.compile("int f(int x) { return x + N; }", defines={"N": 3})
    assert pickle.loads(pickle.dumps(m)).f(1) == 4
    assert pickle.loads(pickle.dumps(m.f))(1) == 4


def test_launches_from_many_threads_agree(saxpy):
    failures = []

    def run() -> None:
        for _ in range(50):
            if not works(saxpy):
                failures.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_runs_and_times_what_was_compiled_just_before_the_fork():
    # Better code of these waits for a thread that the child does not have.
    text = "__global__ void k(float* y, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = i % {}; }}"
    factors = range(3, 23)
    kernels = [wb.compile(text.format(factor)).k for factor in factors]
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            n = 1 << 16
            y, i = np.empty(n, np.float32), np.arange(n)
            for factor, kernel in zip(factors, kernels, strict=True):
                kernel[n // 256, 256](y, n)
                assert np.array_equal(y, (i % factor).astype(np.float32))
            kernels[0][1 << 14, 256](np.empty(1 << 22, np.float32), 1 << 22)
            assert wb.do_bench(lambda: kernels[1][n // 256, 256](y, n), warmup=1, rep=1) > 0
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_launch(saxpy):
    n = 1 << 20
    x, y = np.ones(n, np.float32), np.zeros(n, np.float32)
    saxpy[n // 256, 256](2.0, x, y, n)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            saxpy[n // 256, 256](2.0, x, y, n)
            fresh = wb.compile(SAXPY.replace("saxpy", "saxpy_child")).saxpy_child
            code = 0 if (y == 4).all() and works(fresh) else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    pytest.fail("the child hangs")


def test_the_import_brings_few_modules_and_no_torch():
    """Beside those that NumPy has imported there were 36 of the standard library when this was written."""
    code = (
        "import numpy, sys; before = set(sys.modules); import workbench; "
        "print(*(set(sys.modules) - before))"
    )
    brought = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    others = [name for name in brought if name.split(".")[0] != "workbench"]
    assert len(others) <= 50, sorted(others)
    slow = {"torch", "IPython", "pandas", "matplotlib", "asyncio", "email", "http", "unittest", "multiprocessing", "concurrent"}
    assert not slow & {name.split(".")[0] for name in others}


def test_devices_lists_the_cpu():
    assert "cpu" in wb.devices()


def test_a_grid_of_four_extents_is_explained():
    k = wb.compile("__global__ void k(int* x) { x[0] = 1; }").k
    x = np.zeros(1, np.int32)
    with pytest.raises(wb.ArgumentError, match="grid has at most three extents, x, y and z; got 4 of them"):
        k[(1, 1, 1, 1), 1](x)
    with pytest.raises(wb.ArgumentError, match="block has no extents"):
        k[1, ()](x)


DEFAULTS = """
constexpr int three = 3;
__global__ void k(float* y, int n = three + 1, const float* extra = nullptr, double scale = 0.5) {
    y[0] = n * scale + (extra ? extra[0] : 0.0f);
}
template <typename T> __global__ void t(T* y, T value = T(7)) { y[0] = value; }
__device__ int counter;
__global__ void runtime(float* y, int n = counter) { y[0] = n; }
"""


def test_default_arguments_of_a_kernel_may_be_left_out():
    m = wb.compile(DEFAULTS)
    y, extra = np.zeros(1, np.float32), np.full(1, 10, np.float32)
    for args, expected in [((), 2), ((6,), 3), ((6, extra), 13), ((6, extra, 2.0), 22)]:
        m.k[1, 1](y, *args)
        assert y[0] == expected
    m["t<float>"][1, 1](y)
    assert y[0] == 7


def test_a_default_that_is_no_constant_must_be_given():
    m = wb.compile(DEFAULTS)
    y = np.zeros(1, np.float32)
    with pytest.raises(wb.ArgumentError, match="`runtime` takes 2 arguments, got 1"):
        m.runtime[1, 1](y)
    with pytest.raises(wb.ArgumentError, match="`k` takes 4 arguments, got 0"):
        m.k[1, 1]()
    with pytest.raises(wb.ArgumentError, match="`k` takes 4 arguments, got 5"):
        m.k[1, 1](y, 1, None, 1.0, 2)
    m.runtime[1, 1](y, 5)
    assert y[0] == 5
