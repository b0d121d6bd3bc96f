"""From runs and judgments that have been read to a `Collection`; the only place that orders a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.collection.contents import Collection, IntArray, some
from bayespool.collection.negatives import UNJUDGED, Negative, relevance_codes
from bayespool.collection.pools import DepthPool
from bayespool.collection.rankings import Rankings, is_ragged
from bayespool.errors import InputError
from bayespool.memory import check_memory
from bayespool.trec import (
    Judgments,
    Organizations,
    Qrels,
    Reading,
    Run,
    Runs,
    organizations_of,
    qrels_from_frame,
    qrels_of,
    runs_of,
)
from bayespool.trec.resources import MEMORY, N_THREADS

__all__ = ["USER_ORGANIZATION", "Building", "Order", "build_collection", "unjudged_collection"]

Order = Literal["score", "rank"]
USER_ORGANIZATION = "(yours)"
"""Name of the organization of the runs to score that no list of organizations names.

Where a list has the name itself, ours gets apostrophes; `Collection.user_organization` tells which it is.
"""
_MOST_BYTES = 2**31 - 1  # of ids that 32-bit offsets can count


def build_collection(
    runs: Runs,
    qrels: Judgments,
    *,
    organizations: Organizations | None = None,
    order: Order = "score",
    negative: Negative = "listed",
    pooled_run_ids: Iterable[str] = (),
    pool_depth: int | Mapping[str, int] = 0,
    given_run_ids: Sequence[str] = (),
    own_run_ids: Iterable[str] = (),
    scores: bool = False,
) -> Collection:
    """A collection from runs and judgments, in memory or in files.

    Parameters
    ----------
    runs : Runs
        At least one; run ids distinct. Their order does not matter: the collection has them sorted by id.
        Data frames, ``{query_id: {doc_id: score}}``, rows, objects of ir_measures and ranx, `Run`, paths; a
        mapping from names to them, or several of them (`bayespool.trec.runs_of`).
    qrels : Judgments
        The judgments, in the same forms; their topics are the topics.
    organizations : mapping of str to str, path or frame, optional
        Run id to organization. A run that is missing counts as an organization of its own.
    order : {"score", "rank"}
        ``"score"`` is trec_eval's order: score descending in single precision, ties by document id
        descending; ``"rank"`` takes the ranks of the run files, which some campaigns pooled by.
    negative : {"listed", "unjudged", "nonrelevant"}
        What a negative relevance means. ``"listed"``: −1 is in the pool and not judged, anything below (−2:
        spam) is judged and not relevant. ``"unjudged"``: all are as if they were not there.
        ``"nonrelevant"``: all are judged and not relevant.
    pooled_run_ids : iterable of str
        The runs that contributed to the pool; `bayespool.pool.discover_pool` finds them where they are not
        known.
    pool_depth : int or mapping of str to int
        Down to which rank they did: one depth, or one for each pooled run, of which the commonest (the
        largest of equals) is the common depth.
    given_run_ids : sequence of str
        The runs to score in the order in which they were given, kept as they are.
    own_run_ids : iterable of str
        Runs of the user. Those that ``organizations`` lacks are of one organization, `USER_ORGANIZATION`.
    scores : bool, default False
        Whether the collection keeps the scores of the runs (`Collection.score`), which some pooling
        strategies read.

    Returns
    -------
    Collection

    Raises
    ------
    InputError
        No run, two runs with one id, a run without any topic of the qrels, qrels without a relevant document,
        ranks asked for and not read, a pooled run without a depth.
    """
    reading = Reading(ranks=order == "rank")
    (found,), judgments = runs_of(runs, reading=reading), qrels_of(qrels)
    _check(found, judgments, order)
    read = sorted(found, key=lambda run: run.run_id)
    query_ids = _query_ids(judgments)
    columns = _columns(read, judgments, query_ids)
    place = _Places(np.array([column.n_lines for column in columns[:-1]]))
    sort_key = _sort_keys(read, columns, place, order)
    document = sort_key.view(np.int32)  # the same memory: the keys of a topic give way to its documents
    score = _scores(read, columns, place) if scores else None
    codes, negatives = relevance_codes(judgments.relevance, negative)
    judgment = columns[-1].in_order(codes)

    def on_topic(t: int) -> tuple[pa.StringArray, npt.NDArray[np.int16]]:
        """Documents of a topic in byte order, and their relevance; puts positions among them into the topic's
        rankings, best first.
        """
        ids_of_lines = pa.chunked_array([column.doc_ids.slice(*column.span(t)) for column in columns])
        chunks = pc.dictionary_encode(ids_of_lines, memory_pool=MEMORY).chunks
        ids, codes = chunks[-1].dictionary, np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
        n_judged = int(columns[-1].n_lines[t])
        retrieved, judged = np.split(codes, [len(codes) - n_judged])
        by_bytes = pc.sort_indices(ids, memory_pool=MEMORY)
        position = np.empty(len(ids), dtype=np.int32)
        position[by_bytes.to_numpy()] = np.arange(len(ids), dtype=np.int32)
        packed = _packed(position[retrieved], np.concatenate([sort_key[span] for span in place.of_topic(t)]))
        ends = np.cumsum(place.length[:, t])
        for span, ranking in zip(place.of_topic(t), np.split(packed, ends[:-1]), strict=True):
            if score is not None:
                score[span] = score[span][ranking.argsort(axis=-1)]
            ranking.sort(axis=-1)
            document[span] = np.uint64(0x7FFFFFFF) - (ranking & np.uint64(0x7FFFFFFF))
        relevance = np.full(len(ids), UNJUDGED, dtype=np.int16)
        first, _ = columns[-1].span(t)
        relevance[position[judged]] = judgment[first : first + n_judged]
        return pc.take(ids, by_bytes, memory_pool=MEMORY), relevance

    with ThreadPoolExecutor(N_THREADS) as threads:
        doc_ids, relevance = zip(*threads.map(on_topic, range(len(query_ids))), strict=True)
    n_present = np.array([len(ids) for ids in doc_ids], dtype=np.int32)
    for t, before in enumerate((np.cumsum(n_present) - n_present).tolist()):
        for span in place.of_topic(t):
            document[span] += before
    run_ids = tuple(run.run_id for run in read)
    listed = {} if organizations is None else organizations_of(organizations)
    organization_names, organization, user = _organizations(run_ids, listed, set(own_run_ids))
    pooled_ids = set(pooled_run_ids)
    return Collection(
        run_ids=run_ids,
        query_ids=query_ids,
        document=place.as_rankings(document, -1),
        relevance=np.concatenate(relevance),
        pair_topic=np.repeat(np.arange(len(query_ids), dtype=np.int32), n_present),
        doc_ids=_concatenated(doc_ids),
        organizations=organization_names,
        organization=organization,
        pooled=np.array([run in pooled_ids for run in run_ids]),
        pooling=_depth_pool(run_ids, pooled_ids, pool_depth),
        added_for=np.full(int(n_present.sum()), -1, dtype=np.int32),
        negatives=negatives,
        given_run_ids=tuple(given_run_ids),
        user_organization=user,
        score=None if score is None else place.as_rankings(score, np.nan),
    )


class Building(TypedDict, total=False):
    """Arguments of `build_collection` that `unjudged_collection` hands on."""

    organizations: Organizations | None
    order: Order
    negative: Negative
    pooled_run_ids: Iterable[str]
    pool_depth: int | Mapping[str, int]
    given_run_ids: Sequence[str]
    own_run_ids: Iterable[str]
    scores: bool


def unjudged_collection(runs: Sequence[Run], **building: Unpack[Building]) -> Collection:
    """A collection of runs of which nothing is judged yet: what a pool is chosen from before assessors begin.

    Parameters
    ----------
    runs : sequence of Run
        Their topics are the topics, all that any of them has.
    **building
        Arguments of `build_collection`.

    Returns
    -------
    Collection
        Without a judgment.

    Raises
    ------
    InputError
        As `build_collection`.

    Examples
    --------
    >>> from bayespool import run_from_frame
    >>> unjudged_collection([run_from_frame({"q1": {"d1": 2.0, "d2": 1.0}}, "bm25")])
    <Collection: 1 runs (0 pooled to depth 0), 1 organizations, 1 topics, 0 judgments, 0 relevant>
    """
    first: dict[str, str] = {}  # a document of each topic, as topics are those of judgments
    for run in runs:
        names = run.query_id.dictionary.to_pylist()
        codes, lines = np.unique(run.query_id.indices.to_numpy(), return_index=True)
        for code, line in zip(codes.tolist(), lines.tolist(), strict=True):
            first.setdefault(names[code], run.doc_id[line].as_py())
    collection = build_collection(runs, qrels_from_frame({q: {d: 1} for q, d in first.items()}), **building)
    return collection.without_judgments(np.ones(len(collection.relevance), dtype=bool))


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

    def place(q: str) -> tuple[int, int, str, str]:
        digits = q.lstrip("0")  # a number of any length: the longer one is the larger
        return (0, len(digits), digits, q) if q.isascii() and q.isdigit() else (1, 0, "", q)

    return tuple(sorted(topics, key=place))


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


class _Places:
    """Where the rankings stand in one flat array: with room for the longest each, or one after another."""

    def __init__(self, length: npt.NDArray[np.int64]) -> None:
        self.length = length.astype(np.int32)
        self.depth = int(length.max(initial=0))
        self.is_ragged = is_ragged(length)
        taken = length if self.is_ragged else np.full_like(length, self.depth)
        end = np.cumsum(taken).reshape(length.shape)
        self._start = (end - taken).T.tolist()
        self.size = int(end.flat[-1])

    def of_topic(self, t: int) -> list[slice]:
        """Places of a topic's rankings, run by run."""
        n_of_run = self.length[:, t].tolist()
        return [slice(start, start + n) for start, n in zip(self._start[t], n_of_run, strict=True)]

    def fill(self, values: npt.NDArray[Any], r: int, lines: npt.NDArray[Any]) -> None:
        """Put what stands on a run's lines, topic by topic, into its places."""
        first = self._start[0][r]
        if self.is_ragged:
            values[first : first + len(lines)] = lines
        else:
            there = np.arange(self.depth) < self.length[r][:, None]
            values[first : first + there.size].reshape(there.shape)[there] = lines

    def as_rankings(self, values: npt.NDArray[Any], end: float) -> npt.NDArray[Any] | Rankings:
        """What collections have: an array of shape (run, topic, rank), dense or not."""
        return (
            Rankings(values, self.length, end)
            if self.is_ragged
            else values.reshape(*self.length.shape, self.depth)
        )


