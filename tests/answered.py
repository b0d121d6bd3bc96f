"""Two runs that nobody judged, labels of two judges, and answers of people by a design."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np

from bayespool import read_collection
from bayespool.auditing import draw_design
from bayespool.collection import Collection
from bayespool.reading import Qrels

N_TOPICS, DEPTH = 20, 10
MEASURE = "P@10"


@cache
def world() -> tuple[
    dict[str, dict[str, dict[str, float]]], dict[str, dict[str, int]], dict[tuple[str, str], int]
]:
    """Runs, labels of a good judge that is too kind, and what is relevant."""
    rng = np.random.default_rng(5)
    runs: dict[str, dict[str, dict[str, float]]] = {"one": {}, "two": {}}
    labels: dict[str, dict[str, int]] = {}
    relevant: dict[tuple[str, str], int] = {}
    for t in range(N_TOPICS):
        topic, documents = f"q{t}", [f"d{i}" for i in range(16)]
        is_relevant = rng.random(16) < np.linspace(0.7, 0.2, 16)
        kind = is_relevant | (rng.random(16) < 0.4)
        labels[topic] = {d: int(x) for d, x in zip(documents, kind, strict=True)}
        relevant |= {(topic, d): int(x) for d, x in zip(documents, is_relevant, strict=True)}
        runs["one"][topic] = {d: 20.0 - i for i, d in enumerate(documents[:DEPTH])}
        runs["two"][topic] = {d: 20.0 - i for i, d in enumerate(documents[6 : 6 + DEPTH])}
    return runs, labels, relevant


def truth() -> np.ndarray:
    """P@10 of the two runs."""
    runs, _, relevant = world()
    return np.array(
        [sum(relevant[t, d] for t in of for d in of[t]) / (N_TOPICS * DEPTH) for of in runs.values()]
    )


def nobody() -> Collection:
    runs, labels, _ = world()
    return read_collection(None, runs, judges={"kind": labels})


def answered(n: int, seed: int) -> Collection:
    """The collection with the first n answers to a design."""
    runs, labels, _ = world()
    return read_collection(answers(n, seed), runs, judges={"kind": labels})


def answers(n: int, seed: int) -> Qrels:
    listed, relevant = draw_design(_nobody(), None, MEASURE, random_seed=seed).qrels(), world()[2]
    pairs = zip(listed.query_id.to_pylist(), listed.doc_id.to_pylist(), strict=True)
    found = np.array([relevant[pair] for pair in pairs], dtype=np.int16)
    return dataclasses.replace(
        listed, relevance=np.where(np.arange(len(found)) < n, found, -1).astype(np.int16)
    )


_nobody = cache(nobody)
