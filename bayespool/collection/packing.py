"""The pool of a collection alone: packed into members of an archive, and with runs joined to it."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.arrays import AnyArray, BoolArray, IntArray, LevelArray, OrderArray
from bayespool.collection.attributes import gather_attributes, unpack_attributes
from bayespool.collection.build import EncodedRun, Encoding, LinesByTopic, Pairs, arranged, finish_collection
from bayespool.collection.collection import Collection
from bayespool.collection.contents import DepthPool, Judge
from bayespool.collection.copies import adopt_copies, replace_copies
from bayespool.collection.document_columns import pack_columns, unpack_columns
from bayespool.collection.passages import Documents
from bayespool.collection.pools import SOLE, sole_contributor
from bayespool.collection.rankings import Rankings, lengths
from bayespool.errors import InputError
from bayespool.reading.archives import member_errors, read_member
from bayespool.reading.files import concatenated
from bayespool.reading.readers import Reading
from bayespool.reading.records import LISTED, UNJUDGED, Negative, Negatives, Order, Qrels
from bayespool.reading.scope import Exclude, read_exclusion
from bayespool.reading.sources import (
    Judgments,
    Organizations,
    Runs,
    gather_organizations,
    gather_qrels,
    gather_runs,
)
from bayespool.tables.files import parquet_member


@dataclass(frozen=True, eq=False)
class Joined:
    """The pool alone that runs were joined to.

    What is learned of the pool is the same in both, and is learned once for all runs that are joined.

    Attributes
    ----------
    pool : Collection
    places : ndarray of int, shape (pair,)
        Pair code in the collection with joined runs of each pair of the pool alone.
    """

    pool: Collection
    places: OrderArray


def joined_pool(collection: Collection) -> Joined | None:
    """Return the pool alone that runs were joined to, if they were."""
    joined: Joined | None = collection.memo.joined
    return joined


def pool_part(collection: Collection) -> Collection:
    """Return the collection of the pool alone that runs were joined to, or the collection itself."""
    joined = joined_pool(collection)
    return collection if joined is None else joined.pool


def set_pool_part(collection: Collection, part: Collection, places: OrderArray) -> Collection:
    """Declare that a collection is another one with runs joined to it, and return it."""
    collection.memo.joined = Joined(part, places)
    names = [collection.organizations.index(name) for name in part.organizations]
    sole = np.full(len(collection.relevance), -1, dtype=np.int32)
    sole[places] = np.array([*names, -1], dtype=np.int32)[sole_contributor(part)]
    collection.memo.once(SOLE, lambda: sole, "organization")  # which runs outside the pool do not change
    sole.flags.writeable = False
    return collection


def pool_alone(collection: Collection, ranks: int | None = None) -> Collection:
    """Return the collection with the pooled runs alone, and with documents that they rank or that are judged.

    Parameters
    ----------
    collection : Collection
    ranks : int, optional
        Ranks of the runs to keep, at least as many as the pool is deep. Default: all.

    Raises
    ------
    InputError
        No pooled run, a pool made by a strategy, judgments of one's own or a published sample, or fewer ranks
        than the pool is deep.
    """
    index = np.flatnonzero(collection.pooled)
    pool = collection.pool
    if not len(index):
        raise InputError("no pooled run to prepare", hint="give the campaign's runs as the pool")
    if not isinstance(pool, DepthPool):
        raise InputError("a pool made by a strategy cannot be prepared", hint="keep its runs in files")
    if collection.own is not None:
        hint = "give them where runs are scored"
        raise InputError("judgments of one's own are of runs to score", hint=hint)
    if collection.sample is not None:
        raise InputError("a published sample cannot be prepared", hint="keep its judgments and runs in files")
    if ranks is not None and ranks < (deepest := int(collection.run_depths(index).max())):
        raise InputError(f"{ranks} ranks of a pool of depth {deepest}", hint=f"keep {deepest} or more")
    document = np.asarray(collection.document[index, :, :ranks])
    kept = is_listed(collection.relevance)
    for judge in collection.judges:
        kept |= judge.is_labeled
    kept[document[document >= 0]] = True
    place = np.append(np.cumsum(kept, dtype=np.int32) - 1, np.int32(-1))
    names = [collection.organizations[o] for o in collection.organization[index]]
    organizations = tuple(sorted(set(names)))
    return dataclasses.replace(
        collection,
        run_ids=tuple(collection.run_ids[i] for i in index),
        document=arranged(place[document[document >= 0]], lengths(document), -1),
        relevance=collection.relevance[kept],
        pair_topic=collection.pair_topic[kept],
        doc_ids=collection.doc_ids.filter(pa.array(kept)),
        organizations=organizations,
        organization=np.array([organizations.index(name) for name in names], dtype=np.int32),
        pooled=np.ones(len(index), dtype=bool),
        pool=pool.select_runs(index),
        attributed_run=np.full(int(kept.sum()), -1, dtype=np.int32),
        given_run_ids=(),
        formerly_pooled_run_ids=(),
        copied_runs=(),
        user_organization=-1,
        score=None,
        judges=tuple(Judge(judge.name, judge.label[kept]) for judge in collection.judges),
        rank_conflicts=(),
        ties=(),
        strange_topics=(),
        unranked=(),
    )


def is_listed(relevance: LevelArray) -> BoolArray:
    """Return whether the qrels list documents, judged or not."""
    return np.asarray((relevance >= 0) | (relevance == LISTED))


def fingerprint_judgments(collection: Collection) -> str:
    """Return a hash in 16 hexadecimal digits over the judgments of a collection, topic by topic."""
    kept = np.flatnonzero(is_listed(collection.relevance))
    digest = hashlib.blake2b(repr(collection.query_ids).encode(), digest_size=8)
    digest.update("\n".join(collection.doc_ids.take(pa.array(kept)).to_pylist()).encode())
    for array in (collection.pair_topic, collection.relevance):
        digest.update(np.ascontiguousarray(array[kept]).data)
    return digest.hexdigest()


# --- joining ----------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class _Joining(Encoding):
    """Encoding that starts from the documents of a collection, and of judgments that it lacks, if any."""

    base: Collection = dataclasses.field(kw_only=True)

    def __post_init__(self) -> None:
        base = self.base
        self.query_ids = base.query_ids
        self._first = np.searchsorted(base.pair_topic, np.arange(len(base.query_ids) + 1)).astype(np.int32)
        self._new: list[dict[bytes, int]] = [{} for _ in self.query_ids]
        self._line_numbers: IntArray | None = None  # of documents that are judged
        if len(self.qrels.relevance):
            self.judgments = LinesByTopic(self.qrels, self.query_ids)
            self._line_numbers = np.zeros(int(self.judgments.n_lines.sum()), dtype=np.int32)
            for t in range(len(self.query_ids)):
                self._number([self.judgments], [self._line_numbers], t)

    def named_ids(self) -> pa.StringArray:
        """Return the ids of the documents that are judged on any topic."""
        return self.base.doc_ids.filter(pa.array(self.base.judged)).cast(pa.string()).unique()

    @property
    def runs(self) -> list[EncodedRun]:
        """Runs of the collection, encoded."""
        base, first = self.base, self._first[:-1]
        document, length = base.document, base.length
        encoded = []
        for r, run_id in enumerate(base.run_ids):
            ranked = np.asarray(document[r])
            numbers = ranked[ranked >= 0] - np.repeat(first, length[r])
            encoded.append(EncodedRun(run_id, None, length[r].astype(np.int64), numbers, None, None))
        return encoded

    def _number(self, columns: Sequence[LinesByTopic], numbers: Sequence[IntArray], t: int) -> None:
        known, new, n_known = ids_of_topics(self.base)[t], self._new[t], self._first[t + 1] - self._first[t]
        for column, number in zip(columns, numbers, strict=True):
            start, n = column.span(t)
            if not n:
                continue
            ids = _to_bytes(column.doc_ids.slice(start, n))
            place = np.searchsorted(known, ids)
            codes = place.astype(np.int32)
            lacking = np.flatnonzero(known[np.minimum(place, len(known) - 1)] != ids)
            for line, doc_id in zip(lacking.tolist(), ids[lacking].tolist(), strict=True):
                codes[line] = n_known + new.setdefault(doc_id, len(new))
            number[start : start + n] = codes

    def finish(self) -> Pairs:
        """Return the (topic, document) pairs of the collection and of what was joined."""
        base, first = self.base, [0]
        positions, order, ids = list[IntArray](), list[OrderArray](), list[bytes]()
        for t, new in enumerate(self._new):
            known, added = ids_of_topics(base)[t], sorted(new)
            numbers = len(known) + np.array([new[doc_id] for doc_id in added], dtype=np.intp)
            before = np.searchsorted(known, np.array(added, dtype=bytes)) if added else numbers
            position = np.empty(len(known) + len(added), dtype=np.int32)
            shift = np.searchsorted(before, np.arange(len(known)), side="right")
            position[: len(known)] = np.arange(len(known)) + shift
            position[numbers] = before + np.arange(len(added))
            source = np.empty(len(position), dtype=np.int64)
            source[position[: len(known)]] = self._first[t] + np.arange(len(known))
            source[position[numbers]] = len(base.relevance) + len(ids) + np.arange(len(added))
            ids += added
            order.append(source)
            positions.append(position + np.int32(first[-1]))
            first.append(first[-1] + len(position))
        self.places = np.concatenate([p[:n] for p, n in zip(positions, np.diff(self._first), strict=True)])
        added_ids = pa.array([doc_id.decode() for doc_id in ids], pa.string())
        judged = self.places
        if self._line_numbers is not None:
            spans = (self.judgments.span(t) for t in range(len(self.query_ids)))
            lines = (self._line_numbers[start : start + n] for start, n in spans)
            judged = np.concatenate([p[some] for p, some in zip(positions, lines, strict=True)])
        return Pairs(
            pc.take(concatenated([base.doc_ids, added_ids]), pa.array(np.concatenate(order))),
            np.diff(first).astype(np.int32),
            np.array(first[:-1], dtype=np.int32),
            np.concatenate(positions),
            judged,
        )

    def relevance(self, pairs: Pairs, negative: Negative) -> tuple[LevelArray, Negatives]:
        """Return relevance codes of all pairs, shape (pair,), and what negative judgments mean."""
        if self._line_numbers is not None:
            return super().relevance(pairs, negative)
        relevance = np.full(len(pairs.pair_by_number), UNJUDGED, dtype=np.int16)
        relevance[self.places] = self.base.relevance
        return relevance, self.base.negatives


def ids_of_topics(collection: Collection) -> list[npt.NDArray[np.bytes_]]:
    """Return the document ids of each topic as arrays of bytes, in ascending order."""

    def find() -> list[npt.NDArray[np.bytes_]]:
        topics = np.arange(len(collection.query_ids) + 1)
        bounds = itertools.pairwise(np.searchsorted(collection.pair_topic, topics).tolist())
        return [_to_bytes(collection.doc_ids.slice(start, stop - start)) for start, stop in bounds]

    return collection.memo.once("ids of topics", find)


def _to_bytes(ids: pa.Array) -> npt.NDArray[np.bytes_]:
    return np.array(ids.cast(pa.binary()).to_pylist() or [b""], dtype=bytes)[: len(ids)]


_MOST = 2**31 - 1  # ranks or documents
_NO_QRELS = Qrels(
    pa.array([], pa.string()).dictionary_encode(), pa.array([], pa.string()), np.zeros(0, np.int16)
)


def join_runs(
    part: Collection,
    runs: Runs,
    *,
    organizations: Organizations | None = None,
    each_its_own: bool = False,
    exclude: Exclude | None = None,
    documents: Documents = "as-named",
    reading: Reading = Reading(),
) -> Collection:
    """Return a pool with runs to score joined to it, as if all had been read together.

    Parameters
    ----------
    part : Collection
        The pool alone (`pool_alone`).
    runs : Runs
        Runs to score, in all forms of `bayespool.read_collection`.
    organizations : mapping of str to str, path or frame, optional
        Those of these runs. The others are of one organization, or of one each if ``each_its_own``.
    exclude : Exclude, optional
        Documents to take out of these runs.
    documents : {"as-named", "best-passage"}
        What ids of these runs stand for, as in `bayespool.read_collection`.
    reading : Reading, optional

    Raises
    ------
    InputError
        A run has the name of one of the pool and other rankings, or shares no topic with it.
    """
    reading = dataclasses.replace(reading, ranks=part.order == "rank", may_repeat=documents == "best-passage")
    exclusion = read_exclusion(exclude, reading=reading)
    encoding = _Joining(_NO_QRELS, part.order, exclusion=exclusion, documents=documents, base=part)
    pooled = encoding.runs
    (own,) = gather_runs(runs, reading=reading, take=encoding.encode)
    given = [run.run_id for run in own]
    own = [run for run in replace_copies(own, pooled, prefix=True) if run not in pooled]
    if again := sorted({run.run_id for run in own} & set(part.run_ids)):
        raise InputError(
            f"run {again[0]!r} is in the pool of the prepared collection, with other rankings",
            hint="rename it, or give the file of the campaign",
        )
    listed = {} if organizations is None else gather_organizations(organizations, reading=reading)
    names = {**listed, **_organization_names(part)}
    if other := [run for run in part.run_ids if listed.get(run, names[run]) != names[run]]:
        raise InputError(
            f"run {other[0]!r} of the pool is of {names[other[0]]!r} in the prepared collection, and of "
            f"{listed[other[0]]!r} in the list of organizations",
            hint="list the runs to score alone, or prepare the collection again",
        )
    joined = adopt_copies(_finish(encoding, [*own, *pooled], names, given, each_its_own))
    of_runs = gather_attributes(organizations, "run", reading=reading).joined(part.runs, "run")
    joined = dataclasses.replace(joined, runs=of_runs)
    return set_pool_part(joined, part, encoding.places)


def _finish(
    encoding: _Joining,
    runs: Sequence[EncodedRun],
    organizations: Mapping[str, str],
    given: Sequence[str],
    each_its_own: bool,
    negative: Negative = "listed",
) -> Collection:
    """Return the collection of encoded runs, with the pool, labels and notes of the encoding's collection."""
    part = encoding.base
    collection = finish_collection(
        encoding,
        runs,
        organizations=organizations,
        negative=negative,
        pooled_run_ids=part.run_ids,
        pool_depth=dict(
            zip(part.run_ids, part.run_depths(np.arange(len(part.run_ids))).tolist(), strict=True)
        ),
        given_run_ids=given,
        own_run_ids=() if each_its_own else given,
    )
    assert isinstance(part.pool, DepthPool)
    depths = collection.run_depths(np.arange(len(collection.run_ids))).tolist()
    pool = dataclasses.replace(part.pool, depths=tuple(depths))
    judges = []
    for judge in part.judges:
        label = np.full(len(collection.relevance), np.nan)
        label[encoding.places] = judge.label
        judges.append(Judge(judge.name, label))
    notes = tuple(dict.fromkeys((*part.scope_notes, *collection.scope_notes)))
    collection = dataclasses.replace(collection, pool=pool, judges=tuple(judges), scope_notes=notes)
    return dataclasses.replace(collection, runs=part.runs, topics=part.topics, documents=part.documents)


