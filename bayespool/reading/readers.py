"""Read and write runs, judgments, labels and lists of organizations and systems."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from bayespool.arrays import Progress
from bayespool.errors import InputError, InputWarning, OutputError, warn_caller
from bayespool.reading.files import (
    N_THREADS,
    PARQUET,
    STDIN,
    Source,
    find_files,
    name_memory_error,
    read_bytes,
    read_text,
    to_utf8,
)
from bayespool.reading.formats import csv_rows, parquet_columns, parse_text, read_lines
from bayespool.reading.lines import LABELS, NO_LABEL, QRELS, run_layout
from bayespool.reading.records import Labels, Qrels, Run, Skipped, topic_ranks
from bayespool.reading.samples import OVER_TOPICS, sampled_qrels
from bayespool.tables.files import MAX_FILE_SIZE, PathLike, atomic_write
from bayespool.tables.formatting import counted

_RUN_ID_NAMES = ("run_id", "run", "tag")
ORGANIZATION_NAMES = ("organization", "type", "run_type")
"""Names of the column of organizations, the first of them that a list has."""


IdFrom = Literal["file", "tag"]

BATCH = 384 << 20
"""Target size of a batch of run files held in memory together, in bytes."""

_COMPRESSION_RATIO = 6  # of text to a compressed run
_COMPRESSION = re.compile(r"\.(gz|xz|zst|bz2|lz4|zip)$", re.IGNORECASE)
_ENDING = re.compile(r"\.(run|txt|res|trec|tsv|csv|jsonl?|parquet)$")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options for reading input files (`read_run`).

    Attributes
    ----------
    id_from : {"file", "tag"}
    strict, ranks : bool
    max_file_size : int
    may_repeat : bool
        Whether a run may have a document on several lines of a topic, of which the best counts.
    progress : callable, optional
        Called with a text, the number of run files read and their total.
    """

    id_from: IdFrom = "file"
    strict: bool = True
    ranks: bool = False
    max_file_size: int = MAX_FILE_SIZE
    may_repeat: bool = False
    progress: Progress | None = None


def read_run(
    path: PathLike,
    *,
    run_id: str | None = None,
    id_from: IdFrom = "file",
    strict: bool = True,
    ranks: bool = False,
    max_file_size: int = MAX_FILE_SIZE,
) -> Run:
    """Read a run file in TREC format (``topic Q0 document rank score tag``) or another supported format.

    Parameters
    ----------
    path : path
        The file, plain or compressed, or ``-`` for standard input.
    run_id : str, optional
        Name of the run; overrides ``id_from``.
    id_from : {"file", "tag"}
        Source of the name: the file's name without a compression suffix, without ``input.`` in front and
        without a final ``.run``, ``.txt``, ``.res``, ``.trec``, ``.tsv``, ``.csv``, ``.json``, ``.jsonl`` or
        ``.parquet``; or the tag, the sixth column.
    strict : bool
        Whether the first bad line is an error (`bayespool.reading` lists bad lines). Otherwise bad lines
        are skipped, counted and reported in one `InputWarning` per file.
    ranks : bool
        Whether each rank that there is has to be an integer. Otherwise ``Run.rank`` is None where one is not.
    max_file_size : int
        Largest decompressed size of the file, in MiB.

    Raises
    ------
    InputError
        The file cannot be read or has no usable line; a bad line (when strict); several tags with
        ``id_from="tag"``.
    """
    reading = Reading(id_from=id_from, strict=strict, ranks=ranks, max_file_size=max_file_size)
    run = _read_run(Path(path), reading, run_id)
    _warn(run.skipped)
    return run


def read_runs(
    source: Source,
    *,
    id_from: IdFrom = "file",
    strict: bool = True,
    ranks: bool = False,
    max_file_size: int = MAX_FILE_SIZE,
    progress: Progress | None = None,
) -> tuple[Run, ...]:
    """Read all run files from a source, ordered by file name.

    Parameters
    ----------
    source : path, glob pattern, folder, or iterable of those
        A folder means all files in it but hidden ones; ``**`` in a pattern matches folders of any depth.
    id_from, strict, ranks, max_file_size
        As for `read_run`.
    progress : callable, optional
        Called with a text, the number of files read, and of all.

    Raises
    ------
    InputError
        As for `read_run`; a part of the source matches no file; two files hold a run of the same name.
    """
    reading = Reading(
        id_from=id_from, strict=strict, ranks=ranks, max_file_size=max_file_size, progress=progress
    )
    return tuple(run for batch in read_batches(find_files(source), reading) for run in batch)


