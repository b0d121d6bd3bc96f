"""Arrowhead matrices against numpy on the same matrices in full."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.inference.arrow import Arrow, Cells, Factor, Layout
from bayespool.inference.kernels import Design

LAYOUTS = (
    Layout(5, 6, 1, 0),
    Layout(5, 6, 2, 0),
    Layout(4, 0, 0, 0),
    Layout(6, 4, 1, 10),
    Layout(6, 4, 2, 10),
    Layout(6, 0, 0, 7),
)


def some_arrow(layout: Layout) -> Arrow:
    """A positive definite arrow, whose cells go with columns 0 and 1, an effect and a local each."""
    rng, outer = np.random.default_rng(7), layout.zeros()
    g, n = layout.n_global, layout.n_outer
    root = rng.normal(size=(g, g))
    outer[:g, :g] = root @ root.T + 30 * np.eye(g)
    outer[g:, :g] = rng.normal(size=(n - g, g))
    for t in range(layout.n_topics):
        own = slice(g + t * layout.width, g + (t + 1) * layout.width)
        root = rng.normal(size=(layout.width, layout.width))
        outer[own, g:] = root @ root.T + 8 * np.eye(layout.width)
    if not layout.n_cells:
        return Arrow(layout, outer, None)
    effects = [rng.integers(2, g, layout.n_cells)]
    if n > g:
        effects.append(rng.integers(g, n, layout.n_cells))
    index, value = np.column_stack(effects), rng.normal(size=layout.n_cells)
    matrix = rng.normal(size=(layout.n_cells, 2))
    design = Design(matrix, np.arange(2), index, layout.places(index), value)
    return Arrow(layout, outer, Cells(design, rng.uniform(4, 9, layout.n_cells)))


def sums_of(layout: Layout) -> tuple[slice, ...]:
    """Globals from the third on, and the last local of each topic."""
    local = slice(layout.n_global + layout.width - 1, layout.n_outer, max(layout.width, 1))
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


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_factor_is_the_gaussian_of_the_full_matrix(layout: Layout, constrained: bool) -> None:
    factor, precision, covariance = factor_and_covariance(layout, constrained)
    assert np.linalg.eigvalsh(precision).min() > 0
    right = np.random.default_rng(1).normal(size=layout.size)
    assert factor.solve(right) == pytest.approx(covariance @ right)
    n, g = layout.n_outer, layout.n_global
    found = Arrow(Layout(g, layout.n_topics, layout.width, 0), factor.covariance(), None).dense()
    there = found != 0
    assert there[:g, :g].all()
    assert found[there] == pytest.approx(covariance[:n, :n][there])
    values = np.linalg.eigvalsh(covariance)
    log_volume = np.log(values[values > 1e-9]).sum()
    n_sums = len(sums_of(layout)) if constrained else 0
    assert (values > 1e-9).sum() == layout.size - n_sums
    lengths = [layout.n_global - 2, layout.n_topics][:n_sums]  # what a sum is in units of its direction
    assert factor.log_determinant == pytest.approx(-log_volume + np.log(lengths or [1]).sum())


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_draws_have_the_covariance(layout: Layout, constrained: bool) -> None:
    factor, _, covariance = factor_and_covariance(layout, constrained)
    draws = factor.draw(40_000, np.random.default_rng(2))
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    scale = np.outer(sd, sd)
    assert np.abs(np.cov(draws.T) - covariance).max() < 0.03 * scale.max()
    for where in sums_of(layout) if constrained else ():
        assert np.abs(draws[:, where].sum(axis=1)).max() < 1e-9
    if layout.n_cells:
        kept = np.array([3, 1])
        some = factor.draw(40_000, np.random.default_rng(2), kept)
        assert some.shape[1] == layout.n_outer + 2
        asked = [*range(layout.n_outer), *(layout.n_outer + kept)]
        assert np.abs(np.cov(some.T) - covariance[np.ix_(asked, asked)]).max() < 0.03 * scale.max()


def test_a_matrix_that_is_not_positive_has_no_factor() -> None:
    for layout in (LAYOUTS[1], LAYOUTS[4]):
        arrow = some_arrow(layout)
        for change in ("global", "local", "cell"):
            outer, cells = arrow.outer.copy(), arrow.cells
            if change == "global":
                outer[0, 0] = -1
            elif change == "local":
                outer[layout.n_global, layout.n_global] = -1
            elif cells is not None:
                cells = Cells(cells.design, np.where(np.arange(layout.n_cells) == 2, -1.0, cells.diagonal))
            else:
                continue
            with pytest.raises(np.linalg.LinAlgError):
                Arrow(layout, outer, cells).factor(())
