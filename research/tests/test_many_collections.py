"""The mean over simulated collections: the interval holds the hidden truth, and is narrower than one."""

from __future__ import annotations

from research.checks.many_collections import COLLECTIONS, coverage


def test_the_mean_over_five_collections_holds_the_truth() -> None:
    table = coverage(4, "posterior-ratio")
    assert len(COLLECTIONS) == 5
    assert table["n"].to_dict() == {"one collection": 40, "mean of a run": 8, "difference of means": 4}
    assert (table["holds"] >= 0.75).all()
    assert table["width"]["mean of a run"] < 0.6 * table["width"]["one collection"]


def test_the_mean_holds_truths_of_the_model() -> None:
    table = coverage(2, "posterior-ratio", truth="model")
    assert table["n"].to_dict() == {"one collection": 1000, "mean of a run": 200, "difference of means": 100}
    assert (table["holds"] >= 0.85).all()
