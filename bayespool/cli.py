"""The command line: a thin face over the library."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayespool import __version__
from bayespool.errors import BayespoolError, BayespoolWarning, InputError

if TYPE_CHECKING:
    from bayespool.scoring import Scores

__all__ = ["app", "demo", "main", "score"]

app = typer.Typer(
    help="Posterior intervals for the corrected P@n of runs on incompletely judged test collections.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


_Measures = Annotated[
    list[str], typer.Option("--measure", "-m", help="P@10, P(rel=2)@10, …; may be repeated.")
]
_Estimators = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated names with settings in parentheses: background(e=0.05),posterior-smoothed."
    ),
]
_Priors = Annotated[
    list[str] | None,
    typer.Option(
        "--prior", help="Replace a prior: mu=Normal(-2,1); the model pages name them; may be repeated."
    ),
]
_Engine = Annotated[
    Literal["laplace", "nuts"], typer.Option(help="Fast approximation, or the reference sampler.")
]
_Draws = Annotated[
    int, typer.Option(help="Posterior draws per chain; laplace draws that many times the chains.", min=1)
]
_Tune = Annotated[int, typer.Option(help="Tuning draws per chain.", min=1)]
_Chains = Annotated[int, typer.Option(help="Chains.", min=1)]
_Seed = Annotated[int, typer.Option(help="Random seed; the same inputs and seed give the same bytes.", min=0)]
_CiProb = Annotated[float, typer.Option(help="Probability of the intervals.")]
_PerTopic = Annotated[bool, typer.Option("--per-topic", help="One row per run and topic.")]
_Output = Annotated[
    list[Path] | None,
    typer.Option(
        "--output", "-o", help="Also write the table to a .csv, .json or .parquet file; may be repeated."
    ),
]


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"bayespool {__version__}")
        raise typer.Exit


@app.command()
def score(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run files to score, in TREC format (also .gz, .xz, .zst); folders and globs too."
        ),
    ],
    qrels: Annotated[Path, typer.Option(help="Relevance judgments.")],
    pool: Annotated[
        list[Path] | None, typer.Option(help="Runs of the campaign: folder, glob or file; may be repeated.")
    ] = None,
    organizations: Annotated[
        Path | None, typer.Option(help="Who submitted which run: CSV with run_id,organization, or XML.")
    ] = None,
    measure: _Measures = ["P@10"],  # noqa: B006 - typer copies it
    relevance_threshold: Annotated[
        int | None,
        typer.Option(
            help="Smallest relevance that counts, for measures that do not say rel= themselves.", min=1
        ),
    ] = None,
    estimators: _Estimators = None,
    prior: _Priors = None,
    engine: _Engine = "laplace",
    draws: _Draws = 1000,
    tune: _Tune = 1000,
    chains: _Chains = 4,
    seed: _Seed = 1,
    ci_prob: _CiProb = 0.95,
    estimand: Annotated[
        Literal["complete", "pooled"],
        typer.Option(help="Impute all unjudged documents in the top n, or only those within the pool depth."),
    ] = "complete",
    order: Annotated[
        Literal["score", "rank"], typer.Option(help="trec_eval's order by score, or the ranks of the files.")
    ] = "score",
    run_id: Annotated[
        Literal["file", "tag"], typer.Option(help="Name runs by their files or by their tags.")
    ] = "file",
    pool_depth: Annotated[
        int | None, typer.Option(help="Pool depth, if known; else discovered.", min=1)
    ] = None,
    max_holes: Annotated[
        int | None,
        typer.Option(
            help="Unjudged documents per topic that a pooled run may have; default: pool depth // 20.", min=0
        ),
    ] = None,
    pooled_runs: Annotated[
        str | None, typer.Option(help="Comma-separated ids of the pooled runs, if known; else discovered.")
    ] = None,
    common_topics: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated topics on which the runs are fully judged: adds the topics adjustment."
        ),
    ] = None,
    per_topic: _PerTopic = False,
    output: _Output = None,
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient", help="Skip lines that cannot be used, and report them, instead of stopping."
        ),
    ] = False,
) -> None:
    """Score runs: P@n as trec_eval gives it, its bounds, the papers' corrections, and the posterior with its
    interval.

    Without --pool the posterior rests on informative priors alone, and the notes say so.
    """
    from bayespool.loading import read_collection
    from bayespool.report import check_output

    for path in output or []:
        check_output(path)
    measures = [_with_threshold(m, relevance_threshold) for m in measure]
    chosen = _estimators(estimators, common_topics)
    with _progress() as say:
        collection = read_collection(
            qrels,
            [str(r) for r in runs],
            pool=None if pool is None else [str(p) for p in pool],
            organizations=organizations,
            order=order,
            run_id=run_id,
            pool_depth=pool_depth,
            max_holes=max_holes,
            pooled_run_ids=None if pooled_runs is None else _split(pooled_runs),
            strict=not lenient,
            progress=lambda done, total: say(f"reading runs: {done} of {total}"),
        )
        scores = _score(
            collection,
            collection.run_ids[: _n_files(runs)],
            measures,
            chosen,
            say,
            ci_prob=ci_prob,
            estimand=estimand,
            priors=_priors(prior),
            engine=engine,
            draws=draws,
            tune=tune,
            chains=chains,
            random_seed=seed,
        )
    _show(scores, output, per_topic=per_topic)


@app.command()
def demo(
    measure: _Measures = ["P@5", "P@10"],  # noqa: B006 - typer copies it
    estimators: _Estimators = None,
    engine: _Engine = "laplace",
    draws: _Draws = 1000,
    tune: _Tune = 1000,
    chains: _Chains = 4,
    seed: _Seed = 1,
    per_topic: _PerTopic = False,
    output: _Output = None,
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
            f"--pool {write}/pool --organizations {write}/organizations.csv -m P@10"
        )
        return
    for path in output or []:
        check_output(path)
    with _progress() as say:
        scores = _score(
            example.collection,
            list(example.new_run_ids),
            measure,
            _estimators(estimators, None),
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


def main() -> None:
    """Run the command line: errors of the user's become a line and status 1, Ctrl-C status 130."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", BayespoolWarning)
    try:
        app()
    except BayespoolError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing was written", err=True)
        sys.exit(130)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"warning: {message}", err=True)


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

    typer.echo(f"pool: {describe_pool(collection)}", err=True)
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
    from bayespool.counts import judgment_counts
    from bayespool.simulation import simulate_example

    complete = simulate_example().complete()
    for measure in scores.measures:
        truth = (
            judgment_counts(complete, scores.run_ids, cutoffs=measure.cutoff, rel=measure.rel)
            .lower[:, :, 0]
            .mean(axis=1)
        )
        said = ", ".join(f"{run} {value:.4f}" for run, value in zip(scores.run_ids, truth, strict=True))
        typer.echo(f"truth of the simulation, {measure} if all were judged: {said}")


