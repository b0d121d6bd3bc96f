"""Test of the assumption that judgments which no pooled run explains were made regardless of relevance: they
are removed and predicted as if they were unjudged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.selection import find_selection
from bayespool.measures import Measure, parse_measures
from bayespool.posterior import Completion, PosteriorEstimator
from bayespool.posterior.keywords import FoundOptions
from bayespool.posterior.ladder import rungs_of
from bayespool.randomness import key_of

if TYPE_CHECKING:
    import pandas as pd

_BAND_ENDS = (5, 10, 20, 30, 50, 100)
_MIN_JUDGMENTS = 20
_MAX_DRAWS_OF_SHIFT = 400
"""Draws for the shift, whose log odds are in memory for all documents at once."""


@dataclass(frozen=True)
class FoundJudgments:
    """Judgments that no pooled run explains, and the posterior's prediction of their documents.

    Attributes
    ----------
    measure : Measure
        Its threshold defines relevance, its cutoff the deepest rank.
    runs : {"pooled", "other"}
        Documents of pooled runs below the pool depth, or of runs outside the pool.
    first, last : int
        Ranks of the documents, the best that any of these runs gives them.
    n_documents, n_found, n_relevant : int
        Documents outside the pool, judged ones among them, and relevant ones among the judged.
    expected, lower, upper : float
        Relevant ones among the judged as predicted without these judgments, and the ends of the interval.
    expected_rest : float
        Relevant ones predicted among the unjudged.
    shift, shift_lower, shift_upper : float
        Shift of the log odds of relevance of the documents left unjudged, if judging depended on relevance
        among documents of the same predicted chance (`bayespool.experiments.selection.find_selection`):
        median and ends of the interval. NaN where no document is left unjudged.
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
    shift: float
    shift_lower: float
    shift_upper: float

    @property
    def ratio(self) -> float:
        """Relevant ones over expected ones; NaN where none is expected."""
        return self.n_relevant / self.expected if self.expected > 0 else float("nan")

    @property
    def depends_on_relevance(self) -> bool:
        """Whether the interval of the shift excludes 0, so that judging depended on relevance."""
        return self.shift_lower > 0 or self.shift_upper < 0


