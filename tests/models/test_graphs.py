"""PyMC graphs of the models of cells against their formulas, and the parts that models share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytest
from each import cases
from graphs import MODELS, NO_LINKER, build, free_points, log_odds_of, with_standard_effects
from scipy import stats
from scipy.linalg import null_space
from scipy.special import expit, gammaln, logit

from bayespool.models import Prior
from bayespool.models.evidence import ModelEvidence
from bayespool.models.graphs import binomial, group_effect

SCALES = ("topic", "organization")
BACKGROUND = {"mu": None, **{f"{s}_effect": s for s in SCALES}, **{f"sigma_{s}": None for s in SCALES}}
OF_RUN = {"run_effect": "run", "sigma_run": None}
INTERPOLATED = {"a": None, "c": None} | {n: dim for n, dim in BACKGROUND.items() if n != "mu"} | OF_RUN
DIMS: dict[str, dict[str, str | None]] = {
    "background": BACKGROUND,
    "interpolated": INTERPOLATED,
    "odds_ratio": {("log_ratio" if name == "c" else name): dim for name, dim in INTERPOLATED.items()},
    "smoothed": INTERPOLATED | {"mu": None, "background_effect": "topic", "sigma_background": None},
}
every_model = cases("model", MODELS)


def made_up_evidence(random_seed: int, *, most_judged: int = 10, n_rankings: int = 18) -> ModelEvidence:
    """Four topics, three organizations with a pooled run each, two runs to score, and any counts at all."""
    rng = np.random.default_rng(random_seed)
    n_cells = 11
    n_hidden, n_judged = rng.integers(1, 9, n_cells), rng.integers(1, most_judged + 1, n_rankings)
    cell_run = rng.integers(0, 3, n_cells)
    residual = rng.integers(1, 10, n_cells) / 10
    residual[0] = 1.0  # nothing but hidden documents
    return ModelEvidence(
        query_ids=("q1", "q2", "q3", "q4"), organizations=("north", "south", "west"),
        run_ids=("n", "s", "w", "u1", "u2"),
        hidden_topic=rng.integers(0, 4, n_cells), hidden_organization=cell_run, hidden_run=cell_run,
        n_hidden=n_hidden, n_hidden_relevant=rng.integers(0, n_hidden + 1), hidden_residual=residual,
        judged_topic=rng.integers(0, 4, n_rankings), judged_run=rng.integers(0, 5, n_rankings),
        n_judged=n_judged, n_relevant=rng.integers(0, n_judged + 1),
    )  # fmt: skip


def zero_sum_log_density(effect: np.ndarray, sigma: float) -> float:
    """Of J independent normals given that they sum to zero: J − 1 normals in a basis of that plane."""
    basis = null_space(np.ones((1, len(effect))))
    return float(stats.norm(scale=sigma).logpdf(basis.T @ effect).sum())


def binomial_log_mass(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> float:
    """Without the binomial coefficient."""
    coefficient = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return float((stats.binom(n, p).logpmf(k) - coefficient).sum())


def random_values(model: str, evidence: ModelEvidence, rng: np.random.Generator) -> dict[str, Any]:
    """Values of all variables; effects sum to zero."""
    values: dict[str, Any] = {}
    for name, dim in DIMS[model].items():
        if dim is not None:
            effect = rng.normal(size=len(evidence.coords[dim]))
            values[name] = effect - effect.sum() / max(1, len(effect))
        else:
            values[name] = float(rng.beta(2, 2) if name == "c" else abs(rng.normal(1, 0.5)))
            values[name] *= -1 if name in ("mu", "a") else 1
    return values


def log_density(model: str, evidence: ModelEvidence, values: Mapping[str, Any], centered: bool) -> float:
    """Joint log density of the sampled variables and of the data, from the page on the statistics."""
    e, v = evidence, values
    total = 0.0
    priors = {
        "background": {"mu": stats.norm(-2.2, 1.5)},
        "interpolated": {"a": stats.norm(-0.5, 1.5), "c": stats.beta(2, 2.5)},
        "odds_ratio": {"a": stats.norm(-0.5, 1.5), "log_ratio": stats.norm(-2.0, 1.2)},
        "smoothed": {"a": stats.norm(-0.5, 1.5), "c": stats.beta(2, 2.5), "mu": stats.norm(-2.8, 1)},
    }
    for name, prior in priors[model].items():
        total += float(prior.logpdf(v[name]))
    for name in (n.removesuffix("_effect") for n in v if n.endswith("_effect")):
        sigma, effect = v[f"sigma_{name}"], v[f"{name}_effect"]
        if centered and name in ("topic", "run") and model != "background":
            total += float(stats.halfnorm.logpdf(sigma)) + zero_sum_log_density(effect, sigma)
        else:  # what is sampled is the standardize effect, and the scale with a sign if there are some
            scale = stats.norm if len(effect) > 1 else stats.halfnorm
            width = 0.5 if name == "background" else 1.0
            total += float(scale.logpdf(sigma, scale=width)) + zero_sum_log_density(effect / sigma, 1.0)
    organization = v["organization_effect"][e.hidden_organization]
    if model == "background":
        p = expit(v["mu"] + v["topic_effect"][e.hidden_topic] + organization)
    else:
        precision = expit(v["a"] + v["topic_effect"][e.judged_topic] + v["run_effect"][e.judged_run])
        total += binomial_log_mass(e.n_relevant, e.n_judged, precision)
        p = expit(v["a"] + v["topic_effect"][e.hidden_topic] + v["run_effect"][e.hidden_run])
        p = expit(logit(p) + v["log_ratio"]) if model == "odds_ratio" else v["c"] * p
        if model == "smoothed":
            background = expit(v["mu"] + v["background_effect"][e.hidden_topic])
            p = (1 - e.hidden_residual) * p + e.hidden_residual * background
        p = expit(logit(p) + organization)
    return total + binomial_log_mass(e.n_hidden_relevant, e.n_hidden, p)


@every_model
@pytest.mark.parametrize(
    "centered",
    [pytest.param(True, id="much judged", marks=pytest.mark.slow), pytest.param(False, id="little judged")],
)
def test_density_is_the_formula(model: str, centered: bool) -> None:
    evidence = made_up_evidence(2, most_judged=30) if centered else made_up_evidence(3, most_judged=3)
    assert evidence.much_judged == centered
    graph = build(model, evidence)
    assert ("standard_run" in graph.named_vars) == (not centered and model != "background")
    density, point_of = graph.compile_logp(jacobian=False, **NO_LINKER), free_points(graph)
    rng = np.random.default_rng(4)
    for _ in range(4):
        values = random_values(model, evidence, rng)
        expected = log_density(model, evidence, values, centered)
        # PyTensor keeps constants such as 1.5 in single precision
        assert float(density(point_of(with_standard_effects(values)))) == pytest.approx(expected, rel=1e-6)


def test_log_odds_by_hand() -> None:
    draws = {
        "mu": np.array([-1.0]),
        "a": np.array([0.5]),
        "c": np.array([0.4]),
        "log_ratio": np.array([-2.0]),
        "topic_effect": np.array([[0.2, -0.2]]),
        "run_effect": np.array([[0.3]]),
        "background_effect": np.array([[1.0, -1.0]]),
    }
    run, residual = np.array([0]), np.array([[0.25, 1.0]])
    assert log_odds_of("background", draws, run, residual)[0, 0] == pytest.approx([-0.8, -1.2])
    precision = 1 / (1 + np.exp(-np.array([1.0, 0.6])))
    p = 0.4 * precision
    assert log_odds_of("interpolated", draws, run, residual)[0, 0] == pytest.approx(np.log(p / (1 - p)))
    assert log_odds_of("odds_ratio", draws, run, residual)[0, 0] == pytest.approx([-1.0, -1.4])
    q = [0.75 * p[0] + 0.25 * 0.5, 1 / (1 + np.exp(2))]  # E = ½ on the first; nothing judged on the second
    assert log_odds_of("smoothed", draws, run, residual)[0, 0] == pytest.approx(logit(q))


def test_binomial_has_the_mass_and_draws_of_one() -> None:
    n, k, eta = np.array([1, 4, 10, 3]), np.array([0, 4, 3, 0]), np.array([0.3, -2.0, 1.0, -30.0])
    with pm.Model() as graph:
        x = pm.Normal("x")
        binomial("k", eta + x, n, k)
    (terms,) = graph.compile_logp(vars=[graph["k"]], sum=False, **NO_LINKER)({"x": np.array(0.0)})
    coefficient = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    assert terms == pytest.approx(stats.binom(n, expit(eta)).logpmf(k) - coefficient, rel=1e-7)
    with pm.do(graph, {"x": np.array(0.0)}):
        drawn = pm.draw(pm.do(graph, {"x": np.array(0.0)})["k"], draws=4000, random_seed=1, **NO_LINKER)
    assert drawn.dtype == np.int64
    p = expit(eta)
    error = np.sqrt(n * p * (1 - p) / 4000)
    assert (np.abs(drawn.mean(axis=0) - n * p) <= 5 * error + 1e-12).all()
    assert drawn.var(axis=0)[1:3] == pytest.approx((n * p * (1 - p))[1:3], rel=0.15)


@cases("n_groups", [0, 1])
def test_single_group_has_no_effect_and_keeps_its_scale(n_groups: int) -> None:
    with pm.Model(coords={"group": list("ab")[:n_groups]}) as graph:
        effect = group_effect("group", Prior("HalfNormal", (1.0,)), "group", centered=True)
    assert effect.eval(mode="FAST_COMPILE").tolist() == [0.0] * n_groups
    assert [v.name for v in graph.free_RVs] == ["sigma_group"]
    assert graph.named_vars_to_dims["group_effect"] == ("group",)


def test_scale_without_a_symmetric_prior_is_sampled_itself() -> None:
    with pm.Model(coords={"group": list("abc")}) as graph:
        group_effect("group", Prior("Exponential", (2.0,)), "group", centered=False)
    assert [v.name for v in graph.free_RVs] == ["sigma_group", "standard_group"]
