"""Ragged rankings, and functions for both ragged and dense rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.arrays import AnyArray, BoolArray, IndexArray, IntArray, OrderArray
from bayespool.reading.files import check_memory
from bayespool.reading.records import ReadOnlyArrays, topic_ranks
from bayespool.tables.formatting import counted, some_of

_MAX_BYTES_ALWAYS_DENSE = 2**26
_MIN_RANKS_PER_DOCUMENT = 2  # of ragged rankings; a fuller array stays dense


@dataclass(frozen=True, eq=False, repr=False)
class Rankings(ReadOnlyArrays):
    """Ragged rankings, indexed like a dense array of shape (run, topic, rank) padded with ``end``."""

    values: AnyArray  # by runs, topics and ranks, shape (entry,)
    length: IntArray  # number of entries of each ranking, shape (run, topic)
    end: float  # −1 for documents, NaN for scores

    def __post_init__(self) -> None:
        super().__post_init__()
        start = np.cumsum(self.length, dtype=np.int64).reshape(self.length.shape) - self.length
        object.__setattr__(self, "_start", start)
        object.__setattr__(self, "_depth", int(self.length.max(initial=0)))

    def __repr__(self) -> str:
        n_runs, n_topics, depth = self.shape
        documents = f"{counted(len(self.values), 'document')} to rank {depth}"
        return f"<Rankings: {counted(n_runs, 'run')}, {counted(n_topics, 'topic')}, {documents}>"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of runs, number of topics, and length of the longest ranking."""
        n_runs, n_topics = self.length.shape
        depth: int = self.__dict__["_depth"]
        return n_runs, n_topics, depth

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return int(self.values.nbytes + self.length.nbytes + self.__dict__["_start"].nbytes)

    def __len__(self) -> int:
        return len(self.length)

    def __getitem__(self, key: Any) -> AnyArray:
        """Return the indexed rankings as a dense array."""
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) > 3 or any(part is Ellipsis or part is None for part in parts):
            raise IndexError("rankings are indexed by run, topic and rank")
        run, topic, rank = (*parts, slice(None), slice(None))[:3]
        length, start = self.length[run, topic], self.__dict__["_start"][run, topic]
        if isinstance(rank, slice):
            first, last, step = rank.indices(self.shape[2])
            if step != 1:
                raise IndexError("ranks are taken one after the other")
            return self._dense(np.asarray(start), np.asarray(length), first, max(first, last))
        if not isinstance(rank, int | np.integer) and any(isinstance(part, slice) for part in (run, topic)):
            raise IndexError("ranks in a list go with runs and topics in lists")
        wanted = np.asarray(rank)
        wanted = np.where(wanted < 0, wanted + self.shape[2], wanted)
        if ((wanted < 0) | (wanted >= self.shape[2])).any():
            raise IndexError(f"a rank is beyond the {self.shape[2]} that there are")
        exists = wanted < length
        entries = np.where(exists, self.values[np.where(exists, start + wanted, 0)], self.end)
        values: AnyArray = entries.astype(self.values.dtype)[()]
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Return the rankings as a dense array, shape (run, topic, rank)."""
        return self[:] if dtype is None else self[:].astype(dtype)

    def _dense(self, start: AnyArray, length: AnyArray, first: int, last: int) -> AnyArray:
        """Return ranks ``first`` to ``last − 1`` of the given rankings as a dense array, shape (…, rank)."""
        shape = (*length.shape, last - first)
        check_memory(
            int(np.prod(shape, dtype=np.int64)) * self.values.itemsize,
            f"{length.size:,} rankings in full, {shape[-1]:,} ranks each as the longest has,",
            "cut the longest runs, or ask for fewer ranks",
        )
        dense = np.full(shape, self.end, dtype=self.values.dtype)
        n = np.clip(length - first, 0, shape[-1])
        if n.any():
            dense[np.arange(shape[-1]) < n[..., None]] = self.values[_spans(start + first, n)]
        return dense


def is_ragged(length: npt.NDArray[np.integer]) -> bool:
    """Return whether rankings with these lengths, shape (run, topic), are stored as `Rankings`."""
    n_ranks = length.size * int(length.max(initial=0))
    n_documents = int(length.sum(dtype=np.int64))
    return 4 * n_ranks > _MAX_BYTES_ALWAYS_DENSE and n_ranks > _MIN_RANKS_PER_DOCUMENT * n_documents


def lengths(document: IntArray | Rankings) -> IntArray:
    """Return the number of documents each run retrieves for each topic, shape (run, topic)."""
    if isinstance(document, Rankings):
        return document.length
    return np.asarray((document >= 0).sum(axis=2, dtype=np.int32))


def longest(document: IntArray | Rankings, runs: npt.NDArray[np.integer] | int) -> list[int]:
    """Return the length of the longest ranking among these runs for each topic; the full depth if dense."""
    n_ranks = document.shape[2]
    if not isinstance(document, Rankings):
        return [n_ranks] * document.shape[1]
    n_by_topic: list[int] = document.length[np.atleast_1d(runs)].max(axis=0, initial=min(1, n_ranks)).tolist()
    return n_by_topic


def ranked(document: IntArray | Rankings, run: int | np.integer) -> tuple[IntArray, IntArray]:
    """Return a run's documents for all topics and their ranks from 0, in equal shapes; −1 for no document."""
    if not isinstance(document, Rankings):
        ranking = document[run]
        return ranking, np.broadcast_to(np.arange(ranking.shape[1], dtype=np.int32), ranking.shape)
    start, n = document.__dict__["_start"][run], document.length[run]
    first, n_all = int(start[0]) if len(start) else 0, int(n.sum(dtype=np.int64))
    rank = np.arange(first, first + n_all) - np.repeat(start, n)
    return document.values[first : first + n_all], rank.astype(np.int32)


