"""Report of any result as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayespool.errors import OutputError
from bayespool.report.drawing import Styles
from bayespool.report.files import check_place
from bayespool.report.provenance import MADE_BY, made_by
from bayespool.report.rendering import page_html
from bayespool.report.results import result_page, written_result
from bayespool.report.scores import scores_page
from bayespool.scoring import Scores, StoredScores
from bayespool.tables.files import PathLike, atomic_write


def check_report(path: PathLike) -> None:
    """Raise for a report that cannot be written, because of its ending or its folder."""
    place = Path(path)
    if place.suffix not in (".html", ".htm"):
        raise OutputError(f"{place}: a report is an .html file")
    check_place(place)


def write_report(result: object, path: PathLike) -> None:
    """Write a report of a result: one HTML file without external resources.

    It has a summary, problems, figures, sortable tables, methods with citations, settings, versions, seed and
    fingerprints. It adapts to phones, dark mode, print and the keyboard.

    Parameters
    ----------
    result : object
        `bayespool.Scores`, `bayespool.StoredScores`, `bayespool.Comparison`, `bayespool.Reversals`,
        `bayespool.LeaveOutResult`, `bayespool.Budgets`, `bayespool.ModelChecks`, `bayespool.JudgeCheck`,
        `bayespool.NextJudgments`, or `bayespool.StoredResults` (`bayespool.read_results`).
    path : path
        Ending in .html.

    Raises
    ------
    InputError
        There is no report of such an object.
    OutputError
        The file cannot be written; an earlier file stays.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bayespool import load_example, score, write_report
    >>> scores = score(load_example(), "new-a", "P@10", estimators="background")
    >>> with TemporaryDirectory() as folder:
    ...     write_report(scores, f"{folder}/report.html")
    """
    check_report(path)
    styles = Styles()
    if isinstance(result, Scores | StoredScores):
        page = scores_page(_with_provenance(result), styles)
    else:
        page = result_page(written_result(result), styles)
    atomic_write(path, page_html(page, styles))


def _with_provenance(scores: Scores | StoredScores) -> Any:
    """Scores with the provenance of this call; those of a file have theirs."""
    import dataclasses

    if isinstance(scores, StoredScores):
        return scores
    return dataclasses.replace(scores, metadata={**scores.metadata, MADE_BY: made_by()})
