r"""Rankings model: one Bernoulli trial per hidden document, by what the judged documents teach of rankings.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{organization}_{o(d)}
    + \mathrm{interaction}_{o(d)q(d)} + (\beta + \mathrm{slope}_{o(d)}) \cdot x_d

It is `bayespool.models.document` with other predictors. The first of x_d are the log odds that
`bayespool.evidence.learned_fusion` learns from *which* runs retrieve the document, whose slope would be 1 if
documents of the run were like those that others retrieve; two more are what the run knows beyond that.
"""

from __future__ import annotations

import dataclasses

from bayespool.models.formulas import Effect
from bayespool.models.priors import SLOPE_BELOW_POOL
from bayespool.models.ratio import RATIO
from bayespool.models.spec import ModelSpec
from bayespool.names import POSTERIOR_ESTIMATORS

RANKINGS: ModelSpec = dataclasses.replace(
    RATIO,
    name="rankings",
    description=POSTERIOR_ESTIMATORS["posterior-rankings"],
    source="",
    citations=(),
    predictors={  # from research/decisions/priors.py
        "learned_fusion": (0.9, 0.2),
        "run_skill": (2.0, 0.6),
        "run_slope": (1.2, 0.4),
        "log_rank": (-0.1, 0.15),
        "run_precision": (0.5, 0.3),
        "log_best_rank": (-0.2, 0.1),
        "local_precision": (0.5, 0.25),
        "run_unjudged": (0.1, 0.1),
    },
    below_pool=SLOPE_BELOW_POOL,
    # the fusion leaves topics little to differ by: their scale may be 0
    effects={**RATIO.effects, "topic": Effect("topic")},
)
