r"""Interpolated correction (Ravana & Moffat 2010) on the scale of odds: the odds of an unjudged document are
a constant times those of the judged ones of the run and topic.

.. math::

    n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
    \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
    \operatorname{logit} p_{rq} = \operatorname{logit} \pi_{rq} + \log \omega + \mathrm{organization}_{o(r)}

The ratio of odds ω differs less between collections than the ratio of chances C, which cannot exceed 1/π. The
combined estimator therefore uses this model where no pool informs either.

``a`` is the mean logit precision of judged documents. ``log_ratio`` is log ω: −1.3 to −1.7 on five
collections with shallow pools, −2.2 and −3.0 on TREC-2 and TREC-8, whose pools are deep.
"""

from __future__ import annotations

from bayespool.models.formulas import Effect, Linear
from bayespool.models.priors import LOG_RATIO, PRECISION
from bayespool.models.spec import ModelSpec
from bayespool.names import POSTERIOR_ESTIMATORS

ODDS_RATIO: ModelSpec = ModelSpec(
    name="odds_ratio",
    description=POSTERIOR_ESTIMATORS["posterior-odds-ratio"],
    source="after Ravana & Moffat 2010",
    citations=("ravana-moffat-2010",),
    evidence="counts",
    coefficients={"a": PRECISION, "log_ratio": LOG_RATIO},
    effects={
        "topic": Effect("topic", centered=True),
        "run": Effect("run", centered=True),
        "organization": Effect("organization"),
    },
    judged=Linear("a", effects=("topic", "run")),
    hidden=Linear(("a", "log_ratio"), effects=("topic", "run", "organization")),
)
