"""Average precision inferred from a sample of the judgments: statAP, infAP and xinfAP."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IntArray

StateArray = npt.NDArray[np.int8]

RELEVANT, NONRELEVANT, NOT_JUDGED, NOT_POOLED = 1, 0, -1, -2
"""States of a rank: judged either way, in the pool but not in the sample, outside the pool or no document."""

_EPSILON = 1e-5


def sampled_states(
    document: IntArray, relevant: BoolArray, judged: BoolArray, pooled: BoolArray
) -> StateArray:
    """State of each rank (`RELEVANT`, …), shape (..., rank), by masks of documents, shape (document,)."""
    # a judged document is pooled; document number −1 is none
    state = np.where(pooled, NOT_JUDGED, NOT_POOLED)
    state = np.where(judged, np.where(relevant, RELEVANT, NONRELEVANT), state)
    return np.append(state, NOT_POOLED)[document].astype(np.int8)


def sampled_ap(
    state: StateArray,
    inclusion: FloatArray,
    n_relevant: float | FloatArray,
    *,
    stratum: IntArray | None = None,
    pair_weight: FloatArray | None = None,
) -> FloatArray:
    """Average precision weighted by inclusion (statAP; Aslam & Pavlu 2007), shape (...)."""
    # Average precision is the sum of x(i) x(j) / i over all ranks j ≤ i, divided by the number of relevant
    # documents, ``n_relevant``, which is the sum of 1 / inclusion over those judged relevant. A pair with j <
    # i is divided by its joint probability, one with j = i by the inclusion of i. The sum is unbiased, the
    # quotient nearly so for large samples; it is 0 without a relevant document and may exceed 1. Documents
    # count as judged independently, unless ``pair_weight``, of shape (stratum,), has the product of two
    # inclusions of a stratum over their joint one, n (N − 1) / (N (n − 1)) for n of N.
    hit = state == RELEVANT
    weight = np.where(hit, 1.0 / np.where(hit, inclusion, 1.0), 0.0)
    above = np.cumsum(weight, axis=-1) - weight
    if stratum is not None and pair_weight is not None:
        for h, of_pair in enumerate(pair_weight):
            inside = np.where(stratum == h, weight, 0.0)
            above += np.where(stratum == h, (of_pair - 1) * (np.cumsum(inside, axis=-1) - inside), 0.0)
    rank = np.arange(1, state.shape[-1] + 1)
    return _quotient((weight * (1.0 + above) / rank).sum(axis=-1), n_relevant)


def infer_ap(state: StateArray, n_relevant: int | IntArray) -> FloatArray:
    """Average precision of a uniform sample (infAP; Yilmaz & Aslam 2006), as in trec_eval, shape (...)."""
    # The mean over ``n_relevant`` judged relevant documents of the topic of the precision expected at their
    # rank k, 1/k + (pooled / k) (relevant + ε) / (relevant + not relevant + 2 ε), with counts of ranks above
    # k and ε = 10⁻⁵; 0 without a relevant document.
    hit, judged, pooled = state == RELEVANT, state >= NONRELEVANT, state > NOT_POOLED
    share = (_above(hit) + _EPSILON) / (_above(judged) + 2 * _EPSILON)
    rank = np.arange(1, state.shape[-1] + 1)
    precision = (1.0 + _above(pooled) * share) / rank
    return _quotient(np.where(hit, precision, 0.0).sum(axis=-1), n_relevant)


def infer_stratified_ap(
    state: StateArray,
    stratum: IntArray,
    n_pooled: npt.NDArray[np.integer],
    n_judged: npt.NDArray[np.integer],
    n_relevant: npt.NDArray[np.integer],
) -> FloatArray:
    """Average precision of a stratified sample (xinfAP; Yilmaz, Kanoulas & Aslam 2008), shape (...)."""
    # The mean over strata of the mean precision expected at their relevant documents, weighted by the
    # estimated number of relevant documents, n_pooled · n_relevant / n_judged; counts have the shape
    # (stratum,). The precision expected at rank k is 1/k + Σ (pooled / k) (relevant + ε) / (judged + 3 ε)
    # over strata, with counts of ranks above k and ε = 10⁻⁵. A stratum without a judgment is left out. Where
    # more documents are relevant than a run may hold, NIST's sample_eval divides by the length of the run
    # instead.
    hit, judged, pooled = state == RELEVANT, state >= NONRELEVANT, state > NOT_POOLED
    rank = np.arange(1, state.shape[-1] + 1)
    expected = np.ones(state.shape)
    for h in range(len(n_pooled)):
        inside = stratum == h
        share = (_above(hit & inside) + _EPSILON) / (_above(judged & inside) + 3 * _EPSILON)
        expected += _above(pooled & inside) * share
    precision = np.where(hit, expected / rank, 0.0)
    rate = n_pooled / np.maximum(n_judged, 1)
    total = np.zeros(state.shape[:-1])
    for h in range(len(n_pooled)):
        total += rate[h] * np.where(stratum == h, precision, 0.0).sum(axis=-1)
    return _quotient(total, float((rate * n_relevant).sum()))


def _above(of_rank: BoolArray) -> npt.NDArray[np.int64]:
    """Count of the ranks above each one, shape (..., rank)."""
    return np.cumsum(of_rank, axis=-1) - of_rank


def _quotient(total: FloatArray, n: float | npt.NDArray[np.integer] | FloatArray) -> FloatArray:
    """Quotient, 0 where the divisor is 0."""
    is_defined = np.asarray(n) > 0
    return np.where(is_defined, total / np.where(is_defined, n, 1), 0.0)
