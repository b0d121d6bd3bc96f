"""One object for all that decides what is judged."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from each import cases

from bayespool import load_example
from bayespool.errors import InputError
from bayespool.pooling import PoolPlan, Take, choose
from bayespool.pooling.pools import PlanOptions


def test_a_plan_of_a_text_of_a_strategy_and_of_a_plan() -> None:
    plan = PoolPlan.of("take", 400, rel=2, shares="global")
    assert plan == PoolPlan(strategy=Take(), budget=400, rel=2, shares="global")
    assert PoolPlan.of(plan) == plan
    other = PoolPlan.of(plan, 500, random_seed=7)
    assert (other.budget, other.random_seed, other.rel) == (500, 7, 2)


def test_options_are_the_fields_with_a_default() -> None:
    fields = {f.name for f in dataclasses.fields(PoolPlan)} - {"strategy", "budget"}
    assert set(PlanOptions.__annotations__) == fields


def test_text_says_what_is_not_as_by_default() -> None:
    assert str(PoolPlan.of("depth(k=10)")) == "depth(k=10)"
    plan = PoolPlan.of("hedge", 20, run_depth=5, shares="global", rel=2, random_seed=9)
    assert str(plan) == "hedge, budget 20, runs to rank 5, global shares, relevance from 2"


def test_it_chooses_as_choose_does() -> None:
    example = load_example()
    runs = np.flatnonzero(example.pooled)[:7]
    plan = PoolPlan.of("max-mean", 300, run_depth=8, rel=2, random_seed=4)
    chosen = plan.choose(example, runs, example.relevance)
    expected = choose(example, "max-mean", 300, run_index=runs, depth=8, rel=2, random_seed=4)
    assert np.array_equal(chosen.pair, expected.pair)
    by_value = PoolPlan.of("take", 300, shares="global").choose(example, runs, example.relevance)
    expected = choose(example, "take", 300, run_index=runs, shares="global")
    assert np.array_equal(by_value.pair, expected.pair)


def test_a_strategy_without_a_size_needs_a_budget() -> None:
    with pytest.raises(InputError, match="'take' does not say how much to judge; give a budget"):
        PoolPlan.of("take")
    assert PoolPlan.of("depth").budget is None


@cases(
    ("options", "message"),
    [
        ({"shares": "even"}, "no shares 'even'; known: equal, global"),
        ({"run_depth": 0}, "rank 0"),
        ({"rel": 0}, "smallest relevance of 0"),
    ],
)
def test_values_that_cannot_be(options: PlanOptions, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PoolPlan.of("take", 5, **options)
