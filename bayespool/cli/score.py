"""The commands ``score`` and ``demo``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayespool.cli.options import (
    Chains,
    CiProb,
    Draws,
    EachItsOwn,
    Engine,
    EstimandOption,
    Estimators,
    Lenient,
    MaxHoles,
    Measures,
    NegativeOption,
    OrderOption,
    Organizations,
    Output,
    OwnJudgments,
    PerTopic,
    Pool,
    PoolDepth,
    PooledRuns,
    Priors,
    QrelsFile,
    RunIdFrom,
    Seed,
    Threshold,
    Tune,
    chosen_estimators,
    parse_priors,
    split_list,
    stage_progress,
    with_threshold,
)

if TYPE_CHECKING:
    from bayespool.scoring import Scores

__all__ = ["demo", "score"]


def score(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run files to score, in TREC format (also .gz, .xz, .zst); folders and globs too."
        ),
    ],
    qrels: QrelsFile,
    pool: Pool = None,
    organizations: Organizations = None,
    each_its_own: EachItsOwn = False,
    own_judgments: OwnJudgments = None,
    measure: Measures = ["P@10"],  # noqa: B006 - typer copies it
    relevance_threshold: Threshold = None,
    estimators: Estimators = None,
    prior: Priors = None,
    engine: Engine = "laplace",
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Chains = 4,
    seed: Seed = 1,
    ci_prob: CiProb = 0.95,
    estimand: EstimandOption = "complete",
    order: OrderOption = "score",
    run_id: RunIdFrom = "file",
    negative: NegativeOption = "listed",
    pool_depth: PoolDepth = None,
    max_holes: MaxHoles = None,
    pooled_runs: PooledRuns = None,
    common_topics: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated topics on which the runs are fully judged: adds the topics adjustment."
        ),
    ] = None,
    per_topic: PerTopic = False,
    output: Output = None,
    lenient: Lenient = False,
) -> None:
    """Score runs: P@n as trec_eval gives it, its bounds, the papers' corrections, and the posterior with its
    interval.

    Without --pool the posterior rests on informative priors alone, and the notes say so.
    """
    from bayespool.loading import read_collection
    from bayespool.report import check_output

    for path in output or []:
        check_output(path)
    measures = [with_threshold(m, relevance_threshold) for m in measure]
    chosen = chosen_estimators(estimators, common_topics)
    with stage_progress() as say:
        collection = read_collection(
            qrels,
            [str(r) for r in runs],
            pool=None if pool is None else [str(p) for p in pool],
            organizations=organizations,
            each_its_own=each_its_own,
            own_judgments=own_judgments,
            order=order,
            run_id=run_id,
            negative=negative,
            pool_depth=pool_depth,
            max_holes=max_holes,
            pooled_run_ids=None if pooled_runs is None else split_list(pooled_runs),
            strict=not lenient,
            progress=lambda done, total: say(f"reading runs: {done} of {total}"),
        )
        scores = _score(
            collection,
            collection.given_run_ids,
            measures,
            chosen,
            say,
            ci_prob=ci_prob,
            estimand=estimand,
            priors=parse_priors(prior),
            engine=engine,
            draws=draws,
            tune=tune,
            chains=chains,
            random_seed=seed,
        )
    _show(scores, output, per_topic=per_topic)


def demo(
    measure: Measures = ["P@5", "P@10"],  # noqa: B006 - typer copies it
    estimators: Estimators = None,
    engine: Engine = "laplace",
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Chains = 4,
    seed: Seed = 1,
    per_topic: PerTopic = False,
    output: Output = None,
    write: Annotated[
        Path | None,
        typer.Option(help="Only write the example's files (runs, qrels, organizations) into this folder."),
    ] = None,
) -> None:
    """Score the two unpooled runs of the embedded example, a simulated collection whose truth is known."""
    from bayespool.report import check_output
    from bayespool.simulation import simulate_example

    example = simulate_example()
    if write is not None:
        example.write(write)
        typer.echo(
            f"Wrote the example. Try:\n  bayespool score {write}/new --qrels {write}/qrels.txt "
            f"--pool {write}/pool --organizations {write}/organizations.csv --each-its-own -m P@10"
        )
        return
    for path in output or []:
        check_output(path)
    with stage_progress() as say:
        scores = _score(
            example.collection,
            list(example.new_run_ids),
            measure,
            chosen_estimators(estimators, None),
            say,
            engine=engine,
            draws=draws,
            tune=tune,
            chains=chains,
            random_seed=seed,
        )
    _show(scores, output, per_topic=per_topic)
    if not per_topic:
        _show_truth(scores)


def _score(
    collection: Any,
    targets: Sequence[str],
    measures: list[str],
    estimators: list[str] | None,
    say: Callable[[str], None],
    **settings: Any,
) -> Scores:
    from bayespool.pool import describe_pool
    from bayespool.scoring import DEFAULT_ESTIMATORS, score

    typer.echo(f"pool: {describe_pool(collection).text()}", err=True)
    return score(
        collection,
        targets,
        measures,
        estimators=DEFAULT_ESTIMATORS if estimators is None else estimators,
        report=say,
        **settings,
    )


def _show(scores: Scores, output: list[Path] | None, *, per_topic: bool) -> None:
    from rich.console import Console

    from bayespool.report import print_scores, write_scores

    print_scores(scores, Console(), per_topic=per_topic)
    for path in output or []:
        write_scores(scores, path, per_topic=per_topic)


def _show_truth(scores: Scores) -> None:
    from bayespool.simulation import simulate_example

    for measure in scores.measures:
        truth = simulate_example().true_values(measure, scores.run_ids)
        said = ", ".join(f"{run} {value:.4f}" for run, value in truth.items())
        typer.echo(f"truth of the simulation, {measure} if all were judged: {said}")
