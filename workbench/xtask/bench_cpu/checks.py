"""The cost of checks: the same kernels with and without their checks, in turns.

The code of a hot kernel is C, in which every check is an `unlikely` or a `likely`; with `-DUNCHECKED` these are never and always, and the
compiler drops what they guard: bounds, divisions, the polls that hear Ctrl-C and time limits. Nobody gets such code: it is asked for
through a compiler of this benchmark's own, which adds the option. A compiler is found once a process, so either kind has a process to
itself, and the way there and back is in both times.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import measure
from .contestants import workbench_cpu
from .rows import ROWS


class Server:
    """A process that runs one row whenever it is told."""

    def __init__(self, row: str, compiler: str):
        command = [sys.executable, str(Path(__file__).parent), "--serve", row]
        env = {**os.environ, "WORKBENCH_CC": compiler}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=env)
        self.tier = self.answer()

    def answer(self) -> str:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the process that runs the kernel has ended")
        return line.strip()

    def run(self) -> None:
        self.process.stdin.write("\n")
        self.answer()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def serve(name: str, seed: int) -> int:
    """Runs a row whenever a line comes."""
    case = next(row for row in ROWS if row.name == name).case(seed)
    runner = workbench_cpu.prepare(case)
    runner.run()
    wrong = case.wrong(runner.result())
    print(f"wrong: {wrong}" if wrong else runner.note(), flush=True)
    for _ in sys.stdin:
        runner.run()
        print(flush=True)
    return 0


def compilers(folder: str) -> tuple[str, str]:
    """The machine's C compiler, found as Workbench finds it, and a script that has it drop the checks."""
    names = [os.environ["WORKBENCH_CC"]] if "WORKBENCH_CC" in os.environ else ["cc", "gcc", "clang"]
    plain = next((path for name in names if (path := shutil.which(name))), None)
    if plain is None:
        raise SystemExit("there is no C compiler, so there is no wide code")
    script = Path(folder) / "unchecked"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(plain)} -DUNCHECKED "$@"\n')
    script.chmod(0o700)
    return plain, str(script)


def table(names: list[str], rounds: int) -> dict:
    """The rows, shown one by one, and the geometric mean of their ratios."""
    found = {"rows": []}
    print(f"{'milliseconds, medians':24}{'checked':>10}{'unchecked':>11}{'ratio':>8}{'upper':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for row in (row for row in ROWS if row.name in names):
            servers = [Server(row.name, compiler) for compiler in compilers(folder)]
            try:
                found["rows"].append(one(row, servers, rounds))
            finally:
                for server in servers:
                    server.close()
    ratios = [row["ratio"] for row in found["rows"] if "ratio" in row]
    if ratios:
        found["geomean"] = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{'geometric mean':24}{'':21}{found['geomean']:8.3f}")
    return found


def one(row, servers: list[Server], rounds: int) -> dict:
    if any(server.tier != "wide" for server in servers):
        said = ", ".join(server.tier for server in servers)
        print(f"{row.title:24}  not measured: {said}", flush=True)
        return {"name": row.name, "problem": said}
    runs = dict(zip(("checked", "unchecked"), (server.run for server in servers)))
    times = measure.take_turns(runs, rounds, tuple(runs), 0)
    checked, unchecked = (times[name].quartiles()[1] for name in runs)
    ratio = measure.ratio(times["checked"], times["unchecked"])
    print(f"{row.title:24}{checked:10.3g}{unchecked:11.3g}{ratio.median:8.3f}{ratio.upper:7.3f}", flush=True)
    return {"name": row.name, "checked": checked, "unchecked": unchecked, "ratio": ratio.median, "upper": ratio.upper}
