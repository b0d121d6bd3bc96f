"""Counts of relevant, nonrelevant, unjudged and missing documents in the top of each run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.evidence.bounds import condensed_levels
from bayespool.evidence.states import (
    NONRELEVANT,
    RELEVANT,
    UNJUDGED_STATE,
    Estimand,
    check_cutoffs,
    check_estimand,
    count_within,
    reach_of,
    states,
    top_states,
)


@dataclass(frozen=True, eq=False)
class JudgmentCounts:
    """Counts of documents in the top n of each run on each topic; the four counts sum to n.

    Attributes
    ----------
    run_ids, query_ids : tuple of str
    cutoffs : tuple of int
    n_relevant, n_nonrelevant, n_unjudged, n_missing : ndarray of int32, shape (run, topic, cutoff)
        Judged relevant; judged nonrelevant; unjudged; ranks that the run did not fill, always nonrelevant.
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
        """B = n_relevant / n: P@n if no unjudged document is relevant, shape (run, topic, cutoff)."""
        return np.divide(self.n_relevant, self.cutoffs)

    @property
    def upper(self) -> npt.NDArray[np.float64]:
        """T = (n_relevant + n_unjudged) / n: P@n if all unjudged are relevant, shape (run, topic, cutoff)."""
        highest: IntArray = self.n_relevant + self.n_unjudged
        return np.divide(highest, self.cutoffs)

    @property
    def residual(self) -> npt.NDArray[np.float64]:
        """Δ = T − B = n_unjudged / n, shape (run, topic, cutoff)."""
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
    given : int, default 0
        Smallest relevance of documents that count among judged ones.
    estimand : {"complete", "pooled"}
        ``"pooled"`` counts an unjudged document below the pool depth of its run (`Collection.depth_of`) as
        nonrelevant.

    Returns
    -------
    JudgmentCounts

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
    if estimand == "pooled":
        reach = reach_of(collection, index, max(cutoffs), estimand)
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
    """Relevant documents among the first n judged ones of the whole ranking, shape (run, topic, cutoff)."""
    cutoffs = check_cutoffs(cutoffs)
    return count_within(condensed_levels(collection, run_ids, max(cutoffs)) >= rel, cutoffs)


def unjudged_documents(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoff: int,
    estimand: Estimand = "complete",
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.intp], IntArray]:
    """Run (position in ``run_ids``), topic, rank from 1 and pair code of each unjudged document in the top n,
    once for each run that retrieves it, by runs, topics, ranks; four arrays of shape (document,).
    """
    check_estimand(collection, estimand)
    index = collection.run_index(run_ids)
    reach = reach_of(collection, index, cutoff, estimand)
    document = collection.document[index, :, : int(reach.max(initial=0))]
    unjudged = np.append(collection.relevance < 0, False)[document]
    run, topic, rank = np.nonzero(unjudged & (np.arange(document.shape[2]) < reach[:, None, None]))
    return run, topic, rank + 1, document[run, topic, rank]
