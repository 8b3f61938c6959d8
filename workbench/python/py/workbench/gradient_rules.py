"""Gradients as they are registered: those that another operator computes, and what is wrong with a rule before its first call."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable, Sequence

from . import _workbench
from ._workbench import ExtensionFunction, HostFunction, Kernel, KernelTemplate, NativeLibraryOp, NativeOp
from .autograd import needs_grad
from .errors import make_argument_error, nearest, plural
from .python_implementations import returns_of, schema_of

if TYPE_CHECKING:
    from .differentiable import Differentiable

__all__ = ["OperatorGradient", "hold_rule", "is_floating", "outputs_of"]


def outputs_of(op: Any) -> list[str]:
    """The results of an operator as messages call them: by their names, or "output", "output.0" and so on."""
    names = [name for _, name in returns_of(schema_of(op))]
    return [name or ("output" if len(names) == 1 else f"output.{at}") for at, name in enumerate(names)]


def hold_rule(name: str, outputs: Sequence[str], alone: Sequence[str], backward: Any, setup_context: Any) -> None:
    """Raises ArgumentError for a backward or a setup_context of an operator that cannot be called as they will be; `alone` are the arguments that
    go by name alone."""
    if isinstance(backward, (NativeOp, NativeLibraryOp, HostFunction, ExtensionFunction, Kernel, KernelTemplate)):
        called = getattr(backward, "name", getattr(backward, "__name__", type(backward).__name__))
        advice = "make it an operator with wb.op, and say" if isinstance(backward, (Kernel, KernelTemplate)) else "say"
        raise make_argument_error(
            f"the backward of `{name}` is a callable, backward(ctx, *grads), and `{called}` takes no ctx; "
            f"{advice} what it is called with: saves=[...] names arguments and outputs"
        )
    for what, function in (("backward", backward), ("setup_context", setup_context)):
        if function is not None and not callable(function):
            raise make_argument_error(f"the {what} of `{name}` is a callable, got {type(function).__name__}")
    grads = [f"grad_{output.replace('.', '_')}" if len(outputs) > 1 else "grad" for output in outputs]
    _hold_call(name, "backward", backward, ("ctx", *grads), False, "with a context and one gradient for each result of the operator")
    if setup_context is None:
        return
    if alone:
        # torch gives them by name as soon as there is an argument that goes by name alone.
        given = ("ctx", "inputs", "keyword_only_inputs", "output")
        _hold_call(name, "setup_context", setup_context, given, True, f"by these names, as {', '.join(alone)} of the operator is given by name alone")
    else:
        _hold_call(name, "setup_context", setup_context, ("ctx", "inputs", "output"), False, "with a context, a tuple of all inputs, and the output")


def _hold_call(name: str, what: str, function: Any, given: Sequence[str], is_named: bool, how: str) -> None:
    """Raises ArgumentError for a function that cannot be called with these arguments, as far as its signature tells."""
    signature = _signature(function)
    if signature is None:
        return
    try:
        signature.bind(*(() if is_named else given), **(dict.fromkeys(given) if is_named else {}))
    except TypeError as error:
        known = getattr(function, "__name__", type(function).__name__)
        shown = f"lambda {_bare(signature)[1:-1]}" if known == "<lambda>" else f"{known}{_bare(signature)}"
        raise make_argument_error(
            f"the {what} of `{name}` is called as {what}({', '.join(given)}), {how}; `{shown}` does not fit ({error})"
        ) from None


def _bare(signature: inspect.Signature) -> str:
    """A signature without annotations."""
    kept = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))


def _signature(function: Any) -> inspect.Signature | None:
    """The signature of a callable; None where it has none, as some of NumPy's have."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


