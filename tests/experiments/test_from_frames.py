"""What a frame of errors tells."""

from __future__ import annotations

import pandas as pd

from bayespool.experiments import mae_by_cutoff
from bayespool.experiments.from_frames import n_outside_bounds, n_unknown_documents
from bayespool.measures import parse_measures


def test_errors_by_cutoff_rise_with_it_in_each_family() -> None:
    measures = parse_measures(["P@10", "P(rel=2)@1", "P@5"])
    rows = [("b", "P@10", 0.3), ("b", "P(rel=2)@1", 0.9), ("b", "P@5", 0.1)]
    rows += [("a", "P@10", 0.4), ("a", "P(rel=2)@1", 0.8), ("a", "P@5", 0.2)]
    frame = mae_by_cutoff(pd.DataFrame(rows, columns=["estimator", "measure", "mae"]), measures)
    assert frame.to_dict("list") == {
        "family": ["P"] * 4 + ["P(rel=2)"] * 2,
        "estimator": ["b", "b", "a", "a", "b", "a"],
        "measure": ["P@5", "P@10"] * 2 + ["P(rel=2)@1"] * 2,
        "cutoff": [5, 10] * 2 + [1, 1],
        "mae": [0.1, 0.3, 0.2, 0.4, 0.9, 0.8],
    }


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
    assert n_outside_bounds(frame, "P@10") == 2
    assert (n_unknown_documents(frame, "P@5"), n_outside_bounds(frame, "P@5")) == (7, 1)
