"""Arrowhead matrices against numpy on the same matrices in full."""

from __future__ import annotations

import numpy as np
import pytest
from each import cases

from bayespool.inference.arrow import Arrow, Factor, Layout

LAYOUTS = (Layout(5, 6, 1), Layout(5, 6, 2), Layout(4, 0, 0))


def some_arrow(layout: Layout) -> Arrow:
    """A positive definite arrow."""
    rng, outer = np.random.default_rng(7), layout.zeros()
    g, n = layout.n_global, layout.size
    root = rng.normal(size=(g, g))
    outer[:g, :g] = root @ root.T + 30 * np.eye(g)
    outer[g:, :g] = rng.normal(size=(n - g, g))
    for t in range(layout.n_groups):
        own = slice(g + t * layout.width, g + (t + 1) * layout.width)
        root = rng.normal(size=(layout.width, layout.width))
        outer[own, g:] = root @ root.T + 8 * np.eye(layout.width)
    return Arrow(layout, outer)


def sums_of(layout: Layout) -> tuple[slice, ...]:
    """Globals from the third on, and the last local of each topic."""
    local = slice(layout.n_global + layout.width - 1, layout.size, max(layout.width, 1))
    return (slice(2, layout.n_global), *[local] * bool(layout.width))


def factor_and_covariance(layout: Layout, constrained: bool) -> tuple[Factor, np.ndarray, np.ndarray]:
    arrow = some_arrow(layout)
    sums = sums_of(layout) if constrained else ()
    precision = arrow.dense()
    covariance = np.linalg.inv(precision)
    if constrained:
        ones = np.zeros((len(sums), layout.size))
        for i, where in enumerate(sums):
            ones[i, where] = 1
        toward = covariance @ ones.T
        covariance = covariance - toward @ np.linalg.inv(ones @ toward) @ toward.T
    return arrow.factor(sums), precision, covariance


@cases("layout", LAYOUTS)
def test_the_trace_of_a_product_is_that_of_the_full_matrices(layout: Layout) -> None:
    factor, precision, covariance = factor_and_covariance(layout, True)
    expected = np.trace(precision @ covariance)
    assert some_arrow(layout).trace_with(factor.covariance()) == pytest.approx(expected)
    assert expected == pytest.approx(layout.size - len(factor.sums))  # a dimension less for each sum


@cases("constrained", [False, True])
@cases("layout", LAYOUTS)
def test_a_factor_is_the_gaussian_of_the_full_matrix(layout: Layout, constrained: bool) -> None:
    factor, precision, covariance = factor_and_covariance(layout, constrained)
    assert np.linalg.eigvalsh(precision).min() > 0
    right = np.random.default_rng(1).normal(size=layout.size)
    assert factor.solve(right) == pytest.approx(covariance @ right)
    g = layout.n_global
    found = Arrow(layout, factor.covariance()).dense()
    there = found != 0
    assert there[:g, :g].all()
    assert found[there] == pytest.approx(covariance[there])
    values = np.linalg.eigvalsh(covariance)
    log_volume = np.log(values[values > 1e-9]).sum()
    n_sums = len(sums_of(layout)) if constrained else 0
    assert (values > 1e-9).sum() == layout.size - n_sums
    lengths = [layout.n_global - 2, layout.n_groups][:n_sums]  # what a sum is in units of its direction
    assert factor.log_determinant == pytest.approx(-log_volume + np.log(lengths or [1]).sum())


@cases("constrained", [False, True])
@cases("layout", LAYOUTS)
def test_draws_have_the_covariance(layout: Layout, constrained: bool) -> None:
    factor, _, covariance = factor_and_covariance(layout, constrained)
    draws = factor.draw(40_000, np.random.default_rng(2))
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    scale = np.outer(sd, sd)
    assert np.abs(np.cov(draws.T) - covariance).max() < 0.03 * scale.max()
    for where in sums_of(layout) if constrained else ():
        assert np.abs(draws[:, where].sum(axis=1)).max() < 1e-9
