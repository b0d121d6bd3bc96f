r"""Hierarchical form of the anti-precision correction (Lipani et al. 2015).

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
    \operatorname{logit} p_{rq} = \mu + \mathrm{topic}_q + \mathrm{organization}_{o(r)}
    + \mathrm{interaction}_{o(r)q} + (\beta_1 + \mathrm{slope}_{o(r)1}) \Delta P_{rq}
    + (\beta_2 + \mathrm{slope}_{o(r)2}) \Delta \bar P_{rq}
    + (\beta_3 + \mathrm{slope}_{o(r)3}) \mathrm{precision}_{rq}

ΔP and ΔP̄ are the changes of the pooled runs' P@n and P̄@n on the topic when they are composed with the run
(§3.2). The paper corrects by the change of their unjudged share, −ΔP − ΔP̄, where composition helps (λ > 0);
the model estimates a slope for each. Effects and priors are those of `bayespool.models.ratio`.
"""

from __future__ import annotations

import dataclasses

from bayespool.models.ratio import RATIO
from bayespool.models.spec import ModelSpec
from bayespool.names import POSTERIOR_ESTIMATORS

ANTI_PRECISION: ModelSpec = dataclasses.replace(
    RATIO,
    name="anti_precision",
    description=POSTERIOR_ESTIMATORS["posterior-anti-precision"],
    source="after Lipani et al. 2015",
    citations=("lipani-lupu-hanbury-2015",),
    predictors={
        "delta_precision": (-3.0, 5.0),
        "delta_antiprecision": (-3.0, 5.0),
        "precision": (0.7, 0.3),
    },
)
