"""Arrays on the GPUs of the stand-in driver, as an array library would have them; imported by the cases that run on it."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

import workbench as wb

driver = ctypes.CDLL("libcuda.so.1")
driver.standin_calls.restype = ctypes.c_char_p


def compiled(text: str, **options: Any) -> wb.Module:
    """The text compiled for the GPU; NVRTC makes code that the stand-in does not look at."""
    return wb.compile(text, device="cuda", name="cell", **options)


def check(code: int) -> None:
    assert code == 0, f"the driver says {code}"


class on:
    """The primary context of a GPU, current meanwhile; an array library keeps it."""

    held: dict[int, ctypes.c_void_p] = {}

    def __init__(self, device: int) -> None:
        if device not in self.held:
            context = ctypes.c_void_p()
            check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
            self.held[device] = context
        self.context, self.before = self.held[device], ctypes.c_void_p()

    def __enter__(self) -> None:
        driver.cuCtxGetCurrent(ctypes.byref(self.before))
        driver.cuCtxSetCurrent(self.context)

    def __exit__(self, *_: Any) -> None:
        driver.cuCtxSetCurrent(self.before)


class Stream:
    """A stream, as CuPy has them."""

    def __init__(self, device: int = 0) -> None:
        handle = ctypes.c_void_p()
        with on(device):
            check(driver.cuStreamCreate(ctypes.byref(handle), 1))
        self.ptr, self.device_id = handle.value, device

    @property
    def number(self) -> int:
        return driver.standin_number(ctypes.c_void_p(self.ptr))


class Array:
    """An array on a GPU, by `__cuda_array_interface__`; `stream`: the one it says that it was made on, the default stream where nothing is said."""

    def __init__(self, values: Any, device: int = 0, stream: int | None = 1, read_only: bool = False, strides: Any = None) -> None:
        host = np.ascontiguousarray(values)
        self.dtype, self.shape, self.device_id = host.dtype, tuple(np.shape(values)), device
        self.stream, self.read_only, self.strides = stream, read_only, strides
        pointer = ctypes.c_void_p()
        if host.size:
            with on(device):
                check(driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(host.nbytes)))
            check(driver.standin_write(pointer, host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(host.nbytes)))
        self.pointer = pointer.value or 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = (self.pointer, self.read_only)
        typestr = "<V2" if self.dtype.name == "bfloat16" else self.dtype.str
        return {"version": 3, "shape": self.shape, "typestr": typestr, "data": data, "strides": self.strides, "stream": self.stream}

    def now(self) -> np.ndarray:
        """The present contents of its memory, whatever is still to run."""
        host = np.empty(self.shape, self.dtype)
        if host.size:
            check(driver.standin_read(host.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(self.pointer), ctypes.c_size_t(host.nbytes)))
        return host


def count_by_others(array: Array, stream: Stream) -> None:
    """Has somebody else queue the kernel `count`."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    pointer = ctypes.c_void_p(array.pointer)
    params = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(pointer), ctypes.c_void_p))
    with on(array.device_id):
        check(driver.cuModuleLoadData(ctypes.byref(module), None))
        check(driver.cuModuleGetFunction(ctypes.byref(function), module, b"_Z5countPi"))
        check(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, ctypes.c_void_p(stream.ptr), params, None))


class Device:
    """A GPU, as CuPy's arrays name theirs."""

    def __init__(self, index: int) -> None:
        self.id = index


class Api:
    """As much of the array API standard as makes results."""

    float32, float64, int32 = np.dtype("float32"), np.dtype("float64"), np.dtype("int32")
    made = 0

    @classmethod
    def empty(cls, shape: Any, dtype: Any, device: Device) -> ApiArray:
        cls.made += 1
        return ApiArray(np.full(shape, 77, dtype), device.id)

    @staticmethod
    def asarray(values: Any, device: Device | None = None, copy: bool = False) -> ApiArray:
        if copy:
            steps = [step // values.dtype.itemsize for step in values.strides]
            flat = values.whole.reshape(-1)
            values, device = np.lib.stride_tricks.as_strided(flat, values.shape, [s * flat.itemsize for s in steps]), values.device
        return ApiArray(values, device.id)


class ApiArray(Array):
    """An array whose library makes others."""

    def __init__(self, values: Any, device: int = 0, **options: Any) -> None:
        super().__init__(values, device, **options)
        self.device, self.whole = Device(device), np.array(values)

    def __array_namespace__(self) -> Any:
        return Api


def calls() -> list[str]:
    """The calls of the driver since the last question."""
    said = driver.standin_calls().decode().splitlines()
    driver.standin_clear()
    return said


def launches() -> list[str]:
    """The launches since the last question, as `kernel device stream`."""
    words = [line.split() for line in calls()]
    return [f"{line[1]} {line[3]} {line[5]}" for line in words if line[0] == "launch"]
