"""Text to first result of whole inline extensions: the sources of `tests/python/inline`, the call of `load_inline` and the first call of
what it offers; not what the arrays take that it is called with. `workbench` times them all here; `torch` times those without CUDA, built anew, in torch's environment.

Run by `cargo xtask bench inline`.
"""

import json
import pathlib
import statistics
import sys
import tempfile
import time
import types

import numpy as np

SOURCES = pathlib.Path(__file__).parents[2] / "tests" / "python" / "inline"
#: Of these torch's compiler is asked: it takes half a minute for each.
FOR_TORCH = ["41_lltm_cpp", "45_factories", "50_attention_ops", "51_nms_cpu", "54_kmeans"]
ROUNDS = 5


class Done(BaseException):
    """The first result is there."""


class First:
    """A module, or the operators of the dispatcher, of which only the first call matters; `seconds` gets what calls take."""

    def __init__(self, target, seconds):
        self._target, self._seconds = target, seconds

    def __getattribute__(self, name):
        if name in ("_target", "_seconds"):
            return object.__getattribute__(self, name)
        found = getattr(self._target, name)
        if isinstance(found, (int, float, str)):
            return found
        if not callable(found):
            return First(found, self._seconds)

        def call(*args, **kwargs):
            start = time.perf_counter()
            try:
                found(*args, **kwargs)
            finally:
                self._seconds.append(time.perf_counter() - start)
            raise Done

        call.default = call
        return call


class Arrays:
    """The functions that a source's check asks of its runner."""

    argument_error = TypeError

    def __init__(self, ops, wrap):
        self.rng, self.ops, self._wrap = np.random.default_rng(7), ops, wrap

    def __call__(self, x):
        return self._wrap(np.ascontiguousarray(x))

    def __getattr__(self, name):
        raise Done


def first_result(load_inline, ops, wrap, cell, salt):
    """Milliseconds."""
    texts = [cell["CPP"] or ""] if isinstance(cell["CPP"] or "", str) else list(cell["CPP"])
    start = time.perf_counter()
    module = load_inline(
        name=f"timed_{salt}",
        # Another text each time: nothing is remembered of it.
        cpp_sources=[*texts, f"// {salt}\n"],
        cuda_sources=cell["CUDA"] or None,
        functions=cell["FUNCTIONS"],
        is_python_module=not cell.get("LIBRARY", False),
    )
    seconds = [time.perf_counter() - start]
    try:
        cell["check"](First(module or types.SimpleNamespace(), seconds), Arrays(First(ops, seconds), wrap))
    except Done:
        pass
    return sum(seconds) * 1e3


def cell_of(name):
    path = SOURCES / f"{name}.py"
    cell = {}
    exec(compile(path.read_text(), str(path), "exec"), cell)
    return cell


def ours(names):
    import workbench as wb

    times = {}
    for name in names:
        cell = cell_of(name)
        try:
            runs = []
            for i in range(ROUNDS):
                runs.append(first_result(wb.load_inline, wb.ops, lambda x: x, cell, i))
                # The better code of the last one is made meanwhile.
                time.sleep(0.1)
        except Exception as error:
            print(f"left out, {name}: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        times[name] = statistics.median(runs)
    return times


def torchs(names):
    import os

    import torch
    from torch.utils.cpp_extension import load_inline

    times = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TORCH_EXTENSIONS_DIR"] = folder
            times[name] = first_result(load_inline, torch.ops, torch.from_numpy, cell_of(name), "torch")
    return times


def main():
    who, record = sys.argv[1], pathlib.Path(sys.argv[2])
    if who == "torch":
        record.write_text(json.dumps(torchs(FOR_TORCH)))
        return
    theirs = json.loads(record.read_text())
    mine = ours(sorted(path.stem for path in SOURCES.glob("[0-9]*.py")))
    print("\nText to first result of whole inline extensions, milliseconds")
    print(f"{'source':<24}{'workbench':>12}{'torch':>12}{'ratio':>10}")
    for name, time_of_torch in theirs.items():
        print(f"{name:<24}{mine[name]:>12.1f}{time_of_torch:>12.0f}{time_of_torch / mine[name]:>9.0f}x")
    low, mid, high = statistics.quantiles(mine.values(), n=4)
    print(f"all {len(mine)} sources: median {mid:.1f}, quartiles {low:.1f} and {high:.1f}, slowest {max(mine.values()):.1f}")


if __name__ == "__main__":
    main()
