"""How the values of runs hang on single documents: what a judgment of each would tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.measures import Additive, Measure, Normalised
from bayespool.posterior import Completion

__all__ = ["MOST_DOCUMENTS", "Influence", "find_influence", "worth_of_levels"]

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


def worth_of_levels(measure: Measure, levels: tuple[int, ...]) -> FloatArray:
    """What a document of each level is worth under a measure, from 0 to 1: what a ranking of it alone gets.

    Examples
    --------
    >>> from bayespool import parse_measure
    >>> worth_of_levels(parse_measure("nDCG@10"), (0, 1, 2)).tolist()
    [0.0, 0.5, 1.0]
    >>> worth_of_levels(parse_measure("P(rel=2)@10"), (0, 1, 2)).tolist()
    [0.0, 0.0, 1.0]
    """
    amounts = np.asarray(measure.amounts(np.array(levels)[:, None]), dtype=float)
    spread = np.ptp(amounts)
    worth: FloatArray = (amounts - amounts[0]) / (spread if spread > 0 else 1.0)
    return worth


def find_influence(completion: Completion, measure: Measure) -> Influence:
    """How the means of the completion's runs hang on its unjudged documents.

    Parameters
    ----------
    completion : Completion
    measure : Measure
        One that the completion serves.

    Returns
    -------
    Influence
        Of at most `MOST_DOCUMENTS` documents.
    """
    unknowns = completion.unknowns
    worth = worth_of_levels(measure, completion.levels)
    n_topics = len(unknowns.collection.query_ids)
    sum_ = measure if isinstance(measure, Additive) and not isinstance(measure, Normalised) else None
    values = completion.evaluate(measure)[0].scores() if sum_ is None else np.zeros(0)
    document, weight, expected, within = [], [], [], []
    for t in np.flatnonzero(np.diff(unknowns.start)).tolist():
        mean, variance = completion.expected(t, worth)
        of_topic, own = np.arange(mean.shape[1]), variance.mean(axis=0)
        if sum_ is not None:
            weights = _weights_of_sum(sum_, worth, completion, t)
        else:
            drawn = worth[completion.block(t)]
            weights = _fitted_weights(drawn, values[:, :, t])
        weights = weights / n_topics
        kept = (np.abs(weights) > 1e-12).any(axis=0) & (own > 1e-12)
        document.append(unknowns.start[t] + of_topic[kept])
        weight.append(weights[:, kept])
        expected.append(mean[:, kept].astype(np.float32))
        within.append(own[kept])
    n_runs = len(unknowns.run_ids)
    found = Influence(
        document=np.concatenate([np.zeros(0, dtype=np.intp), *document]).astype(np.intp),
        weight=np.concatenate([np.zeros((n_runs, 0)), *weight], axis=1),
        expected=np.concatenate([np.zeros((completion.n_draws, 0), dtype=np.float32), *expected], axis=1),
        within=np.concatenate([np.zeros(0), *within]),
    )
    return _largest(found)


def _weights_of_sum(measure: Additive, worth: FloatArray, completion: Completion, topic: int) -> FloatArray:
    """What a unit of worth of each of a topic's documents adds to each run, shape (run, document)."""
    unknowns = completion.unknowns
    run, rank, unknown = unknowns.places_on(topic)
    gains = np.asarray(measure.gains(np.array(completion.levels)), dtype=float)
    best = int(np.argmax(worth))
    unit = (gains[best] - gains[0]) / measure.unit
    by_rank = np.asarray(measure.weights(), dtype=float)
    documents = unknowns.on_topic(topic)
    weights = np.zeros((len(unknowns.run_ids), documents.stop - documents.start))
    shallow = rank < len(by_rank)
    np.add.at(weights, (run[shallow], unknown[shallow]), by_rank[rank[shallow]] * unit)
    return weights


def _fitted_weights(drawn: FloatArray, values: FloatArray) -> FloatArray:
    """Coefficients of the best linear prediction of values, shape (draw, run), from the worth of documents,
    shape (draw, document); those of the documents that vary most with the values.
    """
    x, y = drawn - drawn.mean(axis=0), values - values.mean(axis=0)
    weights = np.zeros((y.shape[1], x.shape[1]))
    variance = (x**2).sum(axis=0)
    there = np.flatnonzero(variance > 0)
    if len(there) > _MOST_ON_TOPIC:
        share = ((x.T @ y) ** 2).sum(axis=1)[there] / variance[there]
        there = np.sort(there[np.argsort(-share, kind="stable")[:_MOST_ON_TOPIC]])
    if not len(there):
        return weights
    x = x[:, there]
    gram = x.T @ x
    gram[np.diag_indices_from(gram)] += 1e-6 * variance[there] + 1e-9
    weights[:, there] = np.linalg.solve(gram, x.T @ y).T
    return weights


def _largest(found: Influence) -> Influence:
    if len(found) <= MOST_DOCUMENTS:
        return found
    share = (found.weight**2).sum(axis=0) * (found.within + found.expected.var(axis=0))
    kept = np.sort(np.argsort(-share, kind="stable")[:MOST_DOCUMENTS])
    return Influence(found.document[kept], found.weight[:, kept], found.expected[:, kept], found.within[kept])
