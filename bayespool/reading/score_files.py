"""Scores without runs: systems by topics or tasks, from tables and from the result files of mteb and BEIR."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.errors import InputError, some
from bayespool.reading.files import read_bytes, read_text
from bayespool.reading.formats import csv_rows
from bayespool.reading.frames import column_names, is_frame
from bayespool.tables.formatting import counted

Unit = Literal["topic", "task"]
_SYSTEM = ("system", "model", "run_id", "run")
_UNITS: dict[str, Unit] = {
    **dict.fromkeys(("topic", "query_id", "query", "qid"), "topic"),
    **dict.fromkeys(("task", "task_name", "dataset", "collection"), "task"),
}
_SCORE = ("score", "value", "main_score")
_NAMES = {  # of measures, in result files
    **{"nDCG": ("ndcg", "NDCG"), "AP": ("map", "MAP"), "R": ("recall", "Recall")},
    **{"P": ("precision", "P"), "RR": ("mrr", "MRR")},
}
_HINT = "begin with system,topic,score, or with system, topic or task and a column for each of the others"
_Entry = tuple[str, str, float, str]  # system, unit, score, place in the source


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of systems, on the topics or tasks that all of them have.

    Attributes
    ----------
    systems, units : tuple of str
    unit : {"topic", "task"}
    values : ndarray of float, shape (system, unit)
    measure : str
        What the scores are called.
    left_out : tuple of str
        Topics or tasks that some system lacks.
    """

    systems: tuple[str, ...]
    units: tuple[str, ...]
    unit: Unit
    values: FloatArray
    measure: str
    left_out: tuple[str, ...] = ()


def gather_scores(source: Any, measure: str | None = None) -> ScoreTable:
    """Read a table of scores.

    Parameters
    ----------
    source : path or frame
        A CSV file or a data frame, long (``system,topic,score`` or ``system,task,score``) or wide: with a row
        for each topic or task and a column for each system (``topic,a,b``), or a row for each system and a
        column for each task (``system,nq,fiqa``). Or a folder with a folder of JSON files for each system,
        one for each task: those of mteb's results, or of ``beir.util.save_results``.
    measure : str, optional
        Measure of the JSON files, such as nDCG@10; default: the main score of mteb, nDCG@10 of BEIR. Of a
        table it is what the scores are called.

    Raises
    ------
    InputError
        Unusable scores, or fewer than two systems or two topics or tasks that all systems have.

    Examples
    --------
    >>> import pandas as pd
    >>> table = gather_scores(pd.DataFrame({"task": ["nq", "fiqa"], "a": [0.5, 0.25], "b": [0.75, 0.5]}))
    >>> table.systems, table.units, table.values.tolist()
    (('a', 'b'), ('nq', 'fiqa'), [[0.5, 0.25], [0.75, 0.5]])
    """
    path: Path | None = None
    unit: Unit = "task"
    entries: Iterable[_Entry]
    if is_frame(source):
        names = [str(name) for name in column_names(source)]
        columns = [source[name] for name in column_names(source)]
        rows = ((list(map(str, row)), line) for line, row in enumerate(zip(*columns, strict=True), 2))
        entries, unit = _table_entries(names, rows, None)
    elif not isinstance(source, str | os.PathLike):
        raise InputError(f"no scores can be read from a {type(source).__name__}", hint="give a path or frame")
    elif (path := Path(source)).is_dir():
        entries, measure = _folder_entries(path, measure)
    else:
        named = csv_rows(read_text(path), path)
        entries, unit = _table_entries(next(named, ([], 1))[0], named, path)
    return _table(list(entries), unit, measure or "score", path)


def _table(entries: Sequence[_Entry], unit: Unit, measure: str, path: Path | None) -> ScoreTable:
    """Return the table of scores, with the topics or tasks that all systems have."""
    scores: dict[tuple[str, str], float] = {}
    for system, name, score, place in entries:
        if not system or not name:
            raise InputError(f"{place}: a score without a system or {unit}", path=path, hint="name both")
        if (system, name) in scores:
            reason = f"{place}: a second score of system {system!r} on {unit} {name!r}"
            raise InputError(reason, path=path, hint="keep one of them")
        scores[system, name] = score
    known = {key: score for key, score in scores.items() if not math.isnan(score)}
    systems, units = (tuple(dict.fromkeys(key[i] for key in scores)) for i in (0, 1))
    common = tuple(name for name in units if all((system, name) in known for system in systems))
    if len(systems) < 2 or len(common) < 2:
        size = f"{counted(len(systems), 'system')} with {counted(len(common), unit)} that all of them have"
        raise InputError(f"{size}: two of each are compared at least", path=path, hint=_HINT)
    values = np.array([[known[system, name] for name in common] for system in systems])
    left_out = tuple(name for name in units if name not in common)
    return ScoreTable(systems, common, unit, values, measure, left_out)


