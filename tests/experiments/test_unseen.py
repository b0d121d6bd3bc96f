"""What the truth of an experiment does not judge: nonrelevant in truth and estimates."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from bayespool import Collection, leave_out
from bayespool.collection import NEVER_JUDGED
from bayespool.collection.pools import sole_contributor
from bayespool.experiments import load_example


def with_holes(share: float = 0.3) -> Collection:
    """The example without a random share of what one organization alone brought."""
    example = load_example()
    lone = example.judged & (sole_contributor(example) >= 0)
    return example.without_judgments(lone & (np.random.default_rng(1).random(len(lone)) < share))


@pytest.mark.parametrize("estimator", ["background(e=1)", "condensed-list", "anti-precision"])
def test_holes_are_completed_by_nobody(estimator: str) -> None:
    """With everything unjudged relevant, a run is as good as its upper bound: the holes are not in it."""
    rows = leave_out(with_holes(), "P@10", estimators=estimator).to_frame()
    assert (rows["n_unknown"] > 0).any()
    if estimator == "background(e=1)":
        assert rows["value"].tolist() == pytest.approx(rows["bound_upper"].tolist())
    before = leave_out(with_holes(), "P@10", estimators=estimator, unseen="estimated").to_frame()
    assert (before["value"] >= rows["value"] - 1e-12).all()
    added = (before["bound_upper"] - rows["bound_upper"]) * 10 * 20
    assert added.tolist() == pytest.approx(rows["n_unknown"].tolist())


def test_holes_at_random_bias_no_estimate() -> None:
    """The truth without holes is known: bias with what nobody sees estimated, and with it nonrelevant."""
    settings: dict[str, Any] = {"estimators": "posterior-ratio", "draws": 100, "by": "organization"}
    without, mended, before = (
        leave_out(collection, "P@10", unseen=unseen, **settings).to_frame("summary").iloc[0]
        for collection, unseen in (
            (load_example(), "nonrelevant"),
            (with_holes(), "nonrelevant"),
            (with_holes(), "estimated"),
        )
    )
    assert abs(without["bias"]) < 0.006
    assert abs(mended["bias"]) < 0.006
    assert before["bias"] > mended["bias"] + 0.004
    assert mended["coverage_95"] > before["coverage_95"] or mended["coverage_95"] > 0.9


def test_a_document_that_is_never_judged_stays_so() -> None:
    example = load_example()
    smaller = example.unpool(organization="north")
    closed = smaller.judged_at_most(example.judged)
    gone = (smaller.relevance < 0) & ~example.judged
    assert (closed.relevance[gone] == NEVER_JUDGED).all()
    assert not closed.may_be_relevant[gone].any()
    again = closed.unpool(organization="south").without_judgments(np.ones(len(gone), dtype=bool))
    assert (again.relevance[gone] == NEVER_JUDGED).all()
    assert dataclasses.replace(closed).may_be_relevant.sum() == example.judged.sum() - smaller.judged.sum()
