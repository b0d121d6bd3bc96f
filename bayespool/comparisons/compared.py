"""Findings on pairs of runs: differences, ranks, significance, reliability, and which verdicts hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd

from bayespool.arrays import AnyArray, BoolArray, FloatArray
from bayespool.collection.collection import Systems
from bayespool.comparisons.contrasts import Contrasts, Errors, contrast_frame
from bayespool.comparisons.draws import (
    DrawComparison,
    SignificantDraws,
    compare_across,
    groups_with_shared_draws,
)
from bayespool.comparisons.pairs import COMMON_COLUMNS, CommonTopics, compared_pairs, pair_frame
from bayespool.comparisons.reliability import (
    all_system_scores,
    dependability,
    expected_values,
    generalizability,
    variance_frame,
)
from bayespool.comparisons.significance import ANNOUNCED_SHARE, Pairs, effect_sizes
from bayespool.measures import Estimates, Measure, equal_tailed_interval
from bayespool.measures.populations import estimate_population
from bayespool.names import AS_JUDGED, Control, Scope, SignificanceTest
from bayespool.scoring import Scores
from bayespool.scoring.score_tables import far_runs, is_on_priors
from bayespool.tables.markup import SUPERSCRIPTS, Arrangement

_COEFFICIENTS = {"generalizability": generalizability, "dependability": dependability}
TestKey = tuple[Measure, str, SignificanceTest]


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """Pairs of runs that are compared, with the attributes of `Comparison`."""

    scores: Scores
    draws: Mapping[tuple[Measure, str, Scope], DrawComparison]
    p_values: Mapping[TestKey, FloatArray]
    p_adjusted: Mapping[TestKey, FloatArray]
    significant: Mapping[TestKey, SignificantDraws]
    tests: tuple[SignificanceTest, ...]
    control: Control
    level: float
    rope: float
    metadata: Mapping[str, Any]
    announce: float = ANNOUNCED_SHARE
    systems: Systems = ()
    baseline: tuple[str, ...] = ()
    bounds: Mapping[Measure, tuple[FloatArray, FloatArray]] = field(default_factory=dict)
    common: Mapping[TestKey, CommonTopics] = field(default_factory=dict)
    contrasts: Contrasts | None = None
    is_named: bool = True
    arrangement: Arrangement = field(default_factory=Arrangement)

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Run names, in the order of every matrix."""
        return self.scores.run_ids

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Measures of the scores."""
        return self.scores.measures

    @property
    def ci_prob(self) -> float:
        """Probability of the intervals."""
        return self.scores.ci_prob

    @cached_property
    def far_runs(self) -> frozenset[str]:
        """Runs that are unlike the pool."""
        return frozenset(far_runs(self.scores.to_frame()))

    @cached_property
    def pair_places(self) -> Pairs:
        """Places of the runs of each pair that is compared: all pairs, or those with a baseline."""
        return compared_pairs(self.run_ids, self.baseline)

    @property
    def compares_systems(self) -> bool:
        """Whether systems are compared."""
        return self.contrasts is not None and self.contrasts.units.are_systems

    @property
    def n_pairs(self) -> int:
        """Number of pairs that are compared."""
        return len(self.pair_places[0])

    def differences(self) -> pd.DataFrame:
        """Return score differences for the pairs of runs, with the probability of each order.

        Returns
        -------
        pandas.DataFrame
            One row per measure, estimator, scope and pair (of all runs, or of another run and a baseline):
            ``measure``, ``estimator``, ``scope``, ``run_a``, ``run_b``, ``difference`` (a minus b), ``lower``
            and ``upper`` (ends of its interval), ``bound_lower`` and ``bound_upper`` (on these topics no
            judgment of unjudged documents goes beyond them), ``ci_prob``, ``prob_greater``, ``prob_equal``,
            ``prob_less``
            (a greater than, equal to, less than b; ``(prob_greater + prob_less) + prob_equal`` is 1 to the
            bit), ``rope``, ``prob_equivalent`` (the difference is no more than ``rope``), ``as_judged``
            (difference as judged, a minus b), ``p`` (adjusted, of the first test as judged), ``n_common``,
            ``difference_common`` and ``p_common`` (these two as judged on the topics that both runs have,
            and their number) and ``risk`` (of a reversal, by the first test as in `significance`). An
            estimator without draws has only the difference on these topics.
        """
        frames, test = [], self.tests[0]
        for e in self.scores.estimates:
            judged = self.scores[e.measure, AS_JUDGED].value
            shared = {"as_judged": np.subtract.outer(judged, judged)}
            shared["p"] = self.p_adjusted[e.measure, AS_JUDGED, test]
            shared |= self.common[e.measure, AS_JUDGED, test].columns
            if s := self.significant.get((e.measure, e.estimator, test)):
                shared["risk"] = s.reversal_risk(self.better_as_judged(e.measure, test))
            if e.draws is None:
                shared["difference"] = np.subtract.outer(e.value, e.value)
                frames.append(self._pairs(e, {"scope": "these-topics"} | self._bounds(e.measure), shared))
            for scope in get_args(Scope):
                if (e.measure, e.estimator, scope) in self.draws:
                    d = self.draws[e.measure, e.estimator, scope]
                    matrices = {"difference": d.difference, "lower": d.lower, "upper": d.upper}
                    matrices |= {"prob_greater": d.prob_greater, "prob_equal": d.prob_equal}
                    matrices |= {"prob_less": d.prob_greater.T, "prob_equivalent": d.prob_equivalent}
                    keys = {"scope": scope, "ci_prob": self.ci_prob, "rope": self.rope}
                    keys |= self._bounds(e.measure) if scope == "these-topics" else {}
                    frames.append(self._pairs(e, keys, matrices | shared))
        columns = ["measure", "estimator", "scope", "run_a", "run_b", "difference", "lower", "upper"]
        columns += ["bound_lower", "bound_upper", "ci_prob", "prob_greater", "prob_equal", "prob_less"]
        columns += ["rope", "prob_equivalent", "as_judged", "p", *COMMON_COLUMNS, "risk"]
        return pd.concat(frames, ignore_index=True).reindex(columns=columns)

    def runs(self) -> pd.DataFrame:
        """Return a leaderboard with each run's score, possible ranks and significantly worse runs.

        Returns
        -------
        pandas.DataFrame
            One row per measure, estimator with draws (without one ``as-judged``), scope and run: ``measure``,
            ``estimator``, ``scope``, ``label`` (a letter; empty for more than 25 runs), ``run_id``,
            ``as_judged``, ``better_than`` (letters of the runs that it is significantly better than as
            judged, by the first test, unless it `is_in_doubt`), and for estimators with draws: ``value``,
            ``lower``, ``upper`` and ``ci_prob`` (interval of the run's score in the scope), ``rank_lower``
            and ``rank_upper`` (first and last rank that it may have, right for all runs at once with the
            probability ``ci_prob``),
            ``tier``, ``among_best`` (no run is shown to be better), ``prob_best`` (tied runs share it
            equally), ``expected``, ``expected_rank``, and the probability of each rank, 1 the best,
            ``prob_rank_1``, ``prob_rank_2`` and so on; runs that tie in a draw share the ranks they cover
            equally.

            ``expected`` is the score without the winner's curse. On these topics that is
            ``value``; on topics like these it is the mean of all runs and the share Eρ² of what the run is
            above it (`bayespool.comparisons.generalizability`), so that the best of many is not overrated.
        """
        n, frames = len(self.run_ids), []
        labels = np.array((list(SUPERSCRIPTS) if n <= len(SUPERSCRIPTS) else [""] * n)[:n], dtype=object)
        rank_names = [f"prob_rank_{rank}" for rank in range(1, n + 1)]
        for measure in self.measures:
            better = self.announced_as_judged(measure, self.tests[0])
            runs: dict[str, Any] = {"label": labels, "run_id": np.array(self.run_ids, dtype=object)}
            runs |= {"as_judged": self.scores[measure, AS_JUDGED].value}
            runs |= {"better_than": ["".join(labels[row]) for row in better]}
            keys = [(estimator, scope) for of, estimator, scope in self.draws if of == measure]
            for estimator, scope in keys or [(AS_JUDGED, "these-topics")]:
                columns = {"measure": str(measure), "estimator": estimator, "scope": scope, **runs}
                if keys:
                    columns |= self._leaderboard_columns(measure, estimator, scope)
                frames.append(pd.DataFrame(columns))
        names = ["measure", "estimator", "scope", *runs, "value", "lower", "upper", "ci_prob", "rank_lower"]
        names += ["rank_upper", "tier", "among_best", "prob_best", "expected", "expected_rank", *rank_names]
        return pd.concat(frames, ignore_index=True).reindex(columns=names).astype({"among_best": "boolean"})

    def _leaderboard_columns(self, measure: Measure, estimator: str, scope: Scope) -> dict[str, Any]:
        """Return leaderboard columns for one estimator with draws."""
        d = self.draws[measure, estimator, scope]
        e = self.scores[measure, estimator]
        (lower, upper), expected = e.interval(self.ci_prob), e.value
        if scope == "population":
            population = estimate_population(e, self.ci_prob, random_seed=self.metadata["random_seed"])
            lower, upper, expected = population.lower, population.upper, expected_values(e)
        first, last = d.rank_interval
        columns = {"value": e.value, "lower": lower, "upper": upper, "ci_prob": self.ci_prob}
        columns |= {"rank_lower": first, "rank_upper": last, "tier": d.tier, "among_best": first == 1}
        columns |= {f"prob_rank_{rank}": chance for rank, chance in enumerate(d.prob_rank.T, 1)}
        columns |= {"prob_best": d.prob_rank[:, 0], "expected": expected, "expected_rank": d.expected_rank}
        return columns

    def pairs_in_order(self, measure: Measure, arrangement: Arrangement) -> pd.DataFrame:
        """Return a frame of the pairs of runs, sorted and truncated as arranged."""
        rows, estimator = self.differences(), self.shown_estimator(measure)
        rows = rows[(rows["measure"] == str(measure)) & (rows["estimator"] == estimator)]
        rows = rows[rows["scope"] == "these-topics"]
        size, chance = rows["difference"].abs(), rows[["prob_greater", "prob_less"]].max(axis=1)
        if key := arrangement.sort or ("difference" if arrangement.top else ""):
            keys = rows.assign(difference=size, chance=chance)[key]
            rows = rows.loc[keys.sort_values(ascending=key == "p", kind="stable").index]
        return rows[["measure", "run_a", "run_b"]].head(arrangement.top or len(rows))

    def shown_estimator(self, measure: Measure) -> str:
        """Return the first estimator with draws for a measure, else ``as-judged``."""
        drawn = (estimator for of, estimator, scope in self.draws if (of, scope) == (measure, "these-topics"))
        return next(drawn, AS_JUDGED)

    def across_measures(self) -> pd.DataFrame:
        """Return the probability that a run is better than another on several measures at once.

        It covers measures whose draws come from the same completed judgments: those completed together
        (``joint``), or that share a completion, such as P@5 and P@10; not AntiP, where lower is better, and
        Judged.

        Returns
        -------
        pandas.DataFrame
            One row per estimator, group of measures that share their draws, scope and pair: ``measures``
            (with ``", "`` between), ``n_measures``, ``estimator``, ``scope``, ``run_a``, ``run_b``,
            ``prob_all_greater`` and ``prob_all_less`` (a greater than b on every measure, less on every one),
            ``prob_disagree`` (greater on one of them and less on another), and ``prob_tied`` (all other
            draws: equal on one of them at least). No row where no two measures share their draws.
        """
        return self._across_frame.copy()

    @cached_property
    def _across_frame(self) -> pd.DataFrame:
        """Cached frame for `across_measures`."""
        frames = []
        for estimator in dict.fromkeys(e.estimator for e in self.scores.estimates):
            estimates = [e for e in self.scores.estimates if e.estimator == estimator]
            for group in groups_with_shared_draws(estimates):
                for scope in [s for of, by, s in self.draws if (of, by) == (group[0].measure, estimator)]:
                    agreement = compare_across(group, scope, random_seed=self.metadata["random_seed"])
                    keys: dict[str, object] = {"measures": ", ".join(str(e.measure) for e in group)}
                    keys |= {"n_measures": len(group), "estimator": estimator, "scope": scope}
                    matrices = {"prob_all_greater": agreement.prob_all_greater}
                    matrices |= {"prob_all_less": agreement.prob_all_greater.T}
                    matrices |= {"prob_disagree": agreement.prob_disagree, "prob_tied": agreement.prob_tied}
                    frames.append(pair_frame(self.run_ids, keys, matrices, self.pair_places))
        names = ["measures", "n_measures", "estimator", "scope", "run_a", "run_b", "prob_all_greater"]
        names += ["prob_all_less", "prob_disagree", "prob_tied"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=names)

    def groups(self) -> pd.DataFrame:
        """Return differences of runs by group of topics, and as a mean of groups.

        Returns
        -------
        pandas.DataFrame
            Empty without groups, and with systems. One row per measure, estimator, scope, pair and ``group``
            (a group, ``mean of groups`` with equal weight, or ``all topics``): ``n_topics``, columns of
            `differences`, and of the t test as judged ``standard_error``, ``p_value``, ``p_adjusted`` (of
            single groups over pairs and groups) and ``significant`` (missing where judging may take it back).
        """
        no_groups = self.contrasts is None or self.compares_systems
        return pd.DataFrame() if no_groups else self._contrast_frame.copy()

    def system_differences(self) -> pd.DataFrame:
        """Return differences of systems, whose runs are a sample, crossed with topics.

        Returns
        -------
        pandas.DataFrame
            Empty without systems. As `groups`, with ``system_a`` and ``system_b``.
        """
        return self._contrast_frame.copy() if self.compares_systems else pd.DataFrame()

    @cached_property
    def _contrast_frame(self) -> pd.DataFrame:
        """Cached frame for `groups` and `system_differences`."""
        assert self.contrasts is not None
        deciding = {m: self.shown_estimator(m) for m in self.measures if self.decides(m)}
        errors = Errors(self.control, self.level, self.announce)
        return contrast_frame(
            self.contrasts, self.scores, deciding, errors, int(self.metadata["random_seed"])
        )

    def variance(self) -> pd.DataFrame:
        """Return scores for systems, averaged over their runs, and what their variance is due to.

        Returns
        -------
        pandas.DataFrame
            One row per measure, estimator with draws, scope and system of the runs compared, the highest
            first: ``measure``, ``estimator``, ``scope``, ``system``, ``n_runs``, ``value``, ``lower``,
            ``upper``, ``ci_prob``, and for topics and runs like these ``variance`` (of the score) and its
            shares: ``topics_variance``, ``runs_variance`` (0 where no system has two runs) and
            ``unjudged_variance``. On these topics the interval is over unjudged documents alone, and shares
            are NaN. A last row, ``any system``, has the variance of a run of any system, with
            ``systems_variance``, and topics and later ones as means over systems. Empty without systems.
        """
        systems = all_system_scores(
            self.systems, self.scores.estimates, random_seed=self.metadata["random_seed"]
        )
        return variance_frame(systems, self.draws, self.ci_prob)

    def significance(self) -> pd.DataFrame:
        """Return significance tests for the pairs of runs, with their probabilities over completed judgments.

        The tests take the topics as a sample of a population and the values as known; for
        ``prob_significant`` and ``reversal_risk`` the unjudged documents are uncertain, too.

        Returns
        -------
        pandas.DataFrame
            One row per measure, estimator, test and pair: ``measure``, ``estimator``, ``scope``
            (``population``), ``test``, ``run_a``, ``run_b``, ``difference`` (a minus b), ``effect_size`` (as
            `bayespool.comparisons.effect_sizes`), ``p_value``, ``control``, ``p_adjusted``, ``n_common``,
            ``difference_common`` and ``p_common`` (number of topics that both runs have, difference and
            adjusted p-value on them), ``level``, ``significant`` (of draws whose tests are repeated, what
            `announced_order` announces; else missing without a p-value, for means of draws that vary, and
            where it `is_in_doubt` or `is_by_missing_topics`; where no estimator has draws, a difference that
            is not significant may be in doubt, too); for estimators with draws and repeated tests also
            ``prob_significant``, ``prob_significant_greater`` and ``…_less`` (a significantly greater, less
            than b). ``reversal_risk``, of what the estimator finds significant: the probability that
            completed judgments do not confirm it in that direction. ``prob_sign_change``: that the
            difference has the other sign in them; by the first estimator with draws where it has none.
        """
        frames = []
        for (measure, estimator, test), p in self.p_values.items():
            e = self.scores[measure, estimator]
            adjusted = self.p_adjusted[measure, estimator, test]
            matrices = {"difference": np.subtract.outer(e.value, e.value), "p_value": p}
            matrices["effect_size"] = effect_sizes(e.per_topic, test)
            varies = (np.zeros(len(p)) if e.draws is None else e.draws.std()) > 0
            is_undefined = np.isnan(adjusted) | np.logical_or.outer(varies, varies)
            is_claimed = (adjusted <= self.level) | (not self.decides(measure))
            is_undefined |= is_claimed & self.is_in_doubt(measure, estimator, test)
            significant = np.where(is_undefined, np.nan, adjusted <= self.level)
            matrices |= {"p_adjusted": adjusted, "significant": significant}
            matrices |= self.common[measure, estimator, test].columns
            better = (adjusted <= self.level) & (matrices["difference"] > 0)
            if (measure, estimator, test) in self.significant:
                s = self.significant[measure, estimator, test]
                better = s.order > 0
                in_doubt = False if self.decides(measure) else self.is_in_doubt(measure, estimator, test)
                matrices |= {
                    "significant": np.where(in_doubt, np.nan, s.order != 0),
                    "prob_significant": s.prob_significant,
                    "prob_significant_greater": s.n_greater / s.n_draws,
                    "prob_significant_less": s.n_greater.T / s.n_draws,
                }
            drawn = estimator if e.draws is not None else self.shown_estimator(measure)
            by_missing = self.is_by_missing_topics(measure, estimator, test)
            withheld = by_missing | self.has_passages
            matrices["significant"] = np.where(withheld, np.nan, matrices["significant"])
            if (measure, drawn, test) in self.significant:
                matrices["reversal_risk"] = self.significant[measure, drawn, test].reversal_risk(better)
            if (sign_change := self.prob_sign_change(measure, estimator)) is not None:
                matrices["prob_sign_change"] = sign_change
            control = "tukey-hsd" if test == "tukey-hsd" else self.control
            keys = {"scope": "population", "test": test, "control": control, "level": self.level}
            frames.append(self._pairs(e, keys, matrices))
        columns = ["measure", "estimator", "scope", "test", "run_a", "run_b", "difference"]
        columns += ["effect_size", "p_value", "control", "p_adjusted", *COMMON_COLUMNS]
        columns += ["level", "significant"]
        columns += [f"prob_significant{way}" for way in ("", "_greater", "_less")]
        columns += ["reversal_risk", "prob_sign_change"]
        frame = pd.concat(frames, ignore_index=True).reindex(columns=columns)
        return frame.astype({"significant": "boolean"})

    def is_in_doubt(self, measure: Measure, estimator: str, test: SignificanceTest) -> BoolArray:
        """Return whether unjudged documents may well take a significant difference back, shape (run, run).

        They are where the first estimator with draws announces no such order, or, for a test that is not
        repeated in draws, gives the order a probability under 1 − ``level``/2. Where none has draws that
        decide, they are where judging could give the difference the other sign or none.
        """
        value, shown = self.scores[measure, estimator].value, self.shown_estimator(measure)
        ahead, is_known = np.subtract.outer(value, value) > 0, np.zeros((len(value),) * 2, dtype=bool)
        drawn = [s for (of, _, by), s in self.significant.items() if (of, by) == (measure, test)]
        if not self.decides(measure) or (not drawn and shown == AS_JUDGED):
            least = self._least_differences(measure)
            is_sure, is_known = least > 0, np.abs(least + least.T) < 1e-12
        elif drawn:
            is_sure = drawn[0].order > 0
        else:
            chance = self.draws[measure, shown, "these-topics"].prob_greater
            is_sure = chance >= 1 - self.level / 2  # two-sided, as the tests are
        sure = ahead & is_sure
        return np.asarray(~(sure | sure.T | is_known))

    def has_draws(self, measure: Measure) -> bool:
        """Return whether any estimator has draws under a measure."""
        return any(e.draws is not None for e in self.scores.estimates if e.measure == measure)

    def decides(self, measure: Measure) -> bool:
        """Return whether any draws give verdicts: on priors alone only those of a named estimator."""
        return self.has_draws(measure) and (self.is_named or not is_on_priors(self.scores.metadata))

    def _least_differences(self, measure: Measure) -> FloatArray:
        """Return the row's score minus the column's at the least, whatever unjudged documents are."""
        bounds = self.scores.bounds[self.measures.index(measure)]
        least = np.subtract.outer(bounds.least.means(), bounds.most.means())
        if measure in self.bounds:
            (first, second), (lower, upper) = self.pair_places, self.bounds[measure]
            least[first, second], least[second, first] = lower, -upper
        return least

    def is_by_missing_topics(self, measure: Measure, estimator: str, test: SignificanceTest) -> BoolArray:
        """Return where a difference is significant with missing topics as 0 and not on the topics that both
        runs have, shape (run, run).
        """
        value, common = self.scores[measure, estimator].value, self.common[measure, estimator, test]
        is_open = common.n < len(self.scores.query_ids)
        is_open &= ~common.confirms(np.subtract.outer(value, value), self.level)
        return np.asarray(is_open & (self.p_adjusted[measure, estimator, test] <= self.level))

    @property
    def has_passages(self) -> BoolArray:
        """Whether ids of either run match only if a suffix is cut, shape (run, run): no verdict."""
        has = np.isin(self.run_ids, list(self.scores.metadata.get("passages", ())))
        return np.asarray(np.logical_or.outer(has, has))

    def prob_sign_change(self, measure: Measure, estimator: str) -> FloatArray | None:
        """Return the probability that judging changes the sign of differences, shape (run, run).

        Draws are the estimator's own, or of the first estimator that has any; None without. NaN where runs
        tie.
        """
        drawn = (
            estimator if (measure, estimator, "these-topics") in self.draws else self.shown_estimator(measure)
        )
        if (d := self.draws.get((measure, drawn, "these-topics"))) is None:
            return None
        ahead = np.subtract.outer(value := self.scores[measure, estimator].value, value) > 0
        return np.where(ahead, d.prob_greater.T, np.where(ahead.T, d.prob_greater, np.nan))

    def better_as_judged(self, measure: Measure, test: SignificanceTest) -> BoolArray:
        """Return whether the row run is significantly better on scores as judged, shape (run, run)."""
        value = self.scores[measure, AS_JUDGED].value
        significant: BoolArray = self.p_adjusted[measure, AS_JUDGED, test] <= self.level
        return significant & (np.subtract.outer(value, value) > 0)

    def announced_as_judged(self, measure: Measure, test: SignificanceTest) -> BoolArray:
        """Return where `better_as_judged` is so, not in doubt and not by missing topics, shape (run, run)."""
        silent = self.is_in_doubt(measure, AS_JUDGED, test)
        silent |= self.is_by_missing_topics(measure, AS_JUDGED, test) | self.has_passages
        return self.better_as_judged(measure, test) & ~silent

    def reliability(self) -> pd.DataFrame:
        """Return reliability coefficients for the comparison, per measure and estimator.

        Returns
        -------
        pandas.DataFrame
            One row per measure, estimator and coefficient: ``measure``, ``estimator``, ``coefficient``
            (``generalizability`` Eρ², ``dependability`` Φ), ``value``, ``lower``, ``upper``, ``ci_prob``.
            With draws the value is their mean, and the interval reflects unjudged documents.
        """
        rows = []
        for e in self.scores.estimates:
            for name, coefficient in _COEFFICIENTS.items():
                by_draw = np.atleast_1d(coefficient(e.per_topic if e.draws is None else e.draws.amount))
                value, lower, upper = float(by_draw.mean()), np.nan, np.nan
                if e.draws is not None and not np.isnan(value):  # as runs with equal scores in a draw have
                    lower, upper = map(float, equal_tailed_interval(by_draw, self.ci_prob))
                    lower, upper = min(lower, value), max(upper, value)  # of draws of which nearly all are 0
                row = (str(e.measure), e.estimator, name, value, lower, upper)
                rows.append((*row, np.nan if np.isnan(lower) else self.ci_prob))
        columns = ["measure", "estimator", "coefficient", "value", "lower", "upper", "ci_prob"]
        return pd.DataFrame(rows, columns=columns)

    def _bounds(self, measure: Measure) -> dict[str, object]:
        """Return columns with the bounds of differences under a measure, if they are known."""
        return dict(zip(("bound_lower", "bound_upper"), self.bounds.get(measure, ()), strict=False))

    def _pairs(
        self, e: Estimates, keys: Mapping[str, object], matrices: Mapping[str, AnyArray]
    ) -> pd.DataFrame:
        """Return the frame of the pairs of runs, given one estimator and measure."""
        keys = {"measure": str(e.measure), "estimator": e.estimator, **keys}
        return pair_frame(self.run_ids, keys, matrices, self.pair_places)
