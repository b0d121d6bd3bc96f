"""Laplace engine: Gaussian approximation at the mode, integrated over the group scales.

Given log scales θ the posterior of all other parameters x is approximated by a Gaussian at its mode, which
gives the marginal density of θ (Tierney & Kadane 1986; Rue, Martino & Chopin 2009), corrected by that of the
best Gaussian (`bayespool.inference.modes.find_center`). θ is drawn from low-discrepancy points about its
mode, weighted by that marginal; modes at a few points are interpolated to the others.

The curvature is an arrowhead (`bayespool.inference.arrow`), so that the cost is linear in topics. Effects of
cells are integrated (`bayespool.inference.cells`), and drawn at the end where needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from bayespool.arrays import AnyArray, FloatArray, OrderArray
from bayespool.compiled import one_thread
from bayespool.errors import PREPARE_ANEW, DiagnosticsWarning, InputError, warn_caller
from bayespool.inference.arrow import Arrow, Factor
from bayespool.inference.collapsed import MANY_TOPICS, collapse, integrate, part_of_topics
from bayespool.inference.density import Density
from bayespool.inference.fit import Fit, Start
from bayespool.inference.interpolation import Interpolation, interpolate
from bayespool.inference.modes import COARSE_TOLERANCE, PosteriorMode, find_center, find_mode, find_scales
from bayespool.inference.points import (
    N_SCALE_POINTS,
    axis_points,
    choose_next,
    choose_points,
    design_points,
    draw_points,
    standardize_skew,
)
from bayespool.inference.totals import interval_error
from bayespool.inference.variables import (
    LARGEST_LOG_SCALE,
    LARGEST_PARAMETER,
    is_large,
    kept_draws,
    name_axes,
    name_variables,
)
from bayespool.measures import Diagnostics
from bayespool.models.evidence import LinearEvidence
from bayespool.notes import Note, joined
from bayespool.validation import check_sampling

if TYPE_CHECKING:
    from bayespool.models import Evidence, ModelSpec


_POINT_TOLERANCE = 0.1  # of twice a step's gain in log density, at points where scales are integrated


def find_modes(
    density: Density,
    theta: FloatArray,
    middle: PosteriorMode,
    points: FloatArray,
    straight: FloatArray,
    drift: FloatArray,
    n: int,
) -> tuple[list[int], list[PosteriorMode]]:
    """Return indices of up to n points in θ, and the modes of x there."""
    # ``straight`` are coordinates of the points in which x depends smoothly on θ, zero at ``middle``, and
    # ``drift`` its derivative in them. If there are more points than n, the first nodes are far from each
    # other, the others far from these where θ is likely by then.
    n_first, is_choice = 2 * len(theta), n < len(points)
    chosen = choose_points(straight, n_first).tolist() if is_choice else list(range(len(points)))
    kind = np.float32 if is_large(1 + min(n, len(points)), middle.curvature.outer.size) else np.float64
    prior, modes = density.log_prior_of_scales(points.T), [middle]
    known = [middle.log_marginal - density.log_prior_of_scales(theta)]
    every = np.vstack([straight, np.zeros_like(theta)])
    among = Interpolation(every, by_axis=True)
    for_starts = among if density.is_concave else Interpolation(every, by_axis=False)
    for k in range(min(n, len(points))):
        nodes = [len(points), *chosen[:k]]
        if k == len(chosen):
            shares = among.weights(slice(len(points)), nodes)
            chosen.append(choose_next(straight, every[nodes], shares @ known + prior))
        at = chosen[k]
        if k > n_first:
            shares = for_starts.weights(slice(at, at + 1), nodes)
            start = shares[0] @ [mode.x for mode in modes]
        else:
            start = middle.x + straight[at] @ drift
        mode = find_mode(density, points[at], start, _POINT_TOLERANCE)
        modes.append(mode._replace(curvature=mode.curvature.with_precision(kind)))
        known.append(modes[-1].log_marginal - prior[at])
    order = np.roll(np.arange(len(modes) - 1), -n_first if is_choice else 0).tolist()
    return [chosen[k] for k in order], [modes[1 + k] for k in order]


_N_NODES_PER_SCALE = 8  # modes computed
_N_CENTERED_PER_SCALE = 3  # means computed at nodes
_N_CENTER_STEPS = 2  # from mode to mean at the first node, one at the others
_NODE_RANGE = (-3.2, 2.5)  # of nodes, in standard deviations
_MAX_CURVATURES = 2**20  # numbers that are interpolated at a time
_MAX_INTERVAL_ERROR = 0.1  # of an end of a 95 % interval of a total, as a share of its width
_MIN_SCALE_SD = 0.05  # smallest standard deviation of a log scale
_ONE_SD_QUANTILES = (0.1587, 0.8413)  # quantiles of a normal distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace:
    """Settings for the Laplace engine.

    Parameters
    ----------
    draws, chains : int
        Their product is the number of draws, which are independent and form one chain.
    n_points : int
        Points with a Gaussian of their own, per scale.
    check : bool
        Compare intervals of totals with a finer approximation.
    """

    name: ClassVar[str] = "laplace"
    independent: ClassVar[bool] = True
    takes_over: ClassVar[str] = "nuts"
    citations: ClassVar[tuple[str, ...]] = ("rue-martino-chopin-2009", "tierney-kadane-1986")

    draws: int = 2000
    chains: int = 1
    n_points: int = 32
    check: bool = True

    def __post_init__(self) -> None:
        check_sampling(self)

    def fit(
        self,
        spec: ModelSpec,
        evidence: Evidence,
        random_seed: int,
        *,
        known: Sequence[int] | None = None,
        start: Start | None = None,
    ) -> Fit:
        """Draw independently from the approximate posterior, as a single chain.

        With the ``start`` of an earlier fit to the same evidence the draws are the same, sooner.

        Warns
        -----
        DiagnosticsWarning
            No mode found, a curvature that is not positive, or an `Approximation.interval_error` above 0.1.
        """
        structure = spec.structure(evidence, known)
        n = self.draws * self.chains
        dims, coords = name_axes(structure, evidence)
        if start is not None and start.variables:
            shapes = {name: (1, n, *(len(coords[dim]) for dim in of)) for name, of in dims.items()}
            variables = kept_draws(start.variables, shapes | {"point": (1, n)})
            stats = {"point": variables.pop("point").astype(np.intp)}
            diagnostics = Diagnostics(self.name, np.nan, n, n, 0, (), start.interval_error)
            return Fit(variables, dims, coords, stats, diagnostics, start=start)
        density, interval_error = Density(structure), 0.0
        if start is None:
            start = self.search(spec, evidence, known=known)
        else:
            _check_start(start, density)
        with one_thread():
            many = integrate(density, start, _N_CENTER_STEPS) if start and is_many(density) else None
            approximation = many or approximate(density, n_points=self.n_points, start=start)
            x, theta, point = approximation.draw(n, np.random.default_rng(random_seed))
            if self.check and start is not None and not start.is_unchecked:
                interval_error = start.interval_error
            elif self.check:
                interval_error = approximation.interval_error()
        began = approximation.start
        if began is not None:
            began = dataclasses.replace(began, interval_error=interval_error)
        problems = ["no mode with positive curvature was found"] * (not approximation.converged)
        if np.isnan(interval_error):
            problems.append("how far the ends of an interval are off cannot be found")
        elif interval_error > _MAX_INTERVAL_ERROR:
            text = "the end of an interval is off by {:.2f} of its width"
            problems.append(Note("diagnostics", text, interval_error))
        diagnostics = Diagnostics(self.name, np.nan, float(n), float(n), 0, tuple(problems), interval_error)
        if problems:
            warn_caller(joined("diagnostics", "; ", problems).of(spec.name), DiagnosticsWarning)
        variables = name_variables(structure, density, x, theta, random_seed)
        return Fit(variables, dims, coords, {"point": point[None]}, diagnostics, start=began)

    def search(
        self, spec: ModelSpec, evidence: Evidence, *, known: Sequence[int] | None = None
    ) -> Start | None:
        """Return where a fit starts if it is given no start; None for a model without scales.

        With thousands of topics the search begins where that on a part of them ends.
        """
        density, n_topics = Density(spec.structure(evidence, known)), len(evidence.query_ids)
        x, theta = density.start()
        n, width = density.layout.n_global, density.layout.width
        if is_many(density) and density.layout.n_groups == n_topics and isinstance(evidence, LinearEvidence):
            kept = part_of_topics(n_topics)
            began = self.search(spec, evidence.select_topics(kept), known=known)
            if began is not None and len(began.x) == n + kept.sum() * width:
                theta, x[:n] = began.theta, began.x[:n]
                x[n:].reshape(-1, width)[kept] = began.x[n:].reshape(-1, width)
                began = Start(theta, began.spread * np.sqrt(kept.mean()), x)
                with one_thread():
                    collapsed = collapse(density, began)
                if collapsed is not None:
                    return dataclasses.replace(collapsed[1], x=collapsed[0].at(collapsed[1]))
        with one_thread():
            return find_scales(density, theta, x) if density.scales else None


@dataclass(frozen=True, eq=False)
class Approximation:
    """Mixture of Gaussians over x with a component for each point in θ, interpolated from a few nodes."""

    density: Density
    nodes: FloatArray  # shape (node, scale)
    # negative Hessian about the mean at each node without the effects' priors, as `Layout.zeros`
    likelihood: FloatArray
    node_mean: FloatArray  # of x at each node, shape (node, parameter)
    many: FloatArray  # points that θ is drawn from, shape (draw, scale)
    chance: FloatArray  # their weights, which sum to 1, shape (draw,)
    many_shares: FloatArray  # weight of each node at each of them, shape (draw, node)
    points: OrderArray  # those of them with a Gaussian of their own, shape (point,)
    nearest: OrderArray  # point of the nearest Gaussian, shape (draw,)
    converged: bool  # every mode was found and every curvature is positive
    start: Start | None = None  # where the search for scales ended

    @property
    def theta(self) -> FloatArray:
        """Log scales of each point, shape (point, scale)."""
        return self.many[self.points]

    @property
    def weight(self) -> FloatArray:
        """Weight of each point, shape (point,); they sum to 1."""
        return np.asarray(self.chance[self.points] / self.chance[self.points].sum())

    @cached_property
    def shares(self) -> FloatArray:
        """Weight of each node at each point, shape (point, node)."""
        return self.many_shares[self.points]

    @cached_property
    def mean(self) -> FloatArray:
        """Mean of x at each point, shape (point, parameter)."""
        return np.asarray(self.shares @ self.node_mean)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, OrderArray]:
        """Draw x, shape (draw, parameter), log scales θ, (draw, scale), and mixture component, (draw,)."""
        # θ by systematic draws, the deviation of x from its mean there by the nearest Gaussian
        drawn = draw_points(self.chance, n, rng)
        x, point = self._means_at(drawn), self.nearest[drawn]
        order, (used, start) = np.argsort(point, kind="stable"), np.unique(np.sort(point), return_index=True)
        step = max(1, _MAX_CURVATURES // self.likelihood[0].size)
        for first in range(0, len(used), step):
            some = used[first : first + step]
            between = self._between(self.shares[some])
            for k, curvature, rows in zip(some, between, np.split(order, start[1:])[first:], strict=False):
                deviation = self._gaussian(k, curvature).draw(len(rows), rng)
                width = max(1, _MAX_CURVATURES // len(rows))
                for j in range(0, self.density.size, width):
                    x[rows, j : j + width] += deviation[:, j : j + width]
        return x, self.many[drawn], point

    def _means_at(self, drawn: OrderArray) -> FloatArray:
        """Return the mean of x for each drawn θ, shape (draw, parameter)."""
        shares, size = self.many_shares[drawn], self.density.size
        if not is_large(len(drawn), size):
            return np.asarray(shares @ self.node_mean)
        x: AnyArray = np.empty((size, len(drawn)), dtype=np.float32)
        step = max(1, _MAX_CURVATURES // len(drawn))
        for first in range(0, size, step):
            x[first : first + step] = self.node_mean[:, first : first + step].T @ shares.T
        return x.T

    def gaussian_at(self, k: int) -> Factor:
        """Return the Gaussian for the mixture component at a point in θ."""
        return self._gaussian(k, self._between(self.shares[k]))

    def _between(self, shares: FloatArray) -> FloatArray:
        """Return curvatures between nodes, without the effects' priors."""
        return np.tensordot(shares.astype(self.likelihood.dtype, copy=False), self.likelihood, axes=1)

    def _gaussian(self, k: int, between: FloatArray) -> Factor:
        density = self.density
        try:
            return Arrow(density.layout, between + density.prior_curvature(self.theta[k])).factor(
                density.sums
            )
        except LinAlgError:  # the interpolated curvature is not positive
            n = int(np.argmax(self.shares[k]))
            curvature = self.likelihood[n] + density.prior_curvature(self.nodes[n])
            return Arrow(density.layout, curvature).factor(density.sums)

    def interval_error(self) -> float:
        """Return the largest error in a total's 95 % interval, relative to its width; NaN if unknown."""
        density, best = self.density, int(np.argmax(self.weight))
        theta = self.theta[best]
        mean, gaussian = find_center(density, theta, self.mean[best], self.gaussian_at(best), 1)[:2]
        return interval_error(density, theta, mean, gaussian)


