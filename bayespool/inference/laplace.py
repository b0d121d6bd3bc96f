"""The fast engine: Gaussian approximation at the mode, with the group scales integrated instead of plugged
in.

For log scales θ the conditional posterior of everything else, x, is approximated by a Gaussian at its mode;
the marginal density of θ follows from it (Tierney & Kadane 1986; Rue, Martino & Chopin 2009). θ itself is
integrated over a fixed low-discrepancy set of points spread about its mode, each weighted by that marginal
density over the density it was placed with.

References
----------
H. Rue, S. Martino and N. Chopin (2009). Approximate Bayesian inference for latent Gaussian models
by using integrated nested Laplace approximations. Journal of the Royal Statistical Society B 71(2), 319–392.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.special import expit, ndtri

from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.estimates import Diagnostics
from bayespool.inference.density import Density
from bayespool.inference.fit import Fit
from bayespool.models.structure import Group, Structure

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["Approximation", "Laplace", "approximate"]

FloatArray = npt.NDArray[np.float64]

_STEP = 0.15  # of the finite differences in θ, about a fifth of its standard deviation
_GAIN = 5e-3  # in log density, twice what is left to gain: θ's mode is where points are laid about, no more
_LONGEST = 4.0  # step in any parameter, all of which are log odds: far out the density has no curvature
_LEAST_CHECKED = 100  # draws, for a tail to be fitted to
_LEAST_SHARE = 0.05  # of effective draws; most fits have 0.6 and more
_LEFT = 2.2  # mean distance of the points to the left of θ's mode: near zero any scale may be as likely
_RIGHT = 1.3  # standard deviation of those to the right
_NEAR_ZERO = 0.5  # of the median point: from a least one below, a scale may reach zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace:
    """Settings of the engine.

    Parameters
    ----------
    draws : int
        Independent draws.
    n_points : int
        Points at which the scales are integrated, for each of them.
    n_checked : int
        Draws at which the exact density is compared with the approximation; 0 for no check.
    """

    draws: int = 2000
    n_points: int = 32
    n_checked: int = 200

    def __post_init__(self) -> None:
        if self.draws < 1 or self.n_points < 1:
            raise InputError(f"draws and n_points must be at least 1: {self}")
        if self.n_checked < 0:
            raise InputError(f"n_checked must not be negative: {self}")

    def fit(
        self,
        structure: Structure,
        coords: Mapping[str, Any],
        *,
        random_seed: int,
        near: Mapping[str, FloatArray] | None = None,
    ) -> Fit:
        """Independent draws from the approximate posterior of a model.

        Parameters
        ----------
        structure : Structure
        coords : mapping of str to tuple
            Values of the named coordinates.
        random_seed : int
            The same seed, structure and settings give the same bytes.
        near : mapping of str to ndarray, optional
            Variables at which to look for the mode first, the means of a fit to nearly the same data.

        Returns
        -------
        Fit
            With one chain.

        Warns
        -----
        DiagnosticsWarning
            No mode found, a curvature that is not positive, or a few importance ratios to the exact density
            that carry most of the weight.
        """
        density = Density(structure)
        n, pareto_k, share = float(self.draws), float("nan"), 1.0
        with _threads().limit(limits=1):  # they wait longer for each other than such small systems take
            approximation = approximate(density, n_points=self.n_points, near=near)
            x, theta, point = approximation.draw(self.draws, np.random.default_rng(random_seed))
            if self.n_checked:
                log_ratio = approximation.log_ratios(x, point, self.n_checked)
                pareto_k, share = _pareto_k(log_ratio), _effective_share(log_ratio)
        problems: tuple[str, ...] = ()
        if not approximation.converged:
            problems += ("no mode with positive curvature was found",)
        if not share >= _LEAST_SHARE:
            problems += (f"the approximation is far from the density (Pareto k is {pareto_k:.1f})",)
        diagnostics = Diagnostics("laplace", float("nan"), n, n, 0, problems, pareto_k)
        if problems:
            warnings.warn("; ".join(problems), DiagnosticsWarning, stacklevel=2)
        variables: dict[str, FloatArray] = {}
        dims: dict[str, tuple[str, ...]] = {}
        for name, coefficient in structure.coefficients.items():
            values = x[:, density.slices[name]]
            values = expit(values) if coefficient.logit else values
            variables[name] = values[None, :, 0] if coefficient.size is None else values[None]
            dims[name] = () if coefficient.dim is None else (coefficient.dim,)
        for name, group in structure.groups.items():
            effect, scale = np.zeros((self.draws, group.size)), _draw_scale(group, self.draws, random_seed)
            if name in density.scales:
                effect = x[:, density.slices[name]]
                effect = effect - effect.mean(axis=1, keepdims=True)
                scale = np.exp(theta[:, density.scales.index(name)])
            variables[f"{name}_effect"], dims[f"{name}_effect"] = effect[None], (group.dim,)
            variables[f"sigma_{name}"], dims[f"sigma_{name}"] = scale[None], ()
        return Fit(variables, dims, dict(coords), {"point": point[None]}, diagnostics)


@dataclass(frozen=True, eq=False)
class Approximation:
    """A mixture of Gaussians over x, one for each point in θ.

    Attributes
    ----------
    density : Density
    theta : ndarray, shape (point, scale)
    weight : ndarray, shape (point,)
        Sum to 1.
    mode : ndarray, shape (point, parameter)
    cholesky : list of ndarray
        Lower factors of the negative Hessian at each mode.
    log_marginal : ndarray, shape (point,)
        Of θ, as the Gaussians have it.
    converged : bool
        Whether every mode was found and every curvature positive.
    """

    density: Density
    theta: FloatArray
    weight: FloatArray
    mode: FloatArray
    cholesky: list[FloatArray]
    log_marginal: FloatArray
    converged: bool

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp]]:
        """Draws of x and θ, and the point that each comes from.

        Points are drawn systematically, so that each occurs within one of its expected number of times.
        """
        position = (rng.permutation(n) + rng.random()) / n
        point = np.searchsorted(np.cumsum(self.weight), position).clip(max=len(self.weight) - 1)
        noise = rng.normal(size=(n, self.mode.shape[1]))
        x = np.empty_like(noise)
        for k in np.unique(point):
            mine = point == k
            x[mine] = (
                self.mode[k] + solve_triangular(self.cholesky[k], noise[mine].T, lower=True, trans="T").T
            )
        return x, self._spread_out(point, rng), point

    def _spread_out(self, point: npt.NDArray[np.intp], rng: np.random.Generator) -> FloatArray:
        """θ moved about its point: every scale to anywhere half way to its neighbours on either side, and
        from the least one down to zero if it is near.
        """
        moved = np.empty((len(point), len(self.density.scales)))
        for g, scale in enumerate(np.exp(self.theta).T):
            order = np.argsort(scale)
            edges = _edges(scale[order])
            cell = np.empty(len(order), dtype=np.intp)
            cell[order] = np.arange(len(order))
            low, width = edges[:-1][cell[point]], np.diff(edges)[cell[point]]
            moved[:, g] = low + (1 - rng.random(len(point))) * width
        return np.log(moved)

    def log_ratios(self, x: FloatArray, point: npt.NDArray[np.intp], n: int) -> FloatArray:
        """Log of the exact density over that of the mixture, up to a constant, at n of the draws spread over
        all of them, or at all where they are fewer.
        """
        chosen = np.unique(np.linspace(0, len(x) - 1, n).astype(int))
        ratio = self.density.log_densities(x[chosen], self.theta[point[chosen]])
        for i, k in enumerate(point[chosen]):
            standard = self.cholesky[k].T @ (x[chosen[i]] - self.mode[k])
            log_normal = float(np.log(np.diag(self.cholesky[k])).sum() - 0.5 * standard @ standard)
            ratio[i] -= log_normal + self.log_marginal[k]
        return ratio


def approximate(
    density: Density, *, n_points: int = 32, near: Mapping[str, FloatArray] | None = None
) -> Approximation:
    """The nested Laplace approximation of a density.

    Parameters
    ----------
    density : Density
    n_points : int
        For each scale.
    near : mapping of str to ndarray, optional
        As of `Laplace.fit`.

    Returns
    -------
    Approximation
    """
    n_scales = len(density.scales)
    x, theta = density.start(near)
    if n_scales == 0:
        x, lower, log_marginal, fine = _mode(density, theta, x)
        x, lower = _centre(density, theta, x, lower)
        return Approximation(
            density, theta[None], np.ones(1), x[None], [lower], np.array([log_marginal]), fine
        )
    theta, x, axes = _theta_mode(density, theta, x)
    x, lower, *_ = _mode(density, theta, x)
    drift = density.drift(x, theta, lower)
    standard, log_placed = _points(n_points * n_scales, n_scales)
    thetas = theta + standard @ np.linalg.cholesky(axes @ axes.T).T
    found = [_mode(density, t, x + (t - theta) @ drift) for t in thetas]
    log_weight = np.array([f[2] for f in found]) - log_placed
    weight = np.exp(log_weight - log_weight.max())
    kept = np.flatnonzero(weight > 0.01)  # the rest is a few thousandths of the whole
    centred = [_centre(density, thetas[k], found[k][0], found[k][1]) for k in kept]
    return Approximation(
        density,
        thetas[kept],
        weight[kept] / weight[kept].sum(),
        np.array([x for x, _ in centred]),
        [lower for _, lower in centred],
        np.array([found[k][2] for k in kept]),
        all(found[k][3] for k in kept),
    )


def _theta_mode(
    density: Density, theta: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mode of θ's marginal, x's mode there, and axes A with A·Aᵀ the inverse curvature; Newton's method."""
    n = len(theta)
    unit = np.eye(n) * _STEP
    for _ in range(15):
        x, lower, center, _ = _mode(density, theta, x)
        moved = _STEP * density.drift(x, theta, lower)
        plus = np.array([_mode(density, theta + u, x + d)[2] for u, d in zip(unit, moved, strict=True)])
        minus = np.array([_mode(density, theta - u, x - d)[2] for u, d in zip(unit, moved, strict=True)])
        curvature = np.diag((plus - 2 * center + minus) / _STEP**2)
        for i in range(n):
            for j in range(i):
                both = _mode(density, theta + unit[i] + unit[j], x + moved[i] + moved[j])[2]
                curvature[i, j] = curvature[j, i] = (both - plus[i] - plus[j] + center) / _STEP**2
        values, vectors = np.linalg.eigh(-curvature)
        values = np.clip(values, 1.0, None)  # a scale is never known worse than to a factor of e
        gradient = (plus - minus) / (2 * _STEP)
        step = vectors @ ((vectors.T @ gradient) / values)
        gain = float(gradient @ step)
        step *= min(1.0, 1.0 / np.abs(step).max()) if gain > 0 else 1.0
        theta = theta + step
        if gain < _GAIN:
            break
    return theta, x, vectors / np.sqrt(values)


