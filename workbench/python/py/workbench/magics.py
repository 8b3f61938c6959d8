"""`%load_ext workbench`: kernels as cells, checks and timings as one line."""

from __future__ import annotations

import argparse
import ast
import keyword
import linecache
import re
from typing import Any, Callable, Sequence

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from . import notebook_language_service, tracebacks
from ._annotations import a_type
from ._compile import collect_headers
from ._compile import compile as compile_source
from ._compile import find_nvidia, rebuild
from ._options import parse_options
from ._workbench import Kernel, KernelTemplate, Module, format_seconds, has_queued, history_of_texts, synchronize
from .benchmark import bench as time_callables
from .cells import whole_line
from .unregistered_operators import Declared
from .description import block_of
from .differentiable import Differentiable
from .errors import ArgumentError, CompileError, DeviceUnavailable
from .magic_arguments import Arguments, Expressions, in_options, random_ones
from .magic_options import kernel_parser, listing_parser, macro_of, op_name, options_before, parse_sizes
from .magic_options import check_options, refuse_idle, refuse_names, refuse_one, split_line, usage
from .magic_parsers import bench_parser, check_parser, gpu_parser, history_parser, time_parser
from .magic_printf import printf_parser
from .magic_proofs import Asked, bench, check, prove
from .magic_session import session_of
from .magic_tuning import TunedName, Tuning, tuned_names
from .operators import handles, Op, trial
from .operators import op as make_op
from .printed_table import printed_table
from .ptx_listing import listing_of

__all__ = ["WorkbenchMagics", "load_ipython_extension", "parse_sizes", "unload_ipython_extension"]

#: What tracebacks call the statement of `%timekernel`.
_TIMED = "<timekernel>"
_DECLARED = re.compile(r"__global__[^;{}()]*?(?:__launch_bounds__\s*\([^)]*\)[^;{}()]*?)?\b([A-Za-z_]\w*)\s*\(")


