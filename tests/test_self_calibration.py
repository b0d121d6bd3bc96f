"""Each model against its own generative process (simulation-based calibration, Talts et al. 2018).

Parameters are drawn from the priors, counts from the parameters, and the model is fitted to the counts. If
the graph, the sampler, the log odds of a run to score and the effect of its new organization all say the
same, the rank of each true value among the posterior draws is uniform.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from bayespool import models
from bayespool.errors import DiagnosticsWarning
from bayespool.inference import NUTS
from bayespool.models import ModelEvidence, Prior
from bayespool.posterior import impute, new_organization_effect

N_TOPICS, N_ORGANIZATIONS, N_UNJUDGED = 6, 5, 4
FALSE_ALARM = 1e-4  # of all checks of a model together

# Narrower than the package's, so that few simulations are extreme enough to trouble a sampler.
PRIORS = {
    "mu": Prior("Normal", (-1.0, 0.8)),
    "a": Prior("Normal", (-0.3, 0.8)),
    "c": Prior("Beta", (4.0, 4.0)),
    "sigma": Prior("HalfNormal", (0.7,)),
}
EFFECTS = {
    "background": {"topic": N_TOPICS, "organization": N_ORGANIZATIONS},
    "interpolated": {"topic": N_TOPICS, "run": N_ORGANIZATIONS + 1, "organization": N_ORGANIZATIONS},
}
EFFECTS["smoothed"] = EFFECTS["interpolated"] | {"background": N_TOPICS}
SCALARS = {"background": ("mu",), "interpolated": ("a", "c"), "smoothed": ("a", "c", "mu")}


@dataclass(frozen=True)
class Simulated:
    """A draw of everything, and the evidence that it leaves."""

    truth: dict[str, np.ndarray]
    evidence: ModelEvidence
    n_new_relevant: int


def design(n_judged: int) -> ModelEvidence:
    """One run for each organization and one to score, each with something on every topic; counts are zero."""
    run, topic = (index.ravel() for index in np.indices((N_ORGANIZATIONS, N_TOPICS)))
    judged_run, judged_topic = (index.ravel() for index in np.indices((N_ORGANIZATIONS + 1, N_TOPICS)))
    n_hidden = 2 + (run + topic) % 4
    return ModelEvidence(
        query_ids=tuple(f"q{t}" for t in range(N_TOPICS)),
        organizations=tuple(f"o{o}" for o in range(N_ORGANIZATIONS)),
        run_ids=(*(f"r{r}" for r in range(N_ORGANIZATIONS)), "new"),
        n_pooled_runs=N_ORGANIZATIONS,
        hidden_topic=topic,
        hidden_organization=run,
        hidden_run=run,
        n_hidden=n_hidden,
        n_hidden_relevant=np.zeros_like(n_hidden),
        hidden_residual=n_hidden / 10,
        judged_topic=judged_topic,
        judged_run=judged_run,
        n_judged=np.full(len(judged_run), n_judged),
        n_relevant=np.zeros_like(judged_run),
    )


def simulate(model: str, empty: ModelEvidence, rng: np.random.Generator) -> Simulated:
    """The models' page, read as a recipe."""
    prior = {
        "mu": lambda: rng.normal(*PRIORS["mu"].args),
        "a": lambda: rng.normal(*PRIORS["a"].args),
        "c": lambda: rng.beta(*PRIORS["c"].args),
    }
    v: dict[str, np.ndarray] = {name: np.array(prior[name]()) for name in SCALARS[model]}
    for name, size in EFFECTS[model].items():
        sigma = abs(rng.normal(scale=PRIORS["sigma"].args[0]))
        effect = rng.normal(scale=sigma, size=size)
        v[f"sigma_{name}"], v[f"{name}_effect"] = np.array(sigma), effect - effect.mean()
    # The intercept is the mean over these organizations, which is off the population's by as much as their
    # mean: the new one differs from it by its own effect and by that.
    new_effect = rng.normal(scale=v["sigma_organization"] * np.sqrt(1 + 1 / N_ORGANIZATIONS))

    def chance(
        run: np.ndarray, topic: np.ndarray, residual: np.ndarray, organization: np.ndarray
    ) -> np.ndarray:
        if model == "background":
            return expit(v["mu"] + v["topic_effect"][topic] + organization)
        p = v["c"] * expit(v["a"] + v["topic_effect"][topic] + v["run_effect"][run])
        if model == "smoothed":
            p = (1 - residual) * p + residual * expit(v["mu"] + v["background_effect"][topic])
        return expit(logit(p) + organization)

    e = empty
    p_hidden = chance(
        e.hidden_run, e.hidden_topic, e.hidden_residual, v["organization_effect"][e.hidden_organization]
    )
    counts = {"n_hidden_relevant": rng.binomial(e.n_hidden, p_hidden)}
    if model != "background":
        precision = expit(v["a"] + v["topic_effect"][e.judged_topic] + v["run_effect"][e.judged_run])
        counts["n_relevant"] = rng.binomial(e.n_judged, precision)
    topics = np.arange(N_TOPICS)
    p_new = chance(np.full(N_TOPICS, N_ORGANIZATIONS), topics, new_residual()[0], new_effect)
    n_new_relevant = int(rng.binomial(N_UNJUDGED, p_new).sum())
    return Simulated(v, dataclasses.replace(empty, **counts), n_new_relevant)


