"""Predictors from composing a run with the pooled runs (Lipani et al. 2015)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.evidence.context import DocumentContext
from bayespool.evidence.predictor import Predictor


def _delta_precision(documents: DocumentContext) -> npt.NDArray[np.float64]:
    return documents.composition[0]


def _delta_antiprecision(documents: DocumentContext) -> npt.NDArray[np.float64]:
    return documents.composition[1]


DELTA_PRECISION: Predictor = Predictor(
    name="delta_precision",
    description=r"$\Delta P$: what composing the run with the pooled runs, without those of its "
    "organization, does to their P@n on the topic",
    per="ranking",
    compute=_delta_precision,
)
DELTA_ANTIPRECISION: Predictor = Predictor(
    name="delta_antiprecision",
    description=r"$\Delta \bar P$: what it does to their anti-precision, the share of nonrelevant documents",
    per="ranking",
    compute=_delta_antiprecision,
)
