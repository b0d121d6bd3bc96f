"""Evidence for models, of two kinds: document counts by run and topic, or single documents."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, OrderArray
from bayespool.collection import Collection
from bayespool.evidence import PREDICTORS, DocumentTable, HeldOutCounts, JudgmentCounts
from bayespool.evidence.columns import column_predictors
from bayespool.evidence.predictors_of_labels import label_predictors
from bayespool.models.terms import Factor


class DigestedEvidence:
    """Base class for evidence, whose fields have a digest."""

    @cached_property
    def digest(self) -> bytes:
        """Digest of all fields."""
        digest = hashlib.blake2b(digest_size=16)
        for part in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, part.name)
            digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
            digest.update(b"\0")
        return digest.digest()


@dataclass(frozen=True, eq=False)
class ModelEvidence(DigestedEvidence):
    """Evidence for one measure: hidden documents in pooled runs, and judged documents in all runs."""

    query_ids: tuple[str, ...]  # all topics
    organizations: tuple[str, ...]  # those with a pooled run
    run_ids: tuple[str, ...]  # pooled runs, then runs without hidden documents
    # A cell is a (pooled run, topic) with hidden documents; a document that several runs of an organization
    # retrieved is in the cell of the one that ranks it best. Arrays of shape (cell,):
    hidden_topic: IndexArray  # index into the coordinates
    hidden_organization: IndexArray
    hidden_run: IndexArray
    n_hidden: IndexArray  # hidden documents, at least 1
    n_hidden_relevant: IndexArray
    hidden_residual: FloatArray  # Δ of the run on the topic with its organization held out
    # A ranking is a (run, topic) with judged documents, of pooled runs without their organization and of all
    # others, whichever are scored. Arrays of shape (ranking,):
    judged_topic: IndexArray
    judged_run: IndexArray
    n_judged: IndexArray  # judged documents in the top n, at least 1
    n_relevant: IndexArray
    factors: tuple[Factor, ...] = ()  # columns of runs, numbered as here, and of topics

    @property
    def n_hidden_by_organization(self) -> IndexArray:
        """Number of hidden documents of each organization, shape (organization,)."""
        return _count_by(self.hidden_organization, self.n_hidden, self.organizations)

    @property
    def coords(self) -> dict[str, tuple[str, ...]]:
        """Model coordinates: names of topics, organizations and runs."""
        coords = {"topic": self.query_ids, "organization": self.organizations, "run": self.run_ids}
        return coords | {factor.name: factor.levels for factor in self.factors}

    @property
    def much_judged(self) -> bool:
        """Whether topics and runs have at least 20 judged documents on average."""
        return int(self.n_judged.sum()) >= 20 * max(len(self.query_ids), len(self.run_ids))

    def arrays(self) -> dict[str, AnyArray]:
        """Return all arrays by name, which become the model's ``pm.Data`` and can be replaced in a refit."""
        arrays = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        arrays = {name: value for name, value in arrays.items() if isinstance(value, np.ndarray)}
        for factor in self.factors:
            for of in ("hidden", "judged"):
                arrays[f"{of}_{factor.name}"] = factor.at(arrays[f"{of}_run"], arrays[f"{of}_topic"])
        return arrays

    def levels_of_runs(self, run: OrderArray, topic: int | IndexArray) -> dict[str, IndexArray]:
        """Return the levels of runs, numbered as here, on a topic or one each, by column."""
        at = np.broadcast_to(topic, len(run))
        return {factor.name: factor.at(run, at) for factor in self.factors}

    def select_organizations(self, kept: BoolArray) -> ModelEvidence:
        """Return evidence with hidden documents of selected organizations only, from a mask (organization,).

        Judgments of all runs stay.
        """
        names = ("hidden_topic", "hidden_run", "n_hidden", "n_hidden_relevant", "hidden_residual")
        return _select_organizations(self, kept, "hidden_organization", names)


