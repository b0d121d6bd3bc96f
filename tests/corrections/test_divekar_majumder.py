"""PRECISE: by hand, and where its assumption holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corrected import LABELS, close, estimate, sampled, with_any_labels, with_labels
from toys import toy_collection

from bayespool import load_example
from bayespool.corrections import Precise

# Hidden documents of the runs by topic, of a fifth each: n1 b c, n2 b f c, s1 h i, s2 h k | n1 p r, n2 p r,
# s1 v w | n1 b, n2 b, s1 d, s2 d. A label 2 promises 1/2, 0 nothing, and none 1/5 (see test_angelopoulos).
VALUES = np.array([1, 2, 1, 1, 2, 2, 1, 0, 0, 0, 0]) / 5
FORETOLD = np.array([1, 1, 0.2, 0.2, 1, 1, 0.2, 0.2, 0.2, 0.2, 0.2]) / 5


def ppi_plus_plus(value: Any, foretold: Any, others: Any) -> tuple[float, float]:
    """Mean of the others by equation 1, with λ of the least variance, and the variance of y − λf."""
    scale = np.clip(np.cov(value, foretold)[0, 1] / np.var(foretold, ddof=1), 0, 1)
    left = np.asarray(value) - scale * np.asarray(foretold)
    return float(scale * np.mean(others) + left.mean()), float(left.var(ddof=1))


def test_topics_of_runs_held_out_put_the_predictions_right() -> None:
    found = estimate(Precise(), "P@5", collection=with_labels(LABELS))
    others = np.array([0.7, 0.7, 0.2]) / 5  # l d m | z x | e f
    mean, variance = ppi_plus_plus(VALUES, FORETOLD, others)
    assert found.value[0] == pytest.approx(4 / 15 + mean)
    assert found.std == pytest.approx(np.sqrt(variance * (9 / 11 + 3)) / 3)
    assert found.notes == (
        "its interval takes topics of held-out runs for a random sample of topics like the run's",
    )


def test_topics_that_are_judged_are_the_sample_of_the_paper() -> None:
    """n1 with d and e judged: a1 b0 c2 d1 e1, q0 p1 r2 s? t?, and a0 b0 c0, ranks 4 and 5 empty."""
    collection = with_labels(LABELS, toy_collection(more={"1": {"d": 1, "e": 1}}))
    found = estimate(Precise(sample="judged"), "P@5", "n1", collection)
    # of the judged documents that are not hidden 0 is said of q0 d1 and topic 3's a0, nothing of c0 e1
    none, zero, two = 3 / 7, 1 / 3, 1 / 2
    foretold = [(3 * two + zero + none) / 5, (zero + 2 * none) / 5]
    mean, variance = ppi_plus_plus([4 / 5, 0], foretold, [(zero + 2 * two + 2 * none) / 5])
    assert found.per_topic[0].tolist() == close(4 / 5, mean, 0)
    assert found.std == pytest.approx(np.sqrt(variance * (1 / 2 + 1)) / 3)
    assert found.notes[0].endswith("for a random sample of topics; a pool does not choose them so")


def test_draws_have_the_mean_and_the_spread_that_it_states() -> None:
    found = estimate(Precise(n_draws=20_000), "DCG@10", "new-b", with_any_labels(load_example()))
    assert found.draws is not None
    assert found.std is not None
    means = found.draws.means()[:, 0]
    assert means.std() == pytest.approx(found.std[0], rel=0.03)
    assert means.mean() == pytest.approx(found.value[0], abs=0.1 * found.std[0])


def test_a_run_without_two_judged_topics_has_no_value() -> None:
    found = estimate(Precise(sample="judged"), "P@5", collection=with_labels(LABELS))
    assert np.isnan(found.value[0])
    assert found.notes == ("needs two topics judged down to the cutoff",)
    assert found.draws is None


@pytest.mark.slow
def test_its_intervals_hold_where_its_assumption_does() -> None:
    rng = np.random.default_rng(12)
    hits = 0
    for _ in range(200):
        collection, truth = sampled(rng, 20)
        lower, upper = estimate(Precise(n_draws=400), "P@10", "u", collection).interval(0.95)
        hits += bool(lower[0] - 1e-12 <= truth <= upper[0] + 1e-12)
    assert 0.89 * 200 <= hits <= 0.99 * 200
