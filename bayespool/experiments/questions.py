"""What a model is asked of hidden documents on one rung of the ladder, and its answer: log odds."""

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

_CELLS = 2**23  # random numbers held at a time


@dataclass(frozen=True, eq=False)
class Question:
    """One model on one rung, asked of the hidden documents of some rankings.

    Attributes
    ----------
    prepared : Prepared
    hidden : HiddenDocuments
        On the rung.
    evidence : LinearEvidence or ModelEvidence
        With a row for every document: the model's own where that has them all.
    rows : Rows
        Of that evidence; what counts as hidden is within the cutoff and has reached the rung below.
    """

    prepared: Prepared
    hidden: HiddenDocuments
    evidence: Evidence
    rows: Rows

    def log_odds(self, fit: Fit, seen: Evidence, row: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Log odds of some rows, all of organizations that the fit has not seen, with new effects of them;
        shape (draw, row).

        Parameters
        ----------
        fit : Fit
        seen : LinearEvidence or ModelEvidence
            What it was fitted to.
        row : ndarray of int, shape (row,)
        rng : numpy.random.Generator
        """
        parameters, organization = fit.draws(), self.rows.organization[row]
        effect = new_organization_effect(
            parameters["sigma_organization"], len(seen.organizations), organization, rng
        )
        log_odds = row_log_odds(self.prepared.spec, self.evidence, parameters, row) + effect
        return self._with_own(log_odds, parameters, row, rng)

    def prior_log_odds(self, draws: Mapping[str, FloatArray], rng: np.random.Generator) -> FloatArray:
        """Log odds of all rows, every organization new, given draws from the priors; shape (draw, row)."""
        every = np.arange(len(self.rows.organization))
        effect = new_organization_effect(draws["sigma_organization"], 0, self.rows.organization, rng)
        log_odds = row_log_odds(self.prepared.spec, self.evidence, draws, every) + effect
        return self._with_own(log_odds, draws, every, rng)

    def _with_own(
        self, log_odds: FloatArray, draws: Mapping[str, FloatArray], row: IndexArray, rng: np.random.Generator
    ) -> FloatArray:
        """With what new organizations' slopes are off the common ones, and their effects on topics."""
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
    """A model's questions, one for each rung of the measure's ladder.

    Parameters
    ----------
    prepared : sequence of Prepared
        The model on each rung.
    rankings : HeldOutRankings

    Raises
    ------
    ValueError
        Not one model for each rung.
    """
    first, rungs, documents = rankings.hidden, rankings.hidden.rungs, rankings.documents
    if len(prepared) != len(rungs) or first.task.asked != rungs[0]:
        raise ValueError(f"{first.measure} asks on the rungs {rungs}, a model for each, from the first on")
    found = []
    for one, rung in zip(prepared, rungs, strict=True):
        hidden = first
        if rung.given:
            hidden = HiddenDocuments(dataclasses.replace(first.task, rung=rung), first.of)
        if not rung.given and documents.rank.max(initial=0) <= first.measure.cutoff:
            found.append(Question(one, hidden, one.evidence, hidden.rows(one.evidence)))
        else:
            found.append(Question(one, hidden, *_ask_each(one, hidden, rankings, len(found))))
    return tuple(found)


def _ask_each(
    prepared: Prepared, hidden: HiddenDocuments, rankings: HeldOutRankings, step: int
) -> tuple[Evidence, Rows]:
    """Evidence with a row for each document on a step of the ladder, from 0: as a completion would have them
    predicted.
    """
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
    """The documents with the predictors of a model among others."""
    task, names = hidden.task, evidence_predictors()
    asked, depth = task.asked, max(task.document_depth, int(documents.rank.max(initial=1)))
    predictors = document_table(
        task.collection, *documents, depth=depth, rel=asked.rel, given=asked.given, names=names
    )
    table = DocumentTable(*documents, np.zeros(len(documents.pair), dtype=np.int64), predictors, names)
    wanted, cutoff = tuple(prepared.spec.predictors), task.document_depth
    return with_predictors(task.collection, table, wanted, cutoff=cutoff, rel=asked.rel, given=asked.given)


def draw_levels(log_odds: Sequence[FloatArray], rng: np.random.Generator) -> Levels:
    """The rung that each document reaches: up, as long as it is at the rung below and the answer is yes.

    Parameters
    ----------
    log_odds : sequence of ndarray of float, shape (draw, document)
        Rung by rung.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of uint8, shape (draw, document)

    Examples
    --------
    >>> no, yes = np.full((1, 2), -50.0), np.full((1, 2), 50.0)
    >>> draw_levels([yes, yes, no], np.random.default_rng(1)).tolist()
    [[2, 2]]
    >>> draw_levels([no, yes], np.random.default_rng(1)).tolist()
    [[0, 0]]
    """
    level: Levels = np.zeros(log_odds[0].shape, dtype=np.uint8)
    step = max(1, _CELLS // max(1, level.shape[1]))
    for first in range(0, len(level), step):
        part = slice(first, first + step)
        for k, of_rung in enumerate(log_odds):
            some = of_rung[part]
            level[part] += (rng.logistic(size=some.shape) < some) & (level[part] == k)
    return level
