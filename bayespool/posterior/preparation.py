"""Preparation of models: evidence, and log odds of the documents to complete."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayespool.arrays import FloatArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.errors import renamed_attributes
from bayespool.evidence import (
    DocumentTable,
    Estimand,
    JudgmentCounts,
    document_table,
    held_out_counts,
    hidden_document_table,
    judgment_counts,
)
from bayespool.evidence.held_out import HeldOutDocuments, held_out_documents
from bayespool.evidence.predictor_table import with_predictors, without_some_labels
from bayespool.evidence.predictors import evidence_predictors
from bayespool.evidence.predictors_of_labels import label_ratios, label_slopes
from bayespool.inference import Engine, Fit, Source
from bayespool.measures import Measure
from bayespool.models import LinearEvidence, ModelSpec, gather_documents, gather_evidence, model_named
from bayespool.models.evidence import ModelEvidence
from bayespool.models.spec import BELOW_POOL_PRIORS
from bayespool.names import COMBINED_MODELS
from bayespool.posterior.thresholds import Threshold
from bayespool.posterior.unknowns import DocumentPlaces, Unknowns, find_places, find_unknowns

if TYPE_CHECKING:
    from bayespool.models import Evidence, Structure

LogOddsFunction = Callable[[Mapping[str, FloatArray], OrderArray, int, slice], FloatArray]


Made = TypeVar("Made")

FALLBACK_MODEL = "odds_ratio"
"""Model of the combined estimator without hidden documents."""

# Measures with cutoffs up to it share one fit and one completion. 30 ranks of hidden documents predict P@5 to
# P@20 as well as their own (docs/decisions.md). Models of counts are of a top n as a whole, which deeper
# ranks would change.
DEPTHS: Mapping[str, int] = MappingProxyType({"documents": 30, "counts": 10})
"""Smallest depth of the evidence of models of documents, and of models of counts."""


_EVIDENCE_ABOVE = 0.95  # share of hidden documents above the rank at which evidence ends


def evidence_depth(model: str, cutoff: int) -> int:
    """Return the deepest rank of a model's evidence for a measure with a cutoff."""
    return max(cutoff, DEPTHS[model_named(model).evidence])


class SharedWork:
    """Cache of work that does not depend on the run to score, such as fits to the same evidence."""

    def __init__(self) -> None:
        self._done: dict[Hashable, Any] = {}

    def once(self, key: Hashable, work: Callable[[], Made]) -> Made:
        """Return the result of the work, done at the first call with the key."""
        if key not in self._done:
            self._done[key] = work()
        done: Made = self._done[key]
        return done


