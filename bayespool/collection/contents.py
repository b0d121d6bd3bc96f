"""The `Collection` class, which stores runs and judgments as dense integer arrays."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool.arrays import AnyArray, BoolArray, IntArray, LevelArray, OrderArray
from bayespool.collection.attributes import (
    NO_ATTRIBUTES,
    Attributes,
    Table,
    gather_attributes,
)
from bayespool.collection.document_columns import DocumentColumns, with_attributes
from bayespool.collection.judges import Judge
from bayespool.collection.own import (
    OwnJudgments,
    attach_own_judgments,
    leave_pool,
    refuse_contradictions,
    set_own_judgments,
)
from bayespool.collection.pools import DepthPool, Pool, find_sole_contributor
from bayespool.collection.rankings import Rankings, Ties, equal_rank_note, lengths, unranked_note
from bayespool.errors import (
    InputError,
    NoCollectionError,
    did_you_mean,
    some,
)
from bayespool.memo import Memo
from bayespool.notes import Note
from bayespool.reading.readers import read_systems
from bayespool.reading.records import (
    NEVER_JUDGED,
    NO_NEGATIVES,
    UNJUDGED,
    Negatives,
    Order,
    Qrels,
    RankConflict,
    ReadOnlyArrays,
)
from bayespool.reading.samples import Sample
from bayespool.reading.scope import StrangeTopics, strange_topic_note
from bayespool.tables.formatting import counted
from bayespool.tables.markup import html_repr, text_table

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True, eq=False, repr=False)
class Collection(ReadOnlyArrays):
    """Test collection with its topics, runs and relevance judgments.

    Made by `build_collection` or `bayespool.read_collection`. It is immutable and its arrays are read-only;
    `unpool` and `truncate_pool` return another collection that shares the rankings.

    Attributes
    ----------
    run_ids : tuple of str
        Names of the runs, pooled or not, sorted, in the order of axis ``run``.
    query_ids : tuple of str
        Topics of the qrels, numeric ones in numeric order; every mean is over all of them.
    document : ndarray of int32, shape (run, topic, rank), or Rankings
        Pair codes from the first rank down, −1 after the end of the run. `Rankings` are indexed alike and
        replace a dense array that would be large and less than half full.
    relevance : ndarray of int16, shape (pair,)
        Judged relevance, 0 or more; for unjudged documents `LISTED` if the qrels list them as being in the
        pool (−1 in the file), `NEVER_JUDGED` in experiments if the truth does not judge them either, else
        `UNJUDGED`.
    pair_topic : ndarray of int32, shape (pair,)
        Topic of a pair, ascending.
    doc_ids : pyarrow.StringArray, shape (pair,)
        Document id of a pair, in byte order within a topic.
    organizations : tuple of str
        Names of the organizations.
    organization : ndarray of int32, shape (run,)
        Index into `organizations` for each run.
    pooled : ndarray of bool, shape (run,)
        Whether a run contributed to the pool.
    pool : Pool
        Rule by which contributing runs determine the judged documents, such as a depth per run.
    attributed_run : ndarray of int32, shape (pair,)
        Run to which a judgment added by `add_judgments` is attributed; −1 for all others.
    negatives : Negatives
        Negative judgments of the qrels file and their meaning.
    given_run_ids : tuple of str
        Runs to score, in the order of the user; empty if they were not distinguished.
    user_organization : int
        Index of the user's own organization, that of runs to score which no list of organizations names;
        −1 if there is no such run.
    score : ndarray of float32, shape (run, topic, rank), or Rankings, or None
        Scores of the documents in `document`, in single precision, NaN after the end of the run. They need
        not descend if runs are ordered by rank. None if they were not kept.
    judges : tuple of Judge
        LLM judges and their labels.
    own : OwnJudgments or None
        The user's own judgments, active or not (`add_judgments`).
    scope_notes : tuple of str
        Which topics count, and which documents were taken out, where not all are as in the files.
    sample : Sample or None
        The published sample that the judgments are.
    rank_conflicts : tuple of RankConflict
        Runs that are ordered by score and whose ranks say otherwise, the one that differs most at the top
        first.
    order : {"score", "single-precision", "rank"}
        What orders the rankings (`build_collection`).
    ties : tuple of Ties
        Where documents tie in that order; runs without a tie are left out.
    strange_topics : tuple of StrangeTopics
        Runs with topics that the qrels lack, and without some that they have.
    unranked : tuple of str
        Runs to score that scores order, since they have no ranks, where ranks order the others.
    formerly_pooled_run_ids : tuple of str
        Runs that were taken out of the pool (`unpool`).
    copied_runs : tuple of (str, str)
        Runs to score that rank as a run of the pool, each with that run, as which it counts.
    runs, topics : Attributes
        Columns of attributes of runs, such as a type, and of topics, which formulas of models may name.
    documents : tuple of DocumentColumns
        Columns of numbers of documents, which formulas of models may name, too.
    memo : Memo
        What was derived from the collection.
    """

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
                digest.update(table.values(self, name).data)
        for buffer in self.doc_ids.buffers():
            if buffer is not None:
                digest.update(buffer)
        return digest.hexdigest()

    @cached_property
    def _sole_organization(self) -> IntArray:
        """Only organization that contributed each document, shape (pair,) (`sole_contributor`)."""
        return find_sole_contributor(self, self.organization)

    @cached_property
    def _sole_run(self) -> IntArray:
        """Only run that contributed each document, shape (pair,) (`sole_contributor`)."""
        return find_sole_contributor(self, np.arange(len(self.run_ids), dtype=np.int32))

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

    def with_attributes(self, runs: Table = None, topics: Table = None, documents: Table = None) -> Self:
        """Return the collection with columns of runs, topics or documents.

        Parameters
        ----------
        runs, topics : path or several, data frame, rows, or mapping of str to mapping, optional
            A table with a row for each run (``run_id``) or topic (``query_id``), or their values by id and
            column. Texts are levels, and numbers are numbers.
        documents : path or several, data frame or rows, optional
            A table of numbers with a row for each document (``doc_id``), or topic and document.

        Examples
        --------
        >>> from bayespool import load_example
        >>> lengths = {topic: {"length": len(topic)} for topic in load_example().query_ids}
        >>> load_example().with_attributes(topics=lengths).topics.columns["length"]["701"]
        '3'
        """
        of_runs = gather_attributes(runs, "run", organization=("organization",))
        if isinstance(runs, Mapping) and runs and not of_runs:
            raise InputError("runs without columns", hint='write {"run": {"column": value}}')
        return with_attributes(self, of_runs, topics, documents)

    @property
    def contributors(self) -> OrderArray:
        """Ascending indices of the pooled runs and the runs that added judgments are attributed to."""
        return np.union1d(np.flatnonzero(self.pooled), self.attributed_run[self.attributed_run >= 0])

    def contributed(self, run_index: OrderArray) -> BoolArray:
        """Return a mask of documents judged because of the given runs, as far as known, shape (pair,)."""
        return self.in_pool(run_index[self.pooled[run_index]]) | np.isin(self.attributed_run, run_index)

    def add_judgments(self, qrels: Qrels) -> Self:
        """Add user judgments on unjudged documents.

        They count in every measure, and models learn from them: each is attributed to the run outside the
        pool that ranks its document best, as a pooled document is to a pooled run. Where such runs lack more
        than a tenth of the documents, other runs brought them, and models do not learn from any. A judgment
        of a document that the qrels judge comes into use once that judgment goes because runs leave the pool
        (`unpool`, `truncate_pool`), so that the order of the two steps does not matter.

        Parameters
        ----------
        qrels : Qrels
            Judgments of any documents. One that no run retrieves counts as in the qrels, in ideal rankings
            and numbers of relevant documents. Topics that the collection lacks are ignored with a warning. A
            negative relevance has the meaning that it has in the collection's qrels.

        Raises
        ------
        InputError
            A document has another relevance already; no line is a judgment, or none is of a topic of the
            collection.

        Warns
        -----
        InputWarning
            Judgments of topics that the collection does not have, with their number and the first of them;
            or no judgment is of a document that a run retrieves.
        """
        collection = self.attach_judgments(qrels)
        refuse_contradictions(collection)
        return collection

    def attach_judgments(self, qrels: Qrels) -> Self:
        """Add user judgments (`add_judgments`) without checking for contradictions with the qrels."""
        return attach_own_judgments(self, qrels)

    def with_own_judgments(self, pair: AnyArray, relevance: AnyArray) -> Self:
        """Add user judgments given as arrays of pair codes and relevance.

        Parameters
        ----------
        pair : ndarray of int, shape (document,)
            Pair codes, each once.
        relevance : ndarray of int, shape (document,)
            Relevance, 0 or more.
        """
        return set_own_judgments(self, pair, relevance)

    def unpool(self, run_ids: str | Iterable[str] | None = None, *, organization: str | None = None) -> Self:
        """Return the collection as it would be judged if the given runs or organization had not been pooled.

        A judgment goes if its document is not in the pool of the remaining runs. Judgments that no pooled run
        explains stay, and so do the user's own, including those that the qrels' judgments kept out of use.
        The runs keep their rankings, and `run_depths` still gives their former depth. A pool of a fixed
        budget takes other documents instead, with their judgments as far as these are known.

        Parameters
        ----------
        run_ids : str or iterable of str, optional
            Runs to take out of the pool. Unpooled runs change nothing.
        organization : str, optional
            Take out all runs of this organization instead.

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
                question = did_you_mean(organization, self.organizations)
                raise InputError(
                    f"no organization {organization!r}",
                    hint=f"{question} known: {some(self.organizations)}".lstrip(),
                )
            removed = self.organization == self.organizations.index(organization)
        else:
            removed = np.zeros(len(self.run_ids), dtype=bool)
            removed[self.run_index(run_ids)] = True
        return leave_pool(self, removed)

    def truncate_pool(self, depth: int) -> Self:
        """Return the collection as it would be judged if runs had been pooled to rank ``depth`` only.

        The user's own judgments stay, as in `unpool`. Runs that were pooled less deep keep their depth. A
        depth that is not between 1 and that of the deepest pooled run is an `InputError`.
        """
        return leave_pool(self, np.zeros(len(self.run_ids), dtype=bool), depth)


