"""Hidden documents of a pool as rows of evidence, and the engine that fits them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.evidence import HeldOutCounts, held_out_counts
from bayespool.evidence.held_out import held_out_documents
from bayespool.inference import Engine, Fit
from bayespool.inference.engines import engine_named, is_independent, make_engine
from bayespool.measures import Measure
from bayespool.models import Evidence, LinearEvidence, ModelSpec
from bayespool.posterior import PreparedModel, Rung, ScoringProblem
from bayespool.posterior.steps import rungs_of
from bayespool.scoring.settings import refuse_of_judgments

if TYPE_CHECKING:
    from bayespool.experiments.settings import CheckingSettings


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Settings for the fits of a check, which never fall back to another engine; `draws` and `tune` are per
    chain, and independent engines make ``draws × chains`` draws.
    """

    engine: str = "laplace"
    draws: int = 500
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.9

    def __post_init__(self) -> None:
        engine_named(self.engine)
        for name in ("draws", "tune", "chains"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1 and is {getattr(self, name)}")

    @classmethod
    def of(cls, settings: CheckingSettings, **other: Any) -> Fitting:
        """That of the settings of a check, but for some `other` ones."""
        names = ("engine", "draws", "tune", "chains")
        return cls(**{name: getattr(settings, name) for name in names} | other)

    def fit(
        self,
        prepared: PreparedModel,
        evidence: Evidence,
        random_seed: int,
        known: Sequence[int] | None = None,
    ) -> Fit:
        """Fit a model to evidence, which may differ from the prepared one's, with `known` as in
        `ModelSpec.structure`; failed checks are in the diagnostics, without a warning.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticsWarning)
            fit = self._engine.fit(prepared.spec, evidence, random_seed, known=known)
        return _shuffle(fit, random_seed) if is_independent(self.engine) else fit

    @cached_property
    def _engine(self) -> Engine:
        settings = {name: getattr(self, name) for name in ("draws", "tune", "chains", "target_accept")}
        return make_engine(self.engine, **settings)


def _shuffle(fit: Fit, random_seed: int) -> Fit:
    """The same independent draws in random order; the engine orders them by scale."""
    n_draws = next(iter(fit.variables.values())).shape[1]
    order = np.random.default_rng([random_seed, 2]).permutation(n_draws)
    return dataclasses.replace(
        fit,
        variables={name: values[:, order] for name, values in fit.variables.items()},
        sample_stats={name: values[:, order] for name, values in fit.sample_stats.items()},
    )


FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HiddenRows:
    """Rows of a model's evidence with hidden documents, whose documents have one chance: run, topic and
    organization as positions among pooled ones, and counts within the measure's cutoff, shape (row,);
    `of_document` is the row of each distinct hidden document within the cutoff, shape (document,).
    """

    run: IndexArray
    topic: IndexArray
    organization: IndexArray
    n_hidden: IndexArray
    n_hidden_relevant: IndexArray
    of_document: IndexArray


@dataclass(frozen=True, eq=False)
class HiddenDocuments:
    """Documents that each pooled run would have unjudged had its organization not been pooled, of a problem
    without runs to score; above the first rung only those that reached the rung below. `of` is a measure that
    shares the problem's evidence and looks no deeper.
    """

    problem: ScoringProblem
    of: Measure | None = None

    def __post_init__(self) -> None:
        refuse_of_judgments([self.measure])

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The ladder of the measure."""
        return rungs_of(self.collection, self.measure)

    @property
    def collection(self) -> Collection:
        """The collection with the pool."""
        return self.problem.collection

    @property
    def measure(self) -> Measure:
        """The measure at whose cutoff documents are hidden."""
        return self.of or self.problem.measure

    @cached_property
    def run_index(self) -> npt.NDArray[np.intp]:
        """Positions of the pooled runs in the collection, shape (run,)."""
        return np.flatnonzero(self.collection.pooled)

    @cached_property
    def organization(self) -> IndexArray:
        """Organization of each pooled run among those with a pooled run, shape (run,)."""
        own = self.collection.organization[self.run_index]
        return np.unique(own, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def organizations(self) -> tuple[str, ...]:
        """Names of the organizations with a pooled run."""
        present = np.unique(self.collection.organization[self.run_index])
        return tuple(self.collection.organizations[o] for o in present)

    @cached_property
    def counts(self) -> HeldOutCounts:
        """Counts of the pooled runs with their organizations held out."""
        rung = self.problem.asked
        return held_out_counts(self.collection, cutoffs=self.measure.cutoff, rel=rung.rel, given=rung.given)

    @cached_property
    def _documents(self) -> _Documents:
        """The distinct hidden documents within the cutoff."""
        return self._hidden_down_to(self.measure.cutoff)

    @cached_property
    def _counted(self) -> _Documents:
        """The distinct hidden documents that models of counts learn from."""
        return self._hidden_down_to(self.problem.count_depth)

    def _hidden_down_to(self, depth: int) -> _Documents:
        rung = self.problem.asked
        run, topic, _, pair, relevant = held_out_documents(
            self.collection, cutoff=depth, rel=rung.rel, given=rung.given
        )
        return _Documents(run, topic, pair, relevant.astype(np.int64))

    @property
    def relevant(self) -> IndexArray:
        """Whether each distinct hidden document is relevant, 0 or 1, shape (document,)."""
        return self._documents.relevant

    @cached_property
    def places(
        self,
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.int32], npt.NDArray[np.intp]]:
        """Run, topic, pair and number of the distinct document of every hidden document in a top n, ordered
        by run, topic and rank; once for each run of the organization that retrieves it.
        """
        documents = self._documents
        run, topic, _, number = self.places_of(documents.run, documents.pair, self.measure.cutoff)
        return run, topic, documents.pair[number], number

    def places_of(
        self, credited: npt.NDArray[np.intp], pair: npt.NDArray[np.int32], depth: int
    ) -> tuple[npt.NDArray[np.intp], ...]:
        """Run, topic, rank from 0 and number of every place of distinct documents, credited to runs, in a
        ranking of their own organization down to a depth.
        """
        collection = self.collection
        number = np.full(len(collection.relevance) + 1, -1)
        number[pair] = np.arange(len(pair))
        number_at = number[collection.document[self.run_index, :, :depth]]
        owner = np.append(collection.organization[credited], -1)  # other documents have number −1
        own = collection.organization[self.run_index]
        run, topic, rank = np.nonzero(owner[number_at] == own[:, None, None])
        return run, topic, rank, number_at[run, topic, rank]

    def rows(self, evidence: Evidence) -> HiddenRows:
        """Rows of the complete evidence of a model; `ValueError` if they are neither hidden documents nor
        (run, topic) cells of them.
        """
        if isinstance(evidence, LinearEvidence):
            table = self.problem.hidden
            learned = _Documents(table.run, table.topic, table.pair, table.relevant)
            run, topic, organization = evidence.run, evidence.topic, evidence.organization
        else:
            learned = self._counted
            run = self.run_index[evidence.hidden_run].astype(np.int64)
            topic, organization = evidence.hidden_topic, evidence.hidden_organization
        row = _rows_of(learned, run, topic)
        if not np.array_equal(np.bincount(row, minlength=len(run)), evidence.n_hidden):
            raise ValueError("rows of evidence are neither hidden documents nor (run, topic) cells of them")
        position = np.zeros(len(self.collection.relevance), dtype=np.int64)
        position[learned.pair] = row
        within = position[self._documents.pair]
        return HiddenRows(
            run=np.searchsorted(self.run_index, run).astype(np.int64),
            topic=topic,
            organization=organization,
            n_hidden=np.bincount(within, minlength=len(run)).astype(np.int64),
            n_hidden_relevant=np.bincount(within, self._documents.relevant, len(run)).astype(np.int64),
            of_document=within,
        )


@dataclass(frozen=True, eq=False)
class _Documents:
    """Distinct documents: the run of the collection that each is credited to, topic, pair, relevance, shape
    (document,).
    """

    run: npt.NDArray[np.intp]
    topic: npt.NDArray[np.intp]
    pair: npt.NDArray[np.int32]
    relevant: IndexArray


def _rows_of(documents: _Documents, run: IndexArray, topic: IndexArray) -> IndexArray:
    """Row of each document, shape (document,); rows are cells, or documents in the same order within a run
    and topic.
    """
    if len(documents.run) == 0:
        return np.zeros(0, dtype=np.int64)
    n_topics = int(max(documents.topic.max(), topic.max(initial=0))) + 1
    of_document, of_row = documents.run * n_topics + documents.topic, run * n_topics + topic
    order = np.argsort(of_row, kind="stable")
    if len(of_row) == len(of_document):
        row = np.empty(len(of_row), dtype=np.int64)
        row[np.argsort(of_document, kind="stable")] = order
    else:
        place = np.searchsorted(of_row[order], of_document)
        row = order[np.minimum(place, len(order) - 1)]
    if not np.array_equal(of_row[row], of_document):
        raise ValueError("rows of evidence are neither hidden documents nor (run, topic) cells of them")
    return row.astype(np.int64)


def pool_alone(collection: Collection) -> Collection:
    """The collection without judgments of the user's own, which checks of the pool leave out."""
    if collection.own is None:
        return collection
    return dataclasses.replace(collection.without_judgments(collection.is_own), own=None)


def without_organizations(evidence: Evidence, kept: npt.NDArray[np.bool_]) -> Evidence:
    """Evidence with hidden documents of the kept organizations only, `kept` of shape (organization,).
    Judgments of the other runs stay, as those of a run to score do.
    """
    if isinstance(evidence, LinearEvidence):
        return evidence.of_organizations(kept)
    rows = kept[evidence.hidden_organization]
    names = ("hidden_topic", "hidden_run", "n_hidden", "n_hidden_relevant", "hidden_residual")
    return dataclasses.replace(
        evidence,
        organizations=tuple(o for o, keep in zip(evidence.organizations, kept, strict=True) if keep),
        hidden_organization=(np.cumsum(kept) - 1)[evidence.hidden_organization[rows]],
        **{name: getattr(evidence, name)[rows] for name in names},
    )


def row_log_odds(
    spec: ModelSpec, evidence: Evidence, draws: Mapping[str, FloatArray], row: IndexArray
) -> FloatArray:
    """Log odds of relevance of a document of some rows without the organization's effect, shape (draw, row);
    the draws may come from less evidence with the same topics and runs.
    """
    return spec.log_odds_of_rows(evidence, draws, row)
