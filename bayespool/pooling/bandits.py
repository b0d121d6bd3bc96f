"""Bandit, hedge and move-to-front pooling strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray
from bayespool.compiled import compiled
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import Adaptive, TopicRankings
from bayespool.validation import check_number, check_share

_MAX_MEAN, _THOMPSON, _EPSILON_GREEDY, _UCB1_TUNED = range(4)


class Bandit(Adaptive):
    """Base class for bandit strategies, which read the next document from the run with the largest value."""

    policy: ClassVar[int]
    counts: str = "drawn"

    def exploration(self) -> tuple[float, float, float]:
        """Return the probability ε of any run (−1 if it falls), and c and d by which it falls."""
        return -1.0, 0.0, 1.0

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the first ``n`` documents in the order in which the bandit first selects them."""
        start, run, _ = topic.postings
        settings = self.policy, self.counts == "list", *self.exploration()
        return _draw(topic.document, start, run, relevant, n, *settings, rng)


@register_strategy("max-mean", citations=("losada-parapar-barreiro-2016",))
@dataclass(frozen=True, kw_only=True)
class MaxMean(Bandit):
    """Bandit strategy that selects the run with the largest posterior mean (1 + relevant) / (2 + judged).

    Parameters
    ----------
    counts : {"list", "drawn"}
        ``list``: all judged documents of the run, as in the published tool. ``drawn``: only those drawn from
        it.

    References
    ----------
    Losada, Parapar & Barreiro: Feeling lucky? Multi-armed bandits for ordering judgements in pooling-based
    evaluation. SAC 2016.
    """

    counts: Literal["list", "drawn"] = "list"

    policy = _MAX_MEAN


@register_strategy("thompson", citations=("losada-parapar-barreiro-2017",))
@dataclass(frozen=True, kw_only=True)
class Thompson(Bandit):
    """Bandit strategy that samples each run's value from Beta(1 + relevant, 1 + nonrelevant).

    Parameters
    ----------
    counts : {"list", "drawn"}
        As for `MaxMean`.

    References
    ----------
    Losada, Parapar & Barreiro: Multi-armed bandits for adjudicating documents in pooling-based evaluation of
    information retrieval systems. Information Processing & Management 53, 2017.
    """

    counts: Literal["list", "drawn"] = "list"

    policy = _THOMPSON


@register_strategy(
    "epsilon-greedy",
    source="Auer, Cesa-Bianchi & Fischer 2002",
    citations=("auer-cesa-bianchi-fischer-2002", "losada-parapar-barreiro-2017"),
)
@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(Bandit):
    """Bandit strategy that selects the run with the largest mean relevance, or any run with probability ε.

    Parameters
    ----------
    epsilon : float, optional
        A constant probability, from 0 to 1. Default: min(1, c K / (d² n)) at the n-th draw, where K is the
        number of runs.
    c, d : float
        Of the falling probability; c > 0 and 0 < d ≤ 1. By default it is K / n, so that every run is drawn
        from about once before means count.

    Notes
    -----
    The mean of a run without a draw is ½. The published tool divides whole numbers, so that its means are 0
    or 1 and its figures differ.

    References
    ----------
    Auer, Cesa-Bianchi & Fischer: Finite-time analysis of the multiarmed bandit problem. Machine Learning 47,
    2002, figure 3. Of pooling: Losada, Parapar & Barreiro 2017.
    """

    epsilon: float | None = None
    c: float = 0.01
    d: float = 0.1

    policy = _EPSILON_GREEDY

    def __post_init__(self) -> None:
        """Raise `InputError` if a setting is out of range."""
        check_number("epsilon-greedy: epsilon", self.epsilon, least=0, most=1)
        check_number("epsilon-greedy: c", self.c, above=0)
        check_number("epsilon-greedy: d", self.d, above=0, most=1)

    def exploration(self) -> tuple[float, float, float]:
        """Return the probability ε of any run (−1 if it falls), and c and d by which it falls."""
        return -1.0 if self.epsilon is None else float(self.epsilon), float(self.c), float(self.d)


