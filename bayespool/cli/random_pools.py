"""The commands ``pool-width``, ``common-topics`` and ``run-types``."""

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
from bayespool.experiments import CommonTopicsSettings, PoolWidthSettings, RunTypesSettings
from bayespool.options import ReadingSettings, SamplingSettings


@from_settings
def pool_width(
    qrels: QrelsFile,
    pool: CampaignRuns,
    options: Annotated[OptionValues, PoolWidthSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingSettings],
    jobs: Jobs = -1,
    cluster: Cluster = None,
    output: Folder = None,
    figures: Figures = "png",
) -> None:
    """How biased pools of different widths are against runs outside them: pools drawn at random, as in the
    figure 1 of Webber & Park (2009), with any estimator.
    """
    from bayespool.experiments import vary_pool_width
    from bayespool.experiments.preparing import experiment_settings
    from bayespool.report.random_pools import print_pool_width, write_pool_width

    check_experiment(jobs, output, "pool-width", cluster)
    experiment_settings(PoolWidthSettings, settings=sampling, **options)  # fails before files are read
    collection = read_campaign(qrels, pool, **reading)
    with experiment(output, "pool-width", cluster, "pools", n_lines=10) as show:
        result = vary_pool_width(collection, folder=output, n_jobs=jobs, progress=show, **options, **sampling)
    deliver_folder(
        lambda console: print_pool_width(result, console),
        output,
        lambda folder, kind: write_pool_width(result, folder, figures=kind),
        figures,
    )


@from_settings
def common_topics(
    qrels: QrelsFile,
    pool: CampaignRuns,
    options: Annotated[OptionValues, CommonTopicsSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingSettings],
    jobs: Jobs = -1,
    cluster: Cluster = None,
    output: Folder = None,
    figures: Figures = "png",
) -> None:
    """What judging a new run in full on some common topics is worth for its score on all of them: pools and
    topics drawn at random, as in the tables 2 to 4 of Webber & Park (2009).
    """
    from bayespool.experiments import vary_common_topics
    from bayespool.experiments.preparing import experiment_settings
    from bayespool.report.random_pools import print_common_topics, write_common_topics

    check_experiment(jobs, output, "common-topics", cluster)
    experiment_settings(CommonTopicsSettings, settings=sampling, **options)  # fails before files are read
    collection = read_campaign(qrels, pool, **reading)
    with experiment(output, "common-topics", cluster, "pools", n_lines=10) as show:
        result = vary_common_topics(
            collection, folder=output, n_jobs=jobs, progress=show, **options, **sampling
        )
    deliver_folder(
        lambda console: print_common_topics(result, console),
        output,
        lambda folder, kind: write_common_topics(result, folder, figures=kind),
        figures,
    )


@from_settings
def run_types(
    qrels: QrelsFile,
    pool: CampaignRuns,
    options: Annotated[OptionValues, RunTypesSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingSettings],
    jobs: Jobs = -1,
    cluster: Cluster = None,
    output: Folder = None,
    figures: Figures = "png",
) -> None:
    """Leave all runs of a type (manual, say) out of the pool, estimate them from the others, and compare."""
    from bayespool.experiments import leave_types_out
    from bayespool.experiments.preparing import experiment_settings
    from bayespool.report.random_pools import print_run_types, write_run_types

    check_experiment(jobs, output, "run-types", cluster)
    experiment_settings(RunTypesSettings, settings=sampling, **options)  # fails before files are read
    collection = read_campaign(qrels, pool, **reading)
    with experiment(output, "run-types", cluster, "types left out", n_lines=10) as show:
        result = leave_types_out(collection, folder=output, n_jobs=jobs, progress=show, **options, **sampling)
    deliver_folder(
        lambda console: print_run_types(result, console),
        output,
        lambda folder, kind: write_run_types(result, folder, figures=kind),
        figures,
    )
