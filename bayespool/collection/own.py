"""Judgments of one's own: all that were given, those that count, and why others do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from bayespool.collection.judges import find_pairs, topic_codes
from bayespool.collection.negatives import UNJUDGED, relevance_codes
from bayespool.collection.rankings import ranked
from bayespool.collection.records import Qrels
from bayespool.errors import InputError, InputWarning, warn_caller

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection

Of = TypeVar("Of", bound="Collection")

_NAMED = 5  # documents that a message has


@dataclass(frozen=True, eq=False, repr=False)
class OwnJudgments:
    """Judgments of one's own on documents of a collection.

    Attributes
    ----------
    relevance : ndarray of int16, shape (pair,)
        As given; negative where there is none.
    counts : ndarray of bool, shape (pair,)
        Which of them are judgments of the collection. The others are of documents that the qrels judge; they
        count once that judgment goes, because runs leave the pool.
    path : Path or None
        The file, the last of several.
    passed_over : tuple of str
        Those that do not count and never will, counted and named, with the reason.
    """

    relevance: npt.NDArray[np.int16]
    counts: npt.NDArray[np.bool_]
    path: Path | None = None
    passed_over: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("relevance", "counts"):
            array = getattr(self, name).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # arrays come out of a pickle writeable

    @property
    def waiting(self) -> npt.NDArray[np.bool_]:
        """Which of them do not count, because the qrels judge their documents, shape (pair,)."""
        return (self.relevance >= 0) & ~self.counts

    def without(self, gone: npt.NDArray[np.bool_]) -> OwnJudgments:
        """Without those that count on some documents, shape (pair,); those that wait are kept."""
        return dataclasses.replace(
            self,
            relevance=np.where(self.counts & gone, np.int16(UNJUDGED), self.relevance),
            counts=self.counts & ~gone,
        )


def remember(collection: Of, qrels: Qrels) -> Of:
    """The collection with judgments of one's own, which count where nobody has judged their document
    (`Collection.remember_judgments`).
    """
    topic = topic_codes(collection, qrels.query_id)
    line_pair = find_pairs(collection, qrels.query_id, qrels.doc_id)
    codes, _ = relevance_codes(qrels.relevance, collection.negatives.meaning)
    if len(codes) and not (codes >= 0).any():
        raise InputError(
            "no line is a judgment: none has a relevance of 0 or more",
            path=qrels.path,
            hint="−1 lists a document for an assessor, who fills in its relevance",
        )
    known = (line_pair >= 0) & (codes >= 0)
    if not known.any():
        raise InputError(
            "no judgment is of a document that a run retrieves",
            path=qrels.path,
            hint="are these the topics and documents of this collection?",
        )
    pair, value, own = line_pair[known], codes[known], _own_of(collection)
    before = own.relevance[pair]
    if len(otherwise := pair[(before >= 0) & (before != value)]):
        raise InputError(
            f"{_named(collection, otherwise[:1])} has relevance {own.relevance[otherwise[0]]} in other "
            "judgments of your own",
            path=qrels.path,
            hint="keep one of them",
        )
    relevance = own.relevance.copy()
    relevance[pair] = value
    useless = (codes >= 0) & (line_pair < 0)
    said = (
        *_count_lines(qrels, useless & (topic < 0), "of topics that the collection does not have"),
        *_count_lines(qrels, useless & (topic >= 0), "of documents that no run retrieves"),
    )
    own = OwnJudgments(relevance, own.counts, qrels.path, (*own.passed_over, *said))
    _warn_of_passed_over(own, said)
    return count_own(dataclasses.replace(collection, own=own))


def count_own(collection: Of) -> Of:
    """The collection with judgments of one's own on all unjudged documents that have one."""
    if collection.own is None:
        return collection
    new = np.flatnonzero(collection.own.waiting & (collection.relevance < 0))
    return with_own(collection, new, collection.own.relevance[new])


def with_own(collection: Of, pair: npt.NDArray[Any], value: npt.NDArray[Any]) -> Of:
    """The collection with judgments of one's own on these documents (`Collection.with_added`)."""
    relevance, added_for, own = collection.relevance.copy(), collection.added_for.copy(), _own_of(collection)
    of_own, counts = own.relevance.copy(), own.counts.copy()
    relevance[pair] = of_own[pair] = value
    added_for[pair] = _best_outside_the_pool(collection, pair)
    counts[pair] = True
    own = dataclasses.replace(own, relevance=of_own, counts=counts)
    return dataclasses.replace(collection, relevance=relevance, added_for=added_for, own=own)


