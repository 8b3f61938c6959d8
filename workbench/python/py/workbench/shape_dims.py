"""Dims of an operator's arrays, as its shape signature names them: what sweeps and strategies choose values for."""

from __future__ import annotations

import math
import re
from typing import Any, Mapping, Sequence

from .description import split_list
from .errors import make_argument_error

__all__ = ["ANY", "arrays_of", "elements_of", "names_of", "shape_of", "shapes_of"]

#: The name of `*` in a signature: dims of any number, which are the same wherever it stands.
ANY = "*"
_ARRAY = re.compile(r"([A-Za-z_]\w*)\s*\[([^\]]*)\]")


def arrays_of(op: Any) -> dict[str, tuple[str, ...]]:
    """The dims of each array of an operator, as its signature has them; without one all arrays have the same shape.

    Raises ArgumentError for a shape that is a callable.

    >>> import workbench as wb
    >>> op = wb.op("doc::dims(Tensor a, Tensor b) -> Tensor", "__global__ void k(const float* a, const float* b, float* y, int m, int n) {}",
    ...            shape="a[m, n], b[n] -> y[m]")
    >>> arrays_of(op)
    {'a': ('m', 'n'), 'b': ('n',)}
    """
    arrays = [name for name, (kind, _) in zip(op.params, op._kinds) if kind.rstrip("?") == "Tensor"]
    signature = op._parts["shape"]
    if signature is None:
        return dict.fromkeys(arrays, (ANY,))
    if not isinstance(signature, str):
        raise make_argument_error(f"`{op.name}`: its shape is a callable, which does not say what its arguments are like; give make_args=")
    found = {name: tuple(dim.strip() for dim in dims.split(",") if dim.strip()) for name, dims in _ARRAY.findall(signature.partition("->")[0])}
    return {name: found[name] for name in arrays}


def names_of(arrays: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of dims, in the order in which the signature has them."""
    return list(dict.fromkeys(dim for dims in arrays.values() for dim in dims if not dim.isdigit()))


def shape_of(dims: Sequence[str], values: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of an array for these values of dims: ints, and for `*` a tuple."""
    shape: list[int] = []
    for dim in dims:
        if dim.isdigit():
            shape.append(int(dim))
        elif dim == ANY:
            shape.extend(values[ANY])
        else:
            shape.append(values[dim])
    return tuple(shape)


def shapes_of(op: Any, n: int, *, is_apart: bool = False) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of a call of size `n`, as the signature has them: all named dims have one extent, and their product is at most `n`
    in the array that has most of them, of arguments and results. With `is_apart` the extents are about as large, odd and different: on no
    border of a block, and none in another one's place. Where a callable is the shape, arrays have one dim.

    >>> import workbench as wb
    >>> op = wb.op("doc::shapes(Tensor a, Tensor b) -> Tensor", "__global__ void k(const float* a, const float* b, float* y, int m, int n) {}",
    ...            shape="a[m, n], b[n, 3] -> y[m]")
    >>> shapes_of(op, 1024), shapes_of(op, 1024, is_apart=True)
    ({'a': (32, 32), 'b': (32, 3)}, {'a': (33, 35), 'b': (35, 3)})
    """
    signature = op._parts["shape"]
    if callable(signature):
        return {name: (n,) for name, (kind, _) in zip(op.params, op._kinds) if kind.rstrip("?") == "Tensor"}
    arrays = arrays_of(op)
    results = [split_list(dims) for _, dims in _ARRAY.findall((signature or "").partition("->")[2])]
    rank = max((sum(not dim.strip().isdigit() for dim in dims if dim.strip()) for dims in (*arrays.values(), *results)), default=1)
    extent = round(n ** (1 / max(rank, 1)))
    extent -= extent ** max(rank, 1) > n
    extents = {name: (extent | 1) + 2 * at if is_apart else extent for at, name in enumerate(names_of(arrays))}
    values = {name: (one,) if name == ANY else one for name, one in extents.items()}
    return {name: shape_of(dims, values) for name, dims in arrays.items()}


def elements_of(arrays: Mapping[str, Sequence[str]], values: Mapping[str, Any]) -> int:
    """The number of elements of all arrays together."""
    return sum(math.prod(shape_of(dims, values)) for dims in arrays.values())