@register_strategy(
    "ucb1-tuned",
    source="Auer, Cesa-Bianchi & Fischer 2002",
    citations=("auer-cesa-bianchi-fischer-2002", "losada-parapar-barreiro-2017"),
)
@dataclass(frozen=True, kw_only=True)
class Ucb1Tuned(Bandit):
    """Bandit strategy that selects the run with the largest upper confidence bound on mean relevance.

    Notes
    -----
    With n draws in all, m of them from a run with mean x, the bound is x + √(ln n / m · min(¼, v)) with v = x
    (1 − x) + √(2 ln n / m). Runs without a draw go first. The published tool divides whole numbers, so that
    its means are 0 or 1, its variances 0, and its figures differ.

    References
    ----------
    Auer, Cesa-Bianchi & Fischer 2002, section 4. Of pooling: Losada, Parapar & Barreiro 2017.
    """

    policy = _UCB1_TUNED


@compiled
def _draw(
    document: IntArray,
    start: IndexArray,
    run_of: IntArray,
    relevant: BoolArray,
    n: int,
    policy: int,
    whole_lists: bool,
    constant: float,
    c: float,
    d: float,
    rng: np.random.Generator,
) -> IntArray:
    """Return the first n documents selected by a bandit policy, shape (n,)."""
    # A document that another run has brought is drawn again, but not judged again. Exhausted runs leave; ties
    # are broken at random.
    n_runs, depth = document.shape
    order = np.empty(n, dtype=np.int32)
    judged = np.zeros(len(relevant), dtype=np.bool_)
    place: IndexArray = np.zeros(n_runs, dtype=np.int64)
    hits, misses = np.zeros(n_runs), np.zeros(n_runs)
    n_arms, n_draws, n_judged = 0, 0, 0
    for run in range(n_runs):
        n_arms += depth > 0 and document[run, 0] >= 0
    while n_judged < n:
        explore = False
        if policy == _EPSILON_GREEDY:
            epsilon = constant if constant >= 0.0 else min(1.0, c * n_arms / (d * d * (n_draws + 1)))
            explore = rng.random() < epsilon
        arm, best, n_equal = -1, -1.0, 0
        for run in range(n_runs):
            if place[run] == depth or document[run, place[run]] < 0:
                continue
            seen = hits[run] + misses[run]
            if policy == _MAX_MEAN:
                value = (1.0 + hits[run]) / (2.0 + seen)
            elif policy == _THOMPSON:
                value = rng.beta(1.0 + hits[run], 1.0 + misses[run])
            elif explore:
                value = 0.0
            elif seen == 0.0:
                value = 0.5 if policy == _EPSILON_GREEDY else np.inf
            else:
                value = hits[run] / seen
                if policy == _UCB1_TUNED:
                    rate = np.log(n_draws) / seen
                    value += np.sqrt(rate * min(0.25, value * (1.0 - value) + np.sqrt(2.0 * rate)))
            if value > best:
                arm, best, n_equal = run, value, 1
            elif value == best:
                n_equal += 1
                if rng.random() * n_equal < 1.0:
                    arm = run
        drawn = document[arm, place[arm]]
        place[arm] += 1
        n_draws += 1
        if not whole_lists:
            if relevant[drawn]:
                hits[arm] += 1.0
            else:
                misses[arm] += 1.0
        if not judged[drawn]:
            judged[drawn] = True
            order[n_judged] = drawn
            n_judged += 1
            if whole_lists:
                for p in range(start[drawn], start[drawn + 1]):
                    if relevant[drawn]:
                        hits[run_of[p]] += 1.0
                    else:
                        misses[run_of[p]] += 1.0
    return order


