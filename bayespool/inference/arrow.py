"""Arrowhead matrices, the parameter order that gives them their shape, and loops that fill them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dposv, dpotrf, dpotrs, dtrtrs

from bayespool.arrays import FloatArray, IndexArray, OrderArray
from bayespool.compiled import compiled
from bayespool.models.formulas import Structure

_MOST_AT_A_TIME = 2**22  # numbers that a step in place makes
_WIDE = 24  # columns from which products of matrices are faster than a loop


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

    def with_precision(self, kind: npt.DTypeLike) -> Arrow:
        """Return the matrix with numbers of another precision."""
        return Arrow(self.layout, self.outer.astype(kind, copy=False))

    def trace_with(self, other: FloatArray) -> float:
        """Return the trace of the product with another arrow matrix."""
        n, products = self.layout.n_global, self.outer * other
        return float(products.sum() + products[n:, :n].sum())  # locals go with globals on both sides

    def factor(self, sums: Sequence[slice]) -> Factor:
        """Return the Gaussian with this precision matrix and zero sums.

        Raises ``LinAlgError`` if the matrix is not positive definite.
        """
        at, outer = self.layout, self.outer
        head, inverse = outer[: at.n_global, : at.n_global], self._inverse_roots()
        across = _block_products(inverse, outer[at.n_global :, : at.n_global])
        small, info = dpotrf(head - across.T @ across, lower=1, clean=1)
        if info:
            raise LinAlgError("the matrix is not positive definite")
        return Factor(at, small, inverse, across, tuple(sums))

    def step_within(self, sums: FloatArray, right: FloatArray) -> tuple[FloatArray, float]:
        """Return the step that `Factor.solve` would return, and the log determinant, given zero sums.

        ``sums`` are of shape (parameter, sum). Raises ``LinAlgError`` if the matrix is not positive definite
        where they are zero; elsewhere it need not be.
        """
        n, n_sums, inverse = self.layout.n_global, sums.shape[1], self._inverse_roots()
        across = _block_products(inverse, np.hstack([self.outer[n:, :n], sums[n:]]))
        border = np.block([[self.outer[:n, :n], sums[:n]], [sums[:n].T, np.zeros((n_sums, n_sums))]])
        values, vectors = np.linalg.eigh(border - across.T @ across)
        if (values < 0).sum() != n_sums:
            raise LinAlgError("the matrix is not positive definite where the sums are zero")
        local = _block_products(inverse, right[n:])
        head = np.append(right[:n], np.zeros(n_sums)) - across.T @ local
        head = vectors @ (vectors.T @ head / values)
        tail = _block_products(inverse.transpose(0, 2, 1), local - across @ head)
        own = np.log(np.diagonal(inverse, axis1=1, axis2=2)).sum()
        return np.append(head[:n], tail), float(np.log(np.abs(values)).sum() - 2 * own)

    def _inverse_roots(self) -> FloatArray:
        at = self.layout
        local = self.outer[at.n_global :].reshape(at.n_groups, at.width, at.n_global + at.width)
        return _inverse_roots(local[:, :, at.n_global :])


def _inverse_roots(blocks: FloatArray) -> FloatArray:
    """Return inverse Cholesky factors of positive definite blocks, shape (block, width, width)."""
    if blocks.shape[1] > 1:
        roots = _invert_roots(np.ascontiguousarray(blocks))
    else:
        roots = 1 / np.sqrt(np.where(blocks > 0, blocks, np.nan))
    if not np.isfinite(roots).all():
        raise LinAlgError("a block is not positive definite")
    return roots


def _block_products(blocks: FloatArray, x: FloatArray) -> FloatArray:
    """Return block-diagonal matrices, shape (block, width, width), times x, shape (local, ...)."""
    n_groups, width, _ = blocks.shape
    if width == 1:
        return blocks.reshape(-1, *(1 for _ in x.shape[1:])) * x
    return (blocks @ x.reshape(n_groups, width, *x.shape[1:] or (1,))).reshape(x.shape)


@dataclass(frozen=True, eq=False)
class Factor:
    """Gaussian about zero, conditioned on zero sums of parameters, as made by `Arrow.factor`."""

    layout: Layout
    lower: FloatArray  # Cholesky factor of the precision without groups, shape (global, global)
    inverse: FloatArray  # inverse Cholesky factors of the groups' blocks, shape (group, width, width)
    across: FloatArray  # those times the blocks of locals and globals, shape (local, global)
    sums: tuple[slice | FloatArray, ...]  # parameters that are summed, or multipliers of all of them

    @cached_property
    def log_determinant(self) -> float:
        """Log determinant of the precision matrix given the zero sums, up to a constant."""
        own = np.diagonal(self.inverse, axis1=1, axis2=2)
        of_sums = np.log(np.diag(self._regression_on_sums[0])).sum() if self.sums else 0.0
        return 2 * float(np.log(np.diag(self.lower)).sum() - np.log(own).sum() + of_sums)

    @cached_property
    def multipliers(self) -> FloatArray:
        """Multipliers of the parameters in each sum, shape (parameter, sum)."""
        multipliers = np.zeros((self.layout.size, len(self.sums)))
        for i, of in enumerate(self.sums):
            if isinstance(of, slice):
                multipliers[of, i] = 1
            else:
                multipliers[:, i] = of
        return multipliers

    @cached_property
    def _covariance_with_sums(self) -> FloatArray:
        """Unconditional covariance between parameters and their sums, shape (parameter, sum)."""
        return self._solve(self.multipliers)

    @cached_property
    def _covariance_of_sums(self) -> FloatArray:
        """Covariance between the sums before conditioning, shape (sum, sum)."""
        return self.multipliers.T @ self._covariance_with_sums

    @cached_property
    def _regression_on_sums(self) -> tuple[FloatArray, FloatArray]:
        """Cholesky factor of the sums' covariance, and slopes of parameters on sums, (sum, parameter)."""
        root, slopes, info = dposv(self._covariance_of_sums, self._covariance_with_sums.T, lower=1)
        if info:
            raise LinAlgError("the covariance of sums is not positive definite")
        return root, slopes

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the covariance matrix times a vector, shape (parameter,)."""
        return self.conditioned(self._solve(right))

    def conditioned(self, x: FloatArray) -> FloatArray:
        """Condition x of shape (parameter, ...) on zero sums, in place, and return it."""
        if self.sums:
            sums, slopes = self.multipliers.T @ x, self._regression_on_sums[1].T
            step = max(1, _MOST_AT_A_TIME * len(x) // x.size)
            for first in range(0, len(x), step):
                x[first : first + step] -= slopes[first : first + step] @ sums
        return x

    def _solve(self, right: FloatArray) -> FloatArray:
        at = self.layout
        local = _block_products(self.inverse, right[at.n_global :])
        head = dpotrs(self.lower, right[: at.n_global] - self.across.T @ local, lower=1)[0]
        tail = _block_products(self.inverse.transpose(0, 2, 1), local - self.across @ head)
        return np.concatenate([head, tail])

    def follow(self, head: FloatArray) -> FloatArray:
        """Return the mean of all parameters given the globals, shape (parameter, ...)."""
        tail = _block_products(self.inverse.transpose(0, 2, 1), self.across @ head)
        return np.concatenate([head, -tail])

    def solve_groups(self, right: FloatArray) -> FloatArray:
        """Return the covariance of the groups' parameters given the globals times a vector, (local,)."""
        return _block_products(self.inverse.transpose(0, 2, 1), _block_products(self.inverse, right))

    def draw(self, n: int, rng: np.random.Generator, head: FloatArray | None = None) -> FloatArray:
        """Return draws from the Gaussian, shape (draw, parameter), given those of the globals if any."""
        at, x = self.layout, np.empty((self.layout.size, n))
        if head is None:
            head = dtrtrs(self.lower, rng.normal(size=(at.n_global, n)), lower=1, trans=1)[0]
        x[: at.n_global] = head
        tail = rng.standard_normal(out=x[at.n_global :])
        step = max(1, _MOST_AT_A_TIME // (n * max(at.width, 1)))  # groups
        for first in range(0, at.n_groups, step):
            rows = slice(first * at.width, (first + step) * at.width)
            tail[rows] -= self.across[rows] @ head
            tail[rows] = _block_products(self.inverse[first : first + step].transpose(0, 2, 1), tail[rows])
        return self.conditioned(x).T

    def covariance(self) -> FloatArray:
        """Return covariances with globals and within groups, in the form of `Layout.zeros`."""
        at = self.layout
        total = at.zeros()
        head = dpotrs(self.lower, np.eye(at.n_global), lower=1)[0]
        spread = _block_products(self.inverse.transpose(0, 2, 1), self.across)  # −d local / d global
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
        predictors = (p for block in self.structure.blocks for p in block.predictors)
        weighted = {name for p in predictors for name in p.coefficients}  # several effects in an observation
        free = [name for name in self.scales if name not in weighted]
        along = {plate: [n for n in free if groups[n].dim == plate] for plate in _PLATES}
        if slopes is not None and slopes in self.scales and along["organization"]:
            along["organization"].append(slopes)
        return max(along.values(), key=lambda names: sum(groups[name].size for name in names))


class Terms(NamedTuple):
    """Terms of one linear predictor: coefficients, which owners may add to, and effects."""

    matrix: FloatArray  # multipliers of the coefficients, shape (observation, column)
    column: IndexArray  # column that a coefficient is multiplied by, shape (entry,)
    owner: IndexArray  # of an observation's coefficients, shape (observation,)
    coefficients: IndexArray  # parameters: of the columns, globals, then what an owner adds, (owner, entry)
    effects: IndexArray  # parameters, local ones of an observation all of one group, (observation, factor)


class Design(NamedTuple):
    """Design matrices Z of one linear predictor or several, by rows of the same parameters."""

    matrix: FloatArray  # multipliers of coefficients, and ones for effects, shape (observation, column)
    first: IndexArray  # columns of predictor m are ``first[m]`` to ``first[m + 1]``
    pattern: IndexArray  # parameters of an observation, as a row of ``parameters``, shape (observation,)
    column: IndexArray  # column that a parameter is multiplied by, shape (entry,)
    parameters: IndexArray  # shape (pattern, entry)
    place: IndexArray  # columns of these in an arrow, shape (pattern, entry)

    @classmethod
    def of(cls, terms: Sequence[Terms], layout: Layout) -> Design:
        """Return the design of the terms of linear predictors for the same observations."""
        parts = [np.hstack([t.matrix, np.ones((len(t.matrix), 1))]) for t in terms]
        first = np.cumsum([0, *(part.shape[1] for part in parts)])
        columns = [
            np.append(t.column, np.full(t.effects.shape[1], t.matrix.shape[1])) + start
            for t, start in zip(terms, first, strict=False)
        ]
        keys = np.column_stack([np.column_stack([t.owner, t.effects]) for t in terms])
        _, some, pattern = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        index = np.hstack([np.hstack([t.coefficients[t.owner[some]], t.effects[some]]) for t in terms])
        of_entries = np.concatenate(columns), index, layout.places(index)
        return cls(np.hstack(parts), first, pattern.reshape(-1), *of_entries)

    @property
    def is_narrow(self) -> bool:
        """Whether a loop is faster than products of matrices."""
        return len(self.first) > 2 or self.matrix.shape[1] < _WIDE

    def rows(self) -> list[OrderArray]:
        """Return the observations of each pattern."""
        order = np.argsort(self.pattern, kind="stable")
        return np.split(order, np.searchsorted(self.pattern[order], np.arange(1, len(self.parameters))))

    def take(self, rows: OrderArray) -> Design:
        """Return the design of some observations."""
        some, pattern = np.unique(self.pattern[rows], return_inverse=True)
        there = {"parameters": self.parameters[some], "place": self.place[some]}
        return self._replace(matrix=self.matrix[rows], pattern=pattern, **there)


@compiled
def _invert_roots(blocks: FloatArray) -> FloatArray:
    """Return inverse Cholesky factors of blocks, NaN where one is not positive definite."""
    n_blocks, width, _ = blocks.shape
    roots, lower = np.zeros((n_blocks, width, width)), np.empty((width, width))
    for g in range(n_blocks):
        for a in range(width):
            for b in range(a + 1):
                total = blocks[g, a, b]
                for k in range(b):
                    total -= lower[a, k] * lower[b, k]
                if b < a:
                    lower[a, b] = total / lower[b, b]
                else:
                    lower[a, a] = sqrt(total) if total > 0.0 else np.nan
        for b in range(width):
            roots[g, b, b] = 1.0 / lower[b, b]
            for a in range(b + 1, width):
                total = 0.0
                for k in range(b, a):
                    total -= lower[a, k] * roots[g, k, b]
                roots[g, a, b] = total / lower[a, a]
    return roots


@compiled
def linear_predictors(design: Design, x: FloatArray) -> FloatArray:
    """Return the linear predictors Z·x, shape (predictor, observation)."""
    matrix, first, pattern, column, parameters, _ = design
    sums = np.zeros((len(parameters), matrix.shape[1]))
    for g in range(len(parameters)):
        for p in range(len(column)):
            sums[g, column[p]] += x[parameters[g, p]]
    z = np.empty((len(first) - 1, len(matrix)))
    for m in range(len(z)):
        for i in range(len(matrix)):
            total, own = 0.0, sums[pattern[i]]
            for a in range(first[m], first[m + 1]):
                total += matrix[i, a] * own[a]
            z[m, i] = total
    return z


@compiled
def add_slopes(design: Design, slope: FloatArray, gradient: FloatArray) -> None:
    """Add Zᵀ·slope of each predictor to a gradient, given slopes of shape (predictor, observation)."""
    matrix, first, pattern, column, parameters, _ = design
    sums = np.zeros((len(parameters), matrix.shape[1]))
    for m in range(len(slope)):
        for i in range(len(matrix)):
            for a in range(first[m], first[m + 1]):
                sums[pattern[i], a] += slope[m, i] * matrix[i, a]
    for g in range(len(parameters)):
        for p in range(len(column)):
            gradient[parameters[g, p]] += sums[g, column[p]]


def add_curvature(design: Design, weight: FloatArray, total: FloatArray, n_global: int) -> None:
    """Add Zₗᵀ·diag(weight)·Zᵣ of any two predictors, (predictor, predictor, observation), to an arrow."""
    matrix, n_columns = design.matrix, design.matrix.shape[1]
    sums = np.zeros((len(design.parameters), n_columns, n_columns))
    if design.is_narrow:
        _sum_products(design, weight, sums)
    else:
        for own, rows in zip(sums, design.rows(), strict=True):
            part = matrix[rows]
            own[:] = part.T @ (part * weight[0, 0, rows, None])
    _add_products(design, sums, total, n_global)


@compiled
def _sum_products(design: Design, weight: FloatArray, sums: FloatArray) -> None:
    """Sum products of columns over the observations of each pattern, (pattern, column, column)."""
    matrix, first, pattern, _, _, _ = design
    for m in range(len(weight)):
        for k in range(len(weight)):
            for i in range(len(matrix)):
                for a in range(first[m], first[m + 1]):
                    for b in range(first[k], first[k + 1]):
                        sums[pattern[i], a, b] += weight[m, k, i] * matrix[i, a] * matrix[i, b]


@compiled
def _add_products(design: Design, sums: FloatArray, total: FloatArray, n_global: int) -> None:
    """Add what `_sum_products` sums to an arrow."""
    _, _, _, column, parameters, place = design
    for g in range(len(parameters)):
        for p in range(len(column)):
            for q in range(len(column)):
                if (
                    parameters[g, p] >= n_global or parameters[g, q] < n_global
                ):  # an arrow has no other entries
                    total[parameters[g, p], place[g, q]] += sums[g, column[p], column[q]]


def covariances(design: Design, covariance: FloatArray, n_global: int) -> FloatArray:
    """Return Zₗ·covariance·Zᵣᵀ for each observation, given an arrow, (observation, predictor, predictor)."""
    sums, (matrix, first) = _sum_covariances(design, covariance, n_global), design[:2]
    result = np.empty((len(matrix), len(first) - 1, len(first) - 1))
    if design.is_narrow:
        _multiply(design, sums, result)
        return result
    for own, rows in zip(sums, design.rows(), strict=True):
        part = matrix[rows]
        result[rows, 0, 0] = ((part @ own) * part).sum(axis=1)
    return result


@compiled
def _sum_covariances(design: Design, covariance: FloatArray, n_global: int) -> FloatArray:
    """Return covariances of the sums of parameters that columns multiply, (pattern, column, column)."""
    matrix, _, _, column, parameters, place = design
    sums = np.zeros((len(parameters), matrix.shape[1], matrix.shape[1]))
    for g in range(len(parameters)):
        for p in range(len(column)):
            for q in range(p + 1):
                row, other = parameters[g, p], place[g, q]
                if row < n_global and parameters[g, q] >= n_global:
                    row, other = parameters[g, q], place[g, p]
                sums[g, column[p], column[q]] += covariance[row, other]
                if q < p:
                    sums[g, column[q], column[p]] += covariance[row, other]
    return sums


@compiled
def _multiply(design: Design, sums: FloatArray, result: FloatArray) -> None:
    """Multiply covariances by the columns of each observation, into ``result``."""
    matrix, first, pattern, _, _, _ = design
    for i in range(len(matrix)):
        own = sums[pattern[i]]
        for m in range(len(first) - 1):
            for k in range(len(first) - 1):
                total = 0.0
                for a in range(first[m], first[m + 1]):
                    part = 0.0
                    for b in range(first[k], first[k + 1]):
                        part += matrix[i, b] * own[a, b]
                    total += matrix[i, a] * part
                result[i, m, k] = total


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
        for k in range(n_predictors):
            for i in range(len(score)):
                weight = information[i] * first[m, i] * first[k, i]
                if not expected:
                    weight -= score[i] * second[k, m, i]
                curvature[k, m, i] += at * weight


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
