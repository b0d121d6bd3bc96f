"""Judgments that no pooled run explains: were they made for documents as relevant as the rest?

Many collections have judgments that their pool does not account for: of runs that are not at hand, of earlier
rounds, or of documents that a search for relevant ones came upon. They are taken as they are: judged is
judged, and nobody contributed them, so that they are no evidence. What is assumed of them is that, given what
the predictors say of a document, whether it was judged so does not depend on its relevance. Then the unjudged
documents beside them are as relevant as the models say.

The assumption can be tested, as the judgments themselves took no part in the fits: they are taken away and
predicted as if they were unjudged. If more of them are relevant than that, somebody looked for relevant
documents, and what was left unjudged is less relevant than the models say; how much less follows
(`bayespool.experiments.selection`). That takes the models at their word for judged and unjudged documents
together: where they are off for both, it shows here, too, and cannot be told from a search.
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

_BANDS = (5, 10, 20, 30, 50, 100)
_LEAST = 20
"""Judgments that say something."""
_MOST_DRAWS = 400
"""Draws from which the shift is found; their log odds are held for all documents at once."""


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
    shift, shift_lower, shift_upper : float
        How far the log odds of the documents left unjudged are off if judging depended on relevance, among
        documents of the same predicted chance (`bayespool.experiments.selection.find_selection`): median and
        ends of the interval. About 0 where it depended on the predicted chance alone, NaN where nothing is
        left unjudged.
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
        """Relevant ones over those expected; NaN where none is."""
        return self.n_relevant / self.expected if self.expected > 0 else float("nan")

    @property
    def depends_on_relevance(self) -> bool:
        """Whether the interval of the shift leaves out 0, so that judging depended on relevance."""
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
    found = collection.judged & ~collection.pool() & ~collection.is_own
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
            completion = estimator.complete(without, names, measure)
            rows += _of_runs(collection, completion, found, measure, runs, ci_prob)
    return tuple(rows)


def found_frame(rows: tuple[FoundJudgments, ...]) -> pd.DataFrame:
    """A table of `check_found`: its attributes, ``ratio`` and ``depends_on_relevance``."""
    import pandas as pd

    names = list(FoundJudgments.__dataclass_fields__)
    table: list[Mapping[str, Any]] = [
        {name: getattr(row, name) for name in (*names, "ratio", "depends_on_relevance")}
        | {"measure": str(row.measure)}
        for row in rows
    ]
    return pd.DataFrame(table)


def _of_runs(
    collection: Collection,
    completion: Completion,
    found: npt.NDArray[np.bool_],
    measure: Measure,
    runs: str,
    ci_prob: float,
) -> list[FoundJudgments]:
    unknowns = completion.unknowns
    if not len(unknowns):
        return []
    is_found = found[unknowns.pair]
    top = len(rungs_of(unknowns.collection, measure)) if not measure.is_graded else 1
    is_relevant = collection.relevance[unknowns.pair] >= completion.levels[top]
    best = unknowns.best_rank
    ends = [0, *(b for b in _BANDS if b < measure.cutoff), measure.cutoff]
    bands = [(1, measure.cutoff), *((a + 1, b) for a, b in pairwise(ends))]
    masks = [(best >= a) & (best <= b) for a, b in bands]
    kept = [i for i, mask in enumerate(masks) if (mask & is_found).any()]
    bands, masks = [bands[i] for i in kept], [masks[i] for i in kept]
    judged = _relevant_ones(completion, top, [mask & is_found for mask in masks])
    expected_rest = _relevant_ones(completion, top, [mask & ~is_found for mask in masks]).mean(axis=1)
    log_odds, tail = _log_odds(completion, top), (1 - ci_prob) / 2
    rows = []
    for (a, b), here, drawn, rest in zip(bands, masks, judged, expected_rest, strict=True):
        rng = np.random.default_rng(key_of(completion.random_seed, "found", str(measure), runs, a, b))
        shift = find_selection(log_odds[:, here], is_found[here], is_relevant[here], rng).shift
        rows.append(
            FoundJudgments(
                measure=measure,
                runs=runs,
                first=a,
                last=b,
                n_documents=int(here.sum()),
                n_found=int((here & is_found).sum()),
                n_relevant=int((here & is_found & is_relevant).sum()),
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


def _relevant_ones(
    completion: Completion, top: int, masks: list[npt.NDArray[np.bool_]]
) -> npt.NDArray[np.int64]:
    """How many documents of each mask are relevant in each draw, shape (mask, draw)."""
    drawn = np.zeros((len(masks), completion.n_draws), dtype=np.int64)
    for t in np.flatnonzero(np.diff(completion.unknowns.start)).tolist():
        here = completion.unknowns.on_topic(t)
        block = completion.block(t) >= top
        for i, mask in enumerate(masks):
            drawn[i] += block[:, mask[here]].sum(axis=1)
    return drawn


def _log_odds(completion: Completion, top: int) -> npt.NDArray[np.float64]:
    """Of being relevant, in some draws of the parameters, shape (draw, document)."""
    some = slice(None, None, -(-completion.n_draws // _MOST_DRAWS))
    is_relevant = (np.arange(len(completion.levels)) >= top).astype(float)
    n_topics = len(completion.unknowns.start) - 1
    parts = [completion.expected(t, is_relevant, some)[0] for t in range(n_topics)]
    chance = np.clip(np.concatenate(parts, axis=1), 1e-12, 1 - 1e-12)
    log_odds: npt.NDArray[np.float64] = np.log(chance) - np.log1p(-chance)
    return log_odds
