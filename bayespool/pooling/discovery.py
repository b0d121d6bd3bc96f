"""Discover which runs were pooled and how deep, and whether judgments are those of a stated strategy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bayespool.collection import UNJUDGED, Collection
from bayespool.collection.contents import say_no_pool, some
from bayespool.collection.pools import DepthPool
from bayespool.collection.rankings import blocks
from bayespool.errors import (
    InputError,
    PoolWarning,
    StatedPoolWarning,
    did_you_mean,
    known_names,
    warn_caller,
)
from bayespool.pooling.pools import StrategyPool
from bayespool.tables.formatting import counted

PoolRule = Literal["leading", "skipping"]

_MAX_MISSING_SHARE = 0.01  # of a run's documents
_MIN_OWN_DOCUMENTS = 10
_MIN_RUNS_PER_TIER = 2
_MIN_EXPLAINED_SHARE, _FULLY_EXPLAINED_SHARE = 1 / 3, 0.99  # of the judgments


@dataclass(frozen=True, slots=True)
class PoolReport:
    """Summary of the pool of a collection.

    Attributes
    ----------
    n_pooled_runs, n_runs : int
        Runs that contributed, and all runs.
    n_organizations : int
        Organizations with a pooled run.
    depth : int
        Pool depth, the common one; 0 without a pooled run.
    n_holes : int
        Unjudged (topic, document) pairs that a pooled run retrieved within its depth, or that the strategy of
        the pool chooses; 0 in a clean pool.
    n_judged, n_unexplained : int
        Judgments, and those among them whose document no pooled run retrieved within its depth (absent or
        deeper contributors, sampling, manual searches), or the strategy does not choose.
    depths : tuple of (int, int)
        Each depth to which a run was pooled, the deepest first, and the number of runs.
    nearly_pooled : tuple of str
        Nearly pooled runs and what each lacks, those that lack least first. Runs to score are left out.
    negatives : str
        Number and meaning of negative judgments; empty without any.
    strategy : str
        Strategy and budget that made the pool; empty where it has a depth. ``depth`` is then that of a depth
        pool of the same size.
    """

    n_pooled_runs: int
    n_runs: int
    n_organizations: int
    depth: int
    n_holes: int
    n_judged: int
    n_unexplained: int
    depths: tuple[tuple[int, int], ...] = ()
    nearly_pooled: tuple[str, ...] = ()
    negatives: str = ""
    strategy: str = ""

    def __str__(self) -> str:
        negatives = f", {self.negatives}" if self.negatives else ""
        if self.n_pooled_runs == 0:
            runs = counted(self.n_runs, "run")
            return f"no pooled run among {runs}; {counted(self.n_judged, 'judgment')}{negatives}"
        pooling = f"by {self.strategy}" if self.strategy else f"to depth {self.depth}"
        if len(self.depths) > 1:
            pooling = "to depths " + ", ".join(f"{depth} ({counted(n, 'run')})" for depth, n in self.depths)
        return (
            f"{self.n_pooled_runs} of {counted(self.n_runs, 'run')} pooled {pooling} "
            f"({counted(self.n_organizations, 'organization')}), {counted(self.n_holes, 'hole')}; "
            f"{counted(self.n_judged, 'judgment')}, {self.n_unexplained:,} not explained "
            f"by these runs{negatives}"
        )

    def text(self, n_shown: int = 3) -> str:
        """The report, with a second line on nearly pooled runs."""
        if not self.nearly_pooled:
            return str(self)
        n_more = len(self.nearly_pooled) - n_shown
        more = f" and {n_more} more" if n_more > 0 else ""
        runs = ", ".join(self.nearly_pooled[:n_shown])
        return (
            f"{self}\n  nearly pooled, and not taken for it: {runs}{more}; "
            "--max-holes or --pooled-runs take them in"
        )


def describe_pool(collection: Collection) -> PoolReport:
    """Summarize the pool of a collection.

    Examples
    --------
    >>> from bayespool import load_example
    >>> describe_pool(load_example()).n_holes
    0
    """
    judged = collection.relevance >= 0
    inside = collection.in_pool()
    pooled = np.flatnonzero(collection.pooled)
    depths, n_runs = np.unique(collection.depth_of(pooled), return_counts=True)
    is_given = np.isin(np.array(collection.run_ids, dtype=object), collection.given_run_ids)
    pool = collection.pool
    by_strategy = isinstance(pool, StrategyPool)
    others = np.flatnonzero(~collection.pooled & ~is_given)
    nearly = [] if by_strategy else _nearly_pooled(collection, others)
    return PoolReport(
        n_pooled_runs=len(pooled),
        n_runs=len(collection.run_ids),
        n_organizations=len(np.unique(collection.organization[pooled])),
        depth=collection.pool_depth,
        n_holes=int((inside & ~judged).sum()),
        n_judged=int(judged.sum()),
        n_unexplained=int((judged & ~inside).sum()),
        depths=tuple((int(d), int(n)) for d, n in zip(depths[::-1], n_runs[::-1], strict=True)),
        nearly_pooled=tuple(
            f"{collection.run_ids[run]} ({n_missing} of {counted(n_documents, 'document')} unjudged)"
            for run, n_missing, n_documents in sorted(nearly, key=lambda near: near[1] / near[2])
        ),
        negatives=str(collection.negatives),
        strategy=str(pool) if by_strategy else "",
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
    """Discover the pooled runs and their depths.

    The collection that comes back shares all arrays with the input.

    Parameters
    ----------
    collection : Collection
    candidates : iterable of str, optional
        Runs that may have been pooled (default: all), not those to score as new.
    depth : int, optional
        Pool depth where it is known.
    max_holes : int, optional
        Documents per topic that a pooled run may lack within the depth; default ``depth // 20`` (``depth //
        10`` for ``rule="skipping"``), with a depth of at most the longest run's.
    pooled_run_ids : iterable of str, optional
        The pooled runs where they are known, whatever their judgments. Steps 3 and 4 of the rule apply only
        where depth, holes and runs are all left out.
    rule : {"leading", "skipping"}
        Rule of discovery (:doc:`/files`); ``"skipping"`` is for reproductions of 2015.

    Raises
    ------
    InputError
        Unknown run or rule, negative depth or holes, pooled runs whose depth cannot be discovered.

    Warns
    -----
    NoPoolWarning
        No candidate looks pooled.
    PoolWarning
        The pooled runs explain fewer than half of the judgments, so that held-out evidence may mislead.
    """
    if (depth is not None and depth < 1) or (max_holes is not None and max_holes < 0):
        raise InputError("the pool depth must be at least 1 and the number of holes at least 0")
    if rule not in get_args(PoolRule):
        raise InputError(f"no pool rule {rule!r}", hint=known_names(rule, get_args(PoolRule)))
    known_depth = depth
    named = None if pooled_run_ids is None else collection.run_index(pooled_run_ids)
    index = named if named is not None else collection.run_index(candidates)
    if depth is None:
        depth = _commonest_depth(collection, index, rule) if len(index) else 0
        if depth == 0 and named is not None and len(named):
            hint = "give the depth (known_depth, --known-depth)"
            raise InputError("the depth of the named runs' pool cannot be told from the judgments", hint=hint)
    even = rule == "skipping" or not (named is None and known_depth is None and max_holes is None)
    if named is None:
        # a stated depth may be larger
        reached = min(depth, int(collection.length[index].max(initial=0)))
        if max_holes is None:
            max_holes = reached // 20 if rule == "leading" else reached // 10
        candidates_index, index = index, index[_is_pooled(collection, index, reached, max_holes, rule)]
    pooled = np.zeros(len(collection.run_ids), dtype=bool)
    pooled[index] = depth > 0
    discovered = collection.with_pool(pooled, depth if pooled.any() else 0)
    if not even and pooled.any():
        discovered = _with_nearly_pooled(_with_other_depths(discovered, candidates_index), candidates_index)
    if discovered.pooled.any():
        warn_of_unexplained(describe_pool(discovered), "discovered")
    else:
        message = "no run looks pooled: posterior estimates will rest on informative priors"
        hint = "name pooled runs and a depth if you know them"
        say_no_pool(discovered, f"{message}; {hint}")
    return discovered


def warn_of_unexplained(report: PoolReport, which: str) -> None:
    """Warn (`PoolWarning`) if the discovered or stated pool explains less than half of the judgments."""
    if report.n_unexplained > report.n_judged / 2:
        message = f"the {which} pool explains less than half of the judgments: {report}"
        warn_caller(f"{message}; are runs of the campaign missing, or is its depth another one?", PoolWarning)


def _with_other_depths(collection: Collection, candidates: npt.NDArray[np.intp]) -> Collection:
    """Add runs with depths of their own (step 3 of docs/files.md)."""
    common = collection.pool_depth
    depths = np.full(len(collection.run_ids), common, dtype=np.int32)
    missing, own, n_ranks = _missing(collection), _outside(collection), collection.document.shape[2]
    for run in candidates:
        top, end = (common, n_ranks) if collection.pooled[run] else (0, min(common, n_ranks))
        n_documents, n_missing, n_own, n_own_missing = np.zeros((4, n_ranks), dtype=np.intp)
        for topics, depth in blocks(collection.document, run):
            document = collection.document[run, topics, :depth]
            n_documents[:depth] += (document >= 0).sum(axis=0)
            n_missing[:depth] += missing[document].sum(axis=0)
            n_own[:depth] += own[document].sum(axis=0)
            n_own_missing[:depth] += (own & missing)[document].sum(axis=0)
        balance = np.append(0, np.cumsum((n_own - 5 * n_own_missing)[top:end]))
        depth = top + int(balance.argmax())
        within, below = slice(top, depth), slice(depth, min(end, max(2 * depth - top, common)))
        if (
            n_missing[within].sum() <= _MAX_MISSING_SHARE * n_documents[within].sum()
            and min(n_own[within].sum(), n_own[below].sum()) >= _MIN_OWN_DOCUMENTS
            and 2 * n_own_missing[below].sum() >= n_own[below].sum()
        ):
            depths[run] = depth
    tiers, n_runs = np.unique(depths, return_counts=True)
    depths[~np.isin(depths, tiers[n_runs >= _MIN_RUNS_PER_TIER])] = common
    pooled = collection.pooled | (depths != common)
    return collection.with_pool(pooled, DepthPool(common, tuple(depths.tolist())))


def _with_nearly_pooled(collection: Collection, candidates: npt.NDArray[np.intp]) -> Collection:
    """Add nearly pooled runs where they explain the other judgments (step 4 of docs/files.md)."""
    nearly = [run for run, *_ in _nearly_pooled(collection, candidates[~collection.pooled[candidates]])]
    pooled = collection.pooled.copy()
    pooled[nearly] = True
    more = collection.with_pool(pooled, collection.pool)
    if _explained(collection) < _MIN_EXPLAINED_SHARE or _explained(more) >= _FULLY_EXPLAINED_SHARE:
        return more
    return collection


def _nearly_pooled(collection: Collection, runs: npt.NDArray[np.intp]) -> list[tuple[int, int, int]]:
    """Nearly pooled runs among some: position, missing documents and documents down to the depth."""
    missing, own = _missing(collection), _outside(collection)
    nearly = []
    for run in runs:
        document = collection.document[run, :, : collection.pool_depth]
        n_documents, n_missing = int((document >= 0).sum()), int(missing[document].sum())
        if n_missing <= _MAX_MISSING_SHARE * n_documents and own[document].sum() > 2 * n_missing:
            nearly.append((int(run), n_missing, n_documents))
    return nearly


def _explained(collection: Collection) -> float:
    """Share of the judgments whose documents pooled runs contributed."""
    return float(collection.in_pool()[collection.relevance >= 0].mean())


def _missing(collection: Collection) -> npt.NDArray[np.bool_]:
    """Pairs outside the pool by the judgments, shape (pair + 1,); the last is that of −1, no document."""
    return np.append(collection.relevance == UNJUDGED, False)


def _outside(collection: Collection) -> npt.NDArray[np.bool_]:
    """Pairs that no pooled run contributed, shape (pair + 1,); the last is that of −1, no document."""
    return np.append(~collection.in_pool(), False)


def take_out(
    collection: Collection,
    names: str | Iterable[str],
    *,
    by: Literal["organization", "run"] = "organization",
) -> tuple[Collection, dict[str, str]]:
    """The collection without some runs or organizations in its pool; what left, by run to score."""
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
                hint=f"{did_you_mean(name, (*home, *members))} runs: {some(collection.run_ids)}; "
                f"organizations: {some(collection.organizations)}".lstrip(),
            )
        if name not in home and by == "run":
            raise InputError(f"{name!r} is an organization", hint="by run, name runs")
        if by == "run":
            unit, leaving, scored = f"run {name}", [name], [name]
        else:
            organization = home.get(name, name)
            unit, leaving = f"organization {organization}", members[organization]
            scored = [name] if name in home else leaving
        gone[unit] = leaving
        taken |= dict.fromkeys(scored, unit)
    pooled = set(collection.pooled_run_ids)
    for unit, leaving in gone.items():
        if not pooled.intersection(leaving):
            raise InputError(f"{unit} is not in the pool", hint="its runs are scored as new as they are")
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
    depths, frequency = np.unique(counted[counted > 0], return_counts=True)
    return int(depths[frequency == frequency.max()].max()) if len(depths) else 0


def _is_pooled(
    collection: Collection, index: npt.NDArray[np.intp], depth: int, max_holes: int, rule: PoolRule
) -> npt.NDArray[np.bool_]:
    if depth == 0:
        return np.zeros(len(index), dtype=bool)
    length = collection.length[index]
    if rule == "leading":
        within = np.asarray(_leading(collection, index, max_holes) >= np.minimum(length, depth))
    else:
        present = _leading(collection, index, max_holes, present_only=True)
        within = np.asarray((present >= depth) | (10 * (length - present) <= depth))
    return np.asarray(within.all(axis=1))


def _leading(
    collection: Collection, index: npt.NDArray[np.intp], max_holes: int, *, present_only: bool = False
) -> npt.NDArray[np.int32]:
    """Documents, or those in the pool, before one is missing after ``max_holes``, shape (run, topic)."""
    missing = _missing(collection)
    n_leading = np.empty((len(index), len(collection.query_ids)), dtype=np.int32)
    for row, run in enumerate(index):
        for topics, depth in blocks(collection.document, run):
            hole = missing[collection.document[run, topics, :depth]]
            n_holes: npt.NDArray[np.intp] = np.cumsum(hole, axis=1)
            before = n_holes <= max_holes
            n_leading[row, topics] = np.minimum(before.sum(axis=1), collection.length[run, topics])
            if present_only:
                n_leading[row, topics] -= (before & hole).sum(axis=1)
    return n_leading


_MAX_MISFIT_SHARE = 0.01  # of the documents chosen


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """Differences between judgments and a strategy's pool, as numbers of documents."""

    n_chosen: int  # by the strategy
    n_unjudged: int  # of those chosen
    n_others: int  # judged documents that it could have chosen and did not, without added judgments
    is_sample: bool

    @property
    def is_large(self) -> bool:
        """Whether either number is above 1 % of the documents chosen, and above 1."""
        return max(self.n_unjudged, self.n_others) > max(1, _MAX_MISFIT_SHARE * self.n_chosen)

    def __str__(self) -> str:
        scope = "of the sample" if self.is_sample else "that the strategy chooses"
        parts = [f"documents {scope} without a judgment: {self.n_unjudged} of {self.n_chosen}"]
        others = f"judgments that are not {scope}: {self.n_others}"
        if not self.is_sample:
            others = f"judgments of others that it could have chosen: {self.n_others}"
        return ", ".join(parts * bool(self.n_unjudged) + [others] * bool(self.n_others))


def misfit_of(collection: Collection) -> Misfit | None:
    """Differences between a collection's judgments and its pool; None where no strategy made the pool."""
    pool = collection.pool
    if not isinstance(pool, StrategyPool):
        return None
    pooled = np.flatnonzero(collection.pooled)
    chosen = pool.judged(collection, pooled)
    others = pool.candidates(collection, pooled) & ~chosen & collection.judged & ~collection.is_own
    return Misfit(
        n_chosen=int(chosen.sum()),
        n_unjudged=int((chosen & ~collection.judged).sum()),
        n_others=int(others.sum()),
        is_sample=pool.is_sample,
    )


def warn_of_misfit(collection: Collection) -> bool:
    """Warn the caller's caller (`StatedPoolWarning`) if the misfit is large, and return whether it is."""
    misfit = misfit_of(collection)
    if misfit is None or not misfit.is_large:
        return False
    rest = "; corrections for samples give no value" if misfit.is_sample else ""
    warn_caller(
        f"the pool was not made as stated ({collection.pool}): {misfit}; look at strategy, budget, run "
        f"depth, shares, rel and seed, and at who contributed{rest}",
        StatedPoolWarning,
    )
    return True
