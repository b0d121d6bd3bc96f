"""Base classes of pooling strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.collection import IntArray
from bayespool.pooling.retrieved import Retrieved

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Strategy(ABC):
    """A rule for choosing documents to judge; a frozen settings object, one for each registered name.

    The choice for a budget of n documents is the first n of those for a larger one.

    Attributes
    ----------
    name : str
        The registered name.
    is_adaptive : bool
        Whether earlier judgments affect the order.
    """

    name: ClassVar[str]
    is_adaptive: ClassVar[bool] = False

    @property
    def needs_scores(self) -> bool:
        """Whether it reads the scores of the runs."""
        return False

    @property
    def needs_budget(self) -> bool:
        """Whether it needs a budget, having no `size` of its own."""
        return type(self).size is Strategy.size

    def size(self, topic: Retrieved) -> int | None:
        """Number of documents of a topic to judge without a budget; None if the strategy needs one."""
        return None

    @abstractmethod
    def order(self, topic: Retrieved, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """The first ``n`` documents in the order of judging.

        Parameters
        ----------
        topic : Retrieved
        relevant : ndarray of bool, shape (document,)
            The assessor's answer for each document, to be read only for judged ones; False without a
            judgment.
        n : int
            From 0 up to the number of documents.
        rng : numpy.random.Generator
            Of the topic, with the same seed in each call.

        Returns
        -------
        ndarray of int32, shape (n,)
            Distinct numbers of documents.
        """


class FixedOrder(Strategy):
    """A strategy that orders documents by a value of each, before anything is judged.

    Of equal values the smaller best rank goes first, then the smaller lot.

    Attributes
    ----------
    topics_compare : bool
        Whether values compare across topics, so that a budget can go to the largest of all.
    """

    topics_compare: ClassVar[bool] = False

    @abstractmethod
    def value(self, topic: Retrieved) -> FloatArray:
        """Value of each document, the largest judged first, shape (document,)."""

    def values_in_order(self, topic: Retrieved) -> tuple[FloatArray, IntArray]:
        """Values, the largest first, and their documents, two arrays of shape (document,)."""
        value = self.value(topic)
        order = topic.by_best_rank
        order = order[np.argsort(-value[order], kind="stable")]
        return value[order], order

    def order(self, topic: Retrieved, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """The ``n`` documents of the largest values."""
        return self.values_in_order(topic)[1][:n]


class Adaptive(Strategy):
    """A strategy that learns from each judgment."""

    is_adaptive = True
