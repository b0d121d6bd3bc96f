"""Build a collection from runs and judgments, whose documents are encoded as integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.arrays import AnyArray, BoolArray, IndexArray, IntArray, LevelArray, OrderArray
from bayespool.collection.attributes import Table, gather_attributes
from bayespool.collection.collection import Collection, with_attributes
from bayespool.collection.contents import DepthPool
from bayespool.collection.passages import Documents, best_passages, find_passages, refuse_passages
from bayespool.collection.rankings import Rankings, Ties, continues, count_ties, is_ragged
from bayespool.errors import InputError, InputWarning, known_names, some, warn_caller
from bayespool.reading.files import MEMORY, check_memory, concatenated
from bayespool.reading.frames import qrels_from_frame
from bayespool.reading.readers import Reading
from bayespool.reading.records import (
    UNJUDGED,
    Negative,
    Negatives,
    Order,
    Qrels,
    RankConflict,
    Run,
    relevance_codes,
    topic_ranks,
)
from bayespool.reading.samples import Sample, sample_notes, stratum_shares
from bayespool.reading.scope import (
    Exclude,
    Exclusion,
    StrangeTopics,
    Topics,
    find_strange_topics,
    join_hint,
    read_exclusion,
    select_topics,
)
from bayespool.reading.sources import (
    Judgments,
    Organizations,
    Runs,
    gather_organizations,
    gather_qrels,
    gather_runs,
)
from bayespool.tables.formatting import counted

USER_ORGANIZATION = "(yours)"
"""Name of the organization for runs to score that have no listed organization.

