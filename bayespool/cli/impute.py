"""The command ``impute``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from bayespool.cli.from_settings import OptionValues, from_settings
from bayespool.cli.options import (
    OwnJudgments,
    Pool,
    QrelsFile,
    RunFiles,
    read_files,
    say_unpooled,
    stage_progress,
)
from bayespool.cli.refusals import refuse_measures_of_judgments
from bayespool.cli.results import deliver_files
from bayespool.errors import InputError, InputWarning
from bayespool.options import ReadingRunsSettings, SamplingSettings
from bayespool.scoring import ImputeSettings


@from_settings
def impute(
    qrels: QrelsFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the completed qrels.")],
    options: Annotated[OptionValues, ImputeSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingRunsSettings],
    runs: RunFiles = None,
    pool: Pool = None,
    own_judgments: OwnJudgments = None,
) -> None:
    """Write completed qrels: draws of the judgments of what is unjudged, for trec_eval, ir_measures and any
    other tool.

    The mean of what a tool prints with each of them is the estimate, the spread its uncertainty.
    """
    from bayespool.collection import read_qrels
    from bayespool.report import print_imputations, write_imputations
    from bayespool.report.folder import check_folder
    from bayespool.report.imputing import COMPLETED_QRELS
    from bayespool.scoring import impute as complete_qrels, parse_posterior

    check_folder(output, COMPLETED_QRELS)
    if not runs and not options["unpool"]:
        raise InputError("no run to complete", hint="name run files, or runs of the pool with --unpool")
    refuse_measures_of_judgments(options["measures"])
    parse_posterior(options["estimator"], options["draws"], **sampling)  # fails before files are read
    with stage_progress() as say:
        collection, targets = read_files(qrels, runs or [], pool, say, own_judgments=own_judgments, **reading)
        say_unpooled(collection, options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # given by the first reading
            lines = read_qrels(qrels, strict=reading["strict"], max_file_size=reading["max_file_size"])
        imputations = complete_qrels(collection, targets, qrels=lines, report=say, **options, **sampling)
        say(f"writing {output}")
        write_imputations(imputations, output)
    run = _path_of(imputations.run_ids, [*(runs or []), *(pool or [])])
    deliver_files(lambda console: print_imputations(imputations, output, console, run=run), output)


def _path_of(run_ids: Iterable[str], sources: list[Path]) -> str:
    """First source file named as one of the runs; ``RUN`` without one."""
    from bayespool.collection.files import find_files
    from bayespool.collection.readers import id_of_file

    files = {id_of_file(path): path for path in reversed(find_files([str(source) for source in sources]))}
    return next((str(files[run]) for run in run_ids if run in files), "RUN")
