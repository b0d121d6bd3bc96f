"""Families of priors: parameters, draws, and densities for the Laplace engine. PyMC takes every continuous
distribution that it has (`Prior.variable`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, expit

from bayespool.errors import InputError, did_you_mean
from bayespool.models.priors import Prior

FloatArray = npt.NDArray[np.float64]
Derivatives = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class Family:
    """A family of priors, with PyMC's name and parameters."""

    parameters: tuple[str, ...]
    draw: Callable[..., FloatArray]  # of a generator, a size and the parameters
    positive: tuple[str, ...] = ()  # parameters that must be positive
    coefficient: Callable[..., Derivatives] | None = None  # log density of a coefficient, with derivatives
    of_logit: Callable[..., Derivatives] | None = None  # the same of the logit of a coefficient on (0, 1)
    log_scale: Callable[..., float] | None = None  # log density of log σ


def _normal(x: FloatArray, mean: float, sd: float) -> Derivatives:
    z = (x - mean) / sd
    return -0.5 * z**2, -z / sd, np.full_like(x, -1 / sd**2)


def _logistic(x: FloatArray, mean: float, scale: float) -> Derivatives:
    z = (x - mean) / scale
    p = expit(z)
    return -z - 2 * np.logaddexp(0, -z), (1 - 2 * p) / scale, -2 * p * (1 - p) / scale**2


def _logit_of_beta(x: FloatArray, a: float, b: float) -> Derivatives:
    p = expit(x)
    value = -a * np.logaddexp(0, -x) - b * np.logaddexp(0, x) - betaln(a, b)
    return value, a - (a + b) * p, -(a + b) * p * (1 - p)


_LOCATION, _SCALE = ("mean", "scale"), ("scale",)

FAMILIES = MappingProxyType(
    {
        "Beta": Family(
            ("a", "b"), lambda rng, n, a, b: rng.beta(a, b, n), ("a", "b"), of_logit=_logit_of_beta
        ),
        "Cauchy": Family(_LOCATION, lambda rng, n, m, s: m + s * rng.standard_cauchy(n), _SCALE),
        "Exponential": Family(
            ("rate",),
            lambda rng, n, rate: rng.exponential(1 / rate, n),
            ("rate",),
            log_scale=lambda theta, rate: theta - rate * np.exp(theta),
        ),
        "Gamma": Family(("a", "rate"), lambda rng, n, a, rate: rng.gamma(a, 1 / rate, n), ("a", "rate")),
        "HalfCauchy": Family(_SCALE, lambda rng, n, s: np.abs(s * rng.standard_cauchy(n)), _SCALE),
        "HalfNormal": Family(
            _SCALE,
            lambda rng, n, s: np.abs(rng.normal(0, s, n)),
            _SCALE,
            log_scale=lambda theta, s: theta - 0.5 * (np.exp(theta) / s) ** 2,
        ),
        "HalfStudentT": Family(
            ("nu", "scale"), lambda rng, n, nu, s: np.abs(s * rng.standard_t(nu, n)), ("nu", "scale")
        ),
        "InverseGamma": Family(("a", "b"), lambda rng, n, a, b: 1 / rng.gamma(a, 1 / b, n), ("a", "b")),
        "Laplace": Family(_LOCATION, lambda rng, n, m, s: rng.laplace(m, s, n), _SCALE),
        "LogNormal": Family(_LOCATION, lambda rng, n, m, s: rng.lognormal(m, s, n), _SCALE),
        "Logistic": Family(
            _LOCATION, lambda rng, n, m, s: rng.logistic(m, s, n), _SCALE, coefficient=_logistic
        ),
        "Normal": Family(_LOCATION, lambda rng, n, m, s: rng.normal(m, s, n), _SCALE, coefficient=_normal),
        "StudentT": Family(
            ("nu", "mean", "scale"),
            lambda rng, n, nu, m, s: m + s * rng.standard_t(nu, n),
            ("nu", "scale"),
        ),
        "Uniform": Family(("lower", "upper"), lambda rng, n, low, high: rng.uniform(low, high, n)),
    }
)
"""Families by PyMC's name."""


