"""Priors given as text, and prior families with their draws and densities."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from scipy.special import betaln, expit

from bayespool.arrays import FloatArray
from bayespool.errors import InputError, did_you_mean, known_names


@dataclass(frozen=True, slots=True)
class Prior:
    """Prior as a PyMC distribution with parameters, not yet attached to a variable.

    Parameters
    ----------
    distribution : str
        Name of a scalar distribution of PyMC.
    args : tuple of float
        Its parameters in PyMC's order.

    Examples
    --------
    >>> str(Prior("Normal", (-2.2, 1.5)))
    'Normal(-2.2, 1.5)'
    """

    distribution: str
    args: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.distribution}({', '.join(f'{a:g}' for a in self.args)})"

    @property
    def is_plain_normal(self) -> bool:
        """Whether it is a normal distribution with mean and standard deviation."""
        return self.distribution == "Normal" and len(self.args) == 2

    def variable(self, name: str, **kwargs: Any) -> Any:
        """Add a variable with this distribution to the current PyMC model, with dims or shape in ``kwargs``.

        A distribution that PyMC lacks, or that does not take these parameters, is an `InputError`.
        """
        distribution = self.check_distribution(name)
        try:
            return distribution(name, *self.args, **kwargs)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise InputError(
                f"prior of {name}: {self} is not a scalar distribution of PyMC ({error})"
            ) from error

    def check_distribution(self, name: str) -> Any:
        """Return the distribution's PyMC class, or raise `InputError` if PyMC has no such class."""
        import pymc as pm

        distribution = getattr(pm, self.distribution, None)
        if not (isinstance(distribution, type) and issubclass(distribution, pm.Continuous)):
            raise InputError(
                f"prior of {name}: PyMC has no continuous distribution {self.distribution!r}",
                hint=did_you_mean(self.distribution, FAMILIES) or None,
            )
        return distribution


def parse_prior(text: object) -> Prior:
    """Return the prior for a string such as ``Normal(-2.2, 1.5)``.

    Parameters
    ----------
    text : str or Prior
        A distribution of PyMC with numbers in PyMC's order. Those of `FAMILIES` also take PyMC's names.

    Raises
    ------
    InputError
        The text is not a distribution, or has names that are not those of its parameters.

    Examples
    --------
    >>> parse_prior("Beta(2, 2.5)")
    Prior(distribution='Beta', args=(2.0, 2.5))
    >>> str(parse_prior("Normal(sigma=1.5, mu=-2.2)"))
    'Normal(-2.2, 1.5)'
    """
    if isinstance(text, Prior):
        return text
    if not isinstance(text, str):
        hint = "write its text, such as 'Normal(-2.2, 1.5)'"
        raise InputError(f"a prior is a text, not {type(text).__name__}", hint=hint)
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            raise ValueError
        if len({k.arg for k in call.keywords}) < len(call.keywords):
            raise ValueError  # a name twice
        args = tuple(float(ast.literal_eval(a)) for a in call.args)
        named = {str(k.arg): float(ast.literal_eval(k.value)) for k in call.keywords}
    except (ValueError, SyntaxError, TypeError, AttributeError) as error:
        raise InputError(
            f"prior {text!r} is not a distribution",
            hint="write it like Normal(-2.2, 1.5) or Normal(mu=-2.2, sigma=1.5)",
        ) from error
    return Prior(call.func.id, (*args, *_in_order(call.func.id, len(args), named)) if named else args)


def _in_order(distribution: str, n_given: int, named: dict[str, float]) -> tuple[float, ...]:
    """Return named parameters in PyMC's order, after the ``n_given`` positional ones."""
    if distribution not in FAMILIES:
        raise InputError(
            f"the parameters of {distribution} are not known by name",
            hint=known_names(distribution, FAMILIES, before="others go in PyMC's order; by name: "),
        )
    parameters = FAMILIES[distribution].parameters
    if set(parameters[n_given:]) != set(named):
        form = f"{distribution}({', '.join(parameters)})"
        raise InputError(f"a prior {distribution} with {', '.join(named)}", hint=f"write {form}, all of them")
    return tuple(named[name] for name in parameters[n_given:])


