"""`Spec`: the shape, dtype and device of an array without data, and what makes one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from ._calls import clear_calls
from .errors import make_argument_error

__all__ = ["DTYPES", "Spec", "device_name", "dtype_name", "empty_like", "moved_to_first", "run_shape", "spec_in_memory"]

#: The element types that kernels know.
DTYPES = frozenset("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64".split())

#: `kDLCUDA`, the number that DLPack gives to NVIDIA's GPUs.
_DLPACK_CUDA = 2


@clear_calls
@dataclass(frozen=True, init=False)
class Spec:
    """The shape, dtype and device of an array without data: the arguments and the result of a shape callable.

    `dtype` is NumPy's name, one that a kernel parameter can have; ArgumentError for any other and for negative extents.

    >>> import numpy as np, workbench as wb
    >>> wb.Spec((2, 3), np.float32)
    Spec(shape=(2, 3), dtype='float32', device='cpu')
    """

    shape: tuple[int, ...]
    dtype: str
    device: str
    #: The strides in elements, if known; else elements lie one after another.
    strides: tuple[int, ...] | None = field(default=None, compare=False, repr=False)

    def __init__(self, shape: Sequence[int] | int, dtype: Any = "float32", device: str = "cpu") -> None:
        if isinstance(shape, str):
            raise make_argument_error(f"shape is a tuple of ints, got {shape!r}")
        extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        symbols = [type(extent).__name__ == "SymInt" for extent in extents]
        if not all(s or isinstance(e, (int, np.integer)) and e >= 0 for e, s in zip(extents, symbols)):
            raise make_argument_error(f"shape is a tuple of ints from 0 on, got {shape!r}")
        # torch's sizes that are symbols stay what they are.
        object.__setattr__(self, "shape", tuple(e if s else int(e) for e, s in zip(extents, symbols)))
        object.__setattr__(self, "dtype", dtype_name(dtype))
        object.__setattr__(self, "device", str(device))
        object.__setattr__(self, "strides", None)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def numel(self) -> int:
        """The number of elements.

        >>> import workbench as wb
        >>> wb.Spec((2, 3)).numel()
        6
        """
        return int(np.prod(self.shape, dtype=np.int64))

    size = numel

    def new_empty(self, shape: Sequence[int] | int, *, dtype: Any = None) -> Spec:
        """A `Spec` of another shape on the same device, of another dtype if one is given: torch's tensors have a method of this name,
        so that a fake which uses it serves both.

        >>> import workbench as wb
        >>> wb.Spec((2, 3)).new_empty((4,), dtype="int64")
        Spec(shape=(4,), dtype='int64', device='cpu')
        """
        return Spec(shape, self.dtype if dtype is None else dtype, self.device)


def spec_in_memory(shape: tuple[int, ...], dtype: str, strides: tuple[int, ...]) -> Spec:
    """A `Spec` whose strides are known."""
    spec = Spec(shape, dtype)
    object.__setattr__(spec, "strides", strides)
    return spec


def device_name(value: Any) -> str:
    """The name of the device that an array or a `Spec` is on: "cpu", "cuda:0"."""
    device = getattr(value, "device", None)
    if isinstance(device, str) or isinstance(getattr(device, "type", None), str):
        return str(device)
    # Devices of CuPy and JAX have names of their own; the numbers are DLPack's.
    where = getattr(value, "__dlpack_device__", None)
    kind, index = (1, 0) if where is None else where()
    return f"cuda:{index}" if kind == _DLPACK_CUDA else "cpu"


def moved_to_first(made: Any, inputs: Sequence[Any]) -> Any:
    """The `Spec`s in the results of a call on the device of its first array argument, where a call makes its results."""
    first = next((value for value in _flat(inputs) if _is_array(value)), None)
    return made if first is None else _moved(made, device_name(first))


def _moved(made: Any, device: str) -> Any:
    if isinstance(made, Spec):
        moved = Spec(made.shape, made.dtype, device)
        object.__setattr__(moved, "strides", made.strides)
        return moved
    if isinstance(made, (list, tuple)):
        items = [_moved(item, device) for item in made]
        return type(made)(*items) if hasattr(made, "_fields") else type(made)(items)
    return made


def _flat(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        yield from _flat(value) if isinstance(value, (list, tuple)) else (value,)


def dtype_name(dtype: Any) -> str:
    """NumPy's name of a dtype given by name, by type or as torch's."""
    text = dtype if isinstance(dtype, str) else str(dtype).removeprefix("torch.")
    if text not in DTYPES:
        try:
            text = np.dtype(dtype).name
        except TypeError:
            pass
    if text not in DTYPES:
        raise make_argument_error(f"dtype is {dtype!r}; it must be one of {', '.join(sorted(DTYPES))}")
    return text


@clear_calls
def empty_like(like: Any) -> Any:
    """A thing with the shape and dtype of `like`: a `Spec` for a `Spec`, a new uninitialised array for an array.

    Works in shape callables and fakes, with and without torch.

    >>> import numpy as np, workbench as wb
    >>> wb.empty_like(wb.Spec((2,), "int32"))
    Spec(shape=(2,), dtype='int32', device='cpu')
    >>> wb.empty_like(np.zeros(3)).shape
    (3,)
    """
    if isinstance(like, Spec):
        return like
    new_empty = getattr(like, "new_empty", None)
    return np.empty_like(like) if new_empty is None else new_empty(like.shape)


def run_shape(function: Callable[..., Any], call: tuple[Any, ...], given: list[tuple[list[int], str]]) -> Any:
    """Runs a shape callable on the arguments of a call, arrays as `Spec`s; the native half calls it."""
    specs = iter([Spec(shape, dtype) for shape, dtype in given])
    if call:
        args = [next(specs) if _is_array(value) else value for value in call]
    else:
        args = list(specs)
    made = function(*args)
    several = made if isinstance(made, (tuple, list)) else (made,)
    result = []
    for spec in several:
        if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
            raise make_argument_error(
                f"the shape callable gave {type(spec).__name__} {spec!r}; one wb.Spec per output is wanted"
            )
        result.append((list(spec.shape), dtype_name(spec.dtype)))
    return result


def _is_array(value: Any) -> bool:
    return not isinstance(value, (bool, int, float, str)) and hasattr(value, "shape") and hasattr(value, "dtype")
