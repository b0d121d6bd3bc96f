"""Convert data frames, Arrow tables, dictionaries and rows to runs, judgments and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.arrays import AnyArray, BoolArray, FloatArray
from bayespool.errors import InputError, InputWarning, did_you_mean, warn_caller
from bayespool.reading.lines import GRADES_HINT, NO_LABEL, kept_lines, repeats, run_layout
from bayespool.reading.lists import (
    LIST_NAMES,
    LISTS,
    TOPIC_NAMES,
    are_id_lists,
    columns_of_lists,
    refuse_rankings,
    unwrapped,
)
from bayespool.reading.records import Labels, Qrels, Run
from bayespool.tables.formatting import counted

NAMES = {
    "query_id": ("query_id", "qid", "q_id", "topic", "query-id", "topic_id", "query"),
    "doc_id": ("doc_id", "docno", "docid", "did", "corpus-id", "corpus_id", "pid", "doc", "document"),
    "score": ("score", "sim"),
    "relevance": ("relevance", "label", "rel", "rating", "judgment", "grade", "score"),
    "label": ("label", "relevance", "rel", "rating", "judgment", "grade", "score"),
    "rank": ("rank",),
    "iteration": ("iteration", "iter", "subtopic", "q0"),
    "run_id": ("run_id", "run", "tag"),
    "organization": ("organization",),
}
"""Accepted names for each column, bayespool's own name first."""
_KNOWN = {known for names in NAMES.values() for known in names} | LIST_NAMES | set(TOPIC_NAMES)
_FORMS = "give a data frame, {query_id: {doc_id: value}}, named tuples or dictionaries with these fields"


def is_frame(source: object) -> bool:
    """Return whether an object has named columns, such as a pandas or polars data frame or an Arrow table."""
    # of the class: a lazy frame of polars warns when its own attribute is read
    return hasattr(type(source), "columns") or hasattr(source, "__arrow_c_stream__") or _is_dataset(source)


def _is_dataset(source: object) -> bool:
    """Return whether an object is a data set from the Hugging Face ``datasets`` library."""
    return hasattr(type(source), "column_names") and hasattr(type(source), "with_format")


def is_row(source: object) -> bool:
    """Return whether an object is a single row: a tuple, or a dictionary keyed by column name."""
    if isinstance(source, Mapping):
        names = {name for name in source if isinstance(name, str)}
        if names & LIST_NAMES:
            return True
        return any(names & set(NAMES[name]) for name in ("query_id", "doc_id")) and not any(
            isinstance(value, Mapping) for value in source.values()
        )
    return isinstance(source, tuple)


def to_eager_frame(source: Any) -> Any:
    """Return a ranx object, lazy frame or stream as a data frame or Arrow table; other objects unchanged."""
    if _is_ranx(source, "run") or _is_ranx(source, "qrels"):
        return source.to_dataframe()
    if not is_frame(source) or isinstance(source, pa.Table | pa.RecordBatch):
        return source
    if _is_dataset(source):
        return source.with_format("arrow")[:]
    if hasattr(type(source), "collect") and not hasattr(type(source), "to_arrow"):
        source = source.collect()
    is_pandas = type(source).__module__.partition(".")[0] == "pandas"
    if is_pandas or not hasattr(source, "__arrow_c_stream__"):
        return source
    try:
        return pa.table(source)
    except pa.ArrowException as error:  # types that Arrow lacks, such as polars' of 128 bits
        if hasattr(type(source), "columns"):
            return source
        raise InputError(f"a {type(source).__name__} cannot be read as an Arrow table ({error})") from None


def _is_ranx(source: Any, kind: str) -> bool:
    """Return whether an object is a ranx object of kind ``run`` or ``qrels``."""
    return callable(getattr(source, "to_dataframe", None)) and hasattr(source, kind)


def _row_kind(source: Any) -> str:
    """Return ``run`` for named tuples with a ``score`` field, or ''."""
    first = source[0] if isinstance(source, list) and source else None
    return "run" if isinstance(first, tuple) and "score" in getattr(first, "_fields", ()) else ""


