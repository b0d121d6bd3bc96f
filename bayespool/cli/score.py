"""The commands ``score``, ``demo``, ``report``, ``compare``, ``plan`` and ``reversals``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bayespool import comparisons, experiments, plots, scoring
from bayespool.cli.messages import echo
from bayespool.cli.options import (
    Files,
    audits,
    campaign_files,
    files_to_score,
    own_judgments,
    qrels_if_any,
    second_assessors,
    stage_progress,
)
from bayespool.cli.parameters import Command, files_argument, own_option, settings_option
from bayespool.cli.results import (
    Outputs,
    figure_files,
    is_as_json,
    output_files,
    print_document,
    report_file,
    table_width,
)
from bayespool.comparisons.settings import ComparingSettings, PlanSettings, ReversalSettings
from bayespool.errors import InputError
from bayespool.names import split_list
from bayespool.scoring.settings import ScoreSettings

_per_topic = own_option("--per-topic", type=bool, help="One row per run and topic.")
_TABLE = (
    own_option(
        "--columns",
        help="Comma-separated columns of tables that are read (terminal, .tex, .md, .html): all, lower, "
        "as-judged, upper, residual, unjudged, estimates, mean, interval, distance, new-kind, or estimators.",
    ),
    own_option("--sort", help="Sort their rows by run, or by a column, the largest first."),
    own_option("--top", type=int, least=1, help="Show the first rows alone; without --sort the best."),
    table_width,
)


@files_to_score(own=(own_judgments, audits, second_assessors))
@settings_option(ScoreSettings)
@_per_topic
@output_files(*_TABLE, after=(figure_files, report_file))
def score(*, settings: ScoreSettings, files: Files, per_topic: bool, outputs: Outputs) -> None:
    """Score runs: values as trec_eval gives them, their bounds, the papers' corrections, and the posterior
    with its interval.

    Without --pool the posterior rests on informative priors alone, and the notes say so.
    """
    _check(outputs, settings)
    files.check_runs(settings, "score")
    files.check_assessors(settings)
    _write(files.compute(scoring.score, settings), outputs, per_topic=per_topic)


@settings_option(
    ScoreSettings,
    only=("measures", "estimators", "random_seed", "posterior"),
    measures=("P@10", "nDCG@10"),
)
@_per_topic
@output_files(*_TABLE, after=(figure_files,))
@own_option(
    "--write", type=Path, help="Only write the example's files (runs, qrels, organizations) into this folder."
)
def demo(*, settings: ScoreSettings, per_topic: bool, outputs: Outputs, write: Path | None) -> None:
    """Score the two unpooled runs of the embedded example, a simulated collection whose truth is known."""
    from bayespool.pooling import describe_pool

    example = experiments.simulate_example()
    if write is not None:
        example.write(write)
        message = (
            f"Wrote the example. Try:\n  bayespool score {write}/new --qrels {write}/qrels.txt "
            f"--pool {write}/pool --organizations {write}/organizations.csv --each-its-own "
            "-m P@10 -m nDCG@10"
        )
        print_document({}, notes=[message]) if is_as_json() else echo(message, err=False)
        return
    _check(outputs, settings)
    with stage_progress() as say:
        echo(f"pool: {describe_pool(example.collection)}")
        scores = scoring.score(example.collection, example.new_run_ids, settings=settings, report=say)
    truth = {str(m): dict(example.true_values(m, scores.run_ids)) for m in scores.measures}
    scores = replace(scores, metadata={**scores.metadata, "truth": truth})
    _write(scores, outputs, per_topic=per_topic)


def _check(outputs: Outputs, settings: ScoreSettings) -> None:
    """Raise for outputs that cannot be written, and columns that no estimator has, before files are read."""
    from bayespool.scoring.score_tables import check_arrangement

    outputs.check()
    check_arrangement(outputs.arrangement, [estimator.name for estimator in settings.estimators])


def _write(scores: scoring.Scores, outputs: Outputs, *, per_topic: bool) -> None:
    def draw() -> Any:
        if per_topic:
            return plots.draw_topics(scores)
        return plots.draw_forest(scores, truth=scores.metadata.get("truth"))

    outputs.write(scores.per_topic() if per_topic else scores, draw=draw)


@files_argument(
    "result",
    nargs=1,
    help="What a command wrote with --output: a .json, .parquet or .nc file, or a folder of results.",
)
@own_option("--output", "-o", type=Path, default=Path("report.html"), help="The .html file to write.")
def report(*, result: Path, output: Path) -> None:
    """Write a report of a result: one HTML file with figures, tables that sort and filter, and all that is
    needed to quote the result. It loads nothing from anywhere.
    """
    from bayespool.comparisons import comparing, outcomes  # noqa: F401  # classes of stored results
    from bayespool.report import read_result
    from bayespool.report.page import check_report
    from bayespool.scoring import scores  # noqa: F401  # likewise

    check_report(output)
    stored = scoring.read_scores(result) if result.suffix == ".nc" else read_result(result)
    stored.write_report(output)
    if is_as_json():
        print_document({"files": [{"file": str(output)}]})
    else:
        echo(f"Wrote {output}.", err=False)


def _table(listed: str, former: Mapping[str, str] = MappingProxyType({})) -> Callable[[Command], Command]:
    """Option for the table that a file of one table has, of those listed; the first by default. A former name
    is refused with the table that has its columns.
    """
    names = listed.split()

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
        "differences runs across_measures system_scores system_variance significance reliability",
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
    comparison = files.compute(comparisons.compare, settings)
    outputs.write(replace(comparison, arrangement=outputs.arrangement))


@files_to_score(
    runs="Two or more run files whose differences stand for those to come; folders and globs. Those of "
    "--unpool count.",
    own=(),
    qrels=qrels_if_any,
)
@settings_option(PlanSettings)
@output_files(_table("scenarios mixes"), after=(report_file,))
def plan(*, settings: PlanSettings, files: Files, outputs: Outputs) -> None:
    """Plan before judging: the smallest difference of two runs that these topics and judgments detect,
    what more of them would change, and the cheapest mix for a difference.

    Without a collection, --topics-at-hand and --sd say what is expected.
    """
    outputs.check()
    if settings.topics_at_hand is not None:
        if files.are_named:
            raise InputError("files beside --topics-at-hand", hint="give a collection, or what is expected")
        outputs.write(comparisons.plan_comparison(settings=settings))
        return
    if not files.qrels:
        raise InputError("no collection", hint="give --qrels and runs, or --topics-at-hand 50 --sd 0.25")
    if not settings.unpool and files.n_runs() < 2:
        raise InputError("one run has no difference to plan for", hint="name two or more")
    outputs.write(files.compute(comparisons.plan_comparison, settings))


@campaign_files
@settings_option(ReversalSettings)
@own_option("--exclude-runs", group="Input", help="Comma-separated ids of runs to leave aside.")
@output_files(_table("rates trends p_values risks calibration grades"), after=(figure_files,))
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
        result = comparisons.count_reversals(collection, runs, settings=settings, report=say)
    outputs.write(result)
