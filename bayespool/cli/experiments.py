"""The commands ``leave-out``, ``pool-width``, ``common-topics``, ``budgets``, ``judges`` and ``check``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from bayespool import experiments
from bayespool.cli.options import (
    Files,
    campaign_files,
    check_jobs,
    collection_files,
    count_progress,
    files_to_score,
    report_interruption,
    stage_progress,
)
from bayespool.cli.parameters import Command, own_option, settings_option
from bayespool.cli.results import Outputs, figure_files, output_folder
from bayespool.errors import InputError
from bayespool.experiments.settings import (
    BudgetSettings,
    CheckingSettings,
    CommonTopicsSettings,
    JudgesSettings,
    LeaveOutSettings,
    PoolWidthSettings,
)

_jobs = own_option(
    "--jobs",
    type=int,
    default=-1,
    group="Sampling",
    help="Processes; -1 for one per core. At most one process per part of the work.",
)
_cluster = own_option(
    "--cluster",
    metavar="HOST:PORT",
    group="Sampling",
    help="Compute on the workers of the Dask cluster whose scheduler is there, in place of processes.",
)
_folder = output_folder(
    "Folder for tables, settings and figures. Finished work is kept there: a command that was interrupted "
    "goes on where it stopped."
)


def _experiment(
    cls: Any,
    parts: str,
    label: str,
    *,
    n_lines: int | None = 10,
    files_option: Callable[[Command], Command] = campaign_files,
) -> Callable[[Callable[..., Any]], Command]:
    """Decorator that makes a command of an experiment, which keeps finished parts in the folder ``parts``.

    ``label`` says what is counted, with fields of the settings in braces, in ``n_lines`` lines or one a part;
    ``files_option`` gives the command its files.
    """

    def decorate(work: Callable[..., Any]) -> Command:
        @files_option
        @settings_option(cls)
        @_jobs
        @_cluster
        @_folder
        @functools.wraps(work)
        def command(*, settings: Any, files: Files, jobs: int, cluster: str | None, outputs: Outputs) -> None:
            from bayespool.experiments.running import on_cluster

            check_jobs(jobs, cluster)
            outputs.check()
            files.check_campaign()
            strategies = getattr(settings, "strategies", ())
            with stage_progress() as say:
                if files.collections:
                    collection: Any = files.read_collections(say)
                else:
                    collection, _ = files.read(say, scores=any(each.needs_scores for each in strategies))
            counted, folder = label.format(**vars(settings)), outputs.folder
            with (
                report_interruption(folder, "" if files.collections else parts),
                on_cluster(cluster),
                count_progress(counted, n_lines=n_lines) as show,
            ):
                result = work(collection, folder=folder, n_jobs=jobs, progress=show, settings=settings)
            outputs.write(result)

        return command

    return decorate


@_experiment(LeaveOutSettings, "folds", "{by}s left out", n_lines=None, files_option=collection_files)
def leave_out(collection: Any, **keywords: Any) -> Any:
    """Leave each organization (or run, cluster or type of runs) out of the pool, estimate its runs, and
    compare with the truth.

    It tells how biased the collection is, and how good every estimator is on it; of several collections
    (--collection), which estimator is best on how many of them.
    """
    if isinstance(collection, Mapping):
        return experiments.leave_out_several(collection, **keywords)
    return experiments.leave_out(collection, **keywords)


@_experiment(PoolWidthSettings, "pool-width", "pools")
def pool_width(*arguments: Any, **keywords: Any) -> Any:
    """Show how biased pools of different widths are against runs outside them: pools drawn at random, as in
    the figure 1 of Webber & Park (2009), with any estimator.
    """
    return experiments.vary_pool_width(*arguments, **keywords)


@_experiment(CommonTopicsSettings, "common-topics", "pools")
def common_topics(*arguments: Any, **keywords: Any) -> Any:
    """Show what judging a new run in full on some common topics is worth for its score on all: pools and
    topics drawn at random, as in the tables 2 to 4 of Webber & Park (2009).
    """
    return experiments.vary_common_topics(*arguments, **keywords)


@_experiment(BudgetSettings, "budgets", "pools")
def budgets(*arguments: Any, **keywords: Any) -> Any:
    """Show how biased pools of different strategies and budgets are against runs that did not contribute:
    each organization left out in turn, as in the figures of Lipani et al. (2017).
    """
    return experiments.compare_budgets(*arguments, **keywords)


@files_to_score()
@settings_option(JudgesSettings)
@_jobs
@output_folder("Folder for the tables, as CSV and Parquet files.", after=(figure_files,))
def judges(*, settings: JudgesSettings, files: Files, jobs: int, outputs: Outputs) -> None:
    """Evaluate the labels of second judges: how they agree with the judgments on hidden documents, which
    organizations they favor, how many documents they label, and (--intervals) how much they narrow intervals.

    Give labels with --judge. Runs to score are optional.
    """
    if not files.reading.judges:
        raise InputError("no judge", hint="--judge FILE or --judge NAME=FILE, labels in the form of qrels")
    if not files.runs and not files.pool:
        raise InputError("no runs given", hint="--pool, or run files")
    check_jobs(jobs, None)
    outputs.check()
    with stage_progress() as say:
        collection, targets = files.read(say, settings)
    folder = outputs.folder
    with report_interruption(folder, "judges"), count_progress("scores with and without labels") as show:
        work = {"folder": folder, "n_jobs": jobs, "progress": show}
        result = experiments.check_judges(collection, run_ids=targets, settings=settings, **work)
    outputs.write(result)


@campaign_files
@settings_option(CheckingSettings)
@_jobs
@output_folder("Folder for tables, figures and the draws of each model as NetCDF for ArviZ.")
def check_predictions(*, settings: CheckingSettings, files: Files, jobs: int, outputs: Outputs) -> None:
    """Check the models on a pool: predict organizations that are held out, calibration, comparison of models.

    The check uses only the pool's own judgments.
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
