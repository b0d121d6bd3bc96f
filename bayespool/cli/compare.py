"""The commands ``compare`` and ``reversals``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from bayespool.cli.options import (
    Chains,
    CiProb,
    Draws,
    EachItsOwn,
    Engine,
    EstimandOption,
    Lenient,
    MaxHoles,
    Measures,
    NegativeOption,
    OrderOption,
    Organizations,
    Output,
    Pool,
    PoolDepth,
    PooledRuns,
    Priors,
    QrelsFile,
    RunIdFrom,
    Seed,
    Threshold,
    Tune,
    parse_priors,
    split_list,
    stage_progress,
    with_threshold,
)
from bayespool.errors import InputError

if TYPE_CHECKING:
    from bayespool.comparisons import SignificanceTest

__all__ = ["compare", "reversals"]

ControlOption = Annotated[
    Literal["holm", "benjamini-hochberg", "none"],
    typer.Option(help="Adjustment of p-values over all pairs; tukey-hsd needs none."),
]
Level = Annotated[float, typer.Option(help="Significant is an adjusted p-value of at most this.")]
EstimatorNames = Annotated[
    str,
    typer.Option(help="Comma-separated names beside lower-bound, the scores as they stand; as of score."),
]


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Two or more run files, in TREC format (also .gz, .xz, .zst); folders and globs."
        ),
    ],
    qrels: QrelsFile,
    pool: Pool = None,
    organizations: Organizations = None,
    each_its_own: EachItsOwn = False,
    measure: Measures = ["P@10"],  # noqa: B006 - typer copies it
    relevance_threshold: Threshold = None,
    estimators: EstimatorNames = "posterior-combined",
    scope: Annotated[
        Literal["both", "these-topics", "population"],
        typer.Option(
            help="What differences speak of: these topics, where only unjudged documents are uncertain, or a "
            "population of topics that these are a sample of."
        ),
    ] = "both",
    tests: Annotated[
        str,
        typer.Option(help="Comma-separated tests of a pair: paired-t, wilcoxon, randomisation, tukey-hsd."),
    ] = "paired-t",
    level: Level = 0.05,
    control: ControlOption = "holm",
    rope: Annotated[float, typer.Option(help="A difference up to this is practically none.", min=0)] = 0.01,
    prior: Priors = None,
    engine: Engine = "laplace",
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Chains = 4,
    seed: Seed = 1,
    ci_prob: CiProb = 0.95,
    estimand: EstimandOption = "complete",
    order: OrderOption = "score",
    run_id: RunIdFrom = "file",
    negative: NegativeOption = "listed",
    pool_depth: PoolDepth = None,
    max_holes: MaxHoles = None,
    pooled_runs: PooledRuns = None,
    table: Annotated[
        Literal["differences", "ranks", "significance", "overview", "reliability"],
        typer.Option(help="Table for a .csv or .parquet file; .json has all of them."),
    ] = "differences",
    output: Output = None,
    lenient: Lenient = False,
) -> None:
    """Compare runs: differences with intervals, chances and ranks, significance tests, and the chance that
    judging the unjudged documents takes a significant difference back.
    """
    from rich.console import Console

    from bayespool.comparisons import compare as compare_runs
    from bayespool.loading import read_collection
    from bayespool.report import check_output
    from bayespool.report.comparisons import print_comparison, write_comparison

    for path in output or []:
        check_output(path)
    n_files = _n_files(runs)
    if n_files < 2:
        raise InputError("one run cannot be compared", hint="name two or more")
    measures = [with_threshold(m, relevance_threshold) for m in measure]
    with stage_progress() as say:
        collection = read_collection(
            qrels,
            [str(r) for r in runs],
            pool=None if pool is None else [str(p) for p in pool],
            organizations=organizations,
            each_its_own=each_its_own,
            order=order,
            run_id=run_id,
            negative=negative,
            pool_depth=pool_depth,
            max_holes=max_holes,
            pooled_run_ids=None if pooled_runs is None else split_list(pooled_runs),
            strict=not lenient,
            progress=lambda done, total: say(f"reading runs: {done} of {total}"),
        )
        _say_pool(collection)
        found = compare_runs(
            collection,
            collection.given_run_ids,
            measures,
            estimators=split_list(estimators),
            scopes=("these-topics", "population") if scope == "both" else (scope,),
            tests=_tests(tests),
            level=level,
            control=control,
            rope=rope,
            ci_prob=ci_prob,
            random_seed=seed,
            report=say,
            estimand=estimand,
            priors=parse_priors(prior),
            engine=engine,
            draws=draws,
            tune=tune,
            chains=chains,
        )
    print_comparison(found, Console())
    for path in output or []:
        write_comparison(found, path, table=table)


def reversals(
    qrels: QrelsFile,
    pool: Annotated[list[Path], typer.Option(help="Runs of the campaign: folder, glob or file; repeatable.")],
    organizations: Organizations = None,
    judgments: Annotated[
        list[int], typer.Option(help="Size of a smaller judgment set; may be repeated.", min=1)
    ] = [1_000, 10_000],  # noqa: B006 - typer copies it
    measure: Annotated[str, typer.Option("--measure", "-m", help="P@10, P(rel=2)@10, ….")] = "P@10",
    relevance_threshold: Threshold = None,
    estimators: EstimatorNames = "interpolated,smoothed,posterior-combined",
    fitted: Annotated[
        bool,
        typer.Option(help="Also fit the constants of interpolated and smoothed to the contributing runs."),
    ] = True,
    exclude: Annotated[str | None, typer.Option(help="Comma-separated ids of runs to leave aside.")] = None,
    test: Annotated[
        Literal["paired-t", "wilcoxon", "randomisation", "tukey-hsd"],
        typer.Option(help="Significance test of a pair."),
    ] = "paired-t",
    level: Level = 0.01,
    control: ControlOption = "none",
    prior: Priors = None,
    engine: Engine = "laplace",
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Chains = 4,
    seed: Seed = 1,
    order: OrderOption = "score",
    run_id: RunIdFrom = "file",
    negative: NegativeOption = "listed",
    pool_depth: PoolDepth = None,
    max_holes: MaxHoles = None,
    pooled_runs: PooledRuns = None,
    table: Annotated[
        Literal["rates", "trends", "p_values", "risks", "calibration", "grades"],
        typer.Option(help="Table for a .csv or .parquet file; .json has all of them."),
    ] = "rates",
    output: Output = None,
    lenient: Lenient = False,
) -> None:
    """Count the significant differences under few judgments that all judgments take back, by method, among
    runs that contributed to the pool and among those that did not.
    """
    from rich.console import Console

    from bayespool.comparisons import reversals as find_reversals
    from bayespool.loading import read_collection
    from bayespool.report import check_output
    from bayespool.report.comparisons import print_reversals, write_reversals

    for path in output or []:
        check_output(path)
    with stage_progress() as say:
        collection = read_collection(
            qrels,
            pool=[str(p) for p in pool],
            organizations=organizations,
            order=order,
            run_id=run_id,
            negative=negative,
            pool_depth=pool_depth,
            max_holes=max_holes,
            pooled_run_ids=None if pooled_runs is None else split_list(pooled_runs),
            strict=not lenient,
            progress=lambda done, total: say(f"reading runs: {done} of {total}"),
        )
        _say_pool(collection)
        aside = split_list(exclude or "")
        collection.run_index(aside)
        found = find_reversals(
            collection,
            [run for run in collection.run_ids if run not in aside],
            with_threshold(measure, relevance_threshold),
            judgments=judgments,
            estimators=split_list(estimators),
            fitted=fitted,
            test=test,
            level=level,
            control=control,
            random_seed=seed,
            report=say,
            priors=parse_priors(prior),
            engine=engine,
            draws=draws,
            tune=tune,
            chains=chains,
        )
    print_reversals(found, Console())
    for path in output or []:
        write_reversals(found, path, table=table)


def _say_pool(collection: object) -> None:
    from bayespool.pool import describe_pool

    typer.echo(f"pool: {describe_pool(collection).text()}", err=True)  # type: ignore[arg-type]


def _tests(text: str) -> tuple[SignificanceTest, ...]:
    """Names of tests; `compare` refuses what is none."""
    return cast("tuple[SignificanceTest, ...]", tuple(dict.fromkeys(split_list(text))))


def _n_files(runs: list[Path]) -> int:
    """How many distinct files the runs to compare are."""
    from bayespool.trec import find_files

    return len({path.parent.resolve() / path.name for path in find_files([str(r) for r in runs])})
