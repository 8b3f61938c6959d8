"""`%load_ext workbench`: kernels as cells, checks and timings as one line."""

from __future__ import annotations

import argparse
import builtins
import functools
import re
import shlex
import time
from dataclasses import dataclass
from typing import Any, Callable, NoReturn, TypeVar, cast

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from . import notebook_editor, tracebacks
from ._compile import compile as compile_source
from ._workbench import history_of_texts, synchronize
from .errors import ArgumentError, CompileError
from .operators import Op
from .operators import op as make_op

__all__ = ["WorkbenchMagics", "load_ipython_extension", "parse_sizes", "unload_ipython_extension"]

_DECLARED = re.compile(r"__global__[^;{}()]*?(?:__launch_bounds__\s*\([^)]*\)[^;{}()]*?)?\b([A-Za-z_]\w*)\s*\(")
_SIZE = re.compile(r"(\d+)([kKmMgG]?)")
_Method = TypeVar("_Method", bound=Callable[..., Any])
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class _HelpShown(Exception):
    """The help asked for has been printed: nothing is left to do."""


class _Parser(argparse.ArgumentParser):
    """Options of a magic: a mistake is a usage error of the cell, never an exit; `--help` prints the help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog=prog, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _HelpShown


def _usage(magic: str) -> Callable[[_Method], _Method]:
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


def _kernel_parser() -> _Parser:
    parser = _Parser("%%kernel")
    parser.add_argument("--op", metavar="SCHEMA", help="register an operator: torch's schema grammar")
    parser.add_argument("--shape", help='the shape signature, such as "x[*] -> out[*]"')
    parser.add_argument("--threads", metavar="E", help="threads of a launch: an expression over dims")
    parser.add_argument("--block", type=int, help="threads of a block")
    parser.add_argument("--kernel", metavar="K", help="which kernel the operator runs")
    parser.add_argument("--reference", metavar="EXPR", help="what the operator is checked against")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds after which a launch is stopped")
    parser.add_argument("--name", metavar="M", help="land one module of this name instead of every kernel")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="N=V", help="define a macro")
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


@dataclass
class _Version:
    """One text a name stood for."""

    when: float
    text: str


@magics_class
class WorkbenchMagics(Magics):
    """`%%kernel`, `%kernel_check`, `%kernel_bench` and `%kernel_history`."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._made: dict[str, Any] = {}
        self._history: dict[str, list[_Version]] = {}
        self._stored = True

    @cell_magic
    @_usage("%%kernel")
    def kernel(self, line: str, cell: str) -> None:
        """Compiles the cell as CUDA C++ and lands its kernels in the namespace.

        %%kernel [--op SCHEMA] [--shape S] [--threads E] [--block B] [--kernel K] [--reference EXPR]
                 [--timeout SECONDS] [--name M] [-D N=V] [--device cuda]

        Kernels are launched as `saxpy[grid, block](...)`; with `--op` the operator lands too, and
        is called like a function. A cell that does not compile leaves the names of the last one.
        """
        args = _kernel_parser().parse_args(_split(line))
        alone = [option for option in ("shape", "threads", "block", "kernel", "reference") if getattr(args, option) is not None]
        if args.op is None and alone:
            raise UsageError(f"%%kernel: --{alone[0]} is about the operator that --op makes, and there is no --op")
        defines = dict(_define(text) for text in args.defines)
        # The magic's own line is line 1 of the cell that the user sees.
        text = "\n" + cell
        try:
            module = compile_source(text, args.device, name=self._cell_name(), defines=defines)
            if args.timeout is not None:
                module = module.with_timeout(args.timeout)
            landed = self._contents(module, args)
        except CompileError:
            self._leave_old({*_DECLARED.findall(cell), args.name, _op_name(args)}, "did not compile")
            raise
        for warning in module.warnings:
            print(warning)
        # The kernels are right, whatever is wrong with the operator.
        mistake = None
        if args.op is not None:
            try:
                operator, mistake = self._operator_of(module, args)
                landed[operator.name.split("::")[-1]] = operator
            except (CompileError, ArgumentError) as error:
                self._leave_old({_op_name(args)}, "made no operator")
                mistake = error
        self._land(landed, cell)
        if mistake is not None:
            raise mistake

    def _operator_of(self, module: Any, args: argparse.Namespace) -> tuple[Any, UsageError | None]:
        """The operator of a cell, and what is wrong with its reference, without which it is made then."""
        reference = mistake = None
        try:
            reference = self._eval(args.reference, "--reference") if args.reference else None
        except UsageError as error:
            mistake = UsageError(f"{error}; the operator is there without a reference, so run the cell again when there is one")
        made = make_op(
            args.op, module, kernel=args.kernel, shape=args.shape, threads=args.threads, block=args.block, reference=reference
        )
        return made, mistake

    def _contents(self, module: Any, args: argparse.Namespace) -> dict[str, Any]:
        if args.name is not None:
            if not args.name.isidentifier():
                raise UsageError(f"%%kernel: --name {args.name} is no identifier")
            return {args.name: module}
        # Instances of templates that the text launches have names that are not valid in Python.
        kernels = [name for name in module.kernels if name.isidentifier()]
        names = [*kernels, *(name for name in module.templates if name not in kernels), *module.entry_points]
        return {name: module[name] for name in names}

    def _land(self, landed: dict[str, Any], cell: str) -> None:
        space = self.shell.user_ns
        hidden = []
        for name in landed:
            foreign = name in space and space[name] is not self._made.get(name)
            if foreign:
                hidden.append(f"the variable `{name}`")
            elif name not in self._made and hasattr(builtins, name):
                hidden.append(f"the builtin `{name}`")
        if hidden:
            print(f"%%kernel: this cell now hides {', '.join(hidden)}; `--name m` lands one module `m` instead")
        for name, value in landed.items():
            space[name] = self._made[name] = value
            versions = self._history.setdefault(name, [])
            if not versions or versions[-1].text != cell:
                versions.append(_Version(time.time(), cell))

    def _leave_old(self, names: set[str | None], why: str) -> None:
        for name in names - {None}:
            old = self._made.get(name)
            if old is not None and self.shell.user_ns.get(name) is old and hasattr(old, "_mark_stale"):
                old._mark_stale(f"`{name}` is the version before the last edit, which {why}")

    def _before_cell(self, info: Any) -> None:
        self._stored = bool(info.store_history)

    def _after_cell(self, result: Any) -> None:
        """The fault of a kernel that was queued in the cell is the cell's error."""
        try:
            synchronize()
        except (Exception, KeyboardInterrupt) as error:
            self.shell.showtraceback((type(error), error, error.__traceback__))
            if result is not None and result.error_in_exec is None:
                result.error_in_exec = error

    def _cell_name(self) -> str:
        """The running cell, by the number that the user sees.

        Some versions of IPython count a cell before they run it, some after; the history they store it in
        does not lie. A cell that is not stored gets the name of the next one, as in IPython's own tracebacks.
        """
        count = self.shell.execution_count
        history = getattr(self.shell, "history_manager", None)
        if self._stored and history is not None and len(history.input_hist_raw) == count:
            count -= 1
        return f"In[{count}]"

    def _eval(self, expression: str, what: str) -> Any:
        try:
            return eval(expression, self.shell.user_global_ns, self.shell.user_ns)
        except Exception as error:
            raise UsageError(f"{what} {expression}: {type(error).__name__}: {error}") from error

    @line_magic
    @_usage("%kernel_check")
    def kernel_check(self, line: str) -> Any:
        """%kernel_check OP ARG... [--reference EXPR] [--rtol R] [--atol A]: checks an operator against its reference."""
        parser = _Parser("%kernel_check")
        parser.add_argument("op")
        parser.add_argument("args", nargs="*")
        parser.add_argument("--reference")
        parser.add_argument("--rtol", type=float)
        parser.add_argument("--atol", type=float)
        given = parser.parse_args(_split(line))
        operator = self._operator(given.op, "%kernel_check")
        options: dict[str, Any] = {k: getattr(given, k) for k in ("rtol", "atol") if getattr(given, k) is not None}
        if given.reference:
            options["reference"] = self._eval(given.reference, "--reference")
        return operator.check(*(self._eval(text, "%kernel_check") for text in given.args), **options)

    @line_magic
    @_usage("%kernel_bench")
    def kernel_bench(self, line: str) -> Any:
        """%kernel_bench OP [NAME=EXPR...] [--sizes 1k:1M] [--make EXPR]: times an operator, and others, over sizes."""
        parser = _Parser("%kernel_bench")
        parser.add_argument("op")
        parser.add_argument("others", nargs="*")
        parser.add_argument("--sizes", default="1k:1M")
        parser.add_argument("--make")
        given = parser.parse_args(_split(line))
        operator = self._operator(given.op, "%kernel_bench")
        others = {}
        for text in given.others:
            name, equals, expression = text.partition("=")
            if not equals:
                raise UsageError(f"%kernel_bench: `{text}` names no contestant; write name=expression")
            others[name] = self._eval(expression, name)
        options = {"make_args": self._eval(given.make, "--make")} if given.make else {}
        return operator.bench(sizes=parse_sizes(given.sizes), others=others, **options)

    @line_magic
    def kernel_history(self, line: str) -> Any:
        """%kernel_history NAME: every text the name stood for in this session, each with its difference from the one before.

        Of an operator its versions, with their checks and their times (`op.history`).
        """
        name = line.strip()
        if not name:
            raise UsageError("%kernel_history: whose? write %kernel_history NAME")
        made = self.shell.user_ns.get(name)
        if isinstance(made, Op):
            return made.history
        versions = self._history.get(name)
        if not versions:
            raise UsageError(f"%kernel_history: no cell has made `{name}`")
        return history_of_texts(name, [(version.when, version.text) for version in versions])

    def _operator(self, name: str, magic: str) -> Any:
        operator = self._eval(name, magic)
        if not hasattr(operator, "check"):
            raise UsageError(f"{magic}: `{name}` is no operator; make it one with `%%kernel --op SCHEMA`")
        return operator


