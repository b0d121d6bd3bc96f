"""Bounds on run scores, and numbers of judged and unjudged documents in the top ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayespool.arrays import BoolArray, FloatArray, IntArray, LevelArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.rankings import blocks
from bayespool.evidence.ideals import (
    MISSING,
    NONRELEVANT,
    RELEVANT,
    UNJUDGED_STATE,
    Estimand,
    check_cutoffs,
    check_estimand,
    count_within,
    judged_tally,
    n_in_reach,
    open_ranks,
    ranked_levels,
    relevance_levels,
    relevance_table,
    run_reach,
    states,
    top_states,
)
from bayespool.measures import Measure, Normalized, Values
from bayespool.measures.base import MISSING_RANK, UNREACHED, insert_relevant
from bayespool.reading import NEVER_JUDGED
from bayespool.tables.formatting import counted, some_of
from bayespool.tables.markup import ReprHTMLMixin, one_line


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(ReprHTMLMixin):
    """Lower and upper score bounds under one measure, with numbers of documents within its cutoff.

    Attributes
    ----------
    measure : Measure
    run_ids, query_ids : tuple of str
    low, high : Values, shape (run, topic)
        B and T: no unjudged document is relevant, as trec_eval has it, and all are. For a measure over an
        ideal ranking T is Ravana & Moffat's estimate: relevant documents that the ranking lacks take its
        first unjudged ranks. For one that relevance may raise or lower T is the largest value. Corrections
        work with these two.
    least, most : Values, shape (run, topic)
        Smallest and largest value under any completion of the judgments (`Measure.extremes`): B and T, but
        where a relevant document may lower the value.
    n_judged, n_unjudged, n_missing : ndarray of int32, shape (run, topic)
        Documents down to the cutoff that are judged (or never will be, under the estimand ``"pooled"``);
        unjudged ones; and ranks that the run did not fill. They sum to the cutoff.
    """

    measure: Measure
    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    low: Values
    high: Values
    least: Values
    most: Values
    n_judged: IntArray
    n_unjudged: IntArray
    n_missing: IntArray

    def __repr__(self) -> str:
        n = self.n_unjudged.sum()
        share = f"{100 * n / max(n + self.n_judged.sum(), 1):.3g} % unjudged"
        runs = f"{counted(len(self.run_ids), 'run')} ({some_of(self.run_ids, 3)})"
        return one_line("Bounds", f"{self.measure} of {runs} on {len(self.query_ids)} topics, {share}")

    @property
    def lower(self) -> FloatArray:
        """Lower bound B on each topic, shape (run, topic)."""
        return self.low.scores()

    @property
    def upper(self) -> FloatArray:
        """Upper bound T on each topic, shape (run, topic)."""
        return self.high.scores()

    @property
    def width(self) -> Values:
        """Difference T − B between upper and lower bounds."""
        return Values(self.high.amount - self.low.amount, self.low.unit)

    @property
    def residual(self) -> FloatArray:
        """Residual Δ = T − B on each topic, shape (run, topic)."""
        return self.width.scores()

    @property
    def unjudged_share(self) -> FloatArray:
        """Share of a run's documents within the cutoff that are unjudged, over all topics, shape (run,)."""
        n_unjudged = self.n_unjudged.sum(axis=1)
        return np.asarray(n_unjudged / np.maximum(n_unjudged + self.n_judged.sum(axis=1), 1))

    @property
    def unjudged_on_topics(self) -> FloatArray:
        """Share of a run's documents within the cutoff that are unjudged, 0 without any, (run, topic)."""
        return np.asarray(self.n_unjudged / np.maximum(self.n_judged + self.n_unjudged, 1))

    @property
    def has_unjudged(self) -> BoolArray:
        """Whether a run's ranking or ideal ranking has unjudged documents, shape (run,)."""
        is_open: BoolArray = self.least.amount != self.most.amount
        return np.asarray((is_open | (self.n_unjudged > 0)).any(axis=1))


