"""`wb.elementwise`: one line of C++ as an operator over broadcast arrays, in the order CuPy's ElementwiseKernel takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Collection, Mapping

import numpy as np

from . import _workbench
from ._calls import clear_calls, hold_keywords
from ._compile import compile as compile_source
from .benchmark import OPTIONS, bench_callable
from .errors import make_argument_error, plural
from ._workbench import BenchReport, CheckReport, GradReport, Module
from .autograd import Pullback
from .gradient_rules import hold_rule
from .operators import Op, handles, op
from .python_implementations import is_on_cuda
from .pickles import packed, unpacked

__all__ = ["Elementwise", "elementwise"]

# NumPy's names and the C++ types of the same layout.
_C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
_ALIASES = {"bool_": "bool", "float": "float64", "int": "int64", "double": "float64"}
_PARAM = re.compile(r"\s*(?P<raw>raw\s+)?(?:const\s+)?(?P<type>[A-Za-z_]\w*)\s+(?P<name>[A-Za-z_]\w*)\s*")
_BLOCK = 256
# The key of a variant: the type of each variable, and which inputs are scalars.
_Key = tuple[tuple[tuple[str, str], ...], tuple[bool, ...]]


def _pointer(param: Param) -> str:
    """The kernel's name of the array of a parameter: its own name if it is indexed by hand."""
    return param.name if param.raw else f"{param.name}_"


@dataclass(frozen=True)
class Param:
    """One parameter: `raw T x` has raw=True, type "T", name "x"."""

    name: str
    type: str
    raw: bool

    @property
    def is_variable(self) -> bool:
        """True if the type is a single letter, resolved at each call."""
        return len(self.type) == 1


def _parse(text: str, what: str) -> list[Param]:
    params: list[Param] = []
    for part in filter(str.strip, text.split(",")):
        match = _PARAM.fullmatch(part)
        if match is None:
            raise make_argument_error(f"{what}: `{part.strip()}` is no parameter; write a type and a name, as in `T x`")
        kind = _ALIASES.get(match["type"], match["type"])
        if len(kind) > 1 and kind not in _C_TYPES:
            raise make_argument_error(
                f"{what}: `{match['type']}` is no type; write one of {', '.join(_C_TYPES)}, or one letter for any of them"
            )
        params.append(Param(match["name"], kind, bool(match["raw"])))
    return params


