"""Strategies that sort documents by ranks or by fused scores of runs, before any judgment.

By best rank (Take@N, Depth@k), sums of rank weights (DCG, RRF), fused scores (CombMAX, MIN, MED, SUM, ANZ,
MNZ) and votes (Borda, Condorcet).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayespool.arrays import FloatArray, IntArray
from bayespool.compiled import compiled
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import FixedOrder, TopicRankings
from bayespool.validation import check_count, check_number


@register_strategy("take", citations=("lipani-etal-2017",))
@dataclass(frozen=True, kw_only=True)
class Take(FixedOrder):
    """Strategy that judges documents by their best rank in any run (Take@N)."""

    topics_compare = True

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the negative best rank for each document, shape (document,)."""
        return -topic.best_rank.astype(float)


@register_strategy("depth", citations=("sparck-jones-van-rijsbergen-1975",))
@dataclass(frozen=True, kw_only=True)
class Depth(Take):
    """Strategy that judges the top k documents from each run (Depth@k), best ranks first.

    Its size is that of the pool, so that it needs no budget. A smaller budget may end within a depth.

    Parameters
    ----------
    k : int, default 100
        Ranks of a run that are judged, 1 or more; the default is that of most TREC campaigns.
    """

    k: int = 100

    def __post_init__(self) -> None:
        check_count("depth: k", self.k)

    def size(self, topic: TopicRankings) -> int:
        """Return the number of documents in the top k ranks of any run."""
        return int((topic.best_rank <= self.k).sum())


@register_strategy("dcg", source="Lipani et al. 2017 (ECIR)", citations=("lipani-etal-2017-ecir",))
@dataclass(frozen=True, kw_only=True)
class DiscountedGain(FixedOrder):
    """Strategy that sorts documents by Σ 1 / log₂(rank + 1) over runs, their possible DCG contribution."""

    topics_compare = True

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the sum of rank discounts for each document, shape (document,)."""
        return topic.total(1 / np.log2(np.arange(2, topic.document.shape[1] + 2)))


@register_strategy("rrf", citations=("cormack-clarke-buttcher-2009",))
@dataclass(frozen=True, kw_only=True)
class RRF(FixedOrder):
    """Strategy that sorts documents by Σ 1 / (k + rank) over runs (reciprocal rank fusion).

    Parameters
    ----------
    k : int, default 60
        The larger, the less the first ranks stand out; 0 or more. The default is the paper's.
    """

    k: int = 60

    topics_compare = True

    def __post_init__(self) -> None:
        check_count("rrf: k", self.k, least=0)

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the reciprocal rank fusion score for each document, shape (document,)."""
        return topic.total(1 / (self.k + np.arange(1.0, topic.document.shape[1] + 1)))


