"""Scores that another assessor of the same kind would have given, in the draws of a completion."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, Levels, OrderArray
from bayespool.collection import Collection, SecondAssessors
from bayespool.collection.pools import sole_contributor
from bayespool.compiled import one_thread
from bayespool.evidence.ideals import ideal_reach, level_index, ranked_levels
from bayespool.evidence.learned_fusion import learned_fusion
from bayespool.evidence.pooled_ranks import find_ranks
from bayespool.inference.confusion import ConfusionDraws, Features, JudgedTwice, draw_confusion
from bayespool.measures import Measure, Normalized, Tally, Values
from bayespool.measures.populations import exchanged_pairs
from bayespool.models.confusion import prior_counts
from bayespool.posterior.completion import Completion
from bayespool.posterior.drawing import (
    CELLS,
    Places,
    draw_levels,
    draw_relevance,
    in_threads,
    make_gain_adder,
    promote_relevance,
    tally_levels,
)
from bayespool.posterior.thresholds import Threshold, find_thresholds, threshold_levels
from bayespool.randomness import document_keys, key_of, scrambled

Keys = npt.NDArray[np.uint64]

_NAME = "another assessor"
_ENOUGH = 10  # documents, for what depends on them to be known
_HALF_RANK = 10  # rank that is worth a half
_MOST_LOG_ODDS = 9.0  # of a draw, which may be far out


@dataclass(frozen=True, eq=False)
class AnotherAssessor:
    """Model for the levels that another assessor would give, learned from documents judged twice.

    Attributes
    ----------
    collection : Collection
        With `Collection.second`.
    n_draws : int
    random_seed : int
    rel : int, default 1
        Relevance to the first assessor whose log odds tell how documents change.
    """

    collection: Collection
    n_draws: int
    random_seed: int
    rel: int = 1

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Levels used by the first or the second assessor, ascending from 0."""
        given = np.append(self.collection.relevance, self._second.relevance)
        return tuple(np.union1d([0], given[given > 0]).tolist())

    @property
    def _second(self) -> SecondAssessors:
        assert self.collection.second is not None
        return self.collection.second

    @cached_property
    def observed_levels(self) -> IndexArray:
        """Indices into ``levels`` that the second assessor uses, or all if no document is judged twice."""
        if self._second.confusion or not (self.second_level >= 0).any():
            return np.arange(len(self.levels))
        return np.union1d(np.arange(min(2, len(self.levels))), self.second_level[self.second_level >= 0])

    @cached_property
    def first_level(self) -> IndexArray:
        """Index into ``levels`` by the first assessor for each document, −1 if unjudged, shape (pair,)."""
        return level_index(np.maximum(self.collection.relevance, np.int16(-1)), self.levels)

    @cached_property
    def second_level(self) -> IndexArray:
        """Index into ``levels`` by the second assessor for each document, −1 if unjudged, shape (pair,)."""
        return level_index(np.maximum(self._second.relevance, np.int16(-1)), self.levels)

    @cached_property
    def counts(self) -> IndexArray:
        """Numbers of documents judged twice, shape (topic, first level, second level)."""
        twice = np.flatnonzero((self.first_level >= 0) & (self.second_level >= 0))
        n = np.zeros((len(self.collection.query_ids), len(self.levels), len(self.levels)), dtype=np.int64)
        np.add.at(
            n, (self.collection.pair_topic[twice], self.first_level[twice], self.second_level[twice]), 1
        )
        return n

    @cached_property
    def contributor(self) -> IntArray:
        """Organization that alone contributed a judged document, else −1, shape (pair,)."""
        return np.where(self.first_level >= 0, sole_contributor(self.collection), np.int32(-1))

    def features(self, pairs: IndexArray, organization: IntArray) -> Features:
        """Return document features for the model of level changes.

        ``organization`` is the one that alone has a document, or −1. The log odds of relevance, the first
        feature, are 0 for unjudged documents, where they are drawn.
        """
        mean, spread, of_sum = self._scale
        by_run = self._worth(pairs) - mean
        alone = organization >= 0
        log_odds = np.where(
            alone & (self.first_level[pairs] >= 0), self.standardize(self._log_odds[pairs]), 0.0
        )
        one_hot = np.eye(len(self.collection.organizations) + 1)[:, :-1]
        return Features(
            free=np.column_stack([log_odds, alone, by_run.sum(axis=1) / of_sum]),
            of_run=by_run / spread,
            of_organization=one_hot[organization],
        )

    def _worth(self, pairs: IndexArray) -> FloatArray:
        """Return 1/(1 + rank/10) for each document in each run, 0 if not retrieved, shape (document, run)."""
        of_rank = 1 / (1 + np.arange(self.collection.document.shape[2] + 1) / _HALF_RANK)
        of_rank[0] = 0
        return of_rank[find_ranks(self.collection, np.arange(len(self.collection.run_ids)), pairs)]

    @cached_property
    def _scale(self) -> tuple[FloatArray, float, float]:
        """Means and scales for standardizing the reciprocal ranks of `_worth` over judged documents."""
        of_judged = self._worth(np.flatnonzero(self.first_level >= 0))
        spread = float(np.sqrt(of_judged.var(axis=0).mean())) or 1.0
        return of_judged.mean(axis=0), spread, float(of_judged.sum(axis=1).std()) or 1.0

    @cached_property
    def _log_odds(self) -> FloatArray:
        """Log odds of relevance for documents with a sole contributor, else 0, shape (pair,).

        The contributor is left out when they are learned.
        """
        pairs, log_odds = np.flatnonzero(self.contributor >= 0), np.zeros(len(self.contributor))
        if len(pairs):
            owner, topic = self.contributor[pairs], self.collection.pair_topic[pairs].astype(np.intp)
            owners, of_owner = np.unique(self.collection.organization, return_index=True)
            run = of_owner[np.searchsorted(owners, owner)]
            log_odds[pairs] = learned_fusion(self.collection, rel=self.rel).log_odds(run, topic, pairs)
        return log_odds

    def standardize(self, log_odds: FloatArray) -> FloatArray:
        """Standardize log odds of relevance using documents with a sole contributor."""
        mean, spread = self._scale_of_log_odds
        return (np.clip(log_odds, -_MOST_LOG_ODDS, _MOST_LOG_ODDS) - mean) / spread

    @cached_property
    def _scale_of_log_odds(self) -> tuple[float, float]:
        """Mean and standard deviation for standardizing log odds of relevance."""
        known = self._log_odds[self.contributor >= 0]
        if len(known) < _ENOUGH:
            return 0.0, np.inf  # nothing shows what they tell
        return float(known.mean()), float(known.std()) or 1.0

    @cached_property
    def confusion(self) -> ConfusionDraws:
        """Posterior draws of the level confusion, one for each completion draw."""
        prior = prior_counts(self._second.confusion, self.levels)[:, self.observed_levels]
        pairs = np.flatnonzero((self.first_level >= 0) & (self.second_level >= 0))
        twice = JudgedTwice(
            topic=self.collection.pair_topic[pairs].astype(np.int64),
            first=self.first_level[pairs],
            second=np.searchsorted(self.observed_levels, self.second_level[pairs]),
            features=self.features(pairs, self.contributor[pairs]),
            n_topics=len(self.collection.query_ids),
            n_levels=len(self.levels),
        )
        with one_thread():
            rng = np.random.default_rng(key_of(self.random_seed, _NAME))
            return draw_confusion(twice, prior, self.n_draws, rng)

    def shares(self, levels: Sequence[int]) -> FloatArray:
        """Return the share of each exact level in each class of judged documents, shape (class, level).

        A class has the documents that reach one of ``levels`` and not the next.

        Shape (class, level). A completion tells no more levels apart than a measure needs.
        """
        of_class = level_index(np.array(self.levels, dtype=np.int16), levels)
        shares = np.where(of_class == np.arange(len(levels))[:, None], self._n_judged, 0).astype(float)
        nearest = level_index(np.array(levels, dtype=np.int16), self.levels)
        for k in np.flatnonzero(shares.sum(axis=1) == 0):
            shares[k, nearest[k]] = 1
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @cached_property
    def _n_judged(self) -> IndexArray:
        """Number of documents at each level of the first assessor, shape (level,)."""
        return np.bincount(self.first_level[self.first_level >= 0], minlength=len(self.levels))

    def judge(
        self,
        topic: int,
        level: IndexArray,
        features: FloatArray,
        log_odds: FloatArray,
        keys: Keys,
        draws: OrderArray,
    ) -> Levels:
        """Draw the other assessor's levels for a topic's documents given the first assessor's levels.

        Shape (draw, document).

        ``log_odds`` are those of unjudged documents, standardized, and else 0, shape (draw, document).
        """
        rest = np.zeros(level.shape)
        of_threshold = self.confusion.log_odds(0, topic, level, features, draws, log_odds)
        block = draw_relevance(of_threshold, keys, scrambled(draws), rest)
        for threshold in range(1, len(self.observed_levels) - 1):
            promote_relevance(
                self.confusion.log_odds(threshold, topic, level, features, draws, log_odds),
                threshold,
                rest,
                block,
            )
        return self.observed_levels.astype(np.uint8)[block]

    def notes(self) -> list[str]:
        """Return notes on levels that have few twice-judged documents or that second assessors never use."""
        n_twice = self.counts.sum(axis=(0, 2))
        few = [
            f"{n} of relevance {level}"
            for level, n, judged in zip(self.levels, n_twice.tolist(), self._n_judged.tolist(), strict=True)
            if n < min(_ENOUGH, judged)
        ]
        notes = []
        if not n_twice.any():
            how = "the confusion" if self._second.confusion else "the prior"
            notes.append(f"no document is judged twice: {how} says how levels change, alike everywhere")
        elif few:
            notes.append(
                f"few documents are judged twice ({', '.join(few)}): the prior decides at these levels"
            )
        unused = [str(level) for i, level in enumerate(self.levels) if i not in self.observed_levels]
        if unused:
            levels = " or ".join(unused)
            notes.append(f"second assessors give no document relevance {levels}: another assessor gives none")
        return notes


