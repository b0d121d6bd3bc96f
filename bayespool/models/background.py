r"""Hierarchical form of the background correction X_B = B + Δ·E (Ravana & Moffat 2010).

.. math::

    k_{oq} \sim \mathrm{Binomial}(v_{oq}, E_{oq}), \qquad
    \operatorname{logit} E_{oq} = \mu + \mathrm{topic}_q + \mathrm{organization}_o

``mu`` is the mean logit over these topics and organizations; 95 % of its prior is between 1 % and 68 %.
"""

from __future__ import annotations

from bayespool.models.formulas import Effect, Linear
from bayespool.models.priors import LOG_ODDS
from bayespool.models.spec import ModelSpec
from bayespool.names import POSTERIOR_ESTIMATORS

BACKGROUND: ModelSpec = ModelSpec(
    name="background",
    description=POSTERIOR_ESTIMATORS["posterior-background"],
    source="after Ravana & Moffat 2010",
    citations=("ravana-moffat-2010",),
    evidence="counts",
    coefficients={"mu": LOG_ODDS},
    effects={"topic": Effect("topic"), "organization": Effect("organization")},
    hidden=Linear("mu", effects=("topic", "organization")),
)