def new_residual() -> np.ndarray:
    return np.full((1, N_TOPICS), N_UNJUDGED / 10)


def new_relevant(
    model: str, draws: dict[str, np.ndarray], rng: np.random.Generator, *, shift: float = 0.0
) -> np.ndarray:
    """Draws of the number of relevant documents among the new run's unjudged ones."""
    log_odds = getattr(models, f"{model}_log_odds")(draws, np.array([N_ORGANIZATIONS]), new_residual())
    effect = new_organization_effect(draws["sigma_organization"], N_ORGANIZATIONS, np.zeros(1), rng)
    topic = np.repeat(np.arange(N_TOPICS), N_UNJUDGED)
    documents = (np.zeros_like(topic), topic, np.arange(len(topic), dtype=np.int32))
    nothing = np.zeros((1, N_TOPICS), dtype=np.int32)
    found: np.ndarray = impute(nothing, documents, log_odds + effect[:, :, None] + shift, rng).sum(
        axis=(1, 2)
    )
    return found


def position(draws: np.ndarray, value: float, rng: np.random.Generator) -> float:
    """Share of the draws below a value, a random share of ties included: uniform if both are of one kind."""
    rank = (draws < value).sum() + rng.integers((draws == value).sum() + 1)
    return float((rank + rng.random()) / (len(draws) + 1))


def p_values(positions: dict[str, list[float]]) -> dict[str, float]:
    """Smaller p-value of two tests of uniformity, chi-squared and Kolmogorov-Smirnov, for each quantity."""
    found = {}
    for name, values in positions.items():
        classes = np.bincount((np.array(values) * 10).astype(int), minlength=10)
        found[name] = min(stats.chisquare(classes).pvalue, stats.kstest(values, stats.uniform.cdf).pvalue)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "n_judged"),
    [("background", 4), ("interpolated", 6), ("smoothed", 2)],  # few judged documents: non-centred effects
)
def test_true_values_rank_uniformly_among_draws(
    model: str, n_judged: int, repetitions: Callable[[int, int], int]
) -> None:
    empty = design(n_judged)
    assert empty.much_judged == (model != "smoothed")
    scales = [f"sigma_{name}" for name in EFFECTS[model]]
    priors = {n: PRIORS[n] for n in SCALARS[model]} | dict.fromkeys(scales, PRIORS["sigma"])
    graph = getattr(models, model)(empty, **priors)
    compiled = NUTS(draws=600, tune=500, chains=1, target_accept=0.95).compile(graph)
    positions: dict[str, list[float]] = {}
    spoiled: dict[str, list[float]] = {}
    for repetition in range(repetitions(480, 120)):
        rng = np.random.default_rng([17, repetition])
        simulated = simulate(model, empty, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticsWarning)
            fit = compiled.sample(random_seed=repetition, data=simulated.evidence.arrays())
        draws = {name: values[::6] for name, values in fit.draws().items()}  # nearly independent
        for name, value in simulated.truth.items():
            first = draws[name] if value.ndim == 0 else draws[name][:, 0]
            true = float(value) if value.ndim == 0 else float(value[0])
            positions.setdefault(name, []).append(position(first, true, rng))
        new = new_relevant(model, draws, rng)
        positions.setdefault("new run", []).append(position(new, simulated.n_new_relevant, rng))
        for shift in (-1.0, 1.0):
            drawn = new_relevant(model, draws, rng, shift=shift)
            spoiled.setdefault(f"log odds {shift:+g}", []).append(
                position(drawn, simulated.n_new_relevant, rng)
            )
    found = p_values(positions)
    assert min(found.values()) > FALSE_ALARM / (2 * len(found)), found
    assert max(p_values(spoiled).values()) < FALSE_ALARM, "the check does not see a wrong chance"
