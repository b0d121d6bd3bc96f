"""The fast engine: Gaussian approximation at the mode, with the group scales integrated instead of plugged
in.

For log scales θ the conditional posterior of everything else, x, is approximated by a Gaussian at its mode;
the marginal density of θ follows from it (Tierney & Kadane 1986; Rue, Martino & Chopin 2009), and is
corrected by that of the best Gaussian, which may lie off the mode (`bayespool.inference.modes.find_center`).
θ itself is drawn from a fixed low-discrepancy set of points spread about its mode, each weighted by that
marginal density over the density it was placed with. A mode is looked for at a few of them; the rest is
interpolated (`bayespool.inference.points`).

The curvature is an arrowhead (`bayespool.inference.arrow`), so that the cost grows linearly with topics.
Effects of cells, an organization on a topic each, are not part of x: they are integrated
(`bayespool.inference.cells`), and drawn at the end where needed.

References
----------
H. Rue, S. Martino and N. Chopin (2009). Approximate Bayesian inference for latent Gaussian models
by using integrated nested Laplace approximations. Journal of the Royal Statistical Society B 71(2), 319–392.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError
from scipy.special import expit, ndtri

from bayespool.errors import DiagnosticsWarning, InputError, warn_caller
from bayespool.inference.arrow import Arrow, Factor
from bayespool.inference.density import Density
from bayespool.inference.fit import Fit
from bayespool.inference.modes import (
    NEAR_END,
    Mode,
    factor_of,
    find_center,
    find_mode,
    find_modes,
    find_scales,
)
from bayespool.inference.points import axis_points, interpolate, lay_points, straightened
from bayespool.measures import Diagnostics
from bayespool.models.families import draw_prior

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from bayespool.models import Evidence, ModelSpec

FloatArray = npt.NDArray[np.float64]

_N_MANY = 4096  # points that scales are drawn from
_N_NODES = 8  # for each scale: where modes are looked for
_N_CENTERED = 3  # and of these, where the mean is looked for
_N_STEPS = 2  # from the mode to it where the scales are likeliest, one elsewhere
_INSIDE = (-3.2, 2.5)  # standard deviations, the first one straightened, between which these are
_NEAR_RIDGE = 0.01  # twice what is left to gain in log density on a ridge that is looked at
_MOST_OFF = 0.1  # of its width, an end of a 95 % interval of a total
_LOOKED_AT = (-2.4, -1.2, 0.0, 1.2, 2.4)  # standard deviations from the mean of a total
_LEAST = 0.05  # standard deviation of a log scale, about which points are laid
_ONE_SD = (0.1587, 0.8413)  # quantiles of a normal distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace:
    """Settings of the engine.

    Parameters
    ----------
    draws, chains : int
        Their product is the number of draws, which are independent and form one chain.
    n_points : int
        Points of the scales that have a Gaussian of their own, for each scale.
    check : bool
        Whether totals are compared with a finer approximation.
    """

    name: ClassVar[str] = "laplace"
    independent: ClassVar[bool] = True
    takes_over: ClassVar[str] = "nuts"

    draws: int = 2000
    chains: int = 1
    n_points: int = 32
    check: bool = True

    def __post_init__(self) -> None:
        if min(self.draws, self.chains, self.n_points) < 1:
            raise InputError(f"draws, chains and n_points must be at least 1: {self}")

    def fit(
        self,
        spec: ModelSpec,
        evidence: Evidence,
        random_seed: int,
        *,
        known: Sequence[int] | None = None,
    ) -> Fit:
        """Independent draws from the approximate posterior of a model, see `Engine.fit`.

        Returns
        -------
        Fit
            With one chain.

        Warns
        -----
        DiagnosticsWarning
            No mode found, a curvature that is not positive, or ends of intervals of totals that a finer
            approximation has elsewhere (`Approximation.off`).
        """
        structure = spec.structure(evidence, known)
        density, n, off = Density(structure), self.draws * self.chains, 0.0
        with one_thread():
            approximation = approximate(density, n_points=self.n_points)
            x, theta, point = approximation.draw(n, np.random.default_rng(random_seed))
            if self.check:
                off = approximation.off()
        problems: tuple[str, ...] = ()
        if not approximation.converged:
            problems += ("no mode with positive curvature was found",)
        if np.isnan(off):
            problems += ("how far the ends of an interval are off cannot be found",)
        elif off > _MOST_OFF:
            problems += (f"the end of an interval is off by {off:.2f} of its width",)
        diagnostics = Diagnostics(self.name, float("nan"), float(n), float(n), 0, problems, off)
        if problems:
            warn_caller(f"{spec.name}: {'; '.join(problems)}", DiagnosticsWarning)
        variables: dict[str, FloatArray] = {}
        dims: dict[str, tuple[str, ...]] = {}
        for name, coefficient in structure.coefficients.items():
            values = x[:, density.slices[name]]
            values = expit(values) if coefficient.logit else values
            variables[name] = values[None, :, 0] if coefficient.size is None else values[None]
            dims[name] = () if coefficient.dim is None else (coefficient.dim,)
        coords, rng = dict(evidence.coords), np.random.default_rng([random_seed, 1])
        for name, group in structure.groups.items():
            kept = np.arange(group.size) if group.kept is None else group.kept
            if name in density.scales:
                scale = np.exp(theta[:, density.scales.index(name)])
                if group.is_cell:
                    effect = density.draw_cells(x, theta, rng)
                else:
                    effect = x[:, density.slices[name]]
                    if not group.is_slope:
                        effect = effect - effect.mean(axis=1, keepdims=True)  # zero to the last bit
            else:  # no data speak of the scale of a single group
                scale, effect = draw_prior(group.scale, n, rng), np.zeros((n, len(kept)))
            if group.kept is None or len(kept):
                variables[f"{name}_effect"], dims[f"{name}_effect"] = effect[None], (group.dim,)
            variables[f"sigma_{name}"], dims[f"sigma_{name}"] = scale[None], ()
            if group.kept is not None:
                coords[group.dim] = tuple(coords[group.dim][i] for i in kept)
        return Fit(variables, dims, coords, {"point": point[None]}, diagnostics)


@dataclass(frozen=True, eq=False)
class Approximation:
    """A mixture of Gaussians over x, one for each point in θ.

    What is known of a few nodes in θ is known of every point by interpolation.

    Attributes
    ----------
    density : Density
    theta : ndarray, shape (point, scale)
    weight : ndarray, shape (point,)
        Sum to 1.
    mean : ndarray, shape (point, parameter)
        Of x at each point.
    nodes : ndarray, shape (node, scale)
    likelihood : ndarray, shape (node, global or local, global + width)
        Negative Hessian about the mean at each node but for the effects' priors, in the form of
        `Layout.zeros`.
    shares : ndarray, shape (point, node)
        What each node counts at each point.
    node_mean : ndarray, shape (node, parameter)
    many : ndarray, shape (draw, scale)
        Points that θ is drawn from.
    chance : ndarray, shape (draw,)
        Their weights, which sum to 1.
    many_shares : ndarray, shape (draw, node)
    nearest : ndarray of int, shape (draw,)
        The point of the nearest Gaussian.
    converged : bool
        Whether every mode was found and every curvature positive.
    """

    density: Density
    theta: FloatArray
    weight: FloatArray
    mean: FloatArray
    nodes: FloatArray
    likelihood: FloatArray
    shares: FloatArray
    node_mean: FloatArray
    many: FloatArray
    chance: FloatArray
    many_shares: FloatArray
    nearest: npt.NDArray[np.intp]
    converged: bool

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp]]:
        """Draws of x and θ, and the point that each comes from.

        Of many more points than have a Gaussian, θ is drawn systematically, so that each occurs within one of
        its expected number of times. The mean of x is there; what is about it is of the nearest Gaussian.
        """
        position = (rng.permutation(n) + rng.random()) / n
        drawn = np.searchsorted(np.cumsum(self.chance), position).clip(max=len(self.chance) - 1)
        x, point = self.many_shares[drawn] @ self.node_mean, self.nearest[drawn]
        for k in np.unique(point):
            mine = point == k
            x[mine] += self.about(k).draw(int(mine.sum()), rng)
        return x, self.many[drawn], point

    def about(self, k: int) -> Factor:
        """The Gaussian about the mean at a point."""
        density = self.density
        between = np.tensordot(self.shares[k], self.likelihood, axes=1)
        try:
            return Arrow(density.layout, between + density.prior_curvature(self.theta[k])).factor(
                density.sums
            )
        except LinAlgError:  # not between these nodes
            n = int(np.argmax(self.shares[k]))
            curvature = self.likelihood[n] + density.prior_curvature(self.nodes[n])
            return Arrow(density.layout, curvature).factor(density.sums)

    @property
    def best(self) -> int:
        """The point of the largest weight."""
        return int(np.argmax(self.weight))

    def off(self) -> float:
        """How far the ends of 95 % intervals of expected totals are off, as a share of their width, at the
        point of the largest weight: the largest over the blocks of observations; NaN where that of one
        cannot be found.

        The density of a total is the height of the ridge there over the curvature across it (Tierney & Kadane
        1986), which need not be Gaussian. No random number takes part.
        """
        density, theta = self.density, self.theta[self.best]
        mean, about = find_center(density, theta, self.mean[self.best], self.about(self.best), 1)[:2]
        worst = 0.0
        for direction in density.totals(mean, theta):
            toward = about.solve(direction)
            spread = np.sqrt(float(direction @ toward))
            if not spread > 0:
                continue
            log_height = [_ridge(density, theta, mean + s * toward / spread, direction) for s in _LOOKED_AT]
            worst = float(np.maximum(worst, _ends_off(np.array(log_height))))
        return worst


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
        Draws of all variables of a fit to nearly the same data: two points for each scale are laid about the
        scales that it has, whose mode is not looked for.

    Returns
    -------
    Approximation
    """
    n_scales = len(density.scales)
    x, theta = density.start(near)
    if n_scales == 0:
        middle, one, nodes = find_mode(density, theta, x), np.ones((1, 1)), theta[None]
        mean, likelihood, _ = _means(density, [middle], nodes, nodes, 1)
        many = mean, nodes, one[0], one, np.zeros(1, dtype=np.intp)
        return Approximation(density, nodes, one[0], mean, nodes, likelihood, one, *many, middle.is_fine)
    if near is None:
        theta, middle, drift, spread = find_scales(density, theta, x)
        standard, log_placed = lay_points(max(_N_MANY, n_points * n_scales), n_scales)
    else:
        middle = find_mode(density, theta, x, NEAR_END)
        drift = density.drift(middle.x, theta, middle.about)
        low, high = np.quantile(np.log([near[f"sigma_{n}"] for n in density.scales]), _ONE_SD, axis=1)
        spread = np.maximum((high - low) / 2, _LEAST)
        standard = axis_points(n_scales)
        log_placed = np.zeros(len(standard))
    points = theta + standard * spread
    straight = straightened(points, theta, spread)
    few = slice(len(points) if near is not None else n_points * n_scales)  # what has Gaussians
    candidates, n_centered = np.arange(len(points))[few], 1 if near is not None else len(points[few]) + 1
    n_nodes = len(candidates)
    if near is None and density.is_concave:  # else modes, and what hangs on them, may jump
        within = (straight[few] > _INSIDE[0]) & (standard[few] < _INSIDE[1])
        candidates = np.flatnonzero(within.all(axis=1))
        n_nodes, n_centered = min(n_points, _N_NODES) * n_scales, _N_CENTERED * n_scales + 1
    looked_at, found = find_modes(
        density, theta, middle, points[candidates], straight[candidates], spread[:, None] * drift, n_nodes
    )
    chosen = candidates[looked_at]
    fine = [k for k, mode in enumerate(found) if mode.is_fine]
    found, nodes = [middle] + [found[k] for k in fine], np.vstack([theta, points[chosen[fine]]])
    at_nodes = np.vstack([0 * theta, straight[chosen[fine]]])
    mean, likelihood, log_marginal = _means(density, found, nodes, at_nodes, n_centered)
    shares = interpolate(straight, at_nodes, by_axis=density.is_concave)
    log_weight = shares @ (log_marginal - density.log_prior_of_scales(nodes.T))
    log_weight += density.log_prior_of_scales(points.T) - log_placed
    weight = np.exp(log_weight - log_weight.max())
    counts = np.flatnonzero(
        weight[few] > 0.01 * weight[few].max()
    )  # the rest is a few thousandths of the whole
    far = (straight[counts] ** 2).sum(axis=1) - 2 * straight @ straight[counts].T
    return Approximation(
        density,
        points[counts],
        weight[counts] / weight[counts].sum(),
        shares[counts] @ mean,
        nodes,
        likelihood,
        shares[counts],
        mean,
        points,
        weight / weight.sum(),
        shares,
        far.argmin(axis=1),
        middle.is_fine and not np.isin(np.delete(chosen, fine), counts).any(),
    )


