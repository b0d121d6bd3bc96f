"""The command ``check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayespool.cli.from_settings import OptionValues, from_settings
from bayespool.cli.options import Figures, Pool, read_files, stage_progress
from bayespool.cli.refusals import refuse_measures_of_judgments, refuse_priors_of_no_model
from bayespool.cli.results import deliver_folder
from bayespool.errors import InputError
from bayespool.experiments import CheckingSettings
from bayespool.options import ReadingSettings, SamplingSettings


@from_settings
def check(
    options: Annotated[OptionValues, CheckingSettings],
    sampling: Annotated[OptionValues, SamplingSettings, {"draws": 500}],
    reading: Annotated[OptionValues, ReadingSettings],
    qrels: Annotated[Path | None, typer.Option(help="Relevance judgments; not needed for --sbc.")] = None,
    pool: Pool = None,
    sbc: Annotated[
        bool,
        typer.Option(
            "--sbc",
            help="Simulation-based calibration of the models and the engine instead; on the design of the "
            "pool if one is given, else on a small one.",
        ),
    ] = False,
    new_kind: Annotated[
        bool,
        typer.Option(
            "--new-kind",
            help="With --sbc: of a run that may be of a kind that the pool does not have, as "
            "posterior-combined scores it.",
        ),
    ] = False,
    compare_engines: Annotated[
        bool,
        typer.Option("--compare-engines", help="Laplace against NUTS on held-out organizations instead."),
    ] = False,
    found: Annotated[
        bool,
        typer.Option(
            "--found",
            help="Predict the judgments that no pooled run explains instead: were relevant documents looked "
            "for? Down to the cutoff of each measure.",
        ),
    ] = False,
    simulations: Annotated[int, typer.Option(help="Data sets per model of --sbc.", min=1)] = 200,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for tables, figures and the draws of each model as NetCDF for ArviZ.",
        ),
    ] = None,
    figures: Figures = "png",
) -> None:
    """Check the models on a pool: predict organizations that are held out, calibration, comparison of models.

    Nothing but the pool's own judgments takes part.
    """
    from bayespool import experiments
    from bayespool.experiments.checks import checked_models
    from bayespool.models import MODEL_NAMES
    from bayespool.posterior.preparation import COMBINED
    from bayespool.report import checks as report
    from bayespool.report.folder import check_folder

    instead = {
        "--sbc": (sbc, report.SELF_CALIBRATION),
        "--compare-engines": (compare_engines, report.ENGINES),
        "--found": (found, report.FOUND),
    }
    chosen = {flag: kind for flag, (is_chosen, kind) in instead.items() if is_chosen}
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)} are {len(chosen)} checks; give one of them")
    if new_kind and not sbc:
        raise InputError("--new-kind is of --sbc", hint="add --sbc")
    if output is not None:
        check_folder(output, next(iter(chosen.values()), report.CHECK))
    options["models"] = checked_models(options["models"] or (COMBINED if new_kind else MODEL_NAMES))
    measures, n_folds = options.pop("measures"), options.pop("n_folds")
    if sbc and len(measures) > 1:
        raise InputError("--sbc takes one measure")
    refuse_measures_of_judgments(measures)
    engine = sampling.pop("engine")
    options["priors"] = sampling.pop("priors") or {}
    refuse_priors_of_no_model(options["priors"], options["models"], engine)
    result: Any
    show: Any
    write: Any
    with stage_progress() as say:
        options["report"] = say
        collection = None
        if qrels is not None:
            collection, _ = read_files(qrels, [], pool, say, **reading)
        if sbc:
            show, write = report.print_self_calibration, report.write_self_calibration
            calibrate = experiments.self_calibrate_kinds if new_kind else experiments.self_calibrate
            result = calibrate(
                engine=engine,
                n_simulations=simulations,
                collection=collection,
                measure=measures[0],
                **options,
            )
        elif collection is None:
            raise InputError("--qrels is missing", hint="only --sbc needs no files")
        elif found:
            show, write = report.print_found, report.write_found
            result = experiments.check_found(
                collection,
                measures,
                random_seed=options["random_seed"],
                report=say,
                engine=engine,
                priors=options["priors"],
                **sampling,
            )
        elif compare_engines:
            show, write = report.print_engines, report.write_engines
            result = experiments.compare_engines(collection, measures, n_folds=n_folds, **sampling, **options)
        else:
            show, write = report.print_checks, report.write_checks
            result = experiments.check_models(
                collection,
                measures,
                engine=engine,
                containers=output is not None,
                n_folds=n_folds,
                **sampling,
                **options,
            )
        if output is not None:
            say(f"writing {output}")
    deliver_folder(
        lambda console: show(result, console),
        output,
        lambda folder, kind: write(result, folder, figures=kind),
        figures,
    )
