"""Write runs, judgments and lists of organizations to files."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from bayespool.collection.rankings import topic_ranks
from bayespool.collection.records import Qrels, Run
from bayespool.errors import OutputError
from bayespool.tables.files import PathLike, atomic_write

# Ids that would be read back differently.
_UNWRITABLE = re.compile("[\0\t\n\v\f\r ]|^[\ufeff\xa0\u2007\u202f]|[\ufeff\xa0\u2007\u202f]$|^$")
_UNWRITABLE_TOPIC = re.compile("[\0\t\n\v\f\r \ufeff\xa0\u2007\u202f]|^$")


def write_run(run: Run, path: PathLike) -> None:
    """Write a run as a TREC run file, in line order.

    Scores are read back bit for bit. Ranks are the run's, or else those of the scores within a topic, from 1,
    equal scores in the order of their lines. The run's id becomes the tag.

    Parameters
    ----------
    run : Run
    path : path
        Where to write; compressed when the name ends in ``.gz``.

    Raises
    ------
    OutputError
        The file cannot be written, or an id has white space in it. An existing file is left untouched.
    """
    _refuse_unwritable([run.run_id], "run id", path)
    queries, documents = _topics(run.query_id, path), _documents(run.doc_id, path)
    ranks = _ranks_within_topic(run) if run.rank is None else run.rank.tolist()
    lines = zip(queries, documents, ranks, run.score.tolist(), strict=True)
    _write(path, "".join(f"{q} Q0 {d} {rank} {score!r} {run.run_id}\n" for q, d, rank, score in lines))


def write_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write judgments as a TREC qrels file, in line order.

    Raises the errors of `write_run`.
    """
    atomic_write(path, qrels_content(qrels, path))


def qrels_content(qrels: Qrels, path: PathLike, *, second: Sequence[str] | None = None) -> bytes:
    """Return the bytes that `write_qrels` writes, optionally with custom text in the second column."""
    queries, documents = _topics(qrels.query_id, path), _documents(qrels.doc_id, path)
    columns = queries, second or ["0"] * len(queries), documents, qrels.relevance.tolist()
    return _content("".join(f"{q} {s} {d} {r}\n" for q, s, d, r in zip(*columns, strict=True)), path)


def write_organizations(organizations: Mapping[str, str], path: PathLike) -> None:
    """Write the organization of each run as CSV with the header ``run_id,organization``.

    Parameters
    ----------
    organizations : mapping of str to str
        Run id to organization.
    path : path
        As for `write_run`.

    Raises
    ------
    OutputError
        The file cannot be written. An existing file is left untouched.
    """
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("run_id", "organization"))
    rows.writerows(organizations.items())
    _write(path, text.getvalue())


def _topics(column: pa.DictionaryArray, path: PathLike) -> list[str]:
    names = column.dictionary.to_pylist()
    _refuse_unwritable(names, "topic", path)
    return [names[code] for code in column.indices.to_pylist()]


def _documents(column: pa.StringArray, path: PathLike) -> list[str]:
    _refuse_unwritable(column.unique().to_pylist(), "document id", path)
    names: list[str] = column.to_pylist()
    return names


def _refuse_unwritable(names: list[str], kind: str, path: PathLike) -> None:
    for name in names:
        if (_UNWRITABLE_TOPIC if kind == "topic" else _UNWRITABLE).search(name):
            raise OutputError(f"{path}: cannot be written: {kind} {name!r} is empty or has white space in it")


def _ranks_within_topic(run: Run) -> list[int]:
    """Return each line's rank by score within its topic, from 1; ties keep line order."""
    topic = run.query_id.indices.to_numpy()
    order = np.lexsort((-run.score, topic))
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = topic_ranks(topic[order]) + 1
    return ranks.tolist()


def _write(path: PathLike, text: str) -> None:
    atomic_write(path, _content(text, path))


def _content(text: str, path: PathLike) -> bytes:
    """Return the encoded text, gzip-compressed if the file name ends in ``.gz``."""
    suffix = Path(path).suffix.lower()
    if suffix in (".xz", ".zst"):
        raise OutputError(f"{path}: cannot be written: plain text or .gz, not {suffix}")
    data = text.encode("utf-8")
    return gzip.compress(data, mtime=0) if suffix == ".gz" else data