@clear_calls
class Elementwise:
    """An operator made of one expression; `wb.elementwise` makes it.

    Call it with arrays or scalars, one for each input, and if you like one array for each output. Inputs broadcast as in
    NumPy; one-letter types are resolved at each call, and a new combination compiles a kernel of its own.

    >>> import numpy as np, workbench as wb
    >>> double = wb.elementwise("T x", "T y", "y = x + x", name="double")
    >>> double(np.arange(3))
    array([0, 2, 4])
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        *,
        preamble: str = "",
        reference: Callable[..., Any] | None = None,
    ) -> None:
        self.inputs, self.outputs = _parse(in_params, "in_params"), _parse(out_params, "out_params")
        self.operation, self.name, self.preamble, self.reference = operation, name, preamble, reference
        if not name.isidentifier():
            raise make_argument_error(f"name is {name!r}; it must be an identifier")
        if not self.outputs:
            raise make_argument_error("out_params is empty; an elementwise operator has at least one output")
        names = [p.name for p in [*self.inputs, *self.outputs]]
        if len(set(names)) < len(names) or "i" in names:
            raise make_argument_error("parameters need different names, other than `i`, which is the index")
        self.__name__ = name
        self.__doc__ = f"{in_params} -> {out_params}: {operation}"
        self._left_behind: Collection[str] = ()
        self._backward: tuple[Callable[..., Any], Callable[..., Any] | None] | None = None
        # The name of the kernel has a prefix, so that any name will do for the operator, `double` too.
        self._kernel = f"elementwise_{name}"
        self._modules: dict[_Key, Module] = {}
        self._variants: dict[_Key, Op] = {}
        handles[f"elementwise::{name}"] = self

    @property
    def __text_signature__(self) -> str:
        return f"({', '.join(p.name for p in self.inputs)})"

    def __repr__(self) -> str:
        return f"<elementwise {self.name}: {self.__doc__}>"

    def __reduce__(self) -> Any:
        ins = ", ".join(f"{'raw ' if p.raw else ''}{p.type} {p.name}" for p in self.inputs)
        outs = ", ".join(f"{'raw ' if p.raw else ''}{p.type} {p.name}" for p in self.outputs)
        has = [what for what, one in (("reference", self.reference), ("gradient", self._backward)) if one is not None]
        functions = packed(self.reference), packed(self._backward), [*has, *self._left_behind]
        return _rebuild, (ins, outs, self.operation, self.name, self.preamble, *functions)

    def _definition(self) -> tuple[Any, ...]:
        return self.inputs, self.outputs, self.operation, self.preamble

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs: fresh arrays, or those passed after the inputs. Several come as a tuple."""
        values = self._positional(args, kwargs)
        if is_on_cuda(values):
            raise make_argument_error(f"`{self.name}` computes on host arrays; copy those on a GPU to the CPU first")
        ins, outs = values[: len(self.inputs)], values[len(self.inputs) :]
        if not outs:
            op, arrays = self._variant(ins)
            return op(*arrays)
        return self._into(ins, outs)

    def _positional(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        names = [p.name for p in [*self.inputs, *self.outputs]]
        arranged = _workbench.arrange_arguments(self.name, names, len(self.inputs), args, kwargs)
        values = [value for value in arranged if value is not ...]
        if len(values) not in (len(self.inputs), len(names)):
            raise make_argument_error(
                f"`{self.name}` takes {plural(len(self.inputs), 'input')} ({', '.join(p.name for p in self.inputs)}), "
                f"or these and its {plural(len(self.outputs), 'output')}; got {len(args) + len(kwargs)}"
            )
        return values

    def _into(self, ins: list[Any], outs: list[Any]) -> Any:
        for param, out in zip(self.outputs, outs):
            if not isinstance(out, np.ndarray) or not out.flags.writeable:
                raise make_argument_error(f"output `{param.name}` of `{self.name}` must be a writable NumPy array")
        module, _, arrays = self._prepare(ins, outs)
        shape = self._shape(arrays, outs)
        for param, out in zip(self.outputs, outs):
            if not param.raw and out.shape != shape:
                raise make_argument_error(
                    f"output `{param.name}` of `{self.name}` has shape {out.shape}; the inputs broadcast to {shape}"
                )
        targets = [out if out.flags.c_contiguous and out.flags.aligned else out.copy() for out in outs]
        size = int(np.prod(shape, dtype=np.int64))
        if size:
            module[self._kernel].launch(-(-size // _BLOCK), _BLOCK, [*arrays, *targets, size])
        for out, target in zip(outs, targets):
            if out is not target:
                out[...] = target
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _shape(self, arrays: list[Any], outs: list[Any]) -> tuple[int, ...]:
        shapes = [a.shape for p, a in zip(self.inputs, arrays) if not p.raw and isinstance(a, np.ndarray)]
        if not shapes:
            shapes = [o.shape for p, o in zip(self.outputs, outs) if not p.raw][:1]
        return tuple(np.broadcast_shapes(*shapes))

    def _resolve(self, ins: list[Any], outs: list[Any]) -> dict[str, str]:
        """NumPy's name of every type variable."""
        types: dict[str, str] = {}
        owner: dict[str, str] = {}
        params = [*zip(self.inputs, ins), *zip(self.outputs, outs)]
        # Arrays decide; a Python scalar decides only if no array does.
        for arrays_first in (True, False):
            for param, value in params:
                is_array = isinstance(value, (np.ndarray, np.generic))
                if not param.is_variable or is_array != arrays_first or (param.type in types and not arrays_first):
                    continue
                dtype = np.asarray(value).dtype
                if dtype.name not in _C_TYPES:
                    raise make_argument_error(f"parameter `{param.name}` of `{self.name}` got {dtype}, which no kernel takes")
                if types.setdefault(param.type, dtype.name) != dtype.name:
                    wanted = types[param.type]
                    raise make_argument_error(
                        f"parameter `{param.name}` of `{self.name}` got {dtype.name}, but `{param.type}` is {wanted} by "
                        f"`{owner[param.type]}`; try {param.name}.astype(np.{wanted})"
                    )
                owner.setdefault(param.type, param.name)
        for param in [*self.inputs, *self.outputs]:
            if param.is_variable and param.type not in types:
                raise make_argument_error(
                    f"the type `{param.type}` of `{param.name}` follows from no input; name a type, or pass the output"
                )
        return types

    def _variant(self, ins: list[Any]) -> tuple[Op, list[Any]]:
        """The operator for these types, and its arguments."""
        module, key, arrays = self._prepare(ins)
        if key not in self._variants:
            self._variants[key] = self._define(module, dict(key[0]), key[1])
        variant = self._variants[key]
        # Two operators of the same text share their variants, but neither reference nor gradient.
        variant.reference, variant._left_behind = self.reference, self._left_behind
        variant._gradient_rule = self._backward or (None, None)
        return variant, arrays

    def _prepare(self, ins: list[Any], outs: list[Any] | None = None) -> tuple[Module, _Key, list[Any]]:
        """The text compiled for these types, and its arguments: broadcast, contiguous arrays and scalars."""
        ins = [value if isinstance(value, (bool, int, float, np.ndarray)) else np.asarray(value) for value in ins]
        types = self._resolve(ins, outs or [])
        scalar = [not p.raw and not (isinstance(v, np.ndarray) and v.ndim > 0) for p, v in zip(self.inputs, ins)]
        if all(s or p.raw for s, p in zip(scalar, self.inputs)) and not outs:
            # The extent comes from no input: a 0-d result, as NumPy's functions of scalars have.
            for index, param in enumerate(self.inputs):
                if not param.raw:
                    scalar[index] = False
                    ins[index] = np.asarray(ins[index], dtype=types.get(param.type, param.type))
                    break
            else:
                raise make_argument_error(f"`{self.name}` has raw inputs only: pass the outputs, whose size is the size")
        arrays = list(ins)
        spread = [k for k, p in enumerate(self.inputs) if not p.raw and not scalar[k]]
        try:
            for k, array in zip(spread, np.broadcast_arrays(*(ins[k] for k in spread))):
                arrays[k] = array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape)
        except ValueError as error:
            raise make_argument_error(f"inputs of `{self.name}` do not broadcast: {error}") from None
        if outs and spread:
            try:
                shape = np.broadcast_shapes(*(arrays[k].shape for k in spread), outs[0].shape)
            except ValueError:
                raise make_argument_error(
                    f"output `{self.outputs[0].name}` of `{self.name}` has shape {outs[0].shape}, which the inputs' "
                    f"{np.broadcast_shapes(*(arrays[k].shape for k in spread))} does not broadcast to"
                ) from None
            for k in spread:
                if arrays[k].shape != shape:
                    arrays[k] = np.ascontiguousarray(np.broadcast_to(arrays[k], shape))
        for k, param in enumerate(self.inputs):
            wanted = types.get(param.type, param.type)
            if scalar[k] and isinstance(arrays[k], np.ndarray):
                arrays[k] = arrays[k][()]
            elif not scalar[k] and arrays[k].dtype.name != wanted:
                raise make_argument_error(
                    f"parameter `{param.name}` of `{self.name}` got an array of {arrays[k].dtype.name}, but wants "
                    f"{wanted}, try {param.name}.astype(np.{wanted})"
                )
        key = (tuple(sorted(types.items())), tuple(scalar))
        if key not in self._modules:
            self._modules[key] = self._compile(types, scalar)
        return self._modules[key], key, arrays

    def _compile(self, types: dict[str, str], scalar: list[bool]) -> Module:
        def c_type(param: Param) -> str:
            return _C_TYPES[types.get(param.type, param.type)]

        taken = {p.name for p in [*self.inputs, *self.outputs]}
        size = next(name for name in ("n", "size", "numel", "N", "num_elements") if name not in taken)
        declared, reads, macros, undo = [], [], [], []
        for param, by_value in zip(self.inputs, scalar):
            if by_value:
                declared.append(f"{c_type(param)} {param.name}")
            elif param.raw:
                declared.append(f"const {c_type(param)}* {param.name}")
            else:
                declared.append(f"const {c_type(param)}* {_pointer(param)}")
                reads.append(f"const {c_type(param)} {param.name} = {_pointer(param)}[i];")
        for param in self.outputs:
            declared.append(f"{c_type(param)}* {_pointer(param)}")
            if not param.raw:
                # The output is a macro, so that elements to which the operation assigns nothing stay as they were.
                macros.append(f"#define {param.name} {_pointer(param)}[i]")
                undo.append(f"#undef {param.name}")
        letters = [f"#define {letter} {_C_TYPES[kind]}" for letter, kind in sorted(types.items())]
        source = "\n".join(
            [
                '#include "preamble"',
                *letters,
                f"__global__ void {self._kernel}({', '.join(declared)}, long long {size}) {{",
                "long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
                f"if (i < {size}) {{",
                *reads,
                *macros,
                '#include "operation"',
                ";",
                *undo,
                "}",
                "}",
                "",
            ]
        )
        operation = self.operation.replace("_ind.size()", size) + "\n"
        # The texts are headers, so that a message names the line of the operation itself.
        headers = {"operation": operation, "preamble": self.preamble + "\n"}
        return compile_source(source, name=self.name, headers=headers)

    def _define(self, module: Module, types: dict[str, str], scalar: tuple[bool, ...]) -> Op:
        args, shaped = [], []
        for param, by_value in zip(self.inputs, scalar):
            kind = types.get(param.type, param.type)
            word = "bool" if kind == "bool" else "float" if kind.startswith("float") else "int"
            args.append(f"{word} {param.name}" if by_value else f"Tensor {_pointer(param)}")
            if not by_value and not param.raw:
                shaped.append(f"{_pointer(param)}[*]")
        import hashlib

        # The text is part of the name: another operator of the same name must not take this one's place.
        digest = hashlib.sha1(f"{module.text}\0{self.operation}\0{self.preamble}".encode()).hexdigest()[:12]
        results = ", ".join("Tensor" for _ in self.outputs)
        results = f"({results})" if len(self.outputs) > 1 else results
        variant = op(
            f"elementwise::{self.name}_{digest}({', '.join(args)}) -> {results}",
            module,
            kernel=self._kernel,
            shape=f"{', '.join(shaped)} -> {', '.join(f'{_pointer(param)}[*]' for param in self.outputs)}",
            block=_BLOCK,
            reference=self.reference,
        )
        return variant

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """The gradient: `backward(ctx, *grads)` gives one per input, None if an input is a scalar."""
        hold_rule(self.name, [param.name for param in self.outputs], (), backward, setup_context)
        self._backward = (backward, setup_context)
        return backward

    def vjp(self, *args: Any) -> tuple[Any, Pullback]:
        """The output and its pullback, by the registered gradient."""
        op, arrays = self._variant(list(args))
        return op.vjp(*arrays)

    def check(self, *args: Any, **options: Any) -> CheckReport:
        """A CheckReport against the reference; see `Op.check`."""
        op, arrays = self._variant(list(args))
        return op.check(*arrays, **options)

    def gradcheck(self, *args: Any, **options: Any) -> GradReport:
        """A gradient check; see `Op.gradcheck`."""
        op, arrays = self._variant(list(args))
        return op.gradcheck(*arrays, **options)

    def bench(self, *args: Any, **options: Any) -> BenchReport:
        """Times it on these arguments, or over sizes; see `Op.bench`."""
        hold_keywords("Elementwise.bench", options, (), ("sizes", "make_args", "others", *OPTIONS))
        return bench_callable(self.name, self, args, self.reference, **options)


def _rebuild(ins: str, outs: str, text: str, name: str, preamble: str, reference: Any, gradient: Any, has: list[str]) -> Elementwise:
    here = handles.get(f"elementwise::{name}")
    made = Elementwise(ins, outs, text, name, preamble=preamble, reference=unpacked(reference))
    made._backward = unpacked(gradient)
    if isinstance(here, Elementwise) and here._definition() == made._definition():
        # The process has it already.
        made.reference, made._backward = made.reference or here.reference, made._backward or here._backward
    made._left_behind = tuple(what for what in has if {"reference": made.reference, "gradient": made._backward}[what] is None)
    return made


@clear_calls
def elementwise(
    in_params: str,
    out_params: str,
    operation: str,
    name: str = "kernel",
    *,
    preamble: str = "",
    reference: Callable[..., Any] | None = None,
) -> Elementwise:
    """An operator from one expression over the elements, in CuPy's order of arguments.

    `in_params` and `out_params` are lists such as "float32 x, T y, raw T table": NumPy's type names, or one letter for a
    type resolved at each call. In `operation`, `i` is the flat index, `n` the size, `raw` parameters are indexed by hand.
    Inputs broadcast and may be scalars; outputs are fresh, or passed behind the inputs.

    Raises ArgumentError for types that disagree, CompileError (at the first call) for an operation that does not compile.

    >>> import numpy as np, workbench as wb
    >>> f = wb.elementwise("T a, T b, T c", "T out", "out = a * b + c", name="muladd")
    >>> f(np.arange(3, dtype=np.float32), np.float32(2), 1.0)
    array([1., 3., 5.], dtype=float32)
    """
    return Elementwise(in_params, out_params, operation, name, preamble=preamble, reference=reference)
