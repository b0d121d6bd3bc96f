"""Average precision as a ratio of weighted sums over a random sample of the judgments: statAP."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.collection.samples import Sample
from bayespool.corrections.base import SampledCorrection
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import RELEVANT, Bounds
from bayespool.evidence.states import states
from bayespool.pooling.sampled import sampled_ap, sampled_states


@register_estimator("stat-ap", label="stat\nAP", citations=("aslam-pavlu-2007",), needs_sample=True)
@dataclass(frozen=True, kw_only=True)
class StatAP(SampledCorrection):
    """Weight each judged relevant document by 1 / its probability, each pair by 1 / its joint one.

    The estimate is (Σ x(i) x(j) / (i p(i, j)) over ranks j ≤ i) / (Σ x(d) / p(d) over the topic)
    (`bayespool.pooling.sampled.sampled_ap`). It takes every sample, also an adaptive one, for which infAP and
    xinfAP have no strata. Joint probabilities are exact for uniform and stratified samples; for others
    documents count as judged independently. Documents outside the sample, other judgments, and samples that
    are not as stated are treated as in `HorvitzThompson`.

    Defined for AP over the relevant documents of completed judgments. Values may lie outside the bounds, of
    single topics even above 1. Both estimands coincide.
    """

    def of_sample(self, collection: Collection, sample: Sample) -> Callable[[Bounds], FloatArray]:
        """Weighted sums over the sample."""
        return functools.partial(_sampled, collection, sample)


def _sampled(collection: Collection, sample: Sample, bounds: Bounds) -> FloatArray:
    """Values of runs on topics, shape (run, topic)."""
    n_topics = len(collection.query_ids)
    inclusion = sample.weighing(collection.judged)
    relevant = states(collection.relevance, bounds.measure.rel) == RELEVANT
    weight = np.where(relevant, 1 / inclusion, 0.0)
    n_relevant: FloatArray = np.bincount(collection.pair_topic, weights=weight, minlength=n_topics).astype(
        float
    )
    top = collection.document[collection.run_index(bounds.run_ids), :, : bounds.measure.cutoff]
    state = sampled_states(top, relevant, collection.judged, collection.judged)
    at_rank = np.append(inclusion, np.nan)[top]
    stratum, chosen = sample.stratum, sample.chosen
    if stratum is None:
        return sampled_ap(state, at_rank, n_relevant)
    stratum = np.where(collection.judged & ~chosen, -1, stratum).astype(
        np.int32
    )  # certain, so that pairs need no weight
    n_strata = int(stratum.max(initial=0)) + 1
    place = (collection.pair_topic * n_strata + stratum)[stratum >= 0]
    size, n_chosen = (
        np.bincount(place, weights=of_kind, minlength=n_topics * n_strata).reshape(n_topics, n_strata)
        for of_kind in (np.ones(len(place)), chosen[stratum >= 0])
    )
    pair_weight = np.where(
        n_chosen > 1, n_chosen * (size - 1) / np.maximum(size * (n_chosen - 1), 1), 1.0
    )  # one chosen document makes no pair
    of_rank = np.append(stratum, np.int32(-1))[top]
    by_topic = [
        sampled_ap(
            state[:, t], at_rank[:, t], n_relevant[t], stratum=of_rank[:, t], pair_weight=pair_weight[t]
        )
        for t in range(n_topics)
    ]
    return np.stack(by_topic, axis=1)
