"""Judging in rounds: widths are those that scores have with the same judgments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayespool import judge_next, qrels_from_frame, score
from bayespool.errors import InputError, InputWarning
from bayespool.experiments import judge_in_rounds, simulate_example

EXAMPLE = simulate_example()
QUICK: dict[str, Any] = {"estimator": "posterior-ratio", "draws": 200, "chains": 2}


@pytest.mark.slow
def test_rounds_are_scores_with_the_documents_of_judge_next() -> None:
    collection, runs = EXAMPLE.collection, ["new-a", "new-b"]
    found = judge_in_rounds(
        collection, runs, answers=EXAMPLE.truth, budget=8, n_rounds=2, ci_prob=0.9, **QUICK
    )
    frame = found.to_frame()
    assert list(frame.groupby(["order", "n_judgments"], sort=False).groups) == [
        (order, n) for order in ("judge-next", "random") for n in (0, 8, 16)
    ]
    assert frame["run_id"].tolist() == runs * 6
    settings = {name: value for name, value in QUICK.items() if name != "estimator"}
    judged = collection
    with pytest.warns(InputWarning, match="documents that no run retrieves"):
        answered = collection.add_judgments(EXAMPLE.truth)
    expected = [np.nan, np.nan]
    for n in (0, 8, 16):
        rows = frame[(frame["order"] == "judge-next") & (frame["n_judgments"] == n)]
        scores = score(judged, runs, "P@10", estimators="posterior-ratio", together=True, **settings)
        posterior = scores["posterior-ratio", "P@10"]
        lower, upper = posterior.interval(0.9)
        assert rows["lower"].tolist() == lower.tolist()
        assert rows["upper"].tolist() == upper.tolist()
        assert rows["width"].tolist() == (upper - lower).tolist()
        np.testing.assert_allclose(rows["value"], posterior.value)
        np.testing.assert_array_equal(rows["expected"], expected)
        step = judge_next(judged, runs, "P@10", budget=8, ci_prob=0.9, **QUICK)
        expected = step.left.tolist()
        judged = judged.with_added(step.pair, answered.relevance[step.pair])
    at_random = frame[frame["order"] == "random"]
    assert at_random["expected"].isna().all()
    assert at_random["width"].tolist()[:2] == frame["width"].tolist()[:2], "the start is the same"
    summary = found.to_frame("rounds")
    assert summary["width"].tolist() == frame.groupby(["order", "n_judgments"])["width"].mean().tolist()
    assert summary["widest"].tolist() == frame.groupby(["order", "n_judgments"])["width"].max().tolist()
    assert repr(found) == "<JudgingRounds: P@10 of new-a, new-b, 16 judgments by judge-next, random>"


def test_rounds_end_where_nothing_is_unjudged() -> None:
    found = judge_in_rounds(
        EXAMPLE.collection, "new-a", answers=EXAMPLE.truth, budget=500, orders="random", **QUICK
    )
    frame = found.to_frame()
    assert len(frame) == 2
    assert 0 < frame["n_judgments"].iloc[1] < 500
    assert frame["width"].iloc[1] == 0
    assert frame["value"].iloc[1] == pytest.approx(EXAMPLE.true_values("P@10")["new-a"])


def test_what_is_refused() -> None:
    truth = EXAMPLE.truth
    topics, doc_ids = (getattr(truth, name).to_pylist() for name in ("query_id", "doc_id"))
    rows = zip(topics, doc_ids, truth.relevance.tolist(), strict=True)
    few = qrels_from_frame(
        {topics[0]: {doc_id: level for topic, doc_id, level in rows if topic == topics[0]}}
    )
    refused: list[tuple[dict[str, Any], str]] = [
        ({"orders": "randm"}, "did you mean 'random'"),
        ({"orders": ()}, "orders cannot be empty"),
        ({"budget": 0}, "budget cannot be 0"),
        ({"n_rounds": 0}, "n_rounds cannot be 0"),
        ({"ci_prob": 1.0}, "ci_prob cannot be 1.0"),
        ({"measures": ["P@5", "P@10"]}, "2 measures"),
        ({"estimator": "background"}, "background has no interval"),
        ({"drawz": 3}, r"\['drawz'\]; did you mean 'draws'"),
        ({"answers": few, **QUICK}, r"lack document \w+ of topic \d+"),
    ]
    for wrong, said in refused:
        with pytest.raises(InputError, match=said):
            judge_in_rounds(EXAMPLE.collection, "new-a", **{"answers": truth} | wrong)