def describe_assessors(collection: Collection) -> dict[str, Any]:
    """Return level counts for documents judged twice, with notes, as a JSON-serializable dictionary."""
    another = AnotherAssessor(collection, n_draws=1, random_seed=0)
    counts = another.counts.sum(axis=0)
    changes = [
        {"first": a, "second": b, "n": int(counts[i, j])}
        for (i, a), (j, b) in itertools.product(enumerate(another.levels), repeat=2)
    ]
    n, n_same = int(counts.sum()), int(np.trace(counts))
    return {"n_twice": n, "n_same": n_same, "changes": changes, "notes": another.notes()}


def paired_values(
    completion: Completion, another: AnotherAssessor, measures: Sequence[Measure], *, joint: bool = False
) -> tuple[tuple[Values, Values], ...]:
    """Return run scores had another assessor judged, for completion draws and for exchanged pairs of draws.

    Their shapes, under each measure, are (draw, run, topic) and (pair, 2, run, topic).

    Parameters
    ----------
    completion : Completion
    another : AnotherAssessor
        With as many draws.
    measures : sequence of Measure
        That the completion covers.
    joint : bool, default False
        Whether an unjudged document has one level of the first assessor for all measures, as its completion
        says it. Else each measure is as alone: the completion says what the measure tells apart, and the
        exact level is drawn. P(rel=2)@10 may then exceed P@10 in one draw of thousands.

    Notes
    -----
    In each draw every document that the first assessor judged, and every unjudged document in reach with its
    completed level in the first assessor's place, gets a level by `bayespool.models.confusion`. Documents
    that the second assessor judged keep that judgment. The random part of a document depends on the seed, its
    topic, its id and the draw alone. The parameters of a draw are the same for all documents and runs.
    """
    u, collection, levels = completion.unknowns, completion.unknowns.collection, another.levels
    n_runs, n_topics = len(u.run_ids), len(collection.query_ids)
    depth = max(measure.cutoff for measure in measures)
    ranked = ranked_levels(collection, u.run_index, depth)
    placed = collection.document[u.run_index, :, :depth]
    starts = np.searchsorted(collection.pair_topic, np.arange(n_topics + 1))
    groups: dict[tuple[Threshold, ...], list[int]] = {}  # measures that tell the same levels apart
    for i, measure in enumerate(measures):
        thresholds = completion.thresholds if joint else find_thresholds(collection, measure)
        groups.setdefault(thresholds, []).append(i)
    n, pairs = completion.n_draws, exchanged_pairs(completion.n_draws)
    completed = np.concatenate([np.arange(n), pairs[:, ::-1].ravel()])
    by = np.concatenate([np.arange(n), pairs.ravel()])  # draws of the assessor who judges each
    amounts = [
        np.empty((len(completed), n_runs, n_topics), np.int32 if m.is_exact else np.float64) for m in measures
    ]

    is_judged = (another.first_level >= 0) | (another.second_level >= 0)
    if not any(isinstance(measure, Normalized) for measure in measures):
        is_judged &= np.isin(np.arange(len(is_judged)), placed)
    known = np.union1d(np.flatnonzero(is_judged), u.pair)
    organization = another.contributor.copy()
    organization[u.pair] = collection.organization[u.run_index][u.run]
    features = another.features(known, organization[known]).matrix
    _ = another.confusion  # made before threads ask for it

    def judge_topic(t: int) -> None:
        unknown = u.pair[u.on_topic(t)].astype(np.int64)
        either = starts[t] + np.flatnonzero(is_judged[starts[t] : starts[t + 1]])
        drawn = ~np.isin(unknown, either)  # the second assessor's judgment decides
        documents = np.concatenate([either, unknown[drawn]])
        where = _places(placed[:, t], documents)
        base = ranked[:, t].copy()
        base[where[0], where[1]] = 0
        read = [m.read(ranked[:, t] if m.describes_judgments else base) for m in measures]
        add = [
            make_gain_adder(m, of_measure, where, levels)
            for m, of_measure in zip(measures, read, strict=True)
        ]
        ids = collection.doc_ids.take(pa.array(documents)).to_pylist()
        keys = document_keys(key_of(another.random_seed, _NAME), collection.query_ids[t], ids)
        exact_keys = document_keys(
            key_of(another.random_seed, _NAME, "level"), collection.query_ids[t], ids[len(either) :]
        )
        of_topic = features[np.searchsorted(known, documents)]
        decided = another.second_level[either]
        cells = completion.cell_effects(t)
        step = max(1, CELLS // max(1, len(documents)))
        for start in range(0, len(completed), step):
            chosen, assessors = completed[start : start + step], by[start : start + step]
            of_unknown, log_odds = None, np.zeros((len(chosen), len(documents)))
            if len(unknown):
                of_unknown = completion.log_odds(0, t, chosen, cells[0])
                log_odds[:, len(either) :] = another.standardize(of_unknown[:, drawn])
            threshold = completion.draw_block(t, chosen, cells, of_unknown)[:, drawn]
            level = np.empty((len(chosen), len(documents)), dtype=np.int64)
            level[:, : len(either)] = np.maximum(another.first_level[either], 0)
            for thresholds, members in groups.items():
                of_class = np.minimum(threshold, len(thresholds)).astype(np.uint8)
                shares, exact = another.shares(threshold_levels(collection, thresholds)), of_class.copy()
                draw_levels(of_class, exact_keys, scrambled(chosen), np.cumsum(shares, axis=1), exact)
                level[:, len(either) :] = exact
                block = another.judge(t, level, of_topic, log_odds, keys, assessors)
                block[:, np.flatnonzero(decided >= 0)] = decided[decided >= 0]
                for i in members:
                    part = amounts[i][start : start + step, :, t]
                    part[:] = measures[i].amounts(read[i])
                    add[i](part, block)
                    if isinstance(measure := measures[i], Normalized):
                        tally = _tally(completion, t, block, len(either), drawn, measure, levels)
                        part[:] = measure.normalize(part[:, :, None], tally)[:, :, 0]

    in_threads(judge_topic, range(n_topics))
    return tuple(
        (Values(a[:n], m.unit), Values(a[n:].reshape(*pairs.shape, *a.shape[1:]), m.unit))
        for a, m in zip(amounts, measures, strict=True)
    )


def _places(placed: IntArray, pairs: IndexArray) -> Places:
    """Return run, rank (from 0) and index into ``pairs`` for each listed document in rankings (run, rank)."""
    order = np.argsort(pairs, kind="stable")
    at = np.searchsorted(pairs[order], placed)
    inside = np.minimum(at, max(0, len(pairs) - 1))
    hit = (pairs[order][inside] == placed) if len(pairs) else np.zeros(placed.shape, dtype=bool)
    run, rank = np.nonzero(hit)
    document = order[inside[run, rank]] if len(pairs) else run
    return run.astype(np.int32), rank.astype(np.int32), document.astype(np.int32)


def _tally(
    completion: Completion,
    topic: int,
    block: Levels,
    n_either: int,
    drawn: BoolArray,
    measure: Normalized,
    levels: tuple[int, ...],
) -> Tally:
    """Return level counts for ideal rankings by another assessor, shape (draw, run or 1, 1, level)."""
    u = completion.unknowns
    reach, by_run = ideal_reach(u.collection, measure), None
    within = np.arange(block.shape[1]) < n_either
    if measure.ideal == "own" and len(u.run_ids) > 1:
        run, rank, unknown = u.places_on(topic)
        kept = (rank < reach) & drawn[unknown]
        document = (n_either + np.cumsum(drawn) - 1)[unknown[kept]].astype(np.int32)
        by_run = len(u.run_ids), run[kept], document
    elif measure.ideal != "judged":
        within[n_either:] = (u.best_rank[u.on_topic(topic)] <= reach)[drawn]
    return Tally(tally_levels(block, len(levels) - 1, within, by_run)[:, :, None], levels[1:])