def column_names(frame: Any) -> list[Any]:
    """Return the column names of a data frame or Arrow table."""
    return list(frame.column_names if isinstance(frame, pa.Table | pa.RecordBatch) else frame.columns)


def columns_by_name(
    source: Any, wanted: Sequence[str], origin: str, *, optional: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the columns of a source under bayespool's names (`NAMES`).

    A missing column, or a source without rows, is an `InputError`; ``origin`` is the source in messages.
    """
    if isinstance(source, Mapping):
        return _mapping_columns(source, wanted[-1], origin)
    ranx_kind = next((kind for kind in ("run", "qrels") if _is_ranx(source, kind)), "")
    source = to_eager_frame(source)
    if not is_frame(source) and isinstance(source, Iterable) and not isinstance(source, str | bytes):
        source = list(source)
    taken = _frame_columns(source, origin) if is_frame(source) else _row_columns(source, origin)
    if wanted[0] == "query_id" and (listed := _list_columns(taken, wanted[-1], origin)) is not None:
        return listed
    if wanted[-1] in ("score", "relevance", "label"):
        refuse_other_kind(taken, wanted[-1], origin, ranx_kind or _row_kind(source))
    columns, missing, near = {}, dict[str, Sequence[str]](), ""
    for name in (*wanted, *optional):
        known = next((known for known in NAMES[name] if known in taken), None)
        if known is not None:
            columns[name] = taken[known]
        elif name not in optional:
            others = [other for other in taken if other not in _KNOWN]
            near = near or next((q for n in NAMES[name] if (q := did_you_mean(n, others))), "")
            missing[name] = *NAMES[name], *(LISTS.get(wanted[-1], ()) if name == "doc_id" else ())
    if "doc_id" in missing and wanted[-1] in LISTS and wanted[-1] in missing:  # a list needs none
        missing["doc_id"] = (
            *missing["doc_id"][:-1],
            f"{missing['doc_id'][-1]} (others need {wanted[-1]}, too)",
        )
        del missing[wanted[-1]]
    if missing:
        raise _no_columns(missing, taken, origin, near)
    if not len(columns[wanted[0]]):
        raise InputError(f"{origin}: no rows")
    return columns


def all_columns(source: Any, origin: str) -> dict[str, Any]:
    """Return all columns of a data frame, or of rows, under their own names."""
    source = to_eager_frame(source)
    if not is_frame(source):
        return _row_columns(source, origin)
    columns = {str(name): source[name] for name in column_names(source)}
    return {n: c.to_pylist() if isinstance(c, pa.Array | pa.ChunkedArray) else c for n, c in columns.items()}


def _no_columns(
    missing: Mapping[str, Sequence[str]], taken: Iterable[Any], origin: str, near: str = ""
) -> InputError:
    """Return the error for missing columns, all at once, given the names that each may have."""
    called = [f"{name} may be called {', '.join(names)}" for name, names in missing.items()]
    if len(missing) == 1:
        called = [called[0].replace(next(iter(missing)), "it", 1)]
    hint = f"{'; '.join(called)}; there are {', '.join(map(str, taken))}"
    which = f"no column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    return InputError(f"{origin}: {which}", hint=f"{near} {hint}".lstrip())


def _list_columns(taken: Mapping[Any, Any], value: str, origin: str) -> dict[str, Any] | None:
    """Return the columns of a table with a list of documents for each topic, or None for another table."""
    if not LIST_NAMES.intersection(taken) or any(name in taken for name in NAMES["doc_id"]):
        return None
    wanted = {"score": "retrieved_ids", "relevance": "expected_ids"}.get(value, "doc_id")
    names = {wanted: LISTS.get(value, NAMES["doc_id"]), "query_id": (*NAMES["query_id"], *TOPIC_NAMES)}
    there = {name: next((each for each in names[name] if each in taken), None) for name in names}
    lists, topic = there.values()
    if lists is None or topic is None:
        raise _no_columns({name: names[name] for name, of in there.items() if of is None}, taken, origin)
    cells = taken[lists]
    cells = cells.to_pylist() if isinstance(cells, pa.Array | pa.ChunkedArray) else list(cells)
    if not cells:
        raise InputError(f"{origin}: no rows")
    query_id = to_ids(taken[topic], topic, origin).to_pylist()
    return columns_of_lists(query_id, cells, value=value, name=lists, origin=origin)


def _frame_columns(frame: Any, origin: str) -> dict[Any, Any]:
    names = column_names(frame)
    if name := next((known for known, n in Counter(names).items() if n > 1 and known in _KNOWN), ""):
        raise InputError(f"{origin}: several columns {name}", hint="keep one of them")
    return {name: frame[name] if name in _KNOWN else None for name in names}


def _row_columns(source: Any, origin: str) -> dict[str, Any]:
    readable = isinstance(source, Iterable) and not isinstance(source, str | bytes)
    rows = list(source) if readable else []
    if not rows:
        raise InputError(
            f"{origin}: nothing to read in a {type(source).__name__}", hint=f"{_FORMS}, or a path"
        )
    first = rows[0]
    are_mappings = isinstance(first, Mapping)
    if not are_mappings and not hasattr(first, "_fields"):
        raise InputError(f"{origin}: {type(first).__name__} objects where named tuples are expected")
    names = tuple(first) if are_mappings else first._fields
    if LIST_NAMES.intersection(names) and all(isinstance(row, Mapping) for row in rows):
        return {name: [row.get(name) for row in rows] for name in names}  # ragas leaves out what is None
    for place, row in enumerate(rows, start=1):
        if (tuple(row) if isinstance(row, Mapping) else getattr(row, "_fields", None)) == names:
            continue
        if not (are_mappings and isinstance(row, Mapping) and set(row) == set(names)):
            hint = f"give each row the fields of the first: {', '.join(map(str, names))}"
            raise InputError(f"{origin}: row {place} has other fields than row 1", hint=hint)
    if are_mappings:
        return {name: [row[name] for row in rows] for name in names}
    return {name: [getattr(row, name) for row in rows] for name in names}


def _mapping_columns(mapping: Mapping[Any, Any], value: str, origin: str) -> dict[str, Any]:
    columns: dict[str, Any] = {"query_id": [], "doc_id": [], value: []}
    mapping = unwrapped(mapping, value, origin)
    if value in LISTS and are_id_lists(mapping):
        if value == "relevance":
            refuse_rankings(mapping)
        topics, lists = mapping.keys(), mapping.values()
        return columns_of_lists(topics, lists, value=value, name="the list", origin=origin)
    for query_id, values in mapping.items():
        if not isinstance(values, Mapping):
            hint = f"the form is {{query_id: {{doc_id: {value}}}}}"
            raise InputError(f"{origin}: a {type(values).__name__} under topic {query_id!r}", hint=hint)
        columns["query_id"] += [query_id] * len(values)
        columns["doc_id"] += values.keys()
        columns[value] += values.values()
    if not columns["query_id"]:
        raise InputError(f"{origin}: no rows")
    return columns


def refuse_other_kind(names: Iterable[object], last: str, origin: str, kind: str) -> None:
    """Raise `InputError` if columns show a run in place of judgments or labels, or the reverse.

    ``kind`` is what the object with these columns claims to be.
    """
    texts = {name for name in names if isinstance(name, str)}
    judged, run_columns = texts & set(NAMES["relevance"][:-1]), texts & {"rank", "run_id", "run", "tag"}
    scored = texts & {"score", "sim"}
    if last == "score" and (kind == "qrels" or (judged and not scored)):
        seen = _columns(judged or scored)
        reason = f"{origin}: looks like judgments or labels ({seen}), not like a run"
        raise InputError(reason, hint="give judgments as qrels, labels as judges, and here runs with a score")
    if last == "score" or judged or not scored:
        return
    if run_columns or (kind == "run" and last == "relevance"):
        reason = f"{origin}: looks like a run ({_columns(run_columns | scored)}), not like {origin}"
        raise InputError(reason, hint=f"give runs as runs, and here a column {last}")


def _columns(names: set[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {', '.join(sorted(names))}"


def to_ids(values: Iterable[Any], name: str, origin: str) -> pa.StringArray:
    """Return a column of ids as strings, shape (row,)."""
    ids = _ids_at_once(values)
    return _ids_one_by_one(values, name, origin) if ids is None else ids


def _ids_at_once(values: Any) -> pa.StringArray | None:
    """Return a string or integer column as strings, or None if its rows need checking one by one."""
    try:
        array = (
            values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
        )
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        are_texts = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        are_texts = are_texts or "string_view" in str(array.type)
        if not (are_texts or pa.types.is_integer(array.type)) or array.null_count:
            return None
        texts = array.cast(pa.string())
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.combine_chunks()
        return None if pc.any(pc.equal(pc.binary_length(texts), 0)).as_py() else texts
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _ids_one_by_one(values: Iterable[Any], name: str, origin: str) -> pa.StringArray:
    texts = []
    if isinstance(values, pa.Array | pa.ChunkedArray):
        values = values.to_pylist()
    for row, value in enumerate(values, start=1):
        if not isinstance(value, str | int | np.integer) or isinstance(value, bool) or value == "":
            hint = "ids are text or whole numbers"
            raise InputError(f"{origin}: {name} is {value!r} in row {row}", hint=hint)
        try:
            texts.append(to_text(value))
        except ValueError as error:
            raise InputError(f"{origin}: {name} cannot be used in row {row} ({error})") from None
    return pa.array(texts, pa.string())


def to_text(value: str | int | np.integer[Any]) -> str:
    """Return an id as a string, or raise ValueError if UTF-8 cannot encode it."""
    text = str(value)
    text.encode("utf-8")  # half of a surrogate pair fails
    return text


def to_numbers(values: Any, name: str, origin: str) -> FloatArray:
    """Return a column as floats, shape (row,), or raise `InputError` for NaN or non-numbers."""
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":  # numpy would take the real parts
        raise InputError(f"{origin}: {name} is not a number in every row (there are complex ones)")
    try:
        numbers = _as_floats(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{origin}: {name} is not a number in every row ({error})") from None
    if numbers.ndim != 1:
        raise InputError(f"{origin}: {name} is not a number in every row (there are lists of them)")
    if np.isnan(numbers).any():
        raise InputError(f"{origin}: {name} is NaN in row {int(np.isnan(numbers).argmax()) + 1}")
    return numbers


def _as_floats(values: Any) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise
    except Exception:  # frames raise their own errors, such as polars' for integers that numpy lacks
        return np.array(list(values), dtype=np.float64)


def to_integers(values: Any, name: str, origin: str, dtype: type[np.signedinteger[Any]]) -> AnyArray:
    """Return a column as integers of type ``dtype``, shape (row,), or raise `InputError` if it cannot."""
    numbers = to_numbers(values, name, origin)
    bounds = np.iinfo(dtype)
    bad = (numbers != np.floor(numbers)) | (numbers < bounds.min) | (numbers > bounds.max)
    if bad.any():
        row = int(bad.argmax())
        reason = f"{origin}: {name} is {numbers[row]:g} in row {row + 1}"
        hint = f"it is an integer from {bounds.min:,} to {bounds.max:,}"
        if name == "relevance" and numbers[row] != np.floor(numbers[row]):
            hint = GRADES_HINT
        raise InputError(reason, hint=hint)
    return numbers.astype(dtype)


def run_from_frame(frame: Any, run_id: str, *, may_repeat: bool = False) -> Run:
    """Convert a data frame, nested dictionary or rows to a `Run`.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        A data frame of pandas or polars, a table of Arrow or a data set of the datasets library with
        columns ``query_id`` (or ``qid``, ``q_id``, ``topic``, ``query-id``, ``query``), ``doc_id``
        (``docno``, ``docid``, ``did``, ``corpus-id``), ``score`` (``sim``) and perhaps ``rank``; or
        ``{query_id: {doc_id: score}}``, or ``{query_id: [doc_id, …]}``, best first; or rows: dictionaries,
        or named tuples such as those of ir_measures, with those fields; or a run of ranx. Ids are text or
        whole numbers, which become text.
    run_id : str
        Name of the run.
    may_repeat : bool
        Whether a document may be repeated in a topic; its best score counts.

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
        origin = f"run {to_text(run_id)}"
    except ValueError as error:
        raise InputError(f"run_id cannot be used ({error})") from None
    columns = columns_by_name(frame, ("query_id", "doc_id", "score"), origin, optional=("rank",))
    query_id, doc_id = _pairs(columns, origin, may_repeat=may_repeat)
    score = to_numbers(columns["score"], "score", origin)
    rank = to_integers(columns["rank"], "rank", origin, np.int32) if "rank" in columns else None
    if may_repeat:
        kept = kept_lines(query_id, doc_id, score, rank, run_layout(ranks=False, tag=False))
        query_id, doc_id, score = query_id.take(pa.array(kept)), doc_id.take(pa.array(kept)), score[kept]
        rank = None if rank is None else rank[kept]
    return Run(run_id=run_id, query_id=query_id, doc_id=doc_id, score=score, rank=rank)


def qrels_from_frame(frame: Any) -> Qrels:
    """Convert a data frame, nested dictionary or rows to `Qrels`.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        As for `run_from_frame`, with ``relevance`` (or ``label``, ``rel``, ``score``) instead of the score.

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
    columns = columns_by_name(frame, ("query_id", "doc_id", "relevance"), origin)
    query_id, doc_id = _pairs(columns, origin)
    relevance = to_integers(columns["relevance"], "relevance", origin, np.int16)
    return Qrels(query_id=query_id, doc_id=doc_id, relevance=relevance)


def labels_from_frame(frame: Any) -> Labels:
    """Convert a data frame, nested dictionary or rows to the `Labels` of an LLM judge.

    Parameters
    ----------
    frame : DataFrame, mapping or iterable
        As for `run_from_frame`, with ``label`` (or ``relevance``, ``rel``, ``score``) instead of the score.

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
    columns = columns_by_name(frame, ("query_id", "doc_id", "label"), origin)
    is_null = _nulls(columns["label"])
    if is_null.all():
        raise InputError(f"{origin}: no row has a label")
    if is_null.any():
        columns = {name: _without(values, is_null) for name, values in columns.items()}
    query_id, doc_id = _pairs(columns, origin)
    given = Labels(query_id, doc_id, to_numbers(columns["label"], "label", origin))
    labels = given.without_failures()
    if n_failed := len(is_null) - len(labels.label):
        warn_caller(f"{origin}: {counted(n_failed, 'row')} {NO_LABEL}", InputWarning)
    return labels


def _nulls(values: Any) -> BoolArray:
    """Return a mask of null values in a list or Arrow-like column, shape (row,)."""
    if hasattr(values, "is_null"):
        return np.asarray(values.is_null())
    return np.array([isinstance(values, list) and value is None for value in values], dtype=bool)


def _without(values: Any, is_null: BoolArray) -> list[Any]:
    cells = values.to_pylist() if isinstance(values, pa.Array | pa.ChunkedArray) else list(values)
    return [cell for cell, null in zip(cells, is_null.tolist(), strict=True) if not null]


def _pairs(
    columns: dict[str, Any], origin: str, *, may_repeat: bool = False
) -> tuple[pa.DictionaryArray, pa.StringArray]:
    """Return the topic and document columns, or raise `InputError` for a repeated (topic, document) pair."""
    query_id, doc_id = (to_ids(columns[name], name, origin) for name in ("query_id", "doc_id"))
    topics = query_id.dictionary_encode()
    again = repeats(topics, doc_id)
    if again.size and not may_repeat:
        row = int(again[0])
        reason = f"{origin}: document {doc_id[row]} is repeated in topic {query_id[row]}, in row {row + 1}"
        several = "; several runs in one frame need a column run_id" if origin.startswith("run ") else ""
        best = ", of diversity qrels the best subtopic" if origin == "qrels" else ""
        raise InputError(reason, hint=f"keep one row per document and topic{several}{best}")
    return topics, doc_id
