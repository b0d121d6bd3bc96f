"""Options that commands share, reading of their files, and progress of their work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayespool.cli.messages import is_quiet, tell
from bayespool.errors import InputError, JobsWarning, WorkerError, warn_caller
from bayespool.tables.printable import printable

if TYPE_CHECKING:
    from bayespool.collection import Collection
    from bayespool.tables.arrangement import Arrangement

QrelsFile = Annotated[Path, typer.Option(help="Relevance judgments.")]
Pool = Annotated[
    list[Path] | None, typer.Option(help="Runs of the campaign: folder, glob or file; may be repeated.")
]
CampaignRuns = Annotated[
    list[Path], typer.Option(help="Runs of the campaign: folder, glob or file; may be repeated.")
]
RunFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Run files to score, in TREC format (also .gz, .xz, .zst); folders and globs too. With --unpool "
        "there need be none."
    ),
]
OwnJudgments = Annotated[
    Path | None,
    typer.Option(help="Judgments of your own, as qrels, on documents of the runs that nobody had judged."),
]
PerTopic = Annotated[bool, typer.Option("--per-topic", help="One row per run and topic.")]
Output = Annotated[
    list[Path] | None,
    typer.Option(
        "--output", "-o", help="Also write the table to a .csv, .json or .parquet file; may be repeated."
    ),
]
PaperOutput = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Also write the table to a .csv, .json or .parquet file, or as it is read to a .tex, .md or "
        ".html file; may be repeated.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated columns of tables that are read (terminal, .tex, .md, .html): all, lower, "
        "as-judged, upper, residual, unjudged, estimates, mean, interval, distance, new-kind, or estimators."
    ),
]
Sort = Annotated[
    str | None,
    typer.Option(help="Sort their rows by run, or by a column, the largest first."),
]
Top = Annotated[
    int | None,
    typer.Option(min=1, help="Show the first rows alone; without --sort the best."),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Folder for tables, settings and figures. Finished work is kept there: a command that was "
        "interrupted goes on where it stopped.",
    ),
]
Jobs = Annotated[
    int, typer.Option(help="Processes; -1 for one per core. There are never more than parts of the work.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Compute on the workers of the Dask cluster whose scheduler is there, in place of processes.",
    ),
]
Figures = Annotated[Literal["png", "svg", "none"], typer.Option(help="Kind of figures in the output folder.")]

FigureFiles = Annotated[
    list[Path] | None,
    typer.Option("--figure", help="Also draw the result into a .pdf, .png or .svg file; may be repeated."),
]


def arrangement_of(columns: str | None, sort: str | None, top: int | None) -> Arrangement:
    """Arrangement of ``--columns``, ``--sort`` and ``--top``."""
    from bayespool.cli.from_settings import split_list
    from bayespool.tables.arrangement import Arrangement

    return Arrangement(None if columns is None else split_list(columns), sort, top)


def check_experiment(jobs: int, output: Path | None, experiment: str, cluster: str | None) -> None:
    """Raise for options that would fail at the end, and warn of more processes than cores."""
    from joblib import cpu_count

    from bayespool.experiments.cluster import check_address
    from bayespool.report.folder import check_folder

    if jobs == 0:
        raise InputError("--jobs 0: give a number of processes, or -1 for one per core")
    if cluster is not None:
        check_address(cluster)
    elif jobs > cpu_count():
        message = f"--jobs {jobs}: more processes than cores ({cpu_count()}), each of which takes memory"
        warn_caller(message, JobsWarning)
    if output is not None:
        check_folder(output, experiment)


def read_files(
    qrels: Path,
    runs: list[Path],
    pool: list[Path] | None,
    say: Callable[[str], None],
    **reading: Any,
) -> tuple[Collection, tuple[str, ...]]:
    """Read the collection and the ids of the runs to score, by `read_collection`, and print the pool."""
    from bayespool.pooling import describe_pool, read_collection

    collection = read_collection(
        qrels,
        [str(r) for r in runs],
        pool=None if pool is None else [str(p) for p in pool],
        progress=lambda done, total: say(f"reading runs: {done} of {total}"),
        **reading,
    )
    tell(f"pool: {describe_pool(collection).text()}")
    return collection, collection.given_run_ids


def read_campaign(qrels: Path, pool: list[Path], **reading: Any) -> Collection:
    """Read the collection of an experiment, which has the campaign's runs alone."""
    with stage_progress() as say:
        return read_files(qrels, [], pool, say, **reading)[0]


