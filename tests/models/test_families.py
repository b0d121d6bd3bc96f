"""Families of priors: draws, densities with their derivatives, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import cases
from scipy import stats
from scipy.special import expit

from bayespool.errors import InputError
from bayespool.models import draw_prior, parse_prior
from bayespool.models.priors import log_density_of_coefficient, log_density_of_scale, refuse_no_density


@cases(
    ("text", "reference"),
    [
        ("Beta(2, 2.5)", stats.beta(2, 2.5)),
        ("Cauchy(1, 2)", stats.cauchy(1, 2)),
        ("Exponential(2)", stats.expon(scale=0.5)),
        ("Gamma(3, 2)", stats.gamma(3, scale=0.5)),
        ("HalfCauchy(2)", stats.halfcauchy(scale=2)),
        ("HalfNormal(0.7)", stats.halfnorm(scale=0.7)),
        ("HalfStudentT(4, 2)", stats.foldnorm(0)),  # replaced below
        ("InverseGamma(3, 2)", stats.invgamma(3, scale=2)),
        ("Laplace(1, 2)", stats.laplace(1, 2)),
        ("LogNormal(0.5, 0.4)", stats.lognorm(0.4, scale=np.exp(0.5))),
        ("Logistic(-1, 0.5)", stats.logistic(-1, 0.5)),
        ("Normal(-2.2, 1.5)", stats.norm(-2.2, 1.5)),
        ("StudentT(5, 1, 2)", stats.t(5, 1, 2)),
        ("Uniform(2, 5)", stats.uniform(2, 3)),
    ],
)
def test_draws_follow_the_prior(text: str, reference: Any) -> None:
    draws = draw_prior(parse_prior(text), 4000, np.random.default_rng(1))
    if text.startswith("HalfStudentT"):
        assert draws.min() >= 0
        draws, reference = np.append(draws, -draws) / 2, stats.t(4)
    assert stats.kstest(draws, reference.cdf).pvalue > 1e-4


def test_unknown_prior_is_named() -> None:
    with pytest.raises(InputError, match=r"cannot draw from the prior Kumaraswamy\(1, 1\)"):
        draw_prior(parse_prior("Kumaraswamy(1, 1)"), 3, np.random.default_rng(1))
    with pytest.raises(InputError, match="has 1 parameters, not 2"):
        draw_prior(parse_prior("Normal(1)"), 3, np.random.default_rng(1))


@cases(
    ("text", "shift", "reference"),
    [
        ("Normal(-2.2, 1.5)", 0.0, stats.norm(-2.2, 1.5)),
        ("Logistic(-1, 0.5)", 0.7, stats.logistic(-0.3, 0.5)),
    ],
)
def test_density_of_a_coefficient_is_that_of_the_distribution(
    text: str, shift: float, reference: Any
) -> None:
    x = np.linspace(-4, 3, 9)
    density = log_density_of_coefficient("mu", parse_prior(text), shift=shift)
    off = density(x)[0] - reference.logpdf(x)
    assert off == pytest.approx(np.full(9, off[0]))
    assert_derivatives(density, x)


def test_density_of_a_logit_has_the_jacobian() -> None:
    x = np.linspace(-4, 3, 9)
    density = log_density_of_coefficient("c", parse_prior("Beta(2, 2.5)"), logit=True)
    p = expit(x)
    assert density(x)[0] == pytest.approx(stats.beta(2, 2.5).logpdf(p) + np.log(p * (1 - p)))
    assert_derivatives(density, x)


@cases(
    ("text", "reference"),
    [("HalfNormal(0.7)", stats.halfnorm(scale=0.7)), ("Exponential(2)", stats.expon(scale=0.5))],
)
def test_density_of_a_log_scale_has_the_jacobian(text: str, reference: Any) -> None:
    density, theta = log_density_of_scale("sigma_topic", parse_prior(text)), np.linspace(-3, 1, 5)
    off = [density(t) - reference.logpdf(np.exp(t)) - t for t in theta]
    assert off == pytest.approx([off[0]] * 5)


def assert_derivatives(density: Any, x: np.ndarray) -> None:
    (above, *_), (below, *_) = density(x + 1e-4), density(x - 1e-4)
    value, first, second = density(x)
    assert first == pytest.approx((above - below) / 2e-4, abs=1e-6)
    assert second == pytest.approx((above - 2 * value + below) / 1e-8, abs=1e-5)


@cases(
    ("name", "prior", "engine", "message"),
    [
        ("mu", "Foo(1)", "laplace", r"prior of mu: the laplace engine takes .*, not Foo\(1\)"),
        ("mu", "Foo(1)", "nuts", "prior of mu: PyMC has no continuous distribution 'Foo'"),
        ("mu", "Normal(0, -1)", "laplace", r"prior of mu: Normal\(0, -1\) is not a density"),
        (
            "sigma_topic",
            "Normal(0, 1)",
            "laplace",
            r"prior of sigma_topic: Normal\(0, 1\) reaches below 0, .*; write it like HalfNormal\(1\)",
        ),
        ("sigma_topic", "StudentT(3, 0, 1)", "nuts", "reaches below 0, and a scale does not"),
        ("sigma_topic", "Uniform(-1, 1)", "nuts", "reaches below 0, and a scale does not"),
        ("sigma_topic", "halfnormal(1)", "laplace", "did you mean 'HalfNormal'"),
        ("sigma_topic", "HalfNormal(-1)", "laplace", "is not a density"),
        ("c", "Beta(2, -1)", "laplace", "is not a density"),
    ],
)
def test_what_has_no_density_is_refused_without_a_model(
    name: str, prior: str, engine: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        refuse_no_density(name, parse_prior(prior), engine)


def test_what_has_a_density_is_let_through() -> None:
    for name, prior in (("mu", "Normal(0, 1)"), ("sigma_topic", "HalfNormal(1)"), ("c", "Beta(2, 2.5)")):
        for engine in ("laplace", "nuts"):
            refuse_no_density(name, parse_prior(prior), engine)
    refuse_no_density("mu", parse_prior("SkewNormal(0, 1, 2)"), "nuts")  # which PyMC alone has
