"""Average precision inferred from a random sample of the judgments: infAP and xinfAP."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayespool.arrays import FloatArray, IntArray
from bayespool.collection import Collection
from bayespool.collection.samples import Sample
from bayespool.corrections.base import SampledCorrection
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import RELEVANT, Bounds
from bayespool.evidence.states import states
from bayespool.pooling.sampled import infer_ap, infer_stratified_ap, sampled_states


@register_estimator(
    "inferred-ap",
    label="inferred\nAP",
    citations=("yilmaz-aslam-2006", "yilmaz-kanoulas-aslam-2008"),
    needs_sample=True,
)
@dataclass(frozen=True, kw_only=True)
class InferredAP(SampledCorrection):
    """Expected precision at the ranks of the judged relevant documents, from the sample above them.

    infAP of a uniform sample, as in trec_eval, and xinfAP of a stratified one, as in NIST's sample_eval
    (`bayespool.pooling.sampled`). A document that could not be sampled counts as not relevant; a note gives
    the number of such documents. Judgments outside the sample (added ones, those that no pooled run explains)
    are a stratum of their own, which is fully judged. The value is NaN where the judgments are no sample,
    have no strata, or are not the stated sample, within the limits of `HorvitzThompson`.

    Defined for AP over the relevant documents of completed judgments. It lies between 0 and 1, and may lie
    outside the bounds. A fully judged run may differ from its value as judged, since the number of relevant
    documents is unknown. Both estimands coincide.
    """

    def of_sample(self, collection: Collection, sample: Sample) -> Callable[[Bounds], FloatArray] | str:
        """Values from one search for strata."""
        stratum = strata_with_others(collection, sample)
        if stratum is None:
            return NO_STRATA
        return functools.partial(_inferred, collection, stratum, sample.as_trec_eval)


NO_STRATA = "defined for uniform and stratified samples"
"""Note of an estimate that needs strata."""


def strata_with_others(collection: Collection, sample: Sample) -> IntArray | None:
    """Stratum of each pair, shape (pair,), −1 outside of all; other judgments are one more."""
    if sample.stratum is None:
        return None
    others = collection.judged & ~sample.chosen
    return np.where(others, sample.stratum.max() + 1, sample.stratum).astype(np.int32)


def _inferred(collection: Collection, stratum: IntArray, as_trec_eval: bool, bounds: Bounds) -> FloatArray:
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
    if n_strata == 1 and as_trec_eval:
        return infer_ap(state, n_relevant[:, 0].astype(np.int32))
    at_rank = np.append(stratum, np.int32(-1))[top]
    by_topic = [
        infer_stratified_ap(state[:, t], at_rank[:, t], n_pooled[t], n_judged[t], n_relevant[t])
        for t in range(n_topics)
    ]
    return np.stack(by_topic, axis=1)
