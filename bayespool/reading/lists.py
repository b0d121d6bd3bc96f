"""Read lists of document ids: tables of RAG tools, requests and responses of Elasticsearch's rank_eval."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.tables.formatting import counted

LISTS = {
    "score": ("retrieved_ids", "retrieved_context_ids"),
    "relevance": ("expected_ids", "reference_context_ids"),
}
"""Columns of LlamaIndex and ragas with a list of document ids for each topic: of a run, and of judgments."""
LIST_NAMES = {name for names in LISTS.values() for name in names}
TOPIC_NAMES = ("user_input", "question")
"""Names of the topic in such tables, beside those of all tables: its text."""
_LEAST_DEPTH = 5  # of lists of one length, which are a run's
_ITEM = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?[0-9]+)(?:\s*,|\s+|\s*$)""", re.DOTALL)


def are_id_lists(mapping: Mapping[Any, Any]) -> bool:
    """Return whether a mapping has the form ``{query_id: [doc_id, …]}``."""
    lists = list(mapping.values())
    return (
        bool(lists)
        and all(
            isinstance(ids, list | tuple)
            and not hasattr(ids, "_fields")
            and all(isinstance(i, str | int) for i in ids)
            for ids in lists
        )
        and any(lists)
    )


def columns_of_lists(
    topics: Iterable[Any], lists: Iterable[Any], *, value: str, name: str, origin: str
) -> dict[str, list[Any]]:
    """Return columns with one row for each document of the lists of topics.

    ``value`` is ``"score"``, and the lists are rankings, best first, or ``"relevance"``, and they are the
    relevant documents. ``name`` is the column of the lists, in messages.
    """
    query_id, doc_id = list[Any](), list[Any]()
    lengths, place = list[int](), dict[Any, int]()
    for row, (topic, cell) in enumerate(zip(topics, lists, strict=True), start=1):
        ids = _ids_of_cell(cell, f"{origin}: {name} in row {row}")
        if topic in place:
            hint = "keep one of them, or give each row a query_id of its own"
            raise InputError(f"{origin}: topic {topic!r} is in rows {place[topic]} and {row}", hint=hint)
        place[topic] = row
        seen = set[Any]()
        for document in ids:
            if document in seen:
                reason = f"{origin}: document {document} is twice in {name} of topic {topic}"
                raise InputError(reason, hint="keep the first of them")
            seen.add(document)
        query_id += [topic] * len(ids)
        doc_id += ids
        lengths.append(len(ids))
    if not doc_id:
        raise InputError(f"{origin}: no document in {name}")
    if value == "score":
        scores = [score for n in lengths for score in range(n, 0, -1)]
        ranks = [rank for n in lengths for rank in range(1, n + 1)]
        return {"query_id": query_id, "doc_id": doc_id, "score": scores, "rank": ranks}
    if n_empty := lengths.count(0):
        message = f"{counted(n_empty, 'topic')} without a document in {name}: not judged, and left out"
        warn_caller(f"{origin}: {message}", InputWarning)
    return {"query_id": query_id, "doc_id": doc_id, value: [1] * len(doc_id)}


def refuse_rankings(mapping: Mapping[Any, Any]) -> None:
    """Raise `InputError` for lists of judgments that are all of one length, as those of a run are."""
    lengths = {len(ids) for ids in mapping.values()}
    if len(mapping) > 1 and len(lengths) == 1 and min(lengths) >= _LEAST_DEPTH:
        reason = f"qrels: looks like a run ({min(lengths)} documents on every topic), not like judgments"
        hint = "give runs as runs; if these are the relevant documents, write {query_id: {doc_id: 1}}"
        raise InputError(reason, hint=hint)


