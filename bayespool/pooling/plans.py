"""Plans of pools: a strategy, its budget and other settings, which one text may state."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from bayespool.errors import InputError, known_names
from bayespool.names import Shares, split_list
from bayespool.pooling.registry import (
    STRATEGIES,
    StoppingRule,
    parse_stopping_rule,
    parse_strategy,
    stopping_text,
    strategy_text,
)
from bayespool.pooling.sampling import Sampling
from bayespool.pooling.strategy import Strategy
from bayespool.validation import check_choice, check_count


@dataclass(frozen=True, kw_only=True)
class PoolPlan:
    """Strategy, budget and other settings that determine which documents are judged.

    Parameters
    ----------
    strategy : Strategy
    budget : int, optional
        Documents over all topics. Strategies with a size of their own (``depth(k=10)``) need none; the
        smaller of size and budget rules.
    run_depth : int, optional
        Maximum rank of a run that may be judged; default: all.
    shares : {"equal", "global"}
        How topics share the budget: as equally as their documents allow (`equal_shares`), or by the largest
        values over all topics, of equals the smaller best rank, then lot. The latter needs a strategy of
        fixed order whose values compare across topics.
    rel : int, default 1
        Smallest relevance that counts, for an adaptive strategy.
    random_seed : int, default 1
    stop : StoppingRule, optional
        Rule that may end a topic before the budget does (`bayespool.pooling.STOPPING_RULES`).

    Raises
    ------
    InputError
        No budget where the strategy needs one; unknown shares; a budget, a rank or a relevance below 1; a
        stopping rule for a sample.

    Examples
    --------
    >>> plan = PoolPlan.of("combmnz(budget=300, shares=global, normalization='sum')")
    >>> plan.budget, plan.rel, str(plan)
    (300, 1, "combmnz(normalization='sum'), budget 300, global shares")
    """

    strategy: Strategy
    budget: int | None = None
    run_depth: int | None = None
    shares: Shares = "equal"
    rel: int = 1
    random_seed: int = 1
    stop: StoppingRule | None = None

    def __post_init__(self) -> None:
        name = self.strategy.name
        if self.stop is not None and isinstance(self.strategy, Sampling):
            raise InputError(
                f"{name!r} is a random sample; a stopping rule would bias it", hint="give a budget alone"
            )
        if self.budget is None and self.stop is None and self.strategy.needs_budget:
            raise InputError(f"{name!r} does not say how much to judge", hint="give a budget")
        check_choice("shares", self.shares, Shares)
        check_count("budget", self.budget)
        check_count("run_depth", self.run_depth)
        check_count("rel", self.rel)
        check_count("random_seed", self.random_seed, least=0)

    @classmethod
    def of(
        cls,
        strategy: str | Strategy | PoolPlan,
        budget: int | None = None,
        *,
        run_depth: int | None = None,
        shares: Shares | None = None,
        rel: int | None = None,
        random_seed: int | None = None,
        stop: str | StoppingRule | None = None,
    ) -> PoolPlan:
        """Return a plan made from a strategy, a text such as ``rrf(k=60, budget=5000)`` or another plan.

        In a text settings of the plan stand beside those of the strategy, whose own have precedence;
        ``depth`` is short for ``run_depth``. What is given besides replaces what text or plan say. An unknown
        strategy or setting, or a value that one cannot have, is an `InputError`.
        """
        if isinstance(strategy, PoolPlan):
            settings = vars(strategy)
        else:
            chosen, settings = split_plan(strategy) if isinstance(strategy, str) else (strategy, {})
            settings["strategy"] = parse_strategy(chosen)
        given = {
            "budget": budget,
            "run_depth": run_depth,
            "shares": shares,
            "rel": rel,
            "random_seed": random_seed,
            "stop": None if stop is None else parse_stopping_rule(stop),
        }
        return cls(**settings | {name: value for name, value in given.items() if value is not None})

    def describe(self) -> dict[str, Any]:
        """Return the arguments of `bayespool.pooling.choose` that the plan stands for, as JSON types."""
        return {
            "strategy": strategy_text(self.strategy),
            "budget": self.budget,
            "depth": self.run_depth,
            "shares": self.shares,
            "rel": self.rel,
            "stop": self.stop and stopping_text(self.stop),
            "random_seed": self.random_seed,
        }

    def __str__(self) -> str:
        """Return the strategy and all non-default settings as text."""
        return ", ".join(
            [
                strategy_text(self.strategy),
                *([] if self.budget is None else [f"budget {self.budget}"]),
                *([] if self.run_depth is None else [f"runs to rank {self.run_depth}"]),
                *([] if self.shares == "equal" else [f"{self.shares} shares"]),
                *([] if self.rel == 1 else [f"relevance from {self.rel}"]),
            ]
        )


def split_plan(text: str) -> tuple[str, dict[str, Any]]:
    """Return a strategy's text without the settings of its plan, and these."""
    name, _, inside = text.strip().partition("(")
    entry = STRATEGIES.get(name.strip().lower())
    if entry is None or not inside.endswith(")"):
        return text, {}  # the strategy's own message says what is wrong
    known, rest, settings = [f.name for f in fields(PoolPlan)][1:], list[str](), dict[str, Any]()
    for part in split_list(inside[:-1]):
        key, _, value = (each.strip() for each in part.partition("="))
        place = "run_depth" if key == "depth" else key
        if key in entry.settings or not key.isidentifier():
            rest.append(part)
        elif place not in known:
            hint = known_names(key, [*entry.settings, *known], before=f"{name} has ")
            raise InputError(f"strategy {text!r}: there is no setting {key!r}", hint=hint)
        elif place in settings:
            raise InputError(f"strategy {text!r}: {key} twice", hint="leave one of the two out")
        elif place == "stop":
            settings[place] = parse_stopping_rule(value)
        else:
            is_whole = value.removeprefix("-").isdecimal() and place != "shares" and len(value) < 20
            settings[place] = int(value) if is_whole else value.strip("'\"")
    return (f"{name}({', '.join(rest)})" if rest else name), settings
