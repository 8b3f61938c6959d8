"""Gradient checks: what cannot be checked is said in the caller's words, before or after the native half has tried."""

from __future__ import annotations

import numbers
from typing import Any, Callable, Sequence

import numpy as np

from . import _workbench
from ._workbench import GradReport
from .copying import copies
from .errors import ArgumentError, make_argument_error
from .gradient_rules import is_floating, outputs_of
from .python_implementations import dtype_of, flat
from .spec import DTYPES

__all__ = ["by_calls", "clearer", "fit", "hold", "of_fresh", "typed"]

#: The options of a check, besides the arguments of the operator.
OPTIONS = ("eps", "atol", "rtol", "raise_exception")
#: The types that differences are taken in.
_FLOATS = ("float32", "float64")


def hold(op: Any, inputs: Sequence[Any], eps: Any, atol: Any, rtol: Any) -> None:
    """Raises ArgumentError for a call that no difference can be taken of, and for steps and tolerances that are none."""
    for name, value in (("eps", eps), ("atol", atol), ("rtol", rtol)):
        least = "more than 0" if name == "eps" else "0 or more"
        if not isinstance(value, numbers.Real) or isinstance(value, bool) or not (value > 0 if name == "eps" else value >= 0):
            raise make_argument_error(f"{name} is {value!r}; a number is wanted, {least}")
    if op._writes and all(source is not None for source in op._results):
        written = ", ".join(f"`{name}`" for name in op._writes)
        raise make_argument_error(
            f"`{op.name}` writes {written} in place and has no other result; gradcheck takes differences of fresh results: "
            "check an operator that returns what this one writes"
        )
    if any(is_floating(value) for value in flat(inputs)):
        return
    if any(dtype not in DTYPES for value in flat(inputs) if (dtype := dtype_of(value)) is not None):
        # The native half has words for types that no kernel has.
        return
    op._hold_arguments(inputs)
    arrays = {name: dtypes[0] for name, value in zip(op.params, inputs) if (dtypes := [d for one in flat([value]) if (d := dtype_of(one)) is not None])}
    if not arrays:
        raise make_argument_error(f"`{op.name}`: no argument is an array, so there is no gradient to check")
    shown = ", ".join(f"`{name}` is an array of {dtype}" for name, dtype in arrays.items())
    raise make_argument_error(f"`{op.name}`: {shown}, and only arrays of floats have a gradient to check; {_remedy(op, inputs, next(iter(arrays)))}")


def _remedy(op: Any, inputs: Sequence[Any], name: str) -> str:
    """The advice for a call without floats: a type that the operator takes, where there is one."""
    for dtype in reversed(_FLOATS):
        try:
            op._hold_arguments([np.zeros(np.shape(value), dtype) if dtype_of(value) is not None else value for value in inputs])
        except (TypeError, ValueError, RuntimeError):
            continue
        return f"try {name}.astype(np.{dtype})"
    return "the operator takes none"


def _as_type(value: Any, dtype: str) -> Any:
    # torch's tensors that want a gradient are no arrays before they are detached.
    return np.asarray(value.detach() if hasattr(value, "detach") else value).astype(dtype)


def clearer(op: Any, inputs: Sequence[Any], error: ArgumentError) -> BaseException:
    """The error of a gradient check, or a better one: about the arguments as they were given, not as they were widened, or about the results."""
    try:
        fit(op, inputs)
    except ArgumentError as wrong:
        return wrong
    count = op._positional
    for dtype in (None, *_FLOATS):
        given = [_as_type(value, dtype) if dtype is not None and is_floating(value) else value for value in inputs]
        try:
            return _without_floats(op, op.fake(*given[:count], **dict(zip(op.params[count:], given[count:])))) or error
        except (TypeError, ValueError, RuntimeError):
            continue
    return error


