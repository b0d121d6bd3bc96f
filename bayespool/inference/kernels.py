"""The loops over observations in which the Laplace engine spends its time, compiled."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log1p
from typing import NamedTuple, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["Design", "binomial_terms", "covariances", "linear_predictor", "weighted_product"]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
_Loop = TypeVar("_Loop", bound=Callable[..., object])


def _compiled(loop: _Loop) -> _Loop:
    return cast(_Loop, numba.njit(cache=True, nogil=True)(loop))


class Design(NamedTuple):
    """A design matrix Z over all parameters, as what is not zero in its rows.

    Attributes
    ----------
    matrix : ndarray, shape (observation, column)
        Values of the coefficients' predictors.
    columns : ndarray, shape (column,)
        Which parameters the coefficients are.
    effects : ndarray, shape (observation, factor)
        Which parameters the effects are, whose value is 1.
    """

    matrix: FloatArray
    columns: IndexArray
    effects: IndexArray


@_compiled
def linear_predictor(design: Design, x: FloatArray) -> FloatArray:
    """Z·x, shape (observation,)."""
    matrix, index = design.matrix, design.effects
    slopes = x[design.columns]
    z = np.empty(len(matrix))
    for i in range(len(matrix)):
        total = 0.0
        for a in range(len(slopes)):
            total += matrix[i, a] * slopes[a]
        for g in range(index.shape[1]):
            total += x[index[i, g]]
        z[i] = total
    return z


@_compiled
def binomial_terms(
    eta: FloatArray, successes: FloatArray, trials: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Log likelihood of k ~ Binomial(n, p), logit p = η, up to a constant; its first derivative in η and
    minus its second one, each of shape (observation,).
    """
    value, score, information = 0.0, np.empty(len(eta)), np.empty(len(eta))
    for i in range(len(eta)):
        small = exp(-abs(eta[i]))
        larger = 1.0 / (1.0 + small)
        p = larger if eta[i] >= 0 else small * larger
        value += successes[i] * eta[i] - trials[i] * (max(eta[i], 0.0) + log1p(small))
        score[i] = successes[i] - trials[i] * p
        information[i] = trials[i] * small * larger * larger
    return value, score, information


@_compiled
def weighted_product(left: Design, right: Design, same: bool, weight: FloatArray, size: int) -> FloatArray:
    """Zₗᵀ·diag(weight)·Zᵣ, shape (parameter, parameter); with ``same`` both are one."""
    a_matrix, a_index, b_matrix, b_index = left.matrix, left.effects, right.matrix, right.effects
    n_a, n_b = a_matrix.shape[1], b_matrix.shape[1]
    among = np.zeros((n_a, n_b))
    down = np.zeros((size, n_b))
    across = np.zeros((size, n_a))
    product = np.zeros((size, size))
    for i in range(len(weight)):
        for a in range(n_a):
            part = weight[i] * a_matrix[i, a]
            for b in range(n_b):
                among[a, b] += part * b_matrix[i, b]
        for g in range(a_index.shape[1]):
            own = a_index[i, g]
            for b in range(n_b):
                down[own, b] += weight[i] * b_matrix[i, b]
            for h in range(b_index.shape[1]):
                product[own, b_index[i, h]] += weight[i]
        if same:
            continue
        for h in range(b_index.shape[1]):
            own = b_index[i, h]
            for a in range(n_a):
                across[own, a] += weight[i] * a_matrix[i, a]
    if same:
        across = down
    for a in range(n_a):
        for b in range(n_b):
            product[left.columns[a], right.columns[b]] += among[a, b]
        for j in range(size):
            product[left.columns[a], j] += across[j, a]
    for b in range(n_b):
        for j in range(size):
            product[j, right.columns[b]] += down[j, b]
    return product


@_compiled
def covariances(left: Design, right: Design, covariance: FloatArray) -> FloatArray:
    """Diagonal of Zₗ·covariance·Zᵣᵀ, shape (observation,)."""
    a_index, b_index = left.effects, right.effects
    result = np.empty(len(left.matrix))
    for i in range(len(result)):
        total = 0.0
        for a in range(len(left.columns)):
            row = covariance[left.columns[a]]
            part = 0.0
            for b in range(len(right.columns)):
                part += row[right.columns[b]] * right.matrix[i, b]
            for h in range(b_index.shape[1]):
                part += row[b_index[i, h]]
            total += part * left.matrix[i, a]
        for g in range(a_index.shape[1]):
            row = covariance[a_index[i, g]]
            for b in range(len(right.columns)):
                total += row[right.columns[b]] * right.matrix[i, b]
            for h in range(b_index.shape[1]):
                total += row[b_index[i, h]]
        result[i] = total
    return result
