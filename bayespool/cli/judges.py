"""The command ``judges``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayespool.cli.from_settings import OptionValues, from_settings
from bayespool.cli.options import (
    FigureFiles,
    OwnJudgments,
    Pool,
    QrelsFile,
    RunFiles,
    read_files,
    say_unpooled,
    stage_progress,
)
from bayespool.cli.refusals import refuse_measures_of_judgments
from bayespool.cli.results import deliver_folder
from bayespool.errors import InputError
from bayespool.experiments import JudgesSettings
from bayespool.options import ReadingRunsSettings, SamplingSettings


@from_settings
def judges(
    qrels: QrelsFile,
    options: Annotated[OptionValues, JudgesSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingRunsSettings],
    runs: RunFiles = None,
    pool: Pool = None,
    own_judgments: OwnJudgments = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the tables, as CSV and Parquet files.")
    ] = None,
    figure: FigureFiles = None,
) -> None:
    """Say what labels of second judges are worth: how they agree with the judgments on hidden documents, whom
    they favor, what they do not label, and with --intervals how much narrower intervals are with them.

    Give labels with --judge. Runs to score there may be, and need not.
    """
    from bayespool.experiments import check_judges
    from bayespool.plots import draw_judges
    from bayespool.posterior import PosteriorEstimator
    from bayespool.report import judges as report
    from bayespool.report.figures import check_figures
    from bayespool.report.folder import check_folder

    if not reading["judges"]:
        raise InputError("no judge", hint="--judge FILE or --judge NAME=FILE, labels in the form of qrels")
    refuse_measures_of_judgments(options["measures"])
    PosteriorEstimator(**sampling)  # fails before files are read
    if not runs and not pool:
        raise InputError("no runs given", hint="--pool, or run files")
    check_figures(figure)
    if output is not None:
        check_folder(output, report.JUDGES)
    with stage_progress() as say:
        collection, targets = read_files(qrels, runs or [], pool, say, own_judgments=own_judgments, **reading)
        say_unpooled(collection, options)
        check = check_judges(collection, run_ids=targets, report=say, **options, **sampling)
    deliver_folder(
        lambda console: report.print_judges(check, console),
        output,
        lambda folder, _: report.write_judges(check, folder),
        figure=figure,
        draw=lambda: draw_judges(check),
    )
