"""The background model: unjudged documents are relevant with a chance of the topic and the organization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayespool.models.evidence import FloatArray, IndexArray, ModelEvidence
from bayespool.models.priors import LOG_ODDS, SCALE, Prior
from bayespool.models.structure import Block, Coefficient, Group, Predictor, Structure

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["background", "background_log_odds", "background_structure"]


def background(
    evidence: ModelEvidence,
    *,
    mu: Prior = LOG_ODDS,
    sigma_topic: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> pm.Model:
    r"""Hierarchical form of the background correction X_B = B + Δ·E (Ravana & Moffat 2010).

    .. math::

        k_{oq} \sim \mathrm{Binomial}(v_{oq}, E_{oq}), \qquad
        \operatorname{logit} E_{oq} = \mu + \mathrm{topic}_q + \mathrm{organization}_o

    Parameters
    ----------
    evidence : ModelEvidence
    mu : Prior
        Mean logit over these topics and organizations. Normal(−2.2, 1.5) puts 95 % of the chance of a top
        unjudged document being relevant between 1 % and 68 %.
    sigma_topic, sigma_organization : Prior
        Standard deviation of the effects. HalfNormal(1): a factor of e in the odds between groups is
        ordinary, e² rare.

    Returns
    -------
    pymc.Model
        Variables ``mu``, ``topic_effect`` (topic), ``organization_effect`` (organization), ``sigma_topic``,
        ``sigma_organization``.
    """
    import pymc as pm

    from bayespool.models.parts import binomial, group_effect

    with pm.Model(coords=evidence.coords) as model:
        data = {name: pm.Data(name, values) for name, values in evidence.arrays().items()}
        intercept = mu.variable("mu")
        topic = group_effect("topic", sigma_topic, "topic", centred=False)
        organization = group_effect("organization", sigma_organization, "organization", centred=False)
        logit_e = intercept + topic[data["hidden_topic"]] + organization[data["hidden_organization"]]
        binomial("hidden_relevant", logit_e, data["n_hidden"], data["n_hidden_relevant"])
    return model


def background_log_odds(draws: Mapping[str, FloatArray], run: IndexArray, residual: FloatArray) -> FloatArray:
    """Log odds that an unjudged document is relevant, shape (draw, run, topic), without the organization's
    effect.

    Parameters
    ----------
    draws : mapping of str to ndarray
        Posterior draws of the model's variables, draws on the first axis.
    run : ndarray of int, shape (run,)
        The runs to score, as indices into the model's coordinate ``run``.
    residual : ndarray of float, shape (run, topic)
        Their Δ.
    """
    shape = (len(draws["mu"]), *residual.shape)
    return np.broadcast_to((draws["mu"][:, None] + draws["topic_effect"])[:, None, :], shape)


def background_structure(
    evidence: ModelEvidence,
    *,
    mu: Prior = LOG_ODDS,
    sigma_topic: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> Structure:
    """The same model for the Laplace engine."""
    predictor = Predictor(
        {"mu": np.ones(len(evidence.n_hidden))},
        {"topic": evidence.hidden_topic, "organization": evidence.hidden_organization},
    )
    return Structure(
        {"mu": Coefficient(mu)},
        {
            "topic": Group(sigma_topic, len(evidence.query_ids), "topic"),
            "organization": Group(sigma_organization, len(evidence.organizations), "organization"),
        },
        (Block(evidence.n_hidden_relevant, evidence.n_hidden, (predictor,)),),
    )