Apostrophes are added if a list has this name; `Collection.user_organization` is its index.
"""


def build_collection(
    runs: Runs,
    qrels: Judgments | None,
    *,
    organizations: Organizations | None = None,
    topics_table: Table | None = None,
    documents_table: Table | None = None,
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
        At least one, with distinct run ids, by which they are sorted (as for `bayespool.read_collection`).
    qrels : Judgments or None
        The judgments; they define the topics. With None nothing is judged, and topics are those of all runs.
    organizations : mapping of str to str, path or frame, optional
        Run id to organization. A missing run is an organization of its own. Other columns are attributes.
    order : {"score", "single-precision", "rank"}
        ``"score"`` is the order of trec_eval 10: score descending, ties by document id descending;
        ``"single-precision"`` that of trec_eval 9 and pytrec_eval, which round scores, so that more of them
        tie; ``"rank"`` uses the ranks of the run files, which some campaigns pooled by. Runs to score without
        ranks are then ordered by score.
    negative : {"listed", "sampled", "sampled-together", "unjudged", "nonrelevant"}
        Meaning of a negative relevance. ``"listed"``: −1 is in the pool and unjudged, lower values (−2: spam)
        are nonrelevant. ``"sampled"``: the same, and the judged documents of a topic are a uniform sample of
        those listed; ``"sampled-together"``: so are all judged documents, of those listed on any topic.
        ``"unjudged"``: all are as if they were not in the qrels. ``"nonrelevant"``: all are nonrelevant.
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
    exclude, topics, topics_table, documents_table
        As for `bayespool.read_collection`; ``"run"`` stands for the topics of all runs.

    Raises
    ------
    InputError
        No run, two runs with one id, a run without any topic of the qrels, qrels without a relevant document,
        order by ranks that a pooled run does not have, a pooled run without a depth.

    Warns
    -----
    InputWarning
        Runs are ordered by score, and the ranks of some order documents otherwise, beyond ties; or by rank,
        and ranks are equal or missing. Runs have topics that the qrels lack, and lack some that they have.
    """
    reading, exclusion = Reading(ranks=order == "rank"), read_exclusion(exclude)
    judgments = None if qrels is None else gather_qrels(qrels)
    if judgments is None:
        (parsed,) = gather_runs(runs, reading=reading)
        runs = parsed if exclusion is None else [exclusion.take_out(run) for run in parsed]
        judgments, negative = _first_documents(runs), "listed"
    judgments, note = select_topics(judgments, topics, runs, reading=reading)
    encoding = make_encoding(judgments, order=order, scores=scores, exclusion=exclusion)
    (read,) = gather_runs(runs, reading=reading, take=encoding.encode)
    collection = finish_collection(
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
    of_runs = gather_attributes(organizations, "run")
    collection = with_attributes(collection, of_runs, topics_table, documents_table)
    return collection.without_judgments(np.isfinite(collection.relevance)) if qrels is None else collection


def _first_documents(runs: Sequence[Run]) -> Qrels:
    """Return a document of each topic as if judged, since judgments define the topics."""
    first: dict[str, str] = {}
    for run in runs:
        names = run.query_id.dictionary.to_pylist()
        codes, lines = np.unique(run.query_id.indices.to_numpy(), return_index=True)
        for code, line in zip(codes.tolist(), lines.tolist(), strict=True):
            first.setdefault(names[code], run.doc_id[line].as_py())
    return qrels_from_frame({topic: {document: 1} for topic, document in first.items()})


def make_encoding(
    qrels: Qrels,
    *,
    order: Order = "score",
    scores: bool = False,
    exclusion: Exclusion | None = None,
    documents: Documents = "as-named",
) -> Encoding:
    """Create the encoding that runs are read into before `finish_collection`.

    An unknown order, or qrels without a relevant document but nobody's or a design's, is an `InputError`.
    """
    if order not in get_args(Order):
        raise InputError(f"no order {order!r}", hint=known_names(order, get_args(Order)))
    if exclusion is not None:
        qrels = exclusion.take_out(qrels)
    if qrels.lacks_relevant:
        raise InputError("no document is relevant", path=qrels.path, hint="is this the right qrels file?")
    return Encoding(qrels, order=order, scores=scores, exclusion=exclusion, documents=documents)


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
    relevance, negatives = encoding.relevance(pairs, negative)
    run_ids = tuple(run.run_id for run in read)
    listed = {} if organizations is None else gather_organizations(organizations)
    organization_names, organization, user = _organizations(run_ids, listed, set(own_run_ids))
    pooled_ids = set(pooled_run_ids)
    refuse_unranked(run for run in read if run.run_id in pooled_ids)
    notes = [topic_note] if topic_note else []
    if encoding.exclusion is not None:
        encoding.exclusion.warn_if_idle()
        notes.append(encoding.exclusion.note)
    pair_topic = np.repeat(np.arange(len(pairs.n_present), dtype=np.int32), pairs.n_present)
    sample = _sample(encoding, pairs, relevance, pair_topic, negative)
    if sample is not None:
        notes += sample_notes(sample, encoding.qrels)
    passages = find_passages(run_ids, document, relevance >= 0, pairs.doc_ids)
    refuse_passages(passages)
    notes += [each.note for each in passages]
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
        unranked=tuple(run.run_id for run in read if run.is_unranked),
    )
    for note in (collection.rank_note, collection.topic_note, *(each.note for each in passages)):
        if note:
            warn_caller(note, InputWarning)
    return collection


def _sample(
    encoding: Encoding, pairs: Pairs, relevance: LevelArray, pair_topic: IntArray, negative: Negative
) -> Sample | None:
    """Return the random sample that the judgments were published with, or None."""
    qrels, uniform = encoding.qrels, negative in ("sampled", "sampled-together")
    by_topic = negative != "sampled-together" and not qrels.over_topics
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
        inclusion = np.where(chosen, stratum_shares(stratum, chosen, pair_topic * by_topic), np.nan)
    return Sample(inclusion, stratum, candidates, as_trec_eval=uniform, by_topic=by_topic)


def refuse_unranked(pooled: Iterable[EncodedRun]) -> None:
    """Raise `InputError` for a run of the pool without the ranks that runs are ordered by."""
    if run := next((run for run in pooled if run.is_unranked), None):
        reason = f"run {run.run_id!r} of the pool has no ranks to order by"
        raise InputError(reason, path=run.path, hint="order by scores (--reading order=score, order='score')")


