"""Documents drawn with known probabilities, payoffs that are right on average, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bayespool.auditing import Walk, capital, confidence_sequence, walk
from bayespool.auditing.sequences import uniforms


def drawn(seed: int, n: int = 60, **replaced: np.ndarray) -> tuple[Walk, np.ndarray, np.ndarray]:
    """A walk over documents of unlike contributions and chances, with contributions and worth."""
    rng = np.random.default_rng(seed)
    given = {"c": rng.uniform(-0.01, 0.02, n), "m": rng.uniform(0, 1, n), **replaced}
    worth = (rng.random(n) < given.get("p", given["m"])).astype(float)
    known = np.arange(n)
    return (walk(given["c"], given["c"], given["m"], worth, known, uniforms(seed, n)), given["c"], worth)


def test_probabilities_by_hand() -> None:
    """Contribution × (√(m(1 − m)) + 1): 2 × 1.5 and 1 × 1.3 for chances of .5 and .1."""
    c, m = np.array([0.2, -0.1]), np.array([0.5, 0.1])
    walked = walk(c, c, m, np.full(2, np.nan), np.zeros(2, dtype=np.int64), np.array([0.0, 0.0]))
    assert walked.chosen.tolist() == [0, 1]
    assert walked.probability.tolist() == pytest.approx([3 / 4.3, 1.0])
    assert len(walked.low) == 0  # nothing is judged


def test_payoffs_by_hand() -> None:
    """S + Σ c p + c (y − p)/q with p half-way from the chances to their mean."""
    c, m = np.array([0.2, 0.1]), np.array([0.5, 0.1])
    walked = walk(c, c, m, np.array([1.0, 0.0]), np.zeros(2, dtype=np.int64), np.array([0.0, 0.0]))
    center = (0.2 * 0.5 + 0.1 * 0.1) / 0.3
    p, q = (center + m) / 2, np.array([3.0, 1.3]) / 4.3
    assert walked.low[0] == pytest.approx(c @ p + 0.2 * (1 - p[0]) / q[0])
    assert walked.least[0] == pytest.approx(c @ p - max(c * p / q))
    assert walked.most[0] == pytest.approx(c @ p + max(c * (1 - p) / q))
    assert (walked.floor[0], walked.ceiling[0]) == pytest.approx((0.2, 0.3))


@pytest.mark.parametrize("turned", [False, True])
def test_the_expectation_of_a_payoff_is_the_sum_whatever_the_model(turned: bool) -> None:
    """Over all documents that a step could draw, weighted with their probabilities."""
    rng = np.random.default_rng(5)
    c, m = rng.uniform(-1, 2, 12), rng.uniform(0, 1, 12)
    worth = (rng.random(12) < (1 - m if turned else m)).astype(float)
    for n_before in (0, 4):
        before = uniforms(1, n_before)
        mean, total = 0.0, 0.0
        for u in (np.arange(2000) + 0.5) / 2000:
            walked = walk(c, c, m, worth, np.arange(n_before + 1), np.append(before, u))
            mean += walked.low[-1] / 2000
            total += walked.least[-1] <= walked.low[-1] <= walked.most[-1]
        assert mean == pytest.approx(c @ worth, abs=0.02)
        assert total == 2000


def test_judgments_to_come_decide_nothing() -> None:
    """Probabilities of a batch depend on the judgments known when it was drawn, payoffs on those before."""
    _, c, worth = drawn(1)
    m, known = np.full(60, 0.3), np.repeat([0, 20], [20, 40])
    one = walk(c, c, m, worth, known, uniforms(1, 60))
    other = worth.copy()
    other[one.chosen[10:]] = 1 - other[one.chosen[10:]]
    two = walk(c, c, m, other, known, uniforms(1, 60))
    assert one.chosen[:20].tolist() == two.chosen[:20].tolist()
    assert one.probability[:20].tolist() == two.probability[:20].tolist()
    assert one.low[:10].tolist() == two.low[:10].tolist()
    assert one.least[10] == two.least[10]
    assert one.low[10] != two.low[10]


@pytest.mark.parametrize("model", ["right", "useless", "adverse"])
def test_intervals_ever_miss_in_at_most_one_of_twenty(model: str) -> None:
    """With 200 audits each: at most 5 % of 95 % sequences, plus three standard errors."""
    missed, n = 0, 200
    for seed in range(n):
        rng = np.random.default_rng([seed, 1])
        p = 1 / (1 + np.exp(-rng.normal(-0.5, 1.5, 60)))
        m = {"right": p, "useless": rng.permutation(p), "adverse": 1 - p}[model]
        walked, c, worth = drawn(seed, m=m, p=p)
        low, high = confidence_sequence(walked, -1.0, 1.0, 0.0, 0.0, 0.95)
        missed += bool((low > c @ worth).any() or (high < c @ worth).any())
    assert missed <= n * 0.05 + 3 * np.sqrt(n * 0.05 * 0.95)


@given(seed=st.integers(0, 10**6), ci_prob=st.sampled_from([0.5, 0.9, 0.99]))
def test_intervals_shrink_nest_and_end_at_the_value(seed: int, ci_prob: float) -> None:
    walked, c, worth = drawn(seed)
    low, high = confidence_sequence(walked, -1.0, 1.2, 0.1, 0.1, ci_prob)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()
    wider = confidence_sequence(walked, -1.0, 1.2, 0.1, 0.1, 0.999)
    assert (wider[0] <= low + 1e-12).all()
    assert (wider[1] >= high - 1e-12).all()
    if low[-1] <= 0.1 + c @ worth <= high[-1]:
        assert high[-1] - low[-1] < 1e-9


def test_capital_by_hand() -> None:
    """Payoff .6 where .2 is least, against .4: the stake doubles."""
    found = capital(np.array([0.6, 0.2]), np.array([0.2, 0.2]), 0.4)
    bets = np.array([0.25, 0.5, 0.75, 1.0])
    assert found.tolist() == pytest.approx([np.mean(1 + bets), np.mean((1 + bets) * (1 - bets))])
