"""Runs, judgments and labels from objects in memory: data frames, nested dictionaries, rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from bayespool.collection.columns import columns_of, ids_of, integers_of, numbers_of, text_of
from bayespool.collection.records import Labels, Qrels, Run
from bayespool.collection.repeats import repeats
from bayespool.errors import InputError


def run_from_frame(frame: Any, run_id: str) -> Run:
    """Make a run from a data frame, a nested dictionary or rows.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        A data frame of pandas or polars or a table of Arrow with columns ``query_id`` (or ``qid``, ``q_id``,
        ``topic``), ``doc_id`` (``docno``, ``docid``, ``did``), ``score`` (``sim``) and perhaps ``rank``; or
        ``{query_id: {doc_id: score}}``; or rows: dictionaries, or named tuples such as those of ir_measures,
        with those fields; or a run of ranx. Ids are text or whole numbers, which become text.
    run_id : str
        Name of the run.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        A column is missing, an id is missing or empty, a score is no number, a rank no integer, or a document
        is repeated in a topic.

    Examples
    --------
    >>> run_from_frame({"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.1}}, "bm25")
    <Run bm25: 3 documents, 2 topics>
    """
    try:
        origin = f"run {text_of(run_id)}"
    except ValueError as error:
        raise InputError(f"run_id cannot be used ({error})") from None
    columns = columns_of(frame, ("query_id", "doc_id", "score"), origin, optional=("rank",))
    query_id, doc_id = _pairs(columns, origin)
    score = numbers_of(columns["score"], "score", origin)
    rank = integers_of(columns["rank"], "rank", origin, np.int32) if "rank" in columns else None
    return Run(run_id=run_id, query_id=query_id, doc_id=doc_id, score=score, rank=rank)


def qrels_from_frame(frame: Any) -> Qrels:
    """Make judgments from a data frame, a nested dictionary or rows.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        As for `run_from_frame`, with ``relevance`` (or ``label``, ``rel``, ``score``) instead of the score.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        A column is missing, an id is missing or empty, a relevance is no integer from -32,768 to 32,767, or a
        document is repeated in a topic.

    Examples
    --------
    >>> qrels_from_frame({"q1": {"d1": 1, "d2": 0}})
    <Qrels: 2 judgments, 1 topic>
    """
    origin = "qrels"
    columns = columns_of(frame, ("query_id", "doc_id", "relevance"), origin)
    query_id, doc_id = _pairs(columns, origin)
    relevance = integers_of(columns["relevance"], "relevance", origin, np.int16)
    return Qrels(query_id=query_id, doc_id=doc_id, relevance=relevance)


def labels_from_frame(frame: Any) -> Labels:
    """Make labels of a second judge from a data frame, a nested dictionary or rows.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        As for `run_from_frame`, with ``label`` (or ``relevance``, ``rel``, ``score``) instead of the score.

    Returns
    -------
    Labels

    Raises
    ------
    InputError
        As `run_from_frame`.

    Examples
    --------
    >>> labels_from_frame({"q1": {"d1": 3, "d2": 0.5}})
    <Labels: 2 documents, 1 topic>
    """
    origin = "labels"
    columns = columns_of(frame, ("query_id", "doc_id", "label"), origin)
    query_id, doc_id = _pairs(columns, origin)
    label = numbers_of(columns["label"], "label", origin)
    return Labels(query_id=query_id, doc_id=doc_id, label=label)


def _pairs(columns: dict[str, Any], origin: str) -> tuple[pa.DictionaryArray, pa.StringArray]:
    """Topic and document of each row, without repeats."""
    query_id, doc_id = (ids_of(columns[name], name, origin) for name in ("query_id", "doc_id"))
    topics = query_id.dictionary_encode()
    again = repeats(topics, doc_id)
    if again.size:
        row = int(again[0])
        reason = f"{origin}: document {doc_id[row]} is repeated in topic {query_id[row]}, in row {row + 1}"
        several = "; several runs in one frame need a column run_id" if origin.startswith("run ") else ""
        raise InputError(reason, hint=f"keep one row per document and topic{several}")
    return topics, doc_id