@magics_class
class WorkbenchMagics(Magics):
    """`%%kernel`; `%kernel_check`, `%kernel_bench`, `%kernel_history`, `%kernel_printf`, `%kernel_ir`, `%kernel_gpu` and `%timekernel`."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._session = session_of(shell)
        self._stored = True

    @cell_magic
    @no_var_expand
    @usage("%%kernel")
    def kernel(self, line: str, cell: str) -> None:
        """Compiles the cell as CUDA C++ and lands its kernels in the namespace.

        %%kernel [--op SCHEMA] [--shape S] [--threads E | --grid E] [--block B] [--shared-mem E] [--kernel K] [--reference EXPR]
                 [--autograd EXPR [--setup-context EXPR | --saves NAMES [--differentiable NAMES]]]
                 [--check [EXPR]] [--gradcheck [EXPR]] [--tune NAME=V1,V2,...] [--bench [NAME=EXPR ...]]
                 [--args EXPR] [--sizes 1k:1M] [--make EXPR] [--bytes E] [--flops E] [--rtol R --atol A]
                 [--equal-nan] [--timeout SECONDS] [--name M] [-D N=V] [-I DIR] [--option O] [--device cuda] [--arch A] ...

        Kernels are launched as `saxpy[grid, block](...)`; with `--op` the operator lands too, and
        is called like a function. With `--check`, `--gradcheck`, `--tune` and `--bench` it is checked, tuned and timed in the same cell, in this
        order; what is wrong is neither tuned nor timed. After a tuning the operator is the best configuration. A cell that does not compile, or
        whose line has a mistake, leaves the names of the last one. `{...}` and `$name` are filled in with values of the notebook
        (`-D N={n}`), except in EXPR, which is Python; a word with spaces stands in quotes. A backslash at the end of the line lets it go on
        in the next one.
        """
        line, cell = whole_line(line, cell)
        words = Expressions(self.shell, "%%kernel")
        split = split_line(line, "%%kernel")
        tuned = {name: TunedName(name) for name in tuned_names(split)}
        space = self.shell.user_ns
        operator: Any = None
        try:
            args = kernel_parser(words.fill, lambda text: words.fill(text, tuned), tuned).parse(split)
            refuse_idle(args)
            refuse_names(args)
            tuning = Tuning.of_line(args)
            module = self._compiled(args, cell, tuning)
            landed = self._contents(module, args)
            undo = self._undo_of(args, space)
            if args.op is not None:
                # A mistake in the line changes nothing, so all of it is read before the operator is registered.
                asked = self._asked(module, landed, args, words, tuning)
                parts = {**_parts_of(args, tuning), "shape": args.shape, "reference": asked.reference}
                operator = landed[str(op_name(args))] = asked.register(lambda: make_op(args.op, module, **parts))
        except (CompileError, ArgumentError, UsageError) as error:
            why = "did not compile" if isinstance(error, CompileError) else "has a mistake in its line"
            self._session.leave_old({*_DECLARED.findall(cell), *_names_in(split)}, why, space)
            raise
        hidden = self._session.land(landed, cell, space)
        if hidden:
            print(f"%%kernel: this cell now hides {', '.join(hidden)}; `--name m` lands one module `m` instead")
        if operator is not None and prove(operator, asked, args, words, tuning, undo):
            # The kernels are those of the configuration that the operator has become.
            self._session.land({**self._contents(operator.module, args), str(op_name(args)): operator}, cell, space)

    def _compiled(self, args: argparse.Namespace, cell: str, tuning: Tuning | None) -> Any:
        """The module of a cell, in the first configuration of its tuning."""
        if tuning is not None:
            tuning.hold_names(_texts_of(cell, args))
            tuning.hold_numbers()
        module = compile_source(
            # The magic's own line is line 1 of the cell that the user sees.
            "\n" + cell,
            args.device,
            name=self._cell_name(),
            defines=dict(macro_of(text) for text in args.defines) | (tuning.macros() if tuning is not None else {}),
            options=[*(f"-I{folder}" for folder in args.folders), *args.options],
            arch=args.arch,
            fmad=args.fmad,
            strict_device=args.strict_device,
            unified_memory=args.unified_memory,
        )
        for warning in module.warnings:
            print(warning)
        print(module.build_log, end="")
        return module if args.timeout is None else module.with_timeout(args.timeout)

    def _asked(self, module: Any, landed: dict[str, Any], args: argparse.Namespace, words: Expressions, tuning: Tuning | None) -> Asked:
        """What the line asks of its operator, held against that operator as it will be."""
        try:
            made = trial(args.op, module, {**_parts_of(args, tuning), "shape": args.shape})
        except ArgumentError as error:
            raise UsageError(_named(error, tuning)) from None
        # The names of the cell are there for the expressions.
        own = landed if isinstance(made, Declared) else {**landed, str(op_name(args)): made}
        with self._session.lent(own, self.shell.user_ns):
            return Asked.of_line(made, args, words, tuning)

    def _undo_of(self, args: argparse.Namespace, space: dict[str, Any]) -> Callable[[], bool]:
        """What gives the operator of a cell the meaning that it has now, and True if it has one: that of an operator of kernels."""
        former = handles.get(args.op.partition("(")[0].strip().partition(".")[0]) if args.op is not None else None
        number = former._number if isinstance(former, Op) and former._successor is None else None

        def undo() -> bool:
            if number is None or former is None or former._successor is not None:
                return False
            if former._number != number:
                former.restore(number)
                self._session.leave_old({op_name(args)}, "has no right configuration", space)
            return True

        return undo

    def _contents(self, module: Any, args: argparse.Namespace) -> dict[str, Any]:
        if args.name is not None:
            return {args.name: module}
        # Instances of templates that the text launches have names that are not valid in Python.
        kernels = [name for name in module.kernels if name.isidentifier()]
        names = [*kernels, *(name for name in module.templates if name not in kernels), *module.entry_points]
        taken = next((name for name in names if keyword.iskeyword(name)), None)
        if taken is not None:
            advice = f'`--name m` lands one module `m`, and m["{taken}"] is it'
            raise UsageError(f"%%kernel: `{taken}` is a word of Python's, which cannot be a name there; {advice}")
        return {name: module[name] for name in names}

    def _before_cell(self, info: Any) -> None:
        self._stored = bool(info.store_history)

    def _after_cell(self, result: Any) -> None:
        """The fault of a kernel that was queued in the cell is the cell's error; what it shows may be older than the last edit."""
        if result is not None and result.result is not None:
            self._session.warn(result.result, self._cell_name())
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

    @line_magic
    @no_var_expand
    @usage("%kernel_check")
    def kernel_check(self, line: str) -> Any:
        """%kernel_check OP [ARG...] [--reference EXPR] [--rtol R --atol A] [--equal-nan]: checks an operator against its reference.

        Without arguments arrays get some 4,099 random numbers, in the shapes of the signature, and scalars 1. ARG is an expression, or name=expression.
        """
        words = Expressions(self.shell, "%kernel_check")
        given = check_parser(words.fill).parse(split_line(line, "%kernel_check"))
        options = check_options(given)
        refuse_one(given, "%kernel_check")
        operator = self._operator(given.op, words)
        if given.reference is not None:
            options["reference"] = words.function(given.reference, f"--reference {given.reference}", "reference")
        elif operator.reference is None:
            raise UsageError(f"%kernel_check: {operator._lacks('reference', 'write --reference f')}")
        made = None
        for text in given.args:
            made = (made or Arguments()) + words.arguments(text)
        return check(operator, made, options, "%kernel_check", f"%kernel_check {given.op} ARG... gives others")

    @line_magic
    @no_var_expand
    @usage("%kernel_bench")
    def kernel_bench(self, line: str) -> Any:
        """%kernel_bench OP [NAME=EXPR...] [--sizes 1k:1M] [--make EXPR] [--bytes E] [--flops E]: times an operator, and others, over sizes.

        With `--bytes` and `--flops` the report has throughput, operations per second and a roofline. E is a number, an expression over the
        operator's arguments and `n`, the size (`--bytes "2 * x.nbytes" --flops n`), or `counted`.
        """
        words = Expressions(self.shell, "%kernel_bench")
        given = bench_parser(words.fill).parse(split_line(line, "%kernel_bench"))
        operator = self._operator(given.op, words)
        others = words.contestants(given.others)
        make = None if given.make is None else words.function(given.make, f"--make {given.make}", "maker of arguments")
        if make is None:
            random_ones(operator, "%kernel_bench", "write --make f, where f(n) makes them for a size")
        return bench(operator, others, None, given, make, words, "--make makes others")

    @line_magic
    @no_var_expand
    @usage("%kernel_printf")
    def kernel_printf(self, line: str) -> Any:
        """%kernel_printf [--block B] [--thread T] [--kernel NAME] [--contains TEXT]: who printed what in the last cell in which kernels did."""
        given = printf_parser(Expressions(self.shell, "%kernel_printf").fill).parse(split_line(line, "%kernel_printf"))
        return printed_table(given.block, given.thread, given.kernel, given.contains)

    @line_magic
    @no_var_expand
    @usage("%kernel_ir")
    def kernel_ir(self, line: str) -> Any:
        """%kernel_ir NAME [--asm | --c | --tiers] [--block B]: the IR of a kernel, of an operator's kernel or of a module, or its code."""
        words = Expressions(self.shell, "%kernel_ir")
        given = listing_parser(words.fill).parse(split_line(line, "%kernel_ir"))
        code, block = self._code_of(given.name, words)
        if given.block is not None and not (given.c or given.tiers):
            raise UsageError("%kernel_ir: --block is about --c and --tiers")
        if not (given.c or given.tiers):
            print(code.asm() if given.asm else code.ir(), end="")
            return None
        if isinstance(code, Module):
            raise UsageError(f"%kernel_ir: `{given.name}` is a module, and {'--c' if given.c else '--tiers'} is of one kernel: {', '.join(code.kernels)}")
        block = given.block or block
        if given.tiers:
            return code.tier_report(block)
        print(code.c_source(block), end="")
        return None

    @line_magic
    @no_var_expand
    @usage("%kernel_gpu")
    def kernel_gpu(self, line: str) -> None:
        """%kernel_gpu NAME [--arch sm_90]: the PTX that NVIDIA's compiler makes of a kernel, or of a module; it needs NVRTC and no GPU.

        Of a kernel: the header, its entry, and the functions and variables that it names.
        """
        words = Expressions(self.shell, "%kernel_gpu")
        given = gpu_parser(words.fill).parse(split_line(line, "%kernel_gpu"))
        code, _ = self._code_of(given.name, words)
        module = code if isinstance(code, Module) else code.module
        _, (source, state, timeout) = module.__reduce__()
        find_nvidia()
        state = {**state, "device": "cuda", "arch": given.arch or state["arch"]}
        try:
            ptx = rebuild(source, state, timeout).ptx()
        except (ArgumentError, DeviceUnavailable) as error:
            raise UsageError(f"%kernel_gpu: {error}") from None
        shown = ptx if isinstance(code, Module) else listing_of(ptx, code.name)
        if shown is None:
            advice = "a GPU has the instances of a template that the text names: `template __global__ void scale<float>(float*);`"
            raise UsageError(f"%kernel_gpu: the text for a GPU has no kernel `{code.name}`; {advice}")
        print(shown, end="")

    def _code_of(self, name: str, words: Expressions) -> tuple[Any, Any]:
        """The kernel or the module that a name stands for, and the block of its launches."""
        magic = words.magic
        made, block = words.value(name), None
        self._session.warn(made)
        if isinstance(made, Op):
            module, kernel = made.module, made._kernel_name()
            if isinstance(module[kernel], KernelTemplate):
                advice = f"{magic} \"{name}.module['{kernel}'].instance(...)\" with the arguments of a launch"
                raise UsageError(f"{magic}: `{name}` is an operator of the template `{kernel}`, whose instances have code; write {advice}")
            return module[kernel], block_of(made)
        if isinstance(made, KernelTemplate):
            raise UsageError(f"{magic}: `{made.name}` is a template, whose instances have code: `{made.name}.instance(...)` with arguments")
        if not isinstance(made, (Kernel, Module)):
            raise UsageError(f"{magic}: `{name}` is {a_type(made)}; a kernel, an operator of kernels or what wb.compile gives is wanted")
        if isinstance(made, Module) and not made.ir():
            of = f"templates alone ({', '.join(made.templates)}), whose instances have code" if made.templates else "no code"
            raise UsageError(f"{magic}: `{name}` has {of}")
        return made, block if isinstance(made, Module) else made._default_block()

    @line_magic
    @no_var_expand
    @usage("%timekernel")
    def timekernel(self, line: str) -> Any:
        """%timekernel [--seconds S] [--flush-cache] [-o] STATEMENT: times a statement, as `%timeit` does: the median of a call and its 95 % interval.

        A statement that queues work on a GPU is timed until the work is done. `-o` gives the report, too. Braces and dollars are Python's.
        """
        words, statement = options_before(line)
        given = time_parser(Expressions(self.shell, "%timekernel").fill).parse(words)
        run = self._callable_of(statement)
        report = time_callables({statement: run}, [1], lambda n: (), seconds_per_size=given.seconds, flush_cache=given.flush_cache)
        row = report.rows[0]
        caches = "flushed" if given.flush_cache else "warm"
        code = f", {row['tier']} code" if row["tier"] else ""
        print(
            f"{format_seconds(row['median'])} a call, 95 % interval {format_seconds(row['low'])} to {format_seconds(row['high'])} "
            f"({row['samples']:,} samples of {row['batch']:,}, caches {caches}{code})"
        )
        for note in report._notes:
            print(f"note: {note}")
        return report if given.wanted else None

    def _callable_of(self, statement: str) -> Any:
        """A function of a statement in the notebook's namespace, which waits for work on a GPU if the statement queues some."""
        try:
            body = ast.parse(statement, _TIMED).body
            compile(statement, _TIMED, "exec")
        except SyntaxError as error:
            raise UsageError(f"%timekernel {statement}: {error.msg}") from None
        if not body:
            raise UsageError("%timekernel: a statement is wanted: %timekernel saxpy[4, 256](2.0, x, y, n)")
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
    @no_var_expand
    @usage("%kernel_history")
    def kernel_history(self, line: str) -> Any:
        """%kernel_history NAME: every text the name stood for in this session, each with its difference from the one before.

        Of an operator its versions, with their checks and their times (`op.history`).
        """
        words = Expressions(self.shell, "%kernel_history")
        name = history_parser(words.fill).parse(split_line(line, "%kernel_history")).name
        if not name:
            raise UsageError("%kernel_history: whose? write %kernel_history NAME")
        made = self.shell.user_ns.get(name)
        self._session.warn(made)
        if isinstance(made, Op):
            return made.history
        texts = self._session.texts.get(name)
        if not texts:
            raise UsageError(f"%kernel_history: no cell has made `{name}`")
        return history_of_texts(name, [(text.when, text.text) for text in texts])

    def _operator(self, name: str, words: Expressions) -> Any:
        operator = words.value(name)
        if not isinstance(operator, Differentiable):
            raise UsageError(f"{words.magic}: `{name}` is no operator; make it one with `%%kernel --op SCHEMA`")
        return operator


