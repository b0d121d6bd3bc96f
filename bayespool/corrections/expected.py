"""Expected amounts of rankings whose documents are relevant with independent chances."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.measures import ERR, Additive, AveragePrecision, Measure, ReciprocalRank, Success

FloatArray = npt.NDArray[np.float64]


def gains_of_levels(measure: Measure, levels: npt.NDArray[Any]) -> FloatArray | None:
    """Gain of a document of each level, of the shape of ``levels``; None unless the measure is a sum of gains
    or a function of chances.

    Examples
    --------
    >>> from bayespool.measures import NDCG
    >>> levels = np.array([0, 1, 3])
    >>> gains_of_levels(NDCG(10), levels).tolist(), gains_of_levels(Success(5), levels).tolist()
    ([0.0, 1.0, 3.0], [0.0, 1.0, 1.0])
    """
    if isinstance(measure, Additive):
        return np.asarray(measure.gains(levels), dtype=np.float64)
    if isinstance(measure, AveragePrecision | ReciprocalRank | Success | ERR):
        # of a ranking of one document: whether it is relevant, or whether a reader stops there
        return np.asarray(measure.amounts(levels[..., None]), dtype=np.float64)
    return None


def expected_amounts(measure: Measure, gains: FloatArray) -> FloatArray:
    """Expected amounts, shape (...), from expected gains of documents down to the cutoff, shape (..., rank).

    For all but sums of gains these are independent chances. With chances q, the expected sum of precisions is
    Σ q_i/i (1 + Σ_{j<i} q_j), the expected reciprocal rank Σ q_i/i Π_{j<i} (1 − q_j), and the chance of
    success 1 − Π (1 − q_i).

    Examples
    --------
    >>> gains = np.array([0.5, 1.0])
    >>> expected_amounts(AveragePrecision(2), gains).tolist()
    1.25
    >>> expected_amounts(ReciprocalRank(2), gains).tolist(), expected_amounts(Success(2), gains).tolist()
    (0.75, 1.0)
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
    """Amounts of rankings, shape (...), in which ``opened`` documents have expected gains; ``level`` is that
    of `bayespool.evidence.ideals.ranked_levels`. Exactly the measure's amount where no gain is expected.

    Examples
    --------
    >>> level, half = np.array([1, -1]), np.array([0.5, 0.5])
    >>> level = np.array([0, -1])
    >>> amounts_with_expected(Success(2), level, level < 0, np.array([0.0, 0.5])).tolist()
    0.5
    """
    read = measure.read(level)
    base = np.asarray(measure.amounts(read), dtype=np.float64)
    if isinstance(measure, Additive):
        more = np.where(opened, gain * measure.weights()[: level.shape[-1]], 0.0)
        return np.asarray(base + more.sum(axis=-1))
    known = gains_of_levels(measure, read)
    if known is None:
        raise ValueError(f"{measure} has no gains")
    return np.where(opened.any(axis=-1), expected_amounts(measure, np.where(opened, gain, known)), base)
