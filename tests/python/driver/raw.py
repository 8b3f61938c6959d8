"""Raw launches on arrays that lie on a GPU: pointers, checks, streams, devices, late errors."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time

import numpy as np
import pytest
from standin import Array, Stream, calls, compiled, count_by_others, driver, launches, on

import workbench as wb

SAXPY = """__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}"""


def case_an_array_is_passed_by_its_address():
    x, y = Array(np.arange(37, dtype=np.float32)), Array(np.ones(37, np.float32))
    saxpy = compiled(SAXPY).saxpy
    calls()
    assert saxpy[2, 32](2.0, x, y, 37) is None
    assert (y.now() == 1).all(), "nobody has waited yet"
    wb.synchronize()
    assert (y.now() == 2 * np.arange(37) + 1).all()
    assert not any(line.split()[0] in ("alloc", "htod", "dtoh") for line in calls())


def refused(call, *words: str) -> str:
    """The text of the ArgumentError that a call ends in; every word is in it."""
    with pytest.raises(wb.ArgumentError) as caught:
        call()
    text = str(caught.value)
    missing = [word for word in words if word not in text]
    assert not missing, f"{missing} not in: {text}"
    return text


def case_sizes_of_nothing_and_null_pointers():
    saxpy = compiled(SAXPY).saxpy
    empty = Array(np.empty(0, np.float32))
    saxpy[1, 32](2.0, empty, empty, 0)
    y = Array(np.ones(3, np.float32))
    saxpy[1, 32](2.0, None, y, 0)
    saxpy[1, 32](2.0, None, None, 0)
    wb.synchronize()
    assert (y.now() == 1).all()
    # Without an array nothing says that it is to be queued: it is waited for.
    saxpy[1, 32](2.0, None, None, 0)
    assert calls()[-1].startswith("run ")
    # With a stream it is queued there.
    stream = Stream(1)
    saxpy.launch(1, 32, (2.0, None, None, 0), stream=stream)
    assert launches() == [f"_Z5saxpyfPKfPfi 1 {stream.number}"]


def case_the_element_type_is_held():
    saxpy, y = compiled(SAXPY).saxpy, Array(np.ones(3, np.float32))
    text = refused(lambda: saxpy[1, 32](2.0, Array(np.ones(3)), y, 3))
    assert text == "parameter `x` (`const float*`) got an array of float64, but wants float32, try x.astype(np.float32)"
    refused(lambda: saxpy[1, 32](2.0, Array(np.ones(3, np.complex64)), y, 3), "`x`", "complex64")
    refused(lambda: saxpy[1, 32](2.0, Array(np.ones(3, ">f4")), y, 3), "`x`", "byte order")
    assert launches() == []


def case_halves_go_by_their_type():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    text = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n__global__ void copy16(const T* x, T* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }"
    for name, dtype, other in (("__half", np.float16, ml_dtypes.bfloat16), ("__nv_bfloat16", ml_dtypes.bfloat16, np.float16)):
        copy = compiled(text, defines={"T": name}).copy16
        x, y = Array(np.arange(5).astype(dtype)), Array(np.zeros(5, dtype))
        copy[1, 32](x, y, 5)
        wb.synchronize()
        assert (y.now() == np.arange(5).astype(dtype)).all()
        refused(lambda: copy[1, 32](Array(np.zeros(5, other)), y, 5), "`x`", np.dtype(other).name, np.dtype(dtype).name)


def case_what_may_be_written_is_writable_and_contiguous():
    saxpy, x = compiled(SAXPY).saxpy, Array(np.ones(4, np.float32))
    text = refused(lambda: saxpy[1, 32](2.0, x, Array(np.ones(4, np.float32), read_only=True), 4))
    assert text == "parameter `y` (`float*`) may be written, but the array is read-only; copy it first"
    gaps = Array(np.ones(4, np.float32), strides=(8,))
    text = refused(lambda: saxpy[1, 32](2.0, x, gaps, 4))
    assert text.startswith("parameter `y` (`float*`) may be written, but the array is not contiguous; ")
    refused(lambda: saxpy[1, 32](2.0, gaps, x, 4), "`x` (`const float*`)", "not contiguous", "not copied in silence")
    # Read-only memory may be read, and strides of what is contiguous say nothing new.
    saxpy[1, 32](2.0, Array(np.ones(4, np.float32), read_only=True), x, 4)
    square = Array(np.ones((2, 1, 2), np.float32), strides=(8, 400, 4))
    saxpy[1, 32](2.0, square, x, 4)
    wb.synchronize()
    assert (x.now() == 5).all()


def case_arrays_that_nobody_may_write_are_read_only():
    waited = []
    immutable = type("Array", (Array,), {"__module__": "jaxlib.array", "block_until_ready": lambda self: waited.append(self)})
    saxpy, x, y = compiled(SAXPY).saxpy, immutable(np.ones(3, np.float32)), Array(np.ones(3, np.float32))
    refused(lambda: saxpy[1, 32](2.0, y, x, 3), "`y` (`float*`) may be written, but the array is read-only")
    saxpy[1, 32](2.0, x, y, 3)
    wb.synchronize()
    assert waited and (y.now() == 3).all()


def case_arrays_of_a_launch_lie_in_one_place():
    saxpy, n = compiled(SAXPY).saxpy, 3
    host = np.ones(n, np.float32)
    gpu, other = Array(host), Array(host, device=1)
    for call in (lambda: saxpy[1, 32](2.0, host, gpu, n), lambda: saxpy[1, 32](2.0, gpu, host, n)):
        refused(call, "`x`", "`y`", "lies on a GPU", "host memory")
    refused(lambda: saxpy[1, 32](2.0, gpu, other, n), "`x` lies on cuda:0", "`y` on cuda:1")
    assert launches() == []


def case_a_program_for_the_cpu_takes_none():
    saxpy, gpu = wb.compile(SAXPY).saxpy, Array(np.ones(3, np.float32))
    refused(lambda: saxpy[1, 32](2.0, gpu, gpu, 3), "`x`", "host arrays are wanted")
    refused(lambda: saxpy[1, 32, 0, Stream()], "stream must be None")


def case_host_arrays_are_copied_over_and_back():
    saxpy = compiled(SAXPY).saxpy
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    saxpy[4, 256](2.0, x, y, 1000)
    assert (y == 2 * x + 1).all()
    refused(lambda: saxpy.launch(4, 256, (2.0, x, y, 1000), stream=Stream()), "stream must be None: host arrays")


def case_structs_by_value_hold_arrays():
    text = "struct P { const float* x; float a; int n; };\n__global__ void scale(P p, float* y) { int i = threadIdx.x; if (i < p.n) y[i] = p.a * p.x[i]; }"
    scale = compiled(text).scale
    x, y = Array(np.arange(5, dtype=np.float32)), Array(np.zeros(5, np.float32))
    calls()
    scale[1, 32]({"x": x, "a": 2.0, "n": 5}, y)
    wb.synchronize()
    assert (y.now() == 2 * np.arange(5)).all()
    assert not any(line.startswith(("htod", "dtoh")) for line in calls())
    refused(lambda: scale[1, 32]({"x": x, "a": 2.0, "n": 5}, np.zeros(5, np.float32)), "`p.x`", "`y`", "host memory")
    refused(lambda: scale[1, 32]({"x": np.zeros(5, np.float32), "a": 2.0, "n": 5}, y), "`p.x`", "`y`", "host memory")


def case_a_launch_goes_to_the_gpu_of_its_arrays():
    saxpy = compiled(SAXPY).saxpy
    for device in (1, 0, 1):
        x, y = Array(np.ones(3, np.float32), device), Array(np.ones(3, np.float32), device)
        saxpy[1, 32](2.0, x, y, 3)
        assert launches() == [f"_Z5saxpyfPKfPfi {device} 0"]
        wb.synchronize()
        assert (y.now() == 3).all()


def case_streams_are_handles_or_objects():
    saxpy, x, y = compiled(SAXPY).saxpy, Array(np.ones(3, np.float32)), Array(np.ones(3, np.float32))
    stream = Stream()

    class Torchs:
        cuda_stream = stream.ptr

    class Protocol:
        def __cuda_stream__(self):
            return 0, stream.ptr

    class Numbas:
        handle = ctypes.c_void_p(stream.ptr)

    for one in (stream, stream.ptr, Torchs(), Protocol(), Numbas()):
        saxpy[1, 32, 0, one](2.0, x, y, 3)
        saxpy.launch(1, 32, (2.0, x, y, 3), stream=one)
    assert launches() == [f"_Z5saxpyfPKfPfi 0 {stream.number}"] * 10
    wb.synchronize()
    assert (y.now() == 21).all()
    Numbas.handle = ctypes.c_void_p(0)
    saxpy[1, 32, 0, Numbas()](2.0, x, y, 3)
    assert launches() == ["_Z5saxpyfPKfPfi 0 0"]
    for nothing in (-1, True, 1.5, "stream", object()):
        refused(lambda: saxpy[1, 32, 0, nothing], "stream is a stream of the array's library or its handle")
    refused(lambda: saxpy[1, 32, 0, Stream(1)](2.0, x, y, 3), "the stream is one of cuda:1", "cuda:0")


def case_without_a_stream_it_is_that_of_the_arrays():
    saxpy, stream, other = compiled(SAXPY).saxpy, Stream(), Stream()
    x, y = (Array(np.ones(3, np.float32), stream=stream.ptr) for _ in range(2))
    saxpy[1, 32](2.0, x, y, 3)
    assert launches() == [f"_Z5saxpyfPKfPfi 0 {stream.number}"]
    # 1 is another name of the legacy default stream.
    saxpy[1, 32](2.0, Array(np.ones(3, np.float32), stream=1), Array(np.ones(3, np.float32), stream=1), 3)
    assert launches() == ["_Z5saxpyfPKfPfi 0 0"]
    assert not [line for line in calls() if line.startswith("wait")]
    # Arrays of two streams: what was put on either comes before, and what will be comes after.
    z = Array(np.zeros(3, np.float32), stream=other.ptr)
    saxpy[1, 32, 0, other](1.0, x, z, 3)
    calls()
    saxpy[1, 32](2.0, z, y, 3)
    saxpy[1, 32, 0, other](1.0, y, z, 3)
    waits = [line for line in calls() if line.startswith("wait")]
    assert waits[0] == f"wait stream {other.number} for stream {stream.number}"
    driver.cuStreamSynchronize(None)
    wb.synchronize()
    assert (y.now() == 5).all() and (z.now() == 6).all()


def case_an_explicit_stream_waits_for_the_one_an_array_was_made_on():
    saxpy, stream, other = compiled(SAXPY).saxpy, Stream(), Stream()
    x, y = Array(np.ones(3, np.float32), stream=other.ptr), Array(np.zeros(3, np.float32), stream=None)
    calls()
    saxpy[1, 32, 0, stream](2.0, x, y, 3)
    assert [line for line in calls() if line.startswith("wait")] == [f"wait stream {stream.number} for stream {other.number}"]
    wb.synchronize()
    assert (y.now() == 2).all()


WILD = "\n__global__ void wild(float* y) { y[1 << 20] = 1; }\n__global__ void count(int* y) { ++*y; }"


def case_an_error_shows_where_somebody_waits():
    m, y = compiled(SAXPY + WILD), Array(np.ones(3, np.float32))
    assert m.wild[1, 1](y) is None
    with pytest.raises(wb.KernelFault) as caught:
        wb.synchronize()
    assert caught.value.kernel == "wild" and caught.value.line == 5
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(caught.value) and "it was queued" in str(caught.value)
    wb.synchronize()
    # Nobody can make another context.
    with pytest.raises(wb.DeviceUnavailable, match="restart the process"):
        m.saxpy[1, 32](2.0, y, y, 3)
    # The other GPU is in order.
    y = Array(np.ones(3, np.float32), device=1)
    m.saxpy[1, 32](2.0, y, y, 3)
    wb.synchronize()
    assert (y.now() == 3).all()


def case_an_error_of_one_of_several_names_them():
    m, y, n = compiled(SAXPY + WILD), Array(np.ones(3, np.float32)), Array(np.zeros(1, np.int32))
    m.count[1, 1](n)
    m.wild[1, 1](y)
    m.count[1, 1](n)
    with pytest.raises(wb.KernelFault) as caught:
        wb.synchronize()
    text = str(caught.value)
    assert "`wild`" in text and "`count`" in text and "CUDA_LAUNCH_BLOCKING=1" in text


def case_where_launches_block_an_error_is_that_of_the_launch():
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    m, y, n = compiled(SAXPY + WILD), Array(np.ones(3, np.float32)), Array(np.zeros(1, np.int32))
    m.count[1, 1](n)
    with pytest.raises(wb.KernelFault, match="ILLEGAL_ADDRESS") as caught:
        m.wild[1, 1](y)
    assert caught.value.kernel == "wild" and "`count`" not in str(caught.value)


def case_a_module_is_loaded_when_nothing_of_ours_runs():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32))
    m.count[1, 1](n)
    driver.standin_stall(1)
    other, y = compiled(SAXPY), Array(np.ones(3, np.float32))
    calls()
    interrupted(lambda: other.saxpy[1, 32](2.0, y, y, 3))
    assert not [line for line in calls() if line.startswith("load")]
    driver.standin_stall(0)
    other.saxpy[1, 32](2.0, y, y, 3)
    wb.synchronize()
    assert n.now() == [1] and (y.now() == 3).all()


def case_variables_are_read_and_written():
    m = compiled(SAXPY + WILD + "namespace filters { __constant__ float weights[3] = {1, 2, 3}; }\n__device__ int seen = 7;")
    weights, seen = m.symbol("weights"), m.symbol("seen")
    assert weights.get().tolist() == [1, 2, 3] and seen.get().tolist() == [7]
    seen.set(8)
    assert seen.get().tolist() == [8] and calls() == []
    y = Array(np.ones(3, np.float32))
    m.saxpy[1, 32](2.0, y, y, 3)
    # The value that was set is there from the first launch on, on each GPU.
    assert [line for line in calls() if line.startswith(("load", "htod"))] == ["load device 0", "htod 4"]
    other = Array(np.ones(3, np.float32), device=1)
    m.saxpy[1, 32](2.0, other, other, 3)
    assert [line for line in calls() if line.startswith(("load", "htod"))] == ["load device 1", "htod 4"]
    assert seen.get().tolist() == [8]
    weights.set([4, 5, 6])
    assert [line for line in calls() if line.startswith(("dtoh", "htod"))] == ["dtoh 4", "htod 12", "htod 12"]
    assert weights.get().tolist() == [4, 5, 6]
    m.wild[1, 1](y)
    with pytest.raises(wb.KernelFault) as caught:
        weights.get()
    assert caught.value.kernel == "wild"


def case_waiting_for_a_variable_can_be_interrupted():
    m, n = compiled(SAXPY + WILD + "__device__ int seen = 7;"), Array(np.zeros(1, np.int32))
    m.count[1, 1](n)
    wb.synchronize()
    driver.standin_stall(1)
    m.count[1, 1](n)
    interrupted(m.symbol("seen").get)
    interrupted(lambda: m.symbol("seen").set(1))
    driver.standin_stall(0)
    m.symbol("seen").set(2)
    assert m.symbol("seen").get().tolist() == [2] and n.now() == [2]


def case_a_launch_that_meets_an_earlier_error_says_whose_it_is():
    m, y = compiled(SAXPY + WILD), Array(np.ones(3, np.float32))
    m.wild[1, 1](y)
    with on(0):
        assert driver.cuCtxSynchronize() == 700
    with pytest.raises(wb.KernelFault) as caught:
        m.saxpy[1, 32](2.0, y, y, 3)
    assert caught.value.kernel == "wild" and "`saxpy` was not launched" in str(caught.value)


def case_an_error_of_others_is_not_put_down_to_us():
    m, y = compiled(SAXPY + WILD), Array(np.ones(3, np.float32))
    m.saxpy[1, 32](2.0, y, y, 3)
    wb.synchronize()
    driver.standin_break(0)
    with pytest.raises(wb.KernelFault, match="something else that this process ran on the GPU broke the context"):
        m.saxpy[1, 32](2.0, y, y, 3)
    with pytest.raises(wb.DeviceUnavailable, match="something else that it ran there broke CUDA for this process"):
        m.saxpy[1, 32](2.0, y, y, 3)


def case_a_launch_that_waits_shows_earlier_errors_first():
    m, y = compiled(SAXPY + WILD), Array(np.ones(3, np.float32))
    m.wild[1, 1](y)
    x = np.ones(3, np.float32)
    with pytest.raises(wb.KernelFault) as caught:
        m.saxpy[1, 32](2.0, x, x.copy(), 3)
    assert caught.value.kernel == "wild"


def case_a_timeout_is_waited_for():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32))
    m.count.launch(1, 1, (n,), timeout=5.0)
    assert n.now() == [1]
    m.with_timeout(5.0).count[1, 1](n)
    assert n.now() == [2]


POSITIVE = "#include <cassert>\n__global__ void positive(const float* x, int n) { int i = threadIdx.x; if (i < n) assert(x[i] > 0); }"


def case_a_kernel_that_writes_the_log_is_waited_for():
    positive = compiled(POSITIVE).positive
    x = Array(np.array([1, 2, -3, 4], np.float32))
    stream = Stream()
    positive[1, 32, 0, stream](x, 2)
    assert calls()[-1] == f"run _Z8positivePKfi device 0 stream {stream.number}"
    with pytest.raises(wb.KernelFault) as caught:
        positive[1, 32, 0, stream](x, 4)
    assert (caught.value.kind, caught.value.line, caught.value.thread) == ("assertion failed", 2, (2, 0, 0))
    # The next call works.
    positive[1, 32](x, 2)


def case_a_captured_launch_is_left_to_the_graph():
    m, n, stream = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32)), Stream()
    driver.standin_capture(ctypes.c_void_p(stream.ptr), 1)
    m.count[1, 1, 0, stream](n)
    assert launches() == [f"_Z5countPi 0 {stream.number}"]
    positive = compiled(POSITIVE).positive
    with pytest.raises(wb.KernelFault, match="captured into a graph"):
        positive[1, 32, 0, stream](Array(np.ones(2, np.float32)), 2)
    driver.standin_capture(ctypes.c_void_p(stream.ptr), 0)
    wb.synchronize()
    assert n.now() == [0]


def case_a_captured_kernel_stays_loaded():
    import gc

    n, stream = Array(np.zeros(1, np.int32)), Stream()
    # A text with variables is no longer kept than its module.
    m = compiled(SAXPY + WILD + "__device__ int own;")
    driver.standin_capture(ctypes.c_void_p(stream.ptr), 1)
    m.count[1, 1, 0, stream](n)
    driver.standin_capture(ctypes.c_void_p(stream.ptr), 0)
    del m
    gc.collect()
    compiled(SAXPY + WILD).count[1, 1](n)
    wb.synchronize()
    compiled(SAXPY + WILD).count[1, 1](n)
    wb.synchronize()
    assert not [line for line in calls() if line.startswith("unload")]


def case_what_cannot_be_asked_for_stays_queued():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32))
    m.count[1, 1](n)
    driver.standin_refuse(906)
    with pytest.raises(wb.DeviceUnavailable, match="kernels queued earlier cannot be waited for now"):
        wb.synchronize()
    driver.standin_refuse(0)
    assert n.now() == [0]
    wb.synchronize()
    assert n.now() == [1]


def case_arrays_of_streams_that_nobody_knows_are_in_no_use_afterwards():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32), stream=None)
    m.count[1, 1](n)
    assert n.now() == [1]
    # A caller who gives a stream must keep the arrays alive.
    m.count[1, 1, 0, Stream()](n)
    assert n.now() == [1]
    wb.synchronize()
    assert n.now() == [2]


def case_what_others_put_on_the_stream_is_not_timed():
    m, n, stream = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32)), Stream()
    driver.standin_stall(1)
    count_by_others(n, stream)
    timer = threading.Timer(0.5, driver.standin_stall, [0])
    timer.start()
    m.count.launch(1, 1, (n,), stream=stream, timeout=0.2)
    assert n.now() == [2]
    timer.join()


def case_what_others_did_wrong_is_not_put_down_to_a_kernel_that_is_waited_for():
    m, n, stream = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32)), Stream()
    m.count[1, 1](n)
    wb.synchronize()
    with on(0):
        driver.standin_break(0)
        with pytest.raises(wb.KernelFault, match="something else that this process ran on the GPU broke the context"):
            m.count.launch(1, 1, (n,), stream=stream, timeout=5)


def launch_that_lasts(count, n) -> threading.Thread:
    """A thread in the middle of a launch, until the stand-in goes on."""
    driver.standin_stall(1)
    thread = threading.Thread(target=count.launch, args=(1, 1, (n,)), kwargs={"stream": Stream(), "timeout": 20})
    thread.start()
    time.sleep(0.2)
    return thread


def case_waiting_for_another_launch_can_be_interrupted():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32))
    other = launch_that_lasts(m.count, n)
    # Ctrl+C is the main thread's, so the other goes on.
    interrupted(lambda: m.count[1, 1](n), lambda: os.kill(os.getpid(), signal.SIGINT))
    driver.standin_stall(0)
    other.join()
    wb.synchronize()
    assert n.now() == [1]


def case_a_child_forked_in_the_middle_of_a_launch_is_told():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32))
    other = launch_that_lasts(m.count, n)
    child = os.fork()
    if child == 0:
        try:
            m.count[1, 1](n)
        except wb.DeviceUnavailable as error:
            wb.synchronize()
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(2)
    began = time.monotonic()
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - began > 5:
            os.kill(child, 9)
        time.sleep(0.01)
    driver.standin_stall(0)
    other.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert n.now() == [1]


def case_a_template_takes_its_type_from_the_arrays():
    text = "template <typename T> __global__ void saxpy(float a, const T* x, T* y, int n) { int i = threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }"
    x, y = Array(np.ones(3, np.float32)), Array(np.ones(3, np.float32))
    kernel = compiled(text).saxpy.instance(2.0, x, y, 3)
    assert kernel.name == "saxpy<float>"
    assert [name for name in kernel.params] == ["a", "x", "y", "n"]


def case_a_broken_gpu_is_refused_and_the_kernel_named():
    m = compiled(SAXPY + WILD)
    x, y = np.ones(3, np.float32), np.ones(3, np.float32)
    with pytest.raises(wb.KernelFault, match="ILLEGAL_ADDRESS"):
        m.wild[1, 1](x)
    for _ in range(2):
        with pytest.raises(wb.DeviceUnavailable, match="kernel `wild` broke CUDA for this process .*ILLEGAL_ADDRESS.*restart the process"):
            m.saxpy[1, 32](2.0, x, y, 3)
    wb.compile(SAXPY).saxpy[1, 32](2.0, x, y, 3)
    assert (y == 3).all()


def case_a_kernel_outlives_its_program():
    import gc

    n = Array(np.zeros(1, np.int32))
    # A text with variables is no longer kept than its module.
    m = compiled(SAXPY + WILD + "__device__ int own;")
    m.count[1, 1](n)
    del m
    gc.collect()
    other = compiled(SAXPY + WILD)
    other.count[1, 1](n)
    assert not [line for line in calls() if line.startswith("unload")]
    wb.synchronize()
    other.count[1, 1](n)
    assert [line for line in calls() if line.startswith("unload")] == ["unload device 0"]
    wb.synchronize()
    assert n.now() == [3]


def interrupted(call, stop=wb.interrupt) -> None:
    """Stops a call from another thread, when it has waited for a while."""
    timer = threading.Timer(0.3, stop)
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call()
    assert 0.2 < time.monotonic() - began < 5
    timer.join()


def case_waiting_can_be_interrupted_and_goes_on():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32))
    driver.standin_stall(1)
    m.count[1, 1](n)
    interrupted(wb.synchronize)
    x = np.ones(3, np.float32)
    interrupted(lambda: m.saxpy[1, 32](2.0, x, x.copy(), 3))
    driver.standin_stall(0)
    wb.synchronize()
    assert n.now() == [1]
    m.saxpy[1, 32](2.0, x, x, 3)
    assert (x == 3).all()


def case_a_kernel_that_goes_round_and_round_is_given_up():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32))
    stream = Stream()
    m.count[1, 1](n)
    wb.synchronize()
    driver.standin_stall(1)
    with pytest.raises(wb.KernelTimeout, match="still running after"):
        m.count.launch(1, 1, (n,), stream=stream, timeout=0.1)
    with pytest.raises(wb.DeviceUnavailable, match="kernel `count`, given up earlier, is still running"):
        m.count[1, 1](n)
    driver.standin_stall(0)
    # Each question lets the stand-in do one piece of work: the kernel, then the event behind it.
    for _ in range(3):
        try:
            m.count[1, 1](n)
            break
        except wb.DeviceUnavailable:
            pass
    wb.synchronize()
    assert n.now() == [3]


def case_an_error_of_the_launch_itself_is_told_at_once():
    m, n = compiled(SAXPY + WILD), Array(np.zeros(1, np.int32))
    with pytest.raises(wb.KernelFault, match="invalid resource handle"):
        m.count[1, 1, 0, 12345](n)
    m.count[1, 1](n)
    wb.synchronize()
    assert n.now() == [1]
