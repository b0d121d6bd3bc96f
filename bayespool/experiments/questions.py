"""Predictions that a model is asked for of hidden documents, on one rung of the ladder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.collection import IntArray
from bayespool.collection.pools import sole_contributor
from bayespool.evidence import DocumentTable, document_table, held_out_counts
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.ideals import ranked_levels, reach_of_ideal, tally_of
from bayespool.evidence.predictor_table import with_predictors
from bayespool.evidence.predictors import evidence_predictors
from bayespool.experiments.hidden import HiddenDocuments, HiddenRows, row_log_odds
from bayespool.measures import Measure, Normalized, Tally, Values
from bayespool.models import Evidence, LinearEvidence
from bayespool.posterior import PreparedModel, new_interaction, new_organization_effect, new_slope_effect
from bayespool.posterior.drawing import completing, count_levels
from bayespool.posterior.steps import levels_of

if TYPE_CHECKING:
    from bayespool.inference import Fit


IndexArray = npt.NDArray[np.int64]
Levels = npt.NDArray[np.uint8]


class Documents(NamedTuple):
    """Distinct hidden documents, each of the run of its organization that ranks it best: run (position in the
    collection), topic, rank from 1 and pair, each of shape (document,).
    """

    run: npt.NDArray[np.intp]
    topic: npt.NDArray[np.intp]
    rank: npt.NDArray[np.intp]
    pair: IntArray


@dataclass(frozen=True, eq=False)
class HeldOutRankings:
    """Values of the pooled runs, each with its organization out of the pool, given its hidden documents;
    documents unjudged with all organizations pooled count as in a score as judged. `hidden` is of the first
    rung of the measure's ladder.
    """

    hidden: HiddenDocuments

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self.hidden.measure

    @cached_property
    def documents(self) -> Documents:
        """The hidden documents that the values depend on: within the cutoff, or within reach of an ideal
        ranking.
        """
        reach = reach_of_ideal(self.hidden.collection, self.measure)
        return Documents(*held_out_documents(self.hidden.collection, cutoff=reach)[:4])

    @cached_property
    def organization(self) -> IndexArray:
        """Organization of each document among those with a pooled run, shape (document,)."""
        own = self.hidden.collection.organization
        present = np.unique(own[self.hidden.run_index])
        return np.searchsorted(present, own[self.documents.run]).astype(np.int64)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Relevance at each rung of the ladder."""
        return levels_of(self.hidden.collection, self.hidden.rungs)

    @cached_property
    def judged(self) -> Levels:
        """Rung that each document reached by its judgment, shape (document,)."""
        rels = [rung.rel for rung in self.hidden.rungs]
        relevance = self.hidden.collection.relevance[self.documents.pair]
        return np.searchsorted(rels, relevance, side="right").astype(np.uint8)

    def known(self, runs: npt.NDArray[np.intp], measure: Measure | None = None) -> Values:
        """Values without the judgments that only the runs' organizations contributed, shape (run, topic)."""
        none = np.zeros((1, 0), dtype=np.uint8)
        drawn = self.values(runs, np.zeros(0, dtype=np.intp), none, measure)
        return Values(drawn.amount[0], drawn.unit)

    def observed(self, runs: npt.NDArray[np.intp], measure: Measure | None = None) -> Values:
        """Values with the hidden documents as judged, shape (run, topic)."""
        drawn = self.values(runs, np.arange(len(self.judged)), self.judged[None], measure)
        return Values(drawn.amount[0], drawn.unit)

    def values(
        self,
        runs: npt.NDArray[np.intp],
        documents: npt.NDArray[np.intp],
        block: Levels,
        measure: Measure | None = None,
    ) -> Values:
        """Values of some pooled runs with some hidden documents as drawn and the others unjudged, shape
        (draw, run, topic); `runs` and `documents` are ascending positions, `block` the rung of each document,
        shape (draw, document), and `measure` another one that looks as deep and has no ideal ranking.
        """
        scored_measure = measure or self.measure
        ranked = scored_measure.read(self._ranked[runs][:, :, : scored_measure.cutoff])
        base = scored_measure.amounts(ranked)
        amount = np.empty((len(block), *base.shape), dtype=base.dtype)
        amount[:] = base
        run, topic, rank, number = self._places(self.measure.cutoff)
        mine = np.isin(run, runs) & np.isin(number, documents)
        run, topic, rank, number = (part[mine] for part in (run, topic, rank, number))
        row, column = np.searchsorted(runs, run), np.searchsorted(documents, number)
        for t in np.unique(topic):
            on_topic = topic == t
            distinct, which = np.unique(column[on_topic], return_inverse=True)
            where = row[on_topic].astype(np.int32), rank[on_topic].astype(np.int32), which.astype(np.int32)
            drawn_documents = np.ascontiguousarray(block[:, distinct])
            completing(scored_measure, ranked[:, t], where, self.levels)(amount[:, :, t], drawn_documents)
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
        """Divide amounts by those of ideal rankings of the judgments without the organization's and of its
        documents as drawn, those of the run alone unless runs share their ideal rankings.
        """
        of_run, of_document = self.hidden.organization[runs], self.organization[documents]
        topic = self.documents.topic[documents]
        run, _, _, number = self._places(reach_of_ideal(self.hidden.collection, measure))
        for o in np.unique(of_run):
            rows, judged = of_run == o, self._tally_without(int(o))
            own = [of_document == o] * int(rows.sum())
            if measure.ideal == "own":
                own = [np.isin(documents, number[run == r]) for r in runs[rows]]
            for t in range(amount.shape[2]):
                n = np.zeros((len(block), len(own), 1, len(judged.levels)), dtype=np.int64)
                if measure.ideal != "judged" and (mine := (of_document == o) & (topic == t)).any():
                    drawn = np.ascontiguousarray(block[:, mine])
                    for row, of_this in enumerate(own):
                        count_levels(drawn, of_this[mine], n[:, row, 0])
                tally = Tally(n + judged.n[t], judged.levels)
                amount[:, rows, t] = measure.normalize(amount[:, rows, t][:, :, None], tally)[:, :, 0]

    def _tally_without(self, organization: int) -> Tally:
        """The judged documents of each topic without those that an organization alone contributed."""
        collection = self.hidden.collection
        own = np.unique(collection.organization[self.hidden.run_index])[organization]
        gone = sole_contributor(collection) == own
        relevance = np.where(gone, np.int16(-1), collection.relevance)
        return tally_of(collection, self.levels, relevance=relevance)

    @cached_property
    def _ranked(self) -> npt.NDArray[np.int16]:
        """Relevance of the first documents of the pooled runs, shape (run, topic, rank), −1 for a hidden
        one.
        """
        ranked = ranked_levels(self.hidden.collection, self.hidden.run_index, self.measure.cutoff).copy()
        run, topic, rank, _ = self._places(self.measure.cutoff)
        ranked[run, topic, rank] = -1
        return ranked

    def _places(self, depth: int) -> tuple[npt.NDArray[np.intp], ...]:
        """Run, topic, rank from 0 and document number wherever a run has a hidden document of its own
        organization down to a depth.
        """
        if depth not in self._places_by_depth:
            documents = self.documents
            self._places_by_depth[depth] = self.hidden.places_of(documents.run, documents.pair, depth)
        return self._places_by_depth[depth]

    @cached_property
    def _places_by_depth(self) -> dict[int, tuple[npt.NDArray[np.intp], ...]]:
        return {}


