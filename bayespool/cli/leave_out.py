"""The command ``leave-out``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

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

__all__ = ["leave_out"]


def leave_out(
    qrels: QrelsFile,
    pool: CampaignRuns,
    organizations: Organizations = None,
    measure: Measures = ["P@10"],  # noqa: B006 - typer copies it
    relevance_threshold: Threshold = None,
    estimators: Annotated[
        str,
        typer.Option(
            help="'all', or comma-separated names with settings in parentheses: "
            "all,posterior-background,interpolated(c=0.5)."
        ),
    ] = "all",
    by: Annotated[
        Literal["organization", "run"], typer.Option(help="What is left out of the pool at a time.")
    ] = "organization",
    top: Annotated[
        float, typer.Option(help="Report on this percentage of the pooled runs, the best by true score.")
    ] = 100,
    top_pool: Annotated[
        Literal["all", "kept"],
        typer.Option(
            help="Whether the other runs' contributions stay in the pool, or the best make it alone."
        ),
    ] = "all",
    pool_depth: Annotated[
        int | None, typer.Option(help="Re-pool to this depth first: deeper judgments go.", min=1)
    ] = None,
    truth: Annotated[
        Literal["repooled", "full"],
        typer.Option(help="A run's score with it alone back in the pool, or on all judgments."),
    ] = "repooled",
    estimand: Annotated[
        Literal["pooled", "complete"],
        typer.Option(
            help="Whether unjudged documents below the pool depth stay nonrelevant or are estimated."
        ),
    ] = "pooled",
    denominator: Annotated[
        Literal["qrels", "run"],
        typer.Option(help="Scores are means over the topics of the qrels, or over those that the run has."),
    ] = "qrels",
    test: Annotated[
        Literal["tukey-hsd", "paired-t"], typer.Option(help="What is significant in SRE*.")
    ] = "tukey-hsd",
    known_depth: KnownDepth = None,
    max_holes: MaxHoles = None,
    pooled_runs: PooledRuns = None,
    pool_rule: Annotated[
        Literal["leading", "skipping"],
        typer.Option(help="How pooled runs are found; 'skipping' is the rule of 2015, for reproductions."),
    ] = "leading",
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
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for tables and figures. Finished folds are kept there: a command that was "
            "interrupted goes on where it stopped.",
        ),
    ] = None,
    figures: Figures = "png",
) -> None:
    """Leave each organization (or run) out of the pool, estimate its runs, and compare with the truth.

    It tells how biased the collection is, and how good every estimator is on it.
    """
    from rich.console import Console

    from bayespool.experiments import leave_out
    from bayespool.experiments.settings import leave_out_settings
    from bayespool.report import print_leave_out, write_leave_out

    check_experiment(jobs, output, "leave-out")
    asked: dict[str, Any] = {
        "measures": [with_threshold(m, relevance_threshold) for m in measure],
        "estimators": split_list(estimators),
        "by": by,
        "top": top,
        "top_pool": top_pool,
        "truth": truth,
        "estimand": estimand,
        "denominator": denominator,
        "pool_depth": pool_depth,
        "test": test,
        "ci_prob": ci_prob,
        "random_seed": seed,
    }
    of_estimators: dict[str, Any] = {
        "priors": parse_priors(prior),
        "engine": engine,
        "draws": draws,
        "tune": tune,
        "chains": chains,
    }
    leave_out_settings(settings=of_estimators, **asked)  # told before anything is read
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
        pool_rule=pool_rule,
        lenient=lenient,
    )
    with told_when_interrupted(output, "folds"), count_progress(f"{by}s left out") as show:
        result = leave_out(collection, n_jobs=jobs, folder=output, progress=show, **asked, **of_estimators)
    print_leave_out(result, Console())
    if output is not None:
        write_leave_out(result, output, figures=figures)
