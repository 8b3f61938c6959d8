"""Gradients of operators in torch's autograd.

`torch.library.register_autograd` makes a `torch.autograd.Function`, which sees that a transform of `torch.func` is at work and hands
the call to it, though it is that transform which is calling: `torch.func.grad` fails. What runs for the key `Autograd` is one level of
several, so this is a function of one level. It takes lists of tensors, keyword-only arguments, and defaults that the dispatcher leaves
out.

Gradients are on for the levels below it; forward mode is refused.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Callable, Sequence

import torch
from torch.autograd import forward_ad

from ._torch_recorded import TracedGradient, call_recorded, is_traced
from .autograd import checked_gradients, shapes_of
from .errors import add_place, make_argument_error

__all__ = ["autograd_kernel"]

_Base: Any = getattr(torch.autograd.function, "_SingleLevelFunction", torch.autograd.Function)


def _one_level() -> Any:
    """A context in which a function of one level may be applied: torch wants it enabled while transforms are active."""
    if not torch._C._are_functorch_transforms_active():
        return nullcontext()
    from torch._functorch.utils import enable_single_level_autograd_function

    return enable_single_level_autograd_function()


class _Call:
    """The parts of a call besides its tensors: the place of each flat argument, and arguments passed by name."""

    def __init__(self, handle: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.passed, self.kwargs = len(args), kwargs
        self.flat: list[Any] = []
        self.lengths: list[int | None] = []
        for value in args:
            # A list without items may be a list of tensors or of anything else.
            is_list = isinstance(value, (list, tuple)) and all(isinstance(item, (torch.Tensor, type(None))) for item in value)
            self.lengths.append(len(value) if is_list else None)
            self.flat.extend(value if is_list else (value,))
        self.results: list[int | None] | None = None
        self.is_list = False

    def nested(self, flat: Sequence[Any]) -> list[Any]:
        """One entry for each argument that was passed."""
        return _nested(flat, self.lengths)


def _nested(flat: Sequence[Any], lengths: Sequence[int | None]) -> list[Any]:
    entries, at = [], 0
    for length in lengths:
        entries.append(flat[at] if length is None else list(flat[at : at + length]))
        at += 1 if length is None else length
    return entries


def autograd_kernel(handle: Any, operator: Any) -> Callable[..., Any]:
    """The kernel of an operator for the dispatch key `Autograd`. It looks the gradient up at every call, and lives as long as the operator's
    definition: torch crashes if a kernel in Python is freed while another thread, or a compiled function, is about to call it."""
    count = handle._positional
    schema = operator._schema
    writes = [(i, a.name) for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
    traced = TracedGradient(handle, operator)

    def is_recorded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """True if the gradient of a call is recorded by host code."""
        registered, _ = getattr(handle, "_gradient_rule", (None, None))
        if registered is not None or not getattr(handle, "_has_gradient", False):
            return False
        # A call that a callable serves is not recorded.
        return not getattr(handle, "_outside", None) or handle._serving("cpu", handle._arguments(args, kwargs)) is None

    def rule(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        registered = getattr(handle, "_gradient_rule", (None, None))
        return (traced.backward, traced.setup) if is_recorded(args, kwargs) else registered

    class Gradient(_Base):
        """The operator and its gradient."""

        @staticmethod
        def forward(ctx: Any, call: _Call, keyset: Any, *flat: Any) -> Any:
            # A function of one level runs without gradients, and the levels below would take that for the caller's wish.
            below = torch.enable_grad() if torch._C._are_functorch_transforms_active() else nullcontext()
            with below, torch._C._AutoDispatchBelowAutograd():
                result = operator.redispatch(keyset & torch._C._after_autograd_keyset, *call.nested(flat), **call.kwargs)
            every = handle._arguments(tuple(call.nested(flat)), call.kwargs)
            # The graph keeps the gradient of its time, even if a cell registers another later.
            backward, setup = rule(tuple(call.nested(flat)), call.kwargs)
            ctx._wb_call, ctx._wb_backward, ctx._wb_shapes = call, backward, shapes_of(every[:count])
            if setup is not None and count == len(every):
                setup(ctx, tuple(every), result)
            elif setup is not None:
                by_name = dict(zip(handle.params[count:], every[count:]))
                setup(ctx=ctx, inputs=tuple(every[:count]), keyword_only_inputs=by_name, output=result)
            if not isinstance(result, (list, tuple)):
                return result
            # A tuple is several results; a list is one.
            call.is_list = not isinstance(result, tuple)
            several = (result,) if call.is_list else result
            call.results = [len(item) if isinstance(item, (list, tuple)) else None for item in several]
            flattened: list[Any] = []
            for item in several:
                flattened.extend(item if isinstance(item, (list, tuple)) else (item,))
            return tuple(flattened)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            call: _Call = ctx._wb_call
            if ctx._wb_backward is None:
                raise make_argument_error(f"`{handle.name}` has no gradient; give it one with register_autograd")
            needs = ctx.needs_input_grad
            nested = call.nested(needs[2:])
            missing = count - call.passed
            if call.results is not None:
                grads = tuple(_nested(grads, call.results))
            try:
                ctx.needs_input_grad = (*nested, *(False,) * missing)
                made = ctx._wb_backward(ctx, *grads)
            except Exception as error:
                add_place(error, f"in the backward of `{handle.name}`")
                raise
            finally:
                ctx.needs_input_grad = needs
            result = tuple(made) if isinstance(made, (tuple, list)) else (made,)
            if missing > 0 and len(result) == call.passed:
                result = (*result, *(None,) * missing)
            checked_gradients(handle.name, handle.params[:count], ctx._wb_shapes, result)
            flat: list[Any] = [None, None]
            for gradient, length in zip(result, call.lengths):
                if length is None:
                    flat.append(gradient)
                else:
                    flat.extend([None] * length if gradient is None else gradient)
            return tuple(flat)

    def record(*args: Any, **kwargs: Any) -> Any:
        """A call that host code records."""
        written = [args[i] if i < len(args) else kwargs.get(name) for i, name in writes]
        written = [tensor for tensor in written if isinstance(tensor, torch.Tensor)]
        if any(tensor.requires_grad and tensor.is_leaf for tensor in written):
            raise RuntimeError(f"`{schema.name}` writes a leaf of the graph that requires grad; do it under torch.no_grad()")
        result = call_recorded(schema.name, handle._record, args, kwargs, False)
        for tensor in written:
            torch.autograd.graph.increment_version(tensor)
        return result

    def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        needed = torch.is_grad_enabled() and torch._C._any_requires_grad(*args, *kwargs.values())
        if needed and not is_traced(args, kwargs) and is_recorded(args, kwargs):
            return record(*args, **kwargs)
        # Forward mode would ask the function for its `jvp`, which does not exist; without this error tangents would be lost silently.
        if forward_ad._current_level >= 0 or needed:
            if writes and needed:
                raise RuntimeError(f"`{schema.name}` writes its arguments: a function that is traced has no gradient of it")
            call = _Call(handle, args, kwargs)
            with _one_level():
                result = Gradient.apply(call, keyset, *call.flat)
            if call.results is None:
                return result
            nested = _nested(result, call.results)
            return nested[0] if call.is_list else tuple(nested)
        with torch._C._AutoDispatchBelowAutograd():
            return operator.redispatch(keyset & torch._C._after_autograd_keyset, *args, **kwargs)

    return kernel

