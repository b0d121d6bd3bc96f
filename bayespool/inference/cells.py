"""Effects of cells, an organization on a topic each: integrated one by one, and drawn given all else."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.inference.kernels import draw_cells, integrate_cells

__all__ = ["NODES", "SHARES", "Integrated", "draw_effects", "integrate", "integrate_at_modes"]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

NODES, SHARES = np.polynomial.hermite_e.hermegauss(5)
SHARES = SHARES / SHARES.sum()


class Integrated(NamedTuple):
    """What is left of observations whose log odds share effects of cells.

    Attributes
    ----------
    log_likelihood : float
    score, information : ndarray, shape (observation,)
        Means given the counts: of the derivative of an observation's log likelihood in its log odds, and of
        minus the second one.
    across : ndarray, shape (cell × node, column)
        How far sums over a cell of score times a matrix are off their means at the nodes of its effect.
    among : ndarray, shape (cell × node,)
        The same of scores alone.
    share : ndarray, shape (cell × node,)
        Chances of the nodes.
    """

    log_likelihood: float
    score: FloatArray
    information: FloatArray
    across: FloatArray
    among: FloatArray
    share: FloatArray


def integrate(
    log_odds: FloatArray,
    successes: FloatArray,
    trials: FloatArray,
    start: IndexArray,
    tau: float,
    matrix: FloatArray,
    modes: FloatArray,
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
        Of a design, whose rows the scores are summed with.
    modes : ndarray, shape (cell,)
        Near which the modes are looked for; it holds them afterwards.

    References
    ----------
    Q. Liu and D. A. Pierce (1994). A note on Gauss–Hermite quadrature. Biometrika 81(3), 624–629.
    """
    return Integrated(
        *integrate_cells(log_odds, successes, trials, start, tau, NODES, np.log(SHARES), matrix, modes)
    )


def integrate_at_modes(
    log_odds: FloatArray,
    successes: FloatArray,
    trials: FloatArray,
    start: IndexArray,
    tau: float,
    matrix: FloatArray,
    modes: FloatArray,
) -> Integrated:
    """`integrate` by Laplace's approximation, one node at the mode. ``across`` and ``among`` are sums of
    information, and ``share`` what the effect of a cell takes up of their squares: the information that is
    left is never negative.
    """
    found = Integrated(
        *integrate_cells(
            log_odds, successes, trials, start, tau, np.zeros(1), np.zeros(1), matrix[:, :0], modes
        )
    )
    among = np.add.reduceat(found.information, start[:-1])
    across = np.add.reduceat(found.information[:, None] * matrix, start[:-1])
    return found._replace(across=across, among=among, share=1 / (among + 1 / tau**2))


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
