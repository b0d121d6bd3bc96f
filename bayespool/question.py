"""A question to a collection, with every answer as a method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayespool.arrays import Progress
from bayespool.names import Control, Goal, Scope, SignificanceTest
from bayespool.scoring.asked import Asked, AskedKeywords

if TYPE_CHECKING:
    from pathlib import Path

    from bayespool.auditing import Audit
    from bayespool.comparisons import Comparison, ComparisonPlan, Gate
    from bayespool.experiments import JudgeCheck
    from bayespool.reading import Qrels
    from bayespool.scoring import Imputations, NextJudgments, Scores

__all__ = ["Question"]


@dataclass(frozen=True, eq=False, repr=False)
class Question(Asked):
    """Question to a collection: checked when it is made, with every answer as a method.

    What asks several collections, or none, is a function alone: `bayespool.score_several`,
    `bayespool.compare_table`.
    """

    def score(self, *, scope: Scope = "these-topics", progress: Progress | None = None) -> Scores:
        """Return the answer of `bayespool.score`."""
        from bayespool.scoring import score

        return score(**self._asked(scope=scope, progress=progress))

    def compare(
        self,
        *,
        baseline: str | Iterable[str] | None = None,
        scope: Scope | Iterable[Scope] = ("these-topics", "population"),
        tests: SignificanceTest | Iterable[SignificanceTest] = ("paired-t",),
        level: float = 0.05,
        control: Control = "holm",
        announce: float = 0.8,
        rope: float = 0.01,
        progress: Progress | None = None,
    ) -> Comparison:
        """Return the answer of `bayespool.compare`."""
        from bayespool.comparisons import compare

        own: dict[str, Any] = {
            "baseline": baseline,
            "scope": scope,
            "tests": tests,
            "level": level,
            "control": control,
        }
        own |= {"announce": announce, "rope": rope, "progress": progress}
        return compare(**self._asked(**own))

    def gate(
        self,
        *,
        margin: float = 0.0,
        probability: float = 0.95,
        scope: Scope = "population",
        progress: Progress | None = None,
    ) -> Gate:
        """Return the answer of `bayespool.gate`."""
        from bayespool.comparisons import gate

        return gate(**self._asked(margin=margin, probability=probability, scope=scope, progress=progress))

    def plan_comparison(
        self,
        *,
        judgments: int | Iterable[int] = (100, 1000),
        more_topics: int | Iterable[int] = (25, 50),
        more_runs: int | Iterable[int] = (2, 5),
        difference: float | None = None,
        power: float = 0.8,
        level: float = 0.05,
        progress: Progress | None = None,
    ) -> ComparisonPlan:
        """Return the answer of `bayespool.plan_comparison`."""
        from bayespool.comparisons import plan_comparison

        own: dict[str, Any] = {"judgments": judgments, "more_topics": more_topics, "more_runs": more_runs}
        own |= {"difference": difference, "power": power}
        return plan_comparison(**self._asked(**own, level=level, progress=progress))

    def judge_next(
        self,
        *,
        goal: Goal = "interval",
        budget: int = 50,
        until: float | None = None,
        progress: Progress | None = None,
    ) -> NextJudgments:
        """Return the answer of `bayespool.judge_next`."""
        from bayespool.scoring import judge_next

        return judge_next(**self._asked(goal=goal, budget=budget, until=until, progress=progress))

    def impute(
        self, *, draws: int = 20, qrels: Qrels | None = None, progress: Progress | None = None
    ) -> Imputations:
        """Return the answer of `bayespool.impute`."""
        from bayespool.scoring import impute

        return impute(**self._asked(draws=draws, qrels=qrels, progress=progress))

    def audit(
        self, *, budget: int = 50, until: float | None = None, progress: Progress | None = None
    ) -> Audit:
        """Return the answer of `bayespool.audit`."""
        from bayespool.auditing import audit

        return audit(**self._asked(budget=budget, until=until, progress=progress))

    def check_judges(
        self,
        *,
        intervals: bool = False,
        folder: str | Path | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> JudgeCheck:
        """Return the answer of `bayespool.check_judges`."""
        from bayespool.experiments import check_judges

        own = {"intervals": intervals, "folder": folder, "n_jobs": n_jobs, "progress": progress}
        return check_judges(**self._asked(**own))

    def _asked(self, **own: Any) -> dict[str, Any]:
        """Return the keywords of an answer: its own and those of the question."""
        names = ["collection", "run_ids", "measures", *AskedKeywords.__annotations__]
        names += ["estimators"] * (self.estimators is not None)
        return own | {name: getattr(self, name) for name in names}


Question.__doc__ = f"{(Question.__doc__ or '').rstrip()}{(Asked.__doc__ or '').partition('.')[2]}"
