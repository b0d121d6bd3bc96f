"""The commands ``compare``, ``plan`` and ``reversals``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from bayespool import comparisons
from bayespool.cli.options import (
    Files,
    campaign_files,
    files_to_score,
    qrels_if_any,
    second_assessors,
    stage_progress,
)
from bayespool.cli.parameters import Command, own_option, settings_option
from bayespool.cli.results import Outputs, figure_files, output_files, report_file, table_width
from bayespool.comparisons.settings import ComparingSettings, PlanSettings, ReversalSettings
from bayespool.errors import InputError
from bayespool.names import split_list


def _table(*names: str, former: Mapping[str, str] = MappingProxyType({})) -> Callable[[Command], Command]:
    """Option for the table that a file of one table has; the first by default. A former name is refused with
    the table that has its columns.
    """

    def current_name(context: Any, parameter: Any, name: str) -> str:
        if name in former:
            raise InputError(f"no table {name!r} any more", hint=f"--table {former[name]} has its columns")
        return name

    return own_option(
        "--table",
        type=(*names, *former),
        callback=current_name,
        default=names[0],
        metavar="<table>",  # all names are more than a line
        help=f"Table for a .csv or .parquet file: {', '.join(names)}; .json has all of them.",
    )


@files_to_score(
    runs="Two or more run files, in TREC format (also .gz, .xz, .zst); folders and globs. Those of --unpool "
    "count.",
    own=(second_assessors,),
)
@settings_option(ComparingSettings)
@output_files(
    _table(
        *("differences", "runs", "across_measures", "system_scores", "system_variance"),
        *("significance", "reliability"),
        former={"pairs": "differences", "leaderboard": "runs", "ranks": "runs"},
    ),
    own_option(
        "--columns",
        help="Comma-separated columns of the pairs in .tex, .md and .html files: as-judged, p, difference, "
        "interval, chance or risk.",
    ),
    own_option(
        "--sort",
        type=("difference", "chance", "p", "risk"),
        help="Sort pairs: by difference or risk the largest first, by chance the surest, by p the least.",
    ),
    own_option("--top", type=int, least=1, help="Show the first pairs alone; without --sort by difference."),
    table_width,
    after=(figure_files, report_file),
)
def compare(*, settings: ComparingSettings, files: Files, outputs: Outputs) -> None:
    """Compare runs: differences with intervals, chances and ranks, significance tests, and the chance that
    judging the unjudged documents takes a significant difference back.
    """
    from bayespool.comparisons.tables import PAIR_COLUMNS, PAIR_KEYS

    outputs.check()
    outputs.arrangement.check(PAIR_COLUMNS, PAIR_KEYS)
    files.check_assessors(settings)
    if not settings.unpool and files.n_runs() < 2:
        raise InputError("one run cannot be compared", hint="name two or more")
    with stage_progress() as say:
        collection, targets = files.read(say, settings)
        comparison = comparisons.compare(collection, targets, settings=settings, report=say)
    outputs.write(dataclasses.replace(comparison, arrangement=outputs.arrangement))


@files_to_score(
    runs="Two or more run files whose differences stand for those to come; folders and globs. Those of "
    "--unpool count.",
    own=(),
    qrels=qrels_if_any,
)
@settings_option(PlanSettings)
@output_files(_table("scenarios", "mixes"), after=(report_file,))
def plan(*, settings: PlanSettings, files: Files, outputs: Outputs) -> None:
    """Plan before judging: the smallest difference of two runs that these topics and judgments detect,
    what more of them would change, and the cheapest mix for a difference.

    Without a collection, --topics-at-hand and --sd say what is expected.
    """
    outputs.check()
    if settings.topics_at_hand is not None:
        if files.are_named:
            raise InputError("files beside --topics-at-hand", hint="give a collection, or what is expected")
        outputs.write(comparisons.plan(settings=settings))
        return
    if not files.qrels:
        raise InputError("no collection", hint="give --qrels and runs, or --topics-at-hand 50 --sd 0.25")
    if not settings.unpool and files.n_runs() < 2:
        raise InputError("one run has no difference to plan for", hint="name two or more")
    with stage_progress() as say:
        collection, targets = files.read(say, settings)
        planned = comparisons.plan(collection, targets, settings=settings, report=say)
    outputs.write(planned)


@campaign_files
@settings_option(ReversalSettings)
@own_option("--exclude-runs", group="Input", help="Comma-separated ids of runs to leave aside.")
@output_files(_table("rates", "trends", "p_values", "risks", "calibration", "grades"), after=(figure_files,))
def reversals(
    *, settings: ReversalSettings, files: Files, exclude_runs: str | None, outputs: Outputs
) -> None:
    """Count the significant differences under few judgments that all judgments take back, by method, among
    runs that contributed to the pool and among those that did not.
    """
    outputs.check()
    with stage_progress() as say:
        collection, _ = files.read(say)
        aside = split_list(exclude_runs or "")
        collection.run_index(aside)
        runs = [run for run in collection.run_ids if run not in aside]
        result = comparisons.reversals(collection, runs, settings=settings, report=say)
    outputs.write(result)
