"""Gather runs, judgments, labels and organizations from files, objects in memory and ir_datasets."""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
import pyarrow as pa

from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.reading.files import STDIN, find_files, read_text
from bayespool.reading.frames import (
    NAMES,
    column_names,
    columns_by_name,
    is_frame,
    is_row,
    labels_from_frame,
    qrels_from_frame,
    run_from_frame,
    to_eager_frame,
    to_ids,
)
from bayespool.reading.lines import first_lines
from bayespool.reading.lists import are_id_lists, is_rank_eval
from bayespool.reading.readers import (
    Reading,
    read_batches,
    read_labels,
    read_organizations,
    read_qrels,
    read_run,
    run_id_from_file,
    with_organizations,
)
from bayespool.reading.records import UNJUDGED, Labels, Qrels, Run
from bayespool.tables.formatting import counted

_KEEP_ONE = "keep one of them"
_BETWEEN = re.compile(rb"[\s,;\"']+")


def join_qrels(parts: Sequence[Qrels]) -> Qrels:
    """Concatenate judgments from several sources, and drop duplicates that agree.

    After a sample with strata the others are answers, which take the place of its −1.

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
    >>> from bayespool.reading import qrels_from_frame
    >>> join_qrels([qrels_from_frame({"q1": {"d1": 1}}), qrels_from_frame({"q1": {"d2": 0}})])
    <Qrels: 2 judgments, 1 topic>
    """
    if len(parts) == 1:
        return parts[0]
    if parts[0].stratum is not None:
        return _answer(parts[0], join_qrels(parts[1:]))
    query_id = pa.chunked_array([part.query_id for part in parts]).unify_dictionaries().combine_chunks()
    doc_id = pa.concat_arrays([part.doc_id for part in parts])
    relevance = np.concatenate([part.relevance for part in parts])
    origin = np.repeat(np.arange(len(parts)), [len(part.relevance) for part in parts])
    first = first_lines(query_id, doc_id)
    if (differs := np.flatnonzero(relevance != relevance[first])).size:
        later = int(differs[0])
        earlier = int(first[later])
        topic, document = query_id[later].as_py(), doc_id[later].as_py()
        path, other = (parts[origin[entry]].path for entry in (later, earlier))
        raise InputError(
            f"document {document} of topic {topic} has relevance {relevance[later]} here and "
            f"{relevance[earlier]} in {_place(other, topic, document)}",
            path=path,
            line=_line(path, topic, document),
            hint=_KEEP_ONE,
        )
    kept = np.unique(first)
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


def _answer(sample: Qrels, answers: Qrels) -> Qrels:
    """Return a sample with answers in place of −1."""
    relevance = sample.relevance.copy()
    listed = zip(sample.query_id.to_pylist(), sample.doc_id.to_pylist(), strict=True)
    place_of = {document: place for place, document in enumerate(listed)}
    n_others = 0
    lines = zip(answers.query_id.to_pylist(), answers.doc_id.to_pylist(), answers.relevance, strict=True)
    for topic, document, answer in lines:
        place = place_of.get((topic, document))
        n_others += place is None and answer >= 0
        if place is None or answer < 0:
            continue
        if relevance[place] not in (-1, answer):
            where = _place(sample.path, topic, document)
            raise InputError(
                f"document {document} of topic {topic} has relevance {answer} here and {relevance[place]} in "
                f"{where}",
                path=answers.path,
                line=_line(answers.path, topic, document),
                hint=_KEEP_ONE,
            )
        relevance[place] = answer
    if n_others:
        text = f"{counted(n_others, 'judgment')} passed over, of documents that the sample does not list"
        warn_caller(f"{answers.path or 'answers'}: {text}; give them as --own-judgments", InputWarning)
    return dataclasses.replace(sample, relevance=relevance)


def list_labeled(labels: Mapping[str, Sequence[Labels]]) -> Qrels:
    """Return the labeled documents as qrels in which nobody judged any."""
    parts = [
        Qrels(of.query_id, of.doc_id, np.full(len(of.label), UNJUDGED, dtype=np.int16))
        for several in labels.values()
        for of in several
    ]
    if not parts:
        raise InputError("no judgments, and no labels", hint="give qrels, or labels of judges")
    with warnings.catch_warnings(category=InputWarning, action="ignore"):
        return join_qrels(parts)


def join_organizations(parts: Sequence[tuple[Path | None, Mapping[str, str]]]) -> dict[str, str]:
    """Merge lists of organizations, or raise `InputError` if a run has two organizations."""
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
    """Return the file, and the line that contains the ids, as text for a message."""
    line = _line(path, *ids)
    return f"{path or 'another source'}{'' if line is None else f', line {line}'}"


