"""`%load_ext workbench`: kernels as cells, checks and timings as one line."""

from __future__ import annotations

import argparse
import ast
import builtins
import linecache
import re
import time
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.display import display

from . import notebook_editor, tracebacks
from ._compile import compile as compile_source
from ._compile import find_nvidia, rebuild
from ._workbench import Kernel, KernelTemplate, Module, format_seconds, has_queued, history_of_texts, synchronize
from .benchmark import bench
from .errors import ArgumentError, CompileError
from .magic_options import Parser, extents, kernel_parser, listing_parser, macro_of, parse_sizes, split_line, usage
from .operators import Op
from .operators import op as make_op

__all__ = ["WorkbenchMagics", "load_ipython_extension", "parse_sizes", "unload_ipython_extension"]

#: Elements of a random argument of a check: odd, and more than one block of any size.
_RANDOM_SIZE = 4099
#: Options of `%%kernel` that say something about the operator of `--op`.
_OF_OPERATORS = ("shape", "threads", "grid", "block", "shared_mem", "kernel", "reference", "check", "bench", "args", "sizes", "make", "rtol", "atol")
#: What tracebacks call the statement of `%timekernel`.
_TIMED = "<timekernel>"
_DECLARED = re.compile(r"__global__[^;{}()]*?(?:__launch_bounds__\s*\([^)]*\)[^;{}()]*?)?\b([A-Za-z_]\w*)\s*\(")


@dataclass
class _Version:
    """One text a name stood for."""

    when: float
    text: str


