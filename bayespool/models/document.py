"""The evidence model: the chance of each document from where runs rank it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bayespool.models.linear import LinearEvidence, linear_graph, linear_structure
from bayespool.models.priors import LOG_ODDS, SCALE, SLOPE, Prior
from bayespool.predictors import PREDICTORS, evidence_predictors

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["EVIDENCE_SLOPES", "evidence", "evidence_structure"]


class _EvidenceSlopes(Mapping[str, tuple[float, float]]):
    """Expected slopes of the predictors that are registered at the time of asking."""

    def __getitem__(self, name: str) -> tuple[float, float]:
        slope = PREDICTORS[name].slope
        if slope is None:
            raise KeyError(name)
        return slope

    def __iter__(self) -> Iterator[str]:
        return iter(evidence_predictors())

    def __len__(self) -> int:
        return len(evidence_predictors())


EVIDENCE_SLOPES: Mapping[str, tuple[float, float]] = _EvidenceSlopes()
"""Predictors, and what their slopes are expected to be: mean and standard deviation per unit of the
predictor's own scale, from ``benchmarks/priors.py``. They are those of `bayespool.predictors.PREDICTORS` that
have an expected slope."""


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

    with x_d the predictors of `bayespool.predictors.evidence_predictors`, whose descriptions stand with
    them in `bayespool.predictors.PREDICTORS`.

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
