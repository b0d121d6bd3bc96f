"""Figures of checks show what was predicted and what was observed."""

from __future__ import annotations

from functools import cache

import numpy as np
from drawn import cut_off, line, row_names, segments
from small import small

from bayespool import check_models
from bayespool.experiments import ModelChecks
from bayespool.plots import plot_elpd, plot_held_out_pit, plot_predictive
from bayespool.plots.experiments import bar_limits


@cache
def checks() -> ModelChecks:
    return check_models(small(), "P@10", models=("background", "ratio"), posterior_settings="draws=20")


def test_predictions_beside_what_was_observed() -> None:
    prediction = checks().predictions[0]
    axes = plot_predictive(prediction)
    table = prediction.to_frame(0.95).sort_values("value", kind="stable")
    np.testing.assert_array_equal(line(axes, "observed")[:, 0], table["value"])
    np.testing.assert_array_equal(segments(axes, "held out, 95 %")[:, :, 0], table[["lower", "upper"]])
    assert row_names(axes) == table["run_id"].tolist()
    bars = plot_held_out_pit(prediction, n_bins=4).patches
    pit = prediction.pit[prediction.has_hidden]
    assert [bar.get_height() for bar in bars] == np.histogram(pit, 4, (0, 1))[0].tolist()  # type: ignore[attr-defined]
    frame = checks().to_frame("elpd")
    axes = plot_elpd(frame, "P@10")
    assert row_names(axes) == frame["model"].tolist()
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), -frame["elpd_diff"])


def test_a_result_has_a_panel_for_each_model() -> None:
    elpd, predictive, pit = checks().figures()
    assert [figure.name for figure in (elpd, predictive, pit)] == ["elpd", "predictive-P_10", "pit-P_10"]
    assert predictive.caption == "Predictions of held-out organizations and what was observed (P@10)"
    for figure in (predictive, pit):
        assert figure.draw is not None
        drawn = figure.draw()
        assert [axes.get_title() for axes in drawn.axes] == ["background", "ratio"]
        assert not cut_off(drawn)
        assert len({axes.get_xlim() for axes in drawn.axes}) == 1


def test_bars_of_a_histogram_stay_within_their_limits_as_often_as_is_said() -> None:
    heights = np.random.default_rng(1).binomial(60, 0.1, size=100_000)
    for prob in (0.5, 0.95):
        lower, upper = bar_limits(60, 10, prob)
        assert (heights < lower).mean() <= (1 - prob) / 2 + 0.005
        assert (heights > upper).mean() <= (1 - prob) / 2 + 0.005
        assert ((lower < heights) & (heights < upper)).mean() < prob  # no wider than need be
