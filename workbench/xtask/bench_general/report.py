"""The report: its text, its summary, and the report of a build before beside it."""

from __future__ import annotations

import math

from bench_cpu.report import number

# A row above this ratio is marked.
LIMIT = 1.3


def ratio(row: dict, name: str = "workbench") -> float | None:
    found = row["ratios"].get(name)
    return found["median"] if found else None


def geometric_mean(values: list[float]) -> float | None:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def beside(report: dict, before: dict) -> None:
    """Puts the ratios of a report of a build before into one."""
    old = {row["name"]: row for row in before["rows"]}
    report["contestants"]["before"] = {"title": "the build before", "version": before["contestants"]["workbench"]["version"], "date": before["date"]}
    for row in report["rows"]:
        found = old.get(row["name"])
        row["ratios"].pop("before", None)
        if found and ratio(found):
            row["ratios"]["before"] = found["ratios"]["workbench"]
            row["tier_before"] = found.get("tier")


def text_head(report: dict) -> str:
    machine = report["machine"]
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores{', ' + machine['vectors'] if machine['vectors'] else ''}, {machine['system']}",
        f"{report['compiler']}; Python {report['python']}; {report['date']}",
        f"Workbench {report['contestants']['workbench']['version']}",
    ]
    if "before" in report["contestants"]:
        old = report["contestants"]["before"]
        lines.append(f"before: Workbench {old['version']}, measured {old['date']}")
    lines += [f"without {name}: {why}" for name, why in report["missing"].items()]
    old = f" {'before':>7} {'change':>7}" if "before" in report["contestants"] else ""
    lines += ["", f"{'milliseconds, medians':<28}{'Workbench':>10}{'plain C++':>10} {'ratio':>7} {'upper':>7}{old}  tier"]
    return "\n".join(lines)


def text_row(report: dict, row: dict) -> str:
    cells = ""
    for name in ("workbench", "cpp"):
        problem = row["problems"].get(name)
        cell = number(row["times"][name]["median"]) if name in row["times"] else problem.split(":")[0] if problem else "-"
        cells += f"{cell:>10}"
    ours, old = row["ratios"].get("workbench"), ratio(row, "before")
    cells += f" {number(ours['median']):>7} {number(ours['upper']):>7}" if ours else f" {'-':>7} {'-':>7}"
    if "before" in report["contestants"]:
        cells += f" {number(old) if old else '-':>7} {number(ours['median'] / old) if ours and old else '-':>7}"
    mark = f"  over {LIMIT}" if ours and ours["median"] > LIMIT else ""
    lines = [f"{row['title']:<28}{cells}  {row.get('tier', '')}{mark}"]
    titles = {"workbench": "Workbench", "cpp": "plain C++"}
    lines += [f"    {titles[name]}: {problem}" for name, problem in row["problems"].items()]
    return "\n".join(lines)


def summary(report: dict) -> dict:
    """The geometric mean, the rows over the limit, those that failed, and the mean of a build before over the rows that both have."""
    rows = report["rows"]
    both = [row for row in rows if ratio(row) and ratio(row, "before")]
    return {
        "geomean": geometric_mean([ratio(row) for row in rows if ratio(row)]),
        "over": [row["name"] for row in rows if ratio(row) and ratio(row) > LIMIT],
        "failed": [row["name"] for row in rows if row["problems"]],
        "rows": len(rows),
        "before": {
            "rows": len(both),
            "geomean": geometric_mean([ratio(row, "before") for row in both]),
            "geomean_now": geometric_mean([ratio(row) for row in both]),
        },
    }


def text_end(report: dict) -> str:
    found, lines = summary(report), [""]
    if found["geomean"]:
        lines.append(f"geometric mean of the ratios {number(found['geomean'])}; {len(found['over'])} of {found['rows']} rows over {LIMIT}")
    if found["failed"]:
        lines.append(f"failed: {', '.join(found['failed'])}")
    if found["before"]["rows"]:
        now, old = found["before"]["geomean_now"], found["before"]["geomean"]
        lines.append(f"the {found['before']['rows']} rows that the report of the build before has: {number(old)} then, {number(now)} now, {number(now / old)} of it")
    slow = [reason for row in report["rows"] for reason in row.get("reasons", [])]
    if slow:
        lines += ["", "tiers that did not run, and why:", *(f"    {reason}" for reason in slow)]
    return "\n".join(lines)


def text(report: dict) -> str:
    return "\n".join([text_head(report), *(text_row(report, row) for row in report["rows"]), text_end(report)])
