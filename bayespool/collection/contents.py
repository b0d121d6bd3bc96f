"""Contents of a collection: runs, pool, judgments and labels, as dense integer arrays."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IntArray, LevelArray, OrderArray
from bayespool.collection.attributes import NO_ATTRIBUTES, Attributes
from bayespool.collection.document_columns import DocumentColumns
from bayespool.collection.rankings import Rankings, Ties, equal_rank_note, lengths, unranked_note, within
from bayespool.errors import InputError, did_you_mean, some
from bayespool.memo import Memo
from bayespool.notes import Note
from bayespool.reading.records import (
    NEVER_JUDGED,
    NO_NEGATIVES,
    UNJUDGED,
    Negatives,
    Order,
    RankConflict,
    ReadOnlyArrays,
)
from bayespool.reading.samples import Sample
from bayespool.reading.scope import StrangeTopics, strange_topic_note
from bayespool.tables.formatting import counted
from bayespool.tables.markup import html_repr, text_table

_MAX_SPARSE_SHARE = 0.1  # of topics that have a judged nonrelevant document
SPARSE_NOTE = (
    "only relevant documents are judged, on nine in ten topics or more: judged precision is 1 there by "
    "construction, and says nothing of other documents; interpolated, smoothed and condensed-list rest on it"
)
"""Note for collections with hardly any nonrelevant judgments."""
_GRADE_QUANTILES = (0.25, 0.5, 0.75, 0.875, 0.95)  # finer at the top, as relevant documents are few
MOST_GRADES = 6
"""Maximum number of label grades; more distinct labels are binned by quantiles."""


@dataclass(frozen=True, eq=False, repr=False)
class Judge(ReadOnlyArrays):
    """LLM judge with labels for documents in a collection, used as evidence and not as judgments.

    Attributes
    ----------
    name : str
    label : ndarray of float64, shape (pair,)
        Label of each document; NaN for none.
    organization : ndarray of int32, shape (run,), optional
        Index of the submitter of each run, if that differs from the collection's organizations.
    replicates : ndarray of float64, shape (replicate, pair), optional
        Labels each time that the judge was asked, if it was asked several times; ``label`` is their mean.
    """

    name: str
    label: FloatArray
    organization: IntArray | None = None
    replicates: FloatArray | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({n: v for n, v in state.items() if n != "grade"})  # a cached array

    def __repr__(self) -> str:
        grades = "" if len(self.thresholds) == 0 else f", {len(self.thresholds) + 1} grades"
        return f"<Judge {self.name}: {counted(int(self.is_labeled.sum()), 'label')}{grades}>"

    @property
    def is_labeled(self) -> BoolArray:
        """Mask of labeled documents, shape (pair,)."""
        return ~np.isnan(self.label)

    @cached_property
    def thresholds(self) -> tuple[float, ...]:
        """Smallest label in each grade except the lowest, in ascending order.

        Each distinct label is a grade; of more than `MOST_GRADES` five quantiles are, fewer where labels are
        equal.
        """
        values = np.unique(self.label[self.is_labeled])
        if len(values) > MOST_GRADES:
            cuts = np.quantile(self.label[self.is_labeled], _GRADE_QUANTILES, method="higher")
            cuts = cuts if cuts[-1] > values[0] else values[1:2]  # nearly all labels are the lowest
            values = np.unique(np.append(values[0], cuts))
        return tuple(values[1:].tolist())

    @cached_property
    def grade(self) -> npt.NDArray[np.int8]:
        """Grade of each label from 0, shape (pair,); −1 for unlabeled documents."""
        grade = np.searchsorted(self.thresholds, self.label, side="right").astype(np.int8)
        grade[~self.is_labeled] = -1
        grade.flags.writeable = False
        return grade

    @cached_property
    def fingerprint(self) -> str:
        """Hash in 16 hexadecimal digits over the judge's name and labels."""
        digest = hashlib.blake2b(self.name.encode(), digest_size=8)
        digest.update(np.ascontiguousarray(self.label).data)
        return digest.hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class OwnJudgments(ReadOnlyArrays):
    """User judgments on documents in a collection, in use (active) or not."""

    relevance: LevelArray  # as given, negative where there is none, shape (pair,)
    # shape (pair,); the others become active when unpooling removes the qrels' judgment
    is_active: BoolArray
    path: Path | None = None  # the file, the last of several
    ignored_judgments: tuple[str, ...] = ()  # numbers and examples of those that never become active
    notes: tuple[str, ...] = ()  # attached by `add_note`

    @property
    def is_inactive(self) -> BoolArray:
        """Mask of user judgments not in use because the qrels judge their documents, shape (pair,)."""
        return (self.relevance >= 0) & ~self.is_active

    def without(self, documents: BoolArray) -> OwnJudgments:
        """Return the user judgments without active ones on the given documents, a mask of shape (pair,)."""
        return dataclasses.replace(
            self,
            relevance=np.where(self.is_active & documents, np.int16(UNJUDGED), self.relevance),
            is_active=self.is_active & ~documents,
        )


