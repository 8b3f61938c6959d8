"""`op.export`: an operator as a PyTorch extension that builds elsewhere, without Workbench."""

from __future__ import annotations

import ast
import json
import keyword
import re
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Sequence

import numpy as np

from . import _workbench
from .copying import copies
from .differentiable import Differentiable
from .library_operators import LibraryOp, PythonOp
from .errors import KernelFault, make_argument_error
from .extension import given_texts
from .functions import Unwritable, written
from .gradient_rules import OperatorGradient, is_floating
from .operators import Op
from .spec import empty_like

__all__ = ["export"]

_TEMPLATES = Path(__file__).parent / "_export"
_MARK = "# Written by Workbench's op.export"
# Extents of the arrays that are made up if no samples are given: odd, past one block, no two alike.
_EXTENTS = (7, 33, 5, 3, 2)
# Headers that the texts of kernels may use without including them.
_CUDA_HEADERS = "".join(
    f"#include <{name}>\n"
    for name in (
        "ATen/cuda/CUDAContext.h c10/cuda/CUDAException.h c10/cuda/CUDAGuard.h cuda_bf16.h cuda_fp16.h math_constants.h "
        "cassert cfloat climits cmath cstdint cstdio"
    ).split()
)
#: Headers of CUDA that the CPU half leaves out.
_EMPTY_HEADERS = (
    "cuda.h cuda_runtime.h cuda_runtime_api.h cuda_fp16.h cuda_bf16.h device_launch_parameters.h math_constants.h vector_types.h"
).split()


@dataclass
class _Part:
    """A part that is built as one: a text, and the operators in it."""

    stem: str
    text: str
    defines: list[tuple[str, str]]
    is_kernel: bool
    #: The code after the text: launchers and registrations.
    cpu: list[str] = field(default_factory=list)
    cuda: list[str] = field(default_factory=list)
    schemas: list[str] = field(default_factory=list)
    #: The reason why there is no half for the CPU.
    no_cpu: str | None = None


@dataclass
class _Operator:
    handle: Any
    #: The dispatch keys that it is built for.
    keys: list[str]
    #: Python of its fake kernel; None if there is none.
    fake: str | None
    #: Python of its gradient.
    gradient: str = ""
    #: The user's own Python, which gets a file of its own, so that its names do not clash.
    own: str = ""


def export(given: Sequence[Any], directory: str | Path, samples: Sequence[Any] | None = None) -> Path:
    """Writes the extension of some operators; the samples are those of the first; see `Op.export`."""
    if not given or not all(isinstance(handle, Differentiable) for handle in given):
        raise make_argument_error(f"operators are exported, as in op.export(directory); got {given!r}")
    if not isinstance(directory, (str, Path)) or not str(directory):
        raise make_argument_error(f"a directory is wanted, got {directory!r}")
    directory = Path(directory)
    package = _package(directory)
    _check_directory(directory)
    parts: list[_Part] = []
    operators: dict[str, _Operator] = {}
    waiting = list(given)
    calls: list[dict[str, Any]] = []
    arrays: dict[str, np.ndarray] = {}
    while waiting:
        one = waiting.pop(0)
        if one.name in operators:
            continue
        operator = operators[one.name] = _add(one, parts)
        every = _samples(one, samples if one is given[0] else None)
        if every is None and one in given:
            raise make_argument_error(f"`{one.name}` has no samples; give samples=[(arguments...), ...] for its test")
        recorded = [_record(one, args, calls, arrays) for args in every or ()]
        waiting += _gradient(one, operator, recorded)
    files = _files(directory, package, parts, operators)
    files["tests/calls.json"] = json.dumps(
        {
            "package": package,
            "keys": {name: o.keys for name, o in operators.items()},
            "fakes": [name for name, o in operators.items() if o.fake is not None],
            "calls": calls,
        },
        indent=1,
    )
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    np.savez_compressed(directory / "tests" / "arrays.npz", **arrays)  # type: ignore[arg-type]
    for operator in operators.values():
        if operator.fake is None:
            warnings.warn(
                f"`{operator.handle.name}` is exported without a fake kernel, which torch.compile needs: "
                "Workbench derives its shapes from the text; register_fake gives one that can be exported",
                stacklevel=3,
            )
    return directory


