"""Are new organizations calibrated where effects have tails and are alike from rung to rung?

    python benchmarks/shared_effects.py [--simulations 400] [--engine laplace] [--model ratio]

Simulation-based calibration of whole fits (Talts et al. 2018) on two rungs of relevance: parameters,
degrees of freedom and correlation are drawn from their priors, organizations' effects and slopes have
these tails and this correlation, and hidden documents of 12 organizations are relevant accordingly. Fits
take effects as normal and independent; `bayespool.posterior.new_organizations` learns tails and
correlation from their draws. Of a 13th organization the benchmark ranks its effects and the relevant
documents of its run, rung by rung and in sum, among the posterior's draws. It prints the mean of the
ranks (.5 if calibrated), their standard deviation over that of uniform ranks (1; more if draws are too
narrow), the share in the central 95 %, and the p-value of a test of uniform ranks; also for effects drawn
as normal and independent, as fits take them.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.experiments import SimulationSettings, simulate
from bayespool.experiments.grading import uniformity_p_value
from bayespool.experiments.hidden import Fitting, HiddenDocuments, pool_alone, pool_problems
from bayespool.measures import parse_measure
from bayespool.models import LinearEvidence, draw_prior
from bayespool.models.structure import draw_priors
from bayespool.posterior import PreparedModel
from bayespool.posterior.containers import block_log_odds
from bayespool.posterior.new_organizations import NewOrganizations, new_organizations
from bayespool.posterior.steps import scale_of_new

FloatArray = npt.NDArray[np.float64]

DESIGN = SimulationSettings(
    n_topics=10, n_candidates=120, n_organizations=13, max_runs=1, n_new=0, run_depth=60
)
KEPT = 200  # draws that a true value is ranked among


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--engine", default="laplace")
    parser.add_argument("--model", default="ratio")
    asked = parser.parse_args()
    collection = pool_alone(simulate(DESIGN, random_seed=7).collection)
    problems = pool_problems(collection, parse_measure("nDCG@10"))[:2]
    rungs = [problem.prepare(asked.model, {}) for problem in problems]
    last = HiddenDocuments(problems[0]).organizations[-1]
    n_draws = KEPT if asked.engine == "laplace" else 4 * KEPT
    fitting = Fitting(engine=asked.engine, draws=n_draws, tune=500, chains=1)
    ranks: dict[tuple[str, str], list[int]] = {}
    for s in range(asked.simulations):
        rng = np.random.default_rng([3, s])
        truth, simulated = simulated_rungs(rungs, last, rng)
        parts = [seen(evidence, last) for evidence in simulated]
        fits = [
            {v: x[:: n_draws // KEPT] for v, x in fitting.fit(p, e, int(rng.integers(2**31))).draws().items()}
            for p, e in zip(rungs, parts, strict=True)
        ]
        for effects in ("learned", "normal"):
            for name, drawn in predicted(rungs, simulated, parts, fits, last, s, effects, rng).items():
                below = int((drawn < truth[name]).sum())
                ties = int((drawn == truth[name]).sum())
                ranks.setdefault((effects, name), []).append(below + int(rng.integers(ties + 1)))
    print("| effects of new organizations | quantity | mean | spread | in 95 % | p |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for (effects, name), of_name in ranks.items():
        rank = np.array(of_name)
        inside = (rank >= 0.025 * KEPT) & (rank <= 0.975 * KEPT)
        spread = rank.std() / np.sqrt(((KEPT + 1) ** 2 - 1) / 12)
        p = uniformity_p_value(rank, KEPT + 1)
        cells = f"{rank.mean() / KEPT:.3f} | {spread:.2f} | {inside.mean():.1%} | {p:.3f}"
        print(f"| {effects} | {name} | {cells} |")


def seen(evidence: LinearEvidence, last: str) -> LinearEvidence:
    """The evidence without the last organization."""
    return evidence.of_organizations(np.array([name != last for name in evidence.organizations]))


def simulated_rungs(
    rungs: list[PreparedModel], last: str, rng: np.random.Generator
) -> tuple[dict[str, float], list[LinearEvidence]]:
    """True values by quantity, and evidence of each rung with simulated counts."""
    organization = rungs[0].spec.effects["organization"]
    freedom = draw_prior(organization.freedom, 1, rng)[0]
    names = sorted({name for part in rungs for name in part.evidence.organizations})
    stretch = np.sqrt(freedom / rng.chisquare(freedom, len(names)))
    truth, simulated, below = dict[str, float](), [], None
    for k, part in enumerate(rungs, start=1):
        evidence = part.evidence
        assert isinstance(evidence, LinearEvidence)
        n_predictors = len(evidence.predictor_names)
        parameters = draw_priors(part.structure(evidence), 1, rng)
        effects = rng.normal(size=(len(names), 1 + n_predictors))  # of an organization, and its slopes
        if below is not None:
            correlation = draw_prior(organization.correlation, 1, rng)[0]
            effects = correlation * below + np.sqrt(1 - correlation**2) * effects
        below = effects
        there = [names.index(name) for name in evidence.organizations]
        stretched = effects[there] * stretch[there, None]
        is_last = np.array([name == last for name in evidence.organizations])
        own = parameters["sigma_organization"] * stretched[:, 0]
        own -= own[~is_last].mean()  # the intercept is the mean over those seen
        slopes = parameters["sigma_slope"] * stretched[:, 1:]
        drawn = parameters | {"organization_effect": own[None], "slope_effect": slopes.reshape(1, -1)}
        (block,) = part.structure(evidence).blocks
        counts = rng.binomial(block.trials, expit(block_log_odds(part.structure(evidence), block, drawn)[0]))
        simulated.append(dataclasses.replace(evidence, n_hidden_relevant=counts))
        truth[f"effect, rung {k}"] = float(own[is_last][0])
        truth[f"run, rung {k}"] = float(counts[is_last[evidence.organization]].sum())
    truth["both runs"] = truth["run, rung 1"] + truth["run, rung 2"]
    return truth, simulated


def predicted(
    rungs: list[PreparedModel],
    simulated: list[LinearEvidence],
    parts: list[LinearEvidence],
    fits: list[Mapping[str, FloatArray]],
    last: str,
    random_seed: int,
    effects: str,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Draws by quantity of the last organization, given fits to all others."""
    drawn, below = dict[str, FloatArray](), None
    for k, (part, evidence, known, draws) in enumerate(
        zip(rungs, simulated, parts, fits, strict=True), start=1
    ):
        above = () if k == 1 else (k,)
        below = new_organizations(
            part.spec.effects["organization"], draws, known.organizations, random_seed, above, below
        )
        new = below if effects == "learned" else as_fitted(below)
        rows = np.flatnonzero(evidence.organization == evidence.organizations.index(last))
        scale = scale_of_new(draws["sigma_organization"], len(known.organizations))
        effect = new.effects(scale, [last])
        slopes = new.slopes(draws["sigma_slope"], evidence.predictor_names, [last])[:, 0]
        cells = draws["sigma_interaction"][:, None] * rng.normal(size=(len(scale), len(evidence.query_ids)))
        log_odds = part.spec.log_odds_of_rows(evidence, draws, rows) + effect + cells[:, evidence.topic[rows]]
        log_odds += slopes @ evidence.predictors[rows].T
        drawn[f"effect, rung {k}"] = effect[:, 0]
        drawn[f"run, rung {k}"] = (
            rng.binomial(evidence.n_hidden[rows], expit(log_odds)).sum(axis=1).astype(float)
        )
    drawn["both runs"] = drawn["run, rung 1"] + drawn["run, rung 2"]
    return drawn


def as_fitted(new: NewOrganizations) -> NewOrganizations:
    """The same, normal and independent from rung to rung."""
    n = len(new.freedom)
    return dataclasses.replace(new, freedom=np.full(n, 1e6), correlation=np.zeros(n), below=None)


if __name__ == "__main__":
    main()
