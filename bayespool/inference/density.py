"""Log density of a `Structure` in its unconstrained parameters, with first and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve
from scipy.special import betaln, expit, logit

from bayespool.errors import InputError
from bayespool.inference.kernels import (
    Design,
    add_own,
    add_product,
    add_weights,
    covariances,
    linear_predictor,
    product_terms,
    variances,
)
from bayespool.models.priors import Prior
from bayespool.models.structure import Block, Coefficient, Predictor, Structure

__all__ = ["Density"]

FloatArray = npt.NDArray[np.float64]

_FIRST_SCALE = float(np.exp(-0.3))
_SUM_PRECISION = 1e6  # holds each factor's effects to a sum of zero; draws are centred exactly afterwards


class Density:
    """Joint log density of coefficients and effects, x, and log scales, θ.

    Parameters
    ----------
    structure : Structure

    Attributes
    ----------
    scales : tuple of str
        Names of the factors, in the order of θ.
    size : int
        Length of x.

    Raises
    ------
    InputError
        A prior whose density this engine does not know.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.scales = tuple(name for name, group in structure.groups.items() if group.size > 1)
        self.slices: dict[str, slice] = {}
        stop = 0
        for name, coefficient in structure.coefficients.items():
            width = 1 if coefficient.size is None else coefficient.size
            self.slices[name], stop = slice(stop, stop + width), stop + width
        for name in self.scales:
            self.slices[name], stop = (
                slice(stop, stop + structure.groups[name].size),
                stop + structure.groups[name].size,
            )
        self.size = stop
        self._priors = {n: _coefficient_prior(n, c) for n, c in structure.coefficients.items()}
        scale_priors = {n: _scale_prior(n, group.scale) for n, group in structure.groups.items()}
        self._scale_priors = [scale_priors[name] for name in self.scales]
        self._sums = np.zeros((self.size, self.size))
        for name in self.scales:
            self._sums[self.slices[name], self.slices[name]] = _SUM_PRECISION
        self._blocks = [_Prepared(block, self) for block in structure.blocks if len(block.successes)]

    def start(self, near: Mapping[str, FloatArray] | None = None) -> tuple[FloatArray, FloatArray]:
        """A point x and log scales θ to start from.

        Coefficients are at the centre of their priors, effects zero and scales 0.74; or where ``near`` has
        them, by the names of the variables.
        """
        x, near = np.zeros(self.size), near or {}
        for name in self.scales:
            x[self.slices[name]] = near.get(f"{name}_effect", 0.0)
        theta = np.array([np.log(near.get(f"sigma_{name}", _FIRST_SCALE)) for name in self.scales])
        for name, coefficient in self.structure.coefficients.items():
            if coefficient.prior.distribution == "Normal":
                x[self.slices[name]] = coefficient.prior.args[0] + coefficient.shift
            if name in near:
                x[self.slices[name]] = logit(near[name]) if coefficient.logit else near[name]
        return x, theta

    def log_density(self, x: FloatArray, theta: FloatArray) -> float:
        """Log density at (x, θ), Jacobian of the log scales (and logits) included, up to a constant."""
        return self._prior(x, theta)[0] + sum(block.log_likelihood(x) for block in self._blocks)

    def log_densities(self, x: FloatArray, theta: FloatArray) -> FloatArray:
        """`log_density` of many points, x and θ of shapes (point, parameter) and (point, scale)."""
        return np.array([self.log_density(one, at) for one, at in zip(x, theta, strict=True)])

    def expand(
        self, x: FloatArray, theta: FloatArray, *, expected: bool = False
    ) -> tuple[float, FloatArray, FloatArray]:
        """`log_density`, its gradient in x, and the negative Hessian.

        With ``expected`` the likelihood's part of the Hessian is its Fisher information, positive
        semidefinite.
        """
        value, gradient, diagonal = self._prior(x, theta)
        hessian = self._prior_hessian(diagonal)
        for block in self._blocks:
            value += block.add_derivatives([(1.0, block.predictors(x))], gradient, hessian, expected=expected)
        return value, gradient, hessian

    def mean_derivatives(
        self, x: FloatArray, theta: FloatArray, covariance: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient and negative Hessian, means over the Gaussian about x with a covariance, shape (parameter,
        parameter).
        """
        _, gradient, diagonal = self._prior(x, theta)
        hessian = self._prior_hessian(diagonal)
        for block in self._blocks:
            block.add_derivatives(block.nodes(x, covariance), gradient, hessian, expected=False)
        return gradient, hessian

    def drift(self, x: FloatArray, theta: FloatArray, lower: FloatArray) -> FloatArray:
        """How the mode x moves with θ, dx/dθ, shape (scale, parameter), from the lower Cholesky factor of the
        curvature there.
        """
        pull = np.zeros((len(self.scales), self.size))
        for g, name in enumerate(self.scales):
            where = self.slices[name]
            pull[g, where] = 2 * np.exp(-2 * theta[g]) * x[where]
        drift: FloatArray = cho_solve((lower, True), pull.T).T
        return drift

    def _prior(self, x: FloatArray, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Log density of the priors, its gradient in x, and the diagonal of the negative Hessian but for what
        holds the sums of effects.
        """
        value, gradient, diagonal = 0.0, np.empty(self.size), np.empty(self.size)
        for name, prior in self._priors.items():
            where = self.slices[name]
            log_density, gradient[where], second = prior(x[where])
            value += float(log_density.sum())
            diagonal[where] = -second
        for g, name in enumerate(self.scales):
            where = self.slices[name]
            effect, precision = x[where], np.exp(-2 * theta[g])
            total = float(effect.sum())
            value += self._scale_priors[g](theta[g])
            value -= (len(effect) - 1) * theta[g] + 0.5 * precision * float(effect @ effect)
            value -= 0.5 * _SUM_PRECISION * total**2
            gradient[where] = -precision * effect - _SUM_PRECISION * total
            diagonal[where] = precision
        return value, gradient, diagonal

    def _prior_hessian(self, diagonal: FloatArray) -> FloatArray:
        hessian = self._sums.copy()
        np.einsum("ii->i", hessian)[:] += diagonal
        return hessian


class _Prepared:
    """A block with the design matrix of each predictor.

    Values of the predictors have shape (predictor, observation).
    """

    def __init__(self, block: Block, density: Density) -> None:
        self.successes, self.trials = block.successes.astype(float), block.trials.astype(float)
        n = len(self.successes)
        self.designs = tuple(_design(predictor, n, density) for predictor in block.predictors)
        self.is_product = block.link is not None
        given = block.link.residual if block.link is not None else None
        self.residual = np.zeros(n) if given is None else given

    def predictors(self, x: FloatArray) -> FloatArray:
        return np.array([linear_predictor(design, x) for design in self.designs])

    def log_likelihood(self, x: FloatArray) -> float:
        z = self.predictors(x)
        eta = product_terms(z, self.residual)[0] if self.is_product else z[0]
        return _binomial_terms(eta, self.successes, self.trials)[0]

    def nodes(self, x: FloatArray, covariance: FloatArray) -> list[tuple[float, FloatArray]]:
        """Weights and values of the predictors: a cubature over the Gaussian about x."""
        z = self.predictors(x)
        n_predictors = len(z)
        variance = np.empty((z.shape[1], n_predictors, n_predictors))
        for k in range(n_predictors):
            for m in range(k):
                both = covariances(self.designs[k], self.designs[m], covariance)
                variance[:, k, m] = variance[:, m, k] = both
            variance[:, k, k] = variances(self.designs[k], covariance)
        variance[:, range(n_predictors), range(n_predictors)] += 1e-10
        root = np.sqrt(variance) if n_predictors == 1 else np.linalg.cholesky(variance)
        center = 2 / 3 if n_predictors == 1 else 0.0  # three nodes of Gauss and Hermite, or those of degree 3
        reach = np.sqrt(n_predictors / (1 - center))
        nodes = [(center, z)] if center else []
        for axis in range(n_predictors):
            moved = reach * root[:, :, axis].T
            nodes += [((1 - center) / (2 * n_predictors), z + sign * moved) for sign in (1, -1)]
        return nodes

    def add_derivatives(
        self,
        nodes: list[tuple[float, FloatArray]],
        gradient: FloatArray,
        hessian: FloatArray,
        *,
        expected: bool,
    ) -> float:
        """Add to both the mean over the nodes, and return that of the log likelihood."""
        n_predictors, n = len(self.designs), len(self.successes)
        value, slope, bend = 0.0, np.zeros((n_predictors, n)), np.zeros((n_predictors, n_predictors, n))
        for at, z in nodes:
            if self.is_product:
                eta, first, second = product_terms(z, self.residual)
                log_likelihood, score, information = _binomial_terms(eta, self.successes, self.trials)
                add_weights(at, score, information, first, second, expected, slope, bend)
            else:
                log_likelihood, score, information = _binomial_terms(z[0], self.successes, self.trials)
                slope[0] += at * score
                bend[0, 0] += at * information
            value += at * log_likelihood
        for m, design in enumerate(self.designs):
            add_own(design, slope[m], bend[m, m], gradient, hessian)
            for k in range(m):
                add_product(self.designs[k], design, bend[k, m], hessian)
        return value


def _binomial_terms(
    eta: FloatArray, successes: FloatArray, trials: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Log likelihood of k ~ Binomial(n, p), logit p = η, up to a constant; its first derivative in η and
    minus its second one, each of shape (observation,).

    In numpy, whose exponentials and logarithms are several times as fast as those of a compiled loop.
    """
    small = np.exp(-np.abs(eta))
    larger = 1 / (1 + small)
    smaller = small * larger
    p = np.where(eta >= 0, larger, smaller)
    value = float(successes @ eta - trials @ (np.maximum(eta, 0) - np.log(larger)))
    return value, successes - trials * p, trials * smaller * larger


def _design(predictor: Predictor, n: int, density: Density) -> Design:
    columns = [np.arange(density.size)[density.slices[name]] for name in predictor.coefficients]
    parts = [np.asarray(v, dtype=float).reshape(n, -1) for v in predictor.coefficients.values()]
    effects = [density.slices[g].start + i for g, i in predictor.groups.items() if g in density.scales]
    return Design(
        np.hstack(parts) if parts else np.zeros((n, 0)),
        np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64),
        np.column_stack(effects).astype(np.int64) if effects else np.zeros((n, 0), dtype=np.int64),
    )


_Prior = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]


def _coefficient_prior(name: str, coefficient: Coefficient) -> _Prior:
    """Log density of a coefficient on the scale the predictors use, with first and second derivative."""
    prior, logit, shift = coefficient.prior, coefficient.logit, coefficient.shift
    if prior.distribution == "Normal" and not logit:
        mean, sd = _parameters(name, prior)

        def normal(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            z = (x - shift - mean) / sd
            return -0.5 * z**2, -z / sd, np.full_like(x, -1 / sd**2)

        return normal
    if prior.distribution == "Logistic" and not logit:
        mean, scale = _parameters(name, prior)

        def logistic(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            z = (x - shift - mean) / scale
            p = expit(z)
            return -z - 2 * np.logaddexp(0, -z), (1 - 2 * p) / scale, -2 * p * (1 - p) / scale**2

        return logistic
    if prior.distribution == "Beta" and logit:
        a, b = _parameters(name, prior)

        def beta(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            p = expit(x)
            value = -a * np.logaddexp(0, -x) - b * np.logaddexp(0, x) - betaln(a, b)
            return value, a - (a + b) * p, -(a + b) * p * (1 - p)

        return beta
    kinds = "Beta" if logit else "Normal or Logistic"
    raise InputError(
        f"prior of {name}: the laplace engine takes {kinds}, not {prior}", hint="use the nuts engine"
    )


def _scale_prior(name: str, prior: Prior) -> Callable[[float], float]:
    """Log density of log σ."""
    if prior.distribution == "HalfNormal":
        (scale,) = _parameters(f"sigma_{name}", prior)
        return lambda theta: float(theta - 0.5 * (np.exp(theta) / scale) ** 2)
    if prior.distribution == "Exponential":
        (rate,) = _parameters(f"sigma_{name}", prior)
        return lambda theta: float(theta - rate * np.exp(theta))
    raise InputError(
        f"prior of sigma_{name}: the laplace engine takes HalfNormal or Exponential, not {prior}",
        hint="use the nuts engine",
    )


_FORMS = {  # what to write, how many parameters, and from which on they must be positive
    "Normal": ("Normal(mean, scale), the scale positive", 2, 1),
    "Logistic": ("Logistic(mean, scale), the scale positive", 2, 1),
    "Beta": ("Beta(a, b), both positive", 2, 0),
    "HalfNormal": ("HalfNormal(scale), the scale positive", 1, 0),
    "Exponential": ("Exponential(rate), the rate positive", 1, 0),
}


def _parameters(name: str, prior: Prior) -> tuple[float, ...]:
    form, n, first_positive = _FORMS[prior.distribution]
    if len(prior.args) != n or not all(a > 0 for a in prior.args[first_positive:]):
        raise InputError(f"prior of {name}: {prior} is no density", hint=f"write {form}")
    return prior.args