def gather_evidence(
    held_out: HeldOutCounts, others: JudgmentCounts, cutoff: int, *, without: Sequence[str] = ()
) -> ModelEvidence:
    """Return a model's evidence at a cutoff from counts of held-out documents and of judged ones.

    Parameters
    ----------
    held_out : HeldOutCounts
        Of the pool, whose runs have hidden documents; may have no run.
    others : JudgmentCounts
        Of the runs that have judged documents alone, such as those outside the pool.
    cutoff : int
        One that both tables have.
    without : sequence of str
        Pooled runs that are not evidence.
    """
    h, j = held_out.cutoffs.index(cutoff), others.cutoffs.index(cutoff)
    own = [i for i, run in enumerate(held_out.run_ids) if run not in {*others.run_ids, *without}]
    rows = np.array(own, dtype=np.intp)
    present, organization = np.unique(held_out.organization[rows], return_inverse=True)
    row, topic = np.nonzero(held_out.n_credited[rows, :, h])
    credited = (rows[row], topic, h)
    n_relevant = np.concatenate([held_out.n_relevant[rows, :, h], others.n_relevant[:, :, j]])
    n_nonrelevant = np.concatenate([held_out.n_nonrelevant[rows, :, h], others.n_nonrelevant[:, :, j]])
    n_judged = n_relevant + n_nonrelevant
    judged_run, judged_topic = np.nonzero(n_judged)
    unknown = held_out.n_concealed[credited] + held_out.n_unjudged[credited]
    return ModelEvidence(
        query_ids=held_out.query_ids,
        organizations=tuple(held_out.organizations[o] for o in present),
        run_ids=(*(held_out.run_ids[i] for i in own), *others.run_ids),
        hidden_topic=topic.astype(np.int64),
        hidden_organization=organization[row].astype(np.int64),
        hidden_run=row.astype(np.int64),
        n_hidden=held_out.n_credited[credited].astype(np.int64),
        n_hidden_relevant=held_out.n_credited_relevant[credited].astype(np.int64),
        hidden_residual=unknown / cutoff,
        judged_topic=judged_topic.astype(np.int64),
        judged_run=judged_run.astype(np.int64),
        n_judged=n_judged[judged_run, judged_topic].astype(np.int64),
        n_relevant=n_relevant[judged_run, judged_topic].astype(np.int64),
    )


