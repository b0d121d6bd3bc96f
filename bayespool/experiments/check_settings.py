"""Settings of checks of models and of second judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayespool.options import (
    CI_PROB,
    MEASURES,
    SEED,
    Option,
    Settings,
    TargetSettings,
    option,
)

if TYPE_CHECKING:
    from bayespool.measures import Measure


@dataclass(frozen=True, kw_only=True)
class CheckingSettings(Settings):
    """Settings of `bayespool.check_models`, some of which `bayespool.compare_engines` and
    `bayespool.self_calibrate` have, too.
    """

    measures: tuple[Measure, ...] = option("P@10", MEASURES, held=())
    models: tuple[str, ...] | None = option(
        None,
        Option(
            help="Comma-separated models, such as ratio,evidence; default: all.",
            more="`bayespool.posterior.MODEL_NAMES`.",
            many="listed",
        ),
    )
    n_folds: int = option(
        5,
        Option(
            help="Folds of organizations, at most one for each.",
            more="As in the weights of the combined estimator.",
            of=int,
            least=2,
            flag="--folds",
        ),
    )
    random_seed: int = option(1, SEED)


@dataclass(frozen=True, kw_only=True)
class JudgesSettings(TargetSettings):
    """Settings of `bayespool.check_judges`."""

    measures: tuple[Measure, ...] = option("P@10", MEASURES, held=())
    ci_prob: float = option(0.95, CI_PROB)
    intervals: bool = option(
        False,
        Option(
            help="Also how much narrower intervals are with the labels: of the runs to score, or where there "
            "is none of each organization left out. It takes a posterior for each judge, and one without.",
            of=bool,
        ),
    )