class OperatorGradient:
    """A gradient that another operator computes."""

    def __init__(self, op: Differentiable, backward: Any, saves: Sequence[str], differentiable: Sequence[str] | None) -> None:
        if isinstance(saves, str):
            raise make_argument_error(f"saves is a list of names, got the str {saves!r}; try saves=[{saves!r}]")
        if isinstance(differentiable, str):
            raise make_argument_error(f"differentiable is a list of names, got the str {differentiable!r}; try differentiable=[{differentiable!r}]")
        self.name, self.params, self.count = op.name, op.params, op._positional
        outputs = len(op._results)
        self.backward, self.saves = backward, list(saves)
        self.differentiable = None if differentiable is None else list(differentiable)
        for name in (*self.saves, *(self.differentiable or ())):
            lead, _, number = name.partition(".") if isinstance(name, str) else (name, "", "")
            is_output = lead == "output" and (not number or number.isdigit()) and name in self.saves
            if name not in self.params and not is_output:
                hint = nearest(str(name), [*self.params, "output"])
                raise make_argument_error(f"`{self.name}` has no argument `{name}`{hint or ';'} it has {', '.join(self.params)}, and \"output\"")
            if name not in self.params and int(number or 0) >= outputs:
                raise make_argument_error(f"`{self.name}` has no `{name}`: it has {outputs} outputs")
        if not isinstance(backward, str) and not callable(backward):
            raise make_argument_error(f"an operator or its name is wanted, got {type(backward).__name__}")
        if isinstance(backward, (Kernel, KernelTemplate)):
            raise make_argument_error(
                f"the backward of `{self.name}` is the kernel `{backward.name}`, which does not say what it allocates and how it is launched; "
                "make it an operator with wb.op"
            )
        self._hold_differentiable(op)
        self._hold_backward(op)

    def _hold_differentiable(self, op: Any) -> None:
        """Raises ArgumentError for a name that is there twice, or of an argument that has no gradient."""
        kinds = {name: kind for name, kind, *_ in _workbench.schema_arguments(schema_of(op))}
        for at, name in enumerate(self.differentiable or ()):
            if name in (self.differentiable or ())[:at]:
                raise make_argument_error(f"differentiable names `{name}` twice; give each argument once")
            if not kinds.get(name, "Tensor").startswith("Tensor"):
                raise make_argument_error(f"differentiable names `{name}`, which is a {kinds[name]} of `{self.name}` and has no gradient; arrays have")

    def _hold_backward(self, op: Any) -> None:
        """Raises ArgumentError for an operator that is not there yet, that takes another number of arguments than it is called with, or that
        gives another number of gradients than are wanted."""
        called = self.called()
        least, most, shown = _arity(called)
        # The gradients are those of the floating-point results, and their types are known by the call.
        results = len(op._results)
        counts = [count + len(self.saves) for count in range(1, results + 1)] or [len(self.saves)]
        if not any(least <= count <= most for count in counts):
            grads = "the gradient of its result" if results == 1 else f"the gradients of its {results} results"
            saved = f" and {', '.join(self.saves)}, which saves= names" if self.saves else ""
            raise make_argument_error(f"the backward of `{self.name}` is called with {grads}{saved}; {shown} takes another number of arguments")
        if not isinstance(called, (NativeOp, NativeLibraryOp)):
            return
        kinds = [kind for _, kind, *_ in _workbench.schema_arguments(schema_of(op))]
        made, arrays = len(called._results), sum(kind.startswith("Tensor") for kind in kinds)  # type: ignore[union-attr]
        if self.differentiable is not None and made != len(self.differentiable):
            raise make_argument_error(
                f"the backward of `{self.name}` gives a gradient for each of {', '.join(self.differentiable)}, as differentiable= has it; {shown} has {_results(made)}"
            )
        if self.differentiable is None and made > arrays:
            raise make_argument_error(
                f"the backward of `{self.name}` gives a gradient for each argument that is an array of floats, which are {arrays} at most; {shown} has {_results(made)}"
            )

    def __getstate__(self) -> dict[str, Any]:
        from .operators import handles

        # The pickle of a gradient includes the operator that it calls.
        return self.__dict__ | {"_with": handles.get(self.backward) if isinstance(self.backward, str) else None}

    def called(self) -> Callable[..., Any]:
        """The operator, by the present meaning of its name."""
        if not isinstance(self.backward, str):
            return self.backward  # type: ignore[no-any-return]
        from .operators import handles

        found = handles.get(self.backward)
        if found is None:
            raise make_argument_error(f"there is no operator `{self.backward}`, the backward of `{self.name}`{nearest(self.backward, handles, 0.8)}")
        return found  # type: ignore[no-any-return]

    def setup(self, ctx: Any, inputs: Any, output: Any, keyword_only_inputs: Any = None) -> None:
        """Keeps the values to save."""
        given = dict(zip(self.params, inputs)) | (keyword_only_inputs or {})
        outputs = output if isinstance(output, (tuple, list)) else (output,)
        arrays, ctx._wb_saved = [], []
        for name in self.saves:
            if name in given:
                value = given[name]
            else:
                at = int(name.partition(".")[2] or 0)
                if at >= len(outputs):
                    raise make_argument_error(f"`{self.name}` has no `{name}`: it has {plural(len(outputs), 'output')}")
                value = outputs[at]
            # torch keeps arrays itself, and only arrays.
            is_array = hasattr(value, "dtype") and hasattr(value, "shape")
            ctx._wb_saved.append(None if is_array else (value,))
            if is_array:
                arrays.append(value)
        ctx.save_for_backward(*arrays)
        ctx._wb_floats = [is_floating(value) for value in outputs]
        every = [name for name, value in given.items() if is_floating(value)]
        ctx._wb_wanted = every if self.differentiable is None else self.differentiable
        # The backward operator gives a gradient for every tensor that its forward may have, also for one that was left out.
        ctx._wb_absent = [name for name in self.params if given.get(name) is None]
        ctx._wb_possible = [name for name in self.params if name in every or name in ctx._wb_absent]

    def run(self, ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """One gradient per input."""
        arrays = iter(ctx.saved_tensors)
        saved = [next(arrays) if kept is None else kept[0] for kept in ctx._wb_saved]
        given = [grad for grad, floating in zip(grads, ctx._wb_floats) if floating]
        made = self.called()(*given, *saved)
        several = tuple(made) if isinstance(made, (tuple, list)) else (made,)
        wanted = ctx._wb_wanted
        if self.differentiable is None and len(several) == len(ctx._wb_possible):
            wanted = ctx._wb_possible
        if len(several) != len(wanted):
            raise make_argument_error(
                f"the backward of `{self.name}` gave {plural(len(several), 'gradient')} for {plural(len(wanted), 'argument')} "
                f"({', '.join(wanted)}); differentiable= says which it gives"
            )
        by_name = {name: grad for name, grad in zip(wanted, several) if name not in ctx._wb_absent}
        return tuple(by_name.get(name) for name in self.params[: self.count])


def _arity(called: Any) -> tuple[int, float, str]:
    """The least and the greatest number of arguments that a backward takes by position, and how messages call it."""
    if isinstance(called, NativeOp) or isinstance(called, NativeLibraryOp) and len(called.overloads()) <= 1:
        arguments = [one for one in _workbench.schema_arguments(schema_of(called)) if not one[3]]
        return sum(default is None for _, _, default, *_ in arguments), len(arguments), f"`{schema_of(called)}`"
    if isinstance(called, HostFunction):
        return len(called.params), len(called.params), f"`{called.signature}`"
    signature = None if isinstance(called, (NativeLibraryOp, ExtensionFunction)) else _signature(called)
    if signature is None:
        return 0, float("inf"), ""
    own = list(signature.parameters.values())
    by_place = [one for one in own if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    most = float("inf") if any(one.kind is one.VAR_POSITIONAL for one in own) else len(by_place)
    least = sum(one.default is one.empty for one in by_place)
    return least, most, f"`{getattr(called, '__name__', type(called).__name__)}{_bare(signature)}`"


def _results(count: int) -> str:
    return "1 result" if count == 1 else f"{count} results"


def is_floating(value: Any) -> bool:
    """True if it is an array of floating-point numbers, of NumPy or torch."""
    own = getattr(value, "is_floating_point", None)
    if own is not None:
        return bool(own())
    return hasattr(value, "shape") and needs_grad(value)