def fit(op: Any, inputs: Sequence[Any]) -> None:
    """Raises ArgumentError for arguments that a gradient check cannot be made with, whatever the type of the floats is."""
    hold(op, inputs, 1, 0, 0)
    first: ArgumentError | None = None
    for dtype in (None, *_FLOATS):
        try:
            op._hold_arguments([_as_type(value, dtype) if dtype is not None and is_floating(value) else value for value in inputs])
            return
        except ArgumentError as wrong:
            first = first or wrong
    if first is not None:
        raise first


def _without_floats(op: Any, made: Any) -> BaseException | None:
    """The error for results none of which is an array of floats; None where one is."""
    every = made if isinstance(made, tuple) else (made,)
    if any(dtype is None or "float" in dtype for one in flat(every) for dtype in (dtype_of(one),)):
        return None
    shown = ", ".join(f"`{name}` is an array of {dtype_of(value)}" for name, value in zip(outputs_of(op), every))
    return make_argument_error(f"`{op.name}`: {shown}, and only results of floats have a gradient to check")


def typed(op: Any, pull: Callable[..., Any], values: Sequence[Any]) -> Callable[..., tuple[Any, ...]]:
    """A pullback whose gradients have the types of their inputs; an ArgumentError names the one that has not."""
    floats = [dtype for value in flat(values) if (dtype := dtype_of(value)) in _FLOATS]
    precision = floats[0] if floats else "float64"

    def run(*grads: Any) -> tuple[Any, ...]:
        try:
            made = tuple(pull(*grads))
        except ArgumentError as error:
            raise make_argument_error(f"{error} (in the backward of `{op.name}`, which gradcheck calls in {precision})") from error
        for name, value, gradient in zip(op.params, values, made):
            got, wanted = dtype_of(gradient), dtype_of(value)
            if got is not None and is_floating(value) and got != wanted:
                raise make_argument_error(
                    f"the backward of `{op.name}` gave a gradient of {got} for `{name}`, and {wanted} is expected: gradcheck calls it in {wanted}, "
                    f"and a gradient has the type of its input, as grad.astype({name}.dtype) has"
                )
        return made

    return run


def of_fresh(op: Any, pull: Callable[..., Any], output: Any) -> Callable[..., Any]:
    """A pullback that takes the gradients of the fresh results alone; those of arguments that are returned are zeros then."""
    if all(source is None for source in op._results):
        return pull
    every = tuple(output) if isinstance(output, (tuple, list)) else (output,)

    def run(*grads: Any) -> Any:
        left = iter(grads)
        return pull(*(next(left) if source is None else np.zeros_like(one) for one, source in zip(every, op._results)))

    return run


def by_calls(op: Any, inputs: list[Any], eps: float, atol: float, rtol: float) -> GradReport:
    """A gradient check in float64 if calls in that type succeed, else in float32."""
    places = [i for i, value in enumerate(inputs) if is_floating(value)]
    names = [op.params[i] for i in places]
    if not places:
        raise make_argument_error(f"`{op.name}`: its arrays of floats are in lists, and gradcheck takes differences of arrays that are arguments themselves")

    def whole(arrays: tuple[Any, ...]) -> list[Any]:
        filled = list(inputs)
        for place, array in zip(places, arrays):
            filled[place] = array
        return filled

    def forward(*arrays: Any) -> Any:
        filled, count = copies(whole(arrays)), op._positional
        return op(*filled[:count], **dict(zip(op.params[count:], filled[count:])))

    def pullback(*arrays: Any) -> Callable[..., tuple[Any, ...]]:
        filled = whole(arrays)
        _, pull = op._pulled(filled)
        run = typed(op, pull, filled)
        return lambda *grads: tuple(run(*grads)[place] for place in places)

    def widened(dtype: str) -> list[Any]:
        return [np.ascontiguousarray(_as_type(inputs[place], dtype)) for place in places]

    why = wrong = None
    try:
        wrong = _without_floats(op, forward(*widened("float64")))
    except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        why, eps, atol = str(error).splitlines()[0], 1e-2, 1e-2
    if wrong is not None:
        raise wrong
    arrays = widened("float64" if why is None else "float32")
    return _workbench.gradcheck_call(forward, pullback, arrays, names, eps, atol, rtol, op.name, why)
