"""The example's checks, worked out once."""

from __future__ import annotations

from functools import cache

import arviz_stats
import arviz_stats.utils
import pytest

from bayespool.collection import Collection
from bayespool.experiments import ModelChecks, check_models, load_example
from bayespool.experiments.hidden import HiddenDocuments
from bayespool.measures import parse_measure
from bayespool.models import MODEL_NAMES
from bayespool.posterior import PreparedModel, ScoringProblem
from bayespool.posterior.steps import rungs_of

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
    return HiddenDocuments(example_task())


@cache
def prepared(model: str) -> PreparedModel:
    return example_task().prepare(model, {})  # type: ignore[arg-type]


def tasks_of(collection: Collection, measure: str) -> list[ScoringProblem]:
    """A task for each rung."""
    parsed = parse_measure(measure)
    return [
        ScoringProblem(collection, (), parsed, "pooled", rung=rung) for rung in rungs_of(collection, parsed)
    ]


@cache
def checks() -> ModelChecks:
    """Three models of the example, few draws."""
    return check_models(load_example(), models=("background", "ratio", "rankings"), draws=150, chains=2)
