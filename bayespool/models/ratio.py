r"""Hierarchical form of Webber & Park's (2009) adjustments, with the judged precision of the run.

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, \rho_{rq}), \qquad
    \operatorname{logit} \rho_{rq} = \mu + \mathrm{topic}_q + \mathrm{organization}_{o(r)}
    + \mathrm{interaction}_{o(r)q} + (\beta_1 + \mathrm{slope}_{o(r)1}) \mathrm{precision}_{rq}
    + (\beta_2 + \mathrm{slope}_{o(r)2}) \mathrm{precision}_{r}

The unjudged count is the auxiliary variable of a ratio estimator: the correction of a topic is ρ times the
unjudged documents. Without a judged document of the run to score it is the Bayesian form of the systems
adjustment.

``mu`` is the mean logit over these topics and organizations at average predictors, with the prior of
`bayespool.models.background`; ``beta`` the difference of slopes from the expected ones, in standard
deviations. ``interaction`` is the effect of an organization on a topic, ``slope`` the difference of its
slopes from the common ones.
"""

from __future__ import annotations

from bayespool.models.formulas import Effect, Linear
from bayespool.models.priors import LOG_ODDS, SLOPE, VARYING
from bayespool.models.spec import ModelSpec
from bayespool.names import POSTERIOR_ESTIMATORS

RATIO: ModelSpec = ModelSpec(
    name="ratio",
    description=POSTERIOR_ESTIMATORS["posterior-ratio"],
    source="after Webber & Park 2009",
    citations=("webber-park-2009",),
    evidence="documents",
    coefficients={"mu": LOG_ODDS, "beta": SLOPE},
    effects={
        "topic": Effect("topic", centered=True),
        "organization": Effect("organization"),
        "interaction": Effect("organization_topic"),
        "slope": Effect("organization_predictor", VARYING),
    },
    hidden=Linear("mu", "beta", ("topic", "organization", "interaction", "slope")),
    predictors={"precision": (0.7, 0.3), "run_precision": (1.3, 0.7)},
)