@magics_class
class WorkbenchMagics(Magics):
    """`%%kernel`; `%kernel_check`, `%kernel_bench`, `%kernel_history`, `%kernel_ir`, `%kernel_gpu` and `%timekernel`."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._made: dict[str, Any] = {}
        self._history: dict[str, list[_Version]] = {}
        self._stored = True

    @cell_magic
    @usage("%%kernel")
    def kernel(self, line: str, cell: str) -> None:
        """Compiles the cell as CUDA C++ and lands its kernels in the namespace.

        %%kernel [--op SCHEMA] [--shape S] [--threads E | --grid E] [--block B] [--shared-mem E] [--kernel K] [--reference EXPR]
                 [--check [EXPR]] [--bench [NAME=EXPR ...]] [--args EXPRS] [--sizes 1k:1M] [--make EXPR] [--rtol R] [--atol A]
                 [--timeout SECONDS] [--name M] [-D N=V] [-I DIR] [--option O] [--device cuda] [--arch A] ...

        Kernels are launched as `saxpy[grid, block](...)`; with `--op` the operator lands too, and
        is called like a function. With `--check` and `--bench` it is checked and timed in the same cell. A cell that does not compile
        leaves the names of the last one.
        """
        args = kernel_parser().parse_args(split_line(line, "%%kernel"))
        alone = [option for option in _OF_OPERATORS if getattr(args, option) is not None]
        if args.op is None and alone:
            raise UsageError(f"%%kernel: --{alone[0].replace('_', '-')} is about the operator that --op makes, and there is no --op")
        _refuse_idle(args)
        defines = dict(macro_of(text) for text in args.defines)
        # The magic's own line is line 1 of the cell that the user sees.
        text = "\n" + cell
        try:
            module = compile_source(
                text,
                args.device,
                name=self._cell_name(),
                defines=defines,
                options=[*(f"-I{folder}" for folder in args.folders), *args.options],
                arch=args.arch,
                strict_device=args.strict_device,
                unified_memory=args.unified_memory,
            )
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
        if args.op is not None:
            self._prove(operator, args)

    def _prove(self, operator: Any, args: argparse.Namespace) -> None:
        """Checks and times the operator of a cell, as its line asks; times of wrong results are no times."""
        values = None if args.args is None else self._eval(f"({args.args},)", "--args")
        if args.check is not None:
            reference = {"reference": self._eval(args.check, "--check")} if args.check else {}
            report = self._check(operator, values, {**reference, **_tolerances(args)})
            display(report)
            if not report and args.bench is not None:
                print("%%kernel: not timed, because it does not agree with its reference")
                return
        if args.bench is not None:
            display(self._bench(operator, args.bench, values, args.sizes, args.make, "%%kernel"))

    def _check(self, operator: Any, values: Any, options: dict[str, Any]) -> Any:
        """A check on values, or on random ones where there are none."""
        if values is None:
            values = _random_args(operator)
            try:
                operator.fake(*values)
            except ArgumentError as error:
                raise UsageError(f"{error} (the arguments are random arrays of one dimension, as none are given)") from None
        return operator.check(*values, **options)

    def _bench(self, operator: Any, others: list[str], values: Any, sizes: str | None, make: str | None, magic: str) -> Any:
        """A benchmark over sizes, or on values where there are some and no sizes."""
        contestants = {}
        for text in others:
            name, equals, expression = text.partition("=")
            if not equals:
                raise UsageError(f"{magic}: `{text}` names no contestant; write name=expression")
            contestants[name] = self._eval(expression, name)
        if values is not None and sizes is None and make is None:
            return operator.bench(*values, others=contestants)
        options = {"make_args": self._eval(make, "--make")} if make else {}
        return operator.bench(sizes=parse_sizes(sizes or "1k:1M"), others=contestants, **options)

    def _operator_of(self, module: Any, args: argparse.Namespace) -> tuple[Any, UsageError | None]:
        """The operator of a cell, and what is wrong with its reference, without which it is made then."""
        reference = mistake = None
        try:
            reference = self._eval(args.reference, "--reference") if args.reference else None
        except UsageError as error:
            mistake = UsageError(f"{error}; the operator is there without a reference, so run the cell again when there is one")
        made = make_op(
            args.op,
            module,
            kernel=args.kernel,
            shape=args.shape,
            threads=extents(args.threads, "--threads"),
            block=extents(args.block, "--block"),
            grid=extents(args.grid, "--grid"),
            shared_mem=args.shared_mem,
            reference=reference,
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
    @usage("%kernel_check")
    def kernel_check(self, line: str) -> Any:
        """%kernel_check OP [ARG...] [--reference EXPR] [--rtol R] [--atol A]: checks an operator against its reference.

        Without arguments arrays get 4,099 random numbers and scalars 1.
        """
        parser = Parser("%kernel_check")
        parser.add_argument("op")
        parser.add_argument("args", nargs="*")
        parser.add_argument("--reference")
        parser.add_argument("--rtol", type=float)
        parser.add_argument("--atol", type=float)
        given = parser.parse_args(split_line(line, "%kernel_check"))
        operator = self._operator(given.op, "%kernel_check")
        options = _tolerances(given)
        if given.reference:
            options["reference"] = self._eval(given.reference, "--reference")
        values = [self._eval(text, "%kernel_check") for text in given.args]
        return self._check(operator, values or None, options)

    @line_magic
    @usage("%kernel_bench")
    def kernel_bench(self, line: str) -> Any:
        """%kernel_bench OP [NAME=EXPR...] [--sizes 1k:1M] [--make EXPR]: times an operator, and others, over sizes."""
        parser = Parser("%kernel_bench")
        parser.add_argument("op")
        parser.add_argument("others", nargs="*")
        parser.add_argument("--sizes", default="1k:1M")
        parser.add_argument("--make")
        given = parser.parse_args(split_line(line, "%kernel_bench"))
        operator = self._operator(given.op, "%kernel_bench")
        return self._bench(operator, given.others, None, given.sizes, given.make, "%kernel_bench")

    @line_magic
    @usage("%kernel_ir")
    def kernel_ir(self, line: str) -> Any:
        """%kernel_ir NAME [--asm | --c | --tiers] [--block B]: the IR of a kernel, of an operator's kernel or of a module, or its code."""
        given = listing_parser().parse_args(split_line(line, "%kernel_ir"))
        code, block = self._code_of(given.name, "%kernel_ir")
        if given.block is not None and not (given.c or given.tiers):
            raise UsageError("%kernel_ir: --block is about --c and --tiers")
        if not (given.c or given.tiers):
            print(code.asm() if given.asm else code.ir(), end="")
            return None
        if isinstance(code, Module):
            raise UsageError(f"%kernel_ir: `{given.name}` is a module, and {'--c' if given.c else '--tiers'} is of one kernel: {', '.join(code.kernels)}")
        block = extents(given.block, "--block") or block or 256
        if given.tiers:
            return code.tier_report(block)
        print(code.c_source(block), end="")
        return None

    @line_magic
    @usage("%kernel_gpu")
    def kernel_gpu(self, line: str) -> None:
        """%kernel_gpu NAME [--arch sm_90]: the PTX that NVIDIA's compiler makes of a kernel's text; it needs NVRTC and no GPU."""
        parser = Parser("%kernel_gpu")
        parser.add_argument("name")
        parser.add_argument("--arch", metavar="A")
        given = parser.parse_args(split_line(line, "%kernel_gpu"))
        code, _ = self._code_of(given.name, "%kernel_gpu")
        module = code if isinstance(code, Module) else code.module
        _, (source, state, timeout) = module.__reduce__()
        find_nvidia()
        state = {**state, "device": "cuda", "arch": given.arch or state["arch"]}
        print(rebuild(source, state, timeout).ptx(), end="")

    def _code_of(self, name: str, magic: str) -> tuple[Any, Any]:
        """The kernel or the module that a name stands for, and the block of an operator that has one."""
        made, block = self._eval(name, magic), None
        if isinstance(made, Op):
            made, kernel, block = made.module, made.kernel, made._parts["block"]
            kernels = made.kernels
            if kernel is None and len(kernels) == 1:
                kernel = kernels[0]
            made = made if kernel is None else made[kernel]
        if isinstance(made, KernelTemplate):
            raise UsageError(f"{magic}: `{made.name}` is a template, whose instances have code: `{made.name}.instance(...)` with arguments")
        if not isinstance(made, (Kernel, Module)):
            raise UsageError(f"{magic}: `{name}` is a {type(made).__name__}; a kernel, an operator of kernels or what wb.compile gives is wanted")
        return made, block

    @line_magic
    @usage("%timekernel")
    def timekernel(self, line: str) -> Any:
        """%timekernel [--seconds S] [--flush-cache] [-o] STATEMENT: times a statement, as `%timeit` does: the median of a call and its 95 % interval.

        A statement that queues work on a GPU is timed until the work is done. `-o` gives the report, too.
        """
        parser = Parser("%timekernel")
        parser.add_argument("--seconds", type=float, default=0.2, metavar="S", help="how long to measure")
        parser.add_argument("--flush-cache", action="store_true", help="empty the caches before each call")
        parser.add_argument("-o", dest="wanted", action="store_true", help="give the report of the benchmark")
        words, statement = _options_before(line)
        given = parser.parse_args(words)
        if not statement:
            raise UsageError("%timekernel: a statement is wanted: %timekernel saxpy[4, 256](2.0, x, y, n)")
        run = self._callable_of(statement)
        report = bench({statement: run}, [1], lambda n: (), seconds_per_size=given.seconds, flush_cache=given.flush_cache)
        row = report.rows[0]
        caches = "flushed" if given.flush_cache else "warm"
        print(
            f"{format_seconds(row['median'])} a call, 95 % interval {format_seconds(row['low'])} to {format_seconds(row['high'])} "
            f"({row['samples']:,} samples of {row['batch']:,}, caches {caches})"
        )
        return report if given.wanted else None

    def _callable_of(self, statement: str) -> Any:
        """A function of a statement in the notebook's namespace, which waits for work on a GPU if the statement queues some."""
        try:
            body = ast.parse(statement, _TIMED).body
            compile(statement, _TIMED, "exec")
        except SyntaxError as error:
            raise UsageError(f"%timekernel {statement}: {error.msg}") from None
        tree = ast.parse("def run():\n    pass")
        tree.body[0].body = body  # type: ignore[attr-defined]
        # Tracebacks show the line.
        linecache.cache[_TIMED] = (len(statement), None, [statement], _TIMED)
        space: dict[str, Any] = {}
        exec(compile(ast.fix_missing_locations(tree), _TIMED, "exec"), self.shell.user_ns, space)
        run = space["run"]
        run()
        if not has_queued():
            return run
        synchronize()

        def run_to_the_end() -> None:
            run()
            synchronize()

        return run_to_the_end

    @line_magic
    @usage("%kernel_history")
    def kernel_history(self, line: str) -> Any:
        """%kernel_history NAME: every text the name stood for in this session, each with its difference from the one before.

        Of an operator its versions, with their checks and their times (`op.history`).
        """
        parser = Parser("%kernel_history")
        parser.add_argument("name", nargs="?")
        name = parser.parse_args(split_line(line, "%kernel_history")).name
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


