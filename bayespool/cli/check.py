"""The command ``check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayespool.cli.options import (
    Chains,
    Engine,
    Lenient,
    MaxHoles,
    Measures,
    NegativeOption,
    OrderOption,
    Organizations,
    Pool,
    PoolDepth,
    PooledRuns,
    Priors,
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
    from bayespool.collection import Collection

__all__ = ["check"]


def check(
    qrels: Annotated[Path | None, typer.Option(help="Relevance judgments; not needed for --sbc.")] = None,
    pool: Pool = None,
    organizations: Organizations = None,
    measure: Measures = ["P@10"],  # noqa: B006 - typer copies it
    relevance_threshold: Threshold = None,
    models: Annotated[
        str | None, typer.Option(help="Comma-separated models, such as ratio,evidence; default: all.")
    ] = None,
    sbc: Annotated[
        bool,
        typer.Option(
            "--sbc",
            help="Simulation-based calibration of the models and the engine instead; on the design of the "
            "pool if one is given, else on a small one.",
        ),
    ] = False,
    compare_engines: Annotated[
        bool,
        typer.Option("--compare-engines", help="Laplace against NUTS on held-out organizations instead."),
    ] = False,
    simulations: Annotated[int, typer.Option(help="Data sets per model of --sbc.", min=1)] = 200,
    folds: Annotated[int, typer.Option(help="Folds of organizations, at most one for each.", min=2)] = 5,
    prior: Priors = None,
    engine: Engine = "laplace",
    draws: Annotated[
        int, typer.Option(help="Posterior draws per chain; laplace draws that many times the chains.", min=1)
    ] = 500,
    tune: Tune = 1000,
    chains: Chains = 4,
    seed: Seed = 1,
    order: OrderOption = "score",
    run_id: RunIdFrom = "file",
    negative: NegativeOption = "listed",
    pool_depth: PoolDepth = None,
    max_holes: MaxHoles = None,
    pooled_runs: PooledRuns = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for tables, figures and the draws of each model as NetCDF for ArviZ.",
        ),
    ] = None,
    figures: Annotated[
        Literal["png", "svg", "none"], typer.Option(help="Kind of figures in the output folder.")
    ] = "png",
    lenient: Lenient = False,
) -> None:
    """Check the models on a pool: predict organizations that are held out, calibration, comparison of models.

    Nothing but the pool's own judgments takes part.
    """
    from rich.console import Console

    from bayespool import checking
    from bayespool.posterior import MODEL_NAMES
    from bayespool.report import check_folder
    from bayespool.report import checks as report

    if sbc and compare_engines:
        raise InputError("--sbc and --compare-engines are two checks; give one of them")
    if output is not None:
        what = report.SELF_CALIBRATION if sbc else report.ENGINES if compare_engines else report.CHECK
        check_folder(output, what)
    chosen = checking.checked_models(MODEL_NAMES if models is None else split_list(models))
    measures = [with_threshold(m, relevance_threshold) for m in measure]
    if sbc and len(measures) > 1:
        raise InputError("--sbc takes one measure")
    settings: dict[str, Any] = {"models": chosen, "priors": parse_priors(prior), "random_seed": seed}
    done: Any
    show: Any
    write: Any
    with stage_progress() as say:
        settings["report"] = say
        collection = None
        if qrels is not None:
            collection = _read(
                say,
                qrels,
                pool=None if pool is None else [str(p) for p in pool],
                organizations=organizations,
                order=order,
                run_id=run_id,
                negative=negative,
                pool_depth=pool_depth,
                max_holes=max_holes,
                pooled_run_ids=None if pooled_runs is None else split_list(pooled_runs),
                strict=not lenient,
            )
        sampling: dict[str, Any] = {"draws": draws, "tune": tune, "chains": chains, "n_folds": folds}
        if sbc:
            show, write = report.print_self_calibration, report.write_self_calibration
            done = checking.self_calibrate(
                engine=engine,
                n_simulations=simulations,
                collection=collection,
                measure=measures[0],
                **settings,
            )
        elif collection is None:
            raise InputError("--qrels is missing", hint="only --sbc needs no files")
        elif compare_engines:
            show, write = report.print_engines, report.write_engines
            done = checking.compare_engines(collection, measures, **sampling, **settings)
        else:
            show, write = report.print_checks, report.write_checks
            done = checking.check_models(
                collection, measures, engine=engine, containers=output is not None, **sampling, **settings
            )
        if output is not None:
            say(f"writing {output}")
            write(done, output, figures=figures)
    show(done, Console())


def _read(say: Any, qrels: Path, **settings: Any) -> Collection:
    from bayespool.loading import read_collection
    from bayespool.pool import describe_pool

    collection = read_collection(
        qrels, progress=lambda done, total: say(f"reading runs: {done} of {total}"), **settings
    )
    typer.echo(f"pool: {describe_pool(collection).text()}", err=True)
    return collection
