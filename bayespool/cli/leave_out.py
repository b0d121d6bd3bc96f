"""The command ``leave-out``."""

from __future__ import annotations

from typing import Annotated

from bayespool.cli.from_settings import OptionValues, from_settings
from bayespool.cli.options import (
    CampaignRuns,
    Cluster,
    Figures,
    Folder,
    Jobs,
    QrelsFile,
    check_experiment,
    experiment,
    read_campaign,
)
from bayespool.cli.results import deliver_folder
from bayespool.experiments import LeaveOutSettings
from bayespool.options import ReadingSettings, SamplingSettings


@from_settings
def leave_out(
    qrels: QrelsFile,
    pool: CampaignRuns,
    options: Annotated[OptionValues, LeaveOutSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingSettings],
    jobs: Jobs = -1,
    cluster: Cluster = None,
    output: Folder = None,
    figures: Figures = "png",
) -> None:
    """Leave each organization (or run, or cluster of runs) out of the pool, estimate its runs, and compare
    with the truth.

    It tells how biased the collection is, and how good every estimator is on it.
    """
    from bayespool.experiments import leave_out
    from bayespool.experiments.preparing import experiment_settings
    from bayespool.report import print_leave_out, write_leave_out

    check_experiment(jobs, output, "leave-out", cluster)
    experiment_settings(LeaveOutSettings, settings=sampling, **options)  # fails before files are read
    collection = read_campaign(qrels, pool, **reading)
    with experiment(output, "folds", cluster, f"{options['by']}s left out") as show:
        result = leave_out(collection, n_jobs=jobs, folder=output, progress=show, **options, **sampling)
    deliver_folder(
        lambda console: print_leave_out(result, console),
        output,
        lambda folder, kind: write_leave_out(result, folder, figures=kind),
        figures,
    )
