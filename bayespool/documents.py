"""What is known of a document before it is judged: where runs rank it, and how good the run at hand is.

Document-level models learn from these predictors on hidden documents, and predict unjudged ones with them.
Whatever a predictor is computed from, the held-out organization took no part in it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.counts import (
    NONRELEVANT,
    RELEVANT,
    UNJUDGED_STATE,
    composition_effects,
    held_out_documents,
    states_without_own,
    unjudged_documents,
)

__all__ = [
    "COMPOSITION_PREDICTORS",
    "PREDICTORS",
    "DocumentTable",
    "hidden_document_table",
    "unjudged_document_table",
    "with_composition",
]

PREDICTORS = (
    "log_rank",
    "precision",
    "run_precision",
    "support",
    "log_best_rank",
    "fusion",
    "local_precision",
    "run_unjudged",
)
"""Of the run that retrieved the document: log of the rank there; logit of the run's judged precision on the
topic, and over all topics. Of the other pooled runs: the share that retrieve the document at any depth; log
of its best rank among them; log of 1 + 10 times the mean over them of precision/log₂(1 + rank), the precision
that of the run on the topic. Of the run again: logit of its judged precision on the topic around the
document, neighbours weighing 1/(1 + distance/5); log odds of a document in its top being unjudged, over all
topics."""

COMPOSITION_PREDICTORS = ("delta_precision", "delta_antiprecision")
"""What composing the run with the pooled runs does to their P@n and P̄@n on the topic (Lipani et al. 2015)."""

FloatArray = npt.NDArray[np.float64]

_ABSENT = 2  # a document that no other run retrieves counts as ranked at twice the longest ranking
_NEAR = 5.0  # distance in ranks at which a judged neighbour counts half
_LEAST_DEPTH = 10  # a shallower cutoff has too little evidence of its own
_NEIGHBOURS = 100  # how deep judged neighbours are looked for
_TOP = (10, 30)  # how deep a run's judged precision is taken: the pool depth, within these bounds


@dataclass(frozen=True, eq=False)
class DocumentTable:
    """Documents with their predictors, one row each.

    Attributes
    ----------
    run, topic : ndarray of int, shape (document,)
        The run that retrieved it, as an index into the collection's runs, and the topic.
    pair : ndarray of int32, shape (document,)
    relevant : ndarray of int64, shape (document,)
        1 for a relevant hidden document; 0 throughout for unjudged ones.
    predictors : ndarray of float, shape (document, predictor)
        Not standardised.
    names : tuple of str
        Names of the predictors.
    """

    run: npt.NDArray[np.intp]
    topic: npt.NDArray[np.intp]
    pair: IntArray
    relevant: npt.NDArray[np.int64]
    predictors: FloatArray
    names: tuple[str, ...] = PREDICTORS

    def columns(self, names: tuple[str, ...]) -> FloatArray:
        """The named predictors, shape (document, predictor)."""
        return self.predictors[:, [self.names.index(name) for name in names]]


def hidden_document_table(collection: Collection, *, cutoff: int, rel: int = 1) -> DocumentTable:
    """The hidden documents of the contributing organizations, each once, for the run of its organization that
    ranks it best.

    Parameters
    ----------
    collection : Collection
    cutoff : int
        Only documents that this run ranks within the cutoff, or the first ten: those deeper down are relevant
        less often, and spread differently over organizations.
    rel : int
        Smallest relevance that counts as relevant.
    """
    depth = max(cutoff, _LEAST_DEPTH)
    run, topic, rank, pair, relevant = held_out_documents(collection, cutoff=depth, rel=rel)
    predictors = _predictors(collection, run, topic, rank, pair, depth, rel)
    return DocumentTable(run, topic, pair, relevant.astype(np.int64), predictors)


def unjudged_document_table(
    collection: Collection, run_ids: tuple[str, ...], *, cutoff: int, rel: int = 1, pooled_only: bool = False
) -> DocumentTable:
    """The unjudged documents of runs to score, in the order of `bayespool.counts.unjudged_documents`.

    Parameters
    ----------
    collection : Collection
    run_ids : tuple of str
    cutoff : int
    rel : int
    pooled_only : bool
        Only those within the pool depth (the estimand ``"pooled"``).
    """
    row, topic, rank, pair = unjudged_documents(
        collection, run_ids, cutoff=cutoff, estimand="pooled" if pooled_only else "complete"
    )
    run = collection.run_index(run_ids)[row]
    predictors = _predictors(collection, run, topic, rank, pair, cutoff, rel)
    return DocumentTable(run, topic, pair, np.zeros(len(pair), dtype=np.int64), predictors)


def document_table(
    collection: Collection,
    run: npt.NDArray[np.intp],
    topic: npt.NDArray[np.intp],
    rank: npt.NDArray[np.intp],
    pair: IntArray,
    *,
    depth: int,
    rel: int,
) -> DocumentTable:
    """Any documents with their predictors."""
    predictors = _predictors(collection, run, topic, rank, pair, depth, rel)
    return DocumentTable(run, topic, pair, np.zeros(len(pair), dtype=np.int64), predictors)


def with_composition(
    collection: Collection, table: DocumentTable, *, cutoff: int, rel: int = 1
) -> DocumentTable:
    """The table with `COMPOSITION_PREDICTORS` besides, each run composed with the pool without its
    organization.
    """
    effects = np.zeros((len(table.run), len(COMPOSITION_PREDICTORS)))
    of_organization = collection.organization[table.run]
    for o in np.unique(of_organization):
        reduced = collection.unpool(organization=collection.organizations[o])
        rows = np.flatnonzero(of_organization == o)
        runs, row = np.unique(table.run[rows], return_inverse=True)
        composed = composition_effects(
            reduced, [collection.run_ids[r] for r in runs], cutoffs=cutoff, rel=rel
        )
        effects[rows, 0] = composed.delta_precision[row, table.topic[rows], 0]
        effects[rows, 1] = composed.delta_antiprecision[row, table.topic[rows], 0]
    return dataclasses.replace(
        table,
        predictors=np.hstack([table.predictors, effects]),
        names=(*table.names, *COMPOSITION_PREDICTORS),
    )


def _predictors(
    collection: Collection,
    run: npt.NDArray[np.intp],
    topic: npt.NDArray[np.intp],
    rank: npt.NDArray[np.intp],
    pair: IntArray,
    cutoff: int,
    rel: int,
) -> FloatArray:
    """Predictors in the order of `PREDICTORS`, shape (document, predictor)."""
    runs, row = np.unique(run, return_inverse=True)
    state = states_without_own(collection, runs, max(cutoff, _NEIGHBOURS), rel=rel)
    relevant, nonrelevant = state == RELEVANT, state == NONRELEVANT
    top = int(np.clip(collection.pool_depth, *_TOP))
    n_relevant = relevant[:, :, :top].sum(axis=2)
    n_nonrelevant = nonrelevant[:, :, :top].sum(axis=2)
    n_unjudged = (state[:, :, :top] == UNJUDGED_STATE).sum(axis=(1, 2))
    return np.column_stack(
        [
            np.log(rank),
            _log_odds(n_relevant, n_nonrelevant)[row, topic],
            _log_odds(n_relevant.sum(axis=1), n_nonrelevant.sum(axis=1))[row],
            *_support(collection, pair, topic, collection.organization[run], rel),
            _local_precision(relevant, nonrelevant, cutoff)[row, topic, rank - 1],
            _log_odds(n_unjudged, (n_relevant + n_nonrelevant).sum(axis=1))[row],
        ]
    )


def _local_precision(
    relevant: npt.NDArray[np.bool_], nonrelevant: npt.NDArray[np.bool_], cutoff: int
) -> FloatArray:
    """Logit of judged precision around each of the first ranks, shape (run, topic, rank), with the run's over
    all topics for one more neighbour.
    """
    ranks = np.arange(relevant.shape[2])
    nearness = 1 / (1 + np.abs(ranks[:, None] - ranks[:cutoff]) / _NEAR)
    n_relevant, n_nonrelevant = relevant.sum(axis=(1, 2)), nonrelevant.sum(axis=(1, 2))
    of_run = ((n_relevant + 0.5) / (n_relevant + n_nonrelevant + 1))[:, None, None]
    local: FloatArray = np.log((relevant @ nearness + of_run) / (nonrelevant @ nearness + 1 - of_run))
    return local


def _log_odds(n: npt.NDArray[np.int64], n_other: npt.NDArray[np.int64]) -> FloatArray:
    """Smoothed log odds of one kind against another."""
    odds: FloatArray = np.log((n + 0.5) / (n_other + 0.5))
    return odds


def _support(
    collection: Collection, pair: IntArray, topic: npt.NDArray[np.intp], own: IntArray, rel: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Support, log best rank and fusion score of documents among the pooled runs of other organizations than
    ``own``.

    A run's precision is that of its contribution to the pool, in which no document of ``own`` alone stands.
    """
    n_ranks = collection.document.shape[2]
    top = min(_TOP[1], collection.pool_depth)
    state = np.append(collection.relevance, np.int16(-1))
    rank_of = np.zeros(len(collection.relevance) + 1, dtype=np.int32)
    n_runs, n_retrieving = np.zeros(len(pair)), np.zeros(len(pair))
    fusion, best = np.zeros(len(pair)), np.full(len(pair), _ABSENT * n_ranks)
    ranks = np.arange(1, n_ranks + 1, dtype=np.int32)
    gain = np.append(0.0, 1 / np.log2(1 + ranks))
    for run in np.flatnonzero(collection.pooled):
        document = collection.document[run]
        rank_of[document] = ranks
        rank_of[-1] = 0
        rank = np.where(own == collection.organization[run], 0, rank_of[pair])
        rank_of[document] = 0
        judged = state[document[:, :top]]
        precision = ((judged >= rel).sum(axis=1) + 0.5) / ((judged >= 0).sum(axis=1) + 1)
        n_runs += own != collection.organization[run]
        n_retrieving += rank > 0
        fusion += gain[rank] * precision[topic]
        best = np.where(rank > 0, np.minimum(best, rank), best)
    n_runs = np.maximum(n_runs, 1)
    return n_retrieving / n_runs, np.log(best), np.log1p(10 * fusion / n_runs)
