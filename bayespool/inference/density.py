"""Log density of a `Structure` in its unconstrained parameters, with first and second derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logit

from bayespool.inference.arrow import Arrow, Factor
from bayespool.inference.blocks import PreparedBlock
from bayespool.inference.places import Places
from bayespool.models.families import log_density_of_coefficient, log_density_of_scale
from bayespool.models.structure import Structure

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_INITIAL_LOG_SCALE = -0.3
# Of the sums of global effects, which are zero: keeps the curvature positive in blocks whose log likelihood
# is not concave.
_SUM_PRECISION = 100.0
_LOG_SCALE_STEP = 1e-3  # of finite differences


class Density:
    """Joint log density of coefficients and effects, x, and log scales, θ.

    Effects sum to zero, but for slopes. Effects of cells are integrated.

    Parameters
    ----------
    structure : Structure

    Attributes
    ----------
    places : Places
        Positions of coefficients and effects in x.
    scales, layout, slices, sums
        Those of the places.
    is_concave : bool
        Whether the log density is concave given θ.

    Raises
    ------
    InputError
        A prior without a density in this engine.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure, self.places = structure, Places(structure)
        self.scales, self.layout = self.places.scales, self.places.layout
        self.slices, self.sums = self.places.slices, self.places.sums
        self._priors = {
            n: log_density_of_coefficient(n, c.prior, shift=c.shift, logit=c.logit)
            for n, c in structure.coefficients.items()
        }
        scale_priors = {
            n: log_density_of_scale(f"sigma_{n}", group.scale) for n, group in structure.groups.items()
        }
        self._scale_priors = [scale_priors[name] for name in self.scales]
        self._blocks = [
            PreparedBlock(block, self.places) for block in structure.blocks if len(block.successes)
        ]
        self.is_concave = not any(block.is_product for block in self._blocks)
        self._held = [s for s in self.sums if s.stop <= self.layout.n_global and not self.is_concave]

    @property
    def size(self) -> int:
        """Length of x."""
        return self.layout.size

    def start(self, near: Mapping[str, FloatArray] | None = None) -> tuple[FloatArray, FloatArray]:
        """A point x and log scales θ to start from.

        Coefficients are at the center of their priors, effects zero and scales 0.74; or all at the means of
        draws given by the names of the variables.
        """
        x, theta = np.zeros(self.size), np.full(len(self.scales), _INITIAL_LOG_SCALE)
        for name, coefficient in self.structure.coefficients.items():
            where = self.slices[name]
            if near is not None:
                mean = near[name].mean(axis=0)
                x[where] = logit(mean) if coefficient.logit else mean
            elif coefficient.prior.distribution == "Normal":
                x[where] = coefficient.prior.args[0] + coefficient.shift
        if near is None:
            return x, theta
        for g, name in enumerate(self.scales):
            theta[g] = np.log(np.median(near[f"sigma_{name}"]))
            if name in self.slices:
                effect = near[f"{name}_effect"].mean(axis=0)
                x[self.slices[name]] = effect - (effect.mean() if name != self.structure.slopes else 0)
        return x, theta

    def log_density(self, x: FloatArray, theta: FloatArray) -> float:
        """Log density at (x, θ) with the Jacobian of log scales and logits, up to a constant."""
        return self._prior(x, theta)[0] + sum(
            block.log_likelihood(x, self._tau(theta)) for block in self._blocks
        )

    def expand(
        self, x: FloatArray, theta: FloatArray, *, expected: bool = False
    ) -> tuple[float, FloatArray, Arrow]:
        """`log_density`, its gradient in x, and the negative Hessian.

        With ``expected`` the likelihood's part of the Hessian is its Fisher information, positive
        semidefinite.
        """
        value, gradient, diagonal = self._prior(x, theta)
        outer = self._prior_hessian(diagonal)
        for block in self._blocks:
            nodes = [(1.0, block.predictors(x))]
            value += block.add_derivatives(nodes, self._tau(theta), gradient, outer, expected=expected)
        return value, gradient, Arrow(self.layout, outer)

    def mean_derivatives(
        self, x: FloatArray, theta: FloatArray, gaussian: Factor
    ) -> tuple[float, FloatArray, Arrow]:
        """Value and gradient at x, and negative Hessian, of the quadratic with the same mean value, gradient
        and Hessian as `log_density` over the Gaussian about x.
        """
        value, gradient, diagonal = self._prior(x, theta)  # quadratic already
        outer, covariance = self.layout.zeros(), gaussian.covariance()
        for block in self._blocks:
            nodes = block.nodes(x, covariance)
            value += block.add_derivatives(nodes, self._tau(theta), gradient, outer, expected=False)
        value += 0.5 * Arrow(self.layout, outer).trace_with(covariance)
        return value, gradient, Arrow(self.layout, outer + self._prior_hessian(diagonal))

    def log_prior_of_scales(self, theta: FloatArray) -> Any:
        """Log density of log scales alone, shape (...), for θ of shape (scale, ...)."""
        return sum(prior(at) for prior, at in zip(self._scale_priors, theta, strict=True))

    def prior_curvature(self, theta: FloatArray) -> FloatArray:
        """Part of the negative Hessian in x from the effects' priors, in the form of `Layout.zeros`."""
        diagonal = np.zeros(self.size)
        for g, name in enumerate(self.scales):
            if name in self.slices:
                diagonal[self.slices[name]] = np.exp(-2 * theta[g])
        return self._prior_hessian(diagonal)

    def drift(self, x: FloatArray, theta: FloatArray, curvature: Factor) -> FloatArray:
        """Derivative of the mode x in θ, shape (scale, parameter)."""
        drift = np.zeros((len(self.scales), self.size))
        for g, name in enumerate(self.scales):
            if name in self.slices:
                where = self.slices[name]
                drift[g, where] = 2 * np.exp(-2 * theta[g]) * x[where]
            else:
                step = np.where(np.arange(len(theta)) == g, _LOG_SCALE_STEP, 0.0)
                drift[g] = (self.expand(x, theta + step)[1] - self.expand(x, theta - step)[1]) / (
                    2 * _LOG_SCALE_STEP
                )
            drift[g] = curvature.solve(drift[g])
        return drift

    def totals(self, x: FloatArray, theta: FloatArray) -> list[FloatArray]:
        """Gradient at x of the expected total of each block's counts, each of shape (parameter,)."""
        return [block.total(x, self._tau(theta)) for block in self._blocks]

    def draw_cells(self, x: FloatArray, theta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Effects of cells given draws of all other parameters, shape (draw, kept cell)."""
        name = self.structure.cells
        assert name is not None
        group, tau = self.structure.groups[name], np.exp(theta[:, self.scales.index(name)])
        kept = np.arange(group.size) if group.kept is None else group.kept
        drawn = tau[:, None] * rng.normal(size=(len(x), len(kept)))
        for block in self._blocks:
            if block.cell is not None:
                block.draw_cells(x, tau, kept, drawn, rng)
        return drawn

    def _tau(self, theta: FloatArray) -> float:
        """Scale of the effects of cells."""
        name = self.structure.cells
        return float(np.exp(theta[self.scales.index(name)])) if name in self.scales else 0.0

    def _prior(self, x: FloatArray, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Log density of the priors, its gradient in x, and the diagonal of the negative Hessian."""
        value, gradient, diagonal = 0.0, np.empty(self.size), np.empty(self.size)
        for name, prior in self._priors.items():
            where = self.slices[name]
            log_density, gradient[where], second = prior(x[where])
            value += float(log_density.sum())
            diagonal[where] = -second
        for g, name in enumerate(self.scales):
            value += self._scale_priors[g](theta[g])
            if name not in self.slices:
                continue
            where = self.slices[name]
            effect, precision = x[where], np.exp(-2 * theta[g])
            n_free = len(effect) - (name != self.structure.slopes)
            value -= n_free * theta[g] + 0.5 * precision * float(effect @ effect)
            gradient[where] = -precision * effect
            diagonal[where] = precision
        for where in self._held:
            total = float(x[where].sum())
            value -= 0.5 * _SUM_PRECISION * total**2
            gradient[where] -= _SUM_PRECISION * total
        return value, gradient, diagonal

    def _prior_hessian(self, diagonal: FloatArray) -> FloatArray:
        """Negative Hessian of the priors in the form of `Layout.zeros`."""
        at = self.layout
        outer = at.zeros()
        np.einsum("ii->i", outer[: at.n_global, : at.n_global])[:] = diagonal[: at.n_global]
        for where in self._held:
            outer[where, where] += _SUM_PRECISION
        own = np.arange(at.n_global, at.size)
        if len(own):
            outer[own, at.places(own)] = diagonal[at.n_global : at.size]
        return outer
