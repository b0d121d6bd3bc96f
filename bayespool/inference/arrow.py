"""Arrowhead matrices, the parameter order that gives them their shape, and loops that fill them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log, log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from bayespool.arrays import FloatArray, IndexArray
from bayespool.compiled import compiled
from bayespool.models.formulas import Structure


@dataclass(frozen=True, slots=True)
class Layout:
    """Parameter order: global parameters first, then ``width`` local ones for each group."""

    n_global: int
    n_groups: int
    width: int

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_global + self.n_groups * self.width

    def places(self, parameters: IndexArray) -> IndexArray:
        """Return the column of each parameter in an arrow matrix, in the shape of ``parameters``."""
        local = self.n_global + (parameters - self.n_global) % max(self.width, 1)
        return np.where(parameters < self.n_global, parameters, local)

    def zeros(self) -> FloatArray:
        """Return an arrow matrix of zeros, shape (parameter, global + width).

        Its columns are the globals, and the locals of the row's own group.
        """
        return np.zeros((self.size, self.n_global + self.width))


@dataclass(frozen=True, eq=False)
class Arrow:
    """Symmetric arrowhead matrix in the form of `Layout.zeros`, shape (parameter, global + width)."""

    layout: Layout
    outer: FloatArray

    def trace_with(self, other: FloatArray) -> float:
        """Return the trace of the product with another arrow matrix."""
        n, products = self.layout.n_global, self.outer * other
        return float(products.sum() + products[n:, :n].sum())  # locals go with globals on both sides

    def factor(self, sums: Sequence[slice]) -> Factor:
        """Return the Gaussian with this precision matrix and zero sums.

        Raises ``LinAlgError`` if the matrix is not positive definite.
        """
        at, outer = self.layout, self.outer
        head = outer[: at.n_global, : at.n_global]
        local = outer[at.n_global :].reshape(at.n_groups, at.width, at.n_global + at.width)
        inverse = np.zeros((at.n_groups, at.width, at.width))
        if at.width:
            inverse[:] = _inverse_root(local[:, :, at.n_global :])
        across = (inverse @ local[:, :, : at.n_global]).reshape(at.n_groups * at.width, at.n_global)
        small, info = dpotrf(head - across.T @ across, lower=1, clean=1)
        if info:
            raise LinAlgError("the matrix is not positive definite")
        return Factor(at, small, inverse, across, tuple(sums))


def _inverse_root(blocks: FloatArray) -> FloatArray:
    """Return inverse Cholesky factors of positive definite blocks, shape (block, width, width)."""
    if blocks.shape[1] > 1:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(blocks)))
    if not (blocks > 0).all():
        raise LinAlgError("a block is not positive definite")
    return np.asarray(1 / np.sqrt(blocks))


@dataclass(frozen=True, eq=False)
class Factor:
    """Gaussian about zero, conditioned on zero sums of parameters, as made by `Arrow.factor`."""

    layout: Layout
    lower: FloatArray  # Cholesky factor of the precision without groups, shape (global, global)
    inverse: FloatArray  # inverse Cholesky factors of the groups' blocks, shape (group, width, width)
    across: FloatArray  # those times the blocks of locals and globals, shape (local, global)
    sums: tuple[slice, ...]

    @cached_property
    def log_determinant(self) -> float:
        """Log determinant of the precision matrix given the zero sums, up to a constant."""
        own = np.diagonal(self.inverse, axis1=1, axis2=2)
        value = 2 * float(np.log(np.diag(self.lower)).sum()) - 2 * float(np.log(own).sum())
        return value + float(np.linalg.slogdet(self._covariance_of_sums)[1])

    @cached_property
    def _covariance_with_sums(self) -> FloatArray:
        """Unconditional covariance between parameters and their sums, shape (parameter, sum)."""
        ones = np.zeros((self.layout.size, len(self.sums)))
        for i, where in enumerate(self.sums):
            ones[where, i] = 1
        return self._solve(ones)

    @cached_property
    def _covariance_of_sums(self) -> FloatArray:
        """Covariance between the sums before conditioning, shape (sum, sum)."""
        return self._sums_of(self._covariance_with_sums)

    def _sums_of(self, x: FloatArray) -> FloatArray:
        return np.array([x[where].sum(axis=0) for where in self.sums]).reshape(len(self.sums), *x.shape[1:])

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the covariance matrix times a vector, shape (parameter,)."""
        return self.conditioned(self._solve(right))

    def conditioned(self, x: FloatArray) -> FloatArray:
        """Return x conditioned on zero sums, shape (parameter, ...)."""
        if not self.sums:
            return x
        return x - self._covariance_with_sums @ np.linalg.solve(self._covariance_of_sums, self._sums_of(x))

    def _solve(self, right: FloatArray) -> FloatArray:
        at = self.layout
        local = self._times(self.inverse, right[at.n_global :])
        head = dpotrs(self.lower, right[: at.n_global] - self.across.T @ local, lower=1)[0]
        tail = self._times(self.inverse.transpose(0, 2, 1), local - self.across @ head)
        return np.concatenate([head, tail])

    def _times(self, blocks: FloatArray, x: FloatArray) -> FloatArray:
        """Return block-diagonal group matrices times the local parameters in x, shape (local, ...)."""
        at = self.layout
        columns = x.reshape(at.n_groups, at.width, *x.shape[1:] or (1,))
        return (blocks @ columns).reshape(x.shape)

    def variances(
        self, heads: FloatArray, locals_: FloatArray, starts: npt.NDArray[np.integer]
    ) -> FloatArray:
        """Return unconditional variances for linear combinations of parameters, shape (sum,).

        Parameters
        ----------
        heads : ndarray of float, shape (sum, global)
        locals_ : ndarray of float, shape (sum, width), or (0, width) for sums of globals alone
            Those of group g are the sums ``starts[g]`` to ``starts[g + 1]``.
        starts : ndarray of int, shape (group + 1,)
        """
        at, rest, of_locals = self.layout, heads.copy(), np.zeros(len(heads))
        across = self.across.reshape(at.n_groups, at.width, at.n_global)
        for group, inverse in enumerate(self.inverse):
            own = slice(int(starts[group]), int(starts[group + 1]))
            if own.stop > own.start:
                white = locals_[own] @ inverse.T
                rest[own] -= white @ across[group]
                of_locals[own] = (white**2).sum(axis=1)
        white = dtrtrs(self.lower, rest.T, lower=1)[0]
        return np.asarray(of_locals + (white**2).sum(axis=0))

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return draws from the Gaussian, shape (draw, parameter)."""
        at = self.layout
        head = dtrtrs(self.lower, rng.normal(size=(at.n_global, n)), lower=1, trans=1)[0]
        noise = rng.normal(size=(at.n_groups * at.width, n))
        tail = self._times(self.inverse.transpose(0, 2, 1), noise - self.across @ head)
        return np.asarray(self.conditioned(np.concatenate([head, tail])).T)

    def covariance(self) -> FloatArray:
        """Return covariances with globals and within groups, in the form of `Layout.zeros`."""
        at = self.layout
        total = at.zeros()
        head = dpotrs(self.lower, np.eye(at.n_global), lower=1)[0]
        spread = self._times(self.inverse.transpose(0, 2, 1), self.across)  # −d local / d global
        total[: at.n_global, : at.n_global] = head
        total[at.n_global :, : at.n_global] = -spread @ head
        by_group = (at.n_groups, at.width)
        moved = spread.reshape(*by_group, at.n_global)
        own = self.inverse.transpose(0, 2, 1) @ self.inverse
        own += (spread @ head).reshape(*by_group, at.n_global) @ moved.transpose(0, 2, 1)
        total[at.n_global :, at.n_global :] = own.reshape(at.size - at.n_global, at.width)
        if self.sums:
            root = np.linalg.cholesky(np.linalg.inv(self._covariance_of_sums))
            off = self._covariance_with_sums @ root
            total[:, : at.n_global] -= off @ off[: at.n_global].T
            of_groups = off[at.n_global :].reshape(*by_group, len(self.sums))
            total[at.n_global :, at.n_global :] -= (of_groups @ of_groups.transpose(0, 2, 1)).reshape(
                at.size - at.n_global, at.width
            )
        return total


_PLATES = ("topic", "organization")  # their groups are independent given all other parameters


class ParameterPositions:
    """Parameter layout, scales, and indices of coefficients and effects in x, local groups last."""

    # ``scales`` are names of the factors in the order of θ; ``slices`` positions by name; ``sums`` the
    # effects that sum to zero. In x coefficients and most effects precede the effects and slopes of topics,
    # or of organizations, group by group.
    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.scales = tuple(
            n for n, g in structure.groups.items() if g.size > (not (g.is_cell or g.is_slope))
        )
        cells, slopes, local = structure.cells, structure.slopes, self._local_factors()
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

    def _local_factors(self) -> list[str]:
        """Return the factors to use as locals, chosen to leave the fewest global parameters."""
        groups, slopes = self.structure.groups, self.structure.slopes
        along = {plate: [n for n in self.scales if groups[n].dim == plate] for plate in _PLATES}
        if slopes is not None and slopes in self.scales and along["organization"]:
            along["organization"].append(slopes)
        return max(along.values(), key=lambda names: sum(groups[name].size for name in names))


class Design(NamedTuple):
    """Nonzero entries of a design matrix Z over global and local parameters."""

    matrix: FloatArray  # multipliers of the coefficients, shape (observation, column)
    columns: IndexArray  # parameters of the coefficients, globals, shape (column,)
    effects: IndexArray  # parameters of the effects, local ones of one group, shape (observation, factor)
    places: IndexArray  # columns of the effects in an arrow, shape (observation, factor)
    owner: IndexArray  # owner of an observation's slopes, shape (observation,)
    own: IndexArray  # parameters that an owner adds to coefficients, −1 for none, shape (owner, column)
    own_places: IndexArray  # columns of these in an arrow, shape (owner, column)


@compiled
def linear_predictor(design: Design, x: FloatArray) -> FloatArray:
    """Return the linear predictor Z·x, shape (observation,)."""
    matrix, index, own = design.matrix, design.effects, design.own
    n_columns = matrix.shape[1]
    slopes = np.empty((len(own), n_columns))
    for o in range(len(own)):
        for a in range(n_columns):
            slopes[o, a] = x[design.columns[a]] + (x[own[o, a]] if own[o, a] >= 0 else 0.0)
    z = np.empty(len(matrix))
    for i in range(len(matrix)):
        total, o = 0.0, design.owner[i]
        for a in range(n_columns):
            total += matrix[i, a] * slopes[o, a]
        for g in range(index.shape[1]):
            total += x[index[i, g]]
        z[i] = total
    return z


@compiled
def product_terms(z: FloatArray, residual: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the logit η of a `Product` with its gradient and second derivatives, (..., observation)."""
    # with three predictors there is no E, and the residual is zero
    n_predictors, n = z.shape
    last = n_predictors - 1
    eta, first = np.empty(n), np.ones((n_predictors, n))
    second = np.zeros((n_predictors, n_predictors, n))
    s, d = np.zeros(3), np.zeros(3)
    for i in range(n):
        for m in range(last):
            small = exp(-abs(z[m, i]))
            s[m] = (1.0 if z[m, i] >= 0 else small) / (1.0 + small)
            d[m] = small / (1.0 + small) ** 2
        share = 1.0 - residual[i]
        chance = share * s[0] * s[1] + residual[i] * s[2]
        chance = min(max(chance, 1e-12), 1.0 - 1e-12)  # a long step may lead to 0 or 1
        scale = 1.0 / (chance * (1.0 - chance))
        eta[i] = log(chance) - log1p(-chance) + z[last, i]
        first[0, i] = share * d[0] * s[1] * scale
        first[1, i] = share * s[0] * d[1] * scale
        second[0, 0, i] = share * d[0] * (1 - 2 * s[0]) * s[1] * scale
        second[0, 1, i] = share * d[0] * d[1] * scale
        second[1, 1, i] = share * s[0] * d[1] * (1 - 2 * s[1]) * scale
        if last == 3:
            first[2, i] = residual[i] * d[2] * scale
            second[2, 2, i] = residual[i] * d[2] * (1 - 2 * s[2]) * scale
        for m in range(last):
            for k in range(m + 1):
                second[k, m, i] -= first[k, i] * first[m, i] * (1 - 2 * chance)
                second[m, k, i] = second[k, m, i]
    return eta, first, second


