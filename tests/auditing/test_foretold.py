"""What the posterior foretells: its interval given the judgments, and the evidence against it."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.auditing import Urn
from bayespool.auditing.foretold import REFUTING, foretell


def urn_of(chance: np.ndarray, shared: float = 0.0) -> Urn:
    n = len(chance)
    names, c = tuple(map(str, range(n))), np.full(n, 1 / n)
    spread = np.sqrt(chance * (1 - chance))
    std = np.sqrt((c @ np.full(n, shared)) ** 2 + c**2 @ (spread**2 - shared**2))
    mean = float(chance.mean())
    return Urn(
        *(names, names, c, c, chance, spread, np.full(n, shared), 0.0, 0.0, 0.0, 1.0, mean, float(std)),
        (0.0, 1.0),
    )


def test_without_anything_shared_each_judgment_settles_its_document_alone() -> None:
    urn = urn_of(np.array([0.5, 0.2, 0.8]))
    found = foretell(urn, np.array([1, 0, 2]), np.array([1.0, 0.0, 1.0]))
    assert found.mean.tolist() == pytest.approx([2.3 / 3, 1.8 / 3, 2 / 3])
    assert found.std.tolist() == pytest.approx([np.sqrt(0.25 + 0.16) / 3, np.sqrt(0.16) / 3, 0.0])


def test_what_is_shared_is_learned_as_by_normal_regression() -> None:
    """F has precision 1 + b²/v after a judgment, and mean b (y − m)/v over it."""
    urn = urn_of(np.full(4, 0.5), shared=0.2)
    found = foretell(urn, np.array([0]), np.array([1.0]))
    v = 0.25 - 0.04
    precision = 1 + 0.04 / v
    learned = 0.2 * 0.5 / v / precision
    assert found.mean[0] == pytest.approx((1 + 3 * (0.5 + 0.2 * learned)) / 4)
    assert found.std[0] == pytest.approx(np.sqrt((3 * 0.05) ** 2 / precision + 3 * v / 16))


def test_a_posterior_is_refuted_if_it_is_wrong() -> None:
    """Share of 100 audits of 60 documents whose judgments refute it."""
    refuted = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        p = 1 / (1 + np.exp(-rng.normal(-0.5, 1.5, 60)))
        worth = (rng.random(60) < p).astype(float)
        found = [foretell(urn_of(m), np.arange(60), worth).evidence.max() for m in (p, 1 - p)]
        refuted.append(np.array(found) >= REFUTING)
    right, adverse = np.mean(refuted, axis=0)
    assert right <= 0.05
    assert adverse >= 0.95


def test_evidence_is_one_on_average_under_the_posterior() -> None:
    urn = urn_of(np.array([0.3, 0.7]))
    mean = 0.0
    for a in (0.0, 1.0):
        for b in (0.0, 1.0):
            chance = (0.3 if a else 0.7) * (0.7 if b else 0.3)
            mean += chance * foretell(urn, np.arange(2), np.array([a, b])).evidence[-1]
    assert mean == pytest.approx(1)
