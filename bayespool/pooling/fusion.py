"""Strategies by scores of the runs, put together as in fusion: CombMAX, MIN, MED, SUM, ANZ and MNZ."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayespool.collection import IntArray
from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.retrieved import Retrieved
from bayespool.pooling.strategy import FixedOrder, FloatArray


@dataclass(frozen=True, kw_only=True)
class Fusion(FixedOrder):
    """Documents by a combination of their scores, made comparable run by run on each topic.

    Scores are those of the ranks that may be judged: with a depth, the last of these gets the smallest one.

    Parameters
    ----------
    normalization : {"min-max", "sum", "rank"}
        ``"min-max"``, the paper's: the highest score of a run on a topic becomes 1, the lowest 0. ``"sum"``:
        the lowest becomes 0, and all add up to 1. ``"rank"``: the rank counts and no score is read, from 1
        down to 1 / length.
    constant : float, default 1
        Where all scores of a run on a topic are equal (a single document, for one): how far each counts as
        above the lowest, from 0 to 1. With 1 all are the run's best, with 0 the run says nothing. The paper
        leaves it open. The published tool leaves such scores as they are.
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

    def value(self, topic: Retrieved) -> FloatArray:
        """The combined scores."""
        there = topic.document >= 0
        document, score = topic.document[there], self._normalized(topic)[there]
        # by score within a document: sums do not depend on the order of runs
        by_document = np.lexsort((score, document))
        n = np.bincount(document, minlength=len(topic)).astype(np.int32)
        return self.combined(
            DocumentScores(document[by_document], score[by_document], n, len(topic.document))
        )

    def _normalized(self, topic: Retrieved) -> FloatArray:
        """Scores from 0 to 1 where a run retrieves a document, shape (run, rank)."""
        there = topic.document >= 0
        if self.normalization == "rank":
            lower = np.arange(there.shape[1]) / np.maximum(topic.length, 1)[:, None]
            return np.asarray(1.0 - lower)
        most = float(np.finfo(np.float32).max)
        score = np.clip(topic.scores().astype(float), -most, most)  # no infinity: it would leave no others
        lowest = np.where(there, score, np.inf).min(axis=1, initial=np.inf)
        above = np.where(there, score - np.where(topic.length > 0, lowest, 0)[:, None], 0)
        highest = above.max(axis=1, initial=0)
        above[highest == 0] = np.where(there[highest == 0], self.constant, 0)
        divisor = np.where(highest > 0, highest, 1) if self.normalization == "min-max" else above.sum(axis=1)
        normalized: FloatArray = above / np.where(divisor > 0, divisor, 1)[:, None]
        return normalized


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """Scores that documents of a topic have, none below 0.

    Attributes
    ----------
    document : ndarray of int32, shape (entry,)
        Ascending.
    score : ndarray of float, shape (entry,)
        Ascending within a document.
    n : ndarray of int32, shape (document,)
        How many runs retrieve each document, 1 or more.
    n_runs : int
        How many contribute.
    """

    document: IntArray
    score: FloatArray
    n: IntArray
    n_runs: int

    def total(self) -> FloatArray:
        """Sum of the scores of each document."""
        total = np.bincount(self.document, weights=self.score, minlength=len(self.n))
        return np.asarray(total, dtype=np.float64)

    def n_positive(self) -> IntArray:
        """How many scores of each document are above 0."""
        return np.bincount(self.document[self.score > 0], minlength=len(self.n)).astype(np.int32)

    def at(self, place: IntArray, n: IntArray) -> FloatArray:
        """The score at a place, from 0, among n of each document in ascending order; where n is larger than
        the number of runs that retrieve the document, zeros come first.
        """
        start = np.cumsum(self.n) - self.n
        behind = place - (n - self.n)
        at: FloatArray = np.where(behind < 0, 0, self.score[start + np.maximum(behind, 0)])
        return at

    def counted(self, missing: Literal["left out", "zero"]) -> IntArray:
        """How many scores each document has if runs that lack it give none, or zero."""
        return self.n if missing == "left out" else np.full_like(self.n, self.n_runs)


@register_strategy("combmax", description="by the largest score", source="Fox & Shaw 1994")
@dataclass(frozen=True, kw_only=True)
class CombMax(Fusion):
    """Documents by the largest of their scores; settings are those of `Fusion`."""

    def combined(self, scores: DocumentScores) -> FloatArray:
        """The largest score."""
        return scores.at(scores.n - 1, scores.n)


@register_strategy("combmin", description="by the smallest score", source="Fox & Shaw 1994")
@dataclass(frozen=True, kw_only=True)
class CombMin(Fusion):
    """Documents by the smallest of their scores, the largest of these first; see `Fusion` for other settings.

    Parameters
    ----------
    missing : {"left out", "zero"}
        Whether runs that lack a document count. The paper takes the minimum of the scores assigned by any
        system. The published tool takes zero for runs that lack the document, which leaves the order to
        chance unless every run has it.
    """

    missing: Literal["left out", "zero"] = "left out"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """The smallest score."""
        return scores.at(np.zeros_like(scores.n), scores.counted(self.missing))


@register_strategy("combmed", description="by the median score", source="Fox & Shaw 1994")
@dataclass(frozen=True, kw_only=True)
class CombMed(Fusion):
    """Documents by the median of their scores, of an even number the mean of the middle two; see `Fusion` for
    other settings.

    Parameters
    ----------
    missing : {"left out", "zero"}
        Whether runs that lack a document count. The paper takes the median of the scores returned by systems,
        and finds that it takes from the top of runs as CombMAX does. The published tool takes zero for runs
        that lack the document, so that the median is 0 unless about half of the runs have it.
    """

    missing: Literal["left out", "zero"] = "left out"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """The median score."""
        n = scores.counted(self.missing)
        return (scores.at((n - 1) // 2, n) + scores.at(n // 2, n)) / 2


@register_strategy("combsum", description="by the sum of scores", source="Fox & Shaw 1994")
@dataclass(frozen=True, kw_only=True)
class CombSum(Fusion):
    """Documents by the sum of their scores; settings are those of `Fusion`."""

    def combined(self, scores: DocumentScores) -> FloatArray:
        """The sum."""
        return scores.total()


@register_strategy("combanz", description="by the mean of the scores above 0", source="Fox & Shaw 1994")
@dataclass(frozen=True, kw_only=True)
class CombAnz(Fusion):
    """Documents by the mean of their scores, 0 where none counts; see `Fusion` for other settings.

    Parameters
    ----------
    count : {"positive", "retrieved"}
        The mean is over the scores above 0 (the paper's "non-zero" ones, which the last document of a run
        does not have), or over those of all runs that retrieve the document.
    """

    count: Literal["positive", "retrieved"] = "positive"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """The mean."""
        n = scores.n_positive() if self.count == "positive" else scores.n
        return scores.total() / np.maximum(n, 1)


@register_strategy(
    "combmnz", description="by the sum of scores, times how many runs retrieve it", source="Fox & Shaw 1994"
)
@dataclass(frozen=True, kw_only=True)
class CombMnz(Fusion):
    """Documents by the sum of their scores times how many there are; see `Fusion` for other settings.

    Parameters
    ----------
    count : {"retrieved", "positive"}
        What the sum is multiplied by: the number of runs that retrieve the document (the paper), or of scores
        above 0 (the published tool).
    """

    count: Literal["retrieved", "positive"] = "retrieved"

    def combined(self, scores: DocumentScores) -> FloatArray:
        """The sum times the number."""
        return scores.total() * (scores.n_positive() if self.count == "positive" else scores.n)
