"""What checks of the example's models are made of, and measures of every family."""

from __future__ import annotations

from functools import cache

import arviz_stats
import arviz_stats.utils
import pytest

from bayespool.collection import Collection
from bayespool.experiments import load_example
from bayespool.experiments.hidden import HiddenDocuments
from bayespool.measures import parse_measure
from bayespool.models import MODEL_NAMES
from bayespool.posterior import PreparedModel, ScoringProblem
from bayespool.posterior.thresholds import find_thresholds

P10 = parse_measure("P@10")

every_model = pytest.mark.parametrize("model", MODEL_NAMES)

with_the_first_arviz_stats = pytest.mark.skipif(
    not arviz_stats.__version__.startswith("0."),
    reason="compares with functions of arviz_stats whose interface changed in 1.0",
)


@cache
def example_task() -> ScoringProblem:
    return ScoringProblem(load_example(), (), P10, "pooled")


@cache
def example_hidden() -> HiddenDocuments:
    return HiddenDocuments(load_example(), P10)


@cache
def prepared(model: str) -> PreparedModel:
    return example_task().prepare(model, {})  # type: ignore[arg-type]


def tasks_of(collection: Collection, measure: str) -> list[ScoringProblem]:
    """A task for each threshold."""
    parsed = parse_measure(measure)
    return [
        ScoringProblem(collection, (), parsed, "pooled", asked_threshold=threshold)
        for threshold in find_thresholds(collection, parsed)
    ]


FAMILIES = (
    "P@10", "P(rel=2)@10", "Success(rel=2)@5", "RR@10", "R@10", "AP@10", "nDCG@10",
    "nDCG(ideal='judged')@10", "nDCG(dcg='exp-log2')@5", "DCG@10", "SDCG@10", "RBP(p=0.8)@10", "ERR@10",
    "INST@10", "AntiP@10",
)  # fmt: skip
"""Every family but that of Judged, and some of another threshold, ideal or gain."""

BELOW_THE_POOL = ("R@20", "AP@15", "P@20")
"""Measures that look deeper than the example's pool."""
