"""Strategies of hypothesis for tests of operators: `workbench.testing.arrays_for(op)`. The package hypothesis has to be installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping

import numpy as np

from .errors import make_argument_error
from .shape_dims import ANY, arrays_of, names_of, shape_of

try:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ImportError("hypothesis is not installed; `pip install hypothesis` installs it") from None

if TYPE_CHECKING:
    from .operators import Op

__all__ = ["arrays_for"]


def arrays_for(
    op: Op,
    *,
    max_extent: int = 70,
    max_rank: int = 3,
    dtypes: Iterable[Any] | None = None,
    elements: Any = None,
    args: Mapping[str, Any] | None = None,
) -> Any:
    """A strategy for the arguments of an operator of a kernel: a tuple in the schema's order whose arrays fit the shape signature.

    Extents are from 0 to `max_extent`; `x[*]` has up to `max_rank` dims. `dtypes` are the element types to choose from, the same for all arrays;
    without them each array has that of the first kernel. `elements` is a strategy for elements; without it floats are finite and of a size whose
    products are finite too, integers from 0 to the smallest extent. `args` has values or strategies for single arguments. Hypothesis makes failing cases smaller, extents and elements.

    Raises ArgumentError for an operator whose signature does not say enough.

    >>> import numpy as np, workbench as wb
    >>> from hypothesis import given, settings
    >>> from workbench.testing import arrays_for
    >>> source = "__global__ void add(const float* a, const float* b, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a[i] + b[i]; }"
    >>> add = wb.op("doc::add_testing(Tensor a, Tensor b) -> Tensor", source, shape="a[n], b[n] -> y[n]", reference=lambda a, b: a + b)
    >>> @settings(max_examples=10, deadline=None)
    ... @given(arrays_for(add))
    ... def test_add(args):
    ...     assert add.check(*args)
    >>> test_add()
    """
    if not hasattr(op, "_parts"):
        raise make_argument_error(f"arguments of an operator of a kernel are made, got {type(op).__name__}")
    shapes = arrays_of(op)
    given = dict(args or {})
    for name in given:
        if name not in op.params:
            raise make_argument_error(f"`{op.name}` has no argument `{name}`; its arguments are {', '.join(op.params)}")
    chosen = None if dtypes is None else [_dtype(dtype) for dtype in dtypes]
    if chosen == []:
        raise make_argument_error("dtypes is empty")
    dims = {name: st.integers(0, max_extent) for name in names_of(shapes)}
    if ANY in dims:
        dims[ANY] = st.lists(st.integers(0, min(max_extent, 12)), max_size=max_rank).map(tuple)

    @st.composite
    def arguments(draw: Any) -> tuple[Any, ...]:
        values = draw(st.fixed_dictionaries(dims))
        # Integers are indices, too.
        below = max(1, min([100, *(extent for value in values.values() for extent in np.atleast_1d(value) if extent > 0)]))
        common = None if chosen is None else draw(st.sampled_from(chosen))
        made: list[Any] = []
        # Those by keyword alone have their defaults.
        for name, (kind, own) in list(zip(op.params, op._kinds))[: op._positional]:
            if name in given:
                value = given[name]
                made.append(draw(value) if isinstance(value, st.SearchStrategy) else value)
            elif name in shapes:
                dtype = _dtype(own or "float32") if common is None else common
                made.append(draw(arrays.arrays(dtype, shape_of(shapes[name], values), elements=_elements(dtype, below) if elements is None else elements)))
            else:
                made.append(draw(_scalar(kind)))
        return tuple(made)

    return arguments()


def _dtype(dtype: Any) -> np.dtype[Any]:
    """A dtype, that of bfloat16 from ml_dtypes."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


def _elements(dtype: np.dtype[Any], below: int) -> Any:
    """Elements of a type: floats whose products and sums of a few are finite, integers from 0 to `below`."""
    if dtype.name == "bfloat16":
        # Multiples of a half up to 128 have the eight bits of its significand.
        return st.integers(-255, 255).map(lambda halves: halves / 2)
    if dtype.kind == "f":
        bits = dtype.itemsize * 8
        most = 64.0 if bits == 16 else 2.0**20
        return st.floats(-most, most, width=bits, allow_subnormal=False)
    if dtype.kind in "iu":
        return st.integers(0, below - 1)
    return arrays.from_dtype(dtype, allow_nan=False, allow_infinity=False)


def _scalar(kind: str) -> Any:
    """Values of an argument that is no array, by its type in the schema."""
    if kind.endswith("?"):
        return st.none() | _scalar(kind[:-1])
    if kind == "bool":
        return st.booleans()
    if kind in ("int", "SymInt"):
        return st.integers(1, 8)
    return st.floats(-8, 8, width=32, allow_subnormal=False)
