"""Operators on arrays that lie on a GPU: the text compiled for it, outputs made by the arrays' library."""

from __future__ import annotations

import os

import numpy as np
import pytest
from raw import refused
from standin import ApiArray, Array, Stream, calls, compiled, launches

import workbench as wb

MULADD = """__global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c;
}"""


def muladd(**options) -> wb.Op:
    return wb.op("gpu::muladd(Tensor a, Tensor b, float c) -> Tensor", MULADD, shape="a[n], b[n] -> out[n]", **options)


def floats(*values: float, device: int = 0, **options) -> ApiArray:
    return ApiArray(np.array(values, np.float32), device, **options)


def case_an_operator_runs_where_its_arrays_lie():
    op = muladd()
    for device in (0, 1):
        a, b = ApiArray(np.arange(37, dtype=np.float32), device), ApiArray(np.full(37, 3, np.float32), device)
        calls()
        out = op(a, b, c=2.0)
        assert isinstance(out, ApiArray) and out.shape == (37,) and out.device.id == device
        assert (out.now() == 77).all(), "nobody has waited yet"
        wb.synchronize()
        assert (out.now() == 3 * np.arange(37) + 2).all()
        said = calls()
        assert f"launch _Z6muladdPKfS0_fPfi device {device} stream 0" in said
        # Its output alone is made.
        assert [line for line in said if line.startswith(("alloc", "htod", "dtoh"))] == [f"alloc 148 device {device}"]
    # Host arrays stay where they were.
    assert (op(np.ones(3, np.float32), np.ones(3, np.float32), 1.0) == 2).all()
    assert launches() == []


def case_what_does_not_fit_is_told_as_on_the_cpu():
    op, a = muladd(), floats(1, 2, 3)
    refused(lambda: op(a, floats(1, 2), 2.0), "gpu::muladd", "`b`")
    refused(lambda: op(a, ApiArray(np.ones(3)), 2.0), "`b` is an array of float64", "const float*")
    refused(lambda: op(a, floats(1, 2, 3, device=1), 2.0), "`a` lies on cuda:0", "`b` on cuda:1")
    refused(lambda: op(a, np.ones(3, np.float32), 2.0), "`a` lies on a GPU", "`b` in host memory")
    refused(lambda: op(np.ones(3, np.float32), a, 2.0), "`b` lies on a GPU", "`a` in host memory")
    refused(lambda: op(Array(np.ones(3, np.float32)), a, 2.0), "pass torch's, CuPy's or JAX's arrays")
    assert launches() == []


def case_a_write_that_the_schema_does_not_say_is_refused():
    text = ADD.replace("const float* y", "float* y")
    op = wb.op("gpu::add_unsaid(Tensor(a!) x, Tensor y) -> Tensor(a!)", text)
    x, y = floats(1, 2, 3), floats(10, 20, 30)
    # A pointer that is only read may be without const.
    op(x, y)
    bad = text.replace("x[i] += y[i]", "x[i] += y[i]++")
    wrong = wb.op("gpu::add_unsaid2(Tensor(a!) x, Tensor y) -> Tensor(a!)", bad)
    said = refused(lambda: wrong(x, y), "gpu::add_unsaid2", "the kernel writes `y`", "Tensor(a!) y")
    assert ":1:" in said
    refused(lambda: wb.op("gpu::add_unsaid3(Tensor(a!) x, Tensor y) -> Tensor(a!)", compiled(bad).add), "the kernel writes `y`")
    wb.synchronize()
    assert (x.now() == [11, 22, 33]).all() and launches() == ["_Z3addPfS_i 0 0"]


def case_nothing_is_launched_for_nothing():
    out = muladd()(floats(), floats(), 2.0)
    assert out.shape == (0,) and launches() == []


def case_gaps_are_closed_by_the_arrays_library():
    op = muladd()
    a = ApiArray(np.arange(6, dtype=np.float32))
    a.shape, a.strides = (3,), (8,)
    out = op(a, floats(1, 1, 1), 0.5)
    wb.synchronize()
    assert (out.now() == [0.5, 2.5, 4.5]).all()


ADD = "__global__ void add(float* x, const float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += y[i]; }"


def case_what_is_written_is_the_callers():
    op = wb.op("gpu::add(Tensor(a!) x, Tensor y) -> Tensor(a!)", ADD)
    x, y = floats(1, 2, 3), floats(10, 20, 30)
    assert op(x, y) is x
    wb.synchronize()
    assert (x.now() == [11, 22, 33]).all()
    refused(lambda: op(floats(1, 2, 3, read_only=True), y), "`x` is written", "read-only")
    gaps = floats(1, 2, 3, strides=(8,))
    refused(lambda: op(gaps, y), "`x` is written", "not contiguous")


