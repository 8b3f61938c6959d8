"""torch's tensors on a GPU: `torch.ops`, handles and raw launches, on memory of the stand-in driver.

torch itself finds no GPU there. Its tensors are made by DLPack, fresh ones by kernels of the tests, and its current stream is said by them.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import torch
from standin import Array, Stream, calls, compiled, driver, launches

import workbench as wb
from workbench import _torch_ops, _workbench

torch.cuda._initialized = True
_KINDS = {"i": 0, "u": 1, "f": 2}


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int),
        ("device", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


_kept: list[Any] = []


def over(array: Array, strides: Any = None, code: int | None = None) -> torch.Tensor:
    """A tensor that says it lies on the GPU, over an array of the stand-in's."""
    rank = len(array.shape)
    shape = (ctypes.c_int64 * rank)(*array.shape)
    steps = None if strides is None else (ctypes.c_int64 * rank)(*strides)
    kind = _KINDS.get(array.dtype.kind, 0) if code is None else code
    made = _DLTensor(array.pointer, 2, array.device_id, rank, kind, 8 * array.dtype.itemsize, 1, shape, steps, 0, None, None)
    _kept.append((made, shape, steps, array))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return torch._C._from_dlpack(new(ctypes.addressof(made), b"dltensor", None))


def gpu(values: Any, device: int = 0, dtype: Any = np.float32, **options: Any) -> torch.Tensor:
    return over(Array(np.array(values, dtype), device), **options)


def now(tensor: torch.Tensor) -> np.ndarray:
    """The present contents of a tensor's memory, whatever is still to run."""
    assert tensor.is_cuda and tensor.is_contiguous()
    host = np.empty(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))
    pointer = ctypes.c_void_p(tensor.data_ptr())
    if host.size:
        assert driver.standin_read(host.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(host.nbytes)) == 0
    return host


_library = torch.library.Library("aten", "IMPL")