# --- members of an archive --------------------------------------------------------------------------------

_ABOUT, _DOCUMENTS, _RANKINGS = "collection.json", "documents.parquet", "rankings.parquet"


def pack(part: Collection, *, judgments: bool = True) -> dict[str, bytes]:
    """Return the members of an archive from which `unpack` makes the same collection.

    Parameters
    ----------
    part : Collection
        The pool alone (`pool_alone`).
    judgments : bool, default True
        Whether the judgments are among the members; else `unpack` needs them again.
    """
    fingerprint, pool = fingerprint_judgments(part), part.pool
    assert isinstance(pool, DepthPool)
    about = {
        "query_ids": part.query_ids,
        "run_ids": part.run_ids,
        "organizations": [part.organizations[o] for o in part.organization],
        "depths": part.run_depths(np.arange(len(part.run_ids))).tolist(),
        "depth": part.pool_depth,
        "judges": [judge.name for judge in part.judges],
        "order": part.order,
        "negatives": dataclasses.asdict(part.negatives),
        "notes": part.scope_notes,
        "doubts": pool.doubts,
        "alternative": pool.alternative,
        "judgments": fingerprint,
    }
    attributes = {"runs": part.runs.select(part.run_ids), "topics": part.topics}
    about |= {name: table.columns for name, table in attributes.items() if table}
    if not judgments:
        part = pool_alone(part.without_judgments(np.ones(len(part.relevance), dtype=bool)))
    topics = np.arange(len(part.query_ids))
    first, length = np.searchsorted(part.pair_topic, topics), part.length
    document = np.asarray(part.document[:, :, :])
    ranked = document[document >= 0]
    n_runs = np.bincount(ranked, minlength=len(part.relevance)).astype(np.int32)
    place = np.argsort(_by_runs(part.pair_topic, n_runs))
    local = place[ranked] - np.repeat(np.tile(first, len(length)), length.ravel())
    columns: dict[str, Any] = {
        "topic": part.pair_topic.astype(np.int32),
        "doc_id": part.doc_ids,
        "n_runs": n_runs,
        **({"relevance": part.relevance} if judgments else {}),
        **{f"judge {k}": judge.label for k, judge in enumerate(part.judges)},
    }
    offsets = np.append(0, np.cumsum(length.ravel())).astype(np.int32)
    rankings = pa.ListArray.from_arrays(pa.array(offsets), pa.array(local.astype(_index_type(first, part))))
    return {
        _ABOUT: json.dumps(about, ensure_ascii=False, indent=1).encode(),
        _DOCUMENTS: parquet_member(pa.table(columns), doc_id="DELTA_BYTE_ARRAY"),
        _RANKINGS: parquet_member(pa.table({"documents": rankings})),
        **{name: parquet_member(table) for name, table in pack_columns(part.documents).items()},
    }


