"""Judgments that no pooled run explains: were they made for documents as relevant as the rest?

Many collections have judgments that their pool does not account for: of runs that are not at hand, of earlier
rounds, or of documents that a search for relevant ones came upon. They are taken as they are: judged is
judged, and nobody contributed them, so that they are no evidence. What is assumed of them is that, given what
the predictors say of a document, whether it was judged so does not depend on its relevance. Then the unjudged
documents beside them are as relevant as the models say.

The assumption can be tested, as the judgments themselves took no part in the fits: they are taken away and
predicted as if they were unjudged. If more of them are relevant than that, somebody looked for relevant
documents, and what was left unjudged is less relevant than the models say; how much less follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.measures import Measure, parse_measures
from bayespool.posterior import PosteriorEstimator, rungs_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FoundJudgments", "check_found", "found_frame"]

_BANDS = (5, 10, 20, 30, 50, 100)
_LEAST = 20
"""Judgments that say something."""


@dataclass(frozen=True)
class FoundJudgments:
    """Judgments that no pooled run explains, beside what the posterior says of their documents.

    Attributes
    ----------
    measure : Measure
        Its threshold says what is relevant, its cutoff how deep documents are looked at.
    runs : {"pooled", "other"}
        Whose documents they are: of pooled runs below the pool depth, or of runs outside the pool.
    first, last : int
        Ranks of the documents, the best that any of these runs gives them.
    n_documents : int
        Documents outside the pool.
    n_found : int
        Those of them that are judged.
    n_relevant : int
        And relevant.
    expected, lower, upper : float
        Relevant ones among the judged as the posterior has them without these judgments, and the ends of its
        interval.
    expected_rest : float
        Relevant ones among the unjudged.
    """

    measure: Measure
    runs: str
    first: int
    last: int
    n_documents: int
    n_found: int
    n_relevant: int
    expected: float
    lower: float
    upper: float
    expected_rest: float

    @property
    def ratio(self) -> float:
        """Relevant ones over those expected; NaN where none is."""
        return self.n_relevant / self.expected if self.expected > 0 else float("nan")

    @property
    def shift(self) -> float:
        """How far the log odds of the documents left unjudged are off if judging depended on relevance: log
        (1 − f₁)/(1 − f₀), where f₁ is the share of the relevant and f₀ that of the nonrelevant documents that
        were judged. 0 where it did not depend on it, NaN where hardly anything is left unjudged.
        """
        relevant = self.expected + self.expected_rest
        others = self.n_documents - relevant
        left = relevant - self.n_relevant, others - (self.n_found - self.n_relevant)
        if min(left) <= 0:
            return float("nan")
        return float(np.log(left[0] / relevant) - np.log(left[1] / others))


def check_found(
    collection: Collection,
    measures: object = "P@30",
    *,
    ci_prob: float = 0.95,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Any,
) -> tuple[FoundJudgments, ...]:
    """Predict the judgments that no pooled run explains.

    Parameters
    ----------
    collection : Collection
    measures : measure or iterable of measures
        Thresholds and depths.
    ci_prob : float, default 0.95
    random_seed : int, default 1
    report : callable, optional
        Called with what is being done.
    **settings
        Of `bayespool.posterior.PosteriorEstimator`.

    Returns
    -------
    tuple of FoundJudgments
        For each measure and kind of runs all ranks together, then bands of ranks.

    Raises
    ------
    InputError
        Fewer than 20 judgments are unexplained by the pooled runs.

    Examples
    --------
    >>> from bayespool import load_example
    >>> check_found(load_example())
    Traceback (most recent call last):
    bayespool.errors.InputError: 0 judgments are not explained by the pooled runs: too few to say anything
    """
    found = collection.judged & ~collection.pool() & (collection.added_for < 0)
    if found.sum() < _LEAST:
        raise InputError(
            f"{found.sum()} judgments are not explained by the pooled runs: too few to say anything"
        )
    without = collection.without_judgments(found)
    estimator = PosteriorEstimator(random_seed=random_seed, **settings)
    rows: list[FoundJudgments] = []
    for measure in parse_measures(measures):
        for runs, chosen in (("pooled", collection.pooled), ("other", ~collection.pooled)):
            if not chosen.any():
                continue
            if report is not None:
                report(f"predicting for {measure}: {runs} runs")
            names = tuple(collection.run_ids[r] for r in np.flatnonzero(chosen))
            rows += _of_runs(collection, without, found, measure, runs, names, estimator, ci_prob)
    return tuple(rows)


def found_frame(rows: tuple[FoundJudgments, ...]) -> pd.DataFrame:
    """A table of `check_found`: its attributes, ``ratio`` and ``shift``."""
    import pandas as pd

    names = list(FoundJudgments.__dataclass_fields__)
    table: list[Mapping[str, Any]] = [
        {name: getattr(row, name) for name in (*names, "ratio", "shift")} | {"measure": str(row.measure)}
        for row in rows
    ]
    return pd.DataFrame(table)


def _of_runs(
    collection: Collection,
    without: Collection,
    found: np.ndarray[Any, np.dtype[np.bool_]],
    measure: Measure,
    runs: str,
    names: tuple[str, ...],
    estimator: PosteriorEstimator,
    ci_prob: float,
) -> list[FoundJudgments]:
    completion = estimator.complete(without, names, measure)
    unknowns = completion.unknowns
    if not len(unknowns):
        return []
    is_found = found[unknowns.pair]
    top = len(rungs_of(without, measure)) if not measure.is_graded else 1
    level = completion.levels[top]
    is_relevant = collection.relevance[unknowns.pair] >= level
    best = unknowns.best_rank
    ends = [0, *(b for b in _BANDS if b < measure.cutoff), measure.cutoff]
    bands = [(1, measure.cutoff), *((a + 1, b) for a, b in pairwise(ends))]
    masks = [(best >= a) & (best <= b) for a, b in bands]
    drawn = np.zeros((len(bands), completion.n_draws), dtype=np.int64)
    rest = np.zeros((len(bands), completion.n_draws), dtype=np.int64)
    for t in np.flatnonzero(np.diff(unknowns.start)).tolist():
        here = unknowns.on_topic(t)
        block = completion.block(t) >= top
        for i, mask in enumerate(masks):
            drawn[i] += block[:, mask[here] & is_found[here]].sum(axis=1)
            rest[i] += block[:, mask[here] & ~is_found[here]].sum(axis=1)
    tail = (1 - ci_prob) / 2
    return [
        FoundJudgments(
            measure=measure,
            runs=runs,
            first=a,
            last=b,
            n_documents=int(mask.sum()),
            n_found=int((mask & is_found).sum()),
            n_relevant=int((mask & is_found & is_relevant).sum()),
            expected=float(drawn[i].mean()),
            lower=float(np.quantile(drawn[i], tail)),
            upper=float(np.quantile(drawn[i], 1 - tail)),
            expected_rest=float(rest[i].mean()),
        )
        for i, ((a, b), mask) in enumerate(zip(bands, masks, strict=True))
        if (mask & is_found).any()
    ]
