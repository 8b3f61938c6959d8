"""Options of compilers and linkers: those that change the meaning of a text, and those that exact arithmetic on this machine satisfies anyway."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Iterable, Mapping, Sequence, TypedDict

from .errors import make_argument_error

__all__ = ["Options", "check_linker_flags", "hold_folders", "parse_options", "plain_device", "split_flags"]

# Options for speed, place or verbosity of a compilation, or that permit less exact arithmetic: the CPU's exact result
# satisfies them all. They follow the families in GCC's and nvcc's manuals, with all of GCC's `-f` and `-m` except those below.
_HARMLESS = re.compile(
    r"""-O([0-3sgz]|fast)? | /O\w | -g\w* | -G | -w | -W.* | -pedantic(-errors)? | -pipe | -save-temps | -pg | -fPIC | -pthread | -c | -v
    | -l.* | -L.* | -t=?\d*
    | --?(std=(c|gnu)\+\+(\d\d|[0-2][a-z]) | lineinfo | generate-line-info | device-debug | debug | profile
        | use_fast_math | fast-math | (prec-div|prec-sqrt|ftz)=(true|false) | maxrregcount=\d+ | expt-(relaxed-constexpr|extended-lambda)
        | extended-lambda | (gencode|arch|code|gpu-architecture|gpu-code|generate-code)=.* | (dc|device-c|rdc=.*|relocatable-device-code=.*)
        | (ptxas|compiler|linker|nvlink|fatbin)-options=.* | X(ptxas|compiler|linker|cudafe|fatbin|nvlink)=.*
        | allow-unsupported-compiler | disable-warnings | keep | keep-dir=.* | split-compile=\d+ | threads=?\d* | time(=.*)? | objdir-as-tempdir
        | dlto | default-stream=.* | cudart=.* | ccbin=.* | compiler-bindir=.* | res(ource)?-usage | source-in-ptx | Werror=.* | ewp
        | extra-device-vectorization | compress-(all|mode=.*) | forward-unknown(-to-host-compiler|-opts) | static-global-template-stub=.*
        | diag-(suppress|warn|error|remark)=.* | display-error-number | restrict | verbose)
    | -f(?!(un)?signed-(char|bitfields)$|short-(enums|wchar)$|pack-struct|(input|exec|wide-exec)-charset|plugin|abi-)[-\w=.+,]+
    | -m(?!32$|x32$|16$|abi=|long-double|iamcu)[-\w=.+,]+""",
    re.VERBOSE,
)
_WITH_VALUE = re.compile(
    r"""--?(gencode|arch|code|std|threads|fmad|prec-div|prec-sqrt|ftz|maxrregcount|rdc|relocatable-device-code|ccbin|compiler-bindir|keep-dir
    |split-compile|default-stream|cudart|diag-(suppress|warn|error|remark)|generate-code|gpu-architecture|gpu-code
    |X(ptxas|compiler|linker|cudafe|fatbin|nvlink)|(ptxas|compiler|linker|nvlink|fatbin)-options) | -t""",
    re.VERBOSE,
)
_FMAD = re.compile(r"--?fmad=(true|false)")
# Libraries that every program here has (their functions run here, or are named as missing), and options for linking.
_KNOWN_LINKER_FLAGS = re.compile(
    r"""-l(cudart|cudart_static|cudadevrt|cuda|nvrtc|nvToolsExt|cu(blas|blasLt|dnn|rand|fft|sparse|solver|file)\w* | nccl
    |c10\w*|torch\w*|m|stdc\+\+|stdc\+\+fs|c|gcc|pthread|dl|rt|gomp|omp|iomp5|z|tbb|mkl\w*|openblas|blas|lapack|python[\d.]*)
    | -L.* | -Wl,.* | -O.? | -g | -s | -shared | -pthread | -fopenmp | -fPIC | -flto | -rdynamic | -static-lib\w+""",
    re.VERBOSE,
)


def split_flags(flags: str | Iterable[str] | None, what: str) -> list[str]:
    """A list of flags as torch passes them on: blank ones are none, and one with blanks inside is several.

    >>> split_flags(["", "-O3 -Xptxas -v", "-DNAME='a b'"], "extra_cflags")
    ['-O3', '-Xptxas', '-v', '-DNAME=a b']
    """
    if isinstance(flags, str):
        raise make_argument_error(f'{what} is a list of str, got the str {flags!r}; try ["{flags}"]')
    parts: list[str] = []
    for flag in flags or ():
        if not isinstance(flag, str):
            raise make_argument_error(f"{what} is a list of str, got {flag!r} in it")
        try:
            parts += shlex.split(flag)
        except ValueError as error:
            raise make_argument_error(f"{what}: `{flag}`: {str(error).lower()}") from None
    return parts


def plain_device(device: str) -> str:
    """A device as the native half knows it: "cuda:0", as `wb.devices()` calls the first GPU, is "cuda"."""
    return "cuda" if device == "cuda:0" else device


class CompileOptions(TypedDict, total=False):
    """Options of the native half's `compile_source`, which checks them; `workbench/runtime/options.rs` documents each."""

    device: str
    name: str
    defines: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    options: Sequence[str]
    arch: str | None
    fmad: bool | None
    strict_device: bool
    unified_memory: bool
    units: bool


class Options:
    """A list of compiler options, taken apart."""

    def __init__(self) -> None:
        self.defines: list[tuple[str, str]] = []
        self.include_dirs: list[Path] = []
        self.rest: list[str] = []
        self.arch: str | None = None
        self.fmad: bool | None = None


def parse_options(options: Iterable[str], device: str) -> Options:
    """Takes options apart; one that would change the meaning on this device and cannot be honoured is an error."""
    if isinstance(options, str):
        raise make_argument_error(f'options is a list of str, got the str {options!r}; try ["{options}"]')
    parsed = Options()
    items = iter(options)
    for item in items:
        if not isinstance(item, str):
            raise make_argument_error(f"options is a list of str, got {item!r} in it")
        if item.startswith(("-D", "-I", "-U", "-isystem")):
            flag = "-isystem" if item.startswith("-isystem") else item[:2]
            value = item[len(flag) :].strip() or next(items, "")
            if flag == "-U":
                parsed.defines = [pair for pair in parsed.defines if pair[0] != value]
            elif flag == "-D":
                key, equals, text = value.partition("=")
                parsed.defines.append((key, text if equals else "1"))
            else:
                parsed.include_dirs.append(Path(value))
            continue
        if _WITH_VALUE.fullmatch(item):
            item = f"{item}={next(items, '')}"
        fmad = _FMAD.fullmatch(item)
        if fmad:
            parsed.fmad = fmad[1] == "true"
        elif device == "cuda":
            parsed.rest.append(item)
        elif not _HARMLESS.fullmatch(item):
            blank = "; one option a str" if " " in item else ""
            raise make_argument_error(f"option `{item}` is not known to the CPU and may change what the text means{blank}")
    return parsed


def hold_folders(folders: Iterable[Path]) -> None:
    """Raises ArgumentError for a folder of headers that there is none of."""
    for folder in folders:
        if not folder.is_dir():
            raise make_argument_error(f"-I {folder}: {'this is a file' if folder.exists() else 'there is no such folder'}; name a folder with headers")


def check_linker_flags(flags: Iterable[str]) -> None:
    """Refuses libraries that are not there."""
    for flag in flags:
        if not _KNOWN_LINKER_FLAGS.fullmatch(flag):
            raise make_argument_error(f"linker flag `{flag}` cannot be honoured: nothing is linked; put the code in the source")
