"""Readers of runs, judgments, labels and lists of organizations from files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from bayespool.collection.files import Source, as_text, enough_memory, find_files, read_bytes, read_text
from bayespool.collection.lines import LABELS, QRELS, parse_lines, run_layout
from bayespool.collection.lists import csv_entries
from bayespool.collection.records import Labels, Qrels, Run, Skipped
from bayespool.collection.resources import N_THREADS
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.options import MAX_FILE_SIZE
from bayespool.tables.files import PathLike

IdFrom = Literal["file", "tag"]

BATCH = 384 << 20
"""Bytes of run files whose lines are in memory together."""

_COMPRESSION_RATIO = 6  # of text to a compressed run
_COMPRESSION = re.compile(r"\.(gz|xz|zst)$", re.IGNORECASE)
_ENDING = re.compile(r"\.(run|txt|res|trec)$")


def read_run(
    path: PathLike,
    *,
    run_id: str | None = None,
    id_from: IdFrom = "file",
    strict: bool = True,
    ranks: bool = False,
    max_file_size: int = MAX_FILE_SIZE,
) -> Run:
    """Read a run file: ``topic Q0 document rank score tag`` on each line.

    Parameters
    ----------
    path : path
        The file, plain, gz, xz or zst.
    run_id : str, optional
        Name of the run; overrides ``id_from``.
    id_from : {"file", "tag"}
        Source of the name: the file's name without a compression suffix, without ``input.`` in front and
        without a final ``.run``, ``.txt``, ``.res`` or ``.trec``; or the tag, the sixth column.
    strict : bool
        Whether the first bad line is an error (`bayespool.collection` lists bad lines). Otherwise bad lines
        are skipped, counted and reported.
    ranks : bool
        Whether to read and check the ranks.
    max_file_size : int
        Largest decompressed size of the file, in MiB.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        The file cannot be read or has no usable line; a bad line (when strict); several tags with
        ``id_from="tag"``.

    Warns
    -----
    InputWarning
        Once, when ``strict=False`` skipped lines or read them otherwise.
    """
    run = _read_run(
        Path(path), run_id=run_id, id_from=id_from, strict=strict, ranks=ranks, max_file_size=max_file_size
    )
    _warn(run.skipped)
    return run


def read_runs(
    source: Source,
    *,
    id_from: IdFrom = "file",
    strict: bool = True,
    ranks: bool = False,
    max_file_size: int = MAX_FILE_SIZE,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Run, ...]:
    """Read all run files of a source, in the order of the files' names.

    Parameters
    ----------
    source : path, glob pattern, folder, or iterable of those
        A folder means all files in it but hidden ones; ``**`` in a pattern matches folders of any depth.
    id_from, strict, ranks, max_file_size
        As for `read_run`.
    progress : callable, optional
        Called with (files read, files in all) after each file.

    Returns
    -------
    tuple of Run

    Raises
    ------
    InputError
        As for `read_run`; a part of the source matches no file; two files hold a run of the same name.

    Warns
    -----
    InputWarning
        Once per file of which ``strict=False`` skipped lines or read them otherwise.
    """
    batches = read_batches(
        find_files(source),
        id_from=id_from,
        strict=strict,
        ranks=ranks,
        max_file_size=max_file_size,
        progress=progress,
    )
    return tuple(run for batch in batches for run in batch)


def read_batches(
    paths: Sequence[Path],
    *,
    id_from: IdFrom = "file",
    strict: bool = True,
    ranks: bool = False,
    max_file_size: int = MAX_FILE_SIZE,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[list[Run]]:
    """Runs of files in batches of about `BATCH` bytes; errors and warnings as for `read_runs`."""
    read = partial(
        _read_run, run_id=None, id_from=id_from, strict=strict, ranks=ranks, max_file_size=max_file_size
    )
    path_of: dict[str, Path | None] = {}
    readers = ThreadPoolExecutor(N_THREADS, thread_name_prefix="bayespool-reader")
    try:
        for files in _batches(paths):
            batch = []
            for run in readers.map(read, files):
                if run.run_id in path_of:
                    hint = "rename one, or leave one out"
                    reason = f"holds a run named {run.run_id!r}, as does {path_of[run.run_id]}"
                    raise InputError(reason, path=run.path, hint=hint)
                _warn(run.skipped)
                path_of[run.run_id] = run.path
                batch.append(run)
                if progress is not None:
                    progress(len(path_of), len(paths))
            yield batch
    finally:
        readers.shutdown(cancel_futures=True)


def _batches(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Files in batches of about `BATCH` bytes, decompressed."""
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


def _read_run(
    path: Path, *, run_id: str | None, id_from: IdFrom, strict: bool, ranks: bool, max_file_size: int
) -> Run:
    if id_from not in ("file", "tag"):
        raise ValueError(f"id_from is 'file' or 'tag', not {id_from!r}")
    by_tag = run_id is None and id_from == "tag"
    with enough_memory(path):
        text = read_text(path, max_size=max_file_size)
        lines = parse_lines(text, path, run_layout(ranks=ranks, tag=by_tag), strict=strict)
    if by_tag:
        if len(lines.tags) > 1:
            shown = ", ".join(repr(tag) for tag in lines.tags[:3]) + (", …" if len(lines.tags) > 3 else "")
            reason = f"holds {len(lines.tags)} tags ({shown}) where one was to name the run"
            hint = 'split the file, or name the run by its file (id_from="file")'
            raise InputError(reason, path=path, hint=hint)
        run_id = lines.tags[0]
    assert lines.real is not None  # for the type checker: the layout has such a column
    return Run(
        run_id=id_of_file(path) if run_id is None else run_id,
        query_id=lines.query_id,
        doc_id=lines.doc_id,
        score=lines.real,
        rank=lines.integer,
        path=path,
        skipped=lines.skipped,
    )


