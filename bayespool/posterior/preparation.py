"""What each model needs of a collection: its evidence, and the log odds of the documents to complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.counts import (
    Estimand,
    JudgmentCounts,
    held_out_counts,
    held_out_documents,
    judgment_counts,
)
from bayespool.measures import Measure
from bayespool.posterior.effects import interaction_scale
from bayespool.posterior.ladder import Rung
from bayespool.posterior.unknowns import Places, Unknowns, find_places, find_unknowns
from bayespool.predictors import (
    DocumentTable,
    document_table,
    evidence_predictors,
    hidden_document_table,
    with_composition,
)

if TYPE_CHECKING:
    from bayespool.models import LinearEvidence, ModelEvidence, Structure

__all__ = [
    "DEPTHS",
    "MODEL_NAMES",
    "LinearName",
    "ModelName",
    "Prepared",
    "Task",
    "evidence_depth",
    "prior_names",
]

ModelName = Literal["background", "interpolated", "smoothed", "ratio", "anti_precision", "evidence"]
MODEL_NAMES: tuple[ModelName, ...] = get_args(ModelName)
LinearName = Literal["ratio", "anti_precision", "evidence"]

FloatArray = npt.NDArray[np.float64]
LogOdds = Callable[[Mapping[str, FloatArray], npt.NDArray[np.intp], int, slice], FloatArray]


DEPTHS: Mapping[str, int] = MappingProxyType({"documents": 30, "counts": 10})
"""Least depth of the evidence of models of documents, and of models of counts.

Measures whose cutoffs are no deeper share one fit and one completion. Models of documents know a document's
rank and may learn from more than a top 10; 30 ranks of hidden documents predict P@5 to P@20 as well as their
own (docs/calibration.md). What models of counts say is of a top n as a whole, and deeper ranks would change
it.
"""


def evidence_depth(model: ModelName, cutoff: int) -> int:
    """Down to which rank a model's evidence goes for a measure that looks down to a cutoff."""
    return max(cutoff, DEPTHS["documents" if model in get_args(LinearName) else "counts"])


