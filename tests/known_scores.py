"""Scores with a posterior whose draws are known."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np

from bayespool.experiments import load_example
from bayespool.measures import Estimates, Values
from bayespool.scoring import Scores, score

POINT = [
    *("background", "interpolated", "smoothed", "systems-adjustment", "anti-precision", "condensed-list")
]
MEASURES = ("P@5", "P@10", "P(rel=2)@10")


@cache
def example_scores() -> Scores:
    """Corrections and two posteriors of few draws on the example."""
    return score(
        load_example(),
        None,
        MEASURES,
        estimators=[*POINT, "posterior-combined", "posterior-background"],
        posterior_settings="draws=200",
    )


def with_posterior(scores: Scores, ci_prob: float = 0.9) -> Scores:
    """With an estimator whose draws are known: half of them B, half of them T, but for three."""
    added = []
    for measure, found in zip(scores.measures, scores.bounds, strict=True):
        draws = Values(np.array([found.low.amount, found.high.amount] * 50), measure.unit)
        added.append(
            Estimates(
                estimator="posterior-known",
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
