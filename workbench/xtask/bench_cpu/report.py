"""The report: what it says about the machine, and its text."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path

from . import contestants, native

WIDTH = 10


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def vectors() -> str:
    words = native.machine_flags().split()
    return next((title for flag, title in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("asimd", "NEON")) if flag in words), "")


def head(there: dict, missing: dict[str, str]) -> dict:
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "machine": {"cpu": processor(), "cores": cores(), "vectors": vectors(), "system": f"{platform.system()} {platform.release()}"},
        "compiler": native.compiler_version(),
        "python": platform.python_version(),
        "contestants": {name: {"title": module.NAME, "version": version} for name, (module, version) in there.items()},
        "missing": missing,
        "rows": [],
    }


def order(report: dict) -> list[str]:
    return [name for name in contestants.ALL if name in report["contestants"]]


def text_head(report: dict) -> str:
    machine = report["machine"]
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores{', ' + machine['vectors'] if machine['vectors'] else ''}, {machine['system']}",
        f"{report['compiler']}; Python {report['python']}; {report['date']}",
    ]
    others = [f"{c['title']} {c['version']}" for name, c in report["contestants"].items() if name != "cpp"]
    lines.append(", ".join(others))
    lines += [f"without {name}: {why}" for name, why in report["missing"].items()]
    titles = "".join(f"{report['contestants'][name]['title']:>{WIDTH}}" for name in order(report))
    lines += ["", f"{'milliseconds, medians':<26}{titles}   {'ratio':>6} {'upper':>6} {'target':>6}  verdict"]
    return "\n".join(lines)


def number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def text_row(report: dict, row: dict) -> str:
    cells = ""
    for name in order(report):
        problem = row["problems"].get(name)
        cell = number(row["times"][name]["median"]) if name in row["times"] else problem.split(":")[0] if problem else "-"
        cells += f"{cell:>{WIDTH}}"
    ratio = row["ratios"].get("workbench")
    if ratio:
        verdict = "reached" if row["reached"] else "missed"
        end = f"{number(ratio['median']):>6} {number(ratio['upper']):>6} {row['target']:>6.2f}  {verdict} ({row.get('tier', '')})"
    else:
        why = "no C++ compiler" if report["missing"].get("cpp") else "no ratio"
        end = f"{'':>6} {'':>6} {row['target']:>6.2f}  {why}{' (' + row['tier'] + ')' if row.get('tier') else ''}"
    lines = [f"{row['title']:<26}{cells}   {end}"]
    lines += [f"    {report['contestants'][name]['title']}: {problem}" for name, problem in row["problems"].items()]
    return "\n".join(lines)


def text_end(report: dict) -> str:
    judged = [row for row in report["rows"] if row["reached"] is not None]
    lines = []
    if judged:
        lines += ["", f"{sum(row['reached'] for row in judged)} of {len(judged)} targets reached: the upper 95 % bound of the median ratio"
                  " Workbench / C++ within rounds is at or below the target."]
    if report.get("latencies"):
        lines += ["", f"{'microseconds':<58}{'median':>10}  quartiles"]
        for entry in report["latencies"]:
            low, high = entry["quartiles"]
            lines.append(f"{entry['title']:<58}{number(entry['median']):>10}  {number(low)} to {number(high)}")
    return "\n".join(lines)


def text(report: dict) -> str:
    return "\n".join([text_head(report), *(text_row(report, row) for row in report["rows"]), text_end(report)])
