"""What is known of a document before it is judged: where runs rank it, and how good the run at hand is.

Document-level models learn from these predictors on hidden documents, and predict unjudged ones with them.
Whatever a predictor is computed from, the held-out organization took no part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.counts import held_out_counts, held_out_documents, judgment_counts, unjudged_documents

__all__ = ["PREDICTORS", "DocumentTable", "hidden_document_table", "unjudged_document_table"]

PREDICTORS = ("log_rank", "precision", "run_precision", "support", "log_best_rank", "fusion")
"""Log of the rank in the run; logit of the run's judged precision on the topic and over all topics; share of
the other pooled runs that retrieve the document at any depth; log of the best rank among them; log of 1 + 10
times the mean over
them of 1/log₂(1 + rank)."""

_ABSENT = 2  # a document that no other run retrieves counts as ranked at twice the longest ranking


@dataclass(frozen=True, eq=False)
class DocumentTable:
    """Documents with their predictors, one row each.

    Attributes
    ----------
    run, topic : ndarray of int, shape (document,)
        The run that retrieved it, as an index into the collection's runs (hidden documents) or into the runs
        asked for (unjudged ones), and the topic.
    pair : ndarray of int32, shape (document,)
    relevant : ndarray of int64, shape (document,)
        1 for a relevant hidden document; 0 throughout for unjudged ones.
    predictors : ndarray of float, shape (document, predictor)
        In the order of `PREDICTORS`, not standardised.
    """

    run: npt.NDArray[np.intp]
    topic: npt.NDArray[np.intp]
    pair: IntArray
    relevant: npt.NDArray[np.int64]
    predictors: npt.NDArray[np.float64]


def hidden_document_table(collection: Collection, *, cutoff: int, rel: int = 1) -> DocumentTable:
    """The hidden documents of the pooled organizations, each once, for the run of its organization that ranks
    it best.

    Parameters
    ----------
    collection : Collection
    cutoff : int
        Only documents that this run ranks within the cutoff: those deeper down are relevant less often, and
        spread differently over organizations.
    rel : int
        Smallest relevance that counts as relevant.
    """
    run, topic, rank, pair, relevant = held_out_documents(collection, cutoff=cutoff, rel=rel)
    depth = _precision_depth(collection)
    counts = held_out_counts(collection, cutoffs=depth, rel=rel)
    position = np.full(len(collection.run_ids), -1)
    position[np.flatnonzero(collection.pooled)] = np.arange(len(counts.run_ids))
    precision = _precisions(counts.n_relevant[:, :, 0], counts.n_nonrelevant[:, :, 0])
    own = collection.organization[run]
    support = _support(collection, pair, own)
    predictors = np.column_stack(
        [np.log(rank), precision[0][position[run], topic], precision[1][position[run]], *support]
    )
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
    run, topic, pair = unjudged_documents(
        collection, run_ids, cutoff=cutoff, estimand="pooled" if pooled_only else "complete"
    )
    ranking = collection.document[collection.run_index(run_ids)[run], topic, :cutoff]
    rank = (ranking == pair[:, None]).argmax(axis=1) + 1
    counts = judgment_counts(collection, run_ids, cutoffs=_precision_depth(collection), rel=rel)
    precision = _precisions(counts.n_relevant[:, :, 0], counts.n_nonrelevant[:, :, 0])
    own = collection.organization[collection.run_index(run_ids)][run]
    support = _support(collection, pair, own)
    predictors = np.column_stack([np.log(rank), precision[0][run, topic], precision[1][run], *support])
    return DocumentTable(run, topic, pair, np.zeros(len(pair), dtype=np.int64), predictors)


def _precision_depth(collection: Collection) -> int:
    """How deep judged documents count for a run's precision: where most of them are judged."""
    return max(10, min(30, collection.pool_depth))


def _precisions(
    n_relevant: IntArray, n_nonrelevant: IntArray
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Smoothed logit of the judged precision per (run, topic), and per run over all topics."""
    per_topic = np.log((n_relevant + 0.5) / (n_nonrelevant + 0.5))
    per_run = np.log((n_relevant.sum(axis=1) + 0.5) / (n_nonrelevant.sum(axis=1) + 0.5))
    return per_topic, per_run


def _support(
    collection: Collection, pair: IntArray, own: IntArray
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Support, log best rank and fusion score of documents among the pooled runs of other organizations than
    ``own``.
    """
    n_ranks = collection.document.shape[2]
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
        n_runs += own != collection.organization[run]
        n_retrieving += rank > 0
        fusion += gain[rank]
        best = np.where(rank > 0, np.minimum(best, rank), best)
    n_runs = np.maximum(n_runs, 1)
    return n_retrieving / n_runs, np.log(best), np.log1p(10 * fusion / n_runs)
