"""The smoothed model: interpolated where much of the top is judged, background where little is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayespool.models.evidence import FloatArray, IndexArray, ModelEvidence
from bayespool.models.priors import FACTOR, PRECISION, SCALE, Prior
from bayespool.models.structure import (
    Block,
    Coefficient,
    Group,
    Predictor,
    Product,
    Structure,
)

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["smoothed", "smoothed_log_odds", "smoothed_structure"]

_BACKGROUND = Prior("Normal", (-2.8, 1.0))


def smoothed(
    evidence: ModelEvidence,
    *,
    a: Prior = PRECISION,
    c: Prior = FACTOR,
    mu: Prior = _BACKGROUND,
    sigma_topic: Prior = SCALE,
    sigma_run: Prior = SCALE,
    sigma_background: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> pm.Model:
    r"""Hierarchical form of the smoothed correction X_M = B + C·Δ·B + Δ²·E (Ravana & Moffat 2010).

    .. math::

        n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
        \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

    .. math::

        k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad \operatorname{logit} p_{rq} =
        \operatorname{logit}\bigl((1 - \Delta_{rq})\,C\,\pi_{rq} + \Delta_{rq} E_q\bigr) +
        \mathrm{organization}_{o(r)}, \qquad \operatorname{logit} E_q = \mu + \mathrm{background}_q

    Δ of a pooled run is what it is with its organization held out.

    Parameters
    ----------
    evidence : ModelEvidence
    a, c, sigma_topic, sigma_run, sigma_organization : Prior
        As in `bayespool.models.interpolated`.
    mu : Prior
        Mean logit of the background chance E over these topics. Normal(−2.8, 1) has 95 % of its mass between
        0.8 % and 31 %: published constants are 1 % to 5 % for newswire and web, domain collections run
        higher.
    sigma_background : Prior
        Standard deviation of the background over topics, on the logit scale.

    Returns
    -------
    pymc.Model
        Variables ``a``, ``c``, ``mu``, ``topic_effect`` (topic), ``background_effect`` (topic),
        ``run_effect`` (run), ``organization_effect`` (organization) and the scales ``sigma_…``.
    """
    import pymc as pm
    import pytensor.tensor as pt

    from bayespool.models.parts import binomial, group_effect, log_odds

    with pm.Model(coords=evidence.coords) as model:
        data = {name: pm.Data(name, values) for name, values in evidence.arrays().items()}
        intercept, factor, mean_background = a.variable("a"), c.variable("c"), mu.variable("mu")
        topic = group_effect("topic", sigma_topic, "topic", centred=evidence.much_judged)
        run = group_effect("run", sigma_run, "run", centred=evidence.much_judged)
        background = group_effect("background", sigma_background, "topic", centred=False)
        organization = group_effect("organization", sigma_organization, "organization", centred=False)
        logit_pi = intercept + topic[data["judged_topic"]] + run[data["judged_run"]]
        binomial("judged_relevant", logit_pi, data["n_judged"], data["n_relevant"])
        pi = pt.sigmoid(intercept + topic[data["hidden_topic"]] + run[data["hidden_run"]])
        e = pt.sigmoid(mean_background + background[data["hidden_topic"]])
        residual = data["hidden_residual"]
        logit_p = (
            log_odds((1 - residual) * factor * pi + residual * e) + organization[data["hidden_organization"]]
        )
        binomial("hidden_relevant", logit_p, data["n_hidden"], data["n_hidden_relevant"])
    return model


def smoothed_log_odds(draws: Mapping[str, FloatArray], run: IndexArray, residual: FloatArray) -> FloatArray:
    """Log odds that an unjudged document is relevant, shape (draw, run, topic); see `background_log_odds`."""
    logit_pi = (
        draws["a"][:, None, None] + draws["run_effect"][:, run, None] + draws["topic_effect"][:, None, :]
    )
    e = 1 / (1 + np.exp(-(draws["mu"][:, None] + draws["background_effect"])))
    p = (1 - residual) * draws["c"][:, None, None] / (1 + np.exp(-logit_pi)) + residual * e[:, None, :]
    log_odds: FloatArray = np.log(p) - np.log1p(-p)
    return log_odds


def smoothed_structure(
    evidence: ModelEvidence,
    *,
    a: Prior = PRECISION,
    c: Prior = FACTOR,
    mu: Prior = _BACKGROUND,
    sigma_topic: Prior = SCALE,
    sigma_run: Prior = SCALE,
    sigma_background: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> Structure:
    """The same model for the Laplace engine."""
    one = np.ones(len(evidence.n_hidden))
    precision = Predictor({"a": one}, {"topic": evidence.hidden_topic, "run": evidence.hidden_run})
    judged = Predictor(
        {"a": np.ones(len(evidence.n_judged))},
        {"topic": evidence.judged_topic, "run": evidence.judged_run},
    )
    background = Predictor({"mu": one}, {"background": evidence.hidden_topic})
    effect = Predictor({}, {"organization": evidence.hidden_organization})
    return Structure(
        {"a": Coefficient(a), "c": Coefficient(c, logit=True), "mu": Coefficient(mu)},
        {
            "topic": Group(sigma_topic, len(evidence.query_ids), "topic"),
            "run": Group(sigma_run, len(evidence.run_ids), "run"),
            "background": Group(sigma_background, len(evidence.query_ids), "topic"),
            "organization": Group(sigma_organization, len(evidence.organizations), "organization"),
        },
        (
            Block(evidence.n_relevant, evidence.n_judged, (judged,)),
            Block(
                evidence.n_hidden_relevant,
                evidence.n_hidden,
                (precision, Predictor({"c": one}), background, effect),
                Product(evidence.hidden_residual),
            ),
        ),
    )