def _n_files(runs: list[Path]) -> int:
    from bayespool.trec import find_files

    return len({path.parent.resolve() / path.name for path in find_files([str(r) for r in runs])})


def _with_threshold(measure: str, threshold: int | None) -> str:
    from bayespool.measures import Precision, parse_measure

    parsed = parse_measure(measure)
    return str(
        Precision(parsed.cutoff, threshold) if threshold is not None and "rel=" not in measure else parsed
    )


def _estimators(text: str | None, common_topics: str | None) -> list[str] | None:
    from bayespool.scoring import DEFAULT_ESTIMATORS, parse_estimator

    names = list(DEFAULT_ESTIMATORS) if text is None else _split(text)
    if common_topics is not None:
        topics = tuple(t.strip() for t in common_topics.split(",") if t.strip())
        names.insert(
            len([n for n in names if not n.startswith("posterior")]),
            f"topics-adjustment(common_query_ids={topics!r})",
        )
    for name in names:
        parse_estimator(name)
    return names


def _split(text: str) -> list[str]:
    """Split at commas outside parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _priors(given: list[str] | None) -> dict[str, str]:
    priors = {}
    for text in given or []:
        name, found, distribution = text.partition("=")
        if not found:
            raise InputError(
                f"prior {text!r} is not of the form name=Distribution(…)", hint="for example mu=Normal(-2,1)"
            )
        priors[name.strip()] = distribution.strip()
    return priors


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A spinner with the stage at hand on a terminal; one line per stage elsewhere."""
    if not sys.stderr.isatty():
        stages: list[str] = []

        def say_line(stage: str) -> None:
            if not (stages and stage.startswith("reading") and stages[-1].startswith("reading")):
                typer.echo(stage, err=True)
            stages.append(stage)

        yield say_line
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("starting")

        def say(stage: str) -> None:
            bar.update(task, description=stage)

        yield say
