"""Chosen documents as judgments and as a list for assessors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from bayespool.collection import Collection, Qrels
from bayespool.pooling.choosing import Chosen

if TYPE_CHECKING:
    import pandas as pd


def judged_by(collection: Collection, chosen: Chosen) -> Collection:
    """The collection with only the chosen documents judged.

    Parameters
    ----------
    collection : Collection
    chosen : Chosen

    Returns
    -------
    Collection
        With its judgments of these documents.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> int(judged_by(example, choose(example, "take", 200)).judged.sum())
    200
    """
    gone = np.ones(len(collection.relevance), dtype=bool)
    gone[chosen.pair] = False
    return collection.without_judgments(gone)


def qrels_of(collection: Collection, chosen: Chosen) -> Qrels:
    """Chosen documents in the order of judging, with the collection's judgments.

    Parameters
    ----------
    collection : Collection
    chosen : Chosen

    Returns
    -------
    Qrels
        Topic by topic. A document without a judgment has relevance −1: in the pool and not judged.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> qrels_of(example, choose(example, "take", 200))
    <Qrels: 200 judgments, 20 topics>
    """
    topic = np.repeat(np.arange(len(collection.query_ids), dtype=np.int32), np.diff(chosen.start))
    return Qrels(
        query_id=pa.DictionaryArray.from_arrays(topic, pa.array(collection.query_ids, pa.string())),
        doc_id=collection.doc_ids.take(pa.array(chosen.pair)).cast(pa.string()),
        relevance=np.maximum(collection.relevance[chosen.pair], np.int16(-1)),
    )


def choice_frame(collection: Collection, chosen: Chosen, *, relevance: bool = True) -> pd.DataFrame:
    """Chosen documents with their inclusion probabilities.

    Parameters
    ----------
    collection : Collection
    chosen : Chosen
    relevance : bool, default True
        Whether to add the collection's judgments.

    Returns
    -------
    pandas.DataFrame
        A row per document, topic by topic in the order of judging: ``query_id``, ``doc_id``, ``order`` (from
        1 in each topic), ``inclusion`` (1 where the strategy is not a sample) and, on request, ``relevance``,
        None without a judgment.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> frame = choice_frame(example, choose(example, "uniform", 200), relevance=False)
    >>> list(frame.columns), len(frame)
    (['query_id', 'doc_id', 'order', 'inclusion'], 200)
    """
    import pandas as pd

    n_of_topic = np.diff(chosen.start)
    level = collection.relevance[chosen.pair]
    columns = {
        "query_id": np.repeat(np.array(collection.query_ids, dtype=object), n_of_topic),
        "doc_id": np.array(collection.doc_ids.take(pa.array(chosen.pair)).to_pylist(), dtype=object),
        "order": np.concatenate([np.arange(1, n + 1) for n in n_of_topic]),
        "inclusion": chosen.inclusion,
    }
    if relevance:
        values = [int(value) if value >= 0 else None for value in level]
        columns["relevance"] = np.array(values, dtype=object)
    return pd.DataFrame(columns)