def _op_name(args: argparse.Namespace) -> str | None:
    """The name that an operator lands under."""
    return args.op.split("(")[0].split("::")[-1].strip() if args.op is not None else None


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%%kernel: {error} in `{line.strip()}`") from None


def _define(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    return name, value if equals else "1"


def _help_without_a_body(lines: list[str]) -> list[str]:
    # IPython refuses a cell magic without a cell before the magic is asked.
    asked = lines[0].split() if len(lines) == 1 else []
    if asked[:1] == ["%%kernel"] and asked[1:] in (["--help"], ["-h"]):
        return [lines[0].rstrip("\n") + "\n", "\n"]
    return lines


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics; `%load_ext workbench` calls it."""
    magics = WorkbenchMagics(shell)
    shell.register_magics(magics)
    shell.events.register("pre_run_cell", magics._before_cell)
    shell.events.register("post_run_cell", magics._after_cell)
    if _help_without_a_body not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(_help_without_a_body)
    tracebacks.install(shell)
    notebook_editor.install(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Takes the drawing of errors back; `%unload_ext workbench` calls it."""
    magics = shell.magics_manager.registry.get("WorkbenchMagics")
    if magics is not None and magics._before_cell in shell.events.callbacks["pre_run_cell"]:
        shell.events.unregister("pre_run_cell", magics._before_cell)
        shell.events.unregister("post_run_cell", magics._after_cell)
    if _help_without_a_body in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(_help_without_a_body)
    tracebacks.uninstall(shell)
    notebook_editor.uninstall(shell)
