"""`wb.bench` and `wb.do_bench`: timing that can be believed, and its picture."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

import numpy as np

from . import _workbench
from ._calls import clear_calls
from ._workbench import BenchReport
from ._progress import progress_line
from .errors import make_argument_error

#: What a call does at a size: a callable of the size, or one for each contestant.
Work = Union[Callable[[int], int], Mapping[str, Callable[[int], int]], None]

__all__ = ["OPTIONS", "bench", "bench_callable", "ceilings", "distinct", "do_bench", "sizes_of"]

#: The options of a benchmark, besides what is timed and on which arguments.
OPTIONS = ("flush_cache", "bytes", "flops", "seconds_per_size", "max_seconds")


@clear_calls
def bench(
    contestants: Mapping[str, Callable[..., Any]],
    sizes: Iterable[int],
    make_args: Callable[[int], Any],
    *,
    title: str = "",
    flush_cache: bool = False,
    bytes: Union[Work, str] = None,
    flops: Union[Work, str] = None,
    seconds_per_size: float = 0.2,
    max_seconds: float = 60.0,
) -> BenchReport:
    """Times callables over sizes: warm-up, interleaved rounds, medians with 95 % intervals, verdicts where the numbers allow them.

    `make_args(n)` gives the arguments of a call at size `n` (a tuple, or the only one); all contestants of
    a size share them. Caches are warm, or flushed before every call. A contestant's exception is raised. A stop
    (Ctrl-C, the stop button) gives what was measured until then, with a note, and `KeyboardInterrupt` where nothing was. After a second a
    line tells how far it is, in a notebook above the picture so far; the report takes its place.

    Kernels run better code once they are hot. So each contestant is called at each size until its best code is there, for 10 seconds at most,
    before the first sample; the report says which code was measured (`tier` of its rows), and a note tells where it was not the best, or
    changed meanwhile.

    `bytes` and `flops` say what a call moves and how many operations on floats it does at a size: a callable of the size, or a dict of them by
    contestant; the report has throughput, operations per second and a roofline then. `"counted"` counts them while an operator's kernel
    runs once more at each size, as `op.work` does; contestants that are no such operators get the counts of the first that is one, as they
    do the same. `bytes="arguments"` counts the arrays among the arguments and the results, each once.

    The report shows itself in a notebook; `.rows` has the numbers, `.plot()` the picture, `.save(path)` writes
    `.json`, `.csv`, `.svg`, `.png`, `.html` or `.txt`.

    Raises ArgumentError for contestants that are no dict of callables, for `sizes` that are no whole numbers, and for counts that make no sense.

    >>> import numpy as np, workbench as wb
    >>> report = wb.bench({"add": np.add, "twice": lambda a, b: 2 * a}, sizes=[64],
    ...                   make_args=lambda n: (np.ones(n), np.ones(n)), seconds_per_size=0.01)
    >>> [row["name"] for row in report.rows]
    ['add', 'twice']
    >>> report = wb.bench({"add": np.add}, sizes=[64], make_args=lambda n: (np.ones(n), np.ones(n)), bytes="arguments",
    ...                   flops=lambda n: n, seconds_per_size=0.01)
    >>> report.rows[0]["bytes"], report.rows[0]["flops"]
    (1536, 64)
    >>> twice = wb.op("doc::twice_counted(Tensor x) -> Tensor",
    ...               "__global__ void twice(const float* x, float* y, int n) "
    ...               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }")
    >>> report = wb.bench({"mine": twice, "numpy": lambda x: 2 * x}, sizes=[64], make_args=lambda n: np.ones(n, np.float32),
    ...                   bytes="counted", flops="counted", seconds_per_size=0.01)
    >>> [(row["bytes"], row["flops"]) for row in report.rows]
    [(512, 64), (512, 64)]
    """
    if not isinstance(contestants, Mapping):
        kind = type(contestants).__name__
        raise make_argument_error(f'contestants are a dict from names to callables, as {{"mine": f, "numpy": np.sin}}; got {kind}')
    moved, done = _counter(bytes, "bytes", contestants), _counter(flops, "flops", contestants)
    for name, function in contestants.items():
        if not callable(function):
            raise make_argument_error(f"contestant `{name}` is no callable, but of type {type(function).__name__}")
    if not callable(make_args):
        raise make_argument_error("make_args is a callable: it takes a size and gives the arguments of a call")
    sizes = sizes_of(sizes)
    if bytes == "arguments":
        moved = _of_arguments(make_args, contestants, sizes)
    if "counted" in (bytes, flops):
        counts = _counted_work(make_args, contestants, sizes, bytes == "counted")
        if bytes == "counted":
            moved = lambda name, size: counts[name, size].bytes
        if flops == "counted":
            done = lambda name, size: counts[name, size].flops
    # A count that makes no sense is told before anything is timed.
    for count in (moved, done):
        for name, size in itertools.product(contestants, sizes if count is not None else ()):
            count(str(name), size)
    # Work that was queued before does not count.
    _workbench.synchronize()
    with progress_line() as progress:
        report = _workbench.sweep(
            [(str(name), function) for name, function in contestants.items()],
            sizes,
            make_args,
            title,
            flush_cache,
            seconds_per_size,
            max_seconds,
            progress,
        )
    _refuse_queued()
    return report if moved is None and done is None else report._with_work(moved, done)


def _counter(work: Any, what: str, contestants: Mapping[str, Any]) -> Callable[[str, int], int | None] | None:
    """What a call of a contestant does at a size, as a callable of both; ArgumentError for what says no such thing."""
    if work is None:
        return None
    if isinstance(work, str):
        words = ("counted", "arguments") if what == "bytes" else ("counted",)
        if work in words:
            return None
        either = " or ".join(f'"{word}"' for word in words)
        raise make_argument_error(f"{what} is {work!r}; it is {either}, a callable of the size, or a dict of them by contestant")
    by_name = dict(work) if isinstance(work, Mapping) else dict.fromkeys(contestants, work)
    for name, count in by_name.items():
        if name not in contestants:
            raise make_argument_error(f"{what} names `{name}`, which is no contestant; these are {', '.join(contestants)}")
        if not callable(count):
            raise make_argument_error(f"{what} of `{name}` is {count!r}; a callable is wanted, which takes a size and gives a count")

    def counted(name: str, size: int) -> int | None:
        count = by_name.get(name)
        return None if count is None else _count(count(size), f"{what} of `{name}` at {size}")

    return counted


def _count(value: Any, what: str) -> int:
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        whole = -1
    if not 0 <= whole < 1 << 63 or whole != value:
        raise make_argument_error(f"{what} is {value!r}; a whole number from 0 on is wanted, below 2**63")
    return whole


def _of_arguments(
    make_args: Callable[[int], Any], contestants: Mapping[str, Callable[..., Any]], sizes: Sequence[int]
) -> Callable[[str, int], int | None]:
    """The bytes of the arrays among the arguments and the results of a call of a contestant at a size; memory counts once."""
    counts = {}
    for size in dict.fromkeys(sizes):
        for name, function in contestants.items():
            made = make_args(size)
            args = made if isinstance(made, tuple) else (made,)
            counts[str(name), size] = sum(_arrays((args, function(*args))).values())
    return lambda name, size: counts.get((name, size))


def _counted_work(
    make_args: Callable[[int], Any], contestants: Mapping[str, Callable[..., Any]], sizes: Sequence[int], wants_bytes: bool
) -> dict[tuple[str, int], Any]:
    """The work of a call of each contestant at each size, as operators count it."""
    counting = {str(name): function.work for name, function in contestants.items() if hasattr(function, "work")}
    if not counting:
        raise make_argument_error('"counted" needs an operator of a kernel among the contestants; give callables of the size instead')
    counts = {}
    for size in dict.fromkeys(sizes):
        for name, work in counting.items():
            made = make_args(size)
            counts[name, size] = work(*(made if isinstance(made, tuple) else (made,)))
            if wants_bytes and not counts[name, size].all_bytes_counted:
                raise make_argument_error(
                    f"`{name}` reads or writes through pointers that come from no parameter alone, so its bytes cannot be counted; "
                    'give bytes= as a callable of the size, or bytes="arguments"'
                )
        first = counts[next(iter(counting)), size]
        counts.update({(str(name), size): first for name in contestants if str(name) not in counting})
    return counts


def _arrays(value: Any) -> dict[int, int]:
    """The bytes of the arrays in a value, by the memory that they begin at."""
    if isinstance(value, (tuple, list)):
        found: dict[int, int] = {}
        for one in value:
            for key, size in _arrays(one).items():
                found[key] = max(size, found.get(key, 0))
        return found
    nbytes = getattr(value, "nbytes", None)
    if not isinstance(nbytes, int):
        return {}
    described = getattr(value, "__array_interface__", None)
    pointer = value.data_ptr() if hasattr(value, "data_ptr") else described["data"][0] if described else id(value)
    return {int(pointer): nbytes}


def _refuse_queued() -> None:
    """Raises ArgumentError if the timed callable has queued kernels on a GPU: the times are those of queuing."""
    if _workbench.has_queued():
        _workbench.synchronize()
        raise make_argument_error(
            "what was timed queues kernels on a GPU and does not wait for them; time a function that calls wb.synchronize() at its end"
        )


def sizes_of(sizes: Any) -> list[int]:
    """Sizes as ints; one alone counts as a list of it. ArgumentError for others.

    >>> sizes_of(64), sizes_of([64, 1e3])
    ([64], [64, 1000])
    """
    is_list = isinstance(sizes, Iterable) and not isinstance(sizes, (str, bytes)) and getattr(sizes, "ndim", 1) > 0
    return [_size(size) for size in (sizes if is_list else [sizes])]


def _size(size: Any) -> int:
    """A size as an int; ArgumentError for a value that is no count.

    >>> _size(10), _size(1e3)
    (10, 1000)
    """
    try:
        whole = int(size)
        fits = whole == size and 0 <= whole < 1 << 63
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise make_argument_error(f"sizes are whole numbers from 0 on, got {size!r}")
    return whole


def bench_callable(
    name: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    reference: Callable[..., Any] | None,
    *,
    sizes: Iterable[int] | None = None,
    make_args: Callable[[int], Any] | None = None,
    others: Mapping[str, Callable[..., Any]] | None = None,
    title: str | None = None,
    **options: Any,
) -> BenchReport:
    """A sweep of one operator against its reference and others, or a measurement on the arguments given. Its title is the operator's name, where
    no other is given."""
    title = name if title is None else title
    contestants: dict[str, Callable[..., Any]] = {name: function}
    if others:
        contestants.update(others)
    elif reference is not None:
        contestants["reference"] = reference
    if make_args is None:
        if not args:
            raise make_argument_error(f"give arguments to time `{name}` on, or make_args to make them for each size")
        sizes = [max((int(np.prod(getattr(arg, "shape", None) or np.shape(arg), dtype=np.int64)) for arg in args), default=1)]
        return bench(contestants, sizes, lambda n: tuple(args), title=title, **options)
    if sizes is None:
        raise make_argument_error("make_args comes with sizes")
    return bench(contestants, sizes, make_args, title=title, **options)


def distinct(others: Mapping[str, Callable[..., Any]] | None, name: str) -> dict[str, Callable[..., Any]]:
    """The contestants beside one of a name; ArgumentError if one of them has the same."""
    if others is not None and name in others:
        raise make_argument_error(f"two contestants are called `{name}`; give the other one another name")
    return dict(others or {})


@clear_calls
def ceilings() -> dict[str, float]:
    """What this machine does at most, as a roofline shows it: `bytes_per_second` between memory and all cores (a triad), and `flops_per_second`
    (multiply-adds of float32 in registers, on all cores, two operations each). Measured at the first call, which takes about a second.

    >>> import workbench as wb
    >>> sorted(wb.ceilings())
    ['bytes_per_second', 'flops_per_second']
    """
    return _workbench.ceilings()


@clear_calls
def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Milliseconds a call of `fn()` takes, as `triton.testing.do_bench` gives them.

    `warmup` and `rep` are milliseconds; `grad_to_none` holds tensors whose `.grad` is dropped before each call;
    `quantiles` asks for these instead of `return_mode` ("min", "max", "mean", "median" or "all"). Caches stay warm. Before anything is timed
    `fn()` is called until the best code of its kernels is there, for 10 seconds at most.

    >>> import workbench as wb
    >>> wb.do_bench(lambda: sum(range(100)), warmup=1, rep=5) < 1
    True
    """
    run = fn
    if grad_to_none is not None:
        dropped = list(grad_to_none)

        def run() -> Any:
            for tensor in dropped:
                tensor.grad = None
            return fn()

    _workbench.synchronize()
    values = _workbench.time_function(run, warmup, rep, list(quantiles or ()), return_mode)
    _refuse_queued()
    return values if return_mode == "all" and not quantiles or len(values) > 1 else values[0]
