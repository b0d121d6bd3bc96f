"""Names that an estimator may be registered under."""

from __future__ import annotations

import pytest
from each import cases

from bayespool.corrections import CondensedList
from bayespool.errors import InputError
from bayespool.scoring import ESTIMATORS, parse_estimator, register_estimator


@pytest.fixture(autouse=True)
def registry_as_it_was():
    before = dict(ESTIMATORS)
    yield
    ESTIMATORS.clear()
    ESTIMATORS.update(before)


@cases("name", ["all", "default", "pairs", "Half", "a,b", "a(b", "", "a-", "1"])
def test_names_that_texts_could_not_hold_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="no estimator can be called"):
        register_estimator(name, description="")(CondensedList)
    assert name not in ESTIMATORS


def test_a_class_of_the_same_name_does_not_take_the_place_of_another() -> None:
    """As a user's own CondensedList would; the same class again, as a reloaded notebook has it, does."""
    there = ESTIMATORS["condensed-list"]
    own = type("CondensedList", (CondensedList,), {"__module__": "notebook"})
    with pytest.raises(InputError, match="there is an estimator 'condensed-list' already"):
        register_estimator("condensed-list", description="")(own)
    assert ESTIMATORS["condensed-list"] is there
    register_estimator("condensed-list", description="again")(CondensedList)
    assert ESTIMATORS["condensed-list"].description == "again"
    register_estimator("condensed", description="")(CondensedList)
    with pytest.raises(InputError, match="registered as condensed, it calls itself condensed-list"):
        parse_estimator("condensed")
