"""Surfaces of the fitted constants."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.comparisons import judgment_subset, rmse_surface
from bayespool.corrections import fit_constants
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts, score_bounds
from bayespool.experiments import load_example
from bayespool.measures import parse_measure


def test_fitted_constants_are_the_minimum_of_the_surface() -> None:
    for method in ("interpolated", "smoothed"):
        example = load_example()
        runs = example.pooled_run_ids
        truth = judgment_counts(example, runs, cutoffs=10)
        counts = [judgment_counts(judgment_subset(example, n), runs, cutoffs=10) for n in (150, 300, 600)]
        best = fit_constants(method, counts, truth)  # type: ignore[arg-type]
        grid = np.linspace(0, 1, 41)
        surface = rmse_surface(method, counts, truth, c=grid, e=grid)  # type: ignore[arg-type]
        assert surface.shape == (41, 41)
        assert best.rmse <= surface.min() + 1e-12
        c, e = np.unravel_index(surface.argmin(), surface.shape)
        assert abs(grid[c] - best.c) <= 0.025
        # interpolated uses E only where nothing is judged on a topic, which is nowhere here
        assert np.isnan(best.e) if method == "interpolated" else abs(grid[e] - best.e) <= 0.025
        at_best = rmse_surface(method, counts, truth, c=best.c, e=np.nan_to_num(best.e))  # type: ignore[arg-type]
        assert at_best[0, 0] == pytest.approx(best.rmse)


def test_surfaces_are_of_matching_counts() -> None:
    counts = judgment_counts(load_example(), cutoffs=10)
    with pytest.raises(InputError, match="same runs, topics and cutoffs"):
        rmse_surface("smoothed", [judgment_counts(load_example(), cutoffs=5)], counts, c=0.5, e=0.1)
    bounds = [score_bounds(load_example(), None, parse_measure(m)) for m in ("P@10", "P@5", "DCG@5")]
    with pytest.raises(InputError, match="same runs, topics and cutoffs"):
        rmse_surface("smoothed", bounds[:1], bounds[1], c=0.5, e=0.1)
    with pytest.raises(InputError, match="measures from 0 to 1, and DCG@5 is none"):
        rmse_surface("smoothed", bounds[2:], bounds[2], c=0.5, e=0.1)
    with pytest.raises(InputError, match="no surface for 'background'"):
        rmse_surface("background", [counts], counts, c=0.5, e=0.1)  # type: ignore[arg-type]
