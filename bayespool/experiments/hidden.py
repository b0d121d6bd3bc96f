"""Hidden documents of a pool as rows of evidence, the engine that fits them, and what a model is asked about
them on each threshold.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, IndexArray, IntArray, Levels
from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor
from bayespool.errors import DiagnosticsWarning
from bayespool.evidence import DocumentTable, HeldOutCounts, document_table, held_out_counts
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.ideals import ideal_reach, judged_tally, ranked_levels
from bayespool.evidence.predictor_table import with_predictors
from bayespool.evidence.predictors import evidence_predictors
from bayespool.inference import Engine, Fit
from bayespool.inference.engines import is_independent
from bayespool.measures import Measure, Normalized, Tally, Values
from bayespool.measures.parsing import refuse_judgment_measures
from bayespool.models import Evidence, LinearEvidence
from bayespool.posterior import (
    PreparedModel,
    ScoringProblem,
    Threshold,
    new_interaction,
    new_organization_effect,
    new_slope_effect,
)
from bayespool.posterior.drawing import count_levels, make_gain_adder
from bayespool.posterior.thresholds import find_thresholds, threshold_levels

_MAX_RANDOM_NUMBERS = 2**23  # held at a time


def fit_model(engine: Engine, prepared: PreparedModel, evidence: Evidence, random_seed: int) -> Fit:
    """Fit a model to evidence without warning of failed checks.

    The evidence may differ from the prepared model's. The diagnostics have the failed checks. No other engine
    takes over.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        fit = engine.fit(prepared.spec, evidence, random_seed, known=())
    return _shuffle(fit, random_seed) if is_independent(engine.name) else fit


def _shuffle(fit: Fit, random_seed: int) -> Fit:
    """Shuffle independent posterior draws, which the engine sorts by scale."""
    n_draws = next(iter(fit.variables.values())).shape[1]
    order = np.random.default_rng([random_seed, 2]).permutation(n_draws)
    return replace(
        fit,
        variables={name: values[:, order] for name, values in fit.variables.items()},
        sample_stats={name: values[:, order] for name, values in fit.sample_stats.items()},
    )


class Documents(NamedTuple):
    """Distinct hidden documents, each credited to the run of its organization that ranks it best.

    Run (index in the collection), topic, rank from 1, document index and whether relevant, each of shape
    (document,).
    """

    run: npt.NDArray[np.intp]
    topic: npt.NDArray[np.intp]
    rank: npt.NDArray[np.intp]
    pair: IntArray
    relevant: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class HiddenRows:
    """Rows of a model's evidence, with the hidden documents in each row.

    Documents in a row have the same probability of relevance. Run, topic and organization are indices among
    the pooled ones, counts are within the measure's cutoff, shape (row,); `document_row` is the row of each
    distinct hidden document within the cutoff, shape (document,).
    """

    run: IndexArray
    topic: IndexArray
    organization: IndexArray
    n_hidden: IndexArray
    n_hidden_relevant: IndexArray
    document_row: IndexArray


