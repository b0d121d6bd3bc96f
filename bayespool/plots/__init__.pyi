from .comparisons import (
    draw_collections as draw_collections,
    draw_comparison as draw_comparison,
    draw_leaderboard as draw_leaderboard,
    draw_reversals as draw_reversals,
    plot_calibration as plot_calibration,
    plot_collection as plot_collection,
    plot_differences as plot_differences,
    plot_leaderboard as plot_leaderboard,
    plot_p_values as plot_p_values,
    plot_rank_probabilities as plot_rank_probabilities,
    plot_reversal_calibration as plot_reversal_calibration,
    plot_separability as plot_separability,
)
from .experiments import (
    draw_budgets as draw_budgets,
    draw_judges as draw_judges,
    plot_audit as plot_audit,
    plot_budgets as plot_budgets,
    plot_common_topics as plot_common_topics,
    plot_decisions as plot_decisions,
    plot_elpd as plot_elpd,
    plot_held_out_pit as plot_held_out_pit,
    plot_labels as plot_labels,
    plot_mae as plot_mae,
    plot_pit as plot_pit,
    plot_pool_width as plot_pool_width,
    plot_predictive as plot_predictive,
    plot_truth as plot_truth,
)
from .scores import (
    draw_forest as draw_forest,
    draw_topics as draw_topics,
    plot_distance as plot_distance,
    plot_forest as plot_forest,
    plot_topics as plot_topics,
    plot_unjudged as plot_unjudged,
)
from .style import (
    PALETTE as PALETTE,
    ImageFormat as ImageFormat,
    figure_grid as figure_grid,
    render as render,
)
