"""Descriptors of PyTorch's custom operators for Gaudi, made in Python."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any, Callable, Sequence

from .. import _workbench
from .._compile import compile as compile_text
from .._workbench import Module
from ..errors import make_argument_error
from ..operators import handles
from ..spec import dtype_name

__all__ = ["CustomOp", "InputDesc", "OutputDesc", "register_custom_op"]

_ROLES = {"tensor": 0, "scalar": 1, "user_params": 2}


@dataclass(frozen=True)
class InputDesc:
    """An input: "tensor", "scalar", or "user_params" if only the callbacks read it; and its place among the arguments.

    >>> from workbench import gaudi
    >>> gaudi.InputDesc("scalar", 1)
    InputDesc(type='scalar', index=1)
    """

    type: str
    index: int

    def __post_init__(self) -> None:
        if self.type not in _ROLES:
            raise make_argument_error(f"an input is of type {self.type!r}; it must be one of {', '.join(_ROLES)}")
        if not isinstance(self.index, int) or self.index < 0:
            raise make_argument_error(f"the index of an input is {self.index!r}; it must be an int from 0")


@dataclass(frozen=True)
class OutputDesc:
    """An output: its place among the results, its dtype, and a callback that gives its shape from the arguments.

    Without a callback it has the shape of input 0. A callback may read the elements of arrays.

    >>> from workbench import gaudi
    >>> gaudi.OutputDesc(0, "float32").dtype
    'float32'
    """

    index: int
    dtype: Any = "float32"
    shape: Callable[..., Sequence[int]] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.index, int) or self.index < 0:
            raise make_argument_error(f"the index of an output is {self.index!r}; it must be an int from 0")
        if self.shape is not None and not callable(self.shape):
            raise make_argument_error(f"the shape of an output is a callable, got {self.shape!r}")
        object.__setattr__(self, "dtype", dtype_name(self.dtype))


@dataclass(frozen=True)
class _Argument:
    name: str
    mutated: bool
    default: Any = None
    has_default: bool = False


class CustomOp:
    """An operator of a descriptor; made by `register_custom_op`, called with arguments by position or by name."""

    def __init__(
        self,
        schema: str,
        kernel: str,
        module: Module,
        inputs: Sequence[InputDesc],
        outputs: Sequence[OutputDesc],
        user_params: Callable[..., Any] | None,
    ) -> None:
        self.name, results = _workbench.schema_parts(schema)
        self.schema, self.kernel, self.module = schema, kernel, module
        self._arguments = _arguments(schema)
        self._roles = [_ROLES[one.type] for one in _ordered("inputs", inputs, InputDesc)]
        self._outputs = _ordered("outputs", outputs, OutputDesc)
        self._user_params = user_params
        if len(self._roles) != len(self._arguments):
            raise make_argument_error(
                f"{self.name}: the schema has {len(self._arguments)} arguments, and there are {len(self._roles)} descriptors of inputs"
            )
        if len(self._outputs) != len(results) and self._outputs:
            raise make_argument_error(
                f"{self.name}: the schema has {len(results)} results, and there are {len(self._outputs)} descriptors of outputs"
            )
        if user_params is not None and not callable(user_params):
            raise make_argument_error(f"{self.name}: user_params is a callable, got {user_params!r}")

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        if len(args) > len(self._arguments):
            raise make_argument_error(f"{self.name}() takes {len(self._arguments)} arguments, {len(args)} given")
        values = list(args)
        for argument in self._arguments[: len(args)]:
            if argument.name in kwargs:
                raise make_argument_error(f"{self.name}() got two values for argument `{argument.name}`")
        for argument in self._arguments[len(args) :]:
            if argument.name in kwargs:
                values.append(kwargs[argument.name])
            elif argument.has_default:
                values.append(argument.default)
            else:
                raise make_argument_error(f"{self.name}() is missing argument `{argument.name}`")
        unknown = [name for name in kwargs if all(name != a.name for a in self._arguments)]
        if unknown:
            raise make_argument_error(f"{self.name}() has no argument `{unknown[0]}`")
        return values

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bind(args, kwargs)
        outputs = []
        for output in self._outputs:
            if output.shape is not None:
                shape = output.shape(values)
            elif values and hasattr(values[0], "shape"):
                shape = values[0].shape
            else:
                raise make_argument_error(f"{self.name}: output {output.index} has no shape, and input 0 no shape to take")
            outputs.append((output.dtype, _extents(self.name, shape)))
        params = None if self._user_params is None else _bytes(self.name, self._user_params(values))
        inputs = [(v, role, a.mutated) for v, role, a in zip(values, self._roles, self._arguments)]
        made = _workbench.tpc_execute(self.module, self.kernel, inputs, outputs, params)
        if not made:
            # An argument that is changed in place is the result if the schema says so.
            changed = [v for v, a in zip(values, self._arguments) if a.mutated]
            return changed[0] if len(changed) == 1 and not self.schema.rstrip().endswith("()") else None
        return made[0] if len(made) == 1 else tuple(made)

    def __repr__(self) -> str:
        return f"<op {self.schema}>"


def register_custom_op(
    schema: str,
    kernel: str,
    inputs: Sequence[InputDesc],
    outputs: Sequence[OutputDesc],
    user_params: Callable[..., Any] | None = None,
    source: str | Module = "",
) -> CustomOp:
    """Makes an operator of a descriptor and offers it in `wb.ops`.

    `schema` is torch's, `kernel` names a kernel or a host function of `source` (a text, or a module compiled of a text that mentions
    `habana`); `workbench.gaudi` documents how its parameters are bound. `user_params` gives the kernel's struct from the list of
    arguments: bytes, a `ctypes.Structure`, or a scalar of a structured dtype. An argument `Tensor(a!)` may be changed by the kernel.

    Raises ArgumentError for descriptors that do not fit, CompileError for the text; a
    call raises RuntimeError if the kernel's parameters differ from the descriptors.

    >>> import numpy as np, workbench as wb
    >>> from workbench import gaudi
    >>> scale = gaudi.register_custom_op(
    ...     "doc_gaudi::scale(Tensor x, float by) -> Tensor", "scale_f32",
    ...     inputs=[gaudi.InputDesc("tensor", 0), gaudi.InputDesc("scalar", 1)], outputs=[gaudi.OutputDesc(0, "float32")],
    ...     source='''__global__ void scale_f32(const float* x, float by, float* out, int n) {
    ...         int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...         if (i < n) out[i] = by * x[i];
    ...     }''')
    >>> wb.ops.doc_gaudi.scale(np.arange(3, dtype=np.float32), by=2.0)
    array([0., 2., 4.], dtype=float32)
    """
    if not isinstance(kernel, str) or not kernel:
        raise make_argument_error(f"kernel is a name, got {kernel!r}")
    full_name, _ = _workbench.schema_parts(schema)
    if isinstance(source, Module):
        module = source
    elif isinstance(source, str) and source.strip():
        # The name says which dialect the text is in.
        module = compile_text(f"{source}\nnamespace habana {{}}\n", name=full_name)
    else:
        raise make_argument_error(f"{full_name}: source is a text or a module, got {source!r}")
    if kernel not in module.kernels and kernel not in module.host_functions:
        raise make_argument_error(f"{full_name}: the text has no kernel and no host function `{kernel}`")
    made = CustomOp(schema, kernel, module, inputs, outputs, user_params)
    handles[full_name] = made  # type: ignore[assignment]
    return made


def _ordered(what: str, given: Any, wanted: type) -> list[Any]:
    """Descriptors by their indices, which count from 0."""
    several = list(given)
    for one in several:
        if not isinstance(one, wanted):
            raise make_argument_error(f"{what} are of {wanted.__name__}, got {one!r}")
    several.sort(key=lambda one: one.index)
    if [one.index for one in several] != list(range(len(several))):
        raise make_argument_error(f"the indices of {what} are {[one.index for one in several]}; they must count from 0")
    return several


def _arguments(schema: str) -> list[_Argument]:
    """The arguments of a schema that has been parsed already."""
    text = schema[schema.index("(") + 1 : schema.rindex("->")].strip()
    text = text[: text.rindex(")")]
    found, depth, current = [], 0, ""
    for char in f"{text},":
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += char
    made = []
    for part in found:
        if part in ("", "*"):
            continue
        head, sign, default = part.partition("=")
        kind, _, name = head.strip().rpartition(" ")
        value = None
        if sign:
            try:
                value = ast.literal_eval(default.strip())
            except (ValueError, SyntaxError):
                raise make_argument_error(f"the default `{default.strip()}` of `{name}` is a name; give a number or a text") from None
        made.append(_Argument(name, re.search(r"\(\w+!", kind) is not None, value, bool(sign)))
    return made


def _extents(name: str, shape: Any) -> list[int]:
    try:
        extents = [int(extent) for extent in shape]
    except TypeError:
        raise make_argument_error(f"{name}: a shape is a sequence of ints, got {shape!r}") from None
    if any(extent < 0 for extent in extents):
        raise make_argument_error(f"{name}: a shape has extents from 0, got {extents}")
    return extents


def _bytes(name: str, params: Any) -> bytes:
    if hasattr(params, "tobytes"):
        return bytes(params.tobytes())
    if isinstance(params, (int, str)):
        raise make_argument_error(f"{name}: user_params gives bytes, a ctypes.Structure or a structured scalar, got {params!r}")
    try:
        return bytes(params)
    except (TypeError, ValueError):
        raise make_argument_error(
            f"{name}: user_params gives bytes, a ctypes.Structure or a structured scalar, got {params!r}"
        ) from None
