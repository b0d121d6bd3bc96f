"""Strategies that judge a random sample of documents, and average precision estimated from samples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray
from bayespool.compiled import compiled
from bayespool.errors import InputError
from bayespool.measures.base import safe_ratio
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import Strategy, TopicRankings
from bayespool.validation import check_count, check_number


class Sampling(Strategy):
    """Base class for strategies that judge a random sample of retrieved documents."""

    @abstractmethod
    def inclusion(
        self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return the inclusion probability for each document in a sample of size ``n``, shape (document,).

        Arguments are those of `order`; ``rng`` is a new one of the same seed, so that both describe the same
        sample.
        """

    def stratum(self, topic: TopicRankings) -> IntArray | None:
        """Return the stratum of each document from 0, shape (document,); None without strata."""
        return None


@register_strategy("uniform", citations=("yilmaz-aslam-2006",))
@dataclass(frozen=True, kw_only=True)
class Uniform(Sampling):
    """Strategy that judges a uniform random sample without replacement.

    A document keeps its lot whichever runs retrieve it: without a run the sample loses the documents that
    only it retrieved, and goes on to the next ones for the same budget.

    References
    ----------
    Yilmaz & Aslam: Estimating average precision with incomplete and imperfect judgments. CIKM 2006.
    """

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return ``n`` documents in random order (ascending lots)."""
        return np.argsort(topic.lot, kind="stable")[:n].astype(np.int32)

    def inclusion(
        self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return the sampled share as inclusion probability for each document, shape (document,)."""
        return np.full(len(topic), n / max(len(topic), 1))

    def stratum(self, topic: TopicRankings) -> IntArray:
        """Return stratum 0 for every document, shape (document,)."""
        return np.zeros(len(topic), dtype=np.int32)


@register_strategy("stratified", citations=("yilmaz-kanoulas-aslam-2008",))
@dataclass(frozen=True, kw_only=True)
class Stratified(Sampling):
    """Strategy that judges random samples from strata defined by best rank.

    Parameters
    ----------
    depths : tuple of int
        The last rank of each stratum but the last. By default there are two strata, ranks 1 to 10 and the
        others.
    rates : tuple of float
        Relative sampling rates of the strata, scaled to the budget; one more than there are depths.

    Notes
    -----
    Documents judged per stratum depend on the budget alone. One document at a time goes to the stratum in
    which judged / (rate × documents) is smallest, the upper one of equals, until it is fully judged. So each
    stratum gets a document first, a larger budget only adds to a smaller one, and in a stratum of N documents
    of which n are judged each has been with probability n / N. The published tool tosses a coin for each
    document instead, so that its sizes vary.

    References
    ----------
    Yilmaz, Kanoulas & Aslam: A simple and efficient sampling method for estimating AP and NDCG. SIGIR 2008.
    """

    depths: tuple[int, ...] = (10,)
    rates: tuple[float, ...] = (10.0, 1.0)

    def __post_init__(self) -> None:
        """Raise `InputError` if depths or rates are invalid."""
        if not all(isinstance(values, tuple) for values in (self.depths, self.rates)):
            raise InputError("stratified: depths and rates are tuples", hint="write (10,) for one depth")
        if any(low >= high for low, high in pairwise((0, *self.depths))):
            raise InputError(f"stratified: depths {self.depths}", hint="give ranks from 1 that grow")
        if len(self.rates) != len(self.depths) + 1 or not all(rate > 0 for rate in self.rates):
            raise InputError(
                f"stratified: rates {self.rates}",
                hint="give one above 0 for each depth and one for the ranks below",
            )

    def stratum(self, topic: TopicRankings) -> IntArray:
        """Return the stratum of each document from 0, shape (document,)."""
        return np.searchsorted(self.depths, topic.best_rank).astype(np.int32)

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the first ``n`` documents, alternating between strata and in random order within each."""
        stratum = self.stratum(topic)
        by_stratum = np.lexsort((topic.lot, stratum))
        places = self._judging_order(stratum)
        return by_stratum[places[:n]].astype(np.int32)

    def inclusion(
        self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return the judged share in each document's stratum, shape (document,)."""
        stratum = self.stratum(topic)
        size = np.bincount(stratum, minlength=len(self.rates))
        judged = np.sort(stratum)[self._judging_order(stratum)[:n]]
        share = np.bincount(judged, minlength=len(self.rates)) / np.maximum(size, 1)
        return share[stratum]

    def _judging_order(self, stratum: IntArray) -> IndexArray:
        """Return the judging order as indices into documents sorted by stratum, shape (document,)."""
        size = np.bincount(stratum, minlength=len(self.rates))
        n_before = np.concatenate([np.arange(s) for s in size])
        place_stratum = np.repeat(np.arange(len(size)), size)
        level = n_before / (np.array(self.rates)[place_stratum] * size[place_stratum])
        return np.lexsort((place_stratum, level))


StateArray = npt.NDArray[np.int8]