def case_a_number_may_be_the_hosts():
    text = "__global__ void shift(const float* x, const float* by, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] + by[0]; }"
    op = wb.op("gpu::shift(Tensor x, Tensor by) -> Tensor", text, shape=lambda x, by: x)
    out = op(floats(1, 2, 3), np.float32(5))
    wb.synchronize()
    assert (out.now() == [6, 7, 8]).all()
    refused(lambda: op(floats(1, 2, 3), np.ones(1, np.float32)), "`by` in host memory")


TWICE = "template <typename T> __global__ void twice(const T* x, T* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }"


def case_a_template_has_the_instance_of_the_arrays():
    op = wb.op("gpu::twice(Tensor x) -> Tensor", TWICE, shape="x[*] -> y[*]")
    for dtype, name in ((np.float32, "f"), (np.float64, "d"), (np.float32, "f")):
        out = op(ApiArray(np.arange(6, dtype=dtype).reshape(2, 3)))
        assert launches() == [f"_Z5twiceI{name}EvPKT_PS0_i 0 0"] and out.shape == (2, 3) and out.dtype == dtype
        wb.synchronize()
        assert (out.now() == 2 * np.arange(6).reshape(2, 3)).all()


def case_macros_come_along():
    text = "__global__ void muladd(const T* a, const T* b, T c, T* out, int n) { int i = threadIdx.x; if (i < n) out[i] = a[i] * b[i] + c; }"
    op = wb.op("gpu::macros(Tensor a, Tensor b, float c) -> Tensor", wb.compile(text, defines={"T": "float"}), shape="a[n], b[n] -> out[n]")
    out = op(floats(1, 2, 3), floats(2, 2, 2), 1.0)
    wb.synchronize()
    assert (out.now() == [3, 5, 7]).all()


def case_a_kernel_for_cuda_is_registered():
    op = wb.op("gpu::registered(Tensor x) -> Tensor", "__global__ void negate(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = -x[i]; }")
    own = compiled("__global__ void half(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] / 2; }").half
    assert op.register_kernel("cuda", own) is own
    out = op(floats(1, 2, 3))
    wb.synchronize()
    assert (out.now() == [0.5, 1, 1.5]).all()
    # On the CPU the other one serves.
    assert (op(np.array([1, 2, 3], np.float32)) == [-1, -2, -3]).all()
    refused(lambda: op.register_kernel("cuda", op.module.negate), "compiled for cpu, not for cuda")


def case_one_of_a_program_for_cuda_sends_host_arrays_over_and_back():
    op = wb.op("gpu::over(Tensor a, Tensor b, float c) -> Tensor", compiled(MULADD), shape="a[n], b[n] -> out[n]")
    a = np.arange(5, dtype=np.float32)
    out = op(a, a, 1.0)
    assert isinstance(out, np.ndarray) and (out == a * a + 1).all()
    assert [line.split()[0] for line in calls() if line.startswith(("htod", "dtoh"))] == ["htod", "htod", "dtoh"]


def case_device_says_where_host_arrays_are_computed():
    op, a = muladd(), np.arange(5, dtype=np.float32)
    out = op(a, a, c=1.0, device="cuda")
    assert isinstance(out, np.ndarray) and (out == a * a + 1).all() and len(launches()) == 1
    assert (op(a, a, c=1.0, device="cpu") == out).all() and launches() == []
    refused(lambda: op(a, a, 1.0, device="tpu"), "device is 'tpu'")
    refused(lambda: op(floats(1), floats(1), 1.0, device="cpu"), "`a`", "host arrays are wanted")


def case_host_code_says_that_it_runs_on_the_cpu():
    op = wb.op("gpu::hosts(Tensor x) -> Tensor", "at::Tensor hosts(const at::Tensor& x) { return x + 1; }")
    refused(lambda: op(floats(1, 2)), "host arrays are wanted, try copying it to the CPU")
    seen = []

    @op.register_kernel("cuda")
    def serve(x):
        seen.append(x)
        return x

    x = floats(1, 2)
    assert op(x) is x and seen == [x]


def case_callables_and_kernels_share_the_calls():
    op = muladd()

    @op.register_kernel("cuda", dtypes=["float64"])
    def wide(a, b, c):
        return a

    a = ApiArray(np.ones(3))
    assert op(a, a, 2.0) is a
    out = op(floats(1, 2, 3), floats(1, 1, 1), 2.0)
    wb.synchronize()
    assert (out.now() == [3, 4, 5]).all()


def case_streams_are_the_arrays():
    op, stream = muladd(), Stream()
    out = op(floats(1, stream=stream.ptr), floats(2, stream=stream.ptr), 3.0)
    assert launches() == [f"_Z6muladdPKfS0_fPfi 0 {stream.number}"]
    wb.synchronize()
    assert out.now() == [5]


