"""Influences written down by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayespool.scoring.judging_influence import Influence


def independent(weight: Sequence[Sequence[float]], chance: Sequence[float]) -> Influence:
    """Documents that say nothing of each other: what each is worth to each run, and its chance."""
    p = np.array(chance, dtype=float)
    return Influence(
        document=np.arange(len(p)),
        weight=np.array(weight, dtype=float),
        expected=np.tile(p.astype(np.float32), (2, 1)),
        within=p * (1 - p),
    )


def correlated(n_runs: int, n_documents: int, seed: int, n_draws: int = 40) -> Influence:
    """Documents that go up and down together, of random numbers."""
    rng = np.random.default_rng(seed)
    together = rng.normal(size=(n_draws, 3)) @ rng.normal(size=(3, n_documents))
    expected = 1 / (1 + np.exp(-together))
    return Influence(
        document=np.arange(n_documents),
        weight=rng.normal(size=(n_runs, n_documents)),
        expected=expected.astype(np.float32),
        within=(expected * (1 - expected)).mean(axis=0),
    )


def covariance(influence: Influence) -> np.ndarray:
    """Of the documents, shape (document, document)."""
    between = np.atleast_2d(np.cov(influence.expected.astype(float), rowvar=False, ddof=0))
    return np.asarray(between + np.diag(influence.within))
