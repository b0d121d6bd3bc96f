"""Sums over observations against dense designs."""

from __future__ import annotations

import numpy as np
import pytest
from each import cases

from bayespool.inference import kernels
from bayespool.inference.arrow import Arrow, Layout


@cases("n_columns", [0, 1, 3])
def test_sums_over_observations_are_those_of_the_dense_design(n_columns):
    """Six globals, of which three are effects, and four topics with two locals each."""
    rng = np.random.default_rng(5)
    n, layout = 40, Layout(n_global=9, n_groups=4, width=2)
    designs, dense = [], []
    topic = rng.integers(0, 4, n)
    for columns in (np.arange(n_columns), 3 + np.arange(n_columns)):
        matrix = rng.normal(size=(n, n_columns))
        effects = np.column_stack([rng.integers(6, 9, n), 9 + 2 * topic + rng.integers(0, 2, n)])
        own = np.full((1, n_columns), -1)
        owner = np.zeros(n, dtype=np.int64)
        designs.append(kernels.Design(matrix, columns, effects, layout.places(effects), owner, own, own))
        full = np.zeros((n, layout.size))
        full[:, columns] = matrix
        for effect in effects.T:
            full[np.arange(n), effect] += 1
        dense.append(full)
    (left, right), (a, b) = designs, dense
    across_topics = np.zeros((layout.size, layout.size), dtype=bool)
    for t in range(4):
        own = slice(9 + 2 * t, 11 + 2 * t)
        across_topics[own, 9:] = True
        across_topics[own, own] = False

    def full_of(total):
        return Arrow(layout, total).dense()

    root = rng.normal(size=(layout.size, layout.size))
    covariance = np.where(across_topics, 0, root @ root.T)
    arrow = layout.zeros()
    arrow[:, :9] = covariance[:, :9]
    for p in range(9, layout.size):
        first = 9 + (p - 9) // 2 * 2
        arrow[p, 9:] = covariance[p, first : first + 2]
    assert full_of(arrow) == pytest.approx(covariance)
    weight, slope = rng.normal(size=n), rng.normal(size=n)
    assert kernels.linear_predictor(left, root[0]) == pytest.approx(a @ root[0])
    of_owners = kernels.owners_covariances(left, arrow)
    assert kernels.variances(left, arrow, of_owners, 9) == pytest.approx(np.diag(a @ covariance @ a.T))
    assert kernels.covariances(left, right, arrow, 9) == pytest.approx(np.diag(a @ covariance @ b.T))
    gradient, total = np.ones(layout.size), layout.zeros()
    kernels.add_own(left, slope, weight, gradient, total, 9)
    assert gradient == pytest.approx(1 + a.T @ slope)
    assert full_of(total) == pytest.approx(a.T @ (weight[:, None] * a))
    total = layout.zeros()
    kernels.add_product(left, right, weight, total, 9)
    cross = a.T @ (weight[:, None] * b)
    assert full_of(total) == pytest.approx(cross + cross.T)
