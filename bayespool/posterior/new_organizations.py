r"""Effects of organizations outside the evidence: how far off they may be, and how alike from rung to rung.

A fit takes the effects of organizations, and how their slopes differ from the common ones, as normal and as
independent from rung to rung. Those of a new organization have heavier tails, and are alike on the rungs:

.. math::

    e_{ok} = \sigma_k \sqrt{w_o}\, u_{ok}, \qquad
    u_{ok} = \rho_k u_{o,k-1} + \sqrt{1 - \rho_k^2}\, z_{ok}, \qquad w_o \sim \nu / \chi^2_\nu

on rung k, with one :math:`w_o` for all effects of an organization: who is unlike the others is so in more
than one respect. The priors of :math:`\nu` and :math:`\rho_k` are declared with the effect. Their draws are
weighted by the density of the effects of the evidence's organizations under them over that of the fits, mean
over the draws of the fits. This importance weighting is exact but for the number of draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, gammaln, logsumexp, ndtr

from bayespool.arrays import FloatArray
from bayespool.models import Effect
from bayespool.models.priors import Prior, draw_prior
from bayespool.randomness import key_of, normals

_N_VALUES = 128  # draws of ν and ρ from their priors
_MOST_SQUARE = 2.0  # mean of squared effects over their variance
_N_WEIGHING = 256  # draws of the fit, at most, that these are weighted by


@dataclass(frozen=True, eq=False)
class NewOrganizations:
    """How the effects of new organizations are distributed on one rung, under one fitted model.

    Attributes
    ----------
    standard : ndarray of float, shape (draw, organization)
        Effects of the evidence's organizations over their scale.
    freedom : ndarray of float, shape (draw,)
        Degrees of freedom of the tails.
    correlation : ndarray of float, shape (draw,)
        With the effects on the rung below; not used on the first.
    organizations : tuple of str
        Names of the evidence's organizations.
    random_seed : int
    above : tuple of int
        Relevance of the rung, if it is not the first.
    below : NewOrganizations or None
        On the rung below, of the same model.
    """

    standard: FloatArray
    freedom: FloatArray
    correlation: FloatArray
    organizations: tuple[str, ...]
    random_seed: int
    above: tuple[int, ...]
    below: NewOrganizations | None

    def effects(self, scale: FloatArray, names: Sequence[str]) -> FloatArray:
        """Effects by name of organization, shape (draw, name)."""
        of_names = {
            name: scale * self.stretch(name) * self.normals("organization", name) for name in set(names)
        }
        return np.column_stack([of_names[name] for name in names])

    def slopes(self, scale: FloatArray, predictors: Sequence[str], names: Sequence[str]) -> FloatArray:
        """Slopes less the common ones, by name of organization, shape (draw, name, predictor)."""
        slopes = np.empty((len(scale), len(names), len(predictors)))
        for i, name in enumerate(names):
            stretched = scale * self.stretch(name)
            for k, predictor in enumerate(predictors):
                slopes[:, i, k] = stretched * self.normals("slope", name, predictor)
        return slopes

    def normals(self, *names: str) -> FloatArray:
        """Standard normal numbers by name, correlated with those on the rung below, shape (draw,)."""
        own = normals(len(self.freedom), self.random_seed, *names, *self.above)
        if self.below is None:
            return own
        return self.correlation * self.below.normals(*names) + np.sqrt(1 - self.correlation**2) * own

    def stretch(self, name: str) -> FloatArray:
        """Factor of all effects of an organization, the same on every rung, shape (draw,)."""
        if self.below is not None:
            return self.below.stretch(name)
        survival = ndtr(normals(len(self.freedom), self.random_seed, "tails", name))
        return np.sqrt(self.freedom / chdtri(self.freedom, survival))


def new_organizations(
    effect: Effect,
    draws: Mapping[str, FloatArray],
    organizations: tuple[str, ...],
    random_seed: int,
    above: tuple[int, ...],
    below: NewOrganizations | None,
) -> NewOrganizations:
    """Tails and correlation of new organizations' effects, learned from draws of those of the evidence."""
    standard = draws["organization_effect"] / draws["sigma_organization"][:, None]
    # an engine may draw scales that are too small for their effects, which tells nothing about tails
    square = (standard**2).sum(axis=1, keepdims=True) / max(1, len(organizations))
    standard = standard / np.sqrt(np.maximum(1, square / _MOST_SQUARE))
    n, rng = len(standard), np.random.default_rng(key_of(random_seed, "new organizations", *above))
    if below is None:
        freedom = _posterior(effect.freedom, _log_ratio_of_tails(_some(standard)), n, rng)
        correlation = np.zeros(n)
    else:
        both = sorted(set(organizations) & set(below.organizations))
        here = _some(standard)[:, [organizations.index(name) for name in both]]
        there = _some(below.standard)[:, [below.organizations.index(name) for name in both]]
        freedom = below.freedom
        correlation = _posterior(effect.correlation, _log_ratio_of_pairs(there, here), n, rng)
    return NewOrganizations(standard, freedom, correlation, organizations, random_seed, above, below)


def _posterior(
    prior: Prior, log_ratio: Callable[[float], FloatArray], n: int, rng: np.random.Generator
) -> FloatArray:
    """Draws of a value given log ratios of densities, one for each draw of a fit, shape (n,)."""
    values = draw_prior(prior, _N_VALUES, rng)
    log_weight = np.array([logsumexp(log_ratio(float(value))) for value in values])
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(rng.choice(values, n, p=weight / weight.sum()))


def _some(standard: FloatArray) -> FloatArray:
    """Draws of a fit that weigh."""
    return standard[:: max(1, len(standard) // _N_WEIGHING)]


def _log_ratio_of_tails(standard: FloatArray) -> Callable[[float], FloatArray]:
    """Log density of effects under t distributions over that under normal ones, by degrees of freedom."""
    square = standard**2

    def log_ratio(freedom: float) -> FloatArray:
        constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - 0.5 * np.log(freedom / 2)
        of_t = constant - (freedom + 1) / 2 * np.log1p(square / freedom)
        return np.asarray((of_t + 0.5 * square).sum(axis=1))

    return log_ratio


def _log_ratio_of_pairs(below: FloatArray, here: FloatArray) -> Callable[[float], FloatArray]:
    """Log density of effects on two rungs over that of independent ones, by correlation."""
    square, product = (below**2 + here**2).sum(axis=1), (below * here).sum(axis=1)

    def log_ratio(correlation: float) -> FloatArray:
        free = 1 - correlation**2
        exponent = (2 * correlation * product - correlation**2 * square) / (2 * free)
        return np.asarray(exponent - 0.5 * here.shape[1] * np.log(free))

    return log_ratio