def _means(
    density: Density, modes: list[Mode], nodes: FloatArray, at_nodes: FloatArray, n_centered: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean of x at nodes, the likelihood's part of the negative Hessian about it, and the log marginal of θ,
    all found at the first nodes; how far they are off mode, curvature and Laplace's marginal is much the same
    elsewhere.
    """
    mean, curvature = np.array([mode.x for mode in modes]), np.array([mode.curvature.outer for mode in modes])
    log_marginal, gained = np.array([mode.log_marginal for mode in modes]), np.zeros(len(modes[:n_centered]))
    off, changed, n_steps = np.zeros_like(mean[:n_centered]), np.zeros_like(curvature[:n_centered]), _N_STEPS
    for k, (at, mode) in enumerate(zip(nodes[:n_centered], modes, strict=False)):
        x, _, about, bound = find_center(density, at, mode.x + off[0], mode.about, n_steps)
        off[k], n_steps = x - mode.x, 1
        if about is not None:
            changed[k] = about.outer - curvature[k]
            gained[k] = bound - mode.log_marginal if density.is_concave else 0.0  # else not exact enough
    shares = interpolate(at_nodes, at_nodes[:n_centered], by_axis=density.is_concave)
    mean += shares @ off
    log_marginal += shares @ gained
    for k, at in enumerate(nodes):  # one by one: with thousands of topics each is large
        moved = curvature[k] + np.tensordot(shares[k], changed, axes=1)
        with suppress(LinAlgError):
            Arrow(density.layout, moved).factor(density.sums)
            curvature[k] = moved
        curvature[k] -= density.prior_curvature(at)
    return mean, curvature, log_marginal


def _ridge(density: Density, theta: FloatArray, x: FloatArray, direction: FloatArray) -> float:
    """Log density of direction·x, up to a constant: from the best x of those with the same value; NaN where
    none is found with a positive curvature.
    """
    for _ in range(8):
        value, gradient, curvature = density.expand(x, theta)
        _, about, exact = factor_of(density, theta, x, curvature)
        toward, step = about.solve(direction), about.solve(gradient)
        across = float(direction @ toward)
        step = step - toward * (float(direction @ step) / across)
        if float(gradient @ step) < _NEAR_RIDGE:
            return value - 0.5 * (about.log_determinant + float(np.log(across))) if exact else float("nan")
        x = x + step * min(1.0, 1.0 / float(np.abs(step).max()))
    return float("nan")


def _ends_off(log_height: FloatArray) -> float:
    """How far the quantiles .025 and .975 are off those of a standard normal, as a share of its interval,
    from log densities at `_LOOKED_AT`.
    """
    if not np.isfinite(log_height).all():
        return float("nan")
    s = np.linspace(-5, 5, 2001)
    bent = np.polyfit(_LOOKED_AT, log_height + 0.5 * np.square(_LOOKED_AT), 4)
    inside = np.clip(s, _LOOKED_AT[0], _LOOKED_AT[-1])
    log_density = -0.5 * s**2 + np.polyval(bent, inside)
    share = np.cumsum(np.exp(log_density - log_density.max()))
    ends = np.interp([0.025, 0.975], share / share[-1], s)
    return float(np.abs(ends - ndtri([0.025, 0.975])).max() / (2 * ndtri(0.975)))


def one_thread() -> AbstractContextManager[Any]:
    """A context in which linear algebra has one thread: several wait longer for each other than such small
    systems take.
    """
    limited: AbstractContextManager[Any] = _threads().limit(limits=1)
    return limited


@cache
def _threads() -> ThreadpoolController:
    """Control of the BLAS libraries that are loaded; finding them takes longer than a small fit."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
