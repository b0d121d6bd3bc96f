"""What corrections by the labels of a second judge share: which judge, and rates of relevance by grade."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray, Judge
from bayespool.corrections.base import Corrected, FloatArray, PointCorrection, not_defined
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.ideals import place_of_level, ranked_levels
from bayespool.evidence.labels import TOP_OF_LABELS
from bayespool.evidence.states import reach_of

NO_JUDGE = "needs labels of a judge (--judge)"
"""Why a correction by labels has no value."""


@dataclass(frozen=True, kw_only=True)
class LabelCorrection(PointCorrection):
    """A correction by the labels of one second judge of the collection.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the one that the collection has.
    """

    judge: str | None = None

    def correct(self, collection: Collection, found: Bounds) -> Corrected:
        """`by_labels`; `not_defined` where the collection has no judge.

        Raises
        ------
        InputError
            See `judge_of`.
        """
        judge = judge_of(collection, self.judge, self.name)
        if judge is None:
            return not_defined(found, NO_JUDGE)
        return self.by_labels(collection, found, judge)

    @abstractmethod
    def by_labels(self, collection: Collection, found: Bounds, judge: Judge) -> Corrected:
        """Corrected per-topic values from bounds and the labels of a judge."""


def judge_of(collection: Collection, name: str | None, method: str) -> Judge | None:
    """The judge of that name, or without a name the only one; None where the collection has none.

    Raises
    ------
    InputError
        No judge has the name, or there are several and you name none.
    """
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


def opened_ranks(
    collection: Collection, found: Bounds, estimand: Any
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.bool_], IntArray]:
    """Relevance down to the cutoff as `ranked_levels` has it, which ranks have an unjudged document that may
    be relevant, and the documents; three arrays of shape (run, topic, rank).
    """
    index, cutoff = collection.run_index(found.run_ids), found.measure.cutoff
    level = ranked_levels(collection, index, cutoff)
    reach = reach_of(collection, index, cutoff, estimand)
    opened = (level == -1) & (np.arange(level.shape[2]) < reach[:, None, None])
    return level, opened, collection.document[index, :, :cutoff]


def hidden_documents(collection: Collection, depth: int) -> npt.NDArray[np.intp]:
    """Judged documents that one organization alone contributed and one of its runs ranks down to a depth, of
    30 at the least; each once.
    """
    _, _, _, pair, _ = held_out_documents(collection, cutoff=max(depth, TOP_OF_LABELS))
    return np.asarray(pair, dtype=np.intp)


def level_rates(
    collection: Collection, judge: Judge, pair: npt.NDArray[np.integer], levels: Sequence[int]
) -> FloatArray:
    """How often documents of each grade are at each level.

    Parameters
    ----------
    collection : Collection
    judge : Judge
    pair : ndarray of int, shape (document,)
        Judged documents, one at least.
    levels : sequence of int
        Ascending from 0. A document between two of them counts at the lower one.

    Returns
    -------
    ndarray of float, shape (grade + 1, level)
        The lowest grade first, the last row is that of all documents. It also stands for a grade that none of
        them has. A document without a label is in no other row, and its grade of −1 finds this one.
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
