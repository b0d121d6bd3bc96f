"""Strategies by fused scores of the runs: CombMAX, MIN, MED, SUM, ANZ and MNZ."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayespool.arrays import FloatArray, IntArray
from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import FixedOrder, TopicRankings


@dataclass(frozen=True, kw_only=True)
class Fusion(FixedOrder):
    """Documents by a combination of their scores, normalized by run and topic.

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
        if not 0 <= self.constant <= 1:
            raise InputError(f"equal scores that count {self.constant}", hint="give 0 to 1")

    @property
    def needs_scores(self) -> bool:
        """Whether it reads the scores of the runs."""
        return self.normalization != "rank"

    @abstractmethod
    def combined(self, scores: DocumentScores) -> FloatArray:
        """Value of each document, shape (document,)."""

    def value(self, topic: TopicRankings) -> FloatArray:
        """Combined scores, shape (document,)."""
        is_ranked = topic.document >= 0
        document, score = topic.document[is_ranked], self._normalized(topic)[is_ranked]
        # by score within a document: sums do not depend on the order of runs
        by_document = np.lexsort((score, document))
        n = np.bincount(document, minlength=len(topic)).astype(np.int32)
        return self.combined(
            DocumentScores(document[by_document], score[by_document], n, len(topic.document))
        )

    def _normalized(self, topic: TopicRankings) -> FloatArray:
        """Scores from 0 to 1 where a run retrieves a document, shape (run, rank)."""
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
    """Nonnegative scores of a topic's documents, ascending for each document."""

    document: IntArray  # shape (entry,), ascending
    score: FloatArray  # shape (entry,)
    n: IntArray  # runs that retrieve each document, shape (document,)
    n_runs: int

    def total(self) -> FloatArray:
        """Sum of the scores of each document, shape (document,)."""
        total = np.bincount(self.document, weights=self.score, minlength=len(self.n))
        return np.asarray(total, dtype=np.float64)

    def n_positive(self) -> IntArray:
        """Number of positive scores of each document, shape (document,)."""
        return np.bincount(self.document[self.score > 0], minlength=len(self.n)).astype(np.int32)

    def at(self, place: IntArray, n: IntArray) -> FloatArray:
        """Score at a position among n, ascending, missing ones as leading zeros, shape (document,)."""
        start = np.cumsum(self.n) - self.n
        behind = place - (n - self.n)
        return np.where(behind < 0, 0, self.score[start + np.maximum(behind, 0)])

    def counted(self, missing: Literal["left out", "zero"]) -> IntArray:
        """Number of scores of each document, shape (document,), those of missing runs left out or zero."""
        return self.n if missing == "left out" else np.full_like(self.n, self.n_runs)


@register_strategy("combmax", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombMax(Fusion):
    """Documents by the largest of their scores; settings are those of `Fusion`."""

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Largest scores."""
        return scores.at(scores.n - 1, scores.n)


@register_strategy("combmin", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombMin(Fusion):
    """Documents by their smallest score, the largest of these first; see `Fusion` for other settings.

    Parameters
    ----------
    missing : {"left out", "zero"}
        Whether runs that lack a document count. The paper takes the minimum of the scores assigned by any
        system. The published tool takes zero for the others, which leaves most of the order to chance.
    """

    missing: Literal["left out", "zero"] = "left out"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Smallest scores."""
        return scores.at(np.zeros_like(scores.n), scores.counted(self.missing))


@register_strategy("combmed", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombMed(Fusion):
    """Documents by their median score, the mean of the middle two if even; see `Fusion` for other settings.

    Parameters
    ----------
    missing : {"left out", "zero"}
        Whether runs that lack a document count. The paper takes the median of the scores returned by systems,
        and finds that it takes from the top of runs as CombMAX does. The published tool takes zero for the
        others, so that the median is 0 unless about half of the runs have the document.
    """

    missing: Literal["left out", "zero"] = "left out"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Median scores."""
        n = scores.counted(self.missing)
        return (scores.at((n - 1) // 2, n) + scores.at(n // 2, n)) / 2


@register_strategy("combsum", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombSum(Fusion):
    """Documents by the sum of their scores; settings are those of `Fusion`."""

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Sums of scores."""
        return scores.total()


@register_strategy("combanz", citations=("fox-shaw-1994",))
@dataclass(frozen=True, kw_only=True)
class CombAnz(Fusion):
    """Documents by the mean of their scores, 0 where none counts; see `Fusion` for other settings.

    Parameters
    ----------
    count : {"positive", "retrieved"}
        Mean over the scores above 0 (the paper's "non-zero" ones, which exclude the last document of a run),
        or over those of all runs that retrieve the document.
    """

    count: Literal["positive", "retrieved"] = "positive"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Mean scores."""
        n = scores.n_positive() if self.count == "positive" else scores.n
        return scores.total() / np.maximum(n, 1)


@register_strategy(
    "combmnz",
    citations=("fox-shaw-1994",),
)
@dataclass(frozen=True, kw_only=True)
class CombMnz(Fusion):
    """Documents by the sum of their scores times their number; see `Fusion` for other settings.

    Parameters
    ----------
    count : {"retrieved", "positive"}
        The factor: the number of runs that retrieve the document (the paper), or of scores above 0 (the
        published tool).
    """

    count: Literal["retrieved", "positive"] = "retrieved"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """Sums of scores times their number."""
        return scores.total() * (scores.n_positive() if self.count == "positive" else scores.n)
