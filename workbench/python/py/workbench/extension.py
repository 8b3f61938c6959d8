"""`wb.load_inline` and `wb.load`: torch's extensions, without a compiler."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any, Iterable, Mapping, Sequence

from . import _workbench
from ._calls import clear_calls
from ._compile import collect_headers
from ._options import Options, check_linker_flags, parse_options, split_flags
from ._workbench import Module
from .errors import CompileError, make_argument_error

__all__ = ["load", "load_inline"]

# Suffixes of the sources that torch gives to nvcc.
_OF_NVCC = (".cu", ".cuh")

# The texts of `load_inline`, and the headers after them that register functions.
_REGISTERED = {"main.cpp": "functions", "cuda.cu": "functions of cuda.cu"}

@clear_calls
def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: str | Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    *,
    no_implicit_headers: bool = False,
    gil_not_used: bool = False,
    sycl_sources: str | Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    with_sycl: bool | None = None,
    strict_device: bool = False,
    unified_memory: bool = False,
    timeout: float | None = None,
) -> ModuleType:
    """Compiles C++ and CUDA sources given as text, as `torch.utils.cpp_extension.load_inline` does.

    `functions` names what the module offers, host functions or kernels (launched as `m.k[grid, block](...)`),
    with docstrings if it is a dict; None offers everything that the sources register (`PYBIND11_MODULE`,
    `PyMODINIT_FUNC`), or else everything. Operators of a `TORCH_LIBRARY` are in `wb.ops`, and in `torch.ops`
    where torch is loaded; `is_python_module=False` changes nothing: a module comes back as well.
    Flags are honoured (`-D` and `-U`, each for the texts of its compiler, `-I`, nvcc's `-fmad`), met by exact arithmetic (`-O3`, `--use_fast_math`), or an
    error. Nothing is written to `build_directory`; `with_cuda`, `keep_intermediates`, `use_pch`, `no_implicit_headers`, `gil_not_used` and
    `with_pytorch_error_handling` change nothing. Messages call the texts `main.cpp` and `cuda.cu`, as torch does.

    Host functions see host arrays on the device that they are written for: `x.is_cuda()` holds in one that is registered for CUDA, and
    in one of a text with kernels. With `strict_device` host arrays are on the CPU.
    With `unified_memory` kernels may touch the host's memory, as for `wb.compile`; `timeout` is its as well.

    Raises CompileError with every diagnostic, and ArgumentError for options that cannot be honoured.

    >>> import workbench as wb
    >>> m = wb.load_inline(name="ext", cpp_sources="int add_one(int x) { return x + STEP; }",
    ...                    functions=["add_one"], extra_cflags=["-O3", "-DSTEP=1"])
    >>> m.add_one(3)
    4
    """
    _refuse(name, extra_ldflags, sycl=sycl_sources or with_sycl or extra_sycl_cflags)
    cpp, cuda = _join(cpp_sources), _join(cuda_sources)
    flags = _Flags(extra_cflags, extra_cuda_cflags)
    wanted = _wanted(functions)
    kernels = [f for f in wanted if _is_kernel(f, cpp + "\n" + cuda)]
    bound = {f: doc for f, doc in wanted.items() if f not in kernels}
    texts, registrations = _units(cpp, cuda, bound)
    defines = {"main.cpp": flags.cpp.defines, "cuda.cu": flags.cuda.defines}
    folders = [*flags.include_dirs, *_folders(extra_include_paths)]
    options = {"fmad": flags.fmad, "strict_device": strict_device, "unified_memory": unified_memory, "timeout": timeout}
    try:
        compiled = _compiled(name, texts, folders, defines, verbose, registrations, **options)
    except CompileError as error:
        unknown = [d for d in error.diagnostics if d.file in registrations]
        if unknown and len(unknown) == len([d for d in error.diagnostics if d.severity == "error"]):
            names = ", ".join(f"`{f}`" for f in bound)
            raise make_argument_error(f"functions: {unknown[0].message} (asked for: {names})") from None
        raise
    return _python_module(name, compiled, None if functions is None else wanted)


@clear_calls
def load(
    name: str,
    sources: str | Sequence[str],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: str | Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
    *,
    extra_sycl_cflags: Sequence[str] | None = None,
    with_sycl: bool | None = None,
    strict_device: bool = False,
    unified_memory: bool = False,
    timeout: float | None = None,
) -> ModuleType:
    """Compiles C++ and CUDA source files, as `torch.utils.cpp_extension.load` does, and offers everything that they register.

    `sources` are paths, each a translation unit: compiled alone, and linked with the others by external names. Their `#include`s of quoted files are looked for beside the file that asks and in `extra_include_paths`. Called again
    after a file has changed, it runs the new code. Options are as for `load_inline`; `is_standalone` cannot be honoured.

    Raises FileNotFoundError, CompileError with every diagnostic, and ArgumentError for options that cannot be honoured.

    >>> import pathlib, tempfile, workbench as wb
    >>> source = pathlib.Path(tempfile.mkdtemp(), "ext.cpp")
    >>> _ = source.write_text("int twice(int x) { return 2 * x; }")
    >>> wb.load("ext", [str(source)]).twice(4)
    8
    """
    _refuse(name, extra_ldflags, sycl=with_sycl or extra_sycl_cflags)
    if is_standalone:
        raise make_argument_error("is_standalone=True cannot be honoured: no program is built")
    paths = [Path(p).absolute() for p in ([sources] if isinstance(sources, (str, Path)) else sources)]
    if not paths:
        raise make_argument_error("sources is empty; it must name a file at least")
    texts = {str(path): path.read_text(encoding="utf-8", errors="replace") for path in paths}
    flags = _Flags(extra_cflags, extra_cuda_cflags)
    # An include in angle brackets that lies beside a source is found last; a compiler would not find it at all.
    folders = [*flags.include_dirs, *_folders(extra_include_paths), *dict.fromkeys(path.parent for path in paths)]
    defines = {str(path): (flags.cuda if path.suffix in _OF_NVCC else flags.cpp).defines for path in paths}
    options = {"fmad": flags.fmad, "strict_device": strict_device, "unified_memory": unified_memory, "timeout": timeout}
    compiled = _compiled(name, texts, folders, defines, verbose, **options)
    return _python_module(name, compiled, None)


def _refuse(name: str, ldflags: Iterable[str] | None, sycl: Any) -> None:
    """Refuses options that cannot be honoured."""
    if not isinstance(name, str) or not name:
        raise make_argument_error(f"name is a str, got {name!r}")
    if sycl:
        raise make_argument_error("SYCL sources cannot be honoured; write them as CUDA")
    check_linker_flags(split_flags(ldflags, "extra_ldflags"))


class _Flags:
    """The flags of two compilers, each for its own texts."""

    def __init__(self, cflags: Sequence[str] | None, cuda_cflags: Sequence[str] | None) -> None:
        self.cpp: Options = parse_options(split_flags(cflags, "extra_cflags"), "cpu")
        self.cuda: Options = parse_options(split_flags(cuda_cflags, "extra_cuda_cflags"), "cpu")
        self.include_dirs = [*self.cpp.include_dirs, *self.cuda.include_dirs]
        self.fmad = self.cuda.fmad


def _folders(paths: str | Sequence[str] | None) -> list[Path]:
    return [Path(p) for p in ([paths] if isinstance(paths, (str, Path)) else paths or ())]


def _compiled(
    name: str,
    texts: Mapping[str, str],
    folders: Sequence[Path],
    defines: Mapping[str, Sequence[tuple[str, str]]],
    verbose: bool,
    more: Mapping[str, str] = {},
    **options: Any,
) -> Module:
    """Compiles texts as translation units of one program; they are headers, so that a message names the line of the source given.
    `more` are further headers that they include, `options` are of `compile_source`."""
    headers = {**texts, **more}
    collect_headers("", folders, headers)
    source = "".join(_included(part, defines.get(part, ())) for part in texts)
    named = [("TORCH_EXTENSION_NAME", name)]
    compiled = _workbench.compile_source(source, name=name, defines=named, headers=headers, units=True, **options)
    if verbose:
        for warning in compiled.warnings:
            print(warning)
    return compiled


def _included(text: str, defines: Sequence[tuple[str, str]]) -> str:
    """A text's line in the program, between the macros for it alone."""
    before = "".join(f"#define {name} {value}\n" for name, value in defines)
    after = "".join(f"#undef {name.partition('(')[0]}\n" for name, _ in defines)
    return f'{before}#include "{text}"\n{after}'


def _python_module(name: str, compiled: Module, wanted: Iterable[str] | None) -> ModuleType:
    """The module to import: all that a text offers, or the names that are wanted."""
    module = ModuleType(name, compiled.doc or f"kernels and host functions of the inline extension `{name}`")
    module.__dict__["__workbench__"] = compiled
    for offered in [*compiled.kernels, *compiled.host_functions] if wanted is None else wanted:
        try:
            module.__dict__[offered] = compiled[offered]
        except KeyError as error:
            raise make_argument_error(f"functions: {error.args[0]}") from None

    def absent(attribute: str) -> object:
        why = ""
        if not attribute.startswith("__"):
            try:
                compiled[attribute]
            except KeyError as error:
                why = f": {error.args[0]}"
        raise AttributeError(f"module {name!r} has no attribute {attribute!r}{why}")

    module.__dict__["__getattr__"] = absent
    return module


def _is_kernel(name: str, text: str) -> bool:
    """True if a text declares a kernel of a name, and no host function of that name (a namespace may hold the kernel)."""
    if not re.search(rf"__global__[^;{{}}()]*(\([^()]*\)[^;{{}}()]*)?\b{re.escape(name)}\s*\(", text):
        return False
    heads = re.finditer(rf"(?:^|[;}}\n])([^;{{}}()#]*)\b{re.escape(name)}\s*\([^;{{}}]*\)\s*[;{{]", text)
    return not any(re.search(r"\w", h[1]) and not re.search(r"__global__|\breturn\b|=|<<<", h[1]) for h in heads)


def _units(cpp: str, cuda: str, functions: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The translation units, and the headers that register `functions`: after the C++
    text, as in torch, or after the CUDA text for functions that it alone names."""
    words = re.sub(r"//[^\n]*|/\*.*?\*/", " ", cpp, flags=re.DOTALL)
    named = {f: re.search(rf"(?<!\w){re.escape(f)}(?!\w)", words) is not None or not cuda for f in functions}
    texts, registrations = {"main.cpp": cpp, "cuda.cu": cuda}, {}
    for unit, header in _REGISTERED.items():
        wanted = {f: doc for f, doc in functions.items() if named[f] == (unit == "main.cpp")}
        if wanted:
            registrations[header] = _registration(wanted)
            texts[unit] += _behind(header)
    return texts, registrations


def _behind(header: str) -> str:
    return f'\n#include "{header}"\n'


def given_texts(headers: Mapping[str, str]) -> list[str] | None:
    """The texts that `load_inline` was given, by the headers that its module was compiled with; None if it was compiled otherwise."""
    if not _REGISTERED.keys() <= headers.keys() <= _REGISTERED.keys() | set(_REGISTERED.values()):
        return None
    return [headers[unit].removesuffix(_behind(header)) for unit, header in _REGISTERED.items()]


def _registration(functions: Mapping[str, str]) -> str:
    """The text that torch writes after the sources for `functions`: a pybind11 module that offers them."""
    lines = "".join(f"m.def({_quoted(name)}, &{name}, {_quoted(doc)});\n" for name, doc in functions.items())
    return f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{\n{lines}}}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _wanted(functions: str | Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Names with their docstrings."""
    if functions is None:
        return {}
    if isinstance(functions, str):
        return {functions: functions}
    if isinstance(functions, Mapping):
        return dict(functions)
    if not isinstance(functions, Iterable):
        raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")
    return {f: f for f in functions}


def _join(sources: str | Sequence[str] | None) -> str:
    if sources is None:
        return ""
    return sources if isinstance(sources, str) else "\n".join(sources)
