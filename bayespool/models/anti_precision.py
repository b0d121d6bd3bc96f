"""The anti-precision model: what composing a run with the pooled runs does to them predicts its unjudged
documents.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from bayespool.models.linear import LinearEvidence, linear_graph, linear_structure
from bayespool.models.priors import LOG_ODDS, SCALE, SLOPE, Prior

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["ANTI_PRECISION_SLOPES", "anti_precision", "anti_precision_structure"]

ANTI_PRECISION_SLOPES = MappingProxyType(
    {"delta_precision": (-3.0, 5.0), "delta_antiprecision": (-3.0, 5.0), "precision": (0.7, 0.3)}
)
"""Predictors, and what their slopes are expected to be, see `bayespool.models.document`."""


def anti_precision(
    evidence: LinearEvidence,
    *,
    mu: Prior = LOG_ODDS,
    beta: Prior = SLOPE,
    sigma_topic: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> pm.Model:
    r"""Hierarchical form of the anti-precision correction (Lipani et al. 2015).

    .. math::

        k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
        \operatorname{logit} p_{rq} = \mu + \mathrm{topic}_q + \mathrm{organization}_{o(r)}
        + \beta_1 \Delta P_{rq} + \beta_2 \Delta \bar P_{rq} + \beta_3 \mathrm{precision}_{rq}

    ΔP and ΔP̄ are the changes of the pooled runs' P@n and P̄@n when they are composed with the run (§3.2), on
    the topic; the change of their unjudged share, Δk̄ = −ΔP − ΔP̄, is what the two leave over. The paper
    corrects by that share where composition helps (λ > 0); here data say how much each change is worth.

    Parameters
    ----------
    evidence : LinearEvidence
        With the predictors `ANTI_PRECISION_SLOPES`.
    mu, beta, sigma_topic, sigma_organization : Prior
        As in `bayespool.models.ratio`.

    Returns
    -------
    pymc.Model
        Variables ``mu``, ``beta`` (predictor), ``topic_effect`` (topic), ``organization_effect``
        (organization) and the scales ``sigma_…``.
    """
    return linear_graph(
        evidence, mu=mu, beta=beta, sigma_topic=sigma_topic, sigma_organization=sigma_organization
    )


anti_precision_structure = linear_structure
