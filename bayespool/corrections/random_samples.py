"""Corrections from a random sample of the judgments: weighted sums, statAP, infAP, infNDCG."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray
from bayespool.collection import Collection
from bayespool.corrections.base import (
    Corrected,
    PointCorrection,
    SampledCorrection,
    joined_notes,
    judgment_sample,
    not_defined,
    run_notes,
    sampling_notes,
    undrawn_strata,
)
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import RELEVANT, Bounds
from bayespool.evidence.ideals import level_index, ranked_levels, states
from bayespool.measures import NDCG, Additive
from bayespool.measures.base import Normalized, safe_ratio
from bayespool.pooling.sampling import infer_ap, infer_stratified_ap, sampled_ap, sampled_states
from bayespool.reading.samples import Sample
from bayespool.tables.formatting import counted


@register_estimator(
    "horvitz-thompson", label="Horvitz-\nThompson", citations=("horvitz-thompson-1952",), needs_sample=True
)
@dataclass(frozen=True, kw_only=True)
class HorvitzThompson(PointCorrection):
    """Sum of gains with each sampled document weighted by its inverse inclusion probability.

    The estimate is Σ weight · gain / p over the judged documents of the run's top n. It is unbiased over
    samples of documents that could all have been sampled. A document that no pooled run retrieves could not,
    and counts as not relevant; a note gives the number of such documents. Judgments outside the sample (added
    ones, those that no pooled run explains) count once. The value is NaN where the judgments are no sample,
    published or by a strategy (`bayespool.pooling.Sampling`), or cannot be the stated one: more than 1 % of
    the sample (and more than one document) is unjudged, or as many documents are judged that could have been
    sampled but were not. A note reports smaller numbers. Of these the former count as not relevant, the
    latter once. Nor is there a value where unjudged documents of the run are of a stratum of a published
    sample from which nothing was drawn: on their topic, unless the sample is stated to go over all topics
    together (``negative="sampled-together"``).

    Defined for sums of gains that no ideal ranking divides: P@n, RBP, DCG.

    Parameters
    ----------
    within_bounds : bool, default True
        Keep every run's value inside [B, T], by scaling the addition to B on all topics alike; a note says
        where. Values of single topics may leave the bounds either way: one relevant document of a sample of
        one in twenty counts twenty. ``False`` gives the unbounded sums.

    Notes
    -----
    A run whose top is fully judged, by chance or by added judgments, keeps B within bounds. Both estimands
    coincide but for T.
    """

    needs_pool = False
    within_bounds: bool = True

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """Return the score as judged plus (1 / p − 1) times the gain of each sampled document."""
        measure, sample = bounds.measure, judgment_sample(collection)
        if isinstance(sample, str):
            return not_defined(bounds, sample)
        if not isinstance(measure, Additive) or isinstance(measure, Normalized):
            return not_defined(bounds, "defined for sums of gains that no ideal ranking divides")
        index = collection.run_index(bounds.run_ids)
        inclusion = sample.judgment_inclusion(collection.judged)
        more = np.append(np.where(np.isnan(inclusion), 0.0, 1 / inclusion - 1), 0.0)
        level = measure.read(ranked_levels(collection, index, measure.cutoff))
        gains = measure.gains(level) * measure.weights()[: level.shape[2]] / measure.unit
        added = (gains * more[collection.document[index, :, : measure.cutoff]]).sum(axis=2)
        document = collection.document[index, :, : measure.cutoff]
        undrawn = np.append(undrawn_strata(collection, sample), False)[document].any(axis=2)
        text = (
            "no value: {} unjudged documents in strata from which none was drawn; for a sample of all topics "
            "at once give negative=sampled-together (--reading)"
        )
        n_topics = undrawn.sum(axis=1).tolist()
        missing = [f"{counted(n, 'topic')} {'has' if n == 1 else 'have'}" if n else "" for n in n_topics]
        notes = joined_notes(
            run_notes((missing, text, "no-value")), sampling_notes(collection, sample, bounds)
        )
        if self.within_bounds:
            total, room = added.sum(axis=1), bounds.residual.sum(axis=1)
            kept = np.clip(total, np.minimum(room, 0), np.maximum(room, 0))
            added *= np.where(total != 0, kept / np.where(total != 0, total, 1), 0)[:, None]
            is_cut = np.abs(total - kept) > 1e-12
            notes = joined_notes(run_notes((is_cut, "cut to the upper bound")), notes)
        return Corrected(np.where(undrawn, np.nan, bounds.lower + added), notes=notes)


def _count_strata(collection: Collection, stratum: IntArray, n_strata: int, mask: BoolArray) -> IndexArray:
    """Count masked documents for each topic and stratum, shape (topic, stratum)."""
    n_topics = len(collection.query_ids)
    place = (collection.pair_topic * n_strata + stratum)[mask & (stratum >= 0)]
    return np.bincount(place, minlength=n_topics * n_strata).reshape(n_topics, n_strata)


@register_estimator(
    "inferred-ap",
    label="inferred\nAP",
    citations=("yilmaz-aslam-2006", "yilmaz-kanoulas-aslam-2008"),
    needs_sample=True,
)
@dataclass(frozen=True, kw_only=True)
class InferredAP(SampledCorrection):
    """Inferred average precision (infAP, xinfAP) from a random sample of judgments.

    infAP of a uniform sample, as in trec_eval, and xinfAP of a stratified one, as in NIST's sample_eval
    (`bayespool.pooling.sampling`). A document that could not be sampled counts as not relevant; a note gives
    the number of such documents. Judgments outside the sample (added ones, those that no pooled run explains)
    are a stratum of their own, which is fully judged. The value is NaN where the judgments are no sample,
    have no strata, or are not the stated sample, within the limits of `HorvitzThompson`, and where a
    published sample has nothing of a topic.

    Defined for AP over the relevant documents of completed judgments. It lies between 0 and 1, and may lie
    outside the bounds. A fully judged run may differ from its value as judged, since the number of relevant
    documents is unknown. Both estimands coincide.
    """

    def estimate_from_sample(self, collection: Collection, sample: Sample, bounds: Bounds) -> FloatArray:
        """Return inferred AP, shape (run, topic)."""
        stratum = strata_with_others(collection, sample)
        relevant = states(collection.relevance, bounds.measure.rel) == RELEVANT
        n_topics, n_strata = len(collection.query_ids), int(stratum.max()) + 1
        top = collection.document[collection.run_index(bounds.run_ids), :, : bounds.measure.cutoff]
        state = sampled_states(top, relevant, collection.judged, stratum >= 0)
        n_pooled, n_judged, n_relevant = (
            _count_strata(collection, stratum, n_strata, kind)
            for kind in (stratum >= 0, collection.judged, relevant)
        )
        if n_strata == 1 and sample.as_trec_eval:
            return infer_ap(state, n_relevant[:, 0].astype(np.int32))
        at_rank = np.append(stratum, np.int32(-1))[top]
        by_topic = [
            infer_stratified_ap(state[:, t], at_rank[:, t], n_pooled[t], n_judged[t], n_relevant[t])
            for t in range(n_topics)
        ]
        return np.stack(by_topic, axis=1)


def strata_with_others(collection: Collection, sample: Sample) -> IntArray:
    """Return each document's stratum, −1 outside all strata, shape (pair,).

    Judgments outside the sample are an additional stratum.
    """
    assert sample.stratum is not None  # for the type checker: the base has checked
    others = collection.judged & ~sample.chosen
    return np.where(others, sample.stratum.max() + 1, sample.stratum).astype(np.int32)


@register_estimator(
    "inferred-ndcg", label="inferred\nnDCG", citations=("yilmaz-kanoulas-aslam-2008",), needs_sample=True
)
@dataclass(frozen=True, kw_only=True)
class InferredNDCG(SampledCorrection):
    """Inferred nDCG (infNDCG) from a stratified sample of judgments.

    The gain is Σ N(h) · mean discounted gain of the judged documents, over strata h, of the run's top n,
    which has N(h) documents of h. The ideal ranking has the estimated numbers of documents of each level,
    rounded. As NIST's sample_eval, whose infNDCG is nDCG@1000 here. Documents outside the strata count as not
    relevant, other judgments once; see `InferredAP`.

    Defined for nDCG over the ideal ranking of completed judgments. Values of single topics may lie outside
    the bounds, even above 1. Both estimands coincide.
    """

    family = NDCG

    def estimate_from_sample(self, collection: Collection, sample: Sample, bounds: Bounds) -> FloatArray:
        """Return inferred nDCG, shape (run, topic)."""
        stratum = strata_with_others(collection, sample)
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
        return safe_ratio(gained, ideal)


def _ideal_gains(collection: Collection, stratum: IntArray, measure: NDCG) -> FloatArray:
    """Return the discounted gain of each topic's estimated ideal ranking, shape (topic,)."""
    n_topics, n_strata = len(collection.query_ids), int(stratum.max()) + 1
    count = functools.partial(_count_strata, collection, stratum, n_strata)
    rate = count(stratum >= 0) / np.maximum(count(collection.judged), 1)
    discounted = np.append(0.0, np.cumsum(measure.weights()))
    ideal, end = np.zeros(n_topics), np.zeros(n_topics, dtype=np.int64)
    levels = (0, *collection.levels)
    at = level_index(collection.relevance, levels)
    for k in range(len(levels) - 1, 0, -1):
        n = (rate * count(at == k)).sum(axis=1)
        start, end = end, np.minimum(end + np.floor(n + 0.5).astype(np.int64), measure.cutoff)
        ideal += measure.gains(np.array([levels[k]]))[0] * (discounted[end] - discounted[start])
    return ideal


