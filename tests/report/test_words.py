"""What reports of experiments say first is what their tables say."""

from __future__ import annotations

import pandas as pd
import pytest

from bayespool.report.words import TITLES, figure_caption, main_columns, summary


def test_leave_out_names_the_bias_and_the_best_estimator() -> None:
    rows = pd.DataFrame(
        {
            "measure": "P@10",
            "estimator": ["lower-bound", "posterior-x"],
            "n_runs": 21,
            "rmse": [0.03, 0.01],
            "bias": [-0.02, 0.0],
            "coverage_95": [None, 0.952],
        }
    )
    said = summary("leave-out", {"summary": rows}, {"pool": "21 runs"})
    assert said == (
        "P@10, over 21 runs left out of the pool: as judged a run is underestimated by 0.0200 on average. "
        "posterior-x comes nearest to the truth (root mean square error 0.0100 against 0.0300 as judged). "
        "The 95 % intervals of posterior-x hold the truth of 95.2 % of the runs "
        "with anything unjudged.",
        "The pool: 21 runs.",
    )


def test_a_comparison_names_the_better_run_first() -> None:
    row = {
        "measure": "P@10",
        "method": "m",
        "scope": "these-topics",
        "run_a": "a",
        "run_b": "b",
        "difference": -0.25,
    }
    row |= {
        "lower": -0.3,
        "upper": -0.2,
        "ci_prob": 0.95,
        "prob_greater": 0.01,
        "prob_equal": 0.0,
        "prob_less": 0.99,
    }
    (said,) = summary("compare", {"differences": pd.DataFrame([row])}, {})
    assert said == (
        "On these topics the P@10 of b is higher than that of a by 0.250 (95 % interval 0.200 to 0.300, m); "
        "the chance that it is higher is 0.990."
    )


@pytest.mark.parametrize("kind", [*TITLES, "something new"])
def test_a_result_whose_tables_are_other_ones_still_has_a_summary(kind: str) -> None:
    assert summary(kind, {"x": pd.DataFrame({"a": [1]})}, {})


def test_budgets_checks_and_lists_have_sentences() -> None:
    rows = pd.DataFrame({"measure": "P@10", "strategy": ["a", "b"], "budget": [10, 20], "mae": [0.2, 0.1]})
    assert "with 20 that of b (0.1000)" in summary("budgets", {"summary": rows}, {})[0]
    elpd = pd.DataFrame({"measure": "P@10", "model": ["ratio", "evidence"]})
    assert "of 2 models ratio" in summary("check", {"elpd": elpd}, {})[0]
    documents = pd.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "c"]})
    assert summary("documents", {"documents": documents}, {}) == ("3 documents on 2 topics.",)


def test_figures_and_columns_have_names() -> None:
    assert figure_caption("truth-P_10").endswith("(P@10)")
    measures = ["P(rel=2)@10", "RBP(p=0.8)@10"]
    assert figure_caption("pit-P_rel_2_10", measures).endswith(" (P(rel=2)@10)")
    assert figure_caption("pit-RBP_p_0_8_10", measures).endswith(" (RBP(p=0.8)@10)")
    wide = pd.DataFrame(
        [
            {
                "fold": 1,
                "run_id": "a",
                "estimator": "x",
                "truth": 1,
                "value": 1,
                "lower": 0,
                "upper": 1,
                "pit": 0,
            }
        ]
    )
    assert "pit" not in main_columns("runs", wide)
    assert "pit" in main_columns("summary", wide)
