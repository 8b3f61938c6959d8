"""Timing: contestants take turns in rounds, and the ratio of two of them is taken within each round."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Callable

import numpy as np


@dataclass
class Runner:
    """A contestant at a row: `run` does the work, `result` then gives it as a NumPy array."""

    run: Callable[[], object]
    result: Callable[[], np.ndarray]
    # The tier of Workbench's code that ran, for the report.
    note: Callable[[], str] = lambda: ""


@dataclass
class Times:
    """Milliseconds of a contestant by round; None where it sat out."""

    rounds: list[float | None] = field(default_factory=list)

    @property
    def values(self) -> list[float]:
        return [t for t in self.rounds if t is not None]

    def quartiles(self) -> tuple[float, float, float]:
        return tuple(float(q) for q in np.percentile(self.values, [25, 50, 75]))


def once(run: Callable[[], object]) -> float:
    begin = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - begin) / 1e6


def warm_up(run: Callable[[], object], seconds: float = 0.1) -> float:
    """Runs until `seconds` are over, twice at least; the least time of a call in milliseconds."""
    until = time.perf_counter() + seconds
    times = [once(run), once(run)]
    while time.perf_counter() < until:
        times.append(once(run))
    return min(times)


def rounds_of(wanted: int, fastest: float) -> int:
    """More rounds where they are short: a row of a millisecond has three times as many."""
    return wanted * (3 if fastest < 2 else 2 if fastest < 4 else 1)


def take_turns(runs: dict[str, Callable[[], object]], wanted: int, always: tuple[str, ...], seconds: float) -> dict[str, Times]:
    """Times of `runs` over rounds. The order is rotated every round and reversed every other.

    Before each timed call comes one that is not: it has the caches and the threads to itself again. Those in `always` are in every
    round; the others in so many that they take no more than `seconds`, five at least.
    """
    expected = {name: warm_up(run) for name, run in runs.items()}
    count = rounds_of(wanted, min(expected.values()))
    every = {}
    for name, ms in expected.items():
        turns = count if name in always else max(5, min(count, int(seconds * 1e3 / (2 * ms))))
        every[name] = max(1, count // turns)
    times = {name: Times() for name in runs}
    names = list(runs)
    for turn in range(count):
        shift = turn % len(names)
        order = names[shift:] + names[:shift]
        for name in order[:: -1 if turn % 2 else 1]:
            if turn % every[name]:
                times[name].rounds.append(None)
                continue
            runs[name]()
            times[name].rounds.append(once(runs[name]))
    return times


@dataclass(frozen=True)
class Ratio:
    median: float
    # The upper 95 % confidence bound of the median.
    upper: float


def ratio(times: Times, base: Times) -> Ratio | None:
    """The median of the ratios within rounds, and its bound."""
    ratios = [t / b for t, b in zip(times.rounds, base.rounds) if t is not None and b is not None]
    return Ratio(float(np.median(ratios)), upper_bound(ratios)) if ratios else None


def upper_bound(values: list[float], confidence: float = 0.95) -> float:
    """The upper confidence bound of the median from order statistics, whatever the distribution.

    The number of values below the median is binomial (n, 1/2), so the k-th smallest is at or above the median with the probability
    that at most k - 1 are below it; k is the least for which that is `confidence`. Infinity where there are too few values.
    """
    ordered, below = sorted(values), 0.0
    for k, value in enumerate(ordered, 1):
        below += math.comb(len(ordered), k - 1) / 2.0 ** len(ordered)
        if below >= confidence:
            return value
    return math.inf