def score_bounds(
    collection: Collection,
    run_ids: str | Iterable[str] | None,
    measure: Measure,
    *,
    estimand: Estimand = "complete",
) -> Bounds:
    """Return lower and upper bounds on the runs' scores under a measure.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, or None
        None for all runs.
    measure : Measure
    estimand : {"complete", "pooled"}
        Whether an unjudged document below the pool depth of its run may be relevant.

    Raises
    ------
    InputError
        Unknown run or estimand; ``"pooled"`` where no pool depth is known.

    Examples
    --------
    >>> from bayespool import load_example, parse_measure
    >>> bounds = score_bounds(load_example(), "new-a", parse_measure("P@10"))
    >>> round(float(bounds.low.means()[0]), 3), round(float(bounds.high.means()[0]), 3)
    (0.595, 0.685)
    """
    check_estimand(collection, estimand)
    index = collection.run_index(run_ids)
    # each estimator asks for the same
    return collection.memo.once(
        "bounds",
        lambda: _find_bounds(collection, index, measure, estimand),
        (index.tobytes(), measure, estimand),
        keep=8,
    )


def _find_bounds(collection: Collection, index: OrderArray, measure: Measure, estimand: Estimand) -> Bounds:
    ranked = ranked_levels(collection, index, measure.cutoff)
    there = ranked != MISSING_RANK
    unjudged = open_ranks(collection, index, measure.cutoff, estimand)
    tally = judged_tally(collection, relevance_levels(collection, measure))
    read = measure.read(ranked)
    low = high = least = most = measure.values(read, tally)
    n_there, n_unjudged = (mask.sum(axis=2, dtype=np.int32) for mask in (there, unjudged))
    if not measure.describes_judgments:
        opened = np.where(unjudged, np.int16(-1), np.where(read == -1, np.int16(UNREACHED), read))
        elsewhere = np.zeros_like(n_unjudged, dtype=np.int64)
        if isinstance(measure, Normalized):
            elsewhere = n_in_reach(collection, index, measure, estimand) - n_unjudged
        extremes = measure.extremes(opened, tally, elsewhere)
        least, most = (Values(end, measure.unit) for end in extremes)
        high = (
            measure.values(insert_relevant(opened, tally), tally) if isinstance(measure, Normalized) else most
        )
    beyond = measure.open_end(n_there)
    if beyond is not None:
        high = most = Values(high.amount + beyond, measure.unit)
    return Bounds(
        measure=measure,
        run_ids=tuple(collection.run_ids[i] for i in index),
        query_ids=collection.query_ids,
        low=low,
        high=high,
        least=least,
        most=most,
        n_judged=n_there - n_unjudged,
        n_unjudged=n_unjudged,
        n_missing=np.int32(measure.cutoff) - n_there,
    )


def condensed_levels(collection: Collection, run_ids: str | Iterable[str] | None, depth: int) -> LevelArray:
    """Return relevance levels in the runs' condensed lists, padded with 0, (run, topic, rank).

    What is never judged counts as judged nonrelevant in the top ``depth``, where the truth has it, too.
    """
    index = collection.run_index(run_ids)
    condensed = np.zeros((len(index), len(collection.query_ids), depth), dtype=np.int16)
    table, every = relevance_table(collection), np.arange(len(collection.query_ids))
    never = np.append(collection.relevance == NEVER_JUDGED, False)
    for row, run in enumerate(index):
        for topics, last in blocks(collection.document, run):
            document = collection.document[run, topics, :last]
            level = table[document]
            level[:, :depth][never[document[:, :depth]]] = 0
            judged = level >= 0
            place = np.cumsum(judged, axis=1) - 1
            topic, rank = np.nonzero(judged & (place < depth))
            condensed[row, every[topics][topic], place[topic, rank]] = level[topic, rank]
    return condensed


