"""Files that commands read, and progress of their work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayespool.cli.messages import echo, is_quiet
from bayespool.cli.parameters import Command, files_argument, group_options, input_paths, settings_option
from bayespool.errors import InputError, JobsWarning, WorkerError, warn_caller
from bayespool.options import ReadingRunsSettings, ReadingSettings
from bayespool.tables.formatting import counted, printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from bayespool.collection import Collection
    from bayespool.scoring import TargetSettings
    from bayespool.scoring.settings import ScoringSettings

Computed = TypeVar("Computed")
_CAMPAIGN_HELP = "Runs of the campaign: folder, glob or file; may be repeated."
_JUDGMENTS = "Relevance judgments; may be repeated."
qrels_file = input_paths("--qrels", required=True, help=_JUDGMENTS)
qrels_if_any = input_paths("--qrels", help=_JUDGMENTS)
campaign_runs = input_paths("--pool", required=True, help=_CAMPAIGN_HELP)
pool_runs = input_paths("--pool", help=_CAMPAIGN_HELP)
own_judgments = input_paths(
    "--own-judgments",
    help="Judgments of your own, as qrels, on documents of the runs that nobody had judged; may be repeated.",
)
audits = input_paths(
    "--audit",
    "audits",
    help="Certificate of an audit, .json: its judgments are your own, and a note says so if they refute the "
    "posterior without them; may be repeated.",
)

second_assessors = input_paths(
    "--second-assessors",
    help="Judgments of other assessors, as qrels, on some of the documents that the qrels judge, for --scope "
    "another-assessor; may be repeated.",
)


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of a command, and how they are read."""

    reading: ReadingSettings
    qrels: tuple[Path, ...] = ()
    runs: tuple[Path, ...] = ()
    pool: tuple[Path, ...] = ()
    own_judgments: tuple[Path, ...] = ()
    audits: tuple[Path, ...] = ()
    second_assessors: tuple[Path, ...] = ()
    collections: tuple[Path, ...] = ()

    def check_campaign(self) -> None:
        """Raise `InputError` unless there is one campaign, or files that describe collections."""
        if self.collections and (self.qrels or self.pool):
            raise InputError(
                "--collection beside --qrels or --pool", hint="name judgments and runs in the file alone"
            )
        if not self.collections and not (self.qrels and self.pool):
            raise InputError("no collection", hint="give --qrels and --pool, or --collection FILE")

    def n_runs(self) -> int:
        """Number of files of runs that are named beside the pool."""
        from bayespool.collection.files import find_files

        return len(set(find_files(list(map(str, self.runs))))) if self.runs else 0

    def check_runs(self, settings: TargetSettings, to_do: str) -> None:
        """Raise `InputError` where neither run files nor runs of the pool are named."""
        if not self.runs and not settings.unpool:
            raise InputError(f"no run to {to_do}", hint="name run files, or runs of the pool with --unpool")

    @property
    def are_named(self) -> bool:
        """Return whether any judgments or runs are named."""
        return bool(self.qrels or self.runs or self.pool)

    def check_assessors(self, settings: ScoringSettings) -> None:
        """Raise `InputError` for judgments of second assessors that no scope uses."""
        if self.second_assessors and not settings.asks_another_assessor:
            raise InputError(
                "--second-assessors, and no scope that speaks of them", hint="add --scope another-assessor"
            )

    def read(
        self, say: Callable[[str], None], settings: TargetSettings | None = None, *, scores: bool = False
    ) -> tuple[Collection, tuple[str, ...]]:
        """Read the collection and the ids of the runs to score; print its pool, and what is taken out."""
        from bayespool.pooling import describe_pool, read_collection

        audits = {}
        if self.audits:
            from bayespool.auditing import read_audit

            audits = {path: read_audit(path) for path in self.audits}
        collection = read_collection(
            list(self.qrels),
            list(map(str, self.runs)),
            pool=list(map(str, self.pool)) or None,
            own_judgments=list(self.own_judgments) or None,
            second_assessors=list(self.second_assessors) or None,
            scores=scores,
            progress=reading_progress(say),
            **self.reading.keywords(),
        )
        for path, audit in audits.items():
            collection = audit.apply_to(collection, path=path)
        echo(f"pool: {describe_pool(collection).text()}")
        if settings is not None:
            _say_unpooled(collection, settings)
        return collection, collection.given_run_ids

    def compute(self, function: Callable[..., Computed], settings: TargetSettings) -> Computed:
        """Return what a function makes of the collection, the runs to score and settings."""
        with stage_progress() as say:
            collection, targets = self.read(say, settings)
            return function(collection, targets, settings=settings, report=say)

    def read_collections(self, say: Callable[[str], None]) -> dict[str, Collection]:
        """Read the collections that files describe; print their pools."""
        from bayespool.pooling import describe_pool, read_collections

        collections = read_collections(
            self.collections, settings=self.reading, progress=reading_progress(say)
        )
        for name, collection in collections.items():
            echo(f"{name}, pool: {describe_pool(collection).text()}")
        return collections


