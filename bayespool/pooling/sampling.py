"""Strategies that judge documents with known probabilities."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IntArray
from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import Strategy, TopicRankings


class Sampling(Strategy):
    """A strategy whose documents are a random sample of those retrieved."""

    @abstractmethod
    def inclusion(
        self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator
    ) -> FloatArray:
        """Probability that each document is among the first ``n``, shape (document,).

        Arguments are those of `order`; ``rng`` is a new one of the same seed, so that both describe the same
        sample.
        """

    def stratum(self, topic: TopicRankings) -> IntArray | None:
        """Stratum of each document from 0, shape (document,); None if strata are not sampled."""
        return None


@register_strategy("uniform", citations=("yilmaz-aslam-2006",))
@dataclass(frozen=True, kw_only=True)
class Uniform(Sampling):
    """Documents in the order of their lots, so that the first n are a sample without replacement.

    A document keeps its lot whichever runs retrieve it: without a run the sample loses the documents that
    only it retrieved, and goes on to the next ones for the same budget.

    References
    ----------
    Yilmaz & Aslam: Estimating average precision with incomplete and imperfect judgments. CIKM 2006.
    """

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """The ``n`` documents of the smallest lots."""
        return np.argsort(topic.lot, kind="stable")[:n].astype(np.int32)

    def inclusion(
        self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator
    ) -> FloatArray:
        """Share of documents judged, shape (document,)."""
        return np.full(len(topic), n / max(len(topic), 1))

    def stratum(self, topic: TopicRankings) -> IntArray:
        """One stratum of all documents, shape (document,)."""
        return np.zeros(len(topic), dtype=np.int32)


@register_strategy(
    "stratified",
    citations=("yilmaz-kanoulas-aslam-2008",),
)
@dataclass(frozen=True, kw_only=True)
class Stratified(Sampling):
    """Random samples without replacement of strata, which are documents by best rank.

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
        """Refuse invalid depths and rates."""
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
        """Number of each document's stratum from 0, shape (document,)."""
        return np.searchsorted(self.depths, topic.best_rank).astype(np.int32)

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """The first ``n`` documents, strata in turns, each in the order of its lots."""
        stratum = self.stratum(topic)
        by_stratum = np.lexsort((topic.lot, stratum))
        places = self._judging_order(stratum)
        return by_stratum[places[:n]].astype(np.int32)

    def inclusion(
        self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator
    ) -> FloatArray:
        """Share of each document's stratum that is judged, shape (document,)."""
        stratum = self.stratum(topic)
        size = np.bincount(stratum, minlength=len(self.rates))
        judged = np.sort(stratum)[self._judging_order(stratum)[:n]]
        share = np.bincount(judged, minlength=len(self.rates)) / np.maximum(size, 1)
        return share[stratum]

    def _judging_order(self, stratum: IntArray) -> npt.NDArray[np.int64]:
        """Order in which places of documents sorted by stratum are judged, shape (document,)."""
        size = np.bincount(stratum, minlength=len(self.rates))
        n_before = np.concatenate([np.arange(s) for s in size])
        of_place = np.repeat(np.arange(len(size)), size)
        level = n_before / (np.array(self.rates)[of_place] * size[of_place])
        return np.lexsort((of_place, level))
