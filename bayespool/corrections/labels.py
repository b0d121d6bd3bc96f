"""Base class of corrections by labels of a second judge, and rates of relevance by grade."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, IntArray
from bayespool.collection import Collection, Judge
from bayespool.corrections.base import Corrected, PointCorrection, not_defined
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.evidence.held_out import held_out_documents, held_out_levels
from bayespool.evidence.ideals import place_of_level, tally_of
from bayespool.evidence.labels import TOP_OF_LABELS, is_other
from bayespool.measures import Additive, Normalized
from bayespool.measures.normalized import over

NO_JUDGE = "needs labels of a judge (--judge)"
"""Note of a correction by labels without a value."""
NOT_A_SUM = "defined for sums of gains"
"""Note under a measure that is no sum of gains."""


@dataclass(frozen=True, kw_only=True)
class LabelCorrection(PointCorrection):
    """A correction by the labels of one second judge of the collection.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.
    """

    judge: str | None = None

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """`by_labels`, or `not_defined` if the collection has no second judge.

        Raises
        ------
        InputError
            No judge has the name, or there are several and none is named.
        """
        judge = judge_of(collection, self.judge, self.name)
        if judge is None:
            return not_defined(bounds, NO_JUDGE)
        return self.by_labels(collection, bounds, judge)

    @abstractmethod
    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Corrected per-topic values from bounds and the labels of a judge."""


def judge_of(collection: Collection, name: str | None, method: str) -> Judge | None:
    """The judge of a name, or the only one; None without any, `InputError` if it is unknown or unclear."""
    judges = {judge.name: judge for judge in collection.judges}
    known = ", ".join(judges)
    if name is not None:
        if name not in judges:
            raise InputError(
                f"{method}: no judge {name!r}", hint=f"known: {known}" if known else "give labels: --judge"
            )
        return judges[name]
    if len(judges) > 1:
        raise InputError(
            f"{method}: there are {len(judges)} judges, name one",
            hint=f"{method}(judge={next(iter(judges))!r}); known: {known}",
        )
    return next(iter(judges.values()), None)


def hidden_documents(collection: Collection, depth: int) -> npt.NDArray[np.intp]:
    """Judged documents of one organization alone, ranked down to 30 or ``depth``, shape (document,)."""
    _, _, _, pair, _ = held_out_documents(collection, cutoff=max(depth, TOP_OF_LABELS))
    return np.asarray(pair, dtype=np.intp)


class KnownRanks(NamedTuple):
    """Ranks whose relevance is known, each array of shape (run, topic, rank).

    ``weight``: what a gain of 1 adds to the value, 0 where a rank does not count. ``gain``: by the judgment.
    ``document``: pair code.
    """

    weight: FloatArray
    gain: FloatArray
    document: IntArray

    def amounts(self) -> FloatArray:
        """What the ranks add to the value, shape (run, topic)."""
        return np.asarray((self.weight * self.gain).sum(axis=2))


def hidden_ranks(collection: Collection, measure: Additive, of_ranks: FloatArray) -> KnownRanks:
    """Ranks of pooled runs whose documents their organizations alone contributed, by `rank_weights`."""
    level, is_hidden = held_out_levels(collection, of_ranks.shape[1])
    document = collection.document[np.flatnonzero(collection.pooled), :, : of_ranks.shape[1]]
    gain = np.asarray(measure.gains(np.maximum(level, 0)), dtype=np.float64)
    return KnownRanks(np.where(is_hidden, of_ranks, 0.0), gain, document)


def rates_of_others(collection: Collection, judge: Judge, levels: Sequence[int]) -> FloatArray:
    """`level_rates` of judged documents that are not hidden; equal shares if there are none."""
    pair = np.flatnonzero(is_other(collection))
    if not len(pair):
        return np.full((len(judge.thresholds) + 2, len(levels)), 1 / len(levels))
    return level_rates(collection, judge, pair, levels)


def rank_weights(collection: Collection, measure: Additive, levels: Sequence[int], depth: int) -> FloatArray:
    """What a gain of 1 adds to the value at each rank, shape (topic, rank); over the judged ideal if any."""
    weights = np.asarray(measure.weights()[:depth] / measure.unit, dtype=np.float64)
    of_topic = np.tile(weights, (len(collection.query_ids), 1))
    if isinstance(measure, Normalized):
        return over(of_topic, measure.best(tally_of(collection, levels))[:, None])
    return of_topic


def level_rates(
    collection: Collection, judge: Judge, pair: npt.NDArray[np.integer], levels: Sequence[int]
) -> FloatArray:
    """Share of each level, ascending from 0, among judged documents by grade, shape (grade + 1, level).

    The last row is that of all documents, also used for empty grades; the grade −1 of no label selects it.
    """
    n_grades = len(judge.thresholds) + 1
    counts = np.zeros((n_grades + 1, len(levels)))
    at = place_of_level(collection.relevance[pair], levels)
    grade = judge.grade[pair]
    np.add.at(counts, (grade[grade >= 0], at[grade >= 0]), 1.0)
    counts[-1] = np.bincount(at, minlength=len(levels))
    counts[counts.sum(axis=1) == 0] = counts[-1]
    rates: FloatArray = counts / counts.sum(axis=1, keepdims=True)
    return rates
