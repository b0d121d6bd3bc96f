"""The figures of the papers show the numbers of their results."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayespool import judgment_counts, load_example
from bayespool.comparisons import judgment_subset
from bayespool.corrections import Interpolated, Smoothed, fit_constants
from bayespool.plots import figure_grid

sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))

import figures


def test_fitted_constants_are_the_minimum_of_the_surface() -> None:
    example, grid = load_example(), np.linspace(0, 1, 21)
    runs = example.pooled_run_ids
    truth = judgment_counts(example, runs, cutoffs=10)
    counts = [judgment_counts(judgment_subset(example, n), runs, cutoffs=10) for n in (150, 300, 600)]
    for estimator, correction in (("interpolated", Interpolated), ("smoothed", Smoothed)):
        best = fit_constants(estimator, counts, truth)
        surface = figures.rmse_surface(correction, counts, truth, c=grid, e=grid)
        assert best.rmse <= surface.min() + 1e-12
        at_best = figures.rmse_surface(
            correction, counts, truth, c=[best.values["c"]], e=[np.nan_to_num(best.values["e"])]
        )
        assert at_best[0, 0] == pytest.approx(best.rmse)


def test_the_least_error_is_marked() -> None:
    c, e = np.linspace(0, 1, 6), np.linspace(0, 0.5, 5)
    surface = (c[:, None] - 0.4) ** 2 + (e[None, :] - 0.25) ** 2 + 0.125
    axes = figure_grid(1)[1][0]
    figures.plot_rmse_surface(surface, c=c, e=e, ax=axes)
    assert np.asarray(axes.lines[0].get_xydata()).tolist() == [[0.4, 0.25]]


def test_contributing_runs_are_judged_as_deep_as_the_judgments_go() -> None:
    example = load_example()
    ranks = figures.first_unjudged(example, max_rank=12)
    assert len(ranks) == len(example.run_ids) * len(example.query_ids)
    assert not (ranks[ranks["group"] == "contributing"]["rank"] <= example.pool_depth).any()
    fewer = figures.first_unjudged(judgment_subset(example, 150), max_rank=12)
    assert (fewer["rank"].fillna(np.inf) <= ranks["rank"].fillna(np.inf)).all()


def test_bars_are_shares() -> None:
    groups = ["contributing"] * 4 + ["non-contributing"] * 2
    ranks = pd.DataFrame({"run_id": [*"aabbcc"], "group": groups, "rank": [1, 2, 2, np.nan, 1, 30]})
    axes = figure_grid(1)[1][0]
    figures.plot_first_unjudged(ranks, max_rank=3, ax=axes)
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
    assert heights == [[0.25, 0.5, 0, 0.25], [0.5, 0, 0, 0.5]]


def test_all_of_them_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["figures.py", str(tmp_path)])
    figures.main()
    drawn = {"errors.png", "indicators.png", "gain.png"}
    assert {path.name for path in tmp_path.iterdir()} == {*drawn, "table-2.csv"}
    table = pd.read_csv(tmp_path / "table-2.csv")
    assert table["measure"].unique().tolist() == ["P@5", "P@10"]
    assert len(table) == 6
