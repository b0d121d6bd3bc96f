"""Columns of what holds runs or judgments in memory: data frames, Arrow tables, dictionaries, rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.collection.kinds import refuse_columns_of_another_kind
from bayespool.errors import InputError, did_you_mean

NAMES = {
    "query_id": ("query_id", "qid", "q_id", "topic"),
    "doc_id": ("doc_id", "docno", "docid", "did"),
    "score": ("score", "sim"),
    "relevance": ("relevance", "label", "rel", "score"),
    "label": ("label", "relevance", "rel", "score"),
    "rank": ("rank",),
    "run_id": ("run_id", "run", "tag"),
    "organization": ("organization",),
}
"""What each of our columns may be called, our own name first: the names of ir_measures, PyTerrier, ranx and
trec_eval."""
_KNOWN = {known for names in NAMES.values() for known in names}
_FORMS = "give a data frame, {query_id: {doc_id: value}}, named tuples or dictionaries with these fields"


def is_frame(given: object) -> bool:
    """Whether an object has columns by name: a frame of pandas or polars, a table of Arrow, or like them."""
    # of the class: a lazy frame of polars warns when it is asked itself
    return hasattr(type(given), "columns") or hasattr(given, "__arrow_c_stream__")


def is_row(given: object) -> bool:
    """Whether an object is a document of a topic: a named tuple, or a dictionary from names of columns."""
    if isinstance(given, Mapping):
        names = {name for name in given if isinstance(name, str)}
        return any(names & set(NAMES[name]) for name in ("query_id", "doc_id")) and not any(
            isinstance(value, Mapping) for value in given.values()
        )
    return isinstance(given, tuple)


def settled(given: Any) -> Any:
    """A frame whose columns are at hand, of an object of ranx, a lazy frame, or what hands itself over as an
    Arrow stream; anything else as it is.
    """
    if _is_of_ranx(given, "run") or _is_of_ranx(given, "qrels"):
        return given.to_dataframe()
    if not is_frame(given) or isinstance(given, pa.Table | pa.RecordBatch):
        return given
    if hasattr(type(given), "collect") and not hasattr(type(given), "to_arrow"):
        given = given.collect()
    of_pandas = type(given).__module__.partition(".")[0] == "pandas"
    if of_pandas or not hasattr(given, "__arrow_c_stream__"):
        return given
    try:
        return pa.table(given)
    except pa.ArrowException as error:  # of types that Arrow does not know, as polars' of 128 bits
        if hasattr(type(given), "columns"):
            return given
        raise InputError(f"a {type(given).__name__} cannot be read as an Arrow table ({error})") from None


def _is_of_ranx(given: Any, kind: str) -> bool:
    """Whether an object is one of ranx: its attribute, ``run`` or ``qrels``, is what it is."""
    return callable(getattr(given, "to_dataframe", None)) and hasattr(given, kind)


def _kind_of_rows(given: Any) -> str:
    """``run`` for named tuples, which say ``score`` in runs alone; nothing is known of others."""
    first = given[0] if isinstance(given, list) and given else None
    return "run" if isinstance(first, tuple) and "score" in getattr(first, "_fields", ()) else ""


def column_names(frame: Any) -> list[Any]:
    """Names of the columns of a frame."""
    return list(frame.column_names if isinstance(frame, pa.Table | pa.RecordBatch) else frame.columns)


def columns_of(
    given: Any, wanted: Sequence[str], what: str, *, optional: Sequence[str] = ()
) -> dict[str, Any]:
    """Columns of an object under our names.

    Parameters
    ----------
    given : frame, mapping or iterable of rows
        A mapping is ``{query_id: {doc_id: value}}``, where the value is the last of the columns wanted.
    wanted : sequence of str
        Our names, out of `NAMES`.
    what : str
        What it is, for messages.
    optional : sequence of str
        Columns that there may be.

    Returns
    -------
    dict of str to column
        Series, Arrow arrays or lists, at least one row long.

    Raises
    ------
    InputError
        A column is missing or stands there twice; rows of other fields than the first; no row.
    """
    if isinstance(given, Mapping):
        return _columns_of_mapping(given, wanted[-1], what)
    of_ranx = next((kind for kind in ("run", "qrels") if _is_of_ranx(given, kind)), "")
    given = settled(given)
    if not is_frame(given) and isinstance(given, Iterable) and not isinstance(given, str | bytes):
        given = list(given)
    taken = _columns_of_frame(given, what) if is_frame(given) else _columns_of_rows(given, what)
    if wanted[-1] in ("score", "relevance", "label"):
        refuse_columns_of_another_kind(taken, wanted[-1], what, of_ranx or _kind_of_rows(given))
    columns = {}
    for name in (*wanted, *optional):
        known = next((known for known in NAMES[name] if known in taken), None)
        if known is not None:
            columns[name] = taken[known]
        elif name not in optional:
            near = next((asked for n in NAMES[name] if (asked := did_you_mean(n, taken))), "")
            hint = f"it may be called {', '.join(NAMES[name])}; there are {', '.join(map(str, taken))}"
            raise InputError(f"{what}: no column {name}", hint=f"{near} {hint}".lstrip())
    if not len(columns[wanted[0]]):
        raise InputError(f"{what}: no rows")
    return columns


def _columns_of_frame(frame: Any, what: str) -> dict[Any, Any]:
    names = column_names(frame)
    if name := next((one for one, n in Counter(names).items() if n > 1 and one in _KNOWN), ""):
        raise InputError(f"{what}: several columns {name}", hint="keep one of them")
    return {name: frame[name] if name in _KNOWN else None for name in names}


def _columns_of_rows(given: Any, what: str) -> dict[str, Any]:
    readable = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    rows = list(given) if readable else []
    if not rows:
        raise InputError(f"{what}: nothing to read in a {type(given).__name__}", hint=f"{_FORMS}, or a path")
    first = rows[0]
    of_mappings = isinstance(first, Mapping)
    if not of_mappings and not hasattr(first, "_fields"):
        raise InputError(f"{what}: {type(first).__name__} objects where named tuples are expected")
    names = tuple(first) if of_mappings else first._fields
    for place, row in enumerate(rows, start=1):
        if (tuple(row) if isinstance(row, Mapping) else getattr(row, "_fields", None)) == names:
            continue
        if not (of_mappings and isinstance(row, Mapping) and set(row) == set(names)):
            hint = f"give each row the fields of the first: {', '.join(map(str, names))}"
            raise InputError(f"{what}: row {place} has other fields than row 1", hint=hint)
    if of_mappings:
        return {name: [row[name] for row in rows] for name in names}
    return {name: [getattr(row, name) for row in rows] for name in names}


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


def ids_of(values: Iterable[Any], name: str, what: str) -> pa.StringArray:
    """Ids of a column, as text.

    Raises
    ------
    InputError
        One is missing, empty, neither text nor a whole number, or no text that a file can hold.
    """
    found = _ids_at_once(values)
    return _ids_one_by_one(values, name, what) if found is None else found


def _ids_at_once(values: Any) -> pa.StringArray | None:
    """Ids of a column of texts or of whole numbers; None where any is not, and rows have to be looked at."""
    try:
        found = (
            values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
        )
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks()
        if pa.types.is_dictionary(found.type):
            found = found.dictionary_decode()
        of_texts = pa.types.is_string(found.type) or pa.types.is_large_string(found.type)
        of_texts = of_texts or "string_view" in str(found.type)
        if not (of_texts or pa.types.is_integer(found.type)) or found.null_count:
            return None
        texts = found.cast(pa.string())
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.combine_chunks()
        return None if pc.any(pc.equal(pc.binary_length(texts), 0)).as_py() else texts
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _ids_one_by_one(values: Iterable[Any], name: str, what: str) -> pa.StringArray:
    texts = []
    if isinstance(values, pa.Array | pa.ChunkedArray):
        values = values.to_pylist()
    for row, value in enumerate(values, start=1):
        if not isinstance(value, str | int | np.integer) or isinstance(value, bool) or value == "":
            hint = "ids are text or whole numbers"
            raise InputError(f"{what}: {name} is {value!r} in row {row}", hint=hint)
        try:
            texts.append(text_of(value))
        except ValueError as error:
            raise InputError(f"{what}: {name} cannot be used in row {row} ({error})") from None
    return pa.array(texts, pa.string())


def text_of(value: str | int | np.integer[Any]) -> str:
    """An id as text that a file can hold.

    Raises
    ------
    ValueError
        It cannot be one.
    """
    text = str(value)
    text.encode("utf-8")  # a half of a surrogate pair cannot be
    return text


def numbers_of(values: Any, name: str, what: str) -> npt.NDArray[np.float64]:
    """Numbers of a column.

    Raises
    ------
    InputError
        One is no number, or NaN.
    """
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":  # numpy would take the real parts
        raise InputError(f"{what}: {name} is not a number in every row (there are complex ones)")
    try:
        numbers = _as_floats(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: {name} is not a number in every row ({error})") from None
    if numbers.ndim != 1:
        raise InputError(f"{what}: {name} is not a number in every row (there are lists of them)")
    if np.isnan(numbers).any():
        raise InputError(f"{what}: {name} is NaN in row {int(np.isnan(numbers).argmax()) + 1}")
    return numbers


def _as_floats(values: Any) -> npt.NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise
    except Exception:  # frames raise errors of their own, such as polars' of integers that numpy lacks
        return np.array(list(values), dtype=np.float64)


def integers_of(values: Any, name: str, what: str, dtype: type[np.signedinteger[Any]]) -> npt.NDArray[Any]:
    """Whole numbers of a column.

    Raises
    ------
    InputError
        One is none, or beyond what ``dtype`` holds.
    """
    numbers = numbers_of(values, name, what)
    bounds = np.iinfo(dtype)
    bad = (numbers != np.floor(numbers)) | (numbers < bounds.min) | (numbers > bounds.max)
    if bad.any():
        row = int(bad.argmax())
        reason = f"{what}: {name} is {numbers[row]:g} in row {row + 1}"
        raise InputError(reason, hint=f"it is an integer from {bounds.min:,} to {bounds.max:,}")
    return numbers.astype(dtype)
