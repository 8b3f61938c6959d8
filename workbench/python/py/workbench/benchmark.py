"""`wb.bench` and `wb.do_bench`: timing that can be believed, and its picture."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from . import _workbench
from ._workbench import BenchReport
from ._progress import progress_line
from .errors import make_argument_error

__all__ = ["bench", "bench_callable", "do_bench"]


def bench(
    contestants: Mapping[str, Callable[..., Any]],
    sizes: Iterable[int],
    make_args: Callable[[int], Any],
    *,
    title: str = "",
    flush_cache: bool = False,
    seconds_per_size: float = 0.2,
    max_seconds: float = 60.0,
) -> BenchReport:
    """Times callables over sizes: warm-up, interleaved rounds, medians with 95 % intervals, verdicts where the numbers allow them.

    `make_args(n)` gives the arguments of a call at size `n` (a tuple, or the only one); all contestants of
    a size share them. Caches are warm, or flushed before every call. A contestant's exception is raised. A stop
    (Ctrl-C, the stop button) gives what was measured until then, with a note, and `KeyboardInterrupt` where nothing was. After a second a
    line tells how far it is, in a notebook above the picture so far; the report takes its place.

    The report shows itself in a notebook; `.rows` has the numbers, `.plot()` the picture, `.save(path)` writes
    `.json`, `.svg` or `.txt`.

    >>> import numpy as np, workbench as wb
    >>> report = wb.bench({"add": np.add, "twice": lambda a, b: 2 * a}, sizes=[64],
    ...                   make_args=lambda n: (np.ones(n), np.ones(n)), seconds_per_size=0.01)
    >>> [row["name"] for row in report.rows]
    ['add', 'twice']
    """
    for name, function in contestants.items():
        if not callable(function):
            raise make_argument_error(f"contestant `{name}` is a {type(function).__name__}; a callable is wanted")
    if not callable(make_args):
        raise make_argument_error("make_args is a callable: it takes a size and gives the arguments of a call")
    # Work that was queued before does not count.
    _workbench.synchronize()
    with progress_line() as progress:
        report = _workbench.sweep(
            [(str(name), function) for name, function in contestants.items()],
            [_size(size) for size in sizes],
            make_args,
            title,
            flush_cache,
            seconds_per_size,
            max_seconds,
            progress,
        )
    _refuse_queued()
    return report


def _refuse_queued() -> None:
    """Raises ArgumentError if the timed callable has queued kernels on a GPU: the times are those of queuing."""
    if _workbench.has_queued():
        _workbench.synchronize()
        raise make_argument_error(
            "what was timed queues kernels on a GPU and does not wait for them; time a function that calls wb.synchronize() at its end"
        )


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
    **options: Any,
) -> BenchReport:
    """A sweep of one operator against its reference and others, or a measurement on the arguments given."""
    contestants: dict[str, Callable[..., Any]] = {name: function}
    if others:
        contestants.update(others)
    elif reference is not None:
        contestants["reference"] = reference
    if make_args is None:
        if not args:
            raise make_argument_error(f"give arguments to time `{name}` on, or make_args to make them for each size")
        sizes = [max((int(np.prod(getattr(arg, "shape", None) or np.shape(arg), dtype=np.int64)) for arg in args), default=1)]
        return bench(contestants, sizes, lambda n: tuple(args), title=name, **options)
    if sizes is None:
        raise make_argument_error("make_args comes with sizes")
    return bench(contestants, sizes, make_args, title=name, **options)


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
    `quantiles` asks for these instead of `return_mode` ("min", "max", "mean", "median" or "all"). Caches stay warm.

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
