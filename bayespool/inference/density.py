"""Log density of a `Structure` in its unconstrained parameters, with first and second derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from bayespool.errors import InputError
from bayespool.inference.arrow import Arrow, Factor, Layout
from bayespool.inference.cell_kernels import add_cells
from bayespool.inference.cells import NODES, SHARES, Integrated, draw_effects, integrate
from bayespool.inference.kernels import (
    Design,
    add_own,
    add_product,
    add_slope,
    add_weights,
    covariances,
    linear_predictor,
    owners_covariances,
    product_terms,
    sum_chances,
    variances,
)
from bayespool.models.families import log_density_of_coefficient, log_density_of_scale
from bayespool.models.structure import Block, Predictor, Structure

__all__ = ["Density", "Rows"]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_FIRST_SCALE = -0.3  # its logarithm
# Of the sums of global effects, which are zero: it changes nothing where they are, and keeps positive what
# would not be where they are not, in blocks whose log likelihood is not concave.
_SUM_PRECISION = 100.0
_PLATES = ("topic", "organization")  # effects of one topic go with no other topic's, likewise organizations
_AT_ONCE = 2**22  # log odds of cells
_STEP = 1e-3  # of the finite difference in a log scale


class Density:
    """Joint log density of coefficients and effects, x, and log scales, θ.

    Effects are taken to sum to zero, but for slopes. Those of cells need not, and are integrated: the density
    is of what is left.

    Parameters
    ----------
    structure : Structure

    Attributes
    ----------
    scales : tuple of str
        Names of the factors, in the order of θ.
    layout : Layout
        Of x: coefficients and most effects, then the effects and slopes of topics, or of organizations, those
        of one together: of what leaves the fewest others.
    slices : dict of str to slice or ndarray of int
        Where coefficients and effects stand in x.
    sums : tuple of slice
        Effects that sum to zero.
    is_concave : bool
        Whether the log density is, given θ.

    Raises
    ------
    InputError
        A prior whose density this engine does not know.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.scales = tuple(
            n for n, g in structure.groups.items() if g.size > (not (g.is_cell or g.is_slope))
        )
        cells, slopes = structure.cells, structure.slopes
        local = self._local_factors()
        self.slices: dict[str, slice | IndexArray] = {}
        stop = 0
        for name, coefficient in structure.coefficients.items():
            width = 1 if coefficient.size is None else coefficient.size
            self.slices[name], stop = slice(stop, stop + width), stop + width
        for name in self.scales:
            if name not in local and name != cells:
                size = structure.groups[name].size
                self.slices[name], stop = slice(stop, stop + size), stop + size
        n_groups = structure.groups[local[0]].size if local else 0
        widths = [structure.groups[name].size // n_groups for name in local]
        self.layout = Layout(stop, n_groups, sum(widths))
        for name, width, j in zip(local, widths, np.cumsum([0, *widths]).tolist(), strict=False):
            places = stop + j + np.arange(n_groups)[:, None] * self.layout.width + np.arange(width)
            self.slices[name] = places.ravel()
            if name != slopes:
                self.slices[name] = slice(stop + j, self.layout.size, self.layout.width)
        summed = [self.slices[name] for name in self.scales if name not in (cells, slopes)]
        self.sums = tuple(where for where in summed if isinstance(where, slice))
        self._priors = {
            n: log_density_of_coefficient(n, c.prior, shift=c.shift, logit=c.logit)
            for n, c in structure.coefficients.items()
        }
        scale_priors = {
            n: log_density_of_scale(f"sigma_{n}", group.scale) for n, group in structure.groups.items()
        }
        self._scale_priors = [scale_priors[name] for name in self.scales]
        self._blocks = [_Prepared(block, self) for block in structure.blocks if len(block.successes)]
        self.is_concave = not any(block.is_product for block in self._blocks)
        self._held = [s for s in self.sums if s.stop <= self.layout.n_global and not self.is_concave]

    def _local_factors(self) -> list[str]:
        """Factors to eliminate first: those along the coordinate that leaves the fewest parameters."""
        groups, slopes = self.structure.groups, self.structure.slopes
        along = {plate: [n for n in self.scales if groups[n].dim == plate] for plate in _PLATES}
        if slopes in self.scales and slopes is not None and along["organization"]:
            along["organization"].append(slopes)
        return max(along.values(), key=lambda names: sum(groups[name].size for name in names))

    @property
    def size(self) -> int:
        """Length of x."""
        return self.layout.size

    def start(self, near: Mapping[str, FloatArray] | None = None) -> tuple[FloatArray, FloatArray]:
        """A point x and log scales θ to start from.

        Coefficients are at the centre of their priors, effects zero and scales 0.74; or all at the means of
        draws that are given by the names of the variables.
        """
        x, theta = np.zeros(self.size), np.full(len(self.scales), _FIRST_SCALE)
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
        """Log density at (x, θ), Jacobian of the log scales (and logits) included, up to a constant."""
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

    def mean_derivatives(self, x: FloatArray, theta: FloatArray, about: Factor) -> tuple[FloatArray, Arrow]:
        """Gradient and negative Hessian, means over the Gaussian about x."""
        _, gradient, diagonal = self._prior(x, theta)
        outer, covariance = self._prior_hessian(diagonal), about.covariance()
        for block in self._blocks:
            nodes = block.nodes(x, covariance)
            block.add_derivatives(nodes, self._tau(theta), gradient, outer, expected=False)
        return gradient, Arrow(self.layout, outer)

    def log_prior_of_scales(self, theta: FloatArray) -> Any:
        """Log density of log scales alone, shape (...), of shape (scale, ...)."""
        return sum(prior(at) for prior, at in zip(self._scale_priors, theta, strict=True))

    def prior_curvature(self, theta: FloatArray) -> FloatArray:
        """The part of the negative Hessian in x that hangs on the scales by the effects' priors, in the form
        of `Layout.zeros`.
        """
        diagonal = np.zeros(self.size)
        for g, name in enumerate(self.scales):
            if name in self.slices:
                diagonal[self.slices[name]] = np.exp(-2 * theta[g])
        return self._prior_hessian(diagonal)

    def drift(self, x: FloatArray, theta: FloatArray, curvature: Factor) -> FloatArray:
        """How the mode x moves with θ, dx/dθ, shape (scale, parameter)."""
        drift = np.zeros((len(self.scales), self.size))
        for g, name in enumerate(self.scales):
            if name in self.slices:
                where = self.slices[name]
                drift[g, where] = 2 * np.exp(-2 * theta[g]) * x[where]
            else:
                step = np.where(np.arange(len(theta)) == g, _STEP, 0.0)
                drift[g] = (self.expand(x, theta + step)[1] - self.expand(x, theta - step)[1]) / (2 * _STEP)
            drift[g] = curvature.solve(drift[g])
        return drift

    def totals(self, x: FloatArray, theta: FloatArray) -> list[FloatArray]:
        """How the expected total of each block's counts hangs on the parameters: its gradient at x."""
        return [block.total(x, self._tau(theta)) for block in self._blocks]

    def draw_cells(self, x: FloatArray, theta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Effects of cells given draws of all else, shape (draw, kept cell)."""
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
        at = self.layout
        outer = at.zeros()
        np.einsum("ii->i", outer[: at.n_global, : at.n_global])[:] = diagonal[: at.n_global]
        for where in self._held:
            outer[where, where] += _SUM_PRECISION
        own = np.arange(at.n_global, at.size)
        if len(own):
            outer[own, at.places(own)] = diagonal[at.n_global : at.size]
        return outer


class Rows:
    """Other rows on a predictor of a density, such as documents that it has not seen.

    Parameters
    ----------
    density : Density
    predictor : Predictor
        Of coefficients and of effects that the density has.
    rows : ndarray of int, shape (row,)
        Which of its rows, in this order.
    """

    def __init__(self, density: Density, predictor: Predictor, rows: npt.NDArray[np.intp]) -> None:
        self._design, self._layout = _design(predictor, rows, density), density.layout

    def predict(self, x: FloatArray, about: Factor) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the log odds under a Gaussian about x, each of shape (row,)."""
        return linear_predictor(self._design, x), _variances(self._design, about.covariance(), self._layout)

    def totals(
        self,
        log_odds: FloatArray,
        root: FloatArray,
        trials: FloatArray,
        shifts: FloatArray,
        start: npt.NDArray[np.intp],
        run: npt.NDArray[np.intp],
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Totals of counts by run where all log odds are shifted, with what they hang on.

        Parameters
        ----------
        log_odds, root : ndarray, shape (row,)
            A chance has the log odds (log odds + shift) / root.
        trials : ndarray, shape (row,)
        shifts : ndarray, shape (shift,)
        start : ndarray of int, shape (ranking,)
            Where rows of each ranking begin, whose effects are the same.
        run : ndarray of int, shape (ranking,)
            Whose ranking it is, from 0 on.

        Returns
        -------
        totals : ndarray, shape (run, shift)
            Expected ones.
        variances : ndarray, shape (ranking, shift)
            Of the counts of a ranking.
        slopes : ndarray, shape (parameter, run, shift)
            Derivatives of totals, but for ``root``.
        """
        design, ranking = self._design, np.repeat(np.arange(len(start)), np.diff(start, append=len(log_odds)))
        totals, variances, of_columns = sum_chances(
            design.matrix, log_odds, root, trials, shifts, ranking, run
        )
        slopes = np.zeros((self._layout.size, *totals.shape))
        slopes[design.columns] = of_columns
        for effects in design.effects[start].T:
            np.add.at(slopes, (effects, run), variances)
        return totals, variances, slopes

    @property
    def parameters(self) -> IndexArray:
        """Those that the rows hang on."""
        return np.union1d(self._design.columns, self._design.effects)


class _Prepared:
    """A block with the design matrix of each predictor.

    Values of the predictors have shape (predictor, observation).
    """

    def __init__(self, block: Block, density: Density) -> None:
        self.layout, self.is_product = density.layout, block.link is not None
        name, cell = density.structure.cells, np.zeros(0, dtype=np.int64)
        if name in density.scales:
            assert name is not None
            cell = next((p.groups[name] for p in block.predictors if name in p.groups), cell)
        n, in_order = len(block.successes), np.argsort(cell, kind="stable")
        rows = in_order if len(cell) else np.arange(n)
        self.successes, self.trials = block.successes[rows].astype(float), block.trials[rows].astype(float)
        self.designs = tuple(_design(predictor, rows, density) for predictor in block.predictors)
        given = block.link.residual if block.link is not None else None
        self.residual = np.zeros(n) if given is None else given
        self.cell = cell[rows] if len(cell) else None
        if self.cell is not None:
            first = np.flatnonzero(np.diff(self.cell, prepend=-1))
            self.start, self.present = np.append(first, n), self.cell[first]
            effects = self.designs[0].effects[first]
            self.modes = np.zeros(len(effects))
            self.effects, self.places = effects, self.layout.places(effects)
            self.owner = self.designs[0].owner[first]
            of_rows = np.repeat(effects, np.diff(self.start), axis=0)
            if self.is_product or (of_rows != self.designs[0].effects).any():
                raise InputError(
                    "effects of cells go with a linear predictor whose other effects are one cell's"
                )

    def predictors(self, x: FloatArray) -> FloatArray:
        return np.array([linear_predictor(design, x) for design in self.designs])

    def total(self, x: FloatArray, tau: float) -> FloatArray:
        """Gradient of the expected sum of successes."""
        z, gradient = self.predictors(x), np.zeros(self.layout.size)
        eta, first = z[0], np.ones_like(z)
        if self.is_product:
            eta, first, _ = product_terms(z, self.residual)
        nodes = eta[:, None] + tau * NODES
        weight = self.trials * ((expit(nodes) * expit(-nodes)) @ SHARES)
        for design, slope in zip(self.designs, first, strict=True):
            add_slope(design, weight * slope, gradient)
        return gradient

    def log_likelihood(self, x: FloatArray, tau: float) -> float:
        z = self.predictors(x)
        if self.cell is not None:
            return self._integrate(z[0], tau).log_likelihood
        eta = product_terms(z, self.residual)[0] if self.is_product else z[0]
        return _binomial_terms(eta, self.successes, self.trials)[0]

    def draw_cells(
        self, x: FloatArray, tau: FloatArray, kept: IndexArray, drawn: FloatArray, rng: np.random.Generator
    ) -> None:
        """Draw those of the kept cells that have observations given these, in place of what is drawn."""
        assert self.cell is not None
        rows = np.flatnonzero(np.isin(self.cell, kept))
        whole = self.designs[0]
        design = whole._replace(
            matrix=whole.matrix[rows],
            effects=whole.effects[rows],
            places=whole.places[rows],
            owner=whole.owner[rows],
        )
        for first in range(0, len(x) if len(rows) else 0, step := max(1, _AT_ONCE // max(len(rows), 1))):
            some = slice(first, first + step)
            log_odds = np.array([linear_predictor(design, one) for one in x[some]])
            cells, effects_of_cells = draw_effects(
                log_odds, self.successes[rows], self.trials[rows], self.cell[rows], tau[some], rng
            )
            drawn[some, np.searchsorted(kept, cells)] = effects_of_cells

    def nodes(self, x: FloatArray, covariance: FloatArray) -> list[tuple[float, FloatArray]]:
        """Weights and values of the predictors: a cubature over the Gaussian about x."""
        z, at = self.predictors(x), self.layout
        n_predictors = len(z)
        variance = np.empty((z.shape[1], n_predictors, n_predictors))
        for k in range(n_predictors):
            for m in range(k):
                both = covariances(self.designs[k], self.designs[m], covariance, at.n_global)
                variance[:, k, m] = variance[:, m, k] = both
            variance[:, k, k] = _variances(self.designs[k], covariance, at) + 1e-10
        root = np.sqrt(variance) if n_predictors == 1 else np.linalg.cholesky(variance)
        moved = np.sqrt(n_predictors) * root.transpose(2, 1, 0)
        return [(0.5 / n_predictors, z + sign * to) for to in moved for sign in (1, -1)]  # of degree 3

    def add_derivatives(
        self,
        nodes: list[tuple[float, FloatArray]],
        tau: float,
        gradient: FloatArray,
        outer: FloatArray,
        *,
        expected: bool,
    ) -> float:
        """Add to gradient and Hessian the mean over the nodes; return that of the log likelihood."""
        n_predictors, n, at = len(self.designs), len(self.successes), self.layout
        value, slope, bend = 0.0, np.zeros((n_predictors, n)), np.zeros((n_predictors, n_predictors, n))
        for weight, z in nodes:
            if self.cell is not None:
                value += weight * self._add_cells(z[0], tau, weight, gradient, outer, expected)
                continue
            if self.is_product:
                eta, first, second = product_terms(z, self.residual)
                log_likelihood, score, information = _binomial_terms(eta, self.successes, self.trials)
                add_weights(weight, score, information, first, second, expected, slope, bend)
            else:
                log_likelihood, score, information = _binomial_terms(z[0], self.successes, self.trials)
                slope[0] += weight * score
                bend[0, 0] += weight * information
            value += weight * log_likelihood
        if self.cell is not None:
            return value
        for m, design in enumerate(self.designs):
            add_own(design, slope[m], bend[m, m], gradient, outer, at.n_global)
            for k in range(m):
                add_product(self.designs[k], design, bend[k, m], outer, at.n_global)
        return value

    def _integrate(self, log_odds: FloatArray, tau: float, at_modes: bool = False) -> Integrated:
        counts, design = (self.successes, self.trials, self.start), self.designs[0]
        own = design.matrix, self.owner, len(design.own)
        return integrate(log_odds, *counts, tau, *own, self.modes, at_modes=at_modes)

    def _add_cells(
        self,
        log_odds: FloatArray,
        tau: float,
        weight: float,
        gradient: FloatArray,
        outer: FloatArray,
        at_modes: bool,
    ) -> float:
        """Add derivatives of integrated observations times a weight; return their log likelihood."""
        found = self._integrate(log_odds, tau, at_modes)
        slopes, bends, slope_of, bend_of, mixed = (weight * part for part in found[1:])
        design = self.designs[0]
        to = design.columns, self.effects, self.places, self.owner, design.own, design.own_places
        add_cells(*to, slopes, bends, slope_of, bend_of, mixed, gradient, outer, self.layout.n_global)
        return found.log_likelihood


def _variances(design: Design, covariance: FloatArray, layout: Layout) -> FloatArray:
    of_owners = owners_covariances(design, covariance)
    return np.asarray(variances(design, covariance, of_owners, layout.n_global))


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


def _design(predictor: Predictor, rows: IndexArray, density: Density) -> Design:
    n, order = len(rows), np.arange(density.size)
    columns = [order[density.slices[name]] for name in predictor.coefficients]
    parts = [np.asarray(v, dtype=float)[rows] for v in predictor.coefficients.values()]
    parts = [part[:, None] if part.ndim == 1 else part for part in parts]
    effects = [order[density.slices[g]][i[rows]] for g, i in predictor.groups.items() if g in density.slices]
    index = np.column_stack(effects).astype(np.int64) if effects else np.zeros((n, 0), dtype=np.int64)
    where = np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)
    owner, own = np.zeros(n, dtype=np.int64), np.full((1, len(where)), -1, dtype=np.int64)
    varying = predictor.varying
    if varying is not None and varying.name in density.slices:
        added = order[density.slices[varying.name]].reshape(
            -1, len(order[density.slices[varying.coefficient]])
        )
        owner, own = varying.group[rows], np.full((len(added), len(where)), -1, dtype=np.int64)
        own[:, np.isin(where, order[density.slices[varying.coefficient]])] = added
    return Design(
        np.hstack(parts) if parts else np.zeros((n, 0)),
        where,
        index,
        density.layout.places(index),
        owner,
        own,
        density.layout.places(own),
    )
