"""Report pages of results other than scores, live or read from files."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bayespool.comparisons import Comparison, Reversals
from bayespool.errors import InputError
from bayespool.experiments import (
    Budgets,
    CommonTopicsResult,
    JudgeCheck,
    LeaveOutResult,
    ModelChecks,
    PoolWidthResult,
    RunTypesResult,
)
from bayespool.experiments.from_frames import notes_of_runs
from bayespool.report.budgets import write_budgets
from bayespool.report.checks import write_checks
from bayespool.report.comparisons import write_comparison, write_reversals
from bayespool.report.content import Figure, Page, Section, Table, frame_table
from bayespool.report.drawing import Styles, page_svg
from bayespool.report.experiments import write_leave_out
from bayespool.report.judges import write_judges
from bayespool.report.judging import write_next_judgments
from bayespool.report.making import making_section
from bayespool.report.methods import method_section
from bayespool.report.provenance import MADE_BY, made_by
from bayespool.report.random_pools import write_common_topics, write_pool_width, write_run_types
from bayespool.report.sentences import comparison_sentence
from bayespool.report.words import TITLES, figure_caption, main_columns, summary, table_caption
from bayespool.scoring import NextJudgments, StoredResults, StoredScores, read_results, read_scores
from bayespool.tables.files import PathLike, digest, read_bytes_back

if TYPE_CHECKING:
    import pandas as pd

_COMMANDS_BY_TABLE = {
    "differences": "compare",
    "rates": "reversals",
    "documents": "documents",
    "scores": "score",
}
_MAX_PAIRS_WITH_SENTENCES = 6
_LAST_TABLES = ("runs", "bias", "estimates")  # a row per run; the page has them after the summaries
_FOLDERS: dict[type, Callable[..., None]] = {
    LeaveOutResult: write_leave_out,
    Budgets: write_budgets,
    ModelChecks: write_checks,
    JudgeCheck: write_judges,
    PoolWidthResult: write_pool_width,
    CommonTopicsResult: write_common_topics,
    RunTypesResult: write_run_types,
}
_FILES: dict[type, Callable[[Any, Path], None]] = {
    Comparison: write_comparison,
    Reversals: write_reversals,
    NextJudgments: write_next_judgments,
}


@dataclass(frozen=True, eq=False)
class Written:
    """Tables, metadata, figures (contents by file name), sentences and notes of a result, and its command."""

    kind: str
    metadata: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(repr=False)
    figures: Mapping[str, bytes] = field(repr=False, default_factory=dict)
    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_result(path: PathLike) -> StoredScores | StoredResults:
    """Read scores or other results from a file or a folder.

    Parameters
    ----------
    path : path
        Ending in .json, .parquet or .nc, or a folder with a ``settings.json``.

    Raises
    ------
    InputError
        There is no such file or folder, it holds no result of bayespool, or a file of the folder was changed.
    """
    place = Path(path)
    if place.is_dir():
        return read_results(place)
    if not place.is_file():
        raise InputError("there is no such file or folder", path=place)
    if place.suffix not in (".json", ".parquet", ".nc"):
        raise InputError(
            f"a report cannot be made of {place.suffix or 'a file without ending'}",
            path=place,
            hint="name a .json, .parquet or .nc file, or a folder of results; a CSV file has no metadata",
        )
    try:
        return read_scores(place)
    except InputError:
        if place.suffix == ".nc":
            raise
    return read_results(place)


def _written(stored: StoredResults) -> Written:
    digests = stored.settings.get("digests", {})
    contents = {name: read_bytes_back(path) for name, path in stored.files.items()}
    figures = {
        name: content
        for name, content in sorted(contents.items())
        if name.endswith((".svg", ".png")) and content is not None and digest(content) == digests.get(name)
    }
    kind = stored.experiment or _kind_of(stored.tables)
    notes = stored.notes
    if kind == "leave-out" and "notes" not in stored.settings:  # older versions wrote none
        notes += tuple(_notes_left_out(stored.tables.get("runs")))
    return Written(kind, stored.settings, stored.tables, figures, notes=notes)


def _notes_left_out(runs: pd.DataFrame | None) -> list[str]:
    """Notes on runs that were left out, by measure."""
    if runs is None or not {"measure", "estimator", "note"} <= set(runs):
        return []
    by_measure = runs.groupby("measure", sort=False)
    return [f"{measure}: {note}" for measure, frame in by_measure for note in notes_of_runs(frame)]


def _kind_of(tables: Mapping[str, pd.DataFrame]) -> str:
    """Command that wrote a file with these tables."""
    for name, kind in _COMMANDS_BY_TABLE.items():
        if name in tables:
            return kind
    columns = {str(column) for frame in tables.values() for column in frame}
    return (
        "compare" if {"run_a", "difference"} <= columns else "documents" if "doc_id" in columns else "table"
    )


def written_result(result: object) -> Written:
    """Result as it is written, live or read back; an `InputError` for other objects."""
    if isinstance(result, StoredResults):
        return _written(result)
    with TemporaryDirectory() as folder:
        for cls, write in _FOLDERS.items():
            if isinstance(result, cls):
                place = Path(folder) / "result"
                write(result, place, figures="svg")
                return _add_provenance(_written(read_results(place)))
        for cls, write_file in _FILES.items():
            if isinstance(result, cls):
                file = Path(folder) / "result.json"
                write_file(result, file)
                sentences = _comparison_sentences(result) if isinstance(result, Comparison) else ()
                return dataclasses.replace(_add_provenance(_written(read_results(file))), sentences=sentences)
    raise InputError(
        f"no report can be made of a {type(result).__name__}",
        hint="results of score, compare, reversals, leave_out, budgets, check_models and the like have one",
    )


def _add_provenance(written: Written) -> Written:
    return dataclasses.replace(written, metadata={**written.metadata, MADE_BY: made_by()})


def _comparison_sentences(comparison: Comparison) -> tuple[str, ...]:
    pairs = [(a, b) for i, a in enumerate(comparison.run_ids) for b in comparison.run_ids[i + 1 :]]
    if len(pairs) > _MAX_PAIRS_WITH_SENTENCES:
        return ()
    try:
        return tuple(comparison_sentence(comparison, a, b, m) for m in comparison.measures for a, b in pairs)
    except InputError:
        return ()  # no method has draws


def result_page(result: Written, styles: Styles) -> Page:
    """Page of a result other than scores."""
    metadata = result.metadata
    measures = _measures(result.tables)
    drawn = tuple(_figure(name, content, measures, styles) for name, content in result.figures.items())
    named = sorted(result.tables, key=lambda name: (name in _LAST_TABLES, name != "summary"))
    kept = [name for name in named if len(result.tables[name])]
    tables = tuple(_table(name, result.tables[name]) for name in kept)
    sections = [
        Section("Figures", "figures", figures=drawn) if drawn else None,
        Section("Tables", "tables", tables=tables) if tables else None,
        method_section({**dict(metadata.get("settings") or {}), **metadata})
        if _has_methods(metadata)
        else None,
        making_section(metadata),
    ]
    return Page(
        TITLES.get(result.kind, f"Result of {result.kind}"),
        result.sentences or summary(result.kind, result.tables, metadata),
        tuple(dict.fromkeys(result.notes)),
        tuple(section for section in sections if section is not None),
    )


def _table(name: str, frame: pd.DataFrame) -> Table:
    narrow = main_columns(name, frame)
    table = frame_table(f"table-{_address(name)}", table_caption(name), narrow)
    n_more = len(frame.columns) - len(narrow.columns)
    more = f"The file has {n_more} more columns." if n_more else ""
    return dataclasses.replace(table, note=f"{table.note} {more}".strip())


def _has_methods(metadata: Mapping[str, Any]) -> bool:
    settings = metadata.get("settings")
    return "estimators" in metadata or (isinstance(settings, Mapping) and bool(settings.get("estimators")))


def _measures(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Measures in the tables, sorted."""
    return sorted({str(name) for frame in tables.values() if "measure" in frame for name in frame["measure"]})


def _figure(name: str, content: bytes, measures: Sequence[str], styles: Styles) -> Figure:
    caption = figure_caption(Path(name).stem, measures)
    alternative = f"Figure. {caption}. The tables below have its numbers."
    if name.endswith(".svg"):
        return Figure(caption, alternative, wide=page_svg(content, styles))
    return Figure(caption, alternative, image=f"data:image/png;base64,{base64.b64encode(content).decode()}")


def _address(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)
