"""Goals of judging: intervals of runs, the order of two runs, or the ranking of several."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError, known_names
from bayespool.measures import Values

Goal = Literal["interval", "comparison", "ranking"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Target:
    """Quantities that judgments are to reduce, one per sum of runs' means (``contrasts``, shape (sum, run)).

    ``mean``: expectations, shape (sum,). ``now``: widths of intervals, or chances that the sign of a
    difference is wrong, shape (sum,). ``names``: label of each.
    """

    goal: Goal
    contrasts: FloatArray
    mean: FloatArray
    now: FloatArray
    names: tuple[str, ...]

    def left_open(self, before: FloatArray, left: FloatArray) -> FloatArray:
        """Part of `now` expected to be left when variances fall from ``before`` to ``left``, shape (sum,)."""
        if self.goal == "interval":
            at_first, later = np.sqrt(before), np.sqrt(left)
        else:
            at_first = chance_of_wrong_order(self.mean, before, before)
            later = chance_of_wrong_order(self.mean, before, left)
        share = np.divide(later, at_first, out=np.ones_like(later), where=at_first > 0)
        return np.asarray(self.now * np.minimum(share, 1))

    def criterion(self, until: float | None = None) -> str:
        """Name of the quantity `total`."""
        if self.goal != "interval":
            return {"comparison": "", "ranking": "mean "}[self.goal] + "chance of a wrong order"
        if len(self.names) == 1:
            return "width of the interval"
        return "mean width of the intervals" if until is None else "widest interval"

    def total(self, single: FloatArray, until: float | None = None) -> float:
        """Mean of the sums' quantities, shape (sum,); the widest interval if ``until`` is given."""
        if not len(single):
            return 0.0
        return float(single.max() if self.goal == "interval" and until is not None else single.mean())

    def worth(self, before: FloatArray, left: FloatArray, until: float | None) -> FloatArray:
        """Worth of each sum's variance, shape (sum,); 0 for narrow intervals while others exceed
        ``until``.
        """
        still_open = np.where(left > 0, self.left_open(before, left), 0.0)
        if self.goal == "interval" and until is not None and (wide := still_open > until).any():
            still_open = np.where(wide, still_open, 0.0)
        return np.divide(still_open, left, out=np.zeros_like(left), where=left > 0)


def check_goal(goal: Goal, n_runs: int) -> None:
    """Raise `InputError` for an unknown goal, or one that does not apply to this number of runs."""
    if goal not in get_args(Goal):
        raise InputError(f"no goal {goal!r}", hint=known_names(goal, get_args(Goal)))
    if goal == "comparison" and n_runs != 2:
        which = "one run" if n_runs == 1 else f"{n_runs} runs"
        raise InputError(f"a comparison of {which}", hint="name two, or ask for their ranking")
    if goal == "ranking" and n_runs < 2:
        raise InputError("a ranking of one run", hint="name two or more")


def find_target(goal: Goal, run_ids: tuple[str, ...], values: Values, ci_prob: float) -> Target:
    """Quantities to reduce under a goal, from values of shape (draw, run, topic)."""
    check_goal(goal, len(run_ids))
    n_runs, means = len(run_ids), values.means()
    if goal == "interval":
        low, high = values.interval(ci_prob)
        return Target(goal, np.eye(n_runs), means.mean(axis=0), high - low, run_ids)
    pairs = list(combinations(range(n_runs), 2))
    contrasts = np.zeros((len(pairs), n_runs))
    wrong = np.zeros(len(pairs))
    totals = values.totals()
    for row, (a, b) in enumerate(pairs):
        contrasts[row, a], contrasts[row, b] = 1, -1
        greater = float((totals[:, a] > totals[:, b]).mean())
        smaller = float((totals[:, a] < totals[:, b]).mean())
        equal = 1 - greater - smaller
        wrong[row] = min(greater, smaller) + equal / 2 if equal < 1 else 0.0
    names = tuple(f"{run_ids[a]} − {run_ids[b]}" for a, b in pairs)
    return Target(goal, contrasts, contrasts @ means.mean(axis=0), wrong, names)


def chance_of_wrong_order(mean: FloatArray, variance: FloatArray, left: FloatArray) -> FloatArray:
    """Chance that the sign of a difference changes with more judgments, shape (sum,), by Owen's T.

    The expectation of Φ(−|m|/√left) over m ~ N(mean, variance − left) is 2 T(mean/√variance, √(left/known))
    with known = variance − left.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(1)
    >>> chance_of_wrong_order(one, one, one).round(4).tolist()
    [0.1587]
    >>> chance_of_wrong_order(one, one, 0 * one).tolist()
    [0.0]
    """
    from scipy.special import owens_t

    known = np.maximum(variance - left, 0)
    ratio = np.divide(left, known, out=np.where(left > 0, np.inf, 0.0), where=known > 0)
    scale = np.sqrt(variance)
    z = np.divide(mean, scale, out=np.full_like(scale, np.inf), where=scale > 0)
    wrong: FloatArray = 2 * owens_t(np.abs(z), np.sqrt(ratio))
    return wrong
