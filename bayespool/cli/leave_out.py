"""The command ``leave-out``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from bayespool.cli.options import (
    Chains,
    CiProb,
    Draws,
    Engine,
    Lenient,
    MaxHoles,
    Measures,
    OrderOption,
    Organizations,
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

__all__ = ["leave_out"]


def leave_out(
    qrels: QrelsFile,
    pool: Annotated[
        list[Path], typer.Option(help="Runs of the campaign: folder, glob or file; may be repeated.")
    ],
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
    known_depth: Annotated[
        int | None, typer.Option(help="Depth that was judged, if known; else discovered.", min=1)
    ] = None,
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
    lenient: Lenient = False,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one per core.")] = -1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for tables and figures. Finished folds are kept there: a command that was "
            "interrupted goes on where it stopped.",
        ),
    ] = None,
    figures: Annotated[
        Literal["png", "svg", "none"], typer.Option(help="Kind of figures in the output folder.")
    ] = "png",
) -> None:
    """Leave each organization (or run) out of the pool, estimate its runs, and compare with the truth.

    It tells how biased the collection is, and how good every estimator is on it.
    """
    from rich.console import Console

    from bayespool.errors import InputError
    from bayespool.experiments import leave_out
    from bayespool.loading import read_collection
    from bayespool.pool import describe_pool
    from bayespool.report import check_folder, print_leave_out, write_leave_out

    if jobs == 0:
        raise InputError("--jobs 0: give a number of processes, or -1 for one per core")
    if output is not None:
        check_folder(output)
    measures = [with_threshold(m, relevance_threshold) for m in measure]
    with stage_progress() as say:
        collection = read_collection(
            qrels,
            pool=[str(p) for p in pool],
            organizations=organizations,
            order=order,
            run_id=run_id,
            pool_depth=known_depth,
            max_holes=max_holes,
            pooled_run_ids=None if pooled_runs is None else split_list(pooled_runs),
            pool_rule=pool_rule,
            strict=not lenient,
            progress=lambda done, total: say(f"reading runs: {done} of {total}"),
        )
    typer.echo(f"pool: {describe_pool(collection)}", err=True)
    try:
        with _fold_progress(by) as show:
            result = leave_out(
                collection,
                measures,
                estimators=split_list(estimators),
                by=by,
                top=top,
                top_pool=top_pool,
                truth=truth,
                estimand=estimand,
                denominator=denominator,
                pool_depth=pool_depth,
                test=test,
                ci_prob=ci_prob,
                random_seed=seed,
                n_jobs=jobs,
                folder=output,
                progress=show,
                priors=parse_priors(prior),
                engine=engine,
                draws=draws,
                tune=tune,
                chains=chains,
            )
    except KeyboardInterrupt:
        kept = "nothing was written; with --output the finished folds would be kept"
        if output is not None:
            kept = f"finished folds are in {output / 'folds'}; the same command goes on from there"
        typer.echo(f"interrupted; {kept}", err=True)
        raise typer.Exit(130) from None
    print_leave_out(result, Console())
    if output is not None:
        write_leave_out(result, output, figures=figures)


@contextmanager
def _fold_progress(by: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with the time that is left on a terminal; a line for each fold elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, total: typer.echo(f"{by}s left out: {done} of {total}", err=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{by}s left out", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
