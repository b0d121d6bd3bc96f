"""Curves of mean gain by rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import cases
from hypothesis import given, strategies as st
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


@cases("shape", SHAPES)
def test_nothing_gains_nothing(shape: Any) -> None:
    assert not gain_curves(np.zeros((2, 5)), 8, shape).any()


@cases("shape", SHAPES)
def test_topics_are_fitted_apart(shape: Any) -> None:
    observed = np.stack([CURVES["zipf"], CURVES["linear"]])
    both = gain_curves(observed, 20, shape)
    np.testing.assert_allclose(both[1:], gain_curves(observed[1:], 20, shape), atol=1e-12)
    assert ((both >= 0) & (both <= 1)).all()


def test_constant_ends_where_it_is_best() -> None:
    # down to rank 2: squares left (0.1² + 0.1² + 0.1²); to rank 1: 0.7² + 0.1²; to rank 3: more
    assert gain_curves(np.array([[0.9, 0.7, 0.1]]), 4, "constant")[0].tolist() == pytest.approx(
        [0.8, 0.8, 0, 0]
    )


def test_a_rising_line_is_flat() -> None:
    assert gain_curves(np.array([[0.1, 0.3]]), 3, "linear")[0].tolist() == pytest.approx([0.2] * 3)
    assert gain_curves(np.array([[0.4]]), 2, "linear")[0].tolist() == pytest.approx([0.4] * 2)


def squares(observed: np.ndarray, curve: np.ndarray) -> float:
    return float(np.square(observed - curve[: len(observed)]).sum())


@given(st.lists(st.floats(0, 1), min_size=4, max_size=12))
def test_no_other_fit_is_closer(gains: list[float]) -> None:
    observed = np.array(gains)
    rank = np.arange(1, len(gains) + 1.0)
    forms: dict[Any, Any] = {
        "zipf": (lambda k, c, e: c * k**-e, [1, 1], (0, [np.inf, 10])),
        "weibull": (weibull, [1, 1, 1], ([0, 0.05, 0.05], [np.inf, 1e4, 10])),
    }
    for shape, (form, start, bounds) in forms.items():
        try:
            other, _ = curve_fit(form, rank, observed, p0=start, bounds=bounds, max_nfev=2000)
        except RuntimeError:
            continue
        found = gain_curves(observed[None], len(gains), shape)[0]
        other_curve = np.clip(form(rank, *other), 0, 1)
        assert squares(observed, found) <= squares(observed, other_curve) + 0.01 * np.square(observed).sum()
