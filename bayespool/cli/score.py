"""The commands ``score``, ``demo`` and ``report``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from bayespool import experiments, plots, scoring
from bayespool.cli.messages import echo
from bayespool.cli.options import (
    Files,
    audits,
    files_to_score,
    own_judgments,
    second_assessors,
    stage_progress,
)
from bayespool.cli.parameters import files_argument, own_option, settings_option
from bayespool.cli.results import (
    Outputs,
    figure_files,
    is_as_json,
    output_files,
    print_document,
    report_file,
    table_width,
)
from bayespool.options import SamplingSettings, options_of
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
    with stage_progress() as say:
        collection, targets = files.read(say, settings)
        scores = scoring.score(collection, targets, settings=settings, report=say)
    _write(scores, outputs, per_topic=per_topic)


@settings_option(
    ScoreSettings,
    only=("measures", "estimators", "random_seed", *options_of(SamplingSettings)),
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
    from bayespool import read_result
    from bayespool.report.page import check_report

    check_report(output)
    stored = scoring.read_scores(result) if result.suffix == ".nc" else read_result(result)
    stored.write_report(output)
    if is_as_json():
        print_document({"files": [{"file": str(output)}]})
    else:
        echo(f"Wrote {output}.", err=False)
