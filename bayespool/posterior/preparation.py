"""Preparation of models: evidence, and log odds of the documents to complete."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.arrays import FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.packing import pool_part
from bayespool.evidence import (
    DocumentTable,
    Estimand,
    JudgmentCounts,
    held_out_counts,
    hidden_document_table,
    judgment_counts,
)
from bayespool.evidence.held_out import HeldOutDocuments, held_out_documents
from bayespool.evidence.learned_fusion import forget_learned_fusion
from bayespool.evidence.predictor_table import with_predictors, without_some_labels
from bayespool.evidence.predictors import DocumentContext, KnownFusion, evidence_predictors
from bayespool.evidence.predictors_of_labels import company_slopes, label_ratios, label_slopes
from bayespool.inference import Engine, Fit, Source, Start
from bayespool.inference.variables import release_memory
from bayespool.measures import Measure
from bayespool.models import LinearEvidence, ModelSpec, gather_documents, gather_evidence, model_named
from bayespool.models.evidence import ModelEvidence, UnjudgedDocuments
from bayespool.models.spec import BELOW_POOL_PRIORS
from bayespool.models.terms import find_factor, indicators, refuse_lacking_columns
from bayespool.names import COMBINED_MODELS
from bayespool.posterior.thresholds import Threshold
from bayespool.posterior.unknowns import DocumentPlaces, Unknowns, find_places, find_unknowns
from bayespool.posterior.work import Made, SharedWork

if TYPE_CHECKING:
    from bayespool.models import Evidence, Structure

LogOddsFunction = Callable[[Mapping[str, FloatArray], OrderArray, int, slice], FloatArray]

FALLBACK_MODEL = "odds_ratio"
"""Model that the combined estimator uses if there are no hidden documents."""

# Measures with cutoffs up to it share one fit and one completion. 30 ranks of hidden documents predict P@5 to
# P@20 as well as their own (decisions.md of docs/developers). Models of counts are of a top n, which deeper
# ranks would change.
DEPTHS: Mapping[str, int] = MappingProxyType({"documents": 30, "counts": 10})
"""Smallest evidence depth for document models and for count models."""


_EVIDENCE_ABOVE = 0.95  # share of hidden documents above the rank at which evidence ends


def evidence_depth(model: str, cutoff: int) -> int:
    """Return the deepest rank that a model uses as evidence for a measure with the given cutoff."""
    return max(cutoff, DEPTHS[model_named(model).evidence])


@dataclass(frozen=True, eq=False)
class ScoringProblem:
    """Inputs that all models share at one threshold, such as runs, evidence and unjudged documents.

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
    same_runs : SharedWork
        Shared with the problems of the same runs at other thresholds.
    """

    collection: Collection
    run_ids: tuple[str, ...]
    measure: Measure
    estimand: Estimand
    min_organizations: int = 1
    asked_threshold: Threshold | None = None
    reach: int | None = None
    shared: SharedWork = field(default_factory=SharedWork)
    same_runs: SharedWork = field(default_factory=SharedWork)

    def _once(self, name: str, work: Callable[[], Made], *more: Hashable) -> Made:
        """Return cached work on the pool that other runs share at the same threshold and depth."""
        key = name, self.part.organizations, self.threshold, self.document_depth, *more
        shared = self.shared if self.part is self.collection else self.shared.kept
        return shared.once(key, work)

    @cached_property
    def part(self) -> Collection:
        """The pool alone, where runs are joined to one and no judge has labels; else the collection."""
        return self.collection if self.collection.judges else pool_part(self.collection)

    def _once_for_runs(self, name: str, work: Callable[[], Made], *more: Hashable) -> Made:
        """Return cached work that problems of the same runs and depth share at all thresholds."""
        reach = self.reach or self.measure.cutoff
        key = name, self.collection, self.run_ids, self.estimand, reach, self.document_depth, *more
        return self.same_runs.once(key, work)

    @property
    def threshold(self) -> Threshold:
        """Relevance threshold that the models estimate."""
        return self.asked_threshold or Threshold(0, self.measure.rel)

    @property
    def document_depth(self) -> int:
        """Deepest rank in the evidence for document models."""
        return max(self.measure.cutoff, DEPTHS["documents"])

    @property
    def count_depth(self) -> int:
        """Deepest rank in the evidence for count models."""
        return max(self.measure.cutoff, DEPTHS["counts"])

    @cached_property
    def counts(self) -> JudgmentCounts:
        """Numbers of judged and relevant documents in the runs to score, for count models."""
        return judgment_counts(
            self.collection,
            self.run_ids,
            cutoffs=self.count_depth,
            estimand=self.estimand,
            **self.threshold.levels,
        )

    @cached_property
    def n_unjudged(self) -> IndexArray:
        """Number of unjudged documents of each run to the depth of pool and evidence, shape (run,)."""
        collection, depth = self.collection, min(self.document_depth, self.collection.pool_depth)
        document = collection.document[collection.run_index(self.run_ids), :, :depth]
        is_unjudged = np.append(collection.may_be_relevant, False)  # −1, no document, is the last
        return np.asarray(is_unjudged[document].sum(axis=(1, 2)))

    @cached_property
    def unknowns(self) -> Unknowns:
        """Unjudged documents to complete."""
        depth, reach = self.document_depth, self.reach or self.measure.cutoff
        return self._once_for_runs(
            "unknowns", lambda: find_unknowns(self.collection, self.run_ids, reach, self.estimand, depth)
        )

    @cached_property
    def organization(self) -> IntArray:
        """Organization index for each run to score, shape (run,)."""
        return self.collection.organization[self.collection.run_index(self.run_ids)]

    @property
    def hidden(self) -> DocumentTable:
        """Hidden documents with the evidence model's predictors, lacking labels as often as the others."""
        names = (*evidence_predictors(), *self.label_slopes)
        return with_predictors(self._documents(hidden=True), self._context(hidden=True), names)

    def _documents(self, *, hidden: bool) -> DocumentTable:
        """Return hidden documents, or those to complete, with the predictors of labels alone."""
        if self.label_slopes:
            return self._labeled_documents[0 if hidden else 1]
        return self._hidden_documents if hidden else self._unjudged_documents

    @property
    def _hidden_documents(self) -> DocumentTable:
        """Hidden documents with all their labels."""
        depth, levels, names = self.document_depth, self.threshold.levels, tuple(self.label_slopes)
        return self._once(
            "hidden documents",
            lambda: hidden_document_table(self.part, cutoff=depth, names=names, **levels),
            names,
        )

    @cached_property
    def _unjudged_documents(self) -> DocumentTable:
        """Documents to complete with all their labels, a row for each retrieving run."""
        places, unknowns = self.places(self.document_depth), self.unknowns
        run, topic = unknowns.run_index[places.run], unknowns.topic[places.document]
        documents = run, topic, places.rank, unknowns.pair[places.document]
        table = DocumentTable(*documents, np.zeros(len(run), dtype=np.int64), np.zeros((len(run), 0)), ())
        context = table.context(self.collection, cutoff=self.document_depth, **self.threshold.levels)
        return with_predictors(table, context, tuple(self.label_slopes))

    @cached_property
    def _labeled_documents(self) -> tuple[DocumentTable, DocumentTable]:
        """Hidden documents, and those to complete, with labels that both lack equally often."""
        return without_some_labels(self.collection, self._hidden_documents, self._unjudged_documents)

    @cached_property
    def _contexts(self) -> dict[bool, DocumentContext]:
        return {}

    def _context(self, *, hidden: bool) -> DocumentContext:
        """Return what predictors of hidden documents, or of those to complete, are computed from."""
        if hidden not in self._contexts:
            collection = self.part if hidden else self.collection
            table = self._hidden_documents if hidden else self._unjudged_documents
            context = table.context(collection, cutoff=self.document_depth, **self.threshold.levels)
            lengths = dict.fromkeys(KnownFusion._fields, len(context.runs)) | {"odds": len(context.pair)}
            looks = hidden and not collection.judges
            results = self.shared.find(*self._fusion_name, **lengths) if looks else None
            if results is not None:
                fusion = KnownFusion(*(results[name] for name in KnownFusion._fields))
                context = dataclasses.replace(context, known=fusion)
            self._contexts[hidden] = context
        return self._contexts[hidden]

    @property
    def _fusion_name(self) -> tuple[object, ...]:
        return "fusion", *self.threshold.levels.values(), self.document_depth

    def record_fusion(self) -> None:
        """Record what learned fusion says of hidden documents (`SharedWork`)."""
        self.shared.record(*self._fusion_name, **self._context(hidden=True).fusion._asdict())

    def forget(self) -> None:
        """Forget what predictors are computed from, of thousands of topics hundreds of megabytes."""
        self._contexts.clear()
        forget_learned_fusion(self.part)
        forget_learned_fusion(self.collection)
        release_memory()

    def places(self, depth: int) -> DocumentPlaces:
        """Return runs and ranks for the documents to complete, down to the given depth."""
        return self._once_for_runs("places", lambda: find_places(self.unknowns, depth), depth)

    @cached_property
    def label_slopes(self) -> dict[str, tuple[float, float]]:
        """Predictors from LLM judges' labels, with the mean and scale of their slopes."""
        return label_slopes(self.collection, **self.threshold.levels)

    @property
    def has_evidence(self) -> bool:
        """Whether there are any hidden documents or added judgments to learn from."""
        return any(self._sources)

    @property
    def has_pool_evidence(self) -> bool:
        """Whether the pool's organizations have hidden documents to learn from."""
        return self._sources[0]

    @cached_property
    def _sources(self) -> tuple[bool, bool]:
        """Whether there is evidence from the pool, and whether from added judgments."""
        run, _, _, pair, _ = self.held_out
        own = self.part.attributed_run[pair] >= 0
        kept = np.isin(run, self.part.run_index(self.left_out), invert=True)
        return bool((kept & ~own).any()), bool(own.any())

    @property
    def held_out(self) -> HeldOutDocuments:
        """Hidden documents of all held-out organizations, down to the evidence depth."""
        return self._once(
            "held-out documents",
            lambda: held_out_documents(self.part, cutoff=self.document_depth, **self.threshold.levels),
        )

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Pooled runs not used as evidence: every pooled run if the pool has too few organizations."""
        # without the only organization nothing is judged, and all its documents are hidden, the best ones too
        pooled = np.flatnonzero(self.collection.pooled)
        if len(np.unique(self.collection.organization[pooled])) >= self.min_organizations:
            return ()
        return tuple(self.collection.run_ids[i] for i in pooled)

    @cached_property
    def below_pool(self) -> FloatArray:
        """Log ratio of rank to pool depth, 0 within the pool, averaged over runs, shape (document,)."""
        places = self.places(self.document_depth)
        if not self.has_pool_evidence:
            return np.zeros(len(self.unknowns))
        _, _, rank, pair, _ = self.held_out
        # a strategy also judges deeper documents, which are evidence, too; the user's own are of few runs
        of_pool = self.part.attributed_run[pair] < 0
        depth = max(self.collection.pool_depth, float(np.quantile(rank[of_pool], _EVIDENCE_ABOVE)))
        return places.mean(np.log(np.maximum(places.rank, depth) / depth))

    def table(self, spec: ModelSpec, *, hidden: bool) -> DocumentTable:
        """Return hidden or unjudged documents with the predictors that a model needs."""
        table = self._documents(hidden=hidden)
        return with_predictors(table, self._context(hidden=hidden), tuple(spec.predictors))

    @cached_property
    def contributing(self) -> tuple[str, ...]:
        """Runs to score that also provide evidence: pooled ones, their copies, those with added judgments."""
        collection = self.collection
        own = {collection.run_ids[i] for i in collection.contributors} - set(self.left_out)
        originals = zip(self.run_ids, collection.originals(self.run_ids), strict=True)
        return tuple(run for run, original in originals if original in own or run in own)

    def prepare(
        self, model: str | ModelSpec, priors: Mapping[str, str], *, credited: bool = False
    ) -> PreparedModel:
        """Return a model prepared with its evidence and log odds, with its priors replaced if given.

        Predictors of documents are means over their places, or those of the run that each is ``credited`` to;
        there labels of the document's company are among them. On priors and judgments of one's own alone,
        they have how many runs share the document, by which `judge_next` chooses.
        """
        spec = (model_named(model) if isinstance(model, str) else model).with_priors(priors)
        evidence: Evidence
        groups = spec.terms.groups
        refuse_lacking_columns(self.collection, spec.terms)
        if spec.evidence == "documents":
            if spec.predictors and self.label_slopes:
                company = company_slopes(self.collection, **self.threshold.levels) if credited else {}
                slopes = {**spec.predictors, **self.label_slopes, **company}
                spec = dataclasses.replace(spec, predictors=slopes)
            if spec.predictors and not credited and self.has_evidence and not self.has_pool_evidence:
                spec = dataclasses.replace(spec, predictors={**spec.predictors, **SHARED_SLOPE})

            def gather() -> LinearEvidence:
                table = self.table(spec, hidden=True)
                alone = gather_documents(self.part, table, spec.predictors, without=self.left_out)
                return dataclasses.replace(alone, factors=tuple(find_factor(self.part, n) for n in groups))

            if self.label_slopes:  # hidden documents lack labels as often as those to complete
                evidence = gather()
            else:
                evidence = self._once("evidence of documents", gather, tuple(spec.predictors.items()), groups)
            of_places = evidence.standardize(self.table(spec, hidden=False))
            places, crossed = self.places(self.document_depth), spec.crossed(evidence)
            if crossed:
                run, names = self.unknowns.run_index[places.run], (spec.effects[n].dim for n in crossed)
                of_places = np.hstack([of_places, *indicators(self.collection, names, run)])
            predictors = of_places[places.start[:-1]] if credited else places.mean(of_places)
            log_odds = _document_log_odds(spec, predictors, evidence.on_topic)
        else:
            predictors, others = None, self._without_hidden
            key = self.collection.organizations, self.threshold, self.count_depth, others
            evidence = self.shared.once(("evidence of counts", *key), lambda: self._count_evidence(others))
            index = self.collection.run_index(evidence.run_ids)
            factors = tuple(find_factor(self.collection, name).select(index, "run") for name in groups)
            evidence = dataclasses.replace(evidence, factors=factors) if factors else evidence
            log_odds = self._count_log_odds(spec, evidence)
        contributing = self.collection.run_index(self.collection.originals(self.contributing))
        with_own_judgments = contributing[~self.collection.pooled[contributing]]
        known = np.isin(self.organization, self.collection.organization[with_own_judgments])
        known |= np.isin(self.run_ids, self.contributing)
        present = np.isin(self.collection.organizations, evidence.organizations)
        known &= present[self.organization]  # documents added for it may be no evidence
        organization = [
            evidence.organizations.index(self.collection.organizations[o]) if k else -1
            for o, k in zip(self.organization, known, strict=True)
        ]
        run_ids = evidence.run_ids if isinstance(evidence, ModelEvidence) else self.part.run_ids
        return PreparedModel(
            spec, evidence, log_odds, np.array(organization, dtype=np.intp), run_ids, predictors
        )

    @cached_property
    def _without_hidden(self) -> tuple[str, ...]:
        """Runs without hidden documents whose judged ones are evidence, whichever runs are scored."""
        collection = self.collection
        hiding = {collection.run_ids[i] for i in collection.contributors}
        scored = set(self.run_ids) & set(self.left_out)
        return tuple(run for run in collection.run_ids if run not in hiding or run in scored)

    def _count_evidence(self, others: tuple[str, ...]) -> ModelEvidence:
        """Return the evidence for count models, with the judged documents of other runs."""
        depth, levels = self.count_depth, self.threshold.levels
        held_out = held_out_counts(self.collection, cutoffs=depth, with_own_judgments=True, **levels)
        counts = judgment_counts(self.collection, others, cutoffs=depth, estimand=self.estimand, **levels)
        return gather_evidence(held_out, counts, depth, without=self.left_out)

    def _count_log_odds(self, spec: ModelSpec, evidence: ModelEvidence) -> LogOddsFunction:
        """Return a function for the log odds of documents to complete under a count model."""
        position = np.array([evidence.run_ids.index(run) for run in self.run_ids], dtype=np.intp)
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
            at = {"topic": topic, "run": position, **evidence.levels_of_runs(position, topic)}
            of_runs = spec.log_odds(draws, at, residual=residual[:, topic], source=source)
            there = places.of(documents)
            of_places = of_runs.T[there.run]
            for judge in labels:
                of_places = of_places + judge.draw_ratios(source, places.span(documents)).T
            return there.mean(of_places).T

        return log_odds


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """Model specification with its evidence and log-odds formula, ready to be fitted.

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
        Of the documents to complete, on the evidence's scale, then the shares of the levels of effects of
        runs (`ModelSpec.crossed`); None for a model of counts.
    """

    spec: ModelSpec
    evidence: Evidence
    log_odds: LogOddsFunction
    organization: OrderArray
    run_ids: tuple[str, ...]
    predictors: FloatArray | None = None

    @property
    def model(self) -> str:
        """Model name."""
        return self.spec.name

    def on_topic(self, topic: int) -> dict[str, int]:
        """Return the coordinates that all documents of a topic share."""
        assert isinstance(self.evidence, LinearEvidence)
        return self.evidence.on_topic(topic)

    @cached_property
    def key(self) -> Hashable:
        """Cache key for fits, equal for equal models on equal evidence."""
        return repr(self.spec), self.evidence.digest, self.run_ids, self.known

    def fit(self, engine: Engine, random_seed: int, start: Start | None = None) -> Fit:
        """Fit the model to its evidence with the given engine, which made the ``start``, if any."""
        began: dict[str, Any] = {} if start is None else {"start": start}
        fit = engine.fit(self.spec, self.evidence, random_seed, known=self.known, **began)
        return dataclasses.replace(fit, source=self.source())

    def source(self) -> Source:
        """Return model and evidence, from which all else about a fit follows."""
        return Source(self.spec, self.evidence, self.run_ids, self.known)

    def graph(self, unjudged: UnjudgedDocuments | None = None) -> Any:
        """Return the model as a ``pymc.Model``, with unjudged documents if given."""
        from bayespool.models.graphs import build_graph  # imports PyMC

        return build_graph(self.spec, self.evidence, unjudged)

    def structure(self, evidence: Evidence | None = None, known: Sequence[int] | None = None) -> Structure:
        """Return the model as numeric arrays, with other evidence if given.

        ``known`` is passed to `ModelSpec.structure`.
        """
        return self.spec.structure(self.evidence if evidence is None else evidence, known)

    @property
    def known(self) -> tuple[int, ...]:
        """Indices for organizations in the evidence that have a run to score and effects on topics."""
        if "interaction" not in self.spec.effects:
            return ()
        return tuple(np.unique(self.organization[self.organization >= 0]).tolist())


def _document_log_odds(
    spec: ModelSpec, predictors: FloatArray, on_topic: Callable[[int], dict[str, int]]
) -> LogOddsFunction:
    """Return a function for the log odds of documents to complete under a document model."""

    def log_odds(
        draws: Mapping[str, FloatArray], source: OrderArray, topic: int, documents: slice
    ) -> FloatArray:
        return spec.log_odds(draws, on_topic(topic), predictors=predictors[documents], source=source)

    return log_odds


SHARED_SLOPE: Mapping[str, tuple[float, float]] = MappingProxyType({"log_runs_outside": (0.6, 0.8)})
"""Predictor on priors and judgments of one's own alone, with the mean and scale of its slope.

See research/decisions/diary.md.
"""
SHIFT = "shift"
"""Name of the prior for the log-odds shift of unjudged documents."""

ADAPTIVE_POOL_SHIFT_PRIOR = "Normal(-0.25, 0.25)"
"""Prior for the log-odds shift if earlier judgments decided which documents were judged.

See research/decisions/diary.md.
"""


def prior_names(model: str) -> tuple[str, ...]:
    """Return prior names for a model, or for every member of the combined model."""
    return tuple(
        dict.fromkeys(name for member in member_models(model) for name in model_named(member).prior_names)
    )


def estimator_prior_names(model: str) -> tuple[str, ...]:
    """Return the prior names that an estimator accepts, including those of quantities without evidence."""
    return (*prior_names(model), *BELOW_POOL_PRIORS, SHIFT)


def member_models(model: str) -> tuple[str, ...]:
    """Return names of the models that an estimator may use, several for the combined model."""
    return (*COMBINED_MODELS, FALLBACK_MODEL) if model == "combined" else (model,)
