"""Models of single documents, by predictors of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from bayespool.evidence import PREDICTORS
from bayespool.evidence.predictors import evidence_predictors
from bayespool.models.formulas import Effect, Linear
from bayespool.models.priors import SLOPE, SLOPE_BELOW_POOL, Prior
from bayespool.models.published import RATIO
from bayespool.models.spec import ModelSpec
from bayespool.names import POSTERIOR_ESTIMATORS


class _EvidenceSlopes(Mapping[str, tuple[float, float]]):
    """Expected slopes of the predictors registered at the time of the look-up."""

    def __getitem__(self, name: str) -> tuple[float, float]:
        slope = PREDICTORS[name].slope
        if slope is None:
            raise KeyError(name)
        return slope

    def __iter__(self) -> Iterator[str]:
        return iter(evidence_predictors())

    def __len__(self) -> int:
        return len(evidence_predictors())


# those of the package's predictors are from research/decisions/priors.py
EVIDENCE_SLOPES: Mapping[str, tuple[float, float]] = _EvidenceSlopes()
"""Prior mean and standard deviation of the evidence model's slopes, per unit of the predictor's own scale."""

EVIDENCE: ModelSpec = dataclasses.replace(
    RATIO,
    name="evidence",
    description=POSTERIOR_ESTIMATORS["posterior-evidence"],
    source="",
    citations=(),
    predictors=EVIDENCE_SLOPES,
    below_pool=SLOPE_BELOW_POOL,
)
r"""Evidence model: one Bernoulli trial per hidden document, by its ranks in runs.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{organization}_{o(d)}
    + \mathrm{interaction}_{o(d)q(d)} + (\beta + \mathrm{slope}_{o(d)}) \cdot x_d

x_d are the predictors of `bayespool.evidence.PREDICTORS` that have an expected slope. Effects and priors are
those of `bayespool.models.published`.
"""


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
r"""Rankings model: one Bernoulli trial per hidden document, by what the judged documents teach of rankings.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{organization}_{o(d)}
    + \mathrm{interaction}_{o(d)q(d)} + (\beta + \mathrm{slope}_{o(d)}) \cdot x_d

It is `bayespool.models.documents` with other predictors. The first of x_d are the log odds that
`bayespool.evidence.learned_fusion` learns from *which* runs retrieve the document, whose slope would be 1 if
documents of the run were like those that others retrieve; two more are what the run knows beyond that.
"""


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
r"""Model of documents that were left out of a sample by lot, which learns from those of the sample.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{run}_{r(d)}
    + \mathrm{interaction}_{r(d)q(d)} + \beta \cdot (\log \mathrm{rank}_d, \log \mathrm{rate}_d)

A judged document of the sample and an unjudged one of the same stratum are exchangeable, whichever run
retrieves them. Each run is an organization of its own here; the rate is that at which the document's stratum
was sampled: strata of likely documents are sampled more.
"""
