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
from bayespool.report.saving import read_result

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
    shown = scores.read()[1]
    assert (
        shown.caption
        == "P@10 by group of topics, and mean of 2 groups with equal weight; no pool, no posterior"
    )
    assert [row[0] for row in shown.rows] == ["a", "b"]
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
