"""From runs and judgments that have been read to a `Collection`; the only place that orders a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.collection.contents import UNJUDGED, Collection, IntArray, some
from bayespool.errors import InputError
from bayespool.trec import Qrels, Run
from bayespool.trec.resources import MEMORY, N_THREADS

__all__ = ["Order", "build_collection"]

Order = Literal["score", "rank"]
_MOST_BYTES = 2**31 - 1  # of ids that 32-bit offsets can count


def build_collection(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    organizations: Mapping[str, str] | None = None,
    order: Order = "score",
    pooled_run_ids: Iterable[str] = (),
    pool_depth: int = 0,
) -> Collection:
    """A collection from runs and judgments that have been read.

    Parameters
    ----------
    runs : sequence of Run
        At least one; run ids distinct.
    qrels : Qrels
        The judgments; their topics are the topics. A negative relevance means unjudged.
    organizations : mapping of str to str, optional
        Run id to organization. A run that is missing counts as an organization of its own.
    order : {"score", "rank"}
        ``"score"`` is trec_eval's order: score descending in single precision, ties by document id
        descending; ``"rank"`` takes the ranks of the run files, which some campaigns pooled by.
    pooled_run_ids : iterable of str
        The runs that contributed to the pool; `bayespool.pool.discover_pool` finds them where they are not
        known.
    pool_depth : int
        Down to which rank they did.

    Returns
    -------
    Collection

    Raises
    ------
    InputError
        No run, two runs with one id, a run without any topic of the qrels, qrels without a relevant document,
        ranks asked for and not read.
    """
    _check(runs, qrels, order)
    query_ids = _query_ids(qrels)
    sort_key, columns = _stack(runs, qrels, query_ids, order)
    document = sort_key.view(np.int32)  # the same memory: the keys of a topic give way to its documents
    judgment = columns[-1].in_order(qrels.relevance)

    def on_topic(t: int) -> tuple[pa.StringArray, npt.NDArray[np.int16]]:
        """Documents of a topic in byte order, and their relevance; puts positions among them into the topic's
        rankings, best first.
        """
        ids_of_lines = pa.chunked_array([column.doc_ids.slice(*column.span(t)) for column in columns])
        chunks = pc.dictionary_encode(ids_of_lines, memory_pool=MEMORY).chunks
        ids, codes = chunks[-1].dictionary, np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
        n_lines = np.array([column.n_lines[t] for column in columns])
        retrieved, judged = np.split(codes, [len(codes) - n_lines[-1]])
        rankings = np.full((len(runs), document.shape[2]), -1, dtype=np.int32)
        rankings[np.arange(rankings.shape[1]) < n_lines[:-1, None]] = retrieved
        by_bytes = pc.sort_indices(ids, memory_pool=MEMORY)
        position = np.full(len(ids) + 1, -1, dtype=np.int32)  # the last is that of no document, −1
        position[by_bytes.to_numpy()] = np.arange(len(ids), dtype=np.int32)
        document[:, t] = _order(position[rankings], sort_key[:, t])
        relevance = np.full(len(ids), UNJUDGED, dtype=np.int16)
        first, n_judged = columns[-1].span(t)
        relevance[position[judged]] = np.maximum(judgment[first : first + n_judged], UNJUDGED)
        return pc.take(ids, by_bytes, memory_pool=MEMORY), relevance

    with ThreadPoolExecutor(N_THREADS) as threads:
        doc_ids, relevance = zip(*threads.map(on_topic, range(len(query_ids))), strict=True)
    n_present = np.array([len(ids) for ids in doc_ids], dtype=np.int32)
    np.add(document, (np.cumsum(n_present) - n_present)[:, None], out=document, where=document >= 0)
    run_ids = tuple(run.run_id for run in runs)
    organization_names, organization = _organizations(run_ids, organizations or {})
    pooled_ids = set(pooled_run_ids)
    return Collection(
        run_ids=run_ids,
        query_ids=query_ids,
        document=document,
        relevance=np.concatenate(relevance),
        pair_topic=np.repeat(np.arange(len(query_ids), dtype=np.int32), n_present),
        doc_ids=_concatenated(doc_ids),
        organizations=organization_names,
        organization=organization,
        pooled=np.array([run in pooled_ids for run in run_ids]),
        pool_depth=pool_depth,
        added_for=np.full(int(n_present.sum()), -1, dtype=np.int32),
    )


def _check(runs: Sequence[Run], qrels: Qrels, order: Order) -> None:
    if not runs:
        raise InputError("no runs given")
    if order not in ("score", "rank"):
        raise InputError(f"no order {order!r}", hint="score or rank")
    first: dict[str, Run] = {}
    for run in runs:
        if run.run_id in first:
            raise InputError(
                f"two runs are called {run.run_id!r}",
                path=run.path,
                hint=f"the other is {first[run.run_id].path}; rename one",
            )
        first[run.run_id] = run
        if order == "rank" and run.rank is None:
            raise InputError(
                f"run {run.run_id!r} has no ranks to order by", path=run.path, hint="order by score instead"
            )
    if not (qrels.relevance > 0).any():
        raise InputError("no document is relevant", path=qrels.path, hint="is this the right qrels file?")


def _query_ids(qrels: Qrels) -> tuple[str, ...]:
    """Topics of the qrels: numbers first, in their order, then other names in theirs."""
    topics = {str(q) for q in qrels.query_id.unique().to_pylist()}
    return tuple(sorted(topics, key=lambda q: (0, int(q), q) if q.isascii() and q.isdigit() else (1, 0, q)))


def _concatenated(ids: Sequence[pa.StringArray]) -> pa.StringArray | pa.LargeStringArray:
    """All ids in one array, one with 64-bit offsets where 32 bits cannot count their bytes."""
    n_bytes = sum(part.nbytes for part in ids)
    if n_bytes > _MOST_BYTES:
        ids = [part.cast(pa.large_string(), memory_pool=MEMORY) for part in ids]
    return pa.concat_arrays(ids, memory_pool=MEMORY)


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


def _stack(
    runs: Sequence[Run], qrels: Qrels, query_ids: tuple[str, ...], order: Order
) -> tuple[npt.NDArray[np.uint32], list[_Column]]:
    """Ascending sort keys in file order, shape (run, topic, rank); lines of all runs, then of the qrels."""
    with ThreadPoolExecutor(N_THREADS) as threads:
        columns = list(threads.map(partial(_Column, query_ids=query_ids), [*runs, qrels]))
        shape = (len(runs), len(query_ids), max(int(column.n_lines.max()) for column in columns[:-1]))
        sort_key = np.zeros(shape, dtype=np.uint32)

        def fill(r: int) -> None:
            key = _descending(runs[r].score) if order == "score" else _ascending(runs[r].rank)
            there = np.arange(shape[2]) < columns[r].n_lines[:, None]
            sort_key[r][there] = columns[r].in_order(key)

        list(threads.map(fill, range(len(runs))))
    return sort_key, columns


def _ascending(rank: IntArray | None) -> npt.NDArray[np.uint32]:
    assert rank is not None  # for the type checker: `_check` has asked
    return (rank.astype(np.int64) + 2**31).astype(np.uint32)


def _descending(score: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Keys that ascend as the single-precision score descends; equal floats, 0.0 and −0.0 among them, have
    equal keys.
    """
    with np.errstate(over="ignore"):
        bits = (score.astype(np.float32) + np.float32(0)).view(np.uint32)
    ascending = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
    return ~ascending


def _order(document: IntArray, key: npt.NDArray[np.uint32]) -> IntArray:
    """Rankings of one topic: by key ascending, then by document descending; one integer sort over (run,
    rank). The lower word stays under 2³¹, so that all bits set stand for no document.
    """
    mirrored = np.uint64(0x7FFFFFFF) - document.astype(np.uint32).astype(np.uint64)
    packed = np.where(
        document >= 0, (key.astype(np.uint64) << np.uint64(32)) | mirrored, np.uint64(2**64 - 1)
    )
    packed.sort(axis=1)
    ordered = (np.uint64(0x7FFFFFFF) - (packed & np.uint64(0x7FFFFFFF))).astype(np.int32)
    ordered[packed == np.uint64(2**64 - 1)] = -1
    return ordered


def _organizations(
    run_ids: Sequence[str], organization_of: Mapping[str, str]
) -> tuple[tuple[str, ...], IntArray]:
    taken = set(organization_of.values())  # a run without an organization does not join one of its name
    per_run = [organization_of.get(run, f"{run} (run)" if run in taken else run) for run in run_ids]
    names = tuple(sorted(set(per_run)))
    index = {name: i for i, name in enumerate(names)}
    return names, np.array([index[name] for name in per_run], dtype=np.int32)
