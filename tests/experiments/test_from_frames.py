"""What a frame of errors tells."""

from __future__ import annotations

import pandas as pd

from bayespool.experiments import mae_by_cutoff, n_above_bounds, n_unknown_documents
from bayespool.measures import parse_measures


def test_errors_by_cutoff_rise_with_it_under_the_smallest_threshold() -> None:
    measures = parse_measures(["P@10", "P(rel=2)@1", "P@5"])
    rows = [("b", "P@10", 0.3), ("b", "P(rel=2)@1", 0.9), ("b", "P@5", 0.1)]
    rows += [("a", "P@10", 0.4), ("a", "P(rel=2)@1", 0.8), ("a", "P@5", 0.2)]
    frame = mae_by_cutoff(pd.DataFrame(rows, columns=["estimator", "measure", "mae"]), measures)
    assert frame.to_dict("list") == {
        "estimator": ["b", "b", "a", "a"],
        "measure": ["P@5", "P@10"] * 2,
        "cutoff": [5, 10] * 2,
        "mae": [0.1, 0.3, 0.2, 0.4],
    }


def test_what_notes_tell_counts_each_run_once() -> None:
    rows = [
        # measure, run, estimator, documents unjudged in truth, truth, upper bound
        ("P@10", "a", "x", 2, 0.5, 0.5),
        ("P@10", "a", "y", 2, 0.5, 0.5),
        ("P@10", "b", "x", 1, 0.6, 0.5),
        ("P@10", "b", "y", 1, 0.6, 0.5),
        ("P@5", "b", "x", 7, 0.9, 0.1),
    ]
    columns = ["measure", "run_id", "estimator", "n_unknown", "truth", "bound_upper"]
    frame = pd.DataFrame(rows, columns=columns)
    assert n_unknown_documents(frame, "P@10") == 3
    assert n_above_bounds(frame, "P@10") == 1
    assert (n_unknown_documents(frame, "P@5"), n_above_bounds(frame, "P@5")) == (7, 1)
