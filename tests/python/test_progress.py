"""The line that tells how far a long benchmark is."""

from __future__ import annotations

import io
import sys
import time

import numpy as np
import pytest

import workbench as wb
from workbench import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def slow(x):
    time.sleep(0.01)
    return x


def run(**options):
    return wb.bench({"slow": slow}, sizes=[64, 128, 256], make_args=np.zeros, seconds_per_size=0.7, **options)


def test_a_long_benchmark_tells_how_far_it_is(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    report = run()
    assert len(report.rows) == 3
    lines = [line.removesuffix("\x1b[K") for line in terminal.getvalue().split("\r") if line]
    told = [line for line in lines if line]
    assert told and all("/3 sizes" in line and "slow " in line for line in told), lines
    assert any(line.startswith("128  1/3 sizes") and "s left" in line for line in told), told
    assert lines[-1] == "", "the line is taken away"


def test_nothing_is_told_where_nobody_looks_or_it_is_short(monkeypatch):
    quiet = io.StringIO()
    monkeypatch.setattr(sys, "stderr", quiet)
    run()
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    wb.bench({"sum": np.sum}, sizes=[64], make_args=np.zeros, seconds_per_size=0.01)
    assert quiet.getvalue() == "" and terminal.getvalue() == ""


def test_a_line_that_cannot_be_shown_loses_nothing_and_a_stop_in_it_stops(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(terminal, "write", lambda text: 1 / 0)
    monkeypatch.setattr(sys, "stderr", terminal)
    told = []

    def broken(self, line, report):
        told.append(line)
        raise ZeroDivisionError

    monkeypatch.setattr(_progress._Terminal, "show", broken)
    assert len(run().rows) == 3 and told

    def stopped(self, line, report):
        raise KeyboardInterrupt

    monkeypatch.setattr(_progress._Terminal, "show", stopped)
    report = run()
    assert len(report.rows) < 3 or "stopped by you" in str(report)


def test_a_notebook_has_one_display_that_is_updated(monkeypatch):
    ipython = pytest.importorskip("IPython.display")
    shown = []

    class Handle:
        def display(self, obj, raw):
            shown.append(("display", obj["text/html"]))

        def update(self, obj, raw):
            shown.append(("update", obj["text/html"]))

    monkeypatch.setattr(ipython, "DisplayHandle", Handle)
    monkeypatch.setattr(_progress, "_place", _progress._Notebook)
    run()
    assert [kind for kind, _ in shown[:2]] == ["display", "update"]
    assert "wb-progress" in shown[0][1] and "<svg" in shown[-2][1] and shown[-1] == ("update", "")
