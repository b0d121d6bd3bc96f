"""Differences between judgments and the pool of a stated strategy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import StatedPoolWarning, warn_caller
from bayespool.pooling.pools import StrategyPool

_MAX_MISFIT_SHARE = 0.01  # of the documents chosen


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """Differences between judgments and a strategy's pool.

    Attributes
    ----------
    n_chosen : int
        Documents that the strategy chooses.
    n_unjudged : int
        Those of them without a judgment.
    n_others : int
        Judgments of documents that it could have chosen and did not, without added judgments.
    is_sample : bool
        Whether the strategy samples.
    """

    n_chosen: int
    n_unjudged: int
    n_others: int
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
    """Differences between a collection's judgments and its pool; None where no strategy made the pool.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling.pools import pool_of_strategy, with_strategy_pool
    >>> made = with_strategy_pool(load_example(), "uniform", 400)
    >>> str(misfit_of(made)), misfit_of(made).is_large
    ('', False)
    >>> stated = pool_of_strategy(made, "uniform", 300, pooled_run_ids=made.pooled_run_ids, run_depth=10)
    >>> str(misfit_of(stated)), misfit_of(stated).is_large
    ('judgments that are not of the sample: 100', True)
    """
    pool = collection.pooling
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
        f"the pool was not made as stated ({collection.pooling}): {misfit}; look at strategy, budget, run "
        f"depth, shares, rel and seed, and at who contributed{rest}",
        StatedPoolWarning,
    )
    return True
