"""Simulation-based calibration: do fits to simulated judgments know what they were simulated from?

    python -m research.checks.simulation --models ratio,evidence --engine nuts --simulations 300 --output sbc
    python -m research.checks.simulation --new-kind --simulations 600

Parameters are drawn from the priors and judgments of hidden documents from these; a model is fitted to the
judgments, and each true value is ranked among the draws. If the simulating structure, the fitted graph or
structure, the engine and the function that predicts a new run agree, ranks are uniform. 200 simulations show
shifts of a quarter of a standard deviation, 1,000 of a tenth.

S. Talts, M. Betancourt, D. Simpson, A. Vehtari and A. Gelman (2018). Validating Bayesian inference algorithms
with simulation-based calibration. arXiv 1804.06788.

M. Modrák et al. (2025). Simulation-based calibration checking for Bayesian computation: the choice of test
quantities shapes sensitivity. Bayesian Analysis 20(2), 461–488.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from statsmodels.stats.multitest import multipletests

from bayespool.collection import Collection
from bayespool.errors import DiagnosticsWarning
from bayespool.experiments import SimulationSettings, simulate
from bayespool.inference import ENGINES, NUTS, Engine, Fit, Laplace
from bayespool.measures import parse_measure
from bayespool.models import MODEL_NAMES, Evidence, LinearEvidence, ModelSpec, Structure, draw_priors
from bayespool.plots import figure_grid
from bayespool.posterior import (
    Completion,
    PreparedModel,
    ScoringProblem,
    Threshold,
    distance_from_pool,
    fit_prepared,
    new_interaction,
    new_organization_effect,
    new_slope_effect,
    new_slopes,
    stretch_with_few,
    with_kinds,
)
from research.checks.uniformity import ecdf_band, randomized_rank, uniformity_p_value

DESIGN = SimulationSettings(
    n_topics=8, n_candidates=60, n_organizations=6, max_runs=1, n_new=0, pool_depth=10, run_depth=60
)
"""A pool small enough for hundreds of fits: 8 topics, 6 organizations of one run each."""

DESIGN_OF_KINDS = dataclasses.replace(DESIGN, n_organizations=8, n_new=1)
"""A pool of eight organizations, and a run to score, of a new kind with a chance of .58 (seed 5)."""

KINDS = {"sigma_slope": "HalfNormal(1)"}  # the prior of posterior-combined where kinds are held out
N_DRAWS = 99
DRAWS_PER_RANK = 6  # a chain keeps every sixth draw, so that the kept ones are nearly independent
Simulation = Callable[[np.random.Generator], tuple[dict[str, int], list[Fit]]]


@dataclasses.dataclass(frozen=True)
class Calibration:
    """Ranks of true values among the draws of a model, shape (simulation, quantity), from 0 to N_DRAWS."""

    model: str
    quantities: tuple[str, ...]
    ranks: np.ndarray
    n_failed_fits: int


def engine_of(name: str) -> Engine:
    """Make an engine with as many draws as ranks need."""
    if name == "nuts":
        return NUTS(draws=N_DRAWS * DRAWS_PER_RANK, tune=500, chains=1, target_accept=0.95)
    return Laplace(draws=N_DRAWS) if name == "laplace" else ENGINES[name](draws=N_DRAWS)


def self_calibrate(
    model: str | ModelSpec,
    n_simulations: int,
    *,
    engine: str | Engine = "laplace",
    collection: Collection | None = None,
    measure: str = "P@10",
    rung: Threshold | None = None,
    fitted_priors: Mapping[str, str] | None = None,
    seed: int = 1,
) -> Calibration:
    """Calibrate a model on the design of a pool, whose relevance is not used.

    ``fitted_priors`` are wrong ones, to see that the check notices. ``new_run`` is the number of relevant
    documents of the last organization, which the fit has not seen.
    """
    collection = collection or simulate(DESIGN, random_seed=7).collection
    problem = ScoringProblem(collection, (), parse_measure(measure), "pooled", asked_threshold=rung)
    prepared, fitted = problem.prepare(model, {}), problem.prepare(model, fitted_priors or {})
    process, fit = _Process(prepared), _fit_with(engine)

    def simulate_once(rng: np.random.Generator) -> tuple[dict[str, int], list[Fit]]:
        truth, evidence = process.simulate(rng)
        found = fit(fitted, evidence, int(rng.integers(2**31)))
        draws = {name: values[:: len(values) // N_DRAWS] for name, values in found.draws().items()}
        posterior = process.quantities(draws, evidence, rng)
        return {q: randomized_rank(posterior[q], truth[q], rng) for q in truth}, [found]

    return _repeat(prepared.model, simulate_once, n_simulations, seed)


def self_calibrate_kinds(
    model: str,
    n_simulations: int,
    *,
    engine: str | Engine = "laplace",
    priors_of_kinds: Mapping[str, str] = KINDS,
    fitted_chance: float | None = None,
    seed: int = 1,
) -> Calibration:
    """Calibrate the score of the first run outside the pool, which is of a new kind with a known chance.

    Two sets of parameters are drawn, one for what organizations hide and one for what kinds hide. The run's
    unjudged documents follow the second with its chance. Both sets of hidden documents are fitted, and the
    number of relevant ones among the run's is ranked among the draws of the completion, computed as in
    ``posterior-combined``, but of one model of documents, since weights of several are no posterior.
    """
    collection = simulate(DESIGN_OF_KINDS, random_seed=5).collection
    runs, rung = collection.unpooled_run_ids[:1], Threshold(0, 1)
    problem = ScoringProblem(collection, runs, parse_measure("P@10"), "complete", asked_threshold=rung)
    of_kinds = dataclasses.replace(problem, collection=with_kinds(collection))
    chance = distance_from_pool(collection, runs, rel=rung.rel).new_kind
    usual, others = problem.prepare(model, {}), of_kinds.prepare(model, priors_of_kinds)
    used = chance if fitted_chance is None else np.full(len(chance), fitted_chance)
    engine = engine_of(engine) if isinstance(engine, str) else engine

    def simulate_once(rng: np.random.Generator) -> tuple[dict[str, int], list[Fit]]:
        (of_usual, n_usual), (of_others, n_new) = (_with_run(p, problem, rng) for p in (usual, others))
        truth, seed_of_fit = n_new if rng.random() < chance[0] else n_usual, int(rng.integers(2**31))
        n_draws = engine.draws
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticsWarning)
            posterior, _ = fit_prepared(
                (problem, {model: of_usual}),
                (of_kinds, {model: of_others}),
                engine,
                n_draws,
                seed_of_fit,
                new_kind=used,
            )
        known = np.full(len(problem.unknowns), -1, dtype=np.int16)
        completion = Completion(problem.unknowns, n_draws, (posterior,), (rung,), known, {}, seed_of_fit)
        draws = sum(completion.block(topic).sum(axis=1) for topic in range(len(collection.query_ids)))
        thinned = np.asarray(draws)[:: n_draws // N_DRAWS]
        fits = [component.fit for component in posterior.components]
        return {"new_run": randomized_rank(thinned, truth, rng)}, fits

    return _repeat(model, simulate_once, n_simulations, seed)


def _repeat(model: str, simulate_once: Simulation, n_simulations: int, seed: int) -> Calibration:
    ranks, n_failed = [], 0
    for s in range(n_simulations):
        of_quantities, fits = simulate_once(np.random.default_rng([seed, s]))
        ranks.append(of_quantities)
        n_failed += any(_has_failed(fit) for fit in fits)
    frame = pd.DataFrame(ranks)
    return Calibration(model, tuple(frame), frame.to_numpy(), n_failed)


def _fit_with(engine: str | Engine) -> Callable[[PreparedModel, Evidence, int], Fit]:
    made = engine_of(engine) if isinstance(engine, str) else engine

    def fit(prepared: PreparedModel, evidence: Evidence, seed: int) -> Fit:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticsWarning)
            return made.fit(prepared.spec, evidence, seed)

    return fit


def _has_failed(fit: Fit) -> bool:
    """Say whether a sampler diverged, whose few draws fail other checks anyway, or another engine failed."""
    found = fit.diagnostics
    if found.engine == "nuts":
        return found.n_divergences > 0
    return any("one chain" not in problem for problem in found.problems)


class _Process:
    """Generative process of a model: parameters, counts, and a run of a new organization."""

    def __init__(self, prepared: PreparedModel) -> None:
        evidence = self.evidence = prepared.evidence
        self.prepared, self.n_seen = prepared, len(evidence.organizations) - 1
        linear = isinstance(evidence, LinearEvidence)
        organization = evidence.organization if linear else evidence.hidden_organization
        self.topic = evidence.topic if linear else evidence.hidden_topic
        self.new = np.flatnonzero(organization == self.n_seen)
        if self.n_seen < 2 or not len(self.new):
            raise SystemExit("simulation needs a pool of three organizations with hidden documents each")
        self.seen = np.arange(self.n_seen + 1) < self.n_seen

    def simulate(self, rng: np.random.Generator) -> tuple[dict[str, float], Evidence]:
        """Draw true values of the quantities, and the evidence of the seen organizations."""
        truth, simulated = simulate_counts(self.prepared, self.evidence, self.seen, rng)
        seen = simulated.select_organizations(self.seen)
        values = {name: float(v[0]) for name, v in self.parameters(truth, seen).items()}
        return values | {"new_run": float(simulated.n_hidden_relevant[self.new].sum())}, seen

    def quantities(
        self, draws: Mapping[str, np.ndarray], seen: Evidence, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Draw the quantities, each of shape (draw,)."""
        evidence, new, whose = self.evidence, self.new, np.zeros(len(self.new), dtype=np.int64)
        effect = new_organization_effect(draws["sigma_organization"], self.n_seen, np.zeros(1), rng)
        if "sigma_interaction" in draws:
            effect = effect + new_interaction(draws["sigma_interaction"], self.topic[new], rng)
        if "sigma_slope" in draws:
            effect = effect + new_slope_effect(draws["sigma_slope"], evidence.predictors[new], whose, rng)
        log_odds = self.prepared.spec.log_odds_of_rows(evidence, draws, new) + effect
        relevant = rng.binomial(evidence.n_hidden[new], expit(log_odds)).sum(axis=1)
        return self.parameters(draws, seen) | {"new_run": relevant.astype(float)}

    def parameters(self, draws: Mapping[str, np.ndarray], seen: Evidence) -> dict[str, np.ndarray]:
        structure = self.prepared.structure(seen)
        values: dict[str, np.ndarray] = {}
        for name, coefficient in structure.coefficients.items():
            if coefficient.size is None:
                values[name] = draws[name]
            else:
                labels = seen.coords.get(coefficient.dim or "", range(coefficient.size))
                values |= {f"{name}[{label}]": draws[name][:, i] for i, label in enumerate(labels)}
        for name, group in structure.groups.items():
            if group.size > 1 or group.is_slope:
                values[f"sigma_{name}"] = draws[f"sigma_{name}"]
                values[f"{name}_effect[0]"] = draws[f"{name}_effect"][:, 0]
        likelihood = np.zeros(1)
        for block in structure.blocks:
            eta = block_log_odds(structure, block, draws)
            likelihood = likelihood + eta @ block.successes - np.logaddexp(0, eta) @ block.trials
        return values | {"log_likelihood": likelihood}


