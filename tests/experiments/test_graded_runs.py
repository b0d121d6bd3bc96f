"""What a frame of errors tells."""

from __future__ import annotations

import pandas as pd

from bayespool.experiments.graded_runs import n_unknown_documents


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