def read_batches(
    paths: Sequence[Path], reading: Reading, copies: Container[Path | None] = ()
) -> Iterator[list[Run]]:
    """Yield runs read from files in batches of about `BATCH` bytes.

    Errors and warnings as for `read_runs`; runs of the files ``copies`` may have the names of others.
    """
    path_of: dict[str, Path | None] = {}
    n_read = 0
    readers = ThreadPoolExecutor(N_THREADS, thread_name_prefix="bayespool-reader")
    try:
        for files in _batches(paths):
            batch = []
            for run in readers.map(partial(_read_run, reading=reading), files):
                other = path_of.get(run.run_id)
                if run.run_id in path_of and (run.path in copies) == (other in copies):
                    by_tag = reading.id_from == "tag"
                    hint = "rename one" if by_tag else "name runs by their tags (--reading run_id=tag)"
                    hint = f"{hint}, or leave one out"
                    reason = f"holds a run named {run.run_id!r}, as does {other}"
                    raise InputError(reason, path=run.path, hint=hint)
                _warn(run.skipped)
                path_of[run.run_id] = run.path
                batch.append(run)
                n_read += 1
                if reading.progress is not None:
                    reading.progress("reading runs", n_read, len(paths))
            yield batch
    finally:
        readers.shutdown(cancel_futures=True)


