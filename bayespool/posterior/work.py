"""Work that does not depend on the run to score, done once and kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from bayespool.arrays import AnyArray
from bayespool.collection import Collection
from bayespool.collection.packing import joined_pool, pool_part, set_pool_part
from bayespool.errors import PREPARE_ANEW, InputError
from bayespool.inference import Engine

Made = TypeVar("Made")
Recorded = dict[str, AnyArray]


class SharedWork:
    """Cache for work that does not depend on the run to score, such as fits to the same evidence.

    Parameters
    ----------
    kept : SharedWork, optional
        Of the pool alone, where runs are joined to one: what is learned of it is kept there.
    name : str
        Of what the work is on, in the names of ``recorded``.
    recorded : dict, optional
        Results in arrays by name, from which fits go on: a prepared collection has them.
    """

    def __init__(
        self, kept: SharedWork | None = None, name: str = "pool", recorded: dict[str, Recorded] | None = None
    ) -> None:
        self._done: dict[Hashable, Any] = {}
        self.kept, self.name = self if kept is None else kept, name
        self.recorded = {} if recorded is None else recorded

    def once(self, key: Hashable, work: Callable[[], Made]) -> Made:
        """Return the cached result for a key, computing it at the first call."""
        if key not in self._done:
            self._done[key] = work()
        done: Made = self._done[key]
        return done

    def derived(self, name: str) -> SharedWork:
        """Return the work on a collection that is made of this one, whose results are recorded, too."""
        kept = self.kept.once(("part", name), lambda: SharedWork(name=name, recorded=self.kept.recorded))
        return kept if self.kept is self else self.once(("part", name), lambda: SharedWork(kept))

    def changed(
        self, name: str, collection: Collection, change: Callable[[Collection], Collection]
    ) -> Collection:
        """Return the changed collection, joined to the pool alone with that change, where there is one."""
        joined = joined_pool(collection)

        def both() -> Collection:
            if joined is None:
                return change(collection)
            kept = self.kept.once(name, lambda: change(joined.pool))
            return set_pool_part(change(collection), kept, joined.places)

        return self.once(name, both)

    def find(self, *name: object, **lengths: int | None) -> Recorded | None:
        """Return recorded results, or None.

        Raises
        ------
        InputError
            These arrays are missing or not finite, or of other lengths, where these are given.
        """
        recorded = self.kept.recorded.get(" ".join(map(str, (self.kept.name, *name))))
        if recorded is None:
            return None
        for array, length in lengths.items():
            values = recorded.get(array, np.full(1, np.nan))
            if len(values) != (length or len(values)) or not np.isfinite(values).all():
                raise InputError(f"prepared results are not those of the pool: {array}", hint=PREPARE_ANEW)
        return recorded

    def record(self, *name: object, **arrays: AnyArray) -> Recorded:
        """Record results under a name, and return them."""
        self.kept.recorded[" ".join(map(str, (self.kept.name, *name)))] = arrays
        return arrays


def work_on(collection: Collection, engine: Engine, random_seed: int) -> SharedWork:
    """Return the work on a collection: that of earlier calls, too, where runs are joined to a pool alone.

    So it is where `keep_work` was asked for.
    """
    joined, pool = joined_pool(collection), pool_part(collection)
    if joined is None and not collection.memo.once("keeps work", bool):
        return SharedWork(recorded=recorded_work(collection) or None)  # what is added stays with the work

    def begin() -> SharedWork:
        return SharedWork(recorded=recorded_work(pool))

    # the last alone: the draws of all fits are large
    work = pool.memo.once("work", begin, (repr(engine), random_seed), keep=1)
    return work if joined is None else SharedWork(work)


def keep_work(collection: Collection) -> None:
    """Keep the work on a collection from call to call, for runs that are scored one after the other."""
    collection.memo.once("keeps work", lambda: True)


def recorded_work(part: Collection) -> dict[str, Recorded]:
    """Return the results that are recorded of the pool alone, which can be added to."""
    return part.memo.once("recorded work", dict[str, Recorded])
