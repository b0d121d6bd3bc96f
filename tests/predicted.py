"""Predictors of the unjudged documents of runs, as a table that tests look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayespool.collection import Collection
from bayespool.evidence import DocumentTable
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.predictor_table import document_table
from bayespool.evidence.predictors import evidence_predictors


def unjudged_document_table(
    collection: Collection, run_ids: tuple[str, ...], *, cutoff: int, names: Sequence[str] | None = None
) -> DocumentTable:
    row, topic, rank, pair = unjudged_documents(collection, run_ids, cutoff=cutoff)
    run = collection.run_index(run_ids)[row]
    names = evidence_predictors() if names is None else tuple(names)
    predictors = document_table(collection, run, topic, rank, pair, depth=cutoff, rel=1, names=names)
    return DocumentTable(run, topic, rank, pair, np.zeros(len(pair), dtype=np.int64), predictors, names)