def _empty_strided(size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> torch.Tensor:
    array = Array(np.full(tuple(size), 77, str(dtype or torch.float32).removeprefix("torch.")), device.index or 0)
    return over(array, tuple(stride))


def _empty(size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None, memory_format: Any = None) -> torch.Tensor:
    steps = [int(np.prod(size[i + 1 :], dtype=np.int64)) for i in range(len(size))]
    return _empty_strided(size, steps, dtype, layout, device, pin_memory)


def _copy(self: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Copies host memory that is a single number, which is all that these tests need."""
    host = src.numpy()
    assert driver.standin_write(ctypes.c_void_p(self.data_ptr()), host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(host.nbytes)) == 0
    return self


_library.impl("empty_strided", _empty_strided, "CUDA")
_library.impl("empty.memory_format", _empty, "CUDA")
_library.impl("copy_", _copy, "CUDA")

#: The stream that torch is said to use on each GPU.
current: dict[int, int] = {}


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
def _current_stream(device: int, stream: Any) -> int:
    stream[0] = current.get(device, 0)
    return 0


_workbench.torch_streams(ctypes.cast(_current_stream, ctypes.c_void_p).value)


torch._C._cuda_getCurrentRawStream = lambda device: current.get(device, 0)

SAXPY = """__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}"""
MULADD = """__global__ void muladd(const float* a, const float* b, float c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i] + c;
}"""


def refused(call: Any, *words: str, kind: type[Exception] = wb.ArgumentError) -> str:
    try:
        call()
    except kind as error:
        text = str(error)
        assert all(word in text for word in words), text
        return text
    raise AssertionError(f"it is not refused; {words}")


def muladd(name: str = "gpu_torch::muladd") -> wb.Op:
    return wb.op(f"{name}(Tensor a, Tensor b, float c) -> Tensor", MULADD, shape="a[n], b[n] -> out[n]")


def case_a_raw_launch_takes_tensors():
    saxpy, x, y = compiled(SAXPY).saxpy, gpu(np.arange(37)), gpu(np.ones(37))
    calls()
    saxpy[2, 32](2.0, x, y, 37)
    assert (now(y) == 1).all()
    wb.synchronize()
    assert (now(y) == 2 * np.arange(37) + 1).all()
    assert not any(line.startswith(("alloc", "htod", "dtoh")) for line in calls())
    refused(lambda: saxpy[1, 32](2.0, gpu([1, 2], dtype=np.float64), y, 2), "`x`", "an array of float64")
    gaps = gpu(np.ones(4), strides=(2,))
    refused(lambda: saxpy[1, 32](2.0, gaps, y, 2), "`x`", "pass x.contiguous()")
    refused(lambda: saxpy[1, 32](2.0, x, gaps, 2), "`y`", "pass y.contiguous() and copy the result back")
    refused(lambda: saxpy[1, 32](2.0, torch.ones(2), y, 2), "`y` lies on a GPU", "`x` in host memory")
    refused(lambda: saxpy[1, 32](2.0, x, gpu(np.ones(37), device=1), 2), "`x` lies on cuda:0", "`y` on cuda:1")
    refused(lambda: wb.compile(SAXPY).saxpy[1, 32](2.0, x, y, 2), "host arrays are wanted, try copying it to the CPU")


def case_a_raw_launch_goes_to_torchs_current_stream():
    saxpy, stream, other = compiled(SAXPY).saxpy, Stream(1), Stream(1)
    x, y = gpu([1, 2], device=1), gpu([1, 2], device=1)
    saxpy[1, 32](2.0, x, y, 2)
    current[1] = stream.ptr
    saxpy[1, 32](2.0, x, y, 2)
    saxpy[1, 32, 0, other](2.0, x, y, 2)
    assert launches() == [f"_Z5saxpyfPKfPfi 1 {n}" for n in (0, stream.number, other.number)]


def case_classes_made_from_tensors_are_torchs():
    class Mine(torch.Tensor):
        pass

    saxpy, stream = compiled(SAXPY).saxpy, Stream()
    current[0] = stream.ptr
    x = gpu([1, 2]).as_subclass(Mine)
    saxpy[1, 32](2.0, x, gpu([1, 2]), 2)
    assert launches() == [f"_Z5saxpyfPKfPfi 0 {stream.number}"]


def case_tensors_that_give_no_memory_are_refused():
    from torch._subclasses.fake_tensor import FakeTensorMode

    saxpy = compiled(SAXPY).saxpy
    with FakeTensorMode():
        x = torch.empty(5, device="cuda:0")
    refused(lambda: saxpy[1, 32](2.0, x, x, 5), "`x`", "FakeTensor, which has no memory")


def case_halves_of_torchs_have_no_typestr():
    text = "#include <cuda_bf16.h>\n__global__ void copy16(const __nv_bfloat16* x, __nv_bfloat16* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }"
    copy = compiled(text).copy16
    source, target = Array(np.arange(5, dtype=np.uint16)), Array(np.zeros(5, np.uint16))
    x, y = over(source, code=4), over(target, code=4)
    assert x.dtype == torch.bfloat16
    copy[1, 32](x, y, 5)
    wb.synchronize()
    assert (target.now() == np.arange(5)).all()
    refused(lambda: copy[1, 32](gpu(np.zeros(5), dtype=np.float16), y, 5), "`x`", "float16", "bfloat16")


def case_torch_ops_runs_where_its_tensors_lie():
    op = muladd()
    for device in (0, 1):
        a, b = gpu(np.arange(37), device), gpu(np.full(37, 3), device)
        for call in (torch.ops.gpu_torch.muladd, op, wb.ops.gpu_torch.muladd):
            calls()
            out = call(a, b, 2.0)
            assert out.device == torch.device("cuda", device) and out.dtype == torch.float32 and out.shape == (37,)
            assert (now(out) == 77).all(), "nobody has waited yet"
            wb.synchronize()
            assert (now(out) == 3 * np.arange(37) + 2).all()
            said = calls()
            assert f"launch _Z6muladdPKfS0_fPfi device {device} stream 0" in said
            assert [line for line in said if line.startswith(("alloc", "htod", "dtoh"))] == [f"alloc 148 device {device}"]
    assert (op(torch.ones(3), torch.ones(3), 1.0) == 2).all() and launches() == []
    assert op(gpu([]), gpu([]), 2.0).shape == (0,)


def case_torch_ops_uses_torchs_current_stream():
    muladd()
    stream = Stream()
    current[0] = stream.ptr
    torch.ops.gpu_torch.muladd(gpu([1]), gpu([2]), 3.0)
    assert launches() == [f"_Z6muladdPKfS0_fPfi 0 {stream.number}"]


def case_torch_ops_holds_arguments():
    muladd()
    call, a = torch.ops.gpu_torch.muladd, gpu([1, 2, 3])
    for wrong, words in (
        (gpu([1, 2, 3], dtype=np.float64), ("`b` is an array of float64", "const float*")),
        (gpu([1, 2, 3], device=1), ("`a` is on cuda:0", "`b` on cuda:1")),
        (torch.ones(3), ("`b` is not on cuda:0",)),
        (gpu([1, 2]), ("`b`",)),
    ):
        refused(lambda wrong=wrong: call(a, wrong, 1.0), *words, kind=RuntimeError)
    assert launches() == []


def case_a_number_may_be_the_hosts():
    text = "__global__ void shift(const float* x, const float* by, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] + by[0]; }"
    op = wb.op("gpu_torch::shift(Tensor x, Tensor by) -> Tensor", text, shape=lambda x, by: x)
    out = op(gpu([1, 2, 3]), torch.tensor(5.0))
    wb.synchronize()
    assert (now(out) == [6, 7, 8]).all()


def case_what_is_written_is_the_callers():
    text = "__global__ void add(float* x, const float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += y[i]; }"
    wb.op("gpu_torch::add(Tensor(a!) x, Tensor y) -> Tensor(a!)", text)
    x, y = gpu([1, 2, 3]), gpu([10, 20, 30])
    version = x._version
    out = torch.ops.gpu_torch.add(x, y)
    wb.synchronize()
    assert (now(x) == [11, 22, 33]).all() and out.data_ptr() == x.data_ptr() and x._version > version


def case_a_gradient_stands_before_the_kernel():
    # To record a graph torch needs CUDA itself; past the gradient the call goes to the same kernel.
    op = muladd()
    op.register_autograd(lambda ctx, grad: (None, None, None))
    for call in (torch.ops.gpu_torch.muladd, op):
        out = call(gpu([1, 2]), gpu([3, 4]), 1.0)
        wb.synchronize()
        assert out.is_cuda and (now(out) == [4, 9]).all()


def case_a_kernel_for_cuda_is_registered():
    op = wb.op("gpu_torch::registered(Tensor x) -> Tensor", "__global__ void negate(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = -x[i]; }")
    op.register_kernel("cuda", compiled("__global__ void half(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] / 2; }").half)
    out = torch.ops.gpu_torch.registered(gpu([1, 2]))
    wb.synchronize()
    assert (now(out) == [0.5, 1]).all() and torch.ops.gpu_torch.registered(torch.ones(2)).tolist() == [-1, -1]


def case_tensors_without_data_stay_on_their_device():
    from torch._subclasses.fake_tensor import FakeTensorMode

    muladd()
    with FakeTensorMode():
        a = torch.empty(5, device="cuda:1")
        out = torch.ops.gpu_torch.muladd(a, a, 1.0)
    assert out.device == torch.device("cuda:1") and out.shape == (5,) and launches() == []


def case_host_code_says_that_it_runs_on_the_cpu():
    op = wb.op("gpu_torch::hosts(Tensor x) -> Tensor", "at::Tensor hosts(const at::Tensor& x) { return x + 1; }")
    words = ("`x` is on a GPU", "host code, which runs on the CPU", 'register_kernel("cuda", f)')
    refused(lambda: torch.ops.gpu_torch.hosts(gpu([1])), *words, kind=RuntimeError)
    refused(lambda: op(gpu([1])), *words)
    op.register_kernel("cuda", lambda x: torch.empty(x.shape, device=x.device))
    assert torch.ops.gpu_torch.hosts(gpu([1])).is_cuda


def case_callables_and_kernels_share_the_calls():
    op = muladd()
    op.register_kernel("cuda", lambda a, b, c: torch.empty_like(a, device="cuda"), dtypes=["float64"])
    wide = gpu([1, 2], dtype=np.float64)
    assert op(wide, wide, 1.0).dtype == torch.float64 and launches() == []
    out = op(gpu([1, 2]), gpu([3, 4]), 1.0)
    wb.synchronize()
    assert (now(out) == [4, 9]).all()


def case_types_that_boxed_kernels_do_not_pass():
    text = "__global__ void scaled(const float* a, float* out, float s, int n) { int i = threadIdx.x; if (i < n) out[i] = a[i] * s; }"
    wb.op("gpu_torch::scaled(Tensor a, Scalar s) -> Tensor", text, shape="a[n] -> out[n]")
    out = torch.ops.gpu_torch.scaled(gpu([1, 2]), 3.0)
    wb.synchronize()
    assert (now(out) == [3, 6]).all()


def case_a_late_error_names_the_kernel():
    wb.op("gpu_torch::wild(Tensor(a!) y) -> ()", "__global__ void wild(float* y) { y[1 << 20] = 1; }")
    torch.ops.gpu_torch.wild(gpu([1, 2]))
    try:
        wb.synchronize()
    except wb.KernelFault as error:
        assert error.kernel == "wild"
    else:
        raise AssertionError("nothing is said")


def case_a_torch_without_cuda_says_so():
    muladd()
    _workbench.torch_streams(0)
    refused(lambda: torch.ops.gpu_torch.muladd(gpu([1]), gpu([1]), 1.0), "built without CUDA", kind=RuntimeError)
    assert _torch_ops._stream_function() != 0 or torch.version.cuda is None
