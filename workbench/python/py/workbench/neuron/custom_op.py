"""`custom_op.load` and `custom_op.load_library`, as in torch_neuronx: kernels, shape functions, libraries on disk."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from .. import _workbench
from .._compile import collect_headers
from .._options import parse_options, split_flags
from ..errors import CompileError, make_argument_error
from ..operators import adopt_library

__all__ = ["CORES", "load", "load_library"]

#: Cores of a NeuronCore's GPSIMD engine, which run a kernel of a library that is loaded with `multicore=True`.
CORES = 8

# Names of libraries that Neuron keeps for itself.
_RESERVED = frozenset({"builtin"})
_FORMAT = "workbench neuron library 1"
# The name in messages of the text that registers kernels.
_OFFERED = "kernels of NEURON_LIBRARY"


def load(
    name: str,
    compute_srcs: Sequence[str],
    shape_srcs: Sequence[str],
    build_directory: str | None = None,
    multicore: bool = False,
    extra_cflags: Sequence[str] | None = None,
    verbose: bool = False,
) -> None:
    """Compiles a library of operators and registers them in `wb.ops` (and `torch.ops`, where torch is loaded).

    `shape_srcs` are files with shape functions and a `NEURON_LIBRARY(ns, m)` that names the kernels, which are in the
    files `compute_srcs`. The library is written to `build_directory` (default: a temporary folder) as `lib<name>.so`, a
    text that `load_library` reads in any process. A call runs the shape function, then the kernel, once for each of
    `CORES` where `multicore`, and compares the result with the shape function's. There is no limit on the number of
    operators or libraries, and results may be several tensors. `-DSTACK_SIZE=` needs no saying here, and is understood.

    Raises FileNotFoundError, CompileError naming the file, ArgumentError for a kernel that is not there and a reserved name.

    >>> import pathlib, tempfile, numpy as np, workbench as wb
    >>> from workbench.neuron import custom_op
    >>> here = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (here / "twice.cpp").write_text('torch::Tensor twice(const torch::Tensor& x) { return torch::mul(x, 2); }')
    >>> _ = (here / "shape.cpp").write_text('torch::Tensor shape(torch::Tensor x) { return torch::zeros(x.sizes(), torch::kFloat); }'
    ...                                     'NEURON_LIBRARY(doc_neuron, m) { m.def("twice", &shape, "twice"); }')
    >>> custom_op.load(name="twice", compute_srcs=[str(here / "twice.cpp")], shape_srcs=[str(here / "shape.cpp")])
    >>> wb.ops.doc_neuron.twice(np.ones(2, np.float32))
    array([2., 2.], dtype=float32)
    """
    if not isinstance(name, str) or not name:
        raise make_argument_error(f"name is a str, got {name!r}")
    if Path(name).name != name:
        raise make_argument_error(f"name becomes a file's name, so it has no folders in it; got {name!r}")
    if name in _RESERVED:
        raise make_argument_error(f"the name `{name}` is reserved; give the library another")
    parsed = parse_options(split_flags(extra_cflags, "extra_cflags"), "cpu")
    library = {
        "format": _FORMAT,
        "name": name,
        "multicore": bool(multicore),
        "defines": [list(pair) for pair in parsed.defines],
        "compute": _texts("compute_srcs", compute_srcs),
        "shape": _texts("shape_srcs", shape_srcs),
    }
    for part, paths in (("compute", compute_srcs), ("shape", shape_srcs)):
        found = dict(library[part])
        collect_headers("", [*dict.fromkeys(Path(p).parent for p in paths), *parsed.include_dirs], found)
        library[f"{part}_headers"] = {key: text for key, text in found.items() if key not in library[part]}
    _register(library, verbose)
    folder = Path(build_directory) if build_directory is not None else Path(tempfile.mkdtemp(prefix="workbench-"))
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"lib{name}.so"
    # The file is replaced at once, so that another process reads the old one or the new one.
    handle, written = tempfile.mkstemp(dir=folder, prefix=f"lib{name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(library, file)
    os.replace(written, target)
    if verbose:
        print(f"{target}: {', '.join(sorted(library['compute']))}")


def load_library(path: str) -> None:
    """Registers the operators of a library that `load` has written, in whatever process.

    Raises FileNotFoundError, and OSError for a file that is no library of Workbench.

    >>> from workbench.neuron import custom_op
    >>> custom_op.load_library("no/such/library.so")
    Traceback (most recent call last):
      ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/library.so'
    """
    try:
        library = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        library = None
    if not _is_library(library):
        raise OSError(f"{path} is no library that workbench.neuron.custom_op.load has written; a binary for Neuron cannot run here")
    _register(library, False)


def _is_library(library: Any) -> bool:
    """True if this is a library that `load` writes."""
    if not isinstance(library, dict) or library.get("format") != _FORMAT:
        return False

    def texts(part: str) -> bool:
        found = library.get(part)
        return isinstance(found, dict) and all(isinstance(text, str) for text in found.values())

    parts = ("compute", "shape", "compute_headers", "shape_headers")
    defines = library.get("defines")
    pairs = isinstance(defines, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in defines)
    return isinstance(library.get("name"), str) and "multicore" in library and pairs and all(map(texts, parts))


def _texts(what: str, paths: Iterable[str]) -> dict[str, str]:
    if isinstance(paths, (str, Path)):
        raise make_argument_error(f"{what} is a list of paths, got {paths!r}")
    texts = {str(path): Path(path).read_text(encoding="utf-8", errors="replace") for path in paths}
    if not texts:
        raise make_argument_error(f"{what} is empty; it must name a file at least")
    return texts


def _register(library: Mapping[str, Any], verbose: bool) -> None:
    shape = _compile(library, "shape", {}, verbose)
    kernels = _workbench.neuron_kernels(shape)
    for kernel in kernels:
        if not all(part.isidentifier() for part in kernel.split("::")):
            raise make_argument_error(f"{library['name']}: {kernel!r} is no name of a function")
    offered = _offered(library["compute"], kernels)
    try:
        compute = _compile(library, "compute", offered, verbose)
    except CompileError as error:
        unknown = [d for d in error.diagnostics if d.severity == "error"]
        if unknown and all(d.file.startswith(_OFFERED) for d in unknown):
            raise make_argument_error(f"{library['name']}: {unknown[0].message} in the compute sources") from None
        raise
    adopt_library(_workbench.load_neuron(shape, compute, CORES if library["multicore"] else 1))


def _offered(texts: Mapping[str, str], kernels: Sequence[str]) -> dict[str, str]:
    """The text that registers kernels, by the file that names them: each file is a translation unit."""
    lines: dict[str, str] = {}
    for kernel in kernels:
        word = re.compile(rf"\b{re.escape(kernel.rpartition('::')[2])}\s*\(")
        home = next((path for path, text in texts.items() if word.search(text)), next(iter(texts)))
        lines[home] = lines.get(home, "") + f'm.def("{kernel}", &{kernel});\n'
    return {path: f"PYBIND11_MODULE(kernels, m) {{\n{text}}}\n" for path, text in lines.items()}


def _compile(library: Mapping[str, Any], part: str, more: Mapping[str, str], verbose: bool) -> _workbench.Module:
    """Compiles the texts of a part; `more` follows some of them."""
    source = "".join(f'#include "{text}"\n' for text in library[part])
    behind = {f"{_OFFERED} in {path}": text for path, text in more.items()}
    texts = {
        path: text + (f'\n#include "{_OFFERED} in {path}"\n' if path in more else "")
        for path, text in library[part].items()
    }
    headers = {**library[f"{part}_headers"], **texts, **behind}
    defines = [(str(key), str(value)) for key, value in library["defines"]]
    made = _workbench.compile_source(source, name=library["name"], defines=defines, headers=headers, units=True)
    for warning in made.warnings if verbose else ():
        print(warning)
    return made
