"""The ratio model: the share of relevant documents among a run's unjudged ones."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from bayespool.models.linear import LinearEvidence, linear_graph, linear_structure
from bayespool.models.priors import LOG_ODDS, SCALE, SLOPE, Prior

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["RATIO_SLOPES", "ratio", "ratio_structure"]

RATIO_SLOPES = MappingProxyType({"precision": (0.7, 0.3), "run_precision": (1.3, 0.7)})
"""Predictors, and what their slopes are expected to be, see `bayespool.models.document`."""


def ratio(
    evidence: LinearEvidence,
    *,
    mu: Prior = LOG_ODDS,
    beta: Prior = SLOPE,
    sigma_topic: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> pm.Model:
    r"""Webber & Park's adjustments as a hierarchy, with the judged precision of the run.

    .. math::

        k_{rq} \sim \mathrm{Binomial}(v_{rq}, \rho_{rq}), \qquad
        \operatorname{logit} \rho_{rq} = \mu + \mathrm{organization}_{o(r)} + \mathrm{topic}_q
        + \beta_1 \mathrm{precision}_{rq} + \beta_2 \mathrm{precision}_{r}

    The unjudged count is the auxiliary variable of a ratio estimator: the correction of a topic is ρ times
    the unjudged documents. Without a judged document of the run to score it is the Bayesian form of the
    systems adjustment.

    Parameters
    ----------
    evidence : LinearEvidence
        With the predictors `RATIO_SLOPES`.
    mu : Prior
        Mean logit over these topics and organizations at average predictors, see
        `bayespool.models.background`.
    beta : Prior
        How far slopes are from those expected, `RATIO_SLOPES`, in standard deviations: Normal(0, 1).
    sigma_topic, sigma_organization : Prior
        Standard deviations of the effects.

    Returns
    -------
    pymc.Model
        Variables ``mu``, ``beta`` (predictor), ``topic_effect`` (topic), ``organization_effect``
        (organization) and the scales ``sigma_…``.
    """
    return linear_graph(
        evidence, mu=mu, beta=beta, sigma_topic=sigma_topic, sigma_organization=sigma_organization
    )


ratio_structure = linear_structure
