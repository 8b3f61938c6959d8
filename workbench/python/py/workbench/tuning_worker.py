"""One share of a tuning: configurations of an operator, made, checked and timed in turns, here or in another process."""

from __future__ import annotations

import os
import pickle
import socket
from dataclasses import dataclass
from typing import Any, Callable, Mapping

import numpy as np

from . import _workbench
from ._compile import collect_headers, rebuild
from ._compile import compile as compile_source
from ._options import hold_folders, parse_options
from .copying import copies
from .errors import ArgumentError, CompileError, DeviceUnavailable, ExtensionError, KernelFault, KernelTimeout, make_argument_error
from .reports import first_fact

#: Parameters that are options of `wb.op` and `wb.compile`; others are macros.
OPTIONS = ("block", "threads", "grid", "shared_mem", "kernel", "options")
#: The parameter that `make_args` takes as a keyword.
DTYPE = "dtype"
#: Mistakes of a configuration, of which the others know nothing.
MISTAKES = (ArgumentError, CompileError, DeviceUnavailable, ExtensionError, KernelFault, KernelTimeout)

Config = Mapping[str, Any]


class Stopped(KeyboardInterrupt):
    """A stop in the middle of a share, with the rows that are finished."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__("stopped")
        self.rows = rows


@dataclass(frozen=True)
class Task:
    """A share of a tuning, which can be pickled. The first configuration is that which all shares have, and which others are compared with."""

    schema: str
    source: str
    #: The state of the module without the macros of a configuration: options, defines, device.
    state: dict[str, Any] | None
    timeout: float | None
    parts: dict[str, Any]
    reference: Callable[..., Any] | None
    make_args: Callable[..., Any]
    size: int
    seconds: float
    rtol: float | None
    atol: float | None
    configs: tuple[Config, ...]


def name_of(config: Config) -> str:
    """A configuration in words: `BLOCK=128 TILE=8`."""
    return " ".join(f"{name}={text_of(value)}" for name, value in config.items()) or "as it is"


def text_of(value: Any) -> str:
    """A value as people read it: types of arrays by their names."""
    if isinstance(value, type) and issubclass(value, np.generic):
        return value.__name__
    return str(value)


def _is_truth(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def filled(text: Any, config: Config, *, truth: bool = False) -> Any:
    """A text, or a tuple with texts, with `{NAME}` replaced by the values of a configuration; anything else as it is. Truth values are 1 and 0, or
    with `truth` the words of C++."""
    if isinstance(text, (tuple, list)):
        return tuple(filled(part, config, truth=truth) for part in text)
    if not isinstance(text, str):
        return text
    for name, value in config.items():
        if _is_truth(value):
            value = ("false", "true")[bool(value)] if truth else int(value)
        text = text.replace("{" + name + "}", text_of(value))
    return text


def macros_of(kernel: str | None, config: Config) -> dict[str, str]:
    """The macros of a configuration: what is no option and no argument of the template that `kernel` names. Truth values are 1 and 0."""
    kernel = str(config.get("kernel") or kernel or "")
    taken = {*OPTIONS, DTYPE, *(name for name in config if "{" + name + "}" in kernel)}
    rest = {name: value for name, value in config.items() if name not in taken}
    return {name: str(int(value)) if _is_truth(value) else str(value) for name, value in rest.items()}


def parts_of(parts: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """The parts of the operator of a configuration. A block that is written `"{BLOCK}"` is a number then."""
    own = {**parts, **{name: value for name, value in config.items() if name in parts}}
    made = {name: filled(value, config, truth=name == "kernel") for name, value in own.items() if name != "shape"}
    block = made["block"]
    if isinstance(block, str) or isinstance(block, tuple) and any(isinstance(extent, str) for extent in block):
        extents = block.split(",") if isinstance(block, str) else block
        try:
            made["block"] = tuple(int(extent) for extent in extents)
        except ValueError:
            raise make_argument_error(f"block is {block!r}; ints are wanted") from None
    elif isinstance(block, float):
        raise make_argument_error(f"block is {block!r}; ints are wanted")
    return {**made, "shape": own["shape"]}


def mutated_of(schema: str) -> list[str]:
    """The arguments that calls write in place."""
    return [name for name, _, _, _, is_mutated in _workbench.schema_arguments(schema) if is_mutated]


def module_of(task: Task, config: Config) -> Any:
    """The text of a task, compiled with the macros and options of a configuration."""
    given = config.get("options") or ()
    if not isinstance(given, (str, tuple, list)):
        raise make_argument_error(f"options is {given!r}; a string or a list of them is wanted")
    extra = [given] if isinstance(given, str) else list(given)
    if task.state is None:
        module = compile_source(task.source, defines=macros_of(task.parts["kernel"], config), options=extra)
        return module if task.timeout is None else module.with_timeout(task.timeout)
    state = dict(task.state)
    parsed = parse_options(extra, state["device"])
    hold_folders(parsed.include_dirs)
    state["defines"] = list({**dict(state["defines"]), **macros_of(task.parts["kernel"], config), **dict(parsed.defines)}.items())
    state["headers"] = dict(state["headers"])
    collect_headers(task.source, parsed.include_dirs, state["headers"])
    state["options"] = [*state["options"], *parsed.rest]
    for name in ("arch", "fmad"):
        if getattr(parsed, name) is not None:
            state[name] = getattr(parsed, name)
    return rebuild(task.source, state, task.timeout)


def arguments_of(task: Task, config: Config) -> tuple[Any, ...]:
    """The arguments of a call of a configuration."""
    made = task.make_args(task.size, **({DTYPE: config[DTYPE]} if DTYPE in config else {}))
    return made if isinstance(made, tuple) else (made,)


def machine() -> str:
    """The machine and the process, by which rows are told apart."""
    return f"{socket.gethostname()}:{os.getpid()}"


def measure_pickled(task: bytes) -> list[dict[str, Any]]:
    """`measure` of a pickled task: for executors that pickle by the standard library alone."""
    return measure(pickle.loads(task))


#: The keys of a row's times, in the order in which the native half gives them.
TIMES = ("median", "low", "high", "ratio", "ratio_low", "ratio_high", "samples", "round")


def measure(task: Task, tell: Callable[[str], None] = lambda doing: None, others: int = 0) -> list[dict[str, Any]]:
    """The rows of a share, after which `others` are to come, and of which `tell` is told what is done now, one for each of its configurations: `config`, `status` ("ok", "wrong" or "failed"), `message`, and if it is right
    `median`, `low`, `high` (seconds of a call), `ratio` (the median of the paired ratios of its time by the first configuration's), `ratio_low` and
    `ratio_high` (its interval), `samples`, `round` (the last that it was in), and `machine`. Raises Stopped on a stop."""
    rows: list[dict[str, Any]] = []
    try:
        _measure(task, tell, others, rows)
    except KeyboardInterrupt:
        # What was checked is known, and times that were measured are in their rows.
        raise Stopped(rows) from None
    return rows


def _measure(task: Task, tell: Callable[[str], None], others: int, rows: list[dict[str, Any]]) -> None:
    """Adds the rows of a share, each when it has been checked."""
    from .operators import candidate

    right: dict[str, tuple[dict[str, Any], Any, tuple[Any, ...]]] = {}
    # Configurations of one dtype have the same arguments, so that none is faster by where its arrays lie. What is written in place is its own.
    shared: dict[Any, tuple[Any, ...]] = {}
    is_shared = not mutated_of(task.schema)
    for number, config in enumerate(task.configs):
        tell(f"{number} of {len(task.configs)} configurations checked")
        row: dict[str, Any] = {"config": dict(config), "status": "ok", "message": "", "machine": machine()}
        wrong = ""
        try:
            op = candidate(task.schema, module_of(task, config), parts_of(task.parts, config))
            known = shared.get(text_of(config.get(DTYPE)))
            args = arguments_of(task, config) if known is None else known
            if is_shared:
                shared[text_of(config.get(DTYPE))] = args
            wrong = _wrong(task, op, args)
        except MISTAKES as error:
            row.update(status="failed", message=_first_line(error))
        except Exception as error:
            # Code of the user's: the reference, make_args, a shape.
            row.update(status="failed", message=f"{type(error).__name__}: {_first_line(error)}")
        if wrong:
            row.update(status="wrong", message=wrong)
        elif row["status"] == "ok":
            right[name_of(config)] = (row, op, args)
        rows.append(row)
    if right and rows[0]["status"] == "ok":
        _time(task, right, others, tell)
    else:
        for row in rows[1:]:
            if row["status"] == "ok":
                row.update(status="failed", message=f"{name_of(task.configs[0])}, which all are compared with, is {rows[0]['status']} here: {rows[0]['message']}")


def is_right(task: Task, config: Config) -> bool:
    """True if a configuration can be made and agrees with the reference."""
    from .operators import candidate

    try:
        op = candidate(task.schema, module_of(task, config), parts_of(task.parts, config))
        return not _wrong(task, op, arguments_of(task, config))
    except Exception:
        return False


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _wrong(task: Task, op: Any, args: tuple[Any, ...]) -> str:
    """The way in which a result differs from the reference; empty where it agrees, or where there is none to compare with."""
    if task.reference is None:
        op._by_position()(*copies(args))
        return ""
    count = op._positional
    complete = op._arguments(args[:count], dict(zip(op.params[count:], args[count:])))
    report = _workbench.check_op(op, complete, task.reference, task.rtol, task.atol, False, op.name)
    if report:
        return ""
    return first_fact(report)


def _time(task: Task, right: dict[str, tuple[dict[str, Any], Any, tuple[Any, ...]]], others: int, tell: Callable[[str], None]) -> None:
    """Times configurations by elimination; those that are behind leave. The first one stays, since all are compared with it. Raises
    KeyboardInterrupt on a stop, after the times that were measured are in their rows."""
    calls = [(name, _call(op, args)) for name, (_, op, args) in right.items()]
    times, is_stopped = _workbench.eliminate(calls, task.size, task.seconds, others, tell)
    for (row, _, _), found in zip(right.values(), times):
        if found is not None:
            row.update(zip(TIMES, found))
    if is_stopped:
        raise KeyboardInterrupt


def _call(op: Any, args: tuple[Any, ...]) -> Callable[[], Any]:
    call = op._by_position()
    return lambda: call(*args)
