"""`wb.tune`: configurations of an operator, checked first, then timed in turns, on this machine or on many."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import itertools
import math
import pickle
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from . import _workbench, tuning_worker
from ._annotations import a_type
from ._calls import clear_calls
from ._progress import progress_text
from ._workbench import Module, NativeTuneReport, Svg
from .benchmark import bench_callable
from .copying import copies
from .errors import ArgumentError, make_argument_error, nearest
from .pickles import packed
from .reports import Report, json_text, tell_columns
from .tables import Column, Table, columns_of, scalar
from .tuning_worker import DTYPE, OPTIONS, Config, Task, name_of, text_of

if TYPE_CHECKING:
    from .operators import Op

__all__ = ["TuneReport", "tune"]

#: Configurations that are timed in turns with one another, the common one besides.
_SHARE = 16
#: The best of all shares that are timed once more, side by side.
_FINALISTS = 12
#: Times that a share is given to an executor whose worker was lost.
_TRIES = 4


@clear_calls
def tune(
    operator: Op | str,
    params: Mapping[str, Iterable[Any]],
    *,
    make_args: Callable[..., Any],
    size: int = 1 << 20,
    schema: str | None = None,
    reference: Callable[..., Any] | None = None,
    where: Callable[[dict[str, Any]], bool] | None = None,
    executor: Any = None,
    seconds: float = 0.1,
    rtol: float | None = None,
    atol: float | None = None,
    resume: TuneReport | None = None,
    **options: Any,
) -> TuneReport:
    """Tries every combination of parameters of an operator, or of CUDA C++ with its `schema`: checks each against the reference, times those
    that are right in turns, and makes the operator of the fastest.

    `params` maps names to values. `block`, `threads`, `grid`, `shared_mem`, `kernel` and `options` are those of `wb.op` and `wb.compile`;
    `dtype` is handed to `make_args` as a keyword. `{NAME}` in `threads`, `grid`, `shared_mem`, `kernel` and `block` stands for a value:
    `kernel="tiled<{TILE}>"`, `block="{BLOCK}"`. Names in `kernel` are arguments of its template, every other name is a macro of the text.
    `where(config)` leaves out combinations.
    `make_args(size)` gives the arguments of a call, all by position, keyword-only ones too. Without a reference (here, or the operator's) results
    are not checked, and the report says so.

    Configurations leave the timing as soon as they are clearly behind; `seconds` is for each one that stays to the end. All are compared with the
    first that is right, which is timed with every share of them, so that machines of different speed can take part: `executor` is anything
    with `submit`, such as one of `concurrent.futures`, Dask's `Client`, ipyparallel's `client.executor()` or mpi4py's `MPIPoolExecutor`. Lambdas reach its workers by the package cloudpickle. A share whose
    worker is lost is submitted again. The best are timed once more here, side by side. A stop gives what was measured until then, with a
    note: `resume=report` goes on from there. What is not shown to be faster than the first that is right does not take its place as the best.

    Before it is timed a configuration is called until its best code is there, which takes a second where a C compiler makes it.

    Raises ArgumentError for parameters that make no sense. If no configuration is right, `.best` does.

    >>> import numpy as np, workbench as wb
    >>> source = '''
    ... __global__ void scale(const float* x, float* y, int n) {
    ...     for (int k = 0; k < PER; ++k) { int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER + k; if (i < n) y[i] = 2 * x[i]; }
    ... }'''
    >>> report = wb.tune(source, {"PER": [1, 4], "block": [64, 256]}, schema="doc::scale_tuned(Tensor x) -> Tensor", shape="x[n] -> y[n]",
    ...                  threads="(n + {PER} - 1) / {PER}", reference=lambda x: 2 * x, size=1000, seconds=0.002,
    ...                  make_args=lambda n: np.ones(n, np.float32))
    >>> len(report.rows), sorted(report.best_config)
    (4, ['PER', 'block'])
    >>> report.best(np.ones(2, np.float32))
    array([2., 2.], dtype=float32)
    """
    task = _task(operator, schema, reference, options, make_args, size, seconds, rtol, atol)
    values = _values(params)
    configs = _configs(values, where)
    before = {} if resume is None else _rows_of(resume, task)
    left = [config for config in configs if name_of(config) not in before]
    # All are compared with the first that is right, so it is in every share.
    first = None if resume is None else resume._first
    if first is not None and name_of(first) not in map(name_of, configs):
        raise make_argument_error(f"resume is a report whose configurations are compared with {name_of(first)}, which is none of these; keep it among them")
    if first is None:
        first = next((config for config in configs if tuning_worker.is_right(task, config)), configs[0])
    shares = [replace(task, configs=(first, *(c for c in share if name_of(c) != name_of(first)))) for share in _parts(left, _SHARE)]
    rows: dict[str, dict[str, Any]] = {name_of(c): dict(before[name_of(c)]) for c in configs if name_of(c) in before}
    notes: list[str] = []
    if task.reference is None:
        notes.append("there is no reference, so results were not checked")
    if in_place := tuning_worker.mutated_of(task.schema):
        notes.append(f"{', '.join(in_place)} is written in place: each call that is timed works on what the one before has left")
    is_stopped, begun = False, time.monotonic()
    with progress_text(seconds * len(left)) as tell:
        run = _here(shares, len(configs), rows, tell) if executor is None else _elsewhere(shares, executor)
        try:
            for share, found in run:
                for row in found:
                    name = name_of(row["config"])
                    # The common configuration is in every share; its row is that of the first.
                    if name not in rows or rows[name]["status"] == "lost":
                        rows[name] = row
                if executor is not None:
                    tell(_progress(rows, len(configs), time.monotonic() - begun))
        except KeyboardInterrupt as stop:
            for row in getattr(stop, "rows", ()):
                rows.setdefault(name_of(row["config"]), {**row, "stopped": True})
            if not rows:
                raise KeyboardInterrupt from None
            is_stopped, timed = True, sum("median" in row for row in rows.values())
            notes.append(f"stopped: {len(rows)} of {len(configs)} configurations were checked, and {timed} timed; resume=report goes on")
        ordered = [rows[name_of(config)] for config in configs if name_of(config) in rows]
        if not is_stopped:
            _final(task, first, ordered, tell, notes)
    lost = sum(row["status"] == "lost" for row in ordered)
    if lost:
        notes.append(f"{lost} configurations were lost with their workers; resume=report measures them")
    kept = None if isinstance(operator, str) or not hasattr(operator, "_as_kept") else operator
    report = TuneReport(_native_name(task.schema), {name: list(several) for name, several in values.items()}, ordered, notes, task, dict(first), kept)
    for row, time_of_row in zip(ordered, report._native().times()):
        if time_of_row is not None:
            row["time"] = time_of_row
    return report


def _rows_of(report: Any, task: Task) -> dict[str, dict[str, Any]]:
    """The rows of an earlier report that hold for this task; ArgumentError for a report of another one."""
    if not isinstance(report, TuneReport):
        raise make_argument_error(f"resume is {a_type(report)}; a report of wb.tune is wanted")
    old = report._task
    same = {
        "schema": old.schema == task.schema,
        "text": (old.source, old.state) == (task.source, task.state),
        "options": {**old.parts, "shape": None} == {**task.parts, "shape": None} and _is_same(old.parts["shape"], task.parts["shape"]),
        "size": old.size == task.size,
        "reference": _is_same(old.reference, task.reference),
        "make_args": _is_same(old.make_args, task.make_args),
        "tolerance": (old.rtol, old.atol) == (task.rtol, task.atol),
    }
    for what, is_same in same.items():
        if not is_same:
            raise make_argument_error(f"resume is a report with another {what}; its rows say nothing about this tuning")
    is_measured = lambda row: row["status"] in ("wrong", "failed") or "median" in row and "stopped" not in row
    return {name_of(row["config"]): row for row in report.rows if is_measured(row)}


def _is_same(one: Any, other: Any) -> bool:
    """True for equal values, and for functions of the same code, as a cell that runs again makes them."""
    if one is other:
        return True
    codes = [_LeftBehind.of(function) for function in (one, other)]
    return bool(codes[0] == codes[1] if all(codes) else one == other)


@dataclass(frozen=True)
class _LeftBehind:
    """A function that no other process could import, in the place of the function in a pickle: its code, and the data that it uses."""

    code: bytes
    names: tuple[str, ...]
    constants: tuple[str, ...]
    #: The defaults of its parameters, the variables that it encloses, and the globals that it names.
    data: tuple[str, ...]

    @classmethod
    def of(cls, function: Any, depth: int = 3) -> _LeftBehind | None:
        """A function that has code; None for anything else."""
        code = getattr(function, "__code__", None)
        if code is None:
            return function if isinstance(function, cls) else None
        cells = dict(zip(code.co_freevars, function.__closure__ or ()))
        kept = {"defaults": (function.__defaults__, function.__kwdefaults__)}
        kept |= {name: cell.cell_contents for name, cell in cells.items() if _is_filled(cell)}
        kept |= {name: function.__globals__[name] for name in code.co_names if name in function.__globals__}
        constants = tuple(repr(constant) for constant in code.co_consts if not hasattr(constant, "co_code"))
        return cls(code.co_code, code.co_names, constants, tuple(f"{name}={_described(value, depth)}" for name, value in kept.items()))

    def __call__(self, *args: Any, **named: Any) -> Any:
        raise make_argument_error("a function of this report stayed behind when it was pickled, as a lambda or one of a notebook: give it anew")


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _described(value: Any, depth: int) -> str:
    """A value that a function uses, in a text that is another one where the function would give something else, as far as that can be known."""
    if isinstance(value, (tuple, list, set, frozenset)):
        return f"{type(value).__name__}({', '.join(_described(one, depth) for one in value)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_described(name, depth)}: {_described(one, depth)}' for name, one in value.items())}}}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return repr(value)
    function = _LeftBehind.of(value, depth - 1) if depth else None
    return repr(function) if function is not None else getattr(value, "__qualname__", getattr(value, "__name__", type(value).__qualname__))


def _for_pickle(function: Any) -> Any:
    """A function, or its code where the pickle of it would mean nothing elsewhere; anything else as it is."""
    return function if not callable(function) or packed(function) is not None else _LeftBehind.of(function)


def _task(operator: Any, schema: str | None, reference: Any, options: dict[str, Any], make_args: Any, size: int, seconds: float, rtol: Any, atol: Any) -> Task:
    """The task without configurations."""
    from .operators import Op

    if not callable(make_args):
        raise make_argument_error("make_args is a callable: it takes a size and gives the arguments of a call")
    if reference is not None and not callable(reference):
        raise make_argument_error(f"reference is a callable, got {type(reference).__name__}")
    if (rtol is None) != (atol is None):
        raise make_argument_error("give both rtol and atol, or neither")
    if not (isinstance(seconds, (int, float)) and 0 < seconds < math.inf):
        raise make_argument_error(f"seconds is {seconds!r}; a number above 0 is wanted")
    own: dict[str, Any] = {"kernel": None, "shape": None, "threads": None, "block": None, "grid": None, "shared_mem": None}
    unknown = [name for name in options if name not in own]
    if unknown:
        hint = nearest(unknown[0], [*inspect.signature(tune).parameters, *own])
        raise make_argument_error(f"`wb.tune` has no option `{unknown[0]}`{hint or ';'} those of operators are {', '.join(own)}, and macros belong into params")
    if isinstance(operator, Op):
        if schema is not None:
            raise make_argument_error(f"`{operator.name}` has its schema; leave out schema=")
        _, (source, state, timeout) = operator.module.__reduce__()
        parts = {**own, **operator._parts, **options}
        return Task(operator.schema, source, state, timeout, parts, reference or operator.reference, make_args, size, seconds, rtol, atol, ())
    if not isinstance(operator, (str, Module)):
        raise make_argument_error(f"an operator of a kernel, a module or CUDA C++ is tuned, got {type(operator).__name__}")
    if schema is None:
        raise make_argument_error('CUDA C++ is tuned as an operator: give its schema, as in schema="lab::scale(Tensor x) -> Tensor"')
    source, state, timeout = operator.__reduce__()[1] if isinstance(operator, Module) else (operator, None, None)
    return Task(schema, source, state, timeout, {**own, **options}, reference, make_args, size, seconds, rtol, atol, ())


def _native_name(schema: str) -> str:
    return _workbench.schema_parts(schema)[0]


def _values(params: Mapping[str, Iterable[Any]]) -> dict[str, tuple[Any, ...]]:
    """The values of each parameter; ArgumentError for a parameter that has none, or that is no name."""
    if not params:
        raise make_argument_error("params maps names to values, and is empty")
    found: dict[str, tuple[Any, ...]] = {}
    for name, values in params.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise make_argument_error(f"params: {name!r} is no name of a macro or an option")
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise make_argument_error(f"params: {name} is {values!r}; a list of values is wanted")
        found[name] = tuple(values)
        texts = [text_of(value) for value in found[name]]
        if not texts:
            raise make_argument_error(f"params: {name} has no values")
        if len(set(texts)) != len(texts):
            raise make_argument_error(f"params: {name} has a value twice: {', '.join(texts)}")
    return found


def _configs(values: Mapping[str, tuple[Any, ...]], where: Callable[[dict[str, Any]], bool] | None) -> list[Config]:
    """All combinations that `where` keeps."""
    every = (dict(zip(values, combination)) for combination in itertools.product(*values.values()))
    configs: list[Config] = [config for config in every if where is None or where(dict(config))]
    if not configs:
        raise make_argument_error("where leaves no combination of the parameters")
    return configs


def _parts(items: Sequence[Any], most: int) -> list[Sequence[Any]]:
    return [items[at : at + most] for at in range(0, len(items), most)]


def _here(
    shares: Sequence[Task], count: int, rows: Mapping[str, dict[str, Any]], tell: Callable[[str], None]
) -> Iterator[tuple[Task, list[dict[str, Any]]]]:
    """The rows of shares, one after the other; `rows` are those that were measured, of `count` in all."""
    for number, share in enumerate(shares):
        # Of a single share all is in what it is doing.
        done = f"{_measured(rows, count)}; " if len(shares) > 1 else ""
        yield share, tuning_worker.measure(share, lambda doing: tell(done + doing), len(shares) - number - 1)


def _elsewhere(shares: Sequence[Task], executor: Any) -> Iterator[tuple[Task, list[dict[str, Any]]]]:
    """The rows of shares in the order in which workers finish them. One that is lost with its worker is submitted again."""
    if not callable(getattr(executor, "submit", None)):
        has = " (its `.executor` has one)" if callable(getattr(getattr(executor, "executor", None), "submit", None)) else ""
        raise make_argument_error(
            f"executor is {a_type(executor)} without `submit`{has}; give one of concurrent.futures, Dask's Client, ipyparallel's "
            "client.executor(), or mpi4py's MPIPoolExecutor"
        )
    # Dask would take two equal calls for one.
    extra = {"pure": False} if type(executor).__module__.partition(".")[0] == "distributed" else {}
    submit = lambda share: executor.submit(tuning_worker.measure_pickled, _pickled(share), **extra)
    waiting = {index: (submit(share), 1) for index, share in enumerate(shares)}
    try:
        while waiting:
            done = [index for index, (future, _) in waiting.items() if future.done()]
            if not done:
                time.sleep(0.02)
            for index in done:
                future, tries = waiting.pop(index)
                try:
                    yield shares[index], future.result()
                except (ArgumentError, KeyboardInterrupt):
                    raise
                except Exception as error:
                    if tries < _TRIES and (again := _again(submit, shares[index])) is not None:
                        waiting[index] = (again, tries + 1)
                    else:
                        message = f"{type(error).__name__}: {error}"
                        lost = [{"config": dict(c), "status": "lost", "message": message, "machine": ""} for c in shares[index].configs]
                        yield shares[index], lost
    finally:
        for future, _ in waiting.values():
            future.cancel()


def _again(submit: Callable[[Task], Any], share: Task) -> Any:
    """The share, submitted again; None where the executor takes no more, as a broken pool of processes does."""
    try:
        return submit(share)
    except Exception:
        return None


def _pickled(share: Task) -> bytes:
    try:
        import cloudpickle
    except ModuleNotFoundError:
        try:
            return pickle.dumps(share)
        except Exception as error:
            raise make_argument_error(f"the executor's workers cannot be given make_args or the reference ({error}); `pip install cloudpickle` helps") from None
    return bytes(cloudpickle.dumps(share))


def _measured(rows: Mapping[str, dict[str, Any]], count: int) -> str:
    """The configurations that are done, with the best of them."""
    ranked = _ranked(rows.values())
    best = f", of which the best is {name_of(ranked[0]['config'])} with {ranked[0]['ratio']:.2f} of the first's time" if ranked else ""
    return f"{len(rows)} of {count} configurations measured{best}"


def _progress(rows: Mapping[str, dict[str, Any]], count: int, elapsed: float) -> str:
    """How far workers are, after so many seconds."""
    left = elapsed / len(rows) * (count - len(rows)) if rows else 0
    return f"{_measured(rows, count)}; about {max(left, 1):.0f} s left"


def _ranked(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that are right, the fastest first."""
    right = [row for row in rows if row["status"] == "ok" and math.isfinite(row.get("ratio", math.nan))]
    return sorted(right, key=lambda row: float(row["ratio"]))


def _final(task: Task, first: Config, rows: list[dict[str, Any]], tell: Callable[[str], None], notes: list[str]) -> None:
    """Times the best of all shares side by side on this machine, if several shares or machines gave them."""
    ranked = _ranked(rows)
    if len(rows) <= _SHARE and len({row["machine"] for row in rows}) <= 1 or len(ranked) < 2:
        return
    # Of many the least ratios are those that were measured too low: the upper ends of the intervals tell more.
    best = sorted(ranked, key=lambda row: float(row["ratio_high"]))[:_FINALISTS]
    again = f"the best {len(best)} once more, side by side; "
    configs = (first, *(row["config"] for row in best if row["config"] != first))
    try:
        found = {name_of(row["config"]): row for row in tuning_worker.measure(replace(task, configs=configs), lambda doing: tell(again + doing))}
    except KeyboardInterrupt:
        notes.append("stopped before the best were timed side by side")
        return
    for row in best:
        again = found[name_of(row["config"])]
        if again["status"] == "ok":
            row.update({key: again[key] for key in (*tuning_worker.TIMES, "machine")}, round=_workbench.FINAL_ROUND)


#: The columns of a tuning besides its parameters.
TUNING = (
    Column("status", "text", '"ok", "wrong", "failed" or "lost"'),
    Column("message", "text", "what is wrong; else empty"),
    Column("time", "number", "time of a call, in seconds, as the table shows it: the first configuration's median multiplied by `ratio`"),
    Column("median", "number", "median of a call, in seconds, at the moment when it was measured: compare by `ratio` or `time`"),
    Column("low", "number", "lower end of the median's interval, in seconds"),
    Column("high", "number", "upper end of the median's interval, in seconds"),
    Column("ratio", "number", "its time by that of the first configuration, measured in turns"),
    Column("ratio_low", "number", "lower end of the ratio's interval; 0 where the samples are too few for one"),
    Column("ratio_high", "number", "upper end of the ratio's interval; inf where the samples are too few for one"),
    Column("samples", "integer?", "number of samples"),
    Column("round", "integer?", "the last round that it took part in"),
    Column("machine", "text", "the machine and process that measured it"),
)


@clear_calls
@dataclass(frozen=True)
class TuneReport(Report):
    """The result of `wb.tune`. `name` is the operator's, `params` the values of each parameter, `rows` one dict for each configuration: `config`,
    `status` ("ok", "wrong", "failed" or "lost"), `message`, `machine`, and for those that are right and timed `time`, `median`, `low`, `high` in seconds,
    `ratio` (its time by that of the first configuration, measured in turns) with its interval `ratio_low`, `ratio_high`, `samples` and `round` (the last
    that it took part in), `stopped` where a stop came into its timing, which `resume=` begins anew; `notes` for the reader. `time`, which the table and the picture show, is the first configuration's `median` multiplied by
    `ratio`, because only times of one moment can be compared.

    It shows itself as a table with the landscape of the parameters. It can be pickled, and `resume=` takes one that was: a reference or `make_args` that
    is a lambda or a function of a notebook stays behind; its code and the data that it uses are compared.

    >>> import numpy as np, workbench as wb
    >>> source = "__global__ void scale(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = BY * x[i]; }"
    >>> report = wb.tune(source, {"BY": [2, 3], "block": [64, 128]}, schema="doc::scale_report(Tensor x) -> Tensor", shape="x[n] -> y[n]",
    ...                  reference=lambda x: 2 * x, size=1000, seconds=0.002, make_args=lambda n: np.ones(n, np.float32))
    >>> [row["status"] for row in report.rows], report.best_config["BY"]
    (['ok', 'ok', 'wrong', 'wrong'], 2)
    """

    name: str
    params: dict[str, list[Any]]
    rows: list[dict[str, Any]]
    notes: list[str]
    _task: Task
    _first: dict[str, Any]
    _operator: Any

    @property
    def ranked(self) -> list[dict[str, Any]]:
        """The rows of the configurations that are right and timed. The best comes first: the fastest of those that are shown to be faster than the first
        configuration by more than 1 %, else that one. Then by time: those that were near the best in the last round, then the others."""
        return [self.rows[at] for at in self._native().ranked()]

    @property
    def tied(self) -> list[dict[str, Any]]:
        """The rows of the configurations that are not told apart from the best, without it: the intervals of their ratios meet its own, or miss it by less
        than 1 %."""
        return [self.rows[at] for at in self._native().tied()]

    @property
    def best_config(self) -> dict[str, Any]:
        """The best configuration, as `ranked` has it; ArgumentError if none is right."""
        return dict(self.rows[self._native().best()]["config"])

    @property
    def best(self) -> Op:
        """The operator of the best configuration, defined under its name: a version of it, which can be pickled and saved as any operator. The
        gradient and other registrations of an operator that was tuned stay. Its check and its time are noted in the version (`op.history`)."""
        reference = self._task.reference
        return self._define(None if isinstance(reference, _LeftBehind) else reference)

    def _define(self, reference: Callable[..., Any] | None) -> Op:
        """Defines the operator of the fastest configuration, with a reference."""
        from .operators import redefined

        config = self.best_config
        parts = tuning_worker.parts_of(self._task.parts, config)
        made = redefined(self._operator, self._task.schema, tuning_worker.module_of(self._task, config), parts, reference)
        self._note(made, config)
        return made

    def _note(self, op: Op, config: Config) -> None:
        """Notes in the newest version of an operator, which is one of the configurations, whether it is right, and if it is its time."""
        version, task = op.history[-1], self._task
        status = next((row["status"] for row in self.rows if row["config"] == config), "lost")
        if status == "lost":
            return
        # What a configuration raises is known from the rows.
        with contextlib.suppress(Exception):
            args = tuning_worker.arguments_of(task, config)
            if task.reference is not None and (version.check is None or version.passed != (status == "ok")):
                count = op._positional
                op.check(*args[:count], reference=task.reference, rtol=task.rtol, atol=task.atol, **dict(zip(op.params[count:], args[count:])))
            if status == "ok" and all(time["size"] != task.size for time in version.times):
                number, mine = op._number, tuple(copies(args))
                timed = bench_callable(op.__name__, op._by_position(), (), None, sizes=[task.size], make_args=lambda _: mine, seconds_per_size=task.seconds)
                op._note_times(number, timed, op.__name__)

    def plot(self, across: str | None = None, down: str | None = None) -> Svg:
        """The landscape: times of the values of two parameters (by default those with the largest effect), each the best over the others.

        Raises ArgumentError for a name that is no parameter.

        >>> import numpy as np, workbench as wb
        >>> source = "__global__ void copy(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
        >>> report = wb.tune(source, {"block": [64, 128]}, schema="doc::copy_plot(Tensor x) -> Tensor", shape="x[n] -> y[n]",
        ...                  size=1000, seconds=0.002, make_args=lambda n: np.ones(n, np.float32))
        >>> report.plot()
        <picture of ... bytes of SVG>
        """
        return self._native().plot(across, down)

    def __reduce__(self) -> tuple[Any, ...]:
        # The operator that was tuned stays behind, too: `best` makes it anew.
        parts = {**self._task.parts, "shape": _for_pickle(self._task.parts["shape"])}
        task = replace(self._task, parts=parts, reference=_for_pickle(self._task.reference), make_args=_for_pickle(self._task.make_args))
        return TuneReport, (self.name, self.params, self.rows, self.notes, task, self._first, None)

    def _native(self) -> NativeTuneReport:
        """The report as the native half has it, which ranks, draws and writes it."""

        def row_of(row: dict[str, Any]) -> Any:
            times = tuple(row[key] for key in tuning_worker.TIMES) if "median" in row else None
            return [text_of(row["config"][name]) for name in self.params], row["status"], row["message"], times, row["machine"]

        params = [(name, [text_of(value) for value in values]) for name, values in self.params.items()]
        return NativeTuneReport(self.name, self._task.size, params, [row_of(row) for row in self.rows], self.notes)

    def __str__(self) -> str:
        return str(self._native())

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        native = self._native()
        return {"text/plain": str(native), "text/html": native.html()}

    def _name(self) -> str:
        return f"tuning of {self.name}"

    def _picture(self) -> Svg:
        return self.plot()

    def _table(self) -> Table:
        columns = columns_of(self.params, TUNING, "a parameter")
        return Table(
            [*columns.values(), *TUNING],
            [{**row, **{columns[name].name: scalar(row["config"][name]) for name in self.params}} for row in self.rows],
        )

    def _json(self) -> str:
        return json_text({"name": self.name, "size": self._task.size, "params": self.params, "notes": self.notes, "rows": self.rows})


tell_columns(TuneReport, TUNING, "Columns of its tables and of CSV: one for each parameter, and")
