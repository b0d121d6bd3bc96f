"""Hidden documents of a pool as rows of evidence, the engine that fits them, and what a model is asked about
them on each threshold.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bayespool.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IndexArray,
    IntArray,
    LevelArray,
    Levels,
    OrderArray,
)
from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor
from bayespool.errors import DiagnosticsWarning
from bayespool.evidence import DocumentTable, HeldOutCounts, document_table, held_out_counts
from bayespool.evidence.held_out import held_out_documents, held_out_levels
from bayespool.evidence.ideals import ideal_reach, judged_tally
from bayespool.inference import Engine, Fit
from bayespool.inference.engines import is_independent
from bayespool.measures import Measure, Normalized, Tally, Values
from bayespool.measures.parsing import refuse_judgment_measures
from bayespool.models import Evidence, LinearEvidence
from bayespool.posterior import (
    PreparedModel,
    Threshold,
    new_interaction,
    new_organization_effect,
    new_slope_effect,
)
from bayespool.posterior.drawing import count_levels_by_run, make_gain_adder
from bayespool.posterior.preparation import DEPTHS
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

    run: OrderArray
    topic: OrderArray
    rank: OrderArray
    pair: IntArray
    relevant: BoolArray


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

    Above the first threshold only documents that reached the threshold below are counted. The measure's
    cutoff says how deep they are; the default threshold is its first. Scores are those of the runs with their
    organizations held out, given the relevance of the hidden documents; documents unjudged with all
    organizations pooled count as in a score as judged.
    """

    collection: Collection
    measure: Measure
    asked_threshold: Threshold | None = None

    def __post_init__(self) -> None:
        refuse_judgment_measures([self.measure])

    @cached_property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Relevance thresholds of the measure."""
        return find_thresholds(self.collection, self.measure)

    @property
    def threshold(self) -> Threshold:
        """Threshold that the documents are asked about."""
        return self.asked_threshold or self.thresholds[0]

    @cached_property
    def run_index(self) -> OrderArray:
        """Indices for the pooled runs in the collection, shape (run,)."""
        return np.flatnonzero(self.collection.pooled)

    @cached_property
    def pooled_organizations(self) -> OrderArray:
        """Sorted collection indices for the organizations with a pooled run."""
        return np.unique(self.collection.organization[self.run_index])

    @cached_property
    def organization(self) -> IndexArray:
        """Organization index for each pooled run, among organizations with a pooled run, shape (run,)."""
        return self.index_organizations(self.run_index)

    def index_organizations(self, runs: OrderArray) -> IndexArray:
        """Return the organization indices for runs, among organizations with a pooled run."""
        return np.searchsorted(self.pooled_organizations, self.collection.organization[runs]).astype(np.int64)

    @property
    def organizations(self) -> tuple[str, ...]:
        """Names of the organizations with a pooled run."""
        return tuple(self.collection.organizations[o] for o in self.pooled_organizations)

    @cached_property
    def counts(self) -> HeldOutCounts:
        """Numbers of hidden documents for the pooled runs, with their organizations held out."""
        return held_out_counts(self.collection, cutoffs=self.measure.cutoff, **self.threshold.levels)

    def rows(self, evidence: Evidence) -> HiddenRows:
        """Return the rows of a model's complete evidence, each a hidden document or a (run, topic) cell.

        Raises `ValueError` for other rows.
        """
        if isinstance(evidence, LinearEvidence):
            kind, run, topic = "documents", evidence.run, evidence.topic
            organization = evidence.organization
        else:
            kind, run, topic = "counts", self.run_index[evidence.hidden_run], evidence.hidden_topic
            organization = evidence.hidden_organization
        depth = max(self.measure.cutoff, DEPTHS[kind])
        learned = Documents(*held_out_documents(self.collection, cutoff=depth, **self.threshold.levels))
        n_topics = len(self.collection.query_ids)
        row_key, key = run * n_topics + topic, learned.run * n_topics + learned.topic  # both ascending
        row = np.arange(len(key)) if len(key) == len(row_key) else np.searchsorted(row_key, key)
        n_hidden = np.bincount(row, minlength=len(run))
        is_matched = np.array_equal(np.append(row_key, -1)[row], key)
        if not is_matched or not np.array_equal(n_hidden, evidence.n_hidden):
            raise ValueError("rows of evidence are neither hidden documents nor (run, topic) cells of them")
        counted = learned.rank <= self.measure.cutoff
        within = row[counted]
        return HiddenRows(
            run=np.searchsorted(self.run_index, run).astype(np.int64),
            topic=topic,
            organization=organization,
            n_hidden=np.bincount(within, minlength=len(run)).astype(np.int64),
            n_hidden_relevant=np.bincount(within, learned.relevant[counted], len(run)).astype(np.int64),
            document_row=within,
        )

    # --- scores of the pooled runs given the hidden documents' relevance ---

    @cached_property
    def documents(self) -> Documents:
        """Hidden documents that affect the scores: within the cutoff or within reach of an ideal ranking."""
        return Documents(*held_out_documents(self.collection, cutoff=self._reach))

    @property
    def _reach(self) -> int:
        return ideal_reach(self.collection, self.measure)

    @cached_property
    def document_organization(self) -> IndexArray:
        """Organization index for each document, among organizations with a pooled run, shape (document,)."""
        return self.index_organizations(self.documents.run)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Relevance levels for the thresholds."""
        return threshold_levels(self.collection, self.thresholds)

    @cached_property
    def judged(self) -> Levels:
        """Number of thresholds that each document's judgment reaches, shape (document,)."""
        rels = [threshold.rel for threshold in self.thresholds]
        relevance = self.collection.relevance[self.documents.pair]
        return np.searchsorted(rels, relevance, side="right").astype(np.uint8)

    def judged_values(self, runs: OrderArray, measure: Measure | None = None, *, with_hidden: bool) -> Values:
        """Return scores with the hidden documents as judged, or unjudged, shape (run, topic).

        Unjudged: without the judgments that only the runs' organizations contributed.
        """
        documents = np.arange(len(self.judged) if with_hidden else 0)
        judged = self.values(runs, documents, self.judged[documents][None], measure)
        return Values(judged.amount[0], judged.unit)

    def values(
        self, runs: OrderArray, documents: OrderArray, block: Levels, measure: Measure | None = None
    ) -> Values:
        """Return scores of runs with relevance drawn for the given hidden documents, shape (draw, run,
        topic).

        Other hidden documents stay unjudged. `runs` and `documents` are ascending indices, `block` the
        threshold of each document, shape (draw, document), and `measure` another one that looks as deep and
        has no ideal ranking.
        """
        scored_measure = measure or self.measure
        level, is_hidden = (part[runs][:, :, : scored_measure.cutoff] for part in self._levels)
        ranked = scored_measure.read(np.where(is_hidden, np.int16(-1), level))
        base = scored_measure.amounts(ranked)
        amount = np.empty((len(block), *base.shape), dtype=base.dtype)
        amount[:] = base
        row, topic, rank, column = self._places_of(runs, documents)
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
        self, measure: Normalized, amount: AnyArray, runs: OrderArray, documents: OrderArray, block: Levels
    ) -> None:
        """Divide unnormalized scores in place by those of the ideal rankings, with hidden documents as drawn.
        Judgments that only the organization contributed are left out; its documents are those of the run
        alone unless runs share their ideal rankings.
        """
        run_organization = self.organization[runs]
        run, topic, _, number = self._places_of(runs, documents)
        if measure.ideal != "own":
            run, number = np.nonzero(run_organization[:, None] == self.document_organization[documents])
            topic = self.documents.topic[documents][number]
        organizations, index = np.unique(run_organization, return_inverse=True)
        judged = np.stack([self._judged_without(int(o)) for o in organizations])[index]
        for t in range(amount.shape[2]):
            n = np.repeat(judged[None, :, t], len(block), axis=0)
            if measure.ideal != "judged":
                here = topic == t
                count_levels_by_run(block, run[here].astype(np.int32), number[here].astype(np.int32), n)
            tally = Tally(n[:, :, None], self.levels[1:])
            amount[:, :, t] = measure.normalize(amount[:, :, t][:, :, None], tally)[:, :, 0]

    def _judged_without(self, organization: int) -> IndexArray:
        """Return numbers of judged documents except one organization's sole contributions, (topic, level)."""
        collection = self.collection
        is_sole = sole_contributor(collection) == self.pooled_organizations[organization]
        relevance = np.where(is_sole, np.int16(-1), collection.relevance)
        return judged_tally(collection, self.levels, relevance=relevance).n

    @cached_property
    def _levels(self) -> tuple[LevelArray, BoolArray]:
        """Relevance levels in pooled runs' rankings and whether a document is hidden, (run, topic, rank)."""
        return held_out_levels(self.collection, self._reach)

    @cached_property
    def places(self) -> tuple[OrderArray, ...]:
        """Run, topic, rank from 0 and number of hidden documents in the runs of their organizations."""
        collection, places = self.collection, np.nonzero(self._levels[1])
        number = np.zeros(len(collection.relevance), dtype=np.intp)
        number[self.documents.pair] = np.arange(len(self.documents.pair))
        return *places, number[collection.document[self.run_index, :, : self._reach][places]]

    def _places_of(self, runs: OrderArray, documents: OrderArray) -> tuple[OrderArray, ...]:
        """Return the places of the given documents in the given runs, as positions among these."""
        run, topic, rank, number = self.places
        shown = np.isin(run, runs) & np.isin(number, documents)
        row, column = np.searchsorted(runs, run[shown]), np.searchsorted(documents, number[shown])
        return row, topic[shown], rank[shown], column


