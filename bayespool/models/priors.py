"""Priors as values with a text, so that they can be arguments of models, defaults with reasons, and
command-line options.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from bayespool.errors import InputError

__all__ = [
    "FACTOR",
    "LOG_ODDS",
    "LOG_RATIO",
    "PRECISION",
    "SCALE",
    "SLOPE",
    "VARYING",
    "Prior",
    "parse_prior",
]


@dataclass(frozen=True, slots=True)
class Prior:
    """A PyMC distribution that is not yet a variable of a model.

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
        """A random variable of this distribution in the model at hand, with dims or shape if given.

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
            What the prior is of, for messages.

        Raises
        ------
        InputError
            PyMC has no such continuous distribution.
        """
        import pymc as pm

        distribution = getattr(pm, self.distribution, None)
        if not (isinstance(distribution, type) and issubclass(distribution, pm.Continuous)):
            raise InputError(f"prior of {name}: PyMC has no continuous distribution {self.distribution!r}")
        return distribution


def parse_prior(text: str | Prior) -> Prior:
    """The prior that a text such as ``Normal(-2.2, 1.5)`` stands for.

    Examples
    --------
    >>> parse_prior("Beta(2, 2.5)")
    Prior(distribution='Beta', args=(2.0, 2.5))
    """
    if isinstance(text, Prior):
        return text
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.keywords):
            raise ValueError
        return Prior(call.func.id, tuple(float(ast.literal_eval(a)) for a in call.args))
    except (ValueError, SyntaxError, TypeError, AttributeError) as error:
        raise InputError(
            f"prior {text!r} is not a distribution", hint="write it like Normal(-2.2, 1.5)"
        ) from error


LOG_ODDS = Prior("Normal", (-2.2, 1.5))
"""Of a chance of relevance: 95 % of its mass lies between 1 % and 68 %."""
PRECISION = Prior("Normal", (-0.5, 1.5))
"""Log odds of a judged document being relevant: between 3 % and 92 %."""
FACTOR = Prior("Beta", (2.0, 2.5))
"""Relevance of unjudged documents over that of judged ones: covers the published 0.42 and 0.91."""
LOG_RATIO = Prior("Normal", (-2.0, 1.2))
"""Log odds of unjudged documents less those of judged ones: medians of −1.3 to −3 for near newcomers, −1.6 to
−4.5 for far ones."""
SLOPE = Prior("Normal", (0.0, 1.0))
"""How far a slope is from the one expected, in standard deviations of slopes over collections."""
SCALE = Prior("HalfNormal", (1.0,))
"""Standard deviation between groups: a factor of e in the odds is ordinary, e² rare."""
VARYING = Prior("HalfNormal", (0.5,))
"""Standard deviation of an organization's slopes about the common ones, in standard deviations of slopes over
collections."""
