"""The density in numpy against the PyMC graph, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from fits import prepared_evidence

from bayespool.inference import kernels
from bayespool.inference.density import Density
from bayespool.models import MODELS
from bayespool.posterior import MODEL_NAMES

CENTRED = {("interpolated", "topic"), ("interpolated", "run"), ("smoothed", "topic"), ("smoothed", "run")}


def _random_point(density, rng):
    x = rng.normal(scale=0.4, size=density.size)
    for scale in density.scales:
        where = density.slices[scale]
        x[where] -= x[where].mean()
    return x, rng.normal(scale=0.4, size=len(density.scales))


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_the_density_is_the_one_of_the_pymc_graph(model):
    evidence = prepared_evidence(model)
    import pytensor.tensor as pt

    graph, density = MODELS[model].graph(evidence), Density(MODELS[model].structure(evidence))
    logp = graph.compile_logp(jacobian=True)
    rng, differences = np.random.default_rng(1), []
    for _ in range(4):
        x, theta = _random_point(density, rng)
        values = {f"sigma_{s}": np.exp(t) for s, t in zip(density.scales, theta, strict=True)}
        moved = 0.0
        for name, coefficient in density.structure.coefficients.items():
            value = x[density.slices[name]]
            value = 1 / (1 + np.exp(-value)) if coefficient.logit else value
            values[name] = value[0] if coefficient.size is None else value
        for scale, t in zip(density.scales, theta, strict=True):
            effect = x[density.slices[scale]]
            if (model, scale) in CENTRED:
                values[f"{scale}_effect"] = effect
            else:
                values[f"standard_{scale}"] = effect / np.exp(t)
                moved += (len(effect) - 1) * t
        if "beta" in values:
            values["standard_beta"] = evidence.rotation.T @ (values["beta"] - evidence.expected)
        point = {}
        for rv in graph.free_RVs:
            transform, value = graph.rvs_to_transforms[rv], values[rv.name]
            value_var = graph.rvs_to_values[rv]
            if transform is not None:
                free = pt.tensor(dtype="float64", shape=(None,) * np.ndim(value))
                value = transform.forward(free, *rv.owner.inputs).eval({free: np.asarray(value, float)})
            point[value_var.name] = np.asarray(value, dtype=float)
        differences.append(density.log_density(x, theta) - (float(logp(point)) - moved))
    np.testing.assert_allclose(differences, differences[0], atol=1e-6)


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_derivatives_are_those_of_the_density(model):
    density = Density(MODELS[model].structure(prepared_evidence(model)))
    x, theta = _random_point(density, np.random.default_rng(2))
    _, gradient, hessian = density.expand(x, theta)
    some = np.random.default_rng(3).choice(density.size, size=12, replace=False)
    for i in some:
        step = np.zeros(density.size)
        step[i] = 1e-5
        rise = density.log_density(x + step, theta) - density.log_density(x - step, theta)
        assert rise / 2e-5 == pytest.approx(gradient[i], rel=1e-4, abs=1e-3)
        bend = density.expand(x + step, theta)[1] - density.expand(x - step, theta)[1]
        np.testing.assert_allclose(-bend / 2e-5, hessian[i], rtol=1e-4, atol=1.0)  # 1e6 holds the sums
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12)
    information = density.expand(x, theta, expected=True)[2]
    assert np.linalg.eigvalsh(information).min() > 0


@pytest.mark.parametrize("n_columns", [0, 1, 3])
def test_sums_over_observations_are_those_of_the_dense_design(n_columns):
    rng = np.random.default_rng(5)
    n, size = 40, 14
    designs, dense = [], []
    for columns in (np.arange(n_columns), 11 + np.arange(n_columns)):
        matrix = rng.normal(size=(n, n_columns))
        effects = np.column_stack([rng.integers(3, 6, n), rng.integers(6, 11, n)])
        designs.append(kernels.Design(matrix, columns, effects))
        full = np.zeros((n, size))
        full[:, columns] = matrix
        for effect in effects.T:
            full[np.arange(n), effect] += 1
        dense.append(full)
    (left, right), (a, b) = designs, dense
    root = rng.normal(size=(size, size))
    covariance, weight, slope = root @ root.T, rng.normal(size=n), rng.normal(size=n)
    assert kernels.linear_predictor(left, root[0]) == pytest.approx(a @ root[0])
    assert kernels.variances(left, covariance) == pytest.approx(np.diag(a @ covariance @ a.T))
    assert kernels.covariances(left, right, covariance) == pytest.approx(np.diag(a @ covariance @ b.T))
    gradient, total = np.ones(size), np.ones((size, size))
    kernels.add_own(left, slope, weight, gradient, total)
    assert gradient == pytest.approx(1 + a.T @ slope)
    assert total == pytest.approx(1 + a.T @ (weight[:, None] * a))
    kernels.add_product(left, right, weight, total)
    cross = a.T @ (weight[:, None] * b)
    assert total == pytest.approx(1 + a.T @ (weight[:, None] * a) + cross + cross.T)