@renamed_attributes(asked="threshold", rung="asked_threshold")
@dataclass(frozen=True, eq=False)
class ScoringProblem:
    """Inputs that all models share at one threshold, before a model is named: runs, evidence, unknowns.

    Attributes
    ----------
    collection : Collection
    run_ids : tuple of str
    measure : Measure
        The deepest of the measures that share the evidence.
    estimand : {"complete", "pooled"}
    min_organizations : int
        A smaller pool is no evidence.
    asked_threshold : Threshold, optional
        Default: whether a document is relevant under the measure.
    reach : int, optional
        Deepest rank of completed documents; default: the measure's cutoff.
    shared : SharedWork
        Shared with the problems of other runs on the same collection.
    """

    collection: Collection
    run_ids: tuple[str, ...]
    measure: Measure
    estimand: Estimand
    min_organizations: int = 1
    asked_threshold: Threshold | None = None
    reach: int | None = None
    shared: SharedWork = field(default_factory=SharedWork)

    def _once(self, name: str, work: Callable[[], Made], *more: Hashable) -> Made:
        """Return work that is the same for other runs on the collection, at the same threshold and depth."""
        key = name, self.collection.organizations, self.threshold, self.document_depth, *more
        return self.shared.once(key, work)

    @property
    def threshold(self) -> Threshold:
        """Threshold of the problem."""
        return self.asked_threshold or Threshold(0, self.measure.rel)

    @property
    def document_depth(self) -> int:
        """Depth of the evidence of models of documents."""
        return max(self.measure.cutoff, DEPTHS["documents"])

    @property
    def count_depth(self) -> int:
        """Depth of the evidence of models of counts."""
        return max(self.measure.cutoff, DEPTHS["counts"])

    @cached_property
    def counts(self) -> JudgmentCounts:
        """Judgment counts of the runs to score, for models of counts."""
        return judgment_counts(
            self.collection,
            self.run_ids,
            cutoffs=self.count_depth,
            estimand=self.estimand,
            **self.threshold.levels,
        )

    @cached_property
    def unknowns(self) -> Unknowns:
        """The documents to complete."""
        return find_unknowns(
            self.collection,
            self.run_ids,
            self.reach or self.measure.cutoff,
            self.estimand,
            self.document_depth,
        )

    @cached_property
    def organization(self) -> IntArray:
        """Organization of each run to score, shape (run,)."""
        return self.collection.organization[self.collection.run_index(self.run_ids)]

    @property
    def hidden(self) -> DocumentTable:
        """Hidden documents with their predictors, as often without labels as those to complete."""
        return self._tables[0]

    @property
    def unjudged(self) -> DocumentTable:
        """Documents to complete with their predictors, a row for each of their places."""
        return self._tables[1]

    @cached_property
    def _tables(self) -> tuple[DocumentTable, DocumentTable]:
        collection, names, depth = (
            self.collection,
            (*evidence_predictors(), *self.label_slopes),
            self.document_depth,
        )
        levels = self.threshold.levels
        hidden = self._once(
            "hidden documents",
            lambda: hidden_document_table(collection, cutoff=depth, names=names, **levels),
            names,
        )
        places, unknowns = self.places(depth), self.unknowns
        run, topic = unknowns.run_index[places.run], unknowns.topic[places.document]
        documents = run, topic, places.rank, unknowns.pair[places.document]
        deepest = max(depth, int(places.rank.max(initial=1)))
        predictors = document_table(collection, *documents, depth=deepest, names=names, **levels)
        unjudged = DocumentTable(*documents, np.zeros(len(run), dtype=np.int64), predictors, names)
        if not self.label_slopes:
            return hidden, unjudged
        return without_some_labels(collection, hidden, unjudged)

    def places(self, depth: int) -> DocumentPlaces:
        """Return places of the documents to complete in the runs to score, down to the evidence's depth."""
        if depth not in self._places:
            self._places[depth] = find_places(self.unknowns, depth)
        return self._places[depth]

    @cached_property
    def _places(self) -> dict[int, DocumentPlaces]:
        return {}

    @cached_property
    def label_slopes(self) -> dict[str, tuple[float, float]]:
        """Predictors from second judges and their expected slopes, for every model with predictors."""
        return label_slopes(self.collection, **self.threshold.levels)

    @property
    def has_evidence(self) -> bool:
        """Presence of any evidence: hidden documents, or added judgments."""
        return any(self._sources)

    @property
    def has_pool_evidence(self) -> bool:
        """Presence of evidence that an organization of the pool hides."""
        return self._sources[0]

    @cached_property
    def _sources(self) -> tuple[bool, bool]:
        """Presence of evidence of the pool, and of added judgments."""
        run, _, _, pair, _ = self.held_out
        own = self.collection.attributed_run[pair] >= 0
        kept = np.isin(run, self.collection.run_index(self.left_out), invert=True)
        return bool((kept & ~own).any()), bool(own.any())

    @property
    def held_out(self) -> HeldOutDocuments:
        """Hidden documents."""
        return self._once(
            "held-out documents",
            lambda: held_out_documents(self.collection, cutoff=self.document_depth, **self.threshold.levels),
        )

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Pooled runs that are no evidence: all of a pool of too few organizations."""
        # without the only organization nothing is judged, and all its documents are hidden, the best ones too
        pooled = np.flatnonzero(self.collection.pooled)
        if len(np.unique(self.collection.organization[pooled])) >= self.min_organizations:
            return ()
        return tuple(self.collection.run_ids[i] for i in pooled)

    @cached_property
    def below_pool(self) -> FloatArray:
        """Log of rank over pool depth, 0 within the pool, mean over places, shape (document,)."""
        places = self.places(self.document_depth)
        if not self.has_pool_evidence:
            return np.zeros(len(self.unknowns))
        _, _, rank, pair, _ = self.held_out
        # a strategy also judges deeper documents, which are evidence, too; the user's own are of few runs
        of_pool = self.collection.attributed_run[pair] < 0
        depth = max(self.collection.pool_depth, float(np.quantile(rank[of_pool], _EVIDENCE_ABOVE)))
        return places.mean(np.log(np.maximum(places.rank, depth) / depth))

    def table(self, spec: ModelSpec, *, hidden: bool) -> DocumentTable:
        """Return hidden or unjudged documents with a model's predictors, among others."""
        return with_predictors(
            self.collection,
            self.hidden if hidden else self.unjudged,
            tuple(spec.predictors),
            cutoff=self.document_depth,
            **self.threshold.levels,
        )

    @cached_property
    def contributing(self) -> tuple[str, ...]:
        """Runs to score that are evidence themselves: pooled ones, and those with added judgments."""
        collection = self.collection
        own = {collection.run_ids[i] for i in collection.contributors} - set(self.left_out)
        return tuple(run for run in self.run_ids if run in own)

    def prepare(self, model: str | ModelSpec, priors: Mapping[str, str]) -> PreparedModel:
        """Return evidence and log odds of one model, with other priors if given."""
        spec = (model_named(model) if isinstance(model, str) else model).with_priors(priors)
        evidence: Evidence
        if spec.evidence == "documents":
            if spec.predictors and self.label_slopes:
                spec = dataclasses.replace(spec, predictors={**spec.predictors, **self.label_slopes})

            def gather() -> LinearEvidence:
                table = self.table(spec, hidden=True)
                return gather_documents(self.collection, table, spec.predictors, without=self.left_out)

            if self.label_slopes:  # hidden documents lack labels as often as those to complete
                evidence = gather()
            else:
                evidence = self._once("evidence of documents", gather, tuple(spec.predictors.items()))
            of_places = evidence.standardize(self.table(spec, hidden=False))
            predictors = self.places(self.document_depth).mean(of_places)
            log_odds = _document_log_odds(spec, predictors)
        else:
            predictors = None
            depth, levels = self.count_depth, self.threshold.levels
            held_out = self._once(
                "held-out counts",
                lambda: held_out_counts(self.collection, cutoffs=depth, with_own_judgments=True, **levels),
                depth,
            )
            evidence = gather_evidence(
                held_out, self.counts, depth, contributing=self.contributing, without=self.left_out
            )
            log_odds = self._count_log_odds(spec, evidence)
        contributing = self.collection.run_index(self.contributing)
        with_own_judgments = contributing[~self.collection.pooled[contributing]]
        known = np.isin(self.organization, self.collection.organization[with_own_judgments])
        known |= np.isin(self.run_ids, self.contributing)
        present = np.isin(self.collection.organizations, evidence.organizations)
        known &= present[self.organization]  # documents added for it may be no evidence
        organization = [
            evidence.organizations.index(self.collection.organizations[o]) if k else -1
            for o, k in zip(self.organization, known, strict=True)
        ]
        run_ids = evidence.run_ids if isinstance(evidence, ModelEvidence) else self.collection.run_ids
        return PreparedModel(
            spec, evidence, log_odds, np.array(organization, dtype=np.intp), run_ids, predictors
        )

    def _count_log_odds(self, spec: ModelSpec, evidence: ModelEvidence) -> LogOddsFunction:
        """Return log odds of the documents to complete under a model of counts."""
        position = np.arange(evidence.n_pooled_runs, len(evidence.run_ids))
        residual, places = self.counts.residual[:, :, 0], self.places(self.count_depth)
        labels = label_ratios(
            self.collection,
            self.unknowns.run_index[places.run],
            self.unknowns.pair[places.document].astype(np.intp),
            **self.threshold.levels,
        )

        def log_odds(
            draws: Mapping[str, FloatArray], source: OrderArray, topic: int, documents: slice
        ) -> FloatArray:
            at = {"topic": topic, "run": position}
            of_runs = spec.log_odds(draws, at, residual=residual[:, topic], source=source)
            there = places.of(documents)
            of_places = of_runs.T[there.run]
            for judge in labels:
                of_places = of_places + judge.draw_ratios(source, places.span(documents)).T
            return there.mean(of_places).T

        return log_odds


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """One model with its evidence and a formula of log odds, ready to be fitted; no draws yet.

    Attributes
    ----------
    spec : ModelSpec
        With the priors to use.
    evidence : ModelEvidence or LinearEvidence
    log_odds : callable
        (draws by variable, which of them, topic, which of the documents to complete) → log odds of these,
        shape (draw, document), without the effects of their organization.
    organization : ndarray of int, shape (run,)
        Of each run to score, as an index into the evidence's; −1 for a new one.
    run_ids : tuple of str
        Names of the runs that the evidence numbers.
    predictors : ndarray of float, shape (document, predictor), or None
        Of the documents to complete, on the evidence's scale; None for a model of counts.
    """

    spec: ModelSpec
    evidence: Evidence
    log_odds: LogOddsFunction
    organization: OrderArray
    run_ids: tuple[str, ...]
    predictors: FloatArray | None = None

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.spec.name

    @cached_property
    def key(self) -> Hashable:
        """Key of a fit, but for engine and seed: the same for equal models on equal evidence."""
        digest = hashlib.blake2b(digest_size=16)
        for part in dataclasses.fields(self.evidence):
            value = getattr(self.evidence, part.name)
            digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
            digest.update(b"\0")
        return repr(self.spec), digest.digest(), self.run_ids, self.known

    def fit(self, engine: Engine, random_seed: int) -> Fit:
        """Return a fit to the evidence with its source, and the effects on topics of the runs to score."""
        fit = engine.fit(self.spec, self.evidence, random_seed, known=self.known)
        return dataclasses.replace(fit, source=Source(self.spec, self.evidence, self.run_ids, self.known))

    def graph(self) -> Any:
        """Return the model as a ``pymc.Model``."""
        from bayespool.models.graphs import build_graph  # imports PyMC

        return build_graph(self.spec, self.evidence)

    def structure(self, evidence: Evidence | None = None, known: Sequence[int] | None = None) -> Structure:
        """Return the model as numbers, on other evidence if given; ``known`` as in `ModelSpec.structure`."""
        return self.spec.structure(self.evidence if evidence is None else evidence, known)

    @property
    def known(self) -> tuple[int, ...]:
        """Organizations of runs to score that are evidence."""
        return tuple(np.unique(self.organization[self.organization >= 0]).tolist())


