"""Comparisons read from stored tables, and the figures of all comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bayespool.report.result import Figure, Result
from bayespool.report.stored import StoredResult
from bayespool.tables.formatting import level


@dataclass(frozen=True, eq=False, repr=False)
class StoredComparison(StoredResult, reads="compare"):
    """Comparison read from stored tables."""

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of the stored comparison if its tables are complete."""
        has_all = {"differences", "runs"} <= {table.name for table in self.tables()}
        return comparison_figures(self) if has_all else super().figures()


def comparison_figures(comparison: Result) -> tuple[Figure, ...]:
    """Return plots of differences or rank probabilities, and a leaderboard for three or more runs."""
    from bayespool.plots import draw_comparison, draw_leaderboard
    from bayespool.plots.comparisons import measures_drawn_by_rank
    from bayespool.plots.style import has_systems

    if has_systems(comparison):
        return (Figure("comparison", "Differences between systems", partial(draw_comparison, comparison)),)
    caption = "Differences between runs"
    if measures_drawn_by_rank(comparison):
        caption = "Probability of each rank by run; darker is likelier, diamonds are expected ranks"
    figure = Figure("comparison", caption, partial(draw_comparison, comparison))
    runs = comparison.to_frame("runs")
    if runs["run_id"].nunique() <= 2 or runs["value"].isna().all():
        return (figure,)
    prob = level(runs["ci_prob"].max())
    caption = (
        f"Ranks that the runs may have, right for all runs at once with a probability of {prob}. "
        "Runs with filled marks may be the best."
    )
    ranks = Figure("leaderboard", caption, partial(draw_leaderboard, comparison))
    return (figure, ranks)
