"""Widths by judgments, as the summary of the rounds has them."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import cut_off, line, overlapping

from bayespool.errors import InputError
from bayespool.experiments import judge_in_rounds, simulate_example
from bayespool.plots import plot_judging


@pytest.mark.slow
def test_lines_are_the_mean_widths() -> None:
    example = simulate_example()
    rounds = judge_in_rounds(
        example.collection,
        answers=example.truth,
        n_rounds=2,
        estimator="posterior-ratio",
        draws=200,
        chains=2,
    )
    table, axes = rounds.to_frame("rounds"), plot_judging(rounds)
    for order, label in (("judge-next", "chosen by judge-next"), ("random", "chosen by chance")):
        rows = table[table["order"] == order]
        np.testing.assert_array_equal(line(axes, label), rows[["n_judgments", "width"]])
    foreseen = table[(table["order"] == "judge-next") & (table["n_judgments"] > 0)]
    crosses = line(axes, "expected a round before")
    np.testing.assert_array_equal(crosses, foreseen[["n_judgments", "expected"]])
    assert axes.get_ylabel() == "mean width of the intervals, P@10"
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)
    widest = plot_judging(rounds, column="widest")
    rows = table[table["order"] == "random"]
    np.testing.assert_array_equal(line(widest, "chosen by chance")[:, 1], rows["widest"])
    assert len(widest.get_lines()) == 2, "nothing was expected of the widest interval"
    with pytest.raises(InputError, match="no column 'wide'"):
        plot_judging(rounds, column="wide")  # type: ignore[arg-type]