Runs = npt.NDArray[np.integer] | Sequence[int]


class Pool(Protocol):
    """Protocol for pools, which determine the judged documents for any set of contributing runs.

    It knows the runs of a collection by position, contributing or not, and can be evaluated without some of
    them; the collection's ``pooled`` marks those that contributed. Equal pools have equal ``repr``, which the
    collection's fingerprint includes.
    """

    @property
    def depth(self) -> int:
        """Common pool depth; 0 if no pool is known."""

    def run_depths(self, runs: Runs) -> IntArray:
        """Return the depth to which each given run was or would be pooled, shape (run,)."""

    @property
    def is_union(self) -> bool:
        """Whether a pool from several runs is the union of the pools from each run."""

    @property
    def looks_at_judgments(self) -> bool:
        """Whether earlier judgments determined which documents were judged next."""

    def judged(self, collection: Contents, runs: Runs) -> BoolArray:
        """Return a mask of documents that would be judged if only these runs contributed, shape (pair,)."""

    def known_relevance(self, collection: Contents) -> LevelArray:
        """Return the known relevance for each document, shape (pair,); negative if unknown."""

    def truncate(self, depth: int) -> Pool:
        """Return the pool truncated to the top ``depth`` ranks."""

    def select_runs(self, runs: Runs) -> Pool:
        """Return the pool for a collection restricted to these runs, in this order."""

    def place_documents(self, place: IntArray, n_pairs: int) -> Pool:
        """Return the pool for a collection that has more documents, which no run retrieves.

        ``place`` has the new pair code of each document, shape (pair,).
        """


@dataclass(frozen=True, slots=True)
class DepthPool:
    """Pool made from the top-ranked documents of each run."""

    depth: int  # common depth, which applies to unpooled runs; 0 if no pool is known
    depths: tuple[int, ...]  # to which each run of the collection was or would have been pooled
    alternative: str = field(default="", repr=False, compare=False)  # another pool that may have been
    doubts: tuple[str, ...] = field(default=(), repr=False, compare=False)  # with runs that are not at hand
    is_union: ClassVar[bool] = True  # a document is judged because of one run alone
    looks_at_judgments: ClassVar[bool] = False  # ranks alone decide

    @classmethod
    def even(cls, depth: int, n_runs: int) -> DepthPool:
        """Return a pool with the same depth for every run."""
        return cls(depth, (depth,) * n_runs)

    def run_depths(self, runs: Runs) -> IntArray:
        """Return the depth to which each given run was or would be pooled, shape (run,)."""
        return np.array(self.depths, dtype=np.int32)[np.asarray(runs, dtype=np.intp)]

    def judged(self, collection: Contents, runs: Runs) -> BoolArray:
        """Return a mask of documents that any of these runs ranks within its pool depth, shape (pair,)."""
        index, depths = np.asarray(runs, dtype=np.intp), self.run_depths(runs)
        inside = np.zeros(len(collection.relevance) + 1, dtype=bool)  # the last is that of −1, no document
        for depth in np.unique(depths):
            inside[within(collection.document, index[depths == depth], depth)] = True
        return inside[:-1]

    def known_relevance(self, collection: Contents) -> LevelArray:
        """Return the collection's judged relevance, shape (pair,)."""
        return collection.relevance

    def truncate(self, depth: int) -> DepthPool:
        """Return the pool with every run's depth limited to ``depth``."""
        depths = tuple(min(own, depth) for own in self.depths)
        return DepthPool(min(self.depth, depth), depths, doubts=self.doubts)

    def select_runs(self, runs: Runs) -> DepthPool:
        """Return the pool restricted to these runs."""
        return replace(self, depths=tuple(self.depths[int(run)] for run in runs))

    def place_documents(self, place: IntArray, n_pairs: int) -> DepthPool:
        """Return the same pool: ranks decide."""
        return self


def place_values(values: AnyArray, fill: float = UNJUDGED, *, place: IntArray, n_pairs: int) -> AnyArray:
    """Return values of documents, shape (…, pair), with one value for the documents of other places."""
    placed = np.full((*values.shape[:-1], n_pairs), fill, dtype=values.dtype)
    placed[..., place] = values
    return placed


