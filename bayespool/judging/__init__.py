"""What to judge next: which unjudged documents tell most of some runs, and when judging may stop."""

from bayespool.judging.goals import Goal
from bayespool.judging.next import Afterwards, NextJudgments, judge_next

__all__ = ["Afterwards", "Goal", "NextJudgments", "judge_next"]
