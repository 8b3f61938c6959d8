"""Graphs."""

from __future__ import annotations

import numpy as np

from bench_cpu.rows import aligned

from ..case import Launch, Row


def make_components(rng):
    """A random graph near the point where one component takes over: chains are long, components of all sizes."""
    n = edges = 262144
    inputs = {name: rng.integers(0, n, edges, np.int32) for name in ("from_", "to")}
    return inputs, {"parent": aligned(n, np.int32), "labels": aligned(n, np.int32)}, {"n": n, "edges": edges}


def components(from_, to, n, edges):
    """Every vertex gets the least of its component: the larger root always goes under the smaller."""
    labels = np.arange(n)
    while True:
        least = np.minimum(labels[from_], labels[to])
        new = labels.copy()
        for ends in (from_, to):
            np.minimum.at(new, labels[ends], least)
            np.minimum.at(new, ends, least)
        new = new[new]
        if np.array_equal(new, labels):
            return {"labels": (labels.astype(np.float64), 0)}
        labels = new


ROWS = (
    Row("connected_components", "components by union-find", make_components, components,
        (Launch("init_parents", 262144 // 256, 256, "parent n"), Launch("hook_edges", 262144 // 256, 256, "from_ to parent edges"),
         Launch("flatten", 262144 // 256, 256, "parent labels n")),
        "from_ to parent labels n edges"),
)
