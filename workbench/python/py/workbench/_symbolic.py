"""Shapes of host functions for sizes that are symbols, as `torch.compile(dynamic=True)` and `torch.export` use them.

A host function works with numbers. It is run without data for several sizes near those at hand, and each
extent of its results is searched among the candidates: constants, the sizes themselves, their sums, products
and quotients. Arguments that the schema calls `SymInt` are such sizes, too. A formula that fits all runs is
used; if there is none, torch gets numbers, and compiles for each size anew. A formula could still be wrong for
distant sizes, so from then on the results of every call are compared with it, and a difference is an error.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any, Callable, Iterator, Sequence

import torch

from . import _workbench
from .spec import Spec, spec_in_memory

__all__ = ["symbolic"]

Formula = Callable[[Sequence[Any]], Any]
#: The number of sizes that are tried, the given ones among them.
_RUNS = 5
#: The kind of an argument that is a size itself.
_NUMBER = "SymInt"


class _Rule:
    """Formulas for the extents of results, for arguments of one layout."""

    def __init__(self, make: Any, results: list[tuple[str, list[Formula], tuple[int, ...]]], is_several: bool) -> None:
        self.make, self.results, self.is_several = make, results, is_several

    def specs(self, sizes: Sequence[Any]) -> Any:
        made = []
        for dtype, extents, order in self.results:
            shape = tuple(extent(sizes) for extent in extents)
            made.append(spec_in_memory(shape, dtype, _strides(shape, order)))
        return tuple(made) if self.is_several else made[0]

    def fits(self, inputs: Sequence[Any]) -> bool:
        """True if concrete arguments have this layout: the same types, the fixed extents, and equal extents where one symbol stands."""
        named: dict[str, int] = {}
        flat = list(_flat(inputs))
        if len(flat) != len(self.make):
            return False
        for value, (kind, extents) in zip(flat, self.make):
            if isinstance(value, Spec) or kind == _NUMBER:
                came = _sizes_of(value)
                if kind != (value.dtype if isinstance(value, Spec) else _NUMBER) or len(extents) != len(came):
                    return False
                for said, size in zip(extents, came):
                    if (named.setdefault(said, size) if isinstance(said, str) else said) != size:
                        return False
            elif extents is not None or kind != repr(value):
                return False
        return True

    def sizes(self, inputs: Sequence[Any]) -> list[int]:
        """The sizes in concrete arguments of this layout."""
        return [size for value, (_, extents) in zip(_flat(inputs), self.make) if extents is not None for size in _sizes_of(value)]


def _sizes_of(value: Any) -> tuple[Any, ...]:
    """The extents of an array, or the number that is one."""
    return tuple(value.shape) if hasattr(value, "shape") else (value,) if type(value) is int or _is_symbol(value) else ()


def _is_symbol(value: Any) -> bool:
    return isinstance(value, torch.SymInt)


def symbolic(handle: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The results as `Spec`s whose extents may be symbols; None if no size is a symbol, or no formula fits."""
    inputs = handle._arguments(args, kwargs)
    make, sizes = [], []
    for value in _flat(inputs):
        if _is_symbol(value):
            # The argument is a `SymInt`.
            make.append((_NUMBER, (_name(value),)))
            sizes.append(value)
            continue
        if not isinstance(value, torch.Tensor):
            make.append((repr(value), None))
            continue
        extents = [_name(size) for size in value.shape]
        if any(isinstance(extent, str) for extent in extents) and not value.is_contiguous():
            return None
        make.append((str(value.dtype).removeprefix("torch."), tuple(extents)))
        sizes.extend(value.shape)
    if not any(isinstance(extent, str) for _, extents in make for extent in extents or ()):
        return None
    key = tuple(make)
    rules = handle._symbolic = handle._symbolic or {}
    if key not in rules:
        rules[key] = _found(handle, inputs, make, sizes)
        known = [rule for rule in rules.values() if rule is not None]

        def said(*specs: Any) -> Any:
            for rule in known:
                if rule.fits(specs):
                    made = rule.specs(rule.sizes(specs))
                    return [(spec.dtype, spec.shape) for spec in (made if rule.is_several else (made,))]
            return None

        _workbench.set_shape_rule(handle.name, said if known else None, "what torch.compile was told of other sizes")
    rule = rules[key]
    return None if rule is None else rule.specs(sizes)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _name(size: Any) -> int | str:
    """The expression of a size that is a symbol, or a number."""
    if not _is_symbol(size):
        return int(size)
    expression = size.node.expr
    return str(expression) if expression.free_symbols else int(expression)


def _found(handle: Any, inputs: Sequence[Any], make: Any, sizes: Sequence[Any]) -> _Rule | None:
    expressions = {str(size.node.expr): size.node for size in sizes if isinstance(_name(size), str)}
    symbols = sorted({symbol for node in expressions.values() for symbol in node.expr.free_symbols}, key=str)
    hints = []
    for symbol in symbols:
        node = expressions.get(str(symbol))
        if node is None:
            return None
        # A size that depends on data has none.
        hints.append(node.hint if node.has_hint() else 8)
    numbers = random.Random(17)
    # The sizes are a little larger, or multiples if they cannot be just any number.
    for larger in (lambda hint: hint + numbers.randint(1, 30), lambda hint: hint * numbers.randint(2, 11)):
        runs = []
        for run in range(_RUNS):
            at = {symbol: hint if run == 0 else larger(hint) for symbol, hint in zip(symbols, hints)}
            bounds = {symbol: expressions[str(symbol)].shape_env.var_to_range.get(symbol) for symbol in symbols}
            if any(bound is not None and bound.upper < at[symbol] for symbol, bound in bounds.items()):
                continue
            concrete = [int(size.node.expr.subs(at)) if isinstance(_name(size), str) else int(size) for size in sizes]
            try:
                runs.append((concrete, handle._derived(*_filled(inputs, iter(concrete)))))
            except Exception:
                if run == 0:
                    return None
                break
        else:
            if len(runs) >= 3:
                return _fitted(make, runs, [i for i, size in enumerate(sizes) if isinstance(_name(size), str)])
    return None


