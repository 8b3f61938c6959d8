"""Objects that are not NumPy arrays, as NumPy arrays that share their memory."""

from __future__ import annotations

import contextlib
import functools
import sys
import warnings
from typing import Any, Iterator

import numpy as np

from ._annotations import a_type, with_article
from .errors import make_argument_error

# Libraries whose arrays nobody may write.
_IMMUTABLE = ("jax", "jaxlib")
_NUMPY_2 = int(np.__version__.split(".")[0]) >= 2


def as_array(obj: Any, write: bool, name: str, wanted: str) -> np.ndarray:
    """A NumPy array over the memory of `obj`, for the parameter `name` of type `wanted`.

    An array that is only read may be a copy if the object gives nothing else; one that is written never is.
    """
    what = f"parameter `{name}` (`{wanted}`)"
    kind = type(obj).__name__
    device = getattr(obj, "device", None)
    if getattr(device, "type", "cpu") not in ("cpu", None) or hasattr(obj, "__cuda_array_interface__"):
        raise make_argument_error(f"{what} got {with_article(kind)} on {device}; host arrays are wanted, try copying it to the CPU")
    if getattr(obj, "requires_grad", False):
        obj = _without_grad(obj)
    if isinstance(obj, (bool, int, float, complex, str, np.generic)):
        raise make_argument_error(f"{what} got the {kind} {obj!r}; an array is wanted, try np.array([{obj!r}])")
    if isinstance(obj, (list, tuple)):
        raise make_argument_error(f"{what} got {with_article(kind)}; an array is wanted, try np.array({name}, dtype=...)")
    try:
        if _is_torch_bfloat16(obj):
            array = _of_bfloat16(obj)
        elif _is_tensor(obj) and str(obj.dtype).startswith("torch.float8"):
            array = _of_float8(obj, what, wanted)
        elif _is_tensor(obj):
            # The `__array__` of torch takes no `copy`, so NumPy 2 would warn of a copy.
            array = obj.numpy()
            # Its storage may be released; NumPy then makes an array of its own.
            if array.size and not obj.data_ptr():
                raise make_argument_error(f"{what} got {with_article(kind)} that gives no memory")
        elif hasattr(obj, "__array_interface__") or hasattr(obj, "__array__") or _has_buffer(obj):
            array = np.asarray(obj, copy=False) if write and _NUMPY_2 else np.asarray(obj)
        elif hasattr(obj, "__dlpack__"):
            array = np.from_dlpack(obj)
        else:
            raise make_argument_error(f"{what} got {with_article(kind)}, which is no array (no DLPack, array interface or buffer)")
    except (BufferError, RuntimeError, ValueError, TypeError) as error:
        if error.__class__.__module__.startswith("workbench"):
            raise
        raise make_argument_error(f"{what} got {with_article(kind)} that gives no array: {error}") from error
    return array


def gpu_array(obj: Any, name: str) -> tuple[int, str, list[int], list[int] | None, bool, int | None, int | None] | None:
    """A description of the array of `obj` if it lies on a GPU: pointer, dtype, extents, strides in bytes (None:
    row-major), whether it is read-only, the GPU's index and the stream it was made on if known. None if it lies on no GPU.

    Arrays are torch's, and objects with `__cuda_array_interface__`: CuPy's, Numba's, JAX's.
    """
    if _is_tensor(obj):
        return _torch_on_gpu(obj, name) if obj.device.type == "cuda" else None
    try:
        said = getattr(obj, "__cuda_array_interface__", None)
    except (RuntimeError, TypeError, ValueError) as error:
        raise make_argument_error(f"parameter `{name}` got {a_type(obj)} that gives no array: {error}") from error
    if said is None:
        return None
    pointer, is_read_only = said["data"]
    if type(obj).__module__.partition(".")[0] in _IMMUTABLE:
        # The interface describes memory alone: the array may not be written, and it may not be computed yet.
        is_read_only = True
        obj.block_until_ready()
    if said.get("mask") is not None:
        raise make_argument_error(f"parameter `{name}` got an array with a mask, which a kernel does not see; pass its data")
    device = getattr(obj, "device", None)
    # JAX counts the devices of all processes; the driver's number counts those of this process.
    index = getattr(device, "local_hardware_id", None)
    index = getattr(device, "id", None) if index is None else index
    typestr = said["typestr"]
    dtype = str(getattr(obj, "dtype", typestr)) if typestr[1:] == "V2" else np.dtype(typestr).newbyteorder("=").name
    if typestr[0] == ">":
        dtype = f"{typestr} in the other byte order"
    strides, stream = said.get("strides"), said.get("stream")
    if not pointer and all(said["shape"]):
        raise make_argument_error(f"parameter `{name}` got {a_type(obj)} that gives no memory")
    return (
        int(pointer or 0),
        dtype,
        [int(extent) for extent in said["shape"]],
        None if strides is None else [int(step) for step in strides],
        bool(is_read_only),
        index if isinstance(index, int) else None,
        None if stream is None else int(stream),
    )