@dataclass(frozen=True, eq=False)
class HiddenDocuments:
    """Documents that each pooled run would have unjudged if its organization had not been pooled.

    The problem has no runs to score; above the first threshold only documents that reached the threshold
    below are included. `of` is a measure that shares the problem's evidence and looks no deeper.
    """

    problem: ScoringProblem
    of: Measure | None = None

    def __post_init__(self) -> None:
        refuse_judgment_measures([self.measure])

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Relevance thresholds of the measure."""
        return find_thresholds(self.collection, self.measure)

    @property
    def collection(self) -> Collection:
        """Collection with the pool."""
        return self.problem.collection

    @property
    def measure(self) -> Measure:
        """Measure whose cutoff determines the hidden documents."""
        return self.of or self.problem.measure

    @cached_property
    def run_index(self) -> npt.NDArray[np.intp]:
        """Indices for the pooled runs in the collection, shape (run,)."""
        return np.flatnonzero(self.collection.pooled)

    @cached_property
    def pooled_organizations(self) -> npt.NDArray[np.intp]:
        """Sorted collection indices for the organizations with a pooled run."""
        return np.unique(self.collection.organization[self.run_index])

    @cached_property
    def organization(self) -> IndexArray:
        """Organization index for each pooled run, among organizations with a pooled run, shape (run,)."""
        return self.index_organizations(self.run_index)

    def index_organizations(self, runs: npt.NDArray[np.intp]) -> IndexArray:
        """Return the organization indices for runs, among organizations with a pooled run."""
        return np.searchsorted(self.pooled_organizations, self.collection.organization[runs]).astype(np.int64)

    @property
    def organizations(self) -> tuple[str, ...]:
        """Names of the organizations with a pooled run."""
        return tuple(self.collection.organizations[o] for o in self.pooled_organizations)

    @cached_property
    def counts(self) -> HeldOutCounts:
        """Numbers of hidden documents for the pooled runs, with their organizations held out."""
        threshold = self.problem.threshold
        return held_out_counts(
            self.collection, cutoffs=self.measure.cutoff, rel=threshold.rel, given=threshold.given
        )

    @cached_property
    def _documents(self) -> Documents:
        """Distinct hidden documents within the cutoff."""
        return self._hidden_down_to(self.measure.cutoff)

    def _hidden_down_to(self, depth: int) -> Documents:
        threshold = self.problem.threshold
        return Documents(
            *held_out_documents(self.collection, cutoff=depth, rel=threshold.rel, given=threshold.given)
        )

    @property
    def relevant(self) -> IndexArray:
        """Relevance of each distinct hidden document, 0 or 1, shape (document,)."""
        return self._documents.relevant.astype(np.int64)

    def find_places(self, documents: Documents, depth: int) -> tuple[npt.NDArray[np.intp], ...]:
        """Find every occurrence of distinct documents in the top ``depth`` ranks of their organization's
        runs.

        Return run, topic, rank from 0 and document number. The organization is that of the run to which the
        document is credited.
        """
        collection = self.collection
        number = np.full(len(collection.relevance) + 1, -1)
        number[documents.pair] = np.arange(len(documents.pair))
        number_at = number[collection.document[self.run_index, :, :depth]]
        owner = np.append(collection.organization[documents.run], -1)  # other documents have number −1
        organization = collection.organization[self.run_index]
        run, topic, rank = np.nonzero(owner[number_at] == organization[:, None, None])
        return run, topic, rank, number_at[run, topic, rank]

    def rows(self, evidence: Evidence) -> HiddenRows:
        """Return the rows of a model's complete evidence, each a hidden document or a (run, topic) cell.

        Raises `ValueError` for other rows.
        """
        if isinstance(evidence, LinearEvidence):
            table = self.problem.hidden
            learned = table.run, table.topic, table.pair
            run, topic, organization = evidence.run, evidence.topic, evidence.organization
        else:
            credited, topics, _, pair, _ = self._hidden_down_to(self.problem.count_depth)
            learned = credited, topics, pair
            run = self.run_index[evidence.hidden_run].astype(np.int64)
            topic, organization = evidence.hidden_topic, evidence.hidden_organization
        row = _match_rows(*learned[:2], run, topic)
        if not np.array_equal(np.bincount(row, minlength=len(run)), evidence.n_hidden):
            raise ValueError("rows of evidence are neither hidden documents nor (run, topic) cells of them")
        position = np.zeros(len(self.collection.relevance), dtype=np.int64)
        position[learned[2]] = row
        within = position[self._documents.pair]
        return HiddenRows(
            run=np.searchsorted(self.run_index, run).astype(np.int64),
            topic=topic,
            organization=organization,
            n_hidden=np.bincount(within, minlength=len(run)).astype(np.int64),
            n_hidden_relevant=np.bincount(within, self.relevant, len(run)).astype(np.int64),
            document_row=within,
        )


def _match_rows(
    credited: IndexArray, topic_of_document: IndexArray, run: IndexArray, topic: IndexArray
) -> IndexArray:
    """Return the row of each document, matched by run and topic, shape (document,). Rows are cells, or
    documents in the same order within a run and topic.
    """
    if len(credited) == 0:
        return np.zeros(0, dtype=np.int64)
    n_topics = int(max(topic_of_document.max(), topic.max(initial=0))) + 1
    document_key, row_key = credited * n_topics + topic_of_document, run * n_topics + topic
    order = np.argsort(row_key, kind="stable")
    if len(row_key) == len(document_key):
        row = np.empty(len(row_key), dtype=np.int64)
        row[np.argsort(document_key, kind="stable")] = order
    else:
        place = np.searchsorted(row_key[order], document_key)
        row = order[np.minimum(place, len(order) - 1)]
    if not np.array_equal(row_key[row], document_key):
        raise ValueError("rows of evidence are neither hidden documents nor (run, topic) cells of them")
    return row.astype(np.int64)


def pool_alone(collection: Collection) -> Collection:
    """Return the collection without the user's own judgments, for checks of the pool."""
    if collection.own is None:
        return collection
    return replace(collection.without_judgments(collection.is_own), own=None)