def block_log_odds(structure: Structure, block: Any, draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return log odds for the observations in a block, shape (draw, observation).

    ``draws`` have shape (draw, ...); missing effects are zero.
    """
    predictors = []
    for predictor in block.predictors:
        z = np.zeros((1, len(block.successes)))
        for name, values in predictor.coefficients.items():
            coefficient = structure.coefficients[name]
            x = np.log(draws[name]) - np.log1p(-draws[name]) if coefficient.logit else draws[name]
            z = z + (x[:, None] * values if coefficient.size is None else x @ values.T)
        for name, index in predictor.groups.items():
            if f"{name}_effect" in draws:
                z = z + draws[f"{name}_effect"][:, index]
        varying = predictor.varying
        if varying is not None and f"{varying.name}_effect" in draws:
            x = predictor.coefficients[varying.coefficient]
            own = draws[f"{varying.name}_effect"]
            slopes = own.reshape(len(own), -1, x.shape[1])[:, varying.group]
            z = z + np.einsum("dik,ik->di", slopes, x)
        predictors.append(z)
    return predictors[0] if block.link is None else block.link.log_odds(predictors)


def simulate_counts(
    prepared: PreparedModel,
    evidence: Evidence,
    seen: np.ndarray,
    rng: np.random.Generator,
    stretch: float = 1.0,
) -> tuple[dict[str, np.ndarray], Evidence]:
    """Draw parameters from the priors, with effects of the seen organizations alone, and relevant documents.

    The last organization is new: its effects are the population's, the one on all topics ``stretch`` times
    as large.
    """
    truth = draw_priors(prepared.structure(evidence.select_organizations(seen)), 1, rng)
    # the intercept is a mean over the seen organizations, itself off the population's
    new_effect = rng.normal(scale=stretch * truth["sigma_organization"] * np.sqrt(1 + 1 / seen.sum()))
    new = {"organization_effect": new_effect[None]}
    if "sigma_interaction" in truth:
        n_topics = len(evidence.query_ids)
        new["interaction_effect"] = truth["sigma_interaction"][:, None] * rng.normal(size=(1, n_topics))
    if "sigma_slope" in truth and isinstance(evidence, LinearEvidence):
        new["slope_effect"] = new_slopes(truth["sigma_slope"], 1, len(evidence.predictor_names), rng)[:, 0]
    effects = {name: np.append(truth[name], own, axis=1) for name, own in new.items()}
    structure, counts = prepared.structure(evidence), dict[str, Any]()
    names = ["n_hidden_relevant"] if len(structure.blocks) == 1 else ["n_relevant", "n_hidden_relevant"]
    for name, block in zip(names, structure.blocks, strict=True):
        p = expit(block_log_odds(structure, block, truth | effects)[0])
        counts[name] = rng.binomial(block.trials, p)
    return truth, dataclasses.replace(evidence, **counts)


def _with_run(
    prepared: PreparedModel, problem: ScoringProblem, rng: np.random.Generator
) -> tuple[PreparedModel, float]:
    """Simulate evidence, and the number of relevant documents of the run, which is of a new organization."""
    evidence = prepared.evidence
    if not isinstance(evidence, LinearEvidence) or prepared.predictors is None:
        raise SystemExit(f"{prepared.model} is no model of documents, such as ratio")
    unknowns, n_seen = problem.unknowns, len(evidence.organizations)
    n = len(unknowns)
    more = {
        "run": unknowns.run_index[unknowns.run],
        "topic": unknowns.topic,
        "organization": np.full(n, n_seen),
        "predictors": prepared.predictors,
        "n_hidden": np.ones(n, dtype=np.int64),
        "n_hidden_relevant": np.zeros(n, dtype=np.int64),
    }
    joined = {name: np.concatenate([getattr(evidence, name), rows]) for name, rows in more.items()}
    whole = dataclasses.replace(evidence, organizations=(*evidence.organizations, "new"), **joined)
    few, seed = prepared.spec.effects["organization"].few, int(rng.integers(2**32))
    stretch = float(
        stretch_with_few(few, problem.n_unjudged, evidence.n_hidden_by_organization, 1, seed)[0, 0]
    )
    _, simulated = simulate_counts(prepared, whole, np.arange(n_seen + 1) < n_seen, rng, stretch)
    counts, own = np.split(simulated.n_hidden_relevant, [len(evidence.run)])
    evidence = dataclasses.replace(evidence, n_hidden_relevant=counts)
    return dataclasses.replace(prepared, evidence=evidence), float(own.sum())


def table_of(calibrations: list[Calibration], alpha: float = 0.01) -> pd.DataFrame:
    """Test whether ranks are uniform, a row per model and quantity, with Holm's adjustment over all rows.

    ``rank_mean`` is ½ if uniform, lower if draws are too high; ``spread`` over 1 if draws are too narrow.
    """
    n_values = N_DRAWS + 1
    rows = [
        {
            "model": c.model,
            "quantity": quantity,
            "n_simulations": len(ranks),
            "rank_mean": ranks.mean() / N_DRAWS,
            "spread": ranks.std() / np.sqrt((n_values**2 - 1) / 12),
            "p_value": uniformity_p_value(ranks, n_values),
            "n_failed_fits": c.n_failed_fits,
        }
        for c in calibrations
        for quantity, ranks in zip(c.quantities, c.ranks.T, strict=True)
    ]
    frame = pd.DataFrame(rows)
    frame["p_holm"] = multipletests(frame["p_value"], method="holm")[1]
    return frame.assign(uniform=frame["p_holm"] >= alpha)


def draw_ranks(calibration: Calibration) -> Any:
    """Draw the distribution of ranks less the uniform one; gray holds 95 % of calibrated lines."""
    figure, panels = figure_grid(len(calibration.quantities), width=2.9, height=1.9)
    n, expected = len(calibration.ranks), np.arange(1, N_DRAWS + 1) / (N_DRAWS + 1)
    lower, upper = ecdf_band(n, N_DRAWS + 1)
    for panel, quantity, ranks in zip(panels, calibration.quantities, calibration.ranks.T, strict=True):
        share = np.cumsum(np.bincount(ranks, minlength=N_DRAWS + 1))[:-1] / n
        panel.fill_between(expected, lower - expected, upper - expected, color="0.88", lw=0)
        panel.plot(expected, share - expected, lw=1.5)
        panel.set_title(quantity, fontsize="small")
    figure.supxlabel("rank of the true value", fontsize="small")
    figure.supylabel("share of ranks up to it, less the uniform one", fontsize="small")
    return figure


def main() -> None:
    """Calibrate models, print the table, and write it with a figure for each model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", help="comma-separated; default: all, ratio and rankings for new kinds")
    parser.add_argument("--engine", default="laplace", choices=list(ENGINES))
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--new-kind", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    calibrate = self_calibrate_kinds if asked.new_kind else self_calibrate
    models = asked.models.split(",") if asked.models else ["ratio", "rankings"]
    if not asked.models and not asked.new_kind:
        models = list(MODEL_NAMES)
    done = [calibrate(m, asked.simulations, engine=asked.engine, seed=asked.seed) for m in models]
    frame = table_of(done)
    print(frame.round(3).to_string(index=False))
    if asked.output:
        asked.output.mkdir(parents=True, exist_ok=True)
        frame.to_csv(asked.output / "self-calibration.csv", index=False)
        for calibration in done:
            draw_ranks(calibration).savefig(asked.output / f"{calibration.model}.png")


if __name__ == "__main__":
    main()
