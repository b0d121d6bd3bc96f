"""The commands ``score`` and ``demo``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayespool.cli.from_settings import OptionValues, from_settings
from bayespool.cli.messages import tell
from bayespool.cli.options import (
    Columns,
    FigureFiles,
    OwnJudgments,
    PaperOutput,
    PerTopic,
    Pool,
    QrelsFile,
    RunFiles,
    Sort,
    Top,
    arrangement_of,
    read_files,
    say_unpooled,
    stage_progress,
)
from bayespool.cli.refusals import refuse_estimators
from bayespool.cli.results import check_outputs, deliver, is_as_json, print_document
from bayespool.errors import InputError
from bayespool.options import ReadingRunsSettings, SamplingSettings
from bayespool.scoring import ScoreSettings
from bayespool.scoring.settings import DemoSettings

if TYPE_CHECKING:
    from bayespool.collection import Collection
    from bayespool.scoring import Scores
    from bayespool.tables.arrangement import Arrangement

Report = Annotated[
    Path | None, typer.Option(help="Also write a report, an .html file with figures and sortable tables.")
]


@from_settings
def score(
    qrels: QrelsFile,
    options: Annotated[OptionValues, ScoreSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    reading: Annotated[OptionValues, ReadingRunsSettings],
    runs: RunFiles = None,
    pool: Pool = None,
    own_judgments: OwnJudgments = None,
    common_topics: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated topics on which the runs are fully judged: adds the topics adjustment."
        ),
    ] = None,
    per_topic: PerTopic = False,
    columns: Columns = None,
    sort: Sort = None,
    top: Top = None,
    output: PaperOutput = None,
    figure: FigureFiles = None,
    report: Report = None,
) -> None:
    """Score runs: values as trec_eval gives them, their bounds, the papers' corrections, and the posterior
    with its interval.

    Without --pool the posterior rests on informative priors alone, and the notes say so.
    """
    from bayespool.report.files import check_paper_output

    check_outputs(output, check_paper_output, figure=figure)
    if report is not None:
        from bayespool.report.writing import check_report

        check_report(report)
    arrangement = arrangement_of(columns, sort, top)
    if not runs and not options["unpool"]:
        raise InputError("no run to score", hint="name run files, or runs of the pool with --unpool")
    options["estimators"] = _estimators(options["estimators"], common_topics)
    refuse_estimators(options["estimators"], sampling)
    _check_arrangement(arrangement, options["estimators"])
    with stage_progress() as say:
        collection, targets = read_files(qrels, runs or [], pool, say, own_judgments=own_judgments, **reading)
        say_unpooled(collection, options)
        scores = _score(collection, targets, say, **options, **sampling)
    _show(scores, output, figure, arrangement, per_topic=per_topic, report=report)


@from_settings
def demo(
    options: Annotated[OptionValues, DemoSettings],
    sampling: Annotated[OptionValues, SamplingSettings],
    per_topic: PerTopic = False,
    columns: Columns = None,
    sort: Sort = None,
    top: Top = None,
    output: PaperOutput = None,
    figure: FigureFiles = None,
    write: Annotated[
        Path | None,
        typer.Option(help="Only write the example's files (runs, qrels, organizations) into this folder."),
    ] = None,
) -> None:
    """Score the two unpooled runs of the embedded example, a simulated collection whose truth is known."""
    from bayespool.experiments import simulate_example
    from bayespool.pooling import describe_pool
    from bayespool.report.files import check_paper_output

    example = simulate_example()
    if write is not None:
        example.write(write)
        message = (
            f"Wrote the example. Try:\n  bayespool score {write}/new --qrels {write}/qrels.txt "
            f"--pool {write}/pool --organizations {write}/organizations.csv --each-its-own "
            "-m P@10 -m nDCG@10"
        )
        print_document({}, notes=[message]) if is_as_json() else tell(message, err=False)
        return
    check_outputs(output, check_paper_output, figure=figure)
    arrangement = arrangement_of(columns, sort, top)
    options["estimators"] = _estimators(options["estimators"], None)
    refuse_estimators(options["estimators"], sampling)
    _check_arrangement(arrangement, options["estimators"])
    with stage_progress() as say:
        tell(f"pool: {describe_pool(example.collection)}")
        scores = _score(
            example.collection,
            example.new_run_ids,
            say,
            **options,
            **sampling,
        )
    truth = {str(m): example.true_values(m, scores.run_ids) for m in scores.measures}
    _show(scores, output, figure, arrangement, per_topic=per_topic, known=truth)


def _score(
    collection: Collection, targets: Sequence[str], say: Callable[[str], None], **options: Any
) -> Scores:
    from bayespool.scoring import score

    return score(collection, targets, report=say, **options)


def _estimators(estimators: list[str], common_topics: str | None) -> list[str]:
    """Names of estimators, with the topics adjustment where common topics are given."""
    from bayespool.scoring import named_estimators

    names = [str(name) for name in named_estimators(estimators)]
    if common_topics is not None:
        topics = tuple(t.strip() for t in common_topics.split(",") if t.strip())
        place = len([n for n in names if not n.startswith("posterior")])
        if "topics-adjustment" in names:
            place = names.index("topics-adjustment")
            del names[place]
        names.insert(place, f"topics-adjustment(common_query_ids={topics!r})")
    return names


def _check_arrangement(arrangement: Arrangement, estimators: list[str]) -> None:
    """Raise for columns that no estimator has, before files are read."""
    from bayespool.scoring import parse_estimator
    from bayespool.scoring.score_tables import check_arrangement

    check_arrangement(arrangement, [parse_estimator(name).name for name in estimators])


def _show(
    scores: Scores,
    output: list[Path] | None,
    figure: list[Path] | None,
    arrangement: Arrangement,
    *,
    per_topic: bool,
    known: Mapping[str, Mapping[str, float]] | None = None,
    report: Path | None = None,
) -> None:
    from bayespool.report import print_scores, write_scores

    def draw() -> Any:
        from bayespool.plots import draw_forest, draw_topics

        return draw_topics(scores) if per_topic else draw_forest(scores, truth=known)

    def write_page() -> None:
        from bayespool.report import write_report

        if report is not None:
            write_report(scores, report)

    deliver(
        lambda console: print_scores(scores, console, per_topic=per_topic, arrangement=arrangement),
        output,
        lambda path: write_scores(scores, path, per_topic=per_topic, arrangement=arrangement),
        more=[] if per_topic else _truth_lines(known or {}),
        figure=figure,
        draw=draw,
        then=write_page,
    )


def _truth_lines(known: Mapping[str, Mapping[str, float]]) -> list[str]:
    lines = []
    for measure, values in known.items():
        scores = ", ".join(f"{run} {value:.4f}" for run, value in values.items())
        lines.append(f"truth of the simulation, {measure} if all were judged: {scores}")
    return lines