@dataclass(frozen=True, eq=False)
class HeldOutRankings:
    """Scores of the pooled runs with their organizations held out, given the hidden documents' relevance.

    Documents unjudged with all organizations pooled count as in a score as judged. `hidden` is of the first
    threshold of the measure.
    """

    hidden: HiddenDocuments
    _places_by_depth: dict[int, tuple[npt.NDArray[np.intp], ...]] = field(default_factory=dict, init=False)

    @property
    def measure(self) -> Measure:
        """Measure of the scores."""
        return self.hidden.measure

    @cached_property
    def documents(self) -> Documents:
        """Hidden documents that affect the scores: within the cutoff or within reach of an ideal ranking."""
        reach = ideal_reach(self.hidden.collection, self.measure)
        return Documents(*held_out_documents(self.hidden.collection, cutoff=reach))

    @cached_property
    def organization(self) -> IndexArray:
        """Organization index for each document, among organizations with a pooled run, shape (document,)."""
        return self.hidden.index_organizations(self.documents.run)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Relevance levels for the thresholds."""
        return threshold_levels(self.hidden.collection, self.hidden.thresholds)

    @cached_property
    def judged(self) -> Levels:
        """Number of thresholds that each document's judgment reaches, shape (document,)."""
        rels = [threshold.rel for threshold in self.hidden.thresholds]
        relevance = self.hidden.collection.relevance[self.documents.pair]
        return np.searchsorted(rels, relevance, side="right").astype(np.uint8)

    def judged_values(
        self, runs: npt.NDArray[np.intp], measure: Measure | None = None, *, with_hidden: bool
    ) -> Values:
        """Return scores with the hidden documents as judged, or unjudged, shape (run, topic).

        Unjudged: without the judgments that only the runs' organizations contributed.
        """
        documents = np.arange(len(self.judged) if with_hidden else 0)
        judged = self.values(runs, documents, self.judged[documents][None], measure)
        return Values(judged.amount[0], judged.unit)

    def values(
        self,
        runs: npt.NDArray[np.intp],
        documents: npt.NDArray[np.intp],
        block: Levels,
        measure: Measure | None = None,
    ) -> Values:
        """Return scores of runs with relevance drawn for the given hidden documents, shape (draw, run,
        topic).

        Other hidden documents stay unjudged. `runs` and `documents` are ascending indices, `block` the
        threshold of each document, shape (draw, document), and `measure` another one that looks as deep and
        has no ideal ranking.
        """
        scored_measure = measure or self.measure
        ranked = scored_measure.read(self._ranked[runs][:, :, : scored_measure.cutoff])
        base = scored_measure.amounts(ranked)
        amount = np.empty((len(block), *base.shape), dtype=base.dtype)
        amount[:] = base
        run, topic, rank, number = self._places(self.measure.cutoff)
        is_shown = np.isin(run, runs) & np.isin(number, documents)
        run, topic, rank, number = (part[is_shown] for part in (run, topic, rank, number))
        row, column = np.searchsorted(runs, run), np.searchsorted(documents, number)
        for t in np.unique(topic):
            on_topic = topic == t
            distinct, which = np.unique(column[on_topic], return_inverse=True)
            where = row[on_topic].astype(np.int32), rank[on_topic].astype(np.int32), which.astype(np.int32)
            drawn_documents = np.ascontiguousarray(block[:, distinct])
            make_gain_adder(scored_measure, ranked[:, t], where, self.levels)(
                amount[:, :, t], drawn_documents
            )
        if isinstance(scored_measure, Normalized):
            self._normalize(scored_measure, amount, runs, documents, block)
        return Values(amount, scored_measure.unit)

    def _normalize(
        self,
        measure: Normalized,
        amount: npt.NDArray[Any],
        runs: npt.NDArray[np.intp],
        documents: npt.NDArray[np.intp],
        block: Levels,
    ) -> None:
        """Divide unnormalized scores in place by those of the ideal rankings, with hidden documents as drawn.
        Judgments that only the organization contributed are left out; its documents are those of the run
        alone unless runs share their ideal rankings.
        """
        run_organization, document_organization = self.hidden.organization[runs], self.organization[documents]
        topic = self.documents.topic[documents]
        run, _, _, number = self._places(ideal_reach(self.hidden.collection, measure))
        for o in np.unique(run_organization):
            rows, judged = run_organization == o, self._tally_without(int(o))
            members = [document_organization == o] * int(rows.sum())
            if measure.ideal == "own":
                members = [np.isin(documents, number[run == r]) for r in runs[rows]]
            for t in range(amount.shape[2]):
                n = np.zeros((len(block), len(members), 1, len(judged.levels)), dtype=np.int64)
                if (
                    measure.ideal != "judged"
                    and (is_own := (document_organization == o) & (topic == t)).any()
                ):
                    drawn = np.ascontiguousarray(block[:, is_own])
                    for row, is_member in enumerate(members):
                        count_levels(drawn, is_member[is_own], n[:, row, 0])
                tally = Tally(n + judged.n[t], judged.levels)
                amount[:, rows, t] = measure.normalize(amount[:, rows, t][:, :, None], tally)[:, :, 0]

    def _tally_without(self, organization: int) -> Tally:
        """Return the tally of judged documents per topic, excluding one organization's sole contributions."""
        collection = self.hidden.collection
        is_sole = sole_contributor(collection) == self.hidden.pooled_organizations[organization]
        relevance = np.where(is_sole, np.int16(-1), collection.relevance)
        return judged_tally(collection, self.levels, relevance=relevance)

    @cached_property
    def _ranked(self) -> npt.NDArray[np.int16]:
        """Relevance levels in pooled runs' rankings, shape (run, topic, rank), −1 for a hidden document."""
        ranked = ranked_levels(self.hidden.collection, self.hidden.run_index, self.measure.cutoff).copy()
        run, topic, rank, _ = self._places(self.measure.cutoff)
        ranked[run, topic, rank] = -1
        return ranked

    def _places(self, depth: int) -> tuple[npt.NDArray[np.intp], ...]:
        """Return run, topic, rank from 0 and document number for every hidden document in its organization's
        runs.
        """
        if depth not in self._places_by_depth:
            self._places_by_depth[depth] = self.hidden.find_places(self.documents, depth)
        return self._places_by_depth[depth]


