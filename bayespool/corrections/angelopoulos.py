"""Prediction-powered inference: predictions corrected by a judged sample (Angelopoulos et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from bayespool.arrays import AnyArray, BoolArray, FloatArray
from bayespool.collection import Collection, Judge
from bayespool.corrections.base import Corrected, clip_to_bounds, to_integer_amounts
from bayespool.corrections.labels import LabeledRanks, SumCorrection, hidden_documents
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.measures import Values
from bayespool.randomness import normals

_TOO_FEW_JUDGED = "needs two judged documents to learn from"


class Rectifier(NamedTuple):
    """Factor λ for predictions, with mean and variance of gain − λ · prediction in a sample."""

    scale: float
    mean: float
    variance: float
    n: int


def rectifier(gain: FloatArray, predicted: FloatArray) -> Rectifier:
    """Fit the factor λ in [0, 1] that minimizes the variance of gain − λ · prediction.

    At least two documents are needed.

    Shape (document,).
    """
    spread = predicted - predicted.mean()
    square = float(spread @ spread)
    scale = float(np.clip((spread @ gain) / square, 0, 1)) if square > 0 else 0.0
    left = gain - scale * predicted
    return Rectifier(scale, float(left.mean()), float(left.var(ddof=1)), len(left))


class Rectified(NamedTuple):
    """Predicted scores and error weights for one run's topics, arrays of shape (topic,).

    ``total``, ``square``: sums of the units' weights, and of their squares. ``judged``: what of the
    predictions is known, so that it is not added.
    """

    rectifier: Rectifier
    predicted: FloatArray
    total: FloatArray
    square: FloatArray
    judged: FloatArray | float = 0.0


@register_estimator(
    "prediction-powered",
    label="pred.-\npowered",
    citations=("angelopoulos-etal-2023", "angelopoulos-duchi-zrnic-2023", "oosterhuis-etal-2024"),
    needs_judge=True,
)
@dataclass(frozen=True, kw_only=True)
class PredictionPowered(SumCorrection):
    r"""Sum of gains predicted from labels and corrected with a judged sample (Angelopoulos et al. 2023).

    The population are the positions of the run's top n over all topics. With the prediction f of a document's
    gain g, the unjudged ones among them get

    .. math::

        \sum_{i \text{ unjudged}} w_i (\lambda f_i + \bar e), \qquad
        \bar e = \frac{1}{m} \sum_{j \text{ in the sample}} (g_j - \lambda f_j),

    where w are the measure's weights; the judged ones get their known gains. The error of the sum has the
    variance

    .. math::

        s^2 \Bigl( \frac{(\sum w_i)^2}{m} + \sum w_i^2 \Bigr),

    where s² is the variance of g − λf in the sample. The interval is the normal one. λ, from 0 to 1, is the
    one of the least variance (PPI++).

    **All this holds if the sample is a random one of documents like the unjudged ones.** Judged documents of
    the run are not: they are in the pool since other runs rank them high, too. Hidden documents are nearer to
    it, but are of other organizations, each with rates of its own.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.
    sample : {"hidden", "judged"}
        The documents whose relevance is known: those that one organization alone contributed to the pool, or,
        as in the papers, the judged ones of the run's own top n.
    n_draws : int, default 4000
        Draws of the normal distribution, from which intervals are read.
    random_seed : int, default 1
        The numbers of a run on a topic depend on it and on their names.

    Raises
    ------
    InputError
        A setting is out of range.

    Notes
    -----
    Where the papers leave a choice open, we chose what favors the method. The sample consists of hidden
    documents, down to rank 30 or the cutoff. The population is finite, because topics are fixed and judged
    documents are known: the method estimates only the rest, and a fully judged run has its value and an
    interval of no width. In the papers the population is infinite, which makes intervals wider. A prediction
    is the mean gain of judged documents with a label of the grade, among those that some run ranks in its top
    30 and that are not hidden: it leaves less to correct than the label itself. The method keeps the total
    and every topic within the bounds, in each draw.

    Draws are normal ones of a run's total, spread over its topics as the variance is; under P@n they are
    rounded to numbers of documents. They do not determine which document is relevant. Runs share the error of
    the sample of hidden documents, and nothing else.

    Defined for sums of gains. Under a measure over an ideal ranking it is the ideal of the judged documents,
    and the interval ignores what completed judgments do to it. Other measures have no value.

    Edges: without unjudged documents the value is B; with fewer than two documents in the sample of a run it
    is NaN, and no run estimated with it has an interval.
    """

    sample: Literal["hidden", "judged"] = "hidden"

    sample_notes = MappingProxyType(
        {
            "hidden": (
                "its interval takes hidden documents for a random sample of documents like the unjudged ones",
                _TOO_FEW_JUDGED,
            ),
            "judged": (
                "its interval takes judged documents for a random sample of the top n, but a pool is not one",
                _TOO_FEW_JUDGED,
            ),
        }
    )

    def from_ranks(
        self, collection: Collection, bounds: Bounds, judge: Judge, ranks: LabeledRanks
    ) -> Corrected:
        """Return corrected scores and draws."""
        predicted = (ranks.rates @ ranks.gains)[judge.grade]

        def rectifier_from(pair: AnyArray) -> Rectifier | None:
            gain = np.asarray(ranks.measure.gains(collection.relevance[pair]), dtype=np.float64)
            return rectifier(gain, predicted[pair]) if len(pair) > 1 else None

        if self.sample == "hidden":
            hidden = hidden_documents(collection, ranks.measure.cutoff)
            rectifiers = [rectifier_from(hidden)] * len(ranks.level)
        else:
            judged = (top[level >= 0] for top, level in zip(ranks.document, ranks.level, strict=True))
            rectifiers = [rectifier_from(pair) for pair in judged]
        weight = np.where(ranks.opened, ranks.weight, 0.0)
        parts = [
            known and Rectified(known, (w * f).sum(axis=1), w.sum(axis=1), np.square(w).sum(axis=1))
            for known, w, f in zip(rectifiers, weight, np.append(predicted, 0.0)[ranks.document], strict=True)
        ]
        return rectify(self, bounds, np.asarray(ranks.opened.any(axis=2)), parts)


def rectify(
    correction: SumCorrection, bounds: Bounds, is_open: BoolArray, parts: Sequence[Rectified | None]
) -> Corrected:
    """Return corrected scores and draws from each run's predictions, NaN for runs with too small a sample.

    ``is_open`` has the shape (run, topic). Runs share the error of a sample of hidden documents.
    """
    n_draws, random_seed = correction.n_draws, correction.random_seed
    notes = correction.sample_notes[correction.sample]
    measure = bounds.measure
    room = np.where(is_open, np.maximum(bounds.most.scores() - bounds.lower, 0), 0.0)
    per_topic, std, run_notes = bounds.lower.copy(), np.zeros(len(parts)), [""] * len(parts)
    amounts = np.repeat(bounds.low.amount[None], n_draws, axis=0)
    for r in np.flatnonzero(is_open.any(axis=1)).tolist():
        part, run_id = parts[r], bounds.run_ids[r]
        if part is None:
            per_topic[r] = std[r] = np.nan
            run_notes[r] = notes[1]
            continue
        known, total = part.rectifier, part.total
        expected = known.scale * part.predicted + known.mean * total - part.judged
        shared = normals(
            n_draws, random_seed, "sample", *(() if correction.sample == "hidden" else (run_id,))
        )
        own = np.stack([normals(n_draws, random_seed, run_id, topic) for topic in bounds.query_ids], axis=1)
        errors = np.sqrt(known.variance) * (
            shared[:, None] / np.sqrt(known.n) * total + np.sqrt(part.square) * own
        )
        per_topic[r] += clip_to_bounds(expected, room[r])
        amounts[:, r] += to_integer_amounts(clip_to_bounds(expected + errors, room[r]), measure)
        sums = total.sum() ** 2 / known.n + part.square.sum()
        std[r] = np.sqrt(known.variance * sums) / per_topic.shape[1]
        run_notes[r] = notes[0]
    draws = None if np.isnan(std).any() else Values(amounts, measure.unit)
    return Corrected(per_topic, std, tuple(run_notes), draws)