@compiled
def add_weights(
    at: float,
    score: FloatArray,
    information: FloatArray,
    first: FloatArray,
    second: FloatArray,
    expected: bool,
    gradient: FloatArray,
    curvature: FloatArray,
) -> None:
    """Add ``at`` times the gradient and negative Hessian of a log likelihood in its linear predictors."""
    n_predictors = len(first)
    for m in range(n_predictors):
        for i in range(len(score)):
            gradient[m, i] += at * score[i] * first[m, i]
        for k in range(m + 1):
            for i in range(len(score)):
                weight = information[i] * first[m, i] * first[k, i]
                if not expected:
                    weight -= score[i] * second[k, m, i]
                curvature[k, m, i] += at * weight


@compiled
def add_own(
    design: Design,
    slope: FloatArray,
    weight: FloatArray,
    gradient: FloatArray,
    total: FloatArray,
    n_global: int,
) -> None:
    """Add Zᵀ·slope to a gradient, shape (parameter,), and Zᵀ·diag(weight)·Z to an arrow matrix."""
    matrix, columns, index, places = design.matrix, design.columns, design.effects, design.places
    n_columns = matrix.shape[1]
    across = np.zeros((len(total), n_columns))
    weighted = np.empty_like(matrix)
    for i in range(len(weight)):
        for a in range(n_columns):
            weighted[i, a] = weight[i] * matrix[i, a]
        for g in range(index.shape[1]):
            own = index[i, g]
            gradient[own] += slope[i]
            for a in range(n_columns):
                across[own, a] += weighted[i, a]
            for h in range(index.shape[1]):
                if own >= n_global or index[i, h] < n_global:
                    total[own, places[i, h]] += weight[i]
    slopes, among = slope @ matrix, weighted.T @ matrix
    for a in range(n_columns):
        gradient[columns[a]] += slopes[a]
        for b in range(n_columns):
            total[columns[a], columns[b]] += among[a, b]
        for j in range(len(total)):
            total[j, columns[a]] += across[j, a]
            if j < n_global:
                total[columns[a], j] += across[j, a]