def _batches(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield file paths in batches of about `BATCH` decompressed bytes."""
    batch: list[Path] = []
    size = 0
    for path in paths:
        n_bytes = path.stat().st_size if path.is_file() else 0  # other things are refused when read
        n_bytes *= _COMPRESSION_RATIO if _COMPRESSION.search(path.name) else 1
        if batch and size + n_bytes > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += n_bytes
    if batch:
        yield batch


def _read_run(path: Path, reading: Reading, run_id: str | None = None) -> Run:
    if reading.id_from not in ("file", "tag"):
        raise ValueError(f"id_from is 'file' or 'tag', not {reading.id_from!r}")
    by_tag = run_id is None and reading.id_from == "tag"
    layout = run_layout(ranks=reading.ranks, tag=by_tag, may_repeat=reading.may_repeat)
    lines = read_lines(path, layout, strict=reading.strict, max_size=reading.max_file_size)
    if by_tag:
        if not lines.tags:
            hint = 'name the run by its file (id_from="file")'
            raise InputError("has no tags, and one was to name the run", path=path, hint=hint)
        if len(lines.tags) > 1:
            shown = ", ".join(repr(tag) for tag in lines.tags[:3]) + (", …" if len(lines.tags) > 3 else "")
            reason = f"holds {len(lines.tags)} tags ({shown}) where one was to name the run"
            hint = 'split the file, or name the run by its file (id_from="file")'
            raise InputError(reason, path=path, hint=hint)
        run_id = lines.tags[0]
    score = lines.real
    if score is None:  # ranks alone
        assert lines.integer is not None  # for the type checker: a run has one of the two
        score = -lines.integer.astype(np.float64)
    return Run(
        run_id=run_id_from_file(path) if run_id is None else run_id,
        query_id=lines.query_id,
        doc_id=lines.doc_id,
        score=score,
        rank=lines.integer,
        path=path,
        skipped=lines.skipped,
        comments=lines.comments,
    )


def run_id_from_file(path: Path) -> str:
    """Return the run name derived from a file path, decoded as UTF-8 or else Latin-1."""
    return run_id_from_name(to_utf8(os.fsencode(path.name)).decode())


def run_id_from_name(file_name: str) -> str:
    """Return the run name derived from a file name (`read_run`).

    Examples
    --------
    >>> run_id_from_name("input.final.qruir.f.txt.gz")
    'final.qruir.f'
    """
    name = "stdin" if file_name == str(STDIN) else _COMPRESSION.sub("", file_name)
    return _ENDING.sub("", name.removeprefix("input.")) or name


def _warn(skipped: tuple[Skipped, ...]) -> None:
    parts = [f"{counted(s.n_lines, 'line')} {s.reason} (first: line {s.first_line})" for s in skipped]
    if parts:
        warn_caller(f"{skipped[0].path}: {'; '.join(parts)}", InputWarning)


def read_qrels(path: PathLike, *, strict: bool = True, max_file_size: int = MAX_FILE_SIZE) -> Qrels:
    """Read a qrels file (``topic iteration document relevance``) or judgments published with a sample.

    Five columns, one of which is a stratum or an inclusion probability, are told by their lines
    (`bayespool.reading.samples.sampled_qrels`).

    Parameters
    ----------
    path, strict, max_file_size
        As for `read_run`. With ``strict=False`` the last of several judgments of a document is kept.

    Raises
    ------
    InputError
        The file cannot be read or has no usable line; a bad line (when strict).
    """
    path = Path(path)
    with name_memory_error(path):
        text = read_text(path, max_size=max_file_size, tables=True)
        sampled = None if text.startswith(PARQUET) else sampled_qrels(text, path, strict=strict)
        if sampled is not None:
            _warn(sampled.skipped)
            return sampled
        lines = parse_text(text, path, QRELS, strict=strict, max_size=max_file_size)
    _warn(lines.skipped)
    relevance = np.ones(len(lines.doc_id), dtype=np.int16)  # of pairs, which list relevant documents
    return Qrels(
        query_id=lines.query_id,
        doc_id=lines.doc_id,
        relevance=relevance if lines.integer is None else lines.integer.astype(np.int16),
        path=path,
        skipped=lines.skipped,
    )


def read_labels(path: PathLike, *, strict: bool = True, max_file_size: int = MAX_FILE_SIZE) -> Labels:
    """Read a label file from an LLM judge (``topic iteration document label``, or another format).

    Labels are any real numbers, the larger the likelier relevant; −1 beside whole labels from 0 is none.

    Parameters
    ----------
    path, strict, max_file_size
        As for `read_qrels`.

    Raises
    ------
    InputError
        The file cannot be read or has no usable line; a bad line (when strict), such as a label that is no
        number or NaN.
    """
    path = Path(path)
    lines = read_lines(path, LABELS, strict=strict, max_size=max_file_size)
    assert lines.real is not None  # for the type checker: the layout has such a column
    labels = Labels(lines.query_id, lines.doc_id, lines.real, path, lines.skipped).without_failures()
    if n_failed := len(lines.real) - len(labels.label):
        failures = Skipped(path, NO_LABEL, n_failed, int((lines.real < 0).argmax()) + 1)
        labels = dataclasses.replace(labels, skipped=(*labels.skipped, failures))
    _warn(labels.skipped)
    return labels


def read_organizations(path: PathLike, *, max_file_size: int = MAX_FILE_SIZE) -> dict[str, str]:
    """Read a mapping from run id to organization from a CSV or XML file.

    Parameters
    ----------
    path : path
        A CSV file whose header names ``run_id`` (or ``run``, ``tag``) and ``organization`` (without it
        ``type`` or ``run_type``), in any order and among other columns; or XML of the Lipani tools,
        ``<set><runs><tag>…</tag><organization>…</organization></runs>…</set>``.
    max_file_size : int
        As for `read_run`.

    Raises
    ------
    InputError
        The file cannot be read; a column is missing or repeated, an organization is missing; a run has two
        organizations.
    """
    return _values_by_run(Path(path), "organization", ORGANIZATION_NAMES, max_file_size)


def _csv_entries(data: bytes, path: Path, names: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the run id, value and line number for each CSV row; ``names`` are accepted value column names."""
    places: list[int] = []
    for fields, line in csv_rows(to_utf8(data), path):
        if places:
            yield fields[places[0]], fields[places[1]], line
            continue
        header = [name.lower() for name in fields]
        named = [next((n for n in known if n in header), "") for known in (_RUN_ID_NAMES, names)]
        if not all(named):
            reason = f"the header names {', '.join(fields)!r}, not run_id and {names[0]}"
            hint = f"begin the file with the line run_id,{names[0]}"
            raise InputError(reason, path=path, line=line, hint=hint)
        if twice := [name for name in named if header.count(name) > 1]:
            reason = f"the header names {twice[0]!r} {header.count(twice[0])} times"
            raise InputError(reason, path=path, line=line, hint="keep one of these columns")
        places = list(map(header.index, named))


def _xml_entries(data: bytes, path: Path) -> Iterator[tuple[str, str, int | None]]:
    from xml.etree import ElementTree  # nosec B405 # entities are refused below

    if b"<!ENTITY" in data:  # some lines of them can stand for gigabytes
        hint = "write each name out, or give a CSV list"
        raise InputError("declares entities, which are not read", path=path, hint=hint)
    try:
        root = ElementTree.fromstring(data)  # nosec B314 # without entities, of a size that is limited
    except ElementTree.ParseError as error:
        reason = f"is no well-formed XML ({str(error).split(':')[0]})"
        hint = "fix the XML, or give a CSV list"
        raise InputError(reason, path=path, line=error.position[0], hint=hint) from None
    except (LookupError, ValueError) as error:
        reason = f"has an encoding that cannot be read ({error})"
        raise InputError(reason, path=path, hint="save it as UTF-8") from None
    entries = [entry for entry in root.iter() if entry.find("tag") is not None]
    if not entries:
        hint = "give <set><runs><tag>…</tag><organization>…</organization></runs></set>, or a CSV list"
        raise InputError("lists no run", path=path, hint=hint)
    for entry in entries:
        yield (entry.findtext("tag") or "").strip(), (entry.findtext("organization") or "").strip(), None


def read_systems(path: PathLike, *, max_file_size: int = MAX_FILE_SIZE) -> dict[str, str]:
    """Read a mapping from run id to system from a CSV file.

    Runs of one system are seeds, prompts or query variants of it.

    Parameters
    ----------
    path : path
        A CSV file whose header names ``run_id`` (or ``run``, ``tag``) and ``system``, in any order and among
        other columns.
    max_file_size : int
        As for `read_run`.

    Raises
    ------
    InputError
        The file cannot be read; a column is missing or repeated, a run id or a system is missing; a run has
        two systems.
    """
    return _values_by_run(Path(path), "system", ["system"], max_file_size)


def _values_by_run(path: Path, noun: str, names: Sequence[str], max_file_size: int) -> dict[str, str]:
    """Return a mapping from run id to the listed value, in file order."""
    first: dict[str, tuple[str, int | None]] = {}
    with name_memory_error(path):
        data = read_bytes(path, max_size=max_file_size)
        is_xml = noun == "organization" and data.lstrip().startswith(b"<")
        for run_id, value, line in _xml_entries(data, path) if is_xml else _csv_entries(data, path, names):
            if not run_id or not value:
                reason = f"run {run_id!r} has no {noun}" if run_id else f"no run id beside {noun} {value!r}"
                raise InputError(reason, path=path, line=line, hint="name it, or take the run off the list")
            other, other_line = first.setdefault(run_id, (value, line))
            if other != value:
                where = f" on line {other_line}" if other_line else " before"
                reason = f"run {run_id!r} has {noun} {value!r} here and {other!r}{where}"
                raise InputError(reason, path=path, line=line, hint="keep one of them")
    if not first:
        hint = f"begin with run_id,{noun} and give one line per run"
        raise InputError("lists no run", path=path, hint=hint)
    return {run_id: value for run_id, (value, _) in first.items()}


# --- writing ----------------------------------------------------------------------------------------------

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
    queries, documents = _topic_texts(run.query_id, path), _documents(run.doc_id, path)
    ranks = _ranks_within_topic(run) if run.rank is None else run.rank.tolist()
    lines = zip(queries, documents, ranks, run.score.tolist(), strict=True)
    _write(path, "".join(f"{q} Q0 {d} {rank} {score!r} {run.run_id}\n" for q, d, rank, score in lines))


def write_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write judgments as a TREC qrels file, in line order.

    Raises the errors of `write_run`.
    """
    atomic_write(path, qrels_content(qrels, path))


def qrels_content(qrels: Qrels, path: PathLike, *, second: Sequence[str] | None = None) -> bytes:
    """Return the bytes that `write_qrels` writes, optionally with custom text in the second column.

    Those of a sample have its strata, too (`bayespool.reading.samples.sampled_qrels`).
    """
    queries, documents = _topic_texts(qrels.query_id, path), _documents(qrels.doc_id, path)
    columns = [queries, second or [OVER_TOPICS if qrels.over_topics else "0"] * len(queries), documents]
    columns += [] if qrels.stratum is None else [qrels.stratum.tolist()]
    lines = zip(*columns, qrels.relevance.tolist(), strict=True)
    return _content("".join(f"{' '.join(map(str, line))}\n" for line in lines), path)


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


def _topic_texts(column: pa.DictionaryArray, path: PathLike) -> list[str]:
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


def with_organizations(paths: Sequence[Path], reading: Reading) -> list[Path]:
    """Return those of several lists that have a column of organizations; all where none calls it so."""
    headers = {path: read_columns(path, reading)[0] for path in paths} if len(paths) > 1 else {}
    named = [p for p, names in headers.items() if not names or "organization" in map(str.lower, names)]
    return named or list(paths)


def read_columns(path: Path, reading: Reading) -> tuple[dict[str, list[Any]], list[int]]:
    """Return the columns of a CSV or Parquet file, with the line number of each CSV row; none of XML."""
    text = read_text(path, max_size=reading.max_file_size, tables=True)
    if text.startswith(PARQUET):
        return parquet_columns(text, path, max_size=reading.max_file_size).to_pydict(), []
    rows = [] if text.lstrip().startswith(b"<") else list(csv_rows(text, path))
    if not rows:
        return {}, []
    (header, number), *others = rows
    if twice := [name for name in header if header.count(name) > 1]:
        raise InputError(f"two columns {twice[0]!r}", path=path, line=number, hint="rename one of them")
    return {name: [row[k] for row, _ in others] for k, name in enumerate(header)}, [n for _, n in others]
