"""Settings of `score`, `impute` and `judge_next`, with each option described once."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bayespool.options import (
    ESTIMATORS,
    IDEAL,
    MEASURES,
    SEED,
    Option,
    ScoringSettings,
    Settings,
    TargetSettings,
    option,
)

if TYPE_CHECKING:
    from bayespool.measures import Measure

_COMPLETED_FOR = dataclasses.replace(
    MEASURES,
    more="They say how deep judgments are completed and which levels of relevance are told apart; one "
    "completion serves them all.",
)
_MEASURE = dataclasses.replace(MEASURES, help="P@10, nDCG@10, AP@100, …; one of them.")


@dataclass(frozen=True, kw_only=True)
class ScoreSettings(ScoringSettings):
    """Settings of `bayespool.score`."""

    measures: tuple[Measure, ...] = option("P@10", MEASURES, held=())
    estimators: tuple[Any, ...] = option("default", ESTIMATORS)


@dataclass(frozen=True, kw_only=True)
class ImputeSettings(TargetSettings):
    """Settings of `bayespool.impute`."""

    measures: tuple[Measure, ...] = option("P@10", _COMPLETED_FOR, held=())
    estimator: str = option(
        "posterior-combined",
        Option(
            help="The posterior whose draws are written, with settings in parentheses: "
            "posterior-ratio(draws=2000).",
            more="A point correction has no draws.",
            typed="str or PosteriorEstimator",
        ),
    )
    draws: int = option(
        20,
        Option(
            help="Completed qrels to write: as many draws, spread evenly over those of the posterior.",
            more="The first of 40 are the 20 that are written when 20 are asked for.",
            of=int,
            least=2,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class JudgeNextSettings(ScoringSettings):
    """Settings of `bayespool.judge_next`."""

    measures: tuple[Measure, ...] = option("P@10", _MEASURE, held=())
    goal: Literal["interval", "comparison", "ranking"] = option(
        "interval",
        Option(
            help="What judgments are to bring down: the mean width of the runs' intervals (with --until the "
            "widest), the chance that two runs are in the wrong order, or that of all pairs of runs.",
            of=Literal["interval", "comparison", "ranking"],
        ),
    )
    budget: int = option(50, Option(help="Documents to judge.", of=int, least=1))
    ideal: Literal["own", "shared", "judged"] | None = option(
        None,
        dataclasses.replace(
            IDEAL, more=f"{IDEAL.more} Default: own for intervals, shared for a comparison and a ranking."
        ),
    )
    until: float | None = option(
        None,
        Option(
            help="Stop when this is reached: a width of the widest interval, or a chance of a wrong order. "
            "The number of judgments that it is expected to take is printed.",
            of=float,
            above=0,
        ),
    )
    estimator: str = option(
        "posterior-combined",
        Option(
            help="The posterior that says what is uncertain, with settings in parentheses.",
            typed="str or PosteriorEstimator",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class DemoSettings(Settings):
    """Settings of the command ``demo``, which scores the embedded example."""

    measures: tuple[Measure, ...] = option(("P@10", "nDCG@10"), MEASURES, held=())
    estimators: tuple[Any, ...] = option("default", ESTIMATORS)
    random_seed: int = option(1, SEED)
