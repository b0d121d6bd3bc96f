"""The commands ``leave-out``, ``pool-width``, ``common-topics``, ``run-types`` and ``budgets``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bayespool.cli.options import (
    Files,
    campaign_files,
    check_jobs,
    collection_files,
    count_progress,
    report_interruption,
    stage_progress,
)
from bayespool.cli.parameters import Command, own_option, settings_option
from bayespool.cli.results import Outputs, output_folder
from bayespool.experiments.settings import (
    BudgetSettings,
    CommonTopicsSettings,
    LeaveOutSettings,
    PoolWidthSettings,
    RunTypesSettings,
)

if TYPE_CHECKING:
    from bayespool.collection import Collection
    from bayespool.report.result import Result

jobs_option = own_option(
    "--jobs",
    type=int,
    default=-1,
    group="Sampling",
    help="Processes; -1 for one per core. There are never more than parts of the work.",
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
) -> Callable[[Callable[..., Result]], Command]:
    """Decorator that makes a command of an experiment.

    Parameters
    ----------
    cls : type
        Its settings.
    parts : str
        Folder of the finished parts, within that of the results.
    label : str
        What is counted; it may name a field of the settings, in braces.
    n_lines : int, optional
        Lines of progress where there is no terminal; None for one of each part.
    files_option : callable
        Decorator that gives the command its files.
    """

    def decorate(work: Callable[..., Result]) -> Command:
        @files_option
        @settings_option(cls)
        @jobs_option
        @_cluster
        @_folder
        @functools.wraps(work)
        def command(*, settings: Any, files: Files, jobs: int, cluster: str | None, outputs: Outputs) -> None:
            from bayespool.experiments.parallel import on_cluster

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
def leave_out(collection: Collection | Mapping[str, Collection], **keywords: Any) -> Result:
    """Leave each organization (or run, or cluster of runs) out of the pool, estimate its runs, and compare
    with the truth.

    It tells how biased the collection is, and how good every estimator is on it; of several collections
    (--collection), which estimator is best on how many of them.
    """
    from bayespool.experiments import leave_out, leave_out_several

    if isinstance(collection, Mapping):
        return leave_out_several(collection, **keywords)
    return leave_out(collection, **keywords)


@_experiment(PoolWidthSettings, "pool-width", "pools")
def pool_width(collection: Collection, **keywords: Any) -> Result:
    """How biased pools of different widths are against runs outside them: pools drawn at random, as in the
    figure 1 of Webber & Park (2009), with any estimator.
    """
    from bayespool.experiments import vary_pool_width

    return vary_pool_width(collection, **keywords)


@_experiment(CommonTopicsSettings, "common-topics", "pools")
def common_topics(collection: Collection, **keywords: Any) -> Result:
    """What judging a new run in full on some common topics is worth for its score on all of them: pools and
    topics drawn at random, as in the tables 2 to 4 of Webber & Park (2009).
    """
    from bayespool.experiments import vary_common_topics

    return vary_common_topics(collection, **keywords)


@_experiment(RunTypesSettings, "run-types", "types left out")
def run_types(collection: Collection, **keywords: Any) -> Result:
    """Leave all runs of a type (manual, say) out of the pool, estimate them from the others, and compare."""
    from bayespool.experiments import leave_types_out

    return leave_types_out(collection, **keywords)


@_experiment(BudgetSettings, "budgets", "pools")
def budgets(collection: Collection, **keywords: Any) -> Result:
    """How biased pools of different strategies and budgets are against runs that did not contribute: each
    organization left out in turn, as in the figures of Lipani et al. (2017).
    """
    from bayespool.experiments import budgets

    return budgets(collection, **keywords)
