r"""Evidence model: one Bernoulli trial per hidden document, by its ranks in runs.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{organization}_{o(d)}
    + \mathrm{interaction}_{o(d)q(d)} + (\beta + \mathrm{slope}_{o(d)}) \cdot x_d

x_d are the predictors of `bayespool.evidence.PREDICTORS` that have an expected slope. Effects and priors are
those of `bayespool.models.ratio`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from bayespool.evidence import PREDICTORS
from bayespool.evidence.predictors import evidence_predictors
from bayespool.models.priors import SLOPE_BELOW_POOL
from bayespool.models.ratio import RATIO
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
