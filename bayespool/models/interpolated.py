r"""Hierarchical form of the interpolated correction X_I = B + C·Δ·B/(1 − Δ) (Ravana & Moffat 2010): an
unjudged document is C times as likely to be relevant as the judged ones of the run and topic.

.. math::

    n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
    \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
    \operatorname{logit} p_{rq} = \operatorname{logit}(C\,\pi_{rq}) + \mathrm{organization}_{o(r)}

Judged documents of all runs, those to score included, inform π; hidden documents of the pooled runs inform C
and the effects of organizations. ``a`` is the mean logit precision of judged documents, a priori between 3 %
and 92 %. The prior of ``c``, Beta(2, 2.5), covers the published constants 0.42 and 0.91 (Ravana & Moffat
2010, §4).
"""

from __future__ import annotations

from bayespool.models.formulas import Chances, Effect, Linear
from bayespool.models.priors import FACTOR, PRECISION
from bayespool.models.spec import ModelSpec
from bayespool.names import POSTERIOR_ESTIMATORS

_PRECISION = Linear("a", effects=("topic", "run"))

INTERPOLATED: ModelSpec = ModelSpec(
    name="interpolated",
    description=POSTERIOR_ESTIMATORS["posterior-interpolated"],
    source="after Ravana & Moffat 2010",
    citations=("ravana-moffat-2010",),
    evidence="counts",
    coefficients={"a": PRECISION, "c": FACTOR},
    effects={
        "topic": Effect("topic", centered=True),
        "run": Effect("run", centered=True),
        "organization": Effect("organization"),
    },
    judged=_PRECISION,
    hidden=Chances(_PRECISION, factor="c"),
)
