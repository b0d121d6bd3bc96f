"""Completed qrels: their folder and the printed summary."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from bayespool.collection.writers import qrels_text
from bayespool.report.folder import write_folder
from bayespool.report.terminal import print_line
from bayespool.scoring import Imputations

if TYPE_CHECKING:
    from rich.console import Console

COMPLETED_QRELS = "completed qrels"
"""Name of such results in ``settings.json``."""


def write_imputations(imputations: Imputations, folder: Path) -> None:
    """Write ``qrels-01.txt``, ``qrels-02.txt``, … and ``settings.json`` into a folder, all or none.

    The same input and seed give the same bytes.

    Raises
    ------
    OutputError
        A file cannot be written, or the folder holds results of another kind.
    """
    names = _names(imputations)
    files: dict[str, bytes | str] = {
        name: qrels_text(imputations.qrels(i), folder / name) for i, name in enumerate(names)
    }
    write_folder(folder, COMPLETED_QRELS, {**imputations.metadata, "notes": list(imputations.notes)}, files)


def print_imputations(imputations: Imputations, folder: Path, console: Console, *, run: str = "RUN") -> None:
    """Print the contents of the folder, and the command that evaluates a run with it.

    Parameters
    ----------
    imputations : Imputations
    folder : Path
        Where they were written.
    console : rich.console.Console
    run : str
        Path of one of the runs.
    """
    names, n_topics = _names(imputations), len(imputations.query_ids)
    n_completed, completion = int(imputations.n_completed.sum()), imputations.completion
    print_line(console, f"{len(names)} completed qrels in {folder}: {names[0]} to {names[-1]}")
    print_line(
        console,
        f"each has {imputations.n_judged} judgments as they are, and on average {n_completed / n_topics:.1f} "
        f"completed documents per topic: {n_completed} in all, {imputations.n_found:.1f} of them relevant",
    )
    if n_completed:
        runs = imputations.run_ids
        print_line(
            console,
            f"completed: unjudged documents down to rank {completion.unknowns.depth} of "
            f"{', '.join(runs) if len(runs) < 4 else f'{len(runs)} runs'}, with relevance "
            f"{', '.join(map(str, completion.levels))}",
        )
    for note in imputations.notes:
        print_line(console, f"note: {note}")
    measures = " ".join(shlex.quote(str(measure)) for measure in imputations.measures)
    print_line(
        console,
        "next, for each run:\n"
        f"  for qrels in {shlex.quote(str(folder))}/qrels-*.txt; do "
        f'ir_measures "$qrels" {shlex.quote(run)} {measures}; done\n'
        "the mean of what it prints is the estimate, the standard deviation its uncertainty (docs/impute.md)",
    )


def _names(imputations: Imputations) -> list[str]:
    digits = max(2, len(str(len(imputations))))
    return [f"qrels-{i + 1:0{digits}}.txt" for i in range(len(imputations))]