@compiled
def add_product(left: Design, right: Design, weight: FloatArray, total: FloatArray, n_global: int) -> None:
    """Add Zₗᵀ·diag(weight)·Zᵣ and its transpose to an arrow matrix."""
    a_matrix, a_index, b_matrix, b_index = left.matrix, left.effects, right.matrix, right.effects
    n_a, n_b, size = a_matrix.shape[1], b_matrix.shape[1], len(total)
    among = np.zeros((n_a, n_b))
    down = np.zeros((n_b, size))
    across = np.zeros((n_a, size))
    for i in range(len(weight)):
        for a in range(n_a):
            part = weight[i] * a_matrix[i, a]
            for b in range(n_b):
                among[a, b] += part * b_matrix[i, b]
        for g in range(a_index.shape[1]):
            own = a_index[i, g]
            for b in range(n_b):
                down[b, own] += weight[i] * b_matrix[i, b]
            for h in range(b_index.shape[1]):
                other = b_index[i, h]
                if own >= n_global or other < n_global:
                    total[own, right.places[i, h]] += weight[i]
                if other >= n_global or own < n_global:
                    total[other, left.places[i, g]] += weight[i]
        for h in range(b_index.shape[1]):
            own = b_index[i, h]
            for a in range(n_a):
                across[a, own] += weight[i] * a_matrix[i, a]
    for a in range(n_a):
        for b in range(n_b):
            total[left.columns[a], right.columns[b]] += among[a, b]
            total[right.columns[b], left.columns[a]] += among[a, b]
        for j in range(size):
            total[j, left.columns[a]] += across[a, j]
            if j < n_global:
                total[left.columns[a], j] += across[a, j]
    for b in range(n_b):
        for j in range(size):
            total[j, right.columns[b]] += down[b, j]
            if j < n_global:
                total[right.columns[b], j] += down[b, j]


