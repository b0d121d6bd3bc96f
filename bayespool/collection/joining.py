"""Join judgments of several sources, and organizations; contradictions are named with their lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from bayespool.collection.files import read_text
from bayespool.collection.lines import pair_codes
from bayespool.collection.records import Qrels
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.tables.formatting import counted

_KEEP_ONE = "keep one of them"
_BETWEEN = re.compile(rb"[\s,;\"']+")


def join_qrels(parts: Sequence[Qrels]) -> Qrels:
    """Join judgments in their order; what several say alike counts once.

    Raises
    ------
    InputError
        A document has one relevance in one part and another in a later one, −1 included.

    Warns
    -----
    InputWarning
        Documents are judged alike in several parts, with their number.

    Examples
    --------
    >>> from bayespool.collection import qrels_from_frame
    >>> join_qrels([qrels_from_frame({"q1": {"d1": 1}}), qrels_from_frame({"q1": {"d2": 0}})])
    <Qrels: 2 judgments, 1 topic>
    """
    if len(parts) == 1:
        return parts[0]
    query_id = pa.chunked_array([part.query_id for part in parts]).unify_dictionaries().combine_chunks()
    doc_id = pa.concat_arrays([part.doc_id for part in parts])
    relevance = np.concatenate([part.relevance for part in parts])
    origin = np.repeat(np.arange(len(parts)), [len(part.relevance) for part in parts])
    _, first, of_pair = np.unique(pair_codes(query_id, doc_id), return_index=True, return_inverse=True)
    if (differs := np.flatnonzero(relevance != relevance[first[of_pair]])).size:
        later = int(differs[0])
        earlier = int(first[of_pair[later]])
        topic, document = query_id[later].as_py(), doc_id[later].as_py()
        path, other = (parts[origin[entry]].path for entry in (later, earlier))
        raise InputError(
            f"document {document} of topic {topic} has relevance {relevance[later]} here and "
            f"{relevance[earlier]} in {_place(other, topic, document)}",
            path=path,
            line=_line(path, topic, document),
            hint=_KEEP_ONE,
        )
    kept = np.sort(first)
    if n_again := len(relevance) - len(kept):
        warn_caller(
            f"{counted(n_again, 'judgment')} of several files given together: the same in each", InputWarning
        )
    return Qrels(
        query_id=query_id.take(pa.array(kept)),
        doc_id=doc_id.take(pa.array(kept)),
        relevance=relevance[kept],
        path=parts[0].path,
        skipped=tuple(skipped for part in parts for skipped in part.skipped),
    )


def join_organizations(parts: Sequence[tuple[Path | None, Mapping[str, str]]]) -> dict[str, str]:
    """Join lists of organizations by run; a run with two organizations is an `InputError`."""
    joined: dict[str, str] = {}
    path_of: dict[str, Path | None] = {}
    for path, organizations in parts:
        for run, organization in organizations.items():
            if joined.setdefault(run, organization) != organization:
                raise InputError(
                    f"run {run!r} belongs to {organization!r} here and to {joined[run]!r} in "
                    f"{_place(path_of[run], run)}",
                    path=path,
                    line=_line(path, run),
                    hint=_KEEP_ONE,
                )
            path_of.setdefault(run, path)
    return joined


def _place(path: Path | None, *ids: str) -> str:
    """A file and the line that has the ids, for a message."""
    if path is None:
        return "another source"
    line = _line(path, *ids)
    return str(path) if line is None else f"{path}, line {line}"


def _line(path: Path | None, *ids: str) -> int | None:
    """First line of a file that has all ids; None where none has."""
    if path is None:
        return None
    wanted = {each.encode() for each in ids}
    for number, line in enumerate(read_text(path).split(b"\n"), start=1):
        if wanted <= set(_BETWEEN.split(line)):
            return number
    return None
