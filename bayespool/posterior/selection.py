"""Judging that depended on relevance: unknown runs ignored what is still unjudged, too."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bayespool.arrays import BoolArray, FloatArray
from bayespool.collection import Collection
from bayespool.inference import Engine
from bayespool.measures import Precision
from bayespool.posterior.completion import Completion
from bayespool.posterior.fitting import fit_threshold, learn_threshold
from bayespool.posterior.preparation import ScoringProblem
from bayespool.randomness import key_of

EVEN_PRIOR = (0.0, 2.0)
"""Mean and standard deviation for a log odds ratio of unknown sign.

95 % of the odds ratio is within a factor of 50.
"""

UNEXPLAINED_PRIOR = (0.5, 1.0)
"""Mean and standard deviation for a log odds ratio if unknown runs contributed the judged documents.

Runs rank relevant documents higher.
"""

MIN_JUDGED = 10
"""Smallest number of judged documents outside the pool from which a shift is learned."""

MAX_DRAWS = 400
"""Largest number of log-odds draws held in memory for all documents at once."""

_RANKS = (10, 30)  # the pool depth is clipped to this range
_N_STRATA = 10
_MAX_LOG_ODDS = 10.0  # of a ratio or shift, in absolute value
_MAX_STEPS = 25


class Selection(NamedTuple):
    """Posterior draws for how judging depends on relevance, each of shape (draw,).

    ``log_odds_ratio`` is that of being judged, for relevant against nonrelevant documents of the same
    predicted chance; ``shift`` the resulting error of the unjudged documents' log odds, NaN without any.
    """

    log_odds_ratio: FloatArray
    shift: FloatArray


def find_selection(
    log_odds: FloatArray,
    is_judged: BoolArray,
    is_relevant: BoolArray,
    rng: np.random.Generator,
    prior: tuple[float, float] = EVEN_PRIOR,
) -> Selection:
    """Estimate how judging depends on relevance beyond predicted log odds of shape (draw, document).

    The predictions must have been made without the judgments.

    The predictions are assumed to hold for judged and unjudged documents together. Within ten strata by mean
    predicted chance p, draws of the share judged π are of the Bayesian bootstrap. The odds ratio exp(δ) with
    the margins p and π gives P(judged and relevant), hence the chance of a judged and of an unjudged
    document. In each draw δ has its maximum under the judgments and a normal prior, given as mean and
    standard deviation, plus N(0, 1/information). The shift makes the unjudged documents' predictions sum to
    what δ implies. Under the even prior both are 0 if judging depends on the predicted chance alone.

    Examples
    --------
    100 documents of a chance of .8 were judged, 80 are relevant; 100 of a chance of .2 were not.

    >>> import numpy as np
    >>> log_odds = np.log([[4.0] * 100 + [0.25] * 100])
    >>> document = np.arange(200)
    >>> selection = find_selection(log_odds, document < 100, document < 80, np.random.default_rng(1))
    >>> float(abs(selection.shift[0])) < 1e-9
    True
    """
    chance = 1 / (1 + np.exp(-log_odds))
    share = _share_judged(chance, is_judged, rng)
    rest = ~is_judged
    ratio = _fit(chance[:, is_judged], share[:, is_judged], is_relevant[is_judged], rng, prior)
    if not rest.any():
        return Selection(ratio, np.full(len(log_odds), np.nan))
    p, judged = chance[:, rest], share[:, rest]
    left = (p - judged_and_relevant(p, judged, ratio[:, None])) / (1 - judged)
    return Selection(ratio, _shift(log_odds[:, rest], left.sum(axis=1)))


def judged_and_relevant(chance: Any, share: Any, log_odds_ratio: Any) -> FloatArray:
    """Return the joint probability of judged and relevant, from the marginals and the log odds ratio.

    Examples
    --------
    >>> judged_and_relevant(0.2, 0.3, 0.0).round(4).tolist()  # by itself
    0.06
    >>> judged_and_relevant(0.5, 0.5, np.log(9)).round(4).tolist()  # .375 · .375 / (.125 · .125) is 9
    0.375
    """
    ratio = np.exp(np.asarray(log_odds_ratio, dtype=float))
    excess = ratio - 1
    total = 1 + (np.asarray(chance, dtype=float) + share) * excess
    root = np.sqrt(np.maximum(total**2 - 4 * ratio * excess * chance * share, 0))
    both: FloatArray = 2 * ratio * chance * share / (total + root)  # stable for ratios near 1
    return both


def _share_judged(chance: FloatArray, is_judged: BoolArray, rng: np.random.Generator) -> FloatArray:
    """Return Bayesian-bootstrap draws for the share judged in each document's stratum.

    Shape (draw, document); exactly 0 or 1 where none or all are judged.
    """
    mean = chance.mean(axis=0)
    ends = np.unique(np.quantile(mean, np.arange(1, _N_STRATA) / _N_STRATA, method="inverted_cdf"))
    stratum = np.searchsorted(ends, mean)
    judged, left = (
        rng.standard_gamma(np.bincount(stratum, mask, len(ends) + 1), (len(chance), len(ends) + 1))
        for mask in (is_judged, ~is_judged)
    )
    both = judged + left
    drawn = np.divide(judged, both, out=np.zeros_like(both), where=both > 0)
    share: FloatArray = drawn[:, stratum]
    return share


def _fit(
    chance: FloatArray,
    share: FloatArray,
    is_relevant: BoolArray,
    rng: np.random.Generator,
    prior: tuple[float, float],
) -> FloatArray:
    """Draw log odds ratios from their normal approximation at the posterior mode, shape (draw,)."""
    mean, sd = prior
    ratio = np.full(len(chance), mean)
    information = np.full(len(chance), sd**-2)
    for _ in range(_MAX_STEPS):
        both = judged_and_relevant(chance, share, ratio[:, None])
        q = np.clip(both / share, 1e-12, 1 - 1e-12)
        cells = np.stack([both, chance - both, share - both, 1 - chance - share + both])
        slope = 1 / (1 / np.maximum(cells, 1e-12)).sum(axis=0) / share
        weight = slope / (q * (1 - q))
        score = (weight * (is_relevant - q)).sum(axis=1) - (ratio - mean) / sd**2
        information = (weight * slope).sum(axis=1) + sd**-2
        step = np.clip(score / information, -1, 1)
        ratio = np.clip(ratio + step, -_MAX_LOG_ODDS, _MAX_LOG_ODDS)
        if np.abs(step).max() < 1e-6:
            break
    drawn: FloatArray = ratio + rng.standard_normal(len(ratio)) / np.sqrt(information)
    return drawn


def _shift(log_odds: FloatArray, total: FloatArray) -> FloatArray:
    """Return the shift in log odds (draw, document) for which probabilities sum to ``total``."""
    low, high = np.full(len(log_odds), -_MAX_LOG_ODDS), np.full(len(log_odds), _MAX_LOG_ODDS)
    for _ in range(40):
        middle = (low + high) / 2
        too_much = (1 / (1 + np.exp(-(log_odds + middle[:, None])))).sum(axis=1) > total
        low, high = np.where(too_much, low, middle), np.where(too_much, middle, high)
    shift: FloatArray = (low + high) / 2
    return shift


def find_unexplained(collection: Collection) -> BoolArray:
    """Return a mask for judged documents that neither the pool nor the user contributed, shape (pair,)."""
    return np.asarray(collection.judged & ~collection.in_pool() & ~collection.is_own)


def _without_unexplained(problem: ScoringProblem, depth: int) -> ScoringProblem:
    """Return the problem without judgments that no pooled run explains."""
    name, shared = "without unexplained judgments", problem.shared
    without = shared.changed(name, problem.collection, lambda c: c.without_judgments(find_unexplained(c)))
    measure = Precision(depth, rel=problem.threshold.rel)
    return dataclasses.replace(
        problem, collection=without, measure=measure, reach=None, shared=shared.part(name)
    )


def _depth(collection: Collection) -> int:
    return int(np.clip(collection.pool_depth, *_RANKS))


def learn_unexplained(
    problem: ScoringProblem,
    models: tuple[str, ...],
    engine: Engine,
    priors: Mapping[str, str],
    random_seed: int,
    *,
    keep_draws: bool = False,
) -> None:
    """Fit what `learn_shift` needs to a pool alone, so that its results are recorded."""
    if problem.has_pool_evidence and find_unexplained(problem.collection).sum() >= MIN_JUDGED:
        without = _without_unexplained(problem, _depth(problem.collection))
        learn_threshold(without, models, engine, priors, random_seed, keep_draws=keep_draws)


def learn_shift(
    problem: ScoringProblem, models: tuple[str, ...], engine: Engine, priors: Any, n_draws: int, seed: int
) -> FloatArray | None:
    """Learn the log-odds shift for unjudged documents, shape (draw,), or None with too little evidence.

    Documents of the runs outside the pool, judged or not, are predicted without the judgments that no pooled
    run explains; `find_selection` compares these with their predictions.
    """
    collection, threshold = problem.collection, problem.threshold
    depth = _depth(collection)
    top = np.zeros(len(collection.relevance) + 1, dtype=bool)
    top[collection.document[collection.run_index(problem.run_ids), :, :depth]] = True
    unexplained = problem.shared.once("unexplained judgments", lambda: find_unexplained(collection))
    if not problem.has_pool_evidence or (unexplained & top[:-1]).sum() < MIN_JUDGED:
        return None
    predicted = _without_unexplained(problem, depth)
    posterior, _ = fit_threshold(predicted, models, engine, priors, n_draws, seed)
    unknowns = predicted.unknowns
    completion = Completion(
        unknowns=unknowns,
        n_draws=n_draws,
        posteriors=(posterior,),
        thresholds=(threshold,),
        known=np.full(len(unknowns), -1, dtype=np.int16),
        weights={},
        random_seed=seed,
    )
    is_judged = unexplained[unknowns.pair]
    if is_judged.sum() < MIN_JUDGED or is_judged.all():
        return None
    is_relevant = collection.relevance[unknowns.pair] >= threshold.rel
    rng = np.random.default_rng(key_of(seed, "selection", threshold.rel))
    thinned, values = slice(None, None, -(-n_draws // MAX_DRAWS)), np.array([0.0, 1.0])
    parts = [completion.expected(t, values, thinned)[0] for t in range(len(collection.query_ids))]
    chance = np.clip(np.concatenate(parts, axis=1), 1e-12, 1 - 1e-12)
    log_odds = np.log(chance) - np.log1p(-chance)
    shift = find_selection(log_odds, is_judged, is_relevant, rng, UNEXPLAINED_PRIOR).shift
    return np.repeat(shift, -(-n_draws // len(shift)))[:n_draws]
