"""Predictors from the run that retrieved a document: the document's rank, and the run's judged precision."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.evidence.context import DocumentContext
from bayespool.evidence.predictor import Predictor

FloatArray = npt.NDArray[np.float64]

_HALF_WEIGHT_DISTANCE = 5.0  # ranks to a judged neighbor that counts half


def _log_odds(n: npt.NDArray[np.int64], n_other: npt.NDArray[np.int64]) -> FloatArray:
    """Log odds of one kind against another, each count plus ½."""
    odds: FloatArray = np.log((n + 0.5) / (n_other + 0.5))
    return odds


def _log_rank(documents: DocumentContext) -> FloatArray:
    log_rank: FloatArray = np.log(documents.rank)
    return log_rank


def _precision(documents: DocumentContext) -> FloatArray:
    return _log_odds(documents.top_relevant, documents.top_nonrelevant)[documents.row, documents.topic]


def _run_precision(documents: DocumentContext) -> FloatArray:
    of_run = _log_odds(documents.top_relevant.sum(axis=1), documents.top_nonrelevant.sum(axis=1))
    return of_run[documents.row]


def _local_precision(documents: DocumentContext) -> FloatArray:
    """Logit of judged precision around each rank, the run's precision over all topics being one more
    neighbor, shape (document,).
    """
    # all ranks of ``state`` are summed: a matrix product of another shape may round its sums in another order
    relevant, nonrelevant = documents.relevant, documents.nonrelevant
    ranks = np.arange(relevant.shape[2])
    nearness = 1 / (1 + np.abs(ranks[:, None] - ranks) / _HALF_WEIGHT_DISTANCE)
    n_relevant, n_nonrelevant = relevant.sum(axis=(1, 2)), nonrelevant.sum(axis=(1, 2))
    of_run = ((n_relevant + 0.5) / (n_relevant + n_nonrelevant + 1))[documents.row]
    place = documents.row, documents.topic, documents.rank - 1
    near_relevant, near_nonrelevant = (relevant @ nearness)[place], (nonrelevant @ nearness)[place]
    local: FloatArray = np.log((near_relevant + of_run) / (near_nonrelevant + 1 - of_run))
    return local


def _run_unjudged(documents: DocumentContext) -> FloatArray:
    return _log_odds(documents.top_unjudged.sum(axis=1), documents.top_judged.sum(axis=1))[documents.row]


LOG_RANK: Predictor = Predictor(
    name="log_rank",
    description="log of the document's rank in the run",
    per="document",
    compute=_log_rank,
    slope=(-0.1, 0.2),
)
PRECISION: Predictor = Predictor(
    name="precision",
    description="log odds of relevant and nonrelevant judged documents (each plus ½) of the run on the "
    "topic, in the top 10 to 30, as deep as the pool",
    per="ranking",
    compute=_precision,
    slope=(0.2, 0.3),
)
RUN_PRECISION: Predictor = Predictor(
    name="run_precision",
    description="`precision` with the documents of all topics of the run summed",
    per="ranking",
    compute=_run_precision,
    slope=(0.9, 0.5),
)
LOCAL_PRECISION: Predictor = Predictor(
    name="local_precision",
    description="log odds of relevant and nonrelevant judged documents of the run around the document, down "
    "to rank 100, or the cutoff if that is deeper: a neighbor $d$ ranks away weighs $1/(1 + d/5)$, and the "
    "run's precision over all topics counts as one more neighbor",
    per="document",
    compute=_local_precision,
    slope=(0.8, 0.4),
)
RUN_UNJUDGED: Predictor = Predictor(
    name="run_unjudged",
    description="log odds of a document in the run's top 10 to 30 being unjudged, over all topics: how far "
    "the run is from the pool",
    per="ranking",
    compute=_run_unjudged,
    slope=(0.2, 0.15),
)
