"""Scores of runs on topics, with their totals, means and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.tables.formatting import counted
from bayespool.tables.markup import ReprHTMLMixin, one_line

_DECIMALS = 12  # of sums of floats, so that equal judgments give equal numbers
_MOST_SORTED = 2**22  # numbers that are sorted at a time
_GRID = 2**20  # steps per 1 for float amounts whose squares have to be exact


@dataclass(frozen=True, eq=False, repr=False)
class Values(ReprHTMLMixin):
    """Scores by run and topic, stored as unscaled amounts and a unit to divide by.

    An amount over the unit is the value on a topic. P@n counts relevant documents, its unit is n: amounts are
    whole numbers, so that a truth at the end of an interval is inside it.

    Parameters
    ----------
    amount : ndarray of int32 or float, shape (..., run, topic)
        Axes before the last two are draws.
    unit : int, default 1

    Raises
    ------
    InputError
        The amounts are no array of numbers by run and topic, or the unit is not a positive whole number.

    Examples
    --------
    >>> two_topics = Values(np.array([[3, 4]], dtype=np.int32), 10)
    >>> two_topics.means().tolist(), two_topics.scores().tolist()
    ([0.35], [[0.3, 0.4]])
    """

    amount: AnyArray
    unit: int = 1

    def __post_init__(self) -> None:
        amount: Any = self.amount
        if not isinstance(amount, np.ndarray) or amount.ndim < 2 or amount.dtype.kind not in "iuf":
            raise InputError("amounts are not an array of numbers by run and topic")
        if not self.unit >= 1 or int(self.unit) != self.unit:
            raise InputError(f"unit {self.unit!r} is not a whole number of 1 or more")

    def __repr__(self) -> str:
        *draws, n_runs, n_topics = self.amount.shape
        of = f"{' × '.join(map(str, draws))} draws of " if draws else ""
        return one_line(
            "Values",
            f"{of}{counted(n_runs, 'run')} on {counted(n_topics, 'topic')}, amounts of 1/{self.unit}",
        )

    @property
    def is_exact(self) -> bool:
        """Whether the stored amounts are whole numbers."""
        return bool(self.amount.dtype.kind in "iu")

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return int(self.amount.shape[-1])

    def scores(self) -> FloatArray:
        """Return the score on each topic, shape (..., run, topic)."""
        return self.amount / self.unit

    def totals(self) -> AnyArray:
        """Return unscaled scores summed over topics, (..., run): int64, or floats with twelve decimals."""
        if self.is_exact:
            return np.asarray(self.amount.sum(axis=-1, dtype=np.int64))
        return np.asarray(np.round(self.amount.sum(axis=-1), _DECIMALS))

    def per_mean(self, n_topics: Any = None) -> Any:
        """Return the divisor that turns a total into a mean over topics, shape (run,) or a number."""
        return self.unit * (self.n_topics if n_topics is None else n_topics)

    def means(self, n_topics: Any = None) -> FloatArray:
        """Return the mean score over topics, shape (..., run).

        Parameters
        ----------
        n_topics : int or ndarray of int, shape (run,), optional
            Topics of the mean, if not all: the amounts on the others have to be 0.
        """
        return np.asarray(self.totals() / self.per_mean(n_topics))

    def interval(self, ci_prob: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the equal-tailed interval for each run's mean, two arrays of shape (run,)."""
        low, high = equal_tailed_interval(self.totals(), ci_prob)
        return low / self.per_mean(), high / self.per_mean()

    def share_at(self, means: FloatArray) -> FloatArray:
        """Return the share of draws in which each run has the given mean score, shape (run,)."""
        return np.asarray((self.means() == means).mean(axis=0))

    def topic_interval(self, ci_prob: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Return interval ends per run and topic, two arrays of shape (run, topic)."""
        low, high = equal_tailed_interval(self.amount, ci_prob)
        return low / self.unit, high / self.unit

    def expected(self) -> FloatArray:
        """Return the posterior mean of each run's mean score, shape (run,)."""
        return np.asarray(self.totals().mean(axis=0) / self.per_mean())

    def std(self) -> FloatArray:
        """Return the posterior standard deviation of each run's mean score, shape (run,)."""
        return np.asarray(self.totals().std(axis=0) / self.per_mean())

    def on_topics(self) -> FloatArray:
        """Return the posterior mean score on each topic, shape (run, topic)."""
        return np.asarray(self.amount.mean(axis=0) / self.unit)

    def on_grid(self) -> AnyArray:
        """Return unscaled scores on a grid where squares and products sum without rounding error."""
        return self.amount if self.is_exact else np.round(self.amount * _GRID)


def equal_tailed_interval(draws: AnyArray, ci_prob: float | None = None) -> tuple[AnyArray, AnyArray]:
    """Return the ends of the equal-tailed interval over the first axis, two arrays of shape (...).

    Both ends are values of draws.

    Parameters
    ----------
    draws : ndarray, shape (draw, ...)
    ci_prob : float in (0, 1), optional
        At least this share of the draws lies inside, ends included, and at most (1 − ci_prob)/2 on either
        side; by default that of `bayespool.rcParams`.

    Examples
    --------
    >>> lower, upper = equal_tailed_interval(np.arange(101), 0.9)
    >>> int(lower), int(upper)
    (5, 95)
    """
    ci_prob = fill_ci_prob(ci_prob)
    tail, every = int(np.floor((1 - ci_prob) / 2 * len(draws) + 1e-9)), draws.reshape(len(draws), -1)
    ends, step = np.empty((2, every.shape[1]), dtype=draws.dtype), max(1, _MOST_SORTED // len(draws))
    for first in range(0, every.shape[1], step):
        ordered = np.sort(every[:, first : first + step], axis=0)
        ends[:, first : first + step] = ordered[tail], ordered[len(ordered) - 1 - tail]
    lower, upper = ends.reshape(2, *draws.shape[1:])
    return lower, upper