def _mode(density: Density, theta: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray, float, bool]:
    """Mode of x given θ, lower Cholesky factor of the curvature there, log marginal of θ, and whether all
    went well.
    """
    value, gradient, curvature = density.expand(x, theta)
    converged = False
    for _ in range(100):
        lower, exact = _factor(density, theta, x, curvature)
        step = cho_solve((lower, True), gradient, check_finite=False)
        if float(gradient @ step) < 1e-6:
            converged = exact  # else it is not a maximum of the exact density
            break
        length = min(1.0, _LONGEST / float(np.abs(step).max()))
        while not (new := density.expand(x + length * step, theta))[0] >= value - 1e-9 and length > 1e-4:
            length /= 2
        if not np.isfinite(new[0]):
            break
        x = x + length * step
        value, gradient, curvature = new
    log_marginal = value - float(np.log(np.diag(lower)).sum())
    return x, lower, log_marginal, converged


def _factor(
    density: Density, theta: FloatArray, x: FloatArray, curvature: FloatArray
) -> tuple[FloatArray, bool]:
    """Lower Cholesky factor of the exact curvature, or of the expected one where that is not positive
    (Newton's steps near the mode, Fisher's scores far from it); whether it is the exact one.
    """
    try:
        return _lower(curvature), True
    except LinAlgError:
        return _lower(density.expand(x, theta, expected=True)[2]), False


