"""What a frame of errors tells."""

from __future__ import annotations

import pandas as pd

from bayespool.experiments import leave_out, load_example
from bayespool.experiments.graded_runs import n_unknown_documents


def test_errors_by_cutoff_rise_with_it_in_each_family() -> None:
    result = leave_out(
        load_example(), ["P@10", "P(rel=2)@1", "P@5"], estimators=["condensed-list", "as-judged"]
    )
    frame, summary = result.errors_by_cutoff(), result.to_frame("summary").set_index(["measure", "estimator"])
    assert frame.drop(columns=["mae", "sre"]).to_dict("list") == {
        "family": ["P"] * 4 + ["P(rel=2)"] * 2,
        "estimator": ["condensed-list"] * 2 + ["as-judged"] * 2 + ["condensed-list", "as-judged"],
        "measure": ["P@5", "P@10"] * 2 + ["P(rel=2)@1"] * 2,
        "cutoff": [5, 10] * 2 + [1, 1],
    }
    keys = list(zip(frame["measure"], frame["estimator"], strict=True))
    for error in ("mae", "sre"):
        assert frame[error].tolist() == [summary.loc[key, error] for key in keys]


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
