"""Encode rankings and judgments as integer arrays."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.arrays import AnyArray, BoolArray, IndexArray, IntArray, OrderArray
from bayespool.collection.contents import some
from bayespool.collection.files import MEMORY, N_THREADS
from bayespool.collection.rankings import Ties, count_ties, topic_ranks
from bayespool.collection.records import Order, Qrels, RankConflict, Run
from bayespool.collection.scope import Exclusion, StrangeTopics, find_strange_topics, join_hint
from bayespool.errors import InputError

_TOP_RANKS = 10  # that warnings count apart
_MAX_BYTES_OF_32_BIT_OFFSETS = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EncodedRun:
    """Encoded run with documents sorted by topic and rank, in arrays of shape (line,), ties unresolved."""

    run_id: str
    path: Path | None
    length: IndexArray  # documents on each topic of the qrels, shape (topic,)
    document: IntArray  # numbers of an `Encoding`, within a topic
    tied: BoolArray | None  # with the document before; None if none is
    score: npt.NDArray[np.float32] | None  # None if scores are not kept
    conflict: RankConflict | None = None  # of ranks with the scores that order the run
    ties: Ties | None = None
    topics: StrangeTopics | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs:
    """All (topic, document) pairs, ordered by topic and document id."""

    doc_ids: pa.StringArray | pa.LargeStringArray  # shape (pair,)
    n_present: IntArray  # pairs of each topic, shape (topic,)
    first: IntArray  # first pair of each topic, shape (topic,)
    pair_by_number: IntArray  # pair of each number of an `Encoding`, topic by topic, shape (pair,)
    judged: IntArray  # pairs of the judgments, by topic in file order, shape (judgment,)


class Encoding:
    """Integer encoding for the documents retrieved or judged for each topic in the qrels."""

    def __init__(
        self,
        qrels: Qrels,
        *,
        order: Order = "score",
        scores: bool = False,
        exclusion: Exclusion | None = None,
    ) -> None:
        self.exclusion = exclusion
        self.query_ids = _query_ids(qrels)
        self.qrels = qrels
        self.order = order
        self._scores = scores
        self.judgments = _LinesByTopic(qrels, self.query_ids)
        self._ids: list[pa.StringArray] = [
            self.judgments.doc_ids.slice(*self.judgments.span(t)) for t in range(len(self.query_ids))
        ]

    def encode(self, runs: Sequence[Run]) -> list[EncodedRun]:
        """Encode runs as integers and drop their text; not thread-safe."""
        for run in runs:
            if self.order == "rank" and run.rank is None:
                raise InputError(
                    f"run {run.run_id!r} has no ranks to order by",
                    path=run.path,
                    hint="order by score instead",
                )
        if self.exclusion is not None:
            runs = [self.exclusion.take_out(run) for run in runs]
        with ThreadPoolExecutor(N_THREADS) as threads:
            columns = list(threads.map(partial(_LinesByTopic, query_ids=self.query_ids), runs))
            numbers = [np.empty(int(column.n_lines.sum()), dtype=np.int32) for column in columns]
            list(threads.map(partial(self._number, columns, numbers), range(len(self.query_ids))))
            return list(threads.map(self._ordered, runs, columns, numbers))

    def _number(self, columns: Sequence[_LinesByTopic], numbers: Sequence[IntArray], t: int) -> None:
        """Assign integer codes to the documents retrieved for one topic."""
        spans = [column.span(t) for column in columns]
        lines = [column.doc_ids.slice(*span) for column, span in zip(columns, spans, strict=True)]
        known = self._ids[t]
        chunks = pc.dictionary_encode(pa.chunked_array([known, *lines]), memory_pool=MEMORY).chunks
        self._ids[t] = chunks[-1].dictionary
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])  # chunks lack empty arrays
        end = len(known)
        for number, (start, n) in zip(numbers, spans, strict=True):
            number[start : start + n] = codes[end : end + n]
            end += n

    def _ordered(self, run: Run, column: _LinesByTopic, number: IntArray) -> EncodedRun:
        """Return a run encoded and ordered by scores or ranks."""
        key, topic = column.in_order(_keys(run, self.order)), column.topic
        score = None
        if self._scores:
            with np.errstate(over="ignore"):
                score = column.in_order(run.score).astype(np.float32)
        conflict = None
        if self.order != "rank" and run.rank is not None:
            conflict = _rank_conflict(run.run_id, topic, key, column.in_order(run.rank))
        if not _is_in_order(topic, key):
            ranking = np.lexsort((key, topic))
            key, number = key[ranking], number[ranking]
            score = None if score is None else score[ranking]
        tied = np.concatenate([[False], (topic[1:] == topic[:-1]) & (key[1:] == key[:-1])])
        return EncodedRun(
            run.run_id,
            run.path,
            column.n_lines,
            number,
            tied if tied.any() else None,
            score,
            conflict,
            count_ties(run.run_id, topic, key, by_score=self.order == "score"),
            find_strange_topics(run, self.query_ids),
        )

    def finish(self) -> Pairs:
        """Return the final (topic, document) pairs; the encoding cannot be used afterwards."""

        def sort(t: int) -> tuple[pa.StringArray, IntArray]:
            ids = self._ids[t]
            by_bytes = pc.sort_indices(ids, memory_pool=MEMORY)
            position = np.empty(len(ids), dtype=np.int32)
            position[by_bytes.to_numpy()] = np.arange(len(ids), dtype=np.int32)
            self._ids[t] = ids.slice(0, 0)
            return pc.take(ids, by_bytes, memory_pool=MEMORY), position

        with ThreadPoolExecutor(N_THREADS) as threads:
            doc_ids, positions = zip(*threads.map(sort, range(len(self.query_ids))), strict=True)
        n_present = np.array([len(ids) for ids in doc_ids], dtype=np.int32)
        first = np.cumsum(n_present, dtype=np.int32) - n_present
        for position, before in zip(positions, first, strict=True):
            position += before
        n_judged = self.judgments.n_lines.tolist()
        judged = [position[:n] for position, n in zip(positions, n_judged, strict=True)]
        return Pairs(
            _concatenated(doc_ids), n_present, first, np.concatenate(positions), np.concatenate(judged)
        )


class _LinesByTopic:
    """Lines of a run or qrels file grouped by topic, in file order within a topic."""

    def __init__(self, source: Run | Qrels, query_ids: tuple[str, ...]) -> None:
        index = {q: t for t, q in enumerate(query_ids, start=1)}  # 0: other topics
        names = source.query_id.dictionary.to_pylist()
        topic = np.array([index.get(q, 0) for q in names], dtype=np.int32)[source.query_id.indices.to_numpy()]
        n_other, *n_lines = np.bincount(topic, minlength=len(query_ids) + 1).tolist()
        if not any(n_lines):
            raise InputError(
                f"none of its topics is in the qrels: it has {some(names)}, the qrels {some(query_ids)}",
                path=source.path,
                hint=join_hint(names, query_ids) or "are these the qrels of this run's topics?",
            )
        self.n_lines = np.array(n_lines)
        self._start = np.cumsum(self.n_lines) - self.n_lines
        if (topic[1:] >= topic[:-1]).all():
            self._lines: slice | OrderArray = slice(n_other, None)
            self.doc_ids = source.doc_id.slice(n_other)
        else:
            self._lines = np.argsort(topic, kind="stable")[n_other:]
            self.doc_ids = pc.take(source.doc_id, pa.array(self._lines), memory_pool=MEMORY)

    @property
    def topic(self) -> IntArray:
        """Topic index for each line, in ascending order."""
        return np.repeat(np.arange(len(self.n_lines), dtype=np.int32), self.n_lines)

    def span(self, t: int) -> tuple[int, int]:
        """Return the index of a topic's first line and its number of lines."""
        return int(self._start[t]), int(self.n_lines[t])

    def in_order(self, values: AnyArray) -> AnyArray:
        """Return per-line data, shape (line,), reordered by topic."""
        return values[self._lines]


