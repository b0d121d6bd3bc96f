"""Read collections with their pools from runs and judgments, or from TOML files that name them."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bayespool.arrays import Progress
from bayespool.collection import (
    Collection,
    Judge,
    add_judges,
    build_collection,
    finish_collection,
    judge_where_labeled,
    make_encoding,
)
from bayespool.collection.attributes import Attributes, Table, gather_attributes
from bayespool.collection.build import refuse_unranked, set_users_runs_apart
from bayespool.collection.collection import with_attributes
from bayespool.collection.copies import adopt_copies, replace_copies
from bayespool.collection.passages import Documents
from bayespool.collection.rankings import within
from bayespool.errors import (
    BayespoolWarning,
    InputError,
    OrganizationWarning,
    PartialListWarning,
    some,
    warn_caller,
)
from bayespool.measures.parsing import parse_sole_measure
from bayespool.pooling.choosing import PoolPlan
from bayespool.pooling.discovery import (
    PoolRule,
    describe_pool,
    discover_pool,
    means_all,
    warn_of_doubt,
    warn_of_misfit,
)
from bayespool.pooling.pools import pool_of_strategy
from bayespool.pooling.strategy import Strategy
from bayespool.reading import Judgments, Negative, Order, Organizations, Reading, Runs, gather_qrels
from bayespool.reading.files import find_files, read_toml
from bayespool.reading.keys import FILES, READING_KEYS, ReadingKey, check_key, check_reading, parse_reading
from bayespool.reading.readers import run_id_from_name
from bayespool.reading.scope import Exclude, Topics, gather_kept_qrels, read_exclusion, select_topics
from bayespool.reading.sources import (
    Judges,
    gather_judges,
    gather_organizations,
    gather_runs,
    irds_name,
    list_labeled,
)
from bayespool.tables.files import MAX_FILE_SIZE, PathLike
from bayespool.tables.formatting import counted

_LABELED_RANKS = 10  # of runs to score, which a judge labels before all others
_MAX_UNEXPLAINED_SHARE = 0.1  # of judgments, by the pooled runs


def read_collection(
    qrels: Judgments | None,
    runs: Runs = (),
    *,
    pool: Runs | None = None,
    organizations: Organizations | None = None,
    topics_table: Table | None = None,
    documents_table: Table | None = None,
    own_judgments: Judgments | None = None,
    judges: Judges | None = None,
    order: Order = "score",
    run_id: Literal["file", "tag"] = "file",
    negative: Negative = "listed",
    exclude: Exclude | None = None,
    documents: Documents = "as-named",
    topics: Topics = "qrels",
    each_its_own: bool | None = None,
    known_depth: int | None = None,
    max_holes: float | None = None,
    pooled_run_ids: Iterable[str] | None = None,
    pool_rule: PoolRule = "leading",
    pool_strategy: str | Strategy | PoolPlan | None = None,
    scores: bool = False,
    strict: bool = True,
    max_file_size: int = MAX_FILE_SIZE,
    progress: Progress | None = None,
) -> Collection:
    """Read runs and judgments, and determine which runs were pooled and how deep.

    Parameters
    ----------
    qrels : Judgments
        A TREC file; a data frame of pandas or polars or an Arrow table; ``{query_id: {doc_id: relevance}}``;
        rows, such as those of ir_measures; an object of ranx; ``irds:`` and a name of ir_datasets; `Qrels`.
        A list of these is joined; a document with another relevance in each is an error. After a sample with
        strata, as `bayespool.auditing.draw_design` draws it, the others are answers to it. None where there
        are labels of ``judges`` alone: their documents are then unjudged.
    runs : Runs
        Runs to score, which did not contribute to the pool: paths, globs, folders and the other forms of the
        judgments, mixed at will; several of them, or a mapping from names to them
        (`bayespool.reading.gather_runs`). Their names are the collection's ``given_run_ids``, in the order
        given (files of a folder or a pattern by name); the default name is ``run``. One that is also in
        ``pool`` is read once and counts as pooled if it looks so. So does one whose rankings are those of a
        pooled run, under its name or another.
    pool : Runs, optional
        Runs of the campaign. Which of them were pooled, and how deep, is discovered
        (`bayespool.discover_pool`).
    organizations : path or several, mapping or frame, optional
        Organization of each run (a CSV or XML file, a mapping, or columns ``run_id`` and ``organization``).
        Runs of one organization resemble each other and are held out together. Other columns, such as a type,
        are attributes of runs that models may have effects of: ``"posterior-ratio + (1 | type)"``.
    topics_table : path or several, mapping or frame, optional
        Attributes of topics: columns beside ``query_id``, or ``{query_id: {column: value}}``.
    documents_table : path or several, or frame, optional
        Numbers of documents that may predict relevance, such as a length or the score of a classifier:
        columns beside ``doc_id``, and ``query_id`` where they differ by topic.
    own_judgments : Judgments, optional
        The user's judgments of unjudged documents, of ``runs`` or of others that were judged with them
        (`Collection.add_judgments`). They are compared with the qrels once runs have left the pool:
        `bayespool.score` and all estimators refuse those that contradict the qrels, and warn of those that
        agree.
    judges : path, sequence of paths, or mapping of str to labels, optional
        Labels of LLM judges, such as language models, in the form of qrels with any numbers as labels
        (`bayespool.collection.add_judges`). A judge is named by its file, or by the mapping, whose values may
        be in memory, or lists of the labels of a judge that was asked several times: their mean counts.
    order : {"score", "single-precision", "rank"}
        By score as trec_eval 10 orders, in single precision as trec_eval 9 and pytrec_eval do, or by the run
        files' ranks (`bayespool.collection.build_collection`); runs to score without ranks by score then.
    run_id : {"file", "tag"}
        Name runs by their files or by their tags.
    negative : {"listed", "sampled", "sampled-together", "unjudged", "nonrelevant"}
        Meaning of negative relevance in the judgments (`bayespool.build_collection`).
    exclude : "query", path, Judgments, mapping, or sequence of the first two, optional
        Documents that are taken out of runs and judgments before anything is scored: ``"query"``, the one
        with the id of its topic; a file of topics and documents in two columns, or ``{query_id: [doc_id]}``;
        all that other judgments judge, such as those of an earlier round (residual collections).
    documents : {"as-named", "best-passage"}
        Whether runs name documents, or passages of the documents that the judgments name. Then the suffix is
        cut that leads to judged documents (``D1#2``, ``D1_3``, ``D1.v2``), and each document is scored at the
        rank of its best passage (MaxP), as is one on several lines of a topic.
    topics : {"qrels", "run"}, path or iterable of str
        Topics whose mean is a score: those of the judgments; those that the runs to score have, which must be
        the same in all of them; or those of a file (the first word of each line) or a list.
    each_its_own : bool, optional
        Whether each run to score that ``organizations`` does not name has an organization of its own, or all
        are runs of one system, of one organization (`bayespool.collection.USER_ORGANIZATION`). By
        default they are that where there is a pool, and apart without one.
    known_depth, max_holes, pooled_run_ids
        Override the discovery of the pool.
    pool_rule : {"leading", "skipping"}
        The rule of that discovery (``rule`` of `bayespool.discover_pool`).
    pool_strategy : str, Strategy or PoolPlan, optional
        The strategy that made the pool of ``pooled_run_ids``, or of all runs of ``pool``, with budget and
        other settings: ``"take(budget=5000, run_depth=100, shares=global, rel=2, random_seed=3)"``
        (`bayespool.pooling.PoolPlan`). Nothing is then discovered (`bayespool.pooling.pool_of_strategy`).
    scores : bool, default False
        Whether to keep the scores of the runs (`Collection.score`), which some pooling strategies read.
    strict : bool, default True
        Whether an unusable line is an error; otherwise it is skipped, counted and reported in an
        `InputWarning`.
    max_file_size : int, default 512
        Largest decompressed size of one file, in MiB.
    progress : callable, optional
        Called with a text, the number of run files read and their total.

    Raises
    ------
    InputError
        Unusable input; the message names file, line and reason. So do swapped files: a run as the judgments,
        judgments as a run or as a judge, labels as the judgments.

    Warns
    -----
    InputWarning
        Runs are ordered by score, and the ranks of some order documents otherwise, beyond ties; or by rank,
        and ranks are equal or missing. Runs have topics that the qrels lack, and lack some that they have.
        Most documents at the top of a run are unjudged, and would be judged if a suffix were cut
        (``documents``).
    OrganizationWarning
        No organizations given, or (``strict=False``) runs of the pool without one: each such run of the pool
        counts as its own organization.
    PartialListWarning
        ``organizations`` lists runs that are not read.
    NoPoolWarning
        No run of the pool looks pooled.
    PoolWarning
        Fewer than half of the judgments are of documents in the pool, discovered or stated.
    StatedPoolWarning
        The judgments differ from those of the stated strategy: more than 1 % of its documents are unjudged,
        or as many others are judged (`bayespool.pooling.discovery.Misfit`).
    """
    check_reading(order=order, negative=negative, run_id=run_id, pool_rule=pool_rule, strict=strict)
    check_reading(each_its_own=each_its_own, known_depth=known_depth, max_holes=max_holes)
    check_reading(max_file_size=max_file_size, documents=documents)
    plan = None if pool_strategy is None else PoolPlan.of(pool_strategy)
    for name, value in (("known_depth", known_depth), ("max_holes", max_holes)):
        if plan is not None and value is not None:
            raise InputError(f"{name} cannot be combined with pool_strategy", hint="leave one of the two out")
    reading = Reading(
        id_from=run_id,
        strict=strict,
        ranks=order == "rank",
        may_repeat=documents == "best-passage",
        max_file_size=max_file_size,
        progress=progress,
    )
    labels = gather_judges(judges, reading=reading)
    given = list_labeled(labels) if qrels is None else gather_qrels(qrels, reading=reading)
    judgments, topic_note = select_topics(given, topics, runs, reading=reading)
    encoding = make_encoding(
        judgments,
        order=order,
        scores=scores or (plan is not None and plan.strategy.needs_scores),
        exclusion=read_exclusion(exclude, reading=reading),
        documents=documents,
    )
    own, pooled = gather_runs(runs, pool, names=("run", "pool"), reading=reading, take=encoding.encode)
    if not own and not pooled:
        raise InputError("no runs given", hint="name the runs to score, or a folder of pooled runs")
    if plan is not None and not pooled:
        raise InputError(
            "a pool strategy, and no pooled runs", hint="give the runs that contributed as the pool"
        )
    refuse_unranked(pooled)
    own = replace_copies(own, pooled)
    read = list(dict.fromkeys([*own, *pooled]))
    given_run_ids, pool_ids = ([run.run_id for run in part] for part in (own, pooled))
    organization_of = _read_organizations(organizations, [run.run_id for run in read], pool_ids, reading)
    collection = finish_collection(
        encoding,
        read,
        organizations=organization_of,
        negative=negative,
        given_run_ids=given_run_ids,
        own_run_ids=() if each_its_own else set(given_run_ids) - set(pool_ids),
        topic_note=topic_note,
    )
    of_runs = gather_attributes(organizations, "run", reading=reading)
    by_run = {n: _replace_file_names(each, list(collection.run_ids)) for n, each in of_runs.columns.items()}
    tables = Attributes(by_run), topics_table, documents_table
    collection = with_attributes(collection, *tables, reading=reading)
    collection = add_judges(collection, labels)
    own_qrels = None
    if own_judgments is not None:
        own_qrels = gather_kept_qrels(own_judgments, encoding.exclusion, reading)
    for judge in collection.judges if pool_ids else ():
        _refuse_swapped(collection, judge, pool_ids, labels[judge.name][0].path or judge.name)
    if plan is None and pool_ids:
        collection = discover_pool(
            collection,
            pool_ids,
            depth=known_depth,
            max_holes=max_holes,
            pooled_run_ids=pooled_run_ids,
            rule=pool_rule,
        )
    elif plan is not None:
        named = pool_ids if pooled_run_ids is None or means_all(pooled_run_ids) else pooled_run_ids
        collection = pool_of_strategy(collection, plan, pooled_run_ids=named)
        if not warn_of_misfit(collection):
            warn_of_doubt(describe_pool(collection))
    if each_its_own is None and not collection.pooled.any():
        collection = set_users_runs_apart(collection)
    collection = adopt_copies(collection)
    return collection if own_qrels is None else collection.attach_judgments(own_qrels)


def read_contributors(
    runs: Runs,
    qrels: Judgments | None = None,
    *,
    organizations: Organizations | None = None,
    order: Order = "score",
    run_id: Literal["file", "tag"] = "file",
    negative: Negative = "listed",
    exclude: Exclude | None = None,
    topics: Topics = "qrels",
    scores: bool = False,
    strict: bool = True,
    max_file_size: int = MAX_FILE_SIZE,
    progress: Progress | None = None,
) -> Collection:
    """Read runs to make a pool from, all marked as pooled with unknown depth.

    Parameters
    ----------
    runs : path, glob, folder or sequence of them
    qrels : path, optional
        Existing judgments. Without them the topics are those of the runs, and nothing is judged.
    organizations, order, run_id, negative, exclude, topics, strict, max_file_size, progress
        As for `read_collection`. Without organizations each run has its own.
    scores : bool, default False
        Whether to keep the scores of the runs, which some strategies need.

    Raises
    ------
    InputError
        Unusable input; the message names file, line and reason.
    """
    reading = Reading(
        id_from=run_id, strict=strict, ranks=order == "rank", max_file_size=max_file_size, progress=progress
    )
    (read,) = gather_runs(runs, reading=reading)
    run_ids = [run.run_id for run in read]
    if organizations is not None:
        organizations = _read_organizations(organizations, run_ids, run_ids, reading)
    return build_collection(
        read,
        None if qrels is None else gather_qrels(qrels, reading=reading),
        organizations=organizations,
        order=order,
        negative=negative,
        pooled_run_ids=run_ids,
        scores=scores,
        exclude=exclude,
        topics=topics,
    )


def _refuse_swapped(collection: Collection, judge: Judge, pool_ids: list[str], source: Path | str) -> None:
    """Raise `InputError` if judgments and judge labels appear to be swapped."""
    # They are swapped where the judge's documents are those of a pool of the campaign's runs, and either it
    # has no label without a judgment, and lacks labels at the top of runs to score that the qrels judge in
    # full; or no document has both, and all at that top have one.
    new = collection.run_index([run for run in collection.given_run_ids if run not in set(pool_ids)])
    labeled, judged = judge.is_labeled, collection.judged
    is_within = not (labeled & ~judged).any()
    if not len(new) or not (is_within or not (labeled & judged).any()):
        return
    top = np.zeros(len(judged) + 1, dtype=bool)
    top[within(collection.document, new, _LABELED_RANKS)] = True
    if (top[:-1] & ~judged & (is_within | ~labeled)).any() or not (top[:-1] & ~labeled).any():
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        alone = discover_pool(judge_where_labeled(collection, judge), pool_ids)
    pool = describe_pool(alone)
    if not alone.pooled.any() or pool.n_unexplained > _MAX_UNEXPLAINED_SHARE * pool.n_judged:
        return
    raise InputError(
        f"judge {judge.name!r} has labels of just the documents of the pool, and the qrels judge what it "
        "does not: the two look swapped",
        path=source,
        hint="give these as the qrels (--qrels), and what is given as the qrels as the judge (--judge)",
    )


def _read_organizations(
    organizations: Organizations | None, run_ids: list[str], pool_ids: list[str], reading: Reading
) -> dict[str, str]:
    if organizations is None:
        if pool_ids:
            warn_caller(
                "no organizations given: each run of the pool counts as an organization of its own, which "
                "understates what the run of a new organization may find unjudged",
                OrganizationWarning,
            )
        return {}
    sources = organizations if isinstance(organizations, list | tuple) else [organizations]
    path = next((str(part) for part in sources if isinstance(part, str | Path)), None)
    organization_of = _replace_file_names(gather_organizations(organizations, reading=reading), run_ids)
    unknown = [run for run in organization_of if run not in set(run_ids)]
    if unknown:
        which = f"{counted(len(unknown), 'listed run')} {'was' if len(unknown) == 1 else 'were'}"
        warn_caller(f"{path or 'organizations'}: {which} not read: {some(unknown)}", PartialListWarning)
    missing = [run for run in pool_ids if run not in organization_of]
    if missing:
        which = counted(len(missing), "run") + " of the pool"
        problem = f"{which} {'has' if len(missing) == 1 else 'have'} no organization, {missing[0]!r} for one"
        if reading.strict:
            hint = "add them, or allow it with strict=False (--reading strict=false)"
            raise InputError(problem, path=path, hint=hint)
        warn_caller(f"{path or 'organizations'}: {problem}; each counts as its own", OrganizationWarning)
    return organization_of


def _replace_file_names(organization_of: Mapping[str, str], run_ids: list[str]) -> dict[str, str]:
    """Return organizations keyed by run id, with file names such as ``final.txt`` converted to run ids.

    A name stays where a run has that very name, or the list has the id itself.
    """
    known, by_run = set(run_ids), dict[str, str]()
    for listed, organization in organization_of.items():
        file_run_id = run_id_from_name(listed)
        is_file = listed not in known and file_run_id in known and file_run_id not in organization_of
        run_id = file_run_id if is_file else listed
        if by_run.setdefault(run_id, organization) != organization:
            raise InputError(
                f"run {run_id!r}, by the names of its files, belongs to {organization!r} and to "
                f"{by_run[run_id]!r}",
                hint="keep one of them",
            )
    return by_run


_NEEDED = {"qrels": 'qrels = "qrels.txt"', "pool": 'pool = "runs"'}
_KEYS: Mapping[str, ReadingKey] = {
    **{"name": ReadingKey(), "measure": ReadingKey(), "qrels": FILES, "pool": FILES},
    **READING_KEYS,
}
# keys of old, which are settings in pool_strategy
_OF_PLAN = {f"pool_{name}": name for name in ("budget", "run_depth", "shares", "rel")}
_OF_PLAN["pool_seed"] = "random_seed"
_NAME = re.compile(r"\w[\w ()+-]*")


def read_collections(
    paths: PathLike | Iterable[PathLike],
    *,
    reading: str | Mapping[str, Any] = "",
    progress: Progress | None = None,
) -> dict[str, Collection]:
    """Read the collections described by TOML files, one per file.

    Parameters
    ----------
    paths : path or sequence of path
        The keys of a file are arguments of `bayespool.read_collection`: ``qrels`` and ``pool``, and where
        needed those of `bayespool.reading.parse_reading`. Its paths are relative to it. ``name`` is by
        default the name of the file without its ending.
    reading : str or mapping of str to object
        How all collections are read, where a file has no other value: ``"order=rank, strict=false"``
        (`bayespool.reading.parse_reading`), or other arguments of `bayespool.read_collection` by name.
    progress : callable, optional
        Called with a text, the number of run files of a collection that are read, and their total.

    Returns
    -------
    dict of str to Collection
        By name, in the order of the files.

    Raises
    ------
    InputError
        A TOML file is missing, broken, has an unknown key or an unusable value, or names files that are not
        there; two collections have one name; or a collection cannot be read. All TOML files are checked
        before the first collection is read.

    See Also
    --------
    bayespool.experiments.leave_out_several : An experiment on several collections.

    Examples
    --------
    >>> import tempfile
    >>> from bayespool.experiments import simulate_example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     simulate_example().write(folder)
    ...     file = Path(folder, "example.toml")
    ...     with open(file, "w") as toml:
    ...         print('qrels = "qrels.txt"', file=toml)
    ...         print('pool = "pool"', file=toml)
    ...         print('organizations = "organizations.csv"', file=toml)
    ...     collections = read_collections(file)
    >>> {name: len(collection.pooled_run_ids) for name, collection in collections.items()}
    {'example': 21}
    """
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    described = [read_description(Path(path), _NEEDED) for path in files]
    check_collection_names(each.name for each in described)
    shared = parse_reading(reading) if isinstance(reading, str) else dict(reading)
    collections = {}
    for path, (name, arguments, _) in zip(files, described, strict=True):
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                collections[name] = read_collection(progress=progress, **shared | arguments)
        except InputError as error:
            error.add_note(f"in the collection that {path} describes")
            raise
        for warning in caught:
            warn_caller(f"{name}: {warning.message}", warning.category)
    return collections


def check_collection_names(names: Iterable[str]) -> None:
    """Raise `InputError` if a collection name is a duplicate or cannot be a folder name."""
    known: set[str] = set()
    for name in names:
        if not _NAME.fullmatch(name):
            hint = "take letters, digits, hyphens and spaces: a folder has this name"
            raise InputError(f"a collection cannot be called {name!r}", hint=hint)
        if name.casefold() in known:
            raise InputError(
                f"two collections are called {name!r}",
                hint='give one another name, as name = "…" in its file',
            )
        known.add(name.casefold())


class Description(NamedTuple):
    """Description of a collection in a TOML file: name, arguments of `read_collection`, measure."""

    name: str
    arguments: dict[str, Any]
    measure: str | None


def read_description(path: Path, needed: Iterable[str] = ("qrels",)) -> Description:
    """Read the TOML file of a collection, with the keys that are needed."""
    given, line_of = read_toml(path)
    for key in needed:
        if key not in given:
            raise InputError(f"{key} is missing", path=path, hint=f"add a line {_NEEDED[key]}")
    arguments = {}
    for key, value in given.items():
        try:
            arguments[key] = _argument(key, value, path.parent)
        except InputError as error:
            raise InputError(error.reason, path=path, line=line_of(key), hint=error.hint) from None
    name, measure = arguments.pop("name", path.stem), arguments.pop("measure", None)
    return Description(name, arguments, measure)


def _argument(key: str, value: Any, folder: Path) -> Any:
    """Return the argument of `read_collection` for a TOML key's value."""
    if key in _OF_PLAN:
        hint = f'write it in pool_strategy, such as "take({_OF_PLAN[key]}={value})"'
        raise InputError(f"unknown key {key!r}", hint=hint)
    check_key(key, value, _KEYS)
    if key == "name":
        check_collection_names([value])
    if key == "measure":
        parse_sole_measure(value)
    if not _KEYS[key].is_path:
        return value
    if isinstance(value, dict):
        return {judge: _path(key, item, folder) for judge, item in value.items()}
    items = value if isinstance(value, list) else [value]
    paths = [_path(key, item, folder) for item in items]
    return paths if _KEYS[key].multiple else paths[0]


def _path(key: str, value: str, folder: Path) -> str:
    """Return a path or pattern resolved against a folder; data set names and keywords stay unchanged."""
    if irds_name(value) or value in _KEYS[key].words:
        return value
    path = str(folder / os.path.expanduser(value))  # which leaves an unknown user's ~name
    try:
        find_files(path)
    except InputError as error:
        raise InputError(
            f"{key} cannot be {value!r}: {error.path}: {error.reason}",
            hint=f"paths are relative to the folder of this file, {folder}",
        ) from None
    return path
