"""Effects of cells, an organization on a topic each: integrated one by one, and drawn given all else."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.inference.cell_kernels import draw_cells, integrate_cells

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

NODES, SHARES = np.polynomial.hermite_e.hermegauss(5)
SHARES = SHARES / SHARES.sum()


class Integrated(NamedTuple):
    """What is left of observations whose log odds share effects of cells, with derivatives in coefficients
    and in what else is a cell's, as an effect of its topic.

    Attributes
    ----------
    log_likelihood : float
    slopes : ndarray, shape (owner, column)
        Gradient in the coefficients, owner by owner.
    bends : ndarray, shape (owner, column, column)
        Minus the Hessian in them.
    slope_of, bend_of : ndarray, shape (cell,)
        Derivative, and minus the second one, in what is a cell's.
    mixed : ndarray, shape (cell, column)
        Minus the mixed derivatives.
    """

    log_likelihood: float
    slopes: FloatArray
    bends: FloatArray
    slope_of: FloatArray
    bend_of: FloatArray
    mixed: FloatArray


def integrate(
    log_odds: FloatArray,
    successes: FloatArray,
    trials: FloatArray,
    start: IndexArray,
    tau: float,
    matrix: FloatArray,
    owner: IndexArray,
    n_owners: int,
    modes: FloatArray,
    *,
    at_modes: bool = False,
) -> Integrated:
    """Binomial counts whose log odds share an effect N(0, τ²) within each cell, integrated by five nodes of
    Gauss and Hermite about its mode (Liu & Pierce 1994).

    Parameters
    ----------
    log_odds, successes, trials : ndarray, shape (observation,)
        In the order of cells.
    start : ndarray of int, shape (cell + 1,)
        Where each cell begins, and where the last one ends.
    tau : float
    matrix : ndarray, shape (observation, column)
        What multiplies the coefficients.
    owner : ndarray of int, shape (cell,)
        Whose coefficients a cell has.
    n_owners : int
    modes : ndarray, shape (cell,)
        Near which the modes are looked for; it holds them afterwards.
    at_modes : bool
        One node, at the mode: Laplace's approximation, whose Hessian is never positive.

    References
    ----------
    Q. Liu and D. A. Pierce (1994). A note on Gauss–Hermite quadrature. Biometrika 81(3), 624–629.
    """
    nodes, log_weights = (np.zeros(1), np.zeros(1)) if at_modes else (NODES, np.log(SHARES))
    counts = log_odds, successes, trials, start
    return Integrated(
        *integrate_cells(*counts, tau, nodes, log_weights, matrix, owner, n_owners, modes, at_modes)
    )


def draw_effects(
    log_odds: FloatArray,
    successes: npt.NDArray[Any],
    trials: npt.NDArray[Any],
    cell: IndexArray,
    tau: FloatArray,
    rng: np.random.Generator,
) -> tuple[IndexArray, FloatArray]:
    """Exact draws of the effects of cells with observations, given these and all else.

    Parameters
    ----------
    log_odds : ndarray, shape (draw, observation)
        Without the effects.
    successes, trials : ndarray, shape (observation,)
    cell : ndarray of int, shape (observation,)
    tau : ndarray, shape (draw,)
    rng : numpy.random.Generator

    Returns
    -------
    cells : ndarray of int, shape (cell,)
        In ascending order.
    effects : ndarray, shape (draw, cell)
    """
    order = np.argsort(cell, kind="stable")
    first = np.flatnonzero(np.diff(cell[order], prepend=-1))
    start, k, n = np.append(first, len(cell)), successes[order].astype(float), trials[order].astype(float)
    return cell[order][first], draw_cells(log_odds[:, order], k, n, start, tau, rng)


def draw_effects_of_rows(
    log_odds: FloatArray,
    successes: npt.NDArray[Any],
    trials: npt.NDArray[Any],
    cell: IndexArray,
    tau: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """`draw_effects` for each observation that of its cell, shape (draw, observation)."""
    cells, effects = draw_effects(log_odds, successes, trials, cell, tau, rng)
    of_rows: FloatArray = effects[:, np.searchsorted(cells, cell)]
    return of_rows
