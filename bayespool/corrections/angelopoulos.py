"""Prediction-powered inference: predictions corrected by a judged sample (Angelopoulos et al. 2023)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.corrections.labels import LabeledRanks, RunCorrection, SumCorrection, hidden_documents
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
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


def correct_run(
    correction: SumCorrection,
    bounds: Bounds,
    run_id: str,
    known: Rectifier,
    expected: FloatArray,
    total: FloatArray,
    square: FloatArray,
) -> RunCorrection:
    """Return one run's correction from expected increases and error weights, arrays of shape (topic,).

    ``total``, ``square``: sums of the units' weights, and of their squares. Runs share the error of a sample
    of hidden documents.
    """
    n_draws, random_seed = correction.n_draws, correction.random_seed
    shared = normals(n_draws, random_seed, "sample", *(() if correction.sample == "hidden" else (run_id,)))
    own = np.stack([normals(n_draws, random_seed, run_id, topic) for topic in bounds.query_ids], axis=1)
    errors = shared[:, None] / np.sqrt(known.n) * total + np.sqrt(square) * own
    sums = total.sum() ** 2 / known.n + square.sum()
    std = float(np.sqrt(known.variance * sums) / len(total))
    return RunCorrection(expected, expected + np.sqrt(known.variance) * errors, std)


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

    sample_notes: ClassVar = {
        "hidden": (
            "its interval takes hidden documents for a random sample of documents like the unjudged ones",
            _TOO_FEW_JUDGED,
        ),
        "judged": (
            "its interval takes judged documents for a random sample of the top n, but a pool is not one",
            _TOO_FEW_JUDGED,
        ),
    }

    def run_corrections(self, ranks: LabeledRanks, rows: list[int]) -> Iterator[RunCorrection | None]:
        """Yield the correction of each of the runs, or None if its sample is too small."""
        predicted = (ranks.rates @ ranks.gains)[ranks.judge.grade]
        weight = np.where(ranks.opened, ranks.weight, 0.0)
        foretold = (weight * np.append(predicted, 0.0)[ranks.document]).sum(axis=2)
        hidden = hidden_documents(ranks.collection, ranks.measure.cutoff) if self.sample == "hidden" else None
        for r in rows:
            pair = ranks.document[r][ranks.level[r] >= 0] if hidden is None else hidden
            if len(pair) < 2:
                yield None
                continue
            gain = np.asarray(ranks.measure.gains(ranks.collection.relevance[pair]), dtype=np.float64)
            known = rectifier(gain, predicted[pair])
            total, square = weight[r].sum(axis=1), np.square(weight[r]).sum(axis=1)
            expected = known.scale * foretold[r] + known.mean * total
            yield correct_run(self, ranks.bounds, ranks.bounds.run_ids[r], known, expected, total, square)
