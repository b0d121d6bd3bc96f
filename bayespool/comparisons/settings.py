"""Settings of comparisons and reversals, with each option described once."""

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
    option,
)

if TYPE_CHECKING:
    from bayespool.measures import Measure

Control = Literal["holm", "benjamini-hochberg", "none"]
Scope = Literal["these-topics", "population"]
SignificanceTest = Literal["paired-t", "wilcoxon", "randomization", "tukey-hsd"]
_ESTIMATORS = dataclasses.replace(
    ESTIMATORS, more=f"{ESTIMATORS.more} ``lower-bound``, the scores as they stand, is always among them."
)
_MEASURE = dataclasses.replace(MEASURES, help="P@10, nDCG@10, AP@100, …; one of them.")
_LEVEL = Option(help="Significant is an adjusted p-value of at most this.", of=float, above=0, below=1)
_CONTROL = Option(
    help="Adjustment of p-values over all pairs; tukey-hsd needs none.",
    more="The family is all pairs of the runs given, or of a group of them.",
    of=Control,
)


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
