"""Compiled loops that integrate out the (organization, topic) effects, cell by cell."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from bayespool.arrays import AnyArray, FloatArray, IndexArray, OrderArray
from bayespool.compiled import compiled, in_threads
from bayespool.inference.arrow import Layout, Terms

_CELLS_AT_A_TIME = 2**13  # in a thread


@compiled
def integrate_some(
    eta: FloatArray,
    successes: FloatArray,
    trials: FloatArray,
    start: IndexArray,
    tau: float,
    nodes: FloatArray,
    log_weights: FloatArray,
    matrix: FloatArray,
    owner: IndexArray,
    n_owners: int,
    modes: FloatArray,
    at_mode: bool,
) -> IntegratedLikelihood:
    """Integrate out the effect N(0, τ²) of each cell from the likelihood of binomial counts."""
    # By Gauss–Hermite nodes about the mode of each cell (Liu & Pierce 1994, Biometrika 81(3), 624–629), of
    # observations ``start[c]`` to ``start[c + 1]``; ``modes`` has the starting points of the modes and holds
    # the modes afterwards. With one node and ``at_mode`` the Hessian is that of Laplace's approximation with
    # the mode's curvature, which is never negative.
    n_nodes, n_columns, n_cells = len(nodes), matrix.shape[1], len(start) - 1
    precision, value, most = 1.0 / (tau * tau), 0.0, 0
    for c in range(n_cells):
        most = max(most, start[c + 1] - start[c])
    slopes, bends = np.zeros((n_owners, n_columns)), np.zeros((n_owners, n_columns, n_columns))
    slope_of, bend_of, mixed = np.zeros(n_cells), np.zeros(n_cells), np.zeros((n_cells, n_columns))
    at, share, among = np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes)
    across = np.empty((n_nodes, n_columns))
    against, expected = np.empty(most), np.empty((most, n_nodes))
    for c in range(n_cells):
        first, size, o = start[c], start[c + 1] - start[c], owner[c]
        failures, known = 0.0, 0.0
        for j in range(size):  # odds against: an effect multiplies them, so that one exponential is enough
            i = first + j
            x = min(max(eta[i], -300.0), 300.0)
            against[j] = exp(-x)
            failures += trials[i] - successes[i]
            known += (trials[i] - successes[i]) * x
        mode, bend = modes[c], precision
        for _ in range(20):
            slope, bend, times = -precision * mode, precision, exp(-mode)
            for j in range(size):
                i = first + j
                p = 1.0 / (1.0 + against[j] * times)
                slope += successes[i] - trials[i] * p
                bend += trials[i] * p * (1.0 - p)
            step = slope / bend
            mode += min(max(step, -1.5), 1.5)
            if step * step * bend < 1e-3:
                break
        modes[c] = mode
        spread, best = 1.0 / sqrt(bend), -1e300
        for q in range(n_nodes):
            effect = mode + spread * nodes[q]
            total = log_weights[q] + 0.5 * nodes[q] * nodes[q] - 0.5 * precision * effect * effect
            total -= known + failures * effect
            times, product = exp(-effect), 1.0  # of the arguments of logarithms, so that one is taken
            for j in range(size):
                n = trials[first + j]
                over = 1.0 + against[j] * times
                expected[j, q] = n / over
                if n == 1.0:
                    if product > 1e150:
                        total -= log(product)
                        product = 1.0
                    product *= over
                else:
                    total -= n * log(over)
            at[q] = total - log(product)
            best = max(best, at[q])
        whole = 0.0
        for q in range(n_nodes):
            share[q] = exp(at[q] - best)
            whole += share[q]
        value += best + log(whole * spread / tau)
        for q in range(n_nodes):
            share[q] /= whole
        among[:] = 0.0
        across[:] = 0.0
        for j in range(size):
            i, mean, both = first + j, 0.0, 0.0
            for q in range(n_nodes):
                mean += share[q] * expected[j, q]
                both += share[q] * expected[j, q] * expected[j, q]
            score, information = successes[i] - mean, mean - both / max(trials[i], 1.0)
            slope_of[c] += score
            bend_of[c] += information
            for a in range(n_columns):
                slopes[o, a] += score * matrix[i, a]
                part = information * matrix[i, a]
                mixed[c, a] += part
                for b in range(a + 1):
                    bends[o, a, b] += part * matrix[i, b]
            for q in range(n_nodes):
                off = information if at_mode else mean - expected[j, q]
                among[q] += off
                for a in range(n_columns):
                    across[q, a] += off * matrix[i, a]
        for q in range(n_nodes):
            weight = 1.0 / (among[q] + precision) if at_mode else share[q]
            bend_of[c] -= weight * among[q] * among[q]
            for a in range(n_columns):
                mixed[c, a] -= weight * among[q] * across[q, a]
                for b in range(a + 1):
                    bends[o, a, b] -= weight * across[q, a] * across[q, b]
    for o in range(n_owners):
        for a in range(n_columns):
            for b in range(a):
                bends[o, b, a] = bends[o, a, b]
    return IntegratedLikelihood(value, slopes, bends, slope_of, bend_of, mixed)


def integrate(*arguments: Any) -> IntegratedLikelihood:
    """Integrate out the effect of each cell; arguments are those of `integrate_some`, which threads share."""
    eta, successes, trials, start, tau, nodes, log_weights, matrix, owner, n, modes, at_mode = arguments

    def integrate_part(first: int) -> IntegratedLikelihood:
        end = first + _CELLS_AT_A_TIME
        points, of_cells = (tau, nodes, log_weights), (owner[first:end], n, modes[first:end])
        cells = start[first : end + 1]
        return integrate_some(eta, successes, trials, cells, *points, matrix, *of_cells, at_mode)

    parts = in_threads(integrate_part, range(0, max(len(owner), 1), _CELLS_AT_A_TIME))
    if len(parts) == 1:
        return parts[0]
    value, slopes, bends, *of_cells = zip(*parts, strict=True)
    return IntegratedLikelihood(sum(value), sum(slopes), sum(bends), *map(np.concatenate, of_cells))


class CellDesign(NamedTuple):
    """Parameters of the coefficients and of the other effects of each cell."""

    column: IndexArray  # as of `Terms`
    coefficients: IndexArray
    coefficient_places: IndexArray  # columns of these in an arrow, shape (owner, entry)
    owner: IndexArray  # of a cell's coefficients, shape (cell,)
    effects: IndexArray  # shape (cell, factor)
    effect_places: IndexArray  # columns of these in an arrow, shape (cell, factor)

    @classmethod
    def of(cls, terms: Terms, first: OrderArray, layout: Layout) -> CellDesign:
        """Return the design of cells, given the first observation of each."""
        coefficients, effects = terms.coefficients, terms.effects[first]
        of_coefficients = terms.column, coefficients, layout.places(coefficients)
        return cls(*of_coefficients, terms.owner[first], effects, layout.places(effects))


@compiled
def add_cells(
    design: CellDesign,
    integrated: IntegratedLikelihood,
    gradient: FloatArray,
    total: FloatArray,
    n_global: int,
) -> None:
    """Add the derivatives from `integrate` to a gradient and an arrow matrix."""
    column, coefficients, coefficient_places, owner, effects, effect_places = design
    _, slopes, bends, slope_of, bend_of, mixed = integrated
    for o in range(len(coefficients)):
        for p in range(len(column)):
            row = coefficients[o, p]
            gradient[row] += slopes[o, column[p]]
            for q in range(len(column)):
                if row >= n_global or coefficients[o, q] < n_global:  # an arrow has no other entries
                    total[row, coefficient_places[o, q]] += bends[o, column[p], column[q]]
    for c in range(len(effects)):
        o = owner[c]
        for g in range(effects.shape[1]):
            row, place = effects[c, g], effect_places[c, g]
            gradient[row] += slope_of[c]
            for h in range(effects.shape[1]):
                if row >= n_global or effects[c, h] < n_global:
                    total[row, effect_places[c, h]] += bend_of[c]
            for p in range(len(column)):
                other, part = coefficients[o, p], mixed[c, column[p]]
                if row >= n_global or other < n_global:
                    total[row, coefficient_places[o, p]] += part
                if other >= n_global or row < n_global:
                    total[other, place] += part


@compiled
def draw_cells(
    eta: FloatArray,
    successes: FloatArray,
    trials: FloatArray,
    start: IndexArray,
    tau: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw cell effects exactly, given counts and log odds η in each draw, shape (draw, cell)."""
    # Rejection sampling (von Neumann): the likelihood is log-concave, thus below its tangent at a point near
    # the mode, and with the tangent in its place the density is normal with variance τ².
    n_cells, most = len(start) - 1, 0
    for c in range(n_cells):
        most = max(most, start[c + 1] - start[c])
    drawn, against, at_mode = np.empty((len(eta), n_cells)), np.empty(most), np.empty(most)
    for d in range(len(eta)):
        precision = 1.0 / (tau[d] * tau[d])
        for c in range(n_cells):
            first, size, failures = start[c], start[c + 1] - start[c], 0.0
            for j in range(size):  # odds against, as in `integrate`
                against[j] = exp(-min(max(eta[d, first + j], -300.0), 300.0))
                failures += trials[first + j] - successes[first + j]
            mode = 0.0
            tangent, bend, step = 0.0, precision, 0.0
            for _ in range(100):
                mode += min(max(step, -1.5), 1.5)
                tangent, bend, times = 0.0, precision, exp(-mode)
                for j in range(size):
                    at_mode[j] = 1.0 + against[j] * times
                    p = 1.0 / at_mode[j]
                    tangent += successes[first + j] - trials[first + j] * p
                    bend += trials[first + j] * p * (1.0 - p)
                step = (tangent - precision * mode) / bend
                if step * step * bend * (1.0 + bend * tau[d] * tau[d]) < 1e-2:  # else few are kept
                    break
            while True:
                effect = tau[d] * (tangent * tau[d] + rng.standard_normal())
                log_ratio = -(tangent + failures) * (effect - mode)
                times, product = exp(-effect), 1.0  # of the arguments of logarithms
                for j in range(size):
                    n, over = trials[first + j], (1.0 + against[j] * times) / at_mode[j]
                    if n == 1.0:
                        if not 1e-150 < product < 1e150:
                            log_ratio -= log(product)
                            product = 1.0
                        product *= over
                    else:
                        log_ratio -= n * log(over)
                log_ratio -= log(product)
                if not log(1.0 - rng.random()) > log_ratio:  # NaN is kept, and fails the checks
                    break
            drawn[d, c] = effect
    return drawn