@dataclass(frozen=True, eq=False)
class PredictionTarget:
    """Model for one threshold, with the hidden documents to predict.

    Attributes
    ----------
    prepared : PreparedModel
    hidden : HiddenDocuments
        On the threshold.
    evidence : LinearEvidence or ModelEvidence
        With a row for every document; the model's own if that has them all.
    rows : HiddenRows
        Of that evidence; documents count as hidden within the cutoff if they reach the threshold below.
    """

    prepared: PreparedModel
    hidden: HiddenDocuments
    evidence: Evidence
    rows: HiddenRows

    def held_out_log_odds(
        self, draws: Mapping[str, FloatArray], held_out: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[IndexArray, FloatArray]:
        """Return rows of held-out organizations and their log odds with new effects, shape (draw, row)."""
        row, evidence = np.flatnonzero(held_out[self.rows.organization]), self.evidence
        organization = self.rows.organization[row]
        n_seen = int((~held_out).sum())
        effect = new_organization_effect(draws["sigma_organization"], n_seen, organization, rng)
        log_odds = self.prepared.spec.log_odds_of_rows(evidence, draws, row) + effect
        if "sigma_slope" in draws and isinstance(evidence, LinearEvidence):
            predictors = evidence.predictors[row]
            log_odds = log_odds + new_slope_effect(draws["sigma_slope"], predictors, organization, rng)
        if "sigma_interaction" in draws:
            n_topics = len(self.hidden.collection.query_ids)
            cell = organization * n_topics + self.rows.topic[row]
            log_odds = log_odds + new_interaction(draws["sigma_interaction"], cell, rng)
        return row, log_odds

    def document_log_odds(
        self, row: npt.NDArray[np.intp], log_odds: FloatArray, documents: npt.NDArray[np.bool_]
    ) -> FloatArray:
        """Return log odds for documents from the log odds of their rows, shape (draw, document)."""
        return log_odds[:, np.searchsorted(row, self.rows.document_row[documents])]


def prediction_targets(
    prepared: Sequence[PreparedModel], rankings: HeldOutRankings
) -> tuple[PredictionTarget, ...]:
    """Return one prediction target per threshold, given a prepared model for each."""
    first, thresholds, documents = rankings.hidden, rankings.hidden.thresholds, rankings.documents
    if len(prepared) != len(thresholds) or first.problem.threshold != thresholds[0]:
        raise ValueError(
            f"{first.measure} asks on the thresholds {thresholds}, a model for each, from the first on"
        )
    targets = []
    for model, threshold in zip(prepared, thresholds, strict=True):
        hidden = first
        if threshold.given:
            hidden = HiddenDocuments(replace(first.problem, asked_threshold=threshold), first.of)
        if not threshold.given and documents.rank.max(initial=0) <= first.measure.cutoff:
            targets.append(PredictionTarget(model, hidden, model.evidence, hidden.rows(model.evidence)))
        else:
            targets.append(PredictionTarget(model, hidden, *_ask_each(model, hidden, rankings, len(targets))))
    return tuple(targets)


def _ask_each(
    prepared: PreparedModel, hidden: HiddenDocuments, rankings: HeldOutRankings, step: int
) -> tuple[Evidence, HiddenRows]:
    """Return evidence with one row per document for a threshold, numbered from 0, as in a completion."""
    collection, documents = hidden.collection, rankings.documents
    run, topic, rank, pair, _ = documents
    counted = (rankings.judged >= step) & (rank <= hidden.measure.cutoff)
    n_hidden, n_hidden_relevant = (n.astype(np.int64) for n in (counted, counted & (rankings.judged > step)))
    rows = HiddenRows(
        run=np.searchsorted(hidden.run_index, run).astype(np.int64),
        topic=topic.astype(np.int64),
        organization=rankings.organization,
        n_hidden=n_hidden,
        n_hidden_relevant=n_hidden_relevant,
        document_row=np.arange(len(pair)),
    )
    evidence = replace(prepared.evidence, n_hidden=n_hidden, n_hidden_relevant=n_hidden_relevant)
    if isinstance(evidence, LinearEvidence):
        return replace(
            evidence,
            run=run.astype(np.int64),
            topic=rows.topic,
            organization=rows.organization,
            predictors=evidence.standardize(_table(prepared, hidden, documents)),
        ), rows
    depth = hidden.problem.count_depth
    held_out = held_out_counts(collection, cutoffs=depth)
    residual = (held_out.n_hidden + held_out.n_unjudged)[:, :, 0] / depth
    return replace(
        evidence,
        hidden_run=rows.run,
        hidden_topic=rows.topic,
        hidden_organization=rows.organization,
        hidden_residual=residual[rows.run, rows.topic],
    ), rows


def _table(prepared: PreparedModel, hidden: HiddenDocuments, documents: Documents) -> DocumentTable:
    """Return a table of documents with predictors, including those of the model."""
    problem, names = hidden.problem, evidence_predictors()
    threshold, depth = problem.threshold, max(problem.document_depth, int(documents.rank.max(initial=1)))
    predictors = document_table(
        problem.collection, *documents[:4], depth=depth, rel=threshold.rel, given=threshold.given, names=names
    )
    table = DocumentTable(*documents[:4], np.zeros(len(documents.pair), dtype=np.int64), predictors, names)
    own_predictors, cutoff = tuple(prepared.spec.predictors), problem.document_depth
    return with_predictors(
        problem.collection, table, own_predictors, cutoff=cutoff, rel=threshold.rel, given=threshold.given
    )


def draw_levels(log_odds: Sequence[FloatArray], rng: np.random.Generator) -> Levels:
    """Sample the highest threshold that each document reaches, shape (draw, document).

    `log_odds` has an array of that shape for each threshold.

    Examples
    --------
    >>> no, yes = np.full((1, 2), -50.0), np.full((1, 2), 50.0)
    >>> draw_levels([yes, yes, no], np.random.default_rng(1)).tolist()
    [[2, 2]]
    >>> draw_levels([no, yes], np.random.default_rng(1)).tolist()
    [[0, 0]]
    """
    level: Levels = np.zeros(log_odds[0].shape, dtype=np.uint8)
    step = max(1, _MAX_RANDOM_NUMBERS // max(1, level.shape[1]))
    for first in range(0, len(level), step):
        part = slice(first, first + step)
        for k, threshold_log_odds in enumerate(log_odds):
            part_log_odds = threshold_log_odds[part]
            level[part] += (rng.logistic(size=part_log_odds.shape) < part_log_odds) & (level[part] == k)
    return level
