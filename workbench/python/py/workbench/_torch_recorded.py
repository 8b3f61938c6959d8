"""Gradients that are written in C++, in torch's autograd.

Host code that runs on tensors that require grad records its operations (`runtime/host/call/backward.rs`): operations, functions of
`torch::autograd::Function`, other operators. The record is the graph of one call; here it becomes one node of torch's graph.

Its backward asks the `Recording`; torch finds out by the node's saved tensors if they were written meanwhile. For graphs, which see
no recordings, there is an operator `name__gradient` that runs the call once more and its gradient; it refuses code that draws random numbers.
Functions of a module go the same way as operators.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable

import torch

from .errors import add_place

__all__ = ["TracedGradient", "call_function", "call_recorded", "define_gradient", "is_traced"]


def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """Calls a host function whose gradient is recorded."""
    return call_recorded(function.__name__, function._record, args, kwargs or {}, True)


def _wants(array: Any) -> bool:
    return isinstance(array, torch.Tensor) and array.requires_grad


def _tensors(value: Any, out: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors of a result, in order."""
    if isinstance(value, torch.Tensor):
        out.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _tensors(item, out)
    elif isinstance(value, dict):
        for item in value.values():
            _tensors(item, out)
    return out


def _with(value: Any, made: Any) -> Any:
    """A result with its tensors replaced, in order."""
    if isinstance(value, torch.Tensor):
        return next(made)
    if isinstance(value, (list, tuple)):
        return type(value)(_with(item, made) for item in value)
    if isinstance(value, dict):
        return {key: _with(item, made) for key, item in value.items()}
    return value


class _Call:
    """A call that is over: its record, the tensors of its result, and the callee."""

    def __init__(self, name: str, recording: Any, outputs: list[torch.Tensor], inputs: list[torch.Tensor]) -> None:
        self.name, self.recording, self.outputs, self.inputs = name, recording, outputs, inputs