def normal_nodes(n: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss–Hermite nodes and weights for expectations under a standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    return nodes, weights / weights.sum()


NODES, SHARES = normal_nodes(5)


class IntegratedLikelihood(NamedTuple):
    """Log likelihood with cell effects integrated out, and its derivatives."""

    log_likelihood: float
    slopes: FloatArray  # gradient in the coefficients, shape (owner, column)
    bends: FloatArray  # minus the Hessian in them, shape (owner, column, column)
    slope_of: FloatArray  # derivative in the effects of cells, shape (cell,)
    bend_of: FloatArray  # minus the second derivative in them, shape (cell,)
    mixed: FloatArray  # minus the mixed derivatives, shape (cell, column)


def draw_effects(
    log_odds: FloatArray,
    successes: AnyArray,
    trials: AnyArray,
    cell: IndexArray,
    tau: FloatArray,
    rng: np.random.Generator,
) -> tuple[IndexArray, FloatArray]:
    """Return cells with observations, shape (cell,), and exact draws of their effects, (draw, cell)."""
    order = np.argsort(cell, kind="stable")
    first = np.flatnonzero(np.diff(cell[order], prepend=-1))
    start, k, n = np.append(first, len(cell)), successes[order].astype(float), trials[order].astype(float)
    return cell[order][first], draw_cells(log_odds[:, order], k, n, start, tau, rng)
