"""Common topics: the law of their error, and the adjustment."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_pools import LOST, toy
from hypothesis import given, strategies as st

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import vary_common_topics
from bayespool.experiments.random_pools import TopicsInCommon, common_topics_errors


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
