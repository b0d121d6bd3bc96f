"""Figures of checks show what was predicted, what was observed, and how far engines are apart."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from drawn import cut_off, line, overlapping, row_names, segments
from small import small

from bayespool import check_models
from bayespool.experiments import EngineComparison, ModelChecks
from bayespool.plots import figure_grid, plot_elpd, plot_engines, plot_held_out_pit, plot_predictive
from bayespool.plots.checks import bar_limits, draw_engines


@cache
def checks() -> ModelChecks:
    return check_models(small(), "P@10", models=("background", "ratio"), draws=20)


def test_predictions_beside_what_was_observed() -> None:
    prediction = checks().predictions[0]
    axes = plot_predictive(prediction)
    table = prediction.to_frame(0.95).sort_values("value", kind="stable")
    np.testing.assert_array_equal(line(axes, "observed")[:, 0], table["value"])
    np.testing.assert_array_equal(segments(axes, "held out, 95 %")[:, :, 0], table[["lower", "upper"]])
    np.testing.assert_array_equal(
        segments(axes, "before learning, 95 %")[:, :, 0], table[["prior_lower", "prior_upper"]]
    )
    assert row_names(axes) == table["run_id"].tolist()
    bars = plot_held_out_pit(prediction, n_bins=4).patches
    pit = prediction.pit[prediction.has_hidden]
    assert [bar.get_height() for bar in bars] == np.histogram(pit, 4, (0, 1))[0].tolist()  # type: ignore[attr-defined]
    frame = checks().to_frame("elpd")
    axes = plot_elpd(frame, "P@10")
    assert row_names(axes) == frame["model"].tolist()
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), -frame["elpd_diff"])


def engine_comparison(models: list[str]) -> EngineComparison:
    rng = np.random.default_rng(1)
    names = [f"{what}_off{end}" for what in ("mean", "lower", "upper") for end in ("", "_se")]
    numbers = pd.DataFrame(rng.normal(0, 0.02, (2 * len(models), len(names))), columns=names)
    numbers[names[1::2]] = numbers[names[1::2]].abs()
    frame = numbers.assign(model=np.repeat(models, 2), measure="P@10", problems="")
    metadata = {"engine": "laplace", "models": models, "mean_within": 0.02, "ends_within": 0.05}
    return EngineComparison(frame, metadata)


def test_engines_side_by_side_have_ticks_that_do_not_collide() -> None:
    """Those of the third panel did."""
    for models in (["background"], ["background", "interpolated", "ratio", "anti_precision", "evidence"]):
        compared = engine_comparison(models)
        frame = compared.to_frame()
        figure = draw_engines(compared)
        assert not overlapping(figure)
        assert not cut_off(figure)
        for panel, what in zip(figure_grid(3)[1], ("mean", "lower", "upper"), strict=True):
            plot_engines(compared, what, ax=panel)  # type: ignore[arg-type]
            assert row_names(panel) == models
            assert panel.get_ylim() == (0.5 - len(models), 0.5)
            off = frame.loc[frame["model"] == models[-1], f"{what}_off"]
            np.testing.assert_array_equal(panel.lines[-1].get_xdata(), off)


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