def _torch_on_gpu(tensor: Any, name: str) -> tuple[int, str, list[int], list[int], bool, int, None]:
    if tensor.requires_grad:
        tensor = _without_grad(tensor)
    if type(tensor).__name__ == "FakeTensor":
        # torch itself only warns if a FakeTensor is asked for its memory.
        raise make_argument_error(f"parameter `{name}` got a FakeTensor, which has no memory; kernels are traced as operators, by wb.op")
    for is_lazy, what in ((tensor.is_conj(), "conj"), (tensor.is_neg(), "neg")):
        if is_lazy:
            raise make_argument_error(f"parameter `{name}` got a lazy view of a tensor; pass {name}.resolve_{what}()")
    try:
        size = tensor.element_size()
        pointer, strides = int(tensor.data_ptr()), [step * size for step in tensor.stride()]
    except (RuntimeError, NotImplementedError) as error:
        raise make_argument_error(f"parameter `{name}` got a tensor that gives no memory: {error}") from error
    if not pointer and tensor.numel():
        raise make_argument_error(f"parameter `{name}` got {a_type(tensor)} that gives no memory")
    return pointer, _torch_dtype(tensor.dtype), list(tensor.shape), strides, False, tensor.device.index or 0, None


@functools.cache
def _torch_dtype(dtype: Any) -> str:
    """The name of torch's dtype."""
    return str(dtype).removeprefix("torch.")


def _library_of(first: Any) -> Any:
    """The functions of the library of an array on a GPU: CuPy, JAX, or those of the array API standard."""
    module = type(first).__module__.partition(".")[0]
    if module == "cupy":
        import cupy

        return cupy
    if module in _IMMUTABLE:
        import jax

        return jax.numpy
    if hasattr(type(first), "__array_namespace__"):
        return first.__array_namespace__()
    raise make_argument_error(
        f"an operator makes its results by the library of its first array, and that of {type(first).__name__} is not known; "
        "pass torch's, CuPy's or JAX's arrays, or launch the kernel itself on an output of yours"
    )


@contextlib.contextmanager
def _on_gpu(library: Any, device: int) -> Iterator[None]:
    """Makes a GPU current for CuPy, whose functions make arrays on the current GPU."""
    if getattr(library, "__name__", "") == "cupy":
        with library.cuda.Device(device):
            yield
    else:
        yield


def gpu_empty(first: Any, shape: tuple[int, ...], dtype: str, device: int) -> Any:
    """A fresh array of the kind of `first` on the GPU where that lies."""
    if _is_tensor(first):
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device=first.device)
    library = _library_of(first)
    if library.__name__ == "jax.numpy":
        # Arrays of JAX must not change once they have been seen; this one is new, and the kernel is waited for.
        made = library.empty(shape, dtype=dtype, device=first.device).block_until_ready()
        if str(made.dtype) != dtype:
            raise make_argument_error(f"JAX makes no arrays of {dtype}, which a result is, unless jax_enable_x64 is set")
        return made
    with _on_gpu(library, device):
        if getattr(library, "__name__", "") == "cupy":
            return library.empty(shape, dtype=bfloat16() if dtype == "bfloat16" else dtype)
        return library.empty(shape, dtype=getattr(library, dtype), device=first.device)


def gpu_copy(first: Any, host: Any, device: int) -> Any:
    """A number of host memory as an array of the kind of `first` on the GPU where that lies."""
    if _is_tensor(first):
        import torch

        tensor = host if isinstance(host, torch.Tensor) else torch.from_numpy(np.array(host))
        return tensor.detach().to(first.device)
    library = _library_of(first)
    if library.__name__ == "jax.numpy":
        import jax

        return jax.device_put(np.asarray(host), first.device)
    with _on_gpu(library, device):
        where = {} if getattr(library, "__name__", "") == "cupy" else {"device": first.device}
        return library.asarray(np.asarray(host), **where)


