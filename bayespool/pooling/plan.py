"""Plans of pools: a strategy, its budget and other options that decide which documents are judged."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError, known_names
from bayespool.pooling.choosing import Chosen, Shares, check_budget, choose
from bayespool.pooling.registry import parse_strategy, strategy_text
from bayespool.pooling.strategy import Strategy


class PlanOptions(TypedDict, total=False):
    """Fields of a `PoolPlan` with a default, except the budget."""

    run_depth: int | None
    shares: Shares
    rel: int
    random_seed: int


@dataclass(frozen=True, kw_only=True)
class PoolPlan:
    """Settings that decide which documents of some runs are judged.

    Parameters
    ----------
    strategy : Strategy
    budget : int, optional
        Documents over all topics; None where the strategy decides.
    run_depth : int, optional
        Maximum rank of a run that may be judged; default: all.
    shares : {"equal", "global"}
        How topics share the budget (`bayespool.pooling.choose`).
    rel : int, default 1
        Smallest relevance that counts, for an adaptive strategy.
    random_seed : int, default 1

    Raises
    ------
    InputError
        No budget where the strategy needs one; unknown shares; a budget, a rank or a relevance below 1.

    Examples
    --------
    >>> plan = PoolPlan.of("combmnz", 300, shares="global")
    >>> plan.budget, plan.rel, str(plan)
    (300, 1, 'combmnz, budget 300, global shares')
    """

    strategy: Strategy
    budget: int | None = None
    run_depth: int | None = None
    shares: Shares = "equal"
    rel: int = 1
    random_seed: int = 1

    def __post_init__(self) -> None:
        check_budget(self.strategy, self.budget)
        if self.shares not in get_args(Shares):
            raise InputError(f"no shares {self.shares!r}", hint=known_names(self.shares, get_args(Shares)))
        if self.run_depth is not None and self.run_depth < 1:
            raise InputError(f"runs judged to rank {self.run_depth}", hint="give 1 or more")
        if self.rel < 1:
            raise InputError(f"a smallest relevance of {self.rel}", hint="give 1 or more")

    @classmethod
    def of(
        cls,
        strategy: str | Strategy | PoolPlan,
        budget: int | None = None,
        **options: Unpack[PlanOptions],
    ) -> PoolPlan:
        """Make a plan from a strategy, its text, or another plan, whose budget and options are replaced.

        Raises
        ------
        InputError
            Unknown strategy; a value that an option cannot have.
        """
        if not isinstance(strategy, PoolPlan):
            return cls(strategy=parse_strategy(strategy), budget=budget, **options)
        plan = strategy if budget is None else dataclasses.replace(strategy, budget=budget)
        return dataclasses.replace(plan, **options)

    def __str__(self) -> str:
        """The settings that differ from their defaults."""
        return ", ".join(
            [
                strategy_text(self.strategy),
                *([] if self.budget is None else [f"budget {self.budget}"]),
                *([] if self.run_depth is None else [f"runs to rank {self.run_depth}"]),
                *([] if self.shares == "equal" else [f"{self.shares} shares"]),
                *([] if self.rel == 1 else [f"relevance from {self.rel}"]),
            ]
        )

    def choose(
        self, collection: Collection, runs: npt.NDArray[np.intp], labels: npt.NDArray[np.int16]
    ) -> Chosen:
        """Choose documents of some runs, given ``labels`` of assessors (`bayespool.pooling.choose`)."""
        return choose(
            collection,
            self.strategy,
            self.budget,
            run_index=runs,
            depth=self.run_depth,
            shares=self.shares,
            rel=self.rel,
            random_seed=self.random_seed,
            labels=labels,
        )