LOG_ODDS = Prior("Normal", (-2.2, 1.5))
"""Prior on log odds of relevance: 95 % of its mass is between 1 % and 68 % relevant."""
PRECISION = Prior("Normal", (-0.5, 1.5))
"""Prior on log odds that a judged document is relevant: 95 % between 3 % and 92 %."""
FACTOR = Prior("Beta", (2.0, 2.5))
"""Prior on the ratio of relevance in unjudged and judged documents: covers the published 0.42 and 0.91."""
LOG_RATIO = Prior("Normal", (-2.0, 1.2))
"""Prior on the log odds ratio of relevance between unjudged and judged documents.

Medians are −1.3 to −3 for new runs near the pooled ones, and down to −4.5 for distant ones.
"""
SLOPE = Prior("Normal", (0.0, 1.0))
"""Prior on the difference between a slope and its expectation, in standard deviations over collections."""
SCALE = Prior("HalfNormal", (1.0,))
"""Prior on the standard deviation between groups: a factor of e in the odds is ordinary, e² rare."""
VARYING = Prior("HalfNormal", (0.5,))
"""Prior on the standard deviation of slopes between organizations, after standardizing slopes.

The unit is the standard deviation of slopes over collections.
"""
SLOPE_BELOW_POOL = Prior("Normal", (-0.05, 0.2))
"""Prior on the log(rank / pool depth) slope for documents ranked below it, if ranks are a predictor.

See research/decisions.
"""
STEEPER_BELOW_POOL = Prior("Normal", (-0.2, 0.25))
"""Prior on the log(rank / pool depth) slope for documents ranked below it, if ranks are no predictor.

It is beside the slope of hidden documents within rankings.
"""
TOPICS_BELOW_POOL = Prior("HalfNormal", (0.4,))
"""Prior on the standard deviation between topics of the slope for ranks below the pool depth."""
FREEDOM = Prior("Gamma", (2.0, 0.1))
"""Prior on the degrees of freedom of new organizations' effects: 95 % between 2.4 and 56.

Juárez & Steel (2010).
"""
FEW_DOCUMENTS = Prior("Exponential", (1 / 16,))
"""Prior on how much larger the variance of a new run's effect is, less 1, where hardly anything is unjudged.

No pool tells, since next to none of its organizations has so few documents (research/decisions/diary.md).
"""
CORRELATION = Prior("Uniform", (0.0, 1.0))
"""Prior on the correlation between an organization's effects at adjacent relevance thresholds."""


Derivatives = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class Family:
    """Prior family: parameter names in PyMC's order, random draws and log densities."""

    parameters: tuple[str, ...]
    draw: Callable[..., FloatArray]  # of a generator, a size and the parameters
    positive: tuple[str, ...] = ()  # parameters that must be positive
    coefficient: Callable[..., Derivatives] | None = None  # log density of a coefficient, with derivatives
    logit_density: Callable[..., Derivatives] | None = (
        None  # the same of the logit of a coefficient on (0, 1)
    )
    log_scale: Callable[..., float] | None = None  # log density of log σ


def _normal(x: FloatArray, mean: float, sd: float) -> Derivatives:
    z = (x - mean) / sd
    return -0.5 * z**2, -z / sd, np.full_like(x, -1 / sd**2)


def _logistic(x: FloatArray, mean: float, scale: float) -> Derivatives:
    z = (x - mean) / scale
    p = expit(z)
    return -z - 2 * np.logaddexp(0, -z), (1 - 2 * p) / scale, -2 * p * (1 - p) / scale**2


def _beta_logit(x: FloatArray, a: float, b: float) -> Derivatives:
    p = expit(x)
    value = -a * np.logaddexp(0, -x) - b * np.logaddexp(0, x) - betaln(a, b)
    return value, a - (a + b) * p, -(a + b) * p * (1 - p)


_LOCATION, _SCALE = ("mu", "sigma"), ("sigma",)

