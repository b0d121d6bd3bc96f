"""Plots of results: ``plot_`` functions return axes, by default of a new figure, ``draw_`` functions
figures.
"""

from bayespool.plots.budgets import draw_budgets, plot_budgets, plot_ranking
from bayespool.plots.checks import plot_elpd, plot_engines, plot_held_out_pit, plot_predictive, plot_ranks
from bayespool.plots.comparisons import draw_comparison, plot_differences, plot_rank_probabilities
from bayespool.plots.judges import draw_judges, plot_judged_runs, plot_labels
from bayespool.plots.judging import plot_judging
from bayespool.plots.leave_out import plot_gain, plot_mae, plot_pit, plot_truth
from bayespool.plots.random_pools import plot_common_topics, plot_pool_width, plot_run_types
from bayespool.plots.reversals import (
    draw_reversals,
    plot_calibration,
    plot_p_values,
    plot_reversal_calibration,
    plot_separability,
)
from bayespool.plots.scores import draw_forest, draw_topics, plot_distance, plot_forest, plot_topics
from bayespool.plots.style import PALETTE, ImageFormat, figure_grid, render
from bayespool.plots.surfaces import plot_rmse_surface, plot_topics_surface

__all__ = [
    "PALETTE",
    "ImageFormat",
    "draw_budgets",
    "draw_comparison",
    "draw_forest",
    "draw_judges",
    "draw_reversals",
    "draw_topics",
    "figure_grid",
    "plot_budgets",
    "plot_calibration",
    "plot_common_topics",
    "plot_differences",
    "plot_distance",
    "plot_elpd",
    "plot_engines",
    "plot_forest",
    "plot_gain",
    "plot_held_out_pit",
    "plot_judged_runs",
    "plot_judging",
    "plot_labels",
    "plot_mae",
    "plot_p_values",
    "plot_pit",
    "plot_pool_width",
    "plot_predictive",
    "plot_rank_probabilities",
    "plot_ranking",
    "plot_ranks",
    "plot_reversal_calibration",
    "plot_rmse_surface",
    "plot_run_types",
    "plot_separability",
    "plot_topics",
    "plot_topics_surface",
    "plot_truth",
    "render",
]