def is_many(density: Density) -> bool:
    """Return whether a density has so many topics that their effects are integrated out."""
    return density.layout.n_groups > MANY_TOPICS and density.is_concave


def _check_start(start: Start, density: Density) -> None:
    """Raise `InputError` for a start that a search for scales cannot have ended at."""
    shapes, n_scales = (start.theta.shape, start.spread.shape, start.x.shape), len(density.scales)
    if (
        shapes != ((n_scales,), (n_scales,), (density.size,))
        or not (0 < start.spread.min() <= start.spread.max() < LARGEST_LOG_SCALE)
        or np.abs(start.theta).max() > LARGEST_LOG_SCALE
        or np.abs(start.x).max(initial=0) > LARGEST_PARAMETER
    ):
        raise InputError("a prepared start of a fit is not of its evidence", hint=PREPARE_ANEW)


def approximate(
    density: Density,
    *,
    n_points: int = 32,
    near: Mapping[str, FloatArray] | None = None,
    start: Start | None = None,
) -> Approximation:
    """Approximate a density by nested Laplace, starting from ``near``, the draws of a similar fit, or from
    where an earlier approximation of the same density began.
    """
    n_scales = len(density.scales)
    x, theta = density.start(near)
    if n_scales == 0:
        middle, one, nodes = find_mode(density, theta, x), np.ones((1, 1)), theta[None]
        mean, likelihood, _ = _means(density, [middle], nodes, nodes, 1)
        zero = np.zeros(1, dtype=np.intp)
        drawn = {"many": nodes, "chance": one[0], "many_shares": one, "points": zero, "nearest": zero}
        return Approximation(density, nodes, likelihood, mean, **drawn, converged=middle.is_fine)
    if near is None:
        if start is None:
            start = find_scales(density, theta, x)
        density.forget()  # what follows depends on the start alone
        theta, spread = start.theta, start.spread
        middle = find_mode(density, theta, start.x, COARSE_TOLERANCE)
        drift = density.drift(middle.x, theta, middle.gaussian)
        standard, log_placed = design_points(max(N_SCALE_POINTS, n_points * n_scales), n_scales)
    else:
        middle = find_mode(density, theta, x, COARSE_TOLERANCE)
        drift = density.drift(middle.x, theta, middle.gaussian)
        low, high = np.quantile(
            np.log([near[f"sigma_{n}"] for n in density.scales]), _ONE_SD_QUANTILES, axis=1
        )
        spread = np.maximum((high - low) / 2, _MIN_SCALE_SD)
        standard = axis_points(n_scales)  # two points for each scale
        log_placed = np.zeros(len(standard))
    points = theta + standard * spread
    straight = standardize_skew(points, theta, spread)
    few = slice(len(points) if near is not None else n_points * n_scales)  # points with a Gaussian
    candidates, n_centered = np.arange(len(points))[few], 1 if near is not None else len(points[few]) + 1
    n_nodes = len(candidates)
    if near is None and density.is_concave:  # else modes may jump
        within = (straight[few] > _NODE_RANGE[0]) & (standard[few] < _NODE_RANGE[1])
        candidates = np.flatnonzero(within.all(axis=1))
        n_nodes = min(n_points, _N_NODES_PER_SCALE) * n_scales
        n_centered = _N_CENTERED_PER_SCALE * n_scales + 1
    node_index, modes = find_modes(
        density, theta, middle, points[candidates], straight[candidates], spread[:, None] * drift, n_nodes
    )
    chosen = candidates[node_index]
    fine = [k for k, mode in enumerate(modes) if mode.is_fine]
    modes[:] = [middle, *(modes[k] for k in fine)]
    nodes = np.vstack([theta, points[chosen[fine]]])
    at_nodes = np.vstack([0 * theta, straight[chosen[fine]]])
    mean, likelihood, log_marginal = _means(density, modes, nodes, at_nodes, n_centered)
    shares = interpolate(straight, at_nodes, by_axis=density.is_concave)
    log_weight = shares @ (log_marginal - density.log_prior_of_scales(nodes.T))
    log_weight += density.log_prior_of_scales(points.T) - log_placed
    weight = np.exp(log_weight - log_weight.max())
    counts = np.flatnonzero(weight[few] > 0.01 * weight[few].max())  # the rest: a few thousandths of all
    if not len(counts):
        raise LinAlgError("no point has a weight")
    far = (straight[counts] ** 2).sum(axis=1) - 2 * straight @ straight[counts].T
    return Approximation(
        density=density,
        nodes=nodes,
        likelihood=likelihood,
        node_mean=mean,
        many=points,
        chance=weight / weight.sum(),
        many_shares=shares,
        points=counts,
        nearest=far.argmin(axis=1),
        converged=middle.is_fine and not np.isin(np.delete(chosen, fine), counts).any(),
        start=start if near is None else None,
    )


