"""The loops over observations in which the Laplace engine spends its time, compiled."""

from __future__ import annotations

from math import exp, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.compiled import compiled

__all__ = [
    "Design",
    "add_cells",
    "add_own",
    "add_product",
    "add_weights",
    "covariances",
    "draw_cells",
    "integrate_cells",
    "linear_predictor",
    "product_terms",
    "variances",
]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


class Design(NamedTuple):
    """A design matrix Z over globals and locals (`bayespool.inference.arrow`), as what is not zero in its
    rows.

    Attributes
    ----------
    matrix : ndarray, shape (observation, column)
        Values of the coefficients' predictors.
    columns : ndarray, shape (column,)
        Which parameters the coefficients are; globals.
    effects : ndarray, shape (observation, factor)
        Which parameters the effects are; the locals among them are of one topic.
    places : ndarray, shape (observation, factor)
        Their columns in an arrow: those of globals their own, those of locals after all globals.
    value : ndarray, shape (observation,)
        What stands before the effects, 1 but for sums over cells.
    """

    matrix: FloatArray
    columns: IndexArray
    effects: IndexArray
    places: IndexArray
    value: FloatArray


@compiled
def linear_predictor(design: Design, x: FloatArray) -> FloatArray:
    """Z·x, shape (observation,)."""
    matrix, index, value = design.matrix, design.effects, design.value
    slopes = x[design.columns]
    z = np.empty(len(matrix))
    for i in range(len(matrix)):
        total = 0.0
        for a in range(len(slopes)):
            total += matrix[i, a] * slopes[a]
        for g in range(index.shape[1]):
            total += value[i] * x[index[i, g]]
        z[i] = total
    return z


