"""`wb.load_inline`: torch's inline extensions, without a compiler."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Iterable, Mapping, Sequence

from . import _workbench
from ._compile import collect_headers, parse_options
from .errors import CompileError, make_argument_error

__all__ = ["load_inline"]

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
) -> ModuleType:
    """Compiles C++ and CUDA sources given as text, as `torch.utils.cpp_extension.load_inline` does.

    `functions` names what the module offers, host functions or kernels (launched as `m.k[grid, block](...)`), with docstrings where
    it is a dict; None offers what the sources register (`PYBIND11_MODULE`), or else everything. Flags are honoured (`-D`, `-I`), met by exact arithmetic (`-O3`, `--use_fast_math`), or an
    error. Nothing is written to `build_directory`. Messages call the texts `main.cpp` and `cuda.cu`, as torch does.

    Raises CompileError with every diagnostic, and ArgumentError for what cannot be honoured.

    >>> import workbench as wb
    >>> m = wb.load_inline(name="ext", cpp_sources="int add_one(int x) { return x + STEP; }",
    ...                    functions=["add_one"], extra_cflags=["-O3", "-DSTEP=1"])
    >>> m.add_one(3)
    4
    """
    if not isinstance(name, str) or not name:
        raise make_argument_error(f"name is a str, got {name!r}")
    if sycl_sources or with_sycl or extra_sycl_cflags:
        raise make_argument_error("SYCL sources cannot be honoured; write them as CUDA")
    if not is_python_module:
        raise make_argument_error("is_python_module=False cannot be honoured: torch is not loaded into; use wb.op")
    for flag in extra_ldflags or ():
        if not _KNOWN_LIBRARIES.fullmatch(flag):
            raise make_argument_error(f"linker flag `{flag}` cannot be honoured: nothing is linked; put the code in the source")
    cpp, cuda = _join(cpp_sources), _join(cuda_sources)
    cflags, cuda_cflags = list(extra_cflags or ()), list(extra_cuda_cflags or ())
    if _defines(cflags) != _defines(cuda_cflags) and cpp.strip() and cuda.strip() and cflags and cuda_cflags:
        raise make_argument_error(
            "extra_cflags and extra_cuda_cflags define different macros, but both sources are one text here; "
            "give both the same -D flags"
        )
    parsed = parse_options([*cflags, *(f for f in cuda_cflags if f not in cflags)], "cpu")
    paths = [extra_include_paths] if isinstance(extra_include_paths, str) else list(extra_include_paths or ())
    wanted = _wanted(functions)
    kernels = [f for f in wanted if _is_kernel(f, cpp + "\n" + cuda)]
    bound = {f: doc for f, doc in wanted.items() if f not in kernels}
    headers = {"main.cpp": cpp, "cuda.cu": cuda, "functions": _registration(bound)}
    collect_headers("", [*parsed.include_dirs, *map(Path, paths)], headers)
    # As headers, so that a message names the line of the source that was given.
    source = "".join(f'#include "{name}"\n' for name in ("main.cpp", "cuda.cu", "functions"))
    defines = [*parsed.defines, ("TORCH_EXTENSION_NAME", name)]
    try:
        compiled = _workbench.compile_source(source, "cpu", name, defines, headers, [], None, None)
    except CompileError as error:
        unknown = [d for d in error.diagnostics if d.file == "functions"]
        if unknown and len(unknown) == len([d for d in error.diagnostics if d.severity == "error"]):
            names = ", ".join(f"`{f}`" for f in bound)
            raise make_argument_error(f"functions: {unknown[0].message} (asked for: {names})") from None
        raise
    if verbose:
        for warning in compiled.warnings:
            print(warning)
    module = ModuleType(name, compiled.doc or f"kernels and host functions of the inline extension `{name}`")
    module.__dict__["__workbench__"] = compiled
    for offered in [*wanted] if functions is not None else [*compiled.kernels, *compiled.host_functions]:
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

