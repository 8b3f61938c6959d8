"""Gradients of operators without torch: the context a backward is given, and the pullback of a call."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from .errors import make_argument_error

__all__ = ["Context", "Pullback"]


class Context:
    """What a `setup_context` leaves for its `backward`, as torch's `ctx`: any attribute, and the tensors saved.

    `needs_input_grad` holds one bool per input: whether it is an array of floating-point numbers.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps arrays for `saved_tensors`, in this order."""
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept."""
        return self._saved


def needs_grad(value: Any) -> bool:
    """Whether a gradient for this input makes sense."""
    dtype = getattr(value, "dtype", None)
    # ml_dtypes' bfloat16 is of kind "V", as all types are that NumPy does not know itself.
    real = getattr(dtype, "kind", "") == "f" or getattr(dtype, "name", "") == "bfloat16"
    return dtype is not None and np.ndim(value) >= 0 and real


class Pullback:
    """The gradient of one call: takes one gradient per output, gives one per input (None where it is no array)."""

    def __init__(self, name: str, ctx: Context, backward: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self._name, self._ctx, self._backward, self._count = name, ctx, backward, len(inputs)

    def __call__(self, *grads: Any) -> tuple[Any, ...]:
        """One gradient per input of the operator."""
        result = self._backward(self._ctx, *grads)
        given = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if len(given) != self._count:
            raise make_argument_error(
                f"the backward of `{self._name}` gave {len(given)} gradients for {self._count} inputs; "
                "return one per input, None where it is no array"
            )
        return given

    def __repr__(self) -> str:
        return f"<pullback of {self._name}>"
