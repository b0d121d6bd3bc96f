"""Build a collection from runs and judgments, with documents encoded as integers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import numpy as np
import numpy.typing as npt

from bayespool.arrays import IntArray, LevelArray
from bayespool.collection.contents import Collection
from bayespool.collection.encoding import EncodedRun, Encoding, Pairs
from bayespool.collection.files import N_THREADS, check_memory
from bayespool.collection.frames import qrels_from_frame
from bayespool.collection.pools import DepthPool
from bayespool.collection.rankings import Rankings, is_ragged
from bayespool.collection.readers import Reading
from bayespool.collection.records import UNJUDGED, Negative, Order, Qrels, Run, relevance_codes
from bayespool.collection.samples import Sample, stratum_shares
from bayespool.collection.scope import Exclude, Exclusion, Topics, read_exclusion, select_topics
from bayespool.collection.sources import (
    Judgments,
    Organizations,
    Runs,
    gather_organizations,
    gather_qrels,
    gather_runs,
)
from bayespool.errors import InputError, InputWarning, known_names, warn_caller
from bayespool.tables.formatting import counted

USER_ORGANIZATION = "(yours)"
"""Name of the organization for runs to score that have no listed organization.

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
    exclude: Exclude | None = None,
    topics: Topics = "qrels",
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
    negative : {"listed", "sampled", "unjudged", "nonrelevant"}
        Meaning of a negative relevance. ``"listed"``: −1 is in the pool and unjudged, lower values (−2: spam)
        are nonrelevant. ``"sampled"``: the same, and the judged documents of a topic are a uniform sample of
        those listed. ``"unjudged"``: all are as if they were not in the qrels. ``"nonrelevant"``: all are
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
    exclude, topics
        As for `bayespool.read_collection`; ``"run"`` stands for the topics of all runs.

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
    reading = Reading(ranks=order == "rank")
    judgments, note = select_topics(gather_qrels(qrels), topics, runs, reading=reading)
    encoding = make_encoding(judgments, order=order, scores=scores, exclusion=read_exclusion(exclude))
    (read,) = gather_runs(runs, reading=reading, take=encoding.encode)
    return finish_collection(
        encoding,
        read,
        organizations=organizations,
        negative=negative,
        pooled_run_ids=pooled_run_ids,
        pool_depth=pool_depth,
        given_run_ids=given_run_ids,
        own_run_ids=own_run_ids,
        topic_note=note,
    )


def make_encoding(
    qrels: Qrels, *, order: Order = "score", scores: bool = False, exclusion: Exclusion | None = None
) -> Encoding:
    """Create the encoding that runs are read into before `finish_collection`.

    An unknown order, or qrels without a relevant document, is an `InputError`.
    """
    if order not in get_args(Order):
        raise InputError(f"no order {order!r}", hint=known_names(order, get_args(Order)))
    if exclusion is not None:
        qrels = exclusion.take_out(qrels)
    if not (qrels.relevance > 0).any():
        raise InputError("no document is relevant", path=qrels.path, hint="is this the right qrels file?")
    return Encoding(qrels, order=order, scores=scores, exclusion=exclusion)


def finish_collection(
    encoding: Encoding,
    runs: Sequence[EncodedRun],
    *,
    organizations: Organizations | None = None,
    negative: Negative = "listed",
    pooled_run_ids: Iterable[str] = (),
    pool_depth: int | Mapping[str, int] = 0,
    given_run_ids: Sequence[str] = (),
    own_run_ids: Iterable[str] = (),
    topic_note: str = "",
) -> Collection:
    """Build a collection from encoded runs (`build_collection`)."""
    _refuse_duplicates(runs)
    read = sorted(runs, key=lambda run: run.run_id)
    length = np.array([run.length for run in read]).astype(np.int32)
    _check_size(length, [run.run_id for run in read], encoding.query_ids)
    pairs = encoding.finish()
    document, score = _rankings(read, pairs, length, scores=read[0].score is not None)
    codes, negatives = relevance_codes(encoding.qrels.relevance, negative)
    relevance = np.full(len(pairs.pair_by_number), UNJUDGED, dtype=np.int16)
    relevance[pairs.judged] = encoding.judgments.in_order(codes)
    run_ids = tuple(run.run_id for run in read)
    listed = {} if organizations is None else gather_organizations(organizations)
    organization_names, organization, user = _organizations(run_ids, listed, set(own_run_ids))
    pooled_ids = set(pooled_run_ids)
    notes = [topic_note] if topic_note else []
    if encoding.exclusion is not None:
        encoding.exclusion.warn_if_idle()
        notes.append(encoding.exclusion.note)
    pair_topic = np.repeat(np.arange(len(pairs.n_present), dtype=np.int32), pairs.n_present)
    sample = _sample(encoding, pairs, relevance, pair_topic, uniform=negative == "sampled")
    if sample is not None:
        notes.append(f"the judgments are a published sample: {sample}, the others left out by lot")
    conflicts = [run.conflict for run in read if run.conflict is not None]
    collection = Collection(
        run_ids=run_ids,
        query_ids=encoding.query_ids,
        document=document,
        relevance=relevance,
        pair_topic=pair_topic,
        doc_ids=pairs.doc_ids,
        organizations=organization_names,
        organization=organization,
        pooled=np.array([run in pooled_ids for run in run_ids]),
        pool=_depth_pool(run_ids, pooled_ids, pool_depth),
        attributed_run=np.full(len(relevance), -1, dtype=np.int32),
        negatives=negatives,
        given_run_ids=tuple(given_run_ids),
        user_organization=user,
        score=score,
        scope_notes=tuple(notes),
        sample=sample,
        rank_conflicts=tuple(sorted(conflicts, key=lambda c: (-c.n_top_places, -c.n_places, c.run_id))),
        order=encoding.order,
        ties=tuple(run.ties for run in read if run.ties is not None),
        strange_topics=() if topic_note else tuple(run.topics for run in read if run.topics is not None),
    )
    for note in (collection.rank_note, collection.topic_note):
        if note:
            warn_caller(note, InputWarning)
    return collection