RELEVANT, NONRELEVANT, NOT_JUDGED, NOT_POOLED = 1, 0, -1, -2
"""Codes for a ranked document: relevant, nonrelevant, pooled but not sampled, or not pooled (or none)."""

_EPSILON = 1e-5


def sampled_states(
    document: IntArray, relevant: BoolArray, judged: BoolArray, pooled: BoolArray
) -> StateArray:
    """Return the judgment state at each rank (`RELEVANT`, …), shape (..., rank).

    Masks have the shape (document,).
    """
    # a judged document is pooled; document number −1 is none
    state = np.where(pooled, NOT_JUDGED, NOT_POOLED)
    state = np.where(judged, np.where(relevant, RELEVANT, NONRELEVANT), state)
    return np.append(state, NOT_POOLED)[document].astype(np.int8)


def sampled_ap(
    state: StateArray,
    inclusion: FloatArray,
    n_relevant: float | FloatArray,
    *,
    stratum: IntArray | None = None,
    pair_weight: FloatArray | None = None,
) -> FloatArray:
    """Return average precision estimated with inclusion weights (statAP; Aslam & Pavlu 2007), shape (...)."""
    # Average precision is the sum of x(i) x(j) / i over all ranks j ≤ i, divided by the number of relevant
    # documents, ``n_relevant``, which is the sum of 1 / inclusion over those judged relevant. A pair with j <
    # i is divided by its joint probability, one with j = i by the inclusion of i. The sum is unbiased, the
    # quotient nearly so for large samples; it is 0 without a relevant document and may exceed 1. Documents
    # count as judged independently, unless ``pair_weight``, of shape (stratum,), has the product of two
    # inclusions of a stratum over their joint one, n (N − 1) / (N (n − 1)) for n of N.
    hit = state == RELEVANT
    weight = np.where(hit, 1.0 / np.where(hit, inclusion, 1.0), 0.0)
    above = np.cumsum(weight, axis=-1) - weight
    if stratum is not None and pair_weight is not None:
        for h, joint_weight in enumerate(pair_weight):
            inside = np.where(stratum == h, weight, 0.0)
            above += np.where(stratum == h, (joint_weight - 1) * (np.cumsum(inside, axis=-1) - inside), 0.0)
    rank = np.arange(1, state.shape[-1] + 1)
    return safe_ratio((weight * (1.0 + above) / rank).sum(axis=-1), np.asarray(n_relevant))


def infer_ap(state: StateArray, n_relevant: int | IntArray) -> FloatArray:
    """Return average precision inferred from a uniform sample as in trec_eval (infAP), shape (...).

    Yilmaz & Aslam 2006.
    """
    # The mean over ``n_relevant`` judged relevant documents of the topic of the precision expected at their
    # rank k, 1/k + (pooled / k) (relevant + ε) / (relevant + not relevant + 2 ε), with counts of ranks above
    # k and ε = 10⁻⁵; 0 without a relevant document.
    hit, judged, pooled = state == RELEVANT, state >= NONRELEVANT, state > NOT_POOLED
    share = (_above(hit) + _EPSILON) / (_above(judged) + 2 * _EPSILON)
    rank = np.arange(1, state.shape[-1] + 1)
    precision = (1.0 + _above(pooled) * share) / rank
    return safe_ratio(np.where(hit, precision, 0.0).sum(axis=-1), np.asarray(n_relevant))


def infer_stratified_ap(
    state: StateArray,
    stratum: IntArray,
    n_pooled: npt.NDArray[np.integer],
    n_judged: npt.NDArray[np.integer],
    n_relevant: npt.NDArray[np.integer],
) -> FloatArray:
    """Return average precision inferred from a stratified sample (xinfAP), shape (...).

    Yilmaz, Kanoulas & Aslam 2008.
    """
    # The mean over strata of the mean precision expected at their relevant documents, weighted by the
    # estimated number of relevant documents, n_pooled · n_relevant / n_judged; counts have the shape
    # (stratum,). The precision expected at rank k is 1/k + Σ (pooled / k) (relevant + ε) / (judged + 3 ε)
    # over strata, with counts of ranks above k and ε = 10⁻⁵. A stratum without a judgment is left out. Where
    # more documents are relevant than a run may hold, NIST's sample_eval divides by the length of the run
    # instead.
    hit, judged, pooled = state == RELEVANT, state >= NONRELEVANT, state > NOT_POOLED
    rank = np.arange(1, state.shape[-1] + 1)
    expected = np.ones(state.shape)
    for h in range(len(n_pooled)):
        inside = stratum == h
        share = (_above(hit & inside) + _EPSILON) / (_above(judged & inside) + 3 * _EPSILON)
        expected += _above(pooled & inside) * share
    precision = np.where(hit, expected / rank, 0.0)
    rate = n_pooled / np.maximum(n_judged, 1)
    total = np.zeros(state.shape[:-1])
    for h in range(len(n_pooled)):
        total += rate[h] * np.where(stratum == h, precision, 0.0).sum(axis=-1)
    return safe_ratio(total, np.asarray((rate * n_relevant).sum()))