def say_unpooled(collection: Collection, options: Mapping[str, Any]) -> None:
    """Print what ``--pool-depth`` and ``--unpool`` take out of the pool."""
    from bayespool.pooling import describe_pool
    from bayespool.pooling.discovery import take_out

    if options["pool_depth"] is not None:
        collection = collection.truncate_pool(options["pool_depth"])
        tell(f"pool to depth {options['pool_depth']}: {describe_pool(collection)}")
    if not options["unpool"]:
        return
    smaller, taken = take_out(collection, options["unpool"], by=options["unpool_by"])
    left = set(smaller.pooled_run_ids)
    gone = [run for run in collection.pooled_run_ids if run not in left]
    n_judgments = int(
        (collection.judged & ~collection.is_own).sum() - (smaller.judged & ~smaller.is_own).sum()
    )
    tell(
        f"taken out of the pool: {', '.join(dict.fromkeys(taken.values()))} ({', '.join(gone)}), "
        f"and {n_judgments} judgments of documents that nobody else brought"
    )
    tell(f"pool then: {describe_pool(smaller)}")


def is_interruption(error: BaseException) -> bool:
    """Whether an error is Ctrl-C, also inside a compiled function."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


@contextmanager
def report_interruption(folder: Path | None, name: str) -> Iterator[None]:
    """Report after Ctrl-C (status 130) or a dead worker which work the folder keeps."""
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
        tell(f"interrupted; {kept}", always=True)
        raise typer.Exit(130) from None


@contextmanager
def experiment(
    folder: Path | None, name: str, cluster: str | None, label: str, *, n_lines: int | None = None
) -> Iterator[Callable[[int, int], None]]:
    """Context of an experiment: interruption, cluster and progress."""
    from bayespool.experiments.cluster import on_cluster

    with (
        report_interruption(folder, name),
        on_cluster(cluster),
        count_progress(label, n_lines=n_lines) as show,
    ):
        yield show


@contextmanager
def count_progress(label: str, *, n_lines: int | None = None) -> Iterator[Callable[[int, int], None]]:
    """Progress bar on a terminal; elsewhere a line per step, or about ``n_lines`` lines."""
    if is_quiet():
        yield lambda done, total: None
        return
    if not sys.stderr.isatty():
        printed: set[int] = set()

        def say(done: int, total: int) -> None:
            part = done if n_lines is None else n_lines * done // max(total, 1)
            if part not in printed:
                printed.add(part)
                tell(f"{label}: {done} of {total}")

        yield say
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def stage_progress() -> Iterator[Callable[[str], None]]:
    """Spinner with the current stage on a terminal; elsewhere a line per stage."""
    if is_quiet():
        yield lambda stage: None
        return
    if not sys.stderr.isatty():
        stages: list[str] = []

        def say_line(stage: str) -> None:
            if not (stages and stage.startswith("reading") and stages[-1].startswith("reading")):
                tell(stage)
            stages.append(stage)

        yield say_line
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("starting")

        def say(stage: str) -> None:
            bar.update(task, description=printable(stage, one_line=True))

        yield say


@contextmanager
def show_after_writing(show: Callable[[], None]) -> Iterator[None]:
    """Show a result even where its files fail: a full disk loses no result, a closed pipe no file."""
    try:
        yield
    finally:
        show()
