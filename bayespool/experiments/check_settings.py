"""Settings for the checks of models, engines and second judges: one class each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bayespool.options import (
    SEED,
    EngineSettings,
    Option,
    PosteriorSettings,
    SamplingSettings,
    option,
    options_of,
)
from bayespool.scoring.settings import (
    CI_PROB,
    ESTIMAND,
    MEASURES_OF_RANKINGS,
    ONE_MEASURE,
    POSTERIOR,
    Estimand,
    TargetSettings,
)

if TYPE_CHECKING:
    from bayespool.measures import Measure
    from bayespool.posterior import PosteriorEstimator

DRAWS = dataclasses.replace(options_of(SamplingSettings)["draws"][0], type=None)
MODEL = Option(help="``combined`` or a model out of `bayespool.models.MODELS`.", python_only=True)


@dataclass(frozen=True, kw_only=True)
class ModelSettings(EngineSettings):
    """Models to check, with their priors; where none is named, a function takes all that it can check."""

    models: tuple[str, ...] = option(
        None,
        "Comma-separated models, such as ratio,evidence; default: all.",
        details="`bayespool.posterior.MODEL_NAMES`.",
        names="models",
    )
    random_seed: int = option(1, SEED)

    def __post_init__(self) -> None:
        from bayespool.experiments.checks import checked_models, refuse_priors_of_no_model

        super().__post_init__()
        if self.models:
            self._hold("models", checked_models(self.models))
        refuse_priors_of_no_model(dict(self.priors), self.models, self.engine)


@dataclass(frozen=True, kw_only=True)
class CheckingSettings(ModelSettings, SamplingSettings):
    """Settings for `bayespool.check_models`."""

    measures: tuple[Measure, ...] = option("P@10", MEASURES_OF_RANKINGS)
    n_folds: int = option(
        5,
        "Folds of organizations, at most one for each.",
        details="As in the weights of the combined estimator.",
        least=2,
    )
    draws: int = option(500, DRAWS)


@dataclass(frozen=True, kw_only=True)
class EngineCheckSettings(CheckingSettings):
    """Settings for `bayespool.compare_engines`."""

    draws: int = option(2000, DRAWS)
    ci_prob: float = option(0.95, CI_PROB)


@dataclass(frozen=True, kw_only=True)
class SelfCalibrationSettings(ModelSettings):
    """Settings for `bayespool.self_calibrate`."""

    measure: Measure = option("P@10", ONE_MEASURE)
    n_simulations: int = option(
        200,
        "Data sets per model, each fitted once.",
        details="200 show shifts of a quarter of a standard deviation, 1000 of a tenth.",
        least=1,
    )
    n_draws: int = option(
        99,
        "Draws to rank among.",
        details="NUTS keeps every sixth draw of one chain.",
        least=1,
        python_only=True,
    )


class _OfOnePosterior(PosteriorSettings):
    """Settings for checks that need the posterior of one model."""

    model: str
    estimand: Estimand
    random_seed: int

    def posterior(self) -> PosteriorEstimator:
        """The estimator of these settings."""
        from bayespool.posterior import PosteriorEstimator

        of_targets: dict[str, Any] = {"estimand": self.estimand, "random_seed": self.random_seed}
        return PosteriorEstimator(model=self.model, **of_targets, **self.of_posteriors())

    def __post_init__(self) -> None:
        from bayespool.scoring.estimators import check_posterior

        super().__post_init__()
        check_posterior(self.posterior())


@dataclass(frozen=True, kw_only=True)
class UnexplainedSettings(_OfOnePosterior):
    """Settings for `bayespool.experiments.check_unexplained_judgments`."""

    measures: tuple[Measure, ...] = option("P@30", MEASURES_OF_RANKINGS)
    model: str = option("combined", MODEL)
    estimand: Estimand = option("complete", ESTIMAND, python_only=True)
    ci_prob: float = option(0.95, CI_PROB)
    random_seed: int = option(1, SEED)


@dataclass(frozen=True, kw_only=True)
class JudgesSettings(_OfOnePosterior, TargetSettings):
    """Settings for `bayespool.check_judges`."""

    measures: tuple[Measure, ...] = option("P@10", MEASURES_OF_RANKINGS)
    model: str = option("combined", MODEL)
    ci_prob: float = option(0.95, CI_PROB)
    intervals: bool = option(
        False,
        "Also how much narrower intervals are with the labels: of the runs to score, or where there is none "
        "of each organization left out. It takes a posterior for each judge, and one without.",
    )


JudgingOrder = Literal["judge-next", "random"]


@dataclass(frozen=True, kw_only=True)
class JudgingRoundsSettings(PosteriorSettings):
    """Settings for `bayespool.experiments.judge_in_rounds`."""

    measures: Measure = option("P@10", ONE_MEASURE)
    budget: int = option(10, "Documents judged in each round.", least=1)
    n_rounds: int = option(4, "Rounds; they end early when no document is unjudged.", least=1)
    orders: tuple[JudgingOrder, ...] = option(
        ("judge-next", "random"),
        "How documents are chosen.",
        details="The random order draws unjudged documents in reach of the measure.",
    )
    estimator: PosteriorEstimator = option("posterior-combined", POSTERIOR)
    ci_prob: float = option(0.95, CI_PROB)
    random_seed: int = option(1, SEED)

    def __post_init__(self) -> None:
        from bayespool.scoring.estimators import posterior_of

        super().__post_init__()
        self._hold("orders", tuple(dict.fromkeys(self.orders)))
        self._hold("estimator", posterior_of(self.estimator, self, random_seed=self.random_seed))