def _line(path: Path | None, *ids: str) -> int | None:
    """Return the number of the first line in a file that contains all ids, or None."""
    if path is None:
        return None
    wanted = {each.encode() for each in ids}
    for number, line in enumerate(read_text(path).split(b"\n"), start=1):
        if wanted <= set(_BETWEEN.split(line)):
            return number
    return None


IRDS = "irds:"


def irds_name(source: object) -> str:
    """Return the data set name in a string or path ``irds:NAME``, or '' for anything else."""
    if not isinstance(source, str | os.PathLike):
        return ""
    text = os.fsdecode(source).replace(os.sep, "/")
    return text.removeprefix(IRDS) if text.startswith(IRDS) else ""


def irds_rows(name: str, kind: str, doc_ids: Iterable[str] = ()) -> list[Any]:
    """Return rows of an ir_datasets data set: judgments (``qrels``), a run (``scoreddocs``), or documents
    (``docs``), of which those that are named.
    """
    try:
        import ir_datasets
    except ImportError:
        reason = f"{IRDS}{name} needs the package ir_datasets, which is not installed"
        raise InputError(reason, hint="pip install 'bayespool[irds]'") from None
    contents = {"qrels": "judgments", "scoreddocs": "run", "docs": "documents"}[kind]
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        hint = "the catalog is at https://ir-datasets.com"
        raise InputError(f"ir_datasets has no data set {name!r}", hint=hint) from None
    if not hasattr(dataset, f"{kind}_iter"):
        raise InputError(f"{IRDS}{name} has no {contents}", hint="its subsets may have")
    try:
        if kind == "docs":
            return list(dataset.docs_store().get_many(doc_ids).values())
        return list(getattr(dataset, f"{kind}_iter")())
    except Exception as error:  # of the network, the disk or a parser
        hint = "ir_datasets says how to get it"
        raise InputError(f"{IRDS}{name} cannot be fetched ({error})", hint=hint) from error


class Frame(Protocol):
    """Object with named columns, such as a pandas or polars data frame or an Arrow table."""

    @property
    def columns(self) -> Any:
        """Column names."""


class RanxObject(Protocol):
    """Run or qrels object from ranx."""

    def to_dataframe(self) -> Any:
        """Return a data frame with columns ``q_id, doc_id, score``."""


_Row = tuple[Any, ...] | Mapping[str, Any]
_Path = str | os.PathLike[str]
_InMemory = Frame | RanxObject | Mapping[Any, Any] | Iterable[_Row]

# one alternative for all lists, so that a type checker can infer the type of a mixed one
Runs = _Path | Run | _InMemory | Iterable[_Path | Run | _Row | Frame | RanxObject | Iterable[_Row]]
"""One or several runs: paths, globs, folders, ``irds:`` names, data frames, dictionaries, rows, ranx objects
or `Run` objects, a mapping from run names to these, or an iterable over them.
"""
Judgments = _Path | Qrels | _InMemory | Iterable[_Path | Qrels | Frame | RanxObject | Mapping[Any, Any]]
"""Judgments: a path, an ``irds:`` name, a data frame, a dictionary, rows, a ranx object or `Qrels`, or a list
of these to join.
"""
Judges = _Path | Iterable[_Path] | Mapping[str, _Path | Labels | _InMemory | Sequence[_Path | Labels]]
"""Labels from LLM judges: paths, or a mapping from judge name to path, frame, dictionary or rows, or to a
list of these of a judge that was asked several times.
"""
Organizations = _Path | Mapping[str, str] | Frame | Iterable[_Path | _Row]
"""Organization for each run: one or several paths, a mapping, or a data frame or rows with ``run_id`` and
``organization``. Other columns are attributes of the runs.
"""


def gather_runs(
    *sources: Runs | None,
    names: Sequence[str] = ("run",),
    reading: Reading = Reading(),
    take: Callable[[Sequence[Run]], Sequence[Any]] | None = None,
) -> list[list[Any]]:
    """Read the runs from each source, reading shared files only once.

    ``take`` converts batches of runs, and ``names`` are names for runs without one, one per source.
    """
    seen: _Seen = {}
    items_of_sources: list[list[Path | Run]] = []
    named: dict[Run, Run] = {}
    for source, name in zip(sources, names, strict=True):
        items = list(dict.fromkeys(_items(source, reading, seen)))
        unnamed = [item for item in items if isinstance(item, Run) and not item.run_id and item not in named]
        for place, run in enumerate(unnamed, 1):
            run_id = name if len(unnamed) == 1 else f"{name}-{place}"
            named[run] = dataclasses.replace(run, run_id=run_id)
        items_of_sources.append([named.get(item, item) if isinstance(item, Run) else item for item in items])
    distinct = dict.fromkeys(itertools.chain.from_iterable(items_of_sources))
    in_memory = [item for item in distinct if isinstance(item, Run)]
    paths = [item for item in distinct if isinstance(item, Path)]
    # a file of a later source may be another copy of a run, which `replace_copies` finds out
    others = set().union(*items_of_sources[1:]) if len(sources) > 1 else set()
    copies = {item for item in items_of_sources[0] if isinstance(item, Path)} - others
    batches = read_batches(paths, reading, copies if others else ())
    taken: dict[Path | Run, Any] = {}
    for batch in itertools.chain([in_memory] if in_memory else [], batches):
        keys = batch if batch is in_memory else [cast("Path", run.path) for run in batch]
        taken.update(zip(keys, batch if take is None else take(batch), strict=True))
    return [[taken[item] for item in items] for items in items_of_sources]


