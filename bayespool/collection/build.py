"""Build a collection from runs, whose documents become integers, and judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.collection.contents import Collection, IntArray, some
from bayespool.collection.frames import qrels_from_frame
from bayespool.collection.memory import MEMORY, N_THREADS, check_memory
from bayespool.collection.pools import DepthPool
from bayespool.collection.rankings import Rankings, is_ragged
from bayespool.collection.readers import Reading
from bayespool.collection.records import (
    UNJUDGED,
    Negative,
    Order,
    Qrels,
    RankConflict,
    Run,
    relevance_codes,
)
from bayespool.collection.sources import (
    Judgments,
    Organizations,
    Runs,
    organizations_of,
    qrels_of,
    runs_of,
)
from bayespool.collection.ties import Ties, count_ties, ranks_in
from bayespool.collection.topics import StrangeTopics, find_strange_topics, join_hint
from bayespool.errors import InputError, InputWarning, known_names, warn_caller
from bayespool.tables.formatting import counted

_TOP_RANKS = 10  # that warnings count apart
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
    conflict: RankConflict | None = None  # of ranks with the scores that order the run
    ties: Ties | None = None
    topics: StrangeTopics | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs:
    """All pairs of a topic and a document, topic by topic, within a topic in byte order."""

    doc_ids: pa.StringArray | pa.LargeStringArray  # shape (pair,)
    n_present: npt.NDArray[np.int32]  # pairs of each topic, shape (topic,)
    first: npt.NDArray[np.int32]  # first pair of each topic, shape (topic,)
    of_number: npt.NDArray[np.int32]  # pair of each number of an `Encoding`, topic by topic, shape (pair,)
    judged: npt.NDArray[np.int32]  # pairs of the judgments, by topic in file order, shape (judgment,)


class Encoding:
    """Numbers of the documents of each topic of the qrels, judged ones first, in order of occurrence."""

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
    """Lines of a run or of the qrels by the topics of the qrels, within a topic in file order."""

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
            self._lines: slice | npt.NDArray[np.intp] = slice(n_other, None)
            self.doc_ids = source.doc_id.slice(n_other)
        else:
            self._lines = np.argsort(topic, kind="stable")[n_other:]
            self.doc_ids = pc.take(source.doc_id, pa.array(self._lines), memory_pool=MEMORY)

    @property
    def topic(self) -> npt.NDArray[np.int32]:
        """Position of the topic of each line, ascending."""
        return np.repeat(np.arange(len(self.n_lines), dtype=np.int32), self.n_lines)

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


def _keys(run: Run, order: Order) -> npt.NDArray[Any]:
    """Numbers of the lines of a run that ascend from its first rank down."""
    if order == "rank":
        assert run.rank is not None  # for the type checker: `Encoding.encode` has checked
        return run.rank
    with np.errstate(over="ignore"):
        return -(run.score if order == "score" else run.score.astype(np.float32))


def _is_in_order(topic: npt.NDArray[np.int32], key: npt.NDArray[Any]) -> bool:
    """Whether keys ascend within each topic."""
    return not ((key[1:] < key[:-1]) & (topic[1:] == topic[:-1])).any()


def _rank_conflict(
    run_id: str, topic: npt.NDArray[np.int32], by_score: npt.NDArray[Any], rank: npt.NDArray[np.int32]
) -> RankConflict | None:
    """Where ranks and scores disagree, from keys that ascend as the score descends."""
    if _is_in_order(topic, by_score) and _is_in_order(topic, rank):
        return None  # the lines are in either order, as in most files
    differs = np.lexsort((rank, by_score, topic)) != np.lexsort((by_score, rank, topic))
    is_top = ranks_in(topic) < _TOP_RANKS
    n_places = int(differs.sum())
    return RankConflict(run_id, n_places, int(differs[is_top].sum()), int(is_top.sum())) if n_places else None


def _concatenated(ids: Sequence[pa.StringArray]) -> pa.StringArray | pa.LargeStringArray:
    """All ids in one array, with 64-bit offsets if 32 bits cannot count their bytes."""
    n_bytes = sum(part.nbytes for part in ids)
    if n_bytes > _MAX_BYTES_OF_32_BIT_OFFSETS:
        ids = [part.cast(pa.large_string(), memory_pool=MEMORY) for part in ids]
    return pa.concat_arrays(ids, memory_pool=MEMORY)


USER_ORGANIZATION = "(yours)"
"""Organization of runs to score that no list of organizations names.