class _Recorded(torch.autograd.Function):
    """A call of host code as a node of torch's graph."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *inputs: torch.Tensor) -> Any:
        recording = call.recording
        ctx.set_materialize_grads(False)
        ctx._wb_call = call.name, recording
        dirty = [inputs[i] for i in recording.dirty]
        if dirty:
            ctx.mark_dirty(*dirty)
        has_gradient = recording.differentiable
        fixed = [tensor for tensor, has in zip(call.outputs, has_gradient) if not has]
        if fixed:
            ctx.mark_non_differentiable(*fixed)
        # Tensors that the gradient reads may not be written before: torch checks those that are saved.
        reads_inputs, reads_outputs = recording.reads
        saved = [tensor for tensor, reads in zip(inputs, reads_inputs) if reads]
        saved += [tensor for tensor, reads in zip(call.outputs, reads_outputs) if reads]
        ctx.save_for_backward(*saved)
        return (*call.outputs, *dirty)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> Any:
        # The access to the saved tensors checks that they were not written.
        ctx.saved_tensors
        name, recording = ctx._wb_call
        try:
            with torch.no_grad():
                made = recording.backward(list(grads))
        except Exception as error:
            add_place(error, f"in the backward of `{name}`")
            raise
        if torch.is_grad_enabled() and any(grad is not None for grad in made):
            # The caller wants the graph of this as well.
            made = _Once.apply(name, torch.empty(0, requires_grad=True), *made)
        return (None, *made)


class _Once(torch.autograd.Function):
    """Gradients that have none themselves, and raise an error where torch would use zeros."""

    @staticmethod
    def forward(ctx: Any, name: str, _: torch.Tensor, *grads: torch.Tensor | None) -> Any:
        ctx._wb_name = name
        return tuple(None if grad is None else grad.view_as(grad) for grad in grads)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> Any:
        raise RuntimeError(
            f"`{ctx._wb_name}` is differentiated twice, and what host code records is one gradient: its backward is not recorded"
        )


def call_recorded(name: str, record: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], warn: bool) -> Any:
    """Calls host code by `record(wants, args, kwargs)`, which gives its result and the record of its gradient, or None if it has none.

    `warn`: gives a warning if a result of floating-point numbers has no gradient at all.
    """
    with torch.no_grad():
        value, recording = record(_wants, args, kwargs)
    if recording is None:
        return value
    outputs = _tensors(value, [])
    inputs: list[torch.Tensor] = recording.inputs
    has_gradient = recording.differentiable
    # An argument that is returned as it was is that same argument.
    same = [i is not None and output is inputs[i] for output, i in zip(outputs, recording.aliases)]
    # A result without a gradient, detached, is a tensor of its own.
    for k, (is_same, has) in enumerate(zip(same, has_gradient)):
        if not is_same and not has and outputs[k].requires_grad and any(outputs[k] is tensor for tensor in inputs):
            outputs[k] = outputs[k].detach()
    value = _with(value, iter(outputs))
    if not any(has and not (k < len(same) and same[k]) for k, has in enumerate(has_gradient)):
        if warn and any(tensor.is_floating_point() for tensor, is_same in zip(outputs, same) if not is_same):
            warnings.warn(
                f"`{name}` is given a tensor that requires grad and records no gradient: its results come by way of kernels alone, and "
                "do not depend on it for autograd; write a torch::autograd::Function, or call it under torch.no_grad()",
                stacklevel=3,
            )
        return value
    made = _Recorded.apply(_Call(name, recording, outputs, inputs), *inputs)
    results = iter([output if is_same else one for output, is_same, one in zip(outputs, same, made)])
    return _with(value, results)


def is_traced(*values: Any) -> bool:
    """True if a call is made for a graph, a transform of `torch.func` or a mode, rather than for its results."""
    if torch._C._are_functorch_transforms_active() or torch._C._len_torch_dispatch_stack() > 0:
        return True
    plain = torch._C._disabled_torch_dispatch_impl
    return any(type(tensor).__torch_dispatch__ is not plain for value in values for tensor in _tensors(value, []))


def _floats(values: Any) -> list[torch.Tensor]:
    return [tensor for tensor in _tensors(values, []) if tensor.is_floating_point()]


def _gradient_name(operator: Any) -> tuple[str, str, str]:
    """The namespace, the name and the overload of the operator that computes the gradient of another."""
    namespace, _, name = operator._schema.name.partition("::")
    return namespace, f"{name}__gradient", operator._schema.overload_name


def define_gradient(library: Any, native: Any, operator: Any) -> None:
    """Defines the operator that computes the gradient of one in one go, for graphs: from gradients of the results, and the arguments, one for
    each of their tensors of floating-point numbers. It runs the operator once more."""
    _, name, overload = _gradient_name(operator)
    schema = str(operator._schema)
    if any(a.alias_info is not None for a in operator._schema.arguments):
        # A graph has no gradient of arguments that are written.
        return
    arguments = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    target = f"{name}.{overload}" if overload else name
    library.define(f"{target}(Tensor[] __gradients{', ' if arguments else ''}{arguments}) -> Tensor[]")

    def compute(grads: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.no_grad():
            given = [tensor.detach() for tensor in _floats([args, kwargs])]
            wanted = iter(given)
            args, kwargs = (_with(value, _replaced(value, wanted)) for value in (args, kwargs))
            ids = {id(tensor) for tensor in given}
            result, recording = native._record(lambda array: id(array) in ids, args, kwargs)
            if recording is None:
                raise RuntimeError(f"`{operator._schema.name}` has no gradient any more")
            if recording.is_random:
                raise RuntimeError(
                    f"`{operator._schema.name}` draws random numbers, and its gradient in a compiled function would draw others; call it "
                    "outside of what is compiled"
                )
            each = iter(grads)
            made = recording.backward([next(each) if t.is_floating_point() else None for t in _tensors(result, [])])
            by_id = {id(array): grad for array, grad in zip(recording.inputs, made)}
            return [torch.zeros_like(t) if by_id.get(id(t)) is None else by_id[id(t)].clone() for t in given]

    def fake(grads: Any, *args: Any, **kwargs: Any) -> Any:
        return [torch.empty_like(tensor) for tensor in _floats([args, kwargs])]

    library.impl(target, compute, "CPU")
    library._register_fake(target, fake)


def _replaced(value: Any, floats: Any) -> Any:
    """The tensors of a value, those of floating-point numbers taken from others."""
    return iter([next(floats) if tensor.is_floating_point() else tensor for tensor in _tensors(value, [])])


class TracedGradient:
    """The gradient of an operator as another operator computes it, for graphs."""

    def __init__(self, handle: Any, operator: Any) -> None:
        self.handle, self.operator = handle, operator

    def setup(self, ctx: Any, inputs: Any, output: Any, keyword_only_inputs: Any = None) -> None:
        """Keeps the arguments."""
        keywords = keyword_only_inputs or {}
        if _floats(keywords):
            raise RuntimeError(
                f"`{self.operator._schema.name}` takes tensors by name alone, of which a graph has no gradient; leave out the * of the schema"
            )
        ctx._wb_values = inputs, keywords
        ctx.save_for_backward(*_tensors(list(inputs), []))
        ctx._wb_floats = [tensor.is_floating_point() for tensor in _tensors(output, [])]
        # The values kept beside the tensors hold none.
        ctx._wb_values = _with(list(inputs), iter([_HOLE] * len(_tensors(list(inputs), [])))), keywords

    def backward(self, ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """One gradient for each argument."""
        inputs, keywords = ctx._wb_values
        saved = iter(ctx.saved_tensors)
        inputs = _filled(inputs, saved)
        flat = [grad for grad in _flat(list(grads))]
        given = [grad for grad, is_float in zip(flat, ctx._wb_floats) if is_float]
        namespace, name, overload = _gradient_name(self.operator)
        called = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
        made = iter(called(given, *inputs, **keywords))

        def gradient(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return next(made) if value.is_floating_point() else None
            if isinstance(value, (list, tuple)) and _tensors(value, []):
                return [gradient(item) for item in value]
            return None

        return tuple(gradient(value) for value in inputs)


_HOLE = object()


def _flat(values: Any) -> list[Any]:
    return [one for value in values for one in (_flat(value) if isinstance(value, (list, tuple)) else [value])]


def _filled(value: Any, tensors: Any) -> Any:
    if value is _HOLE:
        return next(tensors)
    return [_filled(item, tensors) for item in value] if isinstance(value, (list, tuple)) else value
