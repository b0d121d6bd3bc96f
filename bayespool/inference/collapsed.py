"""Densities of thousands of topics, whose effects are integrated out.

What so many topics say of all that they share, and of the variances of their own effects, is nearly
quadratic in both. It is found from means at a few points of these variances, on all topics; what depends on
the other scales, which a pool's few organizations leave wide, needs no topic any more. Given the rest,
effects of topics are normal and independent, but for their sum.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.linalg import LinAlgError, null_space

from bayespool.arrays import AnyArray, BoolArray, FloatArray, OrderArray
from bayespool.inference.arrow import Arrow, Factor, Layout
from bayespool.inference.density import Density
from bayespool.inference.fit import Start
from bayespool.inference.modes import COARSE_TOLERANCE, PosteriorMode, find_center, find_mode, find_scales
from bayespool.inference.points import N_SCALE_POINTS, design_points, draw_points
from bayespool.inference.totals import interval_error

MANY_TOPICS = 2000
"""Topics from which on a search for scales, and weights of models, take a part of them."""
_WIDEST, _LEAST = 0.5, 0.3  # standard deviation over a variance of at least this, where it is quadratic
_SMALLEST = 0.2  # first steps of variances, times the root of the number of parameters
_FAR = 2.5  # standard deviations from the middle of the points to a mode at which they are laid once more
_INSIDE = 1.1  # least variance in the middle, in steps
_MOST_ROUNDS = 5
_MOST_OFF = 3.0  # deviations within which the curvature of the globals changes with variances
_AT_A_TIME = 256  # points with a Gaussian of their own
_MAX_DRAWN = 2**22  # numbers held at a time in double precision


def part_of_topics(n_topics: int) -> BoolArray:
    """Return which topics stand for all, evenly spaced: at most `MANY_TOPICS`."""
    return np.asarray(np.arange(n_topics) % -(-n_topics // MANY_TOPICS) == 0)


class Collapsed(Density):
    """Density of the global parameters and all scales, quadratic but for priors.

    Attributes
    ----------
    whole : Density
    theta : ndarray of float, shape (scale,)
        Log scales about which it is quadratic.
    mean : ndarray of float, shape (parameter,)
        Of all parameters there, with their ``gaussian``.
    """

    def __init__(
        self, whole: Density, theta: FloatArray, x: FloatArray, steps: FloatArray, n_steps: int
    ) -> None:
        n = whole.layout.n_global
        self.__dict__ |= whole.__dict__
        slices = {name: at for name, at in whole.slices.items() if not whole.is_local(name)}
        self._blocks, self.whole, self.theta = [], whole, theta
        self._arrange(Layout(n, 0, 0), slices, tuple(s for s in whole.sums if s.stop <= n))
        self.own = np.array([name not in slices for name in self.scales])
        self._expand_about(x, steps, n_steps)

    def _off(self, theta: FloatArray) -> FloatArray:
        """Return how far variances of topics' effects are from those in the middle."""
        return np.asarray(np.exp(2 * theta[..., self.own]) - np.exp(2 * self.theta[self.own]))

    def _expand_about(self, x: FloatArray, steps: FloatArray, n_steps: int) -> None:
        """Find value, slopes and curvature of the log density with topics integrated out.

        They are at means, after ``n_steps`` from the mode in the middle and one elsewhere, or else at modes.
        """
        n, k, density = self.layout.n_global, len(steps), self.whole
        mode = find_mode(density, self.theta, x, COARSE_TOLERANCE)
        self.mean, self._arrow, bound = _mean(density, self.theta, mode, 0 * mode.x, n_steps)
        self.gaussian = self._arrow.factor(density.sums)
        offset, unit = self.mean - mode.x, np.zeros((k, len(self.theta)))
        unit[:, self.own] = np.diag(steps)
        prior, gradient, diagonal = self._prior(self.mean[:n], self.theta)
        curvature = self.gaussian.lower @ self.gaussian.lower.T - self._prior_hessian(diagonal)
        middle = bound + _log_determinants(self.gaussian) - prior
        moved = np.zeros((k, density.size))

        def look(step: FloatArray, start: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
            """Return value, slopes, curvature and means at other scales and the same globals."""
            there = 0.5 * np.log(np.exp(2 * self.theta) + step)
            mode = find_mode(density, there, start, COARSE_TOLERANCE)
            mean, arrow, bound = _mean(density, there, mode, offset, min(n_steps, 1))
            prior, gradient, diagonal = self._prior(mean[:n], there)
            gaussian, off = arrow.factor(density.sums), self.mean[:n] - mean[:n]
            curvature = gaussian.lower @ gaussian.lower.T - self._prior_hessian(diagonal)
            slope = -gradient - curvature @ off
            value = bound + _log_determinants(gaussian) - prior + float((slope - gradient) @ off) / 2
            return value, slope, curvature, mean

        self._slope, self._bend = np.append(-gradient, np.zeros(k)), np.zeros((n + k, n + k))
        self._bend[:n, :n], self._changes, up = curvature, np.zeros((k, n, n)), np.zeros(k)
        for i in range(k):
            up[i], slope, larger, mean = look(unit[i], mode.x)
            down, other, smaller, opposite = look(-unit[i], 2 * mode.x - (mean - offset))
            self._changes[i] = (larger - smaller) / (2 * steps[i])
            self._slope[n + i] = (up[i] - down) / (2 * steps[i])
            self._bend[n + i, n + i] = (2 * middle - up[i] - down) / steps[i] ** 2
            self._bend[:n, n + i] = self._bend[n + i, :n] = (other - slope) / (2 * steps[i])
            moved[i] = (mean - opposite) / 2
        for i, j in combinations(range(k), 2):
            both = look(unit[i] + unit[j], mode.x + moved[i] + moved[j])[0]
            cross = (up[i] + up[j] - middle - both) / (steps[i] * steps[j])
            self._bend[n + i, n + j] = self._bend[n + j, n + i] = cross
        moved /= steps[:, None]
        self._drifts = moved - self.gaussian.follow(moved[:, :n].T).T  # of means, at the same globals
        has_effects = [name in self.whole.slices for name in np.array(self.scales)[self.own]]
        self._drifts[has_effects] = 0.0  # those of effects with a variance follow from it
        if not np.isfinite(self._bend).all():
            raise LinAlgError("no means were found")

    def expand(
        self, x: FloatArray, theta: FloatArray, *, expected: bool = False
    ) -> tuple[float, FloatArray, Arrow]:
        """Return the log density, its gradient in x, and its negative Hessian."""
        n, at = self.layout.n_global, np.append(x - self.mean[: len(x)], self._off(theta))
        value, gradient, diagonal = self._prior(x, theta)
        changed, pull = self._changed(at[n:]), self._bend @ at
        pull[:n] += changed @ at[:n]
        outer = self._prior_hessian(diagonal) + self._bend[:n, :n] + changed
        value += float((self._slope - 0.5 * pull) @ at)
        return value, gradient + (self._slope - pull)[:n], Arrow(self.layout, outer)

    def _changed(self, off: FloatArray) -> FloatArray:
        """Return what the curvature of globals has more where variances are ``off``, shape (..., n, n)."""
        most = _MOST_OFF * self.deviations
        return np.tensordot(np.clip(off, -most, most), self._changes, axes=1)

    @cached_property
    def free(self) -> FloatArray:
        """Orthonormal directions in which sums of effects do not change, shape (global, direction)."""
        sums = np.zeros((len(self.sums), self.size))
        for i, of in enumerate(self.sums):
            sums[i, of] = 1
        return np.asarray(null_space(sums) if len(sums) else np.eye(self.size))

    def conditional(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log marginals of points θ, with means and roots of precisions of the globals given these.

        Shapes (point,), (point, global) and (point, direction, direction), directions as of ``free``. Priors
        of coefficients are expanded about the middle.
        """
        n = self.layout.n_global
        _, gradient, diagonal = self._prior(self.mean[:n], self.theta)
        at, effects = self._off(theta), self._effects
        change = np.exp(-2 * theta)[:, self._scale_of] - np.exp(-2 * self.theta)[self._scale_of]
        right = self._slope[:n] + gradient - at @ self._bend[n:, :n]
        right[:, effects] -= change * self.mean[effects]
        precision = self._bend[:n, :n] + self._prior_hessian(diagonal) + self._changed(at)
        precision[:, effects, effects] += change
        root: AnyArray = np.linalg.cholesky(self.free.T @ precision @ self.free)
        half = np.linalg.solve(root, (right @ self.free)[..., None])
        off = np.linalg.solve(root.transpose(0, 2, 1), half)[..., 0] @ self.free.T
        log_marginal = self.log_prior_of_scales(theta.T) - theta @ self._n_free
        log_marginal += at @ self._slope[n:] - 0.5 * ((at @ self._bend[n:, n:]) * at).sum(axis=1)
        log_marginal -= 0.5 * change @ self.mean[effects] ** 2
        log_marginal += 0.5 * (half[..., 0] ** 2).sum(axis=1)
        log_marginal -= np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return log_marginal, self.mean[:n] + off, root

    @property
    def deviations(self) -> FloatArray:
        """Likely distances of variances of topics' effects from those in the middle, given all else."""
        n = self.layout.n_global
        curvature = self._bend.diagonal()[n:] + self._slope[n:] ** 2  # at zero the slope alone tells
        return np.asarray(np.where(curvature > 0, curvature, np.nan) ** -0.5)

    def given(self, theta: FloatArray) -> tuple[FloatArray, Factor]:
        """Return mean and Gaussian of all parameters at other scales, given the globals of the middle."""
        n, density = self.layout.n_global, self.whole
        there = np.where(self.own, theta, self.theta)
        changed = density.prior_curvature(there) - density.prior_curvature(self.theta)
        gaussian = Arrow(density.layout, self._arrow.outer + changed).factor(density.sums)
        pull = changed[n:, n:].reshape(-1, density.layout.width, density.layout.width)
        pull = pull @ self.mean[n:].reshape(-1, density.layout.width, 1)
        mean = self.mean + self._off(theta) @ self._drifts
        mean[n:] -= gaussian.solve_groups(pull.reshape(-1))
        return mean, gaussian

    def at(self, start: Start) -> FloatArray:
        """Return the mean of all parameters given globals and scales."""
        mean, gaussian = self.given(start.theta)
        return mean + gaussian.follow(start.x - self.mean[: self.size])

    def complete(self, x: FloatArray, theta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return draws of all parameters, shape (draw, parameter), given those of the globals and scales.

        In single precision: there are many.
        """
        n, size = len(x), self.whole.size
        drawn: AnyArray = np.empty((size, n), dtype=np.float32)
        order = np.argsort(theta[:, int(np.argmax(self.own))], kind="stable")
        for some in np.array_split(order, -(-n * size // _MAX_DRAWN)):
            middle = theta[some].mean(axis=0)
            mean, gaussian = self.given(middle)
            off = gaussian.draw(len(some), rng, (x[some] - self.mean[: x.shape[1]]).T).T
            off += self._drifts.T @ (self._off(theta[some]) - self._off(middle)).T
            drawn[:, some] = off + mean[:, None]
        return drawn.T


@dataclass(frozen=True, eq=False)
class Integral:
    """Posterior of a collapsed density, integrated over points in θ without interpolation."""

    density: Collapsed
    points: FloatArray  # shape (point, scale)
    chance: FloatArray  # shape (point,)
    start: Start
    converged: bool = True

    @classmethod
    def of(cls, density: Collapsed, mode: Start, start: Start) -> Integral:
        """Return the integral over points about a mode, of a fit that began at ``start``."""
        standard, log_placed = design_points(N_SCALE_POINTS, len(mode.theta))
        points = mode.theta + standard * mode.spread
        blocks = np.array_split(points, -(-len(points) // _AT_A_TIME))
        log_weight = np.concatenate([density.conditional(block)[0] for block in blocks]) - log_placed
        weight = np.exp(log_weight - log_weight.max())
        return cls(density, points, weight / weight.sum(), start)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, OrderArray]:
        """Draw x, shape (draw, parameter), log scales θ, (draw, scale), and numbers of points, (draw,)."""
        drawn = draw_points(self.chance, n, rng)
        x = np.empty((n, self.density.size))
        for some in np.array_split(np.arange(n), -(-n // _AT_A_TIME)):
            _, mean, root = self.density.conditional(self.points[drawn[some]])
            z = rng.standard_normal((len(some), root.shape[-1], 1))
            x[some] = mean + (np.linalg.solve(root.transpose(0, 2, 1), z)[..., 0]) @ self.density.free.T
        theta = self.points[drawn]
        return self.density.complete(x, theta, rng), theta, drawn

    def interval_error(self) -> float:
        """Return the largest error in a total's 95 % interval, as `Approximation.interval_error`."""
        return interval_error(
            self.density.whole, self.density.theta, self.density.mean, self.density.gaussian
        )


def _mean(
    density: Density, theta: FloatArray, mode: PosteriorMode, offset: FloatArray, n_steps: int
) -> tuple[FloatArray, Arrow, float]:
    """Return the mean after steps from a mode and an offset, the curvature and the log marginal density."""
    if not n_steps:
        return mode.x, mode.curvature, mode.log_marginal
    x, _, curvature, log_marginal = find_center(density, theta, mode.x + offset, mode.gaussian, n_steps)
    if curvature is None:
        raise LinAlgError("no mean was found")
    return x, curvature, log_marginal


def collapse(density: Density, start: Start, n_steps: int = 0) -> tuple[Collapsed, Start] | None:
    """Return a density with topics integrated out, and where fits to it begin.

    It is found at modes, or at means after ``n_steps``. Returns None where the topics leave the scales of
    their effects open, or no mode is found.
    """
    own = np.array([density.is_local(name) for name in density.scales])
    theta, x = start.theta.copy(), start.x
    variance = np.exp(2 * theta[own])
    steps = variance * np.expm1(2 * np.minimum(start.spread[own], 0.5))
    widest = _WIDEST * np.maximum(variance, _LEAST)
    steps = np.clip(steps, _SMALLEST / np.sqrt(density.size), widest)
    for _ in range(_MOST_ROUNDS):
        variance = np.maximum(variance, _INSIDE * steps)
        if not (steps <= _WIDEST * np.maximum(variance, _LEAST)).all():
            return None
        theta[own] = 0.5 * np.log(variance)
        try:
            collapsed = Collapsed(density, theta, x, steps, n_steps)
            mode = find_scales(collapsed, theta, collapsed.mean[: collapsed.size])
        except LinAlgError:
            return None
        x, steps, theta = collapsed.at(mode), collapsed.deviations, mode.theta.copy()
        former, variance = variance, np.maximum(np.exp(2 * theta[own]), _INSIDE * steps)
        if (np.abs(variance - former) < _FAR * steps).all():
            return collapsed, mode
    return None


def integrate(density: Density, start: Start, n_steps: int) -> Integral | None:
    """Return the integral of a density of many topics, or None where it is not quadratic.

    A fit begins at ``start``, and goes on to means after ``n_steps`` from the mode in the middle.
    """
    collapsed = collapse(density, start, n_steps)
    with suppress(LinAlgError):
        return None if collapsed is None else Integral.of(*collapsed, start)
    return None


def _log_determinants(gaussian: Factor) -> float:
    """Return what a log marginal lacks of the density of the globals at its mean."""
    own = np.diagonal(gaussian.inverse, axis1=1, axis2=2)
    return 0.5 * gaussian.log_determinant + float(np.log(own).sum())