def _by_runs(topic: IntArray, n_runs: IntArray) -> OrderArray:
    """Return pair codes with the documents of a topic that most runs retrieve first, shape (pair,)."""
    # the numbers of documents in rankings are mostly small then, and take less space
    return np.argsort(topic.astype(np.int64) * 2**31 - n_runs, kind="stable")


def _index_type(first: OrderArray, part: Collection) -> type[np.unsignedinteger[Any]]:
    most = int(np.diff(first, append=len(part.pair_topic)).max(initial=0))
    return np.uint16 if most <= np.iinfo(np.uint16).max else np.uint32


def unpack(
    members: Mapping[str, bytes], *, qrels: Judgments | None = None, path: Path | None = None
) -> Collection:
    """Return the collection that `pack` made members of.

    Parameters
    ----------
    members : mapping of str to bytes
    qrels : Judgments, optional
        The judgments, where they are not among the members.
    path : path, optional
        The archive, for messages.

    Raises
    ------
    InputError
        A member is missing or not as `pack` makes it; no judgments, or others than the collection had.
    """
    with member_errors(path):
        about = json.loads(members[_ABOUT])
        table = read_member(members[_DOCUMENTS])
        part = _unpack(members, about, table)
        fingerprint, negatives = str(about["judgments"]), part.negatives
        has_judgments = "relevance" in table.column_names
    if has_judgments:
        if qrels is not None:
            hint = "leave out --qrels (qrels=)"
            raise InputError("the prepared collection has its judgments", path=path, hint=hint)
        judged = part
    else:
        if qrels is None:
            raise InputError(
                "the prepared collection was made without judgments",
                path=path,
                hint="give the qrels of the campaign, too: --qrels (qrels=)",
            )
        encoding = _Joining(gather_qrels(qrels), part.order, base=part)
        judged = _finish(encoding, encoding.runs, _organization_names(part), (), True, negatives.meaning)
    if fingerprint_judgments(judged) != fingerprint:
        raise InputError(
            "the judgments are not those that the collection was prepared with",
            path=path,
            hint="give the same qrels; with changed ones prepare the collection again",
        )
    return judged


