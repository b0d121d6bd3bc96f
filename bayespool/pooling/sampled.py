"""Average precision inferred from a sample of the judgments: statAP, infAP, xinfAP."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.collection import IntArray
from bayespool.pooling.strategy import BoolArray, FloatArray

StateArray = npt.NDArray[np.int8]

RELEVANT, NONRELEVANT, NOT_JUDGED, NOT_POOLED = 1, 0, -1, -2
"""What is known of a rank: judged either way, in the pool but not in the sample, outside the pool or no
document."""

_EPSILON = 1e-5


def sampled_states(
    document: IntArray, relevant: BoolArray, judged: BoolArray, pooled: BoolArray
) -> StateArray:
    """What is known of the document at each rank.

    Parameters
    ----------
    document : ndarray of int32, shape (..., rank)
        Numbers of documents, −1 where a run has ended.
    relevant, judged, pooled : ndarray of bool, shape (document,)
        ``relevant`` matters only for judged documents. A judged document is pooled.

    Returns
    -------
    ndarray of int8, shape (..., rank)
        `RELEVANT`, `NONRELEVANT`, `NOT_JUDGED` or `NOT_POOLED`.

    Examples
    --------
    >>> yes, no = True, False
    >>> relevant, judged, pooled = np.array([[yes, yes, no, no], [yes, no, yes, no], [yes, yes, yes, no]])
    >>> sampled_states(np.array([0, 1, 2, 3, -1]), relevant, judged, pooled).tolist()
    [1, -1, 0, -2, -2]
    """
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
    """Average precision, in which judged relevant documents and pairs count by their inclusion (statAP).

    Parameters
    ----------
    state : ndarray of int8, shape (..., rank)
        From `sampled_states`. Ranks that are not there are not relevant.
    inclusion : ndarray of float, shape (..., rank)
        The probability with which the document at each rank was judged; it matters only for relevant ones.
    n_relevant : float or ndarray of float, shape (...)
        Relevant documents of the topic: the sum of 1 / inclusion over those judged relevant.
    stratum : ndarray of int32, shape (..., rank), optional
        Number of each document's stratum from 0; it matters only for relevant ones. By default the function
        takes documents to be judged independently, which is a good approximation for large samples.
    pair_weight : ndarray of float, shape (stratum,), optional
        By how much more a pair of one stratum counts than two independent documents: the product of two
        inclusions over their joint one, n (N − 1) / (N (n − 1)) for n of N. Needed with ``stratum``.

    Returns
    -------
    ndarray of float, shape (...)
        0 where there is no relevant document. A value above 1 is possible.

    Notes
    -----
    Average precision is the sum of x(i) x(j) / i over all ranks j ≤ i, divided by the number of relevant
    documents R. A pair with j < i is divided by its joint probability, one with j = i by the inclusion of i.
    The sum is unbiased. The quotient with an estimated R is not, but nearly so for large samples.

    References
    ----------
    Aslam & Pavlu: A practical sampling strategy for efficient retrieval evaluation. Technical report,
    Northeastern University, 2007.

    Examples
    --------
    Relevant at 1 and 3, each judged with probability ½: (2 · 1 + 2 · (1 + 2) / 3) / 4.

    >>> sampled_ap(np.array([1, -1, 1]), np.full(3, 0.5), 4).item()
    1.0
    """
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
    """Inferred average precision of a uniform sample (infAP), as trec_eval computes it.

    Parameters
    ----------
    state : ndarray of int8, shape (..., rank)
        From `sampled_states`.
    n_relevant : int or ndarray of int, shape (...)
        Documents of the topic that were judged relevant, retrieved or not.

    Returns
    -------
    ndarray of float, shape (...)
        0 where there is no relevant document.

    Notes
    -----
    It is the mean over judged relevant documents of the precision expected at their rank k,
    1/k + (pooled / k) (relevant + ε) / (relevant + not relevant + 2 ε), where all counts are of ranks above k
    and ε is 10⁻⁵.

    References
    ----------
    Yilmaz & Aslam: Estimating average precision with incomplete and imperfect judgments. CIKM 2006.

    Examples
    --------
    >>> infer_ap(np.array([1, -1, 0, 1]), 2).round(3).item()
    0.812
    """
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
    """Inferred average precision of a stratified sample (xinfAP), as NIST's sample_eval computes it.

    Parameters
    ----------
    state : ndarray of int8, shape (..., rank)
        From `sampled_states`.
    stratum : ndarray of int32, shape (..., rank)
        Number of each document's stratum from 0. It matters only for pooled documents.
    n_pooled, n_judged, n_relevant : ndarray of int, shape (stratum,)
        Documents of each of the topic's strata, retrieved or not: all, judged, judged relevant.

    Returns
    -------
    ndarray of float, shape (...)
        0 where there is no relevant document.

    Notes
    -----
    It is the mean over strata of the mean precision expected at their relevant documents, weighted by the
    relevant documents estimated of a stratum, n_pooled · n_relevant / n_judged. The precision expected at
    rank k is 1/k + Σ (pooled / k) (relevant + ε) / (judged + 3 ε) over strata, where counts are of ranks
    above k and ε is 10⁻⁵. A stratum of which nothing was judged is left out. Where more documents
    are relevant than a run may hold, sample_eval divides by the length of the run instead; this does not.

    References
    ----------
    Yilmaz, Kanoulas & Aslam: A simple and efficient sampling method for estimating AP and NDCG. SIGIR 2008.
    """
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
    """How many of the ranks above each one, shape (..., rank)."""
    above: npt.NDArray[np.int64] = np.cumsum(of_rank, axis=-1) - of_rank
    return above


def _quotient(total: FloatArray, n: float | npt.NDArray[np.integer] | FloatArray) -> FloatArray:
    """Quotient, 0 where it would be by 0."""
    there = np.asarray(n) > 0
    found: FloatArray = np.where(there, total / np.where(there, n, 1), 0.0)
    return found
