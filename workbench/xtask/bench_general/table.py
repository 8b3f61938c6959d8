"""Puts the table together: options, checks, turns, the report."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bench_cpu import measure, native
from bench_cpu.chart import draw
from bench_cpu.contestants import workbench_cpu
from bench_cpu.report import head
from bench_cpu.table import chosen

from . import contestants, report
from .rows import ROWS

SEED = 20261
CONTESTANTS = {"workbench": contestants.Workbench, "cpp": contestants.Plain}


def options(argv: list[str] | None) -> argparse.Namespace:
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="bench_general", description="Kernels as people write them: Workbench beside plain C++ with OpenMP.")
    parser.add_argument("--rows", default=",".join(names), help=f"of {', '.join(names)} (default: all)")
    parser.add_argument("--rounds", type=int, default=11, help="rounds of a row; short rows have up to three times as many; 0 checks results alone")
    parser.add_argument("--tier", choices=["auto", "soon", "good", "lanes", "wide"], help="the machine code that Workbench is to run, as `wb.set_tier` names it (default: the best there is)")
    parser.add_argument("--against", type=Path, help="the report, as JSON, of a build before: its ratios and the changes stand beside the new ones")
    parser.add_argument("--json", type=Path, help="writes the report there")
    parser.add_argument("--svg", type=Path, help="draws the chart there")
    parser.add_argument("--from-json", type=Path, help="measures nothing: shows and draws a report written before")
    args = parser.parse_args(argv)
    args.rows = chosen(parser, args.rows, names)
    if args.tier and args.from_json:
        parser.error("--tier is for what Workbench runs")
    return args


def check(contestant, case) -> tuple[measure.Runner | None, str | None]:
    """A contestant's runner, unless its result is wrong."""
    try:
        runner = contestant.prepare(case)
        case.reset()
        runner.run()
        wrong = case.wrong()
        return (None, f"wrong: {wrong}") if wrong else (runner, None)
    except Exception as e:
        return None, f"failed: {type(e).__name__}: {' '.join(str(e).split())[:300]}"


def row_result(row, names: list[str], rounds: int) -> dict:
    """One row of the report."""
    result = {"name": row.name, "title": row.title, "target": report.LIMIT, "problems": {}, "times": {}, "ratios": {}}
    case = row.case(SEED)
    runners = {}
    for name in names:
        runner, problem = check(CONTESTANTS[name], case)
        if runner:
            runners[name] = runner
        else:
            result["problems"][name] = problem
    times = measure.take_turns({name: r.run for name, r in runners.items()}, rounds, tuple(runners), 0) if runners and rounds else {}
    for name, taken in times.items():
        low, middle, high = taken.quartiles()
        result["times"][name] = {"median": middle, "quartiles": [low, high], "rounds": len(taken.values), "all": taken.rounds}
    if len(times) == 2:
        found = measure.ratio(times["workbench"], times["cpp"])
        result["ratios"]["workbench"] = {"median": found.median, "upper": found.upper}
    if "workbench" in runners:
        tiers = runners["workbench"].tiers()
        result["tier"] = ", ".join(dict.fromkeys(tiers))
        result["reasons"] = runners["workbench"].reasons()
    return result


def measured(args: argparse.Namespace, before: dict | None) -> dict:
    import workbench as wb

    if args.tier:
        wb.set_tier(args.tier)
    there = {"workbench": (contestants.Workbench, workbench_cpu.load())}
    missing = {"cpp": "no C++ compiler"}
    if native.compiler():
        there["cpp"] = (contestants.Plain, native.compiler_version())
        missing = {}
    whole = head(there, missing)
    if before:
        report.beside(whole, before)
    print(report.text_head(whole), flush=True)
    for row in ROWS:
        if row.name not in args.rows:
            continue
        whole["rows"].append(row_result(row, list(there), args.rounds))
        if before:
            report.beside(whole, before)
        print(report.text_row(whole, whole["rows"][-1]), flush=True)
        # A run that is stopped leaves the rows so far.
        if args.json:
            args.json.write_text(json.dumps(whole, indent=1))
    whole["summary"] = report.summary(whole)
    print(report.text_end(whole))
    return whole


def main(argv: list[str] | None = None) -> int:
    args = options(argv)
    before = json.loads(args.against.read_text()) if args.against else None
    if args.from_json:
        whole = json.loads(args.from_json.read_text())
        if before:
            report.beside(whole, before)
            whole["summary"] = report.summary(whole)
        print(report.text(whole))
    else:
        whole = measured(args, before)
    if args.json:
        args.json.write_text(json.dumps(whole, indent=1))
    if args.svg:
        args.svg.write_text(draw(whole, "plain C++ with OpenMP"))
    return 0
