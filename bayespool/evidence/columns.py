"""Predictors of relevance that are columns of numbers of runs, topics or documents."""

from __future__ import annotations

from functools import partial

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.collection.attributes import Attributes, Of
from bayespool.evidence.predictors import DocumentContext, Predictor


def column_predictors(collection: Collection) -> dict[str, Predictor]:
    """Return the columns of numbers of runs, topics and documents as predictors, keyed by name."""
    return collection.memo.once("column predictors", partial(_find_predictors, collection))


def _find_predictors(collection: Collection) -> dict[str, Predictor]:
    predictors = {}
    tables: dict[Of, Attributes] = {"run": collection.runs, "topic": collection.topics}
    for of, attributes in tables.items():
        for name in attributes.columns:
            if (values := standardized(collection, of, name)) is not None:
                text = f"{name} of the {of}, in standard deviations from the mean"
                compute = partial(_values_of_place, of=of, values=values)
                predictors[name] = Predictor(name=name, description=text, per="ranking", compute=compute)
    for table in collection.documents:
        for name in table.columns:
            text = f"{name} of the document, in standard deviations from the mean of the topic"
            of_document = partial(_values_of_document, name=name)
            predictors[name] = Predictor(name=name, description=text, per="document", compute=of_document)
    return predictors


def standardized(collection: Collection, of: Of, name: str) -> FloatArray | None:
    """Return a column with mean 0 and standard deviation 1, shape (run,) or (topic,); None for texts.

    Those are of all topics, or of the runs that hidden documents are of, so that runs to score do not change
    them. A missing value is 0, average, and so is every value of a column whose values are all the same.
    """
    ids = collection.run_ids if of == "run" else collection.query_ids
    values = (collection.runs if of == "run" else collection.topics).numbers(name, ids)
    if values is None:
        return None
    known = values[collection.contributors] if of == "run" and len(collection.contributors) else values
    known = known[~np.isnan(known)]
    spread = float(known.std()) if len(known) else 0.0
    return np.nan_to_num((values - known.mean()) / spread, nan=0.0) if spread > 0 else np.zeros(len(ids))


def standardized_within_topics(collection: Collection, name: str) -> FloatArray:
    """Return a column of documents with mean 0 and standard deviation 1 within topics, shape (pair,).

    Those are of the pool's documents, so that runs to score do not change them; without a pool, of all that
    have a value. A missing value is 0, and so are all of a topic whose values are the same.
    """
    values, topic, n = collection.document_values(name), collection.pair_topic, len(collection.query_ids)
    there = ~np.isnan(values)
    pool = collection.in_pool() & there
    counted = pool if pool.any() else there
    count = np.maximum(np.bincount(topic[counted], minlength=n), 1)
    off = values - (np.bincount(topic[counted], values[counted], n) / count)[topic]
    spread = np.sqrt(np.bincount(topic[counted], off[counted] ** 2, n) / count)
    spread[spread <= _LEAST_SPREAD * np.abs(values[there]).max(initial=0.0)] = np.inf
    return np.nan_to_num(off / spread[topic], nan=0.0)


_LEAST_SPREAD = 1e-12  # of the largest value: below it values are the same but for rounding


def _values_of_place(context: DocumentContext, of: Of, values: FloatArray) -> FloatArray:
    return values[context.run if of == "run" else context.topic]


def _values_of_document(context: DocumentContext, name: str) -> FloatArray:
    find = partial(standardized_within_topics, context.collection, name)
    values: FloatArray = context.collection.memo.once("column of documents", find, name)
    return values[context.pair]
