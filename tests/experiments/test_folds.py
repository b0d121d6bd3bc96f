"""Nothing of the truth reaches an estimator."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from left_out import POINTS, column
from small import small

from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor
from bayespool.experiments import LeaveOutSettings, leave_out, load_example
from bayespool.experiments.leaving_out import RunsLeftOut, n_best
from bayespool.posterior import PosteriorEstimator
from bayespool.randomness import seed_of
from bayespool.scoring import ESTIMATOR_NAMES


@pytest.mark.parametrize("n_posteriors", [1, pytest.param(9, marks=pytest.mark.slow)])
def test_estimates_do_not_depend_on_what_is_hidden(n_posteriors: int) -> None:
    """Only the truth and what is computed from it may change when the hidden relevance does."""
    original = small()
    organization = original.organizations[0]
    hidden = original.relevance != original.unpool(organization=organization).relevance
    assert hidden.sum() > 20
    turned = np.where(hidden, np.where(original.relevance > 0, 0, 1), original.relevance).astype(np.int16)
    names = [name for name in ESTIMATOR_NAMES if name.startswith("posterior")][:n_posteriors]
    asked = {"measures": "P@10", "estimators": [*POINTS, *names], "random_seed": 1, "draws": 50}
    settings = LeaveOutSettings.of(**asked)
    (fold,) = (f for f in RunsLeftOut().parts(original, settings) if f.run_ids[0].startswith(organization))
    one, other = (
        RunsLeftOut().work(collection, fold, settings)
        for collection in (original, dataclasses.replace(original, relevance=turned))
    )
    assert len(one.rows["value"]) == (len(POINTS) + len(names)) * len(fold.run_ids)
    for name in ("value", "lower", "upper", "std", "bound_lower", "bound_upper", "n_unjudged", "note"):
        np.testing.assert_array_equal(one.rows[name], other.rows[name], err_msg=name)
    assert one.rows["truth"] != other.rows["truth"]


def test_seeds_come_from_names() -> None:
    """A fold is what the estimator makes of the unpooled collection under the seed of the fold's name."""
    collection = small()
    organization = collection.organizations[0]
    found = leave_out(collection, "P@10", estimators="posterior-background", draws=50, random_seed=5)
    reduced = collection.unpool(organization=organization)
    runs = [run for run in collection.run_ids if run.startswith(f"{organization}-")]
    seed = seed_of(5, "organization", organization)
    alone = PosteriorEstimator(model="background", draws=50, estimand="pooled", random_seed=seed)
    (expected,) = alone.estimate(reduced, runs, "P@10")
    for name, values in (("value", expected.value), ("lower", expected.interval(0.95)[0])):
        assert [column(found, name, "posterior-background")[run] for run in runs] == values.tolist()


def test_number_of_the_best_is_rounded_half_up() -> None:
    for n_runs, top, n_kept in ((5, 50, 3), (4, 62.5, 3), (4, 62.4, 2), (129, 75, 97), (7, 100, 7)):
        assert n_best(n_runs, top) == n_kept


def with_holes(share: float = 0.3) -> Collection:
    """The example without a random share of what one organization alone brought."""
    example = load_example()
    lone = example.judged & (sole_contributor(example) >= 0)
    return example.without_judgments(lone & (np.random.default_rng(1).random(len(lone)) < share))


def test_holes_are_completed_by_nobody() -> None:
    """With everything unjudged relevant, a run is as good as its upper bound: the holes are not in it."""
    names = ["background(e=1)", "condensed-list", "anti-precision"]
    rows, before = (
        leave_out(with_holes(), "P@10", estimators=names, unseen=unseen).to_frame()  # type: ignore[arg-type]
        for unseen in ("nonrelevant", "estimated")
    )
    assert (rows["n_unknown"] > 0).any()
    mine = rows[rows["estimator"] == "background(e=1)"]
    assert mine["value"].tolist() == pytest.approx(mine["bound_upper"].tolist())
    assert (before["value"] >= rows["value"] - 1e-12).all()
    added = (before["bound_upper"] - rows["bound_upper"]) * 10 * 20
    assert added.tolist() == pytest.approx(rows["n_unknown"].tolist())


@pytest.mark.slow
def test_holes_at_random_bias_no_estimate() -> None:
    """The truth without holes is known: bias with what nobody sees estimated, and with it nonrelevant."""
    settings: dict[str, Any] = {"estimators": "posterior-ratio", "draws": 100}
    without, mended, before = (
        leave_out(collection, "P@10", unseen=unseen, **settings).to_frame("summary").iloc[0]  # type: ignore[call-overload]
        for collection, unseen in (
            (load_example(), "nonrelevant"), (with_holes(), "nonrelevant"), (with_holes(), "estimated")
        )
    )  # fmt: skip
    assert abs(without["bias"]) < 0.006
    assert abs(mended["bias"]) < 0.006
    assert before["bias"] > mended["bias"] + 0.004
    assert mended["coverage_95"] > before["coverage_95"] or mended["coverage_95"] > 0.9
