"""Prediction-powered inference: predictions corrected by a judged sample (Angelopoulos et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IntArray, LevelArray
from bayespool.collection import Collection, Judge
from bayespool.corrections.base import (
    Corrected,
    as_amounts,
    check_choice,
    check_count,
    not_defined,
    within_room,
)
from bayespool.corrections.labels import (
    NOT_A_SUM,
    LabelCorrection,
    hidden_documents,
    rank_weights,
    rates_of_others,
)
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import relevance_levels
from bayespool.measures import Additive, Values
from bayespool.randomness import normals

Sample = Literal["hidden", "judged"]

MAX_DRAWS = 1_000_000
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


class Rectified(NamedTuple):
    """What is predicted of a run's topics, and how errors of single units add up, arrays of shape (topic,).

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
        check_count("n_draws", self.n_draws, MAX_DRAWS)

    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Corrected values and draws."""
        measure = bounds.measure
        if not isinstance(measure, Additive):
            return not_defined(bounds, NOT_A_SUM)
        levels = relevance_levels(collection, measure)
        level, opened, document = self.opened_ranks(collection, bounds.run_ids, measure.cutoff)
        weight = np.where(opened, rank_weights(collection, measure, levels, level.shape[2]), 0.0)
        gains = np.asarray(measure.gains(np.array(levels)), dtype=np.float64)
        predicted = (rates_of_others(collection, judge, levels) @ gains)[judge.grade]
        of_top = np.append(predicted, 0.0)[document]
        rectifiers = self._rectifiers(collection, measure, predicted, level, document)
        parts = [
            known and Rectified(known, (w * f).sum(axis=1), w.sum(axis=1), np.square(w).sum(axis=1))
            for known, w, f in zip(rectifiers, weight, of_top, strict=True)
        ]
        return rectified(
            bounds,
            np.asarray(opened.any(axis=2)),
            parts,
            (_SAMPLE_NOTES[self.sample], _TOO_FEW_JUDGED),
            shares_sample=self.sample == "hidden",
            n_draws=self.n_draws,
            random_seed=self.random_seed,
        )

    def _rectifiers(
        self,
        collection: Collection,
        measure: Additive,
        predicted: FloatArray,
        level: LevelArray,
        document: IntArray,
    ) -> list[Rectifier | None]:
        """Rectifier of each run, None where its sample is too small; ``predicted`` has the shape (pair,)."""

        def of(pair: npt.NDArray[Any]) -> Rectifier | None:
            gain = np.asarray(measure.gains(collection.relevance[pair]), dtype=np.float64)
            return rectifier(gain, predicted[pair]) if len(pair) > 1 else None

        if self.sample == "hidden":
            return [of(hidden_documents(collection, measure.cutoff))] * len(level)
        return [of(of_run[known >= 0]) for of_run, known in zip(document, level, strict=True)]


def rectified(
    bounds: Bounds,
    is_open: BoolArray,
    parts: Sequence[Rectified | None],
    notes: tuple[str, str],
    *,
    shares_sample: bool,
    n_draws: int,
    random_seed: int,
) -> Corrected:
    """Values and draws from what is predicted of each run, None where its sample is too small.

    ``is_open`` has the shape (run, topic). ``notes`` are those of a run with a value and of one without.
    """
    measure = bounds.measure
    room = np.where(is_open, np.maximum(bounds.most.scores() - bounds.lower, 0), 0.0)
    per_topic, std, of_runs = bounds.lower.copy(), np.zeros(len(parts)), [""] * len(parts)
    amounts = np.repeat(bounds.low.amount[None], n_draws, axis=0)
    for r in np.flatnonzero(is_open.any(axis=1)).tolist():
        part, run_id = parts[r], bounds.run_ids[r]
        if part is None:
            per_topic[r] = std[r] = np.nan
            of_runs[r] = notes[1]
            continue
        known, total = part.rectifier, part.total
        expected = known.scale * part.predicted + known.mean * total - part.judged
        shared = normals(n_draws, random_seed, "sample", *(() if shares_sample else (run_id,)))
        own = np.stack([normals(n_draws, random_seed, run_id, topic) for topic in bounds.query_ids], axis=1)
        errors = np.sqrt(known.variance) * (
            shared[:, None] / np.sqrt(known.n) * total + np.sqrt(part.square) * own
        )
        per_topic[r] += within_room(expected, room[r])
        amounts[:, r] += as_amounts(within_room(expected + errors, room[r]), measure)
        sums = total.sum() ** 2 / known.n + part.square.sum()
        std[r] = np.sqrt(known.variance * sums) / per_topic.shape[1]
        of_runs[r] = notes[0]
    draws = None if np.isnan(std).any() else Values(amounts, measure.unit)
    return Corrected(per_topic, std, tuple(of_runs), draws)
