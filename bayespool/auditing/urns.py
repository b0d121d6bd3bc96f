"""The documents that an audit draws from, with what each contributes and what the posterior says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, LevelArray, OrderArray
from bayespool.errors import InputError
from bayespool.evidence.bounds import score_bounds
from bayespool.evidence.ideals import ideal_reach, judged_tally, ranked_levels
from bayespool.measures import Additive, Measure, Normalized, Tally, Values
from bayespool.measures.average_precision import AveragePrecision
from bayespool.measures.precision import ReciprocalRank
from bayespool.posterior import Completion
from bayespool.scoring.judging_influence import worth_of_levels


class TopicOfRun(NamedTuple):
    """Ranking from one run for a topic, with the unjudged documents that affect its value.

    ``levels``: relevance by rank down to the cutoff, 0 without a judgment. ``document``, ``rank``: the
    unjudged documents within the cutoff, as positions among the topic's, and their ranks from 0, ascending.
    ``within``: those of the ideal ranking, within the cutoff or not. ``tally``: judged documents of the ideal
    ranking, shape (1, level). ``chance``: expected worth of all unjudged documents of the topic.
    """

    levels: LevelArray
    document: OrderArray
    rank: OrderArray
    within: OrderArray
    tally: Tally
    chance: FloatArray


class Envelope(NamedTuple):
    """Lower and upper sums that bound a topic's value, each a base plus contributions per document.

    The contributions have the shape (document,). For a sum of gains the two are the same.
    """

    base_low: float
    base_high: float
    low: FloatArray
    high: FloatArray


def check_auditable(measure: Measure) -> None:
    """Raise `InputError` for a measure that cannot be audited."""
    is_sum = isinstance(measure, Additive) and measure.rises
    if not is_sum and not isinstance(measure, AveragePrecision | ReciprocalRank):
        raise InputError(
            f"{measure} cannot be audited",
            hint="P, DCG, SDCG, RBP, nDCG, AP, R and RR can, and your own sums",
        )


def envelope(measure: Measure, topic: TopicOfRun) -> Envelope:
    """Return sums that bound a topic's value from below and above for every completion of its judgments.

    Notes
    -----
    A sum of gains (P, DCG, SDCG, RBP) is its own envelope.

    A ratio is N(y)/I(y), with the worth y of the unjudged documents, of which k is the total. The ideal I
    rises with every relevant document, by at most δ for a worth of 1, what the first one adds. So 1/I is at
    least 1/(I₀ + δk), a convex function of k, which is at least its tangent where k is expected to be; and
    at least 1/I₁, with all documents relevant. The lower sum has N₀ times that tangent, and the contributions
    to N over I₁. In the upper sum N₀ is over I₀, and a document's contribution to N over the ideal with that
    document alone. The two differ where unjudged documents change the ideal; not at all under nDCG@n where n
    documents of the highest relevance are judged.

    The numerator of AP has a product for each pair of documents in the ranking, which is at least 0 and at
    most the worth of the one that is less likely to be relevant.

    RR is at most the sum of what each document adds alone, and at least that of what it adds to the one
    below it.
    """
    if isinstance(measure, ReciprocalRank):
        return _reciprocal_rank_envelope(measure, topic)
    if isinstance(measure, Normalized):
        return _ratio_envelope(measure, topic)
    assert isinstance(measure, Additive)  # for the type checker: see `check_auditable`
    base = float(measure.amounts(topic.levels)) / measure.unit
    contribution = np.zeros(len(topic.chance))
    contribution[topic.document] = _highest_gains(measure, topic) / measure.unit
    return Envelope(base, base, contribution, contribution)


def _highest_gains(measure: Additive, topic: TopicOfRun) -> FloatArray:
    """Return each unjudged document's largest possible gain, weighted by its rank."""
    weights = np.asarray(measure.weights(), dtype=float)
    highest = float(measure.gains(np.array(topic.tally.levels[-1:]))[0])
    return np.where(topic.rank < len(weights), weights[topic.rank.clip(max=len(weights) - 1)], 0.0) * highest


