"""Reports of all other results, live ones and those that commands wrote: their tables and figures."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bayespool.checking import JudgeCheck, ModelChecks
from bayespool.comparisons import Comparison, Reversals
from bayespool.errors import InputError
from bayespool.experiments import Budgets, CommonTopicsResult, LeaveOutResult, PoolWidthResult, RunTypesResult
from bayespool.files import PathLike, read_back, read_bytes_back, read_parquet
from bayespool.judging import NextJudgments
from bayespool.pages.content import Figure, Page, Section, Table, frame_table
from bayespool.pages.drawing import Styles, page_svg
from bayespool.pages.making import making_section
from bayespool.pages.methods import method_section
from bayespool.pages.words import TITLES, captions, figure_caption, main_columns, summary
from bayespool.provenance import MADE_BY, made_by
from bayespool.report.budgets import write_budgets
from bayespool.report.checks import write_checks
from bayespool.report.comparisons import write_comparison, write_reversals
from bayespool.report.experiments import write_leave_out
from bayespool.report.folder import digest_of
from bayespool.report.judges import write_judges
from bayespool.report.judging import write_next_judgments
from bayespool.report.random_pools import write_common_topics, write_pool_width, write_run_types
from bayespool.report.sentences import comparison_sentence
from bayespool.stored import StoredScores, read_scores

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Written", "read_result", "result_page", "written_result"]

_OF_TABLES = {"differences": "compare", "rates": "reversals", "documents": "documents", "scores": "score"}
_MOST_PAIRS = 6  # of which a sentence each is in the summary
_LAST_TABLES = ("runs", "bias", "estimates")  # a row per run: after those that sum up
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
    """What was written of a result.

    Attributes
    ----------
    kind : str
        The command.
    metadata : mapping
    tables : mapping of str to pandas.DataFrame
    figures : mapping of str to bytes
        Contents of SVG and PNG files by name.
    sentences : tuple of str
        What a live result says that its tables do not.
    """

    kind: str
    metadata: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(repr=False)
    figures: Mapping[str, bytes] = field(repr=False, default_factory=dict)
    sentences: tuple[str, ...] = ()


def read_result(path: PathLike) -> StoredScores | Written:
    """A result that a command wrote: a file of scores, another JSON or Parquet file, or a folder.

    Parameters
    ----------
    path : path
        Ending in .json, .parquet or .nc, or a folder with a ``settings.json``.

    Raises
    ------
    InputError
        There is no such file or folder, or it holds no result of bayespool.
    """
    place = Path(path)
    if place.is_dir():
        return _read_folder(place)
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
        found = _read_file(place)
    if found is None:
        raise InputError("holds no result of bayespool", path=place, hint="a command's --output writes one")
    return found


def _read_folder(folder: Path) -> Written:
    import pandas as pd

    try:
        settings = json.loads(read_back(folder / "settings.json") or "")
        kind, names, digests = str(settings["experiment"]), list(settings["files"]), dict(settings["digests"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            "holds no result of bayespool",
            path=folder,
            hint="a command's --output writes a folder with settings.json",
        ) from None
    contents = {str(name): read_bytes_back(folder / str(name)) for name in names if _is_here(name)}
    unchanged = {
        name: content
        for name, content in contents.items()
        if content is not None and digest_of(content) == digests.get(name)
    }
    tables = {}
    for name in sorted(name for name in unchanged if name.endswith(".parquet")):
        found = read_parquet(folder / name, needs_metadata=False)
        if found is not None:
            tables[Path(name).stem] = pd.DataFrame(found[0])
    figures = {name: unchanged[name] for name in sorted(unchanged) if name.endswith((".svg", ".png"))}
    return Written(kind, settings, tables, figures)


def _is_here(name: object) -> bool:
    """Whether this is the name of a file in the folder itself."""
    return isinstance(name, str) and Path(name).name == name


def _read_file(path: Path) -> Written | None:
    import pandas as pd

    if path.suffix == ".parquet":
        stored = read_parquet(path)
        if stored is None:
            return None
        return Written(_kind_of(stored[0]), stored[1], {"table": pd.DataFrame(stored[0])})
    try:
        found = json.loads(read_back(path) or "")
        metadata = dict(found.pop("metadata"))
        tables = {str(name): pd.DataFrame(rows) for name, rows in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    kinds = [kind for name, kind in _OF_TABLES.items() if name in tables]
    return Written(kinds[0], metadata, tables) if kinds else None


def _kind_of(columns: Mapping[str, Any]) -> str:
    return (
        "compare"
        if {"run_a", "difference"} <= set(columns)
        else "documents"
        if "doc_id" in columns
        else "table"
    )


def written_result(result: object) -> Written:
    """A live result as it would be read back.

    Raises
    ------
    InputError
        It is none.
    """
    with TemporaryDirectory() as folder:
        for cls, write in _FOLDERS.items():
            if isinstance(result, cls):
                place = Path(folder) / "result"
                write(result, place, figures="svg")
                found = _read_folder(place)
                return Written(
                    found.kind, {**found.metadata, MADE_BY: made_by()}, found.tables, found.figures
                )
        for cls, write_file in _FILES.items():
            if isinstance(result, cls):
                file = Path(folder) / "result.json"
                write_file(result, file)
                read = _read_file(file)
                assert read is not None
                said = _comparison_sentences(result) if isinstance(result, Comparison) else ()
                return Written(read.kind, {**read.metadata, MADE_BY: made_by()}, read.tables, sentences=said)
    raise InputError(
        f"no report can be made of a {type(result).__name__}",
        hint="results of score, compare, reversals, leave_out, budgets, check_models and the like have one",
    )


def _comparison_sentences(found: Comparison) -> tuple[str, ...]:
    pairs = [(a, b) for i, a in enumerate(found.run_ids) for b in found.run_ids[i + 1 :]]
    if len(pairs) > _MOST_PAIRS:
        return ()
    try:
        return tuple(comparison_sentence(found, a, b, m) for m in found.measures for a, b in pairs)
    except InputError:
        return ()  # nothing has draws


def result_page(result: Written, styles: Styles) -> Page:
    """The page of a result that is not scores.

    Parameters
    ----------
    result : Written
    styles : Styles
        Gets the styles of the figures.
    """
    metadata = result.metadata
    problems = [str(text) for name in ("problems", "warnings", "notes") for text in metadata.get(name) or ()]
    drawn = tuple(_figure(name, content, styles) for name, content in result.figures.items())
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
        tuple(dict.fromkeys(problems)),
        tuple(section for section in sections if section is not None),
    )


def _table(name: str, frame: pd.DataFrame) -> Table:
    shown = main_columns(name, frame)
    made = frame_table(f"table-{_address(name)}", captions(name), shown)
    n_more = len(frame.columns) - len(shown.columns)
    more = f"The file has {n_more} more columns." if n_more else ""
    return dataclasses.replace(made, note=f"{made.note} {more}".strip())


def _has_methods(metadata: Mapping[str, Any]) -> bool:
    settings = metadata.get("settings")
    return "estimators" in metadata or (isinstance(settings, Mapping) and bool(settings.get("estimators")))


def _figure(name: str, content: bytes, styles: Styles) -> Figure:
    said = figure_caption(Path(name).stem)
    alternative = f"Figure. {said}. The tables below have its numbers."
    if name.endswith(".svg"):
        return Figure(said, alternative, wide=page_svg(content, styles))
    return Figure(said, alternative, image=f"data:image/png;base64,{base64.b64encode(content).decode()}")


def _address(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)
