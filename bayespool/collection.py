"""Runs and judgments as dense integer arrays: who ranked what where, who contributed what to the pool.

This is the only place that orders a ranking and the only one that knows organizations.

Documents are *pair codes*: every (topic, document) that a run retrieved or an assessor judged has one
integer, numbered by topic and then by document id in byte order. ``relevance[pair]`` is therefore a flat
array and each question about a ranking one vectorised look-up; within a topic a larger code is a larger
document id, which is what trec_eval's tie rule asks for.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.errors import InputError
from bayespool.trec import Qrels, Run

if TYPE_CHECKING:
    from typing import Self

__all__ = ["UNJUDGED", "Collection", "build_collection", "sole_contributor"]

UNJUDGED = -1
"""Relevance of a document that nobody has judged; distinct from 0, judged and not relevant."""

Order = Literal["score", "rank"]
IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Topics, runs and judgments of one test collection.

    Made by `build_collection` or `bayespool.read_collection`, never by hand. Nothing in it changes; `unpool`
    and `truncate_pool` return another collection that shares the rankings.

    Attributes
    ----------
    run_ids : tuple of str
        Names of the runs, pooled or not, in the order of axis ``run``.
    query_ids : tuple of str
        The topics of the qrels, numeric ones in numeric order; the denominator of every mean.
    document : ndarray of int32, shape (run, topic, rank)
        Pair codes from the first rank down, −1 where the run has ended.
    relevance : ndarray of int16, shape (pair,)
        Judged relevance, 0 or more; `UNJUDGED` where there is no judgment.
    pair_topic, pair_doc : ndarray of int32, shape (pair,)
        Topic of a pair, and its document as an index into `doc_ids`.
    doc_ids : pyarrow.StringArray
        All document ids in byte order.
    organizations : tuple of str
        Names of the organizations.
    organization : ndarray of int32, shape (run,)
        Index into `organizations` for each run.
    pooled : ndarray of bool, shape (run,)
        Whether a run contributed to the pool.
    pool_depth : int
        Each pooled run's documents down to this rank were judged; 0 where no pool is known.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    document: IntArray
    relevance: npt.NDArray[np.int16]
    pair_topic: IntArray
    pair_doc: IntArray
    doc_ids: pa.StringArray
    organizations: tuple[str, ...]
    organization: IntArray
    pooled: npt.NDArray[np.bool_]
    pool_depth: int

    def __repr__(self) -> str:
        judged = int((self.relevance >= 0).sum())
        return (
            f"<Collection: {len(self.run_ids)} runs ({self.pooled.sum()} pooled to depth {self.pool_depth}), "
            f"{len(self.organizations)} organizations, {len(self.query_ids)} topics, {judged} judgments, "
            f"{int((self.relevance > 0).sum())} relevant>"
        )

    @property
    def pooled_run_ids(self) -> tuple[str, ...]:
        """Names of the runs that contributed to the pool."""
        return tuple(run for run, pooled in zip(self.run_ids, self.pooled, strict=True) if pooled)

    @cached_property
    def length(self) -> IntArray:
        """Number of documents retrieved, shape (run, topic)."""
        length: IntArray = (self.document >= 0).sum(axis=2, dtype=np.int32)
        return length

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with any ranking, judgment, organization or pool setting."""
        digest = hashlib.blake2b(digest_size=8)
        for text in (self.run_ids, self.query_ids, self.organizations, self.pool_depth):
            digest.update(repr(text).encode())
        for array in (
            self.document,
            self.relevance,
            self.pair_topic,
            self.pair_doc,
            self.organization,
            self.pooled,
        ):
            digest.update(np.ascontiguousarray(array).data)
        for buffer in self.doc_ids.buffers():
            if buffer is not None:
                digest.update(buffer)
        return digest.hexdigest()

    def run_index(self, run_ids: str | Iterable[str] | None = None) -> npt.NDArray[np.intp]:
        """Positions of the named runs on axis ``run``; all of them without an argument.

        Raises
        ------
        InputError
            A run is not in the collection.

        Examples
        --------
        >>> from bayespool import load_example
        >>> load_example().run_index(["new-a"]).shape
        (1,)
        """
        if run_ids is None:
            return np.arange(len(self.run_ids))
        position = {run: i for i, run in enumerate(self.run_ids)}
        names = [run_ids] if isinstance(run_ids, str) else list(run_ids)
        unknown = [run for run in names if run not in position]
        if unknown:
            raise InputError(f"no run {unknown[0]!r} in the collection", hint=f"it has {_some(self.run_ids)}")
        return np.array([position[run] for run in names], dtype=np.intp)

    def doc_id(self, pair: int) -> str:
        """Document id of a pair code."""
        return str(self.doc_ids[int(self.pair_doc[pair])].as_py())

    def pool(self, run_index: npt.NDArray[np.intp] | None = None) -> npt.NDArray[np.bool_]:
        """Which pairs the given runs (default: all pooled ones) retrieved down to the pool depth, shape
        (pair,).
        """
        index = np.flatnonzero(self.pooled) if run_index is None else run_index
        inside = np.zeros(len(self.relevance) + 1, dtype=bool)
        inside[self.document[index, :, : self.pool_depth]] = True
        return inside[:-1]

    def unpool(self, run_ids: str | Iterable[str] | None = None, *, organization: str | None = None) -> Self:
        """The collection as it would be had some runs, or all runs of an organization, not been pooled.

        A judgment goes when only the removed runs contributed its document within the pool depth. Judgments
        that no pooled run explains stay: whoever contributed them is not among the removed. The runs keep
        their rankings.

        Parameters
        ----------
        run_ids : str or iterable of str, optional
            Runs to take out of the pool. Runs that were not pooled contributed nothing and change nothing.
        organization : str, optional
            Take out all runs of this organization instead.

        Returns
        -------
        Collection

        Raises
        ------
        InputError
            Unknown run or organization, or not exactly one of the two given.

        Examples
        --------
        >>> from bayespool import load_example
        >>> example = load_example()
        >>> smaller = example.unpool(organization="north")
        >>> int((example.relevance >= 0).sum()) > int((smaller.relevance >= 0).sum())
        True
        """
        if (run_ids is None) == (organization is None):
            raise InputError("unpool takes run ids or an organization, one of the two")
        if organization is not None:
            if organization not in self.organizations:
                raise InputError(
                    f"no organization {organization!r}", hint=f"known: {_some(self.organizations)}"
                )
            removed = self.organization == self.organizations.index(organization)
        else:
            removed = np.zeros(len(self.run_ids), dtype=bool)
            removed[self.run_index(run_ids)] = True
        pooled = self.pooled & ~removed
        gone = self.pool(np.flatnonzero(self.pooled & removed)) & ~self.pool(np.flatnonzero(pooled))
        relevance = np.where(gone, np.int16(UNJUDGED), self.relevance)
        return dataclasses.replace(self, relevance=relevance, pooled=pooled)

    def truncate_pool(self, depth: int) -> Self:
        """The collection as it would be had only the pooled runs' first ``depth`` documents been judged.

        Raises
        ------
        InputError
            ``depth`` is not between 1 and the pool depth.
        """
        if not 1 <= depth <= self.pool_depth:
            raise InputError(f"pool depth {depth} is not between 1 and {self.pool_depth}")
        shallow = dataclasses.replace(self, pool_depth=depth)
        relevance = np.where(shallow.pool(), self.relevance, np.int16(UNJUDGED))
        return dataclasses.replace(shallow, relevance=relevance)


