"""Joint log density for a hierarchical model, summed over blocks of observations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bayespool.arrays import FloatArray, IndexArray, OrderArray
from bayespool.errors import InputError
from bayespool.inference import arrow
from bayespool.inference.arrow import Arrow, Design, Factor, Layout, ParameterPositions, Terms
from bayespool.inference.cells import (
    NODES,
    SHARES,
    CellDesign,
    IntegratedLikelihood,
    add_cells,
    draw_effects,
    integrate,
)
from bayespool.models.formulas import Block, LinearPredictor, Structure
from bayespool.models.priors import coefficient_log_density, scale_log_density

_MAX_LOG_ODDS = 2**22  # held at a time for draws of cells


class Rows:
    """Design rows for a density's linear predictor, such as documents that were not fitted.

    Parameters
    ----------
    places : ParameterPositions
        Positions of the density's parameters.
    predictor : LinearPredictor
        Of coefficients and effects of the density.
    rows : ndarray of int, shape (row,)
        Rows of the predictor, in this order.
    """

    def __init__(self, places: ParameterPositions, predictor: LinearPredictor, rows: OrderArray) -> None:
        self._terms, self._layout = _terms(predictor, rows, places), places.layout
        self._design = Design.of((self._terms,), self._layout)

    def predict(self, x: FloatArray, gaussian: Factor) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the log odds under a Gaussian about x, two arrays of shape (row,)."""
        variance = arrow.covariances(self._design, gaussian.covariance(), self._layout.n_global)
        return arrow.linear_predictors(self._design, x)[0], variance[:, 0, 0]

    def totals(
        self,
        log_odds: FloatArray,
        root: FloatArray,
        trials: FloatArray,
        shifts: FloatArray,
        start: OrderArray,
        run: OrderArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return expected totals by run for shifts in all log odds, with their derivatives.

        Parameters
        ----------
        log_odds, root : ndarray, shape (row,)
            A probability has the log odds (log odds + shift) / root.
        trials : ndarray, shape (row,)
        shifts : ndarray, shape (shift,)
        start : ndarray of int, shape (ranking,)
            First row of each ranking, whose rows share their effects.
        run : ndarray of int, shape (ranking,)
            Run of each ranking, from 0 on.

        Returns
        -------
        totals : ndarray, shape (run, shift)
            Expected totals.
        variances : ndarray, shape (ranking, shift)
            Of the counts of a ranking.
        slopes : ndarray, shape (parameter, run, shift)
            Derivatives of totals, but for ``root``.
        """
        terms, ranking = self._terms, np.repeat(np.arange(len(start)), np.diff(start, append=len(log_odds)))
        totals, variances, of_columns = arrow.sum_chances(
            terms.matrix, log_odds, root, trials, shifts, ranking, run
        )
        slopes = np.zeros((self._layout.size, *totals.shape))
        slopes[terms.coefficients[0]] = of_columns
        for effects in terms.effects[start].T:
            np.add.at(slopes, (effects, run), variances)
        return totals, variances, slopes

    @property
    def parameters(self) -> IndexArray:
        """Indices of the parameters that the rows depend on, in ascending order."""
        return np.unique(self._design.parameters)


class PreparedBlock:
    """Block of observations with a design matrix for each linear predictor."""

    def __init__(self, block: Block, places: ParameterPositions) -> None:
        self.layout, self.is_product = places.layout, block.link is not None
        name, cell = places.structure.cells, np.zeros(0, dtype=np.int64)
        if name in places.scales:
            assert name is not None
            cell = next((p.groups[name] for p in block.predictors if name in p.groups), cell)
        n, in_order = len(block.successes), np.argsort(cell, kind="stable")
        rows = in_order if len(cell) else np.arange(n)
        self.successes, self.trials = block.successes[rows].astype(float), block.trials[rows].astype(float)
        terms = tuple(_terms(predictor, rows, places) for predictor in block.predictors)
        self.design, self.n_predictors = Design.of(terms, self.layout), len(terms)
        residual = block.link.residual if block.link is not None else None
        self.residual = np.zeros(n) if residual is None else residual
        self.cell = cell[rows] if len(cell) else None
        if self.cell is not None:
            first = np.flatnonzero(np.diff(self.cell, prepend=-1))
            self.start, self.present = np.append(first, n), self.cell[first]
            self.terms = terms[0]
            self.modes = np.zeros(len(first))
            self.of_cells = CellDesign.of(self.terms, first, self.layout)
            of_rows = np.repeat(self.of_cells.effects, np.diff(self.start), axis=0)
            if self.is_product or (of_rows != self.terms.effects).any():
                raise InputError(
                    "cell effects require a linear predictor whose other effects are constant within cells"
                )

    def predictors(self, x: FloatArray) -> FloatArray:
        """Return the linear predictors at x, shape (predictor, observation)."""
        return arrow.linear_predictors(self.design, x)

    def total(self, x: FloatArray, tau: float) -> FloatArray:
        """Return the gradient of the expected number of successes, shape (parameter,)."""
        z, gradient = self.predictors(x), np.zeros(self.layout.size)
        eta, first = z[0], np.ones_like(z)
        if self.is_product:
            eta, first, _ = arrow.product_terms(z, self.residual)
        nodes = eta[:, None] + tau * NODES
        weight = self.trials * ((expit(nodes) * expit(-nodes)) @ SHARES)
        arrow.add_slopes(self.design, weight * first, gradient)
        return gradient

    def log_likelihood(self, x: FloatArray, tau: float) -> float:
        """Return the log likelihood at x, given the scale τ of the cell effects."""
        z = self.predictors(x)
        if self.cell is not None:
            return self._integrate(z[0], tau).log_likelihood
        eta = arrow.product_terms(z, self.residual)[0] if self.is_product else z[0]
        return binomial_terms(eta, self.successes, self.trials)[0]

    def draw_cells(
        self, x: FloatArray, tau: FloatArray, kept: IndexArray, drawn: FloatArray, rng: np.random.Generator
    ) -> None:
        """Draw the effects of kept cells with observations into ``drawn``, shape (draw, kept cell)."""
        assert self.cell is not None
        rows = np.flatnonzero(np.isin(self.cell, kept))
        design = self.design.take(rows)
        for first in range(0, len(x) if len(rows) else 0, step := max(1, _MAX_LOG_ODDS // max(len(rows), 1))):
            some = slice(first, first + step)
            points = np.ascontiguousarray(x[some], dtype=float)
            log_odds = np.array([arrow.linear_predictors(design, point)[0] for point in points])
            cells, effects_of_cells = draw_effects(
                log_odds, self.successes[rows], self.trials[rows], self.cell[rows], tau[some], rng
            )
            drawn[some, np.searchsorted(kept, cells)] = effects_of_cells

    def nodes(self, x: FloatArray, covariance: FloatArray) -> list[tuple[float, FloatArray]]:
        """Return cubature weights and linear predictors for a Gaussian about x, of degree 3 or 5."""
        z = self.predictors(x)
        n_predictors = len(z)
        variance = arrow.covariances(self.design, covariance, self.layout.n_global)
        variance += 1e-10 * np.eye(n_predictors)
        if n_predictors == 1:
            far = np.sqrt(3 * variance[:, 0, 0])
            return [(2 / 3, z), (1 / 6, z + far), (1 / 6, z - far)]
        moved = np.sqrt(n_predictors) * np.linalg.cholesky(variance).transpose(2, 1, 0)
        return [(0.5 / n_predictors, z + sign * to) for to in moved for sign in (1, -1)]

    def add_derivatives(
        self,
        nodes: list[tuple[float, FloatArray]],
        tau: float,
        gradient: FloatArray,
        outer: FloatArray,
        *,
        expected: bool,
    ) -> float:
        """Add node-averaged derivatives to gradient and Hessian, and return the mean log likelihood."""
        n_predictors, n, n_global = self.n_predictors, len(self.successes), self.layout.n_global
        value, slope, bend = 0.0, np.zeros((n_predictors, n)), np.zeros((n_predictors, n_predictors, n))
        for weight, z in nodes:
            if self.cell is not None:
                parts = self._integrate(z[0], tau, expected)
                integrated = IntegratedLikelihood._make(weight * part for part in parts)
                add_cells(self.of_cells, integrated, gradient, outer, n_global)
                value += integrated.log_likelihood
                continue
            if self.is_product:
                eta, first, second = arrow.product_terms(z, self.residual)
                log_likelihood, score, information = binomial_terms(eta, self.successes, self.trials)
                arrow.add_weights(weight, score, information, first, second, expected, slope, bend)
            else:
                log_likelihood, score, information = binomial_terms(z[0], self.successes, self.trials)
                slope[0] += weight * score
                bend[0, 0] += weight * information
            value += weight * log_likelihood
        if self.cell is not None:
            return value
        arrow.add_slopes(self.design, slope, gradient)
        arrow.add_curvature(self.design, bend, outer, n_global)
        return value

    def _integrate(self, log_odds: FloatArray, tau: float, at_modes: bool = False) -> IntegratedLikelihood:
        # five nodes, or Laplace's approximation
        nodes, log_weights = (np.zeros(1), np.zeros(1)) if at_modes else (NODES, np.log(SHARES))
        counts, of_cells = (self.successes, self.trials, self.start), self.of_cells
        matrix, owner, n = self.terms.matrix, of_cells.owner, len(of_cells.coefficients)
        return integrate(log_odds, *counts, tau, nodes, log_weights, matrix, owner, n, self.modes, at_modes)


def binomial_terms(
    eta: FloatArray, successes: FloatArray, trials: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return the binomial log likelihood in log odds η, its gradient and its negative second derivative."""
    small = np.exp(-np.abs(eta))  # numpy's exp and log are several times as fast as those of a compiled loop
    larger = 1 / (1 + small)
    smaller = small * larger
    p = np.where(eta >= 0, larger, smaller)
    value = float(successes @ eta - trials @ (np.maximum(eta, 0) - np.log(larger)))
    return value, successes - trials * p, trials * smaller * larger


def _terms(predictor: LinearPredictor, rows: IndexArray, places: ParameterPositions) -> Terms:
    """Return the terms of selected rows of a linear predictor."""
    n, order = len(rows), np.arange(places.layout.size)
    columns = [order[places.slices[name]] for name in predictor.coefficients]
    parts = [np.asarray(v, dtype=float)[rows].reshape(n, -1) for v in predictor.coefficients.values()]
    effects = [order[places.slices[g]][i[rows]] for g, i in predictor.groups.items() if g in places.slices]
    coefficients = np.concatenate([*columns, np.zeros(0, dtype=np.int64)])[None]
    column, owner, varying = np.arange(coefficients.shape[1]), np.zeros(n, dtype=np.int64), predictor.varying
    if varying is not None and varying.name in places.slices:
        (own,) = np.nonzero(np.isin(coefficients[0], order[places.slices[varying.coefficient]]))
        added = order[places.slices[varying.name]].reshape(-1, len(own))
        coefficients = np.hstack([np.repeat(coefficients, len(added), axis=0), added])
        column, owner = np.append(column, own), varying.group[rows]
    return Terms(
        matrix=np.hstack([*parts, np.zeros((n, 0))]),
        column=column,
        owner=owner,
        coefficients=coefficients,
        effects=np.array(effects, dtype=np.int64).reshape(len(effects), n).T,
    )


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
    places : ParameterPositions
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
        self.structure, self.places = structure, ParameterPositions(structure)
        self.scales = self.places.scales
        self._priors = {
            n: coefficient_log_density(n, c.prior, shift=c.shift, logit=c.logit)
            for n, c in structure.coefficients.items()
        }
        scale_priors = {
            n: scale_log_density(f"sigma_{n}", group.scale) for n, group in structure.groups.items()
        }
        self._scale_priors = [scale_priors[name] for name in self.scales]
        self._blocks = [
            PreparedBlock(block, self.places) for block in structure.blocks if len(block.successes)
        ]
        self.is_concave = not any(block.is_product for block in self._blocks)
        self._arrange(self.places.layout, self.places.slices, self.places.sums)

    def _arrange(
        self, layout: Layout, slices: dict[str, slice | IndexArray], sums: tuple[slice, ...]
    ) -> None:
        """Set where parameters are in x."""
        self.layout, self.slices, self.sums = layout, slices, sums
        order = np.arange(self.size)
        of_scales = [order[slices[n]] if n in slices else order[:0] for n in self.scales]
        self._effects = np.concatenate([*of_scales, order[:0]])
        n_effects = np.array([len(own) for own in of_scales], dtype=np.int64)
        self._scale_of = np.repeat(np.arange(len(of_scales)), n_effects)
        is_summed = [n in slices and n != self.structure.slopes for n in self.scales]
        self._n_free = n_effects - np.array(is_summed, dtype=np.int64)
        self._local = np.arange(self.layout.n_global, self.layout.size)
        self._local_place = self.layout.places(self._local)
        self._held = [s for s in self.sums if s.stop <= self.layout.n_global and not self.is_concave]

    def forget(self) -> None:
        """Forget the modes of cells found so far, which are starting points: values repeat to the byte."""
        for block in self._blocks:
            if block.cell is not None:
                block.modes = np.zeros(len(block.modes))

    @property
    def size(self) -> int:
        """Number of parameters in x."""
        return self.layout.size

    def is_local(self, name: str) -> bool:
        """Return whether effects are those of a layout's groups, or of cells in these."""
        where = self.slices.get(name)
        return where is None or np.arange(self.size)[where].max(initial=0) >= self.layout.n_global

    def start(self, near: Mapping[str, FloatArray] | None = None) -> tuple[FloatArray, FloatArray]:
        """Return starting values for x, shape (parameter,), and log scales θ, shape (scale,).

        Coefficients are at the center of their priors, effects zero and scales 0.74; or all are at the means
        of ``near``, draws by name of the variable.
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
        """Return the log density at (x, θ), including Jacobians of transforms, up to a constant."""
        return self._prior(x, theta)[0] + sum(
            block.log_likelihood(x, self._tau(theta)) for block in self._blocks
        )

    def expand(
        self, x: FloatArray, theta: FloatArray, *, expected: bool = False
    ) -> tuple[float, FloatArray, Arrow]:
        """Return `log_density`, its gradient in x, and its negative Hessian.

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
        """Return value, gradient and negative Hessian of the best quadratic under a Gaussian about x.

        The quadratic has the density's mean value, gradient and Hessian under the Gaussian.

        Means are over the Gaussian about x.
        """
        value, gradient, diagonal = self._prior(x, theta)  # quadratic already
        outer, covariance = self.layout.zeros(), gaussian.covariance()
        for block in self._blocks:
            nodes = block.nodes(x, covariance)
            value += block.add_derivatives(nodes, self._tau(theta), gradient, outer, expected=False)
        value += 0.5 * Arrow(self.layout, outer).trace_with(covariance)
        return value, gradient, Arrow(self.layout, outer + self._prior_hessian(diagonal))

    def log_prior_of_scales(self, theta: FloatArray) -> Any:
        """Return the log prior density of log scales, shape (...), for θ of shape (scale, ...)."""
        return sum(prior(at) for prior, at in zip(self._scale_priors, theta, strict=True))

    def prior_curvature(self, theta: FloatArray) -> FloatArray:
        """Return the negative Hessian of the effects' log prior, in the form of `Layout.zeros`."""
        diagonal = np.zeros(self.size)
        diagonal[self._effects] = np.exp(-2 * theta)[self._scale_of]
        return self._prior_hessian(diagonal)

    def drift(self, x: FloatArray, theta: FloatArray, curvature: Factor) -> FloatArray:
        """Return the derivative of the mode x with respect to θ, shape (scale, parameter)."""
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
        """Return the gradient at x of each block's expected successes, each of shape (parameter,)."""
        return [block.total(x, self._tau(theta)) for block in self._blocks]

    def draw_cells(self, x: FloatArray, theta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return draws of cell effects given all other parameters, shape (draw, kept cell)."""
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
        """Return the scale of the cell effects, 0 if the model has none."""
        name = self.structure.cells
        return float(np.exp(theta[self.scales.index(name)])) if name in self.scales else 0.0

    def _prior(self, x: FloatArray, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the log prior density, its gradient in x, and the diagonal of its negative Hessian."""
        value, gradient, diagonal = 0.0, np.empty(self.size), np.empty(self.size)
        for name, prior in self._priors.items():
            where = self.slices[name]
            log_density, gradient[where], second = prior(x[where])
            value += float(log_density.sum())
            diagonal[where] = -second
        precision, effect = np.exp(-2 * theta)[self._scale_of], x[self._effects]
        pull = precision * effect
        value += float(self.log_prior_of_scales(theta) - self._n_free @ theta - 0.5 * (pull @ effect))
        gradient[self._effects], diagonal[self._effects] = -pull, precision
        for where in self._held:
            total = float(x[where].sum())
            value -= 0.5 * _SUM_PRECISION * total**2
            gradient[where] -= _SUM_PRECISION * total
        return value, gradient, diagonal

    def _prior_hessian(self, diagonal: FloatArray) -> FloatArray:
        """Return the negative Hessian of the log prior, in the form of `Layout.zeros`."""
        at = self.layout
        outer = at.zeros()
        np.einsum("ii->i", outer[: at.n_global, : at.n_global])[:] = diagonal[: at.n_global]
        for where in self._held:
            outer[where, where] += _SUM_PRECISION
        if at.width:
            outer[self._local, self._local_place] = diagonal[at.n_global : at.size]
        return outer
