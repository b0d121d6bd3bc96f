"""Tables of documents with their predictors."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.errors import InputError, known_names
from bayespool.evidence.context import DocumentContext
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.judged import unjudged_documents
from bayespool.evidence.predictors import PREDICTORS, evidence_predictors
from bayespool.evidence.predictors_of_labels import label_predictors

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class DocumentTable:
    """Documents with their predictors, one row each.

    Attributes
    ----------
    run, topic : ndarray of int, shape (document,)
        The run that retrieved it, as an index into the collection's runs, and the topic.
    rank : ndarray of int, shape (document,)
        Its rank there, from 1.
    pair : ndarray of int32, shape (document,)
    relevant : ndarray of int64, shape (document,)
        1 for a relevant hidden document; 0 throughout for unjudged ones.
    predictors : ndarray of float, shape (document, predictor)
        Not standardized.
    names : tuple of str
        Names of the predictors.
    """

    run: IndexArray
    topic: IndexArray
    rank: IndexArray
    pair: IntArray
    relevant: npt.NDArray[np.int64]
    predictors: FloatArray
    names: tuple[str, ...]

    def columns(self, names: tuple[str, ...]) -> FloatArray:
        """The named predictors, shape (document, predictor)."""
        return self.predictors[:, [self.names.index(name) for name in names]]


def document_table(
    collection: Collection,
    run: IndexArray,
    topic: IndexArray,
    rank: IndexArray,
    pair: IntArray,
    *,
    depth: int,
    rel: int = 1,
    given: int = 0,
    names: Sequence[str] | None = None,
    cutoff: int | None = None,
) -> FloatArray:
    """Predictors of any documents in any runs.

    Parameters
    ----------
    collection : Collection
    run, topic : ndarray of int, shape (document,)
        The run that retrieved the document, as an index into the collection's runs, and the topic.
    rank : ndarray of int, shape (document,)
        Its rank there, from 1.
    pair : ndarray of int32, shape (document,)
        Its code.
    depth : int
        Largest possible rank of the documents. Values are the same at every depth up to 100; a greater depth
        takes in more neighbors.
    rel : int
        Smallest relevance that counts as relevant.
    given : int
        Smallest relevance of the judged documents that take part.
    names : sequence of str, optional
        Predictors out of `PREDICTORS` and `label_predictors`; default: those of the evidence model.
    cutoff : int, optional
        Cutoff of the measure, for predictors from composition; default: ``depth``.

    Returns
    -------
    ndarray of float, shape (document, predictor)
        In the order of the names.

    Raises
    ------
    InputError
        An unknown predictor, a rank deeper than ``depth``, or values of another shape or not finite.
    """
    names = evidence_predictors() if names is None else tuple(names)
    of_labels = label_predictors(collection)
    known = PREDICTORS | of_labels
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no predictor {unknown[0]!r}", hint=known_names(unknown[0], known))
    if len(rank) and rank.max() > depth:
        raise InputError(f"a document at rank {rank.max()} is below the depth of {depth}")
    context = DocumentContext(collection, run, topic, rank, pair, depth, rel, given, cutoff or depth)
    predictors = np.empty((len(pair), len(names)))
    for column, name in enumerate(names):
        values = np.asarray(known[name].compute(context))
        finite = np.isfinite(values) | (np.isnan(values) & (name in of_labels))
        if values.shape != (len(pair),) or not finite.all():
            raise InputError(
                f"predictor {name} does not have one finite value for each of {len(pair)} documents",
                hint=f"its shape is {values.shape}",
            )
        predictors[:, column] = values
    return predictors


def hidden_document_table(
    collection: Collection,
    *,
    cutoff: int,
    rel: int = 1,
    given: int = 0,
    names: Sequence[str] | None = None,
) -> DocumentTable:
    """Hidden documents, each once, for the run of its organization that ranks it best.

    Parameters
    ----------
    collection : Collection
    cutoff : int
        Deepest rank of the documents in that run: deeper ones are relevant less often, and differ more
        between organizations.
    rel : int
        Smallest relevance that counts as relevant.
    given : int
        Smallest relevance of the documents.
    names : sequence of str, optional
        Predictors; default: those of the evidence model.
    """
    run, topic, rank, pair, relevant = held_out_documents(collection, cutoff=cutoff, rel=rel, given=given)
    names = evidence_predictors() if names is None else tuple(names)
    predictors = document_table(
        collection, run, topic, rank, pair, depth=cutoff, rel=rel, given=given, names=names
    )
    return DocumentTable(run, topic, rank, pair, relevant.astype(np.int64), predictors, names)


def unjudged_document_table(
    collection: Collection,
    run_ids: tuple[str, ...],
    *,
    cutoff: int,
    rel: int = 1,
    pooled_only: bool = False,
    names: Sequence[str] | None = None,
) -> DocumentTable:
    """Unjudged documents of runs to score with their predictors, by run, topic and rank.

    Parameters
    ----------
    collection : Collection
    run_ids : tuple of str
    cutoff : int
        Ranks to look at.
    rel : int
        Least relevance that counts as relevant.
    pooled_only : bool
        Only documents within the pool depth (the estimand ``"pooled"``).
    names : sequence of str, optional
        Predictors; default: those of the evidence model.

    Returns
    -------
    DocumentTable
    """
    row, topic, rank, pair = unjudged_documents(
        collection, run_ids, cutoff=cutoff, estimand="pooled" if pooled_only else "complete"
    )
    run = collection.run_index(run_ids)[row]
    names = evidence_predictors() if names is None else tuple(names)
    predictors = document_table(collection, run, topic, rank, pair, depth=cutoff, rel=rel, names=names)
    return DocumentTable(run, topic, rank, pair, np.zeros(len(pair), dtype=np.int64), predictors, names)


def with_predictors(
    collection: Collection,
    table: DocumentTable,
    names: Sequence[str],
    *,
    cutoff: int,
    rel: int = 1,
    given: int = 0,
) -> DocumentTable:
    """Add to the table those named predictors that it lacks; the cutoff is that of `document_table`."""
    missing = tuple(name for name in names if name not in table.names)
    if not missing:
        return table
    columns = document_table(
        collection,
        table.run,
        table.topic,
        table.rank,
        table.pair,
        depth=int(table.rank.max(initial=cutoff)),
        rel=rel,
        given=given,
        names=missing,
        cutoff=cutoff,
    )
    return dataclasses.replace(
        table, predictors=np.hstack([table.predictors, columns]), names=(*table.names, *missing)
    )
