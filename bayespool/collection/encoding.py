"""Encoding of the documents of runs as numbers, after which the text of a run can be discarded."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.collection.contents import some
from bayespool.collection.records import Qrels, Run
from bayespool.collection.resources import MEMORY, N_THREADS
from bayespool.errors import InputError

Order = Literal["score", "rank"]
_MAX_BYTES_OF_32_BIT_OFFSETS = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EncodedRun:
    """Rankings of a run, topic by topic, best document first but for ties; arrays of shape (line,)."""

    run_id: str
    path: Path | None
    length: npt.NDArray[np.int64]  # documents on each topic of the qrels, shape (topic,)
    document: npt.NDArray[np.int32]  # numbers of an `Encoding`, within a topic
    tied: npt.NDArray[np.bool_] | None  # with the document before; None if none is
    score: npt.NDArray[np.float32] | None  # None if scores are not kept


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs:
    """All pairs of a topic and a document, topic by topic, within a topic in byte order."""

    doc_ids: pa.StringArray | pa.LargeStringArray  # shape (pair,)
    n_present: npt.NDArray[np.int32]  # pairs of each topic, shape (topic,)
    first: npt.NDArray[np.int32]  # first pair of each topic, shape (topic,)
    of_number: npt.NDArray[np.int32]  # pair of each number of an `Encoding`, topic by topic, shape (pair,)
    judged: npt.NDArray[np.int32]  # pairs of the judgments, by topic in file order, shape (judgment,)


class Encoding:
    """Numbers of the documents of each topic of the qrels, in order of first occurrence, judged ones
    first.
    """

    def __init__(self, qrels: Qrels, *, order: Order = "score", scores: bool = False) -> None:
        self.query_ids = _query_ids(qrels)
        self.qrels = qrels
        self.order = order
        self._scores = scores
        self.judgments = _LinesByTopic(qrels, self.query_ids)
        self._ids: list[pa.StringArray] = [
            self.judgments.doc_ids.slice(*self.judgments.span(t)) for t in range(len(self.query_ids))
        ]

    def encode(self, runs: Sequence[Run]) -> list[EncodedRun]:
        """Encode runs, which drops their text; calls must not overlap."""
        for run in runs:
            if self.order == "rank" and run.rank is None:
                raise InputError(
                    f"run {run.run_id!r} has no ranks to order by",
                    path=run.path,
                    hint="order by score instead",
                )
        with ThreadPoolExecutor(N_THREADS) as threads:
            columns = list(threads.map(partial(_LinesByTopic, query_ids=self.query_ids), runs))
            numbers = [np.empty(int(column.n_lines.sum()), dtype=np.int32) for column in columns]
            list(threads.map(partial(self._number, columns, numbers), range(len(self.query_ids))))
            return list(threads.map(self._ordered, runs, columns, numbers))

    def _number(
        self, columns: Sequence[_LinesByTopic], numbers: Sequence[npt.NDArray[np.int32]], t: int
    ) -> None:
        """Number the documents of a topic."""
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

    def _ordered(self, run: Run, column: _LinesByTopic, number: npt.NDArray[np.int32]) -> EncodedRun:
        """Order a run by its scores or ranks."""
        key = _ascending(run.rank) if self.order == "rank" else _descending(run.score)
        topic = np.repeat(np.arange(len(column.n_lines), dtype=np.uint64), column.n_lines)
        packed = topic << np.uint64(32) | column.in_order(key)
        score = None
        if self._scores:
            with np.errstate(over="ignore"):
                score = column.in_order(run.score).astype(np.float32)
        if (packed[1:] < packed[:-1]).any():
            ranking = packed.argsort(axis=-1, kind="stable")
            packed, number = packed[ranking], number[ranking]
            score = None if score is None else score[ranking]
        tied = np.concatenate([[False], packed[1:] == packed[:-1]])
        return EncodedRun(run.run_id, run.path, column.n_lines, number, tied if tied.any() else None, score)

    def finish(self) -> Pairs:
        """Pairs of the numbers; the encoding cannot be used afterwards."""

        def sort(t: int) -> tuple[pa.StringArray, npt.NDArray[np.int32]]:
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
    """Lines of a run or of the qrels on topics of the qrels, topic by topic, within a topic in file
    order.
    """

    def __init__(self, source: Run | Qrels, query_ids: tuple[str, ...]) -> None:
        index = {q: t for t, q in enumerate(query_ids, start=1)}  # 0: other topics
        names = source.query_id.dictionary.to_pylist()
        topic = np.array([index.get(q, 0) for q in names], dtype=np.int32)[source.query_id.indices.to_numpy()]
        n_other, *n_lines = np.bincount(topic, minlength=len(query_ids) + 1).tolist()
        if not any(n_lines):
            raise InputError(
                f"none of its topics is in the qrels: it has {some(names)}, the qrels {some(query_ids)}",
                path=source.path,
                hint="are these the qrels of this run's topics?",
            )
        self.n_lines = np.array(n_lines)
        self._start = np.cumsum(self.n_lines) - self.n_lines
        if (topic[1:] >= topic[:-1]).all():
            self._lines: slice | npt.NDArray[np.intp] = slice(n_other, None)
            self.doc_ids = source.doc_id.slice(n_other)
        else:
            self._lines = np.argsort(topic, kind="stable")[n_other:]
            self.doc_ids = pc.take(source.doc_id, pa.array(self._lines), memory_pool=MEMORY)

    def span(self, t: int) -> tuple[int, int]:
        """First line of a topic and number of its lines."""
        return int(self._start[t]), int(self.n_lines[t])

    def in_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the lines of the source, shape (line,), in the order of these lines."""
        return values[self._lines]


def _query_ids(qrels: Qrels) -> tuple[str, ...]:
    """Topics of the qrels: numbers in numeric order, then other names in text order."""
    topics = {str(q) for q in qrels.query_id.unique().to_pylist()}

    def place(q: str) -> tuple[int, int, str, str]:
        digits = q.lstrip("0")  # a number of any length; a longer one is larger
        return (0, len(digits), digits, q) if q.isascii() and q.isdigit() else (1, 0, "", q)

    return tuple(sorted(topics, key=place))


def _ascending(rank: npt.NDArray[np.int32] | None) -> npt.NDArray[np.uint32]:
    assert rank is not None  # for the type checker: `Encoding.encode` has checked
    return (rank.astype(np.int64) + 2**31).astype(np.uint32)


def _descending(score: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Unsigned keys that ascend as the single-precision score descends, equal for equal floats (0.0 and
    −0.0 too).
    """
    with np.errstate(over="ignore"):
        bits = (score.astype(np.float32) + np.float32(0)).view(np.uint32)
    ascending = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
    return ~ascending


def _concatenated(ids: Sequence[pa.StringArray]) -> pa.StringArray | pa.LargeStringArray:
    """All ids in one array, with 64-bit offsets if 32 bits cannot count their bytes."""
    n_bytes = sum(part.nbytes for part in ids)
    if n_bytes > _MAX_BYTES_OF_32_BIT_OFFSETS:
        ids = [part.cast(pa.large_string(), memory_pool=MEMORY) for part in ids]
    return pa.concat_arrays(ids, memory_pool=MEMORY)
