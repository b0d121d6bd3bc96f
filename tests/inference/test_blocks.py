"""Rows that a density has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fits import prepared_evidence
from scipy.special import expit

from bayespool.inference.density import Density, Rows
from bayespool.inference.modes import find_mode
from bayespool.models import MODELS


def test_log_odds_of_rows_are_those_of_draws() -> None:
    """Mean and variance, of rows of a topic with common slopes; and how totals of runs hang on parameters."""
    evidence, spec = prepared_evidence("ratio"), MODELS["ratio"]
    density = Density(spec.structure(evidence))
    x, theta = density.start()
    mode = find_mode(density, theta, x)
    (predictor,) = spec.structure(evidence).blocks[0].predictors
    predictor = replace(predictor, groups={"topic": predictor.groups["topic"]}, varying=None)
    order = np.lexsort((evidence.topic, evidence.run))
    rows = Rows(density.places, predictor, order)

    def log_odds(x: np.ndarray) -> np.ndarray:
        beta, topic = x[..., density.slices["beta"]], x[..., density.slices["topic"]][..., evidence.topic]
        found: np.ndarray = (x[..., density.slices["mu"]] + topic + beta @ evidence.predictors.T)[..., order]
        return found

    mean, variance = rows.predict(mode.x, mode.gaussian)
    assert mean == pytest.approx(log_odds(mode.x))
    draws = log_odds(mode.x + mode.gaussian.draw(20_000, np.random.default_rng(1)))
    assert variance == pytest.approx(draws.var(axis=0), rel=0.08)
    n, run = evidence.n_hidden[order].astype(float), evidence.run[order]
    start = np.flatnonzero(np.diff(run * 1000 + evidence.topic[order], prepend=-1))
    of_run = np.searchsorted(np.unique(run), run[start])
    shifts = np.array([-0.5, 0.7])
    totals, of_rankings, slopes = rows.totals(mean, np.ones(len(mean)), n, shifts, start, of_run)
    chance = expit(mean[:, None] + shifts)
    assert totals == pytest.approx(
        np.add.reduceat(n[:, None] * chance, np.flatnonzero(np.diff(run, prepend=-1)))
    )
    expected = np.add.reduceat(n[:, None] * chance * (1 - chance), start)
    assert of_rankings == pytest.approx(expected)
    step = 1e-5 * np.eye(density.size)
    for p in rows.parameters[:8]:
        moved = [
            rows.totals(log_odds(mode.x + s * step[p]), np.ones(len(mean)), n, shifts, start, of_run)[0]
            for s in (1, -1)
        ]
        assert slopes[p] == pytest.approx((moved[0] - moved[1]) / 2e-5, abs=1e-5)