def _query_ids(qrels: Qrels) -> tuple[str, ...]:
    """Return the topics in the qrels, numeric ones in numeric order before the others in text order."""
    topics = {str(q) for q in qrels.query_id.unique().to_pylist()}

    def place(q: str) -> tuple[int, int, str, str]:
        digits = q.lstrip("0")  # a number of any length; a longer one is larger
        return (0, len(digits), digits, q) if q.isascii() and q.isdigit() else (1, 0, "", q)

    return tuple(sorted(topics, key=place))


def _keys(run: Run, order: Order) -> AnyArray:
    """Return the sort key for each line, which ascends from a run's first rank to its last."""
    if order == "rank":
        assert run.rank is not None  # for the type checker: `Encoding.encode` has checked
        return run.rank
    with np.errstate(over="ignore"):
        return -(run.score if order == "score" else run.score.astype(np.float32))


def _is_in_order(topic: IntArray, key: AnyArray) -> bool:
    """Return whether sort keys ascend within each topic."""
    return not ((key[1:] < key[:-1]) & (topic[1:] == topic[:-1])).any()


def _rank_conflict(run_id: str, topic: IntArray, by_score: AnyArray, rank: IntArray) -> RankConflict | None:
    """Count the ranks at which ordering by score and by rank differ; None if they agree."""
    if _is_in_order(topic, by_score) and _is_in_order(topic, rank):
        return None  # the lines are in either order, as in most files
    differs = np.lexsort((rank, by_score, topic)) != np.lexsort((by_score, rank, topic))
    is_top = topic_ranks(topic) < _TOP_RANKS
    n_places = int(differs.sum())
    return RankConflict(run_id, n_places, int(differs[is_top].sum()), int(is_top.sum())) if n_places else None


def _concatenated(ids: Sequence[pa.StringArray]) -> pa.StringArray | pa.LargeStringArray:
    """Return all document ids in one Arrow array, with 64-bit offsets if necessary."""
    n_bytes = sum(part.nbytes for part in ids)
    if n_bytes > _MAX_BYTES_OF_32_BIT_OFFSETS:
        ids = [part.cast(pa.large_string(), memory_pool=MEMORY) for part in ids]
    return pa.concat_arrays(ids, memory_pool=MEMORY)
