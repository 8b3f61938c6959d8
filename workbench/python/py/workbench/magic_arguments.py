"""Python expressions in a magic's line: references, contestants and arguments of a call."""

from __future__ import annotations

import ast
import contextlib
import itertools
import linecache
import re
from collections import ChainMap
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence

from IPython.core.error import UsageError
from IPython.utils.text import DollarFormatter

from ._annotations import a_type
from .errors import ArgumentError

__all__ = ["Arguments", "Expressions", "in_options", "random_ones", "said_as_random"]

#: Elements of a random argument of a check: odd, and more than one block of any size.
_RANDOM_SIZE = 4099
#: What else errors say of values that are no callables.
_CALLABLES = {"reference": " that takes the operator's arguments and gives its results: a function, a lambda, another operator"}
#: The numbers of the texts that tracebacks show.
_NUMBERS = itertools.count(1)
#: The name by which the arguments of a call are taken; no text that is an expression has it by chance.
_TAKE = "__workbench_take__"

#: Keywords of `wb.op`, `wb.compile` and `register_autograd`, each with its value, and the options of a line that say the same.
_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in ("kernel", "threads", "grid", "block", "shared_mem", "shape", "reference", "arch", "device")}
_OPTIONS |= {"saves": "--saves", "differentiable": "--differentiable", "setup_context": "--setup-context", "make_args": "--make", "rtol": "--rtol", "atol": "--atol"}
_KEYWORD = re.compile(rf"(?<![\w-])({'|'.join(_OPTIONS)})=(\[\.\.\.\]|\"[^\"]*\"|\([\d, ]*\)|\w+)?")


@dataclass(frozen=True)
class Arguments:
    """Arguments of a call: values, and values by name."""

    values: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)

    def __add__(self, other: Arguments) -> Arguments:
        for name in self.named.keys() & other.named.keys():
            raise UsageError(f"the argument `{name}` is there twice; give it once")
        return Arguments(self.values + other.values, {**self.named, **other.named})

    @staticmethod
    def of_order(operator: Any, inputs: Sequence[Any]) -> Arguments:
        """The arguments of an operator in its schema's order, the keyword-only ones by name."""
        count = operator._positional
        return Arguments(tuple(inputs[:count]), dict(zip(operator.params[count:], inputs[count:])))


