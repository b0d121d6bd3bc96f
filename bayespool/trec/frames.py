"""Runs and judgments from objects in memory: data frames, nested dictionaries, named tuples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool.errors import InputError
from bayespool.trec.records import Labels, Qrels, Run
from bayespool.trec.repeats import repeats

__all__ = ["labels_from_frame", "qrels_from_frame", "run_from_frame"]

_NAMES = {
    "query_id": ("query_id", "qid", "q_id", "topic"),
    "doc_id": ("doc_id", "docno", "docid", "did"),
    "score": ("score", "sim"),
    "relevance": ("relevance", "label", "rel"),
    "label": ("label", "relevance", "rel", "score"),
    "rank": ("rank",),
}
_KNOWN = {known for names in _NAMES.values() for known in names}


def run_from_frame(frame: Any, run_id: str) -> Run:
    """Run of a data frame, of a nested dictionary or of named tuples.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        A data frame with columns ``query_id`` (or ``qid``, ``q_id``, ``topic``), ``doc_id`` (``docno``,
        ``docid``, ``did``), ``score`` (``sim``) and perhaps ``rank``; or ``{query_id: {doc_id: score}}``;
        or named tuples with those fields, such as those of ir_measures. Ids are text or whole numbers,
        which become text.
    run_id : str
        Name of the run.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        A column is missing, an id is missing or empty, a score is no number, a rank no integer, or a document
        stands twice in a topic.

    Examples
    --------
    >>> run_from_frame({"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.1}}, "bm25")
    <Run bm25: 3 documents, 2 topics>
    """
    try:
        what = f"run {_text(run_id)}"
    except ValueError as error:
        raise InputError(f"run_id cannot be used ({error})") from None
    columns = _columns(frame, "score", what)
    query_id, doc_id = _symbols(columns, what), _ids(columns["doc_id"], "doc_id", what)
    score = _numbers(columns["score"], "score", what)
    rank = _integers(columns["rank"], "rank", what, np.int32) if "rank" in columns else None
    _refuse_repeats(query_id, doc_id, what)
    return Run(run_id=run_id, query_id=query_id, doc_id=doc_id, score=score, rank=rank)


def qrels_from_frame(frame: Any) -> Qrels:
    """Judgments of a data frame, of a nested dictionary or of named tuples.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        As for `run_from_frame`, with ``relevance`` (or ``label``, ``rel``) in the place of the score.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        A column is missing, an id is missing or empty, a relevance is no integer from -32,768 to 32,767, or a
        document stands twice in a topic.

    Examples
    --------
    >>> qrels_from_frame({"q1": {"d1": 1, "d2": 0}})
    <Qrels: 2 judgments, 1 topic>
    """
    what = "qrels"
    columns = _columns(frame, "relevance", what)
    query_id, doc_id = _symbols(columns, what), _ids(columns["doc_id"], "doc_id", what)
    relevance = _integers(columns["relevance"], "relevance", what, np.int16)
    _refuse_repeats(query_id, doc_id, what)
    return Qrels(query_id=query_id, doc_id=doc_id, relevance=relevance)


def labels_from_frame(frame: Any) -> Labels:
    """Labels of a second judge of a data frame, of a nested dictionary or of named tuples.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        As for `run_from_frame`, with ``label`` (or ``relevance``, ``rel``, ``score``) in the place of the
        score.

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
    what = "labels"
    columns = _columns(frame, "label", what)
    query_id, doc_id = _symbols(columns, what), _ids(columns["doc_id"], "doc_id", what)
    label = _numbers(columns["label"], "label", what)
    _refuse_repeats(query_id, doc_id, what)
    return Labels(query_id=query_id, doc_id=doc_id, label=label)


def _columns(frame: Any, value: str, what: str) -> dict[str, Any]:
    """Columns of the object under our names; ``rank`` only where it has one."""
    if isinstance(frame, Mapping):
        return _columns_of_mapping(frame, value, what)
    if hasattr(frame, "columns"):
        names: Iterable[Any] = list(frame.columns)
        if name := next((one for one, n in Counter(names).items() if n > 1 and one in _KNOWN), ""):
            raise InputError(f"{what}: several columns {name}", hint="keep one of them")
        taken = {name: frame[name] for name in names}
    else:
        rows = list(frame) if isinstance(frame, Iterable) and not isinstance(frame, str | bytes) else []
        if rows and not hasattr(rows[0], "_fields"):
            raise InputError(f"{what}: {type(rows[0]).__name__} objects where named tuples are expected")
        names = rows[0]._fields if rows else ()
        for place, row in enumerate(rows, start=1):
            if getattr(row, "_fields", None) != names:
                hint = f"give each row the fields of the first: {', '.join(names)}"
                raise InputError(f"{what}: row {place} has other fields than row 1", hint=hint)
        taken = {name: [getattr(row, name) for row in rows] for name in names}
        if not rows:
            hint = "give a data frame, {query_id: {doc_id: value}} or named tuples (read_run reads a file)"
            raise InputError(f"{what}: nothing to read in a {type(frame).__name__}", hint=hint)
    columns = {}
    for name in ("query_id", "doc_id", value, "rank"):
        known = next((known for known in _NAMES[name] if known in taken), None)
        if known is not None:
            columns[name] = taken[known]
        elif name != "rank":
            hint = f"it may be called {', '.join(_NAMES[name])}; there are {', '.join(map(str, names))}"
            raise InputError(f"{what}: no column {name}", hint=hint)
    if not len(columns["query_id"]):
        raise InputError(f"{what}: no rows")
    return columns


def _columns_of_mapping(mapping: Mapping[Any, Any], value: str, what: str) -> dict[str, Any]:
    columns: dict[str, Any] = {"query_id": [], "doc_id": [], value: []}
    for query_id, values in mapping.items():
        if not isinstance(values, Mapping):
            hint = f"the form is {{query_id: {{doc_id: {value}}}}}"
            raise InputError(f"{what}: a {type(values).__name__} under topic {query_id!r}", hint=hint)
        columns["query_id"] += [query_id] * len(values)
        columns["doc_id"] += values.keys()
        columns[value] += values.values()
    if not columns["query_id"]:
        raise InputError(f"{what}: no rows")
    return columns


def _symbols(columns: dict[str, Any], what: str) -> pa.DictionaryArray:
    return _ids(columns["query_id"], "query_id", what).dictionary_encode()


def _ids(values: Iterable[Any], name: str, what: str) -> pa.StringArray:
    texts = []
    for row, value in enumerate(values, start=1):
        if not isinstance(value, str | int | np.integer) or value == "":
            hint = "ids are text or whole numbers"
            raise InputError(f"{what}: {name} is {value!r} in row {row}", hint=hint)
        try:
            texts.append(_text(value))
        except ValueError as error:
            raise InputError(f"{what}: {name} cannot be used in row {row} ({error})") from None
    return pa.array(texts, pa.string())


def _text(value: str | int | np.integer[Any]) -> str:
    """An id as text that a file can hold."""
    text = str(value)
    text.encode("utf-8")  # a half of a surrogate pair cannot be
    return text


def _numbers(values: Any, name: str, what: str) -> npt.NDArray[np.float64]:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: {name} is not a number in every row ({error})") from None
    if numbers.ndim != 1:
        raise InputError(f"{what}: {name} is not a number in every row (there are lists of them)")
    if np.isnan(numbers).any():
        raise InputError(f"{what}: {name} is NaN in row {int(np.isnan(numbers).argmax()) + 1}")
    return numbers


def _integers(values: Any, name: str, what: str, dtype: type[np.signedinteger[Any]]) -> npt.NDArray[Any]:
    numbers = _numbers(values, name, what)
    bounds = np.iinfo(dtype)
    bad = (numbers != np.floor(numbers)) | (numbers < bounds.min) | (numbers > bounds.max)
    if bad.any():
        row = int(bad.argmax())
        reason = f"{what}: {name} is {numbers[row]:g} in row {row + 1}"
        raise InputError(reason, hint=f"it is an integer from {bounds.min:,} to {bounds.max:,}")
    return numbers.astype(dtype)


def _refuse_repeats(query_id: pa.DictionaryArray, doc_id: pa.StringArray, what: str) -> None:
    again = repeats(query_id, doc_id)
    if again.size:
        row = int(again[0])
        reason = f"{what}: document {doc_id[row]} is repeated in topic {query_id[row]}, in row {row + 1}"
        raise InputError(reason, hint="keep one row per document and topic")
