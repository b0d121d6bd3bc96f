"""What is believed of documents and of sums over them, and how much of it is left open by each judgment.

Documents vary together: they share slopes, effects of topics and the effect of an organization. A judgment is
therefore news of the others, too. What is left of a variance is that of the best linear prediction from the
judgments, whatever they say: for a sum of gains of one document it is exact, for several it is what normal
variables would leave.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.scoring.judging_influence import Influence

FloatArray = npt.NDArray[np.float64]


class Belief:
    """Variances of some sums, as documents are judged one by one.

    Parameters
    ----------
    influence : Influence
    contrasts : ndarray of float, shape (sum, run)
        The sums: each a weighted sum of the runs' means, such as one mean, or one less another.

    Attributes
    ----------
    variance : ndarray of float, shape (sum,)
        What is left open of each.
    covariance : ndarray of float, shape (sum, document)
        Of each sum with each document.
    own : ndarray of float, shape (document,)
        Variance of each document; 0 once it is judged.
    """

    def __init__(self, influence: Influence, contrasts: FloatArray) -> None:
        centered = influence.expected - influence.expected.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._centered = centered / np.float32(np.sqrt(max(1, len(centered))))
        self._within = influence.within
        self._told: list[FloatArray] = []
        weight = contrasts @ influence.weight
        shared = (self._centered @ weight.T.astype(np.float32)).astype(np.float64)
        self.covariance = (self._centered.T @ shared.astype(np.float32)).T.astype(np.float64)
        self.covariance += weight * self._within
        self.variance = np.einsum("sd,sd->s", self.covariance, weight)
        self.own = self._within + (self._centered.astype(np.float64) ** 2).sum(axis=0)

    def gains(self, worth: FloatArray) -> FloatArray:
        """What a judgment of each document is worth, shape (document,): how much less of each sum's variance
        it leaves, times what a unit of that is worth, shape (sum,). 0 of a document that is judged.
        """
        taken = np.einsum("s,sd,sd->d", worth, self.covariance, self.covariance, optimize=False)
        gains: FloatArray = np.divide(taken, self.own, out=np.zeros_like(taken), where=self.own > 0)
        return gains

    def judge(self, document: int) -> None:
        """Judge a document, which updates the uncertainty of the others and of the sums. A document judged
        already changes nothing.
        """
        own = self.own[document]
        if own <= 0:
            return
        row = (self._centered.T @ self._centered[:, document]).astype(np.float64)
        row[document] += self._within[document]
        for told in self._told:
            row -= told[document] * told
        row /= np.sqrt(own)
        self._told.append(row)
        share = self.covariance[:, document] / np.sqrt(own)
        self.covariance -= share[:, None] * row
        self.variance = np.maximum(self.variance - share**2, 0)
        self.own = np.maximum(self.own - row**2, 0)
        self.own[document] = 0
        self.covariance[:, document] = 0