def _tolerances(given: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(given, name) for name in ("rtol", "atol") if getattr(given, name) is not None}


def _refuse_idle(args: argparse.Namespace) -> None:
    """Raises UsageError for options of a check or a benchmark that is not asked for."""
    has_sizes = args.sizes is not None or args.make is not None
    wants = {"args": args.check is not None or args.bench is not None and not has_sizes, "sizes": args.bench is not None, "make": args.bench is not None}
    wants |= dict.fromkeys(("rtol", "atol"), args.check is not None)
    for option, is_used in wants.items():
        if getattr(args, option) is not None and not is_used:
            asked = "--check" if option in ("rtol", "atol") else "--bench" if option != "args" else "--check, and --bench without --sizes and --make"
            raise UsageError(f"%%kernel: --{option} is about {asked}, which is not there")


def _random_args(operator: Any) -> Any:
    """Random arguments of an operator of kernels; those of a host function or a callable have no one kind of array."""
    make = getattr(operator, "_random_args", None)
    if make is None:
        raise UsageError(f"`{operator.name}` says nothing about its arrays; give its arguments")
    return make(_RANDOM_SIZE)


def _options_before(line: str) -> tuple[list[str], str]:
    """The options at the start of a line, and the statement after them, which is Python's and is not split into words."""
    words: list[str] = []
    rest = line.strip()
    while rest.startswith("-"):
        word, _, rest = rest.partition(" ")
        rest = rest.strip()
        if word == "--":
            break
        words.append(word)
        if word == "--seconds":
            value, _, rest = rest.partition(" ")
            words.append(value)
            rest = rest.strip()
    return words, rest


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
