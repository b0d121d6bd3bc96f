"""Registry of predictors by name."""

from __future__ import annotations

from bayespool.errors import InputError
from bayespool.evidence.composition_predictors import DELTA_ANTIPRECISION, DELTA_PRECISION
from bayespool.evidence.other_run_predictors import FUSION, LOG_BEST_RANK, SUPPORT
from bayespool.evidence.own_run_predictors import (
    LOCAL_PRECISION,
    LOG_RANK,
    PRECISION,
    RUN_PRECISION,
    RUN_UNJUDGED,
)
from bayespool.evidence.predictor import Predictor

PREDICTORS: dict[str, Predictor] = {}
"""Every registered predictor by name; their order is that of columns in tables and of slopes in models."""

COMPOSITION_PREDICTORS = (DELTA_PRECISION.name, DELTA_ANTIPRECISION.name)
"""Names of the predictors from composing the run with the pooled runs (Lipani et al. 2015)."""


def register_predictor(predictor: Predictor) -> None:
    """Register a predictor; the evidence model uses it if it has an expected slope.

    Raises
    ------
    InputError
        Another predictor has the name. ``del PREDICTORS[name]`` frees it.
    """
    if predictor.name in PREDICTORS:
        raise InputError(f"there is a predictor {predictor.name!r} already", hint="give it another name")
    PREDICTORS[predictor.name] = predictor


def evidence_predictors() -> tuple[str, ...]:
    """Names of the predictors of the evidence model: those with an expected slope."""
    return tuple(name for name, predictor in PREDICTORS.items() if predictor.slope is not None)


register_predictor(LOG_RANK)
register_predictor(PRECISION)
register_predictor(RUN_PRECISION)
register_predictor(SUPPORT)
register_predictor(LOG_BEST_RANK)
register_predictor(FUSION)
register_predictor(LOCAL_PRECISION)
register_predictor(RUN_UNJUDGED)
register_predictor(DELTA_PRECISION)
register_predictor(DELTA_ANTIPRECISION)
