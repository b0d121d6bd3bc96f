"""Order of pairs of runs on several measures at once, over joint draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.comparisons.draws import Scope, population_draws
from bayespool.errors import InputError
from bayespool.measures import Estimates, Measure

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]

_DECIMALS = 12
_MAX_CELLS_HELD = 1 << 22  # numbers


@dataclass(frozen=True, eq=False)
class Agreement:
    """Pairs of runs on several measures over draws; the row's run against the column's.

    Attributes
    ----------
    n_draws : int
    n_greater : ndarray of int64, shape (run, run)
        Draws in which the row's value is greater on every measure.
    n_disagree : ndarray of int64, shape (run, run)
        Draws in which it is greater on a measure and lower on another.
    """

    n_draws: int
    n_greater: CountArray
    n_disagree: CountArray

    @property
    def prob_all_greater(self) -> FloatArray:
        """Share of draws in which the row's value is greater on every measure, shape (run, run)."""
        return self.n_greater / self.n_draws

    @property
    def prob_disagree(self) -> FloatArray:
        """Share of draws in which measures disagree on the order, shape (run, run)."""
        return self.n_disagree / self.n_draws

    @property
    def prob_tied(self) -> FloatArray:
        """Share of draws with a tie on a measure and no two measures that disagree, shape (run, run)."""
        n_untied = self.n_greater + self.n_greater.T + self.n_disagree
        return (self.n_draws - n_untied) / self.n_draws


def agree_on_draws(values: Sequence[npt.NDArray[Any]]) -> Agreement:
    """Compare all pairs of runs on several measures over joint draws.

    Parameters
    ----------
    values : sequence of ndarray of int or float, each of shape (draw, run)
        By measure: totals over topics, or `bayespool.comparisons.population_draws`. Draws of the same number
        have to come from the same completed judgments.

    Returns
    -------
    Agreement

    Raises
    ------
    InputError
        Measures have different numbers of draws or runs.

    Examples
    --------
    In the first draw run a is ahead on both measures, in the second on the first one alone, in the third they
    tie on the second one:

    >>> precision, recall = np.array([[3, 2], [3, 2], [3, 2]]), np.array([[0.5, 0.2], [0.1, 0.2], [0.2, 0.2]])
    >>> agreement = agree_on_draws([precision, recall])
    >>> int(agreement.n_greater[0, 1]), int(agreement.n_disagree[0, 1])
    (1, 1)
    >>> round(float(agreement.prob_tied[0, 1]), 3)
    0.333
    """
    if not values or len({group.shape for group in values}) != 1:
        raise InputError("statements across measures need as many draws of the same runs of each measure")
    n_draws, n_runs = values[0].shape
    first, second = np.triu_indices(n_runs, 1)
    n_greater, n_disagree = (np.zeros((n_runs, n_runs), dtype=np.int64) for _ in range(2))
    step = max(1, _MAX_CELLS_HELD // n_draws)
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        above = below = np.ones((n_draws, len(a)), dtype=bool)
        once_above = once_below = np.zeros((n_draws, len(a)), dtype=bool)
        for group in values:
            difference = group[:, a] - group[:, b]
            if difference.dtype.kind == "f":
                difference = np.round(difference, _DECIMALS)
            above, below = above & (difference > 0), below & (difference < 0)
            once_above, once_below = once_above | (difference > 0), once_below | (difference < 0)
        n_greater[a, b], n_greater[b, a] = above.sum(axis=0), below.sum(axis=0)
        n_disagree[a, b] = n_disagree[b, a] = (once_above & once_below).sum(axis=0)
    return Agreement(n_draws, n_greater, n_disagree)


def compare_across(estimates: Sequence[Estimates], scope: Scope, *, random_seed: int = 1) -> Agreement:
    """Compare runs by a group of `with_shared_draws`; for a population, measures share the sample of
    topics.
    """
    drawn = [e.draws for e in estimates if e.draws is not None]
    if scope == "these-topics":
        return agree_on_draws([draws.totals() for draws in drawn])
    return agree_on_draws([population_draws(draws.amount, random_seed=random_seed) for draws in drawn])


def with_shared_draws(estimates: Sequence[Estimates]) -> list[list[Estimates]]:
    """Groups of two or more estimates of one method that share their completed judgments, draw by draw.

    A measure without uncertainty is in every group; one of the judgments, or that falls (AntiP), in none.
    """
    compared = [e for e in estimates if e.draws is not None and is_compared_across(e.measure)]
    fixed = [e for e in compared if _is_fixed(e)]
    groups: list[list[Estimates]] = []
    for e in (e for e in compared if e.fits and not _is_fixed(e)):
        mine = [group for group in groups if _same_fits(group[0], e)]
        if mine:
            mine[0].append(e)
        else:
            groups.append([e])
    groups = groups or [[]]
    order = {id(e): place for place, e in enumerate(estimates)}
    together = [sorted([*group, *fixed], key=lambda e: order[id(e)]) for group in groups]
    same_length = [group for group in together if len({len(e.draws.amount) for e in group if e.draws}) == 1]
    return [group for group in same_length if len(group) > 1]


def is_compared_across(measure: Measure) -> bool:
    """Whether the measure is of rankings, and higher values are better."""
    return measure.rises and not measure.of_judgments


def _is_fixed(e: Estimates) -> bool:
    """Whether all draws have the same values, because everything is judged."""
    assert e.draws is not None
    return not e.fits and bool((e.draws.amount == e.draws.amount[:1]).all())


def _same_fits(estimates: Estimates, other: Estimates) -> bool:
    """Whether two estimates come from draws of the very same fits."""
    return estimates.fits.keys() == other.fits.keys() and all(
        estimates.fits[k] is other.fits[k] for k in estimates.fits
    )
