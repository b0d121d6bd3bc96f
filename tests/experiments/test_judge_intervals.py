"""How much narrower intervals are with labels: the same estimates as without this table."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from fits import TARGETS
from labeled import right_labels, with_judge
from toys import no_pool

from bayespool import check_judges
from bayespool.collection import Collection
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.experiments import JudgeCheck, SimulationSettings, load_example, simulate
from bayespool.experiments.judge_checks import ALL_JUDGES
from bayespool.posterior import PosteriorEstimator

QUICK: dict[str, Any] = {"draws": 250, "chains": 2, "model": "ratio"}


def judged_twice() -> Collection:
    """A judge that is right, and one that throws a coin."""
    coin = np.random.default_rng(1).integers(0, 2, len(load_example().relevance)).astype(float)
    return with_judge(with_judge(load_example(), right_labels(), "good"), coin, "coin")


@cache
def example_check() -> JudgeCheck:
    return check_judges(judged_twice(), ["P@10", "P@5"], intervals=True, ci_prob=0.9, **QUICK)


@pytest.mark.slow
def test_rows_are_estimates_with_and_without_each_judge() -> None:
    collection, rows = judged_twice(), example_check().to_frame("runs")
    assert list(dict.fromkeys(zip(rows["measure"], rows["judge"], strict=True))) == [
        (measure, judge) for measure in ("P@10", "P@5") for judge in ("good", "coin", ALL_JUDGES)
    ]
    good, coin = collection.judges
    judges = {"": (), "good": (good,), "coin": (coin,), ALL_JUDGES: (good, coin)}
    estimator = PosteriorEstimator(**QUICK)
    widths, values, lowers, uppers = {}, {}, {}, {}
    for name, group in judges.items():
        given = dataclasses.replace(collection, judges=group)
        for estimates in estimator.estimate(given, TARGETS, ["P@10", "P@5"]):
            lower, upper = estimates.interval(0.9)
            widths[str(estimates.measure), name] = (upper - lower).tolist()
            values[str(estimates.measure), name] = estimates.value.tolist()
            lowers[str(estimates.measure), name] = lower.tolist()
            uppers[str(estimates.measure), name] = upper.tolist()
    for (measure, judge), mine in rows.groupby(["measure", "judge"]):
        assert mine["run_id"].tolist() == list(TARGETS)
        assert mine["organization"].tolist() == list(TARGETS)
        tables = {"width": widths, "value": values, "lower": lowers, "upper": uppers}
        for what, found in tables.items():
            assert mine[f"{what}_without"].tolist() == found[measure, ""]
            assert mine[f"{what}_with"].tolist() == found[measure, judge]
    assert set(rows["ci_prob"]) == {0.9}


def test_a_right_judge_saves_most_of_the_interval_and_a_coin_nothing() -> None:
    frame, rows = example_check().to_frame("intervals"), example_check().to_frame("runs")
    for (measure, judge), mine in rows.groupby(["measure", "judge"]):
        (row,) = frame[(frame["measure"] == measure) & (frame["judge"] == judge)].to_dict("records")
        assert row["n_runs"] == 2
        assert row["width_with"] == pytest.approx(mine["width_with"].mean())
        assert row["width_without"] == pytest.approx(mine["width_without"].mean())
        assert row["saved"] == pytest.approx(1 - row["width_with"] / row["width_without"])
    saved = frame[frame["measure"] == "P@10"].set_index("judge")["saved"]
    assert saved["good"] > 0.6
    assert abs(saved["coin"]) < 0.25
    assert saved[ALL_JUDGES] > 0.6


SMALL = SimulationSettings(n_topics=8, n_candidates=60, n_organizations=4, max_runs=2, run_depth=40)


@pytest.mark.slow
def test_without_a_run_to_score_each_organization_is_left_out() -> None:
    whole = simulate(SMALL, random_seed=3).collection
    label = np.where(whole.relevance > 0, 1.0, np.where(whole.relevance < 0, np.nan, 0.0))
    counts: list[tuple[int, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        show = {"progress": lambda *done: counts.append(done)}
        check = check_judges(with_judge(whole, label), "P@10", run_ids=(), intervals=True, **show, **QUICK)
        organization = whole.organizations[whole.organization[np.flatnonzero(whole.pooled)[0]]]
        runs = [r for r in whole.pooled_run_ids if _organization(whole, r) == organization]
        left_out = with_judge(whole, label).unpool(organization=organization)
        (estimates,) = PosteriorEstimator(**QUICK).estimate(left_out, runs, "P@10")
    rows = check.to_frame("runs")
    assert sorted(rows["run_id"]) == sorted(whole.pooled_run_ids)
    assert rows["organization"].tolist() == [_organization(whole, run) for run in rows["run_id"]]
    lower, upper = estimates.interval(0.95)
    mine = rows[rows["organization"] == organization]
    assert mine["run_id"].tolist() == runs
    assert mine["width_with"].tolist() == (upper - lower).tolist()
    assert mine["value_with"].tolist() == estimates.value.tolist()
    n = rows["organization"].nunique()
    assert counts == [(i, n) for i in range(n + 1)]
    assert check.to_frame("intervals")["n_runs"].tolist() == [len(whole.pooled_run_ids)]


def _organization(collection: Collection, run: str) -> str:
    return collection.organizations[int(collection.organization[collection.run_index(run)[0]])]


def test_warnings_of_many_estimates_are_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    estimate = PosteriorEstimator.estimate
    said = iter(range(100))

    def warn(*arguments: Any) -> Any:
        warnings.warn(f"{next(said)} effective draws", DiagnosticsWarning, stacklevel=2)
        return estimate(*arguments)

    monkeypatch.setattr(PosteriorEstimator, "estimate", warn)
    with pytest.warns(DiagnosticsWarning) as caught:
        check_judges(judged_twice(), intervals=True, **QUICK)
    assert [str(one.message) for one in caught] == ["0 effective draws and the like"]
    assert caught[0].filename == __file__


def test_with_nobody_to_leave_out_there_is_no_interval() -> None:
    alone, _ = no_pool()
    label = np.where(alone.relevance > 0, 1.0, 0.0)
    with pytest.raises(InputError, match="no run to score, and no second organization"):
        check_judges(with_judge(alone, label), "P@3", run_ids=(), intervals=True, **QUICK)
