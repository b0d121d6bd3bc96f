"""Each unjudged document is drawn with its chance, and once for all runs that share it."""

from __future__ import annotations

import numpy as np
import pytest
from completed import completed, toy
from scipy.special import expit, logit

from bayespool.posterior.drawing import climb, count_levels


def test_each_document_is_drawn_with_its_chance() -> None:
    chances = {"q": 0.3, "r": 0.9, "s": 0.05, "v": 0.5, "w": 0.999, "t": 0.001, "u": 0.7}
    n, of_pair = 40_000, toy()

    def log_odds(_: np.ndarray, __: int, pairs: np.ndarray) -> np.ndarray:
        p = np.array([chances[of_pair.doc_id(pair)] for pair in pairs])
        return np.log(p / (1 - p))

    found = completed(log_odds, n)
    drawn = np.hstack([found.block(0), found.block(1)]).astype(float)
    p = np.array([chances[d] for t in (0, 1) for d in found.unknowns.doc_ids(t)])
    assert (np.abs(drawn.mean(axis=0) - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-9).all()
    some = (p > 0.01) & (p < 0.99)
    correlation = np.corrcoef(drawn[:, some], rowvar=False)
    assert np.abs(correlation - np.eye(some.sum())).max() < 5 / np.sqrt(n)
    # nor does a draw tell the next one
    lagged = [np.corrcoef(drawn[1:, j], drawn[:-1, j])[0, 1] for j in np.flatnonzero(some)]
    assert np.abs(lagged).max() < 5 / np.sqrt(n)


def test_shared_document_has_one_relevance_in_a_draw() -> None:
    """``one`` and ``two`` share q, s and t: their totals differ by r, u, v and w only."""
    (values,) = completed(0.0, 20_000).evaluate("P@5")
    known = np.array([[1, 0], [1, 2]])
    added = values.amount - known
    assert values.unit == 5
    assert added.min(axis=(0, 2)).tolist() == [0, 0]
    assert added.max(axis=0).tolist() == [[3, 2], [4, 1]]
    difference = added[:, 1, 0] - added[:, 0, 0]
    assert set(difference.tolist()) == {-1, 0, 1, 2}  # v + w − r
    assert difference.var() == pytest.approx(0.75, rel=0.05)
    assert np.cov(added[:, :, 0], rowvar=False)[0, 1] == pytest.approx(0.5, abs=0.03)  # q and s


@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_effect_of_organization_and_topic_is_shared_by_its_documents(scale: float) -> None:
    """q, r and s of ``one`` on topic 1, t and u on topic 2: moments by Gauss and Hermite. Chances are the
    means over the effect, nearer to a half than expit(η).
    """
    n = 40_000
    node, share = np.polynomial.hermite_e.hermegauss(61)
    share = share / share.sum()
    p = expit(-1.0 + scale * node)
    mean = share @ p
    spread = share @ p**2 - mean**2
    assert (mean > expit(-1.0) + 0.01) == (scale > 0)
    drawn = completed(-1.0, n, ("one",), scale=scale).evaluate("P@5")[0].amount[:, 0]
    for topic, (known, m) in enumerate(((1, 3), (0, 2))):
        variance = m * mean * (1 - mean) + m * (m - 1) * spread
        amount = drawn[:, topic]
        assert amount.mean() == pytest.approx(known + m * mean, abs=4.5 * np.sqrt(variance / n))
        assert amount.var() == pytest.approx(variance, rel=0.04)
    assert abs(np.corrcoef(drawn, rowvar=False)[0, 1]) < 4.5 / np.sqrt(n)


def test_a_document_climbs_by_what_is_left_of_its_number() -> None:
    """Chances of ¼ and then ½: below 1/4 at the next level, below 1/8 at the one after it."""
    rest = np.array([[0.05, 0.2, 0.3, 0.05]])
    level = np.array([[1, 1, 1, 0]], dtype=np.uint8)
    climb(np.full((1, 4), logit(0.25)), 1, rest, level)
    assert level.tolist() == [[2, 2, 1, 0]]
    assert rest[0] == pytest.approx([0.2, 0.8, 0.3, 0.05])
    climb(np.zeros((1, 4)), 2, rest, level)
    assert level.tolist() == [[3, 2, 1, 0]]
    assert rest[0] == pytest.approx([0.4, 0.8, 0.3, 0.05])
    tally = np.zeros((1, 3), dtype=np.int64)
    count_levels(level, np.array([True, True, False, True]), tally)
    assert tally.tolist() == [[0, 1, 1]]
