"""Priors: their texts, draws, densities and variables, and what is refused."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pymc as pm
import pytest
from each import cases
from scipy import stats
from scipy.special import expit

from bayespool.errors import InputError
from bayespool.models import MODELS, draw_prior, parse_prior
from bayespool.models.priors import FAMILIES, coefficient_log_density, refuse_no_density, scale_log_density


@cases(
    ("text", "distribution", "args"),
    [
        *(("Normal(-2.2, 1.5)", "Normal", (-2.2, 1.5)), ("  Beta( 2,2.5 )\n", "Beta", (2.0, 2.5))),
        ("StudentT(3, 0, 1e-3)", "StudentT", (3.0, 0.0, 0.001)),
        *(("Normal()", "Normal", ()), ("Normal(+1, 2)", "Normal", (1.0, 2.0))),
        ("Normal(0, sigma=1)", "Normal", (0.0, 1.0)),
        ("Normal(sigma=1.5, mu=-2)", "Normal", (-2.0, 1.5)),
        ("StudentT(sigma=3, mu=2, nu=1)", "StudentT", (1.0, 2.0, 3.0)),
        ("Exponential(lam=2)", "Exponential", (2.0,)),
    ],
)
def test_text_becomes_a_prior(text: str, distribution: str, args: tuple[float, ...]) -> None:
    prior = parse_prior(text)
    assert (prior.distribution, prior.args) == (distribution, args)
    assert all(isinstance(a, float) for a in prior.args)


def test_text_that_is_no_prior_is_refused() -> None:
    for text in (
        "", "Normal", "Normal(", "Normal(0, 1", "Normal(a, 1)", "Normal(mu=a, sigma=1)", "Normal(**{})(1)",
        "Normal(0, 1)(2)", "pm.Normal(0, 1)", "1 + 1", "Normal(0, 1); Normal(0, 1)", "Normal(*(0, 1))",
        "Normal('zero', 1)", "Normal([0], 1)", "Normal(None, 1)", "Normal(nan, 1)",
        "__import__('os').getcwd()", "Normal(__import__('os'), 1)", "\0",
    ):  # fmt: skip
        with pytest.raises(InputError, match="is not a distribution"):
            parse_prior(text)


@cases(
    ("text", "message"),
    [
        ("Normal(sigma=1)", r"a prior Normal with sigma; write Normal\(mu, sigma\), all of them"),
        ("Normal(0, mu=1)", r"a prior Normal with mu; write Normal\(mu, sigma\)"),
        ("Normal(loc=0, scale=1)", r"a prior Normal with loc, scale; write Normal\(mu, sigma\)"),
        ("Normal(0, 1, sigma=1)", r"write Normal\(mu, sigma\)"),
        ("normal(mu=0, sigma=1)", "not known by name; did you mean 'Normal'"),
        ("SkewNormal(mu=0, sigma=1, alpha=2)", "others go in PyMC's order; by name: Beta"),
    ],
)
def test_named_parameters_have_to_be_all_that_are_left(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_prior(text)


@cases("name", FAMILIES)
def test_names_of_parameters_are_those_of_pymc_in_its_order(name: str) -> None:
    names, parameters = list(inspect.signature(getattr(pm, name).dist).parameters), FAMILIES[name].parameters
    assert tuple(names[: len(parameters)]) == parameters


DENSITIES = [
    ("Normal(-2.2, 1.5)", 0.4, stats.norm(-2.2, 1.5)),
    *(("HalfNormal(0.7)", 0.4, stats.halfnorm(scale=0.7)), ("Beta(2, 2.5)", 0.4, stats.beta(2, 2.5))),
    *(("Logistic(0, 1)", 0.4, stats.logistic(0, 1)), ("StudentT(3, 0.5)", 0.4, stats.t(3, 0.5))),
    *(("Exponential(2)", 0.4, stats.expon(scale=1 / 2)), ("Uniform(-1, 3)", 0.4, stats.uniform(-1, 4))),
]


@cases(("text", "x", "expected"), DENSITIES)
def test_variable_has_the_density_of_the_distribution(text: str, x: float, expected: object) -> None:
    with pm.Model():
        variable = parse_prior(text).variable("x")
    assert variable.name == "x"
    log_density = pm.logp(variable, np.array(x)).eval(mode="FAST_COMPILE")
    # PyTensor keeps constants such as 1.5 in single precision
    assert float(log_density) == pytest.approx(expected.logpdf(x), abs=1e-6)  # type: ignore[attr-defined]


def test_variable_of_no_continuous_distribution_or_of_other_parameters_is_refused() -> None:
    """A typing error, other things of PyMC's, and what a gradient-based sampler cannot draw."""
    unknown, unfit = "PyMC has no continuous distribution", "is not a scalar distribution of PyMC"
    for texts, message in (
        (("Norml(0, 1)", "Model()", "sample(1)", "math(1)", "Poisson(3)", "DiscreteUniform(0, 3)"), unknown),
        (("Simulator(1)",), unknown),
        (("Normal(0, 1, 2, 3)", "Dirichlet(1)", "MvNormal(0, 1)", "HalfNormal(1, 2, 3)"), unfit),
    ):
        for text in texts:
            with pm.Model(), pytest.raises(InputError, match=f"prior of mu: .*{message}"):
                parse_prior(text).variable("mu")
    with pytest.raises(InputError, match="'halfnormal'; did you mean 'HalfNormal'"):
        parse_prior("halfnormal(1)").check_distribution("sigma_topic")


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
    density = coefficient_log_density("mu", parse_prior(text), shift=shift)
    off = density(x)[0] - reference.logpdf(x)
    assert off == pytest.approx(np.full(9, off[0]))
    assert_derivatives(density, x)


def test_density_of_a_logit_has_the_jacobian() -> None:
    x = np.linspace(-4, 3, 9)
    density = coefficient_log_density("c", parse_prior("Beta(2, 2.5)"), logit=True)
    p = expit(x)
    assert density(x)[0] == pytest.approx(stats.beta(2, 2.5).logpdf(p) + np.log(p * (1 - p)))
    assert_derivatives(density, x)


@cases(
    ("text", "reference"),
    [("HalfNormal(0.7)", stats.halfnorm(scale=0.7)), ("Exponential(2)", stats.expon(scale=0.5))],
)
def test_density_of_a_log_scale_has_the_jacobian(text: str, reference: Any) -> None:
    density, theta = scale_log_density("sigma_topic", parse_prior(text)), np.linspace(-3, 1, 5)
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
        _refuse(name, prior, engine)


def test_what_has_a_density_is_let_through() -> None:
    for name, prior in (("mu", "Normal(0, 1)"), ("sigma_topic", "HalfNormal(1)"), ("c", "Beta(2, 2.5)")):
        for engine in ("laplace", "nuts"):
            _refuse(name, prior, engine)
    _refuse("mu", "SkewNormal(0, 1, 2)", "nuts")  # which PyMC alone has


def _refuse(name: str, prior: str, engine: str) -> None:
    if engine == "nuts":
        return refuse_no_density(name, parse_prior(prior))
    return next(spec for spec in MODELS.values() if name in spec.prior_names).refuse_priors({name: prior})
