"""What the experiments on random pools share: the draw of a pool and of runs outside it.

A pool of w contributors is drawn from those whose judgments are all known, and runs outside it are scored as
new ones: by the judgments that the drawn contributors alone would have brought.

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.caught_warnings import CaughtWarnings, own_warnings, warn_once
from bayespool.experiments.fold_results import naming, seeded
from bayespool.experiments.folds import seed_of
from bayespool.experiments.parallel import completed
from bayespool.experiments.preparing import parts_description
from bayespool.experiments.settings import PoolSettings, Runs
from bayespool.experiments.storage import Columns, PartStore, description_of
from bayespool.measures import Estimates
from bayespool.measures.estimates import ask

if TYPE_CHECKING:
    import pandas as pd

PAPER_WIDTHS = (2, 4, 10, 20, 40)
"""Pool widths of Webber & Park (2009)."""

Unit = Literal["run", "organization"]
Kind = TypeVar("Kind", bound=PoolSettings)


@dataclass(frozen=True, slots=True)
class RandomPool:
    """A pool that was drawn, and the runs outside it that are scored.

    Attributes
    ----------
    width : int
    sample : int
        Its number among the pools of this width, from 0.
    pool_run_ids : tuple of str
        In the order of the collection.
    target_run_ids : tuple of str
        In the order drawn.
    """

    width: int
    sample: int
    pool_run_ids: tuple[str, ...]
    target_run_ids: tuple[str, ...]


def whole_pool(collection: Collection, runs: Runs, pool_depth: int | None) -> Collection:
    """The collection that pools are drawn from, with the judgments that its runs account for and no others.

    Parameters
    ----------
    collection : Collection
    runs : {"pooled", "all"}
        ``"all"`` lets every run take part, as Webber & Park do: what is unjudged within the depth counts as
        judged and not relevant.
    pool_depth : int, optional
        Default: the collection's own; of a pool of several depths the smallest where ``runs="pooled"``.

    Raises
    ------
    InputError
        No pool is known; the depth is not between 1 and that.
    """
    if collection.pool_depth < 1 or not collection.pooled.any():
        raise InputError(
            "no pooled run to draw pools from",
            hint="give the campaign's runs as the pool, or name those pooled",
        )
    # down to the depth of every run, so that what is true of each is known whatever else is in the pool
    deepest = collection.pool_depth
    if runs == "pooled":
        deepest = int(collection.depth_of(np.flatnonzero(collection.pooled)).min())
    depth = deepest if pool_depth is None else pool_depth
    if not 1 <= depth <= deepest:
        raise InputError(f"pool depth {depth} is not between 1 and {deepest}")
    if runs == "pooled":
        whole = collection.truncate_pool(depth)
    else:
        everyone = collection.with_pool(np.ones(len(collection.run_ids), dtype=bool), collection.pool_depth)
        whole = everyone.truncate_pool(depth)
        unknown = whole.pool() & ~whole.judged
        whole = dataclasses.replace(whole, relevance=np.where(unknown, np.int16(0), whole.relevance))
    return dataclasses.replace(whole, added_for=np.full_like(whole.added_for, -1), own=None)


def run_types_of(
    collection: Collection, run_types: Mapping[str, str] | None, run_ids: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    """Types of some runs of the collection, in the order given.

    Raises
    ------
    InputError
        One of them has no type.
    """
    if run_types is None:
        return ()
    names = list(run_ids)
    if missing := [run for run in names if run not in run_types]:
        raise InputError(
            f"{len(missing)} runs of the pool have no type, {missing[0]!r} for one", hint="give every run one"
        )
    return tuple((run, run_types[run]) for run in names)


def contributors(
    whole: Collection,
    by: Unit,
    run_types: tuple[tuple[str, str], ...] = (),
    pool_type: str | None = None,
) -> dict[str, tuple[str, ...]]:
    """Names of what contributes to the pool, and the pooled runs of each, in the collection's order.

    Raises
    ------
    InputError
        No run is of the type.
    """
    types, units = dict(run_types), dict[str, list[str]]()
    index = whole.run_index(whole.pooled_run_ids)
    for run, organization in zip(whole.pooled_run_ids, whole.organization[index], strict=True):
        if pool_type is None or types[run] == pool_type:
            units.setdefault(run if by == "run" else whole.organizations[organization], []).append(run)
    return {name: tuple(runs) for name, runs in units.items()}


def fitting_widths(
    whole: Collection,
    widths: Sequence[int] | None,
    by: Unit,
    run_types: tuple[tuple[str, str], ...],
    pool_type: str | None,
) -> tuple[int, ...]:
    """The requested widths, checked; by default those of the paper that leave a contributor outside.

    Raises
    ------
    InputError
        A width below 1, or one that leaves nothing outside the pool.
    """
    n_units = len(contributors(whole, by, run_types, pool_type))
    most = n_units - 1
    if widths is None:
        widths = [w for w in PAPER_WIDTHS if w <= most]
        if not widths and most > 0:
            widths = [most]
    chosen = distinct_sizes(widths, "pool width")
    if not chosen or max(chosen) > most:
        which = "" if pool_type is None else f" of type {pool_type!r}"
        raise InputError(
            f"{n_units} {by}s{which} are too few for a pool of width {max(chosen, default=1)} and one more",
            hint=f"widths from 1 to {most}" if most > 0 else "give more runs",
        )
    return chosen


def distinct_sizes(sizes: Iterable[int], what: str) -> tuple[int, ...]:
    """Sizes in ascending order, each once and at least 1."""
    chosen = tuple(sorted(set(sizes)))
    if chosen and chosen[0] < 1:
        raise InputError(f"a {what} of {chosen[0]} is too small", hint="1 or more")
    return chosen


def settled(asked: Kind, whole: Collection) -> Kind:
    """The settings with what the collection that pools are drawn from says of depth, types and widths.

    Raises
    ------
    InputError
        A run without a type; a pool so wide that nothing is outside it; a cutoff below the pool depth.
    """
    types = run_types_of(whole, dict(asked.run_types) or None, whole.pooled_run_ids)
    known = dataclasses.replace(asked, pool_depth=whole.pool_depth, run_types=types)
    widths = fitting_widths(whole, asked.widths or None, asked.by, types, asked.pool_type)
    return dataclasses.replace(known, widths=widths)


def draw_pools(whole: Collection, settings: PoolSettings, n_targets: int, name: str) -> list[RandomPool]:
    """All pools of an experiment with the runs that are scored on them, the same for the same seed.

    A run to score is drawn first, then the pool among the contributors that it does not belong to, then
    further runs to score outside the pool.
    """
    types = dict(settings.run_types)
    unit_of = {run: unit for unit, runs in contributors(whole, settings.by).items() for run in runs}
    drawn_from = contributors(whole, settings.by, settings.run_types, settings.pool_type)
    kind = settings.target_type
    scored = [run for run in whole.pooled_run_ids if kind is None or types[run] == kind]
    pools = []
    for width in settings.widths:
        for sample in range(settings.n_samples):
            rng = np.random.default_rng(seed_of(settings.random_seed, name, width, sample))
            first = scored[rng.integers(len(scored))]
            others = [unit for unit in drawn_from if unit != unit_of[first]]
            drawn = {others[i] for i in rng.permutation(len(others))[:width]}
            pool = {run for unit in drawn for run in drawn_from[unit]}
            outside = [run for run in scored if run != first and unit_of[run] not in drawn]
            more = [outside[i] for i in rng.permutation(len(outside))[: n_targets - 1]]
            kept = tuple(run for run in whole.pooled_run_ids if run in pool)
            pools.append(RandomPool(width, sample, kept, (first, *more)))
    return pools


def with_drawn_pool(whole: Collection, pool: RandomPool) -> Collection:
    """The collection as it would be had the drawn runs alone been pooled: all that an estimator gets."""
    inside = set(pool.pool_run_ids)
    return whole.unpool([run for run in whole.pooled_run_ids if run not in inside])


def estimates_of(
    reduced: Collection, pool: RandomPool, settings: PoolSettings
) -> tuple[dict[str, tuple[Estimates, ...]], CaughtWarnings]:
    """Estimates of a pool's runs to score by label, one per measure, and bayespool's own warnings."""
    found: dict[str, tuple[Estimates, ...]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for label, estimator in settings.estimators:
            one = seeded(estimator, "random pool", pool.width, pool.sample)
            with naming(label, f"pool {pool.sample} of width {pool.width}"):
                found[label] = ask(one, reduced, pool.target_run_ids, settings.measures)
    return found, own_warnings(caught)


def pool_store(
    folder: str | Path | None, experiment: str, collection: Collection, settings: PoolSettings
) -> PartStore | None:
    """Where finished pools are kept, if anywhere: in a folder of the experiment's name."""
    if folder is None:
        return None
    description = description_of(experiment, collection, parts_description(settings))
    return PartStore(Path(folder) / experiment, description)