def entries(document: IntArray | Rankings) -> tuple[IntArray, IndexArray]:
    """Return the documents of all rankings in a row, and where each ranking starts, shape (run, topic)."""
    if isinstance(document, Rankings):
        return document.values, document.__dict__["_start"]
    n_runs, n_topics, n_ranks = document.shape
    return document.reshape(-1), np.arange(n_runs * n_topics).reshape(n_runs, n_topics) * n_ranks


def within(
    document: IntArray | Rankings, runs: npt.NDArray[np.integer] | np.integer, depth: int | None
) -> IntArray:
    """Return the documents in the top ``depth`` ranks of these runs, in any shape; −1 for no document."""
    if not isinstance(document, Rankings):
        return document[np.atleast_1d(runs), :, :depth]
    n = document.length[runs] if depth is None else np.minimum(document.length[runs], depth)
    return document.values[_spans(document.__dict__["_start"][runs], n)]


def blocks(
    document: IntArray | Rankings, runs: npt.NDArray[np.integer] | int
) -> list[tuple[slice | OrderArray, int]]:
    """Return groups of topics with rankings of similar length, and the longest length in each group."""
    if not isinstance(document, Rankings):
        return [(slice(None), document.shape[2])]
    last = np.array(longest(document, runs))
    doubled = np.ceil(np.log2(np.maximum(last, 1)))
    together = [np.flatnonzero(doubled == d) for d in np.unique(doubled)]
    return [(topics, int(last[topics].max())) for topics in together]


def rows(document: AnyArray | Rankings, runs: npt.NDArray[np.integer]) -> AnyArray | Rankings:
    """Return the rankings for the given runs, dense or ragged like the input, shape (run, topic, rank).

    Parameters
    ----------
    document : ndarray of shape (run, topic, rank), or Rankings
    runs : ndarray of int
        Positions on the axis ``run``.
    """
    if not isinstance(document, Rankings):
        return np.asarray(document[runs])
    length = document.length[runs]
    return Rankings(document.values[_spans(document.__dict__["_start"][runs], length)], length, document.end)


def _spans(start: AnyArray, n: AnyArray) -> IndexArray:
    """Return the indices ``start`` to ``start + n − 1`` for each span, concatenated."""
    start, n = start.ravel(), n.ravel().astype(np.int64)
    before = np.cumsum(n) - n
    return np.repeat(start - before, n) + np.arange(int(n.sum()))


_TOP_RANKS = 10  # of the warning of equal ranks
_MOST_RUNS = 3  # that a note names


@dataclass(frozen=True, eq=False)
class Ties:
    """Number of topics with a tie at each rank in one run.

    Attributes
    ----------
    run_id : str
    n_topics : ndarray of int32, shape (rank,)
        Topics on which the document at a rank ties in the order of the run.
    n_if_rounded : ndarray of int32, shape (rank,)
        Topics on which it would tie if scores were rounded to single precision, as they are in trec_eval 9
        and pytrec_eval, and does not tie.
    """

    run_id: str
    n_topics: IntArray
    n_if_rounded: IntArray


def count_ties(run_id: str, topic: IntArray, key: AnyArray, *, by_score: bool) -> Ties | None:
    """Return the number of topics with a tie at each rank; None without ties."""
    tied = _is_tied(topic, key)
    rounded = np.zeros_like(tied)
    if by_score:
        with np.errstate(over="ignore"):
            rounded = _is_tied(topic, key.astype(np.float32)) & ~tied
    if not tied.any() and not rounded.any():
        return None
    rank = topic_ranks(topic)
    n_tied, if_rounded = (np.bincount(rank[each]).astype(np.int32) for each in (tied, rounded))
    return Ties(run_id, n_tied, if_rounded)


def continues(topic: IntArray, key: AnyArray) -> BoolArray:
    """Return whether each line has the topic and the key of the line before, shape (line,)."""
    return np.concatenate([[False], (topic[1:] == topic[:-1]) & (key[1:] == key[:-1])])


def _is_tied(topic: IntArray, key: AnyArray) -> BoolArray:
    """Return whether each line's document ties with a neighbor in the ranking, shape (line,)."""
    tied = continues(topic, key)
    tied[:-1] |= tied[1:]
    return tied


def most_tied(n: dict[str, int], n_ranks: dict[str, int]) -> str:
    """Return run names with their numbers of ties as text, most ties first; '' if there are none."""
    order = sorted((run for run in n if n[run]), key=lambda run: -n[run])
    return some_of((f"{run} {n[run]:,} of {n_ranks[run]:,}" for run in order), _MOST_RUNS)


def unranked_note(run_ids: Sequence[str]) -> str:
    """Return a note on runs without the ranks that order the others, or ''."""
    if not run_ids:
        return ""
    has, it, its = ("has", "it is", "its") if len(run_ids) == 1 else ("have", "they are", "their")
    runs = some_of(run_ids, _MOST_RUNS)
    return f"{runs} {has} no ranks: {it} ordered by {its} scores, in spite of order=rank"


def equal_rank_note(ties: Sequence[Ties], n_runs: int) -> str:
    """Return a note on equal ranks in runs that are ordered by rank, or ''."""
    n = {each.run_id: int(each.n_topics[:_TOP_RANKS].sum()) for each in ties}
    if not n:
        return ""
    most = max(n, key=lambda run: n[run])
    return (
        f"ranks are equal on a topic in {len(n)} of {counted(n_runs, 'run')}"
        f"{', most often in' if len(n) > 1 else ','} {most} ({counted(n[most], 'place')} of the top "
        f"{_TOP_RANKS}); such documents are in the order of their ids, descending, unless scores order runs "
        "(--reading order=score, order='score')"
    )
