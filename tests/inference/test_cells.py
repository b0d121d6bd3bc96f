"""Effects of cells: integrals against scipy's quadrature, draws against the density on a grid."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from each import cases
from scipy.integrate import quad
from scipy.special import log_expit

from bayespool.inference.cells import NODES, SHARES, draw_effects, integrate, normal_nodes

SIZES = (1, 3, 6, 2, 12)
START = np.concatenate([[0], np.cumsum(SIZES)])


@cache
def observations() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log odds, relevant documents and documents; of the first cell none is relevant, of the second all."""
    rng = np.random.default_rng(4)
    n = int(START[-1])
    trials = rng.integers(1, 5, n).astype(float)
    trials[START[4] :] = 1
    successes = rng.binomial(trials.astype(int), 0.4).astype(float)
    successes[0], successes[1:4] = 0, trials[1:4]
    return rng.normal(-1, 1, n), successes, trials


ONE = np.zeros(len(SIZES), dtype=np.int64), 1  # owner of every cell
FIVE = NODES, np.log(SHARES)


def log_density(u: np.ndarray, cell: int, log_odds: np.ndarray, tau: float) -> np.ndarray:
    _, k, n = observations()
    rows = slice(START[cell], START[cell + 1])
    eta = log_odds[rows] + np.asarray(u)[..., None]
    likelihood = (k[rows] * log_expit(eta) + (n - k)[rows] * log_expit(-eta)).sum(axis=-1)
    return likelihood - 0.5 * (u / tau) ** 2 - np.log(tau * np.sqrt(2 * np.pi))


@cache
def exact_of_cell(cell: int, rows: tuple[float, ...], tau: float) -> float:
    """Log of the integral over one cell's effect, of the log odds of its rows."""
    log_odds = np.zeros(START[-1])
    log_odds[START[cell] : START[cell + 1]] = rows

    def density(u: float) -> float:
        return float(np.exp(log_density(np.asarray(u), cell, log_odds, tau)))

    return float(np.log(quad(density, -12 * tau, 12 * tau, epsabs=0)[0]))


def exact(log_odds: np.ndarray, tau: float) -> float:
    rows = np.split(log_odds, START[1:-1])
    return sum(exact_of_cell(cell, tuple(of_cell.tolist()), tau) for cell, of_cell in enumerate(rows))


@cases("tau", [1e-3, 0.3, 1.0, 2.0])
def test_what_is_left_is_the_integral(tau: float) -> None:
    log_odds, k, n = observations()
    found = integrate(
        log_odds, k, n, START, tau, *FIVE, np.zeros((len(k), 0)), *ONE, np.zeros(len(SIZES)), False
    )
    assert found.log_likelihood == pytest.approx(exact(log_odds, tau), abs=0.02 if tau > 1 else 2e-3)


def test_derivatives_are_those_of_the_integral() -> None:
    """Of the log odds, by differences of the exact integral."""
    nodes, shares = normal_nodes(31)
    (log_odds, k, n), tau, step = observations(), 1.2, 1e-3
    found = integrate(
        log_odds, k, n, START, tau, nodes, np.log(shares), np.eye(len(k)), *ONE, np.zeros(len(SIZES)), False
    )
    unit = step * np.eye(len(log_odds))
    rise = np.array([exact(log_odds + u, tau) - exact(log_odds - u, tau) for u in unit]) / (2 * step)
    assert found.slopes[0] == pytest.approx(rise, abs=1e-5)
    assert found.slope_of == pytest.approx(np.add.reduceat(rise, START[:-1]), abs=1e-5)
    assert found.mixed == pytest.approx(np.add.reduceat(found.bends[0], START[:-1]))
    assert found.bend_of == pytest.approx(np.add.reduceat(found.mixed, START[:-1], axis=1).diagonal())
    for i, j in ((0, 0), (1, 2), (5, 5), (4, 7), (0, 5), (13, 20)):
        both = exact(log_odds + unit[i] + unit[j], tau) + exact(log_odds - unit[i] - unit[j], tau)
        both -= exact(log_odds + unit[i] - unit[j], tau) + exact(log_odds - unit[i] + unit[j], tau)
        assert found.bends[0, i, j] == pytest.approx(-both / (4 * step**2), abs=1e-4)


def test_owners_share_what_is_of_the_coefficients() -> None:
    log_odds, k, n = observations()
    matrix, modes = np.random.default_rng(2).normal(size=(len(k), 3)), np.zeros(len(SIZES))
    whole = integrate(log_odds, k, n, START, 0.9, *FIVE, matrix, *ONE, modes.copy(), False)
    owner = np.array([1, 0, 1, 2, 1])
    parts = integrate(log_odds, k, n, START, 0.9, *FIVE, matrix, owner, 3, modes.copy(), False)
    assert parts.slopes.sum(axis=0) == pytest.approx(whole.slopes[0])
    assert parts.bends.sum(axis=0) == pytest.approx(whole.bends[0])
    rows = slice(START[1], START[2])
    alone = integrate(
        log_odds[rows],
        k[rows],
        n[rows],
        START[1:3] - START[1],
        0.9,
        *FIVE,
        matrix[rows],
        ONE[0][:1],
        1,
        modes[:1],
        False,
    )
    assert parts.slopes[0] == pytest.approx(alone.slopes[0])
    assert parts.bends[0] == pytest.approx(alone.bends[0])


@cases("tau", [0.4, 2.5])
def test_draws_have_the_density(tau: float) -> None:
    log_odds, k, n = observations()
    cell = np.repeat([9, 4, 7, 2, 5], SIZES)
    rng = np.random.default_rng(1)
    n_draws = 20_000
    cells, drawn = draw_effects(np.tile(log_odds, (n_draws, 1)), k, n, cell, np.full(n_draws, tau), rng)
    assert cells.tolist() == [2, 4, 5, 7, 9]
    for c, name in enumerate((9, 4, 7, 2, 5)):
        grid = np.linspace(-9 * tau, 9 * tau, 20_001)
        share = np.cumsum(np.exp(log_density(grid, c, log_odds, tau)))
        uniform = np.interp(drawn[:, cells.tolist().index(name)], grid, share / share[-1])
        counts = np.histogram(uniform, 20, (0, 1))[0]
        assert ((counts - n_draws / 20) ** 2 / (n_draws / 20)).sum() < 50  # chi-squared of 19, .9999


def test_cells_in_threads_are_those_together(monkeypatch: pytest.MonkeyPatch) -> None:
    log_odds, k, n = observations()
    matrix, owner = np.random.default_rng(2).normal(size=(len(k), 3)), np.array([1, 0, 1, 2, 1])
    modes, in_parts = np.zeros((2, len(SIZES)))
    data = log_odds, k, n, START, 0.9, *FIVE, matrix, owner, 3
    together = integrate(*data, modes, False)
    monkeypatch.setattr("bayespool.inference.cells._CELLS_AT_A_TIME", 2)
    apart = integrate(*data, in_parts, False)
    assert in_parts.tolist() == modes.tolist()
    for one, other in zip(apart, together, strict=True):
        assert one == pytest.approx(other, rel=1e-12)
