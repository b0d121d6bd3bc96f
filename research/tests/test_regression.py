"""A regression clustered by organization beside the posterior."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.special import expit

from bayespool import load_example
from bayespool.models import MODELS, LinearEvidence
from research.checks.regression import SHARE, compare_regression, marginal_terms, regress


def made_up(n_organizations: int, slope: float, spread: float) -> LinearEvidence:
    """Documents of organizations with effects of a standard deviation, and one predictor."""
    rng, n_topics, each = np.random.default_rng(1), 10, 4
    n = n_organizations * n_topics * each
    organization, topic = np.divmod(np.arange(n) // each, n_topics)
    x = rng.normal(size=n)
    effect = spread * rng.normal(size=n_organizations)
    relevant = rng.random(n) < expit(-1 + slope * x + effect[organization])
    return LinearEvidence(
        query_ids=tuple(map(str, range(n_topics))),
        organizations=tuple(f"o{i}" for i in range(n_organizations)),
        predictor_names=("support",),
        run=organization,
        topic=topic,
        organization=organization,
        predictors=x[:, None],
        n_hidden=np.ones(n, dtype=np.int64),
        n_hidden_relevant=relevant.astype(np.int64),
        center=np.zeros(1),
        unit=np.ones(1),
        expected=np.zeros(1),
    )


def test_the_regression_is_that_of_a_textbook() -> None:
    """Independent documents, alone: the share, its log odds, and the error of organizations' totals."""
    evidence = dataclasses.replace(
        made_up(4, 0, 0), predictors=np.zeros((160, 0)), predictor_names=(), expected=np.zeros(0)
    )
    relevant = np.bincount(evidence.organization, evidence.n_hidden_relevant)
    (intercept, share), lower, upper = regress(evidence)
    mean = relevant.sum() / 160
    assert share == pytest.approx(mean)
    assert intercept == pytest.approx(np.log(mean / (1 - mean)))
    error = np.sqrt(4 / 3 * ((relevant - 40 * mean) ** 2).sum()) / 160
    assert (upper - lower)[1] == pytest.approx(2 * 3.182446 * error)  # t with three degrees of freedom
    assert (upper - lower)[0] == pytest.approx(2 * 3.182446 * error / (mean * (1 - mean)))


def test_a_draw_implies_what_the_regression_finds_in_its_documents() -> None:
    """Of many organizations that a draw's effects are simulated for, beyond what chance moves."""
    spread, slope = 1.2, 0.8
    evidence = made_up(400, slope, spread)
    spec = dataclasses.replace(MODELS["ratio"], predictors={"support": (0.0, 1.0)})
    draw = {
        "mu": np.array([-1.0]),
        "beta": np.array([[slope]]),
        "topic_effect": np.zeros((1, 10)),
        "sigma_organization": np.array([spread]),
    }
    (implied,) = marginal_terms(spec, evidence, draw, np.random.default_rng(1))
    _, lower, upper = regress(evidence, ci_prob=0.99)
    assert ((lower < implied) & (implied < upper)).all()
    # 0.8 / √(1 + (16√3 / 15π)² · 1.44) = 0.654 of Zeger, Liang & Albert (1988)
    assert 0.55 < implied[1] < 0.7


def test_estimates_stand_beside_the_posteriors() -> None:
    frame = compare_regression(load_example(), ["background", "ratio", "evidence"])
    assert frame.loc[frame["term"] == SHARE, "regression"].tolist() == pytest.approx([63 / 614] * 3)
    known = frame["model"] != "evidence"  # more coefficients than organizations
    assert frame["regression_lower"].notna().tolist() == known.tolist()
    assert frame.loc[known, "overlaps"].all()