def _refuse_duplicates(runs: Sequence[EncodedRun]) -> None:
    if not runs:
        raise InputError("no runs given")
    first: dict[str, EncodedRun] = {}
    for run in runs:
        if run.run_id in first:
            raise InputError(
                f"two runs are called {run.run_id!r}",
                path=run.path,
                hint=f"the other is {first[run.run_id].path or 'given in memory'}; rename one, or name runs "
                "by their tags (--reading run_id=tag)",
            )
        first[run.run_id] = run


def _rankings(
    runs: Sequence[EncodedRun], pairs: Pairs, length: IntArray, *, scores: bool
) -> tuple[IntArray | Rankings, npt.NDArray[np.float32] | Rankings | None]:
    """Return ranked documents and their scores for all runs, shape (run, topic, rank) each."""
    document = np.empty(int(length.sum()), dtype=np.int32)
    score = np.empty(len(document), dtype=np.float32) if scores else None
    end = 0
    for run in runs:
        documents, kept = pairs.pair_by_number[run.document + np.repeat(pairs.first, run.length)], run.score
        if run.tied is not None:
            group = np.cumsum(~run.tied).astype(np.uint64)
            packed = group << np.uint64(32) | (np.uint64(0x7FFFFFFF) - documents.astype(np.uint64))
            order = packed.argsort(axis=-1, kind="stable")
            documents, kept = documents[order], None if kept is None else kept[order]
        end += len(documents)
        document[end - len(documents) : end] = documents
        if score is not None:
            score[end - len(documents) : end] = kept
    return arranged(document, length, -1), None if score is None else arranged(score, length, np.nan)


def arranged(values: AnyArray, length: IntArray, end: float) -> AnyArray | Rankings:
    """Return entries by runs, topics and ranks as an array, shape (run, topic, rank), dense or ragged."""
    if is_ragged(length):
        return Rankings(values, length, end)
    dense = np.full((*length.shape, int(length.max(initial=0))), end, dtype=values.dtype)
    dense[np.arange(dense.shape[2]) < length[..., None]] = values
    return dense


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


def set_users_runs_apart(collection: Collection) -> Collection:
    """Return the collection with an organization of its own for each run of the user's organization."""
    owner = collection.organization.tolist()
    listed = {
        run: collection.organizations[o]
        for run, o in zip(collection.run_ids, owner, strict=True)
        if o != collection.user_organization
    }
    names, organization, user = _organizations(collection.run_ids, listed, set())
    return replace(collection, organizations=names, organization=organization, user_organization=user)


# --- encoding ---------------------------------------------------------------------------------------------

_TOP_RANKS = 10  # that warnings count apart


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
    is_unranked: bool = False  # ordered by scores, since it has no ranks to be ordered by


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs:
    """All (topic, document) pairs, ordered by topic and document id."""

    doc_ids: pa.StringArray | pa.LargeStringArray  # shape (pair,)
    n_present: IntArray  # pairs of each topic, shape (topic,)
    first: IntArray  # first pair of each topic, shape (topic,)
    pair_by_number: IntArray  # pair of each number of an `Encoding`, topic by topic, shape (pair,)
    judged: IntArray  # pairs of the judgments, by topic in file order, shape (judgment,)


