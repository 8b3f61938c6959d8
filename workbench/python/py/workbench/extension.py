"""`wb.load_inline` and `wb.load`: torch's extensions, without a compiler."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any, Iterable, Mapping, Sequence

from . import _workbench
from ._compile import Options, collect_headers, parse_options
from ._workbench import Module
from .errors import CompileError, make_argument_error

__all__ = ["load", "load_inline"]

# Libraries that every program here has, or that a CPU launch does not need.
_KNOWN_LIBRARIES = re.compile(r"-l(cudart|cudart_static|cuda|m|stdc\+\+|c|pthread|dl|rt|nvrtc)|-L.*|-Wl,.*")


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
    sycl_sources: str | Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    with_sycl: bool | None = None,
    strict_device: bool = False,
) -> ModuleType:
    """Compiles C++ and CUDA sources given as text, as `torch.utils.cpp_extension.load_inline` does.

    `functions` names what the module offers, host functions or kernels (launched as `m.k[grid, block](...)`), with docstrings where
    it is a dict; None offers what the sources register (`PYBIND11_MODULE`, `PyMODINIT_FUNC`), or else everything. Operators of a
    `TORCH_LIBRARY` are in `wb.ops`, and in `torch.ops` where torch is loaded; `is_python_module=False` changes nothing: a
    module comes back as well.
    Flags are honoured (`-D`, `-I`), met by exact arithmetic (`-O3`, `--use_fast_math`), or an error. Nothing is written to
    `build_directory`; `with_cuda`, `keep_intermediates`, `use_pch`, `no_implicit_headers` and `with_pytorch_error_handling` change nothing. Messages call the texts `main.cpp` and `cuda.cu`, as torch does.

    Host functions see host arrays on the device that they are written for: `x.is_cuda()` holds in one that is registered for CUDA, and
    in one of a text with kernels. With `strict_device` host arrays are on the CPU.

    Raises CompileError with every diagnostic, and ArgumentError for what cannot be honoured.

    >>> import workbench as wb
    >>> m = wb.load_inline(name="ext", cpp_sources="int add_one(int x) { return x + STEP; }",
    ...                    functions=["add_one"], extra_cflags=["-O3", "-DSTEP=1"])
    >>> m.add_one(3)
    4
    """
    _refuse(name, extra_ldflags, sycl=sycl_sources or with_sycl or extra_sycl_cflags)
    cpp, cuda = _join(cpp_sources), _join(cuda_sources)
    parsed = _flags(extra_cflags, extra_cuda_cflags, bool(cpp.strip() and cuda.strip()))
    wanted = _wanted(functions)
    kernels = [f for f in wanted if _is_kernel(f, cpp + "\n" + cuda)]
    bound = {f: doc for f, doc in wanted.items() if f not in kernels}
    texts = {"main.cpp": cpp, "cuda.cu": cuda, "functions": _registration(bound)}
    folders = [*parsed.include_dirs, *_folders(extra_include_paths)]
    try:
        compiled = _compiled(name, texts, folders, parsed.defines, strict_device, verbose)
    except CompileError as error:
        unknown = [d for d in error.diagnostics if d.file == "functions"]
        if unknown and len(unknown) == len([d for d in error.diagnostics if d.severity == "error"]):
            names = ", ".join(f"`{f}`" for f in bound)
            raise make_argument_error(f"functions: {unknown[0].message} (asked for: {names})") from None
        raise
    return _python_module(name, compiled, None if functions is None else wanted)


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
) -> ModuleType:
    """Compiles C++ and CUDA source files, as `torch.utils.cpp_extension.load` does, and offers what they register.

    `sources` are paths, each a translation unit; but macros that one defines are seen by those after it. Their `#include`s of quoted files are looked for beside each source and in `extra_include_paths`. Called again
    after a file has changed, it runs the new code. Options are as for `load_inline`; `is_standalone` cannot be honoured.

    Raises FileNotFoundError, CompileError with every diagnostic, and ArgumentError for what cannot be honoured.

    >>> import pathlib, tempfile, workbench as wb
    >>> source = pathlib.Path(tempfile.mkdtemp(), "ext.cpp")
    >>> _ = source.write_text("int twice(int x) { return 2 * x; }")
    >>> wb.load("ext", [str(source)]).twice(4)
    8
    """
    _refuse(name, extra_ldflags, sycl=with_sycl or extra_sycl_cflags)
    if is_standalone:
        raise make_argument_error("is_standalone=True cannot be honoured: no program is built")
    paths = [Path(p) for p in ([sources] if isinstance(sources, (str, Path)) else sources)]
    if not paths:
        raise make_argument_error("sources is empty; it must name a file at least")
    texts = {str(path): path.read_text(encoding="utf-8", errors="replace") for path in paths}
    parsed = _flags(extra_cflags, extra_cuda_cflags, both=True)
    folders = [*dict.fromkeys(path.parent for path in paths), *parsed.include_dirs, *_folders(extra_include_paths)]
    compiled = _compiled(name, texts, folders, parsed.defines, strict_device, verbose)
    return _python_module(name, compiled, None)


def _refuse(name: str, ldflags: Iterable[str] | None, sycl: Any) -> None:
    """What cannot be honoured."""
    if not isinstance(name, str) or not name:
        raise make_argument_error(f"name is a str, got {name!r}")
    if sycl:
        raise make_argument_error("SYCL sources cannot be honoured; write them as CUDA")
    for flag in ldflags or ():
        if not _KNOWN_LIBRARIES.fullmatch(flag):
            raise make_argument_error(f"linker flag `{flag}` cannot be honoured: nothing is linked; put the code in the source")


def _flags(cflags: Sequence[str] | None, cuda_cflags: Sequence[str] | None, both: bool) -> Options:
    """Flags of two compilers for one text; `both`: there are sources of both kinds."""
    ours, theirs = list(cflags or ()), list(cuda_cflags or ())
    if both and ours and theirs and _defines(ours) != _defines(theirs):
        raise make_argument_error(
            "extra_cflags and extra_cuda_cflags define different macros, but both sources are one text here; "
            "give both the same -D flags"
        )
    return parse_options([*ours, *(f for f in theirs if f not in ours)], "cpu")


def _folders(paths: str | Sequence[str] | None) -> list[Path]:
    return [Path(p) for p in ([paths] if isinstance(paths, (str, Path)) else paths or ())]


def _compiled(
    name: str,
    texts: Mapping[str, str],
    folders: Sequence[Path],
    defines: Sequence[tuple[str, str]],
    strict_device: bool,
    verbose: bool,
) -> Module:
    """Compiles texts as translation units of one program; they are headers, so that a message names the line of the source given."""
    headers = dict(texts)
    collect_headers("", folders, headers)
    source = "".join(f'#include "{part}"\n' for part in texts)
    defines = [*defines, ("TORCH_EXTENSION_NAME", name)]
    compiled = _workbench.compile_source(source, "cpu", name, defines, headers, [], None, None, strict_device, True)
    if verbose:
        for warning in compiled.warnings:
            print(warning)
    return compiled


def _python_module(name: str, compiled: Module, wanted: Iterable[str] | None) -> ModuleType:
    """What is imported: all that a text offers, or what was asked for."""
    module = ModuleType(name, compiled.doc or f"kernels and host functions of the inline extension `{name}`")
    module.__dict__["__workbench__"] = compiled
    for offered in [*compiled.kernels, *compiled.host_functions] if wanted is None else wanted:
        try:
            module.__dict__[offered] = compiled[offered]
        except KeyError as error:
            raise make_argument_error(f"functions: {error.args[0]}") from None
    return module


def _is_kernel(name: str, text: str) -> bool:
    """Whether a text declares a kernel of a name, and no host function of that name (a namespace may hold the kernel)."""
    if not re.search(rf"__global__[^;{{}}()]*(\([^()]*\)[^;{{}}()]*)?\b{re.escape(name)}\s*\(", text):
        return False
    heads = re.finditer(rf"(?:^|[;}}\n])([^;{{}}()#]*)\b{re.escape(name)}\s*\([^;{{}}]*\)\s*[;{{]", text)
    return not any(re.search(r"\w", h[1]) and not re.search(r"__global__|\breturn\b|=|<<<", h[1]) for h in heads)


def _registration(functions: Mapping[str, str]) -> str:
    """What torch writes behind the sources for `functions`: a pybind11 module that offers them."""
    if not functions:
        return ""
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
    return {f: f for f in functions}


def _join(sources: str | Sequence[str] | None) -> str:
    if sources is None:
        return ""
    return sources if isinstance(sources, str) else "\n".join(sources)


def _defines(flags: Iterable[str]) -> list[tuple[str, str]]:
    return sorted(parse_options([f for f in flags if f.startswith("-D")], "cpu").defines)

