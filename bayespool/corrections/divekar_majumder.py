"""PRECISE: prediction-powered inference with the topic as its unit (Divekar & Majumder 2026)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from bayespool.corrections.angelopoulos import correct_run, rectifier
from bayespool.corrections.labels import LabeledRanks, RunCorrection, SumCorrection, hidden_ranks
from bayespool.corrections.registry import register_estimator


@register_estimator(
    "precise",
    label="precise\n(topics)",
    citations=("divekar-majumder-2026", "angelopoulos-duchi-zrnic-2023"),
    needs_judge=True,
)
@dataclass(frozen=True, kw_only=True)
class Precise(SumCorrection):
    r"""Topic scores predicted from labels and corrected with topics of known score (Divekar & Majumder 2026).

    The unit of prediction-powered inference is the topic, not the document. With the prediction f of a
    topic's value y, eq. 1 of the paper gives a topic with unjudged documents the value

    .. math::

        \lambda f_t + \bar e, \qquad
        \bar e = \frac{1}{n} \sum_{u \text{ in the sample}} (y_u - \lambda f_u),

    and the sum over N such topics the variance s² (N²/n + N), where s² is the variance of y − λf in the
    sample. The interval is the normal one. λ, from 0 to 1, is the one of the least variance. The prediction
    is the expected value when each document has the probability that its label gives it. The paper sums over
    all 2ⁿ relevances of n ranks (eq. 3); for sums of gains this is the sum of the probabilities.

    **All this holds if the topics of the sample are a random sample of topics like those estimated.** The
    paper draws topics at random and has all of their top n judged. A pool does neither.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.
    sample : {"hidden", "judged"}
        Topics of known value: those of each pooled run, of which the value is what documents add that its
        organization alone contributed, as it is of the run what unjudged documents add; or, as in the paper,
        topics on which the run's own top n is judged.
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
    Where the paper leaves a choice open, we chose what favors the method. The population is finite: topics
    are fixed, and those that are judged have their values; in the paper it is infinite, which makes intervals
    wider. Probabilities are shares among judged documents with a label of the grade, which some run ranks in
    its top 30 and which are not hidden; the paper fits isotonic regression to its sample. Topics of one run,
    and runs of one organization, count as independent. The total and every topic stay within the bounds, in
    each draw; under P@n draws are rounded to numbers of documents.

    Defined for sums of gains. Under a measure over an ideal ranking it is the ideal of the judged documents.
    Other measures have no value.

    Edges: without unjudged documents the value is B; with fewer than two topics in the sample of a run it is
    NaN, and no run estimated with it has an interval.
    """

    sample: Literal["hidden", "judged"] = "hidden"

    sample_notes: ClassVar = {
        "hidden": (
            "its interval takes topics of held-out runs for a random sample of topics like the run's",
            "needs two topics with documents that one organization alone contributed",
        ),
        "judged": (
            "its interval takes topics judged to the cutoff for a random sample of topics; "
            "a pool does not choose them so",
            "needs two topics judged down to the cutoff",
        ),
    }

    def run_corrections(self, ranks: LabeledRanks, rows: list[int]) -> Iterator[RunCorrection | None]:
        """Yield the correction of each of the runs, or None if its sample is too small."""
        measure, level, is_open = ranks.measure, ranks.level, ranks.is_open
        chances = np.append((ranks.rates @ ranks.gains)[ranks.judge.grade], 0.0)
        judged = np.zeros(is_open.shape)
        if self.sample == "hidden":
            hidden = hidden_ranks(ranks.collection, measure, ranks.weight)
            is_unit = hidden.weight.any(axis=2)
            foretold = (hidden.weight * chances[hidden.document]).sum(axis=2)[is_unit]
            samples = [(hidden.amounts()[is_unit], foretold)] * len(level)
            predicted = (np.where(ranks.opened, ranks.weight, 0.0) * chances[ranks.document]).sum(axis=2)
        else:
            known = np.where(level >= 0, ranks.weight, 0.0)
            judged = (known * measure.gains(np.maximum(level, 0))).sum(axis=2)
            predicted = (np.where(ranks.opened, ranks.weight, known) * chances[ranks.document]).sum(axis=2)
            samples = [(y[~at], f[~at]) for y, f, at in zip(judged, predicted, is_open, strict=True)]
        for r in rows:
            y, f = samples[r]
            if len(y) < 2:
                yield None
                continue
            fitted, at = rectifier(y, f), is_open[r].astype(np.float64)
            expected = fitted.scale * (at * predicted[r]) + fitted.mean * at - at * judged[r]
            yield correct_run(self, ranks.bounds, ranks.bounds.run_ids[r], fitted, expected, at, at)
