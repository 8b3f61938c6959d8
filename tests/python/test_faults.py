"""Faults of launches: kind, place, thread; and that the process goes on."""

from __future__ import annotations

import _thread
import html
import os
import pickle
import re
import threading
import time

import numpy as np
import pytest
from conftest import SPIN, works

import workbench as wb

ALGORITHMS = """
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <cub/cub.cuh>
struct Far { const int* p; __host__ __device__ int operator()(int x) const {
    return p[x + 100]; } };
struct Less { int zero; __host__ __device__ bool operator()(int a, int b) const {
    return a / zero < b; } };
"""

# A body, which line of it is at fault or None for a functor's, the algorithm, what the sentence says.
IN_ALGORITHMS = [
    ("thrust::device_vector<int> v(4, 1);\nFar far{thrust::raw_pointer_cast(v.data())};\nthrust::transform(v.begin(), v.end(), v.begin(), far);",
     "return p[x + 100];", "thrust::transform", "byte 404 of `p`, which has 16 bytes"),
    ("thrust::device_vector<int> v(4, 1);\nint* p = thrust::raw_pointer_cast(v.data());\n"
     "thrust::for_each(v.begin(), v.end(), [=] __device__(int& x) {\n  x = p[1000];\n});", "x = p[1000];", "thrust::for_each", "byte 4000 of `p`"),
    ("thrust::device_vector<int> v(4, 1), w(2);\nthrust::transform(v.begin(), v.end(), w.begin(), thrust::negate<int>());",
     "thrust::transform(v.begin()", "thrust::transform", "byte 8 of the buffer, which has 8 bytes"),
    ("thrust::device_vector<int> v(4, 1);\nint s = thrust::reduce(v.begin(), v.begin() + 10);", "thrust::reduce", "thrust::reduce", "byte 16 of the buffer"),
    ("thrust::device_vector<int> v(40, 1);\nthrust::sort(v.begin(), v.end(), Less{0});", "return a / zero < b;", "thrust::sort", "1 / 0"),
    ("int *d, *o; cudaMalloc(&d, 16); cudaMemset(d, 0, 16); cudaMalloc(&o, 4);\nsize_t bytes = 1 << 16; void* temp; cudaMalloc(&temp, bytes);\n"
     "cub::DeviceReduce::Sum(temp, bytes, d, o, 8);", "cub::DeviceReduce::Sum", "cub::DeviceReduce::Sum", "byte 16 of the buffer"),
]


@pytest.mark.parametrize("body, at, algorithm, sentence", IN_ALGORITHMS)
def test_a_fault_in_an_algorithm_names_it_and_the_line_that_calls_it(body, at, algorithm, sentence):
    text = ALGORITHMS + "int f() {\n" + body + "\nreturn 0; }\nint g() { thrust::device_vector<int> v(4, 1); return thrust::reduce(v.begin(), v.end()); }"
    m = wb.compile(text)
    with pytest.raises(wb.KernelFault) as caught:
        m.f()
    assert caught.value.kernel == algorithm
    assert at in text.splitlines()[caught.value.line - 1]
    assert sentence in str(caught.value) and "__wb" not in str(caught.value), caught.value
    assert m.g() == 4


FAULTS = [
    ("out-of-bounds write", "x[n] = 1;"),
    ("out-of-bounds write", "x[-1] = 1;"),
    ("out-of-bounds read", "x[0] = x[n];"),
    ("out-of-bounds read", "x[0] = x[-1];"),
    ("null pointer", "int* p = 0; *p = 1;"),
    ("misaligned access", "x[0] = *(int*)((char*)x + 1);"),
    ("division by zero", "x[0] = n / zero;"),
    ("division by zero", "x[0] = n % zero;"),
    ("division overflow", "x[0] = (-2147483647 - 1) / (zero - 1);"),
    ("division overflow", "x[0] = (-2147483647 - 1) % (zero - 1);"),
    ("assertion failed", "assert(n == 3);"),
    ("trap", "__trap();"),
    ("stack overflow", "x[0] = down(n);"),
]


@pytest.mark.parametrize(("kind", "statement"), FAULTS)
def test_a_fault_names_its_place_and_the_next_call_works(saxpy, kind, statement):
    source = (
        "__device__ int down(int n) { int big[64]; big[n & 63] = n; return down(n + 1) + big[(n + 1) & 63]; }\n"
        "__global__ void wrong(int* x, int n, int zero) {\n"
        "    if (blockIdx.x == 1 && threadIdx.x == 2) {\n"
        f"        {statement}\n"
        "    }\n"
        "}\n"
    )
    kernel = wb.compile(source).wrong
    with pytest.raises(wb.KernelFault) as caught:
        kernel[2, 4](np.zeros(8, np.int32), 8, 0)
    fault = caught.value
    assert (fault.kind, fault.kernel, fault.block, fault.thread) == (kind, "wrong", (1, 0, 0), (2, 0, 0))
    assert fault.line == (1 if kind == "stack overflow" else 4) and fault.column >= 1
    assert "wrong" in str(fault) and kind in str(fault) and fault.detail
    assert wb.last_error() is fault
    assert works(saxpy)