@register_estimator("stat-ap", label="stat\nAP", citations=("aslam-pavlu-2007",), needs_sample=True)
@dataclass(frozen=True, kw_only=True)
class StatAP(SampledCorrection):
    """Average precision with relevant documents weighted by inverse inclusion probability (statAP).

    The estimate is (Σ x(i) x(j) / (i p(i, j)) over ranks j ≤ i) / (Σ x(d) / p(d) over the topic)
    (`bayespool.pooling.sampling.sampled_ap`). It takes every sample, an adaptive one, too, where infAP and
    xinfAP have no strata. Joint probabilities are exact for uniform and stratified samples; for others
    documents count as judged independently. Documents outside the sample, other judgments, and samples that
    are not as stated are treated as in `HorvitzThompson`.

    Defined for AP over the relevant documents of completed judgments. Values may lie outside the bounds, of
    single topics even above 1. Both estimands coincide.
    """

    needs_strata = False

    def estimate_from_sample(self, collection: Collection, sample: Sample, bounds: Bounds) -> FloatArray:
        """Return statAP, shape (run, topic)."""
        n_topics = len(collection.query_ids)
        inclusion = sample.judgment_inclusion(collection.judged)
        relevant = states(collection.relevance, bounds.measure.rel) == RELEVANT
        weight = np.where(relevant, 1 / inclusion, 0.0)
        n_relevant = np.bincount(collection.pair_topic, weights=weight, minlength=n_topics).astype(float)
        top = collection.document[collection.run_index(bounds.run_ids), :, : bounds.measure.cutoff]
        state = sampled_states(top, relevant, collection.judged, collection.judged)
        at_rank = np.append(inclusion, np.nan)[top]
        stratum, chosen = sample.stratum, sample.chosen
        if stratum is None:
            return sampled_ap(state, at_rank, n_relevant)
        # others are certain, so that pairs need no weight
        stratum = np.where(collection.judged & ~chosen, -1, stratum).astype(np.int32)
        n_strata = int(stratum.max(initial=0)) + 1
        count = functools.partial(_count_strata, collection, stratum, n_strata)
        size, n_chosen = count(stratum >= 0), count(chosen)
        if not sample.by_topic:
            size, n_chosen = (np.broadcast_to(n.sum(axis=0), n.shape) for n in (size, n_chosen))
        more = n_chosen * (size - 1) / np.maximum(size * (n_chosen - 1), 1)
        pair_weight = np.where(n_chosen > 1, more, 1.0)  # one chosen document makes no pair
        top_stratum = np.append(stratum, np.int32(-1))[top]
        by_topic = [
            sampled_ap(state[:, t], at_rank[:, t], n_relevant[t], stratum=top_stratum[:, t], pair_weight=w)
            for t, w in enumerate(pair_weight)
        ]
        return np.stack(by_topic, axis=1)
