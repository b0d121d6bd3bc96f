"""Dependence of runs' values on single documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.measures import Additive, Measure, Normalized, Values
from bayespool.posterior import Completion
from bayespool.posterior.amounts import CELLS

MAX_DOCUMENTS = 5000
"""Documents that are considered, those with the largest share in the variance."""
_MAX_DOCUMENTS_ON_TOPIC = 300  # for a measure that is no sum

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Influence:
    """Runs' means as expectation plus a sum over documents of ``weight`` × (worth − expected worth).

    Exact for a sum of gains, otherwise the best such approximation over the draws. ``document``: positions
    among the unknowns, shape (document,). ``weight``: shape (run, document). ``expected``: worth in each draw
    of the parameters, shape (draw, document). ``within``: variance of the worth given the parameters, shape
    (document,).
    """

    document: npt.NDArray[np.intp]
    weight: FloatArray
    expected: npt.NDArray[np.float32]
    within: FloatArray

    def __len__(self) -> int:
        return len(self.document)

    def chance(self, documents: npt.NDArray[np.intp]) -> FloatArray:
        """Expected worth of documents given by position among the unknowns, shape (document,)."""
        expected = self.expected[:, np.searchsorted(self.document, documents)]
        return np.asarray(expected.mean(axis=0, dtype=np.float64))


def worth_of_levels(measure: Measure, levels: tuple[int, ...]) -> FloatArray:
    """Worth of a document of each level from 0 to 1, shape (level,): the change of the measure by it alone.

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
    """Influence of at most `MAX_DOCUMENTS` documents on values, shape (draw, run, topic)."""
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
    """Change of each run's value by a unit of worth of a topic's documents, shape (run, document)."""
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
    """Least-squares coefficients, shape (run, document), of values (draw, run) on worth (draw, document).

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
    """Influence of those of a topic's documents that have any."""
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
    """Influence of the documents of all parts with the largest shares in the variance."""
    influence = Influence(
        np.concatenate([part.document for part in parts]),
        np.concatenate([part.weight for part in parts], axis=1),
        np.concatenate([part.expected for part in parts], axis=1),
        np.concatenate([part.within for part in parts]),
    )
    if len(influence) <= MAX_DOCUMENTS:
        return influence
    between = influence.expected.var(axis=0, dtype=np.float64)
    share = (influence.weight**2).sum(axis=0) * (influence.within + between)
    kept = np.sort(np.argsort(-share, kind="stable")[:MAX_DOCUMENTS])
    return Influence(
        influence.document[kept],
        influence.weight[:, kept],
        influence.expected[:, kept],
        influence.within[kept],
    )