def in_random_pools(
    work: Callable[[Collection, RandomPool], tuple[Columns, CaughtWarnings]],
    whole: Collection,
    pools: Sequence[RandomPool],
    *,
    store: PartStore | None,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> list[Columns]:
    """What comes of each pool, in their order; warnings that many pools share are given once.

    Pools that are in the store are taken from there, the others are put there as soon as they are finished.
    """
    results: dict[RandomPool, tuple[Columns, CaughtWarnings]] = {}
    if store is not None:
        for pool in pools:
            if (stored := store.load(*_identity(pool))) is not None:
                rows, rest = stored
                results[pool] = rows, tuple((name, text) for name, text in rest["warnings"])
    if progress is not None:
        progress(len(results), len(pools))
    left = [pool for pool in pools if pool not in results]
    for pool, rows, texts in completed(_Named(work), whole, left, n_jobs=n_jobs):
        if store is not None:
            store.save(*_identity(pool), rows, {"warnings": texts})
        results[pool] = rows, texts
        if progress is not None:
            progress(len(results), len(pools))
    warn_once([results[pool][1] for pool in pools], "pools")
    return [results[pool][0] for pool in pools]


def _identity(pool: RandomPool) -> tuple[str, list[Any]]:
    name = f"width-{pool.width}-sample-{pool.sample}"
    return name, [pool.width, pool.sample, list(pool.pool_run_ids), list(pool.target_run_ids)]


def ordered_table(results: Sequence[Columns], keys: Mapping[str, Sequence[object] | None]) -> pd.DataFrame:
    """Rows of all pools, sorted by the columns that ``keys`` names: in the order given, or by value where
    there is none.
    """
    import pandas as pd

    frame = pd.DataFrame({name: [x for r in results for x in r[name]] for name in results[0]})
    columns = [
        (frame[name] if order is None else frame[name].map({x: i for i, x in enumerate(order)})).to_numpy()
        for name, order in keys.items()
    ]
    return frame.iloc[np.lexsort(columns[::-1])].reset_index(drop=True)


@dataclass(frozen=True)
class _Named:
    """The work on a pool, with the pool beside what comes of it: results come in any order."""

    work: Callable[[Collection, RandomPool], tuple[Columns, CaughtWarnings]]

    def __call__(self, whole: Collection, pool: RandomPool) -> tuple[RandomPool, Columns, CaughtWarnings]:
        return pool, *self.work(whole, pool)
