"""The chart: each row's time relative to a C++ baseline on a logarithmic axis, written by hand as SVG for light and dark pages."""

from __future__ import annotations

import math
from html import escape

from .report import number, order

LEFT, PLOT, COLUMNS, STEP, TOP = 190, 500, (66, 66, 66), 34, 92
WIDTH = LEFT + PLOT + sum(COLUMNS) + 24

# Colours on light and on dark, and the marks, of those that are neither Workbench nor C++.
MARKS = {
    "numpy": ("#3b7dd8", "#6ea8fe", "circle"),
    "torch": ("#c2410c", "#fb923c", "square"),
    "numba": ("#15803d", "#4ade80", "diamond"),
    "jax": ("#7c3aed", "#b794f6", "up"),
    "taichi": ("#a16207", "#facc15", "down"),
    "warp": ("#0e7490", "#22d3ee", "ring"),
    "pocl": ("#be185d", "#f472b6", "cross"),
    # An earlier build of Workbench.
    "before": ("#59636e", "#9198a1", "ring"),
}


# Ink, softer ink, lines and Workbench's bars, on light and on dark.
PLAIN = {"ink": ("#1f2328", "#e6edf3"), "soft": ("#59636e", "#9198a1"), "line": ("#d1d9e0", "#3d444d"), "bar": ("#0f9d76", "#2dd4a4")}


def colours(dark: bool) -> str:
    """The rules that differ between light and dark. No variables: not everything that shows SVG knows them."""
    ink, soft, lines, bar = (PLAIN[name][dark] for name in PLAIN)
    rules = f"text{{fill:{ink}}}.soft{{fill:{soft}}}.grid{{stroke:{lines}}}.base{{stroke:{soft}}}.bar{{fill:{bar}}}.target{{stroke:{ink}}}"
    return rules + "".join(f".{name}.fill{{fill:{c[dark]}}}.{name}.stroke{{stroke:{c[dark]}}}" for name, c in MARKS.items())


def style() -> str:
    return (
        "text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}"
        ".small{font-size:11px}.title{font-size:15px;font-weight:600}.strong{font-weight:600}"
        ".end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke-width:1}.base{stroke-width:1.5}.target{stroke-width:2}"
        f".stroke{{fill:none;stroke-width:2}}{colours(False)}@media(prefers-color-scheme:dark){{{colours(True)}}}"
    )


def text(x: float, y: float, words: str, classes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{f" class={chr(34)}{classes}{chr(34)}" if classes else ""}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, classes: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"/>'


def mark(name: str, x: float, y: float) -> str:
    shape = MARKS[name][2]
    if shape in ("circle", "ring"):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="{name} {"fill" if shape == "circle" else "stroke"}"/>'
    path = {
        "square": "M-3.7-3.7h7.4v7.4h-7.4z",
        "diamond": "M0-5.2L5.2 0L0 5.2L-5.2 0z",
        "up": "M0-5L4.8 3.6H-4.8z",
        "down": "M0 5L4.8-3.6H-4.8z",
        "cross": "M-3.6-3.6L3.6 3.6M-3.6 3.6L3.6-3.6",
    }[shape]
    return f'<path d="{path}" transform="translate({x:.1f} {y:.1f})" class="{name} {"stroke" if shape == "cross" else "fill"}"/>'


class Axis:
    """From ratios to places: decades, with ticks at 1, 2 and 5."""

    def __init__(self, ratios: list[float]) -> None:
        self.low = math.log10(min([0.8, *ratios])) - 0.05
        self.high = math.log10(max([12.0, *ratios])) + 0.05

    def __call__(self, value: float) -> float:
        return LEFT + PLOT * (math.log10(value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        steps = (1, 2, 5) if self.high - self.low < 2.6 else (1,)
        found = [step * 10.0**power for power in range(-3, 6) for step in steps]
        return [tick for tick in found if self.low <= math.log10(tick) <= self.high]


def draw(report: dict, baseline: str = "hand-tuned C++") -> str:
    rows = [row for row in report["rows"] if row["ratios"] or "workbench" in row["problems"]]
    names = [name for name in [*order(report), "before"] if name in report["contestants"] and name not in ("workbench", "cpp")]
    ratios = [r["median"] for row in rows for r in row["ratios"].values()]
    axis = Axis([*ratios, *(row["target"] for row in rows)])
    bottom = TOP + STEP * len(rows)
    height = bottom + 62
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
        f' aria-label="Time of CUDA kernels on the CPU relative to {baseline}"><style>{style()}</style>',
        text(12, 24, f"CUDA kernels on the CPU: time relative to {baseline}", "title"),
        *legend(report, names),
    ]
    out += heads(report)
    for tick in axis.ticks():
        out.append(line(axis(tick), TOP - 6, axis(tick), bottom, "base" if tick == 1 else "grid"))
        out.append(text(axis(tick), bottom + 16, f"{tick:g}×", "soft small middle"))
    for index, row in enumerate(rows):
        out += one_row(row, names, axis, TOP + STEP * index + STEP / 2)
    machine = report["machine"]
    about = f"{machine['cpu']}, {machine['cores']} cores, {machine['vectors']}; {report['compiler']}; {report['date'][:10]}"
    out += [text(12, height - 14, f"Logarithmic axis, left is faster; medians of interleaved rounds. {about}", "soft small"), "</svg>"]
    return "\n".join(out) + "\n"


def legend(report: dict, names: list[str]) -> list[str]:
    x, y = 12.0, 52.0
    out = []
    if "workbench" in report["contestants"]:
        out += [f'<rect x="{x}" y="{y - 10}" width="22" height="11" rx="2" class="bar"/>', text(x + 28, y, "Workbench", "strong")]
        out += [line(x + 112, y - 12, x + 112, y + 3, "target"), text(x + 119, y, "its target")]
        x += 194
    for name in names:
        title = report["contestants"][name]["title"]
        out += [mark(name, x + 6, y - 4), text(x + 16, y, title)]
        x += 32 + 7 * len(title)
    return out


def heads(report: dict) -> list[str]:
    x, out = LEFT + PLOT, []
    words = [("Workbench", "ms"), ("C++", "ms"), ("ratio", "")]
    for width, (first, second) in zip(COLUMNS, words):
        x += width
        out += [text(x, TOP - 22, first, "soft small end"), text(x, TOP - 9, second, "soft small end")]
    return out


def one_row(row: dict, names: list[str], axis: Axis, y: float) -> list[str]:
    out = [text(LEFT - 14, y + 4, row["title"], "end")]
    ours = row["ratios"].get("workbench")
    if ours:
        left, right = sorted((axis(1), axis(ours["median"])))
        out.append(f'<rect x="{left:.1f}" y="{y - 11:.1f}" width="{max(right - left, 1):.1f}" height="11" rx="2" class="bar"/>')
    # Workbench's bar above, the others' marks below it.
    out.append(line(axis(row["target"]), y - 14, axis(row["target"]), y + 3, "target"))
    out += [mark(name, axis(row["ratios"][name]["median"]), y + 8) for name in names if name in row["ratios"]]
    x = LEFT + PLOT
    times = row["times"]
    cells = [
        number(times["workbench"]["median"]) if "workbench" in times else "–",
        number(times["cpp"]["median"]) if "cpp" in times else "–",
        f"{number(ours['median'])}×" if ours else "failed" if "workbench" in row["problems"] else "–",
    ]
    for width, cell, classes in zip(COLUMNS, cells, ("end strong", "end", "end strong")):
        x += width
        out.append(text(x, y + 4, cell, classes))
    return out