def gpu_contiguous(obj: Any, name: str) -> Any:
    """The elements of an array on a GPU one after another, as a copy that its library makes there."""
    if _is_tensor(obj):
        return obj.contiguous()
    library = _library_of(obj)
    if library.__name__ == "jax.numpy":
        return library.copy(obj)
    make = getattr(library, "ascontiguousarray", None)
    return library.asarray(obj, copy=True) if make is None else make(obj)


def current_stream(obj: Any, device: int) -> int | None:
    """The stream that the library of an array uses now on that GPU; None if unknown."""
    if _is_tensor(obj):
        torch = sys.modules["torch"]
        # torch's own compiler calls this function: it gives the handle alone, without an object round it.
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        return int(torch.cuda.current_stream(device).cuda_stream if raw is None else raw(device))
    if type(obj).__module__.partition(".")[0] == "cupy":
        import cupy

        with cupy.cuda.Device(device):
            return int(cupy.cuda.get_current_stream().ptr)
    return None


def stream_of(obj: Any) -> tuple[int, int | None]:
    """The handle of a stream, and its GPU if known: an int, or a stream of torch, CuPy, Numba, or any object with
    `__cuda_stream__`."""
    handle: Any = obj
    if not isinstance(obj, int):
        protocol = getattr(obj, "__cuda_stream__", None)
        if protocol is not None:
            # The protocol's result is a tuple of its version and the handle.
            said = protocol() if callable(protocol) else protocol
            handle = said[1]
        else:
            handle = next((getattr(obj, name) for name in ("cuda_stream", "ptr", "handle") if hasattr(obj, name)), None)
        if hasattr(handle, "value"):
            # The handle is a pointer of ctypes; null is the default stream.
            handle = handle.value or 0
    if isinstance(handle, (bool, np.bool_)) or not isinstance(handle, (int, np.integer)) or handle < 0:
        raise make_argument_error(f"stream is a stream of the array's library or its handle, an int; got {obj!r}")
    device = getattr(obj, "device", None)
    index = getattr(device, "index", getattr(obj, "device_id", None))
    return int(handle), index if isinstance(index, int) and index >= 0 else None


def _without_grad(tensor: Any) -> Any:
    """The tensor as raw code sees it. As in torch, its work is not recorded for a gradient; torch gives no warning."""
    import torch

    if torch.is_grad_enabled():
        warnings.warn(
            "a tensor that requires grad is given to code that records no gradient: results do not depend on it for autograd; "
            "wrap the call in a torch.autograd.Function, or make it under torch.no_grad()",
            stacklevel=3,
        )
    return tensor.detach()


