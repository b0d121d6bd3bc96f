"""Made-up precisions of runs, and draws of them."""

from __future__ import annotations

import itertools

import numpy as np


def precisions(n_runs: int, n_topics: int, seed: int) -> np.ndarray:
    """P@10 of runs that differ, with ties as P@10 has them."""
    rng = np.random.default_rng(seed)
    chance = np.clip(0.45 + 0.1 * rng.normal(size=(n_runs, 1)) + 0.2 * rng.normal(size=n_topics), 0.05, 0.95)
    return rng.binomial(10, chance) / 10


def pairs(n_runs: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(n_runs), 2))


# Two-way table worked by hand: run means 2, 4, 5; topic means 2, 3, 6; grand mean 11/3; residuals (times 3)
# 2 2 −4, −1 2 −1, −1 −4 5, whose squares sum to 72, so SS = 8, MSE = 8 / (2·2) = 2, sqrt(MSE/3) = 0.8165.
BY_HAND = np.array([[1, 2, 3], [2, 4, 6], [3, 3, 9]])


def known_draws(n_draws: int = 60, n_runs: int = 5, n_topics: int = 20, seed: int = 1) -> np.ndarray:
    """Draws with ties, two runs that are the same in every draw, and one that never changes."""
    rng = np.random.default_rng(seed)
    base = np.rint(10 * precisions(n_runs, n_topics, seed)).astype(int)
    draws = (base + rng.integers(-1, 2, size=(n_draws, n_runs, n_topics))).clip(0, 10).astype(np.int32)
    draws[:, 1] = draws[:, 0]
    draws[:, 2] = base[2]
    return draws