def _document_log_odds(spec: ModelSpec, predictors: FloatArray) -> LogOddsFunction:
    """Return log odds of the documents to complete under a model of documents."""

    def log_odds(
        draws: Mapping[str, FloatArray], source: OrderArray, topic: int, documents: slice
    ) -> FloatArray:
        return spec.log_odds(draws, {"topic": topic}, predictors=predictors[documents], source=source)

    return log_odds


SHIFT = "shift"
"""Name of the prior of what is added to the log odds of unjudged documents."""

ADAPTIVE_POOL_SHIFT_PRIOR = "Normal(-0.25, 0.25)"
"""Prior of this shift where judgments decided what was judged (research/decisions/diary.md)."""


def prior_names(model: str) -> tuple[str, ...]:
    """Return names of the priors of a model, or of every model of the combined estimator."""
    return tuple(
        dict.fromkeys(name for member in member_models(model) for name in model_named(member).prior_names)
    )


def estimator_prior_names(model: str) -> tuple[str, ...]:
    """Return the prior names that an estimator accepts, including those of quantities without evidence."""
    return (*prior_names(model), *BELOW_POOL_PRIORS, SHIFT)


def member_models(model: str) -> tuple[str, ...]:
    """Return names of the models that an estimator may use: several if it is the combined one."""
    return (*COMBINED_MODELS, FALLBACK_MODEL) if model == "combined" else (model,)