class Expressions:
    """The expressions of one line of a magic, evaluated in the notebook's namespace. A mistake names the magic and the text as it was written."""

    def __init__(self, shell: Any, magic: str) -> None:
        self.shell, self.magic = shell, magic

    def fill(self, text: str, own: Mapping[str, Any] | None = None) -> str:
        """A text with `{...}` and `$name` filled in; raises what an expression in it raises. `own` are names before those of the notebook."""
        if not any(mark in text for mark in "{}$"):
            return text
        # The formatter evaluates, and takes a dict alone.
        space = {**self.shell.user_ns, **own} if own else self.shell.user_ns
        return DollarFormatter().vformat(text, args=[], kwargs=space)

    def value(self, text: str, label: str | None = None) -> Any:
        """The value of an expression. `label` is what was written, `--reference f`, if that is more than the expression."""
        label = text if label is None else label
        text = text.strip()
        try:
            tree = ast.parse(text, mode="eval")
        except (SyntaxError, ValueError) as error:
            raise self._mistake(text, label, error) from None
        return self._run(tree, text, label, self.shell.user_ns)

    def function(self, text: str, label: str, what: str) -> Any:
        """The value of an expression that is a callable."""
        made = self.value(text, label)
        if not callable(made):
            raise UsageError(f"{self.magic}: {label}: {a_type(made)} is no {what}; a callable is wanted{_CALLABLES.get(what, '')}")
        return made

    def contestants(self, texts: Sequence[str], option: str = "") -> dict[str, Any]:
        """Callables by their names, of `name=expression` each."""
        parts = [text.partition("=") for text in texts]
        for text, (name, equals, expression) in zip(texts, parts):
            if not equals or not name.strip() or not expression.strip():
                raise UsageError(f'{self.magic}: `{text}` names no contestant; write name=expression, and in quotes if there are spaces: "f=lambda x: x"')
        names = [name.strip() for name, _, _ in parts]
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise UsageError(f"{self.magic}: two contestants are called `{twice}`; give one of them another name")
        return {name: self.function(part[2], f"{option}{text}", "contestant") for name, part, text in zip(names, parts, texts)}

    def count(self, text: str, label: str, operator: Any, make: Any, words: Sequence[str]) -> Any:
        """What a call of an operator moves or does: one of the `words` of `wb.bench`, or a callable of the size, for an expression over `n`, the size, and the
        operator's arguments, as `make` makes them for it."""
        text = text.strip()
        if text in words:
            return text
        try:
            tree = ast.parse(text, mode="eval")
        except (SyntaxError, ValueError) as error:
            raise self._mistake(text, label, error) from None
        found: dict[int, Any] = {}

        def counted(size: int) -> Any:
            if size not in found:
                made = make(size)
                values = dict(zip(operator.params, made if isinstance(made, tuple) else (made,)))
                value = self._run(tree, text, label, ChainMap({"n": size, **values}, self.shell.user_ns))
                found[size] = value(size) if callable(value) else value
                self._hold_count(found[size], label, size, (*operator.params, *([] if "n" in operator.params else ["n"])), words)
            return found[size]

        return counted

    def _hold_count(self, value: Any, label: str, size: int, names: Sequence[str], words: Sequence[str]) -> None:
        try:
            fits = value == int(value) >= 0
        except (TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            either = f"{', '.join(words)}, or an expression of {', '.join(names)} that gives a whole number from 0 on"
            raise UsageError(f"{self.magic}: {label}: it is {value!r} at size {size}; write {either}")

    @contextlib.contextmanager
    def about(self, label: str) -> Iterator[None]:
        """Errors of values that do not fit an operator, with the word of the line that gives them."""
        try:
            yield
        except ArgumentError as error:
            raise UsageError(f"{self.magic}: {label}: {in_options(error)}") from None

    def arguments(self, text: str, label: str | None = None) -> Arguments:
        """The arguments of a call as they stand between its parentheses: `x, c=2.0`."""
        label = text if label is None else label
        try:
            tree = ast.parse(f"_({text})", mode="eval")
        except (SyntaxError, ValueError) as error:
            raise self._mistake(text, label, _own_error(text, error)) from None
        call = tree.body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise UsageError(f"{self.magic}: {label}: these are no arguments of one call; write them as between its parentheses: x, c=2.0")
        call.func = ast.copy_location(ast.Name(_TAKE, ast.Load()), call.func)
        space = ChainMap({_TAKE: lambda *values, **named: Arguments(values, named)}, self.shell.user_ns)
        made: Arguments = self._run(tree, f"  {text}", label, space)
        return made

    def _run(self, tree: ast.Expression, text: str, label: str, space: Any) -> Any:
        # Tracebacks of what it makes show the text.
        name = f"<{self.magic} {next(_NUMBERS)}>"
        linecache.cache[name] = (len(text), None, [text], name)
        try:
            return eval(compile(tree, name, "eval"), self.shell.user_global_ns, space)
        except Exception as error:
            # The function that takes the arguments of a call is ours, and its name says nothing.
            what = str(error).replace(f"{__name__}.{Expressions.arguments.__qualname__}.<locals>.<lambda>() ", "")
            raise UsageError(f"{self.magic}: {label}: {type(error).__name__}: {what}") from error

    def _mistake(self, text: str, label: str, error: Exception) -> UsageError:
        # A word that was cut off at a space seldom is an expression.
        advice = "" if " " in text else "; an expression with spaces stands in quotes"
        return UsageError(f"{self.magic}: {label}: {type(error).__name__}: {getattr(error, 'msg', error)}{advice}")


def _own_error(text: str, error: Exception) -> Exception:
    """The error of a text that does not parse between parentheses, by itself if it knows nothing of these: `x[:3` lacks its own bracket."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as own:
        return own if "never closed" in str(own) else error
    return error


def in_options(error: Exception) -> str:
    """The text of an error about keywords of Python's, with the options of a line in their place: of its first line, as others quote.

    >>> in_options(ArgumentError('say which with kernel=; block=(16, 8) and shape="x[n] -> y[n]" are there'))
    'say which with --kernel; --block 16,8 and --shape "x[n] -> y[n]" are there'
    """

    def option(found: re.Match[str]) -> str:
        value = (found[2] or "").removeprefix("[...]")
        value = value.strip("()").replace(" ", "") if value.startswith("(") else value
        return f"{_OPTIONS[found[1]]} {value}".rstrip()

    first, newline, rest = str(error).partition("\n")
    return _KEYWORD.sub(option, first) + newline + rest


def random_ones(operator: Any, magic: str, remedy: str, size: int = _RANDOM_SIZE) -> Arguments:
    """Random arguments of an operator of kernels, arrays of about `size` elements; UsageError for others, whose arrays nothing describes, with what gives them arguments."""
    make = getattr(operator, "_check_args", None)
    if make is None:
        raise UsageError(f"{magic}: `{operator.name}` is no operator of kernels, so nothing says what its arrays are; {remedy}")
    try:
        return Arguments.of_order(operator, make(size))
    except ArgumentError as error:
        raise UsageError(f"{magic}: {in_options(error)}; {remedy}") from None


@contextlib.contextmanager
def said_as_random(magic: str, remedy: str) -> Iterator[None]:
    """Errors of a call on random arguments, with the word that they are random."""
    note = f"the arguments are random arrays, as none are given; {remedy}"
    try:
        yield
    except ArgumentError as error:
        raise UsageError(f"{magic}: {in_options(error)} ({note})") from None
    except UsageError:
        raise
    except Exception:
        print(f"{magic}: {note}")
        raise
