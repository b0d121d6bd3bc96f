"""Few judgments held against all: rates, announced risks, their grading."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from precisions import pairs
from real import read_real
from scipy import stats

from bayespool.collection import Collection
from bayespool.comparisons import Reversals, brier_score, calibration_table, count_reversals, judgment_subset
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts
from bayespool.experiments import load_example
from bayespool.names import AS_JUDGED

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")

NEW = ("new-a", "new-b")
ASKED: dict[str, Any] = {
    "judgments": (150, 500, 10**6),
    "estimators": ["interpolated", "smoothed", "posterior-ratio"],
    "announce": (0.5, 0.9),
    "posterior_settings": "draws=50",
}


@cache
def example_reversals(unseen: str = "nonrelevant") -> Reversals:
    return count_reversals(load_example(), unseen=unseen, **ASKED)


def scipy_significance(collection: Collection, runs: tuple[str, ...]) -> dict[tuple[int, int], int]:
    """Sign of each pair's difference in P@10 where a paired t test finds it significant at 0.01, else 0."""
    counts = judgment_counts(collection, runs, cutoffs=10)
    scores = counts.n_relevant[:, :, 0]
    signs = {}
    for a, b in pairs(len(runs)):
        difference = scores[a] - scores[b]
        p = stats.ttest_1samp(difference, 0).pvalue if difference.any() else 1.0
        signs[a, b] = int(np.sign(difference.sum())) if p <= 0.01 else 0
    return signs


def test_announced_risks_are_graded_by_all_judgments() -> None:
    found = example_reversals()
    risks = found.risks()
    assert set(risks["estimator"]) == {"posterior-ratio"}
    assert set(risks["judgments"]) == {150, 500}
    few = scipy_significance(judgment_subset(load_example(), 500), found.groups["contributing"])
    full = scipy_significance(load_example(), found.groups["contributing"])
    mine = risks.query("group == 'contributing' and judgments == 500")
    assert mine["significant"].tolist() == [few[pair] != 0 for pair in few]
    assert mine["significant_all"].tolist() == [full[pair] != 0 for pair in few]
    assert mine["reversed"].tolist() == [few[pair] != 0 and full[pair] != few[pair] for pair in few]
    assert mine["reversal_risk"].notna().tolist() == mine["significant"].tolist()
    grades = found.grades().query("group == 'contributing' and judgments == 500").set_index("statement")
    now = mine[mine["significant"]]
    assert grades.loc["reversed", "n"] == len(now)
    assert grades.loc["reversed", "brier"] == pytest.approx(
        ((now["reversal_risk"] - now["reversed"]) ** 2).mean()
    )
    assert grades.loc["significant", "brier"] == pytest.approx(
        ((mine["prob_significant"] - mine["significant_all"]) ** 2).mean()
    )
    table = found.calibration().query(
        "group == 'contributing' and judgments == 500 and statement == 'significant'"
    )
    assert table["n"].sum() == 210
    assert len(table) == 10


def test_rates_by_hand() -> None:
    """First a is better than b and c, and b than c; in the end b is better than a, and c no worse than b."""

    pair = {"measure": "P@10", "group": "all", "estimator": AS_JUDGED, "p_value": np.nan}
    ends = {"run_a": ["a", "a", "b"], "run_b": ["b", "c", "c"]}
    signs = {10: [1, 1, 1], 20: [-1, 1, 0]}
    rows = [pd.DataFrame(pair | ends | {"judgments": n, "sign": sign}) for n, sign in signs.items()]
    found = dataclasses.replace(example_reversals(), n_judgments=(10, 20), pairs=pd.concat(rows))
    rates = found.rates().iloc[0]
    assert (rates["n_pairs"], rates["judgments"], rates["all_judgments"]) == (3, 10, 20)
    asked = ("separability", "separability_all", "kept", "reversed", "swapped", "gained")
    assert [3 * rates[name] for name in asked] == pytest.approx([3, 2, 1, 1, 1, 0])
    assert rates["reversed_of_significant"] == pytest.approx(2 / 3)


def test_only_runs_that_all_judgments_cover_are_graded_where_the_rest_is_estimated() -> None:
    found = example_reversals("estimated")
    n_open = {"new-a": 18, "new-b": 44}  # of 20 topics × 10 ranks
    np.testing.assert_array_equal(found.holes["P@10", "non-contributing"], [n_open[run] / 200 for run in NEW])
    assert not found.gradable("P@10", "non-contributing").any()
    assert not found.holes["P@10", "contributing"].any()
    assert found.gradable("P@10", "contributing").all()
    risks = found.risks()
    assert set(risks.query("group == 'non-contributing'")["gradable"]) == {False}
    assert set(risks.query("group == 'contributing'")["gradable"]) == {True}
    grades = found.grades().set_index(["group", "judgments", "statement"])
    assert grades.loc["non-contributing", "n"].tolist() == [0] * 4
    assert grades.loc["non-contributing", "brier"].isna().all()
    assert grades.loc[("contributing", 500, "significant"), "n"] == 210
    table = found.calibration().query("group == 'non-contributing'")
    assert table["n"].sum() == 0


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"judgments": [10**6]}, "no judgment set is smaller"),
    ({"run_ids": ["new-a", "north-1"]}, "no pair of runs"),
    ({"test": "anova"}, "test cannot be 'anova'"),
    ({"announce": [0.3]}, "announce cannot be 0.3; at least 0.5 and at most 1"),
    ({"estimators": ["smoothed", "smoothed(c=0.2)"]}, "two estimators are called 'smoothed'"),
    ({"level": 2}, "level cannot be 2"),
)


def test_reversals_refuse_what_they_cannot_do() -> None:
    for arguments, said in WRONG:
        with pytest.raises(InputError, match=said):
            count_reversals(load_example(), **{"judgments": [300], "estimators": [], **arguments})


# --- a real collection -------------------------------------------------------------------------------------


@pytest.mark.at_a_desk
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")  # a pool of depth 1 says little
def test_announced_risks_on_trec8_are_about_right(collections: Path) -> None:
    """What docs/comparisons.md says: Brier scores far below those of the share that nobody could know."""
    collection = read_real(collections / "trec8-adhoc")
    runs = [run for run in collection.run_ids if run not in ("UB99SW", "UB99T")]  # oddly unjudged
    found = count_reversals(
        collection, runs, estimators=["posterior-combined"], posterior_settings="draws=250", fitted=False
    )
    grades = found.grades().set_index(["group", "judgments", "statement"])
    for (group, n, statement), row in grades.iterrows():
        assert abs(row["announced"] - row["happened"]) < 0.12, (group, n, statement)
        assert row["brier"] < row["brier_constant"], (group, n, statement)


def test_calibration_by_hand() -> None:
    table = calibration_table([0.0, 0.05, 0.3, 0.3, 0.35, 0.95, 1.0], [0, 0, 1, 0, 1, 1, 0])
    assert table["n"].tolist() == [2, 0, 0, 3, 0, 0, 0, 0, 0, 2]
    assert table["announced"].tolist()[3] == pytest.approx((0.3 + 0.3 + 0.35) / 3)
    assert table["happened"].tolist()[3] == pytest.approx(2 / 3)
    assert np.isnan(table["happened"][1])
    assert brier_score([0.0, 0.5, 1.0], [0, 1, 0]) == pytest.approx((0 + 0.25 + 1) / 3)
    assert np.isnan(brier_score([], []))