def _columns(runs: Sequence[Run], qrels: Qrels, query_ids: tuple[str, ...]) -> list[_Column]:
    """Lines of all runs, then of the qrels."""
    with ThreadPoolExecutor(N_THREADS) as threads:
        columns = list(threads.map(partial(_Column, query_ids=query_ids), [*runs, qrels]))
    _check_size(columns[:-1], [run.run_id for run in runs], query_ids)
    return columns


def _sort_keys(
    runs: Sequence[Run], columns: Sequence[_Column], place: _Places, order: Order
) -> npt.NDArray[np.uint32]:
    """Keys that ascend in the order of a ranking, in file order, at the places of the rankings."""
    sort_key = np.full(place.size, 2**32 - 1, dtype=np.uint32)

    def fill(r: int) -> None:
        key = _descending(runs[r].score) if order == "score" else _ascending(runs[r].rank)
        place.fill(sort_key, r, columns[r].in_order(key))

    with ThreadPoolExecutor(N_THREADS) as threads:
        list(threads.map(fill, range(len(runs))))
    return sort_key


def _check_size(columns: Sequence[_Column], run_ids: Sequence[str], query_ids: tuple[str, ...]) -> None:
    """Refuse rankings for which there is not enough memory; see `bayespool.memory.check_memory`."""
    n_lines = np.array([column.n_lines for column in columns])
    r, t = divmod(int(n_lines.argmax()), len(query_ids))
    check_memory(
        4 * (int(n_lines.sum()) if is_ragged(n_lines) else n_lines.size * int(n_lines.max())),
        f"rankings of {len(columns)} runs on {len(query_ids)} topics, {n_lines.max():,} ranks deep as the "
        f"longest ({run_ids[r]}, topic {query_ids[t]}),",
        "cut the longest runs, or leave them out",
    )


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


