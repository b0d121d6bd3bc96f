"""The commands ``score`` and ``demo``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayespool.cli.from_settings import Asked, from_settings
from bayespool.cli.messages import tell
from bayespool.cli.options import (
    FigureFiles,
    Output,
    OwnJudgments,
    PerTopic,
    Pool,
    QrelsFile,
    RunFiles,
    read_files,
    say_unpooled,
    shown_at_last,
    stage_progress,
)
from bayespool.errors import InputError
from bayespool.options import ReadingRunsSettings, SamplingSettings
from bayespool.settings import DemoSettings, ScoreSettings

if TYPE_CHECKING:
    from bayespool.collection import Collection
    from bayespool.scoring import Scores

__all__ = ["demo", "score"]


@from_settings
def score(
    qrels: QrelsFile,
    asked: Annotated[Asked, ScoreSettings],
    sampling: Annotated[Asked, SamplingSettings],
    reading: Annotated[Asked, ReadingRunsSettings],
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
    output: Output = None,
    figure: FigureFiles = None,
) -> None:
    """Score runs: values as trec_eval gives them, their bounds, the papers' corrections, and the posterior
    with its interval.

    Without --pool the posterior rests on informative priors alone, and the notes say so.
    """
    _check_files(output, figure)
    if not runs and not asked["unpool"]:
        raise InputError("no run to score", hint="name run files, or runs of the pool with --unpool")
    asked["estimators"] = _estimators(asked["estimators"], common_topics)
    with stage_progress() as say:
        collection, targets = read_files(qrels, runs or [], pool, say, own_judgments=own_judgments, **reading)
        say_unpooled(collection, asked)
        scores = _score(collection, targets, say, **asked, **sampling)
    _show(scores, output, figure, per_topic=per_topic)


@from_settings
def demo(
    asked: Annotated[Asked, DemoSettings],
    sampling: Annotated[Asked, SamplingSettings],
    per_topic: PerTopic = False,
    output: Output = None,
    figure: FigureFiles = None,
    write: Annotated[
        Path | None,
        typer.Option(help="Only write the example's files (runs, qrels, organizations) into this folder."),
    ] = None,
) -> None:
    """Score the two unpooled runs of the embedded example, a simulated collection whose truth is known."""
    from bayespool.pool import describe_pool
    from bayespool.simulation import simulate_example

    example = simulate_example()
    if write is not None:
        example.write(write)
        tell(
            f"Wrote the example. Try:\n  bayespool score {write}/new --qrels {write}/qrels.txt "
            f"--pool {write}/pool --organizations {write}/organizations.csv --each-its-own "
            "-m P@10 -m nDCG@10",
            err=False,
        )
        return
    _check_files(output, figure)
    with stage_progress() as say:
        tell(f"pool: {describe_pool(example.collection)}")
        scores = _score(
            example.collection,
            example.new_run_ids,
            say,
            **asked | {"estimators": _estimators(asked["estimators"], None)},
            **sampling,
        )
    truth = {str(m): example.true_values(m, scores.run_ids) for m in scores.measures}
    _show(scores, output, figure, per_topic=per_topic, known=truth)
    if not per_topic:
        _show_truth(truth)


def _score(
    collection: Collection, targets: Sequence[str], say: Callable[[str], None], **asked: Any
) -> Scores:
    from bayespool.scoring import score

    return score(collection, targets, report=say, **asked)


def _estimators(given: list[str], common_topics: str | None) -> list[str]:
    """Names of estimators, with the topics adjustment where common topics are given; all are known."""
    from bayespool.estimators import named_estimators, parse_estimator

    names = [str(name) for name in named_estimators(given)]
    if common_topics is not None:
        topics = tuple(t.strip() for t in common_topics.split(",") if t.strip())
        place = len([n for n in names if not n.startswith("posterior")])
        if "topics-adjustment" in names:
            place = names.index("topics-adjustment")
            del names[place]
        names.insert(place, f"topics-adjustment(common_query_ids={topics!r})")
    for name in names:
        parse_estimator(name)
    return names


def _check_files(output: list[Path] | None, figure: list[Path] | None) -> None:
    """Raise for files that could not be written, before any work is done."""
    from bayespool.report import check_output
    from bayespool.report.figures import check_figure

    for path in output or []:
        check_output(path)
    for path in figure or []:
        check_figure(path)


def _show(
    scores: Scores,
    output: list[Path] | None,
    figure: list[Path] | None,
    *,
    per_topic: bool,
    known: Mapping[str, Mapping[str, float]] | None = None,
) -> None:
    from rich.console import Console

    from bayespool.report import print_scores, write_scores
    from bayespool.report.figures import write_figures

    def draw() -> Any:
        from bayespool.plots import draw_forest, draw_topics

        return draw_topics(scores) if per_topic else draw_forest(scores, truth=known)

    with shown_at_last(lambda: print_scores(scores, Console(), per_topic=per_topic)):
        for path in output or []:
            write_scores(scores, path, per_topic=per_topic)
        write_figures(figure or [], draw)


def _show_truth(known: Mapping[str, Mapping[str, float]]) -> None:
    for measure, values in known.items():
        said = ", ".join(f"{run} {value:.4f}" for run, value in values.items())
        tell(f"truth of the simulation, {measure} if all were judged: {said}", err=False)
