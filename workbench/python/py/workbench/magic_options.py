"""Options of the magics: their parsers, sizes and lists. A mistake in a line is one line of error.

A word of a line is either Python's (an expression: OP, ARG, EXPR) or text. In text `{...}` and `$name` are filled in with values of the
notebook, as in IPython's own magics; in expressions they are not, because braces are Python's own there.
"""

from __future__ import annotations

import argparse
import functools
import keyword
import math
import re
from typing import Any, Callable, Collection, NoReturn, Sequence, TypeVar, cast

from IPython.core.error import UsageError

from ._options import plain_device
from .description import split_list
from .errors import ArgumentError, nearest
from .magic_arguments import in_options
from .magic_tuning import parameter

__all__ = [
    "Parser", "SIZES", "add_counts", "add_equal_nan", "check_options", "extents", "kernel_parser", "listing_parser", "macro_of", "name_list", "op_name",
    "options_before", "parse_sizes", "refuse_idle", "refuse_names", "refuse_one", "split_line", "tolerances", "usage",
]

_SIZE = re.compile(r"(\d+)([kKmMgG]?)")
_Method = TypeVar("_Method", bound=Callable[..., Any])
#: The text of a word with the notebook's values filled in.
Fill = Callable[[str], str]
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
#: The beginning of a word up to a value in quotes: `NAME=`, `--option=`, `-D`, `--option=-DN=`.
_BEFORE_QUOTES = r"(?:-[DI])?(?:-{0,2}[A-Za-z_][\w-]*=)*"
_IN_DOUBLE = re.compile(rf'({_BEFORE_QUOTES})"((?:[^"\\]|\\.)*)"')
_IN_SINGLE = re.compile(rf"({_BEFORE_QUOTES})'((?:[^'\\]|\\.)*)'")
_IS_OPTION = re.compile(r"--?[A-Za-z]")
#: Options of `%%kernel` that say something about the operator of `--op`.
_OF_OPERATORS = (
    "shape", "threads", "grid", "block", "shared_mem", "kernel", "reference", "autograd", "setup_context", "saves", "differentiable",
    "check", "gradcheck", "tune", "bench", "args", "sizes", "make", "bytes", "flops", "rtol", "atol", "equal_nan",
)  # fmt: skip
#: An option at the start of the line of `%timekernel`; the minus of a number or a name is the statement's.
_TIME_OPTION = re.compile(r"(--[a-z][\w-]*(?:=\S*)?|-o|-h|--)(?:\s+|$)")
_RULE = "{...} and $name are filled in with values of the notebook"
_EXAMPLES = """
examples:
  %%kernel --op "lab::relu(Tensor x) -> Tensor" --shape "x[*] -> y[*]" --check f --bench numpy=f --sizes 1k:1M
  %%kernel --op ... --reference f --bench --sizes 1k:1M --bytes "2 * x.nbytes" --flops counted
  %%kernel --op ... --reference f --autograd backward --setup-context setup --check --gradcheck
  %%kernel --op ... --autograd wb.ops.lab.relu_backward --saves x --gradcheck "x[:50]"
  %%kernel --op ... --reference f --tune block=64,128,256 --tune PER=1,2,4 --threads "(n + {PER} - 1) / {PER}"
  %%kernel --op ... --reference f --kernel "tiled<{TILE}>" --tune TILE=8,16 --check --make f_of_size
"""


class _HelpShown(Exception):
    """The help asked for has been printed: nothing is left to do."""


