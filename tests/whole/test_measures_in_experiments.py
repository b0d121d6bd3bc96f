"""Every experiment takes measures of every family, and the truth is that of the full judgments."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from checked import BELOW_THE_POOL, FAMILIES
from small import small
from toys import judgments, ranking

from bayespool.collection import Collection
from bayespool.experiments import RandomPoolsResult, leave_out, vary_common_topics
from bayespool.measures import mean_absolute_error

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
def common_topics() -> RandomPoolsResult:
    return vary_common_topics(
        small(), FAMILIES, estimators="as-judged", widths=[3], n_common=[3, 8], n_samples=2, n_topic_samples=5
    )


def of(frame: pd.DataFrame, measure: str, estimator: str = "as-judged") -> pd.DataFrame:
    found = frame[(frame["measure"] == measure) & (frame["estimator"] == estimator)]
    assert len(found)
    return found


def test_truth_of_leave_out_is_trec_evals_with_the_run_back_in_the_pool() -> None:
    """All that a run found within the pool depth comes back with it, for its ideal ranking too; what only
    another run of its organization brought stays away.
    """
    frame = leave_out(small(), [*AS_TREC_EVAL], estimators="as-judged").to_frame()
    for measure, name in AS_TREC_EVAL.items():
        rows, true, judged = of(frame, measure), [], []
        if measure in BELOW_THE_POOL:
            rows = rows[rows.groupby("organization")["run_id"].transform("size") == 1]
        assert len(rows), measure
        for run, organization in zip(rows["run_id"], rows["organization"], strict=True):
            true.append(trec_eval(back_alone(run, small()), run, name))
            judged.append(trec_eval(small().unpool(organization=organization), run, name))
        np.testing.assert_allclose(rows["truth"], true, atol=1e-9)
        np.testing.assert_allclose(rows["as_judged"], judged, atol=1e-9)
        error = np.abs(np.array(true) - judged).mean()
        assert mean_absolute_error(rows["truth"], rows["value"]) == pytest.approx(error)


def test_a_run_that_is_judged_on_all_topics_is_adjusted_to_its_truth() -> None:
    for measure in FAMILIES:
        summary = of(common_topics().to_frame("summary"), measure).set_index(["score", "n_common"])["mae"]
        for score in ("mixed", "adjusted", "common-only"):
            assert summary[score, 8] == pytest.approx(0, abs=1e-12), measure
        rows = of(common_topics().to_frame(), measure)
        lost = (rows["truth"] - rows["value"]).abs()[rows["score"] == "unadjusted"].mean()
        assert summary["unadjusted", 3] == pytest.approx(lost), measure