@dataclass(frozen=True, eq=False)
class JudgmentCounts:
    """Number of relevant, nonrelevant, unjudged and missing documents in each run's top n per topic.

    The four counts sum to n.

    Attributes
    ----------
    run_ids, query_ids : tuple of str
    cutoffs : tuple of int
    n_relevant, n_nonrelevant, n_unjudged, n_missing : ndarray of int32, shape (run, topic, cutoff)
        Judged relevant; judged nonrelevant; unjudged; ranks that the run did not fill or whose documents are
        never judged, always nonrelevant.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    cutoffs: tuple[int, ...]
    n_relevant: IntArray
    n_nonrelevant: IntArray
    n_unjudged: IntArray
    n_missing: IntArray

    @property
    def lower(self) -> FloatArray:
        """Lower bound B = n_relevant / n on P@n, shape (run, topic, cutoff)."""
        return np.divide(self.n_relevant, self.cutoffs)

    @property
    def upper(self) -> FloatArray:
        """Upper bound T = (n_relevant + n_unjudged) / n on P@n, shape (run, topic, cutoff)."""
        highest: IntArray = self.n_relevant + self.n_unjudged
        return np.divide(highest, self.cutoffs)

    @property
    def residual(self) -> FloatArray:
        """Residual Δ = T − B = n_unjudged / n, shape (run, topic, cutoff)."""
        return np.divide(self.n_unjudged, self.cutoffs)


def judgment_counts(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
    given: int = 0,
    estimand: Estimand = "complete",
) -> JudgmentCounts:
    """Return numbers of relevant, nonrelevant, unjudged and missing documents within each cutoff.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        Default: all runs.
    cutoffs : int or sequence of int
        Each at least 1.
    rel : int, default 1
        Smallest relevance that counts as relevant.
    given : int, default 0
        Smallest relevance of documents that count among judged ones.
    estimand : {"complete", "pooled"}
        ``"pooled"`` counts an unjudged document below the pool depth of its run (`Collection.run_depths`) as
        nonrelevant.

    Raises
    ------
    InputError
        Unknown run or estimand; a cutoff below 1; ``"pooled"`` where no pool depth is known.

    Examples
    --------
    >>> from bayespool import load_example
    >>> counts = judgment_counts(load_example(), "new-a", cutoffs=[5, 10])
    >>> counts.n_relevant.shape
    (1, 20, 2)
    """
    cutoffs = check_cutoffs(cutoffs)
    check_estimand(collection, estimand)
    index = collection.run_index(run_ids)
    table = states(collection.relevance, rel, given)
    state = top_states(table, collection.document, index, cutoffs)
    never = np.append(collection.relevance == NEVER_JUDGED, False)
    state[never[collection.document[index, :, : max(cutoffs)]]] = MISSING  # nonrelevant, and no judgment
    if estimand == "pooled":
        reach = run_reach(collection, index, max(cutoffs), estimand)
        below = np.arange(state.shape[2]) >= reach[:, None, None]
        state[below & (state == UNJUDGED_STATE)] = NONRELEVANT
    n_relevant, n_nonrelevant, n_unjudged = (
        count_within(state == kind, cutoffs) for kind in (RELEVANT, NONRELEVANT, UNJUDGED_STATE)
    )
    return JudgmentCounts(
        run_ids=tuple(collection.run_ids[i] for i in index),
        query_ids=collection.query_ids,
        cutoffs=cutoffs,
        n_relevant=n_relevant,
        n_nonrelevant=n_nonrelevant,
        n_unjudged=n_unjudged,
        n_missing=np.array(cutoffs, dtype=np.int32) - n_relevant - n_nonrelevant - n_unjudged,
    )


def condensed_counts(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
) -> IntArray:
    """Return the number of relevant documents in the top n of condensed lists.

    Shape (run, topic, cutoff).
    """
    cutoffs = check_cutoffs(cutoffs)
    return count_within(condensed_levels(collection, run_ids, max(cutoffs)) >= rel, cutoffs)


def unjudged_documents(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoff: int,
    estimand: Estimand = "complete",
) -> tuple[OrderArray, OrderArray, OrderArray, IntArray]:
    """Return run, topic, rank and pair code for each unjudged document within reach.

    Runs are indices into ``run_ids``; ranks begin at 1.

    Shape (document,).
    """
    check_estimand(collection, estimand)
    index = collection.run_index(run_ids)
    run, topic, rank = np.nonzero(open_ranks(collection, index, cutoff, estimand))
    return run, topic, rank + 1, collection.document[index, :, :cutoff][run, topic, rank]