@dataclass(frozen=True, eq=False)
class LinearEvidence(DigestedEvidence):
    """Hidden documents with their predictors, grouped into rows with equal predictors.

    Attributes
    ----------
    query_ids, organizations, predictor_names : tuple of str
        Coordinates.
    run : ndarray of int64, shape (row,)
        The pooled run that a row's documents are credited to, as an index into the collection's runs.
    topic, organization : ndarray of int64, shape (row,)
    predictors : ndarray of float, shape (row, predictor)
        With mean 0 over hidden documents, in units in which slopes have a prior standard deviation of 1.
    n_hidden, n_hidden_relevant : ndarray of int64, shape (row,)
    center, unit : ndarray of float, shape (predictor,)
        Mean over hidden documents, and the size of a unit on the predictor's own scale.
    expected : ndarray of float, shape (predictor,)
        Prior means of slopes, per unit.
    factors : tuple of Factor
        Columns of runs and topics that effects are of.
    company : ndarray of float, shape (row, organization), or None
        Weights of organizations' effects in each row, or None if each row has its organization's effect.
    """

    query_ids: tuple[str, ...]
    organizations: tuple[str, ...]
    predictor_names: tuple[str, ...]
    run: IndexArray
    topic: IndexArray
    organization: IndexArray
    predictors: FloatArray
    n_hidden: IndexArray
    n_hidden_relevant: IndexArray
    center: FloatArray
    unit: FloatArray
    expected: FloatArray
    factors: tuple[Factor, ...] = ()
    company: FloatArray | None = None

    @property
    def n_hidden_by_organization(self) -> IndexArray:
        """Number of hidden documents of each organization, shape (organization,)."""
        return _count_by(self.organization, self.n_hidden, self.organizations)

    @property
    def coords(self) -> dict[str, tuple[str, ...]]:
        """Model coordinates: names of topics, organizations, predictors and their combinations."""
        return {
            "topic": self.query_ids,
            "organization": self.organizations,
            "predictor": self.predictor_names,
            "organization_topic": tuple(f"{o}, {q}" for o in self.organizations for q in self.query_ids),
            "organization_predictor": tuple(
                f"{o}, {name}" for o in self.organizations for name in self.predictor_names
            ),
            **{factor.name: factor.levels for factor in self.factors},
        }

    @property
    def much_judged(self) -> bool:
        """Whether topics have at least ten relevant and ten nonrelevant hidden documents on average."""
        relevant, n = int(self.n_hidden_relevant.sum()), int(self.n_hidden.sum())
        return min(relevant, n - relevant) >= 10 * len(self.query_ids)

    def arrays(self) -> dict[str, AnyArray]:
        """Return arrays by name, which become the model's ``pm.Data`` and can be replaced in a refit."""
        names = ("topic", "organization", "predictors", "n_hidden", "n_hidden_relevant")
        arrays = {n if n.startswith("n_") else f"hidden_{n}": getattr(self, n) for n in names}
        arrays |= {f"hidden_{factor.name}": factor.at(self.run, self.topic) for factor in self.factors}
        if self.company is not None:
            arrays["hidden_organization"] = self.company
        return arrays | {"rotation": self.rotation, "hidden_organization_topic": self.cell}

    @property
    def cell(self) -> IndexArray:
        """Index of the (organization, topic) cell for each row, shape (row,)."""
        return self.organization * len(self.query_ids) + self.topic

    def on_topic(self, topic: int) -> dict[str, int]:
        """Return the coordinates that all documents of a topic share."""
        return {"topic": topic} | {f.name: f.level[topic] for f in self.factors if f.of == "topic"}

    @property
    def rotation(self) -> FloatArray:
        """Orthonormal directions in which predictors are uncorrelated, shape (predictor, direction)."""
        return np.linalg.eigh((self.predictors * self.n_hidden[:, None]).T @ self.predictors)[1]

    def standardize(self, table: DocumentTable) -> FloatArray:
        """Return other documents' predictors on this evidence's scale, shape (document, predictor)."""
        standard: FloatArray = (table.columns(self.predictor_names) - self.center) / self.unit
        standard[np.isnan(standard)] = 0.0  # without a label: an average document
        return standard

    def select_organizations(self, kept: BoolArray) -> LinearEvidence:
        """Return the evidence from selected organizations, given a mask of shape (organization,)."""
        names = ("run", "topic", "predictors", "n_hidden", "n_hidden_relevant")
        selected = _select_organizations(self, kept, "organization", names)
        if self.company is None:
            return selected
        return dataclasses.replace(selected, company=self.company[kept[self.organization]][:, kept])

    def select_topics(self, kept: BoolArray) -> LinearEvidence:
        """Return the evidence on selected topics, given a mask of shape (topic,)."""
        rows = kept[self.topic]
        names = ("run", "organization", "predictors", "n_hidden", "n_hidden_relevant")
        arrays = {name: getattr(self, name)[rows] for name in names}
        arrays["topic"] = (np.cumsum(kept) - 1)[self.topic[rows]]
        if self.company is not None:
            arrays["company"] = self.company[rows]
        present = tuple(name for name, keep in zip(self.query_ids, kept, strict=True) if keep)
        factors = tuple(factor.select(np.flatnonzero(kept), "topic") for factor in self.factors)
        return dataclasses.replace(self, query_ids=present, factors=factors, **arrays)


@dataclass(frozen=True, eq=False)
class UnjudgedDocuments:
    """Unjudged documents of runs to score, for a PyMC graph, and what a relevant one adds to each score."""

    score: str  # name of the variable of the runs' scores
    run_ids: tuple[str, ...]
    organizations: tuple[str, ...]  # new ones
    new_organization: IndexArray  # of each run of a new one; these runs are numbered after the evidence's
    few: FloatArray  # how few documents of such a run are unjudged, from 0 to 1, shape (new run,)
    usually_few: float  # the same of the evidence's organizations
    labels: tuple[str, ...]  # of the documents
    rows: Mapping[str, AnyArray]  # what the formula of hidden documents asks for, shape (row, ...)
    document: IndexArray  # of each row; log odds are means over the rows of a document
    judged: FloatArray  # scores with no unjudged document relevant, shape (run,)
    gains: FloatArray  # shape (run, document)
    below_pool: FloatArray | None = None  # log of rank over pool depth, 0 in the pool, shape (document,)
    # mean and standard deviation of the slope on it that goes on from the pool, where no predictor has it
    slope_within: tuple[float, float] | None = None


