"""Scores by design: a stratified sample of judgments corrects what labels predict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.arrays import FloatArray, IndexArray
from bayespool.collection import Collection
from bayespool.corrections.base import (
    Corrected,
    PointCorrection,
    clip_to_bounds,
    judgment_sample,
    not_defined,
    run_notes,
    to_integer_amounts,
)
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import ranked_levels
from bayespool.measures import Additive, Normalized, Values
from bayespool.randomness import key_of

NO_DESIGN = "needs answers to a design over all topics (audit with --judge and without --qrels)"
"""Note for runs without a score by design because the judgments are no sample over all topics."""
_LEAST = 2  # answers in a stratum, so that its variance is known
_RIDGE = 1.0
_TOPIC_RIDGE = 4.0  # effects of topics are small beside those of labels


@register_estimator("by-design", label="by\ndesign", citations=("thompson-2002",), needs_sample=True)
@dataclass(frozen=True, kw_only=True)
class ByDesign(PointCorrection):
    r"""Sum of gains that labels predict, corrected by a stratified sample of judgments.

    With a prediction f of every document's gain g, the documents of a run that nobody judged are worth

    .. math::

        \sum_{i \text{ unjudged}} w_i f_i
        + \sum_{i \text{ judged}} \Bigl(\frac{N_h}{n_h} - 1\Bigr) w_i (g_i - f_i),

    where w is the weight of a document's rank, and :math:`n_h` of the :math:`N_h` documents of its stratum h
    are judged (the difference estimator). Its expectation over samples is the value, and its interval
    contains it, whatever the labels are worth; the better f, the narrower it is.

    Parameters
    ----------
    n_draws : int, default 4000
        Draws of the sampling error, from which intervals, differences and ranks are read.
    random_seed : int, default 1

    Notes
    -----
    Predictions are a ridge regression of gains on the grades of all judges' labels, the number of runs that
    retrieve a document, and topics. That of a judged document is made without it. The error of a stratum is
    drawn from its judged documents' residuals times normal variables, scaled to a t distribution of
    :math:`n_h - 1` degrees of freedom; all runs share the variables, so that differences and ranks are as
    certain as they should be.

    Defined for sums of gains that no ideal ranking divides: P, RBP, DCG. No value where fewer than two
    documents are judged in a stratum with unjudged documents of a run, or where unjudged documents of the run
    could not be drawn.

    References
    ----------
    Thompson: Sampling, 2nd edition. Wiley 2002, §8 (regression and difference estimation), §11 (strata).
    """

    needs_pool = False
    n_draws: int = 4000
    random_seed: int = 1

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """Return scores by design, with draws of their errors."""
        measure, sample = bounds.measure, judgment_sample(collection)
        if isinstance(sample, str) or sample.stratum is None or sample.by_topic:
            return not_defined(bounds, NO_DESIGN)
        if not isinstance(measure, Additive) or isinstance(measure, Normalized):
            return not_defined(bounds, "defined for sums of gains that no ideal ranking divides")
        document = collection.document[collection.run_index(bounds.run_ids), :, : measure.cutoff]
        level = ranked_levels(collection, collection.run_index(bounds.run_ids), measure.cutoff)
        weight = np.where(document >= 0, measure.weights()[: document.shape[2]] / measure.unit, 0.0)
        inside = np.append(sample.stratum, -1)[document]
        is_open = (document >= 0) & (level < 0) & (bounds.n_unjudged > 0)[:, :, None]
        judged = np.flatnonzero(sample.chosen & collection.judged)
        size = np.bincount(sample.stratum[sample.stratum >= 0])
        n = np.bincount(sample.stratum[judged], minlength=len(size))
        is_lone = np.append(n < np.minimum(size, _LEAST), True)  # the last: no stratum
        n_lacking = (is_open & is_lone[inside]).sum(axis=(1, 2))
        n_outside = (is_open & (inside < 0)).sum(axis=(1, 2))
        notes = run_notes(
            (
                n_outside,
                "no value: {} of its documents were not in the design; audit draws one of all runs named",
                "no-value",
            ),
            (
                n_lacking - n_outside,
                "no value: {} of its documents in strata of fewer than two answers",
                "no-value",
            ),
        )
        if len(judged) < _LEAST:
            return Corrected(np.full_like(bounds.lower, np.nan), notes=notes)
        gain = np.asarray(measure.gains(collection.relevance[judged]), dtype=np.float64)
        x, ridge = _predictors(collection, measure.cutoff)
        predicted, residual = _predict(x, ridge, judged, gain)
        expected = (np.where(is_open, weight, 0.0) * np.append(predicted, 0.0)[document]).sum(axis=2)
        run, topic, rank = np.nonzero(np.isin(document, judged))
        at = np.searchsorted(judged, document[run, topic, rank])
        weights = np.zeros((len(bounds.run_ids), len(judged)))  # of the judged documents in each run
        np.add.at(weights, (run, at), weight[run, topic, rank])
        of = sample.stratum[judged].astype(np.int64)
        error = weights * residual
        added = (error * (size / np.maximum(n, 1) - 1)[of]).sum(axis=1)
        drawn = self._errors(error, of, size, n)
        room = np.where(is_open.any(axis=2), np.maximum(bounds.most.scores() - bounds.lower, 0), 0.0)
        share = np.where(is_open, weight, 0.0).sum(axis=2)
        share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
        point = clip_to_bounds(expected + added[:, None] * share, room)
        amounts = np.stack(
            [
                np.asarray(bounds.low.amount[r])
                + to_integer_amounts(
                    clip_to_bounds(expected[r] + (added[r] + drawn[:, r, None]) * share[r], room[r]), measure
                )
                for r in range(len(bounds.run_ids))
            ],
            axis=1,
        )
        has_value = n_lacking == 0
        per_topic = np.where(has_value[:, None], bounds.lower + point, np.nan)
        std = np.where(has_value, drawn.std(axis=0) / document.shape[1], np.nan)
        if not has_value.all():
            amounts = np.where(has_value[:, None], amounts, np.nan)
        draws = Values(amounts, measure.unit) if has_value.any() else None
        return Corrected(per_topic, std, notes, draws)

    def _errors(self, error: FloatArray, stratum: IndexArray, size: IndexArray, n: IndexArray) -> FloatArray:
        """Draw sampling errors of runs' sums, shape (draw, run)."""
        rng = np.random.default_rng(key_of(self.random_seed, "by-design"))
        drawn = np.zeros((self.n_draws, len(error)))
        for h in np.flatnonzero((n >= _LEAST) & (n < size)).tolist():
            of_stratum = error[:, stratum == h]
            centered = of_stratum - of_stratum.mean(axis=1, keepdims=True)
            spread = size[h] * np.sqrt((1 - n[h] / size[h]) / (n[h] * (n[h] - 1)))
            normal = rng.standard_normal((self.n_draws, n[h]))
            t = np.sqrt(rng.chisquare(n[h] - 1, self.n_draws) / (n[h] - 1))
            drawn += (spread * normal / t[:, None]) @ centered.T
        return drawn