def _table_entries(
    header: Sequence[str], rows: Iterable[tuple[list[str], int]], path: Path | None
) -> tuple[Iterator[_Entry], Unit]:
    """Return the scores of a long or wide table, and what the systems are scored on."""
    names = [name.lower() for name in header]
    system, unit, score = (
        next((names.index(name) for name in known if name in names), None)
        for known in (_SYSTEM, _UNITS, _SCORE)
    )
    if system is not None and unit is not None:
        if score is None:
            others = [name for place, name in enumerate(header) if place not in (system, unit)]
            raise InputError(
                "no column of scores", path=path, hint=f"call it score; there are {some(others)}"
            )
        places = system, unit, score
        long = (
            (fields[places[0]], fields[places[1]], fields[places[2]], f"line {line}") for fields, line in rows
        )
        return ((s, u, _number(x, place, path), place) for s, u, x, place in long), _UNITS[names[unit]]
    first = names[0] if names else ""
    if first not in (*_SYSTEM, *_UNITS) or len(set(header)) < len(header):
        raise InputError(f"no table of scores: the header names {some(header)}", path=path, hint=_HINT)

    def wide() -> Iterator[_Entry]:
        for (row_name, *fields), line in rows:
            for name, text in zip(header[1:], fields, strict=True):
                system, unit = (row_name, name) if first in _SYSTEM else (name, row_name)
                yield system, unit, _number(text, f"line {line}", path), f"line {line}"

    return wide(), _UNITS.get(first, "task")


def _number(text: str, place: str, path: Path | None) -> float:
    """Return a score, NaN for a missing one."""
    try:
        score = float(text or "nan")
    except ValueError:
        score = math.inf
    if math.isinf(score):
        raise InputError(f"{place}: score {text!r} is no number", path=path, hint="leave missing ones empty")
    return score


def _folder_entries(folder: Path, measure: str | None) -> tuple[list[_Entry], str]:
    """Return the scores in the JSON files of a folder of systems, and the name of their measure."""
    entries, names = list[_Entry](), set[str]()
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        for path in sorted(place.rglob("*.json")):
            if path.name != "model_meta.json":
                task, name, score = _result(path, measure)
                names.add(name)
                entries.append((place.name, task, score, str(path.relative_to(folder))))
    if not entries:
        hint = "give a folder with a folder of JSON files for each system, or a CSV file"
        raise InputError("no folder in it has a JSON file", path=folder, hint=hint)
    if len(names) > 1:
        raise InputError("main scores beside those of BEIR", path=folder, hint="name the measure: -m nDCG@10")
    return entries, names.pop()


def _result(path: Path, measure: str | None) -> tuple[str, str, float]:
    """Return task, name of the measure and score of a JSON file of mteb or BEIR."""
    family, _, cutoff = (measure or "nDCG@10").partition("@")
    if family not in _NAMES or not cutoff.isdigit():
        hint = f"there are {', '.join(f'{name}@k' for name in _NAMES)}"
        raise InputError(f"result files have no {measure}", hint=hint)
    group, name = _NAMES[family]
    try:
        result = json.loads(read_bytes(path))
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", path=path, hint="write it again, or take it away") from error
    try:
        if "scores" in result:  # mteb's: the test split if there is one, and the mean over its subsets
            splits = result["scores"]
            key = "main_score" if measure is None else f"{group}_at_{cutoff}"
            subsets = [float(subset[key]) for subset in splits.get("test") or next(iter(splits.values()))]
            return str(result["task_name"]), measure or "main score", sum(subsets) / len(subsets)
        return path.stem, f"{family}@{cutoff}", float(result[group][f"{name}@{cutoff}"])
    except (ValueError, LookupError, TypeError, AttributeError, StopIteration, ZeroDivisionError) as error:
        reason = f"no result of mteb or BEIR with {measure or 'a main score or nDCG@10'}"
        raise InputError(reason, path=path, hint="take the file away, or name its measure") from error