def sole_contributor(collection: Collection, by: Literal["organization", "run"] = "organization") -> IntArray:
    """Who alone contributed each document to the pool.

    Parameters
    ----------
    collection : Collection
    by : {"organization", "run"}
        What counts as one contributor.

    Returns
    -------
    ndarray of int32, shape (pair,)
        Index of the organization (or run) that alone retrieved the document within the pool depth; −1 where
        several did or none.
    """
    if by not in ("organization", "run"):
        raise InputError(f"cannot hold out by {by!r}", hint="organization or run")
    unit = (
        collection.organization
        if by == "organization"
        else np.arange(len(collection.run_ids), dtype=np.int32)
    )
    n_contributors = np.zeros(len(collection.relevance), dtype=np.int32)
    owner = np.full(len(collection.relevance), -1, dtype=np.int32)
    for u in np.unique(unit[collection.pooled]):
        inside = collection.pool(np.flatnonzero(collection.pooled & (unit == u)))
        n_contributors += inside
        owner[inside] = u
    return np.where(n_contributors == 1, owner, np.int32(-1))


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
    query_ids, query_codes = _query_codes(runs, qrels)
    doc_ids, doc_codes = _doc_codes([*(run.doc_id for run in runs), qrels.doc_id])
    vocabulary, sort_key = _stack(runs, query_codes[:-1], doc_codes[:-1], len(query_ids), order)
    document = np.full(vocabulary.shape, -1, dtype=np.int32)
    n_pairs, pair_topic, pair_doc, relevance = 0, [], [], []
    lookup = np.empty(len(doc_ids), dtype=np.int32)
    for t in range(len(query_ids)):
        on_topic = query_codes[-1] == t
        judged = doc_codes[-1][on_topic]
        retrieved = vocabulary[:, t, :] >= 0
        seen = np.zeros(len(doc_ids), dtype=bool)
        seen[vocabulary[:, t, :][retrieved]] = True
        seen[judged] = True
        present = np.flatnonzero(seen).astype(np.int32)
        lookup[present] = np.arange(n_pairs, n_pairs + len(present), dtype=np.int32)
        document[:, t, :] = _order(lookup[vocabulary[:, t, :]], sort_key[:, t, :], retrieved)
        topic_relevance = np.full(len(present), UNJUDGED, dtype=np.int16)
        topic_relevance[lookup[judged] - n_pairs] = np.maximum(qrels.relevance[on_topic], UNJUDGED)
        n_pairs += len(present)
        pair_topic.append(np.full(len(present), t, dtype=np.int32))
        pair_doc.append(present)
        relevance.append(topic_relevance)
    run_ids = tuple(run.run_id for run in runs)
    names, organization = _organizations(run_ids, organizations or {})
    pooled_ids = set(pooled_run_ids)
    return Collection(
        run_ids=run_ids,
        query_ids=query_ids,
        document=document,
        relevance=np.concatenate(relevance),
        pair_topic=np.concatenate(pair_topic),
        pair_doc=np.concatenate(pair_doc),
        doc_ids=doc_ids,
        organizations=names,
        organization=organization,
        pooled=np.array([run in pooled_ids for run in run_ids]),
        pool_depth=pool_depth,
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


def _query_codes(runs: Sequence[Run], qrels: Qrels) -> tuple[tuple[str, ...], list[IntArray]]:
    """Topics of the qrels in order, and for each run (then the qrels) the topic index of its lines, −1 for
    other topics.
    """
    topics = {str(q) for q in qrels.query_id.unique().to_pylist()}
    query_ids = tuple(
        sorted(topics, key=lambda q: (0, int(q), q) if q.isascii() and q.isdigit() else (1, 0, q))
    )
    index = {q: i for i, q in enumerate(query_ids)}
    codes = []
    sources: list[Run | Qrels] = [*runs, qrels]
    for source in sources:
        names = source.query_id.dictionary.to_pylist()
        to_index = np.array([index.get(q, -1) for q in names], dtype=np.int32)
        code = to_index[source.query_id.indices.to_numpy(zero_copy_only=False)]
        if not (code >= 0).any():
            raise InputError(
                f"none of its topics is in the qrels: it has {_some(names)}, the qrels {_some(query_ids)}",
                path=source.path,
                hint="are these the qrels of this run's topics?",
            )
        codes.append(code)
    return query_ids, codes


def _doc_codes(columns: Sequence[pa.DictionaryArray]) -> tuple[pa.StringArray, list[IntArray]]:
    """All document ids in byte order, and each column as indices into them."""
    chunks = pa.chunked_array(columns).unify_dictionaries().chunks
    names = chunks[0].dictionary
    order = pc.sort_indices(names)
    rank = np.empty(len(names), dtype=np.int32)
    rank[order.to_numpy()] = np.arange(len(names), dtype=np.int32)
    return names.take(order), [rank[chunk.indices.to_numpy(zero_copy_only=False)] for chunk in chunks]


def _stack(
    runs: Sequence[Run], query_codes: list[IntArray], doc_codes: list[IntArray], n_topics: int, order: Order
) -> tuple[IntArray, npt.NDArray[np.uint32]]:
    """Document codes and ascending sort keys in file order, both of shape (run, topic, rank), codes −1 where
    there is none.
    """
    lengths = [np.bincount(code[code >= 0], minlength=n_topics) for code in query_codes]
    shape = (len(runs), n_topics, max(int(length.max()) for length in lengths))
    vocabulary = np.full(shape, -1, dtype=np.int32)
    sort_key = np.zeros(shape, dtype=np.uint32)
    for r, run in enumerate(runs):
        code, start = query_codes[r], np.cumsum(lengths[r]) - lengths[r]
        keep = np.argsort(code, kind="stable")[np.count_nonzero(code < 0) :]
        topic = code[keep]
        position = np.arange(len(keep)) - start[topic]
        vocabulary[r, topic, position] = doc_codes[r][keep]
        if order == "score":
            sort_key[r, topic, position] = _descending(run.score)[keep]
        elif run.rank is not None:
            sort_key[r, topic, position] = (run.rank.astype(np.int64) + 2**31).astype(np.uint32)[keep]
    return vocabulary, sort_key


def _descending(score: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Keys that ascend as the single-precision score descends; equal floats, 0.0 and −0.0 among them, have
    equal keys.
    """
    with np.errstate(over="ignore"):
        bits = (score.astype(np.float32) + np.float32(0)).view(np.uint32)
    ascending = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
    return ~ascending


def _order(pair: IntArray, key: npt.NDArray[np.uint32], retrieved: npt.NDArray[np.bool_]) -> IntArray:
    """Rankings of one topic: by key ascending, then by pair code descending; one integer sort over (run,
    rank). The lower word stays under 2³¹, so that all bits set stand for no document.
    """
    mirrored = np.uint64(0x7FFFFFFF) - pair.astype(np.uint32).astype(np.uint64)
    packed = np.where(retrieved, (key.astype(np.uint64) << np.uint64(32)) | mirrored, np.uint64(2**64 - 1))
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


def _some(names: Sequence[str], n: int = 3) -> str:
    return ", ".join(map(repr, names[:n])) + (" …" if len(names) > n else "")
