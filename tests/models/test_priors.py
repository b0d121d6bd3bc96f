"""Priors as values: their text, the variables they become, what is refused."""

from __future__ import annotations

import inspect

import numpy as np
import pymc as pm
import pytest
from each import cases
from scipy import stats

from bayespool.errors import InputError
from bayespool.models import parse_prior
from bayespool.models.priors import FAMILIES, PARAMETERS


@cases(
    ("text", "distribution", "args"),
    [
        ("Normal(-2.2, 1.5)", "Normal", (-2.2, 1.5)),
        ("  Beta( 2,2.5 )\n", "Beta", (2.0, 2.5)),
        ("HalfNormal(1)", "HalfNormal", (1.0,)),
        ("StudentT(3, 0, 1e-3)", "StudentT", (3.0, 0.0, 0.001)),
        ("Normal()", "Normal", ()),
        ("Normal(+1, 2)", "Normal", (1.0, 2.0)),
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
    names = list(inspect.signature(getattr(pm, name).dist).parameters)
    assert tuple(names[: len(PARAMETERS[name])]) == PARAMETERS[name]
    assert len(PARAMETERS[name]) == len(FAMILIES[name].parameters)
    assert PARAMETERS.keys() == FAMILIES.keys()


DENSITIES = [
    ("Normal(-2.2, 1.5)", 0.4, stats.norm(-2.2, 1.5)),
    ("HalfNormal(0.7)", 0.4, stats.halfnorm(scale=0.7)),
    ("Beta(2, 2.5)", 0.4, stats.beta(2, 2.5)),
    ("Logistic(0, 1)", 0.4, stats.logistic(0, 1)),
    ("StudentT(3, 0.5)", 0.4, stats.t(3, 0.5)),
    ("Exponential(2)", 0.4, stats.expon(scale=1 / 2)),
    ("Uniform(-1, 3)", 0.4, stats.uniform(-1, 4)),
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
