"""What estimators are given of a strategy's pool, what their estimates are compared with, what is kept."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_pools import Spy

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import Budgets, BudgetSettings, budgets, leave_out
from bayespool.experiments.budgeting import PoolsOfBudgets
from bayespool.pooling import StrategyPool, choose

ASKED: dict[str, Any] = {"measures": ["P@10", "nDCG@10"], "strategies": "take", "budgets": [200, 500]}
KEYS = ["measure", "strategy", "budget", "run_id"]


def judged_by(whole: Collection, strategy: str, budget: int, without: str) -> Collection:
    """The judgments that a budget buys without an organization, one step after the other."""
    pooled = np.flatnonzero(whole.pooled)
    left = pooled[whole.organization[pooled] != whole.organizations.index(without)]
    chosen = choose(whole, strategy, budget, run_index=left, depth=10)
    gone = np.ones(len(whole.relevance), dtype=bool)
    gone[chosen.pair] = False
    return whole.without_judgments(gone)


@pytest.mark.parametrize("strategy", ["take", "move-to-front"])
def test_an_estimator_sees_what_the_budget_bought_and_nothing_else(
    example: Collection, strategy: str
) -> None:
    expected = judged_by(example, strategy, 300, "west")
    west = tuple(r for r in example.pooled_run_ids if r.startswith("west"))
    settings = BudgetSettings.of(
        measures="P@10", strategies=strategy, budgets=[300], pool_depth=10, estimators="as-judged"
    )
    design = PoolsOfBudgets()
    (part,) = (p for p in design.parts(example, settings) if p.left_out == "west" and p.budget)
    assert part.run_ids == west
    seen = design.conceal(example, part, settings)
    assert seen.relevance.tolist() == expected.relevance.tolist()
    assert set(seen.pooled_run_ids) == set(example.pooled_run_ids) - set(west)
    assert isinstance(seen.pool, StrategyPool)
    assert seen.pool.labels.tolist() == expected.relevance.tolist()  # no other is to be had from the pool
    assert seen.in_pool().tolist() == seen.judged.tolist()
    # without a further organization others are let in, of which nobody knows a thing
    fewer = seen.unpool(organization="north")
    assert (fewer.in_pool() & ~seen.judged).any()
    assert not (fewer.judged & ~seen.judged).any()


def test_every_pool_is_asked_about(example: Collection) -> None:
    spy = Spy([])
    budgets(example, "P@10", strategies=["take", "dcg"], budgets=[200, 500], estimators=spy)
    assert len(spy.seen) == 2 * 2 * 8
    assert {int(seen.judged.sum()) for seen in spy.seen} == {200, 500}
    assert all(len(seen.pooled_run_ids) < 21 for seen in spy.seen)


def test_scores_as_they_stand_are_estimates_without_a_correction(example: Collection) -> None:
    result = budgets(example, estimators="as-judged", **ASKED)
    rows = result.to_frame("estimates")
    uncorrected = result.to_frame()
    merged = rows.merge(uncorrected, on=KEYS, suffixes=("", "_then"), validate="one_to_one")
    assert len(merged) == len(uncorrected) == 2 * 2 * 21
    assert (merged["as_judged"] == merged["value_then"]).all()
    assert (merged["full"] == merged["full_then"]).all()
    assert (merged["value"] == merged["as_judged"]).all()
    assert (merged["reported"] == merged["reported_then"]).all()
    summary = result.to_frame("posterior")
    assert (summary["mae"] == summary["mae_as_judged"]).all()
    assert summary["full_mae"].tolist() == pytest.approx(result.to_frame("summary")["mae"].tolist())
    assert summary[["coverage_95", "width", "pit_95", "crps"]].isna().all(axis=None)
    of_precision = summary[summary["measure"] == "P@10"]
    assert (of_precision["full_mae"] == of_precision["mae"]).all()


def test_a_budget_for_everything_is_a_leave_out_experiment(example: Collection) -> None:
    """With all of the depth pool judged, runs left out and their truths are those of `leave_out`."""
    depth_pool = example.without_judgments(~example.in_pool())
    measures, estimators = ["P@10", "nDCG@10"], ["background(e=0.05)", "condensed-list"]
    one = budgets(example, measures, strategies="take", budgets=[10_000], top=100, estimators=estimators)
    two = leave_out(depth_pool, measures, estimators=estimators, truth="full")
    keys = ["measure", "estimator", "run_id"]
    merged = one.to_frame("estimates", reported_only=True).merge(
        two.to_frame(reported_only=True), on=keys, suffixes=("", "_then"), validate="one_to_one"
    )
    assert len(merged) == 2 * 2 * 21
    for name in ("truth", "value", "as_judged"):
        assert merged[name].tolist() == pytest.approx(merged[f"{name}_then"].tolist(), abs=1e-12)


@pytest.mark.slow
def test_rows_are_in_the_order_of_what_was_asked(example: Collection) -> None:
    estimators = {"second": "condensed-list", "first": "as-judged"}
    rows = budgets(example, estimators=estimators, **ASKED | {"strategies": ["take", "dcg"]}).to_frame(
        "estimates", reported_only=True
    )
    order = rows[["measure", "strategy", "budget", "estimator"]].drop_duplicates().to_numpy().tolist()
    assert order == [
        [measure, strategy, budget, estimator]
        for measure in ("P@10", "nDCG@10")
        for strategy in ("take", "dcg")
        for budget in (200, 500)
        for estimator in ("second", "first")
    ]


@pytest.fixture(scope="module")
def posterior(tmp_path_factory: pytest.TempPathFactory) -> tuple[Budgets, Path]:
    from bayespool import load_example

    folder = tmp_path_factory.mktemp("budgets")
    asked = {"strategies": "take", "budgets": [300], "estimators": "posterior-background", "draws": 50}
    budgets(load_example(), "P@10", strategies="take", budgets=[300], folder=folder)  # first without
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return budgets(load_example(), "P@10", folder=folder, **asked), folder  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_posterior_mends_most_of_the_bias(posterior: tuple[Budgets, Path]) -> None:
    rows, summary = (
        posterior[0].to_frame("estimates", reported_only=True),
        posterior[0].to_frame("posterior").iloc[0],
    )
    assert summary["mae"] < summary["mae_as_judged"] / 2
    inside = (rows["lower"] <= rows["truth"]) & (rows["truth"] <= rows["upper"])
    assert summary["coverage_95"] == inside.mean() > 0.5
    assert summary["width"] == pytest.approx((rows["upper"] - rows["lower"]).mean())
    assert (rows["as_judged"] <= rows["lower"]).all()
    assert (rows["covered_95"] == inside).all()


@pytest.mark.slow
def test_estimates_are_stored_beside_what_was_there(posterior: tuple[Budgets, Path]) -> None:
    result, folder = posterior
    stored = sorted((folder / "budgets").glob("*.parquet"))
    assert len(stored) == 9 + 8  # everybody and eight organizations, and eight of the posterior
    before = {path: path.stat().st_mtime_ns for path in stored}
    asked = {"strategies": "take", "budgets": [300], "estimators": "posterior-background", "draws": 50}
    from bayespool import load_example

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = budgets(load_example(), "P@10", folder=folder, **asked)  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(
        again.to_frame("estimates", reported_only=True), result.to_frame("estimates", reported_only=True)
    )
    assert again.warnings == result.warnings
    budgets(load_example(), "P@10", strategies="take", budgets=[300], folder=folder, estimators="as-judged")
    after = {path: path.stat().st_mtime_ns for path in (folder / "budgets").glob("*.parquet")}
    assert before.items() <= after.items()
    assert len(after) == 9 + 8 + 8


def test_what_cannot_be_asked_is_refused(example: Collection) -> None:
    with pytest.raises(InputError, match="no table 'estimates'"):
        budgets(example, **ASKED).to_frame("estimates", reported_only=True)
    with pytest.raises(InputError, match="unknown settings"):
        budgets(example, estimators="as-judged", drawz=3, **ASKED)
    with pytest.raises(InputError, match="topics-adjustment needs topics"):
        budgets(example, estimators="topics-adjustment", **ASKED)
