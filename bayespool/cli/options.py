"""Options that several commands share, and what becomes of their texts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayespool.errors import InputError, WorkerError

if TYPE_CHECKING:
    from bayespool.collection import Collection

__all__ = [
    "CampaignRuns",
    "Chains",
    "CiProb",
    "Draws",
    "EachItsOwn",
    "Engine",
    "EstimandOption",
    "Estimators",
    "Figures",
    "Jobs",
    "KnownDepth",
    "Lenient",
    "MaxHoles",
    "Measures",
    "NegativeOption",
    "OrderOption",
    "Organizations",
    "Output",
    "OwnJudgments",
    "PerTopic",
    "Pool",
    "PoolDepth",
    "PooledRuns",
    "Priors",
    "QrelsFile",
    "RunIdFrom",
    "Seed",
    "Threshold",
    "Tune",
    "check_experiment",
    "chosen_estimators",
    "count_progress",
    "is_interruption",
    "parse_priors",
    "read_campaign",
    "split_list",
    "stage_progress",
    "told_when_interrupted",
    "with_threshold",
]


Measures = Annotated[
    list[str], typer.Option("--measure", "-m", help="P@10, P(rel=2)@10, …; may be repeated.")
]
Estimators = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated names with settings in parentheses: background(e=0.05),posterior-smoothed."
    ),
]
Priors = Annotated[
    list[str] | None,
    typer.Option(
        "--prior", help="Replace a prior: mu=Normal(-2,1); the model pages name them; may be repeated."
    ),
]
Engine = Annotated[
    Literal["laplace", "nuts"], typer.Option(help="Fast approximation, or the reference sampler.")
]
Draws = Annotated[
    int, typer.Option(help="Posterior draws per chain; laplace draws that many times the chains.", min=1)
]
Tune = Annotated[int, typer.Option(help="Tuning draws per chain.", min=1)]
Chains = Annotated[int, typer.Option(help="Chains.", min=1)]
Seed = Annotated[int, typer.Option(help="Random seed; the same inputs and seed give the same bytes.", min=0)]
CiProb = Annotated[float, typer.Option(help="Probability of the intervals.")]
PerTopic = Annotated[bool, typer.Option("--per-topic", help="One row per run and topic.")]
Output = Annotated[
    list[Path] | None,
    typer.Option(
        "--output", "-o", help="Also write the table to a .csv, .json or .parquet file; may be repeated."
    ),
]

QrelsFile = Annotated[Path, typer.Option(help="Relevance judgments.")]
Pool = Annotated[
    list[Path] | None, typer.Option(help="Runs of the campaign: folder, glob or file; may be repeated.")
]
CampaignRuns = Annotated[
    list[Path], typer.Option(help="Runs of the campaign: folder, glob or file; may be repeated.")
]
Organizations = Annotated[
    Path | None, typer.Option(help="Who submitted which run: CSV with run_id,organization, or XML.")
]
OwnJudgments = Annotated[
    Path | None,
    typer.Option(help="Judgments of your own, as qrels, on documents of the runs that nobody had judged."),
]
EachItsOwn = Annotated[
    bool,
    typer.Option(
        "--each-its-own", help="The runs are of an organization each, where the list does not name theirs."
    ),
]
NegativeOption = Annotated[
    Literal["listed", "unjudged", "nonrelevant"],
    typer.Option(
        help="Negative relevance: -1 in the pool and unjudged, less nonrelevant (listed); or all of it alike."
    ),
]
Threshold = Annotated[
    int | None,
    typer.Option(help="Smallest relevance that counts, for measures that do not say rel= themselves.", min=1),
]
EstimandOption = Annotated[
    Literal["complete", "pooled"],
    typer.Option(help="Impute all unjudged documents in the top n, or only those within the pool depth."),
]
OrderOption = Annotated[
    Literal["score", "rank"], typer.Option(help="trec_eval's order by score, or the ranks of the files.")
]
RunIdFrom = Annotated[Literal["file", "tag"], typer.Option(help="Name runs by their files or by their tags.")]
PoolDepth = Annotated[int | None, typer.Option(help="Pool depth, if known; else discovered.", min=1)]
KnownDepth = Annotated[
    int | None, typer.Option(help="Depth that was judged, if known; else discovered.", min=1)
]
MaxHoles = Annotated[
    int | None,
    typer.Option(
        help="Unjudged documents per topic that a pooled run may have; default: pool depth // 20.", min=0
    ),
]
PooledRuns = Annotated[
    str | None, typer.Option(help="Comma-separated ids of the pooled runs, if known; else discovered.")
]
Jobs = Annotated[int, typer.Option(help="Processes; -1 for one per core.")]
Figures = Annotated[Literal["png", "svg", "none"], typer.Option(help="Kind of figures in the output folder.")]
Lenient = Annotated[
    bool,
    typer.Option("--lenient", help="Skip lines that cannot be used, and report them, instead of stopping."),
]


def with_threshold(measure: str, threshold: int | None) -> str:
    """The measure with a threshold where it names none itself."""
    from bayespool.measures import Precision, parse_measure

    parsed = parse_measure(measure)
    return str(
        Precision(parsed.cutoff, threshold) if threshold is not None and "rel=" not in measure else parsed
    )


def chosen_estimators(text: str | None, common_topics: str | None) -> list[str] | None:
    """Names of estimators, with the topics adjustment where common topics are given; all are known."""
    from bayespool.scoring import DEFAULT_ESTIMATORS, parse_estimator

    names = list(DEFAULT_ESTIMATORS) if text is None else split_list(text)
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


def split_list(text: str) -> list[str]:
    """Split at commas outside parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def parse_priors(given: list[str] | None) -> dict[str, str]:
    """Priors by variable from texts such as ``mu=Normal(-2,1)``."""
    priors = {}
    for text in given or []:
        name, found, distribution = text.partition("=")
        if not found:
            raise InputError(
                f"prior {text!r} is not of the form name=Distribution(…)", hint="for example mu=Normal(-2,1)"
            )
        priors[name.strip()] = distribution.strip()
    return priors