def expect_collection(collection: object) -> None:
    """Raise `NoCollectionError` unless the argument is a `Collection`."""
    if not isinstance(collection, Collection):
        hint = "make one of runs and judgments first: read_collection(qrels, runs, pool=…)"
        raise NoCollectionError(f"a {type(collection).__name__} where a Collection is expected", hint=hint)


_MAX_SPARSE_SHARE = 0.1  # of topics that have a judged nonrelevant document
SPARSE_NOTE = (
    "only relevant documents are judged, on nine in ten topics or more: judged precision is 1 there by "
    "construction, and says nothing of other documents; interpolated, smoothed and condensed-list rest on it"
)
"""Note for collections with hardly any nonrelevant judgments."""

Systems = tuple[tuple[str, str], ...]


def parse_systems(given: str | os.PathLike[str] | Mapping[str, str] | None) -> Systems:
    """Return (run id, system) tuples from a CSV file or a mapping; empty for None."""
    if given is None:
        return ()
    systems = given if isinstance(given, Mapping) else read_systems(given)
    return tuple((str(run_id), str(system)) for run_id, system in systems.items())


def group_systems(collection: Collection, systems: Systems) -> Collection:
    """Return the collection with the runs from each system in one organization.

    This is the organization of the system's first listed run.
    They are held out, and leave the pool, together.

    Raises
    ------
    InputError
        No run that is listed is in the collection.
    """
    present = set(collection.run_ids)
    known = [(run_id, system) for run_id, system in systems if run_id in present]
    if systems and not known:
        raise InputError("no run of the list of systems is in the collection", hint="are these its run ids?")
    organization = collection.organization.copy()
    first: dict[str, int] = {}
    for (_, system), run in zip(known, collection.run_index([run_id for run_id, _ in known]), strict=True):
        organization[run] = first.setdefault(system, int(organization[run]))
    return dataclasses.replace(collection, organization=organization)
