"""Priors as values with a text form, and the priors that several models share."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bayespool.errors import InputError, did_you_mean, known_names

PARAMETERS = MappingProxyType(
    {
        "Beta": ("alpha", "beta"),
        "Cauchy": ("alpha", "beta"),
        "Exponential": ("lam",),
        "Gamma": ("alpha", "beta"),
        "HalfCauchy": ("beta",),
        "HalfNormal": ("sigma",),
        "HalfStudentT": ("nu", "sigma"),
        "InverseGamma": ("alpha", "beta"),
        "Laplace": ("mu", "b"),
        "LogNormal": ("mu", "sigma"),
        "Logistic": ("mu", "s"),
        "Normal": ("mu", "sigma"),
        "StudentT": ("nu", "mu", "sigma"),
        "Uniform": ("lower", "upper"),
    }
)
"""PyMC's names of parameters, in its order, of the distributions in `bayespool.models.families`."""


@dataclass(frozen=True, slots=True)
class Prior:
    """A PyMC distribution, not yet a variable of a model.

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

    def variable(self, name: str, **kwargs: Any) -> Any:
        """A random variable of this distribution in the current PyMC model, with dims or shape in ``kwargs``.

        Raises
        ------
        InputError
            PyMC has no such continuous distribution, or it does not take these parameters.
        """
        distribution = self.check_distribution(name)
        try:
            return distribution(name, *self.args, **kwargs)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise InputError(
                f"prior of {name}: {self} is not a scalar distribution of PyMC ({error})"
            ) from error

    def check_distribution(self, name: str) -> Any:
        """The class of PyMC.

        Parameters
        ----------
        name : str
            Name of the variable, for messages.

        Raises
        ------
        InputError
            PyMC has no such continuous distribution.
        """
        import pymc as pm

        distribution = getattr(pm, self.distribution, None)
        if not (isinstance(distribution, type) and issubclass(distribution, pm.Continuous)):
            raise InputError(
                f"prior of {name}: PyMC has no continuous distribution {self.distribution!r}",
                hint=did_you_mean(self.distribution, PARAMETERS) or None,
            )
        return distribution


def parse_prior(text: str | Prior) -> Prior:
    """The prior of a text such as ``Normal(-2.2, 1.5)``.

    Parameters
    ----------
    text : str or Prior
        A distribution of PyMC with numbers in PyMC's order. Those of `PARAMETERS` also take PyMC's names.

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
    """Named parameters in PyMC's order, after ``n_given`` unnamed ones."""
    if distribution not in PARAMETERS:
        raise InputError(
            f"the parameters of {distribution} are not known by name",
            hint=known_names(distribution, PARAMETERS, before="others go in PyMC's order; by name: "),
        )
    left = PARAMETERS[distribution][n_given:]
    if set(left) != set(named):
        form = f"{distribution}({', '.join(PARAMETERS[distribution])})"
        raise InputError(f"a prior {distribution} with {', '.join(named)}", hint=f"write {form}, all of them")
    return tuple(named[name] for name in left)


LOG_ODDS = Prior("Normal", (-2.2, 1.5))
"""Log odds of relevance: 95 % between 1 % and 68 %."""
PRECISION = Prior("Normal", (-0.5, 1.5))
"""Log odds that a judged document is relevant: 95 % between 3 % and 92 %."""
FACTOR = Prior("Beta", (2.0, 2.5))
"""Relevance of unjudged documents over that of judged ones: covers the published 0.42 and 0.91."""
LOG_RATIO = Prior("Normal", (-2.0, 1.2))
"""Log odds of unjudged documents less those of judged ones: medians of −1.3 to −3 for near newcomers, −1.6 to
−4.5 for far ones.
"""
SLOPE = Prior("Normal", (0.0, 1.0))
"""Difference of a slope from the expected one, in standard deviations of slopes over collections."""
SCALE = Prior("HalfNormal", (1.0,))
"""Standard deviation between groups: a factor of e in the odds is ordinary, e² rare."""
VARYING = Prior("HalfNormal", (0.5,))
"""Standard deviation of an organization's slopes about the common ones, in standard deviations of slopes over
collections.
"""