def _ratio_envelope(measure: Normalized, topic: TopicOfRun) -> Envelope:
    amount = float(measure.amounts(topic.levels))
    if isinstance(measure, AveragePrecision):
        low, high = _precision_contributions(measure, topic)
    else:
        assert isinstance(measure, Additive)
        low = high = _highest_gains(measure, topic)
    judged = _ideal(measure, topic.tally)
    n = len(topic.chance)
    envelope = Envelope(0.0, 0.0, np.zeros(n), np.zeros(n))
    if measure.ideal == "judged":
        if judged <= 0:
            return envelope
        envelope.low[topic.document], envelope.high[topic.document] = low / judged, high / judged
        return envelope._replace(base_low=amount / judged, base_high=amount / judged)
    whole = _ideal(measure, topic.tally, len(topic.within), -1)
    first = next((i for i in range(len(topic.tally.levels)) if _makes_ideal(measure, topic.tally, i)), -1)
    alone = _ideal(measure, topic.tally, 1, first)
    if whole <= 0:
        return envelope
    envelope.low[topic.document] = low / whole
    envelope.high[topic.document] = high / alone
    if amount <= 0 or judged <= 0:
        return envelope
    added = _ideal(measure, topic.tally, 1, -1) - judged
    expected = float(topic.chance[topic.within].sum())
    at_expected = judged + added * expected
    envelope.low[topic.within] -= amount * added / at_expected**2
    return envelope._replace(
        base_low=amount * (at_expected + added * expected) / at_expected**2, base_high=amount / judged
    )


def _ideal(measure: Normalized, tally: Tally, n_more: int = 0, level: int = 0) -> float:
    """Return the unnormalized score of the ideal ranking after adding documents with a relevance level."""
    n = tally.n.copy()
    n[..., level] += n_more
    return float(measure.best(Tally(n, tally.levels))[0])


def _makes_ideal(measure: Normalized, tally: Tally, level: int) -> bool:
    """Return whether a document with this relevance level contributes to an ideal ranking."""
    none = Tally(np.zeros_like(tally.n), tally.levels)
    return _ideal(measure, none, 1, level) > 0


def _precision_contributions(measure: AveragePrecision, topic: TopicOfRun) -> tuple[FloatArray, FloatArray]:
    """Return unjudged documents' contributions to the sum of precisions, without and with joint effects."""
    relevant = topic.levels >= measure.rel
    at = 1 / np.arange(1, len(relevant) + 1)
    above = np.cumsum(relevant)
    below = np.cumsum((relevant * at)[::-1])[::-1]
    low = (1 + above[topic.rank]) * at[topic.rank] + below[topic.rank]
    chance = topic.chance[topic.document]
    lower_one, upper_one = np.tril_indices(len(low), -1)  # ranks ascend
    rarer = np.where(chance[lower_one] <= chance[upper_one], lower_one, upper_one)
    pairs = np.bincount(rarer, at[topic.rank[lower_one]], minlength=len(low))
    return low, low + pairs


def _reciprocal_rank_envelope(measure: ReciprocalRank, topic: TopicOfRun) -> Envelope:
    base = float(measure.amounts(topic.levels))
    reciprocal = 1.0 / (topic.rank + 1)
    above = reciprocal > base
    document, reciprocal = topic.document[above], reciprocal[above]
    low, high = np.zeros(len(topic.chance)), np.zeros(len(topic.chance))
    low[document] = reciprocal - np.append(reciprocal[1:], base)[: len(reciprocal)]
    high[document] = reciprocal - base
    return Envelope(base, base, low, high)


_MAX_DRAWS = 1000  # of the posterior, for chances


@dataclass(frozen=True, eq=False)
class Urn:
    """Unjudged documents that affect a run's value or the difference between two runs.

    Attributes
    ----------
    query_ids, doc_ids : tuple of str
        Topic and id of each document.
    low, high : ndarray of float, shape (document,)
        What a document of worth 1 adds to a sum below the value, and to one above it; the same under a
        measure that is a sum of gains.
    probability, spread : ndarray of float, shape (document,)
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


def draw_values(completion: Completion, measure: Measure, signs: FloatArray) -> Values:
    """Return draws of the sums of runs' scores with the given signs, shape (draw, value, topic)."""
    (values,) = completion.evaluate(measure)
    whole = signs.astype(values.amount.dtype)
    return Values(np.einsum("drt,vr->dvt", values.amount, whole), values.unit)


