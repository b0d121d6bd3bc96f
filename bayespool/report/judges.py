"""Printed tables and result folders of checks of second judges."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayespool.evidence.confusion import KINDS_OF_DOCUMENTS
from bayespool.experiments import JudgeCheck
from bayespool.experiments.judge_checks import TableOfJudges
from bayespool.measures import Measure
from bayespool.report.folder import FigureFormat, tables, write_folder
from bayespool.report.terminal import print_heading, print_line, print_note, print_table
from bayespool.tables.numbers import number, percent

if TYPE_CHECKING:
    from rich.console import Console

JUDGES = "judges"
"""Name of the experiment in ``settings.json``."""

Row = dict[Any, Any]


def print_judges(check: JudgeCheck, console: Console) -> None:
    """Print agreement of labels and judgments, coverage and widths; measures with equal tables together."""
    tables = {table: _records(check, table) for table in check.tables}
    ci = f"{100 * check.metadata['ci_prob']:g} %"
    for measures in _measures_by_tables(check):
        name, first = ", ".join(map(str, measures)), str(measures[0])
        for judge in check.judges:
            selected = {"measure": first, "judge": judge.name}
            print_heading(console, f"{name}, judge {judge.name}: judged documents by label and relevance")
            print_table(console, *_confusion_cells(_where(tables["confusion"], **selected)))
            for rel in check.relevant_from(measures[0]):
                print_line(console, f"share of relevance {rel} or more by label, and its {ci} interval")
                rows = _where(tables["calibration"], **selected, relevant_from=rel)
                print_table(console, *_calibration_cells(rows))
        print_heading(console, f"{name}: agreement of labels with judgments")
        print_table(console, *_agreement_cells(_where(tables["agreement"], measure=first)))
    for measure in check.measures:
        print_heading(console, f"{measure}: documents with labels")
        rows = _where(tables["coverage"], measure=str(measure))
        print_table(console, *_coverage_cells(rows, measure.cutoff), n_names=2)
        if "intervals" in tables:
            rows = _where(tables["intervals"], measure=str(measure))
            whose = "runs to score" if check.run_ids else "pooled runs, each organization left out"
            title = f"{measure}: mean width of {ci} intervals of {rows[0]['n_runs']} {whose}"
            print_heading(console, title)
            print_table(console, *_interval_cells(rows))
    for note in check.notes:
        print_note(console, note)


def write_judges(check: JudgeCheck, folder: Path, *, figures: FigureFormat = "none") -> None:
    """Write each table of `JudgeCheck.frame` and ``settings.json``; there are no figures."""
    described = {**check.metadata, "notes": list(check.notes), "problems": list(check.problems)}
    files = tables({table: check.frame(table) for table in check.tables})
    write_folder(folder, JUDGES, described, files)


def _records(check: JudgeCheck, table: TableOfJudges) -> list[Row]:
    rows: list[Row] = check.frame(table).to_dict("records")
    return rows


def _where(rows: list[Row], **values: object) -> list[Row]:
    """Rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def _measures_by_tables(check: JudgeCheck) -> list[list[Measure]]:
    """Measures in groups that count the same documents and so have the same tables."""
    groups: dict[Any, list[Measure]] = {}
    for measure in check.measures:
        counted = tuple(id(check.confusions[measure, judge.name]) for judge in check.judges)
        groups.setdefault((counted, check.relevant_from(measure)), []).append(measure)
    return list(groups.values())


def _confusion_cells(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    levels = list(dict.fromkeys(row["relevance_from"] for row in rows))
    names = [f"{first}" if end == first + 1 else f"{first}–{end - 1}" for first, end in pairwise(levels)] + [
        f"≥ {levels[-1]}"
    ]
    header = ["label"]
    for documents in KINDS_OF_DOCUMENTS:
        header += [f"{documents}\n{names[0]}", *names[1:]]
    counts: dict[str, list[int]] = {}
    for documents in KINDS_OF_DOCUMENTS:
        for row in _where(rows, documents=documents):
            counts.setdefault(row["label"], []).append(row["n"])
    nonempty = {label: numbers for label, numbers in counts.items() if label != "none" or any(numbers)}
    return header, [[label, *(f"{n:,}" for n in numbers)] for label, numbers in nonempty.items()]


def _calibration_cells(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    cells: dict[str, list[str]] = {}
    for row in rows:  # rows of hidden documents come first
        ends = f"{number(row['lower'], 3)}–{number(row['upper'], 3)}" if row["n"] else ""
        cells.setdefault(row["label"], []).extend([f"{row['n']:,}", number(row["share"], 3), ends])
    header = ["label", *(text for documents in KINDS_OF_DOCUMENTS for text in (documents, "relevant", ""))]
    return header, [[label, *texts] for label, texts in cells.items()]


def _agreement_cells(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    header = ["judge", "relevant\nfrom", "label\nfrom"]
    header += [f"{statistic}\n{documents}" for statistic in ("AUC", "κ") for documents in KINDS_OF_DOCUMENTS]
    header += ["relevant,\nhidden", "pro-\nmised"]
    by: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        by.setdefault((row["judge"], row["relevant_from"]), []).append(row)
    cells = []
    for (judge, rel), both in by.items():
        label = both[0]["label_from"]
        numbers = [number(row[statistic], 3) for statistic in ("auc", "kappa") for row in both]
        numbers += [f"{both[0]['n_relevant']:,}", _count(both[0]["promised"])]
        cells.append([judge, str(rel), "–" if label != label else f"{label:g}", *numbers])
    return header, cells


def _count(x: float) -> str:
    """Expected number of documents as text."""
    return "–" if x != x else f"{x:,.0f}"


def _coverage_cells(rows: list[Row], cutoff: int) -> tuple[list[str], list[list[str]]]:
    names = {"judged": "judged", "hidden": "hidden", "unjudged": f"unjudged within rank {cutoff}"}
    cells = []
    for row in (row for row in rows if row["n"]):
        documents = names[row["documents"]]
        cells.append(
            [row["judge"], documents, f"{row['n']:,}", f"{row['n_labeled']:,}", percent(row["share"])]
        )
    return ["judge", "documents", "", "labeled", ""], cells


def _interval_cells(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    header = ["labels of", "without", "with", "narrower by"]
    names = ("width_without", "width_with")
    return header, [
        [row["judge"], *(number(row[name]) for name in names), percent(row["saved"])] for row in rows
    ]
