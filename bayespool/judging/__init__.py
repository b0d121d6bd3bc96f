"""What to judge next: which unjudged documents tell most of some runs, and when judging may stop."""

from bayespool.judging.goals import Goal, check_goal
from bayespool.judging.next import Afterwards, NextJudgments, judge_next, sole_measure

__all__ = ["Afterwards", "Goal", "NextJudgments", "check_goal", "judge_next", "sole_measure"]
