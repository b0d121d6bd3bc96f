"""Construction of a `Collection` from encoded runs and judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt

from bayespool.collection.contents import Collection, IntArray
from bayespool.collection.encoding import EncodedRun, Encoding, Order, Pairs
from bayespool.collection.frames import qrels_from_frame
from bayespool.collection.memory import check_memory
from bayespool.collection.negatives import UNJUDGED, Negative, relevance_codes
from bayespool.collection.pools import DepthPool
from bayespool.collection.rankings import Rankings, is_ragged
from bayespool.collection.records import Qrels, Run
from bayespool.collection.resources import N_THREADS
from bayespool.collection.sources import (
    Judgments,
    Organizations,
    Reading,
    Runs,
    organizations_of,
    qrels_of,
    runs_of,
)
from bayespool.errors import InputError

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
    order : {"score", "rank"}
        ``"score"`` is trec_eval's order: score descending in single precision, ties by document id
        descending; ``"rank"`` uses the ranks of the run files, which some campaigns pooled by.
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

    Returns
    -------
    Collection

    Raises
    ------
    InputError
        No run, two runs with one id, a run without any topic of the qrels, qrels without a relevant document,
        order by ranks that were not read, a pooled run without a depth.
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

    Raises
    ------
    InputError
        No such order, qrels without a relevant document.
    """
    if order not in get_args(Order):
        raise InputError(f"no order {order!r}", hint="score or rank")
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
    return Collection(
        run_ids=run_ids,
        query_ids=encoding.query_ids,
        document=document,
        relevance=relevance,
        pair_topic=np.repeat(np.arange(len(pairs.n_present), dtype=np.int32), pairs.n_present),
        doc_ids=pairs.doc_ids,
        organizations=organization_names,
        organization=organization,
        pooled=np.array([run in pooled_ids for run in run_ids]),
        pooling=_depth_pool(run_ids, pooled_ids, pool_depth),
        added_for=np.full(len(relevance), -1, dtype=np.int32),
        negatives=negatives,
        given_run_ids=tuple(given_run_ids),
        user_organization=user,
        score=score,
    )


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

    Returns
    -------
    Collection

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
        documents = pairs.of_number[run.document + np.repeat(pairs.first, run.length)]
        if run.tied is not None:
            group = np.cumsum(~run.tied).astype(np.uint64)
            packed = group << np.uint64(32) | (np.uint64(0x7FFFFFFF) - documents.astype(np.uint64))
            order = packed.argsort(axis=-1, kind="stable")
            documents = documents[order]
            if score is not None and run.score is not None:
                flat.fill(score, r, run.score[order])
        elif score is not None and run.score is not None:
            flat.fill(score, r, run.score)
        flat.fill(document, r, documents)

    with ThreadPoolExecutor(N_THREADS) as threads:
        list(threads.map(fill, range(len(runs))))
    return flat.as_rankings(document, -1), None if score is None else flat.as_rankings(score, np.nan)


def _check_size(flat: _FlatRankings, run_ids: Sequence[str], query_ids: tuple[str, ...]) -> None:
    """Refuse rankings that need more memory than is free."""
    r, t = divmod(int(flat.length.argmax()), len(query_ids))
    check_memory(
        4 * flat.size,
        f"rankings of {len(run_ids)} runs on {len(query_ids)} topics, {flat.depth:,} ranks deep as the "
        f"longest ({run_ids[r]}, topic {query_ids[t]}),",
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
    """Names of the organizations, organization of each run, shape (run,), and the user's (−1 for none)."""
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
