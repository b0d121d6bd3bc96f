"""One correction of one run of the toy, and labels of an LLM judge on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys import from_rankings, toy_collection

from bayespool.collection import Collection, Judge, add_judges
from bayespool.corrections.base import PointCorrection
from bayespool.measures import Estimates
from bayespool.reading import labels_from_frame


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
    """What corrections by a sample ask for: hidden and unjudged documents of the same probabilities by label,
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


# What NIST's sample_eval.pl and Pavlu's statAP_MQ_eval (versions 3 and 4), run by Perl, print with twelve
# decimals for the run and the small stratified sample that `write_sample` writes.
INF_AP = (0.152778124995, 0.485714000009, 0.457821170127)
INF_NDCG = (0.352654242909, 1.164638662905, 0.852896032904)
STAT_AP = (0.044444444444, 0.321428571429, 0.404081632653)


def write_sample(folder: Path) -> tuple[Path, Path, Path]:
    """Write qrels of five columns, prels and a run of three topics of 24 documents."""
    qrels, prels, run = [], [], []
    for t in (1, 2, 3):
        for i in range(24):
            stratum = 1 if i < 4 else 2 if i < 12 else 3
            relevance = (2, 0, 1, 1, 0, 2, 0)[(i * t + t) % 7]
            sampled = stratum == 1 or (i * 5 + t) % (2, 5)[stratum - 2] == 0
            qrels.append(f"{t} 0 d{i:02d} {stratum} {relevance if sampled else -1}\n")
            if sampled:
                probability = (1.0, 0.5, 0.2)[stratum - 1]
                prels.append(f"{t} d{i:02d} {relevance} {(1, 0, 1, 2, 1)[i % 5]} {probability}\n")
        order = sorted(range(24), key=lambda i: (i * 7 + 3 * t) % 24)[:18]
        for rank, i in enumerate(order):
            run.append(f"{t} Q0 {f'd{i:02d}' if rank % 6 != 4 else f'x{rank}'} {rank + 1} {100 - rank} r\n")
    paths = folder / "sampled.txt", folder / "prels.txt", folder / "r.run"
    for path, lines in zip(paths, (qrels, prels, run), strict=True):
        path.write_text("".join(lines))
    return paths