def gather_qrels(source: Judgments, *, reading: Reading = Reading()) -> Qrels:
    """Read judgments from a file, an object in memory or ir_datasets, or join a list of these.

    Parameters
    ----------
    source : Judgments
    reading : Reading, optional

    Raises
    ------
    InputError
        The source cannot be read.

    Examples
    --------
    >>> gather_qrels({"q1": {"d1": 1, "d2": 0}})
    <Qrels: 2 judgments, 1 topic>
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, list | tuple) and source and all(map(_is_source, source)):
        return join_qrels([gather_qrels(part, reading=reading) for part in source])
    if name := irds_name(source):
        return qrels_from_frame(irds_rows(name, "qrels"))
    if isinstance(source, str | os.PathLike):
        return read_qrels(Path(source), strict=reading.strict, max_file_size=reading.max_file_size)
    _refuse_other(source, "qrels", (Run, Labels))
    return qrels_from_frame(source)


def _is_source(item: object) -> bool:
    """Return whether a list item is a complete source, such as a file or frame, rather than a row."""
    is_whole = isinstance(item, str | os.PathLike | Qrels) or is_frame(item) or hasattr(item, "to_dataframe")
    return is_whole or (isinstance(item, Mapping) and not is_row(item))


def gather_judges(source: Judges | None, *, reading: Reading = Reading()) -> dict[str, list[Labels]]:
    """Read labels from LLM judges into a mapping by judge name (the file name if none is given).

    A judge that was asked several times has several labels of a document.
    """
    if source is None:
        return {}
    if not isinstance(source, Mapping):
        files: list[Any] = [source] if isinstance(source, str | os.PathLike) else list(source)
        if unnamed := [file for file in files if not isinstance(file, str | os.PathLike)]:
            type_name = type(unnamed[0]).__name__
            raise InputError(f"a judge of a {type_name} has no name", hint='give {"name": labels}')
        names = [run_id_from_file(Path(path)) for path in files]
        for again in (name for place, name in enumerate(names) if name in names[:place]):
            raise InputError(f"two judges are called {again!r}", hint="name them: --judge NAME=FILE")
        source = dict(zip(names, files, strict=True))
    return {
        name: [_gather_labels(part, reading) for part in (labels if _are_sources(labels) else (labels,))]
        for name, labels in source.items()
    }


def _are_sources(labels: Any) -> TypeGuard[Sequence[Any]]:
    """Return whether labels are those of several times, each a source of its own."""
    if not isinstance(labels, list | tuple) or not labels:
        return False
    return all(isinstance(part, Labels) or _is_source(part) for part in labels)


def _gather_labels(source: Any, reading: Reading) -> Labels:
    if isinstance(source, Labels):
        return source
    if isinstance(source, str | os.PathLike):
        return read_labels(Path(source), strict=reading.strict, max_file_size=reading.max_file_size)
    _refuse_other(source, "labels", (Run, Qrels))
    return labels_from_frame(source)


def gather_organizations(source: Organizations, *, reading: Reading = Reading()) -> dict[str, str]:
    """Return a mapping from run id to organization, read from a file, mapping, frame or rows."""
    if isinstance(source, Mapping):
        return {run: of["organization"] if isinstance(of, Mapping) else of for run, of in source.items()}
    if isinstance(source, str | os.PathLike):
        return read_organizations(Path(source), max_file_size=reading.max_file_size)
    if isinstance(source, list | tuple) and source and all(isinstance(i, str | os.PathLike) for i in source):
        paths = with_organizations([Path(cast("_Path", path)) for path in source], reading)
        return join_organizations([(path, gather_organizations(path, reading=reading)) for path in paths])
    columns = columns_by_name(source, ("run_id", "organization"), "organizations")
    ids = (to_ids(columns[name], name, "organizations").to_pylist() for name in columns)
    return join_organizations([(None, {run: organization}) for run, organization in zip(*ids, strict=True)])


_Seen = dict[int, tuple[object, list[Run]]]
"""Runs already read from objects in memory, keyed by object identity."""


def _items(source: Any, reading: Reading, seen: _Seen) -> list[Path | Run]:
    """Return the files and runs in a source; unnamed runs have an empty id."""
    if source is None:
        return []
    if name := irds_name(source):
        return [run_from_frame(irds_rows(name, "scoreddocs"), name)]
    if isinstance(source, str | os.PathLike):
        return [
            path if path == STDIN else path.parent.resolve() / path.name
            for path in find_files(os.fspath(source))
        ]
    if isinstance(source, Run):
        return [source]
    _refuse_other(source, "runs", (Qrels, Labels))
    if id(source) in seen:
        return list(seen[id(source)][1])
    rows = source
    if isinstance(source, Mapping):
        if not _is_one_run(source):
            return [_read_named_run(str(name), run, reading, seen) for name, run in source.items()]
    elif not (is_frame(source) or hasattr(source, "to_dataframe")):
        if not isinstance(source, Iterable) or isinstance(source, bytes):
            hint = "give a path, a data frame, {query_id: {doc_id: score}}, or rows"
            raise InputError(f"no run can be read from a {type(source).__name__}", hint=hint)
        rows = list(source)
        if not (rows and is_row(rows[0])):
            return [item for part in rows for item in _items(part, reading, seen)]
    seen[id(source)] = source, _object_runs(rows, may_repeat=reading.may_repeat)
    return list(seen[id(source)][1])


def _is_one_run(mapping: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is a single run keyed by topic, rather than several runs keyed by name."""
    values = list(mapping.values())
    if are_id_lists(mapping) or is_rank_eval(mapping):
        return True
    if any(isinstance(value, Mapping) for value in values):
        inner = (v for value in values if isinstance(value, Mapping) for v in value.values())
        return not any(isinstance(v, Mapping) for v in inner)
    return not values or isinstance(values[0], int | float | np.number)