def _filled(inputs: Any, sizes: Iterator[int]) -> list[Any]:
    """The arguments with numbers for sizes, without data."""
    made: list[Any] = []
    for value in inputs:
        if isinstance(value, torch.Tensor):
            shape, dtype = tuple(next(sizes) for _ in value.shape), str(value.dtype).removeprefix("torch.")
            # Arrays that are not contiguous have no symbols.
            made.append(Spec(shape, dtype) if value.is_contiguous() else spec_in_memory(shape, dtype, tuple(map(int, value.stride()))))
        elif _is_symbol(value):
            made.append(next(sizes))
        else:
            made.append(_filled(value, sizes) if isinstance(value, (list, tuple)) else value)
    return made


def _fitted(make: Any, runs: list[tuple[list[int], Any]], places: list[int]) -> _Rule | None:
    is_several = isinstance(runs[0][1], (list, tuple))
    outcomes = [list(result) if isinstance(result, (list, tuple)) else [result] for _, result in runs]
    if any(len(outcome) != len(outcomes[0]) or not all(isinstance(spec, Spec) for spec in outcome) for outcome in outcomes):
        return None
    # Sizes that are equal in all runs are one.
    columns: dict[tuple[int, ...], int] = {}
    for place in places:
        columns.setdefault(tuple(sizes[place] for sizes, _ in runs), place)
    results = []
    for alternatives in zip(*outcomes):
        first = alternatives[0]
        orders = {_order(spec) for spec in alternatives}
        if len({(spec.dtype, len(spec.shape)) for spec in alternatives}) > 1 or len(orders) > 1 or "other" in orders:
            return None
        extents = []
        for at in range(len(first.shape)):
            formula = _formula([spec.shape[at] for spec in alternatives], runs, columns)
            if formula is None:
                return None
            extents.append(formula)
        order: Any = orders.pop()
        results.append((first.dtype, extents, order))
    return _Rule(make, results, is_several)


def _order(spec: Any) -> Any:
    """The dimensions from the widest stride to the narrowest."""
    order = tuple(range(len(spec.shape)))
    if spec.strides is None or tuple(spec.strides) == _strides(spec.shape, order):
        return order
    order = tuple(sorted(order, key=lambda at: -spec.strides[at]))
    return order if tuple(spec.strides) == _strides(spec.shape, order) else "other"


def _strides(shape: Sequence[Any], order: Sequence[int]) -> tuple[Any, ...]:
    made: list[Any] = [1] * len(shape)
    step: Any = 1
    for at in reversed(order):
        made[at] = step
        step = step * shape[at]
    return tuple(made)


def _formula(extents: list[int], runs: list[tuple[list[int], Any]], columns: dict[tuple[int, ...], int]) -> Formula | None:
    if len(set(extents)) == 1:
        constant = extents[0]
        return lambda sizes: constant
    samples = [sizes for sizes, _ in runs]
    for formula in _candidates(extents, samples, sorted(columns.values())):
        if all(formula(sizes) == extent for sizes, extent in zip(samples, extents)):
            return formula
    return None


def _candidates(extents: list[int], samples: list[list[int]], places: list[int]) -> Iterator[Formula]:
    """The candidate formulas, the simplest first."""
    for i in places:
        yield lambda sizes, i=i: sizes[i]
    for i in places:
        x, y = [sizes[i] for sizes in samples], extents
        if x[1] != x[0] and (y[1] - y[0]) % (x[1] - x[0]) == 0:
            slope = (y[1] - y[0]) // (x[1] - x[0])
            offset = y[0] - slope * x[0]
            yield lambda sizes, i=i, slope=slope, offset=offset: sizes[i] * slope + offset
    for count in (2, 3, 4):
        for some in combinations(places, count):
            yield lambda sizes, some=some: sum(sizes[i] for i in some[1:]) + sizes[some[0]]
            yield lambda sizes, some=some: _product(sizes, some)
            whole = _product(samples[0], some)
            if whole and extents[0] % whole == 0:
                factor = extents[0] // whole
                yield lambda sizes, some=some, factor=factor: _product(sizes, some) * factor
            rest = extents[0] - sum(samples[0][i] for i in some)
            yield lambda sizes, some=some, rest=rest: sum(sizes[i] for i in some[1:]) + sizes[some[0]] + rest
    # Windows and blocks: (x + a) // b + c.
    for i in places:
        for b in range(2, 17):
            for a in range(-16, 17):
                c = extents[0] - (samples[0][i] + a) // b
                if -2 <= c <= 2:
                    yield lambda sizes, i=i, a=a, b=b, c=c: (sizes[i] + a) // b + c


def _product(sizes: Sequence[Any], places: Sequence[int]) -> Any:
    made: Any = 1
    for i in places:
        made = made * sizes[i]
    return made