def without_own_judgments(collection: Collection) -> Collection:
    """Return the collection without the user's own judgments, for checks of the pool."""
    if collection.own is None:
        return collection
    return replace(collection.without_judgments(collection.is_own), own=None)


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
        self, draws: Mapping[str, FloatArray], held_out: BoolArray, rng: np.random.Generator
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

    def document_log_odds(self, row: OrderArray, log_odds: FloatArray, documents: BoolArray) -> FloatArray:
        """Return log odds for documents from the log odds of their rows, shape (draw, document)."""
        return log_odds[:, np.searchsorted(row, self.rows.document_row[documents])]


def prediction_targets(
    prepared: Sequence[PreparedModel], first: HiddenDocuments
) -> tuple[PredictionTarget, ...]:
    """Return one prediction target per threshold, given a prepared model for each."""
    thresholds, deepest = first.thresholds, first.documents.rank.max(initial=0)
    if len(prepared) != len(thresholds) or first.threshold != thresholds[0]:
        raise ValueError(
            f"{first.measure} asks on the thresholds {thresholds}, a model for each, from the first on"
        )
    targets: list[PredictionTarget] = []
    for model, threshold in zip(prepared, thresholds, strict=True):
        hidden = replace(first, asked_threshold=threshold) if threshold.given else first
        if threshold.given or deepest > first.measure.cutoff:
            asked = _ask_each(model, hidden, first, len(targets))
        else:
            asked = model.evidence, hidden.rows(model.evidence)
        targets.append(PredictionTarget(model, hidden, *asked))
    return tuple(targets)


