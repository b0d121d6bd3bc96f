"""The commands ``check predictions`` and ``unexplained``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from bayespool.experiments.settings import (
    CheckingSettings,
    UnexplainedSettings,
)

_folder = output_folder(
    "Folder for tables and figures. Finished work is kept there: a command that was interrupted goes on."
)


@campaign_files
@settings_option(CheckingSettings)
@jobs_option
@output_folder("Folder for tables, figures and the draws of each model as NetCDF for ArviZ.")
def check_predictions(*, settings: CheckingSettings, files: Files, jobs: int, outputs: Outputs) -> None:
    """Check the models on a pool: predict organizations that are held out, calibration, comparison of models.

    Nothing but the pool's own judgments takes part.
    """
    containers = outputs.folder is not None
    _check(experiments.check_models, "fits", files, outputs, jobs, settings=settings, containers=containers)


@campaign_files
@settings_option(UnexplainedSettings)
@jobs_option
@_folder
def check_unexplained(*, settings: UnexplainedSettings, files: Files, jobs: int, outputs: Outputs) -> None:
    """Predict the judgments that no pooled run explains: were relevant documents looked for?

    Down to the cutoff of each measure.
    """
    check, folder = experiments.check_unexplained_judgments, outputs.folder
    _check(check, "unexplained", files, outputs, jobs, folder=folder, settings=settings)


def _check(
    check: Callable[..., Any], parts: str, files: Files, outputs: Outputs, jobs: int, **keywords: Any
) -> None:
    """Read the files, check, and write the result; `parts` is the folder of finished work, if a folder is
    among the keywords.
    """
    check_jobs(jobs, None)
    outputs.check()
    with stage_progress() as say:
        collection = files.read(say)[0]
    with report_interruption(keywords.get("folder"), parts), count_progress("parts", n_lines=10) as show:
        result = check(collection=collection, n_jobs=jobs, progress=show, **keywords)
    outputs.write(result)
