"""Scores by design as a check of posteriors and of labels taken for judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayespool.collection import Collection
from bayespool.measures import Estimates, Normalized
from bayespool.names import BY_DESIGN, leading_name
from bayespool.notes import Note
from bayespool.tables.formatting import interval, number, percent, some_of

_FILLED = "judge-filled"
_FEW = 4  # runs that sentences speak of
ESTIMATORS_BY_DESIGN = (BY_DESIGN, "posterior-combined")
"""Default estimators where the judgments are answers to a design."""


def answers_a_design(collection: object) -> bool:
    """Return whether it has judgments that are a sample of strata over all topics, beside labels."""
    if not isinstance(collection, Collection) or not collection.judges:
        return False
    sample = collection.sample
    return sample is not None and sample.stratum is not None and not sample.by_topic


def check_notes(estimates: Sequence[Estimates], ci_prob: float) -> Iterator[Note]:
    """Yield notes on posterior means, and levels by labels, outside of the intervals by design."""
    for design in estimates:
        if design.estimator == BY_DESIGN and isinstance(design.measure, Normalized):
            too_easy = "is of documents of these runs, and too easy where they are few: its posterior may be"
            yield Note("refuted", f"{design.measure}: the ideal ranking {too_easy} too high; do not quote it")
        if design.estimator != BY_DESIGN or design.draws is None:
            continue
        lower, upper = design.interval(ci_prob)
        for other in estimates:
            is_filled = leading_name(other.estimator) == _FILLED
            is_posterior = other.estimator.startswith("posterior-")
            if other.measure != design.measure or not (is_filled or is_posterior):
                continue
            is_outside = ((other.value < lower) | (other.value > upper)) & (lower < upper)
            if not is_outside.any():
                continue
            runs = [run for run, out in zip(other.run_ids, is_outside, strict=True) if out]
            where = (
                f"{other.measure}: of {some_of(runs)} {other.estimator} is outside of the interval by design"
            )
            by_chance = f"as {percent(1 - ci_prob)} of right values are"
            if is_posterior:
                yield Note("refuted", f"{where}, {by_chance}: quote the scores by design")
                continue
            yield Note(
                "refuted",
                f"{where}, {by_chance}: their level by labels is refused; {_kept(design, other, ci_prob)}",
            )


def design_sentences(estimates: Sequence[Estimates], ci_prob: float) -> Iterator[str]:
    """Yield sentences on the scores by design of a few runs."""
    for design in estimates:
        if design.estimator != BY_DESIGN or design.draws is None or len(design.run_ids) > _FEW:
            continue
        ends = zip(design.run_ids, design.value, *design.interval(ci_prob), strict=True)
        scores = [
            f"{run} has {number(value, 3)} ({interval(low, high, 3)})"
            for run, value, low, high in ends
            if value == value  # not NaN
        ]
        yield f"by design, whatever labels are worth: {design.measure} of {', '.join(scores)}"


def _kept(design: Estimates, filled: Estimates, ci_prob: float) -> str:
    """Return for which pairs of runs the difference by labels is within the interval by design."""
    assert design.draws is not None  # for the type checker: see `check_notes`
    there = ~np.isnan(design.value)
    means, by_label = design.draws.means()[:, there], filled.value[there]
    kept, n, tail = [], len(by_label), (1 - ci_prob) / 2
    for a in range(n):
        low, high = np.quantile(means[:, [a]] - means[:, a + 1 :], [tail, 1 - tail], axis=0)
        by_labels = by_label[a] - by_label[a + 1 :]
        kept += ((low <= by_labels) & (by_labels <= high)).tolist()
    return f"the difference by labels of {sum(kept):,} of {len(kept):,} pairs is within that by design"
