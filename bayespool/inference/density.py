"""Log density of a `Structure` in its unconstrained parameters, with first and second derivatives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from bayespool.errors import InputError
from bayespool.inference.arrow import Arrow, Cells, Factor, Layout
from bayespool.inference.kernels import (
    Design,
    add_own,
    add_product,
    add_weights,
    covariances,
    linear_predictor,
    product_terms,
    sums_by_cell,
    variances,
)
from bayespool.models.families import log_density_of_coefficient, log_density_of_scale
from bayespool.models.structure import Block, Predictor, Structure

__all__ = ["Density"]

FloatArray = npt.NDArray[np.float64]

_FIRST_SCALE = float(np.exp(-0.3))
# Of the sums of global effects, which are zero: it changes nothing where they are, and keeps positive what
# would not be where they are not, in blocks whose log likelihood is not concave.
_SUM_PRECISION = 100.0
_PLATE = "topic"  # groups along this coordinate go with no other topic's


class Density:
    """Joint log density of coefficients and effects, x, and log scales, θ.

    Effects are taken to sum to zero; those of cells need not.

    Parameters
    ----------
    structure : Structure

    Attributes
    ----------
    scales : tuple of str
        Names of the factors, in the order of θ.
    layout : Layout
        Of x: coefficients and effects of all factors but topics' and cells', then the effects of topics,
        those of one topic together, then the cells'.
    slices : dict of str to slice
        Where coefficients and effects stand in x.
    sums : tuple of slice
        Effects that sum to zero.

    Raises
    ------
    InputError
        A prior whose density this engine does not know.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.scales = tuple(name for name, group in structure.groups.items() if group.size > 1)
        cells = structure.cells if structure.cells in self.scales else None
        local = [n for n in self.scales if structure.groups[n].dim == _PLATE]
        self.slices: dict[str, slice] = {}
        stop = 0
        for name, coefficient in structure.coefficients.items():
            width = 1 if coefficient.size is None else coefficient.size
            self.slices[name], stop = slice(stop, stop + width), stop + width
        for name in self.scales:
            if name not in local and name != cells:
                size = structure.groups[name].size
                self.slices[name], stop = slice(stop, stop + size), stop + size
        n_topics = structure.groups[local[0]].size if local else 0
        n_cells = structure.groups[cells].size if cells else 0
        self.layout = Layout(stop, n_topics, len(local), n_cells)
        for j, name in enumerate(local):
            self.slices[name] = slice(stop + j, self.layout.n_outer, len(local))
        if cells:
            self.slices[cells] = slice(self.layout.n_outer, self.layout.size)
        self.sums = tuple(self.slices[name] for name in self.scales if name != cells)
        self._cells = cells
        self._priors = {
            n: log_density_of_coefficient(n, c.prior, shift=c.shift, logit=c.logit)
            for n, c in structure.coefficients.items()
        }
        scale_priors = {
            n: log_density_of_scale(f"sigma_{n}", group.scale) for n, group in structure.groups.items()
        }
        self._scale_priors = [scale_priors[name] for name in self.scales]
        self._blocks = [_Prepared(block, self) for block in structure.blocks if len(block.successes)]
        is_concave = not any(block.is_product for block in self._blocks)
        self._held = [s for s in self.sums if s.stop <= self.layout.n_global and not is_concave]

    @property
    def size(self) -> int:
        """Length of x."""
        return self.layout.size

    def start(self, near: Mapping[str, FloatArray] | None = None) -> tuple[FloatArray, FloatArray]:
        """A point x and log scales θ to start from.

        Coefficients are at the centre of their priors, effects zero and scales 0.74; or where ``near`` has
        them, by the names of the variables.
        """
        x, near = np.zeros(self.size), near or {}
        for name in self.scales:
            effect = near.get(f"{name}_effect", np.zeros(1))
            x[self.slices[name]] = effect if name == self._cells else effect - effect.mean()
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

    def expand(
        self, x: FloatArray, theta: FloatArray, *, expected: bool = False
    ) -> tuple[float, FloatArray, Arrow]:
        """`log_density`, its gradient in x, and the negative Hessian.

        With ``expected`` the likelihood's part of the Hessian is its Fisher information, positive
        semidefinite.
        """
        value, gradient, diagonal = self._prior(x, theta)
        outer, cells = self._prior_hessian(diagonal), None
        for block in self._blocks:
            nodes = [(1.0, block.predictors(x))]
            more, of_cells = block.add_derivatives(nodes, gradient, outer, expected=expected)
            value, cells = value + more, of_cells or cells
        return value, gradient, self._arrow(outer, cells, diagonal)

    def mean_derivatives(self, x: FloatArray, theta: FloatArray, about: Factor) -> tuple[FloatArray, Arrow]:
        """Gradient and negative Hessian, means over the Gaussian about x."""
        _, gradient, diagonal = self._prior(x, theta)
        outer, cells, covariance = self._prior_hessian(diagonal), None, about.covariance()
        for block in self._blocks:
            nodes = block.nodes(x, covariance, about.cells)
            _, of_cells = block.add_derivatives(nodes, gradient, outer, expected=False)
            cells = of_cells or cells
        return gradient, self._arrow(outer, cells, diagonal)

    def drift(self, x: FloatArray, theta: FloatArray, curvature: Factor) -> FloatArray:
        """How the mode x moves with θ, dx/dθ, shape (scale, parameter)."""
        drift = np.zeros((len(self.scales), self.size))
        for g, name in enumerate(self.scales):
            where = self.slices[name]
            drift[g, where] = 2 * np.exp(-2 * theta[g]) * x[where]
            drift[g] = curvature.solve(drift[g])
        return drift

    def totals(self, x: FloatArray) -> list[FloatArray]:
        """How the expected total of each block's counts hangs on the parameters: its gradient at x."""
        return [block.total(x) for block in self._blocks]

    def _prior(self, x: FloatArray, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Log density of the priors, its gradient in x, and the diagonal of the negative Hessian."""
        value, gradient, diagonal = 0.0, np.empty(self.size), np.empty(self.size)
        for name, prior in self._priors.items():
            where = self.slices[name]
            log_density, gradient[where], second = prior(x[where])
            value += float(log_density.sum())
            diagonal[where] = -second
        for g, name in enumerate(self.scales):
            where = self.slices[name]
            effect, precision = x[where], np.exp(-2 * theta[g])
            n_free = len(effect) - (name != self._cells)
            value += self._scale_priors[g](theta[g])
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
        own = np.arange(at.n_global, at.n_outer)
        if len(own):
            outer[own, at.places(own)] = diagonal[at.n_global : at.n_outer]
        return outer

    def _arrow(self, outer: FloatArray, cells: Cells | None, diagonal: FloatArray) -> Arrow:
        n = self.layout.n_outer
        if self.layout.n_cells and cells is None:  # no block has observations
            empty = np.zeros((self.layout.n_cells, 0))
            none = empty.astype(np.int64)
            design = Design(empty, none[0], none, none, empty.sum(axis=1))
            cells = Cells(design, np.zeros(self.layout.n_cells))
        if cells is not None:
            cells = Cells(cells.design, cells.diagonal + diagonal[n:])
        return Arrow(self.layout, outer, cells)


class _Prepared:
    """A block with the design matrix of each predictor.

    Values of the predictors have shape (predictor, observation).
    """

    def __init__(self, block: Block, density: Density) -> None:
        self.successes, self.trials = block.successes.astype(float), block.trials.astype(float)
        n = len(self.successes)
        self.layout = density.layout
        self.designs = tuple(_design(predictor, n, density) for predictor in block.predictors)
        self.is_product = block.link is not None
        given = block.link.residual if block.link is not None else None
        self.residual = np.zeros(n) if given is None else given
        name = density.structure.cells if density.layout.n_cells else None
        cell = [p.groups[name] for p in block.predictors if name and name in p.groups]
        self.cell = cell[0] if cell else None
        if self.cell is not None:
            if self.is_product:
                raise InputError("effects of cells go with a linear predictor alone")
            first = np.zeros(density.layout.n_cells, dtype=np.int64)
            first[self.cell[::-1]] = np.arange(n)[::-1]
            self.effects = self.designs[0].effects[first]
            if (self.effects[self.cell] != self.designs[0].effects).any():
                raise InputError("an effect differs within a cell")

    def predictors(self, x: FloatArray) -> FloatArray:
        z = np.array([linear_predictor(design, x) for design in self.designs])
        if self.cell is not None:
            z[0] += x[self.layout.n_outer :][self.cell]
        return z

    def total(self, x: FloatArray) -> FloatArray:
        """Gradient of the expected sum of successes."""
        z, at, gradient = self.predictors(x), self.layout, np.zeros(self.layout.size)
        eta, first = z[0], np.ones_like(z)
        if self.is_product:
            eta, first, _ = product_terms(z, self.residual)
        weight = self.trials * expit(eta) * expit(-eta)
        for design, slope in zip(self.designs, first, strict=True):
            unused = np.zeros((at.n_outer, at.n_global + at.width))
            add_own(design, weight * slope, 0 * weight, gradient, unused, at.n_global)
        if self.cell is not None:
            gradient[at.n_outer :] += np.bincount(self.cell, weight, at.n_cells)
        return gradient

    def log_likelihood(self, x: FloatArray) -> float:
        z = self.predictors(x)
        eta = product_terms(z, self.residual)[0] if self.is_product else z[0]
        return _binomial_terms(eta, self.successes, self.trials)[0]

    def nodes(
        self, x: FloatArray, covariance: FloatArray, cells: Cells | None
    ) -> list[tuple[float, FloatArray]]:
        """Weights and values of the predictors: a cubature over the Gaussian about x."""
        z, at = self.predictors(x), self.layout
        n_predictors = len(z)
        variance = np.empty((z.shape[1], n_predictors, n_predictors))
        designs, own = self.designs, 1e-10
        if self.cell is not None and cells is not None:  # given the rest a cell is off by a part of it
            (design,), (matrix, *_, value) = self.designs, cells.design
            share = 1 / cells.diagonal[:, None]
            left = Design(
                design.matrix - (matrix * share)[self.cell],
                design.columns,
                design.effects,
                design.places,
                design.value - (value * share[:, 0])[self.cell],
            )
            designs, own = (left,), own + share[self.cell, 0]
        for k in range(n_predictors):
            for m in range(k):
                both = covariances(designs[k], designs[m], covariance, at.n_global)
                variance[:, k, m] = variance[:, m, k] = both
            variance[:, k, k] = variances(designs[k], covariance, at.n_global) + own
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
        outer: FloatArray,
        *,
        expected: bool,
    ) -> tuple[float, Cells | None]:
        """Add to gradient and Hessian the mean over the nodes; return that of the log likelihood, and the
        rows of cells.
        """
        n_predictors, n, at = len(self.designs), len(self.successes), self.layout
        value, slope, bend = 0.0, np.zeros((n_predictors, n)), np.zeros((n_predictors, n_predictors, n))
        for weight, z in nodes:
            if self.is_product:
                eta, first, second = product_terms(z, self.residual)
                log_likelihood, score, information = _binomial_terms(eta, self.successes, self.trials)
                add_weights(weight, score, information, first, second, expected, slope, bend)
            else:
                log_likelihood, score, information = _binomial_terms(z[0], self.successes, self.trials)
                slope[0] += weight * score
                bend[0, 0] += weight * information
            value += weight * log_likelihood
        for m, design in enumerate(self.designs):
            add_own(design, slope[m], bend[m, m], gradient, outer, at.n_global)
            for k in range(m):
                add_product(self.designs[k], design, bend[k, m], outer, at.n_global)
        if self.cell is None:
            return value, None
        matrix, columns = self.designs[0].matrix, self.designs[0].columns
        slopes, weights, across = sums_by_cell(self.cell, slope[0], bend[0, 0], matrix, at.n_cells)
        gradient[at.n_outer :] += slopes
        design = Design(across, columns, self.effects, at.places(self.effects), weights)
        return value, Cells(design, weights)


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
    effects = [
        np.arange(density.size)[density.slices[g]][i]
        for g, i in predictor.groups.items()
        if g in density.scales and g != density.structure.cells
    ]
    index = np.column_stack(effects).astype(np.int64) if effects else np.zeros((n, 0), dtype=np.int64)
    return Design(
        np.hstack(parts) if parts else np.zeros((n, 0)),
        np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64),
        index,
        density.layout.places(index),
        np.ones(n),
    )
