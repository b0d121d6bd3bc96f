"""Average precision inferred from a random sample of the judgments: infAP and xinfAP."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayespool.collection import Collection, IntArray
from bayespool.corrections.base import FloatArray, SampledAP
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import RELEVANT, Bounds
from bayespool.evidence.states import states
from bayespool.pooling import StrategyPool
from bayespool.pooling.sampled import infer_ap, infer_stratified_ap, sampled_states


@register_estimator(
    "inferred-ap",
    label="inferred\nAP",
    citations=("yilmaz-aslam-2006", "yilmaz-kanoulas-aslam-2008"),
    needs_sample=True,
)
@dataclass(frozen=True, kw_only=True)
class InferredAP(SampledAP):
    """Expected precision at the ranks of the judged relevant documents, from the sample above them.

    infAP of a uniform sample, as in trec_eval, and xinfAP of a stratified one (`bayespool.pooling.sampled`).
    A document that no pooled run retrieves could not be sampled and counts as not relevant; a note gives the
    number of such documents. Judgments outside the sample (added ones, those that no pooled run explains) are
    a stratum of their own, which is fully judged. The value is NaN where the pool is not a sample, has no
    strata, or is not the stated sample, within the limits of `HorvitzThompson`.

    Defined for AP over the relevant documents of completed judgments. It lies between 0 and 1, and may lie
    outside the bounds. A fully judged run may differ from its value as judged, since the number of relevant
    documents is unknown. Both estimands coincide.
    """

    def of_sample(self, collection: Collection, pool: StrategyPool) -> Callable[[Bounds], FloatArray] | str:
        """Values from one search for strata."""
        pooled = np.flatnonzero(collection.pooled)
        stratum = pool.strata(collection, pooled)
        if stratum is None:
            return "defined for uniform and stratified samples"
        others = collection.judged & ~pool.judged(collection, pooled)
        stratum = np.where(others, stratum.max() + 1, stratum).astype(np.int32)
        return functools.partial(_inferred, collection, stratum)


def _inferred(collection: Collection, stratum: IntArray, bounds: Bounds) -> FloatArray:
    """Values from the stratum of each pair, −1 outside of all; shape (run, topic)."""
    relevant = states(collection.relevance, bounds.measure.rel) == RELEVANT
    n_topics, n_strata = len(collection.query_ids), int(stratum.max()) + 1
    top = collection.document[collection.run_index(bounds.run_ids), :, : bounds.measure.cutoff]
    state = sampled_states(top, relevant, collection.judged, stratum >= 0)
    place = collection.pair_topic * n_strata + stratum
    n_pooled, n_judged, n_relevant = (
        np.bincount(place[(stratum >= 0) & of_kind], minlength=n_topics * n_strata).reshape(
            n_topics, n_strata
        )
        for of_kind in (True, collection.judged, relevant)
    )
    if n_strata == 1:
        return infer_ap(state, n_relevant[:, 0].astype(np.int32))
    at_rank = np.append(stratum, np.int32(-1))[top]
    by_topic = [
        infer_stratified_ap(state[:, t], at_rank[:, t], n_pooled[t], n_judged[t], n_relevant[t])
        for t in range(n_topics)
    ]
    return np.stack(by_topic, axis=1)
