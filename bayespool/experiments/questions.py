"""Log odds of hidden documents under a model, on each rung of the ladder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayespool.evidence import DocumentTable, document_table, held_out_counts
from bayespool.evidence.predictor_table import with_predictors
from bayespool.evidence.predictors import evidence_predictors
from bayespool.experiments.hidden import HiddenDocuments, Rows, row_log_odds
from bayespool.experiments.judge_rankings import Documents, HeldOutRankings
from bayespool.models import Evidence, LinearEvidence
from bayespool.posterior import Prepared, new_interaction, new_organization_effect, new_slope_effect

if TYPE_CHECKING:
    from bayespool.inference import Fit

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Levels = npt.NDArray[np.uint8]

_MAX_RANDOM_NUMBERS = 2**23  # held at a time


@dataclass(frozen=True, eq=False)
class Question:
    """One model on one rung, with the hidden documents of some rankings.

    Attributes
    ----------
    prepared : Prepared
    hidden : HiddenDocuments
        On the rung.
    evidence : LinearEvidence or ModelEvidence
        With a row for every document; the model's own if that has them all.
    rows : Rows
        Of that evidence; documents count as hidden within the cutoff if they reach the rung below.
    """

    prepared: Prepared
    hidden: HiddenDocuments
    evidence: Evidence
    rows: Rows

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


def questions_of(prepared: Sequence[Prepared], rankings: HeldOutRankings) -> tuple[Question, ...]:
    """A model's questions, one for each rung of the measure's ladder; ``prepared`` has a model for each."""
    first, rungs, documents = rankings.hidden, rankings.hidden.rungs, rankings.documents
    if len(prepared) != len(rungs) or first.task.asked != rungs[0]:
        raise ValueError(f"{first.measure} asks on the rungs {rungs}, a model for each, from the first on")
    questions = []
    for model, rung in zip(prepared, rungs, strict=True):
        hidden = first
        if rung.given:
            hidden = HiddenDocuments(dataclasses.replace(first.task, rung=rung), first.of)
        if not rung.given and documents.rank.max(initial=0) <= first.measure.cutoff:
            questions.append(Question(model, hidden, model.evidence, hidden.rows(model.evidence)))
        else:
            questions.append(Question(model, hidden, *_ask_each(model, hidden, rankings, len(questions))))
    return tuple(questions)


def _ask_each(
    prepared: Prepared, hidden: HiddenDocuments, rankings: HeldOutRankings, step: int
) -> tuple[Evidence, Rows]:
    """Evidence with a row for each document on a step of the ladder, from 0, as in a completion."""
    collection, documents = hidden.collection, rankings.documents
    run, topic, rank, pair = documents
    organization = np.searchsorted(
        np.unique(collection.organization[hidden.run_index]), collection.organization[run]
    )
    counted = (rankings.judged >= step) & (rank <= hidden.measure.cutoff)
    rows = Rows(
        run=np.searchsorted(hidden.run_index, run).astype(np.int64),
        topic=topic.astype(np.int64),
        organization=organization.astype(np.int64),
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
    depth = hidden.task.count_depth
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


def _table(prepared: Prepared, hidden: HiddenDocuments, documents: Documents) -> DocumentTable:
    """Documents with predictors, the model's among them."""
    task, names = hidden.task, evidence_predictors()
    rung, depth = task.asked, max(task.document_depth, int(documents.rank.max(initial=1)))
    predictors = document_table(
        task.collection, *documents, depth=depth, rel=rung.rel, given=rung.given, names=names
    )
    table = DocumentTable(*documents, np.zeros(len(documents.pair), dtype=np.int64), predictors, names)
    own_predictors, cutoff = tuple(prepared.spec.predictors), task.document_depth
    return with_predictors(
        task.collection, table, own_predictors, cutoff=cutoff, rel=rung.rel, given=rung.given
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
