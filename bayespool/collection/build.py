"""From runs that have been read and encoded, and judgments, to a `Collection`."""

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
"""Name of the organization of the runs to score that no list of organizations names.

Where a list has the name itself, ours gets apostrophes; `Collection.user_organization` tells which it is.
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
    """A collection from runs and judgments, in memory or in files.

    Parameters
    ----------
    runs : Runs
        At least one; run ids distinct. Their order does not matter: the collection has them sorted by id.
        Data frames, ``{query_id: {doc_id: score}}``, rows, objects of ir_measures and ranx, `Run`, paths; a
        mapping from names to them, or several of them (`bayespool.collection.runs_of`).
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
        The runs that contributed to the pool; `bayespool.discover_pool` finds them where they are not known.
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
    """What runs are read into, so that the text of each can be forgotten; then `collection_of` takes them.

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
    """A collection of runs that an encoding has encoded; see `build_collection`."""
    _check(runs)
    read = sorted(runs, key=lambda run: run.run_id)
    place = _Places(np.array([run.length for run in read]))
    _check_size(place, [run.run_id for run in read], encoding.query_ids)
    pairs = encoding.finish()
    document, score = _rankings(read, pairs, place, scores=read[0].score is not None)
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


def _check(runs: Sequence[EncodedRun]) -> None:
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


class _Places:
    """Where the rankings stand in one flat array: with room for the longest each, or one after another."""

    def __init__(self, length: npt.NDArray[np.int64]) -> None:
        self.length = length.astype(np.int32)
        self.depth = int(length.max(initial=0))
        self.is_ragged = is_ragged(length)
        of_runs = length.sum(axis=1) if self.is_ragged else np.full(len(length), length.shape[1] * self.depth)
        self._end = np.cumsum(of_runs)
        self._start = self._end - of_runs
        self.size = int(self._end[-1])

    def fill(self, values: npt.NDArray[Any], r: int, lines: npt.NDArray[Any]) -> None:
        """Put what stands on a run's lines, topic by topic, into its places."""
        of_run = values[self._start[r] : self._end[r]]
        if self.is_ragged or self.depth * len(self.length[r]) == len(lines):
            of_run[:] = lines
        else:
            there = np.arange(self.depth) < self.length[r][:, None]
            of_run.reshape(there.shape)[there] = lines

    def as_rankings(self, values: npt.NDArray[Any], end: float) -> npt.NDArray[Any] | Rankings:
        """What collections have: an array of shape (run, topic, rank), dense or not."""
        return (
            Rankings(values, self.length, end)
            if self.is_ragged
            else values.reshape(*self.length.shape, self.depth)
        )


def _rankings(
    runs: Sequence[EncodedRun], pairs: Pairs, place: _Places, *, scores: bool
) -> tuple[IntArray | Rankings, npt.NDArray[np.float32] | Rankings | None]:
    """Pairs of all runs from the first rank down, and their scores."""
    document = np.full(place.size, -1, dtype=np.int32)
    score = np.full(place.size, np.nan, dtype=np.float32) if scores else None

    def fill(r: int) -> None:
        run = runs[r]
        found = pairs.of_number[run.document + np.repeat(pairs.first, run.length)]
        if run.tied is not None:
            group = np.cumsum(~run.tied).astype(np.uint64)
            packed = group << np.uint64(32) | (np.uint64(0x7FFFFFFF) - found.astype(np.uint64))
            order = packed.argsort(axis=-1, kind="stable")
            found = found[order]
            if score is not None and run.score is not None:
                place.fill(score, r, run.score[order])
        elif score is not None and run.score is not None:
            place.fill(score, r, run.score)
        place.fill(document, r, found)

    with ThreadPoolExecutor(N_THREADS) as threads:
        list(threads.map(fill, range(len(runs))))
    return place.as_rankings(document, -1), None if score is None else place.as_rankings(score, np.nan)


def _check_size(place: _Places, run_ids: Sequence[str], query_ids: tuple[str, ...]) -> None:
    """Refuse rankings for which there is not enough memory; see `check_memory`."""
    r, t = divmod(int(place.length.argmax()), len(query_ids))
    check_memory(
        4 * place.size,
        f"rankings of {len(run_ids)} runs on {len(query_ids)} topics, {place.depth:,} ranks deep as the "
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
