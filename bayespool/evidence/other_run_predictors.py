"""Predictors from the ranks of a document in the pooled runs of other organizations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.evidence.context import DocumentContext
from bayespool.evidence.predictor import Predictor

FloatArray = npt.NDArray[np.float64]


def _support(documents: DocumentContext) -> FloatArray:
    others = documents.among_others
    return others.n_retrieving / others.n_runs


def _log_best_rank(documents: DocumentContext) -> FloatArray:
    log_best_rank: FloatArray = np.log(documents.among_others.best_rank)
    return log_best_rank


def _fusion(documents: DocumentContext) -> FloatArray:
    others = documents.among_others
    fusion: FloatArray = np.log1p(10 * others.fusion / others.n_runs)
    return fusion


SUPPORT: Predictor = Predictor(
    name="support",
    description="share of the pooled runs of other organizations that retrieve the document at any depth",
    per="document",
    compute=_support,
    slope=(0.0, 1.0),
)
LOG_BEST_RANK: Predictor = Predictor(
    name="log_best_rank",
    description="log of the best rank among them; twice the longest ranking of a pooled run where none does",
    per="document",
    compute=_log_best_rank,
    slope=(-0.5, 0.3),
)
FUSION: Predictor = Predictor(
    name="fusion",
    description=r"$\log\bigl(1 + 10 \cdot \text{mean of precision}/\log_2(1 + \text{rank})\bigr)$ over them, "
    "0 for a run that does not retrieve it; the precision is that of what the run contributed to the pool on "
    "the topic, to rank 30 at most",
    per="document",
    compute=_fusion,
    slope=(4.0, 3.0),
)
