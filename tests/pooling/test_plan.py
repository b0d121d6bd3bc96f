"""One object for all that decides what is judged."""

from __future__ import annotations

import dataclasses

import pytest
from each import cases

from bayespool.errors import InputError
from bayespool.pooling import PoolPlan
from bayespool.pooling.pools import PlanOptions


def test_options_are_the_fields_with_a_default() -> None:
    fields = {f.name for f in dataclasses.fields(PoolPlan)} - {"strategy", "budget"}
    assert set(PlanOptions.__annotations__) == fields


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