def draw_prior(prior: Prior, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draws from one prior.

    Parameters
    ----------
    prior : Prior
    size : int or tuple of int
    rng : numpy.random.Generator

    Raises
    ------
    InputError
        An unknown distribution, or a wrong number of parameters.

    Examples
    --------
    >>> from bayespool.models import parse_prior
    >>> draw_prior(parse_prior("Uniform(2, 2)"), 3, np.random.default_rng(1)).tolist()
    [2.0, 2.0, 2.0]
    """
    family = FAMILIES.get(prior.distribution)
    if family is None:
        raise InputError(
            f"cannot draw from the prior {prior}", hint=f"prior checks know {', '.join(sorted(FAMILIES))}"
        )
    if len(prior.args) != len(family.parameters):
        n = len(family.parameters)
        raise InputError(f"the prior {prior} has {len(prior.args)} parameters, not {n}")
    return family.draw(rng, size, *prior.args)


def log_density_of_coefficient(
    name: str, prior: Prior, *, shift: float | FloatArray = 0.0, logit: bool = False
) -> Callable[[FloatArray], Derivatives]:
    """Log density of a coefficient less ``shift``, or of the logit of one on (0, 1), up to a constant, with
    first and second derivatives: a function of values to three arrays of shape (value,).
    """
    family = FAMILIES.get(prior.distribution)
    density = None if family is None else family.of_logit if logit else family.coefficient
    if density is None:
        kinds = [n for n, f in FAMILIES.items() if (f.of_logit if logit else f.coefficient) is not None]
        raise _unknown(name, prior, sorted(kinds, reverse=True))
    args = _checked(name, prior)
    if logit:
        return lambda x: density(x, *args)
    return lambda x: density(x - shift, *args)


def log_density_of_scale(name: str, prior: Prior) -> Callable[[float], float]:
    """Log density of log σ under the prior of σ, up to a constant."""
    family = FAMILIES.get(prior.distribution)
    density = None if family is None else family.log_scale
    if density is None:
        kinds = [n for n, f in FAMILIES.items() if f.log_scale is not None]
        raise _unknown(name, prior, sorted(kinds, reverse=True))
    args = _checked(name, prior)
    return lambda theta: density(theta, *args)


_DISTRIBUTIONS_BELOW_ZERO = (
    "AsymmetricLaplace",
    "Cauchy",
    "ExGaussian",
    "Flat",
    "Gumbel",
    "Laplace",
    "Logistic",
    "Moyal",
    "Normal",
    "SkewNormal",
    "SkewStudentT",
    "StudentT",
)  # with any parameters


def refuse_negative_scale(name: str, prior: Prior) -> None:
    """Refuse a prior of a scale that may be negative.

    Examples
    --------
    >>> refuse_negative_scale("sigma_topic", Prior("Normal", (0.0, 1.0)))
    Traceback (most recent call last):
        ...
    bayespool.errors.InputError: prior of sigma_topic: Normal(0, 1) reaches below 0, and a scale does not; \
write it like HalfNormal(1)
    """
    is_below = prior.distribution == "Uniform" and bool(prior.args) and prior.args[0] < 0
    if prior.distribution in _DISTRIBUTIONS_BELOW_ZERO or is_below:
        raise InputError(
            f"prior of {name}: {prior} reaches below 0, and a scale does not",
            hint="write it like HalfNormal(1)",
        )


def refuse_no_density(name: str, prior: Prior, engine: str) -> None:
    """Refuse a prior of a coefficient, or of a scale ``sigma_…``, that the engine cannot take."""
    if name.startswith("sigma_"):
        refuse_negative_scale(name, prior)
    if engine != "laplace":
        if prior.distribution not in FAMILIES:
            prior.check_distribution(name)
    elif name.startswith("sigma_"):
        log_density_of_scale(name, prior)
    elif (family := FAMILIES.get(prior.distribution)) is not None and family.of_logit is not None:
        log_density_of_coefficient(name, prior, logit=True)
    else:
        log_density_of_coefficient(name, prior)


def _unknown(name: str, prior: Prior, kinds: list[str]) -> InputError:
    slip = "" if prior.distribution in FAMILIES else did_you_mean(prior.distribution, FAMILIES)
    return InputError(
        f"prior of {name}: the laplace engine takes {' or '.join(kinds)}, not {prior}",
        hint=slip or "use the nuts engine",
    )


def _checked(name: str, prior: Prior) -> tuple[float, ...]:
    """Parameters of a density; refuse a wrong number, or values outside their range."""
    family = FAMILIES[prior.distribution]
    values = dict(zip(family.parameters, prior.args, strict=False))
    if len(prior.args) != len(family.parameters) or not all(values[p] > 0 for p in family.positive):
        form = f"{prior.distribution}({', '.join(family.parameters)})"
        positive = f"the {family.positive[0]}" if len(family.positive) == 1 else "both"
        raise InputError(
            f"prior of {name}: {prior} is not a density", hint=f"write {form}, {positive} positive"
        )
    return prior.args
