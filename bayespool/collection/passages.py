"""Runs whose ids the judgments do not have: passages of judged documents, and documents of another kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.arrays import BoolArray, IntArray
from bayespool.collection.collection import Collection
from bayespool.collection.rankings import Rankings, within
from bayespool.errors import InputError, some
from bayespool.reading.files import MEMORY
from bayespool.reading.lines import kept_lines, run_layout
from bayespool.reading.records import Run
from bayespool.reading.scope import select_lines

Documents = Literal["as-named", "best-passage"]
"""Meanings of ids in runs: documents, or passages, of which the best counts for its document."""

_BETWEEN, _WORD = r"[_\-.:/@|~%]", r"(?:[A-Za-z]{1,8}[_\-.:]?)?"
_SUFFIXES = (
    r"^(.+?)#.*$",
    rf"^(.+?){_BETWEEN}+{_WORD}[0-9]+$",
    rf"^(.+?){_BETWEEN}+{_WORD}[0-9]+{_BETWEEN}+{_WORD}[0-9]+$",  # a passage's first and last word
    r"^(.*[0-9])v[0-9]+$",
)
"""Regular expressions of ids with a suffix; the group is the document."""
_TOP_RANKS = 10
_LEAST_SHARE = 0.1  # of the top ranks, for a finding
_LEAST_SHARE_CUT = 0.05  # of a run's known documents, for a suffix to be cut
_REMEDY = "--reading documents=best-passage (documents='best-passage')"


def cut_suffixes(ids: pa.StringArray, named: pa.StringArray) -> tuple[pa.StringArray, BoolArray]:
    """Return ids without the suffix that makes most of them named, and whether each is named by that.

    Examples
    --------
    >>> cut, joins = cut_suffixes(pa.array(["d_1#0", "d_2#7", "e-3"]), pa.array(["d_1", "d_2"]))
    >>> cut.to_pylist(), joins.tolist()
    (['d_1', 'd_2', 'e-3'], [True, True, False])
    """
    best, best_joins = ids, np.zeros(len(ids), dtype=bool)
    for pattern in _SUFFIXES:
        cut = pc.replace_substring_regex(ids, pattern=pattern, replacement=r"\1", memory_pool=MEMORY)
        joins = pc.and_(pc.is_in(cut, value_set=named), pc.not_equal(cut, ids))
        joined = joins.to_numpy(zero_copy_only=False)
        if joined.sum() > best_joins.sum():
            best, best_joins = cut, joined
    return best, best_joins


def best_passages(run: Run, named: pa.StringArray, *, by_rank: bool) -> Run:
    """Return a run of passages as one of documents, each at the rank of its best passage.

    Ids that the judgments name stay as they are.
    """
    is_named = pc.is_in(run.doc_id, value_set=named)
    cut, joins = cut_suffixes(run.doc_id, named)
    n_named = int(is_named.to_numpy(zero_copy_only=False).sum())
    if joins.sum() <= _LEAST_SHARE_CUT * (n_named + joins.sum()):
        return run
    documents = pc.if_else(is_named, run.doc_id, cut)
    layout = run_layout(ranks=by_rank, tag=False)
    kept = kept_lines(run.query_id, documents, run.score, run.rank, layout)
    return select_lines(dataclasses.replace(run, doc_id=documents), kept)


@dataclass(frozen=True)
class PassageIds:
    """Ids at the top of a run that the judgments name once a suffix is cut.

    Attributes
    ----------
    run_id : str
    n_top, n_judged, n_joined : int
        Documents in the top 10 of all topics, those judged, and those that would be.
    passage, document : str
        An id of the run, and the document's in the judgments.
    """

    run_id: str
    n_top: int
    n_judged: int
    n_joined: int
    passage: str
    document: str

    @property
    def note(self) -> str:
        """Note on the ids."""
        return (
            f"{self.run_id}: {self.n_joined:,} of the {self.n_top:,} documents in its top {_TOP_RANKS} would "
            f"be judged if a suffix were cut, such as {self.passage} of the run ({self.document} in the "
            f"judgments); {_REMEDY} scores each document at the rank of its best passage"
        )


def find_passages(
    run_ids: Sequence[str],
    document: IntArray | Rankings,
    judged: BoolArray,
    doc_ids: pa.StringArray | pa.LargeStringArray,
) -> list[PassageIds]:
    """Return the runs a tenth of whose top documents would be judged if a suffix were cut."""
    top = document[:, :, :_TOP_RANKS]
    is_there = top >= 0
    is_judged = is_there & np.append(judged, False)[top]
    n_top, n_judged = (mask.sum(axis=(1, 2)) for mask in (is_there, is_judged))
    matches = list[PassageIds]()
    named = None
    for r in np.flatnonzero(n_top - n_judged >= np.maximum(_LEAST_SHARE * n_top, 1)).tolist():
        if named is None:
            named = doc_ids.filter(pa.array(judged)).cast(pa.string()).unique()
        ids = doc_ids.take(pa.array(top[r][is_there[r] & ~is_judged[r]])).cast(pa.string())
        cut, joins = cut_suffixes(ids, named)
        if (n_joined := int(joins.sum())) and n_joined >= _LEAST_SHARE * n_top[r]:
            first = int(joins.argmax())
            numbers = int(n_top[r]), int(n_judged[r]), n_joined
            matches.append(PassageIds(run_ids[r], *numbers, ids[first].as_py(), cut[first].as_py()))
    return matches


def refuse_passages(matches: Iterable[PassageIds]) -> None:
    """Raise `InputError` for a run of passages of which nothing is judged."""
    for each in matches:
        if not each.n_judged:
            raise InputError(
                f"run {each.run_id}: no document of its top {_TOP_RANKS} is judged, and {each.n_joined:,} of "
                f"{each.n_top:,} would be if a suffix were cut, such as {each.passage} of the run "
                f"({each.document} in the judgments)",
                hint=f"score each document at the rank of its best passage: {_REMEDY}",
            )


def refuse_unjudged_runs(collection: Collection, run_ids: Iterable[str]) -> None:
    """Raise `InputError` for a run of which no document is judged or labeled."""
    known = collection.judged.copy()
    for judge in collection.judges:
        known |= judge.is_labeled
    for r in collection.run_index(run_ids):
        document = within(collection.document, np.array([r]), None)
        retrieved = np.unique(document[document >= 0])
        if known[retrieved].any():
            continue
        theirs, ours = (
            [collection.doc_id(int(pair)) for pair in pairs[:4]]
            for pairs in (np.flatnonzero(collection.judged), retrieved)
        )
        raise InputError(
            f"no document of run {collection.run_ids[r]} is judged: it has {some(ours)}, and the judgments "
            f"{some(theirs)}",
            hint="give the run with the ids of the judgments, or judgments of its documents (--qrels, "
            f"--own-judgments); runs of passages are read with {_REMEDY}",
        )
