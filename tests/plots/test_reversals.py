"""Figures of reversals show p-values, rates, trends and calibration as the tables have them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from drawn import cut_off, line, overlapping
from small import small

from bayespool.comparisons import Reversals, calibration_table, reversals
from bayespool.errors import InputError
from bayespool.plots import (
    PALETTE,
    draw_reversals,
    plot_calibration,
    plot_p_values,
    plot_reversal_calibration,
    plot_separability,
)

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


@cache
def found() -> Reversals:
    estimators = ["smoothed", "posterior-ratio"]
    return reversals(small(), judgments=(50, 150), estimators=estimators, level=0.1, announce=(), draws=20)


def test_reliability_plot_has_a_mark_per_bin_with_cases() -> None:
    table = calibration_table([0.05, 0.3, 0.35, 0.95], [False, True, False, True])
    axes = plot_calibration(table, label="all")
    diagonal, drawn = axes.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    np.testing.assert_allclose(drawn.get_xydata(), [[0.05, 0], [0.325, 0.5], [0.95, 1]])
    assert drawn.get_label() == "all"
    small, large, _ = axes.collections[0].get_sizes()
    assert large > small
    assert plot_calibration(table, ax=axes) is axes
    assert [one.get_color() for one in axes.lines[1:]] == list(PALETTE[:2])


@pytest.mark.slow
def test_p_values_and_their_quadrants() -> None:
    axes = plot_p_values(found(), 150, group="contributing", method="smoothed")
    values = found().p_values()
    values = values[(values["judgments"] == 150) & (values["method"] == "smoothed")]
    values = values[values["group"] == "contributing"]
    points = axes.collections[-1].get_offsets()
    np.testing.assert_array_equal(points, np.maximum(values[["p_value", "p_value_all"]], 1e-6))
    level = found().level
    assert [one.get_xdata()[0] for one in axes.lines[:1]] == [level]
    assert [one.get_ydata()[0] for one in axes.lines[1:]] == [level]
    few, full = values["p_value"] <= level, values["p_value_all"] <= level
    said = {text.get_text() for text in axes.texts}
    assert f"gained {(full & ~few).sum()}" in said
    assert f"taken back {(few & ~full).sum()}" in said
    assert any(text.startswith(f"kept {(few & full).sum()}") for text in said)
    shade = [c.get_paths()[0].get_extents() for c in axes.collections[:2]]
    assert (shade[0].x1, shade[0].y0) == (level, level)  # upper left
    assert (shade[1].x0, shade[1].y1) == (level, level)  # lower right
    assert axes.get_xlabel() == "p with 150 judgments"
    assert not overlapping(axes.figure)
    assert plot_p_values(found()).get_xlabel() == "p with 50 judgments"
    with pytest.raises(InputError, match="no smaller judgment set '900'; it has 50, 150"):
        plot_p_values(found(), 900)
    with pytest.raises(InputError, match="no p-values of 'posterior-odd'"):
        plot_p_values(found(), method="posterior-odd")


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
