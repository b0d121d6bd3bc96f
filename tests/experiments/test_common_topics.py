"""Common topics: the law of their error, and the adjustment."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_pools import LOST, toy
from hypothesis import given, strategies as st

from bayespool.collection import Collection
from bayespool.corrections import TopicsAdjustment
from bayespool.errors import InputError
from bayespool.experiments import vary_common_topics
from bayespool.experiments.random_pools import TopicsInCommon, common_topics_errors
from bayespool.scoring import parse_estimator


def test_errors_of_one_run_by_hand() -> None:
    """Three topics that lose .3, 0 and .6; the mean true score is .5, the unpooled one .2."""
    errors = common_topics_errors(
        [0.4, 0.5, 0.6], [0.1, 0.5, 0.0], [1, 2, 3], np.array([[0, 1, 2], [2, 0, 1]])
    )
    assert errors["unadjusted"] == pytest.approx(np.full((2, 3), -0.3))
    assert errors["mixed"] == pytest.approx(np.array([[-0.2, -0.2, 0], [-0.1, 0, 0]]))
    assert errors["adjusted"] == pytest.approx(np.array([[0, -0.15, 0], [0.3, 0.15, 0]]))
    assert errors["common-only"] == pytest.approx(np.array([[-0.1, -0.05, 0], [0.1, 0, 0]]))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=6), st.integers(1, 6))
def test_law_is_exact_over_all_sets_of_topics(scores: list[tuple[float, float]], n: int) -> None:
    truth, unpooled = np.array(scores).T
    n_topics = len(truth)
    n = min(n, n_topics)
    order = np.array(list(itertools.permutations(range(n_topics))))
    errors = {name: error[:, 0] for name, error in common_topics_errors(truth, unpooled, [n], order).items()}
    law = (n_topics - n) / (n * n_topics)
    lost = truth - unpooled
    assert errors["adjusted"].mean() == pytest.approx(0, abs=1e-12)
    assert errors["adjusted"].var() == pytest.approx(law * lost.var(ddof=1), abs=1e-12)
    assert errors["common-only"].mean() == pytest.approx(0, abs=1e-12)
    assert errors["common-only"].var() == pytest.approx(law * truth.var(ddof=1), abs=1e-12)
    assert errors["mixed"].mean() == pytest.approx(-(n_topics - n) / n_topics * lost.mean(), abs=1e-12)
    if n == n_topics:
        assert np.abs(errors["adjusted"]).max() < 1e-12
        assert np.abs(errors["mixed"]).max() < 1e-12


def test_law_holds_for_differences_of_equal_variance() -> None:
    """20,000 draws of normal differences: RMSE and MAE within 3 %."""
    rng = np.random.default_rng(7)
    n_topics, n_common = 60, [1, 3, 10, 30, 59]
    unpooled = rng.random(n_topics)
    truth = unpooled + rng.normal(0.1, 0.05, n_topics)
    order = np.argsort(rng.random((20_000, n_topics)), axis=1)
    error = common_topics_errors(truth, unpooled, n_common, order)["adjusted"]
    n = np.array(n_common)
    law = np.sqrt((n_topics - n) / (n * n_topics)) * (truth - unpooled).std(ddof=1)
    assert np.sqrt((error**2).mean(axis=0)) == pytest.approx(law, rel=0.03)
    # a mean of several differences is normal enough; of one, or all but one, it is as good as these 60
    assert np.abs(error).mean(axis=0)[1:4] == pytest.approx(np.sqrt(2 / np.pi) * law[1:4], rel=0.03)


def test_rows_of_the_toy() -> None:
    result = vary_common_topics(
        toy(), "P@2", estimators="as-judged", widths=[1], n_common=[1, 2], n_samples=20, n_topic_samples=50
    )
    rows = result.to_frame()
    for pool in TopicsInCommon().parts(toy(), result.settings):
        lost = np.array(LOST["".join(pool.pool_run_ids), pool.run_ids[0]])
        of_pool = rows[rows["sample"] == dict(pool.columns)["sample"]].set_index(["score", "n_common"])
        assert of_pool.loc[("unadjusted", 1), "mae"] == pytest.approx(lost.mean())
        # whichever topic is common, the adjusted score is off by half the difference of the two
        assert of_pool.loc[("adjusted", 1), "mae"] == pytest.approx(abs(lost[0] - lost[1]) / 2)
        assert of_pool.loc[("adjusted", 1), "law"] == pytest.approx(abs(lost[0] - lost[1]) / 2)
        assert of_pool.loc[("mixed", 1), "mae"] == pytest.approx(lost.mean() / 2, abs=lost.max() / 2)
        assert of_pool.loc["adjusted", "std_difference"].iloc[0] == pytest.approx(lost.std(ddof=1))
        assert (of_pool.xs(2, level="n_common").drop("unadjusted")["mae"] < 1e-12).all()
        assert of_pool["one_sided"].all()


def test_adjusting_is_what_the_topics_adjustment_does(example: Collection) -> None:
    """The shipped correction on a collection where the run is judged on the common topics."""
    result = vary_common_topics(example, estimators="as-judged", widths=[5], n_common=[6], n_samples=4)
    for sample, pool in enumerate(TopicsInCommon().parts(example, result.settings)):
        (run,) = pool.run_ids
        reduced = TopicsInCommon().conceal(example, pool, result.settings)
        order = np.argsort(np.random.default_rng(sample).random(20))
        common = tuple(example.query_ids[t] for t in order[:6])
        own = example.in_pool(example.run_index(run)) & np.isin(example.pair_topic, order[:6])
        judged = dataclasses.replace(reduced, relevance=np.where(own, example.relevance, reduced.relevance))
        (plain,) = parse_estimator("as-judged").estimate(reduced, run, ["P@10"])
        (true,) = parse_estimator("as-judged").estimate(example, run, ["P@10"])
        correction = TopicsAdjustment(common_query_ids=common, within_bounds=False)
        (adjusted,) = correction.estimate(judged, run, ["P@10"])
        errors = common_topics_errors(true.per_topic[0], plain.per_topic[0], [6], order[None, :])
        assert adjusted.value[0] - true.value[0] == pytest.approx(errors["adjusted"][0, 0], abs=1e-12)
        assert adjusted.std is not None
        law = np.sqrt(14 / (6 * 20)) * (true.per_topic - plain.per_topic)[0, order[:6]].std(ddof=1)
        assert adjusted.std[0] == pytest.approx(law)


@pytest.mark.slow
def test_summary_of_common_topics(example: Collection) -> None:
    result = vary_common_topics(example, widths=[2, 12], n_common=[4, 10, 20], n_samples=60)
    summary = result.to_frame("summary")
    assert len(summary) == 2 * 2 * 4 * 3
    places = ["pool_width", "estimator", "n_common"]
    adjusted = summary[summary["score"] == "adjusted"].set_index(places)
    assert adjusted["rmse"].to_numpy() == pytest.approx(adjusted["rmse_law"].to_numpy(), rel=0.04, abs=1e-12)
    assert (adjusted.xs(20, level="n_common")["mae"] < 1e-12).all()
    plain = summary[summary["score"] == "unadjusted"].set_index(places)
    assert plain["helped"].isna().all()
    mixed = summary[summary["score"] == "mixed"].set_index(places)
    # all that a lower bound misses is missed on one side
    of_bound = mixed.xs("as-judged", level="estimator")
    assert of_bound["mae"].to_numpy() == pytest.approx(of_bound["mae_law"].to_numpy(), rel=0.02, abs=1e-12)
    assert mixed.xs("condensed-list", level="estimator")["mae_law"].isna().all()
    narrow = (2, "as-judged", 10)
    assert adjusted.loc[narrow, "mae"] < mixed.loc[narrow, "mae"] < plain.loc[narrow, "mae"]


def test_common_topics_that_cannot_be(example: Collection) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"n_common": [21]}, "21 common topics"),
        ({"n_common": [0]}, "n_common cannot be 0"),
        ({"n_common": []}, "n_common cannot be empty"),
        ({"n_topic_samples": 0}, "n_topic_samples cannot be 0"),
    ]
    for asked, message in refused:
        with pytest.raises(InputError, match=message):
            vary_common_topics(example, **asked)


def test_plan_is_the_law_and_the_seed_decides(example: Collection) -> None:
    asked = {"estimators": "as-judged", "widths": [4], "n_common": [5], "n_samples": 6, "n_topic_samples": 2}
    result = vary_common_topics(example, "P@10", plan=[0.02, 0.01], **asked)
    pools = result.to_frame("pools").drop_duplicates("sample")
    plan = result.to_frame("plan")
    assert plan["std"].tolist() == [0.02, 0.01]
    variance = pools["std_difference"].to_numpy() ** 2
    needed = np.maximum(np.ceil(20 * variance / (20 * 0.01**2 + variance) - 1e-9), 1)
    assert plan["n_needed"][1] == pytest.approx(needed.mean())
    assert plan["n_needed_most"][1] == needed.max()
    assert plan["n_needed_alone"][1] > plan["n_needed"][1] > plan["n_needed"][0]
    plain = vary_common_topics(example, "P@10", **asked)
    assert [table.name for table in plain.tables()] == ["pools", "summary"]
    pd.testing.assert_frame_equal(plain.to_frame(), result.to_frame())
    assert not plain.to_frame().equals(vary_common_topics(example, "P@10", random_seed=2, **asked).to_frame())
