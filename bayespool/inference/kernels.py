"""Compiled loops over observations of the Laplace engine."""

from __future__ import annotations

from math import exp, log, log1p
from typing import NamedTuple

import numpy as np

from bayespool.arrays import FloatArray, IndexArray
from bayespool.compiled import compiled


class Design(NamedTuple):
    """Nonzero entries of a design matrix Z over globals and locals (`bayespool.inference.arrow`)."""

    matrix: FloatArray  # multipliers of the coefficients, shape (observation, column)
    columns: IndexArray  # parameters of the coefficients, globals, shape (column,)
    effects: IndexArray  # parameters of the effects, local ones of one group, shape (observation, factor)
    places: IndexArray  # columns of the effects in an arrow, shape (observation, factor)
    owner: IndexArray  # owner of an observation's slopes, shape (observation,)
    own: IndexArray  # parameters that an owner adds to coefficients, −1 for none, shape (owner, column)
    own_places: IndexArray  # columns of these in an arrow, shape (owner, column)


@compiled
def linear_predictor(design: Design, x: FloatArray) -> FloatArray:
    """Z·x, shape (observation,)."""
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
    """Logit η of a `Product`, its gradient and its second derivatives in z, shape (..., observation)."""
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
    """Add ``at`` times the gradient and minus the Hessian (k ≤ m) of a log likelihood in its predictors."""
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
    """Add Zᵀ·slope to a gradient, shape (parameter,), and Zᵀ·diag(weight)·Z to an arrow."""
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
    """Covariance of each owner's coefficients, shape (owner, column, column)."""
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
    """Diagonal of Z·covariance·Zᵀ, shape (observation,); the covariance is an arrow."""
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
    """Diagonal of Zₗ·covariance·Zᵣᵀ, shape (observation,), of two designs."""
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
    """Means by run and variances by ranking of counts, for each shift, and variances times columns."""
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
