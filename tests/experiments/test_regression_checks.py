"""A regression clustered by organization beside the posterior."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.special import expit

from bayespool.experiments import compare_regression, load_example
from bayespool.experiments.regression_checks import INTERCEPT, SHARE, marginal_terms, regress
from bayespool.models import MODELS, LinearEvidence


def made_up(n_organizations: int, slope: float, spread: float, seed: int = 1) -> LinearEvidence:
    """Documents of organizations with effects of a standard deviation, and one predictor."""
    rng = np.random.default_rng(seed)
    n_topics, each = 10, 4
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
    (intercept, share), lower, upper = regress(evidence, "independence", 0.95)
    mean = relevant.sum() / 160
    assert share == pytest.approx(mean)
    assert intercept == pytest.approx(np.log(mean / (1 - mean)))
    error = np.sqrt(4 / 3 * ((relevant - 40 * mean) ** 2).sum()) / 160
    assert (upper - lower)[1] == pytest.approx(2 * 3.182446 * error)  # t with three degrees of freedom
    assert (upper - lower)[0] == pytest.approx(2 * 3.182446 * error / (mean * (1 - mean)))


def test_rows_of_several_documents_are_those_documents() -> None:
    evidence = made_up(6, 1.0, 0.5)
    same = dataclasses.replace(evidence, predictors=np.round(evidence.predictors))
    keys = np.column_stack([same.organization, same.predictors[:, 0]])
    rows, row = np.unique(keys, axis=0, return_inverse=True)
    row = row.reshape(-1)
    grouped = dataclasses.replace(
        same,
        run=rows[:, 0].astype(int),
        topic=np.zeros(len(rows), dtype=int),
        organization=rows[:, 0].astype(int),
        predictors=rows[:, 1:],
        n_hidden=np.bincount(row),
        n_hidden_relevant=np.bincount(row, same.n_hidden_relevant).astype(int),
    )
    for correlation in ("independence", "exchangeable"):
        for one, other in zip(
            regress(same, correlation, 0.9), regress(grouped, correlation, 0.9), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-6)


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
    estimate, lower, upper = regress(evidence, "independence", 0.99)
    assert ((lower < implied) & (implied < upper)).all(), (estimate, implied)
    assert (
        0.55 < implied[1] < 0.7
    )  # 0.8 / √(1 + (16√3 / 15π)² · 1.44) = 0.654 of Zeger, Liang & Albert (1988)
    assert (upper - lower).max() < 0.45


def test_estimates_stand_beside_the_posteriors() -> None:
    found = compare_regression(load_example(), models=["background", "ratio"], draws=100)
    frame = found.to_frame()
    assert frame["term"].tolist() == [
        *(INTERCEPT, SHARE),
        *(INTERCEPT, "precision", "run_precision", SHARE),
    ]
    relevant, n = 63, 614
    shares = frame[frame["term"] == SHARE]
    assert shares["regression"].tolist() == pytest.approx([relevant / n] * 2)
    assert (frame["overlaps"] == "yes").all()
    assert found.summary() == ("The intervals of regression and posterior overlap for 6 of 6 terms.",)
    assert "liang-zeger-1986" in [citation.key for citation in found.citations()]
    slopes, shares_read = found.read()
    # slopes have signs, and shares none
    of_slopes = [cell for row in slopes.rows for cell in row if " to " in cell]
    assert len(of_slopes) == 8
    assert all(cell[0] in "+-" for cell in of_slopes)
    assert all("–" in cell and cell[0] == "0" for row in shares_read.rows for cell in row[4::2])
    assert found.notes() == ("8 organizations: robust errors of so few clusters tend to be too small",)


def test_more_coefficients_than_organizations_have_no_interval() -> None:
    found = compare_regression(load_example(), models=["evidence"], draws=100)
    frame = found.to_frame()
    assert frame[["regression_lower", "regression_upper"]].isna().all(axis=None)
    assert frame[["posterior_lower", "posterior_upper"]].notna().all(axis=None)
    assert set(frame["overlaps"]) == {""}
    assert "evidence: no intervals of the regression" in found.notes()[1]
