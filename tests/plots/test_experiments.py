"""Figures of experiments and audits show the numbers of their results."""

from __future__ import annotations

import numpy as np
import pytest
from audits import answers, planned
from drawn import cut_off, line, overlapping
from small import small

from bayespool.errors import InputError
from bayespool.experiments import LeaveOutResult, budgets, leave_out, load_example, vary_common_topics
from bayespool.plots import (
    draw_budgets,
    draw_indicators,
    plot_audit,
    plot_budgets,
    plot_gain,
    plot_indicator,
    plot_mae,
    plot_pit,
    plot_ranking,
    plot_rmse_surface,
    plot_topics_surface,
    plot_truth,
)


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
    for drawn in axes.lines:
        group = summary[summary["estimator"] == drawn.get_label()]
        np.testing.assert_array_equal(drawn.get_ydata(), group["mae"])
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
    for mark, some in zip(points, (rows[fired], rows[~fired]), strict=True):
        np.testing.assert_array_equal(mark.get_xdata(), some["delta_anti_precision"])
        np.testing.assert_array_equal(mark.get_ydata(), some["truth"] - some["as_judged"])
    # only runs whose trigger fired may be corrected, those with Δk̄ > 0 by k̄·Δk̄
    added = np.where(fired, rows["k_bar"] * np.maximum(rows["delta_k_bar"], 0), 0)
    np.testing.assert_allclose(rows["value"] - rows["as_judged"], added, atol=1e-12)
    barred = [r"Δ$\overline{\mathrm{P}}$", r"Δ$\overline{\mathrm{k}}$"]
    assert [panel.get_xlabel() for panel in draw_indicators(left_out).axes] == ["ΔP", *barred, "λ"]
    with pytest.raises(InputError, match="no indicator 'odd'"):
        plot_indicator(left_out, "odd")
    summary = left_out.to_frame("summary").set_index("estimator")["sre"]
    for mark in plot_mae(left_out, error="sre").lines:
        np.testing.assert_array_equal(mark.get_ydata(), summary[mark.get_label()])


@pytest.mark.slow
def test_figures_of_budgets_show_the_summary() -> None:
    result = budgets(load_example(), ["P@10", "AP@10"], strategies=["take", "dcg"], budgets=[200, 600])
    summary, ranking = result.to_frame("summary"), result.to_frame("ranking")
    shown = summary[summary["measure"] == "AP@10"]
    for axes, rows_of, name in (
        (plot_budgets(result, "AP@10", "mae"), shown, "mae"),
        (plot_budgets(result, "AP@10", "sre_star"), shown, "sre_star"),
        (plot_ranking(result), ranking, "rank"),
    ):
        for label, rows in rows_of.groupby("strategy"):
            (drawn,) = (one for one in axes.get_lines() if one.get_label() == label)
            assert np.asarray(drawn.get_ydata()).tolist() == rows[name].tolist()
    assert len(draw_budgets(result).axes) == 6
    for figure in (draw_budgets(result), axes.figure):
        assert not overlapping(figure)
        assert not cut_off(figure)
    with pytest.raises(InputError, match="the result has no P@5"):
        plot_budgets(result, "P@5")
    with pytest.raises(InputError, match="no bias measure 'rmse'; known: mae, sre, sre_star"):
        plot_budgets(result, "P@10", "rmse")


def test_constants_with_the_least_error_are_marked() -> None:
    c, e = np.linspace(0, 1, 6), np.linspace(0, 0.5, 5)
    surface = (c[:, None] - 0.4) ** 2 + (e[None, :] - 0.25) ** 2 + 0.125
    axes = plot_rmse_surface(surface, c=c, e=e)
    (least,) = axes.lines
    assert np.asarray(least.get_xydata()).tolist() == [[0.4, 0.25]]
    assert axes.get_title() == "RMSE; least 0.125"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("C", "E")
    heights = [float(text.get_text()) for text in axes.texts]  # of the lines of equal error
    assert surface.min() < min(heights) < max(heights) < surface.max()
    with pytest.raises(InputError, match=r"shape \(6, 5\) is not of 5 constants C and 6 E"):
        plot_rmse_surface(surface, c=e, e=c)


def test_errors_by_width_and_common_topics() -> None:
    result = vary_common_topics(small(), widths=[2, 3], n_common=[2, 4, 8], n_samples=2)
    axes = plot_topics_surface(result)
    rows = result.to_frame("summary")
    rows = rows[(rows["estimator"] == "as-judged") & (rows["score"] == "adjusted")]
    table = rows.pivot(index="pool_width", columns="n_common", values="rmse").loc[[3, 2]]
    np.testing.assert_array_equal(axes.images[0].get_array(), table)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["3", "2"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "4", "8"]
    assert [text.get_text() for text in axes.texts] == [f"{x:.2g}" for x in table.to_numpy().ravel()]
    assert not overlapping(axes.figure)
    with pytest.raises(InputError, match="the result has no score 'odd'; it has unadjusted"):
        plot_topics_surface(result, score="odd")
    with pytest.raises(InputError, match="the result has no estimator 'odd'"):
        plot_topics_surface(result, "P@10", "odd")


def test_lines_and_band_are_the_steps() -> None:
    found = planned().go_on(answers(planned()))
    steps = found.to_frame("steps").head(found.n_judged)
    axes = plot_audit(found)
    np.testing.assert_array_equal(line(axes, "estimate"), steps[["step", "estimate"]])
    np.testing.assert_array_equal(line(axes, "posterior's interval"), steps[["step", "posterior_lower"]])
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    ends = [steps[["step", end]].itertuples(index=False, name=None) for end in ("lower", "upper")]
    assert {(0, found.urn.least), (0, found.urn.most), *ends[0], *ends[1]} <= corners
    assert axes.get_ylabel() == "P@10 of new-b"
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)
    assert len(plot_audit(planned()).collections) == 1, "before any judgment, too"
