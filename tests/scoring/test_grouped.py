"""Scores by group of topics: means by hand, with and without draws, and what the terminal shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from counted_runs import counted
from scipy import stats
from small import small

from bayespool import judge_next, score
from bayespool.errors import InputError
from bayespool.measures import equal_tailed_interval
from bayespool.report.stored import read_result

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning"),
]
COUNTS = {"a": np.array([5, 4, 3, 6, 2, 9, 8]), "b": np.array([6, 7, 5, 8, 4, 5, 6])}
GROUPS = {f"t{t}": "android" if t < 5 else "gis" for t in range(7)}


def test_values_by_group_and_their_mean(tmp_path: Path) -> None:
    asked = {"measures": "P@10", "estimators": "as-judged"}
    scores = score(counted(COUNTS), ["a", "b"], groups=GROUPS, scope="groups", **asked)
    frame = scores.to_frame("groups").set_index(["run_id", "group"])
    assert frame["as_judged"].round(4).unstack().loc["a"].to_dict() == {
        "all topics": round(3.7 / 7, 4), "android": 0.4, "gis": 0.85, "mean of groups": 0.625
    }  # fmt: skip
    np.testing.assert_allclose(frame["value"], frame["as_judged"])
    assert frame["lower"].isna().all()
    row = frame.loc[("b", "android")]
    ends = stats.t.interval(0.95, 4, 0.6, stats.sem(COUNTS["b"][:5] / 10))
    assert (row["population_lower"], row["population_upper"]) == pytest.approx(ends, abs=0.01)
    sentence = scores.sentences()[-1]
    assert sentence.startswith(
        "As a mean of 2 groups with equal weight (android, gis), the P@10 of a is 0.625"
    )
    assert sentence.endswith("over all 7 topics: b 0.586, a 0.529.")
    over_groups = stats.t.interval(0.95, 1, 0.625, stats.sem([0.4, 0.85]))
    ends = frame.loc[("a", "mean of groups"), ["groups_lower", "groups_upper"]]
    np.testing.assert_allclose(ends.astype(float), np.clip(over_groups, 0, 1), atol=0.01)
    assert f"on groups like these {ends.iloc[0]:.3f}–{ends.iloc[1]:.3f}" in sentence
    assert frame["groups_lower"].notna().groupby("group").sum().to_dict() == {
        "all topics": 0, "android": 0, "gis": 0, "mean of groups": 2
    }  # fmt: skip
    whole = scores.to_frame().set_index("run_id")
    assert frame.loc[("a", "all topics"), "population_lower"] == whole.loc["a", "population_lower"]
    shown = scores.read()[1]
    headings = [column.heading for column in shown.columns]
    assert headings[-2:] == ["on topics\nlike these", "on groups\nlike these"]
    assert [row[-1] for row in shown.rows if row[0] != "mean of groups"] == ["–"] * 6
    assert (
        shown.caption
        == "P@10 by group of topics, and mean of 2 groups with equal weight; no pool, no posterior"
    )
    assert [row[:2] for row in shown.rows[:3]] == [("android", "a"), ("android", "b"), ("gis", "a")]
    scores.save(tmp_path / "scores.json")
    assert len(read_result(tmp_path / "scores.json").read()) == 2


def test_draws_by_group() -> None:
    groups = dict(zip(small().query_ids, "aabbbbbb", strict=True))
    scores = score(
        small(), ["new-a"], "P@5", estimators="posterior-ratio(draws=100)", groups=groups, scope="population"
    )
    draws = scores.estimates[0].draws
    assert draws is not None
    values = draws.scores()[:, 0]
    expected = (values[:, :2].mean(axis=1) + values[:, 2:].mean(axis=1)) / 2
    row = scores.to_frame("groups").set_index("group").loc["mean of groups"]
    assert row["value"] == pytest.approx(expected.mean())
    assert (row["lower"], row["upper"]) == pytest.approx(equal_tailed_interval(expected))
    assert row["population_lower"] < row["lower"]
    of_group = scores.to_frame("groups").set_index("group").loc["b"]
    assert (of_group["lower"], of_group["upper"]) == pytest.approx(
        equal_tailed_interval(values[:, 2:].mean(axis=1))
    )
    shown = scores.read()[1].rows[1]
    assert shown[:2] == ("b", "new-a"), "intervals of single groups are read, too"
    assert f"{of_group['lower']:.4f}–{of_group['upper']:.4f}" in shown
    whole, table = scores.to_frame().iloc[0], scores.to_frame("groups").set_index("group").loc["all topics"]
    for column in (
        "value",
        "lower",
        "upper",
        "as_judged",
        "bound_lower",
        "population_lower",
        "population_upper",
    ):
        assert table[column] == pytest.approx(whole[column])


def test_answers_without_values_by_group_refuse_them() -> None:
    with pytest.raises(InputError, match="no values by group here"):
        judge_next(small(), "new-a", "P@5", groups=dict(zip(small().query_ids, "aabbbbbb", strict=True)))
