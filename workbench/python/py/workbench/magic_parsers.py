"""The options of every magic, by its name: what the magics read their lines with, and what completion and help are made of."""

from __future__ import annotations

from typing import Callable

from .magic_options import SIZES, add_counts, add_equal_nan, Fill, kernel_parser, listing_parser, Parser, parse_sizes
from .magic_printf import printf_parser

__all__ = ["PARSERS", "bench_parser", "check_parser", "gpu_parser", "history_parser", "time_parser"]


def check_parser(fill: Fill | None = None) -> Parser:
    """The options of `%kernel_check`."""
    parser = Parser("%kernel_check", "Checks an operator against its reference.", "OP, ARG and EXPR", fill)
    parser.add_argument("op", type=parser.expression, metavar="OP", help="the operator")
    arguments = "an argument of the call, or name=argument; without any, arrays get some 4,099 random numbers, in the shapes of the signature, and scalars 1"
    parser.add_argument("args", nargs="*", type=parser.expression, default=[], metavar="ARG", help=arguments)
    parser.add_argument("--reference", type=parser.expression, metavar="EXPR", help="a callable to check against, instead of the operator's own")
    parser.add_argument("--rtol", type=parser.number, metavar="R", help="relative tolerance; --atol belongs to it")
    parser.add_argument("--atol", type=parser.number, metavar="A", help="absolute tolerance; --rtol belongs to it")
    add_equal_nan(parser, "two NaNs are equal")
    return parser


def bench_parser(fill: Fill | None = None) -> Parser:
    """The options of `%kernel_bench`."""
    parser = Parser("%kernel_bench", "Times an operator over sizes, beside others or its reference.", "OP, EXPR and E", fill)
    parser.add_argument("op", type=parser.expression, metavar="OP", help="the operator")
    parser.add_argument("others", nargs="*", type=parser.expression, default=[], metavar="NAME=EXPR", help="a callable to time beside it, by its name")
    parser.add_argument(
        "--sizes", type=lambda word: parse_sizes(parser.text(word)), default=SIZES, metavar="S", help="1k:1M (doubling), 1k:1M:4 or 1000,5000"
    )
    parser.add_argument("--make", type=parser.expression, metavar="EXPR", help="a callable that makes the arguments for a size, instead of random arrays")
    add_counts(parser)
    return parser


def gpu_parser(fill: Fill | None = None) -> Parser:
    """The options of `%kernel_gpu`."""
    parser = Parser("%kernel_gpu", "Shows the PTX that NVIDIA's compiler makes of a kernel, or of a module; it needs NVRTC and no GPU.", "NAME", fill)
    parser.add_argument("name", type=parser.expression, metavar="NAME", help="a kernel, an operator or a module: a name, or an expression")
    parser.add_argument("--arch", type=parser.text, metavar="A", help="the GPU's architecture: sm_90")
    return parser


def time_parser(fill: Fill | None = None) -> Parser:
    """The options of `%timekernel`."""
    does = "Times STATEMENT, which is the rest of the line, as Python has it: the median of a call and its 95 % interval."
    shape = "%%timekernel [-h] [--seconds S] [--flush-cache] [-o] STATEMENT"
    parser = Parser("%timekernel", does, "STATEMENT", fill, usage=shape)
    parser.add_argument("--seconds", type=parser.number, default=0.2, metavar="S", help="how long to measure at most; 200 samples end it before")
    parser.add_argument("--flush-cache", action="store_true", help="empty the caches before each call: 6 calls at least, each after a write of twice the last-level cache")
    parser.add_argument("-o", dest="wanted", action="store_true", help="give the report of the benchmark")
    return parser


def history_parser(fill: Fill | None = None) -> Parser:
    """The options of `%kernel_history`."""
    does = "Shows every text that a name stood for, each with its difference from the one before; of an operator its versions, with checks and times."
    parser = Parser("%kernel_history", does, "", fill)
    parser.add_argument("name", nargs="?", type=parser.text, metavar="NAME", help="a kernel, an operator or a module that a cell has made")
    return parser


#: The parsers by the names of the magics, as they stand in a cell.
PARSERS: dict[str, Callable[[], Parser]] = {
    "%%kernel": kernel_parser,
    "%kernel_check": check_parser,
    "%kernel_bench": bench_parser,
    "%kernel_history": history_parser,
    "%kernel_printf": printf_parser,
    "%kernel_ir": listing_parser,
    "%kernel_gpu": gpu_parser,
    "%timekernel": time_parser,
}
