"""Documents that were left out of a published sample at random, completed by the sample's judgments.

Judged documents of a sample are exchangeable with the unjudged ones of the same stratum: the one case in
which they are direct evidence. Each judgment of the sample is attributed to the run to score that ranks its
document best, as a judgment that was added for it; documents to complete have the effects of all runs to
score that retrieve them. Of documents out of reach of the runs to score, which
count for ideal rankings, numbers are drawn by stratum.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, expit

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.contents import DepthPool
from bayespool.collection.rankings import ranked, within
from bayespool.evidence import NONRELEVANT, RELEVANT
from bayespool.evidence.ideals import states
from bayespool.inference import Engine
from bayespool.models.registry import LOTS
from bayespool.posterior.drawing import add_shared_effects
from bayespool.posterior.fitting import fit_prepared
from bayespool.posterior.mixtures import ThresholdPosterior
from bayespool.posterior.preparation import FALLBACK_MODEL, ScoringProblem
from bayespool.posterior.thresholds import Threshold
from bayespool.posterior.unknowns import DocumentPlaces, Unknowns
from bayespool.posterior.work import SharedWork
from bayespool.randomness import key_of

COMPANY_DEPTH = 10
"""Deepest rank at which runs share their effects with a document."""


@dataclass(frozen=True, eq=False)
class Lots:
    """Posteriors for documents that random sampling left unjudged.

    Attributes
    ----------
    unknowns : Unknowns
        All documents to complete, of a collection in which each run to score is an organization.
    places : DocumentPlaces
        Runs to score that have a document in their top 10, or deeper where none has.
    by_lot : ndarray of bool, shape (unknown,)
    posteriors : tuple of ThresholdPosterior
        One for each threshold; none where no document to complete was left out at random.
    n_elsewhere : ndarray of int32, shape (topic, draw, threshold)
        Other documents left out at random that reach a threshold and no higher one.
    """

    unknowns: Unknowns
    places: DocumentPlaces
    by_lot: BoolArray
    posteriors: tuple[ThresholdPosterior, ...]
    n_elsewhere: IntArray

    def select_draws(self, draws: OrderArray) -> Lots:
        """Return a copy restricted to the given draws."""
        posteriors = tuple(p.select_draws(draws) for p in self.posteriors)
        return dataclasses.replace(self, posteriors=posteriors, n_elsewhere=self.n_elsewhere[:, draws])

    def log_odds(
        self, threshold: int, topic: int, documents: slice, draws: OrderArray, cells: FloatArray
    ) -> FloatArray:
        """Return log odds for a topic's documents at one threshold, shape (draw, document).

        Effects of runs, and ``cells`` of run × topic, are shared by the documents of a run: each document has
        those of all runs that have it, by weights whose squares add up to 1.
        """
        posterior, places = self.posteriors[threshold], self.places.of(documents)
        (component,), source = posterior.components, posterior.mixture.source[draws]
        log_odds = component.log_odds(source, topic, documents)
        effect = component.effect[source] + cells[source]
        weight = self._weight[self.places.span(documents)]
        add_shared_effects(log_odds, effect, places.start, places.run, weight)
        return log_odds

    @cached_property
    def _weight(self) -> FloatArray:
        """Weights of the runs of documents, shape (place,)."""
        squared = np.log2(1 + self.places.rank) ** -2.0
        of_document = np.add.reduceat(squared, self.places.start[:-1]) if len(squared) else squared
        return np.sqrt(squared / of_document[self.places.document])

    def runs_on(self, topic: int) -> IndexArray:
        """Return the runs whose effects the documents of a topic have, as indices of those to score."""
        return self.places.run[self.places.span(self.unknowns.on_topic(topic))]

    @property
    def note(self) -> str:
        """Note with the number of documents that random sampling left unjudged."""
        return (
            f"{int(self.by_lot.sum()):,} of {len(self.by_lot):,} unjudged documents were left out at random: "
            "the sample's judgments are evidence for them"
        )


def fit_lots(problems: list[ScoringProblem], engine: Engine, n_draws: int, random_seed: int) -> Lots | None:
    """Fit models to a published random sample's judgments, or return None without evidence in it."""
    whole, unknowns = problems[0].collection, problems[0].unknowns
    if whole.sample is None:
        return None
    by_lot = find_lots(whole)[unknowns.pair]
    collection = attribute_sample(whole, problems[0].run_ids, problems[0].document_depth)
    of_sample = [
        dataclasses.replace(problem, collection=collection, min_organizations=1, shared=SharedWork())
        for problem in problems
    ]
    if not of_sample[0].has_evidence:
        by_lot[:] = False
    posteriors: list[ThresholdPosterior] = []
    for problem in of_sample if by_lot.any() else ():
        prepared = problem, {LOTS.name: problem.prepare(LOTS, {}, credited=True)}
        below = posteriors[-1] if posteriors else None
        posteriors.append(fit_prepared(prepared, None, engine, n_draws, random_seed, below=below)[0])
    n_elsewhere = draw_relevant_elsewhere(unknowns, [p.threshold for p in problems], n_draws, random_seed)
    places = of_sample[0].places(COMPANY_DEPTH)
    return Lots(of_sample[0].unknowns, places, by_lot, tuple(posteriors), n_elsewhere)


def find_fallback(problem: ScoringProblem) -> str:
    """Return the model of a problem without evidence; the quickest where the sample's has all documents."""
    is_idle = bool(problem.run_ids) and bool(find_lots(problem.collection)[problem.unknowns.pair].all())
    return "background" if is_idle else FALLBACK_MODEL