def _predictors(collection: Collection, depth: int) -> tuple[FloatArray, FloatArray]:
    """Return predictors of all documents, shape (pair, predictor), and the ridge of each."""
    n_topics = len(collection.query_ids)
    document = collection.document[:, :, :depth]
    support = np.log1p(np.bincount(document[document >= 0], minlength=len(collection.relevance)))
    columns = [np.ones(len(support)), (support - support.mean()) / max(float(support.std()), 1e-9)]
    for judge in collection.judges:
        grades = range(-1, len(judge.thresholds) + 1)
        columns += [(judge.grade == grade).astype(float) for grade in grades if grade != 0]
    ridge = [1e-9, *[_RIDGE] * (len(columns) - 1), *[_TOPIC_RIDGE] * n_topics]
    of_topic = np.eye(n_topics)[collection.pair_topic]
    return np.column_stack([*columns, of_topic]), np.array(ridge)


def _predict(
    x: FloatArray, ridge: FloatArray, judged: IndexArray, gain: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return predicted gains of all documents, and residuals of judged ones, each predicted without it."""
    known = x[judged]
    inverse = np.linalg.inv(known.T @ known + np.diag(ridge))
    predicted = x @ (inverse @ (known.T @ gain))
    leverage = np.einsum("ij,jk,ik->i", known, inverse, known)
    return predicted, (gain - predicted[judged]) / (1 - leverage)
