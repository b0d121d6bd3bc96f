"""Parts of the variance of a score by another assessor: by hand, in simulation, and at the ends."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.measures.populations import exchanged_pairs, unjudged_share


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
    lone = np.zeros((4000, 1))  # a change that no pair shows is the assessor's
    lone[np.setdiff1d(np.arange(4000), exchanged_pairs(4000))[0]] = 1
    assert unjudged_share(lone, lone[exchanged_pairs(4000)]) == 0


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