def _above(is_counted: BoolArray) -> IndexArray:
    """Return the number of true entries at smaller ranks, shape (..., rank)."""
    return np.cumsum(is_counted, axis=-1) - is_counted


@register_strategy("active-sampling", citations=("li-kanoulas-2017",))
@dataclass(frozen=True, kw_only=True)
class ActiveSampling(Sampling):
    """Strategy that samples documents with replacement, more often from runs that found relevant ones.

    Parameters
    ----------
    batch : int
        New documents judged before the mixture learns from them.
    even : float
        Share of draws that goes to all runs alike, above 0 and at most 1: a lower bound for documents of runs
        that found nothing. The paper has none.

    Notes
    -----
    Within a run the probability of rank r is in proportion to 1 + 1/r + 1/(r + 1) + … + 1/N, where N is the
    length of the longest run (the prior of average precision of Aslam, Pavlu & Yilmaz 2006). The weight of a
    run is in proportion to 1/r + … + 1/N, summed over its documents judged relevant, and equal for all runs
    while there is none. Repeated draws of judged documents are free, and their number is drawn from its
    geometric distribution.

    A document's inclusion probability is 1 − ∏ (1 − p) over all draws, as in the paper, and 1 where all
    documents are judged. It takes the weights as given. But a relevant document that is drawn raises the
    weights of its own runs, and so its own inclusion, so that estimates come out low: on TREC-8, with 100 to
    200 documents judged a topic, the number of relevant documents by 5 to 10 %. With ``even=1`` nothing is
    learned, and they do not.

    References
    ----------
    Li & Kanoulas: Active sampling for large-scale information retrieval evaluation. CIKM 2017.
    """

    is_adaptive = True
    batch: int = 10
    even: float = 0.1

    def __post_init__(self) -> None:
        """Raise `InputError` if ``batch`` is below 1 or ``even`` is outside (0, 1]."""
        check_count("active-sampling: batch", self.batch)
        check_number("active-sampling: even", self.even, above=0, most=1)

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the first ``n`` distinct documents in the order in which they are sampled."""
        return self._sample(topic, relevant, n, rng)[0]

    def inclusion(
        self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return the probability that each document is sampled at least once, shape (document,)."""
        if n == len(topic):
            return np.ones(n)
        return -np.expm1(self._sample(topic, relevant, n, rng)[1])

    def _sample(
        self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator
    ) -> tuple[IntArray, FloatArray]:
        """Return documents in sampled order, and log probabilities of no sampling, shape (document,)."""
        start, run, rank = topic.postings
        n_ranks = int(topic.length.max(initial=0))
        tail = np.cumsum(1.0 / np.arange(n_ranks, 0, -1))[::-1]
        credit = tail[rank - 1]
        n_runs = len(topic.document)
        prior = (1.0 + credit) / np.bincount(run, weights=1.0 + credit, minlength=n_runs)[run]
        live = np.bincount(run, minlength=n_runs) > 0
        even = live / max(live.sum(), 1)
        lots = rng.random((n, 2))
        settings = (self.batch, float(self.even), lots)
        return _sample(start, run, prior, credit, even, relevant, n, *settings)


@compiled
def _sample(
    start: IndexArray,
    run_of: IntArray,
    prior: FloatArray,
    credit: FloatArray,
    even: FloatArray,
    relevant: BoolArray,
    n: int,
    batch: int,
    share: float,
    lots: FloatArray,
) -> tuple[IntArray, FloatArray]:
    """Return documents in sampled order, and log probabilities of no sampling, shape (document,)."""
    n_documents = len(relevant)
    order = np.empty(n, dtype=np.int32)
    judged = np.zeros(n_documents, dtype=np.bool_)
    earned = np.zeros(len(even))
    p = np.zeros(n_documents)
    log_out = np.zeros(n_documents)
    n_judged = 0
    while n_judged < n:
        total = earned.sum()
        weight = even.copy() if total == 0.0 else share * even + (1.0 - share) * earned / total
        for document in range(n_documents):
            p[document] = 0.0
            for i in range(start[document], start[document + 1]):
                p[document] += weight[run_of[i]] * prior[i]
        n_draws = 0.0
        first = n_judged
        for k in range(first, min(first + batch, n)):
            new = 0.0
            for document in range(n_documents):
                if not judged[document]:
                    new += p[document]
            n_draws += 1.0  # and those before that bring nothing new
            if k > 0 and new < 1.0:
                n_draws += np.floor(np.log(1.0 - lots[k, 0]) / np.log1p(-new))
            left = lots[k, 1] * new
            drawn = -1
            for document in range(n_documents):
                if not judged[document] and (drawn < 0 or left >= 0.0):
                    drawn = document
                    left -= p[document]
            judged[drawn] = True
            order[k] = drawn
            n_judged += 1
        for document in range(n_documents):
            log_out[document] += n_draws * np.log1p(-min(p[document], 1.0))
        for k in range(first, n_judged):
            if relevant[order[k]]:
                for i in range(start[order[k]], start[order[k] + 1]):
                    earned[run_of[i]] += credit[i]
    return order, log_out