Apostrophes are added if a list has this name; `Collection.user_organization` is its index.
"""


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
    """Build a collection from runs and judgments, in memory or in files.

    Parameters
    ----------
    runs : Runs
        At least one, with distinct run ids; the collection sorts them by id. Data frames, rows,
        ``{query_id: {doc_id: score}}``, objects of ir_measures and ranx, `Run`, paths; a mapping from names
        to them, or several of them.
    qrels : Judgments
        The judgments, in the same forms; they define the topics.
    organizations : mapping of str to str, path or frame, optional
        Run id to organization. A missing run is an organization of its own.
    order : {"score", "single-precision", "rank"}
        ``"score"`` is the order of trec_eval 10: score descending, ties by document id descending;
        ``"single-precision"`` that of trec_eval 9 and pytrec_eval, which round scores, so that more of them
        tie; ``"rank"`` uses the ranks of the run files, which some campaigns pooled by.
    negative : {"listed", "unjudged", "nonrelevant"}
        Meaning of a negative relevance. ``"listed"``: −1 is in the pool and unjudged, lower values (−2: spam)
        are nonrelevant. ``"unjudged"``: all are as if they were not in the qrels. ``"nonrelevant"``: all are
        nonrelevant.
    pooled_run_ids : iterable of str
        Runs that contributed to the pool; `bayespool.discover_pool` finds them if they are unknown.
    pool_depth : int or mapping of str to int
        Depth of the pool: one for all, or one for each pooled run, of which the commonest (the largest of
        equals) is the common depth.
    given_run_ids : sequence of str
        Runs to score in the order of the user, kept unchanged.
    own_run_ids : iterable of str
        Runs of the user. Those that ``organizations`` lacks form one organization, `USER_ORGANIZATION`.
    scores : bool, default False
        Whether to keep the scores of the runs (`Collection.score`), which some pooling strategies need.

    Raises
    ------
    InputError
        No run, two runs with one id, a run without any topic of the qrels, qrels without a relevant document,
        order by ranks that were not read, a pooled run without a depth.

    Warns
    -----
    InputWarning
        Runs are ordered by score, and the ranks of some order documents otherwise, beyond ties; or by rank,
        and ranks are equal. Runs have topics that the qrels lack, and lack some that the qrels have.
    """
    judgments = qrels_of(qrels)
    encoding = encoding_of(judgments, order=order, scores=scores)
    (read,) = runs_of(runs, reading=Reading(ranks=order == "rank"), take=encoding.encode)
    return collection_of(
        encoding,
        read,
        organizations=organizations,
        negative=negative,
        pooled_run_ids=pooled_run_ids,
        pool_depth=pool_depth,
        given_run_ids=given_run_ids,
        own_run_ids=own_run_ids,
    )


def encoding_of(qrels: Qrels, *, order: Order = "score", scores: bool = False) -> Encoding:
    """Make an encoding that run after run can be read into; `collection_of` then takes the encoded runs.

    An unknown order, or qrels without a relevant document, is an `InputError`.
    """
    if order not in get_args(Order):
        raise InputError(f"no order {order!r}", hint=known_names(order, get_args(Order)))
    if not (qrels.relevance > 0).any():
        raise InputError("no document is relevant", path=qrels.path, hint="is this the right qrels file?")
    return Encoding(qrels, order=order, scores=scores)


def collection_of(
    encoding: Encoding,
    runs: Sequence[EncodedRun],
    *,
    organizations: Organizations | None = None,
    negative: Negative = "listed",
    pooled_run_ids: Iterable[str] = (),
    pool_depth: int | Mapping[str, int] = 0,
    given_run_ids: Sequence[str] = (),
    own_run_ids: Iterable[str] = (),
) -> Collection:
    """Build a collection of runs that an encoding has encoded; see `build_collection`."""
    _refuse_duplicates(runs)
    read = sorted(runs, key=lambda run: run.run_id)
    flat = _FlatRankings(np.array([run.length for run in read]))
    _check_size(flat, [run.run_id for run in read], encoding.query_ids)
    pairs = encoding.finish()
    document, score = _rankings(read, pairs, flat, scores=read[0].score is not None)
    codes, negatives = relevance_codes(encoding.qrels.relevance, negative)
    relevance = np.full(len(pairs.of_number), UNJUDGED, dtype=np.int16)
    relevance[pairs.judged] = encoding.judgments.in_order(codes)
    run_ids = tuple(run.run_id for run in read)
    listed = {} if organizations is None else organizations_of(organizations)
    organization_names, organization, user = _organizations(run_ids, listed, set(own_run_ids))
    pooled_ids = set(pooled_run_ids)
    conflicts = [run.conflict for run in read if run.conflict is not None]
    collection = Collection(
        run_ids=run_ids,
        query_ids=encoding.query_ids,
        document=document,
        relevance=relevance,
        pair_topic=np.repeat(np.arange(len(pairs.n_present), dtype=np.int32), pairs.n_present),
        doc_ids=pairs.doc_ids,
        organizations=organization_names,
        organization=organization,
        pooled=np.array([run in pooled_ids for run in run_ids]),
        pool=_depth_pool(run_ids, pooled_ids, pool_depth),
        added_for=np.full(len(relevance), -1, dtype=np.int32),
        negatives=negatives,
        given_run_ids=tuple(given_run_ids),
        user_organization=user,
        score=score,
        rank_conflicts=tuple(sorted(conflicts, key=lambda c: (-c.n_top_places, -c.n_places, c.run_id))),
        order=encoding.order,
        ties=tuple(run.ties for run in read if run.ties is not None),
        strange_topics=tuple(run.topics for run in read if run.topics is not None),
    )
    for note in (collection.rank_note, collection.topic_note):
        if note:
            warn_caller(note, InputWarning)
    return collection


class Building(TypedDict, total=False):
    """Arguments of `build_collection` that `unjudged_collection` passes on."""

    organizations: Organizations | None
    order: Order
    negative: Negative
    pooled_run_ids: Iterable[str]
    pool_depth: int | Mapping[str, int]
    given_run_ids: Sequence[str]
    own_run_ids: Iterable[str]
    scores: bool


def unjudged_collection(runs: Sequence[Run], **building: Unpack[Building]) -> Collection:
    """Build a collection without judgments, such as for choosing a pool before assessors begin.

    Parameters
    ----------
    runs : sequence of Run
        Runs whose topics, all together, are the topics.
    **building
        Arguments of `build_collection`.

    Raises
    ------
    InputError
        As `build_collection`.

    Examples
    --------
    >>> from bayespool import run_from_frame
    >>> unjudged_collection([run_from_frame({"q1": {"d1": 2.0, "d2": 1.0}}, "bm25")])
    <Collection: 1 run (0 pooled to depth 0), 1 organization, 1 topic, 0 judgments, 0 relevant>
    """
    first: dict[str, str] = {}  # a document of each topic, since judgments define the topics
    for run in runs:
        names = run.query_id.dictionary.to_pylist()
        codes, lines = np.unique(run.query_id.indices.to_numpy(), return_index=True)
        for code, line in zip(codes.tolist(), lines.tolist(), strict=True):
            first.setdefault(names[code], run.doc_id[line].as_py())
    collection = build_collection(runs, qrels_from_frame({q: {d: 1} for q, d in first.items()}), **building)
    return collection.without_judgments(np.ones(len(collection.relevance), dtype=bool))


def _refuse_duplicates(runs: Sequence[EncodedRun]) -> None:
    if not runs:
        raise InputError("no runs given")
    first: dict[str, EncodedRun] = {}
    for run in runs:
        if run.run_id in first:
            raise InputError(
                f"two runs are called {run.run_id!r}",
                path=run.path,
                hint=f"the other is {first[run.run_id].path}; rename one",
            )
        first[run.run_id] = run


class _FlatRankings:
    """Positions of the rankings in one flat array, padded to the longest or, if ragged, without gaps."""

    def __init__(self, length: npt.NDArray[np.int64]) -> None:
        self.length = length.astype(np.int32)
        self.depth = int(length.max(initial=0))
        self.is_ragged = is_ragged(length)
        of_runs = length.sum(axis=1) if self.is_ragged else np.full(len(length), length.shape[1] * self.depth)
        self._end = np.cumsum(of_runs)
        self._start = self._end - of_runs
        self.size = int(self._end[-1])

    def fill(self, values: npt.NDArray[Any], r: int, lines: npt.NDArray[Any]) -> None:
        """Write values of a run's lines, topic by topic, to the positions of run ``r``."""
        of_run = values[self._start[r] : self._end[r]]
        if self.is_ragged or self.depth * len(self.length[r]) == len(lines):
            of_run[:] = lines
        else:
            is_used = np.arange(self.depth) < self.length[r][:, None]
            of_run.reshape(is_used.shape)[is_used] = lines

    def as_rankings(self, values: npt.NDArray[Any], end: float) -> npt.NDArray[Any] | Rankings:
        """Dense or ragged rankings, shape (run, topic, rank), of flat values."""
        return (
            Rankings(values, self.length, end)
            if self.is_ragged
            else values.reshape(*self.length.shape, self.depth)
        )