@compiled
def add_slope(design: Design, slope: FloatArray, gradient: FloatArray) -> None:
    """Add Zᵀ·slope to a gradient, shape (parameter,)."""
    matrix, columns, index, own = design.matrix, design.columns, design.effects, design.own
    for i in range(len(slope)):
        o = design.owner[i]
        for a in range(len(columns)):
            part = slope[i] * matrix[i, a]
            gradient[columns[a]] += part
            if own[o, a] >= 0:
                gradient[own[o, a]] += part
        for g in range(index.shape[1]):
            gradient[index[i, g]] += slope[i]


@compiled
def owners_covariances(design: Design, covariance: FloatArray) -> FloatArray:
    """Return the covariance matrix of each owner's coefficients, shape (owner, column, column)."""
    columns, own, places = design.columns, design.own, design.own_places
    n = len(columns)
    among = np.empty((len(own), n, n))
    for o in range(len(own)):
        for a in range(n):
            for b in range(n):
                total, p, q = covariance[columns[a], columns[b]], own[o, a], own[o, b]
                if p >= 0:
                    total += covariance[p, columns[b]]
                if q >= 0:
                    total += covariance[q, columns[a]]
                if p >= 0 and q >= 0:
                    total += covariance[p, places[o, b]]
                among[o, a, b] = total
    return among


