"""Sparse matrices in three formats, and bags of embeddings."""

from __future__ import annotations

import numpy as np

from bench_cpu.rows import MI, aligned, normal

from ..bounds import EPS, chain, heads_of, runs, wide
from ..case import Launch, Row


def make_csr(rng):
    """Lengths of rows with a heavy tail: some tens in most, thousands in a few."""
    rows = 98304
    lengths = np.minimum(rng.pareto(1.5, rows) * 24 + 1, 4096).astype(np.int64)
    starts = runs(lengths)
    inputs = {
        "row_ptr": starts.astype(np.int32),
        "col_idx": rng.integers(0, rows, starts[-1], np.int32),
        "vals": normal(rng, starts[-1]),
        "x": normal(rng, rows),
    }
    return inputs, {"y": aligned(rows)}, {"rows": rows}


def csr(row_ptr, col_idx, vals, x, rows):
    """The bound for as many products as a row has."""
    products, starts = wide(vals) * wide(x)[col_idx], row_ptr[:-1]
    bound = (chain(np.diff(row_ptr)) + EPS) * heads_of(starts, np.abs(products))
    return {"y": (heads_of(starts, products), bound)}


def make_ell(rng):
    rows, per_row = 131072, 32
    indices = rng.integers(0, rows, (per_row, rows), np.int32)
    indices[rng.random(indices.shape) < 0.2] = -1
    inputs = {"indices": indices, "data": normal(rng, per_row, rows), "x": normal(rng, rows)}
    return inputs, {"y": aligned(rows)}, {"rows": rows, "per_row": per_row}


def ell(indices, data, x, rows, per_row):
    """The bound for as many products as a row has places."""
    products = np.where(indices >= 0, wide(data) * wide(x)[indices], 0)
    return {"y": (products.sum(0), (chain(per_row) + EPS) * np.abs(products).sum(0))}


def make_coo(rng):
    rows, elements = 65536, MI
    inputs = {
        "row": np.sort(rng.integers(0, rows, elements, np.int32)),
        "col": rng.integers(0, rows, elements, np.int32),
        "value": normal(rng, elements),
        "x": normal(rng, rows),
    }
    return inputs, {"y": aligned(rows)}, {"elements": elements, "rows": rows}


def coo(row, col, value, x, elements, rows):
    """The bound for as many products as a row has, in any order."""
    products = wide(value) * wide(x)[col]
    sums, sizes = (np.bincount(row, weights, rows) for weights in (products, np.abs(products)))
    return {"y": (sums, (chain(np.bincount(row, minlength=rows)) + 2 * EPS) * sizes)}


def make_bags(rng):
    bags, table, features = 8192, 65536, 128
    offsets = runs(rng.integers(4, 45, bags))
    indices = int(offsets[-1])
    inputs = {"input": rng.integers(0, table, indices, np.int64), "offsets": offsets[:-1].astype(np.int64), "weight": normal(rng, table, features)}
    return inputs, {"out": aligned((bags, features))}, {"bags": bags, "indices": indices, "features": features}


def bags(input, offsets, weight, bags, indices, features):
    """The bound for as many terms as a bag has."""
    rows = wide(weight[input])
    lengths = np.diff(offsets, append=indices)[:, None]
    return {"out": (heads_of(offsets, rows), chain(lengths) * heads_of(offsets, np.abs(rows)))}


ROWS = (
    Row("csr_spmv", "CSR x vector, warp a row", make_csr, csr,
        (Launch("csr_spmv", 98304 * 32 // 256, 256, "rows row_ptr col_idx vals x y"),), "rows row_ptr col_idx vals x y"),
    Row("ell_spmv", "ELL x vector", make_ell, ell,
        (Launch("ell_spmv", 131072 // 256, 256, "rows per_row indices data x y"),), "rows per_row indices data x y"),
    Row("coo_spmv", "COO x vector, atomics", make_coo, coo,
        (Launch("coo_spmv", MI // 256, 256, "elements row col value x y"),), "elements rows row col value x y", clears=("y",)),
    Row("embedding_bag", "sums of embeddings, bags", make_bags, bags,
        (Launch("embedding_bag", 8192 // 8, (32, 8), "input offsets weight out bags indices features"),),
        "input offsets weight out bags indices features"),
)