def _rankings(
    runs: Sequence[EncodedRun], pairs: Pairs, flat: _FlatRankings, *, scores: bool
) -> tuple[IntArray | Rankings, npt.NDArray[np.float32] | Rankings | None]:
    """Pairs and scores of all runs from the first rank down, shape (run, topic, rank) each."""
    document = np.full(flat.size, -1, dtype=np.int32)
    score = np.full(flat.size, np.nan, dtype=np.float32) if scores else None

    def fill(r: int) -> None:
        run = runs[r]
        documents, scores = pairs.of_number[run.document + np.repeat(pairs.first, run.length)], run.score
        if run.tied is not None:
            group = np.cumsum(~run.tied).astype(np.uint64)
            packed = group << np.uint64(32) | (np.uint64(0x7FFFFFFF) - documents.astype(np.uint64))
            order = packed.argsort(axis=-1, kind="stable")
            documents, scores = documents[order], None if scores is None else scores[order]
        if score is not None and scores is not None:
            flat.fill(score, r, scores)
        flat.fill(document, r, documents)

    with ThreadPoolExecutor(N_THREADS) as threads:
        list(threads.map(fill, range(len(runs))))
    return flat.as_rankings(document, -1), None if score is None else flat.as_rankings(score, np.nan)


def _check_size(flat: _FlatRankings, run_ids: Sequence[str], query_ids: tuple[str, ...]) -> None:
    """Refuse rankings that need more memory than is free."""
    r, t = divmod(int(flat.length.argmax()), len(query_ids))
    check_memory(
        4 * flat.size,
        f"rankings of {counted(len(run_ids), 'run')} on {counted(len(query_ids), 'topic')}, {flat.depth:,} "
        f"ranks deep as the longest ({run_ids[r]}, topic {query_ids[t]}),",
        "cut the longest runs, or leave them out",
    )


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
    """Organization names, and their indices: of each run, shape (run,), and of the user (−1 for none)."""
    listed = set(organization_of.values())  # a run that is not in the list must not join one of its name
    users = USER_ORGANIZATION
    while users in listed or users in run_ids:
        users += "'"

    def alone(run: str) -> str:
        return users if run in own else f"{run} (run)" if run in listed else run

    per_run = [organization_of.get(run, alone(run)) for run in run_ids]
    names = tuple(sorted(set(per_run)))
    index = {name: i for i, name in enumerate(names)}
    return names, np.array([index[name] for name in per_run], dtype=np.int32), index.get(users, -1)
