"""Callables that serve calls of an operator, besides its kernel or as its
implementation: the choice of one, its call, and the checks of its results."""

from __future__ import annotations

import keyword
import re
from collections import namedtuple
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Sequence

import numpy as np

from . import _workbench
from .errors import make_argument_error, plural
from .spec import DTYPES, dtype_name

__all__ = ["Outside", "dtype_of", "flat", "is_on_cuda", "outside", "returns_of", "run", "schema_of", "several", "specs_in", "tuple_type"]

# Errors of NumPy for an array that is lent to be read.
_READ_ONLY = re.compile(r"(assignment destination|output array|array) is read-only|read-only (array|memory)")


@dataclass(frozen=True)
class Outside:
    """A callable for a device and some element types of the first array, or all of them."""

    device: str
    dtypes: tuple[str, ...] | None
    function: Callable[..., Any]

    def serves(self, device: str, dtype: str | None) -> bool:
        """True if it serves calls on that device with a first array of that type."""
        return self.device == device and (self.dtypes is None or dtype in self.dtypes)

    def covers(self, other: Outside) -> bool:
        """True if it serves all calls that the other serves."""
        mine, theirs = self.dtypes, other.dtypes
        return self.device == other.device and (mine is None or theirs is not None and set(theirs) <= set(mine))


def outside(name: str, device: str, function: Any, dtypes: Any) -> Outside:
    """A callable as it was registered; ArgumentError if it is none."""
    if not callable(function):
        raise make_argument_error(f"`{name}`: a kernel of a module or a callable is wanted, got {type(function).__name__}")
    if dtypes is None:
        return Outside(device, None, function)
    every = tuple(dtypes) if isinstance(dtypes, (list, tuple, set, frozenset)) else (dtypes,)
    if any(isinstance(one, str) and one == "float" for one in every):
        raise make_argument_error(f"`{name}`: `float` is float64 to NumPy and float32 to torch; say which is meant")
    if not every:
        raise make_argument_error(f"`{name}`: dtypes names no element type; leave it out for all of them")
    return Outside(device, tuple(dict.fromkeys(dtype_name(one) for one in every)), function)


def dtype_of(value: Any) -> str | None:
    """The name of an array's element type; None if it is no array."""
    return str(value.dtype).rpartition(".")[2] if hasattr(value, "dtype") and hasattr(value, "shape") else None


def is_on_cuda(values: Sequence[Any]) -> bool:
    """True if one of the arrays lies on a GPU."""
    return any(_is_on_cuda(value) for value in flat(values))


def _is_on_cuda(value: Any) -> bool:
    # The interface of torch's tensors is missing for some types, and where a gradient is wanted.
    is_cuda = getattr(value, "is_cuda", None)
    return is_cuda if isinstance(is_cuda, bool) else hasattr(value, "__cuda_array_interface__")


def flat(value: Any) -> list[Any]:
    """The items of nested lists, without the lists."""
    return [item for part in value for item in flat(part)] if isinstance(value, (list, tuple)) else [value]


def specs_in(value: Any) -> list[tuple[str, tuple[int, ...]]] | None:
    """The dtypes and shapes that a shape function gives; None if its result is anything else."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        parts = [specs_in(item) for item in value]
        return None if any(part is None for part in parts) else [spec for part in parts for spec in part or ()]
    try:
        return [(str(value.dtype).rpartition(".")[2], tuple(int(extent) for extent in value.shape))]
    except (AttributeError, TypeError):
        return None


def schema_of(op: Any) -> str:
    """The schema of an operator; of several overloads, the one without a name."""
    lines: list[str] = op.schema.splitlines()
    return next((line for line in lines if "." not in line.partition("(")[0]), lines[0])


@lru_cache(maxsize=1024)
def returns_of(schema: str) -> tuple[tuple[str, str | None], ...]:
    """The types and names of a schema's results."""
    return tuple(_workbench.schema_returns(schema))


@lru_cache(maxsize=None)
def tuple_type(names: tuple[str | None, ...]) -> Callable[..., Any] | None:
    """Makes a namedtuple of several results that all have names that a field can have; None if they have not."""
    fields = [name for name in names if name is not None and name.isidentifier() and not keyword.iskeyword(name) and name[0] != "_"]
    if len(names) < 2 or len(set(fields)) < len(names):
        return None
    make: Any = namedtuple
    made: Any = make("Result", fields)
    # The type is found by its names, so that a worker process can send results back.
    made.__reduce__ = lambda self: (_result, (names, tuple(self)))
    return made  # type: ignore[no-any-return]


