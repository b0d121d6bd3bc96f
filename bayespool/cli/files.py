"""Files that commands read, and progress of their work."""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayespool.cli.messages import echo, is_quiet
from bayespool.cli.parameters import Argument, Option, flag_of, own_option
from bayespool.errors import InputError, JobsWarning, NoCollectionError, WorkerError, some, warn_caller
from bayespool.interruption import NOTHING_WRITTEN, keeping
from bayespool.names import PREPARED_SUFFIX
from bayespool.tables.formatting import counted, printable

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from bayespool.arrays import Progress
    from bayespool.collection import Collection
    from bayespool.comparisons import Leaderboard
    from bayespool.pooling.loading import Description

Computed = TypeVar("Computed")
_WITH_PREPARED = {"organizations", "each_its_own", "exclude", "documents", "judges"}
_paths = partial(own_option, type=Path, multiple=True)


def files_argument(name: str, *, help: str, nargs: int = -1) -> Argument:
    """Return the argument of files that are named without an option."""
    path = click.Path(path_type=Path)
    return Argument([name], description=help, nargs=nargs, type=path, required=nargs == 1)


RUNS = files_argument(
    "runs",
    help="Run files to score, in TREC format (also .gz, .xz, .zst); folders and globs too. With --unpool "
    "there need be none.",
)
FILE_OPTIONS: Mapping[str, Callable[..., Option]] = {
    "qrels": _paths("--qrels", help="Relevance judgments. May be repeated."),
    "pool": _paths("--pool", help="Runs of the campaign: folder, glob or file. May be repeated."),
    "organizations": _paths(
        "--organizations",
        help="Who submitted which run: CSV with run_id,organization and columns of your own, or XML. "
        "May be repeated.",
    ),
    "collections": _paths(
        "--collection",
        "collections",
        help="Prepared collection (.bayespool), or TOML file with qrels, pool, organizations and the keys of "
        "--reading, in place of these options. May be repeated in score, compare and leave-out.",
    ),
    "judges": _paths(
        "--judge",
        "judges",
        type=str,
        metavar="<path>",
        help="Labels of an LLM judge, such as a language model: FILE or NAME=FILE in the form of qrels "
        "with any numbers. They are evidence, never judgments. May be repeated, with one name for a judge "
        "that was asked several times.",
    ),
    "own_judgments": _paths(
        "--own-judgments",
        help="Judgments of your own, as qrels, on documents that nobody had judged, or the "
        "certificate of an audit (.json). May be repeated.",
    ),
    "known_depth": own_option(
        "--known-depth", type=int, help="Depth to which the pool was judged, if known; else discovered."
    ),
    "pool_strategy": own_option(
        "--pool-strategy",
        metavar="<name(…)>",
        help="Strategy that made the pool, with its budget: 'take(budget=5000)'; else a depth is discovered.",
    ),
    "reading": own_option(
        "--reading",
        metavar="<name=value,…>",
        help="How files are read: 'order=rank, strict=false, topics=run'. Keys, as in the TOML file: order, "
        "negative, exclude, documents, topics, run_id, strict, max_file_size, max_holes, pooled_run_ids, "
        "topics_table, documents_table, each_its_own and the options of files.",
    ),
}
"""Options of files, by field of `Files`."""
WITH_OWN = "own_judgments judges known_depth pool_strategy reading"
"""Options of commands whose scores count judgments of one's own, and that say how files are read."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of a command, and how they are read."""

    qrels: tuple[Path, ...] = ()
    runs: tuple[Path, ...] = ()
    pool: tuple[Path, ...] = ()
    organizations: tuple[Path, ...] = ()
    collections: tuple[Path, ...] = ()
    judges: tuple[str, ...] = ()
    own_judgments: tuple[Path, ...] = ()
    known_depth: int | None = None
    pool_strategy: str | None = None
    reading: str = ""
    names_by_path: bool = False  # runs of one file name in two folders
    may_lack_people: bool = False  # labels will do
    # of runs that leave the pool, where no file has the name, by their places among the arguments
    names: tuple[tuple[int, str], ...] = ()
    run_names: tuple[str, ...] = ()  # of the files of runs, where these have others

    def n_runs(self) -> int:
        """Number of files of runs that are named beside the pool."""
        from bayespool.reading.files import find_files

        return len(set(find_files(list(map(str, self.runs))))) if self.runs else 0

    def check_runs(self, keywords: Mapping[str, Any], to_do: str, *, or_campaign: bool = False) -> None:
        """Raise `InputError` where neither run files nor runs of the pool are named, nor, if those of a whole
        campaign will do, any runs.
        """
        campaign = or_campaign and (self.pool or self.collections)
        if not (self.runs or keywords.get("unpool") or campaign):
            hint = "--pool" if or_campaign else "runs of the pool with --unpool"
            raise InputError(f"no run to {to_do}", hint=f"name run files, or {hint}")

    @property
    def are_named(self) -> bool:
        """Whether any judgments or runs are named."""
        return bool(self.qrels or self.runs or self.pool or self.collections)

    def keywords(self) -> dict[str, Any]:
        """Return the arguments of `bayespool.read_collection` but for audits and progress.

        Raises
        ------
        InputError
            No judgments, or judgments and runs beside a file that names them.
        """
        self.refuse_beside_collections()
        if self.prepared is not None:
            raise InputError("is a prepared collection", path=self.prepared, hint="give --qrels and --pool")
        if len(self.collections) > 1:
            raise InputError("several collections", hint="only score, compare and leave-out take them")
        if not self.collections and not self.qrels and not (self.may_lack_people and self.judges):
            hint = "give --qrels and --pool, or --collection FILE"
            if self.judges:
                hint = "labels alone order no runs; draw answers of people: bayespool audit RUNS --judge …"
            raise InputError("no judgments", hint=hint)
        described = self._descriptions[self.collections[0]].arguments if self.collections else {}
        given = {"qrels": list(self.qrels), "runs": self._named_runs(), "pool": list(map(str, self.pool))}
        given["own_judgments"] = [path for path in self.own_judgments if path.suffix != ".json"]
        named = {name: value for name, value in given.items() if value}
        return ({} if self.collections else {"qrels": None}) | described | self.ways() | named

    @property
    def lack_people(self) -> bool:
        """Whether there are labels of judges, and neither judgments nor a file that may name some."""
        return bool(self.judges) and not (self.qrels or self.collections)

    def _named_runs(self) -> Any:
        """Files of runs, under their paths where two have one name and paths may be names."""
        files = list(map(str, self.runs))
        if self.run_names:
            return dict(zip(self.run_names, files, strict=True))
        if self.names_by_path and len({path.stem for path in self.runs}) < len(files):
            return {file: file for file in files}
        return files

    @cached_property
    def _descriptions(self) -> dict[Path, Description]:
        """Descriptions by the files of collections that are not prepared."""
        from bayespool.pooling.loading import read_description

        return {path: read_description(path) for path in self.collections if path.suffix != PREPARED_SUFFIX}

    @property
    def prepared(self) -> Path | None:
        """The file of a prepared collection, if that is what ``--collection`` names."""
        return next((path for path in self.collections if path.suffix == PREPARED_SUFFIX), None)

    def refuse_beside_collections(self) -> None:
        """Raise `InputError` for judgments and runs beside a file that names them."""
        if self.prepared is not None and self.pool:
            hint = "leave out --pool; with other runs prepare the collection again"
            raise InputError("a prepared collection has its pool", hint=hint)
        if self.collections and (self.pool or (self.qrels and self.prepared is None)):
            hint = "name judgments and runs only in the file"
            raise InputError("--collection beside --qrels or --pool", hint=hint)

    def ways(self, keys: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return how files are read: arguments of `bayespool.read_collection` other than files of runs.

        ``keys`` are those that ``--reading`` may have: by default all.
        """
        from bayespool.reading import READING_KEYS, parse_reading

        given = {
            "organizations": list(self.organizations),
            "judges": _judges(self.judges),
            "known_depth": self.known_depth,
            "pool_strategy": self.pool_strategy,
        }
        reading = parse_reading(self.reading, keys or READING_KEYS)
        options = {name: value for name, value in given.items() if value or value == 0}
        for name in sorted(reading.keys() & options.keys()):
            raise InputError(f"{flag_of(name)} beside --reading {name}=", hint="leave one of the two out")
        return reading | options

    def read(
        self, say: Progress, keywords: Mapping[str, Any] | None = None, *, scores: bool = False
    ) -> tuple[Collection, tuple[str, ...]]:
        """Read the collection and the ids of the runs to score; print its pool, and what leaves it."""
        from bayespool.pooling import describe_pool, read_collection

        if self.prepared is not None:
            return self._read_prepared(self.prepared, keywords or {}, scores=scores)
        audits = {}
        if certificates := [path for path in self.own_judgments if path.suffix == ".json"]:
            from bayespool.auditing import read_audit

            audits = {path: read_audit(path) for path in certificates}
        collection = read_collection(**self.keywords(), scores=scores, progress=say)
        for path, audit in audits.items():
            collection = audit.apply_to(collection, path=path)
        echo(f"pool: {describe_pool(collection).text()}")
        _say_unpooled(collection, **{name: (keywords or {}).get(name) for name in ("repool_to", "unpool")})
        return collection, collection.given_run_ids

    def _read_prepared(
        self, path: Path, keywords: Mapping[str, Any], *, scores: bool
    ) -> tuple[Collection, tuple[str, ...]]:
        """Read a prepared collection and join the runs to it; print its pool, and what is fitted anew."""
        from bayespool.measures.parsing import parse_measures
        from bayespool.pooling import describe_pool
        from bayespool.reading.readers import Reading
        from bayespool.scoring.prepared import read_prepared

        self.refuse_beside_collections()
        if len(self.collections) > 1 or scores or any(p.suffix == ".json" for p in self.own_judgments):
            what = "several collections" if len(self.collections) > 1 else "scores of runs, or an audit"
            raise InputError(f"{what} beside a prepared collection", hint="give the files of the runs")
        ways = self.ways()
        fields = {"run_id": "id_from", "strict": "strict", "max_file_size": "max_file_size"}
        reading = Reading(**{field: ways.pop(name) for name, field in fields.items() if name in ways})
        prepared = read_prepared(path, qrels=list(self.qrels) or None)
        if ways.get("order") == prepared.collection.order:
            del ways["order"]
        if other := sorted(ways.keys() - _WITH_PREPARED):
            is_option = other[0] in ("known_depth", "pool_strategy")
            name = flag_of(other[0]) if is_option else f"--reading {other[0]}="
            hint = "leave it out, or give the files"
            raise InputError(f"{name} cannot be changed in a prepared collection", hint=hint)
        if self.own_judgments:
            ways["own_judgments"] = list(self.own_judgments)
        collection = prepared.collection
        if self.runs:
            collection = prepared.join(self._named_runs(), reading=reading, **ways)
        echo(f"pool: {describe_pool(collection).text()}")
        unpooled = {name: keywords.get(name) for name in ("repool_to", "unpool")}
        if any(unpooled.values()) or "judges" in ways or self.own_judgments:
            echo(
                "models are fitted anew: these judgments are not those that the collection was prepared with"
            )
        elif "measures" in keywords:
            prepared.warn_of_new_fits(parse_measures(keywords["measures"]))
        _say_unpooled(collection, **unpooled)
        return collection, collection.given_run_ids

    def compute(self, function: Callable[..., Computed], keywords: Mapping[str, Any]) -> Computed:
        """Return what a function makes of the collection, the runs to score and its keywords."""
        keywords = self.with_measure(keywords, is_of_prepared=function.__name__ in ("score", "compare"))
        check_keywords(function, keywords)
        with stage_progress() as say:
            collection, targets = self.read(say, keywords)
            runs = self._with_unpooled_names(targets, collection, keywords)
            return function(collection, runs or None, **keywords, progress=say)

    def with_measure(self, keywords: Mapping[str, Any], *, is_of_prepared: bool = False) -> dict[str, Any]:
        """Return keywords with the measure of the described collection, or those of the prepared one, where
        none is named.
        """
        from bayespool.scoring.prepared import read_measures

        named = {each.measure for each in self._descriptions.values() if each.measure is not None}
        if self.prepared is not None and is_of_prepared:
            return {"measures": read_measures(self.prepared), **keywords}
        if len(named) > 1 and "measures" not in keywords:
            raise InputError(
                f"collections of other measures: {', '.join(sorted(named))}", hint="name one: -m"
            )
        return dict.fromkeys(["measures"] * len(named), next(iter(named), None)) | {**keywords}

    def compute_by_labels(self, function: Callable[..., Computed], keywords: Mapping[str, Any]) -> Computed:
        """Return what a function makes of runs and labels, where nobody has judged."""
        if other := sorted(keywords.keys() - inspect.signature(function).parameters.keys()):
            hint = "labels alone leave no room for it; judgments are --qrels"
            raise InputError(f"{flag_of(other[0])} without judgments", hint=hint)
        return replace(self, may_lack_people=True).compute(function, keywords)

    def _with_unpooled_names(
        self, targets: Sequence[str], collection: Collection, keywords: Mapping[str, Any]
    ) -> list[str]:
        """Return runs with the names of those that leave the pool, each in its place; `InputError` for a name
        of none.
        """
        from bayespool.collection.own import unpool_runs

        runs = list(targets)
        for place, name in self.names:
            if name not in collection.run_ids:
                hint = f"name a file, or a run of the pool; these are {some(collection.run_ids)}"
                raise InputError("no such file or folder, and no run of the pool", path=Path(name), hint=hint)
            if name in unpool_runs(collection, keywords["unpool"])[0].pooled_run_ids:
                hint = f"take it out with --unpool {name}, or leave it in and give its file"
                raise InputError(f"run {name!r} stays in the pool", hint=hint)
            runs.insert(place, name)
        return runs

    def compute_several(self, keywords: Mapping[str, Any]) -> Leaderboard:
        """Return the leaderboard of runs with a file for each of several collections, which are read one
        after the other.
        """
        from bayespool.comparisons import score_several
        from bayespool.pooling.loading import check_collection_names
        from bayespool.scoring.prepared import read_measures

        self.refuse_beside_collections()
        if self.names:
            raise InputError("names of runs beside several collections", hint="name files or folders of runs")
        for name in ("organizations", "judges", "own_judgments", "known_depth", "pool_strategy", "qrels"):
            if getattr(self, name):
                hint = "write it into the file of each collection"
                raise InputError(f"{flag_of(name)} beside several collections", hint=hint)
        paths, measures = dict[str, Path](), dict[str, Any]()
        for path in self.collections:
            is_prepared = path.suffix == PREPARED_SUFFIX
            name, _, measure = (path.stem, {}, None) if is_prepared else self._descriptions[path]
            check_collection_names([*paths, name])
            paths[name], measures[name] = path, read_measures(path) if is_prepared else measure or "P@10"
        keywords = {"measures": measures, **keywords}
        check_keywords(score_several, keywords)
        runs = {
            run: run_files(pattern, list(paths)) for pattern in self.runs for run in [several_run(pattern)]
        }
        if len(runs) < len(self.runs):
            raise InputError("two runs have one name", hint="give their folders or files other names")
        with stage_progress() as say:

            def read(name: str) -> Collection:
                files = tuple(of_run[name] for of_run in runs.values())
                alone = replace(self, collections=(paths[name],), runs=files, run_names=tuple(runs))
                return alone.read(say, {**keywords, "measures": measures[name]})[0]

            collections = _OneByOne({name: partial(read, name) for name in paths})
            return score_several(collections, list(runs) or None, **keywords, progress=say)

    def read_collections(self, say: Progress) -> dict[str, Collection]:
        """Read the collections that files describe; print their pools."""
        from bayespool.pooling import describe_pool, read_collections
        from bayespool.pooling.loading import check_collection_names
        from bayespool.scoring.prepared import read_prepared

        self.refuse_beside_collections()
        described = [path for path in self.collections if path.suffix != PREPARED_SUFFIX]
        collections = read_collections(described, reading=self.ways(), progress=say)
        for path in self.collections:
            if path.suffix == PREPARED_SUFFIX:
                collections[path.stem] = read_prepared(path).collection
        check_collection_names(collections)
        for name, collection in collections.items():
            echo(f"{name}, pool: {describe_pool(collection).text()}")
        return collections


@dataclass(frozen=True)
class _OneByOne(Mapping[str, "Collection"]):
    """Collections by name, each read when it is asked for and not kept."""

    readers: Mapping[str, Callable[[], Collection]]

    def __getitem__(self, name: str) -> Collection:
        return self.readers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self.readers)

    def __len__(self) -> int:
        return len(self.readers)


_PLACE = "{collection}"


def several_run(pattern: Path) -> str:
    """Return the name of a run with a file for each of several collections: that of its folder, or of its
    pattern without the name of the collection.

    Examples
    --------
    >>> [several_run(Path(text)) for text in ("runs/bm25", "bm25.{collection}.run", "{collection}/bm25.run")]
    ['bm25', 'bm25', 'bm25']
    """
    from bayespool.reading.readers import run_id_from_name

    for part in reversed(pattern.parts):
        name = run_id_from_name(part) if _PLACE in str(pattern) and part == pattern.name else part
        if name := re.sub(rf"[-._]?{re.escape(_PLACE)}", "", name).strip("-._"):
            return name
    raise InputError(
        "a run without a name", path=pattern, hint="name a folder of its own: bm25/{collection}.run"
    )


def run_files(pattern: Path, collections: Sequence[str]) -> dict[str, Path]:
    """Return the file of a run for each collection, from a folder or a pattern; `InputError` without one."""
    from bayespool.reading.files import find_files
    from bayespool.reading.readers import run_id_from_file

    if _PLACE in str(pattern):
        return {name: Path(str(pattern).replace(_PLACE, name)) for name in collections}
    if not pattern.exists():
        hint = f"check the path; a pattern names the collection: bm25.{_PLACE}.run"
        raise InputError("no such file or folder", path=pattern, hint=hint)
    if not pattern.is_dir():
        hint = f"name a folder with a file for each collection, or a pattern such as bm25.{_PLACE}.run"
        raise InputError("one file beside several collections", path=pattern, hint=hint)
    files: dict[str, list[Path]] = {}
    for path in find_files(pattern):
        files.setdefault(run_id_from_file(path), []).append(path)
    for name in collections:
        if len(files.get(name, ())) != 1:
            n_files = counted(len(files.get(name, ())), "file")
            hint = f"call the file of the run {name}.run, or name a pattern with {_PLACE}"
            raise InputError(f"{n_files} for the collection {name!r}", path=pattern, hint=hint)
    return {name: files[name][0] for name in collections}


def is_run_name(path: Path) -> bool:
    """Return whether an argument may name a run of the pool: no file has the name, and it is no pattern."""
    return len(path.parts) == 1 and not path.exists() and not set("*?[") & set(str(path))


def check_keywords(function: Callable[..., Any], keywords: Mapping[str, Any]) -> None:
    """Raise `InputError` for keywords that a function refuses, before files are read."""
    from bayespool.posterior.estimator import given_settings

    if "random_seed" in keywords and "random_seed" in given_settings(keywords.get("posterior_settings")):
        raise InputError("--random-seed beside --posterior random_seed=", hint="leave one of the two out")
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(NoCollectionError):
        function(None, **keywords)


def _judges(texts: tuple[str, ...]) -> dict[str, list[Path]]:
    """Files of labels by judge, from texts such as ``labels.txt`` or ``gpt4=labels.txt``.

    A judge that was asked several times is named several times.
    """
    from bayespool.reading.readers import run_id_from_file

    judges: dict[str, list[Path]] = {}
    repeatable = set()  # names that stand before files
    for text in texts:
        name, named, file = text.partition("=")
        path = Path(file) if named and not Path(text).exists() else Path(text)
        is_named = bool(named) and path == Path(file)
        name = name if is_named else run_id_from_file(path)
        if not name or (not file and named):
            raise InputError(f"--judge {text}: give a name and a file", hint="--judge NAME=FILE")
        if name in judges and not (is_named and name in repeatable):
            hint = "--judge NAME=FILE, with one name for labels of a judge that was asked several times"
            raise InputError(f"--judge {text}: two judges are called {name!r}", hint=hint)
        if is_named:
            repeatable.add(name)
        judges.setdefault(name, []).append(path)
    return judges


def _say_unpooled(collection: Collection, repool_to: int | None, unpool: Sequence[str] | None) -> None:
    """Print what ``--repool-to`` and ``--unpool`` take out of the pool."""
    from bayespool.collection.own import names_in_pool, unpool_runs
    from bayespool.pooling import describe_pool

    if repool_to is not None:
        collection = collection.truncate_pool(repool_to)
        echo(f"pool to depth {repool_to}: {describe_pool(collection)}")
    smaller, taken = unpool_runs(collection, names_in_pool(collection, unpool or ()))
    if not taken:
        return
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
    """Return whether an error is Ctrl-C, also as click has it."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


@contextmanager
def report_interruption(folder: Path | None, parts: str) -> Iterator[None]:
    """Report after Ctrl-C or a dead worker how many ``parts`` of the work (a pattern) the folder keeps."""

    def kept() -> str:
        if folder is None:
            return f"{NOTHING_WRITTEN}; with --output what is finished would be kept"
        n = len(list(folder.glob(f"{parts}/*.parquet")))
        return (
            f"{counted(n, 'part')} {'is' if n == 1 else 'are'} stored in {folder}; the same command goes on"
        )

    try:
        with keeping(kept):
            yield
    except WorkerError as error:
        if folder is not None:
            error.add_note(kept())
        raise


@contextmanager
def count_progress(n_lines: int | None = None) -> Iterator[Progress]:
    """Progress bar on a terminal; elsewhere a line per step, or about ``n_lines`` lines."""
    with _progress("BarColumn", "MofNCompleteColumn", "TimeRemainingColumn") as bar:
        printed: set[int] = set()

        def say(text: str, done: int = 0, total: int = 0, /) -> None:
            part = done if n_lines is None else n_lines * done // max(total, 1)
            if bar is None and part not in printed:
                printed.add(part)
                echo(f"{text}: {done} of {total}")
            elif bar is not None:
                bar.update(bar.task_ids[0], description=text, completed=done, total=total)

        yield say


@contextmanager
def stage_progress() -> Iterator[Progress]:
    """Spinner with the current stage on a terminal; elsewhere a line per stage."""
    with _progress("SpinnerColumn", "TimeElapsedColumn") as bar:
        last = ""

        def say(text: str, done: int = 0, total: int = 0, /) -> None:
            nonlocal last
            stage = f"{text}: {done} of {total}" if total else text
            if bar is not None:
                bar.update(bar.task_ids[0], description=printable(stage, one_line=True))
            elif not (stage.startswith("reading") and last.startswith("reading")):
                echo(stage)
            last = stage

        yield say


@contextmanager
def _progress(*columns: str) -> Iterator[RichProgress | None]:
    """Progress of one task on standard error, that goes when it is done; None without a terminal."""
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    shown = [getattr(progress, name)() for name in columns]
    shown.insert("SpinnerColumn" in columns, progress.TextColumn("{task.description}", markup=False))
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        bar.add_task("starting", total=None)
        yield bar