def without_own(collection: Of) -> Of:
    """The collection as it was before judgments of one's own counted, all of which wait."""
    own = collection.own
    if own is None:
        return collection
    waiting = dataclasses.replace(own, counts=np.zeros_like(own.counts))
    return dataclasses.replace(collection.without_judgments(own.counts), own=waiting)


def check_own_judgments(collection: Collection) -> Collection:
    """The collection with those judgments of one's own alone that count, once its pool is settled.

    Raises
    ------
    InputError
        The qrels judge a document otherwise, or none of the judgments counts.

    Warns
    -----
    InputWarning
        Judgments of documents that the qrels judge, with their number and the first of them.
    """
    own = collection.own
    if own is None or not own.waiting.any():
        return collection
    refuse_contradictions(collection)
    if not own.counts.any():
        raise InputError(
            "no judgment is of an unjudged document that a run retrieves",
            path=own.path,
            hint="are these the topics and documents of this collection?",
        )
    waiting = np.flatnonzero(own.waiting)
    said = f"{len(waiting)} of documents that the qrels judge already ({_named(collection, waiting)})"
    _warn_of_passed_over(own, (said,))
    settled = dataclasses.replace(
        own,
        relevance=np.where(own.counts, own.relevance, np.int16(UNJUDGED)),
        passed_over=(*own.passed_over, said),
    )
    return dataclasses.replace(collection, own=settled)


def refuse_contradictions(collection: Collection) -> None:
    """Refuse judgments of one's own where the qrels have another relevance.

    Raises
    ------
    InputError
    """
    own = collection.own
    if own is None:
        return
    otherwise = np.flatnonzero(own.waiting & (own.relevance != collection.relevance))
    if len(otherwise):
        raise InputError(
            f"{_named(collection, otherwise[:1])} has relevance {collection.relevance[otherwise[0]]} in the "
            "qrels and another one here",
            path=own.path,
            hint="judgments of your own are for documents that nobody has judged; runs that are to leave the "
            "pool leave it first",
        )


def _own_of(collection: Collection) -> OwnJudgments:
    """Judgments of one's own, of which there may be none."""
    nothing = np.full(len(collection.relevance), UNJUDGED, dtype=np.int16)
    return collection.own or OwnJudgments(nothing, np.zeros(len(nothing), dtype=bool))


def _best_outside_the_pool(collection: Collection, pair: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The run outside the pool that ranks each document best, the first of equals; −1 where none does."""
    best = np.full(len(collection.relevance) + 1, collection.document.shape[2], dtype=np.int32)
    run = np.full(len(collection.relevance) + 1, -1, dtype=np.int32)
    for r in np.flatnonzero(~collection.pooled):
        document, ranks = ranked(collection.document, r)
        better = ranks < best[document]
        best[document[better]], run[document[better]] = ranks[better], r
    of_pair: npt.NDArray[np.int32] = run[pair]
    return of_pair


def _count_lines(qrels: Qrels, lines: npt.NDArray[np.bool_], what: str) -> tuple[str, ...]:
    """How many lines these are, if any, of what, and the first of them, for a message."""
    index = np.flatnonzero(lines)
    names = [(qrels.doc_id[int(i)].as_py(), qrels.query_id[int(i)].as_py()) for i in index[:_NAMED]]
    return (f"{len(index)} {what} ({_some_documents(names, len(index))})",) if len(index) else ()


def _named(collection: Collection, pairs: npt.NDArray[Any]) -> str:
    """The first of some documents with their topics, for a message."""
    first = [(collection.doc_id(p), collection.query_ids[collection.pair_topic[p]]) for p in pairs[:_NAMED]]
    return _some_documents(first, len(pairs))


def _some_documents(first: Sequence[tuple[str, str]], n: int) -> str:
    """The first of ``n`` documents with their topics, for a message."""
    said = ", ".join(f"document {doc_id} of topic {query_id}" for doc_id, query_id in first)
    return said + (f", and {n - _NAMED} more" if n > _NAMED else "")


def _warn_of_passed_over(own: OwnJudgments, said: tuple[str, ...]) -> None:
    """Warn of judgments that do not count, if there are any."""
    if said:
        warn_caller(
            f"{own.path or 'judgments of your own'}: passed over are {' and '.join(said)}", InputWarning
        )
