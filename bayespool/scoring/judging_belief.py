"""Variances of documents and of sums over them, updated by the best linear prediction from judgments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.scoring.judging_influence import Influence

FloatArray = npt.NDArray[np.float64]


class Belief:
    """Variances of sums of runs' means (``contrasts``, shape (sum, run)), as documents are judged one by one.

    ``variance``: of each sum, shape (sum,). ``covariance``: of sums with documents, shape (sum, document).
    ``own``: of each document, shape (document,), 0 once it is judged.
    """

    def __init__(self, influence: Influence, contrasts: FloatArray) -> None:
        centered = influence.expected - influence.expected.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._centered = centered / np.float32(np.sqrt(max(1, len(centered))))
        self._within = influence.within
        self._judged_rows: list[FloatArray] = []
        weight = contrasts @ influence.weight
        shared = (self._centered @ weight.T.astype(np.float32)).astype(np.float64)
        self.covariance = (self._centered.T @ shared.astype(np.float32)).T.astype(np.float64)
        self.covariance += weight * self._within
        self.variance = np.einsum("sd,sd->s", self.covariance, weight)
        self.own = self._within + (self._centered.astype(np.float64) ** 2).sum(axis=0)

    def gains(self, worth: FloatArray) -> FloatArray:
        """Worth of judging each document, shape (document,), given the worth of each sum's variance."""
        taken = np.einsum("s,sd,sd->d", worth, self.covariance, self.covariance, optimize=False)
        gains: FloatArray = np.divide(taken, self.own, out=np.zeros_like(taken), where=self.own > 0)
        return gains

    def judge(self, document: int) -> None:
        """Judge a document, which updates the variances; one that is judged already changes nothing."""
        own = self.own[document]
        if own <= 0:
            return
        row = (self._centered.T @ self._centered[:, document]).astype(np.float64)
        row[document] += self._within[document]
        for row_of_judged in self._judged_rows:
            row -= row_of_judged[document] * row_of_judged
        row /= np.sqrt(own)
        self._judged_rows.append(row)
        share = self.covariance[:, document] / np.sqrt(own)
        self.covariance -= share[:, None] * row
        self.variance = np.maximum(self.variance - share**2, 0)
        self.own = np.maximum(self.own - row**2, 0)
        self.own[document] = 0
        self.covariance[:, document] = 0
