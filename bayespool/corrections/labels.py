"""Base class of corrections by labels of a second judge, and rates of relevance by grade."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, Judge
from bayespool.corrections.base import Corrected, FloatArray, PointCorrection, not_defined
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.ideals import place_of_level
from bayespool.evidence.labels import TOP_OF_LABELS

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
