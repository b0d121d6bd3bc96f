"""Predictors of relevance that are columns of numbers of runs or topics."""

from __future__ import annotations

from functools import partial

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.collection.attributes import Of
from bayespool.evidence.predictors import DocumentContext, Predictor


def column_predictors(collection: Collection) -> dict[str, Predictor]:
    """Return the columns of numbers of runs and topics as predictors, keyed by name."""
    predictors = {}
    tables: dict[Of, tuple[str, ...]] = {"run": tuple(collection.runs.columns)}
    tables["topic"] = tuple(collection.topics.columns)
    for of, names in tables.items():
        for name in names:
            if (values := standardized(collection, of, name)) is not None:
                text = f"{name} of the {of}, in standard deviations from the mean"
                compute = partial(_document_values, of=of, values=values)
                predictors[name] = Predictor(name=name, description=text, per="ranking", compute=compute)
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


def _document_values(context: DocumentContext, of: Of, values: FloatArray) -> FloatArray:
    return values[context.run if of == "run" else context.topic]
