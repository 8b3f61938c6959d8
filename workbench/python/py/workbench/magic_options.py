"""Options of the magics: their parsers, sizes and lists. A mistake in a line is one line of error."""

from __future__ import annotations

import argparse
import functools
import re
import shlex
from typing import Any, Callable, NoReturn, TypeVar, cast

from IPython.core.error import UsageError

from .errors import ArgumentError

__all__ = ["Parser", "extents", "kernel_parser", "listing_parser", "macro_of", "parse_sizes", "split_line", "split_list", "usage"]

_SIZE = re.compile(r"(\d+)([kKmMgG]?)")
_Method = TypeVar("_Method", bound=Callable[..., Any])
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}




class _HelpShown(Exception):
    """The help asked for has been printed: nothing is left to do."""


class Parser(argparse.ArgumentParser):
    """Options of a magic: a mistake is a usage error of the cell, never an exit; `--help` prints the help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog=prog, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _HelpShown


def usage(magic: str) -> Callable[[_Method], _Method]:
    """A mistake in a magic's line is one line of error, not a traceback of ours."""

    def wrap(method: _Method) -> _Method:
        @functools.wraps(method)
        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            except _HelpShown:
                return None
            except ArgumentError as error:
                raise UsageError(f"{magic}: {error}") from None

        return cast(_Method, run)

    return wrap


def kernel_parser() -> Parser:
    """The options of `%%kernel`."""
    parser = Parser("%%kernel")
    parser.add_argument("--op", metavar="SCHEMA", help="register an operator: torch's schema grammar")
    parser.add_argument("--shape", help='the shape signature, such as "x[*] -> out[*]"')
    parser.add_argument("--threads", metavar="E", help='threads of a launch, expressions over dims: "n", "cols, rows"')
    parser.add_argument("--grid", metavar="E", help="blocks of a launch, instead of --threads")
    parser.add_argument("--block", metavar="B", help="threads of a block: 256, or 16,16")
    parser.add_argument("--shared-mem", metavar="E", help="bytes of dynamic shared memory of a block, an expression over dims")
    parser.add_argument("--kernel", metavar="K", help="which kernel or host function the operator runs")
    parser.add_argument("--reference", metavar="EXPR", help="what the operator is checked against")
    parser.add_argument("--check", nargs="?", const="", metavar="EXPR", help="check it in this cell, against EXPR or its reference")
    parser.add_argument("--bench", nargs="*", metavar="NAME=EXPR", help="time it in this cell, if its check passed, beside others or its reference")
    parser.add_argument("--args", metavar="EXPRS", help='arguments of --check and --bench: "x, 2.0"; without them random arrays of one dimension')
    parser.add_argument("--sizes", metavar="S", help="sizes of --bench: 1k:1M")
    parser.add_argument("--make", metavar="EXPR", help="a callable that makes the arguments of --bench for a size")
    parser.add_argument("--rtol", type=float, metavar="R", help="relative tolerance of --check")
    parser.add_argument("--atol", type=float, metavar="A", help="absolute tolerance of --check")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds after which a launch is stopped")
    parser.add_argument("--name", metavar="M", help="land one module of this name instead of every kernel")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="N=V", help="define a macro")
    parser.add_argument("-I", dest="folders", action="append", default=[], metavar="DIR", help="search headers in a folder")
    parser.add_argument("--option", dest="options", action="append", default=[], metavar="O", help="an option of the compiler: --option=--fmad=false")
    parser.add_argument("--arch", metavar="A", help="the GPU's architecture: sm_90")
    parser.add_argument("--strict-device", action="store_true", help="host functions see host arrays on the CPU")
    parser.add_argument("--unified-memory", action="store_true", help="kernels may touch the host's memory")
    return parser


def listing_parser() -> Parser:
    """The options of `%kernel_ir`."""
    parser = Parser("%kernel_ir")
    parser.add_argument("name", help="a kernel, an operator or a module: a name, or an expression")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--asm", action="store_true", help="machine code of this CPU, for one thread")
    what.add_argument("--c", action="store_true", help="the C that the wide tier compiles for blocks of a shape")
    what.add_argument("--tiers", action="store_true", help="the code of each tier for blocks of a shape, and what keeps it from the next")
    parser.add_argument("--block", metavar="B", help="threads of a block for --c and --tiers: 256, or 16,16; an operator has its own")
    return parser


def parse_sizes(text: str) -> list[int]:
    """Sizes as `1k:1M` (doubling), `1k:1M:4` (times 4) or `1000,5000`; k, M and G are powers of 1024.

    >>> parse_sizes("1k:8k")
    [1024, 2048, 4096, 8192]
    """

    def number(word: str) -> int:
        match = _SIZE.fullmatch(word.strip())
        if match is None:
            raise UsageError(f"`{word}` is no size; write one such as 4096, 64k or 1M")
        return int(match[1]) * _UNITS[match[2].lower()]

    if ":" not in text:
        return [number(word) for word in text.split(",")]
    parts = text.split(":")
    if len(parts) > 3:
        raise UsageError(f"`{text}` is no range of sizes; write first:last or first:last:factor")
    first, last, factor = number(parts[0]), number(parts[1]), number(parts[2]) if len(parts) == 3 else 2
    if first < 1 or last < first or factor < 2:
        raise UsageError(f"`{text}` is an empty range of sizes")
    sizes = [first]
    while sizes[-1] * factor <= last:
        sizes.append(sizes[-1] * factor)
    return sizes


def split_line(line: str, magic: str) -> list[str]:
    """The words of a magic's line, as a shell splits them."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{magic}: {error} in `{line.strip()}`") from None


def macro_of(text: str) -> tuple[str, str]:
    """The name and the replacement of `-D`, "1" where there is none."""
    name, equals, value = text.partition("=")
    return name, value if equals else "1"


def split_list(text: str) -> list[str]:
    """The parts of a list with commas, which count outside of brackets only.

    >>> split_list("max(m, n), 2")
    ['max(m, n)', '2']
    """
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def extents(text: str | None, option: str) -> Any:
    """Extents of a launch as `wb.op` takes them: a number, an expression, or a tuple of them. None stays None."""
    if text is None:
        return None
    parts = [int(part) if part.isdecimal() else part for part in split_list(text)]
    if "" in parts or len(parts) > 3:
        raise UsageError(f"{option} {text}: one to three extents are wanted, with commas between them")
    if option == "--block" and not all(isinstance(part, int) for part in parts):
        raise UsageError(f"{option} {text}: a block has numbers of threads: 256, or 16,16")
    return parts[0] if len(parts) == 1 else tuple(parts)
