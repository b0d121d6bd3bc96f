"""Rates of relevance by a second judge's grade, among documents that one organization alone contributed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.collection import Collection, Judge
from bayespool.corrections.base import Corrected, not_defined
from bayespool.corrections.expected import amounts_with_expected, gains_of_levels
from bayespool.corrections.labels import LabelCorrection, hidden_documents, level_rates, opened_ranks
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import relevance_levels, tally_of
from bayespool.measures import Normalized

_NOTHING_HIDDEN = "needs documents that one organization alone contributed"


@register_estimator(
    "judge-rates",
    label="judge\nrates",
    description="how often hidden documents with a document's label are relevant, as its chance",
    needs_judge=True,
)
@dataclass(frozen=True, kw_only=True)
class JudgeRates(LabelCorrection):
    """Give unjudged documents the chances of relevance of hidden documents with their labels.

    Hidden documents are the judged ones that one organization alone contributed: without it they would be as
    unjudged as those of a new run. The chance of each level of relevance is its share among the hidden
    documents of the label's grade, all topics and organizations together; among all hidden documents where
    none is of the grade, or a document has no label.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.

    Notes
    -----
    The method is the posterior with labels, but without organizations, topics and all other predictors. It
    counts hidden documents down to rank 30, or to the cutoff if that is deeper. Sums of gains, average
    precision, (expected) reciprocal rank and success are expectations with independent chances
    (`bayespool.corrections.expected.expected_amounts`); other measures have no value. Under a measure over an
    ideal ranking the amount is divided by the ideal of the judged documents, and kept within the bounds over
    completed judgments; with the expected ideal of completed judgments, errors of nDCG@10 were larger on DL
    2021.

    Edges: without unjudged documents the value is B; without a hidden document it is NaN.
    """

    @property
    def name(self) -> str:
        """``judge-rates``."""
        return "judge-rates"

    def by_labels(self, collection: Collection, found: Bounds, judge: Judge) -> Corrected:
        """Expected values."""
        measure, levels = found.measure, relevance_levels(collection, found.measure)
        gains = gains_of_levels(measure, np.array(levels))
        if gains is None:
            return not_defined(found, "defined for sums of gains")
        level, opened, document = opened_ranks(collection, found, self.estimand)
        is_open = np.asarray(opened.any(axis=(1, 2)))
        hidden = hidden_documents(collection, measure.cutoff)
        if not len(hidden):
            values = np.where(is_open[:, None], np.nan, found.lower)
            return Corrected(
                values, notes=tuple(_NOTHING_HIDDEN if has_unjudged else "" for has_unjudged in is_open)
            )
        gain = (level_rates(collection, judge, hidden, levels) @ gains)[np.append(judge.grade, -1)[document]]
        amounts = amounts_with_expected(measure, level, opened, gain)
        values = measure.normalize(amounts, tally_of(collection, levels)) / measure.unit
        if isinstance(measure, Normalized):
            values = np.clip(values, found.least.scores(), found.most.scores())
        return Corrected(values)
