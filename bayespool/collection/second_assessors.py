"""Judgments of second assessors, on documents that the assessors of the qrels judged, too."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayespool.collection.judges import are_judgments, find_pairs
from bayespool.collection.records import UNJUDGED, Qrels, ReadOnlyArrays, relevance_codes
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.tables.formatting import counted

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection


@dataclass(frozen=True, eq=False, repr=False)
class SecondAssessors(ReadOnlyArrays):
    """Judgments of second assessors, and what is stated of how often levels change between assessors.

    Attributes
    ----------
    relevance : ndarray of int16, shape (pair,)
        Relevance by the second assessor of a document; negative where there is none.
    confusion : tuple of tuple of float
        Stated counts of documents by level of the first assessor (rows) and of the second; empty if nothing
        is stated.
    path : Path or None
        The file.
    """

    relevance: npt.NDArray[np.int16]
    confusion: tuple[tuple[float, ...], ...] = ()
    path: Path | None = None

    @property
    def judged(self) -> npt.NDArray[np.bool_]:
        """Whether a second assessor judged each document, shape (pair,)."""
        return self.relevance >= 0

    def without(self, gone: npt.NDArray[np.bool_]) -> SecondAssessors:
        """The judgments without those of documents ``gone``, shape (pair,)."""
        return dataclasses.replace(self, relevance=np.where(gone, np.int16(UNJUDGED), self.relevance))


def add_second_assessors(collection: Collection, qrels: Qrels) -> Collection:
    """Add judgments of second assessors to a collection.

    No measure counts them, and no estimate on these judgments changes. They tell what another assessor would
    have judged (:doc:`Another assessor </assessors>`). A judgment goes with the qrels' judgment of its
    document, where runs leave the pool.

    Parameters
    ----------
    collection : Collection
    qrels : Qrels
        A negative relevance has the meaning that it has in the collection's qrels.

    Raises
    ------
    InputError
        No document is judged by both, or the judgments are those of the qrels, on all documents.

    Warns
    -----
    InputWarning
        Judgments of documents that are neither judged in the qrels nor retrieved, with their number.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.collection import qrels_from_frame
    >>> example = load_example()
    >>> again = qrels_from_frame({example.query_ids[0]: {example.doc_id(0): 1}})
    >>> int(add_second_assessors(example, again).second.judged.sum())
    1
    """
    codes, _ = relevance_codes(qrels.relevance, collection.negatives.meaning)
    pair = find_pairs(collection, qrels.query_id, qrels.doc_id)
    is_known, is_judgment = pair >= 0, codes >= 0
    relevance = np.full(len(collection.relevance), UNJUDGED, dtype=np.int16)
    relevance[pair[is_known & is_judgment]] = codes[is_known & is_judgment]
    if not ((relevance >= 0) & collection.judged).any():
        raise InputError(
            "no document is judged by the second assessors and in the qrels",
            path=qrels.path,
            hint="are these judgments of the same topics and documents?",
        )
    is_of_all = bool((relevance >= 0)[collection.judged & ~collection.is_own].all())
    if is_of_all and are_judgments(collection, np.where(relevance >= 0, relevance, np.nan)):
        raise InputError(
            "the second assessors' judgments are those of the qrels: the same on all documents",
            path=qrels.path,
            hint="give judgments that other assessors made of some of these documents",
        )
    if n_lost := int((is_judgment & ~is_known).sum()):
        warn_caller(
            f"{qrels.path or 'second assessors'}: {counted(n_lost, 'judgment')} of documents that the qrels "
            "do not judge and no run retrieves are left out",
            InputWarning,
        )
    return dataclasses.replace(collection, second=SecondAssessors(relevance, path=qrels.path))


def with_confusion(collection: Collection, confusion: tuple[tuple[float, ...], ...]) -> Collection:
    """State how often levels change between assessors, with second judgments or without."""
    none = np.full(len(collection.relevance), UNJUDGED, dtype=np.int16)
    second = collection.second or SecondAssessors(none)
    return dataclasses.replace(collection, second=dataclasses.replace(second, confusion=confusion))
