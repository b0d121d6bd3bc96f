"""The documents that an audit draws from, with what each contributes and what the posterior says of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.auditing.envelopes import Envelope, TopicOfRun, check_auditable, envelope
from bayespool.evidence.bounds import score_bounds
from bayespool.evidence.ideals import ranked_levels, reach_of_ideal, tally_of
from bayespool.measures import Measure, Normalized, Tally
from bayespool.posterior import Completion
from bayespool.scoring.judging_influence import worth_of_levels

_MAX_DRAWS = 1000  # of the posterior, for chances


@dataclass(frozen=True, eq=False)
class Urn:
    """The unjudged documents that a run's value, or the difference of two, depends on.

    Attributes
    ----------
    query_ids, doc_ids : tuple of str
        Topic and id of each document.
    low, high : ndarray of float, shape (document,)
        What a document of worth 1 adds to a sum below the value, and to one above it; the same under a
        measure that is a sum of gains.
    chance, spread : ndarray of float, shape (document,)
        Expected worth of each by the posterior, and its standard deviation.
    shared : ndarray of float, shape (document,)
        Change of the expected worth with a standard deviation of what all documents have in common.
    base_low, base_high : float
        The two sums with no unjudged document worth anything.
    least, most : float
        Bounds of the value over all completions.
    mean, std : float
        Of the value in the posterior.
    worth : tuple of float
        Worth of a document of each relevance from 0 up.
    """

    query_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    chance: FloatArray
    spread: FloatArray
    shared: FloatArray
    base_low: float
    base_high: float
    least: float
    most: float
    mean: float
    std: float
    worth: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.doc_ids)


def find_urn(completion: Completion, measure: Measure) -> Urn:
    """Urn of one run, or of the difference of two, the first less the second."""
    return find_urns(completion, measure, np.array([[1.0, -1.0]])[:, : len(completion.unknowns.run_ids)])[0]


def find_urns(completion: Completion, measure: Measure, signs: FloatArray) -> tuple[Urn, ...]:
    """Urns of several values, all of the documents that any of them depends on.

    ``signs``: of each run in each value, 0 for a run that has no part in it, shape (value, run).
    """
    check_auditable(measure)
    unknowns = completion.unknowns
    collection, n_values = unknowns.collection, len(signs)
    bounds = score_bounds(collection, unknowns.run_ids, measure, estimand=unknowns.estimand)
    least, most = bounds.least.means(), bounds.most.means()
    plus, minus = np.maximum(signs, 0), np.maximum(-signs, 0)
    means = completion.evaluate(measure)[0].means() @ signs.T
    worth = worth_of_levels(measure, completion.levels)
    draws = slice(None, None, -(-completion.n_draws // _MAX_DRAWS))
    ranked = ranked_levels(collection, unknowns.run_index, measure.cutoff)
    levels = np.maximum(measure.read(ranked), 0)
    tally = tally_of(collection, completion.levels)
    n_topics = len(collection.query_ids)
    chances, within = [], []
    low, high = np.zeros((n_values, len(unknowns))), np.zeros((n_values, len(unknowns)))
    base_low, base_high = np.zeros(n_values), np.zeros(n_values)
    for t in range(n_topics):
        documents = unknowns.on_topic(t)
        expected, variance = completion.expected(t, worth, draws)
        chances.append(expected.astype(np.float32))
        within.append(variance.mean(axis=0))
        tally_of_topic = Tally(tally.n[t : t + 1], tally.levels)
        for r in range(signs.shape[1]):
            sums = envelope(
                measure,
                _topic_of_run(completion, measure, t, r, levels[r, t], tally_of_topic, expected.mean(axis=0)),
            )
            for v in np.flatnonzero(signs[:, r]).tolist():
                of_value = sums if signs[v, r] > 0 else _turned(sums)
                base_low[v] += of_value.base_low / n_topics
                base_high[v] += of_value.base_high / n_topics
                low[v, documents] += of_value.low / n_topics
                high[v, documents] += of_value.high / n_topics
    open_ = np.flatnonzero(((np.abs(low) > 1e-15) | (np.abs(high) > 1e-15)).any(axis=0))
    low, high = low[:, open_], high[:, open_]
    chance = np.concatenate(chances, axis=1)[:, open_]
    centered = chance - chance.mean(axis=0)
    ids = [doc_id for t in range(n_topics) for doc_id in unknowns.doc_ids(t)]
    common = {
        "query_ids": tuple(collection.query_ids[t] for t in unknowns.topic[open_]),
        "doc_ids": tuple(ids[i] for i in open_),
        "chance": chance.mean(axis=0, dtype=np.float64),
        "spread": np.sqrt(np.concatenate(within)[open_] + chance.var(axis=0, dtype=np.float64)),
        "worth": tuple(worth_of_levels(measure, tuple(range(completion.levels[-1] + 1))).tolist()),
    }
    return tuple(
        Urn(
            low=low[v],
            high=high[v],
            shared=_shared(centered, (low[v] + high[v]) / 2),
            base_low=float(base_low[v]),
            base_high=float(base_high[v]),
            least=float(plus[v] @ least - minus[v] @ most),
            most=float(plus[v] @ most - minus[v] @ least),
            mean=float(means[:, v].mean()),
            std=float(means[:, v].std()),
            **common,
        )
        for v in range(n_values)
    )


def _shared(centered: npt.NDArray[np.float32], contribution: FloatArray) -> FloatArray:
    """Change of each chance with a standard deviation of the sum, from draws about their mean."""
    total = centered.astype(np.float64) @ contribution
    return np.asarray(
        centered.T.astype(np.float64) @ total / max(float(np.sqrt(total @ total * len(total))), 1e-300)
    )


def _topic_of_run(
    completion: Completion,
    measure: Measure,
    topic: int,
    run: int,
    levels: npt.NDArray[np.int16],
    tally: Tally,
    chance: FloatArray,
) -> TopicOfRun:
    """A run's ranking of a topic, with its unjudged documents."""
    unknowns = completion.unknowns
    of_run, rank, document = (a.astype(np.intp) for a in unknowns.places_on(topic))
    mine = of_run == run
    shallow = mine & (rank < measure.cutoff)
    within = np.zeros(0, dtype=np.intp)
    if isinstance(measure, Normalized) and measure.ideal != "judged":
        reached = rank < reach_of_ideal(unknowns.collection, measure)
        within = np.unique(document[reached if measure.ideal == "shared" else mine & reached])
    order = np.argsort(rank[shallow], kind="stable")
    return TopicOfRun(levels, document[shallow][order], rank[shallow][order], within, tally, chance)


def _turned(sums: Envelope) -> Envelope:
    """Envelope of the value with its sign turned."""
    return Envelope(-sums.base_high, -sums.base_low, -sums.high, -sums.low)
