"""Random pools and the runs scored outside them, for the experiments of Webber & Park.

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.base import RowOrder, fields_of, ordered_table
from bayespool.experiments.design import Design, Part
from bayespool.experiments.running import Running
from bayespool.experiments.settings import By, PoolSettings, Runs
from bayespool.randomness import seed_of
from bayespool.tables.formatting import counted

PAPER_WIDTHS = (2, 4, 10, 20, 40)
"""Pool widths of Webber & Park (2009)."""

Kind = TypeVar("Kind", bound=PoolSettings)


def whole_pool(collection: Collection, runs: Runs, pool_depth: int | None) -> Collection:
    """The collection that pools are drawn from, with only the judgments that its runs account for.

    With ``runs="all"`` every run takes part, as in Webber & Park: unjudged documents within the depth count
    as judged and nonrelevant. The depth is by default the smallest among the runs.
    """
    if collection.pool_depth < 1 or not collection.pooled.any():
        raise InputError(
            "no pooled run to draw pools from",
            hint="give the campaign's runs as the pool, or name those pooled",
        )
    # the depth of every run, so that true scores do not depend on the rest of the pool
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
        unknown = whole.in_pool() & ~whole.judged
        whole = dataclasses.replace(whole, relevance=np.where(unknown, np.int16(0), whole.relevance))
    return dataclasses.replace(whole, added_for=np.full_like(whole.added_for, -1), own=None)


def run_types_of(
    collection: Collection, run_types: Mapping[str, str] | None, run_ids: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    """Pairs of run and type for some runs of the collection, in the order given; each needs a type."""
    if run_types is None:
        return ()
    names = list(run_ids)
    if missing := [run for run in names if run not in run_types]:
        have = "has" if len(missing) == 1 else "have"
        raise InputError(
            f"{counted(len(missing), 'run')} of the pool {have} no type, {missing[0]!r} for one",
            hint="give every run one",
        )
    return tuple((run, run_types[run]) for run in names)


def contributors(
    whole: Collection, by: By, run_types: tuple[tuple[str, str], ...] = (), pool_type: str | None = None
) -> dict[str, tuple[str, ...]]:
    """Contributors to the pool (runs or organizations) and the pooled runs of each, in the collection's
    order.
    """
    types, units = dict(run_types), dict[str, list[str]]()
    index = whole.run_index(whole.pooled_run_ids)
    for run, organization in zip(whole.pooled_run_ids, whole.organization[index], strict=True):
        if pool_type is None or types[run] == pool_type:
            units.setdefault(run if by == "run" else whole.organizations[organization], []).append(run)
    return {name: tuple(runs) for name, runs in units.items()}


def distinct_sizes(sizes: Iterable[int], label: str) -> tuple[int, ...]:
    """Sizes in ascending order, each once and at least 1."""
    chosen = tuple(sorted(set(sizes)))
    if chosen and chosen[0] < 1:
        raise InputError(f"a {label} of {chosen[0]} is too small", hint="1 or more")
    return chosen


def settings_for_collection(requested: Kind, whole: Collection) -> Kind:
    """The settings with depth, types and widths resolved for the collection that pools are drawn from; widths
    are by default those of the paper that leave a contributor outside.
    """
    types = run_types_of(whole, dict(requested.run_types) or None, whole.pooled_run_ids)
    n_units = len(contributors(whole, requested.by, types, requested.pool_type))
    most = n_units - 1
    widths = requested.widths or [w for w in PAPER_WIDTHS if w <= most] or ([most] if most > 0 else [])
    chosen = distinct_sizes(widths, "pool width")
    if not chosen or max(chosen) > most:
        which = "" if requested.pool_type is None else f" of type {requested.pool_type!r}"
        width = f"a pool of width {max(chosen, default=1)} and one more"
        raise InputError(
            f"{n_units} {requested.by}s{which} are too few for {width}",
            hint=f"widths from 1 to {most}" if most > 0 else "give more runs",
        )
    return dataclasses.replace(requested, pool_depth=whole.pool_depth, run_types=types, widths=chosen)


class RandomPools(Design):
    """Pools drawn at random from the contributors, and runs outside each that are scored."""

    parts_name: ClassVar[str] = "pools"

    def parts(self, collection: Collection, settings: PoolSettings) -> tuple[Part, ...]:
        """All pools, determined by the seed: a target is drawn first, then the pool among other contributors
        than its own, then further targets.
        """
        whole, n_targets = collection, getattr(settings, "n_targets", 1)
        types = dict(settings.run_types)
        unit_of = {run: unit for unit, runs in contributors(whole, settings.by).items() for run in runs}
        drawn_from = contributors(whole, settings.by, settings.run_types, settings.pool_type)
        kind = settings.target_type
        scored = [run for run in whole.pooled_run_ids if kind is None or types[run] == kind]
        pools = []
        for width, sample in itertools.product(settings.widths, range(settings.n_samples)):
            seed = seed_of(settings.random_seed, self.name.replace("-", " "), width, sample)
            rng = np.random.default_rng(seed)
            first = scored[rng.integers(len(scored))]
            others = [unit for unit in drawn_from if unit != unit_of[first]]
            drawn = {others[i] for i in rng.permutation(len(others))[:width]}
            pool = {run for unit in drawn for run in drawn_from[unit]}
            outside = [run for run in scored if run != first and unit_of[run] not in drawn]
            further = [outside[i] for i in rng.permutation(len(outside))[: n_targets - 1]]
            pools.append(
                Part(
                    name=f"width-{width}-sample-{sample}",
                    run_ids=(first, *further),
                    pool_run_ids=tuple(run for run in whole.pooled_run_ids if run in pool),
                    measures=settings.measures,
                    columns=(("pool_width", width), ("sample", sample)),
                    seeds=(width, sample),
                )
            )
        return tuple(pools)

    def seeds(self, part: Part, settings: PoolSettings) -> tuple[object, ...]:
        """Width and number of the pool: experiments on the same pools draw alike."""
        return ("random pool", *part.seeds)

    def fields(
        self,
        collection: Collection,
        whole: Collection,
        settings: PoolSettings,
        running: Running,
        order: RowOrder | None = None,
    ) -> dict[str, Any]:
        """Fields of the experiment's result, with the rows of a pool in this order."""
        by_pool: dict[str, Sequence[object] | None] = {"measure": list(map(str, settings.measures))}
        by_pool |= {"pool_width": None, "estimator": settings.labels, **(order or {}), "sample": None}
        results = self.run(whole, self.parts(whole, settings), settings, running, given=collection)
        drawn_from = contributors(whole, settings.by, settings.run_types, settings.pool_type)
        return fields_of(collection, whole, settings) | {
            "n_contributors": len(drawn_from),
            "_rows": ordered_table(results, by_pool),
        }