def _package(directory: Path) -> str:
    name = re.sub(r"\W", "_", directory.resolve().name)
    name = f"_{name}" if not name or name[0].isdigit() or keyword.iskeyword(name) else name
    if name in _OTHERS:
        raise make_argument_error(f"{directory}: the package would be called `{name}`; name the directory otherwise")
    return name


#: Packages that an extension of the same name would hide.
_OTHERS = {*sys.stdlib_module_names, "build", "csrc", "dist", "numpy", "pytest", "setuptools", "tests", "torch", "workbench"}


def _check_directory(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise make_argument_error(f"{directory} is a file; a directory is wanted")
    if directory.is_dir() and any(directory.iterdir()):
        setup = directory / "setup.py"
        if not setup.exists() or not setup.read_text(encoding="utf-8", errors="replace").startswith(_MARK):
            raise make_argument_error(f"{directory} has files that op.export did not write; give a new directory")


def _add(handle: Any, parts: list[_Part]) -> _Operator:
    """Adds an operator to the part of its text."""
    if isinstance(handle, PythonOp):
        raise make_argument_error(f"`{handle.name}` is a callable of Python's; torch.library.custom_op registers such without an extension")
    if isinstance(handle, Op):
        return _add_kernel(handle, parts)
    return _add_host(handle, parts)


def _known() -> set[str]:
    """The words and headers of CUDA that the CPU half has."""
    text = (_TEMPLATES / "cuda_on_cpu.h").read_text(encoding="utf-8")
    return set(re.findall(r"[\w.]+", text))


def _add_kernel(handle: Op, parts: list[_Part]) -> _Operator:
    text, defines, cuda, cpu, no_cpu, fake = handle._launcher(_known())
    namespace = handle.name.split("::")[0]
    part = _part(parts, handle, text, defines, is_kernel=True)
    part.schemas.append(_definition(namespace, handle.schema))
    part.cuda.append(cuda)
    if no_cpu is None:
        part.cpu.append(cpu)
    else:
        part.no_cpu = part.no_cpu or no_cpu
    return _Operator(handle, ["CUDA"] if no_cpu is not None else ["CPU", "CUDA"], _fake_text(handle, fake))


def _add_host(handle: LibraryOp, parts: list[_Part]) -> _Operator:
    origin = handle._origin
    modules = handle._modules
    if len(modules) != 1:
        raise make_argument_error(f"`{handle.name}` is registered by {len(modules)} texts; an extension is made of one")
    _, (_, state, _) = modules[0].__reduce__()
    given = given_texts(state["headers"])
    if state["headers"] and given is None:
        raise make_argument_error(f"`{handle.name}` was compiled with headers, which an extension would not have")
    parts_of = [part.strip("\n") for part in given or ()]
    text = origin[0] if origin is not None else "\n\n".join(filter(None, parts_of)) if given else modules[0].text
    defines = [(name, value) for name, value in state["defines"] if name != "TORCH_EXTENSION_NAME"]
    on_gpu = re.search(r"<<<|\b__global__\b|<(ATen|c10)/cuda/|<cuda", text) is not None
    part = _part(parts, handle, text, defines, is_kernel=False)
    part.no_cpu = "its text launches kernels itself, which only nvcc compiles" if on_gpu else None
    key = "CUDA" if on_gpu else "CPU"
    keys = [known for known in handle.keys if known in ("CPU", "CUDA")] if origin is None else [key]
    if origin is not None:
        namespace, _, name = handle.name.partition("::")
        part.schemas.append(_definition(namespace, handle.schema))
        (part.cuda if on_gpu else part.cpu).append(
            f"\nTORCH_LIBRARY_IMPL({namespace}, {key}, workbench_library) {{\n  workbench_library.impl(\"{name}\", &{origin[1]});\n}}\n"
        )
    fake = None
    if handle._fake is empty_like:
        fake = f'torch.library.register_fake("{handle.name}", torch.empty_like)\n'
    elif handle._fake is not None:
        source, name = _function(handle._fake, f"the fake of `{handle.name}`")
        own_fake = f"{source}\n\ntorch.library.register_fake(\"{handle.name}\", {name})\n"
        return _Operator(handle, keys or [key], "", own=own_fake)
    return _Operator(handle, keys or [key], fake)


def _definition(namespace: str, schema: str) -> str:
    rest = schema.partition("::")[2].replace("\\", "\\\\").replace('"', '\\"')
    return f'TORCH_LIBRARY_FRAGMENT({namespace}, workbench_library) {{\n  workbench_library.def("{rest}");\n}}\n'


def _part(parts: list[_Part], handle: Any, text: str, defines: Sequence[tuple[str, str]], is_kernel: bool) -> _Part:
    for part in parts:
        # Host functions are registered by their text, kernels after theirs, twice if there is a CPU half.
        if (part.text, part.defines, part.is_kernel) == (text, list(defines), is_kernel):
            return part
    stem = re.sub(r"\W", "_", handle.name.split("::")[1])
    taken = {name for part in parts for name in _file_stems(part.stem)}
    while not taken.isdisjoint(_file_stems(stem)):
        stem += "_"
    parts.append(_Part(stem, text, list(defines), is_kernel))
    return parts[-1]


def _file_stems(stem: str) -> set[str]:
    return {stem, f"{stem}_cuda", f"{stem}_module"}


# Names that fakes and gradients use themselves; `ops/export.rs` renames the same.
_TAKEN = {*keyword.kwlist, "ctx", "grad", "inputs", "keyword_only_inputs", "output", "torch"}


def _python_name(name: str) -> str:
    """The name of an argument as a Python variable."""
    return f"{name}_" if name in _TAKEN else name


def _parameters(handle: Any) -> str:
    """The parameters of a Python function with an operator's arguments."""
    made, star = [], False
    for name, _, default, keyword_only, _ in _workbench.schema_arguments(handle.schema):
        if keyword_only and not star:
            made.append("*")
            star = True
        if keyword_only and name in _TAKEN:
            raise make_argument_error(f"`{handle.name}` cannot be exported: `{name}` is passed by name, which Python or its fake cannot say")
        made.append(_python_name(name) if default is None else f"{_python_name(name)}={_python(default)}")
    return ", ".join(made)


def _python(default: str) -> str:
    """A schema's default in Python."""
    try:
        return repr(ast.literal_eval(default))
    except (ValueError, SyntaxError):
        return f'float("{default}")' if default.lstrip("-") in ("inf", "nan") else "None"


def _short(handle: Any) -> str:
    return re.sub(r"\W", "_", handle.name.split("::")[1])


def _fake_text(handle: Any, body: str) -> str:
    return (
        f'@torch.library.register_fake("{handle.name}")\n'
        f"def _{_short(handle)}_fake({_parameters(handle)}):\n{body}"
    )


def _samples(handle: Any, given: Sequence[Any] | None) -> list[tuple[Any, ...]] | None:
    """Calls to record, as whole argument lists."""
    if given is not None:
        if isinstance(given, (str, bytes, np.ndarray)) or not isinstance(given, Sequence) or not given:
            raise make_argument_error("samples is a list of calls, each a tuple of arguments or a dict of them by name")
        made = []
        for sample in given:
            if isinstance(sample, dict):
                made.append(tuple(handle._arguments((), sample)))
            elif isinstance(sample, (tuple, list)):
                made.append(tuple(handle._arguments(tuple(sample), {})))
            else:
                raise make_argument_error(f"a sample is a tuple of arguments or a dict of them by name, got {type(sample).__name__}")
        return made
    known = [] if handle._samples is None else handle._samples()
    if known:
        return [tuple(handle._arguments((), sample)) for sample in known]
    return [tuple(_made_up(handle))] if isinstance(handle, Op) else None


def _made_up(handle: Op) -> list[Any]:
    """Arguments for a kernel, by its shape signature: dims of different extents, random numbers."""
    rng = np.random.default_rng(0)
    signature = handle._parts["shape"] or ""
    extents: dict[str, int] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    inputs = signature.split("->")[0]
    flat = all(len(inner.split(",")) == 1 for inner in re.findall(r"\[([^\]]*)\]", inputs))
    for name, inner in re.findall(r"(\w+)\s*\[([^\]]*)\]", inputs):
        shape = []
        for word in (w.strip() for w in inner.split(",") if w.strip()):
            if word == "*":
                shape += [7, 33]
            elif word.isdigit():
                shape.append(int(word))
            else:
                shape.append(extents.setdefault(word, 1003 if flat else _EXTENTS[len(extents) % len(_EXTENTS)]))
        shapes[name] = tuple(shape)
    kinds = dict(zip(handle.params, handle._kinds))
    made: list[Any] = []
    for name, kind, default, _, _ in _workbench.schema_arguments(handle.schema):
        dtype = kinds[name][1]
        if dtype is not None:
            shape = shapes.get(name, (7, 33))
            if "float" in dtype:
                array = rng.standard_normal(shape).astype(_numpy_dtype(dtype))
            else:
                array = rng.integers(0, 2, shape).astype(dtype)
            made.append(array)
        elif default is not None and default != "None":
            made.append(float(default) if default.lstrip("-") in ("inf", "nan") else ast.literal_eval(default))
        else:
            made.append({"int": extents.get(name, 2), "bool": True, "Scalar": 1}.get(kind.rstrip("?"), 1.5))
    return made


def _numpy_dtype(name: str) -> np.dtype:
    from ._array_exchange import bfloat16

    return bfloat16() if name == "bfloat16" else np.dtype(name)


def _record(handle: Any, args: tuple[Any, ...], calls: list[dict[str, Any]], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Runs a call and keeps its arguments and results."""
    used, count = copies(args), handle._positional
    try:
        made = handle(*used[:count], **dict(zip(handle.params[count:], used[count:])))
    except (KernelFault, RuntimeError, TypeError, ValueError) as error:
        raise make_argument_error(
            f"`{handle.name}` cannot be run on a sample ({str(error).splitlines()[0]}); give samples=[(arguments...), ...] that it takes"
        ) from error
    results = () if made is None else tuple(made) if isinstance(made, (tuple, list)) else (made,)
    call: dict[str, Any] = {
        "operator": handle.name,
        "names": list(handle.params),
        "positional": count,
        "arguments": [_store(value, arrays) for value in args],
        "results": [_store(value, arrays) for value in results],
        "written": {name: _store(used[handle.params.index(name)], arrays) for name in handle._writes},
        "weights": None,
        "gradients": None,
    }
    weights: list[Any] = []
    if handle._backward is not None and not handle._writes and any(map(is_floating, args)):
        rng = np.random.default_rng(1)
        _, pull = handle.vjp(*args[:count], **dict(zip(handle.params[count:], args[count:])))
        weights = [rng.standard_normal(r.shape).astype(r.dtype) if is_floating(r) else None for r in results]
    if any(weight is not None for weight in weights):
        gradients = pull(*[np.zeros(np.shape(r)) if w is None else w for r, w in zip(results, weights)])
        call["weights"] = [_store(w, arrays) for w in weights]
        call["gradients"] = {
            name: _store(g, arrays) for name, value, g in zip(handle.params, args, gradients) if is_floating(value)
        }
    calls.append(call)
    return call | {"args": args, "floating": [is_floating(r) for r in results]}


def _store(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, (list, tuple)) and not np.isscalar(value):
        return [_store(one, arrays) for one in value]
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return value
    array = np.asarray(value)
    key = f"array_{len(arrays)}"
    arrays[key] = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
    return {"array": key, "dtype": array.dtype.name, "shape": list(array.shape)}


def _gradient(handle: Any, operator: _Operator, recorded: list[dict[str, Any]]) -> list[Any]:
    """Writes the gradient; gives the operators that it calls."""
    backward = handle._backward
    if backward is None:
        return []
    gradient = getattr(backward, "__self__", None)
    if isinstance(gradient, OperatorGradient):
        called = gradient.called()
        if not isinstance(called, Differentiable):
            raise make_argument_error(
                f"the gradient of `{handle.name}` is by {called!r}, which is no operator; wb.op makes one of it"
            )
        if not recorded:
            raise make_argument_error(f"`{handle.name}` has a gradient; give samples=[(arguments...), ...] to export it")
        operator.gradient = _operator_gradient(handle, gradient, called, recorded[0])
        return [called]
    texts, needed = [], []
    names = []
    for function, what in ((handle._setup, "setup_context"), (backward, "backward")):
        if function is None:
            names.append(None)
            continue
        text, name = _function(function, f"the {what} of `{handle.name}`", needed)
        texts.append(text)
        names.append(name)
    setup = "" if names[0] is None else f", setup_context={names[0]}"
    texts.append(f'torch.library.register_autograd("{handle.name}", {names[1]}{setup})\n')
    operator.own = "\n\n".join([operator.own, *texts] if operator.own else texts)
    return needed


def _operator_gradient(handle: Any, gradient: OperatorGradient, called: Any, sample: dict[str, Any]) -> str:
    short, params, count = _short(handle), handle.params, handle._positional
    kinds = {name: kind for name, kind, *_ in _workbench.schema_arguments(handle.schema)}
    several = len(handle._results) > 1
    floating = sample["floating"]
    wanted = gradient.differentiable
    if wanted is None:
        wanted = [name for name, value in zip(params, sample["args"]) if is_floating(value)]

    def saved(name: str) -> str:
        lead, _, number = name.partition(".")
        return _python_name(name) if lead != "output" or name in params else f"output[{number or 0}]" if several else "output"

    def is_tensor(name: str) -> bool:
        return name not in kinds or kinds[name].startswith("Tensor")

    tensors = [name for name in gradient.saves if is_tensor(name)]
    keyword_only = ", keyword_only_inputs" if count < len(params) else ""
    used = set(gradient.saves)
    lines = [f"def _{short}_setup(ctx, inputs{keyword_only}, output):"]
    if used & set(params[:count]):
        lines.append(f"    {', '.join(map(_python_name, params[:count]))}{',' if count == 1 else ''} = inputs")
    lines += [f'    {_python_name(name)} = keyword_only_inputs["{name}"]' for name in params[count:] if name in used]
    if tensors:
        lines.append(f"    ctx.save_for_backward({', '.join(saved(name) for name in tensors)})")
    lines += [f"    ctx.number_{name} = {_python_name(name)}" for name in gradient.saves if not is_tensor(name)]
    if len(lines) == 1:
        lines.append("    pass")
    grads = [f"grad_{i}" for i in range(len(floating))] if len(floating) > 1 else ["grad"]
    lines += ["", "", f"def _{short}_backward(ctx, {', '.join(grads)}):"]
    places = {name: f"saved_{i}" for i, name in enumerate(tensors)}
    if tensors:
        lines.append(f"    {', '.join(places.values())}{',' if len(tensors) == 1 else ''} = ctx.saved_tensors")
    given = [grad for grad, is_float in zip(grads, floating) if is_float]
    given += [places.get(name, f"ctx.number_{name}") for name in gradient.saves]
    made = [f"grad_of_{name}" for name in wanted]
    namespace, _, rest = called.name.partition("::")
    lines.append(f"    {', '.join(made)} = torch.ops.{namespace}.{rest}({', '.join(given)})")
    # torch wants None for a tensor that was not passed, and counts the arguments up to the last that was.
    results = [
        "None" if name not in wanted else f"grad_of_{name}" + (f" if any(ctx.needs_input_grad[{i}:{i + 1}]) else None" if kinds[name] == "Tensor?" else "")
        for i, name in enumerate(params[:count])
    ]
    lines.append(f"    return {', '.join(results)}")
    lines += ["", "", f'torch.library.register_autograd("{handle.name}", _{short}_backward, setup_context=_{short}_setup)', ""]
    return "\n".join(lines)


def _function(function: Callable[..., Any], what: str, operators: list[Any] | None = None) -> tuple[str, str]:
    """A Python function as text that stands alone, with what it uses before it; and its name."""

    def line(name: str, value: Any, used: set[str]) -> str | None:
        if isinstance(value, ModuleType) and value.__name__ == "workbench" and used <= {"empty_like"}:
            return f"class {name}:\n    empty_like = staticmethod(torch.empty_like)\n"
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "workbench":
            advice = " (tensors and Specs have new_empty)" if "Spec" in used else ""
            raise Unwritable(f"it uses `{name}.{min(used, default='')}`, which the extension would not have{advice}")
        if (getattr(value, "__module__", None) or "").partition(".")[0] == "workbench" and callable(value) and not isinstance(value, Differentiable):
            raise Unwritable(f"it uses `{name}`, which the extension would not have")
        if isinstance(value, Differentiable) and operators is not None:
            namespace, _, rest = value.name.partition("::")
            operators.append(value)
            return f"{name} = torch.ops.{namespace}.{rest}"
        return None

    try:
        made = written(function, line)
    except Unwritable as error:
        raise make_argument_error(f"{what} cannot be exported: {error}") from None
    return "\n\n\n".join(filter(None, ["\n".join(made.before), made.text])), made.name


def _files(directory: Path, package: str, parts: list[_Part], operators: dict[str, _Operator]) -> dict[str, str]:
    """Every text of the extension, by its path."""
    template = {name: (_TEMPLATES / name).read_text(encoding="utf-8") for name in ("launch.h", "cuda_on_cpu.h", "extension.h", "test_operators.py")}
    files = {"tests/test_operators.py": template["test_operators.py"], "csrc/launch.h": template["launch.h"]}
    extensions = []
    for part in parts:
        lead = "".join(f"#define {name} {value}\n" for name, value in part.defines)
        files[f"csrc/{part.stem}.cu"] = part.text if part.text.endswith("\n") else part.text + "\n"
        has_cpu, has_cuda = bool(part.cpu), bool(part.cuda)
        pybind = "PYBIND11_MODULE" in part.text
        if not part.is_kernel:
            has_cuda, has_cpu = part.no_cpu is not None, part.no_cpu is None
        definition = _module_text(part, pybind)
        if part.is_kernel:
            if has_cpu:
                definition += f'\n#include "cuda_on_cpu.h"\n#include "launch.h"\n\n{lead}#include "{part.stem}.cu"\n' + "".join(part.cpu)
                files["csrc/cuda_on_cpu.h"] = template["cuda_on_cpu.h"]
                for header in _EMPTY_HEADERS:
                    if re.search(rf"[<\"]{re.escape(header)}[>\"]", part.text):
                        files[f"csrc/cpu/{header}"] = f"// <{header}> of the CPU half: what it declares is in cuda_on_cpu.h.\n"
            files[f"csrc/{part.stem}_cuda.cu"] = (
                _CUDA_HEADERS + f'#include "launch.h"\n\n{lead}#include "{part.stem}.cu"\n' + "".join(part.cuda) + _init(f"_{part.stem}_cuda")
            )
        else:
            # The headers that Workbench's texts need not include.
            lead_in = "#include <torch/extension.h>\n" if pybind else "#include <torch/all.h>\n#include <torch/library.h>\n"
            if has_cuda:
                lead_in += _CUDA_HEADERS
            definition += "\n" + lead_in + f'{lead}#include "{part.stem}.cu"\n' + "".join(part.cpu or part.cuda)
            if "torch/extension.h" in part.text and not pybind:
                files["csrc/include/torch/extension.h"] = template["extension.h"]
        on_gpu = not part.is_kernel and has_cuda
        files[f"csrc/{part.stem}_module.{'cu' if on_gpu else 'cpp'}"] = definition
        extensions.append({"name": f"_{part.stem}", "source": f"csrc/{part.stem}_module.{'cu' if on_gpu else 'cpp'}", "cuda": on_gpu, "limited": not pybind})
        if part.is_kernel:
            extensions.append({"name": f"_{part.stem}_cuda", "source": f"csrc/{part.stem}_cuda.cu", "cuda": True, "limited": True, "optional": True})
    files["setup.py"] = _setup(package, extensions)
    files["pyproject.toml"] = '[build-system]\nrequires = ["setuptools>=70", "torch"]\nbuild-backend = "setuptools.build_meta"\n'
    files[f"{package}/__init__.py"] = _init_python(package, extensions, operators)
    for operator in operators.values():
        if operator.own:
            lead = f'"""Of {operator.handle.name}: what was written in Python."""\n\nimport torch\n\n'
            files[f"{package}/{_own_module(operator)}.py"] = lead + operator.own
    files["README.md"] = _readme(package, parts, operators)
    return files


def _own_module(operator: _Operator) -> str:
    return f"_of_{re.sub(r'[^0-9A-Za-z]', '_', operator.handle.name)}"


def _init(module: str) -> str:
    return (
        "\n// The module that `import` looks for; what it loads is registered by being loaded.\n"
        "#ifndef Py_LIMITED_API\n#define Py_LIMITED_API 0x030A0000\n#endif\n"
        f'#include <Python.h>\nPyMODINIT_FUNC PyInit_{module}() {{\n'
        f'  static PyModuleDef module = {{PyModuleDef_HEAD_INIT, "{module}", nullptr, -1, nullptr}};\n'
        "  return PyModule_Create(&module);\n}\n"
    )


def _module_text(part: _Part, pybind: bool) -> str:
    lead = "" if pybind else _init(f"_{part.stem}").lstrip("\n") + "\n"
    schemas = "#include <torch/library.h>\n\n" + "\n".join(part.schemas) if part.schemas else ""
    return lead + schemas


def _setup(package: str, extensions: list[dict[str, Any]]) -> str:
    listed = "\n".join(
        f"    ({e['name']!r}, {e['source']!r}, {e['cuda']}, {e['limited']}, {e.get('optional', False)})," for e in extensions
    )
    return f'''{_MARK}.
from pathlib import Path

import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension

HERE = Path(__file__).resolve().parent
HAS_CUDA = torch.version.cuda is not None and CUDA_HOME is not None
# Name, source, whether nvcc compiles it, whether Python's limited API will do, whether it is left out where there is no nvcc.
EXTENSIONS = [
{listed}
]

made = []
for name, source, cuda, limited, optional in EXTENSIONS:
    if cuda and not HAS_CUDA:
        if optional:
            continue
        raise SystemExit(f"{{source}} is compiled by nvcc: a torch with CUDA and its toolkit are wanted")
    # The folder csrc/cpu stands in for CUDA's headers, on the CPU alone.
    folders = [str(HERE / folder) for folder in ["csrc/include", "csrc"] + ([] if cuda else ["csrc/cpu"])]
    made.append(
        (CUDAExtension if cuda else CppExtension)(
            f"{package}.{{name}}",
            [source],
            include_dirs=folders,
            # Hidden, so that what two extensions both have stays apart.
            extra_compile_args={{"cxx": ["-O3", "-fvisibility=hidden"], "nvcc": ["-O3", "-Xcompiler", "-fvisibility=hidden"]}},
            py_limited_api=limited,
        )
    )

setup(
    name="{package}",
    version="0.1.0",
    packages=["{package}"],
    ext_modules=made,
    cmdclass={{"build_ext": BuildExtension}},
    options={{"bdist_wheel": {{"py_limited_api": "cp310"}}}} if all(e[3] for e in EXTENSIONS) else {{}},
    install_requires=["torch"],
)
'''


def _init_python(package: str, extensions: list[dict[str, Any]], operators: dict[str, _Operator]) -> str:
    modules = [e["name"] for e in extensions if not e.get("optional")]
    optional = [e["name"] for e in extensions if e.get("optional")]
    short = [_short(o.handle) for o in operators.values()]
    lines = [f'"""Operators of PyTorch: {", ".join(operators)}.\n\nThey are `torch.ops`\' once this is imported; the names here are those."""', ""]
    lines += ["import importlib.util", "", "import torch", "", *[f"from . import {name}  # noqa: F401  (loading it registers the operators)" for name in modules], ""]
    if optional:
        lines += [
            f"for _name in {optional!r}:",
            '    if importlib.util.find_spec(f"{__name__}.{_name}") is not None:',
            '        importlib.import_module(f"{__name__}.{_name}")',
            "",
        ]
    for operator in operators.values():
        for text in (operator.fake, operator.gradient):
            if text:
                lines += ["", text.rstrip("\n"), ""]
    lines += [""]
    lines += [f"from . import {_own_module(o)}  # noqa: E402, F401" for o in operators.values() if o.own]
    names: dict[str, str] = {}
    for operator, name in zip(operators.values(), short):
        namespace, _, rest = operator.handle.name.partition("::")
        name = f"{namespace}_{name}" if name in names else name
        if not keyword.iskeyword(name) and name not in ("torch", "importlib") and name not in names:
            names[name] = f"torch.ops.{namespace}.{rest}"
    lines += [f"{name} = {value}" for name, value in names.items()]
    lines += ["", f"__all__ = {list(names)!r}"]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)) + "\n"


def _readme(package: str, parts: list[_Part], operators: dict[str, _Operator]) -> str:
    rows = "\n".join(f"| `{o.handle.schema}` | {' and '.join(o.keys)} |" for o in operators.values())
    why = "".join(f"\nNothing of `csrc/{part.stem}.cu` runs on the CPU: {part.no_cpu}.\n" for part in parts if part.no_cpu)
    first = next(iter(operators.values())).handle
    return f"""# {package}

A PyTorch extension, written by Workbench's `op.export`.

| operator | devices |
|---|---|
{rows}
{why}
```sh
pip install --no-build-isolation .
python -m pytest tests
```

With a torch for CUDA and its toolkit the CUDA half is built, too. The wheel serves every Python from 3.10 on. In Python:

```python
import torch, {package}

{package}.{_short(first)}     # torch.ops.{first.name.replace("::", ".")}
```

`csrc` holds the text as it was in the notebook, and the launcher and registration made of its schema and shape signature;
`tests` holds calls with the results that it gave there.
"""