def bfloat16() -> np.dtype:
    """NumPy's dtype of bfloat16, which ml_dtypes registers.

    >>> bfloat16().itemsize
    2
    """
    try:
        import ml_dtypes
    except ImportError:
        raise make_argument_error("NumPy has bfloat16 from ml_dtypes: pip install ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


def _is_tensor(obj: Any) -> bool:
    """True if it is a tensor of torch, or of a class derived from it."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "Tensor") and isinstance(obj, torch.Tensor)


def _is_torch_bfloat16(obj: Any) -> bool:
    return _is_tensor(obj) and str(getattr(obj, "dtype", "")) == "torch.bfloat16"


def _of_bfloat16(tensor: Any) -> np.ndarray:
    """The memory of a torch tensor of bfloat16, which torch itself does not hand to NumPy."""
    import torch

    return tensor.view(torch.int16).numpy().view(bfloat16())


# The structs of C++, by torch's names of the types.
_FLOAT8 = {"float8_e4m3fn": ("__nv_fp8_e4m3", "Float8_e4m3fn"), "float8_e5m2": ("__nv_fp8_e5m2", "Float8_e5m2")}


def _of_float8(tensor: Any, what: str, wanted: str) -> np.ndarray:
    """The memory of a torch tensor of 8-bit floats as bytes, for a pointer to such floats or to any type."""
    import torch

    name = str(tensor.dtype).removeprefix("torch.")
    pointee = wanted.removeprefix("const ").removesuffix("*").rpartition("::")[2]
    if pointee != "void" and pointee not in _FLOAT8.get(name, ()):
        is_bytes = pointee in ("unsigned char", "signed char")
        help = "try x.view(torch.uint8)" if is_bytes else "try x.float()" if pointee == "float" else "its elements are none of those"
        raise make_argument_error(f"{what} got an array of {name}; {help}")
    return tensor.view(torch.uint8).numpy()


def _has_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def as_tensor(obj: Any, write: bool, name: str, wanted: str) -> np.ndarray:
    """The same as `as_array`, for an operator's argument: a NumPy scalar is a 0-d array, where it is only read."""
    if isinstance(obj, np.generic) and not write:
        return np.asarray(obj)
    return as_array(obj, write, name, wanted)


def as_result(obj: Any, what: str) -> np.ndarray:
    """The result of a reference or gradient, as a contiguous array of a type that can be compared."""
    detach = getattr(obj, "detach", None)
    half = half_of(obj)
    try:
        host = detach().cpu() if detach is not None else obj
        # NumPy knows no bfloat16: torch widens it itself.
        if half == "bfloat16" and detach is not None:
            host = host.float()
        array = np.asarray(host, order="C")
    except (TypeError, ValueError, RuntimeError) as error:
        raise make_argument_error(f"{what} is no array: {error}") from error
    if half is not None:
        return array.astype(np.float32)
    if array.dtype == np.longdouble and array.dtype != np.float64:
        return array.astype(np.float64)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind not in "biuf":
        raise make_argument_error(f"{what} is an array of {array.dtype}, which cannot be compared")
    return array if array.flags.aligned else array.copy()


def half_of(obj: Any) -> str | None:
    """"float16" or "bfloat16" where the array's numbers are such: NumPy's, torch's, or ml_dtypes', as JAX has them.

    >>> half_of(np.ones(3, np.float16)), half_of(np.ones(3, np.float32)), half_of(1.5)
    ('float16', None, None)
    """
    name = str(getattr(obj, "dtype", "")).rpartition(".")[2]
    if name.lstrip("<>=|") in ("f2", "float16"):
        return "float16"
    return "bfloat16" if name == "bfloat16" else None


def like(first: Any, array: np.ndarray) -> Any:
    """A result as the kind of array that the first argument is, sharing memory; a NumPy array where that is unknown."""
    module = type(first).__module__.partition(".")[0]
    if _is_tensor(first):
        import torch

        if array.dtype.name == "bfloat16":
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)
    if module in ("jax", "jaxlib"):
        import jax

        return jax.numpy.asarray(array)
    return array


def of_nothing(array: np.ndarray) -> Any:
    """A result of host code that was given no array: torch's where torch is loaded, as extensions give there; else NumPy's."""
    torch = sys.modules.get("torch")
    return array if torch is None or not hasattr(torch, "from_numpy") else like(torch.empty(0), array)


def host_value(obj: Any) -> tuple[str, str] | None:
    """A value that host code takes and that is neither a number of Python nor an array: dtypes, devices, scalars of NumPy."""
    if isinstance(obj, np.floating):
        return "float", ""
    if isinstance(obj, np.bool_):
        return "bool", ""
    if isinstance(obj, np.dtype):
        return "dtype", obj.name
    if isinstance(obj, type) and issubclass(obj, np.generic):
        return "dtype", np.dtype(obj).name
    kind, module = type(obj).__name__, type(obj).__module__.partition(".")[0]
    if module == "torch" and kind == "dtype":
        return "dtype", str(obj).removeprefix("torch.")
    if module == "torch" and kind == "device":
        return "device", str(obj)
    return None


def host_spec(obj: Any) -> tuple[list[int], str] | None:
    """The shape and dtype of an object that has them: a `Spec`, an array, torch's FakeTensor. Sizes that are symbols become numbers."""
    shape, dtype = getattr(obj, "shape", None), getattr(obj, "dtype", None)
    if shape is None or dtype is None or isinstance(obj, np.generic):
        return None
    name = dtype if isinstance(dtype, str) else str(dtype).removeprefix("torch.")
    return [int(extent) for extent in shape], name


def host_strides(obj: Any) -> list[int] | None:
    """The strides, in elements, of an object that has them: a `Spec`, an array, torch's FakeTensor."""
    stride = getattr(obj, "stride", None)
    if callable(stride):
        return [int(step) for step in stride()]
    strides, size = getattr(obj, "strides", None), getattr(obj, "itemsize", 1)
    return None if strides is None else [step // max(size, 1) for step in strides]


def dtype_of(name: str, first: Any) -> Any:
    """An element type as the kind of dtype that belongs to the first argument's library."""
    is_torchs = _is_tensor(first) if first is not None else "torch" in sys.modules
    if is_torchs:
        import torch

        return getattr(torch, name)
    return bfloat16() if name == "bfloat16" else np.dtype(name)
