"""Figures show the numbers of their results."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import cut_off, overlapping
from small import small

from bayespool.errors import InputError
from bayespool.experiments import LeaveOutResult, leave_out
from bayespool.plots import draw_indicators, plot_gain, plot_indicator, plot_mae, plot_pit, plot_truth


@pytest.fixture(scope="module")
def result() -> LeaveOutResult:
    estimators = ["as-judged", "background", "smoothed", "posterior-background"]
    return leave_out(small(), ["P@5", "P@10"], estimators=estimators, draws=20)


def test_points_of_the_figures(result: LeaveOutResult) -> None:
    frame = result.to_frame(reported_only=True)
    rows = frame[(frame["measure"] == "P@10") & (frame["estimator"] == "posterior-background")]
    axes = plot_truth(result, "P@10", "posterior-background")
    diagonal, as_it_stands, estimates = axes.lines
    np.testing.assert_array_equal(estimates.get_xydata(), rows[["truth", "value"]])
    np.testing.assert_array_equal(as_it_stands.get_ydata(), rows["as_judged"])
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    segments = np.array(axes.collections[0].get_segments())
    np.testing.assert_array_equal(segments[:, :, 1], rows[["lower", "upper"]])
    assert not plot_truth(result, "P@10", "smoothed").collections
    axes = plot_pit(result, "P@10", "posterior-background", n_bins=5)
    assert [bar.get_height() for bar in axes.patches] == np.histogram(rows["pit"], 5, (0, 1))[0].tolist()
    (calibrated,) = axes.lines
    assert list(calibrated.get_ydata()) == [rows["pit"].notna().sum() / 5] * 2
    axes = plot_mae(result)
    summary = result.to_frame("summary")
    for line in axes.lines:
        group = summary[summary["estimator"] == line.get_label()]
        np.testing.assert_array_equal(line.get_ydata(), group["mae"])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["P@5", "P@10"]
    axes = plot_gain({"example": result, "again": result}, "P@10", "background")
    ((x, y),) = axes.lines[1].get_xydata()
    mae = summary[summary["measure"] == "P@10"].set_index("estimator")["mae"]
    assert x == result.reliability("P@10").generalizability
    assert y == pytest.approx(100 * (mae["background"] / mae["as-judged"] - 1))
    other = plot_gain({"example": result}, "P@10", "background", reference="smoothed").lines[1].get_ydata()
    assert other == [pytest.approx(100 * (mae["background"] / mae["smoothed"] - 1))]
    for refuse, said in (
        (lambda: plot_mae(result, "nDCG"), "the result has no nDCG; it has P"),
        (lambda: result.mae_change("P@10", "oracle"), "the experiment has no 'oracle'"),
        (lambda: plot_truth(result, "P@10", "oracle"), "the result has no 'oracle'"),
        (lambda: plot_truth(result, "P@7", "smoothed"), "the result has no P@7"),
    ):
        with pytest.raises(InputError, match=said):
            refuse()
    # of many estimators and collections
    names = [f"collection {i}" for i in range(14)]
    axes = plot_gain(dict.fromkeys(names, result), "P@10", ["background", "smoothed"])
    points = [line for line in axes.lines[1:] if len(line.get_xdata())]
    assert len({line.get_color() for line in points}) == 2
    assert len({(line.get_marker(), line.get_markerfacecolor() == "none") for line in points}) == 14
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)


def test_indicators_stand_against_what_runs_lack() -> None:
    estimators = ["as-judged", "anti-precision"]
    left_out = leave_out(small(), measures=["P@5", "P@10"], estimators=estimators)
    rows = left_out.to_frame().query("measure == 'P@5' and estimator == 'anti-precision'")
    axes = plot_indicator(left_out, "delta_anti_precision", "P@5")
    points = [line for line in axes.lines if line.get_marker() == "o"]
    fired = rows["triggered"] == 1
    assert 0 < fired.sum() < len(rows)
    for line, some in zip(points, (rows[fired], rows[~fired]), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), some["delta_anti_precision"])
        np.testing.assert_array_equal(line.get_ydata(), some["truth"] - some["as_judged"])
    # only runs whose trigger fired may be corrected, those with Δk̄ > 0 by k̄·Δk̄
    added = np.where(fired, rows["k_bar"] * np.maximum(rows["delta_k_bar"], 0), 0)
    np.testing.assert_allclose(rows["value"] - rows["as_judged"], added, atol=1e-12)
    barred = [r"Δ$\overline{\mathrm{P}}$", r"Δ$\overline{\mathrm{k}}$"]
    assert [panel.get_xlabel() for panel in draw_indicators(left_out).axes] == ["ΔP", *barred, "λ"]
    with pytest.raises(InputError, match="no indicator 'odd'"):
        plot_indicator(left_out, "odd")
    summary = left_out.to_frame("summary").set_index("estimator")["sre"]
    for line in plot_mae(left_out, error="sre").lines:
        np.testing.assert_array_equal(line.get_ydata(), summary[line.get_label()])
