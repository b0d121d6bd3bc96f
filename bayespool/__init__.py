"""Posterior intervals for the corrected scores of retrieval runs on incompletely judged test collections.

Public names are imported when they are first used, so that ``import bayespool`` and ``bayespool --help`` are
instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayespool.checking import (
        JudgeCheck,
        ModelChecks,
        check_judges,
        check_models,
        compare_engines,
        fit_container,
        self_calibrate,
    )
    from bayespool.collection import UNJUDGED, Collection, build_collection
    from bayespool.comparisons import Comparison, Reversals, compare, reversals
    from bayespool.counts import composition_effects, condensed_counts, held_out_counts, judgment_counts
    from bayespool.estimates import Estimates
    from bayespool.estimators import register_estimator, register_model
    from bayespool.experiments import Budgets, LeaveOutResult, budgets, leave_out
    from bayespool.imputing import Imputations, impute
    from bayespool.judging import NextJudgments, judge_next
    from bayespool.loading import read_collection
    from bayespool.measures import Measure, Precision, parse_measure, register_measure
    from bayespool.pool import describe_pool, discover_pool
    from bayespool.posterior import Completion, complete
    from bayespool.predictors import Predictor, register_predictor
    from bayespool.pyterrier import pyterrier_measure
    from bayespool.scores import Scores
    from bayespool.scoring import score
    from bayespool.simulation import SimulationSettings, load_example, simulate
    from bayespool.stored import StoredResults, StoredScores, read_results, read_scores
    from bayespool.trec import (
        qrels_from_frame,
        read_organizations,
        read_qrels,
        read_run,
        read_runs,
        run_from_frame,
    )
    from bayespool.values import Values

__version__ = "0.1.0.dev0"

_HOME = {
    "UNJUDGED": "collection",
    "Budgets": "experiments",
    "Collection": "collection",
    "Comparison": "comparisons",
    "Completion": "posterior",
    "Estimates": "estimates",
    "Imputations": "imputing",
    "JudgeCheck": "checking",
    "LeaveOutResult": "experiments",
    "Measure": "measures",
    "ModelChecks": "checking",
    "NextJudgments": "judging",
    "Precision": "measures",
    "Predictor": "predictors",
    "Reversals": "comparisons",
    "Scores": "scores",
    "SimulationSettings": "simulation",
    "StoredResults": "stored",
    "StoredScores": "stored",
    "Values": "values",
    "budgets": "experiments",
    "build_collection": "collection",
    "check_judges": "checking",
    "check_models": "checking",
    "compare": "comparisons",
    "compare_engines": "checking",
    "complete": "posterior",
    "composition_effects": "counts",
    "condensed_counts": "counts",
    "describe_pool": "pool",
    "discover_pool": "pool",
    "fit_container": "checking",
    "held_out_counts": "counts",
    "impute": "imputing",
    "judge_next": "judging",
    "judgment_counts": "counts",
    "leave_out": "experiments",
    "load_example": "simulation",
    "parse_measure": "measures",
    "pyterrier_measure": "pyterrier",
    "qrels_from_frame": "trec",
    "read_collection": "loading",
    "read_organizations": "trec",
    "read_qrels": "trec",
    "read_results": "stored",
    "read_run": "trec",
    "read_runs": "trec",
    "read_scores": "stored",
    "register_estimator": "estimators",
    "register_measure": "measures",
    "register_model": "estimators",
    "register_predictor": "predictors",
    "reversals": "comparisons",
    "run_from_frame": "trec",
    "score": "scoring",
    "self_calibrate": "checking",
    "simulate": "simulation",
}

__all__ = [
    "UNJUDGED",
    "Budgets",
    "Collection",
    "Comparison",
    "Completion",
    "Estimates",
    "Imputations",
    "JudgeCheck",
    "LeaveOutResult",
    "Measure",
    "ModelChecks",
    "NextJudgments",
    "Precision",
    "Predictor",
    "Reversals",
    "Scores",
    "SimulationSettings",
    "StoredResults",
    "StoredScores",
    "Values",
    "budgets",
    "build_collection",
    "check_judges",
    "check_models",
    "compare",
    "compare_engines",
    "complete",
    "composition_effects",
    "condensed_counts",
    "describe_pool",
    "discover_pool",
    "fit_container",
    "held_out_counts",
    "impute",
    "judge_next",
    "judgment_counts",
    "leave_out",
    "load_example",
    "parse_measure",
    "pyterrier_measure",
    "qrels_from_frame",
    "read_collection",
    "read_organizations",
    "read_qrels",
    "read_results",
    "read_run",
    "read_runs",
    "read_scores",
    "register_estimator",
    "register_measure",
    "register_model",
    "register_predictor",
    "reversals",
    "run_from_frame",
    "score",
    "self_calibrate",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
