"""Runs and judgments as dense integer arrays: who ranked what where, who contributed what to the pool."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool.callers import warn_caller
from bayespool.collection.contributors import find_sole_contributor
from bayespool.collection.judges import Judge, find_pairs, topic_codes
from bayespool.collection.negatives import NO_NEGATIVES, UNJUDGED, Negatives, relevance_codes
from bayespool.collection.pools import DepthPool, Pool
from bayespool.collection.rankings import Rankings, lengths, ranked
from bayespool.errors import InputError, InputWarning
from bayespool.suggestions import did_you_mean
from bayespool.trec import Qrels

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Collection", "IntArray", "some"]

IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Topics, runs and judgments of one test collection.

    Made by `build_collection` or `bayespool.read_collection`, never by hand. Nothing in it changes, its
    arrays are read-only; `unpool` and `truncate_pool` return another collection that shares the rankings.

    Attributes
    ----------
    run_ids : tuple of str
        Names of the runs, pooled or not, in the order of axis ``run``: sorted, so that the order of files
        never matters.
    query_ids : tuple of str
        The topics of the qrels, numeric ones in numeric order; the denominator of every mean.
    document : ndarray of int32, shape (run, topic, rank), or Rankings
        Pair codes from the first rank down, −1 where the run has ended. `Rankings`, which are indexed alike,
        where a dense array would be large and less than half full.
    relevance : ndarray of int16, shape (pair,)
        Judged relevance, 0 or more; negative where there is no judgment: `LISTED` for a document that the
        qrels list as being in the pool (−1 in the file), `UNJUDGED` for all others.
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
    pooling : Pool
        What would have been judged had other runs contributed: a depth per run (`DepthPool`).
    added_for : ndarray of int32, shape (pair,)
        The run because of which a judgment was added by `add_judgments`; −1 for all others.
    negatives : Negatives
        The negative judgments of the qrels file, and what they are taken for.
    given_run_ids : tuple of str
        The runs to score, in the order in which the user gave them; empty where they were not told apart.
    user_organization : int
        Index of the user's own organization, to which the runs to score belong that no list of organizations
        names; −1 where there is no such run.
    score : ndarray of float32, shape (run, topic, rank), or Rankings, or None
        Scores of the documents in `document`, in single precision as they are compared, NaN where the run has
        ended. Where runs are in the order of their ranks, scores need not descend. None where they were not
        kept.
    judges : tuple of Judge
        Second judges and their labels, which are no judgments.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    document: IntArray | Rankings
    relevance: npt.NDArray[np.int16]
    pair_topic: IntArray
    doc_ids: pa.StringArray
    organizations: tuple[str, ...]
    organization: IntArray
    pooled: npt.NDArray[np.bool_]
    pooling: Pool
    added_for: IntArray
    negatives: Negatives = NO_NEGATIVES
    given_run_ids: tuple[str, ...] = ()
    user_organization: int = -1
    score: npt.NDArray[np.float32] | Rankings | None = None
    judges: tuple[Judge, ...] = ()

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if isinstance(array := getattr(self, field.name), np.ndarray):
                array = array.view()
                array.flags.writeable = False
                object.__setattr__(self, field.name, array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __repr__(self) -> str:
        judged = int((self.relevance >= 0).sum())
        depths = np.unique(self.depth_of(np.flatnonzero(self.pooled)))
        depth = self.pool_depth if len(depths) < 2 else f"{depths[0]} to {depths[-1]}"
        return (
            f"<Collection: {len(self.run_ids)} runs ({self.pooled.sum()} pooled to depth {depth}), "
            f"{len(self.organizations)} organizations, {len(self.query_ids)} topics, {judged} judgments, "
            f"{int((self.relevance > 0).sum())} relevant>"
        )

    @property
    def pool_depth(self) -> int:
        """Down to which rank the pooled runs' documents were judged, the common depth where the runs have
        depths of their own; 0 where no pool is known.
        """
        return self.pooling.depth

    def depth_of(self, run_index: npt.NDArray[np.intp]) -> IntArray:
        """Depth to which each of these runs was pooled, shape (run,).

        For a run that is not in the pool it is the depth to which it would have been: its own former one if
        it was taken out of the pool, else the common depth.

        Examples
        --------
        >>> from bayespool import load_example
        >>> example = load_example()
        >>> example.depth_of(example.run_index(["new-a", "north-1"])).tolist()
        [10, 10]
        """
        return self.pooling.depth_of(run_index)

    @property
    def pooled_run_ids(self) -> tuple[str, ...]:
        """Names of the runs that contributed to the pool."""
        return tuple(run for run, pooled in zip(self.run_ids, self.pooled, strict=True) if pooled)

    @property
    def unpooled_run_ids(self) -> tuple[str, ...]:
        """Names of the other runs: those that are scored where none is named."""
        return tuple(run for run, pooled in zip(self.run_ids, self.pooled, strict=True) if not pooled)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The positive relevance levels of the judgments, ascending."""
        return tuple(np.unique(self.relevance[self.relevance > 0]).tolist())

    @property
    def judged(self) -> npt.NDArray[np.bool_]:
        """Whether each document is judged, shape (pair,)."""
        return self.relevance >= 0

    def without_judgments(self, gone: npt.NDArray[np.bool_]) -> Self:
        """The same collection with some documents, shape (pair,), unjudged."""
        return dataclasses.replace(
            self,
            relevance=np.where(gone, np.int16(UNJUDGED), self.relevance),
            added_for=np.where(gone, np.int32(-1), self.added_for),
        )

    @cached_property
    def length(self) -> IntArray:
        """Number of documents retrieved, shape (run, topic)."""
        length = lengths(self.document)
        length.flags.writeable = False
        return length

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with any ranking, judgment, organization or pool setting,
        with any label of a judge, and with any score where scores are kept.
        """
        digest = hashlib.blake2b(digest_size=8)
        labels = tuple(judge.fingerprint for judge in self.judges)
        for text in (self.run_ids, self.query_ids, self.organizations, self.pooling, *labels):
            digest.update(repr(text).encode())
        for array in (
            self.document,
            self.relevance,
            self.pair_topic,
            self.organization,
            self.pooled,
            self.added_for,
            *([] if self.score is None else [self.score]),
        ):
            for part in (array.length, array.values) if isinstance(array, Rankings) else (array,):
                digest.update(np.ascontiguousarray(part).data)
        for buffer in self.doc_ids.buffers():
            if buffer is not None:
                digest.update(buffer)
        return digest.hexdigest()

    @cached_property
    def _sole_organization(self) -> IntArray:
        """`sole_contributor` by organization."""
        return find_sole_contributor(self, self.organization)

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
            hint = f"{did_you_mean(unknown[0], self.run_ids)} it has {some(self.run_ids)}".lstrip()
            raise InputError(f"no run {unknown[0]!r} in the collection", hint=hint)
        return np.array([position[run] for run in names], dtype=np.intp)

    def doc_id(self, pair: int) -> str:
        """Document id of a pair code."""
        return str(self.doc_ids[int(pair)].as_py())

    def pool(self, run_index: npt.NDArray[np.intp] | None = None) -> npt.NDArray[np.bool_]:
        """Which pairs are in the pool of the given runs (default: all pooled ones), shape (pair,)."""
        index = np.flatnonzero(self.pooled) if run_index is None else run_index
        return self.pooling.judged(self, index)

    def with_pool(self, pooled: npt.NDArray[np.bool_], pool: Pool | int) -> Self:
        """The same judgments with another account of how they came about.

        Parameters
        ----------
        pooled : ndarray of bool, shape (run,)
            Which runs contributed.
        pool : Pool or int
            What they contributed; a number is one depth for all, 0 that no pool is known.
        """
        if isinstance(pool, int):
            pool = DepthPool.even(pool, len(self.run_ids))
        return dataclasses.replace(self, pooled=pooled, pooling=pool)

    @property
    def contributors(self) -> npt.NDArray[np.intp]:
        """Positions of the runs because of which something was judged, ascending: the pooled ones, and those
        with added judgments.
        """
        return np.union1d(np.flatnonzero(self.pooled), self.added_for[self.added_for >= 0])

    def contributed(self, run_index: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Which pairs were judged because of the given runs, as far as that is known, shape (pair,)."""
        return self.pool(run_index[self.pooled[run_index]]) | np.isin(self.added_for, run_index)

    def add_judgments(self, qrels: Qrels) -> Self:
        """The collection with judgments of one's own on documents that nobody had judged.

        They count like all others in every measure. The models learn from them, too: each is taken to have
        been judged because of the run outside the pool that ranks it best, as a pooled document was because
        of a pooled run.

        Parameters
        ----------
        qrels : Qrels
            Judgments of documents that runs of the collection retrieve. Topics and documents that no run has
            are of no use and passed over, with a warning. A negative relevance means what it means in the
            collection's qrels.

        Returns
        -------
        Collection

        Raises
        ------
        InputError
            A document is judged already, and otherwise; or no line is a judgment, or none is of use.

        Warns
        -----
        InputWarning
            Judgments of topics or documents that the collection does not have, with their number and the
            first of them.
        """
        topic = topic_codes(self, qrels.query_id)
        line_pair = find_pairs(self, qrels.query_id, qrels.doc_id)
        codes, _ = relevance_codes(qrels.relevance, self.negatives.meaning)
        if len(codes) and not (codes >= 0).any():
            raise InputError(
                "no line is a judgment: none has a relevance of 0 or more",
                path=qrels.path,
                hint="−1 lists a document for an assessor, who fills in its relevance",
            )
        found = (line_pair >= 0) & (codes >= 0)
        pair, value = line_pair[found], codes[found]
        before = self.relevance[pair]
        if ((before >= 0) & (before != value)).any():
            first = pair[int(((before >= 0) & (before != value)).argmax())]
            raise InputError(
                f"document {self.doc_id(first)} of topic {self.query_ids[self.pair_topic[first]]} has "
                f"relevance {self.relevance[first]} in the qrels and another one here",
                path=qrels.path,
                hint="judgments of your own are for documents that nobody has judged",
            )
        new = before < 0
        if not new.any():
            raise InputError(
                "no judgment is of an unjudged document that a run retrieves",
                path=qrels.path,
                hint="are these the topics and documents of this collection?",
            )
        self._warn_of_useless(qrels, (codes >= 0) & (line_pair < 0), topic)
        return self.with_added(pair[new], value[new])

    def _warn_of_useless(self, qrels: Qrels, useless: npt.NDArray[np.bool_], topic: npt.NDArray[Any]) -> None:
        """Warn of judgments of topics and documents that no run has; ``topic`` is −1 for another's."""
        said = []
        for what, lines in (
            ("of topics that the collection does not have", np.flatnonzero(useless & (topic < 0))),
            ("of documents that no run retrieves", np.flatnonzero(useless & (topic >= 0))),
        ):
            if len(lines):
                line = int(lines[0])
                example = f"document {qrels.doc_id[line].as_py()} of topic {qrels.query_id[line].as_py()}"
                said.append(f"{len(lines)} {what} ({example} for one)")
        if said:
            warn_caller(
                f"{qrels.path or 'judgments of your own'}: passed over are {' and '.join(said)}",
                InputWarning,
            )

    def with_added(self, pair: npt.NDArray[Any], relevance: npt.NDArray[Any]) -> Self:
        """The collection with judgments added on unjudged documents, as `add_judgments` adds them.

        Parameters
        ----------
        pair : ndarray of int, shape (document,)
            Pair codes, each once.
        relevance : ndarray of int, shape (document,)
            0 or more.
        """
        all_relevance, added_for = self.relevance.copy(), self.added_for.copy()
        all_relevance[pair] = relevance
        added_for[pair] = self._best_outside_the_pool(pair)
        return dataclasses.replace(self, relevance=all_relevance, added_for=added_for)

    def _best_outside_the_pool(self, pair: npt.NDArray[Any]) -> IntArray:
        """The run outside the pool that ranks each document best, the first of equals; −1 where none does."""
        best = np.full(len(self.relevance) + 1, self.document.shape[2], dtype=np.int32)
        run = np.full(len(self.relevance) + 1, -1, dtype=np.int32)
        for r in np.flatnonzero(~self.pooled):
            document, ranks = ranked(self.document, r)
            better = ranks < best[document]
            best[document[better]], run[document[better]] = ranks[better], r
        of_pair: IntArray = run[pair]
        return of_pair

    def unpool(self, run_ids: str | Iterable[str] | None = None, *, organization: str | None = None) -> Self:
        """The collection as it would be had some runs, or all runs of an organization, not been pooled.

        The pool is asked again without the runs. A judgment goes when its document is not in the pool then.
        Judgments that no pooled run explains stay: whoever contributed them is not among the removed. The
        runs keep their rankings, and `depth_of` still says how deep they were pooled. A pool of a fixed
        budget takes other documents in their place, whose judgments are there as far as they are known.

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
                asked = did_you_mean(organization, self.organizations)
                raise InputError(
                    f"no organization {organization!r}",
                    hint=f"{asked} known: {some(self.organizations)}".lstrip(),
                )
            removed = self.organization == self.organizations.index(organization)
        else:
            removed = np.zeros(len(self.run_ids), dtype=bool)
            removed[self.run_index(run_ids)] = True
        pooled = self.pooled & ~removed
        left = self.pool(np.flatnonzero(pooled))
        smaller = self.without_judgments(self.pool() & ~left & (self.added_for < 0))
        known = self.pooling.known(self)
        new = left & (smaller.relevance < 0) & (known != UNJUDGED)
        relevance = np.where(new, known, smaller.relevance)
        return dataclasses.replace(smaller, pooled=pooled, relevance=relevance)

    def truncate_pool(self, depth: int) -> Self:
        """The collection as it would be had only the pooled runs' first ``depth`` documents been judged.

        Judgments that were added stay. Runs that were pooled less deep keep their depth.

        Raises
        ------
        InputError
            ``depth`` is not between 1 and the depth of the deepest pooled run.
        """
        deepest = int(self.depth_of(np.flatnonzero(self.pooled)).max(initial=self.pool_depth))
        if not 1 <= depth <= deepest:
            raise InputError(f"pool depth {depth} is not between 1 and {deepest}")
        shallow = dataclasses.replace(self, pooling=self.pooling.truncated(depth))
        return shallow.without_judgments(~shallow.pool() & (self.added_for < 0))


def some(names: Sequence[str], n: int = 3) -> str:
    """The first names of a list, for a message."""
    return ", ".join(map(repr, names[:n])) + (" …" if len(names) > n else "")
