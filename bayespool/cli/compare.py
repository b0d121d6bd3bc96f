"""The commands ``compare`` and ``reversals``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bayespool.cli.from_settings import OptionValues, from_settings, split_list
from bayespool.cli.options import (
    CampaignRuns,
    FigureFiles,
    Output,
    PaperOutput,
    Pool,
    QrelsFile,
    arrangement_of,
    read_files,
    say_unpooled,
    stage_progress,
)
from bayespool.cli.refusals import refuse_estimators, refuse_measures_of_judgments
from bayespool.cli.results import check_outputs, deliver
from bayespool.comparisons.settings import ComparingSettings, ReversalSettings
from bayespool.errors import InputError
from bayespool.options import ReadingRunsSettings, ReadingSettings, SamplingSettings


@from_settings
def compare(
    qrels: QrelsFile,
    options: Annotated[OptionValues, ComparingSettings, {"estimators": "posterior-combined"}],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingRunsSettings],
    pool: Pool = None,
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Two or more run files, in TREC format (also .gz, .xz, .zst); folders and globs. Those of "
            "--unpool count."
        ),
    ] = None,
    table: Annotated[
        Literal["differences", "across_measures", "ranks", "significance", "overview", "reliability"],
        typer.Option(help="Table for a .csv or .parquet file; .json has all of them."),
    ] = "differences",
    sort: Annotated[
        Literal["difference", "chance", "p", "risk"] | None,
        typer.Option(
            help="Sort pairs: by difference or risk the largest first, by chance the surest, by p the least."
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="Show the first pairs alone; without --sort by difference.")
    ] = None,
    output: PaperOutput = None,
    figure: FigureFiles = None,
) -> None:
    """Compare runs: differences with intervals, chances and ranks, significance tests, and the chance that
    judging the unjudged documents takes a significant difference back.
    """
    from bayespool.collection.files import find_files
    from bayespool.comparisons import compare as compare_runs
    from bayespool.plots import draw_comparison
    from bayespool.report.comparisons import print_comparison, write_comparison
    from bayespool.report.files import check_paper_output

    check_outputs(output, check_paper_output, figure=figure)
    arrangement = arrangement_of(None, sort, top)
    refuse_estimators(options["estimators"], sampling)
    if not options["unpool"] and (not runs or len(set(find_files([str(r) for r in runs]))) < 2):
        raise InputError("one run cannot be compared", hint="name two or more")
    with stage_progress() as say:
        collection, targets = read_files(qrels, runs or [], pool, say, **reading)
        say_unpooled(collection, options)
        comparison = compare_runs(collection, targets, report=say, **options, **sampling)
    deliver(
        lambda console: print_comparison(comparison, console, arrangement=arrangement),
        output,
        lambda path: write_comparison(comparison, path, table=table, arrangement=arrangement),
        figure=figure,
        draw=lambda: draw_comparison(comparison),
    )


@from_settings
def reversals(
    qrels: QrelsFile,
    pool: CampaignRuns,
    options: Annotated[OptionValues, ReversalSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingSettings],
    exclude: Annotated[str | None, typer.Option(help="Comma-separated ids of runs to leave aside.")] = None,
    table: Annotated[
        Literal["rates", "trends", "p_values", "risks", "calibration", "grades"],
        typer.Option(help="Table for a .csv or .parquet file; .json has all of them."),
    ] = "rates",
    output: Output = None,
    figure: FigureFiles = None,
) -> None:
    """Count the significant differences under few judgments that all judgments take back, by method, among
    runs that contributed to the pool and among those that did not.
    """
    from bayespool.comparisons import reversals as find_reversals
    from bayespool.plots import draw_reversals
    from bayespool.report.comparisons import print_reversals, write_reversals
    from bayespool.report.files import check_output

    check_outputs(output, check_output, figure=figure)
    measure, *others = options.pop("measures")
    if others:
        raise InputError("reversals takes one measure")
    refuse_measures_of_judgments([measure])
    refuse_estimators(options["estimators"], sampling)
    with stage_progress() as say:
        collection, _ = read_files(qrels, [], pool, say, **reading)
        aside = split_list(exclude or "")
        collection.run_index(aside)
        runs = [run for run in collection.run_ids if run not in aside]
        result = find_reversals(collection, runs, measure, report=say, **options, **sampling)
    deliver(
        lambda console: print_reversals(result, console),
        output,
        lambda path: write_reversals(result, path, table=table),
        figure=figure,
        draw=lambda: draw_reversals(result),
    )
