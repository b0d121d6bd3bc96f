"""Runs, judgments and labels as read from one file, and the treatment of negative relevance."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from bayespool.arrays import FloatArray, IntArray, LevelArray, OrderArray
from bayespool.errors import InputError, known_names
from bayespool.tables.formatting import counted


@dataclass(frozen=True, eq=False, repr=False)  # no instance equals another
class ReadOnlyArrays:
    """Base class for frozen dataclasses with read-only arrays."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(array := getattr(self, field.name), np.ndarray):
                array = array.view()
                array.flags.writeable = False
                object.__setattr__(self, field.name, array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


@dataclass(frozen=True, slots=True)
class Skipped:
    """Lines that ``strict=False`` skipped or changed for one reason.

    Attributes
    ----------
    path : Path
        The file.
    reason : str
        What was done and why. Only reasons that begin with ``skipped`` lost a line.
    n_lines : int
        Number of lines.
    first_line : int
        The first of them, counted from 1, which ``strict=True`` names for this reason. Of a document on
        several lines the second and later ones count, whichever line was kept.
    """

    path: Path
    reason: str
    n_lines: int
    first_line: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """Lines of one run in file order, not yet sorted into a ranking.

    Attributes
    ----------
    run_id : str
        Name of the run.
    query_id : pyarrow.DictionaryArray of int32 -> string, shape (line,)
    doc_id : pyarrow.StringArray, shape (line,)
        Topic and document of each line; each pair occurs once.
    score : ndarray of float64, shape (line,)
        Scores as written; never NaN, possibly infinite.
    rank : ndarray of int32, shape (line,), or None
        Ranks as written; None if they are missing or not integers.
    path : Path or None
        The file; None if there is none.
    skipped : tuple of Skipped
        Lines that ``strict=False`` left out.
    comments : tuple of str
        Lines of the file that begin with ``#``, without it, such as metadata in the form of ir_metadata.
    """

    run_id: str
    query_id: pa.DictionaryArray
    doc_id: pa.StringArray
    score: FloatArray
    rank: IntArray | None = None
    path: Path | None = None
    skipped: tuple[Skipped, ...] = ()
    comments: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Run {self.run_id}: {counted(len(self.doc_id), 'document')}, {_topics(self.query_id)}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Qrels:
    """Relevance judgments in file order.

    Attributes
    ----------
    query_id, doc_id, path, skipped
        As of a `Run`.
    relevance : ndarray of int16, shape (line,)
        Relevance as written; `Collection` interprets negative values.
    stratum : ndarray of int32, shape (line,), or None
    inclusion : ndarray of float64, shape (line,), or None
        Of published samples: the stratum that a document was sampled from, or the probability with which it
        was, NaN where there is none.
    over_topics : bool
        Whether strata go over all topics; else each topic's are sampled alone.
    """

    query_id: pa.DictionaryArray
    doc_id: pa.StringArray
    relevance: LevelArray
    path: Path | None = None
    skipped: tuple[Skipped, ...] = ()
    stratum: IntArray | None = None
    inclusion: FloatArray | None = None
    over_topics: bool = False

    @property
    def lacks_relevant(self) -> bool:
        """Whether no document is relevant, as few answers to a design may be, and what nobody judged is."""
        is_nobodys = self.path is None and not (self.relevance >= 0).any()
        return not ((self.relevance > 0).any() or is_nobodys or self.over_topics)

    def __repr__(self) -> str:
        return f"<Qrels: {counted(len(self.doc_id), 'judgment')}, {_topics(self.query_id)}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels:
    """Labels from an LLM judge in file order.

    Attributes
    ----------
    query_id, doc_id, path, skipped
        As of a `Run`.
    label : ndarray of float64, shape (line,)
        Labels as written, of any range; never NaN.
    """

    query_id: pa.DictionaryArray
    doc_id: pa.StringArray
    label: FloatArray
    path: Path | None = None
    skipped: tuple[Skipped, ...] = ()

    def without_failures(self) -> Labels:
        """Return the labels without failures, that is, −1 among whole-number labels from 0."""
        is_whole = ((self.label == np.floor(self.label)) & (self.label >= -1)).all()
        is_label = self.label >= 0
        if not is_whole or not (self.label == 0).any() or is_label.all():
            return self
        mask = pa.array(is_label)
        query_id, doc_id = self.query_id.filter(mask), self.doc_id.filter(mask)
        return replace(self, query_id=query_id, doc_id=doc_id, label=self.label[is_label])

    def __repr__(self) -> str:
        return f"<Labels: {counted(len(self.doc_id), 'document')}, {_topics(self.query_id)}>"


def _topics(query_id: pa.DictionaryArray) -> str:
    return counted(len(query_id.dictionary), "topic")


def topic_ranks(topic: IntArray) -> OrderArray:
    """Return the rank of each line within its topic, from 0, shape (line,)."""
    place = np.arange(len(topic))
    is_first = np.concatenate([[True], topic[1:] != topic[:-1]])[: len(topic)]
    return place - np.maximum.accumulate(np.where(is_first, place, 0))


UNJUDGED = -1
"""Relevance code for an unjudged document."""

LISTED = -2
"""Relevance code for an unjudged document that the qrels list as being in the pool."""

NEVER_JUDGED = -3
"""Relevance code for a document that an experiment's ground truth leaves unjudged and thus nonrelevant."""


Negative = Literal["listed", "sampled", "sampled-together", "unjudged", "nonrelevant"]
Order = Literal["score", "single-precision", "rank"]


@dataclass(frozen=True, slots=True)
class Negatives:
    """Number of negative relevance values in a qrels file, and their meaning (`build_collection`)."""

    meaning: Negative = "listed"
    n_minus_one: int = 0  # number of judgments of −1
    n_below: int = 0

    def __str__(self) -> str:
        below = "unjudged" if self.meaning == "unjudged" else "nonrelevant"
        minus_one = "nonrelevant" if self.meaning == "nonrelevant" else "unjudged"
        parts = [f"{self.n_minus_one} listed with relevance −1 ({minus_one})"] * (self.n_minus_one > 0)
        parts += [f"{self.n_below} below −1 ({below})"] * (self.n_below > 0)
        return ", ".join(parts)


NO_NEGATIVES = Negatives()


@dataclass(frozen=True, slots=True)
class RankConflict:
    """Number of ranks at which ordering a run by its ranks and by its scores gives different documents.

    Attributes
    ----------
    run_id : str
    n_places : int
        Places, over all topics, at which the two orders have different documents.
    n_top_places : int
        Those down to rank 10.
    n_top : int
        All places down to rank 10.
    """

    run_id: str
    n_places: int
    n_top_places: int
    n_top: int


def relevance_codes(relevance: LevelArray, meaning: Negative) -> tuple[LevelArray, Negatives]:
    """Return relevance codes (0 or more, `UNJUDGED`, `LISTED`), shape (line,), and a `Negatives` summary."""
    if meaning not in get_args(Negative):
        raise InputError(
            f"a negative relevance cannot be {meaning!r}", hint=known_names(meaning, get_args(Negative))
        )
    negatives = Negatives(meaning, int((relevance == -1).sum()), int((relevance < -1).sum()))
    codes: Any = relevance
    if meaning == "nonrelevant":
        codes = np.maximum(relevance, 0)
    elif meaning == "unjudged":
        codes = np.maximum(relevance, UNJUDGED)
    else:
        codes = np.where(relevance == -1, LISTED, np.maximum(relevance, 0))
    return codes.astype(np.int16), negatives
