"""Settings for `score`, `impute` and `judge_next`, with each option described once."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bayespool.defaults import fill_ci_prob
from bayespool.measures.parsing import parse_measures, parse_ranking_measures, parse_sole_measure
from bayespool.names import Estimand as Estimand, Ideal as Ideal, Scope as Scope, Unseen as Unseen
from bayespool.options import SEED, Option, PosteriorSettings, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayespool.measures import Estimator, Measure

MEASURES: Option = Option(
    help="P@10, nDCG@10, P(rel=2)@10, AP@100, …; may be repeated.",
    multiple="repeated",
    docstring_type="measure or iterable of measures",
    flag="--measure -m",
    group="Estimation",
    names="measures",
    parse=parse_measures,
)
MEASURES_OF_RANKINGS: Option = dataclasses.replace(MEASURES, parse=parse_ranking_measures)
ONE_MEASURE: Option = dataclasses.replace(
    MEASURES,
    help="P@10, nDCG@10, AP@100, …; one of them.",
    docstring_type="measure",
    parse=parse_sole_measure,
)
ESTIMATORS: Option = Option(
    help="'default', 'all', 'pairs', or comma-separated names with settings in parentheses: "
    "background(e=0.05),posterior-smoothed.",
    details="In Python a name, a sequence of names and estimators, or a mapping of labels to them; "
    "``default``, ``all`` and ``pairs`` are `bayespool.scoring.DEFAULT_ESTIMATORS`, "
    "`bayespool.scoring.ALL_ESTIMATORS` and `bayespool.scoring.PAIRED_ESTIMATORS`, in which each published "
    "correction is followed by the posterior of its hierarchical form.",
    multiple="listed",
    docstring_type="str, Estimator, sequence or mapping of them",
    group="Estimation",
    names="estimators",
    may_be_empty=True,
)
POSTERIOR: Option = Option(
    help="The posterior that says what is uncertain: settings, 'draws=4000, engine=nuts', or a model with "
    "them, 'ratio(draws=4000)'.",
    docstring_type="str or PosteriorEstimator",
    group="Estimation",
    names="posteriors",
)
POOL_DEPTH: Option = Option(
    help="Re-pool to this depth first: judgments of documents that no pooled run has down to it go.",
    least=1,
    group="Pool",
)
ESTIMAND: Option = Option(
    help="Whether unjudged documents below the pool depth are estimated (complete) or stay nonrelevant "
    "(pooled).",
    details="The two coincide down to the pool depth.",
    group="Estimation",
)
UNSEEN: Option = Option(
    help="Whether documents that the truth does not judge either are nonrelevant in estimates, as in the "
    "truth, or estimated.",
    details="The papers estimate them, so that an estimate is of something else than the truth.",
    group="Design",
)
IDEAL: Option = Option(
    help="Ideal ranking of nDCG, AP and R: of the judged documents and the completed ones in reach of the "
    "run itself (own), of any run scored (shared), or of the judged documents alone (judged).",
    details="It holds for measures whose text names no other, such as ``nDCG@10``.",
    group="Estimation",
)
CI_PROB: Option = Option(
    help="Probability of the intervals; default: 0.95.",
    details="They are equal-tailed. `bayespool.rcParams` has the default.",
    parse=fill_ci_prob,
    group="Estimation",
)


CONFUSION: Option = Option(
    help="How often another assessor changes a level, where few documents are judged twice: '95 5; 30 70' "
    "are documents by level of the first assessor (rows) and of the other, ascending.",
    details="They count as much as documents judged twice. For the scope ``another-assessor``.",
    docstring_type="str",
    group="Estimation",
)


@dataclass(frozen=True, kw_only=True)
class TargetSettings(PosteriorSettings):
    """Settings for the runs and pool to estimate, the estimand and the seed."""

    unpool: tuple[str, ...] = option(
        None,
        "A run of the campaign, or an organization, to score as if it were new: it leaves the pool; may be "
        "repeated.",
        details="A run leaves with all runs of its organization, and it alone is scored. Of an organization "
        "all runs are scored.",
        multiple="repeated",
        group="Pool",
        may_be_empty=True,
    )
    unpool_by: Literal["organization", "run"] = option(
        "organization",
        "What leaves the pool with a run that is named: its organization, or nothing.",
        group="Pool",
    )
    pool_depth: int | None = option(None, POOL_DEPTH)
    estimand: Estimand = option("complete", ESTIMAND)
    random_seed: int = option(1, SEED)

    def pool_keywords(self) -> dict[str, Any]:
        """Return keywords of `find_targets`."""
        return {"unpool": self.unpool, "unpool_by": self.unpool_by, "pool_depth": self.pool_depth}

    def target_settings(self) -> dict[str, Any]:
        """Return the settings passed on to estimators."""
        return {"estimand": self.estimand, "random_seed": self.random_seed}


@dataclass(frozen=True, kw_only=True)
class ScoringSettings(TargetSettings):
    """Settings shared by `score` and `compare`."""

    measures: tuple[Measure, ...] = option("P@10", MEASURES)
    estimators: tuple[Estimator, ...] = option("default", ESTIMATORS)
    ideal: Ideal = option("own", IDEAL)
    ci_prob: float = option(None, CI_PROB)
    confusion: str | None = option(None, CONFUSION)
    scope: Scope = "these-topics"  # of scores; `compare` has several

    def __post_init__(self) -> None:
        from bayespool.scoring.estimators import parse_estimators

        super().__post_init__()
        requested, defaults = self._requested_estimators(), self.target_settings()
        self._hold(
            "estimators",
            parse_estimators(requested, self.posterior_overrides(), by_settings=True, **defaults),
        )

    def score_keywords(self) -> dict[str, Any]:
        """Return keywords of `score_parsed`."""
        names = ("measures", "estimators", "ideal", "estimand", "confusion", "ci_prob")
        values = {name: getattr(self, name) for name in names} | self.pool_keywords()
        return values | {"by_another": self.asks_another_assessor, "settings": self.describe()}

    @property
    def asks_another_assessor(self) -> bool:
        """Whether scores from another assessor are requested."""
        return self.scope == "another-assessor"

    def _requested_estimators(self) -> Iterable[str | Estimator]:
        """Return the estimators as given."""
        return self.estimators
