"""Removal of labels of hidden documents, so that models learn from documents without a label."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool.collection import Collection, IntArray
from bayespool.evidence.predictor_table import DocumentTable
from bayespool.evidence.predictors_of_labels import label_columns
from bayespool.randomness import document_keys

MIN_UNLABELED_DOCUMENTS = 50
"""Smallest number of hidden documents without a label, a fifth of them at most, if some document to complete
has none.
"""


def without_some_labels(
    collection: Collection, hidden: DocumentTable, unjudged: DocumentTable
) -> tuple[DocumentTable, DocumentTable]:
    """Both tables, hidden documents lacking labels as often as the documents to complete.

    The chance of a document without a label is the mean of all chances, not the one at the mean label,
    because log odds are not linear: models learn it from hidden documents. Where no document to complete has
    a label, all labels are ignored.
    """
    place = {name: column for column, name in enumerate(hidden.names)}
    known = [columns for columns in map(label_columns, collection.judges) if columns[1] in place]
    if not known or not len(hidden.pair) or not len(unjudged.pair):
        return hidden, unjudged
    predictors, of_unjudged = hidden.predictors.copy(), unjudged.predictors.copy()
    position = _positions(collection, hidden.pair)
    for lacking, missing, of_run in known:
        is_missing = predictors[:, place[missing]] > 0
        wanted = float((of_unjudged[:, place[missing]] > 0).mean())
        wanted = max(wanted, min(0.2, MIN_UNLABELED_DOCUMENTS / len(is_missing))) if wanted else 0.0
        if wanted > is_missing.mean():
            rest = (wanted - is_missing.mean()) / (1 - is_missing.mean())
            rows = np.flatnonzero((position < rest) & ~is_missing)
            predictors[np.ix_(rows, np.array([place[name] for name in lacking]))] = np.nan
            predictors[rows, place[missing]] = 1.0
        if wanted == 1:
            predictors[:, place[of_run]] = of_unjudged[:, place[of_run]] = np.nan
    return (
        dataclasses.replace(hidden, predictors=predictors),
        dataclasses.replace(unjudged, predictors=of_unjudged),
    )


def _positions(collection: Collection, pair: IntArray) -> npt.NDArray[np.float64]:
    """A number from 0 to 1 for each document, by a hash of its name, shape (document,)."""
    topic, doc_ids = collection.pair_topic[pair], collection.doc_ids.take(pa.array(pair)).to_pylist()
    position = np.zeros(len(pair))
    for t in np.unique(topic):
        rows = np.flatnonzero(topic == t)
        key = document_keys(0, collection.query_ids[t], [doc_ids[row] for row in rows])
        position[rows] = (key >> np.uint64(11)) * 2.0**-53
    return position
