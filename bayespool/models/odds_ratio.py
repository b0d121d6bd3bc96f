r"""The interpolated correction (Ravana & Moffat 2010) on the scale of odds: the odds of an unjudged document
being relevant are those of the judged ones of the same run and topic times a constant.

.. math::

    n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
    \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
    \operatorname{logit} p_{rq} = \operatorname{logit} \pi_{rq} + \log \omega + \mathrm{organization}_{o(r)}

Collections differ much less in the ratio of odds ω than in the ratio of chances C: C is .1 where judged
documents are relevant half of the time in a deep pool, and .7 where they are relevant four times out of five,
for it cannot exceed 1/π. That is why this model stands in where there is no pool to learn either from.

``a`` is the mean logit precision of judged documents. ``log_ratio`` is log ω: by collection, −1.3 to −1.7 on
five collections whose pools are shallow, −2.2 and −3.0 on TREC-2 and TREC-8, whose pools are deep.
"""

from __future__ import annotations

from bayespool.models.formulas import Effect, Linear
from bayespool.models.priors import LOG_RATIO, PRECISION
from bayespool.models.spec import ModelSpec

ODDS_RATIO: ModelSpec = ModelSpec(
    name="odds_ratio",
    description="odds a constant times those of the run's judged documents on the topic",
    source="after Ravana & Moffat 2010",
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
