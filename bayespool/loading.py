"""From files to a `Collection` whose pool is known: the one call that most users start with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from bayespool.collection import Collection, Negative, Order, build_collection
from bayespool.errors import InputError, InputWarning, NoPoolWarning, OrganizationWarning
from bayespool.pool import PoolRule, discover_pool
from bayespool.trec import find_files, read_organizations, read_qrels, read_runs

__all__ = ["read_collection"]

Source = str | Path | Sequence[str | Path]


def read_collection(
    qrels: str | Path,
    runs: Source = (),
    *,
    pool: Source | None = None,
    organizations: str | Path | Mapping[str, str] | None = None,
    own_judgments: str | Path | None = None,
    order: Order = "score",
    run_id: Literal["file", "tag"] = "file",
    negative: Negative = "listed",
    each_its_own: bool = False,
    known_depth: int | None = None,
    max_holes: int | None = None,
    pooled_run_ids: Iterable[str] | None = None,
    pool_rule: PoolRule = "leading",
    scores: bool = False,
    strict: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Collection:
    """A collection read from TREC files.

    Parameters
    ----------
    qrels : path
        The judgments.
    runs : path, glob, folder or sequence of them
        Runs to score, which did not contribute to the pool. Their names are the collection's
        ``given_run_ids``, in the order given (files of a folder or a pattern by name). One that also lies in
        ``pool`` is read once and counts as pooled if it looks so.
    pool : path, glob, folder or sequence of them, optional
        Runs of the campaign; which of them were pooled, and how deep, is discovered
        (`bayespool.discover_pool`).
    organizations : path or mapping, optional
        Who submitted which run (CSV or XML file). Runs of one organization resemble each other and are held
        out together. Runs to score that it does not name are of one organization, the user's own
        (`bayespool.collection.USER_ORGANIZATION`).
    own_judgments : path, optional
        Judgments of one's own on documents of ``runs`` that nobody had judged (`Collection.add_judgments`).
    order : {"score", "rank"}
        trec_eval's order, or the run files' ranks.
    run_id : {"file", "tag"}
        Name runs by their files or by their tags.
    negative : {"listed", "unjudged", "nonrelevant"}
        What a negative relevance in the judgments means (`bayespool.build_collection`).
    each_its_own : bool
        Whether each run to score that ``organizations`` does not name is of an organization of its own.
    known_depth, max_holes, pooled_run_ids
        Override the discovery of the pool.
    pool_rule : {"leading", "skipping"}
        The rule of that discovery (``rule`` of `bayespool.discover_pool`).
    scores : bool, default False
        Whether the collection keeps the scores of the runs (`Collection.score`), which some pooling
        strategies read.
    strict : bool, default True
        Whether a line that cannot be used is an error; otherwise it is skipped, counted and reported in an
        `InputWarning`.
    progress : callable, optional
        Called with the number of run files read and their total.

    Returns
    -------
    Collection

    Raises
    ------
    InputError
        Unusable input; the message names file, line and reason.

    Warns
    -----
    OrganizationWarning
        No organizations given, or (``strict=False``) runs of the pool without one: each such run of the pool
        counts as its own organization.
    NoPoolWarning
        No pooled run at hand.
    """
    own = _distinct(runs) if runs else []
    pooled = _distinct(pool) if pool is not None else []
    if not own and not pooled:
        raise InputError("no runs given", hint="name the runs to score, or a folder of pooled runs")
    files = [*own, *(path for path in pooled if path not in set(own))]
    judgments = read_qrels(qrels, strict=strict)
    by_path = {
        run.path: run
        for run in read_runs(files, id_from=run_id, strict=strict, ranks=order == "rank", progress=progress)
    }
    read = [by_path[path] for path in files]
    pool_ids = [by_path[path].run_id for path in pooled]
    organization_of = _organizations(organizations, [run.run_id for run in read], pool_ids, strict=strict)
    given = [by_path[path].run_id for path in own]
    collection = build_collection(
        read,
        judgments,
        organizations=organization_of,
        order=order,
        negative=negative,
        given_run_ids=given,
        own_run_ids=() if each_its_own else set(given) - set(pool_ids),
        scores=scores,
    )
    own_qrels = None if own_judgments is None else read_qrels(own_judgments, strict=strict)
    if not pool_ids:
        rest = "alone" if own_qrels is None else "and on the judgments of your own"
        warnings.warn(
            f"no pooled runs given: posterior estimates rest on informative priors {rest}",
            NoPoolWarning,
            stacklevel=2,
        )
        return collection if own_qrels is None else collection.add_judgments(own_qrels)
    collection = discover_pool(
        collection,
        pool_ids,
        depth=known_depth,
        max_holes=max_holes,
        pooled_run_ids=pooled_run_ids,
        rule=pool_rule,
    )
    return collection if own_qrels is None else collection.add_judgments(own_qrels)


def _distinct(source: Source) -> list[Path]:
    """Files, each once, in the order of the parts of a source; a link keeps its name, which names the run."""
    parts = [source] if isinstance(source, str | Path) else source
    files = [path for part in parts for path in find_files(part)]
    return list(dict.fromkeys(path.parent.resolve() / path.name for path in files))


def _organizations(
    given: str | Path | Mapping[str, str] | None, run_ids: list[str], pool_ids: list[str], *, strict: bool
) -> dict[str, str]:
    if given is None:
        if pool_ids:
            warnings.warn(
                "no organizations given: each run of the pool counts as an organization of its own, which "
                "understates what the run of a new organization may find unjudged",
                OrganizationWarning,
                stacklevel=3,
            )
        return {}
    path = given if isinstance(given, (str, Path)) else None
    organization_of = dict(given) if isinstance(given, Mapping) else read_organizations(given)
    unknown = [run for run in organization_of if run not in set(run_ids)]
    if unknown:
        problem = f"{len(unknown)} listed runs are not among the runs read, {unknown[0]!r} for one"
        if strict:
            raise InputError(
                problem,
                path=path,
                hint="mend the list, add the runs, or allow it with strict=False (--lenient)",
            )
        warnings.warn(f"{path or 'organizations'}: {problem}", InputWarning, stacklevel=3)
    missing = [run for run in pool_ids if run not in organization_of]
    if missing:
        problem = f"{len(missing)} runs of the pool have no organization, {missing[0]!r} for one"
        if strict:
            raise InputError(problem, path=path, hint="add them, or allow it with strict=False (--lenient)")
        warnings.warn(
            f"{path or 'organizations'}: {problem}; each counts as its own", OrganizationWarning, stacklevel=3
        )
    return organization_of
