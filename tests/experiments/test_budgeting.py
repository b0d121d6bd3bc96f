"""Budgets by hand on a toy, against independent sums on the example, stored; estimates on their pools."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_pools import toy

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import Budgets, BudgetSettings, budgets, leave_out
from bayespool.experiments.budgeting import (
    PAPER_BUDGETS,
    PAPER_STRATEGIES,
    PoolsOfBudgets,
    _fitting_budgets,
    strategies_of,
)
from bayespool.pooling import FixedOrder, StrategyPool, TopicRankings, choose


@dataclass(frozen=True, kw_only=True)
class Alphabet(FixedOrder):
    """Documents in the order of their ids, so that nothing is decided by lot."""

    name = "alphabet"
    version = "1"

    def value(self, topic: TopicRankings) -> np.ndarray[Any, np.dtype[np.float64]]:
        return -np.arange(len(topic), dtype=float)


# The toy's runs are a: xy pq, b: yz qr, c: wx ps, and w x z, p q are relevant. On all judgments P@2 is .75,
# .5 and .75. Of budget 4 everybody's pool is wx pq, the same without a (yzwx qrps) and without b (xyw pqs),
# without c (xyz pqr) xy pq. Of budget 6 it is wxy pqr, so without a, without b wxy pqs, without c xyz pqr.
POOLED = {4: {"a": 0.75, "b": 0.25, "c": 0.75}, 6: {"a": 0.75, "b": 0.25, "c": 0.75}}
LEFT_OUT = {4: {"a": 0.75, "b": 0.25, "c": 0.5}, 6: {"a": 0.75, "b": 0.25, "c": 0.5}}
FULL = {"a": 0.75, "b": 0.5, "c": 0.75}


def of_toy(**more: Any) -> Budgets:
    return budgets(toy(), "P@2", **{"strategies": Alphabet(), "budgets": [6, 4], "top": 100} | more)


def test_pools_and_contributors_by_hand() -> None:
    result = of_toy()
    assert (result.n_documents, result.n_relevant) == (8, 5)
    pools = result.to_frame("pools").set_index("budget")
    assert pools.loc[4, ["n_documents", "n_judged", "n_relevant"]].tolist() == [4, 4, 4]
    assert pools.loc[4, "recall"] == 4 / 5
    assert pools.loc[4, ["topic_least", "topic_most"]].tolist() == [2, 2]
    assert pools.loc[4, ["run_least", "run_mean", "run_most"]].tolist() == [1, 7 / 3, 3]  # xpq q wxp
    assert pools.loc[6, ["run_least", "run_mean", "run_most"]].tolist() == [3, 10 / 3, 4]  # xypq yqr wxp
    by_name = result.to_frame("by_organization").set_index(["budget", "contributor"])
    columns = ["n_pooled_runs", "n_documents", "share", "n_alone", "n_runs", "bias"]
    assert by_name.loc[(4, "one"), columns].tolist() == [1, 3, 0.75, 0, 1, 0]
    assert by_name.loc[(4, "three"), columns].tolist() == [1, 3, 0.75, 1, 1, -0.25]  # w is its own
    assert by_name.loc[(6, "two"), columns].tolist() == [1, 3, 0.5, 1, 1, -0.25]  # r


def told(result: Budgets) -> str:
    frames = (result.to_frame(), result.to_frame("pools"), result.to_frame("by_organization"))
    return "".join(
        frame.to_csv() for frame in (*frames, result.to_frame("summary"), result.to_frame("ranking"))
    )


def stored(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "budgets").glob("*.parquet")}


def test_what_cannot_be_asked_is_refused(example: Collection) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"strategies": "best"}, "no strategy 'best'"), ({"strategies": []}, "strategies cannot be empty"),
        ({"budgets": []}, "budgets cannot be empty"), ({"budgets": [0]}, "budgets cannot be 0"),
        ({"measures": "P@11"}, "P@11 looks deeper"), ({"measures": "P@5", "pool_depth": 11}, "pool depth 11"),
        ({"truth": "some"}, "truth cannot be 'some'"), ({"measures": "Judged@10"}, "Judged@10"),
        ({"strategies": "combmnz"}, "reads the scores"),
        ({"strategies": "rbp-c", "shares": "global"}, "across topics"), ({"top": 1}, "no run at all"),
        ({"estimators": "as-judged", "drawz": 3}, "drawz"),
        ({"estimators": "topics-adjustment"}, "needs topics"),
    ]  # fmt: skip
    asked = {"measures": "P@10", "strategies": "take", "budgets": [100]}
    for wrong, message in refused:
        with pytest.raises(InputError, match=message):
            budgets(example, **asked | wrong)
    alone = dataclasses.replace(example, organization=np.zeros_like(example.organization))
    with pytest.raises(InputError, match="only one organization"):
        budgets(alone, **asked)
    with pytest.raises(InputError, match="no table 'estimates'"):
        of_toy().to_frame("estimates")


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


def test_scores_of_every_pool_and_their_summary_by_hand() -> None:
    result = of_toy()
    frame = result.to_frame(reported_only=True)
    assert frame["budget"].tolist() == [4, 4, 4, 6, 6, 6]
    assert frame["run_id"].tolist() == ["a", "b", "c"] * 2
    assert frame["left_out"].tolist() == ["one", "two", "three"] * 2
    for _, row in frame.iterrows():
        assert row["full"] == row["truth"] == FULL[row["run_id"]]
        assert row["pooled"] == POOLED[row["budget"]][row["run_id"]]
        assert row["value"] == LEFT_OUT[row["budget"]][row["run_id"]]
        assert row["error"] == row["value"] - row["truth"]
    full = result.to_frame("summary").iloc[0]
    assert full["mae"] == pytest.approx(1 / 6)
    assert full["bias"] == pytest.approx(-1 / 6)
    assert full["sre"] == 1  # c falls from .75 to .5, below a; b stays the last
    assert full["sre_star"] == 0  # on two topics nobody differs
    assert full["kendall_tau_b"] == pytest.approx(1)
    assert np.isnan(full["preserved"])
    # shares .75 .25 .75 and biases 0 −.25 −.25: ranks 2.5 1 2.5 and 3 1.5 1.5
    assert full["fairness"] == pytest.approx(0.5)
    pooled = of_toy(truth="pooled").to_frame("summary").iloc[0]
    assert pooled["mae"] == pytest.approx(1 / 12)
    assert pooled["sre"] == 1
    best = of_toy(top=67)  # alone are reported, and all contribute
    assert set(best.to_frame()["run_id"]) == {"a", "b", "c"}
    assert best.to_frame(reported_only=True)["pooled"].tolist() == [0.75] * 4
    assert "; with 6 that of alphabet (0.1667)" in result.summary()[1]
    total, of_measure = of_toy(budgets=[4], stop="nonrelevant(n=2)").summary()
    assert "topics end by nonrelevant(n=2)" in total
    assert "; with" not in of_measure  # a single budget is named once


def test_ranking_is_by_means_over_budgets_and_signs_are_against_the_first_strategy() -> None:
    for strategies in (["take", Alphabet()], [Alphabet(), "take"]):
        result = of_toy(strategies=strategies)
        ranking, summary = result.to_frame("ranking"), result.to_frame("summary")
        of_mae = ranking[ranking["bias_measure"] == "mae"].set_index("strategy")
        means = summary.groupby("strategy")["mae"].mean()
        first = round(means["take" if strategies[0] == "take" else "alphabet"], 12)
        assert of_mae["mean"].to_dict() == pytest.approx(means.to_dict())
        assert of_mae["rank"].to_dict() == means.round(12).rank(method="min").astype(int).to_dict()
        assert of_mae["beats_first"].to_dict() == (means.round(12) < first).to_dict()
        assert set(ranking["bias_measure"]) == {"mae", "sre", "sre_star"}


def test_budgets_and_strategies_by_default() -> None:
    assert _fitting_budgets((), 81_000) == PAPER_BUDGETS
    assert _fitting_budgets((), 21_000) == (5_000, 10_000, 15_000, 20_000)
    assert _fitting_budgets((), 95) == (10, 19, 29, 38, 48, 57, 67, 76, 86, 95)
    assert _fitting_budgets((7,), 95) == (7,)
    assert [s.name for s in strategies_of("paper")] == list(PAPER_STRATEGIES)
    assert strategies_of(["take", "paper"]) == strategies_of("paper")
    assert {"take", "rbp-c"} < {s.name for s in strategies_of("all")}
