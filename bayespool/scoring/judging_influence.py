"""Influence of documents on the values of runs, and what a judgment of each would tell."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, OrderArray
from bayespool.errors import InputError
from bayespool.measures import Additive, Measure, Normalized, Values
from bayespool.names import Goal as Goal
from bayespool.posterior import Completion
from bayespool.posterior.drawing import CELLS

MAX_DOCUMENTS = 5000
"""Maximum number of documents considered, chosen by largest share in the variance."""
_MAX_DOCUMENTS_ON_TOPIC = 300  # for a measure that is no sum
_ROUNDING = 1e-9  # of widths and chances


@dataclass(frozen=True, eq=False)
class Influence:
    """Linear approximation of runs' mean scores: expectation + Σ ``weight`` × (worth − expected worth).

    Exact for a sum of gains, otherwise the best such approximation over the draws. ``document``: positions
    among the unknowns, shape (document,). ``weight``: shape (run, document). ``expected``: worth in each draw
    of the parameters, shape (draw, document). ``within``: variance of the worth given the parameters, shape
    (document,).
    """

    document: OrderArray
    weight: FloatArray
    expected: npt.NDArray[np.float32]
    within: FloatArray

    def __len__(self) -> int:
        return len(self.document)

    def chance(self, documents: OrderArray) -> FloatArray:
        """Return the expected worth of documents given as indices among the unknowns, shape (document,)."""
        expected = self.expected[:, np.searchsorted(self.document, documents)]
        return np.asarray(expected.mean(axis=0, dtype=np.float64))


def worth_of_levels(measure: Measure, levels: tuple[int, ...]) -> FloatArray:
    """Return a document's worth at each relevance level, from 0 to 1, shape (level,).

    Worth is the change of the measure by the document alone.

    Examples
    --------
    >>> from bayespool import parse_measure
    >>> worth_of_levels(parse_measure("nDCG@10"), (0, 1, 2)).tolist()
    [0.0, 0.5, 1.0]
    >>> worth_of_levels(parse_measure("P(rel=2)@10"), (0, 1, 2)).tolist()
    [0.0, 0.0, 1.0]
    >>> worth_of_levels(parse_measure("AntiP@10"), (0, 1)).tolist()
    [0.0, 1.0]
    """
    amounts = np.asarray(measure.amounts(np.array(levels)[:, None]), dtype=float)
    moved = np.abs(amounts - amounts[0])
    worth: FloatArray = moved / (moved.max() or 1.0)
    return worth


def find_influence(completion: Completion, measure: Measure, values: Values) -> Influence:
    """Return the influence of up to `MAX_DOCUMENTS` documents on scores of shape (draw, run, topic)."""
    unknowns = completion.unknowns
    worth = worth_of_levels(measure, completion.levels)
    is_sum = isinstance(measure, Additive) and not isinstance(measure, Normalized)
    empty = Influence(
        document=np.zeros(0, dtype=np.intp),
        weight=np.zeros((len(unknowns.run_ids), 0)),
        expected=np.zeros((completion.n_draws, 0), dtype=np.float32),
        within=np.zeros(0),
    )
    parts = [empty]
    for t in np.flatnonzero(np.diff(unknowns.start)).tolist():
        if is_sum:
            weight = _weights_of_sum(measure, worth, completion, t)
        else:
            drawn = worth.astype(np.float32)[completion.block(t)]
            weight = _fitted_weights(drawn, values.amount[:, :, t] / values.unit)
        parts.append(_influence_on_topic(completion, t, worth, weight / values.n_topics))
        if sum(map(len, parts)) > 2 * MAX_DOCUMENTS:
            parts = [_largest(parts)]
    return _largest(parts)


def _weights_of_sum(measure: Measure, worth: FloatArray, completion: Completion, topic: int) -> FloatArray:
    """Return the change in each run's score per unit of a document's worth, shape (run, document)."""
    assert isinstance(measure, Additive)  # for the type checker
    unknowns = completion.unknowns
    run, rank, unknown = unknowns.places_on(topic)
    gains = np.asarray(measure.gains(np.array(completion.levels)), dtype=float)
    unit = (gains[int(np.argmax(worth))] - gains[0]) / measure.unit
    by_rank = np.asarray(measure.weights(), dtype=float)
    documents = unknowns.on_topic(topic)
    weights = np.zeros((len(unknowns.run_ids), documents.stop - documents.start))
    shallow = rank < len(by_rank)
    weights[run[shallow], unknown[shallow]] = by_rank[rank[shallow]] * unit
    return weights


def _fitted_weights(drawn: npt.NDArray[np.float32], values: FloatArray) -> FloatArray:
    """Fit least-squares coefficients of scores (draw, run) on worth (draw, document), shape (run, document).

    ``drawn`` is changed in place; only the documents that vary most with the values have coefficients.
    """
    drawn -= drawn.mean(axis=0, dtype=np.float64).astype(np.float32)
    y = values - values.mean(axis=0)
    weights = np.zeros((y.shape[1], drawn.shape[1]))
    variance = np.einsum("dn,dn->n", drawn, drawn).astype(np.float64)
    varying = np.flatnonzero(variance > 0)
    if len(varying) > _MAX_DOCUMENTS_ON_TOPIC:
        together = (drawn.T @ y.astype(np.float32)).astype(np.float64)
        share = (together**2).sum(axis=1)[varying] / variance[varying]
        varying = np.sort(varying[np.argsort(-share, kind="stable")[:_MAX_DOCUMENTS_ON_TOPIC]])
    x = drawn[:, varying].astype(np.float64)
    gram = x.T @ x
    gram[np.diag_indices_from(gram)] += 1e-6 * variance[varying] + 1e-9
    weights[:, varying] = np.linalg.solve(gram, x.T @ y).T
    return weights


def _influence_on_topic(
    completion: Completion, topic: int, worth: FloatArray, weight: FloatArray
) -> Influence:
    """Return the influence of a topic's documents, leaving out those without any."""
    near = np.flatnonzero((np.abs(weight) > 1e-12).any(axis=0))
    n_draws = completion.n_draws
    expected, within = np.empty((n_draws, len(near)), dtype=np.float32), np.zeros(len(near))
    step = max(1, CELLS // weight.shape[1])
    for first in range(0, n_draws, step):
        draws = slice(first, first + step)
        mean, variance = completion.expected(topic, worth, draws)
        expected[draws] = mean[:, near]
        within += variance[:, near].sum(axis=0)
    within /= n_draws
    open_ = within > 1e-12
    start = completion.unknowns.start[topic]
    return Influence(
        (start + near[open_]).astype(np.intp), weight[:, near[open_]], expected[:, open_], within[open_]
    )


def _largest(parts: list[Influence]) -> Influence:
    """Combine parts and return the influence of the documents with the largest shares in the variance."""
    names = [each.name for each in dataclasses.fields(Influence)]
    influence = Influence(*(np.concatenate([getattr(p, name) for p in parts], axis=-1) for name in names))
    if len(influence) <= MAX_DOCUMENTS:
        return influence
    between = influence.expected.var(axis=0, dtype=np.float64)
    share = (influence.weight**2).sum(axis=0) * (influence.within + between)
    largest = np.sort(np.argsort(-share, kind="stable")[:MAX_DOCUMENTS])
    return Influence(*(getattr(influence, name)[..., largest] for name in names))


class Belief:
    """Variances for sums of runs' means, updated as documents are judged one at a time. ``contrasts`` has the
    coefficients of the sums, shape (sum, run).

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
        """Return the gain from judging each document, given the worth of each sum's variance, shape
        (document,).
        """
        taken = np.einsum("s,sd,sd->d", worth, self.covariance, self.covariance, optimize=False)
        gains: FloatArray = np.divide(taken, self.own, out=np.zeros_like(taken), where=self.own > 0)
        return gains

    def judge(self, document: int) -> None:
        """Update the variances for judging a document (no effect if it is already judged)."""
        document_variance = self.own[document]
        if document_variance <= 0:
            return
        row = (self._centered.T @ self._centered[:, document]).astype(np.float64)
        row[document] += self._within[document]
        for row_of_judged in self._judged_rows:
            row -= row_of_judged[document] * row_of_judged
        row /= np.sqrt(document_variance)
        self._judged_rows.append(row)
        share = self.covariance[:, document] / np.sqrt(document_variance)
        self.covariance -= share[:, None] * row
        self.variance = np.maximum(self.variance - share**2, 0)
        self.own = np.maximum(self.own - row**2, 0)
        self.own[document] = 0
        self.covariance[:, document] = 0


@dataclass(frozen=True, eq=False)
class Target:
    """Quantities that judgments should reduce, one per sum of runs' means. ``contrasts`` has the coefficients
    of the sums, shape (sum, run).

    ``mean``: expectations, shape (sum,). ``now``: widths of intervals, or probabilities that the sign of a
    difference is wrong, shape (sum,). ``names``: label of each.
    """

    goal: Goal
    contrasts: FloatArray
    mean: FloatArray
    now: FloatArray
    names: tuple[str, ...]

    def remaining_part(self, before: FloatArray, remaining: FloatArray) -> FloatArray:
        """Return the part of `now` that remains when variances fall from ``before`` to ``remaining``."""
        if self.goal == "interval":
            at_first, later = np.sqrt(before), np.sqrt(remaining)
        else:
            at_first = chance_of_wrong_order(self.mean, before, before)
            later = chance_of_wrong_order(self.mean, before, remaining)
        share = np.divide(later, at_first, out=np.ones_like(later), where=at_first > 0)
        return np.asarray(self.now * np.minimum(share, 1))

    def is_reached(self, single: FloatArray, until: float | None) -> bool:
        """Return whether the overall quantity is at most ``until``, but for rounding."""
        return until is not None and self.total(single, until) <= until + _ROUNDING

    def criterion(self, until: float | None = None) -> str:
        """Return the name of the quantity `total`."""
        if self.goal != "interval":
            return "mean " * (self.goal == "ranking") + "probability of a wrong order"
        if len(self.names) == 1:
            return "width of the interval"
        return "mean width of the intervals" if until is None else "widest interval"

    def total(self, single: FloatArray, until: float | None = None) -> float:
        """Return the overall quantity to reduce: mean over sums, or widest interval if ``until`` is set.

        The widest interval if ``until`` is given.
        """
        if not len(single):
            return 0.0
        return float(single.max() if self.goal == "interval" and until is not None else single.mean())

    def worth(self, before: FloatArray, remaining: FloatArray, until: float | None) -> FloatArray:
        """Return the weight of each sum's variance, shape (sum,), 0 for intervals already narrow enough. None
        counts as narrow enough unless another exceeds ``until``.
        """
        still_open = np.where(remaining > 0, self.remaining_part(before, remaining), 0.0)
        if self.goal == "interval" and until is not None and (wide := still_open > until + _ROUNDING).any():
            still_open = np.where(wide, still_open, 0.0)
        return np.divide(still_open, remaining, out=np.zeros_like(remaining), where=remaining > 0)


def check_goal(goal: Goal, n_runs: int) -> None:
    """Raise `InputError` for a goal unsuitable for this number of runs."""
    if goal == "comparison" and n_runs != 2:
        which = "one run" if n_runs == 1 else f"{n_runs} runs"
        raise InputError(f"a comparison of {which}", hint="name two, or ask for their ranking")
    if goal == "ranking" and n_runs < 2:
        raise InputError("a ranking of one run", hint="name two or more")


def find_target(goal: Goal, run_ids: tuple[str, ...], values: Values, ci_prob: float) -> Target:
    """Return the quantities to reduce for a goal, given scores of shape (draw, run, topic)."""
    n_runs, means = len(run_ids), values.means()
    if goal == "interval":
        low, high = values.interval(ci_prob)
        return Target(goal, np.eye(n_runs), means.mean(axis=0), high - low, run_ids)
    first, second = np.triu_indices(n_runs, 1)
    contrasts, totals = np.eye(n_runs)[first] - np.eye(n_runs)[second], values.totals()
    greater = (totals[:, first] > totals[:, second]).mean(axis=0)
    smaller = (totals[:, first] < totals[:, second]).mean(axis=0)
    equal = 1 - greater - smaller
    wrong = np.where(equal < 1, np.minimum(greater, smaller) + equal / 2, 0.0)
    names = tuple(f"{run_ids[a]} − {run_ids[b]}" for a, b in zip(first, second, strict=True))
    return Target(goal, contrasts, contrasts @ means.mean(axis=0), wrong, names)


def chance_of_wrong_order(mean: FloatArray, variance: FloatArray, remaining: FloatArray) -> FloatArray:
    """Return the probability that further judgments change a difference's sign, using Owen's T.

    The expectation of Φ(−|m|/√remaining) over m ~ N(mean, variance − remaining) is
    2 T(mean/√variance, √(remaining/removed)) with removed = variance − remaining.

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

    removed = np.maximum(variance - remaining, 0)
    ratio = np.divide(remaining, removed, out=np.where(remaining > 0, np.inf, 0.0), where=removed > 0)
    scale = np.sqrt(variance)
    z = np.divide(mean, scale, out=np.full_like(scale, np.inf), where=scale > 0)
    wrong: FloatArray = 2 * owens_t(np.abs(z), np.sqrt(ratio))
    return wrong