@compiled
def integrate_cells(
    eta: FloatArray,
    successes: FloatArray,
    trials: FloatArray,
    start: IndexArray,
    tau: float,
    nodes: FloatArray,
    log_weights: FloatArray,
    matrix: FloatArray,
    modes: FloatArray,
    simply: bool,
) -> tuple[float, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Log likelihood of binomial counts whose log odds η share an effect N(0, τ²) within each cell, which is
    integrated by the nodes of Gauss and Hermite about its mode, with log weights for a normal density.

    Observations stand in the order of cells, those of cell c from ``start[c]`` to ``start[c + 1]``, and their
    log odds are linear in coefficients by ``matrix`` and in what is the cell's. Returns the sum over cells;
    its gradient and minus its Hessian in coefficients, shapes (column,) and (column, column); gradient and
    minus second derivative in what is the cell's, shape (cell,); the mixed ones, shape (cell, column).

    Modes are looked for from ``modes`` on, which holds them afterwards. With one node, at the mode, and
    ``simply`` the Hessian is that of Laplace's approximation with the mode's curvature as it is, which is
    never negative.
    """
    n_nodes, n_columns, n_cells = len(nodes), matrix.shape[1], len(start) - 1
    precision, value, most = 1.0 / (tau * tau), 0.0, 0
    for c in range(n_cells):
        most = max(most, start[c + 1] - start[c])
    slopes, bends = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    slope_of, bend_of, mixed = np.zeros(n_cells), np.zeros(n_cells), np.zeros((n_cells, n_columns))
    at, share, among = np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes)
    across = np.empty((n_nodes, n_columns))
    against, expected = np.empty(most), np.empty((most, n_nodes))
    for c in range(n_cells):
        first, size = start[c], start[c + 1] - start[c]
        failures, known = 0.0, 0.0
        for j in range(size):  # odds against, of which an effect makes a multiple: one exponential is enough
            i = first + j
            against[j] = exp(-min(max(eta[i], -300.0), 300.0))
            failures += trials[i] - successes[i]
            known += (trials[i] - successes[i]) * eta[i]
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
            times, product = exp(-effect), 1.0  # of what stands under logarithms, of which one is taken
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
        among[:] = 0.0
        across[:] = 0.0
        for j in range(size):
            i, mean, both = first + j, 0.0, 0.0
            for q in range(n_nodes):
                mean += share[q] / whole * expected[j, q]
                both += share[q] / whole * expected[j, q] * expected[j, q]
            score, information = successes[i] - mean, mean - both / max(trials[i], 1.0)
            slope_of[c] += score
            bend_of[c] += information
            for a in range(n_columns):
                slopes[a] += score * matrix[i, a]
                part = information * matrix[i, a]
                mixed[c, a] += part
                for b in range(a + 1):
                    bends[a, b] += part * matrix[i, b]
            for q in range(n_nodes):
                off = information if simply else mean - expected[j, q]
                among[q] += off
                for a in range(n_columns):
                    across[q, a] += off * matrix[i, a]
        for q in range(n_nodes):
            weight = 1.0 / (among[q] + precision) if simply else share[q] / whole
            bend_of[c] -= weight * among[q] * among[q]
            for a in range(n_columns):
                mixed[c, a] -= weight * among[q] * across[q, a]
                for b in range(a + 1):
                    bends[a, b] -= weight * across[q, a] * across[q, b]
    for a in range(n_columns):
        for b in range(a):
            bends[b, a] = bends[a, b]
    return value, slopes, bends, slope_of, bend_of, mixed


@compiled
def add_cells(
    columns: IndexArray,
    effects: IndexArray,
    places: IndexArray,
    slopes: FloatArray,
    bends: FloatArray,
    slope_of: FloatArray,
    bend_of: FloatArray,
    mixed: FloatArray,
    gradient: FloatArray,
    total: FloatArray,
    n_global: int,
) -> None:
    """Add derivatives of `integrate_cells` to a gradient and an arrow, as `add_own` adds those of rows; the
    effects, and their places in the arrow, are of cells.
    """
    across = np.zeros((len(total), len(columns)))
    for c in range(len(effects)):
        for g in range(effects.shape[1]):
            own = effects[c, g]
            gradient[own] += slope_of[c]
            for a in range(len(columns)):
                across[own, a] += mixed[c, a]
            for h in range(effects.shape[1]):
                if own >= n_global or effects[c, h] < n_global:
                    total[own, places[c, h]] += bend_of[c]
    for a in range(len(columns)):
        gradient[columns[a]] += slopes[a]
        for b in range(len(columns)):
            total[columns[a], columns[b]] += bends[a, b]
        for j in range(len(total)):
            total[j, columns[a]] += across[j, a]
            if j < n_global:
                total[columns[a], j] += across[j, a]


@compiled
def draw_cells(
    eta: FloatArray,
    successes: FloatArray,
    trials: FloatArray,
    start: IndexArray,
    tau: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Effects of cells given the counts and each draw's log odds η, shape (draw, cell); exact.

    The likelihood is log-concave: it is nowhere above its tangent at a point near the mode. With the tangent
    in its place the density is normal, with the variance τ². That is what effects are proposed from, and kept
    with the chance of likelihood over tangent (von Neumann).
    """
    drawn = np.empty((len(eta), len(start) - 1))
    for d in range(len(eta)):
        precision = 1.0 / (tau[d] * tau[d])
        for c in range(len(start) - 1):
            mode = 0.0
            tangent = 0.0
            for _ in range(20):
                tangent, bend = 0.0, precision
                for i in range(start[c], start[c + 1]):
                    p = 1.0 / (1.0 + exp(-eta[d, i] - mode))
                    tangent += successes[i] - trials[i] * p
                    bend += trials[i] * p * (1.0 - p)
                step = (tangent - precision * mode) / bend
                if step * step * bend < 1e-2:
                    break
                mode += min(max(step, -1.5), 1.5)
            while True:
                effect = tau[d] * (tangent * tau[d] + rng.standard_normal())
                log_ratio = -tangent * (effect - mode)
                for i in range(start[c], start[c + 1]):
                    x, y = eta[d, i] + effect, eta[d, i] + mode
                    log_ratio += successes[i] * (effect - mode)
                    log_ratio -= trials[i] * (max(x, 0.0) + log1p(exp(-abs(x))))
                    log_ratio += trials[i] * (max(y, 0.0) + log1p(exp(-abs(y))))
                if log(1.0 - rng.random()) <= log_ratio:
                    break
            drawn[d, c] = effect
    return drawn


@compiled
def product_terms(z: FloatArray, residual: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logit of the chance of a `Product` plus its effect, from z of shape (predictor, observation): η, its
    gradient in z and its second derivatives, whose first axes are of predictors.

    With three predictors there is no E, and the residual is zero.
    """
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
        chance = min(max(chance, 1e-12), 1.0 - 1e-12)  # a step too far may leave neither 0 nor 1 to divide by
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
    """Add ``at`` times the gradient of a log likelihood in its predictors, and minus its Hessian (k ≤ m)."""
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
    """Add Zᵀ·slope to a gradient, shape (parameter,), and Zᵀ·diag(weight)·Z to an arrow, in the form of
    `bayespool.inference.arrow.Layout.zeros`.
    """
    matrix, columns, index, value = design.matrix, design.columns, design.effects, design.value
    places, n_columns = design.places, matrix.shape[1]
    across = np.zeros((len(total), n_columns))
    weighted = np.empty_like(matrix)
    for i in range(len(weight)):
        for a in range(n_columns):
            weighted[i, a] = weight[i] * matrix[i, a]
        square = weight[i] * value[i] * value[i]
        for g in range(index.shape[1]):
            own = index[i, g]
            gradient[own] += slope[i] * value[i]
            for a in range(n_columns):
                across[own, a] += weighted[i, a] * value[i]
            for h in range(index.shape[1]):
                if own >= n_global or index[i, h] < n_global:
                    total[own, places[i, h]] += square
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
    """Add Zₗᵀ·diag(weight)·Zᵣ and its transpose to an arrow."""
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
def variances(design: Design, covariance: FloatArray, n_global: int) -> FloatArray:
    """Diagonal of Z·covariance·Zᵀ, shape (observation,), of a covariance in the form of an arrow."""
    matrix, columns, index, value = design.matrix, design.columns, design.effects, design.value
    n_columns = len(columns)
    across = np.empty((len(covariance), n_columns))
    for j in range(len(covariance)):
        for a in range(n_columns):
            across[j, a] = covariance[j, columns[a]]
    result = np.empty(len(matrix))
    for i in range(len(result)):
        total, of_effects = 0.0, 0.0
        for a in range(n_columns):
            row = across[columns[a]]
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
            total += 2 * part * value[i]
            of_effects += covariance[own, design.places[i, g]]
            for h in range(g):
                other = index[i, h]
                if own >= n_global or other < n_global:
                    of_effects += 2 * covariance[own, design.places[i, h]]
                else:
                    of_effects += 2 * covariance[other, design.places[i, g]]
        result[i] = total + of_effects * value[i] * value[i]
    return result


@compiled
def covariances(left: Design, right: Design, covariance: FloatArray, n_global: int) -> FloatArray:
    """Diagonal of Zₗ·covariance·Zᵣᵀ, shape (observation,), of designs whose effects have the value 1."""
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