@dataclass(eq=False, repr=False)
class Encoding:
    """Integer encoding for the documents retrieved or judged for each topic in the qrels."""

    qrels: Qrels
    order: Order = "score"
    scores: bool = False
    exclusion: Exclusion | None = None
    documents: Documents = "as-named"

    def __post_init__(self) -> None:
        self.query_ids = _query_ids(self.qrels)
        self.judgments = LinesByTopic(self.qrels, self.query_ids)
        self._ids: list[pa.StringArray] = [
            self.judgments.doc_ids.slice(*self.judgments.span(t)) for t in range(len(self.query_ids))
        ]

    def encode(self, runs: Sequence[Run]) -> list[EncodedRun]:
        """Encode runs as integers and drop their text; not thread-safe."""
        if self.documents == "best-passage":
            named, by_rank = self.named_ids(), self.order == "rank"
            runs = [best_passages(run, named, by_rank=by_rank and run.rank is not None) for run in runs]
        if self.exclusion is not None:
            runs = [self.exclusion.take_out(run) for run in runs]
        columns = [LinesByTopic(run, self.query_ids) for run in runs]
        numbers = [np.empty(int(column.n_lines.sum()), dtype=np.int32) for column in columns]
        for t in range(len(self.query_ids)):
            self._number(columns, numbers, t)
        return [self._ordered(*each) for each in zip(runs, columns, numbers, strict=True)]

    def named_ids(self) -> pa.StringArray:
        """Return the ids of the documents that are judged on any topic."""
        return self.qrels.doc_id.unique()

    def _number(self, columns: Sequence[LinesByTopic], numbers: Sequence[IntArray], t: int) -> None:
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

    def _ordered(self, run: Run, column: LinesByTopic, number: IntArray) -> EncodedRun:
        """Return a run encoded and ordered by scores or ranks."""
        is_unranked = self.order == "rank" and run.rank is None
        order = "score" if is_unranked else self.order
        key, topic = column.in_order(_keys(run, order)), column.topic
        rank = None if order == "rank" or run.rank is None else column.in_order(run.rank)
        score = None
        if self.scores:
            with np.errstate(over="ignore"):
                score = column.in_order(run.score).astype(np.float32)
        if not _is_in_order(topic, key):
            ranking = np.lexsort((key, topic))
            key, number = key[ranking], number[ranking]
            score, rank = (None if each is None else each[ranking] for each in (score, rank))
        tied = continues(topic, key)
        return EncodedRun(
            run.run_id,
            run.path,
            column.n_lines,
            number,
            tied if tied.any() else None,
            score,
            None if rank is None else _rank_conflict(run.run_id, topic, key, rank),
            count_ties(run.run_id, topic, key, by_score=order == "score"),
            find_strange_topics(run, self.query_ids),
            is_unranked,
        )

    def relevance(self, pairs: Pairs, negative: Negative) -> tuple[LevelArray, Negatives]:
        """Return relevance codes of all pairs, shape (pair,), and what negative judgments mean."""
        codes, negatives = relevance_codes(self.qrels.relevance, negative)
        relevance = np.full(len(pairs.pair_by_number), UNJUDGED, dtype=np.int16)
        relevance[pairs.judged] = self.judgments.in_order(codes)
        return relevance, negatives

    def finish(self) -> Pairs:
        """Return the final (topic, document) pairs; the encoding cannot be used afterwards."""
        doc_ids, positions, first = list[pa.StringArray](), list[IntArray](), [0]
        for t, ids in enumerate(self._ids):
            by_bytes = pc.sort_indices(ids, memory_pool=MEMORY)
            position = np.empty(len(ids), dtype=np.int32)
            position[by_bytes.to_numpy()] = np.arange(first[-1], first[-1] + len(ids), dtype=np.int32)
            doc_ids.append(pc.take(ids, by_bytes, memory_pool=MEMORY))
            positions.append(position)
            first.append(first[-1] + len(ids))
            self._ids[t] = ids.slice(0, 0)  # which frees the ids in their old order
        n_judged = self.judgments.n_lines.tolist()
        judged = [position[:n] for position, n in zip(positions, n_judged, strict=True)]
        return Pairs(
            concatenated(doc_ids),
            np.diff(first).astype(np.int32),
            np.array(first[:-1], dtype=np.int32),
            np.concatenate(positions),
            np.concatenate(judged),
        )


class LinesByTopic:
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
    """Count the ranks at which ordering by score and by rank differ; None if they agree.

    Lines are in the order of their topics and scores.
    """
    if _is_in_order(topic, rank):
        return None
    group = np.cumsum(~continues(topic, by_score))  # of documents with equal scores
    by_group, by_rank = (
        np.argsort(part * 2**32 + rank, kind="stable") for part in (group, topic.astype(int))
    )
    differs = by_group != by_rank
    is_top = topic_ranks(topic) < _TOP_RANKS
    n_places = int(differs.sum())
    return RankConflict(run_id, n_places, int(differs[is_top].sum()), int(is_top.sum())) if n_places else None
