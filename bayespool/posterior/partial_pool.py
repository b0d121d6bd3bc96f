"""A pool that explains a part of the judgments: how far unjudged documents are from its predictions.

Runs or searches that the pool lacks brought the other judgments, and passed over what is still unjudged.
"""

from __future__ import annotations

import numpy as np

from bayespool.arrays import BoolArray, FloatArray
from bayespool.collection import Collection
from bayespool.posterior.preparation import ScoringProblem

PARTIAL_POOL_SHIFT = (-0.2, 0.3)
"""Mean and standard deviation of the log-odds shift, over −log of the share of judgments explained."""

MIN_UNEXPLAINED = 10
"""Smallest number of judged documents outside the pool, in the top of a run, for its shift."""

_MOST_RANKS = 30  # of a run's top, which ends at the pool depth


def find_unexplained(collection: Collection) -> BoolArray:
    """Return a mask for judged documents that neither the pool nor the user contributed, shape (pair,)."""
    return np.asarray(collection.judged & ~collection.in_pool() & ~collection.is_own)


def partial_pool_shift(problem: ScoringProblem, n_draws: int, rng: np.random.Generator) -> FloatArray | None:
    """Draw the log-odds shift of unjudged documents, shape (draw, run), or None where there is none.

    Predictors count the run's unexplained judgments already; a shift learned from these would count them
    twice. What is left is a prior: wider and lower the smaller the share of the judgments that the pool
    explains. A run has it whose own top shows that the judgments are of runs like it: to the depth to which
    a pooled run was judged, others brought some of its documents, and passed over the rest.
    """
    collection = problem.collection
    if not problem.has_pool_evidence:
        return None
    unexplained = problem.shared.once("unexplained judgments", lambda: find_unexplained(collection))
    depth = min(collection.pool_depth, _MOST_RANKS)
    top = collection.document[collection.run_index(problem.run_ids), :, :depth]
    has_shift = (unexplained[top] & (top >= 0)).sum(axis=(1, 2)) >= MIN_UNEXPLAINED
    if not has_shift.any():
        return None
    share = 1 - unexplained.sum() / (collection.judged & ~collection.is_own).sum()
    mean, deviation = PARTIAL_POOL_SHIFT
    shift: FloatArray = -np.log(share) * (mean + deviation * rng.standard_normal(n_draws))
    return np.asarray(shift[:, None] * has_shift)