def check_found(
    collection: Collection,
    measures: object = "P@30",
    *,
    ci_prob: float = 0.95,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[FoundOptions],
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
        Called with a line on the current step.
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

    Notes
    -----
    Judgments of runs that are not at hand, of earlier rounds or of searches for relevant documents are no
    evidence of a contributor. The models assume that, given the predictors, judging them did not depend on
    relevance. If more of them are relevant than predicted, the unjudged documents are less relevant than the
    models predict. A model that is wrong for judged and unjudged documents alike cannot be told from such a
    search.

    Examples
    --------
    >>> from bayespool import load_example
    >>> check_found(load_example())
    Traceback (most recent call last):
    bayespool.errors.InputError: 0 judgments are not explained by the pooled runs: too few to say anything
    """
    unexplained = collection.judged & ~collection.pool() & ~collection.is_own
    if unexplained.sum() < _MIN_JUDGMENTS:
        raise InputError(
            f"{unexplained.sum()} judgments are not explained by the pooled runs: too few to say anything"
        )
    without = collection.without_judgments(unexplained)
    estimator = PosteriorEstimator(random_seed=random_seed, **settings)
    rows: list[FoundJudgments] = []
    for measure in parse_measures(measures):
        for runs, chosen in (("pooled", collection.pooled), ("other", ~collection.pooled)):
            if not chosen.any():
                continue
            if report is not None:
                report(f"predicting for {measure}: {runs} runs")
            names = tuple(collection.run_ids[r] for r in np.flatnonzero(chosen))
            completion = estimator.complete(without, names, measure)
            rows += _rows_of_runs(collection, completion, unexplained, measure, runs, ci_prob)
    return tuple(rows)


def found_frame(rows: tuple[FoundJudgments, ...]) -> pd.DataFrame:
    """Table of `check_found`: the attributes, ``ratio`` and ``depends_on_relevance``."""
    import pandas as pd

    names = list(FoundJudgments.__dataclass_fields__)
    table: list[Mapping[str, Any]] = [
        {name: getattr(row, name) for name in (*names, "ratio", "depends_on_relevance")}
        | {"measure": str(row.measure)}
        for row in rows
    ]
    return pd.DataFrame(table)


def _rows_of_runs(
    collection: Collection,
    completion: Completion,
    unexplained: npt.NDArray[np.bool_],
    measure: Measure,
    runs: str,
    ci_prob: float,
) -> list[FoundJudgments]:
    unknowns = completion.unknowns
    if not len(unknowns):
        return []
    is_unexplained = unexplained[unknowns.pair]
    top = len(rungs_of(unknowns.collection, measure)) if not measure.is_graded else 1
    is_relevant = collection.relevance[unknowns.pair] >= completion.levels[top]
    best = unknowns.best_rank
    ends = [0, *(b for b in _BAND_ENDS if b < measure.cutoff), measure.cutoff]
    bands = [(1, measure.cutoff), *((a + 1, b) for a, b in pairwise(ends))]
    masks = [(best >= a) & (best <= b) for a, b in bands]
    kept = [i for i, mask in enumerate(masks) if (mask & is_unexplained).any()]
    bands, masks = [bands[i] for i in kept], [masks[i] for i in kept]
    judged = _n_relevant(completion, top, [mask & is_unexplained for mask in masks])
    expected_rest = _n_relevant(completion, top, [mask & ~is_unexplained for mask in masks]).mean(axis=1)
    log_odds, tail = _log_odds(completion, top), (1 - ci_prob) / 2
    rows = []
    for (a, b), in_band, drawn, rest in zip(bands, masks, judged, expected_rest, strict=True):
        rng = np.random.default_rng(key_of(completion.random_seed, "found", str(measure), runs, a, b))
        shift = find_selection(log_odds[:, in_band], is_unexplained[in_band], is_relevant[in_band], rng).shift
        rows.append(
            FoundJudgments(
                measure=measure,
                runs=runs,
                first=a,
                last=b,
                n_documents=int(in_band.sum()),
                n_found=int((in_band & is_unexplained).sum()),
                n_relevant=int((in_band & is_unexplained & is_relevant).sum()),
                expected=float(drawn.mean()),
                lower=float(np.quantile(drawn, tail)),
                upper=float(np.quantile(drawn, 1 - tail)),
                expected_rest=float(rest),
                shift=float(np.quantile(shift, 0.5)),
                shift_lower=float(np.quantile(shift, tail)),
                shift_upper=float(np.quantile(shift, 1 - tail)),
            )
        )
    return rows


def _n_relevant(
    completion: Completion, top: int, masks: list[npt.NDArray[np.bool_]]
) -> npt.NDArray[np.int64]:
    """Number of relevant documents of each mask in each draw, shape (mask, draw)."""
    drawn = np.zeros((len(masks), completion.n_draws), dtype=np.int64)
    for t in np.flatnonzero(np.diff(completion.unknowns.start)).tolist():
        on_topic = completion.unknowns.on_topic(t)
        block = completion.block(t) >= top
        for i, mask in enumerate(masks):
            drawn[i] += block[:, mask[on_topic]].sum(axis=1)
    return drawn


def _log_odds(completion: Completion, top: int) -> npt.NDArray[np.float64]:
    """Log odds of relevance in some draws of the parameters, shape (draw, document)."""
    thinned = slice(None, None, -(-completion.n_draws // _MAX_DRAWS_OF_SHIFT))
    is_relevant = (np.arange(len(completion.levels)) >= top).astype(float)
    n_topics = len(completion.unknowns.start) - 1
    parts = [completion.expected(t, is_relevant, thinned)[0] for t in range(n_topics)]
    chance = np.clip(np.concatenate(parts, axis=1), 1e-12, 1 - 1e-12)
    log_odds: npt.NDArray[np.float64] = np.log(chance) - np.log1p(-chance)
    return log_odds
