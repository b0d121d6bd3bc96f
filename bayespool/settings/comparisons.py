"""What scores, completed qrels, comparisons and checks are asked to do: one settings class each, the one
description of its options.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bayespool.options import (
    CI_PROB,
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

__all__ = [
    "CheckingSettings",
    "ComparingSettings",
    "DemoSettings",
    "ImputeSettings",
    "JudgeNextSettings",
    "JudgesSettings",
    "ReversalSettings",
    "ScoreSettings",
]

Control = Literal["holm", "benjamini-hochberg", "none"]
Scope = Literal["these-topics", "population"]
SignificanceTest = Literal["paired-t", "wilcoxon", "randomization", "tukey-hsd"]

_ESTIMATORS = dataclasses.replace(
    ESTIMATORS, more=f"{ESTIMATORS.more} ``lower-bound``, the scores as they stand, is always among them."
)
_COMPLETED_FOR = dataclasses.replace(
    MEASURES,
    more="They say how deep judgments are completed and which levels of relevance are told apart; one "
    "completion serves them all.",
)
_MEASURE = dataclasses.replace(MEASURES, help="P@10, nDCG@10, AP@100, …; one of them.")
_LEVEL = Option(help="Significant is an adjusted p-value of at most this.", of=float, above=0, below=1)
_CONTROL = Option(
    help="Adjustment of p-values over all pairs; tukey-hsd needs none.",
    more="The family is all pairs of the runs given, or of a group of them.",
    of=Control,
)


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


@dataclass(frozen=True, kw_only=True)
class ComparingSettings(ScoringSettings):
    """Settings of `bayespool.compare`."""

    measures: tuple[Measure, ...] = option("P@10", MEASURES, held=())
    estimators: tuple[Any, ...] = option(("lower-bound", "posterior-combined"), _ESTIMATORS)
    ideal: Literal["own", "shared", "judged"] | None = option(
        "shared", dataclasses.replace(IDEAL, more=f"{IDEAL.more} A difference of two runs needs one scale.")
    )
    scopes: tuple[Scope, ...] = option(
        ("these-topics", "population"),
        Option(
            help="What differences speak of, comma-separated: these-topics, where only unjudged "
            "documents are "
            "uncertain, or a population of topics that these are a sample of.",
            of=Scope,
            many="listed",
            flag="--scope",
        ),
    )
    tests: tuple[SignificanceTest, ...] = option(
        ("paired-t",),
        Option(
            help="Comma-separated tests of a pair: paired-t, wilcoxon, randomization, tukey-hsd.",
            of=SignificanceTest,
            many="listed",
        ),
    )
    level: float = option(0.05, _LEVEL)
    control: Control = option("holm", _CONTROL)
    rope: float = option(
        0.01,
        Option(
            help="A difference up to this is practically none.",
            more="The region of practical equivalence.",
            of=float,
            least=0,
        ),
    )
    joint: bool = option(
        True,
        Option(
            help="Complete the judgments once for all measures, so that the same draws say how likely a run "
            "is better on all of them; otherwise each measure is as `score` has it.",
            more="It learns from the evidence of the measure that looks deepest. Measures that look no "
            "deeper than rank 30 and tell the same levels apart share a completion either way.",
            of=bool,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ReversalSettings(Settings):
    """Settings of `bayespool.reversals`."""

    measures: tuple[Measure, ...] = option("P@10", _MEASURE, held=())
    estimators: tuple[Any, ...] = option(("interpolated", "smoothed", "posterior-combined"), _ESTIMATORS)
    judgments: tuple[int, ...] = option(
        (1_000, 10_000),
        Option(
            help="Size of a smaller judgment set; may be repeated.",
            more="See `bayespool.comparisons.judgment_subset`; those not smaller than all judgments are "
            "passed "
            "over.",
            of=int,
            many="repeated",
            least=1,
        ),
    )
    fitted: bool = option(
        True,
        Option(
            help="Also fit the constants of interpolated and smoothed to the contributing runs.",
            more="Adds ``interpolated fitted`` and ``smoothed fitted`` for those of the two that are "
            "asked for: "
            "with the constants of least RMSE on the contributing runs against all judgments, over the sizes "
            "`bayespool.comparisons.reversing.FIT_JUDGMENTS`, or over ``judgments`` where there are no more "
            "judgments than that. The paper does so, in hindsight; nobody has these constants before "
            "judging.",
            of=bool,
        ),
    )
    announce: tuple[float, ...] = option(
        (0.5, 0.8, 0.95),
        Option(
            help="Comma-separated shares of completed judgments in which a pair is to be significant.",
            more="For each method with draws, a test that is repeated in every draw, and each of these "
            "shares, "
            "one more method, named like ``posterior-combined>=0.95``, takes a pair as significant if "
            "it is so, "
            "the same way, in that share of the completed judgments or more. The method without a share "
            "tests "
            "posterior means, which takes the imputed for known and topics for more alike than they are.",
            of=float,
            many="listed",
            least=0.5,
            most=1,
        ),
    )
    test: SignificanceTest = option(
        "paired-t", Option(help="Significance test of a pair.", of=SignificanceTest)
    )
    level: float = option(0.01, dataclasses.replace(_LEVEL, more="By default the paper's."))
    control: Control = option(
        "none", dataclasses.replace(_CONTROL, more=f"{_CONTROL.more} The paper has none.")
    )
    random_seed: int = option(1, SEED)


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