FloatArray = npt.NDArray[np.float64]

_MAX_RANDOM_NUMBERS = 2**23  # held at a time


@dataclass(frozen=True, eq=False)
class Question:
    """One model on one rung, with the hidden documents of some rankings.

    Attributes
    ----------
    prepared : PreparedModel
    hidden : HiddenDocuments
        On the rung.
    evidence : LinearEvidence or ModelEvidence
        With a row for every document; the model's own if that has them all.
    rows : HiddenRows
        Of that evidence; documents count as hidden within the cutoff if they reach the rung below.
    """

    prepared: PreparedModel
    hidden: HiddenDocuments
    evidence: Evidence
    rows: HiddenRows

    def log_odds(self, fit: Fit, seen: Evidence, row: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Log odds of rows of organizations outside the ``seen`` evidence of the fit, with new effects, shape
        (draw, row).
        """
        parameters, organization = fit.draws(), self.rows.organization[row]
        effect = new_organization_effect(
            parameters["sigma_organization"], len(seen.organizations), organization, rng
        )
        log_odds = row_log_odds(self.prepared.spec, self.evidence, parameters, row) + effect
        return self._with_own(log_odds, parameters, row, rng)

    def prior_log_odds(self, draws: Mapping[str, FloatArray], rng: np.random.Generator) -> FloatArray:
        """Log odds of all rows, every organization new, given draws from the priors, shape (draw, row)."""
        every = np.arange(len(self.rows.organization))
        effect = new_organization_effect(draws["sigma_organization"], 0, self.rows.organization, rng)
        log_odds = row_log_odds(self.prepared.spec, self.evidence, draws, every) + effect
        return self._with_own(log_odds, draws, every, rng)

    def _with_own(
        self, log_odds: FloatArray, draws: Mapping[str, FloatArray], row: IndexArray, rng: np.random.Generator
    ) -> FloatArray:
        """Log odds with new organizations' deviations of slopes and effects on topics added, shape (draw,
        row).
        """
        evidence, organization = self.evidence, self.rows.organization[row]
        if "sigma_slope" in draws and isinstance(evidence, LinearEvidence):
            predictors = evidence.predictors[row]
            log_odds = log_odds + new_slope_effect(draws["sigma_slope"], predictors, organization, rng)
        if "sigma_interaction" not in draws:
            return log_odds
        n_topics = len(self.hidden.collection.query_ids)
        cell = organization * n_topics + self.rows.topic[row]
        return log_odds + new_interaction(draws["sigma_interaction"], cell, rng)


def questions_of(prepared: Sequence[PreparedModel], rankings: HeldOutRankings) -> tuple[Question, ...]:
    """A model's questions, one for each rung of the measure's ladder; ``prepared`` has a model for each."""
    first, rungs, documents = rankings.hidden, rankings.hidden.rungs, rankings.documents
    if len(prepared) != len(rungs) or first.problem.asked != rungs[0]:
        raise ValueError(f"{first.measure} asks on the rungs {rungs}, a model for each, from the first on")
    questions = []
    for model, rung in zip(prepared, rungs, strict=True):
        hidden = first
        if rung.given:
            hidden = HiddenDocuments(dataclasses.replace(first.problem, rung=rung), first.of)
        if not rung.given and documents.rank.max(initial=0) <= first.measure.cutoff:
            questions.append(Question(model, hidden, model.evidence, hidden.rows(model.evidence)))
        else:
            questions.append(Question(model, hidden, *_ask_each(model, hidden, rankings, len(questions))))
    return tuple(questions)


def _ask_each(
    prepared: PreparedModel, hidden: HiddenDocuments, rankings: HeldOutRankings, step: int
) -> tuple[Evidence, HiddenRows]:
    """Evidence with a row for each document on a step of the ladder, from 0, as in a completion."""
    collection, documents = hidden.collection, rankings.documents
    run, topic, rank, pair = documents
    counted = (rankings.judged >= step) & (rank <= hidden.measure.cutoff)
    rows = HiddenRows(
        run=np.searchsorted(hidden.run_index, run).astype(np.int64),
        topic=topic.astype(np.int64),
        organization=rankings.organization,
        n_hidden=counted.astype(np.int64),
        n_hidden_relevant=(counted & (rankings.judged > step)).astype(np.int64),
        of_document=np.arange(len(pair)),
    )
    evidence = prepared.evidence
    if isinstance(evidence, LinearEvidence):
        return dataclasses.replace(
            evidence,
            run=run.astype(np.int64),
            topic=rows.topic,
            organization=rows.organization,
            predictors=evidence.standardize(_table(prepared, hidden, documents)),
            n_hidden=rows.n_hidden,
            n_hidden_relevant=rows.n_hidden_relevant,
        ), rows
    depth = hidden.problem.count_depth
    held_out = held_out_counts(collection, cutoffs=depth)
    residual = (held_out.n_hidden + held_out.n_unjudged)[:, :, 0] / depth
    return dataclasses.replace(
        evidence,
        hidden_run=rows.run,
        hidden_topic=rows.topic,
        hidden_organization=rows.organization,
        hidden_residual=residual[rows.run, rows.topic],
        n_hidden=rows.n_hidden,
        n_hidden_relevant=rows.n_hidden_relevant,
    ), rows


def _table(prepared: PreparedModel, hidden: HiddenDocuments, documents: Documents) -> DocumentTable:
    """Documents with predictors, the model's among them."""
    problem, names = hidden.problem, evidence_predictors()
    rung, depth = problem.asked, max(problem.document_depth, int(documents.rank.max(initial=1)))
    predictors = document_table(
        problem.collection, *documents, depth=depth, rel=rung.rel, given=rung.given, names=names
    )
    table = DocumentTable(*documents, np.zeros(len(documents.pair), dtype=np.int64), predictors, names)
    own_predictors, cutoff = tuple(prepared.spec.predictors), problem.document_depth
    return with_predictors(
        problem.collection, table, own_predictors, cutoff=cutoff, rel=rung.rel, given=rung.given
    )


def draw_levels(log_odds: Sequence[FloatArray], rng: np.random.Generator) -> Levels:
    """Highest rung that each document reaches, shape (draw, document), from log odds of that shape for each
    rung.

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
        for k, of_rung in enumerate(log_odds):
            log_odds_of_part = of_rung[part]
            level[part] += (rng.logistic(size=log_odds_of_part.shape) < log_odds_of_part) & (level[part] == k)
    return level