def find_urns(completion: Completion, measure: Measure, signs: FloatArray, values: Values) -> tuple[Urn, ...]:
    """Return one urn per value, all with the documents that affect any of the values.

    ``signs``: of each run in each value, 0 for a run that has no part in it, shape (value, run). ``values``:
    their draws (`draw_values`).
    """
    check_auditable(measure)
    unknowns = completion.unknowns
    collection, n_values = unknowns.collection, len(signs)
    bounds = score_bounds(collection, unknowns.run_ids, measure, estimand=unknowns.estimand)
    least, most = bounds.least.means(), bounds.most.means()
    plus, minus = np.maximum(signs, 0), np.maximum(-signs, 0)
    worth = worth_of_levels(measure, completion.levels)
    draws = slice(None, None, -(-completion.n_draws // _MAX_DRAWS))
    ranked = ranked_levels(collection, unknowns.run_index, measure.cutoff)
    levels = np.maximum(measure.read(ranked), 0)
    tally = judged_tally(collection, completion.levels)
    n_topics = len(collection.query_ids)
    chances, within = [], []
    low, high = np.zeros((2, signs.shape[1], len(unknowns)))  # of runs
    bases = np.zeros((2, n_topics, signs.shape[1]))
    for t in range(n_topics):
        documents = unknowns.on_topic(t)
        expected, variance = completion.expected(t, worth, draws)
        chances.append(expected.astype(np.float32))
        within.append(variance.mean(axis=0))
        tally_of_topic = Tally(tally.n[t : t + 1], tally.levels)
        for r in range(signs.shape[1]):
            chance_of_topic = expected.mean(axis=0)
            topic = _topic_of_run(completion, measure, t, r, levels[r, t], tally_of_topic, chance_of_topic)
            sums = envelope(measure, topic)
            bases[:, t, r] = sums.base_low / n_topics, sums.base_high / n_topics
            low[r, documents], high[r, documents] = sums.low / n_topics, sums.high / n_topics
    low, high = plus @ low - minus @ high, plus @ high - minus @ low
    signed = [plus[:, None] * bases[i] - minus[:, None] * bases[1 - i] for i in range(2)]
    base_low, base_high = (np.cumsum(each.reshape(n_values, -1), axis=1)[:, -1] for each in signed)
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
            shared=_shared_changes(centered, (low[v] + high[v]) / 2),
            base_low=float(base_low[v]),
            base_high=float(base_high[v]),
            least=float(plus[v] @ least - minus[v] @ most),
            most=float(plus[v] @ most - minus[v] @ least),
            mean=float(values.expected()[v]),
            std=float(values.std()[v]),
            **common,
        )
        for v in range(n_values)
    )


def _shared_changes(centered: npt.NDArray[np.float32], contribution: FloatArray) -> FloatArray:
    """Return the change in each document's probability per standard deviation of the sum, given centered
    draws.
    """
    total = centered.astype(np.float64) @ contribution
    return np.asarray(
        centered.T.astype(np.float64) @ total / max(float(np.sqrt(total @ total * len(total))), 1e-300)
    )


def _topic_of_run(
    completion: Completion,
    measure: Measure,
    topic: int,
    run: int,
    levels: LevelArray,
    tally: Tally,
    chance: FloatArray,
) -> TopicOfRun:
    """Return a run's ranking for a topic, with its unjudged documents."""
    unknowns = completion.unknowns
    run_index, rank, document = (a.astype(np.intp) for a in unknowns.places_on(topic))
    is_of_run = run_index == run
    shallow = is_of_run & (rank < measure.cutoff)
    within = np.zeros(0, dtype=np.intp)
    if isinstance(measure, Normalized) and measure.ideal != "judged":
        reached = rank < ideal_reach(unknowns.collection, measure)
        within = np.unique(document[reached if measure.ideal == "shared" else is_of_run & reached])
    order = np.argsort(rank[shallow], kind="stable")
    return TopicOfRun(levels, document[shallow][order], rank[shallow][order], within, tally, chance)
