r"""Model of documents that were left out of a sample by lot, which learns from those of the sample.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{run}_{r(d)}
    + \mathrm{interaction}_{r(d)q(d)} + \beta \cdot (\log \mathrm{rank}_d, \log \mathrm{rate}_d)

A judged document of the sample and an unjudged one of the same stratum are exchangeable, whichever run
retrieves them. Each run is an organization of its own here; the rate is that at which the document's stratum
was sampled: strata of likely documents are sampled more.
"""

from __future__ import annotations

from bayespool.models.formulas import Effect, Linear
from bayespool.models.priors import SLOPE, Prior
from bayespool.models.spec import ModelSpec

LOTS: ModelSpec = ModelSpec(
    name="lots",
    description="documents left out by lot, by the judged ones of the sample",
    evidence="documents",
    coefficients={"mu": Prior("Normal", (-1.0, 1.5)), "beta": SLOPE},
    effects={
        "topic": Effect("topic"),
        "organization": Effect("organization"),
        "interaction": Effect("organization_topic"),
    },
    hidden=Linear("mu", "beta", ("topic", "organization", "interaction")),
    predictors={"log_rank": (-0.3, 0.3), "log_rate": (0.6, 0.7)},
)