@dataclass(frozen=True, kw_only=True)
class Fusion(FixedOrder):
    """Base class for strategies that sort documents by combined run scores, normalized per run and topic.

    Only scores of ranks that may be judged are read: with a depth, the last of these gets the smallest one.

    Parameters
    ----------
    normalization : {"min-max", "sum", "rank"}
        ``"min-max"``, the paper's: the highest score of a run on a topic becomes 1, the lowest 0. ``"sum"``:
        the lowest becomes 0, and all sum to 1. ``"rank"``: from 1 down to 1 / length, without scores.
    constant : float, default 1
        Normalized score where all scores of a run on a topic are equal, from 0 to 1. With 1 all are the run's
        best, with 0 the run says nothing. The paper leaves it open; the published tool leaves such scores
        unchanged.
    """

    normalization: Literal["min-max", "sum", "rank"] = "min-max"
    constant: float = 1.0

    topics_compare = True

    def __post_init__(self) -> None:
        check_number("constant", self.constant, least=0, most=1)

    @property
    def needs_scores(self) -> bool:
        """Whether the strategy reads run scores."""
        return self.normalization != "rank"

    @abstractmethod
    def combined(self, scores: DocumentScores) -> FloatArray:
        """Return the combined score for each document, shape (document,)."""

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the combined normalized score for each document, shape (document,)."""
        is_ranked = topic.document >= 0
        document, score = topic.document[is_ranked], self._normalized(topic)[is_ranked]
        # by score within a document: sums do not depend on the order of runs
        by_document = np.lexsort((score, document))
        n = np.bincount(document, minlength=len(topic)).astype(np.int32)
        return self.combined(
            DocumentScores(document[by_document], score[by_document], n, len(topic.document))
        )

    def _normalized(self, topic: TopicRankings) -> FloatArray:
        """Return scores normalized to [0, 1] for each run, shape (run, rank)."""
        is_ranked = topic.document >= 0
        if self.normalization == "rank":
            lower = np.arange(is_ranked.shape[1]) / np.maximum(topic.length, 1)[:, None]
            return np.asarray(1.0 - lower)
        largest = float(np.finfo(np.float32).max)
        # an infinite score would set all others to 0
        score = np.clip(topic.scores().astype(float), -largest, largest)
        lowest = np.where(is_ranked, score, np.inf).min(axis=1, initial=np.inf)
        above = np.where(is_ranked, score - np.where(topic.length > 0, lowest, 0)[:, None], 0)
        highest = above.max(axis=1, initial=0)
        above[highest == 0] = np.where(is_ranked[highest == 0], self.constant, 0)
        divisor = np.where(highest > 0, highest, 1) if self.normalization == "min-max" else above.sum(axis=1)
        return above / np.where(divisor > 0, divisor, 1)[:, None]


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """Normalized scores for one topic's documents, sorted in ascending order for each document."""

    document: IntArray  # shape (entry,), ascending
    score: FloatArray  # shape (entry,)
    n: IntArray  # runs that retrieve each document, shape (document,)
    n_runs: int

    def total(self) -> FloatArray:
        """Return the sum of scores for each document, shape (document,)."""
        total = np.bincount(self.document, weights=self.score, minlength=len(self.n))
        return np.asarray(total, dtype=np.float64)

    def n_positive(self) -> IntArray:
        """Return the number of positive scores for each document, shape (document,)."""
        return np.bincount(self.document[self.score > 0], minlength=len(self.n)).astype(np.int32)

    def at(self, place: IntArray, n: IntArray) -> FloatArray:
        """Return each document's score at index ``place`` of ``n`` ascending scores, shape (document,).

        Missing scores are zeros at the start.
        """
        start = np.cumsum(self.n) - self.n
        behind = place - (n - self.n)
        return np.where(behind < 0, 0, self.score[start + np.maximum(behind, 0)])

    def counted(self, missing: Literal["left out", "zero"]) -> IntArray:
        """Return the number of scores to combine for each document, shape (document,).

        Runs without the document are left out or count as zero.
        """
        return self.n if missing == "left out" else np.full_like(self.n, self.n_runs)


