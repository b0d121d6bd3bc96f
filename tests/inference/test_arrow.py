"""Where parameters stand, and arrowhead matrices and sums over observations against dense ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from each import cases
from fits import dense_matrix

from bayespool.inference.arrow import (
    Arrow,
    Design,
    Factor,
    Layout,
    ParameterPositions,
    Terms,
    add_curvature,
    add_slopes,
    covariances,
    linear_predictors,
)
from bayespool.models.formulas import Coefficient, Group, Structure
from bayespool.models.priors import LOG_ODDS, SCALE, SLOPE

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
    precision = dense_matrix(arrow)
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
    found = dense_matrix(Arrow(layout, factor.covariance()))
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


@cases("layout", LAYOUTS)
def test_draws_are_the_same_by_parts(layout: Layout, monkeypatch) -> None:
    """Of two draws, by one group at a time."""
    factor, *_ = factor_and_covariance(layout, constrained=True)
    whole = factor.draw(2, np.random.default_rng(3))
    with monkeypatch.context() as patched:
        patched.setattr("bayespool.inference.arrow._MOST_AT_A_TIME", 2)
        np.testing.assert_allclose(factor.draw(2, np.random.default_rng(3)), whole, atol=1e-12)


def places(n_topics: int, n_organizations: int, n_predictors: int = 3) -> ParameterPositions:
    groups = {
        "topic": Group(SCALE, n_topics, "topic"),
        "organization": Group(SCALE, n_organizations, "organization"),
        "interaction": Group(SCALE, n_topics * n_organizations, "organization_topic", is_cell=True),
        "slope": Group(SCALE, n_organizations * n_predictors, "organization_predictor", is_slope=True),
    }
    coefficients = {"mu": Coefficient(LOG_ODDS), "beta": Coefficient(SLOPE, n_predictors, "predictor")}
    return ParameterPositions(Structure(coefficients, groups, ()))


def test_every_parameter_stands_once_and_what_leaves_fewer_others_is_local() -> None:
    """Of 3 slopes: organizations are local where four times their number is more than the topics."""
    for n_topics, n_organizations, *expected in (
        (50, 4, 20, 50, 1), (16, 4, 20, 16, 1), (15, 4, 19, 4, 4), (9, 30, 13, 30, 4), (5, 1, 7, 5, 1),
    ):  # fmt: skip
        found = places(n_topics, n_organizations)
        layout, every = found.layout, np.arange(found.layout.size)
        assert [layout.n_global, layout.n_groups, layout.width] == expected
        taken = np.concatenate([every[where] for where in found.slices.values()])
        assert sorted(taken.tolist()) == every.tolist()
        assert "interaction" not in found.slices
        assert "interaction" in found.scales


def test_an_organizations_effect_and_slopes_stand_together() -> None:
    found = places(9, 30)
    every = np.arange(found.layout.size)
    effects, slopes = every[found.slices["organization"]], every[found.slices["slope"]].reshape(30, 3)
    assert np.array_equal(slopes, effects[:, None] + [1, 2, 3])


@cases("n_columns", [0, 1, 3])
def test_sums_over_observations_are_those_of_the_dense_design(n_columns):
    """Six globals, of which three are effects, and four topics with two locals each. The first predictor's
    coefficients are different for each topic: one of its locals is added to the last of them.
    """
    rng = np.random.default_rng(5)
    n, layout = 40, Layout(n_global=9, n_groups=4, width=2)
    terms, dense = [], []
    topic = rng.integers(0, 4, n)
    for is_first, columns in ((True, np.arange(n_columns)), (False, 3 + np.arange(n_columns))):
        matrix = rng.normal(size=(n, n_columns))
        effects = np.column_stack([rng.integers(6, 9, n), 9 + 2 * topic + rng.integers(0, 2, n)])
        last, owners = np.arange(n_columns)[-1:] if is_first else np.zeros(0, int), np.arange(4)[:, None]
        added = np.repeat(9 + 2 * owners, len(last), axis=1)
        coefficients = np.hstack([np.repeat(columns[None], 4, axis=0), added])
        column = np.append(np.arange(n_columns), last)
        terms.append(Terms(matrix, column, topic, coefficients, effects))
        full = np.zeros((n, layout.size))
        full[:, columns] = matrix
        for k in last:
            full[np.arange(n), 9 + 2 * topic] += matrix[:, k]
        for effect in effects.T:
            full[np.arange(n), effect] += 1
        dense.append(full)
    design, rows = Design.of(terms, layout), np.array([3, 11, 5])
    across_topics = np.zeros((layout.size, layout.size), dtype=bool)
    for t in range(4):
        own = slice(9 + 2 * t, 11 + 2 * t)
        across_topics[own, 9:] = True
        across_topics[own, own] = False

    def full_of(total):
        return dense_matrix(Arrow(layout, total))

    root = rng.normal(size=(layout.size, layout.size))
    covariance = np.where(across_topics, 0, root @ root.T)
    arrow = layout.zeros()
    arrow[:, :9] = covariance[:, :9]
    for p in range(9, layout.size):
        first = 9 + (p - 9) // 2 * 2
        arrow[p, 9:] = covariance[p, first : first + 2]
    assert full_of(arrow) == pytest.approx(covariance)
    weight, slope = rng.normal(size=(2, 2, n)), rng.normal(size=(2, n))
    weight[1, 0] = weight[0, 1]
    expected = np.array([z @ root[0] for z in dense])
    assert linear_predictors(design, root[0]) == pytest.approx(expected)
    assert linear_predictors(design.take(rows), root[0]) == pytest.approx(expected[:, rows])
    found = covariances(design, arrow, 9)
    for m, a in enumerate(dense):
        for k, b in enumerate(dense):
            assert found[:, m, k] == pytest.approx(np.diag(a @ covariance @ b.T))
    gradient, total = np.ones(layout.size), layout.zeros()
    add_slopes(design, slope, gradient)
    assert gradient == pytest.approx(1 + sum(z.T @ of for z, of in zip(dense, slope, strict=True)))
    add_curvature(design, weight, total, 9)
    both = [a.T @ (weight[m, k][:, None] * b) for m, a in enumerate(dense) for k, b in enumerate(dense)]
    assert full_of(total) == pytest.approx(sum(both))


@cases("layout", LAYOUTS)
def test_a_step_within_sums_needs_a_positive_matrix_there_alone(layout: Layout) -> None:
    """One direction in which the matrix is negative is a sum that is held at zero."""
    arrow, right = some_arrow(layout), np.random.default_rng(1).normal(size=layout.size)
    factor = arrow.factor(sums_of(layout))
    step, log_determinant = arrow.step_within(factor.multipliers, right)
    np.testing.assert_allclose(step, factor.solve(right), atol=1e-12)
    assert log_determinant == pytest.approx(factor.log_determinant)
    arrow.outer[0, 0] = -40.0
    along = np.eye(layout.size)[0]
    with pytest.raises(np.linalg.LinAlgError):
        arrow.factor([])
    with pytest.raises(np.linalg.LinAlgError, match="where the sums are zero"):
        arrow.step_within(factor.multipliers, right)
    step, log_determinant = arrow.step_within(along[:, None], right)
    rest = dense_matrix(arrow)[1:, 1:]
    np.testing.assert_allclose(step, np.append(0.0, np.linalg.solve(rest, right[1:])), atol=1e-12)
    assert log_determinant == pytest.approx(np.linalg.slogdet(rest)[1])
    both = dataclasses.replace(factor, sums=(*factor.sums, along))
    np.testing.assert_array_equal(both.multipliers, np.column_stack([factor.multipliers, along]))
