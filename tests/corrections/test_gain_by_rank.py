"""Curves of mean gain by rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import cases
from scipy.optimize import curve_fit

from bayespool.corrections.lu_moffat_culpepper import SHAPES, gain_curves

RANK = np.arange(1, 13.0)


def weibull(k: Any, c: float, a: float, b: float) -> Any:
    return c * (np.exp(-(((k - 1) / a) ** b)) - np.exp(-((k / a) ** b)))


CURVES = {
    "constant": np.where(RANK <= 4, 0.6, 0.0),
    "linear": 0.9 - 0.05 * RANK,
    "zipf": 0.8 / RANK**0.7,
    "weibull": weibull(RANK, 3.0, 6.0, 0.8),
}


def test_curves_of_three_ranks_go_on_below() -> None:
    observed = np.array([[0.6, 0.3, 0.2]])
    assert {shape: gain_curves(observed, 4, shape).round(2)[0].tolist() for shape in SHAPES} == {
        "constant": [0.45, 0.45, 0.0, 0.0],
        "linear": [0.57, 0.37, 0.17, 0.0],
        "zipf": [0.6, 0.3, 0.2, 0.15],
        "weibull": [0.6, 0.3, 0.2, 0.14],
    }


@cases("shape", SHAPES)
def test_a_curve_of_the_shape_is_found_and_drawn_on(shape: Any) -> None:
    found = gain_curves(CURVES[shape][None, :6], 12, shape)
    np.testing.assert_allclose(found[0], CURVES[shape], atol=1e-8)


def test_a_constant_ends_where_it_is_best_and_a_rising_line_is_flat() -> None:
    # down to rank 2: squares left (0.1² + 0.1² + 0.1²); to rank 1: 0.7² + 0.1²; to rank 3: more
    for shape, observed, expected in (
        ("constant", [0.9, 0.7, 0.1], [0.8, 0.8, 0, 0]),
        ("linear", [0.1, 0.3], [0.2] * 3),
        ("linear", [0.4], [0.4] * 2),
    ):
        found = gain_curves(np.array([observed]), len(expected), shape)[0]  # type: ignore[arg-type]
        assert found.tolist() == pytest.approx(expected), shape


def test_a_rise_after_nothing_is_no_rounding_noise() -> None:
    """Of a Weibull curve with a large scale the tails of neighbors differ in the last digit alone."""
    gains = np.array([[0, 0, 0, 0.75, 0.5]])
    assert np.square(gains - gain_curves(gains, 5, "weibull")).sum() == pytest.approx(0.00469, abs=1e-4)


def test_fits_are_as_close_as_scipys() -> None:
    observed = np.random.default_rng(1).random((6, 9))
    observed[::2] = -np.sort(-observed[::2])
    for shape, form, start, most in (
        ("zipf", lambda k, c, e: c * k**-e, [1, 1], [np.inf, 10]),
        ("weibull", weibull, [1, 1, 1], [np.inf, 1e4, 10]),
    ):
        for gains, found in zip(observed, gain_curves(observed, 9, shape), strict=True):  # type: ignore[arg-type]
            bounds = (np.full(len(start), 0.05) * (np.arange(len(start)) > 0), most)
            other, _ = curve_fit(form, RANK[:9], gains, p0=start, bounds=bounds, max_nfev=2000)
            left = np.square(gains - np.clip(form(RANK[:9], *other), 0, 1)).sum()
            assert np.square(gains - found).sum() <= left + 1e-3 * np.square(gains).sum(), (shape, gains)
