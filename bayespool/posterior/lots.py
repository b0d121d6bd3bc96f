"""Documents that were left out of a published sample at random, completed by the sample's judgments.

Judged documents of a sample are exchangeable with the unjudged ones of the same stratum: the one case in
which they are direct evidence. Each judgment of the sample is attributed to the run to score that ranks its
document best, as a judgment that was added for it; documents, of the sample or to complete, have the effects
of all runs that retrieve them, at any depth (`Company`). Of documents out of reach of the runs to score,
which count for ideal rankings, numbers are drawn by stratum.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, expit

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.contents import DepthPool
from bayespool.collection.rankings import ranked, within
from bayespool.evidence import NONRELEVANT, RELEVANT
from bayespool.evidence.ideals import states
from bayespool.inference import Engine
from bayespool.models import LinearEvidence
from bayespool.models.registry import LOTS
from bayespool.posterior.drawing import add_shared_effects
from bayespool.posterior.fitting import fit_prepared
from bayespool.posterior.mixtures import ThresholdPosterior
from bayespool.posterior.preparation import FALLBACK_MODEL, PreparedModel, ScoringProblem
from bayespool.posterior.thresholds import Threshold
from bayespool.posterior.unknowns import Unknowns
from bayespool.posterior.work import SharedWork
from bayespool.randomness import key_of

_TOP, _TOP_WEIGHT = 10, 1 / 7  # ranks, and the weight of a run's effect in these (diary, Samples)


@dataclass(frozen=True, eq=False)
class Company:
    """Runs that retrieve each document, with weights of their effects.

    A run has two effects. The weights of one are in proportion to 1/√rank, at any depth, and their squares
    add up to 1 for a document: a good run that ranks it low counts less for it than one that ranks it high.
    The other adds the same to all documents in the run's top 10.
    """

    start: IndexArray  # places of document d are ``start[d]`` to ``start[d + 1]``
    effect: IndexArray  # run r has the effects r and ``n_runs + r``, shape (place,)
    weight: FloatArray  # shape (place,)
    n_runs: int

    @classmethod
    def of(cls, collection: Collection, runs: OrderArray, pair: IntArray) -> Company:
        """Return which of these runs retrieve each document; the codes are distinct."""
        position = np.full(len(collection.relevance) + 1, -1)
        position[pair] = np.arange(len(pair))
        places: list[AnyArray] = []
        for place, run in enumerate(runs):
            documents, rank = ranked(collection.document, run)
            there = position[documents]
            has_it = there >= 0
            places.append(np.array([there[has_it], np.full(has_it.sum(), place), 1 + rank[has_it]]))
        document, run, rank = np.hstack([*places, np.zeros((3, 0), dtype=np.int64)]).astype(np.int64)
        total = np.bincount(document, 1 / rank, len(pair))
        is_top, weight = rank <= _TOP, np.sqrt(1 / (rank * total[document]))
        document = np.append(document, document[is_top])
        order = np.argsort(document, kind="stable")
        return cls(
            np.searchsorted(document[order], np.arange(len(pair) + 1)),
            np.append(run, len(runs) + run[is_top])[order],
            np.append(weight, np.full(is_top.sum(), _TOP_WEIGHT))[order],
            len(runs),
        )

    def matrix(self) -> FloatArray:
        """Return the weights with zeros for other effects, shape (document, effect)."""
        weights = np.zeros((len(self.start) - 1, 2 * self.n_runs))
        weights[np.repeat(np.arange(len(weights)), np.diff(self.start)), self.effect] = self.weight
        return weights


@dataclass(frozen=True, eq=False)
class Lots:
    """Posteriors for documents that random sampling left unjudged.

    Attributes
    ----------
    company : Company
        Of the documents to complete; effects are numbered as organizations of the models' evidence.
    by_lot : ndarray of bool, shape (unknown,)
    posteriors : tuple of ThresholdPosterior
        One for each threshold; none where no document to complete was left out at random.
    n_elsewhere : ndarray of int32, shape (topic, draw, threshold)
        Other documents left out at random that reach a threshold and no higher one.
    """

    company: Company
    by_lot: BoolArray
    posteriors: tuple[ThresholdPosterior, ...]
    n_elsewhere: IntArray

    def select_draws(self, draws: OrderArray) -> Lots:
        """Return a copy restricted to the given draws."""
        posteriors = tuple(p.select_draws(draws) for p in self.posteriors)
        return dataclasses.replace(self, posteriors=posteriors, n_elsewhere=self.n_elsewhere[:, draws])

    def log_odds(self, threshold: int, topic: int, documents: slice, draws: OrderArray) -> FloatArray:
        """Return log odds for a topic's documents at one threshold, shape (draw, document)."""
        posterior, company = self.posteriors[threshold], self.company
        (component,), source = posterior.components, posterior.mixture.source[draws]
        log_odds = component.log_odds(source, topic, documents)
        effect = component.fit.draws()["organization_effect"][source]
        start = company.start[documents.start : documents.stop + 1]
        add_shared_effects(log_odds, effect, start, company.effect, company.weight)
        return log_odds

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
        prepared = problem, {LOTS.name: _prepare(problem)}
        below = posteriors[-1] if posteriors else None
        posteriors.append(fit_prepared(prepared, None, engine, n_draws, random_seed, below=below)[0])
    n_elsewhere = draw_relevant_elsewhere(unknowns, [p.threshold for p in problems], n_draws, random_seed)
    company = Company.of(collection, _company_runs(of_sample[0]), unknowns.pair)
    return Lots(company, by_lot, tuple(posteriors), n_elsewhere)


def _company_runs(problem: ScoringProblem) -> OrderArray:
    """Return the pooled runs and those to score; a copy of a pooled one is that one."""
    collection = problem.collection
    runs = np.append(np.flatnonzero(collection.pooled), collection.run_index(problem.run_ids))
    return np.unique(_originals(collection, runs))


def _originals(collection: Collection, runs: OrderArray) -> OrderArray:
    """Return the run that each counts as."""
    return collection.run_index(collection.originals(collection.run_ids[run] for run in runs))


def _prepare(problem: ScoringProblem) -> PreparedModel:
    """Return the model with the sample's judgments, which have the effects of their company."""
    prepared, runs = problem.prepare(LOTS, {}, credited=True), _company_runs(problem)
    collection, evidence = problem.collection, prepared.evidence
    assert isinstance(evidence, LinearEvidence)
    pair, names = problem.table(prepared.spec, hidden=True).pair, [collection.run_ids[run] for run in runs]
    evidence = dataclasses.replace(
        evidence,
        organizations=(*names, *(f"{name}, top {_TOP}" for name in names)),
        organization=np.searchsorted(runs, _originals(collection, evidence.run)),
        company=Company.of(collection, runs, pair).matrix(),
    )
    own = np.searchsorted(runs, _originals(collection, collection.run_index(problem.run_ids)))
    return dataclasses.replace(prepared, evidence=evidence, organization=own)


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
