from .checks import (
    draw_judges as draw_judges,
    plot_audit as plot_audit,
    plot_elpd as plot_elpd,
    plot_held_out_pit as plot_held_out_pit,
    plot_judged_runs as plot_judged_runs,
    plot_labels as plot_labels,
    plot_predictive as plot_predictive,
)
from .comparisons import (
    draw_comparison as draw_comparison,
    draw_leaderboard as draw_leaderboard,
    draw_reversals as draw_reversals,
    plot_calibration as plot_calibration,
    plot_differences as plot_differences,
    plot_first_unjudged as plot_first_unjudged,
    plot_leaderboard as plot_leaderboard,
    plot_p_values as plot_p_values,
    plot_rank_probabilities as plot_rank_probabilities,
    plot_reversal_calibration as plot_reversal_calibration,
    plot_separability as plot_separability,
)
from .experiments import (
    draw_budgets as draw_budgets,
    draw_indicators as draw_indicators,
    plot_budgets as plot_budgets,
    plot_common_topics as plot_common_topics,
    plot_gain as plot_gain,
    plot_indicator as plot_indicator,
    plot_mae as plot_mae,
    plot_pit as plot_pit,
    plot_pool_width as plot_pool_width,
    plot_ranking as plot_ranking,
    plot_rmse_surface as plot_rmse_surface,
    plot_run_types as plot_run_types,
    plot_topics_surface as plot_topics_surface,
    plot_truth as plot_truth,
)
from .scores import (
    draw_forest as draw_forest,
    draw_runs as draw_runs,
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