def test_a_fault_draws_itself_and_travels():
    kernel = wb.compile("__global__ void k(int* x) {\n    x[7] = 1;\n}").k
    with pytest.raises(wb.KernelFault) as caught:
        kernel[1, 1](np.zeros(3, np.int32))
    fault = caught.value
    assert "x[7] = 1;" in str(fault) and "^" in str(fault)
    assert "x[7] = 1;" in html.unescape(re.sub(r"<[^>]*>", "", fault._repr_html_()))
    lines = fault._render_traceback_()
    assert lines[0].startswith("KernelFault: ") and "x[7] = 1;" in "\n".join(lines)
    twin = pickle.loads(pickle.dumps(fault))
    assert (str(twin), twin.kind, twin.line, twin.thread) == (str(fault), fault.kind, fault.line, fault.thread)


def test_a_write_to_a_const_array_is_a_fault():
    kernel = wb.compile("__global__ void k(const int* x) { ((int*)x)[0] = 1; }").k
    x = np.zeros(3, np.int32)
    with pytest.raises(wb.KernelFault) as caught:
        kernel[1, 1](x)
    assert caught.value.kind == "write to read-only memory" and x[0] == 0


def test_a_timeout_stops_an_endless_loop(saxpy):
    flag = np.zeros(1, np.int32)
    for timeout in (0.05, 0.2):
        start, used = time.monotonic(), time.process_time()
        with pytest.raises(wb.KernelTimeout) as caught:
            wb.compile(SPIN).spin.launch(1, 1, (flag,), timeout=timeout)
        # At most so much of the processor's time, which others on the machine do not take.
        assert timeout <= time.monotonic() - start and time.process_time() - used < timeout + 0.5
        assert caught.value.kind == "timeout" and caught.value.kernel == "spin" and caught.value.line == 1
        assert isinstance(caught.value, TimeoutError)
        assert pickle.loads(pickle.dumps(caught.value)).kernel == "spin"
    assert works(saxpy)


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_a_timeout_that_is_none_is_an_argument_error(timeout):
    with pytest.raises(wb.ArgumentError, match="timeout"):
        wb.compile(SPIN).spin.launch(1, 1, (np.ones(1, np.int32),), timeout=timeout)


@pytest.mark.parametrize(("grid", "block"), [(1, 1), (64, 128)])
def test_an_interrupt_is_a_keyboard_interrupt_at_once(saxpy, grid, block):
    sent = []

    def send() -> None:
        time.sleep(0.2)
        sent.append(time.process_time())
        _thread.interrupt_main()

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        wb.compile(SPIN).spin[grid, block](np.zeros(1, np.int32))
    stopped = time.process_time()
    thread.join()
    # All threads that run blocks count.
    assert stopped - sent[0] < 0.5 * max(2, os.cpu_count() or 1)
    assert works(saxpy)


def test_a_launch_in_another_thread_is_stopped_by_interrupt(saxpy):
    ended = []

    def run() -> None:
        try:
            wb.compile(SPIN).spin[1, 1](np.zeros(1, np.int32))
        except KeyboardInterrupt as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    assert thread.is_alive()
    wb.interrupt()
    thread.join(20)
    assert not thread.is_alive() and len(ended) == 1
    assert works(saxpy)


def test_other_threads_run_while_a_small_launch_spins():
    flag = np.zeros(1, np.int32)

    def release() -> None:
        time.sleep(0.1)
        flag[0] = 1

    thread = threading.Thread(target=release)
    thread.start()
    start = time.monotonic()
    wb.compile(SPIN).spin[1, 1](flag)
    assert time.monotonic() - start < 5
    thread.join()


def test_a_compile_error_is_a_syntax_error_with_every_diagnostic():
    source = "__global__ void k(int* x) {\n    x[0] = y;\n    x[1] = z;\n}"
    with pytest.raises(wb.CompileError) as caught:
        wb.compile(source, name="In[3]")
    error = caught.value
    assert isinstance(error, SyntaxError)
    assert [(d.line, d.severity) for d in error.diagnostics] == [(2, "error"), (3, "error")]
    first = error.diagnostics[0]
    assert (first.code, first.column, first.end) == ("WB0301", 12, (2, 13))
    assert "`y`" in first.message and first.file == "In[3]"
    assert (error.filename, error.lineno, error.offset) == ("In[3]", 2, 12)
    assert "x[0] = y;" in str(error) and "x[1] = z;" in str(error) and "^" in str(error)
    assert wb.last_error() is error
    twin = pickle.loads(pickle.dumps(error))
    assert twin.diagnostics == error.diagnostics and str(twin) == str(error)


def test_argument_errors_pickle(saxpy):
    with pytest.raises(wb.ArgumentError) as caught:
        saxpy[1, 1](1)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
