"""Rankings × judgments → integer count tables; the only place that asks whether a ranked document is judged.

All tables cover many cutoffs in one pass and have the axes (run, topic, cutoff).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray, sole_contributor
from bayespool.errors import InputError

__all__ = [
    "CompositionEffects",
    "Estimand",
    "HeldOutCounts",
    "JudgmentCounts",
    "composition_effects",
    "condensed_counts",
    "held_out_counts",
    "judgment_counts",
    "unjudged_documents",
]

Estimand = Literal["complete", "pooled"]
_NONRELEVANT, _RELEVANT, _UNJUDGED, _MISSING = range(4)


@dataclass(frozen=True, eq=False)
class JudgmentCounts:
    """How the top n of each run on each topic splits up; the four counts sum to n.

    Attributes
    ----------
    run_ids, query_ids : tuple of str
    cutoffs : tuple of int
    n_relevant, n_nonrelevant, n_unjudged, n_missing : ndarray of int32, shape (run, topic, cutoff)
        Judged relevant; judged nonrelevant; unjudged; ranks that the run did not fill, nonrelevant for ever.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    cutoffs: tuple[int, ...]
    n_relevant: IntArray
    n_nonrelevant: IntArray
    n_unjudged: IntArray
    n_missing: IntArray

    @property
    def lower(self) -> npt.NDArray[np.float64]:
        """B = n_relevant / n: P@n if no unjudged document is relevant, as trec_eval gives it."""
        return np.divide(self.n_relevant, self.cutoffs)

    @property
    def upper(self) -> npt.NDArray[np.float64]:
        """T = (n_relevant + n_unjudged) / n: P@n if every unjudged document is relevant."""
        highest: IntArray = self.n_relevant + self.n_unjudged
        return np.divide(highest, self.cutoffs)

    @property
    def residual(self) -> npt.NDArray[np.float64]:
        """Δ = T − B = n_unjudged / n."""
        return np.divide(self.n_unjudged, self.cutoffs)


