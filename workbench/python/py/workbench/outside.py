"""Callables that serve calls of an operator beside what it was made of, or that it was made of: which one does, how it is called, and
what its results are held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

import numpy as np

from .errors import make_argument_error

__all__ = ["Outside", "dtype_of", "flat", "is_on_cuda", "outside", "run", "several", "specs_in"]

_DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64".split()


@dataclass(frozen=True)
class Outside:
    """A callable for a device and some element types of the first array, or all of them."""

    device: str
    dtypes: tuple[str, ...] | None
    function: Callable[..., Any]

    def serves(self, device: str, dtype: str | None) -> bool:
        """Whether calls on that device with a first array of that type are its."""
        return self.device == device and (self.dtypes is None or dtype in self.dtypes)

    def covers(self, other: Outside) -> bool:
        """Whether all calls that are the other's are its."""
        mine, theirs = self.dtypes, other.dtypes
        return self.device == other.device and (mine is None or theirs is not None and set(theirs) <= set(mine))


def outside(name: str, device: str, function: Any, dtypes: Sequence[str] | None) -> Outside:
    """A callable as it was registered; ArgumentError for what is none."""
    if not callable(function):
        raise make_argument_error(f"`{name}`: a kernel of a module or a callable is wanted, got {type(function).__name__}")
    if dtypes is None:
        return Outside(device, None, function)
    every = (dtypes,) if isinstance(dtypes, str) else tuple(dtypes)
    names = [one if isinstance(one, str) else np.dtype(one).name if isinstance(one, type) else str(one).removeprefix("torch.") for one in every]
    for one in names:
        if one not in _DTYPES:
            raise make_argument_error(f"`{name}`: `{one}` is no element type; those are {', '.join(_DTYPES)}")
    if not names:
        raise make_argument_error(f"`{name}`: dtypes names no element type; leave it out for all of them")
    return Outside(device, tuple(names), function)


def dtype_of(value: Any) -> str | None:
    """The name of an array's element type; None of what is no array."""
    return str(value.dtype).rpartition(".")[2] if hasattr(value, "dtype") and hasattr(value, "shape") else None


def is_on_cuda(values: Sequence[Any]) -> bool:
    """Whether one of the arrays lies on a GPU."""
    return any(hasattr(value, "__cuda_array_interface__") for value in flat(values))


def flat(value: Any) -> list[Any]:
    """What lists hold, without the lists."""
    return [item for part in value for item in flat(part)] if isinstance(value, (list, tuple)) else [value]


def specs_in(value: Any) -> list[tuple[str, tuple[int, ...]]] | None:
    """The dtypes and shapes of what a shape function gives; None where there is more than that to it."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        parts = [specs_in(item) for item in value]
        return None if any(part is None for part in parts) else [spec for part in parts for spec in part or ()]
    try:
        return [(str(value.dtype).rpartition(".")[2], tuple(int(extent) for extent in value.shape))]
    except (AttributeError, TypeError):
        return None


def run(op: Any, function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Calls a callable on the host's arrays: those that the schema does not mark are lent to be read, results are held against the shapes
    that the operator says, and share no memory with what was given.

    ArgumentError for what it writes without leave, and for results that the schema or the shape function do not have.
    """
    lent = [_lent(op, name, value) for name, value in zip(op.params, inputs)]
    count = op._positional
    try:
        result = function(*lent[:count], **dict(zip(op.params[count:], lent[count:])))
    except ValueError as error:
        if "read-only" in str(error):
            raise make_argument_error(
                f"`{op.name}` writes an argument that its schema does not mark, as in Tensor(a!): {error}"
            ) from error
        raise
    # What is written comes back as the very object that was given.
    given = [value for value in flat(inputs) if isinstance(value, np.ndarray)]

    def fresh(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [fresh(item) for item in value]
        shares = isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in given)
        return value.copy(order="K") if shares else value

    made = several(op, result, inputs)
    fixed = [fresh(one) if source is None else inputs[source] for one, source in zip(made, op._results)]
    return None if not fixed else fixed[0] if len(fixed) == 1 else tuple(fixed)


def several(op: Any, result: Any, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a callable, as many as the schema says and of the shapes that the operator says."""
    wanted = op._results
    made = () if result is None else tuple(result) if isinstance(result, tuple) else (result,)
    if len(made) != len(wanted):
        raise make_argument_error(f"`{op.name}` gave {len(made)} results; its schema says {len(wanted)}: {op.schema}")
    came, said = specs_in(made), op._said(inputs)
    if came is not None and said is not None and came != said:

        def told(specs: list[tuple[str, tuple[int, ...]]]) -> str:
            return ", ".join(f"{dtype} {list(shape)}" for dtype, shape in specs) or "nothing"

        raise make_argument_error(f"`{op.name}` gave {told(came)}, and its shape function said {told(said)}")
    return made


def _lent(op: Any, name: str, value: Any) -> Any:
    if name in op._writes:
        return value
    if isinstance(value, (list, tuple)):
        return [_lent(op, name, item) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view
