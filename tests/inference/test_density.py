"""The density in numpy against the PyMC graph, its derivatives, and rows that it has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from columns import with_columns
from each import cases
from fits import dense_matrix, prepared_evidence
from graphs import NO_LINKER, free_points
from scipy.special import expit

from bayespool.inference.density import Density, Rows
from bayespool.inference.modes import find_mode
from bayespool.measures import parse_measure
from bayespool.models import MODEL_NAMES, MODELS
from bayespool.models.graphs import build_graph
from bayespool.models.registry import model_named
from bayespool.posterior import ScoringProblem

CENTERED = {(model, of) for model in ("interpolated", "odds_ratio", "smoothed") for of in ("topic", "run")}


def _random_point(density, rng):
    x = rng.normal(scale=0.4, size=density.size)
    for where in density.sums:
        x[where] -= x[where].mean()
    return x, rng.normal(scale=0.4, size=len(density.scales))


PARTS_OF_ANOTHER = ("interpolated", "ratio")
"""Models all of whose parts another one has: the smoothed one, and that of the evidence."""


@pytest.mark.parametrize(
    "model", [pytest.param(m, marks=pytest.mark.slow if m in PARTS_OF_ANOTHER else ()) for m in MODEL_NAMES]
)
def test_the_density_is_the_one_of_the_pymc_graph(model):
    check_graph(MODELS[model], prepared_evidence(model))


BOTH = "(1 | type) + (1 | language)"


@cases("model", [f"ratio + {BOTH} + length", f"interpolated + {BOTH}"])
def test_the_density_with_effects_of_columns_is_the_one_of_the_pymc_graph(model):
    problem = ScoringProblem(with_columns(), ("new-a", "new-b"), parse_measure("P@10"), "complete")
    check_graph(model_named(model), problem.prepare(model, {}).evidence)


def check_graph(spec, evidence):
    model = spec.base
    graph, density = build_graph(spec, evidence), Density(spec.structure(evidence))
    logp, point_of = graph.compile_logp(jacobian=True, **NO_LINKER), free_points(graph)
    rng, differences = np.random.default_rng(1), []
    for _ in range(4):
        x, theta = _random_point(density, rng)
        if density.structure.cells:  # which the density integrates: they are all zero here
            theta[density.scales.index("interaction")] = np.log(1e-7)
        values = {f"sigma_{s}": np.exp(t) for s, t in zip(density.scales, theta, strict=True)}
        values |= {f"standard_{name}": value for name, value in values.items()}
        moved = 0.0
        for name, coefficient in density.structure.coefficients.items():
            value = x[density.slices[name]]
            value = 1 / (1 + np.exp(-value)) if coefficient.logit else value
            values[name] = value[0] if coefficient.size is None else value
        for scale, t in zip(density.scales, theta, strict=True):
            if scale == "interaction":
                values["standard_interaction"] = np.zeros(density.structure.groups["interaction"].size)
                continue
            effect = x[density.slices[scale]]
            signed = f"standard_sigma_{scale}" in graph.named_vars
            moved -= t if signed else 0.0  # the graph's is the density of σ, not of log σ
            if (model, scale) in CENTERED:
                values[f"{scale}_effect"] = effect
            else:
                values[f"standard_{scale}"] = effect / np.exp(t)
                moved += (len(effect) - (scale != "slope")) * t
        if "beta" in values:
            values["standard_beta"] = evidence.rotation.T @ (values["beta"] - evidence.expected)
        differences.append(density.log_density(x, theta) - (float(logp(point_of(values))) - moved))
    np.testing.assert_allclose(differences, differences[0], atol=1e-6)


def check_derivatives(density: Density, x, theta):
    _, gradient, arrow = density.expand(x, theta)
    hessian = dense_matrix(arrow)
    some = np.random.default_rng(3).choice(density.size, size=12, replace=False)
    for i in some:
        step = np.zeros(density.size)
        step[i] = 1e-5
        rise = density.log_density(x + step, theta) - density.log_density(x - step, theta)
        assert rise / 2e-5 == pytest.approx(gradient[i], rel=1e-4, abs=1e-3)
        bend = density.expand(x + step, theta)[1] - density.expand(x - step, theta)[1]
        np.testing.assert_allclose(-bend / 2e-5, hessian[i], rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12)
    information = dense_matrix(density.expand(x, theta, expected=True)[2])
    assert np.linalg.eigvalsh(information).min() > 0


@cases("model", MODEL_NAMES)
def test_derivatives_are_those_of_the_density(model, monkeypatch):
    """With more nodes than in use, for the integrals over cells are to be exact here."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(41)
    monkeypatch.setattr("bayespool.inference.density.NODES", nodes)
    monkeypatch.setattr("bayespool.inference.density.SHARES", shares / shares.sum())
    density = Density(MODELS[model].structure(prepared_evidence(model)))
    check_derivatives(density, *_random_point(density, np.random.default_rng(2)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["evidence", *(pytest.param(m, marks=pytest.mark.slow) for m in ("interpolated", "smoothed"))]
)
def test_mean_derivatives_are_means_over_the_gaussian(model):
    """Against the means over many draws of the Gaussian."""
    structure = MODELS[model].structure(prepared_evidence(model))
    density = Density(structure)
    x, theta = density.start()
    about = density.expand(x, theta, expected=True)[2].factor(density.sums)
    value, gradient, arrow = density.mean_derivatives(x, theta, about)
    draws = x + about.draw(4000, np.random.default_rng(1))
    of_draws = np.array([density.expand(draw, theta)[1] for draw in draws])
    error = of_draws.std(axis=0) / np.sqrt(len(draws))
    off = np.abs(of_draws.mean(axis=0) - gradient) / np.maximum(error, 1e-3 * np.abs(gradient).max())
    assert off.max() < (
        5 if structure.blocks[-1].link is None else 12
    )  # three nodes, or a cubature of degree 3
    assert np.isfinite(dense_matrix(arrow)).all()
    if structure.blocks[-1].link is None:  # the quadratic has the mean log density
        values = np.array([density.log_density(draw, theta) for draw in draws])
        mean = value - 0.5 * arrow.trace_with(about.covariance())
        assert mean == pytest.approx(values.mean(), abs=5 * values.std() / np.sqrt(len(draws)))


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
