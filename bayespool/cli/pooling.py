"""The commands ``pool`` and ``budgets``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayespool import __version__
from bayespool.cli.from_settings import OptionValues, from_settings
from bayespool.cli.help import WORDS
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
    stage_progress,
)
from bayespool.cli.results import check_outputs, deliver, deliver_folder, print_listed
from bayespool.errors import InputError
from bayespool.experiments import BudgetSettings
from bayespool.experiments.budget_settings import StrategySettings
from bayespool.options import FilesSettings, ReadingSettings, SamplingSettings

if TYPE_CHECKING:
    from bayespool.collection import Collection
    from bayespool.pooling import Strategy


def _list_strategies(context: typer.Context, is_listed: bool) -> None:
    """Print the strategies, and end the command."""
    if not is_listed:
        return
    from rich.console import Console

    from bayespool.report.pooling import print_strategies, strategy_rows

    if "--json" in context.meta[WORDS]:  # parsed after this option
        print_listed("pool", {"strategies": strategy_rows()})
    else:
        print_strategies(Console())
    raise typer.Exit


ListStrategies = Annotated[
    bool,
    typer.Option(
        "--list",
        help="List the strategies with their settings, and do nothing else.",
        is_eager=True,
        callback=_list_strategies,
    ),
]


@from_settings
def pool(
    pool: CampaignRuns,
    options: Annotated[OptionValues, StrategySettings],
    reading: Annotated[OptionValues, FilesSettings],
    qrels: Annotated[
        Path | None,
        typer.Option(help="Judgments that there are already. Adaptive strategies learn from them."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File for the documents to judge: qrels (also .gz), or a table that has the probability of "
            "each in a sample, too (.csv, .json, .parquet).",
        ),
    ] = None,
    list_: ListStrategies = False,
) -> None:
    """Choose the documents to judge: what a pooling strategy makes of runs and a budget.

    All runs under --pool contribute. The file has a line for each document, topic by topic in the order of
    judging; its relevance is that of --qrels, or -1, which says that it is in the pool and not judged yet. A
    table leaves that empty.
    """
    from bayespool.evidence.ideals import n_relevant_documents
    from bayespool.pooling import choose, contributions_of, judged_by, parse_strategy, read_contributors
    from bayespool.pooling.choosing import check_budget
    from bayespool.pooling.registry import strategy_text
    from bayespool.report.pooling import check_list, print_choice, write_choice

    strategy = parse_strategy(options["strategy"])
    check_budget(strategy, options["budget"])
    outputs = [] if output is None else [output]
    check_outputs(outputs, check_list, others=["qrels"])
    if strategy.is_adaptive and qrels is None:
        raise InputError(
            f"strategy {strategy.name!r} learns from each judgment, and there is none",
            hint="give --qrels, or take a strategy that knows its order beforehand",
        )
    with stage_progress() as say:
        collection = read_contributors(
            [str(path) for path in pool],
            qrels,
            progress=lambda done, total: say(f"reading runs: {done} of {total}"),
            **_scores_for([strategy]),
            **reading,
        )
        say("choosing documents")
        chosen = choose(collection, **options | {"strategy": strategy})
    contributions = contributions_of(collection, chosen, depth=options["depth"])
    judged = judged_by(collection, chosen)
    n_judged, n_relevant = int(judged.judged.sum()), n_relevant_documents(judged, options["rel"])
    deliver(
        lambda console: print_choice(
            chosen, contributions, console, n_judged=n_judged, n_relevant=n_relevant
        ),
        outputs,
        lambda path: write_choice(
            collection,
            chosen,
            path,
            relevance=qrels is not None,
            metadata=_metadata(collection, options | {"strategy": strategy_text(strategy)}),
        ),
    )


@from_settings
def budgets(
    qrels: QrelsFile,
    pool: CampaignRuns,
    options: Annotated[OptionValues, BudgetSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingSettings],
    jobs: Jobs = -1,
    cluster: Cluster = None,
    output: Folder = None,
    figures: Figures = "png",
) -> None:
    """How biased pools of different strategies and budgets are against runs that did not contribute: each
    organization left out in turn, as in the figures of Lipani et al. (2017).
    """
    from bayespool.experiments import budgets
    from bayespool.experiments.budgeting import budget_settings
    from bayespool.report.budgets import print_budgets, write_budgets

    check_experiment(jobs, output, "budgets", cluster)
    settings = budget_settings(settings=sampling, **options)  # fails before files are read
    collection = read_campaign(qrels, pool, **_scores_for(settings.strategies), **reading)
    with experiment(output, "budgets", cluster, "pools", n_lines=10) as show:
        result = budgets(collection, folder=output, n_jobs=jobs, progress=show, **options, **sampling)
    deliver_folder(
        lambda console: print_budgets(result, console),
        output,
        lambda folder, kind: write_budgets(result, folder, figures=kind),
        figures,
    )


def _metadata(collection: Collection, options: OptionValues) -> dict[str, Any]:
    """Metadata of a table of documents."""
    return {
        "bayespool": __version__,
        "fingerprint": collection.fingerprint,
        "settings": options,
    }


def _scores_for(strategies: Iterable[Strategy]) -> dict[str, Any]:
    """Argument of reading where a strategy needs the runs' scores, which take memory."""
    return {"scores": True} if any(strategy.needs_scores for strategy in strategies) else {}