def _sample(
    encoding: Encoding, pairs: Pairs, relevance: LevelArray, pair_topic: IntArray, *, uniform: bool
) -> Sample | None:
    """Return the random sample that the judgments were published with, or None."""
    qrels = encoding.qrels
    if qrels.stratum is None and qrels.inclusion is None and not uniform:
        return None
    inclusion, stratum = np.full(len(relevance), np.nan), None
    candidates = np.ones(len(relevance), dtype=bool)  # of probabilities: what runs of the time retrieved
    if qrels.inclusion is not None:
        inclusion[pairs.judged] = encoding.judgments.in_order(qrels.inclusion)
        inclusion[relevance < 0] = np.nan
    else:
        line_stratum = np.zeros(len(pairs.judged)) if qrels.stratum is None else qrels.stratum
        codes = np.unique(line_stratum, return_inverse=True)[1].astype(np.int32)
        stratum = np.full(len(relevance), -1, dtype=np.int32)
        stratum[pairs.judged] = encoding.judgments.in_order(codes)
        candidates = stratum >= 0
        chosen = (relevance >= 0) & candidates
        inclusion = np.where(chosen, stratum_shares(stratum, chosen, pair_topic), np.nan)
    return Sample(inclusion, stratum, candidates, as_trec_eval=uniform)


def unjudged_collection(
    runs: Sequence[Run],
    *,
    organizations: Organizations | None = None,
    order: Order = "score",
    pooled_run_ids: Iterable[str] = (),
    scores: bool = False,
    exclude: Exclude | None = None,
    topics: Topics = "qrels",
) -> Collection:
    """Build a collection without judgments, for example to choose a pool before judging begins.

    Parameters
    ----------
    runs : sequence of Run
        Runs whose topics, all together, are the topics.
    organizations, order, pooled_run_ids, scores, exclude, topics
        As for `build_collection`.

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
    exclusion = read_exclusion(exclude)
    if exclusion is not None:
        runs = [exclusion.take_out(run) for run in runs]
    first: dict[str, str] = {}  # a document of each topic, since judgments define the topics
    for run in runs:
        names = run.query_id.dictionary.to_pylist()
        codes, lines = np.unique(run.query_id.indices.to_numpy(), return_index=True)
        for code, line in zip(codes.tolist(), lines.tolist(), strict=True):
            first.setdefault(names[code], run.doc_id[line].as_py())
    collection = build_collection(
        runs,
        qrels_from_frame({q: {d: 1} for q, d in first.items()}),
        organizations=organizations,
        order=order,
        pooled_run_ids=pooled_run_ids,
        scores=scores,
        topics=topics,
    )
    unjudged = collection.without_judgments(np.ones(len(collection.relevance), dtype=bool))
    notes = unjudged.scope_notes + ((exclusion.note,) if exclusion is not None else ())
    return dataclasses.replace(unjudged, scope_notes=notes)


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


def _rankings(
    runs: Sequence[EncodedRun], pairs: Pairs, length: IntArray, *, scores: bool
) -> tuple[IntArray | Rankings, npt.NDArray[np.float32] | Rankings | None]:
    """Return ranked documents and their scores for all runs, shape (run, topic, rank) each."""
    shape, ragged = (*length.shape, int(length.max(initial=0))), is_ragged(length)
    n_places = length.sum(axis=1) if ragged else np.full(len(length), shape[1] * shape[2])
    end = np.cumsum(n_places)
    document = np.full(end[-1], -1, dtype=np.int32)
    score = np.full(end[-1], np.nan, dtype=np.float32) if scores else None

    def fill(r: int) -> None:
        run, places = runs[r], slice(end[r] - n_places[r], end[r])
        documents, scores = pairs.pair_by_number[run.document + np.repeat(pairs.first, run.length)], run.score
        if run.tied is not None:
            group = np.cumsum(~run.tied).astype(np.uint64)
            packed = group << np.uint64(32) | (np.uint64(0x7FFFFFFF) - documents.astype(np.uint64))
            order = packed.argsort(axis=-1, kind="stable")
            documents, scores = documents[order], None if scores is None else scores[order]
        is_full = ragged or len(documents) == n_places[r]
        used = slice(None) if is_full else (np.arange(shape[2]) < length[r][:, None]).ravel()
        document[places][used] = documents
        if score is not None and scores is not None:
            score[places][used] = scores

    with ThreadPoolExecutor(N_THREADS) as threads:
        list(threads.map(fill, range(len(runs))))
    if ragged:
        return Rankings(document, length, -1), None if score is None else Rankings(score, length, np.nan)
    return document.reshape(shape), None if score is None else score.reshape(shape)


def _check_size(length: IntArray, run_ids: Sequence[str], query_ids: tuple[str, ...]) -> None:
    """Raise `InputError` if rankings need more memory than is free."""
    depth = int(length.max(initial=0))
    r, t = divmod(int(length.argmax()), len(query_ids))
    check_memory(
        4 * int(length.sum(dtype=np.int64) if is_ragged(length) else length.size * depth),
        f"rankings of {counted(len(run_ids), 'run')} on {counted(len(query_ids), 'topic')}, {depth:,} "
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
    """Return organization names, the organization index for each run, and the user's index (−1 if none)."""
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