@register_strategy("combmax", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombMax(Fusion):
    """Strategy that sorts documents by their largest normalized score (settings: `Fusion`)."""

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Return the largest score for each document, shape (document,)."""
        return scores.at(scores.n - 1, scores.n)


@register_strategy("combmin", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombMin(Fusion):
    """Strategy that sorts documents by their smallest normalized score (other settings: `Fusion`).

    Parameters
    ----------
    missing : {"left out", "zero"}
        Whether runs that lack a document count. The paper takes the minimum of the scores assigned by any
        system. The published tool takes zero for the others, which leaves most of the order to chance.
    """

    missing: Literal["left out", "zero"] = "left out"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Return the smallest score for each document, shape (document,)."""
        return scores.at(np.zeros_like(scores.n), scores.counted(self.missing))


@register_strategy("combmed", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombMed(Fusion):
    """Strategy that sorts documents by their median normalized score (other settings: `Fusion`).

    Parameters
    ----------
    missing : {"left out", "zero"}
        Whether runs that lack a document count. The paper takes the median of the scores returned by systems,
        and finds that it takes from the top of runs as CombMAX does. The published tool takes zero for the
        others, so that the median is 0 unless about half of the runs have the document.
    """

    missing: Literal["left out", "zero"] = "left out"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Return the median score for each document, shape (document,)."""
        n = scores.counted(self.missing)
        return (scores.at((n - 1) // 2, n) + scores.at(n // 2, n)) / 2


@register_strategy("combsum", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombSum(Fusion):
    """Strategy that sorts documents by the sum of their normalized scores (settings: `Fusion`)."""

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Return the sum of scores for each document, shape (document,)."""
        return scores.total()


@register_strategy("combanz", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombAnz(Fusion):
    """Strategy that sorts documents by the mean of their normalized scores (other settings: `Fusion`).

    Parameters
    ----------
    count : {"positive", "retrieved"}
        Mean over the scores above 0 (the paper's "non-zero" ones, which exclude the last document of a run),
        or over those of all runs that retrieve the document.
    """

    count: Literal["positive", "retrieved"] = "positive"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Return the mean score for each document, shape (document,)."""
        n = scores.n_positive() if self.count == "positive" else scores.n
        return scores.total() / np.maximum(n, 1)


@register_strategy("combmnz", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombMnz(Fusion):
    """Strategy that sorts documents by the sum of their scores times the number of scores.

    Parameters
    ----------
    count : {"retrieved", "positive"}
        The factor: the number of runs that retrieve the document (the paper), or of scores above 0 (the
        published tool).
    """

    count: Literal["retrieved", "positive"] = "retrieved"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Return the sum of scores times the number of scores for each document, shape (document,)."""
        return scores.total() * (scores.n_positive() if self.count == "positive" else scores.n)


_ABSENT = np.iinfo(np.int32).max  # rank in a run that lacks a document


@register_strategy("borda", citations=("aslam-montague-2001",))
@dataclass(frozen=True, kw_only=True)
class Borda(FixedOrder):
    """Strategy that sorts documents by the sum of their ranks over all runs, smallest sum first.

    Parameters
    ----------
    missing : {"mean", "next", "nothing"}
        Rank in a run that lacks the document. ``"mean"``, Borda's rule in fusion and that of the published
        tool: the mean of the places that the run leaves free, (N + length + 1) / 2. ``"next"``: the place
        after its last document. ``"nothing"``: no rank, so that a document of one run goes before one of two
        (the sum over the systems that retrieve it, to the letter of Lipani et al. 2017).
    n_candidates : int, default 0
        N, the number of documents that a run could have retrieved, at least those that the runs retrieve on
        the topic, and by default (0) as many. The published tool takes the sum of their lengths.
    """

    missing: Literal["mean", "next", "nothing"] = "mean"
    n_candidates: int = 0

    def __post_init__(self) -> None:
        check_count("borda: n_candidates", self.n_candidates, least=0)

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the negative sum of ranks for each document, shape (document,)."""
        length = topic.length.astype(float)
        n = max(self.n_candidates, len(topic))
        absent = {"mean": (n + length + 1) / 2, "next": length + 1, "nothing": 0 * length}[self.missing]
        is_ranked = topic.document >= 0
        lower = np.broadcast_to(np.arange(1, is_ranked.shape[1] + 1) - absent[:, None], is_ranked.shape)[
            is_ranked
        ]
        # ranks and halves of them: the sums are exact in any order
        total = np.bincount(topic.document[is_ranked], weights=lower, minlength=len(topic))
        return np.asarray(-absent.sum() - total, dtype=np.float64)


@register_strategy("condorcet", citations=("montague-aslam-2002",))
@dataclass(frozen=True, kw_only=True)
class Condorcet(FixedOrder):
    """Strategy that puts document x before y if more runs rank x above y than y above x.

    Majorities may be cyclic (x before y before z before x). As in the paper, documents are then still sorted
    with about n log n comparisons: no document is directly below one that loses to it, so a document that
    beats all others is first, and a group whose every member beats every other document precedes those.
    Within a cycle the result depends on the sort, a stable merge sort from a first order, so that it is the
    same at each call.

    Parameters
    ----------
    missing : {"loses", "nothing"}
        The vote of a run that has one document of two. ``"loses"``, as in Montague & Aslam and the published
        tool: for the one that it has. ``"nothing"``: no vote, a reading of Lipani et al. 2017 ("if the two
        are not in the top k of the run, it neither adds nor subtracts"), which leaves most pairs without a
        vote. A run that has neither document never votes.
    ties : {"best rank", "lot"}
        The first order: by best rank, then lot, or at random alone.
    """

    missing: Literal["loses", "nothing"] = "loses"
    ties: Literal["best rank", "lot"] = "best rank"

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the negative index of each document in the sorted order, shape (document,)."""
        rank = np.ascontiguousarray(np.where(topic.rank > 0, topic.rank, _ABSENT).T)
        by_lot = np.argsort(topic.lot, kind="stable").astype(np.int32)
        first = topic.by_best_rank if self.ties == "best rank" else by_lot
        value = np.empty(len(topic))
        value[_by_majority(rank, first, self.missing == "loses")] = -np.arange(len(topic))
        return value


@compiled
def _by_majority(rank: IntArray, order: IntArray, missing_loses: bool) -> IntArray:
    """Return documents merge-sorted by majority vote, given ranks of shape (document, run)."""
    n, n_runs = rank.shape
    now, then = order.copy(), np.empty_like(order)
    width = 1
    while width < n:
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            left, right = first, middle
            for place in range(first, last):
                takes_right = left == middle
                if left < middle and right < last:
                    x, y = now[left], now[right]
                    votes = 0
                    for r in range(n_runs):
                        if missing_loses or max(rank[x, r], rank[y, r]) < _ABSENT:
                            votes += int(rank[y, r] < rank[x, r]) - int(rank[x, r] < rank[y, r])
                    takes_right = votes > 0
                if takes_right:
                    then[place] = now[right]
                    right += 1
                else:
                    then[place] = now[left]
                    left += 1
        now, then = then, now
        width *= 2
    return now
