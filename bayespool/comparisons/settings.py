"""Settings for comparisons and reversals, with each option described once."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayespool.errors import InputError
from bayespool.names import AS_JUDGED, Control, SignificanceTest, leading_name
from bayespool.options import SEED, Option, PosteriorSettings, option, options_of
from bayespool.scoring.settings import (
    ESTIMATORS,
    IDEAL,
    MEASURES_OF_RANKINGS,
    ONE_MEASURE,
    POSTERIOR,
    UNSEEN,
    Ideal,
    Scope,
    ScoringSettings,
    TargetSettings,
    Unseen,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayespool.measures import Estimator, Measure
    from bayespool.posterior import PosteriorEstimator

_ESTIMATORS = dataclasses.replace(
    ESTIMATORS, details=f"{ESTIMATORS.details} ``as-judged``, the scores as judged, is always among them."
)
_LEVEL = Option(
    help="Significant is an adjusted p-value of at most this.", above=0, below=1, group="Comparison"
)
_CONTROL = Option(
    help="Adjustment of p-values over all pairs: holm controls the family-wise error rate; "
    "benjamini-hochberg controls the false discovery rate, for many pairs; tukey-hsd needs none.",
    details="The family is all pairs of the runs given, or of a group of them.",
    group="Comparison",
)


def _systems(given: object) -> object:
    """Return the system for each run, read from a file or mapping."""
    from bayespool.collection.contents import parse_systems

    return parse_systems(given)  # type: ignore[arg-type]  # of the option's type


@dataclass(frozen=True, kw_only=True)
class ComparingSettings(ScoringSettings):
    """Settings for `bayespool.compare`."""

    estimators: tuple[Estimator, ...] = option("posterior-combined", _ESTIMATORS)
    ideal: Ideal = option(
        "shared", IDEAL, details=f"{IDEAL.details} A difference of two runs needs one scale."
    )
    scopes: tuple[Scope, ...] = option(
        ("these-topics", "population"),
        "What differences speak of, comma-separated: these-topics, where only unjudged documents are "
        "uncertain, a population of topics that these are a sample of, or another-assessor, where levels of "
        "relevance are those that another assessor would have given.",
        group="Comparison",
        flag="--scope",
    )
    tests: tuple[SignificanceTest, ...] = option(
        ("paired-t",),
        "Comma-separated tests of a pair: paired-t, the usual one; wilcoxon, where differences are far from "
        "normal; randomization, which assumes no distribution; tukey-hsd, for all pairs at once.",
        group="Comparison",
    )
    level: float = option(0.05, _LEVEL)
    control: Control = option("holm", _CONTROL)
    rope: float = option(
        0.01,
        "A difference up to this is practically none.",
        group="Comparison",
        details="The region of practical equivalence.",
        least=0,
    )
    systems: tuple[tuple[str, str], ...] = option(
        None,
        "CSV with run_id,system: runs that are seeds, prompts or query variants of one system, which is "
        "scored by their mean; they leave the evidence together.",
        type=Path,
        docstring_type="path or mapping of str to str",
        group="Input",
        parse=_systems,
    )
    joint: bool = option(
        True,
        "Complete the judgments once for all measures, so that the same draws say how likely a run is "
        "better on all of them; otherwise each measure is as `score` has it.",
        group="Comparison",
        details="It learns from the evidence of the measure that looks deepest. Measures that look no "
        "deeper than rank 30 and tell the same levels apart share a completion either way.",
    )

    def posterior_overrides(self) -> dict[str, Any]:
        """Return the given settings of posteriors. A document has one relevance per draw for all runs."""
        return {"joint": self.joint} | super().posterior_overrides() | {"together": True}

    @property
    def asks_another_assessor(self) -> bool:
        """Whether scores by another assessor are requested."""
        return "another-assessor" in self.scopes

    def _requested_estimators(self) -> Iterable[str | Estimator]:
        from bayespool.posterior import PosteriorEstimator
        from bayespool.scoring.estimators import named_estimators

        return [
            dataclasses.replace(e, together=True) if isinstance(e, PosteriorEstimator) else e
            for e in _with_as_judged(named_estimators(self.estimators))
        ]


_WITHOUT_COLLECTION = (
    *("topics_at_hand", "sd", "more_topics", "difference", "power", "level", "price_topic"),
    *("measures", "random_seed"),  # have no effect without a collection
)
"""Names of settings for a plan without a collection."""


@dataclass(frozen=True, kw_only=True)
class PlanSettings(TargetSettings):
    """Settings for `bayespool.plan_comparison`."""

    measures: Measure = option("P@10", ONE_MEASURE)
    posterior: PosteriorEstimator = option("posterior-combined", POSTERIOR)
    topics_at_hand: int | None = option(
        None, "Without a collection: topics at hand, with everything judged.", least=2
    )
    sd: float | None = option(
        None,
        "Without a collection: standard deviation, over topics, of the difference of two runs.",
        above=0,
    )
    judgments: tuple[int, ...] = option(
        (100, 1000),
        "Comma-separated numbers of judgments that are added.",
        details="Those below the number of unjudged documents in reach.",
        least=1,
        may_be_empty=True,
    )
    more_topics: tuple[int, ...] = option(
        (25, 50), "Comma-separated numbers of topics that are added.", least=1, may_be_empty=True
    )
    difference: float | None = option(
        None, "A difference to detect; the cheapest mix of topics, judgments and labels is found.", above=0
    )
    power: float = option(0.8, "Share of the cases in which a difference is detected.", above=0, below=1)
    level: float = option(0.05, _LEVEL, help="A difference is detected if its interval at this leaves out 0.")
    price_topic: float = option(0.0, "Price of a topic, without its judgments.", least=0)
    price_judgment: float = option(1.0, "Price of a judgment.", least=0)
    price_label: float = option(0.0, "Price of a label of a second judge.", least=0)

    def __post_init__(self) -> None:
        from bayespool.scoring.estimators import parse_sole_posterior

        super().__post_init__()
        if (self.topics_at_hand is None) != (self.sd is None):
            raise InputError(
                "a plan without a collection needs the topics at hand and the standard deviation",
                hint="give both: --topics-at-hand 50 --sd 0.25, or topics_at_hand= and sd=",
            )
        if self.topics_at_hand is not None:
            self._refuse_idle()
        self._hold("posterior", parse_sole_posterior(self.posterior, **self.target_settings()))

    def _refuse_idle(self) -> None:
        """Raise `InputError` if a plan without a collection has settings that it does not use."""
        for name, (spec, default) in options_of(type(self)).items():
            if name not in _WITHOUT_COLLECTION and getattr(self, name) != spec.validated(name, default):
                raise InputError(
                    f"{name} beside topics_at_hand: without a collection nothing is unjudged",
                    hint="leave it out, or give a collection instead of topics_at_hand and sd",
                )

    def comparing_settings(self) -> ComparingSettings:
        """Return settings for scoring all runs together with `bayespool.score`."""
        names = (name for name in options_of(TargetSettings) if name != "posterior")
        shared = {name: getattr(self, name) for name in names}
        return ComparingSettings(measures=(self.measures,), estimators=(self.posterior,), **shared)


@dataclass(frozen=True, kw_only=True)
class ReversalSettings(PosteriorSettings):
    """Settings for `bayespool.count_reversals`."""

    measures: tuple[Measure, ...] = option("P@10", MEASURES_OF_RANKINGS)
    estimators: tuple[Estimator, ...] = option(
        ("interpolated", "smoothed", "posterior-combined"), _ESTIMATORS
    )
    judgments: tuple[int, ...] = option(
        (1_000, 10_000),
        "Size of a smaller judgment set; may be repeated.",
        details="See `bayespool.comparisons.judgment_subset`; those not smaller than all judgments are "
        "passed over.",
        multiple="repeated",
        least=1,
    )
    fitted: bool = option(
        True,
        "Also fit the constants of background, interpolated and smoothed to the contributing runs.",
        details="Adds ``interpolated fitted`` and so on for those of the three that are asked for: with the "
        "constants of least RMSE on the contributing runs against all judgments, over the sizes "
        "`bayespool.comparisons.reversing.FIT_JUDGMENTS`; where there are not that many judgments, over "
        "those of them that are smaller and ``judgments``. The paper does so, in hindsight; nobody has "
        "these constants before judging.",
    )
    announce: tuple[float, ...] = option(
        (0.5, 0.8, 0.95),
        "Comma-separated shares of completed judgments in which a pair is to be significant.",
        details="For each method with draws, a test that is repeated in every draw, and each of these "
        "shares, one more method, named like ``posterior-combined>=0.95``, takes a pair as significant if "
        "it is so, the same way, in that share of the completed judgments or more. The method without a "
        "share tests posterior means, which takes the imputed for known and topics for more alike than they "
        "are.",
        group="Design",
        least=0.5,
        most=1,
        may_be_empty=True,
    )
    unseen: Unseen = option("nonrelevant", UNSEEN)
    test: SignificanceTest = option("paired-t", "Significance test of a pair.", group="Comparison")
    level: float = option(0.01, _LEVEL, details="By default the paper's.")
    control: Control = option("none", _CONTROL, details=f"{_CONTROL.details} The paper has none.")
    random_seed: int = option(1, SEED)

    def __post_init__(self) -> None:
        from bayespool.scoring.estimators import named_estimators, parse_estimators

        super().__post_init__()
        wanted = _with_as_judged(named_estimators(self.estimators))
        self._hold(
            "estimators", parse_estimators(wanted, self.posterior_overrides(), random_seed=self.random_seed)
        )


def _with_as_judged(estimators: Iterable[str | Estimator]) -> Iterable[str | Estimator]:
    """Return the estimators with ``as-judged`` added in front if it is missing."""
    listed = tuple(estimators)
    names = [leading_name(e) if isinstance(e, str) else e.name for e in listed]
    return listed if AS_JUDGED in names else (AS_JUDGED, *listed)