@dataclass(frozen=True, eq=False, repr=False)
class Contents(ReadOnlyArrays):
    """Runs, pool and judgments with the attributes that `Collection` describes."""

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    document: IntArray | Rankings
    relevance: LevelArray
    pair_topic: IntArray
    doc_ids: pa.StringArray
    organizations: tuple[str, ...]
    organization: IntArray
    pooled: BoolArray
    pool: Pool
    attributed_run: IntArray
    negatives: Negatives = NO_NEGATIVES
    given_run_ids: tuple[str, ...] = ()
    user_organization: int = -1
    score: npt.NDArray[np.float32] | Rankings | None = None
    judges: tuple[Judge, ...] = ()
    own: OwnJudgments | None = None
    scope_notes: tuple[str, ...] = ()
    sample: Sample | None = None
    rank_conflicts: tuple[RankConflict, ...] = ()
    order: Order = "score"
    ties: tuple[Ties, ...] = ()
    strange_topics: tuple[StrangeTopics, ...] = ()
    unranked: tuple[str, ...] = ()
    formerly_pooled_run_ids: tuple[str, ...] = ()
    copied_runs: tuple[tuple[str, str], ...] = ()
    runs: Attributes = NO_ATTRIBUTES
    topics: Attributes = NO_ATTRIBUTES
    documents: tuple[DocumentColumns, ...] = ()
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        judged = int((self.relevance >= 0).sum())
        depths = np.unique(self.run_depths(np.flatnonzero(self.pooled)))
        depth = self.pool_depth if len(depths) < 2 else f"{depths[0]} to {depths[-1]}"
        return (
            f"<Collection: {counted(len(self.run_ids), 'run')} "
            f"({self.pooled.sum()} pooled to depth {depth}), "
            f"{counted(len(self.organizations), 'organization')}, {counted(len(self.query_ids), 'topic')}, "
            f"{counted(judged, 'judgment')}, "
            f"{int((self.relevance > 0).sum())} relevant>"
        )

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: what the collection has, as a table."""
        facts = {
            "topics": len(self.query_ids),
            "runs": len(self.run_ids),
            "pooled": int(self.pooled.sum()),
            "to depth": self.pool_depth,
            "organizations": len(self.organizations),
            "judgments": int((self.relevance >= 0).sum()),
            "relevant": int((self.relevance > 0).sum()),
        }
        cells = [f"{value:,}" for value in facts.values()]
        return html_repr("", (text_table("Collection", list(facts), [cells], 0),))

    @property
    def pool_depth(self) -> int:
        """Common pool depth, down to which documents from pooled runs were judged; 0 if no pool is known."""
        return self.pool.depth

    def run_depths(self, run_index: OrderArray) -> IntArray:
        """Return the pool depth for each given run, shape (run,).

        For an unpooled run it is its former depth if it was taken out of the pool, else the common depth.
        """
        return self.pool.run_depths(run_index)

    @property
    def pooled_run_ids(self) -> tuple[str, ...]:
        """Names of the runs that contributed to the pool."""
        return tuple(run for run, pooled in zip(self.run_ids, self.pooled, strict=True) if pooled)

    @property
    def unpooled_run_ids(self) -> tuple[str, ...]:
        """Names of the runs that did not contribute to the pool, which are scored by default."""
        return tuple(run for run, pooled in zip(self.run_ids, self.pooled, strict=True) if not pooled)

    def originals(self, run_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the run that each counts as: itself, or the run of the pool that it is a copy of."""
        original = dict(self.copied_runs)
        return tuple(original.get(run, run) for run in run_ids)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Positive relevance levels in the judgments, in ascending order."""
        return tuple(np.unique(self.relevance[self.relevance > 0]).tolist())

    @cached_property
    def has_nonrelevant(self) -> bool:
        """Whether any document is judged nonrelevant (relevance 0)."""
        return bool((self.relevance == 0).any())

    @property
    def judged(self) -> BoolArray:
        """Mask of judged documents, shape (pair,)."""
        return self.relevance >= 0

    @property
    def is_sparse(self) -> bool:
        """Whether judgments are sparse (`is_sparse_at`) at every relevance threshold."""
        return self.is_sparse_at(max(self.levels, default=1))

    def is_sparse_at(self, rel: int) -> bool:
        """Return whether judgments are sparse, that is, hardly any document is judged nonrelevant.

        True if no pool is known and at most a tenth of the judged topics have a document judged below
        ``rel``, user judgments aside.
        """
        if self.pooled.any():
            return False
        judged = self.judged & ~self.is_own
        n_judged = len(np.unique(self.pair_topic[judged]))
        n_with_nonrelevant = len(np.unique(self.pair_topic[judged & (self.relevance < rel)]))
        return n_with_nonrelevant <= _MAX_SPARSE_SHARE * n_judged and n_judged > 0

    @property
    def may_be_relevant(self) -> BoolArray:
        """Mask of unjudged documents that may be relevant, shape (pair,); excludes `NEVER_JUDGED`."""
        return np.asarray((self.relevance < 0) & (self.relevance != NEVER_JUDGED))

    def judged_at_most(self, judged: BoolArray) -> Self:
        """Return the collection with unjudged documents outside a mask, shape (pair,), as `NEVER_JUDGED`."""
        never = ~judged & ~self.judged
        if (self.relevance[never] == NEVER_JUDGED).all():
            return self
        return dataclasses.replace(self, relevance=np.where(never, np.int16(NEVER_JUDGED), self.relevance))

    def without_judgments(self, documents: BoolArray) -> Self:
        """Return the collection with judgments on the given documents removed, a mask of shape (pair,)."""
        return dataclasses.replace(
            self,
            relevance=np.where(
                documents & (self.relevance != NEVER_JUDGED), np.int16(UNJUDGED), self.relevance
            ),
            attributed_run=np.where(documents, np.int32(-1), self.attributed_run),
            own=None if self.own is None else self.own.without(documents),
            sample=None if self.sample is None else self.sample.without(documents, self.pair_topic),
        )

    @property
    def rank_note(self) -> str:
        """Note on runs with conflicting ranks and scores, or if ordered by rank with none or equal ones."""
        if self.order == "rank":
            ranked = [ties for ties in self.ties if ties.run_id not in self.unranked]
            parts = unranked_note(self.unranked), equal_rank_note(ranked, len(self.run_ids))
            return "; ".join(filter(None, parts))
        if not self.rank_conflicts:
            return ""
        most, n = self.rank_conflicts[0], len(self.rank_conflicts)
        text = (
            f"ranks and scores disagree, beyond ties, in {n} of {counted(len(self.run_ids), 'run')}"
            f"{', most in' if n > 1 else ','} {most.run_id} ({most.n_top_places:,} of {most.n_top:,} places "
            "of the top 10); scores decide, as in trec_eval, unless order=rank (--reading) is given"
        )
        return Note("order-conflict", text)

    @property
    def topic_note(self) -> str:
        """Note on runs whose topics match the qrels only in part, or '' if all match."""
        return strange_topic_note(self.strange_topics, len(self.run_ids))

    @property
    def is_own(self) -> BoolArray:
        """Mask of documents with a judgment added by the user (`add_judgments`), shape (pair,)."""
        return np.zeros(len(self.relevance), dtype=bool) if self.own is None else self.own.is_active

    @property
    def ignored_judgments(self) -> tuple[str, ...]:
        """Messages on user judgments that are never used, each with their number, examples and the reason."""
        return () if self.own is None else self.own.ignored_judgments

    @cached_property
    def length(self) -> IntArray:
        """Number of documents retrieved by each run for each topic, shape (run, topic)."""
        length = lengths(self.document)
        length.flags.writeable = False
        return length

    @cached_property
    def fingerprint(self) -> str:
        """Hash in 16 hexadecimal digits over rankings, judgments, organizations, pool, labels and scores."""
        digest = hashlib.blake2b(digest_size=8)
        labels = tuple(judge.fingerprint for judge in self.judges)
        for text in (self.run_ids, self.query_ids, self.organizations, self.pool, *labels):
            digest.update(repr(text).encode())
        for array in (
            self.document,
            self.relevance,
            self.pair_topic,
            self.organization,
            self.pooled,
            self.attributed_run,
            *([] if self.score is None else [self.score]),
        ):
            for part in (array.length, array.values) if isinstance(array, Rankings) else (array,):
                digest.update(np.ascontiguousarray(part).data)
        if self.own is not None and (inactive := self.own.is_inactive).any():
            digest.update(np.where(inactive, self.own.relevance, np.int16(UNJUDGED)).data)
        if self.sample is not None:
            digest.update(self.sample.fingerprint.encode())
        for attributes, ids in ((self.runs, self.run_ids), (self.topics, self.query_ids)):
            if columns := attributes.select(ids).columns:  # none: the hash of earlier versions
                digest.update(repr(columns).encode())
        for table in self.documents:
            for name in table.columns:
                digest.update(name.encode())
                digest.update(self.document_values(name).data)
        for buffer in self.doc_ids.buffers():
            if buffer is not None:
                digest.update(buffer)
        return digest.hexdigest()

    def run_index(self, run_ids: str | Iterable[str] | None = None) -> OrderArray:
        """Return the indices of the named runs (default: all runs), shape (run,).

        An unknown run is an `InputError`.
        """
        if run_ids is None:
            return np.arange(len(self.run_ids))
        position = {run: i for i, run in enumerate(self.run_ids)}
        names = [run_ids] if isinstance(run_ids, str) else list(run_ids)
        unknown = [run for run in names if run not in position]
        if unknown:
            hint = f"{did_you_mean(unknown[0], self.run_ids)} it has {some(self.run_ids)}".lstrip()
            raise InputError(f"no run {unknown[0]!r} in the collection", hint=hint)
        return np.array([position[run] for run in names], dtype=np.intp)

    def doc_id(self, pair: int) -> str:
        """Return the document id for a (topic, document) pair code."""
        return str(self.doc_ids[int(pair)].as_py())

    def in_pool(self, run_index: OrderArray | None = None) -> BoolArray:
        """Return a mask of documents in the pool of the given runs (default: pooled ones), shape (pair,)."""
        index = np.flatnonzero(self.pooled) if run_index is None else run_index
        return self.pool.judged(self, index)

    def with_pool(self, pooled: BoolArray, pool: Pool | int) -> Self:
        """Return the collection with a different pool and unchanged judgments.

        Parameters
        ----------
        pooled : ndarray of bool, shape (run,)
            Which runs contributed.
        pool : Pool or int
            What they contributed; a number is one depth for all, 0 that no pool is known.
        """
        if isinstance(pool, int):
            pool = DepthPool.even(pool, len(self.run_ids))
        return dataclasses.replace(self, pooled=pooled, pool=pool, formerly_pooled_run_ids=())

    @property
    def contributors(self) -> OrderArray:
        """Ascending indices of the pooled runs and the runs that added judgments are attributed to."""
        return np.union1d(np.flatnonzero(self.pooled), self.attributed_run[self.attributed_run >= 0])

    def contributed(self, run_index: OrderArray) -> BoolArray:
        """Return a mask of documents judged because of the given runs, as far as known, shape (pair,)."""
        return self.in_pool(run_index[self.pooled[run_index]]) | np.isin(self.attributed_run, run_index)

    def document_rows(self, table: DocumentColumns) -> pa.Array:
        """Return the row of a table that each document has, null where there is none, shape (pair,)."""
        if table.query_id is None:
            return pc.index_in(self.doc_ids, value_set=table.doc_id.cast(self.doc_ids.type))
        pair, row = find_pairs(self, table.query_id, table.doc_id), np.full(len(self.doc_ids), -1)
        there = np.flatnonzero(pair >= 0)
        row[pair[there]] = there
        return pa.array(row, mask=row < 0)

    def document_values(self, name: str) -> FloatArray:
        """Return a column's value of each document, NaN for none, shape (pair,)."""
        (table,) = (table for table in self.documents if name in table.columns)
        row = self.document_rows(table).fill_null(-1).to_numpy()
        return np.asarray(np.append(table.columns[name], np.nan)[row])


AnyCollection = TypeVar("AnyCollection", bound=Contents)


def find_pairs(collection: Contents, query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> OrderArray:
    """Return the (topic, document) pair code for each line, shape (line,); −1 if not in the collection."""
    topic = topic_codes(collection, query_id)
    pairs = np.full(len(topic), -1)
    for t in np.unique(topic[topic >= 0]):
        first, last = np.searchsorted(collection.pair_topic, [t, t + 1])
        on_topic = np.flatnonzero(topic == t)
        place = pc.index_in(
            doc_id.take(pa.array(on_topic)), value_set=collection.doc_ids.slice(first, last - first)
        )
        pairs[on_topic] = np.where(place.is_valid(), first + place.fill_null(0).to_numpy(), -1)
    return pairs


def topic_codes(collection: Contents, query_id: pa.DictionaryArray) -> AnyArray:
    """Return the topic index for each line, shape (line,); −1 if not in the collection."""
    topic_of = {name: t for t, name in enumerate(collection.query_ids)}
    names = query_id.dictionary.to_pylist()
    codes: AnyArray = np.array([topic_of.get(name, -1) for name in names], dtype=np.intp)
    return np.asarray(codes[query_id.indices.to_numpy()])
