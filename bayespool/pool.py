"""Which runs were pooled, and how deep: discovered from rankings and judgments, and reported.

The rule, after the published tool (its default, *mode*): count each run's leading judged documents on each
topic. A topic whose documents are all judged says nothing about depth. A run's depth is its smallest count
over the other topics, 0 if its first document is unjudged anywhere. The pool depth is the commonest depth
above 0 (the larger one of equals), and a run was pooled if on every topic its first ``depth`` documents, or
all it has, are judged but for ``max_holes`` at the most. One hole in twenty is tolerated by default.

``rule="skipping"`` is the rule of the tool that Lipani et al. (2015) used, for reproduction: the pool depth
is the commonest count over all runs and topics, and a run was pooled if on every topic ``depth`` *judged*
documents come before its unjudged document number ``max_holes + 1``, or at most depth/10 documents more than
those that do are left. One hole in ten is tolerated by default.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.collection.contents import some
from bayespool.errors import InputError, NoPoolWarning, PoolWarning

__all__ = ["PoolReport", "PoolRule", "describe_pool", "discover_pool", "take_out"]

PoolRule = Literal["leading", "skipping"]


@dataclass(frozen=True, slots=True)
class PoolReport:
    """What the pool of a collection looks like.

    Attributes
    ----------
    n_pooled_runs, n_runs : int
        Runs that contributed, and all runs.
    n_organizations : int
        Organizations with a pooled run.
    depth : int
        Pool depth; 0 without a pooled run.
    n_holes : int
        Unjudged (topic, document) pairs that a pooled run retrieved within the depth; 0 in a clean pool.
    n_judged, n_unexplained : int
        Judgments, and those among them whose document no pooled run retrieved within the depth (absent or
        deeper contributors, sampling, manual searches).
    """

    n_pooled_runs: int
    n_runs: int
    n_organizations: int
    depth: int
    n_holes: int
    n_judged: int
    n_unexplained: int

    def __str__(self) -> str:
        if self.n_pooled_runs == 0:
            return f"no pooled run among {self.n_runs} runs; {self.n_judged} judgments"
        return (
            f"{self.n_pooled_runs} of {self.n_runs} runs pooled to depth {self.depth} "
            f"({self.n_organizations} organizations), {self.n_holes} holes; "
            f"{self.n_judged} judgments, {self.n_unexplained} not explained by these runs"
        )


def describe_pool(collection: Collection) -> PoolReport:
    """A report of the pool as the collection has it.

    Examples
    --------
    >>> from bayespool import load_example
    >>> describe_pool(load_example()).n_holes
    0
    """
    judged = collection.relevance >= 0
    inside = collection.pool()
    return PoolReport(
        n_pooled_runs=int(collection.pooled.sum()),
        n_runs=len(collection.run_ids),
        n_organizations=len(np.unique(collection.organization[collection.pooled])),
        depth=collection.pool_depth,
        n_holes=int((inside & ~judged).sum()),
        n_judged=int(judged.sum()),
        n_unexplained=int((judged & ~inside).sum()),
    )


def discover_pool(
    collection: Collection,
    candidates: Iterable[str] | None = None,
    *,
    depth: int | None = None,
    max_holes: int | None = None,
    pooled_run_ids: Iterable[str] | None = None,
    rule: PoolRule = "leading",
) -> Collection:
    """The collection with its pool depth and pooled runs filled in.

    Parameters
    ----------
    collection : Collection
    candidates : iterable of str, optional
        Runs that may have been pooled (default: all). A run that is to be scored as new is not one of them.
    depth : int, optional
        Pool depth where it is known; else it is discovered.
    max_holes : int, optional
        Unjudged documents per topic that a pooled run may have within the depth; default ``depth // 20``
        (``depth // 10`` for ``rule="skipping"``).
    pooled_run_ids : iterable of str, optional
        The pooled runs where they are known; nothing is then asked of their judgments.
    rule : {"leading", "skipping"}
        How runs and depth are found, see the top of this page; ``"skipping"`` is for reproductions of 2015.

    Returns
    -------
    Collection
        Shares all arrays with the one given.

    Raises
    ------
    InputError
        Unknown run or rule, negative depth or holes, pooled runs named without any depth to be found.

    Warns
    -----
    NoPoolWarning
        No candidate looks pooled.
    PoolWarning
        Fewer than half of the judgments are explained by the pooled runs, so that held-out evidence may
        mislead.
    """
    if (depth is not None and depth < 1) or (max_holes is not None and max_holes < 0):
        raise InputError("the pool depth must be at least 1 and the number of holes at least 0")
    if rule not in get_args(PoolRule):
        raise InputError(f"no pool rule {rule!r}", hint=f"known: {', '.join(get_args(PoolRule))}")
    named = None if pooled_run_ids is None else collection.run_index(pooled_run_ids)
    index = named if named is not None else collection.run_index(candidates)
    if depth is None:
        depth = _commonest_depth(collection, index, rule) if len(index) else 0
        if depth == 0 and named is not None and len(named):
            raise InputError(
                "the depth of the named runs' pool cannot be told from the judgments",
                hint="give the depth (known_depth, --known-depth)",
            )
    if named is None:
        if max_holes is None:
            max_holes = depth // 20 if rule == "leading" else depth // 10
        index = index[_is_pooled(collection, index, depth, max_holes, rule)]
    pooled = np.zeros(len(collection.run_ids), dtype=bool)
    pooled[index] = depth > 0
    found = dataclasses.replace(collection, pooled=pooled, pool_depth=depth if pooled.any() else 0)
    report = describe_pool(found)
    if report.n_pooled_runs == 0:
        warnings.warn(
            "no run looks pooled: posterior estimates will rest on informative priors; name pooled runs and "
            "a depth if you know them",
            NoPoolWarning,
            stacklevel=2,
        )
    elif report.n_unexplained > report.n_judged / 2:
        warnings.warn(
            f"the discovered pool explains less than half of the judgments: {report}",
            PoolWarning,
            stacklevel=2,
        )
    return found


def take_out(
    collection: Collection,
    names: str | Iterable[str],
    *,
    by: Literal["organization", "run"] = "organization",
) -> tuple[Collection, dict[str, str]]:
    """The collection as if some runs were new to it, and these runs.

    Parameters
    ----------
    collection : Collection
    names : str or iterable of str
        Runs, or organizations with all their runs.
    by : {"organization", "run"}
        What leaves the pool with a run: its organization's other runs, too, as the run of a new organization
        has no sibling in the pool, or the run alone.

    Returns
    -------
    Collection
        Without what only the runs taken out had brought (`Collection.unpool`).
    dict of str to str
        The named runs and those of named organizations, each with what left the pool because of it:
        ``"organization north"`` or ``"run north-1"``.

    Raises
    ------
    InputError
        A name is neither a run nor an organization, or both and not the same; an organization with
        ``by="run"``; no run that was pooled is concerned.

    Examples
    --------
    >>> from bayespool import load_example
    >>> smaller, runs = take_out(load_example(), "north-1")
    >>> runs, "north-2" in smaller.pooled_run_ids
    ({'north-1': 'organization north'}, False)
    """
    if by not in ("organization", "run"):
        raise InputError(f"cannot take out by {by!r}", hint="organization or run")
    members: dict[str, list[str]] = {}
    for run, organization in zip(collection.run_ids, collection.organization.tolist(), strict=True):
        members.setdefault(collection.organizations[organization], []).append(run)
    home = {run: organization for organization, runs in members.items() for run in runs}
    gone: dict[str, list[str]] = {}
    taken: dict[str, str] = {}
    for name in (names,) if isinstance(names, str) else names:
        if name in home and name in members and members[name] != [name]:
            raise InputError(
                f"{name!r} is a run and an organization of other runs",
                hint=f"name the runs of the organization ({some(members[name])}), or rename one of the two",
            )
        if name not in home and name not in members:
            raise InputError(
                f"{name!r} is neither a run nor an organization",
                hint=f"runs: {some(collection.run_ids)}; organizations: {some(collection.organizations)}",
            )
        if name not in home and by == "run":
            raise InputError(f"{name!r} is an organization", hint="by run, name runs")
        if by == "run":
            what, leaving, scored = f"run {name}", [name], [name]
        else:
            organization = home.get(name, name)
            what, leaving = f"organization {organization}", members[organization]
            scored = [name] if name in home else leaving
        gone[what] = leaving
        taken |= dict.fromkeys(scored, what)
    pooled = set(collection.pooled_run_ids)
    for what, leaving in gone.items():
        if not pooled.intersection(leaving):
            raise InputError(f"{what} is not in the pool", hint="its runs are scored as new as they are")
    return collection.unpool([run for leaving in gone.values() for run in leaving]), taken


def _commonest_depth(collection: Collection, index: npt.NDArray[np.intp], rule: PoolRule) -> int:
    n_leading = _leading(collection, index, max_holes=0)
    if rule == "skipping":
        counted = n_leading.ravel()
    else:
        length = collection.length[index]
        informative: npt.NDArray[np.bool_] = n_leading < length
        smallest: npt.NDArray[np.int32] = np.where(informative, n_leading, np.iinfo(np.int32).max).min(axis=1)
        counted = np.where(informative.any(axis=1), smallest, length.max(axis=1, initial=0))
    depths, n_found = np.unique(counted[counted > 0], return_counts=True)
    return int(depths[n_found == n_found.max()].max()) if len(depths) else 0


def _is_pooled(
    collection: Collection, index: npt.NDArray[np.intp], depth: int, max_holes: int, rule: PoolRule
) -> npt.NDArray[np.bool_]:
    if depth == 0:
        return np.zeros(len(index), dtype=bool)
    length = collection.length[index]
    if rule == "leading":
        within = np.asarray(_leading(collection, index, max_holes) >= np.minimum(length, depth))
    else:
        n_judged = _leading(collection, index, max_holes, judged_only=True)
        within = np.asarray((n_judged >= depth) | (10 * (length - n_judged) <= depth))
    return np.asarray(within.all(axis=1))


def _leading(
    collection: Collection, index: npt.NDArray[np.intp], max_holes: int, *, judged_only: bool = False
) -> npt.NDArray[np.int32]:
    """Documents, or judged ones only, before the first unjudged one, or before the one after ``max_holes``
    unjudged ones; shape (run, topic).
    """
    unjudged = np.append(collection.relevance < 0, False)  # the last entry answers for -1, no document
    n_leading = np.empty((len(index), len(collection.query_ids)), dtype=np.int32)
    for row, run in enumerate(index):
        hole = unjudged[collection.document[run]]
        n_holes: npt.NDArray[np.intp] = np.cumsum(hole, axis=1)
        before = n_holes <= max_holes
        n_leading[row] = np.minimum(before.sum(axis=1), collection.length[run])
        if judged_only:
            n_leading[row] -= (before & hole).sum(axis=1)
    return n_leading