def _means(
    density: Density, modes: list[PosteriorMode], nodes: FloatArray, at_nodes: FloatArray, n_centered: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return posterior means of x, likelihood curvatures and log marginal densities; empty ``modes``."""
    # computed at the first nodes, whose offsets from mode, curvature and Laplace's marginal are interpolated
    mean, log_marginal = np.array([mode.x for mode in modes]), np.array([mode.log_marginal for mode in modes])
    kind = modes[-1].curvature.outer.dtype
    curvature: AnyArray = np.empty((len(modes), *modes[0].curvature.outer.shape), dtype=kind)
    offset, gained = np.zeros_like(mean[:n_centered]), np.zeros(len(modes[:n_centered]))
    changed, n_steps = np.zeros_like(curvature[:n_centered]), _N_CENTER_STEPS
    for k, at in enumerate(nodes):
        mode = modes.pop(0)
        curvature[k] = mode.curvature.outer
        if k >= n_centered:
            continue
        x, _, arrow, bound = find_center(density, at, mode.x + offset[0], mode.gaussian, n_steps)
        offset[k], n_steps = x - mode.x, 1
        if arrow is not None:
            changed[k] = arrow.outer - curvature[k]
            gained[k] = bound - mode.log_marginal if density.is_concave else 0.0  # else not exact enough
    shares = interpolate(at_nodes, at_nodes[:n_centered], by_axis=density.is_concave)
    mean += shares @ offset
    log_marginal += shares @ gained
    for k, at in enumerate(nodes):
        moved = curvature[k] + np.tensordot(shares[k].astype(kind, copy=False), changed, axes=1)
        with suppress(LinAlgError):
            Arrow(density.layout, moved).factor(density.sums)
            curvature[k] = moved
        curvature[k] -= density.prior_curvature(at)
    return mean, curvature, log_marginal
