"""Figures of checks show what was predicted, what was observed, and how far engines are apart."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from drawn import cut_off, line, overlapping, row_names, segments

from bayespool import check_models
from bayespool.experiments import ModelChecks, load_example, run_frame
from bayespool.plots import figure_grid, plot_elpd, plot_engines, plot_held_out_pit, plot_predictive


@cache
def checks() -> ModelChecks:
    return check_models(load_example(), "P@10", models=("background", "ratio"), draws=100)


@pytest.mark.slow
def test_predictions_beside_what_was_observed() -> None:
    prediction = checks().predictions[0]
    axes = plot_predictive(prediction)
    table = run_frame([prediction], 0.95).sort_values("value", kind="stable")
    np.testing.assert_array_equal(line(axes, "observed")[:, 0], table["value"])
    np.testing.assert_array_equal(segments(axes, "held out, 95 %")[:, :, 0], table[["lower", "upper"]])
    np.testing.assert_array_equal(
        segments(axes, "before learning, 95 %")[:, :, 0], table[["prior_lower", "prior_upper"]]
    )
    assert row_names(axes) == table["run_id"].tolist()
    bars = plot_held_out_pit(prediction, n_bins=4).patches
    pit = prediction.pit[prediction.has_hidden]
    assert [bar.get_height() for bar in bars] == np.histogram(pit, 4, (0, 1))[0].tolist()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_models_compared() -> None:
    frame = checks().elpd()
    axes = plot_elpd(frame, "P@10")
    assert row_names(axes) == frame["model"].tolist()
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), -frame["elpd_diff"])


def engine_frame(models: list[str]) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    names = [f"{what}_off{end}" for what in ("mean", "lower", "upper") for end in ("", "_se")]
    numbers = pd.DataFrame(rng.normal(0, 0.02, (2 * len(models), len(names))), columns=names)
    numbers[names[1::2]] = numbers[names[1::2]].abs()
    return numbers.assign(model=np.repeat(models, 2))


@pytest.mark.parametrize("n_models", [1, 5])
def test_engines_side_by_side_have_ticks_that_do_not_collide(n_models: int) -> None:
    """Those of the third panel did."""
    models = ["background", "interpolated", "ratio", "anti_precision", "evidence"][:n_models]
    frame = engine_frame(models)
    figure, panels = figure_grid(3, height=0.5 * n_models + 1.2)
    for panel, what in zip(panels, ("mean", "lower", "upper"), strict=True):
        plot_engines(frame, what, ax=panel)  # type: ignore[arg-type]
        assert row_names(panel) == models
        assert panel.get_ylim() == (0.5 - n_models, 0.5)
        off = frame.loc[frame["model"] == models[-1], f"{what}_off"]
        np.testing.assert_array_equal(panel.lines[-1].get_xdata(), off)
    assert not overlapping(figure)
    assert not cut_off(figure)