Selected = TypeVar("Selected", ModelEvidence, LinearEvidence)


def _select_organizations(
    evidence: Selected, kept: BoolArray, organization: str, names: tuple[str, ...]
) -> Selected:
    """Return evidence with only the rows from selected organizations, given a mask (organization,).

    The arrays ``organization`` and ``names`` have these rows.
    """
    rows = kept[getattr(evidence, organization)]
    arrays = {name: getattr(evidence, name)[rows] for name in (organization, *names)}
    arrays[organization] = (np.cumsum(kept) - 1)[arrays[organization]]
    present = tuple(name for name, keep in zip(evidence.organizations, kept, strict=True) if keep)
    return dataclasses.replace(evidence, organizations=present, **arrays)


def gather_documents(
    collection: Collection,
    hidden: DocumentTable,
    slopes: Mapping[str, tuple[float, float]],
    *,
    without: tuple[str, ...] = (),
) -> LinearEvidence:
    """Return the evidence from hidden documents with the predictors named in ``slopes``.

    Parameters
    ----------
    collection : Collection
    hidden : DocumentTable
        Of `bayespool.evidence.hidden_document_table`.
    slopes : mapping of str to (float, float)
        Predictors, out of the table's, with the prior mean and standard deviation of their slopes.
    without : tuple of str
        Runs whose hidden documents are left out, but for added judgments.
    """
    kept = (collection.attributed_run[hidden.pair] >= 0) | ~np.isin(hidden.run, collection.run_index(without))
    predictor_names = tuple(slopes)
    chosen = hidden.columns(predictor_names)[kept]
    keys = np.column_stack([hidden.run[kept], hidden.topic[kept]])
    known = PREDICTORS | label_predictors(collection) | column_predictors(collection)
    of_labels = [place for place, name in enumerate(predictor_names) if known[name].per == "label"]
    if all(known[name].per != "document" for name in predictor_names):
        labels = np.nan_to_num(chosen[:, of_labels], nan=-1.0)
        rows, row = np.unique(np.hstack([keys, labels]), axis=0, return_inverse=True)
        rows = rows[:, :2].astype(np.int64)
        first = np.full(len(rows), 0)
        first[row.reshape(-1)] = np.arange(len(keys))
        row = row.reshape(-1)
    else:
        rows, row, first = keys, np.arange(len(keys)), np.arange(len(keys))
    center = _means(chosen)
    mean, std = np.array(list(slopes.values()), dtype=float).reshape(-1, 2).T
    own = np.unique(rows[:, 0][np.isin(rows[:, 0], np.flatnonzero(~collection.pooled))])
    present = np.unique(collection.organization[np.concatenate([np.flatnonzero(collection.pooled), own])])
    return LinearEvidence(
        query_ids=collection.query_ids,
        organizations=tuple(collection.organizations[o] for o in present),
        predictor_names=predictor_names,
        run=rows[:, 0].astype(np.int64),
        topic=rows[:, 1].astype(np.int64),
        organization=np.searchsorted(present, collection.organization[rows[:, 0]]).astype(np.int64),
        predictors=np.nan_to_num((chosen[first] - center) * std, nan=0.0),
        n_hidden=np.bincount(row, minlength=len(rows)).astype(np.int64),
        n_hidden_relevant=np.bincount(row, hidden.relevant[kept], len(rows)).astype(np.int64),
        center=center,
        unit=1 / std,
        expected=mean / std,
    )


def _means(columns: FloatArray) -> FloatArray:
    """Return column means that ignore NaN, 0 for columns of NaN only, shape (column,)."""
    there = ~np.isnan(columns)
    return np.asarray(np.where(there, columns, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))


def _count_by(organization: IndexArray, n_hidden: IndexArray, organizations: Sequence[str]) -> IndexArray:
    return np.bincount(organization, n_hidden, minlength=len(organizations)).astype(np.int64)
