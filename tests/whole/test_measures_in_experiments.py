"""Every experiment takes measures of every family, and the truth is that of the full judgments."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from families import BELOW_THE_POOL, FAMILIES
from small import small
from toys import judgments, ranking

from bayespool.collection import Collection
from bayespool.comparisons import compare, paired_t, reversals
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments import (
    CommonTopicsResult,
    LeaveOutResult,
    PoolWidthResult,
    leave_out,
    load_example,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.measures import mean_absolute_error, parse_measure

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")

AS_TREC_EVAL = {
    "P@10": "P_10",
    "P@20": "P_20",
    "R@10": "recall_10",
    "R@20": "recall_20",
    "AP@10": "map_cut_10",
    "AP@15": "map_cut_15",
    "nDCG@10": "ndcg_cut_10",
}
OVER_AN_IDEAL = ("R@", "AP@", "nDCG")


def trec_eval(collection: Collection, run: str, name: str) -> float:
    """Mean over all topics of a measure of trec_eval, in the order that the collection has."""
    evaluator = pytrec_eval.RelevanceEvaluator(judgments(collection), {name[::-1].replace("_", ".", 1)[::-1]})
    ranked = {
        q: {d: -float(i) for i, d in enumerate(ranking(collection, run, q))} for q in collection.query_ids
    }
    return float(np.mean([found[name] for found in evaluator.evaluate(ranked).values()]))


def back_alone(run: str, example: Collection) -> Collection:
    """A collection without what only other runs of the organization brought."""
    of_run = example.organization[example.run_index(run)[0]]
    mine = [r for r, o in zip(example.run_ids, example.organization, strict=True) if o == of_run and r != run]
    return example.unpool(mine) if mine else example


@cache
def left_out(truth: Any = "repooled") -> LeaveOutResult:
    measures = [*FAMILIES, *BELOW_THE_POOL]
    return leave_out(small(), measures, estimators="as-judged", truth=truth)


@cache
def left_out_and_drawn() -> LeaveOutResult:
    measures = [*FAMILIES, *BELOW_THE_POOL]
    return leave_out(small(), measures, estimators="posterior-ratio", draws=10, chains=2)


@cache
def widths() -> PoolWidthResult:
    return vary_pool_width(load_example(), FAMILIES, estimators="as-judged", widths=[3], n_samples=4)


@cache
def common_topics() -> CommonTopicsResult:
    return vary_common_topics(
        small(), FAMILIES, estimators="as-judged", widths=[3], n_common=[3, 8], n_samples=3
    )


@cache
def types() -> LeaveOutResult:
    example = small()
    kinds = {run: "odd" if run.startswith("north") else "usual" for run in example.pooled_run_ids}
    odd: dict[str, Any] = {"by": "type", "run_types": kinds, "types": ["odd"]}
    return leave_out(example, FAMILIES, estimators="as-judged", **odd)


def of(frame: pd.DataFrame, measure: str, estimator: str = "as-judged") -> pd.DataFrame:
    found = frame[(frame["measure"] == measure) & (frame["estimator"] == estimator)]
    assert len(found)
    return found


def test_truth_and_estimates_of_leave_out_are_within_the_bounds() -> None:
    for measure in (*FAMILIES, *BELOW_THE_POOL):
        for truth in ("full", "repooled"):
            rows = of(left_out(truth).to_frame(), measure)
            assert (rows["value"] == rows["as_judged"]).all(), measure
            assert rows["truth"].between(rows["bound_lower"] - 1e-12, rows["bound_upper"] + 1e-12).all(), (
                measure
            )
            # somebody else found a first highly relevant document in the top five of each run
            assert (rows["truth"] != rows["value"]).any() != measure.startswith("Success"), measure
        drawn = of(left_out_and_drawn().to_frame(), measure, "posterior-ratio")
        assert (drawn["lower"] >= drawn["bound_lower"] - 1e-12).all(), measure
        assert (drawn["upper"] <= drawn["bound_upper"] + 1e-12).all(), measure
        assert (drawn["lower"] < drawn["upper"]).any(), measure
        assert drawn["pit"].between(0, 1).all(), measure
        summary = of(left_out().to_frame("summary"), measure)
        assert summary["mae"].iloc[0] == mean_absolute_error(rows["truth"], rows["value"]), measure


@cache
def left_out_of_the_example() -> LeaveOutResult:
    return leave_out(load_example(), [*AS_TREC_EVAL], estimators="as-judged")


@pytest.mark.parametrize("measure", AS_TREC_EVAL)
def test_truth_of_leave_out_is_trec_evals_with_the_run_back_in_the_pool(measure: str) -> None:
    """All that a run found within the pool depth comes back with it, for its ideal ranking too; what only
    another run of its organization brought stays away.
    """
    example, rows = load_example(), of(left_out_of_the_example().to_frame(), measure)
    alone = rows.groupby("organization")["run_id"].transform("size") == 1
    rows = rows[alone] if measure in BELOW_THE_POOL else rows.iloc[::4]
    assert len(rows)
    name, true, judged = AS_TREC_EVAL[measure], [], []
    for run, organization in zip(rows["run_id"], rows["organization"], strict=True):
        true.append(trec_eval(back_alone(run, example), run, name))
        judged.append(trec_eval(example.unpool(organization=organization), run, name))
    np.testing.assert_allclose(rows["truth"], true, atol=1e-9)
    np.testing.assert_allclose(rows["as_judged"], judged, atol=1e-9)
    error = np.abs(np.array(true) - judged).mean()
    assert mean_absolute_error(rows["truth"], rows["value"]) == pytest.approx(error)


def test_truth_of_random_pools_is_of_the_whole_pool() -> None:
    for measure in FAMILIES:
        example, parsed, rows = load_example(), parse_measure(measure), of(widths().to_frame(), measure)
        true = score_bounds(example, None, parsed).low.means()[example.run_index(rows["run_id"])]
        if measure.startswith(OVER_AN_IDEAL):  # of fewer relevant documents
            assert (rows["truth"] > true).all(), measure
        else:
            assert rows["truth"].tolist() == true.tolist(), measure
            assert (rows["error"] <= 0).all(), measure
        assert (rows["error"] == rows["value"] - rows["truth"]).all(), measure
        summary = of(widths().to_frame("summary"), measure)
        assert summary["mae"].iloc[0] == pytest.approx(rows["error"].abs().mean()), measure


def test_a_run_that_is_judged_on_all_topics_is_adjusted_to_its_truth() -> None:
    for measure in FAMILIES:
        summary = of(common_topics().to_frame("summary"), measure).set_index(["score", "n_common"])["mae"]
        for score in ("mixed", "adjusted", "common-only"):
            assert summary[score, 8] == pytest.approx(0, abs=1e-12), measure
        rows = of(common_topics().to_frame(), measure)
        lost = (rows["truth"] - rows["value"]).abs()[rows["score"] == "unadjusted"].mean()
        assert summary["unadjusted", 3] == pytest.approx(lost), measure


def test_truth_of_a_type_is_that_of_its_runs_on_the_whole_pool() -> None:
    for measure in FAMILIES:
        rows = of(types().to_frame(), measure)
        true = score_bounds(small(), rows["run_id"], parse_measure(measure)).low.means().tolist()
        if measure.startswith(OVER_AN_IDEAL) and measure in AS_TREC_EVAL:  # of the run alone back in the pool
            true = [trec_eval(back_alone(run, small()), run, AS_TREC_EVAL[measure]) for run in rows["run_id"]]
        if measure in AS_TREC_EVAL or not measure.startswith(OVER_AN_IDEAL):
            np.testing.assert_allclose(rows["truth"], true, atol=1e-9, err_msg=measure)
        for table in ("summary", "types"):
            mae = of(types().to_frame(table), measure)["mae"].iloc[0]
            assert mae == pytest.approx((rows["value"] - rows["truth"]).abs().mean()), measure


def test_reversals_and_comparisons_are_of_the_values() -> None:
    collection, runs = small(), ["new-a", "new-b", "west-1"]
    for measure in ("P@10", "AP@10", "AntiP@10"):
        found = reversals(
            collection, measures=measure, judgments=[100], estimators=["as-judged"], fitted=False
        )
        rates = found.rates().query("group == 'contributing' and against == 'same method'").iloc[0]
        p = paired_t(score_bounds(collection, found.groups["contributing"], parse_measure(measure)).lower)
        separable = (p[np.triu_indices(len(p), 1)] <= 0.01).mean()
        assert rates["separability_all"] == pytest.approx(separable), measure
    for measure in FAMILIES[::3]:
        compared = compare(collection, runs, measure, estimators=["as-judged"]).differences()
        value = score_bounds(collection, runs, parse_measure(measure)).low.means()
        expected = [value[0] - value[1], value[0] - value[2], value[1] - value[2]]
        assert compared["difference"].tolist() == expected, measure


def test_a_measure_of_the_judgments_is_refused() -> None:
    for work in (leave_out, vary_pool_width, vary_common_topics, reversals):
        with pytest.raises(InputError, match="Judged@10 describes the judgments"):
            work(small(), measures="Judged@10")  # type: ignore[operator]
