"""Figures of reversals show p-values, rates, trends and calibration as the tables have them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from drawn import cut_off, line, overlapping
from small import small

from bayespool.comparisons import Reversals, reversals
from bayespool.errors import InputError
from bayespool.plots import (
    draw_reversals,
    plot_first_unjudged,
    plot_reversal_calibration,
    plot_separability,
)

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


@cache
def found() -> Reversals:
    estimators = ["smoothed", "posterior-ratio"]
    return reversals(small(), judgments=(50, 150), estimators=estimators, level=0.1, announce=(), draws=20)


@pytest.mark.slow
def test_separability_by_number_of_judgments() -> None:
    axes = plot_separability(found(), group="contributing")
    trends = found().trends()
    for method in found().methods:
        rows = trends[(trends["group"] == "contributing") & (trends["method"] == method)]
        np.testing.assert_array_equal(line(axes, method), rows[["judgments", "separability"]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["50", "150", "203"]
    assert plot_separability(found(), legend=False).get_legend() is None
    figure = draw_reversals(found())
    assert len(figure.axes) == 2 * 3
    for drawn in (axes.figure, figure):
        assert not overlapping(drawn)
        assert not cut_off(drawn)


def test_announced_chances_against_what_happened() -> None:
    axes = plot_reversal_calibration(found(), "significant", group="contributing", n_bins=5)
    table = found().calibration(n_bins=5)
    table = table[(table["group"] == "contributing") & (table["statement"] == "significant")]
    for n in (50, 150):
        rows = table[(table["judgments"] == n) & (table["n"] > 0)]
        np.testing.assert_array_equal(line(axes, f"from {n} judgments"), rows[["announced", "happened"]])
    assert axes.get_xlabel() == "announced chance to be significant"
    bare = reversals(small(), judgments=(150,), estimators=["smoothed"])
    with pytest.raises(InputError, match="the result has no announced chances of"):
        plot_reversal_calibration(bare)
    assert len(draw_reversals(bare).axes) == 2 * 2


def test_first_unjudged_documents_by_group() -> None:
    ranks = pd.DataFrame(
        {"run_id": list("aabbcc"), "query_id": ["1", "2"] * 3, "rank": [1, 2, 2, np.nan, 1, 30]}
    )
    ranks["group"] = ["contributing"] * 4 + ["non-contributing"] * 2
    axes = plot_first_unjudged(ranks, max_rank=3)
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
    assert heights == [[0.25, 0.5, 0, 0.25], [0.5, 0, 0, 0.5]]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3", ">3"]
    names = axes.get_legend_handles_labels()[1]
    assert names == ["contributing, 2 runs", "non-contributing, 1 run"]