def _ids_of_cell(cell: Any, place: str) -> list[Any]:
    """Return the ids of a list, which may be written as text; none for a missing list."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if cell is None or (isinstance(cell, float) and cell != cell):
        return []
    ids = _parse_list(cell) if isinstance(cell, str) else cell
    if not isinstance(ids, list | tuple):
        shown = repr(cell) if len(repr(cell)) < 40 else f"{repr(cell)[:40]}…"
        raise InputError(f"{place} is {shown}, not a list of ids", hint='write ["doc-1", "doc-2"]')
    for document in ids:
        if not isinstance(document, str | int | np.integer) or isinstance(document, bool) or document == "":
            raise InputError(f"{place} has {document!r}", hint="ids are text or whole numbers")
    return list(ids)


def _parse_list(text: str) -> list[Any] | None:
    """Return the list that a text writes as JSON, Python or numpy do, or None; empty for no text."""
    text = text.strip()
    if not text:
        return []
    if not (text.startswith("[") and text.endswith("]")):
        return None
    ids, start, end = [], 1, len(text) - 1
    while item := _ITEM.match(text, start, end):
        start = item.end()
        try:
            ids.append(_parse_item(item[1]))
        except (ValueError, SyntaxError):
            return None
    return None if text[start:end].strip() else ids


def _parse_item(token: str) -> str:
    """Return the id that a quoted text or a whole number writes."""
    if token[0] not in "'\"":
        return token
    if "\\" not in token:
        return token[1:-1]
    if token[0] == '"':
        try:
            return str(json.loads(token))
        except ValueError:
            pass  # an escape of Python alone
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python does not have
        return str(ast.literal_eval(token))


# --- whole documents of tools -----------------------------------------------------------------------------


def is_rank_eval(source: Any) -> bool:
    """Return whether a mapping is a request or a response of rank_eval."""
    return isinstance(source, Mapping) and (_requests(source) is not None or _details(source) is not None)


def unwrapped(mapping: Mapping[Any, Any], value: str, origin: str) -> Mapping[Any, Any]:
    """Return the topics in a document of rank_eval or LlamaIndex, or the mapping itself.

    A request of rank_eval has ratings, a response has hits; the one in place of the other is an
    `InputError`. A data set of LlamaIndex has lists of relevant documents.
    """
    requests, details = _requests(mapping), _details(mapping)
    if requests is not None:
        if value == "score":
            hint = "give the response, with details and their hits; the request is for --qrels"
            raise InputError(f"{origin}: is a request of rank_eval, which has ratings and no hits", hint=hint)
        return _ratings(requests, value, origin)
    if details is not None:
        if value != "score":
            reason = f"{origin}: is a response of rank_eval, which rates what was retrieved alone"
            raise InputError(reason, hint="give the request, with requests and their ratings")
        return _hits(details, origin)
    listed = mapping.get("relevant_docs")
    if value == "relevance" and isinstance(listed, Mapping) and isinstance(mapping.get("queries"), Mapping):
        return listed
    return mapping


def _requests(mapping: Mapping[Any, Any]) -> list[Any] | None:
    requests = mapping.get("requests")
    if not isinstance(requests, list) or not requests:
        return None
    return requests if all(isinstance(r, Mapping) and "ratings" in r for r in requests) else None


def _details(mapping: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    inner = mapping.get("rank_eval", mapping)  # as the manual of Elasticsearch shows it
    details = inner.get("details") if isinstance(inner, Mapping) else None
    if not isinstance(details, Mapping) or not details:
        return None
    return details if all(isinstance(d, Mapping) and "hits" in d for d in details.values()) else None


def _ratings(requests: list[Any], value: str, origin: str) -> dict[Any, dict[Any, Any]]:
    """Return the ratings of each request, by its id and the ids of documents."""
    topics: dict[Any, dict[Any, Any]] = {}
    for place, request in enumerate(requests, start=1):
        topic = request.get("id")
        where = f"{origin}: request {place}"
        if not isinstance(topic, str | int) or isinstance(topic, bool):
            raise InputError(f"{where} has no id", hint="give each request the id of its topic")
        if topic in topics:
            raise InputError(f"{where} has the id {topic!r} of one before", hint="give each its own")
        rated = topics.setdefault(topic, {})
        for rating in _entries(request["ratings"], "ratings", where):
            document = _document(rating, where)
            if "rating" not in rating:
                raise InputError(f"{where}: document {document} has no rating", hint='write "rating": 1')
            if document in rated:
                raise InputError(f"{where}: document {document} is rated twice", hint=_ONE_INDEX)
            rated[document] = rating["rating"]
    if n_empty := sum(not rated for rated in topics.values()):
        message = f"{counted(n_empty, 'topic')} without ratings: not judged, and left out"
        warn_caller(f"{origin}: {message}", InputWarning)
    return topics


_ONE_INDEX = "keep one of them; the ids of several indices have to differ"


def _hits(details: Mapping[Any, Any], origin: str) -> dict[Any, list[Any]]:
    """Return the documents that were retrieved for each request, best first."""
    topics: dict[Any, list[Any]] = {}
    for topic, detail in details.items():
        where = f"{origin}: details of {topic}"
        hits = [_document(hit.get("hit"), where) for hit in _entries(detail["hits"], "hits", where)]
        if len(set(hits)) < len(hits):
            again = next(hit for place, hit in enumerate(hits) if hit in hits[:place])
            raise InputError(f"{where}: document {again} is there twice", hint=_ONE_INDEX)
        topics[topic] = hits
    if not any(topics.values()):
        raise InputError(f"{origin}: a response of rank_eval without a hit")
    return topics


def _entries(entries: Any, name: str, where: str) -> list[Mapping[str, Any]]:
    if isinstance(entries, list) and all(isinstance(entry, Mapping) for entry in entries):
        return entries
    raise InputError(f"{where}: {name} is no list of objects", hint="give the document as rank_eval takes it")


def _document(entry: Any, where: str) -> str | int:
    document = entry.get("_id") if isinstance(entry, Mapping) else None
    if not isinstance(document, str | int) or isinstance(document, bool):
        raise InputError(f"{where}: a document has no _id", hint='write {"_id": "doc-1", …}')
    return document