def _result(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    made = tuple_type(names)
    return values if made is None else made(*values)


def run(op: Any, function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Calls a callable on the host's arrays: those that the schema does not mark are lent to be
    read, results are compared with the operator's shapes, and share no memory with the arguments.

    ArgumentError for writes to other arguments, and for results that do not fit the schema or the shape function.
    """
    for name, value in zip(op.params, inputs):
        if name in op._writes and any(isinstance(one, np.ndarray) and not one.flags.writeable for one in flat(value)):
            raise make_argument_error(f"`{op.name}`: argument `{name}` is written, and the array is read-only")
    lent = [_lent(op, name, value) for name, value in zip(op.params, inputs)]
    count = op._positional
    try:
        result = function(*lent[:count], **dict(zip(op.params[count:], lent[count:])))
    except ValueError as error:
        if _READ_ONLY.search(str(error)) and any(isinstance(one, np.ndarray) and not one.flags.writeable for one in flat(lent)):
            raise make_argument_error(
                f"`{op.name}` writes an argument that its schema does not mark, as in Tensor(a!): {error}"
            ) from error
        raise
    # An array that is written is returned as the very object that was given.
    given = [value for value in flat(inputs) if isinstance(value, np.ndarray)]

    def fresh(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [fresh(item) for item in value]
        shares = isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in given)
        return value.copy(order="K") if shares else value

    made = several(op, result, inputs)
    fixed = [fresh(one) if source is None else inputs[source] for one, source in zip(made, op._results)]
    if len(fixed) < 2:
        return fixed[0] if fixed else None
    named = tuple_type(tuple(name for _, name in returns_of(schema_of(op))))
    return tuple(fixed) if named is None else named(*fixed)


def several(op: Any, result: Any, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a callable, checked for the schema's number and types, and for the operator's shapes."""
    wanted = returns_of(schema_of(op))
    if len(wanted) == 1:
        kind = wanted[0][0]
        is_wrapped = isinstance(result, tuple) and len(result) == 1 and not kind.rstrip("?").endswith("]")
        made: tuple[Any, ...] = result if is_wrapped else () if result is None and not kind.endswith("?") else (result,)
        if isinstance(result, tuple) and len(result) > 1 and not kind.rstrip("?").endswith(("]", ")")):
            made = result
    else:
        made = () if result is None else tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if len(made) != len(wanted):
        raise make_argument_error(f"`{op.name}` gave {plural(len(made), 'result')}; its schema says {len(wanted)}: {op.schema}")
    made = tuple(_held(op, i, value, kind) for i, (value, (kind, _)) in enumerate(zip(made, wanted)))
    for value, source in zip(made, op._results):
        if source is not None and not _is_same(value, inputs[source]):
            raise make_argument_error(
                f"`{op.name}` gave something else than `{op.params[source]}`, which it is to write and give back: {op.schema}"
            )
    came, said = specs_in(made), op._said(inputs)
    if came is not None and said is not None and came != said:

        def told(specs: list[tuple[str, tuple[int, ...]]]) -> str:
            return ", ".join(f"{dtype} {list(shape)}" for dtype, shape in specs) or "nothing"

        raise make_argument_error(f"`{op.name}` gave {told(came)}, and its shape function said {told(said)}")
    return made


def _held(op: Any, number: int, value: Any, kind: str) -> Any:
    """A result in the schema's type."""
    bare = kind.rstrip("?")
    if value is None and kind.endswith("?"):
        return None
    if bare.endswith("]") and isinstance(value, (list, tuple)):
        inner = bare[: bare.rindex("[")]
        return [_held(op, number, item, inner) for item in value]
    if bare == "Tensor":
        if isinstance(value, np.generic):
            return np.asarray(value)
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray and not isinstance(value, np.ma.MaskedArray):
            return np.asarray(value)
        has_memory = hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")
        if dtype_of(value) is not None and has_memory and not isinstance(value, np.ma.MaskedArray):
            return value
    elif bare in _NUMBERS:
        if isinstance(value, _NUMBERS[bare]) or type(value).__name__ in ("SymInt", "SymFloat", "SymBool"):
            return value
    elif not bare.endswith("]"):
        return value
    which = "its result" if len(returns_of(schema_of(op))) == 1 else f"result {number}"
    raise make_argument_error(f"`{op.name}`: {which} is `{kind}` in the schema, and it gave {type(value).__name__}: {op.schema}")


_NUMBERS: dict[str, Any] = {
    "int": (int, np.integer),
    "SymInt": (int, np.integer),
    "float": (float, int, np.floating, np.integer),
    "bool": (bool, np.bool_),
    "str": (str,),
    "Scalar": (int, float, complex, np.number),
}


def _is_same(value: Any, given: Any) -> bool:
    """True if a result is an argument that was to be written, or has the same memory."""
    if value is given or isinstance(given, (list, tuple)):
        return True
    if isinstance(value, np.ndarray) and isinstance(given, np.ndarray):
        return value.shape == given.shape and value.__array_interface__["data"][0] == given.__array_interface__["data"][0]
    pointers = [getattr(one, "data_ptr", None) for one in (value, given)]
    return all(pointers) and pointers[0]() == pointers[1]()  # type: ignore[misc]


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