def find_lots(collection: Collection) -> BoolArray:
    """Return a mask for unjudged documents that a published sample could have included, shape (pair,)."""
    sample = collection.sample
    if sample is None:
        return np.zeros(len(collection.relevance), dtype=bool)
    candidates = sample.candidates & ~collection.judged
    if sample.stratum is None and collection.pooled.any():  # drawn from what runs of the time retrieved
        whole = DepthPool.even(collection.document.shape[2], len(collection.run_ids))
        candidates &= whole.judged(collection, np.flatnonzero(collection.pooled))
    return candidates


def attribute_sample(collection: Collection, run_ids: tuple[str, ...], depth: int) -> Collection:
    """Return the collection without a judged pool, with sampled judgments attributed to the runs to score.

    Each goes to the run that an unjudged document would be credited to (`Unknowns`). Where no pool is known,
    all runs tell which documents many runs support.
    """
    sample = collection.sample
    assert sample is not None  # for the type checker: some document was left out by lot
    drawn = sample.chosen & collection.judged & (np.nan_to_num(sample.inclusion, nan=1.0) < 1)
    n_ranks = collection.document.shape[2]
    least = np.full(len(collection.relevance) + 1, 4 * n_ranks, dtype=np.int32)
    best = np.full(len(least), -1, dtype=np.int32)  # on ties the first by name
    for run in np.sort(collection.run_index(run_ids)):
        document, ranks = ranked(collection.document, int(run))
        order = ranks + n_ranks * (2 * (ranks > depth) + collection.pooled[run])
        better = order < least[document]
        least[document[better]], best[document[better]] = order[better], run
    return dataclasses.replace(
        collection,
        pooled=collection.pooled if collection.pooled.any() else np.ones_like(collection.pooled),
        organizations=collection.run_ids,
        organization=np.arange(len(collection.run_ids), dtype=np.int32),
        pool=DepthPool.even(0, len(collection.run_ids)),
        attributed_run=np.where(drawn, best[:-1], np.int32(-1)),
        own=None,
    )


def draw_relevant_elsewhere(
    unknowns: Unknowns, thresholds: Sequence[Threshold], n_draws: int, random_seed: int
) -> IntArray:
    """Draw numbers of sampled-out documents beyond the runs' reach per topic, draw and threshold."""
    collection, sample = unknowns.collection, unknowns.collection.sample
    assert sample is not None  # for the type checker: `fit_lots` has checked
    here = np.zeros(len(collection.relevance) + 1, dtype=bool)
    here[within(collection.document, unknowns.run_index, unknowns.depth)] = True
    elsewhere, topic, n_topics = ~here[:-1], collection.pair_topic, len(collection.query_ids)
    rng = np.random.default_rng(key_of(random_seed, "elsewhere"))
    reached = np.zeros((n_topics, n_draws, len(thresholds) + 1), dtype=np.int32)
    judged = elsewhere & sample.chosen & (np.nan_to_num(sample.inclusion, nan=1.0) < 1) & collection.judged
    if sample.stratum is None:
        above = [states(collection.relevance, threshold.rel) == RELEVANT for threshold in thresholds]
        for pair in np.flatnonzero(judged & above[0]):
            # of relevant documents with this probability, as many were left out before one was taken
            n = rng.geometric(sample.inclusion[pair], n_draws) - 1
            for k in range(len(thresholds)):
                reached[topic[pair], :, k] += n * above[k][pair]
        return reached[:, :, :-1] - reached[:, :, 1:]
    open_ = elsewhere & find_lots(collection)
    for stratum in np.unique(sample.stratum[open_]):
        inside = sample.stratum == stratum
        n = np.repeat(np.bincount(topic[open_ & inside], minlength=n_topics)[:, None], n_draws, axis=1)
        for k, threshold in enumerate(thresholds):
            state = states(collection.relevance, threshold.rel, threshold.given)
            n_above, n_below = (
                np.bincount(topic[judged & inside & (state == kind)], minlength=n_topics)
                for kind in (RELEVANT, NONRELEVANT)
            )
            n = rng.binomial(n, draw_topic_chances(n_above, n_above + n_below, n_draws, rng))
            reached[:, :, k] += n
    return reached[:, :, :-1] - reached[:, :, 1:]


_CENTERS, _CENTER_SD = -2.2, 1.5  # prior of the logit of topics' mean chance, as of other models' intercepts
_LOGITS, _SIZES = np.linspace(-8, 3, 45), np.geomspace(0.5, 200, 15)


def draw_topic_chances(
    n_relevant: npt.NDArray[np.integer], n: npt.NDArray[np.integer], n_draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draw relevance probabilities for each topic from a beta-binomial model, shape (topic, draw)."""
    mean, size = np.meshgrid(expit(_LOGITS), _SIZES, indexing="ij")
    a, b = (mean * size).ravel(), ((1 - mean) * size).ravel()
    log_weight = np.repeat(-0.5 * ((_LOGITS - _CENTERS) / _CENTER_SD) ** 2, len(_SIZES))
    for y, total in {(int(y), int(t)): 0 for y, t in zip(n_relevant, n, strict=True)}:
        times = int(((n_relevant == y) & (n == total)).sum())
        log_weight += times * (betaln(y + a, total - y + b) - betaln(a, b))
    weight = np.exp(log_weight - log_weight.max())
    node = rng.choice(len(a), n_draws, p=weight / weight.sum())
    return rng.beta(n_relevant[:, None] + a[node], (n - n_relevant)[:, None] + b[node])
