"""Tables with a row of predictors per document, and treatment of documents without labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bayespool.arrays import FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.compiled import one_thread
from bayespool.errors import InputError, known_names
from bayespool.evidence.columns import column_predictors
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.predictors import PREDICTORS, DocumentContext, evidence_predictors
from bayespool.evidence.predictors_of_labels import label_columns, label_predictors
from bayespool.randomness import document_keys


@dataclass(frozen=True, eq=False)
class DocumentTable:
    """Table with one row of predictors per document.

    Attributes
    ----------
    run, topic, rank, pair
        As of a `DocumentContext`.
    relevant : ndarray of int64, shape (document,)
        1 for a relevant hidden document; 0 throughout for unjudged ones.
    predictors : ndarray of float, shape (document, predictor)
        Not standardized.
    names : tuple of str
        Names of the predictors.
    """

    run: OrderArray
    topic: OrderArray
    rank: OrderArray
    pair: IntArray
    relevant: IndexArray
    predictors: FloatArray
    names: tuple[str, ...]

    def columns(self, names: tuple[str, ...]) -> FloatArray:
        """Return the columns for the named predictors, shape (document, predictor)."""
        return self.predictors[:, [self.names.index(name) for name in names]]

    def context(
        self, collection: Collection, *, cutoff: int, rel: int = 1, given: int = 0
    ) -> DocumentContext:
        """Return what predictors of these documents are computed from, at a measure's cutoff."""
        documents = self.run, self.topic, self.rank, self.pair
        deepest = int(self.rank.max(initial=cutoff))
        return DocumentContext(collection, *documents, deepest, rel, given, cutoff)


def document_table(
    collection: Collection,
    run: OrderArray,
    topic: OrderArray,
    rank: OrderArray,
    pair: IntArray,
    *,
    depth: int,
    rel: int = 1,
    given: int = 0,
    names: Sequence[str] | None = None,
    cutoff: int | None = None,
) -> FloatArray:
    """Return predictors for any documents in any runs, shape (document, predictor).

    Columns are in the order of the names.

    Parameters
    ----------
    collection, run, topic, rank, pair, rel, given
        As of a `DocumentContext`.
    depth : int
        Largest possible rank of the documents. Values are the same at every depth up to 100; a greater depth
        takes in more neighbors.
    names : sequence of str, optional
        Predictors out of `PREDICTORS` and `label_predictors`; default: those of the evidence model.
    cutoff : int, optional
        Cutoff of the measure, for predictors from composition; default: ``depth``.

    Raises
    ------
    InputError
        An unknown predictor, a rank deeper than ``depth``, or values of another shape or not finite.
    """
    context = DocumentContext(collection, run, topic, rank, pair, depth, rel, given, cutoff or depth)
    return compute_predictors(context, evidence_predictors() if names is None else names)


def compute_predictors(context: DocumentContext, names: Sequence[str]) -> FloatArray:
    """Return the named predictors of a context's documents, as `document_table` does."""
    rank, n_documents, label_names = context.rank, len(context.pair), label_predictors(context.collection)
    known = PREDICTORS | label_names | column_predictors(context.collection)
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no predictor {unknown[0]!r}", hint=known_names(unknown[0], known))
    if len(rank) and rank.max() > context.depth:
        raise InputError(f"a document at rank {rank.max()} is below the depth of {context.depth}")
    predictors = np.empty((n_documents, len(names)))
    with one_thread():
        columns = [np.asarray(known[name].compute(context)) for name in names]
    for column, (name, values) in enumerate(zip(names, columns, strict=True)):
        finite = np.isfinite(values) | (np.isnan(values) & (name in label_names))
        if values.shape != (n_documents,) or not finite.all():
            raise InputError(
                f"predictor {name} does not have one finite value for each of {n_documents} documents",
                hint=f"its shape is {values.shape}",
            )
        predictors[:, column] = values
    return predictors


