"""One correction of one run of the toy, and labels of a second judge on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from toys import from_rankings, toy_collection

from bayespool.collection import Collection, Judge, add_judges, labels_from_frame
from bayespool.corrections.base import PointCorrection
from bayespool.measures import Estimates


def estimate(
    correction: PointCorrection, measure: str = "P@5", run_id: str = "u", collection: Collection | None = None
) -> Estimates:
    (result,) = correction.estimate(collection or toy_collection(), run_id, measure)
    return result


def topics_of(correction: PointCorrection, measure: str = "P@5", run_id: str = "u") -> list[float]:
    return estimate(correction, measure, run_id).per_topic[0].tolist()


def close(*expected: float) -> Any:
    return pytest.approx(list(expected), abs=1e-12)


# What the judge of the toy says. Of hidden documents 2 is said of c2 r2 p1 b0 and 0 of f1 i0 k0 w0; h1 v1 and
# topic 3's b0 d0 have no label. Of other judged documents 2 is said of a1 j0, and 0 of q0 and topic 3's a0.
# Of what u has unjudged 2 is said of l and z, 1 of m, 0 of d and e; x and f have no label.
LABELS: dict[str, dict[str, float]] = {
    "1": {"c": 2, "b": 2, "f": 0, "i": 0, "k": 0, "a": 2, "j": 2, "l": 2, "m": 1, "d": 0},
    "2": {"r": 2, "p": 2, "w": 0, "q": 0, "z": 2},
    "3": {"a": 0, "e": 0},
}


def with_labels(
    labels: Mapping[str, Mapping[str, float]], collection: Collection | None = None
) -> Collection:
    """A collection, the toy if none is given, with a judge ``llm``."""
    return add_judges(collection or toy_collection(), {"llm": labels_from_frame(labels)})


def with_any_labels(collection: Collection) -> Collection:
    """A collection with a judge that labels three of four documents 0, 1 or 2, for no reason."""
    turn = np.arange(len(collection.relevance)) % 4
    return dataclasses.replace(collection, judges=(Judge("any", np.where(turn < 3, turn, np.nan)),))


def sampled(rng: np.random.Generator, n_topics: int = 8) -> tuple[Collection, float]:
    """What corrections by a sample ask for: hidden documents and unjudged ones of the same chances by label,
    labels that know a part, and documents that teach how much; and the true P@10 of the run that is new.
    """
    topics = [str(t) for t in range(n_topics)]
    letters = {"x": "abcdefghij", "y": "klmnopqrst", "u": "ABCDEFGHIJ", "x and y": "0123456789"}
    relevance, labels = {}, {}
    for topic in topics:
        label = {d: float(rng.random() < 0.5) for docs in letters.values() for d in docs}
        relevance[topic] = {d: int(rng.random() < (0.7 if said else 0.2)) for d, said in label.items()}
        labels[topic] = label
    known = {q: {d: r for d, r in of.items() if d not in letters["u"]} for q, of in relevance.items()}
    both = letters.pop("x and y")
    ranked = {run: docs + both if run in ("x", "y") else docs for run, docs in letters.items()}
    collection = from_rankings(
        {run: dict.fromkeys(topics, docs) for run, docs in ranked.items()},
        known,
        {run: run for run in ranked},
        pooled_run_ids=("x", "y"),
        pool_depth=20,
    )
    truth = np.mean([relevance[q][d] for q in topics for d in letters["u"]])
    return with_labels(labels, collection), float(truth)