def id_of_file(path: Path) -> str:
    """Name of a run by its file (see `read_run`); a name that is not UTF-8 is read as Latin-1.

    Examples
    --------
    >>> id_of_file(Path("runs/input.bm25.gz"))
    'bm25'
    """
    name = _COMPRESSION.sub("", as_text(os.fsencode(path.name)).decode())
    return _ENDING.sub("", name.removeprefix("input.")) or name


def _warn(skipped: tuple[Skipped, ...]) -> None:
    if skipped:
        parts = []
        for part in skipped:
            lines = "1 line" if part.n_lines == 1 else f"{part.n_lines:,} lines"
            parts.append(f"{lines} {part.reason} (first: line {part.first_line})")
        warn_caller(f"{skipped[0].path}: {'; '.join(parts)}", InputWarning)


def read_qrels(path: PathLike, *, strict: bool = True, max_file_size: int = MAX_FILE_SIZE) -> Qrels:
    """Read a qrels file: ``topic iteration document relevance`` on each line.

    Parameters
    ----------
    path : path
        The file, plain, gz, xz or zst.
    strict : bool
        Whether the first bad line is an error (`bayespool.collection` lists bad lines). Otherwise bad lines
        are skipped, counted and reported; of several judgments of a document in a topic the last is kept.
    max_file_size : int
        As for `read_run`.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        The file cannot be read or has no usable line; a bad line (when strict).

    Warns
    -----
    InputWarning
        Once, when ``strict=False`` skipped lines or read them otherwise.
    """
    path = Path(path)
    with enough_memory(path):
        lines = parse_lines(read_text(path, max_size=max_file_size), path, QRELS, strict=strict)
    assert lines.integer is not None  # for the type checker: the layout has such a column
    _warn(lines.skipped)
    return Qrels(
        query_id=lines.query_id,
        doc_id=lines.doc_id,
        relevance=lines.integer.astype(np.int16),
        path=path,
        skipped=lines.skipped,
    )


def read_labels(path: PathLike, *, strict: bool = True, max_file_size: int = MAX_FILE_SIZE) -> Labels:
    """Read a file of labels of a second judge: ``topic iteration document label`` on each line.

    Parameters
    ----------
    path : path
        The file, plain, gz, xz or zst.
    strict : bool
        As for `read_qrels`.
    max_file_size : int
        As for `read_run`.

    Returns
    -------
    Labels
        Any real numbers, the larger the likelier relevant.

    Raises
    ------
    InputError
        The file cannot be read or has no usable line; a bad line (when strict), such as a label that is no
        number or NaN.

    Warns
    -----
    InputWarning
        Once, when ``strict=False`` skipped lines or read them otherwise.
    """
    path = Path(path)
    with enough_memory(path):
        lines = parse_lines(read_text(path, max_size=max_file_size), path, LABELS, strict=strict)
    assert lines.real is not None  # for the type checker: the layout has such a column
    _warn(lines.skipped)
    return Labels(
        query_id=lines.query_id, doc_id=lines.doc_id, label=lines.real, path=path, skipped=lines.skipped
    )


def read_organizations(path: PathLike, *, max_file_size: int = MAX_FILE_SIZE) -> dict[str, str]:
    """Read the organization of each run, from a list in CSV or XML.

    Parameters
    ----------
    path : path
        A CSV file whose header names ``run_id`` (or ``run``, ``tag``) and ``organization``, in any order
        and among other columns; or XML of the Lipani tools,
        ``<set><runs><tag>…</tag><organization>…</organization></runs>…</set>``.
    max_file_size : int
        As for `read_run`.

    Returns
    -------
    dict of str to str
        Run id to organization, in the order of the file.

    Raises
    ------
    InputError
        The file cannot be read; a column is missing or repeated, an organization is missing; a run has two
        organizations.
    """
    path = Path(path)
    with enough_memory(path):
        return _organizations(read_bytes(path, max_size=max_file_size), path)


def _organizations(data: bytes, path: Path) -> dict[str, str]:
    is_xml = data.lstrip().startswith(b"<")
    entries = _xml_entries(data, path) if is_xml else csv_entries(data, path, ["organization"])
    organizations: dict[str, tuple[str, int | None]] = {}
    for run_id, organization, line in entries:
        if not run_id:
            raise InputError(f"no run id beside organization {organization!r}", path=path, line=line)
        if not organization:
            hint = "name one, or take the run off the list"
            raise InputError(f"run {run_id!r} has no organization", path=path, line=line, hint=hint)
        known, known_line = organizations.setdefault(run_id, (organization, line))
        if known != organization:
            where = f" on line {known_line}" if known_line else ""
            reason = f"run {run_id!r} belongs to {organization!r} here and to {known!r}{where}"
            raise InputError(reason, path=path, line=line, hint="keep one of them")
    if not organizations:
        raise InputError("lists no run", path=path, hint="give one line per run")
    return {run_id: organization for run_id, (organization, _) in organizations.items()}


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