def _lower(curvature: FloatArray) -> FloatArray:
    """Lower Cholesky factor, in the order of memory that `cho_solve` does not have to copy."""
    return np.asarray(cholesky(curvature, lower=True, check_finite=False))


def _centre(
    density: Density, theta: FloatArray, x: FloatArray, lower: FloatArray, n_steps: int = 2
) -> tuple[FloatArray, FloatArray]:
    """The Gaussian moved from the mode to where its mean gradient vanishes: the best one by Kullback-Leibler
    divergence.

    Effects of topics without a relevant document are skewed; their mean is well below their mode.
    """
    for _ in range(n_steps):
        covariance = cho_solve((lower, True), np.eye(len(x)), check_finite=False)
        gradient, curvature = density.mean_derivatives(x, theta, covariance)
        try:
            lower = _lower(curvature)
        except LinAlgError:
            return x, lower
        x = x + cho_solve((lower, True), gradient, check_finite=False)
    return x, lower


def _pareto_k(log_ratio: FloatArray) -> float:
    """Shape of the generalised Pareto distribution fitted to the largest importance ratios."""
    from arviz_stats.base import array_stats

    if len(log_ratio) < _LEAST_CHECKED or not np.isfinite(log_ratio).all():
        return float("nan")
    with np.errstate(all="ignore"):  # ratios that are all alike have no tail
        return float(array_stats.psislw(log_ratio.copy())[1])


