"""Operators as functions on JAX's arrays."""

from __future__ import annotations

from typing import Any, Callable

import jax
import numpy as np

from .errors import make_argument_error
from .spec import Spec

__all__ = ["to_jax"]


def to_jax(op: Any) -> Callable[..., Any]:
    """A function that `jax.jit`, `jax.vmap` and `jax.grad` can transform."""
    if op._writes:
        raise make_argument_error(f"`{op.name}` writes {', '.join(op._writes)}; JAX's arrays are not written")

    def call(*args: Any, **kwargs: Any) -> Any:
        inputs = list(op._arguments(args, kwargs))
        places = [i for i, value in enumerate(inputs) if isinstance(value, (jax.Array, np.ndarray))]
        arrays = [inputs[place] for place in places]
        specs = [Spec(v.shape, np.dtype(v.dtype).name) if i in places else v for i, v in enumerate(inputs)]
        count = op._positional
        results = jax.tree.map(
            lambda spec: jax.ShapeDtypeStruct(spec.shape, _dtype(spec.dtype)),
            op.fake(*specs[:count], **dict(zip(op.params[count:], specs[count:]))),
            is_leaf=lambda value: isinstance(value, Spec),
        )

        def whole(given: Any) -> tuple[list[Any], dict[str, Any]]:
            filled = list(inputs)
            for place, array in zip(places, given):
                filled[place] = np.asarray(array)
            return filled[:count], dict(zip(op.params[count:], filled[count:]))

        def host(*given: Any) -> Any:
            positional, named = whole(given)
            return op(*positional, **named)

        @jax.custom_vjp
        def run(*given: Any) -> Any:
            return jax.pure_callback(host, results, *given, vmap_method="sequential")

        def forward(*given: Any) -> Any:
            return run(*given), given

        def backward(given: Any, grads: Any) -> Any:
            def pull(*every: Any) -> Any:
                positional, named = whole(every[: len(given)])
                _, pullback = op.vjp(*positional, **named)
                made = pullback(*(np.asarray(g) for g in every[len(given) :]))
                kept = [made[place] for place in places]
                floats = [(g, v) for g, v in zip(kept, given) if _is_float(v)]
                return tuple(np.zeros(v.shape, v.dtype) if g is None else np.asarray(g, v.dtype) for g, v in floats)

            several = grads if isinstance(grads, (tuple, list)) else (grads,)
            # The gradient of an integer has a type without values.
            several = [np.zeros(g.shape, np.float32) if g.dtype == jax.dtypes.float0 else g for g in several]
            shapes = tuple(jax.ShapeDtypeStruct(v.shape, v.dtype) for v in given if _is_float(v))
            made = iter(jax.pure_callback(pull, shapes, *given, *several, vmap_method="sequential"))
            return tuple(next(made) if _is_float(v) else np.zeros(v.shape, jax.dtypes.float0) for v in given)

        if op._backward is not None or getattr(op, "_has_gradient", False) and not op._outside:
            run.defvjp(forward, backward)
            return run(*arrays)
        return jax.pure_callback(host, results, *arrays, vmap_method="sequential")

    call.__name__, call.__doc__ = op.name.split("::")[-1], f"`{op.schema}`, on JAX's arrays."
    return call


def _is_float(value: Any) -> bool:
    return bool(jax.numpy.issubdtype(value.dtype, jax.numpy.floating))


def _dtype(name: str) -> Any:
    return jax.numpy.bfloat16 if name == "bfloat16" else np.dtype(name)
