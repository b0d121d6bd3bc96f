"""nDCG inferred from a stratified random sample of the judgments: infNDCG."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, IntArray
from bayespool.collection import Collection
from bayespool.collection.samples import Sample
from bayespool.corrections.base import SampledCorrection
from bayespool.corrections.registry import register_estimator
from bayespool.corrections.yilmaz_aslam import NO_STRATA, strata_with_others
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import place_of_level
from bayespool.measures import NDCG


@register_estimator(
    "inferred-ndcg",
    label="inferred\nnDCG",
    citations=("yilmaz-kanoulas-aslam-2008",),
    needs_sample=True,
)
@dataclass(frozen=True, kw_only=True)
class InferredNDCG(SampledCorrection):
    """Discounted gain by the mean of the sample in each stratum, over that of an inferred ideal ranking.

    The gain is Σ N(h) · mean discounted gain of the judged documents, over strata h, of the run's top n,
    which has N(h) documents of h. The ideal ranking has the estimated numbers of documents of each level,
    rounded. As NIST's sample_eval, whose infNDCG is nDCG@1000 here. Documents outside the strata count as not
    relevant, other judgments once; see `InferredAP`.

    Defined for nDCG over the ideal ranking of completed judgments. Values of single topics may lie outside
    the bounds, even above 1. Both estimands coincide.
    """

    @property
    def family(self) -> type[NDCG]:
        """NDCG."""
        return NDCG

    def of_sample(self, collection: Collection, sample: Sample) -> Callable[[Bounds], FloatArray] | str:
        """Values from one search for strata."""
        stratum = strata_with_others(collection, sample)
        return NO_STRATA if stratum is None else functools.partial(_inferred, collection, stratum)


def _inferred(collection: Collection, stratum: IntArray, bounds: Bounds) -> FloatArray:
    """Values from the stratum of each pair, −1 outside of all; shape (run, topic)."""
    measure = bounds.measure
    assert isinstance(measure, NDCG)  # for the type checker: the base has checked
    n_strata, judged = int(stratum.max()) + 1, collection.judged
    gain = np.where(judged, measure.gains(np.maximum(collection.relevance, 0)), 0.0)
    top = collection.document[collection.run_index(bounds.run_ids), :, : measure.cutoff]
    shape = *top.shape[:2], n_strata
    run, topic, rank = np.nonzero(np.append(stratum >= 0, False)[top])
    pair = top[run, topic, rank]
    place = (run * shape[1] + topic) * n_strata + stratum[pair]

    def by_stratum(values: FloatArray) -> FloatArray:
        return np.bincount(place, values, int(np.prod(shape))).reshape(shape)

    n_judged = by_stratum(judged[pair].astype(float))
    mean = by_stratum(gain[pair] * measure.weights()[rank]) / np.maximum(n_judged, 1)
    gained = (by_stratum(np.ones(len(pair))) * mean).sum(axis=2)
    ideal = _ideal_gains(collection, stratum, measure)
    return np.where(ideal > 0, gained / np.where(ideal > 0, ideal, 1), 0.0)


def _ideal_gains(collection: Collection, stratum: IntArray, measure: NDCG) -> FloatArray:
    """Discounted gain of the ranking of the estimated number of documents of each level, shape (topic,)."""
    n_topics, n_strata = len(collection.query_ids), int(stratum.max()) + 1
    inside = stratum >= 0
    place = collection.pair_topic * n_strata + stratum

    def count(mask: npt.NDArray[np.bool_]) -> FloatArray:
        n = np.bincount(place[mask], minlength=n_topics * n_strata)
        return n.reshape(n_topics, n_strata).astype(float)

    rate = count(inside) / np.maximum(count(inside & collection.judged), 1)
    discounted = np.append(0.0, np.cumsum(measure.weights()))
    ideal, end = np.zeros(n_topics), np.zeros(n_topics, dtype=np.int64)
    levels = (0, *collection.levels)
    at = place_of_level(collection.relevance, levels)
    for k in range(len(levels) - 1, 0, -1):
        n = (rate * count(inside & (at == k))).sum(axis=1)
        start, end = end, np.minimum(end + np.floor(n + 0.5).astype(np.int64), measure.cutoff)
        ideal += measure.gains(np.array([levels[k]]))[0] * (discounted[end] - discounted[start])
    return ideal
