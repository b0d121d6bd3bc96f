"""Runs with holes that people closed later, graded against the later judgments."""

from __future__ import annotations

import numpy as np
import pytest
from left_out import judged_at_first

from bayespool import parse_measure
from bayespool.corrections import Interpolated
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments import grade_later, load_example
from bayespool.pooling import describe_pool


def test_later_judgments_are_the_truth_and_nothing_that_estimators_see() -> None:
    first, later = judged_at_first()
    graded = grade_later(first, later, "P@10", estimators=["as-judged", "interpolated"])
    runs = graded.to_frame("runs")
    assert set(runs["organization"]) == {"west"}
    example = load_example()
    by_run = runs[runs["estimator"] == "interpolated"].set_index("run_id")
    truth = score_bounds(example, tuple(by_run.index), parse_measure("P@10")).low.means()
    (now,) = Interpolated().estimate(first, by_run.index.tolist(), parse_measure("P@10"))
    assert by_run["truth"].tolist() == pytest.approx(truth.tolist())
    assert by_run["value"].tolist() == pytest.approx(now.value.tolist())
    (one,) = graded.to_frame("summary").query("estimator == 'as-judged'").to_dict("records")
    assert one["bias"] == pytest.approx(-one["mae"])
    assert one["n_organizations"] == 1
    report = describe_pool(first.unpool(runs["run_id"].unique()))
    n_explained = f"{report.n_judged - report.n_unexplained:,} of {report.n_judged:,} judged documents"
    assert f"{n_explained} in this pool" in graded.pool
    assert graded.pool_notes[-1] == f"estimated with these runs out of it: {graded.pool}"


def test_a_judgment_that_was_there_at_first_is_not_replaced() -> None:
    first, later = judged_at_first()
    pair = int(np.flatnonzero(first.judged & (first.relevance == 0))[0])
    topic = first.query_ids[int(first.pair_topic[pair])]
    changed = {q: dict(documents) for q, documents in later.items()}
    changed.setdefault(topic, {})[first.doc_id(pair)] = 1
    values = [
        grade_later(first, of, estimators="as-judged").to_frame("runs")["truth"] for of in (later, changed)
    ]
    assert values[0].tolist() == values[1].tolist()


def test_runs_without_closed_holes_are_refused() -> None:
    first, later = judged_at_first()
    some = dict(list(later.items())[:2])
    with pytest.raises(InputError, match=r"no run has more than 5\.0 % of the top 10 unjudged at first"):
        grade_later(first, some, estimators="as-judged")
