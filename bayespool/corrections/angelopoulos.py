"""Prediction-powered inference: predictions corrected by a judged sample (Angelopoulos et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray, Judge
from bayespool.corrections.base import (
    Corrected,
    FloatArray,
    as_amounts,
    check_choice,
    check_count,
    not_defined,
    within_room,
)
from bayespool.corrections.labels import LabelCorrection, hidden_documents, level_rates
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import relevance_levels, tally_of
from bayespool.evidence.labels import is_other
from bayespool.measures import Additive, Normalized, Values
from bayespool.measures.normalized import over
from bayespool.randomness import normals

Sample = Literal["hidden", "judged"]

_MAX_DRAWS = 1_000_000
_TOO_FEW_JUDGED = "needs two judged documents to learn from"
_SAMPLE_NOTES = {
    "hidden": "its interval takes hidden documents for a random sample of documents like the unjudged ones",
    "judged": "its interval takes judged documents for a random sample of the top n, but a pool is not one",
}


class Rectifier(NamedTuple):
    """Factor λ of predictions; mean and variance of gain − λ · prediction in a sample of ``n`` documents."""

    scale: float
    mean: float
    variance: float
    n: int


def rectifier(gain: FloatArray, predicted: FloatArray) -> Rectifier:
    """The rectifier of least variance with λ from 0 to 1, from two documents or more, shape (document,)."""
    spread = predicted - predicted.mean()
    square = float(spread @ spread)
    scale = float(np.clip((spread @ gain) / square, 0, 1)) if square > 0 else 0.0
    left = gain - scale * predicted
    return Rectifier(scale, float(left.mean()), float(left.var(ddof=1)), len(left))


@register_estimator(
    "prediction-powered",
    label="pred.-\npowered",
    citations=("angelopoulos-etal-2023", "angelopoulos-duchi-zrnic-2023", "oosterhuis-etal-2024"),
    needs_judge=True,
)
@dataclass(frozen=True, kw_only=True)
class PredictionPowered(LabelCorrection):
    r"""Labels predict gains, and a sample of known relevance corrects them (Angelopoulos et al. 2023).

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

    sample: Sample = "hidden"
    n_draws: int = 4000
    random_seed: int = 1

    def __post_init__(self) -> None:
        check_choice("sample", self.sample, get_args(Sample))
        check_count("n_draws", self.n_draws, _MAX_DRAWS)

    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Corrected values and draws."""
        measure = bounds.measure
        if not isinstance(measure, Additive):
            return not_defined(bounds, "defined for sums of gains")
        levels = relevance_levels(collection, measure)
        level, opened, document = self.opened_ranks(collection, bounds.run_ids, measure.cutoff)
        weight = np.where(opened, measure.weights()[: level.shape[2]] / measure.unit, 0.0)
        if isinstance(measure, Normalized):
            weight = over(weight, measure.best(tally_of(collection, levels))[:, None])
        predicted = self._predicted(collection, judge, levels, measure.gains(np.array(levels)))[judge.grade]
        of_top = np.append(predicted, 0.0)[document]
        rectifiers = self._rectifiers(collection, measure, predicted, level, document)
        room = np.where(opened.any(axis=2), np.maximum(bounds.most.scores() - bounds.lower, 0), 0.0)
        per_topic, std, notes = bounds.lower.copy(), np.zeros(len(level)), [""] * len(level)
        amounts = np.repeat(bounds.low.amount[None], self.n_draws, axis=0)
        for r in np.flatnonzero(opened.any(axis=(1, 2))).tolist():
            run_rectifier = rectifiers[r]
            if run_rectifier is None:
                per_topic[r] = std[r] = np.nan
                notes[r] = _TOO_FEW_JUDGED
                continue
            expected = (weight[r] * (run_rectifier.scale * of_top[r] + run_rectifier.mean)).sum(axis=1)
            errors = self._errors(bounds, r, weight[r], run_rectifier)
            per_topic[r] += within_room(expected, room[r])
            amounts[:, r] += as_amounts(within_room(expected + errors, room[r]), measure)
            sums = weight[r].sum() ** 2 / run_rectifier.n + np.square(weight[r]).sum()
            std[r] = np.sqrt(run_rectifier.variance * sums) / per_topic.shape[1]
            notes[r] = _SAMPLE_NOTES[self.sample]
        draws = None if np.isnan(std).any() else Values(amounts, measure.unit)
        return Corrected(per_topic, std, tuple(notes), draws)

    def _predicted(
        self, collection: Collection, judge: Judge, levels: Sequence[int], gains: npt.NDArray[Any]
    ) -> FloatArray:
        """Mean gains of judged documents by grade, shape (grade + 1,), the last that of all."""
        counted = is_other(collection)
        if not counted.any():
            return np.zeros(len(judge.thresholds) + 2)
        rates = level_rates(collection, judge, np.flatnonzero(counted), levels)
        return np.asarray(rates @ gains, dtype=np.float64)

    def _rectifiers(
        self,
        collection: Collection,
        measure: Additive,
        predicted: FloatArray,
        level: npt.NDArray[np.int16],
        document: IntArray,
    ) -> list[Rectifier | None]:
        """Rectifier of each run, None where its sample is too small; ``predicted`` has the shape (pair,)."""

        def of(pair: npt.NDArray[Any]) -> Rectifier | None:
            gain = np.asarray(measure.gains(collection.relevance[pair]), dtype=np.float64)
            return rectifier(gain, predicted[pair]) if len(pair) > 1 else None

        if self.sample == "hidden":
            return [of(hidden_documents(collection, measure.cutoff))] * len(level)
        return [of(of_run[known >= 0]) for of_run, known in zip(document, level, strict=True)]

    def _errors(self, bounds: Bounds, r: int, weight: FloatArray, run_rectifier: Rectifier) -> FloatArray:
        """Drawn errors of a run's sums of gains, shape (draw, topic)."""
        of_sample = () if self.sample == "hidden" else (bounds.run_ids[r],)
        shared = normals(self.n_draws, self.random_seed, "sample", *of_sample)
        own = [
            normals(self.n_draws, self.random_seed, bounds.run_ids[r], topic) for topic in bounds.query_ids
        ]
        std = np.sqrt(run_rectifier.variance)
        errors: FloatArray = std * (
            shared[:, None] / np.sqrt(run_rectifier.n) * weight.sum(axis=1)
            + np.sqrt(np.square(weight).sum(axis=1)) * np.stack(own, axis=1)
        )
        return errors
