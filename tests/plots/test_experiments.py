"""Figures of experiments and audits show the numbers of their results."""

from __future__ import annotations

import numpy as np
import pytest
from audits import answers, planned
from drawn import cut_off, line, overlapping
from small import small

from bayespool.errors import InputError
from bayespool.experiments import LeaveOutResult, compare_budgets, leave_out, load_example
from bayespool.plots import draw_budgets, plot_audit, plot_budgets, plot_mae, plot_pit, plot_truth


@pytest.fixture(scope="module")
def result() -> LeaveOutResult:
    estimators = ["as-judged", "background", "smoothed", "posterior-background"]
    return leave_out(small(), ["P@5", "P@10"], estimators=estimators, posterior_settings="draws=20")


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
    for drawn in axes.lines:
        group = summary[summary["estimator"] == drawn.get_label()]
        np.testing.assert_array_equal(drawn.get_ydata(), group["mae"])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["P@5", "P@10"]
    mae = summary[summary["measure"] == "P@10"].set_index("estimator")["mae"]
    for reference in ("as-judged", "smoothed"):
        change = 100 * (mae["background"] / mae[reference] - 1)
        assert result.mae_change("P@10", "background", reference=reference) == pytest.approx(change)
    for refuse, said in (
        (lambda: plot_mae(result, "nDCG"), "the result has no measure 'nDCG'; it has P"),
        (lambda: result.mae_change("P@10", "oracle"), "the experiment has no 'oracle'"),
        (lambda: plot_truth(result, "P@10", "oracle"), "the result has no estimator 'oracle'"),
        (lambda: plot_truth(result, "P@7", "smoothed"), "the result has no P@7"),
    ):
        with pytest.raises(InputError, match=said):
            refuse()


def test_indicators_say_which_runs_are_corrected() -> None:
    estimators = ["as-judged", "anti-precision"]
    left_out = leave_out(small(), measures=["P@5", "P@10"], estimators=estimators)
    rows = left_out.to_frame().query("measure == 'P@5' and estimator == 'anti-precision'")
    fired = rows["triggered"] == 1
    assert 0 < fired.sum() < len(rows)
    # only runs whose trigger fired may be corrected, those with Δk̄ > 0 by k̄·Δk̄
    added = np.where(fired, rows["k_bar"] * np.maximum(rows["delta_k_bar"], 0), 0)
    np.testing.assert_allclose(rows["value"] - rows["as_judged"], added, atol=1e-12)
    summary = left_out.to_frame("summary").set_index("estimator")["sre"]
    for mark in plot_mae(left_out, error="sre").lines:
        np.testing.assert_array_equal(mark.get_ydata(), summary[mark.get_label()])


@pytest.mark.slow
def test_figures_of_budgets_show_the_summary() -> None:
    result = compare_budgets(
        load_example(), ["P@10", "AP@10"], strategies=["take", "dcg"], budgets=[200, 600]
    )
    summary = result.to_frame("summary")
    shown = summary[summary["measure"] == "AP@10"]
    for axes, rows_of, name in (
        (plot_budgets(result, "AP@10", "mae"), shown, "mae"),
        (plot_budgets(result, "AP@10", "sre_star"), shown, "sre_star"),
    ):
        for label, rows in rows_of.groupby("strategy"):
            (drawn,) = (one for one in axes.get_lines() if one.get_label() == label)
            assert np.asarray(drawn.get_ydata()).tolist() == rows[name].tolist()
    assert len(draw_budgets(result).axes) == 6
    assert not overlapping(draw_budgets(result))
    assert not cut_off(draw_budgets(result))
    with pytest.raises(InputError, match="the result has no P@5"):
        plot_budgets(result, "P@5")
    with pytest.raises(InputError, match="no bias measure 'rmse'; it has mae, sre, sre_star"):
        plot_budgets(result, "P@10", "rmse")


def test_lines_and_band_are_the_steps() -> None:
    found = planned().continue_with(answers(planned()))
    steps = found.to_frame("steps").head(found.n_judged)
    axes = plot_audit(found)
    np.testing.assert_array_equal(line(axes, "estimate"), steps[["step", "estimate"]])
    np.testing.assert_array_equal(line(axes, "posterior's interval")[1:], steps[["step", "posterior_lower"]])
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    ends = [steps[["step", end]].itertuples(index=False, name=None) for end in ("lower", "upper")]
    assert {(0, found.urn.least), (0, found.urn.most), *ends[0], *ends[1]} <= corners
    assert axes.get_ylabel() == "P@10 of new-b"
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)


def test_before_any_judgment_the_bounds_and_the_posterior_are_drawn() -> None:
    found = planned()
    axes = plot_audit(found)
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(x, y) for x in (0, len(found)) for y in (found.urn.least, found.urn.most)}
    assert band.get_label() == "bounds, before any judgment"
    (lower,), _ = found.posterior_ends()
    assert line(axes, "posterior's interval").tolist() == [[0, lower], [len(found), lower]]
