"""Expected amounts of rankings whose documents are relevant with independent chances."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import relevance_levels, tally_of
from bayespool.measures import ERR, Additive, AveragePrecision, Measure, Normalized, ReciprocalRank, Success


def gains_of_levels(measure: Measure, levels: npt.NDArray[Any]) -> FloatArray | None:
    """Gains of documents of levels, same shape; None unless the measure has gains or chances."""
    if isinstance(measure, Additive):
        return np.asarray(measure.gains(levels), dtype=np.float64)
    if isinstance(measure, AveragePrecision | ReciprocalRank | Success | ERR):
        # of a ranking of one document: whether it is relevant, or whether a reader stops there
        return np.asarray(measure.amounts(levels[..., None]), dtype=np.float64)
    return None


def expected_amounts(measure: Measure, gains: FloatArray) -> FloatArray:
    """Expected amounts, shape (...), from expected gains of documents, shape (..., rank).

    For all but sums of gains these are independent chances. With chances q, the expected sum of precisions is
    Σ q_i/i (1 + Σ_{j<i} q_j), the expected reciprocal rank Σ q_i/i Π_{j<i} (1 − q_j), and the chance of
    success 1 − Π (1 − q_i).
    """
    rank = np.arange(1, gains.shape[-1] + 1)
    if isinstance(measure, Additive):
        return np.asarray(gains @ measure.weights()[: gains.shape[-1]])
    if isinstance(measure, AveragePrecision):
        return np.asarray((gains / rank * (1 + gains.cumsum(axis=-1) - gains)).sum(axis=-1))
    if isinstance(measure, Success):
        return np.asarray(1 - np.prod(1 - gains, axis=-1))
    first = gains.copy()
    first[..., 1:] *= np.cumprod(1 - gains, axis=-1)[..., :-1]
    return np.asarray((first / rank).sum(axis=-1))


def amounts_with_expected(
    measure: Measure, level: npt.NDArray[Any], opened: npt.NDArray[np.bool_], gain: FloatArray
) -> FloatArray:
    """Amounts, shape (...), where ``opened`` documents have expected gains; others of shape (..., rank)."""
    read = measure.read(level)
    base = np.asarray(measure.amounts(read), dtype=np.float64)
    if isinstance(measure, Additive):
        more = np.where(opened, gain * measure.weights()[: level.shape[-1]], 0.0)
        return np.asarray(base + more.sum(axis=-1))
    known = gains_of_levels(measure, read)
    if known is None:
        raise ValueError(f"{measure} has no gains")
    return np.where(opened.any(axis=-1), expected_amounts(measure, np.where(opened, gain, known)), base)


def values_of_expected(collection: Collection, bounds: Bounds, amounts: FloatArray) -> FloatArray:
    """Values of amounts over the ideal of the judged documents, within the bounds of completed judgments."""
    measure = bounds.measure
    tally = tally_of(collection, relevance_levels(collection, measure))
    values: FloatArray = measure.normalize(amounts, tally) / measure.unit
    if isinstance(measure, Normalized):
        values = np.clip(values, bounds.least.scores(), bounds.most.scores())
    return values
