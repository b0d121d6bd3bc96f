"""Variance of a score by another assessor: the part of the unjudged documents and that of the assessor."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray

_MOST_PAIRS = 400


def exchanged_pairs(n_draws: int) -> npt.NDArray[np.int64]:
    """Draws that exchange their completed judgments, in pairs at random, shape (pair, 2).

    No draw is in two pairs, and the same number of draws gives the same pairs, at most 400.
    """
    n_pairs = min(_MOST_PAIRS, n_draws // 2)
    return np.random.default_rng(1).permutation(n_draws)[: 2 * n_pairs].reshape(n_pairs, 2)


def unjudged_share(drawn: npt.NDArray[np.number], exchanged: npt.NDArray[np.number]) -> FloatArray:
    r"""Share of the variance of scores by another assessor that is due to unjudged documents.

    Parameters
    ----------
    drawn : ndarray, shape (draw, run)
        Scores by the assessor of each draw, of the completed judgments of the same draw.
    exchanged : ndarray, shape (pair, 2, run)
        Scores by the assessors of the draws of `exchanged_pairs`, each of the completed judgments of the
        other draw of its pair.

    Returns
    -------
    ndarray of float, shape (run,)
        From 0 to 1: exactly 0 where no exchange changes anything. NaN where nothing varies. The rest is due
        to the assessor.

    Notes
    -----
    The score :math:`f(C, A)` depends on a completion :math:`C` and on an assessor :math:`A`, who are
    independent. Its variance has two parts,

    .. math::

        \operatorname{Var}_C(\operatorname{E}[f \mid C]) + \operatorname{E}_C(\operatorname{Var}[f \mid C]).

    With :math:`f_{ij} = f(C_i, A_j)`, a pair of draws estimates them without bias by

    .. math::

        \tfrac12 (f_{11} - f_{21})(f_{12} - f_{22}) \quad \text{and} \quad
        \tfrac14 \left[(f_{11} - f_{12})^2 + (f_{22} - f_{21})^2\right].

    The share is the sum over pairs of the first, at least 0, over that of both. With normal scores, additive
    parts and :math:`n` pairs, its standard error is about :math:`2 s (1 - s) / \sqrt n`: 0.025 for a share
    of a half and 400 pairs, and up to two thirds more where completions have heavy tails.

    Examples
    --------
    A completion that adds 0 or 2, and assessors who add 0 or 1: variances 1 and 1/4.

    >>> rng = np.random.default_rng(1)
    >>> completion, assessor = rng.integers(0, 2, size=(2, 4000, 1)) * np.array([2, 1])[:, None, None]
    >>> pairs = exchanged_pairs(4000)
    >>> share = unjudged_share(completion + assessor, completion[pairs[:, ::-1]] + assessor[pairs])
    >>> round(float(share[0]), 1)
    0.8
    """
    pairs = exchanged_pairs(len(drawn))
    own, other = np.moveaxis(drawn[pairs], 1, 0), np.moveaxis(exchanged, 1, 0)  # each by first and second
    of_unjudged = ((own[0] - other[0]) * (other[1] - own[1])).sum(axis=0) / 2
    of_assessor = ((own[0] - other[1]) ** 2 + (own[1] - other[0]) ** 2).sum(axis=0) / 4
    of_unjudged = np.maximum(of_unjudged, 0.0)
    total = of_unjudged + of_assessor
    share = np.divide(of_unjudged, total, out=np.zeros(total.shape), where=total > 0)
    varies: npt.NDArray[np.bool_] = drawn.max(axis=0) > drawn.min(axis=0)
    return np.where(varies, share, np.nan)