FAMILIES = MappingProxyType(
    {
        "Beta": Family(
            ("alpha", "beta"),
            lambda rng, n, a, b: rng.beta(a, b, n),
            ("alpha", "beta"),
            logit_density=_beta_logit,
        ),
        "Cauchy": Family(("alpha", "beta"), lambda rng, n, m, s: m + s * rng.standard_cauchy(n), ("beta",)),
        "Exponential": Family(
            ("lam",),
            lambda rng, n, rate: rng.exponential(1 / rate, n),
            ("lam",),
            log_scale=lambda theta, rate: theta - rate * np.exp(theta),
        ),
        "Gamma": Family(
            ("alpha", "beta"), lambda rng, n, a, rate: rng.gamma(a, 1 / rate, n), ("alpha", "beta")
        ),
        "HalfCauchy": Family(("beta",), lambda rng, n, s: np.abs(s * rng.standard_cauchy(n)), ("beta",)),
        "HalfNormal": Family(
            _SCALE,
            lambda rng, n, s: np.abs(rng.normal(0, s, n)),
            _SCALE,
            log_scale=lambda theta, s: theta - 0.5 * (np.exp(theta) / s) ** 2,
        ),
        "HalfStudentT": Family(
            ("nu", "sigma"), lambda rng, n, nu, s: np.abs(s * rng.standard_t(nu, n)), ("nu", "sigma")
        ),
        "InverseGamma": Family(
            ("alpha", "beta"), lambda rng, n, a, b: 1 / rng.gamma(a, 1 / b, n), ("alpha", "beta")
        ),
        "Laplace": Family(("mu", "b"), lambda rng, n, m, s: rng.laplace(m, s, n), ("b",)),
        "LogNormal": Family(_LOCATION, lambda rng, n, m, s: rng.lognormal(m, s, n), _SCALE),
        "Logistic": Family(
            ("mu", "s"), lambda rng, n, m, s: rng.logistic(m, s, n), ("s",), coefficient=_logistic
        ),
        "Normal": Family(_LOCATION, lambda rng, n, m, s: rng.normal(m, s, n), _SCALE, coefficient=_normal),
        "StudentT": Family(
            ("nu", "mu", "sigma"), lambda rng, n, nu, m, s: m + s * rng.standard_t(nu, n), ("nu", "sigma")
        ),
        "Uniform": Family(("lower", "upper"), lambda rng, n, low, high: rng.uniform(low, high, n)),
    }
)
"""Prior families, keyed by PyMC's distribution names."""


def draw_prior(prior: Prior, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw from a prior, or raise `InputError` if its distribution or parameters are unknown.

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


def coefficient_log_density(
    name: str, prior: Prior, *, shift: float | FloatArray = 0.0, logit: bool = False
) -> Callable[[FloatArray], Derivatives]:
    """Return a function for a coefficient's log prior density and its two derivatives, (value,).

    The prior is of the coefficient less ``shift``; the function's argument may be its logit.
    """
    density = _density(name, prior, "logit_density" if logit else "coefficient")
    return density if logit else lambda x: density(x - shift)


def scale_log_density(name: str, prior: Prior) -> Callable[[float], float]:
    """Return a function for the log density of log σ, up to a constant, given the prior on σ."""
    return _density(name, prior, "log_scale")


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
    """Raise `InputError` if the prior on a scale allows negative values."""
    is_below = prior.distribution == "Uniform" and bool(prior.args) and prior.args[0] < 0
    if prior.distribution in _DISTRIBUTIONS_BELOW_ZERO or is_below:
        raise InputError(
            f"prior of {name}: {prior} reaches below 0, and a scale does not",
            hint="write it like HalfNormal(1)",
        )


def refuse_no_density(name: str, prior: Prior) -> None:
    """Raise `InputError` if PyMC cannot use the prior on a coefficient or a scale ``sigma_…``."""
    if name.startswith("sigma_"):
        refuse_negative_scale(name, prior)
    if prior.distribution not in FAMILIES:
        prior.check_distribution(name)


def _density(
    name: str, prior: Prior, kind: Literal["coefficient", "logit_density", "log_scale"]
) -> Callable[..., Any]:
    """Return a log density from the prior's family with its parameters, or raise `InputError`."""
    family = FAMILIES.get(prior.distribution)
    density = getattr(family, kind, None)
    if family is None or density is None:
        kinds = sorted((n for n, f in FAMILIES.items() if getattr(f, kind) is not None), reverse=True)
        slip = did_you_mean(prior.distribution, FAMILIES) if family is None else ""
        raise InputError(
            f"prior of {name}: the laplace engine takes {' or '.join(kinds)}, not {prior}",
            hint=slip or "use the nuts engine",
        )
    values = dict(zip(family.parameters, prior.args, strict=False))
    if len(prior.args) != len(family.parameters) or not all(values[p] > 0 for p in family.positive):
        form = f"{prior.distribution}({', '.join(family.parameters)})"
        positive = f"the {family.positive[0]}" if len(family.positive) == 1 else "both"
        raise InputError(
            f"prior of {name}: {prior} is not a density", hint=f"write {form}, {positive} positive"
        )
    return lambda x: density(x, *prior.args)
