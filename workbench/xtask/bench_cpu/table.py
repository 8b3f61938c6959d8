"""Puts the table together: options, checks, turns, the report."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from . import checks, contestants, measure, report
from .rows import ROWS

SEED = 20240
# In every round of a row: the two of which the ratio is taken.
ALWAYS = ("workbench", "cpp")
# The target for our own compiler's code, most of it vectors of 128 bits, as a multiple of the time of C++, which uses the widest.
LANES_TARGET = 3.5


def options(argv: list[str] | None) -> argparse.Namespace:
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="bench_cpu", description="Kernels on the CPU: Workbench beside hand-tuned C++ and others.")
    parser.add_argument("--rows", default=",".join(names), help=f"of {', '.join(names)} (default: all)")
    parser.add_argument("--only", default=",".join(contestants.ALL), help=f"of {', '.join(contestants.ALL)} (default: all)")
    parser.add_argument("--rounds", type=int, default=31, help="rounds of a row; short rows have up to three times as many")
    parser.add_argument("--seconds", type=float, default=5.0, help="what a contestant other than Workbench and C++ may take at a row")
    parser.add_argument("--tier", choices=["auto", "soon", "good", "lanes", "wide"], help="the machine code that Workbench is to run, as `wb.set_tier` names it (default: the best there is)")
    parser.add_argument("--json", type=Path, help="writes the report there")
    parser.add_argument("--svg", type=Path, help="draws the chart there")
    parser.add_argument("--no-latencies", action="store_true", help="leaves out launches, calls and compilation")
    parser.add_argument("--from-json", type=Path, help="measures nothing: shows and draws a report written before")
    parser.add_argument("--checks", action="store_true", help="measures what checking costs instead; of the other options it knows --rows, --rounds and --json")
    parser.add_argument("--serve", metavar="ROW", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    others = {"only", "tier", "seconds", "svg", "no_latencies", "from_json"}
    if args.checks and any(getattr(args, name) != parser.get_default(name) for name in others):
        parser.error("--checks goes with --rows, --rounds and --json alone")
    args.rows = chosen(parser, args.rows, names)
    if args.tier and ("workbench" not in args.only.split(",") or args.from_json):
        parser.error("--tier is for what Workbench runs")
    args.only = chosen(parser, args.only, list(contestants.ALL))
    return args


def chosen(parser: argparse.ArgumentParser, text: str, known: list[str]) -> list[str]:
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            parser.error(f"`{name}` is none of {', '.join(known)}")
    return [name for name in known if name in wanted]


def load(names: list[str]) -> tuple[dict, dict[str, str]]:
    """The modules of contestants that are there with their versions, and why the others are not."""
    there, missing = {}, {}
    for name in names:
        module = contestants.module(name)
        try:
            there[name] = (module, module.load())
        except ImportError as e:
            missing[name] = str(e)
        except Exception as e:  # A package that is there and broken.
            missing[name] = f"{type(e).__name__}: {e}"
    return there, missing


def check(module, case) -> tuple[measure.Runner | None, str | None]:
    """A contestant's runner, unless its result is wrong."""
    try:
        case.out.fill(np.nan if case.out.dtype.kind == "f" else 123)
        runner = module.prepare(case)
        if runner is None:
            return None, None
        runner.run()
        wrong = case.wrong(runner.result())
        return (None, f"wrong: {wrong}") if wrong else (runner, None)
    except Exception as e:
        return None, f"failed: {type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"


def row_result(row, there: dict, args: argparse.Namespace) -> dict:
    """One row of the report."""
    case = row.case(SEED)
    runners, said = {}, {}
    for name, (module, _) in there.items():
        runner, problem = check(module, case)
        if runner:
            runners[name] = runner
        elif problem:
            said[name] = problem
    times = measure.take_turns({name: r.run for name, r in runners.items()}, args.rounds, ALWAYS, args.seconds) if runners else {}
    result = {"name": row.name, "title": row.title, "target": row.target, "problems": said, "times": {}, "ratios": {}}
    for name, taken in times.items():
        low, middle, high = taken.quartiles()
        result["times"][name] = {"median": middle, "quartiles": [low, high], "rounds": len(taken.values), "all": taken.rounds}
        if name != "cpp" and "cpp" in times:
            against = measure.ratio(taken, times["cpp"])
            if against:
                result["ratios"][name] = {"median": against.median, "upper": against.upper}
    if "workbench" in runners:
        result["tier"] = runners["workbench"].note()
        if result["tier"] == "lanes":
            result["target"] = LANES_TARGET
    ratio = result["ratios"].get("workbench")
    result["reached"] = ratio["upper"] <= result["target"] if ratio else None
    return result


def main(argv: list[str] | None = None) -> int:
    args = options(argv)
    if args.serve:
        return checks.serve(args.serve, SEED)
    if args.checks:
        whole = checks.table(args.rows, args.rounds)
        if args.json:
            args.json.write_text(json.dumps(whole, indent=1))
        return 0
    if args.from_json:
        whole = json.loads(args.from_json.read_text())
        print(report.text(whole))
    else:
        there, missing = load(args.only)
        if args.tier and "workbench" in there:
            import workbench as wb

            wb.set_tier(args.tier)
        whole = report.head(there, missing)
        print(report.text_head(whole), flush=True)
        for row in ROWS:
            if row.name in args.rows:
                whole["rows"].append(row_result(row, there, args))
                print(report.text_row(whole, whole["rows"][-1]), flush=True)
        if not args.no_latencies:
            from . import latency

            whole["latencies"] = latency.measure(list(there))
        print(report.text_end(whole))
    if args.json:
        args.json.write_text(json.dumps(whole, indent=1))
    if args.svg:
        from . import chart

        args.svg.write_text(chart.draw(whole))
    return 0
