r"""Does a method without priors and effects find the same? Estimating equations beside the posterior.

    python -m research.checks.regression --models ratio,background [--correlation exchangeable]

A logistic regression of the relevance of hidden documents on the predictors of a model, by statsmodels, with
robust errors for clusters of organizations (Liang & Zeger 1986). Its slopes are over all organizations and
topics, those of a model are of one. Each posterior draw is therefore turned into the same numbers: with η the
log odds of a row and s² the variance of the effects of a new organization there, its chance is
E logit⁻¹(η + s·z), z standard normal, and these chances are regressed on the predictors, which is the
estimating equation with an independence working correlation.

K.-Y. Liang and S. L. Zeger (1986). Longitudinal data analysis using generalized linear models. Biometrika 73,
13–22.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.special import expit
from scipy.stats import t

from bayespool import Collection, load_example, parse_measure, read_collection
from bayespool.inference import Laplace
from bayespool.models import MODEL_NAMES, Evidence, LinearEvidence, ModelSpec
from bayespool.posterior import ScoringProblem

INTERCEPT, SHARE = "intercept", "share relevant"
CI_PROB = 0.95
N_DRAWS = 400  # each is a regression of its own
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
STRUCTURES = {"independence": sm.cov_struct.Independence, "exchangeable": sm.cov_struct.Exchangeable}


def compare_regression(
    collection: Collection,
    models: Sequence[str] = MODEL_NAMES,
    measure: str = "P@10",
    correlation: str = "independence",
    seed: int = 1,
) -> pd.DataFrame:
    """Estimate each term by the regression and by the posterior, a row per model and term.

    With no more organizations than coefficients the regression has no interval.
    """
    problem, rows = ScoringProblem(collection, (), parse_measure(measure), "pooled"), []
    for model in models:
        prepared = problem.prepare(model, {})
        evidence = prepared.evidence
        draws = Laplace(draws=N_DRAWS).fit(prepared.spec, evidence, seed, known=()).draws()
        implied = marginal_terms(prepared.spec, evidence, draws, np.random.default_rng([seed, 1]))
        estimate, lower, upper = regress(evidence, correlation)
        ends = np.quantile(implied, [(1 - CI_PROB) / 2, (1 + CI_PROB) / 2], axis=0)
        names = evidence.predictor_names if isinstance(evidence, LinearEvidence) else ()
        columns = {
            "model": model,
            "term": [INTERCEPT, *names, SHARE],
            "regression": estimate,
            "regression_lower": lower,
            "regression_upper": upper,
            "posterior": implied.mean(axis=0),
            "posterior_lower": ends[0],
            "posterior_upper": ends[1],
            "overlaps": (lower <= ends[1]) & (ends[0] <= upper),
        }
        rows.append(pd.DataFrame(columns))
    return pd.concat(rows, ignore_index=True)


def regress(
    evidence: Evidence, correlation: str = "independence", ci_prob: float = CI_PROB
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate each term and its interval by estimating equations, each of shape (term,).

    Intervals are those of Student's t with one degree of freedom less than organizations, and the covariance
    is enlarged by J/(J − 1).
    """
    n, relevant, organization, x = *_counts(evidence), _design(evidence)
    n_clusters = len(np.unique(organization[n > 0]))
    row = np.repeat(np.arange(len(n)), n)  # a document each
    is_relevant = np.arange(n.sum()) - (np.cumsum(n) - n)[row] < relevant[row]
    order = np.argsort(organization[row], kind="stable")
    fit = sm.GEE(
        is_relevant[order].astype(float),
        x[row][order],
        groups=organization[row][order],
        family=sm.families.Binomial(),
        cov_struct=STRUCTURES[correlation](),
    ).fit()
    covariance = fit.cov_robust * n_clusters / (n_clusters - 1)
    p = expit(x @ fit.params)
    of_share = (n * p * (1 - p)) @ x / n.sum()  # how the share changes with each coefficient
    estimate = np.append(fit.params, n @ p / n.sum())
    error = np.sqrt(np.append(np.diag(covariance), of_share @ covariance @ of_share))
    reach = t(n_clusters - 1).ppf((1 + ci_prob) / 2) * error
    if n_clusters <= x.shape[1]:  # the robust covariance has no full rank
        reach = np.full_like(error, np.nan)
    return estimate, estimate - reach, estimate + reach


def marginal_terms(
    spec: ModelSpec, evidence: Evidence, draws: Mapping[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Compute the terms that each draw implies for organizations at large, shape (draw, term)."""
    log_odds, x, n = spec.log_odds_of_rows(evidence, draws), _design(evidence), evidence.n_hidden
    sigma = draws["sigma_organization"]
    # effects of these organizations sum to zero, so that the mean over all differs from theirs
    off = sigma / np.sqrt(max(1, len(evidence.organizations))) * rng.standard_normal(len(sigma))
    variance = np.repeat(sigma[:, None] ** 2, len(n), axis=1)
    if "sigma_interaction" in draws:
        variance += draws["sigma_interaction"][:, None] ** 2
    if "sigma_slope" in draws:
        variance += draws["sigma_slope"][:, None] ** 2 * (x[:, 1:] ** 2).sum(axis=1)
    terms = np.empty((len(sigma), x.shape[1] + 1))
    for i, (eta, scale) in enumerate(zip(log_odds + off[:, None], np.sqrt(variance), strict=True)):
        p = expit(eta[:, None] + scale[:, None] * NODES) @ WEIGHTS / WEIGHTS.sum()
        projection = sm.GLM(p, x, family=sm.families.Binomial(), freq_weights=n).fit()
        terms[i] = [*projection.params, n @ p / n.sum()]
    return terms


def _counts(evidence: Evidence) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    linear = isinstance(evidence, LinearEvidence)
    organization = evidence.organization if linear else evidence.hidden_organization
    return evidence.n_hidden, evidence.n_hidden_relevant, organization


def _design(evidence: Evidence) -> np.ndarray:
    ones = np.ones((len(evidence.n_hidden), 1))
    return np.hstack([ones, evidence.predictors]) if isinstance(evidence, LinearEvidence) else ones


def main() -> None:
    """Compare regression and posterior, and print how many intervals overlap."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("qrels", "pool", "organizations"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--models", default=",".join(MODEL_NAMES))
    parser.add_argument("--measure", default="P@10")
    parser.add_argument("--correlation", default="independence", choices=list(STRUCTURES))
    asked = parser.parse_args()
    collection = load_example()
    if asked.qrels:
        collection = read_collection(asked.qrels, pool=asked.pool, organizations=asked.organizations)
    frame = compare_regression(collection, asked.models.split(","), asked.measure, asked.correlation)
    print(frame.round(3).to_string(index=False))
    known = frame["regression_lower"].notna()
    print(f"The intervals overlap for {frame.loc[known, 'overlaps'].sum()} of {known.sum()} terms.")


if __name__ == "__main__":
    main()
