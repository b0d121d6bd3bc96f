"""Evidence of models of counts: integer arrays gathered from count tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.evidence import HeldOutCounts, JudgmentCounts

IndexArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelEvidence:
    """Evidence for one measure: hidden documents of pooled runs, and judged ones of all runs.

    A *cell* is a (pooled run, topic) with hidden documents; a document that several runs of an organization
    retrieved is in the cell of the one that ranks it best. A *ranking* is a (run, topic) with judged
    documents, of pooled runs without their organization and of the runs to score.

    Attributes
    ----------
    query_ids, organizations, run_ids : tuple of str
        Coordinates: all topics; organizations with a pooled run; pooled runs, then the runs to score.
    n_pooled_runs : int
        Number of ``run_ids`` that are pooled runs.
    hidden_topic, hidden_organization, hidden_run : ndarray of int64, shape (cell,)
        Indices into the coordinates.
    n_hidden, n_hidden_relevant : ndarray of int64, shape (cell,)
        Hidden documents, at least 1, and the relevant ones.
    hidden_residual : ndarray of float, shape (cell,)
        Δ of the run on the topic with its organization held out.
    judged_topic, judged_run : ndarray of int64, shape (ranking,)
    n_judged, n_relevant : ndarray of int64, shape (ranking,)
        Judged documents in the top n, at least 1, and the relevant ones.
    """

    query_ids: tuple[str, ...]
    organizations: tuple[str, ...]
    run_ids: tuple[str, ...]
    n_pooled_runs: int
    hidden_topic: IndexArray
    hidden_organization: IndexArray
    hidden_run: IndexArray
    n_hidden: IndexArray
    n_hidden_relevant: IndexArray
    hidden_residual: FloatArray
    judged_topic: IndexArray
    judged_run: IndexArray
    n_judged: IndexArray
    n_relevant: IndexArray

    @property
    def coords(self) -> dict[str, tuple[str, ...]]:
        """Named coordinates of the models."""
        return {"topic": self.query_ids, "organization": self.organizations, "run": self.run_ids}

    @property
    def much_judged(self) -> bool:
        """Whether topics and runs have at least 20 judged documents on average."""
        return int(self.n_judged.sum()) >= 20 * max(len(self.query_ids), len(self.run_ids))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All arrays by name: the ``pm.Data`` of a model, exchanged by a refit."""
        return {
            f.name: value
            for f in dataclasses.fields(self)
            if isinstance(value := getattr(self, f.name), np.ndarray)
        }


def gather_evidence(
    held_out: HeldOutCounts,
    targets: JudgmentCounts,
    cutoff: int,
    *,
    contributing: Sequence[str] = (),
    without: Sequence[str] = (),
) -> ModelEvidence:
    """Evidence at one cutoff.

    Parameters
    ----------
    held_out : HeldOutCounts
        Of a pool without the targets' organizations; may have no run.
    targets : JudgmentCounts
        Of the runs to score.
    cutoff : int
        One that both tables have.
    contributing : sequence of str
        The runs to score that are evidence, too.
    without : sequence of str
        Other runs that are not evidence.

    Returns
    -------
    ModelEvidence
    """
    h, t = held_out.cutoffs.index(cutoff), targets.cutoffs.index(cutoff)
    own = [i for i, run in enumerate(held_out.run_ids) if run not in {*targets.run_ids, *without}]
    position = {run: i for i, run in enumerate(targets.run_ids)}
    added = [i for i, run in enumerate(held_out.run_ids) if run in position and run in contributing]
    rows = np.array([*own, *added], dtype=np.intp)
    run_of_row = np.array([*range(len(own)), *(len(own) + position[held_out.run_ids[i]] for i in added)])
    present, organization = np.unique(held_out.organization[rows], return_inverse=True)
    row, topic = np.nonzero(held_out.n_credited[rows, :, h])
    credited = (rows[row], topic, h)
    relevant, nonrelevant = targets.n_relevant[:, :, t].copy(), targets.n_nonrelevant[:, :, t].copy()
    for i in added:  # without the judgments made because of the run itself
        relevant[position[held_out.run_ids[i]]] = held_out.n_relevant[i, :, h]
        nonrelevant[position[held_out.run_ids[i]]] = held_out.n_nonrelevant[i, :, h]
    n_relevant = np.concatenate([held_out.n_relevant[own, :, h], relevant])
    n_judged = n_relevant + np.concatenate([held_out.n_nonrelevant[own, :, h], nonrelevant])
    judged_run, judged_topic = np.nonzero(n_judged)
    unknown = held_out.n_concealed[credited] + held_out.n_unjudged[credited]
    return ModelEvidence(
        query_ids=held_out.query_ids,
        organizations=tuple(held_out.organizations[o] for o in present),
        run_ids=(*(held_out.run_ids[i] for i in own), *targets.run_ids),
        n_pooled_runs=len(own),
        hidden_topic=topic.astype(np.int64),
        hidden_organization=organization[row].astype(np.int64),
        hidden_run=run_of_row[row].astype(np.int64),
        n_hidden=held_out.n_credited[credited].astype(np.int64),
        n_hidden_relevant=held_out.n_credited_relevant[credited].astype(np.int64),
        hidden_residual=unknown / cutoff,
        judged_topic=judged_topic.astype(np.int64),
        judged_run=judged_run.astype(np.int64),
        n_judged=n_judged[judged_run, judged_topic].astype(np.int64),
        n_relevant=n_relevant[judged_run, judged_topic].astype(np.int64),
    )
