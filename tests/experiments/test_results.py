"""Tables of leave-out experiments."""

from __future__ import annotations

import dataclasses
import os
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from left_out import LEVELS, POINTS, RANKINGS, shapes, tables
from rich.console import Console
from small import small
from toys import from_rankings

from bayespool.errors import InputError
from bayespool.evidence import judgment_counts
from bayespool.experiments import LeaveOutResult, SimulationSettings, leave_out, load_example, simulate
from bayespool.experiments.graded_runs import leave_out_sentence, n_unknown_documents
from bayespool.posterior import PosteriorEstimator
from bayespool.report.terminal import print_result


@pytest.mark.slow
def test_significance_of_the_truth(result: LeaveOutResult) -> None:
    """SRE* against its definition, with SciPy's t test on the true scores."""
    from scipy.stats import ttest_rel

    found = leave_out(load_example(), "P@10", estimators=POINTS, test="paired-t")
    scores = found.true_scores("P@10")
    np.testing.assert_array_equal(
        scores, judgment_counts(load_example(), load_example().pooled_run_ids, cutoffs=10).lower[:, :, 0]
    )
    p = np.array([[ttest_rel(a, b).pvalue if a is not b else 1 for b in scores] for a in scores])
    np.testing.assert_array_equal(found.significant("P@10"), p < 0.05)
    for label in POINTS:
        rows = found.to_frame().query("estimator == @label")
        t, e = rows["truth"].to_numpy(), rows["value"].to_numpy()
        passed = [
            [(t[u] < t[v] <= e[u] or e[u] < t[v] <= t[u]) and p[u, v] < 0.05 for v in range(len(t)) if v != u]
            for u in range(len(t))
        ]
        starred = found.to_frame("summary").set_index("estimator").loc[label, "sre_star"]
        assert starred == np.sum(passed)
    assert found.to_frame("summary")["sre_star"].sum() > 0
    assert not result.significant("P@5").all()  # Tukey's


def test_significance_where_a_run_lacks_topics() -> None:
    """The paired t test takes the topics that both runs have, Tukey's those that all have."""
    from scipy.stats import ttest_rel

    collection = simulate(
        SimulationSettings(n_topics=8, n_organizations=4, max_runs=1), random_seed=3
    ).collection
    document = collection.document.copy()
    document[collection.run_index("north-1"), :3] = -1
    collection = dataclasses.replace(collection, document=document)
    found = leave_out(collection, "P@10", estimators="as-judged", denominator="run", test="paired-t")
    scores = found.true_scores("P@10")
    assert np.isnan(scores[1]).sum() == 3
    expected = ttest_rel(scores[1, 3:], scores[2, 3:]).pvalue < 0.05
    assert found.significant("P@10")[1, 2] == found.significant("P@10")[2, 1] == expected
    assert found.significant("P@10")[0, 2] == (ttest_rel(scores[0], scores[2]).pvalue < 0.05)
    tukey = leave_out(collection, "P@10", estimators="as-judged", denominator="run")
    others = dataclasses.replace(tukey, scores_in_truth={k: v[3:] for k, v in tukey.scores_in_truth.items()})
    np.testing.assert_array_equal(tukey.significant("P@10"), others.significant("P@10"))
    assert tukey.reliability("P@10").n_topics == 5
    assert "SRE* and reliability are over the 5 of 8 topics that all these runs have" in printed(tukey)
    assert "note: P@10: reliability is over the 5 of 8 topics" in printed(found)


def test_no_test_is_not_a_test_without_findings() -> None:
    """SRE* of one topic is unknown, not 0; and so is reliability."""
    one_topic = leave_out(shapes(), "P@2", estimators="as-judged")
    assert one_topic.to_frame("summary")["sre"].iloc[0] == 0
    assert np.isnan(one_topic.to_frame("summary")["sre_star"].iloc[0])
    assert len(one_topic.to_frame("reliability")) == 0
    assert "reliability of the true scores: –" in printed(one_topic)


def test_runs_without_organizations_are_called_runs() -> None:
    alone = from_rankings(RANKINGS, LEVELS, pooled_run_ids=("a", "b", "c", "d"), pool_depth=2)
    text = printed(leave_out(alone, "P@2", estimators="as-judged"))
    assert "\nEach run, of an organization of its own, left out in turn" in text
    assert "\nEach organization left" in printed(leave_out(shapes(), "P@2", estimators="as-judged"))


def printed(result: LeaveOutResult) -> str:
    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - closed below
    print_result(result, console)
    console.file.close()
    return console.export_text()


def test_leaving_out_says_that_nothing_repairs_what_is_right() -> None:
    plain = {"measure": "P@10", "estimator": "as-judged", "n_runs": 5, "bias": -0.001, "rmse": 0.002}
    plain["coverage_95"] = float("nan")
    worse = plain | {"estimator": "background", "bias": 0.01, "rmse": 0.02}
    said = leave_out_sentence([plain, worse])
    assert "underestimated by 0.0010" in said
    assert "No estimator comes nearer to the truth (root mean square error 0.0020)" in said
    assert "overestimated by 0.5000" in leave_out_sentence([plain | {"bias": 0.5}, worse])
    blank = plain | {"estimator": "anti-precision", "rmse": float("nan")}
    assert "background comes nearest" in leave_out_sentence([blank, worse])
    assert "no estimator has a value" in leave_out_sentence([blank])


def test_reliability_of_the_truth_and_a_pickled_result() -> None:
    asked: dict[str, Any] = {"estimators": ["as-judged", "posterior-background"], "draws": 20, "top": 75}
    result = leave_out(small(), ["P@5", "P@10"], **asked)
    frame = result.to_frame("reliability").set_index("measure")
    assert frame.loc["P@5", "n_runs"] == round(0.75 * len(small().pooled_run_ids))
    assert frame.loc["P@5", "n_topics"] == 8
    assert frame.loc["P@10", "generalizability"] == result.reliability("P@10").generalizability
    assert 0 < frame.loc["P@10", "dependability"] < frame.loc["P@10", "generalizability"] < 1
    with pytest.raises(InputError, match=r"P@20"):
        result.reliability("P@20")
    again = pickle.loads(pickle.dumps(result))
    assert tables(again) == tables(result)
    assert again.settings == result.settings
    estimator = PosteriorEstimator(model="ratio", priors={"mu": "Normal(-2, 1)"}, draws=7)
    assert pickle.loads(pickle.dumps(estimator)) == estimator


def test_what_notes_tell_counts_each_run_once() -> None:
    rows = [
        # measure, run, estimator, documents unjudged in truth, truth, bounds
        ("P@10", "a", "x", 2, 0.5, 0.4, 0.5),
        ("P@10", "a", "y", 2, 0.5, 0.4, 0.5),
        ("P@10", "b", "x", 1, 0.6, 0.4, 0.5),
        ("P@10", "b", "y", 1, 0.6, 0.4, 0.5),
        ("P@10", "c", "x", 0, 0.3, 0.4, 0.5),
        ("P@5", "b", "x", 7, 0.9, 0.0, 0.1),
    ]
    columns = ["measure", "run_id", "estimator", "n_unknown", "truth", "bound_lower", "bound_upper"]
    frame = pd.DataFrame(rows, columns=columns)
    assert n_unknown_documents(frame, "P@10") == 3
    assert n_unknown_documents(frame, "P@5") == 7
