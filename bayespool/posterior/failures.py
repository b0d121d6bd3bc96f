"""Topics on which a run found nothing: a second component of its effect there.

Hardly anything of its top is in other organizations' runs, though on its other topics much is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, expit, ndtr

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.rankings import ranked
from bayespool.randomness import key_of, normals

FAILED_LOG_ODDS = -4.0
"""Largest log odds of relevance on a topic on which a run found nothing."""

FAILS = (0.3, 2.7)
"""Beta prior of the share of topics on which a run finds nothing: most runs hardly ever, some often."""

_REACH = 100  # ranks within which a document of another run is company
_TOP_RANGE = (10, 30)  # ranks; the pool depth is clipped to this range
_BY_CHANCE = (1.0, 50.0)  # shares of random documents with company, and of relevant ones: beta
_ODD = 0.01  # share of usual topics on which any share of its documents has company
_OF_JUDGED = 2.0  # concentration over topics of the share of relevant documents among judged ones
_MEAN = expit(np.linspace(-4, 5, 13))  # grids: share of documents with company on usual topics, ...
_CONCENTRATION = 2.0 ** np.arange(1, 7)  # ... its concentration over topics, ...
_LOG_ODDS = np.linspace(-6.5, 2.5, 13)  # ... and of the share of topics on which the run finds nothing
_LEAST = 1e-3  # chance below which a run did not fail


@dataclass(frozen=True, eq=False)
class Failures:
    """Probabilities that runs found nothing on topics.

    Attributes
    ----------
    runs : ndarray of int
        Runs that may have found nothing somewhere, as positions among the runs to score.
    names, query_ids : tuple of str
        Of these runs, and of the topics.
    case : ndarray of int, shape (run, topic)
        Which of the run's probabilities is the topic's; −1 where it found something.
    chance : tuple of ndarray of float, each of shape (draw, case)
        By run.
    draw : ndarray of int, shape (draw,)
        Numbers of the draws.
    random_seed : int
    """

    runs: IndexArray
    names: tuple[str, ...]
    query_ids: tuple[str, ...]
    case: IndexArray
    chance: tuple[FloatArray, ...]
    draw: OrderArray
    random_seed: int

    def select_draws(self, draws: OrderArray) -> Failures:
        """Return a copy restricted to the given draws."""
        return dataclasses.replace(self, draw=self.draw[draws])

    def on_topic(self, topic: int, n_runs: int) -> BoolArray | None:
        """Return whether each run found nothing in each draw, shape (draw, run); None if none did."""
        concerned = np.flatnonzero(self.case[:, topic] >= 0)
        if not len(concerned):
            return None
        failed = np.zeros((len(self.draw), n_runs), dtype=bool)
        for i in concerned.tolist():
            chance = self.chance[i][:, self.case[i, topic]]
            names = "found nothing", self.names[i], self.query_ids[topic]
            is_below = ndtr(normals(len(chance), self.random_seed, *names)) < chance
            failed[:, self.runs[i]] = is_below[self.draw]
        return failed

    def expected(self, n_runs: int) -> FloatArray:
        """Return the expected number of topics on which each run found nothing, shape (run,)."""
        totals = np.zeros(n_runs)
        for run, case, chance in zip(self.runs, self.case, self.chance, strict=True):
            totals[run] = chance.mean(axis=0)[case[case >= 0]].sum()
        return totals


def find_failures(
    collection: Collection, run_ids: Sequence[str], is_new: BoolArray, n_draws: int, random_seed: int
) -> Failures | None:
    """Return the probabilities that new runs found nothing on topics; None if all found something everywhere.

    What a pooled run found is judged, and its effect on a topic is learned from it.
    """
    index = collection.run_index(run_ids)
    depth, of_runs = int(np.clip(collection.pool_depth, *_TOP_RANGE)), []
    for r in np.flatnonzero(is_new).tolist():
        run = index[r]
        first, last = collection.memo.once("retrieving organizations", lambda: _retrieving(collection))
        document, own = collection.document[[run], :, :depth][0], collection.organization[run]
        there, level = document >= 0, collection.relevance[document]
        alone = (first[document] > last[document]) | ((first[document] == own) & (last[document] == own))
        numbers = there & ~alone, there, there & (level > 0), there & (level >= 0)
        counts = np.stack([number.sum(axis=1) for number in numbers], axis=1)
        distinct, case, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
        rng = np.random.default_rng(key_of(random_seed, "failures", run_ids[r]))
        chance = _draw_chances(distinct, times, n_draws, rng)
        may = (chance.mean(axis=0) > _LEAST) & (distinct[:, 1] > 0)
        if may.any():
            kept = np.where(may, np.cumsum(may) - 1, -1)
            of_runs.append((r, kept[case.reshape(-1)], chance[:, may]))
    if not of_runs:
        return None
    runs, cases, chances = zip(*of_runs, strict=True)
    return Failures(
        runs=np.array(runs),
        names=tuple(run_ids[r] for r in runs),
        query_ids=collection.query_ids,
        case=np.array(cases),
        chance=chances,
        draw=np.arange(n_draws),
        random_seed=random_seed,
    )


def _draw_chances(
    counts: IndexArray, times: IndexArray, n_draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the probability that a run found nothing where counts are these, shape (draw, counts)."""
    n_company, n, n_relevant, n_judged = counts.T  # which ``times`` topics have
    relevant = (times @ n_relevant + 0.5) / (times @ n_judged + 1)
    a, b = (np.outer(share, _CONCENTRATION).reshape(-1, 1) for share in (_MEAN, 1 - _MEAN))
    usual = np.logaddexp(
        np.log1p(-_ODD) + _log_chance(n_company, n, a, b), np.log(_ODD) + _log_chance(n_company, n, 1.0, 1.0)
    )
    usual += _log_chance(n_relevant, n_judged, _OF_JUDGED * relevant, _OF_JUDGED * (1 - relevant))
    failed = _log_chance(n_company, n, *_BY_CHANCE) + _log_chance(n_relevant, n_judged, *_BY_CHANCE)
    log_odds = _LOG_ODDS[:, None, None] + failed - usual  # (share of topics, usual topics, counts)
    of_topics = usual + np.logaddexp(0, log_odds) - np.logaddexp(0, _LOG_ODDS)[:, None, None]
    share = expit(_LOG_ODDS)
    prior = FAILS[0] * np.log(share) + FAILS[1] * np.log1p(-share)  # of log odds
    log_weight = (of_topics @ times + prior[:, None]).ravel()
    weight = np.exp(log_weight - log_weight.max())
    drawn = rng.choice(len(weight), n_draws, p=weight / weight.sum())
    return np.asarray(expit(log_odds.reshape(len(weight), -1)[drawn]))


def _log_chance(k: IndexArray, n: IndexArray, a: Any, b: Any) -> FloatArray:
    """Return log beta-binomial probabilities of certain k out of n documents."""
    return np.asarray(betaln(a + k, b + n - k) - betaln(a, b))


def _retrieving(collection: Collection) -> tuple[IntArray, IntArray]:
    """Return the first and last organization with each document within reach; the last is −1 if none."""
    n_pairs = len(collection.relevance)
    first, last = np.full(n_pairs, np.iinfo(np.int32).max, np.int32), np.full(n_pairs, -1, np.int32)
    for run in np.flatnonzero(collection.pooled):
        document, rank = ranked(collection.document, run)
        inside = document[(rank < _REACH) & (document >= 0)]
        first[inside] = np.minimum(first[inside], collection.organization[run])
        last[inside] = np.maximum(last[inside], collection.organization[run])
    return first, last