def _names_in(words: Sequence[str]) -> set[str]:
    """The names of the module and of the operator that a line makes, which may have a mistake elsewhere."""
    said = dict(zip(words, words[1:]))
    return {said[option].split("(")[0].split("::")[-1].strip().replace(".", "_") for option in ("--op", "--name") if option in said}


def _parts_of(args: argparse.Namespace, tuning: Tuning | None) -> dict[str, Any]:
    """The parts of the operator of a cell besides its shape, in the first configuration of its tuning."""
    names = ("kernel", "threads", "block", "grid", "shared_mem")
    return {name: getattr(args, name) for name in names} if tuning is None else tuning.first_parts()


def _texts_of(cell: str, args: argparse.Namespace) -> list[str]:
    """The text of a cell and those of the headers that it includes."""
    found: dict[str, str] = {}
    options = parse_options([*(f"-I{folder}" for folder in args.folders), *args.options], args.device)
    collect_headers(cell, options.include_dirs, found)
    return [cell, *found.values()]


def _named(error: ArgumentError, tuning: Tuning | None) -> str:
    """The error of an operator that cannot be made, by the options of the line that say it."""
    text = in_options(error) if tuning is None else tuning.named(in_options(error))
    part, colon, rest = text.partition(":")
    return f"--{part.replace('_', '-')}:{rest}" if colon and part in ("threads", "grid", "block", "shared_mem") else text


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
    notebook_language_service.install(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Takes the magics and the drawing of errors back; `%unload_ext workbench` calls it. The names that cells have made stay known."""
    manager = shell.magics_manager
    magics = manager.registry.pop("WorkbenchMagics", None)
    if magics is not None:
        for known in manager.magics.values():
            for name in [name for name, method in known.items() if getattr(method, "__self__", None) is magics]:
                del known[name]
    if magics is not None and magics._before_cell in shell.events.callbacks["pre_run_cell"]:
        shell.events.unregister("pre_run_cell", magics._before_cell)
        shell.events.unregister("post_run_cell", magics._after_cell)
    if _help_without_a_body in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(_help_without_a_body)
    tracebacks.uninstall(shell)
    notebook_language_service.uninstall(shell)
