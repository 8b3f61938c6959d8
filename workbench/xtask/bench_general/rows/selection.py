"""The best of many: top-k, a step of beam search, the nearest centroid."""

from __future__ import annotations

import numpy as np

from bench_cpu.rows import aligned, normal

from ..bounds import EPS, wide
from ..case import Launch, Row


def make_topk(rng):
    rows, cols, k = 2048, 4096, 8
    return {"x": normal(rng, rows, cols)}, {"values": aligned((rows, k)), "indices": aligned((rows, k), np.int32)}, {"rows": rows, "cols": cols}


def topk(x, rows, cols):
    """Of equals the one with the lesser index is first."""
    places = np.argsort(-x, axis=1, kind="stable")[:, :8]
    return {"values": (wide(np.take_along_axis(x, places, 1)), 0), "indices": (wide(places), 0)}


def make_beams(rng):
    sentences, beams, vocab = 64, 4, 32000
    logits = 2 * normal(rng, sentences, beams, vocab)
    inputs = {
        "log_probs": logits - np.log(np.exp(logits).sum(2, keepdims=True)),
        "scores": -5 * rng.random((sentences, beams), np.float32),
        "finished": (rng.random((sentences, beams)) < 0.1).astype(np.int32),
    }
    shape = (sentences, beams)
    outputs = {"next_token": aligned(shape, np.int32), "next_beam": aligned(shape, np.int32), "next_score": aligned(shape)}
    return inputs, outputs, {"sentences": sentences, "vocab": vocab, "end_token": 2}


def beams(log_probs, scores, finished, sentences, vocab, end_token):
    """Scores are one rounded sum, so they are exact in float32; of equals the lesser beam and word is first."""
    total = scores[:, :, None] + log_probs
    total[finished != 0] = -np.inf
    total[:, :, end_token] = np.where(finished != 0, scores, total[:, :, end_token])
    total = total.reshape(sentences, -1)
    best = np.empty((sentences, 4), np.int64)
    for s in range(sentences):
        least = np.partition(total[s], -4)[-4]
        found = np.flatnonzero(total[s] >= least)
        best[s] = found[np.lexsort((found, -total[s][found]))][:4]
    picked = np.take_along_axis(total, best, 1)
    return {"next_token": (wide(best % vocab), 0), "next_beam": (wide(best // vocab), 0), "next_score": (wide(picked), 0)}


def make_kmeans(rng):
    n, k, dims = 131072, 64, 16
    inputs = {"points": normal(rng, n, dims), "centroids": normal(rng, k, dims)}
    return inputs, {"labels": aligned(n, np.int32), "distances": aligned(n)}, {"n": n, "k": k, "dims": dims}


def kmeans(points, centroids, n, k, dims):
    """The sure bound of 16 squared differences: 3 EPS a term and 16 for the sum. A label is judged by the distance to its centroid, which
    may exceed the least by the error of either."""
    p, c = wide(points), wide(centroids)
    least = np.min([np.square(p - one).sum(1) for one in c], axis=0)
    bound = 19 * EPS * least
    return {"distances": (least, bound), "labels": (least, 2 * bound + 1e-12)}


def to_label(labels, inputs):
    picked = inputs["centroids"][np.clip(labels, 0, len(inputs["centroids"]) - 1)]
    return np.square(wide(inputs["points"]) - wide(picked)).sum(1)


ROWS = (
    Row("topk_rows", "top 8 of rows by warps", make_topk, topk,
        (Launch("topk_rows<8>", 2048 // 4, (32, 4), "x values indices rows cols"),), "x values indices rows cols"),
    Row("beam_step", "step of beam search", make_beams, beams,
        (Launch("beam_step<4, 128>", 64, 128, "log_probs scores finished next_token next_beam next_score vocab end_token"),),
        "log_probs scores finished next_token next_beam next_score sentences vocab end_token"),
    Row("kmeans_assign", "nearest of 64 centroids", make_kmeans, kmeans,
        (Launch("kmeans_assign", 131072 // 256, 256, "points centroids labels distances n k dims", 64 * 16 * 4),),
        "points centroids labels distances n k dims", derive={"labels": to_label}),
)
