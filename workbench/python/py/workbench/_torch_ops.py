"""Operators in `torch.ops`: definitions, shapes without data and gradients. The kernels are in Rust (`src/torch`).

An operator is defined once for as long as its schema stays: the dispatcher calls it by name, so a cell that is run
again changes the implementation without torch's knowledge. A changed schema takes the definition out and makes another.
Graphs that torch's compilers have built hold shapes and gradients of their own; they are dropped when those change.

The tag of all shapes and gradients is in the key of torch's caches on disk, without which inductor serves an old backward, in the same
process and in the next. In a compiled function torch's tracer sees no Python in a handle, so handles are put into its graph whole
(`allow_in_graph`), where they are traced as `torch.ops` is; that waits for the import of torch's compiler as operators wait for torch.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
import types
from pathlib import Path
from typing import Any, Callable, Iterator

import torch

from . import _workbench, torch_side
from ._fingerprints import print_of
from ._symbolic import symbolic
from ._torch_autograd import autograd_kernel
from ._torch_recorded import define_gradient
from .library_operators import LibraryOp, PythonOp
from .errors import make_argument_error
from .gradient_rules import OperatorGradient
from .operators import Op, handles
from .spec import Spec
from .python_implementations import several

__all__ = ["define", "note_change", "packet", "set_gradient", "set_vmap"]

_FOLDER = Path(torch.__file__).parent
# The time, in seconds, that a schema change waits for calls, and calls for a schema change.
_PATIENCE = 10.0
_workbench.torch_is_here(torch.Tensor)


def _stream_function() -> int:
    """The address of the function that gives torch's current stream on a GPU; 0 in a torch without CUDA."""
    try:
        # The library is loaded with torch.
        library = ctypes.CDLL(str(_FOLDER / "lib" / "libtorch_cuda.so"), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        return ctypes.cast(library.aoti_torch_get_current_cuda_stream, ctypes.c_void_p).value or 0
    except (OSError, AttributeError):
        return 0


_workbench.torch_streams(_stream_function())
_entries: dict[str, _Entry] = {}


class _Entry:
    """The registration of an operator with torch."""

    def __init__(self, name: str, kind: type, schemas: tuple[tuple[str, str], ...], devices: frozenset[str]) -> None:
        self.name, self.kind, self.schemas, self.devices = name, kind, schemas, devices
        self.namespace, self.short = name.split("::")
        #: Definitions, fakes and kernels in Python; torch forgets what a `Library` registered when it goes.
        try:
            self.library = torch.library.Library(self.namespace, "FRAGMENT")
        except ValueError as error:
            raise make_argument_error(f"torch takes no operator `{name}`: {error}") from None
        self.kernels: list[Any] = []
        self.rules: dict[str, torch.library.Library] = {}
        self.asks_for_gradients = False
        #: Overloads whose gradient is recorded as they run.
        self.recorded: set[str] = set()
        #: The facts about shapes and gradients that compilers may have built into code.
        self.print = ""

    def define(self) -> None:
        handle = handles[self.name]
        short = self.short.partition(".")[0]
        if hasattr(torch._ops._OpNamespace, short) or short in vars(torch._ops._OpNamespace(self.namespace)):
            raise make_argument_error(f"torch.ops.{self.namespace}.{short} is torch's own; give `{self.name}` another name")
        for overload, schema in self.schemas:
            target = schema.split("::", 1)[1].partition("(")[0]
            plain = isinstance(handle, PythonOp) or not isinstance(handle, LibraryOp)
            one = handle if plain else getattr(handle, overload)
            try:
                self.library.define(schema.split("::", 1)[1])
            except RuntimeError as error:
                # The operator of that name may be another library's.
                self.take_out()
                why = next((line.strip() for line in str(error).splitlines() if line.strip()), "it does not say why")
                raise make_argument_error(f"torch takes no operator `{schema}`: {why}") from None
            self.library._register_fake(target, _fake(self.name, overload))
            parsed = torch._C.parse_schema(schema)
            if any(argument.alias_info is not None and argument.alias_info.is_write for argument in parsed.arguments):
                found = getattr(getattr(torch.ops, self.namespace), self.short.partition(".")[0])
                written = _writing_kernel(getattr(found, overload if "." not in target else target.partition(".")[2]))
                self.library.impl(target, written, "ADInplaceOrView", with_keyset=True)
            outside = self.devices if overload == "default" else frozenset()
            keys = ["CPU"]
            if "cuda" in outside or not isinstance(handle, PythonOp):
                # The kernel for host code says itself that it runs on the CPU.
                keys.append("CUDA")
            if not any(str(argument.type) == "Tensor" for argument in parsed.arguments):
                # The call may have no tensor that would tell the device.
                keys.append("CompositeExplicitAutograd")
            for key in keys:
                kernel, device = None, "cuda" if key == "CUDA" else "cpu"
                if device not in outside:
                    native = overload if isinstance(handle, LibraryOp) else None
                    kernel = _workbench.torch_implement(_FOLDER, self.name, native, key)
                if kernel is None:
                    self.library.impl(target, _python_kernel(handle if device in outside else one, device), key)
                else:
                    self.kernels.append(kernel)

    def rule(self, kind: str) -> torch.library.Library:
        """A library for a rule that replaces the one of its kind."""
        self.drop(kind)
        self.rules[kind] = torch.library.Library(self.namespace, "FRAGMENT")
        return self.rules[kind]

    def gradient(self, handle: Any) -> None:
        """Makes torch's autograd look up the gradient, at every call from now on."""
        if self.asks_for_gradients:
            return
        operator = packet(self.name)
        overload = operator if isinstance(operator, torch._ops.OpOverload) else operator.default
        self.library.impl(self.short, autograd_kernel(handle, overload), "Autograd", with_keyset=True)
        # The overload remembers the kernels that compiled functions found without a gradient.
        getattr(overload, "_dispatch_cache", {}).clear()
        self.asks_for_gradients = True

    def record(self) -> None:
        """Makes torch's autograd use gradients that are written in C++."""
        handle = handles[self.name]
        if isinstance(handle, PythonOp) or not isinstance(handle, LibraryOp):
            return
        for overload, schema in self.schemas:
            one = getattr(handle, overload)
            if overload in self.recorded or not one._has_gradient:
                continue
            found = packet(self.packet_name())
            operator = found if isinstance(found, torch._ops.OpOverload) else getattr(found, overload)
            if overload == "default":
                self.gradient(handle)
            else:
                target = schema.split("::", 1)[1].partition("(")[0]
                self.library.impl(target, autograd_kernel(one, operator), "Autograd", with_keyset=True)
            define_gradient(self.library, one, operator)
            self.recorded.add(overload)

    def drop(self, kind: str) -> None:
        old = self.rules.pop(kind, None)
        if old is not None:
            old._destroy()

    def destroy(self) -> None:
        """Takes the operator out, when no call is inside."""
        held = self.held()
        if held is not None:
            _retire(held)
            _retired[self.packet_name()] = held
        # A call that is inside looks at the schema once more on the way out.
        if not all(kernel._rest(_PATIENCE) for kernel in self.kernels):
            _revive(self.packet_name())
            raise make_argument_error(
                f"a call of `{self.name}` is running, and its schema cannot change meanwhile; run this again when it is done"
            )
        self.take_out()
        if held is not None:
            vars(getattr(torch.ops, self.namespace)).pop(self.short.partition(".")[0], None)

    def take_out(self) -> None:
        """Undoes what was registered."""
        for kind in list(self.rules):
            self.drop(kind)
        for kernel in self.kernels:
            kernel._destroy()
        self.library._destroy()

    def packet_name(self) -> str:
        """The qualified name, without an overload's."""
        return self.name.partition(".")[0]

    def held(self) -> Any:
        """The object in `torch.ops` that other code may hold."""
        found = vars(getattr(torch.ops, self.namespace)).get(self.short.partition(".")[0])
        return found if isinstance(found, torch._ops.OpOverloadPacket) else None


# Objects of `torch.ops` whose operators have been taken out, by name: other code may hold them, and torch's memory behind them is gone.
_retired: dict[str, Any] = {}


def _overloads(held: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(held).items() if isinstance(value, torch._ops.OpOverload)}


def _retire(held: Any) -> None:
    """Makes a packet and its overloads say that their operator is gone, rather than call what was there."""

    held._wb_ready = ready = threading.Event()

    def waiting(one: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            # Another thread may be giving it another schema.
            if ready.wait(_PATIENCE) and one._op is not call:
                return one(*args, **kwargs)
            raise RuntimeError(f"the operator `{name}` is no longer there")

        return call

    name = held._qualified_op_name
    for one in (held, *_overloads(held).values()):
        one._op = waiting(one)


def _revive(name: str) -> None:
    """Gives a packet that other code may hold, and its overloads, the operator that has their name now."""
    held = _retired.pop(name, None)
    if held is None:
        return
    ready = held._wb_ready
    namespace, short = name.split("::")
    space = getattr(torch.ops, namespace)
    vars(space).pop(short, None)
    fresh, old = getattr(space, short, None), _overloads(held)
    if fresh is None:
        # No operator has the name now; threads that wait are told so.
        ready.set()
        return
    for overload in fresh._overload_names:
        one = getattr(fresh, overload or "default")
        if (kept := old.pop(overload or "default", None)) is not None:
            vars(kept).clear()
            vars(kept).update(vars(one))
            kept._overloadpacket = held
            setattr(fresh, overload or "default", kept)
    lost = {name: value for name, value in old.items()}
    vars(held).clear()
    vars(held).update(vars(fresh) | lost)
    vars(space)[short] = held
    ready.set()


def _schemas(handle: Any) -> Iterator[tuple[str, str]]:
    """The overloads of an operator, with their schemas."""
    if not isinstance(handle, LibraryOp):
        yield "default", handle.schema
        return
    for overload in handle.overloads():
        one = handle if isinstance(handle, PythonOp) else getattr(handle, overload)
        if one.schema and one.keys:
            yield overload, one.schema


def define(name: str) -> None:
    """Makes an operator, or its new meaning, known to torch."""
    handle = handles[name]
    schemas = tuple(_schemas(handle))
    entry = _entries.get(name)
    # Callables that serve some calls are looked up in Python, by each call.
    devices = frozenset(one.device for one in handle._outside.values())
    if entry is not None and (entry.kind, entry.schemas, entry.devices) == (type(handle), schemas, devices):
        # The autograd kernel finds by itself that there is no gradient.
        entry.drop("vmap")
    else:
        if entry is not None:
            entry.destroy()
            del _entries[name]
            _forget_compiled()
        try:
            if not schemas:
                return
            entry = _Entry(name, type(handle), schemas, devices)
            entry.define()
            _entries[name] = entry
        finally:
            _revive(name.partition(".")[0])
    entry.record()
    _note_change(entry, handle)
    _show_dynamo([handle])


def _show_dynamo(these: list[Any]) -> None:
    """Lets compiled functions call handles as they call `torch.ops`: torch's tracer sees no Python in them."""
    if "torch._dynamo" not in sys.modules:
        # This module takes a second to import, and most programs never do.
        torch_side.watch("torch._dynamo", lambda: _show_dynamo([handles[name] for name in _entries if name in handles]))
        return
    for handle in these:
        torch.compiler.allow_in_graph(handle)


def packet(name: str) -> Any:
    """The operator in `torch.ops`, or the overload that the name says; None if torch does not know it."""
    packet_name, _, overload = name.partition(".")
    entry = _entries.get(name) or _entries.get(packet_name)
    if entry is None:
        return None
    short = entry.short.partition(".")[0]
    found = getattr(getattr(torch.ops, entry.namespace), short)
    return getattr(found, overload) if overload else found


def set_gradient(name: str) -> None:
    """Registers the gradient that an operator has now with torch's autograd."""
    entry, handle = _entries[name], handles[name]
    if any(source is not None for source in handle._results) or handle._writes:
        raise make_argument_error(
            f"`{name}` writes {', '.join(handle._writes)}; torch takes gradients of operators that write nothing"
        )
    tensors = [a.name for a in torch._C.parse_schema(_first_schema(handle)).arguments if a.kwarg_only and "Tensor" in str(a.type)]
    if tensors:
        raise make_argument_error(
            f"`{name}` takes {', '.join(tensors)} by name alone, and torch's autograd sees arguments by position only; "
            "leave out the * of the schema"
        )
    calls = getattr(handle._backward, "__self__", None)
    if isinstance(calls, OperatorGradient) and isinstance(calls.backward, str):
        _refuse_gradient(calls.backward)
    entry.gradient(handle)
    _note_change(entry, handle)


def _first_schema(handle: Any) -> str:
    return next(schema for _, schema in _schemas(handle))


def _refuse_gradient(name: str) -> None:
    """Makes an operator that computes a gradient, and has none itself, raise an error where torch would use zeros."""
    entry, handle = _entries.get(name), handles.get(name)
    if entry is not None and handle is not None and not handle._writes:
        entry.gradient(handle)


def _writing_kernel(operator: Any) -> Callable[..., Any]:
    """The kernel for `ADInplaceOrView`: written arguments count as changed, so that a graph that needs the old values raises an error."""
    schema = operator._schema
    writes = [(i, a.name) for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]

    def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        changed = []
        for position, name in writes:
            value = args[position] if position < len(args) else kwargs.get(name)
            changed += value if isinstance(value, (list, tuple)) else [value]
        for tensor in changed:
            if not isinstance(tensor, torch.Tensor):
                continue
            if tensor.requires_grad and tensor.is_leaf and torch.is_grad_enabled():
                raise RuntimeError(
                    f"`{schema.name}` writes a leaf of the graph that requires grad; do it under torch.no_grad()"
                )
            if tensor.is_inference():
                if not torch.is_inference_mode_enabled():
                    raise RuntimeError(f"`{schema.name}` writes an inference tensor outside of inference mode")
                continue
            torch.autograd.graph.increment_version(tensor)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return operator.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, *args, **kwargs)

    return kernel


def note_change(name: str) -> None:
    """Notes that the shapes of an operator are computed in another way."""
    _note_change(_entries[name], handles[name])


def set_vmap(name: str, rule: Callable[..., Any]) -> None:
    """Registers how an operator runs over a batch."""
    entry = _entries[name]
    torch.library.register_vmap(name, rule, lib=entry.rule("vmap"))


def _bare(value: Any) -> Any:
    """A value without autograd's data: the dispatcher's kernels are below autograd."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, (list, tuple)):
        return type(value)(_bare(item) for item in value)
    return value


def _python_kernel(handle: Any, device: str) -> Callable[..., Any]:
    """A kernel in Python: for callables, for types that torch's boxed kernels cannot pass (`Scalar`, `complex`), and for torch before 2.10."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return handle._direct(*map(_bare, args), **{name: _bare(value) for name, value in kwargs.items()})

    if isinstance(handle, PythonOp) or getattr(handle, "_outside", None):

        def run(*args: Any, **kwargs: Any) -> Any:
            # The function is looked up by name: a cell that is run again gives another one.
            inputs = handle._arguments(args, kwargs)
            found = handle._serving(device, inputs)
            function = getattr(handle, "function", None) if found is None else found.function
            if function is None:
                return call(*args, **kwargs)
            count = handle._positional
            kept = [
                (name, tensor, tensor._version)
                for name, value in zip(handle.params, inputs)
                if name not in handle._writes
                for tensor in _all_tensors(value)
                if not tensor.is_inference()
            ]
            # Writes would not be counted below autograd.
            # The gradient is the registered one, not that of the callable's operations.
            with torch._C._AutoDispatchBelowAutograd(), torch._C._SetExcludeDispatchKeyGuard(torch._C.DispatchKey.ADInplaceOrView, False):
                result = function(*inputs[:count], **dict(zip(handle.params[count:], inputs[count:])))
            for name, tensor, version in kept:
                if tensor._version != version:
                    raise make_argument_error(
                        f"`{handle.name}` writes `{name}`, which its schema does not mark as Tensor(a!): {handle.schema}"
                    )
            given = _all_tensors(inputs)
            made = several(handle, result, inputs)
            fixed = [_unshared(one, given) if source is None else one for one, source in zip(made, handle._results)]
            return None if not fixed else fixed[0] if len(fixed) == 1 else tuple(fixed)

        return run
    return call


def _all_tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _all_tensors(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def _unshared(value: Any, given: list[torch.Tensor]) -> Any:
    """A result that shares no memory with the arguments."""
    if isinstance(value, (list, tuple)):
        return [_unshared(item, given) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    storage = value.untyped_storage()._cdata
    return value.clone() if any(tensor.untyped_storage()._cdata == storage for tensor in given) else value


def _dtype(name: str) -> torch.dtype:
    found: torch.dtype = getattr(torch, name)
    return found


def _first(args: Any) -> torch.Tensor | None:
    for value in args:
        if isinstance(value, torch.Tensor):
            return value
        if isinstance(value, (list, tuple)):
            found = _first(value)
            if found is not None:
                return found
    return None


def _tensors(value: Any, device: Any) -> Any:
    """`Spec`s as torch's tensors without data."""
    if isinstance(value, Spec):
        if value.strides is not None:
            return torch.empty_strided(value.shape, value.strides, dtype=_dtype(value.dtype), device=device)
        return torch.empty(value.shape, dtype=_dtype(value.dtype), device=device)
    if isinstance(value, (list, tuple)):
        return type(value)(*(_tensors(item, device) for item in value)) if hasattr(value, "_fields") else type(value)(
            _tensors(item, device) for item in value
        )
    return value


def _fake(name: str, overload: str) -> Callable[..., Any]:
    """The shapes of the results, as torch needs them, by the operator's current rule."""

    def fake(*args: Any, **kwargs: Any) -> Any:
        handle = handles[name]
        every = [*args, *kwargs.values()]
        first = _first(every)
        device = "cpu" if first is None else first.device
        for value in every:
            # A number may be the host's.
            if isinstance(value, torch.Tensor) and value.device != device and value.dim() > 0 and first.dim() > 0:
                raise make_argument_error(f"`{name}`: one argument is on {device}, and another on {value.device}")
        if isinstance(handle, Op):
            return _op_fake(handle, args, kwargs, device)
        if handle._fake is not None and overload == "default":
            return _tensors(handle._fake(*args, **kwargs), device)
        one = handle if isinstance(handle, PythonOp) else getattr(handle, overload)
        if not isinstance(handle, PythonOp) and overload == "default":
            found = symbolic(handle, args, kwargs)
            if found is not None:
                return _tensors(found, device)
        return _tensors(one._derived(*args, **kwargs), device)

    return fake


def _op_fake(handle: Op, args: tuple[Any, ...], kwargs: dict[str, Any], device: Any) -> Any:
    inputs = handle._arguments(args, kwargs)
    if handle._fake is not None:
        made = _tensors(handle._fake(*args, **kwargs), device)
        fresh = list(made) if isinstance(made, (tuple, list)) else [] if made is None else [made]
    else:
        shapes = _shapes(handle, inputs)
        dtypes = handle._output_dtypes([_kind(value) for value in inputs])
        fresh = [
            torch.empty(shape, dtype=_dtype(said or dtype), device=device) for (shape, said), dtype in zip(shapes, dtypes)
        ]
    results = []
    for source in handle._results:
        results.append(fresh.pop(0) if source is None else inputs[source])
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def _kind(value: Any) -> Any:
    return str(value.dtype).removeprefix("torch.") if isinstance(value, torch.Tensor) else value


def _shapes(handle: Op, inputs: tuple[Any, ...]) -> list[tuple[Any, str | None]]:
    """Extents, and the dtype if the rule gives one, of every fresh output; sizes may be symbols."""
    rule = handle._parts["shape"]
    if callable(rule):
        made = rule(*(Spec(v.shape, v.dtype, str(v.device)) if isinstance(v, torch.Tensor) else v for v in inputs))
        several = made if isinstance(made, (tuple, list)) else (made,)
        return [(tuple(spec.shape), str(spec.dtype)) for spec in several]
    if rule is None:
        like = _first(inputs)
        shape = () if like is None else tuple(like.shape)
        return [(shape, None) for source in handle._results if source is None]
    return [(shape, None) for shape in _by_signature(handle, inputs)]


def _by_signature(handle: Op, inputs: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    dims, arrays, outputs, star = handle._shape_rule
    known: list[Any] = [None] * len(dims)
    for name, value in zip(handle.params, inputs):
        if name in dims and not isinstance(value, torch.Tensor):
            known[dims.index(name)] = value
    any_shape: tuple[Any, ...] | None = None

    def same(left: Any, right: Any, what: str) -> None:
        torch._check(left == right, lambda: f"`{handle.name}`: {what}: {left} and {right}")

    for position, extents in arrays:
        value, name = inputs[position], handle.params[position]
        if value is None:
            continue
        if extents is None:
            if any_shape is None:
                any_shape = tuple(value.shape)
            same(len(any_shape), value.dim(), f"the rank of `{name}` differs")
            for left, right in zip(any_shape, value.shape):
                same(left, right, f"an extent of `{name}` differs")
            continue
        if len(extents) != value.dim():
            raise make_argument_error(f"`{handle.name}`: `{name}` has {value.dim()} dimensions; {len(extents)} are wanted")
        for extent, size in zip(extents, value.shape):
            if isinstance(extent, int):
                same(extent, size, f"an extent of `{name}` differs")
            elif known[dim := dims.index(extent)] is None:
                known[dim] = size
            else:
                same(known[dim], size, f"the dim `{extent}` differs in `{name}`")
    if any_shape is not None:
        count: Any = 1
        for extent in any_shape:
            count = count * extent
        for dim in star:
            known[dim] = count
    scope = {"d": known, "s": any_shape, "min": torch.sym_min, "max": torch.sym_max}
    return list(eval(_compiled(outputs), {"__builtins__": {}}, scope))


_code: dict[str, types.CodeType] = {}


def _compiled(expression: str) -> types.CodeType:
    if expression not in _code:
        _code[expression] = compile(expression, "<shape>", "eval")
    return _code[expression]


def _forget_compiled() -> None:
    """Drops compiled functions, which hold the old shapes and gradients."""
    # The module is not imported here, which would take seconds; nothing has been compiled before it is.
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None and hasattr(dynamo, "reset"):
        dynamo.reset()


def _note_change(entry: _Entry, handle: Any) -> None:
    """Compares shapes and gradients with those that compilers may have seen, in this process or, by their caches on disk, before it."""
    prints = [repr(entry.schemas)]
    if isinstance(handle, Op):
        prints += [print_of(rule) for rule in (handle._parts["shape"], handle._fake, handle._backward, handle._setup)]
    else:
        prints.append(handle._text_print)
        prints += [print_of(rule) for rule in (handle._fake, handle._backward, handle._setup)]
    now = hashlib.sha256("\n".join(prints).encode()).hexdigest()
    if entry.print and now != entry.print:
        _forget_compiled()
    entry.print = now
    config = getattr(torch.compiler, "config", None)
    if config is not None and hasattr(config, "cache_key_tag"):
        every = "".join(sorted(known.print for known in _entries.values()) + ([] if entry.name in _entries else [now]))
        theirs = str(config.cache_key_tag).partition("|workbench-")[0]
        config.cache_key_tag = f"{theirs}|workbench-{hashlib.sha256(every.encode()).hexdigest()[:16]}"