@register_strategy("hedge", citations=("aslam-pavlu-savell-2003",))
@dataclass(frozen=True, kw_only=True)
class Hedge(Adaptive):
    """Strategy that selects the document with the largest gain, with runs weighted by past losses.

    Parameters
    ----------
    beta : float
        Factor of a weight for a loss of 1, above 0 and below 1.

    Notes
    -----
    Where N is the number of the topic's documents, a run's gain from a document at rank i is ln N − ln i.
    From a document that it does not retrieve it is the mean of that over the ranks that its list leaves, from
    its length + 1 to N (the published tool takes the ranks from its length to N − 1). A relevant document
    lowers the loss of each run by half its gain, another raises it as much. Weights are proportional to
    beta^loss. Of equal values the smaller best rank goes first, then the smaller lot.

    References
    ----------
    Aslam, Pavlu & Savell: A unified model for metasearch, pooling, and system evaluation. CIKM 2003.
    """

    beta: float = 0.1

    def __post_init__(self) -> None:
        """Raise `InputError` if ``beta`` is outside (0, 1)."""
        check_share("hedge: beta", self.beta)

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the first ``n`` documents by weighted gain, updated after each judgment."""
        start, run, rank = topic.postings
        missing = _gain_of_missing((topic.document >= 0).sum(axis=1), len(topic))
        extra = np.log(max(len(topic), 1)) - np.log(rank) - missing[run]
        first = topic.by_best_rank  # the order of equal values
        return _follow(start, run, extra, missing, relevant, first, n, float(np.log(self.beta)))


def _gain_of_missing(length: npt.NDArray[np.integer], n_documents: int) -> FloatArray:
    """Return the gain each run gives a document it does not retrieve, shape (run,).

    The gain is 0 where a run retrieves all documents.
    """
    logs = np.append(0.0, np.cumsum(np.log(np.arange(1, n_documents + 1))))
    n_left = n_documents - length
    mean = (logs[-1] - logs[length]) / np.maximum(n_left, 1)
    return np.where(n_left > 0, np.log(max(n_documents, 1)) - mean, 0.0)


@compiled
def _follow(
    start: IndexArray,
    run_of: IntArray,
    more: FloatArray,
    missing: FloatArray,
    relevant: BoolArray,
    first: IntArray,
    n: int,
    log_beta: float,
) -> IntArray:
    """Return the first n documents selected by hedge, shape (n,)."""
    # ``more`` is the gain above ``missing``, which adds the same to all documents, so that a value sums only
    # over the runs that retrieve the document
    order = np.empty(n, dtype=np.int32)
    judged = np.zeros(len(relevant), dtype=np.bool_)
    loss = np.zeros(len(missing))
    for step in range(n):
        weight = np.exp(log_beta * (loss - loss.min()))
        best, most = -1, 0.0
        for document in first:
            if judged[document]:
                continue
            value = 0.0
            for p in range(start[document], start[document + 1]):
                value += weight[run_of[p]] * more[p]
            if best < 0 or value > most * (1.0 + 1e-12):  # a sum in another order is no difference
                best, most = document, value
        judged[best] = True
        order[step] = best
        half = -0.5 if relevant[best] else 0.5
        loss += half * missing
        for p in range(start[best], start[best + 1]):
            loss[run_of[p]] += half * more[p]
    return order


@register_strategy("move-to-front", citations=("cormack-palmer-clarke-1998",))
@dataclass(frozen=True, kw_only=True)
class MoveToFront(Adaptive):
    """Strategy that reads one run until a nonrelevant document, then switches to another run.

    A run is read from its first rank down until it yields a document that is not relevant. The next run is
    the one of which the fewest documents read were not relevant. Ties are broken at random.

    Notes
    -----
    A document that another run has brought is read, but not judged again. Without a judgment it counts as not
    relevant; in the published tool it counts as neither.

    References
    ----------
    Cormack, Palmer & Clarke: Efficient construction of large test collections. SIGIR 1998.
    """

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the first ``n`` documents in the order in which runs are read."""
        return _read_runs(topic.document, relevant, n, rng)


@compiled
def _read_runs(document: IntArray, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return the first n documents selected by move-to-front, shape (n,)."""
    n_runs, depth = document.shape
    order = np.empty(n, dtype=np.int32)
    judged = np.zeros(len(relevant), dtype=np.bool_)
    place: IndexArray = np.zeros(n_runs, dtype=np.int64)
    misses: IndexArray = np.zeros(n_runs, dtype=np.int64)
    n_judged, current, stay = 0, -1, False
    while n_judged < n:
        if not stay or place[current] == depth or document[current, place[current]] < 0:
            current, n_equal = -1, 0
            for run in range(n_runs):
                if place[run] == depth or document[run, place[run]] < 0:
                    continue
                if current < 0 or misses[run] < misses[current]:
                    current, n_equal = run, 1
                elif misses[run] == misses[current]:
                    n_equal += 1
                    if rng.random() * n_equal < 1.0:
                        current = run
        read = document[current, place[current]]
        place[current] += 1
        stay = relevant[read]
        if not stay:
            misses[current] += 1
        if not judged[read]:
            judged[read] = True
            order[n_judged] = read
            n_judged += 1
    return order
