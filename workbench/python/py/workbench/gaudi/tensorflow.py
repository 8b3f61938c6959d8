"""Libraries of TensorFlow's custom operators for Gaudi: `load_op_library`."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np

from .. import _workbench
from .._compile import collect_headers
from .._options import parse_options, split_flags
from .._workbench import Module
from ..errors import make_argument_error

__all__ = ["OpLibrary", "load_op_library"]

# TensorFlow's numbers of element types, and the names that registrations write.
_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
_NAMES = {"float": "float32", "double": "float64", "half": "float16"}


class OpLibrary:
    """The operators of a library: `CustomDivOp` is `library.custom_div_op(x, y, example_attr=1)`, and `library.CustomDivOp`, too."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._ops = {name: _Op(module, name, lines) for name, lines in _workbench.tf_operators(module)}
        self._short = {_snake(name): op for name, op in self._ops.items()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._short.get(name) or self._ops.get(name)
        if found is None:
            raise AttributeError(f"the library has no operator `{name}`; it has {', '.join(self._short) or 'none'}")
        return found

    def __dir__(self) -> list[str]:
        return sorted(self._short)

    def __repr__(self) -> str:
        return f"<op library: {', '.join(self._short)}>"


class _Op:
    """One operator: inputs and attributes by position or by name, in the order of its registration."""

    def __init__(self, module: Module, name: str, lines: Sequence[str]) -> None:
        self._module, self.__name__ = module, name
        self._inputs: list[tuple[str, str]] = []
        self._attrs: dict[str, tuple[str, Any]] = {}
        outputs = 0
        for line in lines:
            what, _, rest = line.partition(" ")
            if what == "in":
                argument, _, kind = rest.partition(":")
                self._inputs.append((argument.strip(), kind.strip()))
            elif what == "out":
                outputs += 1
            elif what == "attr":
                attr, _, kind = rest.partition(":")
                kind, sign, default = kind.partition("=")
                self._attrs[attr.strip()] = (kind.strip(), _literal(default.strip()) if sign else _NOTHING)
        self._types = {kind for _, kind in self._inputs if kind in self._attrs}
        if not outputs:
            raise make_argument_error(f"{name}: REGISTER_OP says of no output")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Attributes that follow from the inputs need not be given.
        names = [name for name, _ in self._inputs] + [name for name in self._attrs if name not in self._types]
        if len(args) > len(names):
            raise make_argument_error(f"{self.__name__} takes {len(names)} arguments ({', '.join(names)}), {len(args)} given")
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name == "name":
                continue
            if name not in names:
                raise make_argument_error(f"{self.__name__} has no argument `{name}`; it has {', '.join(names)}")
            if name in given:
                raise make_argument_error(f"{self.__name__} got two values for `{name}`")
            given[name] = value
        inputs, types = [], {}
        for name, kind in self._inputs:
            if name not in given:
                raise make_argument_error(f"{self.__name__} is missing input `{name}`")
            value = given[name] if hasattr(given[name], "dtype") else np.asarray(given[name])
            dtype = str(value.dtype).removeprefix("torch.")
            wanted = types.setdefault(kind, dtype) if kind in self._attrs else _NAMES.get(kind, kind)
            if dtype != wanted:
                raise make_argument_error(f"{self.__name__}: `{name}` is of {dtype}, and {kind} is {wanted} here")
            inputs.append((name, value))
        attrs = []
        for name, (kind, default) in self._attrs.items():
            value = types.get(name, given.get(name, default))
            if value is _NOTHING:
                raise make_argument_error(f"{self.__name__} is missing attribute `{name}`")
            if name in types or kind == "type" or kind.startswith("{") and _is_type(value):
                dtype = value if isinstance(value, str) else np.dtype(value).name
                dtype = _NAMES.get(dtype, dtype)
                allowed = _allowed(kind)
                if dtype not in _TYPES or allowed and dtype not in allowed:
                    one_of = ", ".join(allowed or _TYPES)
                    raise make_argument_error(f"{self.__name__}: {name} is {dtype}; it must be one of {one_of}")
                value = _TYPES[dtype]
            elif kind in _CLASSES and (not isinstance(value, _CLASSES[kind]) or isinstance(value, bool) and kind != "bool"):
                raise make_argument_error(f"{self.__name__}: attribute `{name}` is of type {kind}, got {value!r}")
            attrs.append((name, value))
        made = _workbench.tf_execute(self._module, self.__name__, inputs, attrs)
        return made[0] if len(made) == 1 else tuple(made)

    def __repr__(self) -> str:
        return f"<op {self.__name__}({', '.join(name for name, _ in self._inputs)})>"


_NOTHING: Any = object()
_CLASSES: dict[str, Any] = {"int": int, "float": (int, float), "bool": bool, "string": str, "list(int)": (list, tuple)}


def _literal(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("DT_"):
        name = text[3:].lower()
        return _NAMES.get(name, name)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _is_type(value: Any) -> bool:
    return isinstance(value, type) or isinstance(value, np.dtype) or isinstance(value, str) and _NAMES.get(value, value) in _TYPES


def _allowed(kind: str) -> list[str]:
    """The types of `{bfloat16, float}`; none if any will do."""
    if not kind.startswith("{"):
        return []
    return [_NAMES.get(name.strip(), name.strip()) for name in kind.strip("{}").split(",")]


def _snake(name: str) -> str:
    """The name that TensorFlow gives to a Python function: `CustomDivOp` is custom_div_op."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def load_op_library(path: str, extra_cflags: Sequence[str] = ()) -> OpLibrary:
    """Compiles a C++ source with operators of TensorFlow for Gaudi, and gives its operators as functions.

    The source has `REGISTER_OP`, functors with `DefineNode(HpuKernelContext*)`, `REGISTER_KERNEL_BUILDER(ForHpuWithName(..), ..)` and
    the kernels that the functors name. `DefineNode` runs at each call, when the shapes of the inputs are known; the kernels that it
    defines run after it. An input has elements there (`HostMemoryInput`) where the kernel's registration says `.HostMemory("name")`,
    and so has an output (`HostMemoryOutput`).

    Raises FileNotFoundError, CompileError naming the file, and ArgumentError for a source that registers no
    operator. A call raises ArgumentError for arguments that do not fit, and the error of the functor's status.

    >>> import pathlib, tempfile, numpy as np
    >>> from workbench import gaudi
    >>> source = pathlib.Path(tempfile.mkdtemp(), "twice.cpp")
    >>> _ = source.write_text('''
    ... #include <habanalabs/hpu_kernel.h>
    ... __global__ void twice_f32(const float* x, float* y, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) y[i] = 2 * x[i];
    ... }
    ... REGISTER_OP("TwiceOp").Input("x: float").Output("y: float").SetShapeFn(tensorflow::shape_inference::UnchangedShape);
    ... struct Twice : public habana::BaseFunctor {
    ...     void DefineNode(habana::HpuKernelContext* context) {
    ...         habana::TensorInfo x;
    ...         OP_REQUIRES_OK(context, context->InputInfo(0, x));
    ...         OP_REQUIRES_OK(context, context->DefineOutputInfo(0, x));
    ...         OP_REQUIRES_OK(context, context->DefineNode(habana::NodeDesc{"twice_f32", nullptr, 0, "twice"},
    ...                                                     std::vector<int>{0}, std::vector<int>{0}));
    ...     }
    ... };
    ... REGISTER_KERNEL_BUILDER(ForHpuWithName("TwiceOp"), habana::HpuKernel<Twice>);
    ... ''')
    >>> gaudi.load_op_library(str(source)).twice_op(np.ones(2, np.float32))
    array([2., 2.], dtype=float32)
    """
    file = Path(path)
    text = file.read_bytes()
    if text.startswith(b"\x7fELF"):
        raise OSError(f"{path} is a binary, which cannot run here; give the C++ source it was made of")
    parsed = parse_options(split_flags(extra_cflags, "extra_cflags"), "cpu")
    headers = {str(path): text.decode("utf-8", errors="replace")}
    collect_headers("", [file.parent, *parsed.include_dirs], headers)
    source = f'#include "{path}"\n'
    module = _workbench.compile_source(source, name=str(path), defines=parsed.defines, headers=headers)
    library = OpLibrary(module)
    if not dir(library):
        raise make_argument_error(f"{path} registers no operator: there is no REGISTER_OP in it")
    return library
