"""Audits of the example, with answers from its truth."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bayespool import audit, load_example, parse_measure, qrels_from_frame
from bayespool.auditing import Audit
from bayespool.collection import Collection
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments import simulate_example
from bayespool.reading import Qrels

FAST: dict[str, Any] = {"estimators": "posterior-ratio(draws=50)"}


def planned(measure: str = "P@10", **settings: Any) -> Audit:
    """An audit of a new run, with ten of 44 documents drawn."""
    return audit(load_example(), "new-b", measure, **{"budget": 10, **FAST, **settings})


@cache
def truth() -> dict[tuple[str, str], int]:
    told = simulate_example().truth
    pairs = zip(told.query_id.to_pylist(), told.doc_id.to_pylist(), strict=True)
    return dict(zip(pairs, told.relevance.tolist(), strict=True))


@cache
def fuller() -> Collection:
    """The example with all its documents judged."""
    example = load_example()
    ids, pairs = example.doc_ids.to_pylist(), np.flatnonzero(~example.judged)
    told = [truth()[example.query_ids[example.pair_topic[pair]], ids[pair]] for pair in pairs]
    return example.with_own_judgments(pairs, np.array(told))


def answers(found: Audit, n: int | None = None) -> Qrels:
    """Judgments of the first n documents drawn, by default of all."""
    lines = found.qrels()
    by_topic: dict[str, dict[str, int]] = {}
    pairs = zip(lines.query_id.to_pylist(), lines.doc_id.to_pylist(), strict=True)
    for query_id, doc_id in list(pairs)[:n]:
        by_topic.setdefault(query_id, {})[doc_id] = truth()[query_id, doc_id]
    return qrels_from_frame(by_topic)


def true_values(measure: str, run_ids: tuple[str, ...]) -> list[float]:
    found = values_on_fuller(load_example(), fuller(), run_ids, parse_measure(measure))
    return [float(value) for value in found.means()]
