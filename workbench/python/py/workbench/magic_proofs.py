"""Checks, gradient checks and timings of the operator of a cell, as the line of its magic asks."""

from __future__ import annotations

import argparse
from typing import Any, Callable, ContextManager

from IPython.core.error import UsageError
from IPython.display import display

from . import gradient_checks
from ._annotations import a_type
from ._workbench import ExtensionFunction, HostFunction, Kernel, KernelTemplate
from .differentiable import Differentiable
from .errors import ArgumentError
from .magic_arguments import Arguments, Expressions, random_ones, said_as_random
from .magic_options import parse_sizes, tolerances
from .magic_tuning import NoneRight, Tuning

__all__ = ["SIZES", "bench", "check", "give_gradient", "prove"]

#: The sizes of a benchmark that is given none.
SIZES = parse_sizes("1k:1M")
#: The elements of random arrays of a gradient check, which calls the operator twice for each: odd, and more than a warp has threads.
_GRADIENT_SIZE = 33


def check(operator: Any, given: Arguments | None, options: dict[str, Any], magic: str, remedy: str) -> Any:
    """A check on values, or on random ones where there are none."""
    if given is not None:
        return operator.check(*given.values, **given.named, **options)
    made = random_ones(operator, magic, remedy.replace(" others", " some"))
    with said_as_random(magic, remedy):
        return operator.check(*made.values, **made.named, **options)


def bench(
    operator: Any,
    others: dict[str, Any],
    given: Arguments | None,
    args: argparse.Namespace,
    make: Any,
    words: Expressions,
    remedy: str,
) -> Any:
    """A benchmark over the sizes of a line, or on values where there are some and no sizes."""
    is_given = given is not None and args.sizes is None and make is None
    values = operator._arguments(given.values, given.named) if given is not None and is_given else ()
    made = (lambda _: values) if is_given else make or getattr(operator, "_random_args", None)
    work = {
        option: words.count(text, f"--{option} {text}", operator, made, known)
        for option, known in (("bytes", ("counted", "arguments")), ("flops", ("counted",)))
        if (text := getattr(args, option)) is not None
    }
    if is_given:
        return operator.bench(*values, others=others, **work)
    if make is not None:
        return operator.bench(sizes=args.sizes or SIZES, others=others, make_args=make, **work)
    with said_as_random(words.magic, remedy):
        return operator.bench(sizes=args.sizes or SIZES, others=others, **work)


def give_gradient(operator: Any, args: argparse.Namespace, words: Expressions) -> UsageError | None:
    """Registers the gradient that a cell's line gives; gives what is wrong with it, without which the operator is left then."""
    if args.autograd is None:
        return None
    try:
        label = f"--autograd {args.autograd}"
        backward = words.value(args.autograd, label)
        setup = None if args.setup_context is None else words.function(args.setup_context, f"--setup-context {args.setup_context}", "setup_context")
        _refuse_backward(backward, args, label)
        options = {"setup_context": setup} if args.saves is None else {"saves": args.saves, "differentiable": args.differentiable}
        try:
            operator.register_autograd(backward, **options)
        except ArgumentError as error:
            given = f"{label} --saves {','.join(args.saves)}" if args.saves is not None else label
            given += f" --differentiable {','.join(args.differentiable)}" if args.differentiable is not None else ""
            raise UsageError(f"{words.magic}: {given}: {error}") from None
    except UsageError as error:
        mistake = UsageError(f"{error}; the operator is there without a gradient, so run the cell again when there is one")
        mistake.__cause__ = error.__cause__
        return mistake
    return None


def _refuse_backward(backward: Any, args: argparse.Namespace, label: str) -> None:
    """Raises UsageError for a value that is no backward."""
    if isinstance(backward, (Kernel, KernelTemplate)):
        advice = f'make it an operator in a cell of its own, and write --autograd wb.ops.lab.{backward.name.partition("<")[0]} --saves x'
        raise UsageError(f"%%kernel: {label}: a kernel does not say what it allocates and how it is launched; {advice}")
    is_operator = isinstance(backward, (str, Differentiable, HostFunction, ExtensionFunction))
    if is_operator and args.saves is None:
        what = "the name of an operator" if isinstance(backward, str) else a_type(backward)
        raise UsageError(f"%%kernel: {label}: {what} is called with the gradients and saved values; name these, as in --saves x,output")
    if not is_operator and not callable(backward):
        raise UsageError(f"%%kernel: {label}: {a_type(backward)} is no backward; a callable is wanted, backward(ctx, *grads), or an operator with --saves")