def _organization_names(part: Collection) -> dict[str, str]:
    return dict(zip(part.run_ids, (part.organizations[o] for o in part.organization), strict=True))


def _unpack(members: Mapping[str, bytes], about: Mapping[str, Any], table: pa.Table) -> Collection:
    """Return the collection of members and of the table of documents, unjudged if that has no judgments."""
    for name in ("query_ids", "run_ids", "organizations", "judges", "notes", "doubts"):
        if not isinstance(about[name], list) or not all(isinstance(text, str) for text in about[name]):
            raise ValueError(f"{name} are no texts")
    run_ids, query_ids = tuple(about["run_ids"]), tuple(about["query_ids"])
    depth, *depths = (read_count(each) for each in (about["depth"], *about["depths"]))
    if list(run_ids) != sorted(set(run_ids)) or len(set(query_ids)) < len(query_ids):
        raise ValueError("runs or topics twice, or out of order")
    if not len(depths) == len(about["organizations"]) == len(run_ids) > 0 or min(depths) < 1:
        raise ValueError("runs without a depth or an organization")
    if about["order"] not in get_args(Order):
        raise ValueError(f"no order {about['order']!r}")
    topic = _integers(table["topic"], np.int32)
    doc_ids = table["doc_id"].combine_chunks().cast(pa.string())
    if (
        doc_ids.null_count
        or (np.diff(topic) < 0).any()
        or not 0 <= topic.min() <= topic.max() < len(query_ids)
    ):
        raise ValueError("documents without a topic or an id")
    n_runs = _integers(table["n_runs"], np.int32)
    names = tuple(sorted(set(about["organizations"])))
    relevance = np.full(len(topic), UNJUDGED, dtype=np.int16)
    if "relevance" in table.column_names:
        relevance = _integers(table["relevance"], np.int16)
    part = Collection(
        run_ids=run_ids,
        query_ids=query_ids,
        document=_unpack_rankings(members[_RANKINGS], topic, n_runs, len(run_ids), len(query_ids)),
        relevance=relevance,
        pair_topic=topic,
        doc_ids=doc_ids,
        organizations=names,
        organization=np.array([names.index(name) for name in about["organizations"]], dtype=np.int32),
        pooled=np.ones(len(run_ids), dtype=bool),
        pool=DepthPool(depth, tuple(depths), str(about["alternative"]), tuple(about["doubts"])),
        attributed_run=np.full(len(topic), -1, dtype=np.int32),
        negatives=_unpack_negatives(about["negatives"]),
        judges=tuple(
            Judge(name, table[f"judge {k}"].to_numpy().astype(np.float64))
            for k, name in enumerate(about["judges"])
        ),
        scope_notes=tuple(about["notes"]),
        order=about["order"],
        runs=unpack_attributes(about.get("runs", {})),
        topics=unpack_attributes(about.get("topics", {})),
        documents=unpack_columns(members),
    )
    for ids in ids_of_topics(part):
        if (ids[1:] <= ids[:-1]).any():
            raise ValueError("documents twice, or out of order")
    return part


