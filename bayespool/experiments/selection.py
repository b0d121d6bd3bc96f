"""Whether documents were judged because they are relevant, given what was predicted of each.

Two things make the judged documents more relevant than the unjudged ones: who judged looked where relevant
documents were to be expected, and who judged knew more than the predictors. Only the second spoils what is
predicted of the documents left unjudged. So the two are told apart: among documents of the same predicted
chance, being judged and being relevant are a table of two by two. Its margins are the share of these
documents that were judged and their chance, its odds ratio is the same for all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_STRATA = 10
_PRIOR_SD = 2.0  # of the log odds ratio: 95 % of it within a factor of 50
_FURTHEST = 10.0
_STEPS = 25


class Selection(NamedTuple):
    """How judging depended on relevance, draw by draw.

    Attributes
    ----------
    log_odds_ratio : ndarray of float, shape (draw,)
        Of being judged, relevant documents against nonrelevant ones of the same predicted chance.
    shift : ndarray of float, shape (draw,)
        How far the log odds of the documents left unjudged are off for that reason; NaN where none is left.
    """

    log_odds_ratio: FloatArray
    shift: FloatArray


def find_selection(
    log_odds: FloatArray,
    is_judged: npt.NDArray[np.bool_],
    is_relevant: npt.NDArray[np.bool_],
    rng: np.random.Generator,
) -> Selection:
    """How judging depended on relevance beyond what was predicted.

    Parameters
    ----------
    log_odds : ndarray of float, shape (draw, document)
        Predicted for all documents, judged or not, without the judgments: draws of a posterior.
    is_judged, is_relevant : ndarray of bool, shape (document,)
        What is relevant matters where it is judged.
    rng : numpy.random.Generator
        For what the judgments leave open in each draw.

    Returns
    -------
    Selection

    Notes
    -----
    Assumed is that the predictions hold for judged and unjudged documents together. Documents are put into
    ten strata by their mean predicted chance p, in which a share π is judged; draws of π are of the Bayesian
    bootstrap. The odds ratio exp(δ) and the margins p and π make the chance P(judged and relevant), so that
    of a judged document to be relevant and of an unjudged one. In each draw δ is fitted to the judgments by
    maximum likelihood, held near 0 by a prior of N(0, 2²), and moved by what they leave open,
    N(0, 1/information). The shift is the one number that
    makes the unjudged documents' predictions add up to what δ says of them. Where judging depends on the
    predicted chance alone, both are 0, however much it does.

    Examples
    --------
    100 documents of a chance of .8 were judged, 80 are relevant; 100 of a chance of .2 were not.

    >>> import numpy as np
    >>> log_odds = np.log([[4.0] * 100 + [0.25] * 100])
    >>> document = np.arange(200)
    >>> found = find_selection(log_odds, document < 100, document < 80, np.random.default_rng(1))
    >>> float(abs(found.shift[0])) < 1e-9
    True
    """
    chance = 1 / (1 + np.exp(-log_odds))
    share = _share_judged(chance, is_judged, rng)
    told, rest = is_judged, ~is_judged
    ratio = _fit(chance[:, told], share[:, told], is_relevant[told], rng)
    if not rest.any():
        return Selection(ratio, np.full(len(log_odds), np.nan))
    p, judged = chance[:, rest], share[:, rest]
    left = (p - judged_and_relevant(p, judged, ratio[:, None])) / (1 - judged)
    return Selection(ratio, _shift(log_odds[:, rest], left.sum(axis=1)))


def judged_and_relevant(chance: Any, share: Any, log_odds_ratio: Any) -> FloatArray:
    """Chance that a document is both judged and relevant, from those of either and their log odds ratio.

    Examples
    --------
    >>> judged_and_relevant(0.2, 0.3, 0.0).round(4).tolist()  # by itself
    0.06
    >>> judged_and_relevant(0.5, 0.5, np.log(9)).round(4).tolist()  # .375 · .375 / (.125 · .125) is 9
    0.375
    """
    ratio = np.exp(np.asarray(log_odds_ratio, dtype=float))
    more = ratio - 1
    total = 1 + (np.asarray(chance, dtype=float) + share) * more
    root = np.sqrt(np.maximum(total**2 - 4 * ratio * more * chance * share, 0))
    both: FloatArray = 2 * ratio * chance * share / (total + root)  # stable where the ratio is near 1
    return both


def _share_judged(
    chance: FloatArray, is_judged: npt.NDArray[np.bool_], rng: np.random.Generator
) -> FloatArray:
    """The share judged among documents of about each document's mean chance, shape (draw, document), as the
    Bayesian bootstrap draws it: all or none where all or none are judged.
    """
    mean = chance.mean(axis=0)
    ends = np.unique(np.quantile(mean, np.arange(1, _STRATA) / _STRATA, method="inverted_cdf"))
    stratum = np.searchsorted(ends, mean)
    judged, left = (
        rng.standard_gamma(np.bincount(stratum, mask, len(ends) + 1), (len(chance), len(ends) + 1))
        for mask in (is_judged, ~is_judged)
    )
    both = judged + left
    drawn = np.divide(judged, both, out=np.zeros_like(both), where=both > 0)
    share: FloatArray = drawn[:, stratum]
    return share


def _fit(
    chance: FloatArray, share: FloatArray, is_relevant: npt.NDArray[np.bool_], rng: np.random.Generator
) -> FloatArray:
    """The log odds ratio in each draw, by Fisher scoring, with a draw of what is left open of it."""
    ratio = np.zeros(len(chance))
    information = np.full(len(chance), _PRIOR_SD**-2)
    for _ in range(_STEPS):
        both = judged_and_relevant(chance, share, ratio[:, None])
        q = np.clip(both / share, 1e-12, 1 - 1e-12)
        cells = np.stack([both, chance - both, share - both, 1 - chance - share + both])
        slope = 1 / (1 / np.maximum(cells, 1e-12)).sum(axis=0) / share
        weight = slope / (q * (1 - q))
        score = (weight * (is_relevant - q)).sum(axis=1) - ratio / _PRIOR_SD**2
        information = (weight * slope).sum(axis=1) + _PRIOR_SD**-2
        step = np.clip(score / information, -1, 1)
        ratio = np.clip(ratio + step, -_FURTHEST, _FURTHEST)
        if np.abs(step).max() < 1e-6:
            break
    moved: FloatArray = ratio + rng.standard_normal(len(ratio)) / np.sqrt(information)
    return moved


def _shift(log_odds: FloatArray, total: FloatArray) -> FloatArray:
    """What is to be added to log odds, shape (draw, document), so that their chances have a sum."""
    low, high = np.full(len(log_odds), -_FURTHEST), np.full(len(log_odds), _FURTHEST)
    for _ in range(40):
        middle = (low + high) / 2
        too_much = (1 / (1 + np.exp(-(log_odds + middle[:, None])))).sum(axis=1) > total
        low, high = np.where(too_much, low, middle), np.where(too_much, middle, high)
    found: FloatArray = (low + high) / 2
    return found