def _effective_share(log_ratio: FloatArray) -> float:
    """Effective over actual number of draws if they were weighted by the ratios."""
    ratio = np.exp(log_ratio - log_ratio.max())
    return float(ratio.sum() ** 2 / (ratio**2).sum() / len(ratio))


@cache
def _threads() -> ThreadpoolController:
    """Control of the BLAS libraries that are loaded; finding them takes longer than a small fit."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _edges(scale: FloatArray) -> FloatArray:
    """Where the cells of ascending scales begin and end, one more than there are scales."""
    if len(scale) == 1:
        return np.array([0.0, 2 * scale[0]])
    between = (scale[1:] + scale[:-1]) / 2
    is_near = scale[0] < _NEAR_ZERO * np.median(scale)
    least = 0.0 if is_near else 2 * scale[0] - between[0]
    return np.concatenate([[least], between, [2 * scale[-1] - between[-1]]])


def _draw_scale(group: Group, n: int, random_seed: int) -> FloatArray:
    """Draws of a scale that no data speak of, because its factor has a single group: from the prior."""
    rng = np.random.default_rng([random_seed, 1])
    if group.scale.distribution == "HalfNormal":
        return np.abs(rng.normal(scale=group.scale.args[0], size=n))
    return rng.exponential(1 / group.scale.args[0], size=n)


def _points(n: int, n_dims: int) -> tuple[FloatArray, FloatArray]:
    """Points that fill space evenly, shape (point, dimension), and the log density they are placed with.

    To the left of zero the density is exponential, as a scale's logarithm has it where the data allow a scale
    of zero; to the right it is normal.
    """
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (n_dims + 1))
    steps = ratio ** -np.arange(1, n_dims + 1)  # an additive recurrence (Roberts 2018)
    uniform = (0.5 + np.arange(1, n + 1)[:, None] * steps) % 1
    is_left = uniform < 0.5
    normal = ndtri(np.maximum(uniform, 0.5))
    left = np.log(2 * uniform)
    points = np.where(is_left, _LEFT * left, _RIGHT * normal)
    log_density = np.where(
        is_left,
        left - np.log(2 * _LEFT),
        -0.5 * normal**2 - np.log(_RIGHT * np.sqrt(2 * np.pi)),
    )
    return points, log_density.sum(axis=1)
