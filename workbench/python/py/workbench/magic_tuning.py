"""`%%kernel --tune`: the values of its parameters, the first configuration, which the cell makes, and the best, which it leaves."""

from __future__ import annotations

import argparse
import ast
import math
import re
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import numpy as np
from IPython.core.error import UsageError
from IPython.display import display

from . import tuning
from .description import split_list
from .errors import nearest
from .magic_arguments import Arguments
from .operators import Op
from .tuning_worker import DTYPE, OPTIONS, macros_of, name_of, parts_of, text_of

__all__ = ["NoneRight", "TunedName", "Tuning", "parameter", "tuned_names"]

#: The size that is tuned at where the line has none, as that of `wb.tune`.
_SIZE = 1 << 20
#: The parameters that are options of the line, by the names that they have there.
_SAID = {"block": "--block", "threads": "--threads", "grid": "--grid", "shared_mem": "--shared-mem", "kernel": "--kernel"}
#: The least number that each of these options has.
_LEAST = {"block": 1, "threads": 1, "grid": 1, "shared_mem": 0}
_INTEGER = re.compile(r"[+-]?\d+")
_TRUTH = {"True": True, "False": False}


class TunedName:
    """A parameter in the text of a launch: `{PER}` stays as it is written, for each configuration to fill in. It can do nothing else."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __format__(self, form: str) -> str:
        if form:
            raise ValueError(f"{self._name} is a parameter of --tune, which has no format")
        return "{" + self._name + "}"

    def __str__(self) -> str:
        return "{" + self._name + "}"

    def _refuse(self, *_: Any) -> Any:
        raise TypeError(f"{self} is filled in by each configuration of --tune; write the name alone in its braces, and what is done with it around them")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refuse
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __getitem__ = __call__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


def tuned_names(words: Sequence[str]) -> list[str]:
    """The names of the parameters in the words of a line.

    >>> tuned_names(["--tune", "PER=1,2", "--tune=block=64,128"])
    ['PER', 'block']
    """
    texts = [after for word, after in zip(words, words[1:]) if word == "--tune"]
    texts += [word.removeprefix("--tune=") for word in words if word.startswith("--tune=")]
    return [name for text in texts if (name := text.partition("=")[0].strip()).isidentifier()]


def parameter(text: str) -> tuple[str, list[Any]]:
    """The name and the values of a parameter. Ints, truth values and tuples are Python's, and so is a list in brackets as a whole; other values
    are texts.

    >>> parameter("PER=1,2,4"), parameter("block=64,(16, 16)"), parameter("T=float,double")
    (('PER', [1, 2, 4]), ('block', [64, (16, 16)]), ('T', ['float', 'double']))
    >>> parameter("T=['pair<int, int>', 'float']")
    ('T', ['pair<int, int>', 'float'])
    """
    name, equals, rest = text.partition("=")
    name = name.strip()
    if not equals or not name or not rest.strip():
        raise UsageError(f"--tune {text}: a name and its values are wanted, as in --tune PER=1,2,4")
    if not name.isidentifier():
        raise UsageError(f"--tune {text}: `{name}` is no name of a macro or an option")
    if name == "shape":
        raise UsageError(f"--tune {text}: the shape is what the operator promises, and is not tuned; write --shape")
    parts = split_list(rest)
    is_list = len(parts) == 1 and parts[0].startswith("[")
    values = _literal(parts[0]) if is_list else [_value(part) for part in parts]
    if not isinstance(values, list):
        raise UsageError(f"--tune {text}: {rest.strip()} is no list of numbers and texts")
    if "" in parts or not values:
        raise UsageError(f"--tune {text}: a value is missing")
    if name == "block" and not all(_is_block(value) for value in values):
        raise UsageError(f"--tune {text}: a block has numbers of threads: 256, or (16, 16)")
    if name in _LEAST:
        _hold_extents(name, values, text)
    shown = [str(value) for value in values]
    twice = next((value for at, value in enumerate(shown) if value in shown[:at]), None)
    if twice is not None:
        raise UsageError(f"--tune {text}: {twice} is there twice; give each value once")
    return name, values


def _hold_extents(name: str, values: Sequence[Any], text: str) -> None:
    """Raises UsageError for numbers that no launch has."""
    for value in values:
        extents = [part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, int)]
        if any(part < _LEAST[name] for part in extents):
            raise UsageError(f"--tune {text}: {name} is {value}; numbers are {_LEAST[name]} or more")
        if name == "block" and math.prod(extents) > 1024:
            raise UsageError(f"--tune {text}: a block has at most 1024 threads{f', and {value} has {math.prod(extents)}' if len(extents) > 1 else ''}")


def _is_block(value: Any) -> bool:
    extents = value if isinstance(value, tuple) else (value,)
    return 1 <= len(extents) <= 3 and all(isinstance(extent, int) and not isinstance(extent, bool) for extent in extents)


def _value(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text)
    if text in _TRUTH:
        return _TRUTH[text]
    literal = _literal(text) if text.startswith("(") else None
    return literal if isinstance(literal, tuple) else text


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _is_odd_number(value: Any, least: int) -> bool:
    """True for a number that is no whole one from `least` on; a text that is no number may be an expression."""
    if isinstance(value, (bool, np.bool_)):
        return False
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return not math.isfinite(number) or number < least or number != int(number)


class NoneRight(Exception):
    """No configuration is right; the report and what became of the operator have been shown."""


@dataclass(frozen=True)
class Tuning:
    """The tuning that the line of a cell asks for. `parts` are those of the operator, as the line has them."""

    params: dict[str, list[Any]]
    parts: dict[str, Any]

    @staticmethod
    def of_line(args: argparse.Namespace) -> Tuning | None:
        """The tuning of a line; None where it asks for none. UsageError for parameters that the line says otherwise, too."""
        if args.tune is None:
            return None
        params: dict[str, list[Any]] = {}
        for name, values in args.tune:
            if name in params:
                raise UsageError(f"--tune {name}=...: `{name}` is there twice; give all its values in one")
            params[name] = values
        for name in params:
            if name in _SAID and getattr(args, name) is not None:
                raise UsageError(f"--tune {name}=... and {_SAID[name]} both say it; leave out {_SAID[name]}")
            if any(text.partition("=")[0].strip() == name for text in args.defines):
                raise UsageError(f"--tune {name}=... and -D {name} both define the macro; leave out -D {name}")
        return Tuning(params, {name: getattr(args, name) for name in _SAID})

    @property
    def first(self) -> dict[str, Any]:
        """The first configuration, which the cell compiles and checks, and which others are compared with."""
        return {name: values[0] for name, values in self.params.items()}

    def macros(self) -> dict[str, str]:
        """The macros of the first configuration."""
        return macros_of(self.parts["kernel"], self.first)

    def first_parts(self) -> dict[str, Any]:
        """The parts of the operator in the first configuration."""
        parts = parts_of({**self.parts, "shape": None}, self.first)
        return {name: parts[name] for name in self.parts}

    def said(self, name: str) -> str:
        """A parameter as the line has it."""
        return f"--tune {name}={','.join(text_of(value) for value in self.params[name])}"

    def hold_names(self, texts: Sequence[str]) -> None:
        """Raises UsageError for a macro that nothing uses, neither the texts nor the launch: all its values would be the same."""
        launch = " ".join(str(part) for part in self.parts.values())
        for name in self.macros():
            if "{" + name + "}" not in launch and not any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts):
                words = [word for text in (*texts, launch) for word in re.findall(r"[A-Za-z_]\w+", text)]
                hint = nearest(name, [*words, *OPTIONS, DTYPE], 0.7)
                raise UsageError(f"--tune {name}=...: neither the text nor the launch has `{name}`{hint or ';'} options are {', '.join((*OPTIONS, DTYPE))}")

    def hold_numbers(self) -> None:
        """Raises UsageError for a number in the launch that expressions of a launch do not have."""
        for option in ("threads", "grid", "block", "shared_mem"):
            part = self.parts[option]
            text = ", ".join(str(one) for one in part) if isinstance(part, tuple) else str(part)
            for name in self.params:
                if "{" + name + "}" not in text:
                    continue
                for value in self.params[name]:
                    if _is_odd_number(value, 1 if option == "block" else 0):
                        least = "1" if option == "block" else "0"
                        raise UsageError(
                            f"{self.said(name)}: {{{name}}} stands in {_SAID[option]} {text}, which has whole numbers from {least} on, and {text_of(value)} is none"
                        )

    def named(self, error: str) -> str:
        """The error of an operator in the first configuration, with the values that it is made of."""
        first, newline, rest = error.partition("\n")
        values = ", ".join(f"{name}={text_of(value)}" for name, value in self.first.items())
        return f"{first} (with {values}, the first of --tune){newline}{rest}"

    def hold_operator(self, operator: Any, make: Any) -> None:
        """Raises UsageError for an operator that cannot be tuned, and for types without somebody who makes arrays of them."""
        if not isinstance(operator, Op):
            raise UsageError(f"--tune: `{operator.name}` is an operator of a host function; operators of kernels are tuned")
        if DTYPE in self.params and make is None:
            raise UsageError(f"--tune {DTYPE}=...: arrays of each type are made by --make f, as f(n, dtype=...); give one")

    def run(
        self,
        operator: Any,
        reference: Any,
        given: Arguments | None,
        sizes: list[int] | None,
        make: Any,
        tolerances: Mapping[str, float],
        undo: Callable[[], bool],
    ) -> bool:
        """Tunes the operator, shows the report, and makes the operator the best configuration. Gives True if that is another one than it was.
        Raises NoneRight where there is none, after `undo`, which gives the operator its former meaning, and True if it had one."""
        size = sizes[-1] if sizes else _SIZE
        if make is None and given is not None and sizes is None:
            values = operator._arguments(given.values, given.named)
            size = max((math.prod(np.shape(value)) for value in values if hasattr(value, "shape")), default=1)
            make = lambda _: values
        options = {"reference": reference, "size": size, **tolerances, **self.parts}
        report = tuning.tune(operator, self.params, make_args=make or operator._random_args, **options)
        # A line has no report to go on from.
        report.notes[:] = [note.removesuffix("; resume=report goes on") for note in report.notes]
        display(report)
        # The operator is the first configuration still.
        report._note(operator, self.first)
        name, first = operator.__name__, name_of(self.first)
        ranked, rows = report.ranked, report.rows
        if not ranked and any(row["status"] == "ok" for row in rows):
            print(f"%%kernel: `{name}` stays {first}: a stop came before any configuration was timed")
            return False
        if not ranked:
            is_random = make is None and any(row["status"] == "failed" for row in rows)
            note = "" if not is_random else " (the arguments are random arrays, as none are given; --make makes others)"
            left = "is again what it was before this cell" if undo() else f"stays {first}"
            print(f"%%kernel: no configuration is right; `{name}` {left}{note}")
            raise NoneRight
        best, tied = report.best_config, report.tied
        of_all = f"{len(ranked)} configurations" if len(ranked) == len(rows) else f"{len(ranked)} configurations that are right and timed, of {len(rows)}"
        if best == self.first and "options" not in best:
            fact = f", the fastest of {of_all}" if not tied else f": of {of_all} none is shown to be faster"
            print(f"%%kernel: `{name}` stays {first}{fact if len(ranked) > 1 else ', the only one that is right and timed'}")
            return False
        # The reference of a check is the check's alone: the operator keeps its own.
        report._define(operator.reference)
        others = f"; no difference is shown to {name_of(tied[0]['config'])}" if tied else ""
        others += f" and {len(tied) - 1} more" if len(tied) > 1 else ""
        print(f"%%kernel: `{name}` is {name_of(best)} from now on, {'the fastest' if not tied else 'the best'} of {of_all}{others}")
        return True
