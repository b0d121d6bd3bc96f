"""Scores with a posterior whose draws are known."""

from __future__ import annotations

import dataclasses

import numpy as np

from bayespool.estimates import Estimates
from bayespool.estimators import DEFAULT_ESTIMATORS
from bayespool.scoring import Scores
from bayespool.values import Values

POINT = [name for name in DEFAULT_ESTIMATORS if not name.startswith("posterior")]


def with_posterior(scores: Scores, ci_prob: float = 0.9) -> Scores:
    """With an estimator whose draws are known: half of them B, half of them T, but for three."""
    added = []
    for measure, found in zip(scores.measures, scores.bounds, strict=True):
        draws = Values(np.array([found.low.amount, found.high.amount] * 50), measure.unit)
        added.append(
            Estimates(
                method="posterior-known",
                measure=measure,
                run_ids=scores.run_ids,
                query_ids=scores.query_ids,
                per_topic=draws.on_topics(),
                value=draws.expected(),
                fingerprint="0",
                draws=draws,
            )
        )
    return dataclasses.replace(scores, estimates=(*scores.estimates, *added), ci_prob=ci_prob)
