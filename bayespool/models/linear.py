"""What the models with predictors share: their evidence, their graph and its twin for the Laplace engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.compiled import compiled
from bayespool.models.priors import LOG_ODDS, SCALE, SLOPE, Prior
from bayespool.models.structure import Block, Coefficient, Group, Predictor, Structure
from bayespool.predictors import PREDICTORS, DocumentTable

if TYPE_CHECKING:
    import pymc as pm

__all__ = [
    "LinearEvidence",
    "document_log_odds",
    "gather_documents",
    "linear_graph",
    "linear_log_odds",
    "linear_structure",
]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinearEvidence:
    """Hidden documents with their predictors, those that no predictor tells apart in one row.

    Attributes
    ----------
    query_ids, organizations, predictor_names : tuple of str
        Coordinates.
    run : ndarray of int64, shape (row,)
        The pooled run that a row's documents are credited to, as an index into the collection's runs.
    topic, organization : ndarray of int64, shape (row,)
    predictors : ndarray of float, shape (row, predictor)
        With mean 0 over hidden documents, in units in which slopes have a standard deviation of 1 a priori.
    n_hidden, n_hidden_relevant : ndarray of int64, shape (row,)
    center, unit : ndarray of float, shape (predictor,)
        Mean over hidden documents, and what a unit is on the predictor's own scale.
    expected : ndarray of float, shape (predictor,)
        Slopes expected a priori, per unit.
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

    @property
    def coords(self) -> dict[str, tuple[str, ...]]:
        """Named coordinates of the models."""
        return {
            "topic": self.query_ids,
            "organization": self.organizations,
            "predictor": self.predictor_names,
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays by name: what a model registers as ``pm.Data`` and a refit exchanges."""
        names = ("topic", "organization", "predictors", "n_hidden", "n_hidden_relevant")
        arrays = {n if n.startswith("n_") else f"hidden_{n}": getattr(self, n) for n in names}
        return arrays | {"rotation": self.rotation}

    @property
    def cell(self) -> IndexArray:
        """Organization × topic of each row, as one number."""
        return self.organization * len(self.query_ids) + self.topic

    @property
    def rotation(self) -> FloatArray:
        """Orthonormal directions in which predictors are uncorrelated, shape (predictor, direction)."""
        return np.linalg.eigh((self.predictors * self.n_hidden[:, None]).T @ self.predictors)[1]

    def standardise(self, table: DocumentTable) -> FloatArray:
        """Predictors of other documents on the scale of these, shape (document, predictor)."""
        standard: FloatArray = (table.columns(self.predictor_names) - self.center) / self.unit
        return standard

    def of_organizations(self, kept: npt.NDArray[np.bool_]) -> LinearEvidence:
        """The evidence of some organizations only, given by a mask of shape (organization,)."""
        rows = kept[self.organization]
        names = tuple(name for name, keep in zip(self.organizations, kept, strict=True) if keep)
        return dataclasses.replace(
            self,
            organizations=names,
            run=self.run[rows],
            topic=self.topic[rows],
            organization=(np.cumsum(kept) - 1)[self.organization[rows]],
            predictors=self.predictors[rows],
            n_hidden=self.n_hidden[rows],
            n_hidden_relevant=self.n_hidden_relevant[rows],
        )


def gather_documents(
    collection: Collection,
    hidden: DocumentTable,
    slopes: Mapping[str, tuple[float, float]],
    *,
    without: tuple[str, ...] = (),
) -> LinearEvidence:
    """Evidence with some predictors.

    Parameters
    ----------
    collection : Collection
    hidden : DocumentTable
        Of `bayespool.predictors.hidden_document_table`.
    slopes : mapping of str to (float, float)
        The predictors, out of the table's, and the mean and standard deviation a priori of their slopes.
    without : tuple of str
        Runs whose hidden documents are left out, but for added judgments.
    """
    kept = (collection.added_for[hidden.pair] >= 0) | ~np.isin(hidden.run, collection.run_index(without))
    predictor_names = tuple(slopes)
    chosen = hidden.columns(predictor_names)[kept]
    keys = np.column_stack([hidden.run[kept], hidden.topic[kept]])
    if all(PREDICTORS[name].per == "ranking" for name in predictor_names):
        rows, row = np.unique(keys, axis=0, return_inverse=True)
        first = np.full(len(rows), 0)
        first[row] = np.arange(len(row))
        row = row.reshape(-1)
    else:
        rows, row, first = keys, np.arange(len(keys)), np.arange(len(keys))
    center = chosen.mean(axis=0) if len(chosen) else np.zeros(len(predictor_names))
    mean, std = np.array(list(slopes.values()), dtype=float).T
    own = np.unique(rows[:, 0][np.isin(rows[:, 0], np.flatnonzero(~collection.pooled))])
    present = np.unique(collection.organization[np.concatenate([np.flatnonzero(collection.pooled), own])])
    return LinearEvidence(
        query_ids=collection.query_ids,
        organizations=tuple(collection.organizations[o] for o in present),
        predictor_names=predictor_names,
        run=rows[:, 0].astype(np.int64),
        topic=rows[:, 1].astype(np.int64),
        organization=np.searchsorted(present, collection.organization[rows[:, 0]]).astype(np.int64),
        predictors=(chosen[first] - center) * std,
        n_hidden=np.bincount(row, minlength=len(rows)).astype(np.int64),
        n_hidden_relevant=np.bincount(row, hidden.relevant[kept], len(rows)).astype(np.int64),
        center=center,
        unit=1 / std,
        expected=mean / std,
    )


def linear_graph(
    evidence: LinearEvidence, *, mu: Prior, beta: Prior, sigma_topic: Prior, sigma_organization: Prior
) -> pm.Model:
    """The graph of logit p = μ + topic + organization + β·x on hidden documents.

    The sampler sees normal slopes along directions in which the predictors are uncorrelated: the same prior,
    for a rotation leaves it as it is, and several times the effective draws.
    """
    import pymc as pm

    from bayespool.models.parts import binomial, group_effect

    with pm.Model(coords=evidence.coords) as model:
        data = {name: pm.Data(name, values) for name, values in evidence.arrays().items()}
        intercept = mu.variable("mu")
        if beta.distribution == "Normal" and len(beta.args) == 2:
            center, scale = beta.args
            standard = pm.Normal("standard_beta", shape=len(evidence.predictor_names))
            deviation = center + scale * data["rotation"] @ standard
        else:
            deviation = beta.variable("standard_beta", dims="predictor")
        slopes = pm.Deterministic("beta", evidence.expected + deviation, dims="predictor")
        topic = group_effect("topic", sigma_topic, "topic", centred=False)
        organization = group_effect("organization", sigma_organization, "organization", centred=False)
        logit_p = (
            intercept
            + topic[data["hidden_topic"]]
            + organization[data["hidden_organization"]]
            + data["hidden_predictors"] @ slopes
        )
        binomial("hidden_relevant", logit_p, data["n_hidden"], data["n_hidden_relevant"])
    return model


def linear_structure(
    evidence: LinearEvidence,
    *,
    mu: Prior = LOG_ODDS,
    beta: Prior = SLOPE,
    sigma_topic: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> Structure:
    """The same model for the Laplace engine."""
    predictor = Predictor(
        {"mu": np.ones(len(evidence.n_hidden)), "beta": evidence.predictors},
        {"topic": evidence.topic, "organization": evidence.organization},
    )
    return Structure(
        {
            "mu": Coefficient(mu),
            "beta": Coefficient(beta, len(evidence.predictor_names), "predictor", shift=evidence.expected),
        },
        {
            "topic": Group(sigma_topic, len(evidence.query_ids), "topic"),
            "organization": Group(sigma_organization, len(evidence.organizations), "organization"),
        },
        (Block(evidence.n_hidden_relevant, evidence.n_hidden, (predictor,)),),
    )


def linear_log_odds(draws: Mapping[str, FloatArray], topic: IndexArray, predictors: FloatArray) -> FloatArray:
    """Log odds that documents are relevant, shape (draw, document), without the organization's effect.

    Parameters
    ----------
    draws : mapping of str to ndarray
        Draws of ``mu``, ``beta`` and ``topic_effect``, draws on the first axis.
    topic : ndarray of int, shape (document,)
    predictors : ndarray of float, shape (document, predictor)
        On the scale of the evidence's.
    """
    log_odds: FloatArray = draws["beta"] @ predictors.T
    log_odds += draws["mu"][:, None]
    log_odds += np.take(draws["topic_effect"], topic, axis=1)
    return log_odds


def document_log_odds(intercept: FloatArray, beta: FloatArray, predictors: FloatArray) -> FloatArray:
    """Log odds of documents of one topic, shape (draw, document): the same to the bit whatever other draws
    and documents there are, which a product of matrices does not promise.

    Parameters
    ----------
    intercept : ndarray of float, shape (draw,)
        μ and the effect of the topic.
    beta : ndarray of float, shape (draw, predictor)
    predictors : ndarray of float, shape (document, predictor)
    """
    log_odds = np.empty((len(intercept), len(predictors)))
    _fill_log_odds(intercept, beta, np.ascontiguousarray(predictors.T), log_odds)
    return log_odds


@compiled
def _fill_log_odds(
    intercept: FloatArray, beta: FloatArray, predictors: FloatArray, log_odds: FloatArray
) -> None:
    for i in range(log_odds.shape[0]):
        log_odds[i] = intercept[i]
        for k in range(predictors.shape[0]):
            slope = beta[i, k]
            for j in range(log_odds.shape[1]):
                log_odds[i, j] += slope * predictors[k, j]
