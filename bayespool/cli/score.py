"""The commands ``score`` and ``demo``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayespool.cli.from_settings import Asked, from_settings
from bayespool.cli.messages import tell
from bayespool.cli.options import (
    Output,
    OwnJudgments,
    PerTopic,
    Pool,
    QrelsFile,
    RunFiles,
    read_files,
    say_unpooled,
    stage_progress,
)
from bayespool.cli.refusals import refuse_estimators
from bayespool.cli.results import check_outputs, deliver, is_as_json, print_document
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
) -> None:
    """Score runs: values as trec_eval gives them, their bounds, the papers' corrections, and the posterior
    with its interval.

    Without --pool the posterior rests on informative priors alone, and the notes say so.
    """
    from bayespool.report import check_output

    check_outputs(output, check_output)
    if not runs and not asked["unpool"]:
        raise InputError("no run to score", hint="name run files, or runs of the pool with --unpool")
    asked["estimators"] = _estimators(asked["estimators"], common_topics)
    refuse_estimators(asked["estimators"], sampling)
    with stage_progress() as say:
        collection, targets = read_files(qrels, runs or [], pool, say, own_judgments=own_judgments, **reading)
        say_unpooled(collection, asked)
        scores = _score(collection, targets, say, **asked, **sampling)
    _show(scores, output, per_topic=per_topic)


@from_settings
def demo(
    asked: Annotated[Asked, DemoSettings],
    sampling: Annotated[Asked, SamplingSettings],
    per_topic: PerTopic = False,
    output: Output = None,
    write: Annotated[
        Path | None,
        typer.Option(help="Only write the example's files (runs, qrels, organizations) into this folder."),
    ] = None,
) -> None:
    """Score the two unpooled runs of the embedded example, a simulated collection whose truth is known."""
    from bayespool.pool import describe_pool
    from bayespool.report import check_output
    from bayespool.simulation import simulate_example

    example = simulate_example()
    if write is not None:
        example.write(write)
        said = (
            f"Wrote the example. Try:\n  bayespool score {write}/new --qrels {write}/qrels.txt "
            f"--pool {write}/pool --organizations {write}/organizations.csv --each-its-own "
            "-m P@10 -m nDCG@10"
        )
        print_document({}, notes=[said]) if is_as_json() else tell(said, err=False)
        return
    check_outputs(output, check_output)
    with stage_progress() as say:
        tell(f"pool: {describe_pool(example.collection)}")
        scores = _score(
            example.collection,
            example.new_run_ids,
            say,
            **asked | {"estimators": _estimators(asked["estimators"], None)},
            **sampling,
        )
    _show(scores, output, per_topic=per_topic, more=[] if per_topic else _truth(scores))


def _score(
    collection: Collection, targets: Sequence[str], say: Callable[[str], None], **asked: Any
) -> Scores:
    from bayespool.scoring import score

    return score(collection, targets, report=say, **asked)


def _estimators(given: list[str], common_topics: str | None) -> list[str]:
    """Names of estimators, with the topics adjustment where common topics are given."""
    from bayespool.estimators import named_estimators

    names = [str(name) for name in named_estimators(given)]
    if common_topics is not None:
        topics = tuple(t.strip() for t in common_topics.split(",") if t.strip())
        place = len([n for n in names if not n.startswith("posterior")])
        if "topics-adjustment" in names:
            place = names.index("topics-adjustment")
            del names[place]
        names.insert(place, f"topics-adjustment(common_query_ids={topics!r})")
    return names


def _show(scores: Scores, output: list[Path] | None, *, per_topic: bool, more: Sequence[str] = ()) -> None:
    from bayespool.report import print_scores, write_scores

    deliver(
        lambda console: print_scores(scores, console, per_topic=per_topic),
        output,
        lambda path: write_scores(scores, path, per_topic=per_topic),
        more=more,
    )


def _truth(scores: Scores) -> list[str]:
    from bayespool.simulation import simulate_example

    lines = []
    for measure in scores.measures:
        truth = simulate_example().true_values(measure, scores.run_ids)
        said = ", ".join(f"{run} {value:.4f}" for run, value in truth.items())
        lines.append(f"truth of the simulation, {measure} if all were judged: {said}")
    return lines
