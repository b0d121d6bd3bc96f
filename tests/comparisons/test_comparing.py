"""`compare`: every pair once, in both scopes, with what stands beside it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayespool.comparisons import Comparison, adjust_p_values, compare, paired_t
from bayespool.comparisons.comparing import compare_scores
from bayespool.comparisons.settings import ComparingSettings
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.names import AS_JUDGED
from bayespool.scoring import score

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")

NEW = ("new-a", "new-b")


@cache
def example_comparison() -> Comparison:
    return compare(
        load_example(),
        [*NEW, "north-2", "lake-1"],
        ["P@5", "P@10"],
        estimators=["interpolated", "posterior-ratio"],
        tests=("paired-t", "wilcoxon", "tukey-hsd"),
        posterior="draws=50",
    )


def test_differences_are_those_of_the_scores() -> None:
    found = example_comparison()
    frame = found.differences().set_index(["measure", "method", "scope", "run_a", "run_b"])
    for e in found.scores.estimates:
        row = frame.loc[(str(e.measure), e.method, "these-topics", "new-a", "new-b")]
        assert row["difference"] == pytest.approx(e.value[0] - e.value[1])
        if e.draws is not None:
            totals = e.draws.totals()
            assert row["prob_greater"] == (totals[:, 0] > totals[:, 1]).mean()
            assert row["prob_less"] == (totals[:, 0] < totals[:, 1]).mean()
            near = np.abs(totals[:, 0] - totals[:, 1]) <= 0.01 * e.measure.cutoff * 20 + 1e-9
            assert row["prob_equivalent"] == near.mean()


def test_tests_are_done_on_every_methods_scores_and_adjusted_over_pairs() -> None:
    found = example_comparison()
    frame = found.significance().set_index(["measure", "method", "test", "run_a", "run_b"])
    for e in found.scores.estimates:
        p = adjust_p_values(paired_t(e.per_topic), "holm")
        row = frame.loc[(str(e.measure), e.method, "paired-t", "new-b", "north-2")]
        assert row["p_value"] == pytest.approx(stats.ttest_rel(e.per_topic[1], e.per_topic[2]).pvalue)
        assert row["p_adjusted"] == pytest.approx(p[1, 2])
        if e.draws is None:
            assert row["significant"] == (p[1, 2] <= 0.05)
        else:  # a test of means takes unjudged documents for known
            assert row["significant"] is pd.NA
        tukey = frame.loc[(str(e.measure), e.method, "tukey-hsd", "new-b", "north-2")]
        assert tukey["control"] == "tukey-hsd"
        assert tukey["p_adjusted"] == tukey["p_value"]


def test_risk_of_reversal_is_that_of_pairs_that_are_significant_now() -> None:
    found = example_comparison()
    frame = found.significance()
    index = ["measure", "test", "run_a", "run_b"]
    now = frame[frame["method"] == AS_JUDGED].set_index(index)
    drawn = frame[(frame["method"] == "posterior-ratio") & (frame["test"] != "wilcoxon")].set_index(index)
    assert len(drawn) == 2 * 2 * 6
    for key, row in drawn.iterrows():
        expected = np.nan
        if now.loc[key, "significant"]:
            way = "greater" if now.loc[key, "difference"] > 0 else "less"
            expected = 1 - row[f"prob_significant_{way}"]
        assert row["reversal_risk"] == pytest.approx(expected, nan_ok=True)
        both = row["prob_significant_greater"] + row["prob_significant_less"]
        assert row["prob_significant"] == pytest.approx(both)
    assert now["significant"].sum() >= 4
    assert frame[frame["test"] == "wilcoxon"]["prob_significant"].isna().all()


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"run_ids": ["new-a"]}, "one run cannot be compared"),
    ({"tests": ["anova"]}, "tests cannot be 'anova'"),
    ({"tests": []}, "tests cannot be"),
    ({"scopes": ["topics"]}, "scopes cannot be 'topics'; known: these-topics, population"),
    ({"level": 0}, "level cannot be 0"),
    ({"rope": -0.1}, "rope cannot be -0.1"),
    ({"control": "bonferroni"}, "control cannot be 'bonferroni'"),
    ({"together": False}, r"unknown settings \['together'\]"),
)


def test_compare_refuses_what_it_does_not_know() -> None:
    for arguments, said in WRONG:
        call = {"run_ids": NEW, "estimators": ["posterior-ratio"], "posterior": "draws=20", **arguments}
        with pytest.raises(InputError, match=said):
            compare(load_example(), **call)
    with pytest.raises(InputError, match="as-judged is missing"):
        compare_scores(score(load_example(), NEW, estimators=["interpolated"]))
    settings = ComparingSettings(tests="paired-t", scopes="population")  # type: ignore[arg-type]
    assert (settings.tests, settings.scopes) == (("paired-t",), ("population",))
    assert [e.name for e in settings.estimators] == ["as-judged", "posterior-combined"]
    assert settings.estimators[1].together  # type: ignore[attr-defined]