def read_count(value: object) -> int:
    """Return a number of ranks or documents; ValueError for anything else."""
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError(f"{value!r:.40} is no number of ranks or documents")
    return value


def _integers(column: pa.ChunkedArray, kind: type[np.signedinteger[Any]]) -> AnyArray:
    """Return a column of integers; ValueError for others, and for those that the type does not hold."""
    if column.null_count:
        raise ValueError("a number is missing")
    return np.asarray(column.cast(pa.from_numpy_dtype(kind))).astype(kind)


def _unpack_negatives(about: Mapping[str, Any]) -> Negatives:
    negatives = Negatives(**about)
    if negatives.meaning not in get_args(Negative):
        raise ValueError("no meaning of negative judgments")
    read_count(negatives.n_minus_one)
    read_count(negatives.n_below)
    return negatives


def _unpack_rankings(
    member: bytes, topic: IntArray, n_retrieving: IntArray, n_runs: int, n_topics: int
) -> IntArray | Rankings:
    """Return the rankings of runs as pair codes, shape (run, topic, rank)."""
    rankings = read_member(member)["documents"].combine_chunks()
    length = np.diff(rankings.offsets.to_numpy())
    first = np.searchsorted(topic, np.arange(n_topics + 1))
    if len(length) != n_runs * n_topics or rankings.null_count:
        raise ValueError(f"{len(length)} rankings of {n_runs} runs on {n_topics} topics")
    local = _integers(rankings.flatten(), np.int64)
    ranking = np.repeat(np.arange(len(length)), length)
    if (local < 0).any() or (local >= np.diff(first)[ranking % n_topics]).any():
        raise ValueError("a ranking has documents that are not there")
    pair = _by_runs(topic, n_retrieving)[first[ranking % n_topics] + local]
    if not np.array_equal(np.bincount(pair, minlength=len(topic)), n_retrieving):
        raise ValueError("a document is in more or fewer rankings than its number says")
    end, seen = np.cumsum(length.reshape(n_runs, n_topics).sum(axis=1)), np.empty(len(topic), dtype=bool)
    for documents in np.split(pair, end[:-1]):
        seen[:] = False
        seen[documents] = True
        if np.count_nonzero(seen) < len(documents):
            raise ValueError("a ranking has a document twice")
    return arranged(pair.astype(np.int32), length.reshape(n_runs, n_topics).astype(np.int32), -1)