def case_checks_and_timings_say_that_they_are_for_host_arrays():
    op = muladd(reference=lambda a, b, c: a * b + c)
    a = floats(1, 2, 3)
    refused(lambda: op.check(a, a, 1.0), "host arrays are wanted")
    op.register_autograd(lambda ctx, g: (g, g, None))
    refused(lambda: op.gradcheck(a, a, 1.0), "host arrays are wanted")
    with pytest.raises(wb.ArgumentError, match="wb.synchronize"):
        wb.bench({"op": lambda: op(a, a, 1.0)}, sizes=[3], make_args=lambda n: (), seconds_per_size=0.01)
    with pytest.raises(wb.ArgumentError, match="wb.synchronize"):
        wb.do_bench(lambda: op(a, a, 1.0), warmup=1, rep=2)

    def waited():
        op(a, a, 1.0)
        wb.synchronize()

    assert wb.do_bench(waited, warmup=1, rep=2) > 0


def case_a_late_error_names_the_kernel():
    op = wb.op("gpu::wild(Tensor(a!) y) -> ()", "__global__ void wild(float* y) { y[1 << 20] = 1; }")
    op(floats(1, 2))
    with pytest.raises(wb.KernelFault) as caught:
        wb.synchronize()
    assert caught.value.kernel == "wild"


def case_gradients_without_torch():
    op = muladd()
    a, b, g = floats(1, 2), floats(3, 4), floats(1, 1)
    op.register_autograd(lambda ctx, grad: (op(grad, ctx.saved_tensors[1], 0.0), op(grad, ctx.saved_tensors[0], 0.0), None), setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]))
    out, pullback = op.vjp(a, b, 1.0)
    ga, gb, nothing = pullback(g)
    wb.synchronize()
    assert (out.now() == [4, 9]).all() and (ga.now() == [3, 4]).all() and (gb.now() == [1, 2]).all() and nothing is None


def case_the_end_of_a_cell_shows_errors():
    pytest.importorskip("IPython")
    from IPython.testing.globalipapp import start_ipython

    shell = start_ipython()
    shell.run_line_magic("load_ext", "workbench")
    m = compiled("__global__ void wild(float* y) { y[1 << 20] = 1; }")
    shell.user_ns.update(m=m, y=floats(1, 2))
    result = shell.run_cell("m.wild[1, 1](y)")
    assert isinstance(result.error_in_exec, wb.KernelFault) and result.error_in_exec.kernel == "wild"
    assert shell.run_cell("1").success


def case_variables_written_on_the_cpu_are_not_left_out_in_silence():
    text = "__constant__ float by = 2;\n__global__ void twice_by(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] * by; }"
    m = wb.compile(text)
    op = wb.op("gpu::variable(Tensor x) -> Tensor", m)
    out = op(floats(1, 2))
    wb.synchronize()
    assert (out.now() == [2, 4]).all()
    m.symbol("by").set(3.0)
    assert (op(np.array([1, 2], np.float32)) == [3, 6]).all()
    refused(lambda: op(floats(1, 2)), "`by` has been written on the CPU")


def case_host_arrays_take_the_kernel_of_the_cpu():
    half = "__global__ void half(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] / 2; }"
    op = wb.op("gpu::first(Tensor x) -> Tensor", compiled(half))
    assert (op(np.ones(3, np.float32)) == 0.5).all() and len(launches()) == 1
    op.register_kernel("cpu", wb.compile(half.replace("x[i] / 2", "-x[i]")).half)
    assert (op(np.ones(3, np.float32)) == -1).all() and launches() == []
    out = op(floats(1, 2))
    wb.synchronize()
    assert (out.now() == [0.5, 1]).all()


def case_a_template_for_the_cpu_serves_host_arrays_before_a_kernel_for_a_gpu():
    op = wb.op("gpu::either(Tensor x) -> Tensor", TWICE, shape="x[*] -> y[*]")
    op.register_kernel("cuda", compiled("__global__ void half(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] / 2; }").half)
    for dtype in (np.float64, np.float32):
        out = op(np.arange(3, dtype=dtype))
        assert (out == 2 * np.arange(3)).all() and out.dtype == dtype and launches() == []
    out = op(floats(1, 2))
    wb.synchronize()
    assert (out.now() == [0.5, 1]).all()


def case_a_forked_child_has_nothing_to_wait_for():
    op, x, y = muladd(), floats(1, 2), floats(3, 4)
    out = op(x, y, 1.0)
    child = os.fork()
    if child == 0:
        try:
            wb.synchronize()
            wb.do_bench(lambda: np.ones(3), warmup=1, rep=1)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    wb.synchronize()
    assert (out.now() == [4, 9]).all()
