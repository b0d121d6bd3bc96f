"""Parts of the variance of a score by another assessor: by hand, in simulation, and at the ends."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.measures.assessor_variance import exchanged_pairs, unjudged_share


def test_no_draw_is_in_two_pairs() -> None:
    pairs = exchanged_pairs(4000)
    assert pairs.shape == (400, 2)
    assert len(np.unique(pairs)) == 800
    assert pairs.max() > 3900
    assert np.array_equal(pairs, exchanged_pairs(4000))
    assert exchanged_pairs(5).shape == (2, 2)


def test_the_share_by_hand() -> None:
    """Two draws of one run: of completions 4 and 10 the first assessor makes 4 and 9, the second 6 and 8."""
    pairs = exchanged_pairs(2)
    by = {0: {0: 4, 1: 9}, 1: {0: 6, 1: 8}}  # assessor, completion
    drawn = np.array([[by[0][0]], [by[1][1]]])
    exchanged = np.array([[[by[a][c]], [by[c][a]]] for a, c in pairs.tolist()])
    # (4 - 9)(6 - 8)/2 = 5, and ((4 - 6)^2 + (8 - 9)^2)/4 = 1.25
    assert unjudged_share(drawn, exchanged) == pytest.approx([5 / 6.25])


def test_the_ends_are_exact() -> None:
    """Runs that vary with the completion alone, with the assessor alone, and not at all."""
    rng, pairs = np.random.default_rng(1), exchanged_pairs(100)
    completion, assessor = rng.normal(size=(2, 100))
    drawn = np.stack([completion, assessor, np.full(100, 0.3)], axis=1)
    exchanged = np.stack([completion[pairs[:, ::-1]], assessor[pairs], np.full(pairs.shape, 0.3)], axis=2)
    share = unjudged_share(drawn, exchanged)
    assert share[:2].tolist() == [1.0, 0.0]
    assert np.isnan(share[2])


def test_a_change_that_no_pair_shows_is_the_assessors() -> None:
    drawn, pairs = np.zeros((4000, 1)), exchanged_pairs(4000)
    drawn[np.setdiff1d(np.arange(4000), pairs)[0]] = 1
    assert unjudged_share(drawn, drawn[pairs]) == 0
    assert np.isnan(unjudged_share(np.array([[0.5]]), np.zeros((0, 2, 1))))


def test_the_error_is_the_one_stated() -> None:
    pairs = exchanged_pairs(4000)
    for share in (0.1, 0.5, 0.8):
        rng = np.random.default_rng(2)
        completion = rng.normal(size=(4000, 200)) * np.sqrt(share)
        assessor = rng.normal(size=(4000, 200)) * np.sqrt(1 - share)
        shares = unjudged_share(completion + assessor, completion[pairs[:, ::-1]] + assessor[pairs])
        stated = 2 * share * (1 - share) / np.sqrt(len(pairs))
        assert shares.mean() == pytest.approx(share, abs=0.01)
        assert shares.std() == pytest.approx(stated, rel=0.25)


def test_few_documents_have_a_third_more_error() -> None:
    """20 unjudged documents with a chance of 0.2, 80 judged ones; 0.7 and 0.05 confirm a level."""
    rng, pairs = np.random.default_rng(3), exchanged_pairs(4000)
    shares = []
    for _ in range(100):
        relevant, number = rng.random((4000, 20)) < 0.2, rng.random((4000, 20))
        judged = (rng.random((4000, 80)) < 0.7).sum(axis=1)

        def score(completion: np.ndarray, assessor: np.ndarray) -> np.ndarray:
            confirmed = number[assessor] < np.where(relevant[completion], 0.7, 0.05)  # noqa: B023
            return confirmed.sum(axis=-1)[..., None] + judged[assessor][..., None]  # noqa: B023

        draws = np.arange(4000)
        shares.append(unjudged_share(score(draws, draws), score(pairs[:, ::-1], pairs)))
    of_unjudged = 20 * 0.2 * 0.8 * 0.65**2
    share = of_unjudged / (of_unjudged + 20 * (0.2 * 0.21 + 0.8 * 0.0475) + 80 * 0.21)
    assert np.mean(shares) == pytest.approx(share, abs=0.003)
    assert 1 < np.std(shares) / (2 * share * (1 - share) / np.sqrt(len(pairs))) < 1.6
