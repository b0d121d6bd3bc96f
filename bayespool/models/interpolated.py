"""The interpolated model: unjudged documents are C times as likely to be relevant as the judged ones of the
same run and topic.
"""

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

__all__ = ["interpolated", "interpolated_log_odds", "interpolated_structure"]


def interpolated(
    evidence: ModelEvidence,
    *,
    a: Prior = PRECISION,
    c: Prior = FACTOR,
    sigma_topic: Prior = SCALE,
    sigma_run: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> pm.Model:
    r"""Hierarchical form of the interpolated correction X_I = B + C·Δ·B/(1 − Δ) (Ravana & Moffat 2010).

    .. math::

        n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
        \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

    .. math::

        k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
        \operatorname{logit} p_{rq} = \operatorname{logit}(C\,\pi_{rq}) + \mathrm{organization}_{o(r)}

    The precision π is learnt from the judged documents of all runs, those to score included; C and the spread
    of organizations about it from the hidden documents of the pooled ones.

    Parameters
    ----------
    evidence : ModelEvidence
    a : Prior
        Mean logit precision of judged documents. Normal(−0.5, 1.5): between 3 % and 92 %.
    c : Prior
        On (0, 1). Beta(2, 2.5) covers the published constants 0.42 and 0.91 (Ravana & Moffat 2010, §4).
    sigma_topic, sigma_run, sigma_organization : Prior
        Standard deviations of the effects on the logit scale.

    Returns
    -------
    pymc.Model
        Variables ``a``, ``c``, ``topic_effect`` (topic), ``run_effect`` (run), ``organization_effect``
        (organization) and the scales ``sigma_…``.
    """
    import pymc as pm
    import pytensor.tensor as pt

    from bayespool.models.parts import binomial, group_effect, log_odds

    with pm.Model(coords=evidence.coords) as model:
        data = {name: pm.Data(name, values) for name, values in evidence.arrays().items()}
        intercept, factor = a.variable("a"), c.variable("c")
        topic = group_effect("topic", sigma_topic, "topic", centred=evidence.much_judged)
        run = group_effect("run", sigma_run, "run", centred=evidence.much_judged)
        organization = group_effect("organization", sigma_organization, "organization", centred=False)
        logit_pi = intercept + topic[data["judged_topic"]] + run[data["judged_run"]]
        binomial("judged_relevant", logit_pi, data["n_judged"], data["n_relevant"])
        pi = pt.sigmoid(intercept + topic[data["hidden_topic"]] + run[data["hidden_run"]])
        logit_p = log_odds(factor * pi) + organization[data["hidden_organization"]]
        binomial("hidden_relevant", logit_p, data["n_hidden"], data["n_hidden_relevant"])
    return model


def interpolated_log_odds(
    draws: Mapping[str, FloatArray], run: IndexArray, residual: FloatArray
) -> FloatArray:
    """Log odds that an unjudged document is relevant, shape (draw, run, topic); see `background_log_odds`."""
    logit_pi = (
        draws["a"][:, None, None] + draws["run_effect"][:, run, None] + draws["topic_effect"][:, None, :]
    )
    p = draws["c"][:, None, None] / (1 + np.exp(-logit_pi))
    log_odds: FloatArray = np.log(p) - np.log1p(-p)
    return log_odds


def interpolated_structure(
    evidence: ModelEvidence,
    *,
    a: Prior = PRECISION,
    c: Prior = FACTOR,
    sigma_topic: Prior = SCALE,
    sigma_run: Prior = SCALE,
    sigma_organization: Prior = SCALE,
) -> Structure:
    """The same model for the Laplace engine."""
    one = np.ones(len(evidence.n_hidden))
    precision = Predictor({"a": one}, {"topic": evidence.hidden_topic, "run": evidence.hidden_run})
    judged = Predictor(
        {"a": np.ones(len(evidence.n_judged))},
        {"topic": evidence.judged_topic, "run": evidence.judged_run},
    )
    effect = Predictor({}, {"organization": evidence.hidden_organization})
    return Structure(
        {"a": Coefficient(a), "c": Coefficient(c, logit=True)},
        {
            "topic": Group(sigma_topic, len(evidence.query_ids), "topic"),
            "run": Group(sigma_run, len(evidence.run_ids), "run"),
            "organization": Group(sigma_organization, len(evidence.organizations), "organization"),
        },
        (
            Block(evidence.n_relevant, evidence.n_judged, (judged,)),
            Block(
                evidence.n_hidden_relevant,
                evidence.n_hidden,
                (precision, Predictor({"c": one}), effect),
                Product(),
            ),
        ),
    )
