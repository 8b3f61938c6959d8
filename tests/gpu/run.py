"""Tests that need a GPU, run on a machine that has one: those of this folder, others that can run there, times, and a JSON file of it all.

    python run.py RESULT.json [--no-times] [BINARY ...]

The package is the interpreter's own; torch, CuPy and JAX are used where they are installed. BINARY: test programs of `cargo test --no-run`
(`kernels`, `filetests`, the library's own), which compile and launch for a GPU with `WORKBENCH_TEST_DEVICE=cuda`. The results of machines that
had one are kept in `tests/gpu-results/`. `WORKBENCH_GPU_TESTS`: pytest's arguments instead of all its files.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import workbench as wb

HERE = Path(__file__).resolve().parent
FILES = [HERE, HERE.parent / "python/test_cuda.py"]


class Recorder:
    """Keeps what pytest reports."""

    def __init__(self) -> None:
        self.tests: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            row: dict[str, Any] = {"name": report.nodeid, "outcome": report.outcome, "seconds": round(report.duration, 3)}
            if report.outcome == "failed":
                row["message"] = str(report.longrepr)[-3000:]
            elif report.outcome == "skipped":
                row["message"] = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
            self.tests.append(row)


def binary(path: str) -> list[dict[str, Any]]:
    """The tests of a program built by cargo."""
    began = time.perf_counter()
    stem = re.sub(r"-[0-9a-f]{16}$", "", Path(path).name)
    # Only the GPU's tests among the library's own.
    command = [path, *(["back::cuda"] if stem == "workbench" else []), "--test-threads", "8"]
    packages = next((str(p) for p in map(Path, sys.path) if (p / "nvidia").is_dir()), "")
    environment = {"WORKBENCH_NVRTC": packages, **os.environ, "WORKBENCH_TEST_DEVICE": "cuda"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        said, code = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        said, code = f"{late.stdout}{late.stderr}", 124
    rows = [
        {"name": f"{stem}: {name}", "outcome": {"ok": "passed", "FAILED": "failed"}.get(outcome, outcome)}
        for name, outcome in re.findall(r"^test (\S+)\s+\.\.\. (ok|FAILED|ignored)", said, re.MULTILINE)
    ]
    rows.append({"name": stem, "outcome": "passed" if code == 0 else "failed", "seconds": round(time.perf_counter() - began, 1)})
    if code != 0:
        rows[-1]["message"] = said[-20000:]
    return rows


def machine() -> dict[str, Any]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    out: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "gpu": subprocess.run(query, capture_output=True, text=True).stdout.strip(),
        "python": platform.python_version(),
        "workbench": wb.__version__,
        "devices": wb.devices(),
    }
    for name in ("torch", "cupy", "jax", "numpy"):
        try:
            out[name] = __import__(name).__version__
        except ImportError:
            out[name] = None
    return out


def conformance() -> list[dict[str, Any]]:
    """The result of `python -m workbench.conformance`: the same texts and inputs on the CPU and on the GPU."""
    done = subprocess.run([sys.executable, "-m", "workbench.conformance"], capture_output=True, text=True, timeout=200)
    row = {"name": "workbench.conformance", "outcome": "passed" if done.returncode == 0 else "failed", "message": (done.stdout + done.stderr)[-8000:]}
    return [row]


def times() -> dict[str, Any]:
    """The rows of `cargo xtask bench gpu`."""
    script = HERE.parents[1] / "workbench/xtask/bench_gpu.py"
    done = subprocess.run([sys.executable, str(script), "--json"], capture_output=True, text=True, timeout=200)
    if done.returncode != 0:
        return {"error": (done.stdout + done.stderr)[-3000:]}
    return json.loads(done.stdout)


def main() -> None:
    # A job that a shell put into the background starts with SIGINT ignored, and then Python raises no KeyboardInterrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # JAX would take three quarters of the memory at its first call.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    target, *binaries = [arg for arg in sys.argv[1:] if arg != "--no-times"]
    result: dict[str, Any] = {**machine(), "tests": []}

    def keep() -> None:
        Path(target).write_text(json.dumps(result, indent=1) + "\n")

    for path in binaries:
        result["tests"] += binary(path)
        keep()
    if "WORKBENCH_GPU_TESTS" not in os.environ:
        result["tests"] += conformance()
        keep()
    recorder = Recorder()
    chosen = os.environ.get("WORKBENCH_GPU_TESTS", "").split() or [str(path) for path in FILES]
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--tb=short", *chosen], plugins=[recorder])
    result["tests"] += recorder.tests
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        # A file that cannot be read, or no tests at all.
        result["tests"].append({"name": "pytest", "outcome": "failed", "message": f"it ended with {code!r}"})
    keep()
    if "--no-times" not in sys.argv:
        result["times"] = times()
        keep()
    outcomes = [row["outcome"] for row in result["tests"]]
    failed = [row for row in result["tests"] if row["outcome"] == "failed"]
    for row in failed:
        print("FAILED", row["name"], row.get("message", "")[-1500:])
    print({kind: outcomes.count(kind) for kind in sorted(set(outcomes))})
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