def _ask_each(
    prepared: PreparedModel, hidden: HiddenDocuments, first: HiddenDocuments, step: int
) -> tuple[Evidence, HiddenRows]:
    """Return evidence with one row per document for a threshold, numbered from 0, as in a completion."""
    collection, documents = hidden.collection, first.documents
    run, topic, rank, pair, _ = documents
    counted = (first.judged >= step) & (rank <= hidden.measure.cutoff)
    n_hidden, n_hidden_relevant = (n.astype(np.int64) for n in (counted, counted & (first.judged > step)))
    rows = HiddenRows(
        run=np.searchsorted(hidden.run_index, run).astype(np.int64),
        topic=topic.astype(np.int64),
        organization=first.document_organization,
        n_hidden=n_hidden,
        n_hidden_relevant=n_hidden_relevant,
        document_row=np.arange(len(pair)),
    )
    evidence = replace(prepared.evidence, n_hidden=n_hidden, n_hidden_relevant=n_hidden_relevant)
    if isinstance(evidence, LinearEvidence):
        cutoff, names = max(hidden.measure.cutoff, DEPTHS["documents"]), evidence.predictor_names
        depth, levels = int(rank.max(initial=cutoff)), hidden.threshold.levels
        predictors = document_table(
            collection, *documents[:4], depth=depth, cutoff=cutoff, names=names, **levels
        )
        return replace(
            evidence,
            run=run.astype(np.int64),
            topic=rows.topic,
            organization=rows.organization,
            predictors=evidence.standardize(DocumentTable(*documents[:4], n_hidden, predictors, names)),
        ), rows
    depth = max(hidden.measure.cutoff, DEPTHS["counts"])
    held_out = held_out_counts(collection, cutoffs=depth)
    residual = (held_out.n_hidden + held_out.n_unjudged)[:, :, 0] / depth
    return replace(
        evidence,
        hidden_run=rows.run,
        hidden_topic=rows.topic,
        hidden_organization=rows.organization,
        hidden_residual=residual[rows.run, rows.topic],
    ), rows


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