@compiled
def variances(design: Design, covariance: FloatArray, among: FloatArray, n_global: int) -> FloatArray:
    """Return the diagonal of Z·covariance·Zᵀ, shape (observation,), from an arrow matrix."""
    matrix, columns, index = design.matrix, design.columns, design.effects
    n_columns = len(columns)
    across = np.empty((len(covariance), n_columns))
    for j in range(len(covariance)):
        for a in range(n_columns):
            across[j, a] = covariance[j, columns[a]]
    result = np.empty(len(matrix))
    for i in range(len(result)):
        total, of_effects, o = 0.0, 0.0, design.owner[i]
        for a in range(n_columns):
            row = among[o, a]
            part = 0.0
            for b in range(a):
                part += row[b] * matrix[i, b]
            total += (2 * part + row[a] * matrix[i, a]) * matrix[i, a]
        for g in range(index.shape[1]):
            own = index[i, g]
            row = across[own]
            part = 0.0
            for b in range(n_columns):
                part += row[b] * matrix[i, b]
                q = design.own[o, b]
                if q >= 0:
                    if q < n_global or own >= n_global:
                        part += covariance[own, design.own_places[o, b]] * matrix[i, b]
                    else:
                        part += covariance[q, design.places[i, g]] * matrix[i, b]
            total += 2 * part
            of_effects += covariance[own, design.places[i, g]]
            for h in range(g):
                other = index[i, h]
                if own >= n_global or other < n_global:
                    of_effects += 2 * covariance[own, design.places[i, h]]
                else:
                    of_effects += 2 * covariance[other, design.places[i, g]]
        result[i] = total + of_effects
    return result


@compiled
def covariances(left: Design, right: Design, covariance: FloatArray, n_global: int) -> FloatArray:
    """Return the diagonal of Zₗ·covariance·Zᵣᵀ for two designs, shape (observation,)."""
    a_index, b_index = left.effects, right.effects
    result = np.empty(len(left.matrix))
    for i in range(len(result)):
        total = 0.0
        for a in range(len(left.columns)):
            part = 0.0
            for b in range(len(right.columns)):
                part += covariance[left.columns[a], right.columns[b]] * right.matrix[i, b]
            for h in range(b_index.shape[1]):
                part += covariance[b_index[i, h], left.columns[a]]
            total += part * left.matrix[i, a]
        for g in range(a_index.shape[1]):
            own = a_index[i, g]
            for b in range(len(right.columns)):
                total += covariance[own, right.columns[b]] * right.matrix[i, b]
            for h in range(b_index.shape[1]):
                other = b_index[i, h]
                if own >= n_global or other < n_global:
                    total += covariance[own, right.places[i, h]]
                else:
                    total += covariance[other, left.places[i, g]]
        result[i] = total
    return result


@compiled
def sum_chances(
    matrix: FloatArray,
    log_odds: FloatArray,
    root: FloatArray,
    trials: FloatArray,
    shifts: FloatArray,
    ranking: IndexArray,
    run: IndexArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return expected totals by run and variances by ranking for each shift in log odds, with derivatives."""
    # log odds are (log odds + shift) / root; shapes (run, shift), (ranking, shift) and (column, run, shift)
    n_shifts, n_columns, n_runs = len(shifts), matrix.shape[1], run.max() + 1
    totals, slopes = np.zeros((n_runs, n_shifts)), np.zeros((n_columns, n_runs, n_shifts))
    variances, variance = np.zeros((len(run), n_shifts)), np.empty(n_shifts)
    for i in range(len(log_odds)):
        r = run[ranking[i]]
        for s in range(n_shifts):
            p = 1.0 / (1.0 + exp(-(log_odds[i] + shifts[s]) / root[i]))
            variance[s] = trials[i] * p * (1.0 - p)
            variances[ranking[i], s] += variance[s]
            totals[r, s] += trials[i] * p
        for a in range(n_columns):
            for s in range(n_shifts):
                slopes[a, r, s] += variance[s] * matrix[i, a]
    return totals, variances, slopes
