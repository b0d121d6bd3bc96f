"""Bounds on differences of two runs' scores over all completions of the judgments that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayespool.arrays import AnyArray, FloatArray, OrderArray
from bayespool.collection import Collection
from bayespool.evidence.bounds import Bounds
from bayespool.evidence.ideals import (
    Estimand,
    have_same_ideal,
    judged_tally,
    n_in_reach,
    open_ranks,
    ranked_levels,
    relevance_levels,
)
from bayespool.measures import Measure, Normalized
from bayespool.measures.base import Additive, safe_ratio
from bayespool.measures.extremes import extreme_ratio

_MAX_CELLS = 1 << 22  # numbers


def are_differences_sharp(measure: Measure) -> bool:
    """Return whether a completion reaches `difference_bounds`: under sums over ranks, on one scale."""
    if not isinstance(measure, Additive) or not measure.rises or measure.open_end(np.zeros(1)) is not None:
        return False
    if not isinstance(measure, Normalized) or measure.ideal == "judged":
        return True
    return measure.ideal == "shared" and _has_steps(measure)


def _has_steps(measure: Measure) -> bool:
    """Return whether the ideal ranking of a sum over ranks can be followed document by document."""
    if not isinstance(measure, Additive) or not isinstance(measure, Normalized) or not measure.rises:
        return False
    return type(measure).ideal_steps is not Normalized.ideal_steps


def _over_topics(values: FloatArray) -> FloatArray:
    return np.asarray(values.mean(axis=-1))


def difference_bounds(
    collection: Collection,
    bounds: Bounds,
    pairs: tuple[OrderArray, OrderArray],
    estimand: Estimand,
    means: Callable[[FloatArray], FloatArray] = _over_topics,
) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest difference of mean scores of each pair, two arrays of shape (pair,).

    Parameters
    ----------
    collection : Collection
    bounds : Bounds
        Those of all runs that are compared.
    pairs : tuple of ndarray of int
        Places of the first and second runs; differences are of the first minus the second.
    estimand : {"complete", "pooled"}
    means : callable, optional
        What makes means, of any weights, of values by topic: from shape (pair, topic) to (pair, ...), which
        is the shape of the ends then. Default: the mean over topics.

    Notes
    -----
    A document that both runs retrieve has one relevance. To a sum over ranks it adds its gain times the
    difference of its weights in the two, so that the greatest difference has those relevant that weigh more
    in the first run. Over an ideal ranking that the runs share, as on topics where both reach the same
    unjudged documents, the ratio is maximized: of m relevant documents those of the greatest differences
    count, and each makes the ideal better, as do documents in reach of other runs. On other topics, and of
    other measures (AP, RR, ERR, …), these are the bounds of one run less those of the other: no completion is
    beyond them, but perhaps none reaches them.
    """
    first, second = pairs
    measure, may_be_sharp = bounds.measure, are_differences_sharp(bounds.measure)
    least, most = bounds.least.scores(), bounds.most.scores()
    if not may_be_sharp and not _has_steps(measure):
        lower, upper = means(least), means(most)
        return lower[first] - upper[second], upper[first] - lower[second]
    summed, index = _Sums.of(collection, bounds, estimand), collection.run_index(bounds.run_ids)
    ends = [(means(least[:0]),) * 2]
    step = max(1, _MAX_CELLS // summed.n_cells)
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        lower, upper = -summed.greatest(b, a), summed.greatest(a, b)
        if isinstance(measure, Normalized) and not may_be_sharp:
            is_sharp = have_same_ideal(collection, index, measure, estimand, (a, b))
            lower = np.where(is_sharp, lower, least[a] - most[b])
            upper = np.where(is_sharp, upper, most[a] - least[b])
        ends.append((means(lower), means(upper)))
    least_of_all, most_of_all = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    return least_of_all, most_of_all


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over ranks of judged documents, (run, topic), and unjudged documents by run with their weights."""

    judged: FloatArray
    documents: list[tuple[AnyArray, AnyArray, FloatArray]]  # pair code, topic and weight, by code
    scale: FloatArray  # of a topic's sum in the mean, shape (topic,)
    gain: float  # of the highest level
    ideal: tuple[FloatArray, AnyArray, FloatArray] | None  # `Normalized.ideal_steps`
    n_open: AnyArray  # in reach for the ideal ranking, shape (run, topic)

    @classmethod
    def of(cls, collection: Collection, bounds: Bounds, estimand: Estimand) -> _Sums:
        """Make the sums of a collection's runs under the measure of their bounds."""
        measure, index = bounds.measure, collection.run_index(bounds.run_ids)
        assert isinstance(measure, Additive)
        levels = relevance_levels(collection, measure)
        ranked = ranked_levels(collection, index, measure.cutoff)
        tally, n_topics = judged_tally(collection, levels), ranked.shape[1]
        lowest, highest = measure.gains(np.array([0, levels[-1]])).tolist()
        opened = open_ranks(collection, index, measure.cutoff, estimand)
        documents = []
        for row, run in enumerate(index):
            topic, rank = np.nonzero(opened[row])
            code = collection.document[run, :, : measure.cutoff][topic, rank]
            by_code = np.argsort(code)
            weight = np.asarray(measure.weights(), dtype=float)[rank]
            documents.append((code[by_code], topic[by_code], weight[by_code]))
        scale, ideal, n_open = (
            np.full(n_topics, 1 / measure.unit),
            None,
            np.zeros(ranked.shape[:2], dtype=int),
        )
        if isinstance(measure, Normalized):
            scale = safe_ratio(np.ones(n_topics), measure.best(tally))
            if measure.ideal != "judged":
                scale, ideal = np.ones(n_topics), measure.ideal_steps(tally)
                n_open = n_in_reach(collection, index, measure, estimand)
        judged = measure.amounts(measure.read(ranked)).astype(float)
        return cls(judged, documents, scale, highest - lowest, ideal, n_open)

    @property
    def n_cells(self) -> int:
        """Numbers that a pair takes."""
        return int(self.judged.shape[1]) * (1 + 3 * max(len(codes) for codes, _, _ in self.documents))

    def greatest(self, first: OrderArray, second: OrderArray) -> FloatArray:
        """Return the greatest differences over completions, first minus second runs, (pair, topic)."""
        judged, n_topics = self.judged[first] - self.judged[second], self.judged.shape[1]
        rows, weights = [], []  # a row for each pair and topic
        for pair, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            (code, topic, weight), (other_code, other_topic, other_weight) = (
                self.documents[run] for run in (a, b)
            )
            _, here, there = np.intersect1d(code, other_code, assume_unique=True, return_indices=True)
            weight = weight.copy()
            weight[here] -= other_weight[there]
            rows += [pair * n_topics + topic, pair * n_topics + np.delete(other_topic, there)]
            weights += [weight, np.delete(-other_weight, there)]
        row, weight = np.concatenate(rows), np.concatenate(weights)
        if self.ideal is None:
            gained = np.bincount(row, self.gain * np.maximum(weight, 0), minlength=judged.size)
            return np.asarray((judged + gained.reshape(judged.shape)) * self.scale)
        steps, at_least, discount = self.ideal
        n_more = self.n_open[first].ravel() - np.bincount(row, minlength=judged.size)
        n_more = np.clip(n_more, 0, len(discount))  # further ones change no ideal
        row = np.concatenate([row, np.repeat(np.arange(judged.size), n_more)])
        weight = np.pad(weight, (0, len(row) - len(weight)))
        order = np.lexsort((-weight, row))
        n_open = np.bincount(row, minlength=judged.size)
        place = np.arange(len(row)) - np.repeat(np.cumsum(n_open) - n_open, n_open)
        placed = np.zeros((judged.size, 1 + int(n_open.max(initial=0))))
        placed[row[order], 1 + place] = weight[order]
        best = np.concatenate([[0.0], np.cumsum(discount)])
        reach = np.tile(at_least, (len(judged), 1))
        ratio = extreme_ratio(judged.ravel(), placed.cumsum(axis=1), n_open, best, steps, reach, 1.0)
        return np.asarray(ratio.reshape(judged.shape))