@dataclass(frozen=True, eq=False)
class Task:
    """Runs to score on a collection under a measure; what several models use is made once.

    Attributes
    ----------
    collection : Collection
    run_ids : tuple of str
    measure : Measure
        Of several with evidence of one depth the one that looks deepest.
    estimand : {"complete", "pooled"}
    min_organizations : int
        A pool of fewer is no evidence.
    rung : Rung, optional
        What is asked of a document; default: whether it is relevant under the measure.
    reach : int, optional
        Down to which rank documents are completed; default: the measure's cutoff.
    """

    collection: Collection
    run_ids: tuple[str, ...]
    measure: Measure
    estimand: Estimand
    min_organizations: int = 1
    rung: Rung | None = None
    reach: int | None = None

    @property
    def asked(self) -> Rung:
        """What is asked of a document."""
        return self.rung or Rung(0, self.measure.rel)

    @property
    def document_depth(self) -> int:
        """Depth of the evidence of models of documents."""
        return evidence_depth("evidence", self.measure.cutoff)

    @property
    def count_depth(self) -> int:
        """Depth of the evidence of models of counts."""
        return evidence_depth("background", self.measure.cutoff)

    @cached_property
    def counts(self) -> JudgmentCounts:
        """Judgment counts of the runs that models of counts use."""
        return judgment_counts(
            self.collection,
            self.run_ids,
            cutoffs=self.count_depth,
            rel=self.asked.rel,
            given=self.asked.given,
            estimand=self.estimand,
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
    def organization(self) -> npt.NDArray[np.int32]:
        """Organization of each run to score."""
        return self.collection.organization[self.collection.run_index(self.run_ids)]

    @cached_property
    def hidden(self) -> DocumentTable:
        """Hidden documents with their predictors."""
        return hidden_document_table(
            self.collection, cutoff=self.document_depth, rel=self.asked.rel, given=self.asked.given
        )

    def places(self, depth: int) -> Places:
        """Where runs to score rank the documents to complete, down to the depth of the evidence."""
        if depth not in self._places:
            self._places[depth] = find_places(self.unknowns, depth)
        return self._places[depth]

    @cached_property
    def _places(self) -> dict[int, Places]:
        return {}

    @cached_property
    def unjudged(self) -> DocumentTable:
        """The documents to complete with their predictors, a row for each of their places."""
        places, pair = self.places(self.document_depth), self.unknowns.pair
        run, topic = self.unknowns.run_index[places.run], self.unknowns.topic[places.document]
        predictors = document_table(
            self.collection,
            run,
            topic,
            places.rank,
            pair[places.document],
            depth=max(self.document_depth, int(places.rank.max(initial=1))),
            rel=self.asked.rel,
            given=self.asked.given,
        )
        unknown = np.zeros(len(run), dtype=np.int64)
        names = evidence_predictors()
        return DocumentTable(run, topic, places.rank, pair[places.document], unknown, predictors, names)

    @cached_property
    def has_evidence(self) -> bool:
        """Whether any hidden document is evidence."""
        run, _, _, pair, _ = held_out_documents(
            self.collection, cutoff=self.document_depth, rel=self.asked.rel, given=self.asked.given
        )
        kept = np.isin(run, self.collection.run_index(self.left_out), invert=True)
        return bool((kept | (self.collection.added_for[pair] >= 0)).any())

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Pooled runs that are no evidence: all of a pool of too few organizations. Without an only one
        nothing is judged, and all that it retrieved is hidden, its best documents too.
        """
        pooled = np.flatnonzero(self.collection.pooled)
        if len(np.unique(self.collection.organization[pooled])) >= self.min_organizations:
            return ()
        return tuple(self.collection.run_ids[i] for i in pooled)

    def table(self, model: LinearName, *, hidden: bool) -> DocumentTable:
        """Hidden or unjudged documents with the predictors of a model among others."""
        table = self.hidden if hidden else self.unjudged
        if model != "anti_precision":
            return table
        return with_composition(
            self.collection,
            table,
            cutoff=self.document_depth,
            rel=self.asked.rel,
            given=self.asked.given,
        )

    def linear_evidence(self, model: LinearName) -> LinearEvidence:
        """Evidence of a model with predictors."""
        from bayespool import models

        slopes: Mapping[str, tuple[float, float]] = getattr(models, f"{model.upper()}_SLOPES")
        return models.gather_documents(
            self.collection, self.table(model, hidden=True), slopes, without=self.left_out
        )

    @cached_property
    def contributing(self) -> tuple[str, ...]:
        """The runs to score that are evidence themselves: pooled ones, and those with added judgments."""
        collection = self.collection
        own = {collection.run_ids[i] for i in collection.contributors} - set(self.left_out)
        return tuple(run for run in self.run_ids if run in own)

    def prepare(self, model: ModelName, priors: Mapping[str, str]) -> Prepared:
        """Everything that an engine and the completion need for one model."""
        evidence: LinearEvidence | ModelEvidence
        if model == "ratio" or model == "evidence" or model == "anti_precision":
            evidence = self.linear_evidence(model)
            log_odds = self._linear(model, evidence)
        else:
            from bayespool.models import gather_evidence

            held_out = held_out_counts(
                self.collection,
                cutoffs=self.count_depth,
                rel=self.asked.rel,
                given=self.asked.given,
                with_added=True,
            )
            evidence = gather_evidence(
                held_out,
                self.counts,
                self.count_depth,
                contributing=self.contributing,
                without=self.left_out,
            )
            log_odds = self._counted(model, evidence)
        contributing = self.collection.run_index(self.contributing)
        with_added = contributing[~self.collection.pooled[contributing]]
        known = np.isin(self.organization, self.collection.organization[with_added])
        known |= np.isin(self.run_ids, self.contributing)
        present = np.isin(self.collection.organizations, evidence.organizations)
        known &= present[self.organization]  # what was added for it may be no evidence
        organization = [
            evidence.organizations.index(self.collection.organizations[o]) if k else -1
            for o, k in zip(self.organization, known, strict=True)
        ]
        return Prepared(model, evidence, dict(priors), log_odds, np.array(organization, dtype=np.intp))

    def _linear(self, model: LinearName, evidence: LinearEvidence) -> LogOdds:
        from bayespool.models import document_log_odds

        of_places = evidence.standardise(self.table(model, hidden=False))
        predictors = self.places(self.document_depth).mean(of_places)

        def log_odds(
            draws: Mapping[str, FloatArray], source: npt.NDArray[np.intp], topic: int, documents: slice
        ) -> FloatArray:
            intercept = draws["mu"][source] + draws["topic_effect"][source, topic]
            return document_log_odds(intercept, draws["beta"][source], predictors[documents])

        return log_odds

    def _counted(self, model: ModelName, evidence: ModelEvidence) -> LogOdds:
        from bayespool import models

        function: Callable[..., FloatArray] = getattr(models, f"{model}_log_odds")
        position = np.arange(evidence.n_pooled_runs, len(evidence.run_ids))
        residual, places = self.counts.residual[:, :, 0], self.places(self.count_depth)

        def log_odds(
            draws: Mapping[str, FloatArray], source: npt.NDArray[np.intp], topic: int, documents: slice
        ) -> FloatArray:
            of_topic = ("topic_effect", "background_effect")
            some = {
                name: values[source, topic : topic + 1] if name in of_topic else values[source]
                for name, values in draws.items()
            }
            of_runs = function(some, position, residual[:, topic : topic + 1])[:, :, 0]
            there = places.of(documents)
            return there.mean(of_runs.T[there.run]).T

        return log_odds


@dataclass(frozen=True, eq=False)
class Prepared:
    """One model with the evidence at hand.

    Attributes
    ----------
    model : str
    evidence : ModelEvidence or LinearEvidence
    priors : dict of str to str
    log_odds : callable
        (draws by variable, which of them, topic, which of the documents to complete) → log odds of these,
        shape (draw, document), without the effect of their organization.
    organization : ndarray of int, shape (run,)
        Of each run to score, as an index into the evidence's; −1 for a new one.
    """

    model: ModelName
    evidence: ModelEvidence | LinearEvidence
    priors: dict[str, str]
    log_odds: LogOdds
    organization: npt.NDArray[np.intp]

    def interaction_scale(self, draws: Mapping[str, FloatArray], seen: Any = None) -> float:
        """Scale of the effects of organization × topic given a fit to the evidence, or to the part of it that
        was seen; 0 for models without predictors, which have no such effects.
        """
        from bayespool.models import LinearEvidence

        evidence = self.evidence if seen is None else seen
        return interaction_scale(evidence, draws) if isinstance(evidence, LinearEvidence) else 0.0

    def graph(self) -> Any:
        """The model as a ``pymc.Model``."""
        return self._build(self.model, self.evidence)

    def structure(self, evidence: LinearEvidence | None = None) -> Structure:
        """The model for the Laplace engine, on other evidence if given."""
        made: Structure = self._build(f"{self.model}_structure", evidence or self.evidence)
        return made

    def _build(self, function: str, evidence: Any) -> Any:
        from bayespool import models

        priors = {name: models.parse_prior(text) for name, text in self.priors.items()}
        build: Callable[..., Any] = getattr(models, function)
        known = prior_names(self.model)
        return build(evidence, **{name: prior for name, prior in priors.items() if name in known})


def prior_names(model: str) -> tuple[str, ...]:
    """Names of the priors of a model; of the combined estimator, those of every model that it may use."""
    from bayespool import models

    used = ("ratio", "evidence", "interpolated") if model == "combined" else (model,)
    names = [name for one in used for name in getattr(models, f"{one}_structure").__kwdefaults__]
    return tuple(dict.fromkeys(names))
