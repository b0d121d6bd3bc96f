"""Single values are checked where they are used first, and described for what is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from trec_files import refused

from bayespool import validation as v
from bayespool.corrections import Background

REFUSED: dict[str, Callable[[], object]] = {
    "n cannot be 0; at least 1": lambda: v.check_count("n", 0),
    "n cannot be 7; at least 1 and at most 6": lambda: v.check_count("n", 7, most=6),
    "n cannot be 1.0; a whole number": lambda: v.check_count("n", 1.0),
    "n cannot be 2147483648; at least 1 and at most 2,147,483,647": lambda: v.check_count("n", 2**31),
    "x cannot be '1'; a number": lambda: v.check_number("x", "1"),
    "x cannot be 0.5; above 0.5 and at most 1": lambda: v.check_number("x", 0.5, above=0.5, most=1),
    "x cannot be nan; above 0 and below 1": lambda: v.check_share("x", float("nan")),
    "x cannot be 1; above 0 and below 1": lambda: v.check_share("x", 1),
    "by cannot be 'runs'; did you mean 'run'? known: run, topic": lambda: v.check_choice(
        "by", "runs", Literal["run", "topic"]
    ),
    "by cannot be 'x'; known: a, b": lambda: v.check_choice("by", "x", ["a", "b"]),
    "unpool cannot be empty; leave it out, or name some": lambda: v.listed("unpool", []),
}


@pytest.mark.parametrize("said", REFUSED)
def test_a_value_that_cannot_be_used_is_refused(said: str) -> None:
    assert str(refused(REFUSED[said])) == said


def test_ends_of_ranges_missing_values_and_seeds_pass() -> None:
    v.check_count("n", None)
    v.check_count("n", np.int64(6), most=6)
    v.check_number("x", 1, least=1, most=1)
    v.check_share("x", np.float32(0.5))
    v.check_count("random_seed", 2**40, least=0)
    v.check_choice("by", "run", Literal["run", "topic"])
    assert v.listed("unpool", [], may_be_empty=True) == ()


def test_stored_values_are_plain() -> None:
    given: dict[str, Any] = {"b": ["x", ("y", 1)], "a": {"m": (1.5,)}, "e": Background(e=0.05), "n": None}
    assert list(v.described(**given)) == list(given)
    e = {"name": "background", "estimand": "complete", "fit": "none", "e": 0.05}
    assert v.described(**given) == {"b": ("x", ("y", 1)), "a": {"m": (1.5,)}, "e": e, "n": None}
