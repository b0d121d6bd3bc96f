"""Blocks of observations of a density: designs, log likelihoods and their derivatives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.errors import InputError
from bayespool.inference.arrow import Factor, Layout
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
from bayespool.inference.places import Places
from bayespool.models.structure import Block, Predictor

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_MAX_LOG_ODDS = 2**22  # held at a time for draws of cells


class Rows:
    """Rows of a predictor of a density, such as documents that the density has not seen.

    Parameters
    ----------
    places : Places
        Positions of the density's parameters.
    predictor : Predictor
        Of coefficients and effects of the density.
    rows : ndarray of int, shape (row,)
        Rows of the predictor, in this order.
    """

    def __init__(self, places: Places, predictor: Predictor, rows: npt.NDArray[np.intp]) -> None:
        self._design, self._layout = _design(predictor, rows, places), places.layout

    def predict(self, x: FloatArray, gaussian: Factor) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the log odds under a Gaussian about x, two arrays of shape (row,)."""
        return linear_predictor(self._design, x), _variances(
            self._design, gaussian.covariance(), self._layout
        )

    def totals(
        self,
        log_odds: FloatArray,
        root: FloatArray,
        trials: FloatArray,
        shifts: FloatArray,
        start: npt.NDArray[np.intp],
        run: npt.NDArray[np.intp],
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Totals of counts by run for shifts of all log odds, with the derivatives of the totals.

        Parameters
        ----------
        log_odds, root : ndarray, shape (row,)
            A chance has the log odds (log odds + shift) / root.
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
        """Parameters that the rows depend on, ascending."""
        return np.union1d(self._design.columns, self._design.effects)


class PreparedBlock:
    """A block with the design matrix of each predictor."""

    def __init__(self, block: Block, places: Places) -> None:
        self.layout, self.is_product = places.layout, block.link is not None
        name, cell = places.structure.cells, np.zeros(0, dtype=np.int64)
        if name in places.scales:
            assert name is not None
            cell = next((p.groups[name] for p in block.predictors if name in p.groups), cell)
        n, in_order = len(block.successes), np.argsort(cell, kind="stable")
        rows = in_order if len(cell) else np.arange(n)
        self.successes, self.trials = block.successes[rows].astype(float), block.trials[rows].astype(float)
        self.designs = tuple(_design(predictor, rows, places) for predictor in block.predictors)
        residual = block.link.residual if block.link is not None else None
        self.residual = np.zeros(n) if residual is None else residual
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
        """Values of the linear predictors, shape (predictor, observation)."""
        return np.array([linear_predictor(design, x) for design in self.designs])

    def total(self, x: FloatArray, tau: float) -> FloatArray:
        """Gradient of the expected sum of successes, shape (parameter,)."""
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
        """Log likelihood at x, with the scale τ of the effects of cells."""
        z = self.predictors(x)
        if self.cell is not None:
            return self._integrate(z[0], tau).log_likelihood
        eta = product_terms(z, self.residual)[0] if self.is_product else z[0]
        return _binomial_terms(eta, self.successes, self.trials)[0]

    def draw_cells(
        self, x: FloatArray, tau: FloatArray, kept: IndexArray, drawn: FloatArray, rng: np.random.Generator
    ) -> None:
        """Draw effects of the kept cells with observations into ``drawn``, shape (draw, kept cell)."""
        assert self.cell is not None
        rows = np.flatnonzero(np.isin(self.cell, kept))
        whole = self.designs[0]
        design = whole._replace(
            matrix=whole.matrix[rows],
            effects=whole.effects[rows],
            places=whole.places[rows],
            owner=whole.owner[rows],
        )
        for first in range(0, len(x) if len(rows) else 0, step := max(1, _MAX_LOG_ODDS // max(len(rows), 1))):
            some = slice(first, first + step)
            log_odds = np.array([linear_predictor(design, point) for point in x[some]])
            cells, effects_of_cells = draw_effects(
                log_odds, self.successes[rows], self.trials[rows], self.cell[rows], tau[some], rng
            )
            drawn[some, np.searchsorted(kept, cells)] = effects_of_cells

    def nodes(self, x: FloatArray, covariance: FloatArray) -> list[tuple[float, FloatArray]]:
        """Weights and predictors of a cubature over the Gaussian about x, exact for polynomials of degree 5
        in one predictor, of degree 3 in several.
        """
        z, at = self.predictors(x), self.layout
        n_predictors = len(z)
        variance = np.empty((z.shape[1], n_predictors, n_predictors))
        for k in range(n_predictors):
            for m in range(k):
                both = covariances(self.designs[k], self.designs[m], covariance, at.n_global)
                variance[:, k, m] = variance[:, m, k] = both
            variance[:, k, k] = _variances(self.designs[k], covariance, at) + 1e-10
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
        """Add the mean derivatives over the nodes to gradient and Hessian; return the mean log likelihood."""
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
        integrated = self._integrate(log_odds, tau, at_modes)
        slopes, bends, slope_of, bend_of, mixed = (weight * part for part in integrated[1:])
        design = self.designs[0]
        to = design.columns, self.effects, self.places, self.owner, design.own, design.own_places
        add_cells(*to, slopes, bends, slope_of, bend_of, mixed, gradient, outer, self.layout.n_global)
        return integrated.log_likelihood


def _variances(design: Design, covariance: FloatArray, layout: Layout) -> FloatArray:
    """Variances of the rows of a design, shape (observation,)."""
    of_owners = owners_covariances(design, covariance)
    return np.asarray(variances(design, covariance, of_owners, layout.n_global))


def _binomial_terms(
    eta: FloatArray, successes: FloatArray, trials: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Log likelihood of binomial counts in log odds η, up to a constant; its first derivative and minus its
    second, shape (observation,).
    """
    small = np.exp(-np.abs(eta))  # numpy's exp and log are several times as fast as those of a compiled loop
    larger = 1 / (1 + small)
    smaller = small * larger
    p = np.where(eta >= 0, larger, smaller)
    value = float(successes @ eta - trials @ (np.maximum(eta, 0) - np.log(larger)))
    return value, successes - trials * p, trials * smaller * larger


def _design(predictor: Predictor, rows: IndexArray, places: Places) -> Design:
    """Design of some rows of a predictor."""
    n, order = len(rows), np.arange(places.layout.size)
    columns = [order[places.slices[name]] for name in predictor.coefficients]
    parts = [np.asarray(v, dtype=float)[rows] for v in predictor.coefficients.values()]
    parts = [part[:, None] if part.ndim == 1 else part for part in parts]
    effects = [order[places.slices[g]][i[rows]] for g, i in predictor.groups.items() if g in places.slices]
    index = np.column_stack(effects).astype(np.int64) if effects else np.zeros((n, 0), dtype=np.int64)
    where = np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)
    owner, own = np.zeros(n, dtype=np.int64), np.full((1, len(where)), -1, dtype=np.int64)
    varying = predictor.varying
    if varying is not None and varying.name in places.slices:
        added = order[places.slices[varying.name]].reshape(-1, len(order[places.slices[varying.coefficient]]))
        owner, own = varying.group[rows], np.full((len(added), len(where)), -1, dtype=np.int64)
        own[:, np.isin(where, order[places.slices[varying.coefficient]])] = added
    return Design(
        np.hstack(parts) if parts else np.zeros((n, 0)),
        where,
        index,
        places.layout.places(index),
        owner,
        own,
        places.layout.places(own),
    )