@dataclass(frozen=True, eq=False)
class HeldOutCounts:
    """Counts of each pooled run with its organization (or itself alone) held out of the pool: the evidence of
    every model.

    A document is *hidden* when only the held-out contributor retrieved it within the pool depth: it becomes
    unjudged while its relevance is known.

    Attributes
    ----------
    run_ids, query_ids, organizations : tuple of str
    organization : ndarray of int32, shape (run,)
        What was held out, as an index into ``organizations`` (which are the runs themselves for
        ``by="run"``).
    cutoffs : tuple of int
    n_relevant, n_nonrelevant : ndarray of int32, shape (run, topic, cutoff)
        Judged without the held-out contributor.
    n_hidden, n_hidden_relevant : ndarray of int32, shape (run, topic, cutoff)
        Hidden documents among the run's top n, and the relevant ones among them.
    n_credited, n_credited_relevant : ndarray of int32, shape (run, topic, cutoff)
        The same with each document of an organization counted once, for its run that ranks it best (the
        earlier run on equal ranks). Their sums over runs count distinct (topic, document) observations.
    n_unjudged : ndarray of int32, shape (run, topic, cutoff)
        Unjudged whether or not the contributor is held out.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    organizations: tuple[str, ...]
    organization: IntArray
    cutoffs: tuple[int, ...]
    n_relevant: IntArray
    n_nonrelevant: IntArray
    n_hidden: IntArray
    n_hidden_relevant: IntArray
    n_credited: IntArray
    n_credited_relevant: IntArray
    n_unjudged: IntArray


@dataclass(frozen=True, eq=False)
class CompositionEffects:
    """What composing a run with the pooled runs does to them (Lipani et al. 2015, §3.2), averaged over the
    pooled runs.

    Attributes
    ----------
    delta_precision, delta_antiprecision : ndarray of float, shape (run, topic, cutoff)
        δP@n and δP̄@n of the composed pooled runs; their negative sum is δk̄@n.
    """

    run_ids: tuple[str, ...]
    cutoffs: tuple[int, ...]
    delta_precision: npt.NDArray[np.float64]
    delta_antiprecision: npt.NDArray[np.float64]


def judgment_counts(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
    estimand: Estimand = "complete",
) -> JudgmentCounts:
    """Judgment counts of runs at cutoffs.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        Default: all runs.
    cutoffs : int or sequence of int
        Each at least 1.
    rel : int, default 1
        Smallest relevance that counts as relevant.
    estimand : {"complete", "pooled"}
        ``"pooled"`` counts an unjudged document below the pool depth as nonrelevant, as it would stay had the
        run been pooled.

    Returns
    -------
    JudgmentCounts

    Examples
    --------
    >>> from bayespool import load_example
    >>> counts = judgment_counts(load_example(), "new-a", cutoffs=[5, 10])
    >>> counts.n_relevant.shape
    (1, 20, 2)
    """
    cutoffs = _cutoffs(cutoffs)
    index = collection.run_index(run_ids)
    table = _state(collection.relevance, rel)
    state = _top(table, collection.document, index, cutoffs)
    if estimand == "pooled":
        below = state[:, :, collection.pool_depth :]
        below[below == _UNJUDGED] = _NONRELEVANT
    n_relevant, n_nonrelevant, n_unjudged = (
        _cumulative(state == kind, cutoffs) for kind in (_RELEVANT, _NONRELEVANT, _UNJUDGED)
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
    """Relevant documents among the first n judged ones of the whole ranking, shape (run, topic, cutoff)."""
    cutoffs = _cutoffs(cutoffs)
    index = collection.run_index(run_ids)
    table = np.append(_state(collection.relevance, rel), np.int8(_MISSING))
    counts = np.empty((len(index), len(collection.query_ids), len(cutoffs)), dtype=np.int32)
    for row, run in enumerate(index):
        state = table[collection.document[run]]
        place = np.cumsum(state <= _RELEVANT, axis=1)
        for c, cutoff in enumerate(cutoffs):
            counts[row, :, c] = ((state == _RELEVANT) & (place <= cutoff)).sum(axis=1)
    return counts


def held_out_counts(
    collection: Collection,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
    by: Literal["organization", "run"] = "organization",
    substitute: str | None = None,
) -> HeldOutCounts:
    """Held-out evidence: each pooled run's counts with its organization out of the pool.

    Parameters
    ----------
    collection : Collection
        Without the target's organization in the pool; nothing here knows which run is a target.
    cutoffs : int or sequence of int
    rel : int, default 1
    by : {"organization", "run"}
        What is held out with each run: all runs of its organization, or the run alone.
    substitute : str, optional
        A run that takes the held-out one's place in the pool, so that the pool keeps its size (Webber & Park
        2009, §3.1): what it retrieves within the pool depth stays judged.

    Returns
    -------
    HeldOutCounts
        With no rows where there is no pooled run.
    """
    cutoffs = _cutoffs(cutoffs)
    index = np.flatnonzero(collection.pooled)
    unit = (
        collection.organization
        if by == "organization"
        else np.arange(len(collection.run_ids), dtype=np.int32)
    )
    sole = sole_contributor(collection, by)
    if substitute is not None:
        sole[collection.pool(collection.run_index(substitute))] = -1
    state = _top(_state(collection.relevance, rel), collection.document, index, cutoffs)
    document = collection.document[index, :, : state.shape[2]]
    hidden = (np.append(sole, -1)[document] == unit[index, None, None]) & (state <= _RELEVANT)
    credited = hidden & _is_best_ranked(document, hidden, unit[index])
    relevant, nonrelevant = state == _RELEVANT, state == _NONRELEVANT

    def count(mask: npt.NDArray[np.bool_]) -> IntArray:
        return _cumulative(mask, cutoffs)

    return HeldOutCounts(
        run_ids=tuple(collection.run_ids[i] for i in index),
        query_ids=collection.query_ids,
        organizations=collection.organizations if by == "organization" else collection.run_ids,
        organization=unit[index],
        cutoffs=cutoffs,
        n_relevant=count(relevant & ~hidden),
        n_nonrelevant=count(nonrelevant & ~hidden),
        n_hidden=count(hidden),
        n_hidden_relevant=count(hidden & relevant),
        n_credited=count(credited),
        n_credited_relevant=count(credited & relevant),
        n_unjudged=count(state == _UNJUDGED),
    )


def composition_effects(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
    alpha: float = 1.0,
) -> CompositionEffects:
    """Change of the pooled runs' precision and anti-precision when their documents move to the ranks that a
    run gives them.

    A pooled run r composed with the run u keeps its own documents; one that u retrieves at rank i and r at
    rank j moves to ``alpha·i + (1 − alpha)·j`` (Lipani et al. 2015, equation 2). On equal positions a
    document that only r has goes first, then r's own order decides.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        The runs u. A run is not composed with itself.
    cutoffs : int or sequence of int
    rel : int, default 1
    alpha : float in [0, 1], default 1
        0 leaves every pooled run as it is.

    Returns
    -------
    CompositionEffects
        Zeros where there is no pooled run, or on topics that the run misses.
    """
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha {alpha} is not between 0 and 1")
    cutoffs = _cutoffs(cutoffs)
    index = collection.run_index(run_ids)
    table = np.append(_state(collection.relevance, rel), np.int8(_MISSING))
    shape = (len(index), len(collection.query_ids), len(cutoffs))
    delta_precision, delta_antiprecision = np.zeros(shape), np.zeros(shape)
    rank = np.arange(1, collection.document.shape[2] + 1, dtype=np.int32)
    rank_in_run = np.zeros(len(collection.relevance) + 1, dtype=np.int32)
    as_it_is = {
        r: _split(table[collection.document[r, :, : max(cutoffs)]], cutoffs)
        for r in np.flatnonzero(collection.pooled)
    }
    for row, u in enumerate(index):
        rank_in_run[:] = 0
        rank_in_run[collection.document[u]] = rank
        rank_in_run[-1] = 0
        pooled = [r for r in as_it_is if r != u]
        for r in pooled:
            document = collection.document[r]
            composed = _composed(document, rank_in_run[document], alpha, max(cutoffs))
            relevant, nonrelevant = _split(table[composed], cutoffs)
            delta_precision[row] += (relevant - as_it_is[r][0]) / len(pooled)
            delta_antiprecision[row] += (nonrelevant - as_it_is[r][1]) / len(pooled)
    divisor = np.array(cutoffs)
    return CompositionEffects(
        tuple(collection.run_ids[i] for i in index),
        cutoffs,
        delta_precision / divisor,
        delta_antiprecision / divisor,
    )


def _split(state: npt.NDArray[np.int8], cutoffs: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    return _cumulative(state == _RELEVANT, cutoffs), _cumulative(state == _NONRELEVANT, cutoffs)


def _composed(document: IntArray, rank_in_run: IntArray, alpha: float, depth: int) -> IntArray:
    """The first ``depth`` documents of a composed run, shape (topic, rank).

    Position (in 2⁻²⁰ ranks), shared or not, and own rank are packed into one integer, whose order is the
    order asked for.
    """
    own = np.arange(document.shape[1], dtype=np.int64)
    shared = rank_in_run > 0
    position = np.where(
        shared, np.rint((alpha * rank_in_run + (1 - alpha) * (own + 1)) * 2**20), (own + 1) * 2**20
    )
    packed = (position.astype(np.int64) << 22) | (shared.astype(np.int64) << 21) | own
    packed[document < 0] = np.iinfo(np.int64).max
    depth = min(depth, document.shape[1])
    if depth < document.shape[1]:
        packed.partition(depth - 1, axis=1)
    first = np.sort(packed[:, :depth], axis=1)
    composed = np.take_along_axis(document, np.minimum(first & (2**21 - 1), document.shape[1] - 1), axis=1)
    composed[first == np.iinfo(np.int64).max] = -1
    return composed


def _is_best_ranked(
    document: IntArray, hidden: npt.NDArray[np.bool_], unit: IntArray
) -> npt.NDArray[np.bool_]:
    """Where a hidden document stands at its best rank among the runs of its contributor (the first run on
    equal ranks).
    """
    run, topic, rank = np.nonzero(hidden)
    pair = document[run, topic, rank]
    order = np.lexsort((run, rank, pair))
    first = np.ones(len(order), dtype=bool)
    first[1:] = pair[order][1:] != pair[order][:-1]
    best = np.zeros_like(hidden)
    kept = order[first]
    best[run[kept], topic[kept], rank[kept]] = True
    return best


def _state(relevance: npt.NDArray[Any], rel: int) -> npt.NDArray[np.int8]:
    return np.where(relevance < 0, _UNJUDGED, np.where(relevance >= rel, _RELEVANT, _NONRELEVANT)).astype(
        np.int8
    )


def _top(
    table: npt.NDArray[np.int8], document: IntArray, index: npt.NDArray[np.intp], cutoffs: tuple[int, ...]
) -> npt.NDArray[np.int8]:
    """States of the top documents, shape (run, topic, rank); the entry appended to the table answers for −1,
    no document.
    """
    state: npt.NDArray[np.int8] = np.append(table, np.int8(_MISSING))[document[index, :, : max(cutoffs)]]
    return state


def _cumulative(mask: npt.NDArray[np.bool_], cutoffs: tuple[int, ...]) -> IntArray:
    """How often a mask holds within the first n ranks for each cutoff n; the rank axis is last."""
    depth = mask.shape[-1]
    if depth == 0:
        return np.zeros((*mask.shape[:-1], len(cutoffs)), dtype=np.int32)
    counted = np.cumsum(mask, axis=-1, dtype=np.int32)
    return counted[..., [min(n, depth) - 1 for n in cutoffs]]


def _cutoffs(cutoffs: int | Sequence[int]) -> tuple[int, ...]:
    values = (cutoffs,) if isinstance(cutoffs, int) else tuple(int(n) for n in cutoffs)
    if not values or min(values) < 1:
        raise InputError(f"cutoffs {values}: give at least one, each 1 or more")
    return values


def unjudged_documents(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoff: int,
    estimand: Estimand = "complete",
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], IntArray]:
    """What is to be imputed: run, topic and pair code of each unjudged document in the top n, in the order of
    runs, topics, ranks.

    Runs are positions in ``run_ids``; a document that several runs retrieve occurs once for each with the
    same pair code.
    """
    index = collection.run_index(run_ids)
    depth = min(cutoff, collection.pool_depth) if estimand == "pooled" else cutoff
    document = collection.document[index, :, :depth]
    run, topic, rank = np.nonzero(np.append(collection.relevance < 0, False)[document])
    return run, topic, document[run, topic, rank]
