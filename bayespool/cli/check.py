"""The command ``check predictions``."""

from __future__ import annotations

from bayespool import experiments
from bayespool.cli.experiments import jobs_option
from bayespool.cli.options import (
    Files,
    campaign_files,
    check_jobs,
    count_progress,
    report_interruption,
    stage_progress,
)
from bayespool.cli.parameters import settings_option
from bayespool.cli.results import Outputs, output_folder
from bayespool.experiments.settings import CheckingSettings


@campaign_files
@settings_option(CheckingSettings)
@jobs_option
@output_folder("Folder for tables, figures and the draws of each model as NetCDF for ArviZ.")
def check_predictions(*, settings: CheckingSettings, files: Files, jobs: int, outputs: Outputs) -> None:
    """Check the models on a pool: predict organizations that are held out, calibration, comparison of models.

    Nothing but the pool's own judgments takes part.
    """
    check_jobs(jobs, None)
    outputs.check()
    with stage_progress() as say:
        collection = files.read(say)[0]
    with report_interruption(None, "fits"), count_progress("parts", n_lines=10) as show:
        result = experiments.check_models(
            collection,
            settings=settings,
            containers=outputs.folder is not None,
            n_jobs=jobs,
            progress=show,
        )
    outputs.write(result)