campaign_files = group_options(
    Files, "files", qrels_file, campaign_runs, settings_option(ReadingSettings, "reading")
)
"""Decorator that gives a command the judgments and runs of a campaign, and how they are read."""

collection_files = group_options(
    Files,
    "files",
    qrels_if_any,
    pool_runs,
    input_paths(
        "--collection",
        "collections",
        help="TOML file that names judgments, runs and how they are read, in place of --qrels and --pool; "
        "may be repeated.",
    ),
    settings_option(ReadingSettings, "reading"),
)
"""Decorator that gives a command the files of a campaign, or files that describe several collections."""


def files_to_score(
    *,
    runs: str = "Run files to score, in TREC format (also .gz, .xz, .zst); folders and globs too. With "
    "--unpool there need be none.",
    own: Sequence[Callable[[Command], Command]] = (own_judgments, audits),
    qrels: Callable[[Command], Command] = qrels_file,
) -> Callable[[Command], Command]:
    """Decorator that gives a command judgments, runs to score, a pool and other judgments."""
    reading = settings_option(ReadingRunsSettings, "reading")
    return group_options(Files, "files", qrels, files_argument("runs", help=runs), pool_runs, *own, reading)


def reading_progress(say: Callable[[str], None]) -> Callable[[int, int], None]:
    """Progress of reading runs, as a stage."""
    return lambda done, total: say(f"reading runs: {done} of {total}")


def _say_unpooled(collection: Collection, settings: TargetSettings) -> None:
    """Print what ``--pool-depth`` and ``--unpool`` take out of the pool."""
    from bayespool.pooling import describe_pool
    from bayespool.pooling.discovery import unpool_runs

    if settings.pool_depth is not None:
        collection = collection.truncate_pool(settings.pool_depth)
        echo(f"pool to depth {settings.pool_depth}: {describe_pool(collection)}")
    if not settings.unpool:
        return
    smaller, taken = unpool_runs(collection, settings.unpool, by=settings.unpool_by)
    left = set(smaller.pooled_run_ids)
    gone = [run for run in collection.pooled_run_ids if run not in left]
    n_before, n_after = (int((each.judged & ~each.is_own).sum()) for each in (collection, smaller))
    echo(
        f"taken out of the pool: {', '.join(dict.fromkeys(taken.values()))} ({', '.join(gone)}), "
        f"and {counted(n_before - n_after, 'judgment')} of documents that nobody else brought"
    )
    echo(f"pool then: {describe_pool(smaller)}")


def check_jobs(jobs: int, cluster: str | None) -> None:
    """Raise for processes and clusters that there cannot be, and warn of more processes than cores."""
    from joblib import cpu_count

    from bayespool.experiments.running import check_address

    if jobs == 0:
        raise InputError("--jobs 0: give a number of processes, or -1 for one per core")
    if cluster is not None:
        check_address(cluster)
    elif jobs > cpu_count():
        message = f"--jobs {jobs}: exceeds the cores ({cpu_count()}); each process needs its own memory"
        warn_caller(message, JobsWarning)


def is_interruption(error: BaseException) -> bool:
    """Return whether an error is Ctrl-C, also inside a compiled function."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


@contextmanager
def report_interruption(folder: Path | None, name: str) -> Iterator[None]:
    """Report after Ctrl-C (status 130) or a dead worker which work the folder keeps."""
    kept = "nothing was written; with --output what is finished would be kept"
    if folder is not None:
        kept = f"what is finished is in {folder / name}; the same command goes on from there"
    try:
        yield
    except WorkerError as error:
        if folder is not None:
            error.add_note(kept)
        raise
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interruption(error):
            raise
        echo(f"interrupted; {kept}", always=True)
        raise click.exceptions.Exit(130) from None


@contextmanager
def count_progress(label: str, *, n_lines: int | None = None) -> Iterator[Callable[[int, int], None]]:
    """Progress bar on a terminal; elsewhere a line per step, or about ``n_lines`` lines."""
    if is_quiet() or not sys.stderr.isatty():
        printed: set[int] = set()

        def say(done: int, total: int) -> None:
            part = done if n_lines is None else n_lines * done // max(total, 1)
            if part not in printed:
                printed.add(part)
                echo(f"{label}: {done} of {total}")

        yield say
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

    with _bar(BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def stage_progress() -> Iterator[Callable[[str], None]]:
    """Spinner with the current stage on a terminal; elsewhere a line per stage."""
    if is_quiet() or not sys.stderr.isatty():
        last = ""

        def say_line(stage: str) -> None:
            nonlocal last
            if not (stage.startswith("reading") and last.startswith("reading")):
                echo(stage)
            last = stage

        yield say_line
        return
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    with _bar(TimeElapsedColumn(), before=(SpinnerColumn(),)) as bar:
        task = bar.add_task("starting")
        yield lambda stage: bar.update(task, description=printable(stage, one_line=True))


def _bar(*columns: Any, before: tuple[Any, ...] = ()) -> Progress:
    """Progress on standard error, that goes when it is done: a description between columns."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    text = TextColumn("{task.description}", markup=False)
    return Progress(*before, text, *columns, console=Console(stderr=True), transient=True)
