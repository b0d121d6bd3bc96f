"""The hidden documents of a pool as any model sees them: rows of its evidence, chances given draws, and
documents that several runs share.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.evidence import HeldOutCounts, held_out_counts
from bayespool.evidence.held_out import held_out_documents
from bayespool.measures import Measure
from bayespool.models import Evidence, LinearEvidence, ModelSpec
from bayespool.posterior import Rung, Task
from bayespool.posterior.ladder import rungs_of
from bayespool.scoring.scoring import refuse_of_judgments

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a model's evidence that hold hidden documents; a row's documents have one chance.

    Attributes
    ----------
    run, topic, organization : ndarray of int64, shape (row,)
        Positions among the pooled runs, the topics, and the organizations with a pooled run.
    n_hidden, n_hidden_relevant : ndarray of int64, shape (row,)
        Only documents within the measure's cutoff, where a model may learn from deeper ones, too.
    of_document : ndarray of int64, shape (document,)
        The row of each distinct hidden document within the cutoff.
    """

    run: IndexArray
    topic: IndexArray
    organization: IndexArray
    n_hidden: IndexArray
    n_hidden_relevant: IndexArray
    of_document: IndexArray


@dataclass(frozen=True, eq=False)
class HiddenDocuments:
    """What each pooled run would have unjudged had its organization not been pooled.

    Attributes
    ----------
    task : Task
        Of a collection, a measure and a rung of its ladder, without runs to score. Above the first rung
        documents that did not reach the rung below are not among the hidden ones.
    of : Measure or None
        A measure that shares the task's evidence and looks no deeper; None for the task's own.

    Raises
    ------
    InputError
        The measure is of the judgments themselves: no model says anything of it.
    """

    task: Task
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
        return self.task.collection

    @property
    def measure(self) -> Measure:
        """The measure at whose cutoff documents are hidden."""
        return self.of or self.task.measure

    @cached_property
    def run_index(self) -> npt.NDArray[np.intp]:
        """The pooled runs as positions in the collection, shape (run,)."""
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
        asked = self.task.asked
        return held_out_counts(self.collection, cutoffs=self.measure.cutoff, rel=asked.rel, given=asked.given)

    @cached_property
    def _documents(self) -> _Documents:
        """The distinct hidden documents within the cutoff."""
        return self._down_to(self.measure.cutoff)

    @cached_property
    def _counted(self) -> _Documents:
        """The distinct hidden documents that models of counts learn from."""
        return self._down_to(self.task.count_depth)

    def _down_to(self, depth: int) -> _Documents:
        asked = self.task.asked
        run, topic, _, pair, relevant = held_out_documents(
            self.collection, cutoff=depth, rel=asked.rel, given=asked.given
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
        """Run, topic, pair and number of the distinct document of every hidden document in a top n, in the
        order of runs, topics, ranks; a document that several runs of an organization retrieve is there for
        each.
        """
        documents = self._documents
        number = np.full(len(self.collection.relevance) + 1, -1)
        number[documents.pair] = np.arange(len(documents.pair))
        top = self.collection.document[self.run_index, :, : self.measure.cutoff]
        found = number[top]
        owner = np.append(self.collection.organization[documents.run], -1)  # what is not found is at -1
        own = self.collection.organization[self.run_index]
        run, topic, rank = np.nonzero(owner[found] == own[:, None, None])
        return run, topic, top[run, topic, rank], found[run, topic, rank]

    def rows(self, evidence: Evidence) -> Rows:
        """`Rows` of the evidence of a model on this collection, nothing left out of it.

        Raises
        ------
        ValueError
            The rows of the evidence are neither hidden documents nor (run, topic) cells of them.
        """
        if isinstance(evidence, LinearEvidence):
            table = self.task.hidden
            learnt = _Documents(table.run, table.topic, table.pair, table.relevant)
            run, topic, organization = evidence.run, evidence.topic, evidence.organization
        else:
            learnt = self._counted
            run = self.run_index[evidence.hidden_run].astype(np.int64)
            topic, organization = evidence.hidden_topic, evidence.hidden_organization
        row = _rows_of(learnt, run, topic)
        if not np.array_equal(np.bincount(row, minlength=len(run)), evidence.n_hidden):
            raise ValueError("rows of evidence are neither hidden documents nor (run, topic) cells of them")
        position = np.zeros(len(self.collection.relevance), dtype=np.int64)
        position[learnt.pair] = row
        within = position[self._documents.pair]
        return Rows(
            run=np.searchsorted(self.run_index, run).astype(np.int64),
            topic=topic,
            organization=organization,
            n_hidden=np.bincount(within, minlength=len(run)).astype(np.int64),
            n_hidden_relevant=np.bincount(within, self._documents.relevant, len(run)).astype(np.int64),
            of_document=within,
        )


@dataclass(frozen=True, eq=False)
class _Documents:
    """Distinct documents: the run of the collection that each is credited to, topic, pair, relevance."""

    run: npt.NDArray[np.intp]
    topic: npt.NDArray[np.intp]
    pair: npt.NDArray[np.int32]
    relevant: IndexArray


def _rows_of(documents: _Documents, run: IndexArray, topic: IndexArray) -> IndexArray:
    """The row of each document, rows being documents in the same order within a run and topic, or cells."""
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
    """The collection without judgments of one's own: what is checked is what the pool says."""
    if collection.own is None:
        return collection
    return dataclasses.replace(collection.without_judgments(collection.is_own), own=None)


def without_organizations(evidence: Evidence, kept: npt.NDArray[np.bool_]) -> Evidence:
    """Evidence whose hidden documents are those of some organizations only.

    What is judged of the other organizations' runs stays: it is known of a run to score, too.

    Parameters
    ----------
    evidence : LinearEvidence or ModelEvidence
    kept : ndarray of bool, shape (organization,)
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
    """Log odds that a document of some rows is relevant, shape (draw, row), without the organization's
    effect.

    Parameters
    ----------
    spec : ModelSpec
    evidence : LinearEvidence or ModelEvidence
        With the rows; the draws may come from less evidence with the same topics and runs.
    draws : mapping of str to ndarray
        Draws of the model's variables, draws on the first axis.
    row : ndarray of int64, shape (row,)
    """
    return spec.log_odds_of_rows(evidence, draws, row)
