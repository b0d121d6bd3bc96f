"""Topics and documents on which a judge and the assessors differ more than they do elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bayespool.arrays import FloatArray, IndexArray, OrderArray
from bayespool.collection import Collection
from bayespool.evidence.labels import in_top
from bayespool.experiments.judge_agreement import Confusions, Row, levels_of_grades

_N_DOCUMENTS = 20  # of a judge
_DEPTH = 30  # ranks in which documents matter
_UNLIKELY = 0.1  # judgment, by its label
_LEVEL = 0.05  # of the test of topics


@dataclass(frozen=True, eq=False)
class Disputes:
    """Documents with a judgment and a label, and how likely levels are by their labels.

    ``pair``: judged and labeled documents in the top 30 of a run. ``level``, ``implied``: level of the
    judgment, and that which the label stands for. ``shares``: of levels among documents of the same grade on
    all other topics, shape (document, level).
    """

    first: Row
    collection: Collection
    pair: OrderArray
    level: IndexArray
    implied: IndexArray
    label: FloatArray
    shares: FloatArray

    @property
    def distance(self) -> FloatArray:
        """Distances of levels from the label's, shape (document, level)."""
        return np.abs(np.arange(float(self.shares.shape[1])) - self.implied[:, None])


def find_disputes(collection: Collection, confusions: Confusions) -> list[Disputes]:
    """Return what judge and assessors say of the same documents, by measure and judge."""
    disputes = []
    for (measure, name), confusion in confusions.items():
        judge, levels = confusion.judge, np.array(confusion.levels)
        pair = np.flatnonzero(collection.judged & judge.is_labeled & in_top(collection, _DEPTH))
        level = np.searchsorted(levels, collection.relevance[pair], side="right")
        topic, grade = collection.pair_topic[pair], judge.grade[pair]
        shape = len(collection.query_ids), len(judge.thresholds) + 1, len(levels) + 1
        table = np.zeros(shape)
        np.add.at(table, (topic, grade, level), 1)
        base = table.sum(axis=(0, 1)) / max(table.sum(), 1)
        elsewhere = table.sum(axis=0) - table + base  # a document more, spread over levels like all
        shares = elsewhere / elsewhere.sum(axis=2, keepdims=True).clip(1e-12)
        implied = levels_of_grades(collection, confusion, measure.rel)[grade]
        first = {"measure": str(measure), "judge": name}
        disputes.append(
            Disputes(first, collection, pair, level, implied, judge.label[pair], shares[topic, grade])
        )
    return disputes


def disputed_topics(disputes: Sequence[Disputes]) -> Iterator[Row]:
    """Yield rows of the table ``disputed_topics``, most disputed first.

    The sum of a topic's differences in levels is compared with that of documents with the same labels on
    other topics. Topics differ by more than their documents do, so that z is in units of their usual spread.
    """
    from scipy.stats import false_discovery_control, norm

    for of in disputes:
        topic = of.collection.pair_topic[of.pair]
        mean = (of.shares * of.distance).sum(axis=1)
        variance = (of.shares * of.distance**2).sum(axis=1) - mean**2
        apart = np.abs(of.level - of.implied)
        n, observed, expected, total = (np.bincount(topic, x) for x in (apart * 0 + 1, apart, mean, variance))
        there = np.flatnonzero(total > 0)
        z = (observed[there] - expected[there]) / np.sqrt(total[there])
        spread = 1.48 * np.median(np.abs(z - np.median(z))) if len(z) else 1.0
        p = false_discovery_control(norm.sf(z / max(1.0, float(spread)))) if len(z) else z
        order = np.argsort(p, kind="stable")
        rows = there[order]
        yield of.first | {
            "query_id": [of.collection.query_ids[t] for t in rows],
            "n": n[rows].astype(int),
            "difference": observed[rows].astype(int),
            "expected": expected[rows],
            "p_value": p[order],
            "disputed": p[order] < _LEVEL,
        }


def disputed_documents(disputes: Sequence[Disputes]) -> Iterator[Row]:
    """Yield rows of the table ``disputed_documents``: whose judgments are least likely by their labels."""
    for of in disputes:
        levels = np.arange(of.shares.shape[1])
        is_as_far = of.distance >= np.abs(of.level - of.implied)[:, None]
        is_on_side = (levels > of.implied[:, None]) == (of.level > of.implied)[:, None]
        chance = np.where(of.level == of.implied, 1.0, (of.shares * (is_as_far & is_on_side)).sum(axis=1))
        order = np.argsort(chance, kind="stable")[:_N_DOCUMENTS]
        order = order[chance[order] < _UNLIKELY]
        pair = of.pair[order]
        yield of.first | {
            "query_id": [of.collection.query_ids[t] for t in of.collection.pair_topic[pair]],
            "doc_id": [of.collection.doc_id(i) for i in pair.tolist()],
            "relevance": of.collection.relevance[pair].astype(int),
            "label": of.label[order],
            "chance": chance[order],
        }