class _Once(argparse.Action):
    """A value that is given once: a second one would hide the first."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        given = vars(namespace).setdefault("_given", set())
        if option_string is not None and self.dest in given:
            parser.error(f"{option_string} is there twice; give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """Options of a magic: a mistake is a usage error of the cell, never an exit; `--help` prints the help.

    `python` names the words that are Python's, for the help; `fill` gives text its values of the notebook; `examples` end the help.
    """

    def __init__(self, prog: str, does: str, python: str, fill: Fill | None = None, usage: str | None = None, examples: str = "") -> None:
        rule = f"{_RULE}, except in Python: {python}." if python else f"{_RULE}."
        rest = "" if python == "STATEMENT" else " A word with spaces stands in quotes."
        super().__init__(prog=prog, allow_abbrev=False, description=does, epilog=rule + rest, usage=usage)
        self._examples = examples
        self.register("action", None, _Once)
        self._fill = fill

    def format_help(self) -> str:
        """The help, with the examples as they are written: argparse would fill their lines."""
        return super().format_help() + self._examples

    def text(self, word: str) -> str:
        """A word of text: not empty, with the notebook's values filled in."""
        return self.filled(word, self._fill)

    def filled(self, word: str, fill: Fill | None) -> str:
        """A word of text with the values that `fill` gives it."""
        if not word.strip():
            raise argparse.ArgumentTypeError("its value is empty; leave it out, or give it one")
        try:
            return word if fill is None else fill(word)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise argparse.ArgumentTypeError(f"{word}: {why}; braces and $ that ask for no value are doubled: {{{{, }}}}, $$") from None

    def number(self, word: str) -> float:
        """A number, with the notebook's values filled in."""
        try:
            return float(self.text(word))
        except ValueError:
            raise argparse.ArgumentTypeError(f"a number is wanted, got {word}") from None

    def expression(self, word: str) -> str:
        """A Python expression, as it is."""
        if not word.strip():
            raise argparse.ArgumentTypeError("an expression is wanted, and it is empty")
        return word

    def extents(self, option: str) -> Callable[[str], Any]:
        """The reader of an option's extents."""
        return lambda word: extents(self.text(word), option)

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """The options in words, before and after the other words; UsageError for a word that belongs to none."""
        if {"-h", "--help"} & set(words):
            # argparse keeps the usage as a format while it looks for options among other words, and the magics' names have a `%`.
            self.print_help()
            self.exit()
        given, rest = self.parse_known_intermixed_args(words)
        if rest and not _IS_OPTION.match(rest[0]):
            self._refuse(list(words), rest[0])
        if rest:
            hint = nearest(rest[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
        return given

    def _refuse(self, words: list[str], stray: str) -> NoReturn:
        """Says what to write instead of a word that no option has: mostly an expression without quotes."""
        at = words.index(stray)
        options = [i for i in range(at) if _IS_OPTION.match(words[i])]
        if not options:
            self.error(f"`{stray}` is no option; {self.prog} --help lists them")
        end = next((i for i in range(at, len(words)) if _IS_OPTION.match(words[i])), len(words))
        value = " ".join(words[options[-1] + 1 : end])
        quote = "'" if '"' in value else '"'
        self.error(f"`{stray}` belongs to no option; put an expression with spaces in quotes: {words[options[-1]]} {quote}{value}{quote}")

    def error(self, message: str) -> NoReturn:
        if message.endswith("expected one argument"):
            option = message.removeprefix("argument ").partition(":")[0].partition("/")[0]
            message += f"; a value that begins with - is written with =, as in {option}=-x"
        raise UsageError(f"{self.prog}: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _HelpShown


def usage(magic: str) -> Callable[[_Method], _Method]:
    """A mistake in a magic's line is one line of error that begins with the magic's name, not a traceback of ours."""

    def wrap(method: _Method) -> _Method:
        @functools.wraps(method)
        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            except _HelpShown:
                return None
            except ArgumentError as error:
                raise UsageError(f"{magic}: {in_options(error)}") from None
            except UsageError as error:
                if str(error).startswith(f"{magic}:"):
                    raise
                raise UsageError(f"{magic}: {error}") from error.__cause__

        return cast(_Method, run)

    return wrap


def kernel_parser(fill: Fill | None = None, fill_launch: Fill | None = None, tuned: Collection[str] = ()) -> Parser:
    """The options of `%%kernel`. `fill_launch` is that of the options of a launch, which leaves the parameters `tuned` as they are: `{PER}`."""
    does = (
        "Compiles the cell as CUDA C++ and lands its kernels in the notebook's namespace; with --op it makes an operator. --check, --gradcheck, "
        "--tune and --bench check, tune and time it, in this order; what is wrong is neither tuned nor timed."
    )
    parser = Parser("%%kernel", does, "EXPR and E of --bytes and --flops", fill, examples=_EXAMPLES)
    text, number, python = parser.text, parser.number, parser.expression
    parser.add_argument("--op", type=text, metavar="SCHEMA", help="register an operator: torch's schema grammar")
    parser.add_argument("--shape", type=text, metavar="S", help='the shape signature, such as "x[*] -> out[*]"')

    def launch(word: str) -> str:
        return parser.filled(word, fill_launch)

    def launched(option: str) -> Callable[[str], Any]:
        return lambda word: extents(launch(word), option, tuned)

    parser.add_argument("--threads", type=launched("--threads"), metavar="E", help='threads of a launch, expressions over dims: "n", "cols, rows"')
    parser.add_argument("--grid", type=launched("--grid"), metavar="E", help="blocks of a launch, instead of --threads")
    parser.add_argument("--block", type=launched("--block"), metavar="B", help="threads of a block: 256, or 16,16")
    parser.add_argument("--shared-mem", type=launch, metavar="E", help="bytes of dynamic shared memory of a block, an expression over dims")
    parser.add_argument("--kernel", type=launch, metavar="K", help="which kernel or host function the operator runs")
    parser.add_argument("--reference", type=python, metavar="EXPR", help="what the operator is checked against, in this cell and later")
    autograd = "the gradient, as of torch's register_autograd: backward(ctx, *grads), which gives one gradient per input; or, with --saves, an operator"
    parser.add_argument("--autograd", type=python, metavar="EXPR", help=autograd)
    setup = "setup_context(ctx, inputs, output), which saves for the backward of --autograd what it needs"
    parser.add_argument("--setup-context", type=python, metavar="EXPR", help=setup)
    names = lambda option: lambda word: name_list(text(word), option)
    saves = "arguments that the operator of --autograd is called with, after the gradients of the outputs, and output, or output.0 and so on: x,output"
    parser.add_argument("--saves", type=names("--saves"), metavar="NAMES", help=saves)
    differentiable = "arguments that the operator of --autograd gives gradients of; without it all arrays of floats"
    parser.add_argument("--differentiable", type=names("--differentiable"), metavar="NAMES", help=differentiable)
    check = (
        "check it in this cell, against its reference or against EXPR, which is for this cell alone: "
        "it does not become the operator's reference, as that of --reference does"
    )
    parser.add_argument("--check", type=python, nargs="?", const=True, metavar="EXPR", help=check)
    gradcheck = (
        "check its gradient in this cell against finite differences, in float64; on EXPR, arguments as in a call, on those of --args, "
        "on those that --make makes for size 33, or on random arrays of some 33 elements"
    )
    parser.add_argument("--gradcheck", type=python, nargs="?", const=True, metavar="EXPR", help=gradcheck)
    tune = (
        "tune it in this cell, as wb.tune does, and make it the fastest configuration that agrees with its reference: macros of the text, "
        "{NAME} in --threads, --grid, --block, --shared-mem and --kernel (there an argument of the template), and the options block, threads, grid, "
        "shared_mem, kernel, options and dtype; once for each parameter. The cell is compiled with the first values"
    )
    parser.add_argument("--tune", type=lambda word: parameter(text(word)), action="append", metavar="NAME=V1,V2,...", help=tune)
    parser.add_argument(
        "--bench", type=python, nargs="*", metavar="NAME=EXPR", help="time it in this cell, if its checks passed, beside others or what it was checked against"
    )
    args = (
        "arguments of --check, of --gradcheck without its own, and of --tune and --bench where neither --sizes nor --make is there, as in a call: "
        '"x, c=2.0"; without them and --make random arrays, in the shapes of the signature'
    )
    parser.add_argument("--args", type=python, metavar="EXPR", help=args)
    parser.add_argument("--sizes", type=lambda word: parse_sizes(text(word)), metavar="S", help="sizes of --bench: 1k:1M; --tune takes the last, or 1M without; --check with --make the first, or 1k")
    parser.add_argument("--make", type=python, metavar="EXPR", help="a callable that makes the arguments of --bench and --tune, and of --check and --gradcheck without --args, for a size")
    add_counts(parser)
    parser.add_argument("--rtol", type=number, metavar="R", help="relative tolerance of --check and --tune; --atol belongs to it")
    parser.add_argument("--atol", type=number, metavar="A", help="absolute tolerance of --check and --tune; --rtol belongs to it")
    add_equal_nan(parser, "for --check two NaNs are equal")
    parser.add_argument("--timeout", type=number, metavar="S", help="seconds after which a launch is stopped")
    parser.add_argument("--name", type=text, metavar="M", help="land one module of this name instead of every kernel")
    device = "the device that it is compiled for: cpu, or cuda (cuda:0 is the same)"
    parser.add_argument("--device", type=lambda word: plain_device(text(word)), default="cpu", choices=["cpu", "cuda", "cuda:0"], help=device)
    parser.add_argument("-D", type=text, dest="defines", action="append", default=[], metavar="N=V", help="define a macro")
    parser.add_argument("-I", type=text, dest="folders", action="append", default=[], metavar="DIR", help="search headers in a folder")
    parser.add_argument(
        "--option", type=text, dest="options", action="append", default=[], metavar="O", help="an option of the compiler: --option=--fmad=false"
    )
    parser.add_argument("--arch", type=text, metavar="A", help="the GPU's architecture, with --device cuda: sm_90")
    parser.add_argument("--no-fmad", dest="fmad", action="store_false", help="no product and sum of a kernel become one `fma`")
    parser.add_argument("--strict-device", action="store_true", help="host functions see host arrays on the CPU")
    parser.add_argument("--unified-memory", action="store_true", help="kernels may touch the host's memory")
    return parser


def add_equal_nan(parser: Parser, what: str) -> None:
    """The option of a check that lets a NaN pass where the reference has one."""
    parser.add_argument("--equal-nan", action="store_const", const=True, help=what)


def add_counts(parser: Parser) -> None:
    """The options of a benchmark that say what a call does."""
    work = "a number, an expression over the operator's arguments and n, the size, or counted, while its kernel runs once more"
    moved = f"bytes that a call moves, for throughput and a roofline: {work}; or arguments, for the arrays that go in and out"
    parser.add_argument("--bytes", type=parser.expression, metavar="E", help=moved)
    parser.add_argument("--flops", type=parser.expression, metavar="E", help=f"operations on floats that a call does: {work}")


def listing_parser(fill: Fill | None = None) -> Parser:
    """The options of `%kernel_ir`."""
    parser = Parser("%kernel_ir", "Shows the IR of a kernel, of an operator's kernel or of a module, or the code that it becomes.", "NAME", fill)
    parser.add_argument("name", type=parser.expression, metavar="NAME", help="a kernel, an operator or a module: a name, or an expression")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--asm", action="store_true", help="machine code of this CPU, for one thread")
    what.add_argument("--c", action="store_true", help="the C that the wide tier compiles for blocks of a shape")
    what.add_argument("--tiers", action="store_true", help="the code of each tier for blocks of a shape, and what keeps it from the next")
    block = (
        "threads of a block for --c and --tiers: 256, or 16,16; "
        "without it those of the operator's launches, and of a kernel 256 or what __launch_bounds__ allows"
    )
    parser.add_argument("--block", type=parser.extents("--block"), metavar="B", help=block)
    return parser


def parse_sizes(text: str) -> list[int]:
    """Sizes as `1k:1M` (doubling), `1k:1M:4` (times 4) or `1000,5000`; k, M and G are powers of 1024.

    >>> parse_sizes("1k:8k")
    [1024, 2048, 4096, 8192]
    """

    def number(word: str) -> int:
        match = _SIZE.fullmatch(word.strip())
        if match is None:
            what = f"`{word.strip()}` is no size" if word.strip() else "a size is missing"
            raise UsageError(f"--sizes {text}: {what}; write sizes such as 4096, 64k or 1M")
        return int(match[1]) * _UNITS[match[2].lower()]

    if ":" not in text:
        sizes = [number(word) for word in text.split(",")]
        twice = next((size for at, size in enumerate(sizes) if size in sizes[:at]), None)
        if twice is not None:
            raise UsageError(f"--sizes {text}: {twice} is there twice; give each size once")
        return sizes
    parts = text.split(":")
    if len(parts) > 3:
        raise UsageError(f"--sizes {text}: no range of sizes; write first:last or first:last:factor")
    first, last, factor = number(parts[0]), number(parts[1]), number(parts[2]) if len(parts) == 3 else 2
    if first < 1 or last < first or factor < 2:
        raise UsageError(f"--sizes {text}: an empty range of sizes; write first:last, the smaller size first")
    sizes = [first]
    while sizes[-1] * factor <= last:
        sizes.append(sizes[-1] * factor)
    return sizes


def split_line(line: str, magic: str) -> list[str]:
    """The words of a magic's line. Quotes around a whole word or a whole value are taken off, as by a shell; quotes inside a word are Python's.

    >>> split_line("relu d['a'] --reference 'lambda x: x' -D N=\\"a b\\"", "%kernel_check")
    ['relu', "d['a']", '--reference', 'lambda x: x', '-D', 'N=a b']
    """
    words, word, quote = [], "", ""
    chars = iter(line.strip())
    for char in chars:
        if char == "\\":
            after = next(chars, "")
            if not after:
                raise UsageError(f"{magic}: its line ends with a backslash, and there is no next one")
            if not quote and (after.isspace() or after in "'\""):
                what = "a space" if after.isspace() else "a quotation mark"
                raise UsageError(f"{magic}: a backslash before {what} in `{line.strip()}`; put the whole word in quotes instead, '...' or \"...\"")
            word += char + after
        elif char.isspace() and not quote:
            words += [word] if word else []
            word = ""
        else:
            quote = "" if char == quote else char if not quote and char in "'\"" else quote
            word += char
    if quote:
        raise UsageError(f"{magic}: no closing quotation mark ({quote}) in `{line.strip()}`")
    return [_bare(word) for word in [*words, *([word] if word else [])]]


def _bare(word: str) -> str:
    """A word without the quotes around all of it, or around the value after `NAME=`."""
    if match := _IN_DOUBLE.fullmatch(word):
        return match[1] + re.sub(r'\\(["\\])', r"\1", match[2])
    if match := _IN_SINGLE.fullmatch(word):
        return match[1] + match[2].replace("\\'", "'")
    return word


def macro_of(text: str) -> tuple[str, str]:
    """The name and the replacement of `-D`, "1" where there is none."""
    name, equals, value = text.partition("=")
    if not name.strip():
        raise UsageError(f"-D {text}: the macro has no name; write -D NAME or -D NAME=VALUE")
    return name, value if equals else "1"


def name_list(text: str, option: str) -> list[str]:
    """Names with commas between them.

    >>> name_list("x,output.0", "--saves")
    ['x', 'output.0']
    """
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise UsageError(f"{option} {text}: a name is missing; write names with commas between them: x,output")
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise UsageError(f"{option} {text}: {twice} is there twice; give each name once")
    return names


def extents(text: str, option: str, tuned: Collection[str] = ()) -> Any:
    """Extents of a launch as `wb.op` takes them: a number, an expression, or a tuple of them. In a block `{NAME}` stands for a number where the
    parameter is tuned.

    >>> extents("16,16", "--block")
    (16, 16)
    """
    parts = [int(part) if part.isdecimal() else part for part in split_list(text)]
    if "" in parts or len(parts) > 3:
        raise UsageError(f"{option} {text}: one to three extents are wanted, with commas between them")
    if 0 in parts:
        raise UsageError(f"{option} {text}: an extent is 1 or more")
    if option == "--block":
        numbers = [part for part in parts if isinstance(part, int)]
        if any(part not in {"{" + name + "}" for name in tuned} for part in parts if isinstance(part, str)):
            raise UsageError(f"{option} {text}: a block has numbers of threads: 256, or 16,16")
        count = math.prod(numbers)
        if count > 1024:
            raise UsageError(f"{option} {text}: a block has at most 1024 threads, and this one has {count}")
        if len(parts) == 3 and isinstance(parts[2], int) and parts[2] > 64:
            raise UsageError(f"{option} {text}: a block has at most 64 threads in its third extent")
    return parts[0] if len(parts) == 1 else tuple(parts)


def op_name(args: argparse.Namespace) -> str | None:
    """The name that an operator lands under: `relu_out` for the overload `lab::relu.out`."""
    return args.op.split("(")[0].split("::")[-1].strip().replace(".", "_") if args.op is not None else None


def check_options(given: argparse.Namespace) -> dict[str, Any]:
    """The tolerances that are given and whether NaNs are equal, by the names that a check has for them."""
    return tolerances(given) | ({"equal_nan": True} if given.equal_nan else {})


def tolerances(given: argparse.Namespace) -> dict[str, Any]:
    """The tolerances that are given, by their names."""
    return {name: getattr(given, name) for name in ("rtol", "atol") if getattr(given, name) is not None}


def refuse_one(given: argparse.Namespace, magic: str) -> None:
    """Raises UsageError for one tolerance without the other."""
    known = list(tolerances(given))
    if len(known) == 1:
        other = "atol" if known == ["rtol"] else "rtol"
        raise UsageError(f"{magic}: --{known[0]} comes with --{other}; give both, or neither for torch's tolerances")


def refuse_idle(args: argparse.Namespace) -> None:
    """Raises UsageError for options that would do nothing: of an operator, a check, a benchmark or a GPU that is not asked for."""
    alone = [option for option in _OF_OPERATORS if getattr(args, option) is not None]
    if args.op is None and alone:
        raise UsageError(f"%%kernel: --{alone[0].replace('_', '-')} is about the operator that --op makes, and there is no --op")
    has_sizes = args.sizes is not None or args.make is not None
    is_timed = args.bench is not None or args.tune is not None
    wants = {"args": args.check is not None or args.gradcheck is True or is_timed and not has_sizes, "sizes": is_timed or args.check is not None and args.make is not None}
    wants["make"] = is_timed or args.args is None and (args.check is not None or args.gradcheck is True)
    wants |= dict.fromkeys(("rtol", "atol"), args.check is not None or args.tune is not None) | {"equal_nan": args.check is not None}
    wants |= dict.fromkeys(("bytes", "flops"), args.bench is not None)
    wants |= dict.fromkeys(("setup_context", "saves"), args.autograd is not None)
    wants |= {"arch": args.device == "cuda", "differentiable": args.saves is not None}
    for option, is_used in wants.items():
        if getattr(args, option) is not None and not is_used:
            asked = {"arch": "--device cuda", "setup_context": "--autograd", "saves": "--autograd", "differentiable": "--saves"}
            asked |= dict.fromkeys(("rtol", "atol"), "--check or --tune") | dict.fromkeys(("bytes", "flops"), "--bench") | {"equal_nan": "--check"}
            asked["make"] = "--bench or --tune, and --check or --gradcheck without arguments of their own"
            asked["args"] = "--check, and --bench or --tune without --sizes and --make, and --gradcheck without arguments of its own"
            raise UsageError(f"%%kernel: --{option.replace('_', '-')} is about {asked.get(option, '--bench or --tune')}, which is not there")
    if args.setup_context is not None and args.saves is not None:
        raise UsageError("%%kernel: --setup-context is of a callable, and --saves of an operator; give one of them")
    refuse_one(args, "%%kernel")


def refuse_names(args: argparse.Namespace) -> None:
    """Raises UsageError for a module or an operator whose name cannot be one of Python's variables."""
    if args.name is not None and (not args.name.isidentifier() or keyword.iskeyword(args.name)):
        what = "a word of Python's, which cannot be a name there" if args.name.isidentifier() else "no name of Python's"
        raise UsageError(f"%%kernel: --name {args.name} is {what}; write another one, such as --name m")
    name = op_name(args)
    if name is not None and name == args.name:
        raise UsageError(f"%%kernel: --name {args.name}: the operator of --op is called `{name}`, too, and would hide the module; write another name")
    if name is not None and keyword.iskeyword(name):
        raise UsageError(f"%%kernel: --op {args.op}: `{name}` is a word of Python's, which cannot be a name there; call the operator `{name}_`")


def options_before(line: str) -> tuple[list[str], str]:
    """The options at the start of a line, and the statement after them, which is Python's and is not split into words."""
    words: list[str] = []
    rest = line.strip()
    while found := _TIME_OPTION.match(rest):
        rest = rest[found.end() :]
        if found[1] == "--":
            break
        words.append(found[1])
        if found[1] == "--seconds":
            value, _, rest = rest.partition(" ")
            words += [value] if value else []
            rest = rest.strip()
    return words, rest


#: The sizes of a benchmark that is given none.
SIZES = parse_sizes("1k:1M")