def check_experiment(jobs: int, output: Path | None, experiment: str) -> None:
    """Raise for what would stop an experiment at its end."""
    from bayespool.report import check_folder

    if jobs == 0:
        raise InputError("--jobs 0: give a number of processes, or -1 for one per core")
    if output is not None:
        check_folder(output, experiment)


def read_campaign(
    qrels: Path, pool: list[Path], *, lenient: bool, pooled_runs: str | None, **settings: Any
) -> Collection:
    """The collection of an experiment, which only the campaign's runs are in; says what the pool is.

    ``settings`` are those of `bayespool.loading.read_collection`.
    """
    from bayespool.loading import read_collection
    from bayespool.pool import describe_pool

    with stage_progress() as say:
        collection = read_collection(
            qrels,
            pool=[str(p) for p in pool],
            pooled_run_ids=None if pooled_runs is None else split_list(pooled_runs),
            strict=not lenient,
            progress=lambda done, total: say(f"reading runs: {done} of {total}"),
            **settings,
        )
    typer.echo(f"pool: {describe_pool(collection).text()}", err=True)
    return collection


def is_interruption(error: BaseException) -> bool:
    """Whether an error is Ctrl-C, or what a compiled function makes of it."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


@contextmanager
def told_when_interrupted(folder: Path | None, name: str) -> Iterator[None]:
    """Ctrl-C ends the command with status 130 and says what is kept: the work in the folder's subfolder. So
    does an error for a worker that died.
    """
    try:
        yield
    except WorkerError as error:
        if folder is not None:
            error.add_note(f"what is finished is in {folder / name}; the same command goes on from there")
        raise
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interruption(error):
            raise
        kept = "nothing was written; with --output what is finished would be kept"
        if folder is not None:
            kept = f"what is finished is in {folder / name}; the same command goes on from there"
        typer.echo(f"interrupted; {kept}", err=True)
        raise typer.Exit(130) from None


@contextmanager
def count_progress(what: str, *, n_lines: int | None = None) -> Iterator[Callable[[int, int], None]]:
    """A bar with the time that is left on a terminal; elsewhere a line for each step, or about ``n_lines`` in
    all.
    """
    if not sys.stderr.isatty():
        told: set[int] = set()

        def say(done: int, total: int) -> None:
            part = done if n_lines is None else n_lines * done // max(total, 1)
            if part not in told:
                told.add(part)
                typer.echo(f"{what}: {done} of {total}", err=True)

        yield say
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def stage_progress() -> Iterator[Callable[[str], None]]:
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