def hidden_document_table(
    collection: Collection, *, cutoff: int, rel: int = 1, given: int = 0, names: Sequence[str] | None = None
) -> DocumentTable:
    """Return each hidden document once, for the run of its organization that ranks it best.

    Parameters
    ----------
    collection : Collection
    cutoff : int
        Deepest rank of the documents in that run: deeper ones are relevant less often, and differ more
        between organizations.
    rel, given : int
        Smallest relevance that counts as relevant, and of the documents.
    names : sequence of str, optional
        Predictors; default: those of the evidence model.
    """
    run, topic, rank, pair, relevant = held_out_documents(collection, cutoff=cutoff, rel=rel, given=given)
    names = evidence_predictors() if names is None else tuple(names)
    predictors = document_table(
        collection, run, topic, rank, pair, depth=cutoff, rel=rel, given=given, names=names
    )
    return DocumentTable(run, topic, rank, pair, relevant.astype(np.int64), predictors, names)


def with_predictors(table: DocumentTable, context: DocumentContext, names: Sequence[str]) -> DocumentTable:
    """Return the table with missing named predictors added, computed in the context of its documents."""
    missing = tuple(name for name in names if name not in table.names)
    if not missing:
        return table
    columns = compute_predictors(context, missing)
    return dataclasses.replace(
        table, predictors=np.hstack([table.predictors, columns]), names=(*table.names, *missing)
    )


MIN_UNLABELED_DOCUMENTS = 50
"""Minimum number of hidden documents treated as unlabeled if a document to complete lacks a label.

It is at most a fifth of the hidden documents.
"""


def without_some_labels(
    collection: Collection, hidden: DocumentTable, unjudged: DocumentTable
) -> tuple[DocumentTable, DocumentTable]:
    """Return both tables, with labels removed until hidden documents lack them as often as unjudged ones."""
    # The chance of a document without a label is the mean of all chances, not the one at the mean label,
    # because log odds are not linear: models learn it from hidden documents. Where no document to complete
    # has a label, all labels are ignored.
    place = {name: column for column, name in enumerate(hidden.names)}
    known = [columns for columns in map(label_columns, collection.judges) if columns[1] in place]
    if not known or not len(hidden.pair) or not len(unjudged.pair):
        return hidden, unjudged
    predictors, unjudged_predictors = hidden.predictors.copy(), unjudged.predictors.copy()
    position = _positions(collection, hidden.pair)
    for lacking, missing, run_column in known:
        is_missing = predictors[:, place[missing]] > 0
        wanted = float((unjudged_predictors[:, place[missing]] > 0).mean())
        wanted = max(wanted, min(0.2, MIN_UNLABELED_DOCUMENTS / len(is_missing))) if wanted else 0.0
        if wanted > is_missing.mean():
            rest = (wanted - is_missing.mean()) / (1 - is_missing.mean())
            rows = np.flatnonzero((position < rest) & ~is_missing)
            predictors[np.ix_(rows, np.array([place[name] for name in lacking]))] = np.nan
            predictors[rows, place[missing]] = 1.0
        if wanted == 1:
            predictors[:, place[run_column]] = unjudged_predictors[:, place[run_column]] = np.nan
    return (
        dataclasses.replace(hidden, predictors=predictors),
        dataclasses.replace(unjudged, predictors=unjudged_predictors),
    )


def _positions(collection: Collection, pair: IntArray) -> FloatArray:
    """Return a number from 0 to 1 for each document from a hash of its name, shape (document,)."""
    topic, doc_ids = collection.pair_topic[pair], collection.doc_ids.take(pa.array(pair)).to_pylist()
    position = np.zeros(len(pair))
    for t in np.unique(topic):
        rows = np.flatnonzero(topic == t)
        key = document_keys(0, collection.query_ids[t], [doc_ids[row] for row in rows])
        position[rows] = (key >> np.uint64(11)) * 2.0**-53
    return position
