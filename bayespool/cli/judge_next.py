"""The command ``judge-next``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayespool.cli.from_settings import OptionValues, from_settings
from bayespool.cli.options import Pool, QrelsFile, RunFiles, read_files, say_unpooled, stage_progress
from bayespool.cli.refusals import refuse_no_posterior
from bayespool.cli.results import check_outputs, deliver
from bayespool.errors import InputError
from bayespool.options import ReadingRunsSettings, SamplingSettings
from bayespool.scoring import JudgeNextSettings


@from_settings
def judge_next(
    qrels: QrelsFile,
    options: Annotated[OptionValues, JudgeNextSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingRunsSettings],
    runs: RunFiles = None,
    pool: Pool = None,
    judged: Annotated[
        Path | None,
        typer.Option(help="Judgments of your own so far, as qrels: the models learn from them and go on."),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="File for the documents: a table where its name ends in .csv, .json or .parquet; in .txt, "
            ".qrels, .gz or nothing, qrels with relevance -1 for an assessor to fill in; may be repeated.",
        ),
    ] = None,
) -> None:
    """Choose what to judge next: the unjudged documents of the runs that are expected to tell most, one by
    one, and when judging may stop.

    Judge them, and ask again with --judged.
    """
    from bayespool.collection.files import find_files
    from bayespool.report.judging import check_judgments_file, print_next_judgments, write_next_judgments
    from bayespool.scoring import judge_next as choose_next
    from bayespool.scoring.judging import sole_measure
    from bayespool.scoring.judging_goals import check_goal

    check_outputs(output, check_judgments_file, others=["qrels"])
    if not runs and not options["unpool"]:
        raise InputError("no run to judge for", hint="name run files, or runs of the pool with --unpool")
    sole_measure(options["measures"])
    refuse_no_posterior(options["estimator"], sampling)
    if not options["unpool"]:
        check_goal(options["goal"], len(set(find_files([str(run) for run in runs or []]))))
    with stage_progress() as say:
        collection, targets = read_files(qrels, runs or [], pool, say, own_judgments=judged, **reading)
        say_unpooled(collection, options)
        result = choose_next(collection, targets, report=say, **options, **sampling)
    deliver(
        lambda console: print_next_judgments(result, console),
        output,
        lambda path: write_next_judgments(result, path),
    )
