"""The commands ``pool-width``, ``common-topics`` and ``run-types``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bayespool.cli.options import (
    CampaignRuns,
    Chains,
    CiProb,
    Draws,
    Engine,
    Figures,
    Jobs,
    KnownDepth,
    Lenient,
    MaxHoles,
    Measures,
    NegativeOption,
    OrderOption,
    Organizations,
    PooledRuns,
    Priors,
    QrelsFile,
    RunIdFrom,
    Seed,
    Threshold,
    Tune,
    check_experiment,
    count_progress,
    parse_priors,
    read_campaign,
    split_list,
    told_when_interrupted,
    with_threshold,
)
from bayespool.errors import InputError

__all__ = ["common_topics", "pool_width", "run_types"]

Estimators = Annotated[
    str,
    typer.Option(help="'all', or comma-separated names with settings in parentheses: background(e=0.05)."),
]
Widths = Annotated[
    str | None,
    typer.Option(help="Comma-separated pool widths; default: 2,4,10,20,40 as far as there is more."),
]
Samples = Annotated[int, typer.Option(help="Pools drawn of each width.", min=1)]
By = Annotated[
    Literal["run", "organization"],
    typer.Option(help="What pools are drawn from: runs, or organizations with all their runs."),
]
TakingPart = Annotated[
    Literal["pooled", "all"],
    typer.Option(
        "--runs", help="The pooled runs take part, or all: what is unjudged in truth is then not relevant."
    ),
]
Depth = Annotated[
    int | None,
    typer.Option("--pool-depth", help="Pools are judged to this depth; default: the collection's.", min=1),
]
TypesFile = Annotated[
    Path | None, typer.Option("--run-types", help="Types of the runs: CSV with run_id,type.")
]
PoolType = Annotated[str | None, typer.Option(help="Make pools of runs of this type alone.")]
TargetType = Annotated[str | None, typer.Option(help="Score runs of this type alone.")]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Folder for tables, settings and figures; finished work is kept there."
    ),
]


def pool_width(
    qrels: QrelsFile,
    pool: CampaignRuns,
    organizations: Organizations = None,
    measure: Measures = ["P@10"],  # noqa: B006 - typer copies it
    relevance_threshold: Threshold = None,
    estimators: Estimators = "lower-bound,condensed-list,systems-adjustment",
    widths: Widths = None,
    samples: Samples = 100,
    targets: Annotated[int, typer.Option(help="Runs outside each pool that are scored.", min=1)] = 1,
    by: By = "run",
    taking_part: TakingPart = "pooled",
    pool_depth: Depth = None,
    types_file: TypesFile = None,
    pool_type: PoolType = None,
    target_type: TargetType = None,
    known_depth: KnownDepth = None,
    max_holes: MaxHoles = None,
    pooled_runs: PooledRuns = None,
    prior: Priors = None,
    engine: Engine = "laplace",
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Chains = 4,
    seed: Seed = 1,
    ci_prob: CiProb = 0.95,
    order: OrderOption = "score",
    run_id: RunIdFrom = "file",
    negative: NegativeOption = "listed",
    lenient: Lenient = False,
    jobs: Jobs = -1,
    output: Folder = None,
    figures: Figures = "png",
) -> None:
    """How biased pools of different widths are against runs outside them: pools drawn at random, as in the
    figure 1 of Webber & Park (2009), with any estimator.
    """
    from rich.console import Console

    from bayespool.experiments import vary_pool_width
    from bayespool.report.random_pools import print_pool_width, write_pool_width

    check_experiment(jobs, output, "pool-width")
    kinds = _kinds(types_file, pool_type, target_type)
    collection = read_campaign(
        qrels,
        pool,
        organizations=organizations,
        order=order,
        run_id=run_id,
        negative=negative,
        pool_depth=known_depth,
        max_holes=max_holes,
        pooled_runs=pooled_runs,
        lenient=lenient,
    )
    with told_when_interrupted(output, "pool-width"), count_progress("pools", n_lines=10) as show:
        result = vary_pool_width(
            collection,
            [with_threshold(m, relevance_threshold) for m in measure],
            estimators=split_list(estimators),
            widths=_whole_numbers(widths, "--widths"),
            n_samples=samples,
            n_targets=targets,
            by=by,
            runs=taking_part,
            pool_depth=pool_depth,
            run_types=kinds,
            pool_type=pool_type,
            target_type=target_type,
            ci_prob=ci_prob,
            random_seed=seed,
            folder=output,
            n_jobs=jobs,
            progress=show,
            priors=parse_priors(prior),
            engine=engine,
            draws=draws,
            tune=tune,
            chains=chains,
        )
    print_pool_width(result, Console())
    if output is not None:
        write_pool_width(result, output, figures=figures)


def common_topics(
    qrels: QrelsFile,
    pool: CampaignRuns,
    organizations: Organizations = None,
    measure: Measures = ["P@10"],  # noqa: B006 - typer copies it
    relevance_threshold: Threshold = None,
    estimators: Annotated[
        str, typer.Option(help="Comma-separated names: how the scores are taken that are adjusted.")
    ] = "lower-bound,condensed-list",
    widths: Widths = None,
    common: Annotated[
        str | None,
        typer.Option(help="Comma-separated numbers of common topics; default: 5,10,20,30,40,50,100,…"),
    ] = None,
    samples: Samples = 100,
    topic_samples: Annotated[
        int, typer.Option(help="Sets of common topics drawn for each pool.", min=1)
    ] = 200,
    by: By = "run",
    taking_part: TakingPart = "pooled",
    pool_depth: Depth = None,
    types_file: TypesFile = None,
    pool_type: PoolType = None,
    target_type: TargetType = None,
    known_depth: KnownDepth = None,
    max_holes: MaxHoles = None,
    pooled_runs: PooledRuns = None,
    seed: Seed = 1,
    order: OrderOption = "score",
    run_id: RunIdFrom = "file",
    negative: NegativeOption = "listed",
    lenient: Lenient = False,
    jobs: Jobs = -1,
    output: Folder = None,
    figures: Figures = "png",
) -> None:
    """What judging a new run in full on some common topics is worth for its score on all of them: pools and
    topics drawn at random, as in the tables 2 to 4 of Webber & Park (2009).
    """
    from rich.console import Console

    from bayespool.experiments import vary_common_topics
    from bayespool.report.random_pools import print_common_topics, write_common_topics

    check_experiment(jobs, output, "common-topics")
    kinds = _kinds(types_file, pool_type, target_type)
    collection = read_campaign(
        qrels,
        pool,
        organizations=organizations,
        order=order,
        run_id=run_id,
        negative=negative,
        pool_depth=known_depth,
        max_holes=max_holes,
        pooled_runs=pooled_runs,
        lenient=lenient,
    )
    with told_when_interrupted(output, "common-topics"), count_progress("pools", n_lines=10) as show:
        result = vary_common_topics(
            collection,
            [with_threshold(m, relevance_threshold) for m in measure],
            estimators=split_list(estimators),
            widths=_whole_numbers(widths, "--widths"),
            n_common=_whole_numbers(common, "--common"),
            n_samples=samples,
            n_topic_samples=topic_samples,
            by=by,
            runs=taking_part,
            pool_depth=pool_depth,
            run_types=kinds,
            pool_type=pool_type,
            target_type=target_type,
            random_seed=seed,
            folder=output,
            n_jobs=jobs,
            progress=show,
        )
    print_common_topics(result, Console())
    if output is not None:
        write_common_topics(result, output, figures=figures)


def run_types(
    qrels: QrelsFile,
    pool: CampaignRuns,
    types_file: Annotated[Path, typer.Option("--run-types", help="Types of the runs: CSV with run_id,type.")],
    leave_out: Annotated[
        str | None, typer.Option(help="Comma-separated types to leave out, in turn; default: all.")
    ] = None,
    organizations: Organizations = None,
    measure: Measures = ["P@10"],  # noqa: B006 - typer copies it
    relevance_threshold: Threshold = None,
    estimators: Estimators = "all",
    taking_part: TakingPart = "pooled",
    pool_depth: Depth = None,
    known_depth: KnownDepth = None,
    max_holes: MaxHoles = None,
    pooled_runs: PooledRuns = None,
    prior: Priors = None,
    engine: Engine = "laplace",
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Chains = 4,
    seed: Seed = 1,
    ci_prob: CiProb = 0.95,
    order: OrderOption = "score",
    run_id: RunIdFrom = "file",
    negative: NegativeOption = "listed",
    lenient: Lenient = False,
    jobs: Jobs = -1,
    output: Folder = None,
    figures: Figures = "png",
) -> None:
    """Leave all runs of a type (manual, say) out of the pool, estimate them from the others, and compare."""
    from rich.console import Console

    from bayespool.experiments import leave_types_out
    from bayespool.report.random_pools import print_run_types, write_run_types
    from bayespool.trec import read_run_types

    check_experiment(jobs, output, "run-types")
    kinds = read_run_types(types_file)
    collection = read_campaign(
        qrels,
        pool,
        organizations=organizations,
        order=order,
        run_id=run_id,
        negative=negative,
        pool_depth=known_depth,
        max_holes=max_holes,
        pooled_runs=pooled_runs,
        lenient=lenient,
    )
    with told_when_interrupted(output, "run-types"), count_progress("types left out", n_lines=10) as show:
        result = leave_types_out(
            collection,
            [with_threshold(m, relevance_threshold) for m in measure],
            run_types=kinds,
            types=None if leave_out is None else split_list(leave_out),
            estimators=split_list(estimators),
            runs=taking_part,
            pool_depth=pool_depth,
            ci_prob=ci_prob,
            random_seed=seed,
            folder=output,
            n_jobs=jobs,
            progress=show,
            priors=parse_priors(prior),
            engine=engine,
            draws=draws,
            tune=tune,
            chains=chains,
        )
    print_run_types(result, Console())
    if output is not None:
        write_run_types(result, output, figures=figures)


def _kinds(path: Path | None, pool_type: str | None, target_type: str | None) -> dict[str, str] | None:
    from bayespool.trec import read_run_types

    if path is None:
        if pool_type is not None or target_type is not None:
            raise InputError(
                "--pool-type and --target-type need the types of the runs", hint="give --run-types"
            )
        return None
    return read_run_types(path)


def _whole_numbers(text: str | None, option: str) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in split_list(text)]
    except ValueError:
        raise InputError(f"{option} {text}: not whole numbers", hint="for example 2,4,10") from None
