"""Base class of corrections by labels of a second judge, and rates of relevance by grade."""

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
"""Note of a correction by labels without a value."""


@dataclass(frozen=True, kw_only=True)
class LabelCorrection(PointCorrection):
    """A correction by the labels of one second judge of the collection.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.
    """

    judge: str | None = None

    def correct(self, collection: Collection, found: Bounds) -> Corrected:
        """`by_labels`, or `not_defined` where the collection has no judge.

        Raises
        ------
        InputError
            No judge has the name, or there are several and none is named.
        """
        judge = judge_of(collection, self.judge, self.name)
        if judge is None:
            return not_defined(found, NO_JUDGE)
        return self.by_labels(collection, found, judge)

    @abstractmethod
    def by_labels(self, collection: Collection, found: Bounds, judge: Judge) -> Corrected:
        """Corrected per-topic values from bounds and the labels of a judge."""


def judge_of(collection: Collection, name: str | None, method: str) -> Judge | None:
    """The judge of a name, or the only one; None without any, `InputError` for an unknown name or a choice of
    several.
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
    collection: Collection, bounds: Bounds, estimand: Any
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.bool_], IntArray]:
    """Relevance down to the cutoff (`ranked_levels`), ranks of unjudged documents that may be relevant, and
    the documents; three arrays of shape (run, topic, rank).
    """
    index, cutoff = collection.run_index(bounds.run_ids), bounds.measure.cutoff
    level = ranked_levels(collection, index, cutoff)
    reach = reach_of(collection, index, cutoff, estimand)
    opened = (level == -1) & (np.arange(level.shape[2]) < reach[:, None, None])
    return level, opened, collection.document[index, :, :cutoff]


def hidden_documents(collection: Collection, depth: int) -> npt.NDArray[np.intp]:
    """Judged documents that one organization alone contributed, ranked by its runs down to a depth of at
    least 30; shape (document,).
    """
    _, _, _, pair, _ = held_out_documents(collection, cutoff=max(depth, TOP_OF_LABELS))
    return np.asarray(pair, dtype=np.intp)


def level_rates(
    collection: Collection, judge: Judge, pair: npt.NDArray[np.integer], levels: Sequence[int]
) -> FloatArray:
    """Share of each level among judged documents by grade, shape (grade + 1, level), from at least one
    document.

    The last row is that of all documents, also used for empty grades; a document without a label counts only
    there, and its grade of −1 selects it. Levels ascend from 0; a document between two of them counts at the
    lower one.
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
