"""How the values of runs depend on single documents: what a judgment of each would tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.measures import Additive, Measure, Normalized, Values
from bayespool.posterior import Completion
from bayespool.posterior.amounts import CELLS

MOST_DOCUMENTS = 5000
"""Documents that are looked at, those with the largest share in the variance."""
_MOST_ON_TOPIC = 300  # of a measure that is no sum

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Influence:
    """Values of runs as sums over unjudged documents, and how these vary together.

    A run's mean is its expectation plus a sum over documents of ``weight`` × (worth − expected worth). For a
    sum of gains that is the measure itself, for any other measure the best such approximation over the draws.

    Attributes
    ----------
    document : ndarray of int, shape (document,)
        Positions among the completion's unknowns.
    weight : ndarray of float, shape (run, document)
        What one unit of a document's worth adds to the mean of each run.
    expected : ndarray of float32, shape (draw, document)
        Expected worth in each draw of the parameters.
    within : ndarray of float, shape (document,)
        Variance of the worth that is left when the parameters are known.
    """

    document: npt.NDArray[np.intp]
    weight: FloatArray
    expected: npt.NDArray[np.float32]
    within: FloatArray

    def __len__(self) -> int:
        return len(self.document)

    def chance(self, documents: npt.NDArray[np.intp]) -> FloatArray:
        """Expected worth of some of the documents, by position among the unknowns, shape (document,)."""
        expected = self.expected[:, np.searchsorted(self.document, documents)]
        return np.asarray(expected.mean(axis=0, dtype=np.float64))


def worth_of_levels(measure: Measure, levels: tuple[int, ...]) -> FloatArray:
    """What a document of each level is worth under a measure, from 0 to 1: what a ranking of it alone gets,
    or loses under a measure that falls.

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
    """How the means of the completion's runs depend on its unjudged documents.

    Parameters
    ----------
    completion : Completion
    measure : Measure
        One that the completion serves.
    values : Values, shape (draw, run, topic)
        What the completion says of it.

    Returns
    -------
    Influence
        Of at most `MOST_DOCUMENTS` documents, in the order of the unknowns.
    """
    unknowns = completion.unknowns
    worth = worth_of_levels(measure, completion.levels)
    is_sum = isinstance(measure, Additive) and not isinstance(measure, Normalized)
    found = Influence(
        document=np.zeros(0, dtype=np.intp),
        weight=np.zeros((len(unknowns.run_ids), 0)),
        expected=np.zeros((completion.n_draws, 0), dtype=np.float32),
        within=np.zeros(0),
    )
    parts = [found]
    for t in np.flatnonzero(np.diff(unknowns.start)).tolist():
        if is_sum:
            weight = _weights_of_sum(measure, worth, completion, t)
        else:
            drawn = worth.astype(np.float32)[completion.block(t)]
            weight = _fitted_weights(drawn, values.amount[:, :, t] / values.unit)
        parts.append(_of_topic(completion, t, worth, weight / values.n_topics))
        if sum(map(len, parts)) > 2 * MOST_DOCUMENTS:
            parts = [_largest(parts)]
    return _largest(parts)


def _weights_of_sum(measure: Measure, worth: FloatArray, completion: Completion, topic: int) -> FloatArray:
    """What a unit of worth of each of a topic's documents adds to each run, shape (run, document)."""
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
    """Coefficients of the best linear prediction of values, shape (draw, run), from the worth of documents,
    shape (draw, document); those of the documents that vary most with the values. ``drawn`` is changed.
    """
    drawn -= drawn.mean(axis=0, dtype=np.float64).astype(np.float32)
    y = values - values.mean(axis=0)
    weights = np.zeros((y.shape[1], drawn.shape[1]))
    variance = np.einsum("dn,dn->n", drawn, drawn).astype(np.float64)
    there = np.flatnonzero(variance > 0)
    if len(there) > _MOST_ON_TOPIC:
        together = (drawn.T @ y.astype(np.float32)).astype(np.float64)
        share = (together**2).sum(axis=1)[there] / variance[there]
        there = np.sort(there[np.argsort(-share, kind="stable")[:_MOST_ON_TOPIC]])
    x = drawn[:, there].astype(np.float64)
    gram = x.T @ x
    gram[np.diag_indices_from(gram)] += 1e-6 * variance[there] + 1e-9
    weights[:, there] = np.linalg.solve(gram, x.T @ y).T
    return weights


def _of_topic(completion: Completion, topic: int, worth: FloatArray, weight: FloatArray) -> Influence:
    """The influence of those of a topic's documents that have any."""
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
    """The documents of all parts, or those of them with the largest shares."""
    found = Influence(
        np.concatenate([part.document for part in parts]),
        np.concatenate([part.weight for part in parts], axis=1),
        np.concatenate([part.expected for part in parts], axis=1),
        np.concatenate([part.within for part in parts]),
    )
    if len(found) <= MOST_DOCUMENTS:
        return found
    between = found.expected.var(axis=0, dtype=np.float64)
    share = (found.weight**2).sum(axis=0) * (found.within + between)
    kept = np.sort(np.argsort(-share, kind="stable")[:MOST_DOCUMENTS])
    return Influence(found.document[kept], found.weight[:, kept], found.expected[:, kept], found.within[kept])
