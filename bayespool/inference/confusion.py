"""Draws of how often levels of relevance change between two assessors (`bayespool.models.confusion`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.models.confusion import CONCENTRATION_RATE, CONCENTRATION_SHAPE

FloatArray = npt.NDArray[np.float64]

_N_WARM = 500  # sweeps
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class ConfusionDraws:
    """Draws of the chances of each level of the second assessor, by level of the first.

    Attributes
    ----------
    chance : ndarray of float, shape (draw, level, level)
        On all topics, m; rows sum to 1.
    concentration : ndarray of float, shape (draw,)
        How alike topics are, κ.
    """

    chance: FloatArray
    concentration: FloatArray

    def on_topic(self, counts: npt.NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Draw the chances on a topic, shape (draw, level, level), given its documents judged twice."""
        drawn = rng.gamma(self.concentration[:, None, None] * self.chance + counts) + _LEAST
        return np.asarray(drawn / drawn.sum(axis=2, keepdims=True))


def draw_confusion(
    counts: npt.NDArray[np.int64], prior: FloatArray, n_draws: int, rng: np.random.Generator
) -> ConfusionDraws:
    """Draw the chances that levels change from their posterior.

    Parameters
    ----------
    counts : ndarray of int, shape (topic, level, level)
        Documents judged twice, by level of the first assessor and of the second.
    prior : ndarray of float, shape (level, level)
        Prior counts.
    n_draws : int
    rng : numpy.random.Generator

    Returns
    -------
    ConfusionDraws

    Notes
    -----
    Gibbs sampling with the tables of a Chinese restaurant as auxiliary variables: of the documents of a cell
    the one after i others opens a table with the chance κm/(κm + i); given the tables m is Dirichlet, and κ
    is Gamma given a Beta and a Bernoulli variable for each row of a topic (Teh et al. 2006, appendix A;
    Escobar and West 1995). Draws of successive sweeps are correlated.

    Examples
    --------
    >>> counts = np.array([[[90, 10], [20, 80]]] * 10)
    >>> drawn = draw_confusion(counts, np.full((2, 2), 0.5), 500, np.random.default_rng(1))
    >>> drawn.chance.mean(axis=0).round(1).tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """
    n_levels = len(prior)
    topic, first, second = np.nonzero(counts)
    of_cell = counts[topic, first, second]
    cell = np.repeat(first * n_levels + second, of_cell)
    before = np.arange(len(cell)) - np.repeat(np.cumsum(of_cell) - of_cell, of_cell)
    rows = counts.sum(axis=2)
    of_row = rows[rows > 0]
    chance = prior / prior.sum(axis=1, keepdims=True)
    concentration = CONCENTRATION_SHAPE / CONCENTRATION_RATE
    chances, concentrations = np.empty((n_draws, n_levels, n_levels)), np.empty(n_draws)
    for sweep in range(-_N_WARM, n_draws):
        weight = (concentration * chance).ravel()[cell]
        opened = cell[rng.random(len(cell)) * (weight + before) <= weight]
        tables = np.bincount(opened, minlength=n_levels**2).reshape(n_levels, n_levels)
        chance = rng.gamma(prior + tables) + _LEAST
        chance /= chance.sum(axis=1, keepdims=True)
        left = rng.random(len(of_row)) * (of_row + concentration) < of_row
        shape = CONCENTRATION_SHAPE + tables.sum() - left.sum()
        rate = CONCENTRATION_RATE - np.log(rng.beta(concentration + 1, of_row)).sum()
        concentration = rng.gamma(shape) / rate
        if sweep >= 0:
            chances[sweep], concentrations[sweep] = chance, concentration
    return ConfusionDraws(chances, concentrations)
