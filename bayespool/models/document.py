"""The evidence model: the chance of each document from where runs rank it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from bayespool.models.linear import LinearEvidence, linear_graph, linear_structure
from bayespool.models.priors import LOG_ODDS, SCALE, SLOPE, Prior

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["EVIDENCE_SLOPES", "evidence", "evidence_structure"]

EVIDENCE_SLOPES = MappingProxyType(
    {
        "log_rank": (-0.1, 0.2),
        "precision": (0.2, 0.3),
        "run_precision": (0.9, 0.5),
        "support": (0.0, 1.0),
        "log_best_rank": (-0.5, 0.3),
        "fusion": (4.0, 3.0),
        "local_precision": (0.8, 0.4),
        "run_unjudged": (0.2, 0.15),
    }
)
"""Predictors, and what their slopes are expected to be: mean and standard deviation per unit of the
predictor's own scale, from ``benchmarks/priors.py``."""


def evidence(
    documents: LinearEvidence,
    *,
    mu: Prior = LOG_ODDS,
    beta: Prior = SLOPE,
    sigma_topic: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> pm.Model:
    r"""Document-level model: one Bernoulli per hidden document.

    .. math::

        \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{organization}_{o(d)} + \beta \cdot
        x_d

    with x_d the predictors of `bayespool.documents.PREDICTORS`: the log rank in the run, the run's judged
    precision on the topic and over all topics, the share of the other pooled runs that retrieve the document
    at any depth, its log best rank among them, its reciprocal-log-rank fusion score over them, the
    run's judged precision around the document, and how much of the run's top is unjudged.

    Parameters
    ----------
    documents : LinearEvidence
        With the predictors `EVIDENCE_SLOPES`.
    mu, beta, sigma_topic, sigma_organization : Prior
        As in `bayespool.models.ratio`.

    Returns
    -------
    pymc.Model
        Variables ``mu``, ``beta`` (predictor), ``topic_effect`` (topic), ``organization_effect``
        (organization) and the scales ``sigma_…``.
    """
    return linear_graph(
        documents, mu=mu, beta=beta, sigma_topic=sigma_topic, sigma_organization=sigma_organization
    )


evidence_structure = linear_structure
