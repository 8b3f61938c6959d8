"""Checks, gradient checks and timings of the operator of a cell, as the line of its magic asks."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from IPython.core.error import UsageError
from IPython.display import display

from . import gradient_checks
from ._annotations import a_type
from ._workbench import ExtensionFunction, HostFunction, Kernel, KernelTemplate
from .differentiable import Differentiable
from .errors import ArgumentError
from .magic_arguments import Arguments, Expressions, in_options, random_ones, said_as_random
from .magic_options import SIZES, check_options, tolerances
from .magic_tuning import NoneRight, Tuning

__all__ = ["Asked", "bench", "check", "prove"]

#: The elements of random arrays of a gradient check, which calls the operator twice for each: odd, and more than a warp has threads.
_GRADIENT_SIZE = 33
#: What gives a check and a gradient check arguments that are not random.
_CHECKED = "--args or --make gives others"
_GRADED = "--gradcheck takes others: --gradcheck x[:50]"
_GRADED_ON = "write --args, or --gradcheck with arguments"


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
    made, sizes = _timed_on(operator, given, args, make)
    work = _work(operator, made, args, words)
    if given is not None and args.sizes is None and make is None:
        return operator.bench(*made(sizes[0]), others=others, **work)
    if make is not None:
        return operator.bench(sizes=sizes, others=others, make_args=make, **work)
    with said_as_random(words.magic, remedy):
        return operator.bench(sizes=sizes, others=others, **work)


def _gradient(trial: Any, args: argparse.Namespace, words: Expressions) -> tuple[str, Any, dict[str, Any]] | None:
    """The arguments of `register_autograd`, with what was written; UsageError for what is no gradient of the operator."""
    if args.autograd is None:
        return None
    label = f"--autograd {args.autograd}"
    backward = words.value(args.autograd, label)
    setup = None if args.setup_context is None else words.function(args.setup_context, f"--setup-context {args.setup_context}", "setup_context")
    _refuse_backward(backward, args, label)
    label += f" --saves {','.join(args.saves)}" if args.saves is not None else ""
    label += f" --differentiable {','.join(args.differentiable)}" if args.differentiable is not None else ""
    with words.about(label):
        trial._rule_of(backward, setup, args.saves, args.differentiable)
    options = {"setup_context": setup} if args.saves is None else {"saves": args.saves, "differentiable": args.differentiable}
    return f"{words.magic}: {label}", backward, options


def _refuse_backward(backward: Any, args: argparse.Namespace, label: str) -> None:
    """Raises UsageError for a value that is no backward."""
    if isinstance(backward, (Kernel, KernelTemplate)):
        advice = f'make it an operator in a cell of its own, and write --autograd wb.ops.lab.{backward.name.partition("<")[0]} --saves x'
        raise UsageError(f"%%kernel: {label}: a kernel does not say what it allocates and how it is launched; {advice}")
    is_operator = isinstance(backward, (str, Differentiable, HostFunction, ExtensionFunction))
    if is_operator and args.saves is None:
        what = "the name of an operator" if isinstance(backward, str) else "an operator" if isinstance(backward, Differentiable) else a_type(backward)
        raise UsageError(f"%%kernel: {label}: {what} is called with the gradients and saved values; name these, as in --saves x,output")
    if not is_operator and not callable(backward):
        raise UsageError(f"%%kernel: {label}: {a_type(backward)} is no backward; a callable is wanted, backward(ctx, *grads), or an operator with --saves")


def _timed_on(operator: Any, given: Arguments | None, args: argparse.Namespace, make: Any) -> tuple[Any, list[int]]:
    """What makes the arguments of a benchmark for a size, None where nothing does, and its sizes: the values of a line where it has neither sizes nor a maker."""
    if given is None or args.sizes is not None or make is not None:
        return make or getattr(operator, "_random_args", None), args.sizes or SIZES
    values = operator._arguments(given.values, given.named)
    return lambda _: values, [max((math.prod(np.shape(value)) for value in values), default=1)]


def _work(operator: Any, make: Any, args: argparse.Namespace, words: Expressions) -> dict[str, Any]:
    """What a call of a benchmark moves and does, as the line counts it."""
    return {
        option: words.count(text, f"--{option} {text}", operator, make, known)
        for option, known in (("bytes", ("counted", "arguments")), ("flops", ("counted",)))
        if (text := getattr(args, option)) is not None
    }


@dataclass(frozen=True)
class Asked:
    """What the line of a cell asks of its operator: the values of its expressions, which fit the operator as `trial` has it, which is registered
    nowhere."""

    trial: Any
    #: What the operator keeps, and what the cell checks it against.
    reference: Any
    checked: Any
    #: The arguments of `register_autograd`, with what was written.
    gradient: tuple[str, Any, dict[str, Any]] | None
    #: The arguments of the line, those of its check, and those of its gradient check; None for random ones.
    given: Arguments | None
    check: Arguments | None
    graded: Arguments | None
    others: dict[str, Any]
    make: Any

    @staticmethod
    def of_line(trial: Any, args: argparse.Namespace, words: Expressions, tuning: Tuning | None) -> Asked:
        """Reads the line; UsageError for what is no value, and for what does not fit the operator."""
        reference = None if args.reference is None else words.function(args.reference, f"--reference {args.reference}", "reference")
        gradient = _gradient(trial, args, words)
        given = None if args.args is None else words.arguments(args.args, f"--args {args.args}")
        has_own = isinstance(args.check, str)
        checked = words.function(args.check, f"--check {args.check}", "reference") if has_own else reference
        if args.check is not None and checked is None:
            raise UsageError(f"%%kernel: `{trial.name}` has no reference; write --check f or --reference f")
        make = None if args.make is None else words.function(args.make, f"--make {args.make}", "maker of arguments")
        graded = _gradient_arguments(trial, gradient is not None, given, make, args, words)
        others = words.contestants(args.bench or [], "--bench ")
        if has_own and not others:
            # The times are beside what was checked against.
            others = {"reference" if trial.__name__ != "reference" else "its reference": checked}
        if tuning is not None:
            tuning.hold_operator(trial, make)
        if (args.bench is not None or tuning is not None) and make is None and (given is None or args.sizes is not None):
            random_ones(trial, "%%kernel", "write --args or --make" if given is None else "write --make, or leave out --sizes")
        checks = _made(trial, make, (args.sizes or SIZES)[0]) if args.check is not None and given is None and make is not None else given
        asked = Asked(trial, reference, checked, gradient, given, checks, graded, others, make)
        asked._hold(args, words)
        return asked

    def _hold(self, args: argparse.Namespace, words: Expressions) -> None:
        """Raises UsageError for arguments that do not fit the operator, and for counts that are none at the first size."""
        trial, given = self.trial, self.given
        is_timed_on = (args.bench is not None or args.tune is not None) and args.sizes is None and self.make is None
        if given is not None and (args.check is not None or is_timed_on):
            with words.about(f"--args {args.args}"):
                trial._hold_arguments(trial._arguments(given.values, given.named))
        elif args.check is not None and self.check is not None:
            with words.about(f"--make {args.make}"):
                trial._hold_arguments(trial._arguments(self.check.values, self.check.named))
        elif args.check is not None:
            made = random_ones(trial, "%%kernel", _CHECKED.replace(" others", " some"))
            with said_as_random("%%kernel", _CHECKED):
                trial._hold_arguments(trial._arguments(made.values, made.named))
        if args.gradcheck is not None and self.graded is not None:
            own = f"--gradcheck {args.gradcheck}" if isinstance(args.gradcheck, str) else f"--make {args.make}" if given is None else f"--args {args.args}"
            with words.about(own):
                gradient_checks.fit(trial, trial._arguments(self.graded.values, self.graded.named))
        elif args.gradcheck is not None:
            made = random_ones(trial, "%%kernel", _GRADED_ON, _GRADIENT_SIZE)
            with said_as_random("%%kernel", _GRADED):
                gradient_checks.fit(trial, trial._arguments(made.values, made.named))
        if args.bench is not None:
            make, sizes = _timed_on(trial, given, args, self.make)
            for count in _work(trial, make, args, words).values():
                if callable(count):
                    count(sizes[0])

    def register(self, define: Callable[[], Any]) -> Any:
        """Registers the operator, by `define`, with its gradient."""
        operator = define()
        if self.gradient is not None:
            label, backward, options = self.gradient
            try:
                operator.register_autograd(operator if backward is self.trial else backward, **options)
            except ArgumentError as error:
                raise UsageError(f"{label}: {in_options(error)}") from None
        return operator


def prove(operator: Any, asked: Asked, args: argparse.Namespace, words: Expressions, tuning: Tuning | None, undo: Callable[[], bool]) -> bool:
    """Checks, tunes and times the operator of a cell, as its line asks; what is wrong is neither tuned nor timed. Gives True if the operator has
    become another configuration. A tuning that finds none calls `undo`, which gives the operator the meaning that it had before the cell, and
    True if it had one."""
    given, make, at, reference = asked.given, asked.make, asked.graded, asked.checked
    others = {name: operator if other is asked.trial else other for name, other in asked.others.items()}
    undone = " and ".join([*(["tuned"] if tuning is not None else []), *(["timed"] if args.bench is not None else [])])
    if args.check is not None:
        report = check(operator, asked.check, {"reference": reference, **check_options(args)}, "%%kernel", _CHECKED)
        display(report)
        if not report:
            _say_undone(undone, "it does not agree with its reference")
            return False
    if args.gradcheck is not None:
        graded = _gradcheck(operator, at)
        display(graded)
        if not graded:
            _say_undone(undone, "its gradient does not agree with differences")
            return False
    is_other = False
    if tuning is not None:
        try:
            is_other = tuning.run(operator, reference, given, args.sizes, make, tolerances(args), undo)
        except NoneRight:
            _say_undone("timed" if args.bench is not None else "", "no configuration is right")
            return False
        except Exception:
            undo()
            raise
    if args.bench is not None:
        display(bench(operator, others, given, args, make, words, "--make makes others, and --args gives some"))
    return is_other


def _say_undone(undone: str, why: str) -> None:
    if undone:
        print(f"%%kernel: not {undone}, because {why}")


def _made(operator: Any, make: Any, size: int) -> Arguments:
    """The arguments that a maker makes for a size."""
    made = make(size)
    return Arguments.of_order(operator, made if isinstance(made, tuple) else (made,))


def _gradient_arguments(
    trial: Any, is_given_one: bool, given: Arguments | None, make: Any, args: argparse.Namespace, words: Expressions
) -> Arguments | None:
    """The arguments of a gradient check: its own, those of the line, or None for random ones. UsageError where there is no gradient to check."""
    if args.gradcheck is None:
        return None
    if not is_given_one and not getattr(trial, "_has_gradient", False):
        raise UsageError(f"%%kernel: --gradcheck: `{trial.name}` has no gradient; write --autograd f, where f(ctx, *grads) gives one gradient per input")
    if isinstance(args.gradcheck, str):
        return words.arguments(args.gradcheck, f"--gradcheck {args.gradcheck}")
    if given is None and make is not None:
        return _made(trial, make, _GRADIENT_SIZE)
    if given is None:
        random_ones(trial, "%%kernel", _GRADED_ON)
    return given


def _gradcheck(operator: Any, given: Arguments | None) -> Any:
    """A gradient check on values, or on random ones where there are none."""
    if given is not None:
        # By position, as the names of arguments may be those of the check's own options, such as `eps`.
        made = Arguments.of_order(operator, operator._arguments(given.values, given.named))
        return operator.gradcheck(*made.values, raise_exception=False, **made.named)
    made = random_ones(operator, "%%kernel", _GRADED_ON, _GRADIENT_SIZE)
    with said_as_random("%%kernel", _GRADED):
        return operator.gradcheck(*made.values, raise_exception=False, **made.named)