def _read_named_run(name: str, source: Any, reading: Reading, seen: _Seen) -> Run:
    """Read a run under the given name, or raise `InputError` if the source holds several."""
    items = _items(source, reading, seen)
    if len(items) != 1:
        raise InputError(f"run {name}: {len(items)} runs where one is expected", hint="one name for each")
    if isinstance(items[0], Run):
        return dataclasses.replace(items[0], run_id=name)
    return read_run(
        items[0], run_id=name, strict=reading.strict, ranks=reading.ranks, max_file_size=reading.max_file_size
    )


def _object_runs(source: Any, *, may_repeat: bool) -> list[Run]:
    """Return the runs in a data frame, ranx object, nested dictionary or rows."""
    name = "" if is_frame(source) else getattr(source, "name", None)
    if name and isinstance(name, str):
        return [run_from_frame(source, name, may_repeat=may_repeat)]
    is_ranx = not is_frame(source) and hasattr(source, "to_dataframe")
    source = source if is_ranx else to_eager_frame(source)
    if is_ranx or isinstance(source, Mapping) or not _has_run_ids(source):
        return [dataclasses.replace(run_from_frame(source, "run", may_repeat=may_repeat), run_id="")]
    columns = columns_by_name(source, ("run_id", "query_id", "doc_id", "score"), "runs", optional=("rank",))
    run_ids, *ids = (to_ids(columns[name], name, "runs") for name in ("run_id", "query_id", "doc_id"))
    values = [np.asarray(columns[name]) for name in ("score", "rank") if name in columns]
    table = pa.table([*ids, *values], names=[name for name in columns if name != "run_id"])
    encoded = run_ids.dictionary_encode()
    codes = encoded.indices.to_numpy()
    return [
        run_from_frame(table.filter(pa.array(codes == code)), run, may_repeat=may_repeat)
        for code, run in enumerate(encoded.dictionary.to_pylist())
    ]


def _has_run_ids(source: Any) -> bool:
    """Return whether a data frame or rows have a run id column."""
    if is_frame(source):
        fields = column_names(source)
    else:
        first = source[0] if isinstance(source, list) else ()
        fields = list(first) if isinstance(first, Mapping) else list(getattr(first, "_fields", ()))
    return any(name in fields for name in NAMES["run_id"])


def _refuse_other(source: object, expected: str, others: tuple[type, ...]) -> None:
    if isinstance(source, others):
        type_name = type(source).__name__
        raise InputError(
            f"{type_name} objects where {expected} are expected", hint="are the arguments in order?"
        )
