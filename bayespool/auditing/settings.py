"""Settings for `audit`, with each option described once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayespool.options import option
from bayespool.scoring.settings import CI_PROB, IDEAL, ONE_MEASURE, POSTERIOR, Ideal, TargetSettings

if TYPE_CHECKING:
    from bayespool.measures import Measure
    from bayespool.posterior import PosteriorEstimator


@dataclass(frozen=True, kw_only=True)
class AuditSettings(TargetSettings):
    """Settings for `bayespool.audit`."""

    measures: Measure = option("P@10", ONE_MEASURE)
    budget: int = option(
        50,
        "Documents to draw, besides those that are judged; in a later round by default as many as before.",
        least=1,
    )
    ideal: Ideal | None = option(
        None, IDEAL, details=f"{IDEAL.details} Default: own for a run, shared for a difference."
    )
    until: float | None = option(
        None,
        "Stop when the interval is at most this wide: nothing more is drawn then.",
        above=0,
    )
    posterior: PosteriorEstimator = option("posterior-combined", POSTERIOR)
    ci_prob: float = option(None, CI_PROB, details="The guaranteed one holds at all times at once.")

    def __post_init__(self) -> None:
        from bayespool.scoring.estimators import parse_sole_posterior

        super().__post_init__()
        from bayespool.auditing.urns import check_auditable

        check_auditable(self.measures)
        self._hold("posterior", parse_sole_posterior(self.posterior, **self.target_settings()))
