"""Rates of relevance by a second judge's grade, among documents that one organization alone contributed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.collection import Collection, Judge
from bayespool.corrections.base import Corrected, not_defined
from bayespool.corrections.expected import amounts_with_expected, gains_of_levels, values_of_expected
from bayespool.corrections.labels import NOT_A_SUM, LabelCorrection, hidden_documents, level_rates
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import relevance_levels

_NOTHING_HIDDEN = "needs documents that one organization alone contributed"


@register_estimator("judge-rates", label="judge\nrates", needs_judge=True)
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

    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Expected values."""
        measure, levels = bounds.measure, relevance_levels(collection, bounds.measure)
        gains = gains_of_levels(measure, np.array(levels))
        if gains is None:
            return not_defined(bounds, NOT_A_SUM)
        level, opened, document = self.opened_ranks(collection, bounds.run_ids, measure.cutoff)
        is_open = np.asarray(opened.any(axis=(1, 2)))
        hidden = hidden_documents(collection, measure.cutoff)
        if not len(hidden):
            values = np.where(is_open[:, None], np.nan, bounds.lower)
            return Corrected(
                values, notes=tuple(_NOTHING_HIDDEN if has_unjudged else "" for has_unjudged in is_open)
            )
        gain = (level_rates(collection, judge, hidden, levels) @ gains)[np.append(judge.grade, -1)[document]]
        amounts = amounts_with_expected(measure, level, opened, gain)
        return Corrected(values_of_expected(collection, bounds, amounts))