def prove(operator: Any, args: argparse.Namespace, words: Expressions, tuning: Tuning | None, undo: Callable[[], bool]) -> bool:
    """Checks, tunes and times the operator of a cell, as its line asks; what is wrong is neither tuned nor timed. Mistakes in the line come
    before all of it. Gives True if the operator has become another configuration. A tuning that finds none calls `undo`, which gives the
    operator the meaning that it had before the cell, and True if it had one."""
    given = None if args.args is None else words.arguments(args.args, f"--args {args.args}")
    has_own = isinstance(args.check, str)
    reference = words.function(args.check, f"--check {args.check}", "reference") if has_own else operator.reference
    if args.check is not None and reference is None:
        raise UsageError(f"%%kernel: `{operator.name}` has no reference; write --check f or --reference f")
    at = _gradient_arguments(operator, given, args, words)
    others = words.contestants(args.bench or [], "--bench ")
    if has_own and not others:
        # The times are beside what was checked against.
        others = {"reference" if operator.__name__ != "reference" else "its reference": reference}
    make = None if args.make is None else words.function(args.make, f"--make {args.make}", "maker of arguments")
    if tuning is not None:
        tuning.hold_operator(operator, make)
    if (args.bench is not None or tuning is not None) and given is None and make is None:
        random_ones(operator, "%%kernel", "write --args or --make")
    undone = " and ".join([*(["tuned"] if tuning is not None else []), *(["timed"] if args.bench is not None else [])])
    if args.check is not None:
        with _about_args(operator, given, args, words):
            report = check(operator, given, {"reference": reference, **tolerances(args)}, "%%kernel", "--args gives others")
        display(report)
        if not report:
            _say_undone(undone, "it does not agree with its reference")
            return False
    if args.gradcheck is not None:
        label = f"--gradcheck {args.gradcheck}" if isinstance(args.gradcheck, str) else f"--args {args.args}"
        inputs = lambda: operator._arguments(at.values, at.named) if at is not None else ()
        with words.about(label, lambda: at is not None and gradient_checks.fit(operator, inputs())):
            graded = _gradcheck(operator, at)
        display(graded)
        if not graded:
            _say_undone(undone, "its gradient does not agree with differences")
            return False
    is_other = False
    if tuning is not None:
        try:
            with _about_args(operator, given, args, words):
                is_other = tuning.run(operator, reference, given, args.sizes, make, tolerances(args), undo)
        except NoneRight:
            _say_undone("timed" if args.bench is not None else "", "no configuration is right")
            return False
        except Exception:
            undo()
            raise
    if args.bench is not None:
        with _about_args(operator, given, args, words):
            display(bench(operator, others, given, args, make, words, "--make makes others, and --args gives some"))
    return is_other


def _about_args(operator: Any, given: Arguments | None, args: argparse.Namespace, words: Expressions) -> ContextManager[None]:
    """Errors of the arguments of `--args`, with the option."""
    fit = lambda: given is not None and operator._hold_arguments(operator._arguments(given.values, given.named))
    return words.about(f"--args {args.args}", fit)


def _say_undone(undone: str, why: str) -> None:
    if undone:
        print(f"%%kernel: not {undone}, because {why}")


def _gradient_arguments(operator: Any, given: Arguments | None, args: argparse.Namespace, words: Expressions) -> Arguments | None:
    """The arguments of a gradient check: its own, those of the line, or None for random ones. UsageError where there is no gradient to check."""
    if args.gradcheck is None:
        return None
    if operator._backward is None and not getattr(operator, "_has_gradient", False):
        raise UsageError(f"%%kernel: --gradcheck: `{operator.name}` has no gradient; write --autograd f, where f(ctx, *grads) gives one gradient per input")
    if isinstance(args.gradcheck, str):
        return words.arguments(args.gradcheck, f"--gradcheck {args.gradcheck}")
    if given is None:
        random_ones(operator, "%%kernel", "write --args, or --gradcheck with arguments")
    return given


def _gradcheck(operator: Any, given: Arguments | None) -> Any:
    """A gradient check on values, or on random ones where there are none."""
    if given is not None:
        # By position, as the names of arguments may be those of the check's own options, such as `eps`.
        made = Arguments.of_order(operator, operator._arguments(given.values, given.named))
        return operator.gradcheck(*made.values, raise_exception=False, **made.named)
    made = random_ones(operator, "%%kernel", "write --args, or --gradcheck with arguments", _GRADIENT_SIZE)
    with said_as_random("%%kernel", "--gradcheck takes others: --gradcheck x[:50]"):
        return operator.gradcheck(*made.values, raise_exception=False, **made.named)
