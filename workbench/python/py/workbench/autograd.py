"""Gradients of operators without torch: the context a backward is given, and the pullback of a call."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from ._annotations import a_type
from .errors import ArgumentError, add_place, make_argument_error, plural

__all__ = ["Context", "Pullback", "RecordedPullback"]


class Context:
    """The data that a `setup_context` leaves for its `backward`, as torch's `ctx`: any attribute, and the tensors saved.

    `needs_input_grad` holds one bool per input: true for an array of floating-point numbers.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps arrays for `saved_tensors`, in this order."""
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The arrays that `save_for_backward` kept."""
        return self._saved


def needs_grad(value: Any) -> bool:
    """True if a gradient for this input makes sense."""
    dtype = getattr(value, "dtype", None)
    # NumPy gives kind "V" to ml_dtypes' bfloat16, as to all types that it does not know itself.
    real = getattr(dtype, "kind", "") == "f" or getattr(dtype, "name", "") == "bfloat16"
    return dtype is not None and np.ndim(value) >= 0 and real


def shapes_of(inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The shape of each input, a list of shapes for a list of arrays; None if it is no array."""

    def one(value: Any) -> Any:
        if isinstance(value, (list, tuple)) and value and all(hasattr(item, "shape") for item in value):
            return [tuple(item.shape) for item in value]
        return tuple(value.shape) if hasattr(value, "shape") else None

    return tuple(one(value) for value in inputs)


def checked_gradients(name: str, params: Sequence[str], shapes: Sequence[Any], result: Any) -> tuple[Any, ...]:
    """The gradients that a backward gave, one per input.

    Raises ArgumentError where there are more or fewer, and where a gradient has another shape than its input: it may only have
    more, as torch has it, where the input would broadcast to it.
    """
    given = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if len(given) != len(shapes):
        raise make_argument_error(
            f"the backward of `{name}` gave {plural(len(given), 'gradient')} for {plural(len(shapes), 'input')} ({', '.join(params)}); "
            "return one per input, None where it is no array"
        )
    for param, shape, gradient in zip(params, shapes, given):
        if gradient is None:
            continue
        if shape is None:
            if isinstance(gradient, (tuple, list)) and all(item is None for item in gradient):
                continue
            raise make_argument_error(
                f"the backward of `{name}` gave a gradient for `{param}`, which is no array; return None for it"
            )
        if not isinstance(shape, list):
            _check_gradient(name, param, shape, gradient)
            continue
        if not isinstance(gradient, (tuple, list)) or len(gradient) != len(shape):
            count = len(gradient) if isinstance(gradient, (tuple, list)) else "no list of"
            raise make_argument_error(
                f"the backward of `{name}` gave {plural(count, 'gradient')} for `{param}`, which is a list of {plural(len(shape), 'array')}"
            )
        for i, (extents, item) in enumerate(zip(shape, gradient)):
            if item is not None:
                _check_gradient(name, f"{param}[{i}]", extents, item)
    return given


def _check_gradient(name: str, param: str, shape: tuple[int, ...], gradient: Any) -> None:
    if isinstance(gradient, (tuple, list)) or not hasattr(gradient, "shape") and not isinstance(gradient, (int, float)):
        raise make_argument_error(
            f"the backward of `{name}` gave {a_type(gradient)} for `{param}`; a gradient is an array like it, of shape {shape}"
        )
    came = tuple(getattr(gradient, "shape", ()))
    fits = len(came) >= len(shape) and all(b in (1, a) for a, b in zip(reversed(came), reversed(shape)))
    if not fits:
        raise make_argument_error(f"the backward of `{name}` gave a gradient of shape {came} for `{param}`, whose shape is {shape}")


class Pullback:
    """The gradient of one call: takes one gradient per output, gives one per input (None where it is no array)."""

    def __init__(
        self,
        name: str,
        params: Sequence[str],
        positional: int,
        ctx: Context,
        backward: Callable[..., Any],
        inputs: Sequence[Any],
        output: Any,
        results: int,
    ) -> None:
        self._name, self._params, self._positional, self._ctx, self._backward = name, params, positional, ctx, backward
        self._shapes = shapes_of(inputs)
        # The types and shapes of the results that are arrays, and None for the others.
        every = () if results == 0 else tuple(output) if results > 1 else (output,)
        self._results = [(str(one.dtype).rpartition(".")[2], tuple(one.shape)) if hasattr(one, "dtype") else None for one in every]

    def __call__(self, *grads: Any) -> tuple[Any, ...]:
        """One gradient per input of the operator."""
        others = self._hold(grads)
        try:
            result = self._backward(self._ctx, *grads)
        except ArgumentError as error:
            if others:
                raise make_argument_error(f"{others}: {error}") from error
            add_place(error, f"in the backward of `{self._name}`")
            raise
        except Exception as error:
            add_place(error, f"in the backward of `{self._name}`")
            if others:
                add_place(error, others)
            raise
        given = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if len(given) == self._positional:
            # Arguments that are passed by name alone need not be mentioned, as in torch.
            given += (None,) * (len(self._shapes) - self._positional)
        return checked_gradients(self._name, self._params, self._shapes, given)

    def _hold(self, grads: Sequence[Any]) -> str:
        """Raises ArgumentError for gradients that are not those of the results; gives the types that differ, in words."""
        if len(grads) != len(self._results):
            counted = "1 gradient, that of its result" if len(self._results) == 1 else f"{len(self._results)} gradients, one for each result"
            raise make_argument_error(f"the pullback of `{self._name}` takes {counted}, and {len(grads)} came")
        others = []
        for at, (grad, known) in enumerate(zip(grads, self._results)):
            if known is None or not hasattr(grad, "dtype"):
                continue
            which = "the result" if len(grads) == 1 else f"result {at}"
            dtype, shape = str(grad.dtype).rpartition(".")[2], tuple(grad.shape)
            if len(shape) > len(known[1]) or any(a not in (1, b) for a, b in zip(reversed(shape), reversed(known[1]))):
                raise make_argument_error(f"the pullback of `{self._name}` got a gradient of shape {shape} for {which}, whose shape is {known[1]}")
            if dtype != known[0]:
                others.append(f"the gradient of {which} of `{self._name}` came as {dtype}, and {known[0]} is expected, as the result is")
        return "; ".join(others)

    def __repr__(self) -> str:
        return f"<pullback of {self._name}>"


class RecordedPullback:
    """The gradient of one call of host code, which recorded its operations: takes one gradient per output, None for zero, and gives one per
    input (None where it is no array of floating-point numbers, or the output does not depend on it; of a list of arrays a list)."""

    def __init__(self, name: str, recording: Any, inputs: Sequence[Any]) -> None:
        self._name, self._recording, self._inputs = name, recording, inputs

    def __call__(self, *grads: Any) -> tuple[Any, ...]:
        """One gradient per input of the operator."""
        flat = [item for grad in grads for item in (grad if isinstance(grad, (list, tuple)) else (grad,))]
        wanted = len(self._recording.aliases)
        if len(flat) != wanted:
            raise make_argument_error(f"`{self._name}` has {wanted} outputs, and {len(flat)} gradients came")
        try:
            made = list(zip(self._recording.inputs, self._recording.backward(flat)))
        except Exception as error:
            add_place(error, f"in the backward of `{self._name}`")
            raise

        def gradient(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [gradient(item) for item in value]
            for i, (array, grad) in enumerate(made):
                if array is value:
                    del made[i]
                    return grad
            return None

        return tuple(gradient(value) for value in self._inputs)

    def __repr__(self) -> str:
        return f"<pullback of {self._name}>"
