"""The command ``pool``."""

from __future__ import annotations

from pathlib import Path

import click

from bayespool import scoring
from bayespool.cli.options import campaign_runs, reading_progress, stage_progress
from bayespool.cli.parameters import input_paths, own_option, settings_option, store_in_context
from bayespool.cli.results import Outputs, is_as_json, output_files, print_document
from bayespool.errors import InputError
from bayespool.experiments.settings import StrategySettings
from bayespool.options import FilesSettings


def _list_strategies(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the strategies, and end the command."""
    if not wanted:
        return
    from rich.console import Console

    from bayespool.pooling import STRATEGIES
    from bayespool.report.terminal import print_text_table
    from bayespool.tables import TextTable

    entries = STRATEGIES.values()
    if is_as_json():
        names = ("name", "settings", "needs", "description")
        rows = [{name: getattr(entry, name) for name in names} for entry in entries]
        print_document({"strategies": rows}, settings={"list": True})
    else:
        header = ("name", "settings", "needs", "documents judged first")
        settings = [", ".join(f"{name}={default!r}" for name, default in e.settings.items()) for e in entries]
        cells = tuple(
            (e.name, s, ", ".join(e.needs), e.description) for e, s in zip(entries, settings, strict=True)
        )
        print_text_table(Console(), TextTable("", header, cells, n_names=4))
    context.exit()


@campaign_runs
@settings_option(FilesSettings, "reading")
@settings_option(StrategySettings, unless="describe")
@input_paths(
    "--qrels",
    help="Judgments that there are already, from which adaptive strategies learn; may be repeated.",
)
@output_files(
    multiple=False,
    help="File for the documents to judge: qrels (also .gz), or a table that has the probability of each "
    "in a sample, too (.csv, .json, .parquet, .tex, .md, .html).",
)
@own_option(
    "--list",
    type=bool,
    expose_value=False,
    callback=_list_strategies,
    help="List the strategies with their settings, and do nothing else.",
)
@own_option(
    "--describe",
    type=bool,
    is_eager=True,  # a strategy is not needed then
    expose_value=False,
    callback=store_in_context,
    help="Choose nothing, and say which pool --qrels are the judgments of: depths and shares of holes that "
    "may have been, what each explains, and what estimates would rest on.",
)
def pool(
    *,
    settings: StrategySettings | None,
    reading: FilesSettings,
    pool: tuple[Path, ...],
    qrels: tuple[Path, ...],
    outputs: Outputs,
) -> None:
    """Choose the documents to judge: what a pooling strategy makes of runs and a budget.

    All runs under --pool contribute. The file has a line for each document, topic by topic in the order of
    judging; its relevance is that of --qrels, or -1, which says that it is in the pool and not judged yet. A
    table leaves that empty.
    """
    from bayespool.pooling import choose, read_contributors
    from bayespool.pooling.choosing import check_budget

    if settings is None:
        _describe(reading, pool, qrels, outputs)
        return
    strategy = settings.strategy
    check_budget(strategy, settings.budget, settings.stop)
    outputs.check(scoring.DocumentsToJudge.formats)
    if strategy.is_adaptive and not qrels:
        raise InputError(
            f"strategy {strategy.name!r} learns from each judgment, and there is none",
            hint="give --qrels, or take a strategy that knows its order beforehand",
        )
    if settings.stop is not None and not qrels:
        raise InputError(
            f"stopping rule {settings.stop.name!r} looks at judgments, and there is none", hint="give --qrels"
        )
    with stage_progress() as say:
        collection = read_contributors(
            [str(path) for path in pool],
            list(qrels) or None,
            progress=reading_progress(say),
            scores=strategy.needs_scores,
            **reading.keywords(),
        )
        say("choosing documents")
        chosen = choose(collection, **settings.keywords())
    outputs.write(scoring.DocumentsToJudge(collection, chosen, settings.describe()))


def _describe(
    reading: FilesSettings, pool: tuple[Path, ...], qrels: tuple[Path, ...], outputs: Outputs
) -> None:
    """Print the pool of runs and judgments beside others that may have been."""
    from bayespool.pooling import read_collection

    if not qrels:
        raise InputError("no judgments, of which --describe says the pool", hint="give --qrels")
    outputs.check()
    with stage_progress() as say:
        collection = read_collection(
            list(qrels), pool=list(map(str, pool)), progress=reading_progress(say), **reading.keywords()
        )
        say("comparing pools")
        described = scoring.CandidatePools(collection)
        described.tables()
    outputs.write(described)
