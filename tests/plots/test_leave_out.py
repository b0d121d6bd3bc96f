"""Figures show the numbers of their results."""

from __future__ import annotations

import numpy as np
import pytest
from small import small

from bayespool.errors import InputError
from bayespool.experiments import LeaveOutResult, leave_out
from bayespool.plots import plot_mae, plot_pit, plot_truth, render


@pytest.fixture(scope="module")
def result() -> LeaveOutResult:
    estimators = ["as-judged", "background", "smoothed", "posterior-background"]
    return leave_out(small(), ["P@5", "P@10"], estimators=estimators, draws=20)


def test_points_of_the_figures(result: LeaveOutResult) -> None:
    frame = result.to_frame(reported_only=True)
    rows = frame[(frame["measure"] == "P@10") & (frame["estimator"] == "posterior-background")]
    axes = plot_truth(result, "P@10", "posterior-background")
    diagonal, as_it_stands, estimates = axes.lines
    np.testing.assert_array_equal(estimates.get_xdata(), rows["truth"])
    np.testing.assert_array_equal(estimates.get_ydata(), rows["value"])
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
    assert plot_mae(result, "P").get_xticklabels()[0].get_text() == "P@5"
    with pytest.raises(InputError, match="the result has no nDCG; it has P"):
        plot_mae(result, "nDCG")
    mae = summary[summary["measure"] == "P@10"].set_index("estimator")["mae"]
    change = 100 * (mae["background"] / mae["as-judged"] - 1)
    assert result.mae_change("P@10", "background") == pytest.approx(change)
    change = 100 * (mae["background"] / mae["smoothed"] - 1)
    assert result.mae_change("P@10", "background", reference="smoothed") == pytest.approx(change)
    with pytest.raises(InputError, match="the experiment has no 'oracle'"):
        result.mae_change("P@10", "oracle")
    images = [render(plot_mae(result).figure, "svg") for _ in range(2)]  # type: ignore[arg-type]
    assert images[0] == images[1]
    with pytest.raises(InputError, match="the result has no 'oracle'"):
        plot_truth(result, "P@10", "oracle")
    with pytest.raises(InputError, match="the result has no P@7"):
        plot_truth(result, "P@7", "smoothed")


def test_estimators_have_lines_of_their_own(result: LeaveOutResult) -> None:
    looks = {
        (line.get_color(), line.get_marker(), line.get_markerfacecolor()) for line in plot_mae(result).lines
    }
    assert len(looks) == len(result.settings.labels), "estimators have lines of their own"


def test_errors_under_one_measure_have_a_row_each() -> None:
    labels = ["as-judged", "background", "smoothed"]
    one = leave_out(small(), measures="P@10", estimators=labels)
    axes = plot_mae(one)
    summary = one.to_frame("summary").set_index("estimator")["mae"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == labels
    drawn = {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines}  # type: ignore[index]
    assert drawn == {label: (summary[label], i) for i, label in enumerate(labels)}
    assert axes.get_xlabel() == "mean absolute error, P@10"
    assert "lambda" not in one.to_frame()


def test_indicators_say_which_runs_are_corrected() -> None:
    estimators = ["as-judged", "anti-precision"]
    left_out = leave_out(small(), measures=["P@5", "P@10"], estimators=estimators)
    rows = left_out.to_frame().query("measure == 'P@5' and estimator == 'anti-precision'")
    fired = rows["triggered"] == 1
    assert 0 < fired.sum() < len(rows)
    # only runs whose trigger fired may be corrected, those with Δk̄ > 0 by k̄·Δk̄
    added = np.where(fired, rows["k_bar"] * np.maximum(rows["delta_k_bar"], 0), 0)
    np.testing.assert_allclose(rows["value"] - rows["as_judged"], added, atol=1e-12)
    lines = plot_mae(left_out, error="sre").lines
    summary = left_out.to_frame("summary")
    for line in lines:
        sre = summary.loc[summary["estimator"] == line.get_label(), "sre"]
        np.testing.assert_array_equal(line.get_ydata(), sre)
