"""Effects of cells, an organization on a topic each: integrals, and draws given all other parameters."""

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
    """Log likelihood with the effects of cells integrated, and its derivatives."""

    log_likelihood: float
    slopes: FloatArray  # gradient in the coefficients, shape (owner, column)
    bends: FloatArray  # minus the Hessian in them, shape (owner, column, column)
    slope_of: FloatArray  # derivative in the effects of cells, shape (cell,)
    bend_of: FloatArray  # minus the second derivative in them, shape (cell,)
    mixed: FloatArray  # minus the mixed derivatives, shape (cell, column)


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
    """Integrate the effect N(0, τ²) of each cell over binomial counts by five Gauss–Hermite nodes about its
    mode (Liu & Pierce 1994, Biometrika 81(3), 624–629), or by Laplace's approximation ``at_modes``.

    Arrays are those of `bayespool.inference.cell_kernels.integrate_cells`.
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
    """Cells with observations, ascending, shape (cell,), and exact draws of their effects given log odds
    without these, shape (draw, cell).
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
    """Draws of `draw_effects` for the cell of each observation, shape (draw, observation)."""
    cells, effects = draw_effects(log_odds, successes, trials, cell, tau, rng)
    of_rows: FloatArray = effects[:, np.searchsorted(cells, cell)]
    return of_rows
