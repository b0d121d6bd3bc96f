r"""Hierarchical form of the smoothed correction X_M = B + C·Δ·B + Δ²·E (Ravana & Moffat 2010): interpolated
where much of the top is judged, background where little is.

.. math::

    n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
    \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad \operatorname{logit} p_{rq} =
    \operatorname{logit}\bigl((1 - \Delta_{rq})\,C\,\pi_{rq} + \Delta_{rq} E_q\bigr) +
    \mathrm{organization}_{o(r)}, \qquad \operatorname{logit} E_q = \mu + \mathrm{background}_q

Δ of a pooled run is that with its organization held out. ``a`` and ``c`` are those of
`bayespool.models.interpolated`. ``mu`` is the mean logit of the background chance E over these topics. 95 %
of Normal(−2.8, 1) is between 0.8 % and 31 %: published constants are 1 % to 5 % for newswire and web, higher
for domain collections.
"""

from __future__ import annotations

from bayespool.models.formulas import Chances, Effect, Linear
from bayespool.models.priors import FACTOR, PRECISION, Prior
from bayespool.models.spec import ModelSpec
from bayespool.names import POSTERIOR_ESTIMATORS

_PRECISION = Linear("a", effects=("topic", "run"))

SMOOTHED: ModelSpec = ModelSpec(
    name="smoothed",
    description=POSTERIOR_ESTIMATORS["posterior-smoothed"],
    source="after Ravana & Moffat 2010",
    citations=("ravana-moffat-2010",),
    evidence="counts",
    coefficients={"a": PRECISION, "c": FACTOR, "mu": Prior("Normal", (-2.8, 1.0))},
    effects={
        "topic": Effect("topic", centered=True),
        "run": Effect("run", centered=True),
        "background": Effect("topic"),
        "organization": Effect("organization"),
    },
    judged=_PRECISION,
    hidden=Chances(_PRECISION, factor="c", background=Linear("mu", effects=("background",))),
)