def _scores(runs: Sequence[Run], columns: Sequence[_Column], place: _Places) -> npt.NDArray[np.float32]:
    """Scores in single precision in file order, NaN where a run has ended, at the places of the rankings."""
    score = np.full(place.size, np.nan, dtype=np.float32)
    for r, run in enumerate(runs):
        with np.errstate(over="ignore"):
            place.fill(score, r, columns[r].in_order(run.score).astype(np.float32))
    return score


def _packed(document: IntArray, key: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    """Documents as numbers that ascend in the order of a ranking: by key ascending, then by document
    descending.
    """
    mirrored = np.uint64(0x7FFFFFFF) - document.astype(np.uint64)
    return (key.astype(np.uint64) << np.uint64(32)) | mirrored


def _depth_pool(run_ids: Sequence[str], pooled: set[str], depth: int | Mapping[str, int]) -> DepthPool:
    if not isinstance(depth, Mapping):
        return DepthPool.even(depth, len(run_ids))
    if missing := [run for run in run_ids if run in pooled and run not in depth]:
        raise InputError(f"no pool depth of run {missing[0]!r}", hint="give one for each pooled run")
    depths, n_runs = np.unique([depth[run] for run in run_ids if run in pooled], return_counts=True)
    common = int(depths[n_runs == n_runs.max()].max()) if len(depths) else 0
    return DepthPool(common, tuple(depth[run] if run in pooled else common for run in run_ids))


def _organizations(
    run_ids: Sequence[str], organization_of: Mapping[str, str], own: set[str]
) -> tuple[tuple[str, ...], IntArray, int]:
    """Names of the organizations, which is whose run, and which is the user's (−1: none)."""
    listed = set(organization_of.values())  # a run without an organization does not join one of its name
    users = USER_ORGANIZATION
    while users in listed or users in run_ids:
        users += "'"

    def alone(run: str) -> str:
        return users if run in own else f"{run} (run)" if run in listed else run

    per_run = [organization_of.get(run, alone(run)) for run in run_ids]
    names = tuple(sorted(set(per_run)))
    index = {name: i for i, name in enumerate(names)}
    return names, np.array([index[name] for name in per_run], dtype=np.int32), index.get(users, -1)
