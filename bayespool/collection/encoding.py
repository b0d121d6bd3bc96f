"""Documents of runs as numbers: what lets a collection forget the text of a run once it has been read."""

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
_MOST_BYTES = 2**31 - 1  # of ids that 32-bit offsets can count


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EncodedRun:
    """The rankings of a run, topic by topic, best document first but for ties.

    Attributes
    ----------
    run_id : str
    path : Path or None
    length : ndarray of int64, shape (topic,)
        Documents on each topic of the qrels.
    document : ndarray of int32, shape (line,)
        Documents as numbers of an `Encoding`, of a topic.
    tied : ndarray of bool, shape (line,), or None
        Whether a document is tied with the one before it; None where none is.
    score : ndarray of float32, shape (line,), or None
        Scores, where they are kept.
    """

    run_id: str
    path: Path | None
    length: npt.NDArray[np.int64]
    document: npt.NDArray[np.int32]
    tied: npt.NDArray[np.bool_] | None
    score: npt.NDArray[np.float32] | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs:
    """All pairs of a topic and a document, topic by topic, in each in byte order.

    Attributes
    ----------
    doc_ids : pyarrow.StringArray or LargeStringArray, shape (pair,)
    n_present, first : ndarray of int32, shape (topic,)
        How many of them a topic has, and which is its first.
    of_number : ndarray of int32, shape (pair,)
        The pair of each number of an `Encoding`, topic by topic.
    judged : ndarray of int32, shape (judgment,)
        The pairs of the judgments, topic by topic, in each in the order of the qrels.
    """

    doc_ids: pa.StringArray | pa.LargeStringArray
    n_present: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    of_number: npt.NDArray[np.int32]
    judged: npt.NDArray[np.int32]


class Encoding:
    """Numbers for the documents of each topic, in the order in which they are met.

    Parameters
    ----------
    qrels : Qrels
        Its topics are the topics. Its documents have the first numbers.
    order : {"score", "rank"}
        What runs are ordered by.
    scores : bool
        Whether scores are kept.
    """

    def __init__(self, qrels: Qrels, *, order: Order = "score", scores: bool = False) -> None:
        self.query_ids = _query_ids(qrels)
        self.qrels = qrels
        self.order = order
        self._scores = scores
        self.judgments = _Column(qrels, self.query_ids)
        self._ids: list[pa.StringArray] = [
            self.judgments.doc_ids.slice(*self.judgments.span(t)) for t in range(len(self.query_ids))
        ]

    def encode(self, runs: Sequence[Run]) -> list[EncodedRun]:
        """Runs without their texts; one call after the other.

        Raises
        ------
        InputError
            A run without any topic of the qrels, ranks asked for and not read.
        """
        for run in runs:
            if self.order == "rank" and run.rank is None:
                raise InputError(
                    f"run {run.run_id!r} has no ranks to order by",
                    path=run.path,
                    hint="order by score instead",
                )
        with ThreadPoolExecutor(N_THREADS) as threads:
            columns = list(threads.map(partial(_Column, query_ids=self.query_ids), runs))
            numbers = [np.empty(int(column.n_lines.sum()), dtype=np.int32) for column in columns]
            list(threads.map(partial(self._number, columns, numbers), range(len(self.query_ids))))
            return list(threads.map(self._ordered, runs, columns, numbers))

    def _number(self, columns: Sequence[_Column], numbers: Sequence[npt.NDArray[np.int32]], t: int) -> None:
        """Number the documents of a topic."""
        spans = [column.span(t) for column in columns]
        lines = [column.doc_ids.slice(*span) for column, span in zip(columns, spans, strict=True)]
        known = self._ids[t]
        chunks = pc.dictionary_encode(pa.chunked_array([known, *lines]), memory_pool=MEMORY).chunks
        self._ids[t] = chunks[-1].dictionary
        found = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])  # empty ones are left out
        end = len(known)
        for number, (start, n) in zip(numbers, spans, strict=True):
            number[start : start + n] = found[end : end + n]
            end += n

    def _ordered(self, run: Run, column: _Column, number: npt.NDArray[np.int32]) -> EncodedRun:
        """A run in the order of its scores or ranks."""
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
        """Pairs for the numbers. The encoding is of no use after that."""

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


class _Column:
    """Lines of a run, or of the qrels, on topics of the qrels: topic by topic, in each in file order."""

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
        if (topic[1:] >= topic[:-1]).all():  # the usual case
            self._lines: slice | npt.NDArray[np.intp] = slice(n_other, None)
            self.doc_ids = source.doc_id.slice(n_other)
        else:
            self._lines = np.argsort(topic, kind="stable")[n_other:]
            self.doc_ids = pc.take(source.doc_id, pa.array(self._lines), memory_pool=MEMORY)

    def span(self, t: int) -> tuple[int, int]:
        """First line of a topic and their number."""
        return int(self._start[t]), int(self.n_lines[t])

    def in_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What stands on the lines of the source, line by line as here."""
        return values[self._lines]


def _query_ids(qrels: Qrels) -> tuple[str, ...]:
    """Topics of the qrels: numbers first, in their order, then other names in theirs."""
    topics = {str(q) for q in qrels.query_id.unique().to_pylist()}

    def place(q: str) -> tuple[int, int, str, str]:
        digits = q.lstrip("0")  # a number of any length: the longer one is the larger
        return (0, len(digits), digits, q) if q.isascii() and q.isdigit() else (1, 0, "", q)

    return tuple(sorted(topics, key=place))


def _ascending(rank: npt.NDArray[np.int32] | None) -> npt.NDArray[np.uint32]:
    assert rank is not None  # for the type checker: `Encoding.encode` has asked
    return (rank.astype(np.int64) + 2**31).astype(np.uint32)


def _descending(score: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Keys that ascend as the single-precision score descends; equal floats, 0.0 and −0.0 among them, have
    equal keys.
    """
    with np.errstate(over="ignore"):
        bits = (score.astype(np.float32) + np.float32(0)).view(np.uint32)
    ascending = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
    return ~ascending


def _concatenated(ids: Sequence[pa.StringArray]) -> pa.StringArray | pa.LargeStringArray:
    """All ids in one array, one with 64-bit offsets where 32 bits cannot count their bytes."""
    n_bytes = sum(part.nbytes for part in ids)
    if n_bytes > _MOST_BYTES:
        ids = [part.cast(pa.large_string(), memory_pool=MEMORY) for part in ids]
    return pa.concat_arrays(ids, memory_pool=MEMORY)
